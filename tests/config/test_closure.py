"""The closure of a kernel's source: its files, and a digest that changes with them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from compat.source.closure import closure_files, read_source

FILES = {
    "kernel.py": (
        "import os\nimport helper\nfrom pack.deep import f\nfrom . import sibling\nimport gone\n"
    ),
    "helper.py": "def h():\n    from late import x\n",
    "late.py": "import helper  # a circle\nfrom ... import beyond\n",
    "sibling.py": "x = 1\n",
    "pack/__init__.py": "from .other import y\n",
    "pack/deep.py": "from .. import above\n",
    "pack/other.py": "y = 1\n",
    "pack/unused.py": "",
    "above.py": "def broken(:\n",
    "unrelated.py": "",
}
DRAWN = {
    "kernel.py",
    "helper.py",
    "late.py",
    "sibling.py",
    "pack/__init__.py",
    "pack/deep.py",
    "pack/other.py",
    "above.py",
}


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "kernels" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "beyond.py").write_text("", encoding="utf-8")
    return tmp_path / "kernels/kernel.py"


def test_imports_are_followed_inside_the_folder(kernel: Path) -> None:
    files = closure_files(kernel, ast.parse(kernel.read_text(encoding="utf-8")))
    assert {path.relative_to(kernel.parent).as_posix() for path in files} == DRAWN


@pytest.mark.parametrize("name", sorted(FILES))
def test_the_digest_changes_only_with_files_of_the_closure(kernel: Path, name: str) -> None:
    before = read_source(kernel).closure
    path = kernel.parent / name
    path.write_text(path.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    assert (read_source(kernel).closure != before) == (name in DRAWN)


def test_the_digest_does_not_depend_on_where_the_folder_is(kernel: Path, tmp_path: Path) -> None:
    before = read_source(kernel).closure
    moved = kernel.parent.rename(tmp_path / "elsewhere")
    assert read_source(moved / "kernel.py").closure == before


def test_parameters_and_required_parameters_are_read(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text("def f(a, b: int, /, c=1, *, d, e=2): ...\n", encoding="utf-8")
    parameters = read_source(path).functions["f"]
    assert parameters.names == ("a", "b", "c", "d", "e")
    assert parameters.required == {"a", "b", "d"}
