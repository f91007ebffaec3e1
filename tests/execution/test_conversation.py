"""Programs that stay and answer."""

from __future__ import annotations

import sys
import threading
import time

import pytest

from compat.interruption import Stopped
from compat.processes.supervisor import Session, SessionEnded

ECHO = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)"


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_line_by_line() -> None:
    with Session(python(ECHO)) as session:
        assert session.ask("one", 10) == "ONE"
        assert session.ask("two", 10) == "TWO"


def test_one_that_ends_tells_its_last_line() -> None:
    with (
        Session(python("import sys; sys.exit('no GPU')")) as session,
        pytest.raises(SessionEnded, match="no GPU"),
    ):
        session.read_line(10)


def test_one_that_ends_while_it_is_asked() -> None:
    with (
        Session(python("input()")) as session,
        pytest.raises(SessionEnded, match="it ended without output"),
    ):
        session.ask("one", 10)


def test_one_that_does_not_answer() -> None:
    with (
        Session(python("import time; time.sleep(60)")) as session,
        pytest.raises(SessionEnded, match=r"within 0\.2 s"),
    ):
        session.ask("one", 0.2)


def test_whoever_waits_can_be_stopped() -> None:
    stop = threading.Event()
    began = time.monotonic()
    with Session(python("import time; time.sleep(60)"), stop) as session:
        threading.Timer(0.2, stop.set).start()
        with pytest.raises(Stopped):
            session.read_line(60)
    assert time.monotonic() - began < 30


def test_no_such_program() -> None:
    with pytest.raises(SessionEnded, match="No such file"):
        Session(["/no/such/program"])
