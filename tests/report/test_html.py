"""The page of a report.

It has all data of the report, packed and escaped, under a policy that fits. It is the same whether
it is made from the report or from its file.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import shlex
from collections.abc import Callable
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import click
import pytest
from attrs import evolve

from compat.cli.commands import main
from compat.model import Result, Status, ToolchainWarning
from compat.model.outcome import cell_document
from compat.report.document import dump, matrix_document
from compat.report.loading import load_report
from compat.report.render import page_data as cells
from compat.report.render.page import SCRIPTS, STYLES, matrix_html
from compat.report.render.page_data import command_table, pack_data
from compat.report.summary.compact import explain_command, fix_command
from compat.report.summary.grid import Mark, grids
from compat.report.summary.record import Report
from tests.records import DEPRECATED, MISSING, OK, PASS, REMOVED, SHAPE, TARGETS, bad, declared, env
from tests.report.factory import (
    always,
    expected_matrix,
    report,
    results_of,
    since,
    troubled_matrix,
    two_toolchains,
)

REPORTS = [expected_matrix, troubled_matrix, lambda: report([])]
HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'--><!--<style>*{}</style>"
)


class Page(HTMLParser):
    """The elements that a browser makes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.within: dict[str, str] = {}
        """The text in scripts, styles and the heading, by id or name."""
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = str(dict(attrs).get("id") or tag) if tag in ("script", "style", "h1") else ""

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.within[self._open] = self.within.get(self._open, "") + data

    @property
    def data(self) -> Any:
        return unpacked(self.within["data"])

    @property
    def policy(self) -> str:
        return next(
            str(attrs["content"])
            for tag, attrs in self.tags
            if attrs.get("http-equiv") == "Content-Security-Policy"
        )


def cell_ids(data: Any) -> list[str]:
    """The ids of the cells, put together as the page does."""
    rows, points, ids = data["rows"], data["points"], []
    at = 0
    for row, number in zip(points["row"], points["cells"], strict=True):
        for cell in range(at, at + number):
            names = [rows[name][row] for name in ("kernel", "variant", "case", "target")]
            ids.append("/".join([*names, data["envs"][data["cells"]["env"][cell]]["name"]]))
        at += number
    return ids


def remembering() -> Report:
    """A run of two releases that knows a third from an earlier run."""
    now, before = [env("3.0.0"), env("3.9.0")], [env("3.4.0")]
    fate = since("3.4.0", bad(REMOVED), DEPRECATED)
    return report(
        results_of("k", "v", fate, envs=now),
        remembered=results_of("k", "v", fate, envs=before),
        existing=("3.0.0", "3.1.0", "3.4.0", "3.9.0"),
    )


# --- contents -------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", REPORTS)
def test_the_page_has_every_cell(make: Callable[[], Report]) -> None:
    one = make()
    data = Page(matrix_html(one)).data
    assert cell_ids(data) == [result.cell.id for result in one.ordered_results]
    assert len(data["cells"]["env"] if one.results else []) == len(one.results)


@pytest.mark.parametrize("make", REPORTS)
def test_points_have_the_same_marks_as_the_grids(make: Callable[[], Report]) -> None:
    one = make()
    data = page_data(one)
    shown = {mark.word for grid in grids(one) for row in grid.rows for mark in row.marks} - {
        Mark().word
    }
    points = data["points"]
    assert {data["marks"][mark]["word"] for mark in points["mark"]} == shown
    unexpected = sum(flags & 1 for flags in points["flags"])
    assert bool(unexpected) == bool(one.unexpected_results)


def test_each_kernel_names_its_own_toolchain() -> None:
    data = page_data(two_toolchains())
    assert [spec["toolchain"] for spec in data["specs"]] == ["CuTe DSL", "Triton"]
    owners = {release["label"]: release["toolchains"] for release in data["releases"]}
    assert owners == {"3.8.0": ["Triton"], "3.9.0": ["Triton"], "4.1.0": ["CuTe DSL"]}


def test_every_release_has_a_column_tested_or_not() -> None:
    data = page_data(remembering())
    assert [(column["label"], column["tried"]) for column in data["releases"]] == [
        ("3.0.0", True),
        ("3.1.0", False),
        ("3.4.0", False),
        ("3.9.0", True),
    ]
    earlier = [place for place, flags in enumerate(data["points"]["flags"]) if flags & 2]
    assert [data["points"]["cells"][place] for place in earlier] == [0, 0]
    assert [data["points"]["earlier"][str(place)] for place in earlier] == [
        ["api-removed", REMOVED.fingerprint]
    ] * 2
    assert "3.1.0" not in {
        data["releases"][release]["label"] for release in data["points"]["release"]
    }


def test_a_release_that_was_flaky_in_an_earlier_run_is_flaky() -> None:
    before = results_of("k", "v", always(bad(SHAPE, flaky=True)), envs=[env("3.4.0")])
    data = page_data(
        report(results_of("k", "v", always(OK), envs=[env("3.9.0")]), remembered=before)
    )
    assert {data["marks"][mark]["word"] for mark in data["points"]["mark"]} == {"ok", "flaky"}


def test_equal_records_are_stored_once() -> None:
    data = page_data(expected_matrix())
    assert len(data["cells"]["records"]["failure"]) == 1 + 4
    assert data["cells"]["metrics"]["registers"].count(128) == len(
        expected_matrix().results
    ) - data["cells"]["metrics"]["registers"].count(None)


def test_only_cells_that_have_numbers_and_latency_store_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numbers = {
        "interpreter": None,
        "gpu": {
            "status": "wrong",
            "max_abs": 0.5,
            "launches": 30,
            "differing": 2,
            "device": "H200",
        },
    }

    def document(result: Result) -> Any:
        launched = result.built.release == "3.9.0"
        return cell_document(result) | {
            "numbers": numbers if launched else None,
            "latency": {"us": 7.5} if launched else None,
        }

    one = report(
        results_of("k", "v", always(OK), envs=[env("3.8.0"), env("3.9.0")], targets=TARGETS[:1])
    )
    assert page_data(one)["cells"]["numbers"] == page_data(one)["cells"]["latency"] == {}
    monkeypatch.setattr(cells, "cell_document", document)
    data = page_data(one)
    assert data["cells"]["numbers"] == {"1": numbers}
    assert data["cells"]["latency"] == {"1": {"us": 7.5}}


def test_metrics_that_json_cannot_express_are_left_out() -> None:
    odd = evolve(
        OK,
        metrics={"shared": float("nan"), "registers": float("inf"), "n": 3, "said": "\x1b[31mred"},
    )
    data = Page(
        matrix_html(
            report(results_of("k", "v", always(odd), envs=[env("3.9.0")], targets=TARGETS[:1]))
        )
    ).data
    assert data["cells"]["metrics"] == {"n": [3]}
    assert data["cells"]["words"] == {"0": {"said": "\\x1b[31mred"}}


def test_commands_are_the_same_as_in_the_other_reports() -> None:
    (result,) = results_of(
        "k", "v w", always(bad(MISSING)), envs=[env("3.9.0")], targets=TARGETS[:1]
    )
    cell = result.cell
    table = command_table(("--spec", "a b.toml"), ("--deadline", "3"))
    names = {
        "kernel": "k",
        "variant": "v w",
        "case": "d64",
        "target": "sm_80",
        "env": "triton-3.9.0",
    }
    lines = [
        shlex.join(word.format(**names) for word in command["words"])
        for command in [*table["always"], *table["failing"], table["fix"]]
    ]
    assert explain_command(cell, ("--spec", "a b.toml")) in lines
    assert fix_command(cell, ("--spec", "a b.toml", "--deadline", "3")) in lines
    assert {shlex.split(line)[1] for line in lines} <= set(main.list_commands(click.Context(main)))


# --- independence of its origin -------------------------------------------------------------------


@pytest.mark.parametrize("make", [*REPORTS, remembering])
def test_the_page_can_be_made_from_the_file_alone(make: Callable[[], Report]) -> None:
    one = make()
    if one.results:
        one = evolve(
            one,
            sources={"kernels/a.py": "def f():\n    pass\n"},
            attachments={"9a/9af1.mlir": _packed("module {}")},
        )
    assert matrix_html(load_report(dump(matrix_document(one)))) == matrix_html(one)


def test_the_page_does_not_depend_on_the_order_of_results() -> None:
    one = troubled_matrix()
    other = evolve(one, results=one.results[::-1], verdicts=one.verdicts[::-1], envs=one.envs[::-1])
    assert matrix_html(other) == matrix_html(one)


def test_the_page_has_no_paths_of_the_machine() -> None:
    one = evolve(
        expected_matrix(),
        root="/home/someone/project",
        sources={"/kernels/sel_dense.py": "x = 1\n"},
    )
    page = Page(matrix_html(one))
    assert page.data["sources"] == [{"path": "sel_dense.py", "text": "x = 1\n"}]
    assert {spec["source"] for spec in page.data["specs"]} == {"sel_dense.py", "sel_varlen.py"}
    assert "/kernels" not in json.dumps(page.data)


def test_sources_with_the_same_name_stay_separate() -> None:
    results = [
        evolve(
            result,
            cell=evolve(
                result.cell, spec=evolve(result.cell.spec, source=f"/elsewhere/{kernel}/kernel.py")
            ),
        )
        for kernel in ("a", "b")
        for result in results_of(kernel, "v", always(OK), envs=[env("3.9.0")])
    ]
    texts = {f"/elsewhere/{kernel}/kernel.py": f"# {kernel}\n" for kernel in ("a", "b")}
    data = page_data(evolve(report(results), sources=texts))
    assert [data["sources"][spec["files"][0]]["text"] for spec in data["specs"]] == [
        "# a\n",
        "# b\n",
    ]
    assert {file["path"] for file in data["sources"]} == {"kernel.py"}


def test_a_spec_lists_the_files_that_its_source_imports() -> None:
    one = evolve(
        expected_matrix(),
        root="/kernels",
        helpers={"sel_dense.py": ("lib/tiles.py", "lib/gone.py")},
    )
    data = page_data(evolve(one, sources={"lib/tiles.py": "x\n", "sel_dense.py": "y\n"}))
    by_source = {spec["source"]: (spec["own"], spec["files"]) for spec in data["specs"]}
    assert by_source == {"sel_dense.py": (True, [1, 0]), "sel_varlen.py": (False, [])}


# --- policy ---------------------------------------------------------------------------------------


def test_the_policy_allows_only_the_script_and_the_style_of_the_page() -> None:
    page = Page(matrix_html(expected_matrix()))
    allowed = dict(part.split(" ", 1) for part in page.policy.split("; "))
    assert allowed["default-src"] == "'none'"
    assert allowed["script-src"] == f"'{_hash(page.within['script'])}'"
    assert allowed["style-src"] == f"'{_hash(page.within['style'])}'"
    assert "unsafe" not in page.policy


def test_the_page_needs_nothing_that_the_policy_forbids() -> None:
    page = Page(matrix_html(troubled_matrix()))
    assert [attrs.get("type") for tag, attrs in page.tags if tag == "script"] == [
        "application/octet-stream",
        "application/json",
        "module",
    ]
    assert not [
        attrs
        for _, attrs in page.tags
        if "style" in attrs or any(name.startswith("on") for name in attrs)
    ]
    assert {
        str(attrs[name]).partition(":")[0]
        for _, attrs in page.tags
        for name in ("src", "href")
        if name in attrs
        if not str(attrs[name]).startswith("#")
    } == {"data"}


def test_hostile_texts_stay_text() -> None:
    failure = evolve(
        PASS,
        excerpt=HOSTILE,
        advice=HOSTILE,
        op=HOSTILE,
        pass_=HOSTILE,
        location=HOSTILE,
        reproducer=HOSTILE,
    )
    outcome = evolve(
        bad(failure),
        warnings=(ToolchainWarning(type=HOSTILE, message=HOSTILE),),
        metrics={HOSTILE: HOSTILE},
    )
    envs = [env("3.9.0", name=HOSTILE)]
    results = results_of(
        HOSTILE,
        HOSTILE,
        always(outcome),
        envs=envs,
        cases=(HOSTILE,),
        expect=[declared(SHAPE, reason=HOSTILE)],
        summary=HOSTILE,
    )
    hostile = evolve(
        report(results),
        command=HOSTILE,
        version=HOSTILE,
        sources={HOSTILE: HOSTILE},
        attachments={HOSTILE: _packed(HOSTILE)},
    )
    plain = report(
        results_of(
            "k", "v", always(bad(PASS)), envs=[env("3.9.0")], expect=[declared(SHAPE, reason="so")]
        )
    )
    one, other = Page(matrix_html(hostile)), Page(matrix_html(plain))
    assert [tag for tag, _ in one.tags] == [tag for tag, _ in other.tags]
    assert one.data["cells"]["records"]["failure"][1]["excerpt"] == HOSTILE
    assert json.loads(one.within["attachments"]) == {HOSTILE: _packed(HOSTILE)}


def test_the_heading_has_the_summary_sentence() -> None:
    assert Page(matrix_html(expected_matrix())).within["h1"].endswith("Everything is as expected.")
    assert "**" not in Page(matrix_html(troubled_matrix())).within["h1"]


# --- its files ------------------------------------------------------------------------------------


def test_every_script_and_style_file_is_listed() -> None:
    room = files("compat.report.render") / "html"
    for folder, names, ending in (("script", SCRIPTS, "js"), ("style", STYLES, "css")):
        assert sorted(path.name for path in (room / folder).iterdir()) == sorted(
            f"{name}.{ending}" for name in names
        )


def test_every_status_has_a_style() -> None:
    """A new status has the style of a failure."""
    marks = (files("compat.report.render") / "html" / "script" / "marks.js").read_text()
    outcomes = [evolve(bad(SHAPE), status=status) for status in Status if status is not Status.OK]
    results = [
        result
        for place, outcome in enumerate(outcomes)
        for result in results_of(f"k{place}", "v", always(outcome), envs=[env("3.9.0")])
    ]
    for mark in page_data(report(results))["marks"]:
        assert re.search(rf"\b{re.escape(mark['word'])}\b", marks) or mark["kind"] in (
            "bad",
            "absent",
        )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_colours_have_enough_contrast(scheme: str) -> None:
    colours = _colours(scheme)
    pairs = [(f"{name}-ink", name) for name in ("good", "warned", "bad", "crash", "dull", "loud")]
    pairs += [
        (ink, ground)
        for ink in ("ink", "soft", "accent")
        for ground in ("paper", "ground", "raised")
    ]
    pairs += [
        ("loud", "paper"),
        ("accent", "accent-soft"),
        ("warned-ink", "good"),
        ("ink", "bad"),
        ("loud", "warned"),
        ("loud", "dull"),
    ]
    pairs += [(f"s{place}", ground) for place in range(6) for ground in ("paper", "ground")]
    low = {
        pair: round(ratio, 2)
        for pair in pairs
        if (ratio := _contrast(colours[pair[0]], colours[pair[1]])) < 4.5
    }
    assert low == {}


def _colours(scheme: str) -> dict[str, str]:
    text = (files("compat.report.render") / "html" / "style" / "colours.css").read_text()
    colours = re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", text)
    return {name: light if scheme == "light" else dark for name, light, dark in colours}


def _contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"


def page_data(one: Report) -> Any:
    """The data of a report as the page reads it."""
    return unpacked(pack_data(one))


def unpacked(text: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(text)))
