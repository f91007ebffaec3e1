"""Kernels whose block pointers are replaced compute the same numbers.

They compile on releases that have no block pointers.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from attrs import evolve

from compat.config.kernel_files import load_kernels
from compat.engine.run import run
from compat.model import BuiltEnv, Cell, CompileSpec, Failure, Result, Status
from compat.source.closure import read_source
from compat.store.store import Store
from compat.toolchains.language import CannotEdit, FailingKernel
from compat.toolchains.triton.edits.block_pointers import descriptors, plain_pointers
from tests.cells import context_of, spec
from tests.forking import write_python
from tests.kernels_numerics.test_numerics import checked, findings
from tests.targets import TARGETS
from tests.together import for_each

HERE = Path(__file__).parent
KERNELS = HERE / "block_pointers.py"
HANDED = HERE / "handed.py"
KERNELS_HERE = HERE.parents[1] / "kernels"
TEXT = KERNELS.read_text()
NAMES = [
    *(
        "copied",
        "rows_only",
        "unchecked",
        "before_the_beginning",
        "not_a_number",
        "advanced",
        "copies",
        "transposed",
        "one_dimension",
    ),
    *(
        "three_dimensions",
        "reassigned",
        "branches",
        "with_helper",
        "named_alike",
        "not_always_one",
        "other_shape",
    ),
]
HANDED_NAMES = [
    "attended",
    "fused_attention",
    "handed_back",
    "made_elsewhere",
    "handed_on",
    "handed_other_blocks",
]
EVERY = {KERNELS: NAMES, HANDED: HANDED_NAMES}
FAILURE = Failure(failure_class="api-removed", stage="ast", fingerprint="f", excerpt="", advice="")
TYPES = {"x": "*fp32", "y": "*fp32", "n": "i32", "m": "i32", "sn": "i32", "sm": "i32"}
NOT_DESCRIBED = {
    "not_a_number": "NaN",
    "one_dimension": "no innermost stride",
    "branches": "no innermost stride",
    "with_helper": "no innermost stride",
    "other_shape": "in different places",
    "made_elsewhere": "no innermost stride",
    "handed_other_blocks": "a function that gets a block pointer uses its dtype",
}
"""Kernels whose block pointers no tensor descriptors can replace even if ``sm`` is 1, and why."""
DESCRIBED = {
    path: [name for name in names if name not in NOT_DESCRIBED] for path, names in EVERY.items()
}


def faulty(function: str, text: str = TEXT, **compiled: object) -> FailingKernel:
    spec = CompileSpec(**compiled)  # type: ignore[arg-type]
    return FailingKernel(text=text, function=function, compile=spec, failure=FAILURE)


def with_plain_pointers(function: str, text: str = TEXT) -> str:
    (proposal,) = plain_pointers.plain_pointers(faulty(function, text))
    assert all("the parameters or the returned values change" in note for note in proposal.notes)
    return proposal.text


def with_descriptors(function: str, text: str = TEXT) -> str:
    (proposal,) = descriptors.tensor_descriptors(faulty(function, text, equal_to_1=("sm",)))
    assert any("set_allocator" in note for note in proposal.notes)
    return proposal.text


def body_of(text: str, function: str) -> str:
    (definition,) = [
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == function
    ]
    return "\n".join(text.splitlines()[definition.lineno - 1 : definition.end_lineno])


# --- numbers --------------------------------------------------------------------------------------


def interpret(
    python: str, folder: Path, *runs: tuple[Path, str, str, Sequence[str]]
) -> subprocess.CompletedProcess[str]:
    """Runs the original and the edited kernels of files in Triton's interpreter.

    A run has the file, the edited text, the layout and the names. All runs share one process, which
    is forked from one that has imported PyTorch.
    """
    arguments: list[str] = []
    for number, (original, edited, layout, names) in enumerate(runs):
        path = folder / f"edited{number}.py"
        path.write_text(edited)
        arguments += [str(original), str(path), layout, *names, "--"]
    return subprocess.run(
        [
            write_python(folder / "python", python, "torch"),
            str(HERE / "same_numbers.py"),
            *arguments,
        ],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.wheels
@pytest.mark.long
def test_both_forms_compute_the_same_bit_for_bit(
    tmp_path: Path, pair_python: str, plain: Edited, described: Edited
) -> None:
    """Triton's interpreter runs both forms.

    Plain pointers: rows and columns that fill a block and that do not, contiguous in one dtype and
    not in another. Descriptors: the same sizes, in tensors that descriptors can be made of. The
    last two edits lack a condition of a mask, and the comparison finds the second one.
    """
    runs = [run for path in EVERY for run in correct_runs(path, plain(path), described(path))]
    copied = with_plain_pointers("copied")
    unread, unwritten = (copied.replace(f"({name}_0 < n) & ", "") for name in ("source", "target"))
    assert copied not in (unread, unwritten)
    wrong = [(KERNELS, edited, "any", ["copied"]) for edited in (unread, unwritten)]
    done = interpret(pair_python, tmp_path, *runs, *wrong)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    same = [f"{name}: done" for *_, names in runs for name in names]
    assert lines[: len(same)] == same, done.stdout
    same_line, different, *others = lines[len(same) :]
    assert same_line == "copied: done", "what is read too much is not stored"
    assert "DIFFERENT" in different
    assert others[-1] == "copied: done"


def correct_runs(
    path: Path, plain: str, described: str
) -> Iterator[tuple[Path, str, str, Sequence[str]]]:
    """The runs of all kernels of a file with plain pointers, and with descriptors."""
    # The kernel "unchecked" reads outside of its tensor.
    names = [name for name in DESCRIBED[path] if name != "unchecked"]
    yield path, plain, "any", EVERY[path]
    yield path, described, "aligned", [name for name in names if name != "fused_attention"]
    yield path, described, "whole", names


Edited = Callable[[Path], str]


@pytest.fixture(scope="session")
def plain(once: Callable[[str, Callable[[], str]], str]) -> Edited:
    """Returns a file in which one edit has replaced the block pointers of all kernels."""
    return lambda path: once(f"plain_{path.stem}", lambda: with_all_plain_pointers(path))


@pytest.fixture(scope="session")
def described(once: Callable[[str, Callable[[], str]], str]) -> Edited:
    """Returns a file in which one edit after the other has replaced block pointers by descriptors.

    It has done so where these can replace block pointers.
    """
    return lambda path: once(f"described_{path.stem}", lambda: with_all_descriptors(path))


def with_all_plain_pointers(path: Path) -> str:
    names, parameters = EVERY[path], "x, y, n, m, sn, sm, BM, BN"
    calls = "".join(f"    {name}({parameters})\n" for name in names)
    text = with_plain_pointers(
        "every", f"{path.read_text()}\n\n@triton.jit\ndef every({parameters}):\n{calls}"
    )
    assert "make_block_ptr" not in "".join(body_of(text, name) for name in names)
    return text


def with_all_descriptors(path: Path) -> str:
    text = path.read_text()
    for name in DESCRIBED[path]:
        text = with_descriptors(name, text)
    assert "make_block_ptr" not in "".join(body_of(text, name) for name in DESCRIBED[path])
    return text


FORMS = {"plain": plain_pointers.plain_pointers, "descriptors": descriptors.tensor_descriptors}
OWN = ("sel_dense", "sel_varlen")
"""Kernels of this repository that have a variant with block pointers.

The tests run and compile the edits of this variant.
"""


def edited_kernels(folder: Path) -> Path:
    """A copy of this repository's kernels for each form that replaces their block pointers."""
    for name in ("problems.py", "problem_tensors.py"):
        shutil.copy(KERNELS_HERE / name, folder)
    hints = ("stride_qd", "stride_kd", "stride_vd", "stride_od")
    for name in OWN:
        described, text = ((KERNELS_HERE / f"{name}{end}").read_text() for end in (".toml", ".py"))
        for form, edit in FORMS.items():
            (proposal,) = edit(faulty(f"{name}_block_ptr", text, equal_to_1=hints))
            (folder / f"{name}_{form}.py").write_text(proposal.text)
            copied = described.replace(f'kernel = "{name}"', f'kernel = "{name}_{form}"')
            copied = copied.replace(f'source = "{name}.py"', f'source = "{name}_{form}.py"')
            (folder / f"{name}_{form}.toml").write_text(copied)
    return folder


@pytest.mark.wheels
@pytest.mark.timeout(600)
@pytest.mark.long
def test_the_selection_kernels_compute_the_reference_and_compile(
    tmp_path: Path, pair_python: str, built: Callable[[str], BuiltEnv]
) -> None:
    folder = edited_kernels(tmp_path)
    # The other cases have the same blocks.
    cases = ("d64", "ragged", "few", "many", "mixed")
    specs = [
        spec
        for spec in load_kernels(["*.toml"], folder)
        if spec.variant == "block_ptr" and spec.case in cases
    ]
    names = [
        (spec.kernel, spec.variant, spec.case)
        for spec in specs
        if spec.case in ("ragged", "few", "mixed")
    ]
    records = findings(checked(pair_python, folder, names))
    assert {
        name: (record["ok"], record["error"]) for name, record in records.items()
    } == dict.fromkeys(names, (True, None))
    env = built("triton-3.9.0")
    # Blocks of the usual 128 keys compile for twice as long.
    small = [
        evolve(
            spec,
            compile=evolve(spec.compile, constexprs={**spec.compile.constexprs, "BLOCK_L": 16}),
        )
        for spec in specs
    ]
    cells = [Cell(env=env.env, target=TARGETS["sm_90"], spec=spec) for spec in small]
    assert {result.outcome.status for result in run_in(cells, tmp_path, [env])} == {Status.OK}
    assert len(cells) == 2 * 5


# --- compiling ------------------------------------------------------------------------------------


def compiled(
    files: Mapping[str, Sequence[str]], folder: Path, envs: list[BuiltEnv]
) -> dict[tuple[str, str], Status]:
    """Kernel and env → its status. ``files`` has the kernels of each text."""
    cells = []
    for number, (text, names) in enumerate(files.items()):
        path = folder / f"edited{number}.py"
        path.write_text(text)
        closure = read_source(path).closure
        for name in names:
            specialization = spec(
                "api",
                name,
                source=str(path),
                closure=closure,
                signature=TYPES,
                constexprs={"BM": 16, "BN": 16},
                divisible_by_16=("x", "y"),
                equal_to_1=("sm",),
            )
            cells += [
                Cell(env=env.env, target=TARGETS["sm_90"], spec=specialization) for env in envs
            ]
    return {
        (result.cell.spec.function, result.cell.env.name): result.outcome.status
        for result in run_in(cells, folder, envs)
    }


def run_in(cells: Sequence[Cell], folder: Path, envs: Sequence[BuiltEnv]) -> tuple[Result, ...]:
    with Store(folder / "store") as store:
        return run(cells, context_of(store, *envs, slots=2))


@pytest.mark.wheels
@pytest.mark.long
def test_plain_pointers_compile_before_and_after_the_removal(
    tmp_path: Path, built: Callable[[str], BuiltEnv], plain: Edited
) -> None:
    envs = [built(f"triton-{release}") for release in ("3.0.0", "3.9.0")]
    files = {plain(path): names for path, names in EVERY.items()}
    statuses = compiled(files, tmp_path, envs)
    assert {key for key, status in statuses.items() if status is not Status.OK} == set()
    assert len(statuses) == 44


@pytest.mark.wheels
@pytest.mark.long
def test_descriptors_compile_on_releases_that_have_them(
    tmp_path: Path, built: Callable[[str], BuiltEnv], described: Edited
) -> None:
    envs = [built("triton-3.4.0"), built("triton-3.9.0")]
    files = {described(path): names for path, names in DESCRIBED.items()}
    statuses = compiled(files, tmp_path, envs)
    assert {key for key, status in statuses.items() if status is not Status.OK} == set()
    assert len(statuses) == 30


# --- the text -------------------------------------------------------------------------------------


def test_block_pointer_without_advance_becomes_a_block_of_pointers() -> None:
    edited = body_of(with_plain_pointers("copied"), "copied").splitlines()
    assert edited[3:] == [
        "    # what is read",
        "    source_0 = (i * BM + tl.arange(0, BM)).to(tl.int64)[:, None]",
        "    source_1 = (j * BN + tl.arange(0, BN)).to(tl.int64)[None, :]",
        "    source = x + source_0 * sn + source_1 * sm",
        "    source_mask = (source_0 < n) & (source_1 < m)  # a tile",
        "    target_0 = (i * BM + tl.arange(0, BM)).to(tl.int64)[:, None]",
        "    target_1 = (j * BN + tl.arange(0, BN)).to(tl.int64)[None, :]",
        "    target = y + target_0 * sn + target_1 * sm",
        "    target_mask = (target_0 < n) & (target_1 < m)",
        (
            "    tl.store(target, tl.load(source, mask=source_mask,"
            " other=0.0).to(target.dtype.element_ty), mask=target_mask)"
        ),
    ]


def test_an_advance_is_added_to_an_offset() -> None:
    edited = body_of(with_plain_pointers("advanced"), "advanced")
    assert "        source_at_0 += BM\n        target_at_0 += BM  # the next rows\n" in edited
    assert "    source_at_0 += -BM\n    source_at_1 += 1\n" in edited
    assert "advance(" not in edited


def test_offset_that_an_assignment_expression_changes_is_kept_in_a_variable() -> None:
    text = """import triton.language as tl
def kernel(x, y, n, B: tl.constexpr):
    row = 0
    p = tl.make_block_ptr(x, (n, n), (n, 1), (row, 0), (B, B), (1, 0))
    if (row := row + B) < n:
        p = tl.advance(p, (0, B))
    tl.store(y + row, tl.sum(tl.load(p)))
"""
    edited = with_plain_pointers("kernel", text)
    assert "    p_at_0 = row\n" in edited
    assert "    p_0 = (p_at_0 + tl.arange(0, B))" in edited


def test_arguments_that_continue_on_another_line_get_parentheses() -> None:
    text = """import triton.language as tl
def kernel(x, y, n, B: tl.constexpr):
    p = tl.make_block_ptr(
        base=x
        + n,  # the second row
        shape=(n, n),
        strides=(n, 1),
        offsets=(
            tl.program_id(0)
            * B,
            0,
        ),
        block_shape=(B, B),
        order=(1, 0),
    )
    for i in range(n):
        tl.store(y + i, tl.sum(tl.load(p)))
        p = tl.advance(p, (0, B
            * 2))
"""
    for edited in (
        with_plain_pointers("kernel", text),
        with_descriptors("kernel", text.replace("(n, 1)", "(n, sm)")),
    ):
        ast.parse(edited)
        words = " ".join(edited.split())
        assert "(x + n)" in words
        assert "p_at_1 += (B * 2)" in words


@pytest.mark.parametrize("bounds", ["0, n, S", "64, n, 16", "n"])
def test_offset_that_counts_up_is_not_compared_with_zero(bounds: str) -> None:
    assert "mask=p_mask" in (edited := with_plain_pointers("kernel", counting(bounds)))
    assert "p_mask = p_0 < n" in edited


@pytest.mark.parametrize("bounds", ["64, -64, S", "64, n, -S", "n, 64"])
def test_offset_that_may_count_down_is_compared_with_zero(bounds: str) -> None:
    assert "p_mask = (p_0 >= 0) & (p_0 < n)" in with_plain_pointers("kernel", counting(bounds))


def counting(bounds: str) -> str:
    return f"""import triton.language as tl
def kernel(x, y, n, S: tl.constexpr, B: tl.constexpr):
    for i in range({bounds}):
        p = tl.make_block_ptr(x, (n,), (1,), (i,), (B,), (0,))
        tl.store(y + i, tl.sum(tl.load(p, boundary_check=(0,))))
"""


def test_block_pointer_can_move_on_the_line_of_a_condition() -> None:
    text = """import triton.language as tl
def kernel(x, y, n, B: tl.constexpr):
    p = tl.make_block_ptr(x, (n,), (1,), (0,), (B,), (0,))
    if n: p = tl.advance(p, (B,)); n -= 1
    else: q = p
    for i in range(n): tl.store(y + i, tl.sum(tl.load(p)))
"""
    edited = with_plain_pointers("kernel", text)
    assert "    if n:\n        p_at_0 += B\n        n -= 1\n" in edited
    ast.parse(edited)


def test_offset_that_can_be_negative_is_compared_with_zero() -> None:
    assert "(p_0 >= 0) & (p_0 < n) & (p_1 >= 0) & (p_1 < m)" in with_plain_pointers(
        "before_the_beginning"
    )
    assert ">= 0" not in body_of(with_plain_pointers("copied"), "copied")


def test_only_functions_that_the_kernel_uses_are_edited() -> None:
    edited = with_plain_pointers("with_helper")
    assert "make_block_ptr" not in body_of(edited, "_column")
    assert body_of(edited, "copied") == body_of(TEXT, "copied")


REFUSED = {
    "handed": ("return helper(p)", "returns one"),
    "unknown": ("return unknown(p)", "used for more than loads"),
    "several": (
        "q = helper(p)\n    q = helper(x)\n    tl.load(q)",
        "one call passes a function a block pointer",
    ),
    "unknown_axes": ("return tl.load(p, boundary_check=AXES)", "not written out as axes"),
    "condition": ("while tl.load(p):\n        pass", "in the condition"),
    "kept": ("n.p = p", "used for more than loads"),
    "itself": ("again(p)", "again calls itself"),
    "exchanged": ("q = tl.advance(p, (1,))\n    p, q = q, p", "exchanged in one assignment"),
    "attempted": (
        "try:\n        tl.load(p)\n    except E:\n        pass",
        "an unknown kind of statement",
    ),
    "other_blocks": (
        (
            "if n:\n        p = tl.make_block_ptr(x, (n,), (1,), (0,), (32,), (0,))\n    p ="
            " tl.advance(p, (1,))\n    tl.load(p)"
        ),
        "different blocks at one use",
    ),
    "unknown_offsets": ("p = tl.advance(p, AXES)", "advanced in an unknown form"),
    "no_shape": (
        "q = tl.make_block_ptr(x, strides=(1,), offsets=(0,), block_shape=(16,), order=(0,))",
        "made without shape",
    ),
    "lengths": ("q = tl.make_block_ptr(x, (n, n), (1,), (0,), (16,), (0,))", "differ in length"),
    "unknown_shape": (
        "q = tl.make_block_ptr(x, AXES, (1,), (0,), (16,), (0,))",
        "the shape of a block pointer are not",
    ),
    "masked": ("tl.load(p, mask=n)", "used with a mask"),
    "padding": ("tl.load(p, padding_option=AXES)", "padding_option is not written out"),
    "one_of_two": (
        "q = either(p, tl.advance(p, (1,)), n)\n    tl.load(q)",
        "returns one of several block pointers",
    ),
    "together": ("pair = both(p)\n    tl.load(pair[1])", "caller of a function does not unpack"),
    "in_an_expression": ("n = both(p)[0]", "used in an unknown form"),
    "two_ranks": (
        (
            "q = tl.make_block_ptr(x, (n, n), (1, 1), (0, 0), (16, 16), (1, 0))\n    loaded(p)\n   "
            " loaded(q)"
        ),
        "gets block pointers of different dimensions",
    ),
    "not_given": ("n = loaded(p) + loaded()", "a call of loaded does not give it p"),
    "default": ("n = usual(x, p)", "p is a parameter with a default"),
}


@for_each("name", REFUSED)
def test_refused_edit_says_why(name: str) -> None:
    body, why = REFUSED[name]
    text = (
        "import triton.language as tl\n\ndef helper(p):\n    return p\n\ndef again(p):\n    return"
        " again(p)\n\ndef loaded(p):\n    return tl.load(p)\n\ndef both(p):\n    return"
        " tl.load(p), p\n\ndef either(p, q, first):\n    if first:\n        return p\n    return"
        " q\n\ndef usual(x, p=None):\n    return tl.load(p)\n\n"
        "def kernel(x, n, AXES):\n    p = tl.make_block_ptr(x, (n,), (1,), (0,), (16,),"
        f" (0,))\n    {body}\n"
    )
    with pytest.raises(CannotEdit, match=why):
        with_plain_pointers("kernel", text)


MADE_OF_PARAMETERS = """import triton.language as tl


def rows(x, n, ROWS: tl.constexpr):
    return tl.make_block_ptr(x, (n,), (1,), (0,), (ROWS,), (0,))


def kernel(x, y, n, ROWS: tl.constexpr):
    tl.store(rows(y, n, ROWS), tl.load(rows(x, n, ROWS)))
"""


def test_maker_of_a_block_pointer_from_its_parameters_returns_the_base() -> None:
    edited = with_plain_pointers("kernel", MADE_OF_PARAMETERS)
    assert "    return x\n" in edited
    assert "    block_base = rows(y, n, ROWS)\n" in edited


def test_descriptors_are_refused_where_no_stride_is_known_to_be_one() -> None:
    with pytest.raises(CannotEdit, match="no innermost stride"):
        list(descriptors.tensor_descriptors(faulty("copied")))


@pytest.mark.parametrize("name", NOT_DESCRIBED)
def test_descriptors_that_cannot_replace_block_pointers_are_refused(name: str) -> None:
    path = next(path for path, names in EVERY.items() if name in names)
    with pytest.raises(CannotEdit, match=NOT_DESCRIBED[name]):
        with_descriptors(name, path.read_text())


def test_transposed_block_is_loaded_in_memory_order_and_transposed() -> None:
    edited = body_of(with_descriptors("transposed"), "transposed")
    assert "tl.make_tensor_descriptor(x, [n, m], [sn, 1], [BM, BN])" in edited
    assert "tl.trans(p.load([i * BM, j * BN]))" in edited
