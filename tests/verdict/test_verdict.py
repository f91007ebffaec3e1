"""Verdicts: by example, and against an oracle that reads a history as a string."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from compat.model import (
    BuiltEnv,
    Cell,
    Env,
    Failure,
    Noticed,
    Outcome,
    Package,
    Result,
    Specialization,
    Status,
    Target,
    Verdict,
    Word,
)
from compat.search.verdict import disagreements, release_of, verdicts

RELEASES = ("3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.3.1", "3.4.0", "3.5.0", "3.5.1", "3.6.0", "3.7.0", "3.10.0")


def failure(kind: str, fingerprint: str = "", *, prediction: bool = False) -> Failure:
    return Failure(
        kind=kind, stage="ttir", fingerprint=fingerprint or f"fp-{kind}", excerpt=kind, advice="Mend it.", prediction=prediction
    )


LETTERS = {
    "g": Outcome(status=Status.OK, stage="cubin"),
    "d": Outcome(status=Status.OK, stage="cubin", warnings=(Noticed(type="DeprecationWarning", message="will go"),)),
    "b": Outcome(status=Status.REJECTED, stage="ttir", failure=failure("type-error")),
    "c": Outcome(status=Status.CRASHED, stage="ttir", failure=failure("compiler-assert")),
    "x": Outcome(status=Status.REJECTED, stage="ttir", failure=failure("compiler-assert")),
    "C": Outcome(status=Status.CRASHED, stage="ttir", failure=failure("compiler-assert", "another assert")),
    "p": Outcome(status=Status.REJECTED, stage="cubin", failure=failure("shared-memory", prediction=True)),
    "P": Outcome(status=Status.OK, stage="cubin", failure=failure("shared-memory", prediction=True)),
    "o": Outcome(status=Status.REJECTED, stage="ast", failure=failure("api-missing")),
    "u": Outcome(status=Status.UNSUPPORTED, stage="cubin", failure=failure("target-unknown")),
    "r": Outcome(status=Status.REJECTED, stage="ast", failure=failure("api-removed")),
    "?": Outcome(status=Status.ENV_BROKEN, stage="import", failure=failure("install")),
    "l": Outcome(status=Status.LOST, stage="import"),
    "F": Outcome(status=Status.CRASHED, stage="ttir", failure=failure("timeout"), flaky=True),
    "f": Outcome(status=Status.OK, stage="cubin", flaky=True),
}
"""One letter per thing that may become of a cell; a history is a word of them."""


def result(
    letter: str, release: str | None, *, torch: bool = False, env: str = "", distribution: str = "triton", target: str = "sm_90"
) -> Result:
    triton = Version(release) if release else None
    declared = Env(
        name=env or f"{'pt' if torch else 't'}{release}",
        triton=triton,
        torch=Version("2.4.1") if torch else None,
        distribution=distribution,
    )
    spec = Specialization(kernel="k", variant="v", case="c", source="/k.py", function="k", signature={}, constexprs={})
    return Result(
        cell=Cell(env=declared, target=Target(name=target, backend="cuda", arch=90, warp_size=32, shared_memory=1), spec=spec),
        built=BuiltEnv(env=declared),
        outcome=LETTERS[letter],
    )


def verdict_on(word: str) -> Verdict:
    """The verdict on a history written as letters, one per release."""
    (verdict,) = verdicts([result(letter, release) for letter, release in zip(word, RELEASES, strict=False)])
    return verdict


def spans(verdict: Verdict) -> list[str]:
    return [f"{i.first}..{i.last} {i.kind or i.status}" for i in verdict.intervals]


@pytest.mark.parametrize(
    ("word", "phrase"),
    [
        ("ggg", "works"),
        ("gdd", "works"),
        ("bbb", "never worked"),
        ("bcb", "never worked"),
        ("ubb", "never worked"),
        ("ooo", "never worked"),
        ("uuu", "unsupported"),
        ("???", "unknown"),
        ("l?F", "unknown"),
        ("ggb", "regressed in 3.2.0"),
        ("gp", "regressed in 3.1.0"),
        ("gP", "regressed in 3.1.0"),
        ("bbg", "fixed in 3.2.0"),
        ("obg", "fixed in 3.2.0"),
        ("oog", "needs ≥ 3.2.0"),
        ("uog", "needs ≥ 3.2.0"),
        ("ggr", "removed in 3.2.0"),
        ("grc", "regressed in 3.1.0"),
        ("ggu", "removed in 3.2.0"),
        ("gbg", "non-monotonic"),
        ("ugr", "removed in 3.2.0"),
        ("ugbg", "non-monotonic"),
        ("ogr", "non-monotonic"),
        ("g?b", "regressed in 3.2.0"),
        ("gFg", "works"),
        ("bfb", "never worked"),
        ("gFbb", "regressed in 3.2.0"),
    ],
)
def test_word(word: str, phrase: str) -> None:
    assert verdict_on(word).phrase == phrase


def test_releases_are_ordered_as_versions_not_as_text() -> None:
    history = [result("b", "3.10.0"), result("g", "3.9.0"), result("g", "3.2.0")]
    (verdict,) = verdicts(history)
    assert verdict.phrase == "regressed in 3.10.0"
    assert spans(verdict) == ["3.2.0..3.9.0 ok", "3.10.0..3.10.0 type-error"]


def test_untested_and_flaky_releases_end_an_interval_and_are_listed_apart() -> None:
    verdict = verdict_on("gg?gFgl")
    assert spans(verdict) == ["3.0.0..3.1.0 ok", "3.3.0..3.3.0 ok", "3.4.0..3.4.0 ok"]
    assert verdict.untested == ("3.2.0", "3.5.0")
    assert verdict.flaky == ("3.3.1",)


def test_a_failure_that_changes_is_told_by_class_and_by_fingerprint() -> None:
    changes = verdict_on("bcC?cg").changes
    assert [(c.before, c.after, c.release) for c in changes] == [
        ("type-error", "compiler-assert", "3.1.0"),
        ("compiler-assert", "compiler-assert", "3.2.0"),
        ("compiler-assert", "compiler-assert", "3.3.1"),
    ]


def test_the_same_failure_with_another_status_is_an_interval_of_its_own_but_no_change() -> None:
    verdict = verdict_on("ccx")
    assert [(i.first, i.last, i.status) for i in verdict.intervals] == [
        ("3.0.0", "3.1.0", Status.CRASHED),
        ("3.2.0", "3.2.0", Status.REJECTED),
    ]
    assert verdict.changes == ()


def test_deprecated_releases_are_good_and_named() -> None:
    verdict = verdict_on("gdr")
    assert (verdict.phrase, verdict.deprecated) == ("removed in 3.2.0", ("3.1.0",))
    assert spans(verdict)[0] == "3.0.0..3.1.0 ok"


def test_pair_and_triton_only_env_are_one_release() -> None:
    (verdict,) = verdicts([result("g", "3.0.0"), result("g", "3.0.0", torch=True), result("b", "3.1.0", torch=True)])
    assert spans(verdict) == ["3.0.0..3.0.0 ok", "3.1.0..3.1.0 type-error"]


def test_an_answer_outweighs_a_broken_env_of_the_same_release() -> None:
    (verdict,) = verdicts([result("?", "3.0.0", torch=True), result("g", "3.0.0")])
    assert (verdict.phrase, verdict.untested) == ("works", ())


def test_envs_that_divide_a_release_settle_nothing() -> None:
    history = [result("g", "3.0.0"), result("g", "3.1.0"), result("b", "3.1.0", torch=True), result("g", "3.2.0")]
    (verdict,) = verdicts(history)
    assert (verdict.phrase, verdict.flaky) == ("works", ("3.1.0",))
    (noted,) = disagreements(history)
    assert (noted.release, noted.answers) == ("3.1.0", (("t3.1.0", "ok"), ("pt3.1.0", "type-error")))


def test_of_two_failures_of_one_release_the_triton_only_env_speaks() -> None:
    history = [result("c", "3.0.0", torch=True, env="a-pair"), result("b", "3.0.0", env="z-only")]
    (verdict,) = verdicts(history)
    assert spans(verdict) == ["3.0.0..3.0.0 type-error"]
    assert [d.release for d in disagreements(history)] == ["3.0.0"]


def test_flaky_in_one_env_is_flaky_for_the_release() -> None:
    (verdict,) = verdicts([result("g", "3.0.0"), result("b", "3.1.0"), result("F", "3.1.0", torch=True)])
    assert (verdict.phrase, verdict.flaky) == ("works", ("3.1.0",))


def test_forks_stand_beside_the_history_of_releases() -> None:
    fork = result("b", "3.1.0+ours", env="fork")
    (verdict,) = verdicts([result("g", "3.1.0"), fork, result("b", "3.1.0", distribution="ours-triton"), result("g", "3.2.0")])
    assert (verdict.phrase, spans(verdict)) == ("works", ["3.1.0..3.2.0 ok"])
    (alone,) = verdicts([fork, result("g", "3.1.0+better")])
    assert (alone.phrase, spans(alone)[0]) == ("regressed in 3.1.0+ours", "3.1.0+better..3.1.0+better ok")


def test_an_env_without_any_version_is_no_release() -> None:
    nameless = result("?", None, env="wheel")
    assert release_of(nameless.built).label == "wheel"
    (verdict,) = verdicts([nameless, result("g", "3.1.0")])
    assert (verdict.phrase, verdict.untested) == ("works", ())
    (unknown,) = verdicts([nameless])
    assert (unknown.word, unknown.untested) == (Word.UNKNOWN, ("wheel",))


def test_the_installed_version_counts_not_the_one_asked_for() -> None:
    asked = result("g", "3.8.0").built
    built = BuiltEnv(env=asked.env, packages=(Package(name="triton", version="3.8.1", digest="0"),))
    assert release_of(built).label == "3.8.1"


def test_every_coordinate_gets_its_own_verdict() -> None:
    found = verdicts([result("g", "3.0.0"), result("b", "3.0.0", target="sm_80")])
    assert [(v.target, v.phrase) for v in found] == [("sm_80", "never worked"), ("sm_90", "works")]
    assert verdicts([]) == ()


# --- an oracle that shares nothing with the implementation -------------------------------------------------------------------

PATTERNS = (
    (r"", "unknown"),
    (r"u+", "unsupported"),
    (r"[gd]+", "works"),
    (r"[^gd]+", "never worked"),
    (r"[uo]+([gd]+)", "needs ≥"),
    (r"[^gd]+([gd]+)", "fixed in"),
    (r"u*[gd]+([ur]+)", "removed in"),
    (r"u*[gd]+([^gd]+)", "regressed in"),
    (r".*", "non-monotonic"),
)

words = st.text(alphabet="ggdbcCpoourr?lF", min_size=1, max_size=len(RELEASES))


def oracle(word: str) -> str:
    """The verdict's phrase, from regular expressions over the known letters."""
    known = [(letter, release) for letter, release in zip(word, RELEASES, strict=False) if letter not in "?lFf"]
    text = "".join(letter for letter, _ in known)
    for pattern, phrase in PATTERNS:
        if match := re.fullmatch(pattern, text):
            return f"{phrase} {known[match.start(1)][1]}" if match.groups() else phrase
    raise AssertionError(text)


@given(words)
def test_word_agrees_with_the_oracle(word: str) -> None:
    assert verdict_on(word).phrase == oracle(word)


@given(words)
def test_intervals_cover_what_is_known_once_and_nothing_else(word: str) -> None:
    verdict = verdict_on(word)
    place = {release: i for i, release in enumerate(RELEASES)}
    covered: dict[str, tuple[Status, str | None]] = {}
    for interval in verdict.intervals:
        for release in RELEASES[place[interval.first] : place[interval.last] + 1]:
            assert release not in covered
            covered[release] = (interval.status, interval.fingerprint)
    truth = {
        release: (LETTERS[letter].status, fail.fingerprint if (fail := LETTERS[letter].failure) else None)
        for letter, release in zip(word, RELEASES, strict=False)
        if letter not in "?lFf"
    }
    assert covered == truth
    for left, right in pairwise(verdict.intervals):
        touching = place[left.last] + 1 == place[right.first]
        assert not (touching and (left.status, left.fingerprint) == (right.status, right.fingerprint)), "not as long as it could be"
    assert {*verdict.untested, *verdict.flaky, *covered} == set(RELEASES[: len(word)])


@given(words, st.randoms(use_true_random=False))
def test_the_order_of_results_does_not_matter(word: str, random: object) -> None:
    history = [result(letter, release) for letter, release in zip(word, RELEASES, strict=False)]
    before = verdicts(history)
    random.shuffle(history)  # type: ignore[attr-defined]
    assert verdicts(history) == before


@given(words)
def test_every_change_is_between_two_failures_that_differ(word: str) -> None:
    known = [(letter, release) for letter, release in zip(word, RELEASES, strict=False) if letter not in "?lFf"]
    naive = [
        release for (before, _), (after, release) in pairwise(known) if before not in "gd" and after not in "gd" and before != after
    ]
    assert [change.release for change in verdict_on(word).changes] == naive
