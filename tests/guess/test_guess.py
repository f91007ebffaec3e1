"""Guesses about kernels from their sources, which are not imported."""

from __future__ import annotations

import subprocess
import threading
import tomllib
from collections.abc import Callable
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import pytest

from compat import interruption
from compat.config.kernel_files import load_kernels
from compat.config.libraries import LibraryVersions
from compat.guess import GuessedSource, guess_sources, kernel_file_text
from compat.guess.finding import where_else
from compat.guess.guessing import load_packages
from compat.model import BuiltEnv
from compat.model.cell import leaf_types
from compat.toolchains.triton.language.guessing.facts import Term, Value
from tests.together import for_each

ROOT = Path(__file__).parents[2]
SOURCES = sorted((Path(__file__).parent / "sources").glob("*.py"))
HEAD = "import triton\nimport triton.language as tl\nfrom triton import jit\n"


def guessed(tmp_path: Path, text: str, head: str = HEAD) -> GuessedSource:
    path = tmp_path / "source.py"
    path.write_text(head + text)
    (source,) = guess_sources([path])
    return source


def tables(tmp_path: Path, text: str, head: str = HEAD) -> dict[str, Any]:
    """The tables of the guessed kernel file, for a source with one kernel."""
    source = guessed(tmp_path, text, head)
    written = kernel_file_text(source.kernels, "source.py")
    (tmp_path / "source.toml").write_text(written)
    load_kernels(["source.toml"], tmp_path)  # the file reads back
    return tomllib.loads(written)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_guessed_kernel_file_reads_back_and_marks_guesses(path: Path, tmp_path: Path) -> None:
    (source,) = guess_sources([path])
    text = kernel_file_text(source.kernels, str(path))
    (tmp_path / "k.toml").write_text(text)
    specs = load_kernels(["k.toml"], tmp_path)
    assert {spec.function for spec in specs} == {kernel.function for kernel in source.kernels}
    notes = [note.partition(" (")[0] for kernel in source.kernels for note in kernel.look_at]
    from_context = ["num_warps: its value in the launch"]  # `num_warps=ctx.num_warps`
    assert notes == (from_context if path.stem == "layer_norm" else [])
    in_signature = text.partition("[signature]")[2] or text.partition("signature]")[2]
    first = next(line for line in in_signature.splitlines()[1:] if "=" in line)
    assert "# guessed: " in first


def test_reading_sources_and_kernel_files_ends_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large library takes a minute, and a command that does not react is ended in silence."""
    stopped = threading.Event()
    stopped.set()
    monkeypatch.setattr(interruption, "REQUESTED", stopped)
    with pytest.raises(interruption.Stopped):
        guess_sources(SOURCES)
    with pytest.raises(interruption.Stopped):
        load_kernels(["kernels/sel_dense.toml"], ROOT)


def test_guessed_kinds_of_arguments_match_the_project_kernel_files(tmp_path: Path) -> None:
    """The authors wrote the types by hand.

    The guess finds the kinds of all of them: pointers, floats and whole numbers.
    """
    for name in ("sel_dense", "sel_varlen"):
        described = {spec.function: spec for spec in load_kernels([f"kernels/{name}.toml"], ROOT)}
        (source,) = guess_sources([ROOT / "kernels" / f"{name}.py"])
        for kernel in source.kernels:
            expected = leaf_types(described[kernel.function].compile.signature)
            actual = {
                argument: noted.value for argument, noted in kernel.tables["signature"].items()
            }
            kinds = [
                {argument: _kind(type_name) for argument, type_name in signature.items()}
                for signature in (expected, actual)
            ]
            assert kinds[0] == kinds[1], kernel.function


def _kind(name: str) -> str:
    return name[0] if name.startswith(("*", "i")) else "fp"


def test_pointers_are_found_by_use_and_not_by_name(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@jit
def kernel(where, values, start, factor, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    rows = tl.load(where + offs, mask=offs < n)
    x = tl.load(values + start + rows)
    tl.store(values + rows, x * factor)
""",
    )
    assert document["signature"] == {
        "where": "*i32",
        "values": "*fp32",
        "start": "i32",
        "factor": "fp32",
        "n": "i32",
    }
    assert document["constexprs"] == {"BLOCK": 1024}
    assert document["kernel"] == "kernel"


def test_use_of_an_argument_in_a_helper_decides_its_type(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def read(base, row, stride, offs):
    return tl.load(base + row * stride + offs)

@triton.jit
def kernel(a, out, step, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = read(a, tl.program_id(0), step, offs).to(tl.float32)
    tl.store(out + offs, tl.exp(x))
""",
    )
    assert document["signature"] == {"a": "*fp16", "out": "*fp32", "step": "i32"}


def test_unused_parameters_among_tensors_are_tensors(tmp_path: Path) -> None:
    """Other unused parameters may be numbers.

    They come after the last tensor, have the name of a number, or are launched as a number.
    """
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(first, q, k, between, x_stride, factor, out, after, n, N: tl.constexpr):
    offs = tl.arange(0, N)
    tl.store(out + offs, tl.load(k + offs, mask=offs < n), mask=offs < n)

def launch(q, k, out, n):
    kernel[(1,)](q, q, k, k, k.stride(0), 0.5, out, 1, n, N=16)
""",
    )
    assert document["signature"] == {
        "first": "*fp32",
        "q": "*fp32",
        "k": "*fp32",
        "between": "*fp32",
        "x_stride": "i32",
        "factor": "fp32",
        "out": "*fp32",
        "after": "i32",
        "n": "i32",
    }


def test_cast_decides_the_type_of_what_is_cast(tmp_path: Path) -> None:
    """A rounded number says nothing about the tensor that it was computed from."""
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(points, sorted_x, out_offset, offset, table, N: tl.constexpr):
    offs = tl.arange(0, N)
    cell = ((tl.load(points + offs) - 0.5) / 2.0).to(tl.int32)
    value = tl.load(sorted_x + offs).to(tl.float32) + offset.to(tl.float32)
    tl.store(out_offset + offs, value.to(out_offset.dtype.element_ty))
    tl.store(table + cell, 1)
""",
    )
    assert document["signature"] == {
        "points": "*fp32",
        "sorted_x": "*fp16",
        "out_offset": "*fp32",
        "offset": "fp32",
        "table": "*i32",
    }


def test_last_stride_of_a_tensor_is_one_in_every_naming_scheme(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(q, k, v, a, stride_q_batch, stride_q_dim, str_k_B_H, str_k_D, stride_vm, stride_vk, stride_a_m, stride_a_k, N: tl.constexpr):
    offs = tl.arange(0, N)
    tl.store(q + offs * stride_q_batch + offs * stride_q_dim, 1.0)
    tl.store(k + offs * str_k_B_H + offs * str_k_D, 1.0)
    tl.store(v + offs * stride_vm + offs * stride_vk, 1.0)
    tl.store(a + offs * stride_a_m + offs * stride_a_k, 1.0)
""",
    )
    assert document["hints"]["equal_to_1"] == ["stride_q_dim", "str_k_D", "stride_vk", "stride_a_k"]


def test_name_of_a_number_decides_where_it_says_more_than_the_use(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(x, n_rows, TEMPERATURE: tl.constexpr, EPS_LOW: tl.constexpr, LOSS_TYPE: tl.constexpr, N: tl.constexpr):
    offs = tl.arange(0, N)
    value = tl.exp(tl.load(x + offs)) / n_rows
    if LOSS_TYPE == 1:
        value += EPS_LOW
    tl.store(x + offs, value / TEMPERATURE)
""",
    )
    assert document["signature"]["n_rows"] == "i32"
    assert document["constexprs"] == {
        "TEMPERATURE": 1.0,
        "EPS_LOW": 1e-6,
        "LOSS_TYPE": 1,
        "N": 1024,
    }


def test_divisor_is_not_guessed_as_a_flag(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@jit
def kernel(x, n, save_every: tl.constexpr, save_last: tl.constexpr):
    for k in range(n):
        if save_last or k % save_every == 0:
            tl.store(x + k // save_every, 1.0)
""",
    )
    assert document["constexprs"]["save_every"] > 0
    assert document["constexprs"]["save_last"] is False


def test_block_pointers_descriptors_and_atomics_decide_types(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(A, B, Lock, n, m, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    a = tl.make_block_ptr(A, shape=(n, m), strides=(m, 1), offsets=(0, 0), block_shape=(BLOCK_M, BLOCK_K), order=(1, 0))
    b = tl.make_tensor_descriptor(B, shape=[n, m], strides=[m, 1], block_shape=[BLOCK_M, BLOCK_K])
    x = tl.dot(tl.load(a), tl.trans(b.load([0, 0])))
    tl.atomic_xchg(Lock, 0)
    b.store([0, 0], x.to(tl.float16))
""",
    )
    assert document["signature"] == {
        "A": "*fp16",
        "B": "*fp16",
        "Lock": "*i32",
        "n": "i32",
        "m": "i32",
    }
    assert document["constexprs"] == {"BLOCK_M": 64, "BLOCK_K": 32}


def test_configs_in_every_form_become_cases(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
SIZES = [64, 128]

def configs():
    found = []
    for size in SIZES:
        found.append(triton.Config({"BLOCK": size, "EVEN": size > 64}, num_warps=4 if size < 128 else 8, num_stages=2))
    return found + [triton.Config({"BLOCK": s, "EVEN": False}, num_warps=w, maxnreg=128) for s in SIZES[:1] for w in (1, 2)]

@triton.autotune(configs=configs(), key=["n"])
@triton.heuristics({"FULL": lambda args: args["n"] % args["BLOCK"] == 0, "ODD": lambda args: args["x"].device.index})
@triton.jit
def kernel(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr, FULL: tl.constexpr, ODD: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    if FULL:
        tl.store(x + offs, offs * 1.0)
    elif ODD:
        tl.store(x + offs, 2.0, mask=offs < n)
""",
    )
    assert [
        (case["name"], case["constexprs"]["BLOCK"], case["options"]) for case in document["case"]
    ] == [
        ("BLOCK64_EVEN0_w4_s2", 64, {"num_warps": 4, "num_stages": 2}),
        ("BLOCK128_EVEN1_w8_s2", 128, {"num_warps": 8, "num_stages": 2}),
        ("BLOCK64_EVEN0_w1_r128", 64, {"num_warps": 1, "maxnreg": 128}),
        ("BLOCK64_EVEN0_w2_r128", 64, {"num_warps": 2, "maxnreg": 128}),
    ]
    assert document["options"] == {"num_stages": 3}  # as a tuner passes them
    assert document["constexprs"] == {"FULL": True, "ODD": False}
    (kernel,) = guessed(tmp_path, (tmp_path / "source.py").read_text(), head="").kernels
    assert [note.partition(" (")[0] for note in kernel.look_at] == ["ODD: its heuristic"]
    assert document["expect"][0]["strict"] is False


def test_option_of_a_config_replaces_the_value_of_its_name(tmp_path: Path) -> None:
    """Triton passes its options after the values, with their defaults, and to parameters, too."""
    document = tables(
        tmp_path,
        """
from itertools import product
from triton import Config, cdiv
from triton.language import float16

CONFIGS = [
    Config({"B": 16 * b, "num_warps": 8, "maxnreg": 64}, num_stages=s)
    for b, s in product([cdiv(5, 2)], [1, 2])
]

@triton.autotune(CONFIGS, key=[])
@triton.jit
def kernel(x, B: tl.constexpr, num_warps: tl.constexpr, num_stages: tl.constexpr, DTYPE: tl.constexpr = float16):
    tl.store(x + tl.arange(0, B), num_warps)
""",
    )
    assert [(case["name"], case["constexprs"], case["options"]) for case in document["case"]] == [
        (
            f"s{stages}_r64",
            {"B": 48, "num_warps": 4, "num_stages": stages},
            {"num_stages": stages, "maxnreg": 64},
        )
        for stages in (1, 2)
    ]
    assert document["constexprs"] == {"DTYPE": {"dtype": "fp16"}}


@pytest.mark.parametrize(
    "heuristics",
    [
        '{"EVEN": lambda args: args["n"] % args["BLOCK"] == 0}',
        'dict(EVEN=lambda args: args["n"] % args["BLOCK"] == 0)',
    ],
)
def test_heuristic_that_differs_by_config_is_in_the_cases(heuristics: str, tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        f"""
@triton.autotune([triton.Config({{"BLOCK": 64}}), triton.Config({{"BLOCK": 4096}})], key=[])
@triton.heuristics({heuristics})
@triton.jit
def kernel(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)
""",
    )
    assert [case["constexprs"] for case in document["case"]] == [
        {"BLOCK": 64, "EVEN": True},
        {"BLOCK": 4096, "EVEN": False},
    ]
    assert "constexprs" not in document


@pytest.mark.parametrize(("smoothing", "is_smooth"), [("0.0", False), ("0.1", True)])
def test_heuristic_gets_the_numbers_that_a_launch_passes(
    smoothing: str, is_smooth: bool, tmp_path: Path
) -> None:
    document = tables(
        tmp_path,
        f"""
@triton.heuristics({{"SMOOTH": lambda args: args["smoothing"] > 0.0}})
@triton.jit
def kernel(x, smoothing, SMOOTH: tl.constexpr):
    if SMOOTH:
        tl.store(x, tl.load(x) * smoothing * 0.5)

def run(x, smoothing={smoothing}):
    kernel[(1,)](x, smoothing)
""",
    )
    assert document["signature"]["smoothing"] == "fp32"
    assert document["constexprs"] == {"SMOOTH": is_smooth}


@pytest.mark.wheels
def test_next_power_of_two_is_that_of_triton(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    numbers = (-3, 0, 1, 2, 3, 4, 1023, 1025)
    program = f"import triton; print([triton.next_power_of_2(n) for n in {numbers}])"
    answer = subprocess.run(
        [str(built("triton-3.5.1").python), "-c", program],
        capture_output=True,
        text=True,
        check=True,
    )
    heuristics = [
        f'"N{i}": lambda args: triton.next_power_of_2({number})' for i, number in enumerate(numbers)
    ]
    parameters = [f"N{i}: tl.constexpr" for i, _ in enumerate(numbers)]
    document = tables(
        tmp_path,
        f"""
@triton.heuristics({{{", ".join(heuristics)}}})
@triton.jit
def kernel(x, {", ".join(parameters)}):
    tl.store(x, 0.0)
""",
    )
    assert str([*document["constexprs"].values()]) == answer.stdout.strip()


def test_heuristic_of_an_option_is_an_option(tmp_path: Path) -> None:
    text = """
{tuner}
@triton.heuristics({"num_warps": lambda args: 8 if args["BLOCK"] > 64 else 2})
@triton.jit
def kernel(x, n, BLOCK: tl.constexpr = 128):
    tl.store(x + tl.arange(0, BLOCK), 0.0)
"""
    assert tables(tmp_path, text.replace("{tuner}", ""))["options"] == {"num_warps": 8}
    tuner = "@triton.autotune([triton.Config({'BLOCK': b}) for b in (64, 256)], key=[])"
    cases = tables(tmp_path, text.replace("{tuner}", tuner))["case"]
    assert [case["options"] for case in cases] == [{"num_warps": 2}, {"num_warps": 8}]


def test_heuristic_may_be_imported(tmp_path: Path) -> None:
    (tmp_path / "shared.py").write_text("def of_block(args):\n    return args['BLOCK'] // 2\n")
    text = """
from shared import of_block

@triton.heuristics({"HALF": of_block, "REST": lambda args: of_block(args) + 1})
@triton.jit
def kernel(x, gate_threshold, BLOCK: tl.constexpr, HALF: tl.constexpr, REST: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)
"""
    document = tables(tmp_path, text)
    assert document["constexprs"] == {"BLOCK": 1024, "HALF": 512, "REST": 513}
    assert document["signature"]["gate_threshold"] == "fp32"  # by its name


def test_names_have_the_values_of_the_line_that_defines_the_kernel(tmp_path: Path) -> None:
    text = """
SIZE = 16
configs = [triton.Config({"N": 64})]

@triton.autotune(configs, key=[])
@triton.jit
def first(x, N: tl.constexpr, SIZE: tl.constexpr = SIZE):
    tl.store(x + tl.arange(0, N), SIZE)

if on_gpu():
    SIZE = 32
configs = [triton.Config({"M": 128})]

@triton.autotune(configs, key=[])
@triton.jit
def second(x, M: tl.constexpr, SIZE: tl.constexpr = SIZE):
    tl.store(x + tl.arange(0, M), SIZE)
"""
    first, second = (kernel.tables for kernel in guessed(tmp_path, text).kernels)
    assert [case["constexprs"] for case in first["case"] + second["case"]] == [
        {"N": 64},
        {"M": 128},
    ]
    sizes = [kernel["constexprs"]["SIZE"] for kernel in (first, second)]
    assert [(size.value, size.note) for size in sizes] == [
        (16, "its default"),
        (32, "guessed: its default in one branch of the module"),
    ]


@for_each(
    "annotation",
    [
        "tl.constexpr",
        '"constexpr"',
        '"tl.constexpr[int]"',
        "Optional[tl.constexpr]",
        "tl.constexpr | None",
        "C",
    ],
)
def test_annotation_that_mentions_constexpr_makes_a_constexpr(
    annotation: str, tmp_path: Path
) -> None:
    head = f"{HEAD}from triton.language import constexpr as C\n"
    text = f"@triton.jit\ndef kernel(p: tl.const, N: {annotation} = 8):\n    pass\n"
    document = tables(tmp_path, text, head)
    assert (document["signature"], document["constexprs"]) == ({"p": "*kfp32"}, {"N": 8})


def test_guess_satisfies_static_assertions(tmp_path: Path) -> None:
    source = guessed(
        tmp_path,
        """
@triton.autotune([triton.Config({"B": 64}), triton.Config({"B": 128}), triton.Config({"B": 96})], key=[])
@triton.jit
def kernel(x, B: tl.constexpr, HEAD_DIM: tl.constexpr):
    tl.static_assert(B <= HEAD_DIM)
    tl.static_assert(B % 64 == 0)
    tl.store(x + tl.arange(0, B), 0.0)
""",
    )
    (kernel,) = source.kernels
    assert kernel.tables["constexprs"]["HEAD_DIM"].value == 128
    assert [case["name"] for case in kernel.tables["case"]] == ["B64", "B128"]
    assert kernel.look_at == ("left out: 1 config, which its static_assert refuses",)


def test_constexprs_are_guessed_by_default_and_use(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(x, bias=None, eps=1e-5, mask=2**32, KIND: "tl.constexpr" = None, ACT: tl.constexpr = "", HAS_BIAS: tl.constexpr = False,
           OUT: tl.constexpr = tl.bfloat16, *, N: tl.constexpr, MODE: tl.constexpr, to: tl.constexpr, is_causal: tl.constexpr):
    offs = tl.arange(0, N)
    value = tl.load(x + offs) + eps
    if MODE == "relu":
        value = value * 2
    if HAS_BIAS and bias is not None:
        value += tl.load(bias + offs)
    if not is_causal:
        value += 1
    tl.store(x + offs, value.to(to))
""",
    )
    assert document["constexprs"] == {
        "KIND": {"none": True}, "ACT": "", "HAS_BIAS": False, "OUT": {"dtype": "bf16"},
        "N": 1024, "MODE": "relu", "to": {"dtype": "fp32"}, "is_causal": False,
    }  # fmt: skip
    types = {"x": "*fp32", "bias": "*fp32", "eps": "fp32", "mask": "i64"}
    assert document["signature"] == types


@for_each(
    "change",
    [
        "SIZE *= 2",
        "for SIZE in (16, 32):\n    pass",
        "with open('size') as SIZE:\n    pass",
        "SIZE, OTHER = sizes()",
        "from sizes import SIZE",
        "SIZES['a'] = 32",
        "SIZES.update(a=32)",
    ],
)
def test_default_that_the_source_changes_is_a_guess(change: str, tmp_path: Path) -> None:
    text = """
SIZE = 16
SIZES = {"a": 16}
{change}

@triton.jit
def kernel(x, A: tl.constexpr = SIZE, B: tl.constexpr = SIZES["a"]):
    tl.store(x + tl.arange(0, A) + tl.arange(0, B), 1.0)

if __name__ == "__main__":
    SIZE, SIZES = 64, {"a": 64}
    for kernel in (print,):
        pass
"""
    (kernel,) = guessed(tmp_path, text.replace("{change}", change)).kernels
    values = {
        name: (value.value, value.note) for name, value in kernel.tables["constexprs"].items()
    }
    changed, kept = ("B", "A") if "SIZES" in change else ("A", "B")
    assert values[kept] == (16, "its default")
    assert values[changed][1].startswith("guessed: ")


BRANCHES = {
    "if on_gpu():\n    SIZE = 16\nelse:\n    SIZE = 32": False,
    "if on_gpu():\n    SIZE = 16\nelif many():\n    SIZE = 64\nelse:\n    SIZE = 32": False,
    "try:\n    import numpy\n    SIZE = 16\nexcept ImportError:\n    SIZE = 32": False,
    "try:\n    from sizes import SIZE\nexcept ImportError:\n    SIZE = 32": False,
    "SIZE = 16\nif on_gpu():\n    SIZE = 32": False,
    "if on_gpu():\n    HALF = 8\nelse:\n    HALF = 16\nSIZE = HALF * 2": False,
    "SIZE = 16\nif on_gpu():\n    SIZE = 32\nelse:\n    SIZE = 32": True,
    "if on_gpu():\n    SIZE = 16\nelse:\n    SIZE = 64\nSIZE = 32": True,
    "if on_gpu():\n    SIZE = 32": True,
    "try:\n    SIZE = 16\nexcept ImportError:\n    SIZE = 64\nfinally:\n    SIZE = 32": True,
    # A chain of `elif` is nested, and is still read in linear time.
    "if on_gpu():\n    SIZE = 16\n"
    + "".join(f"elif gpu == {number}:\n    SIZE = 32\n" for number in range(970)): False,
}
"""Assignments in branches → whether every branch sets the same value."""


@for_each("assignments", BRANCHES)
def test_default_that_differs_by_branch_is_a_guess(assignments: str, tmp_path: Path) -> None:
    (kernel,) = guessed(
        tmp_path,
        f"""
{assignments}

@triton.jit
def kernel(x, A: tl.constexpr = SIZE, B: tl.constexpr = 16):
    tl.store(x + tl.arange(0, A) + tl.arange(0, B), 1.0)

if __name__ == "__main__":
    SIZE = 128
""",
    ).kernels
    values = {
        name: (value.value, value.note) for name, value in kernel.tables["constexprs"].items()
    }
    is_exact = BRANCHES[assignments]
    assert values == {
        "A": (
            32,
            "its default" if is_exact else "guessed: its default in one branch of the module",
        ),
        "B": (16, "its default"),
    }
    assert kernel.guesses == 1 + (not is_exact)


def test_configs_that_the_source_appends_are_reported(tmp_path: Path) -> None:
    text = """
configs = []
for size in (64, 128):
    configs.append(triton.Config({"B": size}))

@triton.autotune(configs, key=["n"])
@triton.jit
def kernel(x, n, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1.0)
"""
    (kernel,) = guessed(tmp_path, text).kernels
    assert kernel.look_at == ("its configs cannot be read from the source (line 9)",)


def test_heuristics_that_the_source_does_not_list_are_reported(tmp_path: Path) -> None:
    text = """
@triton.heuristics({"A": lambda args: 32})
@triton.heuristics(loaded("kernel"))
@triton.jit
def kernel(x, A: tl.constexpr, B: tl.constexpr):
    tl.store(x + tl.arange(0, A) + tl.arange(0, B), 1.0)
"""
    (kernel,) = guessed(tmp_path, text).kernels
    assert kernel.look_at == ("its heuristics cannot be read from the source (line 6)",)
    assert kernel.tables["constexprs"]["A"].value == 32


def test_unrolled_loops_have_few_passes(tmp_path: Path) -> None:
    """A step divides the number of passes, so the bound of a loop with a step may be larger."""
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(x, WIDTH: tl.constexpr, LENGTH: tl.constexpr, BLOCK: tl.constexpr):
    for i in tl.static_range(WIDTH - 1):
        tl.store(x + i, 1.0)
    for i in tl.static_range(BLOCK):
        tl.store(x + i, 1.0)
    for j in tl.static_range(0, LENGTH, 16):
        tl.store(x + j, 2.0)
""",
    )
    assert document["constexprs"] == {"WIDTH": 4, "LENGTH": 64, "BLOCK": 32}


def test_only_argument_of_a_float_function_is_a_float(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(x, GAMMA: tl.constexpr, GROUP_SIZE: tl.constexpr, EPS: tl.constexpr, ROWS: tl.constexpr):
    decay = tl.exp(GAMMA) * tl.log(GROUP_SIZE) + tl.sqrt(EPS)
    tl.store(x, tl.exp(tl.load(x) * ROWS) * decay)
""",
    )
    assert document["constexprs"] == {"GAMMA": 1.0, "GROUP_SIZE": 1.0, "EPS": 1e-6, "ROWS": 64}


def test_kind_of_a_sum_does_not_depend_on_the_order_of_a_set() -> None:
    ordered = ("fp32", "fp16", "bf16", "fp64", "fp8", "float")
    for kind, other in combinations(ordered, 2):
        for terms in permutations((Term(kind=kind), Term(kind=other), Term(kind="int"))):
            assert Value((terms,)).kind == kind


def test_source_that_cannot_be_parsed_is_left_out_or_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(HEAD + "@triton.jit\ndef kernel(x):\n    tl.store(x, 1)\n")
    bad.write_text(HEAD + "def kernel(:\n")
    (source,) = guess_sources([bad, good], skip_unreadable=True)
    assert source.path == good
    with pytest.raises(SyntaxError) as error:
        guess_sources([bad, good])
    assert error.value.filename == "bad.py"


@for_each(
    ("path", "hint"),
    [
        ("k.py:fill", "Did you mean k.py::fill? Put two colons before the name"),
        ("sofmax.py", "Did you mean softmax.py?"),
        ("other/x.py", "Searched in "),
    ],
)
def test_hint_for_a_path_without_a_source(path: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / "softmax.py").write_text("")
    assert where_else(path, tmp_path).startswith(hint)


def test_kernels_of_one_name_in_a_library_are_named_with_their_modules(tmp_path: Path) -> None:
    text = HEAD + "@triton.jit\ndef kernel(x):\n    tl.store(x, 1)\n"
    for module in ("one/ops.py", "two/ops.py", "two/more.py"):
        path = tmp_path / "waves" / module
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    library = LibraryVersions(name="waves", version="1")
    specs = load_packages({library: tmp_path})
    assert sorted(spec.kernel for spec in specs) == [
        "more.kernel",
        "one.ops.kernel",
        "two.ops.kernel",
    ]


def test_helpers_and_unreachable_kernels_are_listed_apart(tmp_path: Path) -> None:
    source = guessed(
        tmp_path,
        """
if True:
    @triton.jit
    def inside_if(x):
        tl.store(x, helper(1.0))

@triton.jit
def helper(x):
    return x

if NEW:
    @triton.jit
    def twice(x):
        tl.store(x, 1)
else:
    @triton.jit
    def twice(x, y):
        tl.store(x, 1)

try:
    @triton.jit
    def perhaps(x):
        tl.store(x, 1)
except ImportError:
    perhaps = None

@triton.jit
def replaced(x):
    tl.store(x, 1)

def replaced(x):
    pass

def make(width):
    @triton.jit
    def made(x):
        tl.store(x, 1)
    @triton.jit
    def helper_of_made(x):
        return x + 1
    return made

def make_nothing():
    @triton.jit
    def hidden(x):
        tl.store(x, 1)

@triton.jit
def several(x, *args):
    tl.store(x, args[0])
""",
    )
    assert [kernel.name for kernel in source.kernels] == ["inside_if", "twice", "perhaps"]
    assert source.helpers == ("helper",)
    assert [(kernel.name, kernel.why) for kernel in source.unreachable] == [
        ("twice", "another branch of the module defines it, too (line 20)"),
        ("replaced", "something else has its name later in the file"),
        (
            "several",
            "it takes any number of arguments as args, which a kernel file cannot describe",
        ),
        ("made", "it is defined inside of make"),
        ("hidden", "it is defined inside of make_nothing"),
    ]


LAZY = """
import functools
import types
import typing

class Set(typing.NamedTuple):
    summed: object
    other: object = None

@functools.lru_cache(maxsize=1)
def kernels():
    try:
        import triton
        import triton.language as tl
    except ImportError:
        return None

    SIDE = 32

    @triton.jit
    def doubled(x):
        return x * 2

    @triton.jit
    def put(out, at, value):
        tl.store(out + at, value)

    @triton.jit
    def scaled(x, out, n, stride, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        put(out, at * stride, doubled(tl.load(x + at * stride, mask=at < n).to(tl.int8)))

    return types.SimpleNamespace(fast=scaled, launch=print)

def one(width=64):
    from triton import jit
    import triton.language as tl

    @jit
    def summed(x, out, BLOCK: tl.constexpr):
        tl.store(out, tl.sum(tl.load(x + tl.arange(0, BLOCK))))

    return summed

def several():
    import triton
    @triton.jit
    def other(x):
        pass
    if os.name == "":
        return Set(len, None)
    return Set(len, other)

def scale(x):
    k = kernels()
    k.fast[(1,)](x, x, 100, 1, BLOCK=512)
    kernel = one()
    kernel[(1,)](x, x, BLOCK=2048)
"""


def test_kernels_that_a_function_without_arguments_returns_are_guessed(tmp_path: Path) -> None:
    source = guessed(tmp_path, LAZY, head="")
    assert source.unreachable == ()
    assert source.helpers == ("doubled", "put")
    assert {kernel.name: kernel.function for kernel in source.kernels} == {
        "scaled": "kernels().fast",
        "summed": "one()",
        "other": "several().other",
    }
    scaled, summed, _ = (kernel.tables for kernel in source.kernels)
    assert scaled["constexprs"]["BLOCK"].value == 512
    assert scaled["hints"]["equal_to_1"].value == ["stride"]
    assert scaled["signature"]["out"].value == "*i32"  # follows from the functions that it calls
    assert summed["constexprs"]["BLOCK"].value == 2048


CACHED = """
import types

_made = None

def make():
    @triton.jit
    def kernel(x, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), 1.0)

    return %s

def plain():
    return make()

def once():
    global _made
    if _made is None:
        _made = make()
    return _made

def locked():
    global _made
    made = _made
    if made is None:
        with lock:
            made = make()
            _made = made
    return made

def outer():
    return locked()

def run(x):
    %s[(1,)](x, BLOCK=2048)
"""


@for_each(
    "kernel",
    [
        "make().fast",
        "plain().fast",
        "fast = plain().fast\n    fast",
        "kernels = once()\n    kernels.fast",
        "locked().fast",
        "outer().fast",
    ],
)
def test_a_launch_of_a_kernel_of_a_factory_is_found(kernel: str, tmp_path: Path) -> None:
    document = tables(tmp_path, CACHED % ("types.SimpleNamespace(fast=kernel)", kernel))
    assert document["constexprs"]["BLOCK"] == 2048


@for_each("call", ["make()", "once()", "outer()"])
def test_a_launch_of_a_kernel_in_a_tuple_of_a_factory_is_found(call: str, tmp_path: Path) -> None:
    launch = f"_, fast = {call}\n    fast"
    document = tables(tmp_path, CACHED % ("types, kernel", launch))
    assert (document["kernel"], document["function"]) == ("kernel", "make()[1]")
    assert document["constexprs"]["BLOCK"] == 2048


@pytest.mark.parametrize(
    ("head", "returned", "after"),
    [
        ("def make(width):", "made", ""),
        ("def make(*, width):", "made", ""),
        ("@wrapped\ndef make():", "made", ""),
        ("def make():", "made", "make = None\n"),
        ("def make():", "print(fast=made)", ""),
        ("def make():", "[made]", ""),
        ("def make():", "made if NEW else None", ""),
    ],
)
def test_a_kernel_that_no_call_without_arguments_returns_cannot_be_named(
    head: str, returned: str, after: str, tmp_path: Path
) -> None:
    inner = "    @triton.jit\n    def made(x):\n        tl.store(x, 1)\n"
    source = guessed(tmp_path, f"{head}\n{inner}    return {returned}\n{after}")
    assert source.kernels == ()
    assert [kernel.name for kernel in source.unreachable] == ["made"]


def test_the_product_of_two_constexprs_is_as_long_as_another_side(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(x, out, ROWS: tl.constexpr, GROUPS: tl.constexpr, WIDTH: tl.constexpr):
    LENGTH: tl.constexpr = ROWS * GROUPS
    at = tl.arange(0, LENGTH)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    block = tl.load(x + at)
    tl.store(out + at, tl.dot(block, tl.trans(block)))
""",
    )
    assert document["constexprs"] == {"ROWS": 8, "GROUPS": 8, "WIDTH": 64}


def test_local_names_of_other_functions_are_not_those_of_the_module(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
def main():
    WIDTH = 512

    @register
    def run():
        return WIDTH

    return run

@triton.jit
def kernel(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)

def launch(x):
    kernel[(1,)](x, BLOCK=WIDTH)
""",
    )
    assert document["constexprs"]["BLOCK"] != 512


def test_kernels_in_classes_are_guessed(tmp_path: Path) -> None:
    source = guessed(
        tmp_path,
        """
class Scale:
    @staticmethod
    @triton.jit
    def kernel(x, n, factor, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)

    def __call__(self, x: torch.Tensor):
        self.kernel[(1,)](x, x.numel(), 2.5, BLOCK=256)

    class Inner:
        @triton.jit
        def deeper(x): tl.store(x, 1)

class Add:
    @triton.jit
    def kernel(x, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), 1)

    @triton.jit
    def method(self, x): tl.store(x, 1)

    @triton.jit
    def twice(x): tl.store(x, 1)
    twice = None

def run(x: torch.Tensor):
    Add.kernel[(1,)](x, BLOCK=512)
""",
    )
    tables = {kernel.function: kernel.tables for kernel in source.kernels}
    assert tables.keys() == {"Scale.kernel", "Add.kernel"}
    assert tables["Scale.kernel"]["signature"]["factor"].value == "fp32"
    assert [table["constexprs"]["BLOCK"].value for table in tables.values()] == [256, 512]
    assert [(kernel.name, kernel.why) for kernel in source.unreachable] == [
        ("method", "it is defined inside of Add"),
        ("twice", "it is defined inside of Add"),
        ("deeper", "it is defined inside of Inner"),
    ]


def test_kernels_that_calls_make_are_guessed(tmp_path: Path) -> None:
    source = guessed(
        tmp_path,
        """
def _helper(x):
    return x + 1.0

helper = triton.jit(_helper)

def kernel(x, N: tl.constexpr, EVEN: tl.constexpr):
    tl.store(x + tl.arange(0, N), helper(2.0))

kernel = triton.jit(kernel)
kernel = triton.heuristics({"EVEN": lambda args: args["N"] % 2 == 0})(kernel)
tuned = triton.autotune([triton.Config({"N": 64}), triton.Config({"N": 128})], key=[])(kernel)
alias = print(kernel)

@triton.jit
def wrapped(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), helper(2.0))

wrapped = tune_it(64)(wrapped)
""",
    )
    tables = {kernel.function: kernel.tables for kernel in source.kernels}
    assert tables.keys() == {"kernel", "tuned", "wrapped"}
    assert source.helpers == ("helper",)
    assert not source.unreachable
    constexprs = {name: value.value for name, value in tables["kernel"]["constexprs"].items()}
    assert constexprs == {"N": 1024, "EVEN": True}
    assert [case["constexprs"] for case in tables["tuned"]["case"]] == [{"N": 64}, {"N": 128}]


@pytest.mark.parametrize(
    "head",
    [
        "import triton as t\nfrom triton import language as tl\n",
        "from triton import jit as j, language as tl\n",
        (
            "try:\n    import triton.language as tl\n    import triton as t\nexcept ImportError:\n "
            "   t = None\n"
        ),
        "from mylib.backends import triton as t, tl\n",
    ],
)
def test_triton_is_recognized_under_other_import_names(tmp_path: Path, head: str) -> None:
    decorator = "@j" if " j," in head else "@t.jit"
    document = tables(
        tmp_path,
        f"{decorator}\ndef kernel(p, N: tl.constexpr):\n    tl.store(p + tl.arange(0, N), 1)\n",
        head,
    )
    assert document["signature"] == {"p": "*i32"}


def test_second_kernel_of_the_same_name_has_its_file_in_its_name(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text(
            HEAD + "@triton.jit\ndef kernel(p):\n    tl.store(p, 1.0)\n"
        )
    sources = guess_sources([tmp_path / "a.py", tmp_path / "b.py"])
    assert [kernel.name for source in sources for kernel in source.kernels] == [
        "kernel",
        "b.kernel",
    ]


def test_guessed_names_have_only_characters_that_a_kernel_file_allows(tmp_path: Path) -> None:
    paths = [tmp_path / "a.py", tmp_path / "b é.py"]
    for path in paths:
        path.write_text(HEAD + "@triton.jit\ndef größe(p):\n    tl.store(p, 1.0)\n")
    sources = guess_sources(paths)
    assert [kernel.name for source in sources for kernel in source.kernels] == [
        "gr__e",
        "b__.gr__e",
    ]
    assert {kernel.function for source in sources for kernel in source.kernels} == {"größe"}


@for_each(
    "configs",
    [
        '[triton.Config({"B": 10 ** 10 ** 10})]',
        '[triton.Config({"B": "x" * 10 ** 9})]',
        '[triton.Config({"B": x}) for x in range(10 ** 9)]',
        '[triton.Config({"B": "%999999999d" % 1})]',
        "loop()",
        "doubled()",
        "open('/etc/passwd').read()",
        "__import__('os').system('true')",
        "[triton.Config({'B': (1).__class__.__mro__})]",
    ],
)
def test_source_is_not_run_and_its_evaluation_is_bounded(tmp_path: Path, configs: str) -> None:
    text = f"""
def loop():
    return loop()

def doubled():
    found = [1]
    for i in range(9999):
        found = found + found
    return found

@triton.autotune(configs={configs}, key=[])
@triton.jit
def kernel(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 0.0)
"""
    (kernel,) = guessed(tmp_path, text).kernels
    assert kernel.cases == 1
    assert [note.partition(" from")[0] for note in kernel.look_at] == ["its configs cannot be read"]


def test_block_that_is_broadcast_to_a_tile_is_short(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x + offs[:, None] * n + offs[None, :], 0.0)
""",
    )
    assert document["constexprs"] == {"BLOCK": 64}


def test_whole_number_operands_do_not_decide_the_element_type(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@jit
def kernel(x, y, n, m, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_block_ptr(x, (n, m), (m, 1), (0, 0), (BM, BN), (1, 0))
    q = tl.make_block_ptr(y, (n, m), (m, 1), (0, 0), (BM, BN), (1, 0))
    tl.store(q, 2 * tl.load(p) + 1)
""",
    )
    assert (document["signature"]["x"], document["signature"]["y"]) == ("*fp32", "*fp32")


def test_gluon_kernels_are_guessed_with_their_layouts(tmp_path: Path) -> None:
    head = (
        "import triton\nfrom triton.experimental import gluon\n"
        "from triton.experimental.gluon import language as ttgl\n"
    )
    text = """
@gluon.jit
def copied(x_ptr, y_ptr, n, BLOCK: ttgl.constexpr, layout: ttgl.constexpr, num_warps: ttgl.constexpr):
    at = ttgl.arange(0, BLOCK, layout=layout)
    ttgl.store(y_ptr + at, ttgl.load(x_ptr + at, mask=at < n), mask=at < n)


def launch(x, y):
    parent = ttgl.BlockedLayout([1, 1], [1, 32], [1, 8], [1, 0])
    copied[(1,)](x, y, x.numel(), 256, ttgl.SliceLayout(0, parent=parent), num_warps=8)
"""
    document = tables(tmp_path, text, head)
    assert list(document["signature"]) == ["x_ptr", "y_ptr", "n"]
    assert document["signature"]["x_ptr"].startswith("*")
    parent = "gl.BlockedLayout([1, 1], [1, 32], [1, 8], [1, 0])"
    assert document["constexprs"]["layout"] == {"layout": f"gl.SliceLayout(0, parent={parent})"}
    assert (document["constexprs"]["num_warps"], document["options"]["num_warps"]) == (8, 8)
    without = tables(tmp_path, text.partition("def launch")[0], head)
    assert without["constexprs"]["layout"] == {"layout": "gl.BlockedLayout([1], [32], [4], [0])"}
    flag = "@triton.jit\ndef kernel(p, of_layout: tl.constexpr):\n    if of_layout:\n        tl.store(p, 1)"
    assert tables(tmp_path, flag)["constexprs"]["of_layout"] is False


@for_each(
    ("made", "block"),
    [
        ("TensorDescriptor.from_tensor(x, [M, 2 * M])", "fp16[32, 64]"),
        ("TensorDescriptor.from_tensor(x, block_shape=block)", "fp16[16, 128]"),
        ("TensorDescriptor(x, x.shape, x.stride(), [M, 128])", "fp16[32, 128]"),
        ("TensorDescriptor.from_tensor(torch.empty(M, M, dtype=torch.float32), block)", "fp32[16, 128]"),
        ("TensorDescriptor.from_tensor(x, [1, 1])", ""),
        ("TensorDescriptor.from_tensor(x, [unknown, 64])", ""),
        ("TensorDescriptor.from_tensor(x)", ""),
    ],
)  # fmt: skip
def test_descriptor_has_the_block_shape_with_which_the_host_makes_it(
    made: str, block: str, tmp_path: Path
) -> None:
    source = f"""
import torch
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def kernel(desc, y_ptr):
    tl.store(y_ptr, desc.load([0, 0]))

def run(x, y, unknown):
    M, block = 32, (16, 128)
    desc = {made}
    kernel[(1,)](desc, y)
"""
    (kernel,) = guessed(tmp_path, source).kernels
    signature = kernel.tables["signature"]
    assert signature["desc"].value == f"tensordesc<{block or 'fp16[64, 64]'}>"
    assert kernel.look_at == (() if block else ("desc: its block shape",))


def test_hook_of_a_config_sets_the_block_shapes_of_descriptors(tmp_path: Path) -> None:
    """A case has the block shapes of its own config, and they are no doubtful guesses."""
    source = """
from triton.tools.tensor_descriptor import TensorDescriptor

def set_blocks(args):
    side = args["SIDE"]
    if isinstance(args["x_desc"], TensorDescriptor):
        args["x_desc"].block_shape = [side, args.get("OTHER", 32)]
    args["y_desc"].block_shape = [side // 2]

@triton.autotune([triton.Config({"SIDE": side}, pre_hook=set_blocks) for side in (16, 64)], key=[])
@triton.jit
def kernel(x_desc, y_desc, z_ptr, SIDE: tl.constexpr):
    total = tl.dot(x_desc.load([0, 0]), x_desc.load([0, 0]).T)
    tl.store(z_ptr, total + y_desc.load([0]))

def run(x, y, z):
    x_desc = TensorDescriptor.from_tensor(x, [1, 1])
    kernel[(1,)](x_desc, TensorDescriptor.from_tensor(y, [1]), z)
"""
    document = tables(tmp_path, source)
    assert document["signature"]["x_desc"] == "tensordesc<fp16[16, 32]>"
    assert document["signature"]["y_desc"] == "tensordesc<fp16[8]>"
    first, second = document["case"]
    assert "signature" not in first
    assert second["signature"] == {
        "x_desc": "tensordesc<fp16[64, 32]>",
        "y_desc": "tensordesc<fp16[32]>",
    }
    without = source.replace('args["y_desc"].block_shape', 'args["y_desc"].name')
    (kernel,) = guessed(tmp_path, without).kernels
    assert kernel.look_at == ("y_desc: its block shape",)
    (kernel,) = guessed(tmp_path, source.replace("side //", "unknown //")).kernels
    assert kernel.look_at == ("y_desc: its block shape",)
    starred = source.replace('isinstance(args["x_desc"], TensorDescriptor)', "isinstance(*side)")
    (kernel,) = guessed(tmp_path, starred).kernels
    assert len(kernel.look_at) == 2


def test_configs_may_be_imported_and_filtered_by_the_gpu(tmp_path: Path) -> None:
    """A filter that asks for the machine's GPU leaves every config."""
    (tmp_path / "tuning.py").write_text(
        "import triton\n\ndef make(n):\n    return [triton.Config({'N': n}), triton.Config({'N': 2 * n})]"
        "\n\nCONFIGS = make(64)\n"
    )
    kernel = "@triton.jit\ndef kernel(p, N: tl.constexpr):\n    tl.store(p + tl.arange(0, N), 1)\n"
    keep = "def keep(config):\n    return torch.cuda.get_device_capability()[0] == 9\n"
    for imported, configs in (("CONFIGS", "CONFIGS"), ("make", "make(64)")):
        for form in (configs, f"list(filter(keep, {configs}))"):
            text = (
                f"from .tuning import {imported}\n{keep}@triton.autotune({form}, key=[])\n{kernel}"
            )
            cases = tables(tmp_path, text)["case"]
            assert [case["constexprs"] for case in cases] == [{"N": 64}, {"N": 128}], text


def test_number_of_processors_is_that_of_a_gpu(tmp_path: Path) -> None:
    text = """
@triton.jit
def kernel(p, NUM_SMS: tl.constexpr):
    tl.store(p + NUM_SMS, 1)

def run(p):
    count = torch.cuda.get_device_properties(p.device).multi_processor_count
    kernel[(count,)](p, NUM_SMS=count)
"""
    assert tables(tmp_path, text)["constexprs"] == {"NUM_SMS": 132}


def test_descriptor_has_a_block_and_elements_that_its_use_allows(tmp_path: Path) -> None:
    """A block of 64 in five dimensions is larger than any that compiles."""
    text = """
@triton.jit
def kernel(a_desc, s_desc, b_desc, t_desc, c_ptr):
    a, s = a_desc.load([0, 0]), s_desc.load([0, 0, 0])
    b, t = b_desc.load([0, 0]), t_desc.load([0, 0, 0, 0, 0])
    tl.store(c_ptr, tl.dot_scaled(a, s.reshape(64, 2), "e4m3", b, t.reshape(64, 2), "e2m1"))
"""
    signature = tables(tmp_path, text)["signature"]
    assert signature == {
        "a_desc": "tensordesc<u8[64, 64]>",
        "s_desc": "tensordesc<u8[1, 64, 64]>",
        "b_desc": "tensordesc<u8[64, 64]>",
        "t_desc": "tensordesc<u8[1, 1, 1, 64, 64]>",
        "c_ptr": "*fp32",
    }


def test_constexprs_have_values_of_their_range(tmp_path: Path) -> None:
    """A shift by 64 bits, or the limits of fp8 as whole numbers, do not compile everywhere."""
    text = """
@triton.jit
def kernel(x_ptr, WIDTH: tl.constexpr, fp8_min: tl.constexpr, FP8_MAX: tl.constexpr, w_nbits: tl.constexpr):
    x = tl.load(x_ptr)
    tl.store(x_ptr + 32 // w_nbits, tl.clamp(x * ((1 << WIDTH) - 1), fp8_min, FP8_MAX))
"""
    values = tables(tmp_path, text)["constexprs"]
    assert values == {"WIDTH": 4, "fp8_min": -448.0, "FP8_MAX": 448.0, "w_nbits": 4}


def test_sides_of_a_descriptor_are_those_that_its_offsets_are_multiples_of(tmp_path: Path) -> None:
    text = """
configs = [triton.Config({"BLOCK_M": 16 * n, "BLOCK_K": 32}) for n in (1, 2)]

@triton.autotune(configs, key=[])
@triton.jit
def kernel(a_desc, b_desc, c_desc, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    first = tl.program_id(0) * BLOCK_M
    at, total = 0, tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(K):
        b = b_desc.load([tl.program_id(1) * BLOCK_N, at])
        total = tl.dot(a_desc.load([first, at]), b.T, total)
        at += BLOCK_K
    c_desc.store([first, 0], total)
"""
    document = tables(tmp_path, text)
    block_n = document["constexprs"]["BLOCK_N"]
    assert document["signature"] == {
        "a_desc": "tensordesc<fp16[16, 32]>",
        "b_desc": f"tensordesc<fp16[{block_n}, 32]>",
        "c_desc": "tensordesc<fp16[16, 64]>",
        "K": "i32",
    }
    second = next(case for case in document["case"] if case["name"] == "32x32")
    assert second["signature"] == {
        "a_desc": "tensordesc<fp16[32, 32]>",
        "c_desc": "tensordesc<fp16[32, 64]>",
    }
    (kernel,) = guessed(tmp_path, text).kernels
    assert kernel.look_at == ("c_desc: its block shape",)


def test_variable_of_a_loop_is_a_multiple_of_its_step(tmp_path: Path) -> None:
    text = """
@triton.jit
def kernel(x_desc, n, BLOCK: tl.constexpr):
    for at in tl.range(0, n, BLOCK):
        x_desc.store([tl.program_id(0) + at], x_desc.load([tl.program_id(0) + at]))

def run(x):
    kernel[(1,)](x, 64, BLOCK=32)
"""
    signature = tables(tmp_path, text)["signature"]
    assert signature == {"x_desc": "tensordesc<fp16[32]>", "n": "i32"}


def test_factor_of_a_block_is_smaller_than_the_block(tmp_path: Path) -> None:
    text = """
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr, BLOCK_SLICE_FACTOR: tl.constexpr):
    PART: tl.constexpr = BLOCK // BLOCK_SLICE_FACTOR
    at = tl.arange(0, PART)
    tl.store(x_ptr + at[:, None] * PART + at[None, :], 0.0)
"""
    constexprs = tables(tmp_path, text)["constexprs"]
    assert constexprs == {"BLOCK": 64, "BLOCK_SLICE_FACTOR": 2}


def test_type_that_a_static_assert_requires_is_stronger_than_a_launch(tmp_path: Path) -> None:
    text = """
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, SWAPPED: tl.constexpr):
    a, b = tl.load(a_ptr), tl.load(b_ptr)
    if SWAPPED:
        tl.static_assert(a.dtype == tl.int16)
        tl.static_assert(b.dtype == tl.bfloat16)
    else:
        tl.static_assert(a.dtype == tl.bfloat16, "a is no bf16")
        tl.static_assert(b.dtype == tl.int8)
    tl.store(c_ptr, a.to(tl.float32) * b)

def run(a, b):
    c = torch.empty_like(a)
    kernel[(1,)](a, b.to(torch.bfloat16), c, SWAPPED=False)
"""
    signature = tables(tmp_path, text)["signature"]
    assert (signature["a_ptr"], signature["b_ptr"]) == ("*bf16", "*i8")
    swapped = tables(tmp_path, text.replace("SWAPPED=False", "SWAPPED=True"))["signature"]
    assert (swapped["a_ptr"], swapped["b_ptr"]) == ("*i16", "*bf16")


def test_names_decide_less_than_conditions_and_more_than_a_comparison_with_0(
    tmp_path: Path,
) -> None:
    text = """
@triton.jit
def kernel(draft_probs_ptr, x_ptr, CAST_TO_DTYPE: tl.constexpr, ACC_TYPE: tl.constexpr):
    prob = tl.load(draft_probs_ptr)
    if CAST_TO_DTYPE and prob > 0:
        tl.store(x_ptr, tl.load(x_ptr).to(ACC_TYPE) / prob)
"""
    document = tables(tmp_path, text)
    assert document["signature"]["draft_probs_ptr"] == "*fp32"
    assert document["constexprs"] == {"CAST_TO_DTYPE": False, "ACC_TYPE": {"dtype": "fp32"}}


@for_each("keyword", ["warp_specialize", "flatten", "disallow_acc_multi_buffer"])
def test_constexpr_that_is_passed_for_a_flag_is_a_flag(keyword: str, tmp_path: Path) -> None:
    text = f"""
@triton.jit
def kernel(x_ptr, n, SPECIAL: tl.constexpr):
    for at in tl.range(0, n, {keyword}=SPECIAL):
        tl.store(x_ptr + at, 1)
"""
    (kernel,) = guessed(tmp_path, text).kernels
    assert kernel.tables["constexprs"]["SPECIAL"].value is False
    assert kernel.look_at == ()


@for_each("dtype", ["tl.int32", "ACC"])
def test_product_of_whole_numbers_is_whole(dtype: str, tmp_path: Path) -> None:
    """The accumulator shows it, also if its dtype is the default of a constexpr."""
    text = f"""
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, EVEN: tl.constexpr, ACC: tl.constexpr = tl.int32):
    at = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)
    total = tl.zeros((32, 32), dtype={dtype})
    if EVEN:
        total += tl.dot(tl.load(a_ptr + at), tl.load(b_ptr + at))
    else:
        total += tl.dot(tl.load(a_ptr + at, mask=at < 7, other=0.0), tl.load(b_ptr + at))
    tl.store(c_ptr + at, total)
"""
    signature = tables(tmp_path, text)["signature"]
    assert signature == {"a_ptr": "*i8", "b_ptr": "*i8", "c_ptr": "*i32"}


def test_descriptor_that_gluon_copies_from_has_a_layout(tmp_path: Path) -> None:
    head = (
        "from triton.experimental import gluon\n"
        "from triton.experimental.gluon.language.nvidia.hopper import tma\n"
    )
    text = """
@gluon.jit
def copied(x_desc, y_desc, bar, shared):
    tma.async_copy_global_to_shared(x_desc, [0, 0], bar, shared)
    tma.async_store(y_desc, coord=[0], src=shared)
"""
    signature = tables(tmp_path, text, head)["signature"]
    layout = "NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank"
    assert signature["x_desc"] == f"tensordesc<fp16[64, 64],{layout}=2)>"
    assert signature["y_desc"] == f"tensordesc<fp16[64],{layout}=1)>"


def test_types_of_gluon_pointers_follow_from_shared_memory_and_accumulators(tmp_path: Path) -> None:
    head = (
        "from triton.experimental import gluon\n"
        "from triton.experimental.gluon import language as gl\n"
        "from triton.experimental.gluon.language.nvidia.hopper import warpgroup_mma,"
        " warpgroup_mma_wait\n"
    )
    text = """
@gluon.jit
def product(a_ptr, b_ptr, c_ptr, copy_ptr, SHAPE: gl.constexpr):
    at = gl.arange(0, 64)
    first = gl.allocate_shared_memory(gl.bfloat16, [64, 64], SHARED, gl.load(a_ptr + at))
    second = gl.allocate_shared_memory(gl.bfloat16, [2, 64, 64], SHARED)
    second.index(1).store(gl.load(b_ptr + at))
    total = gl.zeros([64, 64], gl.float32, LAYOUT)
    total = warpgroup_mma(first, second.index(1), total, is_async=True)
    total = warpgroup_mma_wait(num_outstanding=0, deps=[total])
    gl.store(c_ptr + at, total)
    gl.store(copy_ptr + at, first.load(LAYOUT))
"""
    assert tables(tmp_path, text, head)["signature"] == {
        "a_ptr": "*bf16",
        "b_ptr": "*bf16",
        "c_ptr": "*fp32",
        "copy_ptr": "*bf16",
    }


IMPORTS = {
    "from package.reading import read": "read",
    "from .reading import read as get": "get",
    "from . import reading": "reading.read",
    "from . import read": "read",
    "import package.reading": "package.reading.read",
    "from package.ops import read": "read",
}


@for_each("imported", IMPORTS)
def test_function_of_another_module_is_followed(imported: str, tmp_path: Path) -> None:
    """The function may also come from a module that re-exports it.

    Its defaults and globals are those of the module that defines it.
    """
    package = tmp_path / "package"
    (package / "ops").mkdir(parents=True)
    (package / "__init__.py").write_text("from .reading import read\n")
    (package / "ops" / "__init__.py").write_text("from ..reading import read\n")
    (package / "reading.py").write_text(
        HEAD
        + """
HALF = 0.5
DOUBLE = 2.0

@triton.jit
def read(base, rows, at, one, two, half=HALF):
    tl.store(rows + at + 1, tl.load(rows + at))
    tl.store(base + 1, one * half)
    return tl.load(base + tl.load(rows + at)) + two * DOUBLE
"""
    )
    path = package / "kernels.py"
    path.write_text(
        f"{HEAD}{imported}\n"
        + f"""
@triton.jit
def kernel(values, which, out, one, two):
    at = tl.program_id(0)
    tl.store(out + at, {IMPORTS[imported]}(values, which, at, one, two))
"""
    )
    (source,) = guess_sources([path])
    (kernel,) = source.kernels
    assert {name: guess.value for name, guess in kernel.tables["signature"].items()} == {
        "values": "*fp32",
        "which": "*i32",
        "out": "*fp32",
        "one": "fp32",
        "two": "fp32",
    }


def test_functions_with_names_of_mathematics_are_resolved(tmp_path: Path) -> None:
    """A function of another module counts as the language's function of that name.

    A function of the source counts by its own code.
    """
    (tmp_path / "library.py").write_text(
        f"{HEAD}\n@jit\ndef exp(x):\n    return tl.exp(x.to(tl.float32))\n"
    )
    document = tables(
        tmp_path,
        """
from library import exp

@triton.jit
def log(base, at):
    return tl.load(base + at)

@triton.jit
def kernel(x, y, at):
    tl.store(x + at, exp(tl.load(x + at)) + log(y, at))
""",
    )
    assert document["signature"] == {"x": "*fp32", "y": "*fp32", "at": "i32"}


@pytest.mark.parametrize(
    "module", [None, "def (", "from package.reading import read"], ids=["no", "broken", "itself"]
)
def test_function_that_cannot_be_found_is_skipped(module: str | None, tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    if module:
        (package / "reading.py").write_text(module)
    path = tmp_path / "kernels.py"
    path.write_text(
        f"{HEAD}from package.reading import read\n@jit\ndef kernel(x_ptr):\n    read(x_ptr)\n"
    )
    (source,) = guess_sources([path])
    assert [kernel.name for kernel in source.kernels] == ["kernel"]


def test_operations_on_whole_numbers_or_bits_decide_element_types(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(packed, valid, flags, raw, half_bits, quantized, scales, weights, out, N: tl.constexpr):
    at = tl.arange(0, N)
    low = (tl.load(packed + at, at < N, 0.0) >> 4) * 0.5
    on = tl.load(valid + at) & (at < N)
    one = tl.load(flags + at) ^ 1
    fp8 = tl.load(raw + at).to(tl.float8e5, bitcast=True)
    fp16 = tl.cast(tl.load(half_bits + at), tl.float16, bitcast=True)
    code = low.to(quantized.dtype.element_ty).to(tl.uint8, bitcast=True)
    tl.store(out + at, fp8 + fp16 + one + code, mask=on)
    ab = tl.dot_scaled(tl.load(weights + at), tl.load(scales + at), "e4m3", fp8, None, "e5m2")
    tl.store(quantized + at, ab)
""",
    )
    assert document["signature"] == {
        "packed": "*i32",
        "valid": "*i1",
        "flags": "*i32",
        "raw": "*u8",
        "half_bits": "*u16",
        "quantized": "*fp8e5",
        "scales": "*u8",
        "weights": "*u8",
        "out": "*fp16",
    }


def test_histogram_and_what_its_counts_are_cast_to_are_whole_numbers(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(chosen, counts, n, N: tl.constexpr, BINS: tl.constexpr):
    at = tl.arange(0, N)
    counted = tl.zeros((BINS,), dtype=tl.int32)
    for _ in range(n):
        counted += tl.histogram(tl.ravel(tl.load(chosen + at)), BINS)
    tl.store(counts + tl.arange(0, BINS), counted.to(counts.dtype.element_ty))
""",
    )
    assert document["signature"] == {"chosen": "*i32", "counts": "*i32", "n": "i32"}


def test_bitcast_after_a_cast_does_not_decide_the_element_type(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(codes, sent, rest, N: tl.constexpr):
    at = tl.arange(0, N)
    low = tl.load(codes + at).to(tl.uint16)
    tl.store(sent + at, low.to(sent.dtype.element_ty, bitcast=True))
    byte = tl.load(codes + at).to(tl.uint8)
    tl.store(rest + at, byte.to(tl.float8e5, bitcast=True).to(tl.float32) * 1.5 % 2.0)
""",
    )
    assert document["signature"] == {"codes": "*i32", "sent": "*fp16", "rest": "*fp32"}


def test_operands_of_a_remainder_of_floats_are_floats(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(x, period, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(x + at, tl.load(x + at) * 0.5 % (period * 2.0))
""",
    )
    assert document["signature"] == {"x": "*fp32", "period": "fp32"}


def test_scaled_dot_with_constexpr_formats_has_a_block_of_64(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(a, b, scales, FORMAT: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)
    scale = tl.load(scales + at)
    tl.store(a + at, tl.dot_scaled(tl.load(a + at), scale, FORMAT, tl.load(b + at), scale, FORMAT))
""",
    )
    assert document["constexprs"]["N"] == 64


def test_dot_that_is_added_to_whole_numbers_has_i8_operands(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(a, b, c, d, out, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    whole = tl.zeros((N, N), dtype=tl.int32)
    for _ in range(4):
        whole += tl.dot(tl.load(a + at), tl.load(b + at))
    parts = tl.zeros((N, N), dtype=tl.float32)
    parts = tl.dot(tl.load(c + at), tl.load(d + at)) + parts
    tl.store(out + at, whole + parts)
""",
    )
    assert [document["signature"][name] for name in "abcd"] == ["*i8", "*i8", "*fp16", "*fp16"]


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (", whole", "i8"),
        (", acc=whole", "i8"),
        (", out_dtype=tl.int32", "i8"),
        (", parts", "fp16"),
        (", out_dtype=tl.float32", "fp16"),
        ("", "fp16"),
    ],
)
def test_dot_that_begins_or_ends_with_whole_numbers_has_i8_operands(
    start: str, kind: str, tmp_path: Path
) -> None:
    document = tables(
        tmp_path,
        f"""
@triton.jit
def kernel(a, b, out, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    whole = tl.zeros((N, N), dtype=tl.int32)
    parts = tl.zeros((N, N), dtype=tl.float32)
    tl.store(out + at, tl.dot(tl.load(a + at), tl.load(b + at){start}))
""",
    )
    assert [document["signature"][name] for name in "ab"] == [f"*{kind}"] * 2


def test_function_that_converts_a_whole_number_decides_its_type(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(a, b, c, out, N: tl.constexpr):
    at = tl.arange(0, N)
    one = tl.extra.cuda.libdevice.int2float_rn(tl.load(a + at))
    two = tl.extra.cuda.libdevice.ull2double_rz(tl.load(b + at))
    tl.store(out + at, one + two + tl.extra.cuda.libdevice.add_rn(tl.load(c + at), one))
""",
    )
    assert [document["signature"][name] for name in "abc"] == ["*i32", "*u64", "*fp32"]


def test_dtype_of_a_cast_dot_operand_follows_from_the_other_operand(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(a, b, out, ONE: tl.constexpr, TWO: tl.constexpr, OUT: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    x, y = tl.load(a + at), tl.load(b + at) >> 4
    product = tl.dot(x, y.to(ONE)) + tl.dot(y.to(TWO), x.to(tl.float32))
    tl.store(out + at, product.to(OUT))
""",
    )
    dtypes = [document["constexprs"][name] for name in ("ONE", "TWO", "OUT")]
    assert dtypes == [{"dtype": "fp16"}, {"dtype": "fp32"}, {"dtype": "fp32"}]


def test_an_operand_of_tl_dot_has_the_type_that_the_other_operand_is_known_to_have(
    tmp_path: Path,
) -> None:
    """A value that is computed in fp32 has this type, whatever is loaded for it.

    So has a tensor that the launch makes.
    """
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(bias, weights, left, right, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    gate = tl.zeros((N, N), tl.float32) + tl.load(bias + at)
    tl.store(bias + at, tl.dot(gate * gate, tl.load(weights + at)))
    tl.store(left + at, tl.dot(tl.load(left + at), tl.load(right + at)))

def run(bias, weights, left, right):
    kernel[(1,)](bias, weights, left.float(), right, N=64)
""",
    )
    assert document["signature"] == {
        "bias": "*fp32",
        "weights": "*fp32",
        "left": "*fp32",
        "right": "*fp32",
    }


def test_loaded_addresses_are_i64(tmp_path: Path) -> None:
    """The kernel casts them to pointers. What it adds to them is a whole number."""
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(tables, others, rows, out, step, start, N: tl.constexpr):
    at = tl.arange(0, N)
    row = tl.load(rows + tl.program_id(0)) + tl.load(others + start)
    first = tl.load(tables + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    second = tl.load(others + tl.program_id(0)).to(out.dtype)
    tl.store(out + at, tl.load(first + row * step + start) + tl.load(second + at))
""",
    )
    assert document["signature"] == {
        "tables": "*i64",
        "others": "*i64",
        "rows": "*i32",
        "out": "*fp32",
        "step": "i32",
        "start": "i32",
    }


CHOICES = {
    "one, two = tl.load(tl.where(at > n, a, b) + at), 0": True,
    "one, two = tl.load(tl.where(at > n, a, tl.where(at > 9, c, b)) + at), 0": True,
    "if n > 4:\n        p = a\n    else:\n        p = b\n    one, two = tl.load(p + at), 0": True,
    "if n > 4:\n        one = tl.load(a + at)\n    else:\n        one = tl.load(b + at)\n    two = 0": True,
    "if tl.program_id(0) == 0:\n        p = a\n    else:\n        p = b\n    one, two = tl.load(p + at), 0": True,
    "if FIRST:\n        one = tl.load(a + at)\n    else:\n        one = tl.load(b + at)\n    two = 0": False,
    "one, two = tl.load(a + at), tl.load(b + at)": False,
    "if n > 4:\n        one = tl.load(a + at) + n * 0.5\n    else:\n        one = tl.load(b + at)\n    two = 0": False,
}


@for_each("chosen", CHOICES)
def test_pointers_that_are_chosen_at_run_time_have_the_same_type(
    chosen: str, tmp_path: Path
) -> None:
    document = tables(
        tmp_path,
        f"""
@triton.jit
def kernel(a, b, c, out, n, FIRST: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)
    {chosen}
    tl.store(out + at, one + two + tl.load(b + tl.load(c + at) + at).to(tl.float32))
""",
    )
    assert document["signature"]["b"] == "*fp16"
    assert (document["signature"]["a"] == "*fp16") == CHOICES[chosen]


def test_equal_types_of_pointers_are_transitive(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(a, b, c, n):
    one = tl.load(tl.where(n > 4, a, b))
    two = tl.load(tl.where(n > 5, b, c))
    tl.store(a, one + two + tl.load(c).to(tl.float32))
""",
    )
    assert document["signature"] == {"a": "*fp16", "b": "*fp16", "c": "*fp16", "n": "i32"}


def test_comparison_with_zero_does_not_override_other_uses(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(x, rows, out, N: tl.constexpr):
    at = tl.arange(0, N)
    value, row = tl.load(x + at), tl.load(rows + at)
    tl.store(out + at, tl.exp(tl.where(value <= 0, value, 0.0)), mask=row >= 0)
""",
    )
    assert document["signature"] == {"x": "*fp32", "rows": "*i32", "out": "*fp32"}


def test_argument_of_an_fp32_function_is_fp32(tmp_path: Path) -> None:
    """A comparison with a number does not show the type, nor does a cast to fp32 at another place."""
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(amax, decay, bias, out, N: tl.constexpr):
    at = tl.arange(0, N)
    largest, rate = tl.load(amax), tl.load(decay)
    scale = tl.div_rn(6, largest) if largest == 0 else 1.0
    powers = tl.exp(tl.where(at >= 0, rate * at, float("-inf"))) * rate.to(tl.float32)
    shift = tl.load(bias + at)
    tl.store(out + at, powers * scale + tl.log(shift) * (shift < 4))
""",
    )
    assert document["signature"] == {
        "amax": "*fp32",
        "decay": "*fp32",
        "bias": "*fp32",
        "out": "*fp32",
    }


def test_descriptor_has_the_dtype_of_the_other_operand_of_a_dot(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(rows_desc, square_desc, out_desc, N: tl.constexpr):
    rows = rows_desc.load([0, 0]).to(tl.bfloat16)
    out_desc.store([0, 0], tl.dot(rows, square_desc.load([0, 0])))
""",
    )
    assert [kind[:15] for kind in document["signature"].values()] == [
        "tensordesc<fp16",
        "tensordesc<bf16",
        "tensordesc<fp16",
    ]


def test_constexprs_are_guessed_as_fill_values_texts_and_lengths(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(
    x, y, out, FILL: tl.constexpr, PRECISION: tl.constexpr, EVICT: tl.constexpr, STEPS: tl.constexpr,
    MOST_STEPS: tl.constexpr, SOFTCAP: tl.constexpr, SHIFT: tl.constexpr, PACK_FACTOR: tl.constexpr,
    N: tl.constexpr
):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    filled = tl.full((N, N), FILL, tl.float32)
    for step in range(STEPS):
        filled += tl.dot(tl.load(x + at), tl.load(y + at), input_precision=PRECISION)
    kind = (at + SHIFT).dtype
    if SOFTCAP > 0:
        filled += tl.zeros((N, N), dtype=kind) * MOST_STEPS
    tl.store(out + at // PACK_FACTOR, filled, eviction_policy=EVICT)
""",
    )
    assert document["constexprs"] == {
        "FILL": 64,
        "PRECISION": "ieee",
        "EVICT": "evict_last",
        "STEPS": 64,
        "MOST_STEPS": 64,
        "SOFTCAP": 1.0,
        "SHIFT": 64,
        "PACK_FACTOR": 64,
        "N": 64,
    }


@pytest.mark.parametrize("condition", ["WINDOW == 448", "0 == WINDOW % 448"])
def test_static_assertion_decides_the_value_of_a_constexpr(condition: str, tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        f"""
@triton.jit
def kernel(x, WINDOW: tl.constexpr):
    tl.static_assert({condition})
    tl.store(x + WINDOW, 1.0)
""",
    )
    assert document["constexprs"] == {"WINDOW": 448}


def test_block_functions_that_a_library_reexports_are_recognized(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
from library.compatible import make_tensor_descriptor

@triton.jit
def kernel(g, T, N: tl.constexpr):
    tile = make_tensor_descriptor(g, [T, N], [N, 1], [N, N]).load([0, 0])
    tl.store(g, tl.sum(tile))
""",
    )
    assert document["signature"] == {"g": "*fp32", "T": "i32"}


@pytest.mark.parametrize(
    ("branch", "types"),
    [
        ("if MANY:", {"offsets": "i32", "cached": "*fp16", "rows": "*fp16"}),
        ("if not MANY:", {"offsets": "*i32", "cached": "*i64", "rows": "*fp32"}),
    ],
)
def test_branch_that_is_not_compiled_does_not_decide_types(
    branch: str, types: dict[str, str], tmp_path: Path
) -> None:
    """The guess for MANY is false. A helper and a local constant depend on it, too."""
    document = tables(
        tmp_path,
        f"""
@triton.jit
def pointers(cached, MANY: tl.constexpr):
    {branch}
        return tl.load(cached).to(tl.pointer_type(tl.float16))
    else:
        return cached

@triton.jit
def kernel(offsets, cached, rows, out, N: tl.constexpr, MANY: tl.constexpr):
    at = tl.arange(0, N)
    {branch}
        at = at + tl.load(offsets + tl.program_id(0))
    else:
        at = at + offsets
    tile = at[:, None] * N + at[None, :]
    block = tl.load(pointers(cached, MANY) + tile)
    MODE: tl.constexpr = 1 if MANY else 2
    sum = tl.dot(block, block) if MODE == {2 if "not" not in branch else 1} else 0.0
    row = tl.load(rows + at)
    {branch}
        row = tl.exp(row)
    else:
        row = row.to(tl.float32)
    tl.store(out + tile, sum + row[None, :])
""",
    )
    assert {name: document["signature"][name] for name in types} == types


def test_number_in_the_compiled_branch_has_a_size(tmp_path: Path) -> None:
    source = guessed(
        tmp_path,
        """
@triton.jit
def kernel(width, x, MANY: tl.constexpr):
    if MANY:
        x += tl.load(width)
    else:
        x += width
    tl.store(x, 1.0)
""",
    )
    (kernel,) = source.kernels
    width = kernel.tables["signature"]["width"]
    assert (width.value, width.note) == ("i32", "guessed: part of an address; taken as 1024")


def test_variables_keep_their_type_in_loops_and_branches(tmp_path: Path) -> None:
    """An index that is chosen together with its value does not have the type of the value."""
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(part_sums, ids, kept, probs, start, best_at, out, n, N: tl.constexpr):
    total = 0
    best = tl.zeros([], dtype=tl.int64)
    highest = -float("inf")
    at_highest = 0
    for step in range(n):
        total += tl.sum(tl.load(part_sums + step * N + tl.arange(0, N)))
        best = tl.load(ids + step)
        value, index = tl.max(tl.load(probs + step) + tl.load(start + step), axis=0, return_indices=True)
        at_highest = tl.where(value > highest, index, at_highest)
    if total > 7:
        kept_value = tl.load(kept)
    else:
        kept_value = 0
    tl.store(out, total + best + kept_value)
    tl.store(best_at, at_highest)
""",
    )
    types = {name: document["signature"][name] for name in ("part_sums", "ids", "kept", "probs")}
    assert types == {"part_sums": "*i32", "ids": "*i64", "kept": "*i32", "probs": "*fp32"}


def test_all_arguments_of_max_count_as_bounds_of_a_loop(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(first, second, x):
    for at in range(max(tl.load(first), tl.load(second)), 9):
        tl.store(x + at, 1.0)
""",
    )
    assert document["signature"] == {"first": "*i32", "second": "*i32", "x": "*fp32"}


def test_block_length_is_a_power_of_two_if_a_guess_can_make_it_one(tmp_path: Path) -> None:
    """A branch that is not compiled is an exception: there, a length of 0 is right.

    The guess keeps all configs.
    """
    source = guessed(
        tmp_path,
        """
@triton.autotune([triton.Config({"B": 64}), triton.Config({"B": 96})], key=[])
@triton.jit
def kernel(x, B: tl.constexpr, OVERLAP: tl.constexpr, RATIO: tl.constexpr, ROPE: tl.constexpr):
    if ROPE > 0:
        tl.static_assert(B == 64)
    x += tl.arange(0, B)
    tl.store(x, tl.sum(tl.arange(0, (1 + OVERLAP) * RATIO)))
    if ROPE > 0:
        tl.store(x, tl.sum(tl.arange(0, ROPE)))

def run(x, overlap, ratio):
    kernel[(1,)](x, OVERLAP=overlap, RATIO=ratio, ROPE=0)
""",
    )
    (kernel,) = source.kernels
    values = {name: noted.value for name, noted in kernel.tables["constexprs"].items()}
    assert (1 + values["OVERLAP"]) * values["RATIO"] in (2**power for power in range(1, 20))
    assert values["ROPE"] == 0
    assert [case["name"] for case in kernel.tables["case"]] == ["B64", "B96"]


def test_each_part_of_a_static_assertion_decides_a_value(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(x, BYTES: tl.constexpr, SCALES: tl.constexpr):
    tl.static_assert(BYTES == 448 and SCALES == 7)
    tl.store(x + BYTES + SCALES, 1.0)
""",
    )
    assert document["constexprs"] == {"BYTES": 448, "SCALES": 7}


def test_pointers_in_a_tuple_that_a_helper_returns_are_typed(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def tile(base, count, N: tl.constexpr):
    at = tl.arange(0, N)
    if count > 9:
        return base + at[:, None] * N + at[None, :], at < count
    return base + at[:, None] * N + at[None, :], at < 9

@triton.jit
def kernel(queries, keys, best, count, N: tl.constexpr):
    rows, mask = tile(queries, count, N)
    columns, _ = tile(keys, count, N)
    scores = tl.dot(tl.load(rows, mask=mask[:, None]), tl.load(columns))
    value, index = tl.max(scores, axis=1, return_indices=True)
    tl.store(best + tl.arange(0, N), index)
""",
    )
    assert document["signature"] == {
        "queries": "*fp16",
        "keys": "*fp16",
        "best": "*i32",
        "count": "i32",
    }


def test_uncompiled_branches_decide_what_the_compiled_code_leaves_open(tmp_path: Path) -> None:
    """The guess for BYTES is false.

    The other branch decides the width of elements, the type of floats, and what is a pointer.
    """
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(packed, rows, unused, probs, table, out, N: tl.constexpr, BYTES: tl.constexpr):
    at = tl.arange(0, N)
    tile = at[:, None] * N + at[None, :]
    if BYTES:
        tl.static_assert(N == 48)
        exact = tl.load(packed + at).to(tl.float8e5, bitcast=True)
        both = tl.dot(tl.load(rows + tile), tl.load(rows + tile)) + tl.load(unused + at) * 0.5
        if tl.load(probs) < 1.0:
            tl.store(out + at, exact + both)
    else:
        tl.store(out + at, tl.load(packed + at) >> 4)
        tl.store(out + tile, tl.load(rows + tile))
        which = (tl.load(probs) * 200).to(tl.int32)
        tl.store(out + at, tl.load(table + which) * 0.5)
        if tl.load(probs) < 1.0:
            tl.store(out, 0.0)
""",
    )
    del document["signature"]["out"]
    assert document["signature"] == {
        "packed": "*u8", "rows": "*fp16", "unused": "*fp32", "probs": "*fp32", "table": "*fp32",
    }  # fmt: skip
    assert document["constexprs"]["N"] != 48


@pytest.mark.parametrize(
    "setting",
    [
        "MODE = 1\n    if n > 3:\n        MODE = 2",
        "for MODE in (1, 2):\n        pass",
        "MODE = START\n    for MODE in range(n):\n        tl.store(x, 1.0)",
        "MODE = START\n    for START in range(n):\n        MODE = START",
        "if n > 3:\n        START = 2\n    MODE = START + 7",
        "MODE = n",
        "MODE, other = PAIR",
    ],
    ids=["twice", "head", "again", "loop", "branch", "global", "tuple"],
)
def test_variable_without_a_known_value_excludes_no_branch(setting: str, tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        f"""
MODE = 2
PAIR = (1, 2)

@triton.jit
def kernel(offsets, x, n, START: tl.constexpr, WIDE: tl.constexpr):
    if WIDE:
        x += 5
    {setting}
    if MODE == 1:
        x += tl.load(offsets)
    else:
        x += offsets
    tl.store(x, 1.0)
""",
    )
    assert document["signature"]["offsets"] == "*i32"


def test_type_of_a_loop_carried_value_follows_from_its_next_pass(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(first, others, out, n):
    value = tl.load(first)
    for step in range(n):
        tl.store(out + step, value.to(tl.float32))
        value = tl.load(others + step)
""",
    )
    assert document["signature"] == {
        "first": "*fp16",
        "others": "*fp16",
        "out": "*fp32",
        "n": "i32",
    }


def test_defaults_of_a_helper_decide_its_branches(tmp_path: Path) -> None:
    """Lengths of its blocks say nothing about the kernel's constexpr of the same name."""
    document = tables(
        tmp_path,
        """
@triton.jit
def shifted(x, offsets, N: tl.constexpr, MANY: tl.constexpr = False):
    x += tl.arange(0, N + 48)
    if MANY:
        return x + tl.load(offsets)
    else:
        return x + offsets

@triton.jit
def kernel(offsets, x, N: tl.constexpr, PAIRS: tl.constexpr):
    x += tl.arange(0, PAIRS - 64)
    if N == 3:
        x += 5
    tl.store(shifted(x, offsets, N + 13), 1.0)

def run(x, offset: int, pairs):
    kernel[(1,)](offset + 1, x, N=3, PAIRS=pairs)
""",
    )
    assert document["signature"]["offsets"] == "i32"
    assert document["constexprs"] == {"N": 3, "PAIRS": 128}


def test_helpers_of_the_same_name_in_two_modules_are_separate(tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text(
        f"{HEAD}\n@jit\ndef inner(at):\n    return tl.load(at) >> 4\n\n"
        "@jit\ndef outer(at):\n    return inner(at)\n"
    )
    document = tables(
        tmp_path,
        """
from library import outer

@triton.jit
def inner(at):
    return tl.load(at) * 0.5

@triton.jit
def kernel(x, y, out):
    tl.store(out, inner(x) + outer(y))
""",
    )
    assert document["signature"] == {"x": "*fp32", "y": "*i32", "out": "*fp32"}


def test_operands_of_nested_bit_operations_are_whole_numbers(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(key, counter, out, on):
    tl.store(out, (tl.load(counter) ^ tl.load(counter + 1)) ^ key)
    tl.store(on, (key > 3) & (key < 9))
""",
    )
    assert document["signature"] == {"key": "i32", "counter": "*i32", "out": "*i32", "on": "*i1"}


def test_shape_and_strides_of_a_descriptor_are_not_the_descriptor(tmp_path: Path) -> None:
    """The guess for RAW is false: the compiled code makes another descriptor from them."""
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(tile, raw, out, RAW: tl.constexpr):
    if not RAW:
        tile = tl.make_tensor_descriptor(raw, tile.shape, tile.strides, tile.block_shape)
    tl.store(out, tl.sum(tile.load([0, 0])))
""",
    )
    assert document["signature"]["tile"] == "tensordesc<fp16[64, 64]>"


def test_step_that_moves_a_pointer_is_no_pointer(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(x_ptr, w_ptr, step, N: tl.constexpr):
    x_ptrs = x_ptr + tl.arange(0, N)
    for _ in range(4):
        w = tl.load(w_ptr + tl.arange(0, N)).to(x_ptrs.dtype.element_ty)
        tl.store(x_ptrs, tl.load(x_ptrs) + w)
        x_ptrs += step
""",
    )
    assert document["signature"] == {"x_ptr": "*fp32", "w_ptr": "*fp32", "step": "i32"}


def test_all_of_many_pointers_that_are_chosen_at_run_time_are_pointers(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(A1, A2, A3, B1, B2, B3, M1, M2, M3):
    at = tl.program_id(0)
    A = tl.where(at < M1, A1, tl.where(at < M2, A2, A3))
    B = tl.where(at < M1, B1, tl.where(at < M2, B2, B3))
    M = tl.where(at < 7, M1, tl.where(at < 8, M2, M3))
    tl.store(tl.where(at < M, A, B) + at, 1.0)
""",
    )
    types = document["signature"]
    assert {types[name] for name in ("A1", "A2", "A3", "B1", "B2", "B3")} == {"*fp32"}, types
    assert {types[name] for name in ("M1", "M2", "M3")} == {"i32"}, types


def test_conditions_in_a_helper_decide_what_the_kernel_passes(tmp_path: Path) -> None:
    """The names of the helper are not those of the kernel."""
    document = tables(
        tmp_path,
        """
@triton.jit
def inner(x, N: tl.constexpr, MOST: tl.constexpr = 512):
    tl.static_assert(N == MOST and MOST > 3)
    tl.store(x + N, 1.0)

@triton.jit
def outer(x, M: tl.constexpr, HALF: tl.constexpr):
    K = M + 1
    tl.static_assert(K == 7)
    M: tl.constexpr = 5
    tl.static_assert(M == 5)
    inner(x, HALF * 2)

@triton.jit
def kernel(x, EACH: tl.constexpr, K: tl.constexpr, M: tl.constexpr):
    outer(x + K + M, K, HALF=EACH)
    tl.static_assert(EACH != 3)
""",
    )
    assert document["constexprs"] == {"EACH": 256, "K": 64, "M": 64}


def test_flags_are_such_that_variables_have_values(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(x, IS_BYTE: tl.constexpr, IS_WORD: tl.constexpr, HAS_SHIFT: tl.constexpr, HAS_BIAS: tl.constexpr):
    if IS_BYTE:
        step = 1
    elif IS_WORD:
        step = 4
    if HAS_SHIFT and HAS_BIAS:
        shift = 3
    for i in range(4):
        if HAS_SHIFT:
            tl.store(x + shift, 2.0)
        tl.store(x + step * i, 1.0)
""",
    )
    assert document["constexprs"] == {
        "IS_BYTE": True, "IS_WORD": False, "HAS_SHIFT": False, "HAS_BIAS": False,
    }  # fmt: skip
    text = (tmp_path / "source.toml").read_text()
    assert "IS_BYTE = true  # guessed: so that step has a value\n" in text


def test_cache_of_an_indexer_does_not_hold_indices(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@triton.jit
def kernel(x, indexer_cache, index_cache, TYPE: tl.constexpr):
    at = tl.program_id(0)
    value = tl.load(x).to(TYPE)
    tl.store(indexer_cache + at, value)
    tl.store(index_cache + at, value)
""",
    )
    types = document["signature"]
    assert (types["indexer_cache"], types["index_cache"]) == ("*fp32", "*i32")


def test_values_that_are_cast_to_the_type_of_a_pointer_decide_its_type(tmp_path: Path) -> None:
    """Both operands of a `tl.dot` and both branches of a condition have one type."""
    document = tables(
        tmp_path,
        """
@jit
def kernel(x, w, parts, out, rest, n, B: tl.constexpr):
    dtype = parts.dtype.element_ty
    at = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    scores = tl.exp(tl.load(x + at).to(tl.float32)).to(dtype)
    tl.store(parts + at, tl.dot(scores, tl.load(w + at)).to(dtype))
    if n > 4:
        value = tl.load(rest + at)
    else:
        value = tl.zeros((B, B), dtype=out.dtype.element_ty)
    tl.store(out + at, tl.dot(value, tl.load(w + at)))
""",
    )
    assert document["signature"] == {
        "x": "*fp16",
        "w": "*fp16",
        "parts": "*fp16",
        "out": "*fp16",
        "rest": "*fp16",
        "n": "i32",
    }


def test_values_of_a_variable_that_two_branches_set_have_one_type(tmp_path: Path) -> None:
    """Names of both parameters say something else."""
    document = tables(
        tmp_path,
        """
@jit
def kernel(draft, ids, recovered_token_ids, out, n):
    at = tl.program_id(0)
    token = tl.load(draft + at)
    if n > tl.load(ids + token):
        chosen = token
    else:
        chosen = tl.load(recovered_token_ids + at)
    tl.store(out + at, chosen)
""",
    )
    assert document["signature"]["draft"] == document["signature"]["recovered_token_ids"]


def test_loaded_number_has_the_width_of_the_variable_that_it_replaces(tmp_path: Path) -> None:
    """That the number is also part of an address does not tell its width."""
    document = tables(
        tmp_path,
        """
@jit
def kernel(draft, table, out, steps, n):
    last, step = tl.full((), 0, tl.int64), tl.full((), 0, tl.int64)
    for at in range(n):
        step = tl.load(steps + at).to(tl.int64)
        tl.store(out + step, step)
        last = tl.load(draft + at)
        tl.store(out + at, tl.load(table + last))
    tl.store(out + n, last)
""",
    )
    assert document["signature"]["draft"] == "*i64"
    assert document["signature"]["steps"] == "*i32"


def test_both_operands_of_a_dot_are_fp8_if_one_is(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@jit
def kernel(x, w, out, B: tl.constexpr):
    at = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    weights = (tl.load(w + at) & 127).to(tl.float8e4nv, bitcast=True)
    tl.store(out + at, tl.dot(tl.load(x + at), weights))
""",
    )
    assert document["signature"]["x"] == "*fp8e5"


def test_logarithm_of_a_size_is_small(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@jit
def kernel(out, LOG2_HEAD_DIM: tl.constexpr):
    for step in tl.static_range(LOG2_HEAD_DIM):
        tl.store(out + (1 << step), step)
""",
    )
    assert document["constexprs"] == {"LOG2_HEAD_DIM": 6}


def test_exchanged_value_has_the_type_of_its_tensor(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@jit
def kernel(sums, lock, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.atomic_xchg(sums + at, tl.exp(tl.load(sums + at)))
    tl.atomic_xchg(lock, 0)
""",
    )
    assert document["signature"] == {"sums": "*fp32", "lock": "*i32"}


def test_type_of_a_descriptor_is_the_one_that_an_assertion_requires(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@jit
def kernel(source, weights, out, B: tl.constexpr):
    tl.static_assert(source.dtype == tl.bfloat16)
    tl.static_assert(weights.dtype.element_ty == tl.int8)
    x = source.load([0, 0]) * tl.load(weights)
    tl.store(out + tl.arange(0, B)[:, None], x)
""",
    )
    assert document["signature"]["source"].startswith("tensordesc<bf16")
    assert document["signature"]["weights"] == "*i8"


@pytest.mark.parametrize(
    ("constant", "value"),
    [
        ("tl.constexpr(5)", 5),
        ("tl.constexpr(Mode.SHIFTED.value)", 5),
        ("tl.constexpr(Mode.NEXT.value)", 6),
        ('"shifted"', "shifted"),
        ("Other.SHIFTED", 64),  # unknown
    ],
)
def test_constexpr_has_the_global_value_that_it_is_compared_with(
    constant: str, value: int | str, tmp_path: Path
) -> None:
    document = tables(
        tmp_path,
        f"""
from enum import Enum

class Mode(Enum):
    PLAIN = 0
    SHIFTED = 5
    NEXT = SHIFTED + 1

SHIFTED = {constant}

@jit
def kernel(out, MANNER: tl.constexpr):
    if MANNER == SHIFTED:
        tl.store(out, 1)
""",
    )
    assert document["constexprs"] == {"MANNER": value}


def test_assertion_that_nothing_satisfies_leaves_others_their_values(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@jit
def kernel(out, SPARE: tl.constexpr, ROWS: tl.constexpr):
    tl.static_assert(SPARE > 9000)
    tl.static_assert(ROWS == 48)
    tl.store(out + ROWS, SPARE)
""",
    )
    assert document["constexprs"]["ROWS"] == 48


def test_size_is_not_the_zero_that_an_assertion_compares_it_with(tmp_path: Path) -> None:
    document = tables(
        tmp_path,
        """
@jit
def kernel(out, n, MANY: tl.constexpr, BLOCK: tl.constexpr):
    tl.static_assert(MANY > 0)
    at = tl.arange(0, BLOCK)
    tl.store(out + at, at, mask=(at < MANY) & (at < n))

def run(out, n):
    many = out.shape[0]
    kernel[(1,)](out, n, MANY=many, BLOCK=triton.next_power_of_2(many))
""",
    )
    assert document["constexprs"] == {"MANY": 1024, "BLOCK": 1024}
