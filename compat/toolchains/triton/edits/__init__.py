"""Known edits that fix kernels, each with the failure classes that it is for, the smallest first.

A new edit needs an entry here, a function that yields proposals, and a test in ``tests/fix``. The
modules need libcst, and are imported when a proposal is requested.
"""

from __future__ import annotations

from compat.toolchains.language import KnownEdit

_HERE = "compat.toolchains.triton.edits"


def _edit(name: str, function: str, *classes: str) -> KnownEdit:
    return KnownEdit(name=name, function=f"{_HERE}.{function}", classes=classes)


EDITS = (
    _edit(
        "maximum and minimum of two values",
        "expressions:values_compared",
        *(
            "constexpr-required",
            "python-value",
            "invalid-argument",
            "shape-mismatch",
            "api-changed",
        ),
    ),
    _edit("constexpr annotation", "expressions:constexprs_annotated", "constexpr-required"),
    _edit("axis added to a term", "expressions:axes_added", "shape-mismatch"),
    _edit(
        "scalar loop bound", "expressions:scalar_loop_bounds", "mlir-bitwidth-assert", "loop-bounds"
    ),
    _edit(
        "name in other releases",
        "names:names_elsewhere",
        *("api-missing", "api-removed", "api-changed", "device-library"),
    ),
    _edit(
        "plain pointers",
        "block_pointers.plain_pointers:plain_pointers",
        *("api-removed", "api-missing", "descriptor-rules"),
    ),
    _edit(
        "tensor descriptors",
        "block_pointers.descriptors:tensor_descriptors",
        *("api-removed", "api-missing"),
    ),
    _edit("type before and in a loop", "expressions:types_kept_in_loops", "loop-carried-type"),
    _edit("larger blocks for a dot", "expressions:larger_blocks", "dot-operands"),
)
