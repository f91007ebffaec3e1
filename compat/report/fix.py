"""The edit that was found for a cell, as text and as data."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.version import Version

from compat.cell_document import JsonObject, cell_document
from compat.history.verdict import class_of, is_good, release_of
from compat.model import Cell, Result
from compat.printable import printable
from compat.report.compact import counted, spans

if TYPE_CHECKING:
    from compat.fix.fixing import Fix, Tried

SCHEMA = 1
"""The version of the JSON."""


def fix_command(cell: Cell, options: Sequence[str]) -> str:
    """The command that looks for an edit for a cell's failure; ``options`` are those with which it reads the same files."""
    return shlex.join(["compat", "fix", cell.id, *options])


def fix_lines(fix: Fix, command: str = "compat fix") -> Iterator[str]:
    """What was found, as lines that are safe to show: the failure, the diff, and where the edited kernel compiles.

    ``command`` is what the user typed.
    """
    yield from map(printable, _lines(fix, command))


def _lines(fix: Fix, command: str) -> Iterator[str]:
    failure = fix.failure.outcome.failure
    yield f"{fix.cell.id}: {fix.failure.outcome.status} ({class_of(fix.failure.outcome)})"
    if failure is not None:
        yield from (f"  {line}" for line in failure.excerpt.splitlines()[:3])
    if fix.found is None:
        yield from _not_found(fix)
        return
    yield f"edit: {', '.join(fix.found.candidate.edits)}"
    for changed in fix.changes:
        yield ""
        yield from changed.diff.splitlines()
    yield ""
    yield f"before: {_told(fix.before, fix.existing)}"
    yield f"after:  {_told(fix.found.results, fix.existing)}"
    yield from (f"note: {note}" for note in fix.found.candidate.notes)
    yield from (f"not edited: {reason}" for reason in fix.refused)
    for other in fix.others:
        yield f"also tried: {', '.join(other.candidate.edits)}: {_told(other.results, fix.existing)}"
    yield "Only compiling was tested: numbers were not checked."
    if fix.breaks:
        broken = _releases(fix.breaks, fix.found.results, fix.existing)
        yield f"not written: on {broken} the kernel compiles as it is, and not with this edit; --envs says which releases it is for"
    elif "--write" not in command:
        yield f"write it: {command} --write"


def _not_found(fix: Fix) -> Iterator[str]:
    name = class_of(fix.failure.outcome)
    if not fix.known:
        yield f"no edit is known for {name}"
    else:
        known = f"{', '.join(fix.known)} {'is' if len(fix.known) == 1 else 'are'} known for {name}"
        yield f"no edit was found: {known}; {counted(fix.tried, 'edited kernel')} tried"
    yield from (f"not edited: {reason}" for reason in fix.refused)
    failure = fix.failure.outcome.failure
    if failure is not None and failure.advice:
        yield f"advice: {' '.join(failure.advice.split())}"


def _told(results: Sequence[Result], existing: Iterable[Version]) -> str:
    """``compiles on 3.4.0, 3.9.0; on 3.0.0 it does not (api-missing)``, over what was compiled."""
    good = [each for each in results if is_good(each.outcome)]
    parts = [f"compiles on {_releases(good, results, existing)}"] if good else ["compiles on none of the releases tried"]
    classes: dict[str, list[Result]] = {}
    for each in results:
        if not is_good(each.outcome):
            classes.setdefault(class_of(each.outcome), []).append(each)
    for name, some in classes.items():
        told = all(each.outcome.status.is_answer for each in some)
        parts.append(f"on {_releases(some, results, existing)} {'it does not' if told else 'nothing is known'} ({name})")
    return "; ".join(parts)


def _releases(some: Sequence[Result], results: Sequence[Result], existing: Iterable[Version]) -> str:
    """Releases as runs, which cross none that is known to exist and is not of ``some``; forks by themselves.

    An env is named instead of its release where another env of that release is not of ``some``.
    """
    release = {each.cell.env.name: release_of(each.built) for each in results}
    divided = {release[each.cell.env.name].label for each in results if each not in some}
    here = {each.cell.env.name: release[each.cell.env.name] for each in some}
    whole = [each for each in here.values() if not each.fork and each.label not in divided]
    alone = [each.label if each.label not in divided else name for name, each in here.items() if each not in whole]
    line = {version: str(version) for version in existing} | {each.version: each.label for each in whole if each.version}
    runs = spans({each.label for each in whole}, [line[version] for version in sorted(line)])
    return ", ".join(dict.fromkeys(filter(None, (runs, *alone))))


_STYLES = {"+": {"fg": "green"}, "-": {"fg": "red"}, "@": {"fg": "cyan"}}
_HEADERS = ("+++", "---")


def diff_style(line: str) -> dict[str, Any]:
    """How a line of a diff is shown on a terminal; empty for all others. Colours only repeat what the line says."""
    return {"bold": True} if line.startswith(_HEADERS) else _STYLES.get(line[:1], {})


# --- as JSON -----------------------------------------------------------------------------------------------------------------


def fix_document(fix: Fix, written: Sequence[Path] = ()) -> JsonObject:
    """All of it as JSON values."""
    return {
        "schema": SCHEMA,
        "id": fix.cell.id,
        "class": class_of(fix.failure.outcome),
        "known": list(fix.known),
        "compiled": fix.tried,
        "before": [cell_document(each) for each in fix.before],
        "breaks": [each.cell.env.name for each in fix.breaks],
        "edit": None if fix.found is None else _edit(fix, fix.found),
        "others": [_tried(each) for each in fix.others],
        "not_edited": list(fix.refused),
        "written": [str(path) for path in written],
    }


def _edit(fix: Fix, found: Tried) -> JsonObject:
    files = [{"path": str(each.path), "diff": each.diff} for each in fix.changes]
    return {**_tried(found), "files": files, "everywhere": not found.not_even_so and not found.unknown}


def _tried(tried: Tried) -> JsonObject:
    return {
        "edits": list(tried.candidate.edits),
        "notes": list(tried.candidate.notes),
        "after": [{"env": each.cell.env.name, "status": str(each.outcome.status), "class": _class(each)} for each in tried.results],
    }


def _class(result: Result) -> str | None:
    return result.outcome.failure.failure_class if result.outcome.failure else None
