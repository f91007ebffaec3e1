"""Operations that move elements without changes, and operators that broadcast."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from compat.toolchains.triton.programs.dtypes import FLOATS, INTEGERS, Array, Bounds
from compat.toolchains.triton.programs.operations.elementwise import BROADCAST, in_result
from compat.toolchains.triton.programs.operations.operation import Operation, require
from compat.toolchains.triton.programs.program import BlockStatement, Shape

if TYPE_CHECKING:
    from compat.toolchains.triton.programs.draft import Draft

_ALL_TYPES = (*INTEGERS, *FLOATS, "i1")
LARGEST = 4096
"""The most elements of a block."""


def _same(statement: BlockStatement, operands: Sequence[Bounds], _: object) -> list[Bounds]:
    result_bounds = operands[0]
    for other in operands[1:]:
        result_bounds = result_bounds.union(other)
    return [result_bounds for _ in statement.results]


def _operation(
    name: str,
    text: str,
    propose: Callable[[Draft], None],
    compute: Callable[[BlockStatement, Sequence[Array]], Sequence[Array]],
    *,
    weight: int = 3,
) -> Operation:
    return Operation(
        name=name,
        family="shapes",
        text=text,
        propose=propose,
        derive=_same,
        compute=lambda statement, operands, machine: compute(statement, operands),
        weight=weight,
    )


def _factors(draft: Draft, elements: int) -> Shape:
    """A shape of one to three axes with this many elements, a power of two."""
    remaining, shape = elements, []
    for _ in range(draft.random.randint(0, 2)):
        size = 1 << draft.random.randint(0, remaining.bit_length() - 1)
        shape.append(size)
        remaining //= size
    return (*shape, remaining)


def _reshape(draft: Draft) -> None:
    value = draft.block(_ALL_TYPES)
    shape = _factors(draft, value.elements)
    draft.define("reshape", (value,), (value.dtype, shape), shape=shape)


def _expand(draft: Draft) -> None:
    value = draft.block(_ALL_TYPES)
    require(len(value.shape) < 3, "a block has three axes at most")
    axis = draft.random.randint(0, len(value.shape))
    shape = (*value.shape[:axis], 1, *value.shape[axis:])
    index = ", ".join("None" if place == axis else ":" for place in range(len(shape)))
    draft.define("expand", (value,), (value.dtype, shape), axis=axis, index=index)


def _broadcast(draft: Draft) -> None:
    ones = draft.values_where(lambda value: 1 in value.shape)
    if not ones:
        _expand(draft)
    value = draft.random.choice(ones or [draft.latest])
    shape = tuple(size if size > 1 else draft.random.choice((2, 4, 16, 32)) for size in value.shape)
    require(math.prod(shape) <= LARGEST, "the block would be too large")
    draft.define("broadcast", (value,), (value.dtype, shape), shape=shape)


def _spread(draft: Draft) -> None:
    """Proposes an operator that broadcasts: a column and a row, or a block and one of these."""
    sign = draft.random.choice(tuple(BROADCAST))
    left = draft.block(INTEGERS if sign in "&^" else (*INTEGERS, *FLOATS))
    require(len(left.shape) < 3, "a row and a column make a block of two axes")
    axis = 1
    if len(left.shape) == 2:
        axis = draft.random.randrange(2)
        shape = left.shape
    else:
        shape = (left.elements, draft.random.choice((2, 8, 16, 32)))
        require(math.prod(shape) <= LARGEST, "the block would be too large")
    right = draft.block((left.dtype,), (shape[axis],))
    draft.define(
        "spread",
        (left, right),
        (left.dtype, shape),
        sign=sign,
        left="" if len(left.shape) == 2 else "[:, None]",
        right="[None, :]" if axis == 1 else "[:, None]",
        axis=axis,
    )


def _derive_spread(statement: BlockStatement, left: Bounds, right: Bounds) -> Bounds:
    return BROADCAST[statement.settings["sign"]][0](statement, left, right)


def _compute_spread(statement: BlockStatement, operands: Sequence[Array], _: object) -> list[Array]:
    left, right = operands
    if left.ndim == 1:
        left = left[:, None]
    right = np.expand_dims(right, 1 - statement.settings["axis"])
    return [BROADCAST[statement.settings["sign"]][1](left, right)]


def _permute(draft: Draft) -> None:
    value = draft.block(_ALL_TYPES)
    require(len(value.shape) > 1, "one axis has one order")
    order = list(range(len(value.shape)))
    draft.random.shuffle(order)
    shape = tuple(value.shape[axis] for axis in order)
    draft.define("permute", (value,), (value.dtype, shape), order=tuple(order))


def _transpose(draft: Draft) -> None:
    candidates = draft.values_where(lambda value: len(value.shape) == 2)
    require(bool(candidates), "no block has two axes")
    value = draft.random.choice(candidates)
    draft.define("transpose", (value,), (value.dtype, value.shape[::-1]))


def _join(draft: Draft, name: str) -> None:
    left = draft.block(_ALL_TYPES)
    require(len(left.shape) < 3 and 2 * left.elements <= LARGEST, "the block would be too large")
    right = draft.block((left.dtype,), left.shape)
    *outer, last = left.shape
    shape = (*left.shape, 2) if name == "join" else (*outer, 2 * last)
    draft.define(name, (left, right), (left.dtype, shape))


def _split(draft: Draft) -> None:
    candidates = draft.values_where(lambda value: len(value.shape) > 1 and value.shape[-1] == 2)
    require(bool(candidates), "no block ends with an axis of two elements")
    value = draft.random.choice(candidates)
    half = (value.dtype, value.shape[:-1])
    draft.define("split", (value,), half, half)


def _flip(draft: Draft) -> None:
    value = draft.block(_ALL_TYPES[:-1])
    require(value.shape[-1] > 1, "one element has one order")
    draft.define("flip", (value,), value.kind)


def _gather(draft: Draft) -> None:
    source = draft.block((*FLOATS, "i32", "i16"))
    axis = draft.random.randrange(len(source.shape))
    length = draft.random.choice((source.shape[axis], 2 * source.shape[axis]))
    shape = (*source.shape[:axis], length, *source.shape[axis + 1 :])
    require(math.prod(shape) <= LARGEST, "the block would be too large")
    index = draft.mask_block(draft.block(("i32",), shape), source.shape[axis] - 1)
    draft.define("gather", (source, index), (source.dtype, shape), axis=axis)


def _derive_gather(
    statement: BlockStatement, operands: Sequence[Bounds], _: object
) -> list[Bounds]:
    source, index = operands
    length = statement.operands[0].shape[statement.settings["axis"]]
    require(index.low >= 0 and index.high < length, "an index may be outside of the block")
    return [source]


OPERATIONS = (
    _operation(
        "reshape",
        "tl.reshape({0}, {shape})",
        _reshape,
        lambda statement, operands: [operands[0].reshape(statement.settings["shape"])],
    ),
    _operation(
        "expand",
        "{0}[{index}]",
        _expand,
        lambda statement, operands: [np.expand_dims(operands[0], statement.settings["axis"])],
    ),
    _operation(
        "broadcast",
        "tl.broadcast_to({0}, {shape})",
        _broadcast,
        lambda statement, operands: [np.broadcast_to(operands[0], statement.settings["shape"])],
        weight=6,
    ),
    Operation(
        name="spread",
        family="shapes",
        text="({0}{left} {sign} {1}{right}).to({result})",
        propose=_spread,
        derive=in_result(_derive_spread),
        compute=_compute_spread,
        weight=8,
    ),
    _operation(
        "permute",
        "tl.permute({0}, {order})",
        _permute,
        lambda statement, operands: [operands[0].transpose(statement.settings["order"])],
    ),
    _operation(
        "transpose", "tl.trans({0})", _transpose, lambda statement, operands: [operands[0].T]
    ),
    _operation(
        "join",
        "tl.join({0}, {1})",
        lambda draft: _join(draft, "join"),
        lambda statement, operands: [np.stack(operands, -1)],
    ),
    _operation(
        "interleave",
        "tl.interleave({0}, {1})",
        lambda draft: _join(draft, "interleave"),
        lambda statement, operands: [np.stack(operands, -1).reshape(statement.results[0].shape)],
    ),
    _operation(
        "split",
        "tl.split({0})",
        _split,
        lambda statement, operands: [operands[0][..., 0], operands[0][..., 1]],
        weight=6,
    ),
    _operation(
        "flip",
        "tl.flip({0})",
        _flip,
        lambda statement, operands: [np.flip(operands[0], -1)],
        weight=1,
    ),
    Operation(
        name="gather",
        family="gather",
        text="tl.gather({0}, {1}, {axis})",
        propose=_gather,
        derive=_derive_gather,
        compute=lambda statement, operands, machine: [
            np.take_along_axis(
                operands[0], operands[1].astype(np.int64), statement.settings["axis"]
            )
        ],
        since="3.3",
        weight=5,
    ),
)
"""The operations of this module."""
