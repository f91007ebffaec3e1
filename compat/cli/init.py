"""``compat init``: a project's first files, with kernel files guessed from its sources."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import attrs
import click

from compat.capturing.capturing import capture_program
from compat.capturing.checking import CodeCheck, Options
from compat.capturing.kernels import Configs
from compat.cli.answer import Answer, FilePath, answer_options, relative
from compat.cli.help import Command, add_options
from compat.cli.logs import say, show_task
from compat.cli.selecting import SECONDS, TARGET
from compat.init import InitResult, initialize
from compat.model import DEFAULT_TOOLCHAIN
from compat.report.summary.compact import at_most, cost_words
from compat.report.views.capture import capture_lines
from compat.text import amount, join_words, printable
from compat.workflows import System

_SHOWN = 20
"""The most lines of one kind: files, left-out kernels, guesses."""
_NAMED = 8
"""The most helpers that a line names."""
_SYSTEMS = {
    System.GITHUB: "Also write a workflow for GitHub.",
    System.NIGHTLY: "Also write a workflow for GitHub that tests new releases every night.",
    System.BOARD: "Also write a workflow for GitHub that keeps a board of libraries up to date.",
    System.GITLAB: "Also write a pipeline for GitLab.",
}
"""CI system → the help of its option."""


@click.command(cls=Command)
@click.argument("sources", nargs=-1, metavar="[FILE.py|FOLDER]...")
@partial(
    add_options,
    options=[
        click.option(f"--{system}", "systems", flag_value=system, multiple=True, help=text)
        for system, text in _SYSTEMS.items()
    ],
)
@answer_options(json_help="Print the files that were written, and notes on them, as a JSON object.")
def init(*, answer: Answer, sources: tuple[str, ...], systems: tuple[System, ...]) -> None:
    """Write a matrix.toml, and a kernel file with guessed arguments for each source that has
    kernels.

    $ compat init src/mylib/softmax.py

    Without arguments the command reads all of the current folder. It never imports a source, and
    never changes a file that exists. Run it again after you have added a source.
    """
    with show_task("reading sources"):
        setup = initialize(Path.cwd(), sources, systems)
    answer.give(lambda: map(printable, _lines(setup)), lambda: _document(setup))


def _lines(setup: InitResult) -> Iterator[str]:
    written = setup.written_files.items()
    yield from at_most(
        _SHOWN,
        (f"wrote {relative(path)}: {', '.join(kernels)}" for path, kernels in written if kernels),
    )
    yield from (f"wrote {relative(path)}" for path, kernels in written if not kernels)
    line_by_path = {
        path: f"kept  {relative(path)}, which exists{': ' if why else ''}{why}"
        for path, why in setup.kept_files.items()
    }
    yield from at_most(
        _SHOWN, (line for path, line in line_by_path.items() if path.parent != Path.cwd())
    )
    yield from (line for path, line in line_by_path.items() if path.parent == Path.cwd())
    yield from at_most(_SHOWN, _not_taken(setup))
    yield from _helpers(setup)
    yield from _look_at(setup)
    if any(setup.written_files.values()):
        yield from _first_runs(setup) if setup.first_runs else ["next: compat matrix"]
    elif not setup.written_files:
        yield "all files exist; next: compat matrix"


def _first_runs(setup: InitResult) -> Iterator[str]:
    """The commands of the first runs, each with its cost."""
    for when, run in zip(("next", "then"), setup.first_runs, strict=False):
        command = " ".join(("compat matrix", *run.options))
        size = ", ".join((amount(run.envs, "env"), amount(run.targets, "target")))
        cost = cost_words(run.seconds, run.to_install)
        yield f"{when}: {command}    ({amount(run.cells, 'cell')}: {size}; {cost})"


def _not_taken(setup: InitResult) -> Iterator[str]:
    yield from (f"left out {error}" for error in setup.unparsable.values())
    for path, functions in setup.not_taken.items():
        yield from (
            f"left out {relative(path)}:{function.line} {function.name}: {function.why}"
            for function in functions
        )


def _helpers(setup: InitResult) -> Iterator[str]:
    names = [name for some in setup.helpers.values() for name in some]
    if names:
        yield (
            "left out helpers, which kernels call or which return values:"
            f" {join_words(names, _NAMED)}"
        )


def _look_at(setup: InitResult) -> Iterator[str]:
    if setup.guesses:
        yield (
            f"{setup.guesses:,} types and values are guesses, each marked `# guessed` with its"
            " reason"
        )
    if setup.look_at or setup.unsure:
        yield "check these:"
        guessed = (
            f"{relative(guess.path)} {guess.kernel}: {guess.reason}" for guess in setup.look_at
        )
        yield from (f"  {line}" for line in at_most(_SHOWN, guessed))
        yield from (f"  {relative(path)}: {why}" for path, why in setup.unsure.items())


def _document(setup: InitResult) -> dict[str, object]:
    return {
        "written": {relative(path): list(kernels) for path, kernels in setup.written_files.items()},
        "kept": {relative(path): why for path, why in setup.kept_files.items()},
        "left_out": [
            *(
                {"source": relative(path), "line": None, "name": None, "why": str(error)}
                for path, error in setup.unparsable.items()
            ),
            *(
                {
                    "source": relative(path),
                    "line": function.line,
                    "name": function.name,
                    "why": function.why,
                }
                for path, functions in setup.not_taken.items()
                for function in functions
            ),
            *(
                {"source": relative(path), "line": None, "name": name, "why": why}
                for path, reasons in setup.helpers.items()
                for name, why in reasons.items()
            ),
        ],
        "guesses": setup.guesses,
        "look_at": [
            *(
                {"file": relative(guess.path), "kernel": guess.kernel, "reason": guess.reason}
                for guess in setup.look_at
            ),
            *(
                {"file": relative(path), "kernel": None, "reason": why}
                for path, why in setup.unsure.items()
            ),
        ],
        "cases": setup.cases,
        "first_runs": list(map(attrs.asdict, setup.first_runs)),
    }


_EVERY = 30.0
"""Seconds between two progress lines: the program's own output goes to the same terminal."""


@click.command(cls=Command, context_settings={"allow_interspersed_args": False})
@click.argument(
    "command_line",
    nargs=-1,
    type=click.UNPROCESSED,
    required=True,
    metavar="-- PROGRAM [ARGUMENT]...",
)
@click.option(
    "--python",
    "interpreter",
    metavar="PATH",
    help="The Python of the program's environment.  [default: resolved from PROGRAM]",
)
@click.option(
    "--toolchain",
    metavar="NAME",
    default=DEFAULT_TOOLCHAIN,
    show_default=True,
    help="The toolchain whose launches to capture.",
)
@click.option(
    "--target",
    type=TARGET,
    metavar="TARGET|GPU",
    help="The GPU that the stand-in pretends to be.  [default: sm_90]",
)
@click.option(
    "--output",
    type=FilePath(file_okay=False),
    default="captured",
    show_default=True,
    help="Folder for the kernel files.",
)
@click.option(
    "--configs",
    type=click.Choice([str(config) for config in Configs]),
    default="all",
    show_default=True,
    help="The configurations of an autotuner that become cases.",
)
@click.option(
    "--live",
    is_flag=True,
    help="Refer to kernels in their library instead of copying them into bundles.",
)
@click.option("--with-values", is_flag=True, help="Keep the values of floating-point arguments.")
@click.option(
    "--problems",
    is_flag=True,
    help=(
        "Also write the shapes, strides and small integer tensors of each launch, to repeat the"
        " launch later."
    ),
)
@click.option(
    "--no-gpu", is_flag=True, help="Use the stand-in of --target even if this machine has a GPU."
)
@click.option(
    "--check",
    type=click.Choice([str(check) for check in CodeCheck]),
    default="kernels",
    show_default=True,
    help=(
        "Compare compiled code with the program's own: not at all, for one case of each kernel, or"
        " for all cases."
    ),
)
@click.option(
    "--timeout",
    type=SECONDS,
    help="End the program after this many seconds and keep the launches recorded so far.",
)
@answer_options(
    file=False, json_help="Print the index as a JSON object after the program's own output."
)
def capture(
    *,
    answer: Answer,
    command_line: tuple[str, ...],
    interpreter: str | None,
    toolchain: str,
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
    """Run a program and write a kernel file for each kernel that it launches.

    $ compat capture -- pytest tests/

    PROGRAM is a command (pytest tests/), a script (train.py) or a module (-m module). It runs in
    its own environment, which does not need this package. Without a GPU the program gets a stand-in
    for one: kernels do not run, numbers are meaningless, and comparisons such as torch.allclose
    return True. With a GPU the program runs as always, and the command records its launches.

    Exits with the program's own exit code, and with 124 after --timeout.
    """
    options = Options(
        toolchain=toolchain,
        output=output,
        target=target,
        configs=Configs(configs),
        live=live,
        with_values=with_values,
        problems=problems,
        check=CodeCheck(check),
        fake=True if no_gpu else None,
    )
    captured = capture_program(
        command_line,
        options,
        python=interpreter,
        timeout=timeout,
        on_progress=_CaptureProgress(),
        on_check=_tell_check,
    )
    answer.give(
        lambda: map(printable, capture_lines(captured, relative(output))), lambda: captured.document
    )
    assert captured.program_end is not None
    sys.exit(124 if captured.program_end.timed_out else captured.program_end.exit_code)


class _CaptureProgress:
    """Prints the progress of the program, at most once in :data:`_EVERY` seconds."""

    def __init__(self) -> None:
        self._printed_after = 0.0

    def __call__(self, progress: object, seconds: float) -> None:
        if seconds - self._printed_after >= _EVERY:
            self._printed_after = seconds
            say(f"compat capture: {progress}, {seconds:.0f} s")


def _tell_check(kernels: int) -> None:
    if kernels:
        say(
            f"compat capture: comparing the code of {amount(kernels, 'kernel')} with the"
            " program's own"
        )
