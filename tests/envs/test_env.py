"""The requirements of an env, and the record of its build."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import IO

import pytest
from attrs import evolve
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compat.envs import interpreters
from compat.envs.cache import EnvCache, fingerprint, install_arguments, key, requirements
from compat.envs.installers import Installer
from compat.envs.interpreters import choose_interpreter
from compat.envs.provider import Builder, build_envs
from compat.envs.record import INTERRUPTED, missing_envs, read_env, write_record
from compat.model import Env
from tests.envs.conftest import make_wheel

PLAIN = Env(name="plain", release=Version("3.1.0"))
PAIR = Env(
    name="pair", release=Version("3.1.0"), framework_release=Version("2.5.1"), install=("numpy<2",)
)
FORK = Env(
    name="fork", release=Version("3.1.0+mine"), wheel="/wheels/triton-3.1.0+mine-py3-none-any.whl"
)
OTHER = Env(name="other", distribution="triton-fork", index="https://example.org/simple")
DOWN = {"PATH": "", "UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple"}


@pytest.fixture
def cache(tmp_path: Path) -> EnvCache:
    return EnvCache(tmp_path / "envs")


def test_requirements_name_releases_wheels_and_packages() -> None:
    assert requirements(PLAIN) == ("triton==3.1.0",)
    assert requirements(PAIR) == ("triton==3.1.0", "torch==2.5.1", "numpy<2")
    assert requirements(FORK) == ("/wheels/triton-3.1.0+mine-py3-none-any.whl",)
    assert requirements(OTHER) == ("triton-fork",)


def test_further_index_is_an_argument_for_pip_and_uv() -> None:
    further = ("triton-fork", "--extra-index-url", "https://example.org/simple")
    assert install_arguments(OTHER, "virtualenv") == further
    assert install_arguments(OTHER, "uv") == (*further, "--index-strategy", "unsafe-best-match")
    assert install_arguments(PLAIN, "uv") == requirements(PLAIN)


def test_fingerprint_covers_what_is_installed_and_not_the_name() -> None:
    changed = [
        PLAIN,
        PAIR,
        FORK,
        OTHER,
        evolve(PLAIN, python=SpecifierSet(">=3.12")),
        evolve(PLAIN, install=("six",)),
    ]
    changed.append(evolve(PLAIN, index="https://example.org/simple"))
    assert len({fingerprint(env) for env in changed}) == len(changed)
    assert fingerprint(evolve(PLAIN, name="renamed", groups=("new",))) == fingerprint(PLAIN)


def test_names_of_folders_are_readable() -> None:
    assert [key(env)[:-8] for env in (PLAIN, PAIR, FORK, OTHER)] == [
        "triton-3.1.0-",
        "triton-3.1.0-torch-2.5.1-",
        "triton-3.1.0+mine-",
        "triton-fork-",
    ]
    assert key(PLAIN).endswith(fingerprint(PLAIN)[:8])


def test_fingerprint_of_a_wheel_depends_on_its_content(tmp_path: Path) -> None:
    def of(wheel: Path | str) -> str:
        return fingerprint(evolve(FORK, wheel=str(wheel)))

    first = make_wheel(tmp_path / "a", "triton", "3.1.0")
    same = make_wheel(tmp_path / "b", "triton", "3.1.0")
    os.utime(same, (1, 1))
    absent = of(tmp_path / first.name)
    assert of(first) == of(same) == of(same.as_uri()) != absent
    assert of("https://example.org/triton-3.1.0-py3-none-any.whl") not in (of(first), absent)
    before = of(same)
    make_wheel(tmp_path / "b", "triton", "3.1.0", requires=("six",))
    assert of(same) != before
    for content in (b"1", b"2"):
        same.write_bytes(content)
        assert of(same) != before
        before = of(same)


def test_an_env_without_a_record_is_not_built(cache: EnvCache) -> None:
    assert read_env(PLAIN, cache).error == "not built yet: a command without --no-build builds it"
    assert missing_envs([PLAIN, PAIR], cache) == (PLAIN, PAIR)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "{",
        '{"schema": 2}',
        '{"schema": 1, "ok": true, "error": null, "fingerprint": "x"}',
    ],
)
def test_damaged_record_is_ignored(cache: EnvCache, text: str) -> None:
    path = cache.folder_of(PLAIN).record
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    assert "not built yet" in (read_env(PLAIN, cache).error or "")


def test_record_of_another_env_is_ignored(cache: EnvCache) -> None:
    write_record(cache.folder_of(PLAIN), PAIR, error="no interpreter")
    assert "not built yet" in (read_env(PLAIN, cache).error or "")


# --- building -------------------------------------------------------------------------------------


def build(cache: EnvCache, *, output: str = "", done: bool = True) -> str | None:
    """Build PLAIN with an installer that prints something and installs nothing."""

    def run(command: Sequence[str], log: IO[str], stop: Event) -> bool:
        during.append(read_env(PLAIN, cache).error)
        log.write(output)
        log.flush()
        return done

    during: list[str | None] = []
    builder = Builder(
        cache=cache,
        index_cache=cache.folder,
        installer=lambda: Installer("venv"),
        run=run,
        say=lambda _: None,
        backend="venv",
    )
    error = builder.build(PLAIN).error
    assert set(during) == {"another command is building it now"}
    assert read_env(PLAIN, cache).error == error
    return error


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", DOWN["UV_DEFAULT_INDEX"])


def test_interrupted_installation_leaves_a_broken_env(cache: EnvCache) -> None:
    write_record(
        cache.folder_of(PLAIN),
        PLAIN,
        error=INTERRUPTED,
        location="cp311",
        backend="uv",
        interpreter="/usr/bin/python3.11",
    )
    assert read_env(PLAIN, cache).error == "the installation was interrupted"
    record = json.loads(cache.folder_of(PLAIN).record.read_text(encoding="utf-8"))
    assert (record["location"], record["backend"], record["ok"]) == ("cp311", "uv", False)


@pytest.mark.usefixtures("offline")
def test_failed_installation_quotes_the_installer(cache: EnvCache) -> None:
    output = (
        "".join(f"line {n}\n" for n in range(100)) + "\x1b[31merror\x1b[0m: no such release\n\n"
    )
    error = build(cache, output=output, done=False)
    assert error is not None
    assert error.splitlines()[0] == "line 61"
    assert error.splitlines()[-1] == "error: no such release"


@pytest.mark.usefixtures("offline")
def test_success_of_an_installer_that_installs_nothing_is_an_error(cache: EnvCache) -> None:
    error = build(cache)
    assert error is not None
    assert error.startswith(
        f"the installer ended without an error, but {cache.folder_of(PLAIN).path}/cp3"
    )
    assert error.endswith(" is missing")


def test_missing_interpreter_is_reported_with_the_ones_that_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        interpreters, "present", lambda environ: {(3, 13): ("/usr/bin/python3.13",)}
    )
    choice = choose_interpreter(
        evolve(FORK, wheel="/wheels/triton-3.1.0+mine-cp312-none-any.whl"), tmp_path, {}
    )
    assert choice.python == ""
    problem = (
        "no interpreter: triton 3.1.0+mine has wheels for 3.12; installed here: 3.13 (considered:"
        " 3.8–3.20)"
    )
    assert choice.problem == f"{problem}; `uv python install 3.12` installs one that fits"
    demanding = choose_interpreter(evolve(PLAIN, python=SpecifierSet("<3.12")), tmp_path, DOWN)
    assert "the env asks for python <3.12; installed here: 3.13" in (demanding.problem or "")


def test_interpreter_that_does_not_start_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, working = tmp_path / "python3.11", tmp_path / "python3.12"
    for path, code in ((broken, 1), (working, 0)):
        path.write_text(f"#!/bin/sh\necho 3.12.1\nexit {code}\n", encoding="utf-8")
        path.chmod(0o755)
    monkeypatch.setattr(
        interpreters,
        "present",
        lambda environ: {(3, 11): (str(broken), "/gone"), (3, 12): (str(working),)},
    )
    choice = choose_interpreter(PLAIN, tmp_path, DOWN)
    assert (choice.python, choice.tag, choice.problem) == (str(working), "cp312", None)
    assert len(choice.notes) == 1
    assert "using the preferred interpreter without knowing the wheels of triton" in choice.notes[0]


@pytest.mark.parametrize(
    ("specifier", "chosen"),
    [("", "3.11.7"), ("==3.11.2", "3.11.2"), ("<3.11.5", "3.11.2"), (">=3.11.9", None)],
)
def test_an_interpreter_has_a_patch_release_that_the_env_accepts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, specifier: str, chosen: str | None
) -> None:
    paths = {version: tmp_path / version for version in ("3.11.7", "3.11.2")}
    for version, path in paths.items():
        path.write_text(f"#!/bin/sh\necho {version}\n", encoding="utf-8")
        path.chmod(0o755)
    here = {(3, 11): tuple(map(str, paths.values()))}
    monkeypatch.setattr(interpreters, "present", lambda environ: here)
    env = evolve(PLAIN, python=SpecifierSet(specifier))
    choice = choose_interpreter(env, tmp_path, DOWN)
    assert choice.python == (str(paths[chosen]) if chosen else "")
    assert bool(choice.problem) is (chosen is None)


def test_build_without_envs_writes_nothing(tmp_path: Path) -> None:
    assert build_envs(Builder(cache=EnvCache(tmp_path), index_cache=tmp_path, say=print), []) == {}
    assert list(tmp_path.iterdir()) == []
