"""``problem`` in kernel files: what a kernel is run on, laid together from the file, the kernel, the variant and the case."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from compat import signatures
from compat.config.toml_reader import Table, did_you_mean, shown
from compat.model import CompileSpec, Problem
from compat.source.closure import ParsedSource, read_source

KEY = "problem"
PARAMETERS = 5
"""What the function of a problem is given: parameters of the case, element type, seed, device, and whether it is to be large."""
_KEYS = ("source", "function", "dtype", "parameters")
_FLOATS = ("fp", "bf")
_NO_NAME = 'Say dtype = "fp32": no pointer of the signature is of floating point numbers.'

Read = Callable[[Path], ParsedSource]


def problem_of(tables: Sequence[Table], folder: Path, spec: CompileSpec, read: Read = read_source) -> Problem | None:
    """The problem that tables declare, of which the later ones count more; ``None`` where none does. Raises ConfigError.

    ``folder`` is that of the kernel file; the problem's source is only read as text.
    """
    problem_tables = [table.table(KEY) for table in tables if KEY in table]
    for table in problem_tables:
        table.only(*_KEYS)
    if not problem_tables:
        return None
    of_source = _last("source", problem_tables)
    source = Path(os.path.realpath(folder / of_source.string("source")))
    if not os.path.isfile(source):
        of_source.fail(f"there is no file {of_source.string('source')!r} next to this one", "source")
    of_function = _last("function", problem_tables)
    function = of_function.string("function")
    return Problem(
        source=str(source),
        function=function,
        closure=_closure(of_source, of_function, source, function, read),
        dtype=_dtype(_last("dtype", problem_tables), spec),
        parameters=_parameters(problem_tables, spec),
    )


def _last(key: str, tables: Sequence[Table]) -> Table:
    """The last table that says something; else the last one."""
    return next((table for table in reversed(tables) if key in table), tables[-1])


def _closure(of_source: Table, of_function: Table, source: Path, function: str, read: Read) -> str:
    try:
        text = read(source)
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        of_source.fail(f"{shown(source)}{line}: {error.msg}", "source")
    except (OSError, ValueError) as error:
        of_source.fail(f"{shown(source)} cannot be read: {error}", "source")
    if function not in text.functions:
        hint = did_you_mean(function, text.functions) or f"It defines: {', '.join(text.functions) or 'none'}."
        of_function.fail(f"{shown(source)} has no function {function!r}", "function", hint=hint)
    names = text.functions[function].names
    if len(names) != PARAMETERS:
        hint = "It takes (parameters, dtype, seed, device, large); docs/problems.md has an example."
        of_function.fail(
            f"{function!r} of {shown(source)} takes {len(names)} parameters and not {PARAMETERS}", "function", hint=hint
        )
    return text.closure


def _dtype(table: Table, spec: CompileSpec) -> str:
    """What is said, else the elements of the first pointer to floating point numbers."""
    if "dtype" in table:
        return table.string("dtype")
    return usual_dtype(spec) or table.fail("is missing", "dtype", hint=_NO_NAME)


def usual_dtype(spec: CompileSpec) -> str | None:
    """The elements of the first pointer to floating point numbers, where there is one."""
    for kind in (*signatures.leaves(spec.signature).values(), *_tensors(spec.launch)):
        if kind.startswith(tuple(f"*{prefix}" for prefix in _FLOATS)):
            return kind[1:]
    return None


def said_of(problem: Problem | None, spec: CompileSpec, folder: Path) -> tuple[dict[str, str], dict[str, Any]]:
    """What a kernel file in ``folder`` has to say of a problem: entries of its table, and of the parameters in there.

    The reverse of :func:`problem_of`: what follows from the case is not said.
    """
    if problem is None:
        return {}, {}
    data = {"source": os.path.relpath(problem.source, os.path.realpath(folder)), "function": problem.function}
    if problem.dtype != usual_dtype(spec):
        data["dtype"] = problem.dtype
    usual: Mapping[str, Any] = spec.constexprs
    more = {name: value for name, value in problem.parameters.items() if name not in usual or repr(usual[name]) != repr(value)}
    return data, more


def _tensors(launch: Mapping[str, Any]) -> list[str]:
    """The tensors that a launch passes, as types of pointers."""
    texts = [value if isinstance(value, str) else f"*{value['tensor']}" for value in launch.values() if _is_tensor(value)]
    return [kind for kind in texts if kind.startswith("*")]


def _is_tensor(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, dict) and "tensor" in value)


def _parameters(tables: Sequence[Table], spec: CompileSpec) -> dict[str, Any]:
    """The constexprs of the case, and over them what the tables say."""
    parameters: dict[str, Any] = dict(spec.constexprs)
    for table in tables:
        parameters |= table.mapping("parameters")
    return parameters
