"""Finding the cause of a failure in the errors that releases wrap around it."""

from __future__ import annotations

import time

import pytest

from compat.diagnosis import symptoms
from compat.diagnosis.classify import classify
from compat.model import Diagnosis, Evidence, Failure, RaisedException
from compat.toolchains.triton.failures import KNOWLEDGE
from tests.targets import TARGETS

COMPILATION = "triton.compiler.errors.CompilationError"
KERNEL = "def kernel(source, result):\n" + "\n".join(
    f"    x{number} = tl.load(source + {number})" for number in range(200)
)
CAUSE = "NameError('b_ps is not defined')"
LINE = "        b_ps += tl.load(source)"


def answer(*raised: RaisedException, stage: str = "ast", line: str | None = None) -> Evidence:
    return Evidence(answered=True, stage=stage, raised=raised, diagnosis=Diagnosis(line=line))


def failure(evidence: Evidence) -> Failure:
    compile_failure = classify([evidence], target=TARGETS["sm_90"], knowledge=KNOWLEDGE).failure
    assert compile_failure is not None
    return compile_failure


@pytest.mark.parametrize(
    "message",
    [
        f"{KERNEL}\n{CAUSE}",
        f"{KERNEL[:900]}\n[… 5000 characters left out …]\n{KERNEL[-900:]}\n{CAUSE}",
        f"at 201:8:\n{KERNEL[-700:]}\n{LINE}\n        ^\n{CAUSE}",
    ],
    ids=("whole", "bounded", "with a caret"),
)
def test_the_cause_below_a_long_kernel_is_found(message: str) -> None:
    compile_failure = failure(answer(RaisedException(type=COMPILATION, message=message), line=LINE))
    assert compile_failure.failure_class == "undefined-name"
    assert compile_failure.excerpt.splitlines()[0] == LINE
    assert compile_failure.excerpt.splitlines()[-1] == "NameError: b_ps is not defined"
    assert len(compile_failure.excerpt.splitlines()) <= 3


def test_cause_is_in_the_chain_if_the_printed_kernel_has_none() -> None:
    cause = RaisedException(type="NameError", message="b_ps is not defined")
    assert (
        failure(answer(RaisedException(type=COMPILATION, message=KERNEL), cause)).failure_class
        == "undefined-name"
    )


def test_error_raised_while_another_is_handled_is_the_cause() -> None:
    """In ``except KeyError: raise ValueError(…)``, the later error was written for a reader."""
    wrapper = RaisedException(type=COMPILATION, message="at 1:0:\n    x\n    ^")
    explanation = RaisedException(
        type="ValueError",
        message="input arg type does not match. Expect one of …, got (triton.language.bfloat16,)",
    )
    handled = RaisedException(type="KeyError", message="(triton.language.bfloat16,)")
    assert KNOWLEDGE.symptoms(answer(wrapper, explanation, handled)).error == "ValueError"
    assert KNOWLEDGE.symptoms(answer(explanation, handled)).error == "ValueError"


def test_cause_is_found_in_nested_wrappers() -> None:
    outer = RaisedException(type=COMPILATION, message="at 9:4:\n    helper(x)\n    ^")
    inner = RaisedException(type=COMPILATION, message=f"at 2:4:\n    b_ps\n    ^\n{CAUSE}")
    cause = KNOWLEDGE.symptoms(answer(outer, inner))
    assert (cause.error, cause.message) == ("NameError", "b_ps is not defined")
    assert cause.source.startswith("    helper(x)"), (
        "the line of the kernel, not that of the library"
    )


@pytest.mark.parametrize("wrapped", [True, False])
def test_key_error_has_the_same_message_wrapped_and_direct(wrapped: bool) -> None:
    direct = RaisedException(type="KeyError", message="'tensordesc<fp16[64, 64]>'")
    shown = RaisedException(
        type=COMPILATION, message="at 1:0:\n    x\n    ^\nKeyError('tensordesc<fp16[64, 64]>')"
    )
    assert (
        KNOWLEDGE.symptoms(answer(shown if wrapped else direct)).message
        == "tensordesc<fp16[64, 64]>"
    )


def bare(function: str, statement: str) -> RaisedException:
    trace = (
        '  File "/env/lib/python3.11/site-packages/triton/language/core.py", line 9, in wrapper\n '
        "   return fn(*args, **kwargs)\n  File"
        f' "/env/lib/python3.11/site-packages/triton/language/semantic.py", line 7, in {function}\n'
        f"    {statement}\n"
    )
    return RaisedException(type="AssertionError", message="", traceback=trace)


def test_assertion_without_a_message_is_identified_by_its_function() -> None:
    one, other = (
        failure(answer(bare("some_check", "assert x"))),
        failure(answer(bare("other_check", "assert x"))),
    )
    again = failure(answer(bare("some_check", "assert (x)")))
    assert one.failure_class == other.failure_class == "internal-error"
    assert one.fingerprint != other.fingerprint
    assert one.fingerprint == again.fingerprint, "the place is what tells it, not how it is written"
    assert one.excerpt.splitlines() == [
        "AssertionError",
        "raised in semantic.py: some_check by `assert x`",
    ]


def test_different_assertions_of_dot_have_different_fingerprints() -> None:
    kinds = [
        failure(answer(bare("dot", text)))
        for text in ("assert lhs.type.is_block()", "assert acc.type == ret_ty")
    ]
    assert {kind.failure_class for kind in kinds} == {"dot-operands"}
    assert len({kind.fingerprint for kind in kinds}) == 2


def test_missing_index_of_a_cpp_map_is_an_internal_error() -> None:
    compile_failure = failure(
        answer(RaisedException(type="IndexError", message="map::at"), stage="ttgir")
    )
    assert compile_failure.failure_class == "internal-error"


def test_called_function_is_read_from_the_caret() -> None:
    line = "    tl.store(result, tl.sum(x, dim=0))"
    message = (
        f'at 3:21:\n{line}\n{" " * line.index("tl.sum")}^\nTypeError("got an unexpected keyword'
        " argument 'dim'\")"
    )
    compile_failure = failure(answer(RaisedException(type=COMPILATION, message=message)))
    older = message.replace("got an", "sum() got an")
    assert (
        compile_failure.fingerprint
        == failure(answer(RaisedException(type=COMPILATION, message=older))).fingerprint
    )
    assert "`sum`" in compile_failure.advice


class TestPasses:
    """If a pass prints nothing or ends the process, only the pass distinguishes defects."""

    def silent(self, pass_: str | None, *, alone: bool = True) -> Evidence:
        return Evidence(
            answered=True,
            alone=alone,
            stage="ttgir",
            raised=(RaisedException(type="RuntimeError", message="PassManager::run failed"),),
            diagnosis=Diagnosis(pass_=pass_),
        )

    def dead(self, pass_: str | None, *, alone: bool = True) -> Evidence:
        return Evidence(
            answered=False,
            alone=alone,
            stage="ttgir",
            signal="SIGSEGV",
            diagnosis=Diagnosis(pass_=pass_),
        )

    @pytest.mark.parametrize("shape", ["silent", "dead"])
    def test_fingerprint_differs_by_pass_and_not_by_its_spelling(self, shape: str) -> None:
        make = getattr(self, shape)
        one, other = failure(make("tritongpu-pipeline")), failure(make("tritongpu-coalesce"))
        spelled = failure(make("TritonGPUPipelinePass"))
        assert one.failure_class == other.failure_class
        assert one.fingerprint != other.fingerprint
        assert one.fingerprint == spelled.fingerprint

    @pytest.mark.parametrize("shape", ["silent", "dead"])
    def test_attempt_among_neighbours_may_lack_the_pass(self, shape: str) -> None:
        make = getattr(self, shape)
        outcome = classify(
            [make(None, alone=False), make("tritongpu-pipeline")],
            target=TARGETS["sm_90"],
            knowledge=KNOWLEDGE,
        )
        assert not outcome.flaky
        assert outcome.failure is not None
        assert outcome.failure.fingerprint == failure(make("tritongpu-pipeline")).fingerprint

    @pytest.mark.parametrize("shape", ["silent", "dead"])
    def test_failures_alone_in_two_passes_are_flaky(self, shape: str) -> None:
        make = getattr(self, shape)
        outcome = classify(
            [make("tritongpu-coalesce"), make("tritongpu-pipeline")],
            target=TARGETS["sm_90"],
            knowledge=KNOWLEDGE,
        )
        assert outcome.flaky


def test_a_target_that_the_assembler_knows_is_not_unknown() -> None:
    """Triton 3.3.0 compiles for sm_120, but not dots."""
    condition = 'false && "computeCapability not supported"'
    stderr = (
        f"python: /x/AccelerateMatmul.cpp:42: int getMMAVersionSafe(int): Assertion `{condition}'"
        " failed.\n"
    )
    first = Evidence(answered=False, stage="ttgir", signal="SIGABRT", stderr=stderr)
    alone = Evidence(
        answered=False,
        stage="ttgir",
        signal="SIGABRT",
        stderr=stderr,
        alone=True,
        target_known=True,
    )
    unknown = Evidence(
        answered=False,
        stage="ttgir",
        signal="SIGABRT",
        stderr=stderr,
        alone=True,
        target_known=False,
    )
    outcomes = [
        classify([first, second], target=TARGETS["sm_120"], knowledge=KNOWLEDGE)
        for second in (alone, unknown)
    ]
    assert [
        (str(outcome.status), outcome.failure and outcome.failure.failure_class)
        for outcome in outcomes
    ] == [
        ("crashed", "compiler-assert"),
        ("unsupported", "target-unknown"),
    ]
    assert not any(outcome.flaky for outcome in outcomes)


@pytest.mark.parametrize(
    ("raised", "name", "program"),
    [
        (
            RaisedException(
                type="OSError", message="[Errno 8] Exec format error: '/opt/my tools/as-1.2'"
            ),
            "toolchain-damaged",
            "as-1.2",
        ),
        (
            RaisedException(type="OSError", message="[Errno 8] Exec format error: 'as'"),
            "toolchain-damaged",
            "as",
        ),
        (
            RaisedException(type="RuntimeError", message="`ptxas` failed with error code 127: \n"),
            "toolchain-damaged",
            "ptxas",
        ),
        (
            RaisedException(
                type="RuntimeError", message="12 compatible backends for target (hip)."
            ),
            "target-unknown",
            None,
        ),
    ],
)
def test_messages_with_a_program_or_a_count_are_recognised(
    raised: RaisedException, name: str, program: str | None
) -> None:
    recognised = KNOWLEDGE.recognise(symptoms.of(answer(raised), KNOWLEDGE.wording))
    assert recognised is not None
    failure_class, _, facts = recognised
    assert (failure_class.name, facts.get("program")) == (name, program)


@pytest.mark.parametrize(
    "word", ["x", "fp8", "atomic", "shape ", "got ", "a.", "cannot cast x to ", "dict "]
)
@pytest.mark.parametrize(
    "error", ["TypeError", "ValueError", "AssertionError", "KeyError", "SystemError"]
)
def test_long_messages_are_classified_within_two_seconds(word: str, error: str) -> None:
    text = word * (300_000 // len(word))
    raised = (
        RaisedException(type=error, message=text),
        RaisedException(type=COMPILATION, message=f"at 1:0:\n{text}\n^\n{error}({text!r})"),
    )
    start = time.process_time()
    for link in raised:
        failure(answer(link))
    assert time.process_time() - start < 2
