"""Fixtures: one Chromium for each process of tests, and the pages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import pytest
from playwright.sync_api import BrowserContext, Page, sync_playwright

from compat.report.render.page import matrix_html
from tests.browser.chromium import VARIABLE, find_chromium
from tests.browser.looking import Look, looking, new_context
from tests.browser.pages import REPORTS

NEEDED = "COMPAT_NEEDS_CHROMIUM"
"""The environment variable that makes tests fail, not skip, without a browser.

``.ci/run`` sets it.
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of this folder, because they open the page in a browser.

    Tests that share pages come last: Chromium draws all open pages again for each new page.
    """
    here = Path(__file__).parent
    places = [place for place, item in enumerate(items) if item.path.is_relative_to(here)]
    sharing_last = sorted((items[place] for place in places), key=_shares_pages)
    for place, item in zip(places, sharing_last, strict=True):
        item.add_marker(pytest.mark.browser)
        items[place] = item


def _shares_pages(item: pytest.Item) -> bool:
    return "follow" in getattr(item, "fixturenames", ())


@pytest.fixture(scope="package")
def context() -> Iterator[BrowserContext]:
    """A context of a running Chromium. Without one, the tests are skipped, or fail in CI.

    One process draws all pages, and fills them with pixels in one thread. That takes the least CPU
    time. An empty page keeps the process.
    """
    with sync_playwright() as playwright:
        path = find_chromium(playwright.chromium.executable_path)
        if path is None:
            _missing()
        one = ["--renderer-process-limit=1", "--num-raster-threads=1"]
        with playwright.chromium.launch(executable_path=path, args=one) as browser:
            context = new_context(browser)
            context.new_page()
            yield context


def _missing() -> NoReturn:
    named = os.environ.get(VARIABLE)
    if named:
        pytest.fail(f"{VARIABLE}={named} names no Chromium that starts", pytrace=False)
    message = (
        "no Chromium: install the package chromium, or run `playwright install chromium`, or name"
        f" one in {VARIABLE}"
    )
    if os.environ.get("CI") == "true" or os.environ.get(NEEDED):
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


@pytest.fixture
def look(context: BrowserContext) -> Iterator[Callable[..., Look]]:
    """Opens a file, as :func:`tests.browser.looking.looking` does, until the test ends."""
    with ExitStack() as stack:
        yield lambda path, **options: stack.enter_context(looking(context, path, **options))


@pytest.fixture(scope="session")
def pages(once_file: Callable[[str, Callable[[], str]], Path]) -> Callable[[str], Path]:
    """The page of a report, by its name in :data:`tests.browser.pages.REPORTS`."""
    return lambda name: once_file(f"{name}.html", lambda: matrix_html(REPORTS[name]()))


@pytest.fixture
def open_page(look: Callable[..., Look], pages: Callable[[str], Path]) -> Callable[..., Look]:
    """Opens the page of a report by its name, and waits until it is drawn."""

    def opened(name: str, **options: Any) -> Look:
        watched_page = look(pages(name), **options)
        watched_page.page.wait_for_selector("body[data-ready]")
        return watched_page

    return opened


@pytest.fixture(scope="package")
def opened(
    context: BrowserContext, pages: Callable[[str], Path]
) -> Iterator[Callable[[str], Look]]:
    """The page of a report by its name, which all tests share."""
    with ExitStack() as stack:

        @cache
        def opened_once(name: str) -> Look:
            look = stack.enter_context(looking(context, pages(name)))
            look.page.wait_for_selector("body[data-ready]")
            return look

        yield opened_once


@pytest.fixture
def follow(opened: Callable[[str], Look]) -> Iterator[Callable[..., Page]]:
    """Follows a link inside the page of a report, by the name of the report.

    This takes much less time than a new page. Tests share the page, so a test may only change what
    :meth:`tests.browser.looking.Look.follow` shows anew.
    """
    looks: list[Look] = []

    def followed(name: str, fragment: str = "") -> Page:
        looks.append(opened(name))
        looks[-1].follow(fragment)
        return looks[-1].page

    yield followed
    for look in looks:
        look.check()
