"""Isolation: in any order and any batch, a cell has the same outcome as alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compat.engine.run import run
from compat.executors.executor import Batch, LocalExecutor
from compat.model import BuiltEnv, Cell, CompileSpec, Result, Specialization
from compat.source.closure import read_source
from compat.store.store import Store
from compat.workers.attempt import Limits
from tests.cells import KEPT, context_of
from tests.execution.half_imports import half_imports
from tests.targets import TARGETS

pytestmark = pytest.mark.wheels

LIMITS = Limits(deadline=60, memory=4 << 30)
HEADER = "import triton\nimport triton.language as tl\n"
KERNEL = """
@triton.jit
def kernel(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, {value})
"""
HELPER = HEADER + "\n@triton.jit\ndef {name}(x):\n    return x + 1\n"

SOURCES = {
    # Each source has a module ``utils`` beside it. Only the first of these modules has the helper
    # that both sources import.
    "first/uses_helper.py": (
        HEADER + "from utils import helper\n" + KERNEL.format(value="helper(tl.load(source + at))")
    ),
    "second/uses_helper.py": (
        HEADER + "from utils import helper\n" + KERNEL.format(value="helper(tl.load(source + at))")
    ),
    # One source adds a name to the toolchain, and the other uses that name.
    "third/adds_name.py": (
        HEADER
        + "import triton.language.core as core\n"
        + HELPER.format(name="my_new_api").removeprefix(HEADER)
        + "tl.my_new_api = my_new_api\n"
        + KERNEL.format(value="tl.my_new_api(tl.load(source + at))")
    ),
    "third/uses_name.py": HEADER + KERNEL.format(value="tl.my_new_api(tl.load(source + at))"),
    # One source changes an operation, the compiler's entry point, the environment and Python
    # itself. The other is an ordinary kernel.
    "third/changes_much.py": (
        HEADER
        + "import os, sys, builtins, warnings\n"
        + "tl.load = None\nos.environ['TRITON_INTERPRET'] = '1'\nos.environ['DISABLE_LLVM_OPT'] ="
        " '1'\nos.chdir('/')\n" + "sys.path.clear()\nbuiltins.len ="
        " None\nwarnings.simplefilter('error')\nsys.setrecursionlimit(80)\n"
        + KERNEL.format(value="at")
    ),
    "third/plain.py": HEADER + KERNEL.format(value="tl.load(source + at)"),
}
FOLDERS = {
    "first/utils.py": HELPER.format(name="helper"),
    "second/utils.py": HELPER.format(name="something_else"),
}


@pytest.fixture(scope="module")
def env(built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built("triton-3.9.0")


@pytest.fixture(scope="module")
def cells(env: BuiltEnv, tmp_path_factory: pytest.TempPathFactory) -> tuple[Cell, ...]:
    folder = tmp_path_factory.mktemp("sources")
    for name, text in {**SOURCES, **FOLDERS}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    specs = [_spec(folder / name, name) for name in SOURCES]
    halves = [
        Cell(env=env.env, target=TARGETS["sm_90"], spec=spec)
        for spec, _ in half_imports(folder / "half_imports")
    ]
    return (
        *(
            Cell(env=env.env, target=TARGETS[target], spec=spec)
            for spec in specs
            for target in ("sm_80", "sm_90")
        ),
        *halves,
    )


def _spec(path: Path, name: str) -> Specialization:
    return Specialization(
        kernel=name.replace("/", "-").removesuffix(".py"),
        variant="as_written",
        case="only",
        source=str(path),
        function="kernel",
        compile=CompileSpec(
            signature={"source": "*fp32", "result": "*fp32", "size": "i32"},
            constexprs={"BLOCK": 64},
        ),
        closure=read_source(path).closure,
    )


def outcomes(cells: Sequence[Cell], env: BuiltEnv, slots: int) -> dict[str, tuple[str, str]]:
    with TemporaryDirectory() as folder, Store(Path(folder)) as store:
        results = run(cells, context_of(store, env, limits=LIMITS, slots=slots))
    return {result.cell.id: _told(result) for result in results}


def _told(result: Result) -> tuple[str, str]:
    failure = result.outcome.failure
    return str(result.outcome.status), failure.fingerprint if failure else ""


@pytest.fixture(scope="module")
def alone(
    cells: tuple[Cell, ...], env: BuiltEnv, once: Callable[[str, Callable[[], str]], str]
) -> dict[str, tuple[str, str]]:
    """The outcome of each cell when it is compiled alone."""
    text = once(
        "isolation-alone",
        lambda: json.dumps(
            {name: outcome for cell in cells for name, outcome in outcomes([cell], env, 1).items()}
        ),
    )
    return {name: (status, fingerprint) for name, (status, fingerprint) in json.loads(text).items()}


@pytest.mark.long
def test_cells_compiled_alone_have_the_expected_statuses(alone: dict[str, tuple[str, str]]) -> None:
    statuses = {
        name.removesuffix("/triton-3.9.0").replace("/as_written/only", ""): status
        for name, (status, _) in alone.items()
    }
    assert statuses["first-uses_helper/sm_90"] == "ok"
    assert statuses["second-uses_helper/sm_90"] == "source_broken"
    assert statuses["third-adds_name/sm_90"] == "ok"
    assert statuses["third-uses_name/sm_90"] == "rejected"
    assert statuses["third-plain/sm_90"] == "ok"


@settings(
    max_examples=6,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data(), slots=st.integers(1, 3))
def test_outcomes_do_not_depend_on_order_and_batches(
    cells: tuple[Cell, ...],
    env: BuiltEnv,
    alone: dict[str, tuple[str, str]],
    data: st.DataObject,
    slots: int,
) -> None:
    chosen = data.draw(st.lists(st.sampled_from(cells), min_size=2, unique_by=lambda cell: cell.id))
    assert outcomes(chosen, env, slots) == {cell.id: alone[cell.id] for cell in chosen}


@pytest.mark.parametrize(("release", "backwards"), [("3.2.0", False), ("3.4.0", True)])
def test_an_import_that_fails_half_way_fails_for_every_kernel(
    built: Callable[[str], BuiltEnv], tmp_path: Path, release: str, backwards: bool
) -> None:
    """The cells share one process where they may, and any of them can come first."""
    env = built(f"triton-{release}")
    expected = {
        Cell(env=env.env, target=TARGETS["sm_90"], spec=spec): status
        for spec, status in half_imports(tmp_path)
    }
    cells = list(expected)[:: -1 if backwards else 1]
    statuses = {name: status for name, (status, _) in outcomes(cells, env, 1).items()}
    assert statuses == {cell.id: status for cell, status in expected.items()}


SUMS = HEADER + KERNEL.format(value="tl.sum(tl.load(source + at)) + at * 0.0")
"""Warps exchange their sums in shared memory."""


@pytest.mark.parametrize("release", ["3.1.0", "3.2.0", "3.3.1", "3.9.0"])
def test_kernel_is_compiled_the_same_first_or_later_in_a_process(
    built: Callable[[str], BuiltEnv], tmp_path: Path, release: str
) -> None:
    """The products are the same byte by byte.

    3.2.0 to 3.3.1 would use 64-bit pointers into shared memory in the first kernel, and 32-bit
    pointers in later ones.
    """
    path = tmp_path / "sums.py"
    path.write_text(SUMS)
    env = built(f"triton-{release}")
    spec = _spec(path, "sums.py")
    wide, narrow = (
        evolve(spec, case=f"b{b}", compile=evolve(spec.compile, constexprs={"BLOCK": b}))
        for b in (1024, 512)
    )
    together, alone = (_made(env, specs) for specs in ((wide, narrow), (narrow,)))
    assert set(alone["b512"]) >= {"ttir", "llir", "ptx", "cubin"}
    assert together["b512"] == alone["b512"]
    assert together["b1024"]["ptx"] != together["b512"]["ptx"]


def _made(env: BuiltEnv, specs: Sequence[Specialization]) -> dict[str, dict[str, str]]:
    """Case → stage → digest of its product.

    One process compiles the kernels one after the other.
    """
    cells = [Cell(env=env.env, target=TARGETS["sm_90"], spec=spec) for spec in specs]
    with LocalExecutor(idle_timeout=KEPT) as executor:
        attempts = {
            cell_attempts.position: cell_attempts.attempts[0]
            for cell_attempts in executor.submit(Batch(cells, env, LIMITS))
        }
    return {
        spec.case: {
            stage: product.digest
            for done in attempts[at].done
            for stage, product in done.outputs.items()
        }
        for at, spec in enumerate(specs)
    }
