"""The reader of NVIDIA's machine code, compared with a disassembler and with known kernels."""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from compat.model import BuiltEnv, Problem
from compat.store.store import Store
from compat.toolchains.nvidia import loops
from compat.toolchains.nvidia.instructions import Instruction, InstructionKind, kernels_in
from compat.toolchains.nvidia.loops import regions
from compat.toolchains.nvidia.pace import TRIPS, _trips, busy, pace_of, warp_cycles
from compat.workers.attempt import KEEPING_IR, PLAIN
from tests.cells import KERNELS, cell
from tests.toolchains.compiling import attempted, failure_text

NAMES = {
    InstructionKind.FLOAT: r"FADD|FFMA|FMUL|HADD2|HFMA2",
    InstructionKind.SPECIAL: r"MUFU|[FI]2[FI]",
    InstructionKind.MMA: r"HMMA",
    InstructionKind.WGMMA: r"HGMMA",
    InstructionKind.GLOBAL_LOAD: r"LDG",
    InstructionKind.GLOBAL_STORE: r"STG",
    InstructionKind.ASYNC_COPY: r"LDGSTS",
    InstructionKind.SHARED_LOAD: r"LDS",
    InstructionKind.SHARED_STORE: r"STS",
    InstructionKind.MATRIX_LOAD: r"LDSM",
    InstructionKind.MATRIX_STORE: r"STSM",
    InstructionKind.LOCAL_LOAD: r"LDL",
    InstructionKind.LOCAL_STORE: r"STL",
    InstructionKind.SHUFFLE: r"SHFL",
    InstructionKind.BARRIER: r"BAR",
    InstructionKind.COMMIT: r"LDGDEPBAR",
    InstructionKind.WAIT: r"DEPBAR",
    InstructionKind.WGMMA_WAIT: r"WARPGROUP",
    InstructionKind.BRANCH: r"BRA",
    InstructionKind.END: r"EXIT",
}
"""Kind → the disassembler's names of its instructions. Other names are integers or others."""
LINE = re.compile(
    r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:(?P<guard>@!?U?P\w+)\s+)?"
    r"(?P<name>[A-Z]\w*)(?P<words>[\w.]*)\s*(?P<operands>[^;\n]*?(?P<address>0x[0-9a-f]+)?\s*);",
    re.MULTILINE,
)
WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


def code_of(cubin: bytes) -> bytes:
    """The only section of a cubin that can be executed."""
    (table,) = struct.unpack_from("<Q", cubin, 40)
    size, count = struct.unpack_from("<HH", cubin, 58)
    sections = [
        struct.unpack_from("<IIQQQQ", cubin, table + number * size) for number in range(count)
    ]
    (code,) = (
        cubin[offset : offset + length] for _, _, flags, _, offset, length in sections if flags & 4
    )
    return code


def disassembled(
    codes: Sequence[bytes], built: BuiltEnv, folder: Path
) -> list[tuple[str, str, str, str | None, int]]:
    """Name, words, operands, guard and target of each instruction, as ``nvdisasm`` prints them.

    It reads all kernels at once, since it needs 0.3 s to begin.
    """
    assert built.python
    (program,) = (
        Path(built.python)
        .parents[1]
        .glob("lib/python3*/site-packages/triton/backends/nvidia/bin/nvdisasm")
    )
    (folder / "code").write_bytes(b"".join(codes))
    text = subprocess.run(
        [program, "--binary", "SM90a", folder / "code"],
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    ).stdout
    return [
        (
            line["name"],
            line["words"],
            line["operands"],
            line["guard"],
            int(line["address"] or "-1", 16) // 16,
        )
        for line in LINE.finditer(text)
    ]


def amount(name: str, modifiers: str, operands: str) -> int | None:
    """The width, or the number of matrices, columns or groups, in a line."""
    parts = modifiers.split(".")
    if name in ("LDG", "STG", "LDGSTS", "LDS", "STS", "LDL", "STL"):
        return next((WIDTHS[part] for part in parts if part in WIDTHS), 4)
    if name in ("LDSM", "STSM"):
        return int(parts[-1]) if parts[-1].isdigit() else 1
    if name == "HGMMA":
        return int(parts[1].split("x")[1])
    if name in ("DEPBAR", "WARPGROUP") and "LE" in parts:
        return int(operands.rpartition(",")[2], 16)
    return -1 if name == "WARPGROUP" else None


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.0.0", "3.3.0", "3.9.0"])
def test_instructions_match_the_disassembler(
    release: str, built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    env = built(f"triton-{release}")
    signature = {"source": "*fp16", "result": "*fp32", "size": "i32"}
    two = {"source": "*fp32", "result": "*fp32"}
    halves = {"source": "*fp16", "result": "*fp16", "size": "i32"}
    cells = [
        cell(env, "told", "pipelined", constexprs={"BLOCK": 64}, signature=signature),
        # With all registers, only a large block spills, and compiles for ten times as long.
        cell(
            env,
            "large_block",
            "softmax",
            constexprs={"N": 8192},
            options={"maxnreg": 32},
            signature=two,
        ),
        cell(env, "paced", "nested", constexprs={"BLOCK": 512}),
        cell(env, "paced", "product", signature=halves, constexprs={"ROWS": 16}),
        cell(env, "paced", "product", signature=halves, constexprs={"ROWS": 128}),
    ]
    cubins = []
    with Store(tmp_path) as store:
        for kernel_cell in cells:
            evidence = attempted(env, kernel_cell, store, KEEPING_IR)
            assert evidence.has_binary, failure_text(evidence)
            cubins.append((store.artifacts / evidence.artifacts["cubin"]).read_bytes())
    kernels = [kernel for cubin in cubins for kernel in kernels_in(cubin)]
    assert len(kernels) == len(cubins)
    assert all(len(kernel.instructions) > 100 for kernel in kernels)
    instructions = [one for kernel in kernels for one in kernel.instructions]
    lines = disassembled([*map(code_of, cubins)], env, tmp_path)
    seen = set()
    for number, (one, (name, modifiers, operands, guard, target)) in enumerate(
        zip(instructions, lines, strict=True)
    ):
        expected = next((kind for kind, names in NAMES.items() if re.fullmatch(names, name)), None)
        where = f"{one} {name}{modifiers} {operands}"
        if expected is None or guard == "@!PT":
            assert one.kind in (InstructionKind.INTEGER, InstructionKind.OTHER), where
            continue
        seen.add(name)
        assert one.kind is expected, where
        assert one.guarded is (guard is not None), where
        expected_amount = amount(name, modifiers, operands)
        assert expected_amount is None or one.amount == expected_amount, where
        assert name != "BRA" or number - one.at + one.target == target, where
    assert seen >= {
        *("LDG", "STG", "LDS", "STS", "LDL", "STL", "LDGSTS", "LDGDEPBAR", "DEPBAR"),
        *("LDSM", "HMMA", "HGMMA", "WARPGROUP", "SHFL", "MUFU", "BAR", "BRA", "EXIT", "FADD"),
    }
    assert "STSM" in seen or release != "3.9.0"


@pytest.mark.wheels
def test_pace_of_known_kernels_fits_their_loops_and_bytes(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    """Four warps read 512 values of four bytes. Each thread reads 16 bytes in one load."""
    env = built("triton-3.9.0")
    paces: dict[str, dict[str, Any]] = {}
    with Store(tmp_path) as store:
        for function in ("copies", "sums", "nested"):
            constexprs = {"BLOCK": 512}
            options: dict[str, Any] = {
                "divisible_by_16": ("source", "result", "size"),
                "constexprs": constexprs,
            }
            evidence = attempted(env, cell(env, "paced", function, **options), store, KEEPING_IR)
            assert evidence.has_binary, failure_text(evidence)
            cubin = (store.artifacts / evidence.artifacts["cubin"]).read_bytes()
            paces[function] = pace_of(cubin, 128)
            (kernel,) = kernels_in(cubin)
            loads = [
                [one.amount for one in part.instructions if one.kind is InstructionKind.GLOBAL_LOAD]
                for part in regions(kernel.instructions)
                if function != "copies" or part.depth == 0
            ]
            assert {16} == {width for part in loads for width in part}, (function, loads)
    assert paces["copies"]["loops"] == ""
    assert paces["copies"]["global_bytes"] == 4 * 32 * 16
    assert set(paces["sums"]["loops"].split()) == {"1"}
    assert "2" in paces["nested"]["loops"].split()
    assert paces["nested"]["latency"] > paces["sums"]["latency"] > paces["copies"]["latency"] > 300


@pytest.mark.wheels
def test_a_cell_with_a_problem_has_a_pace(built: Callable[[str], BuiltEnv], tmp_path: Path) -> None:
    env = built("triton-3.9.0")
    problem = Problem(source=str(KERNELS / "paced.py"), function="none", dtype="fp32")
    facts: dict[str, Any] = {"constexprs": {"BLOCK": 512}}
    with Store(tmp_path) as store:
        plain = attempted(env, cell(env, "paced", "sums", **facts), store, PLAIN)
        paced = attempted(env, cell(env, "paced", "sums", problem=problem, **facts), store, PLAIN)
        other = attempted(
            env, cell(env, "paced", "sums", "sm_80", problem=problem, **facts), store, PLAIN
        )
    assert all(evidence.has_binary for evidence in (plain, paced, other))
    assert "pace" not in plain.metrics
    assert "pace" not in other.metrics  # its instructions are not known
    assert paced.metrics["pace"]["units"] > 0
    assert paced.metrics["pace"]["instructions"] > 10


@pytest.mark.parametrize("data", [b"", b"\x7fELF\x02" + bytes(20), b"\x7fELF\x02" + b"\xff" * 200])
def test_invalid_cubin_has_no_pace(data: bytes) -> None:
    assert pace_of(data, 128) == {}


# --- loops ----------------------------------------------------------------------------------------


def code(*listing: str) -> tuple[Instruction, ...]:
    """Instructions from texts such as ``LDG``, ``BRA 3``, ``@BRA 0`` and ``EXIT``, in order."""
    kinds = {
        "BRA": InstructionKind.BRANCH,
        "EXIT": InstructionKind.END,
        "LDG": InstructionKind.GLOBAL_LOAD,
        "FADD": InstructionKind.FLOAT,
    }
    instructions = []
    for at, word in enumerate(listing):
        name, _, target = word.removeprefix("@").partition(" ")
        amount = 16 if name == "LDG" else 0
        instructions.append(
            instruction(
                kinds[name], at=at, amount=amount, guarded="@" in word, target=int(target or -1)
            )
        )
    return tuple(instructions)


def instruction(kind: InstructionKind, **facts: Any) -> Instruction:
    usual: dict[str, Any] = {
        "at": 0,
        "amount": 0,
        "guarded": False,
        "target": -1,
        "stall": 1,
        "sets": (7, 7),
        "waits": 0,
    }
    return Instruction(kind=kind, **(usual | facts))


def shape(*listing: str) -> list[tuple[int, list[int]]]:
    """Depth of each region, and the positions of its instructions."""
    return [(part.depth, [one.at for one in part.instructions]) for part in regions(code(*listing))]


def test_loop_has_the_instructions_between_its_ends() -> None:
    assert shape("LDG", "FADD", "@BRA 1", "EXIT") == [(0, [0, 3]), (1, [1, 2])]


def test_inner_loop_is_deeper_and_separate_from_the_outer_loop() -> None:
    assert shape("FADD", "FADD", "LDG", "@BRA 2", "@BRA 1", "EXIT") == [
        (0, [0, 5]),
        (1, [1, 4]),
        (2, [2, 3]),
    ]


def test_a_jump_back_from_rare_code_makes_no_loop() -> None:
    assert shape("LDG", "@BRA 4", "FADD", "EXIT", "LDG", "BRA 2") == [(0, [0, 1, 2, 3, 4, 5])]


def test_padding_and_endless_jumps_are_left_out() -> None:
    assert shape("LDG", "EXIT", "BRA 2", "FADD") == [(0, [0, 1])]
    assert shape("LDG", "BRA 1") == [(0, [0])]


def test_code_of_too_many_blocks_has_no_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "_MOST", 2)
    assert shape("LDG", "@BRA 0", "EXIT") != []
    assert shape("LDG", "@BRA 0", "@BRA 0", "EXIT") == []


def test_empty_code_has_no_regions() -> None:
    assert shape() == []


def test_trips_of_nested_loops_are_limited() -> None:
    """The code of a hostile kernel can have a thousand nested loops."""
    listing = ["FADD"] * 300 + [f"@BRA {299 - at}" for at in range(300)] + ["EXIT"]
    deepest = max(regions(code(*listing)), key=lambda part: part.depth)
    assert deepest.depth > 200
    assert _trips(deepest) == TRIPS**8


# --- cycles ---------------------------------------------------------------------------------------


def cycles(*instructions: Instruction, depth: int = 0) -> float:
    return warp_cycles(loops.Region(depth, instructions), warps=4)


def test_a_warp_waits_for_the_barrier_that_a_load_sets() -> None:
    load = instruction(InstructionKind.GLOBAL_LOAD, amount=16, sets=(2, 7))
    waits = instruction(InstructionKind.FLOAT, waits=1 << 2)
    ignores = instruction(InstructionKind.FLOAT, waits=1 << 3)
    assert cycles(load, waits) > 300 > cycles(load, ignores)


def test_two_loads_with_a_common_wait_take_as_long_as_one() -> None:
    one, other = (instruction(InstructionKind.GLOBAL_LOAD, sets=(barrier, 7)) for barrier in (0, 1))
    use = instruction(InstructionKind.FLOAT, waits=0b11)
    assert cycles(one, other, use) < cycles(one, use) + 10
    assert cycles(one, use, other, use) > 2 * 300


def test_wait_is_shorter_if_a_copy_may_stay_in_flight() -> None:
    copy, commit = (
        instruction(InstructionKind.ASYNC_COPY, amount=16),
        instruction(InstructionKind.COMMIT),
    )

    def trip(under_way: int, rest: int) -> float:
        wait = instruction(InstructionKind.WAIT, amount=under_way)
        return cycles(copy, commit, wait, instruction(InstructionKind.FLOAT, stall=rest), depth=1)

    assert trip(0, 15) > 300
    assert trip(1, 15) < trip(0, 15)


def test_wgmma_wait_takes_as_long_as_its_columns() -> None:
    narrow, wide = (instruction(InstructionKind.WGMMA, amount=columns) for columns in (64, 256))
    wait = instruction(InstructionKind.WGMMA_WAIT)
    assert cycles(wide, wait) - cycles(narrow, wait) == pytest.approx(96)
    assert cycles(wide, instruction(InstructionKind.WGMMA_WAIT, amount=1)) < 10


def busiest(*runs: tuple[InstructionKind, int, int]) -> dict[str, float]:
    return busy({(kind, amount): number for kind, amount, number in runs})


def test_scalar_loads_of_a_copied_tile_conflict() -> None:
    loads = (InstructionKind.SHARED_LOAD, 4, 100)
    alone, copied = busiest(loads), busiest(loads, (InstructionKind.ASYNC_COPY, 16, 1))
    wide = busiest((InstructionKind.SHARED_LOAD, 16, 25), (InstructionKind.ASYNC_COPY, 16, 1))
    assert alone["memory"] == 100
    assert copied["memory"] == pytest.approx(500 + 4)
    assert wide["memory"] == pytest.approx(100 + 4)


def test_local_memory_occupies_the_unit_for_loads() -> None:
    assert (
        busiest((InstructionKind.LOCAL_LOAD, 4, 10), (InstructionKind.LOCAL_STORE, 8, 10))["memory"]
        == 60
    )
