"""Guesses of the type or the value of a kernel's argument, each with its reason.

A guess comes from an annotation, launches, a default, a heuristic, the use of the argument, or its
name.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from attrs import define, field, frozen

from compat.model import constexprs
from compat.source.constants import PythonValue, Scope, SourceFunction, UnknownValue
from compat.text import lazy_pattern
from compat.toolchains.triton.inside.adapter.call import type_of_number
from compat.toolchains.triton.language.guessing.evaluation import AssumedSize, HostDescriptor
from compat.toolchains.triton.language.guessing.facts import (
    ARITHMETIC,
    ASSERTED,
    CERTAIN,
    DTYPES_OF_BITS,
    FLOATS,
    LIKELY,
    PART_OF_ADDRESS,
    PERHAPS,
    WHOLE,
    KernelFacts,
    Value,
    ValueKind,
    ValueOrigin,
)
from compat.toolchains.triton.language.guessing.launches import SourceLaunch
from compat.toolchains.triton.language.guessing.modules import (
    JitFunction,
    JitParameter,
    names_in,
)

_POINTER = lazy_pattern(r"(?i).*_?(ptrs?|pointer)$|^p_|^ptr_")
_WHOLE_NAME = lazy_pattern(
    r"(?i).*(stride|num|size|len|count|dim|rows?|cols?|seq|batch|idx|index|offset|start|end|head|steps?|width|height|seed|group|elements"
    r"|tokens?|vocab)|^n_"
)
_WHOLE_LETTERS = lazy_pattern(r"(?i)[A-Z]{1,2}$")
_COUNT_NAME = lazy_pattern(r"(?i)(n|num)_")
"""Names of counts, even if the kernel divides floating-point numbers by them."""
_FLOAT_NAME = lazy_pattern(
    r"(?i).*(eps|scale|alpha|beta|prob|factor|moment|decay|theta|soft_?cap|slope|temp|threshold|lr|rate|weight_)|^p$"
)
_BOOL_ELEMENTS = lazy_pattern(r"(?i)(.*_)?(mask|is_\w+|valid|flags?)(_?ptrs?)?$")
_WHOLE_ELEMENTS = lazy_pattern(
    r"(?i).*(cu_?seq|seq_?len|lengths?|_lens|indices|indptr|index(?!er)|_idx|idx_|offsets?|block_tables?|slot|page_|position|locks?|counts?"
    r"|permut|sorted_|expert_ids|token_ids)"
)
_FLOAT_ELEMENTS = lazy_pattern(r"(?i).*(prob|logit|score|weight)s?(_?ptrs?)?")
"""Names of floating-point tensors, even if the kernel compares their elements with 0."""
_WIDE_ELEMENTS = lazy_pattern(
    r"(?i).*(label|target|token_ids|input_ids|indices|slot_mapping|positions?)"
)
_SHORT = {long: short for short, long in constexprs.LANGUAGE_NAMES.items()}
_PYTHON = {"int": "i32", "float": "fp32", "bool": "i1", "const": "const"}
_TYPE = lazy_pattern(r"\*?k?(i1|[iu](8|16|32|64)|fp16|bf16|fp32|fp64|fp8\w+)")

UNKNOWN_FLOAT = "the float type is unknown"
"""The reason for a guess of fp32 for an element."""


@frozen
class Guess:
    """A guessed value with its reason."""

    value: PythonValue
    why: str
    look_at: str = ""
    """The doubt about a weak guess, in a few words; empty for other guesses."""
    exact: bool = False
    """Whether the source itself states the value, so that it is not a guess."""


@define
class Types:
    """The types of the run-time arguments of one kernel."""

    parameters: Sequence[str]
    """All run-time parameters, in order."""
    facts: KernelFacts
    launches: Sequence[SourceLaunch]
    scope: Scope
    _dots: dict[str, str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._dots = _dot_types(self.facts.dots, self.launches)

    def of(self, parameter: JitParameter) -> Guess:
        """The type of an argument."""
        name = parameter.name
        annotated = _annotated_type(parameter.annotation, self.scope)
        if annotated and annotated != "const":
            return Guess(annotated, "by its annotation", exact=annotated not in ("i32", "fp32"))
        passed = (launch.values.get(name) for launch in self.launches)
        made = next((value for value in passed if isinstance(value, HostDescriptor)), None)
        if made or (name in self.facts.descriptors and name not in self.facts.pointers):
            return self._descriptor(name, made)
        if annotated or self._is_pointer(name):
            element = self._element(name, set())
            optional = "; may be None" if name in self.facts.optional else ""
            return Guess(
                f"*{'k' if annotated else ''}{element.value}",
                element.why + optional,
                element.look_at,
            )
        return self._scalar(parameter)

    def _descriptor(self, name: str, made: HostDescriptor | None) -> Guess:
        """The type of a descriptor. ``made`` is the one that a launch passes, if it is known."""
        rank = len(made.block) if made else self.facts.descriptors[name]
        sides = made.block if made else ((1,) * (rank - 2) + (64, 64))[-rank:]
        doubts = [] if made else ["block shape"]
        element = (made and made.element) or self._descriptor_element(name)
        block = f"{element}[{', '.join(map(str, sides))}]"
        why = "loaded or stored by .load() or .store()"
        if name in self.facts.transferred:
            layout = f"swizzle_byte_width=128, element_bitwidth=16, rank={rank}"
            block += f",NVMMASharedLayout({layout})"
            why, doubts = "copied to or from shared memory", [*doubts, "layout"]
        if made:
            why = "as the descriptor is made where the kernel is launched"
        return Guess(f"tensordesc<{block}>", why, f"its {' and '.join(doubts)}" if doubts else "")

    def _descriptor_element(self, name: str) -> str:
        kind = self.facts.kinds.get(ValueOrigin(name, element=True))
        if kind and kind.sure >= LIKELY and kind.name not in ("float", "bool"):
            return _element_type(kind, name)
        return self._dots.get(name, "fp16")

    def _is_pointer(self, name: str) -> bool:
        if name in self.facts.pointers:
            return True
        kind = self.facts.kinds.get(ValueOrigin(name))
        if kind and kind.sure >= LIKELY:
            return False
        if any(name in launch.tensors for launch in self.launches):
            return True
        is_number = _WHOLE_NAME.match(name) or self._is_launched_as_number(name)
        if (
            name not in self.facts.mentioned_names
            and not is_number
            and self._is_between_pointers(name)
        ):
            return True
        return bool(_POINTER.fullmatch(name)) or (name in self.facts.optional and kind is None)

    def _is_launched_as_number(self, name: str) -> bool:
        """Whether a launch passes a number for a parameter."""
        values = (launch.values.get(name) for launch in self.launches)
        return any(isinstance(value, int | float) for value in values) or any(
            name in launch.size_parameters for launch in self.launches
        )

    def _is_between_pointers(self, name: str) -> bool:
        """Whether an unused parameter has pointers before and after it.

        Kernels take tensors first, and numbers after them.
        """
        at = self.parameters.index(name)
        before = [other for other in self.parameters[:at] if other in self.facts.mentioned_names][
            -1:
        ]
        after = [other for other in self.parameters[at:] if other in self.facts.mentioned_names][:1]
        return bool(after) and all(other in self.facts.pointers for other in (*before, *after))

    # --- elements ---

    def _element(self, name: str, seen: set[str]) -> Guess:
        """Return the element type of a pointer."""
        kind = self.facts.kinds.get(ValueOrigin(name, element=True))
        if kind and kind.why == ASSERTED:
            return Guess(_element_type(kind, name), ASSERTED)
        alike = self._type_or_names(name)
        if isinstance(alike, str):
            return Guess(alike, "its dtype where the kernel is launched")
        floats = [(other, guess) for other in alike if (guess := self._floating(other))]
        others = [
            (other, guess)
            for other in alike
            if (guess := self._guess_by_use(other) or self._guess_by_copies(other, seen | {*alike}))
        ]
        if len(alike) > 1 and floats:
            others = [
                (other, guess) for other, guess in others if guess.value.startswith(("fp", "bf"))
            ]
        for other, guess in (*others, *floats):
            return (
                guess
                if other == name
                else Guess(guess.value, f"as {other}, which has the same dtype")
            )
        return Guess("fp32", UNKNOWN_FLOAT)

    def _type_or_names(self, name: str) -> str | list[str]:
        """Return the element type of the tensor that a launch passes.

        If it is unknown, return the parameters whose tensors have the same type.
        """
        same = self._launch_type_or_names(name)
        if isinstance(same, str):
            return same
        for other in self._alternatives(name, same):
            beside = self._launch_type_or_names(other)
            if isinstance(beside, str):
                return beside
            same += [parameter for parameter in beside if parameter not in same]
        return [parameter for parameter in self.parameters if parameter in same]

    def _launch_type_or_names(self, name: str) -> str | list[str]:
        """Return the same as :meth:`_type_or_names`, from launches alone."""
        tensors = next((launch.tensors for launch in self.launches if name in launch.tensors), {})
        if not tensors:
            return [name]
        if element := tensors[name].element:
            return element
        return [
            parameter
            for parameter, tensor in tensors.items()
            if tensor.origin == tensors[name].origin
        ]

    def _alternatives(self, name: str, others: Collection[str]) -> list[str]:
        """Return the parameters that the kernel selects from together with this one.

        Selections in several steps count. Parameters in ``others`` are left out.
        """
        chosen = {name: None}
        for _ in self.facts.alike:
            chosen |= {
                other: None
                for pair in sorted(self.facts.alike)
                if not chosen.keys().isdisjoint(pair)
                for other in pair
            }
        return [other for other in chosen if other != name and other not in others]

    def _guess_by_use(self, name: str) -> Guess | None:
        kind = self.facts.kinds.get(ValueOrigin(name, element=True))
        if kind and kind.sure >= LIKELY and kind.name != "float":
            return Guess(_element_type(kind, name), kind.why)
        is_float = name in self.facts.single or name in self._dots
        if (
            _BOOL_ELEMENTS.fullmatch(name)
            and not is_float
            and (kind is None or kind.name == "bool")
        ):
            return Guess("i1", "by its name")
        is_narrow = name in self.facts.half
        if (
            _WHOLE_ELEMENTS.match(name)
            and not (is_float or is_narrow)
            and (kind is None or kind.name in WHOLE)
        ):
            return Guess("i64" if _WIDE_ELEMENTS.match(name) else "i32", "by its name")
        is_float = is_float or (
            kind is not None and kind.sure == PERHAPS and bool(_FLOAT_ELEMENTS.fullmatch(name))
        )
        if kind and kind.name in WHOLE | {"bool"} and not is_float:
            return Guess(_element_type(kind, name), kind.why)
        return None

    def _guess_by_copies(self, name: str, seen: set[str]) -> Guess | None:
        sources = [source.name for target, source in self.facts.copies if target.name == name]
        for source in sorted({*sources} - seen - {name}):
            guess = self._element(source, {*seen, name})
            if guess.value != "fp32":
                return Guess(guess.value, f"{source} is stored there")
        return None

    def _floating(self, name: str) -> Guess | None:
        kind = self.facts.kinds.get(ValueOrigin(name, element=True))
        if name in self._dots:
            return Guess(self._dots[name], "an operand of tl.dot")
        if kind and kind.name in ("fp16", "bf16"):
            return Guess(kind.name, kind.why)
        if name in self.facts.single:
            return Guess("fp32", self.facts.single[name])
        if name in self.facts.half:
            return Guess("fp16", self.facts.half[name])
        return None

    # --- scalars ---

    def _scalar(self, parameter: JitParameter) -> Guess:
        name, value_kind = parameter.name, self.facts.kinds.get(ValueOrigin(parameter.name))
        if value_kind and value_kind.sure >= LIKELY:
            return Guess(_scalar_type(value_kind), value_kind.why)
        if any(name in launch.size_parameters for launch in self.launches):
            return Guess("i32", "a size or stride where it is launched")
        for value, why in self._values(parameter):
            if kind := type_of_number(value):
                return Guess(kind, why)
        if value_kind and not (value_kind.name == "float" and _COUNT_NAME.match(name)):
            return Guess(_scalar_type(value_kind), value_kind.why)
        if _FLOAT_NAME.match(name):
            return Guess("fp32", "by its name")
        if _WHOLE_NAME.match(name) or _WHOLE_LETTERS.match(name):
            return Guess("i32", "by its name")
        return Guess("i32", "nothing is known about it", "its type is unknown")

    def _values(self, parameter: JitParameter) -> list[tuple[PythonValue, str]]:
        is_known, value = self.scope.try_value(parameter.default)
        defaults = [(value, "by its default")] if is_known else []
        name = parameter.name
        return [
            *defaults,
            *(
                (launch.values[name], f"as launched in {launch.place}")
                for launch in self.launches
                if name in launch.values
            ),
        ]


def _element_type(kind: ValueKind, name: str) -> str:
    if kind.name == "int":
        return "i64" if _WIDE_ELEMENTS.match(name) and kind.sure < CERTAIN else "i32"
    return {"bool": "i1", "fp8": "fp8e5"}.get(kind.name, kind.name)


def _scalar_type(kind: ValueKind) -> str:
    if kind.name in FLOATS:
        return "fp32"
    return {"bool": "i1", "i64": "i64"}.get(kind.name, "i32")


def _annotated_type(annotation: ast.expr | None, scope: Scope) -> str | None:
    """Return the type in an annotation; ``const`` for a pointer to read-only elements."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        name = annotation.value
        name = name if name.startswith("*") else name.rpartition(".")[2]
        if _TYPE.fullmatch(name):
            return name
    else:
        name = (scope.origin(annotation) or "").rpartition(".")[2] if annotation is not None else ""
    return _SHORT.get(name) or _PYTHON.get(name)


# --- operands of tl.dot ---------------------------------------------------------------------------


def _dot_types(
    dots: Sequence[tuple[Value, Value]], launches: Sequence[SourceLaunch]
) -> dict[str, str]:
    """Return pointer → element type, such that both operands of each dot have the same type.

    Pointers have the types of the tensors that a launch passes, if they are known.
    """
    types = {
        name: tensor.element
        for launch in reversed(launches)
        for name, tensor in launch.tensors.items()
        if tensor.element
    }
    for _ in range(len(dots) + 1):
        for sides in dots:
            kind = next((exact for side in sides if (exact := _exact(side, types))), None)
            if kind:
                types |= {
                    name: kind for side in sides for name in _elements(side) if name not in types
                }
    return {
        **{name: "fp16" for sides in dots for side in sides for name in _elements(side)},
        **types,
    }


def _elements(value: Value) -> list[str]:
    return sorted(origin.name for origin in value.origins if origin.element)


def _exact(value: Value, types: Mapping[str, str]) -> str | None:
    """Return the type that an operand must have, or ``None`` if it is open.

    An operand of unknown kind has the type that ``types`` gives for its pointers.
    """
    if value.kind in ("fp32", "fp16", "bf16", "fp8"):
        return "fp8e5" if value.kind == "fp8" else value.kind
    return next((types[name] for name in _elements(value) if name in types), None)


# --- constexprs -----------------------------------------------------------------------------------


_FLAG = lazy_pattern(
    r"(?i)_*(is|has|use|do|with|enable|disable|allow|need|even|causal|skip|store|save|output|return|apply|add|norm|reverse|transpose"
    r"|trans|inplace|debug|fused|training|masked|compute)(_.*)?$|.*_(flag|causal|enabled)$|.*causal.*|.*varlen.*"
)
_INNER = lazy_pattern(r"(?i).*(_k|blk_?k)$|^bk$")
_FACTOR = lazy_pattern(r"(?i).*factor")
_HEADS = lazy_pattern(r"(?i).*(head_?dim|d_?head|dmodel|headdim|_d|dv|dk|head_size).*|^[dkv]$")
_COUNT = lazy_pattern(
    r"(?i).*(num|_n$|count|heads?|groups?|stages|splits?|iters?|loops|unroll|ndim|^h[qkv]?$|^g$|topk|experts)"
)
_GROUP = lazy_pattern(r"(?i).*group_?(size)?(_?m)?$")
_NAMED = (
    (lazy_pattern(r"(?i)(.*_)?eps(ilon)?(_.*)?|.*(?<!st)eps"), 1e-6),
    (lazy_pattern(r"(?i).*(scale|alpha|factor|slope|beta|soft_?cap|theta|momentum)"), 1.0),
    (lazy_pattern(r"(?i)(.*_)?(temp|temperature|mult|multiplier)(_.*)?"), 1.0),
    (lazy_pattern(r"(?i)(.*_)?(fp|f|float)8_?max(_.*)?"), 448.0),
    (lazy_pattern(r"(?i)(.*_)?(fp|f|float)8_?min(_.*)?"), -448.0),
    (lazy_pattern(r"(?i)(.*_)?log2?_.*"), 6),
    (lazy_pattern(r"(?i)(.*_)?[nw]?bits"), 4),
    (_GROUP, 8),
    (_HEADS, 64),
    (lazy_pattern(r"(?i).*stride.*"), 64),
)
"""Patterns of names, and the value of a constexpr of such a name."""
_LAYOUT = lazy_pattern(r"(?i)(.*_)?layout")
_DTYPE = lazy_pattern(r"(?i).*(dtype|_ty(pe)?)$")
_SIZES = (16, 32, 64, 128, 256)


@define
class Values:
    """The values of the constexprs of one kernel."""

    function: JitFunction
    facts: KernelFacts
    launches: Sequence[SourceLaunch]
    scope: Scope
    other_scopes: Sequence[Scope]
    """The scopes of the module if other branches of it run."""

    def of(self, parameter: JitParameter) -> Guess:
        """Guess the value of a constexpr that neither a config nor a heuristic sets."""
        launched_or_default = next(self._explicit_guesses(parameter), None)
        return launched_or_default or self._by_use(parameter) or self._by_name(parameter)

    def _explicit_guesses(self, parameter: JitParameter) -> Iterator[Guess]:
        """Yield the values that launches pass, then the default."""
        for launch in self.launches:
            value = launch.values.get(parameter.name)
            if parameter.name in launch.values and is_value(value):
                why = "as launched"
                if isinstance(value, AssumedSize):
                    why, value = f"{value.what}, as launched", int(value)
                yield Guess(value, f"{why} in {launch.place}")
        is_known, value = self.scope.try_value(parameter.default)
        if is_known and is_value(value):
            others = (scope.try_value(parameter.default) for scope in self.other_scopes)
            why = "its default"
            if not all(repr(other) == repr((True, value)) for other in others):
                why = "its default in one branch of the module"
            elif any(parameter.name in launch.passed for launch in self.launches):
                why = "its default, but a launch may pass another value"
            yield Guess(value, why, exact=why == "its default")

    def _by_use(self, parameter: JitParameter) -> Guess | None:
        name = parameter.name
        if name in self.facts.functions:
            return Guess(
                None, "a function; name one of this source", "the name of a function of this source"
            )
        compared = self.facts.compared_values.get(name, [])
        is_tested = name in self.facts.tested_constexprs
        if name in self.facts.dtypes or (_DTYPE.fullmatch(name) and not (compared or is_tested)):
            return Guess({"dtype": self._dtype(name)}, "used as a dtype")
        if _LAYOUT.fullmatch(name) and not (compared or is_tested):
            layout = {"layout": f"{constexprs.GLUON}.BlockedLayout([1], [32], [4], [0])"}
            return Guess(layout, "a layout, by its name", "its layout is unknown")
        if name in self.facts.texts:
            return Guess(self.facts.texts[name], "the text of a keyword")
        texts = [literal for literal in compared if isinstance(literal, str)]
        if texts:
            return Guess(texts[0], "a value that it is compared with")
        if name in self.facts.spans:
            return Guess(self._side(name), "the length of a block: a power of two")
        kind = self.facts.kinds.get(ValueOrigin(name))
        is_number = kind is not None and kind.why == ARITHMETIC
        if is_tested or (_FLAG.fullmatch(name) and not is_number):
            return Guess(False, "a flag")
        if None in compared:
            return Guess(None, "compared with None")
        return None

    def _dtype(self, name: str) -> str:
        """Return the dtype that a constexpr stands for.

        If the kernel casts an operand of ``tl.dot`` to it, it is the dtype of the other operand. If
        the kernel reads the bits of a value that it casts to it, it has their width.
        """
        kind = self.facts.kinds.get(ValueOrigin(name))
        if kind and kind.sure >= CERTAIN and kind.name in DTYPES_OF_BITS:
            return DTYPES_OF_BITS[kind.name]
        cast = Value.of(None, [ValueOrigin(name)])
        for sides in self.facts.dots:
            if cast in sides:
                other = sides[sides[0] == cast]
                return _exact(other, _dot_types(self.facts.dots, self.launches)) or "fp32"
        return "fp32"

    def _side(self, name: str) -> int:
        """The length of a side of a block."""
        if _GROUP.fullmatch(name) and not name.upper().startswith("BLOCK"):
            return 8
        if name in self.facts.passes:
            return 32
        if _FACTOR.fullmatch(name):
            return 2
        if self.facts.dots:
            is_inner = _INNER.fullmatch(name) and not _HEADS.match(name.replace("BLOCK", ""))
            # The product of the factors of a side is as long as another side.
            return 1 << (5 if is_inner else 6) // self.facts.factors.get(name, 1)
        sides = sum(
            parameter.is_constexpr and parameter.name in self.facts.spans
            for parameter in self.function.parameters
        )
        return 1024 if self.facts.blocks < 2 and sides < 2 else 64 if sides < 3 else 32

    def _by_name(self, parameter: JitParameter) -> Guess:
        name = parameter.name
        compared = [
            literal
            for literal in self.facts.compared_values.get(name, [])
            if isinstance(literal, int | float) and not isinstance(literal, bool)
        ]
        kind = self.facts.kinds.get(ValueOrigin(name))
        likely = kind if kind and kind.sure >= LIKELY else None
        if name in self.facts.shifts:
            return Guess(4, "a number of bits")
        for pattern, value in _NAMED:
            others = WHOLE if isinstance(value, float) else FLOATS
            if pattern.fullmatch(name) and not (likely and likely.name in others):
                return Guess(value, "by its name")
        if likely and likely.name in FLOATS:
            return Guess(1.0, likely.why)
        if (
            (name.upper().startswith(("BLOCK", "B", "TILE")) and len(name) <= 2)
            or "BLOCK" in name.upper()
            or "TILE" in name.upper()
        ):
            return Guess(self._side(name), "a block, by its name")
        if kind and kind.why == PART_OF_ADDRESS:
            return Guess(64, "a stride: part of an address")
        if compared:
            return Guess(compared[0], "a value that it is compared with")
        if _COUNT.match(name):
            return Guess(4, "a count, by its name")
        if name in self.facts.passes:
            return Guess(4, "the passes of an unrolled loop")
        return Guess(64, "nothing is known about it", "its value is unknown")


def is_value(value: object) -> bool:
    """Whether a constexpr can have this value."""
    if isinstance(value, Mapping):
        return len(value) == 1 and next(iter(value)) in ("dtype", "torch_dtype", "layout")
    if isinstance(value, tuple | list):
        return all(map(is_value, value))
    if isinstance(value, int) and not isinstance(value, bool):
        return -(1 << 63) <= value < 1 << 64
    return value is None or isinstance(value, bool | float | str)


def heuristic(function: ast.expr, arguments: Mapping[str, object], scope: Scope) -> object:
    """Return the value that a heuristic computes from the other arguments. Raises UnknownValue."""
    computed = scope.value(function)
    if not isinstance(computed, SourceFunction):
        raise UnknownValue("not a function")
    value = scope.apply(computed, [dict(arguments)], {})
    if isinstance(value, tuple | list) or not is_value(value):
        raise UnknownValue("no value of a constexpr")
    return value


def broken_asserts(
    asserts: Sequence[ast.expr], values: Mapping[str, object], scope: Scope
) -> list[ast.expr]:
    """Return the static assertions that are false with these values.

    Assertions that these values do not decide are left out.
    """
    inner = scope.inside(values)
    return [
        assertion
        for assertion in asserts
        for is_known, holds in [inner.try_value(assertion)]
        if is_known and not holds
    ]


def _numbers_in(nodes: Sequence[ast.expr]) -> list[int]:
    """Return the integer literals above 0 in expressions."""
    return [
        inner.value
        for node in nodes
        for inner in ast.walk(node)
        if isinstance(inner, ast.Constant) and type(inner.value) is int and inner.value > 0
    ]


def mend_guesses(
    values: dict[str, object], free: Sequence[str], asserts: Sequence[ast.expr], scope: Scope
) -> tuple[dict[str, object], frozenset[str]]:
    """Return values with changed guesses so that static assertions hold if possible.

    The second value has the names of the changed guesses.
    """
    changed: set[str] = set()
    for _ in range(len(free)):
        broken = {
            name for node in broken_asserts(asserts, values, scope) for name in names_in(node)
        }
        choices = [name for name in free if name in broken and name not in changed]
        better = next(
            (change for name in choices if (change := _better(name, values, asserts, scope))), None
        )
        if better is None:
            break
        name, values = better
        changed.add(name)
    return values, frozenset(changed)


def _better(
    name: str, values: dict[str, object], asserts: Sequence[ast.expr], scope: Scope
) -> tuple[str, dict[str, object]] | None:
    now = len(broken_asserts(asserts, values, scope))
    candidates = (
        [True, False]
        if isinstance(values[name], bool)
        else [*_numbers_in(asserts), *_SIZES]
        if isinstance(values[name], int)
        else []
    )
    for candidate in candidates:
        changed = {**values, name: candidate}
        if len(broken_asserts(asserts, changed, scope)) < now:
            return name, changed
    return None
