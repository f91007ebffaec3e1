"""How the building of envs shows on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.markup import escape

from compat.config.matrix import MatrixConfig
from compat.envs.provider import EnvProvider
from compat.execution.run import available_cores
from compat.printable import printable


def env_provider(config: MatrixConfig, *, build: bool = True, jobs: int | None = None) -> EnvProvider:
    """Gives features the envs that they ask for, having built what is missing unless the user wants none built."""
    return EnvProvider(
        cache=config.env_cache(),
        project=config.path,
        build=build,
        jobs=jobs or available_cores(),
        echo=lambda text: click.echo(printable(text), err=True),
        busy=_spinning,
    )


@contextmanager
def _spinning() -> Iterator[Callable[[str], None]]:
    """A line on the terminal that says what is going on; elsewhere nothing."""
    from rich.console import Console

    with Console(stderr=True).status("building environments") as status:
        yield lambda text: status.update(escape(printable(text)))
