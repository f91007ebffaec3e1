"""What an attempt printed, as it is kept: in the evidence itself where it is short, else as a compressed artifact.

With dumps of IR on, a compile prints 1 to 15 MB, the same IR before every pass; 0.1 s of LZMA make 20 to 200 KB of it.
"""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Mapping

from compat.diagnosis.diagnose import Keep
from compat.model import Evidence

NAME = "printed"
"""What it is called among the artifacts of an attempt."""
LIMIT = 32 * 1024 * 1024
"""Bytes of what an attempt printed that are kept: of more, the beginning and the end."""
LIMIT_IN_FULL = 256 * 1024 * 1024
"""The same where the IR before every pass is asked for."""
_INLINE = 16 * 1024
"""Characters up to which it stands in the evidence."""
_WINDOW = 8 << 20
"""Bytes that the compressor looks back: more than the IR before one pass of a large kernel has."""
_SMALLEST_WINDOW = 4096
_SAMPLE = 1 << 20
_REPETITIVE = 0.25
"""What does not get smaller than this part of itself at once is no IR, and LZMA would take seconds for each of its megabytes."""


def kept(text: str, keep: Keep | None, *, always: bool = False) -> tuple[str, Mapping[str, str]]:
    """The part of a text that stands in the evidence, and the artifacts that the rest is kept as.

    ``always`` is for a text that is asked for by itself; without ``keep`` there are no artifacts.
    """
    if (len(text) <= _INLINE and not always) or keep is None:
        return text[:_INLINE], {}
    return "", {NAME: keep(*_compressed(text.encode(errors="backslashreplace")))}


def text_of(evidence: Evidence, artifact: Callable[[str], bytes | None]) -> str | None:
    """What an attempt printed, as far as it was kept; ``None`` where the artifact is gone or is none of ours."""
    name = evidence.kept.get(NAME)
    if name is None:
        return evidence.printed
    data = artifact(name)
    try:
        return None if data is None else _expanded(data).decode(errors="replace")
    except (lzma.LZMAError, OSError, EOFError, zlib.error):
        return None


def _compressed(data: bytes) -> tuple[str, bytes]:
    """A suffix and the data compressed: either form can be read by programs that everybody has."""
    sample = data[:_SAMPLE]
    if len(zlib.compress(sample, 1)) > _REPETITIVE * len(sample):
        return ".printed.gz", gzip.compress(data, compresslevel=1, mtime=0)
    window = min(_WINDOW, max(_SMALLEST_WINDOW, len(data)))
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": window}]
    return ".printed.xz", lzma.compress(data, format=lzma.FORMAT_XZ, filters=filters)


def _expanded(data: bytes) -> bytes:
    """The data as it was; bounded, whatever the artifact is."""
    if data.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            return file.read(LIMIT_IN_FULL)
    return lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(data, LIMIT_IN_FULL)
