"""The failure classes, as data: what each means, whose fault it usually is, what to do, and how to recognise it.

A class is one entry in :mod:`compat.evidence.kinds`, recognised by its *signs*; the first class with a matching sign wins, so the
order matters: what is certain (a deadline) before what is guessed, what names a cause (an assertion) before what only names a
consequence (a failed pass). Adding a class takes one entry there, one fixture in ``tests/classify/fixtures`` and one heading in
``docs/failure-classes.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from compat.evidence.kind import Blame, Kind, Sign
from compat.evidence.kinds import compiler, kernel, surroundings
from compat.evidence.symptoms import Symptoms

__all__ = ["KINDS", "Blame", "Kind", "Sign", "recognise"]

_ENTRIES = (*surroundings.KINDS, *compiler.KINDS, *kernel.KINDS)

KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in _ENTRIES})
"""Name → class: env and limits, toolchain, compiler, kernel; the last is for what fits none."""


def recognise(symptoms: Symptoms, kinds: Iterable[Kind] = _ENTRIES) -> tuple[Kind, Sign, dict[str, str]] | None:
    """The first class with a matching sign, that sign, and the facts it names; ``None`` if no class knows these symptoms."""
    for kind in kinds:
        for sign in kind.signs:
            facts = sign.match(symptoms)
            if facts is not None:
                return kind, sign, facts
    return None
