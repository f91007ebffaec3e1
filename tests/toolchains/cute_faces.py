"""Kernels that fail in one way each, and the evidence of three releases of CuTe DSL.

    python -m tests.toolchains.cute_faces

compiles the kernels of ``tests/kernels/cute_faces.py`` on the releases of :data:`RELEASES`, whose
envs have to exist. It writes their evidence to ``cute_faces.json``, with neutral paths instead of
those of this machine.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import Factory, evolve, frozen

from compat import toolchains
from compat.config.matrix import no_matrix
from compat.envs.record import read_env
from compat.model import (
    BuiltEnv,
    Cell,
    CompileSpec,
    Diagnosis,
    Evidence,
    RaisedException,
    Specialization,
    Target,
)
from compat.workers.attempt import Limits
from compat.workers.watch import attempt
from tests.cells import worker

KERNELS = Path(__file__).parents[1] / "kernels" / "cute_faces.py"
SAVED = Path(__file__).with_suffix(".json")
RELEASES = OLD, MIDDLE, NEW = ("4.2.1", "4.5.3", "4.8.1")
LIMITS = Limits(deadline=5, memory=4 << 30)
_FRAMES = 6
_KEPT = 3000
_USUAL = {"a": "fp16[n]", "b": "fp16[n]"}


@frozen(kw_only=True)
class Face:
    """A kernel, how it is compiled, and the classes of its failure."""

    always: str | None = None
    """The class in every release except those of ``but``. ``None`` if the kernel compiles."""
    but: Mapping[str, str | None] = Factory(dict)
    function: str = ""
    """The function in the file of kernels. The default is the name of the face."""
    target: str = "sm_90a"
    signature: Mapping[str, str] = Factory(lambda: dict(_USUAL))
    options: Mapping[str, int] = Factory(dict)
    apart: tuple[str, ...] = ()
    """Releases with another fingerprint: they report less, or report it in another stage."""
    slow: bool = False
    """Whether the compile takes all its time, up to the deadline."""

    def expected(self, release: str) -> str | None:
        """The class in a release."""
        return self.but.get(release, self.always)


FACES = {
    "align": Face(always="layout-mismatch"),
    "alloc": Face(always="arch-required", but={NEW: "nvvm"}, apart=(NEW,)),
    "asserted": Face(always="static-assert"),
    "big": Face(always="shared-memory"),
    "blocks": Face(but={OLD: "api-changed"}),
    "branch": Face(always="undefined-name"),
    "brk": Face(always="unsupported-syntax"),
    "carried": Face(always="loop-carried-type"),
    "carriedif": Face(always="loop-carried-type"),
    "changed": Face(always="api-changed"),
    "constant": Face(always="constexpr-required"),
    "constif": Face(always="constexpr-required"),
    "count": Face(always="wrong-call"),
    "divide": Face(always="layout-mismatch"),
    "early": Face(always="unsupported-syntax"),
    "element": Face(always="operand-type"),
    "given": Face(always="kernel-file"),
    "gone": Face(but={NEW: "api-missing"}),
    "inner": Face(always="wrong-call"),
    "lacking": Face(always="api-changed"),
    "length": Face(always="loop-carried-type"),
    "listed": Face(always="constexpr-required"),
    "method": Face(always="api-missing"),
    "missing": Face(always="api-missing"),
    "name": Face(always="undefined-name"),
    "nested": Face(always="unsupported-syntax"),
    "nothing": Face(always="kernel-file"),
    "notyet": Face(but={OLD: "api-missing"}),
    "option": Face(always="api-changed", function="plain", options={"no-such-option": 1}),
    "printed": Face(always="not-implemented", but={OLD: "compiler-assert"}, apart=(OLD,)),
    "ptx": Face(always="ptxas"),
    "raising": Face(always="unsupported-syntax"),
    "ranked": Face(always="layout-mismatch"),
    "shape": Face(always="layout-mismatch"),
    "sliced": Face(always="compiler-assert"),
    "sm_42": Face(always="target-unknown", function="plain", target="sm_42"),
    "sm_75": Face(always="target-unknown", but={OLD: None}, function="plain", target="sm_75"),
    "sm_110a": Face(always="target-unknown", but={NEW: None}, function="plain", target="sm_110"),
    "sourceless": Face(always="unsupported-syntax"),
    "stored": Face(always="operand-type"),
    "tcgen": Face(always="arch-required"),
    "told": Face(always="static-assert"),
    "truth": Face(always="constexpr-required"),
    "tuples": Face(always="loop-carried-type"),
    "unlaunched": Face(always="kernel-file"),
    "unrolled": Face(always="timeout", slow=True),
    "wgmma_sm_80": Face(always="arch-required", function="wgmma", target="sm_80"),
    "wgmma_sm_100a": Face(always="arch-required", function="wgmma", target="sm_100a"),
    "wrongtype": Face(
        always="kernel-file", function="plain", signature={"a": "fp32", "b": "fp16[n]"}
    ),
}
"""The faces, by name."""


def target(name: str = "sm_90a") -> Target:
    """A target of CuTe DSL, also one that the tool does not offer."""
    targets = toolchains.look_up("cute").device.targets
    device_target = next((candidate for candidate in targets if candidate.name == name), None)
    return device_target or evolve(targets[0], name=name, arch=int(name.removeprefix("sm_")))


def cells(env: BuiltEnv, names: Sequence[str] = tuple(FACES)) -> list[Cell]:
    """The cells of these faces in an env."""
    return [
        Cell(
            env=env.env, target=target(FACES[name].target), spec=_specialization(name, FACES[name])
        )
        for name in names
    ]


def _specialization(name: str, face: Face) -> Specialization:
    return Specialization(
        kernel=name,
        variant="v",
        case="c",
        toolchain="cute",
        source=str(KERNELS),
        function=face.function or name,
        compile=CompileSpec(signature=dict(face.signature), options=dict(face.options)),
    )


def compiled(env: BuiltEnv, names: Sequence[str] = tuple(FACES)) -> Iterator[tuple[str, Evidence]]:
    """Each face and its evidence, from one batch."""
    with worker(env) as server:
        for cell, evidence in attempt(server, cells(env, names), LIMITS, stop=threading.Event()):
            yield cell.spec.kernel, evidence


def saved() -> Iterator[tuple[str, str, Evidence]]:
    """Face, release and the saved evidence."""
    for name, by_release in json.loads(SAVED.read_text(encoding="utf-8")).items():
        for release, facts in by_release.items():
            raised = tuple(RaisedException(**link) for link in facts.pop("raised", ()))
            line = facts.pop("line", None)
            answered = facts.pop("answered", False)
            yield (
                name,
                release,
                Evidence(
                    answered=answered,
                    alone=True,
                    raised=raised,
                    diagnosis=Diagnosis(line=line),
                    **facts,
                ),
            )


def _facts(evidence: Evidence) -> dict[str, Any]:
    """The facts of an attempt that are saved."""
    raised = [
        {
            "type": link.type,
            "message": _beginning(link.message),
            "traceback": _last_frames(link.traceback),
        }
        for link in evidence.raised
    ]
    facts = {
        "answered": evidence.answered,
        "signal": evidence.signal,
        "deadline": evidence.deadline,
        "stage": evidence.stage,
        "raised": raised,
        "stderr": _beginning(evidence.stderr),
        "line": evidence.diagnosis.line,
    }
    return {name: fact for name, fact in facts.items() if fact}


def _beginning(text: str) -> str:
    """The first lines of a long text."""
    return text if len(text) <= _KEPT else text[:_KEPT].rpartition("\n")[0]


def _last_frames(traceback: str) -> str:
    return "".join(traceback.splitlines(keepends=True)[-_FRAMES:])


def main() -> None:
    config = no_matrix(Path.cwd())
    facts: dict[str, dict[str, Any]] = {name: {} for name in FACES}
    for release in RELEASES:
        built = read_env(config.env(f"cute-{release}"), config.env_cache())
        assert built.error is None, f"compat envs build cute-{release}"
        for name, evidence in compiled(built):
            if not evidence.complete:
                facts[name][release] = _facts(evidence)
    text = json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False)
    text = text.replace(str(KERNELS.parent), "/kernels").replace(str(Path.cwd()), "/here")
    text = re.sub(r"/[^\s\"'\\]*?/site-packages/", "/env/site-packages/", text)
    text = re.sub(r"/[^\s\"'\\]*?/lib/python3", "/usr/lib/python3", text)
    SAVED.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
