"""The command ``compat``: one file per command; the only place that prints or exits.

Exit codes: 0 all as declared, 1 something was not, 2 and up an error of use (each class in :mod:`compat.errors` has its own),
130 interrupted.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from compat import __version__
from compat.errors import CompatError

_COMMANDS = ("matrix", "list", "explain", "bisect", "check", "reduce", "repro", "workers")
"""In the order of the help; each is in the module of its name."""


class _Commands(click.Group):
    """Imports a command when it is asked for, and turns errors of use into one clear message and their exit code."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module = import_module(f"compat.cli.{name}")
        command: click.Command = getattr(module, name, None) or getattr(module, f"{name}_")  # list_, which would hide the built-in
        return command

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
