"""One cell's way through ``compat matrix``, as a trace of it says, is the one that
``docs/architecture.md`` tells.

Run with ``COMPAT_REGOLD=1`` to write what has changed into the document.
"""

from __future__ import annotations

import os
import re
from itertools import groupby
from pathlib import Path
from textwrap import fill

from tests.toolchains.test_toy import REPOSITORY, compat, project, registered, run

__all__ = ["project", "registered"]

MOST_MODULES, MOST_RETURNS = 76, 15
"""Modules on the way, and how often it comes to a new one of a room that it had left.

Lower them when they fall.
"""
_LIST = re.compile(r"(?<=<!-- one cell's way -->\n).*?(?=<!-- end -->)", re.DOTALL)


def visits(modules: list[str]) -> list[tuple[str, list[str]]]:
    """The rooms in the order in which modules of them are come to, each with those modules."""
    return [(room, list(some)) for room, some in groupby(modules, lambda path: path.split("/")[0])]


def document_list(modules: list[str]) -> str:
    """The list in the document."""
    lines = (
        f"{number}. {' '.join(f'`{path}`' for path in some)}"
        for number, (_, some) in enumerate(visits(modules), 1)
    )
    wrapped = (
        fill(line, 100, subsequent_indent=" " * (line.index(" ") + 1), break_on_hyphens=False)
        for line in lines
    )
    return "\n" + "\n".join(wrapped) + "\n\n"


def test_one_cells_way_is_as_the_architecture_tells_it(
    project: Path, registered: Path, tmp_path: Path
) -> None:
    compat(project, registered, "envs", "build", "toy-1.3")
    file = tmp_path / "walk"
    only = ("--envs", "toy-1.3", "--variant", "adding", "--no-build", "--again")
    run(
        project,
        registered,
        "tests.walk",
        str(file),
        "matrix",
        *only,
        code=1,
        COMPAT_KEEP_WORKERS="0",
    )
    modules = file.read_text().splitlines()
    rooms = [room for room, _ in visits(modules)]
    assert len(modules) <= MOST_MODULES
    assert len(rooms) - len(set(rooms)) <= MOST_RETURNS

    document = REPOSITORY / "docs" / "architecture.md"
    text = document.read_text(encoding="utf-8")
    if os.environ.get("COMPAT_REGOLD") == "1":
        document.write_text(_LIST.sub(lambda _: document_list(modules), text), encoding="utf-8")
    else:
        (listed,) = _LIST.findall(text)
        assert listed == document_list(modules), (
            "the way has changed; if that is meant, run again with COMPAT_REGOLD=1"
        )
