"""Where an exception was raised, as text, and the line of a kernel's file that it is about."""

from __future__ import annotations

import linecache
import os
from types import FrameType, TracebackType
from typing import Iterator

_OURS = [os.path.dirname(os.path.abspath(__file__)) + os.sep]
"""Folders whose frames are not told."""
_FIRST, _LAST = 4, 16
"""Frames of a traceback that are told, from either end."""
_LINE = 120
_LIMIT = 4096
"""Characters of a traceback's text."""


def hide(folder: str) -> None:
    """Leave out the frames of files in this folder from now on."""
    _OURS.append(os.path.join(folder, ""))


def traceback_of(error: BaseException) -> str:
    """The frames that an exception came through, in Python's own form, outermost first; those of this program are left out.

    Where it hides the exception that it was made of (``raise … from None``), that one's frames follow.
    """
    frames = list(_frames(error.__traceback__))
    if error.__suppress_context__ and error.__cause__ is None and error.__context__ is not None:
        frames += _frames(error.__context__.__traceback__)
    told = [_told(frame, line) for frame, line in frames]
    if len(told) > _FIRST + _LAST:
        told[_FIRST:-_LAST] = ["  [… %d frames left out …]\n" % (len(told) - _FIRST - _LAST)]
    while len(told) > 1 and sum(map(len, told)) > _LIMIT:
        del told[0]
    return "".join(told)[-_LIMIT:]


def innermost_line(error: BaseException, folder: str) -> tuple[str, int] | None:
    """The last line that an exception came through in a file below ``folder``, installed packages aside."""
    own = [
        (frame.f_code.co_filename, line)
        for frame, line in _frames(error.__traceback__)
        if frame.f_code.co_filename.startswith(folder + os.sep) and "site-packages" not in frame.f_code.co_filename
    ]
    if own:
        return own[-1]
    path, line = getattr(error, "filename", None), getattr(error, "lineno", None)  # of a SyntaxError
    return (path, line) if isinstance(path, str) and isinstance(line, int) and path.startswith(folder + os.sep) else None


def _frames(traceback: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while traceback is not None:
        path = traceback.tb_frame.f_code.co_filename
        if not path.startswith((*_OURS, "<frozen importlib")):
            yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


def _told(frame: FrameType, line: int) -> str:
    code = frame.f_code
    text = linecache.getline(code.co_filename, line).strip()[:_LINE]
    return '  File "%s", line %d, in %s\n' % (code.co_filename, line, code.co_name) + ("    %s\n" % text if text else "")
