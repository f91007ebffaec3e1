"""Programs of the user's that judge: a deadline, nothing left, and what they print."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from compat.bisect.criterion import Criterion
from compat.bisect.judging import ask_program
from compat.cli import logs
from compat.cli.check import judge_options
from compat.errors import SelectionError
from compat.history.account import Judgement
from compat.model import Result
from compat.processes import supervisor
from tests import records
from tests.cells import spec


@pytest.fixture
def result() -> Result:
    return records.result(records.OK, "3.9.0", spec=spec("faces", "fine"))


@pytest.fixture
def judged(result: Result) -> Callable[..., tuple[Judgement, str]]:
    """What a command with these options hears of the result, and what it prints."""

    def ask(command: str, *options: str, times: int = 1) -> tuple[Judgement, str]:
        judgements: list[Judgement] = []

        @click.command()
        @judge_options("ok", "What counts as good.")
        def probe(criterion: Criterion) -> None:
            judgements.extend(criterion(result) for _ in range(times))

        done = CliRunner().invoke(
            probe, ["--judge", f"run={command}", *options], catch_exceptions=False
        )
        assert done.exit_code == 0
        assert done.stdout == ""
        return judgements[0], done.stderr

    return ask


Judged = Callable[..., tuple[Judgement, str]]


def has_ended(pid: int) -> bool:
    """Whether a process has ended, or does within a few seconds: a signal takes a moment."""
    deadline = time.monotonic() + 5
    while supervisor.state(pid) not in ("", "Z"):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_one_that_does_not_end_cannot_tell(judged: Judged, tmp_path: Path) -> None:
    started = time.monotonic()
    command = f"echo thinking; sleep 600 & echo $! > {tmp_path}/pid; sleep 600"
    judgement, shown = judged(command, "--judge-deadline", "0.5")
    assert time.monotonic() - started < 20
    assert judgement is Judgement.UNKNOWN
    assert "timed out after 0.5 s: inconclusive\n  thinking\n" in shown
    assert has_ended(int((tmp_path / "pid").read_text()))


def test_what_it_leaves_in_its_group_ends_with_it(judged: Judged, tmp_path: Path) -> None:
    judgement, _ = judged(f"sleep 600 & echo $! > {tmp_path}/pid")
    assert judgement is Judgement.GOOD
    assert has_ended(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize(
    ("code", "judgement"),
    [(1, Judgement.BAD), (125, Judgement.UNKNOWN), (3, Judgement.BAD)],
    ids=["bad", "skip", "other"],
)
def test_what_it_prints_is_shown_where_it_does_not_say_good(
    judged: Judged, code: int, judgement: Judgement
) -> None:
    actual, shown = judged(f"echo this is why; echo and that >&2; exit {code}")
    assert actual is judgement
    assert shown.endswith(f"the judge's program: exit code {code}\n  this is why\n  and that\n")


def test_what_it_prints_where_it_says_good_is_for_who_asks(judged: Judged) -> None:
    assert judged("echo fine") == (Judgement.GOOD, "")
    logs.begin(1)
    try:
        assert judged("echo fine")[1].endswith("exit code 0\n  fine\n")
    finally:
        logs.end()


def test_the_same_words_are_shown_once(judged: Judged) -> None:
    _, shown = judged("echo this is why; exit 1", times=3)
    assert shown.count("this is why") == 1


def test_what_it_prints_is_bounded_and_harmless(judged: Judged) -> None:
    _, shown = judged(r"head -c 3000000 /dev/zero | tr '\0' x; printf '\033[31mred\0\n'; exit 1")
    assert len(shown) < 20_000
    assert "bytes left out" in shown
    assert "\\x1b[31mred\\x00" in shown
    assert not set(shown) & {"\x1b", "\0"}


def test_one_that_reads_nothing_does_not_hold_anybody_up(judged: Judged) -> None:
    assert judged("exec <&-; exit 0")[0] is Judgement.GOOD


def test_there_is_no_such_command() -> None:
    with pytest.raises(SelectionError, match="could not start"):
        ask_program("no-such-command-anywhere", "{}", {}, 10)


def test_it_reads_the_cell(judged: Judged) -> None:
    assert (
        judged(
            'grep -q "\\"status\\": \\"ok\\"" && test "$COMPAT_CELL" ='
            " fine/as_written/only/sm_90/triton-3.9.0"
        )[0]
        is Judgement.GOOD
    )


def test_nothing_of_it_stays_open() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    ask_program("exit 0", "{}" * 100_000, {}, 10)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert subprocess.run(["true"], check=False).returncode == 0
