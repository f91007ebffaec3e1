"""What the searches inside one failure find: the records that :mod:`compat.bisect` makes and that reports show."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from attrs import frozen

from compat.model import Cell


class PartName(StrEnum):
    """The parts that every toolchain has; the others are called what the toolchain calls them."""

    FRONT_END = "front end"
    """From the kernel's source to the first IR."""
    LAUNCH = "launch"
    """Nothing broke while compiling; the limits of the GPU are exceeded."""
    UNKNOWN = "unknown"


@frozen(kw_only=True)
class Part:
    """Which part of the toolchain a change between two releases is in."""

    name: str
    """One of :class:`PartName`, or what the toolchain calls its passes, its back end or its assembler
    (:class:`compat.toolchains.CompilerParts`)."""
    sentence: str
    """The answer as one sentence."""
    steps: tuple[str, ...] = ()
    """The experiments and their results, one sentence each."""


@frozen(kw_only=True)
class PassAnswer:
    """Which compiler pass it is."""

    pass_: str | None
    """As ``mlir-opt`` names it; ``None`` where no pass is to blame."""
    stage: str | None
    sentence: str
    folder: str | None = None
    """The folder with the IR before every pass, one file each; ``None`` where no pass began."""
    diff: str = ""
    """Of two pipelines: how their IR differs after the first pass after which it does, ignoring names."""


@frozen(kw_only=True)
class SettingNeed:
    """A constexpr, option or hint that the failure depends on."""

    setting: str
    """Its name: ``BLOCK_L``, ``num_warps``, ``divisible_by_16: K_ptr``; ``hints`` where it is about several of them."""
    value: str
    """As it is where the cell fails."""
    ok: tuple[str, ...]
    """Values with which, all else unchanged, the cell is ok."""
    fails: tuple[str, ...]
    """Other values with which it still fails the same way."""
    sentence: str
    """``fails with num_warps = 8 and 16, ok with 4``: all that it speaks of was compiled."""


class SearchEnd(StrEnum):
    """How a search for settings ended."""

    DONE = "done"
    BUDGET = "budget"
    """Its time was over before every change was tried."""
    INTERRUPTED = "interrupted"


@frozen(kw_only=True)
class ConfigAnswer:
    """Which part of a specialization the failure needs."""

    sentence: str
    needs: tuple[SettingNeed, ...] = ()
    tried: int = 0
    """How many changed specializations were compiled."""
    untried: int = 0
    """How many more there would have been at most, where the search ended early."""
    ended: SearchEnd = SearchEnd.DONE

    @property
    def conclusive(self) -> bool:
        """Whether it is the whole answer, or has found a change that helps."""
        return self.ended is SearchEnd.DONE or bool(self.needs)


@frozen(kw_only=True)
class CellAnswer:
    """What a search inside the failure of one cell found."""

    cell: Cell
    answer: Part | PassAnswer | ConfigAnswer | None
    """``None`` if the cell works."""

    @property
    def conclusive(self) -> bool:
        """Whether it answers the question."""
        return self.answer.conclusive if isinstance(self.answer, ConfigAnswer) else self.answer is not None


class Effect(StrEnum):
    """What a change of a cell does to its failure."""

    OK = "ok"
    SAME = "same"
    """It fails the same way."""
    UNKNOWN = "inconclusive"
    """It fails differently, or there is no answer: inconclusive."""


def listed(words: Iterable[str]) -> str:
    """Words as a sentence lists them: ``4, 8 and 16``."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
