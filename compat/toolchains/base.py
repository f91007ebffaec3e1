"""The seam between the program and what it compiles with: all that differs between toolchains is a
field of :class:`Toolchain`.

In: nothing but the records of :mod:`compat.model` and :mod:`compat.diagnosis`. Out: one record per
toolchain, which the rest of the program asks and never looks behind. ``docs/toolchains.md`` says
how one is added.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import Factory, frozen
from packaging.version import Version

from compat.bundle.bundle import Bundle, ConstantForm
from compat.bundle.frozen import FrozenForm
from compat.diagnosis.failure_class import Knowledge
from compat.diagnosis.numbers import Interpreter
from compat.diagnosis.pipeline import OutputReader
from compat.model import (
    DEFAULT_FRAMEWORK,
    LATER_STAGES,
    SOURCE_STAGE,
    BuiltEnv,
    CompileSpec,
    Evidence,
    Status,
    Target,
)
from compat.toolchains.language import Guessing, KnownEdit


def _no_private(_folder: str) -> dict[str, str]:
    return {}


@frozen(kw_only=True)
class Framework:
    """The tensor library that kernels are launched from.

    Each of its releases asks for one of the toolchain's: a pair.
    """

    name: str
    """What it is published under, and what ``matrix.toml``, the names of envs and ``matrix.json``
    call it: ``torch``.
    """
    title: str
    """What a reader calls it: ``PyTorch``."""
    example: str
    """One of its releases, for a hint."""


PYTORCH = Framework(name=DEFAULT_FRAMEWORK, title="PyTorch", example="2.9.1")


def _no_variables(_target: Target) -> dict[str, str]:
    return {}


def _gpu_target(target: Target) -> str:
    return f'GPUTarget("{target.backend}", {target.arch!r}, {target.warp_size})'


def _no_framework(_release: Version | None) -> str | None:
    return None


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
    """Backend → paths where it looks for programs without any variable.

    Results depend on their content.
    """
    timing: Mapping[str, str] = Factory(dict)
    """Those with which compilers print how long each pass took (:attr:`OutputReader.pass_seconds`),
    or adapters tell it as the metric ``passes``; empty where none do.
    """
    private: Callable[[str], Mapping[str, str]] = _no_private
    """A worker's private folder → the variables that keep the toolchain's caches there."""


@frozen(kw_only=True)
class ArgumentTypes:
    """What a kernel file may give a run-time argument for a type."""

    pattern: re.Pattern[str]
    """All of them."""
    known: tuple[str, ...]
    """Those that a slip may have been meant for."""
    examples: str
    """Some, for a hint."""
    elements: tuple[str, ...] = ()
    """What tensors may have in them that a launch passes; empty where kernel files cannot say what
    one passes.
    """


@frozen(kw_only=True)
class Option:
    """A compile option that has the same type in every release that takes it, and the values that
    some release can compile with.
    """

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
    evidence: Callable[[int, str, bool], Evidence]
    """Exit code (negative for a signal), what it printed, whether it made anything → the evidence
    of an attempt.
    """
    killed: re.Pattern[str]
    """How releases tell of an assembler that was ended from outside, most likely by the system, for
    want of memory.
    """
    wheels: Wheels | None = None


@frozen(kw_only=True)
class CompilerParts:
    """What tells in which part of a toolchain a change between two releases is: front end, passes,
    back end or assembler.

    The front end makes ``first_ir`` of the kernel. Passes make ``last_ir`` and then ``low_ir`` of
    that. The back end makes the text for the assembler. Stages are named by what they make.
    """

    passes: str
    """What the passes are called: ``MLIR passes``."""
    backend: str
    """What the back end is called: ``LLVM``."""
    linker: str
    """What links a binary where no assembler makes it, in a sentence about a release that does not
    ship it.
    """

    front_end: tuple[str, ...]
    """The stages of the front end."""
    first_ir: str
    """The IR that the front end makes; one release can be given what another made."""
    last_ir: str
    """The last IR before the back end's, which can be exchanged too."""
    low_ir: str
    """The IR that the back end is given."""
    low_ir_title: str
    """What readers call it: ``LLVM IR``."""
    canonical_low_ir: Callable[[str], str]
    """That IR → the same in a form in which names do not matter."""
    canonical_code: Callable[[str], str]
    """What a stage behind the passes made → the same in such a form."""
    backend_stages: tuple[str, ...]
    """Stages of the back end alone."""
    not_optimized: Mapping[str, str]
    """The environment variables that have that IR kept as it was made, without the back end's
    optimizer.
    """
    assembler: Assembler


@frozen(kw_only=True)
class ScriptForm:
    """How a script compiles a kernel without anything of ours: the form of a repro."""

    form_of: Callable[[str | None], Hashable]
    """Release → a name for the form in which it wants to be called; ``None``: the form that every
    release takes.
    """
    any_release: Hashable
    """The latter."""
    compile_function: Callable[[Bundle, Target, Any, str, Mapping[str, str]], str]
    """Kernel, target, form, the class of a failure that is only foretold, environment variables →
    the source of ``compile_kernel()``.
    """
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
    variables_of: Callable[[Target], Mapping[str, str]] = _no_variables
    """A target → the environment variables that have it compiled for, where they do so and not the
    call.
    """
    spelled: Callable[[Target], str] = _gpu_target
    """A target as the toolchain's own programs spell it, for the issue."""
    tracker: str = ""
    """The URL of the tracker that an issue is for; empty where its form is all that is said of
    it.
    """


@frozen(kw_only=True)
class GpuModel:
    """A GPU that is assumed where only an architecture is known."""

    name: str
    """As PyTorch tells it."""
    multiprocessors: int


@frozen(kw_only=True)
class Capturing:
    """How the launches of a running program are captured, on a machine without a GPU too."""

    start: Path
    """The folder that has Python begin recording, where it is in ``PYTHONPATH``."""
    package: str
    """What the recorder is called in ``sys.modules`` of a program that began like that."""
    variable: str
    """The environment variable that has its settings, as JSON."""
    begin: Callable[[dict[str, Any]], Any]
    """Records what this process launches from now on, with these settings; what is returned has
    ``stop()``.
    """
    digest: Callable[[str], str]
    """Assembly code → a hash over it, which is the same wherever functions were defined."""
    hidden: tuple[str, ...] = ()
    """Packages that look for a GPU while kernels are imported: stand-ins answer in their place
    where the GPU was not real.
    """
    usual: str
    """The target where none is asked for."""
    has_device: Callable[[], bool]
    """Whether this machine has a device that a program may use: without one it is made to believe
    in one.
    """
    written: FrozenForm
    """How what was recorded is written as source."""
    cache: str | None = None
    """The environment variable that says where the toolchain's cache is, if it has one."""
    without_lines: Mapping[str, str] = Factory(dict)
    """The environment variables that keep paths and line numbers out of assembly code."""


@frozen(kw_only=True)
class Guarding:
    """How a library finds out which variant of a kernel to launch: the code of what ``compat
    guard`` writes.
    """

    code: Path
    """The file with it, for every Python; it has a line ``FACTS: … = {}``, in whose place the facts
    come.
    """
    decide: Callable[[dict[str, Any], str, str, str, str], Any]
    """The same code: facts, kernel, release, target, policy → the answer, with ``variant``
    (``None`` for none) and ``why``.
    """
    policies: tuple[str, ...]
    """What can be assumed of what was not tested; the first one unless another is asked for."""


@frozen(kw_only=True)
class ApiNames:
    """How it is found out which names of its Python interface a release has."""

    program: Path
    """A folder that the env's own Python runs, with the path of a file that it writes as its
    argument (see :mod:`compat.api.records` for what): standard library and the toolchain only.
    """
    short: Mapping[str, str]
    """What people write for a module → its name: ``tl``."""
    packages: Mapping[str, str]
    """What a name stands for that a source imports from a module of its own, since packages hand
    the toolchain on like that.
    """
    makes_kernels: frozenset[str]
    """The decorators below which code is a kernel's."""


def _own_metadata(metadata: str, _other: str) -> str:
    return metadata


class Unlaunchable(Exception):
    """What was compiled cannot be launched by a program of ours.

    The message says why, for people.
    """


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
    without_lines: Mapping[str, str] = Factory(dict)
    """The environment variables that keep paths and line numbers out of the binary."""
    tells_problem: bool = False
    """Whether the adapter is told of a cell's problem where a launch is built: of one that runs
    what the compiler made for the host, and writes down what that launches for each size.
    """
    facts: Callable[[str, str, CompileSpec], dict[str, Any]]
    """That metadata, that text, and what was compiled → ``launch`` of a cell in an archive (see
    ``toolchains/pytorch/host``).

    Raises Unlaunchable.
    """
    like: Callable[[str, str], str] = _own_metadata
    """Metadata of what was made of IR, and of the same kernel made of its source → the former with
    what only the latter knows.
    """
    packages: Mapping[str, Path]
    """The packages of the program that launches, by the names that they have in an archive → their
    folders. ``compat_launch`` is one of them; its module ``program`` has ``main``: a folder → the
    exit code (see ``toolchains/pytorch/host`` for its files).
    """
    needs: str | None = DEFAULT_FRAMEWORK
    """The package that the program needs, which finds the GPUs of a machine, too.

    ``None`` where it needs nothing but Python: it is started by the user alone, not while a search
    goes on, and not on clusters.
    """


@frozen(kw_only=True)
class PairResult:
    """What an answer about one program means."""

    status: Status
    failure_class: str | None = None
    """One of :attr:`Pairing.classes`; ``None`` of a program that is ``ok``."""
    message: str = ""
    """What was raised, or what is missing, on one line."""


@frozen(kw_only=True)
class Pairing:
    """How it is tried, on a machine without a GPU, whether a PyTorch works with a release: programs
    are compiled and launched.

    The launches end in a library that stands in for the GPU's driver, and executes nothing.
    """

    program: Path
    """A folder that the env's own Python runs, with its settings as JSON (see its ``__init__.py``
    for these and its answers): standard library, PyTorch and the toolchain only.
    """
    programs: tuple[str, ...]
    """The names of the programs, in their order."""
    source: Path
    """The C source of the library."""
    library: str
    """What the built library is called."""
    also: tuple[str, ...]
    """Other names that it is looked for under."""
    variables: Callable[[str, str, str], Mapping[str, str]]
    """The folder of the library, the file that it writes launches to, a folder for caches →
    environment variables.
    """
    judge: Callable[[Mapping[str, Any]], PairResult]
    """What the program answered about one program → what that means."""
    classes: Mapping[str, str]
    """The ways in which a program can fail → what each means, for a footnote."""
    oldest: Version
    """The first PyTorch that is tried where all of them are asked for."""
    target: Target
    """What programs are compiled for."""


Values = Callable[[ast.expr], Iterable[ast.expr]]
"""An expression in the body of a kernel → simple values that could stand in its place, the most
likely first.
"""


def _zeros(_body: Sequence[ast.stmt], _compile_spec: CompileSpec) -> Values:
    return lambda expression: (ast.Constant(0), ast.Constant(0.0))


def _none_plainer(_kind: str) -> tuple[str, ...]:
    return ()


@frozen(kw_only=True)
class Simplification:
    """How kernels of the language are made smaller: what :mod:`compat.reduce` has to know besides
    Python.
    """

    argument_types: tuple[str, ...] = ()
    """Element types in signatures, the one that needs the least explanation first."""
    plainer_types: Callable[[str], Iterable[str]] = _none_plainer
    """The type of an argument → types that need less explanation, where they are more than
    elements: fewer modes, no strides.
    """
    weight_of_type: Callable[[str], int] | None = None
    """How much there is to read in a type of an argument, where that is more than its element type:
    a plainer one is lighter.
    """
    element_types: tuple[str, ...] = ()
    """The same as kernels name them, as attributes of a module; the plainest first."""
    modules: frozenset[str] = frozenset()
    """The names of modules through which kernels call functions of the language: ``tl``."""
    parameter_lists: tuple[str, ...] = ()
    """The keywords of decorators that list parameters, by name or by position."""
    plain_decorators: tuple[str, ...] = ()
    """The decorators that mean the same with an empty list of arguments as without one."""
    annotations: re.Pattern[str] | None = None
    """The annotations of parameters that a compiler reads."""
    values: Callable[[Sequence[ast.stmt], CompileSpec], Values] = _zeros
    """The body of a kernel, and how it is specialized → the values for its expressions.

    A value that does not fit costs a candidate, never a wrong result.
    """


@frozen(kw_only=True)
class Language:
    """The language that kernels are written in: how their source is read, and how it is written."""

    types: ArgumentTypes
    decorators: frozenset[str] | None = None
    """The decorators without which a kernel is none, by the last part of their names: others tune
    or choose, and are left behind where a kernel is taken out of its file. ``None`` for all.
    """
    constant: ConstantForm | None = None
    """How a global is written that kernels may read, if they may read no other; ``None`` where they
    may read all.
    """
    hints: bool = True
    """Whether compilers are told facts about arguments that a launch finds out: divisible by 16,
    equal to 1.
    """
    options: Mapping[str, Option] = Factory(dict)
    """The compile options that kernel files are checked for; others are passed to the compiler
    unchecked.
    """
    api: ApiNames | None = None
    """How the names of its Python API are listed for a release; ``None`` where they are not."""
    script: ScriptForm | None = None
    """How repro scripts call the compiler; ``None`` where there are no scripts."""
    guarding: Guarding | None = None
    """How libraries choose variants; ``None`` where they cannot."""
    guessing: Guessing | None = None
    """How kernels are found in Python sources, and their arguments guessed; ``None`` where kernels
    need kernel files.
    """
    edits: tuple[KnownEdit, ...] = ()
    """The edits that are known to mend kernels, the smallest first."""
    simplification: Simplification = Factory(Simplification)
    """How kernels are made smaller."""


@frozen(kw_only=True)
class Device:
    """The devices that kernels are compiled for, and what takes their place on a machine that has
    none.
    """

    targets: tuple[Target, ...]
    """The targets that it compiles for without anybody declaring them, in the order in which they
    are listed.
    """
    gpus: Mapping[str, str] = Factory(dict)
    """The name of a GPU, in small letters and digits only → the name of its target."""
    usual_targets: tuple[str, ...] = ()
    """The names of the targets that are compiled for by default; empty for all of them."""
    models: Mapping[str, GpuModel] = Factory(dict)
    """The name of a target → the GPU of it that is assumed.

    Programs can be captured for these without a GPU.
    """
    capturing: Capturing | None = None
    """How launches are captured; ``None`` where they are not."""
    interpreter: Interpreter | None = None
    """How kernels are run on the CPU to check their numbers; ``None`` where they cannot be."""
    pairing: Pairing | None = None
    """How PyTorch is tried with a release; ``None`` where it is not."""

    def facts(self, target: Target) -> dict[str, Any]:
        """All that code inside of envs and programs is told of a target, and of the GPU that is
        assumed for its architecture.
        """
        facts: dict[str, Any] = {
            "backend": target.backend,
            "arch": target.arch,
            "warp_size": target.warp_size,
            "shared_memory": target.shared_memory,
        }
        named = (other.name for other in self.targets if other.arch == target.arch)
        model = next((self.models[name] for name in named if name in self.models), None)
        return (
            {**facts, "gpu": model.name, "multiprocessors": model.multiprocessors}
            if model
            else facts
        )

    @property
    def default_targets(self) -> tuple[str, ...]:
        """The names of the targets that are compiled for by default."""
        return self.usual_targets or tuple(target.name for target in self.targets)

    @property
    def backends(self) -> tuple[str, ...]:
        """The backends of the targets."""
        return tuple(dict.fromkeys(target.backend for target in self.targets))


def _no_reproducer(_reproducer: str, _ir: str, _name: str) -> str | None:
    return None


@frozen(kw_only=True)
class IntermediateForms:
    """The intermediate representations of a compile: which stages print them, and what can be
    exchanged between releases.
    """

    texts: tuple[str, ...] = ()
    """The stages that make text, in order; empty where passes cannot be told apart."""
    parts: CompilerParts | None = None
    """The parts of the compiler that a change between two releases can be narrowed down to;
    ``None`` where it cannot be.
    """
    cut_reproducer: Callable[[str, str, str], str | None] = _no_reproducer
    """A reproducer that the compiler wrote of a whole pipeline, the IR before a pass, and the name
    of that pass → a reproducer of the pass alone; ``None`` where that cannot be made.
    """


@frozen(kw_only=True)
class Toolchain:
    """One compiler with all its releases: facts about its releases, and one record for each job
    that differs between compilers.
    """

    name: str
    """What ``matrix.toml`` and the names of envs call it: ``triton``."""
    title: str
    """What a reader calls it: ``Triton``."""
    distribution: str
    """The name that its releases are published under. Anything else is a fork."""
    adapter: Path
    """The folder that a worker loads inside an env (see :mod:`compat.worker.adapter`)."""
    stages: tuple[str, ...]
    """The stages of a compile, in order, from when the kernel's file has been imported to the
    binary.
    """
    releases: Path | None = None
    """A file with its releases, and what they need, for projects that declare none: ``schema``,
    ``env`` and ``companion``, as in ``matrix.toml``. The group ``releases`` is what a project
    compiles on by default.
    """
    oldest: Version | None = None
    """Releases before it are not tried unless they are named: their compilers take kernels in
    another form. ``None`` for all.
    """
    only_named: bool = False
    """Whether a word that names no toolchain (``3.9``, ``>=4``, ``newest``) means its releases only
    where no others are there.
    """
    repository: str | None = None
    """The URL of its source, which has tags like ``v3.1.0``; on GitHub."""
    commits_command: tuple[str, ...] = ()
    """The command line of a program that bisects its commits between ``--good`` and ``--bad``, in a
    clone.
    """
    framework: Framework = PYTORCH
    framework_of: Callable[[Version | None], str | None] = _no_framework
    """A release → the framework's release that goes with it, ``None`` where that is not known; no
    release → the newest known.
    """
    variables: Variables = Factory(Variables)
    language: Language
    device: Device
    ir: IntermediateForms = Factory(IntermediateForms)
    failures: Knowledge
    """Its failure classes and predictions, and how its releases word failures."""
    launching: Launching | None = None
    """How compiled kernels are launched on another host; ``None`` where they are not."""

    def facts(self, target: Target, release: Version | None) -> dict[str, Any]:
        """All that a worker is told of a target: with the GPU, and the framework, that are assumed
        where code asks for them.
        """
        facts = self.device.facts(target)
        if release is not None and (known := self.framework_of(release)):
            facts["framework"] = known
        elif newest := self.framework_of(None):
            facts["assumed_framework"] = newest
        return facts

    @property
    def reader(self) -> OutputReader:
        """How what its compilers print is taken apart."""
        return self.failures.wording.reader

    @property
    def every_stage(self) -> tuple[str, ...]:
        """All stages that a cell can be in."""
        return (SOURCE_STAGE, *self.stages, *LATER_STAGES)
