"""Facts about a compile, read from the compiled module and its cubin without external tools.

Up to 4.2 the cubin is the object of a ``gpu.binary``. Since then it is in a fat binary in a global.
Registers, stack frames and static shared memory are in its ELF sections (``EIATTR`` records of
``.nv.info``). Dynamic shared memory is in the host code that launches the kernel. From Blackwell
on, ptxas writes its own version into the cubin.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ....inside.foreign import Document, Objects

_BINARY = re.compile(r'"((?:P\\EDU\\BA|\\7FELF)(?:[^"\\]|\\.)*)"')
"""A fat binary, or an ELF file, as MLIR prints bytes."""
_ESCAPED = re.compile(rb"\\([0-9A-Fa-f]{2}|\\)")
_ELF = b"\x7fELF"

_REGISTERS, _FRAME = 0x2F, 0x11
"""``EIATTR_REGCOUNT`` and ``EIATTR_FRAME_SIZE``: a symbol and a number."""
_PARAMETER = 0x17
"""``EIATTR_KPARAM_INFO``: the number of a parameter, and its bytes."""
_TEXT = ".text."
"""The prefix of sections with machine code, before the kernels' names."""
_SIZED = 4
"""The format of records that contain their own length."""
_RESERVED = 1024
"""Bytes of shared memory that the system reserves from sm_90 on, in the section of every kernel."""

_FUNCTIONS = re.compile(r"^ +(?:llvm\.func|func\.func) ", re.MULTILINE)
"""The beginning of a function, which is the scope of the names of values."""
_CONSTANT = re.compile(r"%(\w+) = (?:llvm\.mlir\.constant\(|arith\.constant )(-?\d+) : i\d+")
_STORED = re.compile(r"llvm\.store %(\w+), %(\w+) : i64")
_CONFIG = re.compile(
    r"%(\w+) = llvm\.getelementptr %\w+\[0, 2\] : \(!llvm\.ptr\) -> !llvm\.ptr,"
    r" !llvm\.struct<\(array<3 x i32>, array<3 x i32>, i64"
)
"""The field of a launch's configuration with its dynamic shared memory, from 4.3 on."""
_LAUNCHED = re.compile(r"dynamic_shared_memory_size %(\w+)")
"""The dynamic shared memory of a launch in traces up to 4.2."""
_THREADS = re.compile(
    r"^\s*\.(?:req|max)ntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", re.MULTILINE
)
_PTX_VERSION = re.compile(r"^\.version (\d+\.\d+)", re.MULTILINE)
_TOOLS = re.compile(rb"Cuda compilation tools, release [\d.]+, V([\d.]+)")

_INSTRUCTIONS = {
    "wgmma": "wgmma.mma_async.",
    "mma": "mma.sync.",
    "tcgen05_mma": "tcgen05.mma.",
    "ldmatrix": "ldmatrix.",
    "cp_async": "cp.async.c",
    "tma_loads": "cp.async.bulk.tensor.",
    "bar_sync": "bar.sync",
}
"""Metric → the beginning of its instructions in PTX."""
_OTHERS = {
    "cp_async": re.compile(r"cp\.async\.commit_group"),
    "tma_loads": re.compile(r"cp\.async\.bulk\.tensor\.[^\n]*?\.global\.shared"),
}
"""Metric → other instructions with the same beginning, such as a store through the tensor memory
accelerator.
"""


def cubin_in(module: str) -> bytes | None:
    """Return the cubin in a compiled module's text, or ``None`` if it has none."""
    binary = _BINARY.search(module)
    if binary is None:
        return None
    data = _ESCAPED.sub(_byte, binary[1].encode("utf-8", "surrogateescape"))
    start = data.find(_ELF)
    return data[start:] if start >= 0 else None


def _byte(escape: re.Match[bytes]) -> bytes:
    return b"\\" if escape[1] == b"\\" else bytes([int(escape[1], 16)])


def metrics(artifacts: Objects, module: str) -> Document:
    """Return sizes in bytes, the largest resources of the kernels, and the version of ptxas.

    The resources are registers, stack and shared memory.
    """
    facts = facts_of(artifacts["cubin"])
    static = facts.pop("static_shared", 0)
    dynamic = dynamic_shared(artifacts["trace"], module)
    measurements: Document = {
        "artifacts": {stage: len(result) for stage, result in artifacts.items()},
        **facts,
    }
    if dynamic is not None:
        measurements["shared"] = static + dynamic
    tools = _TOOLS.search(artifacts["cubin"])
    if tools:
        measurements["ptxas"] = tools[1].decode()
    if "ptx" in artifacts:
        measurements.update(_of_ptx(artifacts["ptx"]))
    return measurements


def _of_ptx(ptx: str) -> dict[str, object]:
    code = {name: ptx.count(word) for name, word in _INSTRUCTIONS.items()}
    for name, others in _OTHERS.items():
        code[name] -= len(others.findall(ptx))
    measurements: Document = {"code": code}
    version = _PTX_VERSION.search(ptx)
    if version:
        measurements["ptx_version"] = version[1]
    threads = [[int(number or 1) for number in block] for block in _THREADS.findall(ptx)]
    if threads:
        measurements["threads"] = max(x * y * z for x, y, z in threads)
    return measurements


def dynamic_shared(traced: str, module: str) -> int | None:
    """Return the most dynamic shared memory that a launch in a module asks for.

    Returns ``None`` if it is known only at run time.
    """
    sizes = [
        size
        for text in (traced, module)
        for function in _FUNCTIONS.split(text)
        for size in _sizes(function)
    ]
    return None if None in sizes else max([0, *(size for size in sizes if size is not None)])


def _sizes(function: str) -> list[int | None]:
    """What the launches in a function's text ask for; ``None`` for what is no constant."""
    fields = set(_CONFIG.findall(function))
    values = [
        value for value, field in _STORED.findall(function) if field in fields
    ] + _LAUNCHED.findall(function)
    if not values:
        return []
    constants = {name: int(number) for name, number in _CONSTANT.findall(function)}
    return [constants.get(value) for value in values]


# --- the cubin ------------------------------------------------------------------------------------


class _Section(NamedTuple):
    """A section of an ELF file."""

    name: str
    offset: int
    size: int


def facts_of(cubin: bytes) -> dict[str, int]:
    """Return registers, stack, shared memory, code size and number of kernels of a cubin.

    The keys are ``registers``, ``stack_bytes``, ``static_shared``, ``code_bytes`` and ``kernels``.
    If the cubin contains several kernels, the code size is the sum, and each resource is the
    maximum. The result is empty if it is not an ELF file.
    """
    sections = list(_sections(cubin))
    kernels = [section for section in sections if section.name.startswith(_TEXT)]
    if not kernels:
        return {}
    reserved = (
        _RESERVED if any(section.name == ".nv.shared.reserved.0" for section in sections) else 0
    )
    shared = [
        section.size - reserved
        for section in sections
        if section.name.startswith(".nv.shared.") and ".reserved." not in section.name
    ]
    records = [
        record
        for section in sections
        if section.name == ".nv.info"
        for record in _records(cubin, section)
    ]
    return {
        "registers": max((number for kind, number in records if kind == _REGISTERS), default=0),
        "stack_bytes": max((number for kind, number in records if kind == _FRAME), default=0),
        "static_shared": max([0, *shared]),
        "code_bytes": sum(section.size for section in kernels),
        "kernels": len(kernels),
    }


def instructions_in(cubin: bytes) -> bytes:
    """Return the machine code of all kernels in a cubin, without any names."""
    return b"".join(
        cubin[section.offset : section.offset + section.size]
        for section in _sections(cubin)
        if section.name.startswith(".text.")
    )


def entries_of(cubin: bytes) -> list[str]:
    """Return the names of the kernels in a cubin."""
    return [
        section.name[len(_TEXT) :] for section in _sections(cubin) if section.name.startswith(_TEXT)
    ]


def parameter_sizes(cubin: bytes, entry: str) -> list[int]:
    """Return the bytes of each parameter of a kernel, in order."""
    sizes: dict[int, int] = {}
    for section in _sections(cubin):
        if section.name == ".nv.info." + entry:
            for kind, at, length in _raw_records(cubin, section):
                if kind == _PARAMETER and length >= 12:
                    sizes[struct.unpack_from("<H", cubin, at + 4)[0]] = (
                        struct.unpack_from("<I", cubin, at + 8)[0] >> 18
                    )
    return [sizes[ordinal] for ordinal in sorted(sizes)]


def _sections(data: bytes) -> Iterator[_Section]:
    if len(data) < 64 or data[:4] != _ELF:
        return
    table, size, count, names = (
        struct.unpack_from("<Q", data, 40)[0],
        *struct.unpack_from("<HHH", data, 58),
    )
    headers = [
        struct.unpack_from("<IIQQQQ", data, table + number * size) for number in range(count)
    ]
    strings = headers[names][4]
    for name, _, _, _, offset, length in headers:
        begin = strings + name
        yield _Section(data[begin : data.index(b"\0", begin)].decode(), offset, length)


def _records(data: bytes, section: _Section) -> Iterator[tuple[int, int]]:
    """Yield the records of a section that map a symbol to a number, as kind and number."""
    for kind, at, length in _raw_records(data, section):
        if length == 8:
            yield kind, struct.unpack_from("<I", data, at + 4)[0]


def _raw_records(data: bytes, section: _Section) -> Iterator[tuple[int, int, int]]:
    """Yield the records of a section that have a length.

    Each is the record's kind, the offset of its bytes, and their number.
    """
    at, end = section.offset, section.offset + section.size
    while at + 4 <= end:
        form, kind, length = struct.unpack_from("<BBH", data, at)
        at += 4
        if form == _SIZED:
            yield kind, at, length
            at += length
