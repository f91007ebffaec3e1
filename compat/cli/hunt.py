"""``compat hunt``: generated programs that show defects of compilers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn, Unpack

import click
from attrs import evolve

from compat.cli import INTERRUPTED
from compat.cli.answer import Answer, FilePath, answer_options, command_line, relative
from compat.cli.help import Command
from compat.cli.launch import show_built
from compat.cli.progress import ProgressListener
from compat.cli.resources import (
    CompileOptions,
    build_options,
    compile_options,
    executor_option,
    keep_launched,
    launch_options,
    launched_option,
    use_gpu,
)
from compat.cli.selecting import (
    DecimalNumber,
    PlaceOptions,
    WholeNumber,
    place_options,
    select_places,
)
from compat.hunt.defects import HuntAnswer
from compat.hunt.examples import HuntFiles, WrittenHunt, write_hunt
from compat.hunt.hunting import HuntRequest, HuntRun
from compat.hunt.known_defects import KNOWN_FILE, KnownDefect, read_known
from compat.hunt.view import hunt_blocks, hunt_document
from compat.launch.archive import pack
from compat.project import Selection
from compat.text import amount


@click.command(cls=Command)
@place_options
@click.option(
    "--minutes",
    type=DecimalNumber(min=0, min_open=True),
    metavar="N",
    help="Begin no further programs after these minutes.  [default: 1, without --programs]",
)
@click.option(
    "--programs",
    type=WholeNumber(min=1),
    metavar="N",
    help="The number of programs.  [default: as many as the time allows]",
)
@click.option(
    "--seed",
    type=WholeNumber(min=0),
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
    "--forms",
    type=WholeNumber(min=1),
    default=2,
    metavar="N",
    show_default=True,
    help="Forms of each program: its own, and others with another config or spelling.",
)
@click.option(
    "--against",
    metavar="WHEEL",
    help="A wheel to test. A defect counts only if the newest of --envs does not have it.",
)
@click.option(
    "--known",
    "known_file",
    type=FilePath(dir_okay=False),
    help="The defects that are known upstream.  [default: known.toml, if there is one]",
)
@click.option(
    "--keep",
    "example_folder",
    type=FilePath(file_okay=False),
    default=Path("hunt"),
    metavar="FOLDER",
    show_default=True,
    help="The folder for an example of each defect.",
)
@click.option(
    "--shrink",
    "shrinking",
    type=DecimalNumber(min=0),
    default=30,
    metavar="SECONDS",
    show_default=True,
    help="The time for making an example smaller. 0: keep the program as it was generated.",
)
@click.option(
    "--repro",
    "is_reproducing",
    is_flag=True,
    help="Also write a script and an issue text for each failing compile, verified by a run.",
)
@build_options("Also write a folder for a GPU host, with all that compiles.")
@launched_option("judge")
@launch_options("Launch the programs that compile, on the GPU of this machine.")
@compile_options(
    jobs=None,
    deadline=None,
    again=None,
    no_build="Do not build missing envs; leave their cells out.",
)
@executor_option
@answer_options(file=False, json_help="Print the answer as JSON.")
def hunt(
    *,
    answer: Answer,
    minutes: float | None,
    programs: int | None,
    seed: int | None,
    only: tuple[str, ...],
    forms: int,
    against: str | None,
    known_file: Path | None,
    example_folder: Path,
    shrinking: float,
    is_reproducing: bool,
    folder: Path | None,
    archive: bool,
    launched: tuple[Path, ...],
    is_launching: bool,
    python: str | None,
    compiling: CompileOptions,
    **values: Unpack[PlaceOptions],
) -> None:
    """Find defects of the compiler with generated programs.

    $ compat hunt --minutes 30 --envs newest,3.8 --target sm_90

    Every program is valid, and its right results are known. The command compiles it on the newest
    release, or on those of --envs, for all chosen targets. It shows where a compiler crashes, or
    rejects what another compiles. In envs with PyTorch, it also compares the results of Triton's
    interpreter. With --launch, it compares those of the GPU of this machine. To use another GPU,
    write a folder with --build, run its launch.py on the GPU host, and repeat the command with the
    same --seed and --programs, and with --launched.

    Exits with 0 if it finds no defect or only known ones, with 1 if it finds another one, and with
    3 if --launch finds no GPU.
    """
    if minutes is None and programs is None:
        minutes = 1.0
    selection, wheel = _selection(values, against)
    defects = _known_defects(known_file, selection)
    selection, gpu = use_gpu(selection, is_launching, python)
    obtain = compiling.obtaining(selection)
    listener = ProgressListener(judged=False)
    with (
        compiling.open_context(selection) as context,
        HuntRun(selection, context, obtain, listener, gpu) as run,
    ):
        keep_launched(launched, context.store)
        hunted = run.run(
            HuntRequest(
                seed=seed,
                programs=programs,
                seconds=None if minutes is None else minutes * 60,
                only=_split(only),
                forms=forms,
                against=wheel,
                known=defects,
            )
        )
        written = write_hunt(
            run,
            hunted,
            HuntFiles(
                examples=example_folder,
                shrinking=shrinking,
                with_issues=is_reproducing,
                command=command_line(),
                build=folder,
            ),
        )
    answer.draw(lambda: hunt_blocks(hunted, written), lambda: hunt_document(hunted, written))
    _end(hunted, written, answer, example_folder, archive=archive)


def _end(
    hunted: HuntAnswer, written: WrittenHunt, answer: Answer, example_folder: Path, *, archive: bool
) -> NoReturn:
    """Name the files that were written, and end the command."""
    if written.archive is not None and written.launcher is not None:
        packed = pack(written.launcher.parent) if archive else None
        show_built(written.archive, written.launcher, packed, answer.add)
    if written.examples:
        answer.add(
            f"wrote {amount(len(written.examples), 'example')} to {relative(example_folder)}"
        )
    if hunted.interrupted:
        message = f"interrupted: the next hunt begins with seed {hunted.seeds[1]}"
        click.echo(message, err=True)
        sys.exit(INTERRUPTED)
    sys.exit(1 if written.examples else 0)


def _selection(values: PlaceOptions, against: str | None) -> tuple[Selection, str | None]:
    """The envs and targets, and the name of the wheel's env; ``None`` without a wheel."""
    values["envs"] = values["envs"] or ("newest",)
    selection = select_places(**values)
    if against is None:
        return selection, None
    env = selection.config.wheel_env(against)
    if env.name in {other.name for other in selection.envs}:
        env = evolve(env, name=f"{env.name}-wheel")
    config = evolve(selection.config, envs=(*selection.config.envs, env))
    return evolve(selection, config=config, envs=(*selection.envs, env)), env.name


def _known_defects(path: Path | None, selection: Selection) -> tuple[KnownDefect, ...]:
    """The known defects of a file, by default of the file beside ``matrix.toml``."""
    usual = selection.root / KNOWN_FILE
    if path is None and not usual.exists():
        return ()
    return read_known(path or usual)


def _split(values: tuple[str, ...]) -> tuple[str, ...]:
    """The names in options that may list several."""
    return tuple(name.strip() for word in values for name in word.split(","))
