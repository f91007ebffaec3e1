"""The evidence of an attempt besides its answer, and the failures that are the machine's fault.

- Short printed text is kept in the evidence itself, longer text as a compressed artifact. With
  dumps of IR on, a compile prints 1 to 15 MB, the same IR before every pass. LZMA compresses this
  to 20 to 200 KB in 0.1 s.
- The evidence gets the place of the failure, its reproducer, and the results of its stages
  (:func:`gather_evidence`).
- The machine can refuse room for files, open files, processes, and memory. There are two questions:
  which refusal does an attempt report (:func:`refusal`), and which resource is short at this moment
  (:func:`lack_of_machine`)? A kernel file can raise any error itself, so a refusal alone does not
  end a command. The attempt then counts as one without an answer. If a resource really is short, it
  is useless to continue, and no failure is credible.
"""

from __future__ import annotations

import ast
import errno
import gzip
import io
import lzma
import os
import re
import resource
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

from attrs import evolve

from compat import toolchains
from compat.diagnosis.pipeline import Keep, add_diagnosis
from compat.errors import REFUSALS, MachineError, memory_limit
from compat.files import content_of
from compat.model import SOURCE_STAGE, Cell, Evidence
from compat.processes.supervisor import bytes_in, run
from compat.source.imports import optional_imports
from compat.text import JsonObject, lazy_pattern
from compat.worker import beacon
from compat.workers.attempt import LAUNCHABLE, InFlightCell, Mode, Places
from compat.workers.client import Child

_LARGEST = 256 * 1024 * 1024
"""The most bytes of the stored result of a stage."""
_LARGEST_REPRODUCER = 64 * 1024 * 1024
"""The most bytes of a reproducer that is worth keeping."""
_LONGEST_LINE = 500


def gather_evidence(
    evidence: Evidence,
    child: Child,
    flight: InFlightCell,
    end: int | None,
    mode: Mode,
    *,
    keep: Keep | None,
    places: Places,
) -> Evidence:
    """Return the evidence with what its attempt left behind.

    A failed attempt also gets the facts in its printed text. Its output ends at the offset ``end``;
    ``None`` stands for the end of everything that was printed. ``keep`` stores artifacts; without
    it none are kept. Paths in kept files and in facts from printed text are those of the requesting
    machine.
    """
    folder = child.directory / "kept" / flight.nonce
    stage_artifacts = (
        _keep_stages(folder, mode.kept_stages(flight.cell), flight.cell, keep, places)
        if keep
        else {}
    )
    if evidence.complete and LAUNCHABLE in stage_artifacts:
        evidence = evolve(evidence, metrics={**evidence.metrics, **_pace(folder, evidence, flight)})
    shutil.rmtree(folder, ignore_errors=True)
    if evidence.complete and mode.timed:
        text = child.read_output(flight.output, end, PRINTED_LIMIT, "")
        printed = _pass_seconds(text, evidence, flight)
        # An adapter may have timed the passes itself.
        evidence = evolve(evidence, metrics={"passes": printed, **evidence.metrics})
    if evidence.complete and not mode.keep_printed:
        return evolve(evidence, artifacts=stage_artifacts)
    limit = PRINTED_LIMIT_IN_FULL if mode.keep_printed else PRINTED_LIMIT
    reader = toolchains.of(flight.cell.env).reader
    text = places.translate(child.read_output(flight.output, end, limit, reader.heading))
    inline, artifacts = keep_printed(text, keep, always=mode.keep_printed)
    if evidence.complete:
        return evolve(evidence, artifacts={**stage_artifacts, **artifacts})
    reproducer = _reproducer(child.directory) if mode.diagnose and keep else None
    if reproducer and keep:
        artifacts = {**artifacts, "reproducer": keep(".mlir", places.translate_data(reproducer))}
    in_flight, in_passes = beacon.read(str(child.directory))
    source = flight.cell.spec.source
    optional = _optional_imports(
        evidence, {source, (evidence.at or f"{source}:").rpartition(":")[0]}
    )
    failed = evolve(
        evidence,
        printed=inline,
        in_flight=in_flight,
        in_passes=in_passes,
        quoted={
            place: line for place in (in_flight, evidence.at) if place and (line := _line_at(place))
        },
        source=source if evidence.stage == SOURCE_STAGE else "",
        optional=optional,
        artifacts={**stage_artifacts, **artifacts},
    )
    return add_diagnosis(failed, reader.read(text), keep, reader)


def _pass_seconds(text: str, evidence: Evidence, flight: InFlightCell) -> dict[str, float]:
    """Return pass → CPU seconds, as the toolchain's compilers print them.

    The times are scaled down if their wall time exceeds the CPU time of the compile.
    """
    seconds, wall = toolchains.of(flight.cell.env).reader.pass_seconds(text)
    share = min(1.0, sum(evidence.stages.values()) / wall) if wall else 1.0
    return {name: round(cpu_seconds * share, 4) for name, cpu_seconds in seconds.items()}


def _keep_stages(
    folder: Path, stages: Iterable[str], cell: Cell, keep: Keep, places: Places
) -> dict[str, str]:
    """Return stage → the name of the artifact with its result."""
    if not folder.is_dir():
        return {}
    contents = {
        stage: _for_launch(folder, cell)
        if stage == LAUNCHABLE
        else content_of(folder / stage, _LARGEST)
        for stage in stages
    }
    return {
        stage: keep(f".{stage}", places.translate_data(data))
        for stage, data in contents.items()
        if data is not None
    }


def _for_launch(folder: Path, cell: Cell) -> bytes | None:
    """Return one file with everything that a launch needs, or ``None`` if a stage is missing."""
    launching = toolchains.of(cell.env).launching
    assert launching is not None
    contents = {stage: content_of(folder / stage, _LARGEST) for stage in launching.stages}
    files = {stage: data for stage, data in contents.items() if data is not None}
    return launching.pack(files) if len(files) == len(contents) else None


def _pace(folder: Path, evidence: Evidence, flight: InFlightCell) -> JsonObject:
    """Return the facts in the binary about its speed, as metrics."""
    launching = toolchains.of(flight.cell.env).launching
    assert launching is not None
    binary = content_of(folder / launching.binary, _LARGEST)
    return launching.pace(binary, evidence.metrics, flight.cell.target) if binary else {}


def _optional_imports(evidence: Evidence, paths: Iterable[str]) -> dict[str, str]:
    """Return name → ``path:number: import …`` for optional imports that failed.

    The names are those that exceptions mention, and that an import in these files binds whose
    failure is caught.
    """
    words = set(
        re.findall(
            r"\w+", "\n".join(f"{link.message}\n{link.traceback}" for link in evidence.raised)
        )
    )
    statements: dict[str, str] = {}
    for path in sorted(paths) if words else ():
        with suppress(OSError):
            for name, statement in optional_imports(Path(path).read_bytes()):
                if name in words:
                    statements.setdefault(
                        name, f"{path}:{statement.lineno}: {ast.unparse(statement)}"[:_LONGEST_LINE]
                    )
    return statements


def _line_at(place: str) -> str | None:
    """Return the text of the source line that ``path:number`` names, or ``None``."""
    path, _, number = place.rpartition(":")
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            return next(islice(file, int(number) - 1, None), "").rstrip()[:_LONGEST_LINE] or None
    except (OSError, ValueError):
        return None


def _reproducer(directory: Path) -> bytes | None:
    """Return the reproducer of the pipeline that ran last.

    Before 3.6 each stage overwrites one file. Since 3.6 there is one file per stage.
    """
    reproducers = [
        (path, content)
        for path in directory.glob("reproducer.mlir*")
        if (content := content_of(path, _LARGEST_REPRODUCER)) is not None
    ]
    if not reproducers:
        return None
    return max(reproducers, key=lambda reproducer: _modification_time(reproducer[0]))[1]


def _modification_time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


# --- printed text ---------------------------------------------------------------------------------

PRINTED = "printed"
"""The name of the printed text among the artifacts of an attempt."""
PRINTED_LIMIT = 32 * 1024 * 1024
"""The most bytes of the stored text of an attempt. A longer text loses its middle."""
PRINTED_LIMIT_IN_FULL = 256 * 1024 * 1024
"""The most bytes of the stored text if the printed text itself is requested."""
_INLINE = 16 * 1024
"""The most characters of a text that the evidence itself contains."""
_WINDOW = 8 << 20
"""The window of the compressor, in bytes. The IR before one pass of a large kernel is smaller."""
_SMALLEST_WINDOW = 4096
_SAMPLE = 1 << 20
_REPETITIVE = 0.25
"""The compressed share above which a text is not IR. LZMA would take seconds for each of its
megabytes.
"""


def keep_printed(
    text: str, keep: Keep | None, *, always: bool = False
) -> tuple[str, Mapping[str, str]]:
    """Return the text for the evidence itself, and the artifacts.

    A short text goes into the evidence, and a longer text becomes an artifact. ``always`` makes any
    text an artifact. Without ``keep`` there are no artifacts, and the evidence gets the beginning
    of the text.
    """
    if (len(text) <= _INLINE and not always) or keep is None:
        return text[:_INLINE], {}
    return "", {PRINTED: keep(*_compress(text.encode(errors="backslashreplace")))}


def printed_text(evidence: Evidence, artifact: Callable[[str], bytes | None]) -> str | None:
    """Return the kept part of what an attempt printed.

    Returns ``None`` if the artifact is gone, or is not one of ours.
    """
    name = evidence.artifacts.get(PRINTED)
    if name is None:
        return evidence.printed
    data = artifact(name)
    try:
        return None if data is None else _decompress(data).decode(errors="replace")
    except (lzma.LZMAError, OSError, EOFError, zlib.error):
        return None


def _compress(data: bytes) -> tuple[str, bytes]:
    """Return a suffix and the compressed data. Common programs can read both formats."""
    sample = data[:_SAMPLE]
    if len(zlib.compress(sample, 1)) > _REPETITIVE * len(sample):
        return ".printed.gz", gzip.compress(data, compresslevel=1, mtime=0)
    window = min(_WINDOW, max(_SMALLEST_WINDOW, len(data)))
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": window}]
    return ".printed.xz", lzma.compress(data, format=lzma.FORMAT_XZ, filters=filters)


def _decompress(data: bytes) -> bytes:
    """Return the decompressed data, limited in size, whatever the artifact contains."""
    if data.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            return file.read(PRINTED_LIMIT_IN_FULL)
    return lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(data, PRINTED_LIMIT_IN_FULL)


# --- refusals of the machine ----------------------------------------------------------------------

ROOM = 16 << 20
"""The free bytes for temporary files below which a failed compile may have failed because of that.
"""
_FILES = 32
"""The number of further files on a file system below which the same holds."""
_PROBE = 1 << 20
_OPEN_FILES = 64
"""The number of files that a process must be able to have open."""
_MEMORY = 64 << 20
_STARTING = 60.0
"""Seconds that a program which does nothing may take."""

_NUMBERS = frozenset(REFUSALS) - {errno.EACCES}
_WORDS = lazy_pattern(
    r"No space left on device|Disk quota exceeded|IO failure on output stream|Read-only file"
    r" system|Input/output error"
    r"|Too many open files|can't start new thread|Resource temporarily unavailable"
)
"""The messages of compilers and assemblers about a refused system call."""
_OUT_OF_MEMORY = lazy_pattern(
    r"MemoryError|std::bad_alloc|Cannot allocate memory|LLVM ERROR: out of memory|failed to map"
    r" segment"
)


def refusal(evidence: Evidence, folder: Path) -> str | None:
    """Return which refusal of the machine an attempt reports, or ``None`` if it reports none.

    ``folder`` is the attempt's private folder.
    """
    for link in evidence.raised:
        if link.errno in _NUMBERS or (link.errno == errno.EACCES and str(folder) in link.message):
            return f"{link.type}: {link.message}"
    for text in _texts(evidence):
        if match := _WORDS.search(text) or _kill_message(text):
            return _line(text, match)
    return None


def _kill_message(text: str) -> re.Match[str] | None:
    """Return the match of a message in a text that an assembler was killed from outside."""
    patterns = (
        toolchain.ir.parts.assembler.kill_message
        for toolchain in toolchains.every()
        if toolchain.ir.parts
    )
    return next((match for pattern in patterns if (match := pattern.search(text))), None)


def lack_of_machine(evidence: Evidence, folder: Path) -> MachineError | None:
    """Return an error for a resource that is short at this moment, if it may explain the failure.

    Returns ``None`` if no resource is short.
    """
    if short := _short_of_room(folder):
        return short
    reason = refusal(evidence, folder)
    return _test_machine(folder, reason) if reason else _short_of_memory(evidence)


def _short_of_room(folder: Path) -> MachineError | None:
    try:
        # A kernel's file can remove its own folder.
        status = os.statvfs(folder if folder.is_dir() else folder.parent)
    except OSError as error:
        return MachineError.of(error)
    where = str(folder.parent)
    if status.f_flag & os.ST_RDONLY:
        return MachineError.about(errno.EROFS, "mounted read-only", where)
    if (room := status.f_bavail * status.f_frsize) < ROOM:
        return MachineError.about(
            errno.ENOSPC, f"{room / 2**20:.1f} MiB are free, {ROOM >> 20} are needed", where
        )
    if status.f_files and status.f_favail < _FILES:
        return MachineError.about(
            errno.ENOSPC, f"only {status.f_favail} more files can be created", where
        )
    return None


def _short_of_memory(evidence: Evidence) -> MachineError | None:
    """Return an error if a compile ran out of memory and the machine is the reason.

    The machine is the reason if the user's shell limits memory, or if none is left.
    """
    text = " ".join(
        [evidence.stderr, *(f"{link.type}: {link.message}" for link in evidence.raised)]
    )
    if not _OUT_OF_MEMORY.search(text):
        return None
    return MachineError.about(errno.ENOMEM, "") if memory_limit() else _no_memory_left()


def _test_machine(folder: Path, reason: str) -> MachineError | None:
    """Test whether the machine really refuses files, processes, open files or memory."""
    try:
        _write_into(folder)
        run(["true"], timeout=_STARTING)
    except MachineError as error:
        return error
    except OSError as error:
        if error.errno != errno.ENOENT:
            return MachineError.of(error)
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit < _OPEN_FILES and limit != resource.RLIM_INFINITY:
        return MachineError.about(errno.EMFILE, f"the limit is {limit}; {reason}")
    return _no_memory_left()


def _write_into(folder: Path) -> None:
    probe = folder / "probe"
    try:
        probe.write_bytes(b"\1" * _PROBE)
    finally:
        with suppress(OSError):
            probe.unlink()


def _no_memory_left() -> MachineError | None:
    available = bytes_in(Path("/proc/meminfo"), "MemAvailable")
    if available is None or available >= _MEMORY:
        return None
    return MachineError.about(errno.ENOMEM, f"{available >> 20} MiB are available")


def _texts(evidence: Evidence) -> Iterator[str]:
    yield evidence.stderr
    yield from (link.message for link in evidence.raised)


def _line(text: str, match: re.Match[str]) -> str:
    """Return the line of a match, limited in length."""
    start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
    return text[
        max(start, match.start() - 200) : end if 0 <= end < match.end() + 200 else match.end() + 200
    ].strip()
