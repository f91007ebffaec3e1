"""The record of how to compile a kernel."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from attrs import evolve

from compat.model import HINTS, CompileSpec, Env
from tests.cells import cell

SPEC = CompileSpec(
    signature={"x": "*fp16", "n": "i32"},
    constexprs={"BLOCK": 64, "KIND": {"dtype": "fp16"}},
    divisible_by_16=("x", "n"),
    equal_to_1=("n",),
    pointer_range_32=("x",),
    options={"num_warps": 4, "num_stages": 2},
)


def test_a_document_keeps_the_order_of_arguments_but_not_of_options() -> None:
    def written(spec: CompileSpec) -> str:
        return json.dumps(spec.document())

    assert json.loads(written(SPEC)) == SPEC.document()
    assert list(SPEC.document()) == [*("signature", "launch", "constexprs"), *HINTS, "options"]
    turned = CompileSpec(signature={"n": "i32", "x": "*fp16"})
    assert written(turned) != written(CompileSpec(signature={"x": "*fp16", "n": "i32"}))
    one, other = {"num_warps": 4, "num_stages": 2}, {"num_stages": 2, "num_warps": 4}
    assert written(CompileSpec(options=one)) == written(CompileSpec(options=other))


def test_a_spec_can_be_limited_to_some_parameters() -> None:
    subset = SPEC.of_parameters(["x", "BLOCK"])
    assert subset == CompileSpec(
        signature={"x": "*fp16"},
        constexprs={"BLOCK": 64},
        divisible_by_16=("x",),
        pointer_range_32=("x",),
        options=SPEC.options,
    )


def test_specs_are_equal_if_they_mean_the_same() -> None:
    turned = CompileSpec(
        signature={"n": "i32", "x": "*fp16"},
        constexprs={"KIND": {"dtype": "fp16"}, "BLOCK": 64},
        divisible_by_16=("n", "x"),
        equal_to_1=("n",),
        pointer_range_32=("x",),
        options={"num_stages": 2, "num_warps": 4},
    )
    assert (turned, hash(turned)) == (SPEC, hash(SPEC))
    nan = {"SCALE": float("nan")}
    assert CompileSpec(constexprs=nan) == CompileSpec(constexprs=dict(nan))


@pytest.mark.parametrize("field", ["signature", "launch", "constexprs", "options"])
def test_specs_distinguish_values_that_python_calls_equal(field: str) -> None:
    values: tuple[Any, ...] = (1, 1.0, True, "1", 0, None, (1,), ())
    changes: list[dict[str, Any]] = [{field: {"A": value}} for value in values]
    specs = [CompileSpec(**change) for change in changes]
    assert len(set(specs)) == len(specs)


def test_different_cells_with_the_same_id_are_not_equal() -> None:
    one = cell(Env(name="any"), "faces", "fine", options={"num_warps": 4})
    other = cell(Env(name="any"), "faces", "fine", options={"num_warps": 8})
    assert one.id == other.id
    assert {one: "four", other: "eight"}[evolve(one)] == "four"
    assert pickle.loads(pickle.dumps(one)) == one
    assert hash(pickle.loads(pickle.dumps(one))) == hash(one)
