"""Finds the outcome of a cell from its evidence: its status, and the failure if there is one. Pure.

:mod:`compat.diagnosis.symptoms` reads the messages. This module answers two questions in turn:

- What is the answer of one attempt? ``_Reader.read``: limits and the way a process ended first,
  then :meth:`compat.diagnosis.failure_class.Knowledge.recognise`.
- What is the answer of several attempts? :func:`classify`: attempts *alone* outrank the one among
  neighbours. Attempts are compared by fingerprint, because the same defect ends one with a signal
  and raises an exception in the other.

A missing answer is never ``ok``, and counts against the kernel only if there is evidence for that.
A signal that a process does not raise by its own fault (SIGKILL, SIGXCPU, …) came from outside,
most likely from the system's out-of-memory killer, a limit of the shell or an operator: ``lost``.
Any exit without a message is ``lost``, too, with any exit code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath

from attrs import asdict, evolve, frozen

from compat.diagnosis import common, symptoms
from compat.diagnosis.failure_class import FailureClass, Knowledge, Sign
from compat.diagnosis.symptoms import Symptoms, fingerprint
from compat.model import SOURCE_STAGE, Evidence, Failure, Outcome, Status, Target, ToolchainWarning
from compat.model.evidence import StandInPackages
from compat.text import TEXT_LIMIT, JsonObject, lazy_pattern, limit_length, limit_width, printable

_FROM_OUTSIDE = frozenset(
    {
        *("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGSTOP", "SIGUSR1", "SIGUSR2"),
        *("SIGXCPU", "SIGXFSZ"),  # ulimit -t, ulimit -f
    }
)
_BY_LIMIT = frozenset(
    failure_class.name
    for failure_class in (common.TIMEOUT, common.OUT_OF_MEMORY, common.SOURCE_TIMEOUT)
)
_LINES = 12
"""The most lines of an excerpt."""
_LAST = 3
"""Lines of an excerpt that are from the end of a longer text."""
_WIDTH = 400
"""The most characters in a line of an excerpt."""


def classify(attempts: Sequence[Evidence], *, target: Target, knowledge: Knowledge) -> Outcome:
    """The outcome of all attempts at one cell, by its toolchain's knowledge of failures.

    The first attempt of a run may have been made among neighbours, the others alone. There are
    several runs if merged stores disagree. Raises ``ValueError`` if there are no attempts.
    """
    if not attempts:
        raise ValueError("no attempt, no outcome")
    readings = _Reader(target, knowledge).readings(attempts)
    counting = _counting(readings)
    alone = [reading for reading in counting if reading.evidence.alone]
    decisive = _decisive(alone or counting)
    flaky = any(not _same(decisive, other) for other in alone)
    flaky = flaky or any(not _same(decisive, other) for other in _decisive_of_runs(counting))
    flaky = flaky or (
        len(alone) == 1
        and decisive.status is Status.OK
        and any(not _same(decisive, other) for other in counting)
    )
    fullest = _fullest(decisive, readings)
    evidence = fullest.evidence
    return Outcome(
        status=fullest.status,
        stage=fullest.failure.stage if fullest.failure else evidence.stage,
        failure=_with_diagnosis(fullest, readings),
        flaky=flaky,
        attempts=tuple(reading.summary for reading in readings),
        warnings=tuple(
            ToolchainWarning(type=printable(warning.type), message=printable(warning.message))
            for warning in evidence.warnings
        ),
        metrics=evidence.metrics,
        stages=evidence.stages,
        seconds=evidence.seconds,
        stood_in=evidence.stood_in and _printable(evidence.stood_in),
    )


def agree(one: Evidence, other: Evidence, *, target: Target, knowledge: Knowledge) -> bool:
    """Whether two attempts at one cell have the same result, in any form.

    If they do not, another attempt alone should decide.
    """
    first, *others = _counting(_Reader(target, knowledge).readings((one, other)))
    return all(_same(first, second) for second in others)


def broken_env_outcome(installer_output: str, toolchain: str) -> Outcome:
    """The outcome of every cell of an env that could not be built.

    ``installer_output`` is what the installer printed, and ``toolchain`` is the env's.
    """
    install = common.INSTALL
    failure = Failure(
        failure_class=install.name,
        toolchain=toolchain,
        stage=SOURCE_STAGE,
        fingerprint=fingerprint(install.name, installer_output, toolchain=toolchain),
        excerpt=_excerpt(installer_output),
        advice=install.advice,
    )
    return Outcome(
        status=install.status,
        stage=SOURCE_STAGE,
        failure=failure,
        attempts=(f"{install.status} {install.name}",),
    )


# --- one attempt ----------------------------------------------------------------------------------


@frozen(kw_only=True)
class _Reading:
    """The answer of one attempt."""

    evidence: Evidence
    status: Status
    failure: Failure | None = None
    whatever_the_pass: str = ""
    """The failure's fingerprint without the pass, which an attempt among neighbours often cannot
    name.
    """

    @property
    def summary(self) -> str:
        return f"{self.status} {self.failure.failure_class}" if self.failure else str(self.status)


class _Reader:
    """Reads attempts at one target, with the toolchain's knowledge of its failures."""

    def __init__(self, target: Target, knowledge: Knowledge) -> None:
        self.target, self.knowledge = target, knowledge

    def readings(self, attempts: Sequence[Evidence]) -> list[_Reading]:
        """The answer of each attempt, with the facts of the others.

        If one attempt finds out whether the toolchain knows the target, the fact holds for all. If
        MLIR writes reproducers, as in a diagnostics run, it catches signals, and may only report
        that a pass failed. If another attempt died of a signal in that stage, this one did so too.
        """
        target_known = next(
            (attempt.target_known for attempt in attempts if attempt.target_known is not None), None
        )
        readings = [self.read(evolve(evidence, target_known=target_known)) for evidence in attempts]
        died = next(
            (reading.evidence for reading in readings if self.is_wordless_signal(reading)), None
        )
        if died is None:
            return readings
        return [
            (
                self.by_signal(reading.evidence, died)
                if self.is_wordless_pass(reading, died.stage)
                else reading
            )
            for reading in readings
        ]

    def is_wordless_signal(self, reading: _Reading) -> bool:
        return (
            reading.evidence.signal is not None and _class_of(reading) == common.COMPILER_CRASH.name
        )

    def is_wordless_pass(self, reading: _Reading, stage: str) -> bool:
        if (
            reading.failure is None
            or reading.evidence.stage != stage
            or reading.evidence.signal is not None
        ):
            return False
        failure_class = self.knowledge.by_name[reading.failure.failure_class]
        silent = failure_class.of_pass and not self.knowledge.symptoms(reading.evidence).diagnostic
        return silent or failure_class.name == common.COMPILER_CRASH.name

    def by_signal(self, evidence: Evidence, died: Evidence) -> _Reading:
        """Classify an attempt by the signal that ended ``died``, the only information there is."""
        message = f"{died.signal} in {self.knowledge.program(died.stage)}"
        within = self.knowledge.symptoms(evidence).pass_
        excerpt = f"ended by {died.signal} in stage {died.stage}"
        return self.failure_reading(
            common.COMPILER_CRASH, evidence, message, excerpt, within=within
        )

    def read(self, evidence: Evidence) -> _Reading:
        if evidence.refused is not None:
            return self.failure_reading(
                common.MACHINE, evidence, "refused by the machine", _excerpt(evidence.refused)
            )
        if evidence.toolchain_broken:
            return self.of_broken_toolchain(evidence)
        if evidence.complete:
            return self.of_built(evidence)
        if not evidence.answered:
            if evidence.stage == SOURCE_STAGE and (
                evidence.deadline is not None or evidence.memory is not None
            ):
                return self.of_source(evidence)
            if evidence.deadline is not None:
                return self.of_limit(
                    common.TIMEOUT,
                    f"timed out after {evidence.deadline:g} s, in stage {evidence.stage}",
                    evidence,
                )
            if evidence.memory is not None:
                return self.of_limit(
                    common.OUT_OF_MEMORY,
                    f"stopped at {evidence.memory / 2**20:.0f} MiB, in stage {evidence.stage}",
                    evidence,
                )
            if evidence.signal in _FROM_OUTSIDE or (
                evidence.signal is None and not evidence.exit_code
            ):
                return self.loss_reading(evidence)
        if evidence.stage == SOURCE_STAGE and not self.is_about_toolchain(evidence):
            return self.of_source(evidence)
        return self.by_message(evidence)

    def by_message(self, evidence: Evidence) -> _Reading:
        """Classify an attempt by its message, else by its signal. Without either, it is lost."""
        symptom_texts = self.knowledge.symptoms(evidence)
        match = self.knowledge.recognise(symptom_texts)
        if match is not None:
            failure_class, sign, facts = match
            advice = (
                _of_optional_import(symptom_texts, evidence, facts)
                or sign.advice
                or failure_class.advice
            )
            message = sign.tell(symptom_texts, facts)
            within = symptom_texts.pass_ if sign.by_pass else ""
            return self.failure_reading(
                failure_class,
                evidence,
                message,
                self.excerpt_of(symptom_texts, sign) or message,
                facts=facts,
                within=within,
                advice=advice,
            )
        if evidence.signal is not None:
            return self.by_signal(evidence, evidence)
        if not symptom_texts.error:
            return self.loss_reading(evidence)
        message = f"{symptom_texts.error}: {symptom_texts.message or symptom_texts.place}".strip(
            ": "
        )
        return self.failure_reading(
            common.UNCLASSIFIED, evidence, message, self.excerpt_of(symptom_texts)
        )

    def is_about_toolchain(self, evidence: Evidence) -> bool:
        """Whether an exception during the import of the kernel's file is the toolchain's answer.

        It is if the toolchain does not have a name that the file uses, or if its own code, such as
        a decorator, refuses its input.
        """
        if not evidence.answered:
            return False
        match = self.knowledge.recognise(self.knowledge.symptoms(evidence))
        if match is not None:
            failure_class, _, facts = match
            if failure_class.status is Status.SOURCE_BROKEN:
                return False
            if failure_class.at_import is not None and re.search(
                failure_class.at_import, facts.get("name", "")
            ):
                return True
        return bool(evidence.raised) and self.knowledge.is_in_own_code(
            evidence.raised[-1].traceback
        )

    def of_source(self, evidence: Evidence) -> _Reading:
        """Classify an attempt that could not import the kernel's file.

        It says nothing about the kernel.
        """
        if evidence.deadline is not None:
            return self.failure_reading(
                common.SOURCE_TIMEOUT,
                evidence,
                common.TIMEOUT.name,
                f"importing it did not end within {evidence.deadline:g} s",
            )
        if evidence.memory is not None:
            excerpt = f"stopped at {evidence.memory / 2**20:.0f} MiB while it was imported"
            return self.failure_reading(common.SOURCE_IMPORT, evidence, "out of memory", excerpt)
        symptom_texts = self.knowledge.symptoms(evidence)
        match = self.knowledge.recognise(symptom_texts)
        if match is not None and match[0].status is Status.SOURCE_BROKEN:
            failure_class, sign, facts = match
            return self.failure_reading(
                failure_class,
                evidence,
                sign.tell(symptom_texts, facts),
                self.excerpt_of(symptom_texts, sign),
                facts=facts,
            )
        if evidence.signal is not None:
            excerpt = f"ended by {evidence.signal} while it was imported"
            return self.failure_reading(common.SOURCE_IMPORT, evidence, evidence.signal, excerpt)
        if not symptom_texts.error:
            return self.loss_reading(evidence)
        message = f"{symptom_texts.error}: {symptom_texts.message}".strip(": ")
        missing = re.match(r"name '(?P<name>\w+)' is not defined", symptom_texts.message)
        advice = _of_optional_import(
            symptom_texts, evidence, missing.groupdict() if missing else {}
        ) or _of_absent_metadata(evidence)
        return self.failure_reading(
            common.SOURCE_IMPORT, evidence, message, self.excerpt_of(symptom_texts), advice=advice
        )

    def of_built(self, evidence: Evidence) -> _Reading:
        """The answer of a finished compile.

        It is ok, unless its metrics predict that a launch would fail.
        """
        for failure_class in self.knowledge.classes:
            prediction = failure_class.prediction
            excerpt = prediction.excerpt_for(evidence.metrics, self.target) if prediction else None
            if prediction and excerpt is not None:
                failed = self.failure_reading(failure_class, evidence, prediction.words, excerpt)
                assert failed.failure is not None
                return evolve(
                    failed, failure=evolve(failed.failure, stage=prediction.stage, prediction=True)
                )
        return _Reading(evidence=evidence, status=Status.OK)

    def of_limit(self, limit: FailureClass, excerpt: str, evidence: Evidence) -> _Reading:
        return self.failure_reading(
            limit, evidence, f"{limit.name} in {self.knowledge.program(evidence.stage)}", excerpt
        )

    def of_broken_toolchain(self, evidence: Evidence) -> _Reading:
        symptom_texts = self.knowledge.symptoms(evidence)
        message = (
            f"{symptom_texts.error}: {symptom_texts.message}"
            if symptom_texts.error
            else evidence.stderr
        )
        # Without an exception, no package is missing: for example, the interpreter does not start.
        advice = "" if evidence.raised else common.TOOLCHAIN_DAMAGED.advice
        return self.failure_reading(
            common.IMPORT, evidence, message, _excerpt(message), advice=advice
        )

    def loss_reading(self, evidence: Evidence) -> _Reading:
        if evidence.signal is not None:
            end = f"{evidence.signal}, from outside"
        elif evidence.exit_code is not None:
            end = f"exit code {evidence.exit_code}"
        else:
            end = "an answer without a reason" if evidence.answered else "no trace of how it ended"
        message = f"no answer: {end}"
        return self.failure_reading(
            common.UNCLASSIFIED,
            evidence,
            message,
            _excerpt(f"{message}\n{evidence.stderr}"),
            status=Status.LOST,
            advice=common.LOST_ADVICE,
        )

    def failure_reading(
        self,
        failure_class: FailureClass,
        evidence: Evidence,
        message: str,
        excerpt: str,
        *,
        facts: dict[str, str] | None = None,
        status: Status | None = None,
        within: str = "",
        advice: str = "",
    ) -> _Reading:
        """The reading for a failure of a class, of this toolchain or of every toolchain.

        ``message`` identifies the defect, in its fingerprint. ``within`` is the pass, if the
        message does not name it. ``excerpt`` is for the reader.
        """
        failure_class = self.knowledge.own(failure_class)
        placed = {"target": self.target.name, "stage": evidence.stage, **(facts or {})}
        advice = (
            f"{_of_other_module(evidence)}{(advice or failure_class.advice).format_map(placed)}"
        )
        diagnosis = evidence.diagnosis
        failure = Failure(
            failure_class=failure_class.name,
            toolchain=self.knowledge.toolchain,
            stage=evidence.stage,
            fingerprint=self.fingerprint(
                failure_class, f"{message} in {within}" if within else message
            ),
            excerpt=excerpt,
            advice=printable(advice),
            pass_=_printable_or_none(diagnosis.pass_),
            op=_printable_or_none(diagnosis.op),
            location=(
                None
                if failure_class.status is Status.UNSUPPORTED
                else _printable_or_none(diagnosis.location)
            ),
            reproducer=diagnosis.reproducer,
            ir=diagnosis.ir,
        )
        if status is None:  # a failure that ends the process is a crash, whatever its message
            status = (
                Status.CRASHED
                if failure_class.status is Status.REJECTED and not evidence.answered
                else failure_class.status
            )
        return _Reading(
            evidence=evidence,
            status=status,
            failure=failure,
            whatever_the_pass=self.fingerprint(failure_class, message),
        )

    def excerpt_of(self, symptom_texts: Symptoms, sign: Sign | None = None) -> str:
        """The lines that show the failure, and the names of failed passes.

        The lines are those of the symptom that the class is recognised by. Other classes show the
        kernel's line with its caret, and the exception.
        """
        symptom = next(
            (name for name in _LINES_OF if sign and sign.patterns.get(name, "^$") != "^$"), None
        )
        if sign is not None and sign.brief:
            lines = [_exception_text(symptom_texts).partition("\n")[0]]
        else:
            lines = (
                [getattr(symptom_texts, _LINES_OF[symptom])]
                if symptom
                else list(_symptom_lines(symptom_texts))
            )
        name = self.knowledge.wording.assembler_name
        passes = [
            place for place, _ in self.knowledge.wording.reader.failed_passes(symptom_texts.output)
        ]
        return _excerpt(
            "\n".join(
                [
                    f"{name}: {lines[0]}" if symptom == "assembler" and name else lines[0],
                    *lines[1:],
                    *passes,
                ]
            )
        )

    def fingerprint(self, failure_class: FailureClass, message: str) -> str:
        return fingerprint(
            failure_class.name,
            message,
            self.knowledge.wording.forget,
            toolchain=self.knowledge.toolchain,
        )


def _class_of(reading: _Reading) -> str | None:
    return reading.failure.failure_class if reading.failure else None


# --- advice about imports -------------------------------------------------------------------------


_ABSENT = lazy_pattern(
    r"(?P<question>importlib\.metadata\.version\('[^']+'\)) is 'absent' \((?P<place>[^)]+)\)"
)
"""The stand-ins' answer that the tree's own package has no metadata."""
_UNPARSABLE = ("SyntaxError", "IndentationError", "TabError")
"""Errors about a file of which no line ran."""


def _of_other_module(evidence: Evidence) -> str:
    """The advice that names the module whose code fails in an import, and its importer or caller.

    It is empty if that module is the kernel's own file, or if the failure follows the import.
    """
    path, _, number = (evidence.at or "").rpartition(":")
    if evidence.stage != SOURCE_STAGE or not evidence.source or not path or path == evidence.source:
        return ""
    failing, own = PurePath(path), PurePath(evidence.source)
    frames = symptoms.frames_of(evidence.raised)
    paths = [frame["path"] for frame in frames]
    is_cut = any(symptoms.FRAMES_LEFT_OUT in link.traceback for link in evidence.raised)
    is_unparsable = any(link.type in _UNPARSABLE for link in evidence.raised)
    if evidence.raised and not (path in paths or is_cut or is_unparsable):
        return ""
    folder = next(parent for parent in own.parents if failing.is_relative_to(parent))
    # The path that a reader sees begins with the name of the package.
    folder = folder.parent if str(folder / "__init__.py") in paths else folder
    line = evidence.quoted.get(evidence.at or "", "").strip()
    at = paths.index(path) if path in paths else 0
    before, first = frames[:at], frames[at:][:1]
    is_called = any(frame["path"] == path and frame["function"] != "<module>" for frame in first)
    says = (
        f"{'' if is_called else 'Importing '}{failing.relative_to(folder)} fails at line {number}"
        + (f" (`{line}`)" if line else "")
    )
    if outside := [
        frame
        for frame in before
        if frame["path"] != path and PurePath(frame["path"]).is_relative_to(folder)
    ]:
        says += (
            f"; line {outside[-1]['line']} of {PurePath(outside[-1]['path']).relative_to(folder)}"
            f" {'calls' if is_called else 'imports'} it"
        )
    if is_cut:
        return f"{says}. "
    if evidence.source in paths:
        return f"{says}. The kernel's own file, {own.relative_to(folder)}, needs that module. "
    return (
        f"{says}. The kernel's own file, {own.relative_to(folder)}, is not at fault: the import did"
        " not reach it. "
    )


def _of_absent_metadata(evidence: Evidence) -> str:
    """The advice for a package that asked for its own version in vain; empty in other cases.

    Such a package may turn its kernels off, so that they are plain functions.
    """
    answers = evidence.stood_in.answers if evidence.stood_in else ()
    absent = next(filter(None, map(_ABSENT.match, answers)), None)
    if absent is None:
        return ""
    says = (
        f"{absent['place']} asks `{absent['question']}`, and the folder of the package has no"
        " metadata. Code that catches the error may turn the kernels off. Put the metadata beside"
        " the package: with setuptools, `python setup.py egg_info` or `pip install -e .` writes it."
        " Then run again with --again."
    )
    return says.replace("{", "{{").replace("}", "}}")


def _of_optional_import(
    symptom_texts: Symptoms, evidence: Evidence, facts: Mapping[str, str]
) -> str:
    """The advice for a name that is missing or ``None`` because its import failed and was caught.

    It is empty in other cases.
    """
    used = (
        re.findall(r"(\w+)\s*[.(]", symptom_texts.source)
        if symptom_texts.message.startswith("'NoneType' object")
        else []
    )
    name = next(
        (
            candidate
            for candidate in (facts.get("name", ""), *used)
            if candidate in evidence.optional
        ),
        None,
    )
    if name is None:
        return ""
    certain = bool(used) or symptom_texts.message.endswith("is not defined")
    place, _, statement = evidence.optional[name].partition(": ")
    caught = (
        f"`{statement}` ({place.rpartition('/')[2]}) is in a `try` whose `except` goes on"
        " without it"
    )
    says = (
        f"`{name}` {'is' if certain else 'may be'} missing because its import failed: {caught}. Run"
        f" that import in this env to see why. Check for `{name}` before you use it, or write out"
        " what it does."
    )
    return says.replace("{", "{{").replace("}", "}}")


# --- several attempts -----------------------------------------------------------------------------


def _counting(readings: Sequence[_Reading]) -> Sequence[_Reading]:
    """The readings that count.

    Diagnostics make a compile up to ten times slower. If an attempt without them failed within the
    limits, a limit that another one reached with them says nothing about the kernel.
    """

    def limited(reading: _Reading) -> bool:
        return _class_of(reading) in _BY_LIMIT

    if any(
        not (reading.evidence.alone or reading.failure is None or limited(reading))
        and reading.status.is_answer
        for reading in readings
    ):
        return [
            reading for reading in readings if not (reading.evidence.alone and limited(reading))
        ]
    return readings


def _same(one: _Reading, other: _Reading) -> bool:
    """Whether two attempts have the same result.

    Attempts that reached the same kind of limit do, even if a tighter limit ended one a stage
    earlier.
    """
    if one.failure is None or other.failure is None:
        return one.failure is other.failure
    if (
        one.failure.failure_class == other.failure.failure_class
        and one.failure.failure_class in _BY_LIMIT
    ):
        return True
    if one.evidence.alone and other.evidence.alone:
        return one.failure.fingerprint == other.failure.fingerprint
    return one.whatever_the_pass == other.whatever_the_pass


def _decisive(readings: Sequence[_Reading]) -> _Reading:
    """The last answer that is a failure, else the last answer.

    If attempts disagree, the user has to examine the failure.
    """
    answers = [reading for reading in readings if reading.status.is_answer] or list(readings)
    failed = [reading for reading in answers if reading.failure is not None]
    return (failed or answers)[-1]


def _decisive_of_runs(readings: Sequence[_Reading]) -> list[_Reading]:
    """The decisive reading of each run; a run begins with an attempt that was not made alone."""
    starts = [at for at, reading in enumerate(readings) if not at or not reading.evidence.alone]
    runs = [readings[start:end] for start, end in pairwise([*starts, len(readings)])]
    return [
        _decisive([reading for reading in run if reading.evidence.alone] or run) for run in runs
    ]


def _fullest(decisive: _Reading, readings: Sequence[_Reading]) -> _Reading:
    """The reading with the most information among those with the decisive answer.

    For a timeout it is the one with the longest deadline, else the decisive one itself.
    """
    if decisive.evidence.deadline is None:
        return decisive
    alike = [
        reading
        for reading in readings
        if _same(decisive, reading) and reading.evidence.deadline is not None
    ]
    return max(alike, key=lambda reading: reading.evidence.deadline or 0.0)


def _with_diagnosis(reading: _Reading, readings: Sequence[_Reading]) -> Failure | None:
    """The failure with the diagnosis of all attempts with the same result in the same stage.

    Attempts made alone come first, because they know more.
    """
    failure = reading.failure
    if failure is None:
        return None
    alike = [
        other.evidence
        for other in readings
        if _same(reading, other) and other.evidence.stage == reading.evidence.stage
    ]
    diagnoses = [
        evidence.diagnosis for evidence in sorted(alike, key=lambda evidence: not evidence.alone)
    ]

    def first(name: str) -> str | None:
        values = (getattr(diagnosis, name) for diagnosis in diagnoses)
        return next((printable(value) for value in values if value), None)

    names = ("pass_", "op", "location", "reproducer", "ir")
    facts: JsonObject = {name: first(name) for name in names}
    return evolve(failure, **facts)


def _printable_or_none(text: str | None) -> str | None:
    return None if text is None else printable(text)


# --- excerpts -------------------------------------------------------------------------------------


_LINES_OF = {
    "assertion": "assertion_line",
    "assembler": "assembler",
    "diagnostic": "diagnostic_line",
}
"""Symptom that a class is recognised by → the symptom that shows it to a reader. The exception
shows all other classes.
"""


def _exception_text(symptom_texts: Symptoms) -> str:
    """The exception's name and message, as ``ValueError: too many``.

    Messages of CuTe DSL begin with the name.
    """
    error, message = symptom_texts.error, symptom_texts.message
    return (
        message if error and message.startswith(f"{error}:") else f"{error}: {message}".strip(": ")
    )


def _symptom_lines(symptom_texts: Symptoms) -> Iterator[str]:
    yield symptom_texts.source
    by = f" by `{symptom_texts.statement}`" if symptom_texts.statement else ""
    if symptom_texts.wordless_cause:
        at = f", raised in {symptom_texts.place}{by}" if symptom_texts.place else ""
        yield f"{symptom_texts.wordless_cause}{at}"
    yield _exception_text(symptom_texts)
    if symptom_texts.last_output:
        yield f"printed before: {symptom_texts.last_output}"
    if (
        not symptom_texts.message
        and symptom_texts.place
        and symptom_texts.error != "CompileTimeAssertionFailure"
    ):
        yield f"raised in {symptom_texts.place}{by}"


def _excerpt(text: str) -> str:
    """At most :data:`_LINES` printable lines of a text, of at most :data:`_WIDTH` characters each.

    Empty lines are left out. A longer text keeps its first lines, and the last ones, which have the
    cause.
    """
    text = limit_width(limit_length(text, TEXT_LIMIT), _WIDTH)
    lines = [line.rstrip() for line in printable(text).split("\n") if line.strip()]
    if len(lines) > _LINES:
        left_out = len(lines) - _LINES + 1
        lines[_LINES - 1 - _LAST : -_LAST] = [f"[… {left_out} lines left out …]"]
    return "\n".join(lines)


def _printable(stood_in: StandInPackages) -> StandInPackages:
    """The record with printable texts."""
    fields = asdict(stood_in).items()
    return StandInPackages(**{name: tuple(map(printable, texts)) for name, texts in fields})
