"""What is told while envs are built."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.envs import progress
from compat.envs.cache import EnvCache
from compat.envs.progress import told
from compat.envs.record import INTERRUPTED, write_record
from compat.model import Env


def test_each_env_is_told_once_when_it_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The records are written here as a build writes them; the watch ends with a last look."""
    monkeypatch.setattr(progress, "_EVERY", 3600.0)
    cache, envs = EnvCache(tmp_path), [Env(name="one"), Env(name="two", install=("x",)), Env(name="three", install=("y",))]
    write_record(cache.folder_of(envs[2]), envs[2], error="an older failure")
    lines: list[str] = []
    now: list[str] = []
    with told(envs, cache, lines.append, now.append):
        write_record(cache.folder_of(envs[0]), envs[0], error=None, location="cp311", packages=[])
        write_record(cache.folder_of(envs[1]), envs[1], error="  cause: dns\nerror: no such release\n  cause: none")
    assert lines[0].startswith("one: built in 0.")
    assert lines[0].endswith(" s (1 of 3)")
    assert lines[1:] == ["two: failed: error: no such release (2 of 3)"]
    assert now[-1] == "2 of 3 done"


def test_what_is_being_installed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_EVERY", 3600.0)
    cache, env = EnvCache(tmp_path), Env(name="one")
    lines: list[str] = []
    now: list[str] = []
    with told([env], cache, lines.append, now.append):
        write_record(cache.folder_of(env), env, error=INTERRUPTED)
    assert lines == []
    assert now[-1] == "0 of 1 done, now one"
