"""The page in light and dark, wide and narrow, on paper, and with assistive technology."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.looking import Look

Open = Callable[..., Look]

FAILED = "#cell=sel_dense/as_written/d64/sm_90/triton-3.5.0"
BACKGROUND = "getComputedStyle(document.body).backgroundColor"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def luminance(colour: str) -> int:
    return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))


def test_page_is_dark_if_the_system_or_the_switch_says_so(open_page: Open) -> None:
    page = open_page("real", color_scheme="dark").page
    assert luminance(page.evaluate(BACKGROUND)) < 150
    page.emulate_media(color_scheme="light")
    assert luminance(page.evaluate(BACKGROUND)) > 600
    switch = page.locator("[data-theme-switch]")
    switch.click()
    assert luminance(page.evaluate(BACKGROUND)) > 600  # light, as chosen
    switch.click()
    assert luminance(page.evaluate(BACKGROUND)) < 150
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert luminance(page.evaluate(BACKGROUND)) < 150
    page.locator("[data-theme-switch]").click()
    assert page.locator("html").get_attribute("data-theme") == "system"


def test_no_view_is_wider_than_the_window(open_page: Open) -> None:
    page = open_page("various", width=390).page

    def overflows() -> dict[int, int]:
        found = {}
        for width in (390, 800):
            page.set_viewport_size({"width": width, "height": 800})
            found[width] = page.evaluate(OVERFLOW)
        return found

    for view in ("grid", "failures", "trends", "api"):
        page.locator(f"[data-view-link={view}]").click()
        assert overflows() == {390: 0, 800: 0}, view
        page.locator(f"[data-view={view}] :is(button, summary):visible").first.click()
        assert overflows() == {390: 0, 800: 0}, view


def test_tuned_configs_fit_on_a_phone(open_page: Open) -> None:
    page = open_page("tuned", width=390, fragment="#view=trends&kernel=layer_norm").page
    expect(page.locator("[data-staying]")).to_be_attached()
    assert page.evaluate(OVERFLOW) == 0


def test_the_drawer_fits_on_a_phone(open_page: Open) -> None:
    page = open_page(
        "real", width=390, has_touch=True, fragment=FAILED.replace("3.5.0", "3.9.0")
    ).page
    box = page.locator("[data-drawer]").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["width"] <= 390
    assert page.evaluate(OVERFLOW) == 0
    expect(page.locator("[data-neighbour][aria-current]")).to_be_in_viewport(ratio=1)
    page.locator("[data-drawer] [data-close]").tap()
    assert page.locator("[data-drawer]").is_hidden()
    page.locator('tr[data-name="sel_dense/as_written"] [data-release="3.0.0"]').tap()
    assert page.locator("[data-drawer]").is_visible()


def test_print_has_the_whole_grid_and_no_control(open_page: Open) -> None:
    page = open_page("real", height=300).page
    page.locator('tr[data-name="sel_dense/block_ptr"] th').click()
    page.locator('tr[data-name="sel_dense/broadcast_2d"] th').click()
    lines = page.locator("tr[data-level]")
    assert lines.count() < 2 + 14 + 2 * 9
    page.emulate_media(media="print")
    expect(lines).to_have_count(2 + 14 + 2 * 9)
    cut = "all => all.filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)"
    assert page.locator("[data-grid] :is(th, td, .label)").evaluate_all(cut) == []
    assert page.locator("[data-headline]").is_visible()
    assert page.locator("form[data-filter] [name=q]").is_hidden()
    assert page.locator("[data-theme-switch]").is_hidden()
    assert page.locator("[data-scroller]").evaluate("e => e.scrollHeight - e.clientHeight") == 0
    assert page.pdf().startswith(b"%PDF")


def test_dark_colours_are_not_printed(open_page: Open) -> None:
    page = open_page("real").page
    page.emulate_media(media="print", color_scheme="light")
    light = page.screenshot()
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert page.screenshot() == light


def test_an_open_drawer_is_printed_whole(open_page: Open) -> None:
    page = open_page("real", fragment=FAILED).page
    page.emulate_media(media="print")
    drawer = page.locator("[data-drawer]")
    assert drawer.is_visible()
    assert drawer.evaluate(
        "e => [getComputedStyle(e).position, e.scrollHeight - e.clientHeight]"
    ) == ["static", 0]
    assert page.pdf().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("name", "fragments"),
    [
        ("few_alike", ("", "#mark=CRASH", "#view=failures", "#view=api", "#view=trends")),
        ("real", (f"{FAILED}&q=sel_dense/as_written",)),
        ("suspected", ("", "#cell=k/v/d64/sm_80/triton-3.9.0")),
        ("tuned", ("", "#view=trends&kernel=layer_norm")),
    ],
)
def test_page_has_no_serious_accessibility_violation(
    open_page: Open, name: str, fragments: tuple[str, ...]
) -> None:
    look = open_page(name)
    for fragment in fragments:
        look.follow(fragment)
        for summary in look.page.locator("main summary:visible").all()[:3]:
            if not summary.evaluate("e => e.parentElement.open"):
                summary.click()
        assert look.serious() == [], fragment
        look.page.emulate_media(color_scheme="dark")
        assert luminance(look.page.evaluate(BACKGROUND)) < 150
        assert look.serious("color-contrast") == [], fragment  # only colours differ in the dark
        look.page.emulate_media(color_scheme="light")
    ids = look.page.locator("[id]").evaluate_all("all => all.map(each => each.id)")
    assert len(set(ids)) == len(ids)  # over all views, because each was drawn
