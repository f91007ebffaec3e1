"""The options that say which cells are meant, and the project they are chosen from; the same for every command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from compat.cli.completing import CASE, ENV, KERNEL, TARGET, VARIANT
from compat.config.toml_reader import LONGEST
from compat.errors import SelectionError
from compat.text import printable

if TYPE_CHECKING:
    from compat.project import Selection

_OPTIONS = (
    click.option(
        "--matrix",
        "matrix_path",
        type=click.Path(path_type=Path, dir_okay=False),
        help="The file that declares envs, targets and kernels, if there is one [matrix.toml].",
    ),
    click.option(
        "--envs",
        multiple=True,
        type=ENV,
        metavar="ENV|RELEASE",
        help="Envs by name, group or glob, or releases: 3.9, 3.5.1, '>=3.4', newest (default: what matrix.toml says, or all).",
    ),
    click.option(
        "--target", multiple=True, type=TARGET, metavar="TARGET|GPU", help="Targets to compile for, such as sm_90, 'gfx*' or h100."
    ),
    click.option("--kernel", multiple=True, type=KERNEL, metavar="GLOB", help="Kernels, such as 'sel_*'."),
    click.option("--variant", multiple=True, type=VARIANT, metavar="GLOB", help="Variants, such as block_ptr or 'as_written*'."),
    click.option("--case", multiple=True, type=CASE, metavar="GLOB", help="Named cases of a kernel."),
    click.option(
        "--package",
        multiple=True,
        metavar="LIBRARY",
        help="The kernels of a library from the package index, in one version or several: fla-core==0.4.0,0.6.0.",
    ),
    click.option(
        "--spec",
        multiple=True,
        metavar="PATH|GLOB",
        help="Kernel files, or Python sources, to use instead of those named in matrix.toml.",
    ),
)


def selection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that :func:`select` takes. Each may be repeated, and may list several, separated by commas."""
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)


def place_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command those of them that choose envs and targets: ``--matrix``, ``--envs`` and ``--target``."""
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS[:3]), command)


def shard_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--shard``, which :func:`select` takes, too."""
    words = "Only the cells of one shard of several, such as 3/8: the third of eight. `compat merge` joins the reports."
    return click.option("--shard", metavar="N/M", help=words)(command)


def kernel_arguments(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command names of kernels as arguments, kernel files, folders of them and globs, which mean what ``--spec`` means."""
    return click.argument("files", nargs=-1, type=KERNEL, metavar="[KERNEL]...")(command)


def split_cells(words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Which cells some words mean, and which kernel files: a word is a file if it is called like one, or if there is such a file.

    Raises SelectionError where two words mean cells.
    """
    from compat.config.kernel_files import is_file

    files = tuple(word for word in words if is_file(word))
    cells = [word for word in words if word not in files]
    if len(cells) > 1:
        raise SelectionError(f"both {cells[0]!r} and {cells[1]!r} would be a glob over cells, and neither is a file")
    return (cells[0] if cells else "*"), files


def select(
    *,
    matrix_path: Path | None = None,
    files: Sequence[str] = (),
    envs: Sequence[str] = (),
    target: Sequence[str] = (),
    kernel: Sequence[str] = (),
    variant: Sequence[str] = (),
    case: Sequence[str] = (),
    spec: Sequence[str] = (),
    package: Sequence[str] = (),
    shard: str | None = None,
    note: bool = True,
) -> Selection:
    """What these options choose; that arguments are guessed is noted, unless the answer says so itself.

    Raises ConfigError for what the files say wrongly, SelectionError for what matches nothing.
    """
    from compat import project
    from compat.engine.plan import Shard
    from compat.report.summary.statements import guesses, missing_kernels

    named = (*spec, *files)
    chosen = project.select(
        matrix_path,
        envs=envs,
        targets=target,
        kernels=kernel,
        variants=variant,
        cases=case,
        kernel_files=named,
        packages=package,
    )
    found = chosen.of_shard(Shard.parse(shard)) if shard is not None else chosen
    for problem in found.problems:
        click.echo(printable(f"error: {problem}; its kernels are left out"), err=True)
        if problem.hint:
            click.echo(printable(f"  hint: {problem.hint}"), err=True)
    for words in missing_kernels(found.absent):
        click.echo(printable(f"note: {words}"), err=True)
    if note and (guessed := guesses(found.specs)):
        click.echo(printable(f"note: {guessed}"), err=True)
    return found


def select_places(
    *, matrix_path: Path | None = None, envs: Sequence[str] = (), target: Sequence[str] = (), **_: object
) -> Selection:
    """The envs and targets that these options choose, and no kernels. Raises what :func:`select` does."""
    from compat import project

    return project.select_places(matrix_path, envs=envs, targets=target)


class _Seconds(click.FloatRange):
    """Seconds on the command line."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True, max=LONGEST)

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        number = super().convert(value, parameter, context)
        if number != number:
            self.fail(f"{value!r} is not a number of seconds.", parameter, context)
        return number


SECONDS = _Seconds()
"""The type of options that are a length of time: more than nothing, and what a timer can count."""
