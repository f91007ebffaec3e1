"""Reading the dumps of a compile, and comparing the dumps of two compiles."""

from __future__ import annotations

from compat.diagnosis import pipeline
from compat.diagnosis.pipeline import Pipeline, Split, Step
from compat.toolchains.mlir.canonical import canonical
from compat.toolchains.triton.ir.dumps import pass_key, read
from tests.together import for_each

OLD = """\
triton warns of something
// -----// IR Dump Before Inliner (inline) ('builtin.module' operation) //----- //
module {
  %0 = tt.one

  tt.return
}


// -----// IR Dump Before Canonicalizer (canonicalize) ('tt.func' operation: @"odd (name)") //----- //
#blocked = #ttg.blocked<{a = 1}>
module {
}
python: /project/lib/X.cpp:562: f(): Assertion `x
  indented' failed.
  #0 stack frame
// -----// SoftwarePipeliner internal IR Dump After: LowerLoops
module {
  %9 = tt.internal
}
"""
NEW = """\
// -----// IR Dump Before InlinerPass: inline{default-pipeline=canonicalize n=4 } ('builtin.module' operation) //----- //
module {
}
// -----// IR Dump Before CSEPass: cse ('builtin.module' operation) //----- //
module {
}
// -----// IR Dump After CSEPass Failed: cse ('builtin.module' operation) //----- //
"builtin.module"() ({
}) : () -> ()
// -----// IR Dump After InlinerPass Failed: inline{max-iterations=4} ('builtin.module' operation) //----- //
"builtin.module"() ({
}) : () -> ()
"""


def test_dump_of_older_releases_is_read() -> None:
    dump = read(OLD).pipeline
    assert [step.pass_ for step in dump.steps] == ["inline", "canonicalize"]
    assert dump.steps[0].ir == "module {\n  %0 = tt.one\n\n  tt.return\n}\n"
    assert dump.steps[1].ir == "#blocked = #ttg.blocked<{a = 1}>\nmodule {\n}\n", (
        "what is said after a dump is not IR"
    )
    assert dump.failed is None
    assert dump.last == "canonicalize"


def test_dump_of_newer_releases_is_read() -> None:
    dump = read(NEW).pipeline
    assert [(step.pass_, step.ir) for step in dump.steps] == [
        ("inline", "module {\n}\n"),
        ("cse", "module {\n}\n"),
    ]
    assert dump.failed == "cse", "of nested passes the inner one"
    assert dump.last == "cse"


def test_output_without_ir_has_no_steps() -> None:
    assert read("no IR here\n").pipeline.steps == ()
    assert read("").pipeline.last is None


@for_each(
    ("one", "other"),
    [
        ("allocate-shared-memory", "allocate-shared-memory-nv"),
        ("tritongpu-coalesce", "triton-gpu-coalesce"),
        ("tritongpu-F32DotTC", "tritongpu-f32dottc"),
        ("tritongpu-prefetch", "tritonamdgpu-prefetch"),
        ("triton-nvidia-gpu-fence-insertion", "triton-nvidia-fence-insertion"),
        ("symbol-dce", "symbol-dce-pass"),
    ],
)
def test_renamed_passes_have_the_same_key(one: str, other: str) -> None:
    assert pass_key(one) == pass_key(other) != pass_key("cse")


def pipeline_of(text: str, failed: str | None = None) -> Pipeline:
    """Makes a pipeline from a text such as ``"inline:a cse:b"``.

    Each pass has the IR before it, a letter that stands for an operation.
    """
    parts = (part.split(":") for part in text.split())
    steps = tuple(Step(pass_=name, ir=f"module {{\n  tt.{ir}\n}}\n") for name, ir in parts)
    return Pipeline(steps=steps, failed=failed, pass_key=pass_key, canonical=canonical)


def parted(one: str, other: str) -> tuple[str | None, int, int | None, str | None] | None:
    split = pipeline.split(pipeline_of(one), pipeline_of(other))
    return (split.after, split.position, split.only_in, split.earlier) if split else None


def test_equal_pipelines_have_no_split() -> None:
    assert parted("a:x b:y c:z", "a:x b:y c:z") is None


def test_split_is_after_the_first_pass_that_makes_ir_differ() -> None:
    assert parted("a:x b:y c:z d:z", "a:x b:y c:w d:w") == ("b", 2, None, None)


def test_ir_that_differs_from_the_start_splits_before_all_passes() -> None:
    assert parted("a:x b:y", "a:w b:v") == (None, 0, None, None)


def test_difference_that_disappears_again_is_the_earlier_one() -> None:
    assert parted("a:x b:y c:z d:1 e:2", "a:x b:w c:z d:1 e:3") == ("d", 4, None, "a")
    assert parted("a:x b:y c:z d:1 e:2", "a:v b:y c:z d:1 e:3") == ("d", 4, None, "")


def test_split_names_a_pass_that_only_one_pipeline_runs() -> None:
    assert parted("a:x b:y c:z", "a:x new:y b:w c:w") == ("new", 1, 1, None)
    assert parted("a:x old:y b:w c:w", "a:x b:y c:z") == ("old", 2, 0, None)
    assert parted("a:x b:y c:z", "a:x idle:y b:y c:w") == (
        "b",
        2,
        None,
        None,
    ), "a pass that changes nothing parts nothing"
    assert parted("a:x b:y c:z", "a:x idle:y new:y b:w c:w") == ("new", 1, 1, None)


def test_pass_that_one_pipeline_did_not_reach_is_no_split() -> None:
    assert parted("a:x b:y c:z", "a:x b:y") is None


def test_split_has_the_ir_of_both_pipelines_after_the_pass() -> None:
    split = pipeline.split(pipeline_of("a:x b:y c:z"), pipeline_of("a:x b:y c:w"))
    assert isinstance(split, Split)
    assert (split.one, split.other) == ("module {\n  tt.z\n}\n", "module {\n  tt.w\n}\n")
