"""What the launches in a source tell of a kernel's arguments: ``kernel[grid](x, out, x.stride(0), n, BLOCK=1024, num_warps=8)``.

The function around a launch is followed from its first statement to the launch, over tensors of assumed sizes (:mod:`tensors
<compat.guess.tensors>`): what it passes then fits together, as the arguments of a real launch do. Nothing of it runs.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from attrs import Factory, define, frozen

from compat.guess.jitted import JitFunction, Module
from compat.guess.literals import Scope
from compat.guess.pure import Unknown, items
from compat.guess.tensors import ATTRIBUTES, SIZE, Size, Tensor, size_by_name

_OPTIONS = ("num_warps", "num_stages", "maxnreg")
_WHOLE = {"stride", "size", "numel", "shape", "dim", "ndim"}
"""Attributes and methods of tensors that are whole numbers."""
_PLAIN = {"int", "float", "bool", "str"}
"""Annotations of what is no tensor."""


@frozen(kw_only=True)
class Launch:
    """What one launch passes, as far as it follows from literals and from the sizes that tensors are assumed to have."""

    line: int
    values: Mapping[str, Any]
    """Parameter → the number, text or dtype that it is given."""
    options: Mapping[str, Any]
    tensors: Mapping[str, Tensor]
    """Parameter → the tensor that it is given."""
    whole: frozenset[str] = Factory(frozenset)
    """Parameters that are given sizes or strides."""


def launches_of(
    function: JitFunction, module: Module, pointers: Collection[str], sizes: Mapping[str, int], usual: int = SIZE
) -> tuple[Launch, ...]:
    """The launches of a kernel in its own source, the one first of which the most is known.

    ``pointers`` are the parameters that are tensors, as far as that is known. ``sizes`` says what sizes of tensors are, by
    :attr:`~compat.guess.tensors.Size.key`; the others are ``usual``, or as
    :func:`~compat.guess.tensors.size_by_name` has them.
    """
    if not module.launches.get(function.name):
        return ()
    found: dict[int, Launch] = {}
    for around in dict.fromkeys(around for around, _ in module.launches[function.name]):
        for launch in _Wrapper(around, function, module, pointers, sizes, usual).launches():
            before = found.get(launch.line)
            if before is None or len(before.values) + len(before.tensors) < len(launch.values) + len(launch.tensors):
                found[launch.line] = launch
    return tuple(sorted(found.values(), key=lambda each: -len(each.values) - len(each.tensors)))


@define
class _Axes:
    """What is done with the axes of a tensor."""

    rank: int = 0
    """How many there are; 0 where nothing says it."""
    used: int = 1
    """How many there are at least, by those that sizes and strides are asked of."""
    names: dict[int, str] = Factory(dict)
    """Axis, perhaps counted from the end, → what its size is called."""

    def use(self, axis: int | None) -> None:
        """The size or the stride of an axis is asked for."""
        if axis is not None:
            self.used = max(self.used, axis + 1 if axis >= 0 else -axis)

    def label(self, axis: int, rank: int) -> str:
        """What the size of an axis is called; empty where it has no name."""
        return self.names.get(axis) or self.names.get(axis - rank) or ""


@define
class _Wrapper:
    """A function that launches, followed in order."""

    node: ast.FunctionDef
    kernel: JitFunction
    module: Module
    pointers: Collection[str]
    sizes: Mapping[str, int]
    usual: int
    _scope: Scope = Factory(lambda self: Scope(self.module.scope.module, self.module.scope.imports), takes_self=True)
    _tensors: dict[str, Tensor] = Factory(dict)
    _found: list[Launch] = Factory(list)

    def launches(self) -> list[Launch]:
        """Every launch in it, as it is reached."""
        self._tensors = self._used_as_tensors()
        arguments = self.node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = dict(zip([each.arg for each in positional][::-1], arguments.defaults[::-1], strict=False))
        defaults |= {each.arg: value for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value}
        for each in (*positional, *arguments.kwonlyargs):
            known, value = self._scope.try_value(defaults.get(each.arg))
            if each.arg in self._tensors:
                self._scope.local[each.arg] = self._tensors[each.arg]
            elif known and value is not None:
                self._scope.local[each.arg] = value
        self._follow(self.node.body)
        return self._found

    # --- tensors of the caller ---

    def _used_as_tensors(self) -> dict[str, Tensor]:
        """The names that are used as only tensors are, or passed where the kernel has a pointer, with shapes that fit their use."""
        plain = {each.arg for each in self.node.args.args if isinstance(each.annotation, ast.Name) and each.annotation.id in _PLAIN}
        names: dict[str, None] = {}
        for node in ast.walk(self.node):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in ATTRIBUTES:
                names[node.value.id] = None
            elif isinstance(node, ast.Call) and self._is_launch(node):
                given = self._given(node)
                names |= {value.id: None for name, value in given.items() if name in self.pointers and isinstance(value, ast.Name)}
        imported = self.module.scope.imports
        uses = {name: self._axes(name) for name in names if name not in plain and name not in imported}
        shapes = {name: self._shape(each, list(uses.values())) for name, each in uses.items()}
        return {name: Tensor.contiguous(shape, origin=name) for name, shape in shapes.items()}

    def _axes(self, name: str) -> _Axes:
        """What the function does with the axes of a tensor."""
        found = _Axes()
        for node in ast.walk(self.node):
            match node:
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value) if _size_of(value, name) == ():
                    found.rank = max(found.rank, len(targets))
                    for axis, target in enumerate(reversed(targets), 1):
                        if isinstance(target, ast.Name) and target.id != "_":
                            found.names.setdefault(-axis, target.id)
                case ast.Assign(targets=[ast.Name(id=target)], value=value) if (at := _axis(value, name)) is not None:
                    found.names.setdefault(at, target)
                case ast.Call(func=ast.Attribute(attr="stride", value=ast.Name(id=used))) if used == name:
                    found.use(1)  # nobody asks for the only stride of a row
                    found.use(_literal(node.args[0]) if node.args else None)
                case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])) if _is_rank(left, name):
                    found.rank = max(found.rank, _literal(right) or 0)
            if isinstance(node, ast.expr):
                found.use(_axis(node, name))
        return found

    def _shape(self, axes: _Axes, others: Sequence[_Axes]) -> list[int]:
        """The sizes of a tensor. What its uses leave open is as with another tensor that is used alike: the rank, names of axes."""
        rank = axes.rank or max((each.rank for each in others if each.used == axes.used), default=0)
        rank = max(rank, axes.used)
        found: list[int] = []
        for axis in range(rank):
            alike = (label for each in others if max(each.rank, each.used) == rank > 1 and (label := each.label(axis, rank)))
            label = axes.label(axis, rank) or next(alike, "")
            key, value = (label, size_by_name(label, self.usual)) if label else (f"shape[{axis}] of {rank}", self.usual)
            found.append(Size.of(key, self.sizes.get(key, value)))
        return found

    # --- statements ---

    def _follow(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.FunctionDef(body=body):
                before = dict(self._scope.local)
                self._follow(body)
                self._scope.local = before
                return
            case ast.If(test=test, body=body, orelse=otherwise):
                self._branch(test, body, otherwise)
                return
            case ast.For(body=body, orelse=otherwise) | ast.While(body=body, orelse=otherwise):
                self._follow([*body, *otherwise])
                return
            case ast.With(body=body):
                self._follow(body)
                return
            case ast.Try(body=body, orelse=otherwise, finalbody=final):
                self._follow([*body, *otherwise, *final])
                return
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and self._is_launch(node):
                self._found.append(self._launch(node))
        match statement:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, *self._scope.try_value(value))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, *self._scope.try_value(value))
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                old = ast.copy_location(ast.Name(id=name, ctx=ast.Load()), target)
                self._bind(target, *self._scope.try_value(ast.BinOp(left=old, op=op, right=value)))

    def _branch(self, test: ast.expr, body: Sequence[ast.stmt], otherwise: Sequence[ast.stmt]) -> None:
        """One way where a condition is known, else both: what the first says of a name counts, unless it ends there."""
        known, value = self._scope.try_value(test)
        before = dict(self._scope.local)
        if known:
            taken, other = (body, otherwise) if value else (otherwise, body)
            self._follow(taken)
            after, self._scope.local = self._scope.local, before
            self._follow(other)  # for its launches alone
            self._scope.local = after
            return
        self._follow(body)
        first, self._scope.local = self._scope.local, before
        self._follow(otherwise)
        if not (body and isinstance(body[-1], ast.Raise | ast.Return | ast.Continue | ast.Break)):
            self._scope.local |= {name: value for name, value in first.items() if value is not None}

    def _bind(self, target: ast.expr, known: bool, value: Any) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            try:
                parts = items(value) if known else []
            except Unknown:
                parts = []
            is_whole = known and len(parts) == len(target.elts)
            for index, each in enumerate(target.elts):
                self._bind(each, is_whole, parts[index] if is_whole else None)
        elif isinstance(target, ast.Name):
            if known:
                self._scope.local[target.id] = value
            elif target.id in self._tensors:
                self._scope.local[target.id] = self._tensors[target.id]
            else:
                self._scope.local.pop(target.id, None)

    # --- launches ---

    def _is_launch(self, node: ast.Call) -> bool:
        match node.func:
            case ast.Subscript(value=ast.Name(id=name)):
                return name == self.kernel.name
        return False

    def _given(self, call: ast.Call) -> dict[str, ast.expr]:
        starred = any(isinstance(each, ast.Starred) for each in call.args)
        given = {} if starred else dict(zip((each.name for each in self.kernel.parameters), call.args, strict=False))
        return given | {each.arg: each.value for each in call.keywords if each.arg}

    def _launch(self, call: ast.Call) -> Launch:
        names = [each.name for each in self.kernel.parameters]
        given = self._given(call)
        known = {name: found for name, value in given.items() for is_known, found in [self._scope.try_value(value)] if is_known}
        return Launch(
            line=call.lineno,
            values={name: value for name, value in known.items() if name in names and not isinstance(value, Tensor)},
            options={name: known[name] for name in _OPTIONS if name not in names and isinstance(known.get(name), int)},
            tensors={name: value for name, value in known.items() if name in names and isinstance(value, Tensor)},
            whole=frozenset(name for name, value in given.items() if _is_whole(value)),
        )


def _literal(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, int) else None


def _size_of(node: ast.expr, name: str) -> tuple[ast.expr, ...] | None:
    """The arguments of ``name.shape`` or ``name.size(…)``; ``None`` for anything else."""
    match node:
        case ast.Attribute(value=ast.Name(id=used), attr="shape") if used == name:
            return ()
        case ast.Call(func=ast.Attribute(value=ast.Name(id=used), attr="size"), args=arguments) if used == name:
            return tuple(arguments)
    return None


def _axis(node: ast.expr, name: str) -> int | None:
    """The axis that ``name.shape[1]`` and ``name.size(1)`` are the size of."""
    match node:
        case ast.Subscript(value=value, slice=index) if _size_of(value, name) == ():
            return _literal(index)
        case ast.Call() if arguments := _size_of(node, name):
            return _literal(arguments[0])
    return None


def _is_rank(node: ast.expr, name: str) -> bool:
    """Whether an expression is how many axes a tensor has."""
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[each]):
            return _size_of(each, name) == ()
        case (
            ast.Call(func=ast.Attribute(value=ast.Name(id=used), attr="dim")) | ast.Attribute(value=ast.Name(id=used), attr="ndim")
        ):
            return used == name
    return False


def _is_whole(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Subscript(value=ast.Attribute(attr=name)):
            return name in _WHOLE
        case ast.Call(func=ast.Name(id="len")):
            return True
    return False
