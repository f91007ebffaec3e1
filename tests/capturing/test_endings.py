"""Captures of programs that end in different ways.

The capture keeps what the program launched until then. The command has the program's exit code, and
reports why the program ended.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve

from compat.capturing.capturing import Capture, assemble_capture, capture_program, command
from compat.capturing.checking import Agreement, CodeCheck, Options
from compat.config.kernel_files import load_kernels
from compat.errors import SelectionError, StoreError
from compat.model import BuiltEnv
from compat.pytest_plugin import pytest_load_initial_conftests
from compat.report.views.capture import capture_lines
from tests.waiting import wait_until

LAUNCH = """
import os, signal, sys, time
import triton
import triton.language as tl

class Tensor:
    dtype = "torch.float32"
    def data_ptr(self): return 64

@triton.jit
def copy(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at))

copy[(1,)](Tensor(), Tensor(), BLOCK=64)
"""
FORKED = """
if os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
copy[(1,)](Tensor(), Tensor(), BLOCK=128)
os._exit(4)
"""
ENDINGS = {
    "raise SystemExit(5)": 5,
    "raise RuntimeError('no')": 1,
    "os._exit(7)": 7,
    "os.kill(os.getpid(), signal.SIGKILL)": 128 + signal.SIGKILL,
    "os.abort()": 128 + signal.SIGABRT,
    FORKED: 4,
}


@pytest.fixture
def python(built: Callable[[str], BuiltEnv]) -> str:
    """A Python that has Triton and no PyTorch."""
    env = built("triton-3.9.0")
    return str(env.python)


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a program that launches a kernel and then does something."""

    def write(then: str) -> Path:
        path = tmp_path / "program.py"
        path.write_text(LAUNCH + then + "\n")
        return path

    return write


def captured(
    command_line: tuple[str, ...], folder: Path, python: str, **options: object
) -> Capture:
    capture_options = Options(output=folder / "captured", check=CodeCheck.NOTHING, fake=True)
    return capture_program(command_line, capture_options, python=python, **options)  # type: ignore[arg-type]


@pytest.mark.wheels
@pytest.mark.parametrize("then", ENDINGS)
def test_launches_are_kept_however_the_program_ends(
    then: str, program: Callable[[str], Path], python: str, tmp_path: Path
) -> None:
    capture = captured((str(program(then)),), tmp_path, python)
    assert capture.program_end is not None
    assert capture.program_end.exit_code == ENDINGS[then]
    (kernel,) = capture.files.kernels
    assert kernel.name == "copy"
    assert [case.name for case in kernel.cases] == (
        ["BLOCK64", "BLOCK128"] if then == FORKED else ["default"]
    )
    assert (tmp_path / "captured" / "index.json").exists()
    summary = "\n".join(capture_lines(capture, "captured"))
    assert ("exit code" in summary) == (ENDINGS[then] < 128)
    assert ("SIG" in summary) == (ENDINGS[then] > 128)


def is_running(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.wheels
def test_a_hanging_program_and_its_child_are_killed_after_the_timeout(
    program: Callable[[str], Path], python: str, tmp_path: Path
) -> None:
    then = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.fork()\nopen('child-%d' % os.getpid(),"
        " 'w')\nwhile True: time.sleep(1)"
    )
    path = program(f"os.chdir({str(tmp_path)!r})\n{then}")
    capture = captured((str(path),), tmp_path, python, timeout=4.0)
    assert capture.program_end is not None
    assert capture.program_end.timed_out
    assert [kernel.name for kernel in capture.files.kernels] == ["copy"]
    assert "--timeout" in "\n".join(capture_lines(capture, "captured"))
    pids = [int(file.name.partition("-")[2]) for file in tmp_path.glob("child-*")]
    assert len(pids) == 2
    # The capture kills the processes, and does not wait for them.
    wait_until(lambda: not any(map(is_running, pids)))


@pytest.mark.wheels
def test_a_launch_with_an_unsupported_argument_is_reported(
    program: Callable[[str], Path], python: str, tmp_path: Path
) -> None:
    then = """
for passed in {"y": object()}, {"num_warps": 3}, {"BLOCK": 10**30}:
    try:
        copy[(1,)](Tensor(), **{"y": Tensor(), "BLOCK": 32, **passed})
    except Exception:
        pass
"""
    capture = captured((str(program(then)),), tmp_path, python)
    assert list(map(str, capture.files.not_captured)) == [
        "program.py:copy: its argument y is an object of the class object",
        "program.py:copy: a kernel file cannot describe its arguments: must be a power of two,"
        " found 3",
        "program.py:copy: a kernel file cannot describe its arguments: a number of 100 bits"
        " does not fit any type",
    ]
    assert [case.name for kernel in capture.files.kernels for case in kernel.cases] == ["BLOCK64"]
    assert "\n1 kernel launched, 1 captured as 1 case, 3 not," in "\n".join(
        capture_lines(capture, "captured")
    )


@pytest.mark.wheels
def test_parameters_of_a_kernel_may_have_any_name(
    program: Callable[[str], Path], python: str, tmp_path: Path
) -> None:
    then = """
@triton.autotune([triton.Config({"BLOCK": 64})], key=[])
@triton.jit
def fill(function, tuner, BLOCK: tl.constexpr):
    tl.store(function + tl.arange(0, BLOCK), tuner)

fill[(1,)](function=Tensor(), tuner=2.0)
"""
    capture = captured((str(program(then)),), tmp_path, python)
    assert capture.program_end is not None
    assert capture.program_end.exit_code == 0
    assert {kernel.name for kernel in capture.files.kernels} == {"copy", "fill"}


@pytest.mark.wheels
def test_a_kernel_of_a_spawned_process_is_one_of_the_program(
    program: Callable[[str], Path], python: str, tmp_path: Path
) -> None:
    then = """
import multiprocessing

@triton.jit
def fill(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)

def launch():
    fill[(1,)](Tensor(), BLOCK=64)

if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=launch)
    child.start()
    child.join()
"""
    options = Options(output=tmp_path / "captured", check=CodeCheck.CASES, fake=True)
    capture = capture_program((str(program(then)),), options, python=python)
    assert {kernel.name: kernel.module for kernel in capture.files.kernels} == {
        "copy": "program.py",
        "fill": "program.py",
    }
    assert capture.files.never_launched == ()
    assert [(comparison.kernel, comparison.agreement) for comparison in capture.comparisons] == [
        ("copy", Agreement.EQUAL),
        ("fill", Agreement.EQUAL),
    ]
    assert json.loads((tmp_path / "captured" / "index.json").read_text())["processes"] == 2


@pytest.mark.wheels
def test_the_users_sitecustomize_still_runs(
    python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text(
        "import os\nos.environ['CUSTOMIZED'] = 'yes'\n"
    )
    (tmp_path / "program.py").write_text(
        "import os, sys\nsys.exit(9 if os.environ.get('CUSTOMIZED') else 1)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "own"))
    capture = captured((str(tmp_path / "program.py"),), tmp_path, python)
    assert capture.program_end is not None
    assert capture.program_end.exit_code == 9
    assert (
        next(iter(capture_lines(capture, "captured")))
        == f"nothing was captured: no process of the program imported Triton{OTHERS}"
    )


OTHERS = "; to capture launches of another toolchain, use --toolchain cute"
ABSENT = f"nothing was captured: in the program's environment Triton is not installed{OTHERS}"
BROKEN = (
    "nothing was captured: in the program's environment Triton cannot be imported:"
    f" ImportError{OTHERS}"
)
NO_PYTHON = (
    "nothing was captured: the program started no Python that can be recorded; the options -I, -E"
    " and -S prevent recording"
)


@pytest.mark.parametrize(
    ("command_line", "why"),
    [
        (("-c", "import sys; sys.path.clear(); import triton"), ABSENT),
        (("-c", "import triton"), BROKEN),
        (("-I", "-c", "import triton"), NO_PYTHON),
        (("true",), NO_PYTHON),
    ],
)
def test_the_summary_says_why_nothing_was_captured(
    command_line: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "__init__.py").write_text("raise ImportError('libcuda.so.1')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    capture = captured(command_line, tmp_path, sys.executable)
    assert next(iter(capture_lines(capture, "captured"))) == why
    assert not (tmp_path / "captured").exists()


def test_a_program_is_not_run_if_its_kernels_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "captured").write_text("a file")
    with pytest.raises(StoreError, match="cannot write to this folder: Not a directory"):
        captured(("-c", f"open({str(tmp_path / 'ran')!r}, 'w')"), tmp_path, sys.executable)
    assert not (tmp_path / "ran").exists()


@pytest.mark.wheels
def test_launches_before_an_interrupt_are_kept(
    program: Callable[[str], Path], python: str, tmp_path: Path
) -> None:
    path = program("print('ready', flush=True)\ntime.sleep(60)")
    arguments = [
        sys.executable,
        "-c",
        "from compat.cli.start import start; start()",
        "capture",
        "--no-gpu",
        "--check",
        "nothing",
    ]
    command = subprocess.Popen(
        [*arguments, "--python", python, "--", str(path)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert command.stdout
    assert command.stdout.readline() == "ready\n"
    os.killpg(command.pid, signal.SIGINT)  # as a terminal does
    output = command.communicate()[0]
    assert command.returncode == 128 + signal.SIGINT
    assert "the program was interrupted; its launches until then are captured" in output
    assert (tmp_path / "captured" / "copy.toml").exists()


@pytest.mark.wheels
def test_a_program_that_uses_two_environments_is_captured_in_both(
    program: Callable[[str], Path], python: str, built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    """The launches in both environments are captured.

    Only launches in the first environment are compared, in that environment. Both environments
    share caches, so each Triton has a key of its own.
    """
    other, keys = built("triton-3.8.0").python, tmp_path / "keys"
    path = program(
        "import subprocess\nfrom triton.runtime.cache import triton_key\n"
        f"with open({str(keys)!r}, 'a') as file:\n    print(triton_key(), file=file)\n"
        "if triton.__version__ == '3.9.0':\n    copy[(1,)](Tensor(), Tensor(),"
        f" BLOCK=32)\n    subprocess.run([{other!r}, __file__], check=True)\nelse:\n   "
        " copy[(1,)](Tensor(), Tensor(), BLOCK=16)"
    )
    options = Options(output=tmp_path / "captured", check=CodeCheck.CASES, fake=True)
    capture = capture_program((str(path),), options, python=python)
    assert capture.files.cases == 3
    one, another = keys.read_text().splitlines()
    assert one != another
    assert "captured with Triton 3.9.0, 3.8.0, 2 processes" in next(
        iter(capture_lines(capture, "captured"))
    )
    assert [(comparison.case, comparison.agreement) for comparison in capture.comparisons] == [
        ("BLOCK64", Agreement.EQUAL),
        ("BLOCK32", Agreement.EQUAL),
    ]
    assert "compile: 2 of 2 compared cases" in "\n".join(capture_lines(capture, "captured"))
    unknown = tuple(
        evolve(comparison, agreement=Agreement.UNKNOWN, why="no code")
        for comparison in capture.comparisons
    )
    summary = "\n".join(
        capture_lines(evolve(capture, comparisons=(capture.comparisons[0], unknown[1])), "captured")
    )
    assert "compile: 1 of 1 compared cases\nnot compared:\n  1 case: no code" in summary
    summary = "\n".join(capture_lines(evolve(capture, comparisons=unknown), "captured"))
    assert "compile: not known, since no case could be compared" in summary


@pytest.mark.wheels
def test_a_capture_replaces_only_files_of_an_earlier_capture(
    program: Callable[[str], Path], python: str, tmp_path: Path
) -> None:
    path = program("")
    captured((str(path),), tmp_path, python)
    path.write_text(path.read_text().replace("copy", "moved"))
    captured((str(path),), tmp_path, python)
    folder = tmp_path / "captured"
    assert sorted(file.name for file in folder.iterdir()) == [
        "index.json",
        "moved.py",
        "moved.toml",
    ]
    captured(("-c", "import os"), tmp_path, python)  # nothing is captured, and nothing is removed
    assert sorted(file.name for file in folder.iterdir()) == [
        "index.json",
        "moved.py",
        "moved.toml",
    ]
    (folder / "index.json").unlink()
    # Files that no index names may be the user's.
    capture = captured((str(path),), tmp_path, python)
    assert sorted(file.name for file in folder.iterdir()) == [
        "index.json",
        "moved.py",
        "moved.toml",
        "moved_2.py",
        "moved_2.toml",
    ]
    assert "  moved.toml" in capture_lines(capture, "captured")


@pytest.mark.wheels
def test_kernels_with_the_same_name_are_named_with_their_modules(
    program: Callable[[str], Path], python: str, tmp_path: Path
) -> None:
    for module, size in (("causal", 16), ("full", 32)):
        text = LAUNCH.replace("tl.load(x + at)", f"tl.load(x + at) * {size}").replace(
            "BLOCK=64", f"BLOCK={size}"
        )
        (tmp_path / f"{module}.py").write_text(text)
    options = Options(output=tmp_path / "captured", check=CodeCheck.CASES, fake=True)
    path = program("import causal, full").rename(tmp_path / "my program.py")
    capture = capture_program((str(path),), options, python=python)
    names = ("causal.copy", "full.copy", "my_program.copy")
    assert tuple(kernel.name for kernel in capture.files.kernels) == names
    assert {
        spec.kernel: spec.function for spec in load_kernels(["captured/*.toml"], tmp_path)
    } == dict.fromkeys(names, "copy")
    assert {
        comparison.kernel: comparison.agreement for comparison in capture.comparisons
    } == dict.fromkeys(names, Agreement.EQUAL)


@pytest.mark.wheels
def test_a_kernel_that_the_program_cannot_compile_is_reported_with_the_cause(
    program: Callable[[str], Path], python: str, tmp_path: Path
) -> None:
    """The captured kernel has ``tl`` at module level, so it compiles."""
    inside = """
def kernels():
    import triton
    import triton.language as tl

    @triton.jit
    def named(x, factor: tl.constexpr):
        return x * factor

    @triton.jit
    def scaled(x, y, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(y + at, named(tl.load(x + at), 2))

    return scaled

del tl
kernels()[(1,)](Tensor(), Tensor(), BLOCK=64)
"""
    options = Options(output=tmp_path / "captured", check=CodeCheck.CASES, fake=True)
    capture = capture_program((str(program(inside)),), options, python=python)
    (comparison,) = (one for one in capture.comparisons if one.kernel == "scaled")
    assert comparison.agreement is Agreement.DIFFERENT
    error = "CompilationError: NameError('tl is not defined')"
    assert comparison.why == f"the program's own compile fails: {error}"


def test_a_command_line_is_resolved_to_a_program(tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    for name in ("python", "torchrun"):
        (python.parent / name).write_text("#!/bin/sh\n")
        (python.parent / name).chmod(0o755)
    own = str(python)
    assert command(("train.py", "--lr", "1"), own) == (own, "train.py", "--lr", "1")
    assert command(("-m", "train"), own) == (own, "-m", "train")
    assert command(("python3", "train.py"), own) == (own, "train.py")
    assert command(("torchrun", "train.py"), own) == (str(python.parent / "torchrun"), "train.py")
    assert command(("pytest", "tests"), own) == (own, "-m", "pytest", "tests")
    assert command(("make", "test"), own) == ("make", "test")
    assert command(("make", "test"), None) == ("make", "test")
    assert command(("train.py",), None)[1:] == ("train.py",)
    with pytest.raises(SelectionError, match="there is no such interpreter"):
        command(("train.py",), str(tmp_path / "none"))


def test_a_missing_program_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match="cannot start the program") as error:
        capture_program((str(tmp_path / "none"),), Options(output=tmp_path, fake=True))
    assert "a command on PATH" in (error.value.hint or "")


def test_a_target_without_a_known_gpu_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match="sm_91: unknown target"):
        capture_program(("true",), Options(output=tmp_path, target="sm_91"))
    with pytest.raises(SelectionError, match="no stand-in for a GPU of gfx1200"):
        capture_program(("true",), Options(output=tmp_path, target="gfx1200"))


def test_the_pytest_plugin_reports_errors_of_use_as_pytest_does(tmp_path: Path) -> None:
    options = {"output": str(tmp_path), "toolchain": "triton", "target": "sm_91", "configs": "all"}
    config: Any = SimpleNamespace(
        known_args_namespace=SimpleNamespace(
            **{f"compat_{name}": value for name, value in options.items()}
        ),
        stash=pytest.Stash(),
    )
    message = "--compat-target sm_91: unknown target\nChoose one of: sm_70, "
    with pytest.raises(pytest.UsageError, match=f"^{message}"):
        next(pytest_load_initial_conftests(config))


def test_a_program_without_launches_keeps_the_files_of_an_earlier_capture(tmp_path: Path) -> None:
    (tmp_path / "records").mkdir()
    record = {"r": "process", "release": "3.9.0", "python": "3.11.7"}
    record |= dict.fromkeys(("executable", "prefix", "toolchain"), "/nowhere")
    (tmp_path / "records" / "1.jsonl").write_text(json.dumps(record))
    kernels = [{"file": "copy.toml", "source": "copy.py"}]
    files = {"copy.toml": "", "copy.py": "", "index.json": json.dumps({"kernels": kernels})}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    capture = assemble_capture(tmp_path / "records", Options(output=tmp_path, fake=True), None)
    assert "0 kernels launched, 0 captured" in "\n".join(capture_lines(capture, "captured"))
    assert {name: (tmp_path / name).read_text() for name in files} == files


@pytest.mark.wheels
def test_the_command_has_the_exit_code_of_the_program(
    program: Callable[[str], Path], python: str, tmp_path: Path
) -> None:
    arguments = [
        "capture",
        "--python",
        python,
        "--output",
        "found",
        "--check",
        "nothing",
        "--no-gpu",
        "--",
        str(program("sys.exit(6)")),
    ]
    start = "from compat.cli.start import start; start()"
    variables = {**os.environ, "COLUMNS": "80"}
    command_line = [sys.executable, "-c", start, *arguments]
    done = subprocess.run(
        command_line, cwd=tmp_path, capture_output=True, text=True, check=False, env=variables
    )
    assert done.returncode == 6
    assert "1 kernel launched, 1 captured as 1 case, 0 not" in done.stdout
    assert "next: compat matrix --spec 'found/**/*.toml'" in done.stdout


ON_A_GPU = """
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

class Gpu:
    '''A GPU's driver, as far as a launch asks it: code is loaded and launched in name only.'''
    launched = []
    utils = property(lambda self: self)
    get_current_target = lambda self: GPUTarget("cuda", 80, 32)
    get_current_device = lambda self: 0
    get_current_stream = lambda self, device: 0
    get_device_properties = lambda self, device: {"max_shared_mem": 166912}
    load_binary = lambda self, *_: (1, 1, 16, 0, 1024)[:LOADED]
    launcher_cls = lambda self, src, metadata: lambda *_: self.launched.append(metadata.name)

driver.set_active(Gpu())
kernel = copy[(1,)](Tensor(), Tensor(), BLOCK=64)
assert ".target sm_80" in kernel.asm["ptx"]

@triton.jit
def broken(x, BLOCK: tl.constexpr):
    tl.store(x, tl.max(0, BLOCK))

try:
    broken[(1,)](Tensor(), BLOCK=64)
except triton.CompilationError:
    sys.exit(len(Gpu.launched))
"""


@pytest.mark.wheels
@pytest.mark.parametrize(("release", "loaded"), [("3.2.0", 4), ("3.9.0", 5)])
def test_the_recorder_replaces_nothing_on_a_machine_with_a_gpu(
    built: Callable[[str], BuiltEnv], tmp_path: Path, release: str, loaded: int
) -> None:
    """Only the driver is not real here.

    The program compiles, launches and raises the same as without the recorder.
    """
    path = tmp_path / "program.py"
    path.write_text(LAUNCH.replace("copy[(1,)]", "#") + ON_A_GPU.replace("LOADED", str(loaded)))
    options = Options(output=tmp_path / "captured", fake=False)
    capture = capture_program((str(path),), options, python=built(f"triton-{release}").python)
    assert capture.program_end is not None
    assert capture.program_end.exit_code == 1  # one kernel was launched
    assert {kernel.name for kernel in capture.files.kernels} == {"broken", "copy"}
    assert {(comparison.kernel, comparison.agreement) for comparison in capture.comparisons} == {
        ("copy", Agreement.EQUAL),
        ("broken", Agreement.EQUAL),
    }
    assert (capture.document["gpu"], capture.document["target"]) == (True, "sm_80")
    failed = {
        kernel["name"]: kernel["cases"][0]["failed"] for kernel in capture.document["kernels"]
    }
    assert failed == {"broken": "CompilationError", "copy": None}


HOSTILE = """
class Hostile:
    @property
    def dtype(self): raise RuntimeError("/home/somebody/secret")

class Mode:
    pass
MODE = Mode()

@triton.jit
def with_object(x, BLOCK: tl.constexpr):
    tl.store(x, MODE.value)

for launch in (
    lambda: copy[(1,)](Tensor(), Hostile(), BLOCK=64),
    lambda: with_object[(1,)](Tensor(), BLOCK=64),
    lambda: copy[(1,)](Tensor(), Tensor(), BLOCK=MODE),
    lambda: copy[(1,)](Tensor()),
):
    try:
        launch()
    except Exception:
        pass
"""


@pytest.mark.wheels
def test_launches_that_cannot_be_recorded_are_reported_without_their_content(
    program: Callable[[str], Path], python: str, tmp_path: Path
) -> None:
    capture = captured((str(program(HOSTILE)),), tmp_path, python)
    assert {str(kernel) for kernel in capture.files.not_captured} == {
        "program.py:copy: has an argument that cannot be inspected (RuntimeError)",
        "program.py:with_object: with_object uses MODE.value, which is __main__.Mode",
        "program.py:copy: its argument BLOCK is an object of the class __main__.Mode",
        "program.py:copy: is not given the argument y",
    }
    assert [kernel.name for kernel in capture.files.kernels] == ["copy"]
    assert "secret" not in (tmp_path / "captured" / "index.json").read_text()
