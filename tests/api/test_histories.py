"""Intervals over releases: a release that was not inspected ends one, and is in none."""

from __future__ import annotations

import pytest

from compat.api.comparing import ChangeKind, compare, place_of, steps
from compat.api.histories import State, history
from compat.api.records import ApiName, Inspection, Namespace, find, matches
from compat.errors import SelectionError
from compat.history.account import runs
from compat.report.render.terminal import plain_text
from compat.report.views.api import names_blocks, not_looked_at, phrase
from tests.api.invented import inspection, name, parameter, place
from tests.together import for_each

DOT = "triton.language.dot"


def test_runs_end_at_a_release_without_a_value() -> None:
    intervals = runs([("1", "a"), ("2", "a"), ("3", None), ("4", "a"), ("5", "b")])
    assert [(run.first, run.last, run.value) for run in intervals] == [
        ("1", "2", "a"),
        ("4", "4", "a"),
        ("5", "5", "b"),
    ]


def test_phrase_says_since_which_release_a_name_exists() -> None:
    name_history = history(
        inspection(
            place("3.0.0", {}),
            place("3.1.0", {"dot": name("a")}),
            place("3.2.0", {"dot": name("a")}),
        ),
        DOT,
    )
    assert [(run.value, run.releases) for run in name_history.states] == [
        (State.ABSENT, ("3.0.0",)),
        (State.THERE, ("3.1.0", "3.2.0")),
    ]
    assert (name_history.shown, phrase(name_history)) == ("tl.dot", "since 3.1.0")


def test_uninspected_release_is_in_no_interval() -> None:
    places = (
        place("3.0.0", {}),
        place("3.1.0", None, missing=True),
        place("3.2.0", {"dot": name("a")}),
        place("3.3.0", None),
    )
    name_history = history(inspection(*places), DOT)
    assert phrase(name_history) == "in 3.2.0, not in 3.0.0"
    assert name_history.inspected_releases == ("3.0.0", "3.2.0")
    (only,) = name_history.parameters
    assert [run.releases for run in only.runs] == [("3.2.0",)]
    assert list(not_looked_at(inspection(*places))) == [
        "not inspected: 3.1.0, not built: `compat envs build 3.1.0`",
        "not inspected: 3.3.0: env_broken: broken",
    ]


def test_uninspected_release_splits_an_interval_of_equal_values() -> None:
    name_history = history(
        inspection(
            place("3.0.0", {"dot": name("a")}),
            place("3.1.0", None),
            place("3.2.0", {"dot": name("a")}),
        ),
        DOT,
    )
    assert phrase(name_history) == "in every release that was inspected"
    assert [run.releases for run in name_history.parameters[0].runs] == [("3.0.0",), ("3.2.0",)]
    assert [run.releases for run in name_history.signatures] == [("3.0.0",), ("3.2.0",)]


def test_parameters_have_intervals_and_removed_parameters_come_last() -> None:
    old, new = name("a", "b=1", "c=0"), name("a", parameter("c=0", "keyword-only"), "d=2")
    name_history = history(
        inspection(place("3.0.0", {"dot": old}), place("3.1.0", {"dot": new})), DOT
    )
    assert [
        (
            parameter_history.name,
            [(run.releases, run.value.kind, run.value.default) for run in parameter_history.runs],
        )
        for parameter_history in name_history.parameters
    ] == [
        ("a", [(("3.0.0", "3.1.0"), "positional or keyword", None)]),
        ("c", [(("3.0.0",), "positional or keyword", "0"), (("3.1.0",), "keyword-only", "0")]),
        ("d", [(("3.1.0",), "positional or keyword", "2")]),
        ("b", [(("3.0.0",), "positional or keyword", "1")]),
    ]
    assert name_history.signatures[-1].value == "(a, *, c=0, d=2)"


def test_function_that_only_raises_is_not_usable() -> None:
    stub = name("a", refuses="NotImplementedError: removed")
    name_history = history(
        inspection(place("3.0.0", {"dot": name("a")}), place("3.1.0", {"dot": stub})), DOT
    )
    assert (name_history.usable, name_history.there, phrase(name_history)) == (
        ("3.0.0",),
        ("3.0.0", "3.1.0"),
        "only raises an error in 3.1.0",
    )


def test_answer_describes_each_state_in_words() -> None:
    stub = name("a", refuses="NotImplementedError: removed")
    names = inspection(
        place("3.0.0", {"dot": name("a")}),
        place("3.1.0", {}),
        place("3.2.0", {"dot": stub}),
        place("ours", {"dot": stub}, fork=True),
    )
    blocks = names_blocks(names, [history(names, DOT)], find(names, ["tl.dot"]))
    assert plain_text(blocks, width=100).splitlines()[:5] == [
        "tl.dot: built-in, removed in 3.1.0",
        "  present               3.0.0",
        "  missing               3.1.0",
        "  only raises an error  3.2.0: NotImplementedError: removed",
        "  forks                 ours: only raises an error",
    ]


def test_names_in_a_broken_module_are_unknown_and_not_absent() -> None:
    old = place("3.0.0", {"extra": ApiName(kind="module", error="No module named 'torch'")})
    new = place("3.1.0", {"extra": ApiName(kind="module"), "extra.exp": name("x")})
    name_history = history(inspection(old, new), "triton.language.extra.exp")
    assert [(run.value, run.releases) for run in name_history.states] == [(State.THERE, ("3.1.0",))]
    assert name_history.unknown[0].releases == ("3.0.0",)
    assert phrase(name_history) == "in every release that was inspected"


def test_fork_is_not_on_the_line_of_releases() -> None:
    name_history = history(
        inspection(place("3.0.0", {}), place("ours", {"dot": name("a")}, fork=True)), DOT
    )
    assert (name_history.line, name_history.forks, phrase(name_history)) == (
        ("3.0.0",),
        (("ours", State.THERE),),
        "in no release",
    )


def test_history_says_where_a_name_is_the_same_object_as_another() -> None:
    both = {
        "exp": name("x"),
        "math": ApiName(kind="module"),
        "math.exp": ApiName(same_as="triton.language.exp"),
    }
    apart = {"exp": name("x"), "math": ApiName(kind="module"), "math.exp": name("y")}
    name_history = history(
        inspection(place("3.0.0", both), place("3.1.0", apart)), "triton.language.math.exp"
    )
    assert [(run.value, run.releases) for run in name_history.same_as] == [("tl.exp", ("3.0.0",))]
    assert [parameter_history.name for parameter_history in name_history.parameters] == ["y", "x"]


# --- which names ----------------------------------------------------------------------------------


NAMES = {
    "dot": name("a"),
    "dot_scaled": name("a"),
    "math": ApiName(kind="module"),
    "math.dot": ApiName(same_as=DOT),
    "core": ApiName(kind="module", internal=True),
    "core.dot": ApiName(same_as=DOT, internal=True),
    "tensor": ApiName(kind="class"),
    "tensor.to": ApiName(kind="method"),
}


def some() -> Inspection:
    return inspection(place("3.0.0", NAMES))


@for_each(
    ("word", "meant"),
    [
        ("tl.dot", ["dot"]),
        ("triton.language.dot", ["dot"]),
        ("dot", ["dot"]),
        ("tl.dot*", ["dot", "dot_scaled"]),
        ("triton.language.dot*", ["dot", "dot_scaled"]),
        ("tl.math.dot", ["math.dot"]),
        ("tl.*.to", ["tensor.to"]),
        ("*_scaled", ["dot_scaled"]),
        ("tl.**", ["", "dot", "dot_scaled", "math", "tensor", "tensor.to"]),
    ],
)
def test_word_selects_names(word: str, meant: list[str]) -> None:
    name_matches = find(some(), [word])
    assert [
        full.removeprefix("triton.language").removeprefix(".") for full in name_matches.names
    ] == meant


@pytest.mark.parametrize("module", ["tl", "triton.language"])
def test_a_typo_gets_near_matches(module: str) -> None:
    with pytest.raises(SelectionError, match=rf"no name matches '{module}\.dto'") as error:
        find(some(), [f"{module}.dto"])
    assert error.value.hint is not None
    assert f"Did you mean {module}.dot" in error.value.hint


def test_stars_stop_at_dots() -> None:
    assert matches("tl.math.exp", "tl.*.exp")
    assert not matches("tl.math.exp", "tl.*")
    assert matches("tl.math.exp", "tl.**")
    assert matches("tl.math.exp", "e?p")
    assert not matches("tl.math.exp", "tl.math")


# --- differences ----------------------------------------------------------------------------------


def test_compare_lists_the_changes_between_two_releases() -> None:
    old = {
        "gone": name("a"),
        "load": name("pointer", "boundary_check=()", "cache=''"),
        "raises": name("a"),
        "view": name("a"),
        "same": name("a"),
        "moved": name("a", "b"),
        "math": ApiName(kind="module"),
        "math.same": ApiName(same_as="triton.language.same"),
    }
    new = {
        "added": name("x=1"),
        "load": name(
            "pointer",
            parameter("cache=''", "keyword-only"),
            parameter("policy=None", "keyword-only"),
        ),
        "raises": name("a", refuses="RuntimeError: removed"),
        "view": name("a", deprecated=("view is deprecated",)),
        "same": name("a"),
        "moved": name("b", "a"),
        "math": ApiName(kind="module"),
        "math.same": ApiName(same_as="triton.language.same"),
    }
    both = inspection(place("3.0.0", old), place("3.1.0", new))
    difference = compare(both, both.inspected_releases[0], both.inspected_releases[1])
    assert [(change.kind, change.shown, change.statements) for change in difference.changes] == [
        (ChangeKind.ADDED, "tl.added", ("tl.added(x=1)",)),
        (ChangeKind.REMOVED, "tl.gone", ()),
        (
            ChangeKind.CHANGED,
            "tl.load",
            ("- boundary_check=()", "+ policy=None, by keyword only", "cache: by keyword only"),
        ),
        (ChangeKind.CHANGED, "tl.moved", ("order: a, b → b, a",)),
        (ChangeKind.REFUSES, "tl.raises", ("RuntimeError: removed",)),
        (ChangeKind.DEPRECATED, "tl.view", ("view is deprecated",)),
    ]
    assert steps(both)[1].counts[ChangeKind.CHANGED] == 2


def test_inserted_parameter_changes_the_positions_of_later_ones() -> None:
    both = inspection(
        place("3.0.0", {"f": name("a", "b=1")}), place("3.1.0", {"f": name("a", "x=0", "b=1")})
    )
    (change,) = compare(both, both.inspected_releases[0], both.inspected_releases[1]).changes
    assert change.statements == ("+ x=0", "positions: (a, x=0, b=1)")


def test_module_that_one_release_cannot_import_is_unknown() -> None:
    broken = {"extra": ApiName(kind="module", error="No module named 'torch'")}
    importable = {"extra": ApiName(kind="module"), "extra.exp": name("x")}
    both = inspection(place("3.0.0", broken), place("3.1.0", importable))
    difference = compare(both, both.inspected_releases[0], both.inspected_releases[1])
    assert (difference.changes, difference.unknown) == ((), ("triton.language.extra",))


def test_uninspected_release_cannot_be_compared() -> None:
    places = inspection(place("3.0.0", {}), place("3.1.0", None, missing=True))
    assert place_of(places, "3.0").label == "3.0.0"
    with pytest.raises(SelectionError, match=r"3\.1\.0 was not inspected"):
        place_of(places, "3.1.0")
    with pytest.raises(SelectionError, match=r"unknown release '2\.0'"):
        place_of(places, "2.0")


def test_namespace_resolves_an_alias_to_the_first_name_of_its_object() -> None:
    names = Namespace(names={"a.b": name("x"), "a.c": ApiName(same_as="a.b", internal=True)})
    assert names.get("a.c") == name("x")
    assert names.others == {"a.b": ("a.c",)}
    assert names.get("a.d") is None
