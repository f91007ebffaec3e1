"""What is told while envs are built."""

from __future__ import annotations

import re
import time
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
    with told(envs, cache, "me", lines.append, now.append):
        write_record(cache.folder_of(envs[0]), envs[0], error=None, location="cp311", packages=[], built_for="me")
        write_record(cache.folder_of(envs[1]), envs[1], error="  cause: dns\nerror: no such release\n  cause: none", built_for="me")
    assert lines[0] == "building one, two, three"
    assert lines[1].startswith("one: built in 0.")
    assert lines[1].endswith(" s (1 of 3)")
    assert lines[2:] == ["two: failed: error: no such release (2 of 3)"]
    assert now[-1] == "2 of 3 done"


def test_what_is_being_installed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_EVERY", 3600.0)
    cache, env = EnvCache(tmp_path), Env(name="one")
    lines: list[str] = []
    now: list[str] = []
    with told([env], cache, "me", lines.append, now.append):
        write_record(cache.folder_of(env), env, error=INTERRUPTED, built_for="me")
    assert lines == ["building one"]
    assert now[-1] == "0 of 1 done, now one"


def test_what_another_command_builds_is_waited_for_and_told_as_built_there(tmp_path: Path) -> None:
    cache, envs = EnvCache(tmp_path), [Env(name="one"), Env(name="two", install=("x",))]
    seen: list[str] = []
    with told(envs, cache, "me", seen.append, seen.append):
        write_record(cache.folder_of(envs[0]), envs[0], error=INTERRUPTED, built_for="another")
        until = time.monotonic() + 20
        while "0 of 2 done, waiting for one" not in seen and time.monotonic() < until:
            time.sleep(0.01)
        write_record(cache.folder_of(envs[0]), envs[0], error=None, location="cp311", packages=[], built_for="another")
        write_record(cache.folder_of(envs[1]), envs[1], error=None, location="cp311", packages=[], built_for="me")
    assert seen[0] == "building one, two"
    assert "another command is building one: waiting for it" in seen
    ended = [line for line in seen if line.startswith(("one:", "two:"))]
    assert re.fullmatch(r"one: another command has built it, waited for \d\.\d s \(1 of 2\)", ended[0])
    assert re.fullmatch(r"two: built in \d\.\d s \(2 of 2\)", ended[1])


def test_what_was_built_before_the_watch_began_is_not_told_as_built(tmp_path: Path) -> None:
    cache, env = EnvCache(tmp_path), Env(name="one")
    write_record(cache.folder_of(env), env, error=None, location="cp311", packages=[])
    lines: list[str] = []
    with told([env], cache, "me", lines.append, lambda words: None):
        pass
    assert lines == ["building one", "one: was there already"]
