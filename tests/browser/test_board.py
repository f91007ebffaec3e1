"""The pages of a board's site, opened from disk."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from playwright.sync_api import expect

from compat.board.declaration import read_board
from compat.board.site import write_site
from tests.board.boards import keep
from tests.browser.looking import Look


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a board of two made-up libraries."""
    declaration = tmp_path_factory.mktemp("board") / "board.toml"
    declaration.write_text('[[library]]\nname = "waves"\n')
    board = read_board(declaration)
    keep(board)
    folder = board.folder / "site"
    write_site(board, folder, released={"3.9.0": date(2026, 8, 1)}, url="https://example.org")
    return folder


PAGES = ("index.html", "failures.html", "release/3.9.0.html", "failure/api-removed-c01dbeef.html")


@pytest.mark.parametrize("name", PAGES)
def test_pages_have_no_serious_accessibility_violation_and_a_phone_scrolls_only_tables(
    look: Callable[..., Look], site: Path, name: str
) -> None:
    looked = look(site / name, site=site)
    assert looked.serious() == []
    looked.page.emulate_media(color_scheme="dark")
    assert looked.serious("color-contrast") == []  # only colours differ in the dark
    looked.page.set_viewport_size({"width": 390, "height": 800})
    assert looked.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_phone_shows_the_newest_release_beside_the_library(
    look: Callable[..., Look], site: Path
) -> None:
    page = look(site / "index.html", site=site, width=220).page
    row = page.locator('tr[data-library="waves"]').first
    newest = row.locator('td[data-release="3.9.0"]').bounding_box()
    library, version = row.locator("th").bounding_box(), row.locator(".version").bounding_box()
    assert newest
    assert library
    assert version
    assert library["x"] >= 0
    assert library["x"] + library["width"] <= version["x"] + 1
    assert newest["x"] + newest["width"] <= 220
    assert page.evaluate("document.querySelector('[data-board]').parentElement.scrollLeft") > 0


def test_a_number_leads_to_the_compilers_words_in_two_clicks(
    look: Callable[..., Look], site: Path
) -> None:
    page = look(site / "index.html", site=site).page
    row = page.locator('tr[data-library="waves"][data-version="1.0"]')
    number = row.locator('td[data-release="3.9.0"]')
    expect(number).to_contain_text("1 −1")
    number.locator("a").click()
    page.locator("#waves-1\\.0 li[data-failure] a").first.click()
    expect(page.locator("pre").first).to_contain_text("Block pointers have been removed")
    expect(page.locator("main")).to_contain_text("compat explain blocks/waves-1.0/d64/")


def test_the_search_finds_kernels_defects_and_libraries(
    look: Callable[..., Look], site: Path
) -> None:
    page = look(site / "index.html", site=site).page
    page.locator("[data-search]").fill("waves blo")
    expect(page.locator("[data-found] a")).to_have_text(["waves blocks"])
    page.locator("[data-search]").fill("api-rem")
    expect(page.locator("[data-found] li")).to_contain_text(["failure api-removed"])
    page.locator("[data-search]").fill("rays")
    page.locator("[data-found] a").first.click()
    page.wait_for_selector("body[data-ready]")
    page.get_by_role("link", name="Board").click()
    expect(page.locator("table[data-board]")).to_be_visible()
