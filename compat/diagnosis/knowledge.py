"""What a toolchain knows of its own failures: all that differs between toolchains when a failure is told.

In: the words of an attempt. Out: the failure class they belong to. Every toolchain has one :class:`Knowledge`
(``compat.toolchains``), made of its failure classes, of how it words things, and of which program works in which stage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from attrs import Factory, frozen

from compat.diagnosis import symptoms
from compat.diagnosis.failure_class import FailureClass, Sign
from compat.diagnosis.symptoms import Symptoms, Wording
from compat.model import Evidence


@frozen(kw_only=True, slots=False)
class Knowledge:
    """A toolchain's failures."""

    toolchain: str
    """The name of the toolchain."""
    classes: tuple[FailureClass, ...]
    """In the order of precedence: the first with a matching sign wins. Those of :mod:`compat.diagnosis.common` are among them."""
    wording: Wording = Factory(Wording)
    programs: Mapping[str, str] = Factory(dict)
    """Stage → the program at work in it, which no release renames: all there is to tell apart failures that say nothing."""

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
        self, said: Symptoms, classes: Iterable[FailureClass] | None = None
    ) -> tuple[FailureClass, Sign, dict[str, str]] | None:
        """The first class with a matching sign, that sign, and the facts it names; ``None`` if no class knows these symptoms."""
        for failure_class in self.classes if classes is None else classes:
            for sign in failure_class.signs:
                facts = sign.match(said)
                if facts is not None:
                    return failure_class, sign, facts
        return None

    def is_in_own_code(self, traceback: str) -> bool:
        """Whether the innermost frame of a traceback is in the toolchain's own code, where that does not look at the machine."""
        frame = traceback.rpartition("  File ")[2]
        found = re.match(_IN_PACKAGE % re.escape(self.wording.package), frame) if self.wording.package else None
        machine = self.wording.machine
        return found is not None and not (machine and re.match(machine, found["path"]))


_IN_PACKAGE = r'"[^"\n]*/site-packages/%s/(?P<path>[^"\n]*)"'
