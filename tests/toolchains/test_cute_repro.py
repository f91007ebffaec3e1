"""Repro scripts of CuTe DSL's kernels: their text in every form, and their output when they run."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat import toolchains
from compat.bundle.bundle import bundle
from compat.diagnosis import common
from compat.errors import ConfigError
from compat.model import BuiltEnv, CompileSpec, Evidence, RaisedException, Specialization
from compat.processes.supervisor import ProcessResult
from compat.repro import issue, verify
from compat.repro.script import Script
from compat.toolchains.cute.language.script import SCRIPT, CallForm
from tests.together import for_each
from tests.toolchains import cute_faces

CUTE = toolchains.look_up("cute")
SIGNATURE: dict[str, str | tuple[Any, ...]] = {
    "a": "fp16[m, n%8] leading=0",
    "b": "fp32[m, n]:[1, s]",
    "c": "fp32[64, 64]:[128, 1] align=8",
    "p": "ptr<fp16>",
    "n": "i64",
    "q": ("fp16[4, 8]", "fp32"),
    "s": "stream",
}
CLASS = """
import cutlass
import cutlass.cute as cute
from dataclasses import dataclass


@dataclass
class Options:
    threads: int
    kind: object


class Kernel(Options):
    @cute.kernel
    def kernel(self, a: cute.Tensor, b: cute.Tensor):
        cute.arch.barrier()

    @cute.jit
    def __call__(self, a, b, c, p, n: cutlass.Int64, q: tuple, s, scale: cutlass.Constexpr = 2, last: cutlass.Constexpr = 3):
        self.kernel(a, b).launch(grid=(scale, 1, 1), block=(self.threads, 1, 1), stream=s)
"""


def specialization(source: Path, function: str, compile_spec: CompileSpec) -> Specialization:
    return Specialization(
        kernel="k",
        variant="v",
        case="c",
        toolchain="cute",
        source=str(source),
        function=function,
        compile=compile_spec,
    )


def script(
    spec: Specialization,
    form: CallForm,
    *,
    prediction: str = "",
    expected: str = "Fatal Python error: Aborted",
) -> Script:
    return Script(
        name="repro",
        bundle=bundle(spec, decorators=CUTE.language.decorators),
        target=cute_faces.target(),
        release="4.8.1",
        form=form,
        toolchain=CUTE,
        calls=SCRIPT,
        requires_python=">=3.10",
        dependencies=("nvidia-cutlass-dsl==4.8.1",),
        headline="It fails.",
        message="words",
        expected=expected,
        prediction=prediction,
    )


def face(name: str) -> Specialization:
    signature = {"a": "fp16[n%8]", "b": "fp16[n%8]"}
    return specialization(cute_faces.KERNELS, name, CompileSpec(signature=signature))


def call_of(text: str) -> list[str]:
    """The arguments of the ``cute.compile`` call, as source text."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    (call,) = [call for call in calls if ast.unparse(call.func) == "cute.compile"]
    return [
        *map(ast.unparse, call.args),
        *(f"{keyword.arg}={ast.unparse(keyword.value)}" for keyword in call.keywords),
    ]


@pytest.fixture
def kernel(tmp_path: Path) -> Specialization:
    source = tmp_path / "kernel.py"
    source.write_text(CLASS)
    constexprs = {"threads": 64, "kind": {"dtype": "int32"}, "last": (1, None)}
    return specialization(
        source,
        "Kernel",
        CompileSpec(signature=SIGNATURE, constexprs=constexprs, options={"opt-level": 2}),
    )


@for_each(
    ("release", "form"),
    [
        ("4.0.0", "NOWHERE"),
        ("4.2.1", "NOWHERE"),
        ("4.3.0", "FAKE"),
        ("4.4.2", "FAKE"),
        ("4.5.0", "DRIVERLESS"),
        (None, "ANY"),
    ],
)
def test_call_form_follows_the_release(release: str | None, form: str) -> None:
    assert SCRIPT.form_of(release) is CallForm[form]


def test_driverless_form_passes_fake_tensors(kernel: Specialization) -> None:
    text = script(kernel, CallForm.DRIVERLESS).source()
    fake = "runtime.make_fake_tensor(cutlass.Float32, "
    compact = "runtime.make_fake_compact_tensor(cutlass.Float16, "
    place = "memspace=cute.AddressSpace.gmem"
    assert call_of(text) == [
        "Kernel(threads=64, kind=cutlass.Int32)",
        f"{compact}(size_m, size_n), stride_order=(0, 1), assumed_align=16)",
        f"{fake}(size_m, size_n), (1, size_s), {place}, assumed_align=16)",
        f"{fake}(64, 64), (128, 1), {place}, assumed_align=8)",
        "runtime.make_ptr(cutlass.Float16, 1 << 40, cute.AddressSpace.gmem, assumed_align=16)",
        "cutlass.Int64(1)",
        f"({compact}(4, 8), stride_order=(1, 0), assumed_align=16), cutlass.Float32(1))",
        "driver.CUstream(0)",
        "2",
        "(1, None)",
        "options='--opt-level 2'",
    ]
    assert text.count("size_n = cute.sym_int(divisibility=8)") == 1
    assert "except" not in text


def test_script_has_no_method_that_only_a_host_calls(kernel: Specialization) -> None:
    method = """
    @staticmethod
    @remember("kernels")
    def compile(kind):
        return cute.compile(Kernel(64, kind), host.tensor(kind))

    @remember
    def width(self):
        return 32
"""
    source = Path(kernel.source)
    head = "import host\nfrom caching import remember\n"
    text = head + CLASS.replace("arch.barrier()", "arch.barrier(self.width())") + method
    source.write_text(text)
    written = script(kernel, CallForm.DRIVERLESS).source()
    assert "def compile(kind)" not in written
    assert "host" not in written
    assert "@remember\n    def width(self):" in written, "the kernel calls it"


def test_oldest_form_passes_tensors_instead_of_fake_ones(kernel: Specialization) -> None:
    text = script(kernel, CallForm.NOWHERE).source()
    passed = call_of(text)
    assert (
        passed[1]
        == "tensor(cutlass.Float16, 2, 16, (64, 512), (1, 64), order=(1, 0), dynamic={0: 1, 1: 8})"
    )
    assert passed[2] == "tensor(cutlass.Float32, 2, 32, (64, 512), (1, 64), leading=0)"
    assert passed[3] == "tensor(cutlass.Float32, 2, 32, (64, 64), (128, 1), align=8)"
    assert "CudaDriverDependencyError" in text
    assert "sym_int" not in text


def test_script_names_its_package_and_its_target() -> None:
    text = script(face("sliced"), CallForm.DRIVERLESS).source()
    assert "where CuTe DSL (`pip install nvidia-cutlass-dsl`) 4.8.1 is installed" in text
    # From 4.6 on, errors of users show no exception without the second variable.
    assert '"CUTE_DSL_ARCH": "sm_90a", "CUTE_DSL_SHOW_STACKTRACE": "1"' in text
    assert len(text.splitlines()) < 70


def test_failure_in_the_output_of_a_script_has_the_line_of_the_kernel() -> None:
    output = """Traceback (most recent call last):
  File "/tmp/x/script-0/repro.py", line 45, in compile_kernel
    cute.compile(
  File "/tmp/x/script-0/repro.py", line 35, in raises
    raise ValueError(f"n must be even, not {n}")
ValueError: n must be even, not 3

reproduced: the compile ended with exit code 1
"""
    ran = ProcessResult(exit_code=0, output=output)
    failure = verify.failure_of(ran, cute_faces.target(), "trace", CUTE.failures)
    assert failure
    assert failure.failure_class == "static-assert"


def test_message_ends_before_the_source_that_it_shows() -> None:
    message = "error[PHASE_REQUIRES_CONSTANT]: give a constant.\n  --> k.py:6:9\n   |\n 6 | if x:"
    raised = RaisedException(type="cutlass.base_dsl.common.DSLUserCodeError", message=message)
    evidence = Evidence(answered=True, stage="trace", raised=(raised,))
    words = verify.words_of(evidence, CUTE.failures)
    assert words == "error[PHASE_REQUIRES_CONSTANT]: give a constant."


def test_output_in_an_issue_has_no_colours() -> None:
    output = "\x1b[91m\x1b[1merror:\x1b[0m NameError in `k`: name 'v' is not defined\n"
    expected = "error: NameError in `k`: name 'v' is not defined"
    assert issue.short(output, "k", CUTE.reader) == expected


# --- on real wheels -------------------------------------------------------------------------------


def test_a_script_refuses_an_argument_that_a_class_makes(tmp_path: Path) -> None:
    source = tmp_path / "kernel.py"
    source.write_text(CLASS)
    compile_spec = CompileSpec(
        signature={**SIGNATURE, "n": "Options()"}, constexprs={"threads": 64, "kind": 1}
    )
    with pytest.raises(ConfigError, match="Options is not one"):
        script(specialization(source, "Kernel", compile_spec), CallForm.ANY).source()


@pytest.mark.wheels
@pytest.mark.parametrize(
    ("release", "form", "name", "shows"),
    [("4.2.1", CallForm.NOWHERE, "plain", False), ("4.8.1", CallForm.DRIVERLESS, "sliced", True)],
)
def test_script_shows_an_abort_only_if_the_compiler_aborts(
    cute: Callable[[str], BuiltEnv],
    release: str,
    form: CallForm,
    name: str,
    shows: bool,
    tmp_path: Path,
) -> None:
    python = cute(release).python
    assert python
    path = tmp_path / "repro.py"
    path.write_text(script(face(name), form).source())
    ran = verify.run_script(python, path, deadline=60)
    assert ran.exit_code == (verify.SHOWS if shows else verify.SHOWS_NOT)
    failure = verify.failure_of(ran, cute_faces.target(), "trace", CUTE.failures)
    assert (failure.failure_class if failure else None) == ("compiler-assert" if shows else None)


@pytest.mark.wheels
def test_script_predicts_too_much_shared_memory(
    cute: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    python = cute("4.2.1").python
    assert python
    path = tmp_path / "repro.py"
    expected = (
        common.SHARED_MEMORY.prediction.script_text if common.SHARED_MEMORY.prediction else ""
    )
    path.write_text(
        script(
            face("big"), CallForm.ANY, prediction=common.SHARED_MEMORY.name, expected=expected
        ).source()
    )
    ran = verify.run_script(python, path, deadline=60)
    assert ran.exit_code == verify.SHOWS
    assert f"needs 400000 {expected}, sm_90a has 232448" in ran.output
