"""What a source needs of a toolchain, and which releases have all of it. Pure: nothing is compiled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attrs import frozen

from compat.api.records import Looked, Name, Namespace, Parameter, Place
from compat.api.uses import Call, Use, Uses

_ENTERED = ("module", "class")
"""Kinds of names that have others in them."""
_PRIVATE = "_"


@frozen(kw_only=True)
class Need:
    """A name that a source uses."""

    full: tuple[str, ...]
    """What it may stand for; one is enough."""
    shown: str
    uses: tuple[Use, ...]

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keyword parameters that it is called with."""
        return tuple(dict.fromkeys(word for use in self.uses if use.call for word in use.call.keywords))


@frozen(kw_only=True)
class Lack:
    """Something that a release does not have."""

    shown: str
    why: str
    """``is not there``, ``has no parameter 'dtype'``, ``only raises NotImplementedError: …``."""
    uses: tuple[Use, ...]

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines of the source that use it, each once."""
        return tuple(dict.fromkeys(use.line for use in self.uses))

    @property
    def conditions(self) -> tuple[int, ...]:
        """The lines of the conditions behind which all uses stand; empty where one stands behind none."""
        found = [use.condition for use in self.uses if use.condition is not None]
        return tuple(dict.fromkeys(found)) if len(found) == len(self.uses) else ()

    @property
    def functions(self) -> tuple[str, ...]:
        """The kernels that it is used in; empty where it is used outside of kernels alone."""
        return tuple(dict.fromkeys(use.function for use in self.uses if use.function))


@frozen(kw_only=True)
class Having:
    """What a release has of what a source needs."""

    place: Place
    lacks: tuple[Lack, ...] = ()
    unknown: tuple[str, ...] = ()
    """Needed names of which this env does not tell whether they are there."""
    deprecated: tuple[str, ...] = ()
    """Needed names that it has, and says to be deprecated."""

    @property
    def looked_at(self) -> bool:
        """Whether its env told which names it has; without that, an empty ``lacks`` says nothing."""
        return self.place.namespace is not None

    @property
    def has_all(self) -> bool:
        """Whether it is known to have all of it."""
        return self.looked_at and not self.lacks and not self.unknown


@frozen(kw_only=True)
class Needs:
    """What a source needs, and what each release has of it."""

    needs: tuple[Need, ...]
    having: tuple[Having, ...]
    """One per place, in their order."""
    uses: Uses


def needs_of(uses: Uses, looked: Looked) -> Needs:
    """What each place has of what a source uses."""
    every = {full for place in looked.known if place.namespace for full in place.namespace.names}
    entered = {
        full for place in looked.known if place.namespace for full in place.namespace.names if _is_entered(place.namespace, full)
    }
    needs = tuple(_needs(uses.uses, looked, every, entered))
    return Needs(needs=needs, having=tuple(_having(place, needs) for place in looked.places), uses=uses)


def _is_entered(namespace: Namespace, full: str) -> bool:
    """Whether it is known which names are in it."""
    name = namespace.get(full)
    return name is not None and name.kind in _ENTERED and not name.opaque


def _needs(uses: Iterable[Use], looked: Looked, every: set[str], entered: set[str]) -> Iterator[Need]:
    groups: dict[tuple[str, ...], list[Use]] = {}
    for use in uses:
        named = tuple(dict.fromkeys(_name(full, every, entered) for full in use.meanings))
        if use.starred:
            named = tuple(full for full in named if full in every)
        if named and not all(full == looked.toolchain or _is_dunder(full) for full in named):
            groups.setdefault(named, []).append(use)
    for full, found in sorted(groups.items()):
        yield Need(full=full, shown=" or ".join(looked.shown(each) for each in full), uses=tuple(found))


def _is_dunder(full: str) -> bool:
    last = full.rpartition(".")[2]
    return last.startswith("__")


def _name(full: str, every: set[str], entered: set[str]) -> str:
    """The name that ``a.b.c`` is about: what follows a function or a dtype is an attribute of a value, and not looked at."""
    parts = full.split(".")
    for end in range(len(parts), 0, -1):
        prefix = ".".join(parts[:end])
        if prefix in every:
            return prefix if end == len(parts) or prefix not in entered else ".".join(parts[: end + 1])
    return full


def _having(place: Place, needs: Sequence[Need]) -> Having:
    if place.namespace is None:
        return Having(place=place)
    lacks: list[Lack] = []
    unknown: list[str] = []
    deprecated: list[str] = []
    for need in needs:
        entries = [(full, place.namespace.get(full)) for full in need.full]
        there = [name for _, name in entries if name is not None and not name.refuses and not name.error]
        if there:
            lacks += _mismatches(need, there)
            deprecated += [f"{need.shown}: {words}" for words in _deprecations(need, there[0])]
        elif why := next((why for full, name in entries if (why := _untold(place.namespace, full, name))), ""):
            unknown.append(f"{need.shown}: {why}")
        else:
            refused = next((name.refuses for _, name in entries if name), "")
            why = f"only raises {refused}" if refused else "is not there"
            lacks.append(Lack(shown=need.shown, why=why, uses=need.uses))
    return Having(place=place, lacks=tuple(lacks), unknown=tuple(unknown), deprecated=tuple(deprecated))


def _untold(namespace: Namespace, full: str, name: Name | None) -> str:
    """Why it cannot be said whether a name is there; empty where it can."""
    if (name is None or name.error) and (why := namespace.unknown(full)):
        return why
    private = any(part.startswith(_PRIVATE) and not part.startswith("_experimental_") for part in full.split("."))
    return "private names are not looked at" if name is None and private else ""


def _deprecations(need: Need, name: Name) -> Iterator[str]:
    yield from name.deprecated
    for parameter in name.parameters or ():
        if parameter.deprecated and parameter.name in need.keywords:
            yield f"{parameter.name}: {parameter.deprecated}"


# --- calls ------------------------------------------------------------------------------------------------------------------------


def _mismatches(need: Need, there: Sequence[Name]) -> Iterator[Lack]:
    """The calls that none of the forms takes, by why the first does not."""
    found: dict[str, list[Use]] = {}
    for use in need.uses:
        if use.call is None:
            continue
        reasons = [mismatch(name, use.call) for name in there]
        if all(reasons):
            found.setdefault(reasons[0], []).append(use)
    for why, uses in found.items():
        yield Lack(shown=need.shown, why=why, uses=tuple(uses))


def mismatch(name: Name, call: Call) -> str:
    """Why something cannot be called so; empty where it can, and where its parameters are not known."""
    if name.parameters is None or name.kind == "method":
        return ""
    positional = [each for each in name.parameters if each.kind in ("positional-only", "positional or keyword")]
    kinds = {each.kind for each in name.parameters}
    by_keyword = {each.name for each in name.parameters if each.kind in ("keyword-only", "positional or keyword")}
    for word in call.keywords:
        if word not in by_keyword and "variadic keyword" not in kinds and not word.startswith(_PRIVATE):
            return f"has no parameter {word!r}"
    if call.positional > len(positional) and "variadic positional" not in kinds:
        return f"takes {len(positional)} positional arguments at most, and is given {call.positional}"
    missing = [] if call.open else list(_missing(name.parameters, positional, call))
    return f"needs {missing[0]!r}" if missing else ""


def _missing(parameters: Iterable[Parameter], positional: Sequence[Parameter], call: Call) -> Iterator[str]:
    given = {each.name for each in positional[: call.positional]} | set(call.keywords)
    for each in parameters:
        if each.default is None and not each.kind.startswith("variadic") and each.name not in given:
            yield each.name
