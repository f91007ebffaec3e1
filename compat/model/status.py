"""The status of a cell, its expectation, and the checks of the numbers that it computes."""

from __future__ import annotations

from enum import StrEnum
from fnmatch import fnmatchcase

from attrs import field, frozen
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compat.model.fields import ABSENT, KEY, OPTIONAL, Amount, Count


class Status(StrEnum):
    """How a cell ended."""

    OK = "ok"
    REJECTED = "rejected"
    """The compiler rejected it with a diagnostic."""
    CRASHED = "crashed"
    """The compiler crashed, or reported an internal error (an assertion, a failed verifier)."""
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    UNSUPPORTED = "unsupported"
    """This toolchain cannot build for this target, with any kernel."""
    WRONG = "wrong"
    """It compiled, and computed wrong numbers."""
    UNSTABLE = "unstable"
    """It compiled, and launches with the same arguments computed different numbers. Some of them
    may be right.
    """
    FAULTED = "faulted"
    """It compiled, and a launch ended with an error of the GPU, such as an access outside of its
    buffers.
    """
    LAUNCH_REFUSED = "launch_refused"
    """It compiled, and the GPU's driver refused to launch it."""
    ENV_BROKEN = "env_broken"
    """The env could not be installed, or cannot import its toolchain."""
    SOURCE_BROKEN = "source_broken"
    """The kernel cannot be loaded from its file in this env, and the toolchain is not the reason: a
    package that the file needs is absent, or the name does not mean a kernel.
    """
    LOST = "lost"
    """No answer arrived. This never counts as ``ok``."""

    @property
    def is_answer(self) -> bool:
        """Whether it says something about the kernel, and not only about the environment."""
        return self not in (Status.ENV_BROKEN, Status.SOURCE_BROKEN, Status.LOST)


@frozen(kw_only=True)
class Expectation:
    """A declared failure, as a test suite declares an xfail. Empty globs match everything."""

    status: Status
    failure_class: str | None = field(default=None, metadata={KEY: "class"})
    """The failure class. ``None``: any."""
    releases: SpecifierSet = field(factory=SpecifierSet, metadata={ABSENT: True})
    targets: tuple[str, ...] = field(default=("*",), metadata={ABSENT: True})
    cases: tuple[str, ...] = field(default=("*",), metadata={ABSENT: True})
    reason: str = ""
    strict: bool = True
    """Whether an ``ok`` cell is unexpected, like an unexpected pass in a test suite. If not, the
    cell may fail as declared or be ``ok``.
    """

    def covers(self, *, release: Version, target: str, case: str) -> bool:
        """Whether this declaration applies to a cell."""
        return (
            self.releases.contains(release, prereleases=True)
            and any(fnmatchcase(target, glob) for glob in self.targets)
            and any(fnmatchcase(case, glob) for glob in self.cases)
        )


BAD_NUMBERS = frozenset({Status.WRONG, Status.UNSTABLE, Status.FAULTED, Status.LAUNCH_REFUSED})
"""The statuses that only a run of the built code can have."""


@frozen(kw_only=True)
class Sample:
    """Some elements of a tensor that a kernel changed, the same ones in every run."""

    name: str
    """The name of the argument."""
    type: str
    """PyTorch's name of the element type."""
    elements: int
    values: tuple[float | int, ...]
    written: tuple[bool, ...]
    """Which of them were changed."""


@frozen(kw_only=True)
class Check:
    """The result of running a kernel on its problems and comparing its numbers with references."""

    status: Status
    """``ok`` if every output of every problem is within its tolerance. ``wrong``, ``unstable``,
    ``faulted``, ``launch_refused``, ``timed_out``, ``crashed`` and ``rejected`` are failures.
    ``unsupported`` means that the interpreter or device itself computes this wrong, and ``lost``
    that there is no answer.
    """
    max_abs: Amount | None = None
    """The largest absolute error of all compared outputs; ``None`` without one, or if it is not
    finite.
    """
    max_rel: Amount | None = None
    """The largest error relative to the reference."""
    where: str = ""
    """The place of the worst error (problem, output and index), or of the failure."""
    reason: str = ""
    """Why it is not ``ok``, in a sentence."""
    launches: Count | None = field(default=None, metadata={OPTIONAL: False})
    """The number of compared launches; ``None`` without a launch on a GPU."""
    differing: Count | None = field(default=None, metadata={OPTIONAL: False})
    """The number of compared launches that computed other bits than the first."""
    device: str | None = field(default=None, metadata={OPTIONAL: False})
    """The name that the GPU reports."""
    worker: str | None = field(default=None, metadata={OPTIONAL: True})
    """The worker of a cluster with that GPU; ``None`` for a launch by hand or on this machine."""
    samples: tuple[Sample, ...] = field(default=(), metadata={ABSENT: True})
    """The changed elements of a kernel without references; empty with references."""

    @property
    def right(self) -> bool | None:
        """Whether the numbers are right; ``None`` if the check does not show it."""
        if self.status in (Status.UNSUPPORTED, Status.LOST):
            return None
        return self.status is Status.OK


@frozen(kw_only=True)
class Numbers:
    """The checks of the numbers that a cell computes; ``None`` if it was not run."""

    interpreter: Check | None = None
    """The check in the release's interpreter, on the CPU. It covers the kernel's source, not the
    compiled code.
    """
    gpu: Check | None = None
    """The check of the compiled code, on a GPU."""

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks that were made."""
        return tuple(check for check in (self.interpreter, self.gpu) if check is not None)

    @property
    def right(self) -> bool | None:
        """Whether all numbers are right that were checked; ``None`` if no check shows it."""
        verdicts = [check.right for check in self.checks if check.right is not None]
        return all(verdicts) if verdicts else None

    @property
    def trouble(self) -> Check | None:
        """The check with wrong numbers or without an answer; of two, the one on a GPU."""
        bad_checks = [
            check for check in self.checks if check.right is False or check.status is Status.LOST
        ]
        return bad_checks[-1] if bad_checks else None

    @property
    def decisive(self) -> Check | None:
        """The most important check: a bad one, else that on a GPU, else that in the interpreter."""
        bad = [check for check in self.checks if check.right is False]
        decided_checks = [check for check in self.checks if check.right is not None]
        return next(reversed(bad or decided_checks or self.checks), None)


NOT_RUN = Numbers()


@frozen(kw_only=True)
class Latency:
    """How long one launch takes on a GPU."""

    us: Amount
    """Microseconds, the median."""
    spread: Amount
    """Half of the interquartile range of the launches, in microseconds."""
    baseline_us: Amount | None = None
    """Microseconds of the problem's baseline, on the same device."""
    ratio: Amount | None = None
    """``us`` as a multiple of ``baseline_us``."""
    device: str = ""
    """The name that the GPU reports."""
    worker: str | None = field(default=None, metadata={OPTIONAL: True})
    """The worker of a cluster with that GPU; ``None`` for a launch by hand or on this machine."""
