"""Kernels that fail in one way each, and what three releases of CuTe DSL said of them.

    python -m tests.toolchains.cute_faces

compiles those of ``tests/kernels/cute_faces.py`` on the releases of :data:`RELEASES`, whose envs have to be there, and writes what
they said to ``cute_faces.json``, with this machine's paths made neutral.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from compat import toolchains
from compat.config.matrix import no_matrix
from compat.envs.record import read_env
from compat.model import BuiltEnv, Cell, CompileSpec, Evidence, Raised, Specialization, Target
from tests.toolchains.compiling import compile_all

KERNELS = Path(__file__).parents[1] / "kernels" / "cute_faces.py"
SAVED = Path(__file__).with_suffix(".json")
RELEASES = ("4.2.1", "4.5.3", "4.8.1")
FACES = {
    "align": "layout-mismatch",
    "alloc": "arch-required",
    "asserted": "static-assert",
    "branch": "undefined-name",
    "brk": "unsupported-syntax",
    "carried": "loop-carried-type",
    "carriedif": "loop-carried-type",
    "changed": "api-changed",
    "constant": "constexpr-required",
    "constif": "constexpr-required",
    "divide": "layout-mismatch",
    "early": "unsupported-syntax",
    "given": "kernel-file",
    "lacking": "api-changed",
    "missing": "api-missing",
    "name": "undefined-name",
    "nothing": "kernel-file",
    "ptx": "ptxas",
    "shape": "layout-mismatch",
    "tcgen": "arch-required",
}
"""Function → its failure class."""
WORSE = {("alloc", "4.8.1"): "nvvm"}
"""What a release does not say any more: why libNVVM refuses a kernel."""
_FRAMES = 6
_KEPT = 3000


def target(name: str = "sm_90a") -> Target:
    return next(each for each in toolchains.named("cute").device.targets if each.name == name)


def cells(env: BuiltEnv, names: Sequence[str] = tuple(FACES), on: str = "sm_90a") -> list[Cell]:
    """The cells of these functions in an env."""
    compile_spec = CompileSpec(signature={"a": "fp16[n]", "b": "fp16[n]"})
    specs = (
        Specialization(
            kernel=name, variant="v", case="c", toolchain="cute", source=str(KERNELS), function=name, compile=compile_spec
        )
        for name in names
    )
    return [Cell(env=env.env, target=target(on), spec=spec) for spec in specs]


def saved() -> Iterator[tuple[str, str, Evidence]]:
    """Function, release and what it said."""
    for name, by_release in json.loads(SAVED.read_text(encoding="utf-8")).items():
        for release, facts in by_release.items():
            raised = tuple(Raised(**link) for link in facts["raised"])
            yield name, release, Evidence(answered=True, alone=True, raised=raised, stage=facts["stage"], stderr=facts["stderr"])


def _facts(evidence: Evidence) -> dict[str, Any]:
    """What is kept of an attempt."""
    raised = [
        {"type": link.type, "message": link.message[:_KEPT], "traceback": _last_frames(link.traceback)} for link in evidence.raised
    ]
    return {"stage": evidence.stage, "raised": raised, "stderr": evidence.stderr[:_KEPT]}


def _last_frames(traceback: str) -> str:
    return "".join(traceback.splitlines(keepends=True)[-_FRAMES:])


def main() -> None:
    config = no_matrix(Path.cwd())
    found: dict[str, dict[str, Any]] = {}
    for release in RELEASES:
        built = read_env(config.env(f"cute-{release}"), config.env_cache())
        assert built.error is None, f"compat envs build cute-{release}"
        asked = cells(built)
        for cell, evidence in zip(asked, compile_all(built, asked), strict=True):
            found.setdefault(cell.spec.kernel, {})[release] = _facts(evidence)
    text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False)
    text = text.replace(str(KERNELS.parent), "/kernels")
    text = re.sub(r"/[^\s\"'\\]*?/site-packages/", "/env/site-packages/", text)
    SAVED.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
