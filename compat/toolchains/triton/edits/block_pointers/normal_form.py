"""The normal form: every use of a block pointer has one of a few forms, in a statement of its own.

The forms are ``p = make_block_ptr(…)``, ``p = q``, ``p = advance(q, …)``, and, in any expression,
``load(p, …)``, ``store(p, …)`` and ``f(p, …)`` for a function of the user. The result of such a
function is ``p = f(…)``, until :mod:`.editing` rebuilds it from its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

import libcst as cst
from attrs import frozen

from compat.toolchains.language import CannotEdit
from compat.toolchains.triton.edits.code import Code, arguments_of, bound_targets, elements_of, walk

MAKE, ADVANCE = "make_block_ptr", "advance"
ACCESS = ("load", "store")
PLACED = "__placed__"
"""``p = __placed__(q, (offset, None))``: the block pointer ``q`` with some of its offsets replaced.

No source has this name.
"""
_MAKE = ("base", "shape", "strides", "offsets", "block_shape", "order")
_Exprs = tuple[cst.BaseExpression, ...]
Part = tuple[str, int]
"""A part of a block pointer, and its axis: ``("at", 0)`` is its first offset."""
BASE: Part = ("base", 0)
"""The only part without an axis."""


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

    @property
    def parts(self) -> dict[Part, cst.BaseExpression]:
        """All parts but the block, one for each element."""
        lists = {"shape": self.shape, "stride": self.strides, "at": self.offsets}
        return {BASE: self.base} | {
            (name, axis): node for name, nodes in lists.items() for axis, node in enumerate(nodes)
        }

    @classmethod
    def of(cls, call: cst.Call) -> MadePointer:
        arguments = arguments_of(call, _MAKE)
        if missing := [name for name in _MAKE[:-1] if name not in arguments]:
            raise CannotEdit(f"a block pointer is made without {missing[0]}")
        parts: list[_Exprs] = []
        for name in _MAKE[1:-1]:
            elements = elements_of(arguments[name])
            if elements is None:
                raise CannotEdit(
                    f"the {name} of a block pointer are not written out as a tuple or list where it"
                    " is made"
                )
            parts.append(elements)
        if not parts[0] or len(set(map(len, parts))) > 1:
            raise CannotEdit(
                "shape, strides, offsets and block of a block pointer differ in length"
            )
        return cls(
            base=arguments["base"],
            shape=parts[0],
            strides=parts[1],
            offsets=parts[2],
            block=parts[3],
        )


class Reader:
    """Recognises the forms in one function."""

    def __init__(
        self,
        code: Code,
        pointers: Collection[str] = (),
        returns: Callable[[cst.CSTNode], bool] = lambda _: False,
        hands: Callable[[cst.CSTNode], Sequence[cst.BaseExpression]] = lambda _: (),
    ) -> None:
        self.code, self.pointers = code, set(pointers)
        """The names of variables that hold block pointers at some time."""
        self.returns = returns
        """Whether a node is a call of a function that returns a block pointer, and nothing else."""
        self.hands = hands
        """The block pointers that a call passes or a ``return`` returns."""

    def makes(self, node: cst.CSTNode) -> bool:
        return self.code.language.called_name(node) == MAKE

    def advanced_pointer(self, node: cst.CSTNode) -> cst.BaseExpression | None:
        """Return ``p`` of ``tl.advance(p, …)`` and of ``p.advance(…)``, or ``None``."""
        if not isinstance(node, cst.Call):
            return None
        called = self.code.language.called_name(node)
        if called == ADVANCE:
            named = [arg.value for arg in node.args if arg.keyword and arg.keyword.value == "base"]
            return next(iter([*named, *(arg.value for arg in node.args)]), None)
        method = (
            isinstance(node.func, cst.Attribute)
            and node.func.attr.value == ADVANCE
            and called is None
        )
        return node.func.value if method and self.is_pointer(node.func.value) else None  # type: ignore[attr-defined]

    def base_and_offsets(self, call: cst.Call) -> tuple[str, _Exprs]:
        """Return the variable that ``advance`` or :data:`PLACED` moves, and the offsets.

        Offsets are relative in ``advance``, and absolute in :data:`PLACED`. Raises CannotEdit if
        the form is unknown.
        """
        if is_placed(call):
            base: cst.BaseExpression | None = call.args[0].value
            offsets = elements_of(call.args[1].value)
        else:
            arguments = arguments_of(
                call, ("base", "offsets") if self.code.language.called_name(call) else ("offsets",)
            )
            base = self.advanced_pointer(call)
            offsets = elements_of(arguments["offsets"]) if "offsets" in arguments else None
        if not isinstance(base, cst.Name) or not self.is_pointer(base) or offsets is None:
            raise CannotEdit("a block pointer is advanced in an unknown form")
        return base.value, offsets

    def is_pointer(self, node: cst.CSTNode) -> bool:
        return isinstance(node, cst.Name) and node.value in self.pointers

    def computes(self, node: cst.CSTNode) -> bool:
        """Whether a call's value is a block pointer."""
        return (
            self.makes(node)
            or self.advanced_pointer(node) is not None
            or is_placed(node)
            or self.returns(node)
        )

    def gives_pointer(self, node: cst.CSTNode) -> bool:
        """Whether an expression's value is a block pointer."""
        return self.computes(node) or self.is_pointer(node)

    def pointer_uses(self, node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression]]:
        """Yield loads, stores, uses of the dtype and passed values, each with its block pointer."""
        if (
            isinstance(node, cst.Call)
            and self.code.language.called_name(node) in ACCESS
            and node.args
        ):
            named = [arg for arg in node.args if arg.keyword and arg.keyword.value == "pointer"]
            yield (
                node,
                (named or [arg for arg in node.args if not arg.keyword] or node.args)[0].value,
            )
        elif isinstance(node, cst.Attribute) and node.attr.value == "dtype":
            yield node, node.value
        yield from ((value, value) for value in self.hands(node))


def is_placed(node: cst.CSTNode) -> bool:
    """Return whether the node is a call of :data:`PLACED`."""
    return (
        isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == PLACED
    )


def choices(value: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return the branches of a conditional expression, or the expression itself."""
    return (
        [*choices(value.body), *choices(value.orelse)] if isinstance(value, cst.IfExp) else [value]
    )


# --- statements that replace others ---------------------------------------------------------------


def line(statement: cst.BaseSmallStatement) -> cst.SimpleStatementLine:
    """Return a statement as a line of its own."""
    return cst.SimpleStatementLine(
        body=[statement.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)]
    )


def assign(name: str, value: cst.BaseExpression) -> cst.SimpleStatementLine:
    """Return the statement ``name = value``."""
    return line(cst.Assign(targets=[cst.AssignTarget(cst.Name(name))], value=value))


def in_place_of(
    old: cst.SimpleStatementLine, new: Sequence[cst.BaseStatement]
) -> list[cst.BaseStatement]:
    """Return the statements that replace one, with the comments above and behind it.

    If there are no new statements, the comments above are removed, too.
    """
    if not new:
        return []
    first = new[0].with_changes(
        leading_lines=[*old.leading_lines, *getattr(new[0], "leading_lines", ())]
    )
    out = [first, *new[1:]]
    if isinstance(out[-1], cst.SimpleStatementLine):
        out[-1] = out[-1].with_changes(trailing_whitespace=old.trailing_whitespace)
    return out


Rewrite = Callable[[cst.SimpleStatementLine], list[cst.BaseStatement]]


def rewritten(
    function: cst.FunctionDef,
    rewrite: Rewrite,
    needs_line: Callable[[cst.SimpleStatementLine], bool] = lambda _: False,
) -> cst.FunctionDef:
    """Return the function with every simple statement replaced by the result of ``rewrite``.

    ``needs_line`` says whether a statement behind ``if x:`` needs a line of its own anyway.
    """
    body = function.body.visit(_Statements(rewrite, needs_line))
    assert isinstance(body, cst.BaseSuite)
    return function.with_changes(body=body)


class _Statements(cst.CSTTransformer):
    def __init__(
        self, rewrite: Rewrite, needs_line: Callable[[cst.SimpleStatementLine], bool]
    ) -> None:
        super().__init__()
        self._rewrite, self._needs_line = rewrite, needs_line

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        return False

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.FlattenSentinel[cst.BaseStatement]:
        return cst.FlattenSentinel(self._rewrite(original_node))

    def leave_SimpleStatementSuite(  # `if x: y = 1`
        self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
    ) -> cst.BaseSuite:
        lines = [line(statement) for statement in original_node.body]
        new = [statement for old in lines for statement in self._rewrite(old)]
        if new == lines and not any(map(self._needs_line, lines)):
            return original_node
        return cst.IndentedBlock(body=new or [line(cst.Pass())])

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        return (
            updated_node
            if updated_node.body
            else updated_node.with_changes(body=[line(cst.Pass())])
        )


# --- into the normal form -------------------------------------------------------------------------


def normal(function: cst.FunctionDef, reader: Reader) -> cst.FunctionDef:
    """Return the function with every use in one of these forms.

    Raises CannotEdit if a use cannot be brought into one.
    """
    form = _Normal(reader)
    return rewritten(function, form.statement, form.has_pointer)


class _Normal(cst.CSTTransformer):
    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader
        self._keep: cst.CSTNode | None = None
        self._before: list[cst.BaseStatement] = []

    def statement(self, old: cst.SimpleStatementLine) -> list[cst.BaseStatement]:
        if not self.has_pointer(old):
            return [old]
        new = [piece for small in old.body for piece in self._small(small)]
        if (
            len(new) == 1
            and len(old.body) == 1
            and new[0].deep_equals(old.with_changes(leading_lines=[]))
        ):
            return [old]
        return in_place_of(old, new)

    def has_pointer(self, statement: cst.SimpleStatementLine) -> bool:
        """Whether a statement makes, moves or copies a block pointer."""
        return any(self.reader.computes(node) or self._copies(node) for node in walk(statement))

    def _copies(self, node: cst.CSTNode) -> bool:
        return isinstance(node, cst.Assign) and any(
            value and self.reader.is_pointer(value) for _, value in bound_targets(node)
        )

    def _small(self, small: cst.BaseSmallStatement) -> list[cst.BaseStatement]:
        if (
            isinstance(small, cst.AnnAssign)
            and small.value is not None
            and self.reader.gives_pointer(small.value)
        ):
            small = cst.Assign(targets=[cst.AssignTarget(small.target)], value=small.value)
        if not isinstance(small, cst.Assign):
            return self._hoist_pointers(small)
        pairs = [(target, value) for target, value in bound_targets(small) if value is not None]
        if len(pairs) == 1:
            return self._assignment(pairs[0][0], small)
        if not any(
            self.reader.gives_pointer(choice) for _, value in pairs for choice in choices(value)
        ):
            return self._hoist_pointers(small)
        targets = [target.value for target, _ in pairs if isinstance(target, cst.Name)]
        if len(targets) < len(pairs):
            raise CannotEdit(
                "one assignment has a block pointer and something that is not a variable"
            )
        chained = len(small.targets) > 1
        statements: list[cst.BaseStatement] = []
        for number, (name, (_, value)) in enumerate(zip(targets, pairs, strict=True)):
            read = {node.value for node in walk(value) if isinstance(node, cst.Name)}
            if not chained and read & set(targets[:number]):
                raise CannotEdit("block pointers are exchanged in one assignment")
            expression = cst.Name(targets[0]) if chained and number else value
            statements += self._assignment(
                cst.Name(name),
                cst.Assign(targets=[cst.AssignTarget(cst.Name(name))], value=expression),
            )
        return statements

    def _assignment(self, target: cst.BaseExpression, small: cst.Assign) -> list[cst.BaseStatement]:
        value = small.value
        if (
            isinstance(value, cst.IfExp)
            and any(map(self.reader.gives_pointer, choices(value)))
            and isinstance(target, cst.Name)
        ):
            body, orelse = (
                cst.IndentedBlock(body=self._assignment(target, small.with_changes(value=branch)))
                for branch in (value.body, value.orelse)
            )
            return [cst.If(test=value.test, body=body, orelse=cst.Else(body=orelse))]
        if self.reader.computes(value) and not isinstance(target, cst.Name):
            raise CannotEdit("a block pointer is stored outside a variable")
        return self._hoist_pointers(small, keep=value)

    def _hoist_pointers(
        self, small: cst.BaseSmallStatement, keep: cst.CSTNode | None = None
    ) -> list[cst.BaseStatement]:
        """Return the statement, after statements that make the block pointers inside it."""
        self._keep, self._before = keep, []
        new = small.visit(self)
        assert isinstance(new, cst.BaseSmallStatement)
        return [*self._before, line(new)]

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        if original_node is self._keep or not self.reader.computes(original_node):
            return updated_node
        name = self.reader.code.fresh("block")
        self.reader.pointers.add(name)
        self._before.append(assign(name, updated_node))
        return cst.Name(name)
