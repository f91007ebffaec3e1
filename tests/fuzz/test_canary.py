"""The canary reports trespasses and allows everything else."""

from __future__ import annotations

import os
import runpy
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.fuzz.canary import Trespass, watched
from tests.together import for_each


def run_code(folder: Path) -> None:
    (folder / "code.py").write_text("x = 1\n")
    runpy.run_path(str(folder / "code.py"))


def link_out(folder: Path) -> None:
    (folder / "link").symlink_to("../secret")
    (folder / "link").read_text()


TRESPASSES: dict[str, tuple[Callable[[Path], object], str]] = {
    "writes above": (lambda folder: (folder / "../x").write_text(""), "to write"),
    "writes elsewhere": (lambda folder: (folder / "../../elsewhere").write_text(""), "to write"),
    "links elsewhere": (lambda folder: os.link(folder / "../secret", folder / "x"), "to write"),
    "truncates": (lambda folder: os.truncate(folder / "../secret", 0), "to write"),
    "changes rights": (lambda folder: (folder / "../secret").chmod(0o777), "to write"),
    "reads above": (lambda folder: (folder / "../secret").read_text(), "to read"),
    "reads by a link": (link_out, "to read"),
    "reads elsewhere": (lambda folder: Path("/compat-fuzz/secret").read_text(), "to read"),
    "makes a folder": (lambda folder: (folder / "../x").mkdir(), "to write"),
    "renames": (lambda folder: (folder / "../secret").rename(folder / "x"), "to write"),
    "removes": (lambda folder: (folder / "../secret").unlink(), "to write"),
    "opens a database": (lambda folder: sqlite3.connect(folder / "../x.db").close(), "to write"),
    "starts a process": (lambda folder: subprocess.run(["true"], check=True), "Popen"),
    "runs code": (run_code, "ran"),
}


@for_each("name", TRESPASSES)
def test_trespass_is_reported_and_changes_nothing(name: str, tmp_path: Path) -> None:
    act, pattern = TRESPASSES[name]
    with pytest.raises(Trespass, match=pattern), watched(tmp_path) as folder:
        act(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["inside", "secret", "secret.py"]
    assert not (tmp_path.parent / "elsewhere").exists()
    assert (tmp_path / "secret").read_text() == "secret = 1\n"


def _write_and_catch(path: Path) -> None:
    with suppress(Trespass):
        path.write_text("overwritten")


def test_caught_trespass_is_still_reported_and_changes_nothing(tmp_path: Path) -> None:
    with pytest.raises(Trespass, match="to write"), watched(tmp_path) as folder:
        _write_and_catch(folder / "../secret")
    assert (tmp_path / "secret").read_text() == "secret = 1\n"


def test_other_actions_are_allowed(tmp_path: Path) -> None:
    with watched(tmp_path) as folder:
        (folder / "x").write_text("1")
        (folder / "x").rename(folder / "y")
        Path(__file__).read_text()
        sqlite3.connect(folder / "x.db").close()
        Path(os.devnull).write_text("x")
    (tmp_path / "x").write_text("the watch is over")
