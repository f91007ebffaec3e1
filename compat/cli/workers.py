"""``compat workers``: the workers that have stayed for the next command."""

from __future__ import annotations

import click

from compat.cli.table import show_table
from compat.engine import kept
from compat.engine.kept import Kept


@click.command()
@click.option("--stop", is_flag=True, help="End them all; one that is in use ends when it is done.")
def workers(*, stop: bool) -> None:
    """List the workers that wait for the next command, with their toolchains imported.

    They end by themselves: five minutes after they were last used, unless `keep_workers` in matrix.toml says otherwise.
    """
    if stop:
        click.echo(f"told {_counted(kept.stop())} to end")
        return
    found = kept.kept()
    if found:
        show_table([_row(each) for each in found])
    else:
        click.echo("no worker has stayed")


def _row(each: Kept) -> dict[str, str]:
    return {
        "env": each.env,
        "triton": each.version,
        "pid": str(each.pid),
        "memory": f"{each.memory / 2**20:.0f} MiB",
        "idle": f"{each.idle:.0f} s",
    }


def _counted(count: int) -> str:
    return "1 worker" if count == 1 else f"{count} workers"
