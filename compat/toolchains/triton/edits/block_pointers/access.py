"""Loads from and stores to block pointers, and the common part of all forms that replace them.

A part of a block pointer is repeated at each use if it has the same value everywhere. It does if it
consists of names that are bound once and outside of loops, and of operations without effects.
Variables hold the other parts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import libcst as cst
from attrs import Factory, define, frozen

from compat.toolchains.language import CannotEdit
from compat.toolchains.triton.edits.block_pointers.flow import Definition, Flow, Web
from compat.toolchains.triton.edits.block_pointers.normal_form import BASE, MAKE, MadePointer, Part
from compat.toolchains.triton.edits.code import (
    Code,
    arguments_of,
    bound_targets,
    dotted_name,
    elements_of,
    literal,
    names_in,
    parenthesize,
    walk,
)

_LOAD = (
    "pointer",
    "mask",
    "other",
    "boundary_check",
    "padding_option",
    "cache_modifier",
    "eviction_policy",
    "volatile",
)
_STORE = ("pointer", "value", "mask", "boundary_check", "cache_modifier", "eviction_policy")
_HINTS = ("cache_modifier", "eviction_policy", "volatile")
_PURE_CALLS = (
    "program_id",
    "num_programs",
    "cdiv",
    "minimum",
    "maximum",
    "multiple_of",
    "max_contiguous",
    "full",
    "cast",
)
_PURE = (
    cst.Name,
    cst.Integer,
    cst.Float,
    cst.SimpleString,
    cst.BinaryOperation,
    cst.UnaryOperation,
    cst.Attribute,
    cst.Arg,
    cst.Comparison,
    cst.ComparisonTarget,
    cst.BooleanOperation,
    cst.IfExp,
    cst.BaseBinaryOp,
    cst.BaseUnaryOp,
    cst.BaseCompOp,
    cst.BaseBooleanOp,
    cst.AssignEqual,
    cst.Dot,
)
_DEEP = 8
"""Maximum number of bindings that a lookup follows."""


Value = str | None
"""The text of a part, if it may be repeated at every use; ``None`` if a variable holds it."""


@frozen(kw_only=True)
class Access:
    """A load or a store."""

    web: Web
    is_load: bool
    checked: tuple[int, ...]
    """The axes along which the access checks the bounds of the tensor."""
    padding: str
    """``zero``, ``nan``, or empty if values outside are undefined."""
    hints: Mapping[str, cst.BaseExpression]
    """Arguments that may stay unchanged."""

    @classmethod
    def of(cls, call: cst.Call, web: Web, code: Code) -> Access:
        is_load = code.language.called_name(call) == "load"
        written = arguments_of(call, _LOAD if is_load else _STORE)
        arguments = {name: node for name, node in written.items() if dotted_name(node) != "None"}
        if arguments.keys() & {"mask", "other"}:
            raise CannotEdit("a block pointer is used with a mask")
        return cls(
            web=web,
            is_load=is_load,
            checked=(
                _axes(arguments["boundary_check"], web) if "boundary_check" in arguments else ()
            ),
            padding=_padding(arguments["padding_option"]) if "padding_option" in arguments else "",
            hints={name: written[name] for name in _HINTS if name in written},
        )


def _axes(node: cst.BaseExpression, web: Web) -> tuple[int, ...]:
    elements = elements_of(node)
    numbers = [literal(element) for element in ([node] if elements is None else elements)]
    axes = sorted({number for number in numbers if number is not None})
    if None in numbers or (axes and not 0 <= axes[0] <= axes[-1] < web.made_pointer.rank):
        raise CannotEdit("boundary_check is not written out as axes")
    return tuple(axes)


def _padding(node: cst.BaseExpression) -> str:
    value = node.evaluated_value if isinstance(node, cst.SimpleString) else None
    if value not in ("", "zero", "nan"):
        raise CannotEdit("padding_option is not written out as a string")
    return str(value)


class AccessForm(ABC):
    """A form of access that replaces the block pointers of one function.

    ``accesses`` are all loads and stores in it. ``ones`` are names that equal 1. Raises CannotEdit
    if not all accesses can have this form.
    """

    def __init__(
        self, code: Code, flow: Flow, accesses: Sequence[Access], ones: frozenset[str] = frozenset()
    ) -> None:
        self.code, self.flow, self.accesses, self.ones = code, flow, accesses, ones
        self.bindings = Bindings(code, flow.function)
        self.definitions = flow.definitions.values()
        self.language = code.language.name
        self._names: dict[tuple[str, tuple[str | int, ...]], str] = {}
        self.check()
        self._values: dict[tuple[Web, Part], Value] = {}
        self._settle()

    # --- specific to a form ---

    @staticmethod
    @abstractmethod
    def passed_parts(rank: int) -> Sequence[Part]:
        """Return the parts that are passed to another function, for a number of dimensions."""

    @abstractmethod
    def check(self) -> None:
        """Check the function before the edit. Raises CannotEdit if it cannot have this form."""

    @abstractmethod
    def parts_made(self, pointer: MadePointer, definition: Definition) -> Mapping[Part, Value]:
        """Return the parts of a block pointer at the definition that makes it."""

    @abstractmethod
    def defining(self, definition: Definition) -> Sequence[str]:
        """Return the statements that replace a definition."""

    def before(self, access: Access) -> Sequence[str]:
        """Return the statements before the one with a load or store in it.

        If several loads in one statement need the same statement, it counts once.
        """
        return ()

    @abstractmethod
    def accessing(self, access: Access, call: cst.Call) -> str:
        """Return the expression that replaces a load or store.

        ``call`` is the load or store with the expressions inside it edited.
        """

    @abstractmethod
    def element_holder(self, web: Web) -> str:
        """Return an expression whose ``dtype`` is that of a pointer to an element."""

    def notes(self) -> Iterable[str]:
        """Return notes about what the edit assumes or changes."""
        return ()

    # --- common to all forms ---

    def _settle(self) -> None:
        """Find the value of every part of every web: a text if all definitions agree on one."""
        before = None
        while before != self._values:
            before = dict(self._values)
            for definition in self.definitions:
                for part, value in self._parts_of(definition).items():
                    key = definition.web, part
                    self._values[key] = value if self._values.get(key, value) == value else None

    def _parts_of(self, definition: Definition) -> Mapping[Part, Value]:
        if definition.made is not None:
            return self.parts_made(definition.made, definition)
        source = {
            part: value
            for (web, part), value in self._values.items()
            if web is definition.source_web
        }
        return {
            part: None if part[0] == "at" and definition.moves(part[1]) else value
            for part, value in source.items()
        }

    def is_kept(self, web: Web, part: Part) -> bool:
        """Whether a variable holds a part."""
        return self._values.get((web, part)) is None

    def value(self, web: Web, part: Part) -> str:
        """Return a part at a use: the variable that holds it, or its text."""
        value = self._values.get((web, part))
        return self.name(web, part) if value is None else value

    def handing(self, web: Web) -> Mapping[Part, str]:
        """Return expressions for the parts of a block pointer that is passed on or returned."""
        return {part: self.value(web, part) for part in self.passed_parts(web.made_pointer.rank)}

    def part_after(self, definition: Definition, part: Part) -> str:
        """Return a part after a definition that copies or advances a block pointer."""
        assert definition.source_web is not None
        before = self.value(definition.source_web, part)
        if part[0] != "at" or not definition.moves(part[1]):
            return before
        by = self.text(definition.offsets[part[1]])
        return by if definition.placed else _add(before, by)

    def name(self, web: Web, part: Part) -> str:
        """Return the variable that holds a part."""
        return self.fresh(
            web, part, f"{web.name}_{part[0] if part == BASE else '_'.join(map(str, part))}"
        )

    def fresh(self, web: Web, what: tuple[str | int, ...], name: str) -> str:
        """Return the variable for something of a web, the same for webs of one name.

        It has the wanted name if that is free.
        """
        key = (web.name, what)
        if key not in self._names:
            self._names[key] = self.code.fresh(name)
        return self._names[key]

    def text(self, node: cst.CSTNode) -> str:
        """Return a node as source text.

        An expression that continues on another line gets the parentheses that it needs elsewhere.
        """
        text = self.code.code_for(node)
        if "\n" not in text:
            return text
        try:
            cst.parse_expression(text)
        except cst.ParserSyntaxError:
            return f"({text})"
        return text


# --- source text ----------------------------------------------------------------------------------


def stored_value(call: cst.Call) -> cst.BaseExpression:
    """Return the value that a store writes."""
    return arguments_of(call, _STORE)["value"]


def addend(text: str) -> str:
    """Return an expression as the first term of a sum or as an operand of a comparison.

    It gets parentheses if it needs them there.
    """
    node = cst.parse_expression(text)
    plain = isinstance(node, cst.BinaryOperation) and isinstance(
        node.operator, cst.Add | cst.Subtract | cst.Multiply | cst.FloorDivide | cst.Modulo
    )
    return (
        text
        if plain or dotted_name(node) or (isinstance(node, cst.UnaryOperation) and not node.lpar)
        else parenthesize(text)
    )


def _add(value: str, by: str) -> str:
    if value == "0":
        return by
    return (
        f"{value} +"
        f" {by if isinstance(cst.parse_expression(by), cst.UnaryOperation) else parenthesize(by)}"
    )


def assignment(name: str, value: str) -> str:
    """Return ``name = value``, or ``name += …`` if the value is a sum that begins with the name."""
    return (
        f"{name} += {value.removeprefix(f'{name} + ')}"
        if value.startswith(f"{name} + ")
        else f"{name} = {value}"
    )


# --- what a function binds ------------------------------------------------------------------------


@define(eq=False, slots=False)
class Bindings:
    """The names that a function binds, and how often."""

    code: Code
    """The module that contains the function."""
    function: cst.FunctionDef
    counts: Counter[str] = Factory(Counter)
    """Name → its number of bindings. A binding in a loop counts as two."""
    _values: dict[str, cst.BaseExpression] = Factory(dict)
    """Name → its value, if one assignment binds it."""
    _ranges: set[str] = Factory(set)
    """Names that count up from a number that is not negative."""

    def __attrs_post_init__(self) -> None:
        self.counts.update(
            parameter.name.value
            for parameter in walk(self.function.params)
            if isinstance(parameter, cst.Param)
        )
        loops = (node for node in walk(self.function.body) if isinstance(node, cst.For | cst.While))
        in_loops = {id(inner) for loop in loops for inner in walk(loop)}
        for node in walk(self.function.body):
            for target, value in bound_targets(node):
                for name in names_in(target):
                    self.counts[name] += 2 if id(node) in in_loops else 1
                if isinstance(target, cst.Name) and value is not None:
                    self._values[target.value] = value
            if (
                isinstance(node, cst.For)
                and isinstance(node.target, cst.Name)
                and self._counts_up(node.iter)
            ):
                self._ranges.add(node.target.value)

    def _counts_up(self, node: cst.BaseExpression) -> bool:
        if not isinstance(node, cst.Call) or not (
            dotted_name(node.func) == "range"
            or self.code.language.called_name(node) in ("range", "static_range")
        ):
            return False
        values = [arg.value for arg in node.args if not arg.keyword]
        start = literal(values[0]) if len(values) > 1 else 0
        return (
            start is not None
            and start >= 0
            and not any(isinstance(value, cst.UnaryOperation) for value in values[1:])
        )

    def stable(self, node: cst.BaseExpression) -> bool:
        """Whether an expression has the same value everywhere in the function."""
        return all(self._is_stable(inner) for inner in walk(node))

    def _is_stable(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Call):
            return self.code.language.called_name(node) in _PURE_CALLS or _is_converted(node)
        return isinstance(node, _PURE) and not (
            isinstance(node, cst.Name) and self.counts[node.value] > 1
        )

    def natural(self, node: cst.BaseExpression, depth: int = _DEEP) -> bool:
        """Whether an integer expression is certainly not negative."""
        if (number := literal(node)) is not None:
            return number >= 0
        if depth == 0:
            return False
        if isinstance(node, cst.BinaryOperation) and isinstance(
            node.operator, cst.Add | cst.Multiply | cst.FloorDivide
        ):
            return self.natural(node.left, depth - 1) and self.natural(node.right, depth - 1)
        if isinstance(node, cst.Call):
            if self.code.language.called_name(node) in ("program_id", "num_programs"):
                return True
            return _is_converted(node) and self.natural(node.func.value, depth - 1)  # type: ignore[attr-defined]
        if not isinstance(node, cst.Name):
            return False
        name = node.value
        if name in self._blocks or (name in self._ranges and self.counts[name] <= 2):
            return True
        return (
            self.counts[name] == 1
            and name in self._values
            and self.natural(self._values[name], depth - 1)
        )

    @cached_property
    def _blocks(self) -> frozenset[str]:
        """Return the names of block sizes, which are positive.

        They are arguments of ``tl.arange(0, …)``, and the blocks of block pointers.
        """
        sizes = {
            size.value
            for node in walk(self.function)
            for size in self._sizes(node)
            if isinstance(size, cst.Name)
        }
        return frozenset(
            name for name in sizes if self.counts[name] <= 1 and name not in self._values
        )

    def _sizes(self, node: cst.CSTNode) -> tuple[cst.BaseExpression, ...]:
        called = self.code.language.called_name(node)
        if called == "arange" and isinstance(node, cst.Call) and len(node.args) > 1:
            return (node.args[1].value,)
        try:
            return (
                MadePointer.of(node).block if called == MAKE and isinstance(node, cst.Call) else ()
            )
        except CannotEdit:
            return ()


def _is_converted(call: cst.Call) -> bool:
    """Whether a call is a conversion, ``x.to(…)``."""
    return isinstance(call.func, cst.Attribute) and call.func.attr.value == "to"
