"""The tables of kernel files about arguments, compiling, and the problem of a kernel.

The tables are ``signature`` with ``hints``, or ``launch`` instead, ``constexprs``, ``options`` and
``problem``. Each may be in the file, the kernel, a variant and a case. This module checks and
merges them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from compat.config.kernel_sources import source_beside, source_errors
from compat.config.toml import DROP, Table, describe, did_you_mean, display_path, quote_text
from compat.model import HINTS, TABLES, CompileSpec, Problem, arguments, constexprs
from compat.model.cell import CONSTEXPR, ArgumentType, leaf_types
from compat.model.constexprs import FIELDS
from compat.source.closure import SourceReader
from compat.text import JsonMapping, JsonObject
from compat.toolchains.base import Toolchain

KEYS = (*TABLES, "hints")
NO_HINTS = "none"
"""The value of ``hints`` for unknown arguments."""
_OPTION_EXAMPLES = {bool: "true", int: "4", str: '"tf32"'}
_TAKE_HINTS = {
    "divisible_by_16": (r"\*|[iu]\d|tensordesc", "pointers and whole numbers"),
    "equal_to_1": (r"[iu]\d", "whole numbers"),
    "pointer_range_32": (r"\*", "pointers"),
}
"""Hint → a pattern for the types that can have it, and a description of these types."""
_TAKEN_FOR_GRANTED = ("divisible_by_16", "pointer_range_32")
"""Hints that every pointer has by default: the alignment of allocators and the usual size of
tensors.
"""
_NO_HINTS_HERE = "hints belong to a [signature], and this kernel has a [launch]"
_WHAT_HAS_NO_HINTS = (
    'A [launch] lists the values that were passed: n = 4096, or x_ptr = { tensor = "fp16", aligned'
    " = false }."
)

PARAMETERS = 5
"""The parameters of a problem's function: parameters of the case, element type, seed, device, and
whether it should be large.
"""
_PROBLEM_KEYS = ("source", "function", "dtype", "parameters")
_FLOATS = ("fp", "bf")
_NO_NAME = 'Set dtype = "fp32": no pointer of the signature points to floating-point numbers.'

# --- merging --------------------------------------------------------------------------------------


def merge_tables(
    key: str, layers: Sequence[Table], variant: Table, case: Table
) -> dict[str, object]:
    """The table ``key`` of the file and the kernel, overridden by the variant's and the case's.

    An entry that a variant drops stays dropped: its function has no such parameter, so no case can
    bring it back.
    """
    values: JsonObject = {}
    for table in (*layers, variant, case):
        values |= table.mapping(key)
    dropped = {name for name, value in variant.mapping(key).items() if value == DROP}
    return {name: value for name, value in values.items() if name not in dropped and value != DROP}


def merged_hints(
    signature: Mapping[str, ArgumentType], tables: Sequence[Table]
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """The hints of a launch, declared or default, and the names of the default ones.

    The last table that has an entry counts.
    """
    explicit: dict[str, tuple[str, ...]] = {}
    for table in tables:
        explicit |= _hints(table)
    hints, leaves = usual_hints(signature) | explicit, leaf_types(signature)
    hints = {
        hint: tuple(name for name in hints[hint] if takes_hint(leaves.get(name, ""), hint))
        for hint in HINTS
    }
    return hints, tuple(hint for hint in HINTS if hint not in explicit)


def takes_hint(kind: str, hint: str) -> bool:
    """Whether arguments of a type may have a hint.

    Arguments of other types lose the hint when a kernel file is read.
    """
    return re.match(_TAKE_HINTS[hint][0], kind) is not None


def usual_hints(signature: Mapping[str, ArgumentType]) -> dict[str, tuple[str, ...]]:
    """The default hints of arguments: what a launch usually finds out."""
    pointers = tuple(path for path, kind in leaf_types(signature).items() if kind.startswith("*"))
    return {hint: pointers if hint in _TAKEN_FOR_GRANTED else () for hint in HINTS}


def _hints(table: Table) -> dict[str, tuple[str, ...]]:
    """Hint → its arguments, for the hints that a table declares."""
    if table.data.get("hints") == NO_HINTS:
        return dict.fromkeys(HINTS, ())
    hints = table.table("hints")
    return {key: hints.strings(key) for key in HINTS if key in hints}


# --- checks ---------------------------------------------------------------------------------------


def check_values(table: Table, toolchain: Toolchain) -> None:
    """Check every type, value and option of a table, of any layer of the file.

    Raises ConfigError.
    """
    for name, value in table.mapping("signature").items():
        if value != DROP:
            _check_type(table.table("signature"), name, value, toolchain)
    check_launch(table.table("launch"), toolchain)
    for name, value in table.mapping("constexprs").items():
        if value != DROP:
            check_constexpr(table.table("constexprs"), name, value)
    for name, value in table.mapping("options").items():
        if value != DROP:
            check_option(table.table("options"), name, value, toolchain)


def _check_type(
    table: Table, path: str, value: object, toolchain: Toolchain, *, inside: bool = False
) -> None:
    types = toolchain.language.types
    if isinstance(value, list):
        for index, element in enumerate(value):
            _check_type(table, f"{path}[{index}]", element, toolchain, inside=True)
    elif types.elements and arguments.is_named(value):
        for name, element in value[FIELDS].items():
            _check_type(table, f"{path}.{name}", element, toolchain, inside=True)
    elif not isinstance(value, str) or not (
        types.pattern.fullmatch(value) or (inside and value == CONSTEXPR)
    ):
        hint = _type_hint(value, types.known) if isinstance(value, str) else None
        shown = quote_text(value) if isinstance(value, str) else describe(value)
        table.fail(
            f"expected a {toolchain.title} type such as {types.examples}, found {shown}",
            path,
            hint=hint,
        )


def _type_hint(value: str, choices: Collection[str]) -> str | None:
    if value == CONSTEXPR:
        return "Give the value of a constexpr in [constexprs], and nothing here."
    return did_you_mean(value, choices)


def _check_number(table: Table, name: str, value: object) -> None:
    """Refuse a whole number that is too large for every type of Triton.

    Such a number is a mistake, and some JSON readers refuse it.
    """
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        table.fail(f"{describe(value)} does not fit any type", name)


def check_option(table: Table, name: str, value: object, toolchain: Toolchain) -> None:
    """Check an option of the compiler.

    A known option has its type and a value that some release takes. Any other is a number, a
    string, a boolean, or an array of such values for a tuple.
    """
    _check_number(table, name, value)
    option = toolchain.language.options.get(name)
    if option is None:
        if isinstance(value, list):
            for index, element in enumerate(value):
                check_option(table, f"{name}[{index}]", element, toolchain)
        elif not isinstance(value, int | float | str):
            table.fail(f"{describe(value)} is not a valid option value", name)
        return
    if (
        option.kind is not str
        and isinstance(value, str)
        and re.fullmatch(r"-?\d+|true|false", value)
    ):
        table.expect(value, option.kind, name, hint=f"Write it without quotes: {name} = {value}.")
    option_value = table.expect(value, option.kind, name, example=_OPTION_EXAMPLES[option.kind])
    if isinstance(option_value, str):
        return
    if option.least is not None and option_value < option.least:
        table.fail(f"must be {option.least} or more, found {option_value}", name)
    if option.power_of_two and option_value & (option_value - 1):
        near = 1 << (option_value.bit_length() - 1)
        hint = (
            f"No {toolchain.title} release compiles with {option_value}; {near} and {2 * near} are"
            " the nearest."
        )
        table.fail(f"must be a power of two, found {option_value}", name, hint=hint)


def check_constexpr(table: Table, name: str, value: object) -> None:
    """Refuse a value that has no form of :mod:`compat.model.constexprs`, or is too large."""
    _check_number(table, name, value)
    try:
        constexprs.read(value, describe)
    except constexprs.UnknownForm as error:
        table.fail(str(error), f"{name}{error.path}", hint=error.hint)


def check_hints(
    table: Table,
    arguments: Mapping[str, Collection[str]],
    of: str = "this kernel",
    *,
    launched: bool = False,
) -> None:
    """Check that the hints of a table are about run-time arguments of a kernel, or of a file.

    ``arguments`` maps names to types. An argument has several types if variants or cases differ,
    and a hint has to suit one of them. ``launched`` says whether the kernel has a ``launch`` table.
    Raises ConfigError.
    """
    hints = table.data.get("hints")
    if hints is not None and launched and not arguments:
        table.fail(_NO_HINTS_HERE, "hints", hint=_WHAT_HAS_NO_HINTS)
    if isinstance(hints, str):
        if hints != NO_HINTS:
            table.fail(f"expected a table, or {NO_HINTS!r}, found {describe(hints)}", "hints")
        return
    hints = table.table("hints")
    hints.only(*HINTS)
    for key in HINTS:
        for index, name in enumerate(hints.strings(key)):
            if name not in arguments:
                hint = did_you_mean(name, arguments)
                hints.fail(
                    f"{name!r} is not in any signature of {of}", f"{key}[{index}]", hint=hint
                )
            types = sorted({*filter(None, arguments[name])})
            if types and not any(takes_hint(kind, key) for kind in types):
                why = f"{name!r} has the type {', '.join(map(quote_text, types))}"
                hints.fail(
                    f"{why}; only {_TAKE_HINTS[key][1]} have this hint",
                    f"{key}[{index}]",
                    hint=f"Remove {name} from {key}.",
                )


# --- the arguments of a launch --------------------------------------------------------------------


def check_launch(table: Table, toolchain: Toolchain) -> None:
    """Check every argument of a ``launch`` table. Raises ConfigError."""
    for name, value in table.data.items():
        if not toolchain.language.types.elements:
            table.fail(f"a kernel for {toolchain.title} takes a [signature], not a [launch]")
        if value != DROP:
            try:
                arguments.read(value, toolchain.language.types.elements, describe)
            except constexprs.UnknownForm as error:
                table.fail(str(error), f"{name}{error.path}", hint=error.hint)


def launch_of(values: Mapping[str, object], toolchain: Toolchain) -> dict[str, object]:
    """The arguments of a checked ``launch`` table, in forms of :mod:`compat.model.arguments`."""
    return {
        name: arguments.read(value, toolchain.language.types.elements)
        for name, value in values.items()
    }


def check_alone(tables: Sequence[Table], signature: Mapping[str, str], named: str) -> None:
    """Check that a launch has no signature and no hints in any of its tables.

    Raises ConfigError.
    """
    table = next(candidate for candidate in reversed(tables) if candidate.mapping("launch"))
    if signature:
        table.fail(
            f"{named} has both a launch and a signature ({', '.join(signature)})",
            "launch",
            hint="Give either a [signature] with the types, or a [launch] with the values.",
        )
    for checked_table in tables:
        if "hints" in checked_table:
            checked_table.fail(_NO_HINTS_HERE, "hints", hint=_WHAT_HAS_NO_HINTS)


# --- problems -------------------------------------------------------------------------------------


def problem_of(
    tables: Sequence[Table], folder: Path, spec: CompileSpec, reader: SourceReader
) -> Problem | None:
    """The problem that tables declare, or ``None`` if none does.

    Later tables override earlier ones. ``folder`` is that of the kernel file. The problem's source
    is read as text and never imported. Raises ConfigError.
    """
    problem_tables = [table.table("problem") for table in tables if "problem" in table]
    for table in problem_tables:
        table.only(*_PROBLEM_KEYS)
    if not problem_tables:
        return None
    of_source = _last("source", problem_tables)
    source = source_beside(of_source, folder)
    of_function = _last("function", problem_tables)
    function = of_function.string("function")
    return Problem(
        source=str(source),
        function=function,
        closure=_closure(of_source, of_function, source, function, reader),
        dtype=_dtype(_last("dtype", problem_tables), spec),
        parameters=_parameters(problem_tables, spec),
    )


def _last(key: str, tables: Sequence[Table]) -> Table:
    """The last table that has a key; else the last table."""
    return next((table for table in reversed(tables) if key in table), tables[-1])


def _closure(
    of_source: Table, of_function: Table, source: Path, function: str, reader: SourceReader
) -> str:
    with source_errors(source, of_source, "source"):
        text = reader.read(source)
    if function not in text.functions:
        hint = (
            did_you_mean(function, text.functions)
            or f"It defines: {', '.join(text.functions) or 'none'}."
        )
        of_function.fail(
            f"{display_path(source)} has no function {function!r}", "function", hint=hint
        )
    names = text.functions[function].names
    if len(names) != PARAMETERS:
        hint = (
            "It must take (parameters, dtype, seed, device, large); docs/problems.md has an"
            " example."
        )
        of_function.fail(
            f"{function!r} of {display_path(source)} takes {len(names)} parameters,"
            f" not {PARAMETERS}",
            "function",
            hint=hint,
        )
    return text.closure


def _dtype(table: Table, spec: CompileSpec) -> str:
    """The declared element type, else that of the arguments."""
    if "dtype" in table:
        return table.string("dtype")
    return usual_dtype(spec) or table.fail("is missing", "dtype", hint=_NO_NAME)


def usual_dtype(spec: CompileSpec) -> str | None:
    """The element type of the first pointer to floating-point numbers; ``None`` if there is none.

    A tensor descriptor counts as a pointer.
    """
    for kind in (*leaf_types(spec.signature).values(), *_tensors(spec.launch)):
        element = kind.removeprefix("*").removeprefix("tensordesc<").partition("[")[0]
        if element != kind and element.startswith(_FLOATS):
            return element
    return None


def problem_entries(
    problem: Problem | None, spec: CompileSpec, folder: Path
) -> tuple[dict[str, str], dict[str, object]]:
    """The entries of a kernel file in ``folder`` about a problem, and its parameters.

    It is the reverse of :func:`problem_of`. Entries that follow from the case are left out.
    """
    if problem is None:
        return {}, {}
    data = {
        "source": os.path.relpath(problem.source, os.path.realpath(folder)),
        "function": problem.function,
    }
    if problem.dtype != usual_dtype(spec):
        data["dtype"] = problem.dtype
    usual: Mapping[str, object] = spec.constexprs
    more = {
        name: value
        for name, value in problem.parameters.items()
        if name not in usual or repr(usual[name]) != repr(value)
    }
    return data, more


def _tensors(launch: JsonMapping) -> list[str]:
    """The tensors that a launch passes, as types of pointers or descriptors."""
    return [
        value if isinstance(value, str) else f"*{arguments.dtype_of(value)}"
        for value in launch.values()
        if arguments.is_tensor(value) or arguments.is_descriptor(value)
    ]


def _parameters(tables: Sequence[Table], spec: CompileSpec) -> JsonObject:
    """The constexprs of the case, overridden by the ``parameters`` of the tables."""
    parameters: JsonObject = dict(spec.constexprs)
    for table in tables:
        parameters |= table.mapping("parameters")
    return parameters
