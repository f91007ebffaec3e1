"""The records of exceptions: their chain, messages and frames, with limits."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

from compat.worker.exceptions import (
    cut,
    exception_chain,
    exceptions_of,
    innermost_line,
    message_of,
    traceback_of,
)

SOURCE = """
def deep(count):
    if count:
        return deep(count - 1)
    raise ValueError("no")

def hidden():
    try:
        deep(2)
    except ValueError:
        raise KeyError("other") from None

def caused():
    try:
        deep(0)
    except ValueError as error:
        raise KeyError("other") from error

def during():
    try:
        deep(0)
    except ValueError:
        raise KeyError("other")
"""


@pytest.fixture
def kernel(tmp_path: Path) -> ModuleType:
    """A module with functions that raise."""
    module, path = ModuleType("kernel"), tmp_path / "kernel.py"
    path.write_text(SOURCE)
    exec(compile(SOURCE, path, "exec"), vars(module))
    return module


def raised(function: Callable[..., object], *arguments: object) -> BaseException:
    with pytest.raises(Exception) as error:  # noqa: PT011 - its type is what is tested
        function(*arguments)
    return error.value


def types(error: BaseException) -> list[str]:
    return [type(link).__name__ for link in exceptions_of(error)]


def test_chain_has_causes_and_shown_contexts(kernel: ModuleType) -> None:
    assert types(raised(kernel.caused)) == ["KeyError", "ValueError"]
    assert types(raised(kernel.during)) == ["KeyError", "ValueError"]
    assert types(raised(kernel.hidden)) == ["KeyError"]
    circular, other = ValueError("a"), ValueError("b")
    circular.__cause__, other.__cause__ = other, circular
    assert exceptions_of(circular) == [circular, other]


def test_long_chain_keeps_both_ends() -> None:
    errors = [ValueError(str(number)) for number in range(9)]
    for error, cause in pairwise(errors):
        error.__cause__ = cause
    kept = exception_chain(errors[0], links=4)
    assert [link["message"] for link in kept] == ["0", "1", "7", "8"]


def test_frames_are_those_of_the_kernel_with_the_hidden_ones(
    kernel: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "kernel.py"
    own = traceback_of(raised(kernel.deep, 1)).splitlines()[-4:]
    assert own == [
        f'  File "{path}", line 4, in deep',
        "    return deep(count - 1)",
        f'  File "{path}", line 5, in deep',
        '    raise ValueError("no")',
    ]
    assert traceback_of(raised(kernel.hidden)).count("in deep") == 3
    assert "in deep" not in traceback_of(raised(kernel.caused))


def test_long_traceback_is_cut_in_the_middle_and_then_at_its_beginning(
    kernel: ModuleType,
) -> None:
    text = traceback_of(raised(kernel.deep, 60))
    assert "frames left out …]" in text
    assert len(text) <= 4096
    assert text.endswith('raise ValueError("no")\n')


def test_innermost_line_is_below_the_folder_and_not_of_a_package(
    kernel: ModuleType, tmp_path: Path
) -> None:
    error = raised(kernel.deep, 1)
    assert innermost_line(error, str(tmp_path)) == (str(tmp_path / "kernel.py"), 5)
    assert innermost_line(error, str(tmp_path / "other")) is None
    package = tmp_path / "site-packages/package.py"
    code = compile("raise ValueError", package, "exec")
    assert innermost_line(raised(exec, code), str(tmp_path)) is None
    broken = SyntaxError("no", (str(tmp_path / "broken.py"), 7, 1, "("))
    assert innermost_line(broken, str(tmp_path)) == (str(tmp_path / "broken.py"), 7)


def test_error_of_the_system_has_its_number() -> None:
    (link,) = exception_chain(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert (link["type"], link["errno"]) == ("OSError", errno.ENOSPC)
    assert "errno" not in exception_chain(OSError("no number"))[0]


def test_type_outside_builtins_has_its_module() -> None:
    (link,) = exception_chain(subprocess.SubprocessError("no"))
    assert link["type"] == "subprocess.SubprocessError"


class Mute(Exception):
    """An exception without a text."""

    def __str__(self) -> NoReturn:
        raise ZeroDivisionError


def test_message_that_cannot_be_made_says_so() -> None:
    assert message_of(Mute(), 100) == "<no message: ZeroDivisionError>"


def test_long_text_is_cut_in_the_middle() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefgh", 4) == "ab\n[… 4 characters left out …]\ngh"
