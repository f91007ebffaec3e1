"""Results of a GPU host: which ones the store keeps, and which cells get them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from packaging.version import Version

from compat.errors import StoreError
from compat.launch.building import identity_of, problem_digest
from compat.launch.merging import (
    MergedResults,
    merge,
    merge_summary,
    with_every_launch,
    with_launch_of,
    with_launched,
)
from compat.model import BuiltEnv, CompletedAction, Env, Evidence, Outcome, Problem, Result, Status
from compat.report.folder import merge_stores
from compat.store.database import LaunchedRow
from compat.store.store import Store
from tests.cells import cell
from tests.sqlite import opened
from tests.together import for_each

ENV = Env(name="triton-3.1.0", release=Version("3.1.0"))
BUILT = BuiltEnv(env=ENV, python="/env/bin/python", digest="d1")
PROBLEM = Problem(
    source="/k/problems.py", function="fine", closure="c", dtype="fp32", parameters={"BLOCK": 128}
)
CELL = cell(ENV, "faces", "fine", problem=PROBLEM)
RESULT = Result(cell=CELL, built=BUILT, outcome=Outcome(status=Status.OK, stage="cubin"))
CHECK = {
    "status": "ok",
    "max_abs": 0.5,
    "max_rel": None,
    "where": "a: x[0]",
    "reason": "",
    "launches": 60,
    "differing": 0,
}
LATENCY = {"us": 10.0, "spread": 0.1, "baseline_us": 5.0, "ratio": 2.0, "samples": 25}


def line(**changes: Any) -> dict[str, Any]:
    return {
        "schema": 1,
        "cell": CELL.id,
        "identity": identity_of(CELL, BUILT),
        "object": "0" * 64,
        "problem": problem_digest(PROBLEM),
        "check": CHECK,
        "latency": LATENCY,
        "device": {"name": "NVIDIA H200"},
        **changes,
    }


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "store") as opened:
        yield opened


def merged(store: Store, *lines: object) -> MergedResults:
    path = store.folder / "results.jsonl"
    path.write_text(
        "".join((entry if isinstance(entry, str) else json.dumps(entry)) + "\n" for entry in lines)
    )
    return merge(path, store)


def with_launches(store: Store, result: Result = RESULT) -> Result:
    (launched_result,) = with_launched([result], store)
    return launched_result


def test_launch_results_are_attached_to_their_cell(store: Store) -> None:
    assert merged(store, line()) == MergedResults(stored=1, lost=0, unreadable=0)
    result = with_launches(store)
    assert result.numbers.gpu is not None
    assert (result.numbers.gpu.status, result.numbers.gpu.max_abs, result.numbers.gpu.device) == (
        Status.OK,
        0.5,
        "NVIDIA H200",
    )
    assert (result.numbers.gpu.launches, result.numbers.gpu.differing) == (60, 0)
    assert result.latency is not None
    assert (result.latency.us, result.latency.ratio, result.latency.device) == (
        10.0,
        2.0,
        "NVIDIA H200",
    )


def test_one_gpu_counts_for_all_cells_unless_another_computes_wrong_numbers(store: Store) -> None:
    newer = evolve(BUILT, digest="d2")
    results = [RESULT, evolve(RESULT, built=newer)]
    on_h100, wrong = {"device": {"name": "NVIDIA H100"}}, {**CHECK, "status": "wrong"}
    other = {"identity": identity_of(CELL, newer)}
    merged(store, line(**on_h100), line(), line(**other))

    def shown() -> list[tuple[str | None, Status]]:
        checks = [result.numbers.gpu for result in with_launched(results, store)]
        return [(check.device, check.status) for check in checks if check is not None]

    assert shown() == [("NVIDIA H200", Status.OK), ("NVIDIA H200", Status.OK)]
    merged(store, line(**on_h100, check=wrong, latency=None))
    assert shown() == [("NVIDIA H100", Status.WRONG), ("NVIDIA H200", Status.OK)]
    checks = [result.numbers.gpu for result in with_every_launch(results, store)]
    assert [check.status for check in checks if check is not None] == ["wrong", "ok", "ok"]


def test_of_the_launches_of_an_identity_one_with_wrong_numbers_counts(store: Store) -> None:
    on_h100, wrong = {"device": {"name": "NVIDIA H100"}}, {**CHECK, "status": "wrong"}
    merged(store, line(identity="i", **on_h100), line(identity="i", check=wrong, latency=None))
    check = with_launch_of(RESULT, "i", store).numbers.gpu
    assert check is not None
    assert (check.device, check.status) == ("NVIDIA H200", Status.WRONG)


def test_a_cell_keeps_its_launch_results_when_its_source_moves(store: Store) -> None:
    merged(store, line())
    moved = evolve(RESULT, cell=evolve(CELL, spec=evolve(CELL.spec, source="/elsewhere/faces.py")))
    assert with_launches(store, moved).numbers.gpu is not None


@pytest.mark.parametrize(
    "other",
    [
        evolve(RESULT, built=evolve(BUILT, digest="d2")),
        evolve(RESULT, cell=evolve(CELL, spec=evolve(CELL.spec, closure="other"))),
        evolve(
            RESULT,
            cell=evolve(
                CELL, spec=evolve(CELL.spec, problem=evolve(PROBLEM, parameters={"BLOCK": 64}))
            ),
        ),
        evolve(RESULT, cell=evolve(CELL, spec=evolve(CELL.spec, problem=None))),
        evolve(RESULT, cell=cell(ENV, "faces", "fine", target="sm_80", problem=PROBLEM)),
        evolve(RESULT, outcome=Outcome(status=Status.REJECTED, stage="ast")),
    ],
)
def test_another_cell_or_outcome_gets_no_launch_results(store: Store, other: Result) -> None:
    merged(store, line())
    assert with_launches(store, other) is other


def test_the_last_of_several_launch_results_counts(store: Store) -> None:
    wrong = {**CHECK, "status": "wrong", "reason": "is 5, expected 0"}
    merged(store, line(), line(check=wrong, latency=None))
    result = with_launches(store)
    assert result.numbers.gpu is not None
    assert (result.numbers.gpu.status, result.numbers.gpu.reason, result.latency) == (
        Status.WRONG,
        "is 5, expected 0",
        None,
    )
    merged(store, line())
    assert with_launches(store).latency is not None


def test_a_lost_launch_is_no_result_and_replaces_none(store: Store) -> None:
    merged(store, line())
    lost = line(check={**CHECK, "status": "lost"}, device=None)
    assert merged(store, lost) == MergedResults(stored=0, lost=1, unreadable=0)
    assert with_launches(store).latency is not None
    assert merged(store, lost, line()) == MergedResults(stored=1, lost=0, unreadable=0)


@pytest.mark.parametrize(
    "bad",
    [
        '{"cell": "k/v',
        "[]",
        line(identity=7),
        line(check=None),
        line(check={**CHECK, "status": "fine"}),
        line(device={"name": ""}),
        line(latency={"us": "fast", "spread": 1}),
        line(latency={"us": 0, "spread": 0}),
        json.dumps(line(latency={"us": 1.0, "spread": 1.0})).replace('"us": 1.0', '"us": NaN'),
    ],
)
def test_unreadable_lines_are_counted(store: Store, bad: object) -> None:
    assert merged(store, bad, line()) == MergedResults(stored=1, lost=0, unreadable=1)


def test_invalid_numbers_are_left_out(store: Store) -> None:
    merged(store, line(check={**CHECK, "max_abs": "large", "launches": -1, "where": 7}))
    gpu = with_launches(store).numbers.gpu
    assert gpu is not None
    assert (gpu.max_abs, gpu.launches, gpu.where) == (None, None, "")


@pytest.mark.parametrize(
    ("lines", "message"), [(["what"], "no result"), ([line(schema=2)], "has schema 2")]
)
def test_files_of_another_kind_or_schema_are_refused(
    store: Store, lines: list[object], message: str
) -> None:
    with pytest.raises(StoreError, match=message):
        merged(store, *lines)


def test_a_missing_file_is_an_error(store: Store) -> None:
    with pytest.raises(StoreError, match="cannot read the results"):
        merge(store.folder / "none.jsonl", store)


def test_an_invalid_row_of_the_store_is_ignored(store: Store) -> None:
    identity, problem = identity_of(CELL, BUILT), problem_digest(PROBLEM)
    store.add_launched(
        [
            LaunchedRow(
                identity=identity, problem=problem, device="x", cell="", object="", result="[]"
            )
        ]
    )
    assert with_launches(store) is RESULT


def check_of(status: str) -> dict[str, Any]:
    return {**CHECK, "status": status, "reason": "" if status == "ok" else "why"}


@for_each(
    ("own", "other", "status", "reason", "disagree"),
    [
        ("ok", "ok", "ok", "", False),
        ("ok", "wrong", "unstable", "wrong in one run, ok in another", True),
        ("faulted", "ok", "unstable", "faulted in one run, ok in another", True),
        ("wrong", "faulted", "wrong", "why; faulted in another run", True),
        ("timed_out", "launch_refused", "timed_out", "why; launch_refused in another run", True),
        ("unstable", "ok", "unstable", "why", False),
        ("ok", "unstable", "unstable", "why", False),
        ("unsupported", "wrong", "wrong", "why", False),
        ("ok", "unsupported", "ok", "", False),
    ],
)
def test_launches_of_two_stores_are_reconciled(
    own: str, other: str, status: str, reason: str, disagree: bool, tmp_path: Path
) -> None:
    for name, launched_status in (("mine", own), ("other", other)):
        with Store(tmp_path / name) as store:
            merged(store, line(check=check_of(launched_status)))
    for merge_number in range(2):  # the second merge changes nothing
        _, counts = merge_stores([tmp_path / "other"], tmp_path / "mine")
        assert (counts.new, counts.known) == (0, 1)
        assert counts.disagreeing == ((CELL.id,) if disagree and merge_number == 0 else ())
        with Store(tmp_path / "mine") as store:
            check = with_launches(store).numbers.gpu
        assert check is not None
        assert (check.status, check.reason) == (status, reason)


def test_a_store_without_a_table_of_launches_can_be_used(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.write("k", CELL, (Evidence(answered=True, done=(CompletedAction(do="compile"),)),))
    with opened(tmp_path / "s" / "results.sqlite") as database:
        database.execute("DROP TABLE launched")
    with Store(tmp_path / "s") as store:
        merged(store, line())
        assert with_launches(store).latency is not None


def test_more_launches_than_fit_in_one_query_are_read(store: Store) -> None:
    store.add_launched(
        [
            LaunchedRow(
                identity=f"i{number}", problem="p", device="d", cell="", object="", result="{}"
            )
            for number in range(1200)
        ]
    )
    assert len(store.launch_rows(f"i{number}" for number in range(1200))) == 1200


def test_merged_results_are_summarized_in_one_line() -> None:
    assert (
        merge_summary([MergedResults(stored=1200, lost=0, unreadable=0)]) == "launched 1,200 cells"
    )
    assert (
        merge_summary([MergedResults(stored=1, lost=1, unreadable=1)])
        == "launched 1 cell, 1 lost, 1 unreadable line"
    )
    assert (
        merge_summary(
            [
                MergedResults(stored=1, lost=2, unreadable=0),
                MergedResults(stored=1, lost=0, unreadable=3),
            ]
        )
        == "launched 2 cells, 2 lost, 3 unreadable lines"
    )


def test_output_samples_are_kept_without_a_reference(store: Store) -> None:
    values = [
        {
            "name": "o",
            "type": "float32",
            "elements": 2,
            "changed": 1,
            "sample": ["1.5", "nan"],
            "written": "10",
        }
    ]
    merged(
        store,
        line(
            check={**CHECK, "status": "unsupported", "reason": "not compared", "values": values},
            latency=None,
        ),
    )
    check = with_launches(store).numbers.gpu
    assert check is not None
    assert (check.status, check.right, check.launches) == (Status.UNSUPPORTED, None, 60)
    assert [(sample.name, sample.values[0], sample.written) for sample in check.samples] == [
        ("o", 1.5, (True, False))
    ]
