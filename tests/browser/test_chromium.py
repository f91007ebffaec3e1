"""The Chromium that the tests use."""

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


def test_chromium_on_path_comes_before_further_paths(install: Install) -> None:
    further = install("further", "Chromium 150")
    assert find_chromium() is None
    assert find_chromium(further) == further
    chrome = install("google-chrome", "Google Chrome 150")
    assert find_chromium(further) == chrome
    chromium = install("chromium", "Chromium 150 built on Debian")
    assert find_chromium(further) == chromium
    shell = install("chromium-headless-shell", "Chromium 150")
    assert find_chromium(further) == shell


def test_only_the_chromium_that_the_environment_names_is_used(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("chromium", "Chromium 150")
    monkeypatch.setenv(VARIABLE, install("mine", "Chromium 151"))
    assert find_chromium() == install("mine", "Chromium 151")
    monkeypatch.setenv(VARIABLE, "nowhere")
    assert find_chromium() is None


def test_snap_and_package_that_only_asks_to_install_it_are_skipped(
    install: Install,
) -> None:
    install("chromium", "Chromium 150.0.7871.100 snap")
    install("chromium-browser", "Command requires the chromium snap to be installed.", code=1)
    assert find_chromium() is None
    assert find_chromium(chrome := install("google-chrome", "Google Chrome 150")) == chrome
