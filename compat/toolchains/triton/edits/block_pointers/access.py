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
    given: Mapping[str, cst.BaseExpression]
    checked: tuple[int, ...]
    """The axes along which it looks whether it is within the tensor."""
    padding: str
    """``zero``, ``nan``, or empty where what lies outside is not defined."""

    @property
    def is_load(self) -> bool:
        return "value" not in self.given

    @property
    def hints(self) -> dict[str, cst.BaseExpression]:
        return {name: self.given[name] for name in HINTS if name in self.given}

    @classmethod
    def of(cls, call: cst.Call, web: Web, code: Code) -> Access:
        given = arguments_of(call, _LOAD if code.language.called(call) == "load" else _STORE)
        if any(not _is_none(given[name]) for name in ("mask", "other") if name in given):
            raise CannotEdit("a block pointer is used with a mask")
        return cls(web=web, call=call, given=given, checked=_axes(given.get("boundary_check"), web), padding=_padding(given))


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _axes(node: cst.BaseExpression | None, web: Web) -> tuple[int, ...]:
    if node is None or _is_none(node):
        return ()
    found = [literal(each) for each in (elements_of(node) if elements_of(node) is not None else [node]) or ()]
    axes = sorted({each for each in found if each is not None})
    if None in found or (axes and not 0 <= axes[0] <= axes[-1] < web.made.rank):
        raise CannotEdit("boundary_check is not written out as axes")
    return tuple(axes)


def _padding(given: Mapping[str, cst.BaseExpression]) -> str:
    node = given.get("padding_option")
    if node is None or _is_none(node):
        return ""
    said = node.evaluated_value if isinstance(node, cst.SimpleString) else None
    if said not in ("", "zero", "nan"):
        raise CannotEdit("padding_option is not written out as a string")
    return str(said)
