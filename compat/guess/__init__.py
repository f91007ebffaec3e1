"""Kernel files guessed from Python sources, which are read as text and never imported.

In: the path of a source. Out: a :class:`GuessedSource` (:func:`guess_sources`): the tables of a
kernel file for each kernel, with every guess marked, and the jit functions that no kernel file can
have. :func:`kernel_file_text` turns it into a kernel file, which
:mod:`compat.config.kernel_files` reads like any other.

Each toolchain's language finds its own kernels and guesses their arguments
(:attr:`compat.toolchains.base.Language.guessing`). No code of the source runs.

The submodules are imported on first use, because most runs have kernel files and guess nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compat.guess.guessing import GuessedSource, guess_sources, kernel_file_text

__all__ = ["GuessedSource", "guess_sources", "kernel_file_text"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from compat.guess import guessing

        return getattr(guessing, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
