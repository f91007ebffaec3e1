"""matrix.json: valid against its schema, true to the records, stable."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from jsonschema import Draft202012Validator, ValidationError

from compat.history.account import Word
from compat.model import Status
from compat.report.document import dump, matrix_document, matrix_json, schema
from compat.report.loading import load_report
from compat.report.summary.record import Report
from tests.records import OK, SHAPE, TARGETS, bad, declared, env
from tests.report.factory import (
    SUSPICION,
    always,
    expected_matrix,
    report,
    results_of,
    suspected_matrix,
    troubled_matrix,
)

DOCS = Path(__file__).parents[2] / "docs" / "matrix-json.md"


def validate(document: Any) -> None:
    Draft202012Validator(schema()).validate(document)


@pytest.mark.parametrize("make", [expected_matrix, troubled_matrix, lambda: report([])])
def test_the_document_follows_its_schema(make: Callable[[], Report]) -> None:
    validate(json.loads(dump(matrix_document(make()))))


def test_the_schema_is_valid_and_refuses_undocumented_keys() -> None:
    Draft202012Validator.check_schema(schema())
    document = matrix_document(troubled_matrix())
    failing = next(cell for cell in document["cells"] if cell["failure"])
    for level in (
        document,
        document["tool"],
        document["cells"][0],
        failing["failure"],
        document["verdicts"][0],
        document["envs"][0],
    ):
        level["surplus"] = 1
        with pytest.raises(ValidationError, match="surplus"):
            validate(document)
        del level["surplus"]
    validate(document)


def test_the_schema_has_every_status_and_verdict_word() -> None:
    assert set(schema()["$defs"]["Status"]["enum"]) == set(Status)
    assert set(schema()["$defs"]["Word"]["enum"]) == set(Word)


def test_the_shipped_schema_matches_the_records(
    golden: Callable[[str, str], None],
) -> None:
    golden("../../../compat/report/matrix.schema.json", json.dumps(schema(), indent=1) + "\n")


def test_a_cell() -> None:
    (result,) = results_of(
        "k",
        "v",
        always(bad(SHAPE)),
        envs=[env("3.1.0", name="pair", torch="2.5.1")],
        expect=[declared(SHAPE, reason="so")],
        targets=TARGETS[:1],
    )
    (cell,) = matrix_document(report([result]))["cells"]
    assert cell == {
        "id": "k/v/d64/sm_80/pair",
        "kernel": "k",
        "variant": "v",
        "case": "d64",
        "guessed": False,
        "target": "sm_80",
        "env": "pair",
        "triton": "3.1.0",
        "torch": "2.5.1",
        "status": "rejected",
        "expected": True,
        "expectation": {
            "status": "rejected",
            "class": "shape-mismatch",
            "reason": "so",
            "strict": True,
        },
        "stage": "ttir",
        "failure": {
            "class": "shape-mismatch",
            "fingerprint": "shape-mismatch:5f0c1a9e",
            "excerpt": SHAPE.excerpt,
            "stage": "ttir",
            "pass": None,
            "op": None,
            "location": "sel_dense.py:41",
            "reproducer": None,
            "ir": None,
            "advice": SHAPE.advice,
            "prediction": False,
        },
        "flaky": False,
        "attempts": ["rejected shape-mismatch", "rejected shape-mismatch"],
        "warnings": [],
        "metrics": {},
        "stages": {},
        "compile_seconds": None,
        "seconds": 0.2,
        "cached": False,
        "stood_in": None,
        "numbers": {"interpreter": None, "gpu": None},
        "latency": None,
    }


def test_the_document_has_the_slow_suspects() -> None:
    suspect_report = report(suspected_matrix())
    document = matrix_document(suspect_report)
    assert document["slow_suspects"] == [
        {
            "cell": "k/v/d64/sm_80/triton-3.9.0",
            "before": "k/v/d64/sm_80/triton-3.8.0",
            "ratio": 1.5,
            "reasons": [SUSPICION.partition(": ")[2]],
        }
    ]
    validate(json.loads(dump(document)))
    assert [suspect.sentence for suspect in load_report(dump(document)).slow_suspects] == [
        SUSPICION
    ]


def test_verdicts_have_intervals_and_changes() -> None:
    verdicts = {
        (v["variant"], v["target"]): v
        for v in matrix_document(troubled_matrix())["verdicts"]
        if v["kernel"] == "sel_dense"
    }
    verdict = verdicts["as_written", "sm_80"]
    assert (verdict["verdict"], verdict["word"], verdict["release"]) == (
        "fixed in 3.5.1",
        "fixed in",
        "3.5.1",
    )
    assert verdict["untested"] == ["3.2.0"]
    assert [(i["from"], i["to"], i["status"], i["class"]) for i in verdict["intervals"]] == [
        ("3.0.0", "3.1.0", "rejected", "shape-mismatch"),
        ("3.3.0", "3.3.0", "rejected", "shape-mismatch"),
        ("3.5.1", "3.5.1", "ok", None),
    ]
    assert verdicts["pointer_grid", "sm_90"]["flaky"] == ["3.3.0"]


def test_the_order_of_results_does_not_change_the_document() -> None:
    one = troubled_matrix()
    text = dump(matrix_document(one))
    assert (
        dump(
            matrix_document(
                evolve(
                    one, results=one.results[::-1], verdicts=one.verdicts[::-1], envs=one.envs[::-1]
                )
            )
        )
        == text
    )
    targets = [
        cell["target"]
        for cell in json.loads(text)["cells"]
        if cell["variant"] == "broadcast_2d" and cell["env"] == "ours"
    ]
    assert targets == ["sm_80", "sm_90", "sm_100"]


def test_releases_are_ordered_as_versions() -> None:
    results = results_of(
        "k", "v", always(OK), envs=[env("3.10.0"), env("3.9.0")], targets=TARGETS[:1]
    )
    assert [cell["triton"] for cell in matrix_document(report(results))["cells"]] == [
        "3.9.0",
        "3.10.0",
    ]


def test_an_env_that_could_not_be_built_says_why() -> None:
    envs = {e["name"]: e for e in matrix_document(troubled_matrix())["envs"]}
    assert "no wheels for triton==3.2.0" in envs["triton-3.2.0"]["error"]
    assert envs["triton-3.2.0"]["triton"] == "3.2.0"
    assert [p["name"] for p in envs["pt2.4"]["packages"]] == [
        "numpy",
        "setuptools",
        "torch",
        "triton",
    ]


def test_a_metric_without_a_json_type_becomes_text() -> None:
    odd = evolve(OK, metrics={"artifact": Path("x.cubin")})
    assert '"x.cubin"' in dump(
        matrix_document(report(results_of("k", "v", always(odd), envs=[env("3.1.0")])))
    )


def test_the_documentation_names_every_key() -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert {key for key in _keys(schema()) if f"`{key}`" not in text} == set()


def _keys(node: Any) -> Iterator[str]:
    """Every property name in a JSON Schema."""
    if isinstance(node, dict):
        if isinstance(properties := node.get("properties"), dict):
            yield from properties
        for value in node.values():
            yield from _keys(value)
    elif isinstance(node, list):
        for value in node:
            yield from _keys(value)


@pytest.mark.parametrize("make", [expected_matrix, troubled_matrix, lambda: report([])])
def test_the_pieces_of_the_json_text_join_to_the_whole_text(make: Callable[[], Report]) -> None:
    assert "".join(matrix_json(make())) == dump(matrix_document(make()))
