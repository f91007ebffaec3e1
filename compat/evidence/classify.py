"""From evidence to an outcome: what became of a cell, and why. Pure; the words are read in :mod:`compat.evidence.symptoms`.

Two questions, in this order:

- What does one attempt say? :func:`_read`: limits and the way a process ended first, then
  :func:`compat.evidence.taxonomy.recognise`.
- What do several attempts say together? :func:`classify`: attempts *alone* outrank the one among neighbours, and are compared by
  fingerprint, because the same defect dies of a signal in one and raises in the other.

No answer is never ``ok``, and it is blamed on the kernel only where something points there. A signal that no process raises by a
mistake of its own (SIGKILL, SIGTERM, …) came from outside, most likely from the system's out-of-memory killer or from an operator:
``lost``. So is any exit without a word, whatever its code.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from compat.evidence import symptoms
from compat.evidence.fingerprint import fingerprint
from compat.evidence.symptoms import Symptoms
from compat.evidence.taxonomy import KINDS, Kind, recognise
from compat.model import Diagnosis, Evidence, Failure, Outcome, Status, Target

_FROM_OUTSIDE = frozenset({"SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGSTOP", "SIGUSR1", "SIGUSR2"})
_PARTS = {
    "import": "the kernel's file",
    "ast": "the front end",
    "ttir": "MLIR",
    "ttgir": "MLIR",
    "llir": "MLIR",
    "ptx": "LLVM",
    "amdgcn": "LLVM",
    "cubin": "the assembler",
    "hsaco": "the linker",
}
"""Stage → the program at work, which no release renames: all there is to tell apart failures that say nothing."""
_BY_LIMIT = ("timeout", "out-of-memory")
_LINES = 12
"""Lines an excerpt may have."""


def classify(attempts: Sequence[Evidence], *, target: Target) -> Outcome:
    """What all attempts at one cell mean together.

    The first may have been made among neighbours, the others alone. Raises ``ValueError`` when there are none.
    """
    if not attempts:
        raise ValueError("no attempt, no outcome")
    readings = [_read(evidence, target) for evidence in attempts]
    alone = [reading for reading in readings if reading.evidence.alone]
    decisive = _decisive(alone or readings)
    flaky = any(not _same(decisive, other) for other in alone)
    flaky = flaky or (len(alone) == 1 and decisive.status is Status.OK and any(not _same(decisive, other) for other in readings))
    fullest = _fullest(decisive, readings)
    evidence = fullest.evidence
    return Outcome(
        status=fullest.status,
        stage=fullest.failure.stage if fullest.failure else evidence.stage,
        failure=_with_diagnosis(fullest, readings),
        flaky=flaky,
        attempts=tuple(reading.face for reading in readings),
        warnings=evidence.warnings,
        metrics=evidence.metrics,
        stages=evidence.stages,
        seconds=evidence.seconds,
    )


def agree(one: Evidence, other: Evidence, *, target: Target) -> bool:
    """Whether two attempts at one cell met the same fate, however it showed; if not, another attempt alone should settle it."""
    return _same(_read(one, target), _read(other, target))


def broken_env(words: str) -> Outcome:
    """The outcome of every cell of an env that could not be made, given the installer's words."""
    kind = KINDS["install"]
    failure = Failure(
        kind=kind.name,
        stage="import",
        fingerprint=fingerprint(kind.name, words),
        excerpt=_excerpt(words),
        advice=kind.advice,
    )
    return Outcome(status=kind.status, stage="import", failure=failure, attempts=(f"{kind.status} {kind.name}",))


# --- one attempt -------------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class _Reading:
    """What one attempt says."""

    evidence: Evidence
    status: Status
    failure: Failure | None = None

    @property
    def face(self) -> str:
        return f"{self.status} {self.failure.kind}" if self.failure else str(self.status)


def _read(evidence: Evidence, target: Target) -> _Reading:
    if evidence.toolchain_broken:
        return _of_broken_toolchain(evidence, target)
    if evidence.answered and evidence.built:
        return _of_built(evidence, target)
    if not evidence.answered:
        if evidence.deadline is not None:
            return _of_limit("timeout", f"no end after {evidence.deadline:g} s, in stage {evidence.stage}", evidence, target)
        if evidence.memory is not None:
            return _of_limit(
                "out-of-memory", f"stopped at {evidence.memory / 2**20:.0f} MiB, in stage {evidence.stage}", evidence, target
            )
        if evidence.signal in _FROM_OUTSIDE or (evidence.signal is None and not evidence.exit_code):
            return _lost(evidence, target)
    return _of_words(evidence, target)


def _of_words(evidence: Evidence, target: Target) -> _Reading:
    """Told by what it said; by its signal where it said nothing; lost without either."""
    said = symptoms.of(evidence)
    found = recognise(said)
    if found is not None:
        kind, sign, facts = found
        return _failed(kind, evidence, sign.tell(said, facts), _excerpt_of(kind, said), target, facts=facts)
    kind = KINDS["unclassified"]
    part = _PARTS.get(evidence.stage, evidence.stage)
    if evidence.signal is not None:
        words = f"{evidence.signal} in {part}"
        return _failed(
            kind, evidence, words, f"ended by {evidence.signal} in stage {evidence.stage}", target, status=Status.CRASHED
        )
    if not said.error:
        return _lost(evidence, target)
    words = f"{said.error}: {said.message}".strip(": ")
    return _failed(kind, evidence, words, _excerpt_of(kind, said), target)


def _of_built(evidence: Evidence, target: Target) -> _Reading:
    needs = evidence.metrics.get("shared")
    if not isinstance(needs, int) or needs <= target.shared_memory:
        return _Reading(evidence=evidence, status=Status.OK)
    words = f"would exceed shared memory: needs {needs} bytes, {target.name} allows {target.shared_memory}"
    failed = _failed(KINDS["shared-memory"], evidence, "would exceed shared memory", words, target)
    assert failed.failure is not None
    return evolve(failed, failure=evolve(failed.failure, stage="launch", prediction=True))


def _of_limit(name: str, words: str, evidence: Evidence, target: Target) -> _Reading:
    return _failed(KINDS[name], evidence, f"{name} in {_PARTS.get(evidence.stage, evidence.stage)}", words, target)


def _of_broken_toolchain(evidence: Evidence, target: Target) -> _Reading:
    said = symptoms.of(evidence)
    words = f"{said.error}: {said.message}" if said.error else evidence.stderr
    return _failed(KINDS["import"], evidence, words, _excerpt(words), target)


def _lost(evidence: Evidence, target: Target) -> _Reading:
    if evidence.signal is not None:
        end = f"{evidence.signal}, from outside"
    elif evidence.exit_code is not None:
        end = f"exit code {evidence.exit_code}"
    else:
        end = "an answer without a reason" if evidence.answered else "no trace of how it ended"
    words = f"no answer: {end}"
    return _failed(KINDS["unclassified"], evidence, words, _excerpt(f"{words}\n{evidence.stderr}"), target, status=Status.LOST)


def _failed(
    kind: Kind,
    evidence: Evidence,
    words: str,
    excerpt: str,
    target: Target,
    *,
    facts: dict[str, str] | None = None,
    status: Status | None = None,
) -> _Reading:
    """``words`` tell the defect (its fingerprint), ``excerpt`` tells the reader."""
    placed = {"target": target.name, "stage": evidence.stage, **(facts or {})}
    diagnosis = evidence.diagnosis
    failure = Failure(
        kind=kind.name,
        stage=evidence.stage,
        fingerprint=fingerprint(kind.name, words),
        excerpt=excerpt,
        advice=kind.advice.format_map(placed),
        pass_=diagnosis.pass_,
        op=diagnosis.op,
        location=diagnosis.location,
        reproducer=diagnosis.reproducer,
        ir=diagnosis.ir,
    )
    return _Reading(evidence=evidence, status=status or kind.status, failure=failure)


# --- several attempts --------------------------------------------------------------------------------------------------------


def _same(one: _Reading, other: _Reading) -> bool:
    """Whether two attempts tell of the same fate. A limit is a limit, even a tighter one hit a stage earlier."""
    if one.failure is None or other.failure is None:
        return one.failure is other.failure
    if one.failure.kind == other.failure.kind and one.failure.kind in _BY_LIMIT:
        return True
    return one.failure.fingerprint == other.failure.fingerprint


def _decisive(readings: Sequence[_Reading]) -> _Reading:
    """The last answer that failed, if any did: of attempts that disagree, the failure is what has to be looked at."""
    answers = [reading for reading in readings if reading.status.is_answer] or list(readings)
    failed = [reading for reading in answers if reading.failure is not None]
    return (failed or answers)[-1]


def _fullest(decisive: _Reading, readings: Sequence[_Reading]) -> _Reading:
    """Of all that tell the same as the decisive one: of a timeout the longest wait, else the decisive one itself."""
    if decisive.evidence.deadline is None:
        return decisive
    alike = [reading for reading in readings if _same(decisive, reading) and reading.evidence.deadline is not None]
    return max(alike, key=lambda reading: reading.evidence.deadline or 0.0)


def _with_diagnosis(reading: _Reading, readings: Sequence[_Reading]) -> Failure | None:
    """The failure with what any attempt of the same fate in the same stage found out; attempts alone know more."""
    failure = reading.failure
    if failure is None:
        return None
    alike = [other.evidence for other in readings if _same(reading, other) and other.evidence.stage == reading.evidence.stage]
    found = [evidence.diagnosis for evidence in sorted(alike, key=lambda evidence: not evidence.alone)]

    def first(name: str) -> str | None:
        return next((value for diagnosis in found if (value := _part(diagnosis, name))), None)

    return evolve(
        failure, pass_=first("pass_"), op=first("op"), location=first("location"), reproducer=first("reproducer"), ir=first("ir")
    )


def _part(diagnosis: Diagnosis, name: str) -> str | None:
    value: str | None = getattr(diagnosis, name)
    return value


# --- excerpts ----------------------------------------------------------------------------------------------------------------


def _excerpt_of(kind: Kind, said: Symptoms) -> str:
    """The lines that say it: the kernel's line with its caret and the message, or the compiler's own last words."""
    if said.assertion and kind.name in ("mlir-bitwidth-assert", "compiler-assert", "target-unknown"):
        lines = [said.assertion_line]
    elif said.ptxas and kind.name in ("ptxas", "target-unknown", "shared-memory"):
        lines = [f"ptxas: {said.ptxas}"]
    elif said.diagnostic_line and kind.name in ("ir-parse", "verifier", "pass-failure", "compiler-assert", "ptxas"):
        lines = [said.diagnostic_line]
    else:
        lines = [said.source, f"{said.error}: {said.message}".strip(": ")]
    return _excerpt("\n".join([*lines, *symptoms.failing_pass(said.output)]))


def _excerpt(text: str) -> str:
    """At most :data:`_LINES` lines of it, without empty ones."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join(lines if len(lines) <= _LINES else [*lines[: _LINES - 1], f"[… {len(lines) - _LINES + 1} lines left out …]"])
