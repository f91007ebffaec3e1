"""The command ``compat``: one file per command; the only place that prints or exits.

Exit codes: 0 all as declared, 1 something was not, 2 and up an error of use (each class in :mod:`compat.errors` has its own),
130 interrupted.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from compat import __version__
from compat.cli.bisect import bisect
from compat.cli.check import check
from compat.cli.explain import explain
from compat.cli.list import list_
from compat.cli.matrix import matrix
from compat.cli.reduce import reduce
from compat.cli.repro import repro
from compat.errors import CompatError


class _Commands(click.Group):
    """Turns errors of use into one clear message and their exit code."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except CompatError as error:
            click.echo(f"error: {error}", err=True)
            if error.hint:
                click.echo(f"  hint: {error.hint}", err=True)
            sys.exit(error.exit_code)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="compat")
def main() -> None:
    """Which way of writing a Triton kernel compiles on which release, for which GPU, and why the others fail. No GPU needed."""


for command in (matrix, list_, explain, bisect, check, reduce, repro):
    main.add_command(command)
