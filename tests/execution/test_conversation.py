"""Sessions with programs that keep running and answer line by line, and their descendants."""

from __future__ import annotations

import sys
import threading
import time

import pytest

from compat.interruption import Stopped
from compat.processes import supervisor
from compat.processes.supervisor import Session, SessionEnded

ECHO = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)"


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_program_answers_line_by_line() -> None:
    with Session(python(ECHO)) as session:
        assert session.ask("one", 10) == "ONE"
        assert session.ask("two", 10) == "TWO"


def test_error_quotes_the_last_line_of_a_program_that_ended() -> None:
    with (
        Session(python("import sys; sys.exit('no GPU')")) as session,
        pytest.raises(SessionEnded, match="no GPU"),
    ):
        session.read_line(10)


def test_program_that_ends_without_an_answer_is_an_error() -> None:
    with (
        Session(python("input()")) as session,
        pytest.raises(SessionEnded, match="it ended without output"),
    ):
        session.ask("one", 10)


def test_program_that_does_not_answer_in_time_is_an_error() -> None:
    with (
        Session(python("import time; time.sleep(60)")) as session,
        pytest.raises(SessionEnded, match=r"within 0\.2 s"),
    ):
        session.ask("one", 0.2)


def test_waiting_for_a_line_can_be_stopped() -> None:
    stop = threading.Event()
    began = time.monotonic()
    with Session(python("import time; time.sleep(60)"), stop) as session:
        threading.Timer(0.2, stop.set).start()
        with pytest.raises(Stopped):
            session.read_line(60)
    assert time.monotonic() - began < 30


def test_missing_program_is_an_error() -> None:
    with pytest.raises(SessionEnded, match="No such file"):
        Session(["/no/such/program"])


def test_family_of_any_depth_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "children", lambda pid: [pid + 1] if pid < 5000 else [])
    assert list(supervisor.family(1)) == list(range(1, 5001))
