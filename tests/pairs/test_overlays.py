"""Releases in folders of their own, which take precedence over the release of an env."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

from compat.envs.cache import EnvCache
from compat.envs.libraries import overlaid
from compat.errors import EnvError
from tests.wheels import wheelhouse

__all__ = ["wheelhouse"]

VERSION = platform.python_version()


def test_a_release_is_installed_once(tmp_path: Path, wheelhouse: Path) -> None:
    cache = EnvCache(tmp_path / "cache")
    overlay = overlaid(("live-waves==2.0", "no-kernels"), sys.executable, VERSION, cache)
    assert (overlay.folder / "live_waves" / "plain.py").is_file()
    assert (overlay.folder / "no_kernels").is_dir()
    assert overlay.folder.name == f"live-waves-2.0-cp{sys.version_info[0]}{sys.version_info[1]}"
    for wheel in wheelhouse.iterdir():
        wheel.unlink()
    assert overlaid(("live-waves==2.0", "no-kernels"), sys.executable, VERSION, cache) == overlay


def test_other_requirements_rebuild_the_overlay(tmp_path: Path, wheelhouse: Path) -> None:
    cache = EnvCache(tmp_path / "cache")
    first = overlaid(("live-waves==2.0", "no-kernels"), sys.executable, VERSION, cache)
    second = overlaid(("live-waves==2.0",), sys.executable, VERSION, cache)
    assert first.folder == second.folder
    assert first.digest != second.digest
    assert not (second.folder / "no_kernels").exists()


def test_an_unavailable_release_is_an_error_and_leaves_no_overlay(
    tmp_path: Path, wheelhouse: Path
) -> None:
    cache = EnvCache(tmp_path / "cache")
    with pytest.raises(EnvError, match=r"cannot install live-waves==9\.9"):
        overlaid(("live-waves==9.9",), sys.executable, VERSION, cache)
    assert [
        path.name for path in (tmp_path / "cache" / "overlays").iterdir() if path.is_dir()
    ] == []
