"""The contents of names, messages and sources stay text."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from compat.text import printable
from tests.browser.looking import Look
from tests.browser.pages import attacking
from tests.report.hostile import ATTACK, SCRIPTS

Open = Callable[..., Look]
Follow = Callable[..., Page]

ALIEN = (
    "document.querySelectorAll('img, iframe, object, embed, base, b, script:not([type]), [onerror],"
    " [onfocus]').length"
)
"""The number of elements and attributes that an attack would make. The page has none of them."""


def unharmed(page: Page) -> bool:
    """Whether all attacks stayed text.

    The troubles of a :class:`Look` have the requests and messages.
    """
    return bool(
        page.evaluate(f"typeof owned === 'undefined' && {ALIEN} === 0 && !('polluted' in {{}})")
    )


def links(page: Page) -> set[str]:
    """The schemes of all links."""
    return set(
        page.locator("a").evaluate_all(
            "all => all.map(a => new URL(a.href || a.href.baseVal, location).protocol)"
        )
    )


def test_grid_shows_attacks_as_text(follow: Follow) -> None:
    page = follow("attacking")
    assert unharmed(page)
    text = page.locator("[data-grid]").inner_text()
    for script in SCRIPTS:
        assert " ".join(script.split()) in " ".join(text.split())
    # The characters that replace half a surrogate pair.
    assert printable(ATTACK).split()[-2] in text


@pytest.mark.parametrize("view", ["failures", "trends", "api"])
def test_other_views_show_attacks_as_text(follow: Follow, view: str) -> None:
    page = follow("attacking", f"#view={view}")
    for summary in page.locator("main summary:visible").all():
        summary.click()
    for select in page.locator("main select:visible").all():
        for value in select.locator("option").evaluate_all("all => all.map(each => each.value)"):
            select.select_option(value)
            assert unharmed(page)
    assert SCRIPTS[0] in page.locator(f"[data-view={view}]").inner_text()
    assert links(page) <= {"file:"}


def test_drawer_of_every_cell_shows_attacks_as_text(follow: Follow) -> None:
    page = follow("attacking")
    for result in attacking().ordered_results:
        page.evaluate("id => (location.hash = '#cell=' + encodeURIComponent(id))", result.cell.id)
        spec = result.cell.spec
        expect(page.locator("#drawer-title")).to_have_text(
            f"{spec.kernel}/{spec.variant}/{spec.case}"
        )
        for summary in page.locator("[data-drawer] summary").all():
            # A name of a thousand characters is in the way of the pointer.
            summary.dispatch_event("click")
        assert unharmed(page)
        assert SCRIPTS[0] in page.locator("[data-drawer]").inner_text()
    assert links(page) <= {"file:", "blob:"}


def test_attacks_in_typed_text_and_links_stay_text(open_page: Open) -> None:
    image = "<img src=x onerror=owned=1>"
    page = open_page(
        "attacking",
        fragment=f"#q={image}&cell={image}&view=__proto__&__proto__=1&failure=constructor",
    ).page
    assert image in page.locator("[data-drawer]").inner_text()
    page.keyboard.press("Escape")
    page.locator("form[data-filter] [name=q]").fill(SCRIPTS[0])
    assert unharmed(page)


def test_policy_blocks_unsafe_html_and_images_of_other_hosts(open_page: Open) -> None:
    look = open_page("real")
    with pytest.raises(Exception, match="TrustedHTML"):
        look.page.evaluate("document.body.innerHTML = '<img src=x onerror=owned=1>'")
    look.page.evaluate(
        "document.body.append(Object.assign(document.createElement('img'), {src:"
        " 'http://127.0.0.1:9/x'}))"
    )
    assert look.page.evaluate("typeof owned") == "undefined"
    blocked = [trouble for trouble in look.troubles if "img-src" in trouble]
    assert blocked
    look.troubles.clear()
