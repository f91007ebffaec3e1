"""``matrix.toml``: which environments, targets and kernels there are, and what a cell may cost.

The file is read once, here, into a frozen :class:`MatrixConfig`. Its path is the base of every relative path in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import evolve, frozen
from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name
from packaging.version import InvalidVersion, Version

from compat.config.selection import select_envs, select_targets
from compat.config.targets import TARGETS
from compat.config.toml_reader import Table, did_you_mean, read_toml
from compat.errors import ConfigError, SelectionError
from compat.index.releases import wheel_facts
from compat.model import Env, Target

_ENV_KEYS = ("name", "triton", "torch", "distribution", "wheel", "index", "python", "install", "groups")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_TARGET_NAME = re.compile(r"[a-z0-9_]+")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(B|KiB|MiB|GiB|TiB)")
_UNITS = {unit: 1024**power for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB"))}
_PAIR = re.compile(r"triton-(?P<triton>[^-]+)(?:-torch-(?P<torch>[^-]+))?")


@frozen(kw_only=True)
class Companion:
    """Requirements that go into every env whose releases match: what a release needs and does not declare."""

    triton: SpecifierSet
    torch: SpecifierSet | None
    """Matches only envs with a PyTorch of these versions; ``None``: any env, with PyTorch or without."""
    install: tuple[str, ...]
    why: str

    def joins(self, env: Env) -> bool:
        """Whether these requirements go into that env."""
        if self.torch is not None and (env.torch is None or not self.torch.contains(env.torch, prereleases=True)):
            return False
        if env.triton is None:
            return not str(self.triton)
        return self.triton.contains(env.triton, prereleases=True)


@frozen(kw_only=True)
class MatrixConfig:
    """What ``matrix.toml`` says, checked."""

    path: Path
    """Absolute path of the file."""
    kernels: tuple[str, ...]
    """Paths or globs of kernel files, relative to the file's folder."""
    envs: tuple[Env, ...]
    """Every env, in the order of the file, with what its companions install."""
    targets: Mapping[str, Target]
    """Every target that may be named, built in or declared here."""
    companions: tuple[Companion, ...] = ()
    default_envs: tuple[str, ...]
    """Patterns (see :func:`compat.config.selection.select_envs`) of what runs when nothing is asked for."""
    default_targets: tuple[str, ...]
    deadline: float
    """Seconds one cell may take."""
    memory: int
    """Bytes one cell may have resident."""
    keep_workers: float
    """Seconds that a worker waits for the next command after the last one that used it; with 0 it ends with its command."""

    @property
    def base(self) -> Path:
        """The folder that relative paths start from."""
        return self.path.parent

    @property
    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """Group → names of its envs, both in the order of the file."""
        groups: dict[str, list[str]] = {}
        for env in self.envs:
            for group in env.groups:
                groups.setdefault(group, []).append(env.name)
        return {group: tuple(names) for group, names in groups.items()}

    def choose_envs(self, patterns: Sequence[str] = ()) -> tuple[Env, ...]:
        """The envs that the patterns name (see :func:`compat.config.selection.select_envs`), the default ones without any."""
        return select_envs(self.envs, patterns or self.default_envs)

    def choose_targets(self, patterns: Sequence[str] = ()) -> tuple[Target, ...]:
        """The targets that the globs match, the default ones without any."""
        return select_targets(self.targets, patterns or self.default_targets)

    def env(self, name: str) -> Env:
        """The env of that name; ``triton-X`` and ``triton-X-torch-Y`` need not be in the file.

        Raises SelectionError for any other name that is not in the file.
        """
        for env in self.envs:
            if env.name == name:
                return env
        match = _PAIR.fullmatch(name)
        try:
            if match:
                torch = match["torch"]
                env = Env(name=name, triton=Version(match["triton"]), torch=Version(torch) if torch else None)
                return _accompanied(env, self.companions)
        except InvalidVersion:
            pass
        hint = did_you_mean(name, [env.name for env in self.envs])
        raise SelectionError(f"no env is called {name!r}", hint=hint or "Besides those of matrix.toml, triton-X[-torch-Y] works.")


def load_matrix(path: Path) -> MatrixConfig:
    """Read and check a ``matrix.toml``. Raises ConfigError with the path of the key that is wrong."""
    top = read_toml(path)
    top.only("schema", "kernels", "defaults", "env", "companion", "target")
    if not top.strings("kernels"):
        top.fail("names no kernels", "kernels", hint='For example kernels = ["kernels/*.toml"].')
    companions = tuple(_companion(table) for table in top.tables("companion"))
    base = path.absolute().parent
    envs = _envs(top, companions, base)
    targets = _targets(top)
    defaults = top.table("defaults")
    defaults.only("envs", "targets", "deadline", "memory", "keep_workers")
    config = MatrixConfig(
        path=path.absolute(),
        kernels=top.strings("kernels"),
        envs=envs,
        targets=targets,
        companions=companions,
        default_envs=defaults.strings("envs", ("default",)),
        default_targets=defaults.strings("targets", ("sm_80", "sm_89", "sm_90")),
        deadline=defaults.number("deadline", 60.0),
        memory=_memory(defaults),
        keep_workers=defaults.number("keep_workers", 300.0, or_zero=True),
    )
    _check_defaults(config, defaults)
    return config


# --- envs ------------------------------------------------------------------------------------------------------------------------


def _envs(top: Table, companions: tuple[Companion, ...], base: Path) -> tuple[Env, ...]:
    tables = top.tables("env")
    if not tables:
        top.fail("declares no environment", "env", hint='For example env = [{ triton = "3.1.0" }].')
    envs: list[Env] = []
    seen: dict[str, str] = {}
    for table in tables:
        env = _accompanied(_env(table, base), companions)
        # Nox keeps an env in a folder called after it, with everything but letters, digits and underscores made alike.
        folder = re.sub(r"\W+", "-", env.name).lower()
        if folder in seen:
            table.fail(
                f"the name {env.name!r} is taken by {seen[folder]}",
                "name" if "name" in table else None,
                hint='Give one of them another name = "…".',
            )
        seen[folder] = table.path
        envs.append(env)
    return tuple(envs)


def _env(table: Table, base: Path) -> Env:
    table.only(*_ENV_KEYS)
    triton, torch = table.version("triton"), table.version("torch")
    distribution, wheel = table.optional("distribution"), table.optional("wheel")
    if wheel is not None:
        wheel, distribution, triton = _wheel(table, wheel, distribution, triton, base)
    elif triton is None and distribution is None:
        table.fail("says no toolchain: one of triton, wheel, distribution", hint='For example { triton = "3.1.0" }.')
    distribution = canonicalize_name(distribution or "triton")
    name = table.string("name", _derived_name(distribution, triton, torch))
    if not _NAME.fullmatch(name):
        table.fail(f"{name!r} is not a name: letters, digits and . _ + - only", "name" if "name" in table else None)
    return Env(
        name=name,
        triton=triton,
        torch=torch,
        distribution=distribution,
        wheel=wheel,
        index=_index(table),
        python=table.specifier("python"),
        install=table.requirements("install"),
        groups=_groups(table),
    )


def _derived_name(distribution: str, triton: Version | None, torch: Version | None) -> str:
    parts = (distribution, str(triton) if triton else "", f"torch-{torch}" if torch else "")
    return "-".join(part for part in parts if part)


def _wheel(table: Table, wheel: str, distribution: str | None, triton: Version | None, base: Path) -> tuple[str, str, Version]:
    """Where the wheel is, absolute; and what its file name says of distribution and version."""
    if triton is not None:
        table.fail("a wheel has its own version: give triton or wheel, not both", "triton")
    try:
        name, version, _ = wheel_facts(wheel)
    except InvalidWheelFilename:
        table.fail(f"{wheel!r} is not called as wheels are (name-version-python-abi-platform.whl)", "wheel")
    if distribution is not None and canonicalize_name(distribution) != name:
        table.fail(f"the wheel holds {name!r}, not {distribution!r}", "distribution")
    return (wheel if "://" in wheel else str((base / wheel).resolve())), name, version


def _index(table: Table) -> str | None:
    url = table.optional("index", example='"https://…/simple"')
    if url is not None and not re.match(r"(https?|file)://", url):
        table.fail(f"{url!r} is not the URL of a package index", "index", hint="It starts with https://, http:// or file://.")
    return url


def _groups(table: Table) -> tuple[str, ...]:
    groups = table.strings("groups")
    for index, group in enumerate(groups):
        if not _NAME.fullmatch(group):
            table.fail(f"{group!r} is not a name: letters, digits and . _ + - only", f"groups[{index}]")
    return tuple(dict.fromkeys(groups))


def _companion(table: Table) -> Companion:
    table.only("triton", "torch", "install", "why")
    install = table.requirements("install")
    if not install:
        table.fail("installs nothing", "install")
    torch = table.specifier("torch") if "torch" in table else None
    return Companion(triton=table.specifier("triton"), torch=torch, install=install, why=table.string("why", ""))


def _accompanied(env: Env, companions: tuple[Companion, ...]) -> Env:
    extra = (text for companion in companions if companion.joins(env) for text in companion.install)
    return evolve(env, install=tuple(dict.fromkeys((*env.install, *extra))))


# --- targets and defaults ----------------------------------------------------------------------------------------------------


def _targets(top: Table) -> dict[str, Target]:
    targets = dict(TARGETS)
    for table in top.tables("target"):
        table.only("name", "backend", "arch", "warp_size", "shared_memory")
        name = table.string("name")
        if not _TARGET_NAME.fullmatch(name):
            table.fail(f"{name!r} is not a name: small letters, digits and _ only", "name")
        if name in targets:
            table.fail(f"the target {name!r} is there already", "name")
        backend = table.string("backend")
        if backend not in ("cuda", "hip"):
            table.fail(f'expected "cuda" or "hip", found {backend!r}', "backend")
        arch = table.integer("arch") if backend == "cuda" else table.string("arch", example='"gfx942"')
        targets[name] = Target(
            name=name,
            backend=backend,
            arch=arch,
            warp_size=table.integer("warp_size"),
            shared_memory=table.integer("shared_memory"),
        )
    return targets


def _memory(defaults: Table) -> int:
    value = defaults.data.get("memory", "4 GiB")
    if not isinstance(value, str):
        return defaults.integer("memory")
    match = _SIZE.fullmatch(value.strip())
    size = int(float(match[1]) * _UNITS[match[2]]) if match else 0
    if size <= 0:
        defaults.fail(f'{value!r} is not a size, such as "4 GiB", or a number of bytes', "memory")
    return size


def _check_defaults(config: MatrixConfig, defaults: Table) -> None:
    """Refuse defaults that select nothing, at the key that says so and not when they are used."""
    for key, patterns, select in (
        ("envs", config.default_envs, config.choose_envs),
        ("targets", config.default_targets, config.choose_targets),
    ):
        if not patterns:
            defaults.fail("names nothing", key)
        for index, pattern in enumerate(patterns):
            try:
                select((pattern,))
            except SelectionError as error:
                raise ConfigError(str(error), where=defaults.where(f"{key}[{index}]"), hint=error.hint) from None
