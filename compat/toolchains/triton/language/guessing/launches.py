"""The arguments of launches in a source, such as ``kernel[grid](x, out, x.stride(0), BLOCK=1024)``.

The statements of the function around a launch are evaluated in order, up to the launch, with
tensors of assumed sizes (:mod:`compat.toolchains.triton.language.guessing.evaluation`). So the
arguments fit together, as those of a real launch do. The function itself never runs.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile

from attrs import Factory, define, evolve, frozen

from compat.source.constants import PythonValue, UnknownValue, items_of
from compat.source.parsing import (
    FunctionScope,
    defaults_of,
    dotted_name,
    named_parameters,
    walk,
)
from compat.toolchains.triton.language.guessing.evaluation import (
    ATTRIBUTES,
    SIZE,
    AssumedNumber,
    AssumedSize,
    AssumedTensor,
    ElementType,
    KernelScope,
    size_by_name,
)
from compat.toolchains.triton.language.guessing.modules import JitFunction, JitModule

_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
_WHOLE = {"stride", "size", "numel", "shape", "dim", "ndim"}
"""Attributes and methods of tensors that are whole numbers."""
_PLAIN = {"int", "float", "bool", "str"}
"""Annotations of parameters that are not tensors."""
_MOST_AXES = 64
"""The most axes of a tensor in PyTorch."""
_MOST_PASSES = 64
"""The most passes of a ``while`` that are followed."""
_JUMPS = (ast.Break, ast.Continue, ast.Raise, ast.Return)


@frozen(kw_only=True)
class SourceLaunch:
    """The arguments of one launch that follow from literals and assumed sizes."""

    place: str
    """The line, and the file unless it is the kernel's: ``line 8 of ops.py``."""
    values: Mapping[str, PythonValue]
    """Parameter → the number, string or dtype that the launch passes."""
    options: Mapping[str, PythonValue]
    unknown_options: tuple[str, ...]
    """The options that it passes with a value that does not follow."""
    tensors: Mapping[str, AssumedTensor]
    """Parameter → the tensor that the launch passes."""
    size_parameters: frozenset[str] = Factory(frozenset)
    """Parameters that the launch passes sizes or strides for."""
    passed: frozenset[str] = Factory(frozenset)
    """Parameters that the launch passes, or may pass in ``*args`` or ``**kwargs``."""


def launches_of(
    function: JitFunction,
    holder: JitModule,
    modules: Iterable[JitModule],
    pointers: Collection[str],
    sizes: Mapping[str, int],
    usual: int = SIZE,
) -> tuple[SourceLaunch, ...]:
    """Return the launches of a kernel of ``holder``, those with the most known arguments first.

    ``modules`` may launch it. ``pointers`` are the parameters that are known to be tensors.
    ``sizes`` maps
    :attr:`~compat.toolchains.triton.language.guessing.evaluation.AssumedSize.key` to the sizes of
    tensors. Other sizes are ``usual``, or come from
    :func:`~compat.toolchains.triton.language.guessing.evaluation.size_by_name`.
    """
    by_place: dict[str, SourceLaunch] = {}
    for module in modules:
        where = "" if module is holder else f" of {module.path.name}"
        for around, calls in module.launches_of(function, holder).items():
            wrapper = _Wrapper(around, calls, function, module, pointers, sizes, usual)
            for launch in wrapper.launches():
                place = f"{launch.place}{where}"
                before = by_place.get(place)
                if before is None or len(before.values) + len(before.tensors) < len(
                    launch.values
                ) + len(launch.tensors):
                    by_place[place] = evolve(launch, place=place)
    return tuple(
        sorted(by_place.values(), key=lambda launch: -len(launch.values) - len(launch.tensors))
    )


@define
class _Axes:
    """The axes of a tensor, from their use in a function."""

    rank: int = 0
    """The number of axes; 0 if it is unknown."""
    least: int = 1
    """The minimum number of axes, from those whose size or stride the function reads."""
    names: dict[int, str] = Factory(dict)
    """Axis, perhaps counted from the end, → the name of its size."""
    asserted: dict[int, int] = Factory(dict)
    """Axis, perhaps counted from the end, → its size, which the function asserts."""

    def use(self, axis: int | None) -> None:
        """Note that the function reads the size or the stride of an axis."""
        if axis is not None:
            self.least = max(self.least, axis + 1 if axis >= 0 else -axis)

    def label(self, axis: int, rank: int) -> str:
        """Return the name of the size of an axis; empty if it has none."""
        return self.names.get(axis) or self.names.get(axis - rank) or ""


@define
class _Wrapper:
    """A function that launches the kernel, evaluated statement by statement."""

    node: ast.FunctionDef
    calls: Collection[ast.Call]
    """The launches of the kernel in it."""
    kernel: JitFunction
    module: JitModule
    pointers: Collection[str]
    sizes: Mapping[str, int]
    usual: int
    _scope: KernelScope = Factory(lambda self: self._outer_scope(), takes_self=True)
    _tensors: dict[str, AssumedTensor] = Factory(dict)
    _launches: list[SourceLaunch] = Factory(list)

    def _outer_scope(self) -> KernelScope:
        """Return the scope around the function, without the names that the function binds.

        It has imported constants, which have upper-case names, and imported functions.
        """
        own, scope = FunctionScope.of(self.node).local, self.module.scope
        outer = {name: scope.module[name] for name in scope.module.keys() - own}
        nodes = _nodes_of(self.node)
        used = {node.id for node in nodes if isinstance(node, ast.Name) and node.id.isupper()}
        used |= {
            node.func.id
            for node in nodes
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        return KernelScope(outer, scope.imports, self.module.imported_values(used - own))

    def launches(self) -> list[SourceLaunch]:
        """Return every launch in the function, in the order in which they are reached."""
        self._tensors = self._assumed_tensors()
        self._scope.local |= self._kept_by_forward()
        defaults = defaults_of(self.node.args)
        for parameter in named_parameters(self.node.args):
            is_known, value = self._scope.try_value(defaults.get(parameter.arg))
            if parameter.arg in self._tensors:
                self._scope.local[parameter.arg] = self._tensors[parameter.arg]
            elif is_known and value is not None:
                self._scope.local[parameter.arg] = value
            elif _is_named(parameter.annotation, {"int"}) and (
                small := size_by_name(parameter.arg, 0)
            ):
                number = self.sizes.get(parameter.arg, small)
                self._scope.local[parameter.arg] = AssumedNumber.of(parameter.arg, number)
        self._follow(self.node.body)
        return self._launches

    def _kept_by_forward(self) -> dict[str, PythonValue]:
        """Return the attributes that ``forward`` of the same class sets for ``backward``."""
        siblings = next(
            (
                holder.body
                for holder in self.module.tree.body
                if isinstance(holder, ast.ClassDef) and self.node in holder.body
            ),
            (),
        )
        for node in siblings if self.node.name == "backward" else ():
            if isinstance(node, ast.FunctionDef) and node.name == "forward":
                forward = _Wrapper(node, (), self.kernel, self.module, (), self.sizes, self.usual)
                forward.launches()
                return {name: value for name, value in forward._scope.local.items() if "." in name}
        return {}

    # --- tensors of the caller ---

    def _assumed_tensors(self) -> dict[str, AssumedTensor]:
        """Return the names that stand for tensors, with shapes that fit their use.

        Such a name has an attribute that only tensors have, or is passed for a pointer of the
        kernel.
        """
        plain = {arg.arg for arg in self.node.args.args if _is_named(arg.annotation, _PLAIN)}
        names: dict[str, None] = {}
        for node in _nodes_of(self.node):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.attr in ATTRIBUTES
            ):
                names[node.value.id] = None
            elif isinstance(node, ast.Call) and node in self.calls:
                arguments = self._call_arguments(node)
                names |= {
                    value.id: None
                    for name, value in arguments.items()
                    if name in self.pointers and isinstance(value, ast.Name)
                }
        imported = self.module.scope.imports
        nodes = [node for node in _nodes_of(self.node) if isinstance(node, _OF_AXES)]
        uses = {
            name: _axes(name, nodes) for name in names if name not in plain and name not in imported
        }
        shapes = {name: self._shape(axes, list(uses.values())) for name, axes in uses.items()}
        return {
            name: AssumedTensor.contiguous(shape, origin=name) for name, shape in shapes.items()
        }

    def _shape(self, axes: _Axes, others: Sequence[_Axes]) -> list[int]:
        """Return the sizes of a tensor.

        Facts that its uses leave open, rank and names of axes, are those of another tensor with the
        same uses.
        """
        rank = axes.rank or max(
            (other.rank for other in others if other.least == axes.least), default=0
        )
        rank = max(rank, axes.least)
        shape: list[int] = []
        for axis in range(rank):
            alike = (
                label
                for other in others
                if max(other.rank, other.least) == rank > 1 and (label := other.label(axis, rank))
            )
            label = axes.label(axis, rank) or next(alike, "")
            key, value = (
                (label, size_by_name(label, self.usual))
                if label
                else (f"shape[{axis}] of {rank}", self.usual)
            )
            asserted = axes.asserted.get(axis) or axes.asserted.get(axis - rank)
            shape.append(AssumedSize.of(key, asserted or self.sizes.get(key, value)))
        return shape

    # --- statements ---

    def _follow(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:  # noqa: C901 - one case for each statement
        match statement:
            case ast.FunctionDef(body=body):
                before = dict(self._scope.local)
                self._follow(body)
                self._scope.local = before
                return
            case ast.If(test=test, body=body, orelse=otherwise):
                self._branch(test, body, otherwise)
                return
            case ast.While(test=test, body=body, orelse=[]) if self._repeat(test, body):
                return
            case ast.For() | ast.While() | ast.With() | ast.Try():
                self._follow(
                    [
                        inner
                        for inner in ast.iter_child_nodes(statement)
                        if isinstance(inner, ast.stmt)
                    ]
                )
                return
        for node in walk(statement):
            if isinstance(node, ast.Call) and node in self.calls:
                self._launches.append(self._launch(node))
        match statement:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, *self._scope.try_value(value))
            case ast.Assert(test=test):
                self._assume(test)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                old = ast.copy_location(ast.Name(id=name, ctx=ast.Load()), target)
                self._bind(target, *self._scope.try_value(ast.BinOp(left=old, op=op, right=value)))

    def _repeat(self, test: ast.expr, body: Sequence[ast.stmt]) -> bool:
        """Follow a loop to its end, and return whether its conditions are known.

        The end of a loop with a jump is unknown.
        """
        if any(isinstance(node, _JUMPS) for statement in body for node in walk(statement)):
            return False
        before = dict(self._scope.local)
        for passes in range(_MOST_PASSES):
            is_known, holds = self._scope.try_value(test)
            if not is_known:
                break
            if not holds:
                if not passes:
                    self._branch(test, body, ())
                return True
            self._follow(body)
        self._scope.local = before
        return False

    def _branch(
        self, test: ast.expr, body: Sequence[ast.stmt], otherwise: Sequence[ast.stmt]
    ) -> None:
        """Follow the branch of a known condition, or both.

        Of a branch that a known condition excludes, only launches count. If both are followed, the
        values of the first one count, unless it ends with a jump, such as ``return``.
        """
        is_known, value = self._scope.try_value(test)
        before = dict(self._scope.local)
        if is_known:
            followed, other = (body, otherwise) if value else (otherwise, body)
            self._follow(followed)
            after, self._scope.local = self._scope.local, before
            self._follow(other)  # for its launches alone
            self._scope.local = after
            return
        self._follow(body)
        first, self._scope.local = self._scope.local, before
        if body and isinstance(body[-1], ast.Raise):
            self._assume(test, holds=False)
        self._follow(otherwise)
        if not (body and isinstance(body[-1], _JUMPS)):
            self._scope.local |= {name: value for name, value in first.items() if value is not None}

    def _assume(self, test: ast.expr, *, holds: bool = True) -> None:
        """Note the dtypes and numbers that a condition implies, or that its negation does."""
        match test:
            case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And if holds else ast.Or):
                for value in values:
                    self._assume(value, holds=holds)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._assume(operand, holds=not holds)
            case ast.Compare(left=left, ops=ops, comparators=others) if all(
                isinstance(op, ast.Eq if holds else ast.NotEq) for op in ops
            ):
                for one, other in pairwise((left, *others)):
                    self._equal(one, other) or self._equal(other, one)
            case _ if holds and (allowed := self._allowed_dtypes(test)):
                name, dtypes = allowed
                self._give_dtype(name, next(filter(_is_other_than_fp32, dtypes), None))

    def _equal(self, one: ast.expr, other: ast.expr) -> bool:
        """Give a name what it is equal to: ``x.dtype == y.dtype``, and ``group == 32``.

        Return whether this is possible.
        """
        is_known, value = self._scope.try_value(other)
        match one:
            case ast.Attribute(value=ast.Name(id=name), attr="dtype") if is_known:
                return self._give_dtype(name, value)
            case ast.Name(id=name) if isinstance(other, ast.Constant) and type(value) is int:
                self._scope.local[name] = value
                return True
        return False

    def _allowed_dtypes(self, test: ast.expr) -> tuple[str, list[PythonValue]] | None:
        """Return a tensor's name and the dtypes that a condition allows, if it is about these."""
        match test:
            case ast.BoolOp(op=ast.Or(), values=values):
                allowed = [self._allowed_dtypes(value) for value in values]
                one_of = [*filter(None, allowed)]
                if len(one_of) == len(allowed) and len({name for name, _ in one_of}) == 1:
                    return one_of[0][0], [dtype for _, dtypes in one_of for dtype in dtypes]
            case ast.Compare(
                left=ast.Attribute(value=ast.Name(id=name), attr="dtype"),
                ops=[ast.Eq() | ast.In()],
                comparators=[right],
            ):
                is_known, value = self._scope.try_value(right)
                if is_known:
                    return name, [*value] if isinstance(value, tuple | list | set) else [value]
        return None

    def _give_dtype(self, name: str, dtype: PythonValue) -> bool:
        """Give a tensor of unknown dtype a dtype, and those that have the same dtype as it.

        Return whether it is such a tensor.
        """
        tensor = self._scope.local.get(name)
        if not isinstance(tensor, AssumedTensor) or tensor.element:
            return False
        for values in (self._scope.local, self._tensors):
            for alike, other in values.items():
                if isinstance(other, AssumedTensor) and (other.element, other.origin) == (
                    None,
                    tensor.origin,
                ):
                    values[alike] = other.of_type(dtype)
        return True

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        """Bind names to a value. Of several values, bind each known one to its name."""
        match target, value:
            case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), ast.Tuple(elts=values)):
                parts = self._parts(values)
                if len(parts) == len(targets):
                    for element, (is_known, part) in zip(targets, parts, strict=True):
                        self._bind(element, is_known, part)
                    return
        self._bind(target, *self._scope.try_value(value))

    def _parts(self, values: Sequence[ast.expr]) -> list[tuple[bool, object]]:
        """Return whether each value of a tuple is known, and what it is.

        The list is empty if the length of a starred value is unknown.
        """
        parts: list[tuple[bool, object]] = []
        for value in values:
            if not isinstance(value, ast.Starred):
                parts.append(self._scope.try_value(value))
                continue
            is_known, several = self._scope.try_value(value.value)
            try:
                items = items_of(several) if is_known else []
            except UnknownValue:
                items = []
            if not items:
                return []
            parts += [(True, item) for item in items]
        return parts

    def _bind(self, target: ast.expr, is_known: bool, value: object) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            try:
                parts = items_of(value) if is_known else []
            except UnknownValue:
                parts = []
            is_whole = is_known and len(parts) == len(target.elts)
            for index, element in enumerate(target.elts):
                self._bind(element, is_whole, parts[index] if is_whole else None)
        elif name := dotted_name(target):
            assumed = self._tensors.get(name)
            if not is_known:
                value = assumed
            elif assumed and isinstance(value, AssumedTensor) and not value.shape:
                value = evolve(assumed, element=value.element, origin=value.origin)
            if is_known or assumed:
                self._scope.local[name] = value
            else:
                self._scope.local.pop(name, None)

    # --- launches ---

    def _call_arguments(self, call: ast.Call) -> dict[str, ast.expr]:
        """Return the expressions that a call passes by name, or by position before a ``*``."""
        names = (parameter.name for parameter in self.kernel.parameters)
        arguments = dict(zip(names, _before_star(call), strict=False))
        return arguments | {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}

    def _launch(self, call: ast.Call) -> SourceLaunch:
        names = [parameter.name for parameter in self.kernel.parameters]
        arguments = self._call_arguments(call)
        is_whole = True
        named: dict[
            str, tuple[bool, object]
        ] = {}  # options, even if parameters have the same names
        for keyword in call.keywords:
            is_known, value = self._scope.try_value(keyword.value)
            if keyword.arg:
                named[keyword.arg] = is_known, value
            elif isinstance(value, Mapping):
                named |= {str(name): (True, item) for name, item in value.items()}
            else:
                is_whole = False
        parts = self._parts(call.args)
        if not self._fits(len(parts), named) and len(before := _before_star(call)) < len(call.args):
            parts, is_whole = self._parts(before), False
        attempts = dict(zip(names, parts, strict=False)) | named
        values = {name: value for name, (is_known, value) in attempts.items() if is_known}
        return SourceLaunch(
            place=f"line {call.lineno}",
            values={
                name: value
                for name, value in values.items()
                if name in names and not isinstance(value, AssumedTensor)
            },
            options={
                name: values[name]
                for name in _OPTIONS
                if (name not in names or name in named) and isinstance(values.get(name), int)
            },
            unknown_options=tuple(name for name in _OPTIONS if not named.get(name, (True,))[0]),
            tensors={
                name: value
                for name, value in values.items()
                if name in names and isinstance(value, AssumedTensor)
            },
            size_parameters=frozenset(
                name for name, value in arguments.items() if _is_whole(value)
            ),
            passed=frozenset(attempts if is_whole else names),
        )

    def _fits(self, positions: int, named: Collection[str]) -> bool:
        """Whether a call with so many positional arguments passes all parameters once.

        Otherwise a starred tuple of strides or sizes has another length than assumed.
        """
        first, rest = self.kernel.parameters[:positions], self.kernel.parameters[positions:]
        return positions <= len(self.kernel.parameters) and not (
            any(parameter.name in named for parameter in first)
            or any(
                not (parameter.name in named or parameter.is_constexpr or parameter.default)
                for parameter in rest
            )
        )


def _is_named(annotation: ast.expr | None, names: Collection[str]) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id in names


def _before_star(call: ast.Call) -> list[ast.expr]:
    """Return the positional arguments before the first ``*``."""
    return list(takewhile(lambda argument: not isinstance(argument, ast.Starred), call.args))


@lru_cache(maxsize=16)
def _nodes_of(function: ast.FunctionDef) -> tuple[ast.AST, ...]:
    """Return all nodes of a function around a launch.

    They are cached, because the function is evaluated with several sizes.
    """
    return tuple(walk(function))


_OF_AXES = (ast.Assign, ast.Assert, ast.BinOp, ast.Call, ast.Subscript)
"""The types of nodes that show facts about the axes of tensors."""


def _axes(name: str, nodes: Sequence[ast.AST]) -> _Axes:
    """Return the axes of a tensor from their use in these nodes of a function."""
    axes = _Axes()
    for node in nodes:
        match node:
            case ast.Assign(targets=[target], value=value):
                _note_names(axes, target, value, name)
            case ast.Call(func=ast.Attribute(attr="stride", value=ast.Name(id=used))) if (
                used == name
            ):
                axes.use(1)  # code does not ask for the stride of a tensor with one axis
                axes.use(_literal(node.args[0]) if node.args else None)
            case ast.BinOp(
                left=ast.Call(func=ast.Attribute(attr="numel", value=ast.Name(id=used))),
                op=ast.FloorDiv(),
                right=size,
            ) if used == name and _axis(size, name) is not None:
                axes.use(1)  # code does not count the rows of a tensor with one axis
            case ast.Assert(test=test):
                _note_assertion(axes, test, name)
        if isinstance(node, ast.expr):
            axes.use(_axis(node, name))
    return axes


def _note_names(axes: _Axes, target: ast.expr, value: ast.expr, name: str) -> None:
    """Note the names that an assignment gives to sizes: ``a, b = x.shape``, ``a = x.shape[0]``."""
    match target, value:
        case ast.Tuple(elts=targets), _ if sizes := _targets_of_sizes(targets, value, name):
            axes.rank = max(axes.rank, len(sizes))
            for axis, of_size in enumerate(reversed(sizes), 1):
                if isinstance(of_size, ast.Name) and of_size.id != "_":
                    axes.names.setdefault(-axis, of_size.id)
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            for one, of_one in zip(targets, values, strict=True):
                _note_names(axes, one, of_one, name)
        case ast.Name(id=label), _ if (at := _axis(value, name)) is not None:
            axes.names.setdefault(at, label)


def _note_assertion(axes: _Axes, test: ast.expr, name: str) -> None:
    """Note the rank and the sizes that an asserted condition compares with literals."""
    match test:
        case ast.BoolOp(op=ast.And(), values=parts):
            for part in parts:
                _note_assertion(axes, part, name)
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            if _is_rank(left, name):
                axes.rank = max(axes.rank, _literal(right) or 0)
            elif (at := _axis(left, name)) is not None and isinstance(right, ast.Constant):
                axes.asserted |= {at: right.value} if type(right.value) is int else {}


def _targets_of_sizes(
    targets: Sequence[ast.expr], value: ast.expr, name: str
) -> Sequence[ast.expr]:
    """Return the targets of a tensor's sizes: the first two of ``a, b, c = *x.shape, 0``."""
    if _size_of(value, name) == ():
        return targets
    match value:
        case ast.Tuple(elts=values):
            for before, element in enumerate(values):
                if isinstance(element, ast.Starred):
                    after = len(values) - before - 1
                    is_shape = _size_of(element.value, name) == ()
                    return targets[before : len(targets) - after] if is_shape else ()
    return ()


def _literal(node: ast.expr) -> int | None:
    """Return the number of an axis or of axes; ``None`` for one that no tensor has."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, int) and abs(value) <= _MOST_AXES else None


def _size_of(node: ast.expr, name: str) -> tuple[ast.expr, ...] | None:
    """Return the arguments of ``name.shape`` or ``name.size(…)``; ``None`` for other nodes."""
    match node:
        case ast.Attribute(value=ast.Name(id=used), attr="shape") if used == name:
            return ()
        case ast.Call(func=ast.Attribute(value=ast.Name(id=used), attr="size"), args=arguments) if (
            used == name
        ):
            return tuple(arguments)
    return None


def _axis(node: ast.expr, name: str) -> int | None:
    """Return the axis whose size an expression is: ``name.shape[1]`` or ``name.size(1)``."""
    match node:
        case ast.Subscript(value=value, slice=index) if _size_of(value, name) == ():
            return _literal(index)
        case ast.Call() if arguments := _size_of(node, name):
            return _literal(arguments[0])
    return None


def _is_rank(node: ast.expr, name: str) -> bool:
    """Whether an expression is the number of axes of a tensor."""
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[each]):
            return _size_of(each, name) == ()
        case (
            ast.Call(func=ast.Attribute(value=ast.Name(id=used), attr="dim"))
            | ast.Attribute(value=ast.Name(id=used), attr="ndim")
        ):
            return used == name
    return False


def _is_whole(value: ast.expr) -> bool:
    match value:
        case (
            ast.Call(func=ast.Attribute(attr=name)) | ast.Subscript(value=ast.Attribute(attr=name))
        ):
            return name in _WHOLE
        case ast.Call(func=ast.Name(id="len")):
            return True
    return False


def _is_other_than_fp32(dtype: PythonValue) -> bool:
    """Return whether a dtype is not ``float32``, which kernels take beside what they are for."""
    return isinstance(dtype, ElementType) or dtype != {"torch_dtype": "float32"}
