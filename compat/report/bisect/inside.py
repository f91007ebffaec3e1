"""What a search inside a failure found of a cell, as text and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from compat.bisect.answers import CellAnswer, ConfigAnswer, Part, PassAnswer
from compat.bisect.request import Axis
from compat.cell_document import JsonObject
from compat.printable import printable
from compat.report.bisect.onwards import repeat_inside
from compat.report.markdown import code, escape, fence

SCHEMA = 1
"""The version of the format; a key may be added within one, but none goes away or changes its meaning."""
_DIFF_LINES = 40
"""Lines of a diff that are shown; the folder has all of it."""


def cell_answer_document(answer: CellAnswer, axis: Axis, options: tuple[str, ...] = ()) -> JsonObject:
    """The answer as JSON values; ``options`` are those that finding it again needs."""
    cell, spec = answer.cell, answer.cell.spec
    place = {"kernel": spec.kernel, "variant": spec.variant, "case": spec.case, "target": cell.target.name, "env": cell.env.name}
    facts = {key.rstrip("_"): value for key, value in attrs.asdict(answer.found).items()} if answer.found else None
    return {"schema": SCHEMA, "axis": str(axis), **place, "answer": facts, "command": repeat_inside(answer, axis, options)}


def cell_answer_lines(answer: CellAnswer, axis: Axis, options: tuple[str, ...] = ()) -> Iterator[str]:
    """The answer line by line, the first one beginning with the cell's id; ``options`` are those that finding it again needs."""
    if answer.found is None:
        yield f"{answer.cell.id}: it works there, so there is nothing to look for; --bad RELEASE says where it does not."
        return
    yield f"{answer.cell.id}: {printable(answer.found.sentence)}"
    yield from (f"  {printable(line)}" for line in _details(answer.found))
    yield f"  again: {repeat_inside(answer, axis, options)}"


def cell_answers_markdown(answers: Sequence[CellAnswer], axis: Axis, options: tuple[str, ...] = ()) -> str:
    """The answers for an issue tracker: a section for each, with its lines as they are."""
    sections = []
    for answer in answers:
        first, *details = cell_answer_lines(answer, axis, options)
        said = escape(first.removeprefix(f"{answer.cell.id}: "))
        shown = fence("\n".join(line.removeprefix("  ") for line in details)) if details else ""
        sections.append("\n\n".join(filter(None, (f"## {code(answer.cell.id)}: {axis}", said, shown))))
    return "\n\n".join(sections) + "\n"


def _details(found: Part | PassAnswer | ConfigAnswer) -> list[str]:
    if isinstance(found, Part):
        return list(found.steps)
    if isinstance(found, ConfigAnswer):
        untried = [f"at most {found.untried} more changes were not tried"] if found.untried else []
        return [*(need.sentence for need in found.needs), f"{found.tried} changed specializations were compiled", *untried]
    diff = found.diff.splitlines()
    more = [f"… {len(diff) - _DIFF_LINES} more lines"] if len(diff) > _DIFF_LINES else []
    return [*diff[:_DIFF_LINES], *more, *([f"IR before every pass: {found.folder}"] if found.folder else [])]
