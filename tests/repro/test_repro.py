"""`compat repro` runs a script in every env before it writes the script.

It does not write a script that does not reproduce the failure.
"""

from __future__ import annotations

import ast
import getpass
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from packaging.tags import parse_tag
from packaging.version import Version

from compat.bundle.bundle import bundle
from compat.diagnosis.classify import classify
from compat.engine.run import RunContext
from compat.envs.listing import pythons_of
from compat.errors import SelectionError
from compat.model import BuiltEnv, Cell, Env, Evidence, RaisedException
from compat.processes.supervisor import ProcessResult
from compat.repro import ReproRequest, UnverifiedCell, WrittenRepro, verify, write_repro
from compat.repro.script import dependencies, python_specifier, split
from compat.repro.verify import (
    identifying_words,
    promise,
    run_script,
    sayings,
    searched_output,
    without_places,
)
from compat.source.closure import read_source
from compat.store.store import Store
from compat.toolchains.triton.failures import KNOWLEDGE
from compat.toolchains.triton.ir.dumps import READER
from compat.toolchains.triton.language.script import Form, compile_function, form_of
from compat.workers.attempt import Limits
from tests import records
from tests.cells import cell, context_of, spec
from tests.repro.scripts import run_forked
from tests.targets import TARGETS
from tests.together import for_each

ROOT = Path(__file__).parent.parent.parent
TARGET = TARGETS["sm_90"]

# --- words ----------------------------------------------------------------------------------------

ABORT = (
    'python: /src/mlir/Types.cpp:126: unsigned f() const: Assertion `isIntOrFloat() && "only'
    " integers have a width\"' failed.\n"
)


def promised(evidence: Evidence, *alike: Evidence, others: Sequence[Evidence] = ()) -> str:
    return promise(
        sayings(evidence, KNOWLEDGE),
        [searched_output(attempt) for attempt in (evidence, *alike)],
        [searched_output(attempt) for attempt in others],
    )


def raising(*raised: tuple[str, str]) -> Evidence:
    return Evidence(
        answered=True,
        stage="ast",
        raised=tuple(RaisedException(type=kind, message=message) for kind, message in raised),
    )


def test_a_promise_is_in_the_output_and_has_no_quotes() -> None:
    assert (
        promised(Evidence(answered=False, stage="ast", signal="SIGABRT", stderr=ABORT))
        == "only integers have a width"
    )
    axis = raising(
        ("triton.CompilationError", "at 3:1:\n^\nValueError(\"no 'axis' of that kind in here\")")
    )
    assert promised(axis) == "of that kind in here"
    assert (
        promised(Evidence(answered=False, signal="SIGSEGV", stage="llir"))
        == "Fatal Python error: Segmentation fault"
    )
    assert promised(raising(("AssertionError", ""))) == "AssertionError"


def test_a_promise_for_several_releases_is_their_common_text() -> None:
    one, other = (
        raising(("E", "incompatible dimensions at index 1: 2")),
        raising(("E", "incompatible dimensions at index 12")),
    )
    assert promised(one, other) == "incompatible dimensions at index"
    assert promised(raising(("E", "nothing of the kind")), other) == ""


def test_a_promise_is_not_in_the_output_of_another_failure() -> None:
    one, other = (
        raising(("AttributeError", f"{name} object has no attribute 'dtype'"))
        for name in ("'int'", "'constexpr'")
    )
    assert promised(one) == "object has no attribute"
    assert promised(one, others=[other]) == "'int' object has no attribute 'dtype'"
    assert promised(one, others=[one]) == ""
    long = " ".join(["too long to be read at once,"] * 4)
    first, second = (
        raising(("ValueError", f"{long} {end}")) for end in ("and different", "and other")
    )
    assert promised(first) == long[:80].rpartition(" ")[0]
    assert promised(first, others=[second]) == f"{long} and different"


@given(
    st.lists(st.text("ab '1,", max_size=40), min_size=1, max_size=4),
    st.lists(st.text("ab '1,", max_size=40), max_size=3),
)
def test_a_promise_is_in_all_outputs_of_its_failure_and_in_no_others(
    alike: list[str], others: list[str]
) -> None:
    piece = promise(alike[:1], alike, others)
    assert all(piece in output for output in alike)
    assert not piece or not any(piece in output for output in others)
    assert not piece or len(piece) >= 8


def test_a_promise_is_found_within_two_seconds_in_long_output() -> None:
    text = "a b " * 50_000
    began = time.process_time()
    promise([text], ["b a " * 10_000, text[:40_000], "c" * 40_000])
    assert time.process_time() - began < 2


def test_paths_and_addresses_of_this_machine_are_shortened() -> None:
    text = (
        'File "/home/jo/.venv/lib/python3.11/site-packages/triton/core.py", line'
        " 3\n/tmp/x/repro.py:4: a / b and/or https://a.org/b\n"
    )
    assert (
        without_places(text)
        == 'File "triton/core.py", line 3\nrepro.py:4: a / b and/or https://a.org/b\n'
    )
    assert (
        without_places("compat repro 'k/*/h100/3.2' /home/me/k.toml")
        == "compat repro 'k/*/h100/3.2' k.toml"
    )
    assert without_places('loc("/work/a/k.py":12:3) 0x7fabc0123456') == 'loc("k.py":12:3) 0x…'


def test_words_that_identify_this_machine_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "jo")
    assert identifying_words(f"written by jo in {Path.home()}/x", own="") == sorted(
        [str(Path.home()), "jo"]
    )
    assert identifying_words("a joke of jo", own="# by jo") == []


def test_the_chain_of_exceptions_is_read_from_the_output_of_python(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    raising = "raise RuntimeError('at 1:2:\\n    x\\n    ^') from e"
    script.write_text(
        "print('told')\ntry:\n    raise ValueError('inner')\nexcept ValueError as e:\n   "
        f" {raising}\n"
    )
    output = subprocess.run(["python3", str(script)], capture_output=True, text=True, check=False)
    full_output = (
        f"{output.stdout}{output.stderr}\nreproduced: the compile ended with exit code 1\n"
    )
    evidence = verify.evidence_of(ProcessResult(exit_code=0, output=full_output), "ast", READER)
    assert evidence.raised == (
        RaisedException(type="RuntimeError", message="at 1:2:\n    x\n    ^"),
        RaisedException(type="ValueError", message="inner"),
    )
    assert (evidence.exit_code, evidence.signal, evidence.stderr.strip()) == (1, None, "told")
    traceback = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\nAssertionError'
    )
    (wordless,) = read_back(traceback).raised
    assert (wordless.message, "line 1, in f" in wordless.traceback) == ("", True)
    aborted = verify.evidence_of(
        ProcessResult(
            exit_code=0, output=f"{ABORT}reproduced: the compile ended with exit code -6\n"
        ),
        "ast",
        READER,
    )
    assert (aborted.signal, aborted.answered) == ("SIGABRT", False)


def test_a_script_can_run_again_with_another_text(tmp_path: Path) -> None:
    env = BuiltEnv(env=Env(name="any"), python=sys.executable)
    for text in ("one", "two"):
        script = verify.ScriptCheck(
            env=env,
            text=f"print({text!r})",
            exit_code=0,
            compiles=False,
            fingerprint=None,
            stage="ast",
        )
        (shown,) = verify.run_all([script], TARGET, KNOWLEDGE, tmp_path, deadline=60, slots=1)
        assert shown.run.output.strip() == text


def read_back(output: str) -> Evidence:
    return verify.evidence_of(
        ProcessResult(
            exit_code=0, output=f"{output}\nreproduced: the compile ended with exit code 1\n"
        ),
        "ast",
        READER,
    )


BARE = """a warning, and: nothing more
triton.compiler.errors.CompilationError: at 2:15:
def helper(x):
    return x + nowhere_defined
               ^
NameError('nowhere_defined is not defined')
"""
DIRECT = "\nThe above exception was the direct cause of the following exception:\n\n"
DURING = "\nDuring handling of the above exception, another exception occurred:\n\n"
STACK = (
    'Traceback (most recent call last):\n  File "repro.py", line 4, in <module>\n   '
    " compile_kernel()\n"
)
OUTER = "triton.compiler.errors.CompilationError: at 2:21:\n    helper(x)\n    ^\n"
MIDDLE = "ValueError: in between\n"


@for_each("link", [DIRECT, DURING])
@for_each("middle", ["", MIDDLE, STACK + MIDDLE])
def test_an_exception_without_a_traceback_of_its_own_is_read(middle: str, link: str) -> None:
    """Triton removes the frames of its front end.

    An exception that the front end raised has no ``Traceback`` left.
    """
    evidence = read_back(BARE + link + (middle and middle + link) + STACK + OUTER)
    messages = [exception.message.partition("\n")[0] for exception in evidence.raised]
    assert messages == ["at 2:21:", *(["in between"] if middle else []), "at 2:15:"]
    assert evidence.raised[-1].message.endswith("NameError('nowhere_defined is not defined')")
    assert evidence.stderr == "a warning, and: nothing more\n"
    failure = classify([evidence], target=TARGET, knowledge=KNOWLEDGE).failure
    assert failure is not None
    assert failure.failure_class == "undefined-name"


def test_only_the_last_chain_of_exceptions_is_read() -> None:
    evidence = read_back(
        STACK + "KeyError: 'an old story'\n" + STACK + MIDDLE + DIRECT + STACK + OUTER
    )
    assert [exception.type.rpartition(".")[2] for exception in evidence.raised] == [
        "CompilationError",
        "ValueError",
    ]
    assert "an old story" in evidence.stderr
    assert read_back("ValueError: no chain, and no traceback\n").raised == ()
    (suggesting,) = read_back(f"{STACK}AttributeError: no 'fp99'. Did you mean: 'fp64'?\n").raised
    assert suggesting.message == "no 'fp99'", "the exception itself has no suggestion"


def test_versions_of_python_become_a_specifier() -> None:
    assert python_specifier({(3, 9), (3, 10), (3, 12)}) == ">=3.9,<3.13,!=3.11.*"
    open_ended = pythons_of(parse_tag("py3-none-any"), ">=3.10")
    assert python_specifier(open_ended) == ">=3.10"


# --- the call -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "form"),
    [
        ("3.0.0", Form.DESCRIPTOR),
        ("3.2.0", Form.HINTS),
        ("3.3.0+git1", Form.ATTRIBUTES),
        (None, Form.ANY),
    ],
)
def test_a_release_determines_the_form_of_the_call(release: str | None, form: Form) -> None:
    assert form_of(release) is form


@for_each("form", Form)
def test_indices_of_arguments_follow_the_order_of_the_parameters(form: Form) -> None:
    specialization = spec(
        "faces",
        "fine",
        signature={"size": "i32", "result": "*fp32", "source": "*fp32"},
        constexprs={"BLOCK": {"dtype": "bf16"}},
        divisible_by_16=("result", "source"),
        equal_to_1=("size",),
    )
    text = compile_function(bundle(specialization), TARGET, form)
    ast.parse(text)
    flat = " ".join(text.split())
    types = '"source": "*fp32", "result": "*fp32"'
    assert f"signature={{{types}" in flat
    assert '"size": 1, "BLOCK": tl.bfloat16' in flat
    attributes = 'attrs={(1,): [["tt.divisibility", 16]], (0,): [["tt.divisibility", 16]]}'
    expected = {
        Form.DESCRIPTOR: "AttrsDescriptor(divisible_by_16=(1, 0), equal_to_1=(2,))",
        Form.HINTS: "AttrsDescriptor.from_hints({0: 16, 1: 16, 2: 1})",
        **dict.fromkeys((Form.ATTRIBUTES, Form.TYPED, Form.RANGED), attributes),
        Form.ANY: "divisible_by_16=(1, 0), equal_to_1=(2,)",
    }
    assert expected[form] in flat
    assert (', "size": "constexpr", "BLOCK": "constexpr"}' in flat) is form.has_attributes


def test_number_that_no_parameter_has_is_ignored_in_do_not_specialize(tmp_path: Path) -> None:
    text = (ROOT / "tests/kernels/faces.py").read_text()
    path = tmp_path / "kernel.py"
    path.write_text(
        text.replace("@triton.jit\ndef fine", "@triton.jit(do_not_specialize=[2, 9])\ndef fine")
    )
    fine = spec("faces", "fine", source=str(path), divisible_by_16=("source", "size"))
    flat = " ".join(compile_function(bundle(fine), TARGET, Form.ATTRIBUTES).split())
    assert 'attrs={(0,): [["tt.divisibility", 16]]}' in flat


def test_call_has_the_defaults_of_parameters_that_the_specialization_omits(tmp_path: Path) -> None:
    text = (ROOT / "tests/kernels/faces.py").read_text()
    path = tmp_path / "kernel.py"
    old = "@triton.jit\ndef fine(source, result, size, BLOCK: tl.constexpr):"
    assert old in text
    path.write_text(
        text.replace(
            old,
            "LEAST = -(2**31) - 1\n@triton.jit\ndef fine(source, result, size, bias=None,"
            ' by=float("-inf"), least=LEAST, one=1, wide=32, W=tl.constexpr(8),'
            " BLOCK: tl.constexpr = 64, num_warps: tl.constexpr = 4):",
        )
    )
    fine = spec("faces", "fine", source=str(path), constexprs={}, options={"num_warps": 8})
    flat = " ".join(compile_function(bundle(fine), TARGET, Form.ATTRIBUTES).split())
    kinds = '"by": "fp32", "least": "i64", "one": "constexpr", "wide": "i32", "W": "constexpr"'
    assert kinds in flat
    values = '"bias": None, "one": 1, "W": tl.constexpr(8), "BLOCK": 64, "num_warps": 8'
    assert f"constexprs={{{values}}}" in flat
    assert '(7,): [["tt.divisibility", 16]]' in flat


# --- on real wheels -------------------------------------------------------------------------------


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let scripts share the import of Triton."""
    monkeypatch.setattr(verify, "run_script", run_forked)


@pytest.fixture
def context(
    tmp_path: Path, built: Callable[[str], BuiltEnv]
) -> Iterator[Callable[..., RunContext]]:
    with Store(tmp_path / "state") as store:

        def make(*names: str, deadline: float = 60) -> RunContext:
            envs = [built(f"triton-{name}") for name in names]
            limits = Limits(deadline=deadline, memory=4 << 30)
            return context_of(store, *envs, limits=limits, slots=2)

        yield make


def cell_in(source: Path, text: str, built: BuiltEnv, function: str = "") -> Cell:
    """Write a source, and return the cell of its function; by default the one of its name."""
    source.write_text(text)
    closure = read_source(source).closure
    return cell(built, "faces", function or source.stem, source=str(source), closure=closure)


def repro_of(requested: ReproRequest, context: RunContext) -> WrittenRepro:
    done = write_repro(requested, context)
    assert isinstance(done, WrittenRepro), done
    return done


def marks(issue: str) -> list[tuple[str, str]]:
    """The rows of an issue's table: the release, and its outcome."""
    return re.findall(r"^\| (3\S+) \| (.*) \|$", issue, re.MULTILINE)


def request(failing: Cell, folder: Path, **more: object) -> ReproRequest:
    facts = {
        "cell": failing,
        "bundle": bundle(failing.spec),
        "targets": (failing.target,),
        "root": ROOT,
        "folder": folder / "out",
    }
    return ReproRequest(**(facts | more))  # type: ignore[arg-type]


TILE = """
import triton
import triton.language as tl


@triton.jit
def tile(source, result, size, BLOCK: tl.constexpr):
    at, few = tl.arange(0, BLOCK), tl.arange(0, 16)
    tl.store(result + few * BLOCK + at[None, :], 1.0)
"""


@pytest.mark.wheels
@pytest.mark.usefixtures("forked")
def test_a_portable_script_reproduces_the_failure_on_several_releases(
    tmp_path: Path, context: Callable[..., RunContext], built: Callable[[str], BuiltEnv]
) -> None:
    failing = cell_in(tmp_path / "tile.py", TILE, built("triton-3.9.0"))
    done = repro_of(request(failing, tmp_path, portable=True), context("3.0.0", "3.2.0", "3.9.0"))
    assert [path.name for path in done.paths] == [
        f"tile-as_written-only-sm_90-3.9.0{suffix}" for suffix in (".py", ".md")
    ]
    # The script that was verified on each release is the one in the file.
    assert done.paths[0].read_text() == done.finding.text
    python = built("triton-3.0.0").python
    assert python
    assert run_script(python, done.paths[0], 60).exit_code == 0
    issue = done.paths[1].read_text()
    assert "| 3.2.0 | **fails** |" in issue
    assert "not a bug of the compiler" in issue
    assert str(tmp_path) not in issue + done.paths[0].read_text()
    assert (
        "-    tl.store(result + few * BLOCK + at[None, :], 1.0)\n+    tl.store(result + few[:,"
        " None] * BLOCK" in issue
    )


DIVIDED = """
import triton
import triton.language as tl


@triton.jit
def divided(source, result, size, BLOCK: tl.constexpr):
    for at in range(2):
        tl.store(result + at // 0, 0)
"""


@pytest.mark.wheels
@pytest.mark.usefixtures("forked")
def test_a_signal_in_a_pass_is_reproduced_although_no_output_names_the_pass(
    tmp_path: Path, context: Callable[..., RunContext], built: Callable[[str], BuiltEnv]
) -> None:
    failing = cell_in(tmp_path / "divided.py", DIVIDED, built("triton-3.2.0"))
    done = repro_of(request(failing, tmp_path), context("3.2.0", "3.8.0", "3.9.0"))
    issue = next(path for path in done.paths if path.suffix == ".md").read_text()
    assert "in the pass `convert-triton-gpu-to-llvm`: `Fatal Python error: Floating point" in issue
    assert "| 3.2.0 | **fails** |\n| 3.8.0 | other: pass-failure |\n| 3.9.0 | ok |" in issue


LAPSE = """
import triton
import triton.language as tl


@triton.jit
def lapse(source, result, size, BLOCK: tl.constexpr):
    zeros = tl.zeros((32, 32), tl.int8)
    tl.dot(zeros, zeros, acc=zeros.to(tl.int32))
"""


@pytest.mark.wheels
@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize("releases", [("3.5.0", "3.8.0"), ("3.4.0", "3.5.0", "3.8.0")])
def test_a_failure_between_releases_that_work_is_a_compiler_bug(
    releases: tuple[str, ...],
    tmp_path: Path,
    context: Callable[..., RunContext],
    built: Callable[[str], BuiltEnv],
) -> None:
    failing = cell_in(tmp_path / "lapse.py", LAPSE, built("triton-3.5.0"))
    done = repro_of(request(failing, tmp_path, portable=True), context(*releases))
    issue = done.paths[1].read_text()
    assert ("not a bug of the compiler" in issue) == (len(releases) == 2)
    assert ("The accumulator is" in issue) == (len(releases) == 2)
    assert ("as it does with Triton 3.4.0, 3.8.0" in issue) == (len(releases) == 3)


@pytest.mark.wheels
@pytest.mark.usefixtures("forked")
def test_the_issue_of_a_pinned_script_shows_the_outcome_of_each_release(
    tmp_path: Path, context: Callable[..., RunContext], built: Callable[[str], BuiltEnv]
) -> None:
    signature = {"source": "*fp16", "result": "*fp16", "size": "i32"}
    env = built("triton-3.2.0")
    failing = cell(
        env,
        "failures",
        "dot_into_dot",
        signature=signature,
        constexprs={"BLOCK": 64},
        options={"num_warps": 8},
    )
    done = repro_of(request(failing, tmp_path), context("3.1.0", "3.2.0", "3.3.1", "3.4.0"))
    assert marks(done.paths[1].read_text()) == [
        ("3.1.0", "ok"),
        ("3.2.0", "**fails**"),
        ("3.3.1", "other: compiler-assert"),
        ("3.4.0", "ok"),
    ]
    text = done.paths[1].read_text()
    assert (
        "it works in some releases and fails in others. "
        "3.1.0: ok; 3.2.0: this failure; 3.3.1: another failure (compiler-assert); 3.4.0: ok"
        in text
    )
    assert "mlir_reproducer" in done.paths[2].read_text()
    assert done.paths[2].read_text().strip() in text


@pytest.mark.wheels
@pytest.mark.usefixtures("forked")
def test_a_script_of_a_launch_calls_the_launcher_of_the_release(
    tmp_path: Path, context: Callable[..., RunContext], built: Callable[[str], BuiltEnv]
) -> None:
    """From 3.4 on, Triton does not fold an argument that is annotated with a type.

    Only the launcher knows this.
    """
    launch = {
        "source": "*fp16",
        "result": {"tensor": "fp16", "aligned": False},
        "stride": 1,
        "unused": None,
    }
    facts: dict[str, Any] = {"signature": {}, "constexprs": {}, "divisible_by_16": ()}
    failing = cell(
        built("triton-3.4.0"),
        "launched",
        "stepped",
        launch=launch,
        options={"num_warps": 2},
        **facts,
    )
    done = repro_of(request(failing, tmp_path), context("3.0.0", "3.3.1", "3.4.0", "3.9.0"))
    assert marks(done.paths[1].read_text()) == [
        ("3.0.0", "ok"),
        ("3.3.1", "ok"),
        ("3.4.0", "**fails**"),
        ("3.9.0", "**fails**"),
    ]
    call = (
        'source=Tensor("fp16"), result=Tensor("fp16", address=8), stride=1, unused=None, grid=(1,),'
        " warmup=True, num_warps=2,"
    )
    assert f" stepped.run( {call} )" in " ".join(done.paths[0].read_text().split())


@pytest.mark.wheels
@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize("function", ["max_of_scalar_first", "helped"])
def test_a_front_end_failure_has_the_same_fingerprint_in_four_releases(
    function: str,
    tmp_path: Path,
    context: Callable[..., RunContext],
    built: Callable[[str], BuiltEnv],
) -> None:
    """Both failures lose the traceback of the exception that explains them.

    The first is one mistake, and four releases name four different things in its message.
    """
    failing = cell(built("triton-3.9.0"), "../repro/front_end", function)
    done = repro_of(request(failing, tmp_path), context("3.2.0", "3.3.1", "3.8.0", "3.9.0"))
    expected = {
        "max_of_scalar_first": "has no attribute",
        "helped": "nowhere_defined is not defined",
    }
    assert f'EXPECTED = "{expected[function]}"' in done.paths[0].read_text()
    failures = {result.built.release: result.outcome.failure for result in done.finding.results}
    alike = [
        release
        for release, failure in failures.items()
        if failure and failure.fingerprint == done.finding.failure.fingerprint
    ]
    assert alike == ["3.2.0", "3.3.1", "3.8.0", "3.9.0"]


TUNED = """
import triton
import triton.language as tl

WARPS = 4


def configs():
    return [triton.Config({"BLOCK": 64}, num_warps=WARPS)]


@triton.autotune(configs=configs(), key=["size", "shape"])
@triton.jit
def tuned(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, BLOCK), 1.0)
"""
BESIDE = """

@triton.jit
def beside(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, BLOCK), 1.0)
"""


@for_each(
    ("text", "imports", "after"),
    [
        ("import triton; Q = 1\nR = 2\n", ["import triton"], "Q = 1\nR = 2"),
        ("import triton; import torch; \\\n  Q = 1", ["import triton", "import torch"], "Q = 1"),
        ("import triton \\\n; Q = 'é'; R = 2", ["import triton"], "Q = 'é'; R = 2"),
        ("import triton;  # x\n\nQ = 1", ["import triton"], "# x\n\nQ = 1"),
        ("import triton  # x\n\n# y\nQ = 1\n", ["import triton"], "# y\nQ = 1"),
    ],
)
def test_a_statement_that_shares_a_line_with_an_import_is_kept(
    text: str, imports: list[str], after: str
) -> None:
    assert split(text) == (imports, after)


@pytest.mark.wheels
@pytest.mark.usefixtures("forked")
def test_a_failure_at_import_is_reproduced_with_the_decorators(
    tmp_path: Path, context: Callable[..., RunContext], built: Callable[[str], BuiltEnv]
) -> None:
    """The decorator of 3.2 asks for a driver, and a machine without a GPU has none.

    3.2 does not check the names in ``key``.
    """
    failing = cell_in(tmp_path / "tuned.py", TUNED, built("triton-3.9.0"))
    done = repro_of(
        request(failing, tmp_path, bundle=None), context("3.1.0", "3.2.0", "3.3.1", "3.9.0")
    )
    script, issue = (path.read_text() for path in done.paths)
    assert marks(issue) == [
        ("3.1.0", "**fails**"),
        ("3.2.0", "ok"),
        ("3.3.1", "ok"),
        ("3.9.0", "**fails**"),
    ]
    assert (
        '@triton.autotune(configs=configs(), key=["size", "shape"])\n@triton.jit\ndef tuned('
        in script
    )
    assert "WARPS = 4\n" in script
    assert "Importing the kernel below with Triton 3.9.0 is rejected, at line" in issue


@pytest.mark.wheels
def test_a_failure_at_import_that_no_script_can_show_has_a_reason(
    tmp_path: Path, context: Callable[..., RunContext], built: Callable[[str], BuiltEnv]
) -> None:
    source, env = tmp_path / "tuned.py", built("triton-3.9.0")
    failing = cell_in(source, TUNED + BESIDE, env, "beside")
    done = write_repro(request(failing, tmp_path, bundle=None), context("3.9.0"))
    assert isinstance(done, UnverifiedCell)
    assert "fails at tuned.py:12, outside of beside" in done.reasons[-1]
    text = TUNED.replace("WARPS = 4", "import torch\nWARPS = 4 + torch.cuda.is_available() * 4")
    failing = cell_in(source, text, env)
    with pytest.raises(
        SelectionError,
        match=(
            r"at tuned\.py:13; the definition of tuned needs torch, which a script cannot contain"
        ),
    ):
        write_repro(request(failing, tmp_path, bundle=None), context("3.9.0"))


@pytest.mark.wheels
def test_a_kernel_that_uses_a_missing_package_gets_no_script(
    tmp_path: Path, context: Callable[..., RunContext], built: Callable[[str], BuiltEnv]
) -> None:
    """A stand-in replaces the package in the cell, and nothing does in a script."""
    text = (
        "import torch, triton\n@triton.jit\ndef tuned(source, result, size, BLOCK):\n"
        "    torch.finfo(torch.float32).nowhere\n"
    )
    failing = cell_in(tmp_path / "tuned.py", text, built("triton-3.9.0"))
    with pytest.raises(SelectionError, match="tuned uses torch, which this env lacks"):
        write_repro(request(failing, tmp_path, bundle=None), context("3.9.0"))


def test_a_script_requires_pytorch_only_if_it_imports_it() -> None:
    pair = records.env("3.5.1", torch="2.9.1")
    assert dependencies(pair, {"torch"}) == ("triton==3.5.1", "torch==2.9.1")
    assert dependencies(pair, ()) == ("triton==3.5.1",)


SLEEPING = """
import triton


@triton.constexpr_function
def wait():
    import time
    time.sleep(600)


@triton.jit
def sleeping(source, result, size, BLOCK):
    wait()
"""


@pytest.mark.wheels
def test_the_script_of_a_hanging_compile_has_a_deadline(
    tmp_path: Path, context: Callable[..., RunContext], built: Callable[[str], BuiltEnv]
) -> None:
    failing = cell_in(tmp_path / "sleeping.py", SLEEPING, built("triton-3.9.0"))
    done = repro_of(request(failing, tmp_path), context("3.9.0", deadline=2))
    assert "DEADLINE = 2  # seconds" in done.paths[0].read_text()
    assert "does not finish" in done.paths[1].read_text()


@pytest.mark.wheels
@pytest.mark.usefixtures("forked")
def test_the_script_of_an_oversized_binary_compares_its_shared_memory(
    tmp_path: Path, context: Callable[..., RunContext], built: Callable[[str], BuiltEnv]
) -> None:
    """The script counts shared memory and does not launch the kernel.

    It prints what the kernel needs, and reports the failure if the target has less.
    """
    halves = {"source": "*fp16", "result": "*fp32", "size": "i32"}
    failing = cell(
        built("triton-3.9.0"), "failures", "square", signature=halves, constexprs={"BLOCK": 32}
    )
    failing = evolve(failing, target=evolve(failing.target, name="sm_90_small", shared_memory=1000))
    existing = {"triton": tuple(map(Version, ("3.5.1", "3.6.0", "3.9.0")))}
    requested = request(failing, tmp_path, existing=existing)
    done = repro_of(requested, context("3.5.1", "3.9.0"))
    assert "bytes of shared memory, sm_90_small has 1000" in done.finding.output
    assert "It compiles, but the binary\n#\n#     would exceed" in done.paths[0].read_text()
    issue = done.paths[1].read_text()
    assert "succeeds, but the binary cannot be launched: `would exceed" in issue
    assert marks(issue) == [
        ("3.5.1", "**fails**"),
        ("3.9.0", "**fails**"),
    ]
    assert " 3.5.1 and 3.9.0: this failure. Not tested: 3.6.0." in issue


@pytest.mark.wheels
@pytest.mark.usefixtures("forked")
def test_a_script_that_does_not_reproduce_the_failure_is_not_written(
    tmp_path: Path,
    context: Callable[..., RunContext],
    built: Callable[[str], BuiltEnv],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failing = cell(built("triton-3.9.0"), "faces", "mismatched")
    other = evolve(
        bundle(failing.spec),
        text=bundle(cell(built("triton-3.9.0"), "faces", "fine").spec).text.replace(
            "fine", "mismatched"
        ),
    )
    done = write_repro(request(failing, tmp_path, bundle=other), context("3.9.0"))
    assert isinstance(done, UnverifiedCell)
    assert "does not fail the same way" in done.evidence.read_text()
    monkeypatch.setattr("compat.repro.writing.promise", lambda *_: "words that nothing says")
    done = write_repro(request(failing, tmp_path), context("3.9.0"))
    assert isinstance(done, UnverifiedCell)
    assert "triton-3.9.0: expected exit code 0" in done.evidence.read_text()
    assert [path.suffix for path in (tmp_path / "out").iterdir()] == [".txt"]
    monkeypatch.undo()
    written = repro_of(request(failing, tmp_path), context("3.9.0"))
    assert {*(tmp_path / "out").iterdir()} == {*written.paths}, "the old evidence is gone"
    done = write_repro(request(failing, tmp_path, bundle=other), context("3.9.0"))
    assert isinstance(done, UnverifiedCell)
    assert [*(tmp_path / "out").iterdir()] == [done.evidence], "the old script and issue are gone"
    missing = "Exception: ROCm linker /opt/rocm/llvm/bin/ld.lld not found\n"
    run = ProcessResult(exit_code=1, output=f"Traceback (most recent call last):\n{missing}")
    monkeypatch.setattr(verify, "run_script", lambda *_, **__: run)
    done = write_repro(request(failing, tmp_path), context("3.9.0"))
    assert isinstance(done, UnverifiedCell)
    (reason,) = done.reasons
    assert reason.startswith("triton-3.9.0: expected exit code 0"), reason
    assert reason.endswith(missing.strip()), reason


@pytest.mark.wheels
@pytest.mark.usefixtures("forked")
def test_a_kernel_that_imports_too_many_files_for_the_store_has_a_script(
    tmp_path: Path,
    context: Callable[..., RunContext],
    built: Callable[[str], BuiltEnv],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("compat.model.evidence._PATHS", 0)
    failing = cell(built("triton-3.9.0"), "faces", "mismatched")
    repro_of(request(failing, tmp_path), context("3.9.0"))


@pytest.mark.wheels
def test_a_repro_of_a_cell_that_compiles_is_an_error(
    tmp_path: Path, context: Callable[..., RunContext], built: Callable[[str], BuiltEnv]
) -> None:
    with pytest.raises(SelectionError, match="compiles"):
        write_repro(
            request(cell(built("triton-3.9.0"), "faces", "fine"), tmp_path), context("3.9.0")
        )
