"""Reading the place of a failure from what compilers print.

The texts are excerpts of real output, shortened.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compat.diagnosis.pipeline import CompilerOutput, Keep, Pipeline, add_diagnosis
from compat.model import Diagnosis, Evidence
from compat.text import limit_length
from compat.toolchains.triton.ir.dumps import READER, read
from compat.worker.beacon import Beacon

DUMPS = """\
// -----// IR Dump Before ConvertTritonToTritonGPU (convert-triton-to-tritongpu) ('builtin.module' operation) //----- //
#loc = loc("/home/user/kernels/faces.py":26:0)
module {
  tt.func public @chained_dot(%arg0: !tt.ptr<f16> loc(unknown)) attributes {noinline = false} {
    tt.return loc(#loc1)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("/home/user/kernels/faces.py":33:4)


// -----// IR Dump Before TritonGPUAccelerateMatmul (tritongpu-accelerate-matmul) ('builtin.module' operation) //----- //
#blocked = #triton_gpu.blocked<{sizePerThread = [1, 4]}>
module attributes {"triton_gpu.num-warps" = 8 : i32} {
  tt.func public @chained_dot() {
    %0 = tt.dot %a, %b : tensor<64x64xf16>
  }
}

"""
ABORT = (
    "python: /project/lib/AccelerateMatmul.cpp:36: int getMMAVersionSafe(int): Assertion `false &&"
    ' "no"\' failed.\n'
)
FAILED = """\
module {
  tt.func public @k() {
    tt.return
  }
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(a,b)",
    }
  }
#-}
/k/k.py:12:0: error: Failures have been detected while processing an MLIR pass pipeline
/k/k.py:12:0: note: Pipeline failed while executing [`ConvertTritonGPUToLLVM` on 'builtin.module' operation]: reproducer …
"""


NOTHING = READER.read("")


def diagnose(printed: str, stage: str, keep: Keep | None = None, **facts: Any) -> Diagnosis:
    return add_diagnosis(
        Evidence(answered=False, stage=stage, **facts), READER.read(printed), keep, READER
    ).diagnosis


def test_ir_is_separated_from_messages_and_the_last_pass_is_known() -> None:
    output = read(DUMPS + ABORT)
    assert output.text == ABORT
    assert output.pipeline.last == "tritongpu-accelerate-matmul"
    first, last = output.pipeline.steps
    assert "chained_dot(%arg0" in first.ir
    assert last.ir.startswith("#blocked = ")
    assert last.ir.endswith("}\n")
    assert "chained_dot(%arg0" not in last.ir


def test_module_that_is_printed_without_a_dump_is_removed() -> None:
    output = read(FAILED)
    assert output.pipeline.steps == ()
    assert [line.split(": ")[1] for line in output.text.splitlines()] == ["error", "note"]


def test_python_stack_is_not_ir() -> None:
    text = (
        'Fatal Python error: Aborted\n\nStack (most recent call first):\n  File "a.py", line 3 in'
        " visit_For\n"
    )
    assert read(text) == CompilerOutput(text=text, pipeline=Pipeline(steps=()))


def test_pass_is_named_only_if_a_pass_manager_ran() -> None:
    assert diagnose(DUMPS + ABORT, "llir").pass_ is None
    assert diagnose(DUMPS + ABORT, "ttgir", in_passes=True).pass_ == "tritongpu-accelerate-matmul"


def test_without_dumps_the_note_names_the_pass() -> None:
    diagnosis = diagnose(FAILED, "llir")
    assert (diagnosis.pass_, diagnosis.location) == ("ConvertTritonGPUToLLVM", "k.py:12")


def test_heading_of_releases_since_3_9_is_read() -> None:
    text = DUMPS.replace(
        "TritonGPUAccelerateMatmul (tritongpu-accelerate-matmul)",
        "TritonGPUAccelerateMatmul: tritongpu-accelerate-matmul",
    )
    output = read(text + ABORT)
    assert output.text == ABORT
    assert output.pipeline.last == "tritongpu-accelerate-matmul"


def test_dump_after_a_failed_pass_names_that_pass() -> None:
    after = (
        "// -----// IR Dump After TritonGPUAccelerateMatmul Failed (tritongpu-accelerate-matmul)"
        " //----- //\n"
    )
    output = read(DUMPS + after + "module {\n  broken\n}\n" + ABORT)
    assert output.text == ABORT
    assert output.pipeline.failed == "tritongpu-accelerate-matmul"
    assert "broken" not in output.pipeline.steps[-1].ir


def test_note_without_brackets_names_a_single_failed_pass() -> None:
    assert (
        diagnose(FAILED.replace("[`", "`").replace("]:", ":"), "llir").pass_
        == "ConvertTritonGPUToLLVM"
    )


def test_reproducer_and_ir_are_named_only_for_a_failure_in_a_pass() -> None:
    files: dict[str, bytes] = {}

    def keep(suffix: str, data: bytes) -> str:
        files[suffix] = data
        return f"name{suffix}"

    facts: dict[str, Any] = {"artifacts": {"reproducer": "r.mlir"}}
    outside = diagnose(DUMPS + ABORT, "ptx", keep, **facts)
    assert (outside.reproducer, outside.ir) == (None, None)
    inside = diagnose(DUMPS + ABORT, "ttgir", keep, in_passes=True, **facts)
    assert (inside.reproducer, inside.ir) == ("r.mlir", "name.before.mlir")
    assert b"tt.dot" in files[".before.mlir"]


def test_the_front_ends_line_comes_from_the_beacon() -> None:
    place = "/home/user/kernels/faces.py:20"
    facts: dict[str, Any] = {"in_flight": place, "quoted": {place: "    tl.dot(a, b)"}}
    diagnosis = diagnose("", "ast", **facts)
    assert (diagnosis.location, diagnosis.line) == ("faces.py:20", "    tl.dot(a, b)")
    assert diagnose("", "ttgir", **facts).location is None


def test_location_in_an_answer_outranks_the_beacon() -> None:
    """The beacon may already name the next cell. The first line of a function is only a location."""
    facts: dict[str, Any] = {
        "in_flight": "/k/k.py:20",
        "at": "/k/k.py:3",
        "quoted": {"/k/k.py:3": "def f():", "/k/k.py:20": "x"},
    }
    diagnosis = add_diagnosis(
        Evidence(answered=True, stage="ast", **facts), NOTHING, None, READER
    ).diagnosis
    assert (diagnosis.location, diagnosis.line) == ("k.py:3", None)
    nowhere = add_diagnosis(
        Evidence(answered=True, stage="ast", in_flight="/k/k.py:20"), NOTHING, None, READER
    ).diagnosis
    assert nowhere.location is None


@pytest.mark.parametrize(
    ("line", "op"),
    [
        ("k.py:3:4: error: 'tt.dot' op operand #0 must be tensor", "tt.dot"),
        (
            (
                "k.py:3:4: error: failed to legalize operation 'tt.load' that was explicitly marked"
                " illegal"
            ),
            "tt.load",
        ),
        (
            'k.py:3:4: note: see current operation: %5 = "tt.make_range"() <{end = 3}>',
            "tt.make_range",
        ),
        ("k.py:3:4: error: something else", None),
    ],
)
def test_op_is_read_from_a_diagnostic(line: str, op: str | None) -> None:
    assert diagnose(line, "ttgir").op == op


def test_long_output_keeps_its_beginning_and_its_end() -> None:
    text = "first\n" + "x" * 10_000 + "\nlast"
    short = limit_length(text, 100)
    assert short.startswith("first")
    assert short.endswith("last")
    assert len(short) <= 100
    assert limit_length("short", 100) == "short"


def test_beacon_keeps_the_end_of_a_long_location_until_it_is_cleared(tmp_path: Path) -> None:
    from compat.worker import beacon

    assert beacon.read(str(tmp_path)) == (None, False)
    writer = Beacon(str(tmp_path))
    writer.at("/ä/" + "long/" * 400 + "k.py", 7)
    writer.in_passes(True)
    location, inside = beacon.read(str(tmp_path))
    assert location is not None
    assert location.endswith("long/k.py:7")
    assert inside
    writer.clear()
    assert beacon.read(str(tmp_path)) == (None, False)
