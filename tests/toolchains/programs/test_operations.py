"""Each operation against numbers computed by hand, and the ranges that are derived for it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from compat.toolchains.triton.programs.analysis import Analysis
from compat.toolchains.triton.programs.dtypes import DTYPES, Bounds, bounds, holds, numpy_dtype
from compat.toolchains.triton.programs.evaluator import InexactError, check_exact
from compat.toolchains.triton.programs.operations import OPERATIONS
from compat.toolchains.triton.programs.operations.operation import UndefinedError, expression
from compat.toolchains.triton.programs.program import BlockStatement, BlockValue
from tests.together import for_each

Operand = tuple[str, list[Any]]
"""An element type, and elements."""

CASES: list[tuple[str, list[Operand], dict[str, Any], Operand]] = [
    ("add", [("i8", [127, -3]), ("i8", [1, 1])], {}, ("i8", [-128, -2])),
    ("subtract", [("u8", [0, 5]), ("u8", [1, 2])], {}, ("u8", [255, 3])),
    ("multiply", [("i32", [1 << 30, -3]), ("i32", [4, 5])], {}, ("i32", [0, -15])),
    ("multiply", [("fp16", [1.5, -2]), ("fp16", [2, 3])], {}, ("fp16", [3, -6])),
    ("minimum", [("bf16", [1, -2]), ("bf16", [0, 5])], {}, ("bf16", [0, -2])),
    ("quotient", [("i32", [7, 8]), ("i32", [2, 3])], {}, ("i32", [3, 2])),
    ("remainder", [("i64", [7, 8]), ("i64", [2, 3])], {}, ("i64", [1, 2])),
    ("xor", [("i16", [5, -1]), ("i16", [3, 1])], {}, ("i16", [6, -2])),
    ("less", [("fp32", [1, 2]), ("fp32", [2, 2])], {}, ("i1", [True, False])),
    ("add_mixed", [("i8", [127, -1]), ("i32", [1, 1])], {}, ("i32", [128, 0])),
    ("invert", [("u8", [0, 255])], {}, ("u8", [255, 0])),
    ("floor", [("fp32", [-1.5, 1.5])], {}, ("fp32", [-2, 1])),
    ("shift_left", [("i32", [1, -1])], {"by": 4}, ("i32", [16, -16])),
    ("shift_right", [("i32", [17, -17])], {"by": 4}, ("i32", [1, -2])),
    ("scale", [("fp32", [3, -1])], {"factor": 0.25}, ("fp32", [0.75, -0.25])),
    ("limit", [("i32", [9, -9])], {"limit": 3}, ("i32", [3, -3])),
    ("mask", [("i32", [-1, 9])], {"mask": 12}, ("i32", [12, 8])),
    ("fma", [("fp32", [2, 3]), ("fp32", [4, 5]), ("fp32", [1, -1])], {}, ("fp32", [9, 14])),
    ("cast", [("fp32", [1.5, -1.5])], {}, ("i8", [1, -1])),
    ("cast", [("i32", [257, -1])], {}, ("u8", [1, 255])),
    ("cast", [("i1", [True, False])], {}, ("i16", [1, 0])),
    ("cast", [("fp64", [1.5, -2])], {}, ("fp8e5", [1.5, -2])),
    (
        "spread",
        [("i32", [[1, 2], [3, 4]]), ("i32", [10, 20])],
        {"sign": "+", "axis": 0},
        ("i32", [[11, 12], [23, 24]]),
    ),
    (
        "spread",
        [("i32", [[1, 2], [3, 4]]), ("i32", [1, 3])],
        {"sign": "&", "axis": 1},
        ("i32", [[1, 2], [1, 0]]),
    ),
    (
        "spread",
        [("fp16", [1, -2]), ("fp16", [3, 0.5])],
        {"sign": "*", "axis": 1},
        ("fp16", [[3, 0.5], [-6, -1]]),
    ),
    ("interleave", [("i32", [1, 2]), ("i32", [3, 4])], {}, ("i32", [1, 3, 2, 4])),
    ("flip", [("i32", [1, 2, 3, 4])], {}, ("i32", [4, 3, 2, 1])),
    ("gather", [("i32", [7, 8]), ("i32", [1, 0, 1, 1])], {"axis": 0}, ("i32", [8, 7, 8, 8])),
    ("cumsum", [("i32", [1, 2, 3, 4])], {"axis": 0, "reverse": True}, ("i32", [10, 9, 7, 4])),
    ("cumprod", [("i32", [1, 2, 3, 4])], {"axis": 0, "reverse": False}, ("i32", [1, 2, 6, 24])),
    (
        "scan",
        [("i32", [1, 2, 3])],
        {"axis": 0, "function": "combine_circle"},
        ("i32", [1, 5, 23]),
    ),
    ("sort", [("i32", [3, 1, 2, 0])], {"descending": True}, ("i32", [3, 2, 1, 0])),
    ("histogram", [("i32", [0, 1, 1, 3])], {"bins": 4}, ("i32", [1, 2, 0, 1])),
    ("is_odd", [("i32", [3, -3, 4])], {}, ("i1", [True, True, False])),
]


def analysis() -> Analysis:
    return Analysis({}, {}, {}, 1)


def applied(
    name: str, operands: list[Operand], settings: dict[str, Any], result: Operand
) -> tuple[BlockStatement, list[Any]]:
    values = [
        BlockValue(f"v{number}", dtype, np.shape(elements))
        for number, (dtype, elements) in enumerate(operands)
    ]
    statement = BlockStatement(
        name, tuple(values), (BlockValue("r", result[0], np.shape(result[1])),), settings
    )
    return statement, [np.array(elements, numpy_dtype(dtype)) for dtype, elements in operands]


@for_each(("name", "operands", "settings", "result"), CASES)
def test_numbers_are_those_computed_by_hand(
    name: str, operands: list[Operand], settings: dict[str, Any], result: Operand
) -> None:
    statement, arrays = applied(name, operands, settings, result)
    machine: Any = None
    (computed,) = OPERATIONS[name].compute(statement, arrays, machine)
    assert computed.dtype == numpy_dtype(result[0])
    assert computed.tolist() == result[1]


@for_each(("name", "operands", "settings", "result"), CASES)
def test_derived_ranges_contain_the_numbers(
    name: str, operands: list[Operand], settings: dict[str, Any], result: Operand
) -> None:
    statement, arrays = applied(name, operands, settings, result)
    operand_bounds = [
        Bounds(Fraction(array.min().item()), Fraction(array.max().item()), -1)
        if array.dtype == np.float64
        else bounds(int(array.min()), int(array.max()))
        for array in arrays
    ]
    (result_bounds,) = OPERATIONS[name].derive(statement, operand_bounds, analysis())
    numbers = np.ravel(result[1]).tolist()
    assert result_bounds.low <= min(numbers) <= max(numbers) <= result_bounds.high
    assert all(Fraction(number) % Fraction(2) ** result_bounds.step == 0 for number in numbers)


def test_a_reduction_is_along_one_axis_or_over_all() -> None:
    value = np.array([[1, 2], [3, 4]], np.int32)
    for axis, result in ((0, [4, 6]), (1, [3, 7]), (None, 10)):
        statement = BlockStatement(
            "sum",
            (BlockValue("v", "i32", (2, 2)),),
            (BlockValue("r", "i32", np.shape(result)),),
            {"axis": axis},
        )
        machine: Any = None
        (computed,) = OPERATIONS["sum"].compute(statement, [value], machine)
        assert computed.tolist() == result


def test_a_recurrence_composes_the_linear_functions_of_the_elements() -> None:
    statement = BlockStatement("recurrence", (), (), {"axis": 0})
    arrays = [np.array([2, 3, 4], np.int32), np.array([1, 1, 1], np.int32)]
    machine: Any = None
    factors, terms = OPERATIONS["recurrence"].compute(statement, arrays, machine)
    assert factors.tolist() == [2, 6, 24]
    assert terms.tolist() == [1, 4, 17]  # 3 · 1 + 1, and 4 · 4 + 1


def test_a_dot_multiplies_matrices() -> None:
    left, right = BlockValue("a", "fp16", (16, 16)), BlockValue("b", "fp16", (16, 16))
    statement = BlockStatement(
        "dot", (left, right), (BlockValue("r", "fp32", (16, 16)),), {"precision": None}
    )
    arrays = [np.full((16, 16), 2.0), np.eye(16)]
    machine: Any = None
    (computed,) = OPERATIONS["dot"].compute(statement, arrays, machine)
    assert (computed == 2).all()


UNDEFINED: list[tuple[str, list[tuple[str, Bounds]], str, dict[str, Any], str]] = [
    ("quotient", [("i32", bounds(-1, 5)), ("i32", bounds(1, 2))], "i32", {}, "negative"),
    ("quotient", [("i32", bounds(0, 5)), ("i32", bounds(0, 2))], "i32", {}, "negative"),
    ("add", [("fp16", bounds(0, 2048)), ("fp16", bounds(0, 1))], "fp16", {}, "exact"),
    ("cast", [("fp32", bounds(0, 300))], "i8", {}, "exact"),
    ("cast", [("fp32", bounds(-1, 1))], "u8", {}, "negative|exact"),
    ("cast", [("i32", bounds(0, 257))], "bf16", {}, "exact"),
    ("cast", [("i32", bounds(0, 1))], "fp8e5", {}, "fp8"),
    ("cast", [("fp8e5", bounds(0, 1))], "fp64", {}, "fp8"),
    (
        "spread",
        [("fp16", bounds(0, 64)), ("fp16", bounds(0, 64))],
        "fp16",
        {"sign": "*", "axis": 0},
        "exact",
    ),
    ("histogram", [("i32", bounds(0, 4))], "i32", {"bins": 4}, "bin"),
    ("gather", [("i32", bounds(0, 1)), ("i32", bounds(0, 16))], "i32", {"axis": 0}, "outside"),
    ("sum", [("fp16", bounds(-200, 200))], "fp16", {"axis": 0}, "exact"),
    (
        "dot",
        [("fp32", bounds(0, 3, -11)), ("fp32", bounds(0, 3))],
        "fp32",
        {"precision": "tf32"},
        "tf32",
    ),
]


@for_each(("name", "operands", "result", "settings", "reason"), UNDEFINED)
def test_an_operation_that_is_undefined_for_some_numbers_is_refused(
    name: str,
    operands: list[tuple[str, Bounds]],
    result: str,
    settings: dict[str, Any],
    reason: str,
) -> None:
    values = tuple(
        BlockValue(f"v{number}", dtype, (16, 16)) for number, (dtype, _) in enumerate(operands)
    )
    statement = BlockStatement(name, values, (BlockValue("r", result, (16, 16)),), settings)
    checking = analysis()
    checking.known |= {
        value.name: operand_bounds
        for value, (_, operand_bounds) in zip(values, operands, strict=True)
    }
    with pytest.raises(UndefinedError, match=reason):
        checking.derive(statement)


def test_types_hold_whole_numbers_up_to_their_precision() -> None:
    assert holds("fp16", bounds(-2048, 2048))
    assert not holds("fp16", bounds(0, 2049))
    assert holds("fp16", bounds(0, 1024, -1))
    assert not holds("fp16", bounds(0, 2048, -1))
    assert holds("u8", bounds(0, 255))
    assert not holds("u8", bounds(-1, 0))
    assert not holds("i8", bounds(0, 1, -1))


@pytest.mark.parametrize(
    ("dtype", "number"), [("fp16", 2049.0), ("bf16", 257.0), ("fp8e5", 9.0), ("fp8e4nv", 2.0**-10)]
)
def test_the_evaluator_rejects_a_number_that_is_not_exact(dtype: str, number: float) -> None:
    check_exact(dtype, np.array([1.0, -2.0, 0.0]))
    with pytest.raises(InexactError, match=dtype):
        check_exact(dtype, np.array([number]))


def test_each_operation_has_either_a_text_or_a_writer() -> None:
    for operation in OPERATIONS.values():
        assert bool(operation.text) != (operation.write is not None), operation.name


def test_an_expression_has_the_operands_settings_and_dtype_of_the_result() -> None:
    operand, result = BlockValue("v1", "bf16", (4, 8)), BlockValue("v2", "bf16", (4,))
    statement = BlockStatement("max", (operand,), (result,), {"axis": 1})
    text = expression(statement, OPERATIONS["max"].text)
    assert text == f"tl.max(v1, axis=1).to(tl.{DTYPES['bf16'].language})"
