"""Launch on this machine's GPU: a selection, the cells of a search, or good against bad builds.

In: a selection, cells, or built cells. Out: results in the store, as if they came from a GPU host
(:mod:`.merging`).
"""

from __future__ import annotations

import itertools
import json
import shlex
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from math import inf
from pathlib import Path
from tempfile import TemporaryFile

from attrs import evolve, frozen

from compat.engine.run import RunContext
from compat.errors import SelectionError
from compat.executors import gpus
from compat.files import TemporaryFolder
from compat.launch.archive import facts_of, object_of, program_of, read_folder, write_archive
from compat.launch.building import (
    Built,
    Launchable,
    OmittedCell,
    build,
    build_cells,
    check_gpus,
    is_for_gpus,
)
from compat.launch.merging import NOTHING, MergedResults, merge
from compat.model import Result, Target
from compat.processes.supervisor import (
    ForegroundResult,
    Session,
    SessionEnded,
    run,
    run_in_foreground,
)
from compat.project import Listener, Obtain, Selection
from compat.store.store import Store
from compat.text import JsonMapping, printable, read_json
from compat.toolchains.pytorch.host.results import NAME

_FOLDER = "launch"
"""The folder of the build, inside the project's state folder, which stays after a run."""
_ELSEWHERE = (
    "Run the command on a machine with a GPU. `compat build --target TARGET --out DIR`, and --build"
    " of `compat tune` and `compat hunt`, write a folder for a GPU host. Run its launch.py there,"
    " and read its results.jsonl here with --launched."
)


@frozen(kw_only=True)
class Gpu:
    """The GPU of this machine, and the interpreter that launches on it."""

    target: Target
    python: str
    """The path of an interpreter that has PyTorch."""
    options: tuple[str, ...] = ()
    """Options of the launcher (``toolchains/pytorch/host/program.py``)."""


def find_gpu(selection: Selection, python: str | None = None) -> Gpu:
    """Find the GPU of this machine, and the chosen target that it fits.

    ``python`` is an interpreter with PyTorch. Raises SelectionError if there is no usable GPU, no
    PyTorch, no chosen target for the GPU, or no cell that can be launched on GPUs.
    """
    check_gpus(selection.cells)
    python = python or find_python(selection)
    with SelectionError.for_os_errors("cannot be started", where=python, hint=_ELSEWHERE):
        host = gpus.find_gpus(python)
    if not host.devices:
        raise SelectionError(
            f"there is no usable GPU on this machine: {host.why_none}", hint=_ELSEWHERE
        )
    arch = host.devices[0].arch
    for target in selection.all_targets:
        if target.arch == arch:
            return Gpu(target=target, python=python)
    names = ", ".join(target.name for target in selection.all_targets)
    message = (
        f"the GPU of this machine has compute capability {arch / 10}, and the targets are {names}"
    )
    raise SelectionError(message, hint="Choose its target with --target.")


def find_python(selection: Selection | None = None) -> str:
    """Return the path of an interpreter that has PyTorch: this one, or an environment's.

    Raises:
        SelectionError: There is none.
    """
    python = gpus.find_python([selection.config.env_cache()] if selection is not None else [])
    if python is None:
        hint = (
            "Name an interpreter that has PyTorch with --python, or build an env that has it:"
            " `compat matrix --envs pairs`."
        )
        raise SelectionError("launching needs PyTorch, and no interpreter here has it", hint=hint)
    return python


def python_for(folder: Path, selection: Selection | None) -> str:
    """An interpreter for the program of a folder: one with PyTorch if the program needs that.

    Raises SelectionError.
    """
    return sys.executable if read_folder(folder).needs is None else find_python(selection)


def launch(folder: Path, python: str, options: Sequence[str] = ()) -> ForegroundResult:
    """Run the ``launch.py`` of a folder to its end.

    Args:
        folder: A folder that :func:`compat.launch.archive.write_archive` wrote.
        python: An interpreter with PyTorch.
        options: Further arguments for ``launch.py``.

    Raises:
        SelectionError: The folder has no such program.
    """
    return run_in_foreground([python, str(program_of(folder)), *options], {})


@frozen(kw_only=True)
class YieldedProblems:
    """The numbers of problems that the problem functions of one kernel yield."""

    kernel: str
    numbers: tuple[tuple[int | None, int | None], ...]
    """The distinct pairs of a number of small problems and a number of large problems.

    ``None``: only a launch can determine the number.
    """
    missing: int = 0
    """The number of cases, or other sets of parameters, without an answer in time."""
    why: str = ""
    """The first exception that prevented a count; empty if there is none."""


def count_problems(built: Built, folder: Path, python: str) -> tuple[YieldedProblems, ...]:
    """Count the problems that the problem functions in a folder yield, taking the kernels in turn.

    Counting takes at most half a minute.

    Args:
        built: What the folder was written from.
        folder: A folder that :func:`compat.launch.archive.write_archive` wrote.
        python: An interpreter with PyTorch.
    """
    with TemporaryFile() as answers:
        run([python, str(program_of(folder)), "--problems"], timeout=_COUNTING, into=answers)
        answers.seek(0)
        counts = dict(_counts(answers.read().decode("utf-8", "replace")))
    kernels: dict[str, dict[str, None]] = {}
    for launchable in built.launchable:
        kernels.setdefault(launchable.cell.spec.kernel, {})[launchable.digest] = None
    yielded: list[YieldedProblems] = []
    for kernel, digests in kernels.items():
        answers_of = [counts[digest] for digest in digests if digest in counts]
        yielded.append(
            YieldedProblems(
                kernel=kernel,
                numbers=tuple({(count["small"], count["large"]): None for count in answers_of}),
                missing=len(digests) - len(answers_of),
                why=printable(next((count["why"] for count in answers_of if count["why"]), "")),
            )
        )
    return tuple(yielded)


_COUNTING = 30.0
"""Seconds for counting the problems of a folder."""


def _counts(text: str) -> Iterator[tuple[str, JsonMapping]]:
    """Yield the digest of each problem with the program's answer, and skip truncated lines."""
    for line in text.splitlines():
        with suppress(ValueError, TypeError, KeyError, AttributeError):
            answer = read_json(line)
            numbers = {
                size: None if answer[size] is None else int(answer[size])
                for size in ("small", "large")
            }
            yield str(answer["problem"]), {**numbers, "why": str(answer["why"])}


def build_and_launch(
    selection: Selection,
    context: RunContext,
    obtain: Obtain,
    listener: Listener,
    *,
    python: str | None = None,
) -> MergedResults:
    """Compile chosen cells for the GPU of this machine, launch them, and keep the results.

    Cells that were launched before are not launched again.

    Args:
        selection: The cells.
        context: How to compile; needs no environments.
        obtain: Called for environments, and may build them.
        listener: Receives progress.
        python: An interpreter with PyTorch. ``None``: see :func:`find_python`.

    Raises:
        SelectionError: There is no GPU, no PyTorch, or nothing to launch.
    """
    gpu = find_gpu(selection, python)
    built = build(evolve(selection, targets=(gpu.target,)), context, obtain, listener)
    return launch_and_keep(built, selection.state / _FOLDER, gpu, context.store)


def launch_and_keep(built: Built, folder: Path, gpu: Gpu, store: Store) -> MergedResults:
    """Write a folder, launch it with the output on this terminal, and keep the results.

    The folder keeps finished launches, so that an interrupted launch can continue. Raises
    SelectionError if the launcher cannot launch anything.
    """
    write_archive(built, folder)
    ended = launch(folder, gpu.python, gpu.options)
    if ended.exit_code not in (0, 1) and not ended.interrupted:
        raise SelectionError(
            "cannot launch the kernels", where=str(folder), hint="The output above says why."
        )
    return _merge_written(folder, store)


def _merge_written(folder: Path, store: Store) -> MergedResults:
    """Keep the results of a folder, if the launcher has written any."""
    written = folder / NAME
    return merge(written, store) if written.is_file() and written.stat().st_size else NOTHING


# --- launches during a search ---------------------------------------------------------------------


@frozen(kw_only=True)
class LaunchedCells:
    """The results of launching cells."""

    merged_results: MergedResults
    omitted_cells: tuple[OmittedCell, ...] = ()
    """The cells that cannot be launched."""


def can_be_launched(result: Result, gpu: Gpu) -> bool:
    """Whether a cell compiles for this GPU, and has a problem to be launched on."""
    fits = (
        result.cell.target == gpu.target
        and result.cell.spec.problem is not None
        and is_for_gpus(result.cell)
    )
    return fits and result.built.error is None and result.outcome.has_code


def launch_cells(results: Sequence[Result], context: RunContext, gpu: Gpu) -> LaunchedCells:
    """Build and launch cells in one go, and keep the results.

    The cells can be launched (:func:`can_be_launched`). ``context`` has their envs. Raises
    SelectionError if nothing can be launched on the GPU, and the errors of
    :func:`compat.engine.run.run`.
    """
    if not results:
        return LaunchedCells(merged_results=NOTHING)
    built = build_cells(
        [result.cell for result in results], evolve(context, stop=threading.Event())
    )
    return LaunchedCells(
        merged_results=launch_built(built.launchable, context.store, gpu),
        omitted_cells=built.omitted_cells,
    )


def launch_built(launchable: Sequence[Launchable], store: Store, gpu: Gpu) -> MergedResults:
    """Launch built cells, and keep the results.

    Finished results are kept even if the user interrupts the launch. Raises SelectionError if the
    launcher cannot launch anything.
    """
    if not launchable:
        return NOTHING
    with TemporaryFolder("compat-launch-") as temporary:
        folder = temporary / "built"
        program = write_archive(
            Built(target=gpu.target, launchable=tuple(launchable), omitted_cells=()), folder
        )
        try:
            with SelectionError.for_os_errors("cannot launch the kernels", where=gpu.python):
                ended = run([gpu.python, str(program), *gpu.options], timeout=inf)
        finally:
            merged = _merge_written(folder, store)
    if ended.exit_code not in (0, 1):
        why = (ended.output.strip().splitlines() or ["the launcher ended without output"])[-1]
        raise SelectionError(f"cannot launch the kernels: {why}", where=gpu.python)
    return merged


COMPARED = "compared"
"""The status of an answer that has the behaviour of each build."""
_STARTING = 900.0
"""Maximum seconds until the first answer. Before it, the process imports PyTorch and makes the
inputs.
"""
_SPARE = 900.0
"""Maximum seconds beyond a question's own deadline, because the process that launches may have to
start again.
"""


@frozen(kw_only=True)
class Behaviour:
    """The behaviour of one release's build of the kernel, over all problems."""

    good: bool
    """Whether the build is a reference for the others."""
    launches: int
    differing: int
    """The launches whose output bits differ from those of the first launch on the same problem."""
    finite: bool
    """Whether all written values are finite numbers."""
    wrote: bool
    """Whether the build wrote anything into its outputs."""
    outside: str
    """The writes outside of its outputs, in words."""
    reads_outside: bool = False
    """Whether the results depend on memory around its inputs; only set for a good build."""
    off: float
    """The worst distance from the first good build, relative to the largest number in that one; 0
    within the tolerance.
    """


@frozen(kw_only=True)
class BuildComparison:
    """The results of launching several builds of one kernel."""

    status: str
    """:data:`COMPARED`, or why there is no comparison: ``faulted``, ``launch_refused``,
    ``timed_out``, ``lost``.
    """
    reason: str = ""
    behaviours: tuple[Behaviour, ...] = ()
    """In the order of the request."""


class Comparer:
    """A process that compares builds. It answers questions until :meth:`close`."""

    def __init__(self, original: Launchable, gpu: Gpu, stop: threading.Event | None = None) -> None:
        """Start the process. ``original`` has the problem for all launches.

        Raises SelectionError if nothing can be launched, and Stopped.
        """
        self._python, self._numbers = gpu.python, itertools.count(1)
        with ExitStack() as resources:
            self._folder = resources.enter_context(TemporaryFolder("compat-comparing-")) / "built"
            program = write_archive(
                Built(target=gpu.target, launchable=(original,), omitted_cells=()), self._folder
            )
            command = [gpu.python, str(program), *gpu.options, "--compare", original.digest]
            try:
                self._session = resources.enter_context(Session(command, stop))
                answer = _object(self._session.read_line(_STARTING))
                if answer.get("status") != "ready":
                    raise SessionEnded(str(answer.get("reason")))
            except SessionEnded as error:
                raise self._unable(str(error), shlex.join(command)) from error
            self._resources = resources.pop_all()

    def ask(
        self,
        good: Sequence[Launchable],
        bad: Sequence[Launchable],
        rounds: int,
        deadline: float,
        stop: threading.Event | None,
    ) -> BuildComparison:
        """Compare binaries in ``rounds`` launches on each problem, good ones first.

        The host compares for at most ``deadline`` seconds, and has :data:`_SPARE` more to
        answer. Raises SelectionError if the process has
        ended, and Stopped once ``stop`` is set.
        """
        self._session.stop = stop
        paths = set[Path]()
        for launchable in (*good, *bad):
            paths.add(path := self._folder / "objects" / object_of(launchable))
            path.write_bytes(launchable.binary)
        cells = [{**facts_of(launchable), "good": True} for launchable in good]
        cells += [{**facts_of(launchable), "good": False} for launchable in bad]
        number = next(self._numbers)
        question = {"number": number, "cells": cells, "rounds": rounds, "deadline": deadline}
        try:
            answer = _object(self._session.ask(json.dumps(question), deadline + _SPARE))
            while answer.get("number") != number:  # it answers an earlier, abandoned question
                answer = _object(self._session.read_line(deadline + _SPARE))
            return _comparison(answer)
        except SessionEnded as error:
            raise self._unable(str(error), self._python) from error
        finally:
            for path in paths:
                path.unlink(missing_ok=True)

    def _unable(self, reason: str, where: str) -> SelectionError:
        return SelectionError(f"cannot launch the kernels: {printable(reason)}", where=where)

    def close(self) -> None:
        """End the process."""
        self._resources.close()


def _object(line: str) -> JsonMapping:
    try:
        message = read_json(line)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise SessionEnded(f"it answered {line[:80]!r}")
    return message


def _comparison(answer: JsonMapping) -> BuildComparison:
    try:
        behaviours = tuple(
            Behaviour(**{**cell, "outside": printable(str(cell["outside"]))})
            for cell in answer["cells"]
        )
        return BuildComparison(
            status=str(answer["status"]),
            reason=printable(str(answer["reason"])),
            behaviours=behaviours,
        )
    except (KeyError, TypeError) as error:
        raise SessionEnded("it answered in another form") from error
