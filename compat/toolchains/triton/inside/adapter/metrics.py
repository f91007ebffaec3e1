"""What is told of a build in numbers: of its artifacts, of what the assembler says, of the PTX and of the machine code."""

from __future__ import annotations

import re
from typing import Any

from . import code, descriptors
from .occupancy import occupancy

_BINARIES = ("cubin", "hsaco")
_PTXAS = {
    "registers": r"Used (\d+) registers",
    "stack_bytes": r"(\d+) bytes stack frame",
    "spill_store_bytes": r"(\d+) bytes spill stores",
    "spill_load_bytes": r"(\d+) bytes spill loads",
}
_BARRIERS = r"used (\d+) barriers"
_AMDGCN = {
    "registers": r"\.vgpr_count:\s*(\d+)",
    "scalar_registers": r"\.sgpr_count:\s*(\d+)",
    "spilled_registers": r"\.vgpr_spill_count:\s*(\d+)",
}


def of(compiled: Any, target: dict[str, Any], ptxas_log: str, disassembler: str | None) -> dict[str, Any]:
    """Artifact sizes in bytes, shared memory, what the assembler says of registers and spills, and what the code consists of.

    Raises ``RuntimeError`` where no binary came out: a compile without one is none.
    """
    artifacts = {stage: len(text) for stage, text in compiled.asm.items() if isinstance(text, (str, bytes))}
    if not any(artifacts.get(stage) for stage in _BINARIES):
        raise RuntimeError("the compiler returned no binary, only " + ", ".join(sorted(artifacts)))
    shared = compiled.metadata.shared
    metrics: dict[str, Any] = {"artifacts": artifacts, "shared": shared, "num_warps": compiled.metadata.num_warps}
    amdgcn = compiled.asm.get("amdgcn")
    texts, patterns = ([amdgcn], _AMDGCN) if amdgcn else (ptxas_log.splitlines(), _PTXAS)
    for metric, pattern in patterns.items():
        found = [int(number) for text in texts for number in re.findall(pattern, text)]
        if found:
            metrics[metric] = max(found)
    ptx, cubin = compiled.asm.get("ptx"), compiled.asm.get("cubin")
    if isinstance(ptx, str) and isinstance(cubin, bytes):
        barriers = max([1, *map(int, re.findall(_BARRIERS, ptxas_log))])
        metrics.update(_of_code(ptx, cubin, disassembler))
        if "registers" in metrics:
            held = occupancy(target["arch"], code.threads(ptx), metrics["registers"], shared, barriers)
            metrics.update({"occupancy": held} if held else {})
    return metrics


def _of_code(ptx: str, cubin: bytes, disassembler: str | None) -> dict[str, Any]:
    """What the PTX consists of, and the descriptors that the machine code mixes up, where it can have any."""
    found: dict[str, Any] = {"code": code.instructions(ptx)}
    if found["code"]["wgmma"] and disassembler:
        mixed = descriptors.mixed_descriptors(cubin, disassembler)
        found.update({} if mixed is None else {"mixed_descriptors": mixed})
    return found
