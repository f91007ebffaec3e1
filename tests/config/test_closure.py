"""The closure of a kernel's source: its files, and a digest that changes with them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from compat.source.closure import (
    ClosureCheck,
    SourceReader,
    closure_files,
    module_of,
    read_source,
    roots_of,
)

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


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("from pack.deep import f\n", "pack.ops.inner.act"),
        ("import pack\n", "pack.ops.inner.act"),
        ("from ...deep import f\n", "pack.ops.inner.act"),
        ("from . import shift\n", "pack.ops.inner.act"),
        ("import shift\n", "act"),
        ("import packs\n", "act"),
        ("", "act"),
    ],
)
def test_a_folder_without_an_init_is_part_of_the_package_that_its_file_imports_from(
    kernel: Path, text: str, module: str
) -> None:
    path = kernel.parent / "pack/ops/inner/act.py"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    assert module_of(path, roots_of(path)) == module


# --- many sources of one package ------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path) -> list[Path]:
    """The modules of a package. Importing any of them imports all."""
    names = [f"m{number}" for number in range(12)]
    folder = tmp_path / "pkg"
    folder.mkdir()
    (folder / "__init__.py").write_text("".join(f"from . import {name}\n" for name in names))
    for name in names:
        (folder / f"{name}.py").write_text(f"import torch\ndef {name}(x): ...\n")
    return [folder / f"{name}.py" for name in names]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Files that are read meanwhile."""
    paths: list[Path] = []
    read_bytes = Path.read_bytes

    def recording(path: Path) -> bytes:
        paths.append(path)
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", recording)
    return paths


def test_one_reader_reads_each_file_of_a_package_once(
    package: list[Path], reads: list[Path]
) -> None:
    apart = [read_source(path).closure for path in package]
    assert len(reads) > 10 * len(package)
    reads.clear()
    reader = SourceReader()
    assert [reader.read(path).closure for path in package] == apart
    assert sorted(reads) == sorted([*package, package[0].parent / "__init__.py"])


def test_a_check_reads_each_file_of_a_package_once_while_it_is_unchanged(
    package: list[Path], reads: list[Path]
) -> None:
    closures = {path: read_source(path).closure for path in package}
    check = ClosureCheck()
    reads.clear()
    assert {check.beyond(str(path), closures[path]) for path in package} == {()}
    assert len(reads) == len(package) + 1

    with package[3].open("a") as file:
        file.write("changed = True\n")
    assert {check.beyond(str(path), closures[path]) for path in package} == {None}
    later = {path: read_source(path).closure for path in package}
    assert {check.beyond(str(path), later[path]) for path in package} == {()}


def test_a_check_notices_a_change_before_it_sees_a_source_first(package: list[Path]) -> None:
    closures = {path: read_source(path).closure for path in package}
    check = ClosureCheck()
    assert check.beyond(str(package[0]), closures[package[0]]) == ()
    package[1].write_text("changed = True\n")
    assert check.beyond(str(package[2]), closures[package[2]]) is None
    assert check.beyond(str(package[2]), read_source(package[2]).closure) == ()
