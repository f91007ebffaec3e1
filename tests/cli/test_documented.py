"""docs/commands.md tells of every command and every option."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from compat import errors
from compat.cli.answer import answer_options
from compat.cli.commands import main
from compat.cli.selecting import selection_options

DOCS = Path(__file__).parent.parent.parent / "docs" / "commands.md"
COMMANDS = {name: main.get_command(click.Context(main), name) for name in main.list_commands(click.Context(main))}
ANSWERS = {parameter.name for parameter in click.command()(answer_options()(lambda **_: None)).params}
CHOICES = click.command()(selection_options(lambda **_: None)).params
SHARED = ANSWERS | {parameter.name for parameter in CHOICES}


def sections() -> dict[str, str]:
    parts = re.split(r"^## (.+)$", DOCS.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_command_has_its_section(name: str) -> None:
    section = sections()[f"`compat {name}`"]
    command = COMMANDS[name]
    assert command is not None
    inside = dict(command.commands) if isinstance(command, click.Group) else {}
    for word in inside:
        assert f"`compat {name} {word}" in section, f"compat {name} {word} is undocumented"
    for parameter in (each for one in (command, *inside.values()) for each in one.params):
        if isinstance(parameter, click.Option) and parameter.name not in SHARED:
            for spelling in parameter.opts:
                assert f"`{spelling}" in section, f"compat {name} {spelling} is undocumented"
        assert not isinstance(parameter, click.Option) or parameter.help, f"{parameter.name} has no help"


def test_the_shared_options_are_documented() -> None:
    section = sections()["Choosing cells"]
    for choice in CHOICES:
        assert f"`{choice.opts[0]}" in section
    for option in ("`-q`, `--quiet`", "`--json`", "`--output FILE`"):
        assert f"- {option}:" in sections()["Answers"]


def test_no_command_is_made_up() -> None:
    named = {name for title in sections() for name in re.findall(r"`compat (\S+)`", title)}
    assert named == set(COMMANDS)


def test_every_exit_code_is_in_the_table() -> None:
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", DOCS.read_text(), flags=re.MULTILINE)}
    classes = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.CompatError)]
    assert {kind.exit_code for kind in classes} | {0, 1, 130} == listed
