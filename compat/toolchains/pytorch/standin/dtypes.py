"""The dtypes of PyTorch without PyTorch, and the limits of their numbers."""

from __future__ import annotations

import functools
import sys
from typing import Any

from .opaque import Opaque, PartialObject, unavailable, unknown_of_known


class dtype:
    """A dtype of PyTorch. Each dtype is one object, which equals only itself."""

    def __init__(self, name: str, size: int, floating: bool, signed: bool, complex_: bool) -> None:
        self._name = name
        self.itemsize, self.is_floating_point, self.is_signed, self.is_complex = (
            size,
            floating,
            signed,
            complex_,
        )

    def __repr__(self) -> str:
        return "torch.%s" % self._name

    def __reduce__(self) -> str:
        return self._name

    def __getattr__(self, name: str) -> Any:
        return unknown_of_known(dtype, name)


@functools.lru_cache(maxsize=None)
def dtypes(release: tuple[int, int]) -> dict[str, dtype]:
    """Return name → dtype for all dtypes of a release of PyTorch."""
    by_name: dict[str, dtype] = {}

    def add(
        names: str, size: int, floating: bool = False, signed: bool = True, complex_: bool = False
    ) -> None:
        first = names.split(maxsplit=1)[0]
        one = dtype(first, size, floating, signed, complex_)
        by_name.update(dict.fromkeys(names.split(), one))

    add("bool", 1, signed=False)
    add("uint8", 1, signed=False)
    for names, size in (("int8", 1), ("int16 short", 2), ("int32 int", 4), ("int64 long", 8)):
        add(names, size)
    for names, size in (
        ("float16 half", 2),
        ("bfloat16", 2),
        ("float32 float", 4),
        ("float64 double", 8),
    ):
        add(names, size, floating=True)
    for names, size in (
        ("complex32 chalf", 4),
        ("complex64 cfloat", 8),
        ("complex128 cdouble", 16),
    ):
        add(names, size, complex_=True)
    for name, size in (("uint16", 2), ("uint32", 4), ("uint64", 8)):
        add(name, size, signed=False)
    for name in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"):
        add(name, 1, floating=True)
    if release >= (2, 7):
        add("float8_e8m0fnu", 1, floating=True, signed=False)
    if release >= (2, 8):
        add("float4_e2m1fn_x2", 1, floating=True)
    return by_name


# --- limits ---------------------------------------------------------------------------------------

_FLOATS = {
    "float16": (65504.0, 2.0**-14, 2.0**-10, 1e-3),
    "bfloat16": ((2 - 2.0**-7) * 2.0**127, 2.0**-126, 2.0**-7, 1e-2),
    "float32": ((2 - 2.0**-23) * 2.0**127, 2.0**-126, 2.0**-23, 1e-6),
    "float64": (sys.float_info.max, sys.float_info.min, sys.float_info.epsilon, 1e-15),
    "float8_e4m3fn": (448.0, 2.0**-6, 2.0**-3, 1.0),
    "float8_e4m3fnuz": (240.0, 2.0**-7, 2.0**-3, 1.0),
    "float8_e5m2": (57344.0, 2.0**-14, 2.0**-2, 1.0),
    "float8_e5m2fnuz": (57344.0, 2.0**-15, None, 1.0),
}
"""Dtype → its largest number, its smallest normal number, the distance from 1 to the next number,
and ``resolution``. The distance is ``None`` where it depends on the release of PyTorch.
"""
_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}


class NumberLimits(PartialObject):
    """The limits of the numbers of a dtype.

    Its subclasses are classes as in PyTorch. In a kernel, Triton refuses a function there.
    """

    def __init__(self, kind: str, name: str, **limits: float) -> None:
        self._shown = "%s(dtype=%s)" % (kind, name)
        self.dtype = name
        vars(self).update(limits)

    def __repr__(self) -> str:
        return self._shown


class FloatingLimits(NumberLimits):
    """``torch.finfo`` of a dtype.

    Raises TypeError as PyTorch does, and UnavailableValue if the limits are not known here.
    """

    def __init__(self, type: object) -> None:
        kind = _require_dtype("finfo", type)
        name = _PARTS.get(kind._name, kind._name)
        if name not in _FLOATS:
            if kind.is_floating_point:
                raise unavailable("torch.finfo(%r)" % kind)
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle"
                " 'torch.finfo'"
            )
        largest, normal, step, resolution = _FLOATS[name]
        super().__init__(
            "finfo",
            name,
            bits=8 * (kind.itemsize // 2 if kind.is_complex else kind.itemsize),
            min=-largest,
            max=largest,
            tiny=normal,
            smallest_normal=normal,
            resolution=resolution,
            **({} if step is None else {"eps": step}),
        )


class iinfo(NumberLimits):
    """``torch.iinfo`` of a dtype.

    Raises TypeError as PyTorch does, and UnavailableValue if the dtype is not known here.
    """

    def __init__(self, type: object) -> None:
        kind = _require_dtype("iinfo", type)
        if kind._name == "bool":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if kind.is_floating_point or kind.is_complex:
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle"
                " 'torch.iinfo'"
            )
        bits = 8 * kind.itemsize
        values = bits - kind.is_signed
        super().__init__(
            "iinfo",
            kind._name,
            bits=bits,
            min=-(2**values) if kind.is_signed else 0,
            max=2**values - 1,
        )


def _require_dtype(function: str, value: object) -> dtype:
    """Return a dtype. Raises TypeError as PyTorch does, and UnavailableValue if it is unknown."""
    if isinstance(value, dtype):
        return value
    if isinstance(value, Opaque):
        raise unavailable("torch.%s(…)" % function)
    raise TypeError(
        "%s(): argument 'type' (position 1) must be torch.dtype, not %s"
        % (function, type(value).__name__)
    )
