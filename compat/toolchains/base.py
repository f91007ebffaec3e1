"""The interface of toolchains: each difference between them is a field of :class:`Toolchain`.

In: nothing but the records of :mod:`compat.model` and :mod:`compat.diagnosis`. Out: one record per
toolchain. The rest of the program uses only this record. ``docs/toolchains.md`` says how to add a
toolchain.
"""

from __future__ import annotations

import ast
import io
import re
import zipfile
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
from compat.text import JsonMapping, JsonObject
from compat.toolchains.language import Guessing, KnownEdit
from compat.toolchains.programs import ProgramLanguage


@frozen(kw_only=True)
class Framework:
    """The tensor library that kernels are launched from.

    Each of its releases requires one release of the toolchain: a pair.
    """

    name: str
    """The name of its package, such as ``torch``.

    ``matrix.toml``, names of envs and ``matrix.json`` use this name.
    """
    title: str
    """The name for readers: ``PyTorch``."""
    example: str
    """One of its releases, for a hint."""


PYTORCH = Framework(name=DEFAULT_FRAMEWORK, title="PyTorch", example="2.9.1")


def _gpu_target(target: Target) -> str:
    return f'GPUTarget("{target.backend}", {target.arch!r}, {target.warp_size})'


@frozen(kw_only=True)
class Variables:
    """The environment variables that some release of a toolchain reads, each in one field."""

    files: tuple[str, ...] = ()
    """Variables with paths of programs, files and folders of files that it uses.

    Results depend on the content of these files.
    """
    folders: tuple[str, ...] = ()
    """Variables with folders that are searched for tools."""
    settings: tuple[str, ...] = ()
    """Variables that change the generated code."""
    withheld: Mapping[str, tuple[str, ...]] = Factory(dict)
    """Reason → variables that the compiler would read, and that are withheld from it."""
    programs: Mapping[str, tuple[str, ...]] = Factory(dict)
    """Backend → paths at which it looks for programs without any variable.

    Results depend on the content of these programs.
    """
    timing: Mapping[str, str] = Factory(dict)
    """The variables with which compilers print how long each pass took.

    :attr:`OutputReader.pass_seconds` reads the text. Adapters may instead report the metric
    ``passes``. Empty if no variable does this.
    """
    private: Callable[[str], Mapping[str, str]] = lambda _folder: {}
    """A worker's private folder → the variables that keep the toolchain's caches there."""


@frozen(kw_only=True)
class ArgumentTypes:
    """The types that a kernel file may give to run-time arguments."""

    pattern: re.Pattern[str]
    """A pattern that matches all of them."""
    known: tuple[str, ...]
    """The types to suggest for a misspelled one."""
    examples: str
    """Some types, for a hint."""
    elements: tuple[str, ...] = ()
    """The element types of tensors that a launch passes.

    Empty if kernel files cannot describe the arguments of a launch.
    """


@frozen(kw_only=True)
class Option:
    """A compile option of one type in all releases that take it, and its possible values.

    A value is possible if some release can compile with it.
    """

    kind: type[bool | int | str]
    least: int | None = None
    """The smallest allowed whole number; ``None`` without a known bound."""
    power_of_two: bool = False


@frozen(kw_only=True)
class Wheels:
    """Releases of an assembler by itself, published as wheels."""

    title: str
    """The product of the releases: ``CUDA``."""
    example: str
    """An example of a request, for a hint."""
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
    input_stage: str
    """The stage that makes its input."""
    variables: tuple[str, ...]
    """The environment variables that replace the assembler, in the spelling of every release."""
    of: Callable[[BuiltEnv, Target], Path | None]
    """The assembler that an env uses for a target; ``None`` if it has none."""
    command: Callable[[Path, Path, Path], list[str]]
    """Program, source and output → the command that assembles by itself."""
    evidence: Callable[[int, str, bool], Evidence]
    """Exit code, printed text, whether there is a result → the evidence of an attempt.

    The exit code is negative for a signal.
    """
    kill_message: re.Pattern[str]
    """The messages of releases about an assembler that something outside ended.

    Most likely, the system ended it for lack of memory.
    """
    wheels: Wheels | None = None


@frozen(kw_only=True)
class CompilerParts:
    """How to find the part of a toolchain in which two releases differ.

    The parts are front end, passes, back end and assembler. The front end makes ``first_ir`` from
    the kernel. Passes make ``last_ir`` and then ``low_ir`` from that. The back end makes the text
    for the assembler. A stage has the name of its result.
    """

    passes: str
    """The name of the passes: ``MLIR passes``."""
    backend: str
    """The name of the back end: ``LLVM``."""
    linker: str
    """The name of the program that links a binary if no assembler makes it.

    A sentence about a release that does not ship it uses this name.
    """

    front_end: tuple[str, ...]
    """The stages of the front end."""
    first_ir: str
    """The IR of the front end. One release can take the IR of another."""
    last_ir: str
    """The last IR before the back end's, which can be exchanged too."""
    low_ir: str
    """The IR that the back end takes."""
    low_ir_title: str
    """The name for readers: ``LLVM IR``."""
    canonical_low_ir: Callable[[str], str]
    """That IR → a form without the effect of names."""
    canonical_code: Callable[[str], str]
    """The result of a stage after the passes → a form without the effect of names."""
    backend_stages: tuple[str, ...]
    """Stages of the back end alone."""
    not_optimized: Mapping[str, str]
    """The environment variables that turn off the optimizer of the back end, to store its IR."""
    assembler: Assembler
    leaves_out: str = ""
    """The environment variable that makes the adapter run all passes but one, one by one.

    Its value is the number of the omitted pass among the passes that can run alone, from 1 on. With
    0, all of these run, and the IR before each is printed. Empty if no pass can be omitted.
    """


@frozen(kw_only=True)
class ScriptForm:
    """How a script compiles a kernel without triton-compat: the form of a repro script."""

    form_of: Callable[[str | None], Hashable]
    """Release → a name for the form of the call; ``None`` → the form that every release takes."""
    any_release: Hashable
    """The name of the form that every release takes."""
    compile_function: Callable[[Bundle, Target, Any, str, Mapping[str, str]], str]
    """The function that writes the source of ``compile_kernel()``.

    Its arguments are kernel, target, form, the class of a failure that is only predicted, and
    environment variables.
    """
    imports: Callable[[Bundle], frozenset[str]]
    """The imports that the call needs, one statement each."""
    before_decorators: Callable[[Target], tuple[frozenset[str], str]]
    """Imports and statements that let a kernel's decorators run on a machine without a GPU."""
    always: str
    """The environment variable that, set to 1, makes the toolchain compile everything."""
    cache: str
    """The environment variable with the folder of the toolchain's cache."""
    first_release: str
    """The first release that takes the form for every release."""
    undeclared: tuple[str, ...] = ()
    """Requirements that some releases have and do not declare."""
    variables_of: Callable[[Target], Mapping[str, str]] = lambda _target: {}
    """A target → the environment variables that set it.

    Empty if the call sets it instead.
    """
    target_text: Callable[[Target], str] = _gpu_target
    """A target as the toolchain's own programs spell it, for the issue."""
    tracker: str = ""
    """The URL of the tracker for the issue. Empty if only the form of the issue is known."""


@frozen(kw_only=True)
class GpuModel:
    """A GPU that is assumed if only an architecture is known."""

    name: str
    """The name that PyTorch reports."""
    multiprocessors: int


@frozen(kw_only=True)
class Capturing:
    """How the launches of a running program are captured, also on a machine without a GPU."""

    start: Path
    """The folder that makes Python begin recording if it is in ``PYTHONPATH``."""
    package: str
    """The name of the recorder in ``sys.modules`` of a program that was started like that."""
    variable: str
    """The environment variable with the recorder's settings, as JSON."""
    begin: Callable[[JsonObject], Any]
    """Record the launches of this process from now on, with these settings. The result has
    ``stop()``.
    """
    digest: Callable[[str], str]
    """Assembly code → a hash over it, which does not depend on where functions were defined."""
    hidden_packages: tuple[str, ...] = ()
    """Packages that look for a GPU while kernels are imported.

    Stand-ins replace them if the GPU was not real.
    """
    usual: str
    """The target if none is requested."""
    has_device: Callable[[], bool]
    """Whether this machine has a device that a program may use.

    Without one, the program gets a fake device.
    """
    frozen_form: FrozenForm
    """The function that writes a recorded kernel as source."""
    caches: tuple[str, ...] = ()
    """The environment variables with the folders of compiled kernels and results of tuning."""
    settings: Mapping[str, str] = Factory(dict)
    """The environment variables that make a program compile again, and in its own process."""
    without_lines: Mapping[str, str] = Factory(dict)
    """The environment variables that keep paths and line numbers out of assembly code."""


@frozen(kw_only=True)
class Guarding:
    """How a library chooses a variant to launch: the code that ``compat guard`` writes."""

    code: Path
    """The file with the code, for every Python.

    The facts replace its line ``FACTS: … = {}``.
    """
    decide: Callable[[JsonObject, str, str, str, str], Any]
    """The same code as a function: facts, kernel, release, target, policy → the answer.

    The answer has ``variant`` (``None`` for none) and ``why``.
    """
    policies: tuple[str, ...]
    """The assumptions for untested releases. The first is the default."""


@frozen(kw_only=True)
class ApiNames:
    """How to find the names of a release's Python interface."""

    program: Path
    """A folder that the env's own Python runs, with the path of a file that it writes.

    :mod:`compat.api.records` describes the file. The program needs the standard library and the
    toolchain only.
    """
    short: Mapping[str, str]
    """The usual name of a module → its full name: ``tl``."""
    packages: Mapping[str, str]
    """A name that a source imports from a module of its own → its meaning.

    Packages re-export the toolchain like that.
    """
    makes_kernels: frozenset[str]
    """The decorators that mark the code of a kernel."""


class CannotLaunch(Exception):
    """A program of triton-compat cannot launch a compiled kernel.

    The message gives the reason, for readers.
    """


@frozen(kw_only=True)
class Launching:
    """How compiled kernels are launched on a GPU host without this toolchain."""

    backends: tuple[str, ...]
    """The backends whose targets can be launched."""
    binary: str
    """The stage that makes the loaded binary."""
    text: str
    """The stage whose text says which parameters and which block size the binary has."""
    metadata: str
    """The name under which a worker stores the compiler's facts for a launch."""
    without_lines: Callable[[str, bytes], bytes] = lambda _stage, data: data
    """A stage and its result → the result without paths and line numbers."""
    pace: Callable[[bytes, JsonMapping, Target], JsonObject] = lambda _binary, _metrics, _target: {}
    """A binary, the metrics of its compile and the target → facts that decide how fast it is.

    They become metrics of the compile; ``compat/history/foresight.py`` compares them. The result is
    empty for a target whose machine code is not known.
    """
    tells_problem: bool = False
    """Whether the adapter gets a cell's problem when it builds a launch. Such an adapter runs the
    compiled host code, and records the launches for each size.
    """
    facts: Callable[[str, str, CompileSpec], JsonObject]
    """That metadata, that text, and the specialization → ``launch`` of a cell in an archive.

    ``toolchains/pytorch/host`` describes ``launch``. Raises CannotLaunch.
    """
    like: Callable[[str, str], str] = lambda metadata, _other: metadata
    """Metadata of a compile from IR, with facts that only the compile from source has.

    The arguments are the metadata of both compiles of one kernel.
    """
    packages: Mapping[str, Path]
    """The packages of the program that launches, by their names in an archive → their folders.

    ``compat_launch`` is one of them. Its module ``program`` has ``main``: a folder → the exit code.
    ``toolchains/pytorch/host`` describes the files.
    """
    needs: str | None = DEFAULT_FRAMEWORK
    """The package that the program needs, which also finds the GPUs of a machine.

    ``None`` if the program needs only Python. The user starts such a program alone. It does not run
    during a search, and not on clusters.
    """

    @property
    def stages(self) -> tuple[str, str, str]:
        """The stages of a compile whose results a launch needs."""
        return self.binary, self.text, self.metadata

    def pack(self, artifacts: Mapping[str, bytes]) -> bytes:
        """The results of :attr:`stages` as one file. Equal results make equal files."""
        memory = io.BytesIO()
        with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as file:
            for stage in self.stages:
                file.writestr(zipfile.ZipInfo(stage), self.without_lines(stage, artifacts[stage]))
        return memory.getvalue()

    def unpack(self, data: bytes) -> tuple[bytes, bytes, bytes]:
        """The results in a file of :meth:`pack`: binary, text and metadata.

        Raises BadZipFile and KeyError.
        """
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            binary, text, metadata = map(file.read, self.stages)
            return binary, text, metadata


@frozen(kw_only=True)
class PairResult:
    """The meaning of an answer about one program."""

    status: Status
    failure_class: str | None = None
    """One of :attr:`Pairing.classes`; ``None`` for a program that is ``ok``."""
    message: str = ""
    """The exception, or the missing part, on one line."""


@frozen(kw_only=True)
class Pairing:
    """How to test, on a machine without a GPU, whether a PyTorch works with a release.

    Programs are compiled and launched. The launches end in a library that replaces the GPU's driver
    and executes nothing.
    """

    program: Path
    """A folder that the env's own Python runs, with its settings as JSON.

    Its ``__init__.py`` describes settings and answers. It needs the standard library, PyTorch and
    the toolchain only.
    """
    programs: tuple[str, ...]
    """The names of the programs, in their order."""
    source: Path
    """The C source of the library."""
    library: str
    """The file name of the built library."""
    also: tuple[str, ...]
    """Further names under which programs search for the library."""
    variables: Callable[[str, str, str], Mapping[str, str]]
    """The folder of the library, the file of launches, a folder for caches → environment variables.

    The library writes launches to the file.
    """
    judge: Callable[[JsonMapping], PairResult]
    """The answer about one program → its meaning."""
    classes: Mapping[str, str]
    """A way to fail → its meaning, for a footnote."""
    oldest: Version
    """The oldest PyTorch that is tried if all of them are requested."""
    target: Target
    """The target of the programs."""


Values = Callable[[ast.expr], Iterable[ast.expr]]
"""An expression in the body of a kernel → simple values for its place, the most likely first."""


def _zeros(_body: Sequence[ast.stmt], _compile_spec: CompileSpec) -> Values:
    return lambda expression: (ast.Constant(0), ast.Constant(0.0))


@frozen(kw_only=True)
class Simplification:
    """How to make kernels of the language smaller: the facts that :mod:`compat.reduce` needs.

    Python itself does not have these facts.
    """

    argument_types: tuple[str, ...] = ()
    """Element types in signatures, simplest first."""
    plainer_types: Callable[[str], Iterable[str]] = lambda _kind: ()
    """The type of an argument → types that need less explanation: fewer modes, no strides.

    They exist for types that are more than an element type.
    """
    weight_of_type: Callable[[str], int] | None = None
    """The effort to read the type of an argument. A plainer type needs less.

    ``None`` if types are only element types.
    """
    element_types: tuple[str, ...] = ()
    """Element types as kernels name them, as attributes of a module; the plainest first."""
    modules: frozenset[str] = frozenset()
    """The names of modules through which kernels call functions of the language: ``tl``."""
    parameter_lists: tuple[str, ...] = ()
    """The keywords of decorators that list parameters, by name or by position."""
    plain_decorators: tuple[str, ...] = ()
    """The decorators that mean the same with an empty list of arguments as without one."""
    annotations: re.Pattern[str] | None = None
    """The annotations of parameters that a compiler reads."""
    values: Callable[[Sequence[ast.stmt], CompileSpec], Values] = _zeros
    """The body of a kernel, and its specialization → the values for its expressions.

    A value that does not fit costs a candidate, never a wrong result.
    """


@frozen(kw_only=True)
class Language:
    """The language that kernels are written in: how their source is read, and how it is written."""

    types: ArgumentTypes
    package: str | None = None
    """The package that kernels import, if its answers to queries may differ between releases.

    A kernel that is extracted from its file keeps a condition that queries the package.
    """
    decorators: frozenset[str] | None = None
    """The decorators that make a kernel, by the last part of their names; ``None`` for all.

    Other decorators tune or choose, and are left out of a kernel that is extracted from its file.
    """
    constant: ConstantForm | None = None
    """How to write a global that kernels may read.

    ``None`` if they may read all globals.
    """
    hints: bool = True
    """Whether compilers get facts about arguments: divisible by 16, equal to 1."""
    options: Mapping[str, Option] = Factory(dict)
    """The compile options that kernel files are checked for.

    Others go to the compiler unchecked.
    """
    api: ApiNames | None = None
    """How the names of its Python API are listed for a release; ``None`` where they are not."""
    script: ScriptForm | None = None
    """The form of a repro script's call; ``None`` without scripts."""
    guarding: Guarding | None = None
    """How libraries choose variants; ``None`` where they cannot."""
    guessing: Guessing | None = None
    """How to find kernels in Python sources and guess their arguments.

    ``None`` if kernels need kernel files.
    """
    edits: tuple[KnownEdit, ...] = ()
    """The known edits that make kernels compile, the smallest first."""
    simplification: Simplification = Factory(Simplification)
    """How kernels are made smaller."""


@frozen(kw_only=True)
class Device:
    """The devices that kernels are compiled for, and their replacements if there are none."""

    targets: tuple[Target, ...]
    """The targets that it compiles for without a declaration, in the order of listings."""
    gpus: Mapping[str, str] = Factory(dict)
    """The name of a GPU, in small letters and digits only → the name of its target."""
    usual_targets: tuple[str, ...] = ()
    """The names of the targets that are compiled for by default; empty for all of them."""
    models: Mapping[str, GpuModel] = Factory(dict)
    """The name of a target → the GPU that is assumed for it.

    Programs can be captured for these targets without a GPU.
    """
    capturing: Capturing | None = None
    """How launches are captured; ``None`` where they are not."""
    interpreter: Interpreter | None = None
    """How kernels are run on the CPU to check their numbers; ``None`` where they cannot be."""
    pairing: Pairing | None = None
    """The test of PyTorch with a release; ``None`` without one."""

    def facts(self, target: Target) -> JsonObject:
        """Return the facts about a target that code inside of envs and programs gets.

        They include the GPU that is assumed for the target's architecture.
        """
        facts: JsonObject = {
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


@frozen(kw_only=True)
class IntermediateForms:
    """The intermediate representations of a compile.

    The fields say which stages print them, and what releases can exchange.
    """

    texts: tuple[str, ...] = ()
    """The stages that make text, in order; empty if passes cannot be distinguished."""
    parts: CompilerParts | None = None
    """The parts of the compiler to which a change between two releases can be traced.

    ``None`` if it cannot be traced.
    """
    cut_reproducer: Callable[[str, str, str], str | None] = lambda _reproducer, _ir, _name: None
    """Reproducer of a pipeline, IR before a pass, name of the pass → reproducer of that pass.

    The result is ``None`` if that cannot be made.
    """


@frozen(kw_only=True)
class Toolchain:
    """One compiler with all its releases.

    It has facts about the releases, and one record for each job that differs between compilers.
    """

    name: str
    """The name in ``matrix.toml`` and in the names of envs: ``triton``."""
    title: str
    """The name for readers: ``Triton``."""
    distribution: str
    """The name that its releases are published under. Anything else is a fork."""
    adapter: Path
    """The folder that a worker loads inside an env (see :mod:`compat.worker.adapter`)."""
    stages: tuple[str, ...]
    """The stages of a compile, in order, from the imported kernel file to the binary."""
    releases: Path | None = None
    """A file with its releases and their requirements, for projects that declare none.

    It has ``schema``, ``env`` and ``companion``, as in ``matrix.toml``. A project compiles on the
    group ``releases`` by default.
    """
    oldest: Version | None = None
    """The oldest release that is tried without being named; ``None`` for all.

    Compilers before it take kernels in another form.
    """
    only_named: bool = False
    """Whether its releases need the toolchain's name.

    Then a word without one (``3.9``, ``>=4``, ``newest``) means its releases only if no others are
    there.
    """
    repository: str | None = None
    """The URL of its source, which has tags like ``v3.1.0``; on GitHub."""
    commits_command: tuple[str, ...] = ()
    """The command line of a program that bisects its commits between ``--good`` and ``--bad``.

    It runs in a clone.
    """
    framework: Framework = PYTORCH
    framework_of: Callable[[Version | None], str | None] = lambda _release: None
    """A release → the framework's matching release; ``None`` → the newest known. The result is
    ``None`` if the framework's release is unknown.
    """
    variables: Variables = Factory(Variables)
    language: Language
    device: Device
    ir: IntermediateForms = Factory(IntermediateForms)
    failures: Knowledge
    """Its failure classes and predictions, and how its releases word failures."""
    launching: Launching | None = None
    """How compiled kernels are launched on another host; ``None`` where they are not."""
    programs: Callable[[], ProgramLanguage[Any]] | None = None
    """Imports its generated programs; ``None`` without any. Raises ModuleNotFoundError without
    NumPy.
    """

    def facts(self, target: Target, release: Version | None) -> JsonObject:
        """Return the facts about a target that a worker gets.

        They include the GPU and the framework that are assumed if code asks for them.
        """
        facts = self.device.facts(target)
        if release is not None and (framework := self.framework_of(release)):
            facts["framework"] = framework
        elif newest := self.framework_of(None):
            facts["assumed_framework"] = newest
        return facts

    @property
    def reader(self) -> OutputReader:
        """The reader of the output of its compilers."""
        return self.failures.wording.reader

    @property
    def every_stage(self) -> tuple[str, ...]:
        """All stages that a cell can be in."""
        return (SOURCE_STAGE, *self.stages, *LATER_STAGES)
