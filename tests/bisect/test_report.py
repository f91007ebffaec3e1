"""Answers in words, in Markdown and as data."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import click
import pytest
from attrs import evolve, fields
from jsonschema import Draft202012Validator

from compat.bisect.answers import (
    CellAnswer,
    ConfigAnswer,
    Part,
    PartName,
    ReleaseAnswer,
    SettingNeed,
    group_alike,
)
from compat.bisect.bisecting import Bisection
from compat.bisect.request import Axis
from compat.cli.answer import Answer
from compat.cli.bisect import BisectProgress
from compat.history.account import Judgement, Word
from compat.model import Env, Outcome, Status
from compat.report.document import dump
from compat.report.views.bisect import (
    BisectReport,
    bisect_document,
    bisect_markdown,
    cell_answer_lines,
    schema,
    subject_of,
)
from compat.report.views.bisect_sentences import (
    commits_advice,
    commits_command,
    compare_url,
    headline,
    remarks,
    repeat_command,
)
from tests.bisect.invented import LINE, Invented
from tests.records import ASSERT, BROKEN, MISSING, OK, REMOVED, SHAPE, TARGETS, bad, result
from tests.report.drawn import bisect_text

DOCS = Path(__file__).parents[2] / "docs" / "bisect.md"
FRONT = Part(
    name=PartName.FRONT_END,
    sentence="The break is in the front end.",
    steps=("3.8.0 makes TTIR, 3.9.0 makes none.",),
)
GONE, REJECTED, CRASHED = bad(REMOVED), bad(SHAPE), bad(ASSERT, Status.CRASHED)
FEW, MANY = (evolve(OK, metrics={"registers": number}) for number in (96, 168))
Tell = Callable[..., tuple[ReleaseAnswer, ...]]


@pytest.fixture
def tell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Tell:
    def search_releases(outcomes: Sequence[Outcome], **how: Any) -> tuple[ReleaseAnswer, ...]:
        return Invented(monkeypatch, tmp_path, dict(zip(LINE, outcomes, strict=False))).search(
            **how
        )

    return search_releases


def report(
    answers: Sequence[ReleaseAnswer], *, options: tuple[str, ...] = (), fixed: bool = False
) -> BisectReport:
    left_out = {
        "patch releases (--patches adds them)": ("3.3.1", "3.5.1"),
        "before 3.0.0": tuple("1234567"),
    }
    bisection = Bisection(
        axis=Axis.RELEASES,
        releases=tuple(answers),
        left_out=left_out,
        seconds=1.5,
        fixed=fixed,
    )
    return BisectReport(
        bisection=bisection, command="compat bisect --kernel sel_dense", options=options
    )


def one_answer(tell: Tell) -> BisectReport:
    return report(
        [evolve(answer, part=FRONT) for answer in tell([OK] * 9 + [GONE])],
        options=("--spec", "my kernels/*.toml"),
    )


def many_answers(tell: Tell) -> BisectReport:
    regressed = tell([OK] * 9 + [GONE], targets=TARGETS, cases=("d64", "d128", "ragged"))
    never = tell([REJECTED] * 10, targets=TARGETS[:2])
    always = tell([OK] * 10)
    flaky = tell([OK, bad(SHAPE, flaky=True), OK])
    back = tell([OK, OK, CRASHED, CRASHED, OK, BROKEN])
    return report([*regressed, *never, *always, *flaky, *back])


def test_one_answer_in_the_terminal(tell: Tell, golden: Callable[[str, str], None]) -> None:
    golden("one.txt", bisect_text(one_answer(tell), width=100))


def test_many_answers_in_the_terminal(tell: Tell, golden: Callable[[str, str], None]) -> None:
    golden("many.txt", bisect_text(many_answers(tell), width=100))


def test_a_metric_in_the_terminal(tell: Tell, golden: Callable[[str, str], None]) -> None:
    golden(
        "metric.txt",
        bisect_text(
            report(tell([FEW] * 5 + [MANY] * 4 + [GONE], criterion="registers>128")), width=100
        ),
    )


def dated(answer: ReleaseAnswer, *days: str) -> ReleaseAnswer:
    """The same answer, with the days on which its first releases were published."""
    envs = [
        evolve(probe.result.cell.env, released=date.fromisoformat(day))
        for probe, day in zip(answer.probes, days, strict=False)
    ]
    results = [
        evolve(probe.result, cell=evolve(probe.result.cell, env=env))
        for probe, env in zip(answer.probes, envs, strict=False)
    ]
    probes = [
        evolve(probe, result=result) for probe, result in zip(answer.probes, results, strict=False)
    ]
    return evolve(answer, probes=(*probes, *answer.probes[len(probes) :]))


def test_publication_days_are_shown_and_versions_out_of_order_are_noted(
    tell: Tell,
) -> None:
    (answer,) = tell([OK, OK, OK, GONE])
    assert "released" not in bisect_text(report([answer]), width=100)
    answer = dated(answer, "2026-05-06", "2026-07-08", "2026-07-02")
    text = bisect_text(report([answer]), width=100)
    assert "released" in text
    assert "2026-07-08" in text
    assert (
        f"The versions were not published in order: {LINE[2]} was published before {LINE[1]}."
        in text
    )
    days = [probe["released"] for probe in bisect_document(report([answer]))[0]["probes"]]
    assert days[:3] == ["2026-05-06", "2026-07-08", "2026-07-02"]
    assert not any(days[3:])


def test_the_markdown_of_an_issue(tell: Tell, golden: Callable[[str, str], None]) -> None:
    golden("one.md", bisect_markdown(one_answer(tell)))


def test_the_markdown_of_many(tell: Tell) -> None:
    text = bisect_markdown(many_answers(tell))
    assert text.count("\n## ") + text.startswith("## ") == 5
    assert "(flaky)" in text


def test_envs_of_a_release_that_disagree_are_in_the_markdown(tell: Tell) -> None:
    (answer,) = tell([OK, GONE])
    first, second, *rest = answer.probes
    pair = evolve(second.result, cell=evolve(second.result.cell, env=Env(name="pair")))
    disagreeing = evolve(
        second, unsteady=True, others=(evolve(pair, outcome=first.result.outcome),)
    )
    text = bisect_markdown(report([evolve(answer, probes=(first, disagreeing, *rest))]))
    (row,) = [line for line in text.splitlines() if "(envs disagree)" in line]
    assert "pair ok (envs disagree)" in row


HISTORIES: list[tuple[list[Outcome], dict[str, Any]]] = [
    ([OK, OK, GONE], {}),
    ([bad(MISSING), OK], {}),
    ([CRASHED, OK], {}),
    ([REJECTED] * 3, {}),
    ([REJECTED], {}),
    ([OK], {}),
    ([CRASHED, REJECTED], {}),
    ([OK] * 3, {}),
    ([OK, CRASHED, OK], {}),
    ([OK, bad(SHAPE, flaky=True)], {}),
    ([bad(SHAPE, flaky=True)], {}),
    ([REJECTED, BROKEN], {}),
    ([OK, BROKEN, GONE], {}),
    ([BROKEN], {}),
    ([FEW, MANY], {"criterion": "registers>128"}),
    ([FEW, MANY], {"criterion": "register>128"}),
    ([CRASHED, REJECTED], {"criterion": "class=shape-mismatch"}),
]
"""The outcome of each release of the line, and the options of the search."""


def word(outcome: Outcome) -> str:
    """An outcome in the words of a golden file."""
    registers = outcome.metrics.get("registers")
    label = (
        outcome.failure.failure_class
        if outcome.failure
        else f"{registers} registers"
        if outcome in (FEW, MANY)
        else "ok"
    )
    return f"{label} (flaky)" if outcome.flaky else label


def test_headlines(tell: Tell, golden: Callable[[str, str], None]) -> None:
    """The golden file has a line for each history, and its headline below."""
    text = ""
    for outcomes, how in HISTORIES:
        (answer,) = tell(outcomes, **how)
        history = ", ".join(
            f"{release} {word(outcome)}" for release, outcome in zip(LINE, outcomes, strict=False)
        )
        text += f"{history}{''.join(f'; {name} {value}' for name, value in how.items())}\n"
        text += "".join(f"    {line}\n" for line in headline(answer).splitlines())
    golden("headlines.txt", text)


def test_remarks(tell: Tell) -> None:
    (answer,) = tell([OK] * 10, good=0, bad=9)
    assert remarks(answer, fixed=False) == ["3.9.0 was given as bad, but is good: ok."]
    (broken,) = tell([OK] * 9 + [BROKEN], bad=9)
    assert remarks(broken, fixed=False)[0].startswith(
        "3.9.0 was given as an endpoint, but could not be tested: env_broken"
    )
    (regression,) = tell([OK] * 9 + [GONE])
    assert remarks(regression, fixed=True) == ["Not fixed up to 3.9.0."]
    (searched,) = tell([OK] * 9 + [GONE], every=False)
    gaps = evolve(searched, assumed=(("3.1.0", "3.3.0"), ("3.5.0", "3.5.0")))
    (assumed,) = (remark for remark in remarks(gaps, fixed=False) if "assumed" in remark)
    assert assumed == (
        "Not tested, and assumed to be like the neighbouring releases: 3.1.0–3.3.0 and 3.5.0 (--all"
        " tests them)."
    )
    (elsewhere,) = tell([OK, bad(SHAPE, flaky=True), OK, OK, GONE])
    assert remarks(elsewhere, fixed=False) == ["Flaky, so not used: 3.1.0."]


def test_equal_answers_form_one_group(tell: Tell) -> None:
    answer_groups = group_alike(many_answers(tell).bisection.releases)
    assert [subject_of(group) for group in answer_groups] == [
        "sel_dense/block_ptr (3 cases × 3 targets)",
        "sel_dense/block_ptr (d64 × sm_80, sm_90)",
        "sel_dense/block_ptr (d64, sm_90)",
        "sel_dense/block_ptr (d64, sm_90)",
        "sel_dense/block_ptr (d64, sm_90)",
    ]
    assert sum(len(group) for group in answer_groups) == 14


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_never_wider_than_the_terminal(tell: Tell, width: int) -> None:
    for make in (one_answer, many_answers):
        lines = bisect_text(make(tell), width=width).splitlines()
        assert all(
            len(line) <= width
            for line in lines
            if not line.startswith(("again ", "commits ", "continue "))
        )


def test_the_documents_follow_their_schema(tell: Tell) -> None:
    Draft202012Validator.check_schema(schema())
    metric = report(tell([FEW] * 2 + [MANY] + [GONE], criterion="registers>128"))
    fixed = report(tell([CRASHED, REJECTED, OK]), fixed=True)
    searched = report(tell([OK] * 9 + [GONE], every=False))
    for bisect_report in (
        one_answer(tell),
        many_answers(tell),
        metric,
        fixed,
        searched,
        report([]),
    ):
        Draft202012Validator(schema()).validate(json.loads(dump(bisect_document(bisect_report))))  # type: ignore[arg-type]


def test_shipped_schema_matches_the_records(
    golden: Callable[[str, str], None],
) -> None:
    golden("../../../compat/report/bisect.schema.json", json.dumps(schema(), indent=1) + "\n")


def test_schema_has_every_word_and_docs_have_every_key() -> None:
    definitions = schema()["$defs"]
    assert set(definitions["Word"]["enum"]) == set(Word)
    assert set(definitions["Judgement"]["enum"]) == set(Judgement)
    assert set(definitions["Status"]["enum"]) == set(Status)
    text = DOCS.read_text(encoding="utf-8")
    keys = {key for record in definitions.values() for key in record.get("properties", ())}
    assert [key for key in sorted(keys) if f"`{key}`" not in text] == []


def test_docs_have_every_key_of_an_answer_about_settings() -> None:
    table = DOCS.read_text(encoding="utf-8").rpartition("On `config`")[2]
    keys = {field.name for record in (ConfigAnswer, SettingNeed) for field in fields(record)}
    assert [key for key in sorted(keys - {"sentence"}) if f"`{key}`" not in table] == []
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) <= keys


def test_an_answer_about_settings_says_each_fact_once() -> None:
    need = SettingNeed(
        setting="A", value="2", ok=("1",), fails=(), sentence="fails with A = 2, ok with 1"
    )
    sentence = f"It is ok with A=1 instead of 2. In short: {need.sentence}."
    found = ConfigAnswer(sentence=sentence, needs=(need,), compiled=1)
    answer = CellAnswer(cell=result(OK).cell, answer=found)
    shown = "\n".join(cell_answer_lines(answer, Axis.CONFIG))
    assert shown.count(need.sentence) == 1
    assert "1 changed specialization compiled" in shown


def test_a_document(tell: Tell) -> None:
    (document,) = bisect_document(one_answer(tell))
    expected = {
        "schema": 2,
        "kernel": "sel_dense",
        "variant": "block_ptr",
        "case": "d64",
        "target": "sm_90",
        "answer": "removed in",
        "verdict": "removed in 3.9.0",
        "release": "3.9.0",
        "bracket": {
            "last_good": "3.8.0",
            "first_bad": "3.9.0",
            "last_bad": None,
            "first_good": None,
            "untested": [],
        },
        "transitions": [
            {
                "from": "3.8.0",
                "to": "3.9.0",
                "change": "ok→failed",
                "class": "api-removed",
                "fingerprint": "api-removed:c01dbeef",
                "untested": [],
            }
        ],
        "part": {"name": "front end", "sentence": FRONT.sentence, "steps": list(FRONT.steps)},
    }
    assert {key: document[key] for key in expected} == expected
    assert [probe["triton"] for probe in document["probes"]] == list(LINE)
    assert document["probes"][9]["fingerprint"] == "api-removed:c01dbeef"


def test_document_of_a_fix_has_last_bad_and_first_good(tell: Tell) -> None:
    (document,) = bisect_document(report(tell([CRASHED, REJECTED, OK])))
    assert document["bracket"] == {
        "last_good": None,
        "first_bad": None,
        "last_bad": "3.1.0",
        "first_good": "3.2.0",
        "untested": [],
    }
    assert [(change["change"], change["class"]) for change in document["transitions"]] == [
        ("failure changed", "shape-mismatch"),
        ("failed→ok", "shape-mismatch"),
    ]


def test_bracket_gives_the_commands_and_the_link_to_continue_with(tell: Tell) -> None:
    (regression,) = tell([OK] * 9 + [GONE])
    change = regression.bracket
    assert change is not None
    assert compare_url(change) == "https://github.com/triton-lang/triton/compare/v3.8.0...v3.9.0"
    assert shlex.split(repeat_command(regression, ("--spec", "my kernels/*.toml"))) == [
        *(
            "compat",
            "bisect",
            "--kernel",
            "sel_dense",
            "--variant",
            "block_ptr",
            "--case",
            "d64",
            "--target",
            "sm_90",
        ),
        *("--good", "3.8.0", "--bad", "3.9.0", "--spec", "my kernels/*.toml"),
    ]
    assert shlex.split(commits_command(change) or "") == [
        *(
            "tritonparseoss",
            "bisect",
            "--triton-dir",
            "triton",
            "--test-script",
            "test.py",
            "--good",
            "v3.8.0",
            "--bad",
            "v3.9.0",
        )
    ]
    before = evolve(change.before, release="ours-triton 3.8.0")
    forks = evolve(regression, bracket=evolve(change, before=before))
    assert "--good triton-3.8.0 --bad 3.9.0" in repeat_command(forks), "the env, which has a name"
    (fixed,) = tell([CRASHED, OK])
    assert "--good 3.1.0 --bad 3.0.0 --fixed" in repeat_command(fixed)
    assert fixed.bracket is not None
    assert "inverted" in commits_advice(fixed.bracket)
    assert "inverted" not in commits_advice(change)
    git_change = evolve(change, before=evolve(change.before, release="3.6.0+git1a2b3c"))
    assert (
        compare_url(git_change) == "https://github.com/triton-lang/triton/compare/1a2b3c...v3.9.0"
    )
    nowhere = evolve(change, before=evolve(change.before, release="3.6.0+ours"))
    assert (compare_url(nowhere), commits_command(nowhere)) == (None, None)


def test_headline_names_no_part_that_fixed_an_api_that_came_later(tell: Tell) -> None:
    (later,), (fixed,) = tell([bad(MISSING), OK]), tell([CRASHED, OK])
    assert FRONT.sentence not in headline(evolve(later, part=FRONT))
    assert FRONT.sentence in headline(evolve(fixed, part=FRONT))
    (removed,) = tell([bad(MISSING), OK, GONE])
    assert removed.needs, "first a need, and then a break, which has a part"
    assert FRONT.sentence in headline(evolve(removed, part=FRONT))


def test_sentence_about_a_cell_is_wrapped_on_a_terminal(
    tell: Tell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = tell([OK, GONE])[0].probes[-1].result.cell
    answer = CellAnswer(cell=cell, answer=evolve(FRONT, sentence="It is in some part. " * 9))
    progress = BisectProgress(Axis.PART, (), Answer(), several=False)
    monkeypatch.setenv("COLUMNS", "60")
    progress.receive_answer(answer)
    first = capsys.readouterr().out.splitlines()[0]
    assert first == f"{cell.id}: {'It is in some part. ' * 9}"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    progress.receive_answer(answer)
    lines = click.unstyle(capsys.readouterr().out).splitlines()
    assert " ".join(lines).startswith(first.strip())
    assert max(map(len, lines[:3])) <= 60
