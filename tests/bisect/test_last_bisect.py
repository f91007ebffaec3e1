"""The bad ends that a bisection saves for their repro."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from compat.bisect.answers import ReleaseAnswer, ReleaseProbe, Transition
from compat.bisect.bisecting import note_bad_ends, read_bad_ends
from compat.bisect.criterion import parse_criterion
from compat.config.matrix import load_matrix
from compat.errors import SelectionError, StoreError
from compat.history.account import Entry, Judgement, account
from compat.model import Outcome, Status
from compat.project import Patterns, Selection
from tests.bisect.invented import LINE
from tests.records import TARGETS, result, spec

JUDGEMENTS = {"g": Judgement.GOOD, "b": Judgement.BAD}


def answered(history: str) -> ReleaseAnswer:
    """The answer for a history such as ``ggb``, with its last change as the bracket."""
    outcome = Outcome(status=Status.OK, stage="cubin")
    probes = [
        ReleaseProbe(release=release, result=result(outcome, release), judgement=JUDGEMENTS[letter])
        for letter, release in zip(history, LINE, strict=False)
    ]
    changes = [
        Transition(before=one, after=other)
        for one, other in pairwise(probes)
        if one.judgement is not other.judgement
    ]
    return ReleaseAnswer(
        spec=spec(),
        target=TARGETS[1],
        criterion=parse_criterion("ok"),
        account=account(
            Entry(release=probe.release, judgement=probe.judgement, outcome=outcome)
            for probe in probes
        ),
        searched=tuple(probe.release for probe in probes),
        probes=tuple(probes),
        bracket=changes[-1] if changes else None,
    )


@pytest.fixture
def selection(tmp_path: Path) -> Selection:
    """A selection with its own kernel file, in a project that has no results yet."""
    (tmp_path / "matrix.toml").write_text(
        'schema = 1\nkernels = ["k.toml"]\nenv = [{ triton = "3.9.0", groups = ["default"] }]\n'
    )
    config = load_matrix(tmp_path / "matrix.toml")
    return Selection(
        config=config,
        envs=(),
        targets=(),
        specs=(),
        patterns=Patterns(kernel_files=("kernels/x.toml",)),
    )


def test_bad_end_of_each_bracket_is_saved(selection: Selection) -> None:
    regressed, fixed = answered("ggb"), answered("bgg")
    note_bad_ends([regressed, fixed], selection)
    ends = read_bad_ends(selection.root)
    assert len(ends.cells) == 2
    assert ends.cells[0] == regressed.probes[2].result.cell.id
    assert ends.cells[1] == fixed.probes[0].result.cell.id
    assert ends.kernel_files == (str(Path("kernels/x.toml").absolute()),)


def test_search_without_a_change_saves_no_bad_end(selection: Selection) -> None:
    with pytest.raises(SelectionError, match="no last bisect is recorded"):
        read_bad_ends(selection.root)
    note_bad_ends([answered("ggg")], selection)
    with pytest.raises(SelectionError, match="found no change"):
        read_bad_ends(selection.root)


def test_unreadable_file_counts_as_absent(selection: Selection) -> None:
    selection.state.mkdir()
    (selection.state / "last-bisect.json").write_text("[]")
    with pytest.raises(SelectionError, match="no last bisect is recorded"):
        read_bad_ends(selection.root)


def test_bad_ends_that_cannot_be_saved_are_an_error(selection: Selection) -> None:
    selection.state.write_text("in the way")
    with pytest.raises(StoreError, match="cannot be saved"):
        note_bad_ends([answered("ggb")], selection)
