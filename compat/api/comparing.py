"""The differences between the names of two envs. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import pairwise

from attrs import field, frozen

from compat.api.records import ApiName, ApiParameter, InspectedRelease, Inspection, Namespace
from compat.errors import SelectionError
from compat.model.fields import KEY


class ChangeKind(StrEnum):
    """The way in which a name changed."""

    ADDED = "added"
    REMOVED = "removed"
    REFUSES = "refuses"
    """The name still exists, but now every call raises an error."""
    CHANGED = "changed"
    """The name has other parameters, another kind or another value."""
    DEPRECATED = "deprecated"


@frozen(kw_only=True)
class NameChange:
    """One name that differs between two releases."""

    kind: ChangeKind
    shown: str = field(metadata={KEY: "name"})
    full: str
    of: str = field(metadata={KEY: "is"})
    """Its kind: ``function``, …"""
    statements: tuple[str, ...] = field(default=(), metadata={KEY: "said"})
    """The differences, one statement each."""
    internal: bool = False


@frozen(kw_only=True)
class ApiDifference:
    """Differences between the names of two releases."""

    old: InspectedRelease
    """The earlier release."""
    new: InspectedRelease
    """The later release."""
    changes: tuple[NameChange, ...]
    """One entry per name."""
    unknown: tuple[str, ...] = ()
    """Modules that cannot be imported in one of the two environments.

    Their names are not compared.
    """

    def of(self, kind: ChangeKind) -> tuple[NameChange, ...]:
        """Return the changes of a kind."""
        return tuple(change for change in self.changes if change.kind is kind)


def place_of(inspection: Inspection, word: str) -> InspectedRelease:
    """Return the inspected release that has this number, or the fork that has this name.

    The beginning of a number means the last release that begins with it. Raises SelectionError if
    there is no such release, or if its names could not be read.
    """
    label = word.removeprefix("v")
    named = [
        place
        for place in inspection.places
        if label in (place.label, place.built.env.name if place.built else None)
    ]
    matches = (
        named
        or [
            place
            for place in inspection.places
            if not place.fork and place.label.startswith(f"{label}.")
        ][-1:]
    )
    if not matches:
        raise SelectionError(
            f"unknown release {word!r}", hint=f"Choose one of: {', '.join(inspection.line)}."
        )
    (place,) = matches[:1]
    if place.namespace is None:
        hint = f"`compat envs build {place.label}` builds it." if place.missing else None
        raise SelectionError(f"{place.label} was not inspected: {place.error}", hint=hint)
    return place


def compare(
    inspection: Inspection,
    old: InspectedRelease,
    new: InspectedRelease,
    matches: Callable[[str], bool] = lambda full: True,
) -> ApiDifference:
    """Compare the names of two releases.

    Args:
        inspection: The names that were read from each release.
        old: The earlier release.
        new: The later release.
        matches: Selects full names. An object with several names is reported under one of them.
    """
    before, after = _names(old), _names(new)
    broken = {
        full
        for names in (before, after)
        for full in names.import_errors
        if not names.names[full].internal
    }
    changes = [
        change
        for full in sorted({*before.names, *after.names}, key=inspection.order)
        if matches(full) and not before.unknown(full) and not after.unknown(full)
        for change in _changes(inspection, full, before, after)
    ]
    return ApiDifference(old=old, new=new, changes=tuple(changes), unknown=tuple(sorted(broken)))


def _names(place: InspectedRelease) -> Namespace:
    assert place.namespace is not None
    return place.namespace


def _changes(
    inspection: Inspection, full: str, before: Namespace, after: Namespace
) -> Iterator[NameChange]:
    own, new_entry = before.names.get(full), after.names.get(full)
    old, new = before.get(full), after.get(full)
    if all(entry.same_as for entry in (own, new_entry) if entry) and not _is_alias_change(
        full, before, after
    ):
        return
    internal = all(entry.internal for entry in (own, new_entry) if entry)

    def change(kind: ChangeKind, name: ApiName, statements: tuple[str, ...] = ()) -> NameChange:
        return NameChange(
            kind=kind,
            full=full,
            shown=inspection.short_name(full),
            of=name.kind,
            statements=statements,
            internal=internal,
        )

    if new is None and old is not None:
        yield change(ChangeKind.REMOVED, old, _elsewhere(inspection, full, before, after))
    elif old is None and new is not None:
        yield change(
            ChangeKind.ADDED,
            new,
            (f"{inspection.short_name(full)}{new.signature}",) if new.signature else (),
        )
    elif old is not None and new is not None:
        if new.refuses and not old.refuses:
            yield change(ChangeKind.REFUSES, new, (new.refuses,))
        elif statements := tuple(_differing(old, new)):
            yield change(ChangeKind.CHANGED, new, statements)
        if statements := tuple(_deprecations(old, new)):
            yield change(ChangeKind.DEPRECATED, new, statements)


def _is_alias_change(full: str, before: Namespace, after: Namespace) -> bool:
    """Whether an alias was added or removed while its object is in both releases."""
    first = {entry.same_as for names in (before, after) if (entry := names.names.get(full))}
    there = [full in names.names for names in (before, after)]
    return all(name in before.names and name in after.names for name in first) and not all(there)


def _elsewhere(
    inspection: Inspection, full: str, before: Namespace, after: Namespace
) -> tuple[str, ...]:
    """A statement that lists the other names of an object that still exist, if there are any."""
    own = before.names[full]
    first = own.same_as or full
    names = [
        name
        for name in (first, *before.others.get(first, ()))
        if name != full and (there := after.get(name)) and not there.refuses
    ]
    return (f"still {', '.join(map(inspection.short_name, names))}",) if names else ()


def _differing(old: ApiName, new: ApiName) -> Iterator[str]:
    """The differences between two forms of one name that matter to a caller."""
    if old.kind != new.kind:
        yield f"{old.kind} → {new.kind}"
    if old.value != new.value:
        yield f"{old.value} → {new.value}"
    if old.parameters is None or new.parameters is None:
        if old.parameters is not new.parameters:
            yield (
                f"{old.signature or 'no parameters known'} →"
                f" {new.signature or 'no parameters known'}"
            )
        return
    was, now = (
        {parameter.name: parameter for parameter in name.parameters or ()} for name in (old, new)
    )
    yield from (f"- {was[name].text}" for name in was if name not in now)
    yield from (
        f"+ {now[name].text}{_only_by_keyword(now[name])}" for name in now if name not in was
    )
    both = [name for name in was if name in now]
    yield from (statement for name in both if (statement := _parameter(was[name], now[name])))
    moved = [name for name in both if "keyword-only" not in (was[name].kind, now[name].kind)]
    order = [name for name in now if name in moved]
    if moved != order:
        yield f"order: {', '.join(moved)} → {', '.join(order)}"
    elif any(
        name not in both and now[name].kind == "positional or keyword"
        for name in _before_last(now, moved)
    ):
        yield f"positions: {new.signature}"


def _before_last(now: dict[str, ApiParameter], moved: list[str]) -> list[str]:
    """The parameters before the last one that both releases have."""
    names = list(now)
    return names[: names.index(moved[-1])] if moved else []


def _only_by_keyword(parameter: ApiParameter) -> str:
    return ", by keyword only" if parameter.kind == "keyword-only" else ""


def _parameter(old: ApiParameter, new: ApiParameter) -> str:
    statements = []
    if old.kind != new.kind:
        statements.append(
            "by keyword only" if new.kind == "keyword-only" else f"{old.kind} → {new.kind}"
        )
    if old.default != new.default:
        statements.append(f"{_default(old)} → {_default(new)}")
    return f"{new.name}: {', '.join(statements)}" if statements else ""


def _default(parameter: ApiParameter) -> str:
    return "no default" if parameter.default is None else f"={parameter.default}"


def _deprecations(old: ApiName, new: ApiName) -> Iterator[str]:
    if not new.refuses:
        yield from (message for message in new.deprecated if message not in old.deprecated)
    yield from (message for message in new.warns if message not in old.warns)
    was = {parameter.name: parameter.deprecated for parameter in old.parameters or ()}
    yield from (
        f"{parameter.name}: {parameter.deprecated}"
        for parameter in new.parameters or ()
        if parameter.deprecated and not was.get(parameter.name)
    )


@frozen(kw_only=True)
class ReleaseStep:
    """How many names changed from one inspected release to the next."""

    place: InspectedRelease
    names: int
    """The number of names that are intended for users. Each object counts once."""
    counts: dict[ChangeKind, int]
    """The number of changes of each kind since the previous release.

    Empty for the first release and for forks.
    """


def steps(inspection: Inspection) -> tuple[ReleaseStep, ...]:
    """Return a step for each inspected release, in order."""
    first = inspection.inspected_releases[:1]
    line = [ReleaseStep(place=place, names=_count(place), counts={}) for place in first]
    for old, new in pairwise(inspection.inspected_releases):
        changes = () if new.fork else compare(inspection, old, new).changes
        kinds = [change.kind for change in changes if not change.internal]
        line.append(
            ReleaseStep(
                place=new,
                names=_count(new),
                counts={kind: kinds.count(kind) for kind in ChangeKind} if not new.fork else {},
            )
        )
    return tuple(line)


def _count(place: InspectedRelease) -> int:
    return sum(not name.internal and not name.same_as for name in _names(place).names.values())
