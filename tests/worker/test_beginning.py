"""Kernels of a library: its package is imported once for all of them, and nothing else comes of
that.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve

from compat.executors.executor import Batch, LocalExecutor
from compat.model import BuiltEnv, Cell, CompileSpec, Evidence, Specialization
from compat.source.closure import read_source
from compat.workers.attempt import PLAIN, Limits, PreloadedPackage
from compat.workers.spawn import OwnWorker
from tests.standin.packages import HEADER, KERNEL, written
from tests.targets import TARGETS

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
    "waves/broken/__init__.py": "raise RuntimeError('not today')\n",
    "waves/broken/act.py": HEADER + KERNEL.format(value="tl.load(source + at)"),
}


def specs(folder: Path, package: str = "ops") -> dict[str, Specialization]:
    return {
        path.stem: Specialization(
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
        for path in sorted(folder.joinpath("waves", package).glob("*.py"))
        if path.stem not in ("__init__", "told")
    }


def attempts(built: BuiltEnv, found: dict[str, Specialization]) -> dict[str, Evidence]:
    with LocalExecutor() as executor:
        told: dict[str, Evidence] = {}
        for name, spec in found.items():
            cell = Cell(env=built.env, target=TARGETS["sm_90"], spec=spec)
            with closing(executor.submit(Batch([cell], built, LIMITS))) as answers:
                told[name] = next(answers).attempts[0]
        return told


def facts(evidence: Evidence) -> object:
    """All that an attempt tells but how long it took."""
    made = [(stage, each.digest) for done in evidence.done for stage, each in done.made.items()]
    raised = [(each.type, each.message) for each in evidence.raised]
    return (
        made,
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
def test_an_attempt_is_the_same_in_a_copy_of_a_process_that_has_imported_the_package(
    env: BuiltEnv, tmp_path: Path
) -> None:
    """What is built, stood in for, left out, warned of, read and raised.

    Of a module that ends the process, too.
    """
    found = specs(written(tmp_path, LIBRARY))
    begun = attempts(env, found)
    alone = attempts(env, {name: evolve(spec, package="") for name, spec in found.items()})
    assert {name: facts(each) for name, each in begun.items()} == {
        name: facts(each) for name, each in alone.items()
    }
    assert begun["act"].built
    assert begun["needs"].built
    assert begun["crashes"].signal == "SIGABRT"
    assert begun["lacks"].raised[-1].type == "compat.Lacking"
    assert any("heard by every kernel" in each.message for each in begun["act"].warnings)
    assert any(path.endswith("told.txt") for path in begun["act"].imported)


@pytest.mark.wheels
def test_a_package_that_cannot_be_imported_fails_once_for_all_modules(
    env: BuiltEnv, tmp_path: Path
) -> None:
    """As in a process of its own: the same error at the same line, and all that was read."""
    told = tmp_path / "told"
    library = {
        **LIBRARY,
        "waves/broken/__init__.py": (
            f"open({str(told)!r}, 'a').write('imported ')\nimport warnings, torch, triton\n"
            "warnings.warn('soon')\nfrom ..ops import told\ntriton.no_such_name(told)\n"
        ),
        "waves/broken/other.py": LIBRARY["waves/broken/act.py"],
    }
    found = specs(written(tmp_path, library), "broken")
    typed = evolve(found["act"].compile, constexprs={"BLOCK": 64, "KIND": {"torch_dtype": "half"}})
    found["typed"] = evolve(found["act"], compile=typed)
    begun = attempts(env, found)
    tries = len(told.read_text().split())
    alone = attempts(env, {name: evolve(spec, package="") for name, spec in found.items()})
    assert {name: facts(each) for name, each in begun.items()} == {
        name: facts(each) for name, each in alone.items()
    }
    assert (tries, len(told.read_text().split())) == (3, 11)
    assert begun["act"].raised[-1].type == "AttributeError"
    assert begun["act"].at is not None
    assert begun["act"].warnings


@pytest.mark.wheels
def test_an_error_of_the_machine_begins_nothing(env: BuiltEnv, tmp_path: Path) -> None:
    library = {**LIBRARY, "waves/broken/__init__.py": "raise OSError(28, 'no room today')\n"}
    (spec,) = specs(written(tmp_path, library), "broken").values()
    cell = Cell(env=env.env, target=TARGETS["sm_90"], spec=spec)
    beginning = PreloadedPackage.of(cell, PLAIN)
    assert beginning is not None
    assert beginning.name == "waves.broken"
    assert env.python is not None
    with OwnWorker(env.python, beginning=beginning) as worker:
        assert not worker.hello.ready
        assert "no room today" in str(worker.hello.raised)
    assert "no room today" in str(attempts(env, {"act": spec})["act"].raised)


@pytest.mark.wheels
def test_it_is_imported_once(built: Callable[[str], BuiltEnv], tmp_path: Path) -> None:
    """Once until it is known that PyTorch is absent, and once with a stand-in, however many kernels
    follow.
    """
    told = tmp_path / "told"
    library = {
        **LIBRARY,
        "waves/ops/__init__.py": f"open({str(told)!r}, 'a').write('imported ')\nimport torch\n",
    }
    act = specs(written(tmp_path, library))["act"]
    found = attempts(built("triton-3.9.0"), {str(number): act for number in range(4)})
    assert all(each.built for each in found.values())
    assert told.read_text().split() == ["imported", "imported"]


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
