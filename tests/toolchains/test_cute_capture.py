"""CuTe DSL: kernels that a program compiles and launches are captured without a GPU, and compile to
the program's own code.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compat import toolchains
from compat.bundle.bundle import bundle
from compat.capturing.capturing import capture_program
from compat.capturing.checking import Agreement, CodeCheck, Options, target_of
from compat.capturing.makers import Makers
from compat.config.kernel_files import load_kernels
from compat.model import BuiltEnv, Specialization
from compat.toolchains.cute.device import CAPTURING
from compat.toolchains.cute.inside.adapter.arguments import constructor
from compat.toolchains.cute.inside.recorder import arguments, launches, objects
from tests.together import for_each

PROGRAM = Path(__file__).parent / "cute_capture" / "program.py"
RELEASES = ("4.2.1", "4.5.3", "4.8.1")


@pytest.mark.wheels
@pytest.mark.parametrize("release", RELEASES)
def test_a_program_is_captured(
    release: str, built: Callable[[str], BuiltEnv], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    options = Options(
        toolchain="cute", output=tmp_path / "captured", check=CodeCheck.CASES, fake=True
    )
    capture = capture_program((str(PROGRAM),), options, python=built(f"cute-{release}").python)
    assert capture.program_end is not None
    assert capture.program_end.exit_code == 0
    assert capture.files.records.release == release
    assert [(comparison.agreement, comparison.why) for comparison in capture.comparisons] == [
        (Agreement.EQUAL, "")
    ] * 4
    originals = {
        launch.original.digest
        for launch in capture.files.records.launches.values()
        if launch.original
    }
    assert len(originals) == 4  # all four differ, so equal digests are evidence
    assert [str(kernel) for kernel in capture.files.not_captured] == [
        "program.py:run: is a method, and __call__ is the only captured method of an object"
    ]
    counts = {
        kernel.name: [case.count for case in kernel.cases] for kernel in capture.files.kernels
    }
    # The size of the third of three launches of copy is not a power of two.
    assert counts == {"Rows": [2, 1], "copy": [2, 1]}
    copied, _ = load_kernels([str(options.output / "copy.toml")], Path.cwd())
    assert copied.compile.signature == {"src": "fp16[src_0]", "dst": "fp16[dst_0]", "n": "i32"}
    first, second = load_kernels([str(options.output / "Rows.toml")], Path.cwd())
    assert first.compile.signature["x"] == "fp16[x_0, x_1%8]:[x_s0, 1]"
    assert first.compile.constexprs == {"threads": 64}
    assert second.compile.signature["x"] == "fp16[64, 128] align=32"
    assert second.compile.constexprs == {"threads": 128, "dtype": {"dtype": "bf16"}, "step": 2}
    source = (options.output / "Rows.py").read_text()
    assert "import made" not in source
    assert (
        source.index("class Step:")
        < source.index("class Faster(Step):")
        < source.index("Step.factor = len(NUMBERS)")
    )
    assert "    return Extra(bias=None, mode=Mode.DOUBLED)\n" in source


# --- facts that the recorder writes ---------------------------------------------------------------


class Inner:
    def __init__(self, first: int, second: int = 2, *, last: int = 3) -> None: ...


class Outer(Inner):
    def __init__(self, *rest: Any, own: int = 1, **options: Any) -> None: ...


def test_constructor_arguments_get_the_names_of_inherited_parameters() -> None:
    assert list(constructor(Outer)) == ["first", "second", "last", "own"]
    outer = Outer(1, 5, own=7)
    vars(outer)[objects._NOTED] = (1, 5), {"own": 7}
    assert objects.constructor_arguments(outer) == {"first": 1, "second": 5, "own": 7}
    assert objects.constructor_arguments(Inner(1)) is None
    assert objects.constructor_arguments(object()) == {}


def test_parameters_of_a_function_may_have_any_name() -> None:
    recording: Any = SimpleNamespace(now=SimpleNamespace(tracing=True), settings={"fake": True})
    run = launches._CompileLog(recording).watching(lambda *arguments, **named: (arguments, named))
    assert run("dsl", print, function=1, dsl=2) == (("dsl", print), {"function": 1, "dsl": 2})


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("", {}),
        ("--opt-level 2 --enable-tvm-ffi", {"opt-level": 2}),
        (
            "--ptxas-options '-O1 -v' --enable-assertions",
            {"ptxas-options": "-O1 -v", "enable-assertions": True},
        ),
        ("--gpu-arch=sm_90a --opt-level=1", {"opt-level": 1}),
    ],
)
def test_options_of_the_host_and_of_the_target_are_left_out(
    text: str, options: dict[str, Any]
) -> None:
    assert launches._options(text) == options


class Float16:
    """A class with the compiler's name for an element type."""


Float16.__module__ = "cutlass.base_dsl.typing"


@for_each(
    ("shape", "strides", "alignment", "kind"),
    [
        ([64, 128], [128, 1], 16, "fp16[64, 128]"),
        ([64, 128], [1, 64], 16, "fp16[64, 128]:[1, 64]"),
        (["m"], [1], 16, "fp16[m]"),
        (["m", "n%8"], ["s%8", 1], 32, "fp16[m, n%8]:[s%8, 1] align=32"),
        ([4], [1], 0, "fp16[4] align=2"),
    ],
)
def test_tensor_type_has_strides_that_do_not_follow_from_the_shape(
    shape: list[int | str], strides: list[int | str], alignment: int, kind: str
) -> None:
    assert arguments._text(Float16, shape, strides, alignment) == kind
    assert toolchains.look_up("cute").language.types.pattern.fullmatch(kind)


@for_each(
    ("text", "size"),
    [("64", 64), ("?", "n"), ("?{div=8}", "n%8"), ("?{i64}", "n"), ("?{i64 div=4}", "n%4")],
)
def test_sizes_are_read_in_the_ir_of_all_releases(text: str, size: int | str) -> None:
    assert arguments._size(text, "n") == size


def test_functions_beside_a_kernel_make_arguments_that_no_type_describes() -> None:
    makers = Makers(form=CAPTURING.frozen_form)
    tree = {
        "call": {"function": "Extra"},
        "with": {
            "bias": {"type": "fp32[n]"},
            "kind": {"constant": {"dtype": "bf16"}},
            "pair": {
                "items": [{"constant": 1}, {"member": {"function": "Mode"}, "of": "PLAIN"}],
                "list": False,
            },
        },
    }
    assert [makers.type_of("extra", tree), makers.type_of("other", tree)] == ["make_extra()"] * 2
    assert makers.type_of("extra", {"constant": {"none": True}}) == "make_extra_2()"
    assert (
        'return Extra(bias=make("fp32[n]"), kind=cutlass.BFloat16, pair=(1, Mode.PLAIN))\n'
        in makers.text
    )


def test_code_digest_ignores_kernel_names_and_lines() -> None:
    ptx = (
        ".visible .entry kernel_main_Rows_0(\n.param .u64 kernel_main_Rows_0_param_0\n)\n.loc 1 2"
        " 3\nadd.s32 %r1, %r2, 1;\n"
    )
    other = ptx.replace("main_Rows", "captured_Rows_object").replace(".loc 1 2 3\n", "")
    assert CAPTURING.digest(ptx) == CAPTURING.digest(other)
    assert CAPTURING.digest(ptx) != CAPTURING.digest(ptx.replace("add", "sub"))


def test_stand_in_gpu_has_the_facts_of_the_named_gpu() -> None:
    cute = toolchains.look_up("cute")
    facts = cute.device.facts(target_of("b200", cute))
    assert (facts["arch"], facts["gpu"], facts["multiprocessors"]) == (100, "NVIDIA B200", 148)


CIRCLE = """
class One:
    def other(self):
        return Two()


class Two(One):
    pass


One.later = 1


def kernel():
    return One().other()
"""


def test_bundle_keeps_a_base_class_before_the_subclass_that_it_uses(tmp_path: Path) -> None:
    (tmp_path / "circle.py").write_text(CIRCLE)
    spec = Specialization(
        kernel="k", variant="v", case="c", source=str(tmp_path / "circle.py"), function="kernel"
    )
    assert bundle(spec).text.split() == CIRCLE.split()
