"""Files are replaced as a whole, or stay as they were."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.files import replace_file


def test_replace_file_creates_the_folder_and_leaves_only_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.txt"
    replace_file(path, "für")
    replace_file(path, "zweitens")
    assert path.read_bytes() == b"zweitens"
    replace_file(path, b"\xff")
    assert path.read_bytes() == b"\xff"
    assert [entry.name for entry in path.parent.iterdir()] == ["b.txt"]


@pytest.mark.parametrize("step", ["open", "replace"])
def test_failed_replacement_keeps_the_old_file_and_leaves_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "kept.txt"
    path.write_text("before")

    def full(self: Path, *_: object, **__: object) -> None:
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, step, full)
    with pytest.raises(OSError, match="No space"):
        replace_file(path, "after")
    monkeypatch.undo()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_pieces_that_end_early_leave_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "kept.txt"
    replace_file(path, iter(["be", "fore"]))

    def pieces() -> Iterator[str]:
        yield "after"
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        replace_file(path, pieces())
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
