"""What became of a cell, in a word, and what was declared that it would be."""

from __future__ import annotations

from enum import StrEnum
from fnmatch import fnmatchcase

from attrs import field, frozen
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compat.model.fields import ABSENT, KEY


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


@frozen(kw_only=True)
class Expectation:
    """A declared failure, as a test suite declares an xfail. Empty globs match everything."""

    status: Status
    failure_class: str | None = field(default=None, metadata={KEY: "class"})
    """The failure class, where the declaration is that precise."""
    releases: SpecifierSet = field(factory=SpecifierSet, metadata={ABSENT: True})
    targets: tuple[str, ...] = field(default=("*",), metadata={ABSENT: True})
    cases: tuple[str, ...] = field(default=("*",), metadata={ABSENT: True})
    reason: str = ""
    strict: bool = True
    """Whether a cell that is ok is unexpected, as an unexpected pass is in a test suite; if not, it may fail so and need not."""

    def covers(self, *, release: Version, target: str, case: str) -> bool:
        """Whether this declaration speaks about that cell."""
        return (
            self.releases.contains(release, prereleases=True)
            and any(fnmatchcase(target, glob) for glob in self.targets)
            and any(fnmatchcase(case, glob) for glob in self.cases)
        )
