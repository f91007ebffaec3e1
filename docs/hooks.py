"""What ``nox -s docs`` does beside mkdocs: adds pages from outside of ``docs/``, and makes links
between files links between pages. It puts the help of a command in place of a link to it.

A link to a file that the site does not have is left as it is, so that ``--strict`` reports it.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
OUTSIDE = {
    "CHANGELOG.md": "CHANGELOG.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "kernels/README.md": "kernels/README.md",
    "repro/README.md": "repro/README.md",
    "reports/example.md": "example-report.md",
    **{
        f"bench/results/{file.name}": f"measurements/{file.name}"
        for file in (ROOT / "bench" / "results").glob("*.md")
    },
}
"""Where a file of the repository is → which page of the site it becomes."""
INSIDE = {page: file for file, page in OUTSIDE.items()}
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)(?P<path>[^)#\s]+)(?P<anchor>#[^)\s]*)?(?=\))")
_HELP = re.compile(r"^\[`compat[^`]*--help`\]\((?P<path>[^)]+)\)$", re.MULTILINE)
_ROLE = re.compile(r":(?:class|func|meth|mod|data):<code>~?(.*?)</code>")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from outside."""
    for file, page in OUTSIDE.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / file)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn a page's links between files of the repository into links between pages."""
    here = page.file.src_uri
    folder = posixpath.dirname(INSIDE.get(here, f"docs/{here}"))

    def link(found: re.Match[str]) -> str:
        file = posixpath.normpath(posixpath.join(folder, found["path"]))
        if (ROOT / file).is_dir():
            file += "/README.md"
        target = OUTSIDE.get(file) or (
            file.removeprefix("docs/") if file.startswith("docs/") else None
        )
        if target is None:
            return found[0]
        return posixpath.relpath(target, posixpath.dirname(here) or ".") + (found["anchor"] or "")

    def help_text(reference: re.Match[str]) -> str:
        return f"```text\n{(ROOT / folder / reference['path']).read_text(encoding='utf-8')}```"

    return _LINK.sub(link, _HELP.sub(help_text, markdown))


def on_page_content(html: str, **_: Any) -> str:
    """Show names in docstrings as names: the roles before them mean something to other tools."""
    return _ROLE.sub(r"<code>\1</code>", html)
