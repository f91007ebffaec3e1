"""``index.json``: what was captured, for programs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compat import __version__
from compat.capturing.assembling import SCHEMA, Captured
from compat.capturing.checking import Compared
from compat.capturing.kernels import Case, Kernel


def index_document(captured: Captured, compared: Sequence[Compared], target: str | None, *, on_gpu: bool) -> dict[str, Any]:
    """All that is known of a capture but how long it took; ``target`` is what the program compiled for, as far as it is known."""
    recorded = captured.recorded
    agreements = {(each.kernel, each.case): str(each.agreement) for each in compared}
    return {
        "schema": SCHEMA,
        "compat": __version__,
        "release": recorded.release,
        "torch": recorded.torch,
        "python": next((each.version for each in recorded.toolchains.values()), None),
        "target": target,
        "gpu": on_gpu,
        "processes": recorded.processes,
        "ended": recorded.ended,
        "kernels": [_kernel(each, agreements) for each in captured.kernels],
        "problems": sorted({Path(spec.problem.source).name for specs in captured.specs.values() for spec in specs if spec.problem}),
        "without_problem": [{"kernel": kernel, "case": case, "why": why} for kernel, case, why in captured.without_problem],
        "not_captured": [{"module": each.module, "name": each.name, "why": each.why} for each in captured.not_captured],
        "not_live": [{"module": each.module, "name": each.name, "why": each.why} for each in captured.not_live],
        "never_launched": [{"module": module, "name": name} for module, name in captured.never_launched],
        "answered_at_import": [{"module": each.module, "line": each.line, "text": each.text} for each in captured.conditionals],
    }


def _kernel(kernel: Kernel, agreements: dict[tuple[str, str], str]) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "file": f"{kernel.name}.toml",
        "source": None if kernel.live else f"{kernel.name}.py",
        "package": kernel.live.package or None if kernel.live else None,
        "module": kernel.module,
        "function": kernel.function,
        "answered_at_import": [f"{each.module}:{each.line}" for each in kernel.asked],
        "cases": [_case(each, agreements.get((kernel.name, each.name))) for each in kernel.cases],
    }


def _case(case: Case, code: str | None) -> dict[str, Any]:
    places = dict.fromkeys(str(each.place) for each in case.launches if each.place)
    roles = {role for each in case.launches for role in each.roles if role}
    return {
        "name": case.name,
        "launches": case.count,
        "grid": list(case.first.grid) if case.first.grid else None,
        "tuned": sorted(roles),
        "places": list(places),
        "failed": case.first.failed,
        "code": code,
    }
