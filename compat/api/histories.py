"""The history of a name over the releases: presence, parameters and deprecations. Pure.

Every statement is about a run of neighbouring inspected releases. A fork is not part of the
sequence of releases, so statements about it stand alone.

:func:`pack` makes the histories of all names small enough for a report. In a packed history, a
release is a number: its position in :attr:`PackedNames.releases`. The releases that have a fact are
written as runs, such as ``0-4 7`` for the first five and the eighth. The fact itself is the number
of a text, as in ``0-4:12 5-9:13``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, TypeVar

from attrs import Factory, define, frozen

from compat.api.records import ApiName, ApiParameter, InspectedRelease, Inspection, shown_names
from compat.history.account import Run, runs
from compat.model.fields import rules
from compat.text import lazy_pattern

T = TypeVar("T")


class State(StrEnum):
    """Whether a release has a name."""

    THERE = "there"
    REFUSES = "refuses"
    """The name exists, and every call raises an error."""
    ABSENT = "absent"


@frozen(kw_only=True)
class ParameterHistory:
    """A parameter over the releases."""

    name: str
    runs: tuple[Run[ApiParameter], ...]
    """The releases with the parameter. A change of default or kind begins a new run."""


@frozen(kw_only=True)
class NameHistory:
    """The history of a name over the releases."""

    full: str
    """The full name, such as ``triton.language.dot``."""
    places: Sequence[InspectedRelease]
    """All releases but forks, oldest first."""
    present: Mapping[str, ApiName]
    """Release → its entry of the name, if it has one."""
    shown: str = ""
    """The name as authors write it."""
    same_as: tuple[Run[str], ...] = ()
    """Other names of the same object, as authors write them."""
    forks: tuple[tuple[str, State], ...] = ()
    """Fork → whether it has the name."""
    fork_entries: Sequence[ApiName] = ()
    internal: bool = False
    """Whether no release intends it for users."""

    @classmethod
    def of(cls, full: str, places: Sequence[InspectedRelease], **further_facts: Any) -> NameHistory:
        """The history of a name over releases."""
        entries = ((place.label, _at(place, full)) for place in places)
        present = {label: name for label, name in entries if name is not None}
        return cls(full=full, places=places, present=present, **further_facts)

    def runs(self, value: Callable[[ApiName], T | None]) -> tuple[Run[T], ...]:
        """A fact over the releases that have it."""
        entries = {
            label: fact for label, name in self.present.items() if (fact := value(name)) is not None
        }
        if not entries:
            return ()
        return runs((place.label, entries.get(place.label)) for place in self.places)

    @property
    def line(self) -> tuple[str, ...]:
        """Existing releases, oldest first."""
        return tuple(place.label for place in self.places)

    @property
    def states(self) -> tuple[Run[State], ...]:
        """Whether the name exists."""
        return runs((place.label, _state(place, self.full)) for place in self.places)

    @property
    def kinds(self) -> tuple[Run[str], ...]:
        """The kind, such as ``function``, ``class`` or ``module``."""
        return self.runs(lambda name: name.kind)

    @property
    def parameters(self) -> tuple[ParameterHistory, ...]:
        """Parameters in the order of the newest release with the name, then removed ones."""
        order: dict[str, None] = {}
        for name in reversed([*self.present.values()] or self.fork_entries):
            order |= dict.fromkeys(
                parameter.name for parameter in name.parameters or () if parameter.name not in order
            )
        return tuple(
            ParameterHistory(
                name=parameter, runs=self.runs(partial(_parameter, parameter_name=parameter))
            )
            for parameter in order
        )

    @property
    def signatures(self) -> tuple[Run[str], ...]:
        """The signature as text."""
        return self.runs(lambda name: name.signature or None)

    @property
    def deprecated(self) -> tuple[Run[str], ...]:
        """The text of the deprecation."""
        return self.runs(lambda name: " ".join(name.deprecated) or None)

    @property
    def warns(self) -> tuple[Run[str], ...]:
        """The warning that a call gives."""
        return self.runs(lambda name: " ".join(name.warns) or None)

    @property
    def refuses(self) -> tuple[Run[str], ...]:
        """The error that every call gives."""
        return self.runs(lambda name: name.refuses or None)

    @property
    def values(self) -> tuple[Run[str], ...]:
        """The value of a constant."""
        return self.runs(lambda name: name.value)

    @property
    def unknown(self) -> tuple[Run[str], ...]:
        """Releases that give no answer because the module cannot be imported, with the reason."""
        reasons = [
            (place.label, place.namespace.unknown(self.full) or None if place.namespace else None)
            for place in self.places
        ]
        return runs(reasons) if any(reason for _, reason in reasons) else ()

    @property
    def usable(self) -> tuple[str, ...]:
        """Releases that have the name and do not only raise an error."""
        return self._releases(State.THERE)

    @property
    def there(self) -> tuple[str, ...]:
        """Releases that have the name."""
        return self._releases(State.THERE, State.REFUSES)

    @property
    def inspected_releases(self) -> tuple[str, ...]:
        """Releases that give an answer."""
        return self._releases(*State)

    def _releases(self, *states: State) -> tuple[str, ...]:
        return tuple(
            release for run in self.states if run.value in states for release in run.releases
        )

    @property
    def kind(self) -> str:
        """The kind in the newest release that has the name."""
        return [*self.present.values()][-1].kind if self.present else ""


def history(inspection: Inspection, full: str) -> NameHistory:
    """Return the history of one full name. The name may be unknown in every release."""
    places = [place for place in inspection.places if not place.fork]
    forks = [place for place in inspection.inspected_releases if place.fork]
    return NameHistory.of(
        full,
        places,
        shown=inspection.short_name(full),
        same_as=_aliases(inspection, places, full),
        forks=tuple((place.label, state) for place in forks if (state := _state(place, full))),
        fork_entries=[name for place in forks if (name := _at(place, full))],
        internal=inspection.is_internal(full),
    )


def _at(place: InspectedRelease, full: str) -> ApiName | None:
    return place.namespace.get(full) if place.namespace else None


def _state(place: InspectedRelease, full: str) -> State | None:
    """The state of a name; ``None`` if the release gives no answer."""
    if place.namespace is None or (
        place.namespace.unknown(full) and full not in place.namespace.import_errors
    ):
        return None
    name = place.namespace.get(full)
    return State.ABSENT if name is None else State.REFUSES if name.refuses else State.THERE


def _parameter(name: ApiName, parameter_name: str) -> ApiParameter | None:
    return next(
        (parameter for parameter in name.parameters or () if parameter.name == parameter_name), None
    )


def _aliases(
    inspection: Inspection, places: Iterable[InspectedRelease], full: str
) -> tuple[Run[str], ...]:
    """Each other name of the object, with the releases that have it; the shortest name first."""
    other: dict[str, list[str]] = {}
    for place in places:
        if place.namespace is None or full not in place.namespace.names:
            continue
        first = place.namespace.names[full].same_as or full
        for alias in (first, *place.namespace.others.get(first, ())):
            if alias != full:
                other.setdefault(inspection.short_name(alias), []).append(place.label)
    line = [place.label for place in places]
    return tuple(
        run
        for alias in sorted(other, key=lambda name: (name.count("."), len(name), name))
        for run in runs((label, alias if label in other[alias] else None) for label in line)
    )


_Runs = Annotated[str, rules(pattern="^([0-9]+(-[0-9]+)?( [0-9]+(-[0-9]+)?)*)?$")]
_Texts = Annotated[str, rules(pattern="^[0-9]+(-[0-9]+)?:[0-9]+( [0-9]+(-[0-9]+)?:[0-9]+)*$")]
_RUN = lazy_pattern(r"\b(\d{1,6})(?:-(\d{1,6}))?\b")


@frozen(kw_only=True)
class PackedName:
    """A name over the releases. Each field is written as runs."""

    kind: str = ""
    there: _Runs = ""
    """The releases that have the name, unless it only raises."""
    refuses: _Texts = ""
    """The releases where it only raises, and its message."""
    unknown: _Texts = ""
    """The releases that cannot import its module."""
    signatures: _Texts = ""
    deprecated: _Texts = ""
    warns: _Texts = ""
    parameters: _Texts = ""
    """The releases that deprecate a parameter, and their words: ``name: words``."""


@frozen(kw_only=True)
class PackedNames:
    """The names of a toolchain."""

    toolchain: str
    releases: tuple[str, ...]
    """All existing releases, oldest first."""
    looked_at: _Runs
    """The inspected releases, as runs."""
    names: Mapping[str, PackedName]
    """Name as authors write it → its history. An object with several names has one entry."""
    texts: tuple[str, ...]
    same: Mapping[str, str] = Factory(dict)
    """Another name of an object → its name in ``names``."""

    @property
    def inspected_releases(self) -> tuple[str, ...]:
        """The inspected releases. Ignores numbers without a release, which a file may contain."""
        spans = [
            (int(match[1]), int(match[2] or match[1])) for match in _RUN.finditer(self.looked_at)
        ]
        return tuple(
            release
            for place, release in enumerate(self.releases)
            if any(first <= place <= last for first, last in spans)
        )


def pack(inspection: Inspection) -> PackedNames:
    """Pack all names that are intended for users, over the inspected releases without forks."""
    places = [place for place in inspection.places if not place.fork]
    line = tuple(place.label for place in places)
    packing = _Packing(line=line)
    # Releases that were not inspected only separate the others, and one between them is enough.
    separated = [
        place
        for before, place in zip((None, *places), places, strict=False)
        if place.namespace or (before and before.namespace)
    ]
    names: dict[str, PackedName] = {}
    same: dict[str, str] = {}
    for shown, full in shown_names(inspection).items() if line else ():
        if inspection.is_internal(full):
            continue
        if first := _only_another(inspection, full):
            same[shown] = inspection.short_name(first)
        else:
            names[shown] = packing.name(NameHistory.of(full, separated))
    inspected = runs((place.label, True if place.namespace else None) for place in places)
    return PackedNames(
        toolchain=inspection.toolchain,
        releases=line,
        looked_at=packing.spans(inspected),
        names=names,
        texts=tuple(packing.texts),
        same={name: first for name, first in same.items() if first in names},
    )


def _only_another(inspection: Inspection, full: str) -> str:
    """The first name of the object that ``full`` is an alias of, in every release that has it.

    It is empty if ``full`` is not always an alias, or not always of the same name.
    """
    firsts = {entry.same_as for entry in inspection.entries(full)}
    return firsts.pop() if len(firsts) == 1 else ""


@define(kw_only=True)
class _Packing:
    """Replaces releases and texts by numbers."""

    line: tuple[str, ...]
    texts: dict[str, int] = Factory(dict)

    def name(self, history: NameHistory) -> PackedName:
        """Pack the history of a name."""
        has_deprecated = any(
            parameter.deprecated
            for entry in history.present.values()
            for parameter in entry.parameters or ()
        )
        return PackedName(
            kind=history.kind,
            there=self.spans(run for run in history.states if run.value is State.THERE),
            refuses=self.text_runs(history.refuses),
            unknown=self.text_runs(history.unknown),
            signatures=self.text_runs(history.signatures),
            deprecated=self.text_runs(history.deprecated),
            warns=self.text_runs(history.warns),
            parameters=" ".join(
                f"{self._span(run.releases)}:{self._text(deprecation)}"
                for parameter in (history.parameters if has_deprecated else ())
                for run in parameter.runs
                if run.value.deprecated
                for deprecation in (f"{parameter.name}: {run.value.deprecated}",)
            ),
        )

    def spans(self, values: Iterable[Run[Any]]) -> str:
        """Write the releases of runs."""
        return " ".join(self._span(run.releases) for run in values)

    def text_runs(self, values: Iterable[Run[str]]) -> str:
        """Write runs, each with the number of its text."""
        return " ".join(f"{self._span(run.releases)}:{self._text(run.value)}" for run in values)

    def _span(self, releases: Sequence[str]) -> str:
        first, last = self.line.index(releases[0]), self.line.index(releases[-1])
        return f"{first}" if first == last else f"{first}-{last}"

    def _text(self, text: str) -> int:
        return self.texts.setdefault(text, len(self.texts))
