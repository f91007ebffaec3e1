"""Where inside the compiler it went wrong: read from the raw facts of an attempt. Pure.

Sources, best first: the line that an answer names or the worker's beacon holds, MLIR's diagnostics, the headings that
``MLIR_ENABLE_DUMP`` prints before every pass (:mod:`compat.diagnosis.dumps`), and the reproducer that ``TRITON_REPRODUCER_PATH``
makes MLIR write before it runs a pipeline. What is found is never stored as evidence: it is read anew where the reader has changed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path, PurePath

from attrs import evolve

from compat.diagnosis import bounds, dumps
from compat.diagnosis.dumps import Pipeline
from compat.model import SOURCE_STAGE, Diagnosis, Evidence
from compat.text import lazy_pattern

WORDS_LIMIT = 1024 * 1024
"""Characters of what was printed, without IR, that are searched for where it failed; fewer are kept."""
_PIPELINE_FAILED = lazy_pattern(r"Pipeline failed while executing (?P<passes>.*)")
_OP = lazy_pattern(
    r"error: '(?P<plain>\w+\.[\w.]+)' op"
    r"|operation '(?P<quoted>\w+\.[\w.]+)'"
    r"|see current operation:[^\"\n]*\"(?P<generic>\w+\.[\w.]+)\""
)
_ERROR_AT = lazy_pattern(r"^(?:loc\()?\"?(?P<path>[^\s\":]+\.py)\"?:(?P<line>\d+):\d+\)?: error:", re.MULTILINE)
_FRONT_END = (SOURCE_STAGE, "ast")

Keep = Callable[[str, bytes], str]
"""Keeps an artifact, given a suffix and its bytes, and returns the name it can be found under."""


@lru_cache
def version() -> str:
    """Which reader this is: what another one has read is read again."""
    digest = hashlib.sha256()
    for module in (__file__, dumps.__file__, bounds.__file__):
        digest.update(Path(str(module)).read_bytes())
    return digest.hexdigest()[:16]


def diagnosed(evidence: Evidence, printed: str, keep: Keep | None) -> Evidence:
    """The evidence of a failed attempt with what can be read in it: ``stderr`` and ``diagnosis``.

    ``printed`` is what the attempt printed, as far as it was kept; ``keep`` stores the IR before the failing pass.
    """
    found = dumps.read(printed)
    words = bounds.readable(found.words, WORDS_LIMIT)
    failed = _PIPELINE_FAILED.search(words)
    inside = evidence.in_passes or failed is not None
    op = _OP.search(words)
    steps = found.pipeline.steps
    diagnosis = Diagnosis(
        pass_=_failing_pass(found.pipeline, failed) if inside else None,
        op=next((name for name in op.groups() if name), None) if op else None,
        location=_location(evidence, words),
        line=_line(evidence),
        reproducer=evidence.kept.get("reproducer") if inside else None,
        ir=keep(".before.mlir", steps[-1].ir.encode(errors="backslashreplace")) if inside and keep and steps else None,
    )
    return evolve(evidence, stderr=bounds.readable(words), diagnosis=diagnosis)


def _failing_pass(pipeline: Pipeline, failed: re.Match[str] | None) -> str | None:
    """The dump's own name for the pass is the one ``mlir-opt`` takes; the class name in MLIR's note is second best."""
    return pipeline.last or (dumps.innermost(failed["passes"]) if failed else None)


def _location(evidence: Evidence, words: str) -> str | None:
    """``file.py:12``: of a failure before the first pass the line in flight, else the one that a diagnostic points at.

    Where no line of a function was in flight, the line that begins it is the last resort.
    """
    if _line(evidence) is None and (error := _ERROR_AT.search(words)):
        return f"{PurePath(error['path']).name}:{error['line']}"
    return _short(_place(evidence))


def _place(evidence: Evidence) -> str | None:
    """The line of the kernel's file that a failure before the first pass is about, as ``path:number``.

    An answer knows it best: the beacon may already speak of the next cell when an answer is read.
    """
    if evidence.stage not in _FRONT_END:
        return None
    return evidence.at if evidence.answered else evidence.in_flight if evidence.stage == "ast" else None


def _line(evidence: Evidence) -> str | None:
    """That line as it was written. The one that begins the function is only a place, where an answer names it, and not quoted."""
    line = evidence.quoted.get(_place(evidence) or "")
    begins = evidence.answered and line is not None and line.lstrip().startswith(("def ", "@"))
    return None if begins else line


def _short(place: str | None) -> str | None:
    """``/long/path/file.py:12`` as ``file.py:12``."""
    return PurePath(place).name if place else None
