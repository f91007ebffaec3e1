"""What code is generated for."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True, cache_hash=True)
class Target:
    """What code is generated for, without a GPU being there."""

    name: str
    backend: str
    """``cuda`` or ``hip``, as ``GPUTarget.backend``."""
    arch: int | str
    """Compute capability times ten (90 for ``sm_90``), or the gfx name."""
    warp_size: int
    shared_memory: int
    """Bytes of shared memory (LDS) one block may have at most on this architecture."""
