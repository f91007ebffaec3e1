"""Launches that are one case, configs that become cases, and the recorded form of arguments."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve

from compat.capturing.kernels import Configs, arguments_of, cases, constexprs_of, needed_launches
from compat.capturing.records import ProgramRecords, RecordedLaunch, read_records
from compat.toolchains.inside.recorder.journal import UnwritableArgument
from compat.toolchains.triton.inside.recorder.arguments import argument, constexpr
from tests.together import for_each

RECORDED = ProgramRecords()
LAUNCH = RecordedLaunch(
    function="1",
    arguments={"x": "*fp32", "n": 256},
    constexprs={"BLOCK": 64},
    options={},
    grid=None,
    release="3.9.0",
    place=None,
)


def launch(n: object = 256, block: int = 64, *roles: str, d: int = 32) -> RecordedLaunch:
    return evolve(
        LAUNCH,
        arguments={"x": "*fp32", "n": n},
        constexprs={"D": d, "BLOCK": block},
        roles=set(roles) or {""},
        tunes={"BLOCK"} if roles else set(),
    )


def test_case_is_named_none_if_a_toolchain_writes_none_as_a_table() -> None:
    launches = [
        evolve(LAUNCH, arguments={}, constexprs={"op": value})
        for value in ({"none": True}, {"dtype": "fp16"})
    ]
    assert [case.name for case in cases(launches, RECORDED)] == ["op_none", "op_fp16"]


@for_each(
    ("one", "other", "same"),
    [
        (256, 512, True),
        (3, 5, True),
        (256, 257, False),
        (16, 24, False),
        (1, 3, False),
        (16, 2**31, False),
        (2**40, 2**63, False),
        (-16, 16, True),
        (0.5, 0.25, True),
        (True, False, False),
        ([16, 3], [32, 5], True),
        ([16, 3], [16, 1], False),
    ],
)
def test_launches_with_the_same_specialization_are_one_case(
    one: object, other: object, same: bool
) -> None:
    kernel_cases = cases([launch(one), evolve(launch(other), launches=4)], RECORDED)
    assert [case.count for case in kernel_cases] == ([5] if same else [1, 4])


def test_the_configs_option_selects_the_launches_that_become_cases() -> None:
    launches = [
        launch(256, 32, "candidate"),
        launch(256, 64, "candidate", "chosen"),
        launch(255, 32, "candidate", "chosen"),
        launch(255, 64, "candidate"),
        launch(1, 64, "chosen"),  # with a config that was chosen before for another kind
        launch(3, 16),
    ]
    blocks = {
        configs: [
            (recorded_launch.arguments["n"], recorded_launch.constexprs["BLOCK"])
            for recorded_launch in needed_launches(launches, configs)
        ]
        for configs in Configs
    }
    assert blocks[Configs.ALL] == [(256, 32), (256, 64), (255, 32), (255, 64), (1, 64), (3, 16)]
    assert blocks[Configs.CHOSEN] == [(256, 64), (255, 32), (1, 64), (3, 16)]
    assert blocks[Configs.FIRST] == [(256, 32), (255, 32), (1, 64), (3, 16)]
    assert needed_launches(launches[5:], Configs.CHOSEN) == launches[5:]
    other = launch(256, 32, "candidate", d=64)
    assert needed_launches([*launches[:2], other], Configs.FIRST) == [launches[0], other]


class Tensor:
    def __init__(self, dtype: object, address: int = 64, size: int = 4096) -> None:
        self.dtype = dtype
        self.data_ptr = lambda: address
        self.untyped_storage = lambda: SimpleNamespace(size=lambda: size)


@for_each(
    ("value", "expected"),
    [
        (Tensor("torch.float8_e4m3fn"), "*fp8e4nv"),
        (Tensor("torch.float16", address=2), {"tensor": "fp16", "aligned": False}),
        (Tensor("torch.float16", size=2**31), {"tensor": "fp16", "large": True}),
        (Tensor("torch.float16", size=2**31 - 1), "*fp16"),
        (0.3, 0.5),
        (float("nan"), 0.5),
        (True, True),
        (2**64 - 1, 2**64 - 1),
        (None, {"none": True}),
        ((3, (None, 0.3)), [3, [{"none": True}, 0.5]]),
    ],
)
def test_each_kind_of_argument_has_a_recorded_form(value: object, expected: object) -> None:
    assert argument(value, False, None)[0] == expected


def test_finite_floats_are_recorded_on_request() -> None:
    assert argument(0.3, True, None)[0] == 0.3
    assert argument(float("inf"), True, None)[0] == 0.5  # a kernel file cannot express infinity
    assert argument(0.3, True, None)[1] == argument(0.4, True, None)[1]


@pytest.mark.parametrize("value", [Tensor("torch.complex64"), 2**64, -(2**63) - 1, object()])
def test_unwritable_arguments_raise(value: object) -> None:
    with pytest.raises(UnwritableArgument):
        argument(value, False, None)


def test_constexprs_without_a_json_form_are_restored() -> None:
    recorded_launch = evolve(
        LAUNCH,
        constexprs={"SMALL": constexpr(float("-inf"), None), "PAIR": constexpr((1, None), None)},
    )
    assert constexprs_of(recorded_launch, RECORDED) == {
        "SMALL": float("-inf"),
        "PAIR": [1, {"none": True}],
    }


def test_a_function_in_a_tuple_is_given_by_its_name(tmp_path: Any) -> None:
    lines = [
        (
            '{"r":"function","id":"f","kind":"jit","name":"twice","qualname":"twice","module":"m","source":"def'
            ' f(): 0","names":{}}'
        ),
        '{"r":"launch","key":"k","function":"f","args":{"fs":[{"constexpr":{"function":"f"}}]},"constexprs":{},"options":{}}',
        '{"r":"count","key":"k","launches":4,"tuned":"chosen"}',
        '{"r":"failed","key":"k","error":"CompilationError"}',
    ]
    (tmp_path / "1.jsonl").write_text("\n".join(lines))
    recorded = read_records(tmp_path)
    (recorded_launch,) = recorded.launches.values()
    assert recorded.unreadable == 0
    assert arguments_of(recorded_launch, recorded) == {"fs": [{"constexpr": {"function": "twice"}}]}
    assert (recorded_launch.launches, recorded_launch.roles, recorded_launch.failed) == (
        4,
        {"", "chosen"},
        "CompilationError",
    )
