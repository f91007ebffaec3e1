"""What became of a cell, in a word."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """What became of a cell."""

    OK = "ok"
    REJECTED = "rejected"
    """The compiler rejected it with a diagnostic."""
    CRASHED = "crashed"
    """The compiler crashed, or reported an internal error (an assertion, a failed verifier)."""
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    UNSUPPORTED = "unsupported"
    """This toolchain cannot build for this target, whatever the kernel."""
    WRONG = "wrong"
    """It built, and computed wrong numbers."""
    UNSTABLE = "unstable"
    """It built, and not all launches with the same arguments computed the same: some of them may be right."""
    FAULTED = "faulted"
    """It built, and a launch ended with an error of the GPU, such as an access outside of what it was given."""
    LAUNCH_REFUSED = "launch_refused"
    """It built, and the GPU's driver would not launch it."""
    ENV_BROKEN = "env_broken"
    """The env could not be installed, or cannot import its toolchain."""
    SOURCE_BROKEN = "source_broken"
    """The kernel's file cannot be imported in this env, for a reason that is not the toolchain's: a package it needs is absent."""
    LOST = "lost"
    """No answer came. Never to be read as ``ok``."""

    @property
    def is_answer(self) -> bool:
        """Whether this says something about the kernel on this release (and not about what it was tried in)."""
        return self not in (Status.ENV_BROKEN, Status.SOURCE_BROKEN, Status.LOST)
