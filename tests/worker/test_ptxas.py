"""Real compiles with a ptxas that dies, that is killed, or that is not an assembler."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat.bisect.attempts import assemble
from compat.diagnosis import classify
from compat.model import BuiltEnv, Outcome, Status
from compat.toolchains.triton.failures import KNOWLEDGE
from compat.toolchains.triton.ir.dumps import PARTS
from compat.workers.attempt import Limits, Mode
from compat.workers.client import WorkerClient
from compat.workers.watch import attempt
from tests.cells import cell, worker
from tests.targets import TARGETS

pytestmark = pytest.mark.wheels

RELEASES = ["triton-3.0.0", "triton-3.2.0", "triton-3.5.1", "triton-3.9.0"]


@pytest.fixture(scope="module", params=RELEASES)
def env(request: pytest.FixtureRequest, built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built(request.param)


@pytest.fixture
def server(env: BuiltEnv) -> Iterator[WorkerClient]:
    with worker(env) as client:
        yield client


With = Callable[..., Outcome]
COMPUTE = (
    f"{sys.executable} -c 'import time\nwhile time.process_time() < 0.5: pass\ntime.sleep({{}})'"
)
"""A line of shell that takes 0.5 s of CPU time, and then sleeps."""


@pytest.fixture
def outcome_with(server: WorkerClient, env: BuiltEnv) -> With:
    """The outcome of a correct kernel with another ptxas.

    In every release, the program with this name assembles ``sm_80``.
    """

    def outcome(ptxas: Path, deadline: float = 60) -> Outcome:
        mode = Mode(variables={"TRITON_PTXAS_PATH": str(ptxas)})
        one = cell(env, "faces", "fine", "sm_80")
        ((_, evidence),) = attempt(
            server,
            [one],
            Limits(deadline=deadline, memory=4 << 30),
            stop=threading.Event(),
            mode=mode,
        )
        return classify.classify([evidence], target=one.target, knowledge=KNOWLEDGE)

    return outcome


@pytest.fixture
def stand_in(tmp_path: Path, env: BuiltEnv) -> Callable[[str], Path]:
    """A program that replaces the assembler.

    It prints the version of the assembler if asked, and otherwise runs some lines of shell.
    """
    assert env.python
    (real,) = Path(env.python).parent.parent.glob(
        "lib/python*/site-packages/triton/backends/nvidia/bin/ptxas"
    )

    def make(lines: str) -> Path:
        path = tmp_path / "ptxas"
        path.write_text(
            f'#!/bin/sh\nPTXAS={real}\ncase "$*" in *--version*) exec $PTXAS --version;;'
            f" esac\n{lines}\n"
        )
        path.chmod(0o755)
        return path

    return make


def status_and_class(outcome: Outcome) -> tuple[str, str]:
    assert outcome.failure is not None
    return str(outcome.status), outcome.failure.failure_class


@pytest.mark.parametrize("env", [RELEASES[0], RELEASES[-1]], indirect=True)
def test_compile_time_has_the_assemblers_cpu_time_without_its_waiting(
    outcome_with: With, stand_in: Callable[[str], Path]
) -> None:
    alone, waiting = (
        outcome_with(stand_in(f'{prefix}exec $PTXAS "$@"')) for prefix in ("", "sleep 2\n")
    )
    assert waiting.seconds > 2
    assert alone.compile_seconds is not None
    assert waiting.compile_seconds is not None
    assert waiting.compile_seconds < alone.compile_seconds + 1
    computing = outcome_with(stand_in(f'{COMPUTE.format(0)}\nexec $PTXAS "$@"'))
    assert computing.stages["cubin"] > 0.5 > computing.stages["ptx"]
    assert computing.compile_seconds is not None
    assert computing.compile_seconds > 0.5


def test_assembler_is_asked_for_its_version_once(
    outcome_with: With, stand_in: Callable[[str], Path], tmp_path: Path
) -> None:
    """Triton asks to find it. The key of a cache that nobody reads needs no second answer."""
    ptxas, calls = stand_in('exec $PTXAS "$@"'), tmp_path / "calls"
    begin = "#!/bin/sh\n"
    ptxas.write_text(ptxas.read_text().replace(begin, f'{begin}echo "$*" >> {calls}\n', 1))
    assert outcome_with(ptxas).status == Status.OK
    versions = ["--version" in call for call in calls.read_text().splitlines()]
    assert sorted(versions) == [False, True]


@pytest.mark.parametrize("env", [RELEASES[0], RELEASES[-1]], indirect=True)
def test_timed_out_cell_has_the_cpu_seconds_of_its_assembler(
    outcome_with: With, stand_in: Callable[[str], Path]
) -> None:
    computing = outcome_with(stand_in(COMPUTE.format(600)), deadline=3)
    assert status_and_class(computing) == ("timed_out", "timeout")
    assert 0.3 < computing.stages["cubin"] < 30
    waiting = outcome_with(stand_in("sleep 600"), deadline=3)
    assert status_and_class(waiting) == ("timed_out", "timeout")
    assert waiting.stages["cubin"] < 1


@pytest.mark.parametrize("signal", ["SEGV", "ABRT", "FPE", "ILL", "BUS"])
def test_assembler_that_dies_of_its_own_fault_is_a_crash(
    outcome_with: With, stand_in: Callable[[str], Path], signal: str
) -> None:
    outcome = outcome_with(stand_in(f"kill -{signal} $$"))
    assert status_and_class(outcome) == ("crashed", "assembler-crash")
    assert outcome.stage == "cubin"


@pytest.mark.parametrize("signal", ["KILL", "TERM"])
def test_cell_whose_assembler_is_killed_is_lost(
    outcome_with: With, stand_in: Callable[[str], Path], signal: str
) -> None:
    outcome = outcome_with(stand_in(f"kill -{signal} $$"))
    assert status_and_class(outcome) == ("lost", "machine")


def test_assembler_that_makes_nothing_is_a_damaged_toolchain(
    outcome_with: With, stand_in: Callable[[str], Path]
) -> None:
    assert status_and_class(outcome_with(stand_in("exit 0"))) == ("env_broken", "toolchain-damaged")


@pytest.mark.parametrize("content", [b"", b"\x7fELF cut short"], ids=["empty", "cut short"])
def test_damaged_assembler_is_a_broken_env(
    outcome_with: With, tmp_path: Path, content: bytes
) -> None:
    ptxas = tmp_path / "ptxas"
    ptxas.write_bytes(content)
    ptxas.chmod(0o755)
    assert status_and_class(outcome_with(ptxas)) == ("env_broken", "toolchain-damaged")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [("kill -SEGV $$", ("crashed", "assembler-crash")), ("kill -KILL $$", ("lost", "machine"))],
    ids=["died", "killed"],
)
def test_assembler_without_triton_has_the_same_failure_classes(
    tmp_path: Path, lines: str, expected: tuple[str, str]
) -> None:
    ptxas, ptx = tmp_path / "ptxas", tmp_path / "some.ptx"
    ptxas.write_text(f"#!/bin/sh\n{lines}\n")
    ptxas.chmod(0o755)
    ptx.write_text(".version 8.0\n.target sm_80\n")
    evidence = assemble(PARTS.assembler, ptxas, ptx, 30)
    assert (
        status_and_class(
            classify.classify([evidence], target=TARGETS["sm_80"], knowledge=KNOWLEDGE)
        )
        == expected
    )
