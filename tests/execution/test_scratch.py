"""Temporary folders are private, and are removed when closed, at the latest with the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from compat.errors import MachineError
from compat.files import TemporaryFolder
from tests.together import for_each

ROOT = Path(__file__).parents[2]


def test_a_folder_is_private_and_gone_when_it_is_closed() -> None:
    with TemporaryFolder("compat-test-") as path:
        assert path.stat().st_mode & 0o777 == 0o700
        (path / "inside").mkdir()
        (path / "inside" / "file").write_text("")
        (path / "inside").chmod(0)
    assert not path.exists()


def test_unclosed_folder_is_removed_with_the_process(tmp_path: Path) -> None:
    program = (
        "from compat.files import TemporaryFolder;"
        " print(TemporaryFolder('compat-test-').path.exists())"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"
    assert list(tmp_path.iterdir()) == []


def test_folder_that_cannot_be_made_is_a_machine_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(MachineError, match="cannot create temporary files"):
        TemporaryFolder("compat-test-")


@for_each("name", ["a b", "it's", "$(id)", 'a"b', "a&b", "é_ü-1.2"])
def test_the_path_of_a_folder_needs_no_quotes_in_a_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    place = tmp_path / name
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    with TemporaryFolder("compat-test-") as path:
        assert path.parent == (place if name.startswith("é") else Path("/tmp"))


HOLDS = """
import sys, time
from compat.files import TemporaryFolder
print(TemporaryFolder("compat-test-").path, flush=True)
time.sleep(60)
"""


def test_folder_of_a_killed_command_is_removed_by_the_next_command(tmp_path: Path) -> None:
    """The next command keeps the folders of running commands, and a folder that others named so."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    others = tmp_path / "compat-notes"
    others.mkdir()
    holders = []
    for _ in range(2):
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLDS], env=environ, stdout=subprocess.PIPE, text=True
        )
        assert holder.stdout is not None
        holders.append((holder, Path(holder.stdout.readline().strip())))
    (killed, orphan), (living, needed) = holders
    (orphan / "file").write_text("")
    killed.kill()
    killed.wait()
    assert orphan.exists()
    program = "from compat.files import TemporaryFolder; TemporaryFolder('compat-test-')"
    subprocess.run([sys.executable, "-c", program], env=environ, check=True)
    assert sorted(tmp_path.iterdir()) == sorted([others, needed])
    living.kill()
    for holder, _ in holders:
        holder.communicate()


def test_commands_that_start_together_keep_their_folders(tmp_path: Path) -> None:
    program = (
        "from compat.files import TemporaryFolder\n"
        "folders = [TemporaryFolder('compat-test-') for _ in range(200)]\n"
        "assert all(each.path.exists() for each in folders)\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    started = [subprocess.Popen([sys.executable, "-c", program], env=environ) for _ in range(6)]
    assert [process.wait() for process in started] == [0] * 6
    assert list(tmp_path.iterdir()) == []
