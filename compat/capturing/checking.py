"""The settings of a capture, and the comparison of its code with the program's, byte by byte."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from enum import StrEnum
from pathlib import Path

from attrs import frozen

from compat import toolchains
from compat.capturing.assembling import CapturedFiles
from compat.capturing.kernels import Configs
from compat.capturing.records import ProgramPython, RecordedLaunch
from compat.diagnosis.classify import classify
from compat.engine.run import concurrently
from compat.envs.cache import env_cache
from compat.envs.native import build_library, machine_compiler
from compat.errors import EnvError, SelectionError
from compat.executors.executor import Batch, CellAttempts, LocalExecutor
from compat.model import DEFAULT_TOOLCHAIN, BuiltEnv, Cell, Env, Specialization, Target
from compat.processes.supervisor import AVAILABLE_CORES, run
from compat.text import group_by_key
from compat.toolchains.base import Capturing, Toolchain
from compat.workers.attempt import Compile, Limits, Mode

_LIMITS = Limits(deadline=120.0, memory=8 << 30)
_FIND = """
import importlib.util, sys
print(*importlib.util.find_spec(sys.argv[1]).submodule_search_locations)
"""


class Agreement(StrEnum):
    """The result of a comparison."""

    EQUAL = "equal"
    """The same assembly code; or both fail to compile."""
    DIFFERENT = "different"
    UNKNOWN = "unknown"
    """One of the two codes is unknown."""


@frozen(kw_only=True)
class CodeComparison:
    """A case whose code was compared with that of the program."""

    kernel: str
    case: str
    agreement: Agreement
    why: str = ""
    """The difference, or the reason why there was no comparison."""


def compare(
    captured: CapturedFiles, target: Target, built: BuiltEnv | None = None, *, fake: bool = False
) -> tuple[CodeComparison, ...]:
    """Compile the cases that the program compiled, in the program's environment, and compare.

    ``built`` is an env with the program's toolchain, to use instead of the program's environment.
    If the GPU was ``fake``, the stand-in also answers here what a kernel's modules ask PyTorch
    during their import.
    """
    release = captured.records.release
    pairs = tuple(_comparable_launches(captured))
    if release is None or not pairs:
        return ()
    interpreter = captured.records.interpreters[release]
    if built is None and not _finds_its_toolchain(interpreter):
        why = "the program found its toolchain through PYTHONPATH"
        return tuple(
            CodeComparison(kernel=spec.kernel, case=spec.case, agreement=Agreement.UNKNOWN, why=why)
            for spec, _ in pairs
        )
    toolchain = toolchains.look_up(captured.records.toolchain)
    return tuple(
        _compare_kernels(
            pairs,
            built or _built_env(interpreter, release, toolchain),
            target,
            capturing_of(toolchain),
            fake=fake,
        )
    )


def _finds_its_toolchain(python: ProgramPython) -> bool:
    """Whether workers find the program's toolchain, although they ignore ``PYTHONPATH``.

    The environment may have it through a ``.pth`` file or the packages of the system.
    """
    package = Path(python.toolchain).name
    find = [python.executable, "-I", "-c", _FIND, package]
    return python.has_its_own or (
        python.toolchain in run(find, timeout=_LIMITS.deadline).output.splitlines()
    )


def _built_env(interpreter: ProgramPython, release: str, toolchain: Toolchain) -> BuiltEnv:
    """The environment of a program, as an env that can compile cells."""
    env = Env(
        name=f"of the program ({release})",
        toolchain=toolchain.name,
        distribution=toolchain.distribution,
    )
    return BuiltEnv(
        env=env,
        python=interpreter.executable,
        python_version=interpreter.version,
        digest=interpreter.executable,
    )


def _comparable_launches(
    captured: CapturedFiles,
) -> Iterator[tuple[Specialization, RecordedLaunch]]:
    for kernel in captured.kernels:
        by_case = {spec.case: spec for spec in captured.specs[kernel.name]}
        for case in kernel.cases:
            for launch in case.launches:
                if launch.original is not None and launch.release == captured.records.release:
                    yield by_case[case.name], launch
                    break


def _compare_kernels(
    launches: Sequence[tuple[Specialization, RecordedLaunch]],
    built: BuiltEnv,
    target: Target,
    capturing: Capturing,
    *,
    fake: bool,
) -> Iterator[CodeComparison]:
    by_kernel = group_by_key((spec.kernel, (spec, launch)) for spec, launch in launches)
    with LocalExecutor() as executor:
        for comparisons in concurrently(
            lambda pairs: _of_kernel(pairs, built, target, executor, capturing, fake=fake),
            by_kernel.values(),
            AVAILABLE_CORES,
        ):
            yield from comparisons


def _of_kernel(
    launches: Sequence[tuple[Specialization, RecordedLaunch]],
    built: BuiltEnv,
    target: Target,
    executor: LocalExecutor,
    capturing: Capturing,
    *,
    fake: bool,
) -> list[CodeComparison]:
    cells = [Cell(env=built.env, target=target, spec=spec) for spec, _ in launches]
    mode = Mode(
        actions=(Compile(keep_ir=True),),
        variables=capturing.without_lines,
        hidden_packages=capturing.hidden_packages if fake else (),
    )
    with closing(executor.submit(Batch(cells, built, _LIMITS, mode=mode))) as results:
        return [
            _judge_launch(
                cells[result.position], launches[result.position][1], result, capturing.digest
            )
            for result in results
        ]


def _judge_launch(
    cell: Cell, launch: RecordedLaunch, attempts: CellAttempts, digest: Callable[[str], str]
) -> CodeComparison:
    original = launch.original
    assert original is not None
    if original.stage is None and original.error is None:
        return _comparison(cell, Agreement.UNKNOWN, "the program's own compile produced no code")
    evidence = attempts.attempts[0]
    name = evidence.artifacts.get(original.stage) if original.stage else None
    if name is not None and original.digest is not None:
        same = (
            digest(attempts.artifacts[name].decode("utf-8", "surrogateescape")) == original.digest
        )
        why = "" if same else "the program's own code differs"
        return _comparison(cell, Agreement.EQUAL if same else Agreement.DIFFERENT, why)
    failure = classify(
        attempts.attempts, target=cell.target, knowledge=toolchains.of(cell.env).failures
    ).failure
    if original.error is not None:
        return _comparison(
            cell,
            Agreement.EQUAL if failure else Agreement.DIFFERENT,
            f"the program's own compile fails: {original.error}",
        )
    message = (
        failure.excerpt.splitlines()[0] if failure and failure.excerpt else "it produced no code"
    )
    return _comparison(
        cell, Agreement.DIFFERENT, f"it compiles in the program, but not here: {message}"
    )


def _comparison(cell: Cell, agreement: Agreement, why: str) -> CodeComparison:
    return CodeComparison(
        kernel=cell.spec.kernel, case=cell.spec.case, agreement=agreement, why=why
    )


class CodeCheck(StrEnum):
    """The cases whose code is compared with the program's own compile."""

    NOTHING = "nothing"
    KERNELS = "kernels"
    """One case of each kernel."""
    CASES = "cases"
    """Every case."""


@frozen(kw_only=True)
class Options:
    """Options of a capture."""

    toolchain: str = DEFAULT_TOOLCHAIN
    """Name of the toolchain whose launches are captured."""
    output: Path = Path("captured")
    """Folder for the kernel files."""
    target: str | None = None
    """A target or the name of a GPU: the device that a program without a GPU sees."""
    configs: Configs = Configs.ALL
    """Which configurations of an autotuned kernel are captured."""
    live: bool = False
    """Refer to kernels by module and name where possible, instead of writing bundles."""
    with_values: bool = False
    """Keep the values of numbers that do not affect compilation."""
    problems: bool = False
    """Also record shapes, strides and small integers of launches, so that results can be
    checked.
    """
    check: CodeCheck = CodeCheck.KERNELS
    """How the code of a captured kernel is compared with the code that the program compiled."""
    fake: bool | None = None
    """Install a fake GPU. ``None``: only if there is no GPU."""

    @property
    def is_fake(self) -> bool:
        """Whether a fake GPU is installed."""
        return (
            not capturing_of(toolchain_of(self.toolchain)).has_device()
            if self.fake is None
            else self.fake
        )


def toolchain_of(name: str) -> Toolchain:
    """The toolchain with a name, whose launches can be captured.

    Raises SelectionError if there is no such toolchain, or if it has no recorder.
    """
    toolchain = toolchains.find(name)
    if toolchain is None or toolchain.device.capturing is None:
        hint = f"Choose one of: {', '.join(choice.name for choice in capturable_toolchains())}."
        unable = toolchain and f"launches of {toolchain.title} cannot be captured"
        raise SelectionError(unable or "unknown toolchain", where=f"--toolchain {name}", hint=hint)
    return toolchain


def capturable_toolchains() -> tuple[Toolchain, ...]:
    """The toolchains whose launches can be captured."""
    return tuple(toolchain for toolchain in toolchains.every() if toolchain.device.capturing)


def capturing_of(toolchain: Toolchain) -> Capturing:
    """How a toolchain captures launches. The toolchain must have a recorder."""
    assert toolchain.device.capturing is not None
    return toolchain.device.capturing


def target_of(name: str | None, toolchain: Toolchain) -> Target:
    """The target with the name of a target or GPU; ``None`` means the toolchain's default.

    Raises SelectionError if there is no such target, or if it has no stand-in.
    """
    name, device = name or capturing_of(toolchain).usual, toolchain.device
    target = next(
        (
            target
            for target in device.targets
            if target.name == name or toolchains.is_of_gpu(target, name)
        ),
        None,
    )
    if target is None or target.name not in device.models:
        unknown = target and f"there is no stand-in for a GPU of {target.name}"
        hint = f"Choose one of: {', '.join(device.models)}."
        raise SelectionError(unknown or "unknown target", where=f"--target {name}", hint=hint)
    return target


def recorder_settings(options: Options, folder: Path) -> dict[str, object]:
    """The settings for the recorder.

    Raises SelectionError for an unknown toolchain or target.
    """
    toolchain = toolchain_of(options.toolchain)
    return {
        "toolchain": toolchain.name,
        "folder": str(folder),
        "fake": options.is_fake,
        "with_values": options.with_values,
        "problems": options.problems,
        "originals": str(options.check),
        "driver": _driver(toolchain) if options.is_fake else None,
        "target": toolchain.device.facts(target_of(options.target, toolchain)),
    }


def _driver(toolchain: Toolchain) -> str | None:
    """The library that stands in for a GPU's driver, built with the machine's compiler.

    ``None`` without a compiler, or if the toolchain has no such library.
    """
    pairing, compiler = toolchain.device.pairing, machine_compiler()
    if pairing is None or compiler is None:
        return None
    try:
        cache = env_cache(None)
        folder = build_library(pairing.source, pairing.library, pairing.also, compiler, cache)
    except EnvError:
        return None
    return str(folder / pairing.library)


def variables(
    settings: Mapping[str, object], capturing: Capturing, cache: Path | None
) -> dict[str, str]:
    """The environment variables with which a program and its children are recorded.

    ``cache`` is the folder of compiled kernels, if the program must not find earlier ones.
    """
    paths = [str(capturing.start), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {capturing.variable: json.dumps(settings), "PYTHONPATH": os.pathsep.join(paths)}
    caches = {} if cache is None else {name: str(cache / name) for name in capturing.caches}
    return environment | dict(capturing.settings) | caches


@contextmanager
def in_environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for the processes that this one starts, and restore them after."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
