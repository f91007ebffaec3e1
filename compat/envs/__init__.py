"""Environments: what the package index has for them, which Pythons this machine has, how one is
built, and what is in it.

In: the envs that ``matrix.toml`` declares, or a release that somebody names. Out: envs as they are
on disk, or why there is none.
"""
