"""What a bisect leaves for the repro of its bad end."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from compat.axes.history import Answer, Probe, ReleaseAnswer, Transition
from compat.cli.last_bisect import recall, remember
from compat.errors import SelectionError
from compat.model import Outcome, Status
from compat.search.bisect import Judgement
from compat.search.judge import parse_judge
from tests.bisect.invented import LINE, kernel, result
from tests.report.factory import TARGETS

JUDGEMENTS = {"g": Judgement.GOOD, "b": Judgement.BAD}


def answered(history: str) -> ReleaseAnswer:
    """The answer for a history such as ``ggb``, with its last change as the bracket."""
    outcome = Outcome(status=Status.OK, stage="cubin")
    probes = [
        Probe(release=release, result=result(outcome, release), judgement=JUDGEMENTS[letter])
        for letter, release in zip(history, LINE, strict=False)
    ]
    changes = [Transition(before=one, after=other) for one, other in pairwise(probes) if one.judgement is not other.judgement]
    return ReleaseAnswer(
        spec=kernel(),
        target=TARGETS[1],
        judge=parse_judge("ok"),
        answer=Answer.REGRESSED if changes else Answer.ALWAYS,
        searched=tuple(probe.release for probe in probes),
        probes=tuple(probes),
        bracket=changes[-1] if changes else None,
    )


def test_the_bad_end_of_each_bracket_is_remembered(tmp_path: Path) -> None:
    regressed, fixed = answered("ggb"), answered("bgg")
    remember([regressed, fixed], ["kernels/x.toml"], tmp_path)
    ends = recall(tmp_path)
    assert len(ends.cells) == 2
    assert ends.cells[0] == regressed.probes[2].result.cell.id
    assert ends.cells[1] == fixed.probes[0].result.cell.id
    assert ends.specs == (str(Path("kernels/x.toml").absolute()),)


def test_a_search_without_a_change_leaves_nothing_to_go_on_from(tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match="there is no last bisect"):
        recall(tmp_path)
    remember([answered("ggg")], [], tmp_path)
    with pytest.raises(SelectionError, match="found no change"):
        recall(tmp_path)


def test_what_cannot_be_read_counts_as_absent(tmp_path: Path) -> None:
    (tmp_path / "last-bisect.json").write_text("[]")
    with pytest.raises(SelectionError, match="there is no last bisect"):
        recall(tmp_path)
