"""The place of a failure: the line of the kernel, and the place in the toolchain that raised, with
real wheels.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat.diagnosis import symptoms
from compat.diagnosis.classify import classify
from compat.model import BuiltEnv, Cell, Evidence
from compat.toolchains.triton.failures import KNOWLEDGE
from compat.workers.attempt import DIAGNOSTIC, PLAIN, Limits
from compat.workers.client import WorkerClient
from compat.workers.watch import attempt
from tests.cells import KERNELS, cell, worker

pytestmark = pytest.mark.wheels

LIMITS = Limits(deadline=60, memory=4 << 30)
LINES = {
    "missing_function": "tl.no_such_function(source)",
    "undefined_name": "nowhere_defined",
    "load_of_a_number": "tl.load(size)",
    "runtime_range": "tl.arange(0, size)",
    "calls_undecorated": "undecorated(tl.load",
}
"""Kernel → text of the line that the diagnosis must name."""


@pytest.fixture(scope="module", params=["triton-3.0.0", "triton-3.5.1", "triton-3.9.0"])
def env(request: pytest.FixtureRequest, built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built(request.param)


@pytest.fixture
def server(env: BuiltEnv) -> Iterator[WorkerClient]:
    with worker(env) as client:
        yield client


def attempts(server: WorkerClient, cells: list[Cell]) -> dict[str, Evidence]:
    return {
        done.spec.function: evidence
        for done, evidence in attempt(server, cells, LIMITS, stop=threading.Event())
    }


def place_of(file: str, text: str) -> str:
    lines = (KERNELS / f"{file}.py").read_text().splitlines()
    return f"{file}.py:{next(number for number, line in enumerate(lines, 1) if text in line)}"


def test_each_cell_of_a_batch_names_its_own_line(server: WorkerClient, env: BuiltEnv) -> None:
    """When the driver reads an answer, the beacon may already name the line of the next cell.

    The answer itself names the line of its cell.
    """
    by_function = attempts(server, [cell(env, "failures", name) for name in LINES])
    diagnoses = {
        name: (evidence.diagnosis.location, evidence.diagnosis.line)
        for name, evidence in by_function.items()
    }
    expected = {name: place_of("failures", text) for name, text in LINES.items()}
    assert {name: place for name, (place, _) in diagnoses.items()} == expected
    assert all(LINES[name] in (line or "") for name, (_, line) in diagnoses.items())


@pytest.mark.parametrize("name", ["unknown_keyword", "unfit_sum", "asserts", "calls_another"])
def test_failure_of_a_multiline_call_is_at_the_line_of_its_caret(
    server: WorkerClient, env: BuiltEnv, name: str
) -> None:
    """The compiler lowers the arguments, which are in later lines, before the call.

    Among the kernel's own functions, the innermost one counts.
    """
    failing = cell(env, "over_lines", name)
    evidence = attempts(server, [failing])[name]
    failure = classify([evidence], target=failing.target, knowledge=KNOWLEDGE).failure
    assert failure is not None
    line = next(
        line
        for line in (KERNELS / "over_lines.py").read_text().splitlines()
        if line.endswith(f"# {name}")
    )
    quoted, caret = failure.excerpt.splitlines()[:2]
    assert (failure.location, quoted.strip()) == (place_of("over_lines", f"# {name}"), line.strip())
    assert caret.strip() == "^"
    assert evidence.diagnosis.line == line


def test_abort_in_a_multiline_call_is_at_its_first_line(
    server: WorkerClient, env: BuiltEnv
) -> None:
    evidence = attempts(server, [cell(env, "over_lines", "block_typed_bound")])["block_typed_bound"]
    assert evidence.signal == "SIGABRT"
    assert evidence.diagnosis.location == place_of("over_lines", "# block_typed_bound")


@pytest.mark.parametrize("name", ["uneven_pack", "wide_histogram"])
def test_mlir_error_is_at_the_line_that_mlir_names(
    server: WorkerClient, env: BuiltEnv, name: str
) -> None:
    """From 3.8 on, that is the first line of the call.

    Before 3.8, it is the line of the last argument. MLIR's caret is in this line, too.
    """
    failing = cell(env, "over_lines", name)
    ((_, evidence),) = attempt(server, [failing], LIMITS, stop=threading.Event(), mode=DIAGNOSTIC)
    failure = classify([evidence], target=failing.target, knowledge=KNOWLEDGE).failure
    assert failure is not None
    assert failure.location is not None
    first, named = (
        int(place.rpartition(":")[2])
        for place in (place_of("over_lines", f"# {name}"), failure.location)
    )
    if env.env.name == "triton-3.9.0":
        assert named == first
    else:
        assert failure.excerpt.startswith(f"over_lines.py:{named}: error: ")
        assert first < named < first + 6


def test_failed_import_of_a_name_has_its_line(server: WorkerClient, env: BuiltEnv) -> None:
    evidence = attempts(server, [cell(env, "asks_for_too_much", "asking")])["asking"]
    assert evidence.stage == "source"
    assert evidence.diagnosis.location == place_of("asks_for_too_much", "import no_such_function")
    assert "asks_for_too_much.py" in evidence.raised[-1].traceback


def test_error_without_a_message_has_the_place_that_raised_it(
    server: WorkerClient, env: BuiltEnv
) -> None:
    evidence = attempts(server, [cell(env, "failures", "load_of_a_number")])["load_of_a_number"]
    failure_symptoms = symptoms.of(evidence, KNOWLEDGE.wording)
    assert failure_symptoms.place in ("semantic.py: _load_legacy", "semantic.py: load")
    assert failure_symptoms.statement.startswith("raise ValueError(")


def test_symptoms_have_the_frames_of_a_hidden_cause(server: WorkerClient, env: BuiltEnv) -> None:
    """Triton hides the cause of a failure (``raise CompilationError(…) from None``)."""
    evidence = attempts(server, [cell(env, "failures", "undefined_name")])["undefined_name"]
    failure_symptoms = symptoms.of(evidence, KNOWLEDGE.wording)
    assert failure_symptoms.place == "code_generator.py: name_lookup"
    assert failure_symptoms.statement.startswith("raise NameError(")


def test_tracebacks_are_bounded_and_have_no_frames_of_the_worker(
    server: WorkerClient, env: BuiltEnv
) -> None:
    evidence = attempts(server, [cell(env, "failures", "undefined_name")])["undefined_name"]
    traces = [link.traceback for link in evidence.raised]
    assert all(len(trace) <= 4096 for trace in traces)
    assert all(trace.count('  File "') <= 20 for trace in traces)
    worker = str(Path(symptoms.__file__).parents[1] / "worker")
    assert not any(worker in trace for trace in traces)


def test_a_confirmation_says_whether_the_target_is_known(
    server: WorkerClient, env: BuiltEnv
) -> None:
    cells = [
        cell(env, "failures", "undefined_name", target=target)
        for target in ("sm_90", "sm_120", "gfx942")
    ]
    confirmations = [
        next(
            evidence
            for _, evidence in attempt(
                server, [failing_cell], LIMITS, stop=threading.Event(), mode=DIAGNOSTIC
            )
        )
        for failing_cell in cells
    ]
    knows_blackwell = env.env.name != "triton-3.0.0"
    assert [evidence.target_known for evidence in confirmations] == [True, knows_blackwell, None]
    ((_, plain),) = attempt(server, [cells[0]], LIMITS, stop=threading.Event(), mode=PLAIN)
    assert plain.target_known is None
