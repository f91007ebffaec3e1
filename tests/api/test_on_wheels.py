"""The names that installed wheels of Triton have, compared with the results of compiling."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from compat import toolchains
from compat.api.comparing import compare, place_of, steps
from compat.api.histories import NameHistory, history
from compat.api.inspection import look
from compat.api.needs import needs_of
from compat.api.records import Inspection, find, matches
from compat.api.uses import read_uses
from compat.cli.commands import main
from compat.config.matrix import MatrixConfig
from compat.model import BuiltEnv
from compat.project import select_places
from compat.report.render.blocks import TextLine
from compat.report.render.terminal import plain_text
from compat.report.views.api import difference_blocks, names_blocks, steps_blocks
from compat.source.parsing import tree_of
from tests.cells import KERNELS
from tests.history.test_api_on_wheels import EXPECTED, functions

pytestmark = pytest.mark.wheels

FEW = ("3.0.0", "3.4.0", "3.9.0")


@pytest.fixture(scope="module")
def every(config: MatrixConfig, built: Callable[[str], BuiltEnv]) -> Inspection:
    """The inspection of all thirteen releases."""
    for env in config.envs:
        if "releases" in env.groups:
            built(env.name)
    return look(select_places(config.path, envs=["releases"]))


@pytest.fixture
def user(tmp_path: Path, built: Callable[[str], BuiltEnv], monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, for a user who has three releases."""
    for release in FEW:
        built(f"triton-{release}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compat(*arguments: str, code: int = 0, few: bool = True) -> Result:
    done = CliRunner().invoke(
        main, [*arguments, *(("--envs", ",".join(FEW)) if few else ())], prog_name="compat"
    )
    assert done.exit_code == code, done.output
    return done


# --- facts ----------------------------------------------------------------------------------------


def states(name_history: NameHistory) -> list[tuple[str, str, str]]:
    return [(str(run.value), run.first, run.last) for run in name_history.states]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tl.make_tensor_descriptor", [("absent", "3.0.0", "3.3.1"), ("there", "3.4.0", "3.9.0")]),
        ("tl.make_block_ptr", [("there", "3.0.0", "3.8.0"), ("refuses", "3.9.0", "3.9.0")]),
        ("tl.advance", [("there", "3.0.0", "3.8.0"), ("absent", "3.9.0", "3.9.0")]),
        (
            "tl._experimental_make_tensor_descriptor",
            [
                ("absent", "3.0.0", "3.2.0"),
                ("there", "3.3.0", "3.3.1"),
                ("absent", "3.4.0", "3.9.0"),
            ],
        ),
        ("tl.float8e4nv", [("there", "3.0.0", "3.9.0")]),
        ("tl.tensor.to", [("there", "3.0.0", "3.9.0")]),
        ("tl.math.exp", [("there", "3.0.0", "3.9.0")]),
        ("tl.math.pow", [("absent", "3.0.0", "3.9.0")]),
        (
            "triton.experimental.gluon.jit",
            [("absent", "3.0.0", "3.3.1"), ("there", "3.4.0", "3.9.0")],
        ),
        (
            "triton.tools.tensor_descriptor.TensorDescriptor",
            [("absent", "3.0.0", "3.3.1"), ("there", "3.4.0", "3.9.0")],
        ),
        ("triton.ops", [("there", "3.0.0", "3.1.0"), ("absent", "3.2.0", "3.9.0")]),
    ],
)
def test_history_says_in_which_releases_a_name_exists(
    every: Inspection, name: str, expected: list[tuple[str, str, str]]
) -> None:
    assert states(history(every, every.full(name))) == expected


def test_block_pointers_are_deprecated_from_3_7_and_raise_in_3_9(every: Inspection) -> None:
    name_history = history(every, "triton.language.make_block_ptr")
    (deprecated,), (refuses,) = name_history.deprecated, name_history.refuses
    assert (deprecated.first, deprecated.last) == ("3.7.0", "3.8.0")
    assert deprecated.value.startswith("tl.make_block_ptr is deprecated.")
    assert (refuses.releases, refuses.value.partition(":")[0]) == (
        ("3.9.0",),
        "NotImplementedError",
    )


def parameters(every: Inspection, name: str) -> dict[str, list[tuple[str, str, str | None]]]:
    parameter_histories = history(every, every.full(name)).parameters
    return {
        parameter.name: [(run.first, run.last, run.value.default) for run in parameter.runs]
        for parameter in parameter_histories
    }


def test_parameters_and_defaults_have_intervals(every: Inspection) -> None:
    dot = parameters(every, "tl.dot")
    assert dot["input_precision"] == [("3.0.0", "3.9.0", "None")]
    assert dot["out_dtype"] == [
        ("3.0.0", "3.7.1", "triton.language.float32"),
        ("3.8.0", "3.9.0", "None"),
    ]
    assert parameters(every, "tl.load")["boundary_check"] == [("3.0.0", "3.8.0", "()")]
    assert parameters(every, "tl.make_tensor_descriptor")["padding_option"] == [
        ("3.5.0", "3.9.0", "'zero'")
    ]
    autotune = parameters(every, "triton.autotune")
    assert autotune["key"] == [("3.0.0", "3.9.0", None)]
    assert autotune["warmup"] == [("3.0.0", "3.1.0", "25"), ("3.2.0", "3.9.0", "None")]
    assert parameters(every, "triton.Config")["num_stages"] == [
        ("3.0.0", "3.2.0", "2"),
        ("3.3.0", "3.9.0", "3"),
    ]
    assert not any("_builder" in names or "_semantic" in names for names in (dot, autotune))


def test_deprecated_parameters(every: Inspection) -> None:
    (tf32,) = (
        parameter
        for parameter in history(every, "triton.language.dot").parameters
        if parameter.name == "allow_tf32"
    )
    (always,) = tf32.runs
    assert (always.first, always.last, always.value.deprecated[:13]) == (
        "3.0.0",
        "3.9.0",
        "*Deprecated.*",
    )
    (reorder,) = (
        parameter
        for parameter in history(every, "triton.language.cat").parameters
        if parameter.name == "can_reorder"
    )
    assert [bool(run.value.deprecated) for run in reorder.runs] == [False, True]


def test_equal_objects(every: Inspection) -> None:
    assert {run.value for run in history(every, "triton.language.exp").same_as} >= {"tl.math.exp"}
    assert history(every, "triton.language.math.exp").same_as[0].value == "tl.exp"


def test_import_error_is_reported_with_its_releases(every: Inspection) -> None:
    (unknown,) = history(every, "triton.ops").unknown
    assert (unknown.first, unknown.last) == ("3.0.0", "3.1.0")
    assert "No module named 'torch'" in unknown.value


# --- names and compiling --------------------------------------------------------------------------


LESS_THAN_NAMES = {
    "a value that an argument may have": "dot_bf16x3 dot_scaled cat_without_reorder full_of_float8",
    "a method of a value": "gather_method sum_method item_method",
    "what kernels may be written in": (
        "list_of index_into_tuple star_arguments walrus chained_comparison"
    ),
    "a defect of the function itself": "gdc_wait",
}
"""Kernels of ``tests/kernels/api.py`` that fail in releases that have all their names, by cause."""


def releases(every: Inspection, phrase: str) -> set[str]:
    """The releases in which a kernel with this verdict works."""
    line, working_releases = list(every.line), set(every.line)
    for clause in phrase.split(", "):
        if clause.startswith("needs ≥ "):
            working_releases -= set(line[: line.index(clause.removeprefix("needs ≥ "))])
        elif clause.startswith("removed in "):
            working_releases -= set(line[line.index(clause.removeprefix("removed in ")) :])
    return working_releases


@pytest.fixture(scope="module")
def kernels() -> ast.Module:
    return tree_of((KERNELS / "api.py").read_bytes())


def having_all(every: Inspection, kernels: ast.Module, function: str) -> set[str]:
    names = toolchains.DEFAULT.language.api
    assert names is not None
    needs = needs_of(read_uses(kernels, "triton", names, function), every)
    return {having.place.label for having in needs.coverage if having.has_all}


def test_names_predict_most_of_the_releases_that_compile_a_kernel(
    every: Inspection, kernels: ast.Module
) -> None:
    """Except for ``LESS_THAN_NAMES``, exactly the releases with all names compile a kernel."""
    expected = {
        function: releases(every, phrase)
        for phrase, names in EXPECTED.items()
        for function in names.split()
    }
    actual = {
        function: having_all(every, kernels, function)
        for function in functions()
        if function not in EXPECTED["intermittent"].split()
    }
    assert len(actual) > 60
    more = {function for function, named in actual.items() if named > expected[function]}
    others = {function for function, named in actual.items() if not named >= expected[function]}
    assert (others, more) == (
        set(),
        {word for names in LESS_THAN_NAMES.values() for word in names.split()},
    )


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [80, 160])
def test_names_and_differences_match_the_golden_file(
    user: Path, width: int, golden: Callable[[str, str], None]
) -> None:
    inspection = look(select_places(envs=FEW))
    name_matches = find(inspection, ["tl.load"])
    several = find(inspection, ["tl.*descriptor*", "tl.make_block_ptr", "tl.advance"])
    places = [place_of(inspection, release) for release in FEW]
    changed = compare(
        inspection,
        places[1],
        places[2],
        lambda full: matches(inspection.short_name(full), "tl.[l-z]*"),
    )
    answers = [
        names_blocks(
            inspection, [history(inspection, full) for full in name_matches.names], name_matches
        ),
        names_blocks(inspection, [history(inspection, full) for full in several.names], several),
        difference_blocks(inspection, changed, internal=False),
        steps_blocks(inspection, steps(inspection)),
    ]
    text = "".join(plain_text([*blocks, TextLine()], width=width) for blocks in answers)
    assert max(map(len, text.splitlines())) <= width
    golden(f"names-{width}.txt", text)


def test_command_shows_names_as_text_and_as_json(user: Path) -> None:
    stdout = compat("api", "tl.make_tensor_descriptor").stdout
    assert stdout.startswith("tl.make_tensor_descriptor: built-in, in 3.4.0, not in 3.0.0\n")
    document = json.loads(compat("api", "tl.dot", "float8e4nv", "--json").stdout)
    assert [name["name"] for name in document["names"]] == ["tl.dot", "tl.float8e4nv"]
    assert [release["release"] for release in document["releases"] if release["looked_at"]] == list(
        FEW
    )
    assert len(document["releases"]) == 13
    assert document["names"][1]["intervals"] == [
        {"from": release, "to": release, "state": "there"} for release in FEW
    ]
    compat("api", "tl.load", "--output", "load.txt", "-q")
    assert (
        (user / "load.txt")
        .read_text()
        .startswith("tl.load: built-in, in every release that was inspected\n")
    )


def test_the_command_compares_releases(user: Path) -> None:
    stdout = compat(
        "api", "tl.make_block_ptr", "tl.load", "tl.advance", "--diff", "3.4", "3.9.0"
    ).stdout
    assert "- boundary_check=()" in stdout
    assert "NotImplementedError: Block pointers have been removed" in stdout
    kinds = [
        change["kind"]
        for change in json.loads(
            compat("api", "tl.advance", "--diff", "3.4", "3.9.0", "--json").stdout
        )["changes"]
    ]
    assert kinds == ["removed"]


def test_unbuilt_releases_are_listed_as_not_inspected(user: Path) -> None:
    done = compat("api", "tl.dot", "--envs", "3.0.0,3.77.0", few=False)
    assert "not inspected: 3.1.0–3.9.0, not among --envs\n" in done.stdout
    assert "not inspected: 3.77.0, not built: `compat envs build 3.77.0`" in done.stdout
    assert "in every release that was inspected" in done.stdout
    done = compat("api", "tl.dot", "--envs", "3.77.0", few=False, code=4)
    assert (
        done.stderr
        == "error: none of the envs is built\n  hint: Build them with `compat envs build 3.77.0`.\n"
    )


def test_mistakes_get_one_clear_error(user: Path) -> None:
    assert (
        "hint: Did you mean tl.make_tensor_descriptor"
        in compat("api", "tl.make_tensor_desriptor", code=3).stderr
    )
    assert (
        "--of cannot be combined with names or --diff"
        in compat("api", "tl.dot", "--of", "a.py", code=2).stderr
    )
    assert "error: a.py: there is no such file" in compat("api", "--of", "a.py", code=2).stderr
    (user / "a.py").write_text("def f(:\n")
    assert "error: a.py: cannot be read" in compat("api", "--of", "a.py", code=2).stderr
    (user / "a.py").write_text("def first(x):\n    pass\n")
    assert "hint: Did you mean first?" in compat("api", "--of", "a.py::frist", code=2).stderr


KERNEL = """import triton
import triton.language as tl


@triton.jit
def copy(source, result, BLOCK: tl.constexpr, MODE: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if MODE == 1:
        tl.store(result, tl.sum(at, 0, dtype=tl.int32))
    tl.store(result + at, tl.load(source + at) + tl.arange(0, 2 * BLOCK))
"""
FILE = """schema = 1
kernel = "copy"
source = "copy.py"
signature = { source = "*fp32", result = "*fp32" }
constexprs = { BLOCK = 128, MODE = 0 }
case = [{ name = "only" }]
"""


def test_missing_names_of_a_kernel_are_compared_with_compile_results(user: Path) -> None:
    (user / "copy.py").write_text(KERNEL)
    (user / "copy.toml").write_text(FILE)
    (user / "matrix.toml").write_text('schema = 1\nkernels = ["copy.toml"]\n')
    before = compat("api", "--of", "copy.py", "--target", "sm_90").stdout
    assert "not yet (--compile compiles and compares)" in before
    stdout = compat("api", "--of", "copy", "--compile", "--target", "sm_90", "--json").stdout
    (kernel,) = json.loads(stdout)["kernels"]
    assert kernel["has_all"] == ["3.4.0", "3.9.0"]
    old, *new = kernel["releases"]
    assert old["lacks"] == [
        {
            "name": "tl.sum",
            "why": "has no parameter 'dtype'",
            "lines": [9],
            "conditions": [8],
            "functions": ["copy"],
        }
    ]
    assert old["differs"] == "it fails for another reason first: shape-mismatch"
    assert {release["differs"] for release in new} == {
        "all names exist, and it fails for another reason: shape-mismatch"
    }
    (user / "copy.py").write_text(KERNEL.replace("2 * BLOCK", "BLOCK"))
    (kernel,) = json.loads(
        compat("api", "--of", "copy.py::copy", "--compile", "--target", "sm_90", "--json").stdout
    )["kernels"]
    assert [release["compiled"] for release in kernel["releases"]] == [
        [{"status": "ok", "class": None, "cells": 1}]
    ] * 3
    assert [release["cells"] for release in kernel["releases"]] == [1, 1, 1]
    assert (
        kernel["releases"][0]["differs"]
        == "tl.sum has no parameter 'dtype', but only a condition (line 8) leads to it, which the"
        " compiled cases may not take"
    )
    # Without --compile, the command uses the stored results.
    again = compat("api", "--of", "copy.toml", "--target", "sm_90").stdout
    assert "3.4.0: ok, as its names say\n" in again


CASES = """\
import triton
import triton.language as tl

@triton.jit
def add(x, y, HOW: tl.constexpr):
    at = tl.arange(0, 64)
    if HOW == 0:
        tl.store(y + at, tl.load(x + at))
    elif HOW == 1:
        tl.store(y + at, tl.load(x + tl.arange(0, 32)))
    else:
        for i in range(tl.load(x + tl.arange(0, 1)).to(tl.int32)):
            tl.store(y + i, i)
"""


def test_answer_says_how_many_cases_were_compiled(user: Path) -> None:
    """The stored result of one case says nothing about the other three. Two of those crash."""
    (user / "add.py").write_text(CASES)
    cases = "".join(
        f'[[case]]\nname = "how{how}"\nconstexprs = {{ HOW = {how} }}\n' for how in range(4)
    )
    signature = 'signature = { x = "*fp32", y = "*fp32" }\n'
    (user / "add.toml").write_text(
        f'schema = 1\nkernel = "add"\nsource = "add.py"\n{signature}{cases}'
    )
    (user / "matrix.toml").write_text('schema = 1\nkernels = ["add.toml"]\n')
    compat("matrix", "--case", "how0", "--target", "sm_90")
    arguments = ("api", "--of", "add.py::add", "--target", "sm_90")
    output = compat(*arguments).stdout
    assert [line.split(": ")[-1] for line in output.splitlines() if " of 4 " in line] == [
        "ok in 1 of 4 cases, 3 not compiled"
    ] * 3
    assert "as its names say" not in output
    assert "--compile compiles the rest" in output
    output = " ".join(compat(*arguments, "--compile").stdout.split())
    crashed = "crashed (mlir-bitwidth-assert) in 2"
    assert f"ok in 1 of 4 cases, rejected (shape-mismatch) in 1, {crashed}" in output
    assert "not compiled" not in output
    (kernel,) = json.loads(compat(*arguments, "--json").stdout)["kernels"]
    assert [
        (
            release["cells"],
            [(outcome["status"], outcome["cells"]) for outcome in release["compiled"]],
        )
        for release in kernel["releases"]
    ] == [(4, [("ok", 1), ("rejected", 1), ("crashed", 2)])] * 3
    several = compat("api", "--of", "add.py::add", "--target", "sm_90", "--target", "sm_80").stdout
    assert "of 8 cells" in several


def test_kernels_of_classes_and_factories_are_read(user: Path) -> None:
    jit = "@triton.jit\n        def kernel(x, y):\n            tl.store(y, tl.load(x))\n"
    tail = (
        "        @triton.jit\n        def kernel(x, y):\n            tl.advance(x, y)\n    return"
        " kernel"
    )
    factory = f"def make(size):\n    if True:\n{tail}"
    head = "import triton\nimport triton.language as tl\n"
    (user / "a.py").write_text(f"{head}\nclass Holder:\n    if True:\n        {jit}\n{factory}\n")
    for name, function in {"held": "Holder.kernel", "made": "make(64)"}.items():
        text = (
            FILE.replace('"copy"', f'"{name}"')
            .replace("copy.py", "a.py")
            .replace("{ source =", "{ x =")
        )
        text = text.replace("result =", "y =").replace(
            "constexprs = { BLOCK = 128, MODE = 0 }\n", ""
        )
        (user / f"{name}.toml").write_text(
            f'{text}\n[[variant]]\nname = "only"\nfunction = "{function}"\n'
        )
        (kernel,) = json.loads(compat("api", "--of", f"{name}.toml", "--json").stdout)["kernels"]
        assert kernel["function"] == function
        assert ("tl.advance" in {use["name"] for use in kernel["uses"]}) is (name == "made")


def test_only_one_of_two_envs_of_a_release_is_inspected(
    user: Path, built: Callable[[str], BuiltEnv]
) -> None:
    built("triton-3.5.1-torch-2.9.1")
    built("triton-3.5.1")
    stdout = compat(
        "api", "tl.dot", "--envs", "triton-3.5.1,triton-3.5.1-torch-2.9.1", "--json", few=False
    ).stdout
    (place,) = [release for release in json.loads(stdout)["releases"] if release["looked_at"]]
    assert (place["release"], place["env"]) == ("3.5.1", "triton-3.5.1")
