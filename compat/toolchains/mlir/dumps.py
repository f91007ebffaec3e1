"""Parses what MLIR prints with IR dumps enabled: passes with their IR, and the failing pass. Pure.

A pass manager prints a heading and the IR before every pass. The compiler's own messages stand
between them. Only this module reads such text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path, PurePath

from compat.diagnosis.pipeline import CompilerOutput, Pipeline, Step
from compat.text import lazy_pattern, printable
from compat.toolchains.mlir import canonical as canonical_form
from compat.toolchains.mlir.canonical import canonical

SOURCES = (Path(__file__), Path(canonical_form.__file__))
"""The files that an ``OutputReader`` with this module must list in its ``sources``."""
HEADING_BEGINS = "// -----// IR Dump "
"""The beginning of every heading of a dump."""
HEADING = lazy_pattern(
    r"^// -----// IR Dump (?P<when>Before|After|Without) (?P<title>[^\s:(]+)(?P<failed> Failed)?"
    r"(?: \((?P<argument>[^)\s]*)\)|: (?P<name>[\w-]+))?"
)
"""``… Before CSE (cse) (…)`` in older releases, ``… Before CSEPass: cse ('builtin.module'
operation) …`` in newer ones. Adapters that run passes one by one write ``Without`` for a pass that
they cannot run by itself.
"""
_LONGEST_HEADING = 4096
"""The most characters of a heading that are read."""
_IR_BEGINS = lazy_pattern(rf"\n(?=module\b|#[A-Za-z_]\w* = |{HEADING_BEGINS.strip()}|\{{-#)")
_IR_ENDS = lazy_pattern(
    rf"\n(?={HEADING_BEGINS}(?:Before|After|Without) [^\s:(]"
    r"|(?!module|[#!\s}]|\{-#|//|tt\.func|llvm\.|func\.|gpu\.|\"builtin\.module\")[^\n])"
)
"""The beginning of a line, with the newline before it, because a search finds newlines quickly."""
_PASSES_FAILED = lazy_pattern(
    r"Pipeline failed while executing (?:\[[^\]\n]*+\]|`[^`\n]*+` on [^\n:\]]*+)"
)
"""``Pipeline failed while executing [`ConvertTritonGPUToLLVM` on 'builtin.module' operation]``,
nested passes outermost first. Some releases leave out the brackets around a single pass.
"""
_ON_OPERATION = lazy_pattern(r"`([^`\n]+)` on ")
_OPERATION = lazy_pattern(
    r"error: '(?P<plain>\w+\.[\w.]+)' op"
    r"|operation '(?P<quoted>\w+\.[\w.]+)'"
    r"|see current operation:[^\"\n]*\"(?P<generic>\w+\.[\w.]+)\""
)
_ERROR_AT = lazy_pattern(
    r"^(?:loc\()?\"?(?P<path>[^\s\":]+\.py)\"?:(?P<line>\d+):\d+\)?: error:", re.MULTILINE
)


def read(text: str, pass_key: Callable[[str], str] = str) -> CompilerOutput:
    """Parse the printed text of a compile.

    ``pass_key`` returns the part of a pass's name that is the same in all releases. Releases from
    3.3 on print the whole module when a pipeline fails, even if no dumps were requested.
    """
    text = f"\n{text}"
    messages: list[str] = []
    steps: list[tuple[str, list[str]]] = []
    section: list[str] | None = messages
    """The list for the next text; ``None`` for IR without a pass."""
    left_out: list[str] = []
    failed: str | None = None
    at = 0
    # The search goes from one end of messages or IR to the next. Reading every line would cost
    # seconds for millions of lines.
    while ends := (_IR_BEGINS if section is messages else _IR_ENDS).search(text, at):
        if section is not None:
            section.append(text[at : ends.start()])
        at = ends.start()
        if heading := HEADING.match(text[at + 1 : at + _LONGEST_HEADING]):
            name, section = (
                printable(heading["name"] or heading["argument"] or heading["title"]),
                None,
            )
            if heading["when"] == "Before":
                steps.append((name, section := []))
            elif heading["when"] == "Without":
                left_out.append(name)
            elif heading["failed"]:
                failed = failed or name  # MLIR reports the innermost of nested passes first
            at = end if (end := text.find("\n", at + 1)) > 0 else len(text)
        else:
            section = None if section is messages else messages
    if section is not None:
        section.append(text[at:])
    message = "".join(messages).removeprefix("\n")
    ran = tuple(Step(pass_=name, ir="".join(ir).strip() + "\n") for name, ir in steps)
    pipeline = Pipeline(
        steps=ran, failed=failed, left_out=tuple(left_out), pass_key=pass_key, canonical=canonical
    )
    return CompilerOutput(
        text=message if section is messages or not message else f"{message}\n", pipeline=pipeline
    )


def failed_passes(output: str) -> list[tuple[str, str]]:
    """Return the places in which MLIR reports a failed pipeline, each with the innermost pass."""
    places = _PASSES_FAILED.findall(output)
    return [(place, ["", *_ON_OPERATION.findall(place)][-1]) for place in places]


def operation(output: str) -> str | None:
    """Return the operation that diagnostics name, such as ``tt.dot``."""
    match = _OPERATION.search(output)
    return next((name for name in match.groups() if name), None) if match else None


def kernel_line(output: str) -> str | None:
    """Return the line of a kernel's file in the first diagnostic with a line: ``file.py:12``."""
    match = _ERROR_AT.search(output)
    return f"{PurePath(match['path']).name}:{match['line']}" if match else None
