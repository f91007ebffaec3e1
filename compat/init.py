"""A project's first files: ``matrix.toml``, kernel files, a noxfile, ``.gitignore``, a workflow.

There is a kernel file for each source, and ``.gitignore`` gets entries. In: a folder, and Python
sources in it by path, glob or folder, or the whole folder; CI systems. Out: an
:class:`InitResult`: the written files, the existing files that stay unchanged, and the guesses
that the author should check. Nothing is ever overwritten.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from attrs import define, field, frozen

from compat import toolchains
from compat.config.env_tables import release_example
from compat.config.kernel_files import kernels_of
from compat.config.matrix import MatrixConfig, load_matrix, no_matrix
from compat.config.toml import display_path, parse_toml
from compat.engine.plan import newest_first
from compat.envs.record import missing_envs
from compat.errors import CompatError, ConfigError, StoreError
from compat.files import replace_file
from compat.guess.finding import sources, split, where_else
from compat.guess.guessing import (
    HELPER,
    GuessedSource,
    find_parse_error,
    how_kernels_look,
    kernel_file_text,
    languages,
    read_sources,
)
from compat.model import Cell, Env
from compat.processes.supervisor import AVAILABLE_CORES
from compat.project import select
from compat.source.closure import SourceReader
from compat.toolchains.language import UnreachableKernel
from compat.workflows import Files, System, workflow_files

MATRIX = "matrix.toml"
_FOLDERS = ("kernels", "compat-kernels")
"""Candidates for the folder of kernel files: the first one without other files, else the last."""
_PLACES = tuple(f"{folder}/*.toml" for folder in _FOLDERS)
"""Patterns of kernel files there. ``matrix.toml`` may lack them."""
_MATRIX = """\
# The kernels, targets and releases of `compat matrix`. `compat list cells` shows the cells.
schema = 1

# Kernel files: paths or globs, relative to this file.
kernels = [{patterns}]
{envs}
{off}[defaults]
{off}envs = [{groups}]                    # names, groups or globs
# targets = [{targets}]
"""
_ENVS = """\

# The releases to compile on.
# env = [{examples}]
"""
_NOXFILE = "from compat.nox import matrix, sessions\n\nmatrix(sessions())\n"
_IGNORED = ("/.compat/", "/.nox/", "/reports/index.html", "/reports/matrix.*")
_HEAD = """\
# `compat init` guessed this from {source}. Check each line marked `guessed`. \
You may edit this file; no command overwrites it.
"""


@frozen(kw_only=True)
class Look:
    """A guess that the author should check."""

    path: Path
    """The kernel file."""
    kernel: str
    reason: str


@frozen(kw_only=True)
class FirstRun:
    """The estimated cost of a first ``compat matrix``."""

    options: tuple[str, ...] = ()
    cells: int
    envs: int
    targets: int
    to_install: int
    """The approximate size of the missing envs on disk, in bytes."""
    seconds: float
    """The approximate duration in seconds, without downloads."""


@frozen(kw_only=True)
class InitResult:
    """The result of :func:`initialize`."""

    written_files: Mapping[Path, tuple[str, ...]]
    """File → names of the kernels in it."""
    kept_files: Mapping[Path, str]
    """Existing file that stays unchanged → the consequence, as a sentence."""
    look_at: tuple[Look, ...]
    """Guesses that the author should check."""
    not_taken: Mapping[Path, tuple[UnreachableKernel, ...]]
    """Source → its jit functions that a kernel file cannot describe."""
    helpers: Mapping[Path, Mapping[str, str]]
    """Source → its jit functions that are not kernels → the reason."""
    unparsable: Mapping[Path, ConfigError]
    """Source that cannot be parsed, and is left out → the error."""
    cases: int
    """Number of cases in the kernel files that were written."""
    guesses: int
    """Number of guessed types and values in these kernel files."""
    unsure: Mapping[Path, str]
    """Other file that the author should check → the reason."""
    first_runs: tuple[FirstRun, ...]
    """The run of all cells, after a shorter run if that of all cells takes long.

    Empty: ``matrix.toml`` is invalid, or selects no cell.
    """


def initialize(
    folder: Path, named: Sequence[str] = (), systems: Sequence[System] = ()
) -> InitResult:
    """Write the first files of a project: ``matrix.toml``, kernel files and CI workflows.

    Existing files stay unchanged, except that ``.gitignore`` gets missing entries.

    Args:
        folder: The project's folder.
        named: Paths of Python sources, relative to ``folder``. Empty: search ``folder`` for sources
            with kernels.
        systems: CI systems to write a workflow for, at the top of the repository that contains
            ``folder``.

    Returns:
        The files that were written and those that were kept.

    Raises:
        ConfigError: There is no kernel, or a file cannot be read.
        StoreError: A file cannot be written.
    """
    return _Initializing(folder).run(named, systems)


@define
class _Initializing:
    folder: Path
    written_files: dict[Path, tuple[str, ...]] = field(factory=dict)
    kept_files: dict[Path, str] = field(factory=dict)
    look_at: list[Look] = field(factory=list)
    unsure: dict[Path, str] = field(factory=dict)

    def run(self, named: Sequence[str], systems: Sequence[System]) -> InitResult:
        """Generate all kernel files, then write everything.

        So an error is reported before anything is written.
        """
        declared = _ProjectFiles.of(self.folder)
        paths = _python_sources(named, self.folder)
        new = [path for path in paths if path not in declared.sources]
        unparsable = {path: error for path in new if (error := find_parse_error(path))}
        guessed = read_sources(
            [path for path in new if path not in unparsable],
            declared.kernels,
            callers=[*declared.sources, *sources(".", self.folder)],
        )
        if not any(source.kernels for source in guessed):
            written = [path for path in paths if path in declared.sources]
            if not written:
                for error in unparsable.values():
                    raise error
                _nothing(named, guessed, self.folder)
            self.kept_files |= {
                declared.sources[path]: f"it has the kernels of {display_path(path, self.folder)}"
                for path in written
            }
        for system in systems:  # It raises the errors of its files.
            workflow_files(system, self._config())
        place = _folder_for(self.folder, declared)
        texts = {path: (source, text) for source, path, text in self._kernel_files(guessed, place)}
        for path, (source, text) in texts.items():
            self._write(path, text, tuple(kernel.name for kernel in source.kernels))
        self._matrix(place, declared, guessed)
        self._once(
            self.folder / "noxfile.py",
            _NOXFILE,
            "`compat envs build` and `compat matrix` do not need it",
        )
        self._ignore()
        for system in systems:  # Now that matrix.toml says which envs there are.
            self._workflow(workflow_files(system, self._config()))
        kernels = [kernel for source in guessed for kernel in source.kernels]
        return InitResult(
            written_files=self.written_files,
            kept_files=self.kept_files,
            look_at=tuple(self.look_at),
            not_taken={source.path: source.unreachable for source in guessed if source.unreachable},
            helpers={
                source.path: dict.fromkeys(source.helpers, HELPER)
                for source in guessed
                if source.helpers
            },
            unparsable=unparsable,
            cases=sum(kernel.cases for kernel in kernels),
            guesses=sum(kernel.guesses for kernel in kernels),
            unsure=self.unsure,
            first_runs=_first_runs(self.folder / MATRIX),
        )

    def _kernel_files(
        self, guessed: Iterable[GuessedSource], place: Path
    ) -> Iterator[tuple[GuessedSource, Path, str]]:
        """Yield each source with the path and text of its kernel file.

        The text is read back first, which raises an error if it is invalid.
        """
        used: set[Path] = set()
        reader = SourceReader()
        for source in guessed:
            if source.kernels:
                path = _free(place, source.path, used)
                used.add(path)
                relative = os.path.relpath(source.path, place)
                head = _HEAD.format(source=display_path(source.path, self.folder))
                text = head + kernel_file_text(source.kernels, relative, toolchain=source.toolchain)
                table = parse_toml(text, display_path(path, self.folder))
                for kernel in kernels_of(table, path, reader=reader):
                    kernel.specializations()
                self.look_at += [
                    Look(path=path, kernel=kernel.name, reason=reason)
                    for kernel in source.kernels
                    for reason in kernel.look_at
                ]
                yield source, path, text

    def _matrix(
        self, place: Path, declared: _ProjectFiles, guessed: Iterable[GuessedSource]
    ) -> None:
        pattern = f"{place.relative_to(self.folder).as_posix()}/*.toml"
        path = self.folder / MATRIX
        if not path.exists():
            used = dict.fromkeys(source.toolchain for source in guessed if source.kernels)
            usual = dict.fromkeys(
                name
                for toolchain in used
                for name in toolchains.look_up(toolchain).device.default_targets
            )
            targets = ", ".join(f'"{name}"' for name in usual)
            unlisted = [
                release_example(name) for name in used if toolchains.look_up(name).releases is None
            ]
            envs = _ENVS.format(examples=", ".join(unlisted)) if unlisted else ""
            groups = [
                f"{name}-releases" if toolchains.look_up(name).only_named else "releases"
                for name in used
            ]
            fields = {
                "groups": ", ".join(f'"{group}"' for group in groups or ["releases"]),
                "off": "# " if groups == ["releases"] or unlisted else "",
            }
            self._write(
                path, _MATRIX.format(patterns=f'"{pattern}"', envs=envs, targets=targets, **fields)
            )
            if unlisted:
                self.unsure[path] = (
                    f"name the releases to compile on: env = [{', '.join(unlisted)}]"
                )
            return
        missing = [
            written
            for written in (*self.written_files, *self.kept_files)
            if written.suffix == ".toml" and not declared.covers(written)
        ]
        self.kept_files[path] = f'add "{pattern}" to its kernels' if missing else ""

    def _config(self) -> MatrixConfig:
        path = self.folder / MATRIX
        return load_matrix(path) if path.exists() else no_matrix(self.folder)

    def _workflow(self, files: Files) -> None:
        for path, text in files.texts.items():
            self._once(path, text, files.otherwise[path])
            if files.unsure and path in self.written_files and files.requirement in text:
                self.unsure[path] = files.unsure

    def _once(self, path: Path, text: str, otherwise: str) -> None:
        if path.exists():
            self.kept_files[path] = otherwise
        else:
            self._write(path, text)

    def _ignore(self) -> None:
        path = self.folder / ".gitignore"
        before = path.read_bytes() if path.exists() else b""
        end = b"\r\n" if b"\r\n" in before else b"\n"
        ignored = {line.strip().strip(b"/") for line in before.splitlines()}
        missing = [entry.encode() for entry in _IGNORED if entry.strip("/").encode() not in ignored]
        if missing:
            start = before if not before or before.endswith(b"\n") else before + end
            self._write(path, start + b"".join(entry + end for entry in missing))

    def _write(self, path: Path, content: str | bytes, kernels: tuple[str, ...] = ()) -> None:
        hint = (
            "Run the command in a writable folder with free space, and name the sources by their"
            " paths."
        )
        with StoreError.for_os_errors("cannot be written", where=path, hint=hint):
            replace_file(Path(os.path.realpath(path)), content, keep_mode=True)
        self.written_files[path] = kernels


_SECONDS_OF_CELL = 0.44
"""Seconds of one core for a cell: the median of 4,095 cells of library kernels."""
_SECONDS_OF_ENV = 5.0
"""Seconds to install a release that is already downloaded."""
_BYTES_OF_RELEASE = 0.69e9
"""Bytes of a release: the mean of the 13 releases from 3.0.0 to 3.9.0, which take 0.57 to 1.05 GB.
"""
_BYTES_OF_PYTORCH = 5.3e9
"""Bytes that PyTorch adds to an env: the mean of 2.4.1, 2.5.1 and 2.9.1, with CUDA."""
_LONG = 600.0
"""Seconds from which on a shorter run is proposed before the first run of all cells."""


def _first_runs(matrix: Path) -> tuple[FirstRun, ...]:
    try:
        chosen = select(matrix)
        missing = missing_envs(chosen.envs, chosen.config.env_cache())
    except CompatError:
        return ()
    if not chosen.cells:
        return ()
    full_run = _first_run(chosen.cells, missing)
    first = newest_first(chosen.cells)[0]
    part = [cell for cell in chosen.cells if (cell.env, cell.target) == (first.env, first.target)]
    if full_run.seconds < _LONG or len(part) == full_run.cells:
        return (full_run,)
    options = "--envs", first.env.name, "--target", first.target.name
    return _first_run(part, [env for env in missing if env == first.env], options), full_run


def _first_run(
    cells: Sequence[Cell], missing: Sequence[Env], options: tuple[str, ...] = ()
) -> FirstRun:
    return FirstRun(
        options=options,
        cells=len(cells),
        envs=len({cell.env for cell in cells}),
        targets=len({cell.target for cell in cells}),
        to_install=int(
            sum(
                _BYTES_OF_RELEASE + (_BYTES_OF_PYTORCH if env.has_framework else 0)
                for env in missing
            )
        ),
        seconds=(len(cells) * _SECONDS_OF_CELL + len(missing) * _SECONDS_OF_ENV) / AVAILABLE_CORES,
    )


@frozen(kw_only=True)
class _ProjectFiles:
    """The kernel files that a project already has."""

    folder: Path
    patterns: tuple[str, ...]
    """The ``kernels`` of its ``matrix.toml``."""
    sources: Mapping[Path, Path]
    """Source → the kernel file that names it."""
    kernels: frozenset[str]

    @classmethod
    def of(cls, folder: Path) -> _ProjectFiles:
        patterns = _patterns(folder / MATRIX)
        sources: dict[Path, Path] = {}
        names: set[str] = set()
        for path in _kernel_files(folder, (*patterns, *_PLACES)):
            tables = list(_tables(_content(path)))
            named = (str(table["source"]) for table in tables if "source" in table)
            sources |= {Path(os.path.realpath(path.parent / source)): path for source in named}
            names |= {str(table.get("name", table.get("kernel"))) for table in tables}
        return cls(folder=folder, patterns=patterns, sources=sources, kernels=frozenset(names))

    def covers(self, path: Path) -> bool:
        """Whether the patterns of ``matrix.toml`` match a kernel file."""
        return path in _kernel_files(self.folder, self.patterns)


def _tables(table: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """A kernel file's table, and those in it that may name a source."""
    yield table
    for inside in (table.get("kernel"), table.get("variant")):
        for inner in inside if isinstance(inside, list) else ():
            if isinstance(inner, dict):
                yield from _tables(inner)


def _patterns(matrix: Path) -> tuple[str, ...]:
    data = _content(matrix) if matrix.exists() else {}
    patterns = data.get("kernels", ["*.toml", *_PLACES])
    return (
        tuple(pattern for pattern in patterns if isinstance(pattern, str))
        if isinstance(patterns, list)
        else ()
    )


def _kernel_files(folder: Path, patterns: Sequence[str]) -> list[Path]:
    paths = (path for pattern in patterns for path in sources(pattern, folder))
    return sorted({path for path in paths if path.suffix == ".toml" and path.name != MATRIX})


def _content(path: Path) -> dict[str, object]:
    """The content of a TOML file; empty if it cannot be read, because other code reports that."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return {}


def _python_sources(named: Sequence[str], folder: Path) -> list[Path]:
    """The Python sources that the given paths, globs and folders match. Raises ConfigError."""
    paths: dict[Path, None] = {}
    for pattern in named or (".",):
        path, function = split(pattern)
        if function is not None:
            raise ConfigError(
                "a kernel file needs a whole source",
                where=pattern,
                hint=f"Name {path}, then remove the kernels that you do not want.",
            )
        matches = sources(path, folder)
        if not matches and not Path(folder, path).is_dir():
            raise ConfigError("no such file", where=path, hint=where_else(path, folder))
        paths |= {Path(os.path.realpath(match)): None for match in matches if match.suffix == ".py"}
        if any(match.suffix != ".py" for match in matches):
            hint = "Name Python sources, such as compat init src/mylib/softmax.py."
            raise ConfigError("is not a Python source", where=path, hint=hint)
    return list(paths)


def _nothing(named: Sequence[str], guessed: Sequence[GuessedSource], folder: Path) -> None:
    where = ", ".join(named) or str(folder)
    reasons = [text for source in guessed for text in source.left_out(folder)]
    reasons += [
        f"{display_path(source.path, folder)} {name}: {HELPER}"
        for source in guessed
        for name in source.helpers
    ]
    if reasons:
        raise ConfigError(
            f"no jit function here can be compiled by itself: {'; '.join(reasons[:5])}", where=where
        )
    hint = f"{how_kernels_look()}. Name their files or folder, such as compat init src/mylib."
    raise ConfigError(
        f"there is no {languages()} kernel in any Python source here", where=where, hint=hint
    )


def _folder_for(folder: Path, declared: _ProjectFiles) -> Path:
    """The folder for kernel files: one that already has some, else one without other files."""
    used = [path.parent for path in declared.sources.values() if path.parent != folder]
    if used:
        return used[0]
    free = (folder / name for name in _FOLDERS if not _holds_others(folder / name))
    return next(free, folder / _FOLDERS[-1])


def _holds_others(folder: Path) -> bool:
    return folder.exists() and (
        not folder.is_dir() or any(path.suffix != ".toml" for path in folder.iterdir())
    )


def _free(place: Path, source: Path, used_paths: Iterable[Path]) -> Path:
    """A kernel file for a source, under a free name.

    It is ``softmax.toml``, else ``ops_softmax.toml``, and so on.
    """
    parts = [source.stem]
    for name in (*(folder.name for folder in source.parents), "again"):
        path = place / f"{'_'.join(parts)}.toml"
        if path not in used_paths and not path.exists():
            break
        parts.insert(0, name)
    return path
