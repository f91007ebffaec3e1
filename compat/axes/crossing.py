"""Two releases, one half of the toolchain from each: which half does a failure go with?

IR that one release made is fed to the other (``triton.compile`` takes a file in every release), and the assembler of one is put
under the other (``TRITON_PTXAS_PATH``). Both ways at once: *good's* work in *bad's* hands, and the reverse.
"""

from __future__ import annotations

import filecmp
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from textwrap import shorten

from attrs import define, field, frozen
from packaging.version import InvalidVersion, Version

from compat.axes.attempts import Attempts, fate
from compat.engine.flight import Mode
from compat.evidence import pipeline
from compat.model import BuiltEnv, Cell, Evidence, Outcome, Target
from compat.search.knobs import Fate

_PTXAS_VARIABLES = ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH", "TRITON_PTXAS-BLACKWELL_PATH")
"""All that releases read; 3.3 spells the second with a hyphen."""
_WORDS = 100
"""Characters that a step has for what a compiler said."""
_BIN = "lib/python*/site-packages/triton/backends/nvidia/bin"


class Side(StrEnum):
    """On which side of a border between two halves a failure is."""

    BEFORE = "before"
    """With what was made: it fails in other hands too."""
    BEHIND = "behind"
    """With who works on it: what others made fails there too."""
    BOTH = "both"
    """It takes the bad halves together."""
    EITHER = "either"
    """Each bad half alone is enough."""
    UNKNOWN = "unknown"


@frozen(kw_only=True)
class Crossing:
    """What became of the halves of two releases, put together crosswise."""

    into_bad: Fate
    """What the good release made, in the bad one's hands."""
    into_good: Fate
    """What the bad release made, in the good one's hands."""
    control: Fate = Fate.SAME
    """What the bad release made, in its own hands, on the same way: it has to fail in the same way, or the way proves nothing."""

    @property
    def side(self) -> Side:
        """What that proves. A half that is enough for the failure, or without which it is gone, decides."""
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
    """The failure that is looked for, on the bench for experiments."""

    failing: Outcome
    attempts: Attempts
    steps: list[str] = field(factory=list)
    """What was tried and what came of it, one sentence each."""

    def assemble(self, cell: Cell, name: str, ptxas: Path, whose: str) -> Fate:
        """Compile a cell with another assembler; where its Triton will not have that one, give it the PTX alone."""
        outcome = self.attempts.outcome(cell, Mode(variables=dict.fromkeys(_PTXAS_VARIABLES, str(ptxas))))
        self.steps.append(f"{name} with the ptxas of {whose}: {self.told(outcome)}.")
        if outcome.failure is not None and outcome.failure.stage != "cubin":  # up to 3.2, no newer one than was known then
            assembled = self.attempts.assembled(cell, ptxas)
            if assembled is not None:
                self.steps.append(f"The PTX that {name} makes, given to the ptxas of {whose}: {self.told(assembled)}.")
                return fate(self.failing, assembled)
        return fate(self.failing, outcome)

    def told(self, outcome: Outcome) -> str:
        """An outcome in the words of a step."""
        match fate(self.failing, outcome):
            case Fate.OK:
                return "ok"
            case Fate.SAME:
                return "fails in the same way"
        failure = outcome.failure
        if failure is None:
            return f"no answer ({outcome.status})"
        if failure.kind == "ir-parse" or (failure.stage == "import" and self.failing.stage != "import"):
            return "the IR does not cross, it cannot be read there"
        words = shorten(failure.excerpt, _WORDS, placeholder=" …")
        return f"fails otherwise, in stage {failure.stage} ({failure.kind}: {words}), which proves nothing"


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
        return self.attempts.make(self.good, Mode(keep_ir=True))

    @cached_property
    def made_by_bad(self) -> Evidence:
        """An attempt at the bad cell, with IR kept as far as it comes."""
        return self.attempts.make(self.bad, Mode(keep_ir=True))

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
            self.steps.append(f"{maker} makes no {stage.upper()} of it.")
            return Fate.UNKNOWN
        outcome = self.attempts.outcome(reader, Mode(ir=str(self.attempts.path(made.kept[stage]))))
        self.steps.append(f"{stage.upper()} made by {maker}, compiled by {reads}: {self.told(outcome)}.")
        return fate(self.failing, outcome)

    def swap_ptxas(self) -> Crossing | None:
        """Put the assembler of one release under the other; ``None`` where one of them has none."""
        paths = [ptxas_of(self.built[cell.env.name], cell.target) for cell in (self.good, self.bad)]
        good, bad = paths
        if good is None or bad is None:
            self.steps.append(f"{self.names[good is not None]} brings no ptxas, so that none could be exchanged.")
            return None
        if good == bad or filecmp.cmp(good, bad, shallow=False):
            self.steps.append(f"{self.names[0]} and {self.names[1]} bring the very same ptxas, byte by byte.")
            return Crossing(into_bad=Fate.OK, into_good=Fate.SAME)  # exchanging it would change nothing
        into_good = self.assemble(self.bad, self.names[1], good, self.names[0])
        into_bad = self.assemble(self.good, self.names[0], bad, self.names[1])
        return Crossing(into_bad=into_bad, into_good=into_good)

    def front_ends_agree(self) -> bool | None:
        """Whether both front ends made the same IR, names aside; ``None`` where one made none."""
        first = [self._first_ir(cell) for cell in (self.good, self.bad)]
        if None in first:
            return None
        same = first[0] == first[1]
        said = "the same" if same else "different"
        self.steps.append(f"Before the first pass, the IR of {self.names[0]} and of {self.names[1]} is {said}, names aside.")
        return same

    def _first_ir(self, cell: Cell) -> str | None:
        made = self.attempts.make(cell, Mode(diagnose=True, keep_passes=True))
        if "passes" not in made.kept:
            return None
        found = pipeline.read(self.attempts.path(made.kept["passes"]).read_text(encoding="utf-8", errors="replace"))
        return found.states[0] if found.steps else None


def ptxas_of(built: BuiltEnv, target: Target) -> Path | None:
    """The assembler that an env's Triton uses for a target: there are two, from 3.3 on in some releases."""
    if built.python is None or target.backend != "cuda":
        return None
    folder = next(Path(built.python).parent.parent.glob(_BIN), None)
    if folder is None:
        return None
    newer, older = folder / "ptxas-blackwell", folder / "ptxas"
    path = newer if newer.exists() and int(target.arch) >= _first_of_newer(built) else older
    return path if path.exists() else None


def _first_of_newer(built: BuiltEnv) -> int:
    """The first architecture that is assembled by ``ptxas-blackwell``: since 3.9 the name is a misnomer."""
    try:
        release = Version(built.triton or "").release
    except InvalidVersion:
        return 100
    return 90 if release >= (3, 9) else 100
