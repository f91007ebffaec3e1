"""Environments: files of the package index, Pythons of this machine, building, and content.

In: the envs that ``matrix.toml`` declares, or a release that the user names. Out: envs as they are
on disk, or the reason why an env is missing.
"""
