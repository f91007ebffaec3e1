"""Compiling, numbers and latency, apart."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.looking import Look

Open = Callable[..., Look]
UNSTABLE = "sel_varlen/block_ptr/many/sm_90/triton-3.1.0"
SLOWER = "sel_varlen/loop_1d/few/sm_90/triton-3.3.0"


def test_what_compiles_and_is_unstable_is_no_good_mark(open_page: Open) -> None:
    page = open_page("run").page
    line = page.locator("tr[data-name='sel_varlen/block_ptr']")
    expect(line).to_contain_text("compiles; right since 3.2.0")
    assert page.locator(".swatch.m-unstable").first.is_visible()


def test_a_cell_tells_the_three_apart(open_page: Open) -> None:
    page = open_page("run", fragment=f"#cell={UNSTABLE}").page
    facts = page.locator("[data-drawer] .facts-list")
    expect(facts.locator("[data-fact-line=right]")).to_contain_text("7 of 30 launches differ")
    expect(facts.locator("[data-fact-line=right]")).to_contain_text("interpreter: ok")
    expect(facts.locator("[data-fact-line=fast]")).to_contain_text(
        "200 µs on NVIDIA H200, 2.50 × the baseline"
    )


def test_a_slower_release_is_shown_beside_the_one_before(open_page: Open) -> None:
    page = open_page("run", fragment=f"#cell={SLOWER}").page
    fast = page.locator("[data-drawer] [data-fact-line=fast]")
    expect(fast).to_contain_text("300 µs on NVIDIA H200")
    expect(fast).to_contain_text("156.4 µs in 3.2.0")
