"""What is unexpected as GitHub shows it beside the source: workflow commands, which its runner reads in the output of a step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compat.report.compact import counted
from compat.report.findings import Finding

MOST = 10
"""GitHub shows no more errors of one step."""
_IN_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_DATA, ":": "%3A", ",": "%2C"}


def workflow_commands(found: Sequence[Finding]) -> Iterator[str]:
    """A line for each finding, ten at most, and then one that says how many more there are."""
    yield from map(_annotation, found[:MOST])
    if (more := len(found) - MOST) > 0:
        yield _command("notice", {"title": "triton-compat"}, f"{counted(more, 'more finding')}; the report has all of them")


def _annotation(finding: Finding) -> str:
    place = {"file": finding.path, "line": finding.line if finding.path else None}
    properties = {**{name: str(value) for name, value in place.items() if value is not None}, "title": finding.title}
    return _command("error", properties, "\n".join(finding.body))


def _command(name: str, properties: dict[str, str], data: str) -> str:
    """A workflow command: what separates its parts, and ends it, is escaped in their text."""
    given = ",".join(f"{key}={_escaped(value, _IN_PROPERTY)}" for key, value in properties.items())
    return f"::{name} {given}::{_escaped(data, _IN_DATA)}"


def _escaped(text: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in text)
