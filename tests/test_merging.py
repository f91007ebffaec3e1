"""Merged runs of shards equal one run, and a cell about which the runs disagree is flaky."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from click.testing import CliRunner

from compat.cli.commands import main
from compat.engine.plan import Shard
from compat.engine.run import run, stored_results
from compat.errors import SelectionError, StoreError
from compat.matrix import run_matrix
from compat.model import (
    BuiltEnv,
    Cell,
    Check,
    Diagnosis,
    Evidence,
    Numbers,
    RaisedException,
    Result,
    Status,
)
from compat.project import Selection, select
from compat.report.document import dump, matrix_document
from compat.report.folder import are_stores, merge_reports, merge_stores, write_reports
from compat.report.loading import load_reports
from compat.report.summary.record import Report
from compat.store.keys import CellKeys
from compat.store.store import Store
from tests.cells import KERNELS, cell
from tests.execution.test_store import BUILT, CELL, EVIDENCE
from tests.records import ASSERT, OK, SHAPE, bad, env
from tests.report.factory import always, report, results_of
from tests.sqlite import opened
from tests.together import for_each

RELEASES = ("3.1.0", "3.4.0", "3.9.0")
MATRIX = f"""schema = 1
kernels = ["failures.toml"]

[defaults]
envs = {json.dumps([f"triton-{release}" for release in RELEASES])}
targets = ["sm_90"]
"""


def stable_document(report: Report) -> Any:
    """The document of a report, without its times and its command."""
    document = matrix_document(report)
    for name in ("seconds", "command"):
        del document[name]
    for entry in document["cells"]:
        entry |= {"seconds": 0, "compile_seconds": 0, "stages": dict.fromkeys(entry["stages"], 0)}
    return document


# --- shards ---------------------------------------------------------------------------------------


@for_each("text", ["0/8", "9/8", "x", "", "1/0", "-1/2", "1/2/3", "1.0/2", "1/10001", "٣/٨"])
def test_an_invalid_shard_is_an_error(text: str) -> None:
    with pytest.raises(SelectionError, match="invalid shard") as caught:
        Shard.parse(text)
    assert (caught.value.exit_code, caught.value.hint) == (
        3,
        "Write the third of eight shards as 3/8. There can be at most 10,000.",
    )


def test_a_cell_always_belongs_to_the_same_shard(tmp_path: Path) -> None:
    spec = CELL.spec
    shards = [Shard(number=number, of=8) for number in range(1, 9)]
    names = [
        evolve(spec, kernel=f"k{number % 40}", case=f"c{number // 40}") for number in range(400)
    ]
    shard_numbers = {
        specialization: [shard.number for shard in shards if shard.has(specialization)]
        for specialization in names
    }
    assert all(len(those) == 1 for those in shard_numbers.values())
    sizes = [sum(those == [number] for those in shard_numbers.values()) for number in range(1, 9)]
    assert max(sizes) < 1.4 * 50
    elsewhere = evolve(
        spec, source=str(tmp_path / "other.py"), closure="other", origin="x.toml", summary="s"
    )
    assert [shard.has(spec) for shard in shards] == [shard.has(elsewhere) for shard in shards]
    # This number must never change.
    assert [
        str(shard) for shard in shards if shard.has(evolve(spec, kernel="k", variant="v", case="c"))
    ] == ["8/8"]
    assert sum(shard.has_pair(BUILT.env) for shard in shards) == 1


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sharded")
    for name in ("failures.toml", "failures.py"):
        shutil.copy(KERNELS / name, folder)
    (folder / "matrix.toml").write_text(MATRIX)
    return folder


def ran(selection: Selection, folder: Path, envs: dict[str, BuiltEnv]) -> Report:
    """Run with a separate store, and write the files of the report."""
    with Store(folder) as store:
        context = selection.context(store)
        report = run_matrix(
            selection,
            context,
            lambda _, declared_envs: [envs[env.name] for env in declared_envs],
            command=f"run {folder.name}",
        )
    write_reports(report, folder)
    return report


@pytest.mark.wheels
def test_merged_shards_equal_one_run(
    project: Path, built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    envs = {name: built(name) for name in (f"triton-{release}" for release in RELEASES)}
    every = select(project / "matrix.toml")
    full_report = ran(every, tmp_path / "whole", envs)
    parts = [every.of_shard(Shard(number=number, of=3)) for number in (1, 2, 3)]
    assert sorted(cell.id for part in parts for cell in part.cells) == sorted(
        cell.id for cell in every.cells
    )
    reports = [
        ran(part, tmp_path / f"shard-{part.shard.number}", envs) for part in parts if part.shard
    ]
    assert [report.shards for report in reports] == [("1/3",), ("2/3",), ("3/3",)]
    files = [tmp_path / f"shard-{number}" / "matrix.json" for number in (3, 1, 2)]
    merged = merge_reports(files)
    assert dump(stable_document(merged)) == dump(stable_document(full_report))
    assert merged.shards == ()
    assert merge_reports(files[:2]).shards == ("1/3", "3/3")

    into, counts = merge_stores([file.parent for file in files], tmp_path / "together")
    assert (counts.known, counts.disagreeing, counts.unreadable, counts.artifacts) == (0, (), 0, 0)
    with Store(into) as store:
        context = every.context(store).with_envs(tuple(envs.values()))
        again = run_matrix(
            every, context, lambda _, declared_envs: [envs[env.name] for env in declared_envs]
        )
    assert again.cached_count == len(every.cells)
    for entry in (document := stable_document(again))["cells"]:
        entry["cached"] = False
    document["summary"]["cached"] = 0
    assert dump(document) == dump(stable_document(full_report))


def test_a_shard_without_cells_has_a_report(project: Path, tmp_path: Path) -> None:
    every = select(project / "matrix.toml", variants=["copy"])
    parts = [every.of_shard(Shard(number=number, of=5)) for number in range(1, 6)]
    empty = next(part for part in parts if not part.cells)
    report = ran(empty, tmp_path / "empty", {})
    assert (report.results, report.shards) == ((), (str(empty.shard),))
    assert (
        f"**Shard {empty.shard} of the cells.** No cell was tried."
        in (tmp_path / "empty" / "matrix.md").read_text()
    )
    done = CliRunner().invoke(
        main, ["merge", str(tmp_path / "empty" / "matrix.json"), "--output", str(tmp_path / "out")]
    )
    assert done.exit_code == 0, done.output
    assert f"note: the report is incomplete: it has {empty.shard}" in done.output


# --- cells in several reports ---------------------------------------------------------------------


def merged(*parts: Report) -> Report:
    texts = [(f"part {number}", dump(matrix_document(part))) for number, part in enumerate(parts)]
    return load_reports(texts, overlapping=True)


def only(report: Report) -> Result:
    [result] = report.results
    return result


def one(outcome: Any) -> Report:
    return report(results_of("k", "v", always(outcome), envs=[env("3.9.0")])[:1])


def test_results_that_agree_are_merged_into_one() -> None:
    assert stable_document(merged(one(bad(SHAPE)), one(bad(SHAPE)))) == stable_document(
        one(bad(SHAPE))
    )


def test_the_cells_of_an_earlier_report_count_once() -> None:
    """Two narrowed runs tried one release each, and kept the others of the same earlier report."""
    cells = results_of("k", "v", always(OK), envs=[env(release) for release in RELEASES])
    narrowed = evolve(report(cells), earlier=4)
    merged_report = merged(narrowed, narrowed)
    assert (len(merged_report.results), merged_report.earlier) == (6, 2)
    assert merged(narrowed, evolve(narrowed, earlier=0)).earlier == 0


@pytest.mark.parametrize(("first", "second"), [(OK, bad(SHAPE)), (bad(SHAPE), OK)])
def test_results_that_disagree_are_flaky_with_the_attempts_of_both(first: Any, second: Any) -> None:
    report = merged(one(first), one(second))
    outcome = only(report).outcome
    assert (outcome.status, outcome.flaky, outcome.failure) == (Status.REJECTED, True, SHAPE)
    assert outcome.attempts == (*first.attempts, *second.attempts)
    assert not only(report).expected
    [verdict] = report.verdicts
    assert (str(verdict.word), verdict.flaky) == ("unknown", ("3.9.0",))


def test_a_merged_result_shows_both_failures() -> None:
    failure = only(merged(one(bad(SHAPE)), one(bad(ASSERT)))).outcome.failure
    assert failure
    assert failure.failure_class == SHAPE.failure_class
    assert (
        failure.excerpt
        == f"{SHAPE.excerpt}\n\nand in another run, {ASSERT.failure_class}:\n{ASSERT.excerpt}"
    )


@pytest.mark.parametrize(
    ("device", "status"), [("GPU 1", Status.UNSTABLE), ("GPU 2", Status.WRONG)]
)
def test_numbers_that_differ_are_unstable_only_on_one_device(device: str, status: Status) -> None:
    right, wrong = (
        report([evolve(only(one(OK)), numbers=Numbers(gpu=Check(status=outcome, device=name)))])
        for outcome, name in ((Status.OK, "GPU 1"), (Status.WRONG, device))
    )
    for parts in ((right, wrong), (wrong, right)):
        check = only(merged(*parts)).numbers.gpu
        assert check
        assert (check.status, check.device) == (status, device)


def test_an_answer_takes_precedence_over_a_lost_cell() -> None:
    lost = evolve(OK, status=Status.LOST)
    for parts in ((one(lost), one(OK)), (one(OK), one(lost))):
        outcome = only(merged(*parts)).outcome
        assert (outcome.status, outcome.flaky) == (Status.OK, False)


# --- stores ---------------------------------------------------------------------------------------


FAILED = Evidence(
    answered=True,
    stage="ttir",
    raised=(
        RaisedException(
            type="ValueError", message="incompatible dimensions at index 1: 128 and 64"
        ),
    ),
)
BUILD = evolve(
    EVIDENCE,
    requested=("compile",),
    alone=False,
    raised=(),
    printed="",
    stderr="",
    artifacts={},
    protocol=(),
    diagnosis=Diagnosis(),
)
REJECTED = (FAILED, evolve(FAILED, alone=True))


def store_of(folder: Path, *attempts: Evidence, key: str = "0" * 64, cell: Cell = CELL) -> Path:
    with Store(folder) as store:
        store.write(key, cell, attempts)
    return folder


def attempts_in(folder: Path) -> dict[str, tuple[Evidence, ...]]:
    with Store(folder) as store, opened(folder / "results.sqlite") as database:
        keys = [key for (key,) in database.execute("SELECT key FROM evidence").fetchall()]
        return store.read(keys, deadline=60, memory=1 << 32)


@pytest.mark.parametrize(
    ("own_attempts", "other_attempts"), [((BUILD,), REJECTED), (REJECTED, (BUILD,))]
)
def test_stores_that_disagree_keep_the_evidence_of_both(
    own_attempts: Any, other_attempts: Any, tmp_path: Path
) -> None:
    mine, other = (
        store_of(tmp_path / "mine", *own_attempts),
        store_of(tmp_path / "other", *other_attempts),
    )
    for _ in range(2):  # the second merge adds nothing
        merge_stores([other / "results.sqlite"], mine)
        assert list(attempts_in(mine).values()) == [(*own_attempts, *other_attempts)]
    assert list(attempts_in(other).values()) == [other_attempts]
    assert merge_stores([store_of(tmp_path / "third", *own_attempts)], mine)[1].disagreeing == ()


def test_a_cell_about_which_stores_disagree_is_flaky(tmp_path: Path) -> None:
    built = evolve(BUILT, python="/none")
    flaky_cell = cell(built, "faces", "fine")
    with Store(tmp_path / "mine") as store:
        context = select_any(tmp_path).context(store).with_envs((built,))
        key = CellKeys(digest_of(context)).of(flaky_cell, built)
    store_of(tmp_path / "mine", BUILD, key=key, cell=flaky_cell)
    _, counts = merge_stores(
        [store_of(tmp_path / "other", *REJECTED, key=key, cell=flaky_cell)], tmp_path / "mine"
    )
    assert counts.disagreeing == (flaky_cell.id,)
    with Store(tmp_path / "mine") as store:
        [result] = stored_results([flaky_cell], evolve(context, store=store))
        assert run([flaky_cell], evolve(context, store=store)) == (result,)
    outcome = result.outcome
    assert (outcome.flaky, outcome.status, len(outcome.attempts)) == (True, Status.REJECTED, 3)


def select_any(folder: Path) -> Selection:
    shutil.copy(KERNELS / "failures.toml", folder)
    shutil.copy(KERNELS / "failures.py", folder)
    (folder / "matrix.toml").write_text(MATRIX)
    return select(folder / "matrix.toml")


def digest_of(context: Any) -> str:
    from compat.files import folder_digest

    return folder_digest(context.worker)


def test_evidence_that_a_limit_cut_short_or_without_an_answer_is_replaced(tmp_path: Path) -> None:
    short = Evidence(answered=False, stage="ttir", deadline=10.0)
    longer = evolve(short, deadline=20.0)
    missing = RaisedException(type="ModuleNotFoundError", message="No module named 'helper'")
    broken = Evidence(answered=True, stage="source", raised=(missing,))
    for number, (own_attempts, other_attempts, expected) in enumerate(
        [
            ((short,), (BUILD,), (BUILD,)),
            ((BUILD,), (short,), (BUILD,)),
            ((short,), (longer,), (longer,)),
            ((longer,), (short,), (longer,)),
            ((broken,), (BUILD,), (BUILD,)),
            ((BUILD,), (broken,), (BUILD,)),
        ]
    ):
        mine = store_of(tmp_path / f"mine {number}", *own_attempts)
        counts = merge_stores([store_of(tmp_path / f"other {number}", *other_attempts)], mine)[1]
        with Store(mine) as store:
            assert store.read(["0" * 64], deadline=5, memory=1)["0" * 64] == expected
        assert counts.disagreeing == ()


def test_artifacts_are_copied_although_another_is_missing(tmp_path: Path) -> None:
    other = tmp_path / "other"
    with Store(other) as store:
        name = store.keep(".mlir", b"module {}")
    evidence = evolve(FAILED, artifacts={"reproducer": name}, alone=True)
    store_of(other, evolve(FAILED, artifacts={"reproducer": "0000000000000000.mlir"}), evidence)
    into, counts = merge_stores([other], tmp_path / "mine")
    assert counts.artifacts == 1
    with Store(into) as store:
        assert store.artifact(name) == b"module {}"


def test_unreadable_rows_are_left_out_and_counted(tmp_path: Path) -> None:
    other = store_of(tmp_path / "other", BUILD)
    with opened(other / "results.sqlite") as database:
        database.execute(
            "INSERT INTO evidence VALUES ('k', 'a/b', 'triton', 'no JSON', NULL, NULL)"
        )
    counts = merge_stores([other], tmp_path / "mine")[1]
    assert (counts.new, counts.unreadable) == (1, 1)


def test_files_that_cannot_be_merged_are_errors(tmp_path: Path) -> None:
    newer, foreign = store_of(tmp_path / "newer", BUILD), tmp_path / "foreign.sqlite"
    with opened(newer / "results.sqlite") as database:
        database.execute("PRAGMA user_version = 99")
    with opened(foreign) as database:
        database.execute("CREATE TABLE t (a)")
    damaged = store_of(tmp_path / "damaged", BUILD) / "results.sqlite"
    data = damaged.read_bytes()
    assert b"tablelaunchedlaunched" in data
    damaged.write_bytes(data.replace(b"tablelaunchedlaunched", b"table\xffaunchedlaunched"))
    for path, message in (
        (newer, "it has layout 99"),
        (foreign, "not a store of results"),
        (damaged, "cannot read the results"),
        (tmp_path / "mine", "is the store to merge into"),
    ):
        with pytest.raises(StoreError, match=message) as caught:
            merge_stores([path], store_of(tmp_path / "mine", BUILD))
        assert str(path) in str(caught.value)
    text = tmp_path / "matrix.json"
    text.write_text("{}")
    with pytest.raises(SelectionError, match="is a store, but"):
        are_stores([newer, text])
