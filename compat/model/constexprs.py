"""The forms of a constexpr's value: in kernel files, in memory, in JSON and in Python.

=============== ================================== ========================== ==============
value           kernel file (TOML)                 memory, and JSON           Python
=============== ================================== ========================== ==============
plain           ``64``, ``0.5``, ``true``, ``"a"``  the same                   the same
nothing         ``{ none = true }``                ``None``                   ``None``
Triton's dtype  ``{ dtype = "i32" }``              ``{"dtype": "int32"}``     ``tl.int32``
PyTorch's dtype ``{ torch_dtype = "float16" }``    ``{"torch_dtype": …}``     ``torch.float16``
function, class ``{ function = "add" }``           ``{"function": "add"}``    ``add``
Gluon's layout  ``{ layout = "gl.…(…)" }``         ``{"layout": "gl.…(…)"}``  ``gl.…(…)``
tuple           ``[64, { dtype = "fp16" }]``       a tuple (JSON: a list)     a tuple
named tuple     ``{ fields = { n = 64 } }``        the same                   a named tuple
=============== ================================== ========================== ==============

A function is a jit function. A class is one that kernels use, such as an aggregate of Gluon.

A layout is an expression, because each release has other classes and parameters of layouts, and
makes its own object from it. The names in it are those of Gluon's language, ``gl``.

``compat/toolchains/triton/inside/adapter/call.py`` creates Python values from the JSON forms. The
module is pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from keyword import iskeyword
from typing import Any

from compat.text import lazy_pattern

Constexpr = Any
"""A value of one of the forms above, as :func:`read` has checked it."""

_BITS = (8, 16, 32, 64)
_FLOATS = {
    **{f"fp{bits}": f"float{bits}" for bits in _BITS[1:]},
    **{f"fp8{kind}": f"float8{kind}" for kind in ("e4nv", "e4b8", "e4b15", "e5", "e5b16")},
    "bf16": "bfloat16",
}
_OTHER_FLOATS = (
    "tf32",
    "fp8e4m3fn",
    "fp8e5m2",
    "fp8e8m0fnu",
    "fp6e2m3fn",
    "fp6e3m2fn",
    "fp4e2m1fn",
)
"""Element types that Triton does not have, or names differently."""
_INTEGERS = {
    f"{short}{bits}": f"{long}{bits}"
    for short, long in (("i", "int"), ("u", "uint"))
    for bits in _BITS
} | {"i1": "int1"}
LANGUAGE_NAMES = _FLOATS | _INTEGERS
"""An element type in signatures → its name in ``triton.language``."""
_LANGUAGE = _FLOATS | {name: name for name in _INTEGERS.values()}
"""Triton's own name of a dtype → its name in ``triton.language``."""
DTYPES = {
    **{name: name for name in (*_LANGUAGE, *_OTHER_FLOATS, "i4")},
    **_INTEGERS,
    **{long: short for short, long in _FLOATS.items()},
}
"""Every accepted spelling of a dtype (``i32`` as in signatures, ``int32``, ``float16`` as in
``tl``) → Triton's own.

A dtype without a name in Triton keeps its spelling.
"""
TORCH_DTYPES = (
    *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "bfloat16", "float32", "float64"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
)
FORMS = (
    'A whole number, number, boolean, string, array of such values, {dtype = "fp16"}, {torch_dtype'
    ' = "float16"}, {function = "add"}, {layout = "gl.BlockedLayout([1], [32], [4], [0])"}, {fields'
    " = {n = 64}} or {none = true}."
)
FIELDS = "fields"
"""The form of a named tuple, by its fields in order. Nothing depends on the name of its class."""
GLUON = "gl"
"""The name of Gluon's language in the expression of a layout."""


class UnknownForm(ValueError):
    """A value that no constexpr or argument can have."""

    def __init__(self, message: str, path: str = "", hint: str = FORMS) -> None:
        super().__init__(message)
        self.path = path
        """The position of the form in the value, such as ``[1]``."""
        self.hint = hint


def read(value: object, describe: Callable[[object], str] = repr) -> Constexpr:
    """Convert a value of a kernel file into its form in memory.

    Raises :class:`UnknownForm`.
    """
    if isinstance(value, list):
        return tuple(
            read_at(f"[{index}]", read, element, describe) for index, element in enumerate(value)
        )
    if isinstance(value, bool | int | float | str):
        return value
    if not isinstance(value, Mapping) or len(value) != 1:
        raise UnknownForm(f"{describe(value)} is not a valid constexpr value")
    ((form, name),) = value.items()
    if form == "none" and name is True:
        return None
    if form == "dtype":
        return {form: DTYPES[check_name(name, DTYPES, "a dtype")]}
    if form == "torch_dtype":
        return {form: check_name(name, TORCH_DTYPES, "a dtype of PyTorch")}
    if form == "function" and isinstance(name, str) and name.isidentifier():
        return {form: name}
    if form == "layout" and isinstance(name, str):
        return {form: _layout(name)}
    if form == FIELDS and is_fields(name):
        return {
            form: {
                key: read_at(f".{key}", read, element, describe) for key, element in name.items()
            }
        }
    raise UnknownForm(f"{describe(value)} is not a valid constexpr value")


def read_at(place: str, reader: Callable[..., Constexpr], *arguments: object) -> Constexpr:
    """Return what a reader makes of the part of a value at a place.

    Raises UnknownForm as the reader does, with the place in the error.
    """
    try:
        return reader(*arguments)
    except UnknownForm as error:
        raise UnknownForm(str(error), f"{place}{error.path}", error.hint) from None


def is_fields(value: object) -> bool:
    """Whether a value is a mapping whose keys can be the fields of a named tuple."""
    return isinstance(value, Mapping) and all(
        isinstance(name, str)
        and name.isidentifier()
        and not iskeyword(name)
        and not name.startswith("_")
        for name in value
    )


def _layout(text: str) -> str:
    if not is_layout(text):
        raise UnknownForm(
            f"{text!r} is not a layout",
            hint=f"Call a class of Gluon's language with literals: {GLUON}.BlockedLayout([1], [32],"
            " [4], [0]).",
        )
    return text


def is_layout(text: str) -> bool:
    """Whether a text is a call of names of Gluon's language, with literals and layouts.

    Other code is refused, because a kernel file describes a kernel and is not a program.
    """
    tokens = _TOKEN.findall(text)
    if not text.startswith(f"{GLUON}.") or not text.endswith(")") or "".join(tokens) != text:
        return False
    opened: list[str] = []
    for token in tokens:
        if token in _CLOSES.values():
            opened.append(token)
        elif token in _CLOSES and (not opened or opened.pop() != _CLOSES[token]):
            return False
    return not opened


_TOKEN = lazy_pattern(
    rf"{GLUON}(?:\.[A-Za-z]\w*)+\b|[A-Za-z]\w*(?= ?=)|(?:True|False|None)\b|-?\d+(?:\.\d+)?"
    r"""|"[^"\\\n]*"|'[^'\\\n]*'|[\[\](),= ]"""
)
"""A public name of the language, the name of a keyword, a literal, or a punctuation mark."""
_CLOSES = {")": "(", "]": "["}


def check_name(name: object, choices: Iterable[str], what: str) -> str:
    """Return ``name`` if it is one of ``choices``. Raises :class:`UnknownForm`."""
    if not isinstance(name, str) or name not in choices:
        near = get_close_matches(str(name), list(choices), n=3, cutoff=0.6)
        raise UnknownForm(
            f"{name!r} is not {what}", hint=f"Choose one of: {', '.join(near or choices)}."
        )
    return name


def plain(value: object) -> Constexpr:
    """The kernel-file form of a value, which :func:`read` reads."""
    if value is None:
        return {"none": True}
    if isinstance(value, Mapping) and FIELDS in value:
        return {FIELDS: {name: plain(element) for name, element in value[FIELDS].items()}}
    return [plain(element) for element in value] if isinstance(value, tuple | list) else value


def source(value: Constexpr) -> str:
    """A value as Python source."""
    if isinstance(value, Mapping):
        ((form, name),) = value.items()
        if form == FIELDS:
            return named_tuple_source({key: source(element) for key, element in name.items()})
        spelled = {
            "dtype": f"tl.{_LANGUAGE.get(name, name)}",
            "torch_dtype": f"torch.{name}",
            "function": str(name),
            "layout": str(name),
        }
        return spelled[form]
    if isinstance(value, tuple | list):
        return tuple_source(map(source, value))
    if isinstance(value, float) and value - value != 0:
        return f'float("{value}")'
    if isinstance(value, str) and '"' not in value and "\\" not in value:
        return f'"{value}"'
    return repr(value)


def tuple_source(elements: Iterable[str]) -> str:
    """A tuple as Python source, from the source of its elements."""
    listed = list(elements)
    return f"({listed[0]},)" if len(listed) == 1 else f"({', '.join(listed)})"


def named_tuple_source(fields: Mapping[str, str]) -> str:
    """A named tuple as Python source, from the source of its elements."""
    return f"namedtuple('Fields', '{' '.join(fields)}')({', '.join(fields.values())})"


def constexpr_text(value: Constexpr) -> str:
    """A value as a report shows it: ``64``, ``int32``, ``torch.float16``, ``(1, add)``."""
    if isinstance(value, Mapping):
        ((form, name),) = value.items()
        if form == FIELDS:
            fields = (f"{key}={constexpr_text(element)}" for key, element in name.items())
            return f"({', '.join(fields)})"
        return f"torch.{name}" if form == "torch_dtype" else str(name)
    if isinstance(value, tuple | list):
        return tuple_source(map(constexpr_text, value))
    return str(value)


def modules(values: Iterable[Constexpr]) -> frozenset[str]:
    """The import statements that the Python source of these values needs."""
    statements = {
        "dtype": "import triton.language as tl",
        "torch_dtype": "import torch",
        FIELDS: "from collections import namedtuple",
        "layout": f"from triton.experimental.gluon import language as {GLUON}",
    }
    return frozenset(statements[form] for form, _ in _forms_and_names(values) if form in statements)


def functions(values: Iterable[Constexpr]) -> tuple[str, ...]:
    """The jit functions and classes that these values name, each once."""
    return tuple(
        dict.fromkeys(name for form, name in _forms_and_names(values) if form == "function")
    )


def _forms_and_names(values: Iterable[object]) -> Iterator[tuple[str, Any]]:
    for value in values:
        if isinstance(value, Mapping):
            yield from value.items()
            yield from _forms_and_names(value.get(FIELDS, {}).values())
        elif isinstance(value, tuple | list):
            yield from _forms_and_names(value)
