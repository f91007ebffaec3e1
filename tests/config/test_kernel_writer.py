"""Kernel files that are written are read as they were written, in every form."""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from compat import toolchains
from compat.bundle.bundle import bundle
from compat.config.kernel_files import load_kernels
from compat.config.kernel_writer import kernel_text, write_kernel_file
from compat.config.toml import toml_text
from compat.errors import ConfigError
from compat.model import HINTS, CompileSpec, Expectation, Specialization, Status, constexprs
from compat.model.cell import CONSTEXPR, leaf_types
from compat.model.fields import CommentedValue
from compat.source.closure import read_source
from compat.toolchains.triton.language.types import DTYPES
from tests.config.test_launch_table import ARGUMENTS as PASSED

ROOT = Path(__file__).parent.parent.parent
KERNEL_FILES = sorted(
    path.relative_to(ROOT)
    for folder in ("kernels", "tests")
    for path in (ROOT / folder).rglob("*.toml")
)

ARGUMENTS = ("x", "y", "n", "größe", "_")
VALUES = ("BLOCK", "KIND", "λ", "options")
VARIANTS, CASES = ("one", "two", "three"), ("a", "b", "c")
SOURCE = "def add(a, b):\n    return a + b\n\n\n" + "\n\n\n".join(
    f"def {name}({', '.join(f'{parameter}=0' for parameter in (*ARGUMENTS, *VALUES))}):\n    pass\n"
    for name in VARIANTS
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
WHOLE = st.integers(-(1 << 63), (1 << 64) - 1)
OPTIONS = TEXTS.filter(lambda name: name not in toolchains.look_up("triton").language.options)
"""Names of options that no release has: they may have values of any type."""
NAMES = st.sampled_from(("x", "n", "größe", "tensor", "function", "fields"))


def named(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Named tuples, whose fields have an order."""
    return st.dictionaries(NAMES, inner, max_size=3).map(lambda fields: {"fields": fields})


PLAIN = st.one_of(st.booleans(), WHOLE, st.floats(), TEXTS)
OPTION_VALUES = PLAIN | st.lists(PLAIN, max_size=3).map(tuple)
CONSTEXPRS = st.recursive(
    st.one_of(
        PLAIN,
        st.none(),
        st.sampled_from(sorted({*constexprs.DTYPES.values()})).map(lambda name: {"dtype": name}),
        st.sampled_from(constexprs.TORCH_DTYPES).map(lambda name: {"torch_dtype": name}),
        st.just({"function": "add"}),
        st.just({"layout": "gl.BlockedLayout([1], [32], [4], [0])"}),
    ),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | named(inner),
    max_leaves=5,
)
TYPES = st.one_of(
    st.builds("{}{}".format, st.sampled_from(["", "*", "*k"]), st.sampled_from(DTYPES)),
    st.builds(
        "tensordesc<{}[{}, {}]>".format,
        st.sampled_from(DTYPES),
        st.integers(1, 512),
        st.integers(1, 512),
    ),
    st.just("tensordesc<fp16[64, 64],NVMMASharedLayout(128, element_bitwidth=16, rank=2)>"),
)
TUPLES = st.recursive(
    TYPES | st.just(CONSTEXPR),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | named(inner),
    max_leaves=5,
)
EXPECTATIONS = st.builds(
    Expectation,
    status=st.sampled_from([status for status in Status if status.is_answer]),
    failure_class=st.sampled_from([None, "api-removed"]),
    releases=st.sampled_from(["", ">=3.1", "<3.3,>=3.2"]).map(SpecifierSet),
    targets=st.sampled_from([("*",), ("sm_90",), ("sm_*", "gfx942")]),
    cases=st.sampled_from([("*",), ("a",), ("[a-c]", "a")]),
    strict=st.booleans(),
    reason=st.sampled_from(["", 'Assertion `x && "y"\' failed', "zwei\nZeilen"]),
)


HINTED = {
    "divisible_by_16": r"\*|[iu]\d|tensordesc",
    "equal_to_1": r"[iu]\d",
    "pointer_range_32": r"\*",
}
"""Hint → the types of the arguments that can have it."""


def subset(names: Any) -> st.SearchStrategy[tuple[str, ...]]:
    """Some of the names, in any order."""
    return st.permutations(list(names)).flatmap(
        lambda order: st.integers(0, len(order)).map(lambda size: tuple(order[:size]))
    )


@st.composite
def compile_specs(draw: st.DrawFn, options: st.SearchStrategy[Any] = OPTION_VALUES) -> CompileSpec:
    launch = draw(st.dictionaries(st.sampled_from(ARGUMENTS), PASSED))
    types = TYPES | TUPLES.filter(lambda kind: kind != CONSTEXPR)
    signature = {} if launch else draw(st.dictionaries(st.sampled_from(ARGUMENTS), types))
    elements = leaf_types(signature)
    leaf_constexprs = {
        path: draw(CONSTEXPRS) for path, kind in elements.items() if kind == CONSTEXPR
    }
    return CompileSpec(
        signature=signature,
        launch=launch,
        constexprs={
            **draw(st.dictionaries(st.sampled_from(VALUES), CONSTEXPRS)),
            **leaf_constexprs,
        },
        options=draw(st.dictionaries(OPTIONS, options, max_size=3)),
        **{
            hint: draw(subset(path for path, kind in elements.items() if re.match(pattern, kind)))
            for hint, pattern in HINTED.items()
        },
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kernels")
    (path / "k.py").write_text(SOURCE, encoding="utf-8")
    return path


def spec_of(
    folder: Path, compiled: CompileSpec, variant: str = "one", case: str = "a", **facts: Any
) -> Specialization:
    source, roots = folder / "k.py", [Path(root) for root in facts.get("roots", ())]
    return Specialization(
        kernel="k",
        variant=variant,
        case=case,
        source=str(source),
        function=variant,
        compile=compiled,
        closure=read_source(source, roots).closure,
        **facts,
    )


def read(path: Path) -> tuple[Specialization, ...]:
    return load_kernels([path.name], path.parent)


def without_origin(specs: Any) -> list[Specialization]:
    return [evolve(spec, origin="") for spec in specs]


@given(
    compile_specs(),
    st.lists(EXPECTATIONS, max_size=3),
    st.sampled_from(["", "In a word.", "Zwei\tWörter"]),
    st.lists(st.sampled_from(["sm_90", "sm_*", "gfx[19]*"]), unique=True),
    st.sampled_from([(), ("..",), ("..", "."), (".", "..")]),
)
def test_one_specialization_is_read_as_it_was_written(
    folder: Path,
    compiled: CompileSpec,
    expectations: list[Expectation],
    summary: str,
    targets: list[str],
    roots: tuple[str, ...],
) -> None:
    facts: dict[str, Any] = {
        "targets": tuple(targets),
        "roots": tuple(str((folder / root).resolve()) for root in roots),
    }
    spec = spec_of(folder, compiled, expectations=tuple(expectations), summary=summary, **facts)
    written = write_kernel_file([spec], folder / "k.toml")
    assert without_origin(written) == [spec]
    specs = read(folder / "k.toml")
    assert without_origin(specs) == [spec]
    assert json.dumps(specs[0].compile.document()) == json.dumps(spec.compile.document())


@given(
    st.dictionaries(st.sampled_from(["k", "l", "one"]), compile_specs(), min_size=1), st.booleans()
)
def test_several_kernels_are_read_as_they_were_written(
    folder: Path, kernels: Mapping[str, CompileSpec], plain: bool
) -> None:
    names = ("as_written", "default") if plain else ("other", "a")
    specs = [
        evolve(
            spec_of(folder, compiled, variant="one"), kernel=kernel, variant=names[0], case=names[1]
        )
        for kernel, compiled in kernels.items()
    ]
    assert without_origin(write_kernel_file(specs, folder / "several.toml")) == specs
    assert without_origin(read(folder / "several.toml")) == specs


@st.composite
def layers(draw: st.DrawFn, launched: bool) -> dict[str, Any]:
    """The tables of one layer of a kernel file. Few values let layers agree and disagree."""
    drop = st.just({"drop": True})
    tables: dict[str, Any] = {
        "launch" if launched else "signature": draw(
            st.dictionaries(
                st.sampled_from(ARGUMENTS[:3]),
                st.sampled_from(["*fp16", 1, 1.0] if launched else ["*fp16", "i32"]) | drop,
            )
        ),
        "constexprs": draw(
            st.dictionaries(st.sampled_from(VALUES[:3]), st.sampled_from([1, 1.0, True]) | drop)
        ),
        "options": draw(
            st.dictionaries(
                st.sampled_from(["num_warps", "num_stages"]), st.sampled_from([1, 2]) | drop
            )
        ),
    }
    hints = st.dictionaries(
        st.sampled_from([hint for hint in HINTS if hint != "equal_to_1"]),
        subset(ARGUMENTS[:3]).map(list),
    )
    return tables if launched else tables | {"hints": draw(hints | st.just("none"))}


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A kernel file with variants and cases."""
    launched = draw(st.booleans())
    top, key = draw(layers(launched)), "launch" if launched else "signature"
    # A hint needs an argument that exists.
    top[key] = {**dict.fromkeys(ARGUMENTS[:3], "*fp16"), **top[key]}
    cases = draw(st.integers(1, 3))
    variants = [
        {"name": name, "function": name, **draw(layers(launched))}
        | ({"cases": list(some)} if (some := draw(subset(CASES[:cases]))) else {})
        for name in VARIANTS[: draw(st.integers(1, 3))]
    ]
    return {
        "schema": 1,
        "kernel": "k",
        "source": "k.py",
        **top,
        "case": [{"name": name, **draw(layers(launched))} for name in CASES[:cases]],
        "variant": variants,
    }


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(documents())
def test_any_valid_kernel_file_can_be_written_again(folder: Path, document: dict[str, Any]) -> None:
    path = folder / "given.toml"
    path.write_text(toml_text(document), encoding="utf-8")
    try:
        specs = read(path)
    except ConfigError:
        assume(False)
    written = write_kernel_file(specs, folder / "again.toml")
    assert without_origin(read(folder / "again.toml")) == without_origin(written)
    by_place = {(spec.variant, spec.case): spec for spec in without_origin(written)}
    assert by_place == {(spec.variant, spec.case): spec for spec in without_origin(specs)}


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(VARIANTS), st.sampled_from(CASES)),
        st.fixed_dictionaries(
            {}, optional={"BLOCK": st.sampled_from([1, 2]), "KIND": st.sampled_from([None, (1, 2)])}
        ),
        min_size=2,
    )
)
def test_specializations_that_layers_cannot_express_are_refused(
    folder: Path, places: Mapping[tuple[str, str], Mapping[str, Any]]
) -> None:
    specs = [
        spec_of(folder, CompileSpec(constexprs=values), *place) for place, values in places.items()
    ]
    path = folder / "any.toml"
    path.unlink(missing_ok=True)
    refused: str | None = None
    try:
        write_kernel_file(specs, path)
    except ConfigError as error:
        refused = str(error)
    assert path.exists() is (refused is None)
    if refused is None:
        by_place = {(spec.variant, spec.case): spec for spec in without_origin(read(path))}
        assert by_place == {(spec.variant, spec.case): spec for spec in specs}
    else:
        assert "differs both by variant and by case" in refused


@pytest.mark.parametrize("path", KERNEL_FILES, ids=str)
def test_the_kernel_files_of_this_project_are_read_as_they_are_written(
    path: Path, tmp_path: Path
) -> None:
    specs = load_kernels([str(path)], ROOT)
    assert without_origin(write_kernel_file(specs, tmp_path / "k.toml")) == without_origin(specs)


@given(
    st.dictionaries(
        TEXTS,
        st.recursive(
            PLAIN, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=8
        ),
    )
)
def test_any_toml_is_read_as_it_was_written(document: dict[str, Any]) -> None:
    for table in (document, {"table": document, "tables": [document, {"inner": [document, {}]}]}):
        assert repr(_sorted(tomllib.loads(toml_text(table)))) == repr(_sorted(table))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(item) for name, item in sorted(value.items())}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


# --- one by one -----------------------------------------------------------------------------------


def test_a_difference_is_written_in_its_variant_or_case(folder: Path) -> None:
    specs = [
        spec_of(
            folder,
            CompileSpec(
                signature={"x": "*fp16"} if variant == "two" else {"x": "*fp16", "n": "i32"},
                constexprs={"BLOCK": 64 if case == "a" else 128},
                divisible_by_16=("x",),
                options={"num_warps": 8 if variant == "two" else 4},
            ),
            variant,
            case,
            summary="Twice." if variant == "two" else "Once.",
        )
        for variant, case in itertools.product(("one", "two"), ("a", "b"))
        if (variant, case) != ("one", "b")
    ]
    assert (
        kernel_text(specs, folder) == 'schema = 1\nkernel = "k"\nsource = "k.py"\n\n'
        '[signature]\nx = "*fp16"\nn = "i32"\n\n'
        "[constexprs]\nBLOCK = 64\n\n"
        '[hints]\ndivisible_by_16 = ["x"]\nequal_to_1 = []\npointer_range_32 = []\n\n'
        "[options]\nnum_warps = 4\n\n"
        '[[case]]\nname = "a"\n\n[[case]]\nname = "b"\nconstexprs = {BLOCK = 128}\n\n'
        '[[variant]]\nname = "one"\nfunction = "one"\nsummary = "Once."\ncases = ["a"]\n\n'
        '[[variant]]\nname = "two"\nfunction = "two"\nsummary = "Twice."\n'
        "signature = {n = {drop = true}}\noptions = {num_warps = 8}\n"
    )
    assert without_origin(write_kernel_file(specs, folder / "k.toml")) == specs


def test_defaults_are_not_written(folder: Path) -> None:
    spec = evolve(
        spec_of(folder, CompileSpec(signature={"x": "i32"})),
        variant="as_written",
        case="default",
        assumed=HINTS,
    )
    head = 'schema = 1\nkernel = "k"\nsource = "k.py"\n'
    assert kernel_text([spec], folder) == head + 'function = "one"\n\n[signature]\nx = "i32"\n'
    one = evolve(spec, kernel="one")
    assert "function" not in kernel_text([one], folder)
    assert (
        kernel_text([spec, one], folder) == 'schema = 1\nsource = "k.py"\n\n'
        '[[kernel]]\nname = "k"\nfunction = "one"\nsignature = {x = "i32"}\n\n'
        '[[kernel]]\nname = "one"\nsignature = {x = "i32"}\n'
    )


def test_a_note_is_a_comment_after_its_entry() -> None:
    several = [f"argument_{number}" for number in range(20)]
    document = {
        "schema": CommentedValue(1, "a\nb"),
        "table": {"x": CommentedValue(several, "many"), "y": 2},
        "kernel": [
            {
                "name": "k",
                "signature": {"x": CommentedValue("i32", "guessed")},
                "case": [{"name": "a", "options": {"x": 1}}],
            }
        ],
    }
    text = toml_text(document)
    assert text.startswith("schema = 1  # a b\n")
    assert '    "argument_19",\n]  # many\ny = 2\n' in text
    assert text.endswith(
        '[[kernel]]\nname = "k"\n\n[kernel.signature]\nx = "i32"  #'
        ' guessed\n\n[[kernel.case]]\nname = "a"\noptions = {x = 1}\n'
    )
    assert tomllib.loads(text)["table"] == {"x": several, "y": 2}


def test_an_option_of_few_variants_is_written_in_these_variants(folder: Path) -> None:
    def options(*numbers: int | None) -> list[Specialization]:
        chosen = zip(itertools.product(VARIANTS, "ab"), numbers, strict=True)
        return [
            spec_of(folder, CompileSpec(options={"num_ctas": n} if n else {}), *place)
            for place, n in chosen
        ]

    text = kernel_text(options(None, None, None, None, 2, 2), folder)
    assert text.endswith('name = "three"\nfunction = "three"\noptions = {num_ctas = 2}\n')
    assert "drop" not in text
    by_case = options(None, None, None, None, 2, 4)
    assert without_origin(write_kernel_file(by_case, folder / "k.toml")) == by_case


def test_assumed_hints_are_not_written(folder: Path) -> None:
    usual = CompileSpec(
        signature={"x": "*fp16", "n": "i32"}, divisible_by_16=("x",), pointer_range_32=("x",)
    )
    spec = spec_of(folder, usual, assumed=HINTS)
    assert "hints" not in kernel_text([spec], folder)
    assert without_origin(write_kernel_file([spec], folder / "k.toml")) == [spec]
    nothing = spec_of(folder, CompileSpec(signature={"x": "*fp16"}))
    assert 'hints = "none"' in kernel_text([nothing], folder)


def test_a_variant_may_have_a_pointer_hint_although_one_case_has_a_scalar(folder: Path) -> None:
    """The variant's hint counts only if the type of the argument may have it.

    So one layer is enough.
    """
    usual = CompileSpec(signature={"x": "*fp16"}, divisible_by_16=("x",), pointer_range_32=("x",))
    scalar = CompileSpec(signature={"x": "fp16"})
    pointer = CompileSpec(signature={"x": "*fp16"}, pointer_range_32=("x",))
    assumed = [
        spec_of(folder, compiled, "one", case, assumed=HINTS)
        for case, compiled in zip("ab", (usual, scalar), strict=True)
    ]
    specs = [
        *assumed,
        *(
            spec_of(folder, compile_spec, "two", case)
            for case, compile_spec in zip("ab", (pointer, scalar), strict=True)
        ),
    ]
    assert without_origin(write_kernel_file(specs, folder / "k.toml")) == specs


def test_a_kernel_file_beside_a_bundle_describes_the_bundle(tmp_path: Path) -> None:
    original, *_ = load_kernels(["kernels/sel_dense.toml"], ROOT)
    alone = bundle(evolve(original, expectations=())).write(tmp_path / "alone.py")
    (spec,) = write_kernel_file([alone], tmp_path / "alone.toml")
    assert evolve(spec, origin=original.origin) == alone
    assert spec.source == str(tmp_path / "alone.py")


def test_the_example_in_the_docs_writes_a_kernel_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (example,) = re.findall(
        r"^```python\n(.*?)^```",
        (ROOT / "docs/kernel-files.md").read_text(),
        re.MULTILINE | re.DOTALL,
    )
    (tmp_path / "kernels").symlink_to(ROOT / "kernels")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "kernel-files.md", "exec"), {})
    (spec,) = load_kernels(["alone.toml"], tmp_path)
    assert (spec.function, Path(spec.source).name) == ("sel_dense_broadcast_2d", "alone.py")


REFUSED: Mapping[str, tuple[dict[str, Any], str]] = {
    "kernel": ({"kernel": "a b"}, "kernel"),
    "signature": ({"compile": CompileSpec(signature={"x": "*fp17"})}, "signature.x"),
    "number": ({"compile": CompileSpec(options={"num_warps": 1 << 64})}, "options.num_warps"),
    "function": ({"function": "sub"}, "variant[0].function"),
    "cases": (
        {"expectations": (Expectation(status=Status.OK, cases=("d64",)),)},
        "variant[0].expect[0].cases[0]",
    ),
    "surrogate": (
        {"compile": CompileSpec(options={"arch": "\ud800"})},
        "cannot be written as a kernel file",
    ),
    "source": ({"source": ""}, "has no source"),
    "changed": ({"closure": "0" * 64}, "another closure"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_an_invalid_specialization_is_refused_before_it_is_written(folder: Path, what: str) -> None:
    changed, message = REFUSED[what]
    path = folder / f"refused-{what}.toml"
    with pytest.raises(ConfigError) as refused:
        write_kernel_file([evolve(spec_of(folder, CompileSpec()), **changed)], path)
    assert message in str(refused.value)
    assert not path.exists()


def test_contradictory_repeated_or_missing_specializations_are_refused(folder: Path) -> None:
    one, other = (spec_of(folder, CompileSpec(), case=case) for case in "ab")
    with pytest.raises(
        ConfigError, match="one has one function in the case a, and another one in b"
    ):
        kernel_text([one, evolve(other, function="two")], folder)
    with pytest.raises(
        ConfigError, match="at least one kernel, and each variant and case of it once"
    ):
        kernel_text([one, one], folder)
    with pytest.raises(ConfigError, match="at least one kernel"):
        kernel_text([], folder)
    with pytest.raises(ConfigError, match="one toolchain"):
        kernel_text([one, evolve(other, toolchain="other")], folder)
