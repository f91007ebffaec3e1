"""Refusals of a machine that a test cannot cause: a failing disk, a quota, no further process."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from compat.errors import REFUSALS, MachineError
from compat.model import Evidence, RaisedException
from compat.workers import evidence

UNSEEN = [errno.EIO, errno.EDQUOT, errno.EAGAIN, errno.ENFILE]


def attempt(number: int, folder: Path) -> Evidence:
    """An attempt that ended in the error that Python raises for this number."""
    error = OSError(number, os.strerror(number), str(folder / "kernel.ptx"))
    return Evidence(
        answered=True,
        raised=(RaisedException(type=type(error).__name__, message=str(error), errno=number),),
    )


@pytest.mark.parametrize("number", UNSEEN)
def test_refusal_is_found_in_the_evidence_of_an_attempt(number: int, tmp_path: Path) -> None:
    assert os.strerror(number) in str(evidence.refusal(attempt(number, tmp_path), tmp_path))
    printed = Evidence(answered=True, stderr=f"ptxas fatal : {os.strerror(number)}\n")
    assert os.strerror(number) in str(evidence.refusal(printed, tmp_path))


@pytest.mark.parametrize("number", UNSEEN)
def test_refusal_that_the_machine_repeats_is_a_machine_error(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: Path) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(evidence, "_write_into", refused)
    lack = evidence.lack_of_machine(attempt(number, tmp_path), tmp_path)
    assert isinstance(lack, MachineError)
    assert REFUSALS[number] in str(lack)
    assert lack.exit_code == 7
    assert "run the same command again to continue" in str(lack.hint)


@pytest.mark.parametrize("number", UNSEEN)
def test_refusal_that_the_machine_does_not_repeat_is_no_error(number: int, tmp_path: Path) -> None:
    """A kernel's file can raise any error, so one error alone does not end a command."""
    assert evidence.lack_of_machine(attempt(number, tmp_path), tmp_path) is None


class FileSystem(NamedTuple):
    """What a file system reports."""

    f_flag: int = 0
    f_bavail: int = 1 << 30
    f_frsize: int = 4096
    f_files: int = 1000
    f_favail: int = 1000


@pytest.mark.parametrize(
    ("file_system", "message"),
    [
        (FileSystem(f_flag=os.ST_RDONLY), "the file system is read-only (mounted read-only)"),
        (FileSystem(f_bavail=256), "no space left for temporary files (1.0 MiB are free, 16 are"),
        (FileSystem(f_favail=3), "no space left for temporary files (only 3 more files can be"),
        (FileSystem(f_files=0, f_favail=0), None),  # it does not count files
    ],
)
def test_full_file_system_is_the_reason_whatever_the_attempt_shows(
    file_system: FileSystem,
    message: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "statvfs", lambda path: file_system)
    lack = evidence.lack_of_machine(Evidence(answered=True), tmp_path / "gone")
    assert (lack is None) == (message is None)
    assert (message or "") in str(lack)


@pytest.mark.parametrize(
    ("attempt_evidence", "available", "message"),
    [
        (Evidence(answered=False, stderr="LLVM ERROR: out of memory"), 1 << 20, "1 MiB are avail"),
        (Evidence(answered=False, stderr="LLVM ERROR: out of memory"), 1 << 30, None),
        (Evidence(answered=False, stderr="LLVM ERROR: out of memory"), None, None),
        (Evidence(answered=False, stderr="another error"), 1 << 20, None),
    ],
)
def test_compile_without_memory_is_about_the_machine_if_it_has_none_left(
    attempt_evidence: Evidence,
    available: int | None,
    message: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(evidence, "memory_limit", lambda: "")
    monkeypatch.setattr(evidence, "bytes_in", lambda path, name: available)
    lack = evidence.lack_of_machine(attempt_evidence, tmp_path)
    assert (lack is None) == (message is None)
    assert (message or "") in str(lack)
    monkeypatch.setattr(evidence, "memory_limit", lambda: "ulimit -v is 5")
    limited = evidence.lack_of_machine(attempt_evidence, tmp_path)
    assert (limited is None) == ("out of memory" not in attempt_evidence.stderr)
