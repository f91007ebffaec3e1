"""The examples in docs/api.md run unchanged, and print what the page says.

The names on the page exist.
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
from tests.together import for_each

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs" / "api.md"
RELEASES = ("triton-3.8.0", "triton-3.9.0")
_BLOCK = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```',
    re.MULTILINE | re.DOTALL,
)
BLOCKS = list(_BLOCK.finditer(DOCS.read_text(encoding="utf-8")))
SHOW = {"list", "envs", "workers"}
"""Commands that clean up, or only list what exists."""
EXAMPLES = [
    (block["text"], after["text"])
    for block, after in pairwise(BLOCKS)
    if block["language"] == "python" and not block["title"]
]


@pytest.fixture
def project(
    tmp_path: Path, built: Callable[[str], BuiltEnv], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The project that the page describes, with envs that this project also has."""
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


def test_each_example_is_followed_by_its_output() -> None:
    languages = [block["language"] for block in BLOCKS if not block["title"]]
    assert languages == ["python", "text"] * len(EXAMPLES)


@for_each("name", re.findall(r"^::: (\S+)$", DOCS.read_text(), re.MULTILINE))
def test_each_documented_name_exists_and_has_a_docstring(name: str) -> None:
    assert pkgutil.resolve_name(name).__doc__


def test_all_arguments_of_a_function_are_described() -> None:
    """``Args:`` lists every parameter.

    The text of a function with one or two parameters may describe them instead.
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


def test_every_command_with_a_result_has_a_function() -> None:
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
