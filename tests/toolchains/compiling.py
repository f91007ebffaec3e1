"""Functions with which a test attempts single cells."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from compat.bundle.bundle import bundle
from compat.model import BuiltEnv, Cell, Evidence, Specialization
from compat.repro.script import Script
from compat.store.store import Store
from compat.toolchains import DEFAULT
from compat.toolchains.triton.language.script import SCRIPT, Form, form_of
from compat.workers.attempt import KEEPING_IR, InFlightCell, Limits, Mode
from compat.workers.spawn import OwnWorker
from compat.workers.watch import attempt
from tests.cells import worker
from tests.forking import write_python
from tests.targets import TARGETS

LIMITS = Limits(deadline=120, memory=4 << 30)


def compile_all(
    env: BuiltEnv, cells: Sequence[Cell], *, variables: Mapping[str, str] | None = None
) -> list[Evidence]:
    """Attempt cells of one env in one batch: in one process, one after the other."""
    assert env.python
    with OwnWorker(env.python, variables=variables) if variables else worker(env) as server:
        return [evidence for _, evidence in attempt(server, cells, LIMITS, stop=threading.Event())]


def compile_each(env: BuiltEnv, cells: Sequence[Cell]) -> list[Evidence]:
    """Attempt cells of one env, each in a batch of its own."""
    with worker(env) as server:
        return [
            evidence
            for cell in cells
            for _, evidence in attempt(server, [cell], LIMITS, stop=threading.Event())
        ]


def attempted(env: BuiltEnv, cell: Cell, store: Store, mode: Mode) -> Evidence:
    """One attempt at a cell, whose artifacts the store keeps."""
    with worker(env) as server:
        ((_, evidence),) = attempt(
            server, [cell], LIMITS, stop=threading.Event(), mode=mode, keep=store.keep
        )
    return evidence


def ir_of(env: BuiltEnv, cell: Cell, folder: Path, stage: str = "ttir") -> str:
    """The artifact of a stage of a cell, as text."""
    with Store(folder) as store:
        evidence = attempted(env, cell, store, KEEPING_IR)
        assert stage in evidence.artifacts, evidence
        return (store.artifacts / evidence.artifacts[stage]).read_text()


def failure_text(evidence: Evidence) -> str:
    """All messages of an attempt about a failure, and how a process without an answer ended."""
    end = (
        f"no answer from stage {evidence.stage}: signal {evidence.signal}, exit code"
        f" {evidence.exit_code}, deadline {evidence.deadline}, memory {evidence.memory}"
    )
    raised = (f"{raised.type}: {raised.message}" for raised in evidence.raised)
    return "\n".join([*raised, evidence.stderr, *([] if evidence.answered else [end])])


def script(
    spec: Specialization, target: str, form: Form, *, prediction: str = "", expected: str = "x"
) -> str:
    """A repro script of a kernel, with any expected output."""
    return Script(
        name="s",
        bundle=bundle(spec),
        target=TARGETS[target],
        release="3.9.0",
        form=form,
        toolchain=DEFAULT,
        calls=SCRIPT,
        requires_python=">=3.9",
        dependencies=(),
        headline="It fails.",
        message="",
        expected=expected,
        prediction=prediction,
    ).source()


def run_script(env: BuiltEnv, path: Path) -> subprocess.CompletedProcess[str]:
    """Run a repro script with a Python of an env that has imported Triton."""
    python = write_python(path.with_name("python"), str(env.python), "triton")
    return subprocess.run(
        [python, str(path)], capture_output=True, text=True, timeout=100, check=False
    )


def run_scripts(specs: Sequence[Specialization], env: BuiltEnv, form: Form, folder: Path) -> None:
    """Compile kernels with their repro scripts for sm_90; each script has to succeed."""
    paths = [folder / f"script_{number}.py" for number in range(len(specs))]
    for path, spec in zip(paths, specs, strict=True):
        path.write_text(script(spec, "sm_90", form))
    command = [*map(str, (env.python, Path(__file__).with_name("scripts.py"), *paths))]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert ran.returncode == 0, ran.stderr


def sources_of(
    cells: Sequence[Cell], env: BuiltEnv, release: str, folder: Path
) -> list[tuple[str, str, str]]:
    """The input of the compiler for each cell, as ``described.py`` prints it.

    The three inputs are those of the worker, of a script for the release and of one for all
    releases.
    """
    folders = [folder / str(number) for number in range(len(cells))]
    for place, cell in zip(folders, cells, strict=True):
        place.mkdir()
        (place / "job.json").write_text(json.dumps(InFlightCell(cell=cell, nonce="n").job()))
        for number, form in enumerate((form_of(release), Form.ANY)):
            (place / f"script_{number}.py").write_text(script(cell.spec, cell.target.name, form))
    described = Path(__file__).with_name("described.py")
    command = [*map(str, (env.python, described, DEFAULT.adapter, *folders))]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    lines = iter(ran.stdout.splitlines())
    return list(zip(lines, lines, lines, strict=True))
