"""The code that the program itself compiles for a launch, as a hash to compare with its cell.

Up to 4.2 no release writes PTX, so the result of ptxas takes its place.
"""

from __future__ import annotations

import hashlib
import os
import re
from typing import TYPE_CHECKING

from ....inside.recorder.journal import Journal
from ..adapter import built
from ..adapter.pipeline import keeping_ptx, take_ptx

if TYPE_CHECKING:
    from ....inside.foreign import Function
    from ..foreign import MlirModule

_ENTRY = re.compile(r"^\s*(?:\.visible\s+|\.weak\s+)?\.entry\s+([\w$.]+)", re.MULTILINE)
_LINES = re.compile(r"^\s*\.(?:loc|file)\b[^\n]*\n", re.MULTILINE)
_ARCH = re.compile(r"\d+")


class ProgramCode:
    """The compiles whose code is kept.

    These are none (``nothing``), the first of each function (``kernels``), or all (``cases``).
    """

    def __init__(self, journal: Journal, of: str, folder: str) -> None:
        self._journal, self._of, self._folder = journal, of, folder
        self._done: set[object] = set()

    def wants(self, key: str | None, function: Function) -> bool:
        """Whether to keep the code of a launch. This is true once for each function or kind."""
        if key is None or self._of == "nothing":
            return False
        kind = key if self._of == "cases" else function
        is_new = kind not in self._done
        self._done.add(kind)
        return is_new

    def pipeline(self, pipeline: str) -> str:
        """The pipeline that also writes PTX, in releases that can."""
        return keeping_ptx(pipeline, self._path)

    def record_code(self, key: str, module: MlirModule, arch: str) -> None:
        """Write down the hash of the code that a successful compile made."""
        text, cubin = take_ptx(self._path), None
        if not text:
            cubin = built.cubin_in(str(module))
        code = text or (cubin.decode("utf-8", "surrogateescape") if cubin else None)
        digest = digest_of(code) if code is not None else None
        stage = ("ptx" if text else "cubin") if code is not None else None
        self._journal.write(r="original", key=key, stage=stage, digest=digest, arch=_number(arch))

    def record_failure(self, key: str, error: BaseException, arch: str) -> None:
        """Write down that a compile failed."""
        take_ptx(self._path)
        self._journal.write(r="original", key=key, error=type(error).__name__, arch=_number(arch))

    @property
    def _path(self) -> str:
        return os.path.join(self._folder, "kernel-%d.ptx" % os.getpid())


def _number(arch: str) -> int | None:
    digits = _ARCH.search(arch or "")
    return int(digits[0]) if digits else None


def digest_of(code: str) -> str:
    """Return a hash over PTX without line information, with numbers instead of kernel names.

    The hash of a cubin is over its instructions.
    """
    if code.startswith("\x7fELF"):
        return hashlib.sha256(
            built.instructions_in(code.encode("utf-8", "surrogateescape"))
        ).hexdigest()
    code = _LINES.sub("", code)
    for number, name in enumerate(dict.fromkeys(_ENTRY.findall(code))):
        code = code.replace(name, "kernel_%d" % number)
    return hashlib.sha256(code.encode("utf-8", "backslashreplace")).hexdigest()
