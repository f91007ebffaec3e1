"""What a toolchain knows of mending kernels: edits by the failure class that they are for.

In: a kernel that fails, as text (:class:`Faulty`). Out: texts in which it may not (:class:`Proposal`). An edit only proposes:
whether one helps is found out by compiling it (:mod:`compat.fix`). The modules that make proposals are imported when one is asked
for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from attrs import Factory, frozen

from compat.model import CompileSpec, Failure


class CannotEdit(Exception):
    """An edit is not made, since it could change what the kernel does or this form of code is not known; says why."""


@frozen(kw_only=True)
class Faulty:
    """A kernel that fails."""

    text: str
    """A whole module."""
    function: str
    """The kernel. Only it and the functions of the module that it uses are edited."""
    compile: CompileSpec
    """How it is compiled."""
    failure: Failure
    """How it fails."""


@frozen(kw_only=True)
class Proposal:
    """A change that may help."""

    text: str
    """The module with the edit; as it was where only values of the kernel file change."""
    constexprs: Mapping[str, Any] = Factory(dict)
    """Constexprs of the kernel file that get other values."""
    notes: tuple[str, ...] = ()
    """What the edit takes for granted, or changes in what the kernel does; empty where it is not known to do either."""


@frozen(kw_only=True)
class KnownEdit:
    """An edit, and the failure classes that it may be a remedy for."""

    name: str
    """What is done, in a few words."""
    classes: tuple[str, ...]
    module: str
    """The module whose function ``proposals`` makes the proposals."""

    def proposals(self, faulty: Faulty) -> Iterable[Proposal]:
        """What can be tried, the smallest first. Raises CannotEdit, perhaps only while it is gone through."""
        found: Iterable[Proposal] = import_module(self.module).proposals(faulty)
        return found
