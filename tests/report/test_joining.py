"""Reports of several runs as one: the same report as from one run, or one clear error."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from compat.errors import StoreError
from compat.model.codec import unstructure
from compat.report.document import dump, matrix_document
from compat.report.loading import load_reports
from compat.report.summary.record import Report
from compat.report.views.matrix_markdown import matrix_markdown
from tests.records import MISSING, OK, SHAPE, bad, env
from tests.report.factory import always, expected_matrix, report, results_of, since, troubled_matrix
from tests.report.naming import naming
from tests.together import for_each


def parts_of(full_report: Report, chosen: Callable[[Any], str]) -> list[tuple[str, str]]:
    """Reports of runs that each tried a part of the full report."""
    names = dict.fromkeys(map(chosen, full_report.results))
    existing = [str(version) for versions in full_report.existing.values() for version in versions]
    parts = [
        (name, report([r for r in full_report.results if chosen(r) == name], existing=existing))
        for name in names
    ]
    return [
        (name, dump(matrix_document(evolve(part, command=f"compat matrix {name}", seconds=1.5))))
        for name, part in parts
    ]


def stable_document(report: Report) -> Any:
    """The document of a report without its time and its command."""
    document = matrix_document(report)
    del document["seconds"], document["command"]
    return document


@pytest.mark.parametrize("make", [expected_matrix, troubled_matrix])
@pytest.mark.parametrize(
    "chosen",
    [
        lambda r: r.cell.env.name,
        lambda r: r.cell.target.name,
        lambda r: r.cell.spec.kernel,
        lambda r: "all",
    ],
    ids=["envs", "targets", "kernels", "one"],
)
def test_joined_parts_equal_the_report_of_one_run(
    make: Callable[[], Report], chosen: Callable[[Any], str]
) -> None:
    full_report = make()
    joint_report = load_reports(parts_of(full_report, chosen))
    assert stable_document(joint_report) == stable_document(full_report)
    assert matrix_markdown(evolve(joint_report, command="", seconds=0)) == matrix_markdown(
        evolve(full_report, command="", seconds=0)
    )


def test_commands_are_concatenated_and_seconds_are_added() -> None:
    parts = parts_of(expected_matrix(["3.8.0", "3.9.0"]), lambda r: r.cell.env.name)
    joint_report = load_reports(parts)
    assert (joint_report.command, joint_report.seconds) == (
        "compat matrix triton-3.8.0 && compat matrix triton-3.9.0",
        3.0,
    )


def test_names_come_from_the_part_that_inspected_most_releases() -> None:
    names = naming()
    few, most = evolve(names, looked_at="0", names={}), evolve(names, looked_at="1 3-4")
    parts = parts_of(expected_matrix(["3.7.0", "3.8.0", "3.9.0"]), lambda r: r.cell.env.name)
    documents = [json.loads(text) for _, text in parts]
    for document, packed in zip(documents, (None, few, most), strict=True):
        if packed:
            document["api"] = unstructure(packed, compact=True)
    assert (
        load_reports(
            [(name, dump(document)) for (name, _), document in zip(parts, documents, strict=True)]
        ).api
        == most
    )
    assert load_reports(parts).api is None
    assert evolve(most, looked_at="0 junk 3-999999999 9-1").inspected_releases == ("3.6.0", "3.8.0")


def test_a_result_that_was_tried_replaces_a_remembered_one() -> None:
    fate = since("3.4.0", OK, bad(MISSING))
    old, new = (results_of("k", "v", fate, envs=[env(release)]) for release in ("3.1.0", "3.9.0"))
    stale = results_of("k", "v", always(bad(SHAPE)), envs=[env("3.9.0")])
    further = results_of("k", "v", fate, envs=[env("3.5.0")])
    texts = [
        (name, dump(matrix_document(report(results, remembered=earlier))))
        for name, results, earlier in (("old", old, stale), ("new", new, further))
    ]
    for verdict in load_reports(texts).verdicts:
        assert [(entry.release, entry.good, entry.remembered) for entry in verdict.entries] == [
            ("3.1.0", False, False),
            ("3.5.0", True, True),
            ("3.9.0", True, False),
        ]


def _other_env(document: Any) -> None:
    document["envs"][0]["digest"] = "other"


def _other_kernel(document: Any) -> None:
    document["kernels"][0]["compile"]["constexprs"] = {"BLOCK": 128}


def _other_version(document: Any) -> None:
    document["tool"]["version"] = "9.9.9"


def _other_options(document: Any) -> None:
    document["options"] = ["--spec", "other.toml"]


@for_each(
    ("edit", "message"),
    [
        (lambda document: None, "two: the cell k/v/d64/sm_80/triton-3.9.0 is also in one"),
        (_other_env, "two: the env triton-3.9.0 differs from that in the files before"),
        (_other_kernel, "two: the kernel k/v/d64 differs from that in the files before"),
        (
            _other_version,
            "two: it was made with a different version of triton-compat than the first report",
        ),
        (_other_options, "two: it was made with a different choice of files than the first report"),
    ],
)
def test_reports_that_do_not_fit_together_are_one_error(
    edit: Callable[[Any], None], message: str
) -> None:
    results = results_of("k", "v", always(OK), envs=[env("3.9.0")])
    one = dump(matrix_document(report(results[:1])))
    two = json.loads(
        dump(matrix_document(report(results if edit.__name__ == "<lambda>" else results[1:])))
    )
    edit(two)
    with pytest.raises(StoreError) as caught:
        load_reports([("one", one), ("two", dump(two))])
    assert str(caught.value) == message
    assert caught.value.hint
