"""The options that choose cells, and their completion in the shell.

They are the same for every command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import click
from click.shell_completion import CompletionItem

from compat.cli.answer import FilePath
from compat.cli.help import add_options
from compat.config.toml import LONGEST
from compat.errors import CompatError, SelectionError
from compat.text import join_words, printable

if TYPE_CHECKING:
    from compat.project import Selection

_LEFT_OUT = 3
"""The most jit functions that the note about those without cells names."""

# --- completion of names in the shell -------------------------------------------------------------
#
# It reads only the project's TOML files: it inspects no env and builds nothing. If a file is
# invalid, it offers the names that it knows without that file. The command reports the error.


class Name(click.types.StringParamType):
    """A name or glob on the command line that the shell can complete."""

    def __init__(self, names: Callable[[click.Context], Iterable[str]]) -> None:
        self._names = names

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> str:
        """Return the text of a name. An empty text, as of an unset variable, names nothing."""
        text: str = super().convert(value, param, context)
        if not text.strip(" ,"):
            self.fail("it is empty", param, context)
        return text

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
_NAME = Name(lambda _: ())


# --- the options ----------------------------------------------------------------------------------


class PlaceOptions(TypedDict, total=False):
    """The values of the options that :func:`place_options` gives a command."""

    matrix_path: Path | None
    envs: tuple[str, ...]
    targets: tuple[str, ...]


class SelectionOptions(PlaceOptions, total=False):
    """The values of the options that :func:`selection_options` gives a command.

    ``shard`` comes from :func:`shard_option`, and ``files`` from :func:`kernel_arguments`.
    """

    kernels: tuple[str, ...]
    variants: tuple[str, ...]
    cases: tuple[str, ...]
    packages: tuple[str, ...]
    others: str
    spec: tuple[str, ...]
    shard: str | None
    files: tuple[str, ...]


_OPTIONS = (
    click.option(
        "--matrix",
        "matrix_path",
        type=FilePath(dir_okay=False),
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
        type=_NAME,
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
        type=_NAME,
        metavar="PATH|GLOB",
        help="Kernel files or Python sources, instead of those in matrix.toml.",
    ),
)


def selection_options(command: Callable[..., object]) -> Callable[..., object]:
    """Give a command the options that :func:`select` takes.

    Each may be repeated, and may list several values, separated by commas.
    """
    return add_options(command, _OPTIONS)


def place_options(command: Callable[..., object]) -> Callable[..., object]:
    """Give a command the options for envs and targets: ``--matrix``, ``--envs``, ``--target``."""
    return add_options(command, _OPTIONS[:3])


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


def select_cells(word: str, **values: Unpack[SelectionOptions]) -> tuple[str, Selection]:
    """The pattern of cells that a word means, and the selection of the options.

    A word that names kernel files means all their cells.
    """
    cells, files = split_cells((word,))
    values["files"] = (*files, *values.get("files", ()))
    return cells, select(**values)


def select(*, note: bool = True, **values: Unpack[SelectionOptions]) -> Selection:
    """The selection of these options.

    With ``note`` it prints a note if arguments are guessed. Some answers say so themselves. Raises
    ConfigError for errors in the files, and SelectionError for a pattern that matches nothing.
    """
    from compat import project
    from compat.engine.plan import Shard

    selection = project.select(
        values.get("matrix_path"),
        envs=values.get("envs", ()),
        targets=values.get("targets", ()),
        kernels=values.get("kernels", ()),
        variants=values.get("variants", ()),
        cases=values.get("cases", ()),
        kernel_files=(*values.get("spec", ()), *values.get("files", ())),
        packages=values.get("packages", ()),
        guess_others=values.get("others") == "guess",
    )
    if without := selection.kernels_without_cells:
        names = join_words(without)
        text = f"note: the chosen variants, cases, targets and envs leave no cell of {names}"
        click.echo(printable(text), err=True)
    if (shard := values.get("shard")) is not None:
        selection = selection.of_shard(Shard.parse(shard))
    for problem in selection.problems:
        click.echo(printable(f"error: {problem}; its kernels are left out"), err=True)
        if problem.hint:
            click.echo(printable(f"  hint: {problem.hint}"), err=True)
    for sentence in _notes(selection, note):
        click.echo(printable(f"note: {sentence}"), err=True)
    return selection


def _notes(selection: Selection, with_guesses: bool) -> Iterator[str]:
    """Sentences about kernels that are left out or guessed."""
    from compat.report.summary.compact import at_most
    from compat.report.summary.statements import guesses, missing_kernels

    if selection.absent:
        yield from missing_kernels(selection.absent)
    if selection.left_out and not selection.patterns.kernels:
        yield f"left out {'; '.join(at_most(_LEFT_OUT, selection.left_out))}"
    if with_guesses and (guessed := guesses(selection.specs)):
        yield guessed


def select_places(**values: Unpack[PlaceOptions]) -> Selection:
    """The envs and targets that these options choose, and no kernels.

    Raises the errors of :func:`select`.
    """
    from compat import project

    return project.select_places(
        values.get("matrix_path"), envs=values.get("envs", ()), targets=values.get("targets", ())
    )


class _Seconds(click.types.FloatParamType):
    """Seconds on the command line."""

    name = "seconds"

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> Any:
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number of seconds.", parameter, context)
        if not 0 < number <= LONGEST:  # also of NaN
            self.fail(f"{value!r} is not above 0 and at most {LONGEST:,}.", parameter, context)
        return number


SECONDS = _Seconds()
"""The type of options with a duration: above zero, and within the range of a timer."""


class WholeNumber(click.IntRange):
    """A whole number on the command line."""

    name = "whole number"


class DecimalNumber(click.FloatRange):
    """A number on the command line."""

    name = "number"
