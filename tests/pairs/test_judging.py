"""The outcome of an answer: it depends on the facts in the answer, and not on versions."""

from __future__ import annotations

from typing import Any

import pytest

from compat.model import Status
from compat.toolchains.triton.device.pairing import CLASSES, PROGRAMS, judge
from tests.together import for_each


def raised(
    kind: str,
    message: str,
    at: str = "torch/_inductor/scheduler.py:1",
    function: str = "f",
    code: str = "",
) -> dict[str, Any]:
    return {"type": kind, "message": message, "at": at, "in": function, "code": code}


def answer(*errors: dict[str, Any], stage: str = "compile") -> dict[str, Any]:
    return {
        "stage": stage,
        "errors": list(errors),
        "launched": [],
        "wanted": ["triton_"],
        "own": [],
        "logged": [],
    }


def launched(
    *names: str,
    prefixes: tuple[str, ...],
    own: tuple[str, ...] = (),
    logged: tuple[dict[str, Any], ...] = (),
) -> dict[str, Any]:
    launches = [[name, 1, 1, 1, 128, 1, 1, 0] for name in names]
    facts = {"launched": launches, "wanted": list(prefixes), "own": list(own)}
    return {**answer(stage="launched"), **facts, "logged": list(logged)}


def test_a_graph_that_launches_all_of_its_kernels_is_ok() -> None:
    judged = judge(launched("triton_red_0", "triton_per_1", prefixes=("triton_", "triton_")))
    assert (judged.status, judged.failure_class, judged.message) == (Status.OK, None, "")


def test_each_kernel_needs_a_launch_of_its_own() -> None:
    judged = judge(launched("triton_red_0", prefixes=("triton_", "triton_")))
    assert (judged.status, judged.failure_class) == (Status.WRONG, "launch-missing")
    assert judged.message == "1 of 2 kernels are not launched"


def test_a_dropped_user_kernel_is_wrong_and_quotes_the_swallowed_error() -> None:
    swallowed = raised(
        "ImportError", "cannot import name 'specialize_impl' from 'triton.runtime.jit'"
    )
    judged = judge(
        launched(
            "triton_poi_0",
            prefixes=("compat_user_add",),
            own=("compat_user_add",),
            logged=(swallowed,),
        )
    )
    assert (judged.status, judged.failure_class) == (Status.WRONG, "kernel-dropped")
    assert judged.message.startswith(
        "the user's kernel is not launched; swallowed: ImportError: cannot import name"
        " 'specialize_impl'"
    )


@for_each(
    ("program_answer", "failure_class", "message"),
    [
        (
            answer(
                raised("TypeError", "must be called with a dataclass type or instance"),
                stage="import",
            ),
            "import-fails",
            "TypeError: must be called with a dataclass type or instance",
        ),
        (
            answer(
                raised("RuntimeError", "Cannot find a working triton installation. It is too old.")
            ),
            "not-found",
            "RuntimeError: Cannot find a working triton installation. It is too old.",
        ),
        (
            answer(
                raised(
                    "AssertionError",
                    "",
                    "triton/compiler/compiler.py:63",
                    "__init__",
                    "assert isinstance(k, tuple)",
                )
            ),
            "signature",
            "AssertionError: assert isinstance(k, tuple)",
        ),
        (
            answer(
                raised("AttributeError", "'KernelMetadata' object has no attribute 'cluster_dims'")
            ),
            "metadata",
            "AttributeError: 'KernelMetadata' object has no attribute 'cluster_dims'",
        ),
        (
            answer(
                raised(
                    "LoweringException",
                    "ImportError: cannot import name 'triton_key' from 'triton'\n  target: aten.mm",
                )
            ),
            "name-missing",
            "ImportError: cannot import name 'triton_key' from 'triton'",
        ),
        (
            answer(
                raised(
                    "InductorError",
                    "CompilationError: at 3:11:\ndef k(x):\n    tmp2 = rand(x)\n           ^",
                )
            ),
            "compile-fails",
            "CompilationError: at 3:11: tmp2 = rand(x)",
        ),
        (
            answer(
                raised(
                    "CompilationError",
                    "at 3:11:\ndef k(x):\n    tmp2 = rand(x)\n           ^\nshapes differ",
                )
            ),
            "compile-fails",
            "CompilationError: at 3:11: shapes differ",
        ),
        (
            answer(raised("RuntimeError", "invalid argument"), stage="launch"),
            "launch-fails",
            "RuntimeError: invalid argument",
        ),
    ],
)
def test_each_exception_has_a_failure_class(
    program_answer: dict[str, Any], failure_class: str, message: str
) -> None:
    judged = judge(program_answer)
    assert (judged.status, judged.failure_class, judged.message) == (
        Status.REJECTED,
        failure_class,
        message,
    )


def test_the_most_specific_exception_of_a_chain_decides() -> None:
    chain = (
        raised("InductorError", "it failed"),
        raised("AttributeError", "'KernelMetadata' object has no attribute 'cluster_dims'"),
    )
    judged = judge(answer(*chain))
    assert (judged.failure_class, judged.message.partition(":")[0]) == (
        "metadata",
        "AttributeError",
    )


@pytest.mark.parametrize(
    ("ended", "status", "failure_class"),
    [
        ("deadline", Status.TIMED_OUT, "deadline"),
        ("SIGSEGV", Status.CRASHED, "process-ended"),
        ("exit code 1", Status.CRASHED, "process-ended"),
    ],
)
def test_the_end_of_a_process_decides_the_status(
    ended: str, status: Status, failure_class: str
) -> None:
    judged = judge({"ended": ended, "words": "the last words"})
    assert (judged.status, judged.failure_class) == (status, failure_class)
    assert "the last words" in judged.message


def test_a_pytorch_without_cuda_is_unsupported() -> None:
    judged = judge(
        answer(raised("RuntimeError", "this PyTorch is built without CUDA"), stage="import")
    )
    assert (judged.status, judged.failure_class) == (Status.UNSUPPORTED, "no-cuda")


@pytest.mark.parametrize(
    "program_answer",
    [{}, {"stage": "launch"}, {"errors": ["x"]}, {"stage": "launched", "errors": [7]}],
)
def test_an_incomplete_answer_is_not_ok(program_answer: dict[str, Any]) -> None:
    if program_answer.get("stage") == "launched":
        program_answer = {**program_answer, "wanted": ["triton_"]}
    judged = judge(program_answer)
    assert judged.status is not Status.OK
    assert judged.failure_class in CLASSES


def test_the_list_of_programs_matches_their_source() -> None:
    from pathlib import Path

    from compat.toolchains import DEFAULT

    assert DEFAULT.device.pairing is not None
    text = Path(DEFAULT.device.pairing.program, "compiling.py").read_text()
    for name in PROGRAMS:
        assert f'    "{name}": Program(' in text
    assert text.count(": Program(") == len(PROGRAMS)


def test_every_class_is_in_the_documentation() -> None:
    from pathlib import Path

    text = (Path(__file__).parents[2] / "docs" / "pairs.md").read_text()
    for name, meaning in CLASSES.items():
        assert f"`{name}`" in text, name
        assert meaning
