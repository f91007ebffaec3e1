"""What goes into an env, and what its record makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compat.envs import env as envs
from compat.envs.env import begin, build_envs, conclude, missing_envs, plan, read_env, refuse
from compat.envs.record import ENVS, fingerprint, install_arguments, requirements
from compat.errors import EnvError
from compat.model import Env

PLAIN = Env(name="plain", triton=Version("3.1.0"))
PAIR = Env(name="pair", triton=Version("3.1.0"), torch=Version("2.5.1"), install=("numpy<2",))
FORK = Env(name="fork", triton=Version("3.1.0+mine"), wheel="/wheels/triton-3.1.0+mine-py3-none-any.whl")
OTHER = Env(name="other", distribution="triton-fork", index="https://example.org/simple")
DOWN = {"PATH": "", "UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple"}


def test_requirements() -> None:
    assert requirements(PLAIN) == ("triton==3.1.0",)
    assert requirements(PAIR) == ("triton==3.1.0", "torch==2.5.1", "numpy<2")
    assert requirements(FORK) == ("/wheels/triton-3.1.0+mine-py3-none-any.whl",)
    assert requirements(OTHER) == ("triton-fork",)


def test_a_further_index_is_one_for_pip_and_for_uv() -> None:
    further = ("triton-fork", "--extra-index-url", "https://example.org/simple")
    assert install_arguments(OTHER, "virtualenv") == further
    assert install_arguments(OTHER, "uv") == (*further, "--index-strategy", "unsafe-best-match")
    assert install_arguments(PLAIN, "uv") == requirements(PLAIN)


def test_the_fingerprint_knows_all_that_decides_what_is_installed(tmp_path: Path) -> None:
    changed = [PLAIN, PAIR, FORK, OTHER, evolve(PLAIN, python=SpecifierSet(">=3.12")), evolve(PLAIN, install=("six",))]
    changed.append(evolve(PLAIN, index="https://example.org/simple"))
    assert len({fingerprint(env) for env in changed}) == len(changed)
    assert fingerprint(evolve(PLAIN, name="renamed", groups=("new",))) == fingerprint(PLAIN)


def test_a_wheel_that_is_built_again_is_another_wheel(tmp_path: Path) -> None:
    wheel = tmp_path / "triton-3.1.0-py3-none-any.whl"
    env = evolve(FORK, wheel=str(wheel))
    absent = fingerprint(env)
    wheel.write_bytes(b"1")
    first = fingerprint(env)
    wheel.write_bytes(b"22")
    assert len({absent, first, fingerprint(env)}) == 3


def test_an_env_without_a_record_is_not_built(tmp_path: Path) -> None:
    assert read_env(PLAIN, tmp_path).error == 'not built yet: nox -s "env(plain)" builds it'
    assert missing_envs([PLAIN, PAIR], tmp_path) == (PLAIN, PAIR)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "{", '{"schema": 2}', '{"schema": 1, "ok": true, "error": null, "fingerprint": "x"}']
)
def test_a_damaged_record_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / ENVS / "plain.json"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    assert "not built yet" in (read_env(PLAIN, tmp_path).error or "")


def test_an_installation_that_does_not_end_leaves_a_broken_env(tmp_path: Path) -> None:
    begin(PLAIN, tmp_path, location=tmp_path / ".nox/env", backend="uv", python="/usr/bin/python3.11")
    assert read_env(PLAIN, tmp_path).error == "the installation was interrupted"
    record = json.loads((tmp_path / ENVS / "plain.json").read_text(encoding="utf-8"))
    assert (record["location"], record["backend"], record["ok"]) == (".nox/env", "uv", False)


def test_a_failed_installation_is_told_in_the_installers_words(tmp_path: Path) -> None:
    log = begin(PLAIN, tmp_path, location=tmp_path / ".nox/env", backend="uv", python=None)
    log.write_text("".join(f"line {n}\n" for n in range(100)) + "\x1b[31merror\x1b[0m: no such release\n\n", encoding="utf-8")
    error = conclude(PLAIN, tmp_path, failed=True)
    assert error is not None
    assert error.splitlines()[0] == "line 61"
    assert error.splitlines()[-1] == "error: no such release"
    assert read_env(PLAIN, tmp_path).error == error


def test_an_installer_that_says_it_succeeded_is_not_believed(tmp_path: Path) -> None:
    begin(PLAIN, tmp_path, location=tmp_path / ".nox/env", backend="uv", python=None)
    error = conclude(PLAIN, tmp_path, failed=False)
    assert error == f"the installer ended without an error, but {tmp_path / '.nox/env'} is gone"
    assert read_env(PLAIN, tmp_path).error == error


def test_a_changed_env_counts_as_not_built(tmp_path: Path) -> None:
    refuse(PLAIN, tmp_path, "no interpreter")
    assert read_env(PLAIN, tmp_path).error == "no interpreter"
    assert "built from other requirements" in (read_env(evolve(PLAIN, install=("six",)), tmp_path).error or "")


def test_no_interpreter_is_said_with_what_would_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(envs, "present", lambda environ: {(3, 13): ("/usr/bin/python3.13",)})
    found = plan(evolve(FORK, wheel="/wheels/triton-3.1.0+mine-cp312-none-any.whl"), tmp_path, {})
    assert found.python is None
    assert found.problem == "no interpreter: triton 3.1.0+mine has wheels for 3.12; present here: 3.13 (considered: 3.8–3.20)"
    demanding = plan(evolve(PLAIN, python=SpecifierSet("<3.12")), tmp_path, DOWN)
    assert "python <3.12 is asked for; present here: 3.13" in (demanding.problem or "")


def test_an_interpreter_that_does_not_start_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, working = tmp_path / "python3.11", tmp_path / "python3.12"
    for path, code in ((broken, 1), (working, 0)):
        path.write_text(f"#!/bin/sh\nexit {code}\n", encoding="utf-8")
        path.chmod(0o755)
    monkeypatch.setattr(envs, "present", lambda environ: {(3, 11): (str(broken), "/gone"), (3, 12): (str(working),)})
    found = plan(PLAIN, tmp_path, DOWN)
    assert (found.python, found.problem) == (str(working), None)
    assert len(found.notes) == 1
    assert "taking the preferred interpreter without knowing the wheels of triton" in found.notes[0]


def test_without_a_noxfile_nothing_is_built(tmp_path: Path) -> None:
    build_envs([], tmp_path)
    with pytest.raises(EnvError, match=r"there is no noxfile\.py"):
        build_envs(["triton-3.1.0"], tmp_path)
