"""What a kernel's PTX consists of, as far as it tells how the code was made: instructions that are lost when an optimization is."""

from __future__ import annotations

import re

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
"""Metric → how its instructions begin."""
_OTHERS = {
    "cp_async": re.compile(r"cp\.async\.commit_group"),
    "tma_loads": re.compile(r"cp\.async\.bulk\.tensor\.[^\n]*?\.global\.shared"),
}
"""What begins so and is another instruction: a store through the tensor memory accelerator."""
_THREADS = re.compile(r"^\s*\.(?:req|max)ntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", re.MULTILINE)


def instructions(ptx: str) -> dict[str, int]:
    """Instruction → how often it stands in the text, whether it runs once or in a loop."""
    found = {name: ptx.count(word) for name, word in _WORDS.items()}
    for name, others in _OTHERS.items():
        if found[name]:
            found[name] -= len(others.findall(ptx))
    return found


def threads(ptx: str) -> int:
    """Threads per block; 0 where the text does not say.

    ``.reqntid`` from 3.2 on, ``.maxntid`` before: what a launch has to ask for, warps included that only some releases add.
    """
    found = _THREADS.search(ptx)
    if found is None:
        return 0
    x, y, z = (int(number or 1) for number in found.groups())
    return x * y * z
