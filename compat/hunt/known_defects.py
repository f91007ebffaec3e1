"""Defects that are known upstream: read their TOML file, and match hits with them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from attrs import field, frozen
from packaging.specifiers import SpecifierSet

from compat.config.toml import Table, quote_text, read_toml
from compat.hunt.oracles import Hit, Oracle

KNOWN_FILE = "known.toml"
"""The usual name of the file, beside ``matrix.toml``."""


@frozen(kw_only=True)
class KnownDefect:
    """A defect that is known upstream."""

    fingerprint: str
    """The fingerprint that an answer shows.

    For wrong numbers it may omit the releases: ``wrong:nan``.
    """
    url: str
    """The link to the upstream report of the defect."""
    note: str = ""
    oracle: Oracle | None = None
    """The oracle of its hits. ``None``: any."""
    releases: SpecifierSet = field(factory=SpecifierSet)
    """The releases that have it."""
    source: re.Pattern[str] | None = None
    """A pattern that the text of every affected kernel contains.

    ``None``: the fingerprint is enough.
    """

    def covers(self, hit: Hit, text: str, fingerprint: str | None = None) -> bool:
        """Whether a hit of a kernel with this text shows the defect.

        ``fingerprint`` is the one that the answer shows. The hit's own fingerprint matches, too.
        """
        release = hit.result.cell.env.release
        return (
            self.fingerprint in (hit.fingerprint, fingerprint)
            and self.oracle in (None, hit.oracle)
            and (release is None or self.releases.contains(release, prereleases=True))
            and (self.source is None or self.source.search(text) is not None)
        )


def known_defect(
    defects: Iterable[KnownDefect], hit: Hit, text: str, fingerprint: str
) -> KnownDefect | None:
    """The first known defect that a hit of a kernel with this text shows."""
    return next((defect for defect in defects if defect.covers(hit, text, fingerprint)), None)


def read_known(path: Path) -> tuple[KnownDefect, ...]:
    """Read a file of known defects.

    Raises:
        compat.errors.ConfigError: The file cannot be read, or is invalid.
    """
    top = read_toml(path)
    top.only("schema", "defect")
    return tuple(_defect(table) for table in top.tables("defect"))


def _defect(table: Table) -> KnownDefect:
    table.only("fingerprint", "url", "note", "oracle", "releases", "source")
    url = table.string("url", example='"https://…"')
    if not url.startswith(("https://", "http://")):
        table.fail(f"expected a link, found {quote_text(url)}", "url")
    return KnownDefect(
        fingerprint=table.string("fingerprint", example='"compiler-assert:893c2f929f05"'),
        url=url,
        note=table.string("note", ""),
        oracle=_oracle(table),
        releases=table.specifier("releases"),
        source=_pattern(table),
    )


def _oracle(table: Table) -> Oracle | None:
    name = table.optional("oracle", example='"crash"')
    if name is not None and name not in list(Oracle):
        hint = f"Choose one of {', '.join(Oracle)}."
        table.fail(f"there is no oracle {quote_text(name)}", "oracle", hint=hint)
    return None if name is None else Oracle(name)


def _pattern(table: Table) -> re.Pattern[str] | None:
    text = table.optional("source")
    try:
        return None if text is None else re.compile(text, re.MULTILINE | re.DOTALL)
    except re.error as error:
        table.fail(f"is not a regular expression: {error}", "source")
