"""Records and plain data: reading restores what was written, and accepts no wrong types."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from attrs import asdict, evolve
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compat.model import (
    Check,
    CompileSpec,
    CompletedAction,
    Evidence,
    Expectation,
    RaisedException,
    Specialization,
    StageOutput,
    StandInPackages,
    Status,
    ToolchainWarning,
)
from compat.model.codec import RecordError, schema_of, structure, unstructure
from compat.model.fields import VersionText
from tests.targets import TARGETS
from tests.together import for_each

EVIDENCE = Evidence(
    answered=True,
    stage="ttgir",
    entered=0.25,
    raised=(
        RaisedException(type="RuntimeError", message="failed", errno=28),
        RaisedException(type="ValueError", message=""),
    ),
    seconds=2.0,
    stages={"source": 0.1, "ast": 1.0},
    metrics={"shared": 1024, "artifacts": {"ttir": 10}},
    warnings=(ToolchainWarning(type="DeprecationWarning", message="old"),),
    done=(CompletedAction(do="compile", outputs={"ttir": StageOutput(size=3, digest="a")}),),
    stood_in=StandInPackages(packages=("torch 2.9.1",)),
    artifacts={"ttir": "a.ttir"},
    imported=("/k/k.py",),
)
SPEC = Specialization(
    kernel="k",
    variant="v",
    case="c",
    source="/k/k.py",
    function="kernel",
    compile=CompileSpec(
        signature={"x": "*fp16", "n": "i32"},
        constexprs={"SHAPE": (64, (1, {"dtype": "fp16"})), "NOTHING": None},
        divisible_by_16=("x",),
        options={"allow": True, "num_warps": 4},
    ),
    guessed=True,
)
LAUNCHED = CompileSpec(
    launch={
        "x": {"tensor": "fp16", "aligned": False},
        "shape": (4, (None, {"constexpr": (1, 2)})),
        "y": "*fp16",
    }
)
TUPLES = CompileSpec(
    signature={"shape": ("i32", ("*fp16", "constexpr"))}, constexprs={"shape[1][1]": 4}
)
DECLARED = Expectation(
    status=Status.CRASHED, failure_class="hang", releases=SpecifierSet(">=3.1"), targets=("sm_90",)
)


@for_each(
    "record",
    [EVIDENCE, Evidence(answered=False), SPEC, CompileSpec(), LAUNCHED, TUPLES],
)
@for_each("compact", [False, True])
def test_a_record_is_read_as_it_was_written(record: Any, compact: bool) -> None:
    text = json.dumps(unstructure(record, compact=compact), allow_nan=False)
    read = structure(json.loads(text), type(record))
    assert read == record
    assert repr(read) == repr(record), (
        "a status is a status, a version is a version, and a tuple is no list"
    )


def test_collections_of_records_are_read_and_defaults_are_left_out() -> None:
    several = (EVIDENCE, Evidence(answered=False))
    assert structure(unstructure(several), tuple[Evidence, ...]) == several
    assert structure({"a": unstructure(EVIDENCE)}, dict[str, Evidence]) == {"a": EVIDENCE}
    assert unstructure(Evidence(answered=False), compact=True) == {"answered": False}
    assert unstructure(SPEC)["compile"] == SPEC.compile.document()


def test_fields_may_have_other_keys_or_be_absent() -> None:
    data = unstructure(DECLARED)
    assert data == {"status": "crashed", "class": "hang", "reason": "", "strict": True}
    assert structure(data, Expectation) == Expectation(status=Status.CRASHED, failure_class="hang")


def test_a_field_with_its_default_may_be_left_out() -> None:
    check = Check(status=Status.OK, launches=3)
    assert "worker" not in unstructure(check)
    assert unstructure(evolve(check, worker="w"))["worker"] == "w"
    assert unstructure(check)["device"] is None


def test_a_schema_accepts_only_what_is_written() -> None:
    schema = schema_of(Check, "a check")
    jsonschema.validate(unstructure(Check(status=Status.OK, max_abs=0.5)), schema)
    for changed in ({"status": "fine"}, {"max_abs": -1}, {"surplus": 1}, {"where": None}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**unstructure(Check(status=Status.OK)), **changed}, schema)


ROW = json.loads(json.dumps(unstructure(EVIDENCE)))
WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"answered": "false"}, "answered: expected a boolean, found 'false'"),
    ({"answered": 1}, "answered: expected a boolean, found a whole number"),
    ({"seconds": True}, "seconds: expected a number, found a boolean"),
    ({"seconds": "1"}, "seconds: expected a number, found '1'"),
    ({"exit_code": 1.0}, "exit_code: expected a whole number, found a number"),
    ({"stage": None}, "stage: expected a string, found null"),
    ({"imported": "abc"}, "imported: expected an array, found 'abc'"),
    ({"imported": {"a": 1}}, "imported: expected an array, found an object"),
    ({"imported": ["a", 2]}, "imported[1]: expected a string, found a whole number"),
    ({"raised": [{"type": "a", "message": "b"}, {"type": "a"}]}, "raised[1].message: is missing"),
    (
        {"raised": [{"type": "a", "message": 3}]},
        "raised[0].message: expected a string, found a whole number",
    ),
    ({"stages": {"ast": "soon"}}, "stages.ast: expected a number, found 'soon'"),
    ({"stages": [1]}, "stages: expected an object, found an array"),
    ({"stood_in": "abc"}, "stood_in: expected an object, found 'abc'"),
    ({"stood_in": {"package": []}}, "stood_in: unknown key 'package'"),
    ({"done": [["compile", {}]]}, "done[0]: expected 3 values, found 2"),
    ({"done": [["compile", {"ttir": {}}, []]]}, "done[0].ttir: expected an array, found an object"),
    ({"unheard": 1}, "the whole: unknown key 'unheard'"),
)


@for_each(("changed", "message"), WRONG)
def test_an_error_in_a_record_names_its_place(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError) as refused:
        structure({**ROW, **changed}, Evidence)
    assert str(refused.value) == message


def test_an_error_in_another_type_names_its_place() -> None:
    for data, kind, message in (
        ([], Evidence, "the whole: expected an object, found an array"),
        (
            {"status": "nope"},
            Expectation,
            "status: expected one of ok, ",
        ),
        (
            {"releases": ["three"]},
            dict[str, tuple[Version, ...]],
            "releases[0]: expected a version, found 'three'",
        ),
        (
            {"releases": ["1" * 5000]},
            dict[str, tuple[Version, ...]],
            "releases[0]: expected a version, found a string",
        ),
        (["3.1.0", "three"], tuple[VersionText, ...], "[1]: expected a version, found 'three'"),
        ({**unstructure(TARGETS["sm_90"]), "arch": [90]}, type(TARGETS["sm_90"]), "arch: "),
    ):
        with pytest.raises(RecordError) as refused:
            structure(data, kind)
        assert str(refused.value).startswith(message)


def test_unknown_keys_are_ignored_on_request() -> None:
    later = {**ROW, "unheard": 1, "stood_in": {**ROW["stood_in"], "since": 2}}
    assert structure(later, Evidence, more=True) == EVIDENCE


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(st.sampled_from(sorted(ROW)), JSON)
def test_any_value_gives_a_record_or_a_record_error(field: str, value: Any) -> None:
    try:
        record = structure({**ROW, field: value}, Evidence)
    except RecordError:
        return
    # The record has the values of the data, except for numbers that are whole.
    assert repr(asdict(structure(unstructure(record), Evidence))) == repr(asdict(record))
    assert evolve(record, **{field: getattr(EVIDENCE, field)}) == EVIDENCE
