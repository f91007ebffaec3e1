"""Failure classes, and what a toolchain knows about its own failures.

A class has a meaning, the usual culprit, advice, and the signs that identify it. :class:`Knowledge`
holds a toolchain's classes, the
wording of its messages, and the program that works in each stage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cached_property

from attrs import Factory, asdict, frozen

from compat.diagnosis import symptoms
from compat.diagnosis.symptoms import Symptoms, Wording
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
    """One way in which a class shows: every given pattern must match the symptom of its name."""

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
    """The symptom that identifies the defect, and from which the fingerprint is made."""
    means: str | None = None
    """The text for the fingerprint instead, if releases say the same in different words.

    It may have facts in braces.
    """
    brief: bool = False
    """Only the first line of the message is shown to a reader: the rest is a command, with the
    names of temporary files.
    """
    by_pass: bool = False
    """Whether the pass tells defects apart, because the words do not."""
    advice: str | None = None
    """The advice, if it differs from that of the class."""

    @cached_property
    def patterns(self) -> Mapping[str, str]:
        """Symptom → pattern, of those given."""
        return asdict(
            self, filter=lambda field, value: value is not None and field.name not in _NO_PATTERNS
        )

    @cached_property
    def _compiled(self) -> tuple[tuple[str, re.Pattern[str]], ...]:
        """The same; one that is never tried is never compiled."""
        return tuple(
            (symptom, lazy_pattern(pattern, re.MULTILINE))
            for symptom, pattern in self.patterns.items()
        )

    def match(self, symptoms: Symptoms) -> dict[str, str] | None:
        """The facts that the patterns name (``(?P<name>…)``), or ``None`` if this is not it.

        A name that the words do not have is that of the function called there.
        """
        facts = {"called": symptoms.called}
        for symptom, pattern in self._compiled:
            match = pattern.search(getattr(symptoms, symptom))
            if match is None:
                return None
            facts.update(
                {
                    name: fact.replace("'", "") if fact else symptoms.called
                    for name, fact in match.groupdict().items()
                }
            )
        return facts

    def tell(self, symptoms: Symptoms, facts: Mapping[str, str]) -> str:
        """The words that distinguish this defect; ``facts`` are those that :meth:`match` found.

        For an exception without words, they are the place where it was raised.
        """
        if self.means:
            return self.means.format_map(facts)
        return getattr(symptoms, self.words) or f"{symptoms.error} in {symptoms.place}"


@frozen(kw_only=True)
class Prediction:
    """How a number of what was built tells that running it would fail."""

    number: Callable[[JsonMapping, Target], int | None]
    """The number of a build's metrics; ``None`` if they do not have it."""
    most: Callable[[JsonMapping, Target], int]
    """The largest number that is fine for such a build on a target."""
    stage: str
    """The stage behind the compile that would fail."""
    words: str
    """The text of the fingerprint."""
    excerpt: str
    """The text for readers. It may have ``{found}``, ``{most}`` and ``{target}``."""
    script_text: str
    """The text that a repro script prints for such a kernel, with numbers around it."""

    def excerpt_for(self, metrics: Mapping[str, object], target: Target) -> str | None:
        """The excerpt for a build with these metrics that would fail.

        It is ``None`` if nothing says that it would.
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
    """The next step for the author of a kernel. It may have facts in braces: those that its signs
    name, and ``{target}``, ``{stage}``.
    """
    status: Status = Status.REJECTED
    blame: Blame = Blame.KERNEL
    signs: tuple[Sign, ...] = ()
    """The signs in an attempt's texts; empty for classes that limits, the env or nothing else
    identify.
    """
    prediction: Prediction | None = None
    """The prediction from a cell that compiles; ``None`` without one."""
    at_import: str | None = None
    """A pattern over the names (the fact ``name``) with which it blames the toolchain even during
    the import of the kernel's file; ``None`` for classes that a file's own code can show as well.
    """
    of_pass: bool = False
    """Whether a pass of the compiler gave up, which tells little of why unless it comes with a
    diagnostic.
    """
    unreadable_ir: bool = False
    """Whether it says that the compiler could not read the IR it was given."""
    says_little: bool = False
    """Whether only the way it ended identifies a failure of this class. Then failures in different
    passes are different ones.
    """
    lacks: bool = False
    """Whether it means that this release lacks a feature of the kernel: not yet, or no longer. A
    history then names the releases with the feature, and not a defect.
    """


_IN_PACKAGE = r'"[^"\n]*/site-packages/%s/(?P<path>[^"\n]*)"'
_NO_PATTERNS = ("words", "means", "brief", "by_pass", "advice")


@frozen(kw_only=True, slots=False)
class Knowledge:
    """A toolchain's failures."""

    toolchain: str
    """The name of the toolchain."""
    classes: tuple[FailureClass, ...]
    """In order of precedence: the first with a matching sign wins. Those of
    :mod:`compat.diagnosis.common` are among them.
    """
    wording: Wording = Factory(Wording)
    programs: Mapping[str, str] = Factory(dict)
    """Stage → the program at work in it, which no release renames: all there is to tell apart
    failures that say nothing.
    """

    @cached_property
    def by_name(self) -> Mapping[str, FailureClass]:
        """The classes by their names."""
        return {failure_class.name: failure_class for failure_class in self.classes}

    def own(self, common: FailureClass) -> FailureClass:
        """One of the classes that every toolchain has, with this one's advice."""
        return self.by_name.get(common.name, common)

    def program(self, stage: str) -> str:
        """The program at work in a stage; the stage itself where that is not said."""
        return self.programs.get(stage, stage)

    def symptoms(self, evidence: Evidence) -> Symptoms:
        """The words of one attempt."""
        return symptoms.of(evidence, self.wording)

    def recognise(
        self, symptoms: Symptoms, classes: Iterable[FailureClass] | None = None
    ) -> tuple[FailureClass, Sign, dict[str, str]] | None:
        """The first class with a matching sign, that sign, and the facts that it names.

        It is ``None`` if no class knows these symptoms.
        """
        for failure_class in self.classes if classes is None else classes:
            for sign in failure_class.signs:
                facts = sign.match(symptoms)
                if facts is not None:
                    return failure_class, sign, facts
        return None

    def is_in_own_code(self, traceback: str) -> bool:
        """Whether the innermost frame of a traceback is in the toolchain's own code.

        Code that looks at the machine does not count.
        """
        frame = traceback.rpartition("  File ")[2]
        match = (
            re.match(_IN_PACKAGE % re.escape(self.wording.package), frame)
            if self.wording.package
            else None
        )
        machine = self.wording.machine
        return match is not None and not (machine and re.match(machine, match["path"]))
