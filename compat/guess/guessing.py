"""The kernels of Python sources, and the kernel file that says of them what was guessed."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from compat.config.toml_reader import SCHEMA
from compat.config.toml_writer import toml_text
from compat.guess.jitted import Module, NotTaken, read_module
from compat.guess.kernels import GuessedKernel, guess_kernel


@frozen(kw_only=True)
class GuessedSource:
    """The kernels of one source, as they were guessed."""

    path: Path
    kernels: tuple[GuessedKernel, ...]
    helpers: tuple[str, ...]
    """Jit functions that are no kernels: they return something, or other jit functions call them."""
    not_taken: tuple[NotTaken, ...]


def guess_sources(paths: Sequence[Path], taken: Collection[str] = (), others: Iterable[Path] = ()) -> tuple[GuessedSource, ...]:
    """Guess the kernels of some sources, those without any jit function left out.

    A kernel is called as its function is; where that name is ``taken``, or another source has it, the source's name comes before
    it. What a jit function of ``others`` calls is no kernel either. Raises OSError, and SyntaxError where a source cannot be
    parsed.
    """
    modules = [module for path in paths if (module := read_module(path)).functions or module.not_taken]
    callers = _that_name(others, {os.path.realpath(path) for path in paths}, {name for each in modules for name in each.functions})
    every = (*modules, *callers)
    helpers = frozenset(name for module in every for name in module.called) - {name for each in every for name in each.launched}
    found: list[GuessedSource] = []
    names = set(taken)
    for module in modules:
        guessed = _guessed(module, helpers)
        kernels = tuple(evolve(each, name=_free_name(each.name, module.path, names)) for each in guessed.kernels)
        names |= {each.name for each in kernels}
        found.append(evolve(guessed, kernels=kernels))
    return tuple(found)


def _that_name(paths: Iterable[Path], read: Collection[str], functions: Collection[str]) -> Iterator[Module]:
    """The modules that name one of these functions, but those that were ``read`` already, and those that cannot be."""
    if not functions:
        return
    pattern = re.compile(rb"\b(%s)\b" % b"|".join(re.escape(name.encode()) for name in functions))
    for path in paths:
        with suppress(OSError, SyntaxError, RecursionError):
            if os.path.realpath(path) not in read and pattern.search(path.read_bytes()):
                yield read_module(path)


def _guessed(module: Module, called: Collection[str]) -> GuessedSource:
    functions = module.kernels(called)
    kernels = tuple(guess_kernel(function, module) for function in functions)
    helpers = tuple(name for name in module.functions if name not in {each.name for each in functions})
    return GuessedSource(path=module.path, kernels=kernels, helpers=helpers, not_taken=module.not_taken)


def _free_name(name: str, path: Path, taken: Collection[str]) -> str:
    """A name that no other kernel has."""
    parts = [path.stem, *(each.name for each in path.parents)]
    candidate = name
    for part in parts:
        if candidate not in taken:
            break
        candidate = f"{part}.{candidate}"
    return candidate


def kernel_file_text(kernels: Sequence[GuessedKernel], source: str, *, package: str = "") -> str:
    """The kernel file of these kernels of one source, which it names as ``source``, relative to its folder.

    Where there is a ``package``, a library with its version, that is the name of a module of it.
    """
    place = {"package": package, "module": source} if package else {"source": source}
    documents = [{**_named(each), **each.tables} for each in kernels]
    if len(documents) == 1:
        (only,) = documents
        document: dict[str, Any] = {"schema": SCHEMA, "kernel": only.pop("name"), **place, **only}
    else:
        document = {"schema": SCHEMA, **place, "kernel": documents}
    return toml_text(document)


def _named(kernel: GuessedKernel) -> dict[str, Any]:
    function = {} if kernel.function == kernel.name else {"function": kernel.function}
    return {"name": kernel.name, **function}
