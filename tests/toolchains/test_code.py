"""The metrics of built code: instructions, occupancy and mixed-up descriptors."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compat.model import BuiltEnv
from compat.toolchains.triton.inside.adapter import api, descriptors, metrics
from compat.toolchains.triton.inside.adapter.metrics import occupancy
from compat.toolchains.triton.language.script import Form
from tests.cells import cell
from tests.together import for_each
from tests.toolchains.compiling import compile_all, failure_text, run_script, script

PTX = """
.visible .entry kernel()
.reqntid 256, 1, 1
{
	cp.async.cg.shared.global [ %r1 + 0 ], [ %rd1 + 0 ], 0x10, %r2;
	cp.async.ca.shared.global [ %r1 + 0 ], [ %rd1 + 0 ], 0x4, %r2;
	cp.async.commit_group;
	cp.async.wait_group 0x1;
	bar.sync 	0;
	@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd2, {%r4, %r5}], [%r6];
	@%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {%r4, %r5}], [%r3];
	ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { %f1 }, { %r1 }, { %r2 }, { %f1 };
	fence.proxy.async.shared::cta;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%r1}, %rd20, %rd21, %p4, 1, 1, 1, 1;
	wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%r1}, %rd22, %rd23, %p4, 1, 1, 1, 1;
	wgmma.commit_group.sync.aligned;
}
"""
SUM = "UIADD3 UR8, UP0, UR6, 0x40, URZ"
HIGH = "UIADD3.X UR9, UR6, 0x40000040, URZ, UP0, !UPT"
OF_THREADS = ("IADD3 R13, P0, R1, 0x20, RZ", "IADD3.X R14, R1, -0x3ffffff0, RZ, P0, !PT")
"""As 3.7.1 compiles them from ``tl.dot(tl.dot(a, b).to(tl.float16), c)``."""


def disassembly(*instructions: str) -> str:
    """Instructions as ``nvdisasm -c`` prints them."""
    lines = [
        (
            instruction
            if instruction.startswith(".")
            else f"        /*{16 * number:04x}*/                   {instruction} ;"
        )
        for number, instruction in enumerate(instructions)
    ]
    return "\n".join(['\t.section\t.text.kernel,"ax",@progbits', ".text.kernel:", *lines, ""])


def test_instructions_are_counted_by_kind() -> None:
    assert metrics.instructions(PTX) == {
        "ldmatrix": 1,
        "wgmma": 2,
        "mma": 1,
        "tcgen05_mma": 0,
        "cp_async": 2,
        "tma_loads": 1,
        "fence_proxy_async": 1,
        "bar_sync": 1,
    }


@for_each(
    ("text", "threads"),
    [
        (PTX, 256),
        (".maxntid 128, 1, 1", 128),
        (".reqntid 384", 384),
        (".reqntid 32, 4, 2", 256),
        ("", 0),
    ],
)
def test_threads_of_a_block_are_read_from_ptx(text: str, threads: int) -> None:
    assert metrics.threads_of(text) == threads


class TestOccupancy:
    @for_each(
        ("arch", "threads", "registers", "shared", "blocks", "limited_by"),
        [  # as cuda_occupancy.h of CUDA 12.9 computes it
            (90, 128, 64, 0, 8, "registers"),
            (90, 128, 96, 38912, 5, "registers"),
            (80, 128, 96, 38912, 4, "shared memory"),
            (90, 512, 82, 8192, 1, "registers"),
            (90, 512, 64, 8192, 2, "registers"),
            (90, 1024, 32, 0, 2, "registers"),
            (90, 32, 16, 0, 32, "blocks"),
            (89, 256, 16, 0, 6, "threads"),
            (75, 256, 255, 0, 1, "registers"),
            (90, 128, 32, 232_448, 1, "shared memory"),
            (90, 128, 32, 232_449, 0, "shared memory"),
            (86, 512, 168, 0, 0, "registers"),
        ],
    )
    def test_blocks_and_what_limits_them(
        self, arch: int, threads: int, registers: int, shared: int, blocks: int, limited_by: str
    ) -> None:
        facts = occupancy(arch, threads, registers, shared)
        assert (facts["threads"], facts["blocks"], facts["limited_by"]) == (
            threads,
            blocks,
            limited_by,
        )

    @for_each("registers", [16, 40, 64, 65, 96, 128, 168])
    def test_one_register_more_than_the_spare_ones_costs_a_block(self, registers: int) -> None:
        facts = occupancy(90, 128, registers, 1000)
        most = registers + facts["spare_registers"]
        assert occupancy(90, 128, most, 1000)["blocks"] == facts["blocks"]
        assert occupancy(90, 128, most, 1000)["spare_registers"] == 0
        assert occupancy(90, 128, most + 1, 1000)["blocks"] < facts["blocks"]

    def test_excess_registers_are_negative_spare_registers(self) -> None:
        assert occupancy(90, 512, 128, 0)["spare_registers"] == 0
        assert occupancy(90, 512, 144, 0)["spare_registers"] == -16
        assert "spare_registers" not in occupancy(90, 128, 32, 300_000)
        assert occupancy(90, 1 << 16, 32, 0)["spare_registers"] == -32

    def test_barriers_limit_blocks_from_hopper_on(self) -> None:
        assert occupancy(90, 128, 32, 0, barriers=16)["blocks"] == 4
        assert occupancy(80, 128, 32, 0, barriers=16)["blocks"] == 16

    def test_occupancy_is_empty_for_unknown_targets_and_threads(self) -> None:
        assert occupancy(103, 128, 64, 0) == {}
        assert occupancy("gfx942", 128, 64, 0) == {}
        assert occupancy(90, 0, 64, 0) == {}


class TestMixedDescriptors:
    @pytest.mark.parametrize(
        "between",
        [
            (),
            ("UMOV UR7, URZ", "ULDC UR4, c[0x0][0x208]"),
            ("UMOV UR5, URZ", "HGMMA.64x16x16.F32 R24, gdesc[UR4], R24, gsb0"),
            ("@P0 IADD3 R6, R6, 0x40, RZ", "UIADD3.64 UR4, UR6, 0x80, URZ"),
        ],
    )
    def test_a_high_word_made_from_the_low_word_is_found(self, between: tuple[str, ...]) -> None:
        assert (
            descriptors.count_mixed_sums(
                disassembly("USGXT.U32 UR6, UR4, 0xe", SUM, *between, HIGH)
            )
            == 1
        )

    @for_each(
        "between",
        [
            ("UMOV UR6, URZ",),
            ("UIADD3.64 UR6, UR4, 0x80, URZ",),
            ("UIMAD.WIDE.U32 UR6, UR4, 0x10, URZ",),
            ("ULDC.64 UR6, c[0x0][0x208]",),
            ("UMOV UR5, URZ", "ULDC.64 UR6, c[0x0][0x208]", "BAR.SYNC.DEFER_BLOCKING 0x0"),
            ("UIADD3.64 UR4, UR2, 0x80, URZ", "ULDC.128 UR4, c[0x0][0x210]"),
            ("@UP1 UMOV UR6, URZ",),
            ("R2UR UR6, R12",),
        ],
    )
    def test_nothing_is_found_if_the_register_was_written_again(
        self, between: tuple[str, ...]
    ) -> None:
        assert (
            descriptors.count_mixed_sums(
                disassembly("USGXT.U32 UR6, UR4, 0xe", SUM, *between, HIGH)
            )
            == 0
        )

    @for_each(
        "instructions",
        [
            ("UMOV UR4, URZ", SUM, HIGH.replace("UR9, UR6", "UR9, UR4")),
            (SUM, HIGH.replace("UR9, UR6", "UR9, URZ")),
            (SUM, ".L_x_2:", HIGH),  # other code jumps there, too
            ("UIADD3 UR8, UR6, 0x40, URZ", HIGH),  # without a carry, of another sum
            ("UIADD3 UR8, UP1, UR6, 0x40, URZ", HIGH),
        ],
    )
    def test_nothing_is_found_in_right_code(self, instructions: tuple[str, ...]) -> None:
        assert descriptors.count_mixed_sums(disassembly(*instructions)) == 0

    def test_a_mixed_sum_in_registers_of_threads_is_found(self) -> None:
        low, high = OF_THREADS
        assert descriptors.count_mixed_sums(disassembly(low, "R2UR UR4, R13", high)) == 1
        assert descriptors.count_mixed_sums(disassembly(low.replace("R1,", "R1.reuse,"), high)) == 1

    @for_each(
        "instructions",
        [
            (OF_THREADS[0], "CS2R R0, SRZ", OF_THREADS[1].replace("R14, R1", "R14, R2")),
            (OF_THREADS[0], "LDG.E.64 R0, desc[UR12][R2.64]", OF_THREADS[1]),
            (OF_THREADS[0], "LDSM.16.M88.4 R0, [R4]", OF_THREADS[1]),
            (OF_THREADS[0], "HGMMA.64x16x16.F32 R0, gdesc[UR4], RZ, !UPT", OF_THREADS[1]),
            (OF_THREADS[0], OF_THREADS[1].replace("-0x3ffffff0", "0x10")),  # an address
            (OF_THREADS[0], OF_THREADS[1].replace("P0", "P1")),
        ],
    )
    def test_nothing_is_found_in_other_sums_in_registers_of_threads(
        self, instructions: tuple[str, ...]
    ) -> None:
        assert descriptors.count_mixed_sums(disassembly(*instructions)) == 0

    def test_the_form_of_later_disassemblers_is_read(self) -> None:
        late = (
            "UIADD3 UR8, UP0, UPT, UR6, 0x40, URZ",
            "UIADD3.X UR9, UPT, UPT, UR6, 0x40000040, URZ, UP0, !UPT",
        )
        assert descriptors.count_mixed_sums(disassembly(*late)) == 1
        assert descriptors.count_mixed_sums(disassembly(late[0], "UMOV UR6, URZ", late[1])) == 0

    def test_a_low_word_that_overwrites_its_source_register_is_found(self) -> None:
        assert descriptors.count_mixed_sums(disassembly(SUM.replace("UR8", "UR6"), HIGH)) == 1

    def test_sums_of_one_register_are_found_in_the_bytes(self) -> None:
        low, high = (
            instruction(0x0000_0040_0608_7890, 0x000F_E200_0FF1_E03F),
            instruction(0x4000_0040_0609_7890, 0x000F_E200_087F_E43F),
        )
        other = instruction(0x4000_0040_0409_7890, 0x000F_E200_087F_E43F)
        assert descriptors.has_the_names(low + high)
        assert not descriptors.has_the_names(low + other)
        assert not descriptors.has_the_names(high + low)
        # UMOV UR6, URZ.
        assert not descriptors.has_the_names(
            low + instruction(0x0000_003F_0006_7C82, 0x000F_E200_0800_0000) + high
        )
        assert descriptors.has_the_names(
            low + instruction(0x0000_003F_0007_7C82, 0x000F_E200_0800_0000) + high
        )
        assert not descriptors.has_the_names(b"\x7fELF")

    def test_sums_of_one_register_of_threads_are_found_in_the_bytes(self) -> None:
        low = instruction(0x0000_0020_010D_7810, 0x000F_C800_07F1_E0FF)
        continued = 0x000F_E400_007F_E4FF
        high = instruction(0xC000_0010_010E_7810, continued)
        assert descriptors.has_the_names(low + high)
        # UMOV UR1, URZ writes UR1, which is another register than R1.
        moved = instruction(0x0000_003F_0001_7C82, 0x000F_E200_0800_0000)
        assert descriptors.has_the_names(low + moved + high)
        # IMAD.MOV.U32 R1, RZ, RZ, R9 writes R1.
        moved = instruction(0x0000_00FF_FF01_7224, 0x000F_E400_078E_0009)
        assert not descriptors.has_the_names(low + moved + high)
        assert descriptors.has_the_names(moved + low + high)
        # @P0 IMAD.MOV.U32 R1, RZ, RZ, R9 may not write R1.
        moved = instruction(0x0000_00FF_FF01_0224, 0x000F_E400_078E_0009)
        assert descriptors.has_the_names(low + moved + high)
        assert not descriptors.has_the_names(low + instruction(0xC000_0010_020E_7810, continued))
        assert not descriptors.has_the_names(low + instruction(0x0000_0010_010E_7810, continued))


@pytest.mark.wheels
def test_a_script_detects_mixed_descriptors(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    env = built("triton-3.6.0")
    signature = {"source": "*fp16", "result": "*fp32", "size": "i32"}
    spec = cell(env, "told", "pipelined", constexprs={"BLOCK": 64}, signature=signature).spec
    text = script(
        spec,
        "sm_90",
        Form.RANGED,
        prediction="sass-descriptor",
        expected="sums that make the high word of a wgmma descriptor from the low word",
    )
    path = tmp_path / "script.py"

    path.write_text(text)
    assert "nvdisasm" in text
    right = run_script(env, path)
    assert right.returncode == 1, right  # the failure does not show
    lines = disassembly("USGXT.U32 UR6, UR4, 0xe", SUM, HIGH)
    path.write_text(
        text.replace("count_mixed_sums(listing.stdout)", f"count_mixed_sums({lines!r})")
    )
    wrong = run_script(env, path)
    assert (
        wrong.returncode,
        "sums that make the high word of a wgmma descriptor from the low word: 1"
        in wrong.stdout + wrong.stderr,
    ) == (0, True), wrong


def instruction(low: int, high: int) -> bytes:
    """The bytes of an instruction."""
    return low.to_bytes(8, "little") + high.to_bytes(8, "little")


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.0.0", "3.6.0", "3.9.0"])
def test_metrics_of_real_code_are_plausible(release: str, built: Callable[[str], BuiltEnv]) -> None:
    env = built(f"triton-{release}")
    signature = {"source": "*fp16", "result": "*fp32", "size": "i32"}
    (evidence,) = compile_all(
        env, [cell(env, "told", "pipelined", constexprs={"BLOCK": 64}, signature=signature)]
    )
    assert evidence.has_binary, failure_text(evidence)
    code_metrics = evidence.metrics
    assert code_metrics["code"]["wgmma"] > 0
    assert code_metrics["mixed_descriptors"] == 0
    assert code_metrics["occupancy"]["threads"] == 128
    assert 1 <= code_metrics["occupancy"]["blocks"] <= 16


@pytest.mark.wheels
@pytest.mark.parametrize(
    ("function", "facts", "prediction", "expected"),
    [
        (
            "copy",
            {"constexprs": {"N": 4096}, "options": {"num_warps": 64}},
            "block-threads",
            "needs 2048 threads in a block, sm_90 has 1024",
        ),
        (
            "softmax",
            {"constexprs": {"N": 65536}, "options": {"num_warps": 16, "maxnreg": 255}},
            "block-registers",
            " registers a thread, sm_90 has 128",
        ),
        (
            "copy",
            {"constexprs": {"N": 4096}, "options": {"num_ctas": 32}},
            "cluster-size",
            "needs 32 blocks in a cluster, this release launches 16",
        ),
    ],
)
def test_a_script_counts_threads_registers_and_blocks(
    built: Callable[[str], BuiltEnv],
    tmp_path: Path,
    function: str,
    facts: dict[str, Any],
    prediction: str,
    expected: str,
) -> None:
    env = built("triton-3.6.0")
    signature = {"source": "*fp32", "result": "*fp32"}
    spec = cell(env, "large_block", function, signature=signature, **facts).spec
    path = tmp_path / "script.py"
    path.write_text(
        script(spec, "sm_90", Form.RANGED, prediction=prediction, expected=expected),
        encoding="utf-8",
    )
    shown = run_script(env, path)
    assert (shown.returncode, expected in shown.stdout) == (0, True), shown


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"num_ctas": 1, "cluster_dims": [1, 1, 1]}, {}),
        ({"num_ctas": 16, "cluster_dims": [1, 16, 1]}, {"cluster": 16, "largest_cluster": 8}),
        ({"num_ctas": 16}, {"cluster": 16, "largest_cluster": 16}),
    ],
)
def test_a_cluster_has_the_blocks_that_its_launcher_asks_for(
    fields: dict[str, Any], expected: dict[str, int]
) -> None:
    assert metrics.cluster(fields) == expected


@pytest.mark.parametrize(
    ("fields", "expected"), [({"tmem_size": 768}, 768), ({"tmem_size": 0}, None), ({}, None)]
)
def test_tensor_memory_is_what_the_launcher_checks(
    fields: dict[str, Any], expected: int | None
) -> None:
    compiled: Any = SimpleNamespace(
        asm={"cubin": b"code"}, metadata=SimpleNamespace(shared=0, num_warps=8, **fields)
    )
    target = {"backend": "cuda", "arch": 100}
    assert metrics.of(compiled, target, "", None).get("tensor_memory") == expected


def test_deep_recursion_in_the_front_end_reads_a_function_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A long chain of ``elif`` is such a recursion, and to read its source takes long."""
    reads: list[object] = []

    def first_line(function: object) -> tuple[str, int]:
        reads.append(function)
        return "kernel.py", 5

    def visit(node: ast.AST, depth: int = 50) -> None:
        if not depth:
            raise RecursionError
        visit(node, depth - 1)

    def cache_key(self: object) -> None:
        visit(ast.parse("\npass").body[0])

    monkeypatch.setattr(api, "_first_line", first_line)
    with pytest.raises(RecursionError) as raised:
        cache_key("kernel")
    assert api._line_looked_at(raised.value, "/triton/") == ("kernel.py", 6)
    assert reads == ["kernel"]
