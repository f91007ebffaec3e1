"""``matrix.toml``: which environments, targets and kernels there are, and what a cell may cost.

The file is read once, here, into a frozen :class:`MatrixConfig`. Its path is the base of every relative path in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import evolve, frozen
from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name
from packaging.version import InvalidVersion, Version

from compat import toolchains
from compat.config.installs import installs
from compat.config.selection import select_envs, select_targets
from compat.config.toml_reader import Table, did_you_mean, quoted, read_toml
from compat.envs.cache import EnvCache, env_cache
from compat.envs.requirements import label
from compat.envs.wheels import wheel_facts
from compat.errors import ConfigError, SelectionError
from compat.model import Env, Target
from compat.toolchains import Toolchain

_ENV_KEYS = ("torch", "distribution", "wheel", "index", "python", "install", "groups")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_TARGET_NAME = re.compile(r"[a-z0-9_]+")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(B|KiB|MiB|GiB|TiB)")
_LONGEST_SIZE = 30
_UNITS = {unit: 1024**power for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB"))}
_PAIR = re.compile(r"(?P<toolchain>[a-z]\w*)-(?P<release>[^-]+)(?:-torch-(?P<torch>[^-]+))?")

_EXAMPLE = f'{{ {toolchains.DEFAULT.name} = "3.1.0" }}'


@frozen(kw_only=True)
class Companion:
    """Requirements that go into every env whose releases match: what a release needs and does not declare."""

    toolchain: str
    release: SpecifierSet
    torch: SpecifierSet | None
    """Matches only envs with a PyTorch of these versions; ``None``: any env, with PyTorch or without."""
    install: tuple[str, ...]
    why: str

    def joins(self, env: Env) -> bool:
        """Whether these requirements go into that env."""
        if env.toolchain != self.toolchain:
            return False
        if self.torch is not None and (env.torch is None or not self.torch.contains(env.torch, prereleases=True)):
            return False
        if env.release is None:
            return not str(self.release)
        return self.release.contains(env.release, prereleases=True)


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
    import_deadline: float
    """Seconds that importing a kernel's file may take."""
    keep_workers: float
    """Seconds that a worker waits for the next command after the last one that used it; with 0 it ends with its command."""
    env_folder: Path | None = None
    """The folder to keep envs in, where the file names one."""

    def env_cache(self) -> EnvCache:
        """Where envs are kept: the folder that ``$COMPAT_ENVS`` names, or this file, or the user's cache. Raises EnvError."""
        return env_cache(self.env_folder)

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

    def envs_called(self, names: Sequence[str]) -> tuple[Env, ...]:
        """The envs of these names, groups or globs, each once; ``triton-X`` and ``triton-X-torch-Y`` need not be in the file.

        Raises SelectionError for what matches nothing and is no such name either.
        """
        found: dict[str, Env] = {}
        for name in names:
            try:
                found |= {env.name: env for env in self.choose_envs([name])}
            except SelectionError as error:
                try:
                    found[name] = self.env(name)
                except SelectionError:
                    raise error from None
        return tuple(found.values())

    def choose_targets(self, patterns: Sequence[str] = ()) -> tuple[Target, ...]:
        """The targets that the globs match, the default ones without any."""
        return select_targets(self.targets, patterns or self.default_targets)

    def env(self, name: str) -> Env:
        """The env of that name; ``triton-X`` and ``triton-X-torch-Y``, and so of other toolchains, need not be in the file.

        Raises SelectionError for any other name that is not in the file.
        """
        for env in self.envs:
            if env.name == name:
                return env
        match = _PAIR.fullmatch(name)
        try:
            if match and (toolchain := _toolchain(match["toolchain"])):
                torch = Version(match["torch"]) if match["torch"] else None
                release, published = Version(match["release"]), toolchain.distribution
                env = Env(name=name, toolchain=toolchain.name, release=release, torch=torch, distribution=published)
                return _accompanied(env, self.companions)
        except InvalidVersion:
            pass
        hint = did_you_mean(name, [env.name for env in self.envs])
        raise SelectionError(
            f"no env is called {name!r}", hint=hint or f"Besides those of matrix.toml, {toolchains.DEFAULT.name}-X[-torch-Y] works."
        )


def load_matrix(path: Path) -> MatrixConfig:
    """Read and check a ``matrix.toml``. Raises ConfigError with the path of the key that is wrong."""
    top = read_toml(path)
    top.only("schema", "kernels", "defaults", "env", "envs", "companion", "target")
    if not top.strings("kernels"):
        top.fail("names no kernels", "kernels", hint='For example kernels = ["kernels/*.toml"].')
    base = path.absolute().parent
    companions = tuple(_companion(table, base) for table in top.tables("companion"))
    envs = _envs(top, companions, base)
    targets = _targets(top)
    defaults = top.table("defaults")
    defaults.only("envs", "targets", "deadline", "import_deadline", "memory", "keep_workers")
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
        import_deadline=defaults.number("import_deadline", 120.0),
        keep_workers=defaults.number("keep_workers", 300.0, or_zero=True),
        env_folder=_env_folder(top.table("envs"), base),
    )
    _check_defaults(config, defaults)
    return config


# --- envs ------------------------------------------------------------------------------------------------------------------------


def _envs(top: Table, companions: tuple[Companion, ...], base: Path) -> tuple[Env, ...]:
    tables = top.tables("env")
    if not tables:
        top.fail("declares no environment", "env", hint=f"For example env = [{_EXAMPLE}].")
    envs: list[Env] = []
    seen: dict[str, str] = {}
    for table in tables:
        env = _accompanied(_env(table, base), companions)
        # Names that differ in their punctuation only are one to nox, which derives the name of a folder from each.
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
    toolchain = _toolchain_of(table, "name", more=_ENV_KEYS)
    release, torch = table.version(toolchain.name), table.version("torch")
    distribution, wheel = table.optional("distribution"), table.optional("wheel")
    if wheel is not None:
        wheel, distribution, release = _wheel(table, wheel, distribution, release, base, toolchain.name)
    elif release is None and distribution is None:
        table.fail(f"names no toolchain: one of {toolchain.name}, wheel, distribution", hint=f"For example {_EXAMPLE}.")
    distribution = canonicalize_name(distribution or toolchain.distribution)
    name = table.string("name", label(distribution, release, torch))
    if not _NAME.fullmatch(name):
        table.fail(f"{name!r} is not a name: letters, digits and . _ + - only", "name" if "name" in table else None)
    return Env(
        name=name,
        toolchain=toolchain.name,
        release=release,
        torch=torch,
        distribution=distribution,
        wheel=wheel,
        index=_index(table),
        python=table.specifier("python"),
        install=installs(table, base),
        groups=_groups(table),
    )


def _toolchain(name: str) -> Toolchain | None:
    return next((each for each in toolchains.every() if each.name == name), None)


def _toolchain_of(table: Table, *first: str, more: Sequence[str]) -> Toolchain:
    """The toolchain that a table is about: by the key that gives its release, or by its name; the default one without either.

    Refuses any key but ``toolchain``, these, and the names of toolchains.
    """
    names = [each.name for each in toolchains.every()]
    table.only(*first, *names, *more, "toolchain")
    given = [name for name in names if name in table]
    if len(given) > 1:
        table.fail(f"names two toolchains: {' and '.join(given)}", given[1], hint="An env has one toolchain: declare two envs.")
    said = table.optional("toolchain")
    if said is not None and said not in names:
        hint = did_you_mean(said, names) or f"Available: {', '.join(names)}."
        table.fail(f"no toolchain is called {said!r}", "toolchain", hint=hint)
    if said is not None and given not in ([], [said]):
        table.fail(f"gives a release of {given[0]}, but the toolchain is {said}", given[0])
    return toolchains.named(said or (given or [toolchains.DEFAULT.name])[0])


def _env_folder(table: Table, base: Path) -> Path | None:
    """The folder that ``[envs]`` names, absolute."""
    table.only("folder")
    said = table.optional("folder", example='"../envs"')
    if said is None:
        return None
    expanded = os.path.expanduser(said)
    if expanded.startswith("~"):
        table.fail(f"{quoted(said)}: there is no such home folder", "folder")
    folder = Path(os.path.abspath(base / expanded))
    present = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    if not os.path.isdir(present):
        table.fail(f"{present} is not a folder", "folder")
    return folder


def _wheel(
    table: Table, wheel: str, distribution: str | None, release: Version | None, base: Path, key: str
) -> tuple[str, str, Version]:
    """Where the wheel is, absolute; and what its file name says of distribution and version."""
    if release is not None:
        table.fail(f"a wheel has its own version: give {key} or wheel, not both", key)
    try:
        name, version, _ = wheel_facts(wheel)
    except InvalidWheelFilename:
        table.fail(f"{wheel!r} is not the name of a wheel (name-version-python-abi-platform.whl)", "wheel")
    if distribution is not None and canonicalize_name(distribution) != name:
        table.fail(f"the wheel holds {name!r}, not {distribution!r}", "distribution")
    return (wheel if "://" in wheel else os.path.realpath(base / wheel)), name, version


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


def _companion(table: Table, base: Path) -> Companion:
    toolchain = _toolchain_of(table, more=("torch", "install", "why"))
    install = installs(table, base)
    if not install:
        table.fail("installs nothing", "install")
    torch = table.specifier("torch") if "torch" in table else None
    release = table.specifier(toolchain.name)
    return Companion(toolchain=toolchain.name, release=release, torch=torch, install=install, why=table.string("why", ""))


def _accompanied(env: Env, companions: tuple[Companion, ...]) -> Env:
    extra = (text for companion in companions if companion.joins(env) for text in companion.install)
    return evolve(env, install=tuple(dict.fromkeys((*env.install, *extra))))


# --- targets and defaults ----------------------------------------------------------------------------------------------------


def _targets(top: Table) -> dict[str, Target]:
    targets = toolchains.targets()
    for table in top.tables("target"):
        table.only("name", "backend", "arch", "warp_size", "shared_memory")
        name = table.string("name")
        if not _TARGET_NAME.fullmatch(name):
            table.fail(f"{name!r} is not a name: small letters, digits and _ only", "name")
        if name in targets:
            table.fail(f"the target {name!r} already exists", "name")
        backend = table.string("backend")
        known = {target.backend: target for target in reversed(targets.values())}
        if backend not in known:
            backends = " or ".join(f'"{each}"' for each in reversed(known))
            table.fail(f"expected {backends}, found {backend!r}", "backend")
        example = known[backend].arch
        arch = table.integer("arch") if isinstance(example, int) else table.string("arch", example=f'"{example}"')
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
    match = _SIZE.fullmatch(value.strip()) if len(value) < _LONGEST_SIZE else None
    size = int(float(match[1]) * _UNITS[match[2]]) if match else 0
    if size <= 0:
        defaults.fail(f'{quoted(value)} is not a size, such as "4 GiB", or a number of bytes', "memory")
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
