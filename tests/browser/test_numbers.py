"""The page shows compile results, numbers and latency separately."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from attrs import evolve
from playwright.sync_api import Page, expect

from compat.model import BuiltEnv, Check, Result, Status
from compat.report.render.page import matrix_html
from tests.browser.looking import Look
from tests.records import ASSERT, OK, SHAPE, TARGETS, bad, env
from tests.report import factory

Follow = Callable[..., Page]
OpenResults = Callable[..., Page]
UNSTABLE = "sel_varlen/block_ptr/many/sm_90/triton-3.1.0"
SLOWER = "sel_varlen/loop_1d/few/sm_90/triton-3.3.0"


@pytest.fixture
def open_results(look: Callable[..., Look], tmp_path: Path) -> OpenResults:
    """Opens the page of some results."""

    def opened(results: Sequence[Result], fragment: str = "") -> Page:
        path = tmp_path / "index.html"
        path.write_text(matrix_html(factory.report(results)), encoding="utf-8")
        page = look(path, fragment=fragment).page
        page.wait_for_selector("body[data-ready]")
        return page

    return opened


def launched(
    built: BuiltEnv, *, us: float = 100.0, device: str = factory.GPU, check: Check = factory.RIGHT
) -> Result:
    """A launch of the only cell of an env."""
    (result,) = factory.results_of("k", "v", factory.always(OK), envs=[built], targets=TARGETS[1:2])
    ran = factory.launched(result, us, evolve(check, launches=30, differing=0, device=device))
    assert ran.latency
    return evolve(ran, latency=evolve(ran.latency, device=device))


def errors(*amounts: float) -> list[Result]:
    """A cell on successive releases, with these largest errors."""
    return [
        launched(env(f"3.{minor}.0"), check=evolve(factory.RIGHT, max_abs=amount))
        for minor, amount in enumerate(amounts, 1)
    ]


def test_a_cell_that_compiles_but_is_unstable_has_the_unstable_mark(follow: Follow) -> None:
    page = follow("run", "")
    line = page.locator("tr[data-name='sel_varlen/block_ptr']")
    expect(line).to_contain_text("compiles; right since 3.2.0")
    assert page.locator(".swatch.m-unstable").first.is_visible()


def test_a_cell_shows_its_numbers_and_its_latency_separately(follow: Follow) -> None:
    page = follow("run", f"#cell={UNSTABLE}")
    facts = page.locator("[data-drawer] .facts-list")
    expect(facts.locator("[data-fact-line=right]")).to_contain_text("7 of 30 launches differ")
    expect(facts.locator("[data-fact-line=right]")).to_contain_text("interpreter: ok")
    expect(facts.locator("[data-fact-line=fast]")).to_contain_text(
        "200 µs on NVIDIA H200, 2.50 × the baseline"
    )


def test_a_tuned_variant_shows_its_best_config_and_since_which_release(follow: Follow) -> None:
    page = follow("tuned", "")
    best = page.locator("tr[data-name='layer_norm/whole_row'] [data-tuned]")
    assert best.inner_text() == "best since 3.9.0: num_warps=16"
    assert page.locator("tr[data-name='layer_norm'] [data-tuned]").count() == 0
    other = page.locator("tr[data-name='sel_varlen/broadcast_2d'] [data-tuned]")
    assert other.inner_text() == "best since 3.4.0: num_warps=4, num_stages=2"
    assert follow("run", "").locator("[data-tuned]").count() == 0


def test_the_trends_show_the_best_config_and_the_cost_of_keeping_an_old_one(
    follow: Follow,
) -> None:
    page = follow("tuned", "#view=trends&kernel=layer_norm")
    answer = page.locator("[data-tuned-answer='layer_norm/whole_row/n16384/sm_90']")
    expect(answer).to_contain_text("tuned on NVIDIA H100 80GB HBM3")
    expect(answer.locator("li").first).to_contain_text("inverts between 3.7.1 and 3.8.0")
    curves = answer.locator("[data-chart] g.series")
    last = [curves.nth(at).locator("a").last.get_attribute("aria-label") for at in range(2)]
    assert last == [
        "best config, 3.9.0: 191.168 µs",
        "num_warps=32, best on 3.0.0, 3.9.0: 221.408 µs",
    ]
    assert [curves.nth(at).locator("a").count() for at in range(2)] == [13, 13]
    costs = answer.locator("[data-staying] tbody tr")
    assert costs.nth(11).locator("td").last.inner_text() == "2.02"  # the best of 3.8.0, on 3.9.0
    assert page.locator("[data-tuned-answer]").count() == 1
    curves.first.locator("a").last.click()
    drawer = page.locator("[data-drawer]")
    expect(drawer).to_contain_text("num_warps=16: 191.168 µs on NVIDIA H100 80GB HBM3")
    expect(drawer).to_contain_text("num_warps=32, of 3.0.0: 221.408 µs, 1.16 × the best")


def test_a_slower_latency_is_shown_with_that_of_the_previous_release(follow: Follow) -> None:
    page = follow("run", f"#cell={SLOWER}")
    fast = page.locator("[data-drawer] [data-fact-line=fast]")
    expect(fast).to_contain_text("300 µs on NVIDIA H200")
    expect(fast).to_contain_text("156.4 µs in 3.2.0")


def test_a_run_that_did_not_finish_is_neither_wrong_nor_untested(
    open_results: OpenResults,
) -> None:
    ends = {"3.1.0": Status.REJECTED, "3.2.0": Status.LOST}
    results = [
        factory.interpreted(result, Check(status=ends[str(result.built.release)], reason="it ends"))
        for result in factory.results_of(
            "k", "v", factory.always(OK), envs=map(env, ends), targets=TARGETS[1:2]
        )
    ]
    page = open_results(results, "#cell=k/v/d64/sm_90/triton-3.2.0")
    right = page.locator("[data-drawer] [data-fact-line=right]")
    expect(right).to_contain_text("interpreter: lost, it ends")
    label = page.locator("tr[data-name=k] [data-release]").first.get_attribute("aria-label")
    assert label == "k, 3.1.0: 0 of 1 variant work, unexpected"
    page.keyboard.press("Escape")
    page.locator("[data-fact=right]").click()
    cells = page.locator("tr[data-name='k/v'] [data-release]")
    assert cells.evaluate_all("all => all.map(cell => cell.ariaLabel)") == [
        "v, 3.1.0: a run ends with an error",
        "v, 3.2.0: not tested",
    ]


# --- errors ---------------------------------------------------------------------------------------


def test_small_errors_have_significant_digits(open_results: OpenResults) -> None:
    page = open_results(errors(0.00001, 0.000123456, 0.0123456), "#view=trends")
    assert page.locator("[data-jump]").all_inner_texts() == [
        "k/v 3.3.0: largest error 1.23e-4 → 0.0123",
        "k/v 3.2.0: largest error 1e-5 → 1.23e-4",
    ]
    chart = page.locator('[data-chart="v/Largest error"]')
    assert "max 0.0123" in chart.inner_text()
    assert chart.locator("a").first.get_attribute("aria-label") == "sm_90, 3.1.0: 1e-5"


def test_an_error_after_none_is_no_jump(open_results: OpenResults) -> None:
    """A change from or to 0 has no factor. Errors beyond the tolerance have marks in the grid."""
    page = open_results(errors(0, 0.00001, 0), "#view=trends")
    assert page.locator("[data-jump]").all_inner_texts() == []
    assert page.locator("[data-chart='v/Largest error'] .series .flag").count() == 0


# --- devices, envs and forks ---------------------------------------------------------------------


@pytest.mark.parametrize("device", ["NVIDIA H200", "NVIDIA H100"])
def test_only_measurements_of_one_device_make_a_jump(
    open_results: OpenResults, device: str
) -> None:
    small, large = (evolve(factory.RIGHT, max_abs=amount) for amount in (0.001, 0.1))
    results = [
        launched(env("3.1.0"), check=small),
        launched(env("3.2.0"), us=200, device=device, check=large),
    ]
    page = open_results(results, "#view=trends")
    is_jump = device == factory.GPU
    assert page.locator("[data-jump]").all_inner_texts() == (
        ["k/v 3.2.0: latency 100 µs → 200 µs, largest error 0.001 → 0.1"] if is_jump else []
    )
    assert page.locator("[data-chart='v/Latency'] .series .flag").count() == is_jump
    curve = page.locator("[data-chart='v/Latency'] .series > path").first.get_attribute("d")
    assert curve
    assert ("L" in curve) is is_jump


def test_a_fork_is_compared_only_with_forks(open_results: OpenResults) -> None:
    built = [env(release, name=release) for release in ("3.1.0", "3.1.0+a", "3.1.0+b")]
    failures = {"3.1.0": SHAPE, "3.1.0+a": ASSERT, "3.1.0+b": SHAPE}
    results = [
        *(launched(one, us=us) for one, us in zip(built, (100, 200, 300), strict=True)),
        *factory.results_of(
            "k", "w", lambda release, _: bad(failures[release]), envs=built, targets=TARGETS[1:2]
        ),
    ]
    page = open_results(results)
    for sign in (".slower", ".changed"):
        cells = page.locator(f"td{sign}")
        assert cells.evaluate_all("all => all.map(cell => cell.dataset.release)") == ["3.1.0+b"]


def test_the_worst_env_of_a_release_decides_about_right_and_fast(
    open_results: OpenResults,
) -> None:
    wrong = evolve(factory.RIGHT, status=Status.WRONG, reason="is 1, expected 2")
    results = [
        launched(env("3.1.0")),
        launched(env("3.2.0")),
        launched(env("3.2.0", name="pt2.9", torch="2.9.1"), us=200, check=wrong),
    ]
    page = open_results(results)
    for fact, mark in (("right", "WRONG"), ("fast", "slower")):
        page.locator(f"[data-fact={fact}]").click()
        cells = page.locator("tr[data-name='k/v'] [data-release]")
        assert cells.evaluate_all("all => all.map(cell => cell.dataset.mark)") == ["ok", mark]
