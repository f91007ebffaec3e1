"""Kernels of factories and classes: edited in place, reduced and shown on their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compat.model import BuiltEnv
from compat.toolchains.language import CannotEdit
from compat.toolchains.triton.edits.code import Code
from tests.commands import compat

HEAD = "import triton\nimport triton.language as tl\n\n\n"
BODY = """\
    @triton.jit
    def kernel(x, y, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)  # a comment
        v = tl.load(x + at, mask=at < n)
        tl.store(y + at, tl.max(v, 0.0), mask=at < n)
"""
MADE = (
    f"{HEAD}def make(width):\n    COUNT = tl.constexpr(width *"
    f" 2)\n\n{BODY.replace('0.0)', '0.0) * COUNT')}\n    return kernel\n"
)
HELD = f'{HEAD}class Holder:\n    """Kernels."""\n\n    @staticmethod\n{BODY}'
MATRIX = """schema = 1
env = [{ triton = "3.9.0" }]
kernels = ["other.toml"]
defaults = { targets = ["sm_90"], envs = ["triton-3.9.0"] }
"""
TOML = """schema = 1
kernel = "{name}"
source = "{name}.py"
function = "{function}"
signature = {{ x = "*fp32", y = "*fp32", n = "i32" }}
constexprs = {{ BLOCK = 64 }}
"""


@pytest.mark.parametrize(
    ("text", "function", "name", "inside"),
    [
        (MADE, "make(3)", "kernel", ("make",)),
        (HELD, "Holder.kernel", "kernel", ("Holder",)),
        (f"{HELD}\n\ndef kernel(x):\n    pass\n", "kernel", "kernel", ()),
    ],
)
def test_edited_function_is_the_one_that_was_named(
    text: str, function: str, name: str, inside: tuple[str, ...]
) -> None:
    code = Code.of(text, function)
    assert (code.function, code.inside) == (name, inside)
    assert [definition.name.value for definition in code.reachable] == [name]
    assert len(code.definitions["kernel"].params.params) == (4 if inside else 1)


@pytest.mark.parametrize(
    ("text", "function", "message"),
    [
        (f"{HEAD}from makers import make\n", "make(3)", "cannot be found in the source"),
        (
            f"{HEAD}def make():\n{BODY}\n{BODY}\n    return kernel\n",
            "make()",
            "make defines several functions kernel",
        ),
        (HEAD, "kernel", "does not define kernel at its top level"),
    ],
)
def test_function_that_cannot_be_edited_is_an_error(text: str, function: str, message: str) -> None:
    with pytest.raises(CannotEdit, match=message):
        Code.of(text, function)


@pytest.mark.wheels
def test_repro_reduce_and_fix_accept_a_kernel_of_a_factory(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    built("triton-3.9.0")
    (tmp_path / "matrix.toml").write_text(MATRIX)
    (tmp_path / "other.py").write_text(MADE)
    (tmp_path / "other.toml").write_text(TOML.format(name="other", function="make(3)"))
    printed(tmp_path, "repro", "other/*")
    (script,) = (tmp_path / "repro").glob("*.py")
    assert "width = 3\nCOUNT = tl.constexpr(width * 2)\n" in script.read_text()
    assert "tl.max(" in printed(
        tmp_path, "reduce", "other/as_written/default/sm_90/triton-3.9.0", "--only", "--budget", "2"
    )
    assert "+++ b/other.py" in printed(tmp_path, "fix", "other/*", "--write")
    assert (tmp_path / "other.py").read_text() == MADE.replace("tl.max(", "tl.maximum(")


def printed(project: Path, *arguments: str) -> str:
    done = compat(project, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
