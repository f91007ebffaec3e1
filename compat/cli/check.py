"""``compat check``: a question that ``git bisect run`` can ask of every commit."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import click

from compat.cli.judging import read_judge
from compat.cli.obtaining import Obtainer
from compat.cli.selecting import select, selection_options
from compat.config.selection import nothing_matches
from compat.errors import CompatError
from compat.model import Result
from compat.report.compact import one_line
from compat.run import Interrupted, run
from compat.search.bisect import Judgement
from compat.search.judge import Judge
from compat.store import Store

GOOD, BAD, CANNOT_TELL = 0, 1, 125
"""What ``git bisect run`` understands; it takes other codes up to 127 for bad, and stops at 128 and above."""


class _Checked(click.Command):
    """Answers with 125 wherever there is no answer, whatever went wrong: a commit must not be blamed for a misspelt option."""

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
            click.echo(f"cannot tell: {error}", err=True)
            if error.hint:
                click.echo(f"  hint: {error.hint}", err=True)
        except (Interrupted, KeyboardInterrupt):
            click.echo("cannot tell: interrupted", err=True)
        except Exception:
            traceback.print_exc()
        sys.exit(CANNOT_TELL)


@click.command(cls=_Checked)
@click.argument("cells", metavar="[CELL-GLOB]", default="*")
@selection_options
@click.option("--judge", "judge_text", default="ok", show_default=True, metavar="JUDGE", help="What is good, as in compat bisect.")
@click.option("--deadline", type=click.FloatRange(min=0, min_open=True), help="Seconds one cell may take.")
@click.option("--no-build", is_flag=True, help="Do not build envs that are missing; they cannot be told then.")
def check(*, cells: str, judge_text: str, deadline: float | None, no_build: bool, **chosen: Any) -> None:
    """Exit with 0 where all cells are good, 1 where one is bad, 125 where that cannot be told: for `git bisect run`.

    CELL-GLOB narrows the chosen cells by their ids, as `compat list cells` prints them. Never exits with 128 or more.
    """
    judge = read_judge(judge_text)
    selection = select(**chosen)
    wanted = [cell for cell in selection.cells if fnmatchcase(cell.id, cells)]
    if not wanted:
        raise nothing_matches("cell", cells, [cell.id for cell in selection.cells])
    obtain = Obtainer(root=selection.root, matrix=selection.config.path, build=not no_build)
    obtain(list({cell.env.name: cell.env for cell in wanted}.values()))
    with Store(selection.state) as store:
        results = run(wanted, selection.bench(store, obtain.envs, deadline=deadline))
    sys.exit(_told(results, judge))


def _told(results: Sequence[Result], judge: Judge) -> int:
    """Says what became of each cell, and returns the exit code of all: a bad one decides, then one that cannot be told."""
    judgements = []
    for result in results:
        judgement = judge(result)
        judgements.append(judgement)
        failure = result.outcome.failure
        why = f": {failure.kind}: {one_line(failure.excerpt)}" if failure else ""
        flaky = " (flaky)" if result.outcome.flaky else ""
        word = "cannot tell" if judgement is Judgement.UNKNOWN else str(judgement)
        click.echo(f"{word}: {result.cell.id} {result.outcome.status}{flaky}{why}")
    if Judgement.BAD in judgements:
        return BAD
    return CANNOT_TELL if Judgement.UNKNOWN in judgements else GOOD
