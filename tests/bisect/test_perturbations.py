"""The changes that a search for settings tries, and its conclusions from their results."""

from __future__ import annotations

import re
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from compat.bisect import perturbations
from compat.bisect.answers import Effect
from compat.bisect.perturbations import SettingChange
from tests.cells import spec

OK, SAME, UNKNOWN = Effect.OK, Effect.SAME, Effect.UNKNOWN


def changed_values(**changed: Any) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for change in perturbations.changes(spec("faces", "fine", **changed)):
        values.setdefault(change.setting, []).append(change.value)
    return values


def test_sizes_are_tried_around_their_value() -> None:
    values = changed_values(
        constexprs={"BLOCK": 128, "ODD": 48, "FLAG": 1, "MASKED": True, "NEGATIVE": -1},
        divisible_by_16=(),
    )
    assert values["BLOCK"] == ["16", "32", "64", "256"]
    assert values["ODD"] == ["8", "16", "24", "32", "64", "96", "128"]
    assert values["FLAG"] == ["0"]
    assert values["MASKED"] == ["False"]
    assert "NEGATIVE" not in values


def test_options_that_the_toolchain_does_not_have_are_not_tried() -> None:
    changes = perturbations.changes(evolve(spec("faces", "fine"), toolchain="cute"))
    assert {change.setting for change in changes}.isdisjoint({"num_warps", "num_stages"})


def test_set_options_are_tried_and_num_stages_even_if_it_is_not_set() -> None:
    values = changed_values(options={"num_warps": 8, "enable_fp_fusion": True, "arch": "sm90"})
    assert values["num_warps"] == ["1", "2", "4", "16", "default"]
    assert values["enable_fp_fusion"] == ["False", "default"]
    assert values["arch"] == ["default"]
    assert values["num_stages"] == ["1", "2", "3", "4", "5"]
    assert "num_ctas" not in values


def test_dtype_of_a_constexpr_is_changed_to_other_dtypes() -> None:
    assert changed_values(constexprs={"KIND": {"dtype": "fp16"}})["KIND"] == ["bf16", "fp32"]


@given(
    st.dictionaries(
        st.sampled_from("ABCD"),
        st.one_of(st.booleans(), st.integers(-2, 600), st.none()),
        max_size=4,
    )
)
def test_every_change_affects_one_setting_and_keeps_the_name(constexprs: dict[str, Any]) -> None:
    start = spec(
        "faces", "fine", constexprs=constexprs, options={"num_warps": 8}, equal_to_1=("size",)
    )
    changes = perturbations.changes(start)
    assert len({start, *(change.spec for change in changes)}) == len(changes) + 1
    assert len({(change.setting, change.value) for change in changes}) == len(changes)
    for change in changes:
        assert (change.spec.kernel, change.spec.variant, change.spec.case) == (
            start.kernel,
            start.variant,
            start.case,
        )
        before, after = start.compile, change.spec.compile
        differing = [
            name
            for name in ("constexprs", "options")
            if getattr(after, name) != getattr(before, name)
        ]
        assert len(differing) == 1
        assert perturbations.hints_of(change.spec) == perturbations.hints_of(start)
        assert (change.spec.kernel, after.signature) == (start.kernel, before.signature)
        for name in differing:
            old, new = getattr(before, name), getattr(after, name)
            assert [key for key in {*old, *new} if old.get(key, "-") != new.get(key, "-")] == [
                change.setting
            ]


def sentence(was: int, effects: dict[int, Effect], setting: str = "BLOCK") -> str:
    start = spec("faces", "fine", constexprs={setting: was})
    changes = [
        SettingChange(
            setting=setting, was=str(was), value=str(number), distance=abs(number - was), spec=start
        )
        for number in effects
    ]
    (need,) = perturbations.needs(list(zip(changes, effects.values(), strict=True)))
    return need.sentence


@pytest.mark.parametrize(
    ("was", "effects", "expected"),
    [
        (
            256,
            {32: OK, 64: OK, 128: SAME, 512: SAME},
            "fails with BLOCK = 128, 256 and 512, ok with 32 and 64",
        ),
        (
            128,
            {32: OK, 64: UNKNOWN, 256: SAME},
            "fails with BLOCK = 128 and 256, ok with 32 (inconclusive with 64)",
        ),
        (8, {16: OK, 4: OK}, "fails with BLOCK = 8, ok with 4 and 16"),
    ],
)
def test_sentences_on_sizes(was: int, effects: dict[int, Effect], expected: str) -> None:
    assert sentence(was, effects) == expected


@given(st.dictionaries(st.sampled_from([1, 2, 4, 16, 32]), st.sampled_from(Effect), min_size=1))
def test_sentence_names_exactly_the_values_that_were_compiled(
    effects: dict[int, Effect],
) -> None:
    if OK not in effects.values():
        return
    text = sentence(8, effects, "num_warps")
    failing, _, rest = text.removeprefix("fails with num_warps = ").partition(", ok with ")
    fine, _, untold = rest.partition(" (inconclusive with ")
    numbers = [
        {int(number) for number in re.findall(r"\d+", part)} for part in (failing, fine, untold)
    ]
    by_fate = [
        {number for number, fate in effects.items() if fate is effect}
        for effect in (SAME, OK, UNKNOWN)
    ]
    assert numbers == [by_fate[0] | {8}, *by_fate[1:]]


def test_settings_that_do_not_matter_are_not_needs() -> None:
    changes = perturbations.changes(spec("faces", "fine", options={"num_warps": 8}))
    effects = [
        OK if change.setting == "num_warps" and change.value == "4" else SAME for change in changes
    ]
    trials = list(zip(changes, effects, strict=True))
    assert [need.setting for need in perturbations.needs(trials)] == ["num_warps"]
    smallest = perturbations.smallest(trials)
    assert smallest is not None
    assert perturbations.describe_change(smallest) == "with num_warps=4 instead of 8"
    assert perturbations.needs([(change, UNKNOWN) for change in changes]) == ()
    assert perturbations.smallest([(change, SAME) for change in changes]) is None


def test_setting_with_the_larger_change_comes_last() -> None:
    changes = perturbations.changes(
        spec(
            "faces",
            "fine",
            constexprs={"BLOCK": 128},
            options={"num_warps": 8},
            divisible_by_16=("source",),
        )
    )
    helping = {("num_warps", "2"), ("BLOCK", "64"), ("num_stages", "1")}
    trials = [
        (change, OK if (change.setting, change.value) in helping else SAME) for change in changes
    ]
    assert perturbations.needs(trials)[-1].setting == "num_warps", (
        "a quarter is further away than a half"
    )


def test_changes_that_compile_quickly_are_tried_first() -> None:
    sizes = {"BLOCK": 128, "MASKED": True}
    changes = perturbations.changes(
        spec("faces", "fine", constexprs=sizes, options={"num_warps": 8, "num_stages": 3})
    )
    small, large = (
        [(change.setting, change.value) for change in some]
        for some in perturbations.in_order(changes)
    )
    assert {*small[:4]} == {
        ("num_warps", "16"),
        ("num_stages", "2"),
        ("BLOCK", "64"),
        ("MASKED", "False"),
    }
    assert (
        small.index(("BLOCK", "64")) < small.index(("BLOCK", "32")) < small.index(("BLOCK", "16"))
    )
    assert {("BLOCK", "256"), ("num_stages", "4"), ("num_warps", "1")} <= {*large}
    assert (
        large.index(("num_warps", "4"))
        < large.index(("num_warps", "2"))
        < large.index(("num_warps", "1"))
    )
    assert len(small) + len(large) == len(changes)


def test_launch_arguments_are_changed_as_launchers_distinguish_them() -> None:
    passed = {
        "x": "*fp16",
        "y": {"tensor": "i8", "aligned": False},
        "n": 4096,
        "one": 1,
        "odd": 7,
        "flag": True,
        "none": None,
    }
    values = changed_values(signature={}, divisible_by_16=(), launch=passed)
    assert values["x"] == ["*fp16 (not aligned)", "*fp16 (2 GiB or more)"]
    assert values["y"] == ["*i8", "*i8 (not aligned, 2 GiB or more)"]
    assert (values["n"], values["one"], values["odd"]) == (["1", "17"], ["16", "17"], ["1", "16"])
    assert values["flag"] == ["False"]
    assert "none" not in values
