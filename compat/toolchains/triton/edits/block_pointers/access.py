"""Loads from and stores to block pointers, and what they say."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst
from attrs import frozen

from compat.toolchains.edits import CannotEdit
from compat.toolchains.triton.edits.block_pointers.webs import Web
from compat.toolchains.triton.edits.code import Code, arguments_of, elements_of, literal

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
