"""Every form of the report names the kernels with guessed arguments, and no others."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from attrs import evolve

from compat.model import CompileSpec, Outcome, Result
from compat.report.document import matrix_document
from compat.report.render.page import matrix_html
from compat.report.summary.statements import guesses, hint_failures_sentence
from compat.report.views.matrix_markdown import matrix_markdown
from tests.records import OK, SHAPE, TARGETS, bad, env
from tests.report.drawn import matrix_text
from tests.report.factory import always, report, results_of


def guessed(kernel: str, origin: str) -> list[Result]:
    """Results of a kernel whose arguments are guessed."""
    results = results_of(kernel, "as_written", always(OK), envs=[env("3.9.0")])
    return [
        evolve(
            result,
            cell=evolve(
                result.cell,
                spec=evolve(result.cell.spec, guessed=True, origin=f"{origin}::{kernel}"),
            ),
        )
        for result in results
    ]


def test_every_form_notes_guessed_arguments() -> None:
    matrix = report(
        [*guessed("a", "a_b.py"), *results_of("written", "v", always(OK), envs=[env("3.9.0")])]
    )
    note = (
        "arguments of the kernels in a_b.py are guessed, and others may give other results; `compat"
        " init a_b.py` writes"
    )
    assert f"note: the {note}" in matrix_text(matrix, width=200)
    assert (
        f"**Note:** the {note} them into a kernel file, where you can edit them.\n"
        in matrix_markdown(matrix)
    )
    assert {(cell["kernel"], cell["guessed"]) for cell in matrix_document(matrix)["cells"]} == {
        ("a", True),
        ("written", False),
    }


def test_arguments_of_a_kernel_file_are_not_called_guessed() -> None:
    matrix = report(results_of("written", "v", always(OK), envs=[env("3.9.0")]))
    assert "uess" not in matrix_text(matrix)
    assert "uess" not in matrix_markdown(matrix)


@pytest.mark.parametrize(
    ("sources", "note"),
    [
        (
            ["a.py", "a.py"],
            (
                "the kernels in a.py are guessed, and others may give other results; `compat init"
                " a.py` writes"
            ),
        ),
        (
            ["a.py", "b c.py"],
            (
                "in 2 sources are guessed, and others may give other results; `compat init a.py 'b"
                " c.py'` writes"
            ),
        ),
        (
            ["a`b.py"],
            (
                "the kernels in a`b.py are guessed, and others may give other results; ``compat"
                " init 'a`b.py'`` writes"
            ),
        ),
        (
            ["a.py", "b.py", "c.py", "d.py"],
            "in 4 sources are guessed, and others may give other results; `compat init` writes",
        ),
    ],
)
def test_few_sources_are_named_and_many_are_counted(sources: Sequence[str], note: str) -> None:
    results = [
        result for number, source in enumerate(sources) for result in guessed(f"k{number}", source)
    ]
    assert note in str(guesses(result.cell.spec for result in results))


def test_kernels_of_a_library_are_counted_if_only_some_are_guessed() -> None:
    specs = [
        evolve(result.cell.spec, package="waves==1.0")
        for name in ("a", "b")
        for result in guessed(name, "a.py")
    ]
    note = "kernels of waves==1.0 are guessed, one set for each kernel, and others may"
    assert f"of the {note}" in str(guesses(specs))
    assert f"of 1 of 2 {note}" in str(guesses([specs[0], evolve(specs[-1], guessed=False)]))


def case_of(name: str, outcome: Outcome, spec: CompileSpec, kernel: str = "gemm") -> Result:
    """One result of a kernel, in a case that is compiled as ``spec`` says."""
    (result,) = results_of(
        kernel, "as_written", always(outcome), envs=[env("3.9.0")], targets=TARGETS[:1]
    )
    return evolve(
        result, cell=evolve(result.cell, spec=evolve(result.cell.spec, case=name, compile=spec))
    )


def test_every_form_notes_hints_that_decide_whether_kernels_compile() -> None:
    aligned = CompileSpec(signature={"p": "*fp16", "n": "i32"}, divisible_by_16=("p", "n"))
    odd = evolve(aligned, divisible_by_16=("p",))
    other = evolve(odd, options={"num_warps": 8})
    refused = bad(SHAPE)
    matrix = report([case_of("s5", refused, aligned), case_of("s5_odd", OK, odd)])
    note = (
        "hints decide whether kernels compile: gemm/s5 is rejected where s5_odd is ok; the sizes"
        " and strides of your"
    )
    assert f"note: {note}" in matrix_text(matrix, width=400)
    assert f"**Note:** {note}" in matrix_markdown(matrix).replace("\\_", "_")
    assert f'<p class="note">Note: {note}' in matrix_html(matrix)
    for results in (
        [case_of("a", OK, aligned), case_of("b", OK, odd)],
        [case_of("a", refused, aligned), case_of("b", OK, other)],
    ):
        assert hint_failures_sentence(results) is None
