"""A file of output is read within bounds and in whole lines, even if it changes meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench import reading
from compat.files import read_ends
from compat.text import WIDTH_LIMIT, limit_length, limit_width, readable
from compat.toolchains.mlir.dumps import HEADING_BEGINS
from compat.toolchains.triton.ir.dumps import read
from compat.workers.client import LINE_LIMIT, Lines

HEADING = "// -----// IR Dump Before {name} (cse) ('builtin.module' operation) //----- //\n"


def ends(path: Path, text: str, limit: int, start: int = 0, end: int | None = None) -> str:
    path.write_text(text)
    fd = os.open(path, os.O_RDONLY)
    try:
        return read_ends(fd, start, end, limit, HEADING_BEGINS)
    finally:
        os.close(fd)


def test_a_short_file_is_read_whole(tmp_path: Path) -> None:
    assert ends(tmp_path / "f", "abc\ndef\n", 100) == "abc\ndef\n"
    assert ends(tmp_path / "f", "abc\ndef\n", 100, 4, 6) == "de"


@pytest.mark.parametrize(("start", "end"), [(100, None), (0, 1 << 61), (5, 2), (1 << 61, 3)])
def test_offsets_outside_of_the_file_give_nothing_or_the_whole_file(
    tmp_path: Path, start: int, end: int | None
) -> None:
    assert ends(tmp_path / "f", "abc\n", 100, start, end) in ("", "abc\n")


def test_a_long_file_keeps_its_beginning_and_its_end_in_whole_lines(tmp_path: Path) -> None:
    lines = ends(
        tmp_path / "f", "".join(f"line {number}\n" for number in range(10_000)), 1000
    ).splitlines()
    note = next(number for number, line in enumerate(lines) if "left out" in line)
    assert lines[0] == "line 0"
    assert lines[-1] == "line 9999"
    assert all(line.startswith("line ") for number, line in enumerate(lines) if number != note)
    assert len("\n".join(lines)) <= 1100


def test_ir_without_its_beginning_is_not_read_as_an_earlier_pass(tmp_path: Path) -> None:
    early, late = (
        HEADING.format(name="Early").replace("cse", "early"),
        HEADING.format(name="Late").replace("cse", "late"),
    )
    text = (
        early
        + "module {\n}\n"
        + "  noise\n" * 5000
        + late
        + "module {\n"
        + "  %0 = x\n" * 5000
        + "}\nk.py:1:2: error: x\n"
    )
    output = read(ends(tmp_path / "f", text, 8000))
    assert output.pipeline.last == "late"
    assert "left out" in output.pipeline.steps[-1].ir
    assert output.text.endswith("k.py:1:2: error: x\n")


def test_cut_texts_stay_within_bounds_and_keep_both_ends() -> None:
    text = "first\n" + "middle\n" * 100_000 + "x" * 100_000 + "\nlast"
    excerpt = readable(text, 10_000)
    assert len(excerpt) <= 10_000 + WIDTH_LIMIT
    assert excerpt.startswith("first\n")
    assert excerpt.endswith("\nlast")
    assert readable(excerpt, 10_000 + WIDTH_LIMIT) == excerpt
    assert max(map(len, limit_width("y" * 100_000 + "\nz", 1000).split("\n"))) <= 1000
    assert len(limit_length("w" * 100_000, 1000)) <= 1000


def test_lines_are_joined_from_pieces_and_overlong_lines_are_dropped() -> None:
    lines = Lines()
    assert lines.add(b"ab") == []
    assert lines.unfinished
    assert lines.add(b"c\nd\n\ne") == [b"abc", b"d", b""]
    for _ in range(LINE_LIMIT // 65536 + 2):
        assert lines.add(b"x" * 65536) == []
    assert lines.overlong == 1
    assert lines.unfinished
    assert lines.add(b"x\nnext\n") == [b"next"]
    assert not lines.unfinished


@pytest.mark.parametrize("name", reading.OUTPUTS)
def test_a_hundred_megabytes_are_read_in_seconds(tmp_path: Path, name: str) -> None:
    path = tmp_path / "output"
    with path.open("wb") as file:
        for _ in range(10):
            file.write(reading.OUTPUTS[name] * (10 * 1024 * 1024 // len(reading.OUTPUTS[name])))
    assert reading.read(path) < 6.0
