"""What a bisect found, as text.

In: :class:`compat.bisect.bisecting.Bisection`. Out: text; nothing here prints or writes.

- :mod:`compat.report.bisect.sentences`: the answers in words
- :mod:`compat.report.bisect.terminal`: for a terminal, or a pipe
- :mod:`compat.report.bisect.markdown`: in the shape that an issue tracker wants
- :mod:`compat.report.bisect.document`: for programs
- :mod:`compat.report.bisect.inside`: what was found inside a failure
- :mod:`compat.report.bisect.checked`: what became of cells that were checked
- :mod:`compat.report.bisect.onwards`: how to repeat it, and how to go on from releases to commits
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import field, frozen

from compat.bisect.probes import ReleaseAnswer, told_alike
from compat.report.compact import rectangles

if TYPE_CHECKING:  # it needs the whole of the feature, and most of this room does not
    from compat.bisect.bisecting import Bisection


@frozen(kw_only=True)
class BisectReport:
    """All there is to tell of one bisect."""

    answers: tuple[ReleaseAnswer, ...]
    command: str
    """The command line that asked."""
    options: tuple[str, ...] = ()
    """Options that a command for one of the kernels needs besides those that name it: ``--spec``, ``--judge``."""
    ends: tuple[str, ...] = ()
    """Options that say which range was asked for, where there is no bracket that says it better."""
    left_out: Mapping[str, tuple[str, ...]] = field(factory=dict)
    """Why → releases that are no candidates."""
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    fixed: bool = False
    """A fix was looked for, not a regression."""

    @classmethod
    def of(cls, found: Bisection, *, command: str, options: tuple[str, ...] = (), ends: tuple[str, ...] = ()) -> BisectReport:
        """The report on what a bisect along releases found."""
        return cls(
            answers=found.releases,
            command=command,
            options=options,
            ends=ends,
            left_out=found.left_out,
            notes=found.notes,
            seconds=found.seconds,
            fixed=found.fixed,
        )


@frozen(kw_only=True)
class Group:
    """Answers of one variant that are the same but for case and target."""

    answers: tuple[ReleaseAnswer, ...]

    @property
    def example(self) -> ReleaseAnswer:
        """One of them, to speak for all."""
        return self.answers[0]

    @property
    def subject(self) -> str:
        """``kernel/variant (case, target)``, or how many of each."""
        spec = self.example.spec
        places = rectangles((answer.spec.case, answer.target.name) for answer in self.answers)
        said = "; ".join(f"{_few(cases, 'cases')} × {_few(targets, 'targets')}" for cases, targets in places)
        if len(self.answers) == 1:
            said = said.replace(" × ", ", ")
        return f"{spec.kernel}/{spec.variant} ({said})"


def groups(answers: Sequence[ReleaseAnswer]) -> tuple[Group, ...]:
    """Answers that say the same, together, in the order in which they first appear."""
    return tuple(Group(answers=members) for members in told_alike(answers))


def _few(names: Sequence[str], noun: str) -> str:
    return ", ".join(names) if len(names) <= 2 else f"{len(names)} {noun}"
