"""What a command works with: the store, where cells are compiled or launched, and envs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from attrs import evolve

from compat.cli import logs
from compat.cli.showing import doing, say
from compat.text import printable

if TYPE_CHECKING:
    from compat.config.matrix import MatrixConfig
    from compat.envs.provider import EnvProvider
    from compat.executors.base import OpenExecutor
    from compat.launch.hosting import Gpu
    from compat.project import Obtain, Selection
    from compat.store.store import Store

_Command = TypeVar("_Command", bound=Callable[..., Any])


def opened_store(selection: Selection, *, only_read: bool = False) -> Store:
    """The results that are kept; what had to be put aside is said once. The log of this run goes beside it.

    A command that compiles nothing says ``only_read``: it can do without a folder that can be written. Raises StoreError.
    """
    logs.keep(selection.state)

    def warn(words: str) -> None:
        click.echo(f"warning: {printable(words)}", err=True)

    return selection.open_store(warn, say=say, only_read=only_read)


def executor_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option that says where cells are compiled, which :func:`opened` takes."""
    return click.option(
        "--executor",
        metavar="EXECUTOR",
        help="Where to compile: local, dask://HOST:PORT, 'dask:local?workers=4' (default: what matrix.toml says, or local).",
    )(command)


@contextmanager
def opened(selection: Selection, executor: str | None, jobs: int | None = None) -> Iterator[tuple[Store, OpenExecutor]]:
    """The results that are kept, and where cells are compiled. Raises StoreError, and SelectionError for what means nothing."""
    with opened_store(selection) as store, selection.open_executor(executor, in_flight=jobs, say=say) as where:
        yield store, where


def obtaining(selection: Selection, *, build: bool) -> Obtain:
    """Gives a feature the envs that it asks for, having built what is missing unless the user wants none built."""
    return env_provider(selection.config, build=build)


def env_provider(config: MatrixConfig, *, build: bool = True, jobs: int | None = None) -> EnvProvider:
    """Gives features the envs that they ask for, having built what is missing unless the user wants none built."""
    from compat.engine.run import available_cores
    from compat.envs.provider import EnvProvider

    return EnvProvider(
        cache=config.env_cache(),
        project=config.path,
        known=config.declared_names,
        build=build,
        jobs=jobs or available_cores(),
        echo=say,
        busy=partial(doing, "building envs"),
    )


# --- launches ---------------------------------------------------------------------------------------------------------------------


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
