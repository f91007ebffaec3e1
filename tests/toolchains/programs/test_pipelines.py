"""Loops that add products of tiles, and the loads in them, against numbers computed by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from compat.toolchains.triton.programs.analysis import check_program
from compat.toolchains.triton.programs.evaluator import InexactError, elements_of, evaluate
from compat.toolchains.triton.programs.generator import generate
from compat.toolchains.triton.programs.operations.operation import UndefinedError
from compat.toolchains.triton.programs.program import (
    BlockProgram,
    BlockStatement,
    BlockValue,
    InputTensor,
    NestedBody,
    Output,
    walk,
)
from compat.toolchains.triton.programs.shrinking import shrink_program
from compat.toolchains.triton.programs.source import kernel_source

ROWS, COLUMNS = 20, 16
MATRIX = {
    "tensor": "x0",
    "rows": ROWS,
    "columns": COLUMNS,
    "strides": (COLUMNS, 1),
    "order": (1, 0),
    "offsets": (0, 0),
    "block_shape": (8, COLUMNS),
    "axis": 0,
}
INDEX = BlockValue("i", "i32")
TOTAL, NEXT = BlockValue("t", "i32", (8, COLUMNS)), BlockValue("n", "i32", (8, COLUMNS))
TILE = BlockValue("v", "i32", (8, COLUMNS))


def _store(value: BlockValue, size: int) -> BlockStatement:
    shape = value.shape
    strides = (shape[1], 1) if len(shape) == 2 else (1,)
    settings = {"output": "y0", "offset": 0, "per_program": size, "strides": strides, "limit": None}
    return BlockStatement("store", (value,), (), settings)


def _program(
    *statements: BlockStatement,
    size: int = ROWS * COLUMNS,
    scalars: Mapping[str, int] | None = None,
) -> BlockProgram:
    return BlockProgram(
        seed=0,
        statements=statements,
        inputs=(InputTensor("x0", "i32", size, -3, 3), InputTensor("x1", "i32", 64, 0, 3)),
        outputs=(Output("y0", "i32", 8 * COLUMNS),),
        scalars=scalars or {},
        grid=1,
        options={"num_warps": 4, "num_stages": 3},
    )


def _summing(
    *statements: BlockStatement,
    turns: int,
    step: int = 1,
    before: tuple[BlockStatement, ...] = (),
    carried: tuple[tuple[BlockValue, BlockValue, BlockValue], ...] = (),
    size: int = ROWS * COLUMNS,
    scalars: Mapping[str, int] | None = None,
) -> BlockProgram:
    """A program that adds the tiles of all turns, and carries further values."""
    zeros, total = BlockValue("z", "i32", TOTAL.shape), BlockValue("r", "i32", TOTAL.shape)
    parameters = (INDEX, TOTAL, *(parameter for _, parameter, _ in carried))
    body = NestedBody(
        parameters,
        (*statements, BlockStatement("add", (TOTAL, TILE), (NEXT,))),
        (NEXT, *(end for _, _, end in carried)),
    )
    after = tuple(BlockValue(f"after_{begin.name}", begin.dtype) for begin, _, _ in carried)
    settings = {
        "kind": "tl.range",
        "turns": turns,
        "step": step,
        "end": str(turns * step),
        "more": ", num_stages=2",
    }
    operands = (zeros, *(begin for begin, _, _ in carried))
    return _program(
        BlockStatement("full", (), (zeros,), {"shape": TOTAL.shape, "number": 0}),
        *before,
        BlockStatement("pipeline", operands, (total, *after), settings, (body,)),
        _store(total, 8 * COLUMNS),
        size=size,
        scalars=scalars,
    )


def _matrix(program: BlockProgram, rows: int = 32) -> np.ndarray[Any, Any]:
    """The matrix of an input, with zeros below it."""
    matrix = np.zeros((rows, COLUMNS), np.int64)
    elements = elements_of(program.inputs[0])[: ROWS * COLUMNS].reshape(-1, COLUMNS)
    matrix[: len(elements)] = elements
    return matrix


# --- block pointers and descriptors ---------------------------------------------------------------


def _pointed(turns: int, checked: tuple[int, ...]) -> BlockProgram:
    first, pointer, moved = (BlockValue(name, "block_ptr") for name in ("p0", "p", "q"))
    return _summing(
        BlockStatement("load_pointed", (pointer,), (TILE,), {**MATRIX, "checked": checked}),
        BlockStatement("advance", (pointer,), (moved,), {"by": (8, 0)}),
        turns=turns,
        before=(BlockStatement("block_pointer", (), (first,), dict(MATRIX)),),
        carried=((first, pointer, moved),),
    )


def test_a_block_pointer_advances_and_reads_zeros_beyond_its_matrix() -> None:
    program = _pointed(3, checked=(0, 1))
    matrix = _matrix(program)
    ranges = check_program(program)
    assert ranges["r"].low == -9
    assert ranges["after_p0"].low == 24
    result = evaluate(program)["y0"].reshape(8, COLUMNS)
    assert (result == matrix[:8] + matrix[8:16] + matrix[16:24]).all()


def test_an_unchecked_tile_must_be_inside_of_its_matrix() -> None:
    assert check_program(_pointed(2, checked=()))["r"].high == 6
    evaluate(_pointed(2, checked=()))
    with pytest.raises(UndefinedError, match="beyond its matrix"):
        check_program(_pointed(3, checked=()))
    with pytest.raises(InexactError, match="outside"):
        evaluate(_pointed(3, checked=()))


def test_the_source_makes_a_pointer_once_and_advances_it_each_turn() -> None:
    lines = [line.strip() for line in kernel_source(_pointed(3, checked=(0, 1))).splitlines()]
    loop = lines.index("for i in tl.range(0, 3, num_stages=2):")
    pointer_line = "p0 = tl.make_block_ptr(x0, (20, 16), (16, 1), (0, 0), (8, 16), (1, 0))"
    assert lines.index(pointer_line) < lines.index("p = p0") < loop
    assert lines[loop + 1] == 'v = tl.load(p, boundary_check=(0, 1), padding_option="zero")'
    assert lines[loop + 2 : loop + 5] == ["q = tl.advance(p, (8, 0))", "n = t + v", "t, p = n, q"]


@pytest.mark.parametrize(("step", "factor"), [(8, 1), (1, 8)])
def test_a_descriptor_is_read_at_the_offset_of_the_turn(step: int, factor: int) -> None:
    descriptor = BlockValue("d", "descriptor")
    program = _summing(
        BlockStatement(
            "load_described", (descriptor, INDEX), (TILE,), {**MATRIX, "factor": factor}
        ),
        turns=2,
        step=step,
        before=(BlockStatement("descriptor", (), (descriptor,), dict(MATRIX)),),
    )
    matrix = _matrix(program)
    check_program(program)
    result = evaluate(program)["y0"].reshape(8, COLUMNS)
    assert (result == matrix[:8] + matrix[8:16]).all()
    place = "i" if factor == 1 else "i * 8"
    assert f"v = d.load([{place}, 0])" in kernel_source(program)


# --- rows -----------------------------------------------------------------------------------------


def _gathered(rows: int, limit: str | None, size: int = ROWS * COLUMNS) -> BlockProgram:
    """Adds rows that a tensor of row numbers names."""
    place, numbers = BlockValue("a", "i32", (8,)), BlockValue("g", "i32", (8,))
    settings = {"tensor": "x0", "stride": COLUMNS, "axis": 0, "limit": limit}
    return _summing(
        BlockStatement("arange", (), (place,), {"start": 0, "end": 8}),
        BlockStatement("lookup", (place,), (numbers,), {"tensor": "x1"}),
        BlockStatement("load_rows", (numbers, place), (TILE,), settings),
        turns=2,
        size=size,
        scalars={} if limit is None else {limit: rows},
    )


def test_gathered_rows_are_those_with_the_given_numbers() -> None:
    program = _gathered(5, "n0")
    numbers = elements_of(program.inputs[1])[:8].astype(np.int64)
    expected = 2 * _matrix(program)[numbers]
    expected[5:] = 0
    check_program(program)
    assert (evaluate(program)["y0"].reshape(8, COLUMNS) == expected).all()
    text = (
        "tl.load(x0 + g[:, None] * 16 + tl.arange(0, 16)[None, :], mask=a[:, None] < n0, other=0)"
    )
    assert text in kernel_source(program)


def test_analysis_and_evaluator_reject_a_row_outside_of_its_tensor() -> None:
    program = _gathered(8, None, size=3 * COLUMNS)  # the numbers are 0 to 3
    assert 3 in elements_of(program.inputs[1])[:8]
    with pytest.raises(UndefinedError, match="outside"):
        check_program(program)
    with pytest.raises(InexactError, match="outside"):
        evaluate(program)


def test_rows_become_the_columns_of_a_transposed_tile() -> None:
    place, tile = BlockValue("a", "i32", (8,)), BlockValue("v", "i32", (COLUMNS, 8))
    settings = {"tensor": "x0", "stride": COLUMNS, "axis": 1, "limit": None}
    program = _program(
        BlockStatement("arange", (), (place,), {"start": 8, "end": 16}),
        BlockStatement("load_rows", (place, place), (tile,), settings),
        _store(tile, 8 * COLUMNS),
    )
    check_program(program)
    result = evaluate(program)["y0"].reshape(COLUMNS, 8)
    assert (result == _matrix(program)[8:16].T).all()


def test_the_mask_of_a_load_may_depend_on_the_turn() -> None:
    settings = {
        "tensor": "x0",
        "offset": 0,
        "per_program": 0,
        "per_turn": COLUMNS,
        "strides": (COLUMNS, 1),
        "limit": (0, "n0"),
        "limit_per_turn": 1,
        "other": 2,
    }
    program = _summing(
        BlockStatement("load", (INDEX,), (TILE,), settings), turns=2, step=8, scalars={"n0": 11}
    )
    matrix = _matrix(program)
    expected = matrix[:8] + matrix[8:16]
    expected[3:] = matrix[3:8] + 2
    check_program(program)
    assert (evaluate(program)["y0"].reshape(8, COLUMNS) == expected).all()
    assert "mask=i * 1 + tl.arange(0, 8)[:, None] < n0" in kernel_source(program)


# --- smaller programs -----------------------------------------------------------------------------


def test_shrinking_replaces_a_loop_by_one_turn_that_shows_the_defect() -> None:
    def show(programs: Sequence[BlockProgram]) -> list[bool]:
        return ["load_pointed" in program.operations for program in programs]

    smaller_program = shrink_program(_pointed(3, checked=(0, 1)), show)
    names = [statement.operation for statement in smaller_program.all_statements]
    assert names == ["block_pointer", "load_pointed", "store"]
    assert (
        evaluate(smaller_program)["y0"].reshape(8, COLUMNS) == _matrix(smaller_program)[:8]
    ).all()


def test_shrinking_removes_turns_and_carried_values_from_a_loop() -> None:
    def show(programs: Sequence[BlockProgram]) -> list[bool]:
        return ["pipeline" in program.operations for program in programs]

    program = _pointed(3, checked=(0, 1))
    smaller_program = shrink_program(program, show)
    (loop,) = (
        statement
        for statement in smaller_program.all_statements
        if statement.operation == "pipeline"
    )
    assert (len(loop.operands), loop.settings["turns"]) == (1, 1)
    check_program(smaller_program)
    evaluate(smaller_program)


# --- generated programs ---------------------------------------------------------------------------


def test_generated_loops_have_the_forms_of_known_defects() -> None:
    """The defects are races and wrong numbers, which only a GPU shows."""
    two_products = summed_and_transposed = goes_on = gathered = 0
    for seed in range(150):
        program, left_over = generate(seed, only=("pipelines",)), set[BlockValue]()
        for loop in program.all_statements:
            if loop.operation != "pipeline":
                continue
            body = tuple(walk(loop.bodies[0].statements))
            names = [statement.operation for statement in body]
            transposed = {
                statement.operands[0] for statement in body if statement.operation == "transpose"
            }
            summed = {
                statement.operands[0]
                for statement in body
                if statement.operation in ("cast", "sum")
            }
            two_products += names.count("dot") == 2
            gathered += {"lookup", "load_rows", "dot"} <= set(names)
            summed_and_transposed += "sum" in names and bool(transposed & summed)
            pointers = {value for value in loop.operands if value.dtype == "block_ptr"}
            goes_on += bool(pointers & left_over)
            left_over |= set(loop.results)
    assert min(two_products, summed_and_transposed, goes_on, gathered) >= 5
