"""The launcher, as it runs on a GPU host.

The tests use a stand-in for the driver's library, and PyTorch on the CPU.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.launch.archives import (
    PARAMETERS,
    SCRATCH,
    built_standin,
    cell,
    launched,
    recorded,
    results,
    write,
)

pytestmark = pytest.mark.wheels

BUILT = hashlib.sha256(b"as it was built").hexdigest()
"""The digest of a binary that was replaced by another one, which would launch."""
CELLS = [
    *map(
        cell, ("add", "wrong", "racy", "late", "beside", "spoils", "out_of_bounds", "hangs", "dies")
    ),
    cell("add_after", "add"),
    cell("scratch", "add_scratch", parameters=[*PARAMETERS, SCRATCH]),
    cell("clustered", "add", cluster=[2, 1, 1], grid_scale=[2, 1, 1], num_ctas=2),
    cell("too_much_shared", "add", shared=300_000),
    cell("much_shared", "add", shared=100_000),
    cell("too_many_threads", "add", block=[2048, 1, 1]),
    cell("too_many_registers", "many_registers", block=[512, 1, 1]),
    cell("large_cluster", "add", cluster=[16, 1, 1], num_ctas=16),
    cell("larger_cluster", "add", cluster=[16, 1, 1], num_ctas=16, non_portable=True),
    cell("together", "add", cooperative=True, problem="eight"),
    cell("too_many_together", "add", cooperative=True),
    cell("too_few_parameters", "add_scratch"),
    cell("no_such_entry"),
    cell("hinted", "add", hints=["n"]),
    cell("another_default", "add", problem="eight", defaults={"n": 1}, constants={"n": 1}),
    cell(
        *("defaulted", "add"),
        problem="eight",
        parameters=[*PARAMETERS[:3], PARAMETERS[3] | {"name": "m"}],
        defaults={"m": 8, "n": 7, "one": 1},
        constants={"one": 1},
    ),
    cell("no_problem", "add", problem="broken"),
    cell("large_only", "add", problem="only_large"),
    cell("large_only_wrong", "wrong", problem="only_large"),
    cell("small_only", "add", problem="only_small"),
    cell("neither", "add", problem="none"),
    cell("unknown", "add", problem="unknown"),
    cell("unknown_empty", "add", problem="unknown_empty"),
    cell("unknown_racy", "racy", problem="unknown"),
    cell("unknown_out_of_bounds", "out_of_bounds", problem="unknown"),
    recorded("recorded", ["add"]),
    recorded("recorded_in_order", ["wrong", "add"], cluster=[1, 1, 1]),
    recorded("recorded_wrong", ["add", "wrong"]),
    recorded("recorded_for_others", ["add"], sizes=[1, 36]),
    recorded("recorded_otherwise", ["add_scratch"]),
    {**cell("changed", "add"), "object": BUILT},
    {**recorded("recorded_changed", ["add"]), "object": BUILT},
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_standin(tmp_path_factory.mktemp("standin"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write(tmp_path_factory.mktemp("archive") / "built", CELLS)
    (folder / "objects" / BUILT).write_bytes(b"")
    return folder


@pytest.fixture(scope="module")
def records(folder: Path, pair_python: str, library: Path) -> dict[str, dict[str, Any]]:
    """The results of all cells, launched once for all tests."""
    ended = launched(folder, pair_python, library, "--deadline", "2", "--repeats", "30")
    assert ended.returncode == 1, ended.stderr  # some are lost
    return results(folder)


def check(records: dict[str, dict[str, Any]], name: str) -> dict[str, Any]:
    answer: dict[str, Any] = records[name]["check"]
    return answer


@pytest.mark.parametrize(
    "name",
    ["add", "add_after", "scratch", "clustered", "much_shared", "recorded", "recorded_in_order"],
)
def test_correct_cell_is_timed(records: dict[str, dict[str, Any]], name: str) -> None:
    assert check(records, name)["status"] == "ok"
    assert check(records, name)["launches"] == 120
    assert check(records, name)["differing"] == 0
    latency = records[name]["latency"]
    assert latency["us"] > 0
    assert latency["ratio"] == pytest.approx(latency["us"] / latency["baseline_us"], rel=1e-3)
    assert latency["samples"] >= 20


def test_recorded_launches_are_checked_or_refused(records: dict[str, dict[str, Any]]) -> None:
    assert check(records, "recorded_wrong")["status"] == "wrong"
    refused = check(records, "recorded_for_others")
    assert refused["status"] == "launch_refused"
    assert (
        "no launch was recorded for n = 37, out of [37], strides [1], elements of 4 bytes"
        in refused["reason"]
    )
    assert (
        "takes parameters of [8, 8, 8, 4, 8] bytes"
        in check(records, "recorded_otherwise")["reason"]
    )


def test_wrong_numbers_have_a_place_and_no_latency(records: dict[str, dict[str, Any]]) -> None:
    assert check(records, "wrong")["status"] == "wrong"
    assert check(records, "wrong")["max_abs"] > 100
    assert "numbers: out[" in check(records, "wrong")["where"]
    assert records["wrong"]["latency"] is None


def test_race_is_unstable_even_if_the_first_launch_is_right(
    records: dict[str, dict[str, Any]],
) -> None:
    assert check(records, "racy")["status"] == "unstable"
    assert check(records, "racy")["differing"] == 40
    assert (
        "10 of 30 launches differ from the first, which is right"
        in check(records, "racy")["reason"]
    )
    assert check(records, "late")["status"] == "unstable"
    assert check(records, "late")["max_abs"] == 1.0


def test_write_outside_of_an_output_is_wrong(records: dict[str, dict[str, Any]]) -> None:
    assert check(records, "beside")["status"] == "wrong"
    assert "outside of out" in check(records, "beside")["reason"]


def test_changed_input_is_wrong_and_affects_no_other_cell(
    records: dict[str, dict[str, Any]],
) -> None:
    assert check(records, "spoils")["status"] == "wrong"
    assert "changed an input" in check(records, "spoils")["reason"]
    assert check(records, "add_after")["status"] == "ok"


def test_fault_has_its_name_and_affects_no_other_cell(records: dict[str, dict[str, Any]]) -> None:
    assert check(records, "out_of_bounds")["status"] == "faulted"
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in check(records, "out_of_bounds")["reason"]
    assert "numbers" in check(records, "out_of_bounds")["where"]
    assert check(records, "add_after")["status"] == "ok"


def test_kernel_that_hangs_times_out(records: dict[str, dict[str, Any]]) -> None:
    assert check(records, "hangs")["status"] == "timed_out"


def test_cell_whose_process_ends_is_lost(records: dict[str, dict[str, Any]]) -> None:
    assert check(records, "dies")["status"] == "lost"


@pytest.mark.parametrize("name", ["larger_cluster", "together"])
def test_cell_at_a_limit_is_launched(records: dict[str, dict[str, Any]], name: str) -> None:
    assert check(records, name)["status"] == "ok"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "too_much_shared",
            "predicted: it needs 300000 bytes of shared memory, and this GPU allows 232448",
        ),
        ("too_many_threads", "predicted: its block has 2048 threads"),
        (
            "too_many_registers",
            "predicted: its block has 512 threads, and its registers allow 256",
        ),
        (
            "large_cluster",
            "predicted: its cluster has 16 blocks, and its launcher asks for at most 8",
        ),
        (
            "too_many_together",
            "its cooperative grid has 37 blocks, and this GPU runs 8 of them at a time",
        ),
        (
            "too_few_parameters",
            "takes parameters of [8, 8, 8, 4, 8] bytes, but a launch would pass [8, 8, 8, 4]",
        ),
        (
            "no_such_entry",
            "CUDA_ERROR_NOT_FOUND by cuModuleGetFunction; its metrics do not predict this",
        ),
        ("hinted", "n is not a multiple of 16"),
        ("another_default", "n is not 1, but the kernel was compiled for 1"),
        ("changed", f"objects/{BUILT} has changed since it was built"),
        ("recorded_changed", f"objects/{BUILT} has changed since it was built"),
    ],
)
def test_refused_launch_has_a_reason(
    records: dict[str, dict[str, Any]], name: str, reason: str
) -> None:
    assert check(records, name)["status"] == "launch_refused"
    assert reason in check(records, name)["reason"]


def test_problems_of_one_size_are_enough(records: dict[str, dict[str, Any]]) -> None:
    assert check(records, "large_only")["status"] == "ok"
    assert records["large_only"]["latency"]["us"] > 0
    assert check(records, "large_only_wrong")["status"] == "wrong"
    assert check(records, "small_only")["status"] == "ok"
    assert records["small_only"]["latency"] is None
    assert check(records, "neither")["status"] == "lost"
    assert "yielded no problem" in check(records, "neither")["reason"]


def test_cell_whose_problem_cannot_be_made_is_lost(
    records: dict[str, dict[str, Any]],
) -> None:
    assert check(records, "no_problem")["status"] == "lost"
    assert "KeyError" in check(records, "no_problem")["reason"]


def test_launches_without_a_reference_are_compared_with_each_other(
    records: dict[str, dict[str, Any]],
) -> None:
    answer = check(records, "unknown")
    assert answer["status"] == "unsupported"
    assert (
        "30 launches gave the same bits; not compared: no reference is known; it changed out (1 of"
        " 9 elements)" in answer["reason"]
    )
    assert records["unknown"]["latency"] is None
    assert check(records, "unknown_empty")["status"] == "unsupported"
    (values,) = answer["values"]
    assert values["written"] == "000010000"
    assert check(records, "unknown_racy")["status"] == "unstable"
    assert "launches differ from the first" in check(records, "unknown_racy")["reason"]
    assert check(records, "unknown_out_of_bounds")["status"] == "faulted"


def test_result_names_the_device(records: dict[str, dict[str, Any]]) -> None:
    device = records["add"]["device"]
    assert (device["name"], device["cc"], device["cuda"]) == ("stand-in", "9.0", "13.0")


def test_cells_in_the_file_of_results_are_not_launched_again(
    records: dict[str, dict[str, Any]], folder: Path, pair_python: str, library: Path
) -> None:
    """A line that was cut short does not count, nor does a cell of an earlier build."""
    path = folder / "results.jsonl"
    before = [
        line
        for line in path.read_text().splitlines()
        if json.loads(line)["identity"] not in ("wrong", "dies")
    ]
    finished = sum(json.loads(line)["check"]["status"] != "lost" for line in before)
    before.append(json.dumps({**records["add"], "identity": "of an earlier build"}))
    path.write_text("\n".join(before) + '\n{"cell": "kernel/wro')
    ended = launched(
        folder, pair_python, library, "--cells", "*/wrong/*", "--cells", "*/add/*", "--no-latency"
    )
    assert ended.returncode == 0, ended.stderr
    assert f"{len(CELLS)} cells, {finished} already in {path}\n" in ended.stderr
    assert "[1/1] kernel/wrong/case/sm_90/env  wrong" in ended.stderr
    lines = path.read_text().splitlines()
    assert len(lines) == len(before) + 2
    assert json.loads(lines[-1])["identity"] == "wrong"


def test_machine_without_a_driver_launches_nothing(
    records: dict[str, dict[str, Any]], folder: Path, pair_python: str, tmp_path: Path
) -> None:
    out = tmp_path / "results.jsonl"
    ended = launched(folder, pair_python, tmp_path / "libnone.so", "--out", str(out))
    assert ended.returncode == 2
    assert "error: this machine has no GPU driver: " in ended.stderr
    assert "libnone.so" in ended.stderr
    assert not out.exists()


def test_all_cells_are_lost_if_the_known_good_kernel_fails(
    tmp_path: Path, pair_python: str, library: Path
) -> None:
    folder = write(tmp_path / "built", [cell("add"), cell("wrong")])
    ended = launched(folder, pair_python, library, STANDIN_CANARY="wrong")
    assert ended.returncode == 1, ended.stderr
    for line in results(folder).values():
        assert line["check"]["status"] == "lost"
        assert "known-good kernel" in line["check"]["reason"]


def test_no_problem_is_started_without_enough_time(
    tmp_path: Path, pair_python: str, library: Path
) -> None:
    cells = [
        cell("add"),
        cell("eight", "add", problem="eight"),
        cell("small", "add", problem="only_small"),
    ]
    folder = write(tmp_path / "built", cells)
    ended = launched(folder, pair_python, library, "--minutes", "0.001")
    assert ended.returncode == 1, ended.stderr
    assert list(results(folder)) == ["add"]
    assert "2 cells left: run the same command again to continue" in ended.stderr
    again = launched(folder, pair_python, library)
    assert again.returncode == 0, again.stderr
    assert sorted(results(folder)) == ["add", "eight", "small"]
    assert {line["check"]["status"] for line in results(folder).values()} == {"ok"}


def test_zero_minutes_are_refused(tmp_path: Path, pair_python: str, library: Path) -> None:
    folder = write(tmp_path / "built", [cell("add")])
    ended = launched(folder, pair_python, library, "--minutes", "0")
    assert ended.returncode == 2
    assert "--minutes must be above 0" in ended.stderr
