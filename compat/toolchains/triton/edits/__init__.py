"""Edits that are known to mend kernels, by the failure class that they are for, the smallest first.

Adding one takes an entry here, a module with ``proposals``, and a test in ``tests/fix``. The modules need libcst, and are imported
when a proposal is asked for.
"""

from __future__ import annotations

from compat.toolchains.edits import KnownEdit

_HERE = "compat.toolchains.triton.edits"


def _edit(name: str, module: str, *classes: str) -> KnownEdit:
    return KnownEdit(name=name, module=f"{_HERE}.{module}", classes=classes)


EDITS = (
    _edit(
        "maximum and minimum of two values",
        "minmax",
        *("constexpr-required", "python-value", "invalid-argument", "shape-mismatch", "api-changed"),
    ),
    _edit("constexpr annotation", "annotations", "constexpr-required"),
    _edit("axis added to a term", "axes", "shape-mismatch"),
    _edit("scalar loop bound", "bounds", "mlir-bitwidth-assert", "loop-bounds"),
    _edit("name in other releases", "names", *("api-missing", "api-removed", "api-changed", "device-library")),
    _edit("plain pointers", "block_pointers.plain", *("api-removed", "api-missing", "descriptor-rules")),
    _edit("tensor descriptors", "block_pointers.descriptors", *("api-removed", "api-missing")),
    _edit("type before and in a loop", "carried", "loop-carried-type"),
    _edit("larger blocks for a dot", "dots", "dot-operands"),
)
