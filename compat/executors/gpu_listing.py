"""Tell which NVIDIA GPUs a process sees here, as JSON on standard output: ``python listing.py``, in a process of its own.

A driver can crash, hang, or stay in the process that has asked it. It needs the standard library alone.
"""

from __future__ import annotations

import ctypes
import json
import os
from typing import Any

_LIBRARY = "libcuda.so.1"
_MAJOR, _MINOR = 75, 76


def listed() -> dict[str, Any]:
    """``{"devices": [{"name", "arch", "identity", "visible"}], "why": …}``; why there are none."""
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError:
        return {"devices": [], "why": f"it has no driver for one ({_LIBRARY})"}
    count = ctypes.c_int()
    code = library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count))
    if code:
        return {"devices": [], "why": f"its driver says {_name_of(library, code)}"}
    devices = [_facts(library, number) for number in range(count.value)]
    for number, device in enumerate(devices):
        device["visible"] = _visible(number) if len(devices) > 1 else None
    return {"devices": devices, "why": ""}


def _name_of(library: Any, code: int) -> str:
    text = ctypes.c_char_p()
    library.cuGetErrorName(code, ctypes.byref(text))
    return text.value.decode() if text.value else f"error {code}"


def _facts(library: Any, number: int) -> dict[str, Any]:
    device, name = ctypes.c_int(), ctypes.create_string_buffer(256)
    library.cuDeviceGet(ctypes.byref(device), number)
    library.cuDeviceGetName(name, len(name), device)
    arch = 10 * _attribute(library, _MAJOR, device) + _attribute(library, _MINOR, device)
    return {"name": name.value.decode(errors="replace"), "arch": arch, "identity": _identity(library, device, number)}


def _attribute(library: Any, attribute: int, device: Any) -> int:
    value = ctypes.c_int()
    library.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
    return value.value


def _identity(library: Any, device: Any, number: int) -> str:
    """The same for every process of this machine, whatever number the GPU has there."""
    identity = ctypes.create_string_buffer(16)
    for name in ("cuDeviceGetUuid_v2", "cuDeviceGetUuid"):
        if hasattr(library, name) and getattr(library, name)(identity, device) == 0:
            return identity.raw.hex()
    return f"number-{number}"


def _visible(number: int) -> str:
    """What ``CUDA_VISIBLE_DEVICES`` has to be for this GPU to be the only one."""
    entries = [part.strip() for part in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")]
    return entries[number] if number < len(entries) and entries[number] else str(number)


if __name__ == "__main__":
    os.write(1, json.dumps(listed()).encode())
