"""Verdicts: by example, and against an oracle that reads a history as a string."""

from __future__ import annotations

import re
from itertools import pairwise

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from compat.history.account import Word
from compat.history.verdict import (
    Verdict,
    disagreements,
    release_of,
    releases_of,
    runs_of,
    verdicts,
)
from compat.model import BuiltEnv, Env, Outcome, Package, Result, Status, ToolchainWarning
from tests import records
from tests.records import failure, spec
from tests.targets import TARGETS
from tests.together import for_each

RELEASES = (
    "3.0.0",
    "3.1.0",
    "3.2.0",
    "3.3.0",
    "3.3.1",
    "3.4.0",
    "3.5.0",
    "3.5.1",
    "3.6.0",
    "3.7.0",
    "3.10.0",
)


SPEC = spec("v", "c", kernel="k")

LETTERS = {
    "g": Outcome(status=Status.OK, stage="cubin"),
    "d": Outcome(
        status=Status.OK,
        stage="cubin",
        warnings=(ToolchainWarning(type="DeprecationWarning", message="will go"),),
    ),
    "b": Outcome(status=Status.REJECTED, stage="ttir", failure=failure("type-error")),
    "c": Outcome(status=Status.CRASHED, stage="ttir", failure=failure("compiler-assert")),
    "x": Outcome(status=Status.REJECTED, stage="ttir", failure=failure("compiler-assert")),
    "C": Outcome(
        status=Status.CRASHED, stage="ttir", failure=failure("compiler-assert", "another assert")
    ),
    "p": Outcome(
        status=Status.REJECTED, stage="cubin", failure=failure("shared-memory", prediction=True)
    ),
    "P": Outcome(
        status=Status.OK, stage="cubin", failure=failure("shared-memory", prediction=True)
    ),
    "o": Outcome(status=Status.REJECTED, stage="ast", failure=failure("api-missing")),
    "a": Outcome(status=Status.REJECTED, stage="ast", failure=failure("api-changed")),
    "u": Outcome(status=Status.UNSUPPORTED, stage="cubin", failure=failure("target-unknown")),
    "r": Outcome(status=Status.REJECTED, stage="ast", failure=failure("api-removed")),
    "?": Outcome(status=Status.ENV_BROKEN, stage="source", failure=failure("install")),
    "l": Outcome(status=Status.LOST, stage="source"),
    "F": Outcome(status=Status.CRASHED, stage="ttir", failure=failure("timeout"), flaky=True),
    "f": Outcome(status=Status.OK, stage="cubin", flaky=True),
}
"""One letter for each outcome of a cell. A history is a word of these letters."""


def result(
    letter: str,
    release: str | None,
    *,
    torch: bool = False,
    env: str = "",
    distribution: str = "triton",
    target: str = "sm_90",
) -> Result:
    declared = Env(
        name=env or f"{'pt' if torch else 't'}{release}",
        release=Version(release) if release else None,
        framework_release=Version("2.4.1") if torch else None,
        distribution=distribution,
    )
    return records.result(LETTERS[letter], BuiltEnv(env=declared), TARGETS[target], SPEC)


def verdict_on(word: str) -> Verdict:
    """The verdict on a history written as letters, one per release."""
    (verdict,) = verdicts(
        [result(letter, release) for letter, release in zip(word, RELEASES, strict=False)]
    )
    return verdict


def spans(verdict: Verdict) -> list[str]:
    return [f"{i.first}..{i.last} {i.failure_class or i.status}" for i in verdict.intervals]


@for_each(
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
        ("ggo", "removed in 3.2.0"),
        ("gga", "removed in 3.2.0"),
        ("aag", "needs ≥ 3.2.0"),
        ("gbg", "intermittent"),
        ("ug", "needs ≥ 3.1.0"),
        ("ugr", "needs ≥ 3.1.0, removed in 3.2.0"),
        ("ugb", "needs ≥ 3.1.0, regressed in 3.2.0"),
        ("ugbg", "needs ≥ 3.1.0, intermittent"),
        ("ogr", "needs ≥ 3.1.0, removed in 3.2.0"),
        ("obgr", "intermittent"),
        ("g?b", "regressed after 3.0.0, by 3.2.0"),
        ("b?g", "fixed after 3.0.0, by 3.2.0"),
        ("o?g", "needs > 3.0.0, works in 3.2.0"),
        ("g?r", "removed after 3.0.0, by 3.2.0"),
        ("o?glr", "needs > 3.0.0, works in 3.2.0, removed after 3.2.0, by 3.3.1"),
        ("gFg", "works in 2 of 3, rest unknown"),
        ("gg?", "works in 2 of 3, rest unknown"),
        ("ubF", "failed in 1 of 3, unsupported in 1, rest unknown"),
        ("bfb", "failed in 2 of 3, rest unknown"),
        ("b?", "failed in 1 of 2, rest unknown"),
        ("gFbb", "regressed after 3.0.0, by 3.2.0"),
    ],
)
def test_history_has_its_phrase(word: str, phrase: str) -> None:
    assert verdict_on(word).phrase == phrase


def test_releases_are_ordered_as_versions_not_as_text() -> None:
    history = [result("b", "3.10.0"), result("g", "3.9.0"), result("g", "3.2.0")]
    (verdict,) = verdicts(history)
    assert verdict.phrase == "regressed in 3.10.0"
    assert spans(verdict) == ["3.2.0..3.9.0 ok", "3.10.0..3.10.0 type-error"]


def test_untested_and_flaky_releases_end_an_interval_and_are_listed_apart() -> None:
    verdict = verdict_on("gg?gFgl")
    assert spans(verdict) == ["3.0.0..3.1.0 ok", "3.3.0..3.3.0 ok", "3.4.0..3.4.0 ok"]
    assert verdict.untested_releases == ("3.2.0", "3.5.0")
    assert verdict.flaky == ("3.3.1",)


def test_change_of_a_failure_shows_by_class_and_by_fingerprint() -> None:
    changes = verdict_on("bcC?cg").changes
    assert [(c.before, c.after, c.release) for c in changes] == [
        ("type-error", "compiler-assert", "3.1.0"),
        ("compiler-assert", "compiler-assert", "3.2.0"),
        ("compiler-assert", "compiler-assert", "3.3.1"),
    ]


def test_same_failure_with_another_status_is_an_interval_but_no_change() -> None:
    verdict = verdict_on("ccx")
    assert [(i.first, i.last, i.status) for i in verdict.intervals] == [
        ("3.0.0", "3.1.0", Status.CRASHED),
        ("3.2.0", "3.2.0", Status.REJECTED),
    ]
    assert verdict.changes == ()


def test_deprecated_releases_are_good_and_listed() -> None:
    verdict = verdict_on("gdr")
    assert (verdict.phrase, verdict.deprecating_releases) == ("removed in 3.2.0", ("3.1.0",))
    assert spans(verdict)[0] == "3.0.0..3.1.0 ok"


def test_pair_and_triton_only_env_are_one_release() -> None:
    (verdict,) = verdicts(
        [result("g", "3.0.0"), result("g", "3.0.0", torch=True), result("b", "3.1.0", torch=True)]
    )
    assert spans(verdict) == ["3.0.0..3.0.0 ok", "3.1.0..3.1.0 type-error"]


def test_an_answer_outweighs_a_broken_env_of_the_same_release() -> None:
    (verdict,) = verdicts([result("?", "3.0.0", torch=True), result("g", "3.0.0")])
    assert (verdict.phrase, verdict.untested_releases) == ("works", ())


def test_release_whose_envs_disagree_is_flaky() -> None:
    history = [
        result("g", "3.0.0"),
        result("g", "3.1.0"),
        result("b", "3.1.0", torch=True),
        result("g", "3.2.0"),
    ]
    (verdict,) = verdicts(history)
    assert (verdict.phrase, verdict.flaky) == ("works in 2 of 3, rest unknown", ("3.1.0",))
    (noted,) = disagreements(history)
    assert (noted.release, noted.answers) == (
        "3.1.0",
        (("t3.1.0", "ok"), ("pt3.1.0", "type-error")),
    )


def test_failure_of_the_triton_only_env_stands_for_the_release() -> None:
    history = [result("c", "3.0.0", torch=True, env="a-pair"), result("b", "3.0.0", env="z-only")]
    (verdict,) = verdicts(history)
    assert spans(verdict) == ["3.0.0..3.0.0 type-error"]
    assert [d.release for d in disagreements(history)] == ["3.0.0"]


def test_flaky_in_one_env_is_flaky_for_the_release() -> None:
    (verdict,) = verdicts(
        [result("g", "3.0.0"), result("b", "3.1.0"), result("F", "3.1.0", torch=True)]
    )
    assert (verdict.phrase, verdict.flaky) == ("works in 1 of 2, rest unknown", ("3.1.0",))


def test_forks_are_not_part_of_the_history_of_releases() -> None:
    fork = result("b", "3.1.0+ours", env="fork")
    (verdict,) = verdicts(
        [
            result("g", "3.1.0"),
            fork,
            result("b", "3.1.0", distribution="ours-triton"),
            result("g", "3.2.0"),
        ]
    )
    assert (verdict.phrase, spans(verdict)) == ("works", ["3.1.0..3.2.0 ok"])
    (alone,) = verdicts([fork, result("g", "3.1.0+better")])
    assert (alone.phrase, spans(alone)[0]) == (
        "regressed in 3.1.0+ours",
        "3.1.0+better..3.1.0+better ok",
    )


def test_an_env_without_any_version_is_no_release() -> None:
    nameless = result("?", None, env="wheel")
    assert release_of(nameless.built).label == "wheel"
    (verdict,) = verdicts([nameless, result("g", "3.1.0")])
    assert (verdict.phrase, verdict.untested_releases) == ("works", ())
    (unknown,) = verdicts([nameless])
    assert (unknown.word, unknown.untested_releases) == (Word.UNKNOWN, ("wheel",))


EXISTING = tuple(map(Version, RELEASES))


def test_existing_release_that_was_not_tried_is_in_the_account() -> None:
    (verdict,) = verdicts(
        [result("b", "3.0.0"), result("b", "3.10.0")], existing={"triton": EXISTING}
    )
    assert verdict.phrase == "failed in 2 of 11, rest unknown"
    assert verdict.not_tried == RELEASES[1:-1]
    (needed,) = verdicts(
        [result("o", "3.0.0"), result("o", "3.1.0"), result("g", "3.5.1")],
        existing={"triton": EXISTING},
    )
    assert (needed.word, needed.release, needed.phrase) == (
        Word.NEEDS,
        "3.5.1",
        "needs > 3.1.0, works in 3.5.1",
    )
    assert needed.bracket is not None
    assert needed.bracket.between == ("3.2.0", "3.3.0", "3.3.1", "3.4.0", "3.5.0")
    assert spans(needed) == ["3.0.0..3.1.0 api-missing", "3.5.1..3.5.1 ok"]
    (works,) = verdicts(
        [result("g", "3.0.0"), result("g", "3.1.0"), result("g", "3.3.0")],
        existing={"triton": EXISTING},
    )
    assert (works.phrase, works.complete, spans(works)) == (
        "works",
        False,
        ["3.0.0..3.1.0 ok", "3.3.0..3.3.0 ok"],
    )


def test_earlier_result_counts_where_this_run_has_no_answer() -> None:
    run = [result("b", "3.1.0"), result("?", "3.2.0")]
    earlier = [
        result("g", "3.0.0"),
        result("g", "3.1.0", torch=True),
        result("b", "3.2.0", torch=True),
        result("g", "3.0.0+ours"),
    ]
    (verdict,) = verdicts(run, remembered=earlier, existing={"triton": EXISTING[:3]})
    assert (verdict.phrase, verdict.remembered_releases) == (
        "regressed in 3.1.0",
        ("3.0.0", "3.2.0"),
    )
    assert (verdict.untested_releases, verdict.flaky, verdict.not_tried) == ((), (), ())


def test_account_of_a_fork_has_no_releases() -> None:
    (verdict,) = verdicts(
        [result("b", "3.1.0+ours")],
        remembered=[result("g", "3.0.0")],
        existing={"triton": EXISTING},
    )
    assert (verdict.phrase, verdict.line) == ("never worked", ("3.1.0+ours",))


def test_installed_version_counts_and_not_the_requested_one() -> None:
    template = result("g", "3.8.0").built
    built = BuiltEnv(
        env=template.env, packages=(Package(name="triton", version="3.8.1", digest="0"),)
    )
    assert release_of(built).label == "3.8.1"


def test_kernels_of_the_same_name_have_separate_histories() -> None:
    small = [result("g", "3.0.0"), result("g", "3.1.0")]
    large = [
        _with_warps(result(letter, release), 8)
        for letter, release in (("g", "3.0.0"), ("b", "3.1.0"))
    ]
    earlier = [result("b", "3.2.0"), _with_warps(result("g", "3.2.0"), 8)]
    kernel_verdicts = verdicts([*small, *large], remembered=earlier)
    assert [(one.kernel, one.phrase) for one in kernel_verdicts] == [
        ("k", "regressed in 3.2.0"),
        ("k", "intermittent"),
    ]
    assert disagreements([*small, *large]) == ()


def _with_warps(base: Result, number: int) -> Result:
    compiled = evolve(base.cell.spec.compile, options={"num_warps": number})
    return evolve(base, cell=evolve(base.cell, spec=evolve(base.cell.spec, compile=compiled)))


def test_every_target_has_its_own_verdict() -> None:
    target_verdicts = verdicts([result("g", "3.0.0"), result("b", "3.0.0", target="sm_80")])
    assert [(v.target, v.phrase) for v in target_verdicts] == [
        ("sm_80", "never worked"),
        ("sm_90", "works"),
    ]
    assert verdicts([]) == ()


# --- an oracle that shares nothing with the implementation ----------------------------------------

LACKING, BAD = "uora", "^gd"
PATTERNS = (
    (r"", "unknown"),
    (r"u+", "unsupported"),
    (r"[gd]+", "works"),
    (rf"[{BAD}]+", "never worked"),
    (rf"([{LACKING}]+)([gd]+)", "needs ≥"),
    (rf"([{BAD}]+)([gd]+)", "fixed in"),
    (rf"[{LACKING}]*([gd]+)([{LACKING}]+)", "removed in"),
    (rf"[{LACKING}]*([gd]+)([{BAD}]+)", "regressed in"),
    (r".*", "intermittent"),
)

words = st.text(alphabet="ggdbcCpoouarr?lF", min_size=1, max_size=len(RELEASES))


def oracle(word: str) -> tuple[str, str | None, tuple[str, str, tuple[str, ...]] | None]:
    """Word, release and bracket, from regular expressions over the known letters."""
    letters = [(letter, place) for place, letter in enumerate(word) if letter not in "?lFf"]
    text = "".join(letter for letter, _ in letters)
    for pattern, verdict in PATTERNS:
        if match := re.fullmatch(pattern, text):
            if not match.groups():
                return verdict, None, None
            after, before = letters[match.start(2)][1], letters[match.start(2) - 1][1]
            return (
                verdict,
                RELEASES[after],
                (RELEASES[before], RELEASES[after], RELEASES[before + 1 : after]),
            )
    raise AssertionError(text)


@given(words)
def test_verdict_agrees_with_the_oracle(word: str) -> None:
    verdict = verdict_on(word)
    bracket = verdict.bracket if verdict.word is not Word.INTERMITTENT else None
    ends = (bracket.before, bracket.after, bracket.between) if bracket else None
    assert (verdict.word, verdict.release, ends) == oracle(word)


@given(words)
def test_brackets_are_between_known_neighbours_that_differ(word: str) -> None:
    """In every history, the ends of a bracket are known, and the releases between them are not."""
    good = {
        release: letter in "gd"
        for letter, release in zip(word, RELEASES, strict=False)
        if letter not in "?lFf"
    }
    verdict = verdict_on(word)
    for bracket in verdict.brackets:
        assert (good[bracket.before], good[bracket.after]) == (not bracket.is_fix, bracket.is_fix)
        assert not set(bracket.between) & set(good)
        assert (
            bracket.between
            == RELEASES[RELEASES.index(bracket.before) + 1 : RELEASES.index(bracket.after)]
        )
    assert {verdict.bracket, verdict.since} <= {*verdict.brackets, None}


@given(words)
def test_phrase_names_a_release_only_if_it_is_certain(word: str) -> None:
    """``never worked`` needs an answer for every release.

    ``in X`` and ``≥ X`` need an answer for the release before X.
    """
    verdict = verdict_on(word)
    assert ("never worked" in verdict.phrase) == (
        verdict.word is Word.NEVER and not set(word[: len(RELEASES)]) & set("?lFf")
    )
    for release in re.findall(
        r"(?:regressed in|fixed in|removed in|needs ≥) ([\d.]+)", verdict.phrase
    ):
        assert word[RELEASES.index(release) - 1] not in "?lFf"


@given(words)
def test_intervals_cover_each_known_release_once_and_no_other(word: str) -> None:
    verdict = verdict_on(word)
    place = {release: i for i, release in enumerate(RELEASES)}
    covered: dict[str, tuple[Status, str | None]] = {}
    for interval in verdict.intervals:
        for release in RELEASES[place[interval.first] : place[interval.last] + 1]:
            assert release not in covered
            covered[release] = (interval.status, interval.fingerprint)
    truth = {
        release: (
            LETTERS[letter].status,
            fail.fingerprint if (fail := LETTERS[letter].failure) else None,
        )
        for letter, release in zip(word, RELEASES, strict=False)
        if letter not in "?lFf"
    }
    assert covered == truth
    for left, right in pairwise(verdict.intervals):
        touching = place[left.last] + 1 == place[right.first]
        assert not (
            touching and (left.status, left.fingerprint) == (right.status, right.fingerprint)
        ), "not as long as it could be"
    assert {*verdict.untested_releases, *verdict.flaky, *covered} == set(RELEASES[: len(word)])


@given(words, st.randoms(use_true_random=False))
def test_the_order_of_results_does_not_matter(word: str, random: object) -> None:
    history = [result(letter, release) for letter, release in zip(word, RELEASES, strict=False)]
    before = verdicts(history)
    random.shuffle(history)  # type: ignore[attr-defined]
    assert verdicts(history) == before


@given(words)
def test_every_change_is_between_two_failures_that_differ(word: str) -> None:
    letters = [
        (letter, release)
        for letter, release in zip(word, RELEASES, strict=False)
        if letter not in "?lFf"
    ]
    naive = [
        release
        for (before, _), (after, release) in pairwise(letters)
        if before not in "gd" and after not in "gd" and before != after
    ]
    assert [change.release for change in verdict_on(word).changes] == naive


@for_each(
    ("chosen", "runs"),
    [
        (("triton-3.1.0", "pair", "triton-3.2.0"), "3.1.0–3.2.0"),
        (("triton-3.1.0", "triton-3.2.0"), "3.2.0, triton-3.1.0"),  # another env has 3.1.0
        (("triton-3.1.0", "pair", "triton-3.3.0"), "3.1.0, 3.3.0"),
        (("triton-3.3.0", "triton-3.3.1"), "3.3.0, 3.3.1"),  # 3.3.0.post1 was not tried
        (("triton-3.2.0", "ours"), "3.2.0, ours 3.2.0"),
    ],
)
def test_releases_of_envs_are_runs_without_gaps(chosen: tuple[str, ...], runs: str) -> None:
    tried = [
        *(records.env(release) for release in ("3.1.0", "3.2.0", "3.3.0", "3.3.1")),
        records.env("3.1.0", name="pair", torch="2.5.1"),
        records.env("3.2.0", name="ours", distribution="ours"),
    ]
    existing = [Version(release) for release in ("3.1.0", "3.2.0", "3.3.0", "3.3.0.post1", "3.3.1")]
    assert runs_of(chosen, releases_of(tried), existing) == runs
