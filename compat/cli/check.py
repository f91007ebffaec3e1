"""``compat check``: a test of a commit, for ``git bisect run``.

The module also has the option ``--judge``, which other commands use.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any, Unpack

import click

from compat.bisect import judging
from compat.bisect.criterion import Criterion, parse_criterion
from compat.bisect.judging import DEADLINE, JudgingProgram
from compat.cli import INTERRUPTED, logs
from compat.cli.answer import Answer, answer_options, gather_options
from compat.cli.help import Command
from compat.cli.progress import ProgressListener
from compat.cli.resources import CompileOptions, compile_options, executor_option
from compat.cli.selecting import (
    CELL,
    SECONDS,
    SelectionOptions,
    select,
    selection_options,
    split_cells,
)
from compat.errors import CompatError, refusal
from compat.history.account import Judgement
from compat.interruption import Stopped
from compat.report.views.bisect import check_answer_document, check_answer_lines

GOOD, BAD, CANNOT_TELL = 0, 1, 125
"""The exit codes for ``git bisect run``. It takes other codes up to 127 for bad, and stops at 128
and above.
"""
_EXIT_CODES = {Judgement.GOOD: GOOD, Judgement.BAD: BAD, Judgement.UNKNOWN: CANNOT_TELL}


def judge_options(
    default: str, help_text: str, metavar: str | None = None
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Give a command ``--judge`` with this help, and a time limit for a program that judges.

    The command is called with a ``criterion``. Raises SelectionError, when the command is called,
    for an unknown judge.
    """

    def criterion(values: dict[str, Any]) -> Criterion:
        deadline, verbose = values.pop("judge_deadline"), logs.is_verbose()
        program = JudgingProgram(deadline, verbose=verbose, on_output=_show)
        return parse_criterion(values.pop("judge_text"), program)

    judge = click.option(
        "--judge", "judge_text", default=default, show_default=True, metavar=metavar, help=help_text
    )
    deadline = click.option(
        "--judge-deadline",
        type=SECONDS,
        default=round(DEADLINE),
        show_default=True,
        help="Seconds that the program of --judge run=COMMAND may take.",
    )
    return gather_options("criterion", (judge, deadline), criterion)


def _show(message: str) -> None:
    click.echo(message, err=True)


class _CheckCommand(Command):
    """Exits with 125 if there is no answer, for any reason: `git bisect run` skips the commit."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: object,
    ) -> click.Context:
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.ClickException as error:
            error.show()
            sys.exit(CANNOT_TELL)

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except (Stopped, KeyboardInterrupt):
            click.echo("interrupted", err=True)
            sys.exit(INTERRUPTED)  # at 128 and above, `git bisect run` stops, too
        except BrokenPipeError:
            raise
        except Exception as error:
            reason = error if isinstance(error, CompatError) else refusal(error)
            if reason is None:
                traceback.print_exc()
            else:
                click.echo(f"inconclusive: {reason}", err=True)
                if reason.hint:
                    click.echo(f"  hint: {reason.hint}", err=True)
                logs.print_json_of_error(reason, context)
        sys.exit(CANNOT_TELL)


@click.command(cls=_CheckCommand)
@click.argument("words", type=CELL, metavar="[CELL-GLOB|KERNEL]...", nargs=-1)
@selection_options
@executor_option
@judge_options("ok", "The question that decides what is good; see `compat bisect --help`.", "JUDGE")
@compile_options(deadline=None, no_build="Do not build missing envs; count them as inconclusive.")
@answer_options(json_help="Print the judgement and the cells as a JSON object.")
def check(
    *,
    answer: Answer,
    words: tuple[str, ...],
    criterion: Criterion,
    compiling: CompileOptions,
    **values: Unpack[SelectionOptions],
) -> None:
    """Test one commit for `git bisect run`.

    $ git bisect run compat check 'my_kernel/*/sm_90/*'

    CELL-GLOB chooses cells by their ids, as `compat list cells` prints them. A file or a folder
    chooses kernels, as --spec does.

    Exits with 0 if all cells are good, 1 if one is bad, 125 if the answer is inconclusive, and 130
    if interrupted.
    """
    cells, values["files"] = split_cells(words)
    selection = select(**values)
    obtain = compiling.obtaining(selection)
    with compiling.open_context(selection) as context:
        commit_check = judging.check(
            selection, criterion, context, obtain, ProgressListener(), cells=cells
        )
    answer.give(
        lambda: check_answer_lines(commit_check), lambda: check_answer_document(commit_check)
    )
    sys.exit(_EXIT_CODES[commit_check.judgement])
