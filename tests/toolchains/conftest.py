"""The entry points of the toolchains that only tests have, and the envs of CuTe DSL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compat import toolchains
from compat.model import BuiltEnv


@pytest.fixture
def registered(tmp_path: Path) -> Path:
    """A folder with the entry points of the loom and the toy, as installed packages would have
    them.
    """
    folder = tmp_path / "installed"
    for name in ("loom", "toy"):
        info = folder / f"{name}_compat-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}-compat\nVersion: 1.0\n"
        )
        (info / "entry_points.txt").write_text(
            f"[{toolchains.GROUP}]\n{name} = tests.toolchains.{name}:{name.upper()}\n"
        )
    return folder


@pytest.fixture
def cute(built: Callable[[str], BuiltEnv]) -> Callable[[str], BuiltEnv]:
    """An env of CuTe DSL by its release.

    The tests use four of them, since each takes 240 to 330 MB: 4.2.1, 4.5.3, 4.6.1, 4.8.1.
    """
    return lambda release: built(f"cute-{release}")
