"""Inputs that others may give this program, as hypothesis strategies.

They are nearly right, or wrong in every way that was ever met.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            "",
            "\0",
            "\x1b[31mred\x1b[0m",
            "\x1b]0;title\x07",
            "\ud800",
            "\udcff",
            "\u202eabc",
            "\u2028",
            "\r\n",
            "ok",
            "3.1.0",
            "sm_90",
            "*fp16",
            "error: 'tt.dot' op x",
            "x" * 70_000,
            "deadbeef" * 1000,
            "a\n" * 1000,
            "(" * 2000,
            "9" * 5000,
            "../../etc/passwd",
            "loc(" * 500,
        ]
    ),
)
NUMBERS = st.one_of(
    st.integers(-5, 300),
    st.sampled_from([2**31, 2**63, 2**64, -(2**63), 10**300, 10**400, 10**4200, -(10**400)]),
    st.floats(),
    st.sampled_from([float("nan"), float("inf"), float("-inf"), 1e308, 5e-324, -0.0]),
)
LEAVES = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)


def _nested(value: Any, depth: int) -> Any:
    for _ in range(depth):
        value = [value]
    return value


VALUES = st.one_of(
    LEAVES,
    st.recursive(
        LEAVES,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
        max_leaves=12,
    ),
    st.builds(_nested, LEAVES, st.sampled_from([10, 70, 200])),
)
"""Values that JSON can express, and more."""

DEEP = [
    "[" * 100_000,
    "[" * 5000 + "]" * 5000,
    '{"a":' * 100_000,
    '{"a":' * 3000 + "1" + "}" * 3000,
    "1e999",
    "-" * 100,
    "9" * 5000,
    '"\\ud800"',
    "NaN",
    "\ufeff{}",
    '{"a": 1} {"b": 2}',
]


@st.composite
def mutated(draw: st.DrawFn, values: Mapping[str, Any]) -> Any:
    """A document with one to three of its values, at any depth, replaced, dropped or added."""
    document: Any = json.loads(json.dumps(values))
    for _ in range(draw(st.integers(1, 3))):
        place = document
        while isinstance(place, dict | list) and place:
            key = (
                draw(st.sampled_from(sorted(place)))
                if isinstance(place, dict)
                else draw(st.integers(0, len(place) - 1))
            )
            if not isinstance(place[key], dict | list) or not place[key] or draw(st.booleans()):
                break
            place = place[key]
        else:
            continue
        what = draw(st.integers(0, 4))
        if what == 0:
            del place[key]
        elif what == 1 and isinstance(place, dict):
            place[draw(TEXTS)] = draw(VALUES)
        else:
            place[key] = draw(VALUES)
    return document


def json_of(document: Any) -> str:
    """A document as Python writes it, which is not always JSON."""
    try:
        return json.dumps(document)
    except (ValueError, RecursionError):
        return "9" * 5000


@st.composite
def json_texts(draw: st.DrawFn, values: Mapping[str, Any]) -> str:
    """JSON, or nearly."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(st.sampled_from(DEEP))
    if kind == 1:
        return json_of(draw(VALUES))
    text = json_of(draw(mutated(values)))
    return draw(damaged(text)) if kind == 2 else text


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """A text with something cut, doubled or inserted."""
    for _ in range(draw(st.integers(1, 3))):
        at, length = draw(st.integers(0, len(text))), draw(st.integers(0, 20))
        piece = draw(st.one_of(TEXTS, st.just(text[at : at + 50])))
        text = text[:at] + piece + text[at + length :]
    return text


@st.composite
def damaged_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """Bytes with something cut, replaced or inserted."""
    for _ in range(draw(st.integers(1, 4))):
        at, length = draw(st.integers(0, len(data))), draw(st.sampled_from([0, 0, 1, 10, 1000]))
        data = data[:at] + draw(st.binary(max_size=12)) + data[at + length :]
    return data


# --- TOML -----------------------------------------------------------------------------------------


def toml_of(document: Any) -> str:
    """A table as TOML, inline except for its top-level keys.

    Values that TOML has no form for are left out.
    """
    if not isinstance(document, dict):
        return _toml_value(document)
    return (
        "\n".join(
            f"{_toml_key(key)} = {_toml_value(value)}"
            for key, value in document.items()
            if value is not None
        )
        + "\n"
    )


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(
                f"{_toml_key(key)} = {_toml_value(item)}"
                for key, item in value.items()
                if item is not None
            )
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(_toml_value(item) for item in value if item is not None) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value).replace("\x7f", "\\u007f")
    if isinstance(value, int) and abs(value) >= 10**4300:
        return "9" * 5000
    return repr(value)


def _toml_key(key: Any) -> str:
    return json.dumps(str(key)).replace("\x7f", "\\u007f")


TOML_ODDITIES = [
    "a = " + "[" * 100_000,
    "a = " + "[" * 2000 + "]" * 2000,
    "a = " + "{a=" * 2000 + "1" + "}" * 2000,
    ".".join(["a"] * 50_000) + " = 1",
    "[" + ".".join(["a"] * 5000) + "]",
    "a = " + "9" * 5000,
    "a = 1e999",
    "a = 0x" + "f" * 5000,
    "a = 9999-99-99",
    "\ufeffschema = 1",
    "schema = 1\r",
    "\0",
    "schema = inf",
    "schema = true",
]


@st.composite
def toml_texts(draw: st.DrawFn, values: Mapping[str, Any]) -> str:
    """TOML, or nearly."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(st.sampled_from(TOML_ODDITIES))
    if kind == 1:
        return toml_of(values) + draw(st.sampled_from(TOML_ODDITIES))
    text = toml_of(draw(mutated(values)))
    return draw(damaged(text)) if kind == 2 else text


# --- Python ---------------------------------------------------------------------------------------

PIECES = [
    b"import triton\nimport triton.language as tl\n",
    b"from beside import helper\n",
    b"from .beside import *\n",
    b"@triton.jit\ndef kernel(x, n, B: tl.constexpr):\n    tl.store(x, helper(n))\n",
    b"@triton.jit\ndef other(x):\n    return kernel(x, 1, 2)\n",
    b"A = tl.constexpr(3)\n",
    b"def f(): pass\n",
    b"if True:\n    def kernel(x): pass\n",
    b"\x0c\n",
    b"\x0cdef g():\n    return 1\n",
    b"\r\n",
    b"\rB = 2\r",
    b"# comment \xff\xfe\n",
    "# ÿ ł \u202e\n".encode(),
    b"S = '\\ud800 \x1b[31m'\n",
    b"S = '\xed\xa0\x80'\n",
    b"\x00",
    b"T = '\\d'\n",
    b"X = " + b"(" * 300 + b"1" + b")" * 300 + b"\n",
    b"X = " + b"(" * 50 + b"1" + b")" * 50 + b"\n",
    b"X = " + b"-" * 5000 + b"1\n",
    b"X = " + b"+".join([b"1"] * 4000) + b"\n",
    b"X = a" + b".b" * 3000 + b"\n",
    b"X = f" + b"(1)" * 1500 + b"\n",
    b"if a: pass\n" + b"elif a: pass\n" * 1500,
    b"X = " + b"9" * 5000 + b"\n",
    b"X = 'a' 'b'" * 200 + b"\n",
    b"  bad indent\n",
    (
        b"def h(a, /, b, *, c=1, **d):\n    '''doc\x0cstring'''\n    global A\n    return [a for a"
        b" in b]\n"
    ),
    b"class C:\n    x = A\n",
    b"async def z():\n    await z()\n",
    b"import " + b"x" * 5000 + b", a." + b"y" * 300 + b"\n",
    b"from ." + b"z" * 300 + b" import *\n",
    b"match a:\n    case {'k': v}: pass\n",
    b"try:\n    pass\nexcept* E: pass\n",
]
CODINGS = [
    b"",
    b"",
    b"",
    b"\xef\xbb\xbf",
    b"# coding: latin-1\n",
    b"# coding: utf-7\n",
    b"# coding: rot13\n",
    b"# coding: nope\n",
    b"# coding: utf-16\n",
]


@st.composite
def sources(draw: st.DrawFn) -> bytes:
    """Python, or nearly."""
    source = draw(st.sampled_from(CODINGS)) + b"".join(
        draw(st.lists(st.sampled_from(PIECES), max_size=8))
    )
    return draw(damaged_bytes(source)) if draw(st.integers(0, 4)) == 0 else source


# --- what compilers print -------------------------------------------------------------------------

WORDS = [
    "// -----// IR Dump Before CSE (cse) ('builtin.module' operation) //----- //\n",
    "// -----// IR Dump After \x1b[1mX Failed: x\n",
    (
        'module {\n  tt.func @k(%a: i32) {\n    %0 = arith.constant {a = 1, b = "\\22x"} 1 : i32'
        " loc(#loc)\n  }\n}\n"
    ),
    '#blocked = #ttg.blocked<{a = [1], b = [2]}>\n#loc = loc("k.py":1:2)\n',
    (
        "{-#\n  external_resources: { mlir_reproducer: { pipeline:"
        ' "builtin.module(cse{x=1},tt.func(a,b))" } }\n#-}\n'
    ),
    "k.py:1:2: error: 'tt.dot' op operand #0 must be x\n",
    "k.py:1:2: error: Failures have been detected while processing an MLIR pass pipeline\n",
    "Pipeline failed while executing [`CSE` on 'builtin.module' operation]\n",
    'python: /a/Types.cpp:126: unsigned f() const: Assertion `x && "words"\' failed.\n',
    "LLVM ERROR: Cannot select: t5: f32 = x\n",
    "ptxas fatal   : (C7600) Value 'sm_1' is not defined for option 'gpu-name'\n",
    'Traceback (most recent call last):\n  File "k.py", line 1, in f\nValueError: x\n',
    "\n\nThe above exception was the direct cause of the following exception:\n\n",
    "not reproduced: the compile ended with exit code 1\n",
    "at 1:2:\n    x\n    ^\nNameError('b is not defined')",
    "at 1:2:\n^\nValueError(" + "(" * 5000,
    "AssertionError('\\ud800')",
    "^",
    "\x1b[31m",
    "\0",
    "\ud800",
    "\u202e",
    "\x85",
]
OUTPUT = st.lists(st.one_of(st.sampled_from(WORDS), TEXTS), max_size=8).map("".join)
