"""Records of the names of an env, which :mod:`compat.api.inspection` reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property

from attrs import Factory, define, frozen

from compat.config.selection import nothing_matches
from compat.model import BuiltEnv
from compat.text import group_by_key


@frozen(kw_only=True)
class ApiParameter:
    """A parameter that a caller may pass."""

    name: str
    kind: str
    """The kind in the words of Python's :mod:`inspect`: ``positional or keyword``,
    ``keyword-only``, ``variadic positional``, …
    """
    default: str | None = None
    """The default in Python's notation; ``None`` without one."""
    deprecated: str = ""
    """The text of the docstring about its deprecation."""

    @property
    def text(self) -> str:
        """The parameter in a signature, such as ``other``, ``acc=None`` or ``*shape``."""
        star = {"variadic positional": "*", "variadic keyword": "**"}.get(self.kind, "")
        return f"{star}{self.name}" if self.default is None else f"{star}{self.name}={self.default}"


@frozen(kw_only=True)
class ApiName:
    """One name in one env."""

    kind: str = ""
    """``builtin``, ``jit``, ``function``, ``class``, ``dtype``, ``module``, ``value``, ``method``,
    ``property``, ``attribute``.
    """
    parameters: tuple[ApiParameter, ...] | None = None
    """``None`` for a name that cannot be called, and for unknown parameters."""
    same_as: str = ""
    """The main name of the same object, which has all facts."""
    value: str | None = None
    opaque: bool = False
    """Whether the name is a class without a list of its members."""
    internal: bool = False
    """Whether the name is not intended for users, according to the toolchain."""
    refuses: str = ""
    """The error of an object that only raises; empty for others."""
    deprecated: tuple[str, ...] = ()
    warns: tuple[str, ...] = ()
    """Deprecation warnings that a call gives only under a condition."""
    error: str = ""
    """The reason why the module cannot be imported in this env."""

    @property
    def signature(self) -> str:
        """The parameters, such as ``(input, other, acc=None, *, out_dtype=None)``.

        They are empty if the object has none.
        """
        if self.parameters is None:
            return ""
        parts: list[str] = []
        for parameter in self.parameters:
            if parameter.kind == "keyword-only" and "*" not in {word[:1] for word in parts}:
                parts.append("*")
            parts.append(parameter.text)
        return f"({', '.join(parts)})"


@frozen(kw_only=True)
class Document:
    """The answer of an env."""

    schema: int
    version: str
    names: Mapping[str, ApiName]


@define(kw_only=True, slots=False)
class Namespace:
    """The names of an env."""

    names: Mapping[str, ApiName]
    """Full name → its entry."""

    def get(self, full: str) -> ApiName | None:
        """Return the entry of the object that has this name, or ``None`` without such a name.

        An alias of an object returns the entry of its main name.
        """
        name = self.names.get(full)
        if name is None:
            above, _, last = full.rpartition(".")
            within = self.names.get(above)
            return self.names.get(f"{within.same_as}.{last}") if within and within.same_as else None
        return self.names.get(name.same_as, name) if name.same_as else name

    def unknown(self, full: str) -> str:
        """The reason why a name is unknown; empty if it is known.

        A name is unknown if its module cannot be imported in this env.
        """
        if full not in self.import_errors and not full.startswith(self._inside):
            return ""
        return next(
            (
                f"{module}: {error}"
                for module, error in self.import_errors.items()
                if _is_in(full, module)
            ),
            "",
        )

    @cached_property
    def import_errors(self) -> Mapping[str, str]:
        """Module that cannot be imported → the reason."""
        return {full: name.error for full, name in self.names.items() if name.error}

    @cached_property
    def _inside(self) -> tuple[str, ...]:
        """The prefixes of names in modules that cannot be imported."""
        return tuple(f"{module}." for module in self.import_errors)

    @cached_property
    def others(self) -> Mapping[str, tuple[str, ...]]:
        """Name → the other names of the same object."""
        return group_by_key(
            (name.same_as, full) for full, name in self.names.items() if name.same_as
        )


def _is_in(full: str, module: str) -> bool:
    return full == module or full.startswith(f"{module}.")


@frozen(kw_only=True)
class InspectedRelease:
    """A release or a fork, with the names in one of its envs."""

    label: str
    """The name for readers: ``3.9.0``."""
    fork: bool = False
    built: BuiltEnv | None = None
    """``None`` for a release that no env declares."""
    namespace: Namespace | None = None
    error: str = ""
    """The reason why the names of the release are unknown."""
    missing: bool = False
    """Whether the reason is that its env is not built."""
    left_out: bool = False
    """Whether the reason is that other envs were asked for."""


@frozen(kw_only=True)
class Inspection:
    """The names of a toolchain in several releases, oldest first, then forks."""

    toolchain: str
    places: tuple[InspectedRelease, ...]
    """One entry per release or fork."""
    short: Mapping[str, str] = Factory(dict)
    """Module's usual abbreviation → its name, such as ``tl`` → ``triton.language``."""

    @property
    def inspected_releases(self) -> tuple[InspectedRelease, ...]:
        """Entries whose names were read."""
        return tuple(place for place in self.places if place.namespace is not None)

    @property
    def namespaces(self) -> tuple[Namespace, ...]:
        """The names of each inspected release or fork."""
        return tuple(place.namespace for place in self.places if place.namespace is not None)

    @property
    def line(self) -> tuple[str, ...]:
        """All releases, oldest first."""
        return tuple(place.label for place in self.places)

    def entries(self, full: str) -> list[ApiName]:
        """Return the entries of a full name, one of each release that has it."""
        return [names.names[full] for names in self.namespaces if full in names.names]

    def is_internal(self, full: str) -> bool:
        """Whether some release has a full name, and none intends it for users."""
        entries = self.entries(full)
        return bool(entries) and all(entry.internal for entry in entries)

    def short_name(self, full: str) -> str:
        """Return a full name as authors write it: ``tl.dot``."""
        for short, module in self.short.items():
            if _is_in(full, module):
                return short + full[len(module) :]
        return full

    def order(self, full: str) -> tuple[int, str]:
        """A sort key: names of the language first, then names of the package, then others."""
        shown = self.short_name(full)
        modules = list(self.short.values())
        rank = next((number for number, module in enumerate(modules) if _is_in(full, module)), None)
        return (1 if rank is None else 2 * rank), shown

    def full(self, written: str) -> str:
        """Return the full name of what authors write."""
        first, dot, rest = written.partition(".")
        return f"{self.short.get(first, first)}{dot}{rest}"


_GLOB = frozenset("*?[")


@frozen(kw_only=True)
class NameMatches:
    """The names that patterns match."""

    names: tuple[str, ...]
    """Full names, in order."""
    internal: int = 0
    """The number of further names that globs match and that are not intended for users."""


def find(inspection: Inspection, patterns: Iterable[str], *, internal: bool = False) -> NameMatches:
    """Find the names that patterns match.

    A pattern is a name as authors write it or in full, with or without its module, or a glob over
    names as authors write them. A glob leaves out aliases of objects that it also matches by
    another name. With ``internal``, it also matches names that are not intended for users. Raises
    SelectionError if a pattern matches nothing.
    """
    shown = shown_names(inspection)
    meanings: dict[str, None] = {}
    hidden = 0
    for pattern in patterns:
        in_full = pattern.startswith(tuple(inspection.short.values()))
        if _GLOB & set(pattern):
            matched = [
                full
                for written, full in shown.items()
                if matches(full if in_full else written, pattern)
            ]
            meant = [full for full in matched if internal or not inspection.is_internal(full)]
            meant = list(_without_aliases(inspection, meant))
            hidden += len(set(_without_aliases(inspection, matched)) - set(meant))
        else:
            meant = list(_names_of_word(inspection, pattern, shown))
        if not meant:
            raise nothing_matches("name", pattern, shown.values() if in_full else shown)
        meanings |= dict.fromkeys(meant)
    return NameMatches(names=tuple(meanings), internal=hidden)


def matches(name: str, glob: str) -> bool:
    """Whether a glob matches a name: part by part, ``**`` for any number of parts.

    A glob with a single part matches the end of a name.
    """
    parts, glob_parts = name.split("."), glob.split(".")
    return fnmatchcase(parts[-1], glob) if len(glob_parts) == 1 else _fit(parts, glob_parts)


def _fit(parts: Sequence[str], glob_parts: Sequence[str]) -> bool:
    if not glob_parts:
        return not parts
    if glob_parts[0] == "**":
        return any(_fit(parts[start:], glob_parts[1:]) for start in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], glob_parts[0]) and _fit(parts[1:], glob_parts[1:])


def shown_names(inspection: Inspection) -> dict[str, str]:
    """Every name of some release as authors write it → in full; names of the language first."""
    names = {full for namespace in inspection.namespaces for full in namespace.names}
    written = {inspection.short_name(full): full for full in names}
    return {
        name: written[name]
        for name in sorted(written, key=lambda name: inspection.order(written[name]))
    }


def _names_of_word(inspection: Inspection, word: str, shown: dict[str, str]) -> Iterable[str]:
    full = inspection.full(word)
    if full in shown.values():
        return (full,)
    # A name without a module means the one in the first module that has it.
    if "." not in word:
        modules = (*inspection.short.values(), inspection.toolchain)
        return [name for module in modules if (name := f"{module}.{word}") in shown.values()][:1]
    return ()


def _without_aliases(inspection: Inspection, names: list[str]) -> Iterable[str]:
    """The names, without those that are an alias of another chosen name in every release."""
    chosen = set(names)
    for full in names:
        if not all(entry.same_as in chosen for entry in inspection.entries(full)):
            yield full
