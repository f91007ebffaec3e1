"""The facts that a criterion needs about results: numbers, latencies, a user program's answer.

Launches were made on a GPU host, or run on this machine's GPU. The interpreter of a release
computes numbers if the env has one. :func:`check` judges single cells, for ``git bisect run``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence

from attrs import evolve, frozen

from compat.bisect.criterion import CANNOT_TELL, STAYING, Criterion, IsSlower, IsWrong
from compat.bisect.measures import TakesLonger, rows_of
from compat.bisect.timing import with_precise_seconds
from compat.config.selection import cell_pattern
from compat.engine.interpreting import interpret, interpretable
from compat.engine.run import RunContext, run
from compat.errors import SelectionError
from compat.history.account import Judgement
from compat.launch.hosting import Gpu, can_be_launched, launch_cells
from compat.launch.merging import merge_summary, with_launched
from compat.model import Cell, Check, Result, Specialization, Status, Target
from compat.model.outcome import cell_document
from compat.processes import supervisor
from compat.processes.supervisor import ProcessResult
from compat.project import Listener, Obtain, Selection
from compat.text import amount, printable, write_json
from compat.tune.tuning import with_tuned

HOW = (
    "`compat build --target TARGET --out DIR` builds the kernels that have a [problem], `python"
    " DIR/launch.py` launches them on a GPU host, and `compat matrix --launched DIR/results.jsonl`"
    " imports the results. On a machine with a GPU, --launch does all three"
)
"""The ways to get numbers of a GPU."""
HOW_TUNED = (
    "`compat tune` launches all configs of a kernel, on this machine with --launch or on a GPU host"
    " with --build DIR and --launched DIR/results.jsonl"
)
"""The ways to get latencies of configs."""


def check_launching(criterion: Criterion) -> None:
    """Check that a judge asks for launches that a bisection makes. Raises SelectionError."""
    if not criterion.asks_launches:
        hint = "Those that do: wrong, unstable, and latency, such as 'latency>1.2*previous'."
        raise SelectionError(
            f"the judge `{criterion.text}` asks for no launches", where="--launch", hint=hint
        )
    if criterion.asks_configs:
        raise SelectionError(
            f"the judge `{criterion.text}` compares the stored latencies of `compat tune`",
            where="--launch",
            hint=f"{HOW_TUNED}. Then bisect without --launch.",
        )


def with_numbers(
    results: Sequence[Result],
    criterion: Criterion,
    context: RunContext,
    gpu: Gpu | None = None,
    on_launch: Callable[[str], None] = lambda message: None,
) -> tuple[Result, ...]:
    """The same results, with numbers or with newly measured seconds if the criterion asks for them.

    With ``gpu``, cells that were not launched yet are launched on it, and ``on_launch`` receives
    messages about the launches. If the interpreter can answer a part of the question, built cells
    are interpreted. Raises StoreError, SelectionError if the GPU cannot be used, and the errors of
    :func:`compat.engine.interpreting.interpret`.
    """
    if isinstance(criterion.question, TakesLonger):
        return with_precise_seconds(results, criterion.question, context, on_launch)
    if not criterion.asks_launches:
        return tuple(results)
    checks = _interpret_results(results, context) if isinstance(criterion.question, IsWrong) else {}
    checked = tuple(
        (
            evolve(result, numbers=evolve(result.numbers, interpreter=checks[result.cell]))
            if result.cell in checks
            else result
        )
        for result in results
    )
    if isinstance(criterion.question, IsSlower) and criterion.asks_configs:
        return with_tuned(checked, context.store, fixed_config=criterion.question.what == STAYING)
    current = with_launched(checked, context.store)
    waiting = to_launch(current, criterion, gpu, again=context.again) if gpu is not None else ()
    if gpu is None or not waiting:
        return current
    on_launch(f"launching {amount(len(waiting), 'cell')} on the GPU of this machine")
    launched = launch_cells(waiting, context, gpu)
    on_launch(merge_summary([launched.merged_results]))
    for refused in launched.omitted_cells:
        on_launch(f"{refused.cell.id} cannot be launched: {refused.why}")
    return with_launched(checked, context.store)


def to_launch(
    results: Sequence[Result], criterion: Criterion, gpu: Gpu, *, again: bool = False
) -> tuple[Result, ...]:
    """The results that have to be launched to answer a question.

    Latencies compare only within a run, so either all cells of a kernel are launched or none.
    """
    fitting = [result for result in results if can_be_launched(result, gpu)]
    if again:
        return tuple(fitting)
    if not isinstance(criterion.question, IsSlower):
        return tuple(result for result in fitting if result.numbers.gpu is None)
    missing = {_series(result) for result in fitting if not _is_timed(result)}
    return tuple(result for result in fitting if _series(result) in missing)


def _series(result: Result) -> tuple[Specialization, Target]:
    return result.cell.spec, result.cell.target


def _is_timed(result: Result) -> bool:
    """Whether the latency is known, or cannot exist because the numbers are not right."""
    check = result.numbers.gpu
    return result.latency is not None or (check is not None and check.status is not Status.OK)


def _interpret_results(results: Sequence[Result], context: RunContext) -> dict[Cell, Check]:
    built = [
        result.cell
        for result in results
        if result.outcome.has_code and result.cell.env.name in context.envs
    ]
    fitting = [cell for cell in built if interpretable(cell, context.envs[cell.env.name])]
    return interpret(fitting, evolve(context, stop=threading.Event())) if fitting else {}


def criteria(results: Sequence[Result], criterion: Criterion) -> dict[Cell, Criterion]:
    """The criterion for each cell, given the results on all releases of its kernel."""
    return {
        result.cell: along
        for row in rows_of(results)
        for along in (criterion.along(row),)
        for of_release in row
        for result in of_release
    }


@frozen(kw_only=True)
class CheckAnswer:
    """Cells with a judgement of each."""

    answers: tuple[tuple[Result, Judgement], ...]
    """Result and judgement of each cell."""

    @property
    def judgement(self) -> Judgement:
        """Bad if one cell is bad, otherwise unknown if one is inconclusive, otherwise good."""
        order = (Judgement.GOOD, Judgement.UNKNOWN, Judgement.BAD)
        judgements = (judgement for _, judgement in self.answers)
        return max(judgements, key=order.index, default=Judgement.GOOD)


def check(
    selection: Selection,
    criterion: Criterion,
    context: RunContext,
    obtain: Obtain | None = None,
    listener: Listener | None = None,
    *,
    cells: str = "*",
) -> CheckAnswer:
    """Compile chosen cells and judge each.

    Args:
        selection: The cells.
        criterion: What counts as good.
        context: How to compile; needs no environments.
        obtain: Called for environments, and may build them. ``None``: use those that exist.
        listener: Receives each result.
        cells: A glob over ids of cells.

    Raises:
        SelectionError: No cell matches, or the criterion needs the bad end of a bisection.
        compat.engine.run.Interrupted: And the other errors of :func:`compat.engine.run.run`.
    """
    if criterion.needs_bad_end:
        raise SelectionError(
            f"a single commit has no failure to compare with, as `{criterion.text}` needs",
            where="--judge",
            hint="Name the failure's class: --judge class=NAME.",
        )
    pattern = cell_pattern(cells, selection.config, selection.patterns.kernel_files)
    chosen = selection if selection.patterns.envs else selection.and_envs(pattern.envs)
    matching_cells = pattern.choose(chosen.cells)
    envs = list({cell.env.name: cell.env for cell in matching_cells}.values())
    built = (obtain or selection.read_envs)(selection.config.path, envs)
    with (listener or Listener()).compiling(len(matching_cells)) as note:
        context = context.with_envs(built)
        results = with_numbers(run(matching_cells, context, note), criterion, context)
    of_cell = criteria(results, criterion)
    return CheckAnswer(answers=tuple((result, of_cell[result.cell](result)) for result in results))


DEADLINE = 600.0
"""Seconds that a judging program may take unless the user sets another limit."""
_NOT_RUN = (126, 127)
"""The exit codes of a shell for a command that does not exist or cannot run."""


class JudgingProgram:
    """Runs a program that judges results: ``parse_criterion("run=COMMAND", JudgingProgram())``."""

    def __init__(
        self,
        deadline: float = DEADLINE,
        *,
        verbose: bool = False,
        on_output: Callable[[str], None] = lambda message: None,
    ) -> None:
        """Make a judge.

        Args:
            deadline: Seconds that the program may take.
            verbose: Pass on everything that the program prints.
            on_output: Called with output of the program if it does not judge good, each text once.
        """
        self._deadline, self._verbose, self._on_output = deadline, verbose, on_output
        self._shown: set[ProcessResult] = set()
        self._showing = threading.Lock()

    def __call__(self, command: str, result: Result) -> int:
        """The exit code of a shell command that judges a result; 125 if it reached the deadline.

        The command gets the cell on its standard input, in the form of ``matrix.json``, and further
        facts in environment variables. Raises SelectionError if there is no such command.
        """
        spec = result.cell.spec
        variables = {
            "COMPAT_CELL": result.cell.id,
            "COMPAT_SOURCE": spec.source,
            "COMPAT_FUNCTION": spec.function,
            "COMPAT_PYTHON": result.built.python or "",
            f"COMPAT_{result.cell.env.toolchain.upper()}": result.built.release or "",
        }
        ended = ask_program(
            command, f"{write_json(cell_document(result))}\n", variables, self._deadline
        )
        # A reduction would repeat the same output.
        if self._verbose or (ended.exit_code != 0 and ended not in self._shown):
            self._show(result.cell.id, ended)
        return CANNOT_TELL if ended.exit_code is None else ended.exit_code

    def _show(self, cell: str, ended: ProcessResult) -> None:
        end = (
            f"timed out after {self._deadline:g} s: inconclusive"
            if ended.exit_code is None
            else f"exit code {ended.exit_code}"
        )
        lines = [
            f"{cell}: the judge's program: {end}",
            *(f"  {line}" for line in ended.output.splitlines()),
        ]
        with self._showing:
            self._shown.add(ended)
            self._on_output(printable("\n".join(lines)))


def ask_program(
    command: str, document: str, variables: Mapping[str, str], deadline: float
) -> ProcessResult:
    """Run a shell command with a document on standard input, and with these variables.

    The variables are added to the user's own. The command is killed after ``deadline`` seconds.
    Raises SelectionError if there is no such command, and the errors of
    :func:`compat.processes.supervisor.run`.
    """
    ended = supervisor.run(
        ["sh", "-c", command], timeout=deadline, document=document, env={**os.environ, **variables}
    )
    if ended.exit_code in _NOT_RUN:
        raise SelectionError(
            f"the command could not start: {ended.output.strip()}", where=f"--judge run={command}"
        )
    return ended
