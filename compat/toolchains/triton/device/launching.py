"""Facts about how Triton's launcher calls a kernel, for a program that has no Triton.

The parameters after a kernel's own parameters, and the grid, differ between releases. The fields of
the metadata show the form:

- ``global_scratch_size`` (from 3.3): one more pointer. ``profile_scratch_size`` (from 3.5): another
  pointer after it. Both are passed even if the size is 0.
- ``cluster_dims`` (up to 3.5): the dimensions of the cluster, by which the axes of the grid are
  multiplied. Without this field (from 3.6), the grid's first axis is multiplied by ``num_ctas``,
  the cluster is (``num_ctas``, 1, 1), and a cluster of more than 8 blocks is requested explicitly.
- ``launch_cooperative_grid`` (from 3.3) and ``launch_pdl`` (from 3.4).

A tensor descriptor of the host (from 3.4) is several parameters, which
:func:`_descriptor_parameters` lists.

The block size comes from the PTX, because 32 × ``num_warps`` omits the warps that a specialized
kernel adds. The sizes of parameters come from the PTX, too. If the PTX has another number of
parameters than the signature and the scratch pointers together, nothing is launched. Launchers up
to 3.3 pass fp16 and bf16 as 32 bits. The arguments of a launch must satisfy the hints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from compat.model import CompileSpec, Target
from compat.text import JsonMapping, JsonObject, lazy_pattern, printable, read_json, write_json
from compat.toolchains import pytorch
from compat.toolchains.base import CannotLaunch, Launching
from compat.toolchains.nvidia.pace import pace_of
from compat.toolchains.triton.device.lines import without_lines

_ENTRY = lazy_pattern(
    r"^[ \t]*\.(?:visible|weak)[ \t]+\.entry[ \t]+([\w$]+)[ \t]*\(([^)]*)\)([^{]*)^\{", re.MULTILINE
)
_PARAMETER = lazy_pattern(
    r"\.param\s+(?:\.align\s+(\d+)\s+)?\.([a-z]+)(\d+)([^,\[]*)(?:\[(\d+)\])?"
)
_BLOCK = lazy_pattern(r"\.(?:req|max)ntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")
_POINTER = lazy_pattern(r"\*k?[a-z]+(\d+)")
_DESCRIPTOR = lazy_pattern(r"tensordesc<\w+\[([^\]]+)\]")
_ELEMENTS = {8: 10, 9: 8, 10: 9}
"""Number of an element type in PTX, as in ``tensordesc_meta`` → its number in the CUDA driver.

These are the types whose numbers differ: fp32 without subnormals, fp64 and bf16.
``TMA_DTYPE_DEVICE_TO_HOST`` is the same in every release.
"""
_SCRATCH = ("global", "profile")
_LARGEST_PORTABLE = 8
"""Maximum number of blocks per cluster that every GPU with clusters supports."""


def facts(metadata: str, text: str, spec: CompileSpec) -> JsonObject:
    """Return the facts for a launch, from an adapter's metadata, the PTX, and the constexprs.

    Raises CannotLaunch if no launch can be made from them.
    """
    try:
        document = read_json(metadata)
        defaults = document["defaults"]
        options = document["descriptor_options"]
        launch = _facts(document["fields"], document["parameters"], options, text)
        assumed = {
            "multiples": document["multiples"],
            "constants": {
                name: value
                for name, value in document["constants"].items()
                if name not in spec.constexprs
            },
            "defaults": defaults,
            "settings": {**defaults, **spec.constexprs, **spec.options},
        }
    except (
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise CannotLaunch("the compiler's facts about its launch have an unknown form") from error
    return {**launch, **assumed}


def _facts(
    fields: JsonObject, names: list[list[str]] | None, options: list[str], text: str
) -> JsonObject:
    if names is None:
        raise CannotLaunch(
            "it was compiled from IR, which does not name the parameters of the kernel"
        )
    entry = _ENTRY.search(text)
    if entry is None:
        raise CannotLaunch("its PTX has no entry")
    scratch = [kind for kind in _SCRATCH if f"{kind}_scratch_size" in fields]
    sizes = [_size(match) for match in _PARAMETER.finditer(entry[2])]
    arguments = list(_kernel_parameters(names, fields.get("tensordesc_meta") or [], options))
    if len(sizes) != len(arguments) + len(scratch):
        expected = (
            f"{len(arguments)} of its signature and {len(scratch)} pointers to scratch memory"
        )
        raise CannotLaunch(
            f"its PTX has {len(sizes)} parameters, but a launch would pass {expected}"
        )
    block = _BLOCK.search(entry[3])
    if block is None:
        raise CannotLaunch("its PTX does not state the block size")
    return {
        "entry": entry[1],
        "block": [int(size or 1) for size in block.groups()],
        "shared": int(fields.get("shared") or 0),
        **_clusters(fields),
        "cooperative": bool(fields.get("launch_cooperative_grid")),
        "pdl": bool(fields.get("launch_pdl")),
        "parameters": [
            *(
                {"packing": packing(argument["type"], size), **argument, "size": size}
                for argument, size in zip(arguments, sizes, strict=False)
            ),
            *({"scratch": kind, "size": 8, **_memory(fields, kind)} for kind in scratch),
        ],
    }


def _kernel_parameters(
    names: list[list[str]], maps: list[JsonObject | None], options: list[str]
) -> Iterator[JsonObject]:
    """Yield the parameters of a kernel: one for each argument, and several for a tensor descriptor.

    ``maps`` has an entry for each descriptor, or is empty. Raises CannotLaunch for an argument that
    no launch can pass.
    """
    number = 0
    for name, kind in names:
        argument: JsonObject = {"name": printable(name), "type": printable(kind)}
        if kind.startswith("nvTmaDesc"):
            raise CannotLaunch(f"{argument['name']} is a raw tensor map, which nothing describes")
        if not kind.startswith("tensordesc"):
            pointer = _POINTER.match(kind)
            yield {**argument, "element_bytes": -(-int(pointer[1]) // 8)} if pointer else argument
            continue
        block = _DESCRIPTOR.match(kind)
        if block is None:
            raise CannotLaunch(
                f"{argument['name']} has the type {argument['type']}, which no launch fills"
            )
        yield from _descriptor_parameters(
            argument, block[1].count(",") + 1, maps[number] if maps else None, options
        )
        number += 1


def _descriptor_parameters(
    argument: JsonObject, rank: int, tensor_map: JsonObject | None, options: list[str]
) -> Iterator[JsonObject]:
    """Yield the parameters of one tensor descriptor, as launchers of releases from 3.4 pass it.

    A kernel that uses tensor maps gets the map of 128 bytes. Any other kernel gets the address, the
    sizes, the strides, and a flag for each option of the release's ``TensorDescriptor``. In both
    forms, the sizes and the strides follow. Raises CannotLaunch for an im2col descriptor.
    """
    sizes = [{**argument, "packing": "shape", "axis": axis} for axis in range(rank)]
    strides = [{**argument, "packing": "stride", "axis": axis} for axis in range(rank)]
    if tensor_map is None:
        yield {**argument, "packing": "address"}
        yield from [*sizes, *strides]
        yield from ({**argument, "packing": "option", "option": option} for option in options)
    elif tensor_map.get("is_im2col"):
        raise CannotLaunch(f"{argument['name']} is an im2col descriptor, which no launch fills")
    else:
        yield {
            **argument,
            "packing": "tensor_map",
            "options": options,
            "map": {
                "swizzle": int(tensor_map["swizzle"]),
                "element": _ELEMENTS.get(int(tensor_map["elem_type"]), tensor_map["elem_type"]),
                "element_bytes": int(tensor_map["elem_size"]),
                "block": [int(size) for size in tensor_map["block_size"]],
                "fp4_padded": bool(tensor_map["fp4_padded"]),
            },
        }
    yield from [*sizes, *strides]


def packing(kind: str, size: int) -> str:
    """Return the launcher's name for packing an argument of a type into ``size`` bytes."""
    if kind.startswith("*"):
        return "address"
    if not kind.startswith(("fp", "bf", "f")):
        return "integer"
    if size > 2:
        return f"f{8 * size}"
    return "bf16" if kind.startswith("bf") else "f16"


def like(metadata: str, other: str) -> str:
    """Return metadata of a compile from IR, with the arguments that ``other`` names.

    ``other`` is the metadata of the same kernel, compiled from its source.
    """
    try:
        own = read_json(metadata)
        del own["parameters"]
        return write_json({**read_json(other), **own})
    except (ValueError, TypeError, KeyError, RecursionError):
        return metadata


def _size(parameter: re.Match[str]) -> int:
    """Return the size of a parameter in bytes."""
    _, kind, bits, _, count = parameter.groups()
    return 1 if kind == "pred" else int(bits) // 8 * int(count or 1)


def _clusters(fields: JsonObject) -> dict[str, object]:
    """Return how many programs share a cluster, and by what the axes of the grid are multiplied."""
    ctas = int(fields.get("num_ctas") or 1)
    dims: Sequence[int] = fields.get("cluster_dims") or (ctas, 1, 1)
    alone = ctas == 1
    return {
        "num_ctas": ctas,
        "cluster": None if alone else list(dims),
        "grid_scale": [1, 1, 1] if alone else list(dims),
        "non_portable": ctas > _LARGEST_PORTABLE and "cluster_dims" not in fields,
    }


def _memory(fields: JsonObject, kind: str) -> dict[str, int]:
    """Return the size and the alignment of the scratch memory of one block, in bytes."""
    return {
        "bytes": int(fields[f"{kind}_scratch_size"] or 0),
        "align": max(1, int(fields.get(f"{kind}_scratch_align") or 1)),
    }


_PACED = 90
"""The architecture whose opcodes and rates are known."""


def pace(binary: bytes, metrics: JsonMapping, target: Target) -> JsonObject:
    """Return the pace of a cubin for ``sm_90``; empty for any other."""
    occupancy = metrics.get("occupancy")
    threads = occupancy.get("threads") if isinstance(occupancy, Mapping) else None
    if target.arch != _PACED or not isinstance(threads, int):
        return {}
    estimate = pace_of(binary, threads)
    return {"pace": estimate} if estimate else {}


LAUNCHING = Launching(
    backends=("cuda",),
    binary="cubin",
    text="ptx",
    metadata="metadata",
    without_lines=without_lines,
    pace=pace,
    facts=facts,
    like=like,
    packages=pytorch.HOST_PACKAGES,
)
