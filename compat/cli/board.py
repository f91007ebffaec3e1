"""``compat board``: what each release does to the libraries that people use."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click
from attrs import evolve

from compat.board.checking import check_board, installed_packages
from compat.board.declaration import BOARD_FILE, read_board
from compat.board.gathering import record_of_board
from compat.board.record import RECORD, board_document, board_json, read_published
from compat.board.running import BoardRequest, board_places, update_board
from compat.board.site import write_site
from compat.board.view import board_blocks, check_blocks, check_document
from compat.cli.answer import (
    Answer,
    FilePath,
    answer_options,
    command_line,
    end_interrupted,
    relative,
    write_file,
)
from compat.cli.commands import CommandGroup
from compat.cli.help import Command
from compat.cli.progress import ProgressListener
from compat.cli.resources import CompileOptions, compile_options, executor_option
from compat.matrix import MatrixInterrupted
from compat.text import amount

_Command = Callable[..., object]


def _board_option(command: _Command) -> _Command:
    return click.option(
        "--board",
        "path",
        type=FilePath(dir_okay=False),
        default=Path(BOARD_FILE),
        metavar="FILE",
        show_default=True,
        help="The file that declares the libraries.",
    )(command)


@click.group(cls=CommandGroup)
def board() -> None:
    """Show what each release does to the libraries that people use."""


@board.command(cls=Command, short_help="Compile what is new, and update the board's data.")
@_board_option
@click.option("--only", multiple=True, metavar="LIBRARY", help="Only these libraries.")
@click.option(
    "--matrix",
    "matrix_path",
    type=FilePath(dir_okay=False),
    help="The file that declares envs and targets.  [default: matrix.toml]",
)
@compile_options(
    jobs=None, deadline=None, no_build="Do not build missing envs; leave their cells out."
)
@executor_option
@answer_options(file=False, json_help="Print the record of the board as JSON.")
def run(
    *,
    answer: Answer,
    path: Path,
    only: tuple[str, ...],
    matrix_path: Path | None,
    compiling: CompileOptions,
) -> None:
    """Compile what is new, and update the board's data.

    $ compat board run --only liger-kernel

    The command compiles new versions of the libraries, and all versions on new releases. It keeps
    a report for each version in board/data, and one record of all in board/board.json. A run that
    was stopped goes on where it ended.
    """
    declared = read_board(path)
    places = board_places(declared, declared.every_env, declared.targets, matrix_path)
    compiling = evolve(compiling, deadline=compiling.deadline or declared.deadline)
    try:
        with compiling.open_context(places) as context:
            update = update_board(
                declared,
                BoardRequest(only=only, matrix=matrix_path, command=command_line()),
                context,
                compiling.obtaining(places),
                ProgressListener(),
            )
    except MatrixInterrupted as interrupted:
        done = f"{interrupted.done:,} of {interrupted.total:,} cells of a version are kept"
        end_interrupted(done)
    record = record_of_board(declared)
    write_file(declared.folder / RECORD, board_json(record), "--board")
    answer.draw(lambda: board_blocks(record, update), lambda: board_document(record))
    answer.add(f"wrote {relative(declared.folder / RECORD)}")


@board.command(cls=Command, short_help="Write the board as a static site.")
@_board_option
@click.option(
    "--output",
    type=FilePath(file_okay=False),
    metavar="FOLDER",
    help="The folder for the site.  [default: board/site]",
)
@click.option("--url", metavar="URL", help="The address that the site will have, for its feed.")
@answer_options(file=False, json_help="Print the paths of the files as JSON.")
def site(*, answer: Answer, path: Path, output: Path | None, url: str | None) -> None:
    """Write the board as a static site, which needs no server.

    $ compat board site --output public
    """
    declared = read_board(path)
    folder = output or declared.folder / "site"
    envs = board_places(declared, declared.every_env).envs
    released = {str(env.release): env.released for env in envs if env.released is not None}
    files = write_site(declared, folder, released=released, url=url or "")
    size = sum(file.stat().st_size for file in files)
    answer.give(
        lambda: [f"wrote {amount(len(files), 'file')} ({size / 1e6:.1f} MB) to {relative(folder)}"],
        lambda: [str(file) for file in files],
    )


@board.command(cls=Command, short_help="Show what an upgrade would break in an environment.")
@click.option(
    "--from", "before", metavar="RELEASE", help="The old release.  [default: the installed one]"
)
@click.option(
    "--to", "after", metavar="RELEASE", help="The new release.  [default: the newest one]"
)
@click.option(
    "--python",
    "interpreter",
    type=FilePath(dir_okay=False),
    metavar="PATH",
    help="The interpreter whose packages are looked up.  [default: that of this command]",
)
@click.option(
    "--record",
    default=f"board/{RECORD}",
    metavar="FILE|URL",
    show_default=True,
    help="The record of a board.",
)
@answer_options(file=False, json_help="Print the answer as JSON.")
def check(
    *, answer: Answer, before: str | None, after: str | None, interpreter: Path | None, record: str
) -> None:
    """Show which kernels of the installed libraries an upgrade of Triton would break.

    $ compat board check --from 3.6 --to 3.9 --python .venv/bin/python

    The command reads the names and versions of the installed packages, and looks them up on the
    board. It compiles nothing.

    Exits with 1 if a kernel breaks.
    """
    checked = check_board(
        read_published(record), installed_packages(interpreter), before=before, after=after
    )
    answer.draw(lambda: check_blocks(checked), lambda: check_document(checked))
    sys.exit(1 if checked.breaks else 0)
