"""Where in the user's code a launch is: a module, a function and a line; never a path."""

from __future__ import annotations

import os
import sys
from typing import Any

_NOT_THEIRS = frozenset({"triton", "torch", "_compat_recorder", "contextlib", "functools", "threading", "runpy"})


def of_launch() -> dict[str, Any] | None:
    """The innermost frame that is of none of the packages that pass launches on."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__") or ""
        if module.partition(".")[0] not in _NOT_THEIRS and not frame.f_code.co_filename.startswith("<"):
            code = frame.f_code
            return {"module": called(module, code.co_filename), "function": code.co_name, "line": frame.f_lineno}
        frame = frame.f_back
    return None


def called(module: str, path: str) -> str:
    """The name of a module; of a script that of its file."""
    return os.path.basename(path) if module == "__main__" else module
