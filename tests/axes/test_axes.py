"""The axes on real wheels: breaks whose place is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compat.answers import PartName
from compat.axes import config, part, passes
from compat.engine.flight import Limits
from compat.model import BuiltEnv, Cell, Env
from compat.run import Bench
from compat.store import Store
from tests.cells import POINTERS, cell

pytestmark = pytest.mark.wheels
HALVES = {**POINTERS, "source": "*fp16"}
DOTS: dict[str, Any] = {"constexprs": {"BLOCK": 64}, "options": {"num_warps": 8}, "signature": HALVES}
LOWERING = "convert-triton-gpu-to-llvm"

Cells = Callable[..., tuple[Bench, list[Cell]]]


@pytest.fixture
def cells(built: Callable[[str], BuiltEnv], tmp_path: Path) -> Iterator[Cells]:
    """A bench with a store of its own, and one kernel as cells of several releases."""
    with Store(tmp_path / "store") as store:

        def make(releases: str, file: str, function: str, **changes: Any) -> tuple[Bench, list[Cell]]:
            envs = {f"triton-{release}": built(f"triton-{release}") for release in releases.split()}
            bench = Bench(envs=envs, store=store, limits=Limits(deadline=60, memory=4 << 30))
            return bench, [cell(env, file, function, **changes) for env in envs.values()]

        yield make


# --- part -------------------------------------------------------------------------------------------------------------------------


def test_a_break_in_the_front_end(cells: Cells) -> None:
    bench, (good, bad) = cells("3.8.0 3.9.0", "failures", "block_pointer")
    found = part.find(good, bad, bench)
    assert found.name is PartName.FRONT_END
    assert (
        found.sentence
        == "The break is in the AST front end, which rejects the source (api-removed). All behind the front end works."
    )
    assert found.steps[-1] == "TTIR made by 3.8.0, compiled by 3.9.0: ok."


def test_a_break_in_the_passes(cells: Cells) -> None:
    bench, (good, bad) = cells("3.1.0 3.2.0", "failures", "dot_into_dot", **DOTS)
    found = part.find(good, bad, bench)
    assert found.name is PartName.MLIR
    assert found.sentence == f"The break is in the MLIR passes ({LOWERING}); the front end has no part in it."
    assert found.steps[1:] == (
        "TTIR made by 3.1.0, compiled by 3.2.0: fails in the same way.",
        "TTIR made by 3.2.0, compiled by 3.2.0: fails in the same way.",
        "TTIR made by 3.2.0, compiled by 3.1.0: ok.",
    )


def test_what_a_newer_assembler_mended(cells: Cells) -> None:
    bench, (good, bad) = cells("3.4.0 3.3.1", "../axes/kernels", "fenced")
    found = part.find(good, bad, bench)
    assert found.name is PartName.PTXAS
    assert found.sentence == "What 3.4.0 mended is in ptxas, not in Triton."
    assert found.steps[1:] == ("3.3.1 with the ptxas of 3.4.0: ok.", "3.4.0 with the ptxas of 3.3.1: fails in the same way.")


def test_a_target_that_only_a_newer_assembler_knows(cells: Cells) -> None:
    bench, (good, bad) = cells("3.3.1 3.2.0", "faces", "fine", target="sm_100")
    found = part.find(good, bad, bench)
    assert found.name is PartName.PTXAS
    assert found.steps[-1] == "3.3.1 with the ptxas of 3.2.0: fails in the same way."


def test_nothing_is_said_where_nothing_changed(cells: Cells) -> None:
    bench, (good, bad) = cells("3.8.0 3.9.0", "faces", "missing_name")
    assert part.find(good, bad, bench).name is PartName.UNKNOWN
    bench, (good, bad) = cells("3.8.0 3.9.0", "faces", "fine")
    assert part.find(good, bad, bench).sentence == "It does not fail on triton-3.9.0: there is no break."


def test_nothing_is_said_of_a_broken_env(cells: Cells) -> None:
    bench, (good,) = cells("3.9.0", "faces", "fine")
    gone = BuiltEnv(env=Env(name="gone"), error="not there")
    bench = Bench(envs={**bench.envs, "gone": gone}, store=bench.store, limits=bench.limits)
    found = part.find(good, cell(gone, "faces", "fine"), bench)
    assert (found.name, found.sentence) == (
        PartName.UNKNOWN,
        "Nothing is known of gone (env_broken), so that the part cannot be told.",
    )


# --- pass -------------------------------------------------------------------------------------------------------------------------


def test_the_pass_that_fails(cells: Cells, tmp_path: Path) -> None:
    bench, (bad,) = cells("3.2.0", "failures", "dot_into_dot", **DOTS)
    found = passes.find(bad, bench, tmp_path / "ir")
    assert (found.pass_, found.stage) == (LOWERING, "llir")
    saved = sorted(path.name for path in (tmp_path / "ir").glob("*.mlir"))
    assert saved[0] == "001-inline.mlir"
    assert saved[-1] == f"{len(saved):03}-{LOWERING}.mlir"
    assert found.sentence == f"{LOWERING} fails, in stage llir, the last of {len(saved)} passes that began."
    assert "tt.func public @dot_into_dot" in (tmp_path / "ir" / saved[-1]).read_text()
    assert (tmp_path / "ir" / "made.ttgir").exists()


def test_no_pass_fails(cells: Cells, tmp_path: Path) -> None:
    bench, (fine,) = cells("3.9.0", "faces", "looped")
    found = passes.find(fine, bench, tmp_path / "ir")
    saved = sorted(path.name for path in (tmp_path / "ir").glob("*.mlir"))
    assert (found.pass_, found.stage, len(saved)) == (None, None, 78)
    assert found.folder == str(tmp_path / "ir")
    bench, (broken,) = cells("3.9.0", "faces", "missing_name")
    found = passes.find(broken, bench, tmp_path / "ir")
    assert found.sentence == "No pass is to blame: it fails in stage ast, before the first."
    assert not list((tmp_path / "ir").iterdir()), "nothing is left of the search before"


def test_releases_that_agree_up_to_the_pass_that_fails(cells: Cells, tmp_path: Path) -> None:
    bench, (good, bad) = cells("3.4.0 3.3.1", "failures", "dot_into_dot", **DOTS)
    found = passes.compare(good, bad, bench, tmp_path)
    assert found.pass_ == LOWERING
    assert found.sentence == f"Their IR is the same, names aside, up to {LOWERING}, which fails in triton-3.3.1 alone."
    assert len(list((tmp_path / "good").glob("*.mlir"))) > len(list((tmp_path / "bad").glob("*.mlir"))) > 50


def test_configurations_whose_ir_parts(cells: Cells, tmp_path: Path) -> None:
    bench, (few,) = cells("3.9.0", "faces", "looped", case="few", options={"num_stages": 2})
    _, (more,) = cells("3.9.0", "faces", "looped", case="more", options={"num_stages": 2, "num_warps": 8})
    found = passes.compare(few, more, bench, tmp_path)
    assert (found.pass_, found.stage) == ("convert-triton-to-tritongpu", "ttgir")
    assert found.diff.startswith("--- good (few)\n+++ bad (more)\n")
    assert '"ttg.num-warps" = 8' in found.diff
    same = passes.compare(few, few, bench, tmp_path)
    assert (same.pass_, same.diff, same.sentence) == (None, "", "Their IR is the same before every pass, names aside.")


# --- config -----------------------------------------------------------------------------------------------------------------------


def test_the_option_that_a_failure_needs(cells: Cells) -> None:
    bench, (bad,) = cells("3.9.0", "failures", "scan", constexprs={"BLOCK": 256}, options={"num_ctas": 2}, divisible_by_16=())
    heard: list[int] = []
    found = config.find(bad, bench, heard.append)
    assert found.sentence == "It is ok with num_ctas=1 in place of 2. In short: fails from num_ctas ≥ 2 (1 is ok)."
    assert [(need.knob, need.value, need.fails) for need in found.needs] == [("num_ctas", "2", ("4",))]
    assert heard == list(range(1, found.tried + 1))


def test_there_is_nothing_to_need(cells: Cells) -> None:
    bench, (fine,) = cells("3.9.0", "faces", "fine")
    found = config.find(fine, bench)
    assert (found.sentence, found.tried) == ("It is ok as it is: there is no failure to search in.", 0)
