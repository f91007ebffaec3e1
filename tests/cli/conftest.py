"""The installed package, once for all tests of commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.installed import Installed, install


@pytest.fixture(scope="session")
def installed(
    once: Callable[[str, Callable[[], str]], str], tmp_path_factory: pytest.TempPathFactory
) -> Installed:
    """The package as a user has it, installed once for all processes that run tests, and a folder
    outside of any checkout that a test leaves empty.
    """
    folder = once("installed", lambda: str(install(tmp_path_factory.mktemp("installed"))))
    return Installed.at(Path(folder), empty=tmp_path_factory.mktemp("empty"))
