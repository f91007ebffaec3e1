"""Assemblers that die, are killed, or are something else: real compiles with a ptxas that does
so.
"""

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
from compat.workers.spawn import OwnWorker
from compat.workers.watch import attempt
from tests.cells import cell
from tests.targets import TARGETS

pytestmark = pytest.mark.wheels

RELEASES = ["triton-3.0.0", "triton-3.2.0", "triton-3.5.1", "triton-3.9.0"]


@pytest.fixture(scope="module", params=RELEASES)
def env(request: pytest.FixtureRequest, built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built(request.param)


@pytest.fixture(scope="module")
def server(env: BuiltEnv) -> Iterator[OwnWorker]:
    assert env.python is not None
    with OwnWorker(env.python) as started:
        yield started


With = Callable[..., Outcome]
COMPUTE = f"{sys.executable} -c 'import time\nwhile time.process_time() < {{seconds}}: pass'"
"""A line of shell that takes so many CPU seconds."""


@pytest.fixture
def outcome_with(server: OwnWorker, env: BuiltEnv) -> With:
    """What becomes of a kernel that is fine with such a ptxas.

    Sm_80 is assembled by the program of that name in every release.
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
    """A program in the place of the assembler, which tells its version as that does and then runs
    some lines of shell.
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
def test_compile_time_has_what_the_assembler_computes_and_not_what_it_waits(
    outcome_with: With, stand_in: Callable[[str], Path]
) -> None:
    alone, waiting = (
        outcome_with(stand_in(f'{prefix}exec $PTXAS "$@"')) for prefix in ("", "sleep 2\n")
    )
    assert waiting.seconds > 2
    assert alone.compile_seconds is not None
    assert waiting.compile_seconds is not None
    assert waiting.compile_seconds < alone.compile_seconds + 1
    computing = outcome_with(stand_in(f'{COMPUTE.format(seconds=1)}\nexec $PTXAS "$@"'))
    assert computing.stages["cubin"] > 1 > computing.stages["ptx"]
    assert computing.compile_seconds is not None
    assert computing.compile_seconds > 1


def test_it_is_asked_for_its_version_once(
    outcome_with: With, stand_in: Callable[[str], Path], tmp_path: Path
) -> None:
    """To find it; the key of a cache that nobody reads needs no second answer."""
    ptxas, calls = stand_in('exec $PTXAS "$@"'), tmp_path / "calls"
    begin = "#!/bin/sh\n"
    ptxas.write_text(ptxas.read_text().replace(begin, f'{begin}echo "$*" >> {calls}\n', 1))
    assert outcome_with(ptxas).status == Status.OK
    versions = ["--version" in call for call in calls.read_text().splitlines()]
    assert sorted(versions) == [False, True]


@pytest.mark.parametrize("env", [RELEASES[0], RELEASES[-1]], indirect=True)
def test_one_that_is_stopped_has_the_time_that_its_assembler_computed(
    outcome_with: With, stand_in: Callable[[str], Path]
) -> None:
    computing = outcome_with(stand_in(COMPUTE.format(seconds=600)), deadline=3)
    assert status_and_class(computing) == ("timed_out", "timeout")
    assert 0.3 < computing.stages["cubin"] < 30
    waiting = outcome_with(stand_in("sleep 600"), deadline=3)
    assert status_and_class(waiting) == ("timed_out", "timeout")
    assert waiting.stages["cubin"] < 1


@pytest.mark.parametrize("signal", ["SEGV", "ABRT", "FPE", "ILL", "BUS"])
def test_one_that_dies_of_its_own_mistake_is_a_crash(
    outcome_with: With, stand_in: Callable[[str], Path], signal: str
) -> None:
    outcome = outcome_with(stand_in(f"kill -{signal} $$"))
    assert status_and_class(outcome) == ("crashed", "assembler-crash")
    assert outcome.stage == "cubin"


@pytest.mark.parametrize("signal", ["KILL", "TERM"])
def test_one_that_is_killed_says_nothing_of_the_kernel(
    outcome_with: With, stand_in: Callable[[str], Path], signal: str
) -> None:
    outcome = outcome_with(stand_in(f"kill -{signal} $$"))
    assert status_and_class(outcome) == ("lost", "machine")


def test_one_that_makes_nothing_is_not_the_one_that_was_installed(
    outcome_with: With, stand_in: Callable[[str], Path]
) -> None:
    assert status_and_class(outcome_with(stand_in("exit 0"))) == ("env_broken", "toolchain-damaged")


@pytest.mark.parametrize("content", [b"", b"\x7fELF cut short"], ids=["empty", "cut short"])
def test_one_that_is_damaged_is_the_envs_trouble(
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
def test_an_assembler_without_triton_around_it(
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
