"""Failures of CuTe DSL: their failure classes, one fingerprint for one defect, and that releases
still fail as in the saved evidence.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compat import toolchains
from compat.diagnosis.classify import classify
from compat.model import BuiltEnv, Diagnosis, Evidence, Outcome, RaisedException, Status
from tests.toolchains import cute_faces
from tests.toolchains.cute_faces import FACES, NEW, OLD, RELEASES

CUTE = toolchains.look_up("cute")
ALIKE = [
    {"carried", "carriedif"},  # a type changes, in a loop and in a branch
    {"constant", "listed"},  # a run-time value as the end of a range, and as an index
    {"nothing", "unlaunched"},
    {"sm_110a", "sm_42", "sm_75"},
    {"wgmma_sm_100a", "wgmma_sm_80"},
]
"""Sets of faces that show one defect."""


def outcome_of(name: str, evidence: Evidence) -> Outcome:
    return classify(
        [evidence], target=cute_faces.target(FACES[name].target), knowledge=CUTE.failures
    )


@pytest.fixture(scope="module")
def outcomes() -> dict[tuple[str, str], Outcome]:
    """Face and release → the outcome of the saved evidence."""
    return {
        (name, release): outcome_of(name, evidence)
        for name, release, evidence in cute_faces.saved()
    }


def class_of(outcome: Outcome) -> str | None:
    return outcome.failure.failure_class if outcome.failure else None


def fingerprint_of(outcome: Outcome) -> str:
    assert outcome.failure
    return outcome.failure.fingerprint


def test_every_face_has_its_class(outcomes: dict[tuple[str, str], Outcome]) -> None:
    expected = {
        (name, release): face.expected(release)
        for name, face in FACES.items()
        for release in RELEASES
    }
    predicted = {key for key, failure_class in expected.items() if failure_class == "shared-memory"}
    failing = {
        key: failure_class
        for key, failure_class in expected.items()
        if failure_class and key not in predicted
    }
    assert {key: class_of(outcome) for key, outcome in outcomes.items()} == failing


def test_fingerprint_is_the_same_in_every_release_and_differs_by_defect(
    outcomes: dict[tuple[str, str], Outcome],
) -> None:
    by_face: dict[str, set[str]] = {}
    for (name, release), outcome in outcomes.items():
        if release not in FACES[name].apart:
            by_face.setdefault(name, set()).add(fingerprint_of(outcome))
    assert {
        name: fingerprints for name, fingerprints in by_face.items() if len(fingerprints) != 1
    } == {}
    by_fingerprint: dict[str, set[str]] = {}
    for name, (fingerprint,) in by_face.items():
        by_fingerprint.setdefault(fingerprint, set()).add(name)
    assert sorted(sorted(names) for names in by_fingerprint.values() if len(names) > 1) == sorted(
        map(sorted, ALIKE)
    )


def test_advice_has_no_placeholders_and_excerpt_no_escape_codes(
    outcomes: dict[tuple[str, str], Outcome],
) -> None:
    for outcome in outcomes.values():
        assert outcome.failure
        assert "{" not in outcome.failure.advice
        assert "\x1b" not in outcome.failure.excerpt


def test_every_failure_class_of_cute_alone_has_a_face() -> None:
    """Classes without a face need another release, or a compiler defect that none of these
    releases has.
    """
    shown = {
        failure_class
        for face in FACES.values()
        for failure_class in (face.always, *face.but.values())
    }
    everywhere = {"compiler-crash", "shared-memory"} | {
        failure_class.name for failure_class in toolchains.look_up("triton").failures.classes
    }
    own = {failure_class.name for failure_class in CUTE.failures.classes} - everywhere
    assert own - shown == {"coded"}


@pytest.mark.parametrize(
    ("error", "line", "failure_class"),
    [
        (
            "ValueError: Type mismatch, store Float32 (-> Float32) to Tensor with element type"
            " Float16",
            "    x[0, 0] = cutlass.Float32(3.0)",
            "operand-type",
        ),
        (
            "ValueError: not enough values to unpack (expected 3, got 2)",
            "    m, n, k = self.x.shape",
            "layout-mismatch",
        ),
        (
            "ValueError: too many values to unpack (expected 2)",
            "    first, second = numbers",
            "unclassified",
        ),
        (  # 4.0.0 and 4.1.0
            "DSLRuntimeError: `for` expects [IntegerType(i32)] type for varible `total`, but got"
            " [F32Type(f32)].",
            "    for i in range(n):",
            "loop-carried-type",
        ),
    ],
)
def test_message_with_the_line_of_the_kernel_has_its_class(
    error: str, line: str, failure_class: str
) -> None:
    kind, _, message = error.partition(": ")
    traceback = f'  File "/src/kernel.py", line 7, in kernel\n{line}\n'
    raised = RaisedException(type=kind, message=message, traceback=traceback)
    evidence = Evidence(
        answered=True, stage="trace", raised=(raised,), diagnosis=Diagnosis(line=line.strip())
    )
    assert class_of(outcome_of("name", evidence)) == failure_class


def test_an_exception_without_a_message_is_named_before_the_one_that_hides_it() -> None:
    inside = (
        '  File "/env/site-packages/nvidia_cutlass_dsl/python_packages/cutlass/cute/core.py", line'
        " 77, in copy\n    assert atom.type == other\n"
    )
    outer = RaisedException(
        type="cutlass.base_dsl.common.DSLRuntimeError",
        message="DSLRuntimeError: Error during runtime code generation for function `k`",
    )
    evidence = Evidence(
        answered=True,
        stage="trace",
        raised=(outer, RaisedException(type="AssertionError", message="", traceback=inside)),
        diagnosis=Diagnosis(line="cute.copy(a, b)"),
    )
    failure = outcome_of("name", evidence).failure
    assert failure
    assert failure.failure_class == "internal-error"
    assert failure.excerpt.splitlines() == [
        "cute.copy(a, b)",
        "AssertionError, raised in core.py: copy by `assert atom.type == other`",
        "DSLRuntimeError: Error during runtime code generation for function `k`",
    ]


@pytest.mark.parametrize("release", RELEASES)
def test_silent_abort_has_the_innermost_function_and_the_kernels_line(
    outcomes: dict[tuple[str, str], Outcome], release: str
) -> None:
    outcome = outcomes["sliced", release]
    assert outcome.status is Status.CRASHED
    assert outcome.failure
    assert outcome.failure.excerpt.endswith(" in slice")
    assert CUTE.reader.kernel_line(stack_of("sliced", release)) == outcome_line("sliced")


def test_an_abort_in_the_passes_has_no_line_of_the_kernel(
    outcomes: dict[tuple[str, str], Outcome],
) -> None:
    failure = outcomes["printed", OLD].failure
    assert failure
    assert failure.excerpt.endswith(" in compile")
    assert CUTE.reader.kernel_line(stack_of("printed", OLD)) is None


def stack_of(name: str, release: str) -> str:
    return next(
        evidence.stderr
        for face, version, evidence in cute_faces.saved()
        if (face, version) == (name, release)
    )


def outcome_line(function: str) -> str:
    """File and number of the line below the ``def`` of a function."""
    lines = cute_faces.KERNELS.read_text(encoding="utf-8").splitlines()
    number = lines.index(f"def {function}(a: cute.Tensor, b: cute.Tensor):") + 2
    return f"{cute_faces.KERNELS.name}:{number}"


def test_excerpt_quotes_the_kernels_own_error(
    outcomes: dict[tuple[str, str], Outcome],
) -> None:
    failure = outcomes["told", NEW].failure
    assert failure
    assert "a kernel for rows of 64" in failure.excerpt


def test_architecture_refused_by_its_numbers_is_target_unknown() -> None:
    """4.3.0 raises this error for tcgen05 on sm_103a."""
    raised = RaisedException(type="ValueError", message="invalid arguments for Arch: (10, 3, 'a')")
    evidence = Evidence(answered=True, stage="trace", raised=(raised,))
    outcome = classify([evidence], target=cute_faces.target("sm_103"), knowledge=CUTE.failures)
    assert class_of(outcome) == "target-unknown"


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("error: NVVM backend compilation failed\n  note: target architecture: sm_100a", "nvvm"),
        (
            "error: NVVM backend compilation failed: constraint 'n' expects an integer constant"
            " expression",
            "nvvm",
        ),
        (
            "DSLRuntimeError: Unable to convert dynamic `Boolean` value to bool at compile time.",
            "constexpr-required",
        ),
    ],
)
def test_forms_of_messages_without_a_code_have_a_class(message: str, name: str) -> None:
    """4.8.1 writes the first two, and 4.4.0 the third."""
    raised = RaisedException(
        type="cutlass.base_dsl.compiler.CompilerDiagnosticError", message=message
    )
    evidence = Evidence(answered=True, stage="mlir", raised=(raised,))
    outcome = classify([evidence], target=cute_faces.target("sm_90a"), knowledge=CUTE.failures)
    assert class_of(outcome) == name


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("cutlass.cute.tensor", "api-missing"),
        ("cutlass_library", "source-needs-package"),
        ("einops", "source-needs-package"),
    ],
)
def test_module_that_only_other_releases_have_is_a_missing_api(module: str, name: str) -> None:
    raised = RaisedException(type="ModuleNotFoundError", message=f"No module named '{module}'")
    evidence = Evidence(answered=True, raised=(raised,))
    outcome = classify([evidence], target=cute_faces.target(), knowledge=CUTE.failures)
    assert class_of(outcome) == name


# --- on real wheels -------------------------------------------------------------------------------


QUICK = [name for name, face in FACES.items() if not face.slow]


@pytest.mark.wheels
@pytest.mark.parametrize("release", RELEASES)
def test_releases_fail_as_in_the_saved_evidence(
    cute: Callable[[str], BuiltEnv], release: str, outcomes: dict[tuple[str, str], Outcome]
) -> None:
    by_face = {
        name: outcome_of(name, evidence)
        for name, evidence in cute_faces.compiled(cute(release), QUICK)
    }
    assert {name: class_of(outcome) for name, outcome in by_face.items()} == {
        name: FACES[name].expected(release) for name in QUICK
    }
    fingerprints = {
        name: fingerprint_of(outcome)
        for name, outcome in by_face.items()
        if class_of(outcome) not in (None, "shared-memory")
    }
    assert fingerprints == {name: fingerprint_of(outcomes[name, release]) for name in fingerprints}
    big = by_face["big"].failure
    assert big
    assert big.prediction
