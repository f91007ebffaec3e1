"""Which value a constexpr most likely has, and why: what launches, defaults and heuristics say, else its use and its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import define

from compat import constexprs
from compat.guess.facts import PART_OF_ADDRESS, Facts, Origin
from compat.guess.jitted import JitFunction, Parameter
from compat.guess.launches import Launch
from compat.guess.literals import Function, Scope
from compat.guess.pure import Unknown
from compat.guess.tensors import Size
from compat.guess.types import Guess
from compat.patterns import lazy_pattern

_FLAG = lazy_pattern(
    r"(?i)_*(is|has|use|do|with|enable|disable|allow|need|even|causal|skip|store|save|output|return|apply|add|norm|reverse|transpose"
    r"|trans|inplace|debug|fused|training|masked|compute)(_.*)?$|.*_(flag|causal|enabled)$|.*causal.*|.*varlen.*"
)
_INNER = lazy_pattern(r"(?i).*(_k|blk_?k)$|^bk$")
_HEADS = lazy_pattern(r"(?i).*(head_?dim|d_?head|dmodel|headdim|_d|dv|dk|head_size).*|^[dkv]$")
_COUNT = lazy_pattern(r"(?i).*(num|_n$|count|heads?|groups?|stages|splits?|iters?|loops|unroll|ndim|^h[qkv]?$|^g$|topk|experts)")
_GROUP = lazy_pattern(r"(?i).*group_?(size)?(_?m)?$")
_STRIDE = lazy_pattern(r"(?i).*stride.*")
_FLOATS = (
    (lazy_pattern(r"(?i).*eps"), 1e-6),
    (lazy_pattern(r"(?i).*(scale|alpha|factor|slope|beta|soft_?cap|theta|momentum)"), 1.0),
)
_DTYPE = lazy_pattern(r"(?i).*(dtype|_ty(pe)?)$")
_SIZES = (16, 32, 64, 128, 256)


@define
class Values:
    """The values of the constexprs of one kernel."""

    function: JitFunction
    facts: Facts
    launches: Sequence[Launch]
    scope: Scope

    def of(self, parameter: Parameter) -> Guess:
        """The value of a constexpr that no config and no heuristic says."""
        return next(self._said(parameter), None) or self.unlaunched(parameter)

    def unlaunched(self, parameter: Parameter) -> Guess:
        """The value of a constexpr by what the kernel does with it, and by its name."""
        return self._by_use(parameter) or self._by_name(parameter)

    def _said(self, parameter: Parameter) -> Iterator[Guess]:
        """What launches and the default say."""
        for launch in self.launches:
            value = launch.values.get(parameter.name)
            if parameter.name in launch.values and is_value(value):
                why = f"{value.key}, as launched" if isinstance(value, Size) else "as launched"
                yield Guess(int(value) if isinstance(value, Size) else value, f"{why} in line {launch.line}")
        known, value = self.scope.try_value(parameter.default)
        if known and is_value(value):
            yield Guess(value, "its default", exact=True)

    def _by_use(self, parameter: Parameter) -> Guess | None:
        name = parameter.name
        if name in self.facts.functions:
            return Guess(None, "a function; name one of this source", "a function of this source that it is to be")
        if name in self.facts.dtypes or _DTYPE.fullmatch(name):
            return Guess({"dtype": "fp32"}, "used as a dtype")
        compared = self.facts.compared.get(name, [])
        texts = [each for each in compared if isinstance(each, str)]
        if texts:
            return Guess(texts[0], "a value that it is compared with")
        if name in self.facts.spans:
            return Guess(self._side(name), "the length of a block: a power of two")
        if name in self.facts.tested or _FLAG.fullmatch(name):
            return Guess(False, "a flag")
        if None in compared:
            return Guess(None, "compared with None")
        return None

    def _side(self, name: str) -> int:
        """The length of a side of a block."""
        if _GROUP.fullmatch(name) and not name.upper().startswith("BLOCK"):
            return 8
        if self.facts.dots:
            return 32 if _INNER.fullmatch(name) and not _HEADS.match(name.replace("BLOCK", "")) else 64
        sides = sum(1 for each in self.function.parameters if each.is_constexpr and each.name in self.facts.spans)
        return 1024 if self.facts.blocks < 2 and sides < 2 else 64 if sides < 3 else 32

    def _by_name(self, parameter: Parameter) -> Guess:
        name = parameter.name
        compared = [each for each in self.facts.compared.get(name, []) if isinstance(each, int) and not isinstance(each, bool)]
        for pattern, value in _FLOATS:
            if pattern.fullmatch(name):
                return Guess(value, "by its name")
        if _GROUP.fullmatch(name):
            return Guess(8, "by its name")
        if _HEADS.fullmatch(name):
            return Guess(64, "by its name")
        if _STRIDE.fullmatch(name):
            return Guess(64, "a stride")
        if (
            (name.upper().startswith(("BLOCK", "B", "TILE")) and len(name) <= 2)
            or "BLOCK" in name.upper()
            or "TILE" in name.upper()
        ):
            return Guess(self._side(name), "a block, by its name")
        if (kind := self.facts.kinds.get(Origin(name))) and kind.why == PART_OF_ADDRESS:
            return Guess(64, "a stride: part of an address")
        if compared:
            return Guess(compared[0], "a value that it is compared with")
        if _COUNT.match(name):
            return Guess(4, "a count, by its name")
        return Guess(64, "nothing tells what it is", "nothing tells its value")


def is_value(value: Any) -> bool:
    """Whether a constexpr can have this value."""
    if isinstance(value, Mapping):
        return len(value) == 1 and next(iter(value)) in ("dtype", "torch_dtype")
    if isinstance(value, tuple | list):
        return all(map(is_value, value))
    if isinstance(value, int) and not isinstance(value, bool):
        return -(1 << 63) <= value < 1 << 64
    return value is None or isinstance(value, bool | float | str)


def heuristic(function: ast.expr, known: Mapping[str, Any], scope: Scope) -> Any:
    """What a heuristic computes from the other arguments. Raises :class:`Unknown`."""
    found = scope.value(function)
    if not isinstance(found, Function):
        raise Unknown("not a function")
    value = scope.call(found, [dict(known)], {})
    if isinstance(value, tuple | list) or not is_value(value):
        raise Unknown("no value of a constexpr")
    return value


def broken_asserts(asserts: Sequence[ast.expr], values: Mapping[str, Any], scope: Scope) -> list[ast.expr]:
    """The static assertions that values do not meet, as far as that follows from them."""
    inner = scope.inside(values)
    return [each for each in asserts for known, found in [inner.try_value(each)] if known and not found]


def names_in(node: ast.expr) -> frozenset[str]:
    """The names that an expression uses."""
    return frozenset(each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def mended(
    values: dict[str, Any], free: Sequence[str], asserts: Sequence[ast.expr], scope: Scope
) -> tuple[dict[str, Any], frozenset[str]]:
    """Values with guessed ones changed so that static assertions hold where that is possible, and which were changed."""
    changed: set[str] = set()
    for _ in range(len(free)):
        broken = broken_asserts(asserts, values, scope)
        choices = [name for name in free if broken and name in names_in(broken[0]) and name not in changed]
        better = next((found for name in choices if (found := _better(name, values, asserts, scope))), None)
        if better is None:
            break
        name, values = better
        changed.add(name)
    return values, frozenset(changed)


def _better(name: str, values: dict[str, Any], asserts: Sequence[ast.expr], scope: Scope) -> tuple[str, dict[str, Any]] | None:
    now = len(broken_asserts(asserts, values, scope))
    tried = [True, False] if isinstance(values[name], bool) else _SIZES if isinstance(values[name], int) else []
    for each in tried:
        found = {**values, name: each}
        if len(broken_asserts(asserts, found, scope)) < now:
            return name, found
    return None


def written(value: Any) -> Any:
    """A value as a kernel file has it."""
    return constexprs.plain(value)
