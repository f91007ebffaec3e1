"""matrix.json read back: the report that it was made from, or one clear error."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from compat.api.histories import PackedName, PackedNames
from compat.errors import StoreError
from compat.model import CompileSpec, StandInPackages, Status
from compat.report.document import SCHEMA, dump, matrix_document, schema
from compat.report.loading import load_report, load_reports
from compat.report.render.ci import junit_xml
from compat.report.summary.record import Report
from compat.report.views.matrix_markdown import matrix_markdown
from compat.report.views.tune import record_of_answer
from tests.records import DEPRECATED, MISSING, OK, RELEASES, SHAPE, TARGETS, bad, declared, env
from tests.report.drawn import matrix_text
from tests.report.factory import always, expected_matrix, report, results_of, since, troubled_matrix
from tests.together import for_each
from tests.tune.test_answers import INVERTED, answered


def remembering_matrix() -> Report:
    """A run of two releases that knows some of the others from earlier runs."""
    envs = [env(release) for release in ("3.0.0", "3.9.0")]
    earlier = [env(release) for release in RELEASES[1:-1] if release not in ("3.2.0", "3.5.0")]
    fates = {
        "descriptor": since("3.4.0", DEPRECATED, bad(MISSING)),
        "loop_1d": always(OK),
        "as_written": always(bad(SHAPE)),
    }
    results = [
        result
        for variant, fate in fates.items()
        for result in results_of("k", variant, fate, envs=envs, summary="As it was.")
    ]
    before = [
        result
        for variant, fate in fates.items()
        for result in results_of("k", variant, fate, envs=earlier, summary="As it was.")
    ]
    before = [
        evolve(r, outcome=bad(SHAPE, flaky=True)) if r.built.release == "3.6.0" else r
        for r in before
    ]
    return report(results, remembered=before, existing=RELEASES)


def naming_matrix() -> Report:
    """A run with the names of its toolchain."""
    dot = PackedName(kind="builtin", there="0-1", signatures="0:0 1:1", parameters="1:2")
    names = {
        "tl.dot": dot,
        "tl.make_block_ptr": PackedName(kind="builtin", there="0", refuses="1:3"),
    }
    texts = ("(a, b)", "(a, b, c=None)", "c: deprecated", "RuntimeError: removed")
    line, same = ("3.0.0", "3.1.0", "3.2.0"), {"tl.math.dot": "tl.dot"}
    packed = PackedNames(
        toolchain="triton", releases=line, looked_at="0-1", names=names, texts=texts, same=same
    )
    return evolve(expected_matrix(), api=packed)


def tuned_matrix() -> Report:
    """A run of a kernel whose configs were compared before."""
    envs = [env(release) for release in INVERTED.releases]
    results = results_of("add", "loop", always(OK), envs=envs, targets=TARGETS[1:2])
    return evolve(report(results), tuned=(record_of_answer(INVERTED),))


def test_the_answer_for_a_workload_on_more_releases_counts() -> None:
    full_report = tuned_matrix()
    (newest,) = (result for result in full_report.results if str(result.built.release) == "3.3.0")
    shorter = evolve(report([newest]), tuned=(record_of_answer(answered([100], [120])),))
    files = [("one", dump(matrix_document(shorter))), ("two", dump(matrix_document(full_report)))]
    assert load_reports(files, overlapping=True).tuned == full_report.tuned
    assert load_reports(reversed(files), overlapping=True).tuned == full_report.tuned


def odd_matrix() -> Report:
    """A run with further facts that reports distinguish.

    These are sources, guesses, stand-ins, options, and declarations that are not strict.
    """
    stood_in = StandInPackages(packages=("torch 2.9.1",), answers=("an answer",))
    envs = [env("3.1.0"), env("3.1.0", name="fork", distribution="our-triton")]
    expect = [evolve(declared(SHAPE, reason="at times"), strict=False)]
    lenient = results_of("k", "v", always(evolve(OK, stood_in=stood_in)), envs=envs, expect=expect)
    compile_spec = CompileSpec(
        signature={"x": "*fp16", "pair": ("i32", "*fp32")},
        constexprs={"BLOCK": 64, "SHAPE": (16, (32, 1.5)), "FLAG": True, "NONE": None},
        options={"num_warps": 4},
    )
    lenient = [
        evolve(r, cell=evolve(r.cell, spec=evolve(r.cell.spec, compile=compile_spec)))
        for r in lenient
    ]
    guessed = [
        evolve(
            r,
            cell=evolve(
                r.cell,
                spec=evolve(r.cell.spec, guessed=True, origin="a.py::k2", source="/elsewhere/a.py"),
            ),
        )
        for r in results_of("k2", "v", always(bad(SHAPE, Status.SOURCE_BROKEN)), envs=envs)
    ]
    base_report = report([*lenient, *guessed])
    return evolve(
        base_report,
        options=("--spec", "a b.toml"),
        limits=("--deadline", "3"),
        root="/kernels",
        version="0.0.9",
    )


REPORTS = [
    expected_matrix,
    troubled_matrix,
    remembering_matrix,
    odd_matrix,
    naming_matrix,
    tuned_matrix,
    lambda: report([]),
]


@pytest.mark.parametrize("make", REPORTS)
def test_every_output_can_be_made_from_the_file_alone(make: Callable[[], Report]) -> None:
    report = make()
    text = dump(matrix_document(report))
    Draft202012Validator(schema()).validate(json.loads(text))
    read = load_report(text)
    assert matrix_markdown(read) == matrix_markdown(report)
    assert matrix_text(read, width=100) == matrix_text(report, width=100)
    assert junit_xml(read) == junit_xml(report)
    assert dump(matrix_document(read)) == text
    assert [spec.compile for spec in read.specs] == [spec.compile for spec in report.specs]


def test_a_report_that_was_read_has_the_same_compile_seconds() -> None:
    stages = {"ttir": 0.00004, "ttgir": 0.00014, "llir": 0.00024}
    written = matrix_document(
        report(results_of("k", "v", always(evolve(OK, stages=stages)), envs=[env("3.9.0")]))
    )
    assert written["cells"][0]["compile_seconds"] == 0.0003
    assert matrix_document(load_report(dump(written)))["cells"] == written["cells"]


def test_only_sources_outside_of_the_project_have_a_path_of_the_machine() -> None:
    sources = {
        kernel["kernel"]: kernel["source"] for kernel in matrix_document(odd_matrix())["kernels"]
    }
    assert sources == {"k": "k.py", "k2": "/elsewhere/a.py"}


def test_tuned_configs_that_do_not_fit_together_are_refused() -> None:
    document = matrix_document(tuned_matrix())
    (answer,) = document["tuned"]
    assert load_report(dump(document)).tuned == tuned_matrix().tuned
    changes: list[dict[str, object]] = [
        {"configs": answer["configs"][:1]},
        {"releases": answer["releases"][1:]},
        {"stretches": []},
    ]
    for broken in changes:
        with pytest.raises(StoreError, match=r"tuned\[0\]: its configs and releases do not fit"):
            load_report(dump({**document, "tuned": [answer | broken]}))


# --- other schemas --------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, SCHEMA + 1])
def test_a_file_of_another_schema_is_refused(number: int) -> None:
    document = {**matrix_document(report([])), "schema": number, "cells": "something else"}
    with pytest.raises(StoreError) as caught:
        load_report(dump(document), where="old/matrix.json")
    assert (
        str(caught.value)
        == f"old/matrix.json: it has schema {number}, and this version reads schema {SCHEMA}"
    )
    assert "Install the triton-compat that wrote it" in (caught.value.hint or "")


# --- faults in a file -----------------------------------------------------------------------------

BROKEN: list[tuple[Callable[[Any], object], str]] = [
    (
        lambda d: d["cells"][12].update(status="fine"),
        "cells[12].status: expected one of ok, rejected, ",
    ),
    (lambda d: d["cells"][0].pop("status"), "cells[0].status: is missing"),
    (lambda d: d["cells"][1].update(env="gone"), "cells[1].env: there is no 'gone' in envs"),
    (
        lambda d: d["cells"][1].update(target="gone"),
        "cells[1].target: there is no 'gone' in targets",
    ),
    (
        lambda d: d["cells"][1].update(case="gone"),
        "cells[1].kernel: there is no sel_dense/as_written/gone in kernels",
    ),
    (lambda d: d["cells"][1].pop("numbers"), "cells[1].numbers: is missing"),
    (
        lambda d: d["envs"][0].update(triton="new"),
        "envs[0].triton: expected a version, found 'new'",
    ),
    (
        lambda d: d["cells"].append(d["cells"][3]),
        "cells[91]: sel_dense/as_written/d64/sm_80/triton-3.2.0 is there twice",
    ),
    (
        lambda d: d["cells"][0]["failure"].update({"class": 7}),
        "cells[0].failure.class: expected a string, found a whole number",
    ),
    (
        lambda d: d["cells"][0].update(flaky="false"),
        "cells[0].flaky: expected a boolean, found 'false'",
    ),
    (
        lambda d: d["verdicts"][2].update(not_tried=["new"]),
        "verdicts[2].not_tried[0]: expected a version, found 'new'",
    ),
    (
        lambda d: d["verdicts"][0]["intervals"][1].pop("from"),
        "verdicts[0].intervals[1].from: is missing",
    ),
    (
        lambda d: d["envs"][0].update(toolchain="elsewhere"),
        "envs[0].toolchain: no toolchain called 'elsewhere' is installed here",
    ),
    (
        lambda d: d["kernels"][0].update(toolchain="x"),
        "kernels[0].toolchain: no toolchain called 'x' is installed here",
    ),
    (
        lambda d: d.update(shards=["3/8", "3"]),
        "shards[1]: expected one of several, such as '3/8', found '3'",
    ),
    (lambda d: d.update(verdicts=[7]), "verdicts[0]: expected an object, found a whole number"),
    (lambda d: d.update(cells=None), "cells: expected an array, found null"),
    (lambda d: d.update(schema=True), "this is not a report: it has no schema number"),
    (lambda d: d.update(envs={"a": 1}), "envs: expected an array, found an object"),
]


@pytest.mark.parametrize(("spoil", "message"), BROKEN)
def test_an_error_names_the_place_of_the_fault(
    spoil: Callable[[Any], object], message: str
) -> None:
    document = matrix_document(troubled_matrix())
    spoil(document)
    with pytest.raises(StoreError) as caught:
        load_report(dump(document))
    assert str(caught.value).startswith(f"matrix.json: {message}")


@for_each(
    "text",
    [b"", b"[]", b"7", b"{", b"\xff\xfe", b'{"schema": 1e999}', b"[" * 100_000, b'{"schema": 2}'],
)
def test_a_file_that_is_not_a_report_is_one_error(text: bytes) -> None:
    with pytest.raises(StoreError, match=r"^x\.json: "):
        load_report(text, where="x.json")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@cache
def document_text() -> str:
    return json.dumps(matrix_document(evolve(odd_matrix(), api=naming_matrix().api)))


@given(st.data(), values)
def test_any_value_at_any_place_is_read_or_is_one_error(data: st.DataObject, value: object) -> None:
    document: Any = json.loads(document_text())
    place: Any = document
    while isinstance(place, dict | list) and place:
        inside = list(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(list(inside)))
        if not isinstance(place[key], dict | list) or data.draw(st.booleans()):
            place[key] = value
            break
        place = place[key]
    with suppress(StoreError):
        matrix_markdown(load_report(json.dumps(document)))


def test_control_characters_are_escaped_on_reading() -> None:
    document = matrix_document(troubled_matrix())
    document["cells"][0]["failure"]["excerpt"] = "\x1b[2J\u202e"
    document["command"] = "compat\x07"
    read = load_report(json.dumps(document))
    assert read.command == "compat\\x07"
    assert "\x1b" not in matrix_markdown(read)
