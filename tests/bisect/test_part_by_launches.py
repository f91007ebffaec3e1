"""Combinations of halves of two releases. Real wheels build them, and nothing launches them.

The results of the GPU host are made up.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from compat import toolchains
from compat.bisect.answers import Part, PartName
from compat.bisect.attempts import AssemblerProgram
from compat.bisect.criterion import parse_criterion
from compat.bisect.part import LaunchJudge, find_part
from compat.engine.run import RunContext
from compat.errors import SelectionError
from compat.launch import archive, building
from compat.launch.merging import merge
from compat.model import BuiltEnv, Cell
from compat.project import Selection, select
from tests.launch.expecting import KERNELS

pytestmark = pytest.mark.wheels

OLD, NEW = "triton-3.7.1", "triton-3.8.0"  # with ptxas 12.8 and 12.9


@pytest.fixture
def selection(tmp_path: Path, built: Callable[[str], BuiltEnv]) -> Selection:
    for env in (OLD, NEW):
        built(env)
    for path in KERNELS.parent.glob("launching*"):
        shutil.copy(path, tmp_path)
    described = tmp_path / "launching.toml"
    small = described.read_text().replace(
        "M = 128, N = 64, BLOCK = 32", "M = 16, N = 16, BLOCK = 16"
    )
    described.write_text(small)  # larger blocks show the same, and take longer
    (tmp_path / "matrix.toml").write_text('schema = 1\nkernels = ["launching.toml"]\n')
    return select(
        tmp_path / "matrix.toml",
        envs=(OLD, NEW),
        targets=("sm_90",),
        kernels=("product",),
        variants=("plain",),
        cases=("*",),
    )


@pytest.fixture
def context(selection: Selection) -> Iterator[RunContext]:
    with selection.open_store() as store:
        yield selection.context(store).with_envs(
            selection.read_envs(selection.config.path, selection.envs)
        )


def write_launches(index: Path, is_bad: Callable[[str], bool], path: Path) -> Path:
    """Write the results that a GPU host would write for all cells of an index.

    A cell is wrong if ``is_bad`` says so for its name.
    """
    lines: list[dict[str, Any]] = []
    for cell in json.loads(index.read_text())["cells"]:
        bad = is_bad(cell["cell"])
        check = {
            "status": "wrong" if bad else "ok",
            "max_abs": 0.5 if bad else 0.0,
            "where": "",
            "reason": "",
        }
        facts = {name: cell[name] for name in ("cell", "identity", "problem", "object")}
        lines.append({"schema": 1, **facts, "device": {"name": "NVIDIA H200"}, "latency": None})
        lines[-1]["check"] = {**check, "max_rel": None, "launches": 30, "differing": 0}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_launched_combinations_show_that_the_fault_is_in_ptxas(
    selection: Selection, context: RunContext, tmp_path: Path
) -> None:
    old, new = sorted(selection.cells, key=lambda cell: cell.env.name)
    judge = LaunchJudge(criterion=parse_criterion("wrong"), folder=tmp_path / "combinations")

    def find_the_part() -> Part:
        return find_part(old, new, context, judge=judge)

    plain = archive.write_archive(
        building.build(selection, context, selection.read_envs), tmp_path / "plain"
    ).parent
    merge(
        write_launches(plain / "index.json", lambda name: OLD in name, tmp_path / "plain.jsonl"),
        context.store,
    )
    first = find_the_part()
    assert first.name is PartName.UNKNOWN
    assert first.sentence.startswith("Not known yet: launch the combinations first.")
    assert "3.7.1 with the ptxas of 3.8.0 (12.9.86): not launched." in first.steps
    assert any("with the TTIR of 3.7.1: " in step and "same binary" in step for step in first.steps)
    names = [
        cell["cell"] for cell in json.loads((judge.folder / "index.json").read_text())["cells"]
    ]
    assert f"{old.id} with the ptxas of 3.8.0 (12.9.86)" in names

    def by_assembler(name: str) -> bool:
        return "ptxas of 3.7.1" in name or (OLD in name and "ptxas" not in name)

    merge(
        write_launches(judge.folder / "index.json", by_assembler, tmp_path / "crossed.jsonl"),
        context.store,
    )
    second = find_the_part()
    assert (second.name, second.sentence) == (
        "ptxas",
        "The cause is in ptxas (12.8.93): with that of 3.8.0, 3.7.1 is good.",
    )
    assert "3.7.1 with the ptxas of 3.8.0 (12.9.86): ok." in second.steps
    assert "3.8.0 with the ptxas of 3.7.1 (12.8.93): wrong, error 0.5." in second.steps


def test_cell_without_numbers_has_nothing_to_compare_with(
    selection: Selection, context: RunContext, tmp_path: Path
) -> None:
    cell = next(cell for cell in selection.cells if cell.env.name == NEW)
    parts = toolchains.of(cell.env).ir.parts
    assert parts is not None
    path = parts.assembler.of(context.envs[NEW], cell.target)
    assert path is not None
    other = AssemblerProgram(name="another", path=path)
    judge = LaunchJudge(criterion=parse_criterion("wrong"), folder=tmp_path / "c")
    part = find_part(cell, None, context, assemblers=(other,), judge=judge)
    assert (
        part.sentence
        == "3.8.0 is not known to be bad by `wrong`, so there is nothing to compare with."
    )
    assert part.steps[:2] == (
        "3.8.0: not launched.",
        "3.8.0 with the ptxas of another (12.9.86): not launched.",
    )
    assert part.steps[2].startswith(
        f"To be launched: 2 combinations. Copy {tmp_path / 'c'} to a GPU host"
    )


def test_missing_problem_or_missing_change_is_refused(
    selection: Selection, context: RunContext, tmp_path: Path
) -> None:
    cell = selection.cells[0]
    without: Cell = evolve(cell, spec=evolve(cell.spec, problem=None))
    judge = LaunchJudge(criterion=parse_criterion("wrong"), folder=tmp_path / "c")
    with pytest.raises(SelectionError, match=r"has no \[problem\]"):
        find_part(without, None, context, judge=judge)
    with pytest.raises(SelectionError, match="no change between releases"):
        find_part(cell, None, context, judge=judge)
