"""Copies of a kernel's file with another text, and of the files that it imports."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from attrs import evolve

from compat.errors import ConfigError
from compat.fix.changes import ChangedFile, SourceFile, with_values
from compat.model import Cell, Env
from compat.source.closure import LIBRARY, read_source
from compat.workers.attempt import InFlightCell
from tests.cells import spec
from tests.standin.packages import written
from tests.targets import TARGETS
from tests.together import for_each

FILES = {
    "project/lib/mine/__init__.py": "",
    "project/lib/mine/kernel.py": (
        "from .near import a\nimport mine.far\nfrom theirs import b\nimport lib.mine.near\n"
    ),
    "project/lib/mine/near.py": "a = 1\n",
    "project/lib/mine/far.py": "c = 2\n",
    "project/lib/mine/unused.py": "d = 3\n",
    "libraries/theirs/__init__.py": "from mine.near import a as b\n",
    f"libraries/{LIBRARY}": json.dumps({"requirement": "theirs==1.0"}),
}


def test_copy_replaces_every_root_that_contains_the_file(tmp_path: Path) -> None:
    """``mine`` is found from two roots, one inside the other.

    The original must not be imported from either of them.
    """
    folder = written(tmp_path, FILES)
    path, roots = (
        folder / "project/lib/mine/kernel.py",
        (folder / "project/lib", folder / "libraries", folder / "project"),
    )
    source = SourceFile.read(path, roots)
    original = spec(
        "api",
        "copy",
        source=str(path),
        roots=tuple(map(str, roots)),
        closure=read_source(path, roots).closure,
    )
    same = source.specialize(original, source.text, tmp_path / "same")
    assert same.closure == original.closure, "an edit that is none is the same kernel to the store"
    edited = source.specialize(original, f"{source.text}e = 4\n", tmp_path / "edited")
    assert edited.closure != original.closure
    copied = tmp_path / "edited"
    assert edited.roots == (str(copied / "lib"), str(folder / "libraries"), str(copied))
    assert sorted(file.relative_to(copied).as_posix() for file in copied.rglob("*.py")) == [
        "lib/mine/__init__.py",
        "lib/mine/far.py",
        "lib/mine/kernel.py",
        "lib/mine/near.py",
    ]
    cell = Cell(env=Env(name="any"), target=TARGETS["sm_90"], spec=edited)
    job = InFlightCell(cell=cell, nonce="").job()
    assert (job["source"], job["module"]) == (str(copied / "lib/mine/kernel.py"), "mine.kernel")


def test_a_file_of_an_unpacked_library_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path, FILES)
    with pytest.raises(ConfigError, match=r"theirs==1\.0, a library from the package index"):
        SourceFile.read(
            folder / "libraries/theirs/__init__.py", (folder / "project/lib", folder / "libraries")
        )


@for_each(
    ("text", "new"),
    [
        ("a = 1\nb = 2\nc = 3", "a = 1\nb = 4\nc = 3"),
        ("a = 1\nb = 2", "a = 1\nb = 3"),
        ("a = 1\nb = 2", "a = 1\nb = 2\n"),
        ("a = 1\n\f\nb = 2\n", "a = 1\n\f\nb = 3\n"),
        ("a = 1\r\nb = 2\r\nc = 3\r\n", "a = 1\r\nb = 4\r\nc = 3\r\n"),
        ("a = 1\r\nb = 2\r\nc = 3", "a = 1\r\nb = 4\r\nc = 3"),
    ],
)
def test_diff_can_be_applied_whatever_the_ends_of_lines_are(
    text: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "kernel.py"
    path.write_bytes(text.encode())
    diff = ChangedFile.of(SourceFile.read(path), new.replace("\r\n", "\n")).diff
    subprocess.run(["patch", "-p1"], input=f"{diff}\n".encode(), check=True, capture_output=True)
    assert path.read_bytes() == new.encode()


SEVERAL = """schema = 1
source = "kernels.py"
constexprs = { BLOCK = 64 }
hints = { divisible_by_16 = ["x"] }

[[kernel]]
name = "first"
signature = { x = "*fp32", WIDTH = "i32" }

[[kernel]]
name = "second"
[kernel.signature]
x = "*fp32"
WIDTH = "i32" # of a row
"""


def test_value_of_one_of_several_kernels_changes_in_its_own_table(tmp_path: Path) -> None:
    path = tmp_path / "kernels.toml"
    path.write_text(SEVERAL)
    second = evolve(spec("api", "copy"), kernel="second")
    before, after = with_values(path, second, {"WIDTH": 16, "BLOCK": 128})
    assert before == SEVERAL
    assert after == SEVERAL.replace(
        '"second"\n', '"second"\nconstexprs = {WIDTH = 16, BLOCK = 128}\n\n'
    ).replace('WIDTH = "i32" # of a row\n', "")
    with pytest.raises(ConfigError, match="the type of x, which is the same for several kernels"):
        with_values(path, second, {"x": 1})
