"""CuTe DSL: guessed kernel files, arguments that a function beside the kernel makes, and the cells
that are compiled by default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from compat import init, toolchains
from compat.config.kernel_files import load_kernels
from compat.config.toml import without_notes
from compat.diagnosis.classify import classify
from compat.errors import ConfigError
from compat.guess.guessing import guess_sources, load_sources
from compat.model import BuiltEnv, Cell, CompileSpec, Specialization
from compat.project import select
from compat.reduce.candidate import Candidate, apply_edits
from compat.reduce.expressions import unused_parameters
from compat.toolchains.cute.inside.adapter import arguments
from compat.toolchains.cute.language.guessing import library
from tests.together import for_each
from tests.toolchains import cute_faces
from tests.toolchains.compiling import compile_all

CUTE = toolchains.look_up("cute")
HEAD = """
import argparse
import torch
import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import from_dlpack, make_ptr

@cute.kernel
def kernel(x: cute.Tensor, y: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    y[thread, 0] = x[thread, 0]
"""
PLAIN = """
@cute.jit
def copy(x: cute.Tensor, y: cute.Tensor, n: cutlass.Int32, stream: cuda.CUstream, threads: cutlass.Constexpr[int] = 32):
    kernel(x, y).launch(grid=(n, 1, 1), block=(threads, 1, 1), stream=stream)
"""


def guessed(tmp_path: Path, text: str) -> dict[str, dict[str, Any]]:
    """Kernel → the tables of its guessed kernel file."""
    (tmp_path / "k.py").write_text(text)
    sources = [
        source for source in guess_sources([tmp_path / "k.py"]) if source.toolchain == "cute"
    ]
    return {
        kernel.name: without_notes(kernel.tables) for source in sources for kernel in source.kernels
    }


# --- arguments from a call in the source ----------------------------------------------------------


def test_arguments_are_those_of_the_call_that_compiles(tmp_path: Path) -> None:
    host = """
def run(m, n, dtype):
    x = torch.randn(m, n, device="cuda", dtype=torch.bfloat16)
    y = torch.empty(n, m, dtype=dtype).t()
    x_ = from_dlpack(x, assumed_align=16).mark_layout_dynamic(leading_dim=1)
    y_ = from_dlpack(y, assumed_align=32).mark_compact_shape_dynamic(mode=0, stride_order=(1, 0), divisibility=8)
    compiled = cute.compile(copy, x_, y_, 5, cuda.CUstream(torch.cuda.current_stream().cuda_stream))

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", default=(64, 128))
    args = parser.parse_args()
    run(*args.shape, torch.float32)
"""
    tables = guessed(tmp_path, HEAD + PLAIN + host)["copy"]
    assert tables == {
        "signature": {
            "x": "bf16[m, n]:[s0, 1]",
            "y": "fp32[m%8, 128] leading=0 align=32",
            "n": "i32",
            "stream": "stream",
        }
    }


def test_element_size_is_that_of_the_tensor(tmp_path: Path) -> None:
    host = """
def run(m, n):
    x = torch.randn(m, n, device="cuda", dtype=torch.float32)
    cute.compile(copy, from_dlpack(x), from_dlpack(x), 5, cuda.CUstream(0), threads=16 * x.element_size())
"""
    assert guessed(tmp_path, HEAD + PLAIN + host)["copy"]["constexprs"] == {"threads": 64}


@pytest.mark.parametrize("value", ["0", "fill_value=0"])
def test_tensor_made_like_another_has_its_type(tmp_path: Path, value: str) -> None:
    host = f"""
def run(m, n):
    x = torch.randn(m, n, device="cuda", dtype=torch.bfloat16)
    y = torch.full_like(x, {value})
    cute.compile(copy, from_dlpack(x), from_dlpack(y), 5, cuda.CUstream(0))
"""
    signature = guessed(tmp_path, HEAD + PLAIN + host)["copy"]["signature"]
    assert signature["y"] == signature["x"]
    assert signature["y"].startswith("bf16")


def test_size_with_unknown_divisibility_gets_no_divisor(tmp_path: Path) -> None:
    host = """
def run(width):
    width &= 7
    x = cute.runtime.make_fake_compact_tensor(
        torch.float16, (cute.sym_int(divisibility=width), cute.sym_int(divisibility=8)), stride_order=(1, 0)
    )
    cute.compile(copy, x, x, 5, cuda.CUstream(0))
"""
    signature = guessed(tmp_path, HEAD + PLAIN + host)["copy"]["signature"]
    assert signature["x"] == "fp16[m, n%8] align=2"


def test_without_a_call_types_come_from_annotations_and_the_body(tmp_path: Path) -> None:
    assert guessed(tmp_path, HEAD + PLAIN)["copy"] == {
        "signature": {"x": "fp16[m, n%8]", "y": "fp16[m, n%8]", "n": "i32", "stream": "stream"}
    }


@pytest.mark.parametrize("statement", ["from p.data import pair", "from ..data import pair"])
def test_arguments_come_from_helpers_of_the_same_package(tmp_path: Path, statement: str) -> None:
    folder = tmp_path / "p" / "sub"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent):
        (package / "__init__.py").touch()
    (folder.parent / "data.py").write_text(
        "import torch\ndef pair(n):\n    return [torch.empty(n, 64, dtype=torch.bfloat16)] * 2\n"
    )
    host = """
def run():
    x, y = pair(32)
    copy(from_dlpack(x), from_dlpack(y), 5, cuda.CUstream(0))
"""
    signature = guessed(folder, f"{statement}{HEAD}{PLAIN}{host}")["copy"]["signature"]
    assert (signature["x"], signature["y"]) == ("bf16[32, 64] align=2", "bf16[32, 64] align=2")


BRANCHES = """
@cute.kernel
def inner(x: cute.Tensor, y: cute.Tensor, flat: cutlass.Constexpr):
    if cutlass.const_expr(flat):
        y[0] = x[0]
    else:
        y[0, 0] = x[0, 0, 0]
"""


@pytest.mark.parametrize(
    "launcher",
    [
        """
@cute.jit
def outer(x: cute.Tensor, y: cute.Tensor, w: cute.Tensor | None, flat: cutlass.Constexpr[bool] = True):
    if cutlass.const_expr(w is not None):
        b, m, n = x.shape
    inner(x, y, flat).launch(grid=(1, 1, 1), block=(32, 1, 1))
""",
        """
class outer:
    def __init__(self, rows: int, is_deep: bool, flat: bool = True):
        self.rows, self.deep = rows, is_deep
        self.flat = flat

    @cute.jit
    def __call__(self, x: cute.Tensor, y: cute.Tensor):
        self.check(x)
        inner(x, y, self.flat).launch(grid=(1, 1, 1), block=(32, 1, 1))

    @cute.jit
    def check(self, x: cute.Tensor):
        if self.deep:
            b, m, n = x.shape
""",
    ],
)
def test_modes_of_tensors_come_from_branches_that_are_compiled(
    tmp_path: Path, launcher: str
) -> None:
    signature = guessed(tmp_path, HEAD + BRANCHES + launcher)["outer"]["signature"]
    assert signature == {"x": "fp16[m%8]", "y": "fp16[m%8]"}


def test_each_parameter_of_a_function_that_is_called_twice_has_its_own_modes(
    tmp_path: Path,
) -> None:
    source = """
@cute.jit
def both(a, b):
    m, n, k = b.shape
    a[0] = b[0, 0, 0]

@cute.jit
def outer(x: cute.Tensor, y: cute.Tensor, z: cute.Tensor):
    both(x, y)
    both(x, z)
    inner(x, y).launch(grid=(1, 1, 1), block=(32, 1, 1))

@cute.kernel
def inner(x: cute.Tensor, y: cute.Tensor):
    pass
"""
    signature = guessed(tmp_path, HEAD + source)["outer"]["signature"]
    assert {name: kind.count(",") + 1 for name, kind in signature.items()} == {
        "x": 1,
        "y": 3,
        "z": 3,
    }


@for_each(
    ("line", "targets"),
    [
        ("from cutlass.cute.nvgpu import cpasync, tcgen05", ["sm_100a"]),
        ("OP = cute.nvgpu.tcgen05.MmaF16BF16Op", ["sm_100a"]),
        ("from cutlass.cute.nvgpu import warpgroup", ["sm_90a"]),
        ("from cutlass.cute.nvgpu import tcgen05, warpgroup", None),
        ("from cutlass.cute.nvgpu import cpasync", None),
        ("tcgen05 = 'a word'", None),
    ],
)
def test_target_is_guessed_from_operations_of_one_architecture(
    tmp_path: Path, line: str, targets: list[str] | None
) -> None:
    assert guessed(tmp_path, HEAD + line + PLAIN)["copy"].get("targets") == targets


def test_constexprs_of_a_class_are_its_constructor_arguments(tmp_path: Path) -> None:
    source = """
class Fmha:
    def __init__(self, dtype: type[cutlass.Numeric], head_dim: int, tile_mn: tuple[int, int], is_causal: bool = False):
        self.head_dim = head_dim

    @cute.jit
    def __call__(self, q: cute.Tensor, scale: cutlass.Float32):
        b, s, h, d = q.shape
        kernel(q, q).launch(grid=(1, 1, 1), block=(32, 1, 1))
"""
    tables = guessed(tmp_path, HEAD + source)["Fmha"]
    assert tables["constexprs"] == {
        "dtype": {"dtype": "fp16"},
        "head_dim": 64,
        "tile_mn": [128, 128],
    }
    assert tables["signature"] == {"q": "fp16[m, n, k, l%8]", "scale": "fp32"}
    with_call = guessed(
        tmp_path,
        HEAD + source + "\nf = cute.compile(Fmha(cutlass.BFloat16, 128, (64, 64), True), 1, 0.5)\n",
    )
    assert with_call["Fmha"]["constexprs"] == {
        "dtype": {"dtype": "bf16"}, "head_dim": 128, "tile_mn": [64, 64], "is_causal": True,
    }  # fmt: skip


def test_guessed_constructor_numbers_fit_divisions_and_assertions(tmp_path: Path) -> None:
    source = """
class Fmha:
    def __init__(self, head_dim: int, k_tile: int, kv_blocks: int, warps: int):
        assert warps == 6 or kv_blocks == 0
        self.head_dim, self.k_tile = head_dim, k_tile
        self.unrolled = kv_blocks

    @cute.jit
    def __call__(self, q: cute.Tensor, k: cute.Tensor):
        parts = self.head_dim // self.k_tile
        kernel(q, k).launch(grid=(1, 1, 1), block=(32, 1, 1))
"""
    constexprs = guessed(tmp_path, HEAD + source)["Fmha"]["constexprs"]
    assert constexprs == {"head_dim": 64, "k_tile": 64, "kv_blocks": 2, "warps": 6}
    impossible = source.replace("warps == 6 or kv_blocks == 0", "head_dim > head_dim")
    constexprs = guessed(tmp_path, HEAD + impossible)["Fmha"]["constexprs"]
    assert constexprs == {"head_dim": 64, "k_tile": 128, "kv_blocks": 2, "warps": 4}


def test_assumed_arguments_of_host_code_fit_the_constructor(tmp_path: Path) -> None:
    source = """
class TopK:
    def __init__(self, dtype: type[cutlass.Numeric], N: int, k: int, dim: int, softmax: bool):
        assert k <= 128
        self.dtype, self.N, self.k, self.dim = dtype, N, k, dim

    @cute.jit
    def __call__(self, x: cute.Tensor, values: cute.Tensor, sin: cute.Tensor, offsets: cute.Tensor):
        kernel(x, values).launch(grid=(1, 1, 1), block=(32, 1, 1))

    @staticmethod
    def compile(dtype, index_dtype, N, k, dim, softmax):
        return cute.compile(
            TopK(dtype, N, k, dim, softmax),
            cute.runtime.make_fake_compact_tensor(dtype, (4, N), stride_order=(1, 0)),
            cute.runtime.make_fake_compact_tensor(dtype, (4, k), stride_order=(1, 0)),
            cute.runtime.make_fake_compact_tensor(dtype, (dim // 2,)),
            cute.runtime.make_fake_compact_tensor(index_dtype, (4,)),
        )
"""
    tables = guessed(tmp_path, HEAD + source)["TopK"]
    assert tables["constexprs"] == {
        "dtype": {"dtype": "fp16"}, "N": 1024, "k": 128, "dim": 128, "softmax": False,
    }  # fmt: skip
    assert [kind.split()[0] for kind in tables["signature"].values()] == [
        "fp16[4,",
        "fp16[4,",
        "fp16[64]",
        "i32[4]",
    ]


def test_mode_order_gives_the_rank_also_of_an_unused_tensor(tmp_path: Path) -> None:
    source = """
def modes(tensor, order):
    return cute.make_tensor(tensor.iterator, cute.select(tensor.layout, mode=order))

@cute.jit
def attend(q: cute.Tensor, k: cute.Tensor, mask: cute.Tensor):
    kernel(modes(q, [1, 2, 0]), mask[0]).launch(grid=(1, 1, 1), block=(32, 1, 1))
"""
    assert guessed(tmp_path, HEAD + source)["attend"]["signature"] == {
        "q": "fp16[m, n, k%8]",
        "k": "fp16[m, n, k%8]",
        "mask": "fp16[m%8]",
    }


@pytest.mark.parametrize("call", ["Copy(32)(x, y)", "copies = Copy(32)\n    copies(x, y)"])
def test_function_that_launches_through_an_object_is_a_kernel(tmp_path: Path, call: str) -> None:
    source = f"""
class Copy:
    def __init__(self, threads: int):
        self.threads = threads

    @cute.jit
    def __call__(self, x: cute.Tensor, y: cute.Tensor):
        kernel(x, y).launch(grid=(1, 1, 1), block=(self.threads, 1, 1))

@cute.jit
def copy(x: cute.Tensor, y: cute.Tensor):
    {call}
"""
    assert set(guessed(tmp_path, HEAD + source)) == {"Copy", "copy"}


def test_unreachable_kernel_is_listed_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(HEAD + "\n@cute.jit\ndef helper(x):\n    return x\n")
    source = next(
        source for source in guess_sources([tmp_path / "k.py"]) if source.toolchain == "cute"
    )
    assert not source.kernels
    assert [
        (kernel.name, "below @cute.jit that launches" in kernel.why)
        for kernel in source.unreachable
    ] == [("kernel", True)]
    with pytest.raises(ConfigError, match="defines no CuTe DSL kernel"):
        load_sources(["k.py"], tmp_path)


CALLING = """
class Base:
    @cute.jit
    def __call__(self, x: cute.Tensor):
        kernel(x).launch(grid=(1, 1, 1), block=(32, 1, 1))
"""


def test_class_that_inherits_its_call_is_listed_with_the_base(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text(HEAD + CALLING + "class Middle(Base):\n    pass\n")
    (tmp_path / "k.py").write_text(
        HEAD.partition("@cute.kernel")[0] + "from base import Middle as Over\nfrom abc import ABC\n"
        "class Other(ABC):\n    @cute.jit\n    def help(self):\n        pass\n"
        "class Inherits(Over):\n    @cute.kernel\n    def kernel(self, x):\n        x[0] = x[1]\n"
    )
    sources = guess_sources([tmp_path / "base.py", tmp_path / "k.py"])
    assert [
        (source.path.name, kernel.name, kernel.why)
        for source in sources
        for kernel in source.unreachable
    ] == [
        (
            "base.py",
            "Middle",
            "its __call__ is that of Base, so write its kernel file yourself",
        ),
        ("k.py", "Inherits", "its __call__ is that of Base, so write its kernel file yourself"),
    ]


def test_method_of_a_class_that_nothing_launches_is_listed(tmp_path: Path) -> None:
    """The decorator `cute.kernel` of another function does not name a method `kernel`."""
    (tmp_path / "k.py").write_text(
        HEAD.partition("@cute.kernel")[0]
        + "class Alone:\n    @cute.kernel\n    def kernel(self, x):\n        x[0] = x[1]\n"
        "@cute.kernel\ndef other(x):\n    x[0] = x[1]\n"
        "@cute.jit\ndef run(x: cute.Tensor):\n    other(x).launch(grid=(1, 1, 1), block=(32, 1, 1))\n"
    )
    (source,) = (s for s in guess_sources([tmp_path / "k.py"]) if s.toolchain == "cute")
    assert [kernel.name for kernel in source.unreachable] == ["kernel"]


def test_a_file_with_kernels_of_both_toolchains_has_kernels_of_both(tmp_path: Path) -> None:
    triton = (
        "import triton\nimport triton.language as tl\n@triton.jit\ndef add(x):\n    tl.store(x,"
        " 1)\n"
    )
    (tmp_path / "k.py").write_text(triton + HEAD + PLAIN)
    specs = load_sources(["k.py"], tmp_path)
    assert {(spec.kernel, spec.toolchain) for spec in specs} == {
        ("add", "triton"),
        ("copy", "cute"),
    }
    written = init.initialize(tmp_path, ["k.py"]).written_files
    assert sorted(kernels for kernels in written.values() if kernels) == [("add",), ("copy",)]
    read = load_kernels(["kernels/*.toml"], tmp_path)
    assert {spec.toolchain for spec in read} == {"triton", "cute"}


# --- envs and cells by default --------------------------------------------------------------------


def test_project_with_only_cute_kernels_compiles_on_cute_releases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.py").write_text(HEAD + PLAIN)
    for chosen in (select(kernel_files=["k.py"]), select(kernel_files=["k.py"], envs=["newest"])):
        assert {env.toolchain for env in chosen.envs} == {"cute"}
        assert len(chosen.cells) == len(chosen.envs)
    init.initialize(tmp_path, ["k.py"])
    assert {env.toolchain for env in select().config.choose_envs()} == {"cute"}
    assert len(select().cells) == 25


# --- arguments ------------------------------------------------------------------------------------


def job(signature: Mapping[str, Any], **constexprs: Any) -> dict[str, Any]:
    return {"signature": dict(signature), "constexprs": constexprs, "options": {}}


def made_pair(make: Any, size: int) -> tuple[Any, int]:
    return make, size


def broken(make: Any) -> None:
    raise LookupError("nothing here")


def annotated(pair: Any, size: int) -> None: ...


def test_size_name_has_one_value_in_all_arguments() -> None:
    assert arguments.sizes_of({"a": "fp16[m%8, k]", "b": ["fp16[k%6, m]"]}) == {"m": 512, "k": 384}


def test_a_function_beside_the_kernel_makes_an_argument() -> None:
    _, ((make, size), other), _ = arguments.bind_arguments(
        annotated, job({"pair": "made_pair()"}, size=3)
    )
    assert (size, other) == (3, 3)
    with pytest.raises(arguments.KernelFileError, match=r"signature\.pair"):
        make("fp16[m, n]:[s]")


@for_each(
    ("document", "message"),
    [
        (
            job({"pair": "missing()"}, size=3),
            "signature.pair: the source has no function 'missing'",
        ),
        (
            job({"pair": "broken()"}, size=3),
            r"signature.pair: broken\(\) failed at line \d+ of .*: LookupError: nothing here",
        ),
        (
            job({"pair": "made_pair()", "size": "made_pair()"}),
            r"made_pair\(\) takes size, to which \[constexprs\] gives no value",
        ),
        (
            job({"pair": "made_pair()"}, size={"function": "none"}),
            "no function 'none', which a constexpr names",
        ),
        (job({"pair": "made_pair()"}, size={"torch_dtype": "int8"}), "not a torch_dtype"),
    ],
)
def test_invalid_functions_and_constexprs_are_kernel_file_errors(
    document: dict[str, Any], message: str
) -> None:
    with pytest.raises(arguments.KernelFileError, match=message):
        arguments.bind_arguments(annotated, document)


def test_options_are_checked(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text("def k(): ...\n")
    (tmp_path / "k.toml").write_text(
        'kernel = "k"\ntoolchain = "cute"\nsource = "k.py"\noptions = { opt-level = "2" }\n'
    )
    with pytest.raises(ConfigError, match=r"options\.opt-level"):
        load_kernels(["k.toml"], tmp_path)


# --- on real wheels -------------------------------------------------------------------------------

RICH = (
    HEAD
    + """
@cute.jit
def rich(pair: cute.Tensor, x: cute.Tensor, bits: cute.Tensor, shape, op: cutlass.Constexpr, kind: cutlass.Constexpr):
    assert cutlass.const_expr(x.element_type == kind)
    nested = cute.make_tensor(x.iterator, cute.make_layout(shape))
    print(op(nested.layout), bits.element_type)
    kernel(pair, pair).launch(grid=(1, 1, 1), block=(32, 1, 1))


def double(value):
    return value


def make_pair(make, size):
    return make(f"fp16[m, {size}]")
"""
)
RICH_FILE = """
schema = 1
kernel = "rich"
toolchain = "cute"
source = "rich.py"
[signature]
pair = "make_pair()"
x = "fp8e4m3fn[m, n%16]"
bits = "fp4e2m1fn[m, n%32]"
[constexprs]
shape = [[8, 16], 4]
op = { function = "double" }
kind = { dtype = "fp8e4m3fn" }
"""


def specs_of(folder: Path) -> tuple[Specialization, ...]:
    (folder / "k.py").write_text(HEAD + PLAIN)
    (folder / "rich.py").write_text(
        RICH.replace("def make_pair(make, size)", "def make_pair(make, size=64)")
    )
    (folder / "rich.toml").write_text(RICH_FILE)
    return (*load_sources(["k.py"], folder), *load_kernels(["rich.toml"], folder))


OWN = Path(__file__).parents[2] / "kernels" / "cute"


@pytest.mark.wheels
@pytest.mark.parametrize(
    ("source", "target"),
    [("fmha_wgmma.py", "sm_90a"), ("fmha_tcgen05.py", "sm_100a")],
)
def test_attention_kernel_compiles_as_guessed(
    built: Callable[[str], BuiltEnv], tmp_path: Path, source: str, target: str
) -> None:
    (tmp_path / source).write_bytes((OWN / source).read_bytes())
    env = built("cute-4.8.1")
    cells = [
        Cell(env=env.env, target=cute_faces.target(target), spec=spec)
        for spec in load_sources([source], tmp_path)
    ]
    assert len(cells) == 1
    (evidence,) = compile_all(env, cells)
    assert evidence.complete, evidence.raised


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["4.2.1", "4.5.3", "4.6.1", "4.8.1"])
def test_guessed_kernels_and_arguments_that_functions_make_compile(
    built: Callable[[str], BuiltEnv], tmp_path: Path, release: str
) -> None:
    env = built(f"cute-{release}")
    cells = [
        Cell(env=env.env, target=cute_faces.target("sm_90a"), spec=spec)
        for spec in specs_of(tmp_path)
    ]
    for evidence in compile_all(env, cells):
        assert evidence.complete, evidence.raised


@pytest.mark.wheels
def test_assertion_of_a_constructor_is_one_of_the_kernel(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    source = PLAIN.replace("def copy(", "def __call__(self, ").replace("\n", "\n    ")
    source = "class Copy:\n    def __init__(self, k):\n        assert k < 0\n" + source
    (tmp_path / "k.py").write_text(HEAD + source)
    env = built("cute-4.8.1")
    target = cute_faces.target("sm_90a")
    cells = [
        Cell(env=env.env, target=target, spec=spec) for spec in load_sources(["k.py"], tmp_path)
    ]
    (evidence,) = compile_all(env, cells)
    failure = classify([evidence], target=target, knowledge=CUTE.failures).failure
    assert failure
    assert (failure.failure_class, failure.stage) == ("static-assert", "trace")


# --- reducing -------------------------------------------------------------------------------------


def test_plainer_tensor_types_are_valid_and_have_less_weight() -> None:
    simplification = CUTE.language.simplification
    assert simplification.weight_of_type
    kind = "bf16[m, n, k%8]:[s0%8, t, 1] align=32"
    assert "bf16[m, n, k%8]" in simplification.plainer_types(kind)
    assert {"bf16[n, k%8]", "bf16[m, n]", "bf16[m, n, k]"} <= set(
        simplification.plainer_types("bf16[m, n, k%8]")
    )
    for plainer in simplification.plainer_types(kind):
        assert CUTE.language.types.pattern.fullmatch(plainer)
        assert simplification.weight_of_type(plainer) < simplification.weight_of_type(kind)


def test_unused_parameters_and_methods_of_a_class_are_removed() -> None:
    call = "    def __call__(self, x, y):\n        y.go()\n\n"
    text = (
        f"class K:\n    def __init__(self, n):\n        pass\n\n{call}    def kernel(self):\n      "
        "  pass\n"
    )
    candidate = Candidate(
        text=text,
        function="K",
        compile=CompileSpec(signature={"x": "i32", "y": "i32"}, constexprs={"n": 1}),
        toolchain="cute",
    )
    edits = list(unused_parameters(candidate))
    assert {edit.what for edit in edits} == {"parameter x", "parameter n", "method K.kernel"}
    smaller = apply_edits(candidate, edits)
    assert smaller
    assert (smaller.compile.signature, smaller.compile.constexprs) == ({"y": "i32"}, {})
    assert "kernel" not in smaller.text


@pytest.mark.parametrize(
    ("origin", "known"),
    [
        ("cutlass.cute.runtime.from_dlpack", True),
        (".tensors.from_dlpack", True),
        ("package.runtime.launch", False),
        ("package.from_dlpack_like", False),
    ],
)
def test_names_of_the_libraries_are_known(origin: str, known: bool) -> None:
    assert library.is_known(origin) == known
