"""Sizes in bytes and lengths of time, as people write and read them."""

from __future__ import annotations

from compat.patterns import lazy_pattern

_SIZE = lazy_pattern(r"(\d+(?:\.\d+)?)\s*(B|KiB|MiB|GiB|TiB)")
_LONGEST = 30
_UNITS = {unit: 1024**power for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB"))}


def size_of_text(text: str) -> int | None:
    """The bytes that ``4 GiB`` means; ``None`` for what is no size, or none above zero."""
    match = _SIZE.fullmatch(text.strip()) if len(text) < _LONGEST else None
    size = int(float(match[1]) * _UNITS[match[2]]) if match else 0
    return size if size > 0 else None


def in_bytes(count: int) -> str:
    """A size that a reader can compare: ``587.1 MB``."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


def in_time(seconds: float) -> str:
    """A length of time as one would say it: ``45 s``, ``3 min``, ``1 h 20 min``."""
    if seconds < 2 * 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 2 * 60 else f"{minutes // 60} h {minutes % 60} min"
