"""Failure classes, and what a toolchain knows about its own failures.

A class has a meaning, the usual culprit, advice, and the signs that identify it. :class:`Knowledge`
holds a toolchain's classes, the wording of its messages, and the program that runs in each stage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cached_property

from attrs import Factory, asdict, frozen

from compat.diagnosis import symptoms
from compat.diagnosis.symptoms import MessagePatterns, Symptoms
from compat.model import Evidence, Status, Target
from compat.text import JsonMapping, lazy_pattern


class Blame(StrEnum):
    """Who is usually at fault for a failure."""

    KERNEL = "kernel"
    COMPILER = "compiler"
    TOOLCHAIN = "toolchain"
    ENV = "env"
    LIMIT = "limit"


@frozen(kw_only=True, slots=False)
class Sign:
    """One way to recognise a class: every pattern that is set matches the symptom of its name."""

    error: str | None = None
    message: str | None = None
    source: str | None = None
    assertion: str | None = None
    diagnostic: str | None = None
    assembler: str | None = None
    output: str | None = None
    stage: str | None = None
    place: str | None = None
    raiser: str | None = None
    statement: str | None = None
    target: str | None = None
    words: str = "message"
    """Name of the symptom that identifies the defect. The fingerprint is made from its text."""
    means: str | None = None
    """Text that replaces the symptom in the fingerprint, if releases word the same message
    differently.

    It may contain facts in braces.
    """
    brief: bool = False
    """Whether excerpts show only the first line of the message. The rest is a command, with the
    names of temporary files.
    """
    by_pass: bool = False
    """Whether the fingerprint includes the pass, because the text alone does not distinguish
    defects.
    """
    advice: str | None = None
    """The advice, if it differs from that of the class."""

    @cached_property
    def patterns(self) -> Mapping[str, str]:
        """Symptom → pattern, for the patterns that are set."""
        return asdict(
            self, filter=lambda field, value: value is not None and field.name not in _NO_PATTERNS
        )

    @cached_property
    def _lazy_patterns(self) -> tuple[tuple[str, re.Pattern[str]], ...]:
        """The pairs of :attr:`patterns`. A pattern is compiled when it is first tried."""
        return tuple(
            (symptom, lazy_pattern(pattern, re.MULTILINE))
            for symptom, pattern in self.patterns.items()
        )

    def match(self, symptoms: Symptoms) -> dict[str, str] | None:
        """Return the facts that the patterns name (``(?P<name>…)``).

        Returns ``None`` if a pattern does not match. A named group without a text becomes the
        function that is called at the caret (:attr:`Symptoms.called_function`).
        """
        facts = {"called": symptoms.called_function}
        for symptom, pattern in self._lazy_patterns:
            match = pattern.search(getattr(symptoms, symptom))
            if match is None:
                return None
            facts.update(
                {
                    name: fact.replace("'", "") if fact else symptoms.called_function
                    for name, fact in match.groupdict().items()
                }
            )
        return facts

    def tell(self, symptoms: Symptoms, facts: Mapping[str, str]) -> str:
        """Return the text that distinguishes this defect from others.

        ``facts`` come from :meth:`match`. For an exception without a message, the text names the
        place where it was raised.
        """
        if self.means:
            return self.means.format_map(facts)
        return getattr(symptoms, self.words) or f"{symptoms.error} in {symptoms.place}"


@frozen(kw_only=True)
class Prediction:
    """A rule that predicts from a metric of a built cell that its launch would fail."""

    number: Callable[[JsonMapping, Target], int | None]
    """Metrics and target → the number to check; ``None`` if the metrics lack it."""
    most: Callable[[JsonMapping, Target], int]
    """Metrics and target → the largest number with which a launch works."""
    stage: str
    """The stage after the compile that would fail."""
    words: str
    """The text of the fingerprint."""
    excerpt: str
    """The text for readers. It may have ``{found}``, ``{most}`` and ``{target}``."""
    script_text: str
    """The text that a repro script prints for such a kernel, with numbers around it."""

    def excerpt_for(self, metrics: Mapping[str, object], target: Target) -> str | None:
        """Return the excerpt for a build with these metrics whose launch would fail.

        Returns ``None`` if this rule predicts no failure.
        """
        number = self.number(metrics, target)
        if not isinstance(number, int) or number <= (most := self.most(metrics, target)):
            return None
        return self.excerpt.format(found=number, most=most, target=target.name)


@frozen(kw_only=True)
class FailureClass:
    """A failure class."""

    name: str
    title: str
    meaning: str
    advice: str
    """The next step for the author of a kernel. It may contain facts in braces: those that the
    signs name, ``{target}`` and ``{stage}``.
    """
    status: Status = Status.REJECTED
    blame: Blame = Blame.KERNEL
    signs: tuple[Sign, ...] = ()
    """The signs in an attempt's texts. Empty for classes that a limit, the env or the absence of
    other signs identifies.
    """
    prediction: Prediction | None = None
    """The rule that predicts this failure for a cell that compiles; ``None`` without one."""
    at_import: str | None = None
    """Pattern for the fact ``name``. If it matches, the toolchain is at fault even during the
    import of the kernel's file. ``None`` for classes that a file's own code can cause as well.
    """
    of_pass: bool = False
    """Whether a pass of the compiler gave up. That says little about the cause, unless a diagnostic
    comes with it.
    """
    unreadable_ir: bool = False
    """Whether the class means that the compiler could not read its input IR."""
    says_little: bool = False
    """Whether only the end of the process identifies a failure of this class. Then failures in
    different passes are different failures.
    """
    missing_feature: bool = False
    """Whether the class means that the release lacks a feature that the kernel needs, because it
    came later or was removed. An account then names the releases with the feature, not a defect.
    """


_IN_PACKAGE = r'"[^"\n]*/site-packages/%s/(?P<path>[^"\n]*)"'
_NO_PATTERNS = ("words", "means", "brief", "by_pass", "advice")


@frozen(kw_only=True, slots=False)
class Knowledge:
    """The knowledge about the failures of one toolchain."""

    toolchain: str
    classes: tuple[FailureClass, ...]
    """The classes in order of precedence: the first with a matching sign wins. They include the
    classes of :mod:`compat.diagnosis.common`.
    """
    wording: MessagePatterns = Factory(MessagePatterns)
    programs: Mapping[str, str] = Factory(dict)
    """Stage → the program that runs in it, under a name that is the same in all releases. It
    distinguishes failures without a message.
    """

    @cached_property
    def by_name(self) -> Mapping[str, FailureClass]:
        """The classes by their names."""
        return {failure_class.name: failure_class for failure_class in self.classes}

    def own(self, common: FailureClass) -> FailureClass:
        """Return this toolchain's form of a common class, which may have advice of its own."""
        return self.by_name.get(common.name, common)

    def program(self, stage: str) -> str:
        """Return the program that runs in a stage; the stage itself if none is declared."""
        return self.programs.get(stage, stage)

    def symptoms(self, evidence: Evidence) -> Symptoms:
        """Return the symptoms in the texts of one attempt."""
        return symptoms.of(evidence, self.wording)

    def recognise(self, symptoms: Symptoms) -> tuple[FailureClass, Sign, dict[str, str]] | None:
        """Return the first class with a matching sign, that sign, and the facts that it names.

        Returns ``None`` if no sign matches these symptoms.
        """
        for failure_class in self.classes:
            for sign in failure_class.signs:
                facts = sign.match(symptoms)
                if facts is not None:
                    return failure_class, sign, facts
        return None

    def is_in_own_code(self, traceback: str) -> bool:
        """Whether the innermost frame of a traceback is in the toolchain's own code.

        Code that inspects the machine does not count (:attr:`MessagePatterns.machine`).
        """
        frame = traceback.rpartition("  File ")[2]
        match = (
            re.match(_IN_PACKAGE % re.escape(self.wording.package), frame)
            if self.wording.package
            else None
        )
        machine = self.wording.machine
        return match is not None and not (machine and re.match(machine, match["path"]))
