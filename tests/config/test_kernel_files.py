"""Kernel files: how their tables merge, and the errors for invalid content."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.version import Version

from compat.config.kernel_files import kernel_paths, load_kernels
from compat.config.locks import read_locks
from compat.errors import ConfigError
from compat.guess.finding import sources
from compat.model import Specialization, Status
from tests.together import for_each

SOURCE = """
import triton
import triton.language as tl

@triton.jit
def load_grid(x, y, n, stride, BLOCK: tl.constexpr, DTYPE: tl.constexpr = None):
    pass

@triton.jit
def gathering(x, *args):
    pass

@triton.jit
def flagged(x, out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if not EVEN and BLOCK > 16:
        tl.store(out_ptr + at, tl.load(x + at, at < n))

if True:
    @triton.jit
    def load_loop(x, y, BLOCK: tl.constexpr):
        pass
"""

HEAD = 'schema = 1\nkernel = "load"\nsource = "load.py"\n'
TABLES = """
[signature]
x = "*fp16"
y = "*fp16"
n = "i32"
stride = "i32"
[constexprs]
BLOCK = 64
[hints]
divisible_by_16 = ["x", "n"]
equal_to_1 = ["stride"]
[options]
num_warps = 4
"""
CASE = '[[case]]\nname = "small"\n'
VARIANT = '[[variant]]\nname = "grid"\nfunction = "load_grid"\n'
WHOLE = HEAD + TABLES + CASE + VARIANT

Load = Callable[[str], tuple[Specialization, ...]]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels/load.py").write_text(SOURCE, encoding="utf-8")

    def write_and_load(text: str) -> tuple[Specialization, ...]:
        (tmp_path / "kernels/x.toml").write_text(text, encoding="utf-8")
        return load_kernels(["kernels/*.toml"], tmp_path)

    return write_and_load


def test_a_kernel_file_is_read(load: Load, tmp_path: Path) -> None:
    (spec,) = load(WHOLE)
    assert (spec.kernel, spec.variant, spec.case, spec.function) == (
        "load",
        "grid",
        "small",
        "load_grid",
    )
    assert spec.source == str(tmp_path / "kernels/load.py")
    assert spec.origin == "kernels/x.toml"
    assert spec.compile.signature == {"x": "*fp16", "y": "*fp16", "n": "i32", "stride": "i32"}
    assert spec.compile.constexprs == {"BLOCK": 64}
    assert (spec.compile.divisible_by_16, spec.compile.equal_to_1) == (("x", "n"), ("stride",))
    assert spec.compile.options == {"num_warps": 4}
    assert spec.expectations == ()
    assert len(spec.closure) == 64


LAYERS = """
signature = { y = "*fp32" }
constexprs = { BLOCK = 128, DTYPE = { dtype = "bf16" } }
hints = { divisible_by_16 = ["y"] }
options = { num_warps = 8, num_stages = 3 }
"""


def test_a_variant_overrides_the_kernel_and_a_case_overrides_both(load: Load) -> None:
    case = (
        CASE
        + 'constexprs = { BLOCK = 32 }\nsignature = { x = "*bf16" }\noptions = { num_stages = {'
        " drop = true } }\n"
    )
    (spec,) = load(HEAD + TABLES + case + VARIANT + LAYERS)
    assert spec.compile.signature == {"x": "*bf16", "y": "*fp32", "n": "i32", "stride": "i32"}
    assert spec.compile.constexprs == {"BLOCK": 32, "DTYPE": {"dtype": "bf16"}}
    assert spec.compile.divisible_by_16 == ("y",)
    assert spec.compile.equal_to_1 == ("stride",)
    assert spec.compile.options == {"num_warps": 8}


def test_a_type_of_a_constexpr_is_an_error(load: Load) -> None:
    with pytest.raises(
        ConfigError,
        match="'BLOCK' is a constexpr of the function, and the signature gives it a type",
    ):
        load(HEAD + TABLES.replace("[constexprs]\nBLOCK = 64", 'BLOCK = "i32"') + CASE + VARIANT)


TUPLES = """
[signature]
x = ["*fp16", "constexpr", ["i32", "*fp32"]]
y = "*fp16"
n = "i32"
stride = []
[constexprs]
BLOCK = 64
"x[1]" = 2.0
"""


def test_arguments_that_are_tuples_are_read(load: Load) -> None:
    (spec,) = load(
        HEAD
        + TUPLES
        + '[hints]\nequal_to_1 = ["x[2][0]"]\n'
        + CASE
        + 'constexprs = { "x[1]" = 3.0 }\n'
        + VARIANT
    )
    assert spec.compile.signature == {
        "x": ("*fp16", "constexpr", ("i32", "*fp32")),
        "y": "*fp16",
        "n": "i32",
        "stride": (),
    }
    assert spec.compile.constexprs == {"BLOCK": 64, "x[1]": 3.0}
    assert spec.compile.divisible_by_16 == ("x[0]", "x[2][1]", "y")
    assert spec.compile.equal_to_1 == ("x[2][0]",)


@for_each(
    ("was", "now", "where", "message"),
    [
        ('"x[1]" = 2.0', "", "variant[0]", "the element 'x[1]' is a constexpr and has no value"),
        (
            '"x[1]" = 2.0',
            '"x[1]" = 1\n"x[0]" = 2',
            "variant[0]",
            "'x[0]' has a value, but its type is '*fp16'",
        ),
        (
            '"x[1]" = 2.0',
            '"x[1]" = 1\n"x[7]" = 2',
            "variant[0]",
            "'x[7]' has a value, but the signature has no such element",
        ),
        ('"i32", "*fp32"', '"i32", "*fp31"', "signature.x[2][1]", "found '*fp31'"),
        ('y = "*fp16"', 'y = "constexpr"', "signature.y", "found 'constexpr'"),
        ('"i32", "*fp32"', '"i32", 3', "signature.x[2][1]", "found the number 3"),
        (
            "[constexprs]",
            '[hints]\nequal_to_1 = ["x[2]"]\n[constexprs]',
            "hints.equal_to_1[0]",
            "'x[2]' is not in any signature",
        ),
    ],
)
def test_invalid_tuples_are_errors_with_the_path_of_the_key(
    load: Load, was: str, now: str, where: str, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(HEAD + TUPLES.replace(was, now) + CASE + VARIANT)
    assert caught.value.where == f"kernels/x.toml: {where}"
    assert message in str(caught.value)


def test_none_is_a_value_of_a_constexpr(load: Load) -> None:
    (spec,) = load(HEAD + TABLES + CASE + VARIANT + "constexprs = { DTYPE = { none = true } }")
    assert spec.compile.constexprs == {"BLOCK": 64, "DTYPE": None}


@for_each(
    ("written", "read"),
    [
        ('{ dtype = "i32" }', {"dtype": "int32"}),
        ('{ dtype = "int32" }', {"dtype": "int32"}),
        ('{ dtype = "u8" }', {"dtype": "uint8"}),
        ('{ dtype = "i1" }', {"dtype": "int1"}),
        ('{ dtype = "float16" }', {"dtype": "fp16"}),
        ('{ dtype = "fp8e4b15" }', {"dtype": "fp8e4b15"}),
        ('{ torch_dtype = "bfloat16" }', {"torch_dtype": "bfloat16"}),
        ('{ function = "load_loop" }', {"function": "load_loop"}),
        ("[]", ()),
        (
            '[64, [true, { dtype = "fp32" }], { none = true }]',
            (64, (True, {"dtype": "fp32"}), None),
        ),
    ],
)
def test_every_form_of_a_constexpr_is_read(load: Load, written: str, read: object) -> None:
    (spec,) = load(HEAD + TABLES + CASE + VARIANT + f"constexprs = {{ DTYPE = {written} }}")
    assert spec.compile.constexprs["DTYPE"] == read


def test_a_read_only_pointer_type_is_kept(load: Load) -> None:
    (spec,) = load(WHOLE.replace('x = "*fp16"', 'x = "*kfp16"'))
    assert spec.compile.signature["x"] == "*kfp16"


GIVEN = '[hints]\ndivisible_by_16 = ["x", "n"]\nequal_to_1 = ["stride"]\n'


@for_each(
    ("kernel", "variant", "expected"),
    [
        ("", "", (("x", "y"), (), ("x", "y"))),
        (GIVEN, "", (("x", "n"), ("stride",), ("x", "y"))),
        ('hints = { equal_to_1 = ["stride"] }\n', "", (("x", "y"), ("stride",), ("x", "y"))),
        ("hints = { divisible_by_16 = [], pointer_range_32 = [] }\n", "", ((), (), ())),
        ('hints = "none"\n', "", ((), (), ())),
        (GIVEN, 'hints = "none"\n', ((), (), ())),
        ('hints = "none"\n', 'hints = { pointer_range_32 = ["y"] }\n', ((), (), ("y",))),
    ],
)
def test_missing_hints_of_pointers_are_those_that_a_launch_finds(
    load: Load, kernel: str, variant: str, expected: tuple[tuple[str, ...], ...]
) -> None:
    tables = TABLES.replace(GIVEN, kernel if kernel.startswith("[") else "")
    top = "" if kernel.startswith("[") else kernel
    (spec,) = load(HEAD + top + tables + CASE + VARIANT + variant)
    assert (
        spec.compile.divisible_by_16,
        spec.compile.equal_to_1,
        spec.compile.pointer_range_32,
    ) == expected
    assert ("pointer_range_32" in spec.assumed) is (
        "none" not in kernel + variant and "pointer_range_32" not in kernel
    )


def test_a_case_does_not_restore_what_a_variant_drops(load: Load) -> None:
    case = CASE + 'signature = { n = "i64" }\n'
    variant = (
        '[[variant]]\nname = "loop"\nfunction = "load_loop"\nsignature = { n = { drop = true },'
        " stride = { drop = true } }\n"
    )
    loop, grid = load(HEAD + TABLES + case + variant + VARIANT)
    assert loop.compile.signature == {"x": "*fp16", "y": "*fp16"}
    assert (loop.compile.divisible_by_16, loop.compile.equal_to_1) == (("x",), ())
    assert grid.compile.signature["n"] == "i64"


def test_a_variant_may_be_limited_to_some_cases(load: Load) -> None:
    cases = CASE + '[[case]]\nname = "large"\n[[case]]\nname = "largest"\n'
    specs = load(
        HEAD
        + TABLES
        + cases
        + VARIANT
        + 'cases = ["large*"]\n'
        + VARIANT.replace('"grid"', '"other"')
    )
    assert [(spec.variant, spec.case) for spec in specs] == [
        ("grid", "large"),
        ("grid", "largest"),
        ("other", "small"),
        ("other", "large"),
        ("other", "largest"),
    ]


def test_expectations_cover_their_releases_targets_and_cases(load: Load) -> None:
    removed = '[[variant.expect]]\nstatus = "rejected"\nclass = "api-removed"\nreleases = ">=3.9"\n'
    removed += 'targets = ["sm_*"]\ncases = ["small"]\n'
    always = '[[variant.expect]]\nstatus = "crashed"\nreason = "It always did."\n'
    (spec,) = load(WHOLE + removed + always)
    first, second = spec.expectations
    assert (first.status, first.failure_class) == (Status.REJECTED, "api-removed")
    assert first.covers(release=Version("3.9.0"), target="sm_80", case="small")
    assert not first.covers(release=Version("3.8.0"), target="sm_80", case="small")
    assert not first.covers(release=Version("3.9.0"), target="gfx942", case="small")
    assert (second.status, second.failure_class, second.reason) == (
        Status.CRASHED,
        None,
        "It always did.",
    )
    assert second.covers(release=Version("3.0.0"), target="gfx942", case="small")


GRID = "variant[0]: load_grid (case small)"

ERRORS = [
    ("schema = 1", "kernel: is missing"),
    (HEAD.replace("schema = 1", "schema = 9"), "schema: this program reads schema 1, found 9"),
    (HEAD, "function: load.py does not define a function 'load'"),
    (HEAD + 'function = "load_gird"', "function: load.py does not define a function 'load_gird'"),
    (HEAD + 'function = "load_loop"', "load_loop (case default): no type or value for x, y, BLOCK"),
    (WHOLE.replace("[options]", "[option]"), "option: unknown key"),
    (
        WHOLE.replace('"load"', '"a/b"'),
        "kernel: 'a/b' is not a valid name: use letters, digits and . _ + -, and first a letter, a"
        " digit or _",
    ),
    (WHOLE.replace("load.py", "gone.py"), "source: there is no file 'gone.py' next to this one"),
    (
        WHOLE + 'source = "gone.py"',
        "variant[0].source: there is no file 'gone.py' next to this one",
    ),
    (
        WHOLE.replace("load_grid", "load_gird"),
        "variant[0].function: load.py does not define a function 'load_gird'",
    ),
    (WHOLE.replace('function = "load_grid"', ""), "variant[0].function: is missing"),
    (WHOLE + VARIANT, "variant[1].name: the name 'grid' is already used by variant[0]"),
    (
        HEAD + TABLES + CASE + CASE + VARIANT,
        "case[1].name: the name 'small' is already used by case[0]",
    ),
    (WHOLE + "cases = ['big']", "variant[0].cases[0]: no case matches 'big'"),
    # types, values, hints
    (
        WHOLE.replace('x = "*fp16"', 'x = "*f16"'),
        'signature.x: expected a Triton type such as "*fp16" or "i32", found \'*f16\'',
    ),
    (
        WHOLE.replace('x = "*fp16"', 'x = "**fp16"'),
        'signature.x: expected a Triton type such as "*fp16" or "i32", found \'**fp16\'',
    ),
    (
        WHOLE.replace('x = "*fp16"', "x = 16"),
        'signature.x: expected a Triton type such as "*fp16" or "i32", found the number 16',
    ),
    (
        WHOLE + 'signature = { n = "int" }',
        'variant[0].signature.n: expected a Triton type such as "*fp16" or "i32", found \'int\'',
    ),
    (
        WHOLE.replace("BLOCK = 64", "BLOCK = { size = 64 }"),
        "constexprs.BLOCK: a table is not a valid constexpr value",
    ),
    (
        WHOLE.replace("BLOCK = 64", "BLOCK = [64, 1979-05-27]"),
        "constexprs.BLOCK[1]: a date is not a valid constexpr value",
    ),
    (
        WHOLE.replace("BLOCK = 64", 'BLOCK = { dtype = "half" }'),
        "constexprs.BLOCK: 'half' is not a dtype",
    ),
    (
        WHOLE.replace("BLOCK = 64", "BLOCK = { dtype = [1] }"),
        "constexprs.BLOCK: [1] is not a dtype",
    ),
    (
        WHOLE.replace("BLOCK = 64", 'BLOCK = { torch_dtype = "fp16" }'),
        "constexprs.BLOCK: 'fp16' is not a dtype of PyTorch",
    ),
    (
        WHOLE.replace("BLOCK = 64", 'BLOCK = [[{ dtype = "i3" }]]'),
        "constexprs.BLOCK[0][0]: 'i3' is not a dtype",
    ),
    (
        WHOLE.replace("BLOCK = 64", 'BLOCK = { function = "load_lop" }'),
        f"{GRID}: a constexpr names the function 'load_lop', which load.py does not define",
    ),
    (
        WHOLE.replace('x = "*fp16"', 'x = "kfp16"'),
        'signature.x: expected a Triton type such as "*fp16" or "i32", found \'kfp16\'',
    ),
    (
        WHOLE + 'hints = "non"',
        "variant[0].hints: expected a table, or 'none', found the string 'non'",
    ),
    (
        WHOLE + "options = { mine = [4, [{}]] }",
        "variant[0].options.mine[1][0]: a table is not a valid option value",
    ),
    *(
        (WHOLE + f"options = {{ {name} = {value} }}", f"variant[0].options.{name}: {message}")
        for name, value, message in (
            ("num_warps", '"4"', "expected a whole number, found the string '4'"),
            ("num_warps", '"many"', "expected a whole number, such as 4, found the string 'many'"),
            ("num_warps", "true", "expected a whole number, such as 4, found the boolean true"),
            ("num_warps", "4.0", "expected a whole number, such as 4, found the number 4.0"),
            ("num_warps", "-4", "must be 1 or more, found -4"),
            ("num_warps", "6", "must be a power of two, found 6"),
            ("num_ctas", "3", "must be a power of two, found 3"),
            ("num_stages", '"3"', "expected a whole number, found the string '3'"),
            ("num_stages", "-1", "must be 0 or more, found -1"),
            ("maxnreg", "0", "must be 1 or more, found 0"),
            ("enable_fp_fusion", "1", "expected a boolean, such as true, found the number 1"),
            ("enable_fp_fusion", '"true"', "expected a boolean, found the string 'true'"),
            ("ptx_options", "3", 'expected a string, such as "tf32", found the number 3'),
        )
    ),
    (
        WHOLE.replace('["x", "n"]', '"x"'),
        "hints.divisible_by_16: expected an array, such as [\"…\"], found the string 'x'",
    ),
    (
        WHOLE.replace('["stride"]', '["y"]'),
        "hints.equal_to_1[0]: 'y' has the type '*fp16'; only whole numbers have this hint",
    ),
    (
        WHOLE + "hints = { pointer_range_32 = ['n'] }",
        (
            "variant[0].hints.pointer_range_32[0]: 'n' has the type 'i32'; only pointers have this"
            " hint"
        ),
    ),
    (
        WHOLE.replace('stride = "i32"', 'stride = "fp32"')
        .replace("equal_to_1", "#")
        .replace('"n"]', '"stride"]'),
        (
            "hints.divisible_by_16[1]: 'stride' has the type 'fp32'; only pointers and whole"
            " numbers have this hint"
        ),
    ),
    (WHOLE + "hints = { div = [] }", "variant[0].hints.div: unknown key"),
    (
        WHOLE.replace('["x", "n"]', '["x", "m"]'),
        "hints.divisible_by_16[1]: 'm' is not in any signature of this kernel",
    ),
    # arguments against the function
    (
        WHOLE + "constexprs = { BLCK = 1 }",
        f"{GRID} has no parameter 'BLCK', but the tables give it a type or a value",
    ),
    (
        HEAD + 'function = "gathering"\nsignature = { x = "*fp32", args = ["i32"] }',
        "gathering (case default) takes any number of arguments as 'args', which a kernel file"
        " cannot describe",
    ),
    (WHOLE + "signature = { n = { drop = true } }", f"{GRID}: no type or value for n"),
    (WHOLE + "constexprs = { n = 1 }", f"{GRID}: 'n' is in the signature and among the constexprs"),
    # expectations
    (WHOLE + "[[variant.expect]]", "variant[0].expect[0].status: is missing"),
    (
        WHOLE + '[[variant.expect]]\nstatus = "rejectd"',
        "variant[0].expect[0].status: 'rejectd' is not a status that a kernel file can declare",
    ),
    (
        WHOLE + '[[variant.expect]]\nstatus = "lost"',
        "variant[0].expect[0].status: 'lost' is not a status that a kernel file can declare",
    ),
    (
        WHOLE + '[[variant.expect]]\nstatus = "rejected"\nclass = "typo"',
        "variant[0].expect[0].class: 'typo' is not a failure class",
    ),
    (
        WHOLE + '[[variant.expect]]\nstatus = "rejected"\ncases = ["big"]',
        "variant[0].expect[0].cases[0]: no case matches 'big'",
    ),
    (
        WHOLE + '[[variant.expect]]\nstatus = "ok"\nreleases = "3.9"',
        "variant[0].expect[0].releases: '3.9' is not a version specifier, such as \">=3.1,<3.9\"",
    ),
]


@for_each(("text", "message"), ERRORS)
def test_an_error_names_the_path_of_the_key(load: Load, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(text)
    assert str(raised.value) == f"kernels/x.toml: {message}"


def test_error_for_a_call_with_a_function_says_that_it_takes_literals(load: Load) -> None:
    with pytest.raises(ConfigError) as raised:
        load(HEAD + 'function = "load_grid(act)"')
    assert "has no function 'load_grid(act)'" in str(raised.value)
    assert str(raised.value.hint).endswith(" A call takes only literals.")


SEVERAL = """
schema = 1
source = "load.py"
summary = "Loads."

[signature]
x = "*fp16"
y = "*fp16"

[hints]
divisible_by_16 = ["x", "n"]

[options]
num_warps = 2

[[kernel]]
name = "load_grid"
signature = { n = "i32", stride = "i32" }
constexprs = { BLOCK = 64 }

[[kernel]]
name = "loop"
function = "load_loop"
summary = "In a loop."
signature = { y = "*fp32" }
options = { num_warps = 8 }
[[kernel.case]]
name = "small"
constexprs = { BLOCK = 16 }
[[kernel.case]]
name = "large"
constexprs = { BLOCK = 1024 }
"""


def test_several_kernels_in_one_file_inherit_from_the_top_tables(load: Load) -> None:
    grid, small, large = load(SEVERAL)
    assert [
        (spec.kernel, spec.variant, spec.case, spec.function) for spec in (grid, small, large)
    ] == [
        ("load_grid", "as_written", "default", "load_grid"),
        ("loop", "as_written", "small", "load_loop"),
        ("loop", "as_written", "large", "load_loop"),
    ]
    assert grid.compile.signature == {"x": "*fp16", "y": "*fp16", "n": "i32", "stride": "i32"}
    assert small.compile.signature == {"x": "*fp16", "y": "*fp32"}
    assert [spec.compile.options for spec in (grid, small, large)] == [
        {"num_warps": number} for number in (2, 8, 8)
    ]
    assert [spec.compile.divisible_by_16 for spec in (grid, small)] == [("x", "n"), ("x",)]
    assert [spec.summary for spec in (grid, small)] == ["Loads.", "In a loop."]
    assert {Path(spec.source).name for spec in (grid, small)} == {"load.py"}


SEVERAL_WRONG = [
    (
        SEVERAL.replace('name = "loop"', 'name = "load_grid"'),
        "kernel[1].name: the name 'load_grid' is already used by kernel[0]",
    ),
    (
        SEVERAL.replace('function = "load_loop"', ""),
        "kernel[1].function: load.py does not define a function 'loop'",
    ),
    (SEVERAL.replace('source = "load.py"', ""), "source: is missing"),
    (
        SEVERAL.replace('"load.py"', '"gone.py"'),
        "source: there is no file 'gone.py' next to this one",
    ),
    (
        SEVERAL.replace("BLOCK = 1024", "BLCK = 1"),
        "kernel[1]: load_loop (case large) has no parameter 'BLCK', but the tables",
    ),
    (
        SEVERAL.replace('["x", "n"]', '["m"]'),
        "hints.divisible_by_16[0]: 'm' is not in any signature of this file",
    ),
    (SEVERAL.replace("[options]", "[[case]]\nname = 'a'\n[options]"), "case: unknown key"),
    (SEVERAL.replace('name = "loop"', 'kernel = "loop"'), "kernel[1].name: is missing"),
    ("schema = 1\nkernel = []", "kernel: declares no kernel"),
    ("schema = 1\nkernel = ['a']", "kernel[0]: expected a table, found the string 'a'"),
]


@for_each(("text", "message"), SEVERAL_WRONG)
def test_an_error_in_one_of_several_kernels_names_the_path_of_the_key(
    load: Load, text: str, message: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        load(text)
    assert str(raised.value).startswith(f"kernels/x.toml: {message}")


def test_one_of_several_kernels_that_another_file_declares_is_an_error(
    load: Load, tmp_path: Path
) -> None:
    (tmp_path / "kernels/a.toml").write_text(
        HEAD.replace('"load"', '"loop"') + TABLES + CASE + VARIANT, encoding="utf-8"
    )
    with pytest.raises(ConfigError) as raised:
        load(SEVERAL)
    assert (
        str(raised.value)
        == "kernels/x.toml: kernel[1].name: the kernel 'loop' is already declared in kernels/a.toml"
    )


def test_a_source_that_does_not_parse_is_an_error(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels/load.py").write_text("def f(:\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"^kernels/x\.toml: source: kernels/load\.py, line 1: "):
        load(WHOLE)
    (tmp_path / "kernels/load.py").write_bytes(b"x = '\xff'\n")
    with pytest.raises(ConfigError, match=r"^kernels/x\.toml: source: kernels/load\.py, line 1: "):
        load(WHOLE)


@pytest.mark.parametrize("first", [b"", b"# coding: utf-8\n", b"\n\n"])
def test_a_source_that_cannot_be_decoded_is_an_error(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bytes
) -> None:
    """Python ignores such bytes in comments."""
    monkeypatch.chdir(tmp_path)
    load(WHOLE)
    source = tmp_path / "kernels/load.py"
    content = source.read_bytes()
    source.write_bytes(first + b"# \xe4\n" + content)
    line = 1 + first.count(b"\n")
    with pytest.raises(ConfigError) as raised:
        load(WHOLE)
    assert str(raised.value) == (
        f"kernels/x.toml: source: kernels/load.py, line {line}: cannot be decoded: 'utf-8' codec"
        f" can't decode byte 0xe4 in position {len(first) + 2}: invalid continuation byte"
    )
    assert "Save the file as UTF-8, or declare its encoding" in str(raised.value.hint)
    source.write_bytes(b"# coding: latin-1\n# \xe4\n" + content)
    load(WHOLE)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (b"caf\xe9", r"load\.py cannot be read: 'utf-8' codec"),
        (b'5" pipe', r"load\.py: some assemblers cannot read a path with a quotation mark"),
    ],
)
def test_a_source_at_a_path_that_no_compiler_reads_is_an_error(
    load: Load, tmp_path: Path, name: bytes, message: str
) -> None:
    load(WHOLE)
    folder = tmp_path / os.fsdecode(name)
    (tmp_path / "kernels").rename(folder)
    with pytest.raises(ConfigError, match=message):
        load_kernels([str(folder / "x.toml")], tmp_path)


def test_a_pattern_that_matches_no_kernel_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        load_kernels(["kernels/*.toml"], tmp_path)
    assert str(raised.value) == "matrix.toml: kernels[0]: no kernel file matches 'kernels/*.toml'"


def test_a_kernel_in_two_files_is_an_error(load: Load, tmp_path: Path) -> None:
    (tmp_path / "kernels/a.toml").write_text(WHOLE, encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        load(WHOLE)
    assert (
        str(raised.value)
        == "kernels/x.toml: kernel: the kernel 'load' is already declared in kernels/a.toml"
    )


def test_the_hint_about_another_file_says_which_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "kernels.ipynb").write_text('{"cells": []}')
    with pytest.raises(ConfigError, match="is not valid TOML") as raised:
        load_kernels(["kernels.ipynb"], tmp_path)
    assert raised.value.hint is not None
    assert ".py" in raised.value.hint
    lock = tmp_path / "matrix.lock"
    lock.write_text("{")
    with pytest.raises(ConfigError, match=r"matrix\.lock: is not valid TOML") as raised:
        read_locks(lock)
    assert raised.value.hint is None


def test_a_glob_matches_no_other_files_of_a_project(tmp_path: Path) -> None:
    for name in ("a.toml", "matrix.toml", "pyproject.toml"):
        (tmp_path / name).touch()
    assert kernel_paths(["*.toml"], tmp_path, None) == (tmp_path / "a.toml",)
    assert kernel_paths(["matrix.toml"], tmp_path, None) == (tmp_path / "matrix.toml",)


def test_a_path_with_signs_of_globs_means_itself(tmp_path: Path) -> None:
    folder = tmp_path / "my[1]"
    folder.mkdir()
    for name in ("a[2].toml", "a2.toml"):
        (folder / name).write_text(WHOLE, encoding="utf-8")
    (folder / "load.py").write_text(SOURCE, encoding="utf-8")
    for pattern in ("a[2].toml", str(folder / "a[2].toml")):
        assert kernel_paths([pattern], folder, None) == (folder / "a[2].toml",)
    assert kernel_paths(["a[2-3].toml"], folder, None) == (folder / "a2.toml",)
    assert sources(str(folder / "load.py"), tmp_path) == [folder / "load.py"]


def test_a_file_that_several_globs_and_paths_match_is_read_once(load: Load, tmp_path: Path) -> None:
    load(WHOLE)
    path = tmp_path / "kernels/x.toml"
    assert len(load_kernels(["kernels/*.toml", "kernels/x.toml", str(path)], tmp_path)) == 1
    (elsewhere,) = load_kernels([str(path)], tmp_path / "kernels")
    assert elsewhere.origin == "x.toml"


HINTS_GIVEN = [
    (WHOLE.replace("num_warps = 4", 'num_warps = "4"'), "Write it without quotes: num_warps = 4."),
    (
        WHOLE.replace("num_warps = 4", "num_warps = 6"),
        "No Triton release compiles with 6; 4 and 8 are the nearest.",
    ),
    (
        WHOLE + '[[variant.expect]]\nstatus = "ok"\nreleases = ">=3.1,=<3.8"',
        "Did you mean '>=3.1,<=3.8'?",
    ),
    (
        HEAD + 'function = "flagged"',
        (
            'Add BLOCK = 64, EVEN = true to [constexprs] and x = "*fp32", out_ptr = "*fp32", n ='
            ' "i32" to [signature]. Replace these examples with what a launch passes.'
        ),
    ),
    (
        HEAD + 'function = "flagged"\n[launch]\nx = "*fp32"\n',
        (
            'Add BLOCK = 64, EVEN = true to [constexprs] and out_ptr = "*fp32", n = 4096 to'
            " [launch]. Replace these examples with what a launch passes."
        ),
    ),
]


@for_each(("text", "hint"), HINTS_GIVEN)
def test_the_hint_of_an_error_says_what_to_write(load: Load, text: str, hint: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(text)
    assert raised.value.hint == hint
