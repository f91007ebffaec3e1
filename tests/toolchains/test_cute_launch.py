"""CuTe DSL: compiles record launches, and a GPU host gets the record."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from compat import toolchains
from compat.config.env_tables import built_in_declarations
from compat.config.kernel_files import load_kernels
from compat.launch.building import launch_mode
from compat.model import BuiltEnv, Cell, CompileSpec, Evidence, Specialization
from compat.store.keys import CellKeys
from compat.store.store import Store
from compat.toolchains.base import CannotLaunch
from compat.toolchains.cute.device import LAUNCHING, facts
from compat.toolchains.cute.inside.adapter import arguments, recording
from compat.toolchains.cute.inside.adapter.recording import UnrecordableLaunch
from compat.workers.attempt import KEEPING_IR, LAUNCHABLE, Mode
from compat.workers.watch import attempt
from tests.cells import worker
from tests.toolchains import cute_faces
from tests.toolchains.compiling import LIMITS

REPOSITORY = Path(__file__).resolve().parents[2]
BOTH = "tests/kernels/cute_launched/both.toml"
SPEC = CompileSpec()
X, Y = 0x2B67_0000_0000, 0x2BA7_0000_0000
TENSORS = {"x": {"address": X}, "y": {"address": Y}}
MOVED = {"x": {"address": X + (1 << 44)}, "y": {"address": Y + (1 << 44)}}


def specs(*files: str) -> list[Specialization]:
    return list(load_kernels(list(files), REPOSITORY))


# --- addresses ------------------------------------------------------------------------------------


def data(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(8, "little") for number in numbers)


def test_addresses_are_found_in_bytes() -> None:
    parameter = recording._parameter(
        data(7, Y, X + 32), data(7, Y + (1 << 44), X + 32 + (1 << 44)), TENSORS, MOVED
    )
    assert parameter == {"data": data(7, 0, 0).hex(), "patches": [[8, "y", 0], [16, "x", 32]]}


@pytest.mark.parametrize("second", [data(X + 1 + (1 << 44)), data(X >> 4)])
def test_address_that_does_not_move_with_its_tensor_is_unrecordable(
    second: bytes,
) -> None:
    with pytest.raises(UnrecordableLaunch, match="in an unknown form"):
        recording._parameter(data(X), second, TENSORS, MOVED)


def test_size_that_looks_like_an_address_is_not_patched() -> None:
    size = (16).to_bytes(4, "little") + (X >> 32).to_bytes(4, "little")
    assert recording._parameter(size, size, TENSORS, MOVED) == {"data": size.hex(), "patches": []}


def test_address_in_an_unknown_form_is_unrecordable() -> None:
    with pytest.raises(UnrecordableLaunch, match="in an unknown form"):
        recording._parameter(data(X >> 4), data((X + (1 << 44)) >> 4), TENSORS, MOVED)


def test_launch_attributes_are_read_and_unknown_ones_are_unrecordable() -> None:
    attributes = recording._attributes({4: [2, 1, 1, 9], 5: [1, 9], 6: [0, 9], 2: [1]})
    assert attributes == {
        "cluster": [2, 1, 1],
        "cluster_policy": 1,
        "cooperative": True,
        "pdl": False,
    }
    assert recording._attributes({4: [1, 1, 1]})["cluster"] is None
    with pytest.raises(UnrecordableLaunch, match="attribute 8,"):
        recording._attributes({8: [1]})


# --- sizes ----------------------------------------------------------------------------------------

SIGNATURE = {
    "x": "fp16[m, n%8]",
    "pair": ["fp32[k]:[1]", "i32"],
    "p": "ptr<fp16>",
    "scale": "fp32",
    "s": "stream",
}


def test_sizes_of_a_problem_must_name_run_time_sizes_and_numbers() -> None:
    assert arguments.unknown(SIGNATURE) == ["m", "n", "k", "pair[1]", "scale"]
    assert arguments.unknown(SIGNATURE, sizes=False) == ["pair[1]", "scale"]


def test_arguments_are_passed_in_the_order_of_the_function() -> None:
    class Kernel:
        def __call__(self, scale: float, x: object, threads: int) -> None: ...

    assert arguments.in_order(Kernel, {"x": "fp16[m]", "scale": "fp32"}) == ["scale", "x"]
    assert arguments.in_order(Kernel.__call__, {"x": "fp16[m]"}) == ["x"]


def test_each_tensor_has_an_address_of_its_own() -> None:
    memory = arguments.Memory(1 << 44)
    assert memory.place("x", align=16) == 1 << 44
    assert memory.place("y") - (1 << 44) == arguments.APART
    assert memory.tensors["x"] == {"address": 1 << 44, "align": 16}
    nowhere = arguments.Memory()
    assert nowhere.place("x") == nowhere.place("y")


def test_launch_facts_come_from_the_recorded_launches() -> None:
    small = {"entry": "k", "block": [64, 1, 1], "shared": 16}
    large = {"entry": "l", "block": [32, 4, 1], "shared": 8}
    recorded = [{"arguments": {"x": {"align": 32}, "n": {"value": 1}}, "launches": [small, large]}]
    launch_facts = facts(json.dumps({"recorded": recorded}), "", SPEC)
    assert (launch_facts["shared"], launch_facts["block"], launch_facts["multiples"]) == (
        16,
        [32, 4, 1],
        {"x": 32},
    )
    assert launch_facts["recorded"] == recorded
    for metadata, why in (
        ({"why": "it calls cuGraphLaunch"}, "it calls cuGraphLaunch"),
        ({"recorded": [{"arguments": {}, "launches": []}]}, "launches no kernel"),
        ({"recorded": [{}]}, "the adapter's record of its launches is invalid"),
        ([], "the adapter's record of its launches is invalid"),
    ):
        with pytest.raises(CannotLaunch, match=why):
            facts(json.dumps(metadata), "", SPEC)


def test_other_sizes_change_the_key_of_a_launched_cell_only() -> None:
    spec, *_ = specs("kernels/cute/copy.toml")
    assert spec.problem is not None
    env = BuiltEnv(
        env=next(env for env in built_in_declarations().envs if env.name == "cute-4.8.1"),
        digest="d",
    )
    other = evolve(
        spec,
        problem=evolve(spec.problem, parameters={**spec.problem.parameters, "sizes": [{"n": 2}]}),
    )
    cells = [
        Cell(env=env.env, target=cute_faces.target(), spec=specialization)
        for specialization in (spec, other)
    ]
    plain, launched = (
        {CellKeys("w", mode).of(cell, env) for cell in cells}
        for mode in (Mode(), launch_mode(cells[0]))
    )
    assert (len(plain), len(launched)) == (1, 2)


def test_cute_has_the_same_launcher_packages_as_triton() -> None:
    triton = toolchains.look_up("triton").launching
    assert triton is not None
    assert triton.packages == LAUNCHING.packages


# --- on real wheels -------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["4.2.1", "4.8.1"])
def compiles(
    request: pytest.FixtureRequest,
    built: Callable[[str], BuiltEnv],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, tuple[Evidence, Store]]]:
    """Case → the evidence of a compile for launching, and the store that keeps its artifacts.

    ``plain`` is a compile of the copy that is not for launching.
    """
    env = built(f"cute-{request.param}")
    batch = [
        Cell(env=env.env, target=cute_faces.target(), spec=spec)
        for spec in specs(BOTH, "kernels/cute/copy.toml")
    ]
    with worker(env) as server, Store(tmp_path_factory.mktemp("kept")) as store:
        by_case = {}
        for mode, cells in ((launch_mode(batch[0]), batch), (KEEPING_IR, batch[-1:])):
            for cell, evidence in attempt(
                server, cells, LIMITS, stop=threading.Event(), mode=mode, keep=store.keep
            ):
                assert evidence.complete, evidence.raised
                by_case["plain" if mode is KEEPING_IR else cell.spec.case] = evidence, store
        yield by_case


def launched(evidence: Evidence, store: Store) -> dict[str, Any]:
    _, _, metadata = unpacked(evidence, store)
    return facts(metadata.decode(), "", SPEC)


def unpacked(evidence: Evidence, store: Store) -> tuple[bytes, bytes, bytes]:
    data = store.artifact(evidence.artifacts[LAUNCHABLE])
    assert data is not None
    return LAUNCHING.unpack(data)


@pytest.mark.wheels
def test_recorded_copy_has_its_arguments_grid_and_parameters(
    compiles: dict[str, tuple[Evidence, Store]],
) -> None:
    launch_facts = launched(*compiles["default"])
    assert [record["arguments"]["n"]["value"] for record in launch_facts["recorded"]] == [
        1,
        128,
        129,
        1000,
        2**24,
    ]
    assert launch_facts["multiples"] == {"src": 16, "dst": 16}
    third = launch_facts["recorded"][2]
    assert third["arguments"]["src"] == {"bytes": 2, "align": 16, "shape": [129], "strides": [1]}
    (launch,) = third["launches"]
    assert (launch["grid"], launch["block"], launch["shared"], launch["cluster"]) == (
        [2, 1, 1],
        [128, 1, 1],
        0,
        None,
    )
    src, dst, n = launch["parameters"]
    assert (src["patches"], dst["patches"], n["patches"]) == ([[0, "src", 0]], [[0, "dst", 0]], [])
    assert (
        bytes.fromhex(src["data"])
        == bytes.fromhex(dst["data"])
        == bytes(8) + (129).to_bytes(8, "little")
    )
    assert bytes.fromhex(n["data"]) == (129).to_bytes(4, "little")


@pytest.mark.wheels
def test_launched_binary_is_the_one_of_a_plain_compile(
    compiles: dict[str, tuple[Evidence, Store]],
) -> None:
    (launch, store), (plain, _) = compiles["default"], compiles["plain"]
    assert unpacked(launch, store)[0] == store.artifact(plain.artifacts["cubin"])
    assert "metadata" not in plain.artifacts


@pytest.mark.wheels
def test_launches_of_several_kernels_are_recorded_in_order(
    compiles: dict[str, tuple[Evidence, Store]],
) -> None:
    launch_facts = launched(*compiles["whole"])
    assert [len(record["launches"]) for record in launch_facts["recorded"]] == [2, 2, 2]
    scale, add = launch_facts["recorded"][1]["launches"]
    assert ("scale" in scale["entry"], "add" in add["entry"]) == (True, True)
    assert (scale["grid"], add["grid"]) == ([3, 1, 1], [4, 1, 1])
    assert (scale["cluster"], add["cluster"]) == (None, [2, 1, 1])
    assert [parameter["patches"] for parameter in add["parameters"]] == [
        [[0, "more", 0]],
        [[0, "pair[1]", 0]],
    ]
    assert scale["parameters"][2]["data"] == "0000003f"
    assert launch_facts["multiples"] == {"pair[0]": 16, "pair[1]": 16, "more": 16}


@pytest.mark.wheels
def test_problem_whose_sizes_lack_a_value_is_unlaunchable(
    compiles: dict[str, tuple[Evidence, Store]],
) -> None:
    with pytest.raises(CannotLaunch, match="the sizes of its problem do not say what factor is"):
        launched(*compiles["half"])
