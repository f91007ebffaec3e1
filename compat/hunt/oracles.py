"""Which results of generated programs show a defect.

A program is valid by construction. So the first two oracles need no reference:

- ``crash``: the compiler crashed, hung, or reported an error of its own;
- ``disagreement``: it rejected a program that another release compiles for the target, or a form
  of a program while it compiles another form. If all releases reject something for a target, such
  as an element type, the target does not support it.

A program that every release rejects in every form counts as invalid. The other two oracles compare
numbers:

- ``interpreter``: Triton's interpreter computes something else than NumPy;
- ``numbers``: the GPU computes something else, or not the same each time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from attrs import evolve, frozen
from packaging.version import Version

from compat.model import Check, Result, Status
from compat.toolchains.programs import GeneratedProgram


class Oracle(StrEnum):
    """The rule that found a hit."""

    CRASH = "crash"
    DISAGREEMENT = "disagreement"
    INTERPRETER = "interpreter"
    NUMBERS = "numbers"

    @property
    def compares_numbers(self) -> bool:
        """Whether the oracle compares the numbers that a program computes."""
        return self in (Oracle.INTERPRETER, Oracle.NUMBERS)


_RAISED = re.compile(r"raised in the interpreter: (.+)")
_WORDS = 6
"""The number of words that identify an exception: its type, and the first words of its text."""
_BROKEN = (Status.CRASHED, Status.TIMED_OUT, Status.OUT_OF_MEMORY)
_NOT_TOLD = (Status.UNSUPPORTED, Status.LOST, Status.LAUNCH_REFUSED)


@frozen(kw_only=True)
class Hit:
    """A result of a program that shows a defect."""

    oracle: Oracle
    result: Result
    program: GeneratedProgram
    fingerprint: str
    """Equal for hits that are likely one defect."""
    reason: str
    """The compiler's message, or how numbers differ."""


@frozen(kw_only=True)
class ProgramVerdict:
    """All results of one program, and the hits among them."""

    program: GeneratedProgram
    """The program in its own form."""
    forms: tuple[GeneratedProgram, ...]
    """All forms that were tried."""
    results: tuple[Result, ...]
    """The results of all forms."""
    hits: tuple[Hit, ...]

    @property
    def informative(self) -> tuple[Result, ...]:
        """The results that show how a compiler treats the program.

        Unsupported cells, predicted failures and attempts without an answer do not count.
        """
        return tuple(result for result in self.results if _is_informative(result))

    @property
    def is_valid(self) -> bool:
        """Whether some release compiles the program or breaks on it.

        A program without informative results counts as valid.
        """
        statuses = {result.outcome.status for result in self.informative}
        return not statuses or bool(statuses & {Status.OK, *_BROKEN})


def judge(
    program: GeneratedProgram, forms: Sequence[tuple[GeneratedProgram, Sequence[Result]]]
) -> ProgramVerdict:
    """Judge the results of all forms of a program."""
    informative = [
        (form, result) for form, results in forms for result in results if _is_informative(result)
    ]
    compiled_for = {
        result.cell.target for _, result in informative if result.outcome.status is Status.OK
    }
    hits = [
        hit
        for form, result in informative
        for hit in (
            *_by_compiler(form, result, is_compiled=result.cell.target in compiled_for),
            *_by_numbers(form, result),
        )
    ]
    return ProgramVerdict(
        program=program,
        forms=tuple(form for form, _ in forms),
        results=tuple(result for _, results in forms for result in results),
        hits=tuple(hits),
    )


def what_breaks(verdict: ProgramVerdict, env: str) -> ProgramVerdict:
    """Keep only the hits of one env.

    The newest other release must compile the same kernel and case without a hit.
    """
    hits = [
        hit
        for hit in verdict.hits
        if hit.result.cell.env.name == env and _is_right_before(verdict, hit)
    ]
    return evolve(verdict, hits=tuple(hits))


def _is_right_before(verdict: ProgramVerdict, hit: Hit) -> bool:
    """Whether the newest other release compiles the same kernel and case without a hit."""
    cell = hit.result.cell
    others = [
        result
        for result in verdict.results
        if result.cell.env != cell.env
        and (result.cell.target, result.cell.spec) == (cell.target, cell.spec)
    ]
    if not others:
        return False
    newest = max(others, key=lambda result: result.cell.env.release or Version("0"))
    return newest.outcome.status is Status.OK and newest not in [
        other.result for other in verdict.hits
    ]


def _is_informative(result: Result) -> bool:
    outcome = result.outcome
    return (
        outcome.status.is_answer
        and outcome.status is not Status.UNSUPPORTED
        and (outcome.failure is None or not outcome.failure.prediction)
    )


def _by_compiler(program: GeneratedProgram, result: Result, *, is_compiled: bool) -> Iterable[Hit]:
    failure = result.outcome.failure
    if failure is None:
        return
    if result.outcome.status in _BROKEN:
        oracle = Oracle.CRASH
    elif result.outcome.status is Status.REJECTED and is_compiled:
        oracle = Oracle.DISAGREEMENT
    else:
        return
    yield Hit(
        oracle=oracle,
        result=result,
        program=program,
        fingerprint=failure.fingerprint,
        reason=failure.excerpt,
    )


def _by_numbers(program: GeneratedProgram, result: Result) -> Iterable[Hit]:
    for oracle, check in (
        (Oracle.INTERPRETER, result.numbers.interpreter),
        (Oracle.NUMBERS, result.numbers.gpu),
    ):
        if check is not None and check.right is False and check.status not in _NOT_TOLD:
            yield Hit(
                oracle=oracle,
                result=result,
                program=program,
                fingerprint=f"{check.status}:{_pattern(check)}",
                reason=f"{check.where}: {check.reason}" if check.where else check.reason,
            )


def _pattern(check: Check) -> str:
    """Return the kind of wrong numbers, or the first words of an exception without digits."""
    if raised := _RAISED.search(check.reason):
        return "-".join(re.findall(r"[a-z]+", raised[1].lower())[:_WORDS])
    for phrase, name in (
        ("wrote outside", "outside"),
        ("not written", "unwritten"),
        ("is nan", "nan"),
        ("is inf", "infinity"),
        ("is -inf", "infinity"),
    ):
        if phrase in check.reason:
            return name
    return "numbers" if check.status is Status.WRONG else "failure"
