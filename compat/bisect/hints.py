"""Which of a specialization's hints a failure needs: what to compile, and what follows from the results. Pure.

That it is ok without one of several hints does not say that the hint is needed: without any of them it may fail again. So a need is
reported only once the smallest set of hints was found with which alone it fails, and everything in the sentence was compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from attrs import evolve, frozen

from compat.bisect.answers import Effect, SettingNeed, listed
from compat.model import Specialization

Hint = tuple[str, str]
"""What is known (``divisible_by_16``), and of which argument."""
Ask = Callable[[Sequence[frozenset[Hint]]], Sequence[Effect]]
"""Compiles a specialization with some of its hints alone, for each of several such sets."""

TOGETHER = "hints"
"""What they are called together."""


def hints_of(spec: Specialization) -> tuple[Hint, ...]:
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
class HintTrials:
    """What was compiled with some of the hints alone, and the smallest such set that still fails."""

    hints: tuple[Hint, ...]
    """All that are given."""
    effects: Mapping[frozenset[Hint], Effect]
    smallest: frozenset[Hint]

    def without(self, hint: Hint, of: AbstractSet[Hint] | None = None) -> Effect:
        """What becomes of it without one hint of a set, or of all; inconclusive where that was not compiled."""
        return self.effects.get(frozenset(self.hints if of is None else of) - {hint}, Effect.UNKNOWN)

    @property
    def without_any(self) -> Effect:
        """What becomes of it without hints."""
        return self.effects.get(frozenset(), Effect.UNKNOWN)


def first_sets(hints: Sequence[Hint]) -> tuple[frozenset[Hint], ...]:
    """The sets of hints that are compiled in any case: all but one each, and none."""
    return (*(frozenset(hints) - {hint} for hint in hints), frozenset()) if hints else ()


def most_further_sets(hints: Sequence[Hint], effects: Mapping[frozenset[Hint], Effect]) -> int:
    """How many sets a search compiles at most beside the first ones, by what is known of those."""
    first = [effects.get(kept) for kept in first_sets(hints)]
    if None not in first and (Effect.OK not in first or first[-1] is Effect.SAME):
        return 0
    return len(hints) * (len(hints) - 1) // 2


def search(hints: Sequence[Hint], ask: Ask) -> HintTrials:
    """Find a smallest set of hints with which alone it fails: it fails with all of them, and that is known."""
    full = frozenset(hints)
    effects = {full: Effect.SAME}

    def effects_of(sets: Sequence[frozenset[Hint]]) -> list[Effect]:
        new = [kept for kept in dict.fromkeys(sets) if kept not in effects]
        if new:
            effects.update(zip(new, ask(new), strict=True))
        return [effects[kept] for kept in sets]

    first = effects_of(first_sets(hints))
    smallest = full
    if not hints:
        return HintTrials(hints=(), effects=effects, smallest=full)
    if Effect.OK in first and first[-1] is Effect.SAME:
        smallest = frozenset()
    elif Effect.OK in first:
        matter = frozenset(hint for hint, effect in zip(hints, first, strict=False) if effect is not Effect.SAME)
        smallest = matter if effects_of([matter])[0] is Effect.SAME else full
        while fewer := _without_one(smallest, hints, effects_of):
            smallest = fewer
    return HintTrials(hints=tuple(hints), effects=effects, smallest=smallest)


def _without_one(
    hints: frozenset[Hint], order: Sequence[Hint], effects_of: Callable[[Sequence[frozenset[Hint]]], list[Effect]]
) -> frozenset[Hint]:
    """The set without the first of its hints that it still fails without; empty where each one matters."""
    sets = [hints - {hint} for hint in order if hint in hints and len(hints) > 1]
    return next((kept for kept, effect in zip(sets, effects_of(sets), strict=True) if effect is Effect.SAME), frozenset())


def need(found: HintTrials) -> SettingNeed | None:
    """What may be said of the hints; ``None`` where leaving them out never helps."""
    dispensable = [hint for hint in found.hints if found.without(hint) is Effect.OK]
    if not dispensable and found.without_any is not Effect.OK:
        return None
    one = found.smallest if len(found.smallest) == 1 else frozenset(found.hints)
    (setting,) = (named(hint) for hint in one) if len(one) == 1 else (TOGETHER,)
    return SettingNeed(
        setting=setting,
        value="given",
        ok=tuple(_words(kept, found) for kept, effect in found.effects.items() if effect is Effect.OK),
        fails=tuple(
            _words(kept, found) for kept, effect in found.effects.items() if effect is Effect.SAME and len(kept) < len(found.hints)
        ),
        sentence=_sentence(found, dispensable),
    )


def need_so_far(found: HintTrials) -> SettingNeed | None:
    """What may be said where not every set was compiled; ``None`` where leaving out one hint, or all, has not helped by then."""
    helping = [kept for kept, effect in found.effects.items() if effect is Effect.OK]
    if not helping:
        return None
    fails = tuple(_words(kept, found) for kept, effect in found.effects.items() if effect is Effect.SAME)
    ok = tuple(_words(kept, found) for kept in helping)
    dispensable = [hint for hint in found.hints if found.without(hint) is Effect.OK]
    sentence = (
        f"ok without {'any one of ' if len(dispensable) > 1 else ''}{_the(dispensable)}" if dispensable else "ok without any hint"
    )
    return SettingNeed(setting=TOGETHER, value="given", ok=ok, fails=fails, sentence=sentence)


def smallest_change(found: HintTrials) -> tuple[float, str] | None:
    """The fewest hints that can be left out so that it is ok: how far that is from what it was, and in words."""
    dispensable = [hint for hint in found.hints if found.without(hint) is Effect.OK]
    if dispensable:
        return 1.0, f"without {_the(dispensable[:1])}"
    return (1.0 + len(found.hints), "without any hint") if found.without_any is Effect.OK else None


def _words(hints: frozenset[Hint], found: HintTrials) -> str:
    """A set of hints as a value: ``without divisible_by_16: source``, ``only divisible_by_16: source``, ``none``."""
    removed = [hint for hint in found.hints if hint not in hints]
    if not hints:
        return "none"
    if len(removed) == 1:
        return f"without {named(removed[0])}"
    return f"only {listed(named(hint) for hint in found.hints if hint in hints)}"


def _sentence(found: HintTrials, dispensable: Sequence[Hint]) -> str:
    if found.without_any is Effect.SAME:
        one_of = "any one of " if len(dispensable) > 1 else ""
        return f"ok without {one_of}{_the(dispensable)}, but no hint is needed: fails the same way without any hint"
    smallest = [hint for hint in found.hints if hint in found.smallest]
    if len(found.hints) == 1:
        return f"needs {_the(smallest)} (ok without it)"
    effects = {hint: found.without(hint, found.smallest) for hint in smallest}
    needed = all(effect is Effect.OK for effect in effects.values()) and set(smallest) <= set(dispensable)
    if needed and found.without_any is Effect.OK:
        which = "it" if len(smallest) == 1 else "any one of them"
        return f"needs {_the(smallest)} ({_alone(found)}ok without {which}, and without any hint)"
    statements = [f"fails with {_the(smallest)} alone"] if len(smallest) < len(found.hints) else ["fails with all hints"]
    statements += _effects(found, effects)
    return ", ".join(statements)


def _alone(found: HintTrials) -> str:
    if len(found.smallest) == len(found.hints):
        return ""
    return f"fails with {'it' if len(found.smallest) == 1 else 'these'} alone, "


def _effects(found: HintTrials, effects: Mapping[Hint, Effect]) -> list[str]:
    """Other results for the smallest set, if it is not plainly needed."""
    statements = []
    if len(effects) > 1 and (ok := [named(hint) for hint, effect in effects.items() if effect is Effect.OK]):
        statements.append(f"ok without {' or '.join(ok)} of these")
    replaced = [named(hint) for hint in effects if found.without(hint) is Effect.SAME]
    if replaced:
        statements.append(f"also without {' or '.join(replaced)} when all others are given")
    if found.without_any is Effect.OK:
        statements.append("ok without any hint")
    unknown = [named(hint) for hint, effect in effects.items() if effect is Effect.UNKNOWN and len(effects) > 1]
    if found.without_any is Effect.UNKNOWN:
        unknown.append("any hint")
    return [*statements, *([f"without {' or '.join(unknown)} it is inconclusive"] if unknown else [])]


def _the(hints: Sequence[Hint]) -> str:
    return f"the hint{'s' if len(hints) > 1 else ''} {listed(map(named, hints))}"
