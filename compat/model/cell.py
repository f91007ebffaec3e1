"""A cell, and what it compiles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from attrs import Factory, field, frozen

from compat.model.compile_spec import CompileSpec
from compat.model.env import DEFAULT_TOOLCHAIN, Env, Target
from compat.model.status import Expectation

RECORDED = "recorded"
"""The parameter that has what a launch was given, where a problem is one that was recorded."""

ONLY_CASE = "default"
"""The case of a kernel that declares none."""


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


@frozen(kw_only=True, cache_hash=True)
class Specialization:
    """A kernel function with everything a compile needs to know of it."""

    kernel: str
    variant: str
    case: str
    toolchain: str = DEFAULT_TOOLCHAIN
    """The name of the toolchain that it is written for."""
    source: str
    """Absolute path of the Python file that holds the function."""
    function: str
    compile: CompileSpec = Factory(CompileSpec)
    assumed: tuple[str, ...] = ()
    """The hints that are defaults: what a launch usually finds out."""
    roots: tuple[str, ...] = ()
    """Absolute paths of the folders that its absolute imports are looked for in; where empty, the first above it that is no
    package."""
    closure: str = ""
    """SHA-256 over the source file and the files of its tree that it imports. Where the kernel cannot notice all of that, after a
    colon, over what it can."""
    package: str = ""
    """The library of the package index that it is of, with its version: ``fla-core==0.6.0``; empty for any other source."""
    targets: tuple[str, ...] = ()
    """Globs over the names of the targets that it is meant for; empty for all."""
    origin: str = ""
    """The TOML file that declares it, as the user named it."""
    summary: str = ""
    expectations: tuple[Expectation, ...] = ()
    problem: Problem | None = None
    """What it is run on, to see whether its numbers are right; ``None`` where its kernel file names nothing."""
    guessed: bool = False
    """Whether nobody has written down what it says of the arguments: it was guessed from the source."""

    @property
    def noticed(self) -> str:
        """The digest over what a compile that succeeds depends on of its files."""
        return self.closure.rpartition(":")[2]

    def is_for(self, target: Target) -> bool:
        """Whether it is meant for a target, which is one of its toolchain."""
        if target.toolchain != self.toolchain:
            return False
        return not self.targets or any(fnmatchcase(target.name, glob) for glob in self.targets)


@frozen(kw_only=True, weakref_slot=False)
class Cell:
    """One coordinate, Env × Target × Specialization. Nothing else in the program may mean "one compile".

    A cell is known by itself, as a key of mappings too: cells may have the same :attr:`id` and other options.
    """

    env: Env
    target: Target
    spec: Specialization

    @property
    def id(self) -> str:
        """``kernel/variant/case/target/env``: what a reader calls it, and globs are matched against; it identifies nothing."""
        return f"{self.spec.kernel}/{self.spec.variant}/{self.spec.case}/{self.target.name}/{self.env.name}"
