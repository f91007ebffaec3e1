"""Which of a specialization's hints a failure needs: what to compile, and what follows from the results. Pure.

That it is ok without one of several hints does not say that the hint is needed: without any of them it may fail again. So a need is
reported only once the smallest set of hints was found with which alone it fails, and everything in the sentence was compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from attrs import evolve, frozen

from compat.bisect.answers import Need
from compat.bisect.fates import Fate, listed
from compat.model import Specialization

Hint = tuple[str, str]
"""What is known (``divisible_by_16``), and of which argument."""
Ask = Callable[[Sequence[frozenset[Hint]]], Sequence[Fate]]
"""Compiles a specialization with some of its hints alone, for each of several such sets."""

TOGETHER = "hints"
"""What they are called together."""


def given(spec: Specialization) -> tuple[Hint, ...]:
    """The hints of a specialization."""
    return tuple((kind, name) for kind, names in spec.compile.hints.items() for name in names)


def with_only(spec: Specialization, hints: AbstractSet[Hint]) -> Specialization:
    """A specialization with no other hints than these; nothing was ever declared of it."""
    kept: dict[str, Any] = {
        kind: tuple(name for name in names if (kind, name) in hints) for kind, names in spec.compile.hints.items()
    }
    return evolve(spec, expectations=(), compile=evolve(spec.compile, **kept))


def named(hint: Hint) -> str:
    """``divisible_by_16: source``."""
    return f"{hint[0]}: {hint[1]}"


@frozen(kw_only=True)
class Found:
    """What was compiled with some of the hints alone, and the smallest such set that still fails."""

    hints: tuple[Hint, ...]
    """All that are given."""
    fates: Mapping[frozenset[Hint], Fate]
    smallest: frozenset[Hint]

    def without(self, hint: Hint, of: AbstractSet[Hint] | None = None) -> Fate:
        """What becomes of it without one hint of a set, or of all; inconclusive where that was not compiled."""
        return self.fates.get(frozenset(self.hints if of is None else of) - {hint}, Fate.UNKNOWN)

    @property
    def without_any(self) -> Fate:
        """What becomes of it without hints."""
        return self.fates.get(frozenset(), Fate.UNKNOWN)


def first_sets(hints: Sequence[Hint]) -> tuple[frozenset[Hint], ...]:
    """The sets of hints that are compiled in any case: all but one each, and none."""
    return (*(frozenset(hints) - {hint} for hint in hints), frozenset()) if hints else ()


def most_further_sets(hints: Sequence[Hint], fates: Mapping[frozenset[Hint], Fate]) -> int:
    """How many sets a search compiles at most beside the first ones, by what is known of those."""
    first = [fates.get(each) for each in first_sets(hints)]
    if None not in first and (Fate.OK not in first or first[-1] is Fate.SAME):
        return 0
    return len(hints) * (len(hints) - 1) // 2


def search(hints: Sequence[Hint], ask: Ask) -> Found:
    """Find a smallest set of hints with which alone it fails: it fails with all of them, and that is known."""
    full = frozenset(hints)
    fates = {full: Fate.SAME}

    def known(sets: Sequence[frozenset[Hint]]) -> list[Fate]:
        new = [each for each in dict.fromkeys(sets) if each not in fates]
        if new:
            fates.update(zip(new, ask(new), strict=True))
        return [fates[each] for each in sets]

    first = known(first_sets(hints))
    smallest = full
    if not hints:
        return Found(hints=(), fates=fates, smallest=full)
    if Fate.OK in first and first[-1] is Fate.SAME:
        smallest = frozenset()
    elif Fate.OK in first:
        matter = frozenset(hint for hint, fate in zip(hints, first, strict=False) if fate is not Fate.SAME)
        smallest = matter if known([matter])[0] is Fate.SAME else full
        while fewer := _without_one(smallest, hints, known):
            smallest = fewer
    return Found(hints=tuple(hints), fates=fates, smallest=smallest)


def _without_one(
    hints: frozenset[Hint], order: Sequence[Hint], known: Callable[[Sequence[frozenset[Hint]]], list[Fate]]
) -> frozenset[Hint]:
    """The set without the first of its hints that it still fails without; empty where each one matters."""
    sets = [hints - {hint} for hint in order if hint in hints and len(hints) > 1]
    return next((each for each, fate in zip(sets, known(sets), strict=True) if fate is Fate.SAME), frozenset())


def need(found: Found) -> Need | None:
    """What may be said of the hints; ``None`` where leaving them out never helps."""
    dispensable = [hint for hint in found.hints if found.without(hint) is Fate.OK]
    if not dispensable and found.without_any is not Fate.OK:
        return None
    one = found.smallest if len(found.smallest) == 1 else frozenset(found.hints)
    (setting,) = (named(hint) for hint in one) if len(one) == 1 else (TOGETHER,)
    return Need(
        setting=setting,
        value="given",
        ok=tuple(_words(each, found) for each, fate in found.fates.items() if fate is Fate.OK),
        fails=tuple(
            _words(each, found) for each, fate in found.fates.items() if fate is Fate.SAME and len(each) < len(found.hints)
        ),
        sentence=_sentence(found, dispensable),
    )


def need_so_far(found: Found) -> Need | None:
    """What may be said where not every set was compiled; ``None`` where leaving out one hint, or all, has not helped by then."""
    helping = [each for each, fate in found.fates.items() if fate is Fate.OK]
    if not helping:
        return None
    fails = tuple(_words(each, found) for each, fate in found.fates.items() if fate is Fate.SAME)
    ok = tuple(_words(each, found) for each in helping)
    dispensable = [hint for hint in found.hints if found.without(hint) is Fate.OK]
    sentence = (
        f"ok without {'any one of ' if len(dispensable) > 1 else ''}{_the(dispensable)}" if dispensable else "ok without any hint"
    )
    return Need(setting=TOGETHER, value="given", ok=ok, fails=fails, sentence=sentence)


def smallest_change(found: Found) -> tuple[float, str] | None:
    """The fewest hints that can be left out so that it is ok: how far that is from what it was, and in words."""
    dispensable = [hint for hint in found.hints if found.without(hint) is Fate.OK]
    if dispensable:
        return 1.0, f"without {_the(dispensable[:1])}"
    return (1.0 + len(found.hints), "without any hint") if found.without_any is Fate.OK else None


def _words(hints: frozenset[Hint], found: Found) -> str:
    """A set of hints as a value: ``without divisible_by_16: source``, ``only divisible_by_16: source``, ``none``."""
    gone = [hint for hint in found.hints if hint not in hints]
    if not hints:
        return "none"
    if len(gone) == 1:
        return f"without {named(gone[0])}"
    return f"only {listed(named(hint) for hint in found.hints if hint in hints)}"


def _sentence(found: Found, dispensable: Sequence[Hint]) -> str:
    if found.without_any is Fate.SAME:
        one_of = "any one of " if len(dispensable) > 1 else ""
        return f"ok without {one_of}{_the(dispensable)}, but no hint is needed: fails the same way without any hint"
    smallest = [hint for hint in found.hints if hint in found.smallest]
    if len(found.hints) == 1:
        return f"needs {_the(smallest)} (ok without it)"
    fates = {hint: found.without(hint, found.smallest) for hint in smallest}
    needed = all(fate is Fate.OK for fate in fates.values()) and set(smallest) <= set(dispensable)
    if needed and found.without_any is Fate.OK:
        each = "it" if len(smallest) == 1 else "any one of them"
        return f"needs {_the(smallest)} ({_alone(found)}ok without {each}, and without any hint)"
    told = [f"fails with {_the(smallest)} alone"] if len(smallest) < len(found.hints) else ["fails with all hints"]
    told += _fates(found, fates)
    return ", ".join(told)


def _alone(found: Found) -> str:
    if len(found.smallest) == len(found.hints):
        return ""
    return f"fails with {'it' if len(found.smallest) == 1 else 'these'} alone, "


def _fates(found: Found, fates: Mapping[Hint, Fate]) -> list[str]:
    """Other results for the smallest set, if it is not plainly needed."""
    told = []
    if len(fates) > 1 and (ok := [named(hint) for hint, fate in fates.items() if fate is Fate.OK]):
        told.append(f"ok without {' or '.join(ok)} of these")
    replaced = [named(hint) for hint in fates if found.without(hint) is Fate.SAME]
    if replaced:
        told.append(f"also without {' or '.join(replaced)} when all others are given")
    if found.without_any is Fate.OK:
        told.append("ok without any hint")
    unknown = [named(hint) for hint, fate in fates.items() if fate is Fate.UNKNOWN and len(fates) > 1]
    if found.without_any is Fate.UNKNOWN:
        unknown.append("any hint")
    return [*told, *([f"without {' or '.join(unknown)} it is inconclusive"] if unknown else [])]


def _the(hints: Sequence[Hint]) -> str:
    return f"the hint{'s' if len(hints) > 1 else ''} {listed(map(named, hints))}"
