"""Every use of a block pointer in one of a few forms, each in a statement of its own.

``p = make_block_ptr(…)``, ``p = q``, ``p = advance(q, …)``, and, in any expression, ``load(p, …)``, ``store(p, …)`` and ``f(p, …)``
for a function of the user's. What such a function returns is ``p = f(…)``, until :mod:`.exchange` says what that is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import libcst as cst
from attrs import frozen

from compat.toolchains.language import CannotEdit
from compat.toolchains.triton.edits.code import Code, arguments_of, elements_of, walk

MAKE, ADVANCE = "make_block_ptr", "advance"
PLACED = "__placed__"
"""``p = __placed__(q, (offset, None))``: what ``q`` is, with some of its offsets replaced. It stands in no source."""
_MAKE = ("base", "shape", "strides", "offsets", "block_shape", "order")
_Exprs = tuple[cst.BaseExpression, ...]


@frozen(kw_only=True)
class MadePointer:
    """The arguments of ``make_block_ptr``."""

    base: cst.BaseExpression
    shape: _Exprs
    strides: _Exprs
    offsets: _Exprs
    block: _Exprs

    @property
    def rank(self) -> int:
        return len(self.block)

    @classmethod
    def of(cls, call: cst.Call) -> MadePointer:
        arguments = arguments_of(call, _MAKE)
        if missing := [name for name in _MAKE[:-1] if name not in arguments]:
            raise CannotEdit(f"a block pointer is made without {missing[0]}")
        parts = {name: elements_of(arguments[name]) for name in _MAKE[1:-1]}
        for name, elements in parts.items():
            if elements is None:
                raise CannotEdit(f"the {name} of a block pointer are not written out as a tuple or list where it is made")
        made = cls(
            base=arguments["base"],
            shape=parts["shape"] or (),
            strides=parts["strides"] or (),
            offsets=parts["offsets"] or (),
            block=parts["block_shape"] or (),
        )
        if not 0 < made.rank == len(made.shape) == len(made.strides) == len(made.offsets):
            raise CannotEdit("shape, strides, offsets and block of a block pointer differ in length")
        return made


@frozen(kw_only=True)
class Moved:
    """The arguments of ``advance``, or of :data:`PLACED`."""

    pointer: str
    offsets: _Exprs
    placed: bool = False


def is_placed(node: cst.CSTNode) -> bool:
    """Whether a call is :data:`PLACED`."""
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == PLACED


class Reader:
    """Recognises the forms in the functions of a module."""

    def __init__(
        self,
        code: Code,
        pointers: Iterable[str] = (),
        returns: Callable[[cst.CSTNode], bool] = lambda _: False,
        hands: Callable[[cst.CSTNode], Sequence[cst.BaseExpression]] = lambda _: (),
    ) -> None:
        self.code, self.pointers = code, set(pointers)
        """The names of variables that hold block pointers at some time."""
        self.returns = returns
        """Whether a node is a call of a function that returns a block pointer, and nothing else."""
        self.hands = hands
        """The block pointers that a call or a ``return`` hands over."""

    def makes(self, node: cst.CSTNode) -> bool:
        return self.code.language.called(node) == MAKE

    def advances(self, node: cst.CSTNode) -> bool:
        """``tl.advance(p, …)``, or ``p.advance(…)``."""
        if not isinstance(node, cst.Call):
            return False
        method = isinstance(node.func, cst.Attribute) and node.func.attr.value == ADVANCE and isinstance(node.func.value, cst.Name)
        called = self.code.language.called(node)
        return called == ADVANCE or (method and called is None and _receiver(node) in self.pointers)

    def moved(self, call: cst.Call) -> Moved:
        if is_placed(call):
            pointer, offsets = call.args[0].value, elements_of(call.args[1].value)
            assert isinstance(pointer, cst.Name)
            assert offsets is not None
            return Moved(pointer=pointer.value, offsets=offsets, placed=True)
        of_method = self.code.language.called(call) is None
        arguments = arguments_of(call, ("offsets",) if of_method else ("base", "offsets"))
        base = _receiver(call) if of_method else arguments["base"].value if isinstance(arguments.get("base"), cst.Name) else ""  # type: ignore[attr-defined]
        offsets = elements_of(arguments["offsets"]) if "offsets" in arguments else None
        if base not in self.pointers or offsets is None:
            raise CannotEdit("a block pointer is advanced in a form that is not known")
        return Moved(pointer=str(base), offsets=offsets)

    def is_pointer(self, node: cst.CSTNode) -> bool:
        return isinstance(node, cst.Name) and node.value in self.pointers

    def gives_pointer(self, node: cst.CSTNode) -> bool:
        """Whether an expression's value is a block pointer."""
        return self.computes(node) or self.is_pointer(node)

    def computes(self, node: cst.CSTNode) -> bool:
        """Whether a call's value is a block pointer."""
        return self.makes(node) or self.advances(node) or is_placed(node) or self.returns(node)


def _receiver(call: cst.Call) -> str:
    value = call.func.value if isinstance(call.func, cst.Attribute) else None
    return value.value if isinstance(value, cst.Name) else ""


def pairs(target: cst.BaseExpression, value: cst.BaseExpression) -> list[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """Targets with their values, of ``a, b = c, d`` each with its own."""
    targets, values = elements_of(target), elements_of(value)
    if targets is not None and values is not None and len(targets) == len(values):
        return list(zip(targets, values, strict=True))
    return [(target, value)]


def choices(value: cst.BaseExpression) -> list[cst.BaseExpression]:
    return [*choices(value.body), *choices(value.orelse)] if isinstance(value, cst.IfExp) else [value]


# --- into that form ----------------------------------------------------------------------------------------------------------


def line(statement: cst.BaseSmallStatement) -> cst.SimpleStatementLine:
    """A statement in a line of its own."""
    return cst.SimpleStatementLine(body=[statement.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])


def assign(name: str, value: cst.BaseExpression) -> cst.SimpleStatementLine:
    """``name = value``."""
    return line(cst.Assign(targets=[cst.AssignTarget(cst.Name(name))], value=value))


def in_place_of(old: cst.SimpleStatementLine, new: Sequence[cst.BaseStatement]) -> list[cst.BaseStatement]:
    """Statements in the place of one, with the comments above and behind it; without any, the comments above go with it."""
    if not new:
        return []
    first = new[0].with_changes(leading_lines=[*old.leading_lines, *getattr(new[0], "leading_lines", ())])
    out = [first, *new[1:]]
    if isinstance(out[-1], cst.SimpleStatementLine):
        out[-1] = out[-1].with_changes(trailing_whitespace=old.trailing_whitespace)
    return out


Rewrite = Callable[[cst.SimpleStatementLine], list[cst.BaseStatement]]


def rewritten(function: cst.FunctionDef, rewrite: Rewrite) -> cst.FunctionDef:
    """The function with every simple statement replaced by what ``rewrite`` makes of it."""
    return function.with_changes(body=_rewritten_block(function.body, rewrite))


def _rewritten_block(block: cst.BaseSuite, rewrite: Rewrite) -> cst.BaseSuite:
    if isinstance(block, cst.SimpleStatementSuite):  # `if x: y = 1`
        lines = cst.IndentedBlock(body=[line(statement) for statement in block.body])
        changed = _rewritten_block(lines, rewrite)
        return block if changed is lines else changed
    assert isinstance(block, cst.IndentedBlock)
    body: list[cst.BaseStatement] = []
    for statement in block.body:
        body += rewrite(statement) if isinstance(statement, cst.SimpleStatementLine) else [_rewritten_compound(statement, rewrite)]
    if len(body) == len(block.body) and all(new is old for new, old in zip(body, block.body, strict=True)):
        return block
    return block.with_changes(body=body or [line(cst.Pass())])


def _rewritten_compound(statement: cst.BaseStatement, rewrite: Rewrite) -> cst.BaseStatement:
    changed: dict[str, cst.CSTNode] = {}
    for name in ("body", "orelse"):
        inner = getattr(statement, name, None)
        if isinstance(inner, cst.BaseSuite):
            new: cst.CSTNode = _rewritten_block(inner, rewrite)
        elif isinstance(inner, cst.Else | cst.If):
            new = _rewritten_compound(inner, rewrite)  # type: ignore[arg-type]
        else:
            continue
        if new is not inner:
            changed[name] = new
    return statement.with_changes(**changed) if changed else statement


def normal(function: cst.FunctionDef, reader: Reader) -> cst.FunctionDef:
    """The function with every use in one of these forms. Raises CannotEdit where one cannot be brought into them."""
    return rewritten(function, _Normal(reader.code, reader).statement)


class _Normal:
    def __init__(self, code: Code, reader: Reader) -> None:
        self.code, self.reader = code, reader

    def statement(self, old: cst.SimpleStatementLine) -> list[cst.BaseStatement]:
        if not any(self.reader.computes(node) or self._copies(node) for node in walk(old)):
            return [old]
        new = [piece for small in old.body for piece in self._small(small)]
        if len(new) == 1 and len(old.body) == 1 and new[0].deep_equals(old.with_changes(leading_lines=[])):
            return [old]
        return in_place_of(old, new)

    def _copies(self, node: cst.CSTNode) -> bool:
        return isinstance(node, cst.Assign) and any(map(self.reader.is_pointer, [value for _, value in self._single(node)]))

    def _single(self, node: cst.Assign) -> list[tuple[cst.BaseExpression, cst.BaseExpression]]:
        return [pair for target in node.targets for pair in pairs(target.target, node.value)]

    def _small(self, small: cst.BaseSmallStatement) -> list[cst.BaseStatement]:
        if isinstance(small, cst.AnnAssign) and small.value is not None and self.reader.gives_pointer(small.value):
            small = cst.Assign(targets=[cst.AssignTarget(small.target)], value=small.value)
        if not isinstance(small, cst.Assign):
            return self._hoisted(small)
        pairs = self._single(small)
        if len(pairs) == 1 or not any(self.reader.gives_pointer(choice) for _, value in pairs for choice in choices(value)):
            return self._assignment(pairs[0][0], small) if len(pairs) == 1 else self._hoisted(small)
        targets = [target.value for target, _ in pairs if isinstance(target, cst.Name)]
        if len(targets) < len(pairs):
            raise CannotEdit("a block pointer is assigned together with something that is not a variable")
        chained = len(small.targets) > 1
        statements: list[cst.BaseStatement] = []
        for number, (name, (_, value)) in enumerate(zip(targets, pairs, strict=True)):
            read = {node.value for node in walk(value) if isinstance(node, cst.Name)}
            if not chained and read & set(targets[:number]):
                raise CannotEdit("block pointers are exchanged in one assignment")
            value = cst.Name(targets[0]) if chained and number else value
            statements += self._assignment(cst.Name(name), cst.Assign(targets=[cst.AssignTarget(cst.Name(name))], value=value))
        return statements

    def _assignment(self, target: cst.BaseExpression, small: cst.Assign) -> list[cst.BaseStatement]:
        value = small.value
        if isinstance(value, cst.IfExp) and any(map(self.reader.gives_pointer, choices(value))) and isinstance(target, cst.Name):
            bodies = [
                cst.IndentedBlock(body=self._assignment(target, small.with_changes(value=branch)))
                for branch in (value.body, value.orelse)
            ]
            return [cst.If(test=value.test, body=bodies[0], orelse=cst.Else(body=bodies[1]))]
        if self.reader.computes(value):
            if not isinstance(target, cst.Name):
                raise CannotEdit("a block pointer is kept in something that is not a variable")
            return self._hoisted(small, keep=value)
        return self._hoisted(small)

    def _hoisted(self, small: cst.BaseSmallStatement, keep: cst.CSTNode | None = None) -> list[cst.BaseStatement]:
        """The statement, after statements that make the block pointers which stand inside of it."""
        hoisting = _Hoisting(self, keep)
        new = small.visit(hoisting)
        assert isinstance(new, cst.BaseSmallStatement)
        return [*hoisting.before, line(new)]


class _Hoisting(cst.CSTTransformer):
    def __init__(self, normal: _Normal, keep: cst.CSTNode | None) -> None:
        super().__init__()
        self._normal, self._keep = normal, keep
        self.before: list[cst.BaseStatement] = []

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        reader = self._normal.reader
        if original_node is self._keep or not reader.computes(original_node):
            return updated_node
        name = self._normal.code.fresh("block")
        reader.pointers.add(name)
        self.before.append(assign(name, updated_node))
        return cst.Name(name)
