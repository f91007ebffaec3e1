"""Binaries and PTX without lines: the code stays, and the paths are removed."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat.model import BuiltEnv
from compat.store.store import Store
from compat.toolchains.triton.device.lines import without_lines
from compat.workers.attempt import KEEPING_IR
from tests.cells import cell
from tests.toolchains.compiling import attempted

DISASSEMBLER = "triton/backends/nvidia/bin/nvdisasm"


@pytest.mark.wheels
@pytest.mark.parametrize("name", ["triton-3.0.0", "triton-3.9.0"])
def test_the_code_of_real_binaries_stays(
    name: str, built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    env = built(name)
    looped_cell = cell(env, "faces", "looped", "sm_90")
    with Store(tmp_path) as store:
        evidence = attempted(env, looped_cell, store, KEEPING_IR)
        cubin, ptx = (
            store.artifact(evidence.artifacts[stage]) or b"" for stage in ("cubin", "ptx")
        )
    folder = str(Path(looped_cell.spec.source).parent).encode()
    assert folder in cubin
    assert folder in ptx
    plain = without_lines("cubin", cubin)
    assert folder not in plain
    assert len(plain) < len(cubin) - 1000
    code = disassembled(env, cubin, tmp_path)
    assert len(code) > 50
    assert disassembled(env, plain, tmp_path) == code
    assert without_lines("cubin", plain) == plain
    text = without_lines("ptx", ptx)
    assert folder not in text
    lines = [line for line in ptx.splitlines() if line.startswith((b"\tadd", b"\tld", b"\tst"))]
    assert [line for line in text.splitlines() if line in lines] == lines
    assert text.rstrip().endswith(b"}")


def disassembled(env: BuiltEnv, cubin: bytes, folder: Path) -> list[str]:
    """The instructions, with their addresses."""
    path = folder / "one.cubin"
    path.write_bytes(cubin)
    assert env.python
    (program,) = Path(env.python).parents[1].glob(f"lib/python*/site-packages/{DISASSEMBLER}")
    shown = subprocess.run([program, "-c", path], capture_output=True, text=True, check=True).stdout
    return [line for line in shown.splitlines() if "/*0" in line]


PTX = b"""//
.version 8.4
.visible .entry add(
\t.param .u64 x
)
.reqntid 128
{
\t.loc\t1 7 0
$L__func_begin0:
\t.loc\t1 8 0
\tld.param.u64 %rd1, [x];
\tret;
}
\t.file\t1 "/home/me/add.py"
\t.section\t.debug_abbrev
\t{
.b8 1
.b8 17
\t}
\t.section\t.debug_line\t{\t}
"""
BEHIND = b".visible .func behind()\n{\n\tret;\n}\n"


def test_ptx_keeps_its_code() -> None:
    code = PTX[: PTX.index(b"\t.file")]
    for line in (7, 8):
        code = code.replace(b"\t.loc\t1 %d 0\n" % line, b"")
    assert without_lines("ptx", PTX + BEHIND) == code + BEHIND


def elf(lines: int, code: bytes) -> bytes:
    """An ELF file with sections for lines, code and shared memory, and a segment for the code."""
    names = b"\0.shstrtab\0.debug_line\0.text.add\0"
    header, start = 64, 64 + len(names) + -len(names) % 64
    text = start + lines + -(start + lines) % 128
    sections = text + len(code)
    places = [(0, 0, 0, 0), (1, header, len(names), 1), (11, start, lines, 1)]
    headers = [*places, (23, text, len(code), 128)]
    shared = struct.pack("<IIQQQQIIQQ", 0, 8, 0, 0, sections, 1 << 20, 0, 0, 1024, 0)
    data = bytearray(b"\x7fELF\x02" + bytes(sections - 5))
    struct.pack_into("<QQ", data, 0x20, sections + 64 * 5, sections)
    struct.pack_into("<6H", data, 0x34, 64, 56, 1, 64, 5, 1)
    data[header : header + len(names)] = names
    data[start : start + lines] = b"L" * lines
    data[text:] = code
    for name, offset, size, alignment in headers:
        data += struct.pack("<IIQQQQIIQQ", name, 1, 0, 0, offset, size, 0, 0, alignment, 0)
    return bytes(
        data + shared + struct.pack("<IIQQQQQQ", 1, 0, text, 0, 0, len(code), len(code), 128)
    )


@given(st.integers(0, 2000), st.binary(min_size=1, max_size=300))
def test_code_that_follows_lines_keeps_its_alignment(lines: int, code: bytes) -> None:
    data = elf(lines, code)
    plain = without_lines("cubin", data)
    assert b"LL" not in plain.replace(code, b"")
    segments, sections = struct.unpack_from("<QQ", plain, 0x20)
    offset, size = struct.unpack_from("<QQ", plain, sections + 3 * 64 + 24)
    assert (offset % 128, plain[offset : offset + size]) == (0, code)
    assert struct.unpack_from("<Q", plain, sections + 2 * 64 + 32) == (0,)
    assert struct.unpack_from("<Q", plain, segments + 8) == (offset,)
    assert len(data) - len(plain) <= lines
    assert len(plain) < len(elf(0, code)) + 512


@given(st.integers(0, 600), st.data())
def test_damaged_file_raises_no_error(cut: int, data: st.DataObject) -> None:
    binary = elf(300, b"code")
    damaged = bytearray(binary[: len(binary) - cut])
    for _ in range(3):
        if damaged:
            damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    assert isinstance(without_lines("cubin", bytes(damaged)), bytes)


@pytest.mark.parametrize("byte", [5, 611])
def test_binary_with_an_offset_beyond_its_end_is_left_as_it_is(byte: int) -> None:
    damaged = bytearray(elf(300, b"code"))
    start = struct.unpack_from("<Q", damaged, 0x28)[0]
    struct.pack_into("<Q", damaged, start + 64 + 24, 0x80 << 56 | byte)
    assert without_lines("cubin", bytes(damaged)) == bytes(damaged)


def test_other_stages_and_files_are_left_as_they_are() -> None:
    for stage, data in (("metadata", b"{}"), ("cubin", b"no binary"), ("hsaco", elf(9, b"c"))):
        assert without_lines(stage, data) == data
