"""``compat init``: a project's first files, with kernel files guessed from its sources."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import click

from compat.cli.answer import Answer, answer_options
from compat.cli.invocation import relative
from compat.init import Initialized, initialize
from compat.report.summary.compact import at_most, cost_words, counted
from compat.text import printable
from compat.workflows import System

_SHOWN = 20
"""Lines of one kind at most: files, what was left out, guesses."""


@click.command
@click.argument("sources", nargs=-1, metavar="[FILE.py|FOLDER]...")
@click.option("--github", "systems", flag_value=System.GITHUB, multiple=True, help="Write a workflow for GitHub, too.")
@click.option("--gitlab", "systems", flag_value=System.GITLAB, multiple=True, help="Write a pipeline for GitLab, too.")
@answer_options(json_help="What was written, and what deserves a look, as a JSON object.")
def init(*, answer: Answer, sources: tuple[str, ...], systems: tuple[System, ...]) -> None:
    """Write a matrix.toml and a kernel file for each source that has Triton kernels, with their arguments guessed.

    Without arguments all of the current folder is looked through. Files that are there are left as they are: after a source has
    been added, the same command adds its kernel file alone. Sources are read, and never imported.
    """
    found = initialize(Path.cwd(), sources, systems)
    answer.give(lambda: map(printable, _lines(found)), lambda: _document(found))


def _lines(found: Initialized) -> Iterator[str]:
    written = found.written.items()
    yield from at_most(_SHOWN, (f"wrote {relative(path)}: {', '.join(kernels)}" for path, kernels in written if kernels))
    yield from (f"wrote {relative(path)}" for path, kernels in written if not kernels)
    kept = {path: f"kept  {relative(path)}, which was there{': ' if why else ''}{why}" for path, why in found.kept.items()}
    yield from at_most(_SHOWN, (line for path, line in kept.items() if path.parent != Path.cwd()))
    yield from (line for path, line in kept.items() if path.parent == Path.cwd())
    yield from at_most(_SHOWN, _not_taken(found))
    yield from _look_at(found)
    if any(found.written.values()):
        yield f"next: compat matrix{_first_run(found)}"
    elif not found.written:
        yield "nothing was missing; next: compat matrix"


def _first_run(found: Initialized) -> str:
    """What the first run comes to, behind the command that begins it."""
    if (run := found.first_run) is None:
        return ""
    size = f"{counted(run.cells, 'cell')}: {counted(run.envs, 'env')}, {counted(run.targets, 'target')}"
    return f"    ({size}; {cost_words(run.seconds, run.to_install)})"


def _not_taken(found: Initialized) -> Iterator[str]:
    for path, functions in found.not_taken.items():
        yield from (f"left out {relative(path)}:{function.line} {function.name}: {function.why}" for function in functions)


def _look_at(found: Initialized) -> Iterator[str]:
    if found.guesses:
        yield f"{found.guesses:,} types and values are guessed, and marked `# guessed` with the reason"
    if found.look_at or found.unsure:
        yield "look at:"
        guessed = (f"{relative(each.path)} {each.kernel}: {each.words}" for each in found.look_at)
        yield from (f"  {line}" for line in at_most(_SHOWN, guessed))
        yield from (f"  {relative(path)}: {why}" for path, why in found.unsure.items())


def _document(found: Initialized) -> dict[str, Any]:
    return {
        "written": {relative(path): list(kernels) for path, kernels in found.written.items()},
        "kept": {relative(path): why for path, why in found.kept.items()},
        "left_out": [
            {"source": relative(path), "line": function.line, "name": function.name, "why": function.why}
            for path, functions in found.not_taken.items()
            for function in functions
        ],
        "guesses": found.guesses,
        "look_at": [
            *({"file": relative(each.path), "kernel": each.kernel, "words": each.words} for each in found.look_at),
            *({"file": relative(path), "kernel": None, "words": why} for path, why in found.unsure.items()),
        ],
        "cases": found.cases,
        "first_run": attrs.asdict(found.first_run) if found.first_run else None,
    }
