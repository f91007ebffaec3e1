"""Answers in words that need no explanation."""

from __future__ import annotations

from compat.axes.history import Answer, Probe, ReleaseAnswer, Span, Transition
from compat.evidence import taxonomy
from compat.model import Failure, Status
from compat.report.compact import counted, listed, one_line
from compat.search.bisect import Judgement
from compat.search.judge import Exceeds, measure, metric_names


def headline(answer: ReleaseAnswer) -> str:
    """The answer in one sentence or two, without its subject."""
    words = {
        Answer.REGRESSED: _changed,
        Answer.FIXED: _changed,
        Answer.NEVER: _never,
        Answer.ALWAYS: _always,
        Answer.NON_MONOTONIC: _back_and_forth,
        Answer.FLAKY: _flaky,
        Answer.UNKNOWN: _unknown,
    }[answer.answer](answer)
    judged = "" if answer.judge.asks_ok else f"judged by `{answer.judge.text}`: "
    part = "" if answer.part is None or answer.needs else answer.part.sentence  # what was not there yet, nothing broke
    return " ".join(told for told in (f"{judged}{words}", part) if told)


def remarks(answer: ReleaseAnswer, *, fixed: bool) -> list[str]:
    """What has to be known beside the answer."""
    said = [_otherwise(probe) for probe in answer.otherwise]
    if fixed and answer.bracket is not None and not answer.bracket.is_fix:
        said.append(f"Not fixed up to {answer.searched[-1]}.")
    for first, last in answer.assumed:
        span = first if first == last else f"{first}–{last}"
        said.append(f"Not tried, and assumed to be like the releases around: {span} (--all tries them).")
    if answer.answer is not Answer.FLAKY and answer.flaky:
        said.append(f"Flaky, and left out of account: {listed(answer.flaky)}.")
    if answer.untold and answer.answer is not Answer.UNKNOWN:
        said.append(f"Could not be told: {'; '.join(f'{p.release} ({evidence_line(p)})' for p in answer.untold)}.")
    return said


def _otherwise(probe: Probe) -> str:
    if probe.judgement is Judgement.UNKNOWN:
        return f"{probe.release} was given as an end, but cannot be told: {evidence_line(probe)}."
    given, found = ("bad", "good") if probe.judgement is Judgement.GOOD else ("good", "bad")
    return f"{probe.release} was given as {given}, but is {found}: {evidence_line(probe)}."


def evidence_line(probe: Probe) -> str:
    """What a release said, in one line."""
    outcome = probe.result.outcome
    said = one_line(outcome.failure.excerpt, 120) if outcome.failure else ""
    return f"{outcome.status}{', ' + outcome.failure.kind if outcome.failure else ''}{': ' + said if said else ''}"


def span_words(span: Span) -> str:
    """``3.0.0–3.8.0 ok``, ``3.9.0 rejected api-removed``."""
    releases = span.first.release if span.first is span.last else f"{span.first.release}–{span.last.release}"
    failure = span.first.result.outcome.failure
    flaky = " (flaky)" if span.first.result.outcome.flaky else ""
    return f"{releases} {listed([str(status) for status in span.statuses])}{' ' + failure.kind if failure else ''}{flaky}"


def number_of(answer: ReleaseAnswer, probe: Probe) -> float | None:
    """The number that the judge asked for; ``None`` where it asked for none, or there is none."""
    question = answer.judge.question
    return measure(probe.result.outcome, question.metric) if isinstance(question, Exceeds) else None


def value_of(answer: ReleaseAnswer, probe: Probe) -> str:
    """That number as text, empty where there is none."""
    value = number_of(answer, probe)
    return "" if value is None else f"{value:.4g}" if value < 10_000 else f"{value:,.0f}"


def class_words(failure: Failure | None) -> str:
    """``API removed (api-removed)``."""
    return f"{taxonomy.KINDS[failure.kind].title} ({failure.kind})" if failure else "no failure"


# --- one answer each -----------------------------------------------------------------------------------------------------


def _changed(answer: ReleaseAnswer) -> str:
    change = answer.bracket
    assert change is not None, "a history that changed once has a bracket"
    if not answer.judge.asks_ok:
        return f"{_ends(change)}{_about(answer, change)}."
    if answer.needs:
        return f"needs ≥ {answer.needs}. {_ends(change)}; before: {class_words(change.failure)}."
    begin = f"fixed in {change.after.release}" if change.is_fix else f"regressed in {change.after.release}"
    return f"{begin}. {_ends(change)}: {class_words(change.failure)}."


def _ends(change: Transition) -> str:
    first, last = ("Last bad", "first good") if change.is_fix else ("Last good", "first bad")
    hole = f" ({listed(change.untested)} between them cannot be told)" if change.untested else ""
    return f"{first} {change.before.release}, {last} {change.after.release}{hole}"


def _about(answer: ReleaseAnswer, change: Transition) -> str:
    question = answer.judge.question
    if isinstance(question, Exceeds):
        return f": {question.metric} {value_of(answer, change.before)} → {value_of(answer, change.after)}"
    return f": {class_words(change.failure)}" if change.failure else ""


def _never(answer: ReleaseAnswer) -> str:
    if not answer.judge.asks_ok:
        return f"bad in {_all(answer)}: nothing to bisect."
    told = [probe for probe in answer.probes if probe.judgement is Judgement.BAD]
    failures = {f.fingerprint: f for probe in told if (f := probe.result.outcome.failure)}
    if all(probe.result.outcome.status is Status.UNSUPPORTED for probe in told):
        return f"no toolchain builds for {answer.target.name} in {_all(answer)}: nothing to bisect."
    how = f"with one and the same failure, {class_words(next(iter(failures.values())))}"
    if len(failures) != 1:
        how = f"with {len(failures)} different failures: {', '.join(map(span_words, answer.spans))}"
    return f"never worked: nothing to bisect. It fails in {_all(answer)}, {how}."


def _always(answer: ReleaseAnswer) -> str:
    if not answer.judge.asks_ok:
        return f"good in {_all(answer)}: nothing to bisect."
    return f"always worked: nothing to bisect. It is ok in {_all(answer)}."


def _all(answer: ReleaseAnswer) -> str:
    told = [probe.release for probe in answer.probes if probe.judgement is not Judgement.UNKNOWN]
    if len(told) == 1:
        return f"{told[0]}, the only release there was an answer from"
    # What a search left out counts as assumed, and is named as such among the remarks.
    return f"all {counted(len(told), 'release')} tried, {told[0]} to {told[-1]}"


def _back_and_forth(answer: ReleaseAnswer) -> str:
    runs: list[list[Probe]] = []
    for probe in answer.probes:
        if probe.judgement is Judgement.UNKNOWN:
            continue
        if runs and runs[-1][-1].judgement is probe.judgement:
            runs[-1].append(probe)
        else:
            runs.append([probe])
    return f"not monotonic: {', '.join(_run(answer, probes) for probes in runs)}."


def _run(answer: ReleaseAnswer, probes: list[Probe]) -> str:
    first, last = probes[0].release, probes[-1].release
    words = ("ok", "broken") if answer.judge.asks_ok else ("good", "bad")
    kinds = dict.fromkeys(failure.kind for probe in probes if (failure := probe.result.outcome.failure))
    bad = probes[0].judgement is Judgement.BAD
    why = f" ({', '.join(kinds)})" if bad and kinds else ""
    return f"{words[bad]} in {first if first == last else f'{first}–{last}'}{why}"


def _flaky(answer: ReleaseAnswer) -> str:
    return f"flaky in {listed(answer.flaky)}: attempts under the same circumstances ended differently, so no release is blamed."


def _unknown(answer: ReleaseAnswer) -> str:
    if answer.judge.asks_metric:
        names = dict.fromkeys(name for probe in answer.probes for name in metric_names(probe.result.outcome))
        told = f"there are {', '.join(names)}" if names else "it compiled nowhere"
        return f"cannot tell: no release has that number; {told}."
    return f"cannot tell: no release gave an answer. {answer.probes[-1].release if answer.probes else ''}: {_last_words(answer)}"


def _last_words(answer: ReleaseAnswer) -> str:
    return evidence_line(answer.probes[-1]) if answer.probes else "nothing was tried"
