"""A hunt: programs from seeds are compiled on every chosen release and target, and judged.

The hunt deletes the files of each program after its cells ran, because the seed generates them
again. The store keeps all results, so a hunt over seeds that were tried before compiles nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from compat import toolchains
from compat.engine import plan
from compat.engine.interpreting import interpret, interpretable, with_check
from compat.engine.run import RunContext, run
from compat.errors import SelectionError, StoreError
from compat.files import Closing, TemporaryFolder, replace_file
from compat.hunt.defects import HuntAnswer
from compat.hunt.kernels import GeneratedKernel, write_program
from compat.hunt.known_defects import KnownDefect
from compat.hunt.oracles import ProgramVerdict, judge, what_breaks
from compat.interruption import Stopped
from compat.launch.hosting import Gpu, can_be_launched, launch_cells
from compat.launch.merging import with_launched
from compat.model import Cell, Result, Status
from compat.project import Listener, Obtain, Selection
from compat.text import amount, read_json, write_json
from compat.toolchains.programs import GeneratedProgram, ProgramLanguage

_FIRST = 2
"""The number of programs in the first batch, and the minimum for later ones.

The measured rate decides the size of later batches.
"""
_MOST = 64
"""The maximum number of programs in a batch."""
_PART = 20
"""A batch of programs takes about the time of the hunt divided by this number."""
_WITHOUT_END = 1200.0
"""The duration in seconds that the size of batches assumes for a hunt without a time limit."""


@frozen(kw_only=True)
class HuntRequest:
    """The programs to try."""

    seed: int | None = None
    """The first seed. ``None``: the one after the last hunt's."""
    programs: int | None = None
    """How many programs. ``None``: as many as the time allows."""
    seconds: float | None = None
    """Seconds after which the hunt starts no further programs."""
    only: tuple[str, ...] = ()
    """The families of operations that every program uses. Empty: each seed chooses families."""
    forms: int = 2
    """How many forms of each program are compiled: its own, and other configs or spellings."""
    against: str | None = None
    """The name of an env.

    Only its hits count, on programs that the newest other release compiles without a hit.
    """
    known: tuple[KnownDefect, ...] = ()
    """The defects that are known upstream."""


def hunt(
    request: HuntRequest,
    selection: Selection,
    context: RunContext,
    obtain: Obtain,
    listener: Listener | None = None,
    gpu: Gpu | None = None,
) -> HuntAnswer:
    """Try programs until their number or the time limit is reached, or the user interrupts it.

    Args:
        request: The programs to try.
        selection: The envs and targets. Its kernels are ignored.
        context: How to compile; needs no environments.
        obtain: Called for environments, and may build them.
        listener: Receives progress.
        gpu: The GPU that launches compiled cells. ``None``: the hunt launches nothing.

    Raises:
        SelectionError: The envs have several toolchains or one without programs, a family does not
            exist, or NumPy is missing.
        CompatError: The errors of :func:`compat.engine.run.run`.
        StoreError: The folder for programs cannot be written.
    """
    with HuntRun(selection, context, obtain, listener, gpu) as run:
        return run.run(request)


class HuntRun(Closing):
    """A running hunt, for a ``with`` block. With a GPU, it also launches compiled cells."""

    def __init__(
        self,
        selection: Selection,
        context: RunContext,
        obtain: Obtain,
        listener: Listener | None = None,
        gpu: Gpu | None = None,
    ) -> None:
        self.obtain, self.gpu = obtain, gpu
        self.selection, self.listener = selection, listener or Listener()
        self.toolchain, self.language = _language(selection)  # before anything is built
        self.envs = obtain(selection.config.path, selection.envs)
        self.context = context.with_envs(self.envs)
        self.folder = selection.state / "hunt"
        self._programs = TemporaryFolder("compat-hunt-")

    def close(self) -> None:
        """Remove the folder with the programs."""
        self._programs.close()

    def run(self, request: HuntRequest) -> HuntAnswer:
        """Try programs until their number or the time limit is reached, or the user interrupts it.

        Raises:
            SelectionError: A requested family of operations does not exist.
            CompatError: The errors of :func:`compat.engine.run.run`.
            StoreError: The folder for programs cannot be written.
        """
        self._check_families(request.only)
        began = time.monotonic()
        first = self._next_seed() if request.seed is None else request.seed
        seeds = islice(count(first), request.programs)
        answer, together = self._answer(request, first, (), began), _FIRST
        while batch := list(islice(seeds, together)):
            try:
                verdicts = (*answer.verdicts, *self._try(batch, request))
            except Stopped:
                return evolve(answer, interrupted=True)
            answer = self._answer(request, first, verdicts, began)
            self._note(batch[-1] + 1)
            self.listener.say(progress(answer))
            if request.seconds is not None and answer.seconds >= request.seconds:
                break
            together = _batch(answer.rate, request.seconds, answer.seconds)
        return answer

    def _answer(
        self, request: HuntRequest, first: int, verdicts: tuple[ProgramVerdict, ...], began: float
    ) -> HuntAnswer:
        """Return the answer with these verdicts."""
        return HuntAnswer(
            seeds=(first, first + len(verdicts)),
            verdicts=verdicts,
            seconds=time.monotonic() - began,
            envs=tuple(env.env.name for env in self.envs),
            targets=tuple(target.name for target in self.selection.all_targets),
            language=self.language,
            known=request.known,
        )

    def _check_families(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in self.language.families:
                raise SelectionError(
                    f"there is no family of operations {name!r}",
                    where="--only",
                    hint=f"Choose some of {', '.join(self.language.families)}.",
                )

    def _try(self, seeds: Sequence[int], request: HuntRequest) -> list[ProgramVerdict]:
        programs = {
            seed: self.language.forms(self.language.generate(seed, request.only), request.forms)
            for seed in seeds
        }
        kernels = self.write_all([form for forms in programs.values() for form in forms])
        try:
            results = self._results(kernels)
        finally:
            for kernel in kernels:
                kernel.delete()
        verdicts = [
            judge(forms[0], [(form, results[form.seed, form.form]) for form in forms])
            for forms in programs.values()
        ]
        if request.against is None:
            return verdicts
        return [what_breaks(verdict, request.against) for verdict in verdicts]

    def write_all(self, programs: Sequence[GeneratedProgram]) -> list[GeneratedKernel]:
        """Write programs into the folder of this hunt. Raises StoreError if that fails."""
        folder = self._programs.path
        with StoreError.for_os_errors("cannot write programs", where=folder):
            return [self.write_one(program, folder) for program in programs]

    def write_one(self, program: GeneratedProgram, folder: Path) -> GeneratedKernel:
        """Write a program into a folder. Raises OSError."""
        return write_program(program, self.language, self.toolchain, folder)

    def cells_of(self, kernels: Sequence[GeneratedKernel]) -> list[Cell]:
        """The cells of kernels on the releases that have their operations."""
        return [
            cell
            for kernel in kernels
            for cell in plan.cross(
                [built.env for built in self.envs], self.selection.all_targets, [kernel.spec]
            )
            if cell.env.release is None or self.language.is_for(kernel.program, cell.env.release)
        ]

    def _results(self, kernels: Sequence[GeneratedKernel]) -> dict[tuple[int, str], list[Result]]:
        """Map the seed and form of each program to its results, with all known numbers."""
        names = {kernel.spec.kernel: kernel.program for kernel in kernels}
        results: dict[tuple[int, str], list[Result]] = {
            (program.seed, program.form): [] for program in names.values()
        }
        for result in self.results_of(self.cells_of(kernels)):
            program = names[result.cell.spec.kernel]
            results[program.seed, program.form].append(result)
        return results

    def results_of(self, cells: Sequence[Cell]) -> list[Result]:
        """Run cells, and return their results with all numbers.

        The numbers come from the store, from the interpreter, and from launches on the GPU.
        """
        with self.listener.compiling(len(cells)) as note:
            results = run(cells, self.context, note)
        interpreted = [
            result.cell
            for result in results
            if result.outcome.status is Status.OK
            and interpretable(result.cell, self.context.envs[result.cell.env.name])
        ]
        checks = interpret(interpreted, self.context) if interpreted else {}
        launched = with_launched(results, self.context.store)
        if self.gpu is not None:
            launched = self._launch_missing(launched, self.gpu)
        return [with_check(result, checks.get(result.cell)) for result in launched]

    def _launch_missing(self, results: Sequence[Result], gpu: Gpu) -> tuple[Result, ...]:
        """Launch the cells without numbers of the GPU, and add these to the results."""
        missing = [
            result
            for result in results
            if result.numbers.gpu is None and can_be_launched(result, gpu)
        ]
        if not missing:
            return tuple(results)
        with self.listener.step(f"launching {amount(len(missing), 'kernel')}"):
            launch_cells(missing, self.context, gpu)
        return with_launched(results, self.context.store)

    # --- the ledger of tried seeds ----------------------------------------------------------------

    @property
    def _ledger(self) -> Path:
        return self.folder / "seeds.json"

    def _next_seed(self) -> int:
        try:
            document: Any = read_json(self._ledger.read_text(encoding="utf-8"))
            return int(document["next"])
        except (OSError, ValueError, KeyError, TypeError):
            return 0

    def _note(self, seed: int) -> None:
        """Record in the ledger that all seeds before this one were tried."""
        if seed > self._next_seed():
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(self._ledger, write_json({"next": seed}) + "\n")


def _language(selection: Selection) -> tuple[str, ProgramLanguage[Any]]:
    """The toolchain of a selection's envs, and its programs.

    Raises SelectionError if the envs are of several toolchains, or of one without programs.
    """
    names = {env.toolchain for env in selection.envs}
    name = min(names)
    load = toolchains.look_up(name).programs
    if load is None or len(names) > 1:
        titles = ", ".join(toolchains.look_up(other).title for other in sorted(names))
        hint = "Choose envs of one toolchain that has programs with --envs, such as newest."
        raise SelectionError(f"compat hunt has no programs for {titles}", hint=hint)
    try:
        return name, load()
    except ModuleNotFoundError as error:
        hint = "Install it: pip install 'triton-compat[hunt]'."
        raise SelectionError("compat hunt needs NumPy", hint=hint) from error


def progress(answer: HuntAnswer) -> str:
    """Return the progress of a hunt, in words."""
    hits = sum(bool(verdict.hits) for verdict in answer.verdicts)
    valid = f" {100 * answer.share_valid:.0f} % valid," if answer.informative_verdicts else ""
    return (
        f"{amount(len(answer.verdicts), 'program')} ({answer.rate:.1f} per second),{valid}"
        f" {hits} with a hit, {len(answer.defects)} distinct"
    )


def _batch(rate: float, seconds: float | None, elapsed: float) -> int:
    """Return the number of programs in the next batch.

    Args:
        rate: Programs per second until now.
        seconds: The time limit of the hunt, if there is one.
        elapsed: The seconds since the hunt began.
    """
    limit = _WITHOUT_END if seconds is None else seconds
    remaining = limit / _PART if seconds is None else min(limit / _PART, seconds - elapsed)
    return min(max(round(rate * remaining), _FIRST), _MOST)
