"""Arguments of a launch in the form of kernel files: types in ``[signature]``, or constexprs.

If neither form can hold an argument, a function beside the kernel makes it. This module describes
such an argument as a tree:

=========================================  ======================================================
``{"type": "fp16[m, 64]"}``                an argument of a type
``{"constant": 64}``                       a constant, in the form that constexprs have
``{"items": […], "list": false}``          a tuple, or a list
``{"call": {"function": id}, "with": {}}``  an object of a class, made with these arguments
``{"member": {"function": id}, "of": …}``   a member of an enumeration
=========================================  ======================================================
"""

from __future__ import annotations

import dataclasses
import enum
import re
import types
from typing import TYPE_CHECKING, Any

from ....inside.recorder.functions import type_name
from ....inside.recorder.journal import UnwritableArgument
from .forms import element_name

if TYPE_CHECKING:
    from ....inside.foreign import Value
    from ....inside.recorder.functions import Functions
    from ..foreign import Type

_MEMREF = re.compile(
    r'!cute\.memref<[^,]+, (?P<space>\w+)(?:, align<(?P<align>\d+)>)?, "(?P<layout>[^"]*)">'
)
_POINTER = re.compile(r"!cute\.ptr<[^,]+, (?P<space>\w+)(?:, align<(?P<align>\d+)>)?>")
_FLAT = re.compile(r"\(([^()]*)\):\(([^()]*)\)")
_DYNAMIC = re.compile(r"\?(?:\{(?P<width>i\d+)?\s*(?:div=(?P<divisor>\d+))?\})?")
_USUAL_ALIGNMENT = 16
_BITS = re.compile(r"\d+")
_STREAMS = frozenset({"CUstream", "_FakeStream"})
_NUMBERS = {bool: "bool", int: "i32", float: "fp32"}
"""The type of a Python number without an annotation."""


class Symbols:
    """Names for the sizes of one launch that are known only at run time.

    The same size of a fake tensor always gets the same name.
    """

    def __init__(self) -> None:
        self._names: dict[int, str] = {}

    def name_symbol(self, symbol: Any, name: str) -> str:
        """Return the name of a symbol, which is the first name that it got."""
        return self._names.setdefault(id(symbol), name)


def argument(
    name: str, value: Value, annotation: Type, symbols: Symbols, functions: Functions
) -> tuple[str, Value]:
    """Return the table of an argument (``args`` or ``constexprs``), and its form there.

    A function has the id that ``functions.id_of`` returns. Raises UnwritableArgument.
    """
    if not is_constexpr(annotation):
        argument_type = run_time(name, value, annotation, symbols)
        if argument_type is not None:
            return "args", argument_type
    try:
        return "constexprs", constexpr(value, functions)
    except UnwritableArgument:
        return "args", {"made": tree(name, value, symbols, functions)}


def is_constexpr(annotation: object) -> bool:
    """Whether an annotation marks a constexpr."""
    kind = getattr(annotation, "__origin__", None) or annotation
    return getattr(kind, "__name__", "") == "Constexpr" or (
        isinstance(annotation, str) and "Constexpr" in annotation
    )


def run_time(name: str, value: object, annotation: object, symbols: Symbols) -> str | None:
    """Return the type of a run-time argument, or ``None`` if the value alone is not one.

    Raises UnwritableArgument.
    """
    kind = type(value).__name__
    if kind in _STREAMS:
        return "stream"
    if kind == "_FakeTensor":
        return _fake_tensor(name, value, symbols)
    if kind == "_Tensor":
        return _tensor(name, value)
    if kind == "_Pointer":
        return _pointer(value)
    if kind == "SymInt":
        return "i64" if getattr(value, "width", 32) == 64 else "i32"
    number = element_name(type(value))
    if number is not None:
        return number
    if type(value) in _NUMBERS:
        return element_name(annotation) or _NUMBERS[type(value)]
    adapted = _cute_tensor(value)
    return _tensor(name, adapted) if adapted is not None else None


def constexpr(value: Value, functions: Functions) -> Any:
    """Return a constexpr in the form of kernel files. Raises UnwritableArgument."""
    if value is None:
        return {"none": True}
    if isinstance(value, enum.Enum):
        raise UnwritableArgument("is an object of the class %s" % type_name(value))
    if type(value) is float:
        return {"float": repr(value)} if value - value != 0 else value
    if type(value) in (bool, int, str):
        return value
    if type(value) in (tuple, list):
        return [constexpr(part, functions) for part in value]
    name = element_name(value)
    if name is not None:
        return {"dtype": name}
    if isinstance(value, types.FunctionType):
        return {"function": functions.id_of(value)}
    raise UnwritableArgument("is an object of the class %s" % type_name(value))


def tree(name: str, value: Value, symbols: Symbols, functions: Functions) -> Any:
    """Return the tree of an argument that a function beside the kernel makes.

    Raises UnwritableArgument.
    """
    argument_type = run_time(name, value, None, symbols) if type(value) not in _NUMBERS else None
    if argument_type is not None:
        return {"type": argument_type}
    if isinstance(value, enum.Enum):
        return {"member": {"function": functions.id_of(type(value))}, "of": value.name}
    try:
        return {"constant": constexpr(value, functions)}
    except UnwritableArgument:
        if type(value) in (tuple, list):
            inner = [
                tree("%s_%d" % (name, number), part, symbols, functions)
                for number, part in enumerate(value)
            ]
            return {"items": inner, "list": type(value) is list}
        fields = _fields(value)
        if fields is None:
            raise
        field_trees = {
            field: tree("%s_%s" % (name, field), field_value, symbols, functions)
            for field, field_value in fields.items()
        }
        return {"call": {"function": functions.id_of(type(value))}, "with": field_trees}


def _fields(value: object) -> dict[str, object] | None:
    """Return the fields of a named tuple or dataclass, or ``None`` for any other object."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: getattr(value, field.name)
            for field in dataclasses.fields(value)
            if field.init
        }
    return None


# --- tensors and pointers -------------------------------------------------------------------------


def _cute_tensor(value: object) -> object:
    """Return the tensor that CuTe DSL makes of a tensor of PyTorch or another library.

    Returns ``None`` if it makes none.
    """
    if not hasattr(value, "__dlpack__"):
        return None
    from cutlass.cute.runtime import from_dlpack

    return from_dlpack(value).mark_layout_dynamic()


def _type_in_ir(value: Value) -> str:
    from cutlass._mlir import ir

    with ir.Context(), ir.Location.unknown():
        return str(value.__get_mlir_types__()[0])


def _tensor(name: str, value: Value) -> str:
    memref = _MEMREF.fullmatch(_type_in_ir(value))
    flat = _FLAT.fullmatch(memref["layout"]) if memref else None
    if memref is None or flat is None:
        raise UnwritableArgument(
            "has the layout %s, of several levels"
            % (memref["layout"] if memref else _type_in_ir(value))
        )
    if memref["space"] != "gmem":
        raise UnwritableArgument("is a tensor in %s memory" % memref["space"])
    shape = [_size(text, "%s_%d" % (name, mode)) for mode, text in enumerate(flat[1].split(","))]
    strides = [_size(text, "%s_s%d" % (name, mode)) for mode, text in enumerate(flat[2].split(","))]
    return _text(value.element_type, shape, strides, int(memref["align"] or 0))


def _size(text: str, name: str) -> int | str:
    dynamic = _DYNAMIC.fullmatch(text)
    if dynamic is None:
        return int(text)
    divisor = int(dynamic["divisor"] or 1)
    return "%s%%%d" % (name, divisor) if divisor > 1 else name


def _fake_tensor(name: str, value: Value, symbols: Symbols) -> str:
    def size(extent: Any, other: str) -> int | str:
        if isinstance(extent, int):
            return extent
        if type(extent).__name__ != "SymInt":
            raise UnwritableArgument("has the size %s" % (extent,))
        divisor = int(getattr(extent, "divisibility", 1) or 1)
        symbol = symbols.name_symbol(extent, other)
        return "%s%%%d" % (symbol, divisor) if divisor > 1 else symbol

    space = str(getattr(value, "memspace", None) or getattr(value, "_memspace", "gmem")).rpartition(
        "."
    )[2]
    if space not in ("gmem", "1"):
        raise UnwritableArgument("is a tensor in %s memory" % space)
    shape = [
        size(extent, "%s_%d" % (name, mode)) for mode, extent in enumerate(_modes(value.shape))
    ]
    strides = [
        size(stride, "%s_s%d" % (name, mode)) for mode, stride in enumerate(_modes(value.stride))
    ]
    return _text(
        value.element_type, shape, strides, int(getattr(value, "_assumed_align", None) or 0)
    )


def _modes(sizes: object) -> tuple[object, ...]:
    modes = sizes if isinstance(sizes, (tuple, list)) else (sizes,)
    if any(isinstance(mode, (tuple, list)) for mode in modes):
        raise UnwritableArgument("has a layout of several levels")
    return tuple(modes)


def _text(kind: object, shape: list[int | str], strides: list[int | str], alignment: int) -> str:
    """Return a tensor's type, without strides that follow from its sizes.

    Raises UnwritableArgument.
    """
    element, below = element_name(kind), 1
    if element is None:
        raise UnwritableArgument("has elements of the type %s" % getattr(kind, "__name__", kind))
    text = "%s[%s]" % (element, ", ".join(map(str, shape)))
    compact: list[int | str] = []
    for size in reversed(shape):
        compact.insert(0, below)
        below = below * size if isinstance(size, int) and below else 0
    if strides != compact:
        text += ":[%s]" % ", ".join(map(str, strides))
    return text + _alignment_suffix(element, alignment)


def _alignment_suffix(element: str, alignment: int) -> str:
    """Return the alignment as a part of a type, which is empty for the usual alignment.

    If the release gives no alignment, that of the element applies.
    """
    bits = _BITS.search(element)
    alignment = alignment or max(
        int(bits[0]) // 8 if bits and not element.startswith("fp8") else 1, 1
    )
    return "" if alignment == _USUAL_ALIGNMENT else " align=%d" % alignment


def _pointer(value: object) -> str:
    pointer = _POINTER.fullmatch(_type_in_ir(value))
    element = element_name(getattr(value, "dtype", None) or getattr(value, "_dtype", None))
    if pointer is None or pointer["space"] != "gmem" or element is None:
        raise UnwritableArgument("is the pointer %s" % _type_in_ir(value))
    return "ptr<%s>%s" % (element, _alignment_suffix(element, int(pointer["align"] or 0)))
