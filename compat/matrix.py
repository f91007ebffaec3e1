"""The matrix: every chosen cell compiled, and the report on all of them.

In: a :class:`compat.project.Selection`. Out: a :class:`compat.report.Report`, from which every form of the report is drawn.
"""

from __future__ import annotations

import time
from pathlib import Path

from compat.bisect import known
from compat.errors import SelectionError, StoreError
from compat.execution.run import RunContext, run
from compat.files import replace_file
from compat.history.verdict import verdicts
from compat.project import Listener, Obtain, Selection, with_envs
from compat.report.formats import FORMATS
from compat.report.summary import Report


def run_matrix(
    selection: Selection,
    context: RunContext,
    obtain: Obtain | None = None,
    listener: Listener | None = None,
    *,
    command: str = "compat matrix",
) -> Report:
    """Compile every cell of a selection, as far as it is not known, and report on all releases together.

    ``context`` needs no envs: they are asked of ``obtain``, which may build them; without it, those are used that are there, and
    one that is not is part of the report. What earlier runs found on other releases counts for the verdicts. ``listener`` hears
    of each result, and ``command`` is what the report says that it was made by.

    Raises SelectionError where there is no cell, :class:`compat.execution.run.Interrupted` when stopped early, StoreError when
    results cannot be kept, and MachineError when the machine refuses what compiling needs; what was finished is kept.
    """
    if not selection.cells:
        hint = "`compat list kernels` says which toolchain each kernel is for."
        raise SelectionError("none of the chosen envs and targets is for the toolchain of a chosen kernel", hint=hint)
    began = time.monotonic()
    envs = tuple((obtain or selection.read_envs)(selection.config.path, selection.envs))
    context, existing, cells = with_envs(context, envs), known.existing_releases(selection.config), selection.cells
    with (listener or Listener()).compiling(len(cells)) as note:
        results = run(cells, context, note)
    remembered = known.recall(selection.kernels, context, selection.config, besides=envs)
    return Report(
        results=results,
        verdicts=verdicts(results, remembered=remembered, existing=existing),
        existing=existing,
        envs=envs,
        command=command,
        seconds=time.monotonic() - began,
    )


def write_reports(report: Report, folder: Path) -> tuple[Path, ...]:
    """Write the report in every form, each file whole or not at all. Raises StoreError where the folder will not have them."""
    texts = {name: text_of(report) for name, text_of in FORMATS.items()}
    try:
        for name, text in texts.items():
            replace_file(folder / name, text)
    except OSError as error:
        raise StoreError(
            f"the report could not be written: {error}",
            where=str(folder),
            hint="All results are kept: run the same command with another --output; nothing is compiled again.",
        ) from error
    return tuple(folder / name for name in texts)
