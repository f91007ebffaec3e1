"""Records → a folder of kernel files with their sources, and an index of them."""

from __future__ import annotations

import ast
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from attrs import define, evolve, field

from compat import toolchains
from compat.bundle.frozen import FrozenDefinition, NotFrozen, module_of_frozen, reachable_ids
from compat.capturing.kernels import (
    NOT_IN_NAMES,
    CapturedKernel,
    Case,
    Configs,
    arguments_of,
    cases,
    constexprs_of,
    given_functions,
    needed_launches,
)
from compat.capturing.makers import MADE, Makers
from compat.capturing.origins import (
    ImportQuestion,
    LiveKernel,
    NotLive,
    about,
    import_questions,
    names_used,
)
from compat.capturing.origins import live as live_place
from compat.capturing.records import NotCaptured, ProgramRecords, RecordedLaunch
from compat.config.argument_tables import usual_dtype
from compat.config.kernel_files import ONLY_VARIANT
from compat.config.kernel_writer import write_kernel_file
from compat.errors import ConfigError
from compat.files import TemporaryFolder, replace_file
from compat.model import (
    HINTS,
    RECORDED,
    CompileSpec,
    Problem,
    Specialization,
    TuningRanges,
    arguments,
    constexprs,
)
from compat.source.closure import read_source
from compat.source.parsing import tree_of
from compat.text import join_words, lazy_pattern, read_json, write_json
from compat.toolchains import pytorch
from compat.toolchains.base import Capturing

INDEX = "index.json"
SCHEMA = 1
PROBLEMS = pytorch.FOLDER / "numerics" / "recorded_problems.py"
"""The file that repeats recorded launches. A copy of it is beside the kernel files."""
_QUESTIONS = 3
"""The most import-time questions that a kernel file names. The index has all."""
_NAME = lazy_pattern(r"[A-Za-z0-9_.+-]+")


@define(kw_only=True)
class CapturedFiles:
    """The kernels and files made from records."""

    records: ProgramRecords
    kernels: tuple[CapturedKernel, ...] = ()
    not_captured: tuple[NotCaptured, ...] = ()
    never_launched: tuple[tuple[str, str], ...] = ()
    """Module and name of jit functions that no launched kernel is or uses.

    Only the packages of launched kernels and of the functions that these use count.
    """
    not_live: tuple[NotCaptured, ...] = ()
    """Kernels that are bundles, although the caller asked to refer to their sources."""
    conditionals: tuple[ImportQuestion, ...] = ()
    specs: Mapping[str, tuple[Specialization, ...]] = field(factory=dict)
    """Kernel → its specializations, as read from its kernel file."""
    without_problem: tuple[tuple[str, str, str], ...] = ()
    """Cases without a problem, although the caller asked for one: kernel, case, and reason."""
    in_the_way: tuple[str, ...] = ()
    """Files that no capture has written and that have a kernel's file name. The kernel has another
    name instead.
    """

    @property
    def launched_count(self) -> int:
        """How many kernels were launched.

        Captured kernels differ by content or place, and kernels without a captured launch by module
        and name.
        """
        launched = [kernel for kernel in self.kernels if kernel.is_launched]
        others = {(kernel.module, kernel.name) for kernel in self.not_captured} - {
            (kernel.module, kernel.function) for kernel in launched
        }
        return len(launched) + len(others)

    @property
    def only_compiled(self) -> int:
        """How many captured kernels were compiled and never launched."""
        return sum(not kernel.is_launched for kernel in self.kernels)

    @property
    def cases(self) -> int:
        """How many cases all kernels have."""
        return sum(len(kernel.cases) for kernel in self.kernels)


def assemble(
    recorded: ProgramRecords, output: Path, *, configs: Configs, origin: str, live: bool = False
) -> CapturedFiles:
    """Write the kernel files of recorded launches, and replace those of an earlier capture.

    ``origin`` is a text for each file that says where the file comes from. With ``live`` the files
    refer to kernels in their own sources where possible. Files that no capture has written stay as
    they are. Raises OSError if a file cannot be written.
    """
    captured = CapturedFiles(records=recorded)
    places, not_live = _live(recorded) if live else ({}, [])
    kernels, failed = _kernels(recorded, places)
    captured.in_the_way = tuple(_name(kernels, output))
    failed += dict.fromkeys(recorded.unrecorded)
    _make_room(output)
    written: list[CapturedKernel] = []
    for kernel in kernels:
        launches = [
            launch for launch in recorded.launches.values() if launch.function in kernel.ids
        ]
        kernel.graph = next((launch.graph for launch in launches if launch.graph), ())
        kernel.cases = cases(needed_launches(launches, configs), recorded)
        kernel.questions = () if kernel.live else _kernel_questions(kernel, recorded)
        try:
            specs, reasons = _write_possible(kernel, recorded, output, origin)
            captured.specs = {**captured.specs, kernel.name: specs}
            written.append(kernel)
        except ConfigError as error:
            reasons = (str(error),)
        failed += [
            NotCaptured(module=kernel.module, name=kernel.function, why=why) for why in reasons
        ]
    captured.without_problem = tuple(
        case for kernel in written for case in _without_problem(kernel)
    )
    captured.kernels, captured.not_captured = tuple(written), tuple(failed)
    captured.not_live = tuple(
        kernel_ for kernel_ in not_live if kernel_.name in {kernel.function for kernel in written}
    )
    captured.never_launched = _never_launched(recorded)
    captured.conditionals = tuple(
        sorted(
            {question for kernel in written for question in kernel.questions},
            key=ImportQuestion.place,
        )
    )
    return captured


def _launched_ids(recorded: ProgramRecords) -> list[str]:
    return [
        function_id
        for function_id in dict.fromkeys(launch.function for launch in recorded.launches.values())
        if function_id in recorded.functions
    ]


# --- kernels --------------------------------------------------------------------------------------


def _live(recorded: ProgramRecords) -> tuple[dict[str, LiveKernel], list[NotCaptured]]:
    """Id → place, of launched functions that a kernel file can refer to; and all others."""
    places: dict[str, LiveKernel] = {}
    others: dict[NotCaptured, None] = {}
    for function_id, passed in _passed_functions(recorded).items():
        function = recorded.functions[function_id]
        try:
            if passed:
                raise NotLive("functions are passed to it")
            places[function_id] = live_place(function)
        except NotLive as error:
            others[NotCaptured(module=function.module, name=function.name, why=str(error))] = None
    return places, list(others)


def _kernels(
    recorded: ProgramRecords, places: Mapping[str, LiveKernel]
) -> tuple[list[CapturedKernel], list[NotCaptured]]:
    """The kernels, which differ by content or place; and those that cannot be bundled."""
    kernels: dict[tuple[str, object], CapturedKernel] = {}
    failed: dict[NotCaptured, None] = {}
    capturing = _capturing(recorded)
    with TemporaryFolder("compat-frozen-") as folder:
        for number, (function_id, passed) in enumerate(_passed_functions(recorded).items()):
            function = recorded.functions[function_id]
            if live := places.get(function_id):
                kernel = CapturedKernel(
                    name="", function=live.function, module=function.module, text="", live=live
                )
                kernels.setdefault((function.name, live), kernel).ids.add(function_id)
                continue
            place = folder / str(number)
            place.mkdir()
            try:
                text = module_of_frozen(
                    function_id,
                    passed,
                    recorded.functions,
                    place,
                    capturing.frozen_form,
                    optional=_is_asked_for,
                    toolchain=recorded.toolchain,
                )
            except NotFrozen as error:
                failed[NotCaptured(module=function.module, name=function.name, why=str(error))] = (
                    None
                )
                continue
            kernel = CapturedKernel(
                name="", function=function.name, module=function.module, text=text
            )
            kernels.setdefault((function.name, text), kernel).ids.add(function_id)
    return sorted(
        kernels.values(), key=lambda captured: (captured.function, captured.module, captured.text)
    ), list(failed)


def _capturing(recorded: ProgramRecords) -> Capturing:
    """How the toolchain of the records captures launches."""
    capturing = toolchains.look_up(recorded.toolchain).device.capturing
    assert capturing is not None
    return capturing


def _is_asked_for(function: FrozenDefinition, name: str) -> bool:
    """Whether the meaning of a name depends on a question that a module asked during its import.

    The module is the function's own, or the one that the name comes from.
    """
    return bool(function.file and about(function.module, Path(function.file), name))


def _passed_functions(recorded: ProgramRecords) -> dict[str, dict[str, str]]:
    """Launched function → the functions that its launches pass it."""
    passed: dict[str, dict[str, str]] = {function_id: {} for function_id in _launched_ids(recorded)}
    for launch in recorded.launches.values():
        if launch.function in passed:
            passed[launch.function] |= given_functions(launch, recorded)
    return passed


def _name(kernels: Sequence[CapturedKernel], output: Path) -> Iterator[str]:
    """Give each kernel a unique name, and yield the files that block a name.

    No capture has written those files, so they may not be replaced.
    """
    replaceable = set(_indexed_files(output / INDEX))
    names: set[str] = set()
    for kernel in kernels:
        for name in _candidates(_wanted_name(kernel, kernels)):
            others = [
                file
                for file in (f"{name}.toml", f"{name}.py")
                if file not in replaceable and (output / file).exists()
            ]
            yield from others
            if name not in names and not others:
                break
        kernel.name = name
        names.add(name)


def _wanted_name(kernel: CapturedKernel, kernels: Sequence[CapturedKernel]) -> str:
    """The name of the kernel's function, with ``_`` for characters that no name may have.

    The module comes before it if functions of other modules have the same name.
    """
    modules = {_module_name(other) for other in kernels if other.function == kernel.function}
    name = (
        f"{_tail(_module_name(kernel), modules)}.{kernel.function}"
        if len(modules) > 1
        else kernel.function
    )
    return NOT_IN_NAMES.sub("_", name)


def _module_name(kernel: CapturedKernel) -> str:
    return kernel.module.removesuffix(".py")  # a program is recorded as its file


def _candidates(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{number}" for number in count(2))


def _tail(module: str, modules: Collection[str]) -> str:
    """The shortest end of a module's name that no other module's name has."""
    parts = module.split(".")
    tails = (".".join(parts[-length:]) for length in range(1, len(parts)))
    return next(
        (tail for tail in tails if sum(f".{other}".endswith(f".{tail}") for other in modules) == 1),
        module,
    )


def _write_possible(
    kernel: CapturedKernel, recorded: ProgramRecords, output: Path, origin: str
) -> tuple[tuple[Specialization, ...], tuple[str, ...]]:
    """Write a kernel with the cases that a kernel file can describe, which become its only ones.

    Returns their specializations, and why the other cases cannot be described. Raises ConfigError
    if that is so for all cases.
    """
    try:
        return _write(kernel, recorded, output, origin), ()
    except ConfigError:
        reasons: dict[str, str] = {}
        for case in kernel.cases:
            try:
                _write(evolve(kernel, cases=(case,)), recorded, output, origin)
            except ConfigError as error:
                reasons[case.name] = str(error)
        if len(reasons) in (0, len(kernel.cases)):
            raise
    kernel.cases = tuple(case for case in kernel.cases if case.name not in reasons)
    return _write(kernel, recorded, output, origin), tuple(dict.fromkeys(reasons.values()))


def _write(
    kernel: CapturedKernel, recorded: ProgramRecords, output: Path, origin: str
) -> tuple[Specialization, ...]:
    source, roots = output / f"{kernel.name}.py", tuple[Path, ...]()
    makers = Makers(form=_capturing(recorded).frozen_form)
    try:
        compiles = [_compile(case.first, recorded, makers) for case in kernel.cases]
    except constexprs.UnknownForm as error:
        raise ConfigError(f"a kernel file cannot describe its arguments: {error}") from error
    if kernel.live:
        source, roots = kernel.live.source, (kernel.live.root,)
    else:
        replace_file(source, kernel.text + makers.text)
    base = Specialization(
        kernel=kernel.name,
        variant=ONLY_VARIANT,
        case="",
        toolchain=recorded.toolchain,
        source=str(source),
        roots=tuple(map(str, roots)),
        function=kernel.function,
        closure=read_source(source, roots).closure,
        summary=f"{kernel.module}: {origin}{_questions_note(kernel)}",
        assumed=HINTS,
    )
    try:
        specs = [
            evolve(_case(base, case, compile_, output), tuning=_tuning(kernel, compile_.constexprs))
            for case, compile_ in zip(kernel.cases, compiles, strict=True)
        ]
        return _write_specializations(specs, kernel, output / f"{kernel.name}.toml")
    except ConfigError as error:
        with suppress(OSError):
            (output / f"{kernel.name}.py").unlink()
        message = str(error).removeprefix(f"{getattr(error, 'where', None)}: ")
        raise ConfigError(f"a kernel file cannot describe its arguments: {message}") from error


def _tuning(kernel: CapturedKernel, settings: Collection[str]) -> TuningRanges:
    """Let `compat tune` compare all cases of one problem as configs, as the autotuner did."""
    names = {name for case in kernel.cases for launch in case.launches for name in launch.tunes}
    return TuningRanges(constexprs={name: () for name in sorted(names) if name in settings})


def _write_specializations(
    specs: Sequence[Specialization], kernel: CapturedKernel, path: Path
) -> tuple[Specialization, ...]:
    """Write the kernel file, without problems if it cannot describe them. Raises ConfigError."""
    try:
        return write_kernel_file(specs, path)
    except ConfigError:
        if all(spec.problem is None for spec in specs):
            raise
    specs_ = write_kernel_file([evolve(spec, problem=None) for spec in specs], path)
    for case in kernel.cases:
        case.first.inputs = {"why": "a kernel file cannot describe what was passed to it"}
    return specs_


def _case(base: Specialization, case: Case, compile_: CompileSpec, output: Path) -> Specialization:
    inputs = case.first.inputs or {}
    if RECORDED not in inputs:
        return evolve(base, case=case.name, compile=compile_)
    source = _problems_file(output)
    problem = Problem(
        source=os.path.realpath(source),
        function=RECORDED,
        closure=read_source(source).closure,
        dtype=usual_dtype(compile_) or "fp32",  # the function ignores it
        parameters={**compile_.constexprs, RECORDED: inputs[RECORDED]},
    )
    return evolve(base, case=case.name, compile=compile_, problem=problem)


def _problems_file(output: Path) -> Path:
    """Write the file whose functions make the inputs of recorded launches, and return its path.

    It has another name if the usual one is a file that no capture has written.
    """
    text = PROBLEMS.read_text(encoding="utf-8")
    for name in _candidates(PROBLEMS.stem):
        path = output / f"{name}.py"
        if not path.exists():
            replace_file(path, text)
        if path.read_text(encoding="utf-8", errors="replace") == text:
            return path
    raise AssertionError("every name is in use")


def _without_problem(kernel: CapturedKernel) -> Iterator[tuple[str, str, str]]:
    for case in kernel.cases:
        if case.first.inputs is not None and RECORDED not in case.first.inputs:
            yield (
                kernel.name,
                case.name,
                str(case.first.inputs.get("why") or "its arguments are unknown"),
            )


def _compile(launch: RecordedLaunch, recorded: ProgramRecords, makers: Makers) -> CompileSpec:
    elements = toolchains.look_up(recorded.toolchain).language.types.elements
    launch_arguments = arguments_of(launch, recorded)
    values = {
        name: constexprs.read(value) for name, value in constexprs_of(launch, recorded).items()
    }
    if launch.signature:
        hints: Any = {hint: tuple(names) for hint, names in launch.hints.items()}
        return CompileSpec(
            signature=launch.signature, constexprs=values, options=launch.options, **hints
        ).with_tuples()
    if not elements:  # kernel files of such a toolchain have types instead of a launch's arguments
        signature = {
            name: _argument_type(name, value, makers) for name, value in launch_arguments.items()
        }
        return CompileSpec(signature=signature, constexprs=values, options=launch.options)
    read = {name: arguments.read(value, elements) for name, value in launch_arguments.items()}
    return CompileSpec(launch=read, constexprs=values, options=launch.options).with_tuples()


def _argument_type(name: str, value: object, makers: Makers) -> Any:
    """The type of a recorded argument, or the call that makes its value."""
    return (
        makers.type_of(name, value[MADE]) if isinstance(value, Mapping) and MADE in value else value
    )


# --- further results ------------------------------------------------------------------------------


def _never_launched(recorded: ProgramRecords) -> tuple[tuple[str, str], ...]:
    passed = _passed_functions(recorded)
    roots = {
        *passed,
        *(function_id for functions in passed.values() for function_id in functions.values()),
    }
    used = {
        (function.module, name)
        for root in roots
        for used_id in reachable_ids(root, recorded.functions)
        for function in [recorded.functions[used_id]]
        for name in (function.name, *_methods(function))
    }
    used |= {(launch.module, launch.name) for launch in recorded.unrecorded}
    packages = {module.partition(".")[0] for module, _ in used}
    # A framework launches copies of the program's kernels.
    copied = {
        recorded.functions[used_id].name
        for launch in recorded.launches.values()
        if launch.signature
        for used_id in reachable_ids(launch.function, recorded.functions)
    }
    return tuple(
        sorted(
            (module, name)
            for module, name in recorded.defined - used
            if module.partition(".")[0] in packages and name not in copied
        )
    )


def _methods(function: FrozenDefinition) -> list[str]:
    """The methods of a class that kernels use. No program launches them."""
    if function.kind != "class" or not function.source:
        return []
    definition = tree_of(function.source).body[0]
    body = definition.body if isinstance(definition, ast.ClassDef) else []
    return [node.name for node in body if isinstance(node, ast.FunctionDef)]


def _kernel_questions(
    kernel: CapturedKernel, recorded: ProgramRecords
) -> tuple[ImportQuestion, ...]:
    """The questions that the modules of a kernel asked during their import.

    Only questions that the kernel, or anything that it uses, depends on count.
    """
    functions = recorded.functions
    ids = {
        used_id for function_id in kernel.ids for used_id in reachable_ids(function_id, functions)
    }
    files = {
        functions[function_id].module: functions[function_id].file
        for function_id in ids
        if functions[function_id].file
    }
    used = names_used(ids, functions)
    for function_id in ids:
        used.setdefault(functions[function_id].module, set()).add(functions[function_id].name)
    questions = (
        question
        for module in sorted(files)
        for question in import_questions(module, Path(files[module]), used.get(module, ()))
    )
    return tuple(dict.fromkeys(questions))  # two modules may use one name


def _questions_note(kernel: CapturedKernel) -> str:
    places = [f"{question.module}:{question.line}" for question in kernel.questions]
    return (
        f"; import-time checks with fixed answers: {join_words(places, _QUESTIONS)}"
        if places
        else ""
    )


# --- the folder -----------------------------------------------------------------------------------


def _make_room(output: Path) -> None:
    """Remove the files of an earlier capture."""
    for name in _indexed_files(output / INDEX):
        with suppress(OSError):
            (output / name).unlink()


def _indexed_files(index: Path) -> Iterator[str]:
    """The files that the index of an earlier capture names."""
    try:
        document = read_json(index.read_bytes())
        names = [
            name for kernel in document["kernels"] for name in (kernel["file"], kernel["source"])
        ]
        names += document.get("problems", ())
    except (OSError, ValueError, KeyError, TypeError):
        return
    yield from (
        name
        for name in names
        if isinstance(name, str) and _NAME.fullmatch(name) and name.endswith((".toml", ".py"))
    )


def write_index(document: Mapping[str, object], output: Path) -> Path:
    """Write the index, the last of the files. Raises OSError."""
    replace_file(output / INDEX, write_json(document) + "\n")
    return output / INDEX
