"""``matrix.lock``: the packages of each env, and libraries, with hashes of their files.

The file is beside ``matrix.toml``. The hashes are SHA-256.

In: the file, and envs as ``matrix.toml`` declares them. Out: the same envs with
:attr:`compat.model.Env.lock`, which installers check. Its requirements are those that pip and uv
both read; pip cannot install from a ``pylock.toml``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from attrs import evolve, field, frozen
from packaging.specifiers import SpecifierSet

from compat.config.toml import SCHEMA, Table, read_toml, toml_text
from compat.envs.cache import EDITABLE, requirements
from compat.envs.installers import library_hashes, lock_line, pinned_requirements
from compat.envs.interpreters import choose_interpreter
from compat.envs.libraries import is_pinned, normal
from compat.envs.listing import INDEX
from compat.errors import ConfigError, EnvError, StoreError
from compat.files import replace_file
from compat.model import Env
from compat.model.fields import KEY
from compat.text import JsonMapping, JsonObject, lazy_pattern

_HEADING = "# `compat envs lock` writes this file. Installers refuse files with other hashes.\n\n"
_PYTHON = lazy_pattern(r"3\.\d{1,2}")
_PINNED = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]*(==[A-Za-z0-9.+!_-]+| @ (https|file)://[!-~]+)")
_PATH = lazy_pattern(r"\.{0,2}/.*")
_SHA256 = lazy_pattern(r"[0-9a-f]{64}")
_FILE = "file://"


@frozen(kw_only=True)
class LockedPackage:
    """One requirement of one version. An installer can only choose between the version's files."""

    requirement: str
    """``filelock==3.20.0``, ``x @ https://…/x.whl``, or the path of a file."""
    sha256: tuple[str, ...]
    """The hashes of its files; any of these may be installed."""


@frozen(kw_only=True)
class LockedEnv:
    """The packages of one env, and the declaration that they were resolved for."""

    name: str
    requirements: tuple[str, ...]
    """The declared requirements. Their paths are relative to the folder of the file."""
    specifier: str = ""
    """The Pythons that the env accepts."""
    index: str = ""
    python: str
    """The Python that the packages are for: ``3.11``."""
    packages: tuple[LockedPackage, ...] = field(metadata={KEY: "package"})


@frozen(kw_only=True)
class Locks:
    """The content of a ``matrix.lock``."""

    path: Path
    envs: Mapping[str, LockedEnv] = field(factory=dict)
    """Name → locked env."""
    libraries: Mapping[str, tuple[str, ...]] = field(factory=dict)
    """Library, such as ``liger-kernel==0.6.4`` → the SHA-256 of its files."""

    def hashes(self, library: str) -> tuple[str, ...]:
        """The SHA-256 of the files of a library of one version; empty if it is not locked."""
        return self.libraries.get(normal(library), ())

    def apply_lock(self, env: Env) -> Env:
        """The env with its lock, if it has one.

        Raises:
            ConfigError: The env was locked with another declaration.
        """
        lock = self.envs.get(env.name)
        if lock is None:
            return env
        if difference := _difference(lock, self._declaration(env)):
            raise ConfigError(
                f"{env.name} was locked for {difference}",
                where=self.path.name,
                hint=f"Lock it again with `compat envs lock {env.name}`, or undo the change.",
            )
        return evolve(
            env,
            python=env.python & SpecifierSet(f"=={lock.python}.*"),
            lock=tuple(_line(package, self.path.parent) for package in lock.packages),
        )

    def _declaration(self, env: Env) -> JsonObject:
        base = self.path.parent
        return {
            "requirements": tuple(_portable(text, base) for text in requirements(env)),
            "specifier": str(env.python),
            "index": env.index or "",
        }

    def renew_locks(
        self,
        envs: Sequence[Env],
        libraries: Sequence[str],
        show: Callable[[str], None],
        *,
        keep: bool = False,
    ) -> Locks:
        """Resolve these envs and libraries. With ``keep``, the other locks of the file stay.

        Raises:
            ConfigError: The file is invalid, and has locks to keep.
            EnvError: An env or a library cannot be locked.
        """
        base_locks = read_locks(self.path) if keep else Locks(path=self.path)
        resolved, hashes = {}, {}
        for env in envs:
            show(env.name)
            resolved[env.name] = self._resolve(env)
        for library in libraries:
            show(library)
            hashes[normal(library)] = library_hashes(library)
        return evolve(
            self, envs={**base_locks.envs, **resolved}, libraries={**base_locks.libraries, **hashes}
        )

    def _resolve(self, env: Env) -> LockedEnv:
        base, where = self.path.parent, f"{env.name} cannot be locked"
        folders = [text for text in requirements(env) if text.startswith(EDITABLE)]
        if folders:
            raise EnvError(
                f"{where}: {folders[0].removeprefix(EDITABLE)} is a folder, and has no hash",
                hint="Install a wheel of it, or name the envs to lock.",
            )
        choice = choose_interpreter(env, base / INDEX)
        if choice.problem is not None:
            raise EnvError(f"{where}: {choice.problem}")
        pinned = pinned_requirements(env, choice.python)
        return LockedEnv(
            name=env.name,
            python=f"{choice.tag[2]}.{choice.tag[3:]}",
            packages=tuple(
                LockedPackage(requirement=_portable(text, base), sha256=hashes)
                for text, hashes in pinned.items()
            ),
            **self._declaration(env),
        )

    def write(self) -> None:
        """Replace the file.

        Raises:
            StoreError: It cannot be written.
        """
        from compat.model.codec import unstructure  # most commands write no lock

        libraries = [
            {"requirement": library, "sha256": list(hashes)}
            for library, hashes in self.libraries.items()
        ]
        document = {
            "schema": SCHEMA,
            "env": unstructure(list(self.envs.values()), compact=True),
            **({"library": libraries} if libraries else {}),
        }
        with StoreError.for_os_errors("cannot be written", where=self.path):
            replace_file(self.path, _HEADING + toml_text(document))


def path_of(matrix: Path) -> Path:
    """The path of the lock of a ``matrix.toml``, which may not exist."""
    return matrix.with_suffix(".lock")


def read_locks(path: Path) -> Locks:
    """Read a lock; it is empty if there is no file.

    Raises:
        ConfigError: The file is invalid.
    """
    if not os.path.lexists(path):
        return Locks(path=path)
    top = read_toml(path)
    top.only("schema", "env", "library")
    envs = [_locked_env(table) for table in top.tables("env")]
    libraries = [_locked_library(table) for table in top.tables("library")]
    return Locks(
        path=path,
        envs={lock.name: lock for lock in envs},
        libraries={normal(library.requirement): library.sha256 for library in libraries},
    )


def _locked_library(table: Table) -> LockedPackage:
    library = _locked_package(table)
    if not is_pinned(library.requirement):
        table.fail(f"{library.requirement!r} pins no version", "requirement")
    return library


def _locked_env(table: Table) -> LockedEnv:
    table.only("name", "requirements", "specifier", "index", "python", "package")
    python = table.string("python", example='"3.11"')
    if not _PYTHON.fullmatch(python):
        table.fail('expected a version of Python, such as "3.11"', "python")
    packages = tuple(_locked_package(package) for package in table.tables("package"))
    if not packages:
        table.fail("is missing", "package")
    return LockedEnv(
        name=table.string("name"),
        requirements=table.strings("requirements"),
        specifier=table.string("specifier", ""),
        index=table.string("index", ""),
        python=python,
        packages=packages,
    )


def _locked_package(table: Table) -> LockedPackage:
    table.only("requirement", "sha256")
    requirement, hashes = table.string("requirement"), table.strings("sha256")
    # Each becomes a line of a requirements file, where a line may also be an option.
    if not (_PINNED.fullmatch(requirement) or _PATH.fullmatch(requirement)):
        table.fail(f"{requirement!r} pins no version", "requirement")
    if not hashes or not all(_SHA256.fullmatch(digest) for digest in hashes):
        table.fail("expected hashes of 64 hexadecimal digits", "sha256")
    return LockedPackage(requirement=requirement, sha256=hashes)


def _difference(lock: LockedEnv, declared: JsonMapping) -> str:
    """The first difference between the locked and the current declaration, as text; else empty."""
    named = {"requirements": "", "specifier": "Python ", "index": "the index "}
    for name, prefix in named.items():
        then, now = getattr(lock, name), declared[name]
        if then != now:
            return (
                f"{prefix}{_value_text(then)}, and is now declared with {prefix}{_value_text(now)}"
            )
    return ""


def _value_text(value: str | Iterable[str]) -> str:
    return (value if isinstance(value, str) else ", ".join(value)) or "none"


def _portable(text: str, base: Path) -> str:
    """A requirement with paths relative to a folder, so that a project can be moved."""
    url = text.rpartition(" @ ")[2]
    path = unquote(urlsplit(url).path) if url.startswith(_FILE) else text
    return text if not Path(path).is_absolute() else f"./{os.path.relpath(path, base)}"


def _line(package: LockedPackage, base: Path) -> str:
    """A line of a requirements file."""
    text = package.requirement
    if _PATH.fullmatch(text):
        text = Path(os.path.abspath(base / text)).as_uri()
    return lock_line(text, package.sha256)
