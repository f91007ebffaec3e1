"""What can be changed in a specialization one thing at a time, and what the results of such changes say. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from math import log2
from typing import Any

from attrs import evolve, frozen

from compat.answers import Need
from compat.model import Specialization

UNSET = "default"
"""How an option that is not set, so that the compiler chooses, is called."""
DROPPED = "without"
"""How a hint that is left out is called."""
_WARPS, _CTAS, _STAGES = (1, 2, 4, 8, 16), (1, 2, 4), (1, 2, 3, 4, 5)
_KNOWN = {"num_warps": _WARPS, "num_stages": _STAGES, "num_ctas": _CTAS}
_ALWAYS = ("num_warps", "num_stages")
"""Options that are worth a try even where a specialization leaves them to the compiler."""
_FLOATS = ("fp16", "bf16", "fp32")


class Fate(StrEnum):
    """What became of a changed specialization, as against the failure that is looked into."""

    OK = "ok"
    SAME = "same"
    """It fails in the same way."""
    UNKNOWN = "cannot tell"
    """It fails otherwise, or there is no answer: that says nothing about this failure."""


@frozen(kw_only=True)
class Change:
    """A specialization that differs from the failing one in one thing."""

    knob: str
    was: str
    value: str
    number: int | None = None
    """The new value where it is a size, for comparing."""
    distance: float
    """How far it is from what it was; the smallest change that helps is the one to tell."""
    spec: Specialization


def changes(spec: Specialization) -> tuple[Change, ...]:
    """Every change that is worth a try, knob by knob."""
    found: list[Change] = []
    for name, value in spec.options.items():
        found += _of_option(spec, name, value)
    for name in _ALWAYS:
        if name not in spec.options:
            found += _of_option(spec, name, None)
    for name, value in spec.constexprs.items():
        for new in _others(name, value):
            changed = evolve(spec, constexprs={**spec.constexprs, name: new})
            found.append(_change(changed, name, value, new))
    found += _of_hints(spec)
    return tuple(evolve(each, spec=_named(spec, each)) for each in found)


def _of_option(spec: Specialization, name: str, value: Any) -> list[Change]:
    candidates = [new for new in _KNOWN.get(name, ()) if new != value] if name in _KNOWN else _others(name, value)
    found = [_change(evolve(spec, options={**spec.options, name: new}), name, value, new) for new in candidates]
    if name in spec.options:
        rest = {key: kept for key, kept in spec.options.items() if key != name}
        found.append(Change(knob=name, was=shown(value), value=UNSET, distance=1.5, spec=evolve(spec, options=rest)))
    return found


def _others(name: str, value: Any) -> list[Any]:
    """Other values for a constexpr or an option."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return _around(value)
    if isinstance(value, Mapping) and value.get("dtype") in _FLOATS:
        return [{"dtype": other} for other in _FLOATS if other != value["dtype"]]
    return []


def _around(value: int) -> list[int]:
    """Sizes around one: half and double it, and powers of two from an eighth of it to four times as much, but none of a flag."""
    if value in (0, 1):
        return [1 - value]
    if value < 0:
        return []
    powers = [1 << power for power in range(value.bit_length() + 2)]
    near = [power for power in powers if value / 8 <= power <= value * (4 if value < 64 else 2)]
    return sorted({*near, value // 2, value * 2} - {value, 0})


def _of_hints(spec: Specialization) -> list[Change]:
    """Each hint left out, and all of them."""
    found: list[Change] = []
    for name in spec.divisible_by_16:
        left = evolve(spec, divisible_by_16=_without(name, spec.divisible_by_16))
        found.append(_dropped(f"divisible_by_16: {name}", left, 1.0))
    for name in spec.equal_to_1:
        found.append(_dropped(f"equal_to_1: {name}", evolve(spec, equal_to_1=_without(name, spec.equal_to_1)), 1.0))
    hints = [*spec.divisible_by_16, *spec.equal_to_1]
    if len(hints) > 1:
        found.append(_dropped("of every argument", evolve(spec, divisible_by_16=(), equal_to_1=()), 1.0 + len(hints)))
    return found


def _without(name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(other for other in names if other != name)


def _dropped(knob: str, spec: Specialization, distance: float) -> Change:
    return Change(knob=knob, was="given", value=DROPPED, distance=distance, spec=spec)


def _change(spec: Specialization, knob: str, old: Any, new: Any) -> Change:
    number = new if isinstance(new, int) and not isinstance(new, bool) else None
    comparable = number and isinstance(old, int) and old > 0
    distance = abs(log2(number / old)) if number and comparable else 1.0
    return Change(knob=knob, was=shown(old), value=shown(new), number=number, distance=distance, spec=spec)


def _named(spec: Specialization, change: Change) -> Specialization:
    """The changed specialization under a case of its own; nothing was ever declared of it."""
    return evolve(change.spec, case=f"{spec.case}+{change.knob}={change.value}".replace(" ", ""), expectations=())


def shown(value: Any) -> str:
    """A value as an answer writes it."""
    if isinstance(value, Mapping):
        return str(value.get("dtype", "None"))
    return UNSET if value is None else str(value)


# --- what came of it --------------------------------------------------------------------------------------------------------------


def smallest(tried: Iterable[tuple[Change, Fate]]) -> Change | None:
    """The smallest change that makes it ok, ``None`` if none does."""
    helping = [change for change, fate in tried if fate is Fate.OK]
    return min(helping, key=lambda change: change.distance, default=None)


def told(change: Change) -> str:
    """A change in words: ``with num_warps=4 in place of 8``."""
    if change.value == DROPPED:
        return f"without the hint {change.knob}"
    if change.value == UNSET:
        return f"with {change.knob} left to its default in place of {change.was}"
    return f"with {change.knob}={change.value} in place of {change.was}"


def needs(tried: Sequence[tuple[Change, Fate]]) -> tuple[Need, ...]:
    """The knobs the failure depends on: some change of theirs alone makes it ok. The one with the smallest change comes first."""
    by_knob: dict[str, list[tuple[Change, Fate]]] = {}
    for change, fate in tried:
        by_knob.setdefault(change.knob, []).append((change, fate))
    found = [(best.distance, _need(each)) for each in by_knob.values() if (best := smallest(each))]
    return tuple(need for _, need in sorted(found, key=lambda pair: pair[0]))


def _need(tried: Sequence[tuple[Change, Fate]]) -> Need:
    first = tried[0][0]
    ok = tuple(change.value for change, fate in tried if fate is Fate.OK)
    fails = tuple(change.value for change, fate in tried if fate is Fate.SAME)
    return Need(knob=first.knob, value=first.was, ok=ok, fails=fails, sentence=_sentence(tried))


def _sentence(tried: Sequence[tuple[Change, Fate]]) -> str:
    """What the fates of one knob's values come to, claiming nothing of values that were not tried or could not be told."""
    first = tried[0][0]
    if first.value == DROPPED:
        return f"needs the hint {first.knob}"
    if not first.was.isdigit():
        return _plainly(tried)
    was = int(first.was)
    fates = {change.number: fate for change, fate in tried if change.number is not None} | {was: Fate.SAME}
    ok = sorted(number for number, fate in fates.items() if fate is Fate.OK)
    fails = sorted(number for number, fate in fates.items() if fate is Fate.SAME)
    if not ok or len(fails) == 1:
        return _plainly(tried)
    if ok[-1] < fails[0]:
        return f"fails from {first.knob} ≥ {fails[0]} ({ok[-1]} is ok{_untold(fates, ok[-1], fails[0])})"
    if fails[-1] < ok[0]:
        return f"fails up to {first.knob} ≤ {fails[-1]} ({ok[0]} is ok{_untold(fates, fails[-1], ok[0])})"
    return f"fails with {first.knob} = {listed(map(str, fails))} ({_are(list(map(str, ok)))} ok)"


def _untold(fates: Mapping[int, Fate], low: int, high: int) -> str:
    """What between a value that is ok and one that fails could not be told."""
    unknown = [str(number) for number in sorted(fates) if low < number < high]
    return f", {listed(unknown)} cannot be told" if unknown else ""


def _plainly(tried: Sequence[tuple[Change, Fate]]) -> str:
    first = tried[0][0]
    ok = [change.value for change, fate in tried if fate is Fate.OK]
    fails = [change.value for change, fate in tried if fate is Fate.SAME]
    if not fails:
        return f"only {first.knob}={first.was} ({_are(ok)} ok)"
    return f"fails with {first.knob} = {listed([first.was, *fails])} ({_are(ok)} ok)"


def _are(values: Sequence[str]) -> str:
    return f"{listed(values)} {'is' if len(values) == 1 else 'are'}"


def listed(words: Iterable[str]) -> str:
    """Words as a sentence lists them: ``4, 8 and 16``."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
