"""Which patterns a source defines, for ``compat init`` and for kernels that no kernel file
describes.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from pathlib import Path

from attrs import frozen

from compat.toolchains.language import GuessedKernel, UnreachableKernel


@frozen(kw_only=True)
class LoomModule:
    """The functions of a source that are decorated with ``loom.pattern``."""

    functions: dict[str, ast.FunctionDef]
    unreachable: tuple[UnreachableKernel, ...] = ()
    called_names: frozenset[str] = frozenset()
    launched_names: frozenset[str] = frozenset()

    def kernels(self, helpers: Collection[str], others: object = ()) -> tuple[GuessedKernel, ...]:
        """The functions as kernels without arguments."""
        return tuple(
            GuessedKernel(name=name, function=name, line=function.lineno, tables={})
            for name, function in self.functions.items()
        )


def read_module(path: Path) -> LoomModule:
    """The patterns of a source. Raises OSError and SyntaxError."""
    functions = (
        node for node in ast.parse(path.read_bytes()).body if isinstance(node, ast.FunctionDef)
    )
    return LoomModule(
        functions={
            node.name: node for node in functions if any(map(_is_pattern, node.decorator_list))
        }
    )


def _is_pattern(decorator: ast.expr) -> bool:
    return ast.unparse(decorator).startswith("loom.pattern(")
