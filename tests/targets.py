"""The targets of the default toolchain, by name."""

from compat import toolchains

TARGETS = {target.name: target for target in toolchains.DEFAULT.device.targets}
