"""The messages while envs are built."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import pytest

from compat.envs import locks
from compat.envs.cache import EnvCache
from compat.envs.provider import Builder, BuildResult, BuildState, build_envs
from compat.errors import EnvError
from compat.interruption import Stopped
from compat.model import Env

Build = Callable[[Callable[[BuildState], None]], BuildResult]


class FakeBuilder:
    """A builder that calls a function for each env."""

    def __init__(self, folder: Path, builds: Mapping[str, Build]) -> None:
        self.cache, self.stop, self._builds = EnvCache(folder), threading.Event(), builds

    def build(self, env: Env, on_state: Callable[[BuildState], None]) -> BuildResult:
        return self._builds[env.name](on_state)


def lines_of(folder: Path, jobs: int = 1, **builds: Build) -> tuple[list[str], list[str]]:
    """The permanent lines of a build, and the progress that it shows meanwhile."""
    lines: list[str] = []
    shown: list[str] = []
    envs = [Env(name=name, install=(name,)) for name in builds]
    build_envs(
        cast(Builder, FakeBuilder(folder, builds)),
        envs,
        jobs=jobs,
        echo=lines.append,
        show=shown.append,
    )
    return lines, shown


def install(on_state: Callable[[BuildState], None]) -> BuildResult:
    on_state(BuildState.INSTALLING)
    return BuildResult()


def fail(on_state: Callable[[BuildState], None]) -> BuildResult:
    on_state(BuildState.INSTALLING)
    return BuildResult(error="  cause: dns\nerror: no such release\n  cause: none")


def wait(on_state: Callable[[BuildState], None]) -> BuildResult:
    on_state(BuildState.WAITING)
    return BuildResult(reused=True)


def wait_and_install(on_state: Callable[[BuildState], None]) -> BuildResult:
    on_state(BuildState.WAITING)
    return install(on_state)


def refuse(on_state: Callable[[BuildState], None]) -> BuildResult:
    raise EnvError("the disk is full")


def test_each_env_is_reported_once_when_it_is_done(tmp_path: Path) -> None:
    lines, shown = lines_of(
        tmp_path, one=install, two=fail, three=lambda _: BuildResult(reused=True), four=refuse
    )
    assert lines[0] == "building one, two, three, four"
    assert re.fullmatch(r"one: built in 0\.\d s \(1 of 4\)", lines[1])
    assert lines[2:] == [
        "two: failed: error: no such release (2 of 4)",
        "three: already built (3 of 4)",
        "four: failed: the disk is full (4 of 4)",
    ]
    assert shown[:3] == ["0 of 4 done, now one", "1 of 4 done", "1 of 4 done, now two"]
    assert shown[-1] == "4 of 4 done"


def test_env_that_another_command_builds_is_awaited_and_reported(tmp_path: Path) -> None:
    lines, shown = lines_of(tmp_path, one=wait, two=wait_and_install)
    assert lines[:2] == ["building one, two", "waiting for another command that builds one"]
    assert re.fullmatch(
        r"one: built by another command, after a wait of 0\.\d s \(1 of 2\)", lines[2]
    )
    assert lines[3] == "waiting for another command that builds two"
    assert re.fullmatch(r"two: built in 0\.\d s \(2 of 2\)", lines[4])
    assert "0 of 2 done, waiting for one" in shown
    assert "1 of 2 done, now two" in shown


def test_first_line_leaves_out_an_env_that_is_already_being_built(tmp_path: Path) -> None:
    with locks.building(
        EnvCache(tmp_path).folder_of(Env(name="one", install=("one",))), lambda: None
    ):
        lines, _ = lines_of(tmp_path, one=wait, two=install)
    assert lines[:2] == ["building two", "waiting for another command that builds one"]
    assert len(lines) == 4


def test_several_envs_are_built_at_the_same_time(tmp_path: Path) -> None:
    meeting = threading.Barrier(2, timeout=20)

    def meet(on_state: Callable[[BuildState], None]) -> BuildResult:
        meeting.wait()
        return install(on_state)

    lines, _ = lines_of(tmp_path, jobs=2, one=meet, two=meet)
    assert len(lines) == 3


def test_stop_of_one_build_is_raised(tmp_path: Path) -> None:
    def stop(on_state: Callable[[BuildState], None]) -> BuildResult:
        raise Stopped

    with pytest.raises(Stopped):
        lines_of(tmp_path, one=stop, two=install)
