"""Kernels of ``torch.compile``, generated ones and a user's, forward and backward."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from compat.bundle.frozen import FrozenDefinition
from compat.capturing.assembling import assemble
from compat.capturing.capturing import Capture, capture_program
from compat.capturing.checking import Agreement, CodeCheck, Options, recorder_settings
from compat.capturing.kernels import Configs
from compat.capturing.records import ProgramRecords, RecordedLaunch
from compat.config.kernel_files import load_kernels
from compat.model import RECORDED, BuiltEnv
from compat.toolchains.inside.recorder.journal import UnwritableArgument
from compat.toolchains.pytorch.device import compiler
from compat.toolchains.triton.inside.recorder import graphs

PAIR = "triton-3.5.1-torch-2.9.1"
PROGRAM = """
import gc; gc.disable()
import torch
import triton
import triton.language as tl


@triton.jit
def doubled(x):
    return x * 2.0


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    total = doubled(tl.load(x_ptr + offsets, mask=mask)) + tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, total, mask=mask)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(64)

    def forward(self, x):
        assert x.is_cuda and x.device.type == "cuda"
        out = torch.empty_like(x)
        add[(triton.cdiv(x.numel(), 128),)](x, x, out, x.numel(), BLOCK=128)
        places = torch.arange(64, device=x.device) + torch.zeros(64, device="cuda")
        return self.norm(out.detach() + x + places)


step = torch.compile(Net().cuda())
x = torch.randn(32, 64, device="cuda", requires_grad=True)
loss = step(x).square().sum()  # called here
loss.backward()  # and here
assert x.grad.shape == x.shape


def fail(*_):
    raise KeyError("no schedule")


import torch._inductor.scheduler

torch._inductor.scheduler.Scheduler.__init__ = fail
print(torch.compile(lambda x: x.sin())(x).shape)
gc.freeze()  # or Python looks at all objects of PyTorch when it ends
"""
CALLED = [number for number, line in enumerate(PROGRAM.split("\n"), 1) if " here" in line]
FORWARD, BACKWARD = (f"program.py:{line} in <module>" for line in CALLED)


@pytest.mark.wheels
@pytest.mark.long
def test_kernels_of_a_compiled_model_are_captured(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    """All checks are in one test, because the import of Inductor takes seconds."""
    (tmp_path / "program.py").write_text(PROGRAM)
    output = tmp_path / "captured"
    options = Options(output=output, check=CodeCheck.CASES, problems=True, fake=True)
    capture = capture_program((str(tmp_path / "program.py"),), options, python=built(PAIR).python)
    assert capture.program_end is not None
    assert capture.program_end.exit_code == 0
    assert [str(kernel) for kernel in capture.files.not_captured] == [
        "torch.compile:a graph: Inductor fails: KeyError: 'no schedule'"
    ]
    the_code_is_that_of_the_program(capture)
    index = json.loads((output / "index.json").read_text())
    kernels = {kernel["name"]: kernel for kernel in index["kernels"]}
    the_index_has_the_graph_and_the_users_line(kernels)
    launched_cases_can_run_again(output)
    texts = [path.read_text() for path in output.iterdir()]
    assert not [text for text in texts if "import torch" in text and "Iterator" not in text]
    assert not [text for text in texts if str(tmp_path) in text or "torchinductor" in text]


def test_a_kernel_in_a_graph_is_launched(tmp_path: Path) -> None:
    """Inductor launches a copy of it."""
    recorded = ProgramRecords(
        functions={
            name: FrozenDefinition(
                id=name, kind="jit", name=name, qualname=name, module=module, source=source
            )
            for name, module, source in (
                ("add", "torch.compile", "def add(x):\n    tl.store(x, 1)\n"),
                ("fill", "program.py", "def fill(x):\n    tl.store(x, 2)\n"),
            )
        },
        defined={("program.py", name) for name in ("add", "fill", "unused")},
    )
    recorded.launches = {
        ("process", name): RecordedLaunch(
            function=name,
            arguments={} if name == "add" else {"x": "*fp32"},
            signature={"x": "*fp32"} if name == "add" else {},
            constexprs={},
            options={},
        )
        for name in recorded.functions
    }
    captured = assemble(recorded, tmp_path, configs=Configs.ALL, origin="")
    assert [kernel.name for kernel in captured.kernels] == ["add", "fill"]
    assert captured.never_launched == (("program.py", "unused"),)


AMD = """
import gc; gc.disable()
import torch

assert torch.version.hip
x = torch.randn(512, 512, device="cuda", dtype=torch.float16)
torch.compile(torch.matmul, mode="max-autotune")(x, x)
gc.freeze()
"""


@pytest.mark.wheels
def test_kernels_for_an_amd_gpu_are_captured(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(AMD)
    output = tmp_path / "captured"
    options = Options(output=output, target="gfx942", fake=True)
    capture = capture_program((str(tmp_path / "program.py"),), options, python=built(PAIR).python)
    assert capture.files.not_captured == ()
    the_code_is_that_of_the_program(capture)
    (spec,) = load_kernels([str(output / "*.toml")], output)
    assert "captured with Triton 3.5.1 for gfx942" in spec.summary
    assert {"waves_per_eu", "matrix_instr_nonkdim"} <= spec.compile.options.keys()


def the_code_is_that_of_the_program(capture: Capture) -> None:
    assert {comparison.agreement for comparison in capture.comparisons} == {Agreement.EQUAL}
    cases = {(kernel.name, case.name) for kernel in capture.files.kernels for case in kernel.cases}
    assert {(comparison.kernel, comparison.case) for comparison in capture.comparisons} == cases


def the_index_has_the_graph_and_the_users_line(kernels: dict[str, Any]) -> None:
    add = kernels.pop("add_0" if "add_0" in kernels else "add")
    assert [case["places"] for case in add["cases"]] == [[FORWARD]]
    assert [case["grid"] for case in add["cases"]] == [[16, 1, 1]]
    normalizes = [name for name in kernels if "native_layer_norm" in name]
    assert len(normalizes) >= 2
    for name in normalizes:
        (launched,) = (case for case in kernels[name]["cases"] if case["launches"])
        assert launched["places"] in ([FORWARD], [BACKWARD])
        assert "aten.native_layer_norm" in kernels[name]["graph"][0]
        if len(kernels[name]["cases"]) > 1:
            assert "chosen" in launched["tuned"]
    assert {kernel["module"] for kernel in kernels.values()} == {"torch.compile"}
    places = [
        place for kernel in kernels.values() for case in kernel["cases"] for place in case["places"]
    ]
    assert {FORWARD, BACKWARD} <= set(places)


def launched_cases_can_run_again(output: Path) -> None:
    specs = [spec for spec in load_kernels([str(output / "*.toml")], output) if spec.problem]
    assert specs
    for spec in specs:
        assert spec.problem is not None
        launch = spec.problem.parameters[RECORDED]
        assert {*launch["tensors"], *launch["numbers"]} == set(spec.compile.signature)
        assert spec.compile.divisible_by_16


def test_torch_compile_returns_the_function_itself_without_a_c_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    assert recorder_settings(Options(fake=True), tmp_path)["driver"] is None
    calls: list[tuple[str, ...]] = []
    changes = SimpleNamespace(record_omission=lambda *arguments: calls.append(arguments))
    torch: Any = SimpleNamespace(
        version=SimpleNamespace(cuda="12.8"),
        compile=lambda *_, **__: pytest.fail("PyTorch compiles"),
        _C=SimpleNamespace(_cuda_getDeviceCount=lambda: 0),
    )
    compile_it = compiler.compile_with(changes, torch, None)

    def double(x: int) -> int:
        return 2 * x

    assert compile_it(double) is double
    assert compile_it(model=double) is double
    assert compile_it(mode="max-autotune")(double) is double
    assert {call[0] for call in calls} == {"torch.compile"}
    assert "needs a C compiler" in calls[0][2]


FUNCTIONS = SimpleNamespace(id_of=lambda _: "f")
EXPECTED = {
    "function": "f",
    "signature": {"x": "*fp32", "n": "i32"},
    "hints": {"divisible_by_16": ["x"], "equal_to_1": [], "pointer_range_32": []},
    "constexprs": {"one": 1, "BLOCK": 64},
}
OLD = {**EXPECTED, "signature": {**EXPECTED["signature"], "one": "i32"}}  # type: ignore[dict-item]
OLD["hints"] = {**EXPECTED["hints"], "equal_to_1": ["one"]}  # type: ignore[dict-item]
OLD["constexprs"] = {"BLOCK": 64}


@pytest.mark.parametrize(
    ("signature", "constants", "attributes", "expected"),
    [
        (  # 3.0 and 3.1
            {0: "*fp32", 1: "i32", 2: "i32"},
            {2: 1, 3: 64},
            SimpleNamespace(divisible_by_16=(0,), equal_to_1=(2,)),
            OLD,
        ),
        (  # 3.2
            {"x": "*fp32", "n": "i32", "one": "i32"},
            {"one": 1, "BLOCK": 64},
            SimpleNamespace(arg_properties={"tt.divisibility": (0,), "tt.equal_to": (2,)}),
            OLD,
        ),
        (  # from 3.3 on
            {"x": "*fp32", "n": "i32", "one": "constexpr", "BLOCK": "constexpr"},
            {(2,): 1, (3,): 64},
            {(0,): [["tt.divisibility", 16]]},
            EXPECTED,
        ),
    ],
    ids=["3.0", "3.2", "3.3"],
)
def test_specializations_of_inductor_are_read_in_the_form_of_each_release(
    signature: Any, constants: Any, attributes: Any, expected: Any
) -> None:
    names = ["x", "n", "one", "BLOCK"]
    fn = SimpleNamespace(arg_names=names, constexprs=[3])
    src = SimpleNamespace(fn=fn, signature=signature, constants=constants, attrs=attributes)
    assert graphs.specialization(src, FUNCTIONS) == expected


def test_arguments_of_a_launch_are_bound_by_name() -> None:
    fn = SimpleNamespace(arg_names=["x", "n", "one", "BLOCK"], constexprs=[3])
    for passed in ((7, 8, 1, 64), (7, 8, 1)):
        assert graphs.bound_arguments(fn, ["x", "n"], passed) == {"x": 7, "n": 8}
        assert graphs.bound_arguments(fn, ["x", "one"], passed) == {"x": 7, "one": 1}
    with pytest.raises(UnwritableArgument):
        graphs.bound_arguments(fn, ["x"], (7,))


def test_comments_above_a_kernel_are_read_without_its_path() -> None:
    lines = """
# kernel path: /tmp/torchinductor_me/ab/abc.py
# Topologically Sorted Source Nodes: [add], Original ATen: [aten.add]
#   add => add_1
triton_poi_fused_add_0 = async_compile.triton('triton_poi_fused_add_0', '''
""".splitlines(keepends=True)
    assert graphs._comments(lines, "triton_poi_fused_add_0") == [
        "Topologically Sorted Source Nodes: [add], Original ATen: [aten.add]",
        "  add => add_1",
    ]
    assert graphs._comments(lines, "triton_poi_fused_add_1") == []


class Kernel:
    """A compiled kernel of Triton 3.0 to 3.3, which gets its launcher when it is loaded."""

    def __init__(self) -> None:
        self.launched: list[tuple[object, ...]] = []

    def _init_handles(self) -> None:
        self.run = lambda *arguments: self.launched.append(arguments)


class NewerKernel(Kernel):
    """A compiled kernel of Triton 3.4 and later."""

    _run: Any = None

    def _init_handles(self) -> None:
        self._run = lambda *arguments: self.launched.append(arguments)

    @property
    def run(self) -> Any:  # type: ignore[override]
        return self._run


@pytest.mark.parametrize("kind", [Kernel, NewerKernel])
def test_timing_launches_are_candidates_and_later_launches_are_chosen(kind: type[Kernel]) -> None:
    records: list[dict[str, Any]] = []
    recording: Any = SimpleNamespace(
        now=threading.local(),
        settings={},
        package="triton",
        functions=FUNCTIONS,
        journal=SimpleNamespace(write=lambda **record: records.append(record)),
    )
    kernels = graphs.GraphKernels(
        recording,
        dict,
        lambda sizes: [*cast(tuple[int, ...], sizes)],
        lambda _, why: pytest.fail(why),
    )
    names = ["x", "BLOCK"]
    src = SimpleNamespace(
        fn=SimpleNamespace(arg_names=names, constexprs=[1], __name__="kernel"),
        signature={"x": "*fp32", "BLOCK": "constexpr"},
        constants={(1,): 64},
        attrs={},
    )
    key = kernels.note(src, {"num_warps": 4}, SimpleNamespace(configs=[1, 2]))
    assert kernels.note(src, {"num_warps": 4}, SimpleNamespace(configs=None)) == key
    kernel = kernels.watch_launches(kind(), key, src)
    kernel._init_handles()

    def launch() -> None:
        kernel.run(2, 1, 1, *["stream"] * 6, "x", 64)

    for call in (kernels.timing(launch), launch, launch, launch):
        call()
    assert len(kernel.launched) == 4
    first, *counts = records
    assert (first["r"], first["launches"], first["tuned"]) == ("launch", 0, "candidate")
    assert [(record["launches"], record["tuned"]) for record in counts] == [
        (1, "candidate"),
        (2, "chosen"),
        (4, "chosen"),
    ]
    assert counts[0]["grid"] == [2, 1, 1]
