"""Changes of a specialization, one setting or some hints at a time, and their effects. Pure.

If a cell is ok without one of several hints, the hint need not be the cause: without any of them
the cell may fail again. So the search first finds a smallest set of hints that is sufficient for
the failure, and only then reports a need. Everything in the sentence was compiled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import log2
from typing import Any

from attrs import evolve, frozen

from compat import toolchains
from compat.bisect.answers import Effect, SettingNeed
from compat.model import Specialization, arguments, constexprs
from compat.text import JsonObject, group_by_key, join_words

UNSET = "default"
"""The shown value of an option that is not set, so that the compiler chooses."""
_WARPS, _CTAS, _STAGES = (1, 2, 4, 8, 16), (1, 2, 4), (1, 2, 3, 4, 5)
_OPTION_VALUES = {"num_warps": _WARPS, "num_stages": _STAGES, "num_ctas": _CTAS}
_ALWAYS = ("num_warps", "num_stages")
"""Options that are worth a try even if a specialization leaves them to the compiler."""
_USUAL = {"num_warps": 4, "num_stages": 3}
"""The usual choices of compilers for options without a value."""
_GROWTH = {"num_warps": -1.0, "num_stages": 0.5, "num_ctas": 0.0}
"""Exponent of the growth of a compile's work with an option. With fewer warps, each has more work.

Other settings are sizes, with the exponent 1.
"""
_FLOATS = ("fp16", "bf16", "fp32")


@frozen(kw_only=True)
class SettingChange:
    """A specialization that differs from the failing one in one setting."""

    setting: str
    was: str
    value: str
    distance: float
    """The distance from the original; reports show the smallest change that helps."""
    spec: Specialization
    growth: float = 0.0
    """The growth of the compile's work as a logarithm to base 2, estimated from sizes; negative for
    less work.
    """


def changes(spec: Specialization) -> tuple[SettingChange, ...]:
    """Every change of a constexpr, an option or a launch argument that is worth a try.

    :func:`search_hints` tries hints.
    """
    spec = evolve(spec, expectations=())  # no expectation covers a changed spec
    changed_specs: list[SettingChange] = []
    for name, value in spec.compile.options.items():
        changed_specs += _of_option(spec, name, value)
    for name in _ALWAYS:
        if (
            name
            in toolchains.look_up(spec.toolchain).language.options.keys() - spec.compile.options
        ):
            changed_specs += _of_option(spec, name, None)
    for name, value in spec.compile.constexprs.items():
        for new in _others(value):
            changed = evolve(
                spec,
                compile=evolve(spec.compile, constexprs={**spec.compile.constexprs, name: new}),
            )
            changed_specs.append(_change(changed, name, value, new))
    for name, value in spec.compile.launch.items():
        for new in _other_launch_values(value):
            changed = evolve(
                spec, compile=evolve(spec.compile, launch={**spec.compile.launch, name: new})
            )
            was, becomes = arguments.argument_text(value), arguments.argument_text(new)
            changed_specs.append(
                SettingChange(setting=name, was=was, value=becomes, distance=1.0, spec=changed)
            )
    return tuple(changed_specs)


def _of_option(spec: Specialization, name: str, value: object) -> list[SettingChange]:
    candidates = (
        [new for new in _OPTION_VALUES.get(name, ()) if new != value]
        if name in _OPTION_VALUES
        else _others(value)
    )
    options = spec.compile.options
    changed_specs = [
        _change(_with_options(spec, {**options, name: new}), name, value, new) for new in candidates
    ]
    if name in options:
        rest = {key: option for key, option in options.items() if key != name}
        changed_specs.append(
            SettingChange(
                setting=name,
                was=value_in_words(value),
                value=UNSET,
                distance=1.5,
                spec=_with_options(spec, rest),
            )
        )
    return changed_specs


def _with_options(spec: Specialization, options: Mapping[str, object]) -> Specialization:
    return evolve(spec, compile=evolve(spec.compile, options=options))


def _other_launch_values(value: object) -> list[object]:
    """Other values for a launch argument that launchers distinguish from it.

    Launchers distinguish facts of tensors, such as alignment, and the integers 1, multiples of 16
    and others.
    """
    if arguments.is_tensor(value):
        dtype, facts = arguments.dtype_of(value), arguments.facts_of(value)
        return [
            arguments.tensor(dtype, **{**facts, fact: not value}) for fact, value in facts.items()
        ]
    if isinstance(value, bool):
        return [not value]
    return (
        [new for new in (1, 16, 17) if _kind(new) != _kind(value)] if isinstance(value, int) else []
    )


def _kind(number: int) -> tuple[bool, bool]:
    return number == 1, number % 16 == 0


def _others(value: object) -> Sequence[object]:
    """Other values for a constexpr or an option."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return _nearby_sizes(value)
    if isinstance(value, Mapping) and value.get("dtype") in _FLOATS:
        return [{"dtype": other} for other in _FLOATS if other != value["dtype"]]
    return []


def _nearby_sizes(value: int) -> list[int]:
    """Sizes around one: half, double, and powers of two from an eighth of it to four times as much.

    From 64 on, they go up to twice as much. 0 and 1 are flags, and have only each other. A negative
    number has none.
    """
    if value in (0, 1):
        return [1 - value]
    if value < 0:
        return []
    powers = [1 << power for power in range(value.bit_length() + 2)]
    near = [power for power in powers if value / 8 <= power <= value * (4 if value < 64 else 2)]
    return sorted({*near, value // 2, value * 2} - {value, 0})


def _change(spec: Specialization, setting: str, old: Any, new: object) -> SettingChange:
    number = new if isinstance(new, int) and not isinstance(new, bool) else None
    before = _USUAL.get(setting) if old is None else old
    comparable = number and isinstance(before, int) and before > 0
    steps = log2(number / before) if number and before and comparable else 0.0
    distance = abs(steps) if comparable and old is not None else 1.0
    growth = steps * _GROWTH.get(setting, 1.0)
    return SettingChange(
        setting=setting,
        was=value_in_words(old),
        value=value_in_words(new),
        distance=distance,
        spec=spec,
        growth=growth,
    )


def value_in_words(value: object) -> str:
    """A value in the words of an answer."""
    return UNSET if value is None else constexprs.constexpr_text(value)


def in_order(
    trials: Iterable[SettingChange],
) -> tuple[tuple[SettingChange, ...], tuple[SettingChange, ...]]:
    """The changes that do not increase the work of a compile, and the changes that do.

    Changes without more work begin with the nearest change of each setting. The others begin with
    the smallest increase. A smaller size is quicker to compile, and more likely to be within the
    limits at which kernels fail.
    """
    small: list[tuple[int, SettingChange]] = []
    large: list[SettingChange] = []
    count = Counter[str]()
    for change in sorted(trials, key=lambda change: change.distance):
        if change.growth > 0:
            large.append(change)
        else:
            small.append((count[change.setting], change))
            count[change.setting] += 1
    nearest_first = tuple(change for _, change in sorted(small, key=lambda pair: pair[0]))
    return nearest_first, tuple(sorted(large, key=lambda change: change.growth))


# --- needs ----------------------------------------------------------------------------------------


def smallest(trials: Iterable[tuple[SettingChange, Effect]]) -> SettingChange | None:
    """The smallest change that makes the cell ok; ``None`` if none does."""
    helping = [change for change, effect in trials if effect is Effect.OK]
    return min(helping, key=lambda change: change.distance, default=None)


def describe_change(change: SettingChange) -> str:
    """A change in words: ``with num_warps=4 instead of 8``."""
    if change.value == UNSET:
        return f"with {change.setting} left to its default instead of {change.was}"
    return f"with {change.setting}={change.value} instead of {change.was}"


def needs(trials: Sequence[tuple[SettingChange, Effect]]) -> tuple[SettingNeed, ...]:
    """The settings that the failure depends on: a change of one alone makes the cell ok.

    The smallest such change comes first.
    """
    by_setting = group_by_key((trial[0].setting, trial) for trial in trials)
    ranked = [
        (best.distance, _need(group)) for group in by_setting.values() if (best := smallest(group))
    ]
    return tuple(need for _, need in sorted(ranked, key=lambda pair: pair[0]))


def _need(trials: Sequence[tuple[SettingChange, Effect]]) -> SettingNeed:
    first = trials[0][0]
    ok = tuple(change.value for change, effect in trials if effect is Effect.OK)
    fails = tuple(change.value for change, effect in trials if effect is Effect.SAME)
    return SettingNeed(
        setting=first.setting, value=first.was, ok=ok, fails=fails, sentence=_sentence(trials)
    )


def _sentence(trials: Sequence[tuple[SettingChange, Effect]]) -> str:
    """The effects of a setting's compiled values, in words."""
    first = trials[0][0]
    values = {
        effect: [change.value for change, its_effect in trials if its_effect is effect]
        for effect in Effect
    }
    fails = _in_order([first.was, *values[Effect.SAME]])
    describe_change = (
        f"fails with {first.setting} = {join_words(fails)}, ok with"
        f" {join_words(_in_order(values[Effect.OK]))}"
    )
    return describe_change + (
        f" (inconclusive with {join_words(_in_order(values[Effect.UNKNOWN]))})"
        if values[Effect.UNKNOWN]
        else ""
    )


def _in_order(values: Sequence[str]) -> list[str]:
    """Sort values: sizes in ascending order, then other values."""
    return sorted(values, key=lambda value: (0, int(value)) if value.isdigit() else (1, 0))


# --- hints ----------------------------------------------------------------------------------------


Hint = tuple[str, str]
"""A fact (``divisible_by_16``), and its argument."""
AskHints = Callable[[Sequence[frozenset[Hint]]], Sequence[Effect]]
"""Compiles a specialization with only some of its hints, for each of several such sets."""

TOGETHER = "hints"
"""The setting's name for several hints together."""


def hints_of(spec: Specialization) -> tuple[Hint, ...]:
    """The hints of a specialization."""
    return tuple((kind, name) for kind, names in spec.compile.hints.items() for name in names)


def with_only(spec: Specialization, hints: AbstractSet[Hint]) -> Specialization:
    """The specialization with only these hints. It has no expectations."""
    names_by_kind: JsonObject = {
        kind: tuple(name for name in names if (kind, name) in hints)
        for kind, names in spec.compile.hints.items()
    }
    return evolve(spec, expectations=(), compile=evolve(spec.compile, **names_by_kind))


def hint_name(hint: Hint) -> str:
    """The name of a hint: ``divisible_by_16: source``."""
    return f"{hint[0]}: {hint[1]}"


@frozen(kw_only=True)
class HintTrials:
    """The effects of compiles with only some hints, and the smallest set that still fails."""

    hints: tuple[Hint, ...]
    """All hints of the specialization."""
    effects: Mapping[frozenset[Hint], Effect]
    smallest: frozenset[Hint]

    def without(self, hint: Hint, of: AbstractSet[Hint] | None = None) -> Effect:
        """The effect of leaving out one hint of a set, or all.

        It is inconclusive if that was not compiled.
        """
        return self.effects.get(
            frozenset(self.hints if of is None else of) - {hint}, Effect.UNKNOWN
        )

    @property
    def without_any(self) -> Effect:
        """The effect of leaving out all hints."""
        return self.effects.get(frozenset(), Effect.UNKNOWN)

    @property
    def dispensable(self) -> tuple[Hint, ...]:
        """The hints without which the cell is ok, each left out alone."""
        return tuple(hint for hint in self.hints if self.without(hint) is Effect.OK)

    def need(self, setting: str, sentence: str) -> SettingNeed:
        """The need for hints, with the sets that were compiled."""
        ok, fails = (
            tuple(
                _hints_text(hint_set, self)
                for hint_set, its_effect in self.effects.items()
                if its_effect is effect and len(hint_set) < len(self.hints)
            )
            for effect in (Effect.OK, Effect.SAME)
        )
        return SettingNeed(setting=setting, value="given", ok=ok, fails=fails, sentence=sentence)


def first_sets(hints: Sequence[Hint]) -> tuple[frozenset[Hint], ...]:
    """The sets of hints that are compiled in any case: all but one each, and none."""
    return (*(frozenset(hints) - {hint} for hint in hints), frozenset()) if hints else ()


def most_further_sets(hints: Sequence[Hint], effects: Mapping[frozenset[Hint], Effect]) -> int:
    """The most sets that a search compiles after the first ones, given the effects of those."""
    first = [effects.get(hint_set) for hint_set in first_sets(hints)]
    if None not in first and (Effect.OK not in first or first[-1] is Effect.SAME):
        return 0
    return len(hints) * (len(hints) - 1) // 2


def search_hints(hints: Sequence[Hint], ask: AskHints) -> HintTrials:
    """Find a smallest set of hints that is sufficient for the failure.

    The cell is known to fail with all of them.
    """
    full = frozenset(hints)
    effects = {full: Effect.SAME}

    def effects_of(sets: Sequence[frozenset[Hint]]) -> list[Effect]:
        new = [hint_set for hint_set in dict.fromkeys(sets) if hint_set not in effects]
        if new:
            effects.update(zip(new, ask(new), strict=True))
        return [effects[hint_set] for hint_set in sets]

    first = effects_of(first_sets(hints))
    smallest = full
    if Effect.OK in first and first[-1] is Effect.SAME:
        smallest = frozenset()
    elif Effect.OK in first:
        matter = frozenset(
            hint for hint, effect in zip(hints, first, strict=False) if effect is not Effect.SAME
        )
        smallest = matter if effects_of([matter])[0] is Effect.SAME else full
        while fewer := _without_one(smallest, hints, effects_of):
            smallest = fewer
    return HintTrials(hints=tuple(hints), effects=effects, smallest=smallest)


def _without_one(
    hints: frozenset[Hint],
    order: Sequence[Hint],
    effects_of: Callable[[Sequence[frozenset[Hint]]], list[Effect]],
) -> frozenset[Hint]:
    """The set without the first hint that the failure does not need; empty if it needs each one."""
    sets = [hints - {hint} for hint in order if hint in hints and len(hints) > 1]
    return next(
        (
            hint_set
            for hint_set, effect in zip(sets, effects_of(sets), strict=True)
            if effect is Effect.SAME
        ),
        frozenset(),
    )


def hint_need(trials: HintTrials) -> SettingNeed | None:
    """The need for hints; ``None`` if leaving them out never helps."""
    if not trials.dispensable and trials.without_any is not Effect.OK:
        return None
    one = trials.smallest if len(trials.smallest) == 1 else frozenset(trials.hints)
    (setting,) = (hint_name(hint) for hint in one) if len(one) == 1 else (TOGETHER,)
    return trials.need(setting, _hint_sentence(trials))


def hint_need_so_far(trials: HintTrials) -> SettingNeed | None:
    """The need that is certain although not every set was compiled.

    It is ``None`` if the cell is ok with none of the compiled sets.
    """
    if Effect.OK not in trials.effects.values():
        return None
    dispensable = trials.dispensable
    sentence = (
        f"ok without {'any one of ' if len(dispensable) > 1 else ''}{_the(dispensable)}"
        if dispensable
        else "ok without any hint"
    )
    return trials.need(TOGETHER, sentence)


def fewest_left_out(trials: HintTrials) -> tuple[float, str] | None:
    """The fewest hints whose absence makes the cell ok: the distance, and the change in words."""
    if trials.dispensable:
        return 1.0, f"without {_the(trials.dispensable[:1])}"
    return (
        (1.0 + len(trials.hints), "without any hint") if trials.without_any is Effect.OK else None
    )


def _hints_text(hints: frozenset[Hint], trials: HintTrials) -> str:
    """A set of hints as a value of a setting.

    Examples are ``without divisible_by_16: source``, ``only divisible_by_16: source`` and ``none``.
    """
    removed = [hint for hint in trials.hints if hint not in hints]
    if not hints:
        return "none"
    if len(removed) == 1:
        return f"without {hint_name(removed[0])}"
    return f"only {join_words(hint_name(hint) for hint in trials.hints if hint in hints)}"


def _hint_sentence(trials: HintTrials) -> str:
    dispensable = trials.dispensable
    if trials.without_any is Effect.SAME:
        one_of = "any one of " if len(dispensable) > 1 else ""
        return (
            f"ok without {one_of}{_the(dispensable)}, but no hint is needed: fails the same way"
            " without any hint"
        )
    smallest = [hint for hint in trials.hints if hint in trials.smallest]
    if len(trials.hints) == 1:
        return f"needs {_the(smallest)} (ok without it)"
    effects = {hint: trials.without(hint, trials.smallest) for hint in smallest}
    needed = all(effect is Effect.OK for effect in effects.values()) and set(smallest) <= set(
        dispensable
    )
    if needed and trials.without_any is Effect.OK:
        which = "it" if len(smallest) == 1 else "any one of them"
        return (
            f"needs {_the(smallest)} ({_failure_clause(trials)}ok without {which}, and without any"
            " hint)"
        )
    statements = (
        [f"fails with {_the(smallest)} alone"]
        if len(smallest) < len(trials.hints)
        else ["fails with all hints"]
    )
    statements += _other_effects(trials, effects)
    return ", ".join(statements)


def _failure_clause(trials: HintTrials) -> str:
    if len(trials.smallest) == len(trials.hints):
        return ""
    return f"fails with {'it' if len(trials.smallest) == 1 else 'these'} alone, "


def _other_effects(trials: HintTrials, effects: Mapping[Hint, Effect]) -> list[str]:
    """Statements about the smallest set if the results do not simply show a need."""
    statements = []
    if len(effects) > 1 and (
        ok := [hint_name(hint) for hint, effect in effects.items() if effect is Effect.OK]
    ):
        statements.append(f"ok without {' or '.join(ok)} of these")
    replaced = [hint_name(hint) for hint in effects if trials.without(hint) is Effect.SAME]
    if replaced:
        statements.append(f"also without {' or '.join(replaced)} when all others are given")
    if trials.without_any is Effect.OK:
        statements.append("ok without any hint")
    unknown = [
        hint_name(hint)
        for hint, effect in effects.items()
        if effect is Effect.UNKNOWN and len(effects) > 1
    ]
    if trials.without_any is Effect.UNKNOWN:
        unknown.append("any hint")
    return [
        *statements,
        *([f"without {' or '.join(unknown)} it is inconclusive"] if unknown else []),
    ]


def _the(hints: Sequence[Hint]) -> str:
    return f"the hint{'s' if len(hints) > 1 else ''} {join_words(map(hint_name, hints))}"
