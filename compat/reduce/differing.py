"""Whether a candidate goes on to compute otherwise in one release than in another, by how launches of it behaved. Pure.

What a reduced kernel has to compute nobody knows: it is no longer what its problem has references for, and held to these an empty
kernel would be the smallest that is wrong. So it is held to itself, as a release builds it in which the kernel is right.
"""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from compat.launch.comparing import COMPARED, Behaviour, BuildComparison

SHARE = 0.1
"""The part of what the kernel itself is off that a candidate has to be off at least: less may be rounding."""


class DifferenceKind(StrEnum):
    """What is to stay."""

    WRONG = "wrong"
    """It computes other numbers than in a good release, beyond the tolerance of the problem."""
    UNSTABLE = "unstable"
    """Its launches differ, and those in a good release do not."""


@frozen(kw_only=True)
class LaunchDifference:
    """How a release has to differ from the good ones."""

    kind: DifferenceKind
    least: float = 0.0
    """How far off it has to be, by the largest number that comes out."""

    def like(self, original: BuildComparison) -> LaunchDifference:
        """The same, of candidates of this original."""
        off = min((behaviour.off for behaviour in original.behaviours if not behaviour.good), default=0.0)
        return LaunchDifference(kind=self.kind, least=SHARE * min(off, 1.0))

    def is_in(self, compared: BuildComparison) -> bool:
        """Whether launches showed it."""
        good = [behaviour for behaviour in compared.behaviours if behaviour.good]
        bad = [behaviour for behaviour in compared.behaviours if not behaviour.good]
        if compared.status != COMPARED or not good or not bad or any(behaviour.outside for behaviour in compared.behaviours):
            return False
        return all(map(_is_sound, good)) and any(behaviour.wrote for behaviour in good) and all(map(self._differs, bad))

    def _differs(self, bad: Behaviour) -> bool:
        if self.kind is DifferenceKind.UNSTABLE:
            return bad.differing > 0
        return bad.off > 0 and bad.off >= self.least

    def explain(self, compared: BuildComparison) -> str:
        """Why launches did not show it."""
        if compared.status != COMPARED:
            return f"{compared.status}{f' ({compared.reason})' if compared.reason else ''}"
        for behaviour in compared.behaviours:
            if behaviour.outside:
                return behaviour.outside
            if behaviour.good and not _is_sound(behaviour):
                return _unsound(behaviour)
        return (
            "launches did not differ" if self.kind is DifferenceKind.UNSTABLE else "the numbers did not differ beyond the tolerance"
        )


def _is_sound(good: Behaviour) -> bool:
    """Whether others can be held to it.

    Every launch is the same, whatever lies around its inputs; all are numbers, and those of the first good release.
    """
    return good.differing == 0 and good.finite and good.off == 0 and not good.reads_outside


def _unsound(good: Behaviour) -> str:
    if good.differing:
        return "launches differ in a good release, too"
    if good.reads_outside:
        return "a good release computes with what it reads outside of its inputs"
    return "the good releases differ from each other" if good.finite else "a good release computes what is no number"
