"""Programs run in processes of their own.

A program that ends its process, or that hangs, does not affect the other programs.
"""

from __future__ import annotations

import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from attrs import evolve
from packaging.version import Version

from compat.envs.cache import EnvCache
from compat.model import BuiltEnv, Env, Package
from compat.pairs import pairing
from compat.pairs.pairing import RequestedPair
from compat.pairs.programs import Answers, PairRun, run_programs
from compat.project import select_places
from compat.store.keys import Claims
from compat.toolchains import DEFAULT
from compat.toolchains.base import Toolchain
from tests.claiming import holder

TELLER = """
import json, os, signal, sys, time

settings = json.loads(sys.argv[1])


def tell(**line):
    with open(settings["answers"], "a") as file:
        file.write(json.dumps(line) + "\\n")


tell(begin="import")
IMPORT
tell(torch="1", release="2", static_launcher=False)
for name in settings["programs"]:
    tell(begin=name)
    if name == "killed":
        os.kill(os.getpid(), signal.SIGSEGV)
    if name == "exits":
        print("said before the end")
        sys.exit(3)
    if name == "hangs":
        time.sleep(60)
    variables = {"cache": os.environ["TRITON_CACHE_DIR"], "cc": os.environ["CC"]}
    variables["interpret"] = os.environ.get("TRITON_INTERPRET")
    tell(program=name, stage="launched", before=settings["before"], **variables)
"""


def toolchain(folder: Path, *programs: str, importing: str = "") -> Toolchain:
    folder.mkdir()
    (folder / "__main__.py").write_text(textwrap.dedent(TELLER).replace("IMPORT", importing))
    assert DEFAULT.device.pairing is not None
    return evolve(
        DEFAULT,
        device=evolve(
            DEFAULT.device,
            pairing=evolve(DEFAULT.device.pairing, program=folder, programs=programs),
        ),
    )


@pytest.fixture
def pair_run(tmp_path: Path) -> PairRun:
    return PairRun(
        python=sys.executable, library=tmp_path, compiler="/a/compiler", before=tmp_path / "before"
    )


def test_a_program_that_ends_its_process_does_not_stop_the_others(
    tmp_path: Path, pair_run: PairRun
) -> None:
    answers = run_programs(
        pair_run, toolchain(tmp_path / "p", "first", "killed", "second", "exits", "third")
    )
    assert answers.facts["release"] == "2"
    assert [
        name for name, answer in answers.programs.items() if answer.get("stage") == "launched"
    ] == ["first", "second", "third"]
    assert answers.programs["killed"]["ended"] == "SIGSEGV"
    assert answers.programs["exits"] == {"ended": "exit code 3", "words": "said before the end"}


def test_a_program_has_a_deadline(tmp_path: Path, pair_run: PairRun) -> None:
    answers = run_programs(pair_run, toolchain(tmp_path / "p", "hangs", "last"), deadline=1.0)
    assert answers.programs["hangs"]["ended"] == "deadline"
    assert answers.programs["last"]["stage"] == "launched"


def test_a_process_that_ends_on_import_is_the_answer_for_every_program(
    tmp_path: Path, pair_run: PairRun
) -> None:
    answers = run_programs(
        pair_run, toolchain(tmp_path / "p", "first", "second", importing="os.abort()")
    )
    assert {answer["ended"] for answer in answers.programs.values()} == {"SIGABRT"}
    assert list(answers.programs) == ["first", "second"]


def test_an_import_that_fails_is_the_answer_for_every_program(
    tmp_path: Path, pair_run: PairRun
) -> None:
    importing = 'tell(stage="import", errors=[]); sys.exit(0)'
    answers = run_programs(
        pair_run, toolchain(tmp_path / "p", "first", "second", importing=importing)
    )
    assert [answer["stage"] for answer in answers.programs.values()] == ["import", "import"]


def test_a_program_gets_its_settings_and_a_private_cache(
    tmp_path: Path, pair_run: PairRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    answer = run_programs(pair_run, toolchain(tmp_path / "p", "first")).programs["first"]
    assert answer["before"] == str(tmp_path / "before")
    assert answer["cc"] == "/a/compiler"
    assert answer["interpret"] is None  # the program compiles
    assert not Path(answer["cache"]).exists()  # private, and deleted with the process


def test_a_try_waits_for_another_process_that_tries_the_same_pair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tuple(
        Package(name=name, version=version, digest="")
        for name, version in (("torch", "2.9.1"), ("triton", "3.5.1"))
    )
    env = Env(name="pair", release=Version("3.5.1"), framework_release=Version("2.9.1"))
    built = BuiltEnv(
        env=env, python=sys.executable, python_version="3.11.7", packages=packages, digest="d"
    )
    cache, messages = EnvCache(tmp_path), list[str]()
    folder, key = pairing.answers_folder(cache), pairing.pair_key(built, None, DEFAULT)
    claims, compiler = Claims(folder, messages.append), "/a/compiler"
    ready = pairing.PairingSetup(
        selection=select_places(),
        cache=cache,
        compiler=compiler,
        library=tmp_path,
        again=False,
        claims=claims,
    )
    monkeypatch.setattr(
        pairing, "run_programs", lambda *_: pytest.fail("the other process has tried it")
    )
    with holder(folder, key) as other:

        def finish() -> None:
            while not messages:
                time.sleep(0.01)
            pairing.keep_answers(folder / f"{key}.json", Answers(programs={}))
            assert other.stdin is not None
            print(key, file=other.stdin, flush=True)

        thread = threading.Thread(target=finish)
        thread.start()
        pair = pairing.try_pair(RequestedPair(env=env), built, ready)
        thread.join()
    assert (pair.cached, pair.error) == (True, None)
    assert [str(other.pid) in message for message in messages] == [True]
    claims.close()
