"""``expect`` in kernel files: what is known to fail."""

from __future__ import annotations

from collections.abc import Collection

from compat import toolchains
from compat.config.named_tables import matching
from compat.config.toml_reader import Table, did_you_mean
from compat.model import Expectation, Status

_UNEXPECTABLE = tuple(status for status in Status if not status.is_answer)
"""Statuses that say nothing about a kernel cannot be expected of one."""


def expectation_of(table: Table, cases: Collection[str], failure_classes: Collection[str]) -> Expectation:
    """The failure that a table declares of a kernel with these cases; of any class where none are known. Raises ConfigError."""
    table.only("releases", "targets", "cases", "status", "class", "reason", "strict")
    status, failure_class = table.string("status"), table.optional("class")
    known = [str(status) for status in Status if status not in _UNEXPECTABLE]
    if status not in known:
        hint = did_you_mean(status, known) or f"One of: {', '.join(known)}."
        table.fail(f"{status!r} is not a status that can be expected", "status", hint=hint)
    if failure_class is not None and failure_classes and failure_class not in failure_classes:
        hint = did_you_mean(failure_class, failure_classes) or f"One of: {', '.join(sorted(failure_classes))}."
        table.fail(f"{failure_class!r} is not a failure class", "class", hint=hint)
    matching(table, "cases", cases)
    return Expectation(
        status=Status(status),
        failure_class=failure_class,
        releases=table.specifier("releases"),
        targets=tuple(each for word in table.strings("targets", ("*",)) for each in toolchains.targets_of_gpu(word) or (word,)),
        cases=table.strings("cases", ("*",)),
        reason=table.string("reason", ""),
        strict=table.expect(table.data.get("strict", True), bool, "strict"),
    )
