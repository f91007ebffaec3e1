"""The sentences and the feed of a board's site."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import pytest

from compat.board.declaration import BoardDeclaration, read_board
from compat.board.record import GOOD, UNTRIED, BoardRow, BoardVersion
from compat.board.site import headline, number_of, write_site
from tests.board.boards import build_record, keep
from tests.records import ASSERT, REMOVED

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def board(tmp_path: Path) -> BoardDeclaration:
    """A board with the data of made-up libraries."""
    (tmp_path / "board.toml").write_text('[[library]]\nname = "waves"\n')
    board = read_board(tmp_path / "board.toml")
    keep(board)
    return board


def test_the_headline_counts_kernels_that_work_somewhere() -> None:
    record = build_record()
    assert headline(record, 2) == (
        "Triton 3.9.0 compiles 2 of 3 kernels that compile on some release, in 1 library. Every"
        " kernel that compiles with 3.8.0 still does."
    )


def test_a_number_says_what_it_counts() -> None:
    library = build_record().library("waves")
    assert library is not None
    old, new = library.versions
    assert number_of(old, 2).sentence == "1 of 2 kernels compile; 1 no longer compiles"
    assert number_of(new, 0).sentence == "2 of 3 kernels compile; 1 compiles on no release"
    assert [number_of(old, place).tone for place in range(3)] == ["all", "all", "some"]
    assert number_of(new, 2).text == "2?"


def test_a_release_without_a_compile_has_no_number() -> None:
    """This also holds if some kernels work on no release."""
    rows = (("works", UNTRIED, GOOD), ("never", UNTRIED, 1))
    version = BoardVersion(
        version="1.0",
        rows=tuple(
            BoardRow(kernel=name, case="default", target="sm_90", marks=tuple(marks))
            for name, *marks in rows
        ),
    )
    assert number_of(version, 0).sentence == "not compiled there"
    assert number_of(version, 1).sentence == "1 of 1 kernel compiles; 1 compiles on no release"


def test_feed_lists_the_kernels_that_the_newest_versions_lose(board: BoardDeclaration) -> None:
    keep(board, without="waves==2.0")
    folder = board.folder / "site"
    write_site(board, folder, released={"3.9.0": date(2026, 8, 1)}, url="https://example.org/b/")
    feed = ElementTree.parse(folder / "feed.xml").getroot()
    (entry,) = feed.iter(f"{ATOM}entry")
    texts = {
        name: entry.findtext(f"{ATOM}{name}") for name in ("id", "title", "updated", "summary")
    }
    assert texts == {
        "id": "urn:triton-compat:board:3.9.0:waves:1.0",
        "title": "Triton 3.9.0 breaks 1 kernel of waves 1.0",
        "updated": "2026-08-01T00:00:00Z",
        "summary": "api-removed: blocks",
    }
    link = entry.find(f"{ATOM}link")
    assert link is not None
    assert link.get("href") == "https://example.org/b/release/3.9.0.html#waves-1.0"


def test_scripts_and_issue_texts_are_on_the_page_of_their_failure(board: BoardDeclaration) -> None:
    place = board.folder / "failures" / "api-removed-c01dbeef"
    place.mkdir(parents=True)
    (place / "blocks.md").write_text("An issue <text>.")
    (place / "blocks.py").write_text("print(1)")
    folder = board.folder / "site"
    write_site(board, folder, released={})
    page = (folder / "failure" / "api-removed-c01dbeef.html").read_text()
    assert "compat bisect --kernel blocks --variant " in page
    assert page.index("An issue &lt;text&gt;.") < page.index("print(1)")
    assert "known upstream" not in (folder / "failures.html").read_text()
    (board.folder / "known.toml").write_text(
        '[[defect]]\nfingerprint = "api-removed:c01dbeef"\nurl = "https://example.org/1"\n'
    )
    write_site(board, folder, released={})
    assert "known upstream" in (folder / "failures.html").read_text()


def test_page_of_a_release_marks_kernels_that_newly_fail_there(board: BoardDeclaration) -> None:
    folder = board.folder / "site"
    write_site(board, folder, released={})
    pages = {name: (folder / f"release/{name}.html").read_text() for name in ("3.8.0", "3.9.0")}
    assert '<code>blocks</code></a> <b class="lost">new</b>' in pages["3.9.0"]
    assert "new</b>" not in pages["3.8.0"]


def test_start_page_leaves_out_failures_of_kernels_that_never_work(board: BoardDeclaration) -> None:
    folder = board.folder / "site"
    write_site(board, folder, released={})
    start, every = ((folder / name).read_text() for name in ("index.html", "failures.html"))
    assert f'data-failure="{REMOVED.fingerprint}"' in start
    assert f'data-failure="{ASSERT.fingerprint}"' not in start
    assert f'data-failure="{ASSERT.fingerprint}"' in every


def test_the_reports_of_libraries_share_a_script_and_a_style(board: BoardDeclaration) -> None:
    folder = board.folder / "site"
    write_site(board, folder, released={})
    pages = [path.read_text() for path in (folder / "library").iterdir()]
    assert len(pages) > 1
    for page in pages:
        assert "../report.js" in page
        assert "<style" not in page
    assert "async function start()" in (folder / "report.js").read_text()
    assert ".drawer" in (folder / "report.css").read_text()
