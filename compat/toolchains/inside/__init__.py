"""The code of all toolchains that runs inside of users' programs.

It needs only the standard library, and no code of the driver.
"""
