"""The reverse of merging: what each layer of a kernel file has to say so that kernel ← variant ← case come to given values. Pure.

A layer that says nothing leaves what is below it. A case says the same to all variants; a variant can drop an entry, and then no
case brings it back. So there are values that no layers come to; those that were read from layers are none of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from attrs import Factory, frozen

Place = tuple[str, str]
"""A variant and a case."""


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Any = _Absent()
"""Stands for the value of an entry that is not there; said by a layer, it drops the entry."""


class Unwritable(ValueError):
    """There are no layers that come to these values."""


@frozen(kw_only=True)
class LayerEntry:
    """One entry of the tables, wherever it has a value."""

    values: Mapping[Place, Any]
    in_order: bool = True
    """Whether its table keeps its order, which is that of the layer at the bottom."""

    def agree(self, places: Sequence[Place]) -> Any:
        """What can be said to all of these places. Raises :class:`Unwritable` where they differ."""
        first = self.values[places[0]]
        if not all(self.fits(first, place) for place in places):
            raise Unwritable
        return first

    def fits(self, said: Any, place: Place) -> bool:
        """Whether what is said comes to the value of a place; ``1``, ``1.0`` and ``true`` are different, and ``nan`` is itself."""
        return repr(said) == repr(self.values[place])

    @property
    def can_be_dropped(self) -> bool:
        """Whether a layer can drop what one below it says."""
        return True


@frozen(kw_only=True)
class Hint(LayerEntry):
    """A hint: names of arguments, of which those count that may have it at a place. Nothing drops what is said."""

    suited: Mapping[Place, Collection[str]]
    """The arguments of a place whose types may have the hint."""

    def agree(self, places: Sequence[Place]) -> Any:
        """All that is said of one of them, if it is right for each."""
        values = [self.values[place] for place in places]
        said = ABSENT if ABSENT in values else tuple(in_order(values))
        if not all(self.fits(said, place) for place in places):
            raise Unwritable
        return said

    def fits(self, said: Any, place: Place) -> bool:
        """Whether it comes to the value, without the arguments that may not have it there."""
        wanted = self.values[place]
        if said is ABSENT or wanted is ABSENT:
            return said is wanted
        return {name for name in said if name in self.suited[place]} == set(wanted)

    @property
    def can_be_dropped(self) -> bool:
        """It cannot: an absent hint differs from an empty one."""
        return False


@frozen(kw_only=True)
class Kept(LayerEntry):
    """An entry that nothing drops: where it is absent, no layer below says anything."""

    @property
    def can_be_dropped(self) -> bool:
        """It cannot."""
        return False


@frozen(kw_only=True)
class Layers:
    """What the layers say of one entry; a variant or a case that is not there says nothing."""

    kernel: Any = ABSENT
    variants: Mapping[str, Any] = Factory(dict)
    cases: Mapping[str, Any] = Factory(dict)


def layers_of(entry: LayerEntry) -> Layers:
    """Layers that come to the values of an entry. Raises :class:`Unwritable` where there are none.

    A case says what it can say to all its variants. What it has to leave to them must be the same in all such cases of a variant.
    """
    places = list(entry.values)
    gone = [v for v, group in _grouped(places, 0).items() if entry.can_be_dropped and _all_fit(entry, ABSENT, group)]
    left = [place for place in places if place[0] not in gone]
    if not entry.in_order and (few := _of_few(entry, left, len(gone))) is not None:
        return few
    by_case = _grouped(left, 1)
    cases = {case: entry.agree(group) for case, group in by_case.items() if _may_say(entry, group)}
    by_variant = _grouped([place for place in left if place[1] not in cases], 0)
    variants = {variant: entry.agree(group) for variant, group in by_variant.items()}
    kernel = _of_kernel(entry, left, variants, cases)
    variants = {variant: said for variant, said in variants.items() if not _all_fit(entry, kernel, by_variant[variant])}
    cases = {c: said for c, said in cases.items() if not all(entry.fits(variants.get(p[0], kernel), p) for p in by_case[c])}
    given = {variant for variant, case in places if kernel is not ABSENT or cases.get(case, ABSENT) is not ABSENT}
    return Layers(kernel=kernel, variants=variants | {each: ABSENT for each in gone if each in given}, cases=cases)


def _of_few(entry: LayerEntry, left: Sequence[Place], gone: int) -> Layers | None:
    """Layers where fewer variants have the entry than have not: those that have it say so, if each always says the same."""
    groups = _grouped(left, 0)
    if gone <= len(groups) or not all(_agrees(entry, group) for group in groups.values()):
        return None
    return Layers(variants={variant: entry.agree(group) for variant, group in groups.items()})


def in_order(sequences: Iterable[Iterable[str]]) -> list[str]:
    """All names of some sequences, each behind the one that it stands behind in the first sequence that has it."""
    found: list[str] = []
    for names in sequences:
        at = 0
        for name in names:
            if name not in found:
                found.insert(at, name)
            at = found.index(name) + 1
    return found


def _grouped(places: Iterable[Place], by: int) -> dict[str, list[Place]]:
    groups: dict[str, list[Place]] = {}
    for place in places:
        groups.setdefault(place[by], []).append(place)
    return groups


def _all_fit(entry: LayerEntry, said: Any, places: Iterable[Place]) -> bool:
    return all(entry.fits(said, place) for place in places)


def _agrees(entry: LayerEntry, places: Sequence[Place]) -> bool:
    try:
        entry.agree(places)
    except Unwritable:
        return False
    return True


def _may_say(entry: LayerEntry, places: Sequence[Place]) -> bool:
    """Whether a case can say the value of all its variants."""
    return _agrees(entry, places) and (entry.can_be_dropped or all(entry.values[place] is not ABSENT for place in places))


def _of_kernel(entry: LayerEntry, places: Sequence[Place], variants: Mapping[str, Any], cases: Mapping[str, Any]) -> Any:
    """What is right everywhere; else what is said most often, by the variants if they have to say anything."""
    if places and _agrees(entry, places):
        return entry.agree(places)
    said = list((variants or cases).values())
    if not said or (variants and ABSENT in said):
        return ABSENT
    there = [each for each in said if each is not ABSENT]
    ((most, _),) = Counter(map(repr, there)).most_common(1)
    return next(each for each in there if repr(each) == most)
