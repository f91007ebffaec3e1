"""An env as the driver has it, told so that a worker on another machine can have the same.

Results are stored under the digest of the driver's env. So an env that differs from it in anything, be it a patch release of Python
or one file of a package, is not that env, and what it compiles says nothing about it.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Self
from urllib.parse import unquote, urlsplit

from attrs import frozen

from compat.envs.cache import EnvFolder
from compat.envs.installed import NotInstalled, inspect
from compat.envs.inventory import size_of
from compat.envs.record import distributions, read_record
from compat.envs.requirements import EDITABLE, fingerprint
from compat.errors import EnvError
from compat.model import BuiltEnv, Env, Package

_LISTED = 6
"""Differences that are listed one by one."""


@frozen(kw_only=True)
class PinnedEnv:
    """An env that is wanted elsewhere as it is here. Can be pickled."""

    env: Env
    fingerprint: str
    """The hash over what is asked for (:func:`compat.envs.requirements.fingerprint`), on the driver's machine: a local wheel counts
    with its content."""
    platform: str
    """The platform, as Python names it: ``linux-x86_64``."""
    python_version: str
    """The version of its Python, three numbers."""
    packages: tuple[Package, ...]
    """All that was installed: what resolved, with the hashes of its files."""
    digest: str
    """One hash over Python and packages, the one of :attr:`compat.model.BuiltEnv.digest`."""
    backend: str | None
    """What built it (``uv``, ``virtualenv``, ``venv``); ``None`` where that is not recorded."""
    size: int
    """Bytes that it takes on the driver's disk."""

    @classmethod
    def of(cls, built: BuiltEnv) -> Self:
        """The env that the driver has built, read from its disk. Raises EnvError where that cannot be used, or has been changed."""
        if built.error is not None or built.python is None:
            raise EnvError(f"{built.env.name} cannot be used: {built.error or 'it has no interpreter'}")
        location = Path(built.python).parents[1]
        try:
            installed = inspect(location, distributions(built.env))
        except NotInstalled as error:
            raise EnvError(f"{built.env.name} has been damaged since it was read: {error}") from error
        if built.digest not in ("", installed.digest):
            raise EnvError(f"the packages of {built.env.name} have changed since it was read", hint="Run the command again.")
        return cls(
            env=built.env,
            fingerprint=fingerprint(built.env),
            platform=sysconfig.get_platform(),
            python_version=installed.python_version,
            packages=installed.packages,
            digest=installed.digest,
            backend=(read_record(EnvFolder(location.parent)) or {}).get("backend"),
            size=size_of(location),
        )

    @property
    def pins(self) -> tuple[str, ...]:
        """Requirements that leave an installer no choice of versions: what was the newest then need not be so now."""
        return tuple(f"{package.name}=={package.version}" for package in self.packages)

    @property
    def local(self) -> tuple[str, ...]:
        """The paths of wheels and folders on the driver's machine that it is installed from."""
        texts = (*filter(None, [self.env.wheel]), *self.env.install)
        return tuple(path for text in texts if (path := _local_path(text)) is not None)


def difference(wanted: PinnedEnv, python_version: str, packages: Sequence[Package]) -> str | None:
    """How what is here differs from what the driver has; ``None`` where it does not."""
    here, there = {package.name: package for package in packages}, {package.name: package for package in wanted.packages}
    differences = []
    if python_version != wanted.python_version:
        differences.append(f"Python {python_version} here, {wanted.python_version} in the driver's")
    differences += [
        _about(name, here.get(name), there.get(name)) for name in sorted({*here, *there}) if here.get(name) != there.get(name)
    ]
    if not differences:
        return None
    more = f"; and {len(differences) - _LISTED} more" if len(differences) > _LISTED else ""
    return f"{'; '.join(differences[:_LISTED])}{more}"


def _about(name: str, here: Package | None, there: Package | None) -> str:
    """How a package differs: ``torch 2.9.1 here, 2.9.0 in the driver's``."""
    if here is not None and there is not None and here.version == there.version:
        return f"{name} {here.version} has other files here than in the driver's"
    return f"{name} {here.version if here else 'is not'} here, {there.version if there else 'not'} in the driver's"


def _local_path(requirement: str) -> str | None:
    """The path that a requirement names, of those that are no name and no URL of another machine."""
    text = requirement.removeprefix(EDITABLE)
    if text.startswith("file://"):
        return unquote(urlsplit(text).path)
    return text if os.path.isabs(text) else None
