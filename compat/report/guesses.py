"""Which kernels have arguments that nobody has written down, in a sentence: results hold for what was guessed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from compat.model import Specialization

_NAMED = 3
"""Sources that a sentence names."""


def guesses(specs: Iterable[Specialization]) -> str | None:
    """Which sources the kernels are in whose arguments are guessed, and what writes them down; ``None`` without any."""
    guessed = [spec for spec in specs if spec.guessed]
    libraries = dict.fromkeys(spec.package for spec in guessed if spec.package)
    if libraries:
        said = f"the arguments of the kernels of {', '.join(libraries)} are guessed, one set for each kernel"
        return f"{said}, and others may give other results; `compat capture --live` records those of real launches"
    sources = list(dict.fromkeys(spec.origin.partition("::")[0] for spec in guessed))
    if not sources:
        return None
    words = sources[0] if len(sources) == 1 else f"{len(sources)} sources"
    again = shlex.join(["compat", "init", *(sources if len(sources) <= _NAMED else ())])
    said = f"the arguments of the kernels in {words} are guessed, and others may give other results"
    return f"{said}; `{again}` writes them down to be edited"
