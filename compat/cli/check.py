"""``compat check``: a question that ``git bisect run`` can ask of every commit."""

from __future__ import annotations

import sys
import traceback
from typing import Any

import click

from compat.bisect import judging
from compat.cli.answer import Answer, answer_options
from compat.cli.completing import CELL
from compat.cli.invocation import INTERRUPTED
from compat.cli.judging import judge_options, read_criterion
from compat.cli.opening import executor_option, obtaining, opened
from compat.cli.progress import ProgressListener
from compat.cli.selecting import SECONDS, select, selection_options, split_cells
from compat.errors import CompatError
from compat.history.account import Judgement
from compat.interruption import Stopped
from compat.report.views.bisect import checked_document, checked_lines

GOOD, BAD, CANNOT_TELL = 0, 1, 125
"""What ``git bisect run`` understands; it takes other codes up to 127 for bad, and stops at 128 and above."""
_EXIT_CODES = {Judgement.GOOD: GOOD, Judgement.BAD: BAD, Judgement.UNKNOWN: CANNOT_TELL}


class _Checked(click.Command):
    """Answers with 125 wherever there is no answer, whatever went wrong: so that `git bisect run` skips the commit."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.ClickException as error:
            error.show()
            sys.exit(CANNOT_TELL)

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except CompatError as error:
            click.echo(f"inconclusive: {error}", err=True)
            if error.hint:
                click.echo(f"  hint: {error.hint}", err=True)
        except (Stopped, KeyboardInterrupt):
            click.echo("interrupted", err=True)
            sys.exit(INTERRUPTED)  # at 128 and above, `git bisect run` stops, too
        except Exception:
            traceback.print_exc()
        sys.exit(CANNOT_TELL)


@click.command(cls=_Checked)
@click.argument("words", type=CELL, metavar="[CELL-GLOB|KERNEL]...", nargs=-1)
@selection_options
@executor_option
@click.option(
    "--judge", "judge_text", default="ok", show_default=True, metavar="JUDGE", help="What counts as good, as in compat bisect."
)
@judge_options
@click.option("--deadline", type=SECONDS, help="Seconds one cell may take.")
@click.option("--no-build", is_flag=True, help="Do not build missing envs; they count as inconclusive.")
@answer_options(json_help="The judgement and the cells as a JSON object.")
def check(
    *,
    answer: Answer,
    words: tuple[str, ...],
    judge_text: str,
    deadline: float | None,
    no_build: bool,
    executor: str | None,
    **chosen: Any,
) -> None:
    """Exit with 0 if all cells are good, 1 if one is bad, 125 if the answer is inconclusive: for `git bisect run`.

    CELL-GLOB narrows the chosen cells by their ids, as `compat list cells` prints them; a file or a folder names kernels, as --spec
    does. Exits with 130 if interrupted.
    """
    criterion = read_criterion(judge_text)
    cells, files = split_cells(words)
    selection = select(files=files, **chosen)
    obtain = obtaining(selection, build=not no_build)
    with opened(selection, executor) as (store, where):
        found = judging.check(
            selection,
            criterion,
            selection.context(store, deadline=deadline, executor=where),
            obtain,
            ProgressListener(),
            cells=cells,
        )
    answer.give(lambda: checked_lines(found), lambda: checked_document(found))
    sys.exit(_EXIT_CODES[found.judgement])
