"""Which kernels are compiled with nothing known of their arguments, in a sentence: no launch is like that."""

from __future__ import annotations

from collections.abc import Iterable

from compat import signatures
from compat.model import Specialization
from compat.report.compact import listed

BARE = (
    "nothing is known of any argument, not even that a tensor is aligned, and no launch is like that: compilers choose other "
    "layouts and pipeline less"
)
_NAMED = 3
"""Kernels that a sentence names."""


def is_bare(spec: Specialization) -> bool:
    """Whether it has tensors, and nothing is said of any argument."""
    pointers = any(kind.startswith("*") for kind in signatures.leaves(spec.compile.signature).values())
    return pointers and not any(spec.compile.hints.values())


def bare(specs: Iterable[Specialization]) -> str | None:
    """Which kernels have cases of which no hint is known, and what to do; ``None`` without any."""
    names = list(dict.fromkeys(spec.kernel for spec in specs if is_bare(spec)))
    if not names:
        return None
    words = listed(names) if len(names) <= _NAMED else f"{len(names)} kernels"
    return f"of {words} {BARE}; say [hints], or what is passed, as a [launch]"
