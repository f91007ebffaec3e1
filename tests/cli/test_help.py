"""What ``--help`` says, of every command; ``COMPAT_REGOLD=1`` writes it anew."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from compat import __version__
from compat.cli import commands
from compat.cli.commands import main


def every_command() -> Iterator[str]:
    """The commands, and those inside of them: ``envs list``."""
    context = click.Context(main)
    for name in main.list_commands(context):
        yield name
        command = main.get_command(context, name)
        yield from (f"{name} {word}" for word in (command.commands if isinstance(command, click.Group) else ()))


COMMANDS = tuple(every_command())


def said(*arguments: str) -> str:
    """What the command prints at a width of 80, ending well."""
    done = CliRunner().invoke(main, arguments, prog_name="compat", terminal_width=80)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_help_of_compat(golden: Callable[[str, str], None]) -> None:
    golden("help/compat.txt", said("--help"))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command(name: str, golden: Callable[[str, str], None]) -> None:
    text = said(*name.split(), "--help")
    assert max(map(len, text.splitlines())) <= 80
    golden(f"help/{name.replace(' ', '-')}.txt", text)


def test_the_help_of_compat_imports_no_command() -> None:
    code = "import sys; from compat.cli.commands import main; main(['--help'], standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stdout.splitlines()[-1].split())
    assert "compat.cli.commands" in modules
    assert not {f"compat.cli.{module}" for module, _ in commands.COMMANDS.values()} & modules


def test_a_command_imports_no_feature_before_it_runs() -> None:
    code = "import sys, compat.cli.matrix; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = [name for name in done.stdout.split() if name.startswith("compat.")]
    assert "compat.cli.matrix" in modules
    assert not {"compat.matrix", "compat.project", "compat.toolchains"} & set(modules)
    assert len(modules) <= 120


def test_no_help_is_left_of_a_command_that_is_gone() -> None:
    kept = {path.stem for path in (Path(__file__).parent / "golden" / "help").iterdir()}
    assert kept == {"compat", *(name.replace(" ", "-") for name in COMMANDS)}


def test_the_version_tells_what_it_runs_on() -> None:
    text = said("--version")
    assert text.startswith(f"compat {__version__} (")
    assert platform.python_version() in text
    assert platform.platform() in text
    assert text.count("\n") == 1
