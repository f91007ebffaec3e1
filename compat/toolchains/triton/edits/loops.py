"""Edits of loops: scalar bounds, and variables that have one type before the loop and in it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from compat.text import lazy_pattern
from compat.toolchains.language import Faulty, Proposal
from compat.toolchains.triton.edits.code import Code, dotted, literal, names_in, nodes_at, parenthesized, replace, walk

# --- a loop that is bounded by a block gets a scalar --------------------------------------------------------------------------

# A block of one element that is loaded through ``tl.arange(0, 1)`` is loaded through the pointer itself, which is the same number.
# Where the bound is not known to be such a block, it is reduced with ``tl.max``, and it is said that this changes what the kernel
# means if the block has several values.

_NOTE = "tl.max takes the greatest of the block's values for the bound; only for a block of one value that is the same bound"


def scalar_loop_bounds(faulty: Faulty) -> Iterator[Proposal]:
    """The kernel with scalar loads, and then with reduced bounds."""
    code = Code.of(faulty.text, faulty.function)
    loads = {
        node: new for function in code.reachable for node in walk(function) if (new := _scalar(code, function, node)) is not None
    }
    if loads:
        yield Proposal(text=replace(code.module, dict(loads)).code)
    single = {node: new for node, new in loads.items() if node in _before_loop(code, faulty)}
    if single and len(single) < len(loads):
        yield Proposal(text=replace(code.module, dict(single)).code)
    for loop in _failing_loops(code, faulty):
        yield from _reduced(code, loop)


def _scalar(code: Code, function: cst.FunctionDef, node: cst.CSTNode) -> cst.CSTNode | None:
    """``tl.load(p + tl.arange(0, 1))`` → ``tl.load(p)``: the one address as a scalar."""
    if code.language.called(node) != "load" or not isinstance(node, cst.Call) or not node.args:
        return None
    pointer = node.args[0].value
    without = _without_range(code, function, pointer)
    if without is None:
        return None
    return node.with_changes(args=[node.args[0].with_changes(value=without), *node.args[1:]])


def _without_range(code: Code, function: cst.FunctionDef, node: cst.BaseExpression) -> cst.BaseExpression | None:
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
    """``tl.arange(0, 1)``, or a name that is only ever bound to that."""
    if isinstance(node, cst.Name):
        bound = [binding for binding in walk(function) if _binds(binding, node.value)]
        only = bound[0] if len(bound) == 1 else None
        return isinstance(only, cst.Assign) and not isinstance(only.value, cst.Name) and _is_single(code, function, only.value)
    if code.language.called(node) != "arange" or not isinstance(node, cst.Call) or len(node.args) != 2:
        return False
    return [literal(arg.value) for arg in node.args] == [0, 1]


def _binds(node: cst.CSTNode, name: str) -> bool:
    if isinstance(node, cst.Param):
        return node.name.value == name
    targets = [target.target for target in node.targets] if isinstance(node, cst.Assign) else []
    targets += [node.target] if isinstance(node, cst.AugAssign | cst.AnnAssign | cst.For) else []
    return any(name in set(names_in(target)) for target in targets)


def _before_loop(code: Code, faulty: Faulty) -> set[cst.CSTNode]:
    """What stands in the functions whose loop fails."""
    loops = set(_failing_loops(code, faulty))
    return {node for function in code.reachable if loops & set(walk(function)) for node in walk(function)}


def _failing_loops(code: Code, faulty: Faulty) -> list[cst.For]:
    """The innermost loop that the failure is about; all loops where that is not known."""
    here = [node for node in nodes_at(code.module, faulty.failure) if isinstance(node, cst.For)]
    return here[-1:] or [node for function in code.reachable for node in walk(function) if isinstance(node, cst.For)]


def _reduced(code: Code, loop: cst.For) -> Iterator[Proposal]:
    """The loop with some of its bounds reduced."""
    if not isinstance(loop.iter, cst.Call) or not (dotted(loop.iter.func) == "range" or code.language.called(loop.iter) == "range"):
        return
    bounds = [arg.value for arg in loop.iter.args if not arg.keyword and literal(arg.value) is None]
    reduced: dict[cst.CSTNode, cst.CSTNode] = {bound: _maximum(code, bound) for bound in bounds}
    for some in [*({name: new} for name, new in reduced.items()), reduced]:
        if some:
            yield Proposal(text=replace(code.module, some).code, notes=(_NOTE,))


def _maximum(code: Code, node: cst.BaseExpression) -> cst.BaseExpression:
    return cst.parse_expression(f"{code.language.name}.max({code.code_for(node)}, 0)")


# --- a variable that enters a loop with one type and leaves an iteration with another gets one type ---------------------------

# First its value before the loop is made of the type that the loop gives it, which loses nothing where that one is wider; then what
# the loop assigns is converted back to the type that it has before, which is said, since it may round.

_SAID = lazy_pattern(r"[Ll]oop[- ]carried variable (?P<name>\w+)")
_TYPE = lazy_pattern(
    r"(?:re-?assigned to|stays consistent.*?to|but (?:is|was)|of type|with type)\s+(?:<\[.*?\],\s*)?(?:tl\.)?(?P<type>[a-z]+\d+\w*)"
)
_DTYPES = {"fp16": "float16", "fp32": "float32", "fp64": "float64", "bf16": "bfloat16"}
_DTYPES |= {f"i{bits}": f"int{bits}" for bits in (1, 8, 16, 32, 64)} | {f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)}
_ROUNDS = "{name} keeps the type that it has before the loop: what the loop computes is converted to it, which may round"


def types_kept_in_loops(faulty: Faulty) -> Iterator[Proposal]:
    """The kernel with the variable of one type."""
    match = _SAID.search(faulty.failure.excerpt)
    if match is None:
        return
    code, name = Code.of(faulty.text, faulty.function), match["name"]
    loops = _loops_assigning(code, faulty, name)
    types = [_DTYPES[name] for name in _TYPE.findall(faulty.failure.excerpt.replace("'", "")) if name in _DTYPES]
    for loop, function in loops:
        inside = [node for node in walk(loop.body) if _assigns(node, name)]
        before = [node for node in walk(function.body) if _assigns(node, name) and node not in set(walk(loop))]
        for dtype in dict.fromkeys([*reversed(types), "float32", "int64"]):
            if before:
                last = before[-1]
                yield Proposal(
                    text=replace(code.module, {last: _converted(code, last, f"{code.language.name}.{dtype}", before=True)}).code
                )
        if inside:
            back = {node: _converted(code, node, f"{name}.dtype", before=False) for node in inside}
            yield Proposal(text=replace(code.module, dict(back)).code, notes=(_ROUNDS.format(name=name),))


def _loops_assigning(code: Code, faulty: Faulty, name: str) -> list[tuple[cst.For | cst.While, cst.FunctionDef]]:
    """Loops that assign the variable, the one that the failure is about first."""
    loops = [
        (node, function)
        for function in code.reachable
        for node in walk(function)
        if isinstance(node, cst.For | cst.While) and any(_assigns(inner, name) for inner in walk(node.body))
    ]
    here = set(nodes_at(code.module, faulty.failure))
    return sorted(loops, key=lambda pair: pair[0] not in here)


def _assigns(node: cst.CSTNode, name: str) -> bool:
    """Whether a statement gives the variable a value, and nothing else one."""
    if isinstance(node, cst.Assign):
        return len(node.targets) == 1 and isinstance(node.targets[0].target, cst.Name) and node.targets[0].target.value == name
    return isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Name) and node.target.value == name


def _converted(code: Code, node: cst.CSTNode, dtype: str, *, before: bool) -> cst.CSTNode:
    assert isinstance(node, cst.Assign | cst.AugAssign)
    text = code.code_for(node.value)
    if isinstance(node.value, cst.Integer) and before and dtype.endswith(".float32"):
        return node.with_changes(value=cst.Float(f"{text}.0"))
    if isinstance(node.value, cst.Integer | cst.Float | cst.UnaryOperation) and before:
        return node.with_changes(value=cst.parse_expression(f"{code.language.name}.full((), {text}, {dtype})"))
    dtypes = [argument for argument in getattr(node.value, "args", ()) if _is_dtype(code, argument)]
    if before and dtypes:
        return node.with_changes(value=node.value.deep_replace(dtypes[0].value, cst.parse_expression(dtype)))
    return node.with_changes(value=cst.parse_expression(f"{parenthesized(text)}.to({dtype})"))


def _is_dtype(code: Code, argument: cst.Arg) -> bool:
    return code.language.member(argument.value) in _DTYPES.values()
