"""A reduction leaves a kernel file like any other, and the file is whole at any time."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

from compat.bisect.criterion import parse_criterion
from compat.config.kernel_files import load_kernels
from compat.errors import StoreError
from compat.model import CompileSpec, Expectation, Problem, Specialization, Status
from compat.reduce import Candidate
from compat.reduce.output import BestSoFar, kernel_file, write_problem
from compat.report.views.changed_kernels import _polish
from tests.records import SHAPE, bad, result

CANDIDATE = Candidate(
    text="def kernel(a, b, N, KIND, NOTHING):\n    pass\n",
    function="kernel",
    compile=CompileSpec(
        signature={"a": "*fp16", "b": "i32"},
        constexprs={"N": 64, "KIND": {"dtype": "fp16"}, "NOTHING": None},
        divisible_by_16=("a", "b"),
        equal_to_1=("b",),
        options={"num_warps": 8, "allow": True, "how": 'as "said"', "scale": 0.5},
    ),
)
FAILS = Expectation(
    status=Status.CRASHED,
    failure_class="compiler-assert",
    releases=SpecifierSet("==3.2.0"),
    targets=("sm_90",),
    reason='Assertion `x && "y"\' failed',
)


def text_of(candidate: Candidate, source: Path) -> str:
    return kernel_file(
        candidate,
        kernel="small",
        case="only",
        source=source,
        summary="A test.",
        expectations=[FAILS],
    )


def load(path: Path) -> Specialization:
    (spec,) = load_kernels([path.name], path.parent)
    return spec


def test_a_candidate_survives_being_written_and_read(tmp_path: Path) -> None:
    best = BestSoFar(tmp_path / "small.py", text_of)
    best.finish(CANDIDATE)
    spec = load(tmp_path / "small.toml")
    again = Candidate.of(spec, Path(spec.source).read_text())
    assert again.key == CANDIDATE.key
    assert spec.expectations == (FAILS,)
    assert (spec.kernel, spec.variant, spec.case) == ("small", "reduced", "only")


def test_the_kernel_file_names_a_whole_candidate_after_every_write(tmp_path: Path) -> None:
    best = BestSoFar(tmp_path / "new" / "small.py", text_of)
    for number in range(4):
        candidate = Candidate(
            text=f"def kernel(a{number}):\n    pass\n",
            function="kernel",
            compile=CompileSpec(signature={f"a{number}": "i32"}),
        )
        best.keep(candidate)
        assert load(best.kernel_file).compile.signature == candidate.compile.signature
        assert Path(load(best.kernel_file).source) == best.source
    best.finish(candidate)
    assert sorted(path.name for path in best.path.parent.iterdir()) == ["small.py", "small.toml"]


def test_a_failed_write_leaves_the_kernel_file_on_the_last_candidate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = BestSoFar(tmp_path / "small.py", text_of)
    best.keep(CANDIDATE)
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("no space left")))
    with pytest.raises(StoreError, match="no space left"):
        best.keep(
            Candidate(
                text="def kernel():\n    pass\n",
                function="kernel",
                compile=CompileSpec(signature={}),
            )
        )
    spec = load(best.kernel_file)
    assert Candidate.of(spec, Path(spec.source).read_text()).key == CANDIDATE.key


PROBLEM = """\
from helpers import tile

def problems(*_):
    yield {"tile": tile, "outputs": {"y": 1}}
"""


@pytest.mark.parametrize("name", ["softmax.py", "soft-max.py", "softmax.problem.py"])
def test_the_problem_of_a_reduced_kernel_can_be_reduced_again(tmp_path: Path, name: str) -> None:
    """Its file is a module of any name and encoding."""
    (tmp_path / name).write_text(PROBLEM)
    (tmp_path / "helpers.py").write_bytes("# coding: latin-1\ntile = 'é'\n".encode("latin-1"))
    problem = Problem(source=str(tmp_path / name), function="problems", dtype="fp16")
    for number in range(3):
        problem = write_problem(problem, tmp_path / f"small{number}.py")
        source = Path(problem.source)
        printing = f"import {source.stem} as made; print(ascii(*made.problems(*range(5))))"
        run = subprocess.run(
            [sys.executable, "-c", printing], cwd=source.parent, capture_output=True, check=True
        )
        assert eval(run.stdout) == {
            "tile": "é",
            "outputs": None,
            "baseline": None,
            "compared": {"y": 1},
        }


def polishing(path: Path, matrix: Path) -> list[str]:
    """The words of the command that shortens the text of a reduced kernel."""
    failing = result(bad(SHAPE), "3.1.0")
    reduction: Any = SimpleNamespace(
        path=path,
        original=SimpleNamespace(bad=[failing]),
        subject=SimpleNamespace(target=failing.cell.target),
        goal=SimpleNamespace(
            named_requirements=[SimpleNamespace(criterion=parse_criterion("same-failure"))]
        ),
    )
    return shlex.split(_polish(reduction, failing.cell.id, matrix, []))


def test_the_command_of_shrinkray_takes_a_path_with_spaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "my folder" / "a kernel.py"
    path.parent.mkdir()
    path.write_text("reduced\n")
    path.with_suffix(".toml").write_text("its file\n")
    _, _, *test, text = polishing(path, tmp_path / "no.toml")
    assert text == str(path)
    (tmp_path / "compat").write_text('#!/bin/sh\nfor file; do :; done; cat "$file"; exit 1\n')
    (tmp_path / "compat").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = subprocess.run([*test, text], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "its file\n"), done.stderr


def test_the_command_that_shortens_the_text_works_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "my kernels" / "a kernel.py"
    path.parent.mkdir()
    for file in (path, path.with_suffix(".toml")):
        file.touch()
    checking = tmp_path / "compat"
    checking.write_text('#!/bin/sh\nfor last; do :; done; [ -f "${last%.toml}.py" ] && exit 1\n')
    checking.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    command = polishing(path, tmp_path / "matrix.toml")
    assert command[:2] == ["uvx", "shrinkray<26.9"]
    assert command[-1] == str(path)
    assert subprocess.run(command[2:], check=False).returncode == 0
