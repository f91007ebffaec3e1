"""Tiles of matrices, through block pointers and tensor descriptors.

A block pointer is a value that loops carry and advance. Its number is the start of its tile on the
axis on which the tile moves. A descriptor is such a value, too, but does not move.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from compat.toolchains.triton.programs.dtypes import DTYPES, Array, Bounds, bounds
from compat.toolchains.triton.programs.operations.memory import IN_MEMORY, along, bounds_of
from compat.toolchains.triton.programs.operations.operation import Operation, require
from compat.toolchains.triton.programs.program import BlockStatement

if TYPE_CHECKING:
    from compat.toolchains.triton.programs.analysis import Analysis
    from compat.toolchains.triton.programs.draft import Draft
    from compat.toolchains.triton.programs.evaluator import Machine

_DESCRIBED = ("i8", "i32", "fp16", "bf16", "fp32")
"""The element types of descriptors on every release that has them."""
_BLOCK_POINTER = (
    "tl.make_block_ptr({tensor}, ({rows}, {columns}), {strides}, {offsets}, {block_shape}, {order})"
)
_DESCRIPTOR = "tl.make_tensor_descriptor({tensor}, [{rows}, {columns}], {strides}, {block_shape})"
_CHECKED = 'boundary_check=(0, 1), padding_option="zero"'


def _propose_tile(draft: Draft, name: str) -> None:
    """Proposes a load of a tile that may reach beyond its matrix."""
    is_descriptor = name == "load_descriptor"
    dtype = draft.random.choice(_DESCRIBED if is_descriptor else IN_MEMORY)
    shape = draft.random.choice(((16, 16), (32, 16), (16, 64), (64, 32)))
    rows, columns = (size + draft.random.choice((-5, 0, 8, size)) for size in shape)
    if is_descriptor:
        columns = -(-columns // 16) * 16  # a row of a descriptor is a multiple of 16 bytes
    aside = 128 // DTYPES[dtype].bits if is_descriptor else 8
    offsets = draft.random.choice((0, 0, 4, shape[0] // 2)), draft.random.choice((0, 0, aside))
    low = 0 if not DTYPES[dtype].signed else -3
    tensor = draft.tensor(dtype, rows * columns, low, 3, 0)
    is_transposed = not is_descriptor and draft.random.random() < 0.3
    draft.define(
        name,
        (),
        (dtype, shape),
        tensor=tensor,
        rows=rows,
        columns=columns,
        strides=(1, rows) if is_transposed else (columns, 1),
        order=(0, 1) if is_transposed else (1, 0),
        offsets=offsets,
        block_shape=shape,
    )


def _derive_fixed_tile(
    statement: BlockStatement, _operands: Sequence[Bounds], analysis: Analysis
) -> list[Bounds]:
    """Return the bounds of a tile at a fixed position, with zeros beyond its matrix."""
    _check_matrix(statement, analysis)
    return [bounds_of(analysis.tensors[statement.settings["tensor"]]).union(bounds(0, 0))]


def _derive_descriptor_tile(
    statement: BlockStatement, operands: Sequence[Bounds], analysis: Analysis
) -> list[Bounds]:
    """Return the bounds of a tile at a fixed position that is loaded through a descriptor."""
    dtype = statement.results[0].dtype
    for elements in (statement.settings["columns"], statement.settings["offsets"][1]):
        require(elements * DTYPES[dtype].bits % 128 == 0, "a row does not begin at 16 bytes")
    return _derive_fixed_tile(statement, operands, analysis)


def _check_matrix(statement: BlockStatement, analysis: Analysis) -> None:
    settings = statement.settings
    size = analysis.tensors[settings["tensor"]].size
    require(settings["rows"] * settings["columns"] <= size, "a matrix is too large")
    require(min(settings["offsets"]) >= 0, "a tile may begin before its matrix")


def _read(statement: BlockStatement, corner: Sequence[int], machine: Machine) -> list[Array]:
    """Return the tile whose first row and column are ``corner``, with zeros beyond its matrix."""
    settings, shape = statement.settings, statement.results[0].shape
    tensor = machine.tensors[settings["tensor"]]
    lines = [first + along(shape, axis) for axis, first in enumerate(corner)]
    allowed = (lines[0] < settings["rows"]) & (lines[1] < settings["columns"])
    places = lines[0] * settings["strides"][0] + lines[1] * settings["strides"][1]
    index = np.where(allowed, places, 0)
    machine.check_places(index, len(tensor))
    return [np.where(allowed, tensor[index], tensor.dtype.type(0))]


# --- tiles that move ------------------------------------------------------------------------------


def _begin(
    statement: BlockStatement, _operands: Sequence[Bounds], analysis: Analysis
) -> list[Bounds]:
    """Return the start of the tile of a new block pointer or descriptor."""
    _check_matrix(statement, analysis)
    place = statement.settings["offsets"][statement.settings["axis"]]
    return [bounds(place, place)]


def _derive_advance(
    statement: BlockStatement, operands: Sequence[Bounds], _: object
) -> list[Bounds]:
    by = sum(statement.settings["by"])
    return [Bounds(operands[0].low + by, operands[0].high + by)]


def _place(statement: BlockStatement, operands: Sequence[int]) -> int:
    """Return the start of a moving tile on the axis on which it moves."""
    return operands[0] + sum(operands[1:]) * int(statement.settings.get("factor", 0))


def _corner(statement: BlockStatement, place: int) -> tuple[int, int]:
    """The first row and column of a tile."""
    first, second = statement.settings["offsets"]
    return (place, second) if statement.settings["axis"] == 0 else (first, place)


def _tile(
    statement: BlockStatement, operands: Sequence[Bounds], analysis: Analysis
) -> list[Bounds]:
    """Return the bounds of a moving tile, with zeros beyond its matrix if a boundary is checked."""
    settings = statement.settings
    _check_matrix(statement, analysis)
    require(all(operand.low >= 0 for operand in operands), "a tile may begin before its matrix")
    last = _corner(statement, _place(statement, [int(operand.high) for operand in operands]))
    sizes, checked = (settings["rows"], settings["columns"]), settings.get("checked", (0, 1))
    for axis, size in enumerate(sizes):
        is_inside = last[axis] + settings["block_shape"][axis] <= size
        require(axis in checked or is_inside, "a tile may reach beyond its matrix")
    tensor_bounds = bounds_of(analysis.tensors[settings["tensor"]])
    return [tensor_bounds.union(bounds(0, 0)) if checked else tensor_bounds]


def _compute_tile(
    statement: BlockStatement, operands: Sequence[Array], machine: Machine
) -> list[Array]:
    place = _place(statement, [int(operand) for operand in operands])
    checked = statement.settings.get("checked", (0, 1))
    if not checked:
        end = place + statement.settings["block_shape"][statement.settings["axis"]]
        size = statement.settings["rows" if statement.settings["axis"] == 0 else "columns"]
        machine.check_places(np.asarray([place, end - 1]), size)
    return _read(statement, _corner(statement, place), machine)


def tile_text(statement: BlockStatement) -> str:
    """The text of a load through a block pointer."""
    padding = f", {_CHECKED}" if statement.settings["checked"] else ""
    return f"tl.load({statement.operands[0].name}{padding})"


def descriptor_load_text(statement: BlockStatement) -> str:
    """The text of a load through a descriptor."""
    (descriptor, index), factor = statement.operands, statement.settings["factor"]
    moving = index.name if factor == 1 else f"{index.name} * {factor}"
    corner: list[object] = list(statement.settings["offsets"])
    corner[statement.settings["axis"]] = moving
    return f"{descriptor.name}.load([{corner[0]}, {corner[1]}])"


OPERATIONS = (
    Operation(
        name="load_tile",
        family="tiles",
        text=f"tl.load({_BLOCK_POINTER}, {_CHECKED})",
        propose=lambda draft: _propose_tile(draft, "load_tile"),
        derive=_derive_fixed_tile,
        compute=lambda statement, operands, machine: _read(
            statement, statement.settings["offsets"], machine
        ),
        until="3.9",
        weight=6,
    ),
    Operation(
        name="load_descriptor",
        family="descriptors",
        text=f"{_DESCRIPTOR}.load({{offsets}})",
        propose=lambda draft: _propose_tile(draft, "load_descriptor"),
        derive=_derive_descriptor_tile,
        compute=lambda statement, operands, machine: _read(
            statement, statement.settings["offsets"], machine
        ),
        since="3.4",
        weight=6,
    ),
    Operation(
        name="block_pointer",
        family="tiles",
        text=_BLOCK_POINTER,
        derive=_begin,
        compute=lambda statement, operands, machine: [
            np.asarray(statement.settings["offsets"][statement.settings["axis"]], np.int64)
        ],
        until="3.9",
    ),
    Operation(
        name="advance",
        family="tiles",
        text="tl.advance({0}, {by})",
        derive=_derive_advance,
        compute=lambda statement, operands, machine: [
            np.asarray(operands[0] + sum(statement.settings["by"]))
        ],
        until="3.9",
    ),
    Operation(
        name="load_pointed",
        family="tiles",
        derive=_tile,
        compute=_compute_tile,
        write=lambda statement, printer: printer.assign(statement, tile_text(statement)),
        until="3.9",
    ),
    Operation(
        name="descriptor",
        family="descriptors",
        text=_DESCRIPTOR,
        derive=_begin,
        compute=lambda statement, operands, machine: [np.asarray(0, np.int64)],
        since="3.4",
    ),
    Operation(
        name="load_described",
        family="descriptors",
        derive=_tile,
        compute=_compute_tile,
        write=lambda statement, printer: printer.assign(statement, descriptor_load_text(statement)),
        since="3.4",
    ),
)
"""The operations of this module."""
