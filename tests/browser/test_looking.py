"""The tests of this folder fail if a page does something that it must not do."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from tests.browser.looking import looking

HEAD = (
    "<!doctype html><html lang=en><title>t</title><meta http-equiv=Content-Security-Policy"
    ' content="{policy}"><h1>t</h1><main>'
)


def page(folder: Path, body: str, policy: str = "default-src * 'unsafe-inline' data:") -> Path:
    path = folder / "page.html"
    path.write_text(HEAD.format(policy=policy) + body)
    return path


@pytest.mark.parametrize(
    ("body", "trouble"),
    [
        ("<script>throw new Error('oops')</script>", "error: oops"),
        ("<script>console.error('oops')</script>", "error: oops"),
        ("<script>alert(1)</script>", "alert: 1"),
        ("<script>open('about:blank')</script>", "opened about:blank"),
        ("<img src=x.png>", "asked for file:"),
        (
            "<script>fetch('http://127.0.0.1:9/').catch(() => 0)</script>",
            "asked for http://127.0.0.1:9/",
        ),
    ],
)
def test_errors_dialogs_windows_and_requests_of_a_page_are_reported(
    context: BrowserContext, tmp_path: Path, body: str, trouble: str
) -> None:
    with pytest.raises(AssertionError) as caught, looking(context, page(tmp_path, body)) as look:
        look.page.wait_for_timeout(50)
    assert trouble in str(caught.value)


def test_violations_of_the_content_security_policy_are_reported(
    context: BrowserContext, tmp_path: Path
) -> None:
    path = page(
        tmp_path, "<b style='color: red'>b</b><script>1</script>", policy="default-src 'none'"
    )
    with pytest.raises(AssertionError) as caught, looking(context, path):
        pass
    assert "policy style-src-attr inline" in str(caught.value)
    assert "policy script-src-elem inline" in str(caught.value)


def test_serious_accessibility_violations_are_found(
    context: BrowserContext, tmp_path: Path
) -> None:
    path = page(tmp_path, "<button></button><p style='color: #ccc; background: #fff'>pale</p>")
    with looking(context, path) as look:
        violations = look.serious()
    assert [line.split(":")[0] for line in violations] == [
        "critical button-name",
        "serious color-contrast",
    ]
