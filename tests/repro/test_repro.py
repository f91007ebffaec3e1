"""A repro says what is so: it is run everywhere before it is written, and nothing is written that did not come true."""

from __future__ import annotations

import ast
import getpass
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from attrs import evolve

from compat.axes import verify
from compat.source.bundle import bundle
from compat.source.closure import read_source
from compat.errors import SelectionError
from compat.engine.script import ScriptRun, run_script
from compat.model import BuiltEnv, Cell, Evidence, Failure, Outcome, Raised, Status
from compat.repro import Request, Unverified, Written, mending, write
from compat.repro.call import Form, compile_function, form_of
from compat.repro.header import spelled
from compat.repro.private import betrayals, without_places
from compat.repro.promise import in_common, promise
from compat.run import Bench
from compat.store import Store
from compat.engine.flight import Limits
from compat.config.targets import TARGETS
from tests.cells import cell

ROOT = Path(__file__).parent.parent.parent
TARGET = TARGETS["sm_90"]

# --- words -------------------------------------------------------------------------------------------------------------------

ABORT = 'python: /src/mlir/Types.cpp:126: unsigned f() const: Assertion `isIntOrFloat() && "only integers have a width"\' failed.\n'


def test_a_promise_is_in_the_output_and_free_of_quotes() -> None:
    assert promise(Evidence(answered=False, stage="ast", signal="SIGABRT", stderr=ABORT)) == "only integers have a width"
    raised = (Raised(type="triton.CompilationError", message="at 3:1:\n^\nValueError(\"no 'axis' of that kind in here\")"),)
    assert promise(Evidence(answered=True, stage="ast", raised=raised)) == "of that kind in here"
    assert promise(Evidence(answered=False, signal="SIGSEGV", stage="llir")) == "Fatal Python error: Segmentation fault"
    assert promise(Evidence(answered=True, stage="ast", raised=(Raised(type="AssertionError", message=""),))) == "AssertionError"


def test_a_promise_for_several_releases_is_what_they_have_in_common() -> None:
    other = Evidence(answered=True, stage="ast", raised=(Raised(type="E", message="incompatible dimensions at index 12"),))
    assert in_common("incompatible dimensions at index 1: 2", [other]) == "incompatible dimensions at index"
    assert in_common("nothing of the kind", [other]) == ""


def test_places_are_shortened_to_what_means_something_elsewhere() -> None:
    text = 'File "/home/jo/.venv/lib/python3.11/site-packages/triton/core.py", line 3\n/tmp/x/repro.py:4: a / b and/or https://a.org/b\n'
    assert without_places(text) == 'File "triton/core.py", line 3\nrepro.py:4: a / b and/or https://a.org/b\n'
    assert without_places('loc("/work/a/k.py":12:3) 0x7fabc0123456') == 'loc("k.py":12:3) 0x…'


def test_what_betrays_this_machine_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "jo")
    assert betrayals(f"written by jo in {Path.home()}/x", own="") == sorted([str(Path.home()), "jo"])
    assert betrayals("a joke of jo", own="# by jo") == []


def test_the_chain_of_exceptions_is_read_from_what_python_prints(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    raising = "raise RuntimeError('at 1:2:\\n    x\\n    ^') from e"
    script.write_text(f"print('told')\ntry:\n    raise ValueError('inner')\nexcept ValueError as e:\n    {raising}\n")
    output = subprocess.run(["python3", str(script)], capture_output=True, text=True, check=False)
    told = f"{output.stdout}{output.stderr}\nreproduced: the compile ended with exit code 1\n"
    evidence = verify.evidence_of(ScriptRun(exit_code=0, output=told), "ast")
    assert evidence.raised == (
        Raised(type="RuntimeError", message="at 1:2:\n    x\n    ^"),
        Raised(type="ValueError", message="inner"),
    )
    assert (evidence.exit_code, evidence.signal, evidence.stderr.strip()) == (1, None, "told")
    aborted = verify.evidence_of(ScriptRun(exit_code=0, output=f"{ABORT}reproduced: the compile ended with exit code -6\n"), "ast")
    assert (aborted.signal, aborted.answered) == ("SIGABRT", False)


def test_pythons_as_a_specifier() -> None:
    assert spelled({(3, 9), (3, 10), (3, 12)}) == ">=3.9,<3.13,!=3.11.*"


# --- the call ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "form"), [("3.0.0", Form.DESCRIPTOR), ("3.2.0", Form.HINTS), ("3.3.0+git1", Form.ATTRIBUTES), (None, Form.ANY)]
)
def test_releases_and_forms(release: str | None, form: Form) -> None:
    assert form_of(release) is form


@pytest.mark.parametrize("form", Form)
def test_arguments_are_counted_in_the_order_of_the_parameters(form: Form, built: Callable[[str], BuiltEnv]) -> None:
    spec = cell(built("triton-3.9.0"), "faces", "fine", constexprs={"BLOCK": {"dtype": "bf16"}}, equal_to_1=("size",)).spec
    spec = evolve(spec, signature={"size": "i32", "result": "*fp32", "source": "*fp32"}, divisible_by_16=("result", "source"))
    text = compile_function(bundle(spec), TARGET, form)
    ast.parse(text)
    flat = " ".join(text.split())
    types = '"source": "*fp32", "result": "*fp32"'
    assert f"signature={{{types}" in flat
    assert '"size": 1, "BLOCK": tl.bfloat16' in flat
    expected = {
        Form.DESCRIPTOR: "AttrsDescriptor(divisible_by_16=(1, 0), equal_to_1=(2,))",
        Form.HINTS: "AttrsDescriptor.from_hints({0: 16, 1: 16, 2: 1})",
        Form.ATTRIBUTES: 'attrs={(1,): [["tt.divisibility", 16]], (0,): [["tt.divisibility", 16]]}',
        Form.ANY: "divisible_by_16=(1, 0), equal_to_1=(2,)",
    }
    assert expected[form] in flat
    assert (', "size": "constexpr", "BLOCK": "constexpr"}' in flat) is (form is Form.ATTRIBUTES)


# --- mending -----------------------------------------------------------------------------------------------------------------

SLIP = "def kernel():\n    k = load(p + (l0 + at) * stride + at[None, :] * 2)\n    v = load(q + at + row[None, :])\n"


def outcomes(texts: Sequence[str]) -> list[Outcome]:
    """A compiler that wants an axis on what is added in the first line, and then on ``at`` in the second."""
    return [fate(2) if "at)[:, None]" not in text else fate(3) if "at[:, None] + row" not in text else fate(None) for text in texts]


def fate(line: int | None) -> Outcome:
    if line is None:
        return Outcome(status=Status.OK, stage="cubin")
    failure = Failure(kind=mending.KIND, stage="ast", fingerprint="f", excerpt="", advice="", location=f"k.py:{line}")
    return Outcome(status=Status.REJECTED, stage="ast", failure=failure)


def test_a_missing_axis_is_found_statement_by_statement() -> None:
    mended = mending.mend(SLIP, outcomes)
    assert mended is not None
    assert mending.difference(SLIP, mended).splitlines() == [
        "@@",
        " def kernel():",
        "-    k = load(p + (l0 + at) * stride + at[None, :] * 2)",
        "-    v = load(q + at + row[None, :])",
        "+    k = load(p + (l0 + at)[:, None] * stride + at[None, :] * 2)",
        "+    v = load(q + at[:, None] + row[None, :])",
    ]


def test_what_no_axis_mends_is_left_alone() -> None:
    assert mending.mend(SLIP, lambda texts: [fate(2)] * len(texts)) is None


# --- on real wheels ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def bench(tmp_path: Path, built: Callable[[str], BuiltEnv]) -> Callable[..., Bench]:
    store = Store(tmp_path / "state")

    def make(*names: str, deadline: float = 60) -> Bench:
        envs = {name: built(f"triton-{name}") for name in names}
        by_name = {each.env.name: each for each in envs.values()}
        return Bench(envs=by_name, store=store, limits=Limits(deadline=deadline, memory=4 << 30), slots=2)

    return make


def request(failing: Cell, folder: Path, **more: object) -> Request:
    facts = {"cell": failing, "bundle": bundle(failing.spec), "targets": (failing.target,), "root": ROOT, "folder": folder / "out"}
    return Request(**(facts | more))  # type: ignore[arg-type]


TILE = """
import triton
import triton.language as tl


@triton.jit
def tile(source, result, size, BLOCK: tl.constexpr):
    at, few = tl.arange(0, BLOCK), tl.arange(0, 16)
    tl.store(result + few * BLOCK + at[None, :], 1.0)
"""


@pytest.mark.wheels
def test_a_portable_script_shows_it_in_every_form(
    tmp_path: Path, bench: Callable[..., Bench], built: Callable[[str], BuiltEnv]
) -> None:
    source = tmp_path / "tile.py"
    source.write_text(TILE)
    closure = read_source(source).closure
    failing = cell(built("triton-3.9.0"), "faces", "tile", source=str(source), closure=closure)
    done = write(request(failing, tmp_path, portable=True), bench("3.0.0", "3.2.0", "3.9.0"))
    assert isinstance(done, Written), done
    assert [path.name for path in done.paths] == [f"tile-as_written-only-sm_90-3.9.0{suffix}" for suffix in (".py", ".md")]
    for release in ("3.0.0", "3.2.0", "3.9.0"):
        python = built(f"triton-{release}").python
        assert python
        assert run_script(python, done.paths[0], 60).exit_code == 0, release
    issue = done.paths[1].read_text()
    assert "| 3.2.0 | **fails** |" in issue
    assert "no bug of the compiler" in issue
    assert str(tmp_path) not in issue + done.paths[0].read_text()
    assert "-    tl.store(result + few * BLOCK + at[None, :], 1.0)\n+    tl.store(result + few[:, None] * BLOCK" in issue


@pytest.mark.wheels
def test_a_pinned_script_shows_what_one_release_does_and_another_does_not(
    tmp_path: Path, bench: Callable[..., Bench], built: Callable[[str], BuiltEnv]
) -> None:
    signature = {"source": "*fp16", "result": "*fp16", "size": "i32"}
    env = built("triton-3.2.0")
    failing = cell(env, "failures", "dot_into_dot", signature=signature, constexprs={"BLOCK": 64}, options={"num_warps": 8})
    done = write(request(failing, tmp_path), bench("3.1.0", "3.2.0", "3.3.1", "3.4.0"))
    assert isinstance(done, Written), done
    marks = re.findall(r"^\| (3\S+) \| (.*) \|$", done.paths[1].read_text(), re.MULTILINE)
    assert marks == [("3.1.0", "ok"), ("3.2.0", "**fails**"), ("3.3.1", "other: compiler-assert"), ("3.4.0", "ok")]
    assert (
        "it came and went: 3.1.0 ok; 3.2.0 this failure; 3.3.1 another failure (compiler-assert); 3.4.0 ok"
        in done.paths[1].read_text()
    )
    assert "mlir_reproducer" in done.paths[2].read_text()
    assert done.paths[2].read_text().strip() in done.paths[1].read_text()


@pytest.mark.wheels
def test_a_hanging_compile_is_shown_with_a_deadline(
    tmp_path: Path, bench: Callable[..., Bench], built: Callable[[str], BuiltEnv]
) -> None:
    failing = cell(built("triton-3.9.0"), "failures", "unrolled_for_ever")
    done = write(request(failing, tmp_path), bench("3.9.0", deadline=4))
    assert isinstance(done, Written), done
    assert "DEADLINE = 4  # seconds" in done.paths[0].read_text()
    assert "does not come to an end" in done.paths[1].read_text()


@pytest.mark.wheels
def test_what_could_not_be_launched_is_shown_by_its_size(
    tmp_path: Path, bench: Callable[..., Bench], built: Callable[[str], BuiltEnv]
) -> None:
    """Shared memory is counted, not launched: the script says what the kernel needs, and fails where the target has less."""
    env, halves = built("triton-3.9.0"), {"source": "*fp16", "result": "*fp32", "size": "i32"}
    failing = cell(env, "failures", "square", signature=halves, constexprs={"BLOCK": 32})
    failing = evolve(failing, target=evolve(failing.target, name="sm_90_small", shared_memory=1000))
    done = write(request(failing, tmp_path), bench("3.5.1", "3.9.0"))
    assert isinstance(done, Written), done
    python = env.python
    assert python
    ran = run_script(python, done.paths[0], 60)
    assert (ran.exit_code, "bytes of shared memory, sm_90_small has 1000" in ran.output) == (0, True), ran
    assert re.findall(r"^\| (3\S+) \| (.*) \|$", done.paths[1].read_text(), re.MULTILINE) == [
        ("3.5.1", "**fails**"),
        ("3.9.0", "**fails**"),
    ]


@pytest.mark.wheels
def test_what_does_not_come_true_is_not_written(
    tmp_path: Path, bench: Callable[..., Bench], built: Callable[[str], BuiltEnv], monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = cell(built("triton-3.9.0"), "faces", "mismatched")
    other = evolve(
        bundle(failing.spec), text=bundle(cell(built("triton-3.9.0"), "faces", "fine").spec).text.replace("fine", "mismatched")
    )
    done = write(request(failing, tmp_path, bundle=other), bench("3.9.0"))
    assert isinstance(done, Unverified)
    assert "does not fail as it did" in done.evidence.read_text()
    monkeypatch.setattr("compat.repro.writing.promise", lambda evidence: "words that nothing says")
    monkeypatch.setattr("compat.repro.writing.in_common", lambda promised, others: promised)
    done = write(request(failing, tmp_path), bench("3.9.0"))
    assert isinstance(done, Unverified)
    assert "triton-3.9.0: expected exit code 0" in done.evidence.read_text()
    assert [path.suffix for path in (tmp_path / "out").iterdir()] == [".txt"]


@pytest.mark.wheels
def test_there_is_nothing_to_report_of_what_compiles(
    tmp_path: Path, bench: Callable[..., Bench], built: Callable[[str], BuiltEnv]
) -> None:
    with pytest.raises(SelectionError, match="compiles"):
        write(request(cell(built("triton-3.9.0"), "faces", "fine"), tmp_path), bench("3.9.0"))
