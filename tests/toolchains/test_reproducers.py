"""A reproducer is cut down to the pass that fails."""

from __future__ import annotations

import pytest

from compat.toolchains.triton.ir.dumps import one_pass
from tests.together import for_each

WHOLE = """module {{
  tt.func @whole()
}}

{{-#
  external_resources: {{
    mlir_reproducer: {{
      pipeline: "{pipeline}",
      disable_threading: false
    }}
  }}
#-}}
"""
IR = 'module {\n  tt.func @before() loc("/home/someone/kernels/kernel.py":3:0)\n}\n'


@for_each(
    ("pipeline", "name", "expected"),
    [
        ("builtin.module(a,b,c)", "b", "builtin.module(b)"),
        ("builtin.module(a{x=1 y=2},b)", "a", "builtin.module(a{x=1 y=2})"),
        (
            "builtin.module(canonicalize{  max-iterations=10 top-down=true},cse,cse)",
            "cse",
            "builtin.module(cse)",
        ),
        ("any(a,tt.func(b{l=1,2},c),d)", "c", "builtin.module(tt.func(c))"),
        ("builtin.module(any(a{t=cuda:90},b))", "a", "builtin.module(any(a{t=cuda:90}))"),
    ],
)
def test_reproducer_runs_only_the_failing_pass(pipeline: str, name: str, expected: str) -> None:
    text = one_pass(WHOLE.format(pipeline=pipeline), IR, name)
    assert text is not None
    assert f'pipeline: "{expected}",' in text
    assert "disable_threading: false" in text
    assert "@before" in text
    assert "@whole" not in text
    assert 'loc("kernel.py":3:0)' in text


@pytest.mark.parametrize("pipeline", ["builtin.module(a,c)", "builtin.module(b{x=1},b{x=2})"])
def test_missing_or_ambiguous_pass_has_no_reproducer(pipeline: str) -> None:
    assert one_pass(WHOLE.format(pipeline=pipeline), IR, "b") is None


def test_without_a_pipeline_there_is_no_reproducer() -> None:
    assert one_pass("module {}", IR, "b") is None
