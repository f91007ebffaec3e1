"""How far a bisect is, the answers as they are known, and what is known where it is interrupted."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from compat.bisect.request import Axis
from compat.cli.answer import Answer
from compat.cli.invocation import INTERRUPTED
from compat.cli.progress import ProgressListener
from compat.cli.showing import say
from compat.engine.run import Interrupted
from compat.interruption import Stopped


class BisectProgress(ProgressListener):
    """Tells of each answer at once, also where all of them are told together at the end.

    Of a cell that was looked into the whole answer goes to standard output. Of a kernel on all releases a sentence goes to standard
    error: the answer says once what several kernels have in common.
    """

    def __init__(self, axis: Axis, options: tuple[str, ...], answer: Answer, *, several: bool) -> None:
        """``options`` are those that finding an answer again needs; ``several`` answers are to be found."""
        super().__init__()
        self._axis, self._options, self._answer, self._several = axis, options, answer, several
        self._cells: list[Any] = []

    def found(self, answer: Any) -> None:
        if self._axis is Axis.RELEASES:
            self._tell_release(answer)
            return
        self._cells.append(answer)
        if not self._answer.as_json:
            from compat.report.views.bisect import cell_answer_lines

            name, (first, *details) = answer.cell.id, cell_answer_lines(answer, self._axis, self._options)
            self._answer.follow(lambda: (click.style(name, bold=True) + first.removeprefix(name), *details), list)

    def _tell_release(self, answer: Any) -> None:
        if self._several:
            from compat.report.views.bisect import AnswerGroup
            from compat.report.views.bisect_sentences import headline

            say(f"{AnswerGroup(answers=(answer,)).subject}: {headline(answer)}")

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Give on Ctrl-C what is known by then and was not told yet, and say that finished probes are kept."""
        try:
            yield
        except (Stopped, KeyboardInterrupt) as interrupted:
            done = "finished probes are kept"
            if isinstance(interrupted, Interrupted):
                done = f"{interrupted.done:,} of {interrupted.total:,} probes of this run are done and kept"
            self._give_rest()
            click.echo(f"interrupted: {done}; the same command continues from there", err=True)
            sys.exit(INTERRUPTED)

    def _give_rest(self) -> None:
        from compat.report.views.bisect import cell_answer_document, so_far_lines

        if self._answer.as_json and self._cells:
            self._answer.give(list, lambda: [cell_answer_document(cell, self._axis, self._options) for cell in self._cells])
        elif self._axis is Axis.RELEASES and not self._answer.as_json and (lines := [*so_far_lines(self.results)]):
            self._answer.give(lambda: lines, list)
