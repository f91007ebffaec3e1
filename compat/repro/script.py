"""The script: a kernel, its compile call, and twelve lines that say whether the failure shows."""

from __future__ import annotations

import ast
import json
import textwrap
from collections.abc import Sequence

from attrs import frozen
from jinja2 import Environment, PackageLoader, StrictUndefined

from compat.source.bundle import Bundle
from compat.model import Target
from compat.repro.call import Form, compile_function, uses_language

_WIDTH = 120


@frozen(kw_only=True)
class Script:
    """All that decides what a script says."""

    name: str
    """Its file name, without suffix."""
    bundle: Bundle
    target: Target
    release: str
    """The Triton release that it is for."""
    form: Form
    requires_python: str
    dependencies: tuple[str, ...]
    headline: str
    """What happens, in a sentence."""
    words: str
    """What the compiler says."""
    expected: str = ""
    """What its output is searched for; empty where it hangs."""
    deadline: float | None = None
    """Seconds after which it counts as hanging; only for what hangs."""
    prediction: bool = False
    """Nothing fails before a launch: it is the size of shared memory that is looked at."""

    def render(self) -> str:
        """The text of the script."""
        imports, kernel = split(self.bundle.text)
        text = (
            _environment()
            .get_template("script.py.j2")
            .render(
                name=self.name,
                release=self.release,
                portable=self.form is Form.ANY,
                requires_python=self.requires_python,
                dependencies=json.dumps(self.dependencies),
                headline=textwrap.wrap(self.headline, _WIDTH - 2),
                words=[line for each in self.words.splitlines() for line in textwrap.wrap(each, _WIDTH - 6)],
                imports=self._imports(imports),
                kernel=kernel,
                call=f"{self._constant()}\n\n\n{compile_function(self.bundle, self.target, self.form, self.prediction)}",
                deadline=self.deadline,
            )
        )
        return text.rstrip() + "\n"

    def _constant(self) -> str:
        if self.deadline:
            return f"DEADLINE = {self.deadline:g}  # seconds"
        quoted = f'"{self.expected}"' if '"' not in self.expected and "\\" not in self.expected else repr(self.expected)
        return f"EXPECTED = {quoted}"

    def _imports(self, kernels: Sequence[str]) -> str:
        standard = ["os", *(("signal",) if self.deadline else ()), "subprocess", "sys", "tempfile"]
        standard = sorted([*standard, *(("inspect",) if self.form is Form.ANY else ())])
        needed = {
            *kernels,
            "import triton",
            "from triton.backends.compiler import GPUTarget",
            "from triton.compiler import ASTSource",
            *(("import triton.language as tl",) if uses_language(self.bundle) else ()),
        }
        future = sorted(line for line in needed if "__future__" in line)
        rest = sorted(needed - set(future), key=lambda line: (line.startswith("from"), line))
        groups = (future, [f"import {name}" for name in standard], rest)
        return "\n\n".join("\n".join(group) for group in groups if group) + "\n"


def split(text: str) -> tuple[list[str], str]:
    """A module's leading imports, one statement each, and what comes after them."""
    imports: list[str] = []
    end = 0
    for node in ast.parse(text).body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            break
        imports.append(ast.unparse(node))
        end = node.end_lineno or 0
    return imports, "\n".join(text.splitlines()[end:]).strip("\n")


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("compat.repro"),
        autoescape=False,  # it is Python
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
