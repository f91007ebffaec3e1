"""The installed package, once for all tests of commands."""

from __future__ import annotations

import pytest

from tests.installed import Installed, install


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The package as a user has it, and a folder outside of any checkout that a test leaves
    empty.
    """
    return install(tmp_path_factory.mktemp("installed"))
