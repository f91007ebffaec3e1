"""Each edit, applied to a kernel with the mistake that it is for, compiled with real wheels."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from pathlib import Path
from pkgutil import resolve_name

import pytest
from attrs import Factory, evolve, frozen

from compat.fix.changes import SourceFile, hunks
from compat.fix.fixing import EditCompiler, EditTrial, best_of
from compat.fix.searching import EditedKernel, EditSearch
from compat.model import BuiltEnv, CompileSpec, Failure, Outcome, Status
from compat.source.closure import read_source
from compat.store.store import Store
from compat.toolchains.language import FailingKernel
from compat.toolchains.triton import TRITON
from compat.toolchains.triton.edits import EDITS
from compat.toolchains.triton.edits.expressions import values_compared
from compat.toolchains.triton.edits.names import names_elsewhere
from tests.cells import context_of, spec
from tests.targets import TARGETS

SOURCE = Path(__file__).parent / "mistakes.py"


@frozen(kw_only=True)
class Mistake:
    """A kernel, the release that rejects it, and the lines that its edit removes and adds."""

    function: str
    edit: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    release: str = "3.9.0"
    also: tuple[str, ...] = ("3.0.0",)
    target: str = "sm_90"
    changes: dict[str, object] = Factory(dict)
    constexprs: dict[str, object] = Factory(dict)
    note: str = ""


MISTAKES = (
    Mistake(
        function="no_axis",
        edit="axis added to a term",
        before=(
            (
                "tl.store(result + at[:, None] * 16 + few[None, :], tl.load(source + at + few[None,"
                " :]))"
            ),
        ),
        after=(
            (
                "tl.store(result + at[:, None] * 16 + few[None, :], tl.load(source + at[:, None] +"
                " few[None, :]))"
            ),
        ),
        note="if two block sizes are equal",
    ),
    Mistake(
        function="greatest",
        edit="maximum and minimum of two values",
        before=("first = tl.max(0, tl.min(size, 8))  # within the tensor",),
        after=("first = tl.maximum(0, tl.minimum(size, 8))  # within the tensor",),
    ),
    Mistake(
        function="compared",
        edit="maximum and minimum of two values",
        before=("tl.store(result, tl.maximum(x, axis=0))",),
        after=("tl.store(result, tl.max(x, axis=0))",),
    ),
    Mistake(
        function="block_bound",
        edit="scalar loop bound",
        before=("for i in range(tl.load(result + one).to(tl.int32)):",),
        after=("for i in range(tl.load(result).to(tl.int32)):",),
    ),
    Mistake(
        function="unknown_bound",
        edit="scalar loop bound",
        before=("for i in range(tl.load(result + tl.arange(0, BLOCK)).to(tl.int32)):",),
        after=("for i in range(tl.max(tl.load(result + tl.arange(0, BLOCK)).to(tl.int32), 0)):",),
        note="tl.max uses the largest",
    ),
    Mistake(
        function="moved_name",
        edit="name in other releases",
        before=("tl.store(result + at, tl.libdevice.tanh(tl.load(source + at)))",),
        after=(
            "from triton.language.extra import libdevice",
            "tl.store(result + at, libdevice.tanh(tl.load(source + at)))",
        ),
    ),
    Mistake(
        function="renamed",
        edit="name in other releases",
        before=("tl.store(result + at, tl.math.max(tl.load(source + at), 0.0))",),
        after=("tl.store(result + at, tl.maximum(tl.load(source + at), 0.0))",),
    ),
    Mistake(
        function="of_one_target",
        edit="name in other releases",
        before=("from triton.language.extra.cuda import libdevice as device_library",),
        after=("from triton.language.extra import libdevice as device_library",),
        also=(),
        target="gfx942",
    ),
    Mistake(
        function="newer_keyword",
        edit="name in other releases",
        before=(
            "for i in tl.range(0, size, warp_specialize=False, flatten=True, num_stages=2):",
            (
                "for i in tl.range(0, size, loop_unroll_factor=2, disallow_acc_multi_buffer=True,"
                " disable_licm=True):"
            ),
        ),
        after=("for i in tl.range(0, size, num_stages=2):", "for i in tl.range(0, size):"),
        release="3.0.0",
        also=("3.9.0",),
    ),
    Mistake(
        function="operand_keyword",
        edit="name in other releases",
        before=("tl.store(result + at, tl.dot(x, x, trans_b=True))",),
        after=("tl.store(result + at, tl.dot(x, tl.trans(x)))",),
    ),
    Mistake(
        function="first_operand_keyword",
        edit="name in other releases",
        before=("tl.store(result + at, tl.dot(x, x, trans_a=True))",),
        after=("tl.store(result + at, tl.dot(tl.trans(x), x))",),
    ),
    Mistake(
        function="high_half",
        edit="name in other releases",
        before=("tl.store(result, tl.math.mulhi(size, size + 1))",),
        after=("tl.store(result, tl.umulhi(size, size + 1))",),
    ),
    Mistake(
        function="fast_exponential",
        edit="name in other releases",
        before=("tl.store(result, tl.math.fast_expf(tl.load(source)))",),
        after=("tl.store(result, tl.exp(tl.load(source)))",),
    ),
    Mistake(
        function="fast_division",
        edit="name in other releases",
        before=("tl.store(result, tl.math.fast_dividef(tl.load(source), tl.load(source + 1)))",),
        after=("tl.store(result, tl.fdiv(tl.load(source), tl.load(source + 1)))",),
    ),
    Mistake(
        function="experimental",
        edit="name in other releases",
        before=(
            "rows = tl._experimental_make_tensor_descriptor(source, [size, 64], [64, 1], [16, 64])",
        ),
        after=("rows = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [16, 64])",),
        also=("3.4.0",),
    ),
    Mistake(
        function="usual_padding",
        edit="name in other releases",
        before=(
            (
                "rows = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [16, 64],"
                ' padding_option="zero")'
            ),
        ),
        after=("rows = tl.make_tensor_descriptor(source, [size, 64], [64, 1], [16, 64])",),
        release="3.4.0",
        also=("3.9.0",),
    ),
    Mistake(
        function="sized",
        edit="constexpr annotation",
        before=("def sized(source, result, size, BLOCK: tl.constexpr, WIDTH=16):",),
        after=("def sized(source, result, size, BLOCK: tl.constexpr, WIDTH: tl.constexpr = 16):",),
        changes={
            "signature": {"source": "*fp32", "result": "*fp32", "size": "i32", "WIDTH": "i32"}
        },
        constexprs={"WIDTH": 16},
    ),
    Mistake(
        function="widening",
        edit="type before and in a loop",
        before=("total = tl.zeros([BLOCK], dtype=tl.float16)",),
        after=("total = tl.zeros([BLOCK], dtype=tl.float32)",),
    ),
    Mistake(
        function="counting",
        edit="type before and in a loop",
        before=("total = 0",),
        after=("total = 0.0",),
    ),
    Mistake(
        function="counting_on",
        edit="type before and in a loop",
        before=("total = 0",),
        after=("total = 0.0",),
    ),
    Mistake(
        function="counting_from_hexadecimal",
        edit="type before and in a loop",
        before=("total = (0x10)",),
        after=("total = 16.0",),
    ),
    Mistake(
        function="small_dot",
        edit="larger blocks for a dot",
        before=(),
        after=(),
        release="3.1.0",
        changes={"constexprs": {"BLOCK": 16, "M": 8}},
        constexprs={"M": 16},
        note="larger blocks",
    ),
)


IMPORTS = {
    "from triton.language.math import libdevice": "from triton.language.extra import libdevice",
    "from triton.language import libdevice": "from triton.language.extra import libdevice",
    "import triton.language.libdevice as libdevice": (
        "import triton.language.extra.libdevice as libdevice"
    ),
    "from triton.language.extra.hip import libdevice": (
        "from triton.language.extra import libdevice"
    ),
    "from triton.language.extra.intel import libdevice": (
        "from triton.language.extra import libdevice"
    ),
}
"""Imports that 3.9.0 rejects for sm_90, and the imports that replace them."""
IMPORTING = """import triton
import triton.language as tl
{statement}


@triton.jit
def importing(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, libdevice.tanh(tl.load(source + at)))
"""


def alone(function: str, folder: Path) -> Path:
    """A file with one mistake and the functions that it uses. All mistakes would take longer."""
    text = SOURCE.read_text()
    definitions = {
        node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)
    }
    used = [function]
    for name in used:
        words = {node.id for node in ast.walk(definitions[name]) if isinstance(node, ast.Name)}
        used += sorted((words & {*definitions}) - {*used})
    head, *parts = text.split("\n\n\n")
    kept = [part for part, name in zip(parts, definitions, strict=True) if name in used]
    path = folder / SOURCE.name
    path.write_text("\n\n\n".join([head, *kept]).rstrip() + "\n")
    return path


def searched(
    mistake: Mistake, folder: Path, built: Callable[[str], BuiltEnv], path: Path | None = None
) -> tuple[EditTrial | None, SourceFile]:
    path = path or alone(mistake.function, folder)
    envs = [built(f"triton-{release}") for release in (mistake.release, *mistake.also)]
    specialization = spec(
        "api",
        mistake.function,
        source=str(path),
        closure=read_source(path).closure,
        **mistake.changes,
    )
    with Store(folder / "store") as store:
        context = context_of(store, *envs, slots=2)
        source = SourceFile.read(path)
        compiling = EditCompiler(
            spec=specialization,
            source=source,
            target=TARGETS[mistake.target],
            context=context,
            folder=folder / "edits",
        )
        trials, _ = compiling.search(envs[0].env, [env.env for env in envs])
    return best_of(trials), source


def test_every_edit_names_an_existing_function() -> None:
    for edit in EDITS:
        assert callable(resolve_name(edit.function)), edit.name


@pytest.mark.wheels
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.function)
def test_mistake_is_fixed_by_its_edit(
    mistake: Mistake, tmp_path: Path, built: Callable[[str], BuiltEnv]
) -> None:
    trial, source = searched(mistake, tmp_path, built)
    assert trial is not None
    assert [result.outcome.status for result in trial.results] == [Status.OK] * len(trial.results)
    candidate = trial.candidate
    assert candidate.edits == (mistake.edit,)
    lines = [line for line in hunks(source.text, candidate.text) if line[:1] in "+-"]
    assert tuple(line[1:].strip() for line in lines if line[0] == "-") == mistake.before
    assert tuple(line[1:].strip() for line in lines if line[0] == "+") == mistake.after
    assert candidate.constexprs == mistake.constexprs
    assert bool(candidate.notes) == bool(mistake.note)
    assert all(mistake.note in note for note in candidate.notes)


@pytest.mark.wheels
@pytest.mark.parametrize("statement", IMPORTS)
def test_import_of_a_device_library_is_corrected(
    statement: str, tmp_path: Path, built: Callable[[str], BuiltEnv]
) -> None:
    path = tmp_path / "importing.py"
    path.write_text(IMPORTING.format(statement=statement))
    mistake = Mistake(
        function="importing", edit="name in other releases", before=(), after=(), also=()
    )
    trial, _ = searched(mistake, tmp_path, built, path)
    assert trial is not None
    assert [result.outcome.status for result in trial.results] == [Status.OK]
    assert trial.candidate.text == IMPORTING.format(statement=IMPORTS[statement])


def faulty(text: str, failure: Failure) -> FailingKernel:
    return FailingKernel(
        text=text, function="kernel", compile=CompileSpec(), failure=failure, file="k.py"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        "x, y, trans_b=FLAG",
        "input=x, other=y, trans_a=True",
        "x, other=y, trans_b=True",
        "*xy, trans_a=True",
    ],
)
def test_operand_that_may_be_transposed_keeps_its_keyword(arguments: str) -> None:
    text = f"import triton.language as tl\ndef kernel(x, y):\n    tl.dot({arguments})\n"
    failure = evolve(failing_at(3), excerpt="unexpected keyword argument 'trans_b'")
    assert list(names_elsewhere(faulty(text, failure))) == []


@pytest.mark.parametrize(
    ("second", "is_changed"),
    [
        ("D", False),
        ("QUOTED", False),
        ("LOCAL", False),
        ("GLOBAL", False),
        ("axis", False),
        ("limit", True),
        ("y", True),
    ],
)
def test_reduction_along_a_constexpr_is_kept(second: str, is_changed: bool) -> None:
    text = (
        "import triton.language as tl\nGLOBAL = tl.constexpr(0)\ndef kernel(x, limit, D:"
        " tl.constexpr, QUOTED: 'tl.constexpr', axis=0):\n    LOCAL: tl.constexpr = 0\n    y = x +"
        f" 1\n    z = tl.max(x, {second})\n    tl.max(0, limit)\n"
    )
    fixed = text.replace("tl.max(0,", "tl.maximum(0,")
    everywhere = fixed.replace("tl.max(x,", "tl.maximum(x,") if is_changed else fixed
    assert {proposal.text for proposal in values_compared(faulty(text, failing_at(7)))} == {
        fixed,
        everywhere,
    }


@pytest.mark.wheels
def test_no_edit_is_found_if_none_helps(tmp_path: Path, built: Callable[[str], BuiltEnv]) -> None:
    trial, _ = searched(Mistake(function="hopeless", edit="", before=(), after=()), tmp_path, built)
    assert trial is None


def test_edits_have_known_failure_classes_and_are_all_tested() -> None:
    names = set(TRITON.failures.by_name)
    for edit in EDITS:
        assert edit.classes
        assert set(edit.classes) <= names, edit.name
    assert {mistake.edit for mistake in MISTAKES} | {"plain pointers", "tensor descriptors"} == {
        edit.name for edit in EDITS
    }


# --- the search, with a compiler that gives fixed answers -----------------------------------------

SLIP = (
    "def kernel():\n    k = load(p + (l0 + at) * stride + at[None, :] * 2)\n    v = load(q + at +"
    " row[None, :])\n"
)


def failing_at(line: int) -> Failure:
    return Failure(
        failure_class="shape-mismatch",
        stage="ast",
        fingerprint="f",
        excerpt="",
        advice="",
        location=f"k.py:{line}",
    )


def fate(line: int | None) -> Outcome:
    if line is None:
        return Outcome(status=Status.OK, stage="cubin")
    return Outcome(status=Status.REJECTED, stage="ast", failure=failing_at(line))


def found_for(
    text: str, line: int, compiler: Callable[[Sequence[str]], list[Outcome]]
) -> list[EditedKernel]:
    search = EditSearch(
        function="kernel",
        toolchain=TRITON,
        try_all=lambda some: compiler([kernel.text for kernel in some]),
    )
    return list(search.run(EditedKernel(text=text, compile=CompileSpec()), failing_at(line)))


def test_a_missing_axis_is_found_statement_by_statement() -> None:
    def compiler(texts: Sequence[str]) -> list[Outcome]:
        """Requires an axis on the sum in the first line, and then on ``at`` in the second."""
        first, second = "at)[:, None]", "at[:, None] + row"
        return [
            fate(2) if first not in text else fate(3) if second not in text else fate(None)
            for text in texts
        ]

    kernel = found_for(SLIP, 2, compiler)[0]
    assert [line for line in hunks(SLIP, kernel.text) if line[0] in "+-"] == [
        "-    k = load(p + (l0 + at) * stride + at[None, :] * 2)",
        "-    v = load(q + at + row[None, :])",
        "+    k = load(p + (l0 + at)[:, None] * stride + at[None, :] * 2)",
        "+    v = load(q + at[:, None] + row[None, :])",
    ]


COMMENTED = """def kernel():
    # the rows of a tile
    k = load(
        p  # where it begins
        + at  # the row
        * stride  # in elements
        + column[None, :],  # and the feature
        mask=(
            at < n  # within the sequence
        ),
    )  # [rows, features]
"""


def test_comments_and_line_breaks_survive_an_edit() -> None:
    attempts: list[str] = []

    def compiler(texts: Sequence[str]) -> list[Outcome]:
        attempts.extend(texts)
        return [
            (
                fate(None)
                if "(at  # the row\n        * stride)[:, None]  # in elements" in text
                else fate(4)
            )
            for text in texts
        ]

    kernel = found_for(COMMENTED, 4, compiler)[0]
    assert "        + (at  # the row\n        * stride)[:, None]  # in elements\n" in kernel.text
    for text in attempts:
        ast.parse(text)
        assert [line.partition("#")[2] for line in text.split("\n")] == [
            line.partition("#")[2] for line in COMMENTED.split("\n")
        ]
    assert len(set(attempts)) == len(attempts)


def test_no_kernel_is_found_if_no_axis_helps() -> None:
    assert found_for(SLIP, 2, lambda texts: [fate(2)] * len(texts)) == []
