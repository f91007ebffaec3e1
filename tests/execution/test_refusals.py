"""Refusals of a machine that a test cannot cause: a failing disk, a quota, no further process."""

from __future__ import annotations

import errno
import os
from pathlib import Path

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
