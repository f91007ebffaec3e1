"""Which Pythons are found, and which of them is chosen."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from compat.envs import interpreters
from compat.envs.interpreters import PREFERENCE, present, rank_minors, spell_minors
from compat.envs.listing import MINORS, Minor

minors = st.sets(st.sampled_from(MINORS))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without Pythons: none in the home folder, none that runs these tests."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "nowhere"))
    return tmp_path


def make(path: Path, content: bytes = b"\x7fELF", mode: int = 0o755) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    return str(path)


def test_pythons_are_found_on_the_path_and_in_the_folders_of_managers(home: Path) -> None:
    on_path = make(home / "bin/python3.11")
    make(home / "bin/python3.11-config")
    newer, older = (
        make(home / f".pyenv/versions/3.11.{patch}/bin/python3.11") for patch in (10, 9)
    )
    managed = make(home / "uv/cpython-3.13.1-linux/bin/python3.13")
    pythons = present(
        {"PATH": f"{home / 'gone'}:{home / 'bin'}", "UV_PYTHON_INSTALL_DIR": str(home / "uv")}
    )
    assert pythons == {(3, 11): (on_path, newer, older), (3, 13): (managed,)}


def test_shims_and_files_that_cannot_run_are_ignored(home: Path) -> None:
    make(home / "shims/python3.12", b"#!/usr/bin/env bash\nexec pyenv exec python3.12")
    make(home / "shims/python3.10", mode=0o644)
    (home / "shims/python3.9").mkdir()
    (home / "shims/python3.8").symlink_to(home / "gone")
    assert present({"PATH": str(home / "shims")}) == {}


def test_other_implementations_and_free_threaded_builds_are_ignored(home: Path) -> None:
    make(home / "bin/pypy3.10")
    (home / "bin/python3.10").symlink_to("pypy3.10")
    make(home / "bin/python3.13t")
    (home / "bin/python3.13").symlink_to("python3.13t")
    assert present({"PATH": str(home / "bin")}) == {}


def test_virtual_environment_counts_as_its_base_interpreter(home: Path) -> None:
    proper = make(home / "usr/bin/python3.12")
    (home / "venv/bin").mkdir(parents=True)
    (home / "venv/bin/python3.12").symlink_to(proper)
    assert present({"PATH": f"{home / 'venv/bin'}:{home / 'usr/bin'}"}) == {(3, 12): (proper,)}


def test_this_machine_has_the_python_that_runs_these_tests() -> None:
    assert sys.version_info[:2] in present()


@given(allowed=minors, low=st.sampled_from(MINORS))
def test_ranked_pythons_are_allowed_and_preferred_ones_come_first(
    allowed: set[Minor], low: Minor
) -> None:
    chosen = rank_minors(allowed, SpecifierSet(f">={low[0]}.{low[1]}"))
    assert set(chosen) == {minor for minor in allowed if minor >= low}
    preferred = [minor for minor in PREFERENCE if minor in chosen]
    assert list(chosen[: len(preferred)]) == preferred


def test_pythons_that_most_releases_share_rank_first() -> None:
    assert rank_minors(MINORS, SpecifierSet())[:2] == ((3, 11), (3, 12))
    assert rank_minors({(3, 12), (3, 13)}, SpecifierSet()) == ((3, 12), (3, 13))
    assert rank_minors({(3, 15), (3, 16), (3, 8)}, SpecifierSet()) == ((3, 8), (3, 16), (3, 15))


@given(some=minors)
def test_spelled_pythons_can_be_read_back(some: set[Minor]) -> None:
    read: set[Minor] = set()
    for run in spell_minors(some).split(", ") if some else ():
        first, _, last = run.partition("–")
        bounds = [int(end.removeprefix("3.")) for end in (first, last or first)]
        read |= {(3, minor) for minor in range(bounds[0], bounds[1] + 1)}
    assert read == some
    assert spell_minors(set()) == "none"


def test_default_folders_of_managers_are_in_the_home_folder() -> None:
    assert all(usual.startswith("~") for _, usual, _ in interpreters.MANAGED)
