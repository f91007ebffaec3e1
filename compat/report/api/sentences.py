"""What every form of the answer says, in plain sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from compat.api.explaining import Outcomes, Verdict
from compat.api.histories import NameHistory, State
from compat.api.needing import Lack
from compat.api.records import Looked
from compat.history.account import Bracket, Entry, Judgement, account
from compat.model import Status
from compat.report.compact import counted, spans

KINDS = {
    "builtin": "built-in",
    "jit": "jit function",
}
"""What kinds are called that a reader may not know."""
_LINES = 6
"""Lines of a source that a sentence names."""


def kind_of(kind: str) -> str:
    """What a reader calls a kind."""
    return KINDS.get(kind, kind)


def phrase(history: NameHistory) -> str:
    """``since 3.4.0``, ``gone in 3.9.0``, ``in every release``: of what was looked at, and never more."""
    judged = {release: _JUDGED[run.value] for run in history.states for release in run.releases}
    found = account(
        (Entry(release=release, judgement=judged.get(release, Judgement.UNKNOWN)) for release in history.line), by_class=False
    )
    if not found.known:
        return "in no release that was looked at" if history.line else f"in {', '.join(name for name, _ in history.forks)}"
    if not found.brackets:
        which = "release" if found.complete else "release that was looked at"
        return f"in every {which}" if found.known[0].good else f"in no {which}"
    return ", ".join(_change(bracket, history) for bracket in found.brackets)


_JUDGED = {State.THERE: Judgement.GOOD, State.REFUSES: Judgement.BAD, State.ABSENT: Judgement.BAD}


def _change(bracket: Bracket, history: NameHistory) -> str:
    if bracket.is_fix:
        return f"since {bracket.after}" if not bracket.between else f"in {bracket.after}, not in {bracket.before}"
    raises = any(run.value is State.REFUSES and bracket.after in run.releases for run in history.states)
    word = "only raises" if raises else "gone"
    return f"{word} in {bracket.after}" if not bracket.between else f"{word} by {bracket.after}, there in {bracket.before}"


def extent(releases: Collection[str], line: Sequence[str]) -> str:
    """``3.4.0–3.9.0``; ``all`` where it is every release that there is."""
    return f"{spans(releases, line)}{' (all)' if len(releases) == len(line) > 1 else ''}"


def in_short(text: str, looked: Looked) -> str:
    """A text with the modules in it as people write them: ``tl.float32``."""
    for short, module in looked.short.items():
        text = text.replace(f"{module}.", f"{short}.")
    return text


def not_looked_at(looked: Looked) -> Iterator[str]:
    """What nothing is said of, and what to do about it."""
    left_out = [place.label for place in looked.places if place.left_out]
    if left_out:
        yield f"not looked at: {spans(left_out, looked.line)}, not among --envs"
    missing = [place.label for place in looked.places if place.missing]
    if missing:
        yield f"not looked at: {spans(missing, looked.line)}, not built: `compat envs build {' '.join(missing)}`"
    for place in looked.places:
        if place.namespace is None and not place.missing and not place.left_out:
            yield f"not looked at: {place.label}: env_broken: {(place.error.strip().splitlines() or [''])[-1]}"


def compiled_line(verdict: Verdict) -> str:
    """``ok in all 4 cases, as its names say``; ``ok in 1 of 4 cases, crashed (mlir-abort) in 2, 1 not compiled``."""
    names = ", as its names say" if verdict.agrees else ""
    cells = counted(verdict.cells, "case" if verdict.by_case else "cell")
    if len(verdict.outcomes) == 1 and verdict.compiled == verdict.cells:
        return f"{_came_out(verdict.outcomes[0])}{f' in all {cells}' if verdict.cells > 1 else ''}{names}"
    said = [f"{_came_out(each)} in {each.results}{'' if at else f' of {cells}'}" for at, each in enumerate(verdict.outcomes)]
    left = verdict.cells - verdict.compiled
    return ", ".join([*said, f"{left} not compiled"] if left else said) + names


def _came_out(outcomes: Outcomes) -> str:
    if outcomes.failure_class is None:
        return str(outcomes.status)
    words = "ok, predicted to fail" if outcomes.status is Status.OK else str(outcomes.status)
    return f"{words} ({outcomes.failure_class})"


def lack_line(lack: Lack) -> str:
    """``tl.load has no parameter 'boundary_check' (lines 232, 233)``."""
    conditions = f", behind a condition in line {_some(lack.conditions)}" if lack.conditions else ""
    outside = "" if lack.functions else ", outside of kernels"
    return f"{lack.shown} {lack.why} (line{'s' if len(lack.lines) > 1 else ''} {_some(lack.lines)}{conditions}{outside})"


def _some(numbers: Iterable[int]) -> str:
    words = list(map(str, numbers))
    return ", ".join([*words[:_LINES], "…"] if len(words) > _LINES else words)
