"""A compiler's passes in the order they ran, with the IR before each: read from a dump, and compared. Pure.

``MLIR_ENABLE_DUMP`` prints a heading and the IR before every pass; what the compiler has to say for itself stands in between.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import cached_property

from attrs import frozen

from compat.evidence.canonical import canonical

HEADING = re.compile(
    r"^// -----// IR Dump (?P<when>Before|After) (?P<title>[^\s:(]+)(?P<failed> Failed)?"
    r"(?: \((?P<argument>[^)\s]*)\)|: (?P<name>[\w-]+))?"
)
"""``… Before CSE (cse) (…)`` up to Triton 3.8, ``… Before CSEPass: cse ('builtin.module' operation) …`` since."""
_IR = ("module", "#", "!", " ", "\t", "}", "{-#", '"builtin.module"')
_VENDOR = re.compile(r"^(?:triton-?nvidia-?gpu|triton-?amd-?gpu|triton-?gpu|triton-?nvidia|triton|nvgpu)-?|-?(?:pass|nv)$")


@frozen(kw_only=True)
class Step:
    """One pass that ran."""

    pass_: str
    """As ``mlir-opt`` names it."""
    ir: str
    """The IR before it, as printed."""

    @property
    def key(self) -> str:
        """What is left of the name when prefixes are dropped that releases add, change and drop."""
        return re.sub(r"\W", "", _VENDOR.sub("", self.pass_.lower()))


@frozen(kw_only=True, slots=False)
class Pipeline:
    """All passes of one compile, through all its stages."""

    steps: tuple[Step, ...]
    failed: str | None = None
    """The pass that MLIR itself says failed; one that took the process with it is only the last step."""

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The IR before each step, in canonical form."""
        return tuple(canonical(step.ir) for step in self.steps)

    @property
    def last(self) -> str | None:
        """The pass that was in flight when a compile failed inside a pass."""
        return self.failed or (self.steps[-1].pass_ if self.steps else None)


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


def read(text: str) -> Pipeline:
    """The pipeline in what a compile with dumps printed."""
    steps: list[tuple[str, list[str]]] = []
    failed: str | None = None
    in_ir = False
    for line in text.splitlines(keepends=True):
        if heading := HEADING.match(line):
            name = heading["name"] or heading["argument"] or heading["title"]
            in_ir = heading["when"] == "Before"
            if in_ir:
                steps.append((name, []))
            elif heading["failed"]:
                failed = failed or name  # of nested passes the innermost is told first
        elif in_ir and (not line.strip() or line.startswith(_IR)):
            steps[-1][1].append(line)
        else:
            in_ir = False
    return Pipeline(steps=tuple(Step(pass_=name, ir="".join(lines).strip() + "\n") for name, lines in steps), failed=failed)


def common(one: Pipeline, other: Pipeline) -> list[tuple[int, int]]:
    """The positions of passes that both ran, in order; passes that one of them lacks are left out."""
    matcher = SequenceMatcher(None, [step.key for step in one.steps], [step.key for step in other.steps], autojunk=False)
    return [(block.a + n, block.b + n) for block in matcher.get_matching_blocks() for n in range(block.size)]


def split(one: Pipeline, other: Pipeline) -> Split | None:
    """Where the IR of two pipelines parts for good, names aside; ``None`` if it is the same before the last pass both ran."""
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
