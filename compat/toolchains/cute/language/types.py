"""The types of arguments and of compile options in kernel files of CuTe DSL."""

from __future__ import annotations

from collections.abc import Iterator

from compat.text import lazy_pattern
from compat.toolchains.base import ArgumentTypes, Option, Simplification

ELEMENTS = {
    "Float16": "fp16",
    "BFloat16": "bf16",
    "Float32": "fp32",
    "TFloat32": "tf32",
    "Float64": "fp64",
    "Float8E4M3FN": "fp8e4m3fn",
    "Float8E5M2": "fp8e5m2",
    "Float8E8M0FNU": "fp8e8m0fnu",
    "Float6E2M3FN": "fp6e2m3fn",
    "Float6E3M2FN": "fp6e3m2fn",
    "Float4E2M1FN": "fp4e2m1fn",
    "Boolean": "bool",
    "Int4": "i4",
    **{f"Int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"Uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
}
"""CuTe DSL's name of a type → its name in kernel files."""

_ELEMENT = f"(?:{'|'.join(ELEMENTS.values())})"
_SIZE = r"(?:[1-9]\d*|[A-Za-z_]\w*(?:%[1-9]\d*)?)"
_SIZES = rf"\[{_SIZE}(?:, ?{_SIZE})*\]"
_ALIGN = r"(?: align=[1-9]\d*)?"
_MADE = r"[A-Za-z_]\w*\(\)"

TYPES = ArgumentTypes(
    pattern=lazy_pattern(
        rf"{_ELEMENT}{_SIZES}(?::{_SIZES}|"
        rf" leading=\d)?{_ALIGN}|ptr<{_ELEMENT}>{_ALIGN}|{_ELEMENT}|stream|{_MADE}"
    ),
    known=(
        "fp16[m, n]",
        "fp16[m, n]:[n, 1]",
        "fp16[m, k%8] align=16",
        "ptr<fp16>",
        "i32",
        "fp32",
        "stream",
    ),
    examples='"fp16[m, 64]", "ptr<fp16>", "i32" or "stream"',
)

OPTIONS = {
    "opt-level": Option(kind=int, least=0),
    **{
        name: Option(kind=bool)
        for name in (
            "enable-assertions",
            "enable-device-assertions",
            "generate-line-info",
            "enable-tvm-ffi",
        )
    },
    **{name: Option(kind=str) for name in ("ptxas-options", "link-libraries")},
}
"""The options of ``cute.compile``.

Options that say where files are written, and for which target, are left out.
"""


_TENSOR = lazy_pattern(r"(?P<element>\w+)\[(?P<sizes>[^\]]*)\](?P<rest>.*)")


def _plainer(kind: str) -> Iterator[str]:
    """Yield plainer tensor types: compact, usually aligned, of plain elements and fewer modes.

    Their sizes have no divisor.
    """
    tensor = _TENSOR.fullmatch(kind)
    if tensor is None:
        return
    element, sizes, rest = (
        tensor["element"],
        [size.strip() for size in tensor["sizes"].split(",")],
        tensor["rest"],
    )
    if rest:
        yield f"{element}[{', '.join(sizes)}]"
    yield from (
        f"{plain}[{', '.join(sizes)}]{rest}"
        for plain in ("fp32", "fp16")
        if _weight(plain) < _weight(element)
    )
    if not rest:
        yield from (f"{element}[{', '.join(fewer)}]" for fewer in (sizes[1:], sizes[:-1]) if fewer)
        bare = [size.partition("%")[0] for size in sizes]
        yield from (
            f"{element}[{', '.join(sizes[:at] + bare[at : at + 1] + sizes[at + 1 :])}]"
            for at in range(len(sizes))
        )


_PLAIN = ("i32", "fp32", "fp16")


def _weight(kind: str) -> int:
    """Return how complex a type is to read: more modes, divisors and strides weigh more."""
    tensor = _TENSOR.fullmatch(kind)
    if tensor is None:
        return _PLAIN.index(kind) if kind in _PLAIN else 8
    sizes = tensor["sizes"].split(",")
    return (
        _weight(tensor["element"])
        + 8 * len(sizes)
        + 4 * tensor["sizes"].count("%")
        + 12 * bool(tensor["rest"])
    )


SIMPLIFICATION = Simplification(
    argument_types=_PLAIN,
    plainer_types=_plainer,
    weight_of_type=_weight,
    element_types=("Int32", "Float32", "Float16", "BFloat16", "Float8E4M3FN", "Float8E5M2"),
    modules=frozenset({"cute"}),
    plain_decorators=("cute.jit", "cute.kernel"),
    annotations=lazy_pattern(r"\bConstexpr\b|^(int|float|bool)$"),
)
