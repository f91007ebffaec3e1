"""The problem of a kernel that was reduced by its numbers: the original's arguments, and no references.

What is left computes something else than the original, so that nobody knows what is right; its launches can be held to each other.
"""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from compat.bundle.closure import helpers_of
from compat.errors import StoreError
from compat.files import replace_file
from compat.model import Problem

_NAME = "without_references"
_TEXT = '''"""The arguments of the kernel that this was reduced from, without references: what is left computes something else."""

from {module} import {function} as original


def {function}(parameters, dtype, seed, device, large):
    for problem in original(parameters, dtype, seed, device, large):
        yield dict(problem, outputs=None, baseline=None)
'''


def write_problem(problem: Problem, kernel: Path) -> Problem:
    """Write it, with the modules that it takes, into a folder beside ``kernel``, a Python file. Raises StoreError.

    The parameters are those of the original, whatever becomes of its constexprs.
    """
    folder, source = kernel.with_name(f"{kernel.stem}-problem"), Path(problem.source)
    path = folder / f"{_NAME}.py"
    try:
        for each in (source, *(each for each in helpers_of(source) if each.is_relative_to(source.parent))):
            copy = folder / each.relative_to(source.parent)
            copy.parent.mkdir(parents=True, exist_ok=True)
            replace_file(copy, each.read_text(encoding="utf-8"))
        replace_file(path, _TEXT.format(module=source.stem, function=problem.function))
    except (OSError, UnicodeError) as error:
        raise StoreError(f"the problem could not be kept: {error}", where=str(folder)) from error
    return evolve(problem, source=str(path.resolve()), closure="")
