"""What makes a result that of a cell, wherever and whenever it was launched."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from compat.model import BuiltEnv, Cell, Problem


def identity_of(cell: Cell, built: BuiltEnv) -> str:
    """Equal for cells that compile to the same: a hash of the kernel, what it is compiled with and for, and the env.

    It holds no path, and nothing of the worker, so that what was launched stays known where only that has changed.
    """
    spec, target = cell.spec, cell.target
    return _digest(
        {
            "closure": spec.closure,
            "function": spec.function,
            "compile": spec.compile.document(),
            "target": [target.backend, target.arch, target.warp_size, target.shared_memory],
            "env": built.digest,
        }
    )


def problem_digest(problem: Problem) -> str:
    """Equal for problems with the same inputs and references."""
    return _digest(
        {
            "closure": problem.closure,
            "function": problem.function,
            "dtype": problem.dtype,
            "parameters": dict(sorted(problem.parameters.items())),
        }
    )


def _digest(facts: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()
