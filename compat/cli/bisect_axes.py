"""The axes of ``compat bisect`` inside a failure: part, pass and configuration."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import attrs
import click
from attrs import frozen

from compat.answers import ConfigAnswer, Part, PassAnswer
from compat.axes.assemblers import Assembler
from compat.errors import SelectionError
from compat.model import Cell
from compat.run import Bench, run
from compat.search.verdict import is_good

_DIFF_LINES = 40
"""Lines of a diff that are shown; the folder has all of it."""


@frozen(kw_only=True)
class Subject:
    """A cell to look into, beside the one it is compared with, if any."""

    cell: Cell
    other: Cell | None
    bench: Bench
    folder: Path
    """Where what is found may be kept."""
    assemblers: tuple[Assembler, ...] = ()
    """Others to try where ptxas complains."""


class Axis(Protocol):
    """One way of looking into a failure."""

    def __call__(self, subjects: Iterable[Subject], *, as_json: bool) -> int:
        """Search, print, and return the exit code."""


Answered = Part | PassAnswer | ConfigAnswer


def _find_part(subject: Subject) -> Part:
    from compat.axes import part

    if subject.other is not None:
        return part.find(subject.other, subject.cell, subject.bench, subject.assemblers)
    if subject.assemblers:
        return part.find_alone(subject.cell, subject.bench, subject.assemblers)
    raise SelectionError(
        f"{subject.cell.id}: nothing changes between releases, so no part is to blame",
        hint="--axis pass looks within one release; --ptxas tries another assembler.",
    )


def _find_pass(subject: Subject) -> PassAnswer | None:
    from compat.axes import passes

    folder = subject.folder / "passes" / subject.cell.id.replace("/", "_")
    if subject.other is not None:
        return passes.compare(subject.other, subject.cell, subject.bench, folder)
    return None if _works(subject) else passes.find(subject.cell, subject.bench, folder)


def _find_config(subject: Subject) -> ConfigAnswer | None:
    from compat.axes import config

    if _works(subject):
        return None
    return config.find(subject.cell, subject.bench)


def _works(subject: Subject) -> bool:
    (result,) = run([subject.cell], subject.bench)
    return is_good(result.outcome)


def _axis(name: str, find: Callable[[Subject], Answered | None]) -> Axis:
    def search(subjects: Iterable[Subject], *, as_json: bool) -> int:
        found = [(subject.cell, find(subject)) for subject in subjects]
        if as_json:
            click.echo(json.dumps([_document(name, cell, answer) for cell, answer in found], indent=1, ensure_ascii=False))
        else:
            for cell, answer in found:
                _show(cell, answer)
        return 0 if all(answer is not None for _, answer in found) else 1

    return search


AXES: Mapping[str, Axis] = {
    "part": _axis("part", _find_part),
    "pass": _axis("pass", _find_pass),
    "config": _axis("config", _find_config),
}


# --- saying it -----------------------------------------------------------------------------------------------------------


def _document(axis: str, cell: Cell, answer: Answered | None) -> dict[str, Any]:
    spec = cell.spec
    place = {"kernel": spec.kernel, "variant": spec.variant, "case": spec.case, "target": cell.target.name, "env": cell.env.name}
    facts = {key.rstrip("_"): value for key, value in attrs.asdict(answer).items()} if answer else None
    return {"schema": 1, "axis": axis, **place, "answer": facts}


def _show(cell: Cell, answer: Answered | None) -> None:
    if answer is None:
        click.echo(f"{cell.id}: it works there, so there is nothing to look for; --bad RELEASE says where it does not.")
        return
    click.echo(f"{click.style(cell.id, bold=True)}: {answer.sentence}")
    for line in _details(answer):
        click.echo(f"  {line}")


def _details(answer: Answered) -> list[str]:
    if isinstance(answer, Part):
        return list(answer.steps)
    if isinstance(answer, ConfigAnswer):
        return [*(need.sentence for need in answer.needs), f"{answer.tried} changed specializations were compiled"]
    diff = answer.diff.splitlines()
    more = [f"… {len(diff) - _DIFF_LINES} more lines"] if len(diff) > _DIFF_LINES else []
    return [*diff[:_DIFF_LINES], *more, *([f"IR before every pass: {answer.folder}"] if answer.folder else [])]
