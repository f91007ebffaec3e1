"""``compat capture``: the kernels that a program launches, as kernel files."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from compat.capturing.capturing import capture_program
from compat.capturing.kernels import Configs
from compat.capturing.settings import CodeCheck, Options
from compat.cli.answer import Answer, answer_options
from compat.cli.completing import TARGET
from compat.cli.invocation import relative
from compat.cli.selecting import SECONDS
from compat.cli.showing import say
from compat.report.views.capture import capture_lines
from compat.text import printable

_EVERY = 30.0
"""Seconds between two lines about a program that runs: its own output goes to the same terminal."""


@click.command(
    context_settings={"allow_interspersed_args": False},
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, required=True, metavar="-- PROGRAM [ARGUMENT]...")
@click.option("--python", metavar="PATH", help="The Python of the program's environment (default: what its words lead to).")
@click.option("--target", type=TARGET, metavar="TARGET|GPU", help="The GPU that it is made to believe in [sm_90].")
@click.option(
    "--output", type=click.Path(path_type=Path, file_okay=False), default="captured", show_default=True, help="Folder to write."
)
@click.option(
    "--configs",
    type=click.Choice([str(config) for config in Configs]),
    default="all",
    show_default=True,
    help="Which configurations of an autotuner become cases.",
)
@click.option("--live", is_flag=True, help="Name kernels where they are written, in their library, in the place of bundles.")
@click.option("--with-values", is_flag=True, help="Keep floating-point arguments as they were passed.")
@click.option(
    "--problems",
    is_flag=True,
    help="Also write shapes, strides and small whole-number tensors of each launch, so that it can be run again.",
)
@click.option("--no-gpu", is_flag=True, help="Make the program believe in the GPU of --target even where there is one.")
@click.option(
    "--check",
    type=click.Choice([str(each) for each in CodeCheck]),
    default="kernels",
    show_default=True,
    help="Compare the code of one case of each kernel with the program's own, of all cases, or of nothing.",
)
@click.option("--timeout", type=SECONDS, help="End the program after this many seconds, and keep what it launched by then.")
@answer_options(file=False, json_help="The index as a JSON object, after what the program prints.")
def capture(
    *,
    answer: Answer,
    words: tuple[str, ...],
    python: str | None,
    target: str | None,
    output: Path,
    configs: str,
    live: bool,
    with_values: bool,
    problems: bool,
    no_gpu: bool,
    check: str,
    timeout: float | None,
) -> None:
    """Run a program as it is, and write a kernel file for each Triton kernel that it launches.

    PROGRAM is a command (pytest tests/), a script (train.py) or a module (-m module), run in its own environment, where this
    package need not be installed. Without a GPU it is made to believe in one, and nothing runs on it: numbers mean nothing,
    comparisons such as torch.allclose say yes. With one it runs as always, and is recorded beside.

    Exits with the program's own exit code, and with 124 after --timeout.
    """
    options = Options(
        output=output,
        target=target,
        configs=Configs(configs),
        live=live,
        with_values=with_values,
        problems=problems,
        check=CodeCheck(check),
        fake=True if no_gpu else None,
    )
    found = capture_program(words, options, python=python, timeout=timeout, on_progress=_CaptureProgress(), on_check=_tell_check)
    answer.give(lambda: map(printable, capture_lines(found, relative(output))), lambda: found.document)
    assert found.ended is not None
    sys.exit(124 if found.ended.timed_out else found.ended.exit_code)


class _CaptureProgress:
    """Says now and then how far the program is."""

    def __init__(self) -> None:
        self._said = 0.0

    def __call__(self, progress: object, seconds: float) -> None:
        if seconds - self._said >= _EVERY:
            self._said = seconds
            say(f"compat capture: {progress}, {seconds:.0f} s")


def _tell_check(kernels: int) -> None:
    if kernels:
        say(f"compat capture: comparing the code of {kernels:,} kernel{'' if kernels == 1 else 's'} with the program's own")
