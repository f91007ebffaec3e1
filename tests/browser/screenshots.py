"""The pictures of the page in ``docs/images``: ``python -m tests.browser.screenshots
[matrix.json]``, or ``nox -s screenshots``.

Without a file, the pictures show the run of the tests.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from compat.report.folder import read_report
from compat.report.render.page import matrix_html
from tests.browser.chromium import find_chromium
from tests.browser.pages import real

IMAGES = Path(__file__).parents[2] / "docs" / "images"
COLOURS = 256
"""Colours of a picture. Its areas have few colours, so this number halves its bytes."""
CELL = "#cell=sel_dense/as_written/d64/sm_90/triton-3.9.0"
PICTURES: dict[str, dict[str, Any]] = {
    "grid-light": {"width": 1280, "height": 900},
    "grid-dark": {"width": 1280, "height": 900, "scheme": "dark"},
    "cell": {"width": 1280, "height": 1000, "fragment": CELL, "few": False},
    "failures": {
        "width": 1280,
        "height": 860,
        "fragment": "#view=failures&failure=shape-mismatch:5aeeabbc5083",
    },
    "trends": {"width": 1280, "height": 1000, "fragment": "#view=trends"},
    "phone": {"width": 390, "height": 844},
}


def main(arguments: list[str]) -> None:
    """Make all pictures."""
    report = read_report(arguments[0]) if arguments else real()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "index.html"
        page.write_text(matrix_html(report), encoding="utf-8")
        with playwright.chromium.launch(
            executable_path=find_chromium(playwright.chromium.executable_path)
        ) as browser:
            for name, how in PICTURES.items():
                take(browser, page, IMAGES / f"{name}.png", **how)


def take(
    browser: Browser,
    page: Path,
    path: Path,
    *,
    width: int,
    height: int,
    scheme: Any = "light",
    fragment: str = "",
    few: bool = True,
) -> None:
    """Take a picture of the top of the page. A picture with shadows has many colours."""
    with browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme
    ) as context:
        shown = context.new_page()
        shown.goto(f"{page.as_uri()}{fragment}")
        shown.wait_for_selector("body[data-ready]")
        shown.screenshot(path=path)
    with Image.open(path) as picture:
        picture.load()
    plain = picture.convert("RGB")
    smaller = (
        plain.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        if few
        else plain
    )
    smaller.save(path, optimize=True)
    print(f"{path} ({path.stat().st_size:,} bytes)")


if __name__ == "__main__":
    IMAGES.mkdir(parents=True, exist_ok=True)
    main(sys.argv[1:])
