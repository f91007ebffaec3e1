"""Where the IR of two compiles parts: the passes of both, compared. Pure."""

from __future__ import annotations

from difflib import SequenceMatcher

from attrs import frozen

from compat.diagnosis.dumps import Pipeline


@frozen(kw_only=True)
class Split:
    """Where two pipelines part for good."""

    after: str | None
    """The first pass after which their IR differs and stays different; ``None`` if it does before the first pass."""
    position: int
    """How many passes of the first pipeline ran up to there."""
    only_in: int | None = None
    """0 or 1 where only the first or the second of the two runs that pass, ``None`` where both do."""
    one: str = ""
    """The first one's IR after it, in canonical form."""
    other: str = ""
    earlier: str | None = None
    """A pass after which their IR differed before that, and became equal again; ``""`` if it already came so from the front end."""


def common(one: Pipeline, other: Pipeline) -> list[tuple[int, int]]:
    """The positions of passes that both ran, in order; passes that one of them lacks are left out."""
    matcher = SequenceMatcher(None, one.keys, other.keys, autojunk=False)
    return [(block.a + n, block.b + n) for block in matcher.get_matching_blocks() for n in range(block.size)]


def split(one: Pipeline, other: Pipeline) -> Split | None:
    """Where the IR of two pipelines parts for good, ignoring names; ``None`` if it is the same before the last pass both ran."""
    pairs = common(one, other)
    same = [one.states[i] == other.states[j] for i, j in pairs]
    if not pairs or not any(same):
        begins = [pipeline.states[0] if pipeline.states else "" for pipeline in (one, other)]
        return None if begins[0] == begins[1] else Split(after=None, position=0, one=begins[0], other=begins[1])
    at = len(same) - 1 - same[::-1].index(True)
    end = pairs[at + 1] if at + 1 < len(pairs) else (len(one.steps), len(other.steps))
    found = _between(one, other, pairs[at], end)
    if found is None:
        return None
    wrong = same.index(False) if False in same[:at] else None
    earlier = None if wrong is None else one.steps[pairs[wrong - 1][0]].pass_ if wrong else ""
    after, position, only_in, texts = found
    return Split(after=after, position=position, only_in=only_in, one=texts[0], other=texts[1], earlier=earlier)


def _between(
    one: Pipeline, other: Pipeline, start: tuple[int, int], end: tuple[int, int]
) -> tuple[str, int, int | None, tuple[str, str]] | None:
    """The first pass that parts two pipelines that are the same at ``start`` and no more at ``end``.

    That is the pass both run at ``start`` or, if it leaves them the same, the first that only one of them runs and that changes
    something.
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
                texts = (states[k + 1], other.states[j + 1]) if side == 0 else (one.states[i + 1], states[k + 1])
                return pipelines[side].steps[k].pass_, (k + 1 if side == 0 else i + 1), side, texts
    return None
