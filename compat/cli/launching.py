"""The options ``--launched`` and ``--launch``: results that were brought back, and this machine's GPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from attrs import evolve

from compat.project import Selection

if TYPE_CHECKING:
    from compat.launch.hosting import Gpu

_Command = TypeVar("_Command", bound=Callable[..., Any])


def launched_option(use: str) -> Callable[[_Command], _Command]:
    """Adds the option that names results which were brought back; ``use`` is what they are kept for."""
    return click.option(
        "--launched",
        multiple=True,
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        metavar="FILE",
        help=f"Results that launch.py has written on a GPU host, to be kept and {use}.",
    )


def python_option(command: _Command) -> _Command:
    """Adds the option that names an interpreter with PyTorch."""
    words = "With a GPU: an interpreter that has PyTorch (default: this one, else one of the envs)."
    return click.option("--python", metavar="PATH", help=words)(command)


def use_gpu(selection: Selection, is_launching: bool, python: str | None) -> tuple[Selection, Gpu | None]:
    """The same selection, for the target of this machine's GPU alone, and the GPU; as it was where nothing is to be launched.

    Raises SelectionError where there is no GPU that can be used.
    """
    if not is_launching:
        return selection, None
    from compat.launch import hosting

    gpu = hosting.find_gpu(selection, python)
    return evolve(selection, targets=(gpu.target,)), gpu
