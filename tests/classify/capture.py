"""Capture the evidence that the tests of classification stand on, with real toolchains.

    python -m tests.classify.capture 'ENVS/t{release}/bin/python' 'ENVS/bare{release}/bin/python' [CLASS…]

The arguments say where the interpreter of an env with a given Triton release is: with setuptools, as 3.0 to 3.2 need it, and
without. Each :class:`Shot` is a kernel of ``tests/kernels`` compiled by several releases, once among neighbours and, when that
fails, once more alone; what came of it is written to ``fixtures/CLASS.json``, with this machine's paths made neutral.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, evolve, frozen

from compat.config.targets import TARGETS
from compat.engine.flight import DIAGNOSTIC, Limits
from compat.engine.launch import OwnServer
from compat.engine.supervise import attempt
from compat.model import Cell, Env, Evidence, Raised, Specialization

KERNELS = Path(__file__).parents[1] / "kernels"
FIXTURES = Path(__file__).parent / "fixtures"
SOME = ("3.0.0", "3.2.0", "3.3.1", "3.5.1", "3.8.0", "3.9.0")
ALL = ("3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.3.1", "3.4.0", "3.5.0", "3.5.1", "3.6.0", "3.7.0", "3.7.1", "3.8.0", "3.9.0")
_STDERR_KEPT = 2500
_FLOAT = "*fp32"


@frozen(kw_only=True)
class Shot:
    """One kernel, compiled the same way by several releases, all of which fail in the same class."""

    expect: str
    """The failure class."""
    kernel: str
    status: str = "rejected"
    file: str = "failures.py"
    releases: tuple[str, ...] = SOME
    target: str = "sm_90"
    pointers: str = _FLOAT
    block: int = 128
    options: Mapping[str, Any] = {}
    same: str | None = None
    """A name that all sightings of one defect share: their fingerprints have to be equal, and differ from all others'."""
    deadline: float = 20.0
    memory: int = 4 << 30


CRASHED, UNSUPPORTED = "crashed", "unsupported"
EARLY, LATE = ("3.0.0", "3.2.0"), ("3.3.1", "3.5.1", "3.8.0", "3.9.0")
BEFORE_DESCRIPTORS = ("3.0.0", "3.2.0", "3.3.1")

SHOTS = (
    Shot(expect="shape-mismatch", kernel="mismatched", same="broadcast"),
    Shot(expect="shape-mismatch", kernel="mismatched", same="broadcast", block=32, releases=("3.1.0", "3.9.0")),
    Shot(expect="shape-mismatch", kernel="dot_of_shapes", same="dot-shapes", block=16),
    Shot(expect="type-error", kernel="dot_of_dtypes", same="dot-dtypes", block=16),
    Shot(expect="type-error", kernel="load_of_a_number", same="load-of-number"),
    Shot(expect="type-error", kernel="max_of_zero", same="max-of-zero"),
    Shot(expect="type-error", kernel="branches_disagree", same="branches"),
    Shot(expect="mlir-bitwidth-assert", kernel="block_typed_bound", same="block-bound", status=CRASHED, releases=ALL),
    Shot(
        expect="compiler-assert",
        kernel="scan",
        same="scan-over-ctas",
        status=CRASHED,
        options={"num_ctas": 2},
        block=256,
        releases=("3.1.0", "3.2.0", "3.3.1", "3.4.0"),
    ),
    Shot(
        expect="compiler-assert",
        kernel="dot_into_dot",
        same="stmatrix-3.2",
        status=CRASHED,
        pointers="*fp16",
        block=64,
        options={"num_warps": 8},
        releases=("3.2.0",),
    ),
    Shot(
        expect="compiler-assert",
        kernel="dot_into_dot",
        same="stmatrix-3.3",
        status=CRASHED,
        pointers="*fp16",
        block=64,
        options={"num_warps": 8},
        releases=("3.3.0", "3.3.1"),
    ),
    Shot(
        expect="compiler-assert",
        kernel="specialized_loop",
        same="warp-assert",
        status=CRASHED,
        pointers="*fp16",
        block=64,
        releases=("3.4.0", "3.5.1", "3.6.0"),
    ),
    Shot(
        expect="compiler-assert",
        kernel="specialized_loop",
        same="warp-fatal",
        status=CRASHED,
        pointers="*fp16",
        block=64,
        releases=("3.7.1", "3.8.0", "3.9.0"),
    ),
    Shot(expect="compiler-assert", kernel="garbled_constraints", same="constraints", status=CRASHED),
    Shot(
        expect="compiler-assert", kernel="no_such_instruction", same="amd-asm", status=CRASHED, target="gfx942", releases=("3.5.1",)
    ),
    Shot(expect="compiler-assert", kernel="fp64_to_fp8", same="rounding", status=CRASHED),
    Shot(expect="compiler-assert", kernel="block_condition", same="block-condition", status=CRASHED, releases=("3.2.0", "3.3.1")),
    Shot(expect="compiler-assert", kernel="sum_of_fp8", same="fp8-packing", status=CRASHED, releases=("3.8.0", "3.9.0")),
    Shot(expect="verifier", kernel="sum_of_fp8", same="fp8-adding", status=CRASHED, releases=("3.6.0", "3.7.1")),
    Shot(
        expect="pass-failure",
        kernel="old_descriptor",
        same="no-tma",
        status=CRASHED,
        target="sm_80",
        releases=("3.2.0", "3.3.0", "3.3.1"),
    ),
    Shot(expect="pass-failure", kernel="waits_for_grid", same="no-grid", status=CRASHED, target="gfx942", releases=("3.9.0",)),
    Shot(expect="ptxas", kernel="nvidia_instruction", same="amd-mov", target="gfx1100", releases=("3.5.1", "3.6.0", "3.9.0")),
    Shot(expect="verifier", kernel="uneven_pack", same="pack", status=CRASHED),
    Shot(expect="verifier", kernel="scalar_in_exchange", same="cas-shape", status=CRASHED, releases=("3.0.0", "3.2.0", "3.3.1")),
    Shot(expect="verifier", kernel="scalar_in_exchange", same="cas-type", status=CRASHED, releases=("3.5.1", "3.8.0", "3.9.0")),
    Shot(
        expect="verifier", kernel="wide_histogram", same="histogram", status=CRASHED, releases=("3.0.0", "3.2.0", "3.3.1", "3.5.1")
    ),
    Shot(expect="ir-parse", file="broken_ir.py", kernel="broken", same="konstant"),
    Shot(expect="ptxas", kernel="no_such_instruction", same="instruction"),
    Shot(expect="ptxas", kernel="square", same="registers", pointers="*fp16", block=256, releases=("3.2.0",), deadline=60),
    Shot(
        expect="shared-memory",
        kernel="square",
        same="too-much",
        pointers="*fp16",
        block=256,
        target="gfx942",
        releases=("3.5.1", "3.9.0"),
    ),
    Shot(expect="api-missing", kernel="missing_function", same="no-such-function"),
    Shot(expect="api-missing", kernel="descriptor", same="no-descriptor", releases=BEFORE_DESCRIPTORS),
    Shot(expect="api-missing", file="asks_for_too_much.py", kernel="asking", same="no-import"),
    Shot(expect="api-removed", kernel="block_pointer", same="block-pointers", releases=("3.9.0",)),
    Shot(expect="api-changed", kernel="wrong_keyword", same="load-keyword"),
    Shot(expect="api-changed", kernel="loop_hint", same="range-keyword", releases=("3.0.0", "3.1.0", "3.2.0")),
    Shot(expect="constexpr-required", kernel="runtime_range", same="runtime-range"),
    Shot(expect="constexpr-required", kernel="runtime_shape", same="runtime-shape"),
    Shot(expect="constexpr-required", kernel="runtime_unrolling", same="runtime-unrolling"),
    Shot(expect="loop-carried-type", kernel="dtype_changes", same="loop-dtype"),
    Shot(expect="loop-carried-type", kernel="shape_changes", same="loop-shape"),
    Shot(
        expect="target-unknown",
        kernel="copy",
        same="too-old-for-the-target",
        status=UNSUPPORTED,
        target="sm_100",
        releases=("3.0.0", "3.1.0", "3.2.0"),
    ),
    Shot(
        expect="target-unknown",
        kernel="copy",
        same="too-old-for-the-target",
        status=UNSUPPORTED,
        target="sm_120",
        releases=("3.0.0", "3.1.0", "3.2.0"),
    ),
    Shot(
        expect="toolchain-missing",
        kernel="copy",
        same="lld",
        status=UNSUPPORTED,
        target="gfx942",
        releases=("3.0.0", "3.2.0", "3.3.1", "3.4.0"),
    ),
    Shot(
        expect="timeout", kernel="unrolled_for_ever", same="unrolling", status="timed_out", deadline=2, releases=("3.0.0", "3.9.0")
    ),
    Shot(
        expect="out-of-memory",
        kernel="huge_constant",
        same="outgrown",
        status="out_of_memory",
        memory=800 << 20,
        releases=("3.0.0", "3.9.0"),
    ),
    Shot(expect="undefined-name", kernel="undefined_name", same="undefined"),
    Shot(expect="undefined-name", kernel="defined_in_one_branch", same="in-one-branch"),
    Shot(expect="unusable-global", kernel="global_number", same="global-number"),
    Shot(expect="unusable-global", kernel="calls_undecorated", same="undecorated", releases=ALL),
    Shot(expect="static-assert", kernel="asserts_statically", same="static-assert"),
    Shot(expect="unsupported-syntax", kernel="leaves_a_loop", same="break"),
    Shot(expect="unsupported-syntax", kernel="catches", same="try"),
    Shot(expect="unsupported-syntax", kernel="lists_by_comprehension", same="comprehension"),
    Shot(expect="unsupported-syntax", kernel="function_in_function", same="nested-function", releases=ALL),
    Shot(expect="unsupported-syntax", kernel="assigns_into_a_block", same="setitem"),
    Shot(expect="unsupported-syntax", kernel="returns_in_a_loop", same="return", releases=("3.2.0", *LATE)),
    Shot(expect="unsupported-syntax", kernel="while_and_else", same="while-else"),
    Shot(expect="type-error", kernel="block_condition", same="block-condition-later", releases=("3.5.1", "3.8.0", "3.9.0")),
    Shot(expect="type-error", kernel="converts_to_int", same="python-type"),
    Shot(
        expect="unclassified",
        kernel="dot_into_dot_in_loop",
        same="segfault",
        status=CRASHED,
        block=64,
        options={"num_warps": 8},
        releases=("3.0.0", "3.1.0"),
    ),
)


def cell_of(shot: Shot, release: str) -> Cell:
    """The cell that a shot is, on one release."""
    return Cell(
        env=Env(name=f"t{release}"),
        target=TARGETS[shot.target],
        spec=Specialization(
            kernel=shot.kernel,
            variant="plain",
            case=shot.pointers.lstrip("*"),
            source=str(KERNELS / shot.file),
            function=shot.kernel,
            signature={"source": shot.pointers, "result": _FLOAT, "size": "i32"},
            constexprs={"BLOCK": shot.block} if shot.file == "failures.py" else {},
            divisible_by_16=("source", "result"),
            options=shot.options,
        ),
    )


def capture(shots: Sequence[Shot], python: str) -> Iterator[tuple[Shot, str, tuple[Evidence, ...]]]:
    """Attempt every shot on every release of its own, a server per release."""
    for release in ALL:
        due = [shot for shot in shots if release in shot.releases]
        if not due:
            continue
        with OwnServer(python.format(release=release)) as server:
            assert server.hello.ready, server.hello
            for shot in due:
                yield shot, release, _attempts(server, shot, release)


def _attempts(server: OwnServer, shot: Shot, release: str) -> tuple[Evidence, ...]:
    neighbour = cell_of(Shot(expect="", kernel="copy", target="sm_80"), release)
    cell = cell_of(shot, release)
    limits = Limits(deadline=shot.deadline, memory=shot.memory)
    stop = threading.Event()
    crowd = {done.id: evidence for done, evidence in attempt(server, [neighbour, cell], limits, stop=stop)}
    first = crowd[cell.id]
    if first.built:
        return (first,)
    ((_, second),) = attempt(server, [cell], limits, stop=stop, mode=DIAGNOSTIC)
    return first, second


def broken_import(python: str, release: str) -> dict[str, Any]:
    """A toolchain that cannot be imported."""
    hello = OwnServer(python.format(release=release)).hello
    raised = tuple(Raised(type=link["type"], message=link["message"]) for link in hello.raised)
    evidence = Evidence(answered=False, toolchain_broken=True, raised=raised, stderr=hello.words)
    return {
        "release": release,
        "target": "sm_90",
        "kernel": "copy",
        "same": "setuptools",
        "expect": {"status": "env_broken", "class": "import"},
        "attempts": [trimmed(evidence, release)],
    }


def broken_installs(python: str) -> Iterator[str]:
    """What an installer says when there is no such release, and when there is no wheel for the Python in question."""
    for wish in (["triton==3.99.0"], ["triton==3.98.0"], ["--python-version", "3.14", "triton==3.0.0"]):
        command = ["uv", "pip", "install", "--dry-run", "--only-binary", ":all:", "--python", python, *wish]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode, done.stdout
        yield "\n".join(line for line in done.stderr.splitlines() if not line.startswith("Using Python"))


def neutral(text: str, release: str) -> str:
    """``text`` without what is peculiar to this machine."""
    for pattern, replacement in (
        (r"/\S*?/lib/python3\.\d+/site-packages", "/env/lib/python3.11/site-packages"),
        (r"/\S*?/lib/python3\.\d+/(?!site-packages)", "/usr/lib/python3.11/"),
        (rf"{re.escape(str(KERNELS.parents[1]))}/compat/worker", "/worker"),
        (re.escape(str(KERNELS)), "/home/user/kernels"),
        (r"/tmp/compat-batch-\w+", "/tmp/batch"),
    ):
        text = re.sub(pattern, replacement, text)
    return text


def trimmed(evidence: Evidence, release: str) -> dict[str, Any]:
    """An attempt as a fixture keeps it: neutral, without timings, its output short, and without what is only a default."""

    def text(words: str) -> str:
        words = neutral(words, release)
        return words if len(words) <= _STDERR_KEPT else f"{words[: _STDERR_KEPT // 2]}\n[…]\n{words[-_STDERR_KEPT // 2 :]}"

    kept = evolve(
        evidence,
        raised=tuple(Raised(type=link.type, message=text(link.message)) for link in evidence.raised),
        stderr=text(evidence.stderr),
        seconds=0.0,
        entered=0.0,
        stages={},
        warnings=(),
        protocol=(),
    )
    plain, default = asdict(kept), asdict(Evidence(answered=False))
    plain["diagnosis"] = {name: value for name, value in plain["diagnosis"].items() if value}
    return {name: value for name, value in plain.items() if name == "answered" or value not in (default[name], {}, [], ())}


def main(arguments: Sequence[str]) -> None:
    """Capture the classes named (default: all) and write their fixtures."""
    python, bare, *kinds = arguments
    shots = [shot for shot in SHOTS if not kinds or shot.expect in kinds]
    found: dict[str, list[dict[str, Any]]] = {}
    for shot, release, attempts in capture(shots, python):
        sighting = {
            "release": release,
            "target": shot.target,
            "kernel": shot.kernel,
            "same": shot.same,
            "expect": {"status": shot.status, "class": shot.expect},
            "attempts": [trimmed(evidence, release) for evidence in attempts],
        }
        found.setdefault(shot.expect, []).append(sighting)
        print(shot.expect, shot.kernel, release)
    if not kinds or "import" in kinds:
        found["import"] = [broken_import(bare, release) for release in ("3.0.0", "3.1.0", "3.2.0")]
    if not kinds or "install" in kinds:
        found["install"] = [{"words": words} for words in broken_installs(python.format(release="3.9.0"))]
    for kind, sightings in found.items():
        (FIXTURES / f"{kind}.json").write_text(json.dumps(sightings, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
