"""The releases that a bisection searches, and their order."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compat.bisect import candidates, request
from compat.bisect.candidates import (
    CandidateLine,
    CandidateQuery,
    from_envs,
    from_index,
    parse_release,
    parse_specifier,
    stated_date,
)
from compat.config.matrix import MatrixConfig, load_matrix
from compat.envs.listing import File, Listing
from compat.errors import SelectionError
from compat.model import Env
from compat.toolchains import DEFAULT

PYTHONS = [(3, 11), (3, 12)]
PUBLISHED = ("2.3.1", "3.0.0", "3.1.0", "3.3.0", "3.3.1", "3.5.1", "3.6.0rc1", "3.6.0", "3.10.0")


def wheel(version: str, tag: str = "cp311-cp311-manylinux_2_17_x86_64", **facts: Any) -> File:
    return File(filename=f"triton-{version}-{tag}.whl", **facts)


def index(monkeypatch: pytest.MonkeyPatch, files: Sequence[File]) -> None:
    listing = Listing(files=tuple(files), notes=("a note",))
    monkeypatch.setattr(candidates, "list_files", lambda *_args, **_kwargs: listing)


def labels(line: CandidateLine) -> list[str]:
    return [candidate.label for candidate in line.chosen]


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, config: MatrixConfig) -> Any:
    def chosen(
        files: Sequence[File] = tuple(map(wheel, PUBLISHED)), **options: Any
    ) -> CandidateLine:
        index(monkeypatch, files)
        return from_index(CandidateQuery(**options), DEFAULT, config, tmp_path, PYTHONS)

    return chosen


def test_candidates_are_the_first_release_of_every_series_from_3_0(choose: Any) -> None:
    line = choose()
    assert labels(line) == ["3.0.0", "3.1.0", "3.3.0", "3.5.1", "3.6.0", "3.10.0"]
    assert dict(line.left_out) == {
        "before 3.0.0": ("2.3.1",),
        "patch releases (--patches adds them)": ("3.3.1",),
        "pre-releases (--pre adds them)": ("3.6.0rc1",),
    }
    assert line.notes == ("a note",)


def test_patches_and_pre_releases_are_added_on_request(choose: Any) -> None:
    assert labels(choose(patches=True)) == [
        "3.0.0",
        "3.1.0",
        "3.3.0",
        "3.3.1",
        "3.5.1",
        "3.6.0",
        "3.10.0",
    ]
    assert labels(choose(pre=True)) == [
        "3.0.0",
        "3.1.0",
        "3.3.0",
        "3.5.1",
        "3.6.0rc1",
        "3.6.0",
        "3.10.0",
    ]


def test_specifier_narrows_the_candidates_or_goes_back_before_3_0(choose: Any) -> None:
    assert labels(choose(releases=SpecifierSet(">=3.1,<3.6"))) == ["3.1.0", "3.3.0", "3.5.1"]
    assert labels(choose(releases=SpecifierSet("<3.1"))) == ["2.3.1", "3.0.0"]


def test_named_releases_are_never_left_out(choose: Any) -> None:
    files = (*map(wheel, PUBLISHED), wheel("3.7.0", yanked=True))
    line = choose(files, named_releases=(Version("3.3.1"), Version("3.7"), Version("2.3.1")))
    assert labels(line) == [
        "2.3.1",
        "3.0.0",
        "3.1.0",
        "3.3.0",
        "3.3.1",
        "3.5.1",
        "3.6.0",
        "3.7.0",
        "3.10.0",
    ]
    assert line.position(Version("3.7")) == 7
    assert line.position(Version("3.8")) is None


def test_yanked_releases_are_listed_as_left_out(choose: Any) -> None:
    line = choose((wheel("3.1.0"), wheel("3.2.0", yanked=True), wheel("3.2.1")))
    assert labels(line) == ["3.1.0", "3.2.1"]
    assert line.left_out["yanked"] == ("3.2.0",)


def test_release_without_a_wheel_for_this_platform_is_left_out(choose: Any) -> None:
    files = (
        wheel("3.1.0"),
        wheel("3.2.0", tag="cp39-cp39-manylinux_2_17_x86_64"),
        wheel("3.3.0", tag="cp311-cp311-win_amd64"),
    )
    line = choose(files)
    assert labels(line) == ["3.1.0"]
    assert line.left_out == {
        "no wheel for this platform and the Pythons installed here": ("3.2.0", "3.3.0")
    }


def test_a_named_release_without_a_wheel_is_left_out_whatever_the_specifier(
    choose: Any, tmp_path: Path
) -> None:
    files = (wheel("3.1.0"), wheel("3.0.0", tag="cp39-cp39-manylinux_2_17_x86_64"))
    for options in ({}, {"find_links": str(tmp_path)}):
        line = choose(
            files,
            releases=SpecifierSet(">=3.1"),
            named_releases=(Version("3.0.0"), Version("3.1.0")),
            **options,
        )
        assert labels(line) == ["3.1.0"]
        assert line.left_out == {
            "no wheel for this platform and the Pythons installed here": ("3.0.0",)
        }
        with pytest.raises(SelectionError, match=r"3\.0 is not a candidate: no wheel"):
            request._position(line, Version("3.0"), "--good")


def test_error_says_why_no_candidate_is_left(choose: Any) -> None:
    with pytest.raises(SelectionError) as caught:
        choose(releases=SpecifierSet("==3.3.1"))
    assert "patch releases (--patches adds them): 3.3.1" in str(caught.value.hint)


def test_candidates_have_the_envs_that_the_matrix_declares(
    choose: Any, config: MatrixConfig
) -> None:
    line = choose()
    assert [candidate.env for candidate in line.chosen] == [
        config.env(f"triton-{release}") for release in labels(line)
    ]
    assert line.matrix == config.path


@pytest.mark.parametrize("seed", range(5))
def test_builds_of_one_version_are_ordered_by_date_and_not_by_hash(
    choose: Any, tmp_path: Path, seed: int
) -> None:
    days = {
        "3.6.0+gitfff0000": 1,
        "3.6.0+git0000aaa": 2,
        "3.6.0+git9999999": 3,
        "3.6.0+git1a2b3c": 4,
    }
    files = [wheel(version, uploaded=day * 86400.0) for version, day in days.items()]
    files += [wheel("3.5.0+git123abc", uploaded=9 * 86400.0), wheel("3.7.0", uploaded=0.0)]
    random.Random(seed).shuffle(files)
    line = choose(files, find_links=str(tmp_path))
    assert labels(line) == ["3.5.0+git123abc", *days, "3.7.0"]


def test_every_release_of_another_source_is_a_candidate(choose: Any, tmp_path: Path) -> None:
    releases = ["2.3.1", "3.1.0", "3.1.1", "3.2.0rc1", "3.3.0"]
    files = [wheel(release, yanked=release == "3.3.0") for release in releases]
    line = choose(files, find_links=str(tmp_path))
    assert (labels(line), line.published) == (releases, False)


def test_date_in_a_version_overrides_the_date_of_its_file(choose: Any, tmp_path: Path) -> None:
    files = (wheel("3.6.0+git20250802", uploaded=1.0), wheel("3.6.0+git20250801", uploaded=2.0))
    assert labels(choose(files, find_links=str(tmp_path))) == [
        "3.6.0+git20250801",
        "3.6.0+git20250802",
    ]


def test_builds_without_dates_keep_the_order_of_the_index(choose: Any) -> None:
    files = (
        *(wheel("3.6.0+gitfff"), wheel("3.6.0+gitaaa", uploaded=1.0)),
        *(wheel("3.6.0+gitccc"), wheel("3.6.0")),
    )
    line = choose(files, index_url="https://nightly.example/simple")
    assert labels(line) == ["3.6.0", "3.6.0+gitfff", "3.6.0+gitaaa", "3.6.0+gitccc"]


def test_dates_that_versions_state() -> None:
    assert stated_date(Version("3.6.0+git20250801")) == datetime(2025, 8, 1, tzinfo=UTC).timestamp()
    assert (
        stated_date(Version("3.6.0+20250801.git1a2b3c"))
        == datetime(2025, 8, 1, tzinfo=UTC).timestamp()
    )
    assert stated_date(Version("3.6.0+gitab20250801cd")) is None
    assert stated_date(Version("3.6.0+git20251399")) is None
    assert stated_date(Version("3.6.0")) is None


def test_a_folder_of_wheels(tmp_path: Path, config: MatrixConfig) -> None:
    house = tmp_path / "house"
    house.mkdir()
    for day, version in enumerate(("3.1.0+gitfff", "3.1.0+gitaaa")):
        path = house / f"triton-{version}-cp311-cp311-manylinux_2_17_x86_64.whl"
        path.touch()
        os.utime(path, (day, day))
    (house / "triton-3.0.0-cp39-cp39-manylinux_2_17_x86_64.whl").touch()
    (house / "numpy-1.26.4-py3-none-any.whl").touch()
    line = from_index(
        CandidateQuery(find_links=str(house)), DEFAULT, config, tmp_path / "state", PYTHONS
    )
    assert labels(line) == ["3.1.0+gitfff", "3.1.0+gitaaa"]
    first = line.chosen[0].env
    assert first.wheel == str(house / "triton-3.1.0+gitfff-cp311-cp311-manylinux_2_17_x86_64.whl")
    assert "setuptools<81" in first.install, "what a release needs without declaring it"
    assert load_matrix(line.matrix).env(first.name) == first
    assert (
        from_index(
            CandidateQuery(find_links=str(house)), DEFAULT, config, tmp_path / "state", PYTHONS
        )
        == line
    )


def test_wheels_of_one_version_from_different_places_have_different_envs(
    choose: Any, tmp_path: Path
) -> None:
    (candidate,) = choose([wheel("3.1.0")], find_links=str(tmp_path / "a")).chosen
    (other,) = choose([wheel("3.1.0")], find_links=str(tmp_path / "b")).chosen
    (published,) = choose([wheel("3.1.0")]).chosen
    assert len({candidate.env.name, other.env.name, published.env.name}) == 3


def test_another_index_and_distribution(choose: Any) -> None:
    files = [File(filename="ours_triton-3.1.0-cp311-cp311-manylinux_2_17_x86_64.whl")]
    (candidate,) = choose(
        files, index_url="https://ours.example/simple", distribution="ours-triton"
    ).chosen
    assert (candidate.env.distribution, candidate.env.index, str(candidate.env.release)) == (
        "ours-triton",
        "https://ours.example/simple",
        "3.1.0",
    )
    with pytest.raises(SelectionError, match="only triton itself"):
        choose(files, distribution="ours-triton")


def test_envs_are_grouped_by_release(tmp_path: Path) -> None:
    envs = [
        Env(name=name, release=Version(version))
        for name, version in (("b", "3.2.0"), ("c", "3.10.0"), ("a", "3.2.0"))
    ]
    chosen = from_envs(envs, tmp_path).chosen
    assert [[env.name for env in candidate.envs] for candidate in chosen] == [["a", "b"], ["c"]]
    pair = Env(name="a-pair", release=Version("3.2.0"), framework_release=Version("2.6.0"))
    assert [env.name for env in from_envs([pair, *envs], tmp_path).chosen[0].envs] == [
        "a",
        "b",
        "a-pair",
    ]
    fork = Env(name="ours", release=Version("3.2.0+ours"))
    beside = from_envs([fork, *envs], tmp_path)
    assert ([candidate.label for candidate in beside.chosen], list(beside.left_out.values())) == (
        ["3.2.0", "3.10.0"],
        [("3.2.0+ours",)],
    )
    alone = from_envs([fork], tmp_path)
    assert ([candidate.label for candidate in alone.chosen], alone.published) == (
        ["3.2.0+ours"],
        False,
    )
    with pytest.raises(SelectionError, match="unknown-fork does not state its version"):
        from_envs([Env(name="unknown-fork")], tmp_path)


def test_text_that_is_not_a_release_is_refused() -> None:
    assert parse_release("v3.5", "--good") == Version("3.5.0")
    assert parse_release(None, "--good") is None
    assert parse_specifier(None) is None
    with pytest.raises(SelectionError, match="--bad: 'newest' is not a release"):
        parse_release("newest", "--bad")
    with pytest.raises(SelectionError, match="--releases"):
        parse_specifier("from 3.1 on")
