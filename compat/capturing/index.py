"""``index.json``: what was captured, for programs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compat import __version__
from compat.capturing.assembling import SCHEMA, Captured
from compat.capturing.checking import CodeComparison
from compat.capturing.kernels import CapturedKernel, Case


def index_document(captured: Captured, compared: Sequence[CodeComparison], target: str | None, *, on_gpu: bool) -> dict[str, Any]:
    """All that is known of a capture but how long it took; ``target`` is what the program compiled for, as far as it is known."""
    recorded = captured.recorded
    agreements = {(comparison.kernel, comparison.case): str(comparison.agreement) for comparison in compared}
    return {
        "schema": SCHEMA,
        "compat": __version__,
        "release": recorded.release,
        "torch": recorded.torch,
        "python": next((toolchain.version for toolchain in recorded.toolchains.values()), None),
        "target": target,
        "gpu": on_gpu,
        "processes": recorded.processes,
        "ended": recorded.ended,
        "kernels": [_kernel(kernel, agreements) for kernel in captured.kernels],
        "problems": sorted({Path(spec.problem.source).name for specs in captured.specs.values() for spec in specs if spec.problem}),
        "without_problem": [{"kernel": kernel, "case": case, "why": why} for kernel, case, why in captured.without_problem],
        "not_captured": [{"module": kernel.module, "name": kernel.name, "why": kernel.why} for kernel in captured.not_captured],
        "not_live": [{"module": kernel.module, "name": kernel.name, "why": kernel.why} for kernel in captured.not_live],
        "never_launched": [{"module": module, "name": name} for module, name in captured.never_launched],
        "answered_at_import": [
            {"module": conditional.module, "line": conditional.line, "text": conditional.text}
            for conditional in captured.conditionals
        ],
    }


def _kernel(kernel: CapturedKernel, agreements: dict[tuple[str, str], str]) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "file": f"{kernel.name}.toml",
        "source": None if kernel.live else f"{kernel.name}.py",
        "package": kernel.live.package or None if kernel.live else None,
        "module": kernel.module,
        "function": kernel.function,
        "answered_at_import": [f"{question.module}:{question.line}" for question in kernel.asked],
        "cases": [_case(case, agreements.get((kernel.name, case.name))) for case in kernel.cases],
    }


def _case(case: Case, code: str | None) -> dict[str, Any]:
    places = dict.fromkeys(str(launch.place) for launch in case.launches if launch.place)
    roles = {role for launch in case.launches for role in launch.roles if role}
    return {
        "name": case.name,
        "launches": case.count,
        "grid": list(case.first.grid) if case.first.grid else None,
        "tuned": sorted(roles),
        "places": list(places),
        "failed": case.first.failed,
        "code": code,
    }
