"""What is inside a virtual environment, read from its files and without starting its Python."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from packaging.utils import canonicalize_name

from compat.model import Package

_INSTALLERS_OWN = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json")
"""What installers add to a distribution: how it came here, not what it is."""


class NotInstalled(Exception):
    """There is no usable virtual environment. The message says what is missing."""


def interpreter(location: Path) -> Path:
    """The env's own Python. Raises NotInstalled where it, or the interpreter that it links to, is gone."""
    python = location / "bin" / "python"
    if not location.is_dir():
        raise NotInstalled(f"{location} is gone")
    if not python.exists():
        raise NotInstalled(f"its interpreter {python.readlink()} is gone" if python.is_symlink() else f"{python} is gone")
    return python


def python_version(location: Path) -> str:
    """The version of the env's Python, three numbers. Raises NotInstalled."""
    try:
        lines = (location / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except OSError:
        raise NotInstalled(f"{location / 'pyvenv.cfg'} is gone") from None
    said = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    version = said.get("version_info") or said.get("version") or ""
    if version.count(".") < 2:
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


def missing_file(location: Path, distribution: str) -> str | None:
    """The first file of a distribution that is listed as installed and is not there; ``None`` where all are."""
    site = site_packages(location)
    for folder in site.glob("*.dist-info"):
        if _identity(folder)[0] == distribution:
            names = (line.rpartition(",sha256=")[0].strip('"') for line in _recorded(folder))
            return next((name for name in names if not os.path.exists(f"{site}/{name}")), None)
    return None


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
        record = (folder / "RECORD").read_text(encoding="utf-8")
    except OSError:
        return []
    others = ("..", *(f"{folder.name}/{name}," for name in _INSTALLERS_OWN))
    return [line for line in record.splitlines() if ",sha256=" in line and not line.startswith(others)]
