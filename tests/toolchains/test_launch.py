"""A launch that a kernel file says is compiled as each release's own launcher compiles it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from compat.model import BuiltEnv, Cell, Evidence
from compat.toolchains.triton.language.script import Form
from compat.workers.attempt import InFlightCell
from tests.cells import KERNELS, cell
from tests.toolchains.compiling import compile_all, said, script

WARMED_UP = Path(__file__).parent / "launches.py"
TENSORS = {"source": "*fp16", "result": "*fp16"}
UNALIGNED = {"tensor": "fp16", "aligned": False}


def launched(
    function: str, constexprs: Any = None, options: Any = None, **passed: Any
) -> dict[str, Any]:
    return {
        "function": function,
        "signature": {},
        "divisible_by_16": (),
        "launch": TENSORS | passed,
        "constexprs": {"BLOCK": 128} if constexprs is None else constexprs,
        "options": options or {},
    }


LAUNCHES = (
    launched("strided", size=4096, stride=4),
    launched("strided", size=4096, stride=1),
    launched(
        "strided", size=1, stride=16, source=UNALIGNED, result={"tensor": "fp16", "large": True}
    ),
    launched("strided", size=2**31 + 16, stride=7, options={"num_warps": 8}),
    launched("optional", size=100, scale=0.5, bias=None, doubled=True),
    launched("optional", size=96, scale=2, bias="*bf16", doubled=False),
    launched("unspecialized", size=16),
    launched("unspecialized", size=1),
    launched("wide", first=2**62, second=2**63, grid=1, source="*i32", result="*i32"),
    launched("wide", first=-(2**63), second=3, grid=2, source="*i32", result="*i32"),
    launched("tuned", {"BLOCK": 64, "EVEN": True}, size=128),
)
FROM_3_3 = (launched("shaped", shape=(16, 1)), launched("shaped", shape=(5, 3)))
CHOSEN = ({"constexpr": 64}, {"constexpr": {"function": "doubled"}}, 1.5)
FROM_3_4 = (
    launched("given", {"BLOCK": 64}, chosen=CHOSEN),
    launched("described", {"ROWS": 64, "COLUMNS": 32}, source="tensordesc<fp16[64,32]>"),
)


def launches_of(release: str) -> tuple[dict[str, Any], ...]:
    version = Version(release)
    return (
        *LAUNCHES,
        *(FROM_3_3 if version >= Version("3.3") else ()),
        *(FROM_3_4 if version >= Version("3.4") else ()),
    )


def described(function: str, signature: dict[str, str], **facts: Any) -> dict[str, Any]:
    """What somebody writes by hand that means a launch.

    Of pointers and options what is not said is as in :func:`launched`.
    """
    aligned = facts.pop("aligned", ("source", "result"))
    return {
        "function": function,
        "signature": {"source": "*fp16", "result": "*fp16"} | signature,
        "constexprs": {"BLOCK": 128},
        "divisible_by_16": aligned + facts.pop("divisible", ()),
        "pointer_range_32": ("source", "result"),
        **facts,
    }


BY_HAND = {
    0: described("strided", {"size": "i32", "stride": "i32"}, divisible=("size",)),
    1: described(
        "strided", {"size": "i32", "stride": "i32"}, divisible=("size",), equal_to_1=("stride",)
    ),
    2: described(
        "strided",
        {"size": "i32", "stride": "i32"},
        aligned=("result",),
        divisible=("stride",),
        equal_to_1=("size",),
        pointer_range_32=("source",),
    ),
    3: described(
        "strided", {"size": "i64", "stride": "i32"}, divisible=("size",), options={"num_warps": 8}
    ),
    6: described("unspecialized", {"size": "i32"}),
    8: described(
        "wide",
        {"source": "*i32", "result": "*i32", "first": "i64", "second": "u64", "grid": "i32"},
        divisible=("first", "second"),
        equal_to_1=("grid",),
    ),
}
"""The place of a launch in :data:`LAUNCHES` → a signature with hints that says the same."""


def cells_of(env: BuiltEnv, launches: Any, target: str = "sm_90") -> list[Cell]:
    return [cell(env, "launched", target=target, **facts) for facts in launches]


def text_of(evidence: Evidence) -> str:
    """The digest of what the assembler is given."""
    assert evidence.built, said(evidence)
    made = evidence.done[0].made
    return made["amdgcn" if "amdgcn" in made else "ptx"].digest


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.0.0", "3.2.0", "3.3.1", "3.4.0", "3.9.0"])
def test_it_is_what_the_releases_own_launcher_compiles(
    release: str, built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    env = built(f"triton-{release}")
    cells = cells_of(env, launches_of(release))
    warmed_up = warm_up(env, cells, tmp_path)
    assert [text_of(each) for each in compile_all(env, cells)] == [line[:16] for line in warmed_up]


@pytest.mark.wheels
@pytest.mark.parametrize(
    ("release", "target"),
    [("3.0.0", "sm_90"), ("3.3.1", "sm_90"), ("3.9.0", "sm_90"), ("3.6.0", "gfx942")],
)
def test_repro_scripts_come_to_the_same(
    release: str, target: str, built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    """Without line information, which tells in which file a kernel is."""
    env = built(f"triton-{release}")
    launches = launches_of(release)
    cells = cells_of(
        env, (launches[index] for index in (0, 2, 5, 9, *range(11, len(launches)))), target
    )
    scripts = [tmp_path / f"{number}.py" for number in range(len(cells))]
    for path, each in zip(scripts, cells, strict=True):
        path.write_text(script(each.spec, target, Form.ANY), encoding="utf-8")
    told = warm_up(env, cells, tmp_path, *scripts, TRITON_DISABLE_LINE_INFO="1")
    assert told[len(cells) :] == told[: len(cells)]


def warm_up(
    env: BuiltEnv, cells: list[Cell], folder: Path, *scripts: Path, **variables: str
) -> list[str]:
    """What the release itself makes of the launches of cells, and then of scripts."""
    (folder / "jobs.json").write_text(
        json.dumps([InFlightCell(cell=each, nonce="n").job() for each in cells])
    )
    command = [
        str(env.python),
        str(WARMED_UP),
        str(KERNELS / "launched.py"),
        str(folder / "jobs.json"),
        *map(str, scripts),
    ]
    own = {
        **os.environ,
        **variables,
        "TRITON_CACHE_DIR": str(folder / "cache"),
        "HOME": str(folder),
    }
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=own)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()


@pytest.mark.wheels
@pytest.mark.parametrize(
    ("release", "target"),
    [("3.0.0", "sm_90"), ("3.3.1", "sm_90"), ("3.9.0", "sm_90"), ("3.9.0", "gfx942")],
)
def test_it_is_what_a_signature_and_hints_come_to_that_say_the_same(
    release: str, target: str, built: Callable[[str], BuiltEnv]
) -> None:
    env = built(f"triton-{release}")
    launches = [LAUNCHES[index] for index in BY_HAND]
    by_launch, by_hand = (
        compile_all(env, cells_of(env, each, target)) for each in (launches, list(BY_HAND.values()))
    )
    assert [text_of(each) for each in by_launch] == [text_of(each) for each in by_hand]
    # Else two launches differ only in a stride that is annotated with a type.
    folded = Version(release) < Version("3.4")
    assert len({text_of(each) for each in by_launch}) == len(BY_HAND) - (not folded)


@pytest.mark.wheels
@pytest.mark.parametrize(
    ("release", "folded"), [("3.0.0", True), ("3.3.1", True), ("3.4.0", False), ("3.9.0", False)]
)
def test_an_annotated_one_is_folded_up_to_3_3(
    release: str, folded: bool, built: Callable[[str], BuiltEnv]
) -> None:
    env = built(f"triton-{release}")
    one, three = compile_all(
        env, cells_of(env, [launched("strided", size=4096, stride=stride) for stride in (1, 3)])
    )
    assert (text_of(one) != text_of(three)) is folded
