"""What stands in a cell of the table, and the footnotes that it leads to: each way of failing once."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from compat.pairs.records import Pair, in_order
from compat.report.compact import counted, listed

UNTRIED = "-"
_EVERY = "all programs"


@frozen(kw_only=True)
class Note:
    """One way of failing."""

    number: int
    failure_class: str
    message: str
    status: str
    pairs: tuple[str, ...]
    """Where: ``2.9.1+3.6.0``."""
    programs: tuple[str, ...]
    """Which programs fail like that in any of them."""
    every: bool
    """Whether these are all that were run."""

    @property
    def which(self) -> str:
        """The programs in words."""
        return _EVERY if self.every else listed(list(self.programs))


def notes_of(pairs: Sequence[Pair]) -> tuple[Note, ...]:
    """The footnotes, numbered from 1 in the order in which the cells need them."""
    found: dict[tuple[str, str, str], list[tuple[Pair, str]]] = {}
    for pair in pairs:
        for program in pair.failed:
            key = (program.failure_class or "", program.message, str(program.status))
            found.setdefault(key, []).append((pair, program.name))
    return tuple(
        Note(
            number=number,
            failure_class=failure_class,
            message=message,
            status=status,
            pairs=tuple(dict.fromkeys(f"{pair.torch}+{pair.release}" for pair, _ in where)),
            programs=tuple(dict.fromkeys(name for _, name in where)),
            every={name for _, name in where} == {each.name for pair, _ in where for each in pair.programs},
        )
        for number, ((failure_class, message, status), where) in enumerate(found.items(), 1)
    )


@frozen(kw_only=True)
class PairsTable:
    """What the page has."""

    releases: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """PyTorch, and for each release what stands there."""
    notes: tuple[Note, ...]
    failing: bool
    """Whether any pair is not ``ok``."""
    untried: tuple[Pair, ...]
    """Those whose env or release cannot be had."""


def pairs_table(pairs: Sequence[Pair]) -> PairsTable:
    """The table of some pairs."""
    notes, releases = notes_of(pairs), in_order(pair.release for pair in pairs)
    at = {(pair.torch, pair.release): pair for pair in pairs}
    return PairsTable(
        releases=releases,
        rows=tuple(
            (torch, tuple((release, cell_of(at.get((torch, release)), notes)) for release in releases))
            for torch in in_order(pair.torch for pair in pairs)
        ),
        notes=notes,
        failing=any(not pair.ok for pair in pairs),
        untried=tuple(pair for pair in pairs if pair.error is not None),
    )


def pairs_sentence(pairs: Sequence[Pair]) -> str:
    """How many are ok."""
    good = sum(pair.ok for pair in pairs)
    return f"Of {counted(len(pairs), 'pair')} of PyTorch and a release, {good:,} {'is' if good == 1 else 'are'} ok."


def cell_of(pair: Pair | None, notes: Sequence[Note]) -> str:
    """``ok``, or how many programs fail and the footnotes; what was not tried, or could not be, has a mark."""
    if pair is None:
        return UNTRIED
    if pair.error is not None:
        return "env"
    if pair.ok:
        return "ok"
    label = f"{pair.torch}+{pair.release}"
    numbers = [str(note.number) for note in notes if label in note.pairs]
    return f"{len(pair.failed)} ({', '.join(numbers)})"
