"""The part that an answer names, for all possible results of the experiments.

An answer never claims more than the experiments show.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from attrs import define, evolve, field

from compat.bisect.answers import Effect, Part, PartName
from compat.bisect.combining import Crossing, Side
from compat.bisect.part import FailureVerdict
from compat.model import Cell, Env, Failure, Outcome, Status
from compat.toolchains.base import CompilerParts
from compat.toolchains.triton.ir.dumps import PARTS
from tests.cells import cell

OF_SIDE = {
    Side.BEFORE: Crossing(into_bad=Effect.OK, into_good=Effect.SAME),
    Side.BEHIND: Crossing(into_bad=Effect.SAME, into_good=Effect.OK),
    Side.BOTH: Crossing(into_bad=Effect.OK, into_good=Effect.OK),
    Side.EITHER: Crossing(into_bad=Effect.SAME, into_good=Effect.SAME),
    Side.UNKNOWN: Crossing(into_bad=Effect.UNKNOWN, into_good=Effect.UNKNOWN),
}
GOOD, BAD = (cell(Env(name=f"triton-{release}"), "faces", "fine") for release in ("3.1.0", "3.2.0"))


@define(kw_only=True)
class Staged:
    """Experiments with given results, because no release breaks in each of these ways."""

    ttir: Side
    ttgir: Side
    is_read: bool = True
    """Whether the good release reads the IR of the bad one."""
    ptxas: Side
    same_low_ir: bool | None
    front_ends: bool | None
    failing: Outcome
    steps: list[str] = field(factory=list)
    parts: CompilerParts = PARTS
    first_ir: str = PARTS.first_ir
    good: Cell = GOOD
    bad: Cell = BAD

    def name(self, cell: Cell) -> str:
        return cell.env.name.removeprefix("triton-")

    def cross(self, stage: str) -> Crossing:
        crossing = OF_SIDE[self.ttir if stage == "ttir" else self.ttgir]
        return crossing if self.is_read else evolve(crossing, into_good=Effect.UNKNOWN)

    def swap_assembler(self) -> Crossing:
        return OF_SIDE[self.ptxas]

    def front_ends_agree(self) -> bool | None:
        return self.front_ends


FAILURES = {
    "pass": Failure(
        failure_class="compiler-assert",
        stage="llir",
        pass_="canonicalize",
        fingerprint="f",
        excerpt="",
        advice="",
    ),
    "optimizer": Failure(
        failure_class="unclassified", stage="llir", fingerprint="f", excerpt="", advice=""
    ),
    "codegen": Failure(
        failure_class="unclassified", stage="ptx", fingerprint="f", excerpt="", advice=""
    ),
    "assembler": Failure(
        failure_class="ptxas", stage="cubin", fingerprint="f", excerpt="", advice=""
    ),
}


def part_of(failure: Failure, **facts: Any) -> Part:
    outcome = Outcome(status=Status.CRASHED, stage=failure.stage, failure=failure)
    experiment = Staged(failing=outcome, **facts)
    return FailureVerdict(experiment=experiment, assemblers=(), subject="The break is").part()  # type: ignore[arg-type]


@pytest.mark.parametrize("where", FAILURES)
def test_part_is_named_only_if_an_experiment_shows_it(where: str) -> None:
    for ttir, ttgir, ptxas, llvm, front in itertools.product(
        Side, Side, Side, (True, False, None), (True, False, None)
    ):
        facts = {
            "ttir": ttir,
            "ttgir": ttgir,
            "ptxas": ptxas,
            "same_low_ir": llvm,
            "front_ends": front,
        }
        part = part_of(FAILURES[where], **facts)
        case = f"{facts}: {part.sentence}"
        past_ptxas = where != "assembler" or ptxas is Side.BEFORE
        match part.name:
            case PARTS.backend:
                assert where != "pass", case
                assert llvm is True, case
                assert past_ptxas, case
            case "ptxas":
                assert where == "assembler", case
                assert ptxas in (Side.BEHIND, Side.BOTH), case
            case PartName.FRONT_END:
                assert (ttir, front) in ((Side.BEFORE, False), (Side.BEFORE, None)), case
                assert past_ptxas, case
            case PARTS.passes:
                by_front_end = ttir is Side.BEFORE and front is True
                by_ttgir = where != "pass" and ttir is Side.BEHIND and ttgir is Side.BEFORE
                in_pass = where == "pass" and (ttir in (Side.BEHIND, Side.BOTH) or front is True)
                assert by_front_end or by_ttgir or in_pass, case
                assert past_ptxas, case
            case _:
                assert part.name is PartName.UNKNOWN, case
                assert " or " in part.sentence or "each sufficient alone" in part.sentence, case


@pytest.mark.parametrize("where", ["optimizer", "codegen", "assembler"])
def test_llvm_is_named_if_its_input_is_the_same(where: str) -> None:
    facts = {"ttir": Side.UNKNOWN, "ttgir": Side.UNKNOWN, "ptxas": Side.BEFORE, "front_ends": None}
    assert part_of(FAILURES[where], same_low_ir=True, **facts).name is PARTS.backend
    part = part_of(FAILURES[where], same_low_ir=False, **facts)
    assert part.name is PartName.UNKNOWN
    assert "in the front end, the MLIR passes or LLVM; TTIR did not decide it." in part.sentence


@pytest.mark.parametrize("where", ["pass", "codegen"])
def test_two_places_are_not_one_part(where: str) -> None:
    """Both halves are broken, and each is sufficient alone.

    The answer names no part, because either half may cause the failure.
    """
    part = part_of(
        FAILURES[where],
        ttir=Side.EITHER,
        ttgir=Side.UNKNOWN,
        ptxas=Side.UNKNOWN,
        same_low_ir=None,
        front_ends=None,
    )
    assert (part.name, "in two places, each sufficient alone" in part.sentence) == (
        PartName.UNKNOWN,
        True,
    )


@pytest.mark.parametrize("ttir", [Side.BEFORE, Side.BEHIND])
def test_ir_fails_elsewhere_only_if_the_other_release_reads_it(ttir: Side) -> None:
    facts = {"ttir": ttir, "ttgir": Side.BEFORE, "ptxas": Side.UNKNOWN, "same_low_ir": None}
    sentences = [
        part_of(FAILURES["codegen"], front_ends=None, is_read=is_read, **facts).sentence
        for is_read in (True, False)
    ]
    assert sentences[0].endswith("IR fails elsewhere too.")
    assert sentences[1].endswith("IR of 3.1.0, 3.2.0 is ok.")
