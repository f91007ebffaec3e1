"""Captures the launches of a program or of a block in this process.

It records the launches, writes kernel files, and compares the code of the kernels with the
program's. A program runs to its end with the recorder inside it. ``index.json`` lists what was
captured.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from attrs import asdict, define, evolve, field, frozen

from compat import __version__, toolchains
from compat.capturing.assembling import SCHEMA, CapturedFiles, assemble, write_index
from compat.capturing.checking import (
    CodeCheck,
    CodeComparison,
    Options,
    capturable_toolchains,
    capturing_of,
    compare,
    in_environment,
    recorder_settings,
    target_of,
    toolchain_of,
    variables,
)
from compat.capturing.kernels import CapturedKernel, Case, Configs
from compat.capturing.records import RecordingProgress, progress_in, read_records
from compat.errors import SelectionError, StoreError
from compat.files import TemporaryFolder, check_writable
from compat.model import DEFAULT_TOOLCHAIN
from compat.processes.supervisor import ForegroundResult, run_in_foreground
from compat.text import JsonMapping, JsonObject

_LOOK_EVERY = 5.0
"""Seconds between two reads of the records."""


@frozen(kw_only=True)
class Capture:
    """The launches of a program, and how the program ended."""

    files: CapturedFiles
    """The kernels that were captured, and the launches that were not."""
    options: Options
    """How it was captured."""
    program_end: ForegroundResult | None
    """How the program ended. ``None``: the program is this process."""
    seconds: float
    """Wall time in seconds, including the program's."""
    comparisons: tuple[CodeComparison, ...] = ()
    """Comparisons of captured code with the program's code."""
    document: JsonMapping = field(factory=dict)
    """The index as written. Empty: nothing was written."""


def capture_program(
    command_line: Sequence[str],
    options: Options,
    *,
    python: str | None = None,
    folder: Path | None = None,
    output: IO[bytes] | None = None,
    timeout: float | None = None,
    on_progress: Callable[[RecordingProgress, float], None] = lambda progress, seconds: None,
    on_check: Callable[[int], None] = lambda kernels: None,
) -> Capture:
    """Run a program to its end and write kernel files for the kernels that it launched.

    Args:
        command_line: The command line of the program.
        options: How to capture.
        python: Interpreter of the program's environment. ``None``: the one that the command line
            leads to.
        folder: The folder that it runs in. ``None``: the current one.
        output: The file that it writes to. ``None``: the terminal.
        timeout: Seconds after which the program is stopped. ``None``: never.
        on_progress: Called now and then with the progress and the seconds since the program
            started.
        on_check: Called with the number of kernels that are compared next.

    Raises:
        SelectionError: The program cannot be started.
        StoreError: Kernel files cannot be written. Raised before the program runs if possible.
    """
    began = time.monotonic()
    with _prepared(options) as (records, _, environ):
        last_look = [0.0]

        def tick(seconds: float) -> None:
            if seconds - last_look[0] >= _LOOK_EVERY:
                last_look[0] = seconds
                on_progress(progress_in(records), seconds)

        ended = run_in_foreground(
            command(command_line, python),
            environ,
            folder=folder,
            output=output,
            timeout=timeout,
            on_tick=tick,
        )
        return evolve(
            assemble_capture(records, options, ended, on_check), seconds=time.monotonic() - began
        )


@contextmanager
def _prepared(options: Options) -> Iterator[tuple[Path, JsonObject, Mapping[str, str]]]:
    """Make a folder for records, with the recorder's settings and environment variables.

    Raises SelectionError, and StoreError if kernel files cannot be written.
    """
    check_writable(options.output)
    with TemporaryFolder("compat-capture-") as folder:
        records = folder / "records"
        records.mkdir()
        settings = recorder_settings(options, records)
        capturing = capturing_of(toolchain_of(options.toolchain))
        cache = folder / "cache" if options.is_fake else None
        yield records, settings, variables(settings, capturing, cache)


def assemble_capture(
    records: Path,
    options: Options,
    ended: ForegroundResult | None,
    on_check: Callable[[int], None] = lambda kernels: None,
) -> Capture:
    """Write the kernel files of records, if there are any, and compare their code.

    Raises StoreError.
    """
    toolchain, recorded = toolchain_of(options.toolchain), read_records(records, options.toolchain)
    if recorded.release is None or not (recorded.launches or recorded.unrecorded):
        return Capture(
            files=CapturedFiles(records=recorded), options=options, program_end=ended, seconds=0.0
        )
    compiled_for = (
        target
        for target in toolchain.device.targets
        if recorded.arch is not None and target.arch == recorded.arch
    )
    target = target_of(options.target, toolchain) if options.is_fake else next(compiled_for, None)
    place = f"for {target.name}" if target else "on a GPU"
    origin = f"captured with {toolchain.title} {recorded.release or '(none)'} {place}"
    with StoreError.for_os_errors("cannot write the kernel files", where=options.output):
        captured = assemble(
            recorded, options.output, configs=options.configs, origin=origin, live=options.live
        )
        if options.check is not CodeCheck.NOTHING:
            on_check(len(captured.kernels))
        compared = compare(captured, target, fake=options.is_fake) if target else ()
        document = index_document(
            captured, compared, target.name if target else None, on_gpu=not options.is_fake
        )
        write_index(document, options.output)
    return Capture(
        files=captured,
        options=options,
        program_end=ended,
        seconds=0.0,
        comparisons=compared,
        document=document,
    )


def command(command_line: Sequence[str], python: str | None) -> tuple[str, ...]:
    """The words that start a program: Python starts ``train.py`` and ``-m module``.

    ``python`` is the interpreter of the program's environment, if the caller gives one. Raises
    SelectionError if it does not exist.
    """
    is_for_python = command_line[0].endswith(".py") or command_line[0].startswith("-")
    if python is None:
        interpreter = shutil.which("python") or shutil.which("python3") or "python3"
        return (interpreter, *command_line) if is_for_python else tuple(command_line)
    path = shutil.which(python)
    if path is None:
        raise SelectionError("there is no such interpreter", where=f"--python {python}")
    if is_for_python:
        return (path, *command_line)
    if Path(command_line[0]).name.startswith("python"):
        return (path, *command_line[1:])
    return _environment_command(path, command_line)


def _environment_command(python: str, command_line: Sequence[str]) -> tuple[str, ...]:
    """The words that start a program, from the interpreter's environment if it is there."""
    program = Path(python).with_name(command_line[0])
    if "/" not in command_line[0] and program.exists():
        return (str(program), *command_line[1:])
    return (python, "-m", *command_line) if command_line[0] == "pytest" else tuple(command_line)


# --- the index ------------------------------------------------------------------------------------


def index_document(
    captured: CapturedFiles, compared: Sequence[CodeComparison], target: str | None, *, on_gpu: bool
) -> dict[str, object]:
    """The index of a capture as a JSON object, without the duration.

    ``target`` is the target that the program compiled for, if it is known.
    """
    recorded = captured.records
    agreements = {
        (comparison.kernel, comparison.case): str(comparison.agreement) for comparison in compared
    }
    return {
        "schema": SCHEMA,
        "compat": __version__,
        "toolchain": recorded.toolchain,
        "release": recorded.release,
        toolchains.look_up(recorded.toolchain).framework.name: recorded.framework_release,
        "python": next((python.version for python in recorded.interpreters.values()), None),
        "target": target,
        "gpu": on_gpu,
        "processes": recorded.processes,
        "ended": recorded.ended,
        "kernels": [_kernel(kernel, agreements) for kernel in captured.kernels],
        "problems": sorted(
            {
                Path(spec.problem.source).name
                for specs in captured.specs.values()
                for spec in specs
                if spec.problem
            }
        ),
        "without_problem": [
            {"kernel": kernel, "case": case, "why": why}
            for kernel, case, why in captured.without_problem
        ],
        "not_captured": [asdict(kernel) for kernel in captured.not_captured],
        "not_live": [asdict(kernel) for kernel in captured.not_live],
        "never_launched": [
            {"module": module, "name": name} for module, name in captured.never_launched
        ],
        "answered_at_import": [asdict(question) for question in captured.conditionals],
    }


def _kernel(kernel: CapturedKernel, agreements: dict[tuple[str, str], str]) -> dict[str, object]:
    return {
        "name": kernel.name,
        "file": f"{kernel.name}.toml",
        "source": None if kernel.live else f"{kernel.name}.py",
        "package": kernel.live.package or None if kernel.live else None,
        "module": kernel.module,
        "function": kernel.function,
        "answered_at_import": [
            f"{question.module}:{question.line}" for question in kernel.questions
        ],
        "graph": list(kernel.graph),
        "cases": [_case(case, agreements.get((kernel.name, case.name))) for case in kernel.cases],
    }


def _case(case: Case, code: str | None) -> dict[str, object]:
    places = dict.fromkeys(str(launch.place) for launch in case.launches if launch.place)
    roles = {role for launch in case.launches for role in launch.roles if role}
    return {
        "name": case.name,
        "launches": case.count,
        "grid": list(case.first.grid) if case.first.grid else None,
        "tuned": sorted(roles),
        "places": list(places),
        "failed": case.first.failed,
        "code": code,
    }


# --- inside a running process: a block of it, or a whole run of pytest ----------------------------


def is_captured() -> bool:
    """Whether a capture started this process, and therefore records its launches already."""
    return any(
        capturing_of(toolchain).package in sys.modules for toolchain in capturable_toolchains()
    )


@define(kw_only=True)
class CapturedBlock:
    """The launches of a block."""

    capture: Capture | None = None
    """The result, once the block has ended."""


@contextmanager
def capture(
    output: str | Path = "captured",
    *,
    toolchain: str = DEFAULT_TOOLCHAIN,
    target: str | None = None,
    configs: str = "all",
    with_values: bool = False,
    problems: bool = False,
    check: str = "kernels",
    fake: bool | None = None,
) -> Iterator[CapturedBlock]:
    """Capture the launches of this process and its children; a context manager and a decorator.

    Import libraries inside the block, because some ask for the GPU when they are imported. A
    PyTorch that is imported there sees the fake GPU's driver until the process ends. If the whole
    process is captured already, for example by ``compat capture``, that capture goes on and the
    block records nothing itself. The kernel files are written when the block ends, also if it ends
    with an exception.

    Args:
        output: Folder for the kernel files.
        toolchain: Name of the toolchain whose launches are captured.
        target: A target or the name of a GPU: the device that a program without a GPU sees.
        configs: Which configurations of an autotuned kernel are captured: ``all``, ``chosen`` or
            ``first``.
        with_values: Keep the values of numbers that do not affect compilation.
        problems: Also record shapes, strides and small integers of launches.
        check: How captured code is compared with the code that the program compiled.
        fake: Install a fake GPU. ``None``: only if there is no GPU.

    Raises:
        SelectionError: Unknown toolchain or target.
        StoreError: Kernel files cannot be written. Raised before the block runs if possible.
    """
    options = Options(
        toolchain=toolchain,
        output=Path(output),
        target=target,
        configs=Configs(configs),
        with_values=with_values,
        problems=problems,
        check=CodeCheck(check),
        fake=fake,
    )
    block, began = CapturedBlock(), time.monotonic()
    if is_captured():
        yield block
        return
    with _prepared(options) as (records, settings, environ):
        try:
            with in_environment(environ):
                recording = capturing_of(toolchain_of(toolchain)).begin(settings)
                try:
                    yield block
                finally:
                    recording.stop()
        finally:
            block.capture = evolve(
                assemble_capture(records, options, None), seconds=time.monotonic() - began
            )
