"""Values of expressions in a kernel's module: dtypes, configs of tuners, and assumed tensors.

An assumed tensor stands for a tensor in the function around a launch. Its sizes are assumed, its
strides follow from the sizes, and its element type may be known. Nothing is computed with its
elements. A tensor without a known element type has that of its :attr:`AssumedTensor.origin`, the
argument that it was made like.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import ClassVar

from attrs import define, evolve, frozen

from compat.model import constexprs
from compat.source.constants import (
    FUNCTIONS,
    PythonValue,
    PythonValues,
    Scope,
    SourceFunction,
    UnknownValue,
)
from compat.source.parsing import dotted_name
from compat.text import lazy_pattern
from compat.toolchains.pytorch.standin.dtypes import FloatingLimits, NumberLimits, dtypes, iinfo
from compat.toolchains.pytorch.standin.opaque import UnavailableValue

SIZE = 1024
"""The assumed value of an unknown size: a multiple of 16, like most sizes."""
_PROCESSORS = 132
"""The assumed number of multiprocessors of a GPU: that of an H100."""
_QUOTIENT = 16
"""The assumed quotient of two sizes: the least side of a block that ``tl.dot`` always accepts."""
_MOST = 1 << 30
"""The most elements of a tensor. Products of assumed sizes may be larger than any tensor."""
GLUON = "triton.experimental.gluon.language."
_NAMED = (
    (lazy_pattern(r"(?i).*head_?dim.*|d_?head|.*head_size|d|.*_d"), 64),
    (
        lazy_pattern(
            r"(?i).*(heads?(_[qkv]o?)?|groups?|n(um)?_blocks|experts|splits?|batch(_size)?|bsz?|topk)|[bzg]|n?h|h_?([qkv]|kv|qo)"
        ),
        4,
    ),
)
"""Names of small sizes → their assumed values."""
TORCH_TYPES = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8",
    "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
    "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
}  # fmt: skip
"""PyTorch's name of a dtype → Triton's."""
_TORCH_NAMES = {
    "half": "float16",
    "float": "float32",
    "int": "int32",
    "long": "int64",
    "double": "float64",
}
"""A short name of a dtype in PyTorch → the name in ``TORCH_TYPES``."""


_TORCH = (2, 8)
"""A release of PyTorch with all dtypes."""


class AssumedSize(int):
    """One size of an argument tensor, unchanged by arithmetic."""

    key: str
    """The identity of a size: its name in the source, else its axis and the number of axes."""
    what = "the size of a tensor"

    @property
    def is_named(self) -> bool:
        """Whether the source gives it a name."""
        return self.key.isidentifier()

    @classmethod
    def of(cls, key: str, value: int) -> AssumedSize:
        """The size that has this key."""
        size = cls(value)
        size.key = key
        return size

    def __floordiv__(self, other: int) -> int:
        quotient = int(self) // other
        if not isinstance(other, AssumedSize):
            return quotient
        follows = isinstance(other, AssumedNumber) and quotient > 1
        return AssumedQuotient.of(f"{self.key} // {other.key}", quotient if follows else _QUOTIENT)

    def __sub__(self, other: int) -> int:
        difference = int(self) - other
        if difference > 0 or not isinstance(other, AssumedSize):
            return difference
        return AssumedDifference.of(f"{self.key} - {other.key}", int(self))


class AssumedNumber(AssumedSize):
    """A small number that a caller passes beside the tensors, such as that of the groups."""

    what = "a number that the caller passes"


class AssumedQuotient(AssumedSize):
    """A quotient of two sizes, such as the query heads for each key head.

    It does not follow from sizes of tensors, which are assumed one by one.
    """

    what = "a quotient of two sizes"


class AssumedDifference(AssumedSize):
    """A difference of two sizes, such as the part of each head without positions.

    It is as large as the first size if the assumed sizes leave nothing.
    """

    what = "a difference of two sizes"


def size_by_name(name: str, usual: int = SIZE) -> int:
    """Return the assumed value of a size of this name, which is ``usual`` for most names."""
    return next((value for pattern, value in _NAMED if pattern.fullmatch(name)), usual)


@frozen(eq=False)
class ElementType:  # noqa: PLW1641 - nothing keeps it in a set
    """``x.dtype`` of a tensor whose element type is unknown."""

    origin: str

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ElementType) and self.origin == other.origin:
            return True
        if other == {"torch_dtype": "float64"}:
            return False  # kernels seldom get it, and code asks to treat it apart
        raise UnknownValue("the element type is unknown")


@frozen
class AssumedTensor:
    """The assumed shape, strides and element type of a tensor."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    element: str | None = None
    """The element type by its name in Triton, or ``None`` if it is unknown."""
    origin: str | None = None
    """The tensor that has the same element type, if that type is unknown."""

    @classmethod
    def contiguous(
        cls, shape: Sequence[int], element: str | None = None, origin: str | None = None
    ) -> AssumedTensor:
        """Return a contiguous tensor of this shape, in row-major order."""
        inner = (
            [*accumulate([*shape[:0:-1]], lambda product, size: product * size, initial=1)][::-1]
            if shape
            else []
        )
        if len(shape) > 1:
            inner[-2] = shape[-1]  # the given size itself, because a product is a plain int
        return cls(tuple(shape), tuple(inner), element, origin)

    def attribute(self, name: str) -> PythonValue:
        """Return an attribute or a method of the tensor. Raises :class:`UnknownValue`."""
        if name in _METHODS:
            return partial(_METHODS[name], self)
        values = {
            "shape": self.shape,
            "ndim": len(self.shape),
            "is_cuda": True,
            "requires_grad": False,
        }
        if name in values:
            return values[name]
        if name == "dtype":
            return self.dtype
        if name in ("T", "mT"):
            return _transpose(self, -2, -1)
        raise UnknownValue(f"the attribute {name} of a tensor")

    @property
    def dtype(self) -> PythonValue:
        """The dtype in the form of constexprs, or an :class:`ElementType` if it is unknown.

        Raises :class:`UnknownValue` if the origin is unknown, too.
        """
        torch = next(
            (torch for torch, triton in TORCH_TYPES.items() if triton == self.element), None
        )
        if torch:
            return {"torch_dtype": torch}
        if self.origin:
            return ElementType(self.origin)
        raise UnknownValue("an unknown dtype")

    def of_type(self, dtype: object) -> AssumedTensor:
        """Return the tensor with another dtype, or unchanged if ``dtype`` is ``None``."""
        element, origin = (self.element, self.origin) if dtype is None else element_of(dtype)
        return evolve(self, element=element, origin=origin)


def element_of(dtype: object) -> tuple[str | None, str | None]:
    """Return the element type and the origin of a tensor that is made with a dtype."""
    if isinstance(dtype, ElementType):
        return None, dtype.origin
    return (
        TORCH_TYPES.get(str(dtype.get("torch_dtype"))) if isinstance(dtype, Mapping) else None
    ), None


# --- methods --------------------------------------------------------------------------------------


def _shape(tensor: AssumedTensor, sizes: Sequence[PythonValue]) -> tuple[int, ...]:
    """Return the sizes in a call of a method, with ``-1`` replaced."""
    flat = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else sizes
    if not all(isinstance(size, int) for size in flat):
        raise UnknownValue("an unknown shape")
    product, elements = math.prod(size for size in flat if size != -1), math.prod(tensor.shape)
    # Assumed sizes need not fit the sizes in the source.
    rest = SIZE if product < 1 or elements % product else elements // product
    return tuple(rest if size == -1 else size for size in flat)


def _view(tensor: AssumedTensor, *sizes: PythonValue) -> AssumedTensor:
    return AssumedTensor.contiguous(_shape(tensor, sizes), tensor.element, tensor.origin)


def _new(tensor: AssumedTensor, *sizes: object, dtype: object = None, **_: object) -> AssumedTensor:
    return _view(tensor, *sizes).of_type(dtype)


def _permute(tensor: AssumedTensor, *axes: PythonValue) -> AssumedTensor:
    flat = axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
    return evolve(
        tensor,
        shape=tuple(tensor.shape[i] for i in flat),
        strides=tuple(tensor.strides[i] for i in flat),
    )


def _transpose(tensor: AssumedTensor, one: int = 0, other: int = 1) -> AssumedTensor:
    axes = [*range(len(tensor.shape))]
    axes[one], axes[other] = axes[other], axes[one]
    return _permute(tensor, axes)


def _flatten(tensor: AssumedTensor, start: int = 0, end: int = -1) -> AssumedTensor:
    rank = len(tensor.shape)
    first, last = start % rank, end % rank
    return _view(
        tensor,
        (
            *tensor.shape[:first],
            math.prod(tensor.shape[first : last + 1]),
            *tensor.shape[last + 1 :],
        ),
    )


def _unsqueeze(tensor: AssumedTensor, axis: int) -> AssumedTensor:
    at = axis % (len(tensor.shape) + 1)
    stride = tensor.strides[at] * tensor.shape[at] if at < len(tensor.shape) else 1
    strides = (*tensor.strides[:at], stride, *tensor.strides[at:])
    return evolve(tensor, shape=(*tensor.shape[:at], 1, *tensor.shape[at:]), strides=strides)


def _to(
    tensor: AssumedTensor, *positional: object, dtype: object = None, **_: object
) -> AssumedTensor:
    dtypes = [
        argument for argument in (*positional, dtype) if isinstance(argument, ElementType | Mapping)
    ]
    return tensor.of_type(dtypes[0] if dtypes else None)


def _at(values: Sequence[int], axis: PythonValue) -> object:
    return tuple(values) if axis is None else values[axis]


_METHODS: Mapping[str, Callable[..., object]] = {
    "stride": lambda tensor, dim=None: _at(tensor.strides, dim),
    "size": lambda tensor, dim=None: _at(tensor.shape, dim),
    "dim": lambda tensor: len(tensor.shape),
    "element_size": lambda tensor: 2,
    "is_contiguous": lambda tensor, **_: True,
    "contiguous": lambda tensor, **_: AssumedTensor.contiguous(
        tensor.shape, tensor.element, tensor.origin
    ),
    "view": _view,
    "reshape": _view,
    "flatten": _flatten,
    "permute": _permute,
    "transpose": _transpose,
    "t": _transpose,
    "unsqueeze": _unsqueeze,
    "to": _to,
    "view_as": lambda tensor, other: _view(tensor, other.shape),
    **{name: lambda tensor: min(math.prod(tensor.shape), _MOST) for name in ("numel", "nelement")},
    **{
        name: lambda tensor, **_: tensor
        for name in ("detach", "clone", "cuda", "zero_", "requires_grad_")
    },
    **dict.fromkeys(("new_empty", "new_zeros", "new_ones"), _new),
    **{
        name: lambda tensor, element=TORCH_TYPES[torch]: evolve(
            tensor, element=element, origin=None
        )
        for name, torch in (*_TORCH_NAMES.items(), ("bfloat16", "bfloat16"))
        if name != "double"
    },
}
ATTRIBUTES = frozenset(
    (*_METHODS, "shape", "ndim", "is_cuda", "dtype", "T", "mT", "device", "data_ptr")
) - {"to", "view", "int"}
"""Attributes that only tensors have, so a name with one of them is a tensor."""


# --- tensors that PyTorch makes -------------------------------------------------------------------


_LIKE = frozenset(
    f"torch.{name}_like" for name in ("empty", "zeros", "ones", "full", "rand", "randn")
)
_OF_SIZES = frozenset(
    f"torch.{name}" for name in ("empty", "zeros", "ones", "full", "rand", "randn")
)
MAKERS = _LIKE | _OF_SIZES


def make_tensor(
    called: str, positional: Sequence[object], keywords: Mapping[str, object]
) -> AssumedTensor:
    """Return the result of one of ``MAKERS``.

    Raises :class:`UnknownValue` if its shape does not follow.
    """
    dtype = keywords.get("dtype")
    if called in _LIKE and positional and isinstance(positional[0], AssumedTensor):
        return AssumedTensor.contiguous(
            positional[0].shape, positional[0].element, positional[0].origin
        ).of_type(dtype)
    sizes = (
        [keywords["size"]]
        if "size" in keywords
        else positional[:1]
        if called == "torch.full"
        else positional
    )
    if called in _LIKE or not sizes:
        raise UnknownValue(f"the call of {called}")
    return AssumedTensor.contiguous(
        _shape(AssumedTensor((), ()), sizes), *element_of(dtype or {"torch_dtype": "float32"})
    )


# --- expressions ----------------------------------------------------------------------------------


@frozen(eq=False)
class OpaqueArgument:  # noqa: PLW1641 - nothing keeps it in a set
    """An argument that a launch passes, with an unknown value."""

    name: str

    def __eq__(self, other: object) -> bool:
        raise UnknownValue("nothing is known about the argument")


@frozen
class TunerConfig:
    """A ``triton.Config``: values of constexprs, and options."""

    kwargs: Mapping[str, PythonValue]
    options: Mapping[str, PythonValue]
    hook: SourceFunction | None = None
    """The function that a tuner calls with all arguments before it launches the config."""

    @property
    def all_options(self) -> dict[str, object]:
        """The options with their defaults."""
        return {**_OPTIONS, **self.options}


_OPTIONS: Mapping[str, object] = {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": None}
"""The options of a ``triton.Config``, in the order of its parameters, with their defaults."""


def _cdiv(number: int, divisor: int) -> int:
    """Return the quotient, rounded up; that of two assumed sizes is assumed, too."""
    if isinstance(number, AssumedSize) and isinstance(divisor, AssumedSize):
        return number // divisor
    return -(-number // divisor)


@frozen
class HostDescriptor:
    """A tensor descriptor that the code around a launch makes."""

    block: tuple[int, ...]
    element: str | None
    """The element type by its name in Triton, or ``None`` if it is unknown."""


@define
class PassedDescriptor:
    """A tensor descriptor that a tuner passes to the hook of a config."""

    block: tuple[int, ...] = ()
    """The block shape that the hook sets; empty before."""


_DESCRIPTOR = lazy_pattern(r"triton\..*\bTensorDescriptor(\.from_tensor)?")


class KernelScope(Scope):
    """A scope that knows dtypes, ``triton.Config``, and tensors."""

    functions: ClassVar[Mapping[str, PythonValue]] = {
        **FUNCTIONS,
        "triton.cdiv": _cdiv,
        "triton.language.cdiv": _cdiv,
        "triton.next_power_of_2": lambda number: (
            1 << (number - 1).bit_length() if number > 0 else 0
        ),
        "triton.language.constexpr": lambda value: value,
        f"{GLUON}constexpr": lambda value: value,
        "torch.version.hip": None,
        "torch.finfo": lambda dtype: _limits(FloatingLimits, dtype),
        "torch.iinfo": lambda dtype: _limits(iinfo, dtype),
    }

    def name(self, node: ast.Name) -> PythonValue:
        """The value of a name. Raises UnknownValue."""
        return _dtype(self.origin(node) or "") or super().name(node)

    def attribute(self, node: ast.Attribute) -> PythonValue:
        """The value of an attribute. Raises UnknownValue."""
        if (name := dotted_name(node)) in self.local:
            return self.local[name]
        if node.attr == "multi_processor_count":
            return _PROCESSORS
        return _dtype(self.origin(node) or "") or super().attribute(node)

    def attribute_of(self, value: object, name: str) -> object:
        """Return an attribute of a value. Raises UnknownValue."""
        if isinstance(value, AssumedTensor):
            return value.attribute(name)
        if isinstance(value, TunerConfig):
            return {"kwargs": value.kwargs, **value.all_options}[name]
        if isinstance(value, NumberLimits) and name in vars(value):
            return vars(value)[name]
        return super().attribute_of(value, name)

    def set_attribute(self, base: object, name: str, value: object) -> None:
        """Set the attribute of a descriptor. Raises UnknownValue for other objects."""
        if not isinstance(base, PassedDescriptor):
            super().set_attribute(base, name, value)
        elif name == "block_shape":
            base.block = _block(value)

    def keeps(self, condition: object, value: object) -> object:
        """Whether a filter keeps a value: also a config for which the condition is unknown.

        Such a condition asks for the machine's GPU, for example. Raises UnknownValue.
        """
        try:
            return super().keeps(condition, value)
        except UnknownValue:
            if isinstance(value, TunerConfig):
                return True
            raise

    def call(self, node: ast.Call) -> PythonValue:
        """Return the result of a call. Raises UnknownValue."""
        origin = self.origin(node.func) or ""
        if origin in ("triton.Config", "triton.runtime.autotuner.Config", "triton.runtime.Config"):
            return self._config(node)
        if origin.startswith(GLUON) and origin.endswith("Layout"):
            return self._layout(node, origin)
        if origin in ("os.environ.get", "os.getenv"):
            return self.value(node.args[1]) if len(node.args) > 1 else None
        if origin == "isinstance":
            return self._is_descriptor(*node.args)
        if made := _DESCRIPTOR.fullmatch(origin):
            return self._descriptor(node, 1 if made[1] else 3)
        if origin in MAKERS:
            return self._made(node, origin)
        is_known, function = self.try_value(node.func)
        if isinstance(function, partial):  # a method of a tensor
            positional, keywords = self._known_arguments(node)
            return function(*positional, **keywords)
        positional, keywords = self.arguments(node)
        if not is_known or not (callable(function) or isinstance(function, SourceFunction)):
            return _of_this_machine(origin)
        return self._result(function, positional, keywords, origin)

    def _result(
        self,
        function: PythonValue,
        positional: list[PythonValue],
        keywords: PythonValues,
        origin: str,
    ) -> object:
        try:
            return self.apply(function, positional, keywords)
        except UnknownValue:
            if isinstance(function, SourceFunction):
                return _of_this_machine(origin or getattr(function.node, "name", ""))
            raise

    def _is_descriptor(self, node: ast.expr, kind: ast.expr) -> bool:
        """Whether a descriptor is of a class. Raises UnknownValue for other objects."""
        if not isinstance(self.value(node), PassedDescriptor):
            raise UnknownValue("the class of a value")
        return _DESCRIPTOR.fullmatch(self.origin(kind) or "") is not None

    def _known_arguments(self, node: ast.Call) -> tuple[list[object], dict[str, object]]:
        """Return the arguments that follow from literals and sizes; a device does not, for example.

        Raises UnknownValue for a size that does not follow.
        """
        if isinstance(node.func, ast.Attribute) and node.func.attr == "to":
            attempts = [self.try_value(argument) for argument in node.args]
            positional = [value for is_known, value in attempts if is_known]
        else:
            positional = self.elements(node.args)
        pairs = [
            (keyword.arg, self.try_value(keyword.value)) for keyword in node.keywords if keyword.arg
        ]
        return positional, {name: value for name, (is_known, value) in pairs if is_known}

    def _descriptor(self, node: ast.Call, position: int) -> HostDescriptor:
        """Return the descriptor that a call makes. ``position`` is that of the block's shape.

        Raises UnknownValue if the shape does not follow, or is a placeholder such as ``[1, 1]``,
        which a hook of a tuner replaces.
        """
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        shape = named.get("block_shape") or next(iter(node.args[position:]), None)
        block = _block(self.value(shape) if shape is not None else ())
        if block[-1] == 1:
            raise UnknownValue("a placeholder of a block shape")
        tensor = self.try_value(node.args[0] if node.args else None)[1]
        element = tensor.element if isinstance(tensor, AssumedTensor) else None
        return HostDescriptor(block, element)

    def _made(self, node: ast.Call, origin: str) -> AssumedTensor:
        """Return a tensor that PyTorch makes, without axes if only its dtype follows.

        Raises UnknownValue.
        """
        try:
            return make_tensor(origin, *self._known_arguments(node))
        except UnknownValue:
            dtypes = (keyword.value for keyword in node.keywords if keyword.arg == "dtype")
            if (dtype := next(dtypes, None)) is None:
                raise
            return AssumedTensor((), (), *element_of(self.value(dtype)))

    def _layout(self, node: ast.Call, origin: str) -> PythonValue:
        """Return a layout of Gluon in the form of constexprs. Raises UnknownValue."""
        positional, keywords = self.arguments(node)
        parts = [
            *map(_part_of_layout, positional),
            *(f"{name}={_part_of_layout(value)}" for name, value in keywords.items()),
        ]
        text = f"{constexprs.GLUON}.{origin.removeprefix(GLUON)}({', '.join(parts)})"
        if not constexprs.is_layout(text):
            raise UnknownValue("a layout of values that are not literals")
        return {"layout": text}

    def _config(self, node: ast.Call) -> TunerConfig:
        named = [
            keyword for keyword in node.keywords if keyword.arg not in ("pre_hook", "ir_override")
        ]
        positional, keywords = self.arguments(
            ast.Call(func=node.func, args=node.args, keywords=named)
        )
        options = {**dict(zip(("kwargs", *_OPTIONS), positional, strict=False)), **keywords}
        kwargs = options.pop("kwargs", {})
        if "maxnreg" in kwargs:  # has no default, which would replace it
            options.setdefault("maxnreg", kwargs["maxnreg"])
        own = {name: value for name, value in kwargs.items() if name not in _OPTIONS}
        set_options = {name: value for name, value in options.items() if value is not None}
        nodes = (keyword.value for keyword in node.keywords if keyword.arg == "pre_hook")
        hook = self.try_value(next(nodes, None))[1]
        return TunerConfig(own, set_options, hook if isinstance(hook, SourceFunction) else None)


def _block(shape: object) -> tuple[int, ...]:
    """Return the block shape of a descriptor. Raises UnknownValue if it is none."""
    if not (isinstance(shape, tuple | list) and shape and all(map(_is_length, shape))):
        raise UnknownValue("an unknown block shape")
    return tuple(map(int, shape))


def _is_length(value: object) -> bool:
    return isinstance(value, int) and value > 0


def _part_of_layout(value: object) -> str:
    """Return an argument of a layout as source text."""
    if isinstance(value, Mapping) and value.keys() == {"layout"}:
        return str(value["layout"])
    if isinstance(value, Mapping) and value.keys() == {"dtype"}:
        return constexprs.source(value).replace("tl.", f"{constexprs.GLUON}.", 1)
    return repr(value)


def _dtype(origin: str) -> dict[str, str] | None:
    """Return a dtype in the form of constexprs, or ``None`` if the origin is no dtype."""
    first, _, name = origin.rpartition(".")
    if first == "torch" and name in (*constexprs.TORCH_DTYPES, *_TORCH_NAMES):
        return {"torch_dtype": _TORCH_NAMES.get(name, name)}
    if first.startswith(("triton.language", GLUON.rstrip("."))):
        spelled = constexprs.DTYPES.get(name)
        return {"dtype": spelled} if spelled else None
    return None


def _limits(kind: Callable[[object], NumberLimits], dtype: object) -> NumberLimits:
    """Return the limits of the numbers of a dtype. Raises UnknownValue."""
    name = dtype.get("torch_dtype") if isinstance(dtype, Mapping) else None
    known = dtypes(_TORCH).get(str(name))
    try:
        return kind(known)
    except (TypeError, UnavailableValue) as error:
        raise UnknownValue(str(error)) from error


def _of_this_machine(origin: str) -> bool:
    """Return the answer of a function that asks for the machine's GPU.

    The assumed GPU is one of NVIDIA's, without features that only some GPUs have. Raises
    UnknownValue for any other function.
    """
    name = origin.rpartition(".")[2]
    if re.fullmatch(r"_?is_(cuda|nvidia)\w*|_?is_(cuda_)?available", name):
        return True
    if re.match(r"_?(is|has|supports?|check|use)_", name):
        return False
    raise UnknownValue(f"the call of {origin or 'an expression'}")
