"""A cell and what came of it as data: the form that ``matrix.json`` has, and that a user's judging program reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from attrs import field, frozen

from compat.model import (
    DEFAULT_FRAMEWORK,
    DEFAULT_TOOLCHAIN,
    Env,
    Expectation,
    Failure,
    Latency,
    Noticed,
    Numbers,
    Result,
    Status,
    StoodIn,
)
from compat.model.codec import record_of, unstructure
from compat.model.fields import KEY, Seconds, Text, rules
from compat.model.json_text import JsonObject

RELEASE = DEFAULT_TOOLCHAIN
"""The key of the installed release in the schema; in data it is the name of the cell's toolchain."""
FRAMEWORK = DEFAULT_FRAMEWORK
"""The key of the framework's release in the schema; in data it is the name of the env's framework."""
_LAUNCH_FACTS = ("launches", "differing", "device")
"""What only a check on a GPU has."""


@frozen(kw_only=True)
class CellRecord:
    """A cell and its result, as JSON has them."""

    id: Text
    kernel: Text
    variant: Text
    case: Text
    guessed: bool
    target: Text
    env: Text
    release: str | None = field(default=None, metadata={KEY: RELEASE})
    framework_release: str | None = field(default=None, metadata={KEY: FRAMEWORK})
    status: Status
    expected: bool
    expectation: Expectation | None
    stage: str
    failure: Failure | None
    flaky: bool
    attempts: tuple[str, ...]
    warnings: tuple[Noticed, ...]
    metrics: Annotated[Mapping[str, Any], rules(description="Open: what a compile tells depends on the toolchain.")]
    stages: Mapping[str, Seconds]
    compile_seconds: Seconds | None
    seconds: Seconds
    cached: bool
    stood_in: StoodIn | None
    numbers: Numbers
    latency: Latency | None


def cell_document(result: Result) -> JsonObject:
    """One cell and what came of it, as JSON values."""
    cell = result.cell
    facts = {"id": cell.id, "target": cell.target.name, "env": cell.env.name}
    record = record_of(CellRecord, result, result.outcome, result.built, cell.spec, **facts)
    document = with_names(unstructure(record), cell.env)
    if interpreter := document["numbers"]["interpreter"]:
        for name in _LAUNCH_FACTS:
            del interpreter[name]
    return document


def with_names(document: JsonObject, env: Env) -> JsonObject:
    """The same with the installed releases under the names of the env's toolchain and its framework."""
    names = {RELEASE: env.toolchain, FRAMEWORK: env.framework}
    return {names.get(key, key): item for key, item in document.items()}
