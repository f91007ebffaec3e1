"""What names lines of source code in a binary of NVIDIA and in its PTX, left out.

Compilers write the folder of each source down, and ptxas copies the whole PTX into the binary. An
archive for a GPU host must have no paths of the machine that it was made on. A compile that writes
no lines (``TRITON_DISABLE_LINE_INFO``) does not do, because its machine code differs for some
kernels from what a user's compile gives.

A cubin is an ELF file. Sections about lines lose their contents and stay as names, so that no
number of a section changes. Everything behind them moves to the front by multiples of the largest
alignment.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from compat.text import lazy_pattern

_NAMES = lazy_pattern(rb"(?:\.rela?)?\.(?:nv_debug_|debug_(?!frame))")
"""Sections about lines. ``.debug_frame`` is in every binary."""
_SECTION = struct.Struct("<IIQQQQIIQQ")
_NAME, _TYPE, _OFFSET, _SIZE, _ALIGNMENT = 0, 1, 4, 5, 8
"""Places in a section's header."""
_WITHOUT_CONTENTS = 8
"""The type of a section that takes no room in the file, such as shared memory."""
_SEGMENT_OFFSET = 8
"""Place of the offset in the header of a segment."""


def without_lines(stage: str, data: bytes) -> bytes:
    """Return what a stage made, without lines and paths of sources.

    Data that is no file of the stage's kind is returned as it is.
    """
    if stage == "ptx":
        return b"".join(_lines_of_code(data.splitlines(keepends=True)))
    if stage != "cubin" or data[:5] != b"\x7fELF\x02":
        return data
    try:
        return _without_sections(data)
    except (struct.error, IndexError, OverflowError, ValueError):
        return data


def _lines_of_code(lines: list[bytes]) -> Iterator[bytes]:
    """The lines of a PTX text that say nothing about sources."""
    is_inside = False
    for line in lines:
        fields = line.split(None, 2)
        if not is_inside and fields[:1] == [b".section"] and fields[1].startswith(b".debug_"):
            is_inside = True
        if is_inside:
            is_inside = not line.rstrip().endswith(b"}")
        elif fields[:1] not in ([b".loc"], [b".file"]):
            yield line


def _without_sections(data: bytes) -> bytes:
    """An ELF file whose sections about lines are empty. Raises what a damaged file leads to."""
    program_headers, section_headers = struct.unpack_from("<QQ", data, 0x20)
    segment_size, segments, section_size, sections, names = struct.unpack_from("<5H", data, 0x36)
    headers = [
        list(_SECTION.unpack_from(data, section_headers + number * section_size))
        for number in range(sections)
    ]
    texts = headers[names][_OFFSET]
    emptied = [header for header in headers if _NAMES.match(data, texts + header[_NAME])]
    cuts = sorted(
        (header[_OFFSET], header[_OFFSET] + header[_SIZE]) for header in emptied if header[_SIZE]
    )
    if cuts and cuts[-1][1] > len(data):
        raise ValueError("a section ends behind the file")
    unit = max(header[_ALIGNMENT] or 1 for header in headers if header[_TYPE] != _WITHOUT_CONTENTS)
    moved = _Moved(cuts, unit)
    for header in emptied:
        header[_SIZE] = 0
    for header in headers:
        header[_OFFSET] = moved.place(header[_OFFSET])
    result = bytearray(moved.contents(data))
    struct.pack_into(
        "<QQ", result, 0x20, moved.place(program_headers), moved.place(section_headers)
    )
    for number, header in enumerate(headers):
        _SECTION.pack_into(result, moved.place(section_headers) + number * section_size, *header)
    for number in range(segments):
        at = moved.place(program_headers) + number * segment_size + _SEGMENT_OFFSET
        (offset,) = struct.unpack_from("<Q", result, at)
        struct.pack_into("<Q", result, at, moved.place(offset))
    return bytes(result)


class _Moved:
    """A file without the contents of some ranges, and where everything else is in it."""

    def __init__(self, ranges: list[tuple[int, int]], unit: int) -> None:
        """``ranges`` are in order, and none overlaps another. Bytes move by multiples of a unit."""
        self._ranges = ranges
        aligned = [(-(-start // unit) * unit, end // unit * unit) for start, end in ranges]
        self._cuts = [(start, end) for start, end in aligned if start < end]

    def place(self, offset: int) -> int:
        """Where the byte is that was at an offset."""
        return offset - sum(min(end, offset) - start for start, end in self._cuts if start < offset)

    def contents(self, data: bytes) -> bytes:
        """The file. What is left of a range, because it fills no unit, is zero."""
        zeroed = bytearray(data)
        for start, end in self._ranges:
            zeroed[start:end] = bytes(end - start)
        starts, ends = [0, *(end for _, end in self._cuts)], [start for start, _ in self._cuts]
        return b"".join(
            zeroed[start:end] for start, end in zip(starts, [*ends, len(data)], strict=True)
        )
