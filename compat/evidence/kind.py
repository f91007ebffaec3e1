"""What a failure class is: what it means, whose fault it usually is, what to do, and the signs by which it is recognised."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache

from attrs import asdict, frozen

from compat.evidence.symptoms import Symptoms
from compat.model import Status


class Blame(StrEnum):
    """Whose fault a failure usually is."""

    KERNEL = "kernel"
    COMPILER = "compiler"
    TOOLCHAIN = "toolchain"
    ENV = "env"
    LIMIT = "limit"


@frozen(kw_only=True)
class Sign:
    """One way in which a class shows: every pattern given must be found in the symptom of its name."""

    error: str | None = None
    message: str | None = None
    source: str | None = None
    assertion: str | None = None
    diagnostic: str | None = None
    ptxas: str | None = None
    output: str | None = None
    stage: str | None = None
    words: str = "message"
    """The symptom that tells the defect: the fingerprint is made of it."""
    means: str | None = None
    """What the fingerprint is made of instead, where releases say the same in different words. May hold facts in braces."""

    def match(self, symptoms: Symptoms) -> dict[str, str] | None:
        """The facts that the patterns name (``(?P<name>…)``), or ``None`` if this is not it."""
        facts: dict[str, str] = {}
        for symptom, pattern in _patterns(self):
            found = re.search(pattern, getattr(symptoms, symptom), re.MULTILINE)
            if found is None:
                return None
            facts.update(found.groupdict())
        return facts

    def tell(self, symptoms: Symptoms, facts: Mapping[str, str]) -> str:
        """What this defect is told apart by; ``facts`` are those that :meth:`match` found."""
        return self.means.format_map(facts) if self.means else getattr(symptoms, self.words)


@frozen(kw_only=True)
class Kind:
    """A failure class."""

    name: str
    title: str
    meaning: str
    status: Status
    advice: str
    """What a kernel author can do. May hold facts in braces: those its signs name, and ``{target}``, ``{stage}``."""
    blame: Blame
    signs: tuple[Sign, ...] = ()
    """How it shows in an attempt's words; empty for classes that are told by limits, by the env, or by nothing else."""


@cache
def _patterns(sign: Sign) -> tuple[tuple[str, str], ...]:
    fields = asdict(sign, filter=lambda field, value: value is not None and field.name not in ("words", "means"))
    return tuple(fields.items())
