"""What is known where a search was interrupted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from compat.history.verdict import class_of, release_of
from compat.model import Result


def so_far_lines(results: Iterable[Result]) -> Iterator[str]:
    """A line for each kernel, case and target: what came of it on the releases that were tried, oldest first; no conclusion."""
    found: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        spec = result.cell.spec
        found[f"{spec.kernel}/{spec.variant} ({spec.case}, {result.cell.target.name})"].append(result)
    for subject, tried in found.items():
        yield f"{subject}, so far: {_outcomes(tried)}"


def _outcomes(tried: Iterable[Result]) -> str:
    """``ok on 3.0.0, 3.1.0, 3.9.0; shape-mismatch on 3.8.0``: one by one, since between them nothing may have been tried."""
    outcomes: dict[str, dict[str, None]] = defaultdict(dict)
    for result in sorted(tried, key=lambda result: release_of(result.built).order):
        outcomes[class_of(result.outcome)][release_of(result.built).label] = None
    return "; ".join(f"{outcome} on {', '.join(releases)}" for outcome, releases in outcomes.items())
