"""What may be compiled for, by name."""

from compat import toolchains

TARGETS = toolchains.targets()
