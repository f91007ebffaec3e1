"""Small packages written into a folder, and their kernels' cells attempted in an env."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from compat.diagnosis import classify
from compat.executors.executor import Batch, LocalExecutor
from compat.model import BuiltEnv, Cell, CompileSpec, Evidence, Outcome, Specialization
from compat.source.closure import read_source, roots_of
from compat.toolchains import of
from compat.workers.attempt import Limits
from tests.cells import KEPT
from tests.targets import TARGETS

HEADER = "import triton\nimport triton.language as tl\nimport torch\n"
KERNEL = """
@triton.jit
def kernel(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(result + at, {value})
"""
PLAIN = KERNEL.format(value="tl.load(source + at)")


def written(folder: Path, files: Mapping[str, str]) -> Path:
    """Write these files; the folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def spec(
    path: Path, function: str = "kernel", constexprs: Mapping[str, Any] | None = None
) -> Specialization:
    roots = roots_of(path)
    return Specialization(
        kernel=path.stem,
        variant="as_written",
        case="only",
        source=str(path),
        roots=tuple(map(str, roots)),
        function=function,
        compile=CompileSpec(
            signature={"source": "*fp32", "result": "*fp32", "size": "i32"},
            constexprs={"BLOCK": 64, **(constexprs or {})},
        ),
        closure=read_source(path, roots).closure,
    )


def attempted(built: BuiltEnv, spec: Specialization, target: str = "sm_90") -> Evidence:
    """One attempt at a cell."""
    (evidence,) = attempted_each(built, [spec], target)
    return evidence


def attempted_each(
    built: BuiltEnv, specs: Sequence[Specialization], target: str = "sm_90"
) -> Iterator[Evidence]:
    """One attempt at each cell, by one worker, in a process of its own."""
    with LocalExecutor(idle_timeout=KEPT) as executor:
        for spec in specs:
            cell = Cell(env=built.env, target=TARGETS[target], spec=spec)
            with closing(
                executor.submit(Batch([cell], built, Limits(deadline=60, memory=4 << 30)))
            ) as stream:
                (cell_attempts,) = stream
            yield cell_attempts.attempts[0]


def outcome(built: BuiltEnv, spec: Specialization, target: str = "sm_90") -> Outcome:
    """What one attempt means."""
    return meaning(built, attempted(built, spec, target), target)


def meaning(built: BuiltEnv, attempt: Evidence, target: str = "sm_90") -> Outcome:
    """What an attempt means."""
    return classify.classify([attempt], target=TARGETS[target], knowledge=of(built.env).failures)
