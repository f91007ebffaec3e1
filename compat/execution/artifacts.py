"""Artifacts: bytes under a name that begins with the hash of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from attrs import define, field

from compat.model import Evidence


def name_of(suffix: str, data: bytes) -> str:
    """The name of an artifact."""
    return hashlib.sha256(data).hexdigest()[:16] + suffix


def has_name(name: str, data: bytes) -> bool:
    """Whether this is the artifact of that name, which is a name and no path."""
    return "/" not in name and name.startswith(name_of("", data))


@define
class Artifacts:
    """Artifacts in memory, on their way to a store."""

    _data: dict[str, bytes] = field(factory=dict)

    def keep(self, suffix: str, data: bytes) -> str:
        """Keep an artifact and return its name."""
        name = name_of(suffix, data)
        self._data[name] = data
        return name

    def of(self, attempts: Iterable[Evidence]) -> dict[str, bytes]:
        """Those that these attempts name."""
        names = {name for each in attempts for name in (*each.kept.values(), each.diagnosis.ir) if name is not None}
        return {name: self._data[name] for name in sorted(names) if name in self._data}
