"""Names as a report contains them, with any text in them."""

from __future__ import annotations

from compat.api.histories import PackedName, PackedNames

RELEASES = ("3.6.0", "3.7.0", "3.7.1", "3.8.0", "3.9.0")
"""All but 3.7.1 were inspected."""


def naming(text: str = "(a, b)", many: int = 300) -> PackedNames:
    """Names in every possible state, and ``many`` other names.

    ``text`` is the description of each name, and part of a name, too.
    """
    names = {
        "tl.make_block_ptr": PackedName(
            kind="builtin",
            there="0-1 3",
            refuses="4:1",
            signatures="0-1:0 3-4:0",
            deprecated="1:2 3:2",
        ),
        "tl.make_tensor_descriptor": PackedName(kind="builtin", there="3-4", signatures="3:0 4:3"),
        "tl.advance": PackedName(kind="builtin", there="0-1", signatures="0-1:0"),
        "tl.view": PackedName(
            kind="builtin", there="0-1 3-4", signatures="0-1:0 3-4:0", warns="4:2", parameters="4:4"
        ),
        "tl.ops": PackedName(kind="module", there="3-4", unknown="0-1:5"),
        f"tl.{text}": PackedName(
            kind=text, there="0-1 3-4", signatures="0-1:0 3-4:0", deprecated="0:0"
        ),
        **{
            f"tl.name_{number}": PackedName(kind="jit", there="0-1 3-4", signatures="0-1:0 3-4:0")
            for number in range(many)
        },
    }
    texts = (
        text,
        "RuntimeError: removed",
        "It is deprecated.",
        "(a, b, c=None)",
        "c: Deprecated.",
        "No module named 'torch'",
    )
    same = {"tl.math.view": "tl.view", f"tl.math.{text}": "tl.view"}
    return PackedNames(
        toolchain="triton",
        releases=RELEASES,
        looked_at="0-1 3-4",
        names=names,
        texts=texts,
        same=same,
    )
