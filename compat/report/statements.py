"""What the matrix shows, in plain sentences. Every word of them comes from the results, none from what we believe about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from attrs import evolve, frozen

from compat.model import Outcome, Status, Verdict, Word
from compat.report.compact import listed, natural, rectangles, spans
from compat.report.summary import Report
from compat.search.verdict import Coordinate, History, histories, is_good, kind_of

HISTORICAL = "as_written"
"""Variants whose names begin so keep a text as it once was; each is told on its own, and why, even where it works."""


@frozen(kw_only=True)
class Statement:
    """One sentence about variants that share a history, and why it is so in the words of whoever declared it."""

    kernel: str
    variants: tuple[str, ...]
    word: Word
    sentence: str
    """In Markdown: names and classes are code."""
    because: str
    """The declared reasons, or a historical variant's summary; may be empty."""


@frozen(kw_only=True)
class _Story:
    """What a sentence is made of; equal stories are told once."""

    word: Word
    release: str | None
    runs: tuple[tuple[str, tuple[str, ...]], ...]
    """What happened (``ok``, ``unsupported`` or a failure class) → the releases in a row at which it did; known ones only."""
    skipped: tuple[str, ...]
    """Releases from which nothing can be concluded."""
    doubt: tuple[str, ...]
    """Those of them just before the release the word speaks of: each may be the one."""
    cases: tuple[str, ...]
    """Empty for all of them; so below."""
    targets: tuple[str, ...]
    because: str

    @property
    def able(self) -> tuple[str, ...]:
        """The known releases whose toolchain can build for the target at all."""
        return tuple(release for what, releases in self.runs for release in releases if what != Status.UNSUPPORTED)

    @property
    def line(self) -> tuple[str, ...]:
        """Every known release."""
        return tuple(release for _, releases in self.runs for release in releases)


def statements(report: Report) -> tuple[Statement, ...]:
    """The sentences: per kernel, first the historical variants, then what fails somewhere, then what works."""
    told: dict[tuple[str, str, _Story], list[str]] = defaultdict(list)
    for (kernel, variant), story in _stories(report):
        told[kernel, variant if variant.startswith(HISTORICAL) else "", story].append(variant)
    found = (
        Statement(
            kernel=kernel,
            variants=tuple(variants),
            word=story.word,
            sentence=_sentence(kernel, variants, story, _newest(report)),
            because=story.because,
        )
        for (kernel, _, story), variants in told.items()
    )
    return tuple(sorted(found, key=_rank))


# --- stories -------------------------------------------------------------------------------------------------------------


def _stories(report: Report) -> Iterable[tuple[tuple[str, str], _Story]]:
    """Each variant with the stories its cases and targets tell, in the order of the cells."""
    judged = {(v.kernel, v.variant, v.case, v.target): v for v in report.verdicts}
    lines = {(h.kernel, h.variant, h.case, h.target): h for h in histories(report.results)}
    groups: dict[tuple[str, str], dict[_Story, list[Coordinate]]] = defaultdict(lambda: defaultdict(list))
    for coordinate in report.by_coordinate:
        story = _story(report, judged[coordinate], lines[coordinate])
        groups[coordinate[0], coordinate[1]][story].append(coordinate)
    for variant, stories in groups.items():
        every_case, every_target = report.extent[variant]
        for story, coordinates in stories.items():
            for cases, targets in rectangles((case, target) for _, _, case, target in coordinates):
                some_cases = () if cases == every_case else cases
                # Where a toolchain cannot build for a target, the sentence is about that target, and names it.
                some_targets = () if targets == every_target and story.able == story.line else targets
                yield variant, evolve(story, cases=some_cases, targets=some_targets)


def _story(report: Report, verdict: Verdict, history: History) -> _Story:
    runs: list[tuple[str, list[str]]] = []
    skipped: list[str] = []
    pending: list[str] = []
    doubt: tuple[str, ...] = ()
    for point in history.points:
        label = point.release.label
        if point.voice is None:
            pending.append(label)
            continue
        if label == verdict.release:
            doubt = tuple(pending)
        skipped, pending = [*skipped, *pending], []
        what = _what(point.voice)
        if runs and runs[-1][0] == what:
            runs[-1][1].append(label)
        else:
            runs.append((what, [label]))
    return _Story(
        word=verdict.word,
        release=verdict.release,
        runs=tuple((what, tuple(releases)) for what, releases in runs),
        skipped=(*skipped, *pending),
        doubt=doubt,
        cases=(),
        targets=(),
        because=_because(report, history),
    )


def _what(outcome: Outcome) -> str:
    if is_good(outcome):
        return str(Status.OK)
    return str(Status.UNSUPPORTED) if outcome.status is Status.UNSUPPORTED else kind_of(outcome)


def _because(report: Report, history: History) -> str:
    """Why it fails, as declared where it came out as declared; else, of a historical variant, what it is."""
    results = report.by_coordinate[history.kernel, history.variant, history.case, history.target]
    reasons = dict.fromkeys(
        result.expectation.reason.strip()
        for result in results
        if result.expectation
        and result.expected
        and not is_good(result.outcome)
        and result.outcome.status is not Status.UNSUPPORTED
    )
    text = " ".join(reason for reason in reasons if reason)
    if text or not history.variant.startswith(HISTORICAL):
        return text
    return results[0].cell.spec.summary.strip()


def _newest(report: Report) -> str | None:
    """The newest release in the report, forks aside."""
    return next((release.label for release in reversed(report.releases) if not release.fork), None)


# --- sentences -----------------------------------------------------------------------------------------------------------


def _sentence(kernel: str, variants: Sequence[str], story: _Story, newest: str | None) -> str:
    subject = listed([f"`{kernel}/{variant}`" for variant in variants])
    noun = "case" if len(story.cases) == 1 else "cases"
    cases = f" ({noun} {listed([f'`{case}`' for case in story.cases])})" if story.cases else ""
    targets = f" on {listed(story.targets)}" if story.targets else ""
    return f"{subject}{cases} {_predicate(story, targets, newest, many=len(variants) > 1)}{_caveat(story)}."


def _predicate(story: _Story, targets: str, newest: str | None, *, many: bool) -> str:
    """The verdict as a predicate. ``targets`` reads " on sm_90" or nothing."""
    before, release = _before(story), story.release
    match story.word:
        case Word.WORKS:
            return f"{'work' if many else 'works'} on {_extent(story, 'all')}{targets}"
        case Word.NEVER:
            on = targets if story.able == story.line else ""
            return f"never worked on {_extent(story, 'any of the')}{on}: {_failing(story)}{_still(story, newest)}"
        case Word.REGRESSED:
            return f"regressed in {release}{targets} ({before} was good): {_failing(story)}"
        case Word.REMOVED:
            return f"{'work' if many else 'works'} up to {before}{targets}; removed in {release}: {_failing(story)}"
        case Word.FIXED:
            return f"{'were' if many else 'was'} fixed in {release}{targets}; before: {_failing(story)}"
        case Word.NEEDS:
            return f"{'need' if many else 'needs'} Triton {release} or newer{targets}; before: {_failing(story)}"
        case Word.NON_MONOTONIC:
            return f"{'have' if many else 'has'} come and gone{targets}: {_runs(story)}"
        case Word.UNSUPPORTED:
            return f"cannot be built for {listed(story.targets)} by {_extent(story, 'any of the', able=False)}"
        case Word.UNKNOWN:
            return f"could not be tried{targets}"


def _extent(story: _Story, quantity: str, *, able: bool = True) -> str:
    """``all 13 releases tested (3.0.0 to 3.9.0)``; those that cannot build for the target are left out and named."""
    chosen = story.able if able else story.line
    qualified = f"tested that can build for {listed(story.targets)}" if len(chosen) < len(story.line) else "tested"
    if len(chosen) == 1:
        return f"the only release {qualified}, {chosen[0]}"
    return f"{quantity} {len(chosen)} releases {qualified} ({chosen[0]} to {chosen[-1]})"


def _runs(story: _Story, *, failing: bool = False) -> str:
    """``ok 3.0.0–3.1.0, then `x` 3.2.0``."""
    return ", then ".join(
        f"{_named(what)} {spans(releases, story.line)}" for what, releases in story.runs if not (failing and what == Status.OK)
    )


def _named(what: str) -> str:
    """A failure class is a name, and set as one; the others are words."""
    return what if what in (Status.OK, Status.UNSUPPORTED) else f"`{what}`"


def _failing(story: _Story) -> str:
    """The failure classes; with their releases only where there is more than one thing to tell apart."""
    bad = {what for what, _ in story.runs if what != Status.OK}
    if story.word is Word.NEVER:
        bad.discard(str(Status.UNSUPPORTED))
    return _named(bad.pop()) if len(bad) == 1 else _runs(story, failing=True)


def _still(story: _Story, newest: str | None) -> str:
    last = story.able[-1]
    return f", still there in {last}, the newest tested" if last == newest and len(story.able) > 1 else ""


def _before(story: _Story) -> str | None:
    """The known release just before the one the word speaks of."""
    line = story.line
    return line[line.index(story.release) - 1] if story.release in line and line.index(story.release) else None


def _caveat(story: _Story) -> str:
    """What the sentence cannot know."""
    if not story.skipped:
        return ""
    if story.doubt:
        rest = [release for release in story.skipped if release not in story.doubt]
        doubt = f" – or already in {listed(story.doubt, 'or')}, of which nothing certain is known"
        return doubt + (f"; nor of {listed(rest)}" if rest else "")
    return f"; nothing certain is known of {listed(story.skipped)}"


def _rank(statement: Statement) -> tuple[object, ...]:
    historical = statement.variants[0].startswith(HISTORICAL)
    return natural(statement.kernel), not historical, statement.word is Word.WORKS, natural(statement.variants[0])
