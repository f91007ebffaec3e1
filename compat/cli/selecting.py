"""The options that say which cells are meant, and the project they are chosen from; the same for every command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import click

from compat import project
from compat.cli import logs
from compat.cli.providing import env_provider
from compat.config.toml_reader import LONGEST
from compat.execution.store import Store
from compat.printable import printable
from compat.project import Obtain, Selection

_OPTIONS = (
    click.option(
        "--matrix",
        "matrix_path",
        type=click.Path(path_type=Path, dir_okay=False),
        default=Path("matrix.toml"),
        show_default=True,
        help="The file that declares envs, targets and kernels.",
    ),
    click.option("--envs", multiple=True, metavar="NAME|GROUP|GLOB", help="Envs to use (default: those named in matrix.toml)."),
    click.option("--target", multiple=True, metavar="GLOB", help="Targets to compile for, such as sm_90 or 'gfx*'."),
    click.option("--kernel", multiple=True, metavar="GLOB", help="Kernels, such as 'sel_*'."),
    click.option("--variant", multiple=True, metavar="GLOB", help="Variants, such as block_ptr or 'as_written*'."),
    click.option("--case", multiple=True, metavar="GLOB", help="Named cases of a kernel."),
    click.option("--spec", multiple=True, metavar="PATH|GLOB", help="Kernel files to use instead of those named in matrix.toml."),
)


def selection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that :func:`select` takes. Each may be repeated, and may list several, separated by commas."""
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)


def select(
    *,
    matrix_path: Path,
    envs: Sequence[str] = (),
    target: Sequence[str] = (),
    kernel: Sequence[str] = (),
    variant: Sequence[str] = (),
    case: Sequence[str] = (),
    spec: Sequence[str] = (),
) -> Selection:
    """What these options choose. Raises ConfigError for what the files say wrongly, SelectionError for what matches nothing."""
    chosen = project.select(matrix_path, envs=envs, targets=target, kernels=kernel, variants=variant, cases=case, kernel_files=spec)
    for problem in chosen.problems:
        click.echo(f"error: {problem}; its kernels are left out", err=True)
        if problem.hint:
            click.echo(f"  hint: {problem.hint}", err=True)
    return chosen


def opened_store(selection: Selection) -> Store:
    """The results that are kept; what had to be put aside is said once. The log of this run goes beside it. Raises StoreError."""
    logs.keep(selection.state)
    return selection.open_store(lambda words: click.echo(f"warning: {printable(words)}", err=True))


def obtaining(selection: Selection, *, build: bool) -> Obtain:
    """Gives a feature the envs that it asks for, having built what is missing unless the user wants none built."""
    return env_provider(selection.config, build=build)


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
