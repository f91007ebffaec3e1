"""The passes in a compiler's printed text, and the place where two compiles diverge.

On request, a compiler prints its IR before every pass, between its messages. Each compiler has its
own format, which its toolchain's :class:`OutputReader` parses. This module locates failures in the
parsed output (:func:`add_diagnosis`) and compares the passes of two compiles.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher, unified_diff
from functools import cached_property, lru_cache
from pathlib import Path, PurePath

from attrs import evolve, field, frozen

from compat import text
from compat.model import SOURCE_STAGE, Diagnosis, Evidence
from compat.text import readable


@frozen(kw_only=True)
class Step:
    """One pass that ran."""

    pass_: str
    ir: str
    """The IR before it, as printed."""


@frozen(kw_only=True, slots=False)
class Pipeline:
    """All passes of one compile, through all its stages."""

    steps: tuple[Step, ...]
    failed: str | None = None
    """The pass that the compiler reports as failed. A pass that ends the process is not reported,
    and is only the last step.
    """
    left_out: tuple[str, ...] = ()
    """Passes that did not run, because they cannot run alone. Empty unless passes ran one by one.
    """
    pass_key: Callable[[str], str] = field(default=str, eq=False)
    """The name of a pass → the part that is equal in all releases."""
    canonical: Callable[[str], str] = field(default=str, eq=False)
    """IR → a form that does not depend on names."""

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The names of the steps' passes, in the form that is equal in all releases."""
        return tuple(self.pass_key(step.pass_) for step in self.steps)

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The IR before each step, in canonical form."""
        # Many passes change nothing.
        forms = {ir: self.canonical(ir) for ir in {step.ir for step in self.steps}}
        return tuple(forms[step.ir] for step in self.steps)

    @property
    def last(self) -> str | None:
        """The pass that was in flight when a compile failed inside a pass."""
        return self.failed or (self.steps[-1].pass_ if self.steps else None)


@frozen(kw_only=True)
class CompilerOutput:
    """The output of one compile."""

    text: str
    """The text without IR."""
    pipeline: Pipeline


@frozen(kw_only=True)
class OutputReader:
    """The parser of a compiler's printed text.

    The default takes the whole text as words and finds no passes.
    """

    sources: tuple[Path, ...] = ()
    """The files of its code. If they change, the store reads printed text again."""
    heading: str = ""
    """The beginning of every line that precedes an IR."""
    suffix: str = "ir"
    """The suffix of files with IR, without the dot."""
    front_end: tuple[str, ...] = ()
    """The stages that read the kernel's own source."""
    hides_frames: bool = False
    """Whether tracebacks lack frames of the toolchain after the import of the kernel's file."""
    read: Callable[[str], CompilerOutput] = lambda text: CompilerOutput(
        text=text, pipeline=Pipeline(steps=())
    )
    """Printed text → the words, and the passes."""
    failed_passes: Callable[[str], Sequence[tuple[str, str]]] = lambda _: ()
    """Words → the places that report a failed pass, each with the pass's name. The name is empty if
    the place does not give one.
    """
    operation: Callable[[str], str | None] = lambda _: None
    """Words → the IR operation that they name."""
    kernel_line: Callable[[str], str | None] = lambda _: None
    """Words → the line of the kernel's file that a diagnostic points at, as ``file.py:12``."""
    pass_key: Callable[[str], str] = str
    """The name of a pass → the part that is equal in all releases."""
    pass_seconds: Callable[[str], tuple[Mapping[str, float], float | None]] = lambda _: ({}, None)
    """Printed text → the seconds of each pass, summed over its runs, and the wall time of all
    passes in seconds. ``None`` if the times are not wall time.
    """


@frozen(kw_only=True)
class Split:
    """The place from which on the IR of two pipelines stays different."""

    after: str | None
    """The first pass after which the IR differs and stays different; ``None`` if it differs before
    the first pass.
    """
    position: int
    """Number of passes of the first pipeline that ran up to this place."""
    only_in: int | None = None
    """0 or 1 if only the first or the second pipeline runs the pass; ``None`` if both do."""
    one: str = ""
    """The IR of the first pipeline after the pass, in canonical form."""
    other: str = ""
    """The IR of the second pipeline there, in canonical form."""
    earlier: str | None = None
    """An earlier pass after which the IR differed and then became equal again; ``""`` if the IR
    already differed before the first pass.
    """


def common(one: Pipeline, other: Pipeline) -> list[tuple[int, int]]:
    """Return the positions of passes that both pipelines ran, in order.

    Passes of only one of them are left out.
    """
    matcher = SequenceMatcher(None, one.keys, other.keys, autojunk=False)
    return [
        (block.a + n, block.b + n)
        for block in matcher.get_matching_blocks()
        for n in range(block.size)
    ]


def split(one: Pipeline, other: Pipeline) -> Split | None:
    """Return the place from which on the IR of two pipelines stays different, ignoring names.

    Returns ``None`` if the IR is the same before the last pass that both ran.
    """
    pairs = common(one, other)
    same = [one.states[i] == other.states[j] for i, j in pairs]
    if not pairs or not any(same):
        begins = [pipeline.states[0] if pipeline.states else "" for pipeline in (one, other)]
        if begins[0] == begins[1]:
            return None
        return Split(after=None, position=0, one=begins[0], other=begins[1])
    at = len(same) - 1 - same[::-1].index(True)
    end = pairs[at + 1] if at + 1 < len(pairs) else (len(one.steps), len(other.steps))
    divergence = _between(one, other, pairs[at], end)
    if divergence is None:
        return None
    wrong = same.index(False) if False in same[:at] else None
    earlier = None if wrong is None else one.steps[pairs[wrong - 1][0]].pass_ if wrong else ""
    after, position, only_in, texts = divergence
    return Split(
        after=after,
        position=position,
        only_in=only_in,
        one=texts[0],
        other=texts[1],
        earlier=earlier,
    )


def _between(
    one: Pipeline, other: Pipeline, start: tuple[int, int], end: tuple[int, int]
) -> tuple[str, int, int | None, tuple[str, str]] | None:
    """Return the first pass between ``start`` and ``end`` that makes two pipelines differ.

    The pipelines agree at ``start`` and differ at ``end``. The pass is the one that both run at
    ``start``, if their IR differs after it. Otherwise it is the first pass that only one of them
    runs and that changes the IR.

    Returns ``None`` if there is no such pass; else its name, the number of passes of ``one`` up to
    it, the pipeline that alone runs it (:attr:`Split.only_in`), and the IR of both after it.
    """
    (i, j), pipelines = start, (one, other)
    if i + 1 >= len(one.states) or j + 1 >= len(other.states):
        return None  # one pipeline has no IR after the pass: it failed, or was the last
    if one.states[i + 1] != other.states[j + 1]:
        return one.steps[i].pass_, i + 1, None, (one.states[i + 1], other.states[j + 1])
    for side in (0, 1):
        states = pipelines[side].states
        for k in range(start[side] + 1, min(end[side], len(states) - 1)):
            if states[k] != states[k + 1]:
                texts = (
                    (states[k + 1], other.states[j + 1])
                    if side == 0
                    else (one.states[i + 1], states[k + 1])
                )
                return pipelines[side].steps[k].pass_, (k + 1 if side == 0 else i + 1), side, texts
    return None


def difference(one: str, other: str, names: tuple[str, str]) -> str:
    """The unified diff of two texts, empty when they are equal."""
    return "".join(
        unified_diff(one.splitlines(keepends=True), other.splitlines(keepends=True), *names, n=2)
    )


# --- the place of a failure -----------------------------------------------------------------------

WORDS_LIMIT = 1024 * 1024
"""Characters of the printed text, without IR, that a reader searches for the place of the failure.
The evidence has fewer.
"""

Keep = Callable[[str, bytes], str]
"""Stores an artifact, given a suffix and its bytes, and returns the artifact's name."""


@lru_cache
def version(reader: OutputReader) -> str:
    """Return the version of a reader. The store reads again what another version has read."""
    digest = hashlib.sha256()
    for path in (__file__, text.__file__, *reader.sources):
        digest.update(Path(str(path)).read_bytes())
    return digest.hexdigest()[:16]


def add_diagnosis(
    evidence: Evidence, reading: CompilerOutput, keep: Keep | None, reader: OutputReader
) -> Evidence:
    """Return the evidence of a failed attempt with its ``stderr`` and ``diagnosis`` filled in.

    ``reading`` is the stored part of the attempt's printed text, as parsed by ``reader``. ``keep``
    stores the IR before the failing pass.
    """
    output = readable(reading.text, WORDS_LIMIT)
    failed = reader.failed_passes(output)
    inside = evidence.in_passes or bool(failed)
    steps = reading.pipeline.steps
    keeps_ir = inside and keep and steps
    diagnosis = Diagnosis(
        # Tools such as mlir-opt accept the name that the IR dump has for the pass. The name in the
        # words is second best.
        pass_=(
            (reading.pipeline.last or next((name for _, name in failed if name), None))
            if inside
            else None
        ),
        op=reader.operation(output),
        location=_location(evidence, reader, output),
        line=_line(evidence, reader),
        reproducer=evidence.artifacts.get("reproducer") if inside else None,
        ir=(
            keep(f".before.{reader.suffix}", steps[-1].ir.encode(errors="backslashreplace"))
            if keep and keeps_ir
            else None
        ),
    )
    return evolve(evidence, stderr=readable(output), diagnosis=diagnosis)


def _location(evidence: Evidence, reader: OutputReader, output: str) -> str | None:
    """Return the location of a failure, such as ``file.py:12``.

    Before the first pass it is the line in flight, else the line that a diagnostic points at. If
    the line in flight begins a function, the diagnostic's line comes first.
    """
    place = _place(evidence, reader)
    if _line(evidence, reader) is None and (pointed_at := reader.kernel_line(output)):
        return pointed_at
    return PurePath(place).name if place else None


def _place(evidence: Evidence, reader: OutputReader) -> str | None:
    """Return the kernel's line, as ``path:number``, that a failure before the first pass is about.

    An answer outranks the beacon, because the beacon may already be about the next cell when the
    driver reads the answer.
    """
    if evidence.stage != SOURCE_STAGE and evidence.stage not in reader.front_end:
        return None
    if evidence.answered:
        return evidence.at
    return evidence.in_flight if evidence.stage != SOURCE_STAGE else None


def _line(evidence: Evidence, reader: OutputReader) -> str | None:
    """Return the text of the line at :func:`_place`.

    Returns ``None`` if an answer names the line that begins a function. That line is only a place,
    and is not quoted.
    """
    line = evidence.quoted.get(_place(evidence, reader) or "")
    begins = evidence.answered and line is not None and line.lstrip().startswith(("def ", "@"))
    return None if begins else line
