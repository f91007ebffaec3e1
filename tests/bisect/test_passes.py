"""The files and the diff of a search along passes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compat.bisect import omissions, passes
from compat.diagnosis.pipeline import Pipeline, Step


def test_files_of_an_earlier_search_are_removed_however_many_they_are(tmp_path: Path) -> None:
    for count in (1002, 2):
        steps = tuple(Step(pass_="cse", ir="") for _ in range(count))
        compiled: Any = SimpleNamespace(
            pipeline=Pipeline(steps=steps), stage_texts={}, suffix="mlir"
        )
        passes.save_ir(tmp_path, {tmp_path: compiled})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["001-cse.mlir", "002-cse.mlir"]


def test_a_long_diff_says_how_much_of_it_is_left_out() -> None:
    diff = passes.cut_diff("\x1b" * 10_000)
    assert diff.startswith("\\x1b" * 5000 + "\n")
    assert "20000 characters left out" in diff


@pytest.mark.parametrize(
    ("names", "compared", "searched"),
    [
        (
            ("cse",),
            " 1 pass of x cannot be run by itself and was left out: cse.",
            " 1 pass cannot be run by itself, and was not left out: cse.",
        ),
        (
            ("cse", "dce"),
            " 2 passes of x cannot be run by themselves and were left out: cse, dce.",
            " 2 passes cannot be run by themselves, and were not left out: cse, dce.",
        ),
    ],
)
def test_the_sentences_about_left_out_passes_agree_with_their_number(
    names: tuple[str, ...], compared: str, searched: str
) -> None:
    compiled: Any = SimpleNamespace(name="x", pipeline=Pipeline(steps=(), left_out=names))
    assert passes._omission_sentence(compiled) == compared
    assert omissions._not_tried((), compiled) == searched
