"""Whether what was built computes right numbers, and how long it takes: facts beside what became of the compile."""

from __future__ import annotations

from attrs import field, frozen

from compat.model.fields import ABSENT, OPTIONAL, Amount, Count
from compat.model.status import Status

BAD_NUMBERS = frozenset({Status.WRONG, Status.UNSTABLE, Status.FAULTED, Status.LAUNCH_REFUSED})
"""What only running what was built can show."""


@frozen(kw_only=True)
class Sample:
    """Some elements of a tensor that a kernel changed, the same ones wherever it is run."""

    name: str
    """Of the argument."""
    type: str
    """PyTorch's name of the element type."""
    elements: int
    values: tuple[float | int, ...]
    written: tuple[bool, ...]
    """Which of them were changed."""


@frozen(kw_only=True)
class Check:
    """What came of running a kernel on its problems and comparing what it computed with their references."""

    status: Status
    """``ok`` where every output of every problem is within its tolerance; ``wrong``, ``unstable``, ``faulted``, ``launch_refused``,
    ``timed_out``, ``crashed``, ``rejected``; ``unsupported`` where what it was run with is known to compute wrong numbers itself;
    ``lost`` where nothing is known."""
    max_abs: Amount | None = None
    """The largest absolute error of all outputs that were compared; ``None`` where there is none, or it is no finite number."""
    max_rel: Amount | None = None
    """The largest error relative to the reference."""
    where: str = ""
    """The place of the worst error: problem, output and index; or where it failed."""
    reason: str = ""
    """Why it is not ``ok``, in a sentence."""
    launches: Count | None = field(default=None, metadata={OPTIONAL: False})
    """How many launches were compared; ``None`` where it was not launched on a GPU."""
    differing: Count | None = field(default=None, metadata={OPTIONAL: False})
    """How many of them computed other bits than the first."""
    device: str | None = field(default=None, metadata={OPTIONAL: False})
    """The GPU, as it calls itself."""
    worker: str | None = field(default=None, metadata={OPTIONAL: True})
    """The worker of a cluster whose GPU that is; ``None`` where it was launched by hand or on this machine."""
    samples: tuple[Sample, ...] = field(default=(), metadata={ABSENT: True})
    """What a kernel changed of which no reference is known; empty where one is."""

    @property
    def right(self) -> bool | None:
        """Whether the numbers are right; ``None`` where this does not tell."""
        if self.status in (Status.UNSUPPORTED, Status.LOST):
            return None
        return self.status is Status.OK


@frozen(kw_only=True)
class Numbers:
    """What is known of the numbers that a cell computes; ``None`` for what was not run."""

    interpreter: Check | None = None
    """In the interpreter of its release, on the CPU, which says something of the kernel and nothing of the code that was built."""
    gpu: Check | None = None
    """What was built, on a GPU."""

    @property
    def checks(self) -> tuple[Check, ...]:
        """Those that there are."""
        return tuple(check for check in (self.interpreter, self.gpu) if check is not None)

    @property
    def right(self) -> bool | None:
        """Whether they are right as far as they were checked; ``None`` where nothing tells."""
        told = [check.right for check in self.checks if check.right is not None]
        return all(told) if told else None

    @property
    def trouble(self) -> Check | None:
        """The check that says that they are not right, or that gave no answer; of several the one on a GPU."""
        found = [check for check in self.checks if check.right is False or check.status is Status.LOST]
        return found[-1] if found else None

    @property
    def decisive(self) -> Check | None:
        """The check that says most: one that is bad, else that on a GPU, else that in the interpreter."""
        bad = [check for check in self.checks if check.right is False]
        told = [check for check in self.checks if check.right is not None]
        return next(reversed(bad or told or self.checks), None)


NOT_RUN = Numbers()


@frozen(kw_only=True)
class Latency:
    """How long one launch takes on a GPU."""

    us: Amount
    """Microseconds, the median."""
    spread: Amount
    """Half of the range that the middle half of the launches lies in, in microseconds."""
    baseline_us: Amount | None = None
    """Microseconds of what the problem names to compare with, on the same device."""
    ratio: Amount | None = None
    """``us`` as a multiple of ``baseline_us``."""
    device: str = ""
    """The GPU, as it calls itself."""
    worker: str | None = field(default=None, metadata={OPTIONAL: True})
    """The worker of a cluster whose GPU that is; ``None`` where it was launched by hand or on this machine."""
