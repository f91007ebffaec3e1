"""Smaller programs that still show a defect, without some statements and what only these need.

A smaller program is as valid as the first: :func:`check_program` derives its ranges again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from attrs import evolve

from compat.toolchains.triton.programs.analysis import check_program
from compat.toolchains.triton.programs.operations.operation import UndefinedError
from compat.toolchains.triton.programs.program import (
    BlockProgram,
    BlockStatement,
    BlockValue,
    NestedBody,
)

ShowDefect = Callable[[Sequence[BlockProgram]], Sequence[bool]]
"""Programs → whether each still shows the defect."""
_SINKS = ("store", "atomic_add", "atomic_max", "atomic_min")
_AT_ONCE = 8
"""The number of smaller programs that are tried together."""


def shrink_program(program: BlockProgram, show: ShowDefect) -> BlockProgram:
    """Return the smallest program found that still shows the defect."""
    while (smaller := _first(_smaller(program), show)) is not None:
        program = smaller
    return program


def _first(candidates: Iterable[BlockProgram], show: ShowDefect) -> BlockProgram | None:
    """The first of some programs that shows the defect."""
    batch: list[BlockProgram] = []
    for candidate in candidates:
        batch.append(candidate)
        if len(batch) == _AT_ONCE:
            if program := _showing(batch, show):
                return program
            batch = []
    return _showing(batch, show)


def _showing(batch: Sequence[BlockProgram], show: ShowDefect) -> BlockProgram | None:
    if not batch:
        return None
    return next((program for program, shows in zip(batch, show(batch), strict=True) if shows), None)


def _smaller(program: BlockProgram) -> Iterator[BlockProgram]:
    """Yield valid smaller programs, the smallest first."""
    programs: dict[BlockProgram, None] = {}
    for candidate in _candidates(program):
        cleaned = without_unused(candidate)
        if cleaned != program and _is_defined(cleaned):
            programs[cleaned] = None
    before = _size(program)
    yield from sorted((candidate for candidate in programs if _size(candidate) < before), key=_size)


def _size(program: BlockProgram) -> tuple[int, int, int]:
    """Return the number of statements, and then how far the program is from a plain one."""
    statements = program.all_statements
    turns = sum(int(statement.settings.get("turns", 0)) for statement in statements)
    constants = sum(statement.operation != "full" for statement in statements)
    odd = sum(program.options[name] != usual for name, usual in _USUAL.items())
    return len(statements), constants + turns + program.grid + odd + len(program.scalars), odd


_USUAL = {"num_warps": 4, "num_stages": 3}


def _is_defined(program: BlockProgram) -> bool:
    try:
        check_program(program)
    except (UndefinedError, KeyError):
        return False
    return bool(program.outputs)


# --- changes --------------------------------------------------------------------------------------


def _candidates(program: BlockProgram) -> Iterator[BlockProgram]:
    sinks = [statement for statement in program.statements if statement.operation in _SINKS]
    if len(sinks) > 1:
        for sink in sinks:
            others = [other for other in sinks if other is not sink]
            yield _without(program, others)
            yield _without(program, [sink])
    for statement in program.all_statements:
        if statement.operation not in (*_SINKS, "full"):
            yield _with_constant(program, statement)
        for operand in statement.operands:
            if len(statement.results) == 1 and _kind(operand) == _kind(statement.results[0]):
                yield _with_operand(program, statement, operand.name)
        if "turns" in statement.settings:
            yield from _with_less_loop(program, statement)
    if program.grid > 1:
        yield evolve(program, grid=1)
    yield evolve(program, options=_USUAL)


def _with_less_loop(program: BlockProgram, loop: BlockStatement) -> Iterator[BlockProgram]:
    """Yield programs in which a loop has one iteration, is removed, or carries one value less."""
    if loop.settings["turns"] > 1:
        yield _with_settings(program, loop, turns=1, end="1")
    else:
        yield _without_loop(program, loop)
    if len(loop.operands) > 1:
        for place in range(len(loop.operands)):
            yield _without_carried(program, loop, place)


def _kind(value: object) -> tuple[object, object]:
    return getattr(value, "dtype", None), getattr(value, "shape", None)


def _without(program: BlockProgram, sinks: Sequence[BlockStatement]) -> BlockProgram:
    statements = tuple(
        statement
        for statement in program.statements
        if not any(statement is sink for sink in sinks)
    )
    return evolve(program, statements=statements)


def _with_constant(program: BlockProgram, statement: BlockStatement) -> BlockProgram:
    """Return a program in which a statement's results are constants, or the same program.

    A scalar result cannot become a constant.
    """
    constants = tuple(
        BlockStatement("full", (), (result,), {"shape": result.shape, "number": 1})
        for result in statement.results
        if result.shape
    )
    if len(constants) < len(statement.results):
        return program
    return evolve(program, statements=_replace_statement(program.statements, statement, constants))


def _with_settings(
    program: BlockProgram, statement: BlockStatement, **settings: object
) -> BlockProgram:
    changed = evolve(statement, settings={**statement.settings, **settings})
    return evolve(program, statements=_replace_statement(program.statements, statement, (changed,)))


def _with_operand(program: BlockProgram, statement: BlockStatement, name: str) -> BlockProgram:
    """Return a program in which an operand replaces a statement's result."""
    new = next(operand for operand in statement.operands if operand.name == name)
    statements = _replace_statement(program.statements, statement, ())
    return evolve(program, statements=_substitute_values(statements, {statement.results[0]: new}))


def _without_loop(program: BlockProgram, loop: BlockStatement) -> BlockProgram:
    """Return a program in which the statements of a loop's only iteration replace the loop."""
    (body,) = loop.bodies
    begin = dict(zip(body.parameters[1:], loop.operands, strict=True))
    statements = _substitute_values(body.statements, begin)
    ends = [begin.get(value, value) for value in body.results]
    new_statements = _replace_statement(program.statements, loop, statements)
    after = dict(zip(loop.results, ends, strict=True))
    return evolve(program, statements=_substitute_values(new_statements, after))


def _without_carried(program: BlockProgram, loop: BlockStatement, place: int) -> BlockProgram:
    """Return a program in which a loop carries one value less, and uses its initial value."""
    (body,) = loop.bodies
    parameter, initial = body.parameters[place + 1], loop.operands[place]
    smaller = evolve(
        loop,
        operands=_all_but(loop.operands, place),
        results=_all_but(loop.results, place),
        bodies=(
            NestedBody(
                _all_but(body.parameters, place + 1),
                _substitute_values(body.statements, {parameter: initial}),
                tuple(
                    initial if value == parameter else value
                    for value in _all_but(body.results, place)
                ),
            ),
        ),
    )
    statements = _replace_statement(program.statements, loop, (smaller,))
    return evolve(
        program, statements=_substitute_values(statements, {loop.results[place]: initial})
    )


def _all_but(values: tuple[BlockValue, ...], place: int) -> tuple[BlockValue, ...]:
    return values[:place] + values[place + 1 :]


def _substitute_values(
    statements: tuple[BlockStatement, ...], values: Mapping[BlockValue, BlockValue]
) -> tuple[BlockStatement, ...]:
    """Return statements whose values are replaced by others."""

    def change(used: tuple[BlockValue, ...]) -> tuple[BlockValue, ...]:
        return tuple(values.get(value, value) for value in used)

    return tuple(
        evolve(
            statement,
            operands=change(statement.operands),
            bodies=tuple(
                evolve(
                    body,
                    statements=_substitute_values(body.statements, values),
                    results=change(body.results),
                )
                for body in statement.bodies
            ),
        )
        for statement in statements
    )


def _replace_statement(
    statements: tuple[BlockStatement, ...], old: BlockStatement, new: tuple[BlockStatement, ...]
) -> tuple[BlockStatement, ...]:
    result: list[BlockStatement] = []
    for statement in statements:
        if statement is old:
            result += new
            continue
        bodies = tuple(
            NestedBody(body.parameters, _replace_statement(body.statements, old, new), body.results)
            for body in statement.bodies
        )
        result.append(evolve(statement, bodies=bodies) if bodies else statement)
    return tuple(result)


# --- unused values --------------------------------------------------------------------------------


def without_unused(program: BlockProgram) -> BlockProgram:
    """Return a program without unused values and arguments."""
    statements = program.statements
    while (used_statements := _used_statements(statements, _names(statements))) != statements:
        statements = used_statements
    text = [
        str(value)
        for statement in evolve(program, statements=statements).all_statements
        for value in statement.settings.values()
    ]
    words = {word.strip("(),'") for value in text for word in value.split()}
    scalars = {name: number for name, number in program.scalars.items() if name in words}
    inputs = tuple(tensor for tensor in program.inputs if tensor.name in words)
    outputs = tuple(output for output in program.outputs if output.name in words)
    names = {*scalars, *(tensor.name for tensor in inputs), *(output.name for output in outputs)}
    return evolve(
        program,
        statements=statements,
        inputs=inputs,
        outputs=outputs,
        scalars=scalars,
        hinted=tuple(name for name in program.hinted if name in names),
    )


def _names(statements: Sequence[BlockStatement]) -> set[str]:
    """Return the names of the values that statements use."""
    names = {operand.name for statement in statements for operand in statement.operands}
    for statement in statements:
        for body in statement.bodies:
            names |= _names(body.statements) | {value.name for value in body.results}
    return names


def _used_statements(
    statements: tuple[BlockStatement, ...], names: set[str]
) -> tuple[BlockStatement, ...]:
    return tuple(
        evolve(
            statement,
            bodies=tuple(
                NestedBody(body.parameters, _used_statements(body.statements, names), body.results)
                for body in statement.bodies
            ),
        )
        for statement in statements
        if not statement.results or any(result.name in names for result in statement.results)
    )
