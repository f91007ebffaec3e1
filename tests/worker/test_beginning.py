"""Kernels of a library: a worker imports its package once for all of them, and nothing else
changes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from compat.executors.executor import Batch, LocalExecutor
from compat.model import BuiltEnv, Cell, CompileSpec, Env, Evidence, Specialization
from compat.processes.supervisor import children
from compat.source.closure import read_source
from compat.workers import pool
from compat.workers.attempt import PLAIN, Limits, Mode, PreloadedPackage
from compat.workers.client import WorkerClient
from compat.workers.pool import WorkerPool
from compat.workers.spawn import ForkedWorker, OwnWorker
from tests.cells import KEPT
from tests.standin.packages import HEADER, KERNEL, written
from tests.targets import TARGETS
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
LIMITS = Limits(deadline=60, memory=4 << 30)
LIBRARY = {
    "compat-library.json": '{"requirement": "waves==1"}',
    "waves/__init__.py": "",
    "waves/ops/__init__.py": (
        "import warnings, torch, triton\nfrom .told import TOLD\nwarnings.warn('heard by every"
        " kernel')\nMISSING = torch.somewhere.answer()\nif MISSING > 2:\n    LEFT_OUT = 3\n"
    ),
    "waves/ops/told.py": (
        "import os\nTOLD = open(os.path.join(os.path.dirname(__file__), 'told.txt')).read()\n"
    ),
    "waves/ops/told.txt": "2",
    "waves/ops/act.py": (
        HEADER
        + "from . import told\nFACTOR = tl.constexpr(int(told.TOLD))\nTAKEN = tl.constexpr(1 if"
        " __import__('sys').modules.setdefault('once', 0) is None else 4)\n"
        + KERNEL.format(value="tl.load(source + at) * FACTOR")
    ),
    "waves/ops/lacks.py": (
        HEADER
        + "import waves.ops\n"
        + KERNEL.format(value="tl.load(source + at) * waves.ops.LEFT_OUT")
    ),
    "waves/ops/needs.py": (
        HEADER + "import another_package\n" + KERNEL.format(value="tl.load(source + at)")
    ),
    "waves/ops/crashes.py": (
        HEADER + "import os\nos.abort()\n" + KERNEL.format(value="tl.load(source + at)")
    ),
    "waves/ops/deep/__init__.py": (
        "import warnings\nfrom .. import told\nwarnings.warn('heard in deep')\nimport"
        " another_package\nDEEP = open(told.__file__.replace('told.py', 'deep/deep.txt')).read()\n"
    ),
    "waves/ops/deep/deep.txt": "8",
    "waves/ops/deep/act.py": (
        HEADER
        + "from . import DEEP\nFACTOR = tl.constexpr(int(DEEP))\n"
        + KERNEL.format(value="tl.load(source + at) * FACTOR")
    ),
    "waves/ops/deep/more/__init__.py": "import os\nTOLD = os.environ.setdefault('MORE', '3')\n",
    "waves/ops/deep/more/act.py": (
        HEADER
        + "from . import TOLD\nFACTOR = tl.constexpr(int(TOLD))\n"
        + KERNEL.format(value="tl.load(source + at) * FACTOR")
    ),
    "waves/ops/deep/more/lacks.py": (
        HEADER
        + "import waves.ops\n"
        + KERNEL.format(value="tl.load(source + at) * waves.ops.LEFT_OUT")
    ),
    "waves/ops/fails/__init__.py": (
        "import warnings, triton\nwarnings.warn('soon')\ntriton.no_such_name()\n"
    ),
    "waves/ops/fails/act.py": HEADER + KERNEL.format(value="tl.load(source + at)"),
    "waves/ops/aborts/__init__.py": "import os\nos.abort()\n",
    "waves/ops/aborts/act.py": HEADER + KERNEL.format(value="tl.load(source + at)"),
    "waves/broken/__init__.py": "raise RuntimeError('not today')\n",
    "waves/broken/act.py": HEADER + KERNEL.format(value="tl.load(source + at)"),
}


def specs(folder: Path, package: str = "ops") -> dict[str, Specialization]:
    return {
        str(path.relative_to(folder / "waves" / package).with_suffix("")): Specialization(
            kernel=path.stem,
            variant="as_written",
            case="only",
            source=str(path),
            roots=(str(folder),),
            package="waves==1",
            function="kernel",
            compile=CompileSpec(
                signature={"source": "*fp32", "result": "*fp32", "size": "i32"},
                constexprs={"BLOCK": 64},
            ),
            closure=read_source(path, (folder,)).closure,
        )
        for path in sorted(folder.joinpath("waves", package).rglob("*.py"))
        if path.stem not in ("__init__", "told")
    }


def attempts(built: BuiltEnv, specializations: dict[str, Specialization]) -> dict[str, Evidence]:
    with LocalExecutor(idle_timeout=KEPT) as executor:
        evidence: dict[str, Evidence] = {}
        for name, spec in specializations.items():
            cell = Cell(env=built.env, target=TARGETS["sm_90"], spec=spec)
            with closing(executor.submit(Batch([cell], built, LIMITS))) as answers:
                evidence[name] = next(answers).attempts[0]
        return evidence


def facts(evidence: Evidence) -> object:
    """All facts of an attempt except its times."""
    digests = [
        (stage, artifact.digest)
        for done in evidence.done
        for stage, artifact in done.outputs.items()
    ]
    raised = [(exception.type, exception.message) for exception in evidence.raised]
    return (
        digests,
        raised,
        evidence.stage,
        evidence.signal,
        evidence.warnings,
        evidence.imported,
        evidence.stood_in,
        evidence.at,
    )


@pytest.fixture(params=["triton-3.0.0", "triton-3.9.0"])
def env(request: pytest.FixtureRequest, built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built(request.param)


@pytest.mark.wheels
def test_preloaded_package_does_not_change_an_attempt(env: BuiltEnv, tmp_path: Path) -> None:
    """Artifacts, stand-ins, omissions, warnings, read files and exceptions are the same.

    So are those of a module that ends the process.
    """
    specializations = specs(written(tmp_path, LIBRARY))
    begun = attempts(env, specializations)
    alone = attempts(
        env, {name: evolve(spec, package="") for name, spec in specializations.items()}
    )
    assert {name: facts(evidence) for name, evidence in begun.items()} == {
        name: facts(evidence) for name, evidence in alone.items()
    }
    assert begun["act"].has_binary
    assert begun["needs"].has_binary
    assert begun["deep/act"].has_binary
    assert begun["deep/more/act"].has_binary
    assert begun["crashes"].signal == begun["aborts/act"].signal == "SIGABRT"
    assert begun["fails/act"].raised[-1].type == "AttributeError"
    assert begun["lacks"].raised[-1].type == "compat.UnavailableValue"
    assert any("heard by every kernel" in warning.message for warning in begun["act"].warnings)
    messages = [warning.message for warning in begun["deep/more/act"].warnings]
    assert [message for message in messages if "heard" in message] == [
        "heard by every kernel",
        "heard in deep",
    ]
    assert any(path.endswith("told.txt") for path in begun["act"].imported)
    assert any(path.endswith("deep.txt") for path in begun["deep/more/act"].imported)


@pytest.mark.wheels
@pytest.mark.parametrize("env", ["triton-3.9.0"], indirect=True)
def test_failing_package_gives_the_same_evidence_with_fewer_imports(
    env: BuiltEnv, tmp_path: Path
) -> None:
    """As in a process of its own: the same error at the same line, and the same read files."""
    import_log = tmp_path / "told"
    library = {
        **LIBRARY,
        "waves/broken/__init__.py": (
            f"open({str(import_log)!r}, 'a').write('imported ')\nimport warnings, torch, triton\n"
            "warnings.warn('soon')\nfrom ..ops import told\ntriton.no_such_name(told)\n"
        ),
        "waves/broken/other.py": LIBRARY["waves/broken/act.py"],
    }
    specializations = specs(written(tmp_path, library), "broken")
    typed = evolve(
        specializations["act"].compile, constexprs={"BLOCK": 64, "KIND": {"torch_dtype": "half"}}
    )
    specializations["typed"] = evolve(specializations["act"], compile=typed)
    begun = attempts(env, specializations)
    tries = len(import_log.read_text().split())
    alone = attempts(
        env, {name: evolve(spec, package="") for name, spec in specializations.items()}
    )
    assert {name: facts(evidence) for name, evidence in begun.items()} == {
        name: facts(evidence) for name, evidence in alone.items()
    }
    assert (tries, len(import_log.read_text().split())) == (3, 11)
    assert begun["act"].raised[-1].type == "AttributeError"
    assert begun["act"].at is not None
    assert begun["act"].warnings


def test_packages_of_a_kernel_are_those_with_a_file_from_the_second_name_on(
    tmp_path: Path,
) -> None:
    def of(kernel: str, mode: Mode = PLAIN, **changes: Any) -> list[str]:
        folder = (tmp_path / "waves" / kernel).parent
        (tmp_path / "waves" / kernel).write_text("")
        (spec,) = (
            evolve(spec, **changes)
            for spec in specs(tmp_path, str(folder.relative_to(tmp_path / "waves"))).values()
            if spec.source == str(tmp_path / "waves" / kernel)
        )
        cell = Cell(env=Env(name="triton-3.9.0"), target=TARGETS["sm_90"], spec=spec)
        package = PreloadedPackage.of(cell, mode)
        return [outer.name for outer in package.with_outer] if package else []

    (tmp_path / "waves/ops/plain/deep").mkdir(parents=True)
    for package in ("", "ops", "ops/plain/deep"):
        (tmp_path / "waves" / package / "__init__.py").write_text("")
    assert of("act.py") == ["waves"]
    assert of("ops/act.py") == ["waves.ops"]
    assert of("ops/plain/act.py") == ["waves.ops"]
    assert of("ops/plain/deep/act.py") == ["waves.ops", "waves.ops.plain.deep"]
    assert of("ops/act.py", package="") == []
    assert of("ops/act.py", roots=(str(tmp_path / "waves/ops"),)) == []
    for mode in (Mode(variables={"A": "1"}), Mode(hidden_packages=("torch",))):
        assert of("ops/act.py", mode) == []


@pytest.mark.wheels
@pytest.mark.parametrize("env", ["triton-3.9.0"], indirect=True)
def test_worker_is_not_ready_after_a_machine_error_in_its_package(
    env: BuiltEnv, tmp_path: Path
) -> None:
    library = {**LIBRARY, "waves/broken/__init__.py": "raise OSError(28, 'no room today')\n"}
    (spec,) = specs(written(tmp_path, library), "broken").values()
    cell = Cell(env=env.env, target=TARGETS["sm_90"], spec=spec)
    beginning = PreloadedPackage.of(cell, PLAIN)
    assert beginning is not None
    assert beginning.name == "waves.broken"
    assert env.python is not None
    with OwnWorker(env.python) as outer, ForkedWorker(outer, beginning) as worker:
        assert not worker.hello.ready
        assert "no room today" in str(worker.hello.raised)
    assert "no room today" in str(attempts(env, {"act": spec})["act"].raised)


@pytest.mark.wheels
def test_inner_packages_are_imported_once_and_the_outermost_twice(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    """The number of kernels and of inner packages does not matter.

    The first import of the outermost package shows that PyTorch is absent. The second one has a
    stand-in for PyTorch.
    """
    import_log = tmp_path / "told"
    packages = ("ops", "ops/deep", "ops/deep/more")
    noting = {
        f"waves/{name}/__init__.py": f"open({str(import_log)!r}, 'a').write('{name} ')\n"
        "import torch\n"
        for name in packages
    }
    act = {f"waves/{name}/act.py": LIBRARY["waves/ops/needs.py"] for name in packages}
    act |= {f"waves/{name}/other.py": LIBRARY["waves/ops/needs.py"] for name in packages}
    plain = {name: text.replace("import another_package\n", "") for name, text in act.items()}
    root = {"compat-library.json": LIBRARY["compat-library.json"], "waves/__init__.py": ""}
    by_kernel = attempts(built("triton-3.9.0"), specs(written(tmp_path, root | noting | plain)))
    assert len(by_kernel) == 6
    assert all(evidence.has_binary for evidence in by_kernel.values())
    assert import_log.read_text().split() == ["ops", *packages]


@pytest.fixture
def workers(built: Callable[[str], BuiltEnv]) -> Iterator[WorkerPool]:
    with WorkerPool() as pool:
        yield pool


def chain(built: BuiltEnv, folder: Path, name: str) -> PreloadedPackage:
    """The preloaded package of a kernel."""
    cell = Cell(env=built.env, target=TARGETS["sm_90"], spec=specs(folder)[name])
    package = PreloadedPackage.of(cell, PLAIN)
    assert package is not None
    return package


@pytest.mark.wheels
def test_worker_is_forked_from_the_worker_of_the_outer_package(
    built: Callable[[str], BuiltEnv],
    workers: WorkerPool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Workers in use stay. Of the others, only those used last stay."""
    monkeypatch.setattr(pool, "_UNUSED", 1)
    env, folder = built("triton-3.9.0"), written(tmp_path, LIBRARY)
    more, deep = chain(env, folder, "deep/more/act"), chain(env, folder, "deep/act")
    assert [package.name for package in more.with_outer] == [
        "waves.ops",
        "waves.ops.deep",
        "waves.ops.deep.more",
    ]
    assert more.outer == deep
    with workers.lend(env, more) as innermost:
        first = innermost.hello.pid
    with workers.lend(env, more) as client:
        assert client is innermost
    with workers.lend(env, deep) as client:
        middle = client.hello.pid
    with workers.lend(env, deep.outer) as client:
        outermost = client.hello.pid
    assert children(workers.of(env).hello.pid) == [outermost]
    assert children(outermost) == [middle]
    assert children(middle) == [first]
    other = chain(env, written(tmp_path / "other", LIBRARY), "deep/act")
    with workers.lend(env, other):
        pass
    wait_until(lambda: not is_there(first))
    with workers.lend(env, more) as client:
        assert children(middle) == [client.hello.pid]
        with workers.lend(env, other), workers.lend(env, deep):
            pass
        assert client.alive
    os.kill(outermost, signal.SIGKILL)
    wait_until(lambda: not is_there(middle))
    with workers.lend(env, more) as client:
        assert client.alive
        assert client.hello.pid not in (first, outermost, middle)
    monkeypatch.setattr(pool, "_UNUSED", 2)
    with workers.lend(env, other) as used_before:
        pid = used_before.hello.pid
    with workers.lend(env, more) as used_last:
        pass
    with workers.lend(env, chain(env, written(tmp_path / "third", LIBRARY), "deep/act")):
        pass
    wait_until(lambda: not is_there(pid))
    assert used_last.alive


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@pytest.mark.wheels
def test_hanging_import_of_a_package_is_ended(
    built: Callable[[str], BuiltEnv],
    workers: WorkerPool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The worker of the outer package compiles the kernels instead.

    The import has a folder of its own for temporary files.
    """
    here = tmp_path / "here"
    facts = "[os.getpid(), tempfile.gettempdir(), os.getcwd()]"
    hang = f"open({str(here)!r}, 'w').write(json.dumps({facts}))\ntime.sleep(100)\n"
    hang = f"import json, os, tempfile, time\n{hang}"
    folder = written(tmp_path, {**LIBRARY, "waves/ops/deep/__init__.py": hang})
    env = built("triton-3.9.0")
    deep = chain(env, folder, "deep/act")
    with workers.lend(env, deep.outer) as outermost:
        monkeypatch.setattr(WorkerClient.__init__, "__defaults__", (1.0,))
        with workers.lend(env, deep) as client:
            assert client is outermost
        pid, temporary, working = json.loads(here.read_text())
        wait_until(lambda: not is_there(pid))
        assert temporary == working
        wait_until(lambda: not Path(temporary).exists())
        assert outermost.alive


def test_bytecode_is_written_for_the_env_and_not_beside_a_users_files(tmp_path: Path) -> None:
    for name in ("env", "env_of_a_user"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"of_{name}.py").write_text("ANSWER = 1\n")
    program = (
        "import sys; from compat.worker.imports import write_bytecode_inside;"
        f"write_bytecode_inside({str(tmp_path / 'env')!r});"
        f"sys.path += [{str(tmp_path / 'env')!r}, {str(tmp_path / 'env_of_a_user')!r}];"
        "import of_env, of_env_of_a_user"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={"PYTHONPATH": str(ROOT)})
    written_files = [path.parent.parent.name for path in tmp_path.rglob("*.pyc")]
    assert written_files == ["env"]
