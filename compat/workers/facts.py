"""What an attempt leaves behind besides its answer: what it printed, where it was, the reproducer, what its stages made."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path

from attrs import evolve

from compat import toolchains
from compat.diagnosis.diagnose import Keep, diagnosed
from compat.files import content_of
from compat.model import SOURCE_STAGE, Evidence
from compat.source.names import optional_imports
from compat.source.parsing import tree_of
from compat.worker import beacon
from compat.workers import printed
from compat.workers.attempt import Flight, Mode
from compat.workers.child import Child
from compat.workers.places import Places

_LARGEST = 256 * 1024 * 1024
"""Bytes of what a stage made that are kept."""
_LARGEST_REPRODUCER = 64 * 1024 * 1024
"""Bytes of a reproducer that is worth keeping."""
_LONGEST_LINE = 500


def gathered(
    evidence: Evidence, child: Child, flight: Flight, end: int | None, mode: Mode, keep: Keep | None, places: Places
) -> Evidence:
    """The evidence with what its attempt left behind; of one that failed also with what can be read in that.

    Its output ends at the offset ``end``; ``None`` stands for the end of all that was printed. ``keep`` stores artifacts; without
    it there are none. What is kept, or read in what was printed, has the paths of whoever asked.
    """
    stages = mode.stages or toolchains.of(flight.cell.env).every_stage
    kept = _made(child.directory / "kept" / flight.nonce, stages, keep, places) if keep else {}
    if evidence.complete and not mode.keep_printed:
        return evolve(evidence, kept=kept)
    limit = printed.LIMIT_IN_FULL if mode.keep_printed else printed.LIMIT
    reader = toolchains.of(flight.cell.env).reader
    text = places.told(child.read_output(flight.output, end, limit, reader.heading))
    inline, artifacts = printed.kept(text, keep, always=mode.keep_printed)
    if evidence.complete:
        return evolve(evidence, kept={**kept, **artifacts})
    reproducer = _reproducer(child.directory) if mode.diagnose and keep else None
    if reproducer and keep:
        artifacts = {**artifacts, "reproducer": keep(".mlir", places.told_data(reproducer))}
    in_flight, in_passes = beacon.read(str(child.directory))
    source = flight.cell.spec.source
    optional = _optional_imports(evidence, {source, (evidence.at or f"{source}:").rpartition(":")[0]})
    failed = evolve(
        evidence,
        printed=inline,
        in_flight=in_flight,
        in_passes=in_passes,
        quoted={place: line for place in (in_flight, evidence.at) if place and (line := _line_at(place))},
        source=source if evidence.stage == SOURCE_STAGE else "",
        optional=optional,
        kept={**kept, **artifacts},
    )
    return diagnosed(failed, text, keep, reader)


def _made(folder: Path, stages: Iterable[str], keep: Keep, places: Places) -> dict[str, str]:
    """Stage → name of what it made."""
    made = {stage: content_of(folder / stage, _LARGEST) for stage in stages} if folder.is_dir() else {}
    return {stage: keep(f".{stage}", places.told_data(data)) for stage, data in made.items() if data is not None}


def _optional_imports(evidence: Evidence, paths: Iterable[str]) -> dict[str, str]:
    """Names that exceptions mention and that imports of these files bind whose failure is caught → ``path:number: import …``."""
    words = set(re.findall(r"\w+", "\n".join(f"{each.message}\n{each.traceback}" for each in evidence.raised)))
    found: dict[str, str] = {}
    for path in sorted(paths) if words else ():
        with suppress(OSError, SyntaxError):
            for name, statement in optional_imports(tree_of(Path(path).read_bytes(), path)):
                if name in words:
                    found.setdefault(name, f"{path}:{statement.lineno}: {ast.unparse(statement)}"[:_LONGEST_LINE])
    return found


def _line_at(place: str) -> str | None:
    """The line that ``path:number`` names, as it is written there."""
    path, _, number = place.rpartition(":")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return next(islice(file, int(number) - 1, None), "").rstrip()[:_LONGEST_LINE] or None
    except (OSError, ValueError):
        return None


def _reproducer(directory: Path) -> bytes | None:
    """The reproducer of the pipeline that ran last: one file that is written over, or since 3.6 one per stage."""
    found = [
        (path, content)
        for path in directory.glob("reproducer.mlir*")
        if (content := content_of(path, _LARGEST_REPRODUCER)) is not None
    ]
    return max(found, key=lambda each: _written(each[0]))[1] if found else None


def _written(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
