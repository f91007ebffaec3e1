"""Kernel files guessed from Python sources, which are read as text and never imported.

In: the path of a source. Out: a :class:`GuessedSource` (:func:`guess_sources`): what a kernel file
says of each of its kernels, with every guess marked as such, and which of its jit functions no
kernel file can have. :func:`kernel_file_text` makes a kernel file of it, for
:mod:`compat.config.kernel_files` to read like any other.

Each toolchain's language finds and guesses its own kernels
(:attr:`compat.toolchains.base.Language.guessing`). Nothing of the source runs.

All of it is imported when it is asked for: most runs have kernel files, and guess nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compat.guess.guessing import GuessedSource, guess_sources, kernel_file_text

__all__ = ["GuessedSource", "guess_sources", "kernel_file_text"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from compat.guess import guessing

        return getattr(guessing, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
