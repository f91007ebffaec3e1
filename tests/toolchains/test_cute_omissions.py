"""CuTe DSL: compiles without one of MLIR's passes, and the pass that a metric depends on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat.bisect.bisecting import CellSearch
from compat.bisect.criterion import parse_criterion
from compat.bisect.omissions import OmissionSearch
from compat.config.kernel_files import load_kernels
from compat.config.matrix import MatrixConfig
from compat.model import BuiltEnv, Cell, Evidence
from compat.store.store import Store
from compat.toolchains.cute.ir import PARTS
from compat.workers.attempt import KEEPING_IR, Compile, Mode
from compat.workers.watch import attempt
from tests.cells import context_of, worker
from tests.toolchains import cute_faces
from tests.toolchains.compiling import LIMITS

pytestmark = pytest.mark.wheels
REPOSITORY = Path(__file__).resolve().parents[2]

Rounds = Callable[[str], Cell]
Search = Callable[..., OmissionSearch]


@pytest.fixture
def rounds(config: MatrixConfig) -> Rounds:
    """Release → the cell of a kernel with divisions in a loop."""
    (spec,) = load_kernels(["tests/kernels/cute_rounds.toml"], REPOSITORY)
    return lambda release: Cell(
        env=config.env(f"cute-{release}"), target=cute_faces.target(), spec=spec
    )


@pytest.fixture
def search(cute: Callable[[str], BuiltEnv], rounds: Rounds, tmp_path: Path) -> Iterator[Search]:
    """Makes a search for the pass behind a judge about this kernel, with a store of its own."""
    with Store(tmp_path / "store") as store:

        def make(judge: str, bad: str, good: str | None = None) -> OmissionSearch:
            releases = [bad, *([good] if good else [])]
            context = context_of(store, *map(cute, releases), limits=LIMITS)
            return OmissionSearch(
                bad=rounds(bad),
                good=rounds(good) if good else None,
                context=context,
                criterion=parse_criterion(judge),
            )

        yield make


def without(number: int) -> Mode:
    return Mode(actions=(Compile(keep_ir=True),), variables={PARTS.leaves_out: str(number)})


@pytest.mark.parametrize("release", ["4.2.1", "4.5.3", "4.6.1", "4.8.1"])
def test_passes_run_singly_make_the_same_code_as_the_release(
    cute: Callable[[str], BuiltEnv], rounds: Rounds, tmp_path: Path, release: str
) -> None:
    """Otherwise, a pass that is left out would not be the only difference."""

    def compiled(mode: Mode) -> tuple[Evidence, bytes]:
        ((_, evidence),) = attempt(
            server, [rounds(release)], LIMITS, stop=threading.Event(), mode=mode, keep=store.keep
        )
        assert evidence.complete, evidence.raised
        code = (
            PARTS.canonical_code((store.artifact(evidence.artifacts["ptx"]) or b"").decode())
            if "ptx" in evidence.artifacts
            else ""
        )
        return evidence, code.encode()

    with worker(cute(release)) as server, Store(tmp_path) as store:
        own, own_code = compiled(KEEPING_IR)
        singly, code = compiled(without(0))
    for metric in ("registers", "stack_bytes", "code_bytes"):
        assert singly.metrics[metric] == own.metrics[metric]
    assert code == own_code


@pytest.mark.long
def test_search_names_the_pass_that_a_metric_depends_on(search: Search, tmp_path: Path) -> None:
    """4.6.1 runs strength reduction once more, after the lowering of its own operations."""
    steps: list[str] = []
    answer = CellSearch(
        cell=(omission_search := search("code_bytes>600", "4.6.1", "4.5.3")).bad,
        other=omission_search.good,
        context=omission_search.context,
        folder=tmp_path,
        criterion=omission_search.criterion,
        on_step=steps.append,
    )._pass()
    assert answer is not None
    assert (answer.pass_, answer.stage) == ("strength-reduction", "mlir")
    assert (
        "Without strength-reduction, pass 21 of 33, code_bytes is 512 instead of 640."
        in answer.sentence
    )
    assert (
        "cute-4.6.1 runs strength-reduction twice, cute-4.5.3 once. Both releases run arith-expand"
        " once." in answer.sentence
    )
    assert "6 passes cannot be run by themselves, and were not left out" in answer.sentence
    assert "infer-kernel-smem-usage, cute-expand-ops and convert-cute-to-core" in answer.sentence
    assert answer.diff.startswith("--- before strength-reduction\n+++ after it\n")
    assert answer.folder is not None
    assert list(Path(answer.folder).glob("021-strength-reduction.mlir"))
    assert "without strength-reduction, 21 of 33" in steps


@pytest.mark.long
def test_no_pass_is_named_where_none_matters(search: Search, tmp_path: Path) -> None:
    answer = search("kernels>0", "4.8.1").answer(tmp_path / "passes")
    assert (answer.pass_, answer.stage) == (None, None)
    assert answer.sentence.startswith("No pass is shown to be the cause: with any one of ")
    assert "--good RELEASE also compares parts" in answer.sentence


def test_no_pass_is_left_out_if_the_metric_is_good_or_unknown(
    search: Search, tmp_path: Path
) -> None:
    answer = search("registers>250", "4.8.1").answer(tmp_path / "passes")
    assert answer.sentence.endswith("in cute-4.8.1, which is good: there is nothing to find.")
    unknown = search("spills>0", "4.8.1").answer(tmp_path / "passes")
    assert (
        unknown.sentence
        == "The metric spills of cute-4.8.1 is unknown (ok), so no pass was left out."
    )
    assert not (tmp_path / "passes").exists()
