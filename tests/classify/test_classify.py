"""How attempts end, and what several of them say together."""

from __future__ import annotations

import pytest
from attrs import evolve

from compat.config.targets import TARGETS
from compat.evidence.classify import agree, classify
from compat.model import Diagnosis, Evidence, Raised, Status
from tests.classify.sightings import said

TARGET = TARGETS["sm_90"]
OK = Evidence(answered=True, built=True, stage="cubin", metrics={"shared": 1024, "registers": 32}, stages={"ast": 0.1}, seconds=0.3)
ASSERTION = 'python: /build/mlir/Types.cpp:126: unsigned mlir::Type::width() const: Assertion `isWide() && "too narrow"\' failed.\n'
ABORT = Evidence(answered=False, stage="ttgir", signal="SIGABRT", stderr=ASSERTION)
RAISED = Evidence(
    answered=True,
    alone=True,
    stage="ttgir",
    raised=(Raised(type="RuntimeError", message="PassManager::run failed"),),
    stderr=ASSERTION.replace("/build", "/other").replace("126", "99"),
    diagnosis=Diagnosis(pass_="tritongpu-coalesce", reproducer="abc.mlir"),
)
SEGFAULT = Evidence(answered=False, stage="ttgir", signal="SIGSEGV", stderr="Fatal Python error: Segmentation fault\n")
HANG = Evidence(answered=False, stage="llir", signal="SIGKILL", deadline=60.0)


def alone(evidence: Evidence) -> Evidence:
    return evolve(evidence, alone=True)


class TestOneAttempt:
    def test_a_binary_is_ok(self) -> None:
        outcome = classify([OK], target=TARGET)
        assert said(outcome) == ("ok", None)
        assert outcome.metrics["registers"] == 32
        assert outcome.seconds == 0.3
        assert outcome.attempts == ("ok",)

    @pytest.mark.parametrize(
        "silent",
        [
            Evidence(answered=False),
            Evidence(answered=False, exit_code=0),
            Evidence(answered=False, exit_code=0, stderr="all is well\n"),
            Evidence(answered=False, exit_code=0, stderr="error: something that would explain another exit\n"),
            Evidence(answered=False, exit_code=3),
            Evidence(answered=False, built=True),
            Evidence(answered=False, built=True, exit_code=0),
            Evidence(answered=True, built=False),
            Evidence(answered=False, signal="SIGKILL"),
            Evidence(answered=False, signal="SIGTERM", stderr=ASSERTION),
        ],
        ids=repr,
    )
    def test_no_answer_is_lost_and_never_ok(self, silent: Evidence) -> None:
        outcome = classify([silent], target=TARGET)
        assert said(outcome) == ("lost", "unclassified")
        assert not outcome.status.is_answer

    def test_a_signal_of_its_own_is_a_crash(self) -> None:
        outcome = classify([SEGFAULT], target=TARGET)
        assert said(outcome) == ("crashed", "unclassified")
        assert outcome.failure is not None
        assert "SIGSEGV" in outcome.failure.excerpt

    def test_signals_without_words_differ_by_signal_and_by_what_was_at_work(self) -> None:
        faces = [SEGFAULT, evolve(SEGFAULT, signal="SIGFPE"), evolve(SEGFAULT, stage="ptx")]
        outcomes = [classify([face], target=TARGET).failure for face in faces]
        assert len({failure.fingerprint for failure in outcomes if failure}) == 3

    def test_a_deadline_is_a_timeout_whatever_the_signal(self) -> None:
        outcome = classify([HANG], target=TARGET)
        assert said(outcome) == ("timed_out", "timeout")
        assert outcome.failure is not None
        assert outcome.failure.excerpt == "no end after 60 s, in stage llir"

    @pytest.mark.parametrize(
        "hog",
        [
            Evidence(answered=False, signal="SIGKILL", memory=3 << 30),
            Evidence(answered=True, raised=(Raised(type="MemoryError", message=""),)),
            Evidence(answered=False, signal="SIGABRT", stderr="terminate called after throwing an instance of 'std::bad_alloc'\n"),
        ],
        ids=("stopped", "python", "native"),
    )
    def test_memory(self, hog: Evidence) -> None:
        assert said(classify([hog], target=TARGET)) == ("out_of_memory", "out-of-memory")

    def test_an_exit_that_explains_itself_is_a_crash(self) -> None:
        evidence = Evidence(answered=False, exit_code=1, stage="amdgcn", stderr="error: couldn't allocate output register\n")
        assert said(classify([evidence], target=TARGET)) == ("crashed", "compiler-assert")

    def test_shared_memory_beyond_the_target_is_a_prediction(self) -> None:
        outcome = classify([evolve(OK, metrics={"shared": 250_000})], target=TARGET)
        assert said(outcome) == ("rejected", "shared-memory")
        assert outcome.stage == "launch"
        assert outcome.failure is not None
        assert outcome.failure.prediction
        assert outcome.failure.excerpt == "would exceed shared memory: needs 250000 bytes, sm_90 allows 232448"
        assert outcome.metrics == {"shared": 250_000}

    def test_shared_memory_up_to_the_limit_is_ok(self) -> None:
        assert said(classify([evolve(OK, metrics={"shared": TARGET.shared_memory})], target=TARGET)) == ("ok", None)

    def test_a_file_that_exits_is_rejected(self) -> None:
        evidence = Evidence(answered=True, raised=(Raised(type="SystemExit", message="0"),))
        assert said(classify([evidence], target=TARGET)) == ("rejected", "unclassified")

    def test_a_missing_module_of_the_kernels_own_is_no_broken_env(self) -> None:
        evidence = Evidence(answered=True, raised=(Raised(type="ModuleNotFoundError", message="No module named 'torch'"),))
        assert said(classify([evidence], target=TARGET)) == ("rejected", "unclassified")

    def test_no_attempt_is_no_outcome(self) -> None:
        with pytest.raises(ValueError, match="no attempt"):
            classify([], target=TARGET)


class TestSeveralAttempts:
    def test_an_abort_is_confirmed_by_a_failed_pass_manager(self) -> None:
        outcome = classify([ABORT, RAISED], target=TARGET)
        assert said(outcome) == ("crashed", "compiler-assert")
        assert not outcome.flaky
        assert outcome.failure is not None
        assert outcome.failure.pass_ == "tritongpu-coalesce"
        assert outcome.failure.reproducer == "abc.mlir"
        assert outcome.attempts == ("crashed compiler-assert", "crashed compiler-assert")

    def test_what_neighbours_did_is_not_the_cells_doing(self) -> None:
        outcome = classify([SEGFAULT, alone(OK), alone(OK)], target=TARGET)
        assert said(outcome) == ("ok", None)
        assert not outcome.flaky
        assert outcome.attempts == ("crashed unclassified", "ok", "ok")

    def test_ok_alone_but_once_is_not_settled(self) -> None:
        assert classify([SEGFAULT, alone(OK)], target=TARGET).flaky
        assert not agree(SEGFAULT, alone(OK), target=TARGET)

    @pytest.mark.parametrize("order", [(0, 1), (1, 0)])
    def test_alone_and_different_each_time_is_flaky_and_never_ok(self, order: tuple[int, int]) -> None:
        pair = [alone(OK), alone(SEGFAULT)]
        outcome = classify([SEGFAULT, *(pair[index] for index in order)], target=TARGET)
        assert said(outcome) == ("crashed", "unclassified")
        assert outcome.flaky

    def test_two_different_failures_alone_are_flaky(self) -> None:
        assert classify([ABORT, RAISED, alone(SEGFAULT)], target=TARGET).flaky

    def test_failing_otherwise_among_neighbours_is_settled_by_two_alone(self) -> None:
        outcome = classify([SEGFAULT, RAISED, RAISED], target=TARGET)
        assert said(outcome) == ("crashed", "compiler-assert")
        assert not outcome.flaky

    def test_a_shorter_timeout_confirms_a_timeout(self) -> None:
        shorter = evolve(HANG, alone=True, deadline=3.0, stage="ast", diagnosis=Diagnosis(pass_="elsewhere"))
        outcome = classify([HANG, shorter], target=TARGET)
        assert said(outcome) == ("timed_out", "timeout")
        assert not outcome.flaky
        assert outcome.failure is not None
        assert outcome.failure.excerpt == "no end after 60 s, in stage llir"
        assert outcome.failure.pass_ is None, "a pass of another stage is not where it hung"

    def test_a_shorter_timeout_in_the_same_stage_names_the_pass(self) -> None:
        shorter = evolve(HANG, alone=True, deadline=3.0, diagnosis=Diagnosis(pass_="convert-triton-gpu-to-llvm"))
        outcome = classify([HANG, shorter], target=TARGET)
        assert outcome.failure is not None
        assert outcome.failure.pass_ == "convert-triton-gpu-to-llvm"

    def test_an_answer_outranks_silence(self) -> None:
        silence = Evidence(answered=False, exit_code=0, alone=True)
        outcome = classify([ABORT, silence, RAISED], target=TARGET)
        assert outcome.status is Status.CRASHED
        assert outcome.flaky

    def test_silence_twice_is_lost(self) -> None:
        silence = Evidence(answered=False, exit_code=0)
        outcome = classify([silence, alone(silence)], target=TARGET)
        assert outcome.status is Status.LOST
        assert not outcome.flaky
