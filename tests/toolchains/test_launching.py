"""How Triton's launchers call kernels, as facts: by what the metadata and the PTX have."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compat.model import CompileSpec
from compat.toolchains import Unlaunchable
from compat.toolchains.triton.device import launching

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
    divisible_by_16=("x_ptr",),
    equal_to_1=("one",),
)


def facts(metadata: str, source: str) -> dict[str, Any]:
    return launching.facts(metadata, source, SPEC)


def told(fields: dict[str, Any], parameters: Any = PARAMETERS) -> str:
    return json.dumps({"fields": fields, "parameters": parameters})


def text(more: str = "", block: str = ".reqntid 128, 1, 1") -> str:
    return PTX % (more, block)


def test_before_scratch_memory() -> None:
    found = facts(told(OLD), text(block=".maxntid 128, 1, 1"))
    assert found["entry"] == "add"
    assert found["block"] == [128, 1, 1]
    assert found["shared"] == 1024
    assert (found["multiples"], found["constants"]) == ({"x_ptr": 16}, {"one": 1})
    assert [
        (each["name"], each["type"], each["packing"], each["size"]) for each in found["parameters"]
    ] == [
        ("x_ptr", "*fp16", "address", 8),
        ("n", "i32", "integer", 4),
        ("scale", "fp32", "f32", 4),
    ]
    assert (found["cluster"], found["grid_scale"], found["cooperative"], found["pdl"]) == (
        None,
        [1, 1, 1],
        False,
        False,
    )


def test_scratch_memory() -> None:
    more = (
        ",\n\t.param .u64 .ptr .global .align 1 add_param_3,\n\t.param .u64 .ptr .global .align 1"
        " add_param_4"
    )
    found = facts(
        told({**NEW, "launch_pdl": True, "launch_cooperative_grid": True}),
        text(more, ".reqntid 384"),
    )
    assert found["block"] == [384, 1, 1]  # of a specialized kernel: more than 32 × num_warps
    assert found["parameters"][3:] == [
        {"scratch": "global", "size": 8, "bytes": 512, "align": 128},
        {"scratch": "profile", "size": 8, "bytes": 0, "align": 1},
    ]
    assert (found["cooperative"], found["pdl"]) == (True, True)


@pytest.mark.parametrize(
    ("fields", "cluster"),
    [
        ({**OLD, "num_ctas": 2, "cluster_dims": [1, 2, 1]}, [1, 2, 1]),
        ({"num_ctas": 2, "shared": 0}, [2, 1, 1]),
    ],
)
def test_clusters(fields: dict[str, Any], cluster: list[int]) -> None:
    found = facts(told(fields), text())
    assert (found["cluster"], found["grid_scale"], found["num_ctas"], found["non_portable"]) == (
        cluster,
        cluster,
        2,
        False,
    )


def test_clusters_of_more_blocks_than_every_gpu_takes() -> None:
    assert facts(told({"num_ctas": 16, "shared": 0}), text())["non_portable"]


def test_parameters_that_are_memory() -> None:
    found = facts(
        told(OLD, [*PARAMETERS, ["flag", "i1"]]), text(",\n\t.param .align 64 .b8 add_param_3[128]")
    )
    assert found["parameters"][3]["size"] == 128


@pytest.mark.parametrize(
    ("metadata", "source", "words"),
    [
        (
            told(NEW),
            text(),
            (
                "3 parameters, but a launch would pass 3 of its signature and 2 pointers to scratch"
                " memory"
            ),
        ),
        (
            told(OLD, [["d", "tensordesc<fp16[128, 64]>"]]),
            text(),
            "d is a tensor descriptor that the host makes",
        ),
        (told(OLD, None), text(), "compiled from IR"),
        (told(OLD), text(block=""), "does not state the block size"),
        (told(OLD), "", "no entry"),
        ("[]", text(), "an unknown form"),
        ("{", text(), "an unknown form"),
        (told({**OLD, "num_ctas": "two"}), text(), "an unknown form"),
    ],
)
def test_what_cannot_be_launched_says_why(metadata: str, source: str, words: str) -> None:
    with pytest.raises(Unlaunchable, match=words):
        facts(metadata, source)
