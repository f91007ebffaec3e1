"""Facts from calls in a kernel's body: of ``triton.language``, methods, and own functions.

Own functions are those of the same source, and those that it imports from the same tree.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import reduce
from typing import TYPE_CHECKING

from attrs import evolve

from compat.model import constexprs
from compat.toolchains.triton.language.guessing.facts import (
    ARITHMETIC,
    ASSERTED,
    CERTAIN,
    FLOATS,
    LIKELY,
    PERHAPS,
    RANDOM,
    WHOLE,
    Term,
    Value,
    ValueOrigin,
)

if TYPE_CHECKING:
    from compat.toolchains.triton.language.guessing.body import Walk
    from compat.toolchains.triton.language.guessing.modules import JitFunction, JitModule

_LANGUAGES = ("triton.language.", "triton.experimental.gluon.language.")
_SHORT = {long: short for short, long in constexprs.LANGUAGE_NAMES.items()}


def call_value(walk: Walk, node: ast.Call) -> Value:
    """Return the value of a call, and note the facts that the call shows."""
    name = walk.module.scope.origin(node.func) or ""
    if name in walk.names:
        name = ""
    if name.startswith(_LANGUAGES):
        return _language(walk, node, name)
    short = name.rpartition(".")[2]
    is_math = short in _MATH and name not in walk.module.functions
    if not is_math and (callee := walk.jit_function(name)):
        return _jit_call(walk, node, *callee)
    if short in _BLOCKS:  # libraries re-export these functions from their own modules
        return _block(walk, node)
    if isinstance(node.func, ast.Attribute) and not name.startswith(
        ("triton.", "libdevice.", "tldevice.", "math.")
    ):
        return _method(walk, node, node.func)
    if isinstance(node.func, ast.Name) and node.func.id in walk.names:
        walk.facts.functions.update(origin.name for origin in walk.names[node.func.id].origins)
    if name == "range":
        return _looped(walk, node)
    values = [walk.value(argument) for argument in _arguments(node)]
    if name in ("min", "max", "abs", "float", "int") and values:
        return reduce(Value.plus, values).derive_value("float" if name == "float" else None)
    if "libdevice" in name or "tldevice" in name or short in _MATH:
        return _math(walk, values)
    return Value.of("int") if name in ("len", "triton.cdiv", "triton.next_power_of_2") else Value()


def _arguments(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def _argument(node: ast.Call, index: int, name: str) -> ast.expr | None:
    named = next((keyword.value for keyword in node.keywords if keyword.arg == name), None)
    return named or (node.args[index] if len(node.args) > index else None)


def _jit_call(walk: Walk, node: ast.Call, function: JitFunction, module: JitModule) -> Value:
    parameters = [parameter.name for parameter in function.parameters]
    nodes = dict(zip(parameters, node.args, strict=False))
    nodes |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
    constants = {}
    for parameter in function.parameters:
        is_known, value = walk.evaluate_expression(nodes.get(parameter.name, parameter.default))
        if is_known:
            constants[parameter.name] = value
    arguments = {name: walk.value(argument) for name, argument in nodes.items()}
    defaults = {
        parameter.name: parameter.default
        for parameter in function.parameters
        if isinstance(parameter.default, ast.Constant)
    }
    return walk.call(function, module, arguments, defaults | nodes, constants)


# --- methods --------------------------------------------------------------------------------------


def _method(walk: Walk, node: ast.Call, function: ast.Attribute) -> Value:
    base = walk.value(function.value)
    values = [walk.value(arg) for arg in node.args]
    if function.attr == "to":
        to = _argument(node, 0, "dtype")
        return _bitcast(walk, base, to) if _is_bitcast(node) else _cast(walk, base, to)
    if base.is_shared and function.attr in ("load", "store"):
        if function.attr == "store" and values:
            _put_into_shared_memory(walk, values[0], base.kind)
        return base.derive_value()
    if function.attr in ("load", "store", "gather", "scatter", "atomic_add"):
        _note_descriptor(walk, base, node.args[0] if node.args else None)
        for value in values[:1]:
            walk.require_integer(value, "an offset into a descriptor")
        return Value.of(
            "float",
            [ValueOrigin(term.argument, element=True) for term in base.terms if term.argument],
        )
    if function.attr in ("sum", "max", "min", "sigmoid", "exp", "log", "sqrt"):
        return _LANGUAGE_CALLS[function.attr](
            walk,
            ast.Call(func=node.func, args=[function.value, *node.args], keywords=node.keywords),
        )
    return base


def _note_descriptor(walk: Walk, base: Value, offsets: ast.expr | None) -> None:
    for term in base.terms:
        if term.argument and term.argument not in walk.facts.pointers:
            sides = getattr(offsets, "elts", ())
            walk.facts.descriptors[term.argument] = len(sides) or 1
            multiples = [_multiple_of(walk.value(side)) for side in sides]
            before = walk.facts.descriptor_sides.get(term.argument, (None,) * len(multiples))
            walk.facts.descriptor_sides[term.argument] = tuple(
                now or earlier for now, earlier in zip(multiples, before, strict=False)
            )


def _multiple_of(offset: Value) -> str | None:
    """Return the only constexpr that an offset is a multiple of, or that a loop adds to it."""
    names = {name for term in offset.terms if (name := term.factor or term.constexpr)}
    return names.pop() if len(names) == 1 else None


def _put_into_shared_memory(walk: Walk, value: Value, kind: str | None) -> None:
    if kind:
        elements = [origin for origin in value.origins if origin.element]
        walk.facts.is_kind(elements, kind, LIKELY, "put into shared memory of this type")


def _cast(walk: Walk, base: Value, to: ast.expr | None) -> Value:
    if to is None:
        return base
    kind = _dtype(walk, to)
    if kind == "pointer" or _is_type_of_pointer(walk, to):
        walk.facts.is_kind(base.origins, "i64", CERTAIN, "addresses")
        return Value.of("pointer")
    if kind is None or (isinstance(to, ast.Name) and to.id in walk.names):
        return _cast_like(walk, base, to)
    elements = [origin for origin in base.origins if origin.element]
    if kind == "bool":
        walk.facts.is_kind(elements, "bool", LIKELY, "cast to tl.int1")
    elif kind in WHOLE:
        if base.kind in FLOATS:
            return Value.of(kind)  # it is rounded, so it shows nothing about its origins
        sure = LIKELY if kind == "i64" else PERHAPS
        walk.facts.is_kind(base.origins, "int", sure, f"cast to {kind}")
        return Value.of(kind, base.origins)
    elif kind == "fp32" and len(elements) == 1 == len(base.origins):
        walk.facts.half.setdefault(elements[0].name, "cast to fp32 after it is loaded")
    elif kind in FLOATS and [bool(term.argument) for term in base.terms] == [True]:
        walk.facts.is_kind(base.origins, "float", PERHAPS, f"cast to {kind}")
    return Value.of(kind)


def _is_type_of_pointer(walk: Walk, to: ast.expr) -> bool:
    """Whether a dtype is ``out_ptr.dtype``."""
    if not isinstance(to, ast.Attribute) or to.attr != "dtype":
        return False
    terms = walk.value(to.value).terms
    return len(terms) == 1 and terms[0].argument in walk.facts.pointers


def _cast_like(walk: Walk, base: Value, to: ast.expr) -> Value:
    """Return a value cast to the type of another: ``x.to(out_ptr.dtype.element_ty)``."""
    other = _value_of_dtype(walk, to)
    if base.kind in FLOATS | WHOLE and other.kind is None:
        elements = [origin for origin in other.origins if origin.element]
        kind, numbers = ("int", "whole") if base.kind in WHOLE else ("float", "floating-point")
        walk.facts.is_kind(elements, kind, PERHAPS, f"{numbers} numbers are cast to it")
    return other


def _value_of_dtype(walk: Walk, dtype: ast.expr) -> Value:
    """Return a value of a dtype that is a parameter, or that of other values."""
    if isinstance(dtype, ast.Name) and dtype.id in walk.names:
        if names := walk.parameters(dtype.id):
            return Value.of(None, map(ValueOrigin, names))
    elif not isinstance(dtype, ast.Attribute):
        return Value()
    return walk.value(dtype).derive_value()


_SAME_BITS = {
    "fp8": "u8", "fp16": "u16", "bf16": "u16", "fp32": "u32",
    "i8": "fp8", "u8": "fp8", "i16": "fp16", "u16": "fp16", "i32": "fp32", "u32": "fp32",
}  # fmt: skip
"""The result kind of a bitcast → the kind of the elements that the kernel casts."""


def _is_bitcast(node: ast.Call) -> bool:
    return any(
        keyword.arg == "bitcast"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is True
        for keyword in node.keywords
    )


def _bitcast(walk: Walk, base: Value, to: ast.expr | None) -> Value:
    """A value whose bits are read as another type of the same width."""
    kind = _dtype(walk, to)
    if kind is None and isinstance(to, ast.Attribute):
        _has_bits_of(walk, walk.value(to), base.kind)
    elif base.kind not in WHOLE:
        _has_bits_of(walk, base, kind)
    return Value.of(kind)


def _has_bits_of(walk: Walk, value: Value, kind: str | None) -> None:
    if kind in _SAME_BITS:
        cast_or_loaded = [
            origin for origin in value.origins if origin.element or origin.name in walk.facts.dtypes
        ]
        why = f"its bits are read as {kind}"
        walk.facts.is_kind(cast_or_loaded, _SAME_BITS[kind], CERTAIN, why)


def _dtype(walk: Walk, node: ast.expr | None) -> str | None:
    """Return the kind of the values of a dtype, ``pointer`` for a pointer type, or ``None``."""
    if node is None:
        return None
    if isinstance(node, ast.Call):
        return (
            "pointer"
            if (walk.module.scope.origin(node.func) or "").endswith("pointer_type")
            else None
        )
    if isinstance(node, ast.Name) and node.id in walk.names:
        walk.facts.dtypes.update(walk.parameters(node.id))
        is_known, value = walk.evaluate_expression(node)
    else:
        is_known, value = walk.module.scope.try_value(node)
    if not is_known or not isinstance(value, Mapping):
        return None
    name = str(value.get("dtype", ""))
    if name in ("i1", "int1"):
        return "bool"
    return "fp8" if name.startswith("fp8") else _SHORT.get(name, name) or None


# --- the language ---------------------------------------------------------------------------------


def _language(walk: Walk, node: ast.Call, name: str) -> Value:
    short = name.rpartition(".")[2]
    _note_keywords(walk, node)
    if short in _LANGUAGE_CALLS:
        return _LANGUAGE_CALLS[short](walk, node)
    values = [walk.value(argument) for argument in _arguments(node)]
    if short.startswith("atomic_"):
        return _atomic(walk, node, short)
    if short in _MATH or "libdevice" in name or ".math." in f".{name}":
        return _math(walk, values, short)
    return (
        values[0] if short in _SAME and values else values[0].derive_value() if values else Value()
    )


_TEXTS = {"input_precision": "ieee", "eviction_policy": "evict_last", "cache_modifier": ".cg"}
"""A keyword that takes a string → a string that every target knows."""


_FLAGS = ("warp_specialize", "flatten", "disallow_acc_multi_buffer", "allow_tf32")
"""Keywords that take a flag."""


def _note_keywords(walk: Walk, node: ast.Call) -> None:
    """Note the constexprs that are passed for keywords that take a text or a flag."""
    for keyword in node.keywords:
        if keyword.arg in (*_TEXTS, *_FLAGS) and isinstance(keyword.value, ast.Name):
            names = [term.constexpr for term in walk.value(keyword.value).terms if term.constexpr]
            if keyword.arg in _TEXTS:
                walk.facts.texts |= dict.fromkeys(names, _TEXTS[keyword.arg])
            else:
                walk.facts.tested_constexprs.update(names)


_MATH = {
    "exp",
    "exp2",
    "log",
    "log2",
    "sqrt",
    "rsqrt",
    "sqrt_rn",
    "sin",
    "cos",
    "sigmoid",
    "softmax",
    "erf",
    "tanh",
    "div_rn",
    "pow",
}
_SAME = {
    "multiple_of",
    "max_contiguous",
    "max_constancy",
    "reshape",
    "view",
    "trans",
    "broadcast_to",
    "expand_dims",
    "ravel",
}


_CONVERSIONS = {"int2": "i32", "uint2": "u32", "ll2": "i64", "ull2": "u64"}
"""The first letters of functions of libdevice → the kind of the whole number that they convert."""


def _math(walk: Walk, values: list[Value], name: str = "") -> Value:
    kind = next((kind for start, kind in _CONVERSIONS.items() if name.startswith(start)), None)
    if kind is not None:
        for value in values:
            walk.facts.is_kind(value.origins, kind, CERTAIN, f"the argument of {name}")
        return Value.of("fp32")
    for value in values:
        # A whole number as the only argument, known in the compile or loaded, does not compile.
        is_alone = len(values) == 1 and (
            all(term.constexpr for term in value.terms)
            or [origin.element for origin in value.origins] == [True]
        )
        walk.facts.is_kind(
            value.origins,
            "float",
            LIKELY if is_alone else PERHAPS,
            "an argument of a function of floating-point numbers",
        )
        if value.kind not in ("fp32", "fp64") and value.kind not in WHOLE:
            for origin in value.origins:
                if origin.element:
                    walk.facts.single.setdefault(origin.name, "the argument of an fp32 function")
    return Value.of("fp32")


def _rounded_quotient(walk: Walk, node: ast.Call) -> Value:
    """``div_rn``, which takes only fp32."""
    for argument in _arguments(node):
        _math(walk, [walk.value(argument)])
    return Value.of("fp32")


def _load(walk: Walk, node: ast.Call) -> Value:
    bases = walk.address(walk.value(_argument(node, 0, "pointer")), "loaded through")
    _mask(walk, _argument(node, 1, "mask"))
    other = walk.value(_argument(node, 2, "other"))
    origins = [ValueOrigin(name, element=True) for name in bases]
    if other.kind == "float" and isinstance(_argument(node, 2, "other"), ast.Constant):
        walk.facts.is_kind(
            origins, "float", PERHAPS, "loaded with a floating-point number for what is masked"
        )
    kinds = [kind for origin in origins if (kind := walk.facts.kind_of(origin))]
    return Value.of(kinds[0] if kinds else None, origins)


def _mask(walk: Walk, mask: ast.expr | None) -> None:
    value = walk.value(mask)
    elements = [origin for origin in value.origins if origin.element]
    if value.kind is None:
        walk.facts.is_kind(elements, "bool", PERHAPS, "used as a mask")


def _store(walk: Walk, node: ast.Call) -> Value:
    bases = walk.address(walk.value(_argument(node, 0, "pointer")), "stored through")
    value = walk.value(_argument(node, 1, "value"))
    _mask(walk, _argument(node, 2, "mask"))
    origins = [ValueOrigin(name, element=True) for name in bases]
    loaded = [origin for origin in value.origins if origin.element]
    if value.kind:
        kind = "float" if value.kind == "fp32" else value.kind
        walk.facts.is_kind(
            origins, kind, LIKELY if value.kind in WHOLE else PERHAPS, "by what is stored there"
        )
    if len(loaded) == 1 == len(value.origins) and value.kind not in FLOATS - {"float"}:
        walk.facts.copies.update((origin, loaded[0]) for origin in origins if origin != loaded[0])
    return Value()


def _atomic(walk: Walk, node: ast.Call, short: str) -> Value:
    bases = walk.address(walk.value(_argument(node, 0, "pointer")), "changed atomically")
    values = [walk.value(argument) for argument in _arguments(node)[1:]]
    origins = [ValueOrigin(name, element=True) for name in bases]
    if short in ("atomic_cas", "atomic_and", "atomic_or", "atomic_xor"):
        walk.facts.is_kind(origins, "int", CERTAIN, f"{short} of a lock")
    elif values and values[0].kind:
        kind = values[0].kind
        walk.facts.is_kind(
            origins, "int" if kind in WHOLE else "fp32", LIKELY, f"{short} of such a value"
        )
    return Value.of(None, origins)


def _arange(walk: Walk, node: ast.Call) -> Value:
    for argument in _arguments(node):
        _side(walk, argument, 1)
        walk.require_integer(walk.value(argument), "a length")
    start, end = _argument(node, 0, "start"), _argument(node, 1, "end")
    if start is not None and end is not None:
        condition = walk.by_names_of_kernel(_is_power_of_two(start, end))
        walk.facts.lengths += [condition] if condition is not None else []
    return Value.of("int")


def _is_power_of_two(start: ast.expr, end: ast.expr) -> ast.expr:
    """The condition that a block with indices from ``start`` to ``end`` can be compiled."""
    length = ast.BinOp(end, ast.Sub(), start)
    one = ast.Constant(1)
    shared = ast.BinOp(length, ast.BitAnd(), ast.BinOp(length, ast.Sub(), one))
    return ast.BoolOp(
        ast.And(),
        [
            ast.Compare(length, [ast.GtE()], [one]),
            ast.Compare(shared, [ast.Eq()], [ast.Constant(0)]),
        ],
    )


def _side(walk: Walk, node: ast.expr, dimensions: int) -> None:
    """Note the parameters that give the length of a side of a block."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id in walk.names:
            for origin in walk.names[inner.id].origins:
                before = walk.facts.spans.get(origin.name, 0)
                walk.facts.spans[origin.name] = max(before, dimensions)
    factors = walk.value(node).origins
    if factors in walk.facts.products:
        for factor in factors:
            before = walk.facts.factors.get(factor.name, 1)
            walk.facts.factors[factor.name] = max(before, len(factors))
    walk.facts.blocks = max(walk.facts.blocks, dimensions)


def _fill(walk: Walk, node: ast.Call, dtype: int = 1) -> Value:
    """``zeros``, or ``full``, whose ``dtype`` is the third argument."""
    shape = _argument(node, 0, "shape")
    if shape is not None:
        _sides(walk, shape)
    for value in node.args[1:dtype]:
        walk.value(value)
    of_type = _argument(node, dtype, "dtype")
    kind = _dtype(walk, of_type)
    return Value.of(kind) if kind or of_type is None else _value_of_dtype(walk, of_type)


def _dot(walk: Walk, node: ast.Call) -> Value:
    values = [walk.value(argument) for argument in _arguments(node)]
    if len(values) > 1:
        walk.facts.dots.append((values[0], values[1]))
        for value in values[:2]:
            walk.facts.is_kind(value.origins, "float", PERHAPS, "an operand of tl.dot")
        start = _argument(node, 2, "acc")
        if _dtype(walk, _argument(node, 6, "out_dtype")) in WHOLE or (
            start is not None and walk.value(start).kind in WHOLE
        ):
            _multiply_whole_numbers(walk, node)
    product = _product(walk)
    is_whole = len(values) > 1 and all(value.kind in WHOLE for value in values[:2])
    return Value.of("i32") if is_whole else product


def note_sum(walk: Walk, node: ast.expr, other: Value) -> None:
    """Note that a ``tl.dot`` multiplies whole numbers if a whole number is added to it."""
    if (
        other.kind in WHOLE
        and isinstance(node, ast.Call)
        and (walk.module.scope.origin(node.func) or "").endswith("language.dot")
    ):
        _multiply_whole_numbers(walk, node)


def _multiply_whole_numbers(walk: Walk, node: ast.Call) -> None:
    for argument in node.args[:2]:
        walk.facts.is_kind(
            walk.value(argument).origins, "i8", CERTAIN, "an operand of tl.dot of whole numbers"
        )


def _product(walk: Walk) -> Value:
    walk.facts.pipelined |= bool(walk.loops)
    walk.facts.blocks = max(walk.facts.blocks, 2)
    return Value.of("fp32")


_BYTES = ("e4m3", "e5m2", "e2m1")
"""Formats of ``tl.dot_scaled`` whose values can be bytes."""


def _scaled_dot(walk: Walk, node: ast.Call) -> Value:
    formats = _argument(node, 2, "lhs_format"), _argument(node, 5, "rhs_format")
    texts = [text.value for text in formats if isinstance(text, ast.Constant)]
    if len(texts) < len(formats):
        return _dot(walk, node)
    for index, side, text in zip((0, 3), ("lhs", "rhs"), map(str, texts), strict=True):
        elements = walk.value(_argument(node, index, side)).origins
        walk.facts.is_kind(
            elements, "u8" if text in _BYTES else text, CERTAIN, f"an operand in {text}"
        )
        scales = walk.value(_argument(node, index + 1, f"{side}_scale")).origins
        walk.facts.is_kind(scales, "u8", CERTAIN, "scales of tl.dot_scaled")
    walk.value(_argument(node, 6, "acc"))
    return _product(walk)


def _reduction(walk: Walk, node: ast.Call) -> Value:
    values = [walk.value(argument) for argument in _arguments(node)]
    if not values:
        return Value()
    reduced = values[0].derive_value()
    with_index = any(keyword.arg == "return_indices" for keyword in node.keywords)
    return Value.tuple_of([reduced, Value.of("int")]) if with_index else reduced


def _where(walk: Walk, node: ast.Call) -> Value:
    _mask(walk, _argument(node, 0, "condition"))
    one, other = walk.value(_argument(node, 1, "x")), walk.value(_argument(node, 2, "y"))
    walk.alike(one, other)
    return one.alternatively(other)


def _extreme(walk: Walk, node: ast.Call) -> Value:
    one, other = walk.value(_argument(node, 0, "x")), walk.value(_argument(node, 1, "y"))
    walk.note_floats(one, other)
    return one.plus(other).derive_value()


def _whole_arguments(why: str, kind: str = "int") -> Callable[[Walk, ast.Call], Value]:
    """Return a handler of calls that take whole numbers and return a value of a kind."""

    def handler(walk: Walk, node: ast.Call) -> Value:
        for argument in _arguments(node):
            walk.require_integer(walk.value(argument), why)
        return Value.of(kind)

    return handler


def _looped(walk: Walk, node: ast.Call) -> Value:
    """The variable of a loop, taken as a multiple of the step: most loops start at a multiple."""
    for argument in node.args:
        walk.require_integer(walk.value(argument), "a bound of a loop")
    step = walk.value(node.args[2]).terms if len(node.args) > 2 else ()
    return Value(((Term(kind="int", factor=step[0].constexpr if len(step) == 1 else None),),))


def _unrolled_range(walk: Walk, node: ast.Call) -> Value:
    for bound in map(walk.value, node.args):
        walk.facts.unrolled_parameters.update(origin.name for origin in bound.origins)
        if len(node.args) < 3:  # without a step, which divides the number of passes
            walk.facts.passes.update(term.constexpr for term in bound.terms if term.constexpr)
    return _looped(walk, node)


def _block(walk: Walk, node: ast.Call) -> Value:
    """``make_block_ptr``, ``make_tensor_descriptor`` and its older names."""
    bases = walk.address(walk.value(_argument(node, 0, "base")), "the base of a block")
    for keyword in node.keywords:
        if keyword.arg == "block_shape":
            _sides(walk, keyword.value)
        elif keyword.arg not in ("base", "order", "padding_option"):
            walk.require_integer(walk.value(keyword.value), "a size or an offset of a block")
    for index, argument in enumerate(node.args[1:], 1):
        walk.require_integer(walk.value(argument), "a size or an offset of a block")
        if index >= 3:
            _sides(walk, argument)
    sums = tuple(sum_ for name in bases for sum_ in Value.of("pointer", [], name).sums)
    return Value(sums or ((),))


def _sides(walk: Walk, shape: ast.expr) -> None:
    sides = shape.elts if isinstance(shape, ast.List | ast.Tuple) else [shape]
    for side in sides:
        _side(walk, side, len(sides))


def _advance(walk: Walk, node: ast.Call) -> Value:
    for argument in _arguments(node)[1:]:
        walk.require_integer(walk.value(argument), "an offset of a block")
    return walk.value(_argument(node, 0, "base"))


def _cast_call(walk: Walk, node: ast.Call) -> Value:
    base, to = walk.value(_argument(node, 0, "input")), _argument(node, 1, "dtype")
    return _bitcast(walk, base, to) if _is_bitcast(node) else _cast(walk, base, to)


def _assertion(walk: Walk, node: ast.Call) -> Value:
    condition = _argument(node, 0, "cond")
    walk.value(condition)
    match condition:
        case ast.Compare(left=ast.Attribute() as asked, ops=[ast.Eq()], comparators=[dtype]) if (
            kind := _dtype(walk, dtype)
        ):
            elements = [origin for origin in walk.value(asked).origins if origin.element]
            walk.facts.is_kind(elements, kind, CERTAIN, ASSERTED)
    condition = walk.by_names_of_kernel(condition) if condition is not None else None
    if condition is not None:
        if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And):
            walk.facts.asserts += condition.values
        else:
            walk.facts.asserts.append(condition)
    return Value()


def _descriptor_access(walk: Walk, node: ast.Call) -> Value:
    """Descriptors of Triton 3.0 to 3.3, which kernels load and store through with functions."""
    walk.address(walk.value(_argument(node, 0, "desc_pointer")), "the address of a descriptor")
    for arg in node.args[1:]:
        walk.value(arg)
    return Value.of("float")


def _shared_memory(walk: Walk, node: ast.Call) -> Value:
    """``allocate_shared_memory`` of Gluon."""
    values = [walk.value(argument) for argument in _arguments(node)]
    kind = _dtype(walk, _argument(node, 0, "element_ty"))
    if (value := _argument(node, 3, "value")) is not None:
        _put_into_shared_memory(walk, walk.value(value), kind)
    return evolve(Value.of(kind, values[0].origins if values else ()), is_shared=True)


def _transfer(walk: Walk, node: ast.Call) -> Value:
    """A copy of Gluon between shared memory and a descriptor that the host made."""
    for argument in _arguments(node):
        walk.value(argument)
    base, offsets = walk.value(_argument(node, 0, "tensor_desc")), _argument(node, 1, "coord")
    _note_descriptor(walk, base, offsets)
    walk.facts.transferred.update(term.argument for term in base.terms if term.argument)
    walk.require_integer(walk.value(offsets), "an offset into a descriptor")
    return Value()


def _accumulated(walk: Walk, node: ast.Call) -> Value:
    """A product of Gluon, which has the type of the accumulator."""
    for argument in _arguments(node):
        walk.value(argument)
    return walk.value(_argument(node, 2, "acc")).derive_value()


def _waited(walk: Walk, node: ast.Call) -> Value:
    """``warpgroup_mma_wait``, which returns what it waits for: a value or several."""
    value = walk.value(_argument(node, 1, "deps"))
    return value.parts[0] if len(value.parts) == 1 else value


_BLOCKS = ("make_block_ptr", "make_tensor_descriptor", "_experimental_make_tensor_descriptor")
_LANGUAGE_CALLS: Mapping[str, Callable[[Walk, ast.Call], Value]] = {
    "load": _load,
    "store": _store,
    "arange": _arange,
    "dot": _dot,
    "dot_scaled": _scaled_dot,
    "where": _where,
    "cast": _cast_call,
    "cdiv": _whole_arguments(ARITHMETIC),
    "advance": _advance,
    "static_assert": _assertion,
    "zeros": _fill,
    "full": lambda walk, node: _fill(walk, node, dtype=2),
    "allocate_shared_memory": _shared_memory,
    **dict.fromkeys(("warpgroup_mma", "mma_v2", "mfma", "wmma"), _accumulated),
    "warpgroup_mma_wait": _waited,
    **dict.fromkeys(
        (
            *("async_copy_global_to_shared", "async_load"),
            *("async_copy_shared_to_global", "async_store"),
        ),
        _transfer,
    ),
    **dict.fromkeys(("maximum", "minimum", "clamp", "fma", "fdiv"), _extreme),
    **dict.fromkeys(
        ("sum", "max", "min", "cumsum", "cumprod", "sort", "xor_sum", "flip", "zeros_like", "abs"),
        _reduction,
    ),
    **dict.fromkeys(
        ("program_id", "num_programs", "argmax", "argmin"), lambda walk, node: Value.of("int")
    ),
    "histogram": _whole_arguments("an argument of tl.histogram"),
    "range": _looped,
    "static_range": _unrolled_range,
    **dict.fromkeys(("rand", "randn", "rand4x", "randn4x"), _whole_arguments(RANDOM, "fp32")),
    **dict.fromkeys(("randint", "randint4x"), _whole_arguments(RANDOM)),
    **dict.fromkeys(_BLOCKS, _block),
    **dict.fromkeys(
        ("_experimental_descriptor_load", "_experimental_descriptor_store"), _descriptor_access
    ),
    **{
        name: lambda walk, node: _math(walk, [walk.value(arg) for arg in node.args])
        for name in ("exp", "log", "sqrt", "sigmoid")
    },
    "div_rn": _rounded_quotient,
}
