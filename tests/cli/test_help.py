"""The text of ``--help`` of every command.

``COMPAT_REGOLD=1`` writes the golden files anew. ``docs/commands.md`` links to them.
"""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from compat import __version__, errors
from compat.cli import INTERRUPTED, commands
from compat.cli.commands import main
from compat.cli.help import TASKS
from tests.together import for_each

GOLDEN = Path(__file__).parent / "golden" / "help"
PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")


def every_command() -> Iterator[str]:
    """The commands and their subcommands, such as ``envs list``."""
    context = click.Context(main)
    for name in main.list_commands(context):
        yield name
        command = main.get_command(context, name)
        yield from (
            f"{name} {word}"
            for word in (command.commands if isinstance(command, click.Group) else ())
        )


COMMANDS = tuple(every_command())


def help_text(*arguments: str) -> str:
    """The output of a command that succeeds, at a width of 80."""
    done = CliRunner().invoke(main, arguments, prog_name="compat", terminal_width=80)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_help_of_compat_equals_its_golden_file(golden: Callable[[str, str], None]) -> None:
    golden("help/compat.txt", help_text("--help"))


@for_each("name", COMMANDS)
def test_the_help_of_a_command_equals_its_golden_file(
    name: str, golden: Callable[[str, str], None]
) -> None:
    text = help_text(*name.split(), "--help")
    assert max(map(len, text.splitlines())) <= 80
    golden(f"help/{name.replace(' ', '-')}.txt", text)


def test_the_help_of_compat_imports_no_command() -> None:
    code = (
        "import sys; from compat.cli.commands import main; main(['--help'], standalone_mode=False);"
        " print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stdout.splitlines()[-1].split())
    assert "compat.cli.commands" in modules
    assert not {f"compat.cli.{module}" for module, _ in commands.COMMANDS.values()} & modules


def test_a_command_does_not_import_its_feature_before_it_runs() -> None:
    code = "import sys, compat.cli.matrix; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = [name for name in done.stdout.split() if name.startswith("compat.")]
    assert "compat.cli.matrix" in modules
    assert not {"compat.matrix", "compat.project", "compat.toolchains"} & set(modules)
    assert len(modules) <= 120


def test_every_golden_file_belongs_to_a_command() -> None:
    names = {path.stem for path in GOLDEN.iterdir()}
    assert names == {"compat", *(name.replace(" ", "-") for name in COMMANDS)}


def test_the_version_names_python_and_the_platform() -> None:
    text = help_text("--version")
    assert text.startswith(f"compat {__version__} (")
    assert platform.python_version() in text
    assert platform.platform() in text
    assert text.count("\n") == 1


def test_the_page_of_commands_links_to_the_help_of_every_command() -> None:
    linked = re.findall(
        r"^\[`compat ?(.*?) ?--help`\]\(\.\./tests/cli/golden/help/(.+)\.txt\)$", PAGE, re.MULTILINE
    )
    assert linked == [("", "compat"), *((name, name.replace(" ", "-")) for name in in_tasks())]
    assert re.findall(r"^###? `compat (.+)`$", PAGE, re.MULTILINE) == list(in_tasks())


def in_tasks() -> Iterator[str]:
    """The commands in the order of ``compat --help``, each with its subcommands."""
    for name in (name for names in TASKS.values() for name in names):
        yield from (command for command in COMMANDS if command.split()[0] == name)


def test_the_page_of_commands_lists_every_exit_code() -> None:
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)}
    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.CompatError)
    ]
    assert {kind.exit_code for kind in kinds} | {0, 1, INTERRUPTED} == listed


@for_each("name", COMMANDS)
def test_every_option_has_help(name: str) -> None:
    command: click.Command = main
    for word in name.split():
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word) or main
    assert all(option.help for option in command.params if isinstance(option, click.Option))
