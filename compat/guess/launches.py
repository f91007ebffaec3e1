"""What the launches in a source tell of a kernel's arguments: ``kernel[grid](x, out, n, BLOCK=1024, num_warps=8)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from attrs import Factory, frozen

from compat.guess.jitted import JitFunction, Module
from compat.guess.literals import Scope

TORCH_TYPES = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8",
    "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
    "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
}  # fmt: skip
"""PyTorch's name of a dtype → Triton's."""
_OPTIONS = ("num_warps", "num_stages", "maxnreg")
_WHOLE = {"stride", "size", "numel", "shape", "dim", "ndim"}
"""Attributes and methods of tensors that are whole numbers."""


@frozen(kw_only=True)
class Launch:
    """What one launch says, as far as it follows from literals."""

    line: int
    values: Mapping[str, Any]
    """Parameter → the value that it is given."""
    options: Mapping[str, Any]
    elements: Mapping[str, str]
    """Parameter → the element type of the tensor that it is given."""
    whole: frozenset[str] = Factory(frozenset)
    """Parameters that are given sizes or strides."""


def launches_of(function: JitFunction, module: Module) -> tuple[Launch, ...]:
    """The launches of a kernel in its own source."""
    return tuple(_launch(call, function, scope, tensors) for call, scope, tensors in _calls(function.name, module))


def _calls(name: str, module: Module) -> Iterator[tuple[ast.Call, Scope, Mapping[str, str]]]:
    for around, calls in groupby(module.launches.get(name, ()), key=lambda each: each[0]):
        scope = _scope_in(around, module)
        tensors = _tensors(around, scope)
        yield from ((call, scope, tensors) for _, call in calls)


def _assignments(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    for statement in ast.walk(function):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
            yield statement.targets[0].id, statement.value


def _scope_in(function: ast.FunctionDef, module: Module) -> Scope:
    """The names of a function that launches, those of them whose values follow from literals."""
    local: dict[str, Any] = {each.arg: _UNSET for each in function.args.args}
    positional = [*function.args.posonlyargs, *function.args.args]
    pairs = list(zip(positional[::-1], function.args.defaults[::-1], strict=False))
    defaults = [(each.arg, value) for each, value in pairs]
    for name, value in (*defaults, *_assignments(function)):
        known, found = module.scope.inside({k: v for k, v in local.items() if v is not _UNSET}).try_value(value)
        if known and local.get(name, _UNSET) is _UNSET and found is not None:
            local[name] = found
    return module.scope.inside({name: value for name, value in local.items() if value is not _UNSET})


_UNSET = object()


def _tensors(function: ast.FunctionDef, scope: Scope) -> dict[str, str]:
    """Local name → element type, of tensors that are made with a dtype that is written out."""
    found: dict[str, str] = {}
    for name, value in _assignments(function):
        if not isinstance(value, ast.Call):
            continue
        dtype = next((each.value for each in value.keywords if each.arg == "dtype"), None)
        known, said = scope.try_value(dtype)
        if known and isinstance(said, Mapping) and said.get("torch_dtype") in TORCH_TYPES:
            found[name] = TORCH_TYPES[said["torch_dtype"]]
    return found


def _launch(call: ast.Call, function: JitFunction, scope: Scope, tensors: Mapping[str, str]) -> Launch:
    names = [each.name for each in function.parameters]
    starred = any(isinstance(each, ast.Starred) for each in call.args)
    given = {} if starred else dict(zip(names, call.args, strict=False))
    given |= {each.arg: each.value for each in call.keywords if each.arg}
    known = {name: found for name, value in given.items() for is_known, found in [scope.try_value(value)] if is_known}
    return Launch(
        line=call.lineno,
        values={name: value for name, value in known.items() if name in names},
        options={name: known[name] for name in _OPTIONS if name not in names and isinstance(known.get(name), int)},
        elements={name: tensors[value.id] for name, value in given.items() if isinstance(value, ast.Name) and value.id in tensors},
        whole=frozenset(name for name, value in given.items() if _is_whole(value)),
    )


def _is_whole(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Subscript(value=ast.Attribute(attr=name)):
            return name in _WHOLE
        case ast.Call(func=ast.Name(id="len")):
            return True
    return False
