"""``compat api``: which names a toolchain has, since when, and with which parameters."""

from __future__ import annotations

from typing import Unpack

import click

from compat.api.comparing import compare, place_of, steps
from compat.api.histories import history
from compat.api.inspection import look
from compat.api.records import Inspection, NameMatches, find
from compat.api.source_needs import NamedSource, find_source, read_source
from compat.cli.answer import Answer, answer_options
from compat.cli.help import Command
from compat.cli.progress import ProgressListener
from compat.cli.resources import open_project_store
from compat.cli.selecting import PlaceOptions, place_options, select_places
from compat.project import Selection
from compat.report.views.api import (
    difference_blocks,
    difference_document,
    kernels_blocks,
    kernels_document,
    names_blocks,
    names_document,
    steps_blocks,
    steps_document,
)


@click.command(cls=Command)
@click.argument("names", metavar="[NAME|GLOB]...", nargs=-1)
@click.option("--diff", nargs=2, metavar="OLD NEW", help="Show what differs between two releases.")
@click.option(
    "--of",
    "source",
    metavar="SOURCE",
    help=(
        "Show the names that a kernel uses: a.py, a.py::kernel, a kernel file, or a kernel's name."
    ),
)
@click.option(
    "--compile", "compiling", is_flag=True, help="With --of: also compile the kernel, and compare."
)
@click.option(
    "--all", "internal", is_flag=True, help="Also show names that are not meant for users."
)
@place_options
@answer_options(json_help="Print the answer as JSON.")
def api(
    *,
    answer: Answer,
    names: tuple[str, ...],
    diff: tuple[str, str] | None,
    source: str | None,
    compiling: bool,
    internal: bool,
    **values: Unpack[PlaceOptions],
) -> None:
    """Show in which releases names such as tl.dot exist, with which parameters, and whether they
    are deprecated.

    $ compat api tl.make_tensor_descriptor

    The command reads the names of every env that is built. It builds and compiles nothing. Without
    NAME it shows how many names each release added, removed and changed.
    """
    if (source and (names or diff)) or (compiling and not source):
        raise click.UsageError(
            "--of cannot be combined with names or --diff, and --compile needs --of."
        )
    selection = select_places(**values)
    meant = find_source(selection, source) if source else None
    inspection = look(selection, ProgressListener())
    if meant:
        _tell_source(answer, inspection, meant, compiling=compiling)
    elif diff:
        _tell_difference(
            answer,
            inspection,
            diff,
            find(inspection, names, internal=internal) if names else None,
            internal=internal,
        )
    elif names:
        _tell_names(answer, inspection, find(inspection, names, internal=internal))
    else:
        counted = steps(inspection)
        answer.draw(
            lambda: steps_blocks(inspection, counted), lambda: steps_document(inspection, counted)
        )


def _tell_names(answer: Answer, inspection: Inspection, matches: NameMatches) -> None:
    histories = [history(inspection, full) for full in matches.names]
    answer.draw(
        lambda: names_blocks(inspection, histories, matches),
        lambda: names_document(inspection, histories),
    )


def _tell_difference(
    answer: Answer,
    inspection: Inspection,
    releases: tuple[str, str],
    matches: NameMatches | None,
    *,
    internal: bool,
) -> None:
    old, new = (place_of(inspection, word) for word in releases)
    difference = compare(
        inspection,
        old,
        new,
        (lambda full: full in matches.names) if matches else (lambda full: True),
    )
    answer.draw(
        lambda: difference_blocks(inspection, difference, internal=internal or matches is not None),
        lambda: difference_document(inspection, difference),
    )


def _tell_source(
    answer: Answer, inspection: Inspection, source: NamedSource, *, compiling: bool
) -> None:
    selection: Selection = source.selection
    with open_project_store(selection, only_read=not compiling) as store:
        kernels = read_source(
            source,
            inspection,
            selection.context(store),
            compiling=compiling,
            listener=ProgressListener(),
        )
    notes = [f"not compiled: {source.obstacle}"] if source.obstacle else []
    answer.draw(
        lambda: kernels_blocks(inspection, kernels, notes),
        lambda: kernels_document(inspection, kernels),
    )
