"""The types of compile options, compared with the backends of the releases."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat.model import BuiltEnv
from compat.toolchains import DEFAULT

RELEASES = (
    "3.0.0",
    "3.1.0",
    "3.2.0",
    "3.3.1",
    "3.4.0",
    "3.5.1",
    "3.6.0",
    "3.7.1",
    "3.8.0",
    "3.9.0",
)
KINDS = {"int": int, "bool": bool, "str": str}
NO_USERS_CHOICE = {
    "arch",
    "backend_name",
    "ir_override",
    "llvm_fn_attrs",
    "max_num_imprecise_acc_default",
}
"""Options that the compiler sets by itself, that name a file, or that have several types."""


def declared(compiler: Path) -> Iterator[tuple[str, str]]:
    """Options with their types, from the dataclass of a backend's options."""
    for node in ast.parse(compiler.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name in ("CUDAOptions", "HIPOptions"):
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    yield (
                        field.target.id,
                        ast.unparse(field.annotation).removeprefix("Optional[").removesuffix("]"),
                    )


@pytest.mark.wheels
@pytest.mark.parametrize("release", RELEASES)
def test_option_types_in_kernel_files_match_the_backends_of_a_release(
    release: str, built: Callable[[str], BuiltEnv]
) -> None:
    env = built(f"triton-{release}")
    assert env.python
    (package,) = Path(env.python).parent.parent.glob("lib/python*/site-packages/triton")
    options = [
        option
        for compiler in package.glob("backends/*/compiler.py")
        for option in declared(compiler)
    ]
    assert {"num_warps", "num_stages", "maxnreg", "waves_per_eu"} <= {name for name, _ in options}
    simple = {
        (name, KINDS[kind])
        for name, kind in options
        if kind in KINDS and name not in NO_USERS_CHOICE
    }
    assert simple == {
        (name, DEFAULT.language.options[name].kind)
        for name, _ in simple
        if name in DEFAULT.language.options
    }
