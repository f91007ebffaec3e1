"""A project, which is the folder of a ``matrix.toml``, and the cells that patterns choose in it.

In: the path of a ``matrix.toml``, if there is one, and patterns, which are names and globs. Out: a
:class:`Selection`, which has the chosen envs, targets and kernels, the store for results, and a
:class:`compat.engine.run.RunContext` to compile with. Every feature takes one. The command line
makes one from its options.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from fnmatch import fnmatchcase
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from attrs import Factory, evolve, frozen

from compat import toolchains
from compat.config.env_tables import release_example
from compat.config.kernel_files import is_file, is_source, load_kernels
from compat.config.libraries import (
    OPTION,
    LibraryVersions,
    MissingKernel,
    libraries_named,
    library_requirements,
    load_at_versions,
)
from compat.config.matrix import MatrixConfig, find_matrix, load_matrix, no_matrix
from compat.config.selection import select_specs, without_pairs
from compat.config.toml import LONGEST, display_path
from compat.engine import plan
from compat.engine.plan import Forecast, Shard
from compat.engine.run import RunContext
from compat.envs.provider import EnvProvider
from compat.envs.record import read_env
from compat.errors import ConfigError, SelectionError
from compat.executors import executor_declared, executor_named
from compat.executors.executor import LocalExecutor, OpenExecutor
from compat.guess.finding import sources, split
from compat.model import BuiltEnv, Cell, Env, Result, Specialization, Target
from compat.processes.supervisor import AVAILABLE_CORES
from compat.store.store import Store
from compat.text import join_words, printable
from compat.workers.attempt import Limits

KEEP_WORKERS = "COMPAT_KEEP_WORKERS"
"""The environment variable that overrides ``keep_workers`` of ``matrix.toml``."""

STATE = ".compat"
"""The folder beside ``matrix.toml`` with everything that outlives a run."""

Obtain = Callable[[Path, Sequence[Env]], Sequence[BuiltEnv]]
"""Returns the envs that a ``matrix.toml`` declares, in their order, and may first build missing
ones.
"""


class Listener:
    """Receives the progress of a feature. This base class ignores it."""

    def compiling(
        self, total: int, rows: Sequence[Cell] = ()
    ) -> AbstractContextManager[Callable[[Result], None]]:
        """At most ``total`` cells will be compiled.

        Args:
            total: The number of cells.
            rows: Cells of a table that a terminal may show while it fills.

        Returns:
            A function to call with each result, perhaps from another thread.
        """
        return nullcontext(lambda result: None)

    def expecting(self, cells: Sequence[Cell], forecast: Forecast) -> None:
        """These cells are compiled next, and the forecast says how long that may take."""

    def step(self, subject: str) -> AbstractContextManager[Callable[[str], None]]:
        """A step that may take long has started.

        Returns:
            A function to call with the progress in a few words, perhaps from another thread.
        """
        return nullcontext(lambda message: None)

    def say(self, message: str) -> None:
        """A message of one line."""

    def receive_answer(self, answer: object) -> None:
        """One of several answers. All are returned together at the end."""


@frozen(kw_only=True)
class Patterns:
    """Names and globs that choose cells. Each may list several, separated by commas.

    An empty field selects the defaults of ``matrix.toml`` (envs, targets) or everything (the other
    fields).
    """

    envs: tuple[str, ...] = ()
    """Names of envs or groups, globs, or releases (:func:`compat.config.selection.select_envs`)."""
    targets: tuple[str, ...] = ()
    """Names of targets, globs, or names of GPUs."""
    kernels: tuple[str, ...] = ()
    """Names of kernels, or globs."""
    variants: tuple[str, ...] = ()
    """Names of variants, or globs."""
    cases: tuple[str, ...] = ()
    """Names of cases, or globs."""
    kernel_files: tuple[str, ...] = ()
    """Kernel files to read instead of those in ``matrix.toml``: paths or globs, relative to the
    current folder. Also Python sources (``a.py``, ``a.py::kernel``, or a folder): if the project
    has a kernel file for a kernel of the source, that file gives its arguments, otherwise they are
    guessed.
    """
    packages: tuple[str, ...] = ()
    """Libraries of the package index with versions (``fla-core==0.4.0,0.6.0``).

    Only their kernels are selected, once per version: those that kernel files declare, or, for a
    library without declared kernels, all that can be guessed.
    """
    guess_others: bool = False
    """Whether to guess also the kernels of these libraries that no kernel file declares."""


@frozen(kw_only=True)
class Selection:
    """Chosen cells of a project. :func:`select` makes one."""

    config: MatrixConfig
    """The contents of ``matrix.toml``."""
    envs: tuple[Env, ...]
    """The chosen environments."""
    targets: tuple[Target, ...]
    """The chosen targets."""
    specs: tuple[Specialization, ...]
    """The chosen specializations: kernel, variant and case."""
    further_targets: tuple[Target, ...] = ()
    """Targets of kernels that support none of ``targets``. Empty if the user named targets."""
    patterns: Patterns = Factory(Patterns)
    """The patterns that chose the cells."""
    shard: Shard | None = None
    """The shard that ``specs`` belong to. ``None``: all."""
    all_shards: tuple[Specialization, ...] = ()
    pairs: bool = False
    """Whether environments with PyTorch are also tested as pairs."""
    problems: tuple[ConfigError, ...] = ()
    """Errors in kernel files. Their kernels are left out."""
    absent: tuple[MissingKernel, ...] = ()
    """Declared kernels that a version of a library does not have."""
    left_out: tuple[str, ...] = ()
    """Jit functions of Python sources that cannot be compiled by themselves: place and reason."""

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Every combination of env, target and specialization that go together."""
        cells = plan.cross(self.envs, self.all_targets, self.specs)
        return (
            tuple(cell for cell in cells if cell.target in self.targets_of(cell.spec))
            if self.further_targets
            else cells
        )

    @property
    def kernels_without_cells(self) -> tuple[str, ...]:
        """The patterns of kernels of which the other choices leave no cell.

        Empty if they leave no cell of any kernel.
        """
        patterns, _ = without_pairs(self.patterns.kernels)
        names = {cell.spec.kernel for cell in self.cells} if patterns else set()
        return tuple(p for p in patterns if names and not any(fnmatchcase(n, p) for n in names))

    @property
    def all_targets(self) -> tuple[Target, ...]:
        """Every target that something is compiled for."""
        return (*self.targets, *self.further_targets)

    def targets_of(self, spec: Specialization) -> tuple[Target, ...]:
        """The targets for a kernel: the chosen ones it supports, or else its own."""
        chosen = tuple(target for target in self.targets if spec.is_for(target))
        return chosen or tuple(target for target in self.further_targets if _is_own(spec, target))

    @property
    def kernels(self) -> tuple[tuple[Specialization, Target], ...]:
        """Every combination of specialization and target that go together.

        Each has its own history.
        """
        return tuple((spec, target) for spec in self.specs for target in self.targets_of(spec))

    @property
    def options(self) -> tuple[str, ...]:
        """Options that make a command in the same folder read the same files.

        They are ``--matrix``, ``--package``, ``--others`` and ``--spec``, where needed. Each has a
        value. They are printable.
        """
        path = os.path.relpath(self.config.path)
        arguments = (
            ["--matrix", path] if path != "matrix.toml" and self.config.path.exists() else []
        )
        arguments += [word for text in self.patterns.packages for word in (OPTION, text)]
        arguments += ["--others", "guess"] if self.patterns.guess_others else []
        arguments += [word for file in self.patterns.kernel_files for word in ("--spec", file)]
        return tuple(map(printable, arguments))

    @property
    def root(self) -> Path:
        """The folder of ``matrix.toml``."""
        return self.config.base

    @property
    def state(self) -> Path:
        """The folder for data kept between runs."""
        return self.root / STATE

    def read_envs(self, matrix: Path, envs: Sequence[Env]) -> list[BuiltEnv]:
        """Return environments as they are in the cache, marked as used. Builds none.

        Args:
            matrix: The ``matrix.toml`` that declares them.
            envs: The environments.
        """
        return EnvProvider(cache=self.config.env_cache(), build=False)(matrix, envs)

    def look_at(self, env: Env) -> BuiltEnv:
        """Return the state of an environment in the cache without marking it as used."""
        return read_env(env, self.config.env_cache())

    def build_envs(self, matrix: Path, envs: Sequence[Env]) -> list[BuiltEnv]:
        """Return environments after building those that are missing.

        Raises:
            EnvError: The cache cannot be written.
        """
        return EnvProvider(cache=self.config.env_cache(), known_names=self.config.declared_names)(
            matrix, envs
        )

    def and_envs(self, envs: Sequence[Env]) -> Selection:
        """Return this selection with further environments."""
        return evolve(self, envs=tuple({env.name: env for env in (*self.envs, *envs)}.values()))

    def with_patterns(self, **patterns: Sequence[str]) -> Selection:
        """Return a selection with some patterns replaced. Reads kernel files again.

        Raises:
            ConfigError: As :func:`select` does.
            SelectionError: As :func:`select` does.
        """
        replaced: dict[str, Any] = {name: tuple(texts) for name, texts in patterns.items()}
        selection = _selection_of(self.config, evolve(self.patterns, **replaced))
        return selection.of_shard(self.shard) if self.shard else selection

    def of_shard(self, shard: Shard) -> Selection:
        """Return the part of this selection that belongs to a shard. It may be empty."""
        return evolve(
            self,
            shard=shard,
            specs=tuple(spec for spec in self.specs if shard.has(spec)),
            all_shards=self.specs,
        )

    def open_store(
        self,
        on_warning: Callable[[str], None] = lambda _: None,
        *,
        say: Callable[[str], None] = lambda _: None,
        only_read: bool = False,
    ) -> Store:
        """Open the store of results, for a ``with`` block.

        Args:
            on_warning: Called with warnings: data that was put aside or is missing.
            say: Called when another process compiles the same cells and this one waits.
            only_read: Never write, so that the folder may be read-only.

        Raises:
            StoreError: The store cannot be opened.
        """
        return Store(self.state, on_warning, say=say, only_read=only_read)

    def context(
        self,
        store: Store,
        envs: Mapping[str, BuiltEnv] | None = None,
        *,
        deadline: float | None = None,
        jobs: int | None = None,
        again: bool = False,
        executor: OpenExecutor = LocalExecutor,
    ) -> RunContext:
        """Return a context for compiling.

        Arguments that are ``None`` come from ``matrix.toml``, the environment variables and this
        machine.

        Args:
            store: Where results are kept.
            envs: Environments by name. Features such as :func:`compat.matrix.run_matrix` find their
                own.
            deadline: Seconds that one cell may take.
            jobs: Number of cells that compile at the same time.
            again: Compile known cells again.
            executor: Where cells are compiled (:meth:`open_executor`).

        Raises:
            SelectionError: An environment variable is invalid.
        """
        return RunContext(
            envs=envs or {},
            store=store,
            limits=Limits(
                deadline=deadline or self.config.deadline,
                memory=self.config.memory,
                import_deadline=self.config.import_deadline,
            ),
            slots=jobs or AVAILABLE_CORES,
            again=again,
            idle_timeout=_idle_timeout(self.config.keep_workers, os.environ),
            executor=executor,
        )

    @contextmanager
    def open_executor(
        self,
        text: str | None = None,
        *,
        in_flight: int | None = None,
        say: Callable[[str], None] = lambda message: None,
    ) -> Iterator[OpenExecutor]:
        """Return the executor that compiles cells. It connects when something has to be compiled.

        Args:
            text: ``dask://host:8786`` or ``local``. ``None``: as ``matrix.toml`` says, or this
                machine.
            in_flight: Batches that are in flight on a cluster at the same time.
            say: Called with messages about failing workers.

        Raises:
            SelectionError: ``text`` is invalid.
        """
        declared = self.config.executor
        settings = (
            executor_named(text)
            if text is not None
            else executor_declared(declared)
            if declared is not None
            else None
        )
        with (
            settings.executor_opener(in_flight, say)
            if settings
            else nullcontext(LocalExecutor) as opened
        ):
            yield opened


def no_cells(selection: Selection) -> SelectionError:
    """Return the error that says why there is no cell.

    No env, or no chosen env, has the kernels' toolchain, or the kernels are for other targets.
    """
    config = selection.config
    own = dict.fromkeys(spec.toolchain for spec in selection.specs)
    chosen = {target.toolchain for target in selection.targets}
    if own.keys() & chosen & {env.toolchain for env in selection.envs}:
        names = dict.fromkeys(name for spec in selection.specs for name in spec.targets)
        return SelectionError(
            f"no chosen kernel is for a chosen target; the kernels are for {', '.join(names)}",
            hint="Choose one of these targets.",
        )
    if own.keys() & {env.toolchain for env in (*config.envs, *config.released)}:
        targets = (
            target.name for name in own for target in toolchains.look_up(name).device.targets
        )
        hint = (
            f"The kernels are for {_titles(own)}, with the targets {join_words(targets)}."
            " `compat list envs` shows the envs."
        )
        return SelectionError(
            "no chosen env or target is for the toolchain of a chosen kernel", hint=hint
        )
    hint = (
        f"Name releases to compile on: env = [{', '.join(release_example(name) for name in own)}]."
    )
    return SelectionError(
        f"no env has {_titles(own)}, which the kernels are for",
        where=f"{display_path(config.path)}: env",
        hint=hint,
    )


def _titles(names: Iterable[str]) -> str:
    return " or ".join(toolchains.look_up(name).title for name in names)


def select(
    matrix: Path | None = None,
    *,
    envs: Sequence[str] = (),
    targets: Sequence[str] = (),
    kernels: Sequence[str] = (),
    variants: Sequence[str] = (),
    cases: Sequence[str] = (),
    kernel_files: Sequence[str] = (),
    packages: Sequence[str] = (),
    guess_others: bool = False,
) -> Selection:
    """Choose cells of a project.

    Args:
        matrix: Path of ``matrix.toml``. ``None``: search as :func:`read_matrix` does.
        envs: See :attr:`Patterns.envs`; the other arguments likewise.
        targets: See :attr:`Patterns.targets`.
        kernels: See :attr:`Patterns.kernels`.
        variants: See :attr:`Patterns.variants`.
        cases: See :attr:`Patterns.cases`.
        kernel_files: See :attr:`Patterns.kernel_files`. A word that names no file is a kernel's
            name or a glob over them.
        packages: See :attr:`Patterns.packages`.
        guess_others: See :attr:`Patterns.guess_others`.

    Raises:
        ConfigError: A file is invalid. If other kernel files are valid, an invalid one is only left
            out (:attr:`Selection.problems`).
        SelectionError: A pattern matches nothing.
    """
    patterns = Patterns(
        envs=tuple(envs),
        targets=tuple(targets),
        kernels=(*kernels, *(name for name in kernel_files if not _is_path(name))),
        variants=tuple(variants),
        cases=tuple(cases),
        kernel_files=tuple(name for name in kernel_files if _is_path(name)),
        packages=tuple(packages),
        guess_others=guess_others,
    )
    return _selection_of(read_matrix(matrix), patterns)


def select_places(
    matrix: Path | None = None, *, envs: Sequence[str] = (), targets: Sequence[str] = ()
) -> Selection:
    """The envs and targets that patterns choose, as :func:`select` does, without any kernel."""
    config, patterns = read_matrix(matrix), Patterns(envs=tuple(envs), targets=tuple(targets))
    chosen_envs, chosen_targets = config.choose_envs(envs), config.choose_targets(targets)
    return Selection(
        config=config, envs=chosen_envs, targets=chosen_targets, specs=(), patterns=patterns
    )


def gpus_of(target: Target) -> tuple[str, ...]:
    """The names of a target's GPUs, without the short forms that begin with a digit."""
    gpus = toolchains.look_up(target.toolchain).device.gpus
    return tuple(gpu for gpu, name in gpus.items() if name == target.name and not gpu[0].isdigit())


def _is_path(name: str) -> bool:
    """Whether an argument for kernel files is a path, and not a kernel's name."""
    return "/" in name or is_file(name)


def _selection_of(config: MatrixConfig, patterns: Patterns) -> Selection:
    problems: list[ConfigError] = []
    left_out: list[str] = []
    absent: tuple[MissingKernel, ...] = ()
    if patterns.packages:
        specs, absent = _of_packages(config, patterns)
    else:
        specs = _specs(config, patterns.kernel_files, problems.append, left_out.append)
    kernels, pairs = without_pairs(patterns.kernels)
    narrowed = any(
        (
            patterns.kernels,
            patterns.variants,
            patterns.cases,
            patterns.kernel_files,
            patterns.packages,
        )
    )
    try:
        alone = pairs and not kernels
        chosen = () if alone else select_specs(specs, kernels, patterns.variants, patterns.cases)
    except SelectionError:
        if problems:  # the requested kernel may be in an invalid file
            raise problems[0] from None
        raise
    if problems and not chosen:
        raise problems[0]
    config = config.for_toolchains({spec.toolchain for spec in chosen})
    targets = config.choose_targets(patterns.targets)
    return Selection(
        config=config,
        envs=config.choose_envs(patterns.envs),
        targets=targets,
        specs=chosen,
        further_targets=() if patterns.targets else _further_targets(config, targets, chosen),
        problems=tuple(problems),
        absent=absent,
        left_out=tuple(left_out),
        patterns=patterns,
        pairs=pairs or (config.run_pairs and not narrowed),
    )


def _further_targets(
    config: MatrixConfig, chosen: Sequence[Target], specs: Sequence[Specialization]
) -> tuple[Target, ...]:
    """The targets of kernels that support none of the chosen targets."""
    others = [spec for spec in specs if not any(spec.is_for(target) for target in chosen)]
    return tuple(
        target for target in config.targets if any(_is_own(spec, target) for spec in others)
    )


def _is_own(spec: Specialization, target: Target) -> bool:
    """Whether a kernel file names a target, or its toolchain compiles for it by default.

    The default counts only if the file names no target.
    """
    return spec.is_for(target) and (
        bool(spec.targets)
        or target.name in toolchains.look_up(spec.toolchain).device.default_targets
    )


def _specs(
    config: MatrixConfig,
    kernel_files: Sequence[str],
    on_bad: Callable[[ConfigError], None],
    on_left_out: Callable[[str], None],
) -> tuple[Specialization, ...]:
    if not kernel_files and not config.kernels:
        hint = (
            "Name a kernel file or a Python file with --spec FILE, or write a kernel file with"
            " `compat init FILE.py`."
        )
        raise ConfigError("there are no kernels to compile", where=_place(config), hint=hint)
    patterns, base = (kernel_files, Path.cwd()) if kernel_files else (config.kernels, config.base)
    load = partial(load_kernels, on_bad=on_bad, library=config.library)
    files = [pattern for pattern in patterns if not is_source(pattern, base)]
    declared = load(files, base, where=None if kernel_files else _place(config))
    named = [pattern for pattern in patterns if is_source(pattern, base)]
    if not named:
        return declared
    # Guessing takes longer to import than most kernel files take to read.
    from compat.guess.guessing import load_sources

    described: tuple[Specialization, ...] = ()
    if kernel_files:
        own = [pattern for pattern in config.kernels if not is_source(pattern, config.base)]
        paths = frozenset(
            Path(os.path.realpath(path)) for name in named for path in sources(split(name)[0], base)
        )
        # matrix.toml may name kernel files that do not exist. This command does not need those.
        with suppress(ConfigError):
            described = load(own, config.base, where=_place(config), of=paths)
    names = {spec.kernel for spec in declared}
    # A kernel file and its source may both be named.
    guessed = load_sources(named, base, names, described, on_bad, on_left_out)
    return tuple(dict.fromkeys((*declared, *guessed)))


def _of_packages(
    config: MatrixConfig, patterns: Patterns
) -> tuple[tuple[Specialization, ...], tuple[MissingKernel, ...]]:
    """The kernels of libraries, and the declared kernels that a version does not have.

    Raises SelectionError, and EnvError for a library that cannot be installed or has no version.
    """
    libraries = libraries_named(patterns.packages)
    folders = {library: config.library(library.requirement) for library in libraries}
    files, base = (
        (patterns.kernel_files, Path.cwd())
        if patterns.kernel_files
        else (config.kernels, config.base)
    )
    where = None if patterns.kernel_files else _place(config)
    kernels = load_at_versions(files, base, libraries, where=where, unpack=config.library)
    declared = {absent.library.name for absent in kernels.absent} | {
        library.name for spec in kernels.specs if (library := LibraryVersions.of(spec.package))
    }
    guessed = {
        library: folder
        for library, folder in folders.items()
        if patterns.guess_others or library.name not in declared
    }
    if not guessed:
        return kernels.specs, kernels.absent
    # Guessing takes longer to import than most kernel files take to read.
    from compat.guess.guessing import load_packages

    return (*kernels.specs, *load_packages(guessed, kernels.specs)), kernels.absent


def libraries_of(config: MatrixConfig, packages: Sequence[str] = ()) -> tuple[str, ...]:
    """The libraries, each with one version, that the values of ``--package`` name.

    Without a value, they are those of the kernel files that ``matrix.toml`` names. Raises
    SelectionError, ConfigError, EnvError and IndexUnavailable.
    """
    if packages:
        return tuple(library.requirement for library in libraries_named(packages))
    files = [pattern for pattern in config.kernels if not is_source(pattern, config.base)]
    return library_requirements(files, config.base)


def _place(config: MatrixConfig) -> str | None:
    """The place in ``matrix.toml`` that can name kernels; ``None`` without that file."""
    return f"{display_path(config.path)}: kernels" if config.path.exists() else None


def read_matrix(path: Path | None = None, *, locked: bool = True) -> MatrixConfig:
    """Read the ``matrix.toml`` at a path, in the current folder, or above it in the repository.

    Without such a file, the built-in defaults apply, and results are kept in the current folder.
    The lock is only read if ``locked``. Raises ConfigError for an invalid file, and if there is no
    file at a given path.
    """
    if path is None:
        path = find_matrix(Path.cwd())
        if path is None:
            return no_matrix(Path.cwd(), locked=locked)
    elif not path.exists():
        raise ConfigError(
            "there is no such file",
            where=str(path),
            hint=(
                "Without --matrix, the command uses matrix.toml in the current folder, if it"
                " exists."
            ),
        )
    config = load_matrix(path, locked=locked)
    if config.executor is not None:
        executor_declared(config.executor)  # reports errors even if no executor is needed
    return config


def _idle_timeout(declared: float, environ: Mapping[str, str]) -> float:
    """The idle timeout in seconds: that of the environment variable, or else the declared one.

    Without the variable it is 0 in CI, where no second command is expected.
    """
    setting = environ.get(KEEP_WORKERS, "")
    if not setting:
        return 0.0 if environ.get("CI") else declared
    try:
        seconds = float(setting)
        if not seconds <= LONGEST:  # also true for NaN
            raise ValueError(f"not a number of seconds up to {LONGEST:,}")
    except ValueError:
        hint = "Set it to a number of seconds. With 0, workers end with their command."
        raise SelectionError(
            f"{setting!r} is not a number", where=f"${KEEP_WORKERS}", hint=hint
        ) from None
    return max(0.0, seconds)
