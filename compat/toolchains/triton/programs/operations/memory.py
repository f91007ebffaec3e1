"""Loads, stores and atomics that stay inside of their tensors in every program of the grid."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from compat.toolchains.triton.programs.dtypes import (
    DTYPES,
    PLACES,
    Array,
    Bounds,
    bounds,
    holds,
    numpy_dtype,
)
from compat.toolchains.triton.programs.operations.operation import Operation, require
from compat.toolchains.triton.programs.program import BlockStatement, BlockValue, InputTensor, Shape

if TYPE_CHECKING:
    from compat.toolchains.triton.programs.analysis import Analysis
    from compat.toolchains.triton.programs.draft import Draft
    from compat.toolchains.triton.programs.evaluator import Machine

_FARTHEST = 1 << 14
"""The most elements by which a load may move in all iterations of a loop."""
_HIGH = 3
"""The largest element that most loads read."""
IN_MEMORY = tuple(dtype.name for dtype in DTYPES.values() if dtype.in_memory)


# --- places ---------------------------------------------------------------------------------------


def axis_text(shape: Shape, axis: int) -> str:
    """Return the text of ``tl.arange`` along one axis of a block."""
    index = ", ".join(":" if place == axis else "None" for place in range(len(shape)))
    text = f"tl.arange(0, {shape[axis]})"
    return text if len(shape) == 1 else f"{text}[{index}]"


def place_text(statement: BlockStatement, shape: Shape) -> str:
    """The offsets of a load or store: program, loop index and axes times their strides."""
    settings = statement.settings
    parts = [str(settings["offset"])] if settings["offset"] else []
    if settings["per_program"]:
        parts.append(f"tl.program_id(0) * {settings['per_program']}")
    if settings.get("per_turn"):
        parts.append(f"{statement.operands[-1].name} * {settings['per_turn']}")
    for axis, stride in enumerate(settings["strides"]):
        text = axis_text(shape, axis)
        parts.append(text if stride == 1 else f"{text} * {stride}")
    return " + ".join(parts)


def mask_text(statement: BlockStatement, shape: Shape) -> str:
    """Return the keyword argument for a mask; empty if there is none."""
    limit = statement.settings.get("limit")
    if limit is None:
        return ""
    axis, name = limit
    place = axis_text(shape, axis)
    if factor := statement.settings.get("limit_per_turn"):
        place = f"{statement.operands[-1].name} * {factor} + {place}"
    return f", mask={place} < {name}"


def places(statement: BlockStatement, shape: Shape, machine: Machine, turn: int) -> Array:
    """The indices of a load or store, one for each element."""
    settings = statement.settings
    indices = np.full(
        shape, settings["offset"] + machine.program * settings["per_program"], np.int64
    )
    indices += turn * machine.number(settings.get("per_turn", 0))
    for axis, stride in enumerate(settings["strides"]):
        indices += along(shape, axis) * machine.number(stride)
    return indices


def inside(statement: BlockStatement, shape: Shape, machine: Machine, turn: int) -> Array:
    """Return which elements the mask includes."""
    limit = statement.settings.get("limit")
    if limit is None:
        return np.ones(shape, np.bool_)
    axis, name = limit
    place = along(shape, axis) + turn * statement.settings.get("limit_per_turn", 0)
    return np.broadcast_to(place < machine.number(name), shape)


def along(shape: Shape, axis: int) -> Array:
    """The indices along one axis of a block."""
    line = np.arange(shape[axis])
    return line.reshape([-1 if place == axis else 1 for place in range(len(shape))])


def last_place(statement: BlockStatement, shape: Shape, analysis: Analysis, turn: Fraction) -> int:
    """Return an upper bound for the indices of a load or store that its mask includes."""
    settings = statement.settings
    last = settings["offset"] + (analysis.grid - 1) * settings["per_program"]
    last += int(turn) * analysis.number(settings.get("per_turn", 0))
    limit = settings.get("limit")
    for axis, stride in enumerate(settings["strides"]):
        size = shape[axis]
        if limit is not None and limit[0] == axis and not settings.get("limit_per_turn"):
            size = min(size, analysis.number(limit[1]))
        last += (size - 1) * analysis.number(stride)
    return int(last)


def random_strides(draft: Draft, shape: Shape) -> tuple[tuple[int | str, ...], int]:
    """Return strides of a tensor that contains a block, and the elements that the tensor needs."""
    order = list(range(len(shape)))
    if draft.random.random() < 0.3:
        draft.random.shuffle(order)
    strides: list[int | str] = [0] * len(shape)
    stride = 1
    for axis in reversed(order):
        strides[axis] = stride
        stride *= shape[axis]
        if draft.random.random() < 0.1:
            stride += draft.random.choice((1, 8, 16))
    for axis, number in enumerate(strides):
        if number != 1 and draft.random.random() < 0.25:
            strides[axis] = draft.scalar(int(number))
    return tuple(strides), stride


def _random_limit(draft: Draft, shape: Shape, chance: float) -> tuple[int, str] | None:
    if draft.random.random() > chance:
        return None
    axis = draft.random.randrange(len(shape))
    return axis, draft.scalar(draft.random.randint(1, shape[axis]))


def bounds_of(tensor: InputTensor) -> Bounds:
    """The bounds of the elements of a tensor."""
    unit = Fraction(2) ** tensor.step
    return Bounds(tensor.low * unit, tensor.high * unit, tensor.step)


# --- loads ----------------------------------------------------------------------------------------


def propose_load(
    draft: Draft, dtype: str, shape: Shape, low: int, step: int, *, follows: bool = False
) -> BlockValue:
    """Add a load of numbers up to 3 units of ``2 ** step`` to a draft.

    Its offset mostly depends on the index of the innermost loop, and always does with ``follows``.
    """
    strides, size = random_strides(draft, shape)
    per_program = draft.random.choice((0, size, size))
    turn = draft.turn if follows or draft.random.random() < 0.8 else None
    per_turn = draft.random.choice((size, *strides)) if turn is not None else 0
    if draft.analysis.number(per_turn) * draft.turns > _FARTHEST:
        per_turn = 1
    settings: dict[str, Any] = {
        "offset": draft.random.choice((0, 0, 0, 1, 16)),
        "per_program": per_program,
        "per_turn": per_turn,
        "strides": strides,
        "limit": _random_limit(draft, shape, 0.3),
        "other": draft.random.randint(max(low, 0), _HIGH),
    }
    if turn is not None and settings["limit"] and draft.random.random() < 0.5:
        axis = settings["limit"][0]
        last = int(draft.turns) + shape[axis]
        settings["limit"] = axis, draft.scalar(draft.random.randint(max(1, last - 20), last))
        settings["limit_per_turn"] = 1
    operands = () if turn is None else (turn,)
    probe = BlockStatement("load", operands, (BlockValue("", dtype, shape),), settings)
    last = last_place(probe, shape, draft.analysis, draft.turns)
    settings["tensor"] = draft.tensor(dtype, last + 1, low, _HIGH, step)
    return draft.add("load", operands, (dtype, shape), **settings)


def _load(draft: Draft) -> None:
    draft.small(draft.random.choice(IN_MEMORY), draft.shape())


def _derive_load(
    statement: BlockStatement, operands: Sequence[Bounds], analysis: Analysis
) -> list[Bounds]:
    tensor = analysis.tensors[statement.settings["tensor"]]
    shape = statement.results[0].shape
    turn = operands[-1].high if statement.settings["per_turn"] else Fraction(0)
    last = last_place(statement, shape, analysis, turn)
    require(last < tensor.size, "an element may be outside of its tensor")
    tensor_bounds = bounds_of(tensor)
    other = statement.settings["other"]
    return [
        tensor_bounds.union(bounds(other, other)) if statement.settings["limit"] else tensor_bounds
    ]


def _read(statement: BlockStatement, operands: Sequence[Array], machine: Machine) -> list[Array]:
    shape = statement.results[0].shape
    turn = int(operands[-1]) if statement.settings["per_turn"] else 0
    tensor = machine.tensors[statement.settings["tensor"]]
    allowed = inside(statement, shape, machine, turn)
    index = np.where(allowed, places(statement, shape, machine, turn), 0)
    machine.check_places(index, len(tensor))
    other = tensor.dtype.type(statement.settings["other"])
    return [np.where(allowed, tensor[index], other)]


def load_text(statement: BlockStatement) -> str:
    """The text of a load."""
    shape = statement.results[0].shape
    other = f", other={statement.settings['other']}" if statement.settings["limit"] else ""
    where = place_text(statement, shape)
    return f"tl.load({statement.settings['tensor']} + {where}{mask_text(statement, shape)}{other})"


def _lookup(draft: Draft) -> None:
    """Proposes a load from computed indices."""
    mask = draft.random.choice((7, 31, 255))
    index = draft.mask_block(draft.block(("i32",)), mask)
    dtype = draft.random.choice(IN_MEMORY)
    tensor = draft.tensor(dtype, mask + 1, 0 if not DTYPES[dtype].signed else -8, 8, 0)
    draft.define("lookup", (index,), (dtype, index.shape), tensor=tensor)


def _derive_lookup(
    statement: BlockStatement, operands: Sequence[Bounds], analysis: Analysis
) -> list[Bounds]:
    tensor = analysis.tensors[statement.settings["tensor"]]
    require(operands[0].low >= 0 and operands[0].high < tensor.size, "an index may be outside")
    return [bounds_of(tensor)]


def _rows_text(statement: BlockStatement) -> str:
    settings, (rows, positions) = statement.settings, statement.operands
    shape, axis = statement.results[0].shape, settings["axis"]
    index = "[:, None]" if axis == 0 else "[None, :]"
    place = f"{rows.name}{index} * {settings['stride']} + {axis_text(shape, 1 - axis)}"
    mask = ""
    if settings["limit"] is not None:
        mask = f", mask={positions.name}{index} < {settings['limit']}, other=0"
    return f"tl.load({settings['tensor']} + {place}{mask})"


def _derive_load_rows(
    statement: BlockStatement, operands: Sequence[Bounds], analysis: Analysis
) -> list[Bounds]:
    settings, tensor = statement.settings, analysis.tensors[statement.settings["tensor"]]
    width = statement.results[0].shape[1 - settings["axis"]]
    rows = operands[0]
    last = rows.high * settings["stride"] + width - 1
    require(rows.low >= 0 and last < tensor.size, "a row may be outside of its tensor")
    tensor_bounds = bounds_of(tensor)
    return [tensor_bounds if settings["limit"] is None else tensor_bounds.union(bounds(0, 0))]


def _read_rows(
    statement: BlockStatement, operands: Sequence[Array], machine: Machine
) -> list[Array]:
    settings, shape = statement.settings, statement.results[0].shape
    axis, tensor = settings["axis"], machine.tensors[statement.settings["tensor"]]
    rows, positions = (np.expand_dims(value.astype(np.int64), 1 - axis) for value in operands)
    index = rows * settings["stride"] + along(shape, 1 - axis)
    machine.check_places(index, len(tensor))
    limit = settings["limit"]
    allowed = np.bool_(True) if limit is None else positions < machine.number(limit)
    return [np.where(allowed, tensor[index], tensor.dtype.type(0))]


# --- stores ---------------------------------------------------------------------------------------


def propose_store(draft: Draft, value: BlockValue) -> None:
    """Add a store of a value to an output of its own, and casts that it needs."""
    if not DTYPES[value.dtype].in_memory:
        wider = "fp32" if DTYPES[value.dtype].is_float else "i64"
        value = draft.add("cast", (value,), ("i8" if value.dtype == "i1" else wider, value.shape))
    if not value.shape:
        value = draft.add("splat", (value,), (value.dtype, (16,)), shape=(16,))
    strides, size = random_strides(draft, value.shape)
    settings: dict[str, Any] = {
        "offset": 0,
        "per_program": size,
        "strides": strides,
        "limit": _random_limit(draft, value.shape, 0.2),
        "output": draft.output(value.dtype, size * draft.grid),
    }
    draft.define("store", (value,), **settings)


def _derive_store(
    statement: BlockStatement, _operands: Sequence[Bounds], analysis: Analysis
) -> list[Bounds]:
    output = analysis.outputs[statement.settings["output"]]
    last = last_place(statement, statement.operands[0].shape, analysis, Fraction(0))
    require(last < output.size, "an element may be outside of its tensor")
    return []


def _write(statement: BlockStatement, operands: Sequence[Array], machine: Machine) -> list[Array]:
    shape = statement.operands[0].shape
    allowed = inside(statement, shape, machine, 0)
    index = places(statement, shape, machine, 0)[allowed]
    output = machine.outputs[statement.settings["output"]]
    machine.check_places(index, len(output))
    output[index] = operands[0][allowed]
    return []


def store_text(statement: BlockStatement) -> str:
    """The text of a store."""
    shape, value = statement.operands[0].shape, statement.operands[0].name
    where = place_text(statement, shape)
    return (
        f"tl.store({statement.settings['output']} + {where}, {value}{mask_text(statement, shape)})"
    )


# --- atomics --------------------------------------------------------------------------------------

_ADDED = ("i32", "i64", "fp32", "fp16", "bf16")
_ATOMIC = {"atomic_add": np.add, "atomic_max": np.maximum, "atomic_min": np.minimum}


def _atomic(draft: Draft, name: str) -> None:
    require(draft.is_outermost, "an atomic inside of a loop repeats")
    dtype = draft.random.choice(_ADDED if name == "atomic_add" else ("i32",))
    value = draft.block((dtype,))
    if DTYPES[dtype].bits == 16:
        require(value.elements * draft.grid <= 256, "the sum of so many numbers is not exact")
        value = draft.limit_block(value, 1)
    mask = draft.random.choice((0, 3, 15, 63))
    index = draft.mask_block(draft.block(("i32",), value.shape), mask)
    output = draft.output(value.dtype, mask + 1)
    draft.define(name, (value, index), output=output)


def _derive_atomic(
    statement: BlockStatement, operands: Sequence[Bounds], analysis: Analysis
) -> list[Bounds]:
    value, index = operands
    output = analysis.outputs[statement.settings["output"]]
    require(index.low >= 0 and index.high < output.size, "an index may be outside")
    if statement.operation == "atomic_add" and DTYPES[output.dtype].is_float:
        times = statement.operands[0].elements * analysis.grid
        most = value.magnitude * times
        require(holds(output.dtype, Bounds(-most, most, value.step)), "a sum may not be exact")
    return []


def _accumulate(
    statement: BlockStatement, operands: Sequence[Array], machine: Machine
) -> list[Array]:
    output = machine.outputs[statement.settings["output"]]
    machine.check_places(operands[1], len(output))
    _ATOMIC[statement.operation].at(output, operands[1].reshape(-1), operands[0].reshape(-1))
    return []


# --- constants and scalars ------------------------------------------------------------------------


def _arange(draft: Draft) -> None:
    length = 1 << draft.random.randint(2, 8)
    start = draft.random.choice((0, 0, length))
    draft.define("arange", (), ("i32", (length,)), start=start, end=start + length)


def _full(draft: Draft) -> None:
    dtype = draft.random.choice(IN_MEMORY)
    number = draft.random.randint(0 if not DTYPES[dtype].signed else -4, 4)
    shape = draft.shape()
    draft.define("full", (), (dtype, shape), shape=shape, number=number)


def _splat(draft: Draft) -> None:
    scalars = draft.values_where(
        lambda value: not value.shape and value.dtype not in ("i1", *PLACES)
    )
    require(bool(scalars), "there is no scalar")
    value, shape = draft.random.choice(scalars), draft.shape()
    draft.define("splat", (value,), (value.dtype, shape), shape=shape)


def _numpy_full(statement: BlockStatement, number: object) -> Array:
    result = statement.results[0]
    return np.full(result.shape, number, numpy_dtype(result.dtype))


OPERATIONS = (
    Operation(
        name="load",
        family="memory",
        propose=_load,
        derive=_derive_load,
        compute=_read,
        write=lambda statement, printer: printer.assign(statement, load_text(statement)),
        weight=6,
    ),
    Operation(
        name="lookup",
        family="memory",
        text="tl.load({tensor} + {0})",
        propose=_lookup,
        derive=_derive_lookup,
        compute=lambda statement, operands, machine: [
            machine.tensors[statement.settings["tensor"]][operands[0]]
        ],
        weight=2,
    ),
    Operation(
        name="load_rows",
        family="memory",
        derive=_derive_load_rows,
        compute=_read_rows,
        write=lambda statement, printer: printer.assign(statement, _rows_text(statement)),
    ),
    Operation(
        name="store",
        family="memory",
        derive=_derive_store,
        compute=_write,
        write=lambda statement, printer: printer.line(store_text(statement)),
    ),
    *(
        Operation(
            name=name,
            family="atomics",
            propose=partial(_atomic, name=name),
            derive=_derive_atomic,
            compute=_accumulate,
            write=lambda statement, printer: printer.line(
                f"tl.{statement.operation}({statement.settings['output']} +"
                f" {statement.operands[1].name}, {statement.operands[0].name})"
            ),
            weight=6 if name == "atomic_add" else 1,
        )
        for name in _ATOMIC
    ),
    Operation(
        name="arange",
        family="memory",
        text="tl.arange({start}, {end})",
        propose=_arange,
        derive=lambda statement, operands, analysis: [
            bounds(statement.settings["start"], statement.settings["end"] - 1)
        ],
        compute=lambda statement, operands, machine: [
            np.arange(statement.settings["start"], statement.settings["end"], dtype=np.int32)
        ],
        weight=3,
    ),
    Operation(
        name="full",
        family="memory",
        text="tl.full({shape}, {number}, {result})",
        propose=_full,
        derive=lambda statement, operands, analysis: [
            bounds(statement.settings["number"], statement.settings["number"])
        ],
        compute=lambda statement, operands, machine: [
            _numpy_full(statement, statement.settings["number"])
        ],
        weight=2,
    ),
    Operation(
        name="splat",
        family="memory",
        text="tl.full({shape}, {0}, {result})",
        propose=_splat,
        derive=lambda statement, operands, analysis: [operands[0]],
        compute=lambda statement, operands, machine: [_numpy_full(statement, operands[0])],
        weight=3,
    ),
    Operation(
        name="program",
        family="memory",
        text="tl.program_id(0)",
        propose=lambda draft: draft.define("program", (), ("i32", ())),
        derive=lambda statement, operands, analysis: [bounds(0, analysis.grid - 1)],
        compute=lambda statement, operands, machine: [np.asarray(machine.program, np.int32)],
        weight=1,
    ),
)
"""The operations of this module."""
