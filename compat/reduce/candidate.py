"""What is being made smaller: a module's text with all that a compile needs to know of its kernel, and how heavy that is."""

from __future__ import annotations

import ast
import hashlib
import json
from functools import cached_property

from attrs import Factory, define, evolve

from compat import toolchains
from compat.model import DEFAULT_TOOLCHAIN, CompileSpec, Specialization, arguments, signatures
from compat.source.parsing import tree_of
from compat.toolchains.base import Simplification

_NODE = 16
_WEIGHT: tuple[tuple[type[ast.AST], int], ...] = (
    (ast.Pass, 1),
    (ast.stmt, 24),
    (ast.Name, 20),  # a name is more than a number: something has to define it
    (ast.expr, _NODE),
    (ast.keyword, _NODE),
    (ast.arg, _NODE),
)


@define(frozen=True, kw_only=True, slots=False, eq=False)
class Candidate:
    """A kernel and its specialization, as a value. Nothing of it is on disk."""

    text: str
    """A whole module."""
    function: str
    compile: CompileSpec = Factory(CompileSpec)
    toolchain: str = DEFAULT_TOOLCHAIN

    @classmethod
    def of(cls, spec: Specialization, text: str) -> Candidate:
        """The candidate to start from: ``spec``, with ``text`` for its source."""
        return cls(text=text, function=spec.function, compile=spec.compile, toolchain=spec.toolchain)

    def specialize(self, spec: Specialization, source: str) -> Specialization:
        """``spec`` with this candidate in it, whose text is in the file ``source``."""
        return evolve(spec, source=source, roots=(), function=self.function, compile=self.compile, closure=self.key)

    @cached_property
    def language(self) -> Simplification:
        """What is known of the language that it is written in."""
        return toolchains.named(self.toolchain).language.simplification

    @cached_property
    def key(self) -> str:
        """Equal for equal candidates."""
        facts = [self.text, self.function, self.compile.document()]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    @cached_property
    def tree(self) -> ast.Module:
        """The text, parsed. Not to be changed."""
        return tree_of(self.text)

    @cached_property
    def weight(self) -> tuple[int, int]:
        """How much there is to read: of the code and the specialization first, then of bare letters.

        Every accepted candidate is lighter than the one before it, which is why a search ends.
        """
        facts = 8 * sum(map(len, self.compile.hints.values()))
        facts += sum(_NODE + self._of_type(kind) for kind in signatures.leaves(self.compile.signature).values())
        facts += sum(_NODE + self._of_argument(leaf) for leaf in arguments.leaves(tuple(self.compile.launch.values())))
        facts += sum(2 * _NODE + _of_value(value) for value in self.compile.constexprs.values())
        facts += sum(2 * _NODE + _of_value(value) for value in self.compile.options.values())
        return sum(_of_node(node) for node in ast.walk(self.tree)) + facts, len(self.text)

    def _of_argument(self, value: object) -> int:
        """What a launch passes: a tensor by its type, with a hint for each fact that is not as usual; a number by itself."""
        if arguments.is_tensor(value):
            dtype = arguments.dtype_of(value)
            return self._of_type(f"*{dtype}") + 8 * int(value != arguments.tensor(dtype))
        return 2 * _NODE if isinstance(value, str | dict) else _of_value(value)

    def _of_type(self, kind: str) -> int:
        element, plain = kind.removeprefix("*k").removeprefix("*"), self.language.argument_types
        return (plain.index(element) if element in plain else 2 * _NODE) + 4 * (kind.startswith("*") + kind.startswith("*k"))

    @property
    def lines(self) -> int:
        """Lines that are not empty."""
        return sum(bool(line.strip()) for line in self.text.splitlines())

    @cached_property
    def kernel_lines(self) -> int:
        """Lines of the kernel itself: its ``def`` line and its body."""
        kernel = next(node for node in self.tree.body if isinstance(node, ast.FunctionDef) and node.name == self.function)
        return (kernel.end_lineno or kernel.lineno) - kernel.lineno + 1


def _of_node(node: ast.AST) -> int:
    if isinstance(node, ast.Constant):
        return _NODE + _of_value(node.value)
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store):
        return 2 * _NODE * len(node.elts)  # `a, b = c, d` is no easier to read than two lines
    return next((weight for kind, weight in _WEIGHT if isinstance(node, kind)), 0)


def _of_value(value: object) -> int:
    """A small number is lighter than a large one, no number heavier than a node; a fraction is heavier than a whole number."""
    if isinstance(value, bool) or value is None:
        return 1
    if isinstance(value, int):
        return min(abs(value).bit_length(), 14) + (value < 0)
    return 2 if value == 0.0 else 15
