"""Correct and wrong kernels, run on problems in the interpreters of two pairs."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest
from attrs import evolve

from compat import toolchains
from compat.config.kernel_files import load_kernels
from compat.engine.interpreting import interpret, spec_of, with_interpreted
from compat.engine.run import RunContext
from compat.envs.installers import find_uv
from compat.executors.executor import Batch, CellAttempts, LocalExecutor, OpenExecutor
from compat.interruption import Stopped
from compat.model import BuiltEnv, Cell, Check, Outcome, Problem, Result, Status
from compat.model.codec import structure, unstructure
from compat.source.closure import read_source
from compat.store.store import Store
from compat.workers.attempt import Limits
from compat.workers.pool import WorkerPool
from tests.cells import KERNELS
from tests.cells import cell as cell_of
from tests.targets import TARGETS

pytestmark = pytest.mark.wheels

Once = Callable[[str, Callable[[], str]], str]

ROOT = Path(__file__).parents[2]
PROBLEMS = KERNELS / "numbers_problems.py"
OLD, NEW = "triton-3.0.0-torch-2.4.1", "triton-3.5.1-torch-2.9.1"
LIMITS = Limits(deadline=4.0, memory=4 << 30)
WHAT = {
    "right": ("right", "sums", "fp32"),
    "subtracts": ("subtracts", "sums", "fp32"),
    "beyond": ("beyond", "sums", "fp32"),
    "first_block": ("first_block", "sums", "fp32"),
    "hangs": ("hangs", "sums", "fp32"),
    "far_away": ("far_away", "sums", "fp32"),
    "misshapen": ("misshapen", "sums", "fp32"),
    "assembly": ("assembly", "sums", "fp32"),
    "bf16 sums": ("right", "sums", "bf16"),
    "bf16 copies": ("copies", "copies", "bf16"),
    "bf16 first": ("first_block", "copies", "bf16"),
    "raises": ("right", "raises", "fp32"),
    "lacks": ("right", "lacks_an_argument", "fp32"),
    "sometimes": ("right", "one_run_in_two", "fp32"),
}
"""Name in these tests → function, problems, element type."""


def numbers_cell(
    built: BuiltEnv, what: str, target: str = "sm_90", problems: Path = PROBLEMS
) -> Cell:
    function, problem_function, dtype = WHAT[what]
    signature = {**dict.fromkeys(("x", "y", "o"), f"*{dtype}"), "n": "i32"}
    cell = cell_of(
        built,
        "numbers",
        function,
        target,
        signature=signature,
        constexprs={"BLOCK": 16},
        divisible_by_16=(),
    )
    closure = read_source(problems).closure
    problem = Problem(
        source=str(problems),
        function=problem_function,
        closure=closure,
        dtype=dtype,
        parameters={"BLOCK": 16},
    )
    return evolve(cell, spec=evolve(cell.spec, problem=problem))


def result_of(cell: Cell, built: BuiltEnv) -> Result:
    return Result(cell=cell, built=built, outcome=Outcome(status=Status.OK, stage="cubin"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, once: Once) -> Iterator[Store]:
    """The store of all processes that run these tests."""
    folder = once("interpreting-store", lambda: str(tmp_path_factory.mktemp("store")))
    with Store(Path(folder)) as store:
        yield store


class Staying(LocalExecutor):
    """An executor whose interpreters stay for the next test, as importing PyTorch is slow."""

    def __init__(self, interpreters: WorkerPool, *, stop: threading.Event, **_: object) -> None:
        super().__init__(stop=stop)
        self._workers = interpreters

    def release(self, env: str) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def interpreters() -> Iterator[WorkerPool]:
    with WorkerPool() as pool:
        yield pool


@pytest.fixture(scope="module")
def staying(interpreters: WorkerPool) -> OpenExecutor:
    return partial(Staying, interpreters)


@pytest.fixture(scope="module")
def envs(built: Callable[[str], BuiltEnv]) -> dict[str, BuiltEnv]:
    return {name: built(name) for name in (OLD, NEW)}


@pytest.fixture(scope="module")
def all_checks(
    envs: dict[str, BuiltEnv], store: Store, staying: OpenExecutor, once: Once
) -> dict[tuple[str, str], Check]:
    """Env and name in ``WHAT`` → its check; made once."""
    cells = {
        (name, what): numbers_cell(env, what)
        for name, env in envs.items()
        for what in WHAT
        if what != "sometimes"
    }

    def interpreted() -> str:
        context = RunContext(envs=envs, store=store, limits=LIMITS, executor=staying)
        checks = interpret(cells.values(), context)
        return json.dumps([unstructure(checks[cell]) for cell in cells.values()])

    checks = json.loads(once("interpreting", interpreted))
    return {key: structure(check, Check) for key, check in zip(cells, checks, strict=True)}


EITHER = pytest.mark.parametrize("env", [OLD, NEW])


@EITHER
@pytest.mark.long
def test_correct_kernel_is_ok(all_checks: dict[tuple[str, str], Check], env: str) -> None:
    assert all_checks[env, "right"] == Check(status=Status.OK, max_abs=0.0, max_rel=0.0)


@EITHER
def test_wrong_numbers_are_reported_with_place_and_difference(
    all_checks: dict[tuple[str, str], Check], env: str
) -> None:
    check = all_checks[env, "subtracts"]
    assert (check.status, check.max_abs) == (Status.WRONG, 16.0)
    assert check.where == "one block: o[2]"
    assert (
        check.reason == "is -4, expected 12, off by 16 where 0 is allowed; 15 of 16 elements wrong"
    )


@EITHER
def test_write_outside_of_the_output_is_wrong(
    all_checks: dict[tuple[str, str], Check], env: str
) -> None:
    check = all_checks[env, "beyond"]
    assert (check.status, check.where) == (Status.WRONG, "one more")


@EITHER
def test_unwritten_element_is_wrong(all_checks: dict[tuple[str, str], Check], env: str) -> None:
    check = all_checks[env, "first_block"]
    assert (check.status, check.where) == (Status.WRONG, "one more: o[16]")
    assert check.reason.startswith("was not written, expected")


@EITHER
def test_a_kernel_that_hangs_is_stopped(all_checks: dict[tuple[str, str], Check], env: str) -> None:
    assert (all_checks[env, "hangs"].status, all_checks[env, "hangs"].where) == (
        Status.TIMED_OUT,
        "one block",
    )


@EITHER
def test_kernel_that_kills_the_process_is_reported_as_crashed(
    all_checks: dict[tuple[str, str], Check], env: str
) -> None:
    assert (all_checks[env, "far_away"].status, all_checks[env, "far_away"].where) == (
        Status.CRASHED,
        "one block",
    )
    assert "SIGSEGV" in all_checks[env, "far_away"].reason


def test_exception_is_reported_with_its_line(all_checks: dict[tuple[str, str], Check]) -> None:
    check = all_checks[NEW, "misshapen"]
    assert check.status is Status.REJECTED
    assert check.reason.startswith("raised in the interpreter: ValueError")
    assert check.where.startswith("one block, numbers.py:")


@EITHER
def test_missing_feature_of_an_interpreter_is_unsupported(
    all_checks: dict[tuple[str, str], Check], env: str
) -> None:
    check = all_checks[env, "assembly"]
    assert check.status is Status.UNSUPPORTED
    assert "inline_asm not supported in interpreter mode" in check.reason


@EITHER
def test_a_defect_of_the_interpreter_is_found_by_a_probe(
    all_checks: dict[tuple[str, str], Check], env: str
) -> None:
    check = all_checks[env, "bf16 sums"]
    assert check.status is Status.UNSUPPORTED
    assert (
        "interpreter gets bf16 arithmetic wrong (an element of a correct kernel is " in check.reason
    )


@EITHER
def test_kernel_that_avoids_a_defect_of_the_interpreter_is_ok(
    all_checks: dict[tuple[str, str], Check], env: str
) -> None:
    assert all_checks[env, "bf16 copies"].status is Status.OK


@EITHER
@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("raises", "a problem could not be made: KeyError: 'nothing of that name'"),
        (
            "lacks",
            (
                "problem 'one block': the arguments are not those of the kernel: missing a required"
                " argument: 'y'"
            ),
        ),
    ],
)
def test_mistake_in_a_problem_is_not_blamed_on_the_kernel(
    all_checks: dict[tuple[str, str], Check], env: str, what: str, message: str
) -> None:
    assert all_checks[env, what].status is Status.LOST
    assert all_checks[env, what].reason == f"a mistake in the problem, not in the kernel: {message}"


class Refusing(LocalExecutor):
    """An executor that must not receive a batch."""

    def submit(self, batch: object) -> object:  # type: ignore[override]
        raise AssertionError(f"{batch} was known")


def refusing(envs: dict[str, BuiltEnv], store: Store) -> RunContext:
    executor: OpenExecutor = Refusing  # type: ignore[assignment]
    return RunContext(envs=envs, store=store, limits=LIMITS, executor=executor)


def test_known_checks_are_not_run_again_for_any_target(
    all_checks: dict[tuple[str, str], Check], envs: dict[str, BuiltEnv], store: Store
) -> None:
    names = [what for what in WHAT if what not in ("raises", "lacks", "sometimes")]
    cells = {
        (what, target): numbers_cell(envs[NEW], what, target)
        for what in names
        for target in ("sm_80", "sm_90", "gfx942")
    }
    again = interpret(cells.values(), refusing(envs, store))
    assert {key: again[cell] for key, cell in cells.items()} == {
        (what, target): all_checks[NEW, what] for what, target in cells
    }


def test_known_checks_are_read_from_the_store_without_a_run(
    all_checks: dict[tuple[str, str], Check], envs: dict[str, BuiltEnv], store: Store
) -> None:
    names = [what for env, what in all_checks if env == NEW]
    results = with_interpreted(
        [result_of(numbers_cell(envs[NEW], what), envs[NEW]) for what in names], store
    )
    assert [result.numbers.interpreter for result in results] == [
        all_checks[NEW, what] for what in names
    ]


RUNS = {"right": 1, "subtracts": 2, "bf16 sums": 1, "hangs": 1, "sometimes": 3}


class Counting(Staying):
    """An executor that records the cells that it receives, and how often it was opened."""

    asked: ClassVar[list[Cell]] = []
    opened = 0

    def __init__(self, interpreters: WorkerPool, **facts: Any) -> None:
        super().__init__(interpreters, **facts)
        Counting.opened += 1

    def submit(self, batch: Batch, stop: threading.Event | None = None) -> Generator[CellAttempts]:
        self.asked.extend(cell for cell in batch.cells if cell.spec.kernel != "probe")
        return super().submit(batch, stop)


def test_wrong_numbers_are_confirmed_once(
    envs: dict[str, BuiltEnv], interpreters: WorkerPool, tmp_path: Path
) -> None:
    """A second run confirms them, and a third one decides.

    Defects of the interpreter and timeouts are not confirmed.
    """
    problems = Path(shutil.copy(PROBLEMS, tmp_path))
    cells = {what: numbers_cell(envs[NEW], what, problems=problems) for what in RUNS}
    limits = evolve(LIMITS, deadline=2.0)
    Counting.asked.clear()
    Counting.opened = 0
    with Store(tmp_path / "store") as store:
        executor = partial(Counting, interpreters)
        context = RunContext(envs=envs, store=store, limits=limits, executor=executor)
        first = interpret(cells.values(), context)
        assert {what: Counting.asked.count(cell) for what, cell in cells.items()} == RUNS
        assert Counting.opened == 1, "all runs share the interpreters"
        assert interpret(cells.values(), context) == first
        assert len(Counting.asked) == sum(RUNS.values()), "how it was confirmed is kept, too"
    check = first[cells["sometimes"]]
    assert check.status is Status.UNSTABLE
    assert check.reason.startswith(
        "not the same in each of 3 runs in the interpreter: wrong, then ok, then wrong (is "
    )


def test_check_is_kept_only_for_the_problem_file_that_it_used(
    all_checks: object,
    envs: dict[str, BuiltEnv],
    store: Store,
    staying: OpenExecutor,
    tmp_path: Path,
) -> None:
    copy = Path(shutil.copy(PROBLEMS, tmp_path))
    assert with_interpreted(
        [result_of(numbers_cell(envs[NEW], "right", problems=copy), envs[NEW])], store
    )[0].numbers.interpreter
    copy.write_text(
        copy.read_text(encoding="utf-8").replace('("several", 100)', '("several", 99)'),
        encoding="utf-8",
    )
    cell = numbers_cell(envs[NEW], "right", problems=copy)
    assert with_interpreted([result_of(cell, envs[NEW])], store)[0].numbers.interpreter is None
    copy.write_text(copy.read_text(encoding="utf-8").replace("99", "98"), encoding="utf-8")
    context = RunContext(envs=envs, store=store, limits=LIMITS, executor=staying)
    assert interpret([cell], context)[cell].status is Status.OK
    assert with_interpreted([result_of(cell, envs[NEW])], store)[0].numbers.interpreter is None, (
        "it was another file by then"
    )


def test_tensors_become_the_descriptors_that_a_signature_names(
    envs: dict[str, BuiltEnv], store: Store, staying: OpenExecutor
) -> None:
    specs = {spec.variant: spec for spec in load_kernels(["gemm.toml"], ROOT / "kernels")}
    cell = Cell(env=envs[NEW].env, target=TARGETS["sm_90"], spec=specs["host_descriptor"])
    limits = evolve(LIMITS, deadline=60.0)
    context = RunContext(envs=envs, store=store, limits=limits, executor=staying)
    assert interpret([cell], context)[cell].status is Status.OK


def test_env_without_pytorch_gives_no_check(built: Callable[[str], BuiltEnv], store: Store) -> None:
    env = built("triton-3.5.1")
    cell = numbers_cell(env, "right")
    assert interpret([cell], refusing({env.env.name: env}, store)) == {}


def test_stopped_interpretation_keeps_finished_checks(
    envs: dict[str, BuiltEnv], staying: OpenExecutor, tmp_path: Path
) -> None:
    stop = threading.Event()
    with Store(tmp_path) as store:
        context = RunContext(
            envs=envs, store=store, limits=LIMITS, slots=1, stop=stop, executor=staying
        )
        cells = [numbers_cell(envs[NEW], what) for what in ("right", "hangs")]
        with pytest.raises(Stopped):
            interpret(cells, context, lambda done, total: stop.set())
        results = [result_of(cell, envs[NEW]) for cell in cells]
        first, second = (result.numbers.interpreter for result in with_interpreted(results, store))
    assert first is not None
    assert first.status is Status.OK
    assert second is None


EVERYWHERE = {
    "bf16_dot",
    "bf16_arithmetic",
    "bf16_rounding",
    "fp8_rounding",
    "nan_maximum",
    "descriptor_stride",
}
DEFECTS = {
    OLD: {*EVERYWHERE, "fp16_atomic", "descriptor"},
    NEW: {*EVERYWHERE, "bf16_sum", "bf16_constant"},
}
"""The probes that the interpreters of two releases fail, with the NumPy of their pairs.

An interpreter gets the operation wrong, or does not have it.
"""


@EITHER
def test_probes_find_the_defects_of_an_interpreter(
    envs: dict[str, BuiltEnv], store: Store, staying: OpenExecutor, env: str
) -> None:
    interpreter = toolchains.of(envs[env].env).device.interpreter
    assert interpreter is not None
    cells = {
        probe.name: Cell(
            env=envs[env].env,
            target=TARGETS["sm_90"],
            spec=spec_of(probe, interpreter.probe_file, "triton"),
        )
        for probe in interpreter.probes
    }
    context = RunContext(envs=envs, store=store, limits=LIMITS, executor=staying)
    checks = interpret(cells.values(), context)
    assert {
        name for name, cell in cells.items() if checks[cell].status is not Status.OK
    } == DEFECTS[env]
    assert not any(checks[cell].status is Status.LOST for cell in cells.values())


def test_interpreter_with_an_incompatible_numpy_is_unsupported(
    envs: dict[str, BuiltEnv], store: Store, tmp_path: Path
) -> None:
    """With NumPy 2, the interpreter of 3.0.0 stores nothing, and reports no error."""
    env, uv = envs[OLD], find_uv()
    if uv is None or env.python is None:
        pytest.skip("there is no uv to install NumPy 2 with")
    subprocess.run([env.python, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    (packages,) = tmp_path.glob("env/lib/python*/site-packages")
    subprocess.run(
        [uv, "pip", "install", "--quiet", "--target", packages, "numpy==2.0.2"], check=True
    )
    (original,) = Path(env.python).parent.parent.glob("lib/python*/site-packages")
    (packages / "pair.pth").write_text(f"{original}\n", encoding="utf-8")
    other = evolve(env, python=str(tmp_path / "env" / "bin" / "python"), digest="with NumPy 2.0.2")
    cells = {what: numbers_cell(other, what) for what in ("right", "subtracts")}
    checks = interpret(cells.values(), RunContext(envs={OLD: other}, store=store, limits=LIMITS))
    for cell in cells.values():
        assert checks[cell].status is Status.UNSUPPORTED
        assert (
            "interpreter does not store what a kernel computes (an element of a correct"
            " kernel was not written" in checks[cell].reason
        )
