"""The history of a name over the releases: since when it is there, with which parameters, and what is said against it. Pure.

Every statement is a run of neighbouring releases that were looked at. Forks are on no line of releases: each stands for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import TypeVar

from attrs import frozen

from compat.api.records import Looked, Name, Parameter, Place
from compat.history.runs import Run, runs

T = TypeVar("T")


class State(StrEnum):
    """Whether a name is there."""

    THERE = "there"
    REFUSES = "refuses"
    """It is there, and all that it does is raise."""
    ABSENT = "absent"


@frozen(kw_only=True)
class ParameterHistory:
    """A parameter over the releases."""

    name: str
    runs: tuple[Run[Parameter], ...]
    """Where it is there; a default or a kind that changes begins a new one."""


@frozen(kw_only=True)
class NameHistory:
    """A name over the releases."""

    full: str
    shown: str
    """As people write it."""
    line: tuple[str, ...]
    """The releases that there are, oldest first."""
    states: tuple[Run[State], ...]
    kinds: tuple[Run[str], ...]
    same_as: tuple[Run[str], ...]
    """Names that are the same object, as people write them."""
    parameters: tuple[ParameterHistory, ...]
    """In the order of the newest release that has them; those that are gone come last."""
    signatures: tuple[Run[str], ...]
    deprecated: tuple[Run[str], ...]
    warns: tuple[Run[str], ...]
    refuses: tuple[Run[str], ...]
    values: tuple[Run[str], ...]
    unknown: tuple[Run[str], ...]
    """Releases that say nothing of it, since its module cannot be imported in their envs; and why."""
    forks: tuple[tuple[str, State], ...] = ()
    """Forks by name, and whether they have it."""
    internal: bool = False
    """Whether no release means it for users."""

    @property
    def usable(self) -> tuple[str, ...]:
        """The releases that have it, and in which it does not only raise."""
        return tuple(release for run in self.states if run.value is State.THERE for release in run.releases)

    @property
    def there(self) -> tuple[str, ...]:
        """The releases that have it, whatever it does."""
        return tuple(release for run in self.states if run.value is not State.ABSENT for release in run.releases)

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The releases that it is known of whether they have it."""
        return tuple(release for run in self.states for release in run.releases)

    @property
    def kind(self) -> str:
        """Of the newest release that has it."""
        return self.kinds[-1].value if self.kinds else ""


def history(looked: Looked, full: str) -> NameHistory:
    """The history of a name, which some place has or none."""
    places = [place for place in looked.places if not place.fork]
    forks = [place for place in looked.known if place.fork]
    found = {place.label: _at(place, full) for place in places}
    told: dict[str, Name] = {label: name for label, name in found.items() if name is not None}
    of_forks = [name for place in forks if (name := _at(place, full))]

    def line(value: Callable[[Name], T | None]) -> tuple[Run[T], ...]:
        found = {label: said for label, name in told.items() if (said := value(name)) is not None}
        return runs((place.label, found.get(place.label)) for place in places) if found else ()

    return NameHistory(
        full=full,
        shown=looked.shown(full),
        line=tuple(place.label for place in places),
        states=runs((place.label, _state(place, full)) for place in places),
        kinds=line(lambda name: name.kind),
        same_as=_aliases(looked, places, full),
        parameters=_parameters([*told.values()] or of_forks, line),
        signatures=line(lambda name: name.signature or None),
        deprecated=line(lambda name: " ".join(name.deprecated) or None),
        warns=line(lambda name: " ".join(name.warns) or None),
        refuses=line(lambda name: name.refuses or None),
        values=line(lambda name: name.value),
        unknown=runs((place.label, place.namespace.unknown(full) or None if place.namespace else None) for place in places),
        forks=tuple((place.label, state) for place in forks if (state := _state(place, full))),
        internal=_is_internal(looked, full),
    )


def _at(place: Place, full: str) -> Name | None:
    return place.namespace.get(full) if place.namespace else None


def _state(place: Place, full: str) -> State | None:
    """``None`` where nothing is known."""
    if place.namespace is None or (place.namespace.unknown(full) and full not in place.namespace.broken):
        return None
    name = place.namespace.get(full)
    return State.ABSENT if name is None else State.REFUSES if name.refuses else State.THERE


def _is_internal(looked: Looked, full: str) -> bool:
    entries = [place.namespace.names[full] for place in looked.known if place.namespace and full in place.namespace.names]
    return bool(entries) and all(entry.internal for entry in entries)


def _parameters(
    told: Sequence[Name], line: Callable[[Callable[[Name], Parameter | None]], tuple[Run[Parameter], ...]]
) -> tuple[ParameterHistory, ...]:
    order: dict[str, None] = {}
    for name in reversed(told):
        order |= dict.fromkeys(parameter.name for parameter in name.parameters or () if parameter.name not in order)
    return tuple(
        ParameterHistory(name=each, runs=line(lambda name, each=each: _parameter(name, each)))  # type: ignore[misc]
        for each in order
    )


def _parameter(name: Name, wanted: str) -> Parameter | None:
    return next((each for each in name.parameters or () if each.name == wanted), None)


def _aliases(looked: Looked, places: Iterable[Place], full: str) -> tuple[Run[str], ...]:
    """Each other name of the object, with the releases in which it is one; the shortest first."""
    other: dict[str, list[str]] = {}
    for place in places:
        if place.namespace is None or full not in place.namespace.names:
            continue
        first = place.namespace.names[full].same_as or full
        for alias in (first, *place.namespace.others.get(first, ())):
            if alias != full:
                other.setdefault(looked.shown(alias), []).append(place.label)
    line = [place.label for place in places]
    return tuple(
        run
        for alias in sorted(other, key=lambda name: (name.count("."), len(name), name))
        for run in runs((label, alias if label in other[alias] else None) for label in line)
    )
