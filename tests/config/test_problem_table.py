"""The ``[problem]`` table of a kernel file, which says what a kernel is run with."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.config.kernel_files import load_kernels
from compat.errors import ConfigError
from compat.model import Specialization
from tests.together import for_each

KERNEL = """
import triton
@triton.jit
def add(x_ptr, n, BLOCK: tl.constexpr):
    pass
"""
PROBLEMS = (
    "def add(parameters, dtype, seed, device, large):\n    yield {}\n\ndef other(parameters):\n   "
    " yield {}\n"
)
HEAD = (
    'schema = 1\nkernel = "add"\nsource = "add.py"\n[signature]\nx_ptr = "*bf16"\nn ='
    ' "i32"\n[constexprs]\nBLOCK = 64\n'
)
USUAL = '[problem]\nsource = "problems.py"\nfunction = "add"\n'


def loaded(folder: Path, text: str, head: str = HEAD) -> dict[str, Specialization]:
    (folder / "add.py").write_text(KERNEL)
    (folder / "problems.py").write_text(PROBLEMS)
    (folder / "add.toml").write_text(head + text)
    return {spec.case: spec for spec in load_kernels(["add.toml"], folder)}


def test_problem_defaults_to_the_constexprs_and_element_type_of_the_kernel(
    tmp_path: Path,
) -> None:
    (spec,) = loaded(tmp_path, USUAL).values()
    assert spec.problem is not None
    assert (spec.problem.dtype, spec.problem.parameters) == ("bf16", {"BLOCK": 64})
    assert (Path(spec.problem.source).name, spec.problem.function) == ("problems.py", "add")


def test_case_overrides_parts_of_the_problem(tmp_path: Path) -> None:
    cases = (
        '[[case]]\nname = "a"\n[[case]]\nname = "b"\nproblem = { dtype = "fp32", parameters = {'
        " causal = true } }\n"
    )
    specs = loaded(tmp_path, USUAL + cases)
    assert specs["a"].problem is not None
    assert specs["b"].problem is not None
    assert specs["a"].problem.dtype == "bf16"
    assert specs["b"].problem.dtype == "fp32"
    assert specs["b"].problem.parameters == {"BLOCK": 64, "causal": True}
    assert specs["a"].problem.document() != specs["b"].problem.document()


def test_edit_of_the_problem_source_changes_the_problem_and_not_the_closure(tmp_path: Path) -> None:
    (before,) = loaded(tmp_path, USUAL).values()
    text = HEAD + USUAL
    (tmp_path / "problems.py").write_text(PROBLEMS + "\n\nX = 1\n")
    (tmp_path / "add.toml").write_text(text)
    (after,) = load_kernels(["add.toml"], tmp_path)
    assert before.problem is not None
    assert after.problem is not None
    assert before.problem.document() != after.problem.document()
    assert before.closure == after.closure


def test_kernel_file_without_a_problem_table_has_no_problem(tmp_path: Path) -> None:
    (spec,) = loaded(tmp_path, "").values()
    assert spec.problem is None


@for_each(
    ("text", "place", "message"),
    [
        (USUAL.replace("problems.py", "nowhere.py"), "problem.source", "no file 'nowhere.py'"),
        (USUAL.replace('"add"', '"ad"'), "problem.function", "has no function 'ad'"),
        (USUAL.replace('"add"', '"other"'), "problem.function", "takes 1 parameters, not 5"),
        (USUAL + "sedd = 1\n", "problem.sedd", "unknown key"),
        ('[problem]\nfunction = "add"\n', "problem.source", "is missing"),
    ],
)
def test_error_names_the_path_of_the_key(
    tmp_path: Path, text: str, place: str, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, text)
    assert str(caught.value.where).endswith(f"add.toml: {place}")
    assert message in str(caught.value)


def test_missing_element_type_is_an_error_without_a_float_pointer(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is missing") as caught:
        loaded(tmp_path, USUAL, HEAD.replace("*bf16", "*i32"))
    assert str(caught.value.where).endswith("problem.dtype")
