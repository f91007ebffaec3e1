"""The engine with real wheels.

It reads known cells from the store, and compiles, confirms and keeps the others.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from packaging.specifiers import SpecifierSet

from compat.engine.run import Interrupted, RunContext, expectation_of, run
from compat.model import BuiltEnv, Cell, Env, Expectation, Result, Status
from compat.source.closure import read_source
from compat.store.store import Store
from compat.workers.attempt import Limits
from compat.workers.spawn import OwnWorker
from tests.cells import KEPT, KERNELS, cell
from tests.sqlite import column

RELEASE = "triton-3.1.0"
LIMITS = Limits(deadline=30, memory=4 << 30)


@pytest.fixture
def env(built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built(RELEASE)


@pytest.fixture
def context() -> Iterator[Callable[..., RunContext]]:
    """Makes contexts with a store in a folder, and closes the stores in the end."""
    with ExitStack() as stores:

        def make(env: BuiltEnv, folder: Path, **changes: Any) -> RunContext:
            store = stores.enter_context(Store(folder))
            facts: dict[str, Any] = {
                "envs": {env.env.name: env},
                "store": store,
                "limits": LIMITS,
                "slots": 2,
                "idle_timeout": KEPT,
            }
            return RunContext(**(facts | changes))

        yield make


def statuses(results: tuple[Result, ...]) -> dict[str, str]:
    return {result.cell.spec.function: str(result.outcome.status) for result in results}


@pytest.mark.wheels
def test_failures_are_confirmed_and_other_cells_unaffected(
    env: BuiltEnv, tmp_path: Path, context: Callable[..., RunContext]
) -> None:
    functions = ["fine", "block_typed_bound", "looped", "missing_name", "mismatched"]
    results = run([cell(env, "faces", f) for f in functions], context(env, tmp_path))
    assert [result.cell.spec.function for result in results] == functions
    assert statuses(results) == {
        "fine": "ok",
        "block_typed_bound": "crashed",
        "looped": "ok",
        "missing_name": "rejected",
        "mismatched": "rejected",
    }
    crashed = results[1].outcome
    assert crashed.failure is not None
    assert crashed.failure.failure_class == "mlir-bitwidth-assert"
    assert crashed.attempts == ("crashed mlir-bitwidth-assert",) * 2
    assert not crashed.flaky
    assert results[0].outcome.attempts == ("ok",)


@pytest.mark.wheels
def test_the_failing_pass_is_named_and_its_input_kept(
    env: BuiltEnv, tmp_path: Path, context: Callable[..., RunContext]
) -> None:
    shape = {"M": 64, "K": 64, "N": 64, "N2": 16}
    pointers = {"source": "*fp16", "result": "*fp32", "size": "i32"}
    dot = cell(env, "faces", "chained_dot", "sm_100", constexprs=shape, signature=pointers)
    (result,) = run([dot], context(env, tmp_path))
    # 3.1 does not know sm_100, and fails an assertion.
    assert result.outcome.status is Status.UNSUPPORTED
    failure = result.outcome.failure
    assert failure is not None
    assert (failure.failure_class, failure.stage, failure.pass_) == (
        "target-unknown",
        "ttgir",
        "tritongpu-accelerate-matmul",
    )
    reproducer = (tmp_path / "artifacts" / str(failure.reproducer)).read_text()
    assert "mlir_reproducer" in reproducer
    assert "tritongpu-accelerate-matmul" in reproducer
    assert "tt.dot" in (tmp_path / "artifacts" / str(failure.ir)).read_text()


@pytest.mark.wheels
def test_known_cells_are_compiled_again_only_on_request(
    env: BuiltEnv,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    context: Callable[..., RunContext],
) -> None:
    cells = [cell(env, "faces", f) for f in ("fine", "missing_name")]
    first = run(cells, context(env, tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr(
            OwnWorker, "__init__", lambda *_args, **_kwargs: pytest.fail("a worker was started")
        )
        second = run(cells, context(env, tmp_path))
    assert [result.cached for result in second] == [True, True]
    assert [result.outcome for result in second] == [result.outcome for result in first]
    again = run(cells, context(env, tmp_path, again=True))
    assert [result.cached for result in again] == [False, False]
    narrower = evolve(
        cells[0],
        spec=evolve(cells[0].spec, compile=evolve(cells[0].spec.compile, constexprs={"BLOCK": 64})),
    )
    assert not run([narrower], context(env, tmp_path))[0].cached


@pytest.mark.wheels
def test_a_hang_is_timed_out_within_its_deadline_and_two_seconds(
    env: BuiltEnv,
    tmp_path: Path,
    context: Callable[..., RunContext],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """At least one of three runs is in time; other processes may use the machine meanwhile.

    Waiting for a processor does not count, and the log says how long that took.
    """
    hanging = cell(env, "faces", "unrolled_for_ever")
    # This run warms the disk, so that the test measures only the hang.
    run([cell(env, "faces", "fine")], context(env, tmp_path))
    limits = Limits(deadline=3, memory=16 << 30)
    for attempt in range(3):
        caplog.clear()
        started = time.monotonic()
        (result,) = run([hanging], context(env, tmp_path / str(attempt), limits=limits))
        elapsed = time.monotonic() - started
        waits = [float(wait) for wait in re.findall(r"it waited (\S+) s", caplog.text)]
        assert len(waits) == 2, "the attempt and its confirmation"
        assert result.outcome.status is Status.TIMED_OUT
        assert result.outcome.seconds >= 3
        failure = result.outcome.failure
        assert failure is not None
        assert failure.failure_class == "timeout"
        assert failure.location is not None
        assert failure.location.startswith("faces.py:")
        # The last 3 s are for the confirmation and the start of a worker.
        if result.outcome.seconds < 3 + 2 + waits[0] and elapsed < 3 + 2 + 3 + sum(waits):
            return
    pytest.fail(
        f"it was timed out after {result.outcome.seconds:.1f} s, and all took {elapsed:.1f} s"
    )


@pytest.mark.wheels
def test_a_memory_hog_is_out_of_memory(
    env: BuiltEnv, tmp_path: Path, context: Callable[..., RunContext]
) -> None:
    cells = [cell(env, "hostile", "hoards"), cell(env, "hostile", "fine")]
    results = run(cells, context(env, tmp_path, limits=Limits(deadline=60, memory=1 << 29)))
    assert statuses(results) == {"hoards": "out_of_memory", "fine": "ok"}


@pytest.mark.wheels
def test_a_lost_answer_is_never_ok_and_never_kept(
    env: BuiltEnv, tmp_path: Path, context: Callable[..., RunContext]
) -> None:
    cells = [cell(env, "hostile", f) for f in ("leaves_silently", "forges", "fine")]
    results = run(cells, context(env, tmp_path))
    assert statuses(results) == {"leaves_silently": "lost", "forges": "lost", "fine": "ok"}
    assert not any(result.expected for result in results[:2])
    assert [result.cached for result in run(cells, context(env, tmp_path))] == [False, False, True]


@pytest.mark.wheels
def test_source_that_removes_its_folder_loses_only_its_own_cell(
    env: BuiltEnv, tmp_path: Path, context: Callable[..., RunContext]
) -> None:
    source = tmp_path / "removes.py"
    source.write_text(
        (KERNELS / "faces.py").read_text()
        + "\n\nimport os, shutil\nshutil.rmtree(os.environ['TMPDIR'])\nos._exit(0)\n"
    )
    removes = cell(env, "faces", "fine", source=str(source), closure=read_source(source).closure)
    results = run([removes, cell(env, "faces", "looped")], context(env, tmp_path / "store"))
    assert [str(result.outcome.status) for result in results] == ["lost", "ok"]


@pytest.mark.wheels
def test_a_shared_memory_excess_is_predicted(
    env: BuiltEnv, tmp_path: Path, context: Callable[..., RunContext]
) -> None:
    facts = {
        "constexprs": {"M": 64, "K": 64, "N": 128, "N2": 64},
        "signature": {"source": "*fp16", "result": "*fp32", "size": "i32"},
        "options": {"num_stages": 6},
    }
    (result,) = run([cell(env, "faces", "looped_chain", "sm_89", **facts)], context(env, tmp_path))
    failure = result.outcome.failure
    assert failure is not None
    assert (result.outcome.status, failure.failure_class, failure.stage, failure.prediction) == (
        Status.REJECTED,
        "shared-memory",
        "launch",
        True,
    )
    assert "would exceed shared memory" in failure.excerpt


@pytest.mark.wheels
@pytest.mark.parametrize(
    ("function", "facts", "failure_class"),
    [
        ("copy", {"constexprs": {"N": 4096}, "options": {"num_warps": 64}}, "block-threads"),
        (
            "softmax",
            {"constexprs": {"N": 65536}, "options": {"num_warps": 16, "maxnreg": 255}},
            "block-registers",
        ),
        ("copy", {"constexprs": {"N": 4096}, "options": {"num_ctas": 32}}, "cluster-size"),
    ],
)
def test_a_block_or_cluster_that_is_too_large_is_predicted(
    env: BuiltEnv,
    tmp_path: Path,
    context: Callable[..., RunContext],
    function: str,
    facts: dict[str, Any],
    failure_class: str,
) -> None:
    """An H100 refused such kernels of 3.0.0, 3.5.1 and 3.9.0, and launched smaller ones."""
    signature = {"source": "*fp32", "result": "*fp32"}
    large_cell = cell(env, "large_block", function, "sm_90", signature=signature, **facts)
    (result,) = run([large_cell], context(env, tmp_path))
    failure = result.outcome.failure
    assert failure is not None
    assert (failure.failure_class, failure.stage, failure.prediction) == (
        failure_class,
        "launch",
        True,
    )


def test_broken_env_gives_env_broken_with_the_install_error(
    tmp_path: Path, context: Callable[..., RunContext]
) -> None:
    broken = BuiltEnv(
        env=Env(name="gone"), error="No matching distribution found for triton==3.99.0"
    )
    (result,) = run([cell(broken, "faces", "fine")], context(broken, tmp_path))
    assert result.outcome.status is Status.ENV_BROKEN
    assert result.outcome.failure is not None
    assert result.outcome.failure.failure_class == "install"
    assert "3.99.0" in result.outcome.failure.excerpt
    assert not result.expected


def test_an_env_whose_toolchain_cannot_be_imported_is_broken(
    tmp_path: Path, context: Callable[..., RunContext]
) -> None:
    # The driver's Python has no Triton.
    driver = BuiltEnv(env=Env(name="bare"), python=sys.executable, digest="bare")
    (result,) = run([cell(driver, "faces", "fine")], context(driver, tmp_path))
    assert result.outcome.status is Status.ENV_BROKEN
    assert result.outcome.failure is not None
    assert result.outcome.failure.failure_class == "import"
    assert "triton" in result.outcome.failure.excerpt
    assert len(result.outcome.attempts) == 1, "there was nothing to confirm"


@pytest.mark.wheels
def test_stopped_run_keeps_finished_cells(
    env: BuiltEnv, tmp_path: Path, context: Callable[..., RunContext]
) -> None:
    stop = threading.Event()
    cells = [
        cell(env, "faces", "fine"),
        cell(env, "hostile", "hangs"),
        cell(env, "faces", "looped"),
    ]
    with pytest.raises(Interrupted) as caught:
        run(cells, context(env, tmp_path, slots=1, stop=stop), lambda _: stop.set())
    assert caught.value.done == 1
    assert column(tmp_path) == [cells[0].id]


DRIVER = """
import sys, threading
from pathlib import Path
from compat.config.matrix import load_matrix
from compat.envs.record import read_env
from compat.engine.run import RunContext, run
from compat.store.store import Store
from compat.workers.attempt import Limits
from tests.cells import cell
root, folder = Path(sys.argv[1]), Path(sys.argv[2])
config = load_matrix(root / "matrix.toml")
env = config.env("triton-3.1.0")
cells = [cell(env, "faces", "fine", constexprs={"BLOCK": 16 << n}, case=str(n)) for n in range(6)]
cells += [cell(env, "faces", "looped")]
cells += [cell(env, "hostile", name) for name in ("hangs_with_child", "fine")]
envs, limits = {env.name: read_env(env, config.env_cache())}, Limits(deadline=60, memory=4 << 30)
context = RunContext(envs=envs, store=Store(folder), limits=limits, slots=1)
run(cells, context, lambda result: print(result.cell.id, flush=True))
"""


@pytest.mark.wheels
def test_kill_9_of_the_driver_loses_no_finished_cell_and_leaves_no_process(
    env: BuiltEnv, tmp_path: Path
) -> None:
    root = KERNELS.parent.parent
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(root), str(tmp_path / "store")],
        cwd=root,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        start_new_session=True,
    )
    assert driver.stdout is not None
    finished = [driver.stdout.readline().strip() for _ in range(7)]
    time.sleep(1)  # by now the hanging cell is in flight, with a child process of its own
    assert processes_with(str(tmp_path))
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    driver.stdout.close()
    assert set(column(tmp_path / "store")) == set(finished)
    deadline = time.monotonic() + 5
    while (pids := processes_with(str(tmp_path))) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not pids
    assert [path.name for path in tmp_path.iterdir()] == ["store"], "nor any file"


def processes_with(text: str) -> list[int]:
    """Processes whose working directory, command line or environment mentions a text."""
    pids = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                content = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if text.encode() in content:
                pids.append(int(entry.name))
    return pids


def test_a_fork_is_judged_by_the_release_it_is_made_from() -> None:
    env = Env(name="fork")
    declared = Expectation(status=Status.REJECTED, releases=SpecifierSet(">=3.9"))
    spec = evolve(cell(env, "faces", "fine").spec, expectations=(declared,))
    some = Cell(env=env, target=cell(env, "faces", "fine").target, spec=spec)

    def version(text: str) -> BuiltEnv:
        from compat.model import Package

        return BuiltEnv(env=env, packages=(Package(name="triton", version=text, digest=""),))

    assert expectation_of(some, version("3.9.0+git1a2b3c")) == declared
    assert expectation_of(some, version("3.8.0+git1a2b3c")) is None
    assert expectation_of(some, version("3.10.0.dev20260101")) == declared
