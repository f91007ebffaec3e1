"""The options that choose cells, and their completion in the shell.

They are the same for every command.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from compat.config.toml import LONGEST
from compat.errors import CompatError, SelectionError
from compat.text import printable

if TYPE_CHECKING:
    from compat.project import Selection

# --- completion of names in the shell -------------------------------------------------------------
#
# It reads only the project's TOML files: it inspects no env and builds nothing. If a file is
# invalid, it offers the names that it knows without that file. The command reports the error.


class Name(click.types.StringParamType):
    """A name or glob on the command line that the shell can complete."""

    def __init__(self, names: Callable[[click.Context], Iterable[str]]) -> None:
        self._names = names

    def shell_complete(
        self, context: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, begun = incomplete.rpartition(",")
        names: list[str] = []
        with suppress(CompatError, OSError, RecursionError):
            names = sorted({name for name in self._names(context) if name.startswith(begun)})
        return [CompletionItem(f"{before}{comma}{name}") for name in names]


def _matrix(context: click.Context) -> Path | None:
    path = context.params.get("matrix_path")
    return Path(path) if path else None


def _envs(context: click.Context) -> Iterable[str]:
    from compat import project

    for env in project.read_matrix(_matrix(context)).envs:
        yield from (env.name, *env.groups)


def _targets(context: click.Context) -> Iterable[str]:
    from compat import project

    return (
        target.name for target in project.select_places(_matrix(context), targets=("*",)).targets
    )


def _everywhere(context: click.Context) -> Selection:
    """The selection of the command line so far.

    It has the kernels that the options choose. It has all envs and all targets, unless an option
    names some.
    """
    from compat import project

    options: dict[str, Any] = context.params
    everywhere: dict[str, Any] = {name: options.get(name) or ("*",) for name in ("envs", "targets")}
    chosen: dict[str, Any] = {
        name: options.get(name) or () for name in ("kernels", "variants", "cases")
    }
    return project.select(
        _matrix(context),
        **everywhere,
        **chosen,
        kernel_files=(*(options.get("spec") or ()), *(options.get("files") or ())),
    )


ENV = Name(_envs)
TARGET = Name(_targets)
KERNEL = Name(lambda context: (spec.kernel for spec in _everywhere(context).specs))
VARIANT = Name(lambda context: (spec.variant for spec in _everywhere(context).specs))
CASE = Name(lambda context: (spec.case for spec in _everywhere(context).specs))
CELL = Name(lambda context: (cell.id for cell in _everywhere(context).cells))


# --- the options ----------------------------------------------------------------------------------

_OPTIONS = (
    click.option(
        "--matrix",
        "matrix_path",
        type=click.Path(path_type=Path, dir_okay=False),
        help="The file that declares envs, targets and kernels.  [default: matrix.toml]",
    ),
    click.option(
        "--envs",
        multiple=True,
        type=ENV,
        metavar="ENV|RELEASE",
        help=(
            "Envs by name, group or glob, or releases: 3.9, 3.5.1, '>=3.4', newest (default: those"
            " of matrix.toml, or all)."
        ),
    ),
    click.option(
        "--target",
        "targets",
        multiple=True,
        type=TARGET,
        metavar="TARGET|GPU",
        help="Targets to compile for, such as sm_90, 'gfx*' or h100.",
    ),
    click.option(
        "--kernel",
        "kernels",
        multiple=True,
        type=KERNEL,
        metavar="GLOB",
        help="Kernels, such as 'sel_*'.",
    ),
    click.option(
        "--variant",
        "variants",
        multiple=True,
        type=VARIANT,
        metavar="GLOB",
        help="Variants, such as block_ptr or 'as_written*'.",
    ),
    click.option(
        "--case", "cases", multiple=True, type=CASE, metavar="GLOB", help="Cases of a kernel."
    ),
    click.option(
        "--package",
        "packages",
        multiple=True,
        metavar="LIBRARY",
        help=(
            "The kernels of a library from the package index: gemlite (the newest version), or"
            " gemlite==0.4.8,0.6.0."
        ),
    ),
    click.option(
        "--others",
        type=click.Choice(["skip", "guess"]),
        default="skip",
        help=(
            "Skip or guess the kernels of that library that no kernel file declares, if kernel"
            " files declare some.  [default: skip]"
        ),
    ),
    click.option(
        "--spec",
        multiple=True,
        metavar="PATH|GLOB",
        help="Kernel files or Python sources, instead of those in matrix.toml.",
    ),
)


def selection_options(command: Callable[..., object]) -> Callable[..., object]:
    """Give a command the options that :func:`select` takes.

    Each may be repeated, and may list several values, separated by commas.
    """
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)


def place_options(command: Callable[..., object]) -> Callable[..., object]:
    """Give a command the options for envs and targets: ``--matrix``, ``--envs``, ``--target``."""
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS[:3]), command)


def shard_option(command: Callable[..., object]) -> Callable[..., object]:
    """Give a command ``--shard``, which :func:`select` takes, too."""
    text = (
        "Only the cells of one shard, such as 3/8, the third of eight. `compat merge` joins the"
        " reports."
    )
    return click.option("--shard", metavar="N/M", help=text)(command)


def kernel_arguments(command: Callable[..., object]) -> Callable[..., object]:
    """Give a command kernel files, folders of them and globs as arguments.

    They mean the same as with ``--spec``.
    """
    return click.argument("files", nargs=-1, type=KERNEL, metavar="[KERNEL]...")(command)


def split_cells(arguments: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The glob of cells among some words, and the kernel files.

    A word is a file if its name looks like one, or if there is such a file. Raises SelectionError
    if two words mean cells.
    """
    from compat.config.kernel_files import is_file

    files = tuple(word for word in arguments if is_file(word))
    cells = [word for word in arguments if word not in files]
    if len(cells) > 1:
        raise SelectionError(
            f"expected one glob of cells, found {cells[0]!r} and {cells[1]!r}; neither is a file"
        )
    return (cells[0] if cells else "*"), files


def select_cells(word: str, files: Sequence[str] = (), **chosen: Any) -> tuple[str, Selection]:
    """The pattern of cells that a word means, and the selection of the options.

    A word that names kernel files means all their cells.
    """
    cells, named = split_cells((word,))
    return cells, select(files=(*named, *files), **chosen)


def select(
    matrix_path: Path | None = None,
    files: Sequence[str] = (),
    spec: Sequence[str] = (),
    shard: str | None = None,
    note: bool = True,
    others: str = "skip",
    **patterns: Sequence[str],
) -> Selection:
    """The selection of these options.

    With ``note`` it prints a note if arguments are guessed. Some answers say so themselves. Raises
    ConfigError for errors in the files, and SelectionError for a pattern that matches nothing.
    """
    from compat import project
    from compat.engine.plan import Shard
    from compat.report.summary.statements import guesses

    chosen = project.select(
        matrix_path,
        kernel_files=(*spec, *files),
        packages=patterns.pop("packages", ()),
        guess_others=others == "guess",
        **patterns,
    )
    selection = chosen.of_shard(Shard.parse(shard)) if shard is not None else chosen
    for problem in selection.problems:
        click.echo(printable(f"error: {problem}; its kernels are left out"), err=True)
        if problem.hint:
            click.echo(printable(f"  hint: {problem.hint}"), err=True)
    if selection.absent:
        from compat.report.summary.statements import missing_kernels

        for sentence in missing_kernels(selection.absent):
            click.echo(printable(f"note: {sentence}"), err=True)
    if note and (guessed := guesses(selection.specs)):
        click.echo(printable(f"note: {guessed}"), err=True)
    return selection


def select_places(
    matrix_path: Path | None = None,
    envs: Sequence[str] = (),
    targets: Sequence[str] = (),
    **_: object,
) -> Selection:
    """The envs and targets that these options choose, and no kernels.

    Raises the errors of :func:`select`.
    """
    from compat import project

    return project.select_places(matrix_path, envs=envs, targets=targets)


class _Seconds(click.FloatRange):
    """Seconds on the command line."""

    name = "seconds"

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True, max=LONGEST)

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> Any:
        number = super().convert(value, parameter, context)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number of seconds.", parameter, context)
        return number

    def _describe_range(self) -> str:
        """An empty text, because help does not show the bounds of a timer."""
        return ""


SECONDS = _Seconds()
"""The type of options with a duration: above zero, and within the range of a timer."""
