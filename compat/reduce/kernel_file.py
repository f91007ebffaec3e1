"""A candidate as a kernel file, so that every command takes what a reduction leaves behind."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compat.model import Expectation
from compat.reduce.candidate import Candidate

VARIANT = "reduced"
"""What the only variant in such a file is called."""


def kernel_file(
    candidate: Candidate, *, kernel: str, case: str, source: str, summary: str, expectations: Sequence[Expectation]
) -> str:
    """The TOML of a kernel file with one variant and one case. ``source`` is the name of the Python file beside it."""
    hints = {"divisible_by_16": list(candidate.divisible_by_16), "equal_to_1": list(candidate.equal_to_1)}
    blocks = [
        _table("", {"schema": 1, "kernel": kernel, "source": source, "summary": summary}),
        _table("[signature]", candidate.signature),
        _table("[constexprs]", candidate.constexprs),
        _table("[hints]", {name: names for name, names in hints.items() if names}),
        _table("[options]", candidate.options),
        _table("[[case]]", {"name": case}),
        _table("[[variant]]", {"name": VARIANT, "function": candidate.function}),
        *(_table("[[variant.expect]]", dict(_facts(expectation))) for expectation in expectations),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _facts(expectation: Expectation) -> Iterator[tuple[str, Any]]:
    if str(expectation.releases):
        yield "releases", str(expectation.releases)
    if expectation.targets != ("*",):
        yield "targets", list(expectation.targets)
    yield "status", str(expectation.status)
    if expectation.kind:
        yield "class", expectation.kind
    if expectation.reason:
        yield "reason", expectation.reason


def _table(heading: str, values: Mapping[str, Any]) -> str:
    lines = [f"{name} = {_value(value)}" for name, value in values.items()]
    return "\n".join([heading, *lines] if heading else lines) if lines else ""


def _value(value: object) -> str:
    if value is None:
        return "{ none = true }"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_value(each)}" for name, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(each) for each in value) + "]"
    if isinstance(value, float):
        return repr(value)  # inf and nan are written alike in both languages
    return json.dumps(value, ensure_ascii=False)
