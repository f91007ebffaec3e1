"""Layouts of Gluon as expressions, from which every release makes its own layouts."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ....inside.foreign import Value

_GLUON = "triton.experimental.gluon.language"
_GLUON_PREFIX = "gl."


def layout_of(value: Value) -> str | None:
    """Return the expression that makes a layout of Gluon.

    Returns ``None`` for any other value, and for a layout with unknown contents. Fields with their
    defaults are left out, because each release has other fields.
    """
    if not _is_layout(value):
        return None
    parts = []
    for field in dataclasses.fields(value):
        passed = getattr(value, field.name)
        if field.init and not _is_default(field, passed):
            text = layout_of(passed) if _is_layout(passed) else _literal(passed)
            if text is None:
                return None
            parts.append("%s=%s" % (field.name, text))
    place = _public_place(type(value))
    return "%s%s%s(%s)" % (_GLUON_PREFIX, place, type(value).__name__, ", ".join(parts))


def _is_layout(value: object) -> bool:
    kind = type(value)
    return (
        kind.__module__.startswith(_GLUON)
        and kind.__name__.endswith("Layout")
        and dataclasses.is_dataclass(value)
    )


def _is_default(field: Any, passed: object) -> bool:
    """Whether a field can be left out, because the release then fills in the same value.

    It has its default, or describes one CTA.
    """
    if field.name == "rank":  # without a default up to 3.5
        return False
    if field.default is not dataclasses.MISSING:
        return passed == field.default or _is_one_cta(field.name, passed)
    return field.default_factory is not dataclasses.MISSING and passed == field.default_factory()


def _is_one_cta(name: str, passed: Any) -> bool:
    """Whether a field describes one CTA, which releases fill in if a program leaves it out."""
    if name in ("ctas_per_cga", "cta_split_num"):
        return all(count == 1 for count in passed)
    return name == "cta_order" and list(passed) == list(reversed(range(len(passed))))


def _public_place(kind: type) -> str:
    """Return the place of a class in Gluon's language as a prefix, such as ``amd.``."""
    parts = [part for part in kind.__module__[len(_GLUON) + 1 :].split(".") if part]
    public = [part for part in parts if not part.startswith("_")]
    return "".join(part + "." for part in public)


def _literal(passed: Value) -> str | None:
    """Return a number, a string, a dtype, or lists of these, as source text, or ``None``."""
    if isinstance(passed, (list, tuple)):
        inner = [_literal(element) for element in passed]
        return None if None in inner else "[%s]" % ", ".join(map(str, inner))
    kind = type(passed)
    if kind.__name__ == "dtype" and kind.__module__.startswith("triton.language"):
        return "%s%s" % (_GLUON_PREFIX, _NAMES.get(str(passed), str(passed)))
    return repr(passed) if passed is None or kind in (bool, int, float, str) else None


_NAMES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
"""Element type in signatures → its name in the language, for accumulators of MFMA."""
