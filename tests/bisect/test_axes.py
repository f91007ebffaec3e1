"""The axes on real wheels, with breaks whose place is known."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from compat.bisect import part, passes, settings
from compat.bisect.answers import PartName
from compat.bisect.attempts import Attempts
from compat.bisect.combining import CompileExperiment
from compat.engine.run import RunContext, run
from compat.model import BuiltEnv, Cell, Env, Outcome, Status
from compat.store.store import Store
from compat.toolchains.triton.ir.dumps import PARTS
from tests.cells import POINTERS, cell, context_of

pytestmark = pytest.mark.wheels
HALVES = {**POINTERS, "source": "*fp16"}
DOTS: dict[str, Any] = {
    "constexprs": {"BLOCK": 64},
    "options": {"num_warps": 8},
    "signature": HALVES,
    "divisible_by_16": (),  # with hints, each binary of 3.1.0 needs a disassembly, which takes long
}
BRAINS: dict[str, Any] = {
    "signature": {**POINTERS, "source": "*bf16", "result": "*bf16"},
    "constexprs": {"BLOCK": 4},
}
LOWERING = "convert-triton-gpu-to-llvm"

Cells = Callable[..., tuple[RunContext, list[Cell]]]


@pytest.fixture
def cells(built: Callable[[str], BuiltEnv], tmp_path: Path) -> Iterator[Cells]:
    """Makes a context with its own store, and cells of one kernel on several releases."""
    with Store(tmp_path / "store") as store:

        def make(
            releases: str, file: str, function: str, **changes: Any
        ) -> tuple[RunContext, list[Cell]]:
            envs = [built(f"triton-{release}") for release in releases.split()]
            return context_of(store, *envs), [cell(env, file, function, **changes) for env in envs]

        yield make


# --- part -----------------------------------------------------------------------------------------


def test_a_break_in_the_front_end(cells: Cells) -> None:
    context, (good, bad) = cells("3.8.0 3.9.0", "failures", "block_pointer")
    answer = part.find_part(bad, good, context)
    assert answer.name is PartName.FRONT_END
    rejects = "The break is in the front end, which rejects the source (api-removed)."
    assert answer.sentence == f"{rejects} The stages after it compile the TTIR of 3.8.0."
    assert answer.steps[-1] == "TTIR made by 3.8.0, compiled by 3.9.0: ok."


def test_a_break_in_the_passes(cells: Cells) -> None:
    context, (good, bad) = cells("3.1.0 3.2.0", "failures", "dot_into_dot", **DOTS)
    answer = part.find_part(bad, good, context)
    assert answer.name is PARTS.passes
    assert (
        answer.sentence
        == f"The break is in the MLIR passes ({LOWERING}); the front end is not involved."
    )
    assert answer.steps[1:] == (
        "TTIR made by 3.1.0, compiled by 3.2.0: fails the same way.",
        "TTIR made by 3.2.0, compiled by 3.2.0: fails the same way.",
        "TTIR made by 3.2.0, compiled by 3.1.0: ok.",
    )


def test_failure_that_a_newer_ptxas_fixed_is_in_ptxas(cells: Cells) -> None:
    context, (good, bad) = cells("3.4.0 3.3.1", "../bisect/kernels", "fenced")
    answer = part.find_part(bad, good, context)
    assert answer.name == "ptxas"
    assert answer.sentence == "The failure that 3.4.0 fixed is in ptxas, not in Triton."
    assert answer.steps[1:] == (
        "3.3.1 with the ptxas of 3.4.0: ok.",
        "3.4.0 with the ptxas of 3.3.1: fails the same way.",
    )


def test_llvm_is_not_blamed_if_its_input_differs(cells: Cells) -> None:
    context, (good, bad) = cells(
        "3.3.0 3.2.0", "../bisect/kernels", "sorted_bf16", target="sm_75", **BRAINS
    )
    answer = part.find_part(bad, good, context)
    assert answer.name is PartName.UNKNOWN
    fixed = (
        "The failure that 3.3.0 fixed is not in ptxas but in its input, in the MLIR passes or LLVM,"
        " after TTIR"
    )
    assert answer.sentence == f"{fixed}; TTGIR does not tell which."
    # 3.2.0 finds the function of an IR file with a regular expression. That takes minutes on the
    # locations in it.
    assert "TTIR made by 3.3.0, compiled by 3.2.0: fails the same way." in answer.steps
    (step,) = [step for step in answer.steps if "hand to LLVM" in step]
    assert step.startswith(
        "The LLVM IR that 3.3.0 and 3.2.0 hand to LLVM differs, ignoring names: `define ptx_kernel"
        " void @sorted_bf16("
    )


@pytest.mark.parametrize(("releases", "same"), [("3.8.0 3.9.0", True), ("3.2.0 3.3.0", False)])
def test_same_low_ir_says_whether_two_releases_give_llvm_the_same(
    cells: Cells, releases: str, same: bool
) -> None:
    context, (one, other) = cells(releases, "failures", "copy")
    with Attempts(context) as attempts:
        failing = Outcome(status=Status.CRASHED, stage="ptx")
        experiment = CompileExperiment(
            good=one, bad=other, context=context, failing=failing, attempts=attempts, parts=PARTS
        )
        assert experiment.same_low_ir is same


def test_failure_for_a_target_that_only_a_newer_ptxas_knows_is_in_ptxas(cells: Cells) -> None:
    context, (good, bad) = cells("3.3.1 3.2.0", "faces", "fine", target="sm_100")
    answer = part.find_part(bad, good, context)
    assert answer.name == "ptxas"
    assert answer.steps[-1] == "3.3.1 with the ptxas of 3.2.0: fails the same way."


def test_part_is_unknown_if_nothing_changed(cells: Cells) -> None:
    context, (good, bad) = cells("3.8.0 3.9.0", "faces", "missing_name")
    assert part.find_part(bad, good, context).name is PartName.UNKNOWN
    context, (good, bad) = cells("3.8.0 3.9.0", "faces", "fine")
    assert (
        part.find_part(bad, good, context).sentence
        == "It does not fail on triton-3.9.0: there is no failure to locate."
    )


def test_part_is_unknown_for_a_broken_env(cells: Cells) -> None:
    context, (good,) = cells("3.9.0", "faces", "fine")
    broken_env = BuiltEnv(env=Env(name="gone"), error="not there")
    context = RunContext(
        envs={**context.envs, "gone": broken_env}, store=context.store, limits=context.limits
    )
    answer = part.find_part(good, cell(broken_env, "faces", "fine"), context)
    assert (answer.name, answer.sentence) == (
        PartName.UNKNOWN,
        "There is no answer for gone (env_broken), so the part is unknown.",
    )


# --- pass -----------------------------------------------------------------------------------------


def test_failing_pass_is_found_and_the_ir_is_saved(cells: Cells, tmp_path: Path) -> None:
    context, (bad,) = cells("3.2.0", "failures", "dot_into_dot", **DOTS)
    answer = passes.find_pass(bad, context, tmp_path / "ir")
    assert (answer.pass_, answer.stage) == (LOWERING, "llir")
    saved = sorted(path.name for path in (tmp_path / "ir").glob("*.mlir"))
    assert saved[0] == "001-inline.mlir"
    assert saved[-1] == f"{len(saved):03}-{LOWERING}.mlir"
    assert (
        answer.sentence
        == f"{LOWERING} fails, in stage llir, the last of {len(saved)} passes that began."
    )
    assert "tt.func public @dot_into_dot" in (tmp_path / "ir" / saved[-1]).read_text()
    assert (tmp_path / "ir" / "made.ttgir").exists()


def test_no_pass_is_blamed_if_none_fails(cells: Cells, tmp_path: Path) -> None:
    context, (fine,) = cells("3.9.0", "faces", "looped")
    answer = passes.find_pass(fine, context, tmp_path / "ir")
    saved = sorted(path.name for path in (tmp_path / "ir").glob("*.mlir"))
    assert (answer.pass_, answer.stage, len(saved)) == (None, None, 78)
    assert answer.folder == str(tmp_path / "ir")
    context, (broken,) = cells("3.9.0", "faces", "missing_name")
    answer = passes.find_pass(broken, context, tmp_path / "ir")
    assert answer.sentence == "No pass is to blame: it fails in stage ast, before the first."
    assert not list((tmp_path / "ir").iterdir()), "nothing is left of the search before"
    assert answer.folder is None
    assert passes.find_pass(broken, context, tmp_path / "none").folder is None
    assert not (tmp_path / "none").exists()


def test_ir_of_two_releases_is_the_same_up_to_the_failing_pass(
    cells: Cells, tmp_path: Path
) -> None:
    context, (good, bad) = cells("3.4.0 3.3.1", "failures", "dot_into_dot", **DOTS)
    answer = passes.compare(good, bad, context, tmp_path)
    assert answer.pass_ == LOWERING
    assert (
        answer.sentence
        == f"Their IR is the same, ignoring names, up to {LOWERING}, which fails in triton-3.3.1"
        " alone."
    )
    assert (
        len(list((tmp_path / "good").glob("*.mlir")))
        > len(list((tmp_path / "bad").glob("*.mlir")))
        > 50
    )


def test_pass_is_found_after_which_the_ir_of_two_cases_differs(
    cells: Cells, tmp_path: Path
) -> None:
    context, (few,) = cells("3.9.0", "faces", "looped", case="few", options={"num_stages": 2})
    _, (more,) = cells(
        "3.9.0", "faces", "looped", case="more", options={"num_stages": 2, "num_warps": 8}
    )
    answer = passes.compare(few, more, context, tmp_path)
    assert (answer.pass_, answer.stage) == ("convert-triton-to-tritongpu", "ttgir")
    assert answer.diff.startswith("--- good (few)\n+++ bad (more)\n")
    assert '"ttg.num-warps" = 8' in answer.diff
    same = passes.compare(few, few, context, tmp_path)
    assert (same.pass_, same.diff, same.sentence) == (
        None,
        "",
        "Their IR is the same before every pass, ignoring names.",
    )


# --- config ---------------------------------------------------------------------------------------


def test_option_that_a_failure_needs_is_found(cells: Cells) -> None:
    context, (bad,) = cells(
        "3.9.0",
        "failures",
        "scan",
        constexprs={"BLOCK": 256},
        options={"num_ctas": 2},
        divisible_by_16=(),
    )
    messages: list[str] = []
    answer = settings.find_needs(bad, context, messages.append)
    assert (
        answer.sentence
        == "It is ok with num_ctas=1 instead of 2. In short: fails with num_ctas = 2 and 4, ok with"
        " 1 and default."
    )
    assert [(need.setting, need.value, need.fails) for need in answer.needs] == [
        ("num_ctas", "2", ("4",))
    ]
    assert [step.split(" of at most ")[0] for step in messages] == [
        str(number) for number in range(answer.compiled + 1)
    ]
    assert messages[-1].startswith(
        f"{answer.compiled} of at most {answer.compiled} changes,"
        " so far ok with num_ctas=1 instead of 2"
    )


def with_less_memory(failing: Cell, bytes_: int) -> Cell:
    """The same cell for a GPU that has less shared memory."""
    return evolve(
        failing, target=evolve(failing.target, name=f"sm_80_{bytes_}", shared_memory=bytes_)
    )


def test_hint_is_not_needed_if_the_cell_fails_without_any(cells: Cells) -> None:
    hinted = ("other", "result", "stride")
    signature = {"source": "*fp16", "other": "*fp16", "result": "*fp32", "stride": "i32"}
    facts: dict[str, Any] = {
        "target": "sm_80",
        "constexprs": {},
        "options": {"num_stages": 3},
    }
    context, (bad,) = cells(
        "3.9.0",
        "../bisect/kernels",
        "scanned",
        signature=signature,
        divisible_by_16=hinted,
        **facts,
    )
    answer = settings.find_needs(with_less_memory(bad, 1000), context)
    (about,) = [need for need in answer.needs if need.setting == "hints"]
    assert (
        about.sentence
        == "ok without the hint divisible_by_16: other, but no hint is needed: fails the same way"
        " without any hint"
    )
    assert "none" in about.fails
    assert "needs the hint" not in answer.sentence


def test_hints_that_a_failure_needs_are_found(cells: Cells) -> None:
    hinted = ("source", "other", "result", "size", "stride")
    signature = {
        "source": "*fp16",
        "other": "*fp16",
        "result": "*fp32",
        "size": "i32",
        "stride": "i32",
    }
    facts: dict[str, Any] = {
        "target": "sm_80",
        "constexprs": {},
        "options": {"num_stages": 3},
    }
    context, (bad,) = cells(
        "3.9.0",
        "../bisect/kernels",
        "multiplied",
        signature=signature,
        divisible_by_16=hinted,
        **facts,
    )
    messages: list[str] = []
    answer = settings.find_needs(with_less_memory(bad, 1700), context, messages.append)
    certain = [step for step in messages if " for the next " in step]
    for step in certain:
        done, most, next_ = map(
            int,
            re.findall(r"^(\d+) of at most (\d+) changes, about \d+ s for the next (\d+)", step)[0],
        )
        assert next_ < most - done, step
    assert certain, messages
    (about,) = [need for need in answer.needs if need.setting == "hints"]
    assert (
        about.sentence
        == "needs the hints divisible_by_16: source, divisible_by_16: other and divisible_by_16:"
        " stride (fails with these alone, ok without any one of them, and without any hint)"
    )
    alone = evolve(
        bad.spec, compile=evolve(bad.spec.compile, divisible_by_16=("source", "other", "stride"))
    )
    few = evolve(bad.spec, compile=evolve(bad.spec.compile, divisible_by_16=("source", "other")))
    shared = [
        run([evolve(bad, spec=spec)], bench_again(context))[0].outcome.metrics["shared"]
        for spec in (alone, few)
    ]
    assert shared[0] > 1700 >= shared[1]


def bench_again(context: RunContext) -> RunContext:
    """The same context for one more run."""
    return evolve(context, stop=threading.Event())


def test_cell_that_works_needs_no_setting(cells: Cells) -> None:
    context, (fine,) = cells("3.9.0", "faces", "fine")
    answer = settings.find_needs(fine, context)
    assert (answer.sentence, answer.compiled) == (
        "It is ok unchanged: there is no failure to search in.",
        0,
    )
