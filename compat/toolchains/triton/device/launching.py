"""How a launcher of Triton calls a kernel, as facts for a program that has no Triton.

What follows a kernel's own parameters differs between releases, and is recognised by what the
metadata has:

- ``global_scratch_size`` (from 3.3): one more pointer, ``profile_scratch_size`` (from 3.5): one
  after it, both also where the size is 0;
- ``cluster_dims`` (up to 3.5): the cluster, by which each axis of the grid is multiplied; without
  it (from 3.6) the grid's first axis is multiplied by ``num_ctas``, and the cluster is
  (``num_ctas``, 1, 1);
- ``launch_cooperative_grid`` (from 3.3) and ``launch_pdl`` (from 3.4).

The block is what the PTX requires: 32 × ``num_warps`` lacks the warps that a specialized kernel
adds. Parameters have the sizes that the PTX gives them; where it has another number than the
signature and the scratch pointers come to, nothing is launched. Launchers up to 3.3 pass fp16 and
bf16 as 32 bits. What hints say of arguments has to be true of those that are passed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from compat.model import CompileSpec
from compat.text import JsonObject, lazy_pattern, printable, read_json, write_json
from compat.toolchains import pytorch
from compat.toolchains.base import Launching, Unlaunchable
from compat.toolchains.triton.facts import WITHOUT_LINES

_ENTRY = lazy_pattern(
    r"^[ \t]*\.(?:visible|weak)[ \t]+\.entry[ \t]+([\w$]+)[ \t]*\(([^)]*)\)([^{]*)^\{", re.MULTILINE
)
_PARAMETER = lazy_pattern(
    r"\.param\s+(?:\.align\s+(\d+)\s+)?\.([a-z]+)(\d+)([^,\[]*)(?:\[(\d+)\])?"
)
_BLOCK = lazy_pattern(r"\.(?:req|max)ntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")
_SCRATCH = ("global", "profile")
_LARGEST_PORTABLE = 8
"""Blocks that every GPU with clusters takes in one."""


def facts(metadata: str, text: str, spec: CompileSpec) -> JsonObject:
    """Return the facts for a launch, from an adapter's metadata, the PTX, and the hints.

    Raises Unlaunchable.
    """
    try:
        told = read_json(metadata)
        assumed = {
            "multiples": dict.fromkeys(spec.divisible_by_16, 16),
            "constants": dict.fromkeys(sorted(spec.ones), 1),
        }
        return {**_facts(told["fields"], told["parameters"], text), **assumed}
    except (
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise Unlaunchable("the compiler's facts about its launch have an unknown form") from error


def _facts(fields: JsonObject, names: list[list[str]] | None, text: str) -> JsonObject:
    if names is None:
        raise Unlaunchable(
            "it was compiled from IR, which does not name the parameters of the kernel"
        )
    if hosted := [name for name, kind in names if kind.startswith(("tensordesc", "nvTmaDesc"))]:
        raise Unlaunchable(
            f"{printable(hosted[0])} is a tensor descriptor that the host makes: only pointers and"
            " numbers are passed"
        )
    entry = _ENTRY.search(text)
    if entry is None:
        raise Unlaunchable("its PTX has no entry")
    scratch = [kind for kind in _SCRATCH if f"{kind}_scratch_size" in fields]
    sizes = [_size(found) for found in _PARAMETER.finditer(entry[2])]
    if len(sizes) != len(names) + len(scratch):
        words = f"{len(names)} of its signature and {len(scratch)} pointers to scratch memory"
        raise Unlaunchable(f"its PTX has {len(sizes)} parameters, but a launch would pass {words}")
    block = _BLOCK.search(entry[3])
    if block is None:
        raise Unlaunchable("its PTX does not state the block size")
    return {
        "entry": entry[1],
        "block": [int(size or 1) for size in block.groups()],
        "shared": int(fields.get("shared") or 0),
        **_clusters(fields),
        "cooperative": bool(fields.get("launch_cooperative_grid")),
        "pdl": bool(fields.get("launch_pdl")),
        "parameters": [
            *(
                {
                    "name": printable(name),
                    "type": printable(kind),
                    "packing": packing(kind, size),
                    "size": size,
                }
                for (name, kind), size in zip(names, sizes, strict=False)
            ),
            *({"scratch": kind, "size": 8, **_memory(fields, kind)} for kind in scratch),
        ],
    }


def packing(kind: str, size: int) -> str:
    """How an argument of a type is packed into so many bytes, as the launcher calls it."""
    if kind.startswith("*"):
        return "address"
    if not kind.startswith(("fp", "bf", "f")):
        return "integer"
    if size > 2:
        return f"f{8 * size}"
    return "bf16" if kind.startswith("bf") else "f16"


def like(metadata: str, other: str) -> str:
    """Return metadata of a compile from IR, with the parameters that ``other`` names.

    ``other`` is the metadata of the same kernel, compiled from its source.
    """
    try:
        return write_json({**read_json(metadata), "parameters": read_json(other)["parameters"]})
    except (ValueError, TypeError, KeyError, RecursionError):
        return metadata


def _size(parameter: re.Match[str]) -> int:
    """Bytes of a parameter."""
    _, kind, bits, _, count = parameter.groups()
    return 1 if kind == "pred" else int(bits) // 8 * int(count or 1)


def _clusters(fields: JsonObject) -> dict[str, object]:
    """How many programs share a cluster, and what that makes of the grid."""
    ctas = int(fields.get("num_ctas") or 1)
    dims: Sequence[int] = fields.get("cluster_dims") or (ctas, 1, 1)
    alone = ctas == 1
    return {
        "num_ctas": ctas,
        "cluster": None if alone else list(dims),
        "grid_scale": [1, 1, 1] if alone else list(dims),
        "non_portable": ctas > _LARGEST_PORTABLE,
    }


def _memory(fields: JsonObject, kind: str) -> dict[str, int]:
    """What one block of a scratch memory needs: bytes and their alignment."""
    return {
        "bytes": int(fields[f"{kind}_scratch_size"] or 0),
        "align": max(1, int(fields.get(f"{kind}_scratch_align") or 1)),
    }


LAUNCHING = Launching(
    backends=("cuda",),
    binary="cubin",
    text="ptx",
    metadata="metadata",
    without_lines=WITHOUT_LINES,
    facts=facts,
    like=like,
    packages={
        "compat_launch": pytorch.FOLDER / "host",
        "compat_numerics": pytorch.FOLDER / "numerics",
    },
)
