"""What a hunt needs of a toolchain: valid programs in its language, with what they compute.

Only the toolchain knows what is inside of a program.
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
        """How much there is to read."""


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
        """The program of a seed, which uses all of some families."""

    def forms(self, program: P, count: int) -> Sequence[P]:
        """A program and further forms of it, at most so many in all: other configs or spellings."""

    def kernel_source(self, program: P) -> str:
        """The module of a program's kernel."""

    def problem_source(self, program: P) -> str:
        """The module of its problem, with the right results.

        Raises RuntimeError if the program is not valid after all.
        """

    def compile_spec(self, program: P) -> CompileSpec:
        """How the kernel is compiled."""

    def is_for(self, program: P, release: Version) -> bool:
        """Whether a release has all operations of a program."""

    def families_of(self, program: P) -> frozenset[str]:
        """The families that a program uses."""

    def shrink(self, program: P, show: Callable[[Sequence[P]], Sequence[bool]]) -> P:
        """A smaller program, of those that show something."""
