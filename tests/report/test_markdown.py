"""The Markdown report: goldens, and a structure that no text of a compiler can break."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from compat.report.document import dump, matrix_document
from compat.report.loading import load_report
from compat.report.render.markdown import EVIDENCE_LINES, code, escape, fence, prose, table_code
from compat.report.render.page import prose as prose_html
from compat.report.summary.checks import MEANINGS
from compat.report.summary.grid import LEGEND
from compat.report.views import matrix_markdown as matrix_markdown_module
from compat.report.views.matrix_markdown import headline, matrix_markdown
from compat.toolchains.triton.failures import KNOWLEDGE
from tests.records import SHAPE, bad, env
from tests.report.factory import always, expected_matrix, report, results_of, troubled_matrix
from tests.report.hostile import hostile
from tests.together import for_each

MARKDOWN = MarkdownIt("commonmark").enable("table")

texts = st.text(alphabet=" ab_`|\\*[]<>&~#1.-\n", min_size=1, max_size=30).filter(str.strip)


def test_expected(golden: Callable[[str, str], None]) -> None:
    golden("expected.md", matrix_markdown(expected_matrix()))


def test_troubled(golden: Callable[[str, str], None]) -> None:
    golden("troubled.md", matrix_markdown(troubled_matrix()))


ROOT = Path(__file__).parents[2]


def test_the_example_has_only_words_of_current_reports() -> None:
    """Finds headings, sentences and labels of ``reports/example.md`` that no report has any more.

    Numbers and names belong to the run of the example, so the test leaves them out.
    """
    example = (ROOT / "reports" / "example.md").read_text(encoding="utf-8")
    written = _without_facts("\n".join(_words_of_today()))
    parts = [part for line in _prose(example) for part in re.split(r"(?<=[.:]) | · | (?=\()", line)]
    assert len(parts) > 40
    assert [part for part in parts if _without_facts(part).strip(" .") not in written] == []


def _words_of_today() -> Iterator[str]:
    yield from (matrix_markdown(matrix) for matrix in (expected_matrix(), troubled_matrix()))
    template = ROOT / "compat" / "report" / "templates" / "matrix.md.j2"
    yield template.read_text(encoding="utf-8")
    yield from (f"{word}: {meaning}" for word, meaning in (*LEGEND.items(), *MEANINGS.items()))
    for failure_class in KNOWLEDGE.by_name.values():
        advice = {failure_class.advice, *(sign.advice or "" for sign in failure_class.signs)}
        yield from (f"What to do. {text[:1].upper()}{text[1:]}" for text in advice)


def _prose(markdown: str) -> Iterator[str]:
    """The lines that are neither code, tables, lists, links nor names of kernels and classes."""
    text = re.sub(r"^```.*?^```$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    yield from (
        line
        for line in text.splitlines()
        if line and not line.startswith(("|", "-", "[", "`", "###"))
    )


def _without_facts(text: str) -> str:
    """Words without code, values and numbers, in one line."""
    text = re.sub(
        r"`[^`]*`|\{+[^{}]*\}+", "x", re.sub(r"[*\\]|^### F.*$", "", text, flags=re.MULTILINE)
    )
    return " ".join(re.sub(r"\d[\d.,]*", "0", text).split())


def test_only_the_last_line_depends_on_time_command_and_cache() -> None:
    one = troubled_matrix()
    other = evolve(
        one,
        seconds=7.0,
        command="compat matrix",
        results=tuple(evolve(r, cached=True) for r in one.results),
    )
    before, after = matrix_markdown(one).splitlines(), matrix_markdown(other).splitlines()
    assert before[:-1] == after[:-1]
    assert before[-1] != after[-1]


def test_the_order_of_results_does_not_matter() -> None:
    one = troubled_matrix()
    assert matrix_markdown(
        evolve(one, results=one.results[::-1], verdicts=one.verdicts[::-1])
    ) == matrix_markdown(one)


def test_every_link_has_its_heading() -> None:
    tokens = MARKDOWN.parse(matrix_markdown(troubled_matrix()))
    children = [child for token in tokens for child in token.children or ()]
    links = {str(child.attrs["href"]) for child in children if child.type == "link_open"}
    headings = [
        tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"
    ]
    anchors = {
        "#" + "".join(c for c in h.lower().replace(" ", "-") if c.isalnum() or c in "-_")
        for h in headings
    }
    assert len(links) == 6
    assert links <= anchors


def test_each_failure_appears_once() -> None:
    text = matrix_markdown(expected_matrix())
    assert text.count(SHAPE.advice.split("[")[0]) == 1
    assert text.count("### F") == 4


def test_one_failure_is_described_in_the_singular() -> None:
    one = report(results_of("k", "v", always(bad(SHAPE)), envs=[env("3.1.0")]))
    assert "\n1 distinct failure. The same" in matrix_markdown(one)


def test_headline() -> None:
    assert (
        headline(expected_matrix())
        == "The report has 390 cells (9 kernel variants × 2 targets × 13 Triton releases; sm_80,"
        " sm_90): "
        "274 compile, 98 are rejected and 18 crash the compiler. Everything is as expected."
    )
    assert headline(report([])) == "No cell was tried."


def test_tables_keep_their_columns_with_special_characters_in_names() -> None:
    text = matrix_markdown(
        report(
            results_of("k|`1`", "v|*x*`", always(bad(SHAPE)), envs=[env("3.1.0")], cases=("a|b",))
        )
    )
    tables = [
        token for token in MARKDOWN.parse(text) if token.type in ("th_open", "td_open", "tr_open")
    ]
    assert [t.type for t in tables].count("tr_open") == 4
    rows = "".join({"tr_open": "/", "th_open": "h", "td_open": "d"}[t.type] for t in tables).split(
        "/"
    )[1:]
    assert rows == ["hhh", "ddd", "hhhhhhh", "ddddddd"]


@pytest.mark.parametrize("many", [1, 100_000])
def test_no_text_of_a_report_becomes_markup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(matrix_markdown_module, "MANY", many)
    foreign = load_report(dump(matrix_document(hostile(tmp_path, controls=False))))
    tokens = MARKDOWN.parse(matrix_markdown(foreign))
    parts = [part for token in tokens for part in (token, *(token.children or ()))]
    assert {part.type for part in parts} & {
        "html_block",
        "html_inline",
        "em_open",
        "image",
    } == set()
    links = {str(part.attrs["href"])[:9] for part in parts if part.type == "link_open"}
    assert links <= {"#unexpect", "#f1-scrip", "#f2-__pro"}


def cell_text(source: str) -> str:
    """The text of a table cell as a reader sees it."""
    tokens = MARKDOWN.parse(f"| h | i |\n| --- | --- |\n| x {source} x | end |\n")
    cells = [tokens[i + 1] for i, token in enumerate(tokens) if token.type == "td_open"]
    assert [cells[1].content, len(cells)] == ["end", 2]
    return "".join(child.content for child in cells[0].children or ())


@given(texts)
@example("TypeError: __init__() _ _a_ b__c_")
def test_escape_is_literal(text: str) -> None:
    assert cell_text(escape(text)) == f"x {' '.join(text.split())} x"


@given(texts)
def test_code_is_literal(text: str) -> None:
    shown = " ".join(text.split())
    assert cell_text(table_code(text)) == f"x {shown} x"
    (paragraph,) = (t for t in MARKDOWN.parse(f"x {code(text)} x") if t.type == "inline")
    assert "".join(child.content for child in paragraph.children or ()) == f"x {shown} x"


URL = "https://h/~me/_inductor/x.py?a=1&b=2#L3"


def test_a_url_stays_as_it_is_for_a_link() -> None:
    assert escape(f"~a {URL}, _b_") == rf"\~a {URL}, \_b\_"


@for_each(
    ("text", "seen"),
    [
        ("use `a[:, None]` | *so*", "x use a[:, None] | *so* x"),
        ("one ` only", "x one ` only x"),
        ("in a`b, ``init a`b`` and `` `c` ``", "x in a`b, init a`b and `c` x"),
        (f"~a {URL}, _b_", f"x ~a {URL}, _b_ x"),
        ("https://h/?a=&lt;|*b*", "x https://h/?a=&lt;|*b* x"),
    ],
)
def test_prose_keeps_an_authors_code(text: str, seen: str) -> None:
    assert cell_text(prose(text)) == seen
    assert f"x {html.unescape(re.sub('</?code>', '', prose_html(text)))} x" == seen


@given(texts)
def test_fence_holds_anything(text: str) -> None:
    tokens = MARKDOWN.parse(f"{fence(text)}\n\nafter\n")
    assert [token.type for token in tokens] == [
        "fence",
        "paragraph_open",
        "inline",
        "paragraph_close",
    ]


def test_long_evidence_is_cut_in_its_middle() -> None:
    text = fence("\n".join(f"line {i}" for i in range(100)))
    assert "line 0\n" in text
    assert "line 99\n" in text
    assert f"({100 - EVIDENCE_LINES} lines left out)" in text
