"""One test with many cases reports each case that fails."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests.together import for_each


def test_each_case_that_fails_is_reported_with_its_values(tmp_path: Path) -> None:
    folders = []

    @for_each(("number", "word"), [(1, "good"), (2, "wrong"), (3, "odd"), (4, "good"), (5, "gone")])
    def check(tmp_path: Path, number: int, word: str) -> None:
        assert not [*tmp_path.iterdir()]
        (tmp_path / word).touch()
        folders.append(tmp_path)
        if word == "odd":
            with pytest.raises(ValueError, match="odd"):
                int("3")
        if word == "gone":
            pytest.skip("gone")
        assert word == "good"

    assert [*inspect.signature(check).parameters] == ["tmp_path"]
    with pytest.raises(BaseExceptionGroup, match="3 of 5 cases") as caught:
        check(tmp_path=tmp_path)
    assert [error.__notes__ for error in caught.value.exceptions] == [
        ["case 1: number=2, word='wrong'"],
        ["case 2: number=3, word='odd'"],
        ["case 4: number=5, word='gone'"],
    ]
    assert len(set(folders)) == 5


def test_cases_of_two_tables_are_combined_and_changes_are_undone() -> None:
    seen: list[tuple[int, int]] = []

    @for_each("one", [1, 2])
    @for_each("other", [3, 4])
    def check(monkeypatch: pytest.MonkeyPatch, one: int, other: int) -> None:
        assert not {(one, place) for place in (3, 4) if place < other} - {*seen}
        monkeypatch.setattr(f"{__name__}.CHANGED", CHANGED + 1)
        assert CHANGED == 1
        seen.append((one, other))

    with pytest.MonkeyPatch.context() as patch:
        check(monkeypatch=patch)
    assert (seen, CHANGED) == ([(1, 3), (1, 4), (2, 3), (2, 4)], 0)


def test_a_table_without_cases_is_an_error() -> None:
    with pytest.raises(AssertionError, match="no cases"):
        for_each("number", [])


CHANGED = 0
