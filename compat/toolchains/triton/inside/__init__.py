"""The code that runs in programs and envs with Triton.

It needs the standard library and Triton only, and runs on Python 3.8 to 3.14.
"""
