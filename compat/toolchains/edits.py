"""What a toolchain knows of mending kernels: edits by the failure class that they are for.

In: a kernel that fails, as text (:class:`Faulty`). Out: texts in which it may not (:class:`Proposal`). An edit only proposes:
whether one helps is found out by compiling it (:mod:`compat.fix`). The modules that make proposals are imported when one is asked
for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pkgutil import resolve_name
from typing import Any

from attrs import Factory, frozen

from compat.model import CompileSpec, Failure


class CannotEdit(Exception):
    """An edit is not made, since it could change what the kernel does or this form of code is not known; says why."""


@frozen(kw_only=True)
class Faulty:
    """A kernel that fails."""

    text: str
    """A whole module: the one that the failure is in."""
    function: str
    """The kernel, or the function of this module that it fails in. Only it and what it uses are edited."""
    compile: CompileSpec
    """How the kernel is compiled."""
    failure: Failure
    """How it fails."""
    file: str = "kernel.py"
    """The name of the module's file."""
    beside: Mapping[str, str] = Factory(dict)
    """The other modules that the kernel is made of and that may be edited, by the names of their files, from one folder."""
    roots: tuple[str, ...] = ("",)
    """The folders that absolute imports are looked for in, from that folder."""
    kernel: tuple[str, str] | None = None
    """The file and the function of the kernel, where these are others."""


@frozen(kw_only=True)
class Proposal:
    """A change that may help."""

    text: str
    """The module with the edit; as it was where only values of the kernel file change."""
    beside: Mapping[str, str] = Factory(dict)
    """Other modules with the edit, by the names of their files."""
    constexprs: Mapping[str, Any] = Factory(dict)
    """Constexprs of the kernel file that get other values."""
    notes: tuple[str, ...] = ()
    """What the edit takes for granted, or changes in what the kernel does; empty where it is not known to do either."""

    @classmethod
    def of(cls, faulty: Faulty, texts: Mapping[str, str], notes: tuple[str, ...] = ()) -> Proposal:
        """A change of several files, by their names."""
        beside = {file: text for file, text in texts.items() if file != faulty.file}
        return cls(text=texts.get(faulty.file, faulty.text), beside=beside, notes=notes)


@frozen(kw_only=True)
class KnownEdit:
    """An edit, and the failure classes that it may be a remedy for."""

    name: str
    """What is done, in a few words."""
    classes: tuple[str, ...]
    function: str
    """What makes the proposals: ``package.module:function``."""

    def proposals(self, faulty: Faulty) -> Iterable[Proposal]:
        """What can be tried, the smallest first. Raises CannotEdit, perhaps only while it is gone through."""
        proposals: Iterable[Proposal] = resolve_name(self.function)(faulty)
        return proposals


def line_of(failure: Failure) -> int | None:
    """The line that a failure is about."""
    number = (failure.location or "").rpartition(":")[2]
    return int(number) if number.isdigit() else None
