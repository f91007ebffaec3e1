"""The code that all toolchains run inside of foreign programs.

It needs the standard library only, and nothing of ours.
"""
