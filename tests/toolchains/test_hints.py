"""The hints of a compile are those that a launch would find, and those that repro scripts give."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.diagnosis import classify
from compat.model import BuiltEnv, Status
from compat.toolchains.triton.failures import KNOWLEDGE
from compat.toolchains.triton.language.script import Form, form_of
from tests.cells import POINTERS, cell
from tests.toolchains.compiling import compile_all, failure_text, ir_of, sources_of

STRIDED = {"source": "*fp32", "result": "*kfp32", "stride": "i32", "size": "i64"}
KNOWN: dict[str, Any] = {
    "signature": STRIDED,
    "divisible_by_16": ("source", "size"),
    "equal_to_1": ("stride",),
    "pointer_range_32": ("source", "result"),
}


def test_each_release_has_its_form_of_hints() -> None:
    releases = ("3.1.0", "3.2.0", "3.3.1", "3.4.0", "3.5.1", "3.6.0", "3.9.0+git1")
    forms = [
        Form.DESCRIPTOR,
        Form.HINTS,
        Form.ATTRIBUTES,
        Form.TYPED,
        Form.TYPED,
        Form.RANGED,
        Form.RANGED,
    ]
    assert [form_of(release) for release in releases] == forms


@pytest.mark.wheels
@pytest.mark.parametrize(
    "release", ["3.0.0", "3.1.0", "3.2.0", "3.3.1", "3.4.0", "3.5.1", "3.6.0", "3.9.0"]
)
def test_worker_and_repro_scripts_give_the_same_hints(
    release: str, built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    env = built(f"triton-{release}")
    cells = [
        cell(env, "told", function, target, **KNOWN)
        for target in ("sm_90", "gfx942")
        for function in ("strided", "unspecialized")
    ]
    own: dict[str, Any] = {"signature": {"source": "*fp32"}, "constexprs": {}}
    defaulted = cell(env, "told", "defaulted", "sm_90", options={"num_warps": 8}, **own)
    *sources, of_defaults = sources_of([*cells, defaulted], env, release, tmp_path)
    assert len(set(of_defaults)) == 1, of_defaults
    assert ('"typed": "1"' in of_defaults[0]) is (release < "3.4")
    for hinted_cell, (worker, pinned, portable) in zip(cells, sources, strict=True):
        assert pinned == worker
        assert portable == worker
        assert ("pointer_range" in worker) is (
            hinted_cell.target.name == "gfx942" and release in ("3.2.0", "3.6.0", "3.9.0")
        )
        assert ('"stride": "1"' in worker) is (release < "3.4")
        is_debug = hinted_cell.spec.function == "unspecialized" and release != "3.2.0"
        assert worker.endswith(f"{json.dumps(is_debug)}]")


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.5.1", "3.6.0", "3.7.1", "3.8.0"])
def test_pointer_range_hint_fails_on_amd_in_3_6_and_3_7(
    release: str, built: Callable[[str], BuiltEnv]
) -> None:
    """From 3.6 on, AMD's launcher gives the hint that tensors are under 2 GiB.

    3.6 and 3.7 fail because of the way that they use this hint.
    """
    env = built(f"triton-{release}")
    launched, without = {"pointer_range_32": ("source", "result")}, {"pointer_range_32": ()}
    targets = ("gfx942", "gfx950", "gfx1100")
    cells = [
        cell(env, "told", "chosen_pointers", name, **facts)
        for name in targets
        for facts in (launched, without)
    ]
    built_as = [evidence.has_binary for evidence in compile_all(env, cells)]
    assert built_as == [release in ("3.5.1", "3.8.0"), True] * 3


@pytest.mark.wheels
@pytest.mark.parametrize(("release", "hint"), [("3.5.1", False), ("3.6.0", True), ("3.9.0", True)])
def test_pointer_range_hint_is_given_where_a_launch_gives_it(
    release: str, hint: bool, built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    env = built(f"triton-{release}")
    ir = ir_of(env, cell(env, "told", "copied", "gfx942", pointer_range_32=("source",)), tmp_path)
    (head,) = (line for line in ir.splitlines() if "tt.func public" in line)
    source, result = head.split("%result")
    assert ("tt.pointer_range = 32" in source) is hint
    assert "tt.pointer_range" not in result
    assert "tt.pointer_range" not in ir_of(
        env, cell(env, "told", "copied", "sm_90", pointer_range_32=("source",)), tmp_path / "nvidia"
    )


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.1.0", "3.9.0"])
def test_hints_change_the_shared_memory_of_a_kernel(
    release: str, built: Callable[[str], BuiltEnv]
) -> None:
    """The compiler pipelines loads only if it knows that pointers are aligned.

    Without that hint, a compile does not show that a launch needs too much shared memory.
    """
    env = built(f"triton-{release}")
    facts: dict[str, Any] = {
        "signature": POINTERS | {"source": "*fp16"},
        "constexprs": {"BLOCK": 64},
        "options": {"num_warps": 8, "num_stages": 8},
    }
    launched, bare = (
        cell(env, "told", "pipelined", "sm_86", divisible_by_16=names, **facts)
        for names in (("source", "result"), ())
    )
    with_hints, without = compile_all(env, [launched, bare])
    assert with_hints.has_binary, failure_text(with_hints)
    assert with_hints.metrics["shared"] > without.metrics["shared"]
    assert (
        classify.classify([with_hints], target=launched.target, knowledge=KNOWLEDGE).failure
        is not None
    )
    outcome = classify.classify([without], target=bare.target, knowledge=KNOWLEDGE)
    assert (outcome.status, outcome.failure) == (Status.OK, None)
