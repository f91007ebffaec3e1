"""Metrics of a build, from artifacts, assembler, PTX and machine code, and facts for a launch.

:func:`occupancy` computes how many blocks of a kernel a multiprocessor of NVIDIA holds at the same
time, and what limits them. The limits are those of the CUDA C++ Programming Guide, table "Technical
Specifications per Compute Capability": blocks, threads, 32-bit registers and shared memory per
multiprocessor, threads and registers per block, registers per thread. From 8.0 on, the system
reserves 1 KiB of a block's shared memory, according to the sections "Shared Memory" there. The
allocation of registers and shared memory, and the number of blocks that named barriers leave room
for, are as in ``cuda_occupancy.h`` of CUDA 12.9. Registers are allocated to whole warps, in units
of 256, from one of four equal parts of a multiprocessor. Shared memory is allocated in units of 128
bytes, 256 before 8.0. The results were compared with that header over 184,800 combinations of the
table's architectures, threads, registers, bytes and barriers: no difference. A block of a cluster
counts like any other. The number of clusters that fit is not computed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import descriptors
from .call import descriptor_options

if TYPE_CHECKING:
    from ....inside.foreign import Document
    from ..foreign import CompiledKernel, Source

_BINARIES = ("cubin", "hsaco")
_PTXAS = {
    "registers": re.compile(r"Used (\d+) registers"),
    "stack_bytes": re.compile(r"(\d+) bytes stack frame"),
    "spill_store_bytes": re.compile(r"(\d+) bytes spill stores"),
    "spill_load_bytes": re.compile(r"(\d+) bytes spill loads"),
}
_BARRIERS = re.compile(r"used (\d+) barriers")
_AMDGCN = {
    "registers": re.compile(r"\.vgpr_count:\s*(\d+)"),
    "scalar_registers": re.compile(r"\.sgpr_count:\s*(\d+)"),
    "spilled_registers": re.compile(r"\.vgpr_spill_count:\s*(\d+)"),
}


def of(
    compiled: CompiledKernel, target: Document, ptxas_log: str, disassembler: str | None
) -> Document:
    """Return the metrics of a build.

    They are artifact sizes in bytes, shared memory, the assembler's numbers of registers and
    spills, and the contents of the code. Raises ``RuntimeError`` if there is no binary, because a
    compile without a binary does not count.
    """
    artifacts = {
        stage: len(text) for stage, text in compiled.asm.items() if isinstance(text, (str, bytes))
    }
    if not any(artifacts.get(stage) for stage in _BINARIES):
        raise RuntimeError("the compiler returned no binary, only " + ", ".join(sorted(artifacts)))
    shared = compiled.metadata.shared
    metrics: Document = {
        "artifacts": artifacts,
        "shared": shared,
        "num_warps": compiled.metadata.num_warps,
    }
    amdgcn = compiled.asm.get("amdgcn")
    texts, patterns = ([amdgcn], _AMDGCN) if amdgcn else (ptxas_log.splitlines(), _PTXAS)
    for metric, pattern in patterns.items():
        numbers = [int(number) for text in texts for number in pattern.findall(text)]
        if numbers:
            metrics[metric] = max(numbers)
    fields = _fields(compiled.metadata)
    metrics.update(cluster(fields))
    if fields.get("tmem_size"):
        metrics["tensor_memory"] = fields["tmem_size"]
    ptx, cubin = compiled.asm.get("ptx"), compiled.asm.get("cubin")
    if isinstance(ptx, str) and isinstance(cubin, bytes):
        barriers = max([1, *map(int, _BARRIERS.findall(ptxas_log))])
        metrics.update(_of_code(ptx, cubin, disassembler))
        if "registers" in metrics:
            held = occupancy(
                target["arch"], threads_of(ptx), metrics["registers"], shared, barriers
            )
            metrics.update({"occupancy": held} if held else {})
    return metrics


_PORTABLE, _LARGEST = 8, 16
"""Maximum blocks of a cluster on every GPU with clusters, and on some GPUs if a launch requests it.
"""


def cluster(fields: Document) -> Document:
    """Return the blocks of a cluster, and how many this release can launch.

    From 3.6 on, where the fields no longer have ``cluster_dims``, a launcher requests 16. The
    result is empty without clusters.
    """
    blocks = fields.get("num_ctas") or 1
    if blocks == 1:
        return {}
    return {
        "cluster": blocks,
        "largest_cluster": _PORTABLE if "cluster_dims" in fields else _LARGEST,
    }


def _of_code(ptx: str, cubin: bytes, disassembler: str | None) -> dict[str, object]:
    """Return the contents of the PTX, and how many descriptors the machine code mixes up.

    The second number is left out for code that cannot have any.
    """
    contents: Document = {"code": instructions(ptx)}
    if contents["code"]["wgmma"] and disassembler:
        mixed = descriptors.mixed_descriptors(cubin, disassembler)
        contents.update({} if mixed is None else {"mixed_descriptors": mixed})
    return contents


_WORDS = {
    "ldmatrix": "ldmatrix.",
    "wgmma": "wgmma.mma_async.",
    "mma": "mma.sync.",
    "tcgen05_mma": "tcgen05.mma.",
    "cp_async": "cp.async.c",  # .ca and .cg copy; wait_group and commit_group do not
    "tma_loads": "cp.async.bulk.tensor.",
    "fence_proxy_async": "fence.proxy.async",
    "bar_sync": "bar.sync",
}
"""Metric → the beginning of its instructions."""
_OTHERS = {
    "cp_async": re.compile(r"cp\.async\.commit_group"),
    "tma_loads": re.compile(r"cp\.async\.bulk\.tensor\.[^\n]*?\.global\.shared"),
}
"""Metric → other instructions with the same beginning, such as a store through the tensor memory
accelerator.
"""
_THREADS = re.compile(
    r"^\s*\.(?:req|max)ntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", re.MULTILINE
)


def instructions(ptx: str) -> dict[str, int]:
    """Return instruction → how often it occurs in the text, whether it runs once or in a loop."""
    counts = {name: ptx.count(word) for name, word in _WORDS.items()}
    for name, others in _OTHERS.items():
        if counts[name]:
            counts[name] -= len(others.findall(ptx))
    return counts


def threads_of(ptx: str) -> int:
    """Return the threads per block, or 0 if the text does not state them.

    The text has ``.reqntid`` from 3.2 on, and ``.maxntid`` before. A launch must request this
    number. It includes warps that only some releases add.
    """
    match = _THREADS.search(ptx)
    if match is None:
        return 0
    x, y, z = (int(number or 1) for number in match.groups())
    return x * y * z


_WARP = 32
_REGISTERS, _PARTS, _UNIT = 65_536, 4, 256
"""Registers of a multiprocessor, the number of its parts, and the allocation unit of a warp.

A block has at most as many registers as a multiprocessor.
"""
_OF_THREAD = 255
_OF_BLOCK = 1024
"""Maximum threads of a block."""
_KIB = 1024

_LIMITS = {
    70: (32, 2048, 96, 96, 0, 256, 0),
    75: (16, 1024, 64, 64, 0, 256, 0),
    80: (32, 2048, 164, 163, 1, 128, 0),
    86: (16, 1536, 100, 99, 1, 128, 0),
    89: (24, 1536, 100, 99, 1, 128, 0),
    90: (32, 2048, 228, 227, 1, 128, 2),
    100: (32, 2048, 228, 227, 1, 128, 2),
    120: (24, 1536, 100, 99, 1, 128, 1),
}
"""Compute capability times ten → the limits of a multiprocessor.

They are blocks and threads; KiB of shared memory of a multiprocessor, of a block, and of the system
in it; its unit, in bytes; named barriers for each block that a multiprocessor holds, 0 if they
limit nothing (before 9.0).
"""


def occupancy(
    arch: object, threads: int, registers: int, shared: int, barriers: int = 1
) -> Document:
    """Return blocks per multiprocessor, what limits them, and the spare registers of a thread.

    The number of blocks would stay the same if a thread also used its spare registers. They are
    negative if a thread has too many registers for the launch of one block. The arguments are a
    kernel's threads per block, registers per thread, bytes of shared memory per block and named
    barriers. The result is empty for an unknown architecture, or a block of no threads.
    """
    if arch not in _LIMITS or threads < 1:
        return {}
    limits = _room(_LIMITS[arch], threads, registers, shared, barriers)
    blocks = min(limits.values())
    result = {
        "threads": threads,
        "blocks": blocks,
        "limited_by": next(name for name, room in limits.items() if room == blocks),
    }
    if blocks or not limits["registers"]:
        result["spare_registers"] = _most_registers(threads, max(blocks, 1)) - registers
    return result


def _room(
    limits: tuple[int, ...], threads: int, registers: int, shared: int, barriers: int
) -> dict[str, int]:
    """Return what limits blocks → how many blocks it leaves room for."""
    most, most_threads, of_all, of_block, reserved, unit, for_each = limits
    allocated = _up(shared + reserved * _KIB, unit)
    fits = shared <= of_block * _KIB
    return {
        "registers": _by_registers(threads, registers),
        "shared memory": (of_all * _KIB // allocated if allocated else most) if fits else 0,
        "threads": most_threads // _WARP // _warps(threads) if threads <= _OF_BLOCK else 0,
        "barriers": most * for_each // barriers if barriers and for_each else most,
        "blocks": most,
    }


def _by_registers(threads: int, registers: int) -> int:
    per_warp = max(_up(registers * _WARP, _UNIT), _UNIT)
    if registers > _OF_THREAD or per_warp * _up(_warps(threads), _PARTS) > _REGISTERS:
        return 0
    return _REGISTERS // _PARTS // per_warp * _PARTS // _warps(threads)


def _most_registers(threads: int, blocks: int) -> int:
    """Return the maximum registers per thread that leave room for this number of blocks."""
    return max(
        (
            registers
            for registers in range(1, _OF_THREAD + 1)
            if _by_registers(threads, registers) >= blocks
        ),
        default=0,
    )


def _warps(threads: int) -> int:
    return -(-threads // _WARP)


def _up(amount: int, unit: int) -> int:
    return -(-amount // unit) * unit


def launch_metadata(compiled: CompiledKernel) -> str:
    """Return the facts that a launch needs about a compiled kernel, as JSON.

    They are the compiler's fields, the arguments that a launch passes, the facts about them that
    the code relies on, and the further fields of this release's host descriptors: ``{"fields":
    {...}, "parameters": [["x_ptr", "*fp16"], ...], "multiples": {"x_ptr": 16}, "constants": {"n":
    1}, "defaults": {"scale": 1.0}, "descriptor_options": ["padding"]}``. A launch passes the
    defaults of arguments and constexprs that it leaves out. A kernel from a file of IR has only
    fields and options. Parameters are the run-time arguments in the order of the function's
    parameters, without constexprs and without arguments that were folded into the code. Up to 3.2,
    Triton has the folded ones in ``constants``, by name or number. From 3.3 on, their type in the
    signature is ``"constexpr"``. Elements of tuples are ``args[1]``, as in jobs.
    """
    source = compiled.src
    has_parameters = hasattr(getattr(source, "fn", None), "arg_names")
    return json.dumps(
        {
            "fields": _fields(compiled.metadata),
            **(_arguments(source) if has_parameters else {"parameters": None}),
            "descriptor_options": descriptor_options(),
        }
    )


def _arguments(source: Source) -> dict[str, object]:
    """Return the metadata about the arguments of a kernel that has a source."""
    names, parameters = list(source.fn.arg_names), _parameters(source)
    passed = {name for name, _ in parameters}
    constants = {_name(names, key): value for key, value in source.constants.items()}
    divisible = {_name(names, key) for key in _divisible_by_16(source.attrs)}
    return {
        "parameters": parameters,
        "multiples": dict.fromkeys(sorted(divisible & passed), 16),
        "constants": {
            name: value
            for name, value in constants.items()
            if type(value) in (bool, int) or (type(value) is float and math.isfinite(value))
        },
        "defaults": _defaults(source),
    }


def _divisible_by_16(attributes: Any) -> Any:
    """Return the arguments with this attribute, by number or path, from any release's form."""
    if isinstance(attributes, dict):
        return [key for key, facts in attributes.items() if ["tt.divisibility", 16] in facts]
    if hasattr(attributes, "arg_properties"):
        return attributes.arg_properties.get("tt.divisibility", ())
    return attributes.divisible_by_16


def _fields(metadata: object) -> dict[str, object]:
    """Return the compiler's facts about the kernel that are plain data."""
    fields = metadata._asdict() if hasattr(metadata, "_asdict") else dict(vars(metadata))
    return {str(name): value for name, value in fields.items() if _plain(value)}


def _plain(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _plain(entry) for key, entry in value.items())
    return value is None or isinstance(value, (bool, int, float, str))


def _parameters(source: Source) -> list[list[str]]:
    names = list(source.fn.arg_names)
    signature = {_number(names, key): kind for key, kind in source.signature.items()}
    folded = {_number(names, key) for key in getattr(source, "constants", {})}
    return [
        parameter
        for index, name in enumerate(names)
        if index in signature and index not in folded
        for parameter in _flat(name, signature[index])
    ]


def _defaults(source: Source) -> dict[str, object]:
    """Return parameter → its default, if that is a number or a text.

    JSON has no NaN and no infinite numbers, so they are texts.
    """
    defaults = {
        parameter.name: getattr(parameter.default, "value", parameter.default)
        for parameter in source.fn.params
        if parameter.has_default
    }
    return {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in defaults.items()
        if isinstance(value, (int, float, str))
    }


def _name(names: list[str], key: Any) -> str:
    """Return the name of an argument or element from its name, its number or its path."""
    if isinstance(key, str):
        return key
    index, *inner = key if isinstance(key, tuple) else (key,)
    return names[index] + "".join("[%d]" % number for number in inner)


def _number(names: list[str], key: object) -> Any:
    """Return the number of a parameter by its name, its number or a path of one step."""
    if isinstance(key, str):
        return names.index(key) if key in names else key
    return key[0] if isinstance(key, tuple) and len(key) == 1 else key


def _flat(name: str, kind: object) -> Iterator[list[str]]:
    if isinstance(kind, (tuple, list)):
        for index, element in enumerate(kind):
            yield from _flat("%s[%d]" % (name, index), element)
    elif kind != "constexpr":
        yield [name, str(kind)]
