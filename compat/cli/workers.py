"""``compat workers``: the workers that have stayed for the next command."""

from __future__ import annotations

import click

from compat.cli.table import show_table
from compat.execution import resident
from compat.execution.resident import ResidentWorker


@click.command(short_help="List or stop the workers that wait for the next command.")
@click.option("--stop", is_flag=True, help="Stop them all; a busy one stops when it is done, one that does not answer is killed.")
def workers(*, stop: bool) -> None:
    """List the workers that wait for the next command, with their toolchains imported.

    They end by themselves: five minutes after they were last used, unless `keep_workers` in matrix.toml says otherwise.
    """
    if stop:
        ended = resident.stop()
        killed = f", and killed {_counted(ended.killed)} that did not answer" if ended.killed else ""
        click.echo(f"told {_counted(ended.told)} to end{killed}")
        return
    found = resident.kept()
    if found:
        show_table([_row(each) for each in found])
    else:
        click.echo("no workers are running")


def _row(each: ResidentWorker) -> dict[str, str]:
    return {
        "env": each.env,
        "toolchain": f"{each.toolchain} {each.version}",
        "pid": str(each.pid),
        "memory": f"{each.memory / 2**20:.0f} MiB",
        "idle": f"{each.idle:.0f} s",
    }


def _counted(count: int) -> str:
    return "1 worker" if count == 1 else f"{count} workers"
