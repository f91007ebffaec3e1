"""Removal of line information and source paths from NVIDIA's binaries and PTX.

Compilers record the folder of each source, and ptxas copies the whole PTX into the binary. An
archive for a GPU host must contain no paths of the machine that made it. A compile without line
information (``TRITON_DISABLE_LINE_INFO``) is no alternative, because for some kernels its machine
code differs from that of a user's compile.

A cubin is an ELF file. Sections about lines lose their contents but keep their headers, so that no
number of a section changes. Everything behind them moves towards the start of the file by multiples
of the largest alignment.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from compat.text import lazy_pattern

_NAMES = lazy_pattern(rb"(?:\.rela?)?\.(?:nv_debug_|debug_(?!frame))")
"""Sections about lines. ``.debug_frame`` is in every binary."""
_SECTION = struct.Struct("<IIQQQQIIQQ")
_NAME, _TYPE, _OFFSET, _SIZE, _ALIGNMENT = 0, 1, 4, 5, 8
"""Indexes of fields in a section's header."""
_WITHOUT_CONTENTS = 8
"""The type of a section that takes no space in the file, such as shared memory."""
_SEGMENT_OFFSET = 8
"""Byte position of the offset in a segment's header."""


def without_lines(stage: str, data: bytes) -> bytes:
    """Return the output of a stage without line information and source paths.

    Data that is not a file of the stage's kind is returned unchanged.
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
    """Yield the lines of a PTX text that do not refer to sources."""
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
    """Return an ELF file with empty sections about lines.

    Raises struct.error, IndexError, OverflowError or ValueError if the file is damaged.
    """
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
    moved = _CutFile(cuts, unit)
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


class _CutFile:
    """A file without the contents of some ranges, and the new offsets of everything else."""

    def __init__(self, ranges: list[tuple[int, int]], unit: int) -> None:
        """``ranges`` are in order and do not overlap. Bytes move by multiples of ``unit``."""
        self._ranges = ranges
        aligned = [(-(-start // unit) * unit, end // unit * unit) for start, end in ranges]
        self._cuts = [(start, end) for start, end in aligned if start < end]

    def place(self, offset: int) -> int:
        """Return the new offset of the byte at an offset."""
        return offset - sum(min(end, offset) - start for start, end in self._cuts if start < offset)

    def contents(self, data: bytes) -> bytes:
        """Return the new file. The rest of a range that fills no unit is zero."""
        zeroed = bytearray(data)
        for start, end in self._ranges:
            zeroed[start:end] = bytes(end - start)
        starts, ends = [0, *(end for _, end in self._cuts)], [start for start, _ in self._cuts]
        return b"".join(
            zeroed[start:end] for start, end in zip(starts, [*ends, len(data)], strict=True)
        )
