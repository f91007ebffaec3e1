"""Loads from and stores to block pointers, and what every form of access has that takes their place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import libcst as cst
from attrs import frozen

from compat.toolchains.language import CannotEdit
from compat.toolchains.triton.edits.block_pointers.components import Bindings, KeptPart, Part, PointerParts, Value, moves
from compat.toolchains.triton.edits.block_pointers.normal import MadePointer
from compat.toolchains.triton.edits.block_pointers.webs import Definition, Flow, Web
from compat.toolchains.triton.edits.code import Code, arguments_of, dotted, elements_of, literal, parenthesized

_LOAD = ("pointer", "mask", "other", "boundary_check", "padding_option", "cache_modifier", "eviction_policy", "volatile")
_STORE = ("pointer", "value", "mask", "boundary_check", "cache_modifier", "eviction_policy")
HINTS = ("cache_modifier", "eviction_policy", "volatile")
"""What may stay as it is."""


@frozen(kw_only=True)
class Access:
    """A load or a store."""

    web: Web
    call: cst.Call
    arguments: Mapping[str, cst.BaseExpression]
    checked: tuple[int, ...]
    """The axes along which it looks whether it is within the tensor."""
    padding: str
    """``zero``, ``nan``, or empty where what lies outside is not defined."""

    @property
    def is_load(self) -> bool:
        return "value" not in self.arguments

    @property
    def hints(self) -> dict[str, cst.BaseExpression]:
        return {name: self.arguments[name] for name in HINTS if name in self.arguments}

    @classmethod
    def of(cls, call: cst.Call, web: Web, code: Code) -> Access:
        arguments = arguments_of(call, _LOAD if code.language.called(call) == "load" else _STORE)
        if any(not _is_none(arguments[name]) for name in ("mask", "other") if name in arguments):
            raise CannotEdit("a block pointer is used with a mask")
        return cls(
            web=web,
            call=call,
            arguments=arguments,
            checked=_axes(arguments.get("boundary_check"), web),
            padding=_padding(arguments),
        )


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _axes(node: cst.BaseExpression | None, web: Web) -> tuple[int, ...]:
    if node is None or _is_none(node):
        return ()
    elements = elements_of(node)
    numbers = [literal(element) for element in ([node] if elements is None else elements)]
    axes = sorted({number for number in numbers if number is not None})
    if None in numbers or (axes and not 0 <= axes[0] <= axes[-1] < web.made.rank):
        raise CannotEdit("boundary_check is not written out as axes")
    return tuple(axes)


def _padding(arguments: Mapping[str, cst.BaseExpression]) -> str:
    node = arguments.get("padding_option")
    if node is None or _is_none(node):
        return ""
    value = node.evaluated_value if isinstance(node, cst.SimpleString) else None
    if value not in ("", "zero", "nan"):
        raise CannotEdit("padding_option is not written out as a string")
    return str(value)


class AccessForm(ABC):
    """A form of access that takes the place of block pointers, in one function, in which ``accesses`` are all loads and stores.

    ``ones`` are names that are 1. Raises CannotEdit where not all of them have this form.
    """

    def __init__(
        self, code: Code, flow: Flow, bindings: Bindings, accesses: Sequence[Access], ones: frozenset[str] = frozenset()
    ) -> None:
        self.code, self.flow, self.bindings, self.accesses, self.ones = code, flow, bindings, accesses, ones
        self.language = code.language.name
        self._names: dict[tuple[str, Part], str] = {}
        self.check()
        self.parts = PointerParts(flow, self.parts_made)

    # --- what differs ---

    @abstractmethod
    def check(self) -> None:
        """Look at the function first. Raises CannotEdit where it cannot have this form."""

    @abstractmethod
    def parts_made(self, made: MadePointer, definition: Definition) -> Mapping[Part, Value]:
        """The parts of a block pointer as they are when it is made."""

    @abstractmethod
    def defining(self, definition: Definition) -> Sequence[str]:
        """The statements in the place of a definition."""

    def before(self, access: Access) -> Sequence[str]:
        """The statements before the one with a load or store in it; the same for several loads in it count once."""
        return ()

    @abstractmethod
    def accessing(self, access: Access, call: cst.Call) -> str:
        """The expression in the place of a load or store; ``call`` is it with what stands inside of it edited."""

    @abstractmethod
    def element_holder(self, web: Web) -> str:
        """An expression whose ``dtype`` is that of a pointer to an element."""

    @abstractmethod
    def handing(self, web: Web) -> Mapping[Part, str]:
        """Expressions for the parts of a block pointer that is handed to another function, or returned."""

    def is_natural(self, web: Web, part: Part) -> bool:
        """Whether a part is certainly no negative number."""
        return False

    # --- what does not ---

    def is_kept(self, web: Web, part: Part) -> bool:
        """Whether a variable keeps a part."""
        return isinstance(self.parts.value(web, part), KeptPart)

    def value(self, web: Web, part: Part) -> str:
        """A part where it is needed: the variable that keeps it, or its text."""
        value = self.parts.value(web, part)
        return self.name(web, part) if isinstance(value, KeptPart) else value

    def moved(self, definition: Definition, axis: int) -> str:
        """The offset along an axis after a definition that copies or advances."""
        assert definition.source_web is not None
        by, before = definition.offsets[axis] if definition.offsets else None, self.value(definition.source_web, ("at", axis))
        if by is None or not moves(definition, by):
            return before
        return self.text(by) if definition.placed else added(before, self.text(by))

    def name(self, web: Web, part: Part) -> str:
        """The variable that keeps a part."""
        return self.fresh(web, part, f"{web.name}_{part if isinstance(part, str) else '_'.join(map(str, part))}")

    def fresh(self, web: Web, part: Part, wanted: str) -> str:
        """The variable for something of a web, the same for webs of one name; called as is wanted where that is free."""
        key = (web.name, part)
        if key not in self._names:
            self._names[key] = self.code.fresh(wanted)
        return self._names[key]

    def text(self, node: cst.CSTNode) -> str:
        """A node as source text."""
        return self.code.code_for(node)


# --- source text -------------------------------------------------------------------------------------------------------------


def stored(call: cst.Call) -> cst.BaseExpression:
    """What a store stores."""
    named = [arg.value for arg in call.args if arg.keyword and arg.keyword.value == "value"]
    return named[0] if named else [arg.value for arg in call.args if not arg.keyword][1]


def axis_index(axis: int, rank: int) -> str:
    """``[:, None]`` for the first of two."""
    return "" if rank == 1 else f"[{', '.join(':' if position == axis else 'None' for position in range(rank))}]"


def addend(text: str) -> str:
    """An expression as the first term of a sum, or beside a comparison."""
    node = cst.parse_expression(text)
    plain = isinstance(node, cst.BinaryOperation) and isinstance(
        node.operator, cst.Add | cst.Subtract | cst.Multiply | cst.FloorDivide | cst.Modulo
    )
    return text if plain or dotted(node) or (isinstance(node, cst.UnaryOperation) and not node.lpar) else parenthesized(text)


def added(value: str, by: str) -> str:
    if not by or value == "0":
        return by or value
    return f"{value} + {by if isinstance(cst.parse_expression(by), cst.UnaryOperation) else parenthesized(by)}"


def assignment(name: str, value: str) -> str:
    """``name = value``, and ``name += …`` where that is what it comes to."""
    return f"{name} += {value.removeprefix(f'{name} + ')}" if value.startswith(f"{name} + ") else f"{name} = {value}"
