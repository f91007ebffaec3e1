"""The grid: its contents, its folding, and its filter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from compat.history.verdict import points_of
from compat.report.render.page import matrix_html
from compat.report.summary.grid import mark_of, phrase_in_full
from compat.report.summary.record import Report
from compat.report.views.matrix_markdown import headline
from tests.browser.looking import Look
from tests.browser.pages import large, real, various
from tests.records import OK, REMOVED, SHAPE, bad, env
from tests.report import factory
from tests.report.factory import SUSPICION

Open = Callable[..., Look]
Follow = Callable[..., Page]


def lines(page: Page) -> list[str]:
    """The names of the lines that are visible, or nearly so."""
    names: list[str] = page.locator("[data-grid] tr[data-level]").evaluate_all(
        "rows => rows.map(row => row.dataset.name)"
    )
    return names


def line(page: Page, name: str) -> Locator:
    return page.locator(f'[data-grid] tr[data-name="{name}"]')


def marks(page: Page, name: str) -> dict[str, str]:
    """Release → mark of a line."""
    cells = line(page, name).locator("[data-release]")
    return dict(
        cells.evaluate_all("cells => cells.map(cell => [cell.dataset.release, cell.dataset.mark])")
    )


def count(page: Page) -> str:
    return page.locator("[data-count]").inner_text()


# --- contents -------------------------------------------------------------------------------------


def test_the_first_view_is_a_sentence_and_the_grid(open_page: Open) -> None:
    page, report = open_page("real").page, real()
    assert page.locator("[data-headline]").inner_text() == headline(report).replace("**", "")
    assert page.locator("[data-view=grid]").is_visible()
    assert page.locator("[data-view=failures]").is_hidden()
    releases = page.locator("[data-grid] thead th").all_inner_texts()[1:-1]
    assert releases == [release.label for release in report.releases]
    kernels = dict.fromkeys(verdict.kernel for verdict in report.verdicts)
    variants = dict.fromkeys(f"{verdict.kernel}/{verdict.variant}" for verdict in report.verdicts)
    assert [name for name in lines(page) if name in kernels] == list(kernels)
    assert {name for name in lines(page) if "/" in name} <= set(variants)
    assert count(page) == f"{len(variants)} variants, {len(report.results):,} cells"


@pytest.mark.parametrize(("name", "report"), [("real", real), ("various", various)])
def test_each_cell_is_marked_as_in_the_other_reports(
    follow: Follow, name: str, report: Callable[[], Report]
) -> None:
    page, matrix_report = follow(name), report()
    verdicts = {
        (v.kernel, v.variant, v.case, v.target): phrase_in_full(v) for v in matrix_report.verdicts
    }
    for coordinate, results in list(matrix_report.by_coordinate.items())[
        :: len(matrix_report.by_coordinate) // 12
    ]:
        page.locator("form[data-filter] [name=q]").fill("/".join(coordinate))
        of_it = "/".join(coordinate[:2])
        expected = {
            point.release.label: mark_of(matrix_report, point).word for point in points_of(results)
        }
        assert marks(page, of_it) == {
            release: expected.get(release, "-") for release in marks(page, of_it)
        }
        assert line(page, of_it).locator("[data-verdict]").inner_text() == verdicts[coordinate]


def test_cells_have_labels_for_screen_readers(follow: Follow) -> None:
    shape = next(
        distinct_failure
        for distinct_failure in various().failures
        if distinct_failure.failure.failure_class == "shape-mismatch"
    )
    crash = next(
        distinct_failure
        for distinct_failure in various().failures
        if distinct_failure.failure.failure_class == "internal-error"
    )
    variant = shape.where[0]
    page = follow("various", f"#q={variant.kernel}/{variant.variant}/")
    cells = line(page, f"{variant.kernel}/{variant.variant}").locator("[data-release]")
    labels = dict(
        cells.evaluate_all("cells => cells.map(cell => [cell.dataset.release, cell.ariaLabel])")
    )
    assert (
        labels["3.4.0"]
        == f"{variant.variant}, 3.4.0: rejected with a diagnostic, shape-mismatch, {shape.id}"
    )
    assert labels["3.5.0"].endswith(
        f"the compiler crashed, internal-error, {crash.id}, a different failure than on the"
        " previous release, unexpected"
    )
    assert labels["4.1.0"] == f"{variant.variant}, 4.1.0: not tested"


# --- folding and switches -------------------------------------------------------------------------


def test_kernels_and_variants_fold_and_unfold(follow: Follow) -> None:
    page = follow("real")
    everything = lines(page)
    kernel, variant = line(page, "sel_dense"), line(page, "sel_varlen/loop_1d")
    kernel.locator("th").click()
    assert kernel.get_attribute("aria-expanded") == "false"
    assert lines(page) == [name for name in everything if not name.startswith("sel_dense/")]
    variant.locator("th").click()
    cases = {
        f"sel_varlen/loop_1d/{case}/{target}"
        for case in ("few", "many", "mixed")
        for target in ("sm_80", "sm_89", "sm_90")
    }
    assert {name for name in lines(page) if name.count("/") == 3} == cases
    kernel.locator("th").click()
    variant.locator("th").click()
    assert lines(page) == everything


def test_targets_and_cases_are_switches(follow: Follow) -> None:
    page = follow("real")
    page.locator("[data-target=sm_90]").click()
    assert count(page) == "14 variants, 546 of 1,638 cells"
    page.locator("[data-target=sm_80]").click()
    assert count(page) == "14 variants, 1,092 of 1,638 cells"
    page.locator("form[data-filter] [data-case=few]").click()
    assert count(page) == f"8 variants, {8 * 2 * 13} of 1,638 cells"
    assert page.locator("[data-target=sm_90]").get_attribute("aria-pressed") == "true"
    page.locator("[data-clear]").click()
    assert count(page) == "14 variants, 1,638 cells"


def test_compiles_right_and_fast_are_three_facts(follow: Follow) -> None:
    page = follow("real")
    assert set(marks(page, "sel_dense/broadcast_2d").values()) == {"ok"}
    page.locator("[data-fact=right]").click()
    assert set(marks(page, "sel_dense/broadcast_2d").values()) == {"-"}  # no number was checked
    assert "fact=right" in page.url


# --- the filter -----------------------------------------------------------------------------------


def test_text_filters_by_name_class_and_failure(follow: Follow) -> None:
    page = follow("real")
    search = page.locator("form[data-filter] [name=q]")
    search.fill("block_ptr sel_dense")
    assert lines(page) == ["sel_dense", "sel_dense/block_ptr"]
    search.fill("api-missing")
    assert [name for name in lines(page) if "/" in name] == [
        "sel_dense/descriptor",
        "sel_varlen/descriptor",
    ]
    search.fill("no such thing")
    assert lines(page) == []
    assert count(page) == "Nothing matches the filter."
    search.fill("")
    assert count(page) == "14 variants, 1,638 cells"


def test_marks_and_classes_filter_cells(follow: Follow) -> None:
    page = follow("real")
    page.locator("[data-mark-filter=CRASH]").click()
    assert [name for name in lines(page) if "/" in name] == ["sel_varlen/as_written"]
    assert count(page) == "1 variant, 117 of 1,638 cells"
    page.locator("[data-mark-filter='ok*']").click()
    assert count(page) == "3 variants, 171 of 1,638 cells"
    page.locator("[data-clear]").click()
    page.locator("form[data-filter] select[name=class]").select_option("api-removed")
    assert [name for name in lines(page) if "/" in name] == [
        "sel_dense/block_ptr",
        "sel_varlen/block_ptr",
    ]
    assert count(page) == "2 variants, 18 of 1,638 cells"


def test_failed_checks_of_numbers_are_a_class_of_the_filter(follow: Follow) -> None:
    page = follow("run")
    classes = line(page, "sel_varlen/block_ptr").locator(".classes")
    assert classes.inner_text() == "not-right"
    page.locator("form[data-filter] select[name=class]").select_option("not-right")
    assert count(page) == "1 variant, 1 of 12 cells"
    page.locator("[data-clear]").click()
    page.locator("form[data-filter] [name=q]").fill("not-right")
    assert [name for name in lines(page) if "/" in name] == ["sel_varlen/block_ptr"]


def test_classes_of_earlier_runs_are_in_the_filter(
    look: Callable[..., Look], tmp_path: Path
) -> None:
    now = [
        result
        for variant, outcome in (("v", OK), ("w", bad(SHAPE)))
        for result in factory.results_of("k", variant, factory.always(outcome), envs=[env("3.4.0")])
    ]
    earlier = factory.results_of("k", "v", factory.always(bad(REMOVED)), envs=[env("3.9.0")])
    path = tmp_path / "index.html"
    path.write_text(matrix_html(factory.report(now, remembered=earlier)), encoding="utf-8")
    page = look(path).page
    page.wait_for_selector("body[data-ready]")
    choice = page.locator("form[data-filter] select[name=class]")
    assert choice.locator("option").all_inner_texts() == [
        "Class: all",
        "api-removed",
        "shape-mismatch",
    ]
    choice.select_option("api-removed")
    assert [name for name in lines(page) if "/" in name] == ["k/v"]


def test_filter_shows_only_variants_with_unexpected_cells(follow: Follow) -> None:
    page, report = follow("various"), various()
    page.locator("[data-only=unexpected]").click()
    unexpected = {f"{r.cell.spec.kernel}/{r.cell.spec.variant}" for r in report.unexpected_results}
    assert {name for name in lines(page) if "/" in name} <= unexpected
    assert f"{len(report.unexpected_results):,} of {len(report.results):,} cells" in count(page)


def test_slow_suspect_has_a_mark_a_filter_and_a_sentence(follow: Follow) -> None:
    page = follow("suspected")
    of_it = line(page, "k/v").locator("[data-release]")
    marked = of_it.evaluate_all(
        "cells => cells.filter(c => c.querySelector('.suspicion')).map(c => c.dataset.release)"
    )
    assert marked == ["3.9.0"]
    assert marks(page, "k/v")["3.9.0"] == "ok"
    last = of_it.last
    assert "likely slower than on the previous release" in (last.get_attribute("aria-label") or "")
    page.locator("[data-only=suspected]").click()
    assert count(page) == "1 variant, 1 of 6 cells"
    last.click()
    drawer = page.locator("[data-drawer]")
    expect(drawer.locator("[data-suspicion]")).to_have_text(f"L{SUSPICION[1:]}.")
    drawer.locator("[data-neighbour='3.8.0']").click()
    expect(drawer.locator("[data-suspicion]")).to_have_count(0)
    assert follow("run").locator("[data-only=suspected]").count() == 0


# --- 20,000 cells ---------------------------------------------------------------------------------


def test_20000_cells_are_a_small_file_and_few_elements(open_page: Open) -> None:
    look = open_page("large")
    assert look.path.stat().st_size < 5_000_000
    assert "20,000 cells" in count(look.page)
    assert look.page.evaluate("document.querySelectorAll('*').length") < 4_000
    kernels = list(dict.fromkeys(verdict.kernel for verdict in large().verdicts))
    assert lines(look.page)[:8] == kernels[:8]


def test_every_line_of_20000_cells_can_be_scrolled_to(follow: Follow) -> None:
    page = follow("large")
    kernels = list(dict.fromkeys(verdict.kernel for verdict in large().verdicts))
    last = line(page, kernels[-1])
    page.locator("[data-scroller]").evaluate("element => element.scrollTo(0, element.scrollHeight)")
    expect(last).to_be_visible()
    last.locator("th").click()
    page.locator("[data-scroller]").evaluate("element => element.scrollTo(0, element.scrollHeight)")
    variant = max(v.variant for v in large().verdicts if v.kernel == kernels[-1])
    expect(line(page, f"{kernels[-1]}/{variant}")).to_be_visible()
    last.locator("th").click()  # folds it, as it was


def test_20000_cells_are_filtered(follow: Follow) -> None:
    page = follow("large")
    page.locator("form[data-filter] [name=q]").fill("softmax_010")
    assert lines(page)[0] == "softmax_010"
    cells = [result for result in large().results if result.cell.spec.kernel == "softmax_010"]
    assert f"{len(cells):,} of 20,000 cells" in count(page)
