"""The kernels of Python sources: as kernel files describe them, else guessed, and read by the reader of kernel files.

What is guessed is what the file would say that ``compat init`` writes, so that results are found again once it is written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from attrs import evolve

from compat.config.kernel_files import kernels_of
from compat.config.toml_reader import did_you_mean, parse_toml, shown
from compat.errors import ConfigError
from compat.guess.finding import project_sources, sources, split, where_else
from compat.guess.guessing import GuessedSource, guess_sources, kernel_file_text
from compat.model import Specialization

HELPER = "kernels call it, or it returns a value"
"""Why a jit function is no kernel."""


def load_sources(
    patterns: Sequence[str], base: Path, taken: Collection[str] = (), declared: Sequence[Specialization] = ()
) -> tuple[Specialization, ...]:
    """The kernels of the sources that paths, globs and folders name, relative to ``base``; none without any.

    Functions that kernel files describe are as they are ``declared`` there; the arguments of the others are guessed, and they are
    not given names that are ``taken``. Raises ConfigError where a source cannot be read, or has no kernel.
    """
    return tuple(_kernels(patterns, base, taken, declared)) if patterns else ()


def _kernels(
    patterns: Sequence[str], base: Path, taken: Collection[str], declared: Sequence[Specialization]
) -> Iterator[Specialization]:
    wanted = _wanted(patterns, base)
    described = {path: [spec for spec in declared if spec.source == os.path.realpath(path)] for path in wanted}
    left: dict[Path, frozenset[str] | None] = {}
    """The functions to guess of a source, ``None`` for all of its kernels that no kernel file describes."""
    for path, functions in wanted.items():
        own = [spec for spec in described[path] if not functions or functions & _names_of(spec)]
        yield from own
        if not functions or (rest := functions - {name for spec in own for name in _names_of(spec)}):
            left[path] = rest if functions else None
    guessed = read_sources(list(left), {*taken, *(spec.kernel for spec in declared)})
    if left and not any(each.kernels for each in guessed) and not any(described.values()):
        _no_kernel(guessed, ", ".join(patterns))
    for source in guessed:
        known = frozenset(name for spec in described[source.path] for name in _names_of(spec))
        yield from _specializations(source, base, left[source.path], known)


def _wanted(patterns: Sequence[str], base: Path) -> dict[Path, frozenset[str]]:
    """The sources that are named, each with the functions that are; none where all of its kernels are meant."""
    wanted: dict[Path, set[str | None]] = {}
    for pattern in patterns:
        path, function = split(pattern)
        found = sources(path, base)
        if not found and Path(base, path).is_dir():
            raise ConfigError("there is no Python source here that speaks of Triton", where=path)
        if not found:
            raise ConfigError("no such file", where=path, hint=where_else(path, base))
        for each in found:
            wanted.setdefault(each, set()).add(function)
    return {path: frozenset() if None in names else frozenset(filter(None, names)) for path, names in wanted.items()}


def _names_of(spec: Specialization) -> frozenset[str]:
    """What the function of a kernel is called in its source: a kernel may be reached as ``Holder.kernel``, or ``make(64)``."""
    return frozenset((spec.function, *re.findall(r"^\w+", spec.function)))


def read_sources(paths: Sequence[Path], taken: Collection[str], callers: Iterable[Path] = ()) -> tuple[GuessedSource, ...]:
    """The kernels of sources, as they are guessed; what a jit function of ``callers``, or of their own projects, calls is none.

    Raises ConfigError where one cannot be read.
    """
    for path in paths:
        try:
            path.read_bytes()
        except OSError as error:
            raise ConfigError(f"cannot be read: {error.strerror or error}", where=shown(path)) from error
    try:
        return guess_sources(paths, taken, dict.fromkeys([*callers, *project_sources(paths)]))
    except SyntaxError as error:
        raise ConfigError(f"is not Python: {error.msg}", where=f"{error.filename}, line {error.lineno}") from error


def _specializations(
    source: GuessedSource, base: Path, functions: Collection[str] | None, described: Collection[str]
) -> Iterator[Specialization]:
    known = {each.function: each for each in source.kernels}
    for name in functions or ():
        if name not in known:
            _no_such_kernel(source, name, base)
    for kernel in source.kernels:
        if kernel.function in functions if functions is not None else kernel.function not in described:
            origin = f"{shown(source.path, base)}::{kernel.function}"
            top = parse_toml(kernel_file_text([kernel], source.path.name), origin)
            for read in kernels_of(top, source.path):
                yield from (evolve(spec, guessed=True) for spec in read.specializations())


def _no_such_kernel(source: GuessedSource, name: str, base: Path) -> NoReturn:
    where = f"{shown(source.path, base)}::{name}"
    why = next((f"{each.why} (line {each.line})" for each in source.not_taken if each.name == name), None)
    if name in source.helpers:
        why = HELPER
    if why:
        raise ConfigError(f"this jit function cannot be compiled by itself: {why}", where=where)
    known = [each.function for each in source.kernels]
    raise ConfigError(
        "there is no such jit function", where=where, hint=did_you_mean(name, known) or f"Available: {', '.join(known)}."
    )


def _no_kernel(guessed: Sequence[GuessedSource], where: str) -> NoReturn:
    """Nothing to compile: why, if there are jit functions at all."""
    reasons = [f"{each.name}: {each.why}" for source in guessed for each in source.not_taken]
    reasons += [f"{name}: {HELPER}" for source in guessed for name in source.helpers]
    hint = (
        f"Found, but not to be compiled by themselves: {'; '.join(reasons[:5])}."
        if reasons
        else "Kernels have @triton.jit above them."
    )
    raise ConfigError("defines no Triton kernel", where=where, hint=hint)
