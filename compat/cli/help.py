"""The form of ``--help``: commands by task, and the options of each in sections.

A command needs only its docstring and its options for this. If the docstring has a line that begins
with ``$``, the help shows it as an example.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import TypeVar

import click

TASKS: Mapping[str, Sequence[str]] = {
    "Describe kernels": ("init", "capture"),
    "Compile and report": ("matrix", "list", "explain", "report", "merge", "diff"),
    "Find out why": ("bisect", "check", "api", "pairs"),
    "Fix and report upstream": ("fix", "reduce", "repro"),
    "Test the compiler": ("hunt", "board"),
    "Launch on a GPU": ("build", "launch", "tune"),
    "Choose a variant in a library": ("guard",),
    "Manage environments": ("envs", "workers"),
}
"""A task of the reader → the commands for it."""

_CELLS = (
    "matrix_path",
    "envs",
    "targets",
    "kernels",
    "variants",
    "cases",
    "packages",
    "others",
    "spec",
    "shard",
)
_COMPILING = ("executor", "jobs", "deadline", "again", "no_build")
_GPU = ("launched", "is_launching", "python")
_OUTPUT = (
    "output",
    "answer_file",
    "as_json",
    "html_file",
    "markdown_file",
    "junit_file",
    "code_quality_file",
    "quiet",
    "verbose",
)
_OTHERS = "Options"
_SECTIONS: Mapping[str, Sequence[str]] = {
    _OTHERS: (),
    "Choose cells": _CELLS,
    "Run": _COMPILING,
    "Use a GPU": _GPU,
    "Output": _OUTPUT,
}
"""The heading of a section → the names of its options, in their order; :data:`_OTHERS` takes the
rest.
"""
_RANGE = re.compile(r" *\[x>=?\d+\]$|; x>=?\d+(?=\]$)")
"""The least value of an option, as click adds it: ``[x>=1]``. Help leaves it out, because an error
names it.
"""
_SECTION_OF = {name: heading for heading, names in _SECTIONS.items() for name in names}


_Decorated = TypeVar("_Decorated", bound=Callable[..., object])


def add_options(
    command: _Decorated, options: Sequence[Callable[[_Decorated], _Decorated]]
) -> _Decorated:
    """Give a command options. Its help shows them in this order."""
    return reduce(lambda decorated, option: option(decorated), reversed(options), command)


class Command(click.Command):
    """A command whose help lists its options in sections."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """See click."""
        options = [
            parameter
            for parameter in self.get_params(context)
            if isinstance(parameter, click.Option)
        ]
        listed = [
            (option.name or "", line)
            for option in options
            if (line := option.get_help_record(context))
        ]
        listed = [(name, (form, _RANGE.sub("", text))) for name, (form, text) in listed]
        for heading, lines in in_sections(listed):
            with formatter.section(heading):
                formatter.write_dl(lines)


def in_sections(
    listed: Sequence[tuple[str, tuple[str, str]]],
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Names of options with their lines → headings with their lines, in the order of the help."""
    place = dict(_SECTION_OF)
    if not any(name in _CELLS[1:] for name, _ in listed):
        del place[_CELLS[0]]  # a command that reads matrix.toml and chooses no cells
    for heading, order in _SECTIONS.items():
        inside = [(name, line) for name, line in listed if place.get(name, _OTHERS) == heading]
        if inside:
            inside.sort(key=lambda item: order.index(item[0]) if order else 0)
            yield heading, [line for _, line in inside]
