"""The page that people open, ``reports/index.html``: template, scripts and styles in one file.

In: a :class:`compat.report.summary.record.Report`, which may have come from a ``matrix.json``.
The page contains ``html/script/*.js`` and ``html/style/*.css`` unchanged, in the template
``html/page.html.j2``, and the report in the form of :mod:`compat.report.render.page_data`.

The page restricts itself. Its Content-Security-Policy allows only the one script and the one style
in it, by their hashes. Nothing else may load or run, whatever a compiler printed.
"""

from __future__ import annotations

import base64
import re
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

from jinja2 import Environment
from markupsafe import Markup, escape

from compat.files import templates
from compat.report.render.markdown import CODE
from compat.report.render.page_data import pack_data
from compat.report.summary.record import Report
from compat.report.summary.statements import hint_failures_sentence, statements
from compat.report.views.envs import pairs_table
from compat.report.views.matrix_markdown import headline
from compat.text import write_json

SCRIPTS = (
    *("dom", "data", "marks", "state", "filter", "rows", "grid", "keyboard"),
    *(
        "source",
        "commands",
        "details",
        "drawer",
        "failures",
        "jumps",
        "tuned",
        "trends",
        "names",
        "theme",
        "start",
    ),
)
"""The scripts of the page, in this order. Together they are one module."""
STYLES = (
    "colours",
    "base",
    "grid",
    "marks",
    "drawer",
    "failures",
    "trends",
    "narrow",
    "names",
    "pairs",
    "print",
)
STATEMENTS = 100
"""Maximum number of sentences on the page; ``matrix.md`` has all of them."""
POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data:; base-uri"
    " 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""The permissions of the page.

A script in a foreign text cannot run, and no text becomes an element.
"""
SITE_POLICY = POLICY.format(script="self", style="self")
"""The permissions of a page of a site: only the files of the site may style or script it."""


def matrix_html(report: Report, site: str = "") -> str:
    """The report as one page.

    Equal reports give equal pages, except for the seconds and the command. ``site`` is the link of
    the folder of the site that the page belongs to, if there is one, such as ``../``. Such a page
    links to the site's ``index.html``, and its script and style are :func:`site_assets`.
    """
    sentences = statements(report)
    script, style = asset_text("script", SCRIPTS), asset_text("style", STYLES)
    return html_environment("compat.report.render").get_template("page.html.j2").render(
        policy=SITE_POLICY if site else POLICY.format(script=_hash(script), style=_hash(style)),
        script=Markup(script),
        icons=icons(),
        style=Markup(style),
        site=site,
        report=report,
        headline=headline(report).replace("**", ""),
        decided_by_hints=hint_failures_sentence(report.ordered_results),
        statements=sentences[:STATEMENTS],
        further=len(sentences) - STATEMENTS,
        pairs=pairs_table(report.pairs) if report.pairs else None,
        data=Markup(pack_data(report)),
        attachments=Markup(in_script(write_json(dict(report.attachments), indent=None))),
    )  # fmt: skip


def site_assets() -> dict[str, str]:
    """Name → text of the script and the style that all reports of a site share.

    A browser loads no module from disk. So the script is a function, which keeps its names local.
    """
    script = asset_text("script", SCRIPTS)
    return {
        "report.js": f'(() => {{\n"use strict";\n{script}}})();\n',
        "report.css": asset_text("style", STYLES),
    }


def prose(text: str) -> Markup:
    """An author's sentences: code between backticks is code, all else is text."""
    return Markup("").join(
        Markup("<code>{}</code>").format(part.strip("`").strip()) if at % 2 else escape(part)
        for at, part in enumerate(re.split(CODE, text))
    )


def in_script(json: str) -> str:
    """Escape JSON, so that no string in it ends an element or begins a comment."""
    return json.replace("<", "\\u003c")


def icons() -> Markup:
    """The pictures that pages refer to by their ids."""
    return Markup((_room() / "icons.svg").read_text(encoding="utf-8"))


_ENDINGS = {"script": "js", "style": "css"}


@cache
def asset_text(folder: str, names: tuple[str, ...]) -> str:
    """Scripts or styles of the page as one text."""
    files_of = (_room() / folder / f"{name}.{_ENDINGS[folder]}" for name in names)
    return "\n".join(file.read_text(encoding="utf-8") for file in files_of)


def _room() -> Traversable:
    return files("compat.report.render") / "html"


def _hash(text: str) -> str:
    """The hash that names an inline script or style in a Content-Security-Policy."""
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"


@cache
def html_environment(package: str) -> Environment:
    """The templates in the folder ``html`` of a package."""
    environment = templates(package, "html", escape=True)
    environment.filters["prose"] = prose
    return environment
