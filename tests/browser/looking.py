"""A page that a test looks at, and a watch for everything that it must not do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from attrs import define, field
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Request

from tests.waiting import PATIENCE

_TELL_VIOLATIONS = (
    "addEventListener('securitypolicyviolation', e => console.error('policy', e.violatedDirective,"
    " e.blockedURI))"
)
_FOLLOW = """async fragment => {
    const go = async next => {
        if (location.hash === next) return;
        const changed = new Promise(done => addEventListener("hashchange", done, { once: true }));
        location.hash = next;
        await changed;
    };
    await go("");
    document.querySelector("[data-scroller]").scrollTo(0, 0);
    document.querySelector("[data-column='0']")?.focus();
    scrollTo(0, 0);
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute("tabindex");
    await go(fragment);
}"""
"""The next Tab leads to the first link, as on a page that was just opened."""
_VIOLATIONS = """async options => {
    const hidden = [...document.querySelectorAll("main > [hidden]")];
    const contents = hidden.map(view => [...view.childNodes]);
    for (const view of hidden) view.replaceChildren();
    const { violations } = await axe.run(options);
    hidden.forEach((view, index) => view.append(...contents[index]));
    return violations;
}"""
"""Axe looks at hidden elements, too, and reports almost none of them. That takes a third of its
time, so it runs without the contents of hidden views."""
_OWN = ("blob:", "data:")
"""URLs that a page may load, because they send no request to a server."""


@define(slots=False, eq=False)  # playwright writes into the objects whose methods it receives
class Look:
    """A page, and everything that it did although it must not."""

    page: Page
    path: Path
    site: Path | None = None
    """The folder whose files the page may load."""
    troubles: list[str] = field(factory=list)

    def watch(self) -> None:
        """Record errors, violations of the page's policy, requests, dialogs and windows."""
        self.page.on("request", self._request)
        self.page.on("popup", self._popup)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        self.page.on("dialog", self._dialog)

    def _request(self, request: Request) -> None:
        url = request.url.partition("#")[0]
        own = _OWN if self.site is None else (*_OWN, self.site.as_uri())
        if url != self.path.as_uri() and not url.startswith(own):
            self.troubles.append(f"asked for {request.url}")

    def _popup(self, page: Page) -> None:
        self.troubles.append(f"opened {page.url}")
        page.close()

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(f"{message.type}: {message.text}")

    def _dialog(self, dialog: Dialog) -> None:
        self.troubles.append(f"{dialog.type}: {dialog.message}")
        dialog.dismiss()

    def follow(self, fragment: str) -> None:
        """Show the grid as it is at first, except for folds, then what the fragment names."""
        self.page.evaluate(_FOLLOW, fragment)

    def check(self) -> None:
        """Fail if the page did anything that it must not do."""
        self.page.evaluate("0")  # every event so far has arrived after this call
        troubles, self.troubles = self.troubles, []
        assert not troubles, troubles

    def serious(self, *rules: str) -> list[str]:
        """The violations that axe finds in the visible view and that keep people from using it.

        Two landmarks with one role count, too.

        There is one line for each element. Without ``rules``, axe checks all rules.
        """
        if self.page.evaluate("typeof axe === 'undefined'"):
            self.page.evaluate(_axe())
        options = {
            "resultTypes": ["violations"],
            "preload": False,
            **({"runOnly": rules} if rules else {}),
        }
        violations: list[dict[str, Any]] = self.page.evaluate(_VIOLATIONS, options)
        return [
            f"{rule['impact']} {rule['id']}: {node['html']} {node['failureSummary']}"
            for rule in violations
            if rule["impact"] in ("serious", "critical") or rule["id"].startswith("landmark-no-dup")
            for node in rule["nodes"]
        ]


@cache
def _axe() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """A context whose pages may use the clipboard, and report violations of their policy."""
    context = browser.new_context(**options)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.add_init_script(_TELL_VIOLATIONS)
    return context


@contextmanager
def looking(
    context: BrowserContext,
    path: Path,
    *,
    fragment: str = "",
    width: int = 1280,
    height: int = 800,
    site: Path | None = None,
    **options: Any,
) -> Iterator[Look]:
    """Open a file. With ``options`` of a context, the page has a context of its own.

    Fails at the end if the page did anything that it must not do.
    """
    if options:
        assert context.browser
        context = new_context(context.browser, **options)
    look = Look(context.new_page(), path, site)
    try:
        look.page.set_viewport_size({"width": width, "height": height})
        look.watch()
        look.page.set_default_timeout(1000 * PATIENCE)
        look.page.goto(path.as_uri() + fragment)
        yield look
        look.check()
    finally:
        look.page.close()
        if options:
            context.close()
