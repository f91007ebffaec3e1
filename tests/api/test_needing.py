"""The names that a source uses, read from its text, and the releases that have them."""

from __future__ import annotations

from textwrap import dedent

import pytest

from compat import toolchains
from compat.api.needs import NameCoverage, Needs, mismatch, needs_of
from compat.api.records import ApiName, Inspection
from compat.api.uses import Call, NoFunction, Uses, read_uses
from compat.source.parsing import tree_of
from tests.api.invented import inspection, name, parameter, place
from tests.together import for_each

HEAD = "import triton\nimport triton.language as tl\n"


def uses(source: str, function: str | None = None) -> Uses:
    names = toolchains.DEFAULT.language.api
    assert names is not None
    return read_uses(tree_of(dedent(source)), "triton", names, function)


def used(source: str, function: str | None = None) -> set[str]:
    return {" or ".join(use.meanings) for use in uses(source, function).uses}


def kernel(body: str, head: str = HEAD) -> str:
    return f"{head}\n@triton.jit\ndef kernel(x, y):\n" + "".join(
        f"    {line}\n" for line in dedent(body).strip().splitlines()
    )


@for_each(
    ("head", "body", "expected"),
    [
        (HEAD, "tl.dot(x, y)", "triton.language.dot"),
        ("import triton\nfrom triton import language as L\n", "L.dot(x, y)", "triton.language.dot"),
        ("import triton\n", "triton.language.dot(x, y)", "triton.language.dot"),
        ("import triton\nfrom triton.language import dot as d\n", "d(x, y)", "triton.language.dot"),
        (
            "import triton\nfrom triton.language import math as m\n",
            "m.exp(x)",
            "triton.language.math.exp",
        ),
        (f"{HEAD}exp = tl.exp\n", "exp(x)", "triton.language.exp"),
        (
            f"{HEAD}from triton.language.extra import libdevice\n",
            "libdevice.tanh(x)",
            "triton.language.extra.libdevice.tanh",
        ),
        ("import triton\nfrom ours.compat import tl\n", "tl.dot(x, y)", "triton.language.dot"),
        (HEAD, "y = x.to(tl.float16)", "triton.language.float16"),
        (HEAD, "from triton.language import arange\narange(0, 4)", "triton.language.arange"),
    ],
)
def test_names_resolve_through_imports_and_assignments(head: str, body: str, expected: str) -> None:
    assert expected in used(kernel(body, head))


@pytest.mark.parametrize(
    "source",
    [
        kernel("tl = x\ntl.dot(x, y)"),
        kernel("z = [tl.dot for tl in (x,)]"),
        "import triton\ntl = 1\n\n@triton.jit\ndef kernel(x):\n    tl.dot(x)\n",
        f"{HEAD}\n@triton.jit\ndef kernel(tl):\n    tl.dot(1)\n",
    ],
)
def test_rebound_name_is_not_a_name_of_the_language(source: str) -> None:
    assert "triton.language.dot" not in used(source)


def test_alternative_imports_give_a_use_two_meanings() -> None:
    source = """
        import triton
        try:
            from triton.language.extra import libdevice
        except ImportError:
            from triton.language import math as libdevice

        @triton.jit
        def kernel(x):
            libdevice.tanh(x)
    """
    (use,) = [api_use for api_use in uses(source).uses if api_use.function]
    assert use.meanings == ("triton.language.extra.libdevice.tanh", "triton.language.math.tanh")
    assert (use.condition, use.call) == (None, Call(positional=1, keywords=(), open=False))


def test_uses_have_their_condition_and_their_kernel() -> None:
    source = kernel("if x:\n    tl.a(x)\nelse:\n    tl.b(x)\ntl.c(tl.d if y else tl.e)")
    uses_by_name = {use.meanings[0][-1]: use for use in uses(source).uses if use.function}
    assert {name: use.condition for name, use in uses_by_name.items()} == {
        "a": 6,
        "b": 6,
        "c": None,
        "d": 10,
        "e": 10,
    }
    assert all(use.function == "kernel" for use in uses_by_name.values())


def test_attributes_of_values_are_not_resolved() -> None:
    source_uses = uses(
        kernel("z = x.to(tl.float32).sum()\nhelpers.fold(z)", f"{HEAD}import helpers\n")
    )
    assert source_uses.unresolved == ("sum", "to")


def test_function_is_read_with_the_helpers_and_globals_that_it_uses() -> None:
    source = f"""{HEAD}
from .utils import other
SIZE = tl.constexpr(16)

@triton.jit
def helper(x):
    return tl.exp(x)

@triton.jit
def kernel(x):
    helper(tl.full((SIZE,), 0, tl.float32))

@triton.jit
def second(x):
    tl.dot(x, x)
"""
    assert used(source, "kernel") >= {
        "triton.language.exp",
        "triton.language.constexpr",
        "triton.language.full",
    }
    assert "triton.language.dot" not in used(source, "kernel")
    assert "triton.language.dot" in used(source)
    assert uses(source).not_read == (".utils",)
    with pytest.raises(NoFunction) as error:
        uses(source, "third")
    assert error.value.names == ("helper", "kernel", "second")


def test_star_import_resolves_the_names_that_a_release_has() -> None:
    source = (
        "import triton\nfrom triton.language import *\n\n@triton.jit\ndef kernel(x):\n    store(x,"
        " load(x), nothing)\n"
    )
    source_needs = needs(source, place("3.0.0", {"store": name("a", "b", "c"), "load": name("a")}))
    assert [need.shown for need in source_needs.needs] == [
        "triton.jit",
        "tl",
        "tl.load",
        "tl.store",
    ]


# --- calls ----------------------------------------------------------------------------------------


LOAD = name("pointer", "mask=None", "other=None", parameter("cache=''", "keyword-only"))


@for_each(
    ("api_name", "call", "why"),
    [
        (LOAD, Call(positional=1, keywords=("mask",), open=False), ""),
        (LOAD, Call(positional=3, keywords=("cache",), open=False), ""),
        (
            LOAD,
            Call(positional=4, keywords=(), open=False),
            "takes at most 3 positional arguments, not 4",
        ),
        (
            LOAD,
            Call(positional=1, keywords=("boundary_check",), open=False),
            "has no parameter 'boundary_check'",
        ),
        (LOAD, Call(positional=0, keywords=("mask",), open=False), "needs 'pointer'"),
        (LOAD, Call(positional=0, keywords=(), open=True), ""),
        (LOAD, Call(positional=1, keywords=("_semantic",), open=False), ""),
        (name("*shape", "**more"), Call(positional=9, keywords=("x",), open=False), ""),
        (name(kind="method"), Call(positional=9, keywords=("x",), open=False), ""),
        (ApiName(kind="dtype"), Call(positional=1, keywords=(), open=False), ""),
    ],
)
def test_mismatch_says_why_a_call_does_not_fit(api_name: ApiName, call: Call, why: str) -> None:
    assert mismatch(api_name, call) == why


# --- which releases -------------------------------------------------------------------------------


def needs(source: str, *places: object) -> Needs:
    there: Inspection = inspection(*places)  # type: ignore[arg-type]
    return needs_of(uses(source), there)


def missing_names(having: NameCoverage) -> list[str]:
    return [f"{lack.shown} {lack.why}" for lack in having.missing]


def test_releases_with_every_needed_name_have_all() -> None:
    source = kernel("tl.dot(x, y, out=1)\nif x:\n    tl.new(x)")
    source_needs = needs(
        source,
        place("3.0.0", {"dot": name("a", "b")}),
        place("3.1.0", {"dot": name("a", "b", "out=None")}),
        place("3.2.0", None),
        place("3.3.0", {"dot": name("a", "b", "out=None"), "new": name("a")}),
        place(
            "3.4.0",
            {"dot": name("a", "b", "out=None", refuses="RuntimeError: removed"), "new": name("a")},
        ),
    )
    assert [missing_names(having) for having in source_needs.coverage] == [
        ["tl.dot has no parameter 'out'", "tl.new is missing"],
        ["tl.new is missing"],
        [],
        [],
        ["tl.dot only raises RuntimeError: removed"],
    ]
    assert [having.has_all for having in source_needs.coverage] == [
        False,
        False,
        False,
        True,
        False,
    ]
    assert source_needs.coverage[1].missing[0].conditions == (7,)


def test_attributes_of_values_and_of_missing_names_are_ignored() -> None:
    source_needs = needs(
        kernel("tl.float32.primitive_bitwidth\ntl.nothing.at.all"),
        place("3.0.0", {"float32": ApiName(kind="dtype")}),
    )
    assert [need.shown for need in source_needs.needs] == [
        "triton.jit",
        "tl",
        "tl.float32",
        "tl.nothing",
    ]
    assert missing_names(source_needs.coverage[0]) == ["tl.nothing is missing"]


def test_private_names_and_broken_modules_are_unknown() -> None:
    broken = {"extra": ApiName(kind="module", error="No module named 'torch'")}
    source_needs = needs(kernel("tl._inner(x)\ntl.extra.exp(x)"), place("3.0.0", broken))
    (having,) = source_needs.coverage
    assert having.missing == ()
    assert not having.has_all
    assert having.unknown == (
        "tl._inner: private names are not inspected",
        "tl.extra.exp: triton.language.extra: No module named 'torch'",
    )


def test_deprecated_names_and_parameters_are_reported() -> None:
    old = parameter("tf32=None")
    deprecated = type(old)(name="tf32", kind=old.kind, default="None", deprecated="*Deprecated.*")
    there = {"dot": name("a", deprecated), "view": name("a", deprecated=("view is deprecated",))}
    source_needs = needs(kernel("tl.dot(x, tf32=True)\ntl.view(x)"), place("3.0.0", there))
    assert source_needs.coverage[0].deprecated == (
        "tl.dot: tf32: *Deprecated.*",
        "tl.view: view is deprecated",
    )
    assert needs(kernel("tl.dot(x)"), place("3.0.0", there)).coverage[0].deprecated == ()


@for_each("message", ["tl.view is deprecated.", "tl.view(can_reorder=True) is deprecated"])
def test_deprecation_that_names_the_name_is_reported_without_naming_it_again(message: str) -> None:
    there = {"view": name("a", deprecated=(message,))}
    source_needs = needs(kernel("tl.view(x)"), place("3.0.0", there))
    assert source_needs.coverage[0].deprecated == (message,)


def test_class_alias_has_the_members_and_an_opaque_class_lacks_none() -> None:
    there = {
        "tensor": ApiName(kind="class"),
        "tensor.to": ApiName(kind="method"),
        "core": ApiName(kind="module"),
        "core.tensor": ApiName(same_as="triton.language.tensor"),
        "layout": ApiName(kind="class", opaque=True),
        "core.layout": ApiName(same_as="triton.language.layout"),
        "helper": ApiName(kind="foreign", internal=True),
    }
    source_needs = needs(
        kernel(
            "tl.core.tensor.to(x)\ntl.core.tensor.gone(x)\ntl.core.layout.make(x)\ntl.helper(x)"
        ),
        place("3.0.0", there),
    )
    assert missing_names(source_needs.coverage[0]) == ["tl.core.tensor.gone is missing"]
