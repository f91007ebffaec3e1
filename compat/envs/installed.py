"""What is inside a virtual environment, read from its files and without starting its Python."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen
from packaging.utils import canonicalize_name

from compat.model import Package
from compat.text import lazy_pattern

_INSTALLERS_OWN = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json")
"""What installers add to a distribution: how it came here, not what it is."""


_PROGRAMS = "bin"
"""The folder in a toolchain that its programs are in."""
_VERSION = lazy_pattern(r"\d+\.\d+\.\w")


class NotInstalled(Exception):
    """There is no usable virtual environment. The message says what is missing."""


def interpreter(location: Path) -> Path:
    """The env's own Python. Raises NotInstalled where it, or the interpreter that it links to, is gone."""
    python = location / "bin" / "python"
    if not os.path.isdir(location):
        raise NotInstalled(f"{location} is gone")
    if not os.path.exists(python):
        raise NotInstalled(f"its interpreter {python.readlink()} is gone" if python.is_symlink() else f"{python} is gone")
    return python


def python_version(location: Path) -> str:
    """The version of the env's Python, three numbers. Raises NotInstalled."""
    try:
        lines = (location / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        raise NotInstalled(f"{location / 'pyvenv.cfg'} is gone") from None
    settings = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    version = settings.get("version_info") or settings.get("version") or ""
    if not _VERSION.match(version):
        raise NotInstalled(f"{location / 'pyvenv.cfg'} names no version of Python")
    return ".".join(version.split(".")[:3])


def packages(location: Path) -> tuple[Package, ...]:
    """Every distribution in the env, by name. Raises NotInstalled."""
    folders = site_packages(location).glob("*.dist-info")
    return tuple(sorted((_package(folder) for folder in folders), key=lambda package: package.name))


def site_packages(location: Path) -> Path:
    """The folder that distributions are installed into."""
    major, minor, _ = python_version(location).split(".")
    return location / "lib" / f"python{major}.{minor}" / "site-packages"


def damaged_file(location: Path, distribution: str) -> str | None:
    """What is wrong with the files of a distribution, of those listed as installed; ``None`` where nothing is.

    Each must be there with the size that its wheel's RECORD gives. Of programs that are newer than the RECORD, such as a ptxas that
    somebody has put there, the content is compared as well.
    """
    site = site_packages(location)
    for folder in site.glob("*.dist-info"):
        if _identity(folder)[0] == distribution:
            installed = (folder / "RECORD").stat().st_mtime_ns
            damages = (_damage(site, line, installed) for line in _recorded(folder))
            return next(filter(None, damages), None)
    return None


def _damage(site: Path, line: str, installed: int) -> str | None:
    """What is wrong with the file that a line of a RECORD speaks of: name, digest, size in bytes."""
    name, _, rest = line.rpartition(",sha256=")
    digest, _, size = rest.partition(",")
    name = name.strip('"')
    try:
        status = os.stat(f"{site}/{name}")
    except OSError:
        return f"{name} is gone"
    if size.isdigit() and status.st_size != int(size):
        return f"{name} has {status.st_size:,} bytes, {int(size):,} were installed"
    if f"/{_PROGRAMS}/" in name and status.st_mtime_ns > installed and _digest_of(f"{site}/{name}") != digest:
        return f"{name} is not what was installed"
    return None


def _digest_of(path: str) -> str:
    with open(path, "rb") as file:
        return base64.urlsafe_b64encode(hashlib.file_digest(file, "sha256").digest()).rstrip(b"=").decode()


def _identity(folder: Path) -> tuple[str, str]:
    name, _, version = folder.name.removesuffix(".dist-info").rpartition("-")
    return canonicalize_name(name), version


def _package(folder: Path) -> Package:
    name, version = _identity(folder)
    return Package(name=name, version=version, digest=hashlib.sha256("\n".join(sorted(_recorded(folder))).encode()).hexdigest())


def _recorded(folder: Path) -> list[str]:
    """The lines of RECORD (file, hash, size) for what the wheel itself brought: the same whoever installed it, and wherever.

    Left out are the installer's own files, scripts, whose first line is the path of the env, and what has no hash: bytecode.
    """
    try:
        record = (folder / "RECORD").read_text(encoding="utf-8", errors="backslashreplace")
    except OSError:
        return []
    others = ("..", *(f"{folder.name}/{name}," for name in _INSTALLERS_OWN))
    return [line for line in record.splitlines() if ",sha256=" in line and not line.startswith(others)]


@frozen(kw_only=True)
class Installation:
    """What is in a virtual environment."""

    python: str
    """Path of its interpreter."""
    python_version: str
    packages: tuple[Package, ...]

    @property
    def digest(self) -> str:
        """One hash over all of it."""
        lines = [
            f"python {self.python_version}",
            *(f"{package.name} {package.version} {package.digest}" for package in self.packages),
        ]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def inspect(location: Path, needed: Sequence[str]) -> Installation:
    """What is in a virtual environment. Raises NotInstalled where it is none, or a needed distribution is not whole in it."""
    installation = Installation(
        python=str(interpreter(location)), python_version=python_version(location), packages=packages(location)
    )
    for name in needed:
        if name not in (package.name for package in installation.packages):
            raise NotInstalled(f"{name} is not installed in it")
    if damage := damaged_file(location, needed[0]):
        raise NotInstalled(f"of {needed[0]}, {damage}")
    return installation
