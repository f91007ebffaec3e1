"""The drawer: its facts about a cell, its copies and downloads, and the link that opens it."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from attrs import evolve
from playwright.sync_api import Page, expect

from compat.model import Result
from compat.report.render.page import matrix_html
from tests import records
from tests.browser.looking import Look
from tests.browser.pages import real, various
from tests.report import factory

Open = Callable[..., Look]
Follow = Callable[..., Page]
CELL = "sel_dense/as_written/d64/sm_90/triton-3.5.0"


def result(cell: str) -> Result:
    return next(cell_result for cell_result in real().results if cell_result.cell.id == cell)


def facts(page: Page) -> dict[str, str]:
    """The facts in the lists of the drawer, by label."""
    definitions = page.locator("[data-drawer] dl.definitions > div")
    return dict(
        definitions.evaluate_all(
            "all => all.map(each => [each.firstChild.textContent,"
            " each.lastChild.firstChild.textContent])"
        )
    )


def copied(page: Page) -> str:
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


# --- facts ----------------------------------------------------------------------------------------


def test_click_on_a_cell_opens_the_drawer(follow: Follow) -> None:
    page = follow("real")
    assert page.locator("[data-drawer]").is_hidden()
    page.locator('tr[data-name="sel_dense/as_written"] [data-release="3.5.0"]').click()
    assert page.locator("[data-drawer]").is_visible()
    assert page.locator("[data-drawer] h2").inner_text() == "sel_dense/as_written/d64"
    assert "3.5.0" in page.locator("[data-drawer] .title").inner_text()
    assert "cell=sel_dense/as_written/d64/" in page.url


def test_drawer_says_whether_a_declared_failure_must_happen(
    look: Callable[..., Look], tmp_path: Path
) -> None:
    loose = "ok, or rejected (shape-mismatch)"
    shown = {
        "loose": (loose, f"declared {loose}"),
        "strict": ("rejected (shape-mismatch)", "as declared"),
    }
    expectation = records.declared(records.SHAPE, reason="So it is.")
    rejected = {
        variant: factory.results_of(
            "k",
            variant,
            factory.always(records.bad(records.SHAPE)),
            envs=[records.env("3.1.0")],
            targets=records.TARGETS[:1],
            expect=[evolve(expectation, strict=variant == "strict")],
        )
        for variant in shown
    }
    path = tmp_path / "index.html"
    results = [result for of_variant in rejected.values() for result in of_variant]
    path.write_text(matrix_html(factory.report(results)), encoding="utf-8")
    opened = look(path)
    opened.page.wait_for_selector("body[data-ready]")
    for variant, (declaration, beside) in shown.items():
        opened.follow(f"#cell={rejected[variant][0].cell.id}")
        line = opened.page.locator("[data-fact-line=compiles] strong")
        assert line.inner_text() == beside
        assert facts(opened.page)["Declared"] == f"{declaration}. So it is."


def test_drawer_shows_the_facts_of_a_failure(follow: Follow) -> None:
    page = follow("real", f"#cell={CELL}")
    failed, fields = result(CELL).outcome.failure, facts(page)
    assert failed is not None
    assert (
        fields["Class"],
        fields["Fingerprint"].removesuffix("Copy"),
        fields["Stage"],
        fields["Location"],
    ) == (
        failed.failure_class,
        failed.fingerprint,
        failed.stage,
        failed.location,
    )
    assert fields["Declared"].startswith("rejected (shape-mismatch). ")
    drawer = page.locator("[data-drawer]")
    assert drawer.locator(".advice").inner_text().replace("`", "") == failed.advice.replace("`", "")
    assert drawer.locator("[data-excerpt]").inner_text() == failed.excerpt
    assert "as declared" in drawer.locator("[data-fact-line=compiles]").inner_text()
    assert "not tested" in drawer.locator("[data-fact-line=right]").inner_text()
    assert "not tested" in drawer.locator("[data-fact-line=fast]").inner_text()


def test_drawer_shows_the_facts_of_a_cell_that_compiles(follow: Follow) -> None:
    cell = "sel_dense/block_ptr/d64/sm_90/triton-3.8.0"
    page = follow("real", f"#cell={cell}")
    text = page.locator("[data-drawer]").inner_text()
    outcome = result(cell).outcome
    assert f"{outcome.metrics['artifacts']['cubin']:,}" in text
    assert str(outcome.metrics["registers"]) in text
    assert outcome.warnings[0].message in text
    earlier = result("sel_dense/block_ptr/d64/sm_90/triton-3.7.1").outcome
    assert f"was {earlier.metrics['artifacts']['cubin']:,}" in text
    page.locator("[data-drawer] .circumstances summary").click()
    fields = facts(page)
    assert fields["Env"].startswith("triton-3.8.0: Triton 3.8.0")
    assert "*fp16" in fields["Compiled with"]


def test_drawer_shows_the_source_at_the_line_with_a_caret(follow: Follow) -> None:
    page = follow("real", f"#cell={CELL}")
    failed, source = (
        result(CELL).outcome.failure,
        real().sources["kernels/sel_dense.py"].splitlines(),
    )
    assert failed is not None
    assert failed.location == "sel_dense.py:340"
    shown = page.locator("[data-source]")
    offending = shown.locator("[data-offending] .text")
    assert offending.inner_text() == source[339]
    assert shown.locator("[data-line='339'] .text").inner_text() == source[338]
    caret = shown.locator(".caret .text").inner_text()
    assert source[339][caret.index("^") :].startswith("K_ptr + (l0")
    page.get_by_role("button", name="Whole file").click()
    assert shown.locator("[data-line]").count() >= len(source)


def test_drawer_says_why_an_env_cannot_be_built(follow: Follow) -> None:
    cell = next(cell_result for cell_result in various().results if cell_result.built.error)
    page = follow("various", f"#cell={cell.cell.id}")
    page.locator("[data-drawer] .circumstances summary").click()
    assert "no wheels for triton==4.0.0" in facts(page)["Env error"]


def test_drawer_distinguishes_several_envs_of_a_release(follow: Follow) -> None:
    cell = next(
        cell_result for cell_result in various().results if cell_result.cell.env.name == "pt2.9"
    )
    page = follow("various", f"#cell={cell.cell.id}")
    page.locator("[data-drawer] .circumstances summary").click()
    assert "PyTorch 2.9.1" in facts(page)["Env"]
    page.get_by_role("button", name="triton-3.5.1:").click()
    assert page.url.endswith("/triton-3.5.1")


def test_drawer_steps_to_neighbouring_releases(follow: Follow) -> None:
    page = follow("real", "#cell=sel_dense/descriptor/d64/sm_90/triton-3.3.1")
    neighbour = page.locator("[data-drawer] [data-neighbour='3.4.0']")
    assert neighbour.get_attribute("aria-label") == "3.4.0: compiles"
    assert page.locator("[data-drawer] [data-neighbour]").count() == 13
    neighbour.click()
    assert page.url.endswith("#cell=sel_dense/descriptor/d64/sm_90/triton-3.4.0")
    assert page.locator("[data-drawer] [data-excerpt]").count() == 0
    page.keyboard.press("ArrowLeft")
    assert page.url.endswith("/triton-3.3.1")
    assert (
        page.locator("[data-neighbour][aria-current=true]").get_attribute("data-neighbour")
        == "3.3.1"
    )


# --- copies and downloads -------------------------------------------------------------------------


def test_commands_are_copied_as_a_shell_takes_them(follow: Follow) -> None:
    page = follow("real", f"#cell={CELL}")
    lines = page.locator("[data-commands] code").all_inner_texts()
    commands = {shlex.split(line)[1]: line for line in lines}
    assert list(commands) == ["matrix", "explain", "bisect", "reduce", "repro", "fix"]
    assert page.locator("[data-commands] .what").first.inner_text() == "Compile it again"
    assert shlex.split(commands["explain"])[:3] == ["compat", "explain", CELL]
    for place, line in enumerate(lines):
        page.locator("[data-commands] [data-copy]").nth(place).click()
        assert copied(page) == line
    assert "Copied" in page.locator("[data-commands]").inner_text()


def test_an_untested_cell_has_only_the_command_that_compiles_it(follow: Follow) -> None:
    row = various().results[0].cell.id.rsplit("/", 1)[0]
    page = follow("various", f"#cell={row}/4.1.0")
    assert page.locator("[data-commands] .what").all_inner_texts() == ["Compile it"]
    (line,) = page.locator("[data-commands] code").all_inner_texts()
    assert shlex.split(line)[:2] == ["compat", "matrix"]


def test_a_release_of_another_toolchain_has_no_command(open_page: Open) -> None:
    row = factory.two_toolchains().results[0].cell.id.rsplit("/", 1)[0]
    page = open_page("two_toolchains", fragment=f"#cell={row}/3.8.0").page
    assert "3.8.0 is not a release of CuTe DSL." in page.locator("[data-drawer]").inner_text()
    assert page.locator("[data-commands]").count() == 0


def test_links_and_fingerprints_are_copied(follow: Follow) -> None:
    page = follow("real", f"#cell={CELL}")
    page.get_by_role("button", name="Copy the link to this cell").click()
    assert copied(page) == page.url
    failed = result(CELL).outcome.failure
    assert failed is not None
    page.get_by_role("button", name="Copy the fingerprint").click()
    assert copied(page) == failed.fingerprint


def test_a_copy_without_the_clipboard_api_says_whether_it_worked(open_page: Open) -> None:
    page = open_page("real", fragment=f"#cell={CELL}").page
    button = page.get_by_role("button", name="Copy the fingerprint")
    for copies, label, announcement in (
        (True, "Copied", "Copied the fingerprint"),
        (False, "Not copied", "The browser did not copy the fingerprint"),
    ):
        page.evaluate(
            "copies => { navigator.clipboard.writeText = () => Promise.reject();"
            " document.execCommand = () => copies; }",
            copies,
        )
        button.click()
        expect(button).to_have_text(label)
        expect(page.locator("[data-said]")).to_have_text(announcement)
        expect(button).to_have_text("Copy")


def test_the_message_is_downloaded(follow: Follow, tmp_path: Path) -> None:
    page = follow("real", f"#cell={CELL}")
    with page.expect_download() as download:
        page.locator("a[data-download=message]").click()
    download.value.save_as(tmp_path / "message")
    failed = result(CELL).outcome.failure
    assert failed is not None
    assert (tmp_path / "message").read_text() == failed.excerpt
    assert download.value.suggested_filename == "sel_dense-as_written-d64-sm_90-triton-3.5.0.txt"


# --- the link -------------------------------------------------------------------------------------


def test_link_opens_a_cell_and_back_closes_it(follow: Follow) -> None:
    page = follow("real")
    page.locator('tr[data-name="sel_dense/as_written"] [data-release="3.5.0"]').click()
    link = page.url
    page.go_back()
    assert page.locator("[data-drawer]").is_hidden()
    page.go_forward()
    assert page.locator("[data-drawer]").is_visible()
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.locator("[data-drawer]").is_visible()
    assert page.url == link


def test_a_link_may_name_a_release_and_hold_a_filter(follow: Follow) -> None:
    page = follow("real", "#q=descriptor&target=sm_90&cell=sel_varlen/descriptor/few/sm_90/3.2.0")
    assert page.locator("[data-drawer] h2").inner_text() == "sel_varlen/descriptor/few"
    assert page.locator("form[data-filter] [name=q]").input_value() == "descriptor"
    assert page.locator("[data-target=sm_90]").get_attribute("aria-pressed") == "true"


def test_link_to_a_missing_cell_says_so(follow: Follow) -> None:
    page = follow("real", "#cell=no/such/cell/at/all&view=nowhere")
    assert "There is no such cell in this report." in page.locator("[data-drawer]").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("[data-drawer]").is_hidden()
    assert page.locator("[data-view=grid]").is_visible()
