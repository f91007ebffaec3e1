"""CuTe DSL: the stages of a compile, and the pieces in which its pipeline runs."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from compat.config.kernel_files import load_kernels
from compat.config.matrix import MatrixConfig
from compat.model import BuiltEnv, Cell
from compat.store.store import Store
from compat.toolchains.cute.inside.adapter import passes, pipeline
from compat.toolchains.cute.ir import PARTS, READER
from compat.worker import beacon
from compat.workers.attempt import KEEPING_IR, Compile, InFlightCell, Mode
from compat.workers.evidence import printed_text
from compat.workers.watch import attempt
from tests.cells import worker
from tests.toolchains import cute_faces
from tests.toolchains.compiling import LIMITS, compile_all

REPOSITORY = Path(__file__).resolve().parents[2]


class Manager:
    """Stand-in for a release's pass manager class: it knows these passes and options by name."""

    def __init__(
        self, pipeline_text: str, options: tuple[str, ...], passes: tuple[str, ...]
    ) -> None:
        self.whole, self.options, self.passes = pipeline_text, options, passes

    def parse(self, text: str) -> str:
        if pipeline.COMPILES in text:
            option = text.partition(pipeline.COMPILES)[2].partition("=")[0]
            if option not in (*self.options, "opt-level"):
                raise ValueError(f"no such option {option}")
        elif not any(name in text for name in self.passes):
            raise ValueError("not registered")
        return self.whole


TEXT = "builtin.module(cute-to-nvvm{opt-level=3 link-libraries=/a.bc ptx-options={-v}},outline)"
WHOLE = 'builtin.module(cse,canonicalize{ a=1,b},%s{x={"2>5"} y=},tail)'


def test_from_4_6_on_a_pipeline_stops_before_the_binary() -> None:
    manager = Manager(
        WHOLE % "cuda-to-binary", ("llvm-only", "link-libraries"), ("cuda-to-binary",)
    )
    assert pipeline.pieces_of(TEXT, manager) == pipeline.Pieces(
        first=(
            "builtin.module(cute-to-nvvm{llvm-only=true opt-level=3 link-libraries=/a.bc"
            " ptx-options={-v}})"
        ),
        rest='builtin.module(cuda-to-binary{x={"2>5"} y=},tail)',
        fails=False,
    )


def test_before_4_6_a_pipeline_fails_where_the_binary_begins() -> None:
    manager = Manager(WHOLE % "cuda-to-binary", ("link-libraries",), ("cuda-to-binary",))
    pieces = pipeline.pieces_of(TEXT, manager)
    assert pieces
    assert (
        pieces.first
        == "builtin.module(cute-to-nvvm{link-libraries=/compat/stops/here.bc opt-level=3"
        " ptx-options={-v}})"
    )
    assert (pieces.rest, pieces.fails) == (
        'builtin.module(cuda-to-binary{x={"2>5"} y=},tail)',
        True,
    )


def test_whole_pipeline_follows_if_the_binary_pass_has_no_name() -> None:
    manager = Manager(WHOLE % "gpu-module-to-binary", ("cubin-triple",), ())
    pieces = pipeline.pieces_of(TEXT, manager)
    assert pieces
    assert (pieces.first.partition("{")[2].partition(" ")[0], pieces.rest) == (
        "cubin-triple=compat-stops-here",
        TEXT,
    )


def test_seconds_of_passes_of_one_name_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = MagicMock()
    manager.parse.return_value.__str__.return_value = (
        "builtin.module(cse,canonicalize{x},cse,cuda-to-binary)"
    )
    clock = count()
    monkeypatch.setattr(time, "process_time", lambda: float(next(clock)))
    ran = passes.run_singly(TEXT, manager, MagicMock(), show=False)
    assert (ran.seconds, ran.failed) == ({"cse": 2.0, "canonicalize": 1.0}, None)


def test_pipeline_that_cannot_be_split_has_no_pieces() -> None:
    assert pipeline.pieces_of(TEXT, Manager("builtin.module(cse)", ("llvm-only",), ())) is None
    assert (
        pipeline.pieces_of(TEXT, Manager(WHOLE % "cuda-to-binary", (), ("cuda-to-binary",))) is None
    )


@pytest.mark.parametrize(
    "message",
    [
        'error: unknown: File path: "/compat/stops/here.bc" does not exist or is not a file.',
        (
            "error: unknown: Failed to open link file '/compat/stops/here.bc': No such file or"
            " directory"
        ),
        "libNVVM extra log: error: Error: Invalid target triple (compat-stops-here), must be",
    ],
)
def test_stop_of_a_pipeline_is_recognized_by_its_message(message: str) -> None:
    assert pipeline.has_stopped(message)


def test_another_failure_does_not_count_as_the_stop() -> None:
    assert not pipeline.has_stopped(
        'error: invalid op: targets = [#nvvm.target<triple = "compat-stops-here">]'
    )


# --- a stage that begins with a file --------------------------------------------------------------


def test_stage_begins_when_its_file_appears(tmp_path: Path) -> None:
    writer = beacon.Beacon(str(tmp_path))
    writer.begins("cubin", str(tmp_path / "kernel.ptx"))
    assert writer.unreported_stage() is None
    assert beacon.unreported_stage(str(tmp_path)) is None
    (tmp_path / "kernel.ptx.sm_90a.ptx").write_text("")
    os.utime(tmp_path / "kernel.ptx.sm_90a.ptx", (100.0, 100.0))
    assert beacon.unreported_stage(str(tmp_path)) == writer.unreported_stage() == ("cubin", 100.0)
    writer.clear()
    assert beacon.unreported_stage(str(tmp_path)) is None


def test_file_outside_the_folder_does_not_begin_a_stage(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "theirs").write_text("")
    beacon.Beacon(str(tmp_path / "mine")).begins("cubin", str(tmp_path / "theirs"))
    assert beacon.unreported_stage(str(tmp_path / "mine")) is None


def test_cpu_seconds_are_split_between_stages_by_elapsed_time(copy: Callable[[str], Cell]) -> None:
    flight = InFlightCell(
        cell=copy("4.8.1"),
        nonce="",
        started=time.monotonic() - 10,
        stage="ptx",
        entered=6.0,
        cpu={"ptx": 2.0},
    )
    flight.began("cubin", time.time() - 1, cpu=4.0)
    flight.stop(4.0)
    assert flight.stage == "cubin"
    assert flight.entered == pytest.approx(9, abs=0.1)
    assert flight.stages == {
        "ptx": pytest.approx(1.5, abs=0.1),
        "cubin": pytest.approx(0.5, abs=0.1),
    }


# --- on real wheels -------------------------------------------------------------------------------


@pytest.fixture
def copy(config: MatrixConfig) -> Callable[[str], Cell]:
    """Release → the cell of a copy."""
    (spec,) = load_kernels(["kernels/cute/copy.toml"], REPOSITORY)
    return lambda release: Cell(
        env=config.env(f"cute-{release}"), target=cute_faces.target(), spec=spec
    )


@pytest.mark.wheels
@pytest.mark.parametrize(
    ("release", "stages"),
    [
        ("4.2.1", ["source", "trace", "mlir", "binary"]),
        ("4.5.3", ["source", "trace", "mlir", "ptx", "cubin"]),
        ("4.8.1", ["source", "trace", "mlir", "ptx", "cubin"]),
    ],
)
def test_stages_have_their_seconds(
    cute: Callable[[str], BuiltEnv], copy: Callable[[str], Cell], release: str, stages: list[str]
) -> None:
    (evidence,) = compile_all(cute(release), [copy(release)])
    assert evidence.complete, evidence.raised
    assert list(evidence.stages) == stages
    assert min(evidence.stages.values()) > 0


# --- passes ---------------------------------------------------------------------------------------


def test_dump_lists_steps_and_passes_that_failed_or_were_left_out() -> None:
    text = (
        "// -----// IR Dump Before cse (cse) //----- //\nmodule {\n}\n"
        "// -----// IR Dump Without arith-expand //----- //\n"
        "// -----// IR Dump Before canonicalize (canonicalize) //----- //\nmodule {\n}\n"
        "// -----// IR Dump After canonicalize Failed (canonicalize) //----- //\n"
        "words\n"
    )
    dump = READER.read(text)
    assert [step.pass_ for step in dump.pipeline.steps] == ["cse", "canonicalize"]
    assert (dump.pipeline.failed, dump.pipeline.left_out, dump.text) == (
        "canonicalize",
        ("arith-expand",),
        "words\n",
    )


def test_a_pass_has_a_name_without_options_and_operation() -> None:
    assert passes.name_of("canonicalize{  max-iterations=3}") == "canonicalize"
    assert (
        passes.name_of("gpu.module(convert-gpu-to-nvvm{index-bitwidth=64})")
        == "convert-gpu-to-nvvm"
    )


def test_assembler_output_gives_registers_and_stack() -> None:
    printed = (
        "ptxas info : 8 bytes stack frame, 8 bytes spill stores\nptxas info : Used 255"
        " registers\nptxas info : Used 32 registers\n"
    )
    assert PARTS.assembler.evidence(0, printed, True).metrics == {
        "registers": 255,
        "stack_bytes": 8,
    }
    assert PARTS.assembler.evidence(1, "ptxas fatal : no", False).raised


@pytest.mark.wheels
@pytest.mark.parametrize(("release", "left_out", "at_least"), [("4.5.3", 0, 40), ("4.8.1", 7, 30)])
def test_ir_before_each_pass_and_its_seconds_are_kept(
    cute: Callable[[str], BuiltEnv],
    copy: Callable[[str], Cell],
    tmp_path: Path,
    release: str,
    left_out: int,
    at_least: int,
) -> None:
    mode = Mode(diagnose=True, keep_printed=True)
    with worker(cute(release)) as server, Store(tmp_path) as store:
        ((_, evidence),) = attempt(
            server, [copy(release)], LIMITS, stop=threading.Event(), mode=mode, keep=store.keep
        )
        dump = READER.read(printed_text(evidence, store.artifact) or "")
    assert evidence.complete, evidence.raised
    assert len(dump.pipeline.left_out) == left_out
    assert len(dump.pipeline.steps) >= at_least
    assert "canonicalize" in evidence.metrics["passes"]


@pytest.mark.wheels
@pytest.mark.parametrize("stage", ["trace", "mlir"])
def test_ir_of_a_stage_compiles_again_from_a_file(
    cute: Callable[[str], BuiltEnv], copy: Callable[[str], Cell], tmp_path: Path, stage: str
) -> None:
    with worker(cute("4.5.3")) as server, Store(tmp_path) as store:
        ((_, own),) = attempt(
            server,
            [copy("4.5.3")],
            LIMITS,
            stop=threading.Event(),
            mode=KEEPING_IR,
            keep=store.keep,
        )
        name = own.artifacts[stage]
        again = Mode(actions=(Compile(ir=name),), action_files={name: store.artifact(name) or b""})
        ((_, evidence),) = attempt(
            server, [copy("4.5.3")], LIMITS, stop=threading.Event(), mode=again
        )
    assert evidence.complete, evidence.raised
    assert evidence.metrics["registers"] == own.metrics["registers"]
