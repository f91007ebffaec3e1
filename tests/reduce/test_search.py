"""The search, with judges that look at syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat.model import CompileSpec
from compat.reduce import Candidate, extract_functions, module, shrink, statements
from compat.reduce.candidate import apply_edits
from compat.source.parsing import walk

KERNELS = Path(__file__).parent.parent.parent / "kernels"
CONSTEXPRS = {
    "D": 64,
    "DV": 64,
    "NUM_RANGES": 2,
    "BLOCK_H": 16,
    "BLOCK_L": 128,
    "BLOCK_D": 64,
    "BLOCK_DV": 64,
}

Holds = Callable[[Candidate], bool]


def kernel(name: str) -> Candidate:
    """A kernel of this repository with all its parameters."""
    text = extract_functions((KERNELS / f"{name}.py").read_text(), f"{name}_as_written")
    function = module.functions(ast.parse(text))[f"{name}_as_written"]
    signature = {
        parameter: "*fp16" if parameter.endswith("_ptr") else "i32"
        for parameter in module.parameters(function)
        if parameter not in CONSTEXPRS
    }
    return Candidate(
        text=text,
        function=function.name,
        compile=CompileSpec(
            signature=signature,
            constexprs=CONSTEXPRS,
            divisible_by_16=tuple(name for name in signature if name.endswith("_ptr")),
            options={"num_warps": 4, "num_stages": 2},
        ),
    )


def nodes(candidate: Candidate, kind: type[ast.AST]) -> list[ast.AST]:
    return [node for node in walk(candidate.tree) if isinstance(node, kind)]


def calls(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(child, ast.Attribute)
        and child.attr == name
        and ast.unparse(child) == f"tl.{name}"
        for child in (call.func for call in walk(node) if isinstance(call, ast.Call))
    )


def dot_in_a_loop(candidate: Candidate) -> bool:
    return any(calls(node, "dot") for node in nodes(candidate, ast.For))


def a_loop_in_a_loop(candidate: Candidate) -> bool:
    return any(
        sum(isinstance(child, ast.For) for child in walk(node)) > 1
        for node in nodes(candidate, ast.For)
    )


def store_of_an_exponential(candidate: Candidate) -> bool:
    return calls(candidate.tree, "exp") and calls(candidate.tree, "store")


def stride_and_option(candidate: Candidate) -> bool:
    return (
        "stride_kL" in module.loaded_names(candidate.tree)
        and candidate.compile.options.get("num_warps", 0) >= 2
    )


JUDGES: tuple[Holds, ...] = (
    dot_in_a_loop,
    a_loop_in_a_loop,
    store_of_an_exponential,
    stride_and_option,
)


def search(start: Candidate, holds: Holds) -> list[Candidate]:
    """All steps of a search, which never judges a candidate twice."""
    return search_and_judged(start, holds)[0]


def search_and_judged(
    start: Candidate, holds: Holds
) -> tuple[list[Candidate], dict[str, Candidate]]:
    """All steps of a search, and all candidates that were judged, by their keys."""
    earlier: dict[str, Candidate] = {}

    def judge(candidates: Sequence[Candidate]) -> list[bool]:
        new = {candidate.key: candidate for candidate in candidates}
        assert len(new) == len(candidates)
        assert not new.keys() & earlier.keys()
        earlier.update(new)
        return [holds(candidate) for candidate in candidates]

    return list(shrink(start, judge)), earlier


@cache
def found_by(holds: Holds) -> tuple[list[Candidate], dict[str, Candidate]]:
    """The search with a judge, which runs once for all tests that use it."""
    return search_and_judged(kernel("sel_varlen"), holds)


@pytest.mark.parametrize("holds", JUDGES, ids=lambda holds: holds.__name__)
def test_every_accepted_candidate_satisfies_the_judge_and_is_lighter(holds: Holds) -> None:
    start = kernel("sel_varlen")
    assert holds(start)
    before = start
    for candidate in found_by(holds)[0]:
        assert holds(candidate)
        assert candidate.weight < before.weight
        before = candidate
    assert before.kernel_lines <= 4


@pytest.mark.parametrize("holds", JUDGES, ids=lambda holds: holds.__name__)
def test_no_statement_can_be_removed_from_the_last_candidate(holds: Holds) -> None:
    last = found_by(holds)[0][-1]
    for edit in statements.drop(last):
        less = apply_edits(last, [edit])
        assert less is None or less.weight >= last.weight or not holds(less), edit.what


def test_candidates_define_all_names_and_specialize_all_parameters() -> None:
    _, judged = found_by(dot_in_a_loop)
    assert len(judged) > 100
    for candidate in judged.values():
        functions = module.functions(candidate.tree)
        assert ast.unparse(module.prune(ast.parse(candidate.text))) == ast.unparse(candidate.tree)
        assert {*candidate.compile.signature, *candidate.compile.constexprs} == set(
            module.parameters(functions[candidate.function])
        )
        assert {*candidate.compile.divisible_by_16, *candidate.compile.equal_to_1} <= set(
            candidate.compile.signature
        )


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, set[str]]:
    """A kernel, and the names of the functions whose calls the judge wants.

    The statements build on each other, and some are in loops and conditions.
    """
    lines, count = list[str](), draw(st.integers(2, 8))
    indent = 0
    for number in range(count):
        earlier = draw(st.sampled_from(["source", *(f"x{index}" for index in range(number))]))
        opening = draw(st.sampled_from(["", "", "", "for i in range(8):", "if source:"]))
        if opening and indent < 3:
            lines.append("    " * (indent + 1) + opening)
            indent += 1
        lines.append("    " * (indent + 1) + f"x{number} = mark{number}({earlier})")
    mark_names = draw(
        st.sets(st.sampled_from([f"mark{number}" for number in range(count)]), min_size=1)
    )
    marks = "".join(f"def mark{number}(x):\n    return x\n" for number in range(count))
    return marks + "def kernel(source):\n" + "\n".join(lines) + "\n", mark_names


@settings(max_examples=25)
@given(programs())
def test_only_the_calls_that_the_judge_wants_stay(program: tuple[str, set[str]]) -> None:
    text, mark_names = program
    start = Candidate(
        text=text, function="kernel", compile=CompileSpec(signature={"source": "*fp32"})
    )

    def holds(candidate: Candidate) -> bool:
        kernel = module.functions(candidate.tree)["kernel"]
        return mark_names <= {
            node.func.id
            for node in walk(kernel)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }

    steps = search(start, holds)
    last = steps[-1] if steps else start
    called = [node for node in ast.walk(last.tree) if isinstance(node, ast.Call)]
    assert holds(last)
    assert len(called) == len(mark_names)
    assert not [node for node in ast.walk(last.tree) if isinstance(node, ast.For | ast.If)]


def test_a_judge_that_accepts_only_the_original_gives_no_steps() -> None:
    start = Candidate(
        text="def kernel(a, b):\n    x = a + b\n    return x * 2\n",
        function="kernel",
        compile=CompileSpec(signature={"a": "i64", "b": "i64"}),
    )
    assert search(start, lambda candidate: candidate.key == start.key) == []


def test_a_shorter_name_costs_one_candidate() -> None:
    def holds(candidate: Candidate) -> bool:
        return "range(" in candidate.text and candidate.text.count("mark(") == 2

    numbers = []
    for name in ("kernel", "kernel_of_a_user"):
        body = "    x = mark(a)\n    for i in range(b):\n        x += i\n"
        start = Candidate(
            text=f"def mark(x):\n    return x\n\n\ndef {name}(a, b):\n{body}",
            function=name,
            compile=CompileSpec(signature={"a": "*fp32", "b": "i32"}),
        )
        steps, judged = search_and_judged(start, holds)
        assert steps[-1].function == "kernel"
        numbers.append(len(judged))
    assert numbers[1] == numbers[0] + 1


def test_an_exception_of_the_judge_ends_the_search() -> None:
    def judge(_: Sequence[Candidate]) -> list[bool]:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        next(shrink(kernel("sel_varlen"), judge))


def test_a_longer_candidate_is_not_accepted_even_if_the_judge_accepts_it() -> None:
    stores = "".join("    tl.store(a, N)\n" for _ in range(10))
    text = f"import triton.language as tl\n\n\ndef kernel(a, N):\n{stores}"
    start = Candidate(
        text=text,
        function="kernel",
        compile=CompileSpec(signature={"a": "*i32"}, constexprs={"N": 1024}),
    )

    def holds(candidate: Candidate) -> bool:
        value = "N" if "N" in candidate.compile.constexprs else "1024"
        return (
            candidate.text.count(f"tl.store(a, {value})") == 10
            and candidate.compile.constexprs.get("N", 1024) == 1024
        )

    assert search(start, holds) == []


def test_a_candidate_that_verify_refuses_is_not_accepted() -> None:
    """The search verifies few candidates, and all accepted steps pass."""
    start = kernel("sel_dense")
    candidates: list[Candidate] = []
    judged: list[Candidate] = []

    def judge(some: Sequence[Candidate]) -> list[bool]:
        judged.extend(some)
        return [dot_in_a_loop(candidate) for candidate in some]

    def judge_and_verify(some: Sequence[Candidate]) -> list[bool]:
        judged.extend(some)
        return [dot_in_a_loop(candidate) and verify(candidate) for candidate in some]

    def verify(candidate: Candidate) -> bool:
        candidates.append(candidate)
        return calls(candidate.tree, "exp") and "stride_kL" in module.loaded_names(candidate.tree)

    steps = list(shrink(start, judge, verify=verify))
    assert all(verify(candidate) and dot_in_a_loop(candidate) for candidate in steps)
    plain = list(shrink(start, judge_and_verify))
    assert steps[-1].weight <= plain[-1].weight
    assert len({candidate.key for candidate in candidates}) < len(judged)
    assert len(steps[-1].text) < 600
