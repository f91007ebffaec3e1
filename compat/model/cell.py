"""A cell, and what it compiles."""

from __future__ import annotations

from fnmatch import fnmatchcase

from attrs import Factory, frozen
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compat.model.compile_spec import CompileSpec
from compat.model.env import DEFAULT_TOOLCHAIN, Env
from compat.model.problem import Problem
from compat.model.status import Status
from compat.model.target import Target


@frozen(kw_only=True)
class Expectation:
    """A declared failure, as a test suite declares an xfail. Empty globs match everything."""

    status: Status
    failure_class: str | None = None
    """The failure class, where the declaration is that precise."""
    releases: SpecifierSet = Factory(SpecifierSet)
    targets: tuple[str, ...] = ("*",)
    cases: tuple[str, ...] = ("*",)
    reason: str = ""
    strict: bool = True
    """Whether a cell that is ok is unexpected, as an unexpected pass is in a test suite; if not, it may fail so and need not."""

    def covers(self, *, release: Version, target: str, case: str) -> bool:
        """Whether this declaration speaks about that cell."""
        return (
            self.releases.contains(release, prereleases=True)
            and any(fnmatchcase(target, glob) for glob in self.targets)
            and any(fnmatchcase(case, glob) for glob in self.cases)
        )


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
        """Whether it is meant for a target."""
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
