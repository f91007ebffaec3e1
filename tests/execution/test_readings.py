"""Rows of the store hold facts. A reader that has changed reads them anew, without a compile."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from compat import toolchains
from compat.diagnosis.pipeline import CompilerOutput, Pipeline
from compat.engine.run import run
from compat.model import BuiltEnv, Cell, CompletedAction, Evidence, Failure
from compat.store import store as store_of
from compat.store.store import Store
from compat.toolchains.base import Toolchain
from compat.toolchains.triton.ir.dumps import READER
from compat.workers.evidence import keep_printed, printed_text
from compat.workers.spawn import OwnWorker
from tests.cells import cell, context_of
from tests.execution.test_store import CELL, EVIDENCE, read
from tests.sqlite import opened

SHAPE = {"M": 64, "K": 64, "N": 64, "N2": 16}


def crashing(env: BuiltEnv) -> Cell:
    """A cell that fails in a pass: 3.1 does not know sm_100, and fails an assertion."""
    pointers = {"source": "*fp16", "result": "*fp32", "size": "i32"}
    return cell(env, "faces", "chained_dot", "sm_100", constexprs=SHAPE, signature=pointers)


def failure_of(one: Cell, env: BuiltEnv, folder: Path, *, cached: bool) -> Failure:
    with Store(folder) as store:
        (result,) = run([one], context_of(store, env, slots=2))
    assert result.cached is cached
    assert result.outcome.failure is not None
    return result.outcome.failure


def better_reader(text: str) -> CompilerOutput:
    """A reader that writes passes in capitals, and takes the first pass for the failed one."""
    output = READER.read(text)
    steps = tuple(evolve(step, pass_=step.pass_.upper()) for step in output.pipeline.steps)
    return CompilerOutput(text=output.text, pipeline=Pipeline(steps=steps[:1]))


@pytest.mark.wheels
def test_changed_reader_reads_old_rows_without_a_compile(
    built: Callable[[str], BuiltEnv], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = built("triton-3.1.0")
    one = crashing(env)
    before = failure_of(one, env, tmp_path, cached=False)
    assert before.pass_ == "tritongpu-accelerate-matmul"
    monkeypatch.setattr(
        OwnWorker, "__init__", lambda *_args, **_kwargs: pytest.fail("a worker was started")
    )
    assert failure_of(one, env, tmp_path, cached=True) == before
    with monkeypatch.context() as patched:
        patched.setattr(Toolchain, "reader", evolve(READER, read=better_reader))
        assert failure_of(one, env, tmp_path, cached=True) == before, (
            "the same reader need not read again"
        )
        patched.setattr(toolchains, "reading_version", lambda _: "better")
        after = failure_of(one, env, tmp_path, cached=True)
        assert after.pass_ == "INLINE"
        assert after.ir != before.ir
        assert (tmp_path / "artifacts" / str(after.ir)).read_text().startswith(("#loc", "module"))
        assert after.reproducer == before.reproducer
        patched.setattr(store_of, "add_diagnosis", lambda *_: pytest.fail("what was read is kept"))
        assert failure_of(one, env, tmp_path, cached=True) == after
    assert failure_of(one, env, tmp_path, cached=True) == before


@pytest.mark.wheels
def test_a_row_holds_no_conclusion_and_the_dump_is_small(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    env = built("triton-3.1.0")
    failure = failure_of(crashing(env), env, tmp_path, cached=False)
    with opened(tmp_path / "results.sqlite") as file:
        ((attempts,),) = file.execute("SELECT attempts FROM evidence").fetchall()
    file.close()
    assert str(failure.pass_) not in attempts
    assert str(failure.ir) not in attempts
    (compressed,) = (tmp_path / "artifacts").glob("*.printed.xz")
    with Store(tmp_path) as store:
        text = printed_text(
            evolve(EVIDENCE, artifacts={"printed": compressed.name}), store.artifact
        )
    assert text is not None
    assert text.count("IR Dump Before") > 10
    assert compressed.stat().st_size < len(text) / 20


@pytest.mark.wheels
def test_last_reading_counts_when_the_dump_is_damaged(
    built: Callable[[str], BuiltEnv], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = built("triton-3.1.0")
    before = failure_of(crashing(env), env, tmp_path, cached=False)
    (compressed,) = (tmp_path / "artifacts").glob("*.printed.xz")
    compressed.write_bytes(b"x")
    monkeypatch.setattr(toolchains, "reading_version", lambda _: "another")
    assert failure_of(crashing(env), env, tmp_path, cached=True) == before
    with opened(tmp_path / "results.sqlite") as file:
        file.execute("UPDATE evidence SET readings = NULL")
    file.close()
    assert failure_of(crashing(env), env, tmp_path, cached=False) == before


def test_ok_row_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fine = Evidence(
        answered=True, done=(CompletedAction(do="compile"),), stage="cubin", seconds=0.5
    )
    with Store(tmp_path) as store:
        store.write("k", CELL, (fine,))
        monkeypatch.setattr(
            store_of, "add_diagnosis", lambda *_: pytest.fail("there is nothing to read")
        )
        monkeypatch.setattr(toolchains, "reading_version", lambda _: "another")
        assert read(store, "k") == {"k": (fine,)}


IR = "// -----// IR Dump Before CSE (cse)\nmodule {\n}\n" * 20_000


@pytest.mark.parametrize(
    "text", ["", "short", IR, random.Random(7).randbytes(50_000).hex()], ids=len
)
def test_printed_text_is_read_back_unchanged(tmp_path: Path, text: str) -> None:
    with Store(tmp_path) as store:
        for always in (False, True):
            inline, artifacts = keep_printed(text, store.keep, always=always)
            evidence = evolve(EVIDENCE, printed=inline, artifacts=artifacts)
            assert printed_text(evidence, store.artifact) == text
            assert bool(artifacts) is (always or len(text) > 20_000)


@pytest.mark.parametrize("data", [b"", b"\x1f\x8b", b"\xfd7zXZ\x00", b"no archive"])
def test_invalid_archive_gives_no_printed_text(tmp_path: Path, data: bytes) -> None:
    with Store(tmp_path) as store:
        name = store.keep(".printed.xz", data)
        text = printed_text(evolve(EVIDENCE, artifacts={"printed": name}), store.artifact)
    assert not text
