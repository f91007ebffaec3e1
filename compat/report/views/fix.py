"""The edit that was found for a cell, as text and as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.version import Version

from compat.cell_document import cell_document
from compat.history.verdict import class_of, is_good, release_of
from compat.json_text import JsonObject
from compat.model import Result
from compat.report.summary.compact import counted, spans
from compat.text import printable

if TYPE_CHECKING:
    from compat.fix.fixing import EditTrial, Fix

SCHEMA = 1
"""The version of the JSON."""


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
    if fix.best is None:
        yield from _not_found(fix)
        return
    yield f"edit: {', '.join(fix.best.candidate.edits)}"
    for changed in fix.changes:
        yield ""
        yield from changed.diff.splitlines()
    yield ""
    yield f"before: {_told(fix.before, fix.existing)}"
    yield f"after:  {_told(fix.best.results, fix.existing)}"
    yield from (f"note: {note}" for note in fix.best.candidate.notes)
    yield from (f"not edited: {reason}" for reason in fix.refused)
    for other in fix.others:
        yield f"also tried: {', '.join(other.candidate.edits)}: {_told(other.results, fix.existing)}"
    yield "Only compiling was tested: numbers were not checked."
    if fix.breaks:
        broken = _releases(fix.breaks, fix.best.results, fix.existing)
        yield f"not written: on {broken} the kernel compiles as it is, and not with this edit; --envs says which releases it is for"
    elif "--write" not in command:
        yield f"write it: {command} --write"


def _not_found(fix: Fix) -> Iterator[str]:
    name = class_of(fix.failure.outcome)
    if not fix.edit_names:
        yield f"no edit is known for {name}"
    else:
        edits = f"{', '.join(fix.edit_names)} {'is' if len(fix.edit_names) == 1 else 'are'} known for {name}"
        yield f"no edit was found: {edits}; {counted(fix.compiled, 'edited kernel')} tried"
    yield from (f"not edited: {reason}" for reason in fix.refused)
    failure = fix.failure.outcome.failure
    if failure is not None and failure.advice:
        yield f"advice: {' '.join(failure.advice.split())}"


def _told(results: Sequence[Result], existing: Iterable[Version]) -> str:
    """``compiles on 3.4.0, 3.9.0; on 3.0.0 it does not (api-missing)``, over what was compiled."""
    good = [result for result in results if is_good(result.outcome)]
    parts = [f"compiles on {_releases(good, results, existing)}"] if good else ["compiles on none of the releases tried"]
    classes: dict[str, list[Result]] = {}
    for result in results:
        if not is_good(result.outcome):
            classes.setdefault(class_of(result.outcome), []).append(result)
    for name, some in classes.items():
        answered = all(result.outcome.status.is_answer for result in some)
        parts.append(f"on {_releases(some, results, existing)} {'it does not' if answered else 'nothing is known'} ({name})")
    return "; ".join(parts)


def _releases(some: Sequence[Result], results: Sequence[Result], existing: Iterable[Version]) -> str:
    """Releases as runs, which cross none that is known to exist and is not of ``some``; forks by themselves.

    An env is named instead of its release where another env of that release is not of ``some``.
    """
    release = {result.cell.env.name: release_of(result.built) for result in results}
    divided = {release[result.cell.env.name].label for result in results if result not in some}
    here = {item.cell.env.name: release[item.cell.env.name] for item in some}
    undivided = [item for item in here.values() if not item.fork and item.label not in divided]
    alone = [item.label if item.label not in divided else name for name, item in here.items() if item not in undivided]
    line = {version: str(version) for version in existing} | {item.version: item.label for item in undivided if item.version}
    runs = spans({item.label for item in undivided}, [line[version] for version in sorted(line)])
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
        "known": list(fix.edit_names),
        "compiled": fix.compiled,
        "before": [cell_document(result) for result in fix.before],
        "breaks": [result.cell.env.name for result in fix.breaks],
        "edit": None if fix.best is None else _edit(fix, fix.best),
        "others": [_tried(other) for other in fix.others],
        "not_edited": list(fix.refused),
        "written": [str(path) for path in written],
    }


def _edit(fix: Fix, found: EditTrial) -> JsonObject:
    files = [{"path": str(change.path), "diff": change.diff} for change in fix.changes]
    return {**_tried(found), "files": files, "everywhere": not found.not_even_so and not found.unknown}


def _tried(tried: EditTrial) -> JsonObject:
    return {
        "edits": list(tried.candidate.edits),
        "notes": list(tried.candidate.notes),
        "after": [
            {"env": result.cell.env.name, "status": str(result.outcome.status), "class": _class(result)} for result in tried.results
        ],
    }


def _class(result: Result) -> str | None:
    return result.outcome.failure.failure_class if result.outcome.failure else None
