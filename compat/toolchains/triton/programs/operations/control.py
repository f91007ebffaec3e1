"""Loops, branches and helper functions: statements with statements inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from compat.toolchains.triton.programs.dtypes import DTYPES, WIDE, Array, Bounds, bounds, everything
from compat.toolchains.triton.programs.operations.operation import Operation, require
from compat.toolchains.triton.programs.program import BlockStatement, BlockValue, NestedBody

if TYPE_CHECKING:
    from compat.toolchains.triton.programs.analysis import Analysis
    from compat.toolchains.triton.programs.draft import Draft
    from compat.toolchains.triton.programs.evaluator import Machine
    from compat.toolchains.triton.programs.source import Printer

CARRIED = (*WIDE, "fp16", "fp32", "i16", "u8")
_LOOPS = ("range", "range", "tl.range", "tl.range", "tl.static_range")
_STAGES = ("", *(f", num_stages={number}" for number in (1, 2, 2, 3, 4)))
_UNROLLED = 3
"""The most iterations of an unrolled loop."""
DEEPEST = 2
"""The greatest nesting depth of loops, branches and helpers."""
AddTurn = Callable[["Draft", list[BlockValue]], list[BlockValue]]
"""Adds the statements of an iteration: carried values → their values for the next iteration."""


# --- loops ----------------------------------------------------------------------------------------


def _loop(draft: Draft) -> None:
    initial = [draft.block(CARRIED) for _ in range(draft.random.randint(1, 2))]
    turns = draft.random.randint(1, 5)

    def add_turn(inner: Draft, carried: list[BlockValue]) -> list[BlockValue]:
        inner.fill(inner.random.randint(1, 5))
        return [
            update(inner, inner.bounds[before.name], value, turns)
            for before, value in zip(initial, carried, strict=True)
        ]

    propose_loop(draft, initial, turns, add_turn)


def propose_loop(
    draft: Draft,
    initial: Sequence[BlockValue],
    turns: int,
    add_turn: AddTurn,
    step: int = 1,
    name: str = "loop",
) -> list[BlockValue]:
    """Add a loop to a draft, and return the carried values after the last iteration.

    Its index grows by ``step`` in each of ``turns`` iterations.
    """
    require(draft.depth < DEEPEST, "the statements are nested deeply")
    is_unrolled = turns <= _UNROLLED and name == "loop"
    kind = draft.random.choice(_LOOPS if is_unrolled else _LOOPS[:-1])
    end = turns * step
    if draft.random.random() < 0.3:
        end -= draft.random.randrange(step)
    settings = {
        "kind": kind,
        "turns": turns,
        "step": step,
        "end": str(end) if kind == "tl.static_range" else _number_text(draft, end),
        "more": draft.random.choice(_STAGES) if kind == "tl.range" else "",
    }
    index = draft.new("i32", ())
    carried = [draft.new(*value.kind) for value in initial]
    allowed = [envelope(value.dtype) for value in initial]
    with draft.inner_scope(
        (index, bounds(0, (turns - 1) * step)), *zip(carried, allowed, strict=True), turn=index
    ) as inner:
        ends = add_turn(inner, carried)
        body = NestedBody((index, *carried), inner.statements(), tuple(ends))
    kinds = [value.kind for value in initial]
    return draft.define(name, tuple(initial), *kinds, bodies=(body,), known=allowed, **settings)


def _number_text(draft: Draft, number: int) -> str:
    return draft.scalar(number) if draft.random.random() < 0.6 else str(number)


def envelope(dtype: str) -> Bounds:
    """Return the bounds that a carried value keeps in every iteration."""
    if dtype == "block_ptr":
        return bounds(0, 1 << 15)
    if not DTYPES[dtype].is_float:
        return everything(dtype)
    most = 1 << DTYPES[dtype].precision - 5
    return bounds(-most, most, -4)


def update(draft: Draft, before: Bounds, carried: BlockValue, turns: int) -> BlockValue:
    """Add the value of a carried block after an iteration, which is within the envelope again."""
    limits, kind = envelope(carried.dtype), carried.kind
    require(before.within(limits), "the first value is outside of the envelope")
    change = draft.block((carried.dtype,), carried.shape, besides=carried)
    if not DTYPES[carried.dtype].is_float:
        name = draft.random.choice(("add", "multiply", "xor", "maximum"))
        return draft.add(name, (carried, change), kind)
    if draft.bounds[change.name].step < limits.step or draft.random.random() < 0.2:
        return draft.add("maximum", (carried, draft.small(*kind)), kind)
    most = (limits.high - before.magnitude) / turns
    if draft.bounds[change.name].magnitude > most:
        require(most >= 1, "no change is small enough")
        change = draft.limit_block(change, min(int(most), 15))
    return draft.add("add", (carried, change), kind, known=[limits])


def _indices(statement: BlockStatement) -> range:
    """Return the index of each iteration of a loop."""
    step = statement.settings["step"]
    return range(0, statement.settings["turns"] * step, step)


def _derive_loop(
    statement: BlockStatement, operands: Sequence[Bounds], analysis: Analysis
) -> Sequence[Bounds]:
    """Return the bounds after all iterations, derived one after the other."""
    carried = list(operands)
    for index in _indices(statement):
        carried = analysis.run(statement.bodies[0], [bounds(index, index), *carried])
    return carried


def _repeat(statement: BlockStatement, operands: Sequence[Array], machine: Machine) -> list[Array]:
    carried = list(operands)
    for index in _indices(statement):
        carried = machine.run(statement.bodies[0], [np.asarray(index, np.int32), *carried])
    return carried


def _write_loop(statement: BlockStatement, printer: Printer) -> None:
    (body,), settings = statement.bodies, statement.settings
    index, *carried = body.parameters
    for parameter, value in zip(carried, statement.operands, strict=True):
        printer.line(f"{parameter.name} = {value.name}")
    is_while = printer.respelled and settings["kind"] != "tl.static_range"
    if is_while:
        printer.line(f"{index.name} = 0")
        printer.line(f"while {index.name} < {settings['end']}:")
    else:
        step = f", {settings['step']}" if settings["step"] > 1 else ""
        head = f"{settings['kind']}(0, {settings['end']}{step}{settings['more']})"
        printer.line(f"for {index.name} in {head}:")
    with printer.indented():
        printer.statements(body.statements)
        # One assignment for all, because a new value may be the old value of another name.
        names = ", ".join(value.name for value in carried)
        printer.line(f"{names} = {', '.join(value.name for value in body.results)}")
        if is_while:
            printer.line(f"{index.name} += {settings['step']}")
    for result, parameter in zip(statement.results, carried, strict=True):
        printer.line(f"{result.name} = {parameter.name}")


# --- branches -------------------------------------------------------------------------------------


def _branch(draft: Draft) -> None:
    require(draft.depth < DEEPEST, "the statements are nested deeply")
    condition = draft.scalar_condition()
    result = draft.block(CARRIED)
    kind = result.kind
    bodies: list[NestedBody] = []
    result_bounds: list[Bounds] = []
    for _ in range(2):
        with draft.inner_scope() as inner:
            inner.fill(inner.random.randint(1, 3))
            value = inner.block(*((kind[0],), kind[1]))
            bodies.append(NestedBody((), inner.statements(), (value,)))
            result_bounds.append(inner.bounds[value.name])
    draft.define(
        "branch",
        (condition,),
        kind,
        bodies=tuple(bodies),
        known=[result_bounds[0].union(result_bounds[1])],
    )


def _derive_branch(
    statement: BlockStatement, _operands: Sequence[Bounds], analysis: Analysis
) -> Sequence[Bounds]:
    first, second = (analysis.run(body, []) for body in statement.bodies)
    return [one.union(other) for one, other in zip(first, second, strict=True)]


def _write_branch(statement: BlockStatement, printer: Printer) -> None:
    for head, body in zip(
        (f"if {statement.operands[0].name}:", "else:"), statement.bodies, strict=True
    ):
        printer.line(head)
        with printer.indented():
            printer.statements(body.statements)
            for result, value in zip(statement.results, body.results, strict=True):
                printer.line(f"{result.name} = {value.name}")


# --- helpers --------------------------------------------------------------------------------------


def _helper(draft: Draft) -> None:
    require(draft.depth < DEEPEST, "the statements are nested deeply")
    operands = [draft.block(CARRIED) for _ in range(draft.random.randint(1, 3))]
    parameters = [draft.new(*value.kind) for value in operands]
    operand_bounds = [draft.bounds[value.name] for value in operands]
    with draft.function_scope(*zip(parameters, operand_bounds, strict=True)) as inner:
        inner.fill(inner.random.randint(2, 4), without=("memory", "atomics", "dot"))
        results = inner.latest_blocks()
        require(bool(results), "the helper computes nothing")
        body = NestedBody(tuple(parameters), inner.statements(), results)
        result_bounds = [inner.bounds[value.name] for value in results]
    draft.define(
        "helper",
        tuple(operands),
        *(value.kind for value in results),
        bodies=(body,),
        known=result_bounds,
    )


def _write_helper(statement: BlockStatement, printer: Printer) -> None:
    (body,) = statement.bodies
    name = printer.helper(body)
    arguments = ", ".join(operand.name for operand in statement.operands)
    results = ", ".join(result.name for result in statement.results)
    printer.line(f"{results} = {name}({arguments})")


LOOP = Operation(
    name="loop",
    family="loops",
    propose=_loop,
    derive=_derive_loop,
    compute=_repeat,
    write=_write_loop,
    weight=12,
)
OPERATIONS = (
    LOOP,
    Operation(
        name="branch",
        family="branches",
        propose=_branch,
        derive=_derive_branch,
        compute=lambda statement, operands, machine: machine.run(
            statement.bodies[0 if operands[0] else 1], []
        ),
        write=_write_branch,
    ),
    Operation(
        name="helper",
        family="helpers",
        propose=_helper,
        derive=lambda statement, operands, analysis: analysis.run(statement.bodies[0], operands),
        compute=lambda statement, operands, machine: machine.run(statement.bodies[0], operands),
        write=_write_helper,
        weight=3,
    ),
)
"""The operations of this module."""
