"""What can be compiled for: the table of GPU architectures, as Triton's ``GPUTarget`` wants them.

Shared memory is what one block may have at most, opting in where the architecture asks for it, in bytes:

- NVIDIA: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", row "Maximum amount of shared memory per
  thread block": 96 KiB (7.0), 64 KiB (7.5), 163 KiB (8.0), 99 KiB (8.6, 8.9, 12.0), 227 KiB (9.0, 10.0).
- AMD: the ISA guides' size of the local data share (LDS) of a work-group: 64 KiB, and 160 KiB from CDNA 4 (gfx950).

Warps are 32 wide on NVIDIA and on RDNA (gfx10 and later), wavefronts 64 wide on CDNA (gfx9).
"""

from __future__ import annotations

from compat.model import Target

_KIB = 1024


def _nvidia(capability: int, kib: int) -> Target:
    return Target(name=f"sm_{capability}", backend="cuda", arch=capability, warp_size=32, shared_memory=kib * _KIB)


def _amd(gfx: str, kib: int) -> Target:
    return Target(name=gfx, backend="hip", arch=gfx, warp_size=64 if gfx.startswith("gfx9") else 32, shared_memory=kib * _KIB)


TARGETS = (
    _nvidia(70, 96),  # V100
    _nvidia(75, 64),  # T4
    _nvidia(80, 163),  # A100
    _nvidia(86, 99),  # A10, RTX 30
    _nvidia(89, 99),  # L4, L40, RTX 40
    _nvidia(90, 227),  # H100, H200
    _nvidia(100, 227),  # B200
    _nvidia(120, 99),  # RTX 50
    _amd("gfx90a", 64),  # MI200
    _amd("gfx942", 64),  # MI300
    _amd("gfx950", 160),  # MI350
    _amd("gfx1100", 64),  # RX 7900
    _amd("gfx1200", 64),  # RX 9060
    _amd("gfx1201", 64),  # RX 9070
)
