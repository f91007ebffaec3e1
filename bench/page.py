"""Size and speed of the HTML report: ``python -m bench.page [--cells N]…``, in the tests' Chromium.

Every action of a user has two times. The first is wall-clock milliseconds, from the action to the
end of the frame that shows the result. The second is the CPU milliseconds of the page's main thread
in that time. On a busy machine, the first one grows.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click
from attrs import frozen
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from compat.report.render.page import matrix_html
from tests.browser.chromium import find_chromium
from tests.report.synthetic import synthetic

READY = """new MutationObserver((_, observer) => {
  if (document.body?.dataset.ready === undefined) return;
  observer.disconnect();
  const drawn = () => (document.documentElement.dataset.drawn = performance.now());
  requestAnimationFrame(() => setTimeout(drawn));
}).observe(document, {subtree: true, attributes: true, childList: true});"""
"""A script that records the time at which the first view is drawn and keys work."""
DONE = """async ([selector, text]) => {
  const element = document.querySelector(selector);
  const began = performance.now();
  if (text === null) {
    element.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
  } else {
    element.value = text;
    element.dispatchEvent(new Event("input", {bubbles: true}));
  }
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - began;
}"""
"""A script that performs an action.

It returns the milliseconds from the action to the end of the frame that shows the result.
"""
TEXTS = (
    "s",
    "softmax",
    "softmax_010",
    "",
    "block_ptr d64 sm_90",
    "regressed",
    "nothing has this",
    "",
)
"""Texts that are typed into the filter, one after the other."""
CLICKS = {
    "choose a target": "[data-target=sm_90]",
    "choose a mark": "[data-mark-filter=CRASH]",
    "clear the filter": "[data-clear]",
    "fold or unfold": "[data-grid] tr[data-level=kernel] th",
    "open the drawer": "[data-grid] tr[data-level=variant] [data-release='3.5.0']",
    "the failures": "[data-view-link=failures]",
    "the trends": "[data-view-link=trends]",
}
"""Action → selector of the element that is clicked, one after the other."""


@frozen
class Spent:
    """The times of an action, in milliseconds."""

    clock: float
    thread: float
    """CPU time of the page's main thread."""

    def __str__(self) -> str:
        return f"{self.clock:6.0f} ms, of the processor {self.thread:4.0f} ms"


@click.command()
@click.option(
    "--cells",
    multiple=True,
    type=int,
    default=(1_000, 20_000, 200_000),
    show_default=True,
    help="How many.",
)
@click.option(
    "--rounds",
    default=3,
    show_default=True,
    help="How often a page is opened; medians are printed.",
)
def main(cells: tuple[int, ...], rounds: int) -> None:
    """Measure the HTML report of made-up runs."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        path = find_chromium(playwright.chromium.executable_path)
        with playwright.chromium.launch(executable_path=path) as browser:
            for count in cells:
                page = Path(folder, f"{count}.html")
                seconds = make(count, page)
                click.echo(
                    f"{count:,} cells: {page.stat().st_size / 1e6:.2f} MB, made in {seconds:.1f} s"
                )
                tell([measured(browser, page) for _ in range(rounds)])


def make(cells: int, path: Path) -> float:
    """Write the page of ``cells`` cells; return its CPU seconds, without those of the report."""
    report = synthetic(cells)
    began = time.process_time()
    path.write_text(matrix_html(report), encoding="utf-8")
    return time.process_time() - began


def tell(rounds: list[dict[str, Spent]]) -> None:
    """Print the median times of actions."""
    for name in rounds[0]:
        spent = [spent_by_act[name] for spent_by_act in rounds]
        middle = Spent(
            statistics.median(sample.clock for sample in spent),
            statistics.median(sample.thread for sample in spent),
        )
        click.echo(f"  {name:<20} {middle}")


def measured(browser: Browser, path: Path) -> dict[str, Spent]:
    """Open a page in a new context; return the times of each action on it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        page = context.new_page()
        page.add_init_script(READY)
        session = context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        opened = spent(session, lambda: drawn(page, path))
        typed = [act(page, session, "form[data-filter] [name=q]", text) for text in TEXTS]
        clicked = {name: act(page, session, selector) for name, selector in CLICKS.items()}
        return {
            "open": opened,
            "filter by text": max(typed, key=lambda sample: sample.thread),
            **clicked,
        }
    finally:
        context.close()


def drawn(page: Page, path: Path) -> float:
    """Open a page; return the milliseconds until its first view is drawn."""
    page.goto(path.as_uri())
    page.wait_for_selector("[data-drawn]", timeout=120_000)
    return float(page.evaluate("document.documentElement.dataset.drawn"))


def act(page: Page, session: CDPSession, selector: str, text: str | None = None) -> Spent:
    """Type ``text`` into the element, or click on it if there is no text; return the times."""
    page.wait_for_selector(selector)
    return spent(session, lambda: float(page.evaluate(DONE, [selector, text])))


def spent(session: CDPSession, doing: Callable[[], float]) -> Spent:
    """The times of an action that returns its own wall-clock milliseconds."""
    before = thread(session)
    clock = doing()
    return Spent(clock, thread(session) - before)


def thread(session: CDPSession) -> float:
    """CPU milliseconds of the main thread so far."""
    metrics = {
        metric["name"]: metric["value"]
        for metric in session.send("Performance.getMetrics")["metrics"]
    }
    return float(metrics["TaskDuration"]) * 1e3


if __name__ == "__main__":
    main()
