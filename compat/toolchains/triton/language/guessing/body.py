"""Facts from the uses of parameters in a kernel's body.

A walk goes through the body in order and traces every expression to its origins. It follows loops
twice, and jit functions of the same tree where the body calls them. Walks are repeated until one
finds nothing new.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise, product

from attrs import define, field

from compat.toolchains.triton.language.guessing import calls
from compat.toolchains.triton.language.guessing.facts import (
    ARITHMETIC,
    CERTAIN,
    FLOATS,
    LIKELY,
    PART_OF_ADDRESS,
    PERHAPS,
    WHOLE,
    KernelFacts,
    Term,
    Value,
    ValueOrigin,
)
from compat.toolchains.triton.language.guessing.modules import (
    JitFunction,
    JitModule,
    names_in,
)

_ROUNDS = 6
_DEPTH = 8
"""The most nested function calls that a walk follows."""


@define(eq=False)
class KernelBody:
    """The body of a kernel, and the facts that it shows about the parameters."""

    function: JitFunction
    module: JitModule
    _compiled: dict[str, KernelFacts] = field(factory=dict, init=False)

    @cached_property
    def facts(self) -> KernelFacts:
        """The facts of the whole body."""
        return self._facts(KernelFacts(), {})

    def compiled_facts(self, values: Mapping[str, object]) -> KernelFacts:
        """Return the facts of the code that is compiled with these values of constexprs.

        A fact of another branch that a value is perhaps a floating-point number is kept, unless the
        compiled code shows a surer one.
        """
        deciding = {name: values[name] for name in sorted(self.facts.deciding) if name in values}
        if not deciding:
            return self.facts
        key = repr(deciding)
        if key not in self._compiled:
            kinds = self.facts.kinds.items()
            floats = {origin: kind for origin, kind in kinds if kind.name in FLOATS}
            perhaps = {origin: kind for origin, kind in floats.items() if kind.sure == PERHAPS}
            self._compiled[key] = self._facts(KernelFacts(kinds=perhaps), values)
        return self._compiled[key]

    def _facts(self, facts: KernelFacts, values: Mapping[str, object]) -> KernelFacts:
        facts.mentioned_names = self.function.mentioned_names
        for _ in range(_ROUNDS):
            facts.changed = False
            parameters = {
                parameter.name: parameter_value(parameter.name, parameter.is_constexpr, facts)
                for parameter in self.function.parameters
            }
            walk = Walk.of(self.function, self.module, facts, parameters, values)
            walk.body(self.function.node.body)
            if not facts.changed:
                break
            facts.dots.clear()
            facts.asserts.clear()
            facts.lengths.clear()
            facts.unbound.clear()
        return facts


def parameter_value(name: str, is_constexpr: bool, facts: KernelFacts) -> Value:
    """Return the value of a parameter at the start of the kernel."""
    origin = ValueOrigin(name)
    return Value.of(
        facts.kind_of(origin),
        [origin],
        None if is_constexpr else name,
        name if is_constexpr else None,
    )


@define(kw_only=True)
class Walk:
    """One walk through the body of a function."""

    module: JitModule
    facts: KernelFacts
    names: dict[str, Value]
    constants: dict[str, object]
    """The known values of parameters and of local constants."""
    set_once: frozenset[str]
    """Names that have one value in the function."""
    depth: int = 0
    loops: int = 0
    """The number of loops around the current statement."""
    returned: Value | None = None
    passed: Mapping[str, ast.expr] = field(factory=dict)
    """Parameter of a function that the kernel calls → what is passed, by the kernel's names."""
    _assigned: frozenset[str] = frozenset()
    """The variables of the kernel."""
    _inside: tuple[JitFunction, ...] = field(default=())
    _functions: dict[tuple[JitModule, str], tuple[JitFunction, JitModule] | None] = field(
        factory=dict
    )
    """A cache of function lookups; ``None`` for a function that was not found."""

    @classmethod
    def of(
        cls,
        function: JitFunction,
        module: JitModule,
        facts: KernelFacts,
        names: dict[str, Value],
        constants: Mapping[str, object],
        caller: Walk | None = None,
    ) -> Walk:
        """Return a walk through a function that the walk ``caller`` calls, if there is one."""
        return cls(
            module=module,
            facts=facts,
            names=names,
            constants={
                name: constants[name]
                for name in constants
                if name not in function.assignment_counts
            },
            set_once=function.constants,
            depth=caller.depth + 1 if caller else 0,
            loops=caller.loops if caller else 0,
            assigned=frozenset() if caller else frozenset(function.assignment_counts),
            inside=(*caller._inside, function) if caller else (),
            functions=caller._functions if caller else {},
        )

    def jit_function(self, origin: str) -> tuple[JitFunction, JitModule] | None:
        """The jit function of this origin and its module, which may be an imported one."""
        key = self.module, origin
        if key not in self._functions:
            self._functions[key] = self.module.jit_function(origin)
        return self._functions[key]

    # --- statements ---

    def body(self, statements: Sequence[ast.stmt]) -> None:
        """Follow statements in order."""
        for statement in statements:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:  # noqa: C901 - one case for each statement
        match statement:
            case ast.Assign(targets=targets, value=value):
                bound = self.value(value)
                for target in targets:
                    self._bind(target, bound, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, self.value(value), value)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                before = ast.copy_location(ast.Name(id=name, ctx=ast.Load()), target)
                self.names[name] = self.value(ast.BinOp(left=before, op=op, right=value))
            case ast.If(test=test, body=body, orelse=otherwise):
                self._test(test)
                self._branches(test, body, otherwise)
            case ast.For(target=target, iter=iterable, body=body):
                self._bind(target, self.value(iterable), iterable)
                self._twice(body)
            case ast.While(test=test, body=body):
                self._test(test)
                self._twice(body)
            case ast.Return(value=ast.expr() as value):
                bound = self.value(value)
                self.returned = self.returned.alternatively(bound) if self.returned else bound
            case ast.Expr(value=value):
                self.value(value)
            case ast.With(body=body):
                self.body(body)
            case ast.Assert(test=test):
                self._test(test)
            case _:
                pass

    def _twice(self, body: Sequence[ast.stmt]) -> None:
        """Follow the body of a loop twice, and an inner loop once in each of these passes."""
        before = dict(self.names)
        self.loops += 1
        for _ in range(1 if self.loops > 1 else 2):
            self.body(body)
        self.loops -= 1
        for name, value in before.items():
            self._alike_numbers(value, self.names[name], "carried through a loop")
        self.names = _merge_values(before, self.names)

    def _branches(
        self, test: ast.expr, body: Sequence[ast.stmt], otherwise: Sequence[ast.stmt]
    ) -> None:
        is_known, holds = self.evaluate_expression(test)
        if is_known:
            self.body(body if holds else otherwise)
            return
        before = dict(self.names)
        self.body(body)
        after, self.names = self.names, before
        self.body(otherwise)
        if not self._is_constexpr(test):
            for name in after.keys() & self.names.keys():
                self.alike(after[name], self.names[name])
                self._alike_numbers(after[name], self.names[name], "set in both branches")
        self.names = _merge_values(after, self.names)

    def _is_constexpr(self, test: ast.expr) -> bool:
        """Whether the compiler knows a condition, so that it compiles only one branch."""
        inside = [self.names[name] for name in names_in(test) if name in self.names]
        return not _has_call(test) and all(
            term.constexpr for value in inside for term in value.terms
        )

    def evaluate_expression(self, node: ast.expr | None) -> tuple[bool, object]:
        """Return whether an expression follows from the known constants, and its value."""
        if not self.constants or node is None:
            return False, None
        if any(name in self.names and name not in self.constants for name in names_in(node)):
            return False, None
        return self.module.scope.inside(self.constants).try_value(node)

    def _bind(self, target: ast.expr, value: Value, node: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
            is_known, constant = self.evaluate_expression(node)
            if is_known and target.id in self.set_once:
                self.constants[target.id] = constant
        elif isinstance(target, ast.Tuple | ast.List):
            count = len(target.elts)
            nodes: Sequence[ast.expr | None] = [None] * count
            if isinstance(node, ast.Tuple) and len(node.elts) == count:
                nodes = node.elts
            values = value.parts if len(value.parts) == count else [value] * count
            for element, part, of_part in zip(target.elts, values, nodes, strict=True):
                self._bind(element, part, of_part)

    def by_names_of_kernel(self, node: ast.expr) -> ast.expr | None:
        """Return an expression with the kernel's names; ``None`` if it has others."""
        if not self.depth:
            return node
        names = sorted(names_in(node))
        if not self.passed.keys() >= {*names}:
            return None
        parameters = [ast.arg(name) for name in names]
        function = ast.Lambda(
            ast.arguments(
                posonlyargs=[], args=parameters, kwonlyargs=[], kw_defaults=[], defaults=[]
            ),
            node,
        )
        return ast.Call(function, [self.passed[name] for name in names], [])

    def _test(self, test: ast.expr) -> None:
        """Note what a condition tests for truth, what it compares, and what it depends on."""
        for name in names_in(test):
            if name in self.names:
                self.facts.deciding.update(origin.name for origin in self.names[name].origins)
        for condition in _conditions(test):
            if isinstance(condition, ast.Name) and condition.id in self.names:
                self.facts.tested_constexprs.update(self.parameters(condition.id))
        self.value(test)

    # --- expressions ---

    def value(self, node: ast.expr | None) -> Value:  # noqa: C901, PLR0912 - a case for each form
        """Return the value of an expression, and note the facts that the expression shows."""
        match node:
            case ast.Name(id=name):
                return self.names.get(name) or self._unset(name)
            case ast.Constant(value=value):
                return Value.of(type(value).__name__ if isinstance(value, int | float) else None)
            case ast.BinOp():
                return self._operation(node)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._test(operand)
                return Value.of("bool")
            case ast.UnaryOp(operand=operand):
                return self.value(operand).derive_value()
            case ast.BoolOp(values=values):
                for operand in values:
                    self._test(operand)
                return Value.of("bool")
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp(test=test, body=body, orelse=otherwise):
                self._test(test)
                is_known, holds = self.evaluate_expression(test)
                if is_known:
                    return self.value(body if holds else otherwise)
                return self.value(body).alternatively(self.value(otherwise))
            case ast.Subscript(value=value, slice=index):
                self.value(index)
                if isinstance(index, ast.Tuple) and any(
                    isinstance(element, ast.Constant) and element.value is None
                    for element in index.elts
                ):
                    self.facts.blocks = max(self.facts.blocks, len(index.elts))
                return self.value(value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return Value.tuple_of(map(self.value, parts))
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return calls.call_value(self, node)
            case ast.Starred(value=value):
                return self.value(value)
            case _:
                return Value()

    def _unset(self, name: str) -> Value:
        """Return the value of a name that the walk has not set: a global one, or unknown."""
        if name in self._assigned:
            self.facts.unbound.add(name)
        is_known, value = self.module.scope.try_value(ast.Name(id=name, ctx=ast.Load()))
        return Value.of(
            type(value).__name__ if is_known and isinstance(value, int | float) else None
        )

    def _operation(self, node: ast.BinOp) -> Value:
        first, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Mod) and {first.kind, right.kind} & FLOATS:
            return first.plus(right).derive_value()
        if isinstance(node.op, ast.FloorDiv | ast.Mod | ast.LShift | ast.RShift):
            for operand in (first, right):
                self.facts.is_kind(operand.origins, "int", CERTAIN, ARITHMETIC)
            if isinstance(node.op, ast.LShift | ast.RShift):
                self.facts.shifts.update(term.constexpr for term in right.terms if term.constexpr)
            return first.plus(right).derive_value("int")
        if isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor):
            return self._bits(first, right)
        if isinstance(node.op, ast.Add):
            for call, other in ((node.left, right), (node.right, first)):
                calls.note_sum(self, call, other)
        self.note_floats(first, right)
        if isinstance(node.op, ast.Add | ast.Sub):
            return first.plus(right)
        self._note_product(node, first, right)
        kind = first.plus(right).kind
        if isinstance(node.op, ast.Div | ast.Pow) and kind not in FLOATS:
            kind = "fp32" if isinstance(node.op, ast.Div) else kind
        factors = [term.constexpr for one in (first, right) for term in one.terms if term.constexpr]
        is_product = isinstance(node.op, ast.Mult) and len(factors) == 1
        term = Term(
            origins=first.origins | right.origins,
            kind=kind,
            factor=factors[0] if is_product else None,
        )
        return Value(((term,),))

    def _note_product(self, node: ast.BinOp, left: Value, right: Value) -> None:
        """Note the product of constexprs, or of such a product and another constexpr."""
        if isinstance(node.op, ast.Mult) and all(
            value.origins in self.facts.products
            or (len(value.terms) == 1 and value.terms[0].constexpr)
            for value in (left, right)
        ):
            self.facts.products.add(left.origins | right.origins)

    def _bits(self, left: Value, right: Value) -> Value:
        for one, other in ((left, right), (right, left)):
            bits = "bool" if other.kind == "bool" else "int"
            self.facts.is_kind(one.origins, bits, LIKELY, "an operand of a bit operation")
        kinds = left.kind, right.kind
        number = next((kind for kind in kinds if kind in WHOLE), None)
        if number is None and "bool" in kinds:
            return Value.of("bool")
        return Value.of(number or "int", left.origins | right.origins)

    def note_floats(self, left: Value, right: Value) -> None:
        """Note that an operand is perhaps a floating-point number if the other operand is one."""
        for one, other in ((left, right), (right, left)):
            if one.kind in FLOATS and other.kind not in WHOLE:
                self.facts.is_kind(
                    other.origins, "float", PERHAPS, "computed with floating-point numbers"
                )

    def _comparison(self, node: ast.Compare) -> Value:
        sides = [node.left, *node.comparators]
        for one, other in pairwise(sides):
            self._note_comparison(one, other)
            self._note_comparison(other, one)
        values = [self.value(side) for side in sides]
        kinds = {side_value.kind for side_value in values}
        for side_value in values:
            if kinds & FLOATS:
                self.facts.is_kind(
                    side_value.origins, "float", PERHAPS, "compared with floating-point numbers"
                )
            elif kinds & WHOLE:
                sure = PERHAPS if any(map(_is_zero, sides)) else LIKELY
                self.require_integer(side_value, "compared with whole numbers", sure)
        return Value.of("bool")

    def _note_comparison(self, one: ast.expr, other: ast.expr) -> None:
        if not isinstance(one, ast.Name) or one.id not in self.names:
            return
        names = self.parameters(one.id)
        is_known, value = self._constant(other)
        if is_known and (value is None or isinstance(value, bool | int | float | str)):
            for name in names:
                if value is None:
                    self.facts.optional.add(name)
                self.facts.compared_values.setdefault(name, []).append(value)
        elif (self.module.scope.origin(other) or "").startswith("triton.language."):
            self.facts.dtypes.update(names)

    def _constant(self, node: ast.expr) -> tuple[bool, object]:
        """Return whether an expression of literals and global names is known, and its value."""
        names = names_in(node)
        if not names.isdisjoint(self.names) or isinstance(node, ast.Call):
            return False, None
        return self.module.scope.inside(self.module.imported_values(names)).try_value(node)

    def parameters(self, name: str) -> list[str]:
        """Return the parameters that a name stands for, unchanged.

        A value that is computed from a parameter tells nothing about the parameter's values.
        """
        return [
            parameter
            for term in self.names[name].terms
            if (parameter := term.constexpr or term.argument)
        ]

    def _attribute(self, node: ast.Attribute) -> Value:
        base = self.value(node.value)
        if node.attr in ("dtype", "type", "element_ty", "scalar"):
            unchanged = (
                [term.argument for term in terms if term.argument and not term.kind]
                for terms in base.sums
            )
            pointers = [name for names in unchanged if (name := self._pointer_among(names))]
            if node.attr == "element_ty":
                for name in (
                    *pointers,
                    *(origin.name for origin in base.origins if origin.element),
                ):
                    self.facts.pointer(name, "its element type is asked for")
            return Value.of(
                None, [ValueOrigin(name, element=True) for name in pointers] or base.origins
            )
        if node.attr in ("shape", "shape_", "strides", "block_shape"):
            return Value.of("int")
        return base

    # --- facts ---

    def require_integer(self, value: Value, why: str, sure: int = CERTAIN) -> None:
        """Note that a value is a whole number, and so is everything that it is computed from."""
        if value.kind not in FLOATS:
            self.facts.is_kind(value.origins, "int", sure, why)

    def alike(self, one: Value, other: Value) -> None:
        """Note that two values have the same type, because the kernel selects one at run time.

        An unchanged argument is a pointer if the other one is.
        """
        if one is other:
            return
        self.facts.alike.update(product(_pointers_in(one), _pointers_in(other)))
        for first, second in ((one, other), (other, one)):
            if not self.facts.pointers.keys().isdisjoint(_unchanged(first)):
                for name in _unchanged(second):
                    self.facts.pointer(name, "selected instead of a pointer")

    def _alike_numbers(self, one: Value, other: Value, why: str) -> None:
        """Note that both of two values of one variable are whole numbers if one of them is."""
        if one is other:
            return
        for first, second in ((one, other), (other, one)):
            if first.kind != second.kind and first.kind in WHOLE:
                loaded = [origin for origin in second.origins if origin.element]
                sure = CERTAIN if first.kind == "i64" else PERHAPS  # the compiler demands it
                self.facts.is_kind(loaded, first.kind, sure, f"{why} with a whole number")

    def address(self, value: Value, why: str) -> list[str]:
        """Note that a value is an address, and return the parameters that are its pointers.

        The other summands are whole numbers.
        """
        pointers: list[str] = []
        for terms in value.sums:
            is_cast = any(term.kind == "pointer" and not term.argument for term in terms)
            names = [term.argument for term in terms if term.argument]
            base = None if is_cast else self._pointer_among(names)
            if base:
                self.facts.pointer(base, why)
                pointers.append(base)
            for term in terms:
                if is_cast or (base is not None and term.argument != base):
                    self.facts.is_kind(term.origins, "int", CERTAIN, PART_OF_ADDRESS)
        return list(dict.fromkeys(pointers))

    def _pointer_among(self, names: Sequence[str]) -> str | None:
        pointers = [name for name in names if name in self.facts.pointers]
        likely = [name for name in names if self.facts.kind_of(ValueOrigin(name)) not in WHOLE]
        named = [name for name in likely if "ptr" in name.lower()]
        return next(iter((*pointers, *named, *likely, *names)), None)

    def call(
        self,
        function: JitFunction,
        module: JitModule,
        arguments: Mapping[str, Value],
        nodes: Mapping[str, ast.expr],
        constants: Mapping[str, object],
    ) -> Value:
        """Follow a function of a module where it is called with these arguments."""
        if self.depth >= _DEPTH or any(around is function for around in self._inside):
            return Value()
        inner = Walk.of(function, module, self.facts, {}, constants, self)
        defaults = {
            parameter.name: inner.value(parameter.default)
            for parameter in function.parameters
            if parameter.default is not None
        }
        inner.names = {**defaults, **arguments}
        inner.passed = {
            name: passed
            for name, node in nodes.items()
            if name not in function.assignment_counts
            and (passed := self.by_names_of_kernel(node)) is not None
        }
        inner.body(function.node.body)
        return inner.returned or Value()


def _unchanged(value: Value) -> list[str]:
    """Return the run-time parameters that a value may be, with nothing added to them."""
    return [terms[0].argument for terms in value.sums if len(terms) == 1 and terms[0].argument]


def _pointers_in(value: Value) -> list[str]:
    """Return the parameters that may be the pointer of a value.

    For a loaded value this is the parameter that it is loaded through.
    """
    arguments = [term.argument for term in value.terms if term.argument]
    elements = [origin.name for origin in value.origins if origin.element]
    is_loaded = len(value.terms) == len(value.origins) == len(elements) == 1
    return arguments or (elements if is_loaded else [])


def _has_call(node: ast.expr) -> bool:
    return any(isinstance(inner, ast.Call) for inner in ast.walk(node))


def _is_zero(node: ast.expr) -> bool:
    """Whether a node is the literal 0, which kernels also compare floating-point numbers with."""
    return isinstance(node, ast.Constant) and node.value == 0


def _conditions(test: ast.expr) -> list[ast.expr]:
    if isinstance(test, ast.BoolOp):
        return [condition for value in test.values for condition in _conditions(value)]
    return _conditions(test.operand) if isinstance(test, ast.UnaryOp) else [test]


def _merge_values(one: Mapping[str, Value], other: Mapping[str, Value]) -> dict[str, Value]:
    changed = [name for name in one if name in other and one[name] is not other[name]]
    both = {name: one[name].alternatively(other[name]) for name in changed}
    return {**one, **other, **both}
