"""The needs of kernels from a toolchain, and the results of compiling them.

The needs are read from sources, and the results from the store.

In: a selection, and a Python source, a function of one, or a kernel of the project. Out: a
:class:`compat.api.needs.KernelNeeds` for each function, with the needs that each release meets
and the result of the function there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

from attrs import evolve, frozen

from compat import toolchains
from compat.api.needs import KernelNeeds, needs_of
from compat.api.records import Inspection
from compat.api.uses import NoFunction, read_uses
from compat.config.selection import join_names, nothing_matches
from compat.config.toml import did_you_mean, display_path
from compat.engine.run import RunContext, run, stored_results
from compat.errors import CompatError, ConfigError
from compat.guess.finding import sources, split, where_else
from compat.model import Cell, Result, Specialization
from compat.project import Listener, Selection
from compat.source.parsing import tree_of

T = TypeVar("T")


@frozen(kw_only=True)
class NamedSource:
    """The kernels that a word names, and the selection that compiles them."""

    selection: Selection
    """The selection of these kernels."""
    files: tuple[tuple[Path, str | None], ...]
    """Each file and function. If a file has no known kernel, the whole file."""
    obstacle: str = ""
    """The reason why there are no arguments for a compile."""


def find_source(selection: Selection, word: str) -> NamedSource:
    """Find the functions that a word names.

    A kernel's arguments come from the project's kernel files if they describe it, otherwise they
    are guessed.

    Args:
        selection: The project.
        word: ``a.py``, ``a.py::function``, a kernel file, or a kernel's name or glob.

    Raises:
        ConfigError: A file is invalid.
        SelectionError: Nothing has this name.
    """
    path, function = split(word)
    if not path.endswith(".py"):
        return _of_kernels(selection.with_patterns(**_patterns_of_word(selection, word)))
    paths = sources(path, Path.cwd())
    if not paths:
        raise ConfigError("there is no such file", where=path, hint=where_else(path, Path.cwd()))
    named = [(source_path, function) for source_path in paths]
    try:
        return _of_kernels(
            selection.with_patterns(kernel_files=(word,), kernels=(), variants=(), cases=()), named
        )
    except CompatError as error:
        return NamedSource(
            selection=evolve(selection, specs=()), files=tuple(named), obstacle=str(error)
        )


def _patterns_of_word(selection: Selection, word: str) -> dict[str, Sequence[str]]:
    if word.endswith(".toml"):
        return {"kernel_files": (word,)}
    names = dict.fromkeys(spec.kernel for spec in _select_own_kernels(selection).specs)
    if not any(fnmatchcase(name, word) for name in names):
        raise nothing_matches(
            "source or kernel",
            word,
            names,
            " Name a Python source by its path, such as a.py or a.py::function.",
        )
    return {"kernels": (word,)}


def _select_own_kernels(selection: Selection) -> Selection:
    """The project's own kernels; none if it declares none."""
    try:
        return selection.with_patterns(kernels=(), variants=(), cases=())
    except ConfigError:
        return evolve(selection, specs=())


def _of_kernels(selection: Selection, files: Sequence[tuple[Path, str | None]] = ()) -> NamedSource:
    """The functions of a selection's kernels, and the ``files`` that contain none of them."""
    functions = [(Path(spec.source), spec.function) for spec in selection.specs]
    reached = {os.path.realpath(path) for path, _ in functions}
    others = [file for file in files if os.path.realpath(file[0]) not in reached]
    return NamedSource(selection=selection, files=tuple(dict.fromkeys((*functions, *others))))


def read_source(
    source: NamedSource,
    inspection: Inspection,
    context: RunContext,
    *,
    compiling: bool = False,
    listener: Listener | None = None,
) -> tuple[KernelNeeds, ...]:
    """Return the names that each function needs, with the results of compiling it.

    Args:
        source: The functions.
        inspection: The names of each release. Only its environments are compiled in.
        context: How to compile.
        compiling: Compile every cell. False: use only results of earlier runs.
        listener: Receives progress.

    Raises:
        ConfigError: The source cannot be read, or lacks the function.
        compat.engine.run.Interrupted: And the other errors of :func:`compat.engine.run.run`.
    """
    cells = _cells(source, inspection)
    results = _results(cells, inspection, context, listener or Listener(), compiling=compiling)
    return tuple(
        _kernel(path, function, source, inspection, cells, results)
        for path, function in source.files
    )


def _kernel(
    path: Path,
    function: str | None,
    source: NamedSource,
    inspection: Inspection,
    cells: Sequence[Cell],
    results: Sequence[Result],
) -> KernelNeeds:
    names = toolchains.look_up(inspection.toolchain).language.api
    assert names is not None
    name = display_path(path)
    # A kernel may be reached as Holder.kernel, or make(64).
    begins = re.match(r"\w+", function) if function else None
    try:
        uses = read_uses(
            tree_of(path.read_bytes(), name),
            inspection.toolchain,
            names,
            begins[0] if begins else function,
        )
    except (OSError, SyntaxError) as error:
        raise ConfigError(f"cannot be read: {error}", where=name) from error
    except NoFunction as error:
        hint = (
            did_you_mean(function or "", error.names)
            or f"It defines {join_names(error.names) or 'no function'}."
        )
        raise ConfigError(
            f"does not define a function {function!r}", where=name, hint=hint
        ) from error
    labels = {
        place.built.env.name: place.label for place in inspection.inspected_releases if place.built
    }
    return KernelNeeds(
        source=name,
        function=function,
        needs=needs_of(uses, inspection),
        specs=tuple(spec for spec in source.selection.specs if _is_of(spec, path, function)),
        cells=_by_label(
            ((cell, cell) for cell in cells if _is_of(cell.spec, path, function)), labels
        ),
        results=_by_label(
            (
                (result.cell, result)
                for result in results
                if _is_of(result.cell.spec, path, function)
            ),
            labels,
        ),
    )


def _by_label(
    facts: Iterable[tuple[Cell, T]], labels: Mapping[str, str]
) -> dict[str, tuple[T, ...]]:
    """Facts about cells, by the labels of their envs."""
    grouped: dict[str, tuple[T, ...]] = {}
    for cell, item in facts:
        label = labels[cell.env.name]
        grouped[label] = (*grouped.get(label, ()), item)
    return grouped


def _is_of(spec: Specialization, path: Path, function: str | None) -> bool:
    return os.path.realpath(spec.source) == os.path.realpath(path) and function in (
        None,
        spec.function,
    )


def _cells(source: NamedSource, inspection: Inspection) -> list[Cell]:
    return [
        cell
        for place in inspection.inspected_releases
        if place.built
        for spec, target in source.selection.kernels
        for cell in toolchains.cells(place.built.env, spec, (target,))
    ]


def _results(
    cells: Sequence[Cell],
    inspection: Inspection,
    context: RunContext,
    listener: Listener,
    *,
    compiling: bool,
) -> Sequence[Result]:
    context = context.with_envs(
        [place.built for place in inspection.inspected_releases if place.built]
    )
    if not compiling:
        return stored_results(cells, context)
    with listener.compiling(len(cells)) as note:
        return run(cells, context, note)
