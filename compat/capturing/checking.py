"""Whether the code of captured kernels is what the program itself compiles, byte by byte, in the environment of the program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from enum import StrEnum

from attrs import frozen

from compat import toolchains
from compat.capturing.assembling import Captured
from compat.capturing.records import ProgramPython, RecordedLaunch
from compat.capturing.settings import capturing
from compat.diagnosis.classify import classify
from compat.engine.run import concurrently
from compat.executors.executor import Batch, CellAttempts, LocalExecutor
from compat.model import BuiltEnv, Cell, Env, Specialization, Target
from compat.processes.procfs import available_cores
from compat.workers.attempt import Compile, Limits, Mode

_LIMITS = Limits(deadline=120.0, memory=8 << 30)


class Agreement(StrEnum):
    """What a comparison came to."""

    EQUAL = "equal"
    """The same assembly code; or both fail to compile."""
    DIFFERENT = "different"
    UNKNOWN = "unknown"
    """One of them is not known."""


@frozen(kw_only=True)
class CodeComparison:
    """A case whose code was compared with that of the program."""

    kernel: str
    case: str
    agreement: Agreement
    why: str = ""
    """What differs, or why nothing is known."""


def compare(captured: Captured, target: Target, built: BuiltEnv | None = None, *, fake: bool = False) -> tuple[CodeComparison, ...]:
    """Compile the cases whose launches the program compiled, where it did, and compare.

    ``built`` is an env with the program's toolchain, where that of the program is not to be used. Where the GPU was a ``fake``,
    what a kernel's modules ask PyTorch while they are imported is answered for it here, too.
    """
    release = captured.recorded.release
    pairs = tuple(_asked(captured))
    if release is None or not pairs:
        return ()
    interpreter = captured.recorded.toolchains[release]
    if built is None and not interpreter.has_its_own:
        why = "the program's toolchain was found by PYTHONPATH"
        return tuple(CodeComparison(kernel=spec.kernel, case=spec.case, agreement=Agreement.UNKNOWN, why=why) for spec, _ in pairs)
    hidden = capturing().hidden if fake else ()
    return tuple(_compared(pairs, built or built_env(interpreter, release), target, hidden))


def built_env(interpreter: ProgramPython, release: str) -> BuiltEnv:
    """The environment of a program, as one that cells can be compiled in."""
    env = Env(name=f"of the program ({release})")
    return BuiltEnv(env=env, python=interpreter.executable, python_version=interpreter.version, digest=interpreter.executable)


def _asked(captured: Captured) -> Iterator[tuple[Specialization, RecordedLaunch]]:
    for kernel in captured.kernels:
        by_case = {spec.case: spec for spec in captured.specs[kernel.name]}
        for case in kernel.cases:
            for launch in case.launches:
                if launch.original is not None and launch.release == captured.recorded.release:
                    yield by_case[case.name], launch
                    break


def _compared(
    asked: Sequence[tuple[Specialization, RecordedLaunch]], built: BuiltEnv, target: Target, hidden: tuple[str, ...]
) -> Iterator[CodeComparison]:
    by_kernel: dict[str, list[tuple[Specialization, RecordedLaunch]]] = {}
    for spec, launch in asked:
        by_kernel.setdefault(spec.kernel, []).append((spec, launch))
    with LocalExecutor() as executor:
        for comparisons in concurrently(
            lambda pairs: _of_kernel(pairs, built, target, executor, hidden), by_kernel.values(), available_cores()
        ):
            yield from comparisons


def _of_kernel(
    asked: Sequence[tuple[Specialization, RecordedLaunch]],
    built: BuiltEnv,
    target: Target,
    executor: LocalExecutor,
    hidden: tuple[str, ...],
) -> list[CodeComparison]:
    cells = [Cell(env=built.env, target=target, spec=spec) for spec, _ in asked]
    mode = Mode(actions=(Compile(keep_ir=True),), variables=capturing().without_lines, hidden=hidden)
    with closing(executor.submit(Batch.of(cells, built, _LIMITS, mode=mode))) as results:
        return [_judged(cells[each.position], asked[each.position][1], each) for each in results]


def _judged(cell: Cell, launch: RecordedLaunch, attempts: CellAttempts) -> CodeComparison:
    original = launch.original
    assert original is not None
    if original.stage is None and original.error is None:
        return _said(cell, Agreement.UNKNOWN, "the program's own compile came to no code")
    evidence = attempts.attempts[0]
    name = evidence.kept.get(original.stage) if original.stage else None
    if name is not None and original.digest is not None:
        same = capturing().digest(attempts.artifacts[name].decode("utf-8", "replace")) == original.digest
        why = "" if same else "the program compiles to other code"
        return _said(cell, Agreement.EQUAL if same else Agreement.DIFFERENT, why)
    failure = classify(attempts.attempts, target=cell.target, knowledge=toolchains.of(cell.env).failures).failure
    if original.error is not None:
        return _said(
            cell, Agreement.EQUAL if failure else Agreement.DIFFERENT, f"the program's own compile fails: {original.error}"
        )
    message = failure.excerpt.splitlines()[0] if failure and failure.excerpt else "no code came of it"
    return _said(cell, Agreement.DIFFERENT, f"the program compiles it, and here: {message}")


def _said(cell: Cell, agreement: Agreement, why: str) -> CodeComparison:
    return CodeComparison(kernel=cell.spec.kernel, case=cell.spec.case, agreement=agreement, why=why)
