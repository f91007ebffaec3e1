"""Edits of constexprs: parameters that become one, and values in the kernel file that are too small for a dot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from compat.toolchains.edits import Faulty, Proposal
from compat.toolchains.triton.edits.code import Code, names_in, nodes_at, replace, walk

# --- a parameter that has to be known when the kernel is compiled -------------------------------------------------------------

# It gets ``tl.constexpr``, and its value in the kernel file. Only parameters for which a value is known are proposed: those with a
# default, and those that the kernel file gives a value. A parameter of a function that the kernel calls needs none, where what it
# is given is a constexpr already.


def constexprs_annotated(faulty: Faulty) -> Iterator[Proposal]:
    """The kernel with one annotation more, and then with one for every parameter that the failing statement uses."""
    code = Code.of(faulty.text, faulty.function)
    parameters = [parameter for parameter in _used(code, faulty) if parameter.annotation is None]
    changes = [(_annotating(code, parameter), _values(code, faulty, parameter)) for parameter in parameters]
    for changed, values in changes:
        if values is not None:
            yield Proposal(text=replace(code.module, changed).code, constexprs=values)
    answered = [(changed, values) for changed, values in changes if values is not None]
    if len(answered) > 1:
        together = {old: new for changed, _ in answered for old, new in changed.items()}
        yield Proposal(
            text=replace(code.module, together).code, constexprs={k: v for _, values in answered for k, v in values.items()}
        )


def _used(code: Code, faulty: Faulty) -> Iterator[cst.Param]:
    """Parameters of a function whose names the failing statement has; of all statements where it is the call that fails."""
    for function in code.reachable:
        here = [node for node in nodes_at(code.module, faulty.failure) if node in set(walk(function.body))]
        names = set(names_in(here[-1])) if here else set()
        direct = [parameter for parameter in walk(function.params) if isinstance(parameter, cst.Param)]
        bound = _feeding(function, names)
        yield from (parameter for parameter in direct if parameter.name.value in bound)


def _feeding(function: cst.FunctionDef, names: set[str]) -> set[str]:
    """The names, and those that they are computed from."""
    feeding = set(names)
    for node in reversed([statement for statement in walk(function.body) if isinstance(statement, cst.Assign)]):
        targets = {name for target in node.targets for name in names_in(target.target)}
        if targets & feeding:
            feeding |= set(names_in(node.value))
    return feeding


def _annotating(code: Code, parameter: cst.Param) -> dict[cst.CSTNode, cst.CSTNode]:
    annotation = cst.Annotation(cst.parse_expression(f"{code.language.name}.constexpr"))
    spaced = (
        cst.AssignEqual(cst.SimpleWhitespace(" "), cst.SimpleWhitespace(" ")) if parameter.default is not None else parameter.equal
    )
    return {parameter: parameter.with_changes(annotation=annotation, equal=spaced)}


def _values(code: Code, faulty: Faulty, parameter: cst.Param) -> dict[str, object] | None:
    """What the kernel file has to say then; ``None`` where no value is known."""
    name = parameter.name.value
    kernel = code.definitions[code.function]
    if faulty.kernel not in (None, (faulty.file, faulty.function)):
        return {}  # of a function that the kernel calls
    if not any(node is parameter for node in walk(kernel.params)) or name in faulty.compile.constexprs:
        return {}
    if isinstance(faulty.compile.launch.get(name), int | float):  # what a launch passes is passed to a constexpr as well
        return {}
    if isinstance(parameter.default, cst.Integer | cst.Float):
        return {name: parameter.default.evaluated_value}
    return None


# --- blocks that are too small for ``tl.dot`` ---------------------------------------------------------------------------------

# Constexprs of the kernel file that are below 16 get 16, or 32 for 8-bit types. It is an edit of the case in the kernel file, not
# of the source, and changes how much of the problem one program computes.

_SIZES = (16, 32)
_NOTE = (
    "the case in the kernel file gets larger blocks: launch with the same values and the grid for them, and look whether "
    "every load and store of the kernel is masked beyond the tensors"
)


def larger_blocks(faulty: Faulty) -> Iterator[Proposal]:
    """One constexpr raised, two of them, …: as few as possible."""
    if "too small" not in faulty.failure.excerpt and "16" not in faulty.failure.excerpt and "M >=" not in faulty.failure.excerpt:
        return
    small = [name for name, value in faulty.compile.constexprs.items() if type(value) is int and 1 <= value < _SIZES[-1]]
    for size in _SIZES:
        for names in _subsets([name for name in small if faulty.compile.constexprs[name] < size]):
            yield Proposal(text=faulty.text, constexprs=dict.fromkeys(names, size), notes=(_NOTE,))


def _subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """One of the names, two, and all."""
    yield from ((name,) for name in names)
    yield from ((one, other) for number, one in enumerate(names) for other in names[number + 1 :])
    if len(names) > 2:
        yield tuple(names)
