"""What a kernel is run on to see whether its numbers are right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

RECORDED = "recorded"
"""The parameter that has what a launch was given, where a problem is one that was recorded."""


def _content(values: Mapping[str, Any]) -> str:
    return json.dumps(values, sort_keys=True)


@frozen(kw_only=True, cache_hash=True)
class Problem:
    """Where the inputs of a kernel come from, with their references (``docs/problems.md`` has the contract of the function)."""

    source: str
    """Absolute path of the Python file that holds the function."""
    function: str
    closure: str = ""
    """SHA-256 over the file and the files of its folder that it imports."""
    dtype: str
    """The element type that is asked for: ``fp16``, ``bf16``, ``fp32``, …"""
    parameters: Mapping[str, Any] = field(factory=dict, eq=_content)
    """What the function is told of the case: its constexprs, and what the kernel file adds."""

    @property
    def is_recorded(self) -> bool:
        """Whether it is a launch of some program, of which nobody knows what has to come out."""
        return RECORDED in self.parameters

    def document(self) -> dict[str, Any]:
        """What tells this problem from another, as JSON; no path is in it."""
        return {"closure": self.closure, "function": self.function, "dtype": self.dtype, "parameters": dict(self.parameters)}
