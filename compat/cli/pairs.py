"""``compat pairs``: which PyTorch works with which release."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from compat import __version__
from compat.cli.answer import Answer, answer_options, command_line, relative, write_file
from compat.cli.opening import CompileOptions, compile_options
from compat.cli.progress import ProgressListener
from compat.cli.selecting import place_options, select_places
from compat.pairs.pairing import try_pairs
from compat.pairs.records import Grid
from compat.report.views.envs import grid_document, pairs_grid_blocks, pairs_markdown


@click.command
@click.option("--torch", "torches", multiple=True, metavar="VERSION", help="Versions of PyTorch: 2.9.1, or 2.4.1,2.9.1.")
@click.option("--triton", "releases", multiple=True, metavar="RELEASE", help="Releases to put beside it, as --envs takes them.")
@click.option("--all", "every", is_flag=True, help="Every PyTorch from 2.4 on with every release: 5 GB each, and hours.")
@place_options
@answer_options(file=False, json_help="The same for programs.")
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), help="Folder for pairs.md [reports].")
@compile_options(again="Try pairs even if nothing has changed since they were tried.", no_build=None)
def pairs(
    *,
    answer: Answer,
    torches: tuple[str, ...],
    releases: tuple[str, ...],
    every: bool,
    output: Path | None,
    compiling: CompileOptions,
    **chosen: Any,
) -> None:
    """Compile programs with torch.compile, launch them without a GPU, and write reports/pairs.md.

    Without options: the pairs of matrix.toml. With --torch: that PyTorch with every release, or with those of --triton.
    PyTorch is installed once; a release is put before the one that came with it.

    Exits with 0 if every pair is ok, and with 1 if one is not.
    """
    selection = select_places(**chosen)
    found = try_pairs(
        selection,
        compiling.obtaining(selection),
        ProgressListener(),
        torches=torches,
        releases=releases,
        every=every,
        again=compiling.again,
        command=command_line(),
    )
    path = (output or selection.root / "reports") / "pairs.md"
    write_file(path, pairs_markdown(found, __version__), "--output")
    _show(found, answer)
    answer.add(f"wrote {relative(path)}")
    sys.exit(0 if found.ok else 1)


def _show(found: Grid, answer: Answer) -> None:
    answer.draw(lambda: pairs_grid_blocks(found), lambda: grid_document(found))
