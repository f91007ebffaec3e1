"""A toolchain's knowledge of its language: kernels guessed from sources, and edits of kernels.

An edit belongs to the failure class that it may repair.

In: a kernel that fails, as text (:class:`FailingKernel`). Out: changed texts that may compile
(:class:`Proposal`). An edit only proposes. Compiling a proposal shows whether it helps
(:mod:`compat.fix`). The modules that make proposals are imported on first use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
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
class FailingKernel:
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
    """The other modules of the kernel that may be edited, by the names of their files relative to
    one folder.
    """
    roots: tuple[str, ...] = ("",)
    """The folders that absolute imports search, relative to that folder."""
    kernel: tuple[str, str] | None = None
    """The file and the function of the kernel, if they differ from ``file`` and ``function``."""


@frozen(kw_only=True)
class Proposal:
    """A change that may help."""

    text: str
    """The module with the edit. It is unchanged if only values of the kernel file change."""
    beside: Mapping[str, str] = Factory(dict)
    """Other modules with the edit, by the names of their files."""
    constexprs: JsonMapping = Factory(dict)
    """Constexprs of the kernel file that get other values."""
    notes: tuple[str, ...] = ()
    """The assumptions of the edit, or its changes to the meaning of the kernel; empty if none is
    known.
    """

    @classmethod
    def of(
        cls, faulty: FailingKernel, texts: Mapping[str, str], notes: tuple[str, ...] = ()
    ) -> Proposal:
        """Return a proposal that changes several files, given by name."""
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

    def proposals(self, faulty: FailingKernel) -> Iterable[Proposal]:
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
    """The guessed facts of one kernel for a kernel file."""

    name: str
    function: str
    line: int
    tables: JsonMapping
    """Everything but its name and its source, for :func:`compat.config.toml.toml_text`."""
    roots: tuple[str, ...] = ()
    """Folders with modules that the source imports and that are not found otherwise, relative to
    the folder of the source.
    """
    look_at: tuple[str, ...] = ()
    """Doubtful guesses, in a few words each."""
    cases: int = 1
    guesses: int = 0

    @property
    def names(self) -> frozenset[str]:
        """The names by which a user can choose it: ``make().kernel`` also by its name alone."""
        return frozenset((self.name, self.function))


@frozen(kw_only=True)
class UnreachableKernel:
    """A jit function that no kernel file can name, or a class whose arguments are not guessed."""

    name: str
    line: int
    why: str


class GuessableModule(Protocol):
    """The definitions of a source that matter to kernels."""

    @property
    def functions(self) -> JsonMapping:
        """The jit functions that a kernel file can name, by name."""

    @property
    def unreachable(self) -> tuple[UnreachableKernel, ...]:
        """The jit functions that no kernel file can name."""

    @property
    def called_names(self) -> frozenset[str]:
        """The names of functions that its jit functions call, as in their definitions."""

    @property
    def launched_names(self) -> frozenset[str]:
        """Names that the source launches."""

    def kernels(
        self, helpers: Collection[str], others: Sequence[GuessableModule] = ()
    ) -> tuple[GuessedKernel, ...]:
        """Return the kernels, guessed.

        They are the functions that return nothing and are not ``helpers``, which others call.
        ``others`` are modules that may launch them.
        """


@frozen(kw_only=True)
class Guessing:
    """How to find kernels in Python sources and to guess their arguments."""

    mark: bytes
    """A text in every source of a kernel."""
    decorator: str
    """The decorator of a kernel, for a hint."""
    where: str
    """The module that has ``read_module``: the path of a source → its :class:`GuessableModule`."""

    def read(self, path: Path) -> GuessableModule:
        """Read a source. Raises OSError, or SyntaxError if it cannot be parsed."""
        module: GuessableModule = import_module(self.where).read_module(path)
        return module

    def is_mentioned_in(self, path: Path) -> bool:
        """Whether a source may have kernels. Raises OSError."""
        return self.mark in path.read_bytes()

    @property
    def files(self) -> tuple[Path, ...]:
        """The files with the code that guesses. Guesses may change with these files."""
        spec = find_spec(self.where)
        assert spec is not None
        assert spec.origin is not None
        return tuple(sorted(Path(spec.origin).parent.glob("*.py")))
