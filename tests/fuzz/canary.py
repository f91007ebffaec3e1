"""Watches what an input makes this process do.

An input may write into its folder. It must not start a process, run code from the folder, or look
at anything beside the folder.

Python reports all this to an audit hook. The hook is never removed, and checks only while it is on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

_PROCESSES = ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system")
_FOREIGN = ("ctypes.dlopen", "sqlite3.enable_load_extension", "sqlite3.load_extension")
_PATHS = {
    **dict.fromkeys(
        ("os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.chmod", "os.chown"), 1
    ),
    **dict.fromkeys(("os.rename", "os.link", "os.symlink", "shutil.copyfile", "shutil.move"), 2),
    "shutil.rmtree": 1,
    "os.utime": 1,
}
"""Events that change paths, and how many of their arguments are paths."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_TEMPTING = Path("/compat-fuzz")
"""A folder that inputs name. It does not exist: a test must not name files that matter."""

_folders: list[Path] = []
_seen: list[str] = []


class Trespass(AssertionError):
    """An input made this process do more than look at the input."""


@contextmanager
def watched(folder: Path) -> Iterator[Path]:
    """Yield a new folder inside ``folder``, with tempting files beside it.

    A forbidden action does not happen: Trespass is raised instead, and once more at the end.
    """
    inside = folder / "inside"
    inside.mkdir()
    (folder / "secret").write_text("secret = 1\n")
    (folder / "secret.py").write_text("raise SystemExit('ran')\n")
    _install()
    _seen.clear()
    writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    _folders.append(Path(os.path.realpath(folder)))
    try:
        yield inside
    finally:
        _folders.pop()
        sys.dont_write_bytecode = writes_bytecode
        if _seen:
            raise Trespass("; ".join(dict.fromkeys(_seen)))


@cache
def _install() -> None:
    sys.addaudithook(_hook)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _folders:
        return
    if event in _PROCESSES or event in _FOREIGN:
        _refuse(f"{event}{arguments[:2]!r}"[:300])
    elif event == "open":
        path, _, flags = arguments
        _look(event, path, writes=isinstance(flags, int) and bool(flags & _WRITING))
    elif event == "sqlite3.connect":
        text = os.fsdecode(arguments[0])
        _look(event, text.removeprefix("file://").partition("?")[0], writes="mode=ro" not in text)
    elif event in _PATHS:
        # The first path of a link is its content. Code that follows the link opens another path.
        for path in arguments[event == "os.symlink" : _PATHS[event]]:
            _look(event, path, writes=True)
    elif event in ("exec", "compile"):
        code = arguments[0] if event == "exec" else arguments[1]
        name = code.co_filename if isinstance(code, CodeType) else code
        if (
            event == "exec"
            and isinstance(name, str)
            and _below(os.path.realpath(name), _folders[-1])
        ):
            _refuse(f"ran {name}")


def _look(event: str, path: Any, *, writes: bool) -> None:
    if isinstance(path, int) or path is None:
        return
    try:
        real = os.path.realpath(os.fsdecode(path))
    except ValueError:  # not a path at all; the system refuses it, too
        return
    folder = _folders[-1]
    if _below(real, folder / "inside") or (writes and real == os.devnull):
        return
    if writes or _below(real, folder) or _below(real, _TEMPTING):
        _refuse(f"{event} {real} {'to write' if writes else 'to read'}")


def _refuse(message: str) -> None:
    """Prevent the call: an exception of an audit hook ends the call before it has begun."""
    _seen.append(message)
    raise Trespass(message)


def _below(path: str, folder: Path) -> bool:
    return path == str(folder) or path.startswith(f"{folder}{os.sep}")
