"""What is tried, and what is made of the results."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat.search import knobs
from compat.search.knobs import Change, Fate
from tests.cells import spec

OK, SAME, UNKNOWN = Fate.OK, Fate.SAME, Fate.UNKNOWN


def tried(**changed: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for change in knobs.changes(spec("faces", "fine", **changed)):
        found.setdefault(change.knob, []).append(change.value)
    return found


def test_sizes_are_tried_around_what_they_are() -> None:
    found = tried(constexprs={"BLOCK": 128, "ODD": 48, "FLAG": 1, "MASKED": True, "NEGATIVE": -1}, divisible_by_16=())
    assert found["BLOCK"] == ["16", "32", "64", "256"]
    assert found["ODD"] == ["8", "16", "24", "32", "64", "96", "128"]
    assert found["FLAG"] == ["0"]
    assert found["MASKED"] == ["False"]
    assert "NEGATIVE" not in found


def test_options_are_tried_where_they_are_set_and_two_where_they_are_not() -> None:
    found = tried(options={"num_warps": 8, "enable_fp_fusion": True, "arch": "sm90"})
    assert found["num_warps"] == ["1", "2", "4", "16", "default"]
    assert found["enable_fp_fusion"] == ["False", "default"]
    assert found["arch"] == ["default"]
    assert found["num_stages"] == ["1", "2", "3", "4", "5"]
    assert "num_ctas" not in found


def test_hints_are_left_out_one_by_one_and_all() -> None:
    found = knobs.changes(spec("faces", "fine", divisible_by_16=("source", "result"), equal_to_1=("size",)))
    hints = {change.knob: (change.spec.divisible_by_16, change.spec.equal_to_1) for change in found if change.value == "without"}
    assert hints == {
        "divisible_by_16: source": (("result",), ("size",)),
        "divisible_by_16: result": (("source",), ("size",)),
        "equal_to_1: size": (("source", "result"), ()),
        "of every argument": ((), ()),
    }


def test_dtypes_that_are_constexprs() -> None:
    assert tried(constexprs={"KIND": {"dtype": "fp16"}})["KIND"] == ["bf16", "fp32"]


@given(st.dictionaries(st.sampled_from("ABCD"), st.one_of(st.booleans(), st.integers(-2, 600), st.none()), max_size=4))
def test_every_change_is_one_change_with_a_name_of_its_own(constexprs: dict[str, Any]) -> None:
    start = spec("faces", "fine", constexprs=constexprs, options={"num_warps": 8}, equal_to_1=("size",))
    found = knobs.changes(start)
    cases = [change.spec.case for change in found]
    assert len({*cases, start.case}) == len(cases) + 1
    for change in found:
        differing = [name for name in ("constexprs", "options") if getattr(change.spec, name) != getattr(start, name)]
        hinted = (change.spec.divisible_by_16, change.spec.equal_to_1) != (start.divisible_by_16, start.equal_to_1)
        assert len(differing) + hinted == 1
        assert (change.spec.kernel, change.spec.signature) == (start.kernel, start.signature)
        for name in differing:
            old, new = getattr(start, name), getattr(change.spec, name)
            assert [key for key in {*old, *new} if old.get(key, "-") != new.get(key, "-")] == [change.knob]


def sentence(was: int, fates: dict[int, Fate], knob: str = "BLOCK") -> str:
    start = spec("faces", "fine", constexprs={knob: was})
    changes = [
        Change(knob=knob, was=str(was), value=str(number), number=number, distance=abs(number - was), spec=start)
        for number in fates
    ]
    (need,) = knobs.needs(list(zip(changes, fates.values(), strict=True)))
    return need.sentence


@pytest.mark.parametrize(
    ("was", "fates", "expected"),
    [
        (256, {32: OK, 64: OK, 128: SAME, 512: SAME}, "fails from BLOCK ≥ 128 (64 is ok)"),
        (128, {32: OK, 64: UNKNOWN, 256: SAME}, "fails from BLOCK ≥ 128 (32 is ok, 64 cannot be told)"),
        (16, {8: SAME, 32: OK, 64: OK}, "fails up to BLOCK ≤ 16 (32 is ok)"),
        (8, {4: OK, 16: OK}, "only BLOCK=8 (4 and 16 are ok)"),
        (8, {1: OK, 2: OK, 4: OK, 16: UNKNOWN}, "only BLOCK=8 (1, 2 and 4 are ok)"),
        (8, {4: OK, 16: SAME, 32: OK}, "fails with BLOCK = 8 and 16 (4 and 32 are ok)"),
        (8, {2: SAME, 4: OK, 16: UNKNOWN}, "fails with BLOCK = 2 and 8 (4 is ok)"),
    ],
)
def test_sentences_on_sizes(was: int, fates: dict[int, Fate], expected: str) -> None:
    assert sentence(was, fates) == expected


@given(st.dictionaries(st.sampled_from([1, 2, 4, 16, 32]), st.sampled_from(Fate), min_size=1))
def test_no_sentence_claims_what_was_not_seen(fates: dict[int, Fate]) -> None:
    if OK not in fates.values():
        return
    told = sentence(8, fates, "num_warps")
    fails = [8, *(number for number, fate in fates.items() if fate is SAME)]
    ok = [number for number, fate in fates.items() if fate is OK]
    if "≥" in told:
        assert min(fails) > max(ok)
        assert f"≥ {min(fails)} ({max(ok)} is ok" in told
    elif "≤" in told:
        assert max(fails) < min(ok)
        assert f"≤ {max(fails)} ({min(ok)} is ok" in told
    elif told.startswith("only"):
        assert fails == [8]
    else:
        assert min(fails) < max(ok)
        assert max(fails) > min(ok)


def test_knobs_that_do_not_matter_are_no_needs() -> None:
    found = knobs.changes(spec("faces", "fine", options={"num_warps": 8}))
    fates = [OK if change.knob == "num_warps" and change.value == "4" else SAME for change in found]
    tried = list(zip(found, fates, strict=True))
    assert [need.knob for need in knobs.needs(tried)] == ["num_warps"]
    smallest = knobs.smallest(tried)
    assert smallest is not None
    assert knobs.told(smallest) == "with num_warps=4 in place of 8"
    assert knobs.needs([(change, UNKNOWN) for change in found]) == ()
    assert knobs.smallest([(change, SAME) for change in found]) is None


def test_the_smallest_change_comes_first() -> None:
    found = knobs.changes(spec("faces", "fine", constexprs={"BLOCK": 128}, options={"num_warps": 8}, divisible_by_16=("source",)))
    helping = {("num_warps", "2"), ("BLOCK", "64"), ("num_stages", "1")}
    tried = [(change, OK if (change.knob, change.value) in helping else SAME) for change in found]
    assert knobs.needs(tried)[-1].knob == "num_warps", "a quarter is further away than a half"
    hint = next(change for change in found if change.value == "without")
    assert knobs.told(hint) == "without the hint divisible_by_16: source"
    assert knobs.needs([(hint, OK)])[0].sentence == "needs the hint divisible_by_16: source"
