"""The page's view of the names in the toolchain's API."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

Follow = Callable[..., Page]

NAMES = "#view=api"


def states(page: Page, name: str) -> list[str]:
    state_names: list[str] = page.locator(f'tr[data-name="{name}"] [data-state]').evaluate_all(
        "all => all.map(each => each.dataset.state)"
    )
    return state_names


def summary(page: Page, name: str) -> str:
    return page.locator(f'tr[data-name="{name}"] summary').inner_text()


def shown(page: Page) -> list[str]:
    names: list[str] = page.locator("[data-names] tr[data-name]").evaluate_all(
        "all => all.map(each => each.dataset.name)"
    )
    return names


def test_a_page_without_names_has_no_view_of_names(follow: Follow) -> None:
    page = follow("real", NAMES)
    assert page.locator("[data-view-link=api]").count() == 0
    assert page.locator("[data-view=grid]").is_visible()


def test_each_inspected_release_has_a_state_and_others_are_unseen(follow: Follow) -> None:
    page = follow("various", f"{NAMES}&name=tl")
    assert states(page, "tl.make_block_ptr") == ["there", "there", "unseen", "there", "refuses"]
    assert (
        summary(page, "tl.make_block_ptr")
        == "only raises an error in 3.9.0; deprecated 3.7.0; deprecated 3.8.0"
    )
    assert states(page, "tl.make_tensor_descriptor") == [
        "absent",
        "absent",
        "unseen",
        "there",
        "there",
    ]
    assert summary(page, "tl.make_tensor_descriptor") == "in 3.8.0, not in 3.7.0"
    assert summary(page, "tl.advance") == "removed by 3.8.0, present in 3.7.0"
    assert states(page, "tl.ops") == ["unknown", "unknown", "unseen", "there", "there"]
    assert summary(page, "tl.ops") == "in every release that was inspected"
    assert "Not inspected: 3.7.1." in page.locator("[data-view=api] .lead").inner_text()


def test_the_search_filters_names_and_updates_the_url(follow: Follow) -> None:
    page = follow("various", "")
    page.locator("[data-view-link=api]").click()
    expect(page.locator("[data-view=api] .count")).to_have_text(
        "200 of 306 names are shown. Search for the others."
    )
    page.locator("[data-name-search]").fill("block")
    assert shown(page) == ["tl.make_block_ptr"]
    assert "name=block" in page.url
    facts = page.locator('tr[data-name="tl.make_block_ptr"] dl')
    expect(facts).to_contain_text("only raises an error", use_inner_text=True)
    expect(facts).to_contain_text("3.9.0: RuntimeError: removed", use_inner_text=True)
    expect(facts).to_contain_text(
        "3.6.0–3.7.0, 3.8.0–3.9.0: tl.make_block_ptr(a, b)", use_inner_text=True
    )
    page.locator("[data-name-search]").fill("math.view")
    assert shown(page) == ["tl.view"]
    expect(page.locator("[data-names] dl").last).to_contain_text("tl.math.view")
    page.locator("[data-name-search]").fill("nothing is called so")
    assert page.locator("[data-view=api] .count").inner_text() == "No name matches."


def test_names_are_filtered_by_kind_of_change(follow: Follow) -> None:
    page = follow("various", NAMES)
    for which, names in (
        ("since", ["tl.make_tensor_descriptor"]),
        ("gone", ["tl.make_block_ptr", "tl.advance"]),
        ("changed", ["tl.make_tensor_descriptor"]),
        ("deprecated", ["tl.make_block_ptr", "tl.view", "tl.(a, b)"]),
    ):
        page.locator("[data-name-which]").select_option(which)
        assert shown(page) == names
        assert f"said={which}" in page.url
