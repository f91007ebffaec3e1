"""Pairs as Markdown: ``reports/pairs.md``, and the section of ``matrix.md``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from compat.pairs.records import Grid, Pair, in_order
from compat.report.compact import counted
from compat.report.pairs.notes import cell_of, notes_of, pairs_sentence


def pairs_markdown(grid: Grid, version: str) -> str:
    """All that ``compat pairs`` found."""
    lines = [f"# Which PyTorch works with which {grid.title}", "", *section(grid.pairs, grid.title, grid.pins, grid.classes)]
    if grid.notes:
        lines += ["", *(f"Note: {_flat(note)}" for note in grid.notes)]
    known = sum(pair.cached for pair in grid.pairs)
    made = f"Made by triton-compat {version} with {_code(grid.command)} in {grid.seconds:.1f} s"
    lines += ["", "---", "", f"{made}, {known:,} of {counted(len(grid.pairs), 'pair')} known from before."]
    return "\n".join(lines) + "\n"


def section(pairs: Sequence[Pair], title: str, pins: Mapping[str, str | None], classes: Mapping[str, str]) -> Iterator[str]:
    """The sentence, the table and its footnotes, line by line."""
    releases = in_order(pair.release for pair in pairs)
    notes = notes_of(pairs)
    at = {(pair.torch, pair.release): pair for pair in pairs}
    programs = max((len(pair.programs) for pair in pairs), default=0)
    yield (
        f"{pairs_sentence(pairs)} In one that is ok, every one of {programs} programs that "
        "`torch.compile` makes launches the kernels that it must. No GPU is needed: the launches end in a library that stands in "
        "for the driver and executes nothing, so no numbers are computed."
    )
    yield ""
    asks = any(pins.values())
    yield "| PyTorch |" + (f" asks for {title} |" if asks else "") + "".join(f" {release} |" for release in releases)
    yield "| --- |" + (" --- |" if asks else "") + " --- |" * len(releases)
    for torch in in_order(pair.torch for pair in pairs):
        cells = [_cell(at.get((torch, release)), cell_of(at.get((torch, release)), notes)) for release in releases]
        yield f"| {torch} |" + (f" {pins.get(torch) or '?'} |" if asks else "") + "".join(f" {cell} |" for cell in cells)
    yield ""
    yield "A number is how many programs fail, with the footnotes that say how. **Bold**: the release that came with that PyTorch."
    if notes:
        yield ""
    for note in notes:
        meaning = f" ({classes[note.failure_class]})" if note.failure_class in classes else ""
        yield f"- **{note.number}** `{note.failure_class}`{meaning}: {_code(note.message)}. {note.which}; {', '.join(note.pairs)}"
    for pair in pairs:
        if pair.error is not None:
            yield f"- {pair.torch}+{pair.release} could not be tried: {_code(pair.error)}"


def _cell(pair: Pair | None, text: str) -> str:
    return f"**{text}**" if pair is not None and pair.own else text


def _flat(text: str) -> str:
    return " ".join(text.split())


def _code(text: str) -> str:
    flat = _flat(text).replace("`", "'")
    return f"`{flat}`"
