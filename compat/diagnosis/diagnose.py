"""Where inside the compiler it went wrong: read from the raw facts of an attempt. Pure.

Sources, best first: the line that an answer names or the worker's beacon holds, the compiler's diagnostics, the IR that it prints
before every pass, both in the form that its toolchain's :class:`~compat.diagnosis.pipeline.OutputReader` knows, and the reproducer
that it left. What is found is never stored as evidence: it is read anew where the reader has changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path, PurePath

from attrs import evolve

from compat import text
from compat.diagnosis import pipeline
from compat.diagnosis.pipeline import OutputReader, Printed
from compat.model import SOURCE_STAGE, Diagnosis, Evidence
from compat.text import readable

WORDS_LIMIT = 1024 * 1024
"""Characters of what was printed, without IR, that are searched for where it failed; fewer are kept."""

Keep = Callable[[str, bytes], str]
"""Keeps an artifact, given a suffix and its bytes, and returns the name it can be found under."""


@lru_cache
def version(reader: OutputReader) -> str:
    """Which reader this is: what others have read is read again."""
    digest = hashlib.sha256()
    for path in (__file__, pipeline.__file__, text.__file__, *reader.sources):
        digest.update(Path(str(path)).read_bytes())
    return digest.hexdigest()[:16]


def diagnosed(evidence: Evidence, found: Printed, keep: Keep | None, reader: OutputReader) -> Evidence:
    """The evidence of a failed attempt with what can be read in it: ``stderr`` and ``diagnosis``.

    ``found`` is what ``reader`` reads in what the attempt printed, as far as it was kept; ``keep`` stores the IR before the failing
    pass.
    """
    words = readable(found.words, WORDS_LIMIT)
    failed = reader.failed_passes(words)
    inside = evidence.in_passes or bool(failed)
    steps = found.pipeline.steps
    keeps_ir = inside and keep and steps
    diagnosis = Diagnosis(
        # The dump's own name for the pass is the one its tools take; the one in the words is second best.
        pass_=(found.pipeline.last or next((name for _, name in failed if name), None)) if inside else None,
        op=reader.operation(words),
        location=_location(evidence, reader, words),
        line=_line(evidence, reader),
        reproducer=evidence.kept.get("reproducer") if inside else None,
        ir=keep(f".before.{reader.suffix}", steps[-1].ir.encode(errors="backslashreplace")) if keep and keeps_ir else None,
    )
    return evolve(evidence, stderr=readable(words), diagnosis=diagnosis)


def _location(evidence: Evidence, reader: OutputReader, words: str) -> str | None:
    """``file.py:12``: of a failure before the first pass the line in flight, else the one that a diagnostic points at.

    Where no line of a function was in flight, the line that begins it is the last resort.
    """
    place = _place(evidence, reader)
    if _line(evidence, reader) is None and (pointed_at := reader.kernel_line(words)):
        return pointed_at
    return PurePath(place).name if place else None


def _place(evidence: Evidence, reader: OutputReader) -> str | None:
    """The line of the kernel's file that a failure before the first pass is about, as ``path:number``.

    An answer knows it best: the beacon may already speak of the next cell when an answer is read.
    """
    if evidence.stage != SOURCE_STAGE and evidence.stage not in reader.front_end:
        return None
    return evidence.at if evidence.answered else evidence.in_flight if evidence.stage != SOURCE_STAGE else None


def _line(evidence: Evidence, reader: OutputReader) -> str | None:
    """That line as it was written. The one that begins the function is only a place, where an answer names it, and not quoted."""
    line = evidence.quoted.get(_place(evidence, reader) or "")
    begins = evidence.answered and line is not None and line.lstrip().startswith(("def ", "@"))
    return None if begins else line
