"""The entry points of the toolchains that only tests have."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat import toolchains


@pytest.fixture
def registered(tmp_path: Path) -> Path:
    """A folder with the entry points of the loom and the toy, as installed packages would have them."""
    folder = tmp_path / "installed"
    for name in ("loom", "toy"):
        info = folder / f"{name}_compat-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-compat\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{toolchains.GROUP}]\n{name} = tests.toolchains.{name}:{name.upper()}\n")
    return folder
