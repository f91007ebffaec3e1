"""Generated programs: equal for equal seeds, defined, and smaller on request."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from attrs import evolve

from compat.toolchains.triton.programs.analysis import check_program
from compat.toolchains.triton.programs.dtypes import DTYPES
from compat.toolchains.triton.programs.evaluator import InexactError, elements_of, evaluate
from compat.toolchains.triton.programs.generator import CHOICES, forms_of, generate
from compat.toolchains.triton.programs.operations import FAMILIES, OPERATIONS
from compat.toolchains.triton.programs.operations.operation import UndefinedError, never_proposed
from compat.toolchains.triton.programs.program import (
    RESPELLED,
    BlockProgram,
    BlockStatement,
    BlockValue,
    InputTensor,
    Output,
)
from compat.toolchains.triton.programs.shrinking import shrink_program, without_unused
from compat.toolchains.triton.programs.source import _swap_operands, kernel_source

SEEDS = range(120)


@pytest.fixture(scope="module")
def programs() -> list[BlockProgram]:
    return [generate(seed) for seed in SEEDS]


def test_equal_seeds_give_equal_programs(programs: list[BlockProgram]) -> None:
    assert [generate(seed) for seed in SEEDS[:20]] == programs[:20]
    assert len({kernel_source(program) for program in programs}) == len(programs)


def test_every_number_of_every_program_is_exact_and_in_its_derived_range(
    programs: list[BlockProgram],
) -> None:
    for program in programs:
        ranges = check_program(program)
        results = evaluate(program)  # raises InexactError
        stores = [statement for statement in program.statements if statement.operation == "store"]
        for store in stores:
            written, (operand,) = results[store.settings["output"]], store.operands
            low, high = ranges[operand.name].low, ranges[operand.name].high
            assert min(low, 0) <= written.min()
            assert written.max() <= max(high, 0)  # an element without a store stays 0


def test_every_program_is_python_that_defines_what_it_uses(programs: list[BlockProgram]) -> None:
    for program in programs:
        tree = ast.parse(kernel_source(program))
        for function in tree.body:
            if not isinstance(function, ast.FunctionDef):
                continue
            defined = {argument.arg for argument in function.args.args} | {"tl", "range"}
            defined |= {
                definition.name
                for definition in tree.body
                if isinstance(definition, ast.FunctionDef)
            }
            names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
            defined |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
            used = {name.id for name in names if isinstance(name.ctx, ast.Load)}
            assert used <= defined | {"triton"}


def test_generated_programs_have_all_operations_and_families(programs: list[BlockProgram]) -> None:
    names = {name for program in programs for name in program.operations}
    missing = {
        name for name, operation in OPERATIONS.items() if operation.propose is not never_proposed
    } - names
    assert not missing
    assert {OPERATIONS[name].family for name in names} == set(FAMILIES)


def test_the_argument_only_restricts_programs_to_families() -> None:
    operation_sets = [generate(seed, only=("dot",)).operations for seed in range(30)]
    assert all("dot" in operations for operations in operation_sets)
    allowed = {"dot", "memory", "elementwise", "casts", "shapes"}
    assert {
        OPERATIONS[name].family for operations in operation_sets for name in operations
    } <= allowed


# --- what the checks reject -----------------------------------------------------------------------


def _program(
    *statements: BlockStatement, size: int = 16, output: int = 16, grid: int = 1
) -> BlockProgram:
    return BlockProgram(
        seed=0,
        statements=statements,
        inputs=(InputTensor("x0", "i32", size, -3, 3),),
        outputs=(Output("y0", "i32", output),),
        scalars={},
        grid=grid,
        options={"num_warps": 4, "num_stages": 3},
    )


def _load(per_program: int = 0) -> BlockStatement:
    settings = {
        "tensor": "x0",
        "offset": 0,
        "per_program": per_program,
        "per_turn": 0,
        "strides": (1,),
        "limit": None,
        "other": 0,
    }
    return BlockStatement("load", (), (BlockValue("v1", "i32", (16,)),), settings)


def _store(value: str = "v1") -> BlockStatement:
    settings = {"output": "y0", "offset": 0, "per_program": 16, "strides": (1,), "limit": None}
    return BlockStatement("store", (BlockValue(value, "i32", (16,)),), (), settings)


def test_a_defined_program_passes_the_checks_and_computes_its_inputs() -> None:
    program = _program(_load(), _store())
    assert check_program(program)["v1"].high == 3
    assert (evaluate(program)["y0"] == elements_of(program.inputs[0])).all()


@pytest.mark.parametrize(
    "program",
    [
        _program(_load(), _store(), size=15),
        _program(_load(per_program=16), _store(), grid=2, output=32),
        _program(_load(), _store(), output=15),
        _program(_load(), _store(), grid=2),
    ],
    ids=["load", "load of the second program", "store", "store of the second program"],
)
def test_analysis_and_evaluator_reject_access_outside_of_a_tensor(program: BlockProgram) -> None:
    with pytest.raises(UndefinedError, match="outside"):
        check_program(program)
    with pytest.raises(InexactError, match="outside"):
        evaluate(program)


def test_a_false_hint_is_rejected() -> None:
    program = evolve(_program(_load(), _store()), scalars={"n0": 8}, hinted=("n0",))
    with pytest.raises(UndefinedError, match="multiple of 16"):
        check_program(program)


def test_a_descriptor_reads_from_an_offset_that_is_a_multiple_of_16_bytes() -> None:
    """Three programs with other offsets faulted on a GPU, and the interpreter rejects them."""
    settings = {
        "tensor": "x0",
        "rows": 16,
        "columns": 16,
        "strides": (16, 1),
        "order": (1, 0),
        "block_shape": (16, 16),
    }

    def loads(dtype: str, aside: int) -> BlockProgram:
        tile = BlockStatement(
            "load_descriptor",
            (),
            (BlockValue("v1", dtype, (16, 16)),),
            {**settings, "offsets": (0, aside)},
        )
        return evolve(_program(tile), inputs=(InputTensor("x0", dtype, 256, -3, 3),))

    check_program(loads("fp16", 8))
    with pytest.raises(UndefinedError, match="16 bytes"):
        check_program(loads("i8", 8))
    offsets = {
        statement.settings["offsets"][1] * DTYPES[statement.results[0].dtype].bits // 8 % 16
        for seed in range(400)
        for statement in generate(seed).all_statements
        if statement.operation == "load_descriptor"
    }
    assert offsets == {0}


def test_integers_wrap_around_as_in_a_kernel() -> None:
    value = BlockValue("v2", "i32", (16,))
    doubled = BlockStatement("shift_left", (BlockValue("v1", "i32", (16,)),), (value,), {"by": 31})
    results = evaluate(_program(_load(), doubled, _store("v2")))["y0"]
    assert set(results.tolist()) <= {0, -(1 << 31)}
    assert results.dtype == np.int32


# --- smaller programs -----------------------------------------------------------------------------


def test_a_smaller_program_keeps_the_defect_and_little_else(programs: list[BlockProgram]) -> None:
    program = next(
        candidate
        for candidate in programs
        if "dot" in candidate.operations
        and candidate.grid > 1
        and "pipeline" not in candidate.operations
    )

    def show(candidates: Sequence[BlockProgram]) -> list[bool]:
        return ["dot" in candidate.operations for candidate in candidates]

    smaller_program = shrink_program(program, show)
    assert "dot" in smaller_program.operations
    assert len(smaller_program.all_statements) < len(program.all_statements)
    assert len(smaller_program.all_statements) <= 5
    assert (smaller_program.grid, smaller_program.options) == (1, {"num_warps": 4, "num_stages": 3})
    check_program(smaller_program)
    evaluate(smaller_program)


def test_a_program_stays_the_same_if_no_smaller_one_shows_the_defect(
    programs: list[BlockProgram],
) -> None:
    for program in programs[1:8]:
        assert shrink_program(program, lambda candidates: [False] * len(candidates)) == program


def test_unused_values_and_arguments_are_removed() -> None:
    other = BlockStatement("arange", (), (BlockValue("v9", "i32", (16,)),), {"start": 0, "end": 16})
    program = evolve(
        _program(_load(), other, _store()),
        scalars={"n0": 16},
        hinted=("n0", "x0"),
    )
    cleaned = without_unused(program)
    assert [statement.operation for statement in cleaned.statements] == ["load", "store"]
    assert (cleaned.scalars, cleaned.hinted) == ({}, ("x0",))


# --- forms ----------------------------------------------------------------------------------------


def test_forms_have_the_same_statements_and_one_difference(programs: list[BlockProgram]) -> None:
    names = Counter[str]()
    for program in programs:
        own, *others = forms_of(program, 9)
        assert own == program
        assert (own, *others) == forms_of(program, 9)
        assert len(forms_of(program, 2)) == 2
        for form in others:
            names[form.form.rpartition("_")[0] or form.form] += 1
            assert form.statements == program.statements
            same_text = kernel_source(form) == kernel_source(program)
            changed = (
                form.options != program.options,
                form.hinted != program.hinted,
                form.form == RESPELLED,
            )
            assert sum(changed) == 1
            assert same_text or form.form == RESPELLED
            assert set(form.options.items()) - set(program.options.items()) <= {
                (option, value) for option, values in CHOICES.items() for value in values
            }
    assert set(names) == {"warps", "stages", "unhinted", "respelled"}
    seconds = {forms_of(program, 2)[1].form.rpartition("_")[0] for program in programs}
    assert seconds == {"", "warps", "stages"}  # "": those without a number


def _value(number: int) -> BlockValue:
    return BlockValue(f"v{number}", "i32", (16,))


SUM = _program(BlockStatement("add", (_value(1), _value(0)), (_value(2),)))


def test_the_respelled_form_swaps_operands_and_has_while_loops() -> None:
    texts = [
        (kernel_source(program), kernel_source(evolve(program, form=RESPELLED)))
        for program in (
            generate(seed, only=(family,))
            for seed in range(20)
            for family in ("loops", "pipelines")
        )
    ]
    assert any(" in range(" in usual for usual, _ in texts)
    for usual, other in texts:
        assert " in range(" not in other
        assert usual.count("tl.static_range(") == other.count("tl.static_range(")
        heads = re.findall(r"for (\w+) in (?:tl\.)?range\(0, \w+(?:, (\d+))?", usual)
        assert other.count("while ") == len(heads)
        assert [f"{name} += {step or 1}\n" in other for name, step in heads] == [True] * len(heads)
    swapped = {"{0} * {1}": "{1} * {0}", "tl.minimum({0}, {1})": "tl.minimum({1}, {0})"}
    for text, expected in {**swapped, "{0} - {1}": "{0} - {1}", "{0} & 1": "{0} & 1"}.items():
        assert _swap_operands(text) == expected
    own, swapped_sum = (
        re.findall(r"^    (v\d+) = (v\d+) \+ (v\d+)$", kernel_source(form), re.MULTILINE)
        for form in (SUM, evolve(SUM, form=RESPELLED))
    )
    assert own == [("v2", "v1", "v0")]
    assert swapped_sum == [("v2", "v0", "v1")]
