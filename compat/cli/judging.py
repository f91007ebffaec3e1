"""The option ``--judge``, and what goes with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from compat.bisect.criterion import Criterion, parse_criterion
from compat.bisect.judging import DEADLINE, JudgingProgram
from compat.cli import logs

_Command = TypeVar("_Command", bound=Callable[..., Any])

_DEADLINE = "compat.judge_deadline"


def judge_options(command: _Command) -> _Command:
    """Adds what a judge that runs a program may be told; :func:`read_criterion` reads it."""
    return click.option(
        "--judge-deadline",
        type=click.FloatRange(min=0, min_open=True),
        default=DEADLINE,
        show_default=True,
        expose_value=False,
        callback=_remember,
        help="Seconds that the program of --judge run=COMMAND may take.",
    )(command)


def _remember(context: click.Context, _: click.Parameter, seconds: float) -> None:
    context.meta[_DEADLINE] = seconds


def read_criterion(text: str) -> Criterion:
    """The criterion that a judge of that text is. Raises SelectionError for one that there is not."""
    context = click.get_current_context(silent=True)
    told = context.meta if context else {}
    program = JudgingProgram(told.get(_DEADLINE, DEADLINE), verbose=logs.is_verbose(), on_output=_show)
    return parse_criterion(text, program)


def judge_words(text: str, usual: str) -> tuple[str, ...]:
    """The options that ask the same judge again, where that is not the ``usual`` one."""
    return (*(() if text == usual else ("--judge", text)), *judge_deadline_words())


def judge_deadline_words() -> tuple[str, ...]:
    """The option that gives the judge's program as long again, where that is not the usual time."""
    seconds = click.get_current_context().meta.get(_DEADLINE, DEADLINE)
    return () if seconds == DEADLINE else ("--judge-deadline", f"{seconds:g}")


def _show(words: str) -> None:
    click.echo(words, err=True)
