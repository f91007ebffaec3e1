"""What is said of a part, for everything that experiments may come to: never more than they show."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from attrs import define, field

from compat.bisect import part
from compat.bisect.answers import Part, PartName
from compat.bisect.fates import Fate
from compat.bisect.ir_swap import Crossing, Side
from compat.model import BuiltEnv, Cell, Env, Failure, Outcome, Package, Result, Status
from compat.toolchains import Parts
from compat.toolchains.triton.parts import PARTS
from tests.cells import cell

OF_SIDE = {
    Side.BEFORE: Crossing(into_bad=Fate.OK, into_good=Fate.SAME),
    Side.BEHIND: Crossing(into_bad=Fate.SAME, into_good=Fate.OK),
    Side.BOTH: Crossing(into_bad=Fate.OK, into_good=Fate.OK),
    Side.EITHER: Crossing(into_bad=Fate.SAME, into_good=Fate.SAME),
    Side.UNKNOWN: Crossing(into_bad=Fate.UNKNOWN, into_good=Fate.UNKNOWN),
}
GOOD, BAD = (cell(Env(name=f"triton-{release}"), "faces", "fine") for release in ("3.1.0", "3.2.0"))


@define(kw_only=True)
class Staged:
    """Experiments that come out as they are told to: no release breaks in each of these ways."""

    ttir: Side
    ttgir: Side
    ptxas: Side
    same_llvm_ir: bool | None
    front_ends: bool | None
    failing: Outcome
    names: tuple[str, str] = ("3.1.0", "3.2.0")
    steps: list[str] = field(factory=list)
    parts: Parts = PARTS
    bad: Cell = BAD

    def cross(self, stage: str) -> Crossing:
        return OF_SIDE[self.ttir if stage == "ttir" else self.ttgir]

    def swap_assembler(self) -> Crossing:
        return OF_SIDE[self.ptxas]

    def front_ends_agree(self) -> bool | None:
        return self.front_ends


FAILURES = {
    "pass": Failure(failure_class="compiler-assert", stage="llir", pass_="canonicalize", fingerprint="f", excerpt="", advice=""),
    "optimizer": Failure(failure_class="unclassified", stage="llir", fingerprint="f", excerpt="", advice=""),
    "codegen": Failure(failure_class="unclassified", stage="ptx", fingerprint="f", excerpt="", advice=""),
    "assembler": Failure(failure_class="ptxas", stage="cubin", fingerprint="f", excerpt="", advice=""),
}


def found(failure: Failure, **facts: Any) -> Part:
    outcome = Outcome(status=Status.CRASHED, stage=failure.stage, failure=failure)
    experiment = Staged(failing=outcome, **facts)
    built = BuiltEnv(env=GOOD.env, packages=(Package(name="triton", version="3.1.0", digest=""),))
    good = Result(cell=GOOD, built=built, outcome=Outcome(status=Status.OK, stage="cubin"))
    return part._Search(experiment, failure, good, fixed=False, assemblers=()).part()  # type: ignore[arg-type]


@pytest.mark.parametrize("where", FAILURES)
def test_no_part_is_named_that_no_experiment_shows(where: str) -> None:
    for ttir, ttgir, ptxas, llvm, front in itertools.product(Side, Side, Side, (True, False, None), (True, False, None)):
        facts = {"ttir": ttir, "ttgir": ttgir, "ptxas": ptxas, "same_llvm_ir": llvm, "front_ends": front}
        said = found(FAILURES[where], **facts)
        case = f"{facts}: {said.sentence}"
        past_ptxas = where != "assembler" or ptxas is Side.BEFORE
        match said.name:
            case PartName.LLVM:
                assert where != "pass", case
                assert llvm is True, case
                assert past_ptxas, case
            case "ptxas":
                assert where == "assembler", case
                assert ptxas in (Side.BEHIND, Side.BOTH), case
            case PartName.FRONT_END:
                assert (ttir, front) in ((Side.BEFORE, False), (Side.BEFORE, None)), case
                assert past_ptxas, case
            case PartName.MLIR:
                by_front_end = ttir is Side.BEFORE and front is True
                by_ttgir = where != "pass" and ttir is Side.BEHIND and ttgir is Side.BEFORE
                in_pass = where == "pass" and (ttir in (Side.BEHIND, Side.BOTH) or front is True)
                assert by_front_end or by_ttgir or in_pass, case
                assert past_ptxas, case
            case _:
                assert said.name is PartName.UNKNOWN, case
                assert " or " in said.sentence or "each sufficient alone" in said.sentence, case


@pytest.mark.parametrize("where", ["optimizer", "codegen", "assembler"])
def test_llvm_is_named_where_it_is_given_the_same(where: str) -> None:
    facts = {"ttir": Side.UNKNOWN, "ttgir": Side.UNKNOWN, "ptxas": Side.BEFORE, "front_ends": None}
    assert found(FAILURES[where], same_llvm_ir=True, **facts).name is PartName.LLVM
    said = found(FAILURES[where], same_llvm_ir=False, **facts)
    assert said.name is PartName.UNKNOWN
    assert "in the front end, the MLIR passes or LLVM; TTIR did not decide it." in said.sentence


@pytest.mark.parametrize("where", ["pass", "codegen"])
def test_two_places_are_not_one_part(where: str) -> None:
    """Both halves broken, each sufficient alone: no one part is named where the half behind may be either."""
    said = found(FAILURES[where], ttir=Side.EITHER, ttgir=Side.UNKNOWN, ptxas=Side.UNKNOWN, same_llvm_ir=None, front_ends=None)
    assert (said.name, "in two places, each sufficient alone" in said.sentence) == (PartName.UNKNOWN, True)
