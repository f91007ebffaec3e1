"""Capture what a program launches: run it with the recorder in it, make kernel files of what that wrote, and compare their code."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from compat.capturing.assembling import Captured, assemble, check_writable, write_index
from compat.capturing.checking import CodeComparison, compare
from compat.capturing.index import index_document
from compat.capturing.records import RecordingProgress, progress_in, read_records
from compat.capturing.settings import CodeCheck, Options, recorder_settings, target_of, target_of_arch, toolchain, variables
from compat.errors import SelectionError, StoreError
from compat.processes.supervisor import ForegroundResult, run_in_foreground
from compat.scratch import Folder

_LOOK_EVERY = 5.0
"""Seconds between two looks at what has been recorded."""


@frozen(kw_only=True)
class Capture:
    """What a program launched, and how it ended."""

    captured: Captured
    options: Options
    ended: ForegroundResult | None
    """How the program ended; ``None`` where it is this process, which goes on."""
    seconds: float
    """All that it took, the program's own time included."""
    compared: tuple[CodeComparison, ...] = ()
    document: Mapping[str, Any] = field(factory=dict)
    """The index, as it was written; empty where nothing was."""


def capture_program(
    words: Sequence[str],
    options: Options,
    *,
    python: str | None = None,
    timeout: float | None = None,
    on_progress: Callable[[RecordingProgress, float], None] = lambda progress, seconds: None,
    on_check: Callable[[int], None] = lambda kernels: None,
) -> Capture:
    """Run a program to its end, however that is, and write the kernel files of what it launched.

    ``python`` is the interpreter of its environment where that is not the one that its words lead to. ``on_progress`` hears now and
    then how far it is, and the seconds since the program began; ``on_check`` how many kernels are compared next.
    Raises SelectionError where the program cannot be started, StoreError where nothing can be written, before the program is run
    if possible.
    """
    began = time.monotonic()
    check_writable(options.output)
    with Folder("compat-capture-") as folder:
        records, cache = folder / "records", folder / "cache"
        records.mkdir()
        settings = recorder_settings(options, records)
        last_look = [0.0]

        def tick(seconds: float) -> None:
            if seconds - last_look[0] >= _LOOK_EVERY:
                last_look[0] = seconds
                on_progress(progress_in(records), seconds)

        fresh = cache if options.is_fake else None
        ended = run_in_foreground(command(words, python), variables(settings, fresh), timeout=timeout, on_tick=tick)
        return evolve(made_of(records, options, ended, on_check), seconds=time.monotonic() - began)


def made_of(
    records: Path, options: Options, ended: ForegroundResult | None, on_check: Callable[[int], None] = lambda kernels: None
) -> Capture:
    """Write the kernel files of records, if there are any, and compare their code. Raises StoreError."""
    recorded = read_records(records)
    if recorded.release is None:
        return Capture(captured=Captured(recorded=recorded), options=options, ended=ended, seconds=0.0)
    target = target_of(options.target) if options.is_fake else target_of_arch(recorded.arch)
    place = f"for {target.name}" if target else "on a GPU"
    origin = f"captured with {toolchain().title} {recorded.release or '(none)'} {place}"
    try:
        captured = assemble(recorded, options.output, configs=options.configs, origin=origin, live=options.live)
        if options.check is not CodeCheck.NOTHING:
            on_check(len(captured.kernels))
        compared = compare(captured, target, fake=options.is_fake) if target else ()
        document = index_document(captured, compared, target.name if target else None, on_gpu=not options.is_fake)
        write_index(document, options.output)
    except OSError as error:
        raise StoreError(f"the kernel files could not be written: {error.strerror}", where=str(options.output)) from error
    return Capture(captured=captured, options=options, ended=ended, seconds=0.0, compared=compared, document=document)


def command(words: Sequence[str], python: str | None) -> tuple[str, ...]:
    """The words that start a program: ``train.py`` and ``-m module`` by Python, by that of its environment where one is given.

    Raises SelectionError where there is no such interpreter.
    """
    is_for_python = words[0].endswith(".py") or words[0].startswith("-")
    if python is None:
        interpreter = shutil.which("python") or shutil.which("python3") or "python3"
        return (interpreter, *words) if is_for_python else tuple(words)
    path = shutil.which(python)
    if path is None:
        raise SelectionError("there is no such interpreter", where=f"--python {python}")
    if is_for_python:
        return (path, *words)
    if Path(words[0]).name.startswith("python"):
        return (path, *words[1:])
    return _beside(path, words)


def _beside(python: str, words: Sequence[str]) -> tuple[str, ...]:
    """The words that start a program of an interpreter's environment, if it is one."""
    program = Path(python).with_name(words[0])
    if "/" not in words[0] and program.exists():
        return (str(program), *words[1:])
    return (python, "-m", *words) if words[0] == "pytest" else tuple(words)
