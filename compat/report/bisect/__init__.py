"""What a bisect found, as text: the records that are shown, and nothing that prints or writes.

- :mod:`compat.report.bisect.sentences`: the answers in words
- :mod:`compat.report.bisect.terminal`: for a terminal, or a pipe
- :mod:`compat.report.bisect.markdown`: in the shape that an issue tracker wants
- :mod:`compat.report.bisect.document`: for programs
- :mod:`compat.report.bisect.onwards`: how to repeat it, and how to go on from releases to commits
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from attrs import field, frozen

from compat.axes.history import ReleaseAnswer
from compat.report.compact import rectangles


@frozen(kw_only=True)
class BisectReport:
    """All there is to tell of one bisect."""

    answers: tuple[ReleaseAnswer, ...]
    command: str
    """The command line that asked."""
    options: tuple[str, ...] = ()
    """Options that a command for one of the kernels needs besides those that name it: ``--spec``, ``--judge``."""
    left_out: Mapping[str, tuple[str, ...]] = field(factory=dict)
    """Why → releases that are no candidates."""
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    fixed: bool = False
    """A fix was looked for, not a regression."""


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
    found: dict[object, list[ReleaseAnswer]] = defaultdict(list)
    for answer in answers:
        found[_sameness(answer)].append(answer)
    return tuple(Group(answers=tuple(members)) for members in found.values())


def _sameness(answer: ReleaseAnswer) -> object:
    spans = tuple((span.first.release, span.last.release, span.first.behaviour, span.statuses) for span in answer.spans)
    otherwise = tuple(probe.release for probe in answer.otherwise)
    return answer.spec.kernel, answer.spec.variant, answer.answer, answer.judge, spans, otherwise


def _few(names: Sequence[str], noun: str) -> str:
    return ", ".join(names) if len(names) <= 2 else f"{len(names)} {noun}"
