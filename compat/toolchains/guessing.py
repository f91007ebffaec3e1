"""What a toolchain's language knows of Python sources: which kernels are in one, and what a kernel file would say of them.

In: the path of a source, which is read as text and never imported. Out: a :class:`GuessableModule`, whose kernels are
:class:`GuessedKernel`. The modules that read sources are imported when one is read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from attrs import frozen


@frozen
class Noted:
    """A value of an entry, and a comment that stands behind it. A table that has one gets a heading wherever it can have one."""

    value: Any
    note: str


@frozen(kw_only=True)
class GuessedKernel:
    """What a kernel file says of one kernel."""

    name: str
    function: str
    line: int
    tables: Mapping[str, Any]
    """Everything but its name and its source, for :func:`compat.config.toml_writer.toml_text`."""
    look_at: tuple[str, ...] = ()
    """What deserves a look, in a few words each."""
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
    def functions(self) -> Mapping[str, Any]:
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
        """The kernels, guessed: the functions that return nothing and are not among the ``helpers``, which others call."""


@frozen(kw_only=True)
class Guessing:
    """How kernels are found in Python sources, and what is guessed of their arguments."""

    mark: bytes
    """What every source of a kernel contains."""
    decorator: str
    """What stands above a kernel, for a hint."""
    where: str
    """The module that has ``read_module``: the path of a source → its :class:`GuessableModule`."""

    def read(self, path: Path) -> GuessableModule:
        """Read a source. Raises OSError, or SyntaxError where it cannot be parsed."""
        module: GuessableModule = import_module(self.where).read_module(path)
        return module

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the program that guess: other files may guess otherwise."""
        spec = find_spec(self.where)
        assert spec is not None
        assert spec.origin is not None
        return tuple(sorted(Path(spec.origin).parent.glob("*.py")))
