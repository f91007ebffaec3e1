"""Specializations of sources, and the texts of their bundles."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from compat.bundle.bundle import Bundle
from compat.model import CompileSpec, Specialization

HEAD = "import triton\nimport triton.language as tl\n"


def spec_of(source: Path, function: str = "kernel", **facts: Any) -> Specialization:
    """The specialization of a function in a file."""
    usual: dict[str, Any] = {"kernel": "k", "variant": "v", "case": "c", "compile": CompileSpec()}
    return Specialization(source=str(source), function=function, **(usual | facts))


def body(bundle: Bundle) -> str:
    """The bundle without the usual imports, and without empty lines."""
    assert bundle.text.startswith(HEAD), bundle.text
    ast.parse(bundle.text)
    return "\n".join(line for line in bundle.text.removeprefix(HEAD).splitlines() if line)
