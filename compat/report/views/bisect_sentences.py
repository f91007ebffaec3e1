"""Answers of a bisection as sentences, and the commands that follow from them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import groupby, pairwise

from packaging.version import InvalidVersion, Version

from compat import toolchains
from compat.bisect.answers import CellAnswer, ReleaseAnswer, ReleaseProbe, Span, Transition
from compat.bisect.criterion import STAYING, Exceeds, IsSlower, check_text
from compat.bisect.judging import HOW, HOW_TUNED
from compat.bisect.measures import TakesLonger, duration_names, measure, metric_names
from compat.bisect.request import Axis
from compat.history.account import Judgement, Word, spans
from compat.history.verdict import coordinate_of
from compat.model import Failure, Result
from compat.report.summary.compact import (
    coordinate_options,
    counted_releases,
    one_line,
    open_between,
    tested_spans,
)
from compat.text import join_words, lazy_pattern, printable
from compat.toolchains.base import Toolchain


def headline(answer: ReleaseAnswer) -> str:
    """The answer in one sentence or two, without its subject."""
    judged = "" if answer.criterion.asks_ok else f"judged by `{answer.criterion.text}`: "
    # A release that brings what the kernel needs has no part that broke it.
    is_need = answer.account.word is Word.NEEDS
    part = "" if answer.part is None or is_need else answer.part.sentence
    return " ".join(
        sentence for sentence in (f"{judged}{_answer_sentence(answer)}", part) if sentence
    )


def _answer_sentence(answer: ReleaseAnswer) -> str:
    if answer.account.bracket is not None and answer.account.word is not Word.INTERMITTENT:
        return _change_sentence(answer)
    return {
        Word.NEVER: _never,
        Word.WORKS: _always,
        Word.INTERMITTENT: _back_and_forth,
        Word.UNSUPPORTED: _no_support,
    }.get(answer.account.word, _unknown)(answer)


def remarks(answer: ReleaseAnswer, *, fixed: bool) -> list[str]:
    """The facts that qualify the answer."""
    account = answer.account
    lines = [_otherwise(probe) for probe in answer.otherwise]
    if fixed and answer.bracket is not None and not answer.bracket.is_fix:
        lines.append(f"Not fixed up to {account.known_entries[-1].release}.")
    if (
        answer.bracket is not None
        and account.bracket is not None
        and answer.bracket.bracket != account.bracket
    ):
        lines.append(f"The newest fix: {_ends(answer, answer.bracket, capital=False)}.")
    if answer.assumed:
        named = join_words(
            [first if first == last else f"{first}–{last}" for first, last in answer.assumed]
        )
        lines.append(
            f"Not tested, and assumed to be like the neighbouring releases: {named} (--all tests"
            " them)."
        )
    if answer.not_tried:
        lines.append(f"Not tested: {spans(answer.not_tried, account.line)}.")
    if overtaken := _overtaken(answer.probes):
        lines.append(f"The versions were not published in order: {join_words(overtaken)}.")
    if account.remembered_releases:
        lines.append(f"Tested in earlier runs: {spans(account.remembered_releases, account.line)}.")
    if flaky := [probe.release for probe in answer.unsteady if not probe.envs_disagree]:
        lines.append(f"Flaky, so not used: {join_words(flaky)}.")
    lines += [
        f"Envs of {probe.release} disagree, so it is not used: {probe.summary}."
        for probe in answer.unsteady
        if probe.envs_disagree
    ]
    if answer.inconclusive_probes and account.word is not Word.UNKNOWN:
        probes = (
            f"{p.release} ({inconclusive_text(answer, p)})" for p in answer.inconclusive_probes
        )
        lines.append(f"Inconclusive: {'; '.join(probes)}.")
        if any(_not_run(answer, probe) for probe in answer.inconclusive_probes):
            lines.append(f"To launch the others: {_how(answer)}.")
    return lines


def _overtaken(probes: Sequence[ReleaseProbe]) -> list[str]:
    """Neighbours whose older version was published later: ``4.6.0 was published before 4.5.3``."""
    return [
        f"{after.release} was published before {before.release}"
        for before, after in pairwise(probes)
        if before.release_date and after.release_date and after.release_date < before.release_date
    ]


def inconclusive_text(answer: ReleaseAnswer, probe: ReleaseProbe) -> str:
    """The reason why a release is inconclusive."""
    if _not_run(answer, probe):
        return (
            "not launched"
            if answer.spec.problem is not None
            else "its kernel file has no [problem]"
        )
    check = probe.result.numbers.decisive if answer.criterion.asks_launches else None
    return (
        f"{check.status}: {one_line(check.reason, 120)}"
        if check is not None
        else evidence_line(probe)
    )


def _how(answer: ReleaseAnswer) -> str:
    """How to get the numbers that the criterion asks for."""
    return HOW_TUNED if answer.criterion.asks_configs else HOW


def _not_run(answer: ReleaseAnswer, probe: ReleaseProbe) -> bool:
    """Whether a kernel compiled and did not run, although the criterion needs a run."""
    result = probe.result
    return (
        answer.criterion.asks_launches
        and not result.outcome.failure
        and not result.numbers.checks
        and result.latency is None
    )


def _otherwise(probe: ReleaseProbe) -> str:
    if probe.judgement is Judgement.UNKNOWN:
        return (
            f"{probe.release} was given as an endpoint, but could not be tested:"
            f" {evidence_line(probe)}."
        )
    expected, actual = ("bad", "good") if probe.judgement is Judgement.GOOD else ("good", "bad")
    return f"{probe.release} was given as {expected}, but is {actual}: {evidence_line(probe)}."


def evidence_line(probe: ReleaseProbe) -> str:
    """The outcome of a release, in one line."""
    if probe.envs_disagree:
        return probe.summary
    outcome = probe.result.outcome
    if outcome.failure is None:
        return str(outcome.status)
    excerpt = one_line(outcome.failure.excerpt, 120)
    line = f"{outcome.status}, {outcome.failure.failure_class}"
    return f"{line}: {excerpt}" if excerpt else line


def span_words(span: Span, line: Sequence[str]) -> str:
    """A span in words: ``3.0.0–3.8.0 ok``, ``3.9.0 rejected api-removed``.

    ``line`` has the existing releases.
    """
    releases = spans([probe.release for probe in span.probes], line)
    if span.first.envs_disagree:
        return f"{releases} {span.first.summary} (envs disagree)"
    failure = span.first.result.outcome.failure
    flaky = " (flaky)" if span.first.unsteady else ""
    statuses = join_words([str(status) for status in span.statuses])
    failure_class = f" {failure.failure_class}" if failure else ""
    return f"{releases} {statuses}{failure_class}{flaky}"


def all_spans(answer: ReleaseAnswer, between: str) -> str:
    """Every run of releases that behave the same, joined with ``between``."""
    if answer.criterion.asks_launches:
        runs = [
            (spans([probe.release for probe in span.probes], answer.account.line), span.first)
            for span in answer.spans
        ]
        return between.join(f"{releases} {_came_to(answer, first)}" for releases, first in runs)
    return between.join(span_words(span, answer.account.line) for span in answer.spans)


def _came_to(answer: ReleaseAnswer, probe: ReleaseProbe) -> str:
    """The result of a run on a release, in a word or two."""
    if probe.judgement is Judgement.UNKNOWN:
        return "not known"
    check = probe.result.numbers.decisive
    return (
        str(probe.judgement)
        if check is None or isinstance(answer.criterion.question, IsSlower)
        else str(check.status)
    )


def number_of(answer: ReleaseAnswer, result: Result) -> float | None:
    """The number that the criterion asks for; ``None`` if it asks for none, or there is none."""
    question = answer.criterion.question
    if isinstance(question, IsSlower):
        latency = result.latency
        return None if not latency else latency.ratio if question.what == STAYING else latency.us
    if isinstance(question, TakesLonger):
        return question.value(result)
    return measure(result.outcome, question.metric) if isinstance(question, Exceeds) else None


def value_of(answer: ReleaseAnswer, probe: ReleaseProbe) -> str:
    """The number that the criterion asks for as text; empty if there is none.

    If the criterion asks whether computed numbers are right, the text is the result of the check.
    """
    if answer.criterion.asks_launches and not isinstance(answer.criterion.question, IsSlower):
        check = probe.result.numbers.decisive
        return check_text(check) if check else ""
    value = number_of(answer, probe.result)
    return "" if value is None else f"{value:.4g}" if value < 10_000 else f"{value:,.0f}"


def class_words(failure: Failure | None) -> str:
    """The title and the name of a failure class: ``API removed (api-removed)``."""
    return (
        f"{toolchains.known_class(failure).title} ({failure.failure_class})"
        if failure
        else "no failure"
    )


# --- one function per kind of answer --------------------------------------------------------------


def _change_sentence(answer: ReleaseAnswer) -> str:
    account, change = answer.account, _account_change(answer)
    ends = _ends(answer, change)
    if not answer.criterion.asks_ok:
        return f"{ends}{_about(answer, change)}."
    before = "; before" if account.word is Word.NEEDS else ""
    return f"{account.phrase}. {ends}{before}: {class_words(change.failure)}."


def _account_change(answer: ReleaseAnswer) -> Transition:
    """The change that the account's word is about."""
    return next(
        change
        for change in answer.transitions
        if change.crosses and change.bracket == answer.account.bracket
    )


def _ends(answer: ReleaseAnswer, change: Transition, *, capital: bool = True) -> str:
    first, last = ("last bad", "first good") if change.is_fix else ("last good", "first bad")
    hole = open_between(answer.account, change.bracket)
    text = (
        f"{first} {change.before.release}, {last}"
        f" {change.after.release}{f' (between them, {hole})' if hole else ''}"
    )
    return text[0].upper() + text[1:] if capital else text


def _about(answer: ReleaseAnswer, change: Transition) -> str:
    question, name, unit = answer.criterion.question, "", ""
    if isinstance(question, Exceeds):
        name = f"{question.metric} "
    elif isinstance(question, TakesLonger):
        name, unit = f"{question.what} ", " s"
    elif isinstance(question, IsSlower):
        unit = " times the best config" if question.what == STAYING else " µs"
    elif not answer.criterion.asks_launches:
        return f": {class_words(change.failure)}" if change.failure else ""
    devices = _devices(change) if answer.criterion.asks_launches else ""
    before, after = (value_of(answer, probe) for probe in (change.before, change.after))
    return f": {name}{before} → {after}{unit}{devices}"


def _devices(change: Transition) -> str:
    """The GPUs of the two releases, as a phrase; empty without any."""
    results = (change.before.result, change.after.result)
    devices = [result.latency.device for result in results if result.latency]
    devices += [
        result.numbers.gpu.device
        for result in results
        if result.numbers.gpu and result.numbers.gpu.device
    ]
    return f", on {join_words([*dict.fromkeys(devices)])}" if devices else ""


def _never(answer: ReleaseAnswer) -> str:
    if not answer.criterion.asks_ok:
        return f"bad in {_all(answer)}: nothing to bisect."
    bad = [probe for probe in answer.probes if probe.judgement is Judgement.BAD]
    failures = {f.fingerprint: f for probe in bad if (f := probe.result.outcome.failure)}
    same = "the same failure, " if len(bad) > 1 else ""
    how = f"with {same}{class_words(next(iter(failures.values())))}"
    if len(failures) != 1:
        how = f"with {len(failures)} different failures: {all_spans(answer, '; ')}"
    if answer.account.complete:
        return f"never worked: nothing to bisect. It fails in {_all(answer)}, {how}."
    return f"failed in every release tested: nothing to bisect. It fails in {_all(answer)}, {how}."


def _no_support(answer: ReleaseAnswer) -> str:
    return f"cannot be built for {answer.target.name} in {_all(answer)}: nothing to bisect."


def _always(answer: ReleaseAnswer) -> str:
    if not answer.criterion.asks_ok:
        return f"good in {_all(answer)}: nothing to bisect."
    return f"works: nothing to bisect. It is ok in {_all(answer)}."


def _all(answer: ReleaseAnswer) -> str:
    releases = [entry.release for entry in answer.account.known_entries]
    # Releases that a search left out count as assumed, and the remarks name them.
    clear = (
        "that gave a clear answer"
        if answer.account.flaky or answer.account.untested_releases
        else "tested"
    )
    return counted_releases(releases, answer.account.line, clear)


def _back_and_forth(answer: ReleaseAnswer) -> str:
    clear = (probe for probe in answer.probes if probe.judgement is not Judgement.UNKNOWN)
    alike = (list(probes) for _, probes in groupby(clear, key=lambda probe: probe.judgement))
    return f"{answer.account.phrase}: {', then '.join(_run(answer, probes) for probes in alike)}."


def _run(answer: ReleaseAnswer, probes: list[ReleaseProbe]) -> str:
    releases = tested_spans([probe.release for probe in probes], answer.account.line)
    good_and_bad = ("ok", "broken") if answer.criterion.asks_ok else ("good", "bad")
    classes = dict.fromkeys(
        failure.failure_class for probe in probes if (failure := probe.result.outcome.failure)
    )
    bad = probes[0].judgement is Judgement.BAD
    why = f" ({', '.join(classes)})" if bad and classes else ""
    return f"{good_and_bad[bad]} in {releases}{why}"


def _unknown(answer: ReleaseAnswer) -> str:
    if answer.criterion.needs_bad_end:
        return "inconclusive: the bad end gave no answer, so there is no failure to look for."
    if answer.criterion.asks_metric:
        tell = duration_names if answer.criterion.asks_seconds else metric_names
        names = dict.fromkeys(
            name for probe in answer.probes for name in tell(probe.result.outcome)
        )
        metrics = f"available: {', '.join(names)}" if names else "it compiles on no release"
        return f"inconclusive: no release has that metric; {metrics}."
    if answer.criterion.asks_launches:
        return f"inconclusive: {_nothing_run(answer)}"
    if answer.account.flaky:
        flaky = join_words(answer.account.flaky)
        return f"inconclusive: no release gave a stable answer; flaky: {flaky}."
    return (
        "inconclusive: no release gave an answer."
        f" {answer.probes[-1].release if answer.probes else ''}: {_last_words(answer)}"
    )


def _nothing_run(answer: ReleaseAnswer) -> str:
    if answer.spec.problem is None:
        return "its kernel file has no [problem], so it cannot be launched."
    if not any(_not_run(answer, probe) for probe in answer.probes):
        return f"no release gave an answer. {_last_words(answer)}"
    return f"no release has the numbers that the judge asks for. {_how(answer)}."


def _last_words(answer: ReleaseAnswer) -> str:
    return evidence_line(answer.probes[-1]) if answer.probes else "nothing was tried"


# --- commands that repeat a bisection, or continue from its result --------------------------------


_COMMIT = lazy_pattern(r"git\.?([0-9a-f]{6,40})\b")


def repeat_command(
    answer: ReleaseAnswer, options: tuple[str, ...] = (), ends: tuple[str, ...] = ()
) -> str:
    """The command that repeats a bisection for this kernel alone.

    Its range is the bracket if there is one, and otherwise the one between ``ends``.
    """
    which = coordinate_options(*coordinate_of(answer.spec, answer.target))
    if answer.bracket is not None:
        change = answer.bracket
        good, bad = (
            (change.after, change.before) if change.is_fix else (change.before, change.after)
        )
        fixed = ["--fixed"] if change.is_fix else []
        ends = ("--good", _name(good), "--bad", _name(bad), *fixed)
    return printable(shlex.join(("compat", "bisect", *which, *ends, *options)))


def _name(probe: ReleaseProbe) -> str:
    """The name of a release on the command line: its number, or its env for another name."""
    try:
        Version(probe.release)
    except InvalidVersion:  # a fork under another name
        return probe.result.cell.env.name
    return probe.release


def repeat_inside(answer: CellAnswer, axis: Axis, options: tuple[str, ...] = ()) -> str:
    """The command that repeats a bisection along an axis inside a failure, for one kernel alone."""
    which = coordinate_options(*coordinate_of(answer.cell.spec, answer.cell.target))
    return printable(shlex.join(("compat", "bisect", "--axis", axis, *which, *options)))


def compare_url(change: Transition) -> str | None:
    """The address that shows all commits between the two releases.

    It is ``None`` if the commits of the releases are not known.
    """
    tree = _toolchain(change).repository
    refs = [_ref(probe.release) for probe in (change.before, change.after)]
    return f"{tree}/compare/{refs[0]}...{refs[1]}" if tree and all(refs) else None


def commits_command(change: Transition) -> str | None:
    """The command that bisects the commits in this range, with a build of the toolchain for each.

    It is ``None`` if no command is known.
    """
    command = _toolchain(change).commits_command
    refs = [ref for probe in (change.before, change.after) if (ref := _ref(probe.release))]
    return (
        shlex.join([*command, "--good", refs[0], "--bad", refs[1]])
        if command and len(refs) == 2
        else None
    )


def commits_advice(change: Transition) -> str:
    """The advice on how to run :func:`commits_command`."""
    ends, turned = "0 where the kernel compiles and 1 where it fails", ""
    if change.is_fix:
        ends = "0 where it still fails and 1 where it compiles"
        turned = " (the search is for the commit that fixed it, so the exit codes are inverted)"
    toolchain = _toolchain(change)
    return (
        f"`{toolchain.name}` is a clone of {toolchain.repository}; `test.py` has to exit with"
        f" {ends}{turned}, and never with 128 or more, so compile in a child process where the"
        " compiler may be killed. Release tags are on their own branches: the first commit tested"
        " is the merge base of the two."
    )


def _toolchain(change: Transition) -> Toolchain:
    return toolchains.of(change.after.result.cell.env)


def _ref(release: str) -> str | None:
    try:
        version = Version(release)
    except InvalidVersion:  # a fork under another name
        return None
    if version.local is None:
        return f"v{version}"
    commit = _COMMIT.search(version.local)
    return commit[1] if commit else None
