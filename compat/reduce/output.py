"""The files of a reduction: the smallest kernel, its kernel file, its problem, MLIR's reproducers.

The files of a candidate are always complete on disk, however the program ends.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from attrs import evolve

from compat import toolchains
from compat.config.kernel_writer import kernel_text
from compat.errors import StoreError
from compat.files import replace_file
from compat.model import Expectation, Problem, Result, Specialization
from compat.reduce.candidate import Candidate
from compat.source.closure import helpers_of
from compat.store.store import Store


class BestSoFar:
    """The smallest candidate so far, on disk: ``<name>.py`` and the kernel file ``<name>.toml``.

    The kernel file is replaced in one step, and names a source that is complete by then. So the
    kernel file always exists and describes an accepted candidate, however the program ends.
    """

    def __init__(self, path: Path, text_of: Callable[[Candidate, Path], str]) -> None:
        """Prepare to write beside ``path``, the Python file.

        ``text_of(candidate, source)`` returns the text of the kernel file.
        """
        self.path, self.kernel_file = path, path.with_suffix(".toml")
        self.source = path
        """The current file with the text of the smallest kernel."""
        self._text_of = text_of
        self._partial = itertools.cycle(
            [path.with_name(f"{path.stem}.partial-{number}.py") for number in (1, 2)]
        )

    def keep(self, candidate: Candidate) -> None:
        """Write a candidate in place of the last one. Raises StoreError if it cannot be written."""
        self._write(candidate, next(self._partial))

    def finish(self, candidate: Candidate) -> None:
        """Write the last candidate under its final name, and delete partial files."""
        self._write(candidate, self.path)
        for _ in range(2):
            next(self._partial).unlink(missing_ok=True)

    def _write(self, candidate: Candidate, source: Path) -> None:
        with StoreError.for_os_errors("cannot save the candidate", where=self.path.parent):
            replace_file(source, candidate.text)
            replace_file(self.kernel_file, self._text_of(candidate, source))
            self.source = source


VARIANT = "reduced"
"""The name of the only variant in a reduced kernel file."""


def kernel_file(
    candidate: Candidate,
    *,
    kernel: str,
    case: str,
    source: Path,
    summary: str,
    expectations: Sequence[Expectation],
    problem: Problem | None = None,
) -> str:
    """Return the TOML of a kernel file with one variant and one case.

    ``source`` is the Python file beside the kernel file.
    """
    spec = Specialization(
        kernel=kernel,
        variant=VARIANT,
        case=case,
        source=str(source),
        function=candidate.function,
        compile=candidate.compile,
        toolchain=candidate.toolchain,
        summary=summary,
        expectations=tuple(expectations),
        problem=problem,
    )
    return kernel_text([spec], source.parent)


_NAME = "without_references"
_TEXT = '''"""The inputs of the original kernel, without references, \
because the reduced kernel computes something else."""

from {module} import {function} as original


def {function}(parameters, dtype, seed, device, large):
    for problem in original(parameters, dtype, seed, device, large):
        compared = problem["outputs"] or problem.get("compared")
        yield dict(problem, outputs=None, baseline=None, compared=compared)
'''


def write_problem(problem: Problem, kernel: Path) -> Problem:
    """Write a problem, with the modules that it imports, into a folder beside ``kernel``.

    ``kernel`` is a Python file. The parameters stay those of the original, even if its constexprs
    change. Raises StoreError.
    """
    folder, source = kernel.with_name(f"{kernel.stem}-problem"), Path(problem.source)
    copies = {
        file: folder / file.relative_to(source.parent)
        for file in helpers_of(source)
        if file.is_relative_to(source.parent)
    }
    # A statement can import the module by this name only.
    module = source.stem if source.stem.isidentifier() else re.sub(r"\W", "_", f"of_{source.stem}")
    copies[source] = folder / f"{module}.py"
    path = folder / f"{_NAME}.py"
    while path in copies.values():  # the problem of a reduced kernel
        path = path.with_stem(f"{path.stem}_again")
    with StoreError.for_os_errors("cannot save the problem", where=folder):
        for file, copy in copies.items():
            replace_file(copy, file.read_bytes())
        replace_file(path, _TEXT.format(module=module, function=problem.function))
    return evolve(problem, source=str(path.resolve()), closure="")


def write_reproducers(results: Iterable[Result], store: Store, path: Path) -> tuple[Path, ...]:
    """Write ``NAME.ENV.mlir`` beside ``path``, the kernel's file.

    Each result with a failing pass and a stored reproducer gets a file. Raises StoreError if one
    cannot be written.
    """
    written: list[Path] = []
    for result in results:
        if (text := _one_pass(result, store)) is not None:
            env = result.cell.env
            beside = path.with_suffix(f".{env.name}.{toolchains.of(env).reader.suffix}")
            with StoreError.for_os_errors("cannot write the reproducer", where=beside):
                replace_file(beside, text)
            written.append(beside)
    return tuple(written)


def _one_pass(result: Result, store: Store) -> str | None:
    failure = result.outcome.failure
    if failure is None or not (failure.pass_ and failure.reproducer and failure.ir):
        return None
    pipeline, ir = (store.artifact(name) for name in (failure.reproducer, failure.ir))
    if pipeline is None or ir is None:  # deleted since, or lost with a worker
        return None
    cut = toolchains.of(result.cell.env).ir.cut_reproducer
    return cut(pipeline.decode(errors="replace"), ir.decode(errors="replace"), failure.pass_)
