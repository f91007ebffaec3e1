"""Whether the functions that a kernel file names are in its source, with the parameters that it gives types and values."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from compat import signatures
from compat.config.toml_reader import Table, did_you_mean
from compat.model import CompileSpec
from compat.signatures import CONSTEXPR
from compat.source.closure import NotReachable, Parameters, ParsedSource, parameters_reached

_FORMS = 'It is the kernel\'s name unless function says another: a function of the file, "Holder.kernel", "make(64)".'


def check_function(variant: Table, case: Table, name: str, spec: CompileSpec, path: Path, source: ParsedSource) -> None:
    """Check what a case of a variant says of the function ``name`` of a source. Raises ConfigError."""
    parameters = _parameters(variant, name, path, source)
    named = f"{variant.string('function')} (case {case.string('name')})"
    _check_arguments(variant, named, parameters, spec, source.tree)
    _check_functions(variant, named, spec, path, source)


def _parameters(variant: Table, name: str, path: Path, source: ParsedSource) -> Parameters | None:
    """The parameters of the function that is meant; ``None`` where only importing the file can tell them."""
    try:
        return parameters_reached(source, name)
    except NotReachable as error:
        return variant.fail(f"{path.name} {error}", "function", hint=did_you_mean(name, source.functions) or _FORMS)


def _check_arguments(variant: Table, named: str, parameters: Parameters | None, spec: CompileSpec, tree: ast.Module) -> None:
    """Every parameter is given once, as a type or as a value, and nothing else is."""
    passed, values = spec.launch or spec.signature, spec.constexprs
    if both := [name for name in passed if name in values]:
        variant.fail(f"{named}: {both[0]!r} is in the {'launch' if spec.launch else 'signature'} and among the constexprs")
    _check_elements(variant, named, signatures.leaves(spec.signature), values)
    if parameters is None:
        return
    for name in (*passed, *map(signatures.parameter_of, values)):
        if name not in parameters.names:
            hint = did_you_mean(name, parameters.names) or f"If this variant has no such parameter: {name} = {{drop = true}}."
            variant.fail(f"{named} has no parameter {name!r}, but the tables give it a type or a value", hint=hint)
    if typed := [name for name in spec.signature if name in parameters.constexprs]:
        hint = f"Its value goes into [constexprs]: {typed[0]} = 64."
        variant.fail(f"{named}: {typed[0]!r} is a constexpr of the function, and the signature gives it a type", hint=hint)
    if missing := [name for name in parameters.names if name in parameters.required and name not in {**passed, **values}]:
        hint = _lines_to_add(missing, parameters, tree, named.partition(" ")[0], launched=bool(spec.launch))
        variant.fail(f"{named}: no type or value for {', '.join(missing)}", hint=hint)


def _lines_to_add(missing: Sequence[str], parameters: Parameters, tree: ast.Module, function: str, *, launched: bool) -> str:
    """The lines of TOML that give parameters an example of a value or a type."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function.rpartition(".")[2]]
    flags, pointers = ({name for node in nodes for name in names(node)} for names in (_conditions, _pointers))
    pointer, number = '"*fp32"', "4096" if launched else '"i32"'
    values = [f"{name} = {'true' if name in flags else 64}" for name in missing if name in parameters.constexprs]
    types = [f"{name} = {pointer if name in pointers else number}" for name in missing if name not in parameters.constexprs]
    tables = {"constexprs": values, "launch" if launched else "signature": types}
    added = " and ".join(f"{', '.join(lines)} to [{table}]" for table, lines in tables.items() if lines)
    return f"Add {added}, with what a launch passes in the place of these examples."


def _conditions(function: ast.FunctionDef) -> Iterator[str]:
    """The names whose truth decides."""
    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.IfExp):
            yield from (operand.id for operand in _operands(node.test) if isinstance(operand, ast.Name))


def _operands(test: ast.expr) -> Iterator[ast.expr]:
    """What ``and``, ``or`` and ``not`` combine in a condition."""
    inner = test.values if isinstance(test, ast.BoolOp) else [test.operand] if isinstance(test, ast.UnaryOp) else []
    if not inner:
        yield test
    for operand in inner:
        yield from _operands(operand)


def _pointers(function: ast.FunctionDef) -> Iterator[str]:
    """The names that addresses begin with, and those that are called pointers."""
    yield from (pointer.arg for pointer in ast.walk(function.args) if isinstance(pointer, ast.arg) and "ptr" in pointer.arg.lower())
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func).rpartition(".")[2] in ("load", "store"):
            address = node.args[0]
            while isinstance(address, ast.BinOp):
                address = address.left
            yield from (pointer.id for pointer in (address,) if isinstance(pointer, ast.Name))


def _check_elements(variant: Table, named: str, types: Mapping[str, str], values: Mapping[str, Any]) -> None:
    """Every element of a tuple that is a constexpr has a value, and no other element has one."""
    elements = [path for path, kind in types.items() if kind == CONSTEXPR]
    for path in elements:
        if path not in values:
            hint = f'[constexprs] gives it one: "{path}" = 64.'
            variant.fail(f"{named}: the element {path!r} is a constexpr and has no value", hint=hint)
    for path in values:
        if signatures.split(path)[1] and path not in elements:
            why = f"its type is {types[path]!r}" if path in types else "the signature has no such element"
            variant.fail(f"{named}: {path!r} has a value, but {why}", hint=f'The type of such an element is "{CONSTEXPR}".')


def _check_functions(variant: Table, named: str, spec: CompileSpec, path: Path, source: ParsedSource) -> None:
    """Functions that are values of constexprs are jit functions of the same source."""
    for name in spec.functions:
        if name not in source.functions:
            hint = did_you_mean(name, source.functions) or "It must be defined in the kernel's own source file."
            variant.fail(f"{named}: a constexpr names the function {name!r}, which {path.name} does not define", hint=hint)
