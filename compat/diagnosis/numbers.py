"""From what an interpreter made of a kernel to whether its numbers are right. Pure.

An interpreter has defects of its own. What of them matters to a kernel is found out by *probes*, small kernels that are known to
be right: where a kernel does not come out right, and a probe of something that the kernel uses does not either, nothing is known of
the kernel. Each toolchain with an interpreter has an :class:`Interpreter` that says all of this.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import Factory, evolve, frozen

from compat.diagnosis.agreement import samples_in
from compat.model import SOURCE_STAGE, Check, Evidence, Raised, Status
from compat.text import lazy_pattern, printable

_CRASHES = frozenset({"SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS"})
"""What a process ends by for a mistake of its own."""
_MISTAKE = "ProblemError"
"""What a mistake in a problem raises, and not in the kernel."""
_FRAME = lazy_pattern(r'^  File "[^"\n]*", line \d+', re.MULTILINE)
_WORDS = 400
"""Letters of a reason."""


@frozen(kw_only=True)
class Probe:
    """A small kernel that is right, and what of an interpreter it tries."""

    name: str
    """Of the kernel's function in the file of probes. Its problem is the function ``NAME_problem`` there."""
    uses: re.Pattern[str]
    """Found in what a kernel needed of the interpreter (``uses`` in the worker's contract) where this probe is about it."""
    words: str
    """What the interpreter gets wrong where it fails: ``rounds … towards zero``."""


@frozen(kw_only=True)
class Interpreter:
    """How a toolchain runs kernels on a CPU."""

    packages: tuple[str, ...]
    """The distributions that an env must have for it."""
    variables: Mapping[str, str] = Factory(dict)
    """The environment variables of a worker that interprets."""
    probes: Path
    """The file with the probes and their problems."""
    tried: tuple[Probe, ...] = ()
    """The probes, the most telling first."""
    lacks: tuple[re.Pattern[str], ...] = ()
    """How it says by itself that it cannot do something, in the words of an exception."""


def check_of(evidence: Evidence, interpreter: Interpreter) -> Check:
    """What one run of a kernel on its problems says by itself."""
    metrics = evidence.metrics
    running = (evidence.in_flight or "").rpartition(":")[0] if evidence.stage != SOURCE_STAGE else ""
    where = printable(str(metrics.get("problem") or running))
    if evidence.complete:
        return evolve(_compared(metrics.get("check")), samples=samples_in(metrics.get("values")))
    if evidence.toolchain_broken:
        return _unknown(f"the interpreter could not be started: {_last(evidence.raised) or evidence.stderr.strip()[-_WORDS:]}")
    if evidence.deadline is not None:
        if evidence.stage == SOURCE_STAGE:
            return _unknown(f"importing its file took more than {evidence.deadline:g} s")
        return Check(status=Status.TIMED_OUT, where=where, reason=f"took more than {evidence.deadline:g} s in the interpreter")
    if evidence.memory is not None:
        return Check(status=Status.OUT_OF_MEMORY, where=where, reason=f"took {evidence.memory >> 20:,} MiB in the interpreter")
    if evidence.signal in _CRASHES:
        return Check(status=Status.CRASHED, where=where, reason=f"the interpreter ended by {evidence.signal}")
    if not evidence.answered or not evidence.raised:
        return _unknown(evidence.refused or "the interpreter gave no answer")
    return _raised(evidence, where, interpreter)


def _raised(evidence: Evidence, where: str, interpreter: Interpreter) -> Check:
    said = _last(evidence.raised)
    if is_mistake(evidence):
        mistake = next(each for each in evidence.raised if each.type.endswith(_MISTAKE))
        return _unknown(f"a mistake in the problem, and not in the kernel: {_line(mistake.message)}", where)
    if evidence.stage == SOURCE_STAGE:
        return _unknown(f"its file cannot be imported to be interpreted: {said}")
    place = evidence.at.rpartition("/")[2] if evidence.at else ""
    where = ", ".join(filter(None, (where, printable(place))))
    if any(pattern.search(each.message) for each in evidence.raised for pattern in interpreter.lacks):
        return Check(status=Status.UNSUPPORTED, where=where, reason=f"this release's interpreter cannot do it: {said}")
    return Check(status=Status.REJECTED, where=where, reason=f"raised in the interpreter: {said}")


def is_confirmed(check: Check) -> bool:
    """Whether a kernel of which one run said this is run again. One that took too long is not: that it did is a fact."""
    return check.right is False and check.status is not Status.TIMED_OUT


def settled(first: Check, later: Sequence[Check]) -> Check:
    """What the first run says in the light of those that were to confirm it: no more than one, or two that settle it.

    Where memory was short only at times, the run that came to an end counts; where the numbers, or how it failed, are other ones
    from run to run, it is ``unstable``. A run that was lost says nothing.
    """
    runs = [first, *(check for check in later if check.status is not Status.LOST)]
    different = sum(check.status is not first.status for check in runs)
    if not different:
        return first
    ended = [check for check in runs if check.status not in (Status.TIMED_OUT, Status.OUT_OF_MEMORY)]
    if len({check.status for check in ended}) == 1:
        return ended[0]
    words = ", then ".join(check.status for check in runs)
    reason = f"not the same in each of {len(runs)} runs in the interpreter: {words}{f' ({first.reason})' if first.reason else ''}"
    return evolve(first, status=Status.UNSTABLE, max_abs=None, max_rel=None, reason=reason, samples=())


def is_mistake(evidence: Evidence) -> bool:
    """Whether a problem could not be made, or cannot be used: nothing is known of the kernel then."""
    return any(each.type.endswith(_MISTAKE) for each in evidence.raised)


def _compared(said: object) -> Check:
    """What the worker made of comparing; ``lost`` where it has not the form of that."""
    if not isinstance(said, Mapping) or said.get("status") not in (Status.OK, Status.WRONG, Status.UNSUPPORTED):
        return _unknown("what the interpreter answered is no comparison")
    return Check(
        status=Status(said["status"]),
        max_abs=_error(said.get("max_abs")),
        max_rel=_error(said.get("max_rel")),
        where=_line(str(said.get("where") or "")),
        reason=_line(str(said.get("reason") or "")),
    )


def _error(said: Any) -> float | None:
    return float(said) if isinstance(said, int | float) and not isinstance(said, bool) and 0 <= said < float("inf") else None


def _unknown(reason: str, where: str = "") -> Check:
    return Check(status=Status.LOST, where=where, reason=reason)


def _last(raised: Iterable[Raised]) -> str:
    """The innermost exception on one line, as ``TypeError: …``."""
    links = list(raised)
    return _line(f"{links[-1].type.rpartition('.')[2]}: {links[-1].message}") if links else ""


def _line(text: str) -> str:
    line = " ".join(printable(text).split())
    return line if len(line) <= _WORDS else f"{line[: _WORDS - 1]}…"


def without_reference(check: Check) -> Check:
    """What became of a launch that was recorded: the program that made it is known, and not what has to come out of it.

    So that it raised something, or did not end, is no fact about the kernel: floating point numbers were made up.
    """
    if check.right is None:
        return check
    words = f"nothing is known: what was recorded came to {check.status} in the interpreter"
    return evolve(check, status=Status.UNSUPPORTED, reason=f"{words}{f' ({check.reason})' if check.reason else ''}")


# --- defects of the interpreter ------------------------------------------------------------------------------------------------


def suspects(evidence: Evidence, check: Check, interpreter: Interpreter) -> tuple[Probe, ...]:
    """The probes that tell whether a kernel or the interpreter is at fault; none where a check is ``ok`` or tells nothing."""
    uses = str(evidence.metrics.get("uses") or "")
    if check.right is not False or not uses:
        return ()
    return tuple(probe for probe in interpreter.tried if probe.uses.search(uses))


def excused(evidence: Evidence, check: Check, probes: Iterable[tuple[Probe, Evidence]], interpreter: Interpreter) -> Check:
    """A check that is not right, by what became of probes of what the kernel uses: ``unsupported`` where one fails in the same way.

    Wrong numbers are its fault where a probe has wrong numbers, and an exception is where a probe raises it at the same line.
    """
    for probe, tried in probes:
        found = check_of(tried, interpreter)
        if found.status is check.status and (check.status is Status.WRONG or _origin(tried) == _origin(evidence) is not None):
            defect = f"this release's interpreter {probe.words} (a kernel that is right: {found.reason})"
            return evolve(check, status=Status.UNSUPPORTED, max_abs=None, max_rel=None, reason=f"nothing is known: {defect}")
    return check


def _origin(evidence: Evidence) -> tuple[str, str] | None:
    """The innermost exception, and the line that it was raised in; ``None`` where there is none."""
    if not evidence.raised:
        return None
    frames = _FRAME.findall(evidence.raised[-1].traceback)
    return (evidence.raised[-1].type, frames[-1]) if frames else None
