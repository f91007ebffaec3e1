"""The numbers among what a toolchain tells of a build."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def numbers_of(metrics: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, float]]:
    """The numbers among metrics, by their names; of what is in a table there, with a point: ``artifacts.ptx``."""
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from numbers_of(value, f"{within}{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{within}{name}", value
