"""The compile pipeline in two pieces: MLIR's passes, and then libNVVM, ptxas and later passes.

The pipeline is one named pass, ``cute-to-nvvm{…}``. From 4.6 on an option stops it before the
binary. Up to 4.5 the adapter makes it fail there. The pass that makes the binary gets a library
that does not exist, or an invalid triple. It checks them first, and leaves the module as the passes
before it made it. The second piece is that pass and the passes after it. If they have no names, the
second piece is the whole pipeline again, whose other passes find nothing left to do. Both forms
make the same module, byte for byte.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..foreign import MlirModule, PassManager

COMPILES = "cute-to-nvvm{"
"""The text that marks a pipeline that compiles. Others only clean up modules before printing."""
_BINARY = ("cuda-to-binary", "gpu-module-to-binary")
"""The pass that runs libNVVM and ptxas: from 4.3 on, and before."""
_STOPS = "llvm-only=true"
_NOWHERE = "/compat/stops/here.bc"
_NO_TRIPLE = "compat-stops-here"
_FAILS = (f"link-libraries={_NOWHERE}", f"cubin-triple={_NO_TRIPLE}")
"""Options that make the pass for the binary fail as soon as it begins.

The second one makes libNVVM read all of the code first.
"""
_HAS_STOPPED = re.compile(
    rf'File path: "{_NOWHERE}" does not exist'
    rf"|link file '{_NOWHERE}'"
    rf"|Invalid target triple \({_NO_TRIPLE}\)"
)
_LIBRARIES = re.compile(r"link-libraries=\S* ")
_OPENING, _CLOSING = "({[", ")}]"
_ARCHITECTURE = re.compile(r"\bsm_\d+[a-z]?\b")
_OTHER = "sm_90a"
_PRINTED = frozenset({"sm_80", _OTHER, "sm_100a", "sm_103a", "sm_120a"})
"""The architectures whose pipelines are printed without changes."""


class Pieces(NamedTuple):
    """A pipeline in two pieces."""

    first: str
    """MLIR's passes."""
    rest: str
    """The passes that make the binary, and those after them."""
    fails: bool
    """Whether the first piece ends in a failure. If it succeeds instead, no binary is left to be
    made.
    """


def pieces_of(text: str, manager: object) -> Pieces | None:
    """Return a pipeline in two pieces. ``manager`` is the release's class of pass managers.

    Returns ``None`` if this release cannot split it.
    """
    begin = text.index(COMPILES) + len(COMPILES)
    end = begin + _closing(text[begin:])
    passes = pipeline_passes(text, manager)
    at = next(
        (number for number, pass_text in enumerate(passes) if pass_text.startswith(_BINARY)), None
    )
    if at is None:
        return None
    named = "builtin.module(%s)" % ",".join(passes[at:])
    for option in (_STOPS, *_FAILS):
        stopping = option == _STOPS
        # Only the second piece needs the library that the kernel is linked with.
        options = text[begin:end] if stopping else _LIBRARIES.sub("", text[begin:end])
        first = f"{text[:begin]}{option} {options}{text[end]})"
        if not is_taken(first, manager):
            continue
        if is_taken(named, manager):
            return Pieces(first, named, fails=not stopping)
        if not stopping:
            return Pieces(first, text, fails=True)
    return None


def has_stopped(message: str) -> bool:
    """Whether a message is that of the failure that ends a first piece."""
    return _HAS_STOPPED.search(message) is not None


def ready(module: MlirModule) -> None:
    """Remove the target that a failed binary has left in a module."""
    for operation in module.body.operations:
        attributes = operation.operation.attributes
        if operation.operation.name == "gpu.module" and "targets" in attributes:
            del attributes["targets"]


def lowering(text: str, manager: object) -> list[str]:
    """The passes of a pipeline up to the binary, with their options."""
    passes = pipeline_passes(text, manager)
    at = next(
        (number for number, pass_text in enumerate(passes) if pass_text.startswith(_BINARY)),
        len(passes),
    )
    return passes[:at]


def pipeline_passes(text: str, manager: PassManager) -> list[str]:
    """The passes that a pipeline runs, with their options.

    4.5.3 aborts when it prints a pipeline for sm_110a, which it compiles up to an error of libNVVM.
    The pipeline for an architecture that is not one of :data:`_PRINTED` is printed for another one.
    """
    architecture = _ARCHITECTURE.search(text)
    if architecture is None or architecture[0] in _PRINTED:
        pipeline = str(manager.parse(text))
    else:
        pipeline = str(manager.parse(_ARCHITECTURE.sub(_OTHER, text))).replace(
            _OTHER, architecture[0]
        )
    passes, depth, begin = [], 0, 0
    inside = pipeline[pipeline.index("(") + 1 : pipeline.rindex(")")]
    for at, letter in enumerate(inside):
        depth += (letter in _OPENING) - (letter in _CLOSING)
        if letter == "," and depth == 0:
            passes.append(inside[begin:at].strip())
            begin = at + 1
    return [*passes, inside[begin:].strip()]


def _closing(text: str) -> int:
    """Return the offset of the brace that closes the one before a text.

    Without such a brace, this is the last offset.
    """
    depth = 1
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return at
    return len(text) - 1


def is_taken(text: str, manager: PassManager) -> bool:
    """Return whether a release accepts a pipeline.

    Its output about a pipeline that it rejects is discarded, because this is not a failure.
    """
    with _silence():
        try:
            manager.parse(text)
        except Exception:  # every release has its own type
            return False
    return True


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    stderr_copy, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        os.dup2(stderr_copy, 2)
        os.close(stderr_copy)
        os.close(nothing)


# --- PTX, which releases from 4.3 on write to a file if their pipeline says so ---

_PTX_ASKED = " dump-ptx-path='%s' "


def keeping_ptx(pipeline: str, path: str) -> str:
    """Return a pipeline that also writes PTX to a file, in releases that can (from 4.3 on)."""
    if "enable-cuda-dialect" not in pipeline or "dump-ptx-path" in pipeline:
        return pipeline
    return pipeline.replace(COMPILES, COMPILES + _PTX_ASKED % path, 1)


def take_ptx(path: str) -> str:
    """Return the PTX in files whose paths begin with ``path``, and remove these files.

    The result is empty if this release writes none.
    """
    folder, name = os.path.split(path)
    texts = []
    for written in sorted(entry for entry in os.listdir(folder) if entry.startswith(name)):
        with open(os.path.join(folder, written), encoding="utf-8", errors="replace") as file:
            texts.append(file.read())
        os.remove(os.path.join(folder, written))
    return "\n".join(texts).rstrip("\0\n")
