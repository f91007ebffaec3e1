"""Names as the installed wheels of Triton show them, and what compiling says beside that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from compat import toolchains
from compat.api.histories import NameHistory, history
from compat.api.looking import look
from compat.api.needing import needs_of
from compat.api.records import Looked
from compat.api.uses import read_uses
from compat.bundle.parsing import tree_of
from compat.cli import main
from compat.config.matrix import MatrixConfig
from compat.model import BuiltEnv
from compat.project import select_places
from tests.cells import KERNELS
from tests.history.test_api_on_wheels import EXPECTED, functions

pytestmark = pytest.mark.wheels

FEW = ("3.0.0", "3.4.0", "3.9.0")


@pytest.fixture(scope="module")
def every(config: MatrixConfig, built: Callable[[str], BuiltEnv]) -> Looked:
    """All thirteen releases."""
    for env in config.envs:
        if "releases" in env.groups:
            built(env.name)
    return look(select_places(config.path, envs=["releases"]))


@pytest.fixture
def user(tmp_path: Path, built: Callable[[str], BuiltEnv], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with nothing in it, for somebody who has three releases."""
    for release in FEW:
        built(f"triton-{release}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compat(*words: str, code: int = 0, few: bool = True) -> Result:
    done = CliRunner().invoke(main, [*words, *(("--envs", ",".join(FEW)) if few else ())], prog_name="compat")
    assert done.exit_code == code, done.output
    return done


# --- truths ----------------------------------------------------------------------------------------------------------------


def states(found: NameHistory) -> list[tuple[str, str, str]]:
    return [(str(run.value), run.first, run.last) for run in found.states]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tl.make_tensor_descriptor", [("absent", "3.0.0", "3.3.1"), ("there", "3.4.0", "3.9.0")]),
        ("tl.make_block_ptr", [("there", "3.0.0", "3.8.0"), ("refuses", "3.9.0", "3.9.0")]),
        ("tl.advance", [("there", "3.0.0", "3.8.0"), ("absent", "3.9.0", "3.9.0")]),
        (
            "tl._experimental_make_tensor_descriptor",
            [("absent", "3.0.0", "3.2.0"), ("there", "3.3.0", "3.3.1"), ("absent", "3.4.0", "3.9.0")],
        ),
        ("tl.float8e4nv", [("there", "3.0.0", "3.9.0")]),
        ("tl.tensor.to", [("there", "3.0.0", "3.9.0")]),
        ("tl.math.exp", [("there", "3.0.0", "3.9.0")]),
        ("tl.math.pow", [("absent", "3.0.0", "3.9.0")]),
        ("triton.experimental.gluon.jit", [("absent", "3.0.0", "3.3.1"), ("there", "3.4.0", "3.9.0")]),
        ("triton.ops", [("there", "3.0.0", "3.1.0"), ("absent", "3.2.0", "3.9.0")]),
    ],
)
def test_since_when(every: Looked, name: str, expected: list[tuple[str, str, str]]) -> None:
    assert states(history(every, every.full(name))) == expected


def test_what_the_wheels_say_of_block_pointers(every: Looked) -> None:
    found = history(every, "triton.language.make_block_ptr")
    (deprecated,), (refuses,) = found.deprecated, found.refuses
    assert (deprecated.first, deprecated.last) == ("3.7.0", "3.8.0")
    assert deprecated.value.startswith("tl.make_block_ptr is deprecated.")
    assert (refuses.releases, refuses.value.partition(":")[0]) == (("3.9.0",), "NotImplementedError")


def parameters(every: Looked, name: str) -> dict[str, list[tuple[str, str, str | None]]]:
    found = history(every, every.full(name)).parameters
    return {each.name: [(run.first, run.last, run.value.default) for run in each.runs] for each in found}


def test_parameters_and_defaults_are_intervals(every: Looked) -> None:
    dot = parameters(every, "tl.dot")
    assert dot["input_precision"] == [("3.0.0", "3.9.0", "None")]
    assert dot["out_dtype"] == [("3.0.0", "3.7.1", "triton.language.float32"), ("3.8.0", "3.9.0", "None")]
    assert parameters(every, "tl.load")["boundary_check"] == [("3.0.0", "3.8.0", "()")]
    assert parameters(every, "tl.make_tensor_descriptor")["padding_option"] == [("3.5.0", "3.9.0", "'zero'")]
    autotune = parameters(every, "triton.autotune")
    assert autotune["key"] == [("3.0.0", "3.9.0", None)]
    assert autotune["warmup"] == [("3.0.0", "3.1.0", "25"), ("3.2.0", "3.9.0", "None")]
    assert parameters(every, "triton.Config")["num_stages"] == [("3.0.0", "3.2.0", "2"), ("3.3.0", "3.9.0", "3")]
    assert not any("_builder" in names or "_semantic" in names for names in (dot, autotune))


def test_deprecated_parameters(every: Looked) -> None:
    (tf32,) = (each for each in history(every, "triton.language.dot").parameters if each.name == "allow_tf32")
    (always,) = tf32.runs
    assert (always.first, always.last, always.value.deprecated[:13]) == ("3.0.0", "3.9.0", "*Deprecated.*")
    (reorder,) = (each for each in history(every, "triton.language.cat").parameters if each.name == "can_reorder")
    assert [bool(run.value.deprecated) for run in reorder.runs] == [False, True]


def test_equal_objects(every: Looked) -> None:
    assert {run.value for run in history(every, "triton.language.exp").same_as} >= {"tl.math.exp"}
    assert history(every, "triton.language.math.exp").same_as[0].value == "tl.exp"


def test_what_cannot_be_imported_is_said(every: Looked) -> None:
    (unknown,) = history(every, "triton.ops").unknown
    assert (unknown.first, unknown.last) == ("3.0.0", "3.1.0")
    assert "No module named 'torch'" in unknown.value


# --- names beside compiling ------------------------------------------------------------------------------------------------


LESS_THAN_NAMES = {
    "a value that an argument may have": "dot_bf16x3 dot_scaled cat_without_reorder full_of_float8",
    "a method of a value": "gather_method sum_method item_method",
    "what kernels may be written in": "list_of index_into_tuple star_arguments walrus chained_comparison",
    "what the function itself asks of the compiler": "flip gdc_wait",
}
"""Kernels of ``tests/kernels/api.py`` that fail in releases that have all their names, and what for."""
MORE_THAN_NAMES = {"assert_mask": "a function that does nothing unless it debugs, whatever it is given"}
"""Those that compile in releases that do not have them."""


def releases(every: Looked, phrase: str) -> set[str]:
    """Those in which a kernel works of which a verdict says this."""
    line, found = list(every.line), set(every.line)
    for said in phrase.split(", "):
        if said.startswith("needs ≥ "):
            found -= set(line[: line.index(said.removeprefix("needs ≥ "))])
        elif said.startswith("removed in "):
            found -= set(line[line.index(said.removeprefix("removed in ")) :])
    return found


def having_all(every: Looked, function: str) -> set[str]:
    names = toolchains.DEFAULT.names
    assert names is not None
    found = needs_of(read_uses(tree_of((KERNELS / "api.py").read_bytes()), "triton", names, function), every)
    return {having.place.label for having in found.having if having.has_all}


def test_names_alone_tell_most_of_what_compiling_tells(every: Looked) -> None:
    """What has no exception below has exactly the releases that compile it."""
    expected = {function: releases(every, phrase) for phrase, names in EXPECTED.items() for function in names.split()}
    found = {function: having_all(every, function) for function in functions() if function not in MORE_THAN_NAMES}
    assert len(found) > 60
    more = {function for function, named in found.items() if named > expected[function]}
    others = {function for function, named in found.items() if not named >= expected[function]}
    assert (others, more) == (set(), {word for words in LESS_THAN_NAMES.values() for word in words.split()})
