"""Parts of the launcher that need neither PyTorch nor a driver."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import pytest

from compat.toolchains.pytorch.host import kernel, timing
from compat.toolchains.pytorch.host.checking import CellCheck, failed
from compat.toolchains.pytorch.host.kernel import Refused
from compat.toolchains.pytorch.host.watching import verdict_of as together
from compat.toolchains.triton.device.launching import packing


class Tensor:
    def __init__(self, address: int) -> None:
        self.address = address

    def data_ptr(self) -> int:
        return self.address


class Problem:
    name = "one"


def packed(kind: str, size: int, value: Any) -> bytes:
    parameter = {"name": "x", "type": kind, "packing": packing(kind, size), "size": size}
    (found,) = kernel.values_of([parameter], {"x": value}, {})
    return bytes(found)


@pytest.mark.parametrize(
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
        ("fp64", 8, 0.1, struct.pack("<d", 0.1)),
        ("fp16", 2, 1.5, struct.pack("<e", 1.5)),
        ("fp16", 4, 1.5, struct.pack("<f", 1.5)),  # as launchers up to 3.3 pass it
        ("bf16", 2, 1.5, b"\xc0\x3f"),
    ],
)
def test_arguments_are_packed_as_the_kernel_has_them(
    kind: str, size: int, value: Any, data: bytes
) -> None:
    assert packed(kind, size, value) == data


@pytest.mark.parametrize(
    ("kind", "value"), [("i32", "seven"), ("fp16", 1e9), ("*fp16", -1), ("fp32", None)]
)
def test_what_cannot_be_packed_is_refused(kind: str, value: Any) -> None:
    with pytest.raises(Refused, match="cannot be passed"):
        packed(kind, 8 if kind.startswith("*") else 2 if kind == "fp16" else 4, value)


def test_elements_of_tuples_and_scratch_memory() -> None:
    parameters = [
        {"name": "args[1]", "type": "i32", "packing": "integer", "size": 4},
        {"scratch": "global", "size": 8},
        {"scratch": "profile", "size": 8},
    ]
    first, second, third = kernel.values_of(parameters, {"args": (1, 7)}, {"global": 4096})
    assert bytes(first) == (7).to_bytes(4, "little")
    assert (second.value, third.value) == (4096, 0)


def test_an_argument_that_is_missing_is_refused() -> None:
    with pytest.raises(Refused, match="no argument n"):
        kernel.values_of([{"name": "n", "type": "i32", "packing": "integer", "size": 4}], {}, {})


def test_hints_are_held_to() -> None:
    facts = {"multiples": {"x": 16, "n": 16}, "constants": {"s": 1}}
    kernel.check_assumptions(facts, {"x": Tensor(64), "n": 32, "s": 1})
    for given, words in (
        ({"x": Tensor(8)}, "x is not a multiple"),
        ({"n": 3}, "n is not a multiple"),
        ({"s": 2}, "s is not 1"),
    ):
        with pytest.raises(Refused, match=words):
            kernel.check_assumptions(facts, {"x": Tensor(64), "n": 32, "s": 1, **given})


def test_medians_and_spreads() -> None:
    samples = [4.0, 1.0, 2.0, 3.0, 100.0]
    assert timing.median(samples) == 3.0
    assert timing.spread(samples) == 1.0


def test_neighbours_that_differ_are_timed_again() -> None:
    a, b, c = [100.0, 100.1, 100.2], [100.5, 100.6, 100.7], [140.0, 140.1, 140.2]
    assert timing.differing([a, b, c, c], ["x", "x", "x", "x"]) == [1, 2]
    assert timing.differing([a, b, c], ["x", "x", "y"]) == []


class _Clock:
    """Calls take as long as they say."""

    def __init__(self, taken: dict[Any, list[float]]) -> None:
        self.taken: dict[Any, Iterator[float]] = {
            call: iter(samples) for call, samples in taken.items()
        }
        self.order: list[Any] = []

    def warm_up(self, calls: Any, alive: Any) -> None:
        for call, _ in calls:
            call()

    def rounds(self, calls: Any, count: int, alive: Any) -> list[list[float]]:
        found: list[list[float]] = [[] for _ in calls]
        for _ in range(count):
            for index, (call, _) in enumerate(calls):
                self.order.append(call)
                found[index].append(next(self.taken[call]))
        return found


def test_releases_take_turns_and_the_baseline_too() -> None:
    def old() -> None: ...
    def new() -> None: ...
    def base() -> None: ...

    clock: Any = _Clock({old: [100.0] * 90, new: [150.0] * 25 + [101.0] * 65, base: [50.0] * 90})
    found, baseline = timing.timed(clock, [old, new], ["x", "x"], base, lambda _: None)
    assert clock.order[:6] == [old, new, base] * 2
    assert baseline == 50.0
    # They differ, and are timed a second time.
    assert [each["samples"] for each in found] == [45, 45]
    assert (found[1]["first_us"], found[1]["us"]) == (150.0, 150.0)


def test_a_baseline_that_fails_is_none() -> None:
    def kernel() -> None: ...
    def base() -> None:
        raise RuntimeError

    clock = _Clock({kernel: [1.0] * 90})
    found, baseline = timing.timed(clock, [kernel], ["x"], base, lambda _: None)  # type: ignore[arg-type]
    assert baseline is None
    assert found[0]["us"] == 1.0


# --- what launches mean ---------------------------------------------------------------------------

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


def found(
    *launches: tuple[dict[str, Any], list[dict[str, Any] | None]], spoiled: str | None = None
) -> dict[str, Any]:
    told = CellCheck()
    for first, differing in launches:
        told.add(Problem(), first, differing, 30)  # type: ignore[arg-type]
    return told.result(spoiled)


def test_all_right() -> None:
    answer = found((OK, []), (OK, []))
    assert (answer["status"], answer["launches"], answer["differing"], answer["max_abs"]) == (
        "ok",
        60,
        0,
        0.1,
    )


def test_the_worst_error_is_told() -> None:
    answer = found((OK, []), (WRONG, []), (NOT_A_NUMBER, []))
    assert (answer["status"], answer["max_abs"], answer["where"]) == ("wrong", None, "one: x[9]")


def test_launches_that_differ_are_unstable_also_where_all_are_right() -> None:
    answer = found((OK, [OK, OK]))
    assert (answer["status"], answer["differing"]) == ("unstable", 2)
    assert "all that were compared are right" in answer["reason"]
    assert found((OK, [WRONG, None]))["reason"].endswith("1 of 1 that were compared are wrong")


def test_who_changes_an_input_is_wrong() -> None:
    assert found((OK, []), spoiled="one")["status"] == "wrong"
    assert found((OK, [WRONG]), spoiled="one")["status"] == "wrong"


@pytest.mark.parametrize(
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
def test_what_a_second_attempt_alone_settles(first: str, second: str, status: str) -> None:
    answer = together(failed(first, "CUDA_ERROR_ILLEGAL_ADDRESS"), failed(second, ""))
    assert answer["status"] == status
    assert first == second or first in answer["reason"]
