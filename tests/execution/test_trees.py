"""The files that kernels are imported from: read here, and written elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.source.closure import LIBRARY, read_source
from compat.source.tree import SourceOrigin, Tree, Trees


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        "pkg/__init__.py": "",
        "pkg/kernel.py": "from pkg.helper import f\nfrom . import late\n",
        "pkg/helper.py": "def f(): ...\n",
        "pkg/late.py": "",
        "pkg/unused.py": "",
        "pkg/table.json": "{}",
        ".secret": "x",
        "pkg/__pycache__/kernel.pyc": "x",
    }
    for name, text in files.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "project"


def written(tree: Tree | None, there: Path) -> dict[str, list[str]]:
    """Folder → the names of the files that are written for it."""
    assert tree is not None
    tree.write(there)
    return {
        folder: sorted(
            path.relative_to(place).as_posix() for path in Path(place).rglob("*") if path.is_file()
        )
        for folder, place in tree.places(there)
    }


def test_tree_holds_the_files_that_imports_show(project: Path, tmp_path: Path) -> None:
    source = project / "pkg" / "kernel.py"
    tree = Trees().of([SourceOrigin(source=str(source))])
    names = ["pkg/__init__.py", "pkg/helper.py", "pkg/kernel.py", "pkg/late.py"]
    assert written(tree, tmp_path / "there") == {str(project): names}
    assert read_source(tmp_path / "there/0/pkg/kernel.py").closure == read_source(source).closure


def test_whole_tree_also_holds_files_that_no_import_shows(project: Path, tmp_path: Path) -> None:
    origin = SourceOrigin(source=str(project / "pkg" / "kernel.py"))
    trees = Trees()
    names = ["__init__", "helper", "kernel", "late"]
    files = written(trees.of([origin], whole=True), tmp_path / "there")
    assert files == {
        str(project): sorted(
            [*(f"pkg/{name}.py" for name in names), "pkg/table.json", "pkg/unused.py"]
        )
    }
    for name in ("table.json", "unused.py"):
        (project / "pkg" / name).unlink()
    assert Trees().of([origin], whole=True) is None, "it would have nothing more"


def test_whole_tree_of_too_many_files_is_none(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compat.source.tree._MOST_FILES", 5)
    assert Trees().of([SourceOrigin(source=str(project / "pkg" / "kernel.py"))], whole=True) is None


def test_root_inside_another_root_is_no_folder_of_its_own(project: Path, tmp_path: Path) -> None:
    origin = SourceOrigin(
        source=str(project / "pkg" / "kernel.py"), roots=(str(project / "pkg"), str(project))
    )
    tree = Trees().of([origin])
    assert tree is not None
    assert tree.folders == (str(project),)


def test_digest_of_a_tree_does_not_depend_on_its_folder(project: Path, tmp_path: Path) -> None:
    tree = Trees().of([SourceOrigin(source=str(project / "pkg" / "kernel.py"))])
    project.rename(tmp_path / "moved")
    moved = Trees().of([SourceOrigin(source=str(tmp_path / "moved" / "pkg" / "kernel.py"))])
    assert tree is not None
    assert moved is not None
    assert tree.digest == moved.digest


def test_tree_is_read_again_when_a_file_has_changed(project: Path) -> None:
    trees, origins = Trees(), [SourceOrigin(source=str(project / "pkg" / "kernel.py"))]
    first = trees.of(origins)
    assert trees.of(origins) is first
    (project / "pkg" / "helper.py").write_text("def f(): return 12\n")
    assert trees.of(origins) != first


def test_all_kernels_of_a_library_have_one_tree(project: Path) -> None:
    (project / LIBRARY).write_text("{}")
    trees = Trees()
    one, other = (
        trees.of([SourceOrigin(source=str(project / "pkg" / f"{name}.py"), roots=(str(project),))])
        for name in ("kernel", "late")
    )
    assert one is other


def test_copy_of_site_packages_keeps_that_folder_name(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "kernel.py").write_text("")
    tree = Trees().of([SourceOrigin(source=str(folder / "kernel.py"))])
    assert tree is not None
    assert tree.places(Path("/there")) == ((str(folder), "/there/0/site-packages"),)


def test_writing_a_tree_twice_leaves_no_temporary_files(project: Path, tmp_path: Path) -> None:
    tree = Trees().of([SourceOrigin(source=str(project / "pkg" / "kernel.py"))])
    assert tree is not None
    for _ in range(2):
        tree.write(tmp_path / "there")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
