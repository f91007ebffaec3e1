"""What differs between the names of two envs. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import pairwise

from attrs import frozen

from compat.api.records import Looked, Name, Namespace, Parameter, Place
from compat.errors import SelectionError


class Kind(StrEnum):
    """What became of a name."""

    ADDED = "added"
    REMOVED = "removed"
    REFUSES = "refuses"
    """It is there still, and all that it does is raise."""
    CHANGED = "changed"
    """Its parameters did, or what it is."""
    DEPRECATED = "deprecated"


@frozen(kw_only=True)
class Change:
    """One name that differs."""

    kind: Kind
    full: str
    shown: str
    of: str
    """What it is: ``function``, …"""
    said: tuple[str, ...] = ()
    """What differs, a statement each."""
    internal: bool = False


@frozen(kw_only=True)
class Difference:
    """All that differs between two places."""

    old: Place
    new: Place
    changes: tuple[Change, ...]
    unknown: tuple[str, ...] = ()
    """Modules that cannot be imported in one of the two envs, of whose names nothing is said."""

    def of(self, kind: Kind) -> tuple[Change, ...]:
        """Those of a kind."""
        return tuple(change for change in self.changes if change.kind is kind)


def place_of(looked: Looked, word: str) -> Place:
    """The place that a release, or a fork's name, means. Raises SelectionError where there is none, or nothing is known of it."""
    wanted = word.removeprefix("v")
    named = [place for place in looked.places if wanted in (place.label, place.built.env.name if place.built else None)]
    found = named or [place for place in looked.places if not place.fork and place.label.startswith(f"{wanted}.")][-1:]
    if not found:
        raise SelectionError(f"there is no release {word!r}", hint=f"There are {', '.join(looked.line)}.")
    (place,) = found[:1]
    if place.namespace is None:
        hint = f"`compat envs build {place.label}` builds it." if place.missing else None
        raise SelectionError(f"{place.label} was not looked at: {place.error}", hint=hint)
    return place


def compare(looked: Looked, old: Place, new: Place, matches: Callable[[str], bool] = lambda full: True) -> Difference:
    """What differs, of the names that ``matches`` takes; of several names of one object one is told."""
    before, after = _names(old), _names(new)
    broken = {full for names in (before, after) for full in names.broken if not names.names[full].internal}
    changes = [
        change
        for full in sorted({*before.names, *after.names}, key=looked.order)
        if matches(full) and not before.unknown(full) and not after.unknown(full)
        for change in _changes(looked, full, before, after)
    ]
    return Difference(old=old, new=new, changes=tuple(changes), unknown=tuple(sorted(broken)))


def _names(place: Place) -> Namespace:
    assert place.namespace is not None
    return place.namespace


def _changes(looked: Looked, full: str, before: Namespace, after: Namespace) -> Iterator[Change]:
    own, its = before.names.get(full), after.names.get(full)
    old, new = before.get(full), after.get(full)
    if all(each.same_as for each in (own, its) if each) and not _alone(looked, full, before, after):
        return
    internal = all(each.internal for each in (own, its) if each)

    def change(kind: Kind, name: Name, said: tuple[str, ...] = ()) -> Change:
        return Change(kind=kind, full=full, shown=looked.shown(full), of=name.kind, said=said, internal=internal)

    if new is None and old is not None:
        yield change(Kind.REMOVED, old, _elsewhere(looked, full, before, after))
    elif old is None and new is not None:
        yield change(Kind.ADDED, new, (f"{looked.shown(full)}{new.signature}",) if new.signature else ())
    elif old is not None and new is not None:
        if new.refuses and not old.refuses:
            yield change(Kind.REFUSES, new, (new.refuses,))
        elif said := tuple(_differing(old, new)):
            yield change(Kind.CHANGED, new, said)
        if said := tuple(_deprecations(old, new)):
            yield change(Kind.DEPRECATED, new, said)


def _alone(looked: Looked, full: str, before: Namespace, after: Namespace) -> bool:
    """Whether another name of an object has come or gone by itself, and the object has not."""
    first = {each.same_as for names in (before, after) if (each := names.names.get(full))}
    there = [full in names.names for names in (before, after)]
    return all(name in before.names and name in after.names for name in first) and not all(there)


def _elsewhere(looked: Looked, full: str, before: Namespace, after: Namespace) -> tuple[str, ...]:
    """Where else the object was that is there still."""
    own = before.names[full]
    first = own.same_as or full
    names = [
        name for name in (first, *before.others.get(first, ())) if name != full and (there := after.get(name)) and not there.refuses
    ]
    return (f"still {', '.join(map(looked.shown, names))}",) if names else ()


def _differing(old: Name, new: Name) -> Iterator[str]:
    """What a caller has to know of two forms of one name."""
    if old.kind != new.kind:
        yield f"{old.kind} → {new.kind}"
    if old.value != new.value:
        yield f"{old.value} → {new.value}"
    if old.parameters is None or new.parameters is None:
        if old.parameters is not new.parameters:
            yield f"{old.signature or 'no parameters known'} → {new.signature or 'no parameters known'}"
        return
    was, now = ({each.name: each for each in name.parameters or ()} for name in (old, new))
    yield from (f"- {was[name].text}" for name in was if name not in now)
    yield from (f"+ {now[name].text}{_only_by_keyword(now[name])}" for name in now if name not in was)
    both = [name for name in was if name in now]
    yield from (said for name in both if (said := _parameter(was[name], now[name])))
    moved = [name for name in both if "keyword-only" not in (was[name].kind, now[name].kind)]
    order = [name for name in now if name in moved]
    if moved != order:
        yield f"order: {', '.join(moved)} → {', '.join(order)}"
    elif any(name not in both and now[name].kind == "positional or keyword" for name in _before_last(now, moved)):
        yield f"positions: {new.signature}"


def _before_last(now: dict[str, Parameter], moved: list[str]) -> list[str]:
    """The parameters that stand before the last one that is in both."""
    names = list(now)
    return names[: names.index(moved[-1])] if moved else []


def _only_by_keyword(parameter: Parameter) -> str:
    return ", by keyword only" if parameter.kind == "keyword-only" else ""


def _parameter(old: Parameter, new: Parameter) -> str:
    said = []
    if old.kind != new.kind:
        said.append("by keyword only" if new.kind == "keyword-only" else f"{old.kind} → {new.kind}")
    if old.default != new.default:
        said.append(f"{_default(old)} → {_default(new)}")
    return f"{new.name}: {', '.join(said)}" if said else ""


def _default(parameter: Parameter) -> str:
    return "no default" if parameter.default is None else f"={parameter.default}"


def _deprecations(old: Name, new: Name) -> Iterator[str]:
    if not new.refuses:
        yield from (words for words in new.deprecated if words not in old.deprecated)
    yield from (words for words in new.warns if words not in old.warns)
    was = {each.name: each.deprecated for each in old.parameters or ()}
    yield from (f"{each.name}: {each.deprecated}" for each in new.parameters or () if each.deprecated and not was.get(each.name))


@frozen(kw_only=True)
class Step:
    """How many names changed from one release to the next that was looked at."""

    place: Place
    names: int
    """How many there are that are meant for users, each object once."""
    counts: dict[Kind, int]
    """Against the release before; empty for the first, and for forks."""


def steps(looked: Looked) -> tuple[Step, ...]:
    """The releases one after the other."""
    first = looked.known[:1]
    found = [Step(place=place, names=_count(place), counts={}) for place in first]
    for old, new in pairwise(looked.known):
        changes = () if new.fork else compare(looked, old, new).changes
        told = [change.kind for change in changes if not change.internal]
        found.append(Step(place=new, names=_count(new), counts={kind: told.count(kind) for kind in Kind} if not new.fork else {}))
    return tuple(found)


def _count(place: Place) -> int:
    return sum(not each.internal and not each.same_as for each in _names(place).names.values())
