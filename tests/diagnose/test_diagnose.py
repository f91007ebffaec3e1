"""Reading where it went wrong out of what compilers print. The texts are cut from real output, and shortened."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.evidence.diagnose import bounded, diagnose, without_ir
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
ABORT = 'python: /project/lib/AccelerateMatmul.cpp:36: int getMMAVersionSafe(int): Assertion `false && "no"\' failed.\n'
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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Beacon(str(tmp_path))
    return tmp_path


def test_ir_is_taken_out_and_the_last_dump_remembered() -> None:
    words, dump = without_ir(DUMPS + ABORT)
    assert words == ABORT
    assert dump is not None
    assert dump.pass_ == "tritongpu-accelerate-matmul"
    assert dump.text.startswith("#blocked = ")
    assert dump.text.endswith("}\n")
    assert "chained_dot(%arg0" not in dump.text


def test_a_module_that_nobody_asked_for_is_taken_out_too() -> None:
    words, dump = without_ir(FAILED)
    assert dump is None
    assert [line.split(": ")[1] for line in words.splitlines()] == ["error", "note"]


def test_python_stacks_and_sources_are_no_ir() -> None:
    text = 'Fatal Python error: Aborted\n\nStack (most recent call first):\n  File "a.py", line 3 in visit_For\n'
    assert without_ir(text) == (text, None)


def test_the_pass_is_named_only_where_a_pass_manager_ran(folder: Path) -> None:
    words, dump = without_ir(DUMPS + ABORT)
    beacon = Beacon(str(folder))
    assert diagnose(words, dump, folder, "llir", None).pass_ is None
    beacon.in_passes(True)
    assert diagnose(words, dump, folder, "ttgir", None).pass_ == "tritongpu-accelerate-matmul"


def test_without_dumps_the_note_names_the_pass(folder: Path) -> None:
    words, dump = without_ir(FAILED)
    found = diagnose(words, dump, folder, "llir", None)
    assert (found.pass_, found.location) == ("ConvertTritonGPUToLLVM", "k.py:12")


def test_the_heading_of_releases_since_3_9() -> None:
    text = DUMPS.replace(
        "TritonGPUAccelerateMatmul (tritongpu-accelerate-matmul)", "TritonGPUAccelerateMatmul: tritongpu-accelerate-matmul"
    )
    words, dump = without_ir(text + ABORT)
    assert words == ABORT
    assert dump is not None
    assert dump.pass_ == "tritongpu-accelerate-matmul"


def test_a_pass_that_is_dumped_after_it_failed() -> None:
    after = "// -----// IR Dump After TritonGPUAccelerateMatmul Failed (tritongpu-accelerate-matmul) //----- //\n"
    _, dump = without_ir(DUMPS + after + "module {\n  broken\n}\n" + ABORT)
    assert dump is not None
    assert dump.pass_ == "tritongpu-accelerate-matmul"
    assert "broken" not in dump.text


def test_a_single_pass_that_failed_is_named_without_brackets(folder: Path) -> None:
    words, dump = without_ir(FAILED.replace("[`", "`").replace("]:", ":"))
    assert diagnose(words, dump, folder, "llir", None).pass_ == "ConvertTritonGPUToLLVM"


def test_reproducer_and_ir_are_kept_only_of_a_pass(folder: Path) -> None:
    kept: dict[str, bytes] = {}

    def keep(suffix: str, data: bytes) -> str:
        kept[suffix] = data
        return f"name{suffix}"

    (folder / "reproducer.mlir").write_text("module {}")
    words, dump = without_ir(DUMPS + ABORT)
    assert diagnose(words, dump, folder, "ptx", keep).reproducer is None
    Beacon(str(folder)).in_passes(True)
    found = diagnose(words, dump, folder, "ttgir", keep)
    assert (found.reproducer, found.ir) == ("name.mlir", "name.before.mlir")
    assert kept[".mlir"] == b"module {}"
    (folder / "reproducer.mlir.make_ttgir.repro.mlir").write_text("module { later }")
    diagnose(words, dump, folder, "ttgir", keep)
    assert kept[".mlir"] == b"module { later }"
    assert b"tt.dot" in kept[".before.mlir"]


def test_the_front_ends_line_comes_from_the_beacon(folder: Path) -> None:
    Beacon(str(folder)).at("/home/user/kernels/faces.py", 20)
    assert diagnose("", None, folder, "ast", None).location == "faces.py:20"
    assert diagnose("", None, folder, "ttgir", None).location is None


@pytest.mark.parametrize(
    ("line", "op"),
    [
        ("k.py:3:4: error: 'tt.dot' op operand #0 must be tensor", "tt.dot"),
        ("k.py:3:4: error: failed to legalize operation 'tt.load' that was explicitly marked illegal", "tt.load"),
        ('k.py:3:4: note: see current operation: %5 = "tt.make_range"() <{end = 3}>', "tt.make_range"),
        ("k.py:3:4: error: something else", None),
    ],
)
def test_the_op_that_a_diagnostic_speaks_of(folder: Path, line: str, op: str | None) -> None:
    assert diagnose(line, None, folder, "ttgir", None).op == op


def test_long_output_keeps_its_beginning_and_its_end() -> None:
    text = "first\n" + "x" * 10_000 + "\nlast"
    short = bounded(text, 100)
    assert short.startswith("first")
    assert short.endswith("last")
    assert len(short) < 200
    assert bounded("short", 100) == "short"


def test_a_beacon_outlives_its_writer_and_forgets_on_demand(tmp_path: Path) -> None:
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
