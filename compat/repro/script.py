"""The script: a kernel, its compile call, and twelve lines that say whether the failure shows.

If the definition of a kernel fails, those lines come first, and there is no call.
"""

from __future__ import annotations

import ast
import json
import sys
import textwrap
from collections.abc import Collection, Hashable, Mapping, Sequence
from pathlib import Path

from attrs import Factory, frozen
from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

from compat.bundle.bundle import Bundle
from compat.envs.listing import INDEX, MINORS, Minor, index_urls, list_files
from compat.errors import IndexUnavailable
from compat.files import templates
from compat.model import BuiltEnv, Target
from compat.source.imports import imports_of
from compat.source.parsing import tree_of
from compat.text import printable
from compat.toolchains.base import ScriptForm, Toolchain

_WIDTH = 120


@frozen(kw_only=True)
class Script:
    """The facts that decide the text of a script."""

    name: str
    """Its file name, without suffix."""
    bundle: Bundle
    target: Target
    release: str
    """The release that it is for."""
    toolchain: Toolchain
    calls: ScriptForm
    """How the script calls the toolchain."""
    form: Hashable
    """The form of the call, one of ``calls``."""
    requires_python: str
    dependencies: tuple[str, ...]
    headline: str
    """The failure in a sentence."""
    message: str
    """The compiler's message."""
    expected: str = ""
    """The text to find in its output; empty for a hang."""
    deadline: float | None = None
    """Seconds after which it counts as hanging; only for a hang."""
    variables: Mapping[str, str] = Factory(dict)
    """Environment variables that the toolchain reads, and that were set where the failure was
    found.
    """
    prediction: str = ""
    """The class of a predicted failure, if nothing fails before a launch. It decides what the
    script checks.
    """

    @property
    def _portable(self) -> bool:
        return self.form == self.calls.any_release

    def source(self) -> str:
        """The text of the script."""
        imported, kernel = split(self.bundle.text)
        text = (
            templates("compat.repro")
            .get_template("script.py.j2")
            .render(
                name=self.name,
                release=self.release,
                toolchain=self._toolchain_title,
                calls=self.calls,
                portable=self._portable,
                requires_python=self.requires_python,
                dependencies=json.dumps(self.dependencies),
                headline=textwrap.wrap(self.headline, _WIDTH - 2),
                words=[
                    line
                    for part in printable(self.message).split("\n")
                    for line in textwrap.wrap(part, _WIDTH - 6)
                ],
                **self._parts(imported, kernel),
                variables="".join(
                    f", {json.dumps(name)}: {json.dumps(value)}"
                    for name, value in self._set().items()
                ),
                deadline=self.deadline,
            )
        )
        return printable(text.rstrip()) + "\n"

    @property
    def _toolchain_title(self) -> str:
        """The title of the toolchain, with its distribution if that has another name."""
        title, distribution = self.toolchain.title, self.toolchain.distribution
        return title if title.lower() == distribution else f"{title} (`pip install {distribution}`)"

    def _set(self) -> Mapping[str, str]:
        """The environment variables that it sets, with those that choose the target."""
        return {**self.variables, **self.calls.variables_of(self.target)}

    def _parts(self, imported: Sequence[str], kernel: str) -> dict[str, str]:
        """The parts of the script.

        If the definition of a kernel fails, the script tries its imports together with it.
        """
        if self.bundle.decorated:
            needed, driver = self.calls.before_decorators(self.target)
            future = [line for line in imported if "__future__" in line]
            preamble = _in_order([*needed, *(line for line in imported if line not in future)])
            imports, kernel = self._imports(future), f"{preamble}\n\n{driver}\n\n\n{kernel}"
            return {
                "does": "import",
                "imports": imports,
                "kernel": kernel,
                "call": self._constant(),
            }
        call = f"{self._constant()}\n\n\n{self._call()}"
        return {
            "does": "compile",
            "imports": self._imports([*imported, *self.calls.imports(self.bundle)], call),
            "kernel": kernel,
            "call": call,
        }

    def _call(self) -> str:
        return self.calls.compile_function(
            self.bundle, self.target, self.form, self.prediction, self.variables
        )

    def _constant(self) -> str:
        if self.deadline:
            return f"DEADLINE = {self.deadline:g}  # seconds"
        plain = (
            self.expected.isprintable() and '"' not in self.expected and "\\" not in self.expected
        )
        quoted = f'"{self.expected}"' if plain else repr(self.expected)
        return f"EXPECTED = {quoted}"

    def _imports(self, needed: Sequence[str], call: str = "") -> str:
        standard = ["os", *(("signal",) if self.deadline else ()), "subprocess", "sys", "tempfile"]
        standard = sorted([*standard, *(("inspect",) if "inspect." in call else ())])
        future = sorted({line for line in needed if "__future__" in line})
        rest = [line for line in needed if line not in future]
        groups = (
            "\n".join(future),
            "\n".join(f"import {name}" for name in standard),
            _in_order(rest),
        )
        return "\n\n".join(filter(None, groups)) + "\n"


def _in_order(imports: Sequence[str]) -> str:
    """Import statements in the order of import sorters, one per line."""
    return "\n".join(sorted(set(imports), key=lambda line: (line.startswith("from"), line)))


def split(text: str) -> tuple[list[str], str]:
    """A module's leading imports, one statement each, and what comes after them."""
    imports: list[str] = []
    lines, end, rest = text.encode().split(b"\n"), 0, b""
    for node in tree_of(text).body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            break
        imports.append(ast.unparse(node))
        end = node.end_lineno or 0
        rest = lines[end - 1][node.end_col_offset :].lstrip()
    after = b"\n".join([rest, *lines[end:]] if rest.startswith((b";", b"\\")) else lines[end:])
    return imports, after.lstrip(b"; \t\\\n").decode().rstrip("\n")


# --- the header: the Python and the packages that a script requires ---


def dependencies(built: BuiltEnv, needed: Collection[str]) -> tuple[str, ...]:
    """The requirements of an env that a script needs.

    They are the toolchain as installed, and those packages that are ``needed``. All other packages
    in an env are there for PyTorch or for the interpreter.
    """
    env = built.env
    toolchain = (
        f"{env.distribution} @ {env.wheel}"
        if env.wheel and "://" in env.wheel
        else f"{env.distribution}=={built.release}"
    )
    framework = (f"{env.framework}=={env.framework_release}",) if env.has_framework else ()
    return (toolchain, *(text for text in (*framework, *env.install) if _name(text) in needed))


def requires_python(built: BuiltEnv, root: Path) -> str:
    """The Pythons that have wheels; only the one of this env if the index cannot tell.

    ``root`` is the project's folder, which keeps the answers of the index.
    """
    version = Version(built.release) if built.release else None
    sources = (*index_urls(), *([built.env.index] if built.env.index else []))
    try:
        listing = list_files(built.env.distribution, sources, cache=root / INDEX, needs=version)
        pythons = listing.pythons_for(version)
    except IndexUnavailable:
        pythons = frozenset()
    return (
        python_specifier(pythons)
        if pythons
        else f"=={'.'.join((built.python_version or '3').split('.')[:2])}.*"
    )


def imported_packages(text: str) -> frozenset[str]:
    """The packages that a module imports besides the standard library, by their names."""
    return (
        frozenset(imported.parts[0] for imported in imports_of(tree_of(text)))
        - sys.stdlib_module_names
    )


def python_specifier(pythons: Collection[Minor]) -> str:
    """Versions of Python as a specifier: ``>=3.8,<3.13``.

    It has no end if a wheel allows even the newest version that is considered.
    """
    first, last = min(pythons), max(pythons)
    holes = [minor for minor in range(first[1], last[1]) if (first[0], minor) not in pythons]
    parts = [
        f">={first[0]}.{first[1]}",
        *([f"<{last[0]}.{last[1] + 1}"] if last != MINORS[-1] else []),
        *(f"!={first[0]}.{minor}.*" for minor in holes),
    ]
    return ",".join(parts)


def _name(requirement: str) -> str:
    try:
        return Requirement(requirement).name
    except InvalidRequirement:
        return ""
