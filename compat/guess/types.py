"""Which type a run-time argument most likely has, and why."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from compat.guess.facts import CERTAIN, FLOATS, LIKELY, WHOLE, Facts, Kind, Origin, Value
from compat.guess.jitted import Parameter
from compat.guess.launches import Launch
from compat.guess.literals import Scope
from compat.patterns import lazy_pattern

_POINTER = lazy_pattern(r"(?i).*_?(ptrs?|pointer)$|^p_|^ptr_")
_WHOLE_NAME = lazy_pattern(
    r"(?i).*(stride|num|size|len|count|dim|rows?|cols?|seq|batch|idx|index|offset|start|end|head|steps?|width|height|seed|group|elements"
    r"|tokens?|vocab)|^[A-Z]{1,2}$|^n_|^[a-z]$"
)
_FLOAT_NAME = lazy_pattern(r"(?i).*(eps|scale|alpha|beta|prob|factor|moment|decay|theta|soft_?cap|slope|temp|lr|rate|weight_)|^p$")
_BOOL_ELEMENTS = lazy_pattern(r"(?i)(.*_)?(mask|is_\w+|valid|flags?)(_?ptrs?)?$")
_WHOLE_ELEMENTS = lazy_pattern(
    r"(?i).*(cu_?seq|seq_?len|lengths?|_lens|indices|indptr|index|_idx|idx_|offsets?|block_tables?|slot|page_|position|locks?|counts?"
    r"|permut|sorted_|expert_ids|token_ids)"
)
_WIDE_ELEMENTS = lazy_pattern(r"(?i).*(label|target|token_ids|input_ids|indices|slot_mapping|positions?)")
_LANGUAGE = {"int1": "i1"} | {
    f"{long}{bits}": f"{short}{bits}" for long, short in (("int", "i"), ("uint", "u")) for bits in (8, 16, 32, 64)
}
_LANGUAGE |= {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"}
_PYTHON = {"int": "i32", "float": "fp32", "bool": "i1"}
_TYPE = lazy_pattern(r"\*?k?(i1|[iu](8|16|32|64)|fp16|bf16|fp32|fp64|fp8\w+)")


@frozen
class Guess:
    """A guessed value, and why."""

    value: Any
    why: str
    look_at: str = ""
    """What deserves a look, where the guess is weak."""
    exact: bool = False
    """Whether the source itself says so: no guess then."""


@define
class Types:
    """The types of the run-time arguments of one kernel."""

    facts: Facts
    launches: Sequence[Launch]
    scope: Scope
    _dots: dict[str, str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._dots = _dot_types(self.facts.dots)

    def of(self, parameter: Parameter) -> Guess:
        """The type of an argument."""
        name = parameter.name
        annotated = _annotated(parameter.annotation, self.scope)
        if annotated and annotated != "const":
            return Guess(annotated, "by its annotation", exact=annotated not in ("i32", "fp32"))
        if name in self.facts.descriptors and name not in self.facts.pointers:
            sides = ", ".join(["64"] * max(1, self.facts.descriptors[name]))
            return Guess(f"tensordesc<fp16[{sides}]>", "loaded or stored by .load() or .store()", "its block shape")
        if self._is_pointer(name):
            element = self._element(name, set())
            optional = "; may be None" if name in self.facts.optional else ""
            return Guess(f"*{'k' if annotated else ''}{element.value}", element.why + optional, element.look_at)
        return self._scalar(parameter)

    def _is_pointer(self, name: str) -> bool:
        if name in self.facts.pointers:
            return True
        known = self.facts.kinds.get(Origin(name))
        if known and known.sure >= LIKELY:
            return False
        if any(name in launch.tensors for launch in self.launches):
            return True
        return bool(_POINTER.fullmatch(name)) or (name in self.facts.optional and known is None)

    # --- elements ---

    def _element(self, name: str, seen: set[str]) -> Guess:
        """The type of what a pointer leads to."""
        alike = self._alike(name)
        if isinstance(alike, str):
            return Guess(alike, "as the tensor is made where the kernel is launched")
        floats = [(each, found) for each in alike if (found := self._floating(each))]
        others = [(each, found) for each in alike if (found := self._used(each) or self._copied(each, seen | {*alike}))]
        if len(alike) > 1 and floats:
            others = [(each, found) for each, found in others if found.value.startswith(("fp", "bf"))]
        for each, found in (*others, *floats):
            return found if each == name else Guess(found.value, f"as {each}, which has the same dtype where it is launched")
        return Guess("fp32", "nothing tells which floats")

    def _alike(self, name: str) -> str | list[str]:
        """The element type of the tensor that a launch passes; if unknown, the parameters whose tensors have the same."""
        tensors = next((launch.tensors for launch in self.launches if name in launch.tensors), {})
        if not tensors:
            return [name]
        if element := tensors[name].element:
            return element
        return [each for each, tensor in tensors.items() if tensor.origin == tensors[name].origin]

    def _used(self, name: str) -> Guess | None:
        known = self.facts.kinds.get(Origin(name, element=True))
        if known and known.sure >= LIKELY and known.name not in ("float",):
            return Guess(_element_type(known, name), known.why)
        is_float = name in self.facts.single or name in self._dots
        if _BOOL_ELEMENTS.fullmatch(name) and not is_float and (known is None or known.name == "bool"):
            return Guess("i1", "by its name")
        if _WHOLE_ELEMENTS.match(name) and (known is None or known.name in WHOLE):
            return Guess("i64" if _WIDE_ELEMENTS.match(name) else "i32", "by its name")
        if known and known.name in WHOLE | {"bool"}:
            return Guess(_element_type(known, name), known.why)
        return None

    def _copied(self, name: str, seen: set[str]) -> Guess | None:
        sources = [source.name for target, source in self.facts.copies if target.name == name]
        for source in sorted({*sources} - seen - {name}):
            found = self._element(source, {*seen, name})
            if found.value != "fp32":
                return Guess(found.value, f"{source} is stored there")
        return None

    def _floating(self, name: str) -> Guess | None:
        known = self.facts.kinds.get(Origin(name, element=True))
        if name in self._dots:
            return Guess(self._dots[name], "an operand of tl.dot")
        if known and known.name in ("fp16", "bf16"):
            return Guess(known.name, known.why)
        if name in self.facts.single:
            return Guess("fp32", self.facts.single[name])
        if name in self.facts.half:
            return Guess("fp16", self.facts.half[name])
        return None

    # --- scalars ---

    def _scalar(self, parameter: Parameter) -> Guess:
        name, known = parameter.name, self.facts.kinds.get(Origin(parameter.name))
        if known and known.sure >= LIKELY:
            return Guess(_scalar_type(known), known.why)
        if any(name in launch.whole for launch in self.launches):
            return Guess("i32", "a size or stride where it is launched")
        for value, why in self._values(parameter):
            if isinstance(value, bool | int | float):
                kind = next(each for each in (bool, int, float) if isinstance(value, each))
                return Guess(_PYTHON[kind.__name__], why)
        if known:
            return Guess(_scalar_type(known), known.why)
        if _FLOAT_NAME.match(name):
            return Guess("fp32", "by its name")
        if _WHOLE_NAME.match(name):
            return Guess("i32", "by its name")
        return Guess("i32", "nothing tells what it is", "nothing tells its type")

    def _values(self, parameter: Parameter) -> list[tuple[Any, str]]:
        known, value = self.scope.try_value(parameter.default)
        found = [(value, "by its default")] if known else []
        name = parameter.name
        return [*found, *((each.values[name], f"as launched in line {each.line}") for each in self.launches if name in each.values)]


def _element_type(kind: Kind, name: str) -> str:
    if kind.name == "int":
        return "i64" if _WIDE_ELEMENTS.match(name) and kind.sure < CERTAIN else "i32"
    return {"bool": "i1", "fp8": "fp8e5"}.get(kind.name, kind.name)


def _scalar_type(kind: Kind) -> str:
    if kind.name in FLOATS:
        return "fp32"
    return {"bool": "i1", "i64": "i64"}.get(kind.name, "i32")


def _annotated(annotation: ast.expr | None, scope: Scope) -> str | None:
    """The type that an annotation says; ``const`` for a pointer to what is only read."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        text = annotation.value.rpartition(".")[2] if not annotation.value.startswith("*") else annotation.value
        return text if _TYPE.fullmatch(text) else _LANGUAGE.get(text) or _PYTHON.get(text) or ("const" if text == "const" else None)
    name = (scope.called(annotation) or "").rpartition(".")[2] if annotation is not None else ""
    return _LANGUAGE.get(name) or _PYTHON.get(name) or ("const" if name == "const" else None)


# --- operands of tl.dot ----------------------------------------------------------------------------------------------------------


def _dot_types(dots: Sequence[tuple[Value, Value]]) -> dict[str, str]:
    """Pointer → element type, so that the two operands of each dot have the same."""
    found: dict[str, str] = {}
    for _ in range(len(dots) + 1):
        for sides in dots:
            kind = next((each for side in sides if (each := _exact(side, found))), None)
            if kind:
                found |= {name: kind for side in sides for name in _elements(side) if name not in found}
    return {**{name: "fp16" for sides in dots for side in sides for name in _elements(side)}, **found}


def _elements(value: Value) -> list[str]:
    return sorted(origin.name for origin in value.origins if origin.element)


def _exact(value: Value, known: Mapping[str, str]) -> str | None:
    """What an operand has to be, whatever its pointers lead to."""
    names = _elements(value)
    if names:
        return next((known[name] for name in names if name in known), None)
    return value.kind if value.kind in ("fp32", "fp16", "bf16") else None
