"""A toolchain's knowledge of its language: kernels guessed from sources, and edits that mend them.

An edit belongs to the failure class that it is for.

In: a kernel that fails, as text (:class:`Faulty`). Out: texts in which it may not fail
(:class:`Proposal`). An edit only proposes. Compiling a proposal shows whether it helps
(:mod:`compat.fix`). The modules that make proposals are imported on first use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Protocol

from attrs import Factory, frozen

from compat.model import CompileSpec, Failure
from compat.text import JsonMapping


class CannotEdit(Exception):
    """The reason why an edit is not made.

    It could change what the kernel does, or the form of the code is unknown.
    """


@frozen(kw_only=True)
class Faulty:
    """A kernel that fails."""

    text: str
    """The whole module with the failure."""
    function: str
    """The kernel, or the function of this module with the failure. Only it and the functions that
    it uses are edited.
    """
    compile: CompileSpec
    """How the kernel is compiled."""
    failure: Failure
    """How it fails."""
    file: str = "kernel.py"
    """The name of the module's file."""
    beside: Mapping[str, str] = Factory(dict)
    """The other modules that the kernel is made of and that may be edited, by the names of their
    files, from one folder.
    """
    roots: tuple[str, ...] = ("",)
    """The folders that absolute imports search, from that folder."""
    kernel: tuple[str, str] | None = None
    """The file and the function of the kernel, where these are others."""


@frozen(kw_only=True)
class Proposal:
    """A change that may help."""

    text: str
    """The module with the edit; as it was where only values of the kernel file change."""
    beside: Mapping[str, str] = Factory(dict)
    """Other modules with the edit, by the names of their files."""
    constexprs: JsonMapping = Factory(dict)
    """Constexprs of the kernel file that get other values."""
    notes: tuple[str, ...] = ()
    """The assumptions of the edit, or its changes to the meaning of the kernel; empty if none is
    known.
    """

    @classmethod
    def of(cls, faulty: Faulty, texts: Mapping[str, str], notes: tuple[str, ...] = ()) -> Proposal:
        """A change of several files, by their names."""
        beside = {file: text for file, text in texts.items() if file != faulty.file}
        return cls(text=texts.get(faulty.file, faulty.text), beside=beside, notes=notes)


@frozen(kw_only=True)
class KnownEdit:
    """An edit, and the failure classes that it may be a remedy for."""

    name: str
    """The edit in a few words."""
    classes: tuple[str, ...]
    function: str
    """The function that makes the proposals: ``package.module:function``."""

    def proposals(self, faulty: Faulty) -> Iterable[Proposal]:
        """Return the proposals, the smallest first.

        Raises CannotEdit, perhaps only during the iteration.
        """
        proposals: Iterable[Proposal] = resolve_name(self.function)(faulty)
        return proposals


def line_of(failure: Failure) -> int | None:
    """The line that a failure is about."""
    number = (failure.location or "").rpartition(":")[2]
    return int(number) if number.isdigit() else None


@frozen(kw_only=True)
class GuessedKernel:
    """What a kernel file says of one kernel."""

    name: str
    function: str
    line: int
    tables: JsonMapping
    """Everything but its name and its source, for :func:`compat.config.toml.toml_text`."""
    roots: tuple[str, ...] = ()
    """Folders, from that of the source, with modules that it imports and that are not found
    otherwise.
    """
    look_at: tuple[str, ...] = ()
    """Doubtful guesses, in a few words each."""
    cases: int = 1
    guesses: int = 0


@frozen(kw_only=True)
class UnreachableKernel:
    """A jit function that no kernel file can have."""

    name: str
    line: int
    why: str


class GuessableModule(Protocol):
    """What a source defines, as far as it matters to kernels."""

    @property
    def functions(self) -> JsonMapping:
        """The jit functions that a kernel file can have, by name."""

    @property
    def unreachable(self) -> tuple[UnreachableKernel, ...]:
        """The jit functions that no kernel file can have."""

    @property
    def called(self) -> frozenset[str]:
        """Names that its jit functions call, as they are called where they are defined."""

    @property
    def launched(self) -> frozenset[str]:
        """Names that the source launches."""

    def kernels(self, helpers: Collection[str]) -> tuple[GuessedKernel, ...]:
        """Return the kernels, guessed.

        They are the functions that return nothing and are not ``helpers``, which others call.
        """


@frozen(kw_only=True)
class Guessing:
    """How kernels are found in Python sources, and what is guessed of their arguments."""

    mark: bytes
    """A text in every source of a kernel."""
    decorator: str
    """The decorator of a kernel, for a hint."""
    where: str
    """The module that has ``read_module``: the path of a source → its :class:`GuessableModule`."""

    def read(self, path: Path) -> GuessableModule:
        """Read a source. Raises OSError, or SyntaxError where it cannot be parsed."""
        module: GuessableModule = import_module(self.where).read_module(path)
        return module

    def is_mentioned_in(self, path: Path) -> bool:
        """Whether a source may have kernels. Raises OSError."""
        return self.mark in path.read_bytes()

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the program that guess: other files may guess otherwise."""
        spec = find_spec(self.where)
        assert spec is not None
        assert spec.origin is not None
        return tuple(sorted(Path(spec.origin).parent.glob("*.py")))
