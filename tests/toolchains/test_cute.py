"""CuTe DSL: its facts, its kernel files, and what is read from artifacts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.version import Version

from compat import toolchains
from compat.config.env_tables import built_in_declarations
from compat.config.kernel_files import load_kernels
from compat.config.matrix import MatrixConfig, no_matrix
from compat.envs.cache import requirements
from compat.errors import ConfigError
from compat.model import BuiltEnv, Cell
from compat.toolchains.cute.inside.adapter import arguments, built
from tests.together import for_each
from tests.toolchains import cute_faces
from tests.toolchains.compiling import compile_all

CUTE = toolchains.look_up("cute")
REPOSITORY = Path(__file__).resolve().parents[2]
NEWEST, OLDEST = "4.8.1", "4.0.0"


@pytest.fixture
def nothing(tmp_path: Path) -> MatrixConfig:
    """A folder without a ``matrix.toml``."""
    return no_matrix(tmp_path)


# --- facts ----------------------------------------------------------------------------------------


def test_there_are_25_releases_in_the_order_of_versions() -> None:
    released = [
        env.release for env in built_in_declarations().envs if "cute-releases" in env.groups
    ]
    assert len(released) == 25
    assert (released[0], released[-1]) == (Version(OLDEST), Version(NEWEST))
    assert released == sorted(released, key=lambda release: release or Version("0"))


def test_the_name_of_an_env_determines_its_requirements(nothing: MatrixConfig) -> None:
    plain, extra = nothing.env("cute-4.8.1"), nothing.env("cute-4.8.1-cu13")
    assert requirements(plain) == ("nvidia-cutlass-dsl==4.8.1",)
    assert requirements(extra) == ("nvidia-cutlass-dsl==4.8.1", "nvidia-cutlass-dsl[cu13]")
    assert nothing.env("cute-4.9.0").distribution == "nvidia-cutlass-dsl"


@pytest.mark.parametrize("word", ["newest", ">=3.8", "3.9"])
def test_a_release_without_a_toolchain_is_one_of_triton(nothing: MatrixConfig, word: str) -> None:
    assert {env.toolchain for env in nothing.choose_envs([word])} == {"triton"}
    assert {env.toolchain for env in nothing.choose_envs(["cute-4.5.*"])} == {"cute"}


def test_the_default_envs_have_no_cute_dsl(nothing: MatrixConfig) -> None:
    assert {env.toolchain for env in nothing.choose_envs()} == {"triton"}


def test_each_target_has_its_limit_of_shared_memory() -> None:
    limits = {target.name: target.shared_memory // 1024 for target in CUTE.device.targets}
    assert limits == {"sm_80": 163, "sm_90a": 227, "sm_100a": 227, "sm_103a": 227, "sm_120a": 99}


# --- kernel files ---------------------------------------------------------------------------------


@for_each(
    "kind",
    [
        "fp16[m, 64]",
        "bf16[1024,k%8] align=32",
        "fp32[4, 8]:[8, 1]",
        "fp16[m, n]:[s, 1]",
        "i8[n] leading=0",
        "ptr<fp16>",
        "i32",
        "stream",
    ],
)
def test_a_valid_type_is_accepted(kind: str) -> None:
    assert CUTE.language.types.pattern.fullmatch(kind)


@for_each(
    "kind",
    [
        "*fp16",
        "fp16[]",
        "fp16[m n]",
        "fp16[0]",
        "f16[4]",
        "fp16[4]:[1] leading=0",
        "ptr<fp16",
        "constexpr",
    ],
)
def test_an_invalid_type_is_rejected(kind: str) -> None:
    assert not CUTE.language.types.pattern.fullmatch(kind)


def layout_of(kind: str) -> arguments._TensorLayout:
    match = arguments._TENSOR.fullmatch(kind)
    assert match
    return arguments._layout(match, {})


def test_a_type_determines_the_layout_of_a_tensor() -> None:
    compact = layout_of("fp16[m, 4, k%8]")
    assert (compact.shape, compact.strides, compact.dynamic) == (
        [64, 4, 512],
        [2048, 512, 1],
        {0: 1, 2: 8},
    )
    assert (compact.order, compact.alignment) == ((0, 1, 2), 16)
    assert layout_of("fp16[2, 4, 8] leading=0").strides == [1, 16, 2]
    strided = layout_of("fp16[2, 4]:[8, 1] align=8")
    assert (strided.shape, strided.strides, strided.alignment, strided.exact) == (
        [2, 4],
        [8, 1],
        8,
        "",
    )
    assert (
        layout_of("fp16[m, 64, k%8]:[1, s%16, t]").exact
        == "(?,64,?{div=8}):(1,?{i64 div=16},?{i64})"
    )
    with pytest.raises(ValueError, match="2 sizes and 1 strides"):
        layout_of("fp16[2, 4]:[1]")


def job(**facts: object) -> dict[str, object]:
    return {"signature": {}, "constexprs": {}, "options": {}, **facts}


def test_constexprs_are_arguments_of_a_class_and_of_its_call() -> None:
    class Kernel:
        def __init__(self, threads: int, stages: int = 2) -> None:
            self.made = (threads, stages)

        def __call__(self, count: int, scale: float = 0.5) -> None: ...

    kernel, values, _ = arguments.bind_arguments(
        Kernel, job(constexprs={"threads": 64, "count": 3})
    )
    assert (kernel.made, values) == ((64, 2), [3, 0.5])
    for constexprs, message in (
        ({"count": 3}, "gives no value to threads"),
        ({"threads": 64}, "no type or value to count"),
        ({"threads": 64, "count": 3, "other": 1}, "no parameter 'other'"),
    ):
        with pytest.raises(arguments.KernelFileError, match=message):
            arguments.bind_arguments(Kernel, job(constexprs=constexprs))


def test_options_become_one_text() -> None:
    assert arguments.options({}) == {}
    assert arguments.options({"opt-level": 2, "enable-assertions": True, "rdc": False}) == {
        "options": "--opt-level 2 --enable-assertions"
    }


def test_the_kernels_of_this_repository_can_be_read() -> None:
    specs = load_kernels(["kernels/cute/*.toml"], REPOSITORY)
    assert {spec.toolchain for spec in specs} == {"cute"}
    assert {spec.kernel for spec in specs} >= {"cute_copy", "cute_gemm_mma", "cute_rms_norm"}


def test_the_error_for_an_invalid_type_has_an_example(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text("def k(x): ...\n")
    path = tmp_path / "k.toml"
    path.write_text(
        'kernel = "k"\ntoolchain = "cute"\nsource = "k.py"\nsignature = { x = "*fp16" }\n'
    )
    with pytest.raises(ConfigError, match=r'expected a CuTe DSL type such as "fp16\[m, 64\]"'):
        load_kernels(["k.toml"], tmp_path)


# --- artifacts ------------------------------------------------------------------------------------

_NEW = """
  llvm.func @first() -> i32 {
    %0 = llvm.mlir.constant(99 : i64) : i64
  }
  llvm.func @launches(%arg0: i32) -> i32 {
    %0 = llvm.mlir.constant(4096 : i64) : i64
    %18 = llvm.getelementptr %12[0, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(array<3 x i32>, array<3 x i32>, i64, ptr)>
    llvm.store %0, %18 : i64, !llvm.ptr
  }
"""
_OLD = """
  func.func @launches(%arg0: i32) {
    %c1024_i32 = arith.constant 1024 : i32
    gpu.launch_func @k::@k blocks in (%1, %1, %1) threads in (%2, %1, %1) dynamic_shared_memory_size %c1024_i32 args(%arg0 : i32)
  }
"""


def test_dynamic_shared_memory_is_read_in_every_form() -> None:
    assert built.dynamic_shared("", _NEW) == 4096
    assert built.dynamic_shared(_OLD, "") == 1024
    assert built.dynamic_shared("", "") == 0
    assert built.dynamic_shared("", _NEW.replace("llvm.store %0", "llvm.store %arg0")) is None


def test_the_cubin_is_read_from_the_bytes_that_mlir_prints() -> None:
    module = r'llvm.mlir.global @b("P\EDU\BA\01\7FELF\02\\x\22") gpu'
    assert built.cubin_in(module) == b'\x7fELF\x02\\x"'
    assert built.cubin_in("module {}") is None
    assert built.facts_of(b"no ELF file") == {}


# --- on real wheels -------------------------------------------------------------------------------


def cells(env: BuiltEnv, on: str = "sm_90a") -> list[Cell]:
    """The cells of this repository's kernels in an env."""
    specs = load_kernels(["kernels/cute/*.toml"], REPOSITORY)
    return [Cell(env=env.env, target=cute_faces.target(on), spec=spec) for spec in specs]


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["4.2.1", "4.5.3", "4.6.1", NEWEST])
def test_a_copy_compiles_in_four_releases(cute: Callable[[str], BuiltEnv], release: str) -> None:
    env = cute(release)
    (copy_cell,) = (cell for cell in cells(env) if cell.spec.kernel == "cute_copy")
    (evidence,) = compile_all(env, [copy_cell])
    assert evidence.complete, evidence.raised
    assert evidence.metrics["registers"] == 10
    assert evidence.metrics["stack_bytes"] == evidence.metrics["shared"] == 0
    assert {"trace", "cubin"} <= set(evidence.metrics["artifacts"])


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["4.2.1", NEWEST])
def test_metrics_have_shared_memory_and_the_version_of_ptxas(
    cute: Callable[[str], BuiltEnv], release: str
) -> None:
    env = cute(release)
    norm_cells = [cell for cell in cells(env, "sm_100a") if cell.spec.kernel == "cute_rms_norm"]
    attempts = compile_all(env, norm_cells)
    assert [evidence.metrics["shared"] for evidence in attempts] == [16, 128]
    assert {evidence.metrics["ptxas"] for evidence in attempts} == {"12.9.83"}


def test_counts_of_copies_leave_out_groups_of_copies_and_stores() -> None:
    ptx = (
        "\tcp.async.cg.shared.global [%r1], [%rd2], 16;\n"
        "\tcp.async.commit_group;\n"
        "\tcp.async.wait_group 0;\n"
        "\tcp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1],"
        " [%rd1, {%r2, %r3}], [%r4];\n"
        "\tcp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r2, %r3}], [%r1];\n"
    )
    code = built.metrics({"trace": "", "ptx": ptx, "cubin": b""}, "")["code"]
    assert (code["cp_async"], code["tma_loads"]) == (1, 1)


@pytest.mark.wheels
def test_metrics_have_stack_bytes_and_counts_of_instructions(
    cute: Callable[[str], BuiltEnv],
) -> None:
    env = cute(NEWEST)
    attempts = compile_all(
        env, [cell for cell in cells(env) if cell.spec.kernel == "cute_gemm_mma"]
    )
    assert [evidence.metrics["code"]["mma"] for evidence in attempts] == [16, 128]
    assert [evidence.metrics["stack_bytes"] > 0 for evidence in attempts] == [False, True]


_CROWDED = """
import cutlass.cute as cute

@cute.kernel
def double(a: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    a[thread] = a[thread] + a[thread]

@cute.jit
def crowded(a: cute.Tensor):
    double(a).launch(grid=(1, 1, 1), block=(64, 1, 1), smem=4096, min_blocks_per_mp=2)
"""


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["4.2.1", "4.5.3", "4.6.1", NEWEST])
def test_a_kernel_that_wants_several_blocks_per_multiprocessor_needs_no_driver(
    cute: Callable[[str], BuiltEnv], tmp_path: Path, release: str
) -> None:
    (tmp_path / "crowded.py").write_text(_CROWDED)
    (tmp_path / "crowded.toml").write_text(
        'schema = 1\ntoolchain = "cute"\nkernel = "crowded"\nsource = "crowded.py"\n'
        'function = "crowded"\n[signature]\na = "fp16[n]"\n'
    )
    (spec,) = load_kernels(["crowded.toml"], tmp_path)
    env = cute(release)
    (evidence,) = compile_all(
        env, [Cell(env=env.env, target=cute_faces.target("sm_90a"), spec=spec)]
    )
    assert evidence.complete, evidence.raised
    assert evidence.metrics["shared"] == 4096
