"""What a machine refuses and a test cannot have it refuse: a failing disk, a quota, no further
process.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from compat.errors import REFUSALS, MachineError
from compat.model import Evidence, Raised
from compat.workers import evidence

UNSEEN = [errno.EIO, errno.EDQUOT, errno.EAGAIN, errno.ENFILE]


def attempt(number: int, folder: Path) -> Evidence:
    """One that ended in the error that Python raises for this number."""
    error = OSError(number, os.strerror(number), str(folder / "kernel.ptx"))
    return Evidence(
        answered=True, raised=(Raised(type=type(error).__name__, message=str(error), errno=number),)
    )


@pytest.mark.parametrize("number", UNSEEN)
def test_an_attempt_that_was_refused_something_says_so(number: int, tmp_path: Path) -> None:
    assert os.strerror(number) in str(evidence.refusal(attempt(number, tmp_path), tmp_path))
    printed = Evidence(answered=True, stderr=f"ptxas fatal : {os.strerror(number)}\n")
    assert os.strerror(number) in str(evidence.refusal(printed, tmp_path))


@pytest.mark.parametrize("number", UNSEEN)
def test_what_the_machine_still_refuses_ends_the_command(
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
def test_what_it_refuses_no_more_does_not(number: int, tmp_path: Path) -> None:
    """A kernel's file can raise any error: one alone is no reason to end a command."""
    assert evidence.lack_of_machine(attempt(number, tmp_path), tmp_path) is None
