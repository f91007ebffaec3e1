"""Parts of the launcher that need no PyTorch; the driver is the stand-in."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pytest

from compat.toolchains.pytorch.host import kernel, timing
from compat.toolchains.pytorch.host.checking import CellCheck, failed_check
from compat.toolchains.pytorch.host.cuda import CudaDriver
from compat.toolchains.pytorch.host.kernel import RefusedArguments
from compat.toolchains.pytorch.host.watching import verdict_of as together
from compat.toolchains.triton.device.launching import packing
from tests.launch.archives import built_standin
from tests.together import for_each


class Tensor:
    def __init__(self, address: int) -> None:
        self.address = address

    def data_ptr(self) -> int:
        return self.address


class Problem:
    name = "one"


def packed(kind: str, size: int, value: Any) -> bytes:
    parameter = {"name": "x", "type": kind, "packing": packing(kind, size), "size": size}
    (argument,) = values_of([parameter], {"x": value})
    return bytes(argument)


def values_of(
    parameters: list[Any], arguments: dict[str, Any], driver: Any = None, **descriptors: Any
) -> list[Any]:
    problem = {"arguments": arguments, "descriptors": descriptors}
    return kernel.values_of(parameters, problem, {"global": 4096}, driver)


@for_each(
    ("kind", "size", "value", "data"),
    [
        ("*fp16", 8, Tensor(0x7F00DEADBEEF), (0x7F00DEADBEEF).to_bytes(8, "little")),
        ("*fp16", 8, None, bytes(8)),
        ("i32", 4, -2, b"\xfe\xff\xff\xff"),
        ("u64", 8, 2**64 - 1, b"\xff" * 8),
        ("i64", 8, 2**40, (2**40).to_bytes(8, "little")),
        ("i1", 1, True, b"\x01"),
        ("i1", 4, True, b"\x01\0\0\0"),
        ("fp32", 4, 0.1, struct.pack("<f", 0.1)),
        ("fp32", 4, "-inf", struct.pack("<f", float("-inf"))),  # a default
        ("fp64", 8, 0.1, struct.pack("<d", 0.1)),
        ("fp16", 2, 1.5, struct.pack("<e", 1.5)),
        ("fp16", 4, 1.5, struct.pack("<f", 1.5)),  # as launchers up to 3.3 pass it
        ("bf16", 2, 1.5, b"\xc0\x3f"),
    ],
)
def test_arguments_are_packed_as_the_kernel_expects_them(
    kind: str, size: int, value: Any, data: bytes
) -> None:
    assert packed(kind, size, value) == data


@pytest.mark.parametrize(
    ("kind", "value"), [("i32", "seven"), ("fp16", 1e9), ("*fp16", -1), ("fp32", None)]
)
def test_argument_that_cannot_be_packed_is_refused(kind: str, value: Any) -> None:
    with pytest.raises(RefusedArguments, match="cannot be passed"):
        packed(kind, 8 if kind.startswith("*") else 2 if kind == "fp16" else 4, value)


def test_tensor_with_elements_of_another_size_is_refused() -> None:
    parameter = {"name": "x", "type": "*fp32", "packing": "address", "size": 8, "element_bytes": 4}
    with pytest.raises(RefusedArguments, match="x has elements of 2 bytes, and the kernel was"):
        values_of([parameter], {"x": Matrix(4096)})


def test_elements_of_tuples_and_scratch_memory_are_passed() -> None:
    parameters = [
        {"name": "args[1]", "type": "i32", "packing": "integer", "size": 4},
        {"scratch": "global", "size": 8},
        {"scratch": "profile", "size": 8},
    ]
    first, second, third = values_of(parameters, {"args": (1, 7)})
    assert bytes(first) == (7).to_bytes(4, "little")
    assert (second.value, third.value) == (4096, 0)


def test_missing_argument_is_refused() -> None:
    with pytest.raises(RefusedArguments, match="no argument n"):
        values_of([{"name": "n", "type": "i32", "packing": "integer", "size": 4}], {})


class Matrix(Tensor):
    """Rows of 40 fp16 elements that are 48 elements apart."""

    def __init__(
        self,
        address: int,
        strides: tuple[int, ...] = (48, 1),
        shape: tuple[int, ...] = (24, 40),
    ) -> None:
        super().__init__(address)
        self.strides, self.shape = strides, shape

    def stride(self) -> tuple[int, ...]:
        return self.strides

    def element_size(self) -> int:
        return 2


MAP = {
    "name": "x",
    "type": "tensordesc<fp16[16, 64]>",
    "packing": "tensor_map",
    "size": 128,
    "options": ["padding"],
    "map": {
        "swizzle": 3,
        "element": 6,
        "element_bytes": 2,
        "block": [16, 64],
        "fp4_padded": False,
    },
}


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> CudaDriver:
    return CudaDriver(str(built_standin(tmp_path_factory.mktemp("driver"))))


@pytest.mark.parametrize(
    ("options", "filling", "element"),
    [({}, 0, 6), ({"padding": "nan"}, 1, 6), ({"round_f32_to_tf32": True}, 0, 11)],
)
def test_tensor_map_describes_the_whole_tensor(
    driver: CudaDriver, options: dict[str, object], filling: int, element: int
) -> None:
    parameter = {**MAP, "options": ["padding", "round_f32_to_tf32"]}
    (tensor_map,) = values_of([parameter], {"x": Matrix(4096)}, driver, x=options)
    facts, address, *rest = struct.unpack("<16Q", bytes(tensor_map))
    assert facts == element | 2 << 8 | 3 << 16 | filling << 24 | 2 << 32  # 2 axes, 128 bytes
    assert address == 4096
    assert rest == [40, 24, 0, 0, 0, 96, 0, 0, 0, 0, 64 | 1 << 32, 16 | 1 << 32, 0, 0]


def test_tensor_map_has_the_innermost_axis_first(driver: CudaDriver) -> None:
    of_three = {**MAP, "map": {**MAP["map"], "block": [1, 16, 64]}}  # type: ignore[dict-item]
    tensor = Matrix(4096, (1200, 48, 1), (3, 24, 40))
    (tensor_map,) = values_of([of_three], {"x": tensor}, driver)
    sizes, strides, block = (
        struct.unpack("<16Q", bytes(tensor_map))[at : at + 3] for at in (2, 7, 12)
    )
    assert (sizes, strides) == ((40, 24, 3), (96, 2400, 0))
    assert [size & 0xFFFF for size in block] == [64, 16, 1]


def test_tensor_map_of_padded_fp4_counts_half_bytes(driver: CudaDriver) -> None:
    padded = {**MAP, "map": {**MAP["map"], "fp4_padded": True}}  # type: ignore[dict-item]
    (tensor_map,) = values_of([padded], {"x": Matrix(4096)}, driver)
    assert struct.unpack("<16Q", bytes(tensor_map))[2:4] == (80, 24)


@pytest.mark.parametrize(
    ("tensor", "options", "message"),
    [
        (Matrix(4096), {"round_f32_to_tf32": True}, "its release have no round_f32_to_tf32"),
        (Matrix(4096, (48, 2)), {}, "the innermost stride 2"),
        (Matrix(4104), {}, "makes no tensor map for x"),
        (Matrix(4096, (44, 1)), {}, r"strides \[44, 1\]"),
        (7, {}, "must be a tensor"),
    ],
)
def test_argument_without_a_tensor_map_is_refused(
    driver: CudaDriver, tensor: Any, options: dict[str, object], message: str
) -> None:
    with pytest.raises(RefusedArguments, match=message):
        values_of([MAP], {"x": tensor}, driver, x=options)


def test_tensor_of_another_rank_or_element_size_is_refused(driver: CudaDriver) -> None:
    for facts, message in (
        ({"block": [1, 16, 64]}, "x has 2 axes and .* takes 3 axes"),
        ({"element_bytes": 4}, "elements of 2 bytes, and the kernel was compiled for 4"),
    ):
        other = {**MAP, "map": {**MAP["map"], **facts}}  # type: ignore[dict-item]
        with pytest.raises(RefusedArguments, match=message):
            values_of([other], {"x": Matrix(4096)}, driver)


def test_sizes_strides_and_options_of_a_descriptor_are_passed() -> None:
    parameters = [
        {"name": "x", "packing": "address", "size": 8, "type": "tensordesc<fp16[16, 64]>"},
        {"name": "x", "packing": "shape", "axis": 1, "size": 4},
        {"name": "x", "packing": "stride", "axis": 0, "size": 8},
        {"name": "x", "packing": "option", "option": "padding", "size": 1},
        {"name": "x", "packing": "option", "option": "round_f32_to_tf32", "size": 1},
    ]
    values = values_of(parameters, {"x": Matrix(4096)}, x={"padding": "nan"})
    assert [int.from_bytes(bytes(value), "little") for value in values] == [4096, 40, 48, 1, 0]


def test_arguments_that_contradict_a_hint_are_refused() -> None:
    facts = {"multiples": {"x": 16, "n": 16}, "constants": {"s": 1}}
    kernel.check_assumptions(facts, {"x": Tensor(64), "n": 32, "s": 1})
    for arguments, message in (
        ({"x": Tensor(8)}, "x is not a multiple"),
        ({"n": 3}, "n is not a multiple"),
        ({"s": 2}, "s is not 1"),
    ):
        with pytest.raises(RefusedArguments, match=message):
            kernel.check_assumptions(facts, {"x": Tensor(64), "n": 32, "s": 1, **arguments})


def test_median_and_spread_ignore_an_outlier() -> None:
    samples = [4.0, 1.0, 2.0, 3.0, 100.0]
    assert timing.median(samples) == 3.0
    assert timing.spread(samples) == 1.0


def test_neighbours_that_differ_are_timed_again() -> None:
    a, b, c = [100.0, 100.1, 100.2], [100.5, 100.6, 100.7], [140.0, 140.1, 140.2]
    assert timing.differing([a, b, c, c], entrants("xxxx"), range(4)) == [1, 2]
    assert timing.differing([a, b, c, c], entrants("xxxx"), [0, 1, 3]) == [1]
    assert timing.differing([a, b, c], entrants("xxy"), range(3)) == []


def entrants(series: str, contests: str = "", releases: str = "") -> list[timing.Entrant]:
    """Launches whose series, contests and releases have names of one letter."""
    launches = []
    for index, name in enumerate(series):
        release = releases[index] if releases else str(index)
        contest = {"contest": contests[index]} if contests else {}
        cell = {"series": name, "cell": f"kernel/variant/{name}/sm_90/{release}", **contest}
        launches.append(timing.Entrant(lambda: None, cell))
    return launches


def test_configs_that_are_slow_everywhere_leave_a_contest() -> None:
    of = entrants("aabbccdd", "k" * 8, "12" * 4)
    # a is the best on 1, and d on 2. b comes close to a. c comes close to neither.
    timings = [[us] for us in (100.0, 150.0, 104.0, 190.0, 120.0, 130.0, 200.0, 90.0)]
    assert timing.remaining(of, timings, range(8)) == {0, 1, 2, 3, 6, 7}
    # The faster half stays, no matter how slow it is.
    alone = entrants("abc", "kkk", "111")
    assert timing.remaining(alone, [[100.0], [200.0], [300.0]], range(3)) == {0, 1}
    # Each contest has its own best config. A launch in no contest stays.
    both = entrants("abc", "kll", "111")
    both[2].contest = None
    assert timing.remaining(both, [[100.0], [900.0], [999.0]], range(3)) == {0, 1, 2}


class _Clock:
    """A clock for calls whose times are listed."""

    def __init__(self, timings: dict[Any, list[float]]) -> None:
        self.taken: dict[Any, Iterator[float]] = {
            call: iter(samples) for call, samples in timings.items()
        }
        self.order: list[Any] = []

    def warm_up(self, calls: Any, alive: Any) -> None:
        for call, _ in calls:
            call()

    def rounds(self, calls: Any, count: int, alive: Any) -> list[list[float]]:
        samples: list[list[float]] = [[] for _ in calls]
        for _ in range(count):
            for index, (call, _) in enumerate(calls):
                self.order.append(call)
                samples[index].append(next(self.taken[call]))
        return samples


def test_releases_and_the_baseline_take_turns() -> None:
    def old() -> None: ...
    def new() -> None: ...
    def base() -> None: ...

    clock: Any = _Clock({old: [100.0] * 90, new: [150.0] * 25 + [101.0] * 65, base: [50.0] * 90})
    both = entrants("xx")
    both[0].launch, both[1].launch = old, new
    latencies, baseline = timing.time_launches(clock, both, base, lambda _: None)
    assert clock.order[:6] == [old, new, base] * 2
    assert baseline == 50.0
    # The releases differ, and are timed a second time.
    assert [latency["samples"] for latency in latencies] == [45, 45]
    assert (latencies[1]["first_us"], latencies[1]["us"]) == (150.0, 150.0)


def test_baseline_that_fails_is_none() -> None:
    def kernel() -> None: ...
    def base() -> None:
        raise RuntimeError

    clock = _Clock({kernel: [1.0] * 90})
    (alone,) = entrants("x")
    alone.launch = kernel
    latencies, baseline = timing.time_launches(clock, [alone], base, lambda _: None)  # type: ignore[arg-type]
    assert baseline is None
    assert latencies[0]["us"] == 1.0


@pytest.mark.parametrize(("seconds", "samples"), [(1e6, 3 + 5 + 25), (0.0, 3 + 5 + 5)])
def test_slow_configs_and_short_time_mean_fewer_samples(seconds: float, samples: int) -> None:
    def base() -> None: ...

    of = entrants("abcd", "kkkk", "1111")
    calls = []
    for index, entrant in enumerate(of):
        entrant.launch = lambda index=index: None  # type: ignore[misc]
        calls.append(entrant.launch)
    timings: dict[Any, list[float]] = {call: [100.0 * n] * 90 for n, call in enumerate(calls, 1)}
    clock: Any = _Clock({**timings, base: [9.0] * 90})
    latencies, baseline = timing.time_launches(
        clock, of, base, lambda _: None, until=time.monotonic() + seconds
    )
    assert [latency["samples"] for latency in latencies] == [samples, 3 + 5, 3, 3]
    assert [latency["us"] for latency in latencies] == [100.0, 200.0, 300.0, 400.0]
    assert baseline == 9.0


# --- statuses of launches -------------------------------------------------------------------------

OK = {"status": "ok", "max_abs": 0.1, "max_rel": 0.2, "where": "one: x[0]", "reason": ""}
WRONG = {
    "status": "wrong",
    "max_abs": 5.0,
    "max_rel": 2.0,
    "where": "one: x[3]",
    "reason": "is 5, expected 0",
}
NOT_A_NUMBER = {
    "status": "wrong",
    "max_abs": None,
    "max_rel": None,
    "where": "one: x[9]",
    "reason": "is nan, expected 0",
}


def check_of(
    *launches: tuple[dict[str, Any], list[dict[str, Any] | None]], spoiled: str | None = None
) -> dict[str, Any]:
    check = CellCheck()
    for first, differing in launches:
        check.add(Problem(), first, differing, 30)  # type: ignore[arg-type]
    return check.result(spoiled)


def test_correct_launches_are_ok() -> None:
    answer = check_of((OK, []), (OK, []))
    assert (answer["status"], answer["launches"], answer["differing"], answer["max_abs"]) == (
        "ok",
        60,
        0,
        0.1,
    )


@for_each("launches", [*permutations((OK, WRONG, NOT_A_NUMBER))])
def test_answer_has_the_worst_error(launches: tuple[dict[str, Any], ...]) -> None:
    answer = check_of(*((launch, []) for launch in launches))
    assert (answer["status"], answer["max_abs"], answer["where"]) == ("wrong", None, "one: x[9]")


def test_launches_that_differ_are_unstable_even_if_all_are_right() -> None:
    answer = check_of((OK, [OK, OK]))
    assert (answer["status"], answer["differing"]) == ("unstable", 2)
    assert "all that were compared are right" in answer["reason"]
    assert check_of((OK, [WRONG, None]))["reason"].endswith("1 of 1 that were compared are wrong")


def test_kernel_that_changes_an_input_is_wrong() -> None:
    assert check_of((OK, []), spoiled="one")["status"] == "wrong"
    assert check_of((OK, [WRONG]), spoiled="one")["status"] == "wrong"


@for_each(
    ("first", "second", "status"),
    [
        ("faulted", "faulted", "faulted"),
        ("faulted", "ok", "unstable"),
        ("timed_out", "ok", "unstable"),
        ("lost", "ok", "ok"),
        ("faulted", "wrong", "wrong"),
        ("lost", "lost", "lost"),
    ],
)
def test_second_attempt_decides_the_status(first: str, second: str, status: str) -> None:
    answer = together(failed_check(first, "CUDA_ERROR_ILLEGAL_ADDRESS"), failed_check(second, ""))
    assert answer["status"] == status
    assert first == second or first in answer["reason"]
