"""Every form of the report names the kernels without any hint, and no others."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from compat.model import CompileSpec, Result
from compat.report.summary.statements import has_no_hints, without_hints
from compat.report.views.matrix_markdown import matrix_markdown
from tests.cells import spec
from tests.records import OK, env
from tests.report.drawn import matrix_text
from tests.report.factory import always, report, results_of
from tests.together import for_each


def results(kernel: str, compiled: CompileSpec) -> list[Result]:
    base_results = results_of(kernel, "as_written", always(OK), envs=[env("3.9.0")])
    return [
        evolve(result, cell=evolve(result.cell, spec=evolve(result.cell.spec, compile=compiled)))
        for result in base_results
    ]


def test_every_form_notes_kernels_without_hints() -> None:
    hinted_spec = CompileSpec(signature={"x": "*fp16"}, divisible_by_16=("x",))
    matrix = report(
        [
            *results("written", hinted_spec),
            *results("unknown", CompileSpec(signature={"x": "*fp16", "n": "i32"})),
        ]
    )
    assert "note: unknown: no argument has a hint" in matrix_text(matrix, width=300)
    assert "**Note:** unknown: no argument has a hint" in matrix_markdown(matrix)
    assert "no argument has a hint" not in matrix_text(report(results("written", hinted_spec)))


@for_each(
    ("facts", "expected"),
    [
        ({"divisible_by_16": ()}, True),
        ({"divisible_by_16": (), "equal_to_1": ("size",)}, False),
        ({"divisible_by_16": (), "signature": {"n": "i32"}}, False),
        ({"divisible_by_16": (), "signature": {"n": ("i32", "*fp16")}}, True),
        (
            {
                "divisible_by_16": (),
                "signature": {},
                "launch": {"x": {"tensor": "fp16", "aligned": False}},
            },
            False,
        ),
    ],
)
def test_only_tensors_without_any_hint_count_as_without_hints(
    facts: dict[str, Any], expected: bool
) -> None:
    assert has_no_hints(spec("faces", "fine", **facts)) is expected


def test_few_kernels_are_named_and_many_are_counted() -> None:
    unknown = spec("faces", "fine", divisible_by_16=())
    assert str(without_hints(evolve(unknown, kernel=name) for name in "abab")).startswith(
        "a and b: no argument has a hint"
    )
    assert str(without_hints(evolve(unknown, kernel=name) for name in "abcd")).startswith(
        "4 kernels: no argument has a hint"
    )
