"""``compat guard``: writes a file with which a library chooses a variant at run time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from compat.cli.answer import Answer, FilePath, answer_options, relative, write_file
from compat.cli.help import Command
from compat.errors import StoreError
from compat.guard import Request, check_guard, guard_text, make_guard, read_configs, read_guard
from compat.guard.checking import (
    guard_check_document,
    guard_check_lines,
    guard_document,
    guard_lines,
    writing_line,
)
from compat.report.folder import read_report
from compat.report.summary.statements import guesses
from compat.text import printable, split_at_commas

_PATH = FilePath(dir_okay=False)
_GLOBS = {
    "kernel": "Kernels, such as 'sel_*'.  [default: all]",
    "variant": "Variants to choose from.  [default: all]",
    "case": "Cases that have to work.  [default: all]",
}


def _globs(command: Callable[..., object]) -> Callable[..., object]:
    for name, text in reversed(_GLOBS.items()):
        command = click.option(f"--{name}", f"{name}s", multiple=True, metavar="GLOB", help=text)(
            command
        )
    return command


@click.command(cls=Command)
@click.argument("name", metavar="[FILE]", default="reports/matrix.json")
@_globs
@click.option(
    "--prefer",
    multiple=True,
    metavar="VARIANT,...",
    help="Variants in order of preference.  [default: as declared]",
)
@click.option(
    "--policy",
    type=click.Choice(("pessimistic", "optimistic")),
    help=(
        "How to treat a release, fork or GPU that was not tested: as not working, or as its"
        " neighbours.  [default: pessimistic]"
    ),
)
@click.option(
    "--tuned",
    type=FilePath(dir_okay=False, exists=True),
    help="The JSON of `compat tune`, for a guard that also has the best configs.",
)
@click.option(
    "--out",
    type=_PATH,
    metavar="FILE.py",
    help="Write the guard to this file instead of printing it.",
)
@click.option(
    "--check", type=_PATH, metavar="FILE.py", help="Compare this guard with the report instead."
)
@answer_options(
    file=False, json_help="Print the facts, or the result of --check, as a JSON object."
)
def guard(
    *,
    answer: Answer,
    name: str,
    tuned: Path | None,
    out: Path | None,
    check: Path | None,
    **request_fields: Any,
) -> None:
    """Write a small Python file that tells a library which variant of a kernel to launch.

    $ compat guard --kernel sel_dense --out mylib/_triton_guard.py

    FILE is a report of `compat matrix`, by default reports/matrix.json. In the library,
    `best_variant("sel_dense")` returns the first variant of --prefer that works with the installed
    Triton on the present GPU, or None. With --tuned, `best_config("sel_dense", "loop_1d", "d64")`
    returns the fastest config. The file has no dependencies.

    --check writes nothing. It exits with 0 if the guard agrees with the report, and with 1 if it
    does not.
    """
    if check:
        _refuse_others(out=out, tuned=tuned, **request_fields)
        _check(answer, check, name)
    request = Request(
        **{
            **request_fields,
            "prefer": split_at_commas(request_fields["prefer"]),
            "policy": request_fields["policy"] or "",
        }
    )
    report = read_report(name)
    library_guard = make_guard(report, request, read_configs(tuned) if tuned else None)
    if note := guesses(spec for spec in report.specs if spec.kernel in library_guard.facts.kernels):
        click.echo(printable(f"note: {note}"), err=True)
    if out is None:
        answer.give(
            lambda: [guard_text(library_guard).rstrip("\n")], lambda: guard_document(library_guard)
        )
        return
    _keep_others(out)
    write_file(out, guard_text(library_guard), "--out")
    answer.give(lambda: guard_lines(library_guard), lambda: guard_document(library_guard))
    answer.add(writing_line(library_guard, relative(out)))


def _check(answer: Answer, path: Path, name: str) -> None:
    checked = check_guard(_text(path), read_report(name), where=str(path))
    answer.give(
        lambda: map(printable, guard_check_lines(checked, relative(path), name)),
        lambda: guard_check_document(checked),
    )
    sys.exit(0 if checked.agrees else 1)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        hint = "Write a guard with `compat guard --out FILE.py`."
        raise StoreError(
            f"cannot be read: {getattr(error, 'strerror', None) or error}",
            where=str(path),
            hint=hint,
        ) from error


def _keep_others(path: Path) -> None:
    """Refuse to overwrite a file that is not a guard. Raises StoreError."""
    if path.exists():
        try:
            read_guard(_text(path), str(path))
        except StoreError as error:
            raise StoreError(
                "this file is not a guard, so it was not changed",
                where=str(path),
                hint="Give another name with --out.",
            ) from error


def _refuse_others(**options: object) -> None:
    """Raise UsageError for options of a new guard: ``--check`` uses those of the checked guard."""
    for name, value in options.items():
        if value:
            option = f"--{name.removesuffix('s')}"
            raise click.UsageError(
                f"{option} cannot be combined with --check: a guard records how it was made."
            )
