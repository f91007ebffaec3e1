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
from compat.execution.run import Interrupted
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

    def found(self, answer: Any) -> None:
        if self._axis is Axis.RELEASES:
            self._tell_release(answer)
        elif not self._answer.as_json:
            from compat.report.bisect.inside import cell_answer_lines

            name, (first, *details) = answer.cell.id, cell_answer_lines(answer, self._axis, self._options)
            self._answer.follow(lambda: (click.style(name, bold=True) + first.removeprefix(name), *details), list)

    def _tell_release(self, answer: Any) -> None:
        if self._several:
            from compat.report.bisect import Group
            from compat.report.bisect.sentences import headline

            say(f"{Group(answers=(answer,)).subject}: {headline(answer)}")

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Show on Ctrl-C what is known of releases by then, and say that finished probes are kept."""
        try:
            yield
        except (Stopped, KeyboardInterrupt) as interrupted:
            from compat.report.bisect.so_far import so_far_lines

            done = "finished probes are kept"
            if isinstance(interrupted, Interrupted):
                done = f"{interrupted.done:,} of {interrupted.total:,} probes of this run are done and kept"
            lines = [*so_far_lines(self.results)] if self._axis is Axis.RELEASES and not self._answer.as_json else []
            if lines:
                self._answer.give(lambda: lines, list)
            click.echo(f"interrupted: {done}; the same command continues from there", err=True)
            sys.exit(INTERRUPTED)
