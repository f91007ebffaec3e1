"""What the searches inside one failure find out: the records that :mod:`compat.bisect` makes and reports show."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from compat.model import Cell


class PartName(StrEnum):
    """The parts of a toolchain that a break can be in."""

    FRONT_END = "front end"
    """From the kernel's source to the first IR."""
    MLIR = "MLIR passes"
    LLVM = "LLVM"
    LAUNCH = "launch"
    """Nothing broke while compiling; the limits of the GPU are exceeded."""
    UNKNOWN = "unknown"


@frozen(kw_only=True)
class Part:
    """Which part of the toolchain a change between two releases is in."""

    name: str
    """One of :class:`PartName`, or the name of the toolchain's assembler."""
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
class Need:
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


class Ended(StrEnum):
    """How a search for settings ended."""

    DONE = "done"
    BUDGET = "budget"
    """Its time was over before every change was tried."""
    INTERRUPTED = "interrupted"


@frozen(kw_only=True)
class ConfigAnswer:
    """Which part of a specialization the failure needs."""

    sentence: str
    needs: tuple[Need, ...] = ()
    tried: int = 0
    """How many changed specializations were compiled."""
    untried: int = 0
    """How many more there would have been at most, where the search ended early."""
    ended: Ended = Ended.DONE

    @property
    def conclusive(self) -> bool:
        """Whether it is the whole answer, or has found a change that helps."""
        return self.ended is Ended.DONE or bool(self.needs)


@frozen(kw_only=True)
class CellAnswer:
    """What a search inside the failure of one cell found."""

    cell: Cell
    found: Part | PassAnswer | ConfigAnswer | None
    """``None`` if the cell works."""

    @property
    def conclusive(self) -> bool:
        """Whether it answers the question."""
        return self.found.conclusive if isinstance(self.found, ConfigAnswer) else self.found is not None
