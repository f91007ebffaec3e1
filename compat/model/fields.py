"""Ways of writing fields of records as data, and values with notes.

They are metadata and types that :mod:`compat.model.codec` reads.
"""

from __future__ import annotations

from typing import Annotated, Any

from attrs import frozen
from packaging.version import Version

KEY = "key"
"""Metadata of a field: the key that it has in data, where Python cannot call it so: ``class``."""
ABSENT = "absent"
"""Metadata of a field, with ``True``: it is not in the data, and has its default when it is
read.
"""
OPTIONAL = "optional"
"""Metadata of a field, with ``True``: the data lack the field, and everything inside it, if it has
its default.
"""


def rules(**keywords: object) -> tuple[tuple[str, object], ...]:
    """Keywords of JSON Schema for a type, to be its annotation."""
    return tuple(keywords.items())


DIGITS = 4
"""Digits that timings are written with: a tenth of a millisecond."""

Text = Annotated[str, rules(minLength=1)]
Count = Annotated[int, rules(minimum=0)]
Amount = Annotated[float, rules(minimum=0)]
Seconds = Annotated[float, rules(minimum=0, description="Rounded to a tenth of a millisecond.")]
"""Rounded in the data, because timings are no more precise than that."""
VersionText = Annotated[str, rules(minLength=1), Version]
"""A string that a version can be made of."""
Releases = Annotated[tuple[Text, ...], rules(uniqueItems=True)]


@frozen
class Noted:
    """A value of an entry, and a comment that stands behind it.

    A table with such a value gets a heading wherever it can have one.
    """

    value: Any
    note: str
