"""Judge whether a kernel's numbers are right, from an interpreter and from GPU launches. Pure.

An interpreter has defects of its own. *Probes* are small kernels that are known to be right. They
show which defects affect a kernel. If a kernel computes wrong numbers, and so does a probe of an
operation that the kernel uses, the check is inconclusive. Each toolchain with an interpreter has an
:class:`Interpreter` with these facts.

Results of a kernel without a reference are compared with each other. The compared values are the
elements that it changes, in interpreters and on a GPU, in several releases. If the launch of a
release agrees with an interpreter, two implementations that have little in common computed the same
numbers. The newest such release is the reference for the others. Without one, no check says
that numbers are right or wrong.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from attrs import Factory, evolve, frozen
from packaging.version import Version

from compat.model import SOURCE_STAGE, Check, Evidence, RaisedException, Result, Sample, Status
from compat.text import lazy_pattern, printable, read_json, shorten

_CRASHES = frozenset({"SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS"})
"""The signals that a process raises by a fault of its own."""
_MISTAKE = "ProblemError"
"""The exception for a mistake in a problem, not in the kernel."""
_NO_SIZE = "NoProblem"
"""The exception for a function that yields no problem small enough for an interpreter."""
_FRAME = lazy_pattern(r'^  File "[^"\n]*", line \d+', re.MULTILINE)
_WORDS = 400
"""The most characters of a reason."""


@frozen(kw_only=True)
class Probe:
    """A small correct kernel that tests one feature of an interpreter."""

    name: str
    """The name of the kernel's function in the file of probes.

    Its problem is the function ``NAME_problem`` there.
    """
    uses: re.Pattern[str]
    """Pattern for the kernels that this probe is relevant to. It is searched in their metric
    ``uses`` (:mod:`compat.worker`).
    """
    defect: str
    """The interpreter's defect if the probe fails, as a verb phrase: ``rounds … towards zero``."""


@frozen(kw_only=True)
class Interpreter:
    """How a toolchain runs kernels on a CPU."""

    packages: tuple[str, ...]
    """The distributions that an env needs to interpret kernels."""
    variables: Mapping[str, str] = Factory(dict)
    """The environment variables of a worker that interprets."""
    probe_file: Path
    """The file with the probes and their problems."""
    probes: tuple[Probe, ...] = ()
    """The probes, the most informative first."""
    missing_feature_patterns: tuple[re.Pattern[str], ...] = ()
    """Patterns for messages of exceptions in which the interpreter reports a missing feature."""


def check_of(evidence: Evidence, interpreter: Interpreter) -> Check:
    """Return the check of one run of a kernel on its problems, without probes or other runs."""
    metrics = evidence.metrics
    running = (
        (evidence.in_flight or "").rpartition(":")[0] if evidence.stage != SOURCE_STAGE else ""
    )
    where = printable(str(metrics.get("problem") or running))
    if evidence.complete:
        return evolve(
            _comparison_check(metrics.get("check")), samples=samples_in(metrics.get("values"))
        )
    if evidence.toolchain_broken:
        return _unknown(
            "the interpreter could not be started:"
            f" {_last(evidence.raised) or evidence.stderr.strip()[-_WORDS:]}"
        )
    if evidence.deadline is not None:
        if evidence.stage == SOURCE_STAGE:
            return _unknown(f"importing its file took more than {evidence.deadline:g} s")
        return Check(
            status=Status.TIMED_OUT,
            where=where,
            reason=f"took more than {evidence.deadline:g} s in the interpreter",
        )
    if evidence.memory is not None:
        return Check(
            status=Status.OUT_OF_MEMORY,
            where=where,
            reason=f"took {evidence.memory >> 20:,} MiB in the interpreter",
        )
    if evidence.signal in _CRASHES:
        return Check(
            status=Status.CRASHED, where=where, reason=f"the interpreter ended by {evidence.signal}"
        )
    if not evidence.answered or not evidence.raised:
        return _unknown(evidence.refused or "the interpreter gave no answer")
    return _exception_check(evidence, where, interpreter)


def _exception_check(evidence: Evidence, where: str, interpreter: Interpreter) -> Check:
    message = _last(evidence.raised)
    if is_mistake(evidence):
        # The message names the problem. The metrics may have the one before it.
        mistake = next(link for link in evidence.raised if link.type.endswith(_MISTAKE))
        return _unknown(f"a mistake in the problem, not in the kernel: {_line(mistake.message)}")
    if any(link.type.endswith(_NO_SIZE) for link in evidence.raised):
        return Check(
            status=Status.UNSUPPORTED, reason="its problem has no small sizes for an interpreter"
        )
    if evidence.stage == SOURCE_STAGE:
        return _unknown(f"its file cannot be imported to be interpreted: {message}")
    place = evidence.at.rpartition("/")[2] if evidence.at else ""
    where = ", ".join(filter(None, (where, printable(place))))
    if any(
        pattern.search(link.message)
        for link in evidence.raised
        for pattern in interpreter.missing_feature_patterns
    ):
        return Check(
            status=Status.UNSUPPORTED,
            where=where,
            reason=f"this release's interpreter cannot run it: {message}",
        )
    return Check(
        status=Status.REJECTED, where=where, reason=f"raised in the interpreter: {message}"
    )


def is_confirmed(check: Check) -> bool:
    """Whether a second run must confirm this result.

    A timeout needs no second run, because its duration is a fact.
    """
    return check.right is False and check.status is not Status.TIMED_OUT


def combine_checks(first: Check, later: Sequence[Check]) -> Check:
    """Return the result of the first run, combined with the runs that confirm it.

    ``later`` has at most two runs. If the statuses differ, runs that ended at a limit of time or
    memory do not count. If the other runs agree, the result is theirs, else it is ``unstable``. If
    all runs ended at a limit, the result is that of the first. A run without an answer (``lost``)
    does not count.
    """
    runs = [first, *(check for check in later if check.status is not Status.LOST)]
    different = sum(check.status is not first.status for check in runs)
    if not different:
        return first
    ended = [
        check for check in runs if check.status not in (Status.TIMED_OUT, Status.OUT_OF_MEMORY)
    ]
    if len({check.status for check in ended}) <= 1:
        return ended[0] if ended else first
    statuses = ", then ".join(check.status for check in runs)
    reason = (
        f"not the same in each of {len(runs)} runs in the interpreter:"
        f" {statuses}{f' ({first.reason})' if first.reason else ''}"
    )
    return evolve(
        first, status=Status.UNSTABLE, max_abs=None, max_rel=None, reason=reason, samples=()
    )


def is_mistake(evidence: Evidence) -> bool:
    """Whether a problem could not be made or used, so the run says nothing about the kernel."""
    return any(link.type.endswith(_MISTAKE) for link in evidence.raised)


def _comparison_check(data: object) -> Check:
    """Return the worker's comparison as a check; ``lost`` if its form is wrong."""
    if not isinstance(data, Mapping) or data.get("status") not in (
        Status.OK,
        Status.WRONG,
        Status.UNSUPPORTED,
    ):
        return _unknown("the interpreter's answer is not a comparison")
    return Check(
        status=Status(data["status"]),
        max_abs=_error(data.get("max_abs")),
        max_rel=_error(data.get("max_rel")),
        where=_line(str(data.get("where") or "")),
        reason=_line(str(data.get("reason") or "")),
    )


def _error(value: object) -> float | None:
    return (
        float(value)
        if isinstance(value, int | float)
        and not isinstance(value, bool)
        and 0 <= value < float("inf")
        else None
    )


def _unknown(reason: str) -> Check:
    return Check(status=Status.LOST, reason=reason)


def _last(raised: Iterable[RaisedException]) -> str:
    """The innermost exception on one line, as ``TypeError: …``."""
    links = list(raised)
    return _line(f"{links[-1].type.rpartition('.')[2]}: {links[-1].message}") if links else ""


def _line(text: str) -> str:
    return shorten(" ".join(printable(text).split()), _WORDS)


def without_reference(check: Check) -> Check:
    """Return the check of a recorded launch, which has no reference.

    A conclusive check becomes ``unsupported``. The program of the launch is known, but the right
    numbers are not. Its floating point inputs were made up, so an exception or a hang is not a fact
    about the kernel.
    """
    if check.right is None:
        return check
    reason = f"inconclusive: the recorded launch ended with {check.status} in the interpreter"
    return evolve(
        check,
        status=Status.UNSUPPORTED,
        reason=f"{reason}{f' ({check.reason})' if check.reason else ''}",
    )


# --- defects of the interpreter -------------------------------------------------------------------


def suspects(evidence: Evidence, check: Check, interpreter: Interpreter) -> tuple[Probe, ...]:
    """Return the probes that decide whether the kernel or the interpreter is at fault.

    There are none if the check is ``ok`` or inconclusive.
    """
    uses = str(evidence.metrics.get("uses") or "")
    if check.right is not False or not uses:
        return ()
    return tuple(probe for probe in interpreter.probes if probe.uses.search(uses))


def excuse_check(
    evidence: Evidence,
    check: Check,
    probes: Iterable[tuple[Probe, Evidence]],
    interpreter: Interpreter,
) -> Check:
    """Return a failed check, as ``unsupported`` if a probe fails in the same way.

    The probes test features that the kernel uses. Wrong numbers are the interpreter's fault if a
    probe has wrong numbers. An exception is its fault if a probe raises it at the same line.
    """
    for probe, probe_evidence in probes:
        probe_check = check_of(probe_evidence, interpreter)
        if probe_check.status is check.status and (
            check.status is Status.WRONG or _origin(probe_evidence) == _origin(evidence) is not None
        ):
            kernel = "a correct kernel"
            if check.status is Status.WRONG:
                kernel = f"an element of {kernel}"
            defect = f"this release's interpreter {probe.defect} ({kernel} {probe_check.reason})"
            return evolve(
                check,
                status=Status.UNSUPPORTED,
                max_abs=None,
                max_rel=None,
                reason=f"inconclusive: {defect}",
            )
    return check


def _origin(evidence: Evidence) -> tuple[str, str] | None:
    """The innermost exception, and the frame that raised it; ``None`` if either is missing."""
    if not evidence.raised:
        return None
    frames = _FRAME.findall(evidence.raised[-1].traceback)
    return (evidence.raised[-1].type, frames[-1]) if frames else None


# --- kernels without a reference ------------------------------------------------------------------

_TOLERANCES = {"float64": 1e-6, "float32": 2e-3, "float16": 2e-2, "bfloat16": 5e-2}
"""Element type → tolerance, as a fraction of the largest magnitude. float32 allows for dots in
TF32.
"""
_ROUGH = 0.15
"""The tolerance of floating point types with fewer bits."""
_MOST = 4096


def samples_of(data: object) -> tuple[Sample, ...]:
    """Return the well-formed samples among those from the worker.

    :func:`compat.toolchains.pytorch.numerics.outputs.changes` makes them.
    """
    samples = [_sample(entry) for entry in data] if isinstance(data, list) else []
    return tuple(sample for sample in samples if sample is not None)


def samples_in(text: object) -> tuple[Sample, ...]:
    """Return the well-formed samples in a JSON text; none if it is not valid JSON."""
    try:
        return samples_of(read_json(text)) if isinstance(text, str) else ()
    except ValueError:
        return ()


def _sample(data: object) -> Sample | None:
    if not isinstance(data, Mapping):
        return None
    name, kind, elements, values, written = (
        data.get(key) for key in ("name", "type", "elements", "sample", "written")
    )
    if not (
        isinstance(name, str)
        and isinstance(kind, str)
        and isinstance(elements, int)
        and isinstance(values, list)
    ):
        return None
    if not isinstance(written, str) or not len(written) == len(values) <= _MOST:
        return None
    try:
        numbers = tuple(
            float(value) if kind.startswith(("float", "bfloat")) else int(value) for value in values
        )
    except (TypeError, ValueError):
        return None
    return Sample(
        name=printable(name),
        type=printable(kind),
        elements=elements,
        values=numbers,
        written=tuple(flag == "1" for flag in written),
    )


@frozen(kw_only=True)
class _Difference:
    """The difference between the samples of two runs."""

    reason: str
    """Why they do not agree; empty if they agree."""
    where: str = ""
    max_abs: float | None = None


def with_agreement(results: Sequence[Result]) -> tuple[Result, ...]:
    """Return the results. Checks of kernels without a reference are compared with each other."""
    series: dict[tuple[object, ...], list[int]] = {}
    for index, result in enumerate(results):
        if any(check.samples for check in result.numbers.checks):
            spec = result.cell.spec
            key = (
                spec.kernel,
                spec.variant,
                spec.case,
                spec.closure,
                spec.problem and spec.problem.closure,
            )
            series.setdefault(key, []).append(index)
    new_results = list(results)
    for those in series.values():
        for index, result in zip(
            those, _agreeing([results[position] for position in those]), strict=True
        ):
            new_results[index] = result
    return tuple(new_results)


def _agreeing(results: Sequence[Result]) -> list[Result]:
    interpreted = sorted(
        (result for result in results if _has_samples(result.numbers.interpreter)),
        key=_release,
        reverse=True,
    )
    compared = [_with_interpreters(result, interpreted) for result in results]
    by_place: dict[tuple[str, str | None], list[Result]] = {}
    for result in results:
        if _has_samples(result.numbers.gpu):
            assert result.numbers.gpu is not None
            by_place.setdefault((result.cell.target.name, result.numbers.gpu.device), []).append(
                result
            )
    references = {place: _reference(those, interpreted) for place, those in by_place.items()}
    return [_with_reference(result, references) for result in compared]


def _has_samples(check: Check | None) -> bool:
    return check is not None and bool(check.samples)


def _release(result: Result) -> Version:
    return result.cell.env.release or Version("0")


def _with_interpreters(result: Result, interpreted: Iterable[Result]) -> Result:
    """Return a result whose reason names the interpreters that agree and those that differ.

    The status stays the same.
    """
    check = result.numbers.interpreter
    others = [candidate for candidate in interpreted if candidate.cell.env != result.cell.env]
    if check is None or not check.samples or not others:
        return result
    same, apart = [], []
    for env, other in {
        other_result.cell.env.name: other_result.numbers.interpreter for other_result in others
    }.items():
        assert other is not None
        difference = difference_of(check.samples, other.samples)
        same += [env] if not difference.reason else []
        apart += [f"other ones in {env}: {difference.reason}"] if difference.reason else []
    agreements = [f"the same in the interpreters of {', '.join(same)}"] if same else []
    judged = evolve(check, reason="; ".join([check.reason, *agreements, *apart]))
    return evolve(result, numbers=evolve(result.numbers, interpreter=judged))


def _reference(
    launched: Iterable[Result], interpreted: Sequence[Result]
) -> tuple[Result, Result] | None:
    """The newest launch that agrees with an interpreter, and that interpreter's result."""
    for launch in sorted(launched, key=_release, reverse=True):
        for other in interpreted:
            assert launch.numbers.gpu is not None
            assert other.numbers.interpreter is not None
            if not difference_of(
                launch.numbers.gpu.samples, other.numbers.interpreter.samples
            ).reason:
                return launch, other
    return None


def _with_reference(
    result: Result, references: Mapping[tuple[str, str | None], tuple[Result, Result] | None]
) -> Result:
    check = result.numbers.gpu
    if check is None or not check.samples:
        return result
    pair = references[result.cell.target.name, check.device]
    if pair is None:
        return result
    reference, interpreted = pair
    assert reference.numbers.gpu is not None
    difference = difference_of(check.samples, reference.numbers.gpu.samples)
    of = f"{_title(reference)}, which agrees with the interpreter of {_title(interpreted)}"
    if reference.cell == result.cell:
        of = f"the interpreter of {_title(interpreted)}"
    comparison = (
        f"compared with {of}, in {sum(len(sample.values) for sample in check.samples):,} elements"
    )
    status = Status.WRONG if difference.reason else Status.OK
    reason = f"{difference.reason}; {comparison}" if difference.reason else comparison
    judged = evolve(
        check, status=status, where=difference.where, max_abs=difference.max_abs, reason=reason
    )
    return evolve(result, numbers=evolve(result.numbers, gpu=judged))


def _title(result: Result) -> str:
    return str(result.cell.env.release) if result.cell.env.release else result.cell.env.name


# --- two samples ----------------------------------------------------------------------------------


def difference_of(got: Sequence[Sample], expected: Sequence[Sample]) -> _Difference:
    """Return the difference between the samples of two runs.

    Floating point numbers agree within the tolerance of their type. Integers must be equal.
    """
    ours, expected_by_name = (
        {sample.name: sample for sample in samples} for samples in (got, expected)
    )
    if ours.keys() != expected_by_name.keys():
        changed = " and ".join(
            " ".join(sorted(by_name)) or "nothing" for by_name in (ours, expected_by_name)
        )
        return _Difference(reason=f"it changed other tensors ({changed})")
    worst: float | None = None
    for name, sample in ours.items():
        difference = _apart(sample, expected_by_name[name])
        if difference.reason:
            return difference
        worst = max(filter(None, (worst, difference.max_abs)), default=worst)
    return _Difference(reason="", max_abs=worst)


def _apart(got: Sample, expected: Sample) -> _Difference:
    if (got.type, got.elements, len(got.values)) != (
        expected.type,
        expected.elements,
        len(expected.values),
    ):
        return _Difference(reason=f"{got.name} is another tensor", where=got.name)
    either = [
        ours or expected_flag
        for ours, expected_flag in zip(got.written, expected.written, strict=True)
    ]
    largest = max(
        (
            abs(value)
            for value, is_new in zip(expected.values, either, strict=True)
            if is_new and math.isfinite(value)
        ),
        default=0.0,
    )
    is_real = got.type.startswith(("float", "bfloat"))
    allowed = _TOLERANCES.get(got.type, _ROUGH) * largest if is_real else 0.0
    worst = 0.0
    for ours, expected_value in zip(got.values, expected.values, strict=True):
        if ours == expected_value or (math.isnan(ours) and math.isnan(expected_value)):
            continue
        off = abs(ours - expected_value)
        if not off <= allowed:
            description = (
                f"{got.name} has {ours:.6g} where the other has {expected_value:.6g}, and"
                f" {allowed:.3g} is allowed"
            )
            return _Difference(
                reason=description, where=got.name, max_abs=off if math.isfinite(off) else None
            )
        worst = max(worst, off)
    return _Difference(reason="", where=got.name, max_abs=worst)
