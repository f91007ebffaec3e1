"""A candidate as a kernel file, so that every command takes what a reduction leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from compat.config.kernel_writer import kernel_text
from compat.model import Expectation, Problem, Specialization
from compat.reduce.candidate import Candidate

VARIANT = "reduced"
"""What the only variant in such a file is called."""


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
    """The TOML of a kernel file with one variant and one case. ``source`` is the Python file, which stands beside it."""
    spec = Specialization(
        kernel=kernel,
        variant=VARIANT,
        case=case,
        source=str(source),
        function=candidate.function,
        compile=candidate.compile,
        summary=summary,
        expectations=tuple(expectations),
        problem=problem,
    )
    return kernel_text([spec], source.parent)
