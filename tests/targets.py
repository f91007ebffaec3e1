"""What may be compiled for, by name."""

from compat import toolchains

TARGETS = {target.name: target for target in toolchains.DEFAULT.device.targets}
