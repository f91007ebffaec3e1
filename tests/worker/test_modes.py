"""Attempts that are not plain: with IR instead of a function, with kept IR, or with variables."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from compat.model import BuiltEnv, Evidence, StageOutput
from compat.store.store import Store
from compat.workers.attempt import KEEPING_IR, Compile, Limits, Mode
from compat.workers.evidence import printed_text
from compat.workers.watch import attempt
from tests.cells import cell, worker

pytestmark = pytest.mark.wheels
LIMITS = Limits(deadline=60, memory=4 << 30)


def one(env: BuiltEnv, store: Store, mode: Mode, function: str = "looped") -> Evidence:
    with worker(env) as server:
        cells = [cell(env, "faces", function)]
        ((_, evidence),) = attempt(
            server, cells, LIMITS, stop=threading.Event(), mode=mode, keep=store.keep
        )
    return evidence


def test_ir_of_one_release_compiles_in_another(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    old, new = built("triton-3.1.0"), built("triton-3.9.0")
    with Store(tmp_path) as store:
        evidence = one(old, store, KEEPING_IR)
        assert list(evidence.artifacts) == ["ttir", "ttgir", "llir", "ptx", "cubin"]
        ttir = store.artifacts / evidence.artifacts["ttir"]
        assert "tt.func public @looped" in ttir.read_text()
        (done,) = evidence.done
        assert (done.do, done.requires) == ("compile", ())
        facts = {
            stage: StageOutput(
                size=(path := store.artifacts / name).stat().st_size, digest=path.name[:16]
            )
            for stage, name in evidence.artifacts.items()
        }
        assert {stage: done.outputs[stage] for stage in evidence.artifacts} == facts
        mode = Mode(
            actions=(Compile(ir="some.ttir"),), action_files={"some.ttir": ttir.read_bytes()}
        )
        crossed, back = one(new, store, mode), one(old, store, mode)
    assert crossed.has_binary
    assert "ast" not in crossed.stages
    assert back.has_binary


def test_artifacts_made_before_a_failure_are_kept(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    ptxas = tmp_path / "ptxas"
    ptxas.write_text(
        "#!/bin/sh\nfor a; do [ $a = --version ] && echo release 12.4, V12.4.99 && exit; done; echo"
        " fatal: no >&2; exit 1"
    )
    ptxas.chmod(0o755)
    variables = dict.fromkeys(("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"), str(ptxas))
    for name in ("triton-3.1.0", "triton-3.9.0"):
        with Store(tmp_path / name) as store:
            evidence = one(built(name), store, evolve(KEEPING_IR, variables=variables))
        assert not evidence.has_binary
        assert evidence.stage == "cubin"
        assert "fatal: no" in evidence.raised[0].message
        assert list(evidence.artifacts) == ["ttir", "ttgir", "llir", "ptx"]


def test_the_ir_before_every_pass_is_kept(built: Callable[[str], BuiltEnv], tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        evidence = one(built("triton-3.9.0"), store, Mode(diagnose=True, keep_printed=True))
        text = printed_text(evidence, store.artifact) or ""
    assert evidence.has_binary
    assert text.count("IR Dump Before") > 20
    assert "convert-triton-to-tritongpu" in text
