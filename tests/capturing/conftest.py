"""One stand-in for the GPU driver for all tests of captures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from compat.envs.cache import VARIABLE


@pytest.fixture(autouse=True)
def _built_once(
    request: pytest.FixtureRequest, _no_envs: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Have the tests of a process compile the stand-in once, and not each into its own cache."""
    if not request.node.get_closest_marker("wheels"):
        shared, cache = tmp_path_factory.getbasetemp() / "native", Path(os.environ[VARIABLE])
        shared.mkdir(exist_ok=True)
        cache.mkdir(parents=True)
        (cache / "native").symlink_to(shared)
