"""What the names of one env are: the records of what :mod:`compat.execution.introspection` brings from it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from attrs import Factory, define, frozen

from compat.model import BuiltEnv


@frozen(kw_only=True)
class Parameter:
    """A parameter that a caller may give."""

    name: str
    kind: str
    """As Python's :mod:`inspect` calls it: ``positional or keyword``, ``keyword-only``, ``variadic positional``, …"""
    default: str | None = None
    """As it is written in Python; ``None`` where there is none."""
    deprecated: str = ""
    """What the docstring says of its deprecation."""

    @property
    def text(self) -> str:
        """``other``, ``acc=None``, ``*shape``."""
        star = {"variadic positional": "*", "variadic keyword": "**"}.get(self.kind, "")
        return f"{star}{self.name}" if self.default is None else f"{star}{self.name}={self.default}"

    @property
    def behaviour(self) -> tuple[str, str | None]:
        """What a caller has to know of it."""
        return self.kind, self.default


@frozen(kw_only=True)
class Name:
    """One name in one env."""

    kind: str = ""
    """``builtin``, ``jit``, ``function``, ``class``, ``dtype``, ``module``, ``value``, ``method``, ``property``, ``attribute``."""
    parameters: tuple[Parameter, ...] | None = None
    """``None`` for what is not called, and where nothing tells them."""
    same_as: str = ""
    """The name that is the same object, and has all that is known of it."""
    value: str | None = None
    opaque: bool = False
    """A class whose members are not told."""
    internal: bool = False
    """Not meant for users, as the toolchain says it."""
    refuses: str = ""
    """What it says where all that it does is raise."""
    deprecated: tuple[str, ...] = ()
    warns: tuple[str, ...] = ()
    """Warnings of a deprecation that are given under a condition."""
    error: str = ""
    """Why a module cannot be imported in this env."""

    @property
    def signature(self) -> str:
        """``(input, other, acc=None, *, out_dtype=None)``; empty where there are no parameters to tell of."""
        if self.parameters is None:
            return ""
        words: list[str] = []
        for parameter in self.parameters:
            if parameter.kind == "keyword-only" and "*" not in {word[:1] for word in words}:
                words.append("*")
            words.append(parameter.text)
        return f"({', '.join(words)})"


@frozen(kw_only=True)
class Document:
    """What an env answered."""

    schema: int
    version: str
    names: Mapping[str, Name]


@define(kw_only=True, slots=False)
class Namespace:
    """The names of an env."""

    names: Mapping[str, Name]
    """By their full names."""

    def get(self, full: str) -> Name | None:
        """What a name is; of one that is the same object as another what that is. ``None`` where it is not there."""
        found = self.names.get(full)
        if found is None:
            above, _, last = full.rpartition(".")
            within = self.names.get(above)
            return self.names.get(f"{within.same_as}.{last}") if within and within.same_as else None
        return self.names.get(found.same_as, found) if found.same_as else found

    def unknown(self, full: str) -> str:
        """Why nothing is known of a name: the module that it would be in cannot be imported there. Empty where it is known."""
        if full not in self.broken and not full.startswith(self._inside):
            return ""
        return next((f"{module}: {error}" for module, error in self.broken.items() if _is_in(full, module)), "")

    @cached_property
    def broken(self) -> Mapping[str, str]:
        """Module that cannot be imported → why."""
        return {full: name.error for full, name in self.names.items() if name.error}

    @cached_property
    def _inside(self) -> tuple[str, ...]:
        """How names begin that are in a module that cannot be imported."""
        return tuple(f"{module}." for module in self.broken)

    @cached_property
    def others(self) -> Mapping[str, tuple[str, ...]]:
        """Name → the other names of the same object."""
        found: dict[str, list[str]] = {}
        for full, name in self.names.items():
            if name.same_as:
                found.setdefault(name.same_as, []).append(full)
        return {full: tuple(names) for full, names in found.items()}


def _is_in(full: str, module: str) -> bool:
    return full == module or full.startswith(f"{module}.")


@frozen(kw_only=True)
class Place:
    """A release, or a fork, and what was found in an env of it."""

    label: str
    """What a reader knows the release by: ``3.9.0``."""
    fork: bool = False
    built: BuiltEnv | None = None
    """``None`` for a release of which no env is declared."""
    namespace: Namespace | None = None
    error: str = ""
    """Why nothing is known of it."""
    missing: bool = False
    """Whether that is because its env is not built."""
    left_out: bool = False
    """Whether that is because other envs were asked for."""


@frozen(kw_only=True)
class Looked:
    """What was looked at: the releases that there are, oldest first, then forks."""

    toolchain: str
    """The name of the toolchain that these are releases of."""
    places: tuple[Place, ...]
    short: Mapping[str, str] = Factory(dict)
    """What people write for a module → its name."""

    @property
    def known(self) -> tuple[Place, ...]:
        """Those that something is known of."""
        return tuple(place for place in self.places if place.namespace is not None)

    @property
    def line(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(place.label for place in self.places)

    def shown(self, full: str) -> str:
        """A name as people write it: ``tl.dot``."""
        for short, module in self.short.items():
            if _is_in(full, module):
                return short + full[len(module) :]
        return full

    def order(self, full: str) -> tuple[int, str]:
        """The key to sort names by: those of the language first, then those of the package itself, then others."""
        shown = self.shown(full)
        modules = list(self.short.values())
        rank = next((number for number, module in enumerate(modules) if _is_in(full, module)), None)
        return (1 if rank is None else 2 * rank), shown

    def full(self, written: str) -> str:
        """The full name of what people write."""
        first, dot, rest = written.partition(".")
        return f"{self.short.get(first, first)}{dot}{rest}"
