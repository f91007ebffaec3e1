"""The parts of a cell: an env, as requested and as on disk, a target, and a specialization.

The specialization is a kernel in one variant and case. A :class:`Cell` is one combination of env,
target and specialization. A :class:`CompileSpec` is all that a compile needs to know about a
kernel's arguments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from datetime import date
from fnmatch import fnmatchcase
from typing import Any

from attrs import Factory, evolve, field, frozen
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compat.model import arguments, constexprs
from compat.model.constexprs import FIELDS
from compat.model.fields import OPTIONAL, Text
from compat.model.status import Expectation
from compat.text import JsonMapping, JsonObject, lazy_pattern

DEFAULT_TOOLCHAIN = "triton"
"""The name of the default toolchain and of its distribution."""
DEFAULT_FRAMEWORK = "torch"
"""The name of the default framework and of its distribution."""

ArgumentType = str | tuple[Any, ...] | Mapping[str, Any]
"""A type: a name, or the types of a tuple's elements.

A named tuple has the type ``{"fields": {name: type}}``.
"""
CONSTEXPR = "constexpr"
_PATH = lazy_pattern(r"(?P<parameter>[^\[\]]+)(?P<indices>(?:\[(?:0|[1-9]\d{0,5})\])*)")


@frozen(kw_only=True, cache_hash=True)
class Env:
    """An isolated environment as requested: a toolchain, perhaps a framework with it, a Python.

    The toolchain is a release, or a fork of it.
    """

    name: str
    toolchain: str = DEFAULT_TOOLCHAIN
    """The name of its toolchain (see :mod:`compat.toolchains`)."""
    release: Version | None = None
    """The requested release; ``None`` for a wheel whose version is unknown before its installation.
    """
    framework: str = DEFAULT_FRAMEWORK
    """The name of the tensor library that launches its kernels, and of that library's distribution.
    """
    framework_release: Version | None = None
    """The requested release of that library; ``None`` for an env without it."""
    distribution: str = DEFAULT_TOOLCHAIN
    """The name the toolchain is published under; forks use their own."""
    wheel: str | None = None
    """A path or URL of a wheel to install instead of a release."""
    index: str | None = None
    """The URL of a further package index."""
    python: SpecifierSet = Factory(SpecifierSet)
    install: tuple[str, ...] = ()
    """Further requirements, as pip reads them."""
    lock: tuple[str, ...] = ()
    """The requirements of a locked env, which replace all others: lines with a version and the
    hashes of its files, as pip reads them.
    """
    groups: tuple[str, ...] = ()
    released: date | None = None
    """The day of the release's publication; ``None`` if unknown."""

    @property
    def has_framework(self) -> bool:
        """Whether it has a framework."""
        return self.framework_release is not None

    @property
    def label(self) -> str:
        """The content in words: ``triton-3.1.0``, ``triton-3.1.0-torch-2.5.1``, ``triton-fork``."""
        release = [str(self.release)] if self.release else []
        framework = [self.framework, str(self.framework_release)] if self.has_framework else []
        return "-".join((self.distribution, *release, *framework))


@frozen(kw_only=True)
class Package:
    """One distribution as installed.

    ``digest`` is the SHA-256 of its RECORD, which lists the hash of every file of it.
    """

    name: Text
    version: Text
    digest: str


@frozen(kw_only=True)
class BuiltEnv:
    """An env as found on disk: the installed packages, or the reason why it cannot be used."""

    env: Env
    python: str | None = None
    """Path of the env's interpreter; ``None`` if there is none to run."""
    python_version: str | None = None
    packages: tuple[Package, ...] = ()
    error: str | None = None
    """Why the env cannot be used: the message of the step that failed (installer, interpreter
    search); ``None`` if the env can be used.
    """
    digest: str = ""
    """One hash over interpreter version and packages: equal digests mean the same toolchain."""

    def version_of(self, distribution: str) -> str | None:
        """The installed version of a distribution, or ``None`` if it is not installed."""
        return next((p.version for p in self.packages if p.name == distribution), None)

    @property
    def release(self) -> str | None:
        """The version of the toolchain in this env: as installed, or else as requested."""
        return self.version_of(self.env.distribution) or (
            str(self.env.release) if self.env.release else None
        )

    @property
    def framework_release(self) -> str | None:
        """The version of the framework in this env, as installed or else as requested.

        It is ``None`` without a framework.
        """
        return self.version_of(self.env.framework) or (
            str(self.env.framework_release) if self.env.framework_release else None
        )


@frozen(kw_only=True, cache_hash=True)
class Target:
    """The architecture that code is generated for; no GPU is needed."""

    name: Text
    toolchain: Text = field(default=DEFAULT_TOOLCHAIN, metadata={OPTIONAL: True})
    """The name of the target's toolchain. Another toolchain may have another target of the same
    name.
    """
    backend: str
    """``cuda`` or ``hip``, as ``GPUTarget.backend``."""
    arch: int | str
    """Compute capability times ten (90 for ``sm_90``), or the gfx name."""
    warp_size: int
    shared_memory: int
    """Maximum bytes of shared memory (LDS) of one block on this architecture."""


HINTS = ("divisible_by_16", "equal_to_1", "pointer_range_32")
"""The facts that a launch reads from its arguments, each the name of a field of
:class:`CompileSpec`.
"""

TABLES = ("signature", "launch", "constexprs", "options")
"""The other fields of :class:`CompileSpec`, each a mapping by name."""


_ENCODER = json.JSONEncoder(default=repr)


def _content(entries: Mapping[str, object]) -> str:
    """The text by which tables are compared and hashed.

    Compilers distinguish values that are equal in Python (``1``, ``1.0``, ``True``).
    """
    # Only the entries are sorted: inside an entry, the order of a named tuple's fields counts.
    return _ENCODER.encode([[name, entries[name]] for name in sorted(entries)]) if entries else ""


def _with_tuples(value: object) -> object:
    if isinstance(value, dict):
        return {name: _with_tuples(item) for name, item in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, list | tuple) else value


@frozen(kw_only=True, cache_hash=True)
class CompileSpec:
    """How to compile a kernel: its arguments and options.

    Two are equal if they mean the same. The order of arguments and options does not matter, and
    ``1`` differs from ``True``.
    """

    signature: Mapping[str, ArgumentType] = field(factory=dict, eq=_content)
    """Run-time argument → type: ``*fp16``, ``i32``, or a tuple of types. Parameters that are
    constexprs are not in it.
    """
    launch: JsonMapping = field(factory=dict, eq=_content)
    """Run-time argument → the value of a launch, in the forms of :mod:`compat.model.arguments`. It
    replaces signature and hints: each release derives them as its launcher does.
    """
    constexprs: JsonMapping = field(factory=dict, eq=_content)
    """Parameter, or path of a tuple's element (``args[1]``) → value, in the forms of
    :mod:`compat.model.constexprs`.
    """
    divisible_by_16: tuple[str, ...] = field(default=(), eq=frozenset)
    """Run-time arguments, or paths of elements, that are multiples of 16: aligned pointers (in
    bytes), sizes, strides.
    """
    equal_to_1: tuple[str, ...] = field(default=(), eq=frozenset)
    """Integer arguments that equal 1."""
    pointer_range_32: tuple[str, ...] = field(default=(), eq=frozenset)
    """Pointers to less than 2 GiB. Only AMD's launcher uses it, for buffer operations."""
    options: JsonMapping = field(factory=dict, eq=_content)
    """Compile options, such as ``num_warps`` and ``num_stages``."""

    @property
    def hints(self) -> dict[str, tuple[str, ...]]:
        """The facts that a launch derives from arguments, by the names in ``HINTS``."""
        return {name: getattr(self, name) for name in HINTS}

    @property
    def ones(self) -> frozenset[str]:
        """The run-time arguments that equal 1."""
        passed = {name for name, value in self.launch.items() if type(value) is int and value == 1}
        return frozenset((*passed, *self.equal_to_1))

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions that its values refer to, and those that make arguments, each once."""
        makers = (
            kind.removesuffix("()")
            for kind in leaf_types(self.signature).values()
            if kind.endswith("()")
        )
        values = (*self.constexprs.values(), *arguments.constants(self.launch.values()))
        return tuple(dict.fromkeys((*constexprs.functions(values), *makers)))

    def document(self) -> JsonObject:
        """The spec as JSON, for workers and keys.

        Arguments keep the order of the function. The order of options has no meaning.
        """
        return {
            "signature": {name: constexprs.plain(kind) for name, kind in self.signature.items()},
            "launch": dict(self.launch),
            "constexprs": dict(self.constexprs),
            **{name: list(paths) for name, paths in self.hints.items()},
            "options": dict(sorted(self.options.items())),
        }

    def with_tuples(self) -> CompileSpec:
        """A copy with tuples in place of JSON's arrays."""
        tables: JsonObject = {table: _with_tuples(dict(getattr(self, table))) for table in TABLES}
        return evolve(self, **tables)

    def of_parameters(self, names: Collection[str]) -> CompileSpec:
        """Return the part about these parameters, with all options."""
        return CompileSpec(
            signature={name: kind for name, kind in self.signature.items() if name in names},
            launch={name: value for name, value in self.launch.items() if name in names},
            constexprs={
                path: value
                for path, value in self.constexprs.items()
                if parameter_of(path) in names
            },
            **{
                hint: tuple(path for path in paths if parameter_of(path) in names)
                for hint, paths in self.hints.items()
            },
            options=self.options,
        )


RECORDED = "recorded"
"""The parameter with the arguments of a recorded launch, for a recorded problem."""

ONLY_CASE = "default"
"""The case of a kernel that declares none."""


@frozen(kw_only=True, cache_hash=True)
class Problem:
    """The source of a kernel's inputs, with their references.

    ``docs/problems.md`` has the contract of the function.
    """

    source: str
    """Absolute path of the Python file that holds the function."""
    function: str
    closure: str = ""
    """SHA-256 over the file and the files of its folder that it imports."""
    dtype: str
    """The requested element type: ``fp16``, ``bf16``, ``fp32``, …"""
    parameters: JsonMapping = field(factory=dict, eq=_content)
    """The parameters of the function: the constexprs of the case, and the additions of the kernel
    file.
    """

    @property
    def is_recorded(self) -> bool:
        """Whether it is a recorded launch of a program, without known right results."""
        return RECORDED in self.parameters

    def document(self) -> JsonObject:
        """The facts that distinguish this problem, as JSON, without paths."""
        return {
            "closure": self.closure,
            "function": self.function,
            "dtype": self.dtype,
            "parameters": dict(self.parameters),
        }


@frozen(kw_only=True, cache_hash=True)
class TuningRanges:
    """The settings that ``compat tune`` may change, each with the values to try."""

    constexprs: JsonMapping = field(factory=dict, eq=_content)
    """Constexpr → values. Without values, those of the cases are used."""
    options: JsonMapping = field(factory=dict, eq=_content)
    """Compile option → values."""


@frozen(kw_only=True, cache_hash=True)
class Specialization:
    """A kernel function with everything that a compile needs to know about it."""

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
    """The hints that are defaults, as in most launches."""
    roots: tuple[str, ...] = ()
    """Absolute paths of the folders that its absolute imports search. Empty: the first folder above
    it that is not a package.
    """
    closure: str = ""
    """SHA-256 over the source file and the files of its tree that it imports. If a compile that
    succeeds depends only on a part of them, a second hash over that part follows a colon.
    """
    package: str = ""
    """The library on the package index that contains it, with its version: ``fla-core==0.6.0``;
    empty for any other source.
    """
    targets: tuple[str, ...] = ()
    """Globs over the names of the targets that it is meant for; empty for all."""
    origin: str = ""
    """The TOML file that declares it, as the user named it."""
    summary: str = ""
    expectations: tuple[Expectation, ...] = ()
    problem: Problem | None = None
    """The problem to check its numbers with; ``None`` without one in its kernel file."""
    guessed: bool = False
    """Whether its arguments were guessed from the source."""
    tuning: TuningRanges = Factory(TuningRanges)
    """The settings to tune."""
    varied: tuple[str, ...] = ()
    """The constexprs whose values differ from those that its problem was made for."""

    @property
    def id(self) -> str:
        """The name for readers: ``kernel/variant/case``."""
        return f"{self.kernel}/{self.variant}/{self.case}"

    @property
    def relevant_digest(self) -> str:
        """The digest over the parts of its files that a compile that succeeds depends on."""
        return self.closure.rpartition(":")[2]

    def is_for(self, target: Target) -> bool:
        """Whether it is meant for a target; false for targets of other toolchains."""
        if target.toolchain != self.toolchain:
            return False
        return not self.targets or any(fnmatchcase(target.name, glob) for glob in self.targets)


@frozen(kw_only=True, weakref_slot=False)
class Cell:
    """One compile: Env × Target × Specialization.

    No other record represents one compile. Code identifies a cell by the record itself, also as a
    key of mappings, because cells with different options may have the same :attr:`id`.
    """

    env: Env
    target: Target
    spec: Specialization

    @property
    def id(self) -> str:
        """The name for readers and globs: ``kernel/variant/case/target/env``.

        It does not identify a cell.
        """
        return f"{self.spec.id}/{self.target.name}/{self.env.name}"


# A type is a name of the toolchain (``*fp16``, ``i32``). The type of a tuple is the types of its
# elements, at any depth. Paths number the fields of a named tuple. In JSON, a tuple is an array
# (:func:`compat.model.constexprs.plain`).


def leaf_types(signature: Mapping[str, ArgumentType]) -> dict[str, str]:
    """Path → type, of every argument and every element that is not a tuple."""
    return {
        path: leaf_type
        for name, kind in signature.items()
        for path, leaf_type in _leaves(name, kind)
    }


def _leaves(path: str, kind: ArgumentType) -> Iterator[tuple[str, str]]:
    if isinstance(kind, str):
        yield path, kind
    else:
        for index, element in enumerate(elements_of(kind)):
            yield from _leaves(f"{path}[{index}]", element)


def elements_of(kind: Any) -> tuple[Any, ...]:
    """The elements of a tuple, or of a named tuple in the order of its fields."""
    return tuple(kind[FIELDS].values() if isinstance(kind, Mapping) else kind)


def split_path(path: str) -> tuple[str, tuple[int, ...]]:
    """The parameter that a path begins with, and the indices that follow.

    A text that is not a path counts as a parameter.
    """
    match = _PATH.fullmatch(path)
    if match is None:
        return path, ()
    return match["parameter"], tuple(int(index) for index in re.findall(r"\d+", match["indices"]))


def parameter_of(path: str) -> str:
    """The parameter that a path begins with."""
    return split_path(path)[0]


def type_text(kind: ArgumentType) -> str:
    """A type as a report shows it: ``*fp16``, ``(i32, i32)``."""
    if isinstance(kind, str):
        return kind
    if isinstance(kind, Mapping):
        return f"({signature_text(kind[FIELDS])})"
    return constexprs.tuple_source(map(type_text, kind))


def signature_text(signature: Mapping[str, ArgumentType]) -> str:
    """A signature as a report shows it: ``x: *fp16, shape: (i32, i32)``."""
    return ", ".join(f"{name}: {type_text(kind)}" for name, kind in signature.items())
