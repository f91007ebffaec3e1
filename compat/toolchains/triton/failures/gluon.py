"""The class of layouts that do not fit, in kernels of Gluon.

Kernels of Triton's own language name no layouts. If one of their layouts is invalid, the compiler
made it, in a later stage than those of the signs here.
"""

from __future__ import annotations

from compat.diagnosis.common import bare_assertion
from compat.diagnosis.failure_class import FailureClass, Sign

_INVALID = r"^(?:Result|Operand \d+ \([^\n]*\)) has an invalid layout"
"""The compiler checks functions of its library first, which get the block as an operand."""
_DETAILS = (
    (
        r"^Layout has (?:a total of )?\d+ warps per CTA",
        "warps",
        "The layout is for a different number of warps than the option `num_warps`. The product of"
        " `warps_per_cta` must be `num_warps`.",
    ),
    (
        r"^Layout has (?:a total of )?\d+ threads per warp",
        "threads",
        "The layout is for a different number of threads in a warp. The product of"
        " `threads_per_warp` is 32 on NVIDIA and RDNA, and 64 on CDNA.",
    ),
    (
        r"Layout has rank \d+, but the tensor it's attached to has rank",
        "rank",
        "The layout has more or fewer dimensions than the block. `gl.SliceLayout(dim, layout)`"
        " makes a layout with one dimension less.",
    ),
)
"""The second sentence of the verifier, what it means, and the advice."""
_FRONT_END, _PASSES = r"^ast$", r"^ttgir$"
"""The stages that verify layouts: from 3.5 on, and in 3.4."""
_BEGINNING = r"^[^\n]*Pipeline failed while executing [^\n]*`TritonGPUCanonicalize`"
"""The first pass that changes kernels of Gluon in 3.4. Triton's own kernels do not have it."""

_SLICE = (
    "Only a block in a slice layout gets a new dimension, and only the one that the slice left out."
    " Make `x` of `x[:, None]` with `gl.SliceLayout(1, layout)`, and `x` of `x[None, :]` with"
    " `gl.SliceLayout(0, layout)`."
)
_SHARED = (
    "Shared memory has layouts of its own. Pass a `gl.SwizzledSharedLayout`, a"
    " `gl.NVMMASharedLayout` or another shared layout."
)

LAYOUT = FailureClass(
    name="layout",
    title="Layout does not fit",
    meaning=(
        "A layout of the kernel does not fit its block, the number of warps or threads, the"
        " operation, or the layout of another operand. Kernels of Gluon name their layouts"
        " themselves."
    ),
    advice=(
        "Compare the layout in the line that the message names with the block's shape and with"
        " `num_warps`. `gl.convert_layout(x, layout)` changes the layout of a block."
    ),
    signs=(
        *(
            Sign(
                stage=stage,
                diagnostic=_INVALID,
                output=pattern
                if stage == _FRONT_END
                else rf"\A(?s:.*?){pattern}(?s:.*){_BEGINNING}",
                words="diagnostic",
                means=f"layout of another number of {what}" if what != "rank" else what,
                advice=advice,
            )
            for pattern, what, advice in _DETAILS
            for stage in (_FRONT_END, _PASSES)
        ),
        Sign(
            message=r"^tensor shape and layout rank mismatch", means="rank", advice=_DETAILS[2][2]
        ),
        Sign(
            message=r"^expected expand_dims input to have a SliceLayout",
            means="new dimension of no slice",
            advice=_SLICE,
        ),
        Sign(
            message=r"^expected expand_dims input layout to be sliced in axis",
            means="new dimension of another slice",
            advice=_SLICE,
        ),
        Sign(message=r"^Layout mismatch in broadcast", means="operands of two layouts"),
        Sign(
            message=r"^expected 'layout' to be a SharedLayout",
            means="no shared layout",
            advice=_SHARED,
        ),
        Sign(
            error=r"^AssertionError$",
            statement=r"assert isinstance\(layout, SharedLayout\)",
            means="no shared layout",
            advice=_SHARED,
        ),
        bare_assertion(
            place=r"^_layouts\.py: __post_init__$",
            means="lists of a layout",
            advice="The lists of a layout have one number for each dimension, and equal lengths.",
        ),
        Sign(
            diagnostic=r"op Failed to infer return type$",
            output=r"GluonResolveAutoEncodings",
            words="diagnostic",
            means="no layout",
            advice=(
                "Nothing says which layout the block has. Pass `layout=…` where the kernel makes"
                " it, or convert it with `gl.set_auto_layout`."
            ),
        ),
        Sign(
            error=r"^TypeError$",
            message=r"missing 1 required positional argument: 'layout'$",
            means="no layout",
            advice=(
                "Pass `layout=…`. If the function is one of `tl`, use that of `gl`: kernels of"
                " Gluon have blocks with layouts."
            ),
        ),
        Sign(
            diagnostic=r"^Dot's a/b's encoding should be of DotOperandEncodingAttr",
            stage=_FRONT_END,
            words="diagnostic",
            means="accumulator of no instruction",
            advice=(
                "The accumulator needs the layout of the instruction, such as"
                " `gl.NVMMADistributedLayout` for wgmma."
            ),
        ),
    ),
)
"""Triton 3.4 finds an invalid layout in its first passes, 3.5 and later in the front end."""

CLASSES = (LAYOUT,)
