"""Captures of a library's kernels without a GPU, on real wheels.

Each case compiles to the same code as the library's own launch.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.capturing.capturing import Capture, capture_program
from compat.capturing.checking import Agreement, CodeCheck, Options, compare, target_of
from compat.config.kernel_files import load_kernels
from compat.model import BuiltEnv
from compat.toolchains import DEFAULT

LIBRARY = Path(__file__).parent / "library"
EXIT_CODE = 3
PAIR = "triton-3.5.1-torch-2.9.1"
OLDEST_PAIR = "triton-3.0.0-torch-2.4.1"
RELEASES = ("3.0.0", "3.9.0")
BUILT_AROUND = {"around", "around_2"}
"""Kernels that call a function from a closure.

Older releases do not compile them. A bundle has no closure.
"""

pytestmark = pytest.mark.wheels


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.long
def test_a_library_is_captured(
    release: str, built: Callable[[str], BuiltEnv], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All checks are in one test, because a capture takes seconds.

    Each of the functions below checks one aspect of the capture.
    """
    alone, pair = built(f"triton-{release}"), built(OLDEST_PAIR if release == "3.0.0" else PAIR)
    assert pair.python
    assert alone.python
    folders = [str(LIBRARY)]
    # PyTorch only provides tensors, so a Triton earlier on the path is used instead of its own.
    if release != "3.0.0":
        folders += [
            str(folder)
            for folder in Path(alone.python).parents[1].glob("lib/python3*/site-packages")
        ]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(folders))
    options = Options(output=tmp_path / "captured", check=CodeCheck.CASES, fake=True)
    capture = capture_program(
        (str(LIBRARY / "program.py"), str(EXIT_CODE)), options, python=pair.python
    )
    assert capture.files.records.release == release
    assert capture.program_end is not None
    assert capture.program_end.exit_code == EXIT_CODE
    what_is_captured_is_what_was_launched(capture)
    each_case_compiles_to_what_the_launch_compiles_to(capture, alone)
    a_kernel_file_says_what_the_launch_said(capture)
    answers_that_a_module_had_at_import_are_told(capture)
    nothing_of_this_machine_gets_into_the_files(capture)
    the_index_says_where_each_case_comes_from(capture)


def what_is_captured_is_what_was_launched(capture: Capture) -> None:
    assert capture.files.not_captured == ()
    cases = {kernel.name: {case.name for case in kernel.cases} for kernel in capture.files.kernels}
    assert {name: len(case_names) for name, case_names in cases.items()} == {
        "around": 1,
        "around_2": 1,
        "broken": 1,
        "built": 1,
        "built_2": 1,
        "chosen": 4,  # without a bias; not aligned; one element; called by an operator
        # One launch is in a thread, and one is in a forked process that ends with os._exit.
        "padded": 3,
        "tuned": 5,  # four configs, and the config that was chosen before for the other kind
        # Two configs each: for fp16, for fp32 (in backward), and for i32.
        "tuned_by_itself": 6,
    }
    assert {"i32-w2", "fp16-w4"} <= cases["tuned_by_itself"]


def each_case_compiles_to_what_the_launch_compiles_to(capture: Capture, alone: BuiltEnv) -> None:
    compared = capture.comparisons
    if capture.files.records.release != "3.0.0":
        # The program found its Triton through PYTHONPATH.
        assert {comparison.agreement for comparison in compared} == {Agreement.UNKNOWN}
        compared = compare(capture.files, target_of(None, DEFAULT), alone)
    # Nothing is known about the process that ended with os._exit.
    assert len(compared) == capture.files.cases - 1
    different = {
        comparison.kernel for comparison in compared if comparison.agreement is not Agreement.EQUAL
    }
    assert different == (set() if capture.files.records.release == "3.9.0" else BUILT_AROUND)


def a_kernel_file_says_what_the_launch_said(capture: Capture) -> None:
    specs = load_kernels([str(capture.options.output / "chosen.toml")], Path.cwd())
    arguments = [
        (spec.compile.launch["x_ptr"], spec.compile.launch["bias_ptr"], spec.compile.launch["n"])
        for spec in specs
    ]
    assert arguments == [
        ("*fp32", None, 256),
        ({"tensor": "fp32", "aligned": False}, "*fp32", 255),
        ("*fp32", "*fp32", 1),
        ("*fp32", "*fp32", 256),
    ]
    # The launch passed 0.3, and no compile depends on this value.
    assert {spec.compile.launch["scale"] for spec in specs} == {0.5}


def answers_that_a_module_had_at_import_are_told(capture: Capture) -> None:
    assert [str(conditional) for conditional in capture.files.conditionals] == [
        "waves.constants:10: if HAS_DESCRIPTORS:",
        'waves.constants:23: if hasattr(tl, "gather"):',
        (
            'waves.constants:32: constexpr_function = getattr(triton, "constexpr_function", lambda'
            " function: fun…"
        ),
    ]
    for kernel in capture.files.kernels:
        assert len({*kernel.questions}) == len(kernel.questions)
    text = (capture.options.output / "chosen.py").read_text()
    if capture.files.records.release == "3.0.0":
        assert "def gather(source, index, axis):" in text
    # The kernel calls gather for large blocks only. For other blocks it compiles in releases that
    # have no such function.
    else:
        assert "try:\n    from triton.language import gather\nexcept ImportError:" in text


def nothing_of_this_machine_gets_into_the_files(capture: Capture) -> None:
    for path in capture.options.output.iterdir():
        text = path.read_text()
        assert str(LIBRARY) not in text
        assert "/tmp" not in text
        assert str(Path.home()) not in text
        assert os.uname().nodename not in text
        assert not re.search(r"\b0\.3\b", text)


def the_index_says_where_each_case_comes_from(capture: Capture) -> None:
    index = json.loads((capture.options.output / "index.json").read_text())
    assert index["target"] == "sm_90"
    (padded,) = (kernel for kernel in index["kernels"] if kernel["name"] == "padded")
    assert padded["cases"][0]["places"] == ["waves.operators:29 in padded"]
    (double,) = (kernel for kernel in index["kernels"] if kernel["name"] == "tuned_by_itself")
    assert {tuple(case["tuned"]) for case in double["cases"]} == {
        ("candidate",),
        ("candidate", "chosen"),
    }
