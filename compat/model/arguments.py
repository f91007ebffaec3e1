"""The forms of an argument that a launch passes: in kernel files, in memory and in JSON.

================== ======================================== ========================================
argument           kernel file (TOML)                       memory, and JSON
================== ======================================== ========================================
number, boolean    ``4096``, ``0.5``, ``true``              the same
nothing            ``{ none = true }``                      ``None``
tensor             ``"*fp16"``                              ``"*fp16"``
tensor with other  ``{ tensor = "fp16", aligned = false }`` ``{"tensor": "fp16", "aligned": False}``
properties         ``{ tensor = "fp16", large = true }``    ``{"tensor": "fp16", "large": True}``
tensor descriptor  ``"tensordesc<fp16[64, 64]>"``           ``"tensordesc<fp16[64,64]>"``
Gluon descriptor   ``"tensordesc<fp16[64, 64],…Layout(…)>"  the same
constant           ``{ constexpr = 64 }``                   ``{"constexpr": 64}``
tuple              ``[4, "*fp16"]``                         a tuple (JSON: a list)
named tuple        ``{ fields = { x = "*fp16", n = 4 } }``  the same
================== ======================================== ========================================

By default, a tensor is aligned (its address is divisible by 16) and smaller than 2 GiB. A constant
is a ``tl.constexpr`` or a jit function that is passed where no annotation asks for one, for example
in a tuple; its value has a form of :mod:`compat.model.constexprs`. Equal arguments have one form in
memory. A toolchain's adapter creates the passed values from the JSON forms. The module is pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeGuard

from compat.model import constexprs
from compat.model.constexprs import UnknownForm, check_name, read_at
from compat.text import JsonMapping, lazy_pattern

Argument = Any
"""A launch argument of one of the forms above, as :func:`read` has checked it."""

FORMS = (
    'A number or boolean of the launch, "*fp16" for a tensor, {tensor = "fp16", aligned = false,'
    ' large = true}, "tensordesc<fp16[64, 64]>", {none = true}, {constexpr = 64}, an array of such'
    " values for a tuple, or {fields = {n = 4}} for a named tuple."
)
CONSTANT = "constexpr"
FIELDS = constexprs.FIELDS
ALIGNED, LARGE = "aligned", "large"
"""The properties of a tensor besides its element type. Usually the first is true and the second
false.
"""
_USUAL = {ALIGNED: True, LARGE: False}
_DESCRIPTOR = lazy_pattern(r"tensordesc<(\w+)\[(\d+(?:, ?\d+)*)\](?:, ?(\w+\(.*\)))?>")
"""The third group is the layout of a Gluon descriptor: a call of a name of Gluon's language."""
_DTYPE = "an element type"
_SMALLEST, _LARGEST = -(1 << 63), (1 << 64) - 1


def read(
    value: object, dtypes: Collection[str], describe: Callable[[object], str] = repr
) -> Argument:
    """Convert an argument of a kernel file into its form in memory.

    ``dtypes`` are the element types that exist. Raises
    :class:`compat.model.constexprs.UnknownForm`.
    """
    if isinstance(value, list):
        return tuple(
            read_at(f"[{index}]", read, element, dtypes, describe)
            for index, element in enumerate(value)
        )
    if isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        if not _SMALLEST <= value <= _LARGEST:
            raise UnknownForm(f"{describe(value)} does not fit any type", hint=FORMS)
        return value
    if isinstance(value, str):
        return _of_text(value, dtypes)
    if isinstance(value, Mapping) and dict(value) == {"none": True}:
        return None
    if isinstance(value, Mapping) and "tensor" in value:
        return _of_tensor(value, dtypes, describe)
    if is_named(value):
        fields = value[FIELDS].items()
        return {
            FIELDS: {
                name: read_at(f".{name}", read, element, dtypes, describe)
                for name, element in fields
            }
        }
    if isinstance(value, Mapping) and value.keys() == {CONSTANT}:
        constant = value[CONSTANT]
        return {CONSTANT: read_at(f".{CONSTANT}", constexprs.read, constant, describe)}
    raise UnknownForm(f"{describe(value)} is not an argument of a launch", hint=FORMS)


def _of_text(text: str, dtypes: Collection[str]) -> str:
    if text.startswith("*k") and text[2:] in dtypes:
        raise UnknownForm(
            f"{text!r} is a type",
            hint=(
                f'Write "*{text[2:]}": the annotation in the kernel says that it only reads the'
                " tensor."
            ),
        )
    if text.startswith("*"):
        return f"*{check_name(text[1:], dtypes, _DTYPE)}"
    if match := _DESCRIPTOR.fullmatch(text):
        dtype, layout = check_name(match[1], dtypes, _DTYPE), _layout(match[3])
        return f"tensordesc<{dtype}[{match[2].replace(' ', '')}]{layout}>"
    if text in dtypes:
        raise UnknownForm(
            f"{text!r} is a type, and a launch passes values",
            hint=f'Write the number itself. A tensor is "*{text}".',
        )
    raise UnknownForm(f"{text!r} is not an argument of a launch", hint=FORMS)


def _layout(text: str | None) -> str:
    """The layout text that follows a descriptor's shape; empty without a layout."""
    if text is None:
        return ""
    if not constexprs.is_layout(f"{constexprs.GLUON}.{text}"):
        raise UnknownForm(f"{text!r} is not a layout", hint=FORMS)
    return f",{text}"


def _of_tensor(
    value: JsonMapping, dtypes: Collection[str], describe: Callable[[object], str]
) -> object:
    dtype = check_name(value["tensor"], dtypes, _DTYPE)
    for key, flag in value.items():
        if key != "tensor" and key not in _USUAL:
            raise UnknownForm(
                f"a tensor has no {key!r}", hint=f"Choose one of: {', '.join(_USUAL)}."
            )
        if key in _USUAL and not isinstance(flag, bool):
            raise UnknownForm(f"{key} is {describe(flag)}; expected true or false", hint=FORMS)
    return tensor(dtype, **{key: flag for key, flag in value.items() if key in _USUAL})


def tensor(dtype: str, *, aligned: bool = True, large: bool = False) -> Argument:
    """The form in memory of a tensor with this element type."""
    unusual = {
        key: flag
        for key, flag in {ALIGNED: aligned, LARGE: large}.items()
        if flag is not _USUAL[key]
    }
    return {"tensor": dtype, **unusual} if unusual else f"*{dtype}"


def is_tensor(value: object) -> bool:
    """Whether it is a tensor."""
    return (
        value.startswith("*")
        if isinstance(value, str)
        else isinstance(value, Mapping) and "tensor" in value
    )


def is_descriptor(value: object) -> bool:
    """Whether it is a tensor descriptor."""
    return isinstance(value, str) and not value.startswith("*")


def is_named(value: object) -> TypeGuard[JsonMapping]:
    """Whether it is a named tuple."""
    return (
        isinstance(value, Mapping)
        and value.keys() == {FIELDS}
        and constexprs.is_fields(value[FIELDS])
    )


def is_constant(value: object) -> bool:
    """Whether it is a constant."""
    return isinstance(value, Mapping) and CONSTANT in value


def descriptor(value: str) -> tuple[str, tuple[int, ...], str | None]:
    """The element type, the block shape, and the layout of a tensor descriptor, if it has one."""
    match = _DESCRIPTOR.fullmatch(value)
    assert match is not None, value
    return match[1], tuple(map(int, match[2].split(","))), match[3]


def dtype_of(value: Argument) -> str:
    """The element type of a tensor."""
    return str(value["tensor"] if isinstance(value, Mapping) else value[1:])


def facts_of(value: object) -> dict[str, bool]:
    """All facts about a tensor besides its element type."""
    return {
        **_USUAL,
        **{key: value[key] for key in _USUAL if isinstance(value, Mapping) and key in value},
    }


def plain(value: object) -> Argument:
    """The kernel-file form of an argument, which :func:`read` reads."""
    if value is None:
        return {"none": True}
    if isinstance(value, tuple | list):
        return [plain(element) for element in value]
    if is_named(value):
        return {FIELDS: {name: plain(element) for name, element in value[FIELDS].items()}}
    if is_constant(value):
        return {CONSTANT: constexprs.plain(value[CONSTANT])}  # type: ignore[index]
    if not isinstance(value, str):
        return value
    block, bracket, layout = value.partition("]")
    return block.replace(",", ", ") + bracket + layout


def argument_text(value: Argument) -> str:
    """An argument as a report shows it.

    Examples are ``4096``, ``*fp16``, ``*fp16 (not aligned)`` and ``(4, None)``.
    """
    if isinstance(value, tuple | list):
        return constexprs.tuple_source(map(argument_text, value))
    if is_named(value):
        return f"({launch_arguments_text(value[FIELDS])})"
    if is_constant(value):
        return f"constexpr {constexprs.constexpr_text(value[CONSTANT])}"
    if isinstance(value, Mapping):
        facts = facts_of(value)
        remarks = [
            *([] if facts[ALIGNED] else ["not aligned"]),
            *(["2 GiB or more"] if facts[LARGE] else []),
        ]
        return f"*{dtype_of(value)} ({', '.join(remarks)})"
    return str(plain(value)) if isinstance(value, str) else str(value)


def launch_arguments_text(passed: Mapping[str, object]) -> str:
    """The arguments of a launch as a report shows them: ``x=*fp16, n=4096``."""
    return ", ".join(f"{name}={argument_text(value)}" for name, value in passed.items())


def leaves(value: Argument) -> Iterator[Argument]:
    """Yield the argument, or the innermost elements of a tuple."""
    if isinstance(value, tuple | list):
        for element in value:
            yield from leaves(element)
    elif is_named(value):
        yield from leaves(tuple(value[FIELDS].values()))
    else:
        yield value


def constants(values: Iterable[Argument]) -> tuple[Argument, ...]:
    """The constants among these arguments and the elements of tuples.

    They have the forms of :mod:`compat.model.constexprs`.
    """
    all_leaves = (leaf for value in values for leaf in leaves(value))
    return tuple(leaf[CONSTANT] for leaf in all_leaves if is_constant(leaf))
