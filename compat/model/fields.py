"""Metadata and types for the fields of records as data, and values with notes.

:mod:`compat.model.codec` reads the metadata and the types.
"""

from __future__ import annotations

from typing import Annotated, Any

from attrs import frozen
from packaging.version import Version

KEY = "key"
"""Metadata of a field: its key in data, if that cannot be a name in Python, such as ``class``."""
ABSENT = "absent"
"""Metadata of a field, with ``True``: it is not in the data, and reading gives it its default."""
OPTIONAL = "optional"
"""Metadata of a field, with ``True``: the data omit the field if it has its default, and omit the
defaults inside it.
"""


def rules(**keywords: object) -> tuple[tuple[str, object], ...]:
    """Keywords of JSON Schema, as an annotation of a type."""
    return tuple(keywords.items())


DIGITS = 4
"""Decimal places of seconds in the data: a tenth of a millisecond."""

Text = Annotated[str, rules(minLength=1)]
Count = Annotated[int, rules(minimum=0)]
Amount = Annotated[float, rules(minimum=0)]
Seconds = Annotated[float, rules(minimum=0, description="Rounded to a tenth of a millisecond.")]
"""Rounded in the data, because timings are no more precise than that."""
VersionText = Annotated[str, rules(minLength=1), Version]
"""A string that is a valid version."""
Releases = Annotated[tuple[Text, ...], rules(uniqueItems=True)]


@frozen
class CommentedValue:
    """A value of an entry, and the comment that follows it.

    A table with such a value gets a heading wherever it can have one.
    """

    value: Any
    note: str
