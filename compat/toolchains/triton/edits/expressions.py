"""Edits of a failing statement: axes of terms, ``tl.maximum`` for ``tl.max``, and larger blocks.

Bounds of loops are edited, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import takewhile

import libcst as cst

from compat.text import lazy_pattern
from compat.toolchains.language import FailingKernel, Proposal
from compat.toolchains.triton.edits.code import (
    Code,
    bound_targets,
    dotted_name,
    literal,
    names_in,
    nodes_at,
    parenthesize,
    statement_at,
    walk,
)

# --- a missing ``[:, None]`` or ``[None, :]`` -----------------------------------------------------

# Every term of the failing statement that has no axis gets one. The text does not show shapes, so
# each term is proposed: rows before columns, and first terms that have parentheses or need none.
# Statements with the same tokens get the same edit.

_AXIS_NOTE = (
    "a term without its axis also compiles if two block sizes are equal; check whether other loads"
    " and masks lack an axis"
)
AXES = ("[:, None]", "[None, :]")
_ATOMS = cst.Name | cst.Call | cst.Attribute
"""Expressions that take an axis without parentheses."""


def axes_added(faulty: FailingKernel) -> Iterator[Proposal]:
    """Propose the kernel with one more axis."""
    code = Code.of(faulty.text, faulty.function)
    here = statement_at(code.module, faulty.failure)
    if here is None:
        return
    statements = (node for node in walk(code.module) if isinstance(node, cst.SimpleStatementLine))
    alike = [
        list(_terms(statement)) for statement in statements if _tokens(statement) == _tokens(here)
    ]
    groups = sorted(
        zip(*alike, strict=True),
        key=lambda same: (not same[0].lpar, not (same[0].lpar or isinstance(same[0], _ATOMS))),
    )
    for axis in AXES:
        for same in groups:
            yield Proposal(
                text=code.replace_nodes({term: _with_axis(term, axis) for term in same}),
                notes=(_AXIS_NOTE,),
            )


def _tokens(statement: cst.SimpleStatementLine) -> list[str]:
    """Return the names, numbers and operators of a statement.

    Statements that differ only in comments and line breaks have the same tokens.
    """
    return [
        f"{type(node).__name__} {getattr(node, 'value', '')}"
        for node in walk(statement)
        if not _is_layout(node)
    ]


def _is_layout(node: cst.CSTNode) -> bool:
    layout = (
        cst.BaseParenthesizableWhitespace,
        cst.TrailingWhitespace,
        cst.EmptyLine,
        cst.Newline,
        cst.Comment,
        cst.Comma,
    )
    return isinstance(node, layout) or not isinstance(getattr(node, "value", ""), str)


def _terms(statement: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """Yield the operands that may lack an axis."""
    for node in walk(statement):
        operands: Sequence[cst.BaseExpression] = ()
        if isinstance(node, cst.BinaryOperation):
            operands = (node.left, node.right)
        elif isinstance(node, cst.Comparison):
            operands = (node.left, *(comparison.comparator for comparison in node.comparisons))
        yield from (
            operand
            for operand in operands
            if not isinstance(operand, cst.BaseNumber | cst.BaseString | cst.Subscript)
        )


def _with_axis(term: cst.BaseExpression, axis: str) -> cst.BaseExpression:
    shape = cst.parse_expression(f"x{axis}")
    assert isinstance(shape, cst.Subscript)
    if not (term.lpar or isinstance(term, _ATOMS)):
        term = term.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return shape.with_changes(value=term)


# --- ``tl.max`` and ``tl.min`` in place of ``tl.maximum`` and ``tl.minimum``, and the reverse -----

_COMPARING = {"max": "maximum", "min": "minimum"}
_REDUCING = {"maximum": "max", "minimum": "min"}


def values_compared(faulty: FailingKernel) -> Iterator[Proposal]:
    """Propose to replace reductions by comparisons, and the reverse.

    The failing statement is changed first, and then every clear place.
    """
    code = Code.of(faulty.text, faulty.function)
    here = statement_at(code.module, faulty.failure)
    clear = code.collect(partial(_clear, code))
    within = list(walk(here)) if here is not None else []
    of_two = {call: new for call in within if (new := _of_two(code, call)) is not None}
    for some in (
        {call: new for call, new in clear.items() if call in within},
        clear,
        of_two,
        {**clear, **of_two},
    ):
        if some:
            yield Proposal(text=code.replace_nodes({call.func: new for call, new in some.items()}))  # type: ignore[attr-defined]


def _clear(code: Code, function: cst.FunctionDef, node: cst.CSTNode) -> cst.BaseExpression | None:
    """Return the function that a call should call, if it certainly calls the wrong one."""
    if not isinstance(node, cst.Call) or any(arg.star for arg in node.args):
        return None
    called = code.language.called_name(node) or ""
    positional = [arg.value for arg in node.args if not arg.keyword]
    named = {arg.keyword.value for arg in node.args if arg.keyword}
    of_two = called in _COMPARING and len(positional) == 2 and not named
    if of_two and (not _is_axis(function, positional[1]) or literal(positional[0]) is not None):
        return _rename_function(node.func, _COMPARING[called])
    if called in _REDUCING and (("axis" in named and len(positional) < 2) or len(positional) == 1):
        return _rename_function(node.func, _REDUCING[called])
    return None


def _of_two(code: Code, node: cst.CSTNode) -> cst.BaseExpression | None:
    """Return the name to call in a reduction of two arguments, assuming the second is not an axis.

    The text does not show this if the second argument is a number.
    """
    called = code.language.called_name(node) or ""
    if (
        not isinstance(node, cst.Call)
        or called not in _COMPARING
        or len(node.args) != 2
        or any(arg.keyword for arg in node.args)
    ):
        return None
    return _rename_function(node.func, _COMPARING[called])


def _is_axis(function: cst.FunctionDef, node: cst.BaseExpression) -> bool:
    """Return whether a second argument may be an axis.

    That is a number, ``None``, the name of a constexpr, or the name ``axis`` or ``dim`` in lower or
    upper case.
    """
    return (
        literal(node) is not None
        or dotted_name(node) == "None"
        or (
            isinstance(node, cst.Name)
            and (node.value.lower() in ("axis", "dim") or _is_constexpr(function, node.value))
        )
    )


def _is_constexpr(function: cst.FunctionDef, name: str) -> bool:
    """Return whether a function declares a name as a constexpr, or takes it from its module."""
    bindings = [binding for binding in walk(function) if _binds(binding, name)]
    return not bindings or any(
        "constexpr" in cst.Module([]).code_for_node(binding.annotation.annotation)
        for binding in bindings
        if isinstance(binding, cst.Param | cst.AnnAssign) and binding.annotation is not None
    )


def _rename_function(func: cst.BaseExpression, name: str) -> cst.BaseExpression:
    return (
        func.with_changes(attr=cst.Name(name))
        if isinstance(func, cst.Attribute)
        else cst.Name(name)
    )


# --- a parameter that has to be known when the kernel is compiled ---------------------------------

# The parameter gets the annotation ``tl.constexpr``, and its value in the kernel file. Only
# parameters with a known value are proposed: those with a default, and those with a value in the
# kernel file. A parameter of a function that the kernel calls needs no value if its argument is a
# constexpr already.


def constexprs_annotated(faulty: FailingKernel) -> Iterator[Proposal]:
    """Propose one more annotation, and then one for each parameter of the failing statement."""
    code = Code.of(faulty.text, faulty.function)
    parameters = [
        parameter for parameter in _used_parameters(code, faulty) if parameter.annotation is None
    ]
    changes = [
        (_annotating(code, parameter), _values(code, faulty, parameter)) for parameter in parameters
    ]
    for changed, values in changes:
        if values is not None:
            yield Proposal(text=code.replace_nodes(changed), constexprs=values)
    answered = [(changed, values) for changed, values in changes if values is not None]
    if len(answered) > 1:
        together = {old: new for changed, _ in answered for old, new in changed.items()}
        yield Proposal(
            text=code.replace_nodes(together),
            constexprs={k: v for _, values in answered for k, v in values.items()},
        )


def _used_parameters(code: Code, faulty: FailingKernel) -> Iterator[cst.Param]:
    """Yield the parameters of a function whose names are in the failing statement.

    Parameters that these names are computed from count, too.
    """
    for function in code.reachable:
        here = [
            node
            for node in nodes_at(code.module, faulty.failure)
            if node in set(walk(function.body))
        ]
        names = set(names_in(here[-1])) if here else set()
        direct = [
            parameter for parameter in walk(function.params) if isinstance(parameter, cst.Param)
        ]
        feeding = _feeding(function, names)
        yield from (parameter for parameter in direct if parameter.name.value in feeding)


def _feeding(function: cst.FunctionDef, names: set[str]) -> set[str]:
    """Return the names, and the names that they are computed from."""
    feeding = set(names)
    for node in reversed(
        [statement for statement in walk(function.body) if isinstance(statement, cst.Assign)]
    ):
        targets = {name for target in node.targets for name in names_in(target.target)}
        if targets & feeding:
            feeding |= set(names_in(node.value))
    return feeding


def _annotating(code: Code, parameter: cst.Param) -> dict[cst.CSTNode, cst.CSTNode]:
    annotation = cst.Annotation(cst.parse_expression(f"{code.language.name}.constexpr"))
    spaced = (
        cst.AssignEqual(cst.SimpleWhitespace(" "), cst.SimpleWhitespace(" "))
        if parameter.default is not None
        else parameter.equal
    )
    return {parameter: parameter.with_changes(annotation=annotation, equal=spaced)}


def _values(code: Code, faulty: FailingKernel, parameter: cst.Param) -> dict[str, object] | None:
    """Return the values that the kernel file then needs, or ``None`` if no value is known."""
    name = parameter.name.value
    kernel = code.definitions[code.function]
    if faulty.kernel not in (None, (faulty.file, faulty.function)):
        return {}  # of a function that the kernel calls
    if (
        not any(node is parameter for node in walk(kernel.params))
        or name in faulty.compile.constexprs
    ):
        return {}
    # A launch passes the value of a constexpr in the same way.
    if isinstance(faulty.compile.launch.get(name), int | float):
        return {}
    if isinstance(parameter.default, cst.Integer | cst.Float):
        return {name: parameter.default.evaluated_value}
    return None


# --- blocks that are too small for ``tl.dot`` -----------------------------------------------------

# Constexprs of the kernel file that are below 16 get 16, or 32 for 8-bit types. The edit changes
# the case in the kernel file, not the source, and how much of the problem one program computes.

_SIZES = (16, 32)
_CONSTEXPR_NOTE = (
    "the case in the kernel file gets larger blocks. Launch with the same values and their grid."
    " Check that a mask covers every load and store beyond the tensors"
)


def larger_blocks(faulty: FailingKernel) -> Iterator[Proposal]:
    """Propose larger values for one constexpr, for two and for all: as few as possible."""
    if (
        "too small" not in faulty.failure.excerpt
        and "16" not in faulty.failure.excerpt
        and "M >=" not in faulty.failure.excerpt
    ):
        return
    small = [
        name
        for name, value in faulty.compile.constexprs.items()
        if type(value) is int and 1 <= value < _SIZES[-1]
    ]
    for size in _SIZES:
        for names in _subsets([name for name in small if faulty.compile.constexprs[name] < size]):
            yield Proposal(
                text=faulty.text, constexprs=dict.fromkeys(names, size), notes=(_CONSTEXPR_NOTE,)
            )


def _subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield each name, each pair of names, and all names."""
    yield from ((name,) for name in names)
    yield from ((one, other) for number, one in enumerate(names) for other in names[number + 1 :])
    if len(names) > 2:
        yield tuple(names)


# --- a loop that is bounded by a block gets a scalar ----------------------------------------------

# A block of one element that is loaded through ``tl.arange(0, 1)`` is loaded through the pointer
# itself, which gives the same number. If the bound is not known to be such a block, it is reduced
# with ``tl.max``, and a note says that this changes the meaning of the kernel if the block has
# several values.

_NOTE = (
    "tl.max uses the largest value of the block as the bound; the bound stays the same only for a"
    " block of one value"
)


def scalar_loop_bounds(faulty: FailingKernel) -> Iterator[Proposal]:
    """Propose the kernel with scalar loads, and then with reduced bounds."""
    code = Code.of(faulty.text, faulty.function)
    loads = code.collect(partial(_scalar, code))
    if loads:
        yield Proposal(text=code.replace_nodes(loads))
    single = {node: new for node, new in loads.items() if node in _before_loop(code, faulty)}
    if single and len(single) < len(loads):
        yield Proposal(text=code.replace_nodes(single))
    for loop in _failing_loops(code, faulty):
        yield from _reduce_bounds(code, loop)


def _scalar(code: Code, function: cst.FunctionDef, node: cst.CSTNode) -> cst.CSTNode | None:
    """Return ``tl.load(p)`` for ``tl.load(p + tl.arange(0, 1))``: the one address as a scalar."""
    if code.language.called_name(node) != "load" or not isinstance(node, cst.Call) or not node.args:
        return None
    pointer = node.args[0].value
    without = _without_range(code, function, pointer)
    if without is None:
        return None
    return node.with_changes(args=[node.args[0].with_changes(value=without), *node.args[1:]])


def _without_range(
    code: Code, function: cst.FunctionDef, node: cst.BaseExpression
) -> cst.BaseExpression | None:
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Add):
        return None
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if _is_single(code, function, one):
            return other
    for side in ("left", "right"):
        inner = _without_range(code, function, getattr(node, side))
        if inner is not None:
            return node.with_changes(**{side: inner})
    return None


def _is_single(code: Code, function: cst.FunctionDef, node: cst.BaseExpression) -> bool:
    """Whether a node is ``tl.arange(0, 1)``, or a name that is only ever bound to that."""
    if isinstance(node, cst.Name):
        bindings = [binding for binding in walk(function) if _binds(binding, node.value)]
        only = bindings[0] if len(bindings) == 1 else None
        return (
            isinstance(only, cst.Assign)
            and not isinstance(only.value, cst.Name)
            and _is_single(code, function, only.value)
        )
    if (
        code.language.called_name(node) != "arange"
        or not isinstance(node, cst.Call)
        or len(node.args) != 2
    ):
        return False
    return [literal(arg.value) for arg in node.args] == [0, 1]


def _binds(node: cst.CSTNode, name: str) -> bool:
    if isinstance(node, cst.Param):
        return node.name.value == name
    return any(name in names_in(target) for target, _ in bound_targets(node))


def _before_loop(code: Code, faulty: FailingKernel) -> set[cst.CSTNode]:
    """Return all nodes of the functions that contain a failing loop."""
    loops = set(_failing_loops(code, faulty))
    return {
        node
        for function in code.reachable
        if loops & set(walk(function))
        for node in walk(function)
    }


def _failing_loops(code: Code, faulty: FailingKernel) -> list[cst.For]:
    """Return the innermost loop that the failure is about, or all loops if it is unknown."""
    here = [node for node in nodes_at(code.module, faulty.failure) if isinstance(node, cst.For)]
    return here[-1:] or [
        node for function in code.reachable for node in walk(function) if isinstance(node, cst.For)
    ]


def _reduce_bounds(code: Code, loop: cst.For) -> Iterator[Proposal]:
    """Propose the loop with some of its bounds reduced."""
    if not isinstance(loop.iter, cst.Call) or not (
        dotted_name(loop.iter.func) == "range" or code.language.called_name(loop.iter) == "range"
    ):
        return
    bounds = [arg.value for arg in loop.iter.args if not arg.keyword and literal(arg.value) is None]
    reduced: dict[cst.CSTNode, cst.CSTNode] = {bound: _maximum(code, bound) for bound in bounds}
    for some in [*({name: new} for name, new in reduced.items()), reduced]:
        if some:
            yield Proposal(text=code.replace_nodes(some), notes=(_NOTE,))


def _maximum(code: Code, node: cst.BaseExpression) -> cst.BaseExpression:
    return cst.parse_expression(f"{code.language.name}.max({code.code_for(node)}, 0)")


# --- a variable that enters a loop with one type and leaves an iteration with another gets one type

# First, its value before the loop gets the type that the loop gives it, which loses nothing if that
# type is wider. Then, the values that the loop assigns are converted back to the type before the
# loop. A note says so, because the conversion may round.

_CARRIED = lazy_pattern(r"[Ll]oop[- ]carried variable (?P<name>\w+)")
_TYPE = lazy_pattern(
    r"(?:re-?assigned to|stays consistent.*?to|but (?:is|was)|of type|with"
    r" type)\s+(?:<\[.*?\],\s*)?(?:tl\.)?(?P<type>[a-z]+\d+\w*)"
)
_DTYPES = {"fp16": "float16", "fp32": "float32", "fp64": "float64", "bf16": "bfloat16"}
_DTYPES |= {f"i{bits}": f"int{bits}" for bits in (1, 8, 16, 32, 64)} | {
    f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)
}
_ROUNDS = (
    "{name} keeps the type that it has before the loop; the values of the loop are converted to it,"
    " which may round them"
)


def types_kept_in_loops(faulty: FailingKernel) -> Iterator[Proposal]:
    """Propose the kernel with one type for the variable."""
    match = _CARRIED.search(faulty.failure.excerpt)
    if match is None:
        return
    code, name = Code.of(faulty.text, faulty.function), match["name"]
    loops = _loops_assigning(code, faulty, name)
    types = [
        _DTYPES[name]
        for name in _TYPE.findall(faulty.failure.excerpt.replace("'", ""))
        if name in _DTYPES
    ]
    for loop, function in loops:
        inside = [node for node in walk(loop.body) if _assigns(node, name)]
        earlier = takewhile(lambda node, loop=loop: node is not loop, walk(function.body))  # type: ignore[misc]
        before = [node for node in earlier if _assigns(node, name)]
        for dtype in dict.fromkeys([*reversed(types), "float32", "int64"]):
            if before:
                last, full = before[-1], f"{code.language.name}.{dtype}"
                new = _convert_value(code, last, full, before=True)
                yield Proposal(text=code.replace_nodes({last: new}))
        if inside:
            back = {
                node: _convert_value(code, node, f"{name}.dtype", before=False) for node in inside
            }
            yield Proposal(text=code.replace_nodes(back), notes=(_ROUNDS.format(name=name),))


def _loops_assigning(
    code: Code, faulty: FailingKernel, name: str
) -> list[tuple[cst.For | cst.While, cst.FunctionDef]]:
    """Return the loops that assign the variable, first the one that the failure is about."""
    loops = [
        (node, function)
        for function in code.reachable
        for node in walk(function)
        if isinstance(node, cst.For | cst.While)
        and any(_assigns(inner, name) for inner in walk(node.body))
    ]
    here = set(nodes_at(code.module, faulty.failure))
    return sorted(loops, key=lambda pair: pair[0] not in here)


def _assigns(node: cst.CSTNode, name: str) -> bool:
    """Whether a statement assigns the variable, and no other."""
    targets: list[cst.BaseExpression] = []
    if isinstance(node, cst.Assign):
        targets = [target.target for target in node.targets]
    elif isinstance(node, cst.AugAssign):
        targets = [node.target]
    return len(targets) == 1 and isinstance(targets[0], cst.Name) and targets[0].value == name


def _convert_value(code: Code, node: cst.CSTNode, dtype: str, *, before: bool) -> cst.CSTNode:
    assert isinstance(node, cst.Assign | cst.AugAssign)
    text = code.code_for(node.value)
    if isinstance(node.value, cst.Integer) and before and dtype.endswith(".float32"):
        return node.with_changes(value=cst.Float(f"{literal(node.value)}.0"))
    if isinstance(node.value, cst.Integer | cst.Float | cst.UnaryOperation) and before:
        return node.with_changes(
            value=cst.parse_expression(f"{code.language.name}.full((), {text}, {dtype})")
        )
    dtypes = [argument for argument in getattr(node.value, "args", ()) if _is_dtype(code, argument)]
    if before and dtypes:
        return node.with_changes(
            value=node.value.deep_replace(dtypes[0].value, cst.parse_expression(dtype))
        )
    return node.with_changes(value=cst.parse_expression(f"{parenthesize(text)}.to({dtype})"))


def _is_dtype(code: Code, argument: cst.Arg) -> bool:
    return code.language.member(argument.value) in _DTYPES.values()
