"""What the searches inside one failure find out: the records that :mod:`compat.axes` makes and reports show."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen


class PartName(StrEnum):
    """The parts of a toolchain that a break can be in."""

    FRONT_END = "front end"
    """The AST of the kernel to TTIR."""
    MLIR = "MLIR passes"
    LLVM = "LLVM"
    PTXAS = "ptxas"
    LAUNCH = "launch"
    """Nothing broke while compiling; the limits of the GPU are exceeded."""
    UNKNOWN = "unknown"


@frozen(kw_only=True)
class Part:
    """Which part of the toolchain a change between two releases is in."""

    name: PartName
    sentence: str
    """The answer as one sentence."""
    steps: tuple[str, ...] = ()
    """What was tried and what came of it, one sentence each, for those who want to check."""


@frozen(kw_only=True)
class PassAnswer:
    """Which compiler pass it is."""

    pass_: str | None
    """As ``mlir-opt`` names it; ``None`` where no pass is to blame."""
    stage: str | None
    sentence: str
    folder: str | None = None
    """The folder with the IR before every pass, one file each."""
    diff: str = ""
    """Of two pipelines: how their IR differs after the first pass after which it does, names aside."""


@frozen(kw_only=True)
class Need:
    """A constexpr, option or hint that the failure depends on."""

    knob: str
    """Its name: ``BLOCK_L``, ``num_warps``, ``divisible_by_16: K_ptr``."""
    value: str
    """As it is where the cell fails."""
    ok: tuple[str, ...]
    """Values with which, all else unchanged, the cell is ok."""
    fails: tuple[str, ...]
    """Other values with which it still fails in the same way."""
    sentence: str
    """``fails from BLOCK_L ≥ 128``, ``only num_warps=8``."""


@frozen(kw_only=True)
class ConfigAnswer:
    """Which part of a specialization the failure needs."""

    sentence: str
    needs: tuple[Need, ...] = ()
    tried: int = 0
    """How many changed specializations were compiled."""
