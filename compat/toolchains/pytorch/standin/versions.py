"""Comparison of versions (PEP 440), for trees that import a missing ``packaging.version``."""

from __future__ import annotations

import re
from functools import total_ordering

from .opaque import require_known

_FORM = re.compile(
    r"\s*v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<pre>alpha|beta|preview|pre|a|b|c|rc)[-_.]?(?P<pre_number>\d*))?"
    r"(?P<post>-(?P<post_bare>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_number>\d*))?"
    r"(?P<dev>[-_.]?dev[-_.]?(?P<dev_number>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*",
    re.IGNORECASE,
)
_PRE = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
_LEAST, _GREATEST = (-1,), (1,)


class InvalidVersion(ValueError):
    """A string that is not a valid version."""


@total_ordering
class Version:
    """A version, ordered by the rules of PEP 440."""

    def __init__(self, version: str) -> None:
        match = _FORM.fullmatch(require_known(version))
        if match is None:
            raise InvalidVersion("Invalid version: %r" % (version,))
        self._text = version.strip().lower().lstrip("v")
        self.epoch = int(match["epoch"] or 0)
        self.release = tuple(int(part) for part in match["release"].split("."))
        kind = (match["pre"] or "").lower()
        self.pre = (_PRE.get(kind, kind), int(match["pre_number"] or 0)) if kind else None
        self.post = int(match["post_bare"] or match["post_number"] or 0) if match["post"] else None
        self.dev = int(match["dev_number"] or 0) if match["dev"] else None
        self.local = (
            match["local"].lower().replace("-", ".").replace("_", ".") if match["local"] else None
        )

    @property
    def public(self) -> str:
        """The version without its local part."""
        return self._text.split("+", 1)[0]

    @property
    def base_version(self) -> str:
        """The numbers of the release alone."""
        return ".".join(map(str, self.release))

    @property
    def major(self) -> int:
        """The first number."""
        return self.release[0]

    @property
    def minor(self) -> int:
        """The second number."""
        return self.release[1] if len(self.release) > 1 else 0

    @property
    def micro(self) -> int:
        """The third number."""
        return self.release[2] if len(self.release) > 2 else 0

    @property
    def is_prerelease(self) -> bool:
        """Whether the version precedes its final release."""
        return self.pre is not None or self.dev is not None

    @property
    def is_postrelease(self) -> bool:
        """Whether the version follows its final release."""
        return self.post is not None

    @property
    def is_devrelease(self) -> bool:
        """Whether the version is a development release."""
        return self.dev is not None

    @property
    def _key(self) -> tuple[object, ...]:
        release = self.release
        while len(release) > 1 and release[-1] == 0:
            release = release[:-1]
        if self.pre is None:
            pre: tuple[object, ...] = (
                _LEAST if self.post is None and self.dev is not None else _GREATEST
            )
        else:
            pre = (0, self.pre)
        post = _LEAST if self.post is None else (0, self.post)
        dev = _GREATEST if self.dev is None else (0, self.dev)
        parts = self.local.split(".") if self.local else []
        local = tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts)
        return self.epoch, release, pre, post, dev, (0, local) if self.local else _LEAST

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, Version) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._key < other._key if isinstance(other, Version) else NotImplemented

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "<Version(%r)>" % self._text


def parse(version: str) -> Version:
    """Parse a version. Raises InvalidVersion if the string is not valid."""
    return Version(version)
