"""A launch in a kernel file compiles as with each release's own launcher."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from compat.capturing.capturing import capture_program
from compat.capturing.checking import Agreement, CodeCheck, Options
from compat.model import BuiltEnv, Cell, Evidence
from compat.toolchains.triton.language.script import Form
from compat.workers.attempt import InFlightCell
from tests.cells import KERNELS, cell
from tests.toolchains.compiling import compile_all, failure_text, script

WARMED_UP = Path(__file__).parent / "launches.py"
STAGES = ("ttir", "ptx", "cubin", "amdgcn", "hsaco")
"""The stages to compare, as far as a target has them. ``launches.py`` has them, too."""
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


def numbered(**numbers: tuple[Any, ...]) -> dict[str, Any]:
    """Arguments with a kind and a place, such as ``size0`` and ``size1``."""
    return {
        f"{kind}{place}": number
        for kind, values in numbers.items()
        for place, number in enumerate(values)
    }


def untyped(*numbers: Any, constexprs: Any = None, **passed: Any) -> dict[str, Any]:
    kinds = constexprs or {"BLOCK": 64, "KIND": "doubled"}
    return launched("untyped", kinds, **numbered(number=numbers), **passed)


WHOLE = {"source": "*i32", "result": "*i32"}
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
    *(
        launched(kernel, source=source, **numbered(size=(1, 16, 7), stride=(16, 1, 2**31)))
        for kernel in ("unaligned", "unspecial")
        for source in ("*fp16", UNALIGNED)
    ),
    *(
        launched("typed", **numbered(a=signed, b=signed, c=signed, d=unsigned), e=e, **WHOLE)
        for signed, unsigned, e in (
            ((1, 16, 7), (1, 16, 7), 1),
            ((-1, -16, 2**31 - 1), (2**31 - 1, 2**31, 2**63), 16),
        )
    ),
    launched(
        "typed",
        **numbered(a=(2**31, 1, 1), b=(-(2**31) - 1, 1, 1), c=(2, 1, 1), d=(2, 1, 1)),
        e=1,
        **WHOLE,
    ),
    launched("scaled", **numbered(factor=(1.0, 16.0, 1), half=(0.5, 1.0, 16), flag=(True, False))),
    launched("boolean", flag=True),
    untyped(0, 1, 16, 17, -1, -16, flag=True, nothing=None),
    untyped(2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, 16, flag=True, nothing=None),
    untyped(2**63, 2**64 - 1, 1.0, -0.0, True, False, flag=5, nothing="*fp16"),
    untyped(1.5, 1, 16, -1, 5, 3, flag=3, nothing=7, constexprs={"BLOCK": 32, "KIND": None}),
)


def part(size: Any, start: Any = "*fp16") -> dict[str, Any]:
    return {"fields": {"start": start, "size": size}}


def bundle_with(bias: object, block: Any = 64) -> dict[str, Any]:
    fields = {
        "sources": ("*fp16", UNALIGNED),
        "block": {"constexpr": block},
        "bias": bias,
        "part": part(48),
    }
    launch = {"result": "*fp16", "whole": {"fields": fields}}
    return {**launched("named", {"BLOCK": 2}), "launch": launch}


NOTHING = {"nothing": {"fields": {}}, "unnamed": ()}
NAMED = (
    bundle_with(None),
    bundle_with("*bf16"),
    *(launched("part_of", {}, part=part(size), **NOTHING) for size in (16, 1, 7, -5, 2**31, 2**63)),
    launched("part_of", {}, part=part(3, UNALIGNED), **NOTHING),
)
"""Launches with named tuples. Six of ``part_of`` differ in the kind of one number."""
FROM_3_3 = (
    *(launched("shaped", shape=(16, 1)), launched("shaped", shape=(5, 3))),
    *NAMED,
)
CHOSEN = ({"constexpr": 64}, {"constexpr": {"function": "doubled"}}, 1.5)
FROM_3_4 = (
    launched("given", {"BLOCK": 64}, chosen=CHOSEN),
    launched("cast", {"BLOCK": 64}, {"supported_fp8_dtypes": ("fp8e5", "fp8e4nv")}),
    launched("cast", {"BLOCK": 64}, {"deprecated_fp8_dot_operand_dtypes": ()}),
    launched("told_sizes", {"sizes": part(64, 3)}),
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
    """A signature with hints, as a user writes it by hand for a launch.

    Pointers and options that it does not give are those of :func:`launched`.
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
"""Index of a launch in :data:`LAUNCHES` → a signature with hints that means the same."""


def cells_of(env: BuiltEnv, launches: Any, target: str = "sm_90") -> list[Cell]:
    return [cell(env, "launched", target=target, **facts) for facts in launches]


def text_of(evidence: Evidence) -> str:
    """The digests of the first IR, of the assembly, and of the binary; or the last exception."""
    if not evidence.has_binary:
        assert evidence.raised, failure_text(evidence)
        kind, lines = evidence.raised[-1].type, evidence.raised[-1].message.strip().split("\n")
        return f"{kind.rpartition('.')[2]}:{lines[-1].replace(' ', '_')}"
    artifacts = evidence.done[0].outputs
    return ",".join(artifacts[stage].digest for stage in STAGES if stage in artifacts)


@pytest.fixture
def warmed_up(
    built: Callable[[str], BuiltEnv],
    once: Callable[[str, Callable[[], str]], str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], list[str]]:
    """Release → the texts that its own launcher gives for its launches."""

    def texts(release: str) -> str:
        env = built(f"triton-{release}")
        cells = cells_of(env, launches_of(release))
        return "\n".join(warm_up(env, cells, tmp_path_factory.mktemp("warmed-up")))

    return lambda release: once(f"warmed-up-{release}", lambda: texts(release)).split()


@pytest.fixture
def compiled(
    built: Callable[[str], BuiltEnv], once: Callable[[str, Callable[[], str]], str]
) -> Callable[[str], list[str]]:
    """Release → the texts of cells with its launches."""

    def texts(release: str) -> str:
        env = built(f"triton-{release}")
        return "\n".join(map(text_of, compile_all(env, cells_of(env, launches_of(release)))))

    return lambda release: once(f"launched-{release}", lambda: texts(release)).split()


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.0.0", "3.2.0", "3.3.1", "3.4.0", "3.9.0"])
def test_launches_compile_as_with_the_releases_own_launcher(
    release: str, compiled: Callable[[str], list[str]], warmed_up: Callable[[str], list[str]]
) -> None:
    texts = compiled(release)
    assert texts == warmed_up(release)
    refused = {
        launch["function"]
        for launch, text in zip(launches_of(release), texts, strict=True)
        if ":" in text
    }
    assert refused == {"boolean"}, "no release knows the annotation, and all else compiles"


@pytest.mark.wheels
@pytest.mark.parametrize(
    ("release", "target"),
    [("3.0.0", "sm_90"), ("3.3.1", "sm_90"), ("3.9.0", "sm_90"), ("3.6.0", "gfx942")],
)
def test_repro_scripts_compile_to_the_same_code(
    release: str, target: str, built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    """The comparison is without line information, because that names the file of a kernel."""
    env = built(f"triton-{release}")
    launches = launches_of(release)
    chosen = [launches[index] for index in (0, 2, 5, 9)] + [
        launch
        for launch in launches[11:]
        if launch["function"] not in ("boolean", "unaligned", "untyped")
    ]
    cells = cells_of(env, chosen, target)
    scripts = [tmp_path / f"{number}.py" for number in range(len(cells))]
    for path, launch_cell in zip(scripts, cells, strict=True):
        path.write_text(script(launch_cell.spec, target, Form.ANY), encoding="utf-8")
    texts = warm_up(env, cells, tmp_path, *scripts, TRITON_DISABLE_LINE_INFO="1")
    assert texts[len(cells) :] == texts[: len(cells)]


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.0.0", "3.3.1", "3.9.0"])
def test_captured_launches_compile_to_the_same_code(
    release: str,
    built: Callable[[str], BuiltEnv],
    warmed_up: Callable[[str], list[str]],
    tmp_path: Path,
) -> None:
    env = built(f"triton-{release}")
    cells = cells_of(env, launches_of(release))
    jobs = jobs_in(tmp_path, cells)
    options = Options(output=tmp_path / "captured", check=CodeCheck.CASES, fake=True)
    program = (str(WARMED_UP), str(KERNELS / "launched.py"), str(jobs))
    capture = capture_program(program, options, python=env.python)
    assert capture.program_end is not None
    assert capture.program_end.exit_code == 0
    assert {str(kernel) for kernel in capture.files.not_captured} == set()
    assert [
        comparison
        for comparison in capture.comparisons
        if comparison.agreement is not Agreement.EQUAL
    ] == []
    functions = [cell.spec.function for cell in cells]
    assert {comparison.kernel for comparison in capture.comparisons} == set(functions)
    # Only launches that are compiled alike share a case.
    different = set(zip(functions, warmed_up(release), strict=True))
    assert len(different) <= len(capture.comparisons) < len(cells)


def jobs_in(folder: Path, cells: list[Cell]) -> Path:
    """The file with the jobs of cells, for ``launches.py``."""
    path = folder / "jobs.json"
    path.write_text(json.dumps([InFlightCell(cell=cell, nonce="n").job() for cell in cells]))
    return path


def warm_up(
    env: BuiltEnv, cells: list[Cell], folder: Path, *scripts: Path, **variables: str
) -> list[str]:
    """The texts that the release itself gives for the launches of cells, and then for scripts."""
    command = [
        str(env.python),
        str(WARMED_UP),
        str(KERNELS / "launched.py"),
        str(jobs_in(folder, cells)),
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
def test_launch_compiles_as_the_same_signature_with_hints(
    release: str,
    target: str,
    built: Callable[[str], BuiltEnv],
    compiled: Callable[[str], list[str]],
) -> None:
    env = built(f"triton-{release}")
    if target == "sm_90":
        by_launch = [compiled(release)[index] for index in BY_HAND]
    else:
        launches = [LAUNCHES[index] for index in BY_HAND]
        by_launch = [*map(text_of, compile_all(env, cells_of(env, launches, target)))]
    by_hand = compile_all(env, cells_of(env, list(BY_HAND.values()), target))
    assert by_launch == [text_of(evidence) for evidence in by_hand]
    # If it is not folded, two launches differ only in a stride that is annotated with a type.
    folded = Version(release) < Version("3.4")
    assert len(set(by_launch)) == len(BY_HAND) - (not folded)


@pytest.mark.wheels
@pytest.mark.parametrize(
    ("release", "folded"), [("3.0.0", True), ("3.3.1", True), ("3.4.0", False), ("3.9.0", False)]
)
def test_annotated_stride_of_1_is_folded_up_to_3_3(
    release: str,
    folded: bool,
    built: Callable[[str], BuiltEnv],
    compiled: Callable[[str], list[str]],
) -> None:
    env = built(f"triton-{release}")
    one = launched("strided", size=4096, stride=1)
    (three,) = compile_all(env, cells_of(env, [launched("strided", size=4096, stride=3)]))
    assert (compiled(release)[LAUNCHES.index(one)] != text_of(three)) is folded
