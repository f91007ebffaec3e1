"""The page's views of failures and of trends."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import evolve
from playwright.sync_api import Page, expect

from compat.model import Result
from compat.report.render.page import matrix_html
from tests import records
from tests.browser.looking import Look
from tests.browser.pages import large, real
from tests.report import factory

Follow = Callable[..., Page]


def test_each_distinct_failure_is_one_entry_with_all_its_places(follow: Follow) -> None:
    page, report = follow("real", "#view=failures"), real()
    shown = page.locator("[data-failure]").evaluate_all(
        "all => all.map(each => each.dataset.failure)"
    )
    assert shown == [distinct_failure.failure.fingerprint for distinct_failure in report.failures]
    missing = next(
        distinct_failure
        for distinct_failure in report.failures
        if distinct_failure.failure.failure_class == "api-missing"
    )
    entry = page.locator(f'[data-failure="{missing.failure.fingerprint}"]')
    assert f"{len(missing.results)} cells" in entry.inner_text()
    entry.locator("summary").click()
    expect(entry).to_contain_text(missing.failure.excerpt.strip(), use_inner_text=True)
    for where in missing.where:
        expect(entry).to_contain_text(where.subject)
        expect(entry).to_contain_text(where.releases)


def test_failures_are_searched_by_class_and_fingerprint(follow: Follow) -> None:
    page = follow("large", "#view=failures")
    assert (
        f"{len(large().failures)} distinct failures"
        in page.locator("[data-view=failures] h2").inner_text()
    )
    search = page.locator("[data-failure-search]")
    search.fill("api-removed")
    of_class = [
        distinct_failure.failure.fingerprint
        for distinct_failure in large().failures
        if distinct_failure.failure.failure_class == "api-removed"
    ]
    assert (
        page.locator("[data-failure]").evaluate_all("all => all.map(each => each.dataset.failure)")
        == of_class
    )
    search.fill(large().failures[-1].failure.fingerprint)
    assert page.locator("[data-failure]").count() == 1
    search.fill("nothing has this")
    assert page.locator("[data-failure]").count() == 0


def test_a_failure_links_to_its_cells_and_a_cell_links_to_its_failure(follow: Follow) -> None:
    page = follow("real", "#cell=sel_dense/block_ptr/d64/sm_90/triton-3.9.0")
    page.get_by_role("link", name=re.compile("all places")).click()
    removed = next(
        distinct_failure
        for distinct_failure in real().failures
        if distinct_failure.failure.failure_class == "api-removed"
    )
    entry = page.locator(f'[data-failure="{removed.failure.fingerprint}"]')
    assert entry.locator("details").get_attribute("open") is not None
    assert page.locator("[data-drawer]").is_hidden()
    entry.get_by_role("link", name=re.compile("^sel_varlen.block_ptr")).click()
    assert page.locator("[data-view=grid]").is_visible()
    assert page.locator("tr[data-level=variant]").evaluate_all(
        "all => all.map(each => each.dataset.name)"
    ) == ["sel_varlen/block_ptr"]


def test_going_back_shows_the_previous_view(follow: Follow) -> None:
    page = follow("real")
    page.locator("[data-view-link=failures]").click()
    page.locator("[data-view-link=trends]").click()
    assert page.locator("[data-view=trends]").is_visible()
    assert page.locator("[data-view-link=trends]").get_attribute("aria-current") == "page"
    page.go_back()
    assert page.locator("[data-view=failures]").is_visible()
    page.go_back()
    assert page.locator("[data-view=grid]").is_visible()


def test_jumps_are_listed_and_link_to_their_cells(follow: Follow) -> None:
    page = follow("various", "#view=trends")
    jumps = page.locator("[data-jump]").all_inner_texts()
    spilling = [jump for jump in jumps if "registers 32 → 255" in jump]
    assert spilling
    assert all("3.8.0" in jump and "spills 0 B → 43 kB" in jump for jump in spilling)
    page.locator("[data-jump] a").first.click()
    assert page.locator("[data-drawer]").is_visible()


def test_worsening_jumps_come_first_and_the_button_says_how_many_it_shows(follow: Follow) -> None:
    page = follow("real", "#view=trends")
    jumps, more = page.locator("[data-jump]"), page.locator(".jump-list button")
    total = int(page.locator(".jump-list h3").inner_text().split()[0])
    assert 40 < total <= 80
    assert jumps.count() == 8
    assert more.inner_text() == "Show 40"
    more.click()
    assert jumps.count() == 40
    assert more.inner_text() == f"Show all {total}"
    more.click()
    assert jumps.count() == total
    expect(more).to_be_hidden()
    worse = [_worsens(text) for text in jumps.all_inner_texts()]
    assert set(worse) == {True, False}
    assert worse == sorted(worse, reverse=True)


def test_one_release_has_nothing_to_compare(look: Callable[..., Look], tmp_path: Path) -> None:
    def lead(results: Sequence[Result]) -> str:
        path = tmp_path / "index.html"
        path.write_text(matrix_html(factory.report(results)), encoding="utf-8")
        return str(
            look(path, fragment="#view=trends")
            .page.locator("[data-view=trends] p.lead")
            .nth(1)
            .inner_text()
        )

    one, other = (
        factory.results_of("k", "v", factory.always(records.OK), envs=[records.env(release)])
        for release in ("3.1.0", "3.2.0")
    )
    failed = factory.results_of(
        "k", "v", factory.always(records.bad(records.SHAPE)), envs=[records.env("3.3.0")]
    )
    assert (
        lead(one)
        == lead([*one, *failed])
        == "Nothing to compare: no kernel compiles on two of the tested releases."
    )
    assert lead([*one, *other]).startswith("No jumps: ")


def test_machine_load_makes_no_jump(look: Callable[..., Look], tmp_path: Path) -> None:
    """Compile time is measured in CPU seconds: other processes slow only the clock time."""
    quick = evolve(records.OK, seconds=1, stages={"source": 1, "llir": 1})
    slow = evolve(records.OK, seconds=9, stages={"source": 7, "llir": 1.1})
    costly = evolve(records.OK, seconds=9, stages={"source": 1, "llir": 5, "cubin": 3})
    results = [
        result
        for variant, outcome in (("slow", slow), ("costly", costly))
        for result in factory.results_of(
            "k",
            variant,
            factory.since("3.2.0", outcome, quick),
            envs=[records.env("3.1.0"), records.env("3.2.0")],
            targets=records.TARGETS[:1],
        )
    ]
    path = tmp_path / "index.html"
    path.write_text(matrix_html(factory.report(results)), encoding="utf-8")
    jumps = look(path, fragment="#view=trends").page.locator("[data-jump]").all_inner_texts()
    assert jumps == ["k/costly 3.2.0: compile time 1.00 s → 8.00 s"]


def _worsens(jump: str) -> bool:
    """Whether any amount of the jump grows."""
    changes = re.findall(r"([\d,.]+)(?: (k?B|s))? → ([\d,.]+)(?: (k?B|s))?", jump)
    assert changes, jump
    return any(
        _amount(after, unit_after) > _amount(before, unit)
        for before, unit, after, unit_after in changes
    )


def _amount(digits: str, unit: str) -> float:
    return float(digits.replace(",", "")) * (1000 if unit == "kB" else 1)


def test_charts_show_each_variant_over_the_releases(follow: Follow) -> None:
    page, report = follow("real", "#view=trends&kernel=sel_dense"), real()
    chart = page.locator('[data-chart="broadcast_2d/Registers"]')
    results = [
        result
        for result in report.results
        if (result.cell.spec.kernel, result.cell.spec.variant, result.cell.spec.case)
        == ("sel_dense", "broadcast_2d", "d64")
    ]
    registers = [result.outcome.metrics["registers"] for result in results]
    assert chart.locator("a").count() == len(registers)
    assert f"max {max(registers)}" in chart.inner_text()
    label = chart.locator("svg").get_attribute("aria-label")
    assert label is not None
    assert label.startswith("broadcast_2d, registers: sm_80 ")
    page.locator("[data-view=trends] select").select_option("sel_varlen")
    assert page.locator('[data-chart="as_written_mask_shape/Registers"]').is_visible()
    assert page.locator('[data-chart="as_written/Registers"]').count() == 0  # it compiles nowhere
