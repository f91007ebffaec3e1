"""What a process printed into a file, read within bounds: of much, its beginning and its end, in whole lines.

The file is only ever read with ``pread``: who prints into it may write, cut or lengthen it while it is read.
"""

from __future__ import annotations

import os

_CHUNK = 1 << 20


def read_end(fd: int, limit: int) -> str:
    """The last ``limit`` bytes of a file, behind how much is left out."""
    size = os.fstat(fd).st_size
    text = read_bytes(fd, max(0, size - limit), size).decode(errors="replace")
    return text if size <= limit else f"[… {size - limit:,} bytes left out …]\n{text}"


def read_ends(fd: int, start: int, end: int | None, limit: int, heading: str = "") -> str:
    """What stands between two offsets of a file (``None``: its end); of more than ``limit`` bytes the first eighth and the rest
    from the end, and between them how much is left out.

    ``heading`` is what a line begins with that is the heading of what follows. The last one in the part left out stands before the
    rest, so that this is not taken for what follows an earlier one.
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
    last = _last_line(fd, start, tail_start, b"\n" + heading.encode()) if heading else b""
    cut = tail.find(b"\n") + 1
    tail = tail[cut:] if cut < len(tail) else tail
    note = f"[… {tail_start - start - limit // 8:,} bytes left out …]\n".encode()
    inside = last + b"// " + note if last else b""
    return (head + note + inside + tail).decode(errors="replace")


def read_bytes(fd: int, start: int, end: int) -> bytes:
    """The bytes between two offsets, as many of them as there are."""
    pieces: list[bytes] = []
    while start < end and (piece := os.pread(fd, min(end - start, 64 * _CHUNK), start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def _last_line(fd: int, start: int, end: int, beginning: bytes) -> bytes:
    """The last line between two offsets that begins so; empty where there is none."""
    while end > start:
        low = max(start, end - _CHUNK)
        chunk = read_bytes(fd, low, end + len(beginning))
        at = chunk.rfind(beginning)
        if at >= 0:
            line = read_bytes(fd, low + at + 1, low + at + 4096)
            return line.partition(b"\n")[0] + b"\n"
        end = low
    return b""
