"""What a launch was given, so that it can be made again with other numbers: sizes, strides, storages, and small whole numbers.

Floating point numbers in tensors are never looked at. Whole numbers are, where there are few: they decide what a kernel reads.
"""

from __future__ import annotations

import sys
from typing import Any

MOST_VALUES = 4096
"""Elements of a tensor of whole numbers up to which they are written down."""
_LARGEST = 64 << 20
"""Bytes of a storage up to which it is made again."""
_MOST_BLOCKS = 2**31 - 1


class NotRecorded(Exception):
    """A launch that cannot be made again from what is known of it, and why."""


def given(grid: Any, bound: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """What is known of a launch, under ``recorded``, or under ``why`` the reason why it cannot be made again.

    ``bound`` are all its parameters by name, ``arguments`` those of them that are no constexprs, in the forms of kernel files.
    """
    try:
        return {"recorded": _recorded(grid, bound, arguments)}
    except NotRecorded as error:
        return {"why": str(error)}
    except Exception as error:  # whatever a tensor or a grid of the program does: it is not to notice
        return {"why": "what it was given cannot be looked at (%s)" % type(error).__name__}


def _recorded(grid: Any, bound: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    launch: dict[str, Any] = {"grid": _grid(grid, bound), "storages": [], "tensors": {}, "numbers": {}, "nothing": []}
    at: dict[int, int] = {}
    for name, form in arguments.items():
        value = bound[name]
        if value is None:
            launch["nothing"].append(name)
        elif isinstance(value, (bool, int, float)):
            launch["numbers"][name] = form
        elif hasattr(value, "untyped_storage") and hasattr(value, "stride"):
            launch["tensors"][name] = _tensor(name, value, launch["storages"], at)
        else:
            raise NotRecorded("its argument %s is a %s" % (name, type(value).__name__))
    return launch


def _grid(grid: Any, bound: dict[str, Any]) -> list[int]:
    sizes = grid(dict(bound)) if callable(grid) else grid
    sizes = [int(size) for size in (sizes if isinstance(sizes, (tuple, list)) else [sizes])]
    if not 1 <= len(sizes) <= 3 or not all(0 < size <= _MOST_BLOCKS for size in sizes):
        raise NotRecorded("its grid is %s" % (tuple(sizes),))
    return sizes


def _tensor(name: str, value: Any, storages: list[dict[str, Any]], at: dict[int, int]) -> dict[str, Any]:
    """A tensor as a view into one of the storages, to which its own is added where it is new."""
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


def _whole_numbers(name: str, value: Any) -> list[int]:
    if value.dtype.is_complex:
        raise NotRecorded("its argument %s has complex numbers" % name)
    if value.numel() > MOST_VALUES:
        raise NotRecorded("its argument %s has %d whole numbers, and %d are recorded" % (name, value.numel(), MOST_VALUES))
    if _is_graph_captured():
        raise NotRecorded("it was launched while a CUDA graph was captured, when nothing can be looked at")
    return [int(number) for number in value.reshape(-1).tolist()]


def _is_graph_captured() -> bool:
    torch: Any = sys.modules["torch"]
    return bool(torch.cuda.is_available() and torch.cuda.is_current_stream_capturing())
