"""The advice for failures of real releases: it fits this failure, and no other one of its class."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import indent

import pytest

from compat.diagnosis.classify import classify
from compat.model import (
    BuiltEnv,
    Cell,
    CompileSpec,
    Env,
    Evidence,
    Failure,
    RaisedException,
    Specialization,
)
from compat.toolchains.triton.failures import KNOWLEDGE
from tests.diagnosis.test_corpus import failures
from tests.targets import TARGETS
from tests.together import for_each
from tests.toolchains.compiling import compile_each

ADVISED = {
    "shapes.indexed_too_often.usual 3.9.0": "The index has more axes than the value",
    "shapes.reshape_to_another_size.usual 3.0.0": "as many elements",
    "shapes.transposed_vector.usual 3.9.0": (
        "`tl.trans(x)` without axes takes only blocks with two axes"
    ),
    "shapes.split_of_four.usual 3.0.0": "`tl.split` takes a block whose last axis has two elements",
    "shapes.gathered_wrong_rank.usual 3.9.0": "to one shape first",
    "names.full_of_a_block.usual 3.0.0": "one axis, or one value",
    "shapes.add_of_ranks.usual 3.0.0": "`[:, None]` for rows",
    "operands.constant_division_by_zero.usual 3.0.0": "is 0 and is a divisor",
    "operands.int_beyond_32_bits.usual 3.9.0": "wider type",
    "operands.dtype_called.usual 3.0.0": "`x.to(tl.float32)` converts",
    "control.helper_returns_nothing.usual 3.0.0": "The value is `None`",
    "control.helper_returns_a_pair.usual 3.9.0": "as many names on the left",
    "operands.python_len.usual 3.9.0": "Python's own functions do not take blocks",
    "control.calls_math.usual 3.2.0": "Python's own functions do not take blocks",
    "control.for_with_zero_step.usual 3.0.0": "The step of the loop is 0",
    "names.arange_backwards.usual 3.0.0": "Its end must exceed its start",
    "memory.block_pointer_with_mask.usual 3.0.0": (
        "`boundary_check` and `padding_option` instead of `mask`"
    ),
    "operands.other_without_mask.usual 3.0.0": "Leave out the argument that the message names",
    "shapes.concatenated.usual 3.0.0": "`can_reorder=True`",
    "operands.bitcast_of_widths.usual 3.0.0": "type of the same width",
    "memory.atomic_adds.bf16 3.0.0": "a type that the operation supports",
    "dots.adds.fp8e4nv 3.8.0": "does not compute with them",
    "operands.mask_of_floats.usual 3.0.0": "A mask or a condition must be boolean",
    "operands.power.usual 3.0.0": "`x * x` for `x ** 2`",
    "control.membership.usual 3.9.0": "`x == 1 or x == 2`",
    "control.uses_nested_function.usual 3.0.0": "top of the module",
    "control.returns_in_while.usual 3.0.0": "Carry a flag through it",
    "operands.python_abs.usual 3.0.0": "A kernel cannot call Python's `abs`",
    "names.helper_too_few.usual 3.0.0": "`_more` also needs `x`",
    "names.wrong_keyword_dot.usual 3.0.0": "`dot` takes no `transpose_b` in this release",
    "memory.dependent_launch.usual 3.4.0": "a defect of the release",
    "operands.item_of_tensor.usual 3.0.0": "Blocks have no `item` in this release",
    "shapes.sorted_first_axis.usual 3.0.0": "a function of Triton that the line calls",
    "memory.asm_unknown.usual 3.9.0": "inline assembly first",
}
"""Kernel of the corpus and release → a part of its advice."""


@for_each(
    ("error", "failure_class", "advice"),
    [
        (
            "RuntimeError: Block pointers have been removed in favor of the tensor descriptor API",
            "api-removed",
            "Use tensor descriptors",
        ),
        (  # Gluon in 3.9
            "RuntimeError: async_copy_global_to_shared has been removed; call async_load instead",
            "api-removed",
            "Port the kernel to the replacement that the message names.\n",
        ),
        (  # a descriptor of Gluon in 3.4
            "AttributeError: 'block_type' object has no attribute 'nbytes'",
            "api-missing",
            "This release has no `nbytes`",
        ),
        (  # without it, the dot would compute something else
            "TypeError: dot() got an unexpected keyword argument 'trans_b'",
            "api-changed",
            "Transpose the operand itself: `tl.trans(x)`.\n",
        ),
        (
            "LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.setmaxnreg.inc.sync.aligned.u32",
            "target-feature",
            "sm_90 has no instruction nvvm.setmaxnreg",
        ),
    ],
)
def test_advice_fits_the_message(error: str, failure_class: str, advice: str) -> None:
    kind, _, message = error.partition(": ")
    evidence = (
        Evidence(answered=False, stage="ptx", signal="SIGABRT", stderr=f"{error}\n")
        if kind == "LLVM ERROR"
        else Evidence(
            answered=True,
            stage="ast",
            raised=(RaisedException(type=kind, message=message, traceback=""),),
        )
    )
    failure = classify([evidence], target=TARGETS["sm_90"], knowledge=KNOWLEDGE).failure
    assert failure
    assert failure.failure_class == failure_class
    assert advice in f"{failure.advice}\n"


@pytest.mark.parametrize("example", ADVISED.items(), ids=list(ADVISED))
def test_advice_fits_the_individual_failure(example: tuple[str, str]) -> None:
    what, _, release = example[0].partition(" ")
    of_it = [
        failure.advice
        for name, seen, failure in failures()
        if name == what and release in {one for one, _ in seen}
    ]
    assert of_it
    assert all(example[1] in advice for advice in of_it), of_it


KERNEL = """
@triton.jit
def k(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, %s(tl.load(x + at)))
"""
HEAD = "import triton\nimport triton.language as tl\n"
MISSING = "from triton.tools.tensor_descriptor import TensorDescriptor\n"
"""A module that Triton has since 3.4."""
TREE = {
    "pk/__init__.py": "from . import good\nfrom . import bad\n",
    "pk/good.py": HEAD + KERNEL % "",
    "pk/bad.py": "import triton\n" + MISSING,
    "pk/sub/__init__.py": "",
    "needs.py": HEAD + "import pk.bad\n" + KERNEL % "",
    "own.py": HEAD + MISSING + KERNEL % "",
    "tools/entry.py": "def entry(function):\n    return function.entry_point\n",
    "decorated.py": HEAD + "from tools.entry import entry\n@entry" + KERNEL % "",
    "plain.py": "def k(x, y, BLOCK): ...\n",
    "shares.py": HEAD + "from plain import k\n",
    "guarded.py": (
        HEAD + f"try:\n    {MISSING}except ImportError:\n    pass\n" + KERNEL % "TensorDescriptor"
    ),
    "late.py": (
        HEAD
        + f"try:\n    {MISSING}except ImportError:\n    pass\n\nTYPES = [TensorDescriptor]\n"
        + KERNEL % ""
    ),
    "annotated.py": HEAD + "class Tensor: ...\n" + (KERNEL % "").replace("(x,", "(x: Tensor,"),
    "starred.py": HEAD + (KERNEL % "").replace("y, BLOCK", "y, *, BLOCK"),
    "local.py": HEAD + (KERNEL % "").replace("at =", "at: tl.tensor ="),
    "größe.py": HEAD + KERNEL % "",
    "enclosed.py": (
        "def make():\n    try:\n"
        + indent(HEAD, 8 * " ")
        + "    except ImportError:\n        return None\n"
        + indent(KERNEL % "", 4 * " ")
        + "\n    return k\n\nk = make()\n"
    ),
    "none.py": (
        HEAD + "try:\n    from triton.language.math import no_such as fast\nexcept (ImportError,"
        " OSError):\n    fast = None\n" + KERNEL % "fast"
    ),
}


@pytest.fixture
def failure_of(tmp_path: Path, built: Callable[[str], BuiltEnv]) -> Callable[..., Failure]:
    """Compiles the kernel in a file of ``TREE``, by default with Triton 3.2.0.

    Returns its failure.
    """
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")

    def failure(name: str, env: str = "triton-3.2.0") -> Failure:
        compiled = CompileSpec(signature={"x": "*fp32", "y": "*fp32"}, constexprs={"BLOCK": 64})
        spec = Specialization(
            kernel="k",
            variant="v",
            case="c",
            source=str(tmp_path / name),
            function="k",
            compile=compiled,
        )
        cell = Cell(env=Env(name=env), target=TARGETS["sm_90"], spec=spec)
        compile_failure = classify(
            compile_each(built(env), [cell]), target=cell.target, knowledge=KNOWLEDGE
        ).failure
        assert compile_failure is not None
        return compile_failure

    return failure


def advice_at_import(
    *frames: tuple[str, int, str], kind: str = "ImportError", text: str = "cannot import name 'x'"
) -> str:
    """The advice for a failed import of ``/lib/pk/good.py``, with frames of ``/lib``."""
    trace = "".join(
        f'  File "/lib/{path}", line {line}, in {name}\n' for path, line, name in frames
    )
    path, line, _ = frames[-1]
    evidence = Evidence(
        answered=True,
        stage="source",
        raised=(RaisedException(type=kind, message=text, traceback=trace),),
        source="/lib/pk/good.py",
        at=f"/lib/{path}:{line}",
        quoted={f"/lib/{path}:{line}": "import x\n"},
    )
    outcome = classify([evidence], target=TARGETS["sm_90"], knowledge=KNOWLEDGE)
    assert outcome.failure is not None
    return outcome.failure.advice


def test_advice_about_an_import_names_the_module_its_importer_and_the_innocent_file() -> None:
    init, good, bad = (
        ("pk/__init__.py", 2, "<module>"),
        ("pk/good.py", 4, "<module>"),
        ("pk/bad.py", 7, "<module>"),
    )
    assert advice_at_import(init, bad).startswith(
        "Importing pk/bad.py fails at line 7 (`import x`); line 2 of pk/__init__.py imports it. The"
        " kernel's own file, pk/good.py, is not at fault: the import did not reach it. "
    )
    assert advice_at_import(good, bad).startswith(
        "Importing bad.py fails at line 7 (`import x`); line 4 of good.py imports it. The kernel's"
        " own file, good.py, needs that module. "
    )
    assert advice_at_import(good, ("pk/bad.py", 7, "made")).startswith(
        "bad.py fails at line 7 (`import x`); line 4 of good.py calls it. "
    )
    assert not advice_at_import(good).startswith(("Importing", "good.py"))


def test_advice_names_the_caught_import_of_a_missing_name() -> None:
    evidence = Evidence(
        answered=True,
        stage="source",
        raised=(
            RaisedException(
                type="NameError",
                message="name 'Fast' is not defined",
                traceback='  File "/lib/k.py", line 9, in <module>\n    TYPES = [Fast]\n',
            ),
        ),
        optional={"Fast": "/lib/k.py:4: from fast import Fast", "Other": "/lib/k.py:5: import o"},
    )
    outcome = classify([evidence], target=TARGETS["sm_90"], knowledge=KNOWLEDGE)
    assert outcome.failure is not None
    assert outcome.failure.advice.startswith(
        "`Fast` is missing because its import failed: `from fast import Fast` (k.py:4) is in a"
        " `try` whose `except` goes on without it. "
    )


@pytest.mark.wheels
def test_advice_names_the_module_whose_import_fails(
    failure_of: Callable[..., Failure],
) -> None:
    sibling = failure_of("pk/good.py")
    assert (sibling.failure_class, sibling.location) == ("api-missing", "bad.py:2")
    assert sibling.advice.startswith(
        "Importing pk/bad.py fails at line 2 (`from triton.tools.tensor_descriptor import"
        " TensorDescriptor`); line 2 of pk/__init__.py imports it. The kernel's own file,"
        " pk/good.py, is not at fault: the import did not reach it. This release has no module"
        " `triton.tools.tensor_descriptor`. Put the import into a `try`, with an `except"
        " ImportError`"
    )
    needed = failure_of("needs.py")
    assert "The kernel's own file, needs.py, needs that module. " in needed.advice
    own = failure_of("own.py")
    assert own.advice.startswith(
        "This release has no module `triton.tools.tensor_descriptor`. Put the import into a `try`"
    )
    assert sibling.fingerprint == needed.fingerprint == own.fingerprint
    called = failure_of("decorated.py")
    assert called.advice.startswith(
        "tools/entry.py fails at line 2 (`return function.entry_point`); line 4 of decorated.py"
        " calls it. The kernel's own file, decorated.py, needs that module. "
    )
    after_import = failure_of("shares.py")
    assert after_import.excerpt == "TypeError: k is not a jit function: @triton.jit is missing"
    assert "Importing" not in after_import.advice


@pytest.mark.wheels
def test_advice_names_the_caught_import_behind_a_missing_name(
    failure_of: Callable[..., Failure],
) -> None:
    statement = "`from triton.tools.tensor_descriptor import TensorDescriptor`"
    for name, failure_class in (("guarded.py", "undefined-name"), ("late.py", "source-import")):
        failure = failure_of(name)
        assert failure.failure_class == failure_class
        assert failure.advice.startswith(
            f"`TensorDescriptor` is missing because its import failed: {statement} ({name}:4) is in"
            " a `try`"
        )
    failure = failure_of("none.py")
    assert (
        "`fast` may be missing because its import failed: `from triton.language.math import no_such"
        " as fast`" in failure.advice
    )


@pytest.mark.wheels
def test_advice_for_a_local_name_of_the_function_around_the_kernel_is_a_later_release(
    failure_of: Callable[..., Failure],
) -> None:
    """The import around the kernel is in a `try`, but it has not failed."""
    failure = failure_of("enclosed.py")
    assert failure.failure_class == "undefined-name"
    assert failure.advice.startswith("Check the spelling of `tl`.")
    assert failure.advice.endswith("Variables of a function around the kernel need 3.4.")


@pytest.mark.wheels
def test_advice_says_that_triton_reads_the_annotation_as_a_global(
    failure_of: Callable[..., Failure],
) -> None:
    failure = failure_of("annotated.py")
    assert failure.failure_class == "unusable-global"
    assert failure.advice.startswith(
        "The annotation of a parameter names `Tensor`, and Triton reads it as a global"
    )


@pytest.mark.wheels
def test_advice_for_an_annotated_variable_is_to_leave_the_annotation_out(
    failure_of: Callable[..., Failure],
) -> None:
    failure = failure_of("local.py", "triton-3.1.0")
    assert failure.failure_class == "unsupported-syntax"
    assert failure.advice.endswith("Leave out the annotation of the variable.")


@pytest.mark.wheels
def test_advice_for_an_undefined_parameter_names_the_star(
    failure_of: Callable[..., Failure],
) -> None:
    failure = failure_of("starred.py", "triton-3.1.0")
    assert failure.failure_class == "undefined-name"
    assert " Parameters after a `*` need Triton 3.9." in failure.advice
    assert failure.advice.endswith(" Variables of a function around the kernel need 3.4.")


@pytest.mark.wheels
def test_advice_for_a_file_name_that_the_assembler_cannot_read_is_to_rename_the_file(
    failure_of: Callable[..., Failure],
) -> None:
    failure = failure_of("größe.py", "triton-3.5.1")
    assert failure.failure_class == "ptxas"
    assert failure.advice.endswith("the name of the kernel's file, which PTX has in comments.")
