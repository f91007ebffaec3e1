"""Specializations of Python sources that nobody has written a kernel file for: guessed, and read by the reader of kernel files.

They are what the file would say that ``compat init`` writes, so that results are found again once it is written.
"""

from __future__ import annotations

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


def load_sources(patterns: Sequence[str], base: Path, taken: Collection[str] = ()) -> tuple[Specialization, ...]:
    """The guessed kernels of the sources that paths, globs and folders name, relative to ``base``; none without any.

    Names that are ``taken`` are not given to a kernel. Raises ConfigError where a source cannot be read, or has no kernel.
    """
    return tuple(_guessed(patterns, base, taken)) if patterns else ()


def _guessed(patterns: Sequence[str], base: Path, taken: Collection[str]) -> Iterator[Specialization]:
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
    guessed = read_sources(list(wanted), taken)
    if not any(each.kernels for each in guessed):
        _no_kernel(guessed, ", ".join(patterns))
    for source in guessed:
        functions = wanted[source.path]
        yield from _specializations(source, base, functions - {None} if None not in functions else None)


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


def _specializations(source: GuessedSource, base: Path, functions: Collection[str | None] | None) -> Iterator[Specialization]:
    known = {each.function: each for each in source.kernels}
    for name in functions or ():
        if name not in known:
            _no_such_kernel(source, str(name), base)
    for kernel in source.kernels:
        if functions is None or kernel.function in functions:
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
