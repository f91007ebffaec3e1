"""What a compile prints about its passes, and where the passes of two compiles diverge.

On request, a compiler prints its IR before every pass, between its messages. Each has its own
format, which its toolchain's :class:`OutputReader` knows. This module locates failures in the
parsed output (:func:`diagnosed`) and compares the passes of two compiles.
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
    """Its name."""
    ir: str
    """The IR before it, as printed."""


@frozen(kw_only=True, slots=False)
class Pipeline:
    """All passes of one compile, through all its stages."""

    steps: tuple[Step, ...]
    failed: str | None = None
    """The pass that the compiler itself says failed; one that took the process with it is only the
    last step.
    """
    left_out: tuple[str, ...] = ()
    """Passes that did not run since they cannot be run by themselves, where passes were run one by
    one.
    """
    pass_key: Callable[[str], str] = field(default=str, eq=False)
    """The name of a pass → the part that is equal in all releases."""
    canonical: Callable[[str], str] = field(default=str, eq=False)
    """IR → a form without the effect of names."""

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The steps by names that releases do not change."""
        return tuple(self.pass_key(step.pass_) for step in self.steps)

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The IR before each step, in canonical form."""
        return tuple(self.canonical(step.ir) for step in self.steps)

    @property
    def last(self) -> str | None:
        """The pass that was in flight when a compile failed inside a pass."""
        return self.failed or (self.steps[-1].pass_ if self.steps else None)


@frozen(kw_only=True)
class Printed:
    """The output of one compile."""

    words: str
    """The text without IR."""
    pipeline: Pipeline


def _text_only(text: str) -> Printed:
    return Printed(words=text, pipeline=Pipeline(steps=()))


def _no_pass(_text: str) -> Sequence[tuple[str, str]]:
    return ()


def _nothing(_text: str) -> str | None:
    return None


def _no_seconds(_text: str) -> tuple[Mapping[str, float], float | None]:
    return {}, None


@frozen(kw_only=True)
class OutputReader:
    """The way in which a compiler's output is taken apart.

    By default the whole output is words.
    """

    sources: tuple[Path, ...] = ()
    """The files of its code. If they change, stored readings are made again."""
    heading: str = ""
    """The beginning of every line that is the heading of an IR."""
    suffix: str = "ir"
    """The suffix of files with IR, without the dot."""
    front_end: tuple[str, ...] = ()
    """The stages that read the kernel's own source."""
    read: Callable[[str], Printed] = _text_only
    """Printed text → the words, and the passes."""
    failed_passes: Callable[[str], Sequence[tuple[str, str]]] = _no_pass
    """Words → the places that report a failed pass, each with the pass's name, or nothing without a
    name.
    """
    operation: Callable[[str], str | None] = _nothing
    """Words → the operation of the IR that they speak of."""
    kernel_line: Callable[[str], str | None] = _nothing
    """Words → the line of the kernel's file that a diagnostic points at, as ``file.py:12``."""
    pass_key: Callable[[str], str] = str
    """The name of a pass → the part that is equal in all releases."""
    pass_seconds: Callable[[str], tuple[Mapping[str, float], float | None]] = _no_seconds
    """Printed text → the seconds of each pass, all its runs together. For wall time also the
    seconds of all passes.
    """


@frozen(kw_only=True)
class Split:
    """The place where two pipelines part for good."""

    after: str | None
    """The first pass after which their IR differs and stays different; ``None`` if it does before
    the first pass.
    """
    position: int
    """How many passes of the first pipeline ran up to there."""
    only_in: int | None = None
    """0 or 1 where only the first or the second of the two runs that pass, ``None`` where both
    do.
    """
    one: str = ""
    """The first one's IR after it, in canonical form."""
    other: str = ""
    earlier: str | None = None
    """A pass after which their IR differed before that, and became equal again; ``""`` if it
    already came so from the front end.
    """


def common(one: Pipeline, other: Pipeline) -> list[tuple[int, int]]:
    """The positions of passes that both ran, in order.

    Passes that one of them lacks are left out.
    """
    matcher = SequenceMatcher(None, one.keys, other.keys, autojunk=False)
    return [
        (block.a + n, block.b + n)
        for block in matcher.get_matching_blocks()
        for n in range(block.size)
    ]


def split(one: Pipeline, other: Pipeline) -> Split | None:
    """The place where the IR of two pipelines parts for good, ignoring names.

    It is ``None`` if the IR is the same before the last pass that both ran.
    """
    pairs = common(one, other)
    same = [one.states[i] == other.states[j] for i, j in pairs]
    if not pairs or not any(same):
        begins = [pipeline.states[0] if pipeline.states else "" for pipeline in (one, other)]
        return (
            None
            if begins[0] == begins[1]
            else Split(after=None, position=0, one=begins[0], other=begins[1])
        )
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
    """The first pass that parts two pipelines, which agree at ``start`` and no more at ``end``.

    It is the pass that both run at ``start``. If that leaves them the same, it is the first that
    only one of them runs and that changes something.
    """
    (i, j), pipelines = start, (one, other)
    if i + 1 >= len(one.states) or j + 1 >= len(other.states):
        return None  # there is no IR after it in one of them: it failed, or it was the last
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


# --- where it failed ------------------------------------------------------------------------------

WORDS_LIMIT = 1024 * 1024
"""Characters of the printed text, without IR, that a reader searches for the place of the failure.
The evidence has fewer.
"""

Keep = Callable[[str, bytes], str]
"""Keeps an artifact, given a suffix and its bytes, and returns the name it can be found under."""


@lru_cache
def version(reader: OutputReader) -> str:
    """The version of a reader; results of others are read again."""
    digest = hashlib.sha256()
    for path in (__file__, text.__file__, *reader.sources):
        digest.update(Path(str(path)).read_bytes())
    return digest.hexdigest()[:16]


def diagnosed(
    evidence: Evidence, reading: Printed, keep: Keep | None, reader: OutputReader
) -> Evidence:
    """The evidence of a failed attempt with what can be read in it: ``stderr`` and ``diagnosis``.

    ``reading`` is what ``reader`` reads in what the attempt printed, as far as it was kept;
    ``keep`` stores the IR before the failing pass.
    """
    output = readable(reading.words, WORDS_LIMIT)
    failed = reader.failed_passes(output)
    inside = evidence.in_passes or bool(failed)
    steps = reading.pipeline.steps
    keeps_ir = inside and keep and steps
    diagnosis = Diagnosis(
        # The dump's own name for the pass is the one its tools take; the one in the words is second
        # best.
        pass_=(
            (reading.pipeline.last or next((name for _, name in failed if name), None))
            if inside
            else None
        ),
        op=reader.operation(output),
        location=_location(evidence, reader, output),
        line=_line(evidence, reader),
        reproducer=evidence.kept.get("reproducer") if inside else None,
        ir=(
            keep(f".before.{reader.suffix}", steps[-1].ir.encode(errors="backslashreplace"))
            if keep and keeps_ir
            else None
        ),
    )
    return evolve(evidence, stderr=readable(output), diagnosis=diagnosis)


def _location(evidence: Evidence, reader: OutputReader, output: str) -> str | None:
    """The location of a failure, such as ``file.py:12``.

    Before the first pass it is the line in flight, else the one that a diagnostic points at. If no
    line of a function was in flight, it is the line that begins the function.
    """
    place = _place(evidence, reader)
    if _line(evidence, reader) is None and (pointed_at := reader.kernel_line(output)):
        return pointed_at
    return PurePath(place).name if place else None


def _place(evidence: Evidence, reader: OutputReader) -> str | None:
    """The line of the kernel's file that a failure before the first pass is about: ``path:number``.

    An answer knows it best, because the beacon may already be about the next cell when an answer is
    read.
    """
    if evidence.stage != SOURCE_STAGE and evidence.stage not in reader.front_end:
        return None
    return (
        evidence.at
        if evidence.answered
        else evidence.in_flight
        if evidence.stage != SOURCE_STAGE
        else None
    )


def _line(evidence: Evidence, reader: OutputReader) -> str | None:
    """The text of that line.

    The line that begins the function, if an answer names it, is only a place. It is not quoted.
    """
    line = evidence.quoted.get(_place(evidence, reader) or "")
    begins = evidence.answered and line is not None and line.lstrip().startswith(("def ", "@"))
    return None if begins else line
