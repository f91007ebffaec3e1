"""Which Pythons have a wheel of a release.

The tests use the index's real list of files, kept here for Linux on x86-64 with names only.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.tags import parse_tag
from packaging.version import Version

from compat.envs import listing as listings
from compat.envs.interpreters import spell_minors
from compat.envs.listing import File, Listing, allows, pythons_of, wheel_facts
from tests.together import for_each

HERE = Path(__file__).parent
PLATFORMS = [
    *(f"manylinux_2_{glibc}_x86_64" for glibc in range(36, 4, -1)),
    "manylinux2014_x86_64",
    "manylinux1_x86_64",
]


@pytest.fixture(autouse=True)
def linux(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Linux on x86-64, whatever these tests run on."""
    monkeypatch.setattr(listings, "platform_tags", lambda: iter(PLATFORMS))
    tags_of = functools.cache(listings._supported_tags.__wrapped__)
    monkeypatch.setattr(listings, "_supported_tags", tags_of)


def listing(distribution: str) -> Listing:
    files = json.loads((HERE / f"{distribution}.json").read_text(encoding="utf-8"))["files"]
    return Listing(
        files=tuple(
            File(filename=file["filename"], requires_python=file.get("requires-python"))
            for file in files
        ),
    )


@for_each(
    ("distribution", "release", "pythons"),
    [
        ("triton", "3.0.0", "3.8–3.12"),  # with a build tag, triton-3.0.0-1-cp311-…
        ("triton", "3.1.0", "3.8–3.12"),
        ("triton", "3.2.0", "3.9–3.13"),
        ("triton", "3.4.0", "3.9–3.13"),
        ("triton", "3.5.1", "3.10–3.14"),
        ("triton", "3.8.0", "3.10–3.14"),
        # It has cp311-cp311, and cp312-abi3 for every later Python that requires-python allows.
        ("triton", "3.9.0", "3.11–3.15"),
        ("triton", "3.99.0", "none"),
        ("torch", "2.4.1", "3.8–3.12"),
        ("torch", "2.9.1", "3.10–3.14"),
    ],
)
def test_real_releases_have_wheels_for_the_expected_pythons(
    distribution: str, release: str, pythons: str
) -> None:
    assert spell_minors(listing(distribution).pythons_for(Version(release))) == pythons


def test_newest_release_is_the_default() -> None:
    assert listing("triton").versions()[-1] == Version("3.9.0")
    assert listing("triton").pythons_for(None) == listing("triton").pythons_for(Version("3.9.0"))
    assert Listing(files=()).pythons_for(None) == frozenset()


def test_wheels_of_other_platforms_and_free_threaded_builds_are_ignored() -> None:
    names = [
        "cp311-cp311-manylinux_2_28_aarch64",
        "cp313-cp313t-manylinux_2_28_x86_64",
        "cp312-cp312-win_amd64",
    ]
    files = tuple(File(filename=f"x-1.0-{name}.whl") for name in names)
    assert Listing(files=files).pythons_for(Version("1.0")) == frozenset()


def test_requires_python_narrows_what_the_tags_allow() -> None:
    assert spell_minors(pythons_of(parse_tag("py3-none-any"), ">=3.10,<3.13")) == "3.10–3.12"
    assert (
        spell_minors(pythons_of(parse_tag("cp39-abi3-manylinux2014_x86_64"), "<3.12")) == "3.9–3.11"
    )


def test_withdrawn_wheel_counts_only_for_its_exact_version() -> None:
    files = (
        File(filename="x-1.0-py3-none-any.whl"),
        File(filename="x-2.0-py3-none-any.whl", yanked=True),
    )
    file_listing = Listing(files=files)
    assert file_listing.versions() == (Version("1.0"),)
    assert file_listing.pythons_for(Version("2.0"))


def test_version_includes_its_local_variants() -> None:
    file_listing = Listing(
        files=(File(filename="torch-2.4.1+cpu-cp311-cp311-manylinux1_x86_64.whl"),),
    )
    assert file_listing.pythons_for(Version("2.4.1")) == {(3, 11)}
    assert file_listing.pythons_for(Version("2.4.1+cu124")) == frozenset()


@pytest.mark.parametrize(
    "wheel", ["/a?b#c/x-1.0-py3-none-any.whl", "https://h/x-1%2E0-py3-none-any.whl?token=a/b#c"]
)
def test_a_wheel_is_a_path_or_a_url(wheel: str) -> None:
    assert wheel_facts(wheel)[:2] == ("x", Version("1.0"))


def test_files_that_are_not_valid_wheels_are_ignored() -> None:
    files = (
        File(filename="x-1.0.tar.gz"),
        File(filename="x.whl"),
        File(filename="x-1.0-1.0-1-py3-none-any.whl"),
    )
    file_listing = Listing(files=files)
    assert file_listing.versions() == ()
    assert file_listing.pythons_for(Version("1.0")) == frozenset()


@for_each(
    ("specifier", "admitted"),
    [
        ("", True),
        (">=3.11.4", True),
        ("<=3.11", True),
        ("==3.11.*", True),
        ("==3.11.4", True),
        (">=3.11.2,<3.11.5", True),
        ("===3.11.x", False),
        (">=3.12", False),
        ("<3.11", False),
        ("nonsense", True),
    ],
)
def test_minor_version_is_allowed_if_any_of_its_patch_releases_is(
    specifier: str, admitted: bool
) -> None:
    assert allows(specifier, (3, 11)) is admitted
    if specifier != "nonsense":
        assert allows(SpecifierSet(specifier), (3, 11)) is admitted
