"""Facts that the body of a kernel shows about its parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from attrs import Factory, define, frozen

from compat.source.constants import PythonValue

_ORDERED_FLOATS = ("fp32", "fp16", "bf16", "fp64", "fp8", "float")
"""Kinds of floating-point numbers; ``float`` if the type is unknown.

A value of several kinds has the first one.
"""
FLOATS = frozenset(_ORDERED_FLOATS)
WHOLE = frozenset({"int", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"})
"""Kinds that are whole numbers."""

CERTAIN, LIKELY, PERHAPS = 3, 2, 1
"""The certainty of a fact, in this order: nothing else would compile; such code means it; such code
often means it.
"""

DTYPES_OF_BITS = {
    "fp8": "fp8e5", "fp16": "fp16", "fp32": "fp32", "u8": "u8", "u16": "u16", "u32": "u32",
}  # fmt: skip
"""The kind of a value whose bits a kernel reads as another type → a dtype of this kind."""

PART_OF_ADDRESS = "part of an address"
ARITHMETIC = "a whole number by its arithmetic"
"""Reasons why a value is a whole number: it is added to a pointer, or used in arithmetic that needs
whole numbers.
"""
ASSERTED = "as a static_assert requires"
"""The reason for a type that the kernel asserts."""
RANDOM = "a seed or an offset of random numbers"


@frozen(cache_hash=True)
class ValueOrigin:
    """The origin of a value: a parameter, or the elements that a pointer parameter points to."""

    name: str
    element: bool = False


@frozen(cache_hash=True)
class Term:
    """One summand of a value."""

    argument: str | None = None
    """The run-time parameter, if the term is an unchanged one. It may be the pointer of an address.
    """
    origins: frozenset[ValueOrigin] = frozenset()
    """The origins that its value comes from."""
    kind: str | None = None
    constexpr: str | None = None
    """The constexpr, if the term is an unchanged one."""
    factor: str | None = None
    """The constexpr that an index is multiplied with: ``pid * BLOCK``."""


@frozen
class Value:
    """The known facts about a value. It has several sums if it may be one of several values."""

    sums: tuple[tuple[Term, ...], ...] = ((),)
    parts: tuple[Value, ...] = ()
    """The elements, if it is a tuple."""
    is_shared: bool = False
    """Whether it is a block in shared memory, whose kind is that of its elements."""

    @classmethod
    def of(
        cls,
        kind: str | None = None,
        origins: Iterable[ValueOrigin] = (),
        argument: str | None = None,
        constexpr: str | None = None,
    ) -> Value:
        """Return a value of a single term."""
        return cls(((Term(argument, frozenset(origins), kind, constexpr),),))

    @classmethod
    def tuple_of(cls, parts: Iterable[Value]) -> Value:
        """Return a tuple of values."""
        elements = tuple(parts)
        origins = frozenset().union(*(element.origins for element in elements))
        return cls(cls.of(None, origins).sums, elements)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The summands of all sums."""
        if len(self.sums) == 1:
            return self.sums[0]
        return tuple(dict.fromkeys(term for terms in self.sums for term in terms))

    @property
    def origins(self) -> frozenset[ValueOrigin]:
        """The origins of all terms."""
        terms = self.terms
        if len(terms) == 1:
            return terms[0].origins
        return frozenset(origin for term in terms for origin in term.origins)

    @property
    def kind(self) -> str | None:
        """Return the kind of a value, which is a floating-point number if a part of it is one.

        The kind is unknown if a part is an element of unknown kind. A whole number that is added to
        or multiplied with such an element tells nothing about it.
        """
        terms = self.terms
        if len(terms) == 1:
            return terms[0].kind
        kinds = [term.kind for term in terms if term.kind]
        if any(
            term.kind is None and any(origin.element for origin in term.origins) for term in terms
        ):
            kinds = [kind for kind in kinds if kind in FLOATS]
        return next(
            (kind for kind in _ORDERED_FLOATS if kind in kinds),
            kinds[0] if kinds else None,
        )

    def plus(self, other: Value) -> Value:
        """The sum of two values."""
        sums = [_distinct((*terms, *others)) for terms in self.sums for others in other.sums]
        return Value(tuple(dict.fromkeys(sums))[:_SUMS])

    def alternatively(self, other: Value) -> Value:
        """Return a value that may be either of two values."""
        pairs = zip(self.parts, other.parts, strict=False)
        parts = [one.alternatively(another) for one, another in pairs]
        return Value(tuple(dict.fromkeys((*self.sums, *other.sums)))[:_SUMS], tuple(parts))

    def derive_value(self, kind: str | None = None) -> Value:
        """Return a value that is computed from this one, and so is not an address."""
        return Value.of(kind or self.kind, self.origins)


_SUMS = 4
_TERMS = 24


def _distinct(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    return tuple(dict.fromkeys(terms))[:_TERMS]


@frozen
class ValueKind:
    """A kind of value, with its certainty and its reason."""

    name: str
    sure: int
    why: str


@define
class KernelFacts:
    """The facts that the body of a kernel shows about its run-time parameters and constexprs."""

    pointers: dict[str, str] = Factory(dict)
    """Parameters that are pointers, each with the reason."""
    kinds: dict[ValueOrigin, ValueKind] = Factory(dict)
    single: dict[str, str] = Factory(dict)
    """Pointers that must be to fp32 or fp64, each with the reason."""
    half: dict[str, str] = Factory(dict)
    """Pointers to values that are cast to fp32 right after the load, so callers pass narrower ones.
    """
    dots: list[tuple[Value, Value]] = Factory(list)
    copies: set[tuple[ValueOrigin, ValueOrigin]] = Factory(set)
    """Values that are stored as loaded: destination and source."""
    alike: set[tuple[str, str]] = Factory(set)
    """Pairs of parameters that the kernel selects from. Pointers of a pair have the same element
    type.
    """
    descriptors: dict[str, int] = Factory(dict)
    """Parameters that are used as tensor descriptors, each with its number of dimensions."""
    descriptor_sides: dict[str, tuple[str | None, ...]] = Factory(dict)
    """Tensor descriptors, and the constexprs that their offsets are multiples of."""
    transferred: set[str] = Factory(set)
    """Those among them that Gluon copies to or from shared memory, whose types have a layout."""
    mentioned_names: frozenset[str] = frozenset()
    """Names that the body mentions."""
    optional: set[str] = Factory(set)
    """Parameters that are compared with ``None``."""
    spans: dict[str, int] = Factory(dict)
    """Constexprs that are the length of a ``tl.arange``, or of a side of a block, each with the
    largest number of dimensions of such a block.
    """
    products: set[frozenset[ValueOrigin]] = Factory(set)
    """Products of constexprs."""
    factors: dict[str, int] = Factory(dict)
    """Constexprs whose product is the length of a side of a block, each with the largest number of
    factors of such a product.
    """
    unrolled_parameters: set[str] = Factory(set)
    """Parameters that the number of passes of an unrolled loop depends on."""
    passes: set[str] = Factory(set)
    """Constexprs that are a bound of an unrolled loop without a step, or a summand of a bound."""
    shifts: set[str] = Factory(set)
    """Constexprs that bits are shifted by."""
    compared_values: dict[str, list[PythonValue]] = Factory(dict)
    """Constexprs, and the literals that they are compared with."""
    tested_constexprs: set[str] = Factory(set)
    """Constexprs that conditions test for truth, or that are passed for a flag."""
    functions: set[str] = Factory(set)
    """Parameters that are called."""
    dtypes: set[str] = Factory(set)
    """Constexprs that are used as a dtype."""
    texts: dict[str, str] = Factory(dict)
    """Constexprs that are passed for a string keyword, such as ``input_precision``, each with one
    valid string.
    """
    pipelined: bool = False
    """Whether a ``tl.dot`` is in a loop: compilers then load its operands ahead, into shared
    memory.
    """
    asserts: list[ast.expr] = Factory(list)
    """The conditions of ``tl.static_assert``, also of the functions that the kernel calls."""
    unbound: set[str] = Factory(set)
    """Variables that the kernel uses where no followed branch has set them."""
    lengths: list[ast.expr] = Factory(list)
    """The conditions of ``tl.arange``: that a length is a power of two."""
    deciding: set[str] = Factory(set)
    """Parameters that conditions depend on."""
    blocks: int = 0
    """The largest number of dimensions of a block."""
    changed: bool = False

    def pointer(self, name: str, why: str) -> None:
        """Note that a parameter is a pointer."""
        if name not in self.pointers:
            self.pointers[name] = why
            self.changed = True

    def is_kind(self, origins: Iterable[ValueOrigin], kind: str, sure: int, why: str) -> None:
        """Note the kind of the values from these origins.

        It replaces a less certain kind. With the same certainty, it replaces only ``int``, by a
        whole number of known width.
        """
        for origin in origins:
            before = self.kinds.get(origin)
            is_closer = before is not None and before.name == "int" and kind in WHOLE - {"int"}
            if before is None or before.sure < sure or (before.sure == sure and is_closer):
                self.kinds[origin] = ValueKind(kind, sure, why)
                self.changed = True

    def has_evidence_of(self, name: str) -> bool:
        """Whether the code shows that a parameter is a pointer, or a number."""
        kind = self.kinds.get(ValueOrigin(name))
        return name in self.pointers or (kind is not None and kind.sure >= LIKELY)

    def kind_of(self, origin: ValueOrigin) -> str | None:
        """Return the known kind of the values from an origin, or ``None``."""
        value_kind = self.kinds.get(origin)
        return value_kind.name if value_kind else None
