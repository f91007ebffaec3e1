"""The compile call of a script, as source text in the form that a release takes.

The forms are those of :mod:`compat.worker.triton_api`, which recognises them by what is there; a script for
one release need not ask.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import frozen
from packaging.version import Version

from compat.source.bundle import Bundle
from compat.model import Target
from compat.repro.promise import SHARED_MEMORY

_WIDTH = 110
_DTYPES = {
    **{name: f"tl.{name.replace('i', 'int')}" for name in ("i1", "i8", "i16", "i32", "i64")},
    **{name: f"tl.{name.replace('u', 'uint')}" for name in ("u8", "u16", "u32", "u64")},
    "fp16": "tl.float16",
    "bf16": "tl.bfloat16",
    "fp32": "tl.float32",
    "fp64": "tl.float64",
    "fp8e4nv": "tl.float8e4nv",
    "fp8e5": "tl.float8e5",
}


class Form(StrEnum):
    """The ways in which releases want a specialization described."""

    DESCRIPTOR = "3.0 and 3.1"
    HINTS = "3.2"
    ATTRIBUTES = "3.3 and later"
    ANY = "every release"
    """Finds out which of the others it is; for ``--portable``, and for toolchains without a release number."""


def form_of(release: str | None) -> Form:
    """The form that a release takes."""
    if release is None:
        return Form.ANY
    version = Version(Version(release).public)
    return Form.DESCRIPTOR if version < Version("3.2.dev0") else Form.HINTS if version < Version("3.3.dev0") else Form.ATTRIBUTES


@frozen(kw_only=True)
class _Facts:
    """A specialization in the order of the function's parameters, as Triton counts them."""

    order: tuple[str, ...]
    types: Mapping[str, str]
    """Run-time arguments that are not constants."""
    constants: Mapping[str, str]
    """Constexprs, and arguments that equal 1, as source text."""
    divisible: tuple[int, ...]
    ones: tuple[int, ...]

    @classmethod
    def of(cls, bundle: Bundle) -> _Facts:
        spec = bundle.spec
        order = parameters(bundle)
        ones = {name: "True" if spec.signature[name] == "i1" else "1" for name in spec.equal_to_1 if name in spec.signature}
        constants = {name: _literal(value) for name, value in spec.constexprs.items()} | ones
        types = {name: kind for name, kind in spec.signature.items() if name not in constants}
        return cls(
            order=order,
            types={name: types[name] for name in order if name in types},
            constants={name: constants[name] for name in order if name in constants},
            divisible=tuple(order.index(name) for name in spec.divisible_by_16 if name in types and name in order),
            ones=tuple(order.index(name) for name in ones if name in order),
        )


def parameters(bundle: Bundle) -> tuple[str, ...]:
    """The names of the kernel's parameters, in order."""
    functions = (each for each in ast.walk(ast.parse(bundle.text)) if isinstance(each, ast.FunctionDef))
    found = [each.args for each in functions if each.name == bundle.spec.function][-1]
    return tuple(each.arg for each in (*found.posonlyargs, *found.args, *found.kwonlyargs))


def compile_function(bundle: Bundle, target: Target, form: Form, prediction: bool = False) -> str:
    """The function ``compile_kernel`` of a script; with ``prediction`` it fails where a launch would lack shared memory."""
    facts = _Facts.of(bundle)
    options = _dictionary("options=", {name: repr(value) for name, value in bundle.spec.options.items()}, 8)
    gpu = f"GPUTarget({target.backend!r}, {target.arch!r}, {target.warp_size})".replace("'", '"')
    lines = [
        "def compile_kernel():",
        *(f"    {line}".rstrip() for line in _source(bundle.spec.function, facts, form)),
        f"    target = {gpu}",
        f"    compiled = triton.compile(source, target=target, {options})".replace(
            "compiled = ", "" if not prediction else "compiled = "
        ),
    ]
    if prediction:
        lines += [
            f"    if compiled.metadata.shared > {target.shared_memory}:",
            f"        shared, limit = compiled.metadata.shared, {target.shared_memory}",
            f'        sys.exit(f"needs {{shared}} {SHARED_MEMORY}, {target.name} has {{limit}}")',
        ]
    return "\n".join([*(_PORTABLE.splitlines() if form is Form.ANY else ()), *lines])


def uses_language(bundle: Bundle) -> bool:
    """Whether the call needs ``tl``, for a dtype among the constexprs."""
    return any(isinstance(value, Mapping) and "dtype" in value for value in bundle.spec.constexprs.values())


def _source(function: str, facts: _Facts, form: Form) -> list[str]:
    quoted = {name: f'"{kind}"' for name, kind in facts.types.items()}
    if form is Form.ANY:
        return [
            "source = describe(",
            f"    {function},",
            f"    {_dictionary('signature=', quoted, 8)},",
            f"    {_dictionary('constants=', facts.constants, 8)},",
            f"    divisible_by_16={facts.divisible!r},",
            f"    equal_to_1={facts.ones!r},",
            ")",
        ]
    if form is Form.ATTRIBUTES:
        names = {name: quoted.get(name, '"constexpr"') for name in facts.order if name in quoted or name in facts.constants}
        return [
            "source = ASTSource(",
            f"    fn={function},",
            f"    {_dictionary('signature=', names, 8)},",
            f"    {_dictionary('constexprs=', facts.constants, 8)},",
            f"    attrs={_attributes(facts.divisible)},",
            ")",
        ]
    if form is Form.HINTS:
        where = "triton.backends.compiler"
        hints = {**dict.fromkeys(facts.divisible, 16), **dict.fromkeys(facts.ones, 1)}
        attributes = f"AttrsDescriptor.from_hints({dict(sorted(hints.items()))!r})"
    else:
        where = "triton.compiler.compiler"
        attributes = f"AttrsDescriptor(divisible_by_16={facts.divisible!r}, equal_to_1={facts.ones!r})"
    return [
        f"from {where} import AttrsDescriptor",
        "",
        "source = ASTSource(",
        f"    fn={function},",
        f"    {_dictionary('signature=', quoted, 8)},",
        f"    {_dictionary('constants=', facts.constants, 8)},",
        f"    attrs={attributes},",
        ")",
    ]


_PORTABLE = '''\
def describe(fn, signature, constants, divisible_by_16, equal_to_1):
    """The specialization in the form that this release of Triton takes."""
    if "constexprs" in inspect.signature(ASTSource.__init__).parameters:  # 3.3 and later
        names = [name for name in fn.arg_names if name in signature or name in constants]
        types = {name: signature.get(name, "constexpr") for name in names}
        return ASTSource(fn, types, constants, {(index,): [["tt.divisibility", 16]] for index in divisible_by_16})
    try:  # 3.2
        from triton.backends.compiler import AttrsDescriptor

        attrs = AttrsDescriptor.from_hints({**dict.fromkeys(divisible_by_16, 16), **dict.fromkeys(equal_to_1, 1)})
    except ImportError:  # 3.0 and 3.1
        from triton.compiler.compiler import AttrsDescriptor

        attrs = AttrsDescriptor(divisible_by_16=divisible_by_16, equal_to_1=equal_to_1)
    return ASTSource(fn=fn, signature=signature, constants=constants, attrs=attrs)


'''


# --- source text -------------------------------------------------------------------------------------------------------------


def _attributes(indices: tuple[int, ...]) -> str:
    hint = '[["tt.divisibility", 16]]'
    if len(indices) < 4:
        return "{" + ", ".join(f"({index},): {hint}" for index in indices) + "}"
    return f"{{(index,): {hint} for index in {indices!r}}}"


def _dictionary(head: str, entries: Mapping[str, str], indent: int) -> str:
    """``head{"name": value, …}``, over several lines where one is too long; those after the first are indented."""
    items = [f'"{name}": {value}' for name, value in entries.items()]
    flat = f"{head}{{{', '.join(items)}}}"
    if len(flat) + indent <= _WIDTH:
        return flat
    lines, margin = [""], " " * (indent + 4)
    for item in items:
        if lines[-1] and len(margin + lines[-1] + item) + 2 > _WIDTH:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + item + ","
    return "\n".join([f"{head}{{", *(margin + line for line in lines), " " * indent + "}"])


def _literal(value: Any) -> str:
    """A constexpr's JSON form as source text."""
    if isinstance(value, Mapping):
        return _DTYPES[value["dtype"]] if "dtype" in value else "None"
    if isinstance(value, float) and value - value != 0:
        return f'float("{value}")'
    return f'"{value}"' if isinstance(value, str) and '"' not in value and "\\" not in value else repr(value)
