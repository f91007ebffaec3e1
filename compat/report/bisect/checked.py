"""What became of cells that were checked, a line each."""

from __future__ import annotations

from collections.abc import Iterator

from compat.bisect.checking import Checked
from compat.bisect.measured import result_words
from compat.cell_document import JsonObject, cell_document
from compat.history.account import Judgement
from compat.report.compact import one_line


def checked_document(found: Checked) -> JsonObject:
    """The judgement of all together, and each cell as in ``matrix.json`` with its own."""
    cells = [{**cell_document(result), "judgement": str(judgement)} for result, judgement in found.answers]
    return {"judgement": str(found.judgement), "cells": cells}


def checked_lines(found: Checked) -> Iterator[str]:
    """``good: kernel/variant/case/target/env ok``; of one that failed, its class and what says most."""
    for result, judgement in found.answers:
        failure = result.outcome.failure
        why = f": {failure.failure_class}: {one_line(failure.excerpt)}" if failure else ""
        flaky = " (flaky)" if result.outcome.flaky else ""
        word = "inconclusive" if judgement is Judgement.UNKNOWN else str(judgement)
        ran = f", {result_words(result)}" if result.numbers.checks or result.latency else ""
        yield f"{word}: {result.cell.id} {result.outcome.status}{flaky}{why}{ran}"
