"""Environments on disk: what goes into one, what nox recorded of it, what is installed in it."""
