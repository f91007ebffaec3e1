"""The data of a board on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from compat.board.data import BoardData, BoardIndex, CompiledVersion
from compat.errors import StoreError
from tests.board.boards import REPORTS, of_library
from tests.records import REMOVED, bad
from tests.report.factory import always

COMPILED = CompiledVersion(columns={"triton-3.9.0": ("sm_90",)}, seconds=1.5)


def test_index_keeps_the_entries_of_two_runs(tmp_path: Path) -> None:
    one, other = BoardData(tmp_path), BoardData(tmp_path)
    one.note("waves", "2.0", COMPILED)
    other.note("rays", "0.1", COMPILED)
    one.note("waves", "1.0", COMPILED)
    index = other.index()
    assert {name: list(versions) for name, versions in index.libraries.items()} == {
        "rays": ["0.1"],
        "waves": ["1.0", "2.0"],
    }
    assert index.of("waves", "2.0") == COMPILED
    assert index.of("waves", "3.0") == CompiledVersion()


def test_report_is_read_back_without_its_sources(tmp_path: Path) -> None:
    data = BoardData(tmp_path)
    report = evolve(of_library("waves==1.0", REPORTS["waves==1.0"]), sources={"k.py": "text"})
    data.write("waves", "1.0", report)
    read = data.read("waves", "1.0")
    assert [(result.cell.id, result.outcome.status) for result in read.results] == [
        (result.cell.id, result.outcome.status) for result in report.results
    ]
    assert read.sources == {}
    assert data.path("waves", "1.0").stat().st_size < 4000


def test_report_has_no_paths_of_this_machine(tmp_path: Path) -> None:
    error = evolve(
        REMOVED,
        excerpt="ImportError: cannot import name 'extra' from 'triton.extra'"
        " (/home/jo/.cache/envs/lib/python3.11/site-packages/triton/extra/__init__.py)",
    )
    report = of_library("waves==1.0", {"add": always(bad(error))})
    source = "/home/jo/.cache/envs/libraries/waves-1.0/waves/kernels.py"
    results = [
        evolve(result, cell=evolve(result.cell, spec=evolve(result.cell.spec, source=source)))
        for result in report.results
    ]
    data = BoardData(tmp_path)
    data.write("waves", "1.0", evolve(report, results=tuple(results)))
    read = data.read("waves", "1.0").results[0]
    assert read.outcome.failure is not None
    assert read.outcome.failure.excerpt.endswith("(triton/extra/__init__.py)")
    assert read.cell.spec.source == "waves/kernels.py"


@pytest.mark.parametrize("content", ["", "[]", '{"schema": 2, "tool": "0.1.0"}'])
def test_a_damaged_index_is_one_clear_error(tmp_path: Path, content: str) -> None:
    data = BoardData(tmp_path)
    data.write_index(BoardIndex())
    (data.folder / "index.json").write_text(content)
    with pytest.raises(StoreError, match=r"not the index of a board|has schema 2"):
        data.index()


def test_index_of_another_version_of_the_tool_counts_as_empty(tmp_path: Path) -> None:
    data = BoardData(tmp_path)
    data.note("waves", "1.0", COMPILED)
    text = (data.folder / "index.json").read_text()
    (data.folder / "index.json").write_text(text.replace('"tool": "', '"tool": "9'))
    assert data.index() == BoardIndex()


def test_a_damaged_report_is_one_clear_error(tmp_path: Path) -> None:
    data = BoardData(tmp_path)
    path = data.path("waves", "1.0")
    with pytest.raises(StoreError, match="cannot be read"):
        data.read("waves", "1.0")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no xz")
    with pytest.raises(StoreError, match="cannot be read"):
        data.read("waves", "1.0")
