"""Which constexpr, option or hint a failure needs: change one at a time and see what comes of it.

Every changed specialization is an ordinary cell, so what was tried once is known the next time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from attrs import evolve

from compat import run
from compat.answers import ConfigAnswer, Need
from compat.axes.attempts import fate
from compat.model import Cell, Outcome, Result
from compat.search import knobs
from compat.search.knobs import Change, Fate


def find(cell: Cell, bench: run.Bench, on_tried: Callable[[int], None] = lambda _: None) -> ConfigAnswer:
    """What in a failing cell's specialization the failure needs.

    ``on_tried`` hears how many changes have been tried so far, perhaps from another thread. Raises
    :class:`compat.run.Interrupted` when stopped early.
    """
    (result,) = run.run([cell], _fresh(bench))
    obstacle = _obstacle(result)
    if obstacle is not None:
        return ConfigAnswer(sentence=obstacle)
    changes = knobs.changes(cell.spec)
    fates = _try(cell, changes, result.outcome, bench, on_tried)
    tried = list(zip(changes, fates, strict=True))
    needs = knobs.needs(tried)
    return ConfigAnswer(sentence=_sentence(needs, tried), needs=needs, tried=len(tried))


def _obstacle(result: Result) -> str | None:
    """Why there is nothing to search for, if there is not."""
    outcome = result.outcome
    if outcome.flaky:
        return "It is flaky: the same specialization ends differently each time, so that no change can be tested."
    if not outcome.status.is_answer:
        return f"Nothing is known of it ({outcome.status}), so that no change can be compared with it."
    if outcome.failure is None:
        return "It is ok as it is: there is no failure to search in."
    return None


def _try(cell: Cell, changes: Sequence[Change], failing: Outcome, bench: run.Bench, on_tried: Callable[[int], None]) -> list[Fate]:
    lock = threading.Lock()
    done = 0

    def count(_: Result) -> None:
        nonlocal done
        with lock:
            done += 1
            on_tried(done)

    cells = [evolve(cell, spec=change.spec) for change in changes]
    return [fate(failing, result.outcome) for result in run.run(cells, _fresh(bench), count)]


def _sentence(needs: Sequence[Need], tried: Sequence[tuple[Change, Fate]]) -> str:
    smallest = knobs.smallest(tried)
    if smallest is None:
        fates = [fate for _, fate in tried]
        unknown = fates.count(Fate.UNKNOWN)
        told = f"{fates.count(Fate.SAME)} of {len(fates)} changes fail in the same way"
        rest = f", of {unknown} it cannot be told" if unknown else ""
        return f"No single change of a constexpr, an option or a hint makes it ok: {told}{rest}."
    return f"It is ok {knobs.told(smallest)}. In short: {'; '.join(need.sentence for need in needs)}."


def _fresh(bench: run.Bench) -> run.Bench:
    """The same bench for one more run: a run that ended leaves its ``stop`` set."""
    return evolve(bench, stop=threading.Event())
