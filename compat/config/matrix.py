"""``matrix.toml``: the environments, targets and kernels of a project, and the limits of a cell.

The file is read once, here, into a frozen :class:`MatrixConfig`. Its path is the base of every
relative path in it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from attrs import evolve, frozen
from packaging.version import Version

from compat import toolchains
from compat.config import env_tables, releases
from compat.config.env_tables import (
    EXAMPLE,
    Companion,
    add_companions,
    built_in_declarations,
    wheel_env,
)
from compat.config.locks import Locks, path_of, read_locks
from compat.config.selection import MATRIX as FILE
from compat.config.selection import select_envs, select_targets
from compat.config.toml import (
    SCHEMA,
    Table,
    did_you_mean,
    parse_toml,
    quote_text,
    read_toml,
    toml_text,
)
from compat.envs.cache import EnvCache, env_cache
from compat.envs.libraries import unpack_library
from compat.errors import ConfigError, SelectionError
from compat.model import Env, Target
from compat.text import JsonObject, lazy_pattern, size_of_text, text_digest

_TARGET_NAME = lazy_pattern(r"[a-z0-9_]+")
_PAIR = lazy_pattern(
    r"(?P<toolchain>[a-z]\w*)-(?P<release>[^-.]+\.[^-]+)(?:-(?P<framework>[a-z]\w*)-(?P<framework_release>[^-]+))?"
)
_RELEASES, _DEFAULT = "releases", "default"
"""The groups of the envs that are used by default: in a toolchain's own file, and in a project's.
"""


@frozen(kw_only=True)
class MatrixConfig:
    """The checked content of ``matrix.toml``, with built-in values for missing entries."""

    path: Path
    """Absolute path of the file. If it does not exist, the built-in defaults hold."""
    kernels: tuple[str, ...]
    """Paths or globs of kernel files, relative to the file's folder."""
    envs: tuple[Env, ...]
    """Every env, in the order of the file, with the packages of its companions. If the file
    declares none, the built-in ones.
    """
    released: tuple[Env, ...] = ()
    """Built-in envs, which can be named although the file declares others."""
    targets: tuple[Target, ...]
    """Every target that may be named, built in or declared here."""
    companions: tuple[Companion, ...] = ()
    """The companions that the file declares."""
    further_companions: tuple[Companion, ...] = ()
    """The built-in companions; none if the file says ``companion = []``."""
    locks: Locks
    """The locked packages of envs and libraries. Those of envs are already in ``envs``."""
    default_envs: tuple[str, ...]
    """Patterns of the default envs; see :func:`compat.config.selection.select_envs`."""
    default_targets: tuple[Target, ...]
    deadline: float
    """Seconds that one cell may take."""
    memory: int
    """Bytes of resident memory that one cell may use."""
    import_deadline: float
    """Seconds that importing a kernel's file may take."""
    keep_workers: float
    """Seconds that a worker waits for the next command after the last one that used it; with 0 it
    ends with its command.
    """
    run_pairs: bool = True
    """Whether a matrix also tests the envs that have a PyTorch as pairs."""
    env_folder: Path | None = None
    """The folder for envs; ``None`` if the file names none."""
    executor: Table | None = None
    """The table of the executor, which :mod:`compat.executors` reads; ``None`` to compile on this
    machine.
    """

    @property
    def declared_names(self) -> frozenset[str]:
        """The names of the envs of the file, and of the built-in ones."""
        return frozenset(env.name for env in (*self.envs, *self.released))

    def env_cache(self) -> EnvCache:
        """The cache of envs: the folder of ``$COMPAT_ENVS``, of this file, or of the user's cache.

        Raises EnvError.
        """
        return env_cache(self.env_folder)

    @property
    def base(self) -> Path:
        """The folder that relative paths start from."""
        return self.path.parent

    def choose_envs(self, patterns: Sequence[str] = ()) -> tuple[Env, ...]:
        """The envs that the patterns name, or the default ones without any.

        See :func:`compat.config.selection.select_envs`.
        """
        return select_envs(
            self.envs, patterns or self.default_envs, self.released, self._env_from_name
        )

    def one_env(self, word: str) -> Env:
        """The one env that a pattern means.

        Raises SelectionError if it means several, or none.
        """
        envs = self.choose_envs([word])
        if len(envs) != 1:
            raise SelectionError(
                f"{word!r} matches {len(envs)} envs",
                hint=f"Choose one: {', '.join(env.name for env in envs)}.",
            )
        return envs[0]

    def wheel_env(self, wheel: str) -> Env:
        """The env of a wheel that nothing declares: a path from the current folder, or a URL.

        Raises ConfigError if it is not the name of a wheel, or there is no such file.
        """
        if "://" not in wheel and not Path(wheel).is_file():
            raise ConfigError("there is no such file", where=wheel)
        return self.accompany(wheel_env(wheel, Path.cwd()))

    def choose_targets(self, patterns: Sequence[str] = ()) -> tuple[Target, ...]:
        """The targets that the patterns mean, or the default ones without any.

        See :func:`compat.config.selection.select_targets`.
        """
        return select_targets(self.targets, patterns) if patterns else self.default_targets

    def env(self, name: str) -> Env:
        """The env with a name.

        ``triton-X`` and ``triton-X-torch-Y``, and such names of other toolchains, need not be in
        the file. Raises SelectionError for any other name that is not in the file.
        """
        named = (env for env in (*self.envs, *self.released) if env.name == name)
        env = next(named, None) or self._env_from_name(name)
        if env is not None:
            return env
        usual = toolchains.look_up(self._usual_toolchain)
        hint = did_you_mean(name, [env.name for env in self.envs])
        raise SelectionError(
            f"unknown env {name!r}",
            hint=hint or f"Choose an env of {FILE}, or {usual.name}-X[-{usual.framework.name}-Y].",
        )

    def for_toolchains(self, names: Collection[str]) -> MatrixConfig:
        """The configuration for a run whose kernels are all for these toolchains.

        If all of them are toolchains that have to be named, it uses only their built-in envs by
        default. A configuration with declared envs stays unchanged.
        """
        used = [toolchains.look_up(name) for name in sorted(names)]
        if not used or self.released or not all(toolchain.only_named for toolchain in used):
            return self
        own = tuple(env for env in self.envs if env.toolchain in names)
        others = tuple(env for env in self.envs if env.toolchain not in names)
        groups = tuple(f"{toolchain.name}-{_RELEASES}" for toolchain in used if toolchain.releases)
        unsaid = self.default_envs == (_RELEASES,)
        return evolve(
            self,
            envs=own,
            released=others,
            default_envs=groups if unsaid and groups else self.default_envs,
        )

    def accompany(self, env: Env) -> Env:
        """An env with its lock and with the requirements of its companions.

        Companions are those of the file and the built-in ones. Raises ConfigError if the env was
        locked with another declaration.
        """
        return self.locks.apply_lock(add_companions(env, self.companions, self.further_companions))

    def _env_from_name(self, word: str) -> Env | None:
        """The env that a name such as ``triton-X-torch-Y`` describes completely.

        The word may also be a whole release, perhaps with a framework.
        """
        short = releases.whole_release(word.partition("-")[0]) is not None
        match = _PAIR.fullmatch(
            f"{self._usual_toolchain}-{word.removeprefix('v')}" if short else word
        )
        try:
            toolchain = toolchains.find(match["toolchain"]) if match else None
            if match and toolchain and match["framework"] in (None, toolchain.framework.name):
                env = Env(
                    name=match[0],
                    toolchain=toolchain.name,
                    release=Version(match["release"]),
                    framework=toolchain.framework.name,
                    framework_release=(
                        Version(match["framework_release"]) if match["framework"] else None
                    ),
                    distribution=toolchain.distribution,
                )
                return self.accompany(env)
        # InvalidVersion is a ValueError. Python raises another for a number with too many digits.
        except ValueError:
            pass
        return None

    @property
    def _usual_toolchain(self) -> str:
        """The name of the toolchain of a release that no env has.

        It is the toolchain of all envs if they have only one, else the default toolchain.
        """
        there = {env.toolchain for env in self.envs}
        return there.pop() if len(there) == 1 else toolchains.DEFAULT.name

    def library(self, requirement: str) -> Path:
        """The folder of a library of one version, from a file that its lock allows.

        Raises EnvError if it cannot be unpacked.
        """
        return unpack_library(requirement, self.locks.hashes(requirement))


def load_matrix(path: Path, *, locked: bool = True) -> MatrixConfig:
    """Read and check a ``matrix.toml``, and the lock beside it unless ``locked`` is false.

    Raises:
        ConfigError: The file or its lock is invalid, or they do not agree. The error names the
            path of the key.
    """
    return _config(read_toml(path), path.absolute(), locked=locked)


def find_matrix(folder: Path) -> Path | None:
    """The nearest ``matrix.toml``: of a folder, else of those above it in the same repository."""
    folder = folder.absolute()
    above = (folder, *folder.parents)
    top = next((parent for parent in above if os.path.lexists(parent / ".git")), folder)
    within = above[: above.index(top) + 1]
    return next((parent / FILE for parent in within if os.path.lexists(parent / FILE)), None)


def no_matrix(folder: Path, *, locked: bool = True) -> MatrixConfig:
    """The configuration of a folder without a ``matrix.toml``: built-in values, and no kernels."""
    return _config(parse_toml("", FILE), folder.absolute() / FILE, locked=locked)


def _config(top: Table, path: Path, *, locked: bool) -> MatrixConfig:
    top.only(
        "schema", "kernels", "defaults", "env", "envs", "companion", "target", "pairs", "executor"
    )
    if "kernels" in top and not top.strings("kernels"):
        top.fail("must not be empty", "kernels", hint='For example kernels = ["kernels/*.toml"].')
    locks = read_locks(path_of(path)) if locked else Locks(path=path_of(path))
    declared, released = env_tables.env_declarations(top, path.parent), built_in_declarations()
    if "env" in top and not declared.envs:
        top.fail(
            "must not be empty",
            "env",
            hint=f"For example env = [{EXAMPLE}]; remove env to use the built-in envs.",
        )
    further = () if "companion" in top and not declared.companions else released.companions

    def complete(env: Env) -> Env:
        return locks.apply_lock(add_companions(env, declared.companions, further))

    own, others = tuple(map(complete, declared.envs)), tuple(map(complete, released.envs))
    targets, defaults = _targets(top), top.table("defaults")
    defaults.only("envs", "targets", "deadline", "import_deadline", "memory", "keep_workers")
    config = MatrixConfig(
        path=path,
        kernels=top.strings("kernels"),
        envs=own or others,
        released=others if own else (),
        targets=targets,
        companions=declared.companions,
        further_companions=further,
        locks=locks,
        default_envs=defaults.strings("envs", _default_envs(own)),
        default_targets=_default_targets(defaults, targets, own or others),
        deadline=defaults.number("deadline", 60.0),
        memory=_memory(defaults),
        import_deadline=defaults.number("import_deadline", 120.0),
        keep_workers=defaults.number("keep_workers", 300.0, or_zero=True),
        env_folder=_env_folder(top.table("envs"), path.parent),
        run_pairs=_run_pairs(top.table("pairs")),
        executor=top.table("executor") if "executor" in top else None,
    )
    _check_patterns(defaults, "envs", config.default_envs, config.choose_envs)
    return config


def _default_envs(own: Sequence[Env]) -> tuple[str, ...]:
    """The envs that are used if neither the file nor the command line names any.

    They are the group of releases. If the file declares envs, they are the group ``default`` of
    these, or all of these if none is in that group.
    """
    if not own:
        return (_RELEASES,)
    return (_DEFAULT,) if any(_DEFAULT in env.groups for env in own) else ("*",)


def _default_targets(
    defaults: Table, targets: Sequence[Target], envs: Sequence[Env]
) -> tuple[Target, ...]:
    """The default targets of the file, or else the usual ones of the toolchains of these envs."""
    if "targets" in defaults:
        patterns = defaults.strings("targets")
        _check_patterns(defaults, "targets", patterns, partial(select_targets, targets))
        return select_targets(targets, patterns)
    used = {env.toolchain for env in envs}
    return tuple(
        target
        for target in targets
        if target.toolchain in used
        and target.name in toolchains.look_up(target.toolchain).device.default_targets
    )


def _run_pairs(table: Table) -> bool:
    """The value of ``[pairs]``."""
    table.only("run")
    return table.expect(table.data.get("run", True), bool, "run")


def _env_folder(table: Table, base: Path) -> Path | None:
    """The folder that ``[envs]`` names, absolute."""
    table.only("folder")
    text = table.optional("folder", example='"../envs"')
    if text is None:
        return None
    expanded = os.path.expanduser(text)
    if expanded.startswith("~"):
        table.fail(f"{quote_text(text)}: the home folder does not exist", "folder")
    folder = Path(os.path.abspath(base / expanded))
    present = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    if not os.path.isdir(present):
        table.fail(f"{present} is not a folder", "folder")
    return folder


# --- targets and defaults -------------------------------------------------------------------------


def _targets(top: Table) -> tuple[Target, ...]:
    """The targets of all toolchains, and those that the file declares.

    A declared target is for every toolchain with its backend.
    """
    targets = toolchains.targets()
    for table in top.tables("target"):
        table.only("name", "backend", "arch", "warp_size", "shared_memory")
        name = table.string("name")
        if not _TARGET_NAME.fullmatch(name):
            table.fail(
                f"{name!r} is not a valid name: use small letters, digits and _ only", "name"
            )
        if name in {target.name for target in targets}:
            table.fail(f"the target {name!r} already exists", "name")
        backend = table.string("backend")
        alike = {target.toolchain: target for target in targets if target.backend == backend}
        if not alike:
            backends = " or ".join(
                f'"{backend_name}"'
                for backend_name in dict.fromkeys(target.backend for target in targets)
            )
            table.fail(f"expected {backends}, found {backend!r}", "backend")
        example = next(iter(alike.values())).arch
        facts: JsonObject = {
            "arch": (
                table.integer("arch")
                if isinstance(example, int)
                else table.string("arch", example=f'"{example}"')
            ),
            "warp_size": table.integer("warp_size"),
            "shared_memory": table.integer("shared_memory"),
        }
        targets += tuple(
            Target(name=name, toolchain=toolchain, backend=backend, **facts) for toolchain in alike
        )
    return targets


def _memory(defaults: Table) -> int:
    value = defaults.data.get("memory", "4 GiB")
    if not isinstance(value, str):
        return defaults.integer("memory")
    size = size_of_text(value)
    if size is None:
        defaults.fail(
            f'{quote_text(value)} is not a size, such as "4 GiB", or a number of bytes', "memory"
        )
    return size


def _check_patterns(
    defaults: Table, key: str, patterns: Sequence[str], select: Callable[[Sequence[str]], object]
) -> None:
    """Raise ConfigError with the key for defaults that select nothing, before they are used."""
    if not patterns:
        defaults.fail("must not be empty", key)
    for index, pattern in enumerate(patterns):
        try:
            select((pattern,))
        except SelectionError as error:
            raise ConfigError(
                str(error), where=defaults.where(f"{key}[{index}]"), hint=error.hint
            ) from None


def declare(envs: Sequence[Mapping[str, str | list[str]]], folder: Path) -> MatrixConfig:
    """Declare envs in a file in ``folder``, each in the form of ``matrix.toml``, and read it.

    The same envs always have the same file.
    """
    defaults = {"envs": [env["name"] for env in envs]}
    document = {"schema": SCHEMA, "env": list(envs), "defaults": defaults}
    path = folder / f"matrix-{short_hash(json.dumps(document))}.toml"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(toml_text(document), encoding="utf-8")
    return load_matrix(path)


def short_hash(text: str) -> str:
    """The first eight digits of a text's SHA-256, which tell generated names apart."""
    return text_digest(text)[:8]
