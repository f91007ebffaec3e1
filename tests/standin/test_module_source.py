"""The shortcuts that speed up imports of libraries have the same result as the full work."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from compat.toolchains.pytorch.standin.module_source import (
    REQUIRE_KNOWN,
    ModuleSource,
    parse,
    remember_blocks,
)
from tests.together import for_each

LARGE = ("argparse", "ast", "dataclasses", "inspect", "typing", "unittest.mock")
"""Modules of Python with many comparisons, calls and functions."""

CASES = {
    "operands of `is`": ("a is b", "known(a) is known(b)"),
    "of `is not` in a chain": ("a < b is not c", "known(a) < known(b) is not known(c)"),
    "over several lines": ("x = (a\n     is\n     b)", "x = (known(a) is known(b))"),
    "the argument of `type`": ("type(\n    a\n)", "type(known(a))"),
    "of `callable`, within others": ("f(g(callable(a)))", "f(g(callable(known(a))))"),
    "of `id`, in a lambda": ("lambda: id(a)", "lambda: id(known(a))"),
    "a constant, which is known": ("a is None", "known(a) is None"),
    "several arguments": ("type(a, b, c)", "type(a, b, c)"),
    "in an f-string": ("f'''\n{a\nis b}'''", "f'''\n{known(a)\nis known(b)}'''"),
    "in a decorator": ("@f(\n  a is b)\ndef g(): ...", "@f(known(a) is known(b))\ndef g(): ..."),
    "in a default": ("def f(\n  a=type(b)): ...", "def f(a=type(known(b))): ..."),
    "in a method": (
        "class A:\n  def f(self):\n    if a:\n      return b is c",
        "class A:\n  def f(self):\n    if a:\n      return known(b) is known(c)",
    ),
    "after lines that end in other ways": (
        "a = 1\r\nb = 2\rc is d",
        "a=1\nb=2\nknown(c) is known(d)",
    ),
    "only in words": ("# this is it\n'it is'\nis_it = {'type': a}", "'it is'\nis_it = {'type': a}"),
}


@for_each("case", CASES)
def test_operands_of_questions_are_wrapped(case: str) -> None:
    source, expected = CASES[case]
    tree = ModuleSource(source.encode(), "case.py").tree
    assert ast.dump(tree) == ast.dump(ast.parse(expected.replace("known(", f"{REQUIRE_KNOWN}(")))


@for_each("name", LARGE)
def test_operands_of_all_questions_of_a_module_are_wrapped(name: str) -> None:
    data = Path(str(importlib.import_module(name).__file__)).read_bytes()
    assert ast.dump(ModuleSource(data, name).tree) == ast.dump(_Asked().visit(ast.parse(data)))


class _Asked(ast.NodeTransformer):
    """Makes the same tree, but visits every node."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if any(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops):
            node.left = _known(node.left)
            node.comparators = [_known(operand) for operand in node.comparators]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="type" | "callable" | "id"), args=[one], keywords=[]):
                node.args = [_known(one)]
        return node


def _known(value: ast.expr) -> ast.expr:
    return (
        value
        if isinstance(value, ast.Constant | ast.Starred)
        else ast.Call(ast.Name(REQUIRE_KNOWN, ast.Load()), [value], [])
    )


@pytest.fixture
def remembering(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Python's `inspect.getsourcelines`, which the one of the stand-ins replaces during a test."""
    python = inspect.getsourcelines
    monkeypatch.setattr(inspect, "getsourcelines", python)
    remember_blocks()
    return python


@pytest.mark.parametrize("name", LARGE)
def test_the_lines_of_a_function_are_those_that_python_finds(name: str, remembering: Any) -> None:
    module = importlib.import_module(name)
    path = str(module.__file__)
    source = parse(Path(path).read_bytes(), path)
    functions = [
        function for function in _functions(module) if function.__code__.co_filename == path
    ]
    assert len(functions) > 20
    for _ in range(2):
        for function in functions:
            assert inspect.getsourcelines(function) == remembering(function)
    assert source.block_lengths


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    for value in vars(module).values():
        members = vars(value).values() if isinstance(value, type) else (value,)
        yield from (member for member in members if isinstance(member, FunctionType))


def test_a_function_of_a_changed_file_has_its_new_lines(tmp_path: Path, remembering: Any) -> None:
    path = tmp_path / "kernel.py"
    for body in ("    return 1\n", "    a = 1\n    return a  # longer\n"):
        path.write_text("def kernel():\n" + body)
        source = parse(path.read_bytes(), str(path))
        names: dict[str, Any] = {}
        exec(source.code, names)
        assert "".join(inspect.getsourcelines(names["kernel"])[0]) == path.read_text()
