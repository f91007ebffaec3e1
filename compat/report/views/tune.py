"""Tuned kernels: the best config by release and the cost of others, as text, Markdown and data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from compat.engine.run import existing_releases
from compat.history.verdict import verdicts
from compat.model.codec import unstructure
from compat.report.render.blocks import Block, DataTable, Heading, TableColumn, TextLine
from compat.report.render.markdown import code, escape, table
from compat.report.summary.record import Report
from compat.text import JsonObject, amount, join_words
from compat.tune.answers import ALIKE, Stretch, TuningAnswer
from compat.tune.records import TunedRecord, tuned_record
from compat.tune.tuning import CompiledConfigs

SCHEMA = 1
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def tune_blocks(answers: Sequence[TuningAnswer]) -> Iterator[Block]:
    """The answers for a terminal."""
    for answer in answers:
        yield Heading(f"{answer.subject} on {answer.device}")
        yield DataTable(
            columns=(TableColumn(), TableColumn("config", fold=True), TableColumn("best on")),
            rows=tuple(_legend(answer)),
            gap=2,
            ruled=False,
        )
        yield TextLine()
        yield DataTable(
            columns=tuple(
                TableColumn(heading, right=place > 0, wrap=False)
                for place, heading in enumerate(_headings(answer))
            ),
            rows=tuple(_costs(answer)),
            gap=2,
            ruled=False,
        )
        yield TextLine()
        for sentence in sentences(answer):
            yield TextLine(sentence)


def tune_markdown(answers: Sequence[TuningAnswer]) -> Iterator[str]:
    """The answers as lines of Markdown."""
    for answer in answers:
        yield f"### {code(answer.subject)} on {escape(answer.device)}"
        yield ""
        yield from table(("", "config", "best on"), _escape_rows(_legend(answer)))
        yield ""
        yield from table(_headings(answer), _escape_rows(_costs(answer)))
        yield ""
        yield from (f"- {escape(sentence)}" for sentence in sentences(answer))
        yield ""


def _escape_rows(rows: Iterator[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    return (tuple(map(escape, row)) for row in rows)


def _legend(answer: TuningAnswer) -> Iterator[tuple[str, ...]]:
    """A letter for each config that is best on some release, the config, and these releases."""
    for letter, config in zip(_LETTERS, _best_configs(answer), strict=False):
        where = [
            _span(answer, stretch) for stretch in answer.stretches() if stretch.config == config
        ]
        yield letter, answer.configs[config].label, ", ".join(where)


def _headings(answer: TuningAnswer) -> tuple[str, ...]:
    letters = _LETTERS[: len(_best_configs(answer))]
    return "release", "best µs", *letters


def _costs(answer: TuningAnswer) -> Iterator[tuple[str, ...]]:
    """By release, the latency of the best config, and the cost of each config in the legend."""
    for release, name in enumerate(answer.releases):
        best = answer.latency(answer.best(release), release)
        costs = (
            _factor(answer, config, release)
            for config, _ in zip(_best_configs(answer), _LETTERS, strict=False)
        )
        yield name, f"{best.us:.1f}" if best else "-", *costs


def _factor(answer: TuningAnswer, config: int, release: int) -> str:
    cost = answer.cost(config, release)
    if cost is not None:
        return f"{cost:.2f}"
    timing = answer.timings.get((config, release))
    return str(timing.status) if timing else "-"


def _best_configs(answer: TuningAnswer) -> list[int]:
    return list(dict.fromkeys(stretch.config for stretch in answer.stretches()))


def _span(answer: TuningAnswer, stretch: Stretch) -> str:
    first, last = answer.releases[stretch.first], answer.releases[stretch.last]
    return first if first == last else f"{first} to {last}"


# --- sentences ------------------------------------------------------------------------------------


def sentences(answer: TuningAnswer) -> Iterator[str]:
    """The answer in words."""
    yield from (_inversion(answer, old, new) for old, new in answer.inversions())
    dearest = answer.dearest()
    if dearest is not None and not answer.is_as_good(answer.best(dearest[0]), dearest[1]):
        old, new, cost = dearest
        yield (
            f"Staying costs the most from {answer.releases[old]} to {answer.releases[new]}: the"
            f" best config of {answer.releases[old]} takes {cost:.2f} times as long there as the"
            " best."
        )
    steadiest = answer.steadiest()
    if steadiest is not None and len(answer.releases) > 1:
        config, cost = steadiest
        label = answer.configs[config].label
        yield (
            f"{label} takes at most {cost:.2f} times as long as the best config on every release."
            if cost > 1 + ALIKE
            else f"{label} is as good as the best config on every release."
        )
    for release, factor in answer.slower():
        yield (
            f"Even the best config takes {factor:.2f} times as long on {answer.releases[release]}"
            f" as on {answer.releases[release - 1]}."
        )
    yield from _timing_counts(answer)


def _inversion(answer: TuningAnswer, old: Stretch, new: Stretch) -> str:
    before, after = answer.configs[old.config].label, answer.configs[new.config].label
    costs = answer.cost(old.config, new.first), answer.cost(new.config, old.last)
    worse, earlier = (
        "does not run right" if cost is None else f"takes {cost:.2f} times as long as the best"
        for cost in costs
    )
    return (
        f"The optimum inverts between {answer.releases[old.last]} and"
        f" {answer.releases[new.first]}: {before} {worse} on {answer.releases[new.first]}, and"
        f" {after} {earlier} on {answer.releases[old.last]}."
    )


def _timing_counts(answer: TuningAnswer) -> Iterator[str]:
    pairs = len(answer.configs) * len(answer.releases)
    statuses = Counter(
        str(timing.status) for timing in answer.timings.values() if timing.latency is None
    )
    missing = pairs - len(answer.timings)
    if statuses or missing:
        parts = [f"{number:,} {status}" for status, number in sorted(statuses.items())]
        parts += [f"{missing:,} not tested"] if missing else []
        yield (
            f"{amount(len(answer.configs), 'config')} on"
            f" {amount(len(answer.releases), 'release')}:"
            f" {pairs - missing - statuses.total():,} timed, {join_words(parts)}."
        )


# --- as JSON --------------------------------------------------------------------------------------


def tune_document(answers: Sequence[TuningAnswer]) -> JsonObject:
    """The answers as JSON values."""
    return {
        "schema": SCHEMA,
        "answers": [unstructure(record_of_answer(answer)) for answer in answers],
    }


def record_of_answer(answer: TuningAnswer) -> TunedRecord:
    """The record of an answer, with its sentences."""
    return tuned_record(answer, tuple(sentences(answer)))


def tuning_report(
    compiled: CompiledConfigs, answers: Sequence[TuningAnswer], command: str
) -> Report:
    """The report of tuned kernels for a command line.

    Its cells are those of the kernels' cases. The other configs are only in the answers, because no
    command takes them as cases.
    """
    plan = compiled.plan
    cases = {case.id for workload in plan.workloads for case in workload.cases}
    results = tuple(result for result in compiled.launched_results if result.cell.spec.id in cases)
    existing = existing_releases(plan.selection.config)
    return Report(
        results=results,
        verdicts=verdicts(results, existing=existing),
        existing=existing,
        envs=tuple({result.cell.env.name: result.built for result in results}.values()),
        command=command,
        seconds=sum(result.outcome.seconds for result in results if not result.cached),
        options=plan.selection.options,
        root=str(plan.selection.root.resolve()),
        tuned=tuple(map(record_of_answer, answers)),
    )
