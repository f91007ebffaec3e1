"""Exceptions as records: type, message and frames of each in a chain, and the kernel's lines."""

from __future__ import annotations

import linecache
import os
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Callable, Iterator

if TYPE_CHECKING:
    from ..toolchains.inside.foreign import Document, Function, Value

_OURS = [os.path.dirname(os.path.abspath(__file__)) + os.sep]
"""Folders whose frames a report leaves out."""
_FIRST, _LAST = 4, 16
"""The most frames of a traceback in the evidence, from its beginning and from its end."""
_LINE = 120
_LIMIT = 4096
"""The most characters of a traceback's text."""
_LINKS = 32
"""The most exceptions of a chain in the evidence."""
_LETTERS = 60 * 1024
"""The most characters of an exception's message in the evidence."""


def hide(folder: str) -> None:
    """Leave out the frames of files in this folder from now on."""
    _OURS.append(os.path.join(folder, ""))


def traceback_of(error: BaseException) -> str:
    """Return the frames that an exception came through, in Python's own form, outermost first.

    Frames of this program are left out. If the exception hides the one that it replaces (``raise …
    from None``), the frames of the hidden one follow.
    """
    frames = list(_frames(error.__traceback__))
    if error.__suppress_context__ and error.__cause__ is None and error.__context__ is not None:
        frames += _frames(error.__context__.__traceback__)
    frame_texts = [_frame_text(frame, line) for frame, line in frames]
    if len(frame_texts) > _FIRST + _LAST:
        frame_texts[_FIRST:-_LAST] = [
            "  [… %d frames left out …]\n" % (len(frame_texts) - _FIRST - _LAST)
        ]
    while len(frame_texts) > 1 and sum(map(len, frame_texts)) > _LIMIT:
        del frame_texts[0]
    return "".join(frame_texts)[-_LIMIT:]


def innermost_line(error: BaseException, folder: str) -> tuple[str, int] | None:
    """Return the last line below ``folder`` that an exception came through.

    Files of installed packages do not count.
    """
    own = [
        (frame.f_code.co_filename, line)
        for frame, line in _frames(error.__traceback__)
        if frame.f_code.co_filename.startswith(folder + os.sep)
        and "site-packages" not in frame.f_code.co_filename
    ]
    if own:
        return own[-1]
    # A SyntaxError has the path and the line as attributes.
    path, line = getattr(error, "filename", None), getattr(error, "lineno", None)
    return (
        (path, line)
        if isinstance(path, str) and isinstance(line, int) and path.startswith(folder + os.sep)
        else None
    )


def _frames(traceback: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while traceback is not None:
        path = traceback.tb_frame.f_code.co_filename
        if not path.startswith((*_OURS, "<frozen importlib")):
            yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


def _frame_text(frame: FrameType, line: int) -> str:
    code = frame.f_code
    text = linecache.getline(code.co_filename, line).strip()[:_LINE]
    return '  File "%s", line %d, in %s\n' % (code.co_filename, line, code.co_name) + (
        "    %s\n" % text if text else ""
    )


def exception_chain(
    error: BaseException, links: int = _LINKS, letters: int = _LETTERS
) -> list[dict[str, object]]:
    """Return an exception and its causes, outermost first, as ``{"type", "message", "traceback"}``.

    The chain has at most ``links`` exceptions, with ``letters`` characters each. An ``OSError``
    also has its ``"errno"``.
    """
    chain = exceptions_of(error)
    if len(chain) > links:  # the outermost says where, the innermost why
        chain = chain[: links // 2] + chain[-links // 2 :]
    return [_link_document(link, letters) for link in chain]


def exceptions_of(error: BaseException) -> list[BaseException]:
    """Return an exception and its causes, outermost first."""
    chain: list[BaseException] = []
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        chain.append(link)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return chain


def _link_document(error: BaseException, letters: int) -> Document:
    document = {
        "type": _type_name(error),
        "message": message_of(error, letters),
        "traceback": unless_broken(traceback_of, error) or "",
    }
    return (
        dict(document, errno=error.errno)
        if isinstance(error, OSError) and isinstance(error.errno, int)
        else document
    )


def unless_broken(function: Callable[..., Function], *arguments: Value) -> object:
    """Return the function's result, or ``None`` if it raises.

    It can raise because a kernel's file has changed Python itself.
    """
    try:
        return function(*arguments)
    except BaseException:  # a stand-in for a value raises no Exception
        return None


def _type_name(error: BaseException) -> str:
    kind = type(error)
    return str(
        kind.__qualname__
        if kind.__module__ == "builtins"
        else "%s.%s" % (kind.__module__, kind.__qualname__)
    )


def message_of(error: BaseException, letters: int) -> str:
    """Return the message of an exception, cut to ``letters`` characters.

    An exception whose message raises gets a message about that.
    """
    try:
        return cut(str(error), letters)
    # A diagnostic whose own text cannot be made is still a diagnostic.
    except BaseException as broken:
        return "<no message: %s>" % type(broken).__name__


def cut(text: str, letters: int) -> str:
    """Return a text without its middle if it is longer than ``letters`` characters.

    The beginning shows where something happened, and the end often shows why.
    """
    if len(text) <= letters:
        return text
    half = letters // 2
    return "%s\n[… %d characters left out …]\n%s" % (
        text[:half],
        len(text) - 2 * half,
        text[-half:],
    )
