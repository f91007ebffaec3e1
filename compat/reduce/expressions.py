"""Edits of expressions, and of the specialization.

Edits of the text replace an expression by a part of it, a value by a number, and a number by a
smaller one, and drop arguments. Edits of the specialization drop parameters, hints and options, and
use smaller constexprs and plainer types. Other edits shorten names.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from compat.model import arguments
from compat.reduce import module
from compat.reduce.candidate import DROP, Candidate, Edit, Fact, Nodes
from compat.source.parsing import defaults_of, named_parameters

T = TypeVar("T")

_FEW = (0, 1, 16)
"""The replacements for a number in one place; 16 is the minimum for a product of matrices."""
_POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

_LONG = 12
"""The maximum number of letters of a local name; longer names are shortened."""

_TABLES = ("signature", "launch", "constexprs")

_NUMBERS = (1, 16)
"""The numbers that replace a larger one in a launch: 1 is folded, and 16 is divisible by 16."""

KERNEL = "kernel"
"""The final name of a kernel with a longer name."""


def keywords(candidate: Candidate) -> Iterator[Edit]:
    """Drop one keyword argument of a call: masks, ``other=``, ``axis=``, cache hints."""
    for place, node in _sites(candidate):
        if isinstance(node, ast.Call):
            for number, keyword in enumerate(node.keywords):
                yield Edit(what=f"without {keyword.arg} {number} {place}", nodes={keyword: ()})


def elements(candidate: Candidate) -> Iterator[Edit]:
    """Drop one positional argument of a call, or one element of a tuple or list."""
    for place, node in _sites(candidate):
        elements = (
            node.args
            if isinstance(node, ast.Call)
            else node.elts
            if isinstance(node, ast.Tuple | ast.List)
            else []
        )
        for number, element in reversed(list(enumerate(elements))):
            yield Edit(what=f"argument {number} {place}", nodes={element: ()})


def hoist(candidate: Candidate) -> Iterator[Edit]:
    """Replace an expression by one of its operands, arguments or elements.

    The heaviest expressions come first.
    """
    for place, node in sorted(_sites(candidate), key=lambda site: -len(site[0])):
        for number, part in enumerate(_parts(node, candidate.language.modules)):
            yield Edit(what=f"part {number} {place}", nodes={node: (part,)})


def _parts(node: ast.expr, modules: Container[str]) -> Iterator[ast.expr]:
    if isinstance(node, ast.Attribute):
        children: list[ast.expr] = [node.value] if not isinstance(node.value, ast.Name) else []
    elif isinstance(node, ast.Call):
        method = (
            isinstance(node.func, ast.Attribute)
            and getattr(node.func.value, "id", "") not in modules
        )
        # `x` of `x.to(…)`.
        owner = [node.func.value] if isinstance(node.func, ast.Attribute) and method else []
        children = [*owner, *node.args, *(keyword.value for keyword in node.keywords)]
    else:
        children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    yield from (child for child in children if not isinstance(child, ast.Slice | ast.Starred))


def values(candidate: Candidate) -> Iterator[Edit]:
    """Replace an expression by a simple value.

    The value has the same shape and element type if these can be determined. Otherwise it is zero.
    """
    values_of = candidate.language.values(candidate.kernel.body, candidate.compile)
    for place, node in sorted(_sites(candidate), key=lambda site: -len(site[0])):
        for number, value in enumerate(values_of(node)):
            if ast.dump(value) != ast.dump(node):
                yield Edit(what=f"value {number} {place}", nodes={node: (value,)})


def literals(candidate: Candidate) -> Iterator[Edit]:
    """Replace whole numbers by smaller ones, the smallest first.

    Each number is replaced everywhere at once, and then in one place.
    """
    sites = [
        (place, node)
        for place, node in _sites(candidate)
        if isinstance(node, ast.Constant) and type(node.value) is int
    ]
    for large in sorted(
        {node.value for _, node in sites if isinstance(node.value, int)}, reverse=True
    ):
        same = [node for _, node in sites if node.value == large]
        for small in (few for few in (0, *_POWERS) if few < large):
            yield Edit(
                what=f"{small} for every {large}", nodes=dict.fromkeys(same, (ast.Constant(small),))
            )
    for place, node in sites:
        assert isinstance(node.value, int)
        for small in (few for few in _FEW if few < node.value):
            yield Edit(what=f"{small} {place}", nodes={node: (ast.Constant(small),)})


def _sites(candidate: Candidate) -> Iterator[tuple[str, ast.expr]]:
    """Yield every expression that is read in a function's body, with its place in words."""
    for function in candidate.functions.values():
        for statement in function.body:
            for node, around in _expressions(statement):
                yield (
                    (
                        f"{function.name}: {ast.unparse(node)} in"
                        f" {ast.unparse(around).splitlines()[0]}"
                    ),
                    node,
                )


def _expressions(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.stmt]]:
    waiting: list[tuple[ast.AST, ast.stmt]] = [(statement, statement)]
    while waiting:
        node, around = waiting.pop(0)
        callee = node.func if isinstance(node, ast.Call) else None
        for child in ast.iter_child_nodes(node):
            inner = child if isinstance(child, ast.stmt) else around
            if child is callee and isinstance(child, ast.Name | ast.Attribute):
                if isinstance(child, ast.Attribute) and not isinstance(child.value, ast.Name):
                    waiting.append((child, inner))  # x.sum().to(…): the object of the method call
                continue
            if isinstance(child, ast.expr) and _is_value(child):
                yield child, inner
            if not (isinstance(child, ast.Attribute) and isinstance(child.value, ast.Name)):
                waiting.append((child, inner))


def _is_value(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and not isinstance(
        node, ast.Slice | ast.Starred
    )


# --- of the specialization, and names -------------------------------------------------------------


def unused_parameters(candidate: Candidate) -> Iterator[Edit]:
    """Drop a parameter that the kernel does not read, with its entry in the specialization.

    Also drop the defaults of parameters, and a method of a class that nothing calls.
    """
    for kernel in (candidate.kernel, *filter(None, [candidate.constructor])):
        if kernel.args.defaults:
            yield Edit(what="all defaults", nodes=dict.fromkeys(kernel.args.defaults, ()))
        read = set().union(*(module.loaded_names(statement) for statement in kernel.body))
        for argument in kernel.args.args:
            if argument.arg not in read and not _is_object(candidate, argument):
                drops: dict[Fact, object] = {(table, argument.arg): DROP for table in _TABLES}
                nodes = _without(argument, kernel.args)
                yield Edit(what=f"parameter {argument.arg}", nodes=nodes, facts=drops)
    attributes = [node for node in ast.walk(candidate.tree) if isinstance(node, ast.Attribute)]
    called = {
        node.attr
        for node in attributes
        if ast.unparse(node.value) in ("self", "cls", candidate.function)
    }
    for name, method in (
        module.methods(candidate.holder).items() if candidate.holder is not None else ()
    ):
        is_empty = all(isinstance(statement, ast.Pass) for statement in method.body)
        if method.name not in called and (
            not method.name.startswith("__") or (is_empty and len(method.args.args) == 1)
        ):
            yield Edit(what=f"method {name}", nodes={method: ()})


def _without(argument: ast.arg, arguments: ast.arguments) -> Nodes:
    """Drop a parameter and its default."""
    default = defaults_of(arguments).get(argument.arg)
    return dict.fromkeys((argument, *filter(None, [default])), ())


def _is_object(candidate: Candidate, argument: ast.arg) -> bool:
    """Whether a parameter is the object of a method, such as ``self``."""
    methods = (candidate.kernel, candidate.constructor) if candidate.holder is not None else ()
    return any(method is not None and argument is method.args.args[0] for method in methods)


def hints(candidate: Candidate) -> Iterator[Edit]:
    """Drop a hint."""
    for table, names in candidate.compile.hints.items():
        for name in names:
            yield Edit(what=f"hint {table} {name}", facts={(table, name): DROP})


def options(candidate: Candidate) -> Iterator[Edit]:
    """Drop a compile option, or use a smaller number for it."""
    for name, value in candidate.compile.options.items():
        yield Edit(what=f"option {name}", facts={("options", name): DROP})
        for small in _smaller(value):
            yield Edit(what=f"option {name}={small}", facts={("options", name): small})


def constexprs(candidate: Candidate) -> Iterator[Edit]:
    """Replace numbers of constexprs by smaller ones, the smallest first.

    All equal constexprs are changed at once, and then each alone.
    """
    numbers = {
        name: value for name, value in candidate.compile.constexprs.items() if type(value) is int
    }
    for names, value in _together(numbers, sorted(set(numbers.values()), reverse=True)):
        for small in _smaller(value):
            yield Edit(
                what=f"{', '.join(names)}={small}",
                facts={("constexprs", name): small for name in names},
            )


def inline_constexprs(candidate: Candidate) -> Iterator[Edit]:
    """Replace a constexpr by its value, and drop the parameter."""
    kernel = candidate.kernel
    assigned = set().union(*(module.assigned_names(statement) for statement in kernel.body))
    for argument in kernel.args.args:
        name = argument.arg
        value = candidate.compile.constexprs.get(name, ...)
        if name not in candidate.compile.constexprs and candidate.holder is not None:
            continue
        if name in assigned or not isinstance(value, int | float | str | None):
            continue
        uses = [
            n
            for statement in kernel.body
            for n in ast.walk(statement)
            if isinstance(n, ast.Name) and n.id == name
        ]
        nodes: Nodes = {use: (ast.Constant(value),) for use in uses}
        drops: dict[Fact, object] = {(table, name): DROP for table in _TABLES}
        nodes = {**nodes, **_without(argument, kernel.args)}
        yield Edit(what=f"inline {name}={value!r}", nodes=nodes, facts=drops)


def types(candidate: Candidate) -> Iterator[Edit]:
    """Use plainer types: for all arguments of one type at once, then for each."""
    types = {
        name: kind for name, kind in candidate.compile.signature.items() if isinstance(kind, str)
    }
    for names, kind in _together(types, dict.fromkeys(types.values())):
        for plainer in (
            *_plainer(kind, candidate.language.argument_types),
            *candidate.language.plainer_types(kind),
        ):
            yield Edit(
                what=f"{', '.join(names)}: {plainer}",
                facts={("signature", name): plainer for name in names},
            )


def _together(values: Mapping[str, T], order: Iterable[T]) -> Iterator[tuple[Sequence[str], T]]:
    """Yield the names that share a value, if they are several, in the order of the values.

    Then yield each name alone.
    """
    for value in order:
        if len(same := [name for name, other in values.items() if other == value]) > 1:
            yield same, value
    yield from (([name], value) for name, value in values.items())


def simplify_arguments(candidate: Candidate) -> Iterator[Edit]:
    """Pass plainer arguments at a launch.

    Tensors become aligned, small, and of plainer types. Numbers become small.
    """
    for name, value in candidate.compile.launch.items():
        for plainer in _plainer_argument(value, candidate.language.argument_types):
            yield Edit(
                what=f"{name}={arguments.argument_text(plainer)}", facts={("launch", name): plainer}
            )


def drop_annotations(candidate: Candidate) -> Iterator[Edit]:
    """Drop the annotation of a parameter, if the kernel is compiled for a launch."""
    for argument in named_parameters(candidate.kernel.args) if candidate.compile.launch else ():
        if argument.annotation is not None and argument.arg in candidate.compile.launch:
            bare = ast.arg(argument.arg)
            yield Edit(what=f"annotation of {argument.arg}", nodes={argument: (bare,)})


def _plainer_argument(value: object, plain: Sequence[str]) -> Iterator[object]:
    if arguments.is_tensor(value):
        dtype = arguments.dtype_of(value)
        if value != (usual := arguments.tensor(dtype)):
            yield usual
        yield from (
            arguments.tensor(plainer, **arguments.facts_of(value))
            for plainer in _plainer(dtype, plain)
        )
    elif type(value) is int:
        yield from (number for number in _NUMBERS if number < value)


def element_types(candidate: Candidate) -> Iterator[Edit]:
    """Use plainer element types where the text names one, such as ``tl.float16``."""
    plain = candidate.language.element_types
    for node in ast.walk(candidate.tree):
        if isinstance(node, ast.Attribute) and node.attr in plain:
            for plainer in plain[: plain.index(node.attr)]:
                changed = ast.Attribute(node.value, plainer, ast.Load())
                yield Edit(
                    what=f"{plainer} for {node.attr} in line {node.lineno}",
                    nodes={node: (changed,)},
                )


def names(candidate: Candidate) -> Iterator[Edit]:
    """Use short names: ``kernel`` for the function, and few letters for local names.

    Parameters keep their names, because these show which arguments are passed.
    """
    kernel = candidate.kernel
    used = {name for node in ast.walk(candidate.tree) for name in _names_in(node)}
    if KERNEL not in used and len(candidate.function) > len(KERNEL) and candidate.holder is None:
        renamed = ast.FunctionDef(**{**dict(ast.iter_fields(kernel)), "name": KERNEL})
        yield Edit(what="name of the kernel", nodes={kernel: (renamed,)}, function=KERNEL)
    for function in candidate.functions.values():
        for name in sorted(module.assigned_names(function) - set(module.parameters(function))):
            short = next((s for s in _shorter_names(name) if s not in used), None)
            if short:
                places = [
                    node
                    for node in ast.walk(function)
                    if isinstance(node, ast.Name) and node.id == name
                ]
                nodes: Nodes = {node: (ast.Name(short, node.ctx),) for node in places}
                yield Edit(what=f"{function.name}: {short} for {name}", nodes=nodes)


def _shorter_names(name: str) -> Iterator[str]:
    bare = name.strip("_")
    if len(bare) > _LONG:
        yield "".join(part[0] for part in bare.split("_") if part)
        yield bare[0]
    if bare != name:
        yield bare


def _names_in(node: ast.AST) -> Iterator[str]:
    for field in ("id", "arg", "name", "asname"):
        if isinstance(value := getattr(node, field, None), str):
            yield value


def _smaller(value: object) -> list[int]:
    return [small for small in _POWERS if small < value] if type(value) is int else []


def _plainer(kind: str, plain: Sequence[str]) -> list[str]:
    pointer, element = kind[: kind.startswith("*")], kind.removeprefix("*")
    if element.startswith("k"):  # a pointer to read-only data
        return [pointer + element.removeprefix("k")]
    return (
        [pointer + simpler for simpler in plain[: plain.index(element)]] if element in plain else []
    )
