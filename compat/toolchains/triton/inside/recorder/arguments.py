"""Arguments of a launch in the form of a kernel file's ``[launch]`` and ``[constexprs]``.

:func:`launch_facts` records what is needed to make the arguments again with other numbers: sizes,
strides, storages and small integers. Floating-point numbers in tensors are never read. Integers are
read if there are few, because they decide what a kernel reads.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, Iterable

from ....inside.recorder.functions import type_name
from ....inside.recorder.journal import UnwritableArgument
from .layouts import layout_of

if TYPE_CHECKING:
    from ....inside.foreign import Document, Objects, Value

_TYPES = {
    "bool": "i1",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "int1": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float64": "fp64",
    "float8_e4m3fn": "fp8e4nv",
    "float8_e5m2": "fp8e5",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2fnuz": "fp8e5b16",
}
"""The name of a type in PyTorch and NumPy → its name in Triton."""
_OF_TRITON = frozenset(
    {
        "i1",
        "u1",
        "i8",
        "i16",
        "i32",
        "i64",
        "u8",
        "u16",
        "u32",
        "u64",
        "fp16",
        "bf16",
        "fp32",
        "fp64",
    }
) | {"fp8" + kind for kind in ("e4nv", "e5", "e4b8", "e5b16", "e4b15")}
_SMALL = 2**31 - 1
"""Maximum bytes of a tensor for which offsets fit into 32 bits."""
_SOME_FLOAT = 0.5
"""The recorded value of every float, because no compile depends on it."""


def argument(value: Value, with_values: bool, functions: Any) -> tuple[Value, Value]:
    """Return an argument in the form of a kernel file, and its kind.

    All launches of one kind have the same kinds of arguments. A jit function has the id that
    ``functions.id_of`` returns. Raises UnwritableArgument.
    """
    if is_constant(value):
        form = {"constexpr": constexpr(value, functions)}
        return form, repr(form)
    if value is None:
        return {"none": True}, None
    if isinstance(value, bool):
        return value, value
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return (value if with_values and value - value == 0 else _SOME_FLOAT), "float"
    if isinstance(value, (tuple, list)):
        parts = [argument(item, with_values, functions) for item in value]
        forms, kinds = [form for form, _ in parts], tuple(kind for _, kind in parts)
        if hasattr(value, "_fields"):
            return fields(value, forms), (value._fields, kinds)
        return forms, kinds
    if _is_descriptor(value):
        return _descriptor(value)
    if hasattr(value, "dtype") and hasattr(value, "data_ptr"):
        return _tensor(value)
    raise UnwritableArgument("is an object of the class %s" % type_name(value))


def fields(value: Any, forms: Iterable[object]) -> Document:
    """Return the form of a named tuple from those of its elements. Raises UnwritableArgument."""
    if any(name.startswith("_") for name in value._fields):
        raise UnwritableArgument("is a named tuple with a field that has no name")
    return {"fields": dict(zip(value._fields, forms))}


def _integer(value: int) -> tuple[int, object]:
    if not -(2**63) <= value < 2**64:
        raise UnwritableArgument("is a number that no type holds")
    width = 32 if -(2**31) <= value < 2**31 else 64 if value < 2**63 else 65
    return value, (value == 1, value % 16 == 0, width)


def _tensor(value: Value) -> tuple[object, object]:
    kind = type_of(value.dtype)
    aligned, large = value.data_ptr() % 16 == 0, _is_large(value)
    if aligned and not large:
        return "*" + kind, (kind,)
    form: dict[str, object] = {"tensor": kind}
    if not aligned:
        form["aligned"] = False
    if large:
        form["large"] = True
    return form, (kind, aligned, large)


def _is_large(value: object) -> bool:
    if hasattr(value, "untyped_storage"):
        return bool(value.untyped_storage().size() > _SMALL)
    return bool(hasattr(value, "ptr_range") and value.ptr_range() > _SMALL)


def _is_descriptor(value: Value) -> bool:
    """Whether a value is a tensor descriptor that the host made."""
    return hasattr(value, "block_shape") and hasattr(value, "base")


def _descriptor(value: Value) -> tuple[object, object]:
    if type(value).__name__ != "TensorDescriptor":
        raise UnwritableArgument("is an object of the class %s" % type_name(value))
    shape = ", ".join(str(int(size)) for size in value.block_shape)
    layout = layout_of(getattr(value, "layout", None))
    of_gluon = "," + layout.partition(".")[2] if layout else ""
    form = "tensordesc<%s[%s]%s>" % (type_of(value.base.dtype), shape, of_gluon)
    return form, form


def is_gluon(function: Value) -> bool:
    """Whether a jit function is one of Gluon."""
    return bool(hasattr(function, "is_gluon") and function.is_gluon())


def type_of(dtype: object) -> str:
    """Return Triton's name of a dtype of any library. Raises UnwritableArgument."""
    name = str(dtype).rpartition(".")[2]
    if name in _TYPES:
        return _TYPES[name]
    if name in _OF_TRITON:
        return name
    raise UnwritableArgument("has the type %s" % name)


def constexpr(value: Value, functions: Any) -> Any:
    """Return a constexpr in the form of a kernel file.

    A jit function or a class has the id that ``functions.id_of`` returns. Raises
    UnwritableArgument.
    """
    value = unwrap_constexpr(value)
    if value is None:
        return {"none": True}
    if isinstance(value, (bool, str)) or type(value) in (int, float):
        return _finite(value)
    if isinstance(value, (tuple, list)):
        forms = [constexpr(item, functions) for item in value]
        return fields(value, forms) if hasattr(value, "_fields") else forms
    module = type(value).__module__
    if module.startswith("triton.language") and type(value).__name__ == "dtype":
        return {"dtype": type_of(value)}
    if module == "torch" and type(value).__name__ == "dtype":
        return {"torch_dtype": str(value).rpartition(".")[2]}
    if is_jit(value) or (isinstance(value, type) and value.__name__.isidentifier()):
        return {"function": functions.id_of(value)}
    layout = layout_of(value)
    if layout:
        return {"layout": layout}
    if isinstance(value, int):  # a member of an IntEnum: the kernel is compiled with its number
        return int(value)
    raise UnwritableArgument("is an object of the class %s" % type_name(value))


def _finite(value: object) -> object:
    return {"float": repr(value)} if isinstance(value, float) and value - value != 0 else value


def unwrap_constexpr(value: object) -> object:
    """Return the value in a ``tl.constexpr``, or any other value itself."""
    while (
        type(value).__name__ == "constexpr"
        and type(value).__module__.startswith("triton.language")
        and hasattr(value, "value")
    ):
        value = value.value
    return value


def is_constant(value: object) -> bool:
    """Return whether a value is compiled in without an annotation.

    Such values are types, functions, and values that are wrapped in ``tl.constexpr``.
    """
    if unwrap_constexpr(value) is not value or is_jit(value):
        return True
    kind = type(value)
    return kind.__name__ == "dtype" and kind.__module__.startswith("triton.language")


def is_jit(value: object) -> bool:
    """Whether a value is a jit function: of the class ``JITFunction`` or a subclass."""
    return any(
        base.__name__ == "JITFunction" and base.__module__.startswith("triton.")
        for base in type(value).__mro__
    )


MOST_VALUES = 4096
"""Maximum elements of a tensor of integers whose values are recorded."""
_LARGEST = 64 << 20
"""Maximum bytes of a storage that is made again."""
_MOST_BLOCKS = 2**31 - 1


class NotRecorded(Exception):
    """A launch cannot be repeated from its recorded facts. The message says why."""


def launch_facts(grid: Value, bound: Objects, arguments: Objects) -> Objects:
    """Return the facts of a launch under ``recorded``, or the reason for none under ``why``.

    With the facts, the launch can be repeated. ``bound`` are all its parameters by name.
    ``arguments`` are those that are not constexprs, in the forms of kernel files.
    """
    try:
        return {"recorded": _record_launch(grid, bound, arguments)}
    except NotRecorded as error:
        return {"why": str(error)}
    # A tensor or a grid may raise anything, and the program must not notice.
    except Exception as error:
        return {"why": "its arguments cannot be inspected (%s)" % type(error).__name__}


def _record_launch(
    grid: object, bound: dict[str, object], arguments: dict[str, object]
) -> dict[str, object]:
    launch: Document = {
        "grid": _grid(grid, bound),
        "storages": [],
        "tensors": {},
        "numbers": {},
        "nothing": [],
        "descriptors": {},
    }
    at: dict[int, int] = {}
    for name, form in arguments.items():
        value: Value = bound[name]
        if value is None:
            launch["nothing"].append(name)
        elif isinstance(value, (bool, int, float)):
            launch["numbers"][name] = form
        elif _is_descriptor(value):
            view = value.base.as_strided(value.shape, value.strides, value.base.storage_offset())
            launch["tensors"][name] = _record_tensor(name, view, launch["storages"], at)
            launch["descriptors"][name] = {
                option: getattr(value, option)
                for option in ("padding", "round_f32_to_tf32")
                if hasattr(value, option)
            }
        elif hasattr(value, "untyped_storage") and hasattr(value, "stride"):
            launch["tensors"][name] = _record_tensor(name, value, launch["storages"], at)
        else:
            raise NotRecorded("its argument %s is a %s" % (name, type(value).__name__))
    return launch


def _grid(grid: Value, bound: dict[str, object]) -> list[int]:
    sizes = grid(dict(bound)) if callable(grid) else grid
    sizes = [int(size) for size in (sizes if isinstance(sizes, (tuple, list)) else [sizes])]
    if not 1 <= len(sizes) <= 3 or not all(0 < size <= _MOST_BLOCKS for size in sizes):
        raise NotRecorded("its grid is %s" % (tuple(sizes),))
    return sizes


def _record_tensor(
    name: str, value: Value, storages: list[dict[str, object]], at: dict[int, int]
) -> dict[str, object]:
    """Return a tensor as a view into one of the storages. Adds its own storage if it is new."""
    value, kind = value.detach(), str(value.dtype).rpartition(".")[2]
    storage, width = value.untyped_storage(), value.element_size()
    size = int(storage.size())
    if size > _LARGEST:
        raise NotRecorded("its argument %s lies in a storage of %d MiB" % (name, size >> 20))
    number = at.setdefault(storage.data_ptr(), len(storages)) if size else len(storages)
    if number == len(storages):
        storages.append({"type": kind, "elements": size // width})
    if storages[number]["type"] != kind:
        raise NotRecorded("its argument %s lies in a storage with others of another type" % name)
    tensor = {
        "storage": number,
        "shape": [int(size) for size in value.shape],
        "strides": [int(stride) for stride in value.stride()],
        "offset": int(value.storage_offset()),
    }
    if not value.dtype.is_floating_point:
        tensor["values"] = _whole_numbers(name, value)
    return tensor


def _whole_numbers(name: str, value: Value) -> list[int]:
    if value.dtype.is_complex:
        raise NotRecorded("its argument %s has complex numbers" % name)
    if value.numel() > MOST_VALUES:
        raise NotRecorded(
            "its argument %s has %d whole numbers, and %d are recorded"
            % (name, value.numel(), MOST_VALUES)
        )
    if _is_graph_captured():
        raise NotRecorded(
            "it was launched while a CUDA graph was captured, and its arguments cannot be read then"
        )
    return [int(number) for number in value.reshape(-1).tolist()]


def _is_graph_captured() -> bool:
    torch: ModuleType = sys.modules["torch"]
    return bool(torch.cuda.is_available() and torch.cuda.is_current_stream_capturing())
