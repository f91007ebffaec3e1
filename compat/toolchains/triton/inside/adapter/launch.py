"""A launch that says what it passes: the release's own ``JITFunction.run`` compiles it, and launches nothing.

What is made of an argument is decided there: its type, whether it is divisible by 16, whether a 1 is folded into the code, what
``None``, a tuple or a tensor descriptor become. Stand-ins take the place of tensors; they tell what a launch asks a tensor.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from .call import compare_without_torch, constant, constexpr
from .driver import target

_SMALL = 2**31 - 1
"""Bytes up to which AMD's launcher gives a tensor a range of 32 bits."""
_DESCRIPTOR = re.compile(r"tensordesc<(\w+)\[(.+)\]>")


def compiled(function: Any, job: dict[str, Any], constexprs: dict[str, Any]) -> Any:
    """What the release compiles for a job's launch; the driver has to answer for its target. Raises whatever a launch raises."""
    from triton.compiler.compiler import make_backend

    compare_without_torch(make_backend(target(job["target"])))
    names = getattr(function, "__globals__", {})
    given = {name: argument(value, names) for name, value in job["launch"].items()}
    given.update(constexprs)
    _forget(function)
    positional, named = _bound(function, given)
    return function.run(*positional, grid=(1, 1, 1), warmup=True, **named, **job["options"])


def argument(value: Any, names: dict[str, Any]) -> Any:
    """An argument from its JSON form: what is passed in its place. ``names`` are those of the kernel's module."""
    if isinstance(value, list):
        return tuple(argument(each, names) for each in value)
    if isinstance(value, dict) and "constexpr" in value:
        return constexpr(constant("launch", value["constexpr"], names))
    if isinstance(value, dict):
        return Tensor(value["tensor"], value.get("aligned", True), value.get("large", False))
    if isinstance(value, str):
        return Tensor(value[1:]) if value.startswith("*") else _descriptor(value)
    return value


class Tensor:
    """What a launch looks at of a tensor."""

    def __init__(self, dtype: str, aligned: bool = True, large: bool = False) -> None:
        self.dtype = _DTYPES.setdefault(dtype, Dtype(dtype))
        self._address = 4096 if aligned else 4100
        self._bytes = _SMALL + 1 if large else 4096

    def data_ptr(self) -> int:
        return self._address

    def ptr_range(self) -> int:
        return self._bytes


class Dtype(str):
    """An element type, which launches know by its name: PyTorch's or Triton's."""

    itemsize: int
    is_floating_point: bool

    def __new__(cls, name: str) -> Dtype:
        made = super().__new__(cls, name)
        bits = re.search(r"^\D+(\d+)", name)
        made.itemsize = max(1, int(bits.group(1)) // 8) if bits else 1
        made.is_floating_point = name.startswith(("fp", "bf"))
        return made


_DTYPES: dict[str, Dtype] = {}
"""Each once, for good, as in PyTorch: launchers from 3.6 on know one again by where it is in memory."""


def _descriptor(kind: str) -> Any:
    """A host's descriptor of an aligned tensor with rows of 16 blocks. Raises ImportError where the release has none."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    found = _DESCRIPTOR.fullmatch(kind)
    assert found is not None
    block = [int(size) for size in found.group(2).split(",")]
    shape = [16 * size for size in block]
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return TensorDescriptor(Tensor(found.group(1)), shape, strides, block)


def _bound(function: Any, given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """By position as far as there is no gap, since ``run`` has parameters of its own; the others by name."""
    left = dict(given)
    positional: list[Any] = []
    for parameter in inspect.signature(function.fn).parameters.values():
        if parameter.name not in left or parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            break
        positional.append(left.pop(parameter.name))
    return positional, left


def _forget(function: Any) -> None:
    """What was compiled of it before, since another launch may come to the same; and what would have it run."""
    for name in ("cache", "device_caches"):
        getattr(function, name, {}).clear()
    function.pre_run_hooks = []
