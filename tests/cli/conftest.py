"""The installed package, which all tests of commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.installed import Installed, install


@pytest.fixture(scope="session")
def installed(
    once: Callable[[str, Callable[[], str]], str], tmp_path_factory: pytest.TempPathFactory
) -> Installed:
    """The package as a user has it, and an empty folder.

    The package is installed once for all processes that run tests. The folder is outside any
    checkout, and a test leaves it empty.
    """
    folder = once("installed", lambda: str(install(tmp_path_factory.mktemp("installed"))))
    return Installed.at(Path(folder), empty=tmp_path_factory.mktemp("empty"))
