"""Defects that are known upstream: their file, and the hits that they cover."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from compat.errors import ConfigError
from compat.hunt.examples import WrittenHunt
from compat.hunt.hunting import progress
from compat.hunt.known_defects import KnownDefect, read_known
from compat.hunt.oracles import Hit, Oracle, judge
from compat.hunt.view import hunt_blocks, hunt_document, sentences
from compat.model import Check, Numbers, Status
from compat.report.render.terminal import plain_text
from compat.toolchains.triton.programs.generator import generate
from tests.hunt.made import answer_of
from tests.records import OK, bad, failure, result
from tests.together import for_each

PROGRAM = generate(1)
URL = "https://example.org/issues/1"


def read(folder: Path, text: str) -> tuple[KnownDefect, ...]:
    path = folder / "known.toml"
    path.write_text(text)
    return read_known(path)


def defect(folder: Path, line: str, fingerprint: str = "crash") -> KnownDefect:
    text = f'[[defect]]\nfingerprint = "{fingerprint}"\nurl = "{URL}"\n{line}\n'
    (one,) = read(folder, text)
    return one


def crash(release: str, name: str = "class") -> Hit:
    cell_result = result(bad(failure(name), Status.CRASHED), release)
    (hit,) = judge(PROGRAM, [(PROGRAM, [cell_result])]).hits
    return hit


def wrong(*, by_gpu: bool) -> Hit:
    check = Check(status=Status.WRONG, reason="is nan, expected -4")
    numbers = Numbers(gpu=check) if by_gpu else Numbers(interpreter=check)
    (hit,) = judge(PROGRAM, [(PROGRAM, [result(OK, "3.9.0", numbers=numbers)])]).hits
    return hit


@for_each(
    ("line", "release", "is_covered"),
    [
        ("", "3.9.0", True),
        ('releases = "<3.9"', "3.8.0", True),
        ('releases = "<3.9"', "3.9.0", False),
        ('oracle = "crash"', "3.9.0", True),
        ('oracle = "numbers"', "3.9.0", False),
        (r"source = '^def (\w+)\(.*^    '", "3.9.0", True),
        (r"source = '^    tl\.flip'", "3.9.0", False),
    ],
)
def test_every_line_of_a_known_defect_limits_the_hits_that_it_covers(
    tmp_path: Path, line: str, release: str, is_covered: bool
) -> None:
    hit = crash(release)
    known_defect = defect(tmp_path, line, hit.fingerprint)
    assert known_defect.covers(hit, "def kernel(x):\n    tl.sort(x)\n") is is_covered
    assert not defect(tmp_path, line, "another").covers(hit, "def kernel(x):\n    tl.sort(x)\n")


def test_oracle_separates_wrong_numbers_of_a_gpu_and_an_interpreter(
    tmp_path: Path,
) -> None:
    known_defect = defect(tmp_path, 'oracle = "interpreter"', "wrong:nan")
    assert [known_defect.covers(wrong(by_gpu=by_gpu), "") for by_gpu in (False, True)] == [
        True,
        False,
    ]


def test_fingerprint_of_known_wrong_numbers_may_include_releases(
    tmp_path: Path,
) -> None:
    hit = wrong(by_gpu=True)
    for fingerprint, is_covered in (
        ("wrong:nan", True),
        ("wrong:nan:3.9.0", True),
        ("wrong:nan:3.8.0", False),
    ):
        known_defect = defect(tmp_path, "", fingerprint)
        assert known_defect.covers(hit, "", "wrong:nan:3.9.0") is is_covered


@for_each(
    ("text", "where", "message"),
    [
        ('[[defect]]\nfingerprint = "a"', "defect[0].url", "is missing"),
        (f'[[defect]]\nurl = "{URL}"', "defect[0].fingerprint", "is missing"),
        ('[[defect]]\nfingerprint = "a"\nurl = "issue 7"', "defect[0].url", "expected a link"),
        (
            f'[[defect]]\nfingerprint = "a"\nurl = "{URL}"\noracle = "gpu"',
            "defect[0].oracle",
            "there is no oracle 'gpu'",
        ),
        (
            f'[[defect]]\nfingerprint = "a"\nurl = "{URL}"\nsource = "("',
            "defect[0].source",
            "is not a regular expression",
        ),
        (
            f'[[defect]]\nfingerprint = "a"\nurl = "{URL}"\nreleases = "3.9"',
            "defect[0].releases",
            "is not a version specifier",
        ),
        ('[[defect]]\nlink = "a"', "defect[0].link", "unknown key"),
        ("[[defects]]", "defects", "unknown key"),
    ],
)
def test_error_names_its_place_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, where: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert caught.value.where == f"known.toml: {where}"
    assert message in str(caught.value)


def test_answer_separates_known_and_new_hits_of_one_fingerprint(tmp_path: Path) -> None:
    results = [
        result(bad(failure("class"), Status.CRASHED), release) for release in ("3.8.0", "3.9.0")
    ]
    known_defect = defect(
        tmp_path, 'releases = "<3.9"\nnote = "fixed in 3.9.0"', crash("3.9.0").fingerprint
    )
    verdict = judge(PROGRAM, [(PROGRAM, results)])
    answer = answer_of(verdict, seeds=(1, 2), targets=("sm_90",), known=(known_defect,))
    known_by_envs = {entry.envs: entry.known for entry in answer.defects}
    assert known_by_envs == {("triton-3.8.0",): known_defect, ("triton-3.9.0",): None}
    example = Path("hunt/new.toml")
    written = WrittenHunt(examples={f"crash:{crash('3.9.0').fingerprint}": example}, issues={})
    document = hunt_document(answer, written)
    assert {(entry["known"], entry["example"]) for entry in document["defects"]} == {
        (URL, None),
        (None, str(example)),
    }
    assert "\n\n\n" not in plain_text(hunt_blocks(answer, written))
    lines = [str(block) for block in hunt_blocks(answer, written)]
    assert any(f"known     {URL} (fixed in 3.9.0)" in line for line in lines)
    assert list(sentences(answer))[:2] == [
        "1 program from seed 1, 2 cells in 1 s (1.0 programs per second)",
        "1 of 1 program is valid",
    ]
    assert list(sentences(answer))[-1].endswith("2 distinct hits, 1 of them known")
    assert {entry.oracle for entry in answer.defects} == {Oracle.CRASH}


def test_hit_says_the_message_and_not_the_statement_that_it_is_about() -> None:
    message = "TypeError: '<=' not supported between instances of 'int' and 'NoneType'"
    quoted = evolve(failure("class"), excerpt=f"    v19 = tl.flip(v18)\n          ^\n{message}")
    verdict = judge(PROGRAM, [(PROGRAM, [result(bad(quoted, Status.CRASHED), "3.9.0")])])
    shown = plain_text(hunt_blocks(answer_of(verdict), WrittenHunt(examples={}, issues={})))
    assert f"  says      {message}\n" in shown


def test_no_seeds_are_named_if_a_hunt_was_interrupted_before_its_first_program() -> None:
    first, *_ = sentences(answer_of())
    assert first == "no program, 0 cells in 1 s (0.0 programs per second)"


def test_nothing_is_valid_if_no_program_was_compiled() -> None:
    answer = answer_of(judge(PROGRAM, []), seeds=(1, 2), targets=("sm_90",))
    assert not [line for line in (progress(answer), *sentences(answer)) if "valid" in line]
