"""Which Chromium the tests take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.chromium import VARIABLE, find_chromium

Install = Callable[..., str]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Makes a program that answers ``--version``, on a PATH that has no other."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)

    def make(name: str, says: str, code: int = 0) -> str:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\necho {says}\nexit {code}\n")
        path.chmod(0o755)
        return str(path)

    return make


def test_one_on_path_comes_before_further_ones(install: Install) -> None:
    further = install("further", "Chromium 150")
    assert find_chromium() is None
    assert find_chromium(further) == further
    chrome = install("google-chrome", "Google Chrome 150")
    assert find_chromium(further) == chrome
    chromium = install("chromium", "Chromium 150 built on Debian")
    assert find_chromium(further) == chromium
    shell = install("chromium-headless-shell", "Chromium 150")
    assert find_chromium(further) == shell


def test_the_one_that_the_environment_names_and_no_other(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("chromium", "Chromium 150")
    monkeypatch.setenv(VARIABLE, install("mine", "Chromium 151"))
    assert find_chromium() == install("mine", "Chromium 151")
    monkeypatch.setenv(VARIABLE, "nowhere")
    assert find_chromium() is None


def test_what_only_says_how_to_install_it_and_what_sees_no_files_of_tests_is_passed_over(
    install: Install,
) -> None:
    install("chromium", "Chromium 150.0.7871.100 snap")
    install("chromium-browser", "Command requires the chromium snap to be installed.", code=1)
    assert find_chromium() is None
    assert find_chromium(chrome := install("google-chrome", "Google Chrome 150")) == chrome
