"""Envs: as asked for, and as found on disk."""

from __future__ import annotations

from attrs import Factory, field, frozen
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compat.model.fields import OPTIONAL, Text

DEFAULT_TOOLCHAIN = "triton"
"""The name of the default toolchain, which it is also published under."""
DEFAULT_FRAMEWORK = "torch"
"""The name of the default framework, which it is also published under."""


@frozen(kw_only=True, cache_hash=True)
class Env:
    """An isolated environment as asked for: a toolchain (a release, or a fork of it), perhaps a framework with it, a Python."""

    name: str
    toolchain: str = DEFAULT_TOOLCHAIN
    """The name of its toolchain (see :mod:`compat.toolchains`)."""
    release: Version | None = None
    """The release asked for; ``None`` for a wheel whose version is known only once it is installed."""
    framework: str = DEFAULT_FRAMEWORK
    """The name of the tensor library that its kernels are launched from, which it is also published under."""
    framework_release: Version | None = None
    """The release of that library asked for; ``None`` for an env without it."""
    distribution: str = DEFAULT_TOOLCHAIN
    """The name the toolchain is published under; forks use their own."""
    wheel: str | None = None
    """A path or URL of a wheel to install instead of a release."""
    index: str | None = None
    """The URL of a package index to look in besides the default one."""
    python: SpecifierSet = Factory(SpecifierSet)
    install: tuple[str, ...] = ()
    """Further requirements, as pip reads them."""
    groups: tuple[str, ...] = ()

    @property
    def paired(self) -> bool:
        """Whether it has a framework."""
        return self.framework_release is not None


@frozen(kw_only=True)
class Package:
    """One distribution as installed. ``digest`` is the SHA-256 of its RECORD, which lists the hash of every file it has."""

    name: Text
    version: Text
    digest: str


@frozen(kw_only=True)
class BuiltEnv:
    """An env as found on disk: what resolved, or the installer's own words on why nothing did."""

    env: Env
    python: str | None = None
    """Path of the env's interpreter, ``None`` where there is none to run."""
    python_version: str | None = None
    packages: tuple[Package, ...] = ()
    error: str | None = None
    """Why the env cannot be used, in the words of whoever failed (installer, interpreter search); ``None`` when it can."""
    digest: str = ""
    """One hash over interpreter version and packages: equal digests mean the same toolchain."""

    def version_of(self, distribution: str) -> str | None:
        """The installed version of a distribution, or ``None`` where it is not installed."""
        return next((p.version for p in self.packages if p.name == distribution), None)

    @property
    def release(self) -> str | None:
        """The version of the toolchain in this env: as installed, or as asked for where nothing is installed."""
        return self.version_of(self.env.distribution) or (str(self.env.release) if self.env.release else None)

    @property
    def framework_release(self) -> str | None:
        """The version of the framework in this env, as installed or else as asked for; ``None`` without one."""
        return self.version_of(self.env.framework) or (str(self.env.framework_release) if self.env.framework_release else None)


@frozen(kw_only=True, cache_hash=True)
class Target:
    """What code is generated for, without a GPU being there."""

    name: Text
    toolchain: Text = field(default=DEFAULT_TOOLCHAIN, metadata={OPTIONAL: True})
    """The name of the toolchain that it is a target of; another toolchain may have another target of the same name."""
    backend: str
    """``cuda`` or ``hip``, as ``GPUTarget.backend``."""
    arch: int | str
    """Compute capability times ten (90 for ``sm_90``), or the gfx name."""
    warp_size: int
    shared_memory: int
    """Bytes of shared memory (LDS) one block may have at most on this architecture."""
