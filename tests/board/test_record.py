"""The record of a board, and what an upgrade breaks according to it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from attrs import evolve

from compat.board.checking import BoardCheck, check_board, installed_packages
from compat.board.data import BoardIndex, CompiledVersion
from compat.board.gathering import board_record
from compat.board.record import (
    GOOD,
    UNKNOWN,
    UNTRIED,
    BoardLibraryRecord,
    BoardRecord,
    BoardRow,
    BoardVersion,
    board_json,
    read_record,
)
from compat.board.view import check_blocks
from compat.errors import SelectionError, StoreError
from compat.hunt.known_defects import KnownDefect
from compat.report.render.blocks import TextLine
from tests.board.boards import RELEASES, build_record, of_library
from tests.records import ASSERT, REMOVED, SHAPE, bad
from tests.report.factory import always


def test_every_kernel_has_a_mark_for_every_release() -> None:
    record = build_record()
    assert record.releases == RELEASES
    waves = record.library("waves")
    assert waves is not None
    old, new = waves.versions
    assert [version.version for version in waves.versions] == ["1.0", "2.0"]
    assert [old.mark("add", place) for place in range(3)] == [GOOD] * 3
    assert [new.mark("lost", place) for place in range(3)] == [GOOD, GOOD, UNKNOWN]
    assert {new.mark("other", place) for place in range(3)} == {UNTRIED}
    number = old.mark("blocks", 2)
    assert record.failures[number - 1].failure_class == REMOVED.failure_class
    assert old.lost_kernels(1, 2) == {"blocks": number}
    assert new.lost_kernels(1, 2) == {}
    assert new.works(2) == ("add", "blocks")
    assert (new.compiled_count(2), new.unknown(2)) == (3, 1)


def test_mark_of_a_kernel_is_a_failure_else_unknown_else_good() -> None:
    marks = {"sm_80": (UNTRIED, GOOD, UNKNOWN, GOOD), "sm_90": (GOOD, 2, 3, UNKNOWN)}
    rows = (
        BoardRow(kernel="add", case="only", target=target, marks=of_target)
        for target, of_target in marks.items()
    )
    version = BoardVersion(version="1.0", rows=tuple(rows))
    assert [version.mark("add", place) for place in range(4)] == [GOOD, 2, 3, UNKNOWN]


def test_a_case_that_works_for_no_release_of_a_target_does_not_count() -> None:
    marks = {"gfx942": (UNTRIED, 1, 1), "sm_80": (UNTRIED, UNKNOWN, 1), "sm_90": (GOOD, GOOD, 2)}
    rows = tuple(
        BoardRow(kernel="add", case="only", target=target, marks=of_target)
        for target, of_target in marks.items()
    )
    version = BoardVersion(version="1.0", rows=rows)
    assert [version.mark("add", place) for place in range(3)] == [GOOD, UNKNOWN, 1]
    version = BoardVersion(version="1.0", rows=(rows[0], rows[2]))
    assert [version.mark("add", place) for place in range(3)] == [GOOD, GOOD, 2]
    library = BoardLibraryRecord(name="waves", versions=(version,))
    record = evolve(build_record(), libraries=(library,))
    assert [met.targets for met in record.affected_kernels[1]] == [
        ("gfx942",)
    ]  # the failure's page has it
    version = BoardVersion(version="1.0", rows=rows[:1])
    assert (version.mark("add", 1), version.usable) == (1, frozenset())


def test_the_example_is_of_the_newest_release_that_fails() -> None:
    failures = {failure.failure_class: failure for failure in build_record().failures}
    assert failures[ASSERT.failure_class].cell.endswith("/triton-3.8.0")


def test_failure_counts_the_kernels_that_work_on_other_releases() -> None:
    dependent = {failure.failure_class: failure.dependent for failure in build_record().failures}
    assert dependent == {
        REMOVED.failure_class: 1,  # `cast` of rays fails everywhere
        SHAPE.failure_class: 1,
        ASSERT.failure_class: 0,
    }


def test_a_row_has_its_case_and_a_version_says_whether_it_is_guessed() -> None:
    library = build_record().library("waves")
    assert library is not None
    assert {row.case for row in library.newest.rows} == {"d64"}
    assert not library.newest.guessed


def test_prefix_of_a_release_means_the_newest_matching_release() -> None:
    record = evolve(build_record(), releases=("3.7.0", "3.7.1", "3.9.0"))
    assert check_board(record, {}, before="3.7").before == "3.7.1"


def test_a_failure_of_two_libraries_is_one_failure() -> None:
    record = build_record()
    failure = record.failures[0]
    assert failure.fingerprint == REMOVED.fingerprint
    assert [(row.library, row.version, row.kernel) for row in record.affected_kernels[1]] == [
        ("rays", "0.1", "cast"),
        ("waves", "1.0", "blocks"),
    ]
    assert record.affected_kernels[1][0].releases == ("3.9.0",)
    assert failure.example.startswith("compat explain blocks/waves-1.0/d64/")
    assert failure.example.endswith("--package waves==1.0")
    assert all(record.affected_kernels[number] for number in range(1, len(record.failures) + 1))


def test_a_version_without_kernels_says_why() -> None:
    library = build_record().library("broken")
    assert library is not None
    assert library.newest.problem == "no wheel"
    assert library.newest.rows == ()


def test_a_known_failure_has_its_link() -> None:
    defect = KnownDefect(fingerprint=REMOVED.fingerprint, url="https://example.org/1", note="so")
    assert (build_record((defect,)).failures[0].url, build_record((defect,)).failures[0].note) == (
        "https://example.org/1",
        "so",
    )
    assert build_record().failures[0].url == ""


def test_a_record_is_read_as_it_was_written() -> None:
    record = build_record()
    assert read_record(board_json(record).encode(), "board.json") == record


@pytest.mark.parametrize("content", [b"", b"[]", b'{"schema": 1}', b"\xff"])
def test_content_that_is_not_a_record_is_an_error(content: bytes) -> None:
    with pytest.raises(StoreError, match="not the record of a board"):
        read_record(content, "board.json")


def checked(installed: Mapping[str, str], **options: str) -> BoardCheck:
    return check_board(build_record(), installed, **options)


def test_upgrade_breaks_kernels_that_work_only_before_it() -> None:
    check = checked({"triton": "3.8.0", "waves": "1.0", "numpy": "2.0"})
    assert (check.before, check.after) == ("3.8.0", "3.9.0")
    (waves,) = check.libraries
    assert [lost.kernel for lost in waves.lost] == ["blocks"]
    assert waves.classes == {REMOVED.failure_class: 1}
    assert (waves.kernels, waves.works, waves.unknown, waves.is_exact) == (2, 2, 0, True)
    assert check.breaks


def test_another_version_answers_for_one_that_the_board_lacks() -> None:
    check = checked({"waves": "1.7", "rays": "0.0.1"}, before="3.7", after="3.8")
    waves, rays = (next(one for one in check.libraries if one.name == n) for n in ("waves", "rays"))
    assert (waves.version, waves.is_exact) == ("1.0", False)
    assert rays.version == "0.1"
    assert not check.breaks


def test_check_lists_fixed_kernels_and_counts_unknown_ones() -> None:
    (waves,) = checked({"waves": "2.0"}, before="3.7", after="3.9").libraries
    assert waves.mended == ("blocks",)
    assert waves.unknown == 2


@pytest.mark.parametrize(
    ("before", "lines"),
    [
        (
            "3.7.0",
            [
                "no answer for 1 kernel",
                "from Triton 3.7.0 to 3.9.0, no kernel of 1 installed library is known to break; no"
                " answer for 1 kernel",
            ],
        ),
        (
            "3.8.0",
            [
                "1 of 1 kernel compiles with Triton 3.8.0",
                "from Triton 3.8.0 to 3.9.0, no kernel of 1 installed library breaks",
            ],
        ),
    ],
)
def test_check_reports_no_answer_for_a_release_without_a_compile(
    before: str, lines: list[str]
) -> None:
    version = BoardVersion(
        version="1.0",
        rows=(BoardRow(kernel="add", case="default", target="sm_90", marks=(UNTRIED, GOOD, GOOD)),),
    )
    record = BoardRecord(
        toolchain="Triton",
        releases=("3.7.0", "3.8.0", "3.9.0"),
        targets=("sm_90",),
        libraries=(BoardLibraryRecord(name="waves", versions=(version,)),),
    )
    blocks = check_blocks(check_board(record, {"waves": "1.0"}, before=before))
    texts = [block.text for block in blocks if isinstance(block, TextLine) and block.text]
    assert texts == lines


@pytest.mark.parametrize(
    ("installed", "options", "where"),
    [
        ({}, {}, "--from"),
        ({}, {"before": "3.6"}, "--from"),
        ({"triton": "3.8.0"}, {"after": "4"}, "--to"),
    ],
)
def test_a_release_that_the_board_lacks_is_an_error(
    installed: Mapping[str, str], options: Mapping[str, str], where: str
) -> None:
    with pytest.raises(SelectionError) as caught:
        checked(installed, **options)
    assert caught.value.where == where


def test_packages_are_read_beside_a_file_with_the_name_of_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit\n")
    monkeypatch.chdir(tmp_path)
    assert installed_packages()["attrs"]


def test_only_one_failure_of_two_envs_of_a_release_counts() -> None:
    one, other = (
        of_library("waves==3.0", {"add": always(bad(failure))}) for failure in (REMOVED, SHAPE)
    )
    results = (*one.results, *other.results)
    both = evolve(one, results=results)
    index = BoardIndex().with_version("waves", "3.0", CompiledVersion(columns={"x": ()}))
    record = board_record([("waves", "3.0", both)], index, ())
    assert [failure.fingerprint for failure in record.failures] == [REMOVED.fingerprint]
    assert set(record.affected_kernels) == {1}
