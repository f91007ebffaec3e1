"""Use of the page with the keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

Follow = Callable[..., Page]

FOCUSED = (
    "(() => { const at = document.activeElement; return [at.closest('tr')?.dataset.name,"
    " at.dataset.release ?? null]; })()"
)
OUTLINE = "getComputedStyle(document.activeElement).outlineStyle"


def focused(page: Page) -> list[Any]:
    """The row name and the release of the focused element in the grid."""
    position: list[Any] = page.evaluate(FOCUSED)
    return position


def enter_grid(page: Page) -> None:
    """Follow the first link on the page, which leads to the grid."""
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the grid"
    page.keyboard.press("Enter")


def test_navigation_keys_move_the_focus_in_the_grid(follow: Follow) -> None:
    page = follow("real")
    enter_grid(page)
    assert focused(page) == ["sel_dense", None]
    for keys, at in (
        ("ArrowDown", ["sel_dense/as_written", None]),
        ("ArrowDown", ["sel_dense/block_ptr", None]),
        ("End", ["sel_dense/block_ptr", "3.9.0"]),
        ("ArrowLeft", ["sel_dense/block_ptr", "3.8.0"]),
        ("ArrowUp", ["sel_dense/as_written", "3.8.0"]),
        ("Home", ["sel_dense/as_written", None]),
        ("ArrowLeft", ["sel_dense", None]),
        ("ArrowUp", ["sel_dense", None]),
        ("PageDown", ["sel_varlen/pointer_grid", None]),
    ):
        page.keyboard.press(keys)
        if keys != "PageDown":
            assert focused(page) == at, keys
    assert page.evaluate(OUTLINE) != "none"


def test_left_and_right_arrows_fold_and_unfold_a_kernel(follow: Follow) -> None:
    page = follow("real")
    enter_grid(page)
    kernel = page.locator('tr[data-name="sel_dense"]')
    page.keyboard.press("ArrowLeft")
    assert kernel.get_attribute("aria-expanded") == "false"
    page.keyboard.press("ArrowDown")
    assert focused(page) == ["sel_varlen", None]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    assert kernel.get_attribute("aria-expanded") == "true"
    assert focused(page) == ["sel_dense", None]


def test_enter_opens_the_drawer_and_escape_closes_it_and_returns_the_focus(follow: Follow) -> None:
    page = follow("real")
    enter_grid(page)
    # The first ArrowRight unfolds the row.
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    assert page.locator("[data-drawer]").is_visible()
    assert page.evaluate("document.activeElement.closest('[data-drawer]') !== null")
    page.keyboard.press("Escape")
    assert page.locator("[data-drawer]").is_hidden()
    assert focused(page) == ["sel_dense/as_written", "3.1.0"]


def test_the_grid_is_one_tab_stop(follow: Follow) -> None:
    page = follow("real")
    assert page.locator("[data-grid] [tabindex='0']").count() == 1
    enter_grid(page)
    page.keyboard.press("ArrowRight")
    assert page.locator("[data-grid] [tabindex='0']").count() == 1
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.closest('[data-grid]') === null")
    page.keyboard.press("Tab")
    assert focused(page) == ["sel_dense", "3.0.0"]


def test_the_focus_stays_visible_while_paging_through_20000_cells(follow: Follow) -> None:
    page = follow("large")
    enter_grid(page)
    names = set()
    for _ in range(6):
        page.keyboard.press("PageDown")
        name, _ = focused(page)
        names.add(name)
        box = page.evaluate(
            "(() => { const b = document.activeElement.getBoundingClientRect(); return [b.top,"
            " b.bottom]; })()"
        )
        scroller = page.locator("[data-scroller]").bounding_box()
        assert scroller is not None
        assert scroller["y"] <= box[0]
        assert box[1] <= scroller["y"] + scroller["height"] + 1
    assert None not in names


def test_every_control_shows_the_focus(follow: Follow) -> None:
    page = follow("real", "#cell=sel_dense/as_written/d64/sm_90/triton-3.5.0")
    bare, stops = [], 0
    for _ in range(60):
        page.keyboard.press("Tab")
        outline, name = page.evaluate(
            f"[{OUTLINE}, document.activeElement.outerHTML.slice(0, 120)]"
        )
        if name.startswith("<body"):
            break
        stops += 1
        if outline == "none" and not page.evaluate(
            "document.activeElement.closest('label.search') !== null"
        ):
            bare.append(name)
    assert stops > 20
    assert bare == []


def test_slash_focuses_the_search_and_is_plain_text_in_it(follow: Follow) -> None:
    page = follow("real")
    page.keyboard.press("/")
    page.keyboard.type("sel_dense/loop_1d")
    assert page.locator("form[data-filter] [name=q]").input_value() == "sel_dense/loop_1d"
    assert page.locator("tr[data-level=variant]").count() == 1
