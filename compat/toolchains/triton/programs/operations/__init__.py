"""The operations of generated programs, each with its text, its meaning and its limits."""

from __future__ import annotations

from compat.toolchains.triton.programs.operations import (
    control,
    elementwise,
    memory,
    pipelines,
    products,
    reducing,
    shaping,
    tiles,
)
from compat.toolchains.triton.programs.operations.operation import Operation

OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for module in (elementwise, shaping, reducing, products, memory, tiles, control, pipelines)
    for operation in module.OPERATIONS
}
"""Name → operation."""
FAMILIES = tuple(dict.fromkeys(operation.family for operation in OPERATIONS.values()))
"""The names of families, for ``--only``."""
