"""Facts about how Triton's launchers call a kernel, from its metadata and its PTX."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compat.model import CompileSpec
from compat.toolchains.base import CannotLaunch
from compat.toolchains.triton.device import launching
from tests.together import for_each

PTX = """//
.version 8.4
.target sm_90a
.address_size 64

	// .globl	add
.extern .shared .align 16 .b8 global_smem[];

.visible .entry add(
	.param .u64 .ptr .global .align 1 add_param_0,
	.param .u32 add_param_1,
	.param .f32 add_param_2%s
)
%s
{
	.reg .pred 	%%p<3>;
	ret;
}
"""
PARAMETERS = [["x_ptr", "*fp16"], ["n", "i32"], ["scale", "fp32"]]
OLD = {"num_ctas": 1, "shared": 1024, "cluster_dims": [1, 1, 1], "num_warps": 4}
NEW = {
    "num_ctas": 1,
    "shared": 0,
    "global_scratch_size": 512,
    "global_scratch_align": 128,
    "profile_scratch_size": 0,
    "profile_scratch_align": 1,
}


SPEC = CompileSpec(
    signature={"x_ptr": "*fp16", "n": "i32", "scale": "fp32"},
    constexprs={"BLOCK": 32},
)


def facts(metadata: str, source: str) -> dict[str, Any]:
    return launching.facts(metadata, source, SPEC)


def metadata_text(fields: dict[str, Any], parameters: Any = PARAMETERS, options: Any = ()) -> str:
    return json.dumps(
        {
            "fields": fields,
            "parameters": parameters,
            "multiples": {"x_ptr": 16},
            "constants": {"one": 1, "BLOCK": 32},
            "defaults": {"scale": 0.5, "GROUP": 64},
            "descriptor_options": options,
        }
    )


def text(more: str = "", block: str = ".reqntid 128, 1, 1") -> str:
    return PTX % (more, block)


def test_launch_facts_without_scratch_memory() -> None:
    launch_facts = facts(metadata_text(OLD), text(block=".maxntid 128, 1, 1"))
    assert launch_facts["entry"] == "add"
    assert launch_facts["block"] == [128, 1, 1]
    assert launch_facts["shared"] == 1024
    assert (launch_facts["multiples"], launch_facts["constants"]) == ({"x_ptr": 16}, {"one": 1})
    assert [
        (parameter["name"], parameter["type"], parameter["packing"], parameter["size"])
        for parameter in launch_facts["parameters"]
    ] == [
        ("x_ptr", "*fp16", "address", 8),
        ("n", "i32", "integer", 4),
        ("scale", "fp32", "f32", 4),
    ]
    assert [parameter.get("element_bytes") for parameter in launch_facts["parameters"]] == [
        *(2, None, None)
    ]
    assert launch_facts["defaults"]["scale"] == 0.5
    assert launch_facts["settings"]["GROUP"] == 64, "a grid may be a function of it"
    assert (
        launch_facts["cluster"],
        launch_facts["grid_scale"],
        launch_facts["cooperative"],
        launch_facts["pdl"],
    ) == (
        None,
        [1, 1, 1],
        False,
        False,
    )


def test_launch_facts_include_scratch_memory() -> None:
    more = (
        ",\n\t.param .u64 .ptr .global .align 1 add_param_3,\n\t.param .u64 .ptr .global .align 1"
        " add_param_4"
    )
    launch_facts = facts(
        metadata_text({**NEW, "launch_pdl": True, "launch_cooperative_grid": True}),
        text(more, ".reqntid 384"),
    )
    assert launch_facts["block"] == [384, 1, 1]  # of a specialized kernel: more than 32 × num_warps
    assert launch_facts["parameters"][3:] == [
        {"scratch": "global", "size": 8, "bytes": 512, "align": 128},
        {"scratch": "profile", "size": 8, "bytes": 0, "align": 1},
    ]
    assert (launch_facts["cooperative"], launch_facts["pdl"]) == (True, True)


@pytest.mark.parametrize(
    ("fields", "cluster"),
    [
        ({**OLD, "num_ctas": 2, "cluster_dims": [1, 2, 1]}, [1, 2, 1]),
        ({"num_ctas": 2, "shared": 0}, [2, 1, 1]),
    ],
)
def test_launch_facts_have_the_cluster(fields: dict[str, Any], cluster: list[int]) -> None:
    launch_facts = facts(metadata_text(fields), text())
    assert (
        launch_facts["cluster"],
        launch_facts["grid_scale"],
        launch_facts["num_ctas"],
        launch_facts["non_portable"],
    ) == (
        cluster,
        cluster,
        2,
        False,
    )


def test_large_cluster_is_non_portable_only_without_dimensions() -> None:
    """Launchers request such clusters from 3.6 on, where the metadata has no cluster dimensions."""
    assert facts(metadata_text({"num_ctas": 16, "shared": 0}), text())["non_portable"]
    old = {**OLD, "num_ctas": 16, "cluster_dims": [1, 16, 1]}
    assert not facts(metadata_text(old), text())["non_portable"]


def test_memory_parameter_has_its_size_in_bytes() -> None:
    launch_facts = facts(
        metadata_text(OLD, [*PARAMETERS, ["flag", "i1"]]),
        text(",\n\t.param .align 64 .b8 add_param_3[128]"),
    )
    assert launch_facts["parameters"][3]["size"] == 128


MAP = {"swizzle": 3, "elem_size": 2, "elem_type": 10, "block_size": [1, 64], "fp4_padded": False}
DESCRIBED = [["d", "tensordesc<bf16[1, 128]>"], ["n", "i32"]]


def described(maps: object, sizes: str, options: list[str]) -> list[tuple[object, ...]]:
    """Packing, axis or option, and size of each parameter: one descriptor and one number."""
    source = PTX.replace("add_param_2%s", "add_param_2")
    listed = ",\n".join(f"\t.param {size} p_{n}" for n, size in enumerate(sizes.split()))
    source = source.replace(source[source.index("\t.param") : source.index("\n)")], listed)
    metadata = metadata_text({**OLD, "tensordesc_meta": maps}, DESCRIBED, options)
    parameters = facts(metadata, source % ".reqntid 128")["parameters"]
    return [
        (parameter["packing"], parameter.get("axis", parameter.get("option")), parameter["size"])
        for parameter in parameters
    ]


def test_descriptor_with_a_map_is_passed_as_a_tensor_map() -> None:
    with pytest.raises(CannotLaunch, match="5 parameters, but a launch would pass 6"):
        described([MAP], ".u64 .u32 .u32 .u64 .u64", ["padding"])
    listed = ".u64 .u32 .u32 .u64 .u64 .u32"
    parameters = described([MAP], listed, ["padding"])
    assert [(kind, which) for kind, which, _ in parameters] == [
        ("tensor_map", None),
        ("shape", 0),
        ("shape", 1),
        ("stride", 0),
        ("stride", 1),
        ("integer", None),
    ]


@pytest.mark.parametrize("options", [[], ["padding"], ["padding", "round_f32_to_tf32"]])
def test_descriptor_without_a_map_is_passed_in_parts(options: list[str]) -> None:
    """Sizes and strides come twice. A flag for each option of the release comes between them."""
    flags = ["option"] * len(options)
    sizes = [*[".u64"] * 5, *[".u8"] * len(flags), ".u32", ".u32", ".u64", ".u64", ".u32"]
    parameters = described(None, " ".join(sizes), options)
    twice = ["shape", "shape", "stride", "stride"]
    assert [kind for kind, _, _ in parameters] == ["address", *twice, *flags, *twice, "integer"]
    assert [size for _, _, size in parameters] == [
        *[8] * 5,
        *[1] * len(flags),
        *[4, 4, 8, 8],
        4,
    ]


@for_each(
    ("metadata", "source", "message"),
    [
        (
            metadata_text(NEW),
            text(),
            (
                "3 parameters, but a launch would pass 3 of its signature and 2 pointers to scratch"
                " memory"
            ),
        ),
        (metadata_text(OLD, [["d", "nvTmaDesc"]]), text(), "d is a raw tensor map"),
        (
            metadata_text(OLD, [["d", "tensordesc_im2col<fp16[128, 64]>"]]),
            text(),
            "which no launch fills",
        ),
        (
            metadata_text(
                {**OLD, "tensordesc_meta": [{**MAP, "is_im2col": True}]},
                [["d", "tensordesc<fp16[128, 64]>"]],
            ),
            text(),
            "d is an im2col descriptor",
        ),
        (metadata_text(OLD, None), text(), "compiled from IR"),
        (metadata_text(OLD), text(block=""), "does not state the block size"),
        (metadata_text(OLD), "", "no entry"),
        ("[]", text(), "an unknown form"),
        ("{", text(), "an unknown form"),
        (metadata_text({**OLD, "num_ctas": "two"}), text(), "an unknown form"),
    ],
)
def test_unlaunchable_kernel_has_a_reason(metadata: str, source: str, message: str) -> None:
    with pytest.raises(CannotLaunch, match=message):
        facts(metadata, source)
