"""A project, and what is asked of it: the folder of a ``matrix.toml``, and the cells that names and globs choose from it.

In: the path of a ``matrix.toml``, and patterns. Out: a :class:`Selection`, which has the chosen envs, targets and kernels, the
store for results, and a :class:`compat.execution.run.RunContext` to compile with. Every feature takes one; the command line makes
one of its options.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from attrs import Factory, asdict, evolve, frozen

from compat import toolchains
from compat.config.kernel_files import load_kernels
from compat.config.matrix import MatrixConfig, load_matrix
from compat.config.selection import select_specs
from compat.config.toml_reader import LONGEST
from compat.envs.env import read_env
from compat.envs.provider import EnvProvider
from compat.errors import ConfigError, SelectionError
from compat.execution import plan
from compat.execution.flight import Limits
from compat.execution.run import RunContext, available_cores
from compat.execution.store import Store
from compat.model import BuiltEnv, Cell, Env, Result, Specialization, Target

KEEP_WORKERS = "COMPAT_KEEP_WORKERS"
"""The environment variable that overrides ``keep_workers`` of ``matrix.toml``."""

STATE = ".compat"
"""The folder beside ``matrix.toml`` for what is kept between runs."""

Obtain = Callable[[Path, Sequence[Env]], Sequence[BuiltEnv]]
"""Gives envs that a ``matrix.toml`` declares as they are on disk, in their order, perhaps having built what is missing."""


def with_envs(context: RunContext, envs: Sequence[BuiltEnv]) -> RunContext:
    """A context that has these envs and no others."""
    return evolve(context, envs={built.env.name: built for built in envs})


class Listener:
    """Hears how many cells a feature is to compile, and of each result. This one ignores it."""

    def compiling(self, total: int) -> AbstractContextManager[Callable[[Result], None]]:
        """At most ``total`` cells are to be compiled: what to call with each result, perhaps from another thread."""
        return nullcontext(lambda result: None)


@frozen(kw_only=True)
class Patterns:
    """Which cells are meant, by names and globs, each perhaps several with commas between them. Empty is what is usual.

    That is what the defaults of ``matrix.toml`` say for envs and targets, and all of them for the others.
    """

    envs: tuple[str, ...] = ()
    """Names of envs, of groups, or globs."""
    targets: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    kernel_files: tuple[str, ...] = ()
    """Paths or globs, relative to the current folder, of kernel files to take instead of those that ``matrix.toml`` names."""


@frozen(kw_only=True)
class Selection:
    """What was chosen from a ``matrix.toml``; :func:`select` makes one."""

    config: MatrixConfig
    envs: tuple[Env, ...]
    targets: tuple[Target, ...]
    specs: tuple[Specialization, ...]
    patterns: Patterns = Factory(Patterns)
    """By which it was chosen."""
    problems: tuple[ConfigError, ...] = ()
    """What is wrong with kernel files, whose kernels are left out."""

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every combination of what was chosen."""
        return plan.cross(self.envs, self.targets, self.specs)

    @property
    def kernels(self) -> tuple[tuple[Specialization, Target], ...]:
        """Every combination without the envs: what has a history of its own."""
        return tuple((spec, target) for spec in self.specs for target in self.targets if spec.is_for(target))

    @property
    def root(self) -> Path:
        """The folder of ``matrix.toml``."""
        return self.config.base

    @property
    def state(self) -> Path:
        """The folder for what is kept between runs."""
        return self.root / STATE

    def read_envs(self, matrix: Path, envs: Sequence[Env]) -> list[BuiltEnv]:
        """Envs that a ``matrix.toml`` declares, the project's or another one, as they are in the cache, to be used. Builds none."""
        return EnvProvider(cache=self.config.env_cache(), build=False)(matrix, envs)

    def look_at(self, env: Env) -> BuiltEnv:
        """What there is of an env, which is not used for that."""
        return read_env(env, self.config.env_cache())

    def build_envs(self, matrix: Path, envs: Sequence[Env]) -> list[BuiltEnv]:
        """The same, after nox has built those that are missing. Raises EnvError where nothing can be written into the cache."""
        return EnvProvider(cache=self.config.env_cache(), jobs=available_cores())(matrix, envs)

    def with_patterns(self, **patterns: Sequence[str]) -> Selection:
        """What these patterns choose instead of those given before; the files are read again. Raises what :func:`select` does."""
        return select(self.config.path, **{**asdict(self.patterns), **patterns})

    def open_store(self, on_warning: Callable[[str], None] = lambda _: None) -> Store:
        """The results that are kept, for a ``with`` block; ``on_warning`` hears what had to be put aside. Raises StoreError."""
        return Store(self.state, on_warning)

    def context(
        self,
        store: Store,
        envs: Mapping[str, BuiltEnv] | None = None,
        *,
        deadline: float | None = None,
        jobs: int | None = None,
        again: bool = False,
    ) -> RunContext:
        """A context to compile with; what is not given is as ``matrix.toml``, the environment and this machine have it.

        ``envs`` may be left out for features, which find theirs; ``deadline`` is the seconds that one cell may take, ``jobs`` how
        many are compiled at the same time, and ``again`` compiles what is known, too. Raises SelectionError where the environment
        says something that cannot be meant.
        """
        return RunContext(
            envs=envs or {},
            store=store,
            limits=Limits(
                deadline=deadline or self.config.deadline,
                memory=self.config.memory,
                import_deadline=self.config.import_deadline,
            ),
            slots=jobs or available_cores(),
            again=again,
            idle_timeout=_idle_timeout(self.config.keep_workers, os.environ),
        )


def select(
    matrix: Path,
    *,
    envs: Sequence[str] = (),
    targets: Sequence[str] = (),
    kernels: Sequence[str] = (),
    variants: Sequence[str] = (),
    cases: Sequence[str] = (),
    kernel_files: Sequence[str] = (),
) -> Selection:
    """What patterns (see :class:`Patterns`) choose from a ``matrix.toml``.

    Raises ConfigError for what the files say wrongly, SelectionError for a pattern that matches nothing. A kernel file that is
    wrong is only left out (:attr:`Selection.problems`), where others are not.
    """
    config, problems = read_matrix(matrix), list[ConfigError]()
    specs = _specs(config, kernel_files, problems.append)
    try:
        chosen = select_specs(specs, kernels, variants, cases)
    except SelectionError:
        if problems:  # what is meant may be in a file that is wrong
            raise problems[0] from None
        raise
    if problems and not chosen:
        raise problems[0]
    return Selection(
        config=config,
        envs=config.choose_envs(envs),
        targets=config.choose_targets(targets),
        specs=chosen,
        problems=tuple(problems),
        patterns=Patterns(
            envs=tuple(envs),
            targets=tuple(targets),
            kernels=tuple(kernels),
            variants=tuple(variants),
            cases=tuple(cases),
            kernel_files=tuple(kernel_files),
        ),
    )


def _specs(config: MatrixConfig, kernel_files: Sequence[str], on_bad: Callable[[ConfigError], None]) -> tuple[Specialization, ...]:
    failure_classes = frozenset(toolchains.failure_classes())
    if kernel_files:
        return load_kernels(kernel_files, Path.cwd(), failure_classes=failure_classes, where="--spec", on_bad=on_bad)
    return load_kernels(config.kernels, config.base, failure_classes=failure_classes, on_bad=on_bad)


def read_matrix(path: Path) -> MatrixConfig:
    """Read a ``matrix.toml``, with advice where there is none. Raises ConfigError."""
    if not path.exists():
        raise ConfigError("there is no such file", where=str(path), hint="Run in the folder that has it, or say --matrix PATH.")
    return load_matrix(path)


def _idle_timeout(declared: float, environ: Mapping[str, str]) -> float:
    """What the environment says, else 0 where no second command is expected (CI), else what is declared."""
    said = environ.get(KEEP_WORKERS, "")
    if not said:
        return 0.0 if environ.get("CI") else declared
    try:
        seconds = float(said)
        if not seconds <= LONGEST:  # so that what is not a number is not taken for one either
            raise ValueError(f"not a number of seconds up to {LONGEST:,}")
    except ValueError:
        hint = "It is a number of seconds; with 0 no worker outlives its command."
        raise SelectionError(f"{said!r} is not a number", where=f"${KEEP_WORKERS}", hint=hint) from None
    return max(0.0, seconds)
