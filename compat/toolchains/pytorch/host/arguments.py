"""A problem's arguments as the bytes that a kernel takes."""

from __future__ import annotations

import ctypes
import re
import struct
from typing import Any, Dict, Iterable, List, Tuple

_ELEMENT = re.compile(r"(.+)\[(\d+)\]$")
_SIXTEEN = 16


class Refused(Exception):
    """The arguments are not those that the kernel was compiled for. The message is a sentence."""


def values_of(parameters: Iterable[Dict[str, Any]], arguments: Dict[str, Any], scratch: Dict[str, int]) -> List[Any]:
    """A ctypes object for each parameter; ``scratch`` has the addresses of memory that the host gives. Raises Refused."""
    return [_value(parameter, arguments, scratch) for parameter in parameters]


def _value(parameter: Dict[str, Any], arguments: Dict[str, Any], scratch: Dict[str, int]) -> Any:
    if "scratch" in parameter:
        return ctypes.c_uint64(scratch.get(parameter["scratch"], 0))
    name, kind, size = parameter["name"], parameter["type"], parameter["size"]
    data = _packed(name, kind, size, argument_of(name, arguments))
    return (ctypes.c_ubyte * size).from_buffer_copy(data)


def argument_of(name: str, arguments: Dict[str, Any]) -> Any:
    """An argument, or an element of one (``args[1]``). Raises Refused."""
    element = _ELEMENT.match(name)
    if element and name not in arguments:
        return argument_of(element.group(1), arguments)[int(element.group(2))]
    if name not in arguments:
        raise Refused("the problem has no argument %s" % name)
    return arguments[name]


def _packed(name: str, kind: str, size: int, value: Any) -> bytes:
    """The bytes of one argument. Numbers take the size that the kernel has for them."""
    try:
        if kind.startswith("*"):
            return _address(value).to_bytes(size, "little")
        if kind.startswith(("fp", "bf", "f")):
            return _real(kind, size, float(value))
        number = int(value)
        return (number & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
    except (TypeError, ValueError, OverflowError, struct.error) as error:
        raise Refused("%s is %r, which cannot be passed as %s (%s)" % (name, value, kind, error)) from error


def _address(value: Any) -> int:
    if value is None:
        return 0
    return int(value.data_ptr()) if hasattr(value, "data_ptr") else int(value)


def _real(kind: str, size: int, value: float) -> bytes:
    if size == 8:
        return struct.pack("<d", value)
    if size == 4:
        return struct.pack("<f", value)
    return struct.pack("<f", value)[2:] if kind.startswith("bf") else struct.pack("<e", value)


def check_hints(cell: Dict[str, Any], arguments: Dict[str, Any]) -> None:
    """Raises Refused where an argument is not what the kernel was compiled for."""
    for name in cell["divisible_by_16"]:
        value = _number(argument_of(name, arguments))
        if value is not None and value % _SIXTEEN:
            raise Refused("%s is no multiple of 16, and the kernel is compiled for one" % name)
    for name in cell["equal_to_1"]:
        if _number(argument_of(name, arguments)) != 1:
            raise Refused("%s is not 1, and the kernel is compiled for 1" % name)


def _number(value: Any) -> Any:
    if value is None or isinstance(value, (int, float)):
        return value
    return value.data_ptr() if hasattr(value, "data_ptr") else None


def grid_of(problem: Dict[str, Any]) -> Tuple[int, int, int]:
    """One to three sizes, as three."""
    x, y, z = (*map(int, problem["grid"]), 1, 1)[:3]
    return x, y, z
