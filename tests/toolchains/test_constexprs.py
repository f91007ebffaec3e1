"""Every form of a constexpr's value, on every kind of release."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.bundle.bundle import bundle
from compat.config.toml import toml_text
from compat.model import BuiltEnv, Cell, Env, constexprs
from compat.reduce import Candidate, extract_functions, output
from compat.toolchains.triton.language.script import Form
from tests.cells import cell
from tests.together import for_each
from tests.toolchains.compiling import compile_all, failure_text, run_scripts

RELEASES = ("3.0.0", "3.2.0", "3.3.1", "3.4.0", "3.9.0")
INTEGERS = ("i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("fp16", "bf16", "fp32", "fp64")
VALUES: tuple[Any, ...] = (
    64,
    -1,
    0.5,
    True,
    'a "b"',
    None,
    (),
    (1,),
    (1, (True, {"dtype": "int32"})),
    {"torch_dtype": "float16"},
    {"layout": "gl.SliceLayout(0, gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0]))"},
)


@for_each("value", [*VALUES, {"function": "add"}, {"dtype": "fp8e5"}])
def test_a_written_value_is_read_again(value: Any) -> None:
    assert (
        constexprs.read(tomllib.loads(toml_text({"value": constexprs.plain(value)}))["value"])
        == value
    )
    ast.parse(constexprs.source(value))


def test_modules_and_functions_that_a_value_needs_are_listed() -> None:
    nested = [
        (1, ({"torch_dtype": "int8"}, {"function": "add"})),
        {"dtype": "int32"},
        {"function": "sub"},
    ]
    assert constexprs.modules(nested) == {"import torch", "import triton.language as tl"}
    assert constexprs.functions(nested) == ("add", "sub")
    assert constexprs.source((1, {"dtype": "bf16"}, {"function": "add"})) == "(1, tl.bfloat16, add)"
    assert constexprs.constexpr_text(((1,), {"torch_dtype": "int8"})) == "((1,), torch.int8)"


def of(env: BuiltEnv | Env, function: str, target: str = "sm_90", **values: Any) -> Cell:
    return cell(env, "told", function, target, constexprs=values)


@pytest.mark.wheels
@pytest.mark.parametrize("release", RELEASES)
def test_every_dtype_of_triton_compiles(release: str, built: Callable[[str], BuiltEnv]) -> None:
    env = built(f"triton-{release}")

    def kinds(*names: str) -> list[Any]:
        return [constexprs.read({"dtype": name}) for name in names]

    batches = (INTEGERS[:5], (*INTEGERS[5:], FLOATS[0]), (INTEGERS[0], *FLOATS))
    cells = [
        of(env, "zeros_of_kinds", BLOCK=64, **dict(zip("ABCDE", kinds(*batch), strict=True)))
        for batch in batches
    ]
    converted = kinds("int32", "fp8e5", "fp8e4nv")
    cells.append(of(env, "converted", BLOCK=64, **dict(zip("ABC", converted, strict=True))))
    for typed, evidence in zip(cells, compile_all(env, cells), strict=True):
        assert evidence.has_binary, (typed.spec.compile.constexprs, failure_text(evidence))


@pytest.mark.wheels
@pytest.mark.parametrize("release", RELEASES)
def test_kernels_can_read_from_constant_pointers_but_not_write(
    release: str, built: Callable[[str], BuiltEnv]
) -> None:
    env = built(f"triton-{release}")
    only_read = {"source": "*kfp32", "result": "*fp32", "size": "i32"}
    cells = [
        cell(env, "told", name, signature=only_read) for name in ("copied", "written_to_its_source")
    ]
    copied, written = compile_all(env, cells)
    assert copied.has_binary, failure_text(copied)
    assert not written.has_binary
    assert "Cannot store to a constant pointer" in failure_text(written)


@pytest.mark.wheels
@pytest.mark.parametrize("release", RELEASES)
def test_tuples_and_functions_compile_in_releases_that_support_them(
    release: str, built: Callable[[str], BuiltEnv]
) -> None:
    env = built(f"triton-{release}")
    cells = [
        of(env, "of_shape", SHAPE=(16, 32)),
        of(env, "combined", BLOCK=64, COMBINE={"function": "larger"}),
        of(env, "combined", BLOCK=64, COMBINE={"function": "smaller"}),
    ]
    shaped, combined, unknown = compile_all(env, cells)
    assert shaped.has_binary is (release in ("3.4.0", "3.9.0")), failure_text(shaped)
    assert shaped.has_binary or (
        shaped.stage == "ast" and "'constexpr' object is not subscriptable" in failure_text(shaped)
    )
    assert combined.has_binary is (release in ("3.3.1", "3.4.0", "3.9.0")), failure_text(combined)
    if not combined.has_binary:  # as the launchers of these releases say
        assert (combined.stage, combined.raised[0].type) == ("ast", "TypeError")
        assert "Callable constexpr at index COMBINE is not supported" in failure_text(combined)
    assert unknown.stage == "source"
    assert "'smaller'" in failure_text(unknown)


@pytest.mark.wheels
def test_dtypes_of_torch_are_the_same_with_torch_and_without(
    built: Callable[[str], BuiltEnv],
) -> None:
    """Without PyTorch a stand-in has the dtypes, and the evidence says so."""
    attempts = []
    for env in (built("triton-3.5.1-torch-2.9.1"), built("triton-3.5.1")):
        attempts += compile_all(
            env, [of(env, "by_torch", BLOCK=64, KIND={"torch_dtype": "float16"})]
        )
    there, absent = attempts
    assert (there.has_binary, absent.has_binary) == (True, True), failure_text(absent)
    assert [action.outputs for action in there.done] == [action.outputs for action in absent.done]
    assert (there.stood_in, bool(absent.stood_in)) == (None, True)


def test_functions_in_constexprs_are_bundled_and_extracted() -> None:
    spec = of(Env(name="any"), "combined", BLOCK=64, COMBINE={"function": "larger"}).spec
    alone = bundle(spec)
    assert "def larger(a, b):" in alone.text
    assert "def copied" not in alone.text
    text = extract_functions(
        alone.text, spec.function, *constexprs.functions(spec.compile.constexprs.values())
    )
    assert "def larger(a, b):" in text
    candidate = Candidate.of(spec, text)
    toml = output.kernel_file(
        candidate, kernel="k", case="c", source=Path("k.py"), summary="s", expectations=()
    )
    assert 'COMBINE = {function = "larger"}' in toml
    assert "pointer_range_32 = []" in toml


@pytest.mark.wheels
def test_scripts_with_several_forms_of_constexprs_or_a_question_about_the_target_run(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    env = built("triton-3.9.0")
    cells = [
        of(env, "combined", BLOCK=64, COMBINE={"function": "larger"}),
        of(env, "of_shape", SHAPE=(16, 32)),
        of(env, "zeros", BLOCK=64, KIND={"dtype": "int32"}),
        of(env, "for_hopper", BLOCK=64),
    ]
    run_scripts([cell.spec for cell in cells], env, Form.RANGED, tmp_path)
