"""The seam between the program and what it compiles with: all that differs between toolchains is a field of :class:`Toolchain`.

In: nothing but the records of :mod:`compat.model` and :mod:`compat.diagnosis`. Out: one record per toolchain, which the rest of the
program asks and never looks behind. ``docs/toolchains.md`` says how one is added.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any

from attrs import Factory, frozen
from packaging.version import Version

from compat.bundle.bundle import Bundle
from compat.diagnosis.knowledge import Knowledge
from compat.diagnosis.numbers import Interpreter
from compat.model import LATER_STAGES, SOURCE_STAGE, BuiltEnv, Evidence, Status, Target
from compat.toolchains.edits import KnownEdit


def _no_private(folder: str) -> dict[str, str]:
    return {}


@frozen(kw_only=True)
class Variables:
    """The environment variables that some release of a toolchain reads, each in one of these."""

    files: tuple[str, ...] = ()
    """Paths of the programs and files that it works with. Results depend on their content."""
    folders: tuple[str, ...] = ()
    """Folders that tools are looked for in."""
    settings: tuple[str, ...] = ()
    """What says which code is to be made."""
    withheld: Mapping[str, tuple[str, ...]] = Factory(dict)
    """What it would read and does not see, by why that is so."""
    programs: Mapping[str, tuple[str, ...]] = Factory(dict)
    """Backend → paths where it looks for programs without any variable. Results depend on their content."""
    private: Callable[[str], Mapping[str, str]] = _no_private
    """A worker's private folder → the variables that keep the toolchain's caches there."""


@frozen(kw_only=True)
class Types:
    """What a kernel file may give a run-time argument for a type."""

    pattern: re.Pattern[str]
    """All of them."""
    known: tuple[str, ...]
    """Those that a slip may have been meant for."""
    examples: str
    """Some, for a hint."""
    elements: tuple[str, ...] = ()
    """What tensors may have in them that a launch passes; empty where kernel files cannot say what one passes."""


@frozen(kw_only=True)
class Option:
    """A compile option that has the same type in every release that takes it, and the values that some release can compile with."""

    kind: type[bool | int | str]
    least: int | None = None
    """The smallest whole number; ``None`` where no bound is known."""
    power_of_two: bool = False


@frozen(kw_only=True)
class Wheels:
    """Releases of an assembler by itself, published as wheels."""

    title: str
    """What its releases are releases of: ``CUDA``."""
    example: str
    """What may be asked for, in the words of a hint."""
    distribution: Callable[[int], str]
    """Major release → the name it is published under."""
    inside: str
    """Where in an env the program is, as a glob."""


@frozen(kw_only=True)
class Assembler:
    """The program that makes the binary, which can be exchanged between releases."""

    name: str
    stage: str
    """The stage that runs it."""
    takes: str
    """The stage that makes what it is given."""
    variables: tuple[str, ...]
    """The environment variables that put another one in its place; all releases' spellings."""
    of: Callable[[BuiltEnv, Target], Path | None]
    """The one that an env uses for a target; ``None`` where it brings none."""
    command: Callable[[Path, Path, Path], list[str]]
    """Program, source and output → the command that assembles by itself."""
    told: Callable[[int, str, bool], Evidence]
    """Exit code (negative for a signal), what it printed, whether it made anything → the evidence of an attempt."""
    killed: re.Pattern[str]
    """How releases tell of an assembler that was ended from outside, most likely by the system, for want of memory."""
    wheels: Wheels | None = None


@frozen(kw_only=True)
class Parts:
    """What tells in which part of a toolchain that is made with MLIR and LLVM a change between two releases is.

    The front end makes ``first_ir`` of the kernel, MLIR's passes make ``last_ir`` and then ``llvm_ir`` of that, LLVM makes the text
    for the assembler. Stages are named by what they make.
    """

    front_end: tuple[str, ...]
    """The stages of the front end."""
    first_ir: str
    """The IR that the front end makes; one release can be given what another made."""
    last_ir: str
    """The last IR before LLVM's, so, too."""
    llvm_ir: str
    llvm: tuple[str, ...]
    """Stages of LLVM alone."""
    not_optimized: Mapping[str, str]
    """The environment variables that have LLVM IR kept as it was made, without LLVM's optimizer."""
    assembler: Assembler


PREDICTIONS = {"shared-memory": "bytes of shared memory", "sass-descriptor": "sums mix up a wgmma descriptor"}
"""Failure class that is foretold of what compiles → what a script says of such a kernel, with numbers around it."""


@frozen(kw_only=True)
class ScriptForm:
    """How a script compiles a kernel without anything of ours: the form of a repro."""

    form_of: Callable[[str | None], Hashable]
    """Release → a name for the form in which it wants to be called; ``None``: the form that every release takes."""
    any_release: Hashable
    """The latter."""
    compile_function: Callable[[Bundle, Target, Any, str, Mapping[str, str]], str]
    """Kernel, target, form, the class of a failure that is only foretold, environment variables → the source of
    ``compile_kernel()``."""
    imports: Callable[[Bundle], frozenset[str]]
    """What that needs to import, one statement each."""
    before_decorators: Callable[[Target], tuple[frozenset[str], str]]
    """Imports and statements that let a kernel's decorators run on a machine without a GPU."""
    always: str
    """The environment variable that has everything compiled, set to 1."""
    cache: str
    """The environment variable that says where the toolchain's cache is."""
    first_release: str
    """The first release that takes the form for every release."""
    undeclared: tuple[str, ...] = ()
    """Requirements that some releases have and do not declare."""


@frozen(kw_only=True)
class Model:
    """A GPU that is assumed where only an architecture is known."""

    name: str
    """As PyTorch tells it."""
    multiprocessors: int


@frozen(kw_only=True)
class Capturing:
    """How the launches of a running program are captured, on a machine without a GPU too."""

    models: Mapping[str, Model]
    """Target → the GPU that a program is made to believe in. For others nothing is captured without one."""
    usual: str
    """The target where none is asked for."""
    cache: str
    """The environment variable that says where the toolchain's cache is."""
    without_lines: Mapping[str, str]
    """The environment variables that keep paths and line numbers out of assembly code."""


@frozen(kw_only=True)
class Guarding:
    """How a library finds out which variant of a kernel to launch: the code of what ``compat guard`` writes."""

    code: Path
    """The file with it, for every Python; it has a line ``FACTS: … = {}``, in whose place the facts come."""
    decide: Callable[[dict[str, Any], str, str, str, str], Any]
    """The same code: facts, kernel, release, target, policy → the answer, with ``variant`` (``None`` for none) and ``why``."""
    policies: tuple[str, ...]
    """What can be assumed of what was not tested; the first one unless another is asked for."""


@frozen(kw_only=True)
class Names:
    """How it is found out which names of its Python interface a release has."""

    program: Path
    """A folder that the env's own Python runs, with the path of a file that it writes as its argument (see
    :mod:`compat.api.records` for what): standard library and the toolchain only."""
    short: Mapping[str, str]
    """What people write for a module → its name: ``tl``."""
    packages: Mapping[str, str]
    """What a name stands for that a source imports from a module of its own, since packages hand the toolchain on like that."""
    makes_kernels: frozenset[str]
    """The decorators below which code is a kernel's."""


class Unlaunchable(Exception):
    """What was compiled cannot be launched by a program of ours. The message says why, for people."""


@frozen(kw_only=True)
class Launching:
    """How what was compiled is launched on a GPU host that has not this toolchain."""

    backends: tuple[str, ...]
    """Those whose targets can be launched."""
    binary: str
    """The stage that makes what is loaded there."""
    text: str
    """The stage whose text says which parameters and which block size the binary has."""
    metadata: str
    """The name under which a worker keeps what the compiler says of a launch."""
    without_lines: Mapping[str, str]
    """The environment variables that keep paths and line numbers out of the binary."""
    facts: Callable[[str, str], dict[str, Any]]
    """That metadata and that text → ``launch`` of a cell in an archive (see ``compat/launch/host``). Raises Unlaunchable."""
    like: Callable[[str, str], str]
    """Metadata of what was made of IR, and of the same kernel made of its source → the former with what only the latter knows."""


@frozen(kw_only=True)
class Judged:
    """What an answer about one program means."""

    status: Status
    failure_class: str | None = None
    """One of :attr:`Pairing.classes`; ``None`` of a program that is ``ok``."""
    message: str = ""
    """What was raised, or what is missing, on one line."""


@frozen(kw_only=True)
class Pairing:
    """How it is tried, on a machine without a GPU, whether a PyTorch works with a release: programs are compiled and launched.

    The launches end in a library that stands in for the GPU's driver, and executes nothing.
    """

    program: Path
    """A folder that the env's own Python runs, with its settings as JSON (see its ``__init__.py`` for these and its answers):
    standard library, PyTorch and the toolchain only."""
    programs: tuple[str, ...]
    """The names of the programs, in their order."""
    source: Path
    """The C source of the library."""
    library: str
    """What the built library is called."""
    also: tuple[str, ...]
    """Other names that it is looked for under."""
    variables: Callable[[str, str, str], Mapping[str, str]]
    """The folder of the library, the file that it writes launches to, a folder for caches → environment variables."""
    judge: Callable[[Mapping[str, Any]], Judged]
    """What the program answered about one program → what that means."""
    classes: Mapping[str, str]
    """The ways in which a program can fail → what each means, for a footnote."""
    oldest: Version
    """The first PyTorch that is tried where all of them are asked for."""


@frozen(kw_only=True)
class Toolchain:
    """One compiler with all its releases."""

    name: str
    """What ``matrix.toml`` and the names of envs call it: ``triton``."""
    title: str
    """What a reader calls it: ``Triton``."""
    distribution: str
    """The name that its releases are published under. Anything else is a fork."""
    adapter: Path
    """The folder that a worker loads inside an env (see :mod:`compat.worker.adapter`)."""
    stages: tuple[str, ...]
    """What its compiles go through, in order, from when the kernel's file has been imported to the binary."""
    texts: tuple[str, ...] = ()
    """Those of them that make text, in order."""
    releases: Path | None = None
    """A file with its releases, and what they need, for projects that declare none: ``schema``, ``env`` and ``companion``, as in
    ``matrix.toml``. The group ``releases`` is what a project compiles on without any defaults."""
    oldest: Version | None = None
    """Releases before it are not tried unless they are named: their compilers take kernels in another form. ``None`` for all."""
    repository: str | None = None
    """The URL of its source, which has tags like ``v3.1.0``; on GitHub."""
    commits_command: tuple[str, ...] = ()
    """The words of a program that bisects its commits between ``--good`` and ``--bad``, in a clone that is called as it is."""
    targets: tuple[Target, ...]
    """What it can compile for, without anybody declaring it, in the order in which they are listed."""
    gpus: Mapping[str, str] = Factory(dict)
    """What GPUs are called → the name of the target that code for one is compiled for. Small letters and digits only."""
    usual_targets: tuple[str, ...] = ()
    """The names of the targets that are compiled for where nothing says which; empty for all of them."""
    types: Types
    options: Mapping[str, Option] = Factory(dict)
    """The compile options that kernel files are checked for; others are handed on as they are."""
    knowledge: Knowledge
    """What is known of its failures."""
    variables: Variables = Factory(Variables)
    parts: Parts | None = None
    """What can be found out of the part that a change between two releases is in; ``None`` where nothing can."""
    script: ScriptForm | None = None
    """How repro scripts call it; ``None`` where there are none."""
    capturing: Capturing | None = None
    """How launches are captured; ``None`` where they are not."""
    guarding: Guarding | None = None
    """How libraries choose variants; ``None`` where they cannot."""
    launching: Launching | None = None
    """How kernels are launched elsewhere; ``None`` where they are not."""
    interpreter: Interpreter | None = None
    """How kernels are run without a GPU, to see whether their numbers are right; ``None`` where they cannot be."""
    names: Names | None = None
    """How it is found out which names a release has; ``None`` where it is not."""
    pairing: Pairing | None = None
    """How it is tried whether a PyTorch works with a release; ``None`` where it is not."""
    edits: tuple[KnownEdit, ...] = ()
    """What is known to mend kernels, the smallest edits first."""

    @property
    def default_targets(self) -> tuple[str, ...]:
        """The names of the targets that are compiled for where nothing says which."""
        return self.usual_targets or tuple(target.name for target in self.targets)

    @property
    def backends(self) -> tuple[str, ...]:
        """The backends of its targets."""
        return tuple(dict.fromkeys(target.backend for target in self.targets))

    @property
    def every_stage(self) -> tuple[str, ...]:
        """All stages a cell can be in."""
        return (SOURCE_STAGE, *self.stages, *LATER_STAGES)
