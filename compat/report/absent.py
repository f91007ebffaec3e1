"""Which kernels versions of a library do not have as kernel files declare them, in a sentence for each version."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from compat.config.at_version import Absent
from compat.config.libraries import Library

_NAMED = 8
"""Kernels that a sentence names."""


def absences(absent: Iterable[Absent]) -> Iterator[str]:
    """The sentences."""
    found: dict[Library, list[str]] = defaultdict(list)
    for each in absent:
        found[each.library].append(each.kernel)
    for library, kernels in found.items():
        listed = ", ".join(kernels[:_NAMED]) + (f" and {len(kernels) - _NAMED:,} more" if len(kernels) > _NAMED else "")
        yield f"{library.name} {library.version} does not have these kernels as they are declared, and they are not tried: {listed}"
