"""The matrix in plain sentences, all derived from the results, with notes on their basis."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from attrs import evolve, frozen

from compat.config.libraries import MissingKernel
from compat.history.account import Bracket, Entry, Run, Word, is_good, runs, spans
from compat.history.running import INTERPRETER, ran_on
from compat.history.verdict import Coordinate, Verdict
from compat.model import Result, Specialization, StandInPackages, Status
from compat.model.cell import leaf_types
from compat.model.codec import record_of
from compat.report.summary.compact import (
    NAMED_CASES,
    counted_releases,
    earlier_runs,
    natural,
    one_line,
    open_between,
    rectangles,
    unknown,
)
from compat.report.summary.record import Report
from compat.text import amount, group_by_key, join_words

HISTORICAL = "as_written"
"""The prefix of historical variants, which preserve the text of a kernel. Each gets its own
sentence with the reason, even if it works.
"""


@frozen(kw_only=True)
class HistoryStatement:
    """One sentence about variants that share a history, and the declared reason.

    The reason is quoted from the declaration.
    """

    kernel: str
    variants: tuple[str, ...]
    word: Word
    sentence: str
    """In Markdown: names and classes are code."""
    because: str
    """The declared reasons, or a historical variant's summary; may be empty."""


@frozen(kw_only=True)
class _SentenceFacts:
    """The facts of a sentence. Variants with equal stories share a sentence."""

    word: Word
    toolchain: str
    bracket: Bracket | None
    since: Bracket | None
    between: tuple[str, str]
    """The unknown releases between the ends of ``since`` and of ``bracket``, in words."""
    runs: tuple[Run[str], ...]
    """The known results (``ok``, ``unsupported`` or a failure class) by release, in a row."""
    line: tuple[str, ...]
    """Every existing release."""
    complete: bool
    """Whether every release has a known result."""
    clear: bool
    """Whether every release that was tried gave an answer, the same in all attempts and envs."""
    newest: str | None
    """The newest release that was tried."""
    computes: str
    """The releases with wrong numbers, in words; empty without any."""
    caveats: tuple[str, ...]
    """The limits of the sentence, and the source of results that this run did not produce."""
    cases: tuple[str, ...]
    """Empty for all cases."""
    targets: tuple[str, ...]
    """Empty for all targets."""
    because: str

    @property
    def able(self) -> tuple[str, ...]:
        """The known releases whose toolchain can build for the target at all."""
        return tuple(
            release
            for run in self.runs
            for release in run.releases
            if run.value != Status.UNSUPPORTED
        )

    @property
    def known_releases(self) -> tuple[str, ...]:
        """Every known release."""
        return tuple(release for run in self.runs for release in run.releases)


def statements(report: Report) -> tuple[HistoryStatement, ...]:
    """The sentences of each kernel: historical variants, then failures, then variants that work."""
    groups: dict[tuple[str, str, _SentenceFacts], list[str]] = defaultdict(list)
    for (kernel, variant), story in _stories(report):
        groups[kernel, variant if variant.startswith(HISTORICAL) else "", story].append(variant)
    sentences = (
        HistoryStatement(
            kernel=kernel,
            variants=tuple(variants),
            word=story.word,
            sentence=_sentence(kernel, variants, story),
            because=story.because,
        )
        for (kernel, _, story), variants in groups.items()
    )
    return tuple(sorted(sentences, key=_rank))


# --- stories --------------------------------------------------------------------------------------


def _stories(report: Report) -> Iterable[tuple[tuple[str, str], _SentenceFacts]]:
    """Each variant with a story for each group of its cases and targets, in order of the cells."""
    groups: dict[tuple[str, str], dict[_SentenceFacts, list[Coordinate]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for coordinate in report.by_coordinate:
        story = _story(report, report.verdict_of[coordinate])
        groups[coordinate[0], coordinate[1]][story].append(coordinate)
    for variant, stories in groups.items():
        every_case, every_target = report.extent[variant]
        for story, coordinates in stories.items():
            for cases, targets in rectangles((case, target) for _, _, case, target in coordinates):
                some_cases = () if cases == every_case else cases
                # If a toolchain cannot build for a target, the sentence is about that target, and
                # names it.
                some_targets = (
                    ()
                    if targets == every_target and story.able == story.known_releases
                    else targets
                )
                yield variant, evolve(story, cases=some_cases, targets=some_targets)


def _story(report: Report, verdict: Verdict) -> _SentenceFacts:
    changes = (verdict.since, verdict.bracket if verdict.word is not Word.INTERMITTENT else None)
    return record_of(
        _SentenceFacts,
        verdict,
        bracket=changes[1],
        since=changes[0],
        between=tuple(open_between(verdict, change) if change else "" for change in changes),
        runs=runs((entry.release, _what(entry)) for entry in verdict.known_entries),
        clear=not verdict.untested_releases and not verdict.flaky,
        newest=next((entry.release for entry in reversed(verdict.entries) if entry.tested), None),
        computes=_computes(report, verdict),
        caveats=tuple(filter(None, (_not_known(verdict, changes), earlier_runs(verdict)))),
        cases=(),
        targets=(),
        because=_because(report, verdict),
    )


def _not_known(verdict: Verdict, changes: Sequence[Bracket | None]) -> str:
    """Name releases without an answer, except those between the ends of a change.

    An untested release is named if the word could be understood to include it. All other words name
    their releases.
    """
    between = {release for change in changes if change for release in change.between}
    unclear = [
        *verdict.untested_releases,
        *verdict.flaky,
        *(verdict.not_tried if verdict.word is Word.NEVER else ()),
    ]
    return unknown(verdict, [release for release in unclear if release not in between])


def _computes(report: Report, verdict: Verdict) -> str:
    """The releases with wrong numbers, their check, and their device."""
    groups: dict[tuple[Status, str], set[str]] = defaultdict(set)
    for point in report.points[verdict.coordinate]:
        for result in point.answers:
            for check in result.numbers.checks:
                if check.right is False:
                    groups[check.status, ran_on(check)].add(point.release.label)
    numbers, runs_ended = [], []
    for (status, device), releases in groups.items():
        where = report.spans(releases)
        place = "in the interpreter" if device == INTERPRETER else f"on {device}"
        if status in _ENDED:
            runs_ended.append(f"{_ENDED[status]} in {where} ({place})")
        else:
            numbers.append(f"{status} in {where} (run {place})")
    return ", and ".join(
        f"{subject} {join_words(phrases)}"
        for subject, phrases in (("numbers are", numbers), ("runs", runs_ended))
        if phrases
    )


_ENDED = {
    Status.REJECTED: "ended with an error",
    Status.CRASHED: "crashed",
    Status.TIMED_OUT: "timed out",
    Status.OUT_OF_MEMORY: "exceeded the memory limit",
    Status.FAULTED: "faulted",
    Status.LAUNCH_REFUSED: "were refused",
}
"""Status of a check of a run without numbers → how the run ended."""


def _what(entry: Entry) -> str:
    if entry.good:
        return str(Status.OK)
    return str(Status.UNSUPPORTED) if entry.unsupported else entry.failure_class


def _because(report: Report, verdict: Verdict) -> str:
    """The declared reason for an expected failure.

    For a historical variant without one, it is the description of the variant.
    """
    results = report.by_coordinate[verdict.coordinate]
    reasons = dict.fromkeys(
        result.expectation.reason.strip()
        for result in results
        if result.expectation
        and result.expected
        and not is_good(result.outcome)
        and result.outcome.status is not Status.UNSUPPORTED
    )
    text = " ".join(reason for reason in reasons if reason)
    if text or not verdict.variant.startswith(HISTORICAL):
        return text
    return results[0].cell.spec.summary.strip()


# --- sentences ------------------------------------------------------------------------------------


def _sentence(kernel: str, variants: Sequence[str], story: _SentenceFacts) -> str:
    subject = join_words([f"`{kernel}/{variant}`" for variant in variants])
    noun = "case" if len(story.cases) == 1 else "cases"
    named = join_words((f"`{case}`" for case in story.cases), NAMED_CASES)
    cases = f" ({noun} {named})" if story.cases else ""
    targets = f" on {join_words(story.targets)}" if story.targets else ""
    many = len(variants) > 1
    computes = (f"{'their' if many else 'its'} {story.computes}",) if story.computes else ()
    return (
        "; ".join(
            (f"{subject}{cases} {_predicate(story, targets, many=many)}", *computes, *story.caveats)
        )
        + "."
    )


def _predicate(story: _SentenceFacts, targets: str, *, many: bool) -> str:
    """The verdict as a predicate. ``targets`` reads " on sm_90" or nothing."""
    if story.since:
        needs = _need_predicate(story, story.since, story.between[0], targets, many=many)
        return f"{needs}, and {_main(story, '', many=many)}"
    return _main(story, targets, many=many)


def _main(story: _SentenceFacts, targets: str, *, many: bool) -> str:
    if story.bracket:
        return _change_predicate(story, story.bracket, targets, many=many)
    match story.word:
        case Word.WORKS:
            return f"{_works(story, many=many)} on {_extent(story, 'all')}{targets}"
        case Word.NEVER:
            on = targets if story.able == story.known_releases else ""
            began = (
                f"never worked on {_extent(story, 'any of the')}"
                if story.complete
                else f"failed on {_extent(story, 'all')}"
            )
            return f"{began}{on}: {_failing(story)}{_still(story)}"
        case Word.INTERMITTENT:
            fails = "fail" if many else "fails"
            return (
                f"{_works(story, many=many)} in some releases and {fails} in others{targets}:"
                f" {_runs(story)}"
            )
        case Word.UNSUPPORTED:
            return (
                f"cannot be built for {join_words(story.targets)} by"
                f" {_extent(story, 'any of the', able=False)}"
            )
    return f"could not be tried{targets}"


def _change_predicate(story: _SentenceFacts, change: Bracket, targets: str, *, many: bool) -> str:
    """The change, its two releases, and the reason for the failure on the bad side."""
    before, after, hole, failing = change.before, change.after, story.between[1], _failing(story)
    works = _works(story, many=many)
    match story.word:
        case Word.NEEDS:
            return f"{_need_predicate(story, change, hole, targets, many=many)}; before: {failing}"
        case Word.REMOVED if hole:
            return (
                f"{works} up to {before}{targets}; removed between {before} and {after} ({hole}):"
                f" {failing}"
            )
        case Word.REMOVED:
            return f"{works} up to {before}{targets}; removed in {after}: {failing}"
        case Word.FIXED:
            were = "were" if many else "was"
            when = (
                f"between {before} and {after}{targets} ({hole})"
                if hole
                else f"in {after}{targets}"
            )
            return f"{were} fixed {when}; before: {failing}"
    when = (
        f"between {before} and {after}{targets} ({hole})"
        if hole
        else f"in {after}{targets} ({before} was good)"
    )
    return f"regressed {when}: {failing}"


def _works(story: _SentenceFacts, *, many: bool) -> str:
    """The verb for a success: a kernel with wrong numbers on some release only compiles."""
    verb = "compile" if story.computes else "work"
    return verb if many else f"{verb}s"


def _need_predicate(
    story: _SentenceFacts, change: Bracket, hole: str, targets: str, *, many: bool
) -> str:
    need = "need" if many else "needs"
    if not hole:
        return f"{need} {story.toolchain} {change.after} or newer{targets}"
    return (
        f"{need} a release after {change.before}{targets}, and the first tested release that works"
        f" is {change.after} ({hole})"
    )


def _extent(story: _SentenceFacts, quantity: str, *, able: bool = True) -> str:
    """The releases of a story: ``all 13 releases tested (3.0.0 to 3.9.0)``.

    Releases that cannot build for the target are left out, and the phrase says so.
    """
    chosen = story.able if able else story.known_releases
    qualified = ["tested"] if story.clear else ["that gave a clear answer"]
    if len(chosen) < len(story.known_releases):
        qualified.append(f"that can build for {join_words(story.targets)}")
    which = (" " if story.clear else " and ").join(qualified)
    return counted_releases(chosen, story.line, which, quantity)


def _runs(story: _SentenceFacts, *, failing: bool = False) -> str:
    """``ok 3.0.0–3.1.0, then `x` 3.2.0``."""
    return ", then ".join(
        f"{_quote_class(run.value)} {spans(run.releases, story.line)}"
        for run in story.runs
        if not (failing and run.value == Status.OK)
    )


def _quote_class(what: str) -> str:
    """A failure class as code, or a status as plain text."""
    return what if what in (Status.OK, Status.UNSUPPORTED) else f"`{what}`"


def _failing(story: _SentenceFacts) -> str:
    """The failure class, or several results with the releases of each."""
    bad = {run.value for run in story.runs if run.value != Status.OK}
    if story.word is Word.NEVER:
        bad.discard(str(Status.UNSUPPORTED))
    return _quote_class(bad.pop()) if len(bad) == 1 else _runs(story, failing=True)


def _still(story: _SentenceFacts) -> str:
    last = story.able[-1]
    return (
        f", still there in {last}, the newest tested"
        if last == story.newest and len(story.able) > 1
        else ""
    )


def _rank(statement: HistoryStatement) -> tuple[object, ...]:
    historical = statement.variants[0].startswith(HISTORICAL)
    return (
        natural(statement.kernel),
        not historical,
        statement.word is Word.WORKS,
        natural(statement.variants[0]),
    )


# --- guessed arguments and hints ------------------------------------------------------------------


def notes(report: Report) -> tuple[str, ...]:
    """The notes on the arguments of a report's kernels: guesses, and hints that decide or lack."""
    every = (
        guesses(report.specs),
        hint_failures_sentence(report.ordered_results),
        without_hints(report.specs),
    )
    return tuple(filter(None, every))


def failures_to_fix(report: Report) -> str:
    """The ids of the failures whose class has a known edit: ``F1 and F3``, or ``all 6``."""
    ids = report.edits_known
    if len(ids) == len(report.failures) > 2:
        return f"all {len(ids):,}"
    return join_words(ids, NAMED_CASES)


_SOURCES = 3
"""Sources, or pairs of cases, that a sentence names."""


def guesses(specs: Iterable[Specialization]) -> str | None:
    """A sentence about kernels with guessed arguments, with the command that writes these down.

    It is ``None`` if no arguments are guessed.
    """
    every = tuple(specs)
    guessed = [spec for spec in every if spec.guessed]
    libraries = dict.fromkeys(spec.package for spec in guessed if spec.package)
    if libraries:
        kernels = {(spec.package, spec.kernel) for spec in every if spec.package in libraries}
        count = len({(spec.package, spec.kernel) for spec in guessed})
        part = "the" if count == len(kernels) else f"{count:,} of {len(kernels):,}"
        return (
            f"the arguments of {part} kernels of {', '.join(libraries)} are guessed, one set for"
            " each kernel, and others may give other results; `compat capture --live` records the"
            " arguments of real launches"
        )
    sources = list(dict.fromkeys(spec.origin.partition("::")[0] for spec in guessed))
    if not sources:
        return None
    # The import of Jinja takes longer than many commands run.
    from compat.report.render.markdown import code

    where = sources[0] if len(sources) == 1 else f"{len(sources)} sources"
    again = shlex.join(["compat", "init", *(sources if len(sources) <= _SOURCES else ())])
    return (
        f"the arguments of the kernels in {where} are guessed, and others may give other results;"
        f" {code(again)} writes them into a kernel file, where you can edit them"
    )


def hint_failures_sentence(results: Iterable[Result]) -> str | None:
    """A sentence about cases that fail although a case with other hints only compiles.

    It is ``None`` if there are none.
    """
    cells = list(results)
    alike: dict[object, list[Specialization]] = defaultdict(list)
    for spec in dict.fromkeys(result.cell.spec for result in cells):
        unhinted = evolve(spec.compile, divisible_by_16=(), equal_to_1=(), pointer_range_32=())
        alike[spec.kernel, spec.variant, spec.function, spec.closure, unhinted].append(spec)
    group = {
        spec: number
        for number, specs in enumerate(alike.values())
        if len(specs) > 1
        for spec in specs
    }
    places: dict[tuple[object, ...], list[Result]] = defaultdict(list)
    for result in cells:
        if (number := group.get(result.cell.spec)) is not None:
            places[number, result.cell.env.name, result.cell.target.name].append(result)
    pairs: dict[tuple[str, str, str, Status], None] = {}
    for here in places.values():
        ok = [result.cell.spec.case for result in here if result.outcome.status is Status.OK]
        for result in here if ok else ():
            spec, status = result.cell.spec, result.outcome.status
            if result.outcome.failure and status is not Status.OK:
                pairs[spec.kernel, spec.case, ok[0], status] = None
    if not pairs:
        return None
    named = [
        f"{kernel}/{bad} is {status} where {good} is ok"
        for kernel, bad, good, status in [*pairs][:_SOURCES]
    ]
    more = f", and {amount(len(pairs) - _SOURCES, 'more pair')}" if len(pairs) > _SOURCES else ""
    return (
        f"hints decide whether kernels compile: {'; '.join(named)}{more}; the sizes and strides of"
        " your launches decide which case applies"
    )


# --- missing hints --------------------------------------------------------------------------------


NO_HINTS = (
    "no argument has a hint, not even that a tensor is aligned; a real launch has hints, and"
    " without them the compiler chooses other layouts and pipelines less"
)
_KERNELS = 3
"""Kernels that a sentence names."""


def has_no_hints(spec: Specialization) -> bool:
    """Whether a specialization has tensors, and no argument has a hint."""
    pointers = any(kind.startswith("*") for kind in leaf_types(spec.compile.signature).values())
    return pointers and not any(spec.compile.hints.values())


def without_hints(specs: Iterable[Specialization]) -> str | None:
    """A sentence about kernels with cases without hints, with advice; ``None`` without any."""
    names = list(dict.fromkeys(spec.kernel for spec in specs if has_no_hints(spec)))
    if not names:
        return None
    subject = join_words(names) if len(names) <= _KERNELS else f"{len(names)} kernels"
    return f"{subject}: {NO_HINTS}; add [hints] or a [launch] to the kernel file"


# --- stand-ins ------------------------------------------------------------------------------------


def stand_ins(results: Iterable[Result]) -> tuple[str, ...]:
    """A sentence for the kernels whose files were imported with the same stand-ins."""
    groups = group_by_key(
        ((result.cell.spec.kernel, tuple(name.split()[0] for name in stood_in.packages)), stood_in)
        for result in results
        if (stood_in := result.outcome.stood_in) is not None
    )
    alike: dict[str, dict[str, int]] = defaultdict(dict)
    for (kernel, packages), group in groups.items():
        alike[_stand_in_text(packages, group)][kernel] = len(group)
    return tuple(
        f"{join_words(cells, _LISTED)}: {amount(sum(cells.values()), 'cell')} imported with {text}"
        for text, cells in alike.items()
    )


def _stand_in_text(packages: tuple[str, ...], group: Iterable[StandInPackages]) -> str:
    answers = {answer for record in group for answer in record.answers}
    skipped = {statement for record in group for statement in record.skipped}
    parts = [
        f"stand-ins for {', '.join(packages)}" if packages else "",
        f"{amount(len(answers), 'value')} supplied" if answers else "",
        f"{amount(len(skipped), 'statement')} left out" if skipped else "",
    ]
    return ", ".join(filter(None, parts))


# --- missing kernels ------------------------------------------------------------------------------


_LISTED = 8
"""The most kernels that a sentence names."""


def missing_kernels(absent: Iterable[MissingKernel]) -> Iterator[str]:
    """A sentence for each version of a library that does not have some declared kernels."""
    by_library = group_by_key((missing.library, missing.kernel) for missing in absent)
    for library, kernels in by_library.items():
        yield (
            f"{library.name} {library.version} does not have these kernels as they are declared, so"
            f" they are not tried: {join_words(kernels, _LISTED)}"
        )


# --- the message of a failure for each target -----------------------------------------------------


def excerpts(example: Result, results: Iterable[Result]) -> tuple[tuple[str, str], ...]:
    """The targets and the message of results with one fingerprint, each message on one line.

    The targets are left out if all messages are equal. The message of a target is from the result
    that is most like the example, so that differences between messages come from the target.
    """
    nearest: dict[str, Result] = {}
    for result in sorted(
        results, key=lambda result: (_unlike(example, result), natural(result.cell.id))
    ):
        nearest.setdefault(result.cell.target.name, result)
    by_line: dict[str, list[str]] = {}
    for target in sorted(nearest, key=natural):
        failure = nearest[target].outcome.failure
        by_line.setdefault(one_line(failure.excerpt if failure else ""), []).append(target)
    if len(by_line) == 1:
        return (("", next(iter(by_line))),)
    return tuple((f"{' '.join(targets)}: ", line) for line, targets in by_line.items())


def _unlike(example: Result, result: Result) -> tuple[bool, ...]:
    """The differences of a result from the example, the most important first.

    Another target is no difference.
    """
    one, other = example.cell, result.cell
    return (
        one.env != other.env,
        (one.spec.kernel, one.spec.variant) != (other.spec.kernel, other.spec.variant),
        one.spec.case != other.spec.case,
        one != other and one.target == other.target,
    )
