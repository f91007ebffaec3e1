"""Artifacts: bytes under a name that begins with the hash of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from attrs import define, field

from compat.model import Evidence

_DIGITS = 16
"""Hexadecimal digits of its SHA-256 that the name of an artifact begins with."""


def name_of(suffix: str, data: bytes) -> str:
    """The name of an artifact."""
    return hashlib.sha256(data).hexdigest()[:_DIGITS] + suffix


def has_name(name: str, data: bytes) -> bool:
    """Whether this is the artifact of that name, which is a name and no path."""
    return has_digest(name, hashlib.sha256(data).hexdigest())


def has_digest(name: str, digest: str) -> bool:
    """Whether an artifact with this SHA-256 may have that name, which is a name and no path."""
    return "/" not in name and name.startswith(digest[:_DIGITS])


@define
class ArtifactBuffer:
    """Artifacts in memory, on their way to a store."""

    _data: dict[str, bytes] = field(factory=dict)

    def keep(self, suffix: str, data: bytes) -> str:
        """Keep an artifact and return its name."""
        name = name_of(suffix, data)
        self._data[name] = data
        return name

    def of(self, attempts: Iterable[Evidence]) -> dict[str, bytes]:
        """Those that these attempts name."""
        names = {name for attempt in attempts for name in (*attempt.kept.values(), attempt.diagnosis.ir) if name is not None}
        return {name: self._data[name] for name in sorted(names) if name in self._data}
