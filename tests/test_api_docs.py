"""The examples in docs/api.md run as they stand, and print what the page says.

What it names is there.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import click
import pytest

from compat.cli.commands import main
from compat.model import BuiltEnv

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs" / "api.md"
RELEASES = ("triton-3.8.0", "triton-3.9.0")
_BLOCK = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```',
    re.MULTILINE | re.DOTALL,
)
BLOCKS = list(_BLOCK.finditer(DOCS.read_text(encoding="utf-8")))
SHOW = {"list", "envs", "workers"}
"""Commands that keep house, or only show what is there."""
EXAMPLES = [
    (block["text"], after["text"])
    for block, after in pairwise(BLOCKS)
    if block["language"] == "python" and not block["title"]
]


@pytest.fixture
def project(
    tmp_path: Path, built: Callable[[str], BuiltEnv], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The project that the page describes, with envs that this one has, too."""
    for block in BLOCKS:
        if block["title"]:
            (tmp_path / block["title"]).write_text(block["text"], encoding="utf-8")
    for name in RELEASES:
        built(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.wheels
@pytest.mark.long
def test_the_examples_print_what_the_page_says(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(EXAMPLES) == 14
    for example, expected in EXAMPLES:
        exec(compile(example, str(DOCS), "exec"), {})
        output = capsys.readouterr()
        assert output.out == expected, example
        assert output.err == "", example


def test_each_example_is_followed_by_what_it_prints() -> None:
    languages = [block["language"] for block in BLOCKS if not block["title"]]
    assert languages == ["python", "text"] * len(EXAMPLES)


@pytest.mark.parametrize("name", re.findall(r"^::: (\S+)$", DOCS.read_text(), re.MULTILINE))
def test_what_is_named_is_there_and_says_what_it_is(name: str) -> None:
    assert pkgutil.resolve_name(name).__doc__


def test_the_arguments_of_a_function_are_all_described() -> None:
    """``Args:`` has every parameter.

    A function with one or two may say in its text what they are.
    """
    for name in re.findall(r"^::: (\S+)$", DOCS.read_text(), re.MULTILINE):
        function = pkgutil.resolve_name(name)
        if not inspect.isfunction(function):
            continue
        text = inspect.getdoc(function) or ""
        section = re.search(r"^Args:\n((?:    .*\n?|\n)*)", text, re.MULTILINE)
        parameters = [*inspect.signature(function).parameters]
        if section:
            assert re.findall(r"^    (\w+):", section[1], re.MULTILINE) == parameters, name
        else:
            assert len(parameters) <= 2, name


def test_every_command_that_finds_something_out_has_its_function() -> None:
    rows = re.findall(
        r"^\| `compat (\w+)` \| \[`(\S+)`\].* \| (.+) \|$",
        DOCS.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    named = {
        name: getattr(import_module(function.rpartition(".")[0]), function.rpartition(".")[2])
        for name, function, _ in rows
    }
    assert all(map(callable, named.values()))
    for name, _, records in rows:
        returned = str(inspect.signature(named[name]).return_annotation)
        assert all(
            record.rpartition(".")[2] in returned for record in re.findall(r"`([\w.]+)`", records)
        ), name
    assert {*named} | SHOW == {*main.list_commands(click.Context(main))}
