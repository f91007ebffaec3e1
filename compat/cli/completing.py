"""What the shell offers when a name is half typed: kernels, variants, cases of a kernel, envs, targets, cells.

It reads the project's TOML files, and nothing else: no env is looked into, nothing is built. Where a file is invalid it offers
what can be known without it; the command itself tells of the error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from compat.errors import CompatError

if TYPE_CHECKING:
    from compat.project import Selection


class Name(click.types.StringParamType):
    """A name or glob on the command line that the shell can complete."""

    def __init__(self, names: Callable[[click.Context], Iterable[str]]) -> None:
        self._names = names

    def shell_complete(self, context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
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

    return (target.name for target in project.select_places(_matrix(context), targets=("*",)).targets)


def _everywhere(context: click.Context) -> Selection:
    """All that the command line leaves so far; kernels by what was said of them, envs and targets unless they were named."""
    from compat import project

    options: dict[str, Any] = context.params
    return project.select(
        _matrix(context),
        envs=options.get("envs") or ("*",),
        targets=options.get("target") or ("*",),
        kernels=options.get("kernel") or (),
        variants=options.get("variant") or (),
        cases=options.get("case") or (),
        kernel_files=(*(options.get("spec") or ()), *(options.get("files") or ())),
    )


ENV = Name(_envs)
TARGET = Name(_targets)
KERNEL = Name(lambda context: (spec.kernel for spec in _everywhere(context).specs))
VARIANT = Name(lambda context: (spec.variant for spec in _everywhere(context).specs))
CASE = Name(lambda context: (spec.case for spec in _everywhere(context).specs))
CELL = Name(lambda context: (cell.id for cell in _everywhere(context).cells))
