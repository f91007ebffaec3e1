"""Combine one half of the toolchain from each of two releases, to see which half causes a failure.

IR that one release made is fed to the other, and the assembler of one is put under the other. What can be exchanged is said by the
toolchain (:class:`compat.toolchains.Parts`). Both directions: IR of *good* compiled by *bad*, and the reverse.
"""

from __future__ import annotations

import filecmp
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from textwrap import shorten

from attrs import define, evolve, field, frozen

from compat import toolchains
from compat.bisect.attempts import Attempts, fate
from compat.bisect.fates import Fate
from compat.diagnosis import dumps
from compat.diagnosis.canonical import canonical_llvm
from compat.execution.flight import KEEPING_IR, Compile, Mode
from compat.model import SOURCE_STAGE, BuiltEnv, Cell, Evidence, Outcome
from compat.toolchains import Parts

_WORDS = 100
"""Characters that a step has for what a compiler said."""


class Side(StrEnum):
    """On which side of a border between two halves a failure is."""

    BEFORE = "before"
    """In the IR: it fails with the other release too."""
    BEHIND = "behind"
    """In the stages after it: IR of the other release fails there too."""
    BOTH = "both"
    """Only with both bad halves together."""
    EITHER = "either"
    """Each bad half alone is sufficient."""
    UNKNOWN = "unknown"


@frozen(kw_only=True)
class Crossing:
    """The outcomes of combining the halves of two releases."""

    into_bad: Fate
    """IR of the good release, compiled by the bad one."""
    into_good: Fate
    """IR of the bad release, compiled by the good one."""
    control: Fate = Fate.SAME
    """The control: IR of the bad release, compiled by itself from a file. Unless it fails the same way, nothing is proven."""

    @property
    def side(self) -> Side:
        """The half that is sufficient or necessary for the failure."""
        if self.control is not Fate.SAME:
            return Side.UNKNOWN
        match (self.into_bad, self.into_good):
            case (Fate.SAME, Fate.SAME):
                return Side.EITHER
            case (Fate.OK, Fate.OK):
                return Side.BOTH
            case (Fate.SAME, _) | (_, Fate.OK):
                return Side.BEHIND
            case (_, Fate.SAME) | (Fate.OK, _):
                return Side.BEFORE
        return Side.UNKNOWN


@define(kw_only=True, slots=False)
class Trial:
    """The failure that is looked for, on the context for experiments."""

    failing: Outcome
    attempts: Attempts
    parts: Parts
    steps: list[str] = field(factory=list)
    """The experiments and their results, one sentence each."""

    def assemble(self, cell: Cell, name: str, program: Path, whose: str) -> Fate:
        """Compile a cell with another assembler; if its toolchain refuses that one, run the assembler alone."""
        assembler = self.parts.assembler
        outcome = self.attempts.outcome(cell, Mode(variables=dict.fromkeys(assembler.variables, str(program))))
        self.steps.append(f"{name} with the {assembler.name} of {whose}: {self.told(outcome)}.")
        failed = outcome.failure if outcome.failure and not outcome.failure.prediction else None  # a prediction is of what was made
        if failed and failed.stage != assembler.stage:  # up to 3.2, no newer one than was known then
            assembled = self.attempts.assembled(cell, assembler, program)
            if assembled is not None:
                given = assembler.takes.upper()
                self.steps.append(f"The {given} of {name}, assembled with the {assembler.name} of {whose}: {self.told(assembled)}.")
                return fate(self.failing, assembled)
        return fate(self.failing, outcome)

    def told(self, outcome: Outcome) -> str:
        """An outcome as a step reports it."""
        match fate(self.failing, outcome):
            case Fate.OK:
                return "ok"
            case Fate.SAME:
                return "fails the same way"
        failure = outcome.failure
        if failure is None:
            return f"no answer ({outcome.status})"
        unreadable = toolchains.failure_classes()[failure.failure_class].unreadable_ir
        if unreadable or (failure.stage == SOURCE_STAGE != self.failing.stage):
            return "that release cannot parse this IR"
        words = shorten(failure.excerpt, _WORDS, placeholder=" …")
        return f"fails differently, in stage {failure.stage} ({failure.failure_class}: {words}), which proves nothing"


@define(kw_only=True, slots=False)
class Experiment(Trial):
    """The good and the bad cell beside it."""

    good: Cell
    bad: Cell
    built: Mapping[str, BuiltEnv]
    names: tuple[str, str]
    """What the good and the bad one are called in steps."""

    @cached_property
    def made_by_good(self) -> Evidence:
        """An attempt at the good cell, with IR kept."""
        return self.attempts.make(self.good, KEEPING_IR)

    @cached_property
    def made_by_bad(self) -> Evidence:
        """An attempt at the bad cell, with IR kept as far as it comes."""
        return self.attempts.make(self.bad, KEEPING_IR)

    def cross(self, stage: str) -> Crossing:
        """Feed what ``stage`` made in one release to the other, and the bad one's also to itself."""
        into_bad = self._feed(stage, self.made_by_good, self.names[0], self.bad, self.names[1])
        into_good, control = Fate.UNKNOWN, Fate.SAME
        if stage in self.made_by_bad.kept:
            control = self._feed(stage, self.made_by_bad, self.names[1], self.bad, self.names[1])
            into_good = self._feed(stage, self.made_by_bad, self.names[1], self.good, self.names[0])
        return Crossing(into_bad=into_bad, into_good=into_good, control=control)

    def _feed(self, stage: str, made: Evidence, maker: str, reader: Cell, reads: str) -> Fate:
        if stage not in made.kept:
            self.steps.append(f"{maker} produces no {stage.upper()} for it.")
            return Fate.UNKNOWN
        name = made.kept[stage]
        outcome = self.attempts.outcome(reader, Mode(actions=(Compile(ir=name),), given={name: self.attempts.data(name)}))
        self.steps.append(f"{stage.upper()} made by {maker}, compiled by {reads}: {self.told(outcome)}.")
        return fate(self.failing, outcome)

    def swap_assembler(self) -> Crossing | None:
        """Put the assembler of one release under the other; ``None`` where one of them has none."""
        assembler = self.parts.assembler
        paths = [assembler.of(self.built[cell.env.name], cell.target) for cell in (self.good, self.bad)]
        good, bad = paths
        if good is None or bad is None:
            self.steps.append(f"{self.names[good is not None]} ships no {assembler.name}, so none could be swapped.")
            return None
        if good == bad or filecmp.cmp(good, bad, shallow=False):
            self.steps.append(f"{self.names[0]} and {self.names[1]} ship the same {assembler.name}, byte for byte.")
            return Crossing(into_bad=Fate.OK, into_good=Fate.SAME)  # swapping it would change nothing
        into_good = self.assemble(self.bad, self.names[1], good, self.names[0])
        into_bad = self.assemble(self.good, self.names[0], bad, self.names[1])
        return Crossing(into_bad=into_bad, into_good=into_good)

    def front_ends_agree(self) -> bool | None:
        """Whether both front ends made the same IR, ignoring names; ``None`` where one made none."""
        first = [self._first_ir(cell) for cell in (self.good, self.bad)]
        if None in first:
            return None
        same = first[0] == first[1]
        said = "the same" if same else "different"
        self.steps.append(f"Before the first pass, the IR of {self.names[0]} and of {self.names[1]} is {said}, ignoring names.")
        return same

    @cached_property
    def same_llvm_ir(self) -> bool | None:
        """Whether LLVM is handed the same in both releases, ignoring names; ``None`` where one makes no LLVM IR.

        What a stage keeps has been through LLVM's optimizer; where that differs, both are compared again without the optimizer.
        """
        stage = self.parts.llvm_ir
        plain = [evidence.kept.get(stage) for evidence in (self.made_by_good, self.made_by_bad)]
        if None not in plain and self._llvm_ir(plain[0]) == self._llvm_ir(plain[1]):
            self.steps.append(f"The optimized LLVM IR of {self.names[0]} and of {self.names[1]} is the same, ignoring names.")
            return True
        mode = evolve(KEEPING_IR, variables=self.parts.not_optimized)
        raw = [self.attempts.make(cell, mode).kept.get(stage) for cell in (self.good, self.bad)]
        if None in raw:
            self.steps.append(f"{self.names[raw[0] is not None]} produces no LLVM IR for it, so there is none to compare.")
            return None
        texts = [self._llvm_ir(name) for name in raw]
        whose = f"The LLVM IR that {self.names[0]} and {self.names[1]} hand to LLVM"
        if texts[0] == texts[1]:
            self.steps.append(f"{whose} is the same, ignoring names.")
            return True
        first = next((pair for pair in zip(*(text.splitlines() for text in texts), strict=False) if pair[0] != pair[1]), ("", ""))
        told = " against ".join(f"`{shorten(line, _WORDS, placeholder=' …')}`" for line in first)
        self.steps.append(
            f"{whose} differs, ignoring names: {told}." if any(first) else f"{whose} differs in length, ignoring names."
        )
        return False

    def _llvm_ir(self, name: str | None) -> str:
        return canonical_llvm(self.attempts.path(str(name)).read_text(encoding="utf-8", errors="replace"))

    def _first_ir(self, cell: Cell) -> str | None:
        made = self.attempts.make(cell, Mode(diagnose=True, keep_printed=True))
        found = dumps.read(self.attempts.printed(made)).pipeline
        return found.states[0] if found.steps else None
