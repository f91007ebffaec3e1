"""Assumptions about a value if only its name and its annotation are known."""

from __future__ import annotations

import ast

from compat.text import lazy_pattern
from compat.toolchains.cute.language.guessing.values import UNKNOWN, ElementKind

PLAIN = "fp16"
"""The assumed element type of a tensor if nothing shows it."""
_WHOLE = (
    (lazy_pattern(r"(?i).*(address|ptrs|pointers|tensormap).*"), "i64"),
    (
        lazy_pattern(
            r"(?i).*(seq_?lens?|idx|index|indices|offsets?|strides?|problem_shapes?|problem_sizes?|counts?|semaphore|flags?).*"
        ),
        "i32",
    ),
)
"""Names of tensors of whole numbers, and of their element types → the type."""
_SIZES = (
    (lazy_pattern(r"(?i).*head_?dim.*|.*hdim.*|d|d_?head"), 64),
    (lazy_pattern(r"(?i).*stages?.*|.*_blocks"), 2),
    (lazy_pattern(r"(?i).*warps?.*"), 4),
    (
        lazy_pattern(
            r"(?i).*(per_kvhead|cluster|split|group|ratio|batch|num_sm|l2_|expert_?num).*|l|top_?k"
        ),
        1,
    ),
    (lazy_pattern(r"(?i).*(vec|elems|val).*"), 8),
    (lazy_pattern(r"(?i)[nmk]|.*hidden.*|.*_size"), 1024),
)
"""Names of whole numbers → their assumed values."""
_OTHER_NUMBER = 128


def annotation_text(annotation: ast.expr | None) -> str:
    """Return an annotation as text, which is empty if there is none."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value
    return ast.unparse(annotation) if annotation else ""


def is_element_kind(name: str, annotation: str) -> bool:
    """Whether a parameter is an element type."""
    return "dtype" in name.lower() or "Numeric" in annotation or "element_type" in name


def assumed_kind(name: str) -> str:
    """Return the assumed value of a parameter that is an element type, by its name."""
    return whole_kind(name) or ("fp32" if "acc" in name.lower() else PLAIN)


def whole_kind(name: str) -> str | None:
    """Return the assumed element type of a tensor of whole numbers, or ``None`` for any other."""
    return next((kind for pattern, kind in _WHOLE if pattern.fullmatch(name)), None)


def assumed_number(name: str) -> int:
    """Return the assumed value of a whole number, by its name."""
    return next((value for pattern, value in _SIZES if pattern.fullmatch(name)), _OTHER_NUMBER)


def assumed_argument(name: str, annotation: str) -> object:
    """Return the assumed argument of a parameter of host code, or UNKNOWN if no rule applies."""
    if is_element_kind(name, annotation):
        return ElementKind(assumed_kind(name))
    if annotation == "int" or (
        not annotation and any(pattern.fullmatch(name) for pattern, _ in _SIZES)
    ):
        return assumed_number(name)
    if annotation == "bool":
        return False
    return UNKNOWN
