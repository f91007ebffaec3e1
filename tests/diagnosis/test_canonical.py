"""Names make no difference between two IRs; anything else does."""

from __future__ import annotations

import re
from string import ascii_lowercase, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat.diagnosis.pipeline import difference
from compat.toolchains.mlir.canonical import canonical, canonical_code, canonical_llvm
from tests.together import for_each

IR = """\
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, instrShape = [16, 64, 16]}>
#dot = #ttg.dot_op<{opIdx = 0, parent = #mma}>
#loc = loc("kernel.py":66:1)
#loc9 = loc("source"(#loc))
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @looped(%source: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("source"(#loc)), %size: i32 loc(#loc9)) {
    %c0_i32 = arith.constant 0 : i32 loc(#loc)
    %c128_i32 = arith.constant 128 : i32 loc(#loc)
    %at = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked> loc(callsite(#loc at #loc9))
    %both:2 = tt.call @helper__i32(%c0_i32, %at) : (i32, tensor<128xi32, #blocked>) -> (i32, i32) loc(#loc)
    %total = scf.for %start = %c0_i32 to %size step %c128_i32 iter_args(%sum = %at) -> (tensor<128xi32, #blocked>)  : i32 {
      %next = arith.addi %sum, %at : tensor<128xi32, #blocked> loc(#loc)
      scf.yield %next : tensor<128xi32, #blocked> loc(#loc)
    } loc(#loc)
    cf.cond_br %both#1, ^bb1(%c0_i32 : i32), ^bb2 loc(#loc)
  ^bb1(%seen: i32):  // pred: ^bb0
    %x = ttg.convert_layout %total : tensor<128xi32, #blocked> -> tensor<128xi32, #dot> loc(#loc)
    tt.print "%d of #blocked" {hex = false} : %x, %seen : tensor<128xi32, #dot>, i32 loc(#loc)
    cf.br ^bb2 loc(#loc)
  ^bb2:  // 2 preds: ^bb0, ^bb1
    tt.return loc(#loc)
  } loc(#loc)
  tt.func private @helper__i32(%0: i32, %1: tensor<128xi32, #blocked>) -> (i32, i32) {
    tt.return %0, %0 : i32, i32 loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("a (strange) file.py":67:10)
"""
LETTERS = f"{ascii_lowercase}_"
VALUES = sorted(set(re.findall(r"%[a-z]\w*", IR)) - {"%d"})


def test_canonical_form_has_no_locations_and_names_values_by_operation() -> None:
    lines = canonical(IR).splitlines()
    assert lines[0].startswith("#blocked.")
    assert not any("loc(" in line or "#loc" in line for line in lines)
    assert "    %{0 : i32} = arith.constant 0 : i32" in lines
    assert any("%addi.0 = arith.addi %arg.3, %make_range.0" in line for line in lines)
    assert any('tt.print "%d of #blocked"' in line for line in lines), (
        "what stands in a string is no name"
    )
    assert any("cf.cond_br %call.0#1" in line for line in lines)


@given(
    st.lists(
        st.builds(
            str.__add__, st.sampled_from(LETTERS), st.text(LETTERS + digits, min_size=3, max_size=9)
        ),
        min_size=len(VALUES),
        max_size=len(VALUES),
        unique=True,
    )
)
def test_names_of_values_make_no_difference(names: list[str]) -> None:
    renamed = dict(zip(VALUES, (f"%{name}" for name in names), strict=True))
    text = re.sub(r"%[a-z]\w*", lambda match: renamed.get(match[0], match[0]), IR)
    assert canonical(text) == canonical(IR)


@for_each(
    ("old", "new"),
    [
        (r"#blocked\b(?!\")", "#blocked7"),
        (r"#mma\b", "#mma3"),
        (r"#dot\b", "#a"),
        (r"\^bb1\b", "^bb9"),
        (r"helper__i32", "helper____(i32, 'constexpr')"),
        (r"kernel\.py\":66:1", 'elsewhere.py":1:2'),
        (r"^( .*|})\s+loc\([^\n]*\)$", r"\1"),
        (r"//[^\n]*", ""),
        (r"end = 128 : i32, start = 0 : i32", "start = 0 : i32, end = 128 : i32"),
        (r"\bttg\.", "triton_gpu."),
    ],
)
def test_other_names_locations_and_comments_make_no_difference(old: str, new: str) -> None:
    lines = IR.splitlines()
    text = "\n".join(
        line if '"%d' in line and "#blocked" in old else re.sub(old, new, line) for line in lines
    )
    if "helper" in old:
        text = re.sub(r"@(helper\S*? 'constexpr'\))", r'@"\1"', text)
    assert text != IR
    assert difference(canonical(IR), canonical(text), ("one", "other")) == ""


def test_location_with_a_call_site_is_removed() -> None:
    nested = (
        '    %1 = tt.x loc(callsite("f (x)"("a.py":1:2) at fused["pass"(callsite(#loc at'
        ' "b\\")".py))]))\n'
    )
    assert canonical(nested) == "    %x.0 = tt.x\n"


def test_order_of_adjacent_constants_makes_no_difference() -> None:
    one, other = IR.splitlines()[7:9]
    assert "c0_i32" in one
    assert canonical(IR.replace(f"{one}\n{other}", f"{other}\n{one}")) == canonical(IR)


@for_each(
    ("old", "new"),
    [
        ("arith.addi", "arith.muli"),
        ("%sum, %at", "%at, %sum"),
        ("end = 128", "end = 64"),
        ('"ttg.num-warps" = 4', '"ttg.num-warps" = 8'),
        ("versionMajor = 3", "versionMajor = 2"),
        ("warpsPerCTA = [4]", "warpsPerCTA = [8]"),
        ("parent = #mma", "parent = #blocked"),
        ("%both#1", "%both#0"),
        ("^bb1(%c0_i32 : i32), ^bb2", "^bb2, ^bb1(%c0_i32 : i32)"),
        ("arith.constant 128", "arith.constant 127"),
        ("step %c128_i32", "step %c0_i32"),
        ("tensor<128xi32, #dot> loc", "tensor<128xi32, #blocked> loc"),
        ("hex = false", "hex = true"),
        ("%d of", "%x of"),
        ("    cf.br ^bb2 loc(#loc)\n", ""),
        ("public @looped", "public @other"),
        ("scf.yield %next", "scf.yield %sum"),
        ("tt.return %0, %0", "tt.return %0, %1"),
    ],
)
def test_anything_else_makes_a_difference(old: str, new: str) -> None:
    assert old in IR
    diff = difference(canonical(IR), canonical(IR.replace(old, new)), ("one", "other"))
    assert diff
    assert diff.startswith("--- one\n+++ other\n")


def test_different_layouts_of_one_kind_stay_different() -> None:
    layouts = "#a = #ttg.blocked<{order = [0]}>\n#b = #ttg.blocked<{order = [1]}>\n"
    assert canonical(f"{layouts}tt.x : #a, #b, #a\n") != canonical(f"{layouts}tt.x : #a, #b, #b\n")


def test_name_reused_in_a_sibling_region_is_a_different_value() -> None:
    def region(first: str, second: str) -> str:
        branches = [f"  {name} = tt.load %p\n  tt.store {name}\n" for name in (first, second)]
        return f"scf.if %c {{\n{branches[0]}}} else {{\n{branches[1]}}}\n"

    assert canonical(region("%1", "%1")) == canonical(region("%1", "%2"))


def test_value_used_before_its_definition_is_still_that_value() -> None:
    def text(used: str) -> str:
        ops = "  %a = llvm.add %p\n  %b = llvm.add %p\n"
        return (
            f"llvm.func @f(%p: i32) {{\n^bb1:\n  llvm.store {used}\n^bb2:\n{ops}  llvm.store %a\n"
        )

    assert canonical(text("%a")) != canonical(text("%b"))
    assert canonical(text("%a")) == canonical(text("%a").replace("%a", "%z"))


def test_one_more_operation_gives_a_short_diff() -> None:
    more = IR.replace("    %at = ", "    %extra = tt.get_program_id x : i32 loc(#loc)\n    %at = ")
    changed = [
        line
        for line in difference(canonical(IR), canonical(more), ("", "")).splitlines()[2:]
        if line[0] in "+-"
    ]
    assert changed == ["+    %get_program_id.0 = tt.get_program_id x : i32"]


def test_canonical_code_ignores_names_in_llvm_ir_and_ptx() -> None:
    one = (
        "define void @k(ptr %0) !dbg !7 {\n  %2 = add i32 %1, 1, !dbg !9 ; why\n  br label"
        " %3\n}\n!7 = distinct !DISubprogram()\n"
    )
    other = "define void @k(ptr %a) {\n  %9 = add i32 %b, 1\n  br label %4\n}\n"
    assert canonical_code(one) == canonical_code(other)
    assert canonical_code(one) != canonical_code(one.replace(", 1", ", 2"))
    ptx = "\t.loc\t1 66 0\n$L__BB0_1:\n\tadd.s32 %r1, %r2, %r2; // here\n\tbra $L__BB0_1;\n"
    assert canonical_code(ptx) == canonical_code(
        "$L__BB0_7:\n\tadd.s32 %r5, %r3, %r3;\n\tbra $L__BB0_7;\n"
    )
    assert canonical_code(ptx) != canonical_code(ptx.replace("%r2, %r2", "%r2, %r1"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("%tid.x", "%ctaid.x"),
        ("%ctaid.x", "%ctaid.y"),
        ("%laneid", "%warpid"),
        ("%clock64", "%globaltimer"),
    ],
)
def test_special_registers_of_ptx_keep_their_names(one: str, other: str) -> None:
    ptx = f"\tmov.u32 \t%r1, {one};\n\tadd.s32 \t%r2, %r1, 1;\n"
    assert canonical_code(ptx) == canonical_code(ptx.replace("%r", "%q"))
    assert canonical_code(ptx) != canonical_code(ptx.replace(one, other))


def test_comment_in_inline_assembly_hides_no_later_instruction() -> None:
    llvm = '  %1 = call i32 asm "mov.u32 $0, 5; // five\\0Aadd.u32 $0, $0, 1;", "=r"() ; why\n'
    assert canonical_code(llvm) == canonical_code(llvm.replace("why", "so"))
    assert canonical_code(llvm) != canonical_code(llvm.replace("$0, 1", "$0, 2"))


LLVM = """\
; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"

define void @k(ptr addrspace(1) %0, i32 %1) #0 !dbg !7 {
  %3 = call i32 asm "mov.u32 $0, %laneid;", "=r"(), !dbg !9
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1
  %5 = add i32 %3, %4
  ret void
}

; Function Attrs: nocallback nofree nosync
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { "nvvm.reqntid"="128" nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable memory(none) }
!nvvm.annotations = !{!4, !5}
!4 = !{ptr @k, !"kernel", i32 1}
!5 = !{ptr @k, !"reqntidx", i32 128}
!7 = distinct !DISubprogram(name: "k")
"""


@for_each(
    ("old", "new"),
    [
        ("e-i64:64", "e-p6:32:32-i64:64"),
        ("%5 = add", "%sum = add"),
        (
            "nocallback nofree nosync nounwind speculatable memory(none)",
            "nocallback nofree readnone",
        ),
        (
            "speculatable memory(none) }\n",
            "speculatable memory(none) }\nattributes #2 = { noreturn }\n",
        ),
        ("!5 = !{", "!6 = !{"),
        ('"128" nounwind', '"128"'),
        ('name: "k"', 'name: "other"'),
    ],
)
def test_additions_of_llvm_make_no_difference(old: str, new: str) -> None:
    assert LLVM.replace(old, new) != LLVM
    assert canonical_llvm(LLVM.replace(old, new)) == canonical_llvm(LLVM)


@for_each(
    ("old", "new"),
    [
        ("%laneid", "%warpid"),
        ("add i32 %3, %4", "add i32 %4, %3"),
        ("add i32", "add nsw i32"),
        ("i32 %1)", "i32 %1, ptr %2)"),
        ('"nvvm.reqntid"="128"', '"nvvm.reqntid"="256"'),
        ("i32 128}", "i32 256}"),
        ("tid.x() #1\n  ", "tid.y() #1\n  "),
    ],
)
def test_changes_of_tritons_code_make_a_difference(old: str, new: str) -> None:
    assert LLVM.replace(old, new) != LLVM
    assert canonical_llvm(LLVM.replace(old, new)) != canonical_llvm(LLVM)
