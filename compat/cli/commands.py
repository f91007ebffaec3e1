"""All commands, and the message and the exit code for an error in one of them."""

from __future__ import annotations

import logging
import platform
import sys
import traceback
from difflib import get_close_matches
from importlib import import_module
from typing import NoReturn

import click

from compat import __version__, interruption
from compat.cli import BROKEN_PIPE, INTERRUPTED, logs
from compat.cli.help import TASKS, Command
from compat.errors import CompatError, refusal
from compat.interruption import Stopped

_log = logging.getLogger(__name__)

COMMANDS = {
    "init": ("init", "Write matrix.toml, and kernel files for Python sources."),
    "capture": ("init", "Write kernel files for the launches of a running program."),
    "matrix": ("matrix", "Compile every chosen cell and write the reports."),
    "list": ("list", "List envs, targets, kernels or cells."),
    "explain": ("explain", "Show everything that is known about one cell."),
    "report": ("report", "Write the outputs of a run again from its matrix.json."),
    "merge": ("report", "Join the reports of several runs, or their stores."),
    "diff": ("report", "Show what changed between two reports."),
    "bisect": ("bisect", "Find the release that broke a kernel, and the part of the compiler."),
    "check": ("check", "Test one commit for `git bisect run`."),
    "api": ("api", "Show which names of Triton exist in which release."),
    "pairs": ("envs", "Show which PyTorch works with which Triton."),
    "fix": ("failure", "Find the edit that makes a rejected kernel compile."),
    "reduce": ("reduce", "Shrink a kernel that fails."),
    "repro": ("failure", "Write a standalone script and an issue for a failing cell."),
    "hunt": ("hunt", "Find defects of the compiler with generated programs."),
    "board": ("board", "Show what each release does to the libraries that people use."),
    "build": ("launch", "Compile kernels into a folder that a GPU host launches."),
    "launch": ("launch", "Launch on a GPU what `compat build` has compiled."),
    "tune": ("tune", "Find the best config of a kernel on each release."),
    "guard": ("guard", "Write a Python file that chooses the variant that works."),
    "envs": ("envs", "List, build, lock, remove and locate environments."),
    "workers": ("envs", "List or stop the workers that wait for the next command."),
}
"""Command → its module and its line in the help, in the order of the help."""


_LONGEST = max(map(len, COMMANDS))


class CommandGroup(click.Group):
    """Suggests a command if the user's command does not exist."""

    command_class = Command

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """See click. Raises UsageError, which suggests the commands with the most similar names."""
        try:
            return super().resolve_command(context, args)
        except click.UsageError as error:
            # click knows only the commands that are imported by now
            alike = get_close_matches(args[0], self.list_commands(context), n=2)
            if not alike or "Did you mean" in error.format_message():
                raise
            raise click.UsageError(
                f"{error.format_message()} Did you mean {' or '.join(map(repr, alike))}?", context
            ) from None


class _Commands(CommandGroup):
    """Imports a command when click asks for it, and shows errors of use.

    Such an error becomes one clear message and its exit code.
    """

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = import_module(f"compat.cli.{COMMANDS[name][0]}")
        # A function named list would hide the built-in, so it is list_.
        command: click.Command = getattr(module, name, None) or getattr(module, f"{name}_")
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by task, without importing them."""
        for task, names in TASKS.items():
            with formatter.section(task):
                formatter.write_dl([(name.ljust(_LONGEST), COMMANDS[name][1]) for name in names])

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except (Stopped, KeyboardInterrupt):
            click.echo("interrupted: finished work is saved", err=True)
            sys.exit(INTERRUPTED)
        except BrokenPipeError:  # the reader of the output has closed it
            sys.exit(BROKEN_PIPE)
        except CompatError as error:
            _end(error, context)
        except RecursionError as error:
            hint = (
                "Shorten chains of `elif`. `compat --debug …` shows the code that reads the file."
            )
            nested = CompatError("a source or another file is nested too deeply", hint=hint)
            nested.__cause__ = error
            _end(nested, context)
        except (ImportError, OSError, MemoryError, RuntimeError) as error:
            refused = refusal(error)
            if refused is None:
                raise
            _end(refused, context)


def _end(error: CompatError, context: click.Context) -> NoReturn:
    if context.params["debug"]:
        traceback.print_exception(error)
    _log.debug("ends with exit code %d", error.exit_code, exc_info=error)
    if not interruption.is_requested():  # else the interruption most likely caused it
        click.echo(f"error: {error}", err=True)
        if error.hint:
            click.echo(f"  hint: {error.hint}", err=True)
        logs.print_json_of_error(error, context)
    sys.exit(error.exit_code)


def _tell_version(context: click.Context, _: click.Parameter, is_requested: bool) -> None:
    if is_requested and not context.resilient_parsing:
        click.echo(
            f"compat {__version__} ({platform.python_implementation()} {platform.python_version()},"
            f" {platform.platform()})"
        )
        context.exit()


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_tell_version,
    help="Show the version, the Python and the platform, and exit.",
)
@click.option("-v", "--verbose", count=True, help=logs.VERBOSE_HELP)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def main(context: click.Context, verbose: int, debug: bool) -> None:  # noqa: ARG001 - read before
    """Test every variant of a Triton kernel on every Triton release, without a GPU: what compiles,
    what fails, and why.
    """
    logs.begin(verbose)
    context.call_on_close(logs.end)
