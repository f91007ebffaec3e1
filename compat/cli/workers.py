"""``compat workers``: the workers that have stayed for the next command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from compat.cli.answer import Answer, answer_options
from compat.cli.table import table
from compat.report.render.blocks import TextLine
from compat.workers import pool
from compat.workers.pool import ResidentWorker


@click.command
@click.option("--stop", is_flag=True, help="Stop them all; a busy one stops when it is done, one that does not answer is killed.")
@answer_options(json_help="A JSON array instead of a table; with --stop, an object.")
def workers(*, stop: bool, answer: Answer) -> None:
    """List the workers that wait for the next command, with their toolchains imported.

    They end by themselves: five minutes after they were last used, unless `keep_workers` in matrix.toml says otherwise.
    """
    if stop:
        ended = pool.stop_resident_workers()
        killed = f", and killed {_counted(ended.killed)} that did not answer" if ended.killed else ""
        answer.give(lambda: [f"told {_counted(ended.told)} to end{killed}"], lambda: {"told": ended.told, "killed": ended.killed})
        return
    found = pool.resident_workers()
    answer.draw(
        lambda: table([_row(each) for each in found]) if found else [TextLine("no workers are running")], lambda: _documents(found)
    )


def _row(each: ResidentWorker) -> dict[str, str]:
    return {
        "env": each.env,
        "toolchain": f"{each.toolchain} {each.version}",
        "pid": str(each.pid),
        "memory": f"{each.memory / 2**20:.0f} MiB",
        "idle": f"{each.idle:.0f} s",
    }


def _documents(found: Iterable[ResidentWorker]) -> list[dict[str, Any]]:
    return [
        {"env": w.env, "toolchain": w.toolchain, "version": w.version, "pid": w.pid, "memory": w.memory, "idle": round(w.idle, 1)}
        for w in found
    ]


def _counted(count: int) -> str:
    return "1 worker" if count == 1 else f"{count} workers"
