"""The program's own compiles for launches, as hashes over assembly code to compare with cells."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....inside.recorder.journal import Journal

if TYPE_CHECKING:
    from ....inside.foreign import Document, Objects
    from ..foreign import GpuTarget, Source

_STAGES = ("ptx", "amdgcn")
_DEFINED = re.compile(
    r"^[ \t]*(?:\.visible[ \t]+)?\.(?:entry|func)[ \t]+(?:\([^)]*\)[ \t]*)?([\w$.]+)", re.MULTILINE
)
"""A function in PTX. The name of a device function contains that of the module that defines it, and
``@triton.jit(repr=…)`` chooses the name of a kernel.
"""
_CAUSES = 20
_LETTERS = 200
"""The most causes of an exception that are followed, and characters of a message that are kept."""
_WITHOUT_LINES = "TRITON_DISABLE_LINE_INFO"


class Originals:
    """The recorded inputs of compiles.

    They are none, the first of each function (``kernels``), or all (``cases``).
    """

    def __init__(self, journal: Journal, of: str) -> None:
        self._journal, self._of = journal, of
        self._compile: Callable[..., Any] | None = None
        self._compiles: dict[Any, tuple[str, Any, Any, Any]] = {}

    def compile_with(self, compile_it: Callable[..., object]) -> None:
        """Set the function that really compiles, which a stand-in may replace elsewhere."""
        self._compile = compile_it

    def record_inputs(self, key: str | None, src: Source, target: GpuTarget, options: Any) -> None:
        """Record the inputs of the compiler for a launch."""
        function = getattr(src, "fn", None)
        if key is not None and function is not None and self._of != "nothing":
            self._compiles.setdefault(
                key if self._of == "cases" else id(function),
                (key, src, target, dict(options or {})),
            )

    def compile(self) -> None:
        """Compile all inputs without line numbers, which name files, and record the results."""
        if not self._compiles:
            return
        self._journal.write(r="comparing", launches=len(self._compiles))
        before = os.environ.get(_WITHOUT_LINES)
        os.environ[_WITHOUT_LINES] = "1"
        try:
            for key, src, target, options in self._compiles.values():
                self._journal.write(
                    r="original", key=key, **self._compile_original(src, target, options)
                )
        finally:
            self._compiles.clear()
            os.environ.pop(_WITHOUT_LINES)
            if before is not None:
                os.environ[_WITHOUT_LINES] = before

    def _compile_original(self, src: Source, target: GpuTarget, options: Objects) -> Document:
        assert self._compile is not None
        try:
            compiled = self._compile(src, target=target, options=options)
        except Exception as error:
            return {"error": _reason(error)}
        stage = next((name for name in _STAGES if name in compiled.asm), None)
        return {
            "stage": stage,
            "digest": digest_of(compiled.asm[stage]) if stage else None,
            "arch": target.arch,
        }


def _reason(error: BaseException) -> str:
    """Return the type of the innermost cause, and the end of its message: Triton's come last."""
    for _ in range(_CAUSES):
        context = None if error.__suppress_context__ else error.__context__
        error = error.__cause__ or context or error
    message = str(error).strip().rpartition("\n")[2][:_LETTERS]
    return "%s: %s" % (type(error).__name__, message) if message else type(error).__name__


def digest_of(assembly: str) -> str:
    """Return a hash over assembly code, without comments and names of functions in PTX.

    Numbers replace the names.
    """
    assembly = "\n".join(line.partition("//")[0].rstrip() for line in assembly.split("\n"))
    for number, name in enumerate(dict.fromkeys(_DEFINED.findall(assembly))):
        assembly = re.sub(
            r"(?<![\w$.])%s(?=_param_|(?![\w$.]))" % re.escape(name),
            "function_%d" % number,
            assembly,
        )
    return hashlib.sha256(assembly.encode("utf-8", "backslashreplace")).hexdigest()
