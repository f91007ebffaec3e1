"""``compat hunt``: generated programs that show defects of compilers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from attrs import evolve

from compat.cli.answer import Answer, answer_options, relative
from compat.cli.help import Command
from compat.cli.launch import show_built
from compat.cli.opening import CompileOptions, compile_options, launched_option
from compat.cli.progress import ProgressListener
from compat.cli.selecting import place_options, select_places
from compat.hunt.hunting import HuntRequest, HuntRun
from compat.hunt.known import KNOWN_FILE, KnownDefect, read_known
from compat.launch import merging
from compat.launch.archive import pack, write_archive
from compat.project import Selection
from compat.report.views.hunt import hunt_blocks, hunt_document


@click.command(cls=Command)
@place_options
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    default=None,
    metavar="N",
    help="Begin no further programs after this time.  [default: 1, without --programs]",
)
@click.option(
    "--programs",
    type=click.IntRange(min=1),
    metavar="N",
    help="The number of programs.  [default: as many as the time allows]",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="The seed of the first program.  [default: the one after the last hunt]",
)
@click.option(
    "--only",
    multiple=True,
    metavar="FAMILY",
    help="Families of operations that every program uses, such as dot,reduce.",
)
@click.option(
    "--known",
    "known",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The defects that are known upstream.  [default: known.toml, if there is one]",
)
@click.option(
    "--keep",
    "kept",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("hunt"),
    metavar="FOLDER",
    show_default=True,
    help="The folder for an example of each defect.",
)
@click.option(
    "--shrink",
    "shrinking",
    type=click.FloatRange(min=0),
    default=30.0,
    metavar="SECONDS",
    show_default=True,
    help="The time for making an example smaller. 0: keep the program as it was generated.",
)
@click.option(
    "--build",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Also write a folder for a GPU host, with all that compiles.",
)
@click.option("--archive", is_flag=True, help="With --build: also write FOLDER.tar.xz.")
@launched_option("judge")
@compile_options(
    jobs=None,
    deadline=None,
    again=None,
    no_build="Do not build missing envs; leave their cells out.",
)
@answer_options(file=False, json_help="Print the answer as JSON.")
def hunt(
    *,
    answer: Answer,
    minutes: float | None,
    programs: int | None,
    seed: int | None,
    only: tuple[str, ...],
    known: Path | None,
    kept: Path,
    shrinking: float,
    folder: Path | None,
    archive: bool,
    launched: tuple[Path, ...],
    compiling: CompileOptions,
    **chosen: Any,
) -> None:
    """Find defects of the compiler with generated programs.

    $ compat hunt --minutes 30 --envs newest,3.8 --target sm_90

    Every program is valid, and its right results are known. The command compiles it on all chosen
    releases and targets. It shows where a compiler crashes, or rejects what another compiles. In
    envs with PyTorch, it also compares the results of Triton's interpreter. To compare those of a
    GPU, write a folder with --build, run its launch.py on a GPU host, and repeat the command with
    the same --seed and --programs, and with --launched.

    Exits with 0 if it finds no defect or only known ones, and with 1 if it finds another one.
    """
    if minutes is None and programs is None:
        minutes = 1.0
    selection = select_places(**chosen)
    defects = _known(known, selection)
    with evolve(compiling, executor="local").opened(selection) as context:
        for path in launched:
            merging.merge(path, context.store)
        run = HuntRun(
            selection, context, compiling.obtaining(selection), ProgressListener(judged=False)
        )
        found = run.run(
            HuntRequest(
                seed=seed,
                programs=programs,
                seconds=None if minutes is None else minutes * 60,
                only=_split(only),
                known=defects,
            )
        )
        examples = run.keep(found, kept, seconds=shrinking)
        built = run.build(found) if folder is not None else None
    answer.draw(lambda: hunt_blocks(found, examples), lambda: hunt_document(found, examples))
    if built is not None and folder is not None:
        show_built(built, write_archive(built, folder), pack(folder) if archive else None)
    if examples:
        answer.add(f"wrote {len(examples)} examples to {relative(kept)}")
        raise SystemExit(1)


def _known(path: Path | None, selection: Selection) -> tuple[KnownDefect, ...]:
    """The known defects of a file, or of the one beside ``matrix.toml``."""
    usual = selection.root / KNOWN_FILE
    if path is None and not usual.exists():
        return ()
    return read_known(path or usual)


def _split(words: tuple[str, ...]) -> tuple[str, ...]:
    """The names in options that may list several."""
    return tuple(name.strip() for word in words for name in word.split(","))
