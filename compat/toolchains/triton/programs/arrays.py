"""The NumPy arrays of the evaluator."""

from __future__ import annotations

from typing import Any

import numpy as np

from compat.toolchains.triton.programs.dtypes import DTYPES

Array = np.ndarray[Any, np.dtype[Any]]
"""An array of any type and shape."""


def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """NumPy's type for an element type. All floats are float64."""
    kind = DTYPES[dtype]
    if kind.is_float:
        return np.dtype(np.float64)
    if dtype == "i1":
        return np.dtype(np.bool_)
    return np.dtype(f"{'int' if kind.signed else 'uint'}{kind.bits}")
