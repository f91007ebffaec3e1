"""What can be compiled for: the table of GPU architectures, as Triton's ``GPUTarget`` wants them.

Shared memory is what one block may have at most, opting in where the architecture asks for it, in bytes:

- NVIDIA: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", row "Maximum amount of shared memory per
  thread block": 96 KiB (7.0), 64 KiB (7.5), 163 KiB (8.0), 99 KiB (8.6, 8.9, 12.0), 227 KiB (9.0, 10.0).
- AMD: the ISA guides' size of the local data share (LDS) of a work-group: 64 KiB, and 160 KiB from CDNA 4 (gfx950).

Which GPU has which architecture: NVIDIA's table "CUDA GPU Compute Capability" (https://developer.nvidia.com/cuda-gpus), and
AMD's table "AMD GPU specifications", column "LLVM target name" (https://rocm.docs.amd.com/en/latest/reference/gpu-specs.html).
A GPU whose architecture is no target here, such as the B300 (10.3), has no name here either.

Warps are 32 wide on NVIDIA and on RDNA (gfx10 and later), wavefronts 64 wide on CDNA (gfx9).
"""

from __future__ import annotations

from compat.model import Target
from compat.toolchains.base import GpuModel

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

USUAL = ("sm_80", "sm_89", "sm_90")
"""What is compiled for where nothing says which: data center GPUs of two generations, and one with less shared memory."""

MODELS = {
    "sm_70": GpuModel(name="Tesla V100-SXM2-16GB", multiprocessors=80),
    "sm_75": GpuModel(name="Tesla T4", multiprocessors=40),
    "sm_80": GpuModel(name="NVIDIA A100-SXM4-80GB", multiprocessors=108),
    "sm_86": GpuModel(name="NVIDIA GeForce RTX 3090", multiprocessors=82),
    "sm_89": GpuModel(name="NVIDIA GeForce RTX 4090", multiprocessors=128),
    "sm_90": GpuModel(name="NVIDIA H100 80GB HBM3", multiprocessors=132),
    "sm_100": GpuModel(name="NVIDIA B200", multiprocessors=148),
    "sm_120": GpuModel(name="NVIDIA GeForce RTX 5090", multiprocessors=170),
    "gfx90a": GpuModel(name="AMD Instinct MI250X", multiprocessors=110),
    "gfx942": GpuModel(name="AMD Instinct MI300X", multiprocessors=304),
    "gfx950": GpuModel(name="AMD Instinct MI355X", multiprocessors=256),
}
"""Target → the GPU of it that is assumed, where something asks for more than follows from the architecture."""


def _named(target: str, *gpus: str) -> dict[str, str]:
    return dict.fromkeys(gpus, target)


GPUS = {
    **_named("sm_70", "v100", "titanv"),
    **_named("sm_75", "t4", "titanrtx", "rtx2060", "rtx2070", "rtx2080", "rtx2080ti"),
    **_named("sm_80", "a100", "a30"),
    **_named("sm_86", "a2", "a10", "a16", "a40", "rtxa4000", "rtxa5000", "rtxa6000"),
    **_named("sm_86", "rtx3050", "rtx3060", "rtx3060ti", "rtx3070", "rtx3070ti", "rtx3080", "rtx3080ti", "rtx3090", "rtx3090ti"),
    **_named("sm_89", "l4", "l40", "l40s", "rtx6000ada"),
    **_named("sm_89", "rtx4050", "rtx4060", "rtx4060ti", "rtx4070", "rtx4070ti", "rtx4080", "rtx4090"),
    **_named("sm_90", "h100", "h200", "gh200"),
    **_named("sm_100", "b200", "gb200"),
    **_named("sm_120", "rtx5050", "rtx5060", "rtx5060ti", "rtx5070", "rtx5070ti", "rtx5080", "rtx5090"),
    **_named("gfx90a", "mi210", "mi250", "mi250x"),
    **_named("gfx942", "mi300a", "mi300x", "mi325x"),
    **_named("gfx950", "mi350x", "mi355x"),
    **_named("gfx1100", "rx7900", "rx7900gre", "rx7900xt", "rx7900xtx"),
    **_named("gfx1200", "rx9060", "rx9060xt"),
    **_named("gfx1201", "rx9070", "rx9070gre", "rx9070xt"),
}
"""What GPUs are called → their target. GeForce cards are found without ``rtx``, too."""
GPUS |= {gpu.removeprefix("rtx"): target for gpu, target in GPUS.items() if gpu.removeprefix("rtx")[0].isdigit()}
