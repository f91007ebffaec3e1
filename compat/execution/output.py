"""What a process printed into a file, read within bounds: of much, its beginning and its end, in whole lines.

The file is only ever read with ``pread``: who prints into it may write, cut or lengthen it while it is read.
"""

from __future__ import annotations

import os

from compat.diagnosis.dumps import HEADING_BEGINS

_CHUNK = 1 << 20
_HEADING = b"\n" + HEADING_BEGINS.encode()


def read_ends(fd: int, start: int, end: int | None, limit: int) -> str:
    """What stands between two offsets of a file (``None``: its end); of more than ``limit`` bytes the first eighth and the rest
    from the end, and between them how much is left out.

    If the part left out ends inside a dump of IR, the heading of that dump stands before what follows, so that the IR is not taken
    for that of an earlier pass.
    """
    size = os.fstat(fd).st_size
    start = min(start, size)
    end = size if end is None else max(start, min(end, size))
    if end - start <= limit:
        return read_bytes(fd, start, end).decode(errors="replace")
    head = read_bytes(fd, start, start + limit // 8)
    head = head[: head.rfind(b"\n") + 1] or head + b"\n"
    tail_start = end - (limit - limit // 8)
    tail = read_bytes(fd, tail_start, end)
    heading = _last_heading(fd, start, tail_start)
    cut = tail.find(b"\n") + 1
    tail = tail[cut:] if cut < len(tail) else tail
    note = f"[… {tail_start - start - limit // 8:,} bytes left out …]\n".encode()
    inside = heading + b"// " + note if heading else b""
    return (head + note + inside + tail).decode(errors="replace")


def read_bytes(fd: int, start: int, end: int) -> bytes:
    """The bytes between two offsets, as many of them as there are."""
    pieces: list[bytes] = []
    while start < end and (piece := os.pread(fd, min(end - start, 64 * _CHUNK), start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def _last_heading(fd: int, start: int, end: int) -> bytes:
    """The last line between two offsets that begins a dump of IR; empty where there is none."""
    while end > start:
        low = max(start, end - _CHUNK)
        chunk = read_bytes(fd, low, end + len(_HEADING))
        at = chunk.rfind(_HEADING)
        if at >= 0:
            line = read_bytes(fd, low + at + 1, low + at + 4096)
            return line.partition(b"\n")[0] + b"\n"
        end = low
    return b""
