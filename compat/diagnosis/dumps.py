"""What a compiler printed with dumps of its IR on, taken apart: the passes that ran with the IR before each, the pass that failed,
and the words that remain without IR. Pure.

``MLIR_ENABLE_DUMP`` prints a heading and the IR before every pass; what the compiler has to say for itself stands in between. This
is the only reader of such text.
"""

from __future__ import annotations

from functools import cached_property

from attrs import frozen

from compat.diagnosis.canonical import canonical
from compat.diagnosis.dialects import NONE, Dialects
from compat.text import lazy_pattern, printable

HEADING_BEGINS = "// -----// IR Dump "
"""What every heading of a dump begins with."""
HEADING = lazy_pattern(
    r"^// -----// IR Dump (?P<when>Before|After) (?P<title>[^\s:(]+)(?P<failed> Failed)?"
    r"(?: \((?P<argument>[^)\s]*)\)|: (?P<name>[\w-]+))?"
)
"""``… Before CSE (cse) (…)`` up to Triton 3.8, ``… Before CSEPass: cse ('builtin.module' operation) …`` since."""
_LONGEST_HEADING = 4096
"""Characters of a heading."""
_IR_BEGINS = lazy_pattern(rf"\n(?=module\b|#[A-Za-z_]\w* = |{HEADING_BEGINS.strip()}|\{{-#)")
_IR_ENDS = lazy_pattern(
    rf"\n(?={HEADING_BEGINS}(?:Before|After) [^\s:(]"
    r"|(?!module|[#!\s}]|\{-#|//|tt\.func|llvm\.|func\.|\"builtin\.module\")[^\n])"
)
"""A line's beginning, with the newline before it, which is quickly found."""
_ON_OP = lazy_pattern(r"`([^`\n]+)` on ")
"""``Pipeline failed while executing [`ConvertTritonGPUToLLVM` on 'builtin.module' operation]``."""


@frozen(kw_only=True)
class Step:
    """One pass that ran."""

    pass_: str
    """As ``mlir-opt`` names it."""
    ir: str
    """The IR before it, as printed."""


@frozen(kw_only=True, slots=False)
class Pipeline:
    """All passes of one compile, through all its stages."""

    steps: tuple[Step, ...]
    failed: str | None = None
    """The pass that MLIR itself says failed; one that took the process with it is only the last step."""
    dialects: Dialects = NONE
    """What its toolchain's releases name differently."""

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The steps by names that releases do not change."""
        return tuple(self.dialects.pass_key(step.pass_) for step in self.steps)

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The IR before each step, in canonical form."""
        return tuple(canonical(step.ir, self.dialects) for step in self.steps)

    @property
    def last(self) -> str | None:
        """The pass that was in flight when a compile failed inside a pass."""
        return self.failed or (self.steps[-1].pass_ if self.steps else None)


@frozen(kw_only=True)
class Printed:
    """What one compile printed."""

    words: str
    """All of it that is no IR."""
    pipeline: Pipeline


def read(text: str, dialects: Dialects = NONE) -> Printed:
    """Take apart what a compile printed.

    Even without dumps asked for, releases from 3.3 on print the whole module when a pipeline fails.
    """
    text = f"\n{text}"
    words: list[str] = []
    steps: list[tuple[str, list[str]]] = []
    taken: list[str] | None = words
    """Where to put what comes next; ``None`` for IR that is of no pass."""
    failed: str | None = None
    at = 0
    # From one place where words or IR end to the next: looking at every line costs seconds where there are millions.
    while ends := (_IR_BEGINS if taken is words else _IR_ENDS).search(text, at):
        if taken is not None:
            taken.append(text[at : ends.start()])
        at = ends.start()
        if heading := HEADING.match(text[at + 1 : at + _LONGEST_HEADING]):
            name, taken = printable(heading["name"] or heading["argument"] or heading["title"]), None
            if heading["when"] == "Before":
                steps.append((name, taken := []))
            elif heading["failed"]:
                failed = failed or name  # of nested passes the innermost is told first
            at = end if (end := text.find("\n", at + 1)) > 0 else len(text)
        else:
            taken = None if taken is words else words
    if taken is not None:
        taken.append(text[at:])
    said = "".join(words).removeprefix("\n")
    ran = tuple(Step(pass_=name, ir="".join(ir).strip() + "\n") for name, ir in steps)
    pipeline = Pipeline(steps=ran, failed=failed, dialects=dialects)
    return Printed(words=said if taken is words or not said else f"{said}\n", pipeline=pipeline)


def innermost(executing: str) -> str | None:
    """The pass that MLIR was executing when a pipeline failed, of those that it says are nested the innermost."""
    names = _ON_OP.findall(executing)
    return names[-1] if names else None
