"""``expect`` in kernel files: what is known to fail."""

from __future__ import annotations

from collections.abc import Collection

from compat import toolchains
from compat.config.named_tables import matching
from compat.config.toml_reader import Table, did_you_mean
from compat.model import Expectation, Status
from compat.toolchains import Toolchain

_UNEXPECTABLE = tuple(status for status in Status if not status.is_answer)
"""Statuses that say nothing about a kernel cannot be expected of one."""


def expectation_of(table: Table, cases: Collection[str], toolchain: Toolchain) -> Expectation:
    """The failure that a table declares of a kernel with these cases, written for this toolchain. Raises ConfigError."""
    table.only("releases", "targets", "cases", "status", "class", "reason", "strict")
    status, failure_class = table.string("status"), table.optional("class")
    statuses = [str(status) for status in Status if status not in _UNEXPECTABLE]
    if status not in statuses:
        hint = did_you_mean(status, statuses) or f"One of: {', '.join(statuses)}."
        table.fail(f"{status!r} is not a status that can be expected", "status", hint=hint)
    failure_classes = toolchain.failures.by_name
    if failure_class is not None and failure_class not in failure_classes:
        hint = did_you_mean(failure_class, failure_classes) or f"One of: {', '.join(sorted(failure_classes))}."
        table.fail(f"{failure_class!r} is not a failure class", "class", hint=hint)
    matching(table, "cases", cases)
    return Expectation(
        status=Status(status),
        failure_class=failure_class,
        releases=table.specifier("releases"),
        targets=tuple(target for word in table.strings("targets", ("*",)) for target in toolchains.targets_of_gpu(word) or (word,)),
        cases=table.strings("cases", ("*",)),
        reason=table.string("reason", ""),
        strict=table.expect(table.data.get("strict", True), bool, "strict"),
    )
