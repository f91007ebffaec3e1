"""Many threads parse Python sources at the same time.

Each slot of a run reads the files of its cells.
"""

from __future__ import annotations

import ast
import gc
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from compat.source import parsing
from compat.source.parsing import expression_of, tree_of
from tests.conftest import ROOT


@pytest.fixture
def switching() -> Iterator[None]:
    """Lets another thread run in the middle of any code that starts a garbage collection.

    The construction of a tree is such code.
    """

    def give_way(*_: Any) -> None:
        time.sleep(0.001)

    gc.callbacks.append(give_way)
    yield
    gc.callbacks.remove(give_way)


def test_parsing_threads_do_not_disturb_each_other(switching: None) -> None:
    """Without a lock, Python 3.11 raises a `SystemError` here.

    Its message is `AST constructor recursion depth mismatch`.
    """
    text = (ROOT / "tests" / "kernels" / "api.py").read_bytes()
    with ThreadPoolExecutor(4) as executor:
        trees = list(executor.map(tree_of, [text] * 16))
    assert len({len(tree.body) for tree in trees}) == 1


def test_a_thread_that_parses_without_the_lock_damages_no_tree(switching: None) -> None:
    """A library's thread parses without our lock, and gets the error of Python 3.11 itself."""
    text = (ROOT / "tests" / "kernels" / "api.py").read_bytes()
    ended = threading.Event()

    def parse() -> None:
        while not ended.is_set():
            with suppress(SystemError):
                ast.parse(text)

    library = threading.Thread(target=parse)
    library.start()
    try:
        trees = [tree_of(text) for _ in range(16)]
    finally:
        ended.set()
        library.join()
    assert len({len(tree.body) for tree in trees}) == 1
    assert gc.isenabled()


@pytest.mark.parametrize("source", ["a b", "\0", "(" * 10_000, "x = 1"])
def test_an_invalid_expression_is_a_syntax_error(source: str) -> None:
    with pytest.raises(SyntaxError):
        expression_of(source)


BINDING = """
import a.b, c as d
from e import f as g
h = (i := j)
for k in l: m += n
with o as (p, *q): del r
try: pass
except S as t: pass
def u(v=w): x = 1
class Y(z): aa = 1
[bb for bb in cc]
lambda dd: ee
match ff:
    case [gg]: hh: int
ii.jj = kk[ll] = 1
"""


def test_bound_returns_the_names_that_a_scope_binds() -> None:
    """Inner scopes bind their own names."""
    tree = parsing.tree_of(BINDING)
    assert parsing.bound_names(tree.body) == {*"adghikmpqrtuY", "gg", "hh"}
    assert parsing.bound_names([ast.parse("def f(): pass")]) == {"f"}
    nodes = [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]
    assert sorted(map(id, parsing.walk(tree))) == sorted(map(id, nodes))
