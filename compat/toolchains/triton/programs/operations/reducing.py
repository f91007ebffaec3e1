"""Reductions, scans, sorts and histograms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from compat.toolchains.triton.programs.dtypes import (
    WIDE,
    Array,
    Bounds,
    bounds,
    everything,
    wrap_bounds,
)
from compat.toolchains.triton.programs.operations.operation import Derive, Operation, require
from compat.toolchains.triton.programs.program import BlockStatement, BlockValue

if TYPE_CHECKING:
    from compat.toolchains.triton.programs.draft import Draft

_SUMMED = (*WIDE, "fp16", "fp32", "fp64")
_COMPARED = (*WIDE, "i16", "fp16", "bf16", "fp32")
_Combine = Callable[[Array, Array], Array]


def _length(statement: BlockStatement) -> int:
    """Return the number of elements that are reduced to one."""
    axis = statement.settings["axis"]
    operand = statement.operands[0]
    return operand.elements if axis is None else operand.shape[axis]


def _reduce(draft: Draft, name: str, dtypes: Sequence[str]) -> None:
    value = draft.block(dtypes)
    if draft.random.random() < 0.15:
        draft.define(name, (value,), (value.dtype, ()), axis=None)
    else:
        axis, shape = _axis(draft, value)
        draft.define(name, (value,), (value.dtype, shape), axis=axis)


def _axis(draft: Draft, value: BlockValue) -> tuple[int, tuple[int, ...]]:
    """Choose an axis to reduce, and return it with the remaining shape."""
    axis = draft.random.randrange(len(value.shape))
    return axis, (*value.shape[:axis], *value.shape[axis + 1 :])


def _derive_sum(statement: BlockStatement, operands: Sequence[Bounds], _: object) -> list[Bounds]:
    (value,), length = operands, _length(statement)
    dtype = statement.results[0].dtype
    # Any partial sum may be the largest one.
    low, high = min(value.low * length, value.low), max(value.high * length, value.high)
    return [wrap_bounds(dtype, Bounds(low, high, 0 if dtype in WIDE else value.step))]


def _same_bounds(_statement: BlockStatement, operands: Sequence[Bounds], _: object) -> list[Bounds]:
    return [operands[0]]


def _position(statement: BlockStatement, _operands: Sequence[Bounds], _: object) -> list[Bounds]:
    return [bounds(0, _length(statement) - 1)]


def _anything(statement: BlockStatement, _operands: Sequence[Bounds], _: object) -> list[Bounds]:
    return [everything(result.dtype) for result in statement.results]


def _reduction(
    name: str,
    function: str,
    dtypes: Sequence[str],
    derive: Derive,
    compute: Callable[[Array, Any], Array],
) -> Operation:
    # Some releases reduce narrow types in wider ones, so the text states the type of the result.
    return Operation(
        name=name,
        family="reduce",
        text=f"tl.{function}({{0}}, axis={{axis}}).to({{result}})",
        propose=lambda draft: _reduce(draft, name, dtypes),
        derive=derive,
        compute=lambda statement, operands, machine: [
            np.asarray(compute(operands[0], statement.settings["axis"]))
        ],
        weight=3,
    )


def _position_of(name: str, find: Callable[..., Array]) -> Operation:
    def propose(draft: Draft) -> None:
        value = draft.block(_COMPARED)
        axis, shape = _axis(draft, value)
        draft.define(name, (value,), ("i32", shape), axis=axis)

    return Operation(
        name=name,
        family="reduce",
        text=f"tl.{name}({{0}}, axis={{axis}})",
        propose=propose,
        derive=_position,
        compute=lambda statement, operands, machine: [
            find(operands[0], axis=statement.settings["axis"]).astype(np.int32)
        ],
        weight=2,
    )


def _sum(value: Array, axis: int | None) -> Array:
    return np.sum(value, axis=axis, dtype=value.dtype)


def _fold(combine: _Combine, value: Array, axis: int | None) -> Array:
    """Return a reduction that combines one element after the other."""
    rows = np.moveaxis(value.reshape(-1) if axis is None else value, axis or 0, 0)
    return reduce(combine, rows)


COMBINED: dict[str, tuple[str, _Combine]] = {
    "combine_product": ("a * b", lambda a, b: a * b),
    "combine_or": ("a | b", lambda a, b: a | b),
    # (1 + a) · (1 + b) - 1
    "combine_circle": ("a + b + a * b", lambda a, b: a + b + a * b),
    "combine_smaller": ("tl.minimum(a, b)", np.minimum),
}
"""Associative functions of two integers: name → expression, and the same function for NumPy."""


def _with_function(draft: Draft, name: str) -> None:
    value = draft.block(WIDE)
    function = draft.random.choice(list(COMBINED))
    axis, shape = _axis(draft, value)
    kind = (value.dtype, shape) if name == "reduce" else value.kind
    draft.define(name, (value,), kind, axis=axis, function=function)


def _scan(
    name: str, dtypes: Sequence[str], derive: Derive, combine: _Combine, weight: int = 4
) -> Operation:
    def propose(draft: Draft) -> None:
        value = draft.block(dtypes)
        axis = draft.random.randrange(len(value.shape))
        draft.define(name, (value,), value.kind, axis=axis, reverse=draft.random.random() < 0.3)

    return Operation(
        name=name,
        family="scans",
        text=f"tl.{name}({{0}}, axis={{axis}}, reverse={{reverse}}).to({{result}})",
        propose=propose,
        derive=derive,
        compute=lambda statement, operands, machine: [
            _compute_scan(combine, operands[0], **statement.settings)
        ],
        weight=weight,
    )


def _compute_scan(combine: _Combine, value: Array, axis: int, *, reverse: bool = False) -> Array:
    """Return a scan that combines one element after the other."""
    rows = np.moveaxis(np.flip(value, axis) if reverse else value, axis, 0)
    prefixes = [rows[0]]
    for row in rows[1:]:
        prefixes.append(combine(prefixes[-1], row))
    result = np.moveaxis(np.stack(prefixes), 0, axis)
    return np.flip(result, axis) if reverse else result


def _recurrence(draft: Draft) -> None:
    """Proposes x → a · x + b along an axis, as two scans in one."""
    factor = draft.block(WIDE)
    term = draft.block((factor.dtype,), factor.shape)
    kind = factor.kind
    axis = draft.random.randrange(len(factor.shape))
    draft.define("recurrence", (factor, term), kind, kind, axis=axis)


def _compute_recurrence(
    statement: BlockStatement, operands: Sequence[Array], _: object
) -> list[Array]:
    axis = statement.settings["axis"]
    factors, terms = (np.moveaxis(value, axis, 0) for value in operands)
    prefixes = [(factors[0], terms[0])]
    for factor, term in zip(factors[1:], terms[1:], strict=True):
        before, summed = prefixes[-1]
        prefixes.append((before * factor, factor * summed + term))
    return [np.moveaxis(np.stack(rows), 0, axis) for rows in zip(*prefixes, strict=True)]


def _sort(draft: Draft) -> None:
    value = draft.block((*WIDE, "fp32"))
    is_small = 1 < value.shape[-1] <= 64 and value.elements <= 1024
    require(is_small, "a sort of many elements compiles for long")
    descending = draft.random.random() < 0.5
    draft.define("sort", (value,), value.kind, descending=descending)


def _compute_sort(statement: BlockStatement, operands: Sequence[Array], _: object) -> list[Array]:
    ordered = np.sort(operands[0], axis=-1)
    return [np.flip(ordered, -1) if statement.settings["descending"] else ordered]


def _histogram(draft: Draft) -> None:
    bins = draft.random.choice((2, 8, 32, 128))
    value = draft.mask_block(draft.flat(("i32",)), bins - 1)
    draft.define("histogram", (value,), ("i32", (bins,)), bins=bins)


def _histogram_bounds(
    statement: BlockStatement, operands: Sequence[Bounds], _: object
) -> list[Bounds]:
    (value,) = operands
    require(value.low >= 0 and value.high < statement.settings["bins"], "a number may have no bin")
    return [bounds(0, statement.operands[0].elements)]


OPERATIONS = (
    _reduction("sum", "sum", _SUMMED, _derive_sum, _sum),
    _reduction("max", "max", _COMPARED, _same_bounds, lambda value, axis: np.max(value, axis=axis)),
    _reduction("min", "min", _COMPARED, _same_bounds, lambda value, axis: np.min(value, axis=axis)),
    _reduction(
        "xor_sum",
        "xor_sum",
        WIDE,
        _anything,
        lambda value, axis: np.bitwise_xor.reduce(
            value.reshape(-1) if axis is None else value, axis=axis or 0
        ),
    ),
    _position_of("argmax", np.argmax),
    _position_of("argmin", np.argmin),
    Operation(
        name="reduce",
        family="reduce",
        text="tl.reduce({0}, {axis}, {function})",
        propose=lambda draft: _with_function(draft, "reduce"),
        derive=_anything,
        compute=lambda statement, operands, machine: [
            _fold(
                COMBINED[statement.settings["function"]][1], operands[0], statement.settings["axis"]
            )
        ],
    ),
    _scan("cumsum", (*WIDE, "fp32"), _derive_sum, np.add),
    _scan("cumprod", WIDE, _anything, np.multiply, weight=2),
    Operation(
        name="scan",
        family="scans",
        text="tl.associative_scan({0}, {axis}, {function})",
        propose=lambda draft: _with_function(draft, "scan"),
        derive=_anything,
        compute=lambda statement, operands, machine: [
            _compute_scan(
                COMBINED[statement.settings["function"]][1], operands[0], statement.settings["axis"]
            )
        ],
    ),
    Operation(
        name="recurrence",
        family="scans",
        text="tl.associative_scan(({0}, {1}), {axis}, combine_recurrence)",
        propose=_recurrence,
        derive=_anything,
        compute=_compute_recurrence,
    ),
    Operation(
        name="sort",
        family="sort",
        text="tl.sort({0}, descending={descending})",
        propose=_sort,
        derive=_same_bounds,
        compute=_compute_sort,
    ),
    Operation(
        name="histogram",
        family="histogram",
        text="tl.histogram({0}, {bins})",
        propose=_histogram,
        derive=_histogram_bounds,
        compute=lambda statement, operands, machine: [
            np.bincount(operands[0], minlength=statement.settings["bins"]).astype(np.int32)
        ],
    ),
)
"""The operations of this module."""
