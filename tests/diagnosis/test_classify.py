"""The outcome of one attempt, and of several attempts together."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from compat.diagnosis import common
from compat.diagnosis.classify import agree, classify
from compat.model import CompletedAction, Diagnosis, Evidence, RaisedException, Status, Target
from compat.toolchains.triton.failures import KNOWLEDGE
from tests.diagnosis.captured_failures import status_and_class
from tests.targets import TARGETS
from tests.together import for_each

TARGET = TARGETS["sm_90"]
COMPILED = (CompletedAction(do="compile"),)
METRICS = {"shared": 1024, "registers": 32}
OK = Evidence(
    answered=True, done=COMPILED, stage="cubin", metrics=METRICS, stages={"ast": 0.1}, seconds=0.3
)
ASSERTION = (
    "python: /build/mlir/Types.cpp:126: unsigned mlir::Type::width() const: Assertion `isWide() &&"
    ' "too narrow"\' failed.\n'
)
BIT_WIDTH = (
    "python: /mlir/Types.cpp:126: unsigned mlir::Type::getIntOrFloatBitWidth() const: Assertion"
    ' `isIntOrFloat() && "only integers and floats have a bitwidth"\' failed.\n'
)
ABORT = Evidence(answered=False, stage="ttgir", signal="SIGABRT", stderr=ASSERTION)
RAISED = Evidence(
    answered=True,
    alone=True,
    stage="ttgir",
    raised=(RaisedException(type="RuntimeError", message="PassManager::run failed"),),
    stderr=ASSERTION.replace("/build", "/other").replace("126", "99"),
    diagnosis=Diagnosis(pass_="tritongpu-coalesce", reproducer="abc.mlir"),
)
SEGFAULT = Evidence(
    answered=False,
    stage="ttgir",
    signal="SIGSEGV",
    stderr="Fatal Python error: Segmentation fault\n",
)
HANG = Evidence(answered=False, stage="llir", signal="SIGKILL", deadline=60.0)


def alone(evidence: Evidence) -> Evidence:
    return evolve(evidence, alone=True)


TRITONS = (
    '  File "k.py", line 3, in <module>\n  File'
    ' "/env/lib/python3.11/site-packages/triton/runtime/autotuner.py", line 9, in f\n'
)
"""A traceback that ends in Triton's own code."""
KERNELS_OWN = TRITONS + '  File "/home/user/k.py", line 7, in helper\n'
"""A traceback that ends in code of the kernel's file, which Triton called."""


def raised_at_import(
    error: str, message: str, traceback: str = '  File "k.py", line 3, in <module>\n'
) -> Evidence:
    """The evidence of an exception during the import of the kernel's file."""
    return Evidence(
        answered=True,
        stage="source",
        raised=(RaisedException(type=error, message=message, traceback=traceback),),
    )


def refused(error: str) -> Evidence:
    """The evidence of an error of ptxas."""
    message = (
        f"PTXAS error: Internal Triton PTX codegen error\n`ptxas` stderr:\nptxas error : {error}"
    )
    return Evidence(
        answered=True,
        stage="cubin",
        raised=(RaisedException(type="triton.runtime.errors.PTXASError", message=message),),
    )


class TestOneAttempt:
    def test_a_binary_is_ok(self) -> None:
        outcome = classify([OK], target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("ok", None)
        assert outcome.metrics["registers"] == 32
        assert outcome.seconds == 0.3
        assert outcome.attempts == ("ok",)

    @for_each(
        "silent",
        [
            Evidence(answered=False),
            Evidence(answered=False, exit_code=0),
            Evidence(answered=False, exit_code=0, stderr="all is well\n"),
            Evidence(
                answered=False,
                exit_code=0,
                stderr="error: something that would explain another exit\n",
            ),
            Evidence(answered=False, exit_code=3),
            Evidence(answered=False, done=COMPILED),
            Evidence(answered=False, done=COMPILED, exit_code=0),
            Evidence(answered=True),
            Evidence(answered=True, done=(CompletedAction(do="launch"),)),
            Evidence(answered=True, requested=("compile", "launch"), done=COMPILED),
            Evidence(answered=True, requested=(), done=COMPILED),
            Evidence(answered=False, signal="SIGKILL"),
            Evidence(answered=False, signal="SIGTERM", stderr=ASSERTION),
            Evidence(answered=False, signal="SIGXCPU", stage="llir"),
            Evidence(answered=False, signal="SIGXFSZ", stage="llir"),
        ],
    )
    def test_attempt_without_a_complete_answer_is_lost(self, silent: Evidence) -> None:
        outcome = classify([silent], target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("lost", "unclassified")
        assert not outcome.status.is_answer
        assert outcome.failure is not None
        assert outcome.failure.advice == common.LOST_ADVICE

    def test_two_exit_codes_without_an_answer_are_two_failures(self) -> None:
        marks = set()
        for code in (0, 7):
            evidence = Evidence(answered=False, exit_code=code)
            outcome = classify([evidence], target=TARGET, knowledge=KNOWLEDGE)
            assert outcome.failure is not None
            marks.add(outcome.failure.fingerprint)
        assert len(marks) == 2

    def test_message_that_begins_with_the_name_of_its_exception_shows_it_once(self) -> None:
        raised = RaisedException(type="made.up.BadError", message="BadError: it broke")
        outcome = classify(
            [Evidence(answered=True, stage="ttir", raised=(raised,))],
            target=TARGET,
            knowledge=KNOWLEDGE,
        )
        assert outcome.failure is not None
        assert outcome.failure.excerpt == "BadError: it broke"

    def test_advice_for_an_interpreter_that_does_not_start_is_about_no_package(self) -> None:
        text = "cannot start /envs/bin/python: Permission denied"
        evidence = Evidence(answered=False, toolchain_broken=True, printed=text, stderr=text)
        outcome = classify([evidence], target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("env_broken", "import")
        assert outcome.failure is not None
        assert outcome.failure.advice == common.TOOLCHAIN_DAMAGED.advice

    def test_an_abort_for_lack_of_memory_shows_why(self) -> None:
        printed = "terminate called after throwing an instance of 'std::bad_alloc'\n"
        outcome = classify([evolve(ABORT, stderr=printed)], target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("out_of_memory", "out-of-memory")
        assert outcome.failure is not None
        assert outcome.failure.excerpt == "out of memory"

    def test_fatal_signal_is_a_crash(self) -> None:
        outcome = classify([SEGFAULT], target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("crashed", "compiler-crash")
        assert outcome.failure is not None
        assert "SIGSEGV" in outcome.failure.excerpt

    def test_ptxas_that_finds_too_much_shared_memory_is_no_assembler_error(self) -> None:
        outcome = classify(
            [refused("Entry function 'k' uses too much shared data (0x493e0 bytes, 0xc000 max)")],
            target=TARGET,
            knowledge=KNOWLEDGE,
        )
        assert status_and_class(outcome) == ("rejected", "shared-memory")

    @for_each(
        ("error", "advice"),
        [
            (
                "(C7600) Register allocation failed with register count of '255'. Compile the"
                " program with a higher register target",
                "Lower the register pressure",
            ),
            ("Entry function 'k' uses too much local data (0x9 bytes, 0x8 max)", "Lower the"),
            ("Result register required for instruction 'mov'", "Check inline assembly first"),
            ("Read-only special register cannot be destination argument", "Check inline assembly"),
            ("Too many operands for instruction 'mov'", "Check inline assembly first"),
            ("Unsupported .version 8.6; current version is '8.4'", "The PTX has a newer version"),
            ("Unexpected non-ASCII character encountered on line 43", "The assembler reads only"),
            (
                "Formal parameter space overflowed (40000 bytes required, max 32764 bytes allowed)"
                " in function k",
                "Pass fewer parameters",
            ),
        ],
    )
    def test_only_a_lack_of_registers_calls_for_less_pressure(
        self, error: str, advice: str
    ) -> None:
        outcome = classify([refused(error)], target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("rejected", "ptxas")
        assert outcome.failure is not None
        assert outcome.failure.advice.startswith(advice)

    def test_an_instruction_of_a_newer_ptx_does_not_blame_the_target(self) -> None:
        outcome = classify(
            [refused("Feature 'fence.proxy' requires PTX ISA .version 8.3 or later")],
            target=TARGET,
            knowledge=KNOWLEDGE,
        )
        assert status_and_class(outcome) == ("rejected", "target-feature")
        assert outcome.failure is not None
        assert outcome.failure.advice.startswith("The code needs a newer version of PTX")

    @for_each(
        ("stage", "printed", "failure_class", "advice"),
        [
            ("ast", BIT_WIDTH, "mlir-bitwidth-assert", "Make the bounds of `for` loops scalars"),
            ("llir", BIT_WIDTH, "mlir-bitwidth-assert", "The value is most likely a block of poin"),
            (
                "ptx",
                "python: /llvm/B.cpp:9: void f(): Assertion `(OpInfo.isMultipleAlternative ||"
                " (OpInfo.Type == InlineAsm::isInput)) &&"
                ' "Can only indirectify direct input operands!"\' failed.\n',
                "inline-asm",
                "Inline assembly is for one target",
            ),
            (
                "llir",
                "cantFail wrapped call\n"
                "number of output constraints does not match number of return struct elements\n",
                "inline-asm",
                "Inline assembly is for one target",
            ),
            (
                "llir",
                "LLVM ERROR: PTX version 5.0 does not support target 'sm_90a'. Minimum required\n",
                "invalid-option",
                "The option `ptx_version` sets",
            ),
        ],
    )
    def test_advice_for_an_abort_fits_its_message(
        self, stage: str, printed: str, failure_class: str, advice: str
    ) -> None:
        evidence = evolve(ABORT, stage=stage, stderr=printed)
        outcome = classify([evidence], target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("crashed", failure_class)
        assert outcome.failure is not None
        assert outcome.failure.advice.startswith(advice)

    @pytest.mark.parametrize(
        ("printed", "excerpt"),
        [
            (
                "/usr/include/c++/13/bits/stl_vector.h:1045: std::vector::reference"
                " std::vector<X>::operator[](std::vector::size_type) [_Tp = {}]: Assertion"
                " '__n < this->size()' failed.\n",
                "stl_vector.h:1045: operator[]: Assertion `__n < this->size()' failed",
            ),
            (
                "terminate called after throwing an instance of 'std::out_of_range'\n"
                "  what():  {}::at\n",
                "what(): one::at",
            ),
            (
                "error: pointer types must point to {}\npython: /mlir/S.h:180: static ConcreteT"
                " mlir::Base::get(Args &&...): Assertion `succeeded("
                " ConcreteT::verifyInvariants(getDefaultDiagnosticEmitFn(ctx), args...))'"
                " failed.\n",
                "error: pointer types must point to one",
            ),
            (
                "k.py:9:4: error: 'tt.{}' op pipeliner doesn't know how to predicate this op.\n"
                "LLVM ERROR: Fatal pipeliner error\n",
                "k.py:9: error: 'tt.one' op pipeliner doesn't know how to predicate this op.",
            ),
        ],
    )
    def test_an_abort_is_known_by_the_cause_that_the_compiler_prints(
        self, printed: str, excerpt: str
    ) -> None:
        one, other = (
            classify(
                [evolve(ABORT, stderr=printed.format(cause))], target=TARGET, knowledge=KNOWLEDGE
            ).failure
            for cause in ("one", "other")
        )
        assert one is not None
        assert other is not None
        assert (one.failure_class, one.excerpt) == ("compiler-assert", excerpt)
        assert one.fingerprint != other.fingerprint

    @pytest.mark.parametrize(
        ("error", "message", "failure_class"),
        [
            (
                "AttributeError",
                "'pointer_type' object has no attribute 'primitive_bitwidth'",
                "pointer-or-value",
            ),
            (
                "ValueError",
                "TRITON_OVERRIDE_ARCH must have the form ^sm(\\d+)$",
                "invalid-option",
            ),
            (
                "RuntimeError",
                "LLD failed to link hsaco source /tmp/a into object file /tmp/b because ld.lld:"
                " error: relocation R_AMDGPU_REL32 cannot be used against symbol 'q99'",
                "ptxas",
            ),
        ],
    )
    def test_an_exception_of_triton_has_the_class_of_its_cause(
        self, error: str, message: str, failure_class: str
    ) -> None:
        evidence = evolve(raised_at_import(error, message, TRITONS), stage="ast")
        outcome = classify([evidence], target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("rejected", failure_class)

    @pytest.mark.parametrize(
        ("diagnostic", "advice"),
        [
            ("'tt.reduce' op expects region #0 to have 0 or 1 blocks", "The function that combine"),
            (
                "'ttg.convert_layout' op does not have expected attribute ttg.partition",
                "A pass made",
            ),
            ("'tt.dot' op expects the bit width of a and b to be equal", "Give the operands"),
        ],
    )
    def test_advice_of_the_verifier_knows_what_the_kernel_can_change(
        self, diagnostic: str, advice: str
    ) -> None:
        evidence = evolve(RAISED, stderr=f"k.py:7:2: error: {diagnostic}\n")
        outcome = classify([evidence], target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("crashed", "verifier")
        assert outcome.failure is not None
        assert outcome.failure.advice.startswith(advice)

    @pytest.mark.parametrize(
        ("line", "failure_class"),
        [
            ("    x = abs(x)", "unsupported-syntax"),
            ("    x = tl.abs(abs)", "undefined-name"),
            ("    tl.store(y, abs)", "undefined-name"),
        ],
    )
    def test_only_a_call_of_a_name_of_python_is_unsupported(
        self, line: str, failure_class: str
    ) -> None:
        caret = " " * line.rindex("abs") + "^"
        message = f"at 9:0:\n{line}\n{caret}\nNameError('abs is not defined')"
        evidence = Evidence(
            answered=True,
            stage="ast",
            raised=(
                RaisedException(type="triton.compiler.errors.CompilationError", message=message),
            ),
        )
        outcome = classify([evidence], target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("rejected", failure_class)

    def test_refusal_by_the_machine_is_lost_and_no_answer(self) -> None:
        outcome = classify(
            [evolve(RAISED, answered=False, refused="OSError: [Errno 28] No space left on device")],
            target=TARGET,
            knowledge=KNOWLEDGE,
        )
        assert status_and_class(outcome) == ("lost", "machine")
        assert not outcome.status.is_answer

    def test_signal_that_mlir_reports_is_a_crash_with_its_pass(self) -> None:
        stderr = (
            "k.py:3:1: error: A signal was caught while processing the MLIR module:reproducer"
            " generated at `/tmp/r.mlir`\n"
        )
        for evidence in (
            evolve(RAISED, stderr=stderr),
            evolve(RAISED, answered=False, raised=(), signal="SIGSEGV", stderr=stderr),
        ):
            outcome = classify([evidence], target=TARGET, knowledge=KNOWLEDGE)
            assert status_and_class(outcome) == ("crashed", "compiler-crash")
            assert outcome.failure is not None
            assert outcome.failure.pass_ == "tritongpu-coalesce"

    def test_silent_pass_failure_after_a_signal_in_its_stage_is_a_compiler_crash(self) -> None:
        silent = evolve(
            RAISED,
            stderr="error: Failures have been detected while processing an MLIR pass pipeline\n",
        )
        outcome = classify([SEGFAULT, silent], target=TARGET, knowledge=KNOWLEDGE)
        assert agree(SEGFAULT, silent, target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("crashed", "compiler-crash")
        assert outcome.failure is not None
        assert (outcome.failure.pass_, outcome.flaky) == ("tritongpu-coalesce", False)
        assert status_and_class(classify([silent], target=TARGET, knowledge=KNOWLEDGE)) == (
            "crashed",
            "pass-failure",
        )
        assert status_and_class(
            classify([SEGFAULT, evolve(silent, stage="llir")], target=TARGET, knowledge=KNOWLEDGE)
        ) == (
            "crashed",
            "pass-failure",
        )

    def test_silent_signals_differ_by_signal_and_stage(self) -> None:
        faces = [SEGFAULT, evolve(SEGFAULT, signal="SIGFPE"), evolve(SEGFAULT, stage="ptx")]
        outcomes = [classify([face], target=TARGET, knowledge=KNOWLEDGE).failure for face in faces]
        assert len({failure.fingerprint for failure in outcomes if failure}) == 3

    def test_exceeded_deadline_is_a_timeout_and_not_a_signal(self) -> None:
        outcome = classify([HANG], target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("timed_out", "timeout")
        assert outcome.failure is not None
        assert outcome.failure.excerpt == "timed out after 60 s, in stage llir"

    @pytest.mark.parametrize(
        "hog",
        [
            Evidence(answered=False, stage="ast", signal="SIGKILL", memory=3 << 30),
            Evidence(
                answered=True,
                stage="ast",
                raised=(RaisedException(type="MemoryError", message=""),),
            ),
            Evidence(
                answered=False,
                stage="ast",
                signal="SIGABRT",
                stderr="terminate called after throwing an instance of 'std::bad_alloc'\n",
            ),
        ],
        ids=("stopped", "python", "native"),
    )
    def test_exceeded_memory_is_out_of_memory(self, hog: Evidence) -> None:
        assert status_and_class(classify([hog], target=TARGET, knowledge=KNOWLEDGE)) == (
            "out_of_memory",
            "out-of-memory",
        )

    def test_exit_with_an_error_message_is_a_crash(self) -> None:
        evidence = Evidence(
            answered=False,
            exit_code=1,
            stage="amdgcn",
            stderr="error: couldn't allocate output register\n",
        )
        assert status_and_class(classify([evidence], target=TARGET, knowledge=KNOWLEDGE)) == (
            "crashed",
            "compiler-assert",
        )

    def test_shared_memory_above_the_limit_is_a_predicted_failure(self) -> None:
        outcome = classify(
            [evolve(OK, metrics={"shared": 250_000})], target=TARGET, knowledge=KNOWLEDGE
        )
        assert status_and_class(outcome) == ("rejected", "shared-memory")
        assert outcome.stage == "launch"
        assert outcome.failure is not None
        assert outcome.failure.prediction
        assert (
            outcome.failure.excerpt
            == "would exceed shared memory: needs 250000 bytes, sm_90 allows 232448"
        )
        assert outcome.metrics == {"shared": 250_000}

    def test_shared_memory_up_to_the_limit_is_ok(self) -> None:
        assert status_and_class(
            classify(
                [evolve(OK, metrics={"shared": TARGET.shared_memory})],
                target=TARGET,
                knowledge=KNOWLEDGE,
            )
        ) == (
            "ok",
            None,
        )

    @for_each(
        ("target", "metrics", "failure_class", "excerpt"),
        [
            (
                TARGET,
                {"num_warps": 16, "occupancy": {"threads": 1536, "blocks": 0}},
                "block-threads",
                "would exceed the threads of a block: has 1536, sm_90 allows 1024",
            ),
            (
                TARGETS["gfx942"],
                {"num_warps": 32},
                "block-threads",
                "would exceed the threads of a block: has 2048, gfx942 allows 1024",
            ),
            (
                TARGET,
                {
                    "num_warps": 16,
                    "registers": 255,
                    "occupancy": {"threads": 512, "spare_registers": -127},
                },
                "block-registers",
                "would exceed the registers of a block: has 255 a thread, sm_90 allows 128 with so"
                " many threads",
            ),
            (
                TARGET,
                {"num_warps": 4, "cluster": 16, "largest_cluster": 8},
                "cluster-size",
                "would exceed the blocks of a cluster: has 16, the release allows 8",
            ),
            (
                TARGETS["sm_100"],
                {"num_warps": 8, "tensor_memory": 768},
                "tensor-memory",
                "would exceed tensor memory: needs 768 columns, sm_100 has 512",
            ),
        ],
    )
    def test_oversized_block_or_cluster_is_a_predicted_failure(
        self, target: Target, metrics: dict[str, Any], failure_class: str, excerpt: str
    ) -> None:
        outcome = classify([evolve(OK, metrics=metrics)], target=target, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("rejected", failure_class)
        failure = outcome.failure
        assert failure is not None
        assert (failure.prediction, failure.stage, failure.excerpt) == (True, "launch", excerpt)

    @pytest.mark.parametrize(
        ("target", "metrics"),
        [
            (TARGET, {"num_warps": 32, "registers": 64, "occupancy": {"threads": 1024}}),
            (TARGET, {"registers": 255, "occupancy": {"threads": 128, "spare_registers": 0}}),
            (TARGETS["gfx942"], {"num_warps": 16, "registers": 512}),
            (TARGETS["sm_100"], {"num_warps": 8, "tensor_memory": 512}),
        ],
    )
    def test_a_block_at_the_limit_is_ok(self, target: Target, metrics: dict[str, Any]) -> None:
        outcome = classify([evolve(OK, metrics=metrics)], target=target, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("ok", None)

    def test_mixed_descriptors_predict_wrong_numbers(self) -> None:
        outcome = classify(
            [evolve(OK, metrics={"shared": 40_000, "mixed_descriptors": 3})],
            target=TARGET,
            knowledge=KNOWLEDGE,
        )
        assert status_and_class(outcome) == ("wrong", "sass-descriptor")
        failure = outcome.failure
        assert failure is not None
        assert (failure.prediction, failure.stage) == (True, "check")
        assert failure.excerpt == (
            "would compute wrong numbers: sums that make the high word of a wgmma descriptor from"
            " the low word: 3"
        )
        assert "TRITON_PTXAS_PATH" in failure.advice

    def test_code_without_mixed_descriptors_is_ok(self) -> None:
        assert status_and_class(
            classify(
                [evolve(OK, metrics={"mixed_descriptors": 0})], target=TARGET, knowledge=KNOWLEDGE
            )
        ) == ("ok", None)

    def test_a_kernel_that_exits_is_rejected(self) -> None:
        evidence = Evidence(
            answered=True, stage="ast", raised=(RaisedException(type="SystemExit", message="0"),)
        )
        assert status_and_class(classify([evidence], target=TARGET, knowledge=KNOWLEDGE)) == (
            "rejected",
            "unclassified",
        )

    @pytest.mark.parametrize(
        ("traceback", "verdict"),
        [(TRITONS, "crashed internal-error"), (KERNELS_OWN, "rejected unclassified")],
    )
    def test_exception_in_the_kernels_own_code_is_not_an_internal_error(
        self, traceback: str, verdict: str
    ) -> None:
        evidence = Evidence(
            answered=True,
            stage="ast",
            raised=(RaisedException(type="KeyError", message="7", traceback=traceback),),
        )
        assert classify([evidence], target=TARGET, knowledge=KNOWLEDGE).attempts == (verdict,)

    @for_each(
        ("evidence", "failure_class"),
        [
            (
                raised_at_import("ModuleNotFoundError", "No module named 'torch'"),
                "source-needs-package",
            ),
            # Triton's own autotuner imports torch in 3.0 and 3.1.
            (
                raised_at_import("ModuleNotFoundError", "No module named 'torch'", TRITONS),
                "source-needs-package",
            ),
            (raised_at_import("SystemExit", "0"), "source-import"),
            (
                raised_at_import("TypeError", "mine() got an unexpected keyword argument 'x'"),
                "source-import",
            ),
            (raised_at_import("MemoryError", ""), "source-import"),
            (Evidence(answered=False, deadline=120.0, signal="SIGKILL"), "source-timeout"),
            (Evidence(answered=False, memory=3 << 30, signal="SIGKILL"), "source-import"),
            (Evidence(answered=False, signal="SIGSEGV"), "source-import"),
        ],
    )
    def test_failed_import_of_a_kernels_file_is_source_broken(
        self, evidence: Evidence, failure_class: str
    ) -> None:
        outcome = classify([evidence], target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("source_broken", failure_class)
        assert not outcome.status.is_answer

    @for_each(
        ("code", "explanation"),
        [("None", "PackageNotFoundError: no compiler here"), ("1", "SystemExit: 1")],
    )
    def test_exit_of_a_kernels_file_shows_why_and_what_was_printed(
        self, code: str, explanation: str
    ) -> None:
        raised = (
            RaisedException(type="SystemExit", message=code),
            RaisedException(type="PackageNotFoundError", message="no compiler here"),
        )
        evidence = Evidence(
            answered=True, stage="source", raised=raised, stderr="hello\ninstall it first\n\n"
        )
        outcome = classify([evidence], target=TARGET, knowledge=KNOWLEDGE)
        assert outcome.failure is not None
        assert outcome.failure.excerpt.splitlines() == [
            explanation,
            "printed before: install it first",
        ]

    def test_exception_with_a_number_does_not_show_what_was_printed_before(self) -> None:
        raised = (RaisedException(type="KeyError", message="1"),)
        evidence = Evidence(answered=True, stage="source", raised=raised, stderr="hello\n")
        outcome = classify([evidence], target=TARGET, knowledge=KNOWLEDGE)
        assert outcome.failure is not None
        assert "hello" not in outcome.failure.excerpt

    @pytest.mark.parametrize(
        ("evidence", "failure_class"),
        [
            (
                raised_at_import("ModuleNotFoundError", "No module named 'triton.ops'"),
                "api-missing",
            ),
            (
                raised_at_import(
                    "AttributeError", "module 'triton.language' has no attribute 'gather'"
                ),
                "api-missing",
            ),
            (
                raised_at_import(
                    "TypeError",
                    "Autotuner.__init__() got an unexpected keyword argument 'do_bench'",
                ),
                "api-changed",
            ),
            (
                raised_at_import("ValueError", "key 'n' is not an argument of the kernel", TRITONS),
                "unclassified",
            ),
        ],
    )
    def test_toolchain_error_during_the_import_is_a_rejection(
        self, evidence: Evidence, failure_class: str
    ) -> None:
        assert status_and_class(classify([evidence], target=TARGET, knowledge=KNOWLEDGE)) == (
            "rejected",
            failure_class,
        )

    def test_outcome_without_attempts_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="no attempt"):
            classify([], target=TARGET, knowledge=KNOWLEDGE)


class TestSeveralAttempts:
    def test_an_abort_is_confirmed_by_a_failed_pass_manager(self) -> None:
        outcome = classify([ABORT, RAISED], target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("crashed", "compiler-assert")
        assert not outcome.flaky
        assert outcome.failure is not None
        assert outcome.failure.pass_ == "tritongpu-coalesce"
        assert outcome.failure.reproducer == "abc.mlir"
        assert outcome.attempts == ("crashed compiler-assert", "crashed compiler-assert")

    def test_crash_among_neighbours_is_cleared_by_two_ok_attempts_alone(self) -> None:
        outcome = classify([SEGFAULT, alone(OK), alone(OK)], target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("ok", None)
        assert not outcome.flaky
        assert outcome.attempts == ("crashed compiler-crash", "ok", "ok")

    def test_one_ok_attempt_alone_after_a_crash_is_flaky(self) -> None:
        assert classify([SEGFAULT, alone(OK)], target=TARGET, knowledge=KNOWLEDGE).flaky
        assert not agree(SEGFAULT, alone(OK), target=TARGET, knowledge=KNOWLEDGE)

    @pytest.mark.parametrize("order", [(0, 1), (1, 0)])
    def test_different_answers_alone_are_flaky_and_not_ok(self, order: tuple[int, int]) -> None:
        pair = [alone(OK), alone(SEGFAULT)]
        outcome = classify(
            [SEGFAULT, *(pair[index] for index in order)], target=TARGET, knowledge=KNOWLEDGE
        )
        assert status_and_class(outcome) == ("crashed", "compiler-crash")
        assert outcome.flaky

    def test_two_different_failures_alone_are_flaky(self) -> None:
        assert classify([ABORT, RAISED, alone(SEGFAULT)], target=TARGET, knowledge=KNOWLEDGE).flaky

    def test_two_equal_failures_alone_outrank_another_among_neighbours(self) -> None:
        outcome = classify([SEGFAULT, RAISED, RAISED], target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("crashed", "compiler-assert")
        assert not outcome.flaky

    def test_a_shorter_timeout_confirms_a_timeout(self) -> None:
        shorter = evolve(
            HANG, alone=True, deadline=3.0, stage="ast", diagnosis=Diagnosis(pass_="elsewhere")
        )
        outcome = classify([HANG, shorter], target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("timed_out", "timeout")
        assert not outcome.flaky
        assert outcome.failure is not None
        assert outcome.failure.excerpt == "timed out after 60 s, in stage llir"
        assert outcome.failure.pass_ is None, "a pass of another stage is not where it hung"

    def test_a_shorter_timeout_in_the_same_stage_names_the_pass(self) -> None:
        shorter = evolve(
            HANG, alone=True, deadline=3.0, diagnosis=Diagnosis(pass_="convert-triton-gpu-to-llvm")
        )
        outcome = classify([HANG, shorter], target=TARGET, knowledge=KNOWLEDGE)
        assert outcome.failure is not None
        assert outcome.failure.pass_ == "convert-triton-gpu-to-llvm"

    def test_a_limit_that_only_diagnostics_reach_is_no_timeout(self) -> None:
        crash, hang = evolve(RAISED, alone=False), alone(HANG)
        outcome = classify([crash, hang, hang], target=TARGET, knowledge=KNOWLEDGE)
        assert status_and_class(outcome) == ("crashed", "compiler-assert")
        assert not outcome.flaky
        assert agree(crash, hang, target=TARGET, knowledge=KNOWLEDGE)

    def test_an_answer_outranks_a_missing_answer(self) -> None:
        silence = Evidence(answered=False, exit_code=0, alone=True)
        outcome = classify([ABORT, silence, RAISED], target=TARGET, knowledge=KNOWLEDGE)
        assert outcome.status is Status.CRASHED
        assert outcome.flaky

    def test_two_missing_answers_are_lost(self) -> None:
        silence = Evidence(answered=False, exit_code=0)
        outcome = classify([silence, alone(silence)], target=TARGET, knowledge=KNOWLEDGE)
        assert outcome.status is Status.LOST
        assert not outcome.flaky
