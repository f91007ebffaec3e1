"""An example of each kind of edit."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from textwrap import dedent, indent
from typing import Any

import pytest

from compat.model import CompileSpec
from compat.reduce import Candidate, expressions, extract_functions, module, statements
from compat.reduce.candidate import Edit, ReductionPass, apply_edits
from compat.source.parsing import compiles
from tests.together import for_each

HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"


def kernel(body: str, *, before: str = "", **changes: Any) -> Candidate:
    """``def kernel(a, b, N)`` with this body; ``a`` points to fp16."""
    text = (
        HEAD.removesuffix("@triton.jit\n") + dedent(before) + "@triton.jit\ndef kernel(a, b, N):\n"
    )
    text += "".join(f"    {line}\n" for line in dedent(body).strip().splitlines())
    defaults: dict[str, Any] = {"signature": {"a": "*fp16", "b": "i32"}, "constexprs": {"N": 64}}
    return Candidate(text=text, function="kernel", compile=CompileSpec(**(defaults | changes)))


def results(make: ReductionPass, candidate: Candidate) -> list[str]:
    """The body of the kernel after each edit that leaves valid Python."""
    successors = (apply_edits(candidate, [edit]) for edit in make(candidate))
    return [body_of(successor) for successor in successors if successor is not None]


def body_of(candidate: Candidate) -> str:
    return candidate.text.partition(f"def {candidate.function}(")[2].partition("\n")[2].strip()


def the(edits: Iterable[Edit], description: str) -> Edit:
    (match,) = (edit for edit in edits if description in edit.what)
    return match


def lines(text: str) -> str:
    return dedent(text).strip().replace("\n", "\n    ")


@pytest.mark.parametrize(
    ("make", "body", "expected"),
    [
        pytest.param(
            statements.drop,
            "x = tl.load(a)\ny = x + 1\ntl.store(a, 0)",
            "tl.store(a, 0)",
            id="what-depends-goes-too",
        ),
        pytest.param(
            statements.drop,
            "x = 1\nfor i in range(x):\n    tl.store(a, i)",
            "pass",
            id="a-loop-over-what-is-gone",
        ),
        pytest.param(
            statements.drop,
            "for i in range(b):\n    tl.store(a, i)",
            "for i in range(b):\n    pass",
            id="an-empty-loop",
        ),
        pytest.param(
            statements.unwrap,
            "for i in range(3, b):\n    tl.store(a, i)",
            "i = 3\ntl.store(a, i)",
            id="a-round",
        ),
        pytest.param(
            statements.unwrap,
            "for i in range(b):\n    tl.store(a, 1)",
            "tl.store(a, 1)",
            id="a-loop",
        ),
        pytest.param(
            statements.unwrap, "if b:\n    x = 1\nelse:\n    x = 2", "x = 2", id="a-condition"
        ),
        pytest.param(
            statements.unwrap, "while b:\n    tl.store(a, 1)", "tl.store(a, 1)", id="a-while"
        ),
        pytest.param(
            statements.unwrap,
            "with tl.scope(b):\n    tl.store(a, 1)",
            "tl.store(a, 1)",
            id="a-with",
        ),
        pytest.param(statements.simplify, "x, y = 1, 2", "x = 1\ny = 2", id="two-in-one"),
        pytest.param(statements.simplify, "b += 1", "b = 1", id="in-place"),
        pytest.param(
            statements.merge,
            "x = tl.load(a)\ntl.store(a, x + 1)",
            "tl.store(a, tl.load(a) + 1)",
            id="a-single-use",
        ),
        pytest.param(
            statements.merge, "x = b\ntl.store(a, x + x)", "tl.store(a, b + b)", id="another-name"
        ),
        pytest.param(
            expressions.keywords, "tl.load(a, mask=b, other=0)", "tl.load(a, mask=b)", id="other"
        ),
        pytest.param(
            expressions.keywords, "tl.load(a, mask=b, other=0)", "tl.load(a, other=0)", id="mask"
        ),
        pytest.param(expressions.elements, "tl.load(a, b)", "tl.load(a)", id="an-argument"),
        pytest.param(
            expressions.elements, "tl.zeros((N, N), b)", "tl.zeros((N,), b)", id="an-element"
        ),
        pytest.param(
            expressions.hoist, "tl.store(a, b * 2 + 1)", "tl.store(a, b * 2)", id="an-operand"
        ),
        pytest.param(
            expressions.hoist,
            "tl.store(a, tl.exp(b))",
            "tl.store(a, b)",
            id="an-argument-for-the-call",
        ),
        pytest.param(
            expressions.hoist,
            "tl.store(a, b.to(N))",
            "tl.store(a, b)",
            id="what-a-method-is-called-on",
        ),
        pytest.param(
            expressions.hoist, "tl.store(a, b[:, None])", "tl.store(a, b)", id="what-is-indexed"
        ),
        pytest.param(
            expressions.values,
            "x = tl.load(a + tl.arange(0, N)[:, None] + tl.arange(0, 32)[None, :])",
            "x = tl.zeros((64, 32), tl.float16)",
            id="a-block-of-zeros",
        ),
        pytest.param(expressions.values, "tl.store(a, b * 2)", "tl.store(a, 0)", id="a-zero"),
        pytest.param(
            expressions.values,
            "x = tl.zeros((N,), tl.float32)\ny = tl.exp(x)",
            "x = tl.zeros((N,), tl.float32)\ny = x",
            id="a-name",
        ),
        pytest.param(
            expressions.literals,
            "x = tl.arange(0, 64)\ny = 64",
            "x = tl.arange(0, 16)\ny = 16",
            id="wherever-it-stands",
        ),
        pytest.param(
            expressions.literals,
            "x = tl.arange(0, 64)\ny = 64",
            "x = tl.arange(0, 16)\ny = 64",
            id="in-one-place",
        ),
        pytest.param(
            expressions.inline_constexprs,
            "x = tl.arange(0, N)",
            "x = tl.arange(0, 64)",
            id="a-constexpr",
        ),
        pytest.param(
            expressions.element_types,
            "tl.zeros((N,), tl.float64)",
            "tl.zeros((N,), tl.float32)",
            id="an-element-type",
        ),
        pytest.param(
            expressions.names,
            "_a_very_long_name = 1\ntl.store(a, _a_very_long_name)",
            "avln = 1\ntl.store(a, avln)",
            id="initials",
        ),
    ],
)
def test_edit(make: ReductionPass, body: str, expected: str) -> None:
    assert lines(expected) in results(make, kernel(body))


HELPERS = """
    @triton.jit
    def twice(x, unused):
        return x * 2

    @triton.jit
    def added(x, y):
        z = x + 1
        x = z * y
        return x, z

    @triton.jit
    def both(x):
        y = x
        y_ = y + 1
        return y * y_

    @triton.jit
    def early(x):
        if x:
            return 1
        return 2

"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("tl.store(a, twice(b, 0) + 1)", "tl.store(a, b * 2 + 1)"),
        ("z = 1\nb, c = added(b, N)", "z = 1\nx = b\nz_ = x + 1\nx = z_ * N\nb, c = (x, z_)"),
        ("y = 1\nb = both(y)", "y = 1\ny_ = y\ny__ = y_ + 1\nb = y_ * y__"),
    ],
)
def test_a_helper_is_inlined(body: str, expected: str) -> None:
    candidate = kernel(body, before=HELPERS)
    assert lines(expected) in results(statements.inline, candidate)


def test_a_helper_that_returns_in_its_middle_is_not_inlined() -> None:
    assert results(statements.inline, kernel("b = early(b)", before=HELPERS)) == []


def test_a_helpers_unused_parameter_is_removed_with_its_argument() -> None:
    start = kernel("tl.store(a, twice(b, 1))", before=HELPERS)
    candidate = apply_edits(start, list(statements.unused_arguments(start)))
    assert candidate is not None
    assert "def twice(x):" in candidate.text
    assert "twice(b)" in candidate.text
    assert "added" not in candidate.text  # a helper that nothing calls is removed, too


def test_an_unused_parameter_is_removed_with_its_facts() -> None:
    candidate = kernel("tl.store(a, 1)", divisible_by_16=("a", "b"), equal_to_1=("b",))
    less = apply_edits(candidate, list(expressions.unused_parameters(candidate)))
    assert less is not None
    assert "def kernel(a):" in less.text
    assert (less.compile.signature, less.compile.constexprs) == ({"a": "*fp16"}, {})
    assert (less.compile.divisible_by_16, less.compile.equal_to_1) == (("a",), ())


def test_defaults_are_removed_before_their_parameters() -> None:
    text = HEAD + "def kernel(a, b, n: tl.constexpr = 4, m=None):\n    tl.store(a, n)\n"
    start = Candidate(
        text=extract_functions(text, "kernel"),
        function="kernel",
        compile=CompileSpec(signature={"a": "*i32", "b": "i32"}, constexprs={"n": 4, "m": None}),
    )
    defaults, *_ = expressions.unused_parameters(start)
    plain = apply_edits(start, [defaults])
    assert plain is not None
    assert "def kernel(a, b, n: tl.constexpr, m):" in plain.text
    less = apply_edits(plain, list(expressions.unused_parameters(plain)))
    assert less is not None
    assert "def kernel(a, n: tl.constexpr):" in less.text
    assert (less.compile.signature, less.compile.constexprs) == ({"a": "*i32"}, {"n": 4})


def test_a_parameter_is_removed_with_its_default_if_other_defaults_are_needed() -> None:
    text = HEAD + "def kernel(a, b=1, n: tl.constexpr = 4, m=2):\n    tl.store(a, n + m)\n"
    start = Candidate(
        text=extract_functions(text, "kernel"),
        function="kernel",
        compile=CompileSpec(signature={"a": "*i32"}, constexprs={"n": 4}),
    )
    (unused,) = (e for e in expressions.unused_parameters(start) if e.what == "parameter b")
    less = apply_edits(start, [unused, *expressions.inline_constexprs(start)])
    assert less is not None
    assert "def kernel(a, m=2):\n    tl.store(a, 4 + m)" in less.text


@for_each(
    ("make", "description", "expected"),
    [
        (expressions.options, "option num_warps", {"options": {}}),
        (expressions.options, "option num_warps=2", {"options": {"num_warps": 2}}),
        (expressions.hints, "hint divisible_by_16 a", {"divisible_by_16": ()}),
        (expressions.constexprs, "N=16", {"constexprs": {"N": 16}}),
        (expressions.types, "a: *i32", {"signature": {"a": "*i32", "b": "i32"}}),
    ],
)
def test_edits_of_facts_reduce_the_weight(
    make: ReductionPass, description: str, expected: dict[str, Any]
) -> None:
    candidate = kernel("tl.store(a, b)", options={"num_warps": 8}, divisible_by_16=("a",))
    (edit,) = (edit for edit in make(candidate) if edit.what == description)
    changed = apply_edits(candidate, [edit])
    assert changed is not None
    assert {name: getattr(changed.compile, name) for name in expected} == expected
    assert changed.weight < candidate.weight


def test_the_kernel_gets_a_short_name() -> None:
    candidate = Candidate(
        text=HEAD + "def a_rather_long_name(a):\n    tl.store(a, 1)\n",
        function="a_rather_long_name",
        compile=CompileSpec(signature={"a": "*i32"}),
    )
    renamed = apply_edits(candidate, [the(expressions.names(candidate), "name of the kernel")])
    assert renamed is not None
    assert renamed.function == "kernel"
    assert "def kernel(a):" in renamed.text


def test_the_outermost_of_several_edits_wins() -> None:
    candidate = kernel("for i in range(b):\n    tl.store(a, i)\ntl.store(a, 2)")
    both = apply_edits(candidate, list(statements.drop(candidate)))
    assert both is not None
    assert body_of(both) == "pass"


@pytest.mark.parametrize(
    ("body", "edit"),
    [
        ("for i in range(b):\n    break", "unwrap 0"),
        ("x = b[:, None]", "argument 0"),
    ],
)
def test_an_edit_that_leaves_invalid_python_gives_no_candidate(body: str, edit: str) -> None:
    candidate = kernel(body)
    makers: tuple[Callable[[Candidate], Iterable[Edit]], ...] = (
        statements.unwrap,
        expressions.elements,
    )
    changes = [change for make in makers for change in make(candidate) if edit in change.what]
    successors = [apply_edits(candidate, [change]) for change in changes]
    assert successors
    assert all(successor is None or compiles(successor.text) for successor in successors)


def test_extraction_drops_unneeded_code_annotations_and_comments() -> None:
    text = '''
    import os
    import triton
    import triton.language as tl

    SIZE: tl.constexpr = tl.constexpr(4)
    OTHER = os.sep

    def other():
        pass

    @triton.jit
    def kernel(a: "*fp32", N: tl.constexpr) -> None:
        """What it does."""
        tl.store(a, SIZE)  # and why
    '''
    expected = (
        HEAD.replace("\n\n\n", "\nSIZE: tl.constexpr = tl.constexpr(4)\n\n\n")
        + "def kernel(a, N: tl.constexpr):\n    tl.store(a, SIZE)\n"
    )
    assert extract_functions(dedent(text), "kernel") == expected


@for_each(
    ("listed", "decorator"),
    [
        ('triton.jit(do_not_specialize=["a", "b"])', "triton.jit(do_not_specialize=['a'])"),
        ('triton.jit(do_not_specialize=["b"])', "triton.jit"),
        ("triton.jit(do_not_specialize=(1, 0))", "triton.jit(do_not_specialize=('a',))"),
        (
            'triton.jit(do_not_specialize_on_alignment=["b"], noinline=True)',
            "triton.jit(noinline=True)",
        ),
        ("triton.jit(do_not_specialize=NAMES)", "triton.jit(do_not_specialize=NAMES)"),
    ],
)
def test_decorators_no_longer_name_a_removed_parameter(listed: str, decorator: str) -> None:
    text = (
        HEAD.replace("@triton.jit\n", "")
        + f'NAMES = ["a"]\n\n\n@{listed}\ndef kernel(a, b):\n    tl.store(a, 1)\n'
    )
    candidate = Candidate(
        text=extract_functions(text, "kernel"),
        function="kernel",
        compile=CompileSpec(signature={"a": "*i32", "b": "i32"}),
    )
    changed = apply_edits(candidate, [the(expressions.unused_parameters(candidate), "parameter b")])
    assert changed is not None
    assert f"@{decorator}\ndef kernel(a):" in changed.text


def test_launch_arguments_are_simplified_and_removed_with_their_parameter() -> None:
    text = HEAD + "def kernel(a, b: int, c, d):\n    tl.store(a, b)\n"
    start = Candidate(
        text=extract_functions(text, "kernel", annotated=["kernel"]),
        function="kernel",
        compile=CompileSpec(
            launch={
                "a": {"tensor": "i64", "aligned": False},
                "b": 4096,
                "c": None,
                "d": ("*fp16", 3),
            },
            options={"num_warps": 8},
        ),
    )
    assert "b: int" in start.text
    edits = {
        edit.what: edit
        for reduction in (
            expressions.simplify_arguments,
            expressions.drop_annotations,
            expressions.unused_parameters,
        )
        for edit in reduction(start)
    }
    tensors = ("a=*i64", "a=*i32 (not aligned)", "a=*fp32 (not aligned)")
    assert set(edits) == {*tensors, "b=1", "b=16", "annotation of b", "parameter c", "parameter d"}
    successor = apply_edits(start, edits.values())
    assert successor is not None
    assert "def kernel(a, b):" in successor.text
    assert successor.compile == CompileSpec(launch={"a": "*i64", "b": 1}, options={"num_warps": 8})
    assert all(
        after.weight < start.weight
        for edit in edits.values()
        if (after := apply_edits(start, [edit]))
    )


def test_the_target_of_an_augmented_assignment_is_read() -> None:
    """So the statement is removed with the one that gives the target its first value."""
    text = "def kernel(a):\n    x += a\n    y[x] = z = a\n"
    tree = ast.parse(text)
    assert (module.loaded_names(tree), module.assigned_names(tree)) == ({"a", "x", "y"}, {"x", "z"})
    assert ast.unparse(module.prune(tree)) == "def kernel(a):\n    pass"


@for_each(
    "block",
    [
        ["b = [i + a for i in (0, 1)]", "c = b"],
        ["f = lambda q: q + a", "c = f(a)"],
        ["import math", "c = math.pi"],
        ["def inner(z):\n    return z + a", "c = inner(a)"],
        ["try:\n    b = a\n    c = b\nexcept ValueError as error:\n    c = error", "d = c"],
        ["match a:\n    case [b, *rest]:\n        c = rest", "d = c"],
    ],
)
def test_names_that_a_statement_binds_for_itself_are_defined(block: list[str]) -> None:
    """No edit removes such a statement besides the one that it is for."""
    body = indent("\n".join([*block, "unused = 1"]), "    ")
    candidate = Candidate(text=f"def kernel(a):\n{body}\n", function="kernel")
    edit = next(
        edit for edit in statements.drop(candidate) if edit.what == "drop kernel: unused = 1"
    )
    changed = apply_edits(candidate, [edit])
    assert changed is not None
    assert changed.text.replace("\n\n", "\n") == candidate.text.replace("    unused = 1\n", "")


@pytest.mark.parametrize(
    "statement", ["b = [i + c for i in (0, 1)]", "b = [i for i in (0, 1)] + [i]", "b = b + 1"]
)
def test_a_statement_that_reads_an_undefined_name_is_removed(statement: str) -> None:
    tree = ast.parse(f"def kernel(a):\n    {statement}\n")
    assert ast.unparse(module.prune(tree)) == "def kernel(a):\n    pass"
