"""Where inside the compiler it went wrong: read from what a compiler printed and left behind.

Sources, best first: the worker's beacon (the source line in flight, whether a pass manager ran), MLIR's diagnostics on stderr, the
headings that ``MLIR_ENABLE_DUMP`` prints before every pass, and the reproducer that ``TRITON_REPRODUCER_PATH`` makes MLIR write
before it runs a pipeline.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path, PurePath

from attrs import frozen

from compat.evidence.pipeline import HEADING
from compat.model import Diagnosis
from compat.worker import beacon

_IR_BEGINS = re.compile(r"^(module\b|#[A-Za-z_]\w* = |// -----// IR Dump|\{-#)")
_IR_GOES_ON = ("module", "#", " ", "\t", "}", "{-#", "//", "tt.func", "llvm.", "func.", '"builtin.module"')
_PIPELINE_FAILED = re.compile(r"Pipeline failed while executing (?P<passes>.*)")
_PASS_ON_OP = re.compile(r"`(?P<name>[^`]+)` on ")
_OP = re.compile(
    r"error: '(?P<plain>\w+\.[\w.]+)' op"
    r"|operation '(?P<quoted>\w+\.[\w.]+)'"
    r"|see current operation:[^\"\n]*\"(?P<generic>\w+\.[\w.]+)\""
)
_ERROR_AT = re.compile(r"^(?:loc\()?\"?(?P<path>[^\s\":]+\.py)\"?:(?P<line>\d+):\d+\)?: error:", re.MULTILINE)

Keep = Callable[[str, bytes], str]


@frozen(kw_only=True)
class Dump:
    """The IR as it was before one pass."""

    pass_: str
    text: str


def without_ir(text: str) -> tuple[str, Dump | None]:
    """What a compiler printed, without IR, and the last IR dump among it.

    Even without dumps asked for, releases from 3.3 on print the whole module when a pipeline fails.
    """
    words: list[str] = []
    before: tuple[str, list[str]] | None = None
    taken: list[str] | None = None
    failed: str | None = None
    in_ir = False
    for line in text.splitlines(keepends=True):
        if heading := HEADING.match(line):
            name, in_ir, taken = heading["name"] or heading["argument"] or heading["title"], True, None
            if heading["when"] == "Before":
                before = (name, taken := [])
            elif heading["failed"]:
                failed = failed or name
        elif in_ir and (not line.strip() or line.startswith(_IR_GOES_ON)):
            if taken is not None:
                taken.append(line)
        elif _IR_BEGINS.match(line):
            in_ir, taken = True, None
        else:
            in_ir = False
            words.append(line)
    dump = Dump(pass_=failed or before[0], text="".join(before[1]).strip() + "\n") if before else None
    return "".join(words), dump


def diagnose(words: str, dump: Dump | None, directory: Path, stage: str, keep: Keep | None) -> Diagnosis:
    """What is known of a failure in ``stage``; ``directory`` is the child's, ``keep`` stores what is worth keeping."""
    location, in_passes = beacon.read(str(directory))
    pipeline_failed = _PIPELINE_FAILED.search(words)
    inside = in_passes or pipeline_failed is not None
    reproducer = _reproducer(directory) if inside and keep else None
    op = _OP.search(words)
    return Diagnosis(
        pass_=_failing_pass(dump, pipeline_failed) if inside else None,
        op=next((name for name in op.groups() if name), None) if op else None,
        location=_short(location) if stage == "ast" else _error_location(words),
        reproducer=keep(".mlir", reproducer) if reproducer and keep else None,
        ir=keep(".before.mlir", dump.text.encode()) if inside and keep and dump else None,
    )


def _reproducer(directory: Path) -> bytes | None:
    """The reproducer of the pipeline that ran last: one file that is written over, or since 3.6 one per stage."""
    found = sorted(directory.glob("reproducer.mlir*"), key=lambda path: path.stat().st_mtime_ns)
    return found[-1].read_bytes() if found else None


def _failing_pass(dump: Dump | None, pipeline_failed: re.Match[str] | None) -> str | None:
    """The dump's own name for the pass is the one ``mlir-opt`` takes; the class name in MLIR's note is second best."""
    if dump is not None:
        return dump.pass_
    names = _PASS_ON_OP.findall(pipeline_failed["passes"]) if pipeline_failed else []
    return names[-1] if names else None


def _error_location(words: str) -> str | None:
    error = _ERROR_AT.search(words)
    return f"{PurePath(error['path']).name}:{error['line']}" if error else None


def _short(location: str | None) -> str | None:
    """``/long/path/file.py:12`` as ``file.py:12``."""
    return PurePath(location).name if location else None


def bounded(text: str, limit: int) -> str:
    """At most about ``limit`` characters: the beginning, where the first error is, and the end, where the last words are."""
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]}\n[… {len(text) - limit} characters left out …]\n{text[-(limit - limit // 2) :]}"
