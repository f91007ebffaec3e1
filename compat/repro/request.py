"""What is asked for, and what comes of it: the records of a repro."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from compat.bundle.bundle import Bundle
from compat.history.verdict import NONE_KNOWN, Existing
from compat.model import Cell, Result, Target
from compat.repro.finding import Finding


@frozen(kw_only=True)
class Request:
    """What is to be written of a cell."""

    cell: Cell
    targets: tuple[Target, ...]
    """The columns of the table; the cell's own is among them."""
    bundle: Bundle | None = None
    """A smaller kernel with the same failure; the cell's own unless given."""
    remembered: tuple[Result, ...] = ()
    """What earlier runs found of the cell's kernel on releases that the context has no env of."""
    existing: Existing = NONE_KNOWN
    """Releases that are known to exist."""
    root: Path
    """The project, which keeps what package indexes say."""
    folder: Path
    """Where the files go."""
    name: str = ""
    """Of the files, without suffix; after the cell unless given."""
    portable: bool = False
    """A script for every release, not only for the cell's."""
    command: str = "compat repro"
    """What the user typed."""


@frozen(kw_only=True)
class Written:
    """What was written, and what it tells."""

    finding: Finding
    paths: tuple[Path, ...]

    @property
    def cell(self) -> Cell:
        """What it is about."""
        return self.finding.result.cell


@frozen(kw_only=True)
class Unverified:
    """What was found instead of the failure; only the evidence of it was written."""

    cell: Cell
    reasons: tuple[str, ...]
    evidence: Path


def name_of(cell: Cell) -> str:
    """What the files about a cell are called: ``sel_dense-as_written-d64-sm_90-3.9.0``."""
    return cell.id.replace(f"/{cell.env.toolchain}-", "/").replace("/", "-")
