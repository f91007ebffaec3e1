"""Triton-version compatibility: compile kernels on every release, say what fails, since when and why."""

__version__ = "0.1.0"
