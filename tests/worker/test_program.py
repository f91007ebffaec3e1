"""Judge programs of the user: their deadline, the end of their processes, and their output."""

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
    """The judgement of the result in a command with these options, and the command's output."""

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
    """Whether a process has ended, or ends within a few seconds. A signal takes a moment."""
    deadline = time.monotonic() + 5
    while supervisor.state(pid) not in ("", "Z"):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_program_that_passes_its_deadline_is_inconclusive(judged: Judged, tmp_path: Path) -> None:
    started = time.monotonic()
    command = f"echo thinking; sleep 600 & echo $! > {tmp_path}/pid; sleep 600"
    judgement, shown = judged(command, "--judge-deadline", "0.5")
    assert time.monotonic() - started < 20
    assert judgement is Judgement.UNKNOWN
    assert "timed out after 0.5 s: inconclusive\n  thinking\n" in shown
    assert has_ended(int((tmp_path / "pid").read_text()))


def test_processes_in_the_programs_group_end_with_it(judged: Judged, tmp_path: Path) -> None:
    judgement, _ = judged(f"sleep 600 & echo $! > {tmp_path}/pid")
    assert judgement is Judgement.GOOD
    assert has_ended(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize(
    ("code", "judgement"),
    [(1, Judgement.BAD), (125, Judgement.UNKNOWN), (3, Judgement.BAD)],
    ids=["bad", "skip", "other"],
)
def test_output_is_shown_unless_the_program_says_good(
    judged: Judged, code: int, judgement: Judgement
) -> None:
    actual, shown = judged(f"echo this is why; echo and that >&2; exit {code}")
    assert actual is judgement
    assert shown.endswith(f"the judge's program: exit code {code}\n  this is why\n  and that\n")


def test_output_of_a_good_answer_is_shown_only_on_request(judged: Judged) -> None:
    assert judged("echo fine") == (Judgement.GOOD, "")
    logs.begin(1)
    try:
        assert judged("echo fine")[1].endswith("exit code 0\n  fine\n")
    finally:
        logs.end()


def test_repeated_output_is_shown_once(judged: Judged) -> None:
    _, shown = judged("echo this is why; exit 1", times=3)
    assert shown.count("this is why") == 1


def test_output_is_bounded_and_has_no_control_characters(judged: Judged) -> None:
    _, shown = judged(r"head -c 3000000 /dev/zero | tr '\0' x; printf '\033[31mred\0\n'; exit 1")
    assert len(shown) < 20_000
    assert "bytes left out" in shown
    assert "\\x1b[31mred\\x00" in shown
    assert not set(shown) & {"\x1b", "\0"}


def test_program_that_closes_its_input_does_not_block(judged: Judged) -> None:
    assert judged("exec <&-; exit 0")[0] is Judgement.GOOD


def test_missing_program_is_a_selection_error() -> None:
    with pytest.raises(SelectionError, match="could not start"):
        ask_program("no-such-command-anywhere", "{}", {}, 10)


def test_program_gets_the_cell_and_its_status(judged: Judged) -> None:
    assert (
        judged(
            'grep -q "\\"status\\": \\"ok\\"" && test "$COMPAT_CELL" ='
            " fine/as_written/only/sm_90/triton-3.9.0"
        )[0]
        is Judgement.GOOD
    )


def test_no_file_descriptors_stay_open() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    ask_program("exit 0", "{}" * 100_000, {}, 10)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert subprocess.run(["true"], check=False).returncode == 0
