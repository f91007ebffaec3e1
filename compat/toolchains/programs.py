"""The interface of a toolchain for hunts: valid programs in its language, with their results.

Only the toolchain knows the content of a program.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol, TypeVar

from packaging.version import Version

from compat.model import CompileSpec

OWN = "own"
"""The form of a program that its seed makes."""


class GeneratedProgram(Protocol):
    """A generated kernel, with its inputs and its grid. Equal programs compute equal numbers."""

    @property
    def seed(self) -> int:
        """The seed that makes it."""

    @property
    def form(self) -> str:
        """The name of its form: programs of one seed compute the same in several forms."""

    @property
    def operations(self) -> frozenset[str]:
        """The names of the operations that it applies."""

    @property
    def statements_count(self) -> int:
        """The number of its statements, as a measure of how much there is to read."""


P = TypeVar("P", bound=GeneratedProgram)


class ProgramLanguage(Protocol[P]):
    """The programs of one toolchain."""

    kernel: str
    """The name of the function in the source."""
    problem: str
    """The name of the function in the module of problems."""
    families: tuple[str, ...]
    """The names of groups of operations."""

    def generate(self, seed: int, only: Collection[str]) -> P:
        """Return the program of a seed. It uses all families in ``only``, if there are any."""

    def forms(self, program: P, count: int) -> Sequence[P]:
        """Return a program and other configs or spellings of it, at most ``count`` in all."""

    def kernel_source(self, program: P) -> str:
        """Return the source of the module with a program's kernel."""

    def problem_source(self, program: P) -> str:
        """Return the source of the module with its problem and the right results.

        Raises RuntimeError if the program is not valid after all.
        """

    def compile_spec(self, program: P) -> CompileSpec:
        """Return the specification by which the kernel is compiled."""

    def is_for(self, program: P, release: Version) -> bool:
        """Whether a release has all operations of a program."""

    def families_of(self, program: P) -> frozenset[str]:
        """Return the families that a program uses."""

    def shrink(self, program: P, show: Callable[[Sequence[P]], Sequence[bool]]) -> P:
        """Return the smallest program that is found and for which ``show`` answers true."""
