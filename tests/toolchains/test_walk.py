"""The trace of one cell's way through ``compat matrix`` matches ``docs/architecture.md``.

Run with ``COMPAT_REGOLD=1`` to write changes into the document.
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
"""Limits of the modules on the way, and of its returns to a package for a new module.

Lower them when the numbers fall.
"""
_LIST = re.compile(r"(?<=<!-- one cell's way -->\n).*?(?=<!-- end -->)", re.DOTALL)


def visits(modules: list[str]) -> list[tuple[str, list[str]]]:
    """The packages in the order of the way, each with the modules that the way visits there."""
    return [(room, list(some)) for room, some in groupby(modules, lambda path: path.split("/")[0])]


def document_list(modules: list[str]) -> str:
    """The list as it is in the document."""
    lines = (
        f"{number}. {' '.join(f'`{path}`' for path in some)}"
        for number, (_, some) in enumerate(visits(modules), 1)
    )
    wrapped = (
        fill(line, 100, subsequent_indent=" " * (line.index(" ") + 1), break_on_hyphens=False)
        for line in lines
    )
    return "\n" + "\n".join(wrapped) + "\n\n"


def test_modules_on_one_cells_way_match_the_architecture_page(
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
