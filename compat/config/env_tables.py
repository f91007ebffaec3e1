"""The tables ``env`` and ``companion`` of ``matrix.toml`` and of a toolchain's releases.

In: a TOML table. Out: :class:`compat.model.Env` and :class:`Companion`. :func:`add_companions` adds
what companions install to an env.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from attrs import evolve, frozen
from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name
from packaging.version import Version

from compat import toolchains
from compat.config.toml import Table, did_you_mean, read_toml
from compat.envs.listing import wheel_facts
from compat.model import Env
from compat.text import lazy_pattern
from compat.toolchains.base import Toolchain

_ENV_KEYS = ("distribution", "wheel", "index", "python", "install", "groups", "released")
_EDITABLE = lazy_pattern(r"(?:-e|--editable)[=\s]\s*(?P<path>.+)")
_PATH = lazy_pattern(r"(?:\.{1,2}$|\.{0,2}/|~).*")
_ARCHIVES = (".whl", ".tar.gz", ".zip")


def release_example(toolchain: str, release: str = "VERSION") -> str:
    """How ``matrix.toml`` names a release of a toolchain."""
    return f'{{ {toolchain} = "{release}" }}'


EXAMPLE = release_example(toolchains.DEFAULT.name, "3.1.0")
"""An env, as hints show it."""


@frozen(kw_only=True)
class Companion:
    """Requirements that go into every env whose releases match.

    A release needs them and does not declare them.
    """

    toolchain: str
    release: SpecifierSet
    framework_release: SpecifierSet | None
    """Matches only envs with a framework of these releases; ``None``: any env, with a framework or
    without.
    """
    install: tuple[str, ...]
    why: str

    def joins(self, env: Env) -> bool:
        """Whether these requirements go into that env."""
        if env.toolchain != self.toolchain:
            return False
        specifier = self.framework_release
        if specifier is not None and (
            env.framework_release is None
            or not specifier.contains(env.framework_release, prereleases=True)
        ):
            return False
        if env.release is None:
            return not str(self.release)
        return self.release.contains(env.release, prereleases=True)


@frozen(kw_only=True)
class EnvDeclarations:
    """The declarations of one file."""

    envs: tuple[Env, ...] = ()
    """The envs, in the order of the file, without the packages of companions."""
    companions: tuple[Companion, ...] = ()


def env_declarations(top: Table, base: Path) -> EnvDeclarations:
    """The content of the tables ``env`` and ``companion`` of a file.

    Paths of wheels are relative to ``base``. Raises ConfigError.
    """
    return EnvDeclarations(
        envs=_envs(top, base),
        companions=tuple(_companion(table, base) for table in top.tables("companion")),
    )


def wheel_env(wheel: str, base: Path) -> Env:
    """The env of a wheel, which is a path relative to ``base`` or a URL. Raises ConfigError."""
    return _env(Table(file=wheel, path="", data={"wheel": wheel}), base)


def built_in_declarations() -> EnvDeclarations:
    """The built-in declarations: the releases of every toolchain that has a file of them."""
    files = [
        _release_declarations(toolchain.releases)
        for toolchain in toolchains.every()
        if toolchain.releases
    ]
    return EnvDeclarations(
        envs=tuple(env for file in files for env in file.envs),
        companions=tuple(companion for file in files for companion in file.companions),
    )


@cache
def _release_declarations(path: Path) -> EnvDeclarations:
    top = read_toml(path, path.parent)
    top.only("schema", "env", "companion")
    return env_declarations(top, path.parent)


def add_companions(env: Env, own: Sequence[Companion], others: Sequence[Companion] = ()) -> Env:
    """An env with the requirements of its companions.

    From ``others``, it leaves out the packages that the env or its ``own`` companions name.
    """
    requirements = (
        *env.install,
        *(text for companion in own if companion.joins(env) for text in companion.install),
    )
    names = _packages(requirements)
    further = (
        text
        for other in others
        if other.joins(env)
        for text in other.install
        if not _packages([text]) & names
    )
    return evolve(env, install=tuple(dict.fromkeys((*requirements, *further))))


def _packages(requirements: Iterable[str]) -> set[str]:
    """The packages that requirements install by name. The packages of a path are not known."""
    from packaging.requirements import Requirement  # few files have any

    named = (text for text in requirements if not text.startswith(("-e ", "/")))
    return {canonicalize_name(Requirement(text).name) for text in named}


# --- one table ------------------------------------------------------------------------------------


def _envs(top: Table, base: Path) -> tuple[Env, ...]:
    envs: list[Env] = []
    seen: dict[str, str] = {}
    for table in top.tables("env"):
        env = _env(table, base)
        # nox derives the name of a folder from each name, so names that differ only in their
        # punctuation count as equal.
        folder = re.sub(r"\W+", "-", env.name).lower()
        if folder in seen:
            table.fail(
                f"the name {env.name!r} is already used by {seen[folder]}",
                "name" if "name" in table else None,
                hint='Give one of them another name = "…".',
            )
        seen[folder] = table.path
        envs.append(env)
    return tuple(envs)


def _env(table: Table, base: Path) -> Env:
    toolchain = _toolchain_of(table, "name", more=_ENV_KEYS)
    release = table.version(toolchain.name)
    framework_release = table.version(toolchain.framework.name)
    distribution, wheel = table.optional("distribution"), table.optional("wheel")
    if wheel is not None:
        wheel, distribution, release = _wheel(
            table, wheel, distribution, release, base, toolchain.name
        )
    elif release is None and distribution is None:
        table.fail(
            f"expected one of {toolchain.name}, wheel and distribution, found none",
            hint=f"For example {EXAMPLE}.",
        )
    distribution = canonicalize_name(distribution or toolchain.distribution)
    env = Env(
        name="",
        toolchain=toolchain.name,
        release=release,
        framework=toolchain.framework.name,
        framework_release=framework_release,
        distribution=distribution,
    )
    own = (
        evolve(env, distribution=toolchain.name) if distribution == toolchain.distribution else env
    )
    name = table.string("name", own.label)
    table.check_name(name, "name" if "name" in table else None)
    return evolve(
        env,
        name=name,
        wheel=wheel,
        index=_index(table),
        python=table.specifier("python", ">=3.10,<3.13"),
        install=installs(table, base),
        groups=_groups(table),
        released=table.day("released"),
    )


def toolchain_named(table: Table, name: str) -> Toolchain:
    """The toolchain that a table names under ``toolchain``. Raises ConfigError if there is none."""
    toolchain = toolchains.find(name)
    if toolchain is None:
        names = [known.name for known in toolchains.every()]
        hint = did_you_mean(name, names) or f"Available: {', '.join(names)}."
        table.fail(f"unknown toolchain {name!r}", "toolchain", hint=hint)
    return toolchain


def _toolchain_of(table: Table, *first: str, more: Sequence[str]) -> Toolchain:
    """The toolchain of a table, by the key of its release or by its name; else the default one.

    Refuses any key except ``toolchain``, ``first``, ``more``, and the names of toolchains and of
    the toolchain's framework.
    """
    names = [toolchain.name for toolchain in toolchains.every()]
    keys = [name for name in names if name in table]
    if len(keys) > 1:
        table.fail(
            f"names two toolchains: {' and '.join(keys)}",
            keys[1],
            hint="An env has one toolchain: declare two envs.",
        )
    named = table.optional("toolchain")
    toolchain = toolchain_named(table, named or (keys or [toolchains.DEFAULT.name])[0])
    if named is not None and keys not in ([], [named]):
        table.fail(f"gives a release of {keys[0]}, but the toolchain is {named}", keys[0])
    table.only(*first, *names, toolchain.framework.name, *more, "toolchain")
    return toolchain


def _wheel(
    table: Table,
    wheel: str,
    distribution: str | None,
    release: Version | None,
    base: Path,
    key: str,
) -> tuple[str, str, Version]:
    """The absolute path of the wheel, and the distribution and version in its file name."""
    if release is not None:
        table.fail(f"a wheel has its own version: give {key} or wheel, not both", key)
    try:
        name, version, _ = wheel_facts(wheel)
    except InvalidWheelFilename:
        table.fail(
            f"{wheel!r} is not the name of a wheel (name-version-python-abi-platform.whl)", "wheel"
        )
    if distribution is not None and canonicalize_name(distribution) != name:
        table.fail(f"the wheel holds {name!r}, not {distribution!r}", "distribution")
    return (wheel if "://" in wheel else str(_resolve_folder(base / wheel))), name, version


def _resolve_folder(path: Path) -> Path:
    """The path with its real folder. The target of a link may not have the name of a wheel."""
    return Path(os.path.realpath(path.parent), path.name)


def _index(table: Table) -> str | None:
    url = table.optional("index", example='"https://…/simple"')
    if url is not None and not re.match(r"(https?|file)://", url):
        table.fail(
            f"{url!r} is not the URL of a package index",
            "index",
            hint="It starts with https://, http:// or file://.",
        )
    return url


def _groups(table: Table) -> tuple[str, ...]:
    groups = table.strings("groups")
    for index, group in enumerate(groups):
        table.check_name(group, f"groups[{index}]")
    return tuple(dict.fromkeys(groups))


def _companion(table: Table, base: Path) -> Companion:
    toolchain = _toolchain_of(table, more=("install", "why"))
    install = installs(table, base)
    if not install:
        table.fail("installs nothing", "install")
    framework = toolchain.framework.name
    return Companion(
        toolchain=toolchain.name,
        release=table.specifier(toolchain.name),
        framework_release=table.specifier(framework) if framework in table else None,
        install=install,
        why=table.string("why", ""),
    )


# --- further requirements -------------------------------------------------------------------------


def installs(table: Table, base: Path) -> tuple[str, ...]:
    """The requirements that a table installs.

    Examples are ``einops<1``, ``-e /home/me/project`` and ``/home/me/wheels/x.whl``. Paths are
    relative to ``base``. A folder is installed as with ``-e``, so that its edits take effect.
    Raises ConfigError.
    """
    return tuple(
        _install_requirement(table, f"install[{index}]", text.strip(), base)
        for index, text in enumerate(table.strings("install"))
    )


def _install_requirement(table: Table, key: str, text: str, base: Path) -> str:
    editable = _EDITABLE.fullmatch(text)
    if not editable and not _PATH.fullmatch(text):
        table.requirement(key, text)
        return text
    path_text = editable["path"] if editable else text
    path = base / os.path.expanduser(path_text)
    if path.is_dir():
        path = Path(os.path.realpath(path))
        if not any((path / name).is_file() for name in ("pyproject.toml", "setup.py")):
            table.fail(f"the folder {path_text!r} has no pyproject.toml", key)
        return f"-e {path}"
    path = _resolve_folder(path)
    if not path.is_file() or editable or not path.name.endswith(_ARCHIVES):
        table.fail(f"there is no project {path_text!r}", key, hint=f"Looked for the folder {path}.")
    return str(path)
