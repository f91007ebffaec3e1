"""What kernels' host code asks of the hardware while it is traced, answered for a target without a driver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_CACHE = 50 << 20
"""Bytes of the second-level cache of an H100, in place of any."""


def answers(target: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """Methods of ``HardwareInfo``, by name: the multiprocessors are those of the GPU that is assumed for the target."""
    count = int(target.get("multiprocessors", 0))
    return {
        "__init__": lambda self, device_id=0: None,
        "get_max_active_clusters": lambda self, cluster_size, *_, **__: count // cluster_size,
        "get_device_multiprocessor_count": lambda self: count,
        "get_l2_cache_size_in_bytes": lambda self: _CACHE,
    }
