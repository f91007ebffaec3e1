"""Code that runs inside an env with CuTe DSL.

It needs only the standard library and CuTe DSL, and no code of the driver.
"""
