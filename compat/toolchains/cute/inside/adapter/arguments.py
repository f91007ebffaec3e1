"""Arguments of a kernel, made from the types and values in a kernel file.

Tensors have no memory. ``from_dlpack`` gets a DLPack capsule of the adapter (:mod:`.no_gpu`), with
CUDA as its device and an address that no code reads. This way is the same in every release, and
programs pass tensors in the same way. NumPy arrays would be in generic memory, where copies fail
that do not fail on a GPU. Fake tensors exist only since 4.3, and cannot have layouts of several
levels either.

A function in the kernel's source makes an argument that no type can describe. It gets a function
that makes an argument of a type, and constexprs by name.
"""

from __future__ import annotations

import inspect
import math
import re
import sys
import traceback
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from .no_gpu import TensorNowhere

if TYPE_CHECKING:
    from ....inside.foreign import Document, Function, Objects, Tensor, Value
    from ..foreign import Type

_ADDRESS = 1 << 40
"""Divisible by every assumed alignment."""
APART = 1 << 38
"""Bytes between tensors that each have an address of their own."""
_UNSIGNED, _FLOAT, _SIGNED, _BFLOAT = 1, 2, 0, 4
"""The codes of element types in DLPack."""
_ANY = 64
"""The assumed value of a run-time size, as a multiple of its divisor."""

_ELEMENTS: dict[str, tuple[str, int, int]] = {
    "bool": ("Boolean", _UNSIGNED, 8),
    **{"i%d" % bits: ("Int%d" % bits, _SIGNED, bits) for bits in (8, 16, 32, 64)},
    **{"u%d" % bits: ("Uint%d" % bits, _UNSIGNED, bits) for bits in (8, 16, 32, 64)},
    "fp16": ("Float16", _FLOAT, 16),
    "bf16": ("BFloat16", _BFLOAT, 16),
    "fp32": ("Float32", _FLOAT, 32),
    "tf32": ("TFloat32", _FLOAT, 32),
    "fp64": ("Float64", _FLOAT, 64),
    "fp8e4m3fn": ("Float8E4M3FN", _UNSIGNED, 8),
    "fp8e5m2": ("Float8E5M2", _UNSIGNED, 8),
    "fp8e8m0fnu": ("Float8E8M0FNU", _UNSIGNED, 8),
    "fp6e2m3fn": ("Float6E2M3FN", _UNSIGNED, 8),
    "fp6e3m2fn": ("Float6E3M2FN", _UNSIGNED, 8),
    "fp4e2m1fn": ("Float4E2M1FN", _UNSIGNED, 8),
    "i4": ("Int4", _SIGNED, 8),
}
"""A type's name in kernel files → its name in CuTe DSL, and its code and bits in DLPack."""
_DTYPES = {
    **{"int%d" % bits: "i%d" % bits for bits in (8, 16, 32, 64)},
    **{"uint%d" % bits: "u%d" % bits for bits in (8, 16, 32)},
}
"""A dtype's name in the JSON of constexprs → its name in kernel files, if the names differ."""

_TENSOR = re.compile(
    r"(?P<element>\w+)\[(?P<shape>[^\]]*)\](?::\[(?P<strides>[^\]]*)\])?(?:"
    r" leading=(?P<leading>\d+))?(?: align=(?P<align>\d+))?"
)
_POINTER = re.compile(r"ptr<(?P<element>\w+)>(?: align=(?P<align>\d+))?")
_USUAL_ALIGNMENT = 16
_WIDE = "i64"
"""The IR's name for strides of 64 bits."""
_QUOTED = re.compile(r'"[^"]*"')
_MADE = re.compile(r"(?P<function>[A-Za-z_]\w*)\(\)")
"""A call of a function beside the kernel."""
_STREAM = "stream"
_SIZE_NAME = re.compile(r"([A-Za-z_]\w*)(?:%(\d+))?")
MISFIT = re.compile(r"expects argument #\d+ \(\w+\) to be [^\n]*? but got [^\n]*")
"""The message about an argument that does not fit its annotation."""


class KernelFileError(Exception):
    """The kernel file does not fit its function. The message is a sentence that says why."""


class Memory:
    """Addresses for tensors without memory.

    All tensors have the same address, or each has an address of its own, which identifies it.
    """

    def __init__(self, base: int | None = None) -> None:
        self._base = base
        self.tensors: dict[str, dict[str, object]] = {}
        """Argument → its ``address``, ``align``, and ``bytes`` of an element. A tensor also has
        ``shape`` and ``strides``. A pointer does not.
        """

    def place(self, name: str, **facts: object) -> int:
        """Return the address of the tensor with this name.

        Raises KernelFileError for a second tensor of the name if each tensor has its own address.
        """
        if self._base is None:
            return _ADDRESS
        if name in self.tensors:
            raise KernelFileError(
                "signature.%s: it is several tensors, which a problem cannot name" % name
            )
        address = self._base + len(self.tensors) * APART
        self.tensors[name] = {"address": address, **facts}
        return address


def bind_arguments(function: Function, job: Document) -> tuple[Any, list[Any], Objects]:
    """Return the function to compile, its arguments in order, and its arguments by keyword.

    If the job names a class, the function is an object of it. The constructor gets the constexprs
    that it takes, and ``__call__`` gets the others. Raises KernelFileError.
    """
    names = _names_beside(function)
    constants = {name: constant(value, names) for name, value in job["constexprs"].items()}
    constructor_values: Objects = {}
    if inspect.isclass(function):
        constructor_parameters = _constructor_parameters(function, constants)
        constructor_values = {
            name: constants[name] for name in constructor_parameters if name in constants
        }
        function = function(**constructor_values)
        call = type(function).__call__
    else:
        call = function
    parameters = _parameters(call)
    if not inspect.isfunction(inspect.unwrap(function)) and "self" in parameters:
        parameters.pop("self")
    making = Arguments(sizes_of(job["signature"]), names, constants, Memory())
    arguments = {name: making.argument(name, kind) for name, kind in job["signature"].items()}
    arguments.update(
        {
            name: _PLAIN[parameters[name].annotation](1)
            for name in arguments
            if _is_plain(parameters.get(name), arguments[name])
        }
    )
    arguments.update(
        {
            name: value
            for name, value in constants.items()
            if name not in constructor_values or name in parameters
        }
    )
    for name in arguments:
        if name not in parameters:
            raise KernelFileError(
                "the function has no parameter %r, but the kernel file gives it a type or a value:"
                " take it out of [signature] or [constexprs]; it has %s"
                % (name, ", ".join(parameters) or "none")
            )
    missing = [
        name
        for name, parameter in parameters.items()
        if name not in arguments and parameter.default is parameter.empty
    ]
    if missing:
        raise KernelFileError(
            "the kernel file gives no type or value to %s: add a type to [signature], or a value to"
            " [constexprs]" % ", ".join(missing)
        )
    named = [
        name for name, parameter in parameters.items() if parameter.kind is parameter.KEYWORD_ONLY
    ]
    values = {
        name: arguments.get(name, parameter.default) for name, parameter in parameters.items()
    }
    return (
        function,
        [value for name, value in values.items() if name not in named],
        {name: values[name] for name in named},
    )


_PLAIN: dict[Any, Any] = {
    form: kind for kind in (int, float, bool) for form in (kind, kind.__name__)
}
"""Annotation of a parameter that takes only Python numbers → the type of the numbers.

Like numbers of CuTe DSL, these numbers are known only at run time.
"""


def _is_plain(parameter: Type, value: object) -> bool:
    """Whether a parameter takes a Python number instead of this number of CuTe DSL."""
    if (
        parameter is None
        or not isinstance(parameter.annotation, (type, str))
        or parameter.annotation not in _PLAIN
    ):
        return False
    return hasattr(type(value), "width") and not hasattr(value, "element_type")


def run_time(
    function: Function, job: Document, values: Objects, memory: Memory
) -> dict[str, object]:
    """Return only the run-time arguments, in the function's order.

    ``values`` has a value for each unknown size and number (:func:`unknown`). Raises
    KernelFileError.
    """
    names = _names_beside(function)
    constants = {name: constant(value, names) for name, value in job["constexprs"].items()}
    making = Arguments({**sizes_of(job["signature"]), **values}, names, constants, memory)
    return {
        name: making.argument(name, job["signature"][name])
        for name in in_order(function, job["signature"])
    }


def in_order(function: Function, signature: Document) -> list[str]:
    """Return the names of the run-time arguments, in the order of the function's parameters.

    For a class or an object, these are the parameters of ``__call__``.
    """
    is_function = inspect.isfunction(inspect.unwrap(function))
    kind = function if inspect.isclass(function) else type(function)
    return [
        name
        for name in _parameters(function if is_function else kind.__call__)
        if name in signature
    ]


def _names_beside(function: Function) -> Objects:
    """Return the namespace of the module that defines a function or class."""
    namespace: Value = getattr(inspect.unwrap(function), "__globals__", None)
    return namespace if namespace is not None else vars(sys.modules[function.__module__])


def _constructor_parameters(kind: Type, constants: dict[str, object]) -> list[str]:
    """Return the parameters of a class's constructor.

    Raises KernelFileError if a required one has no value.
    """
    parameters = constructor(kind)
    missing = [
        name
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty and name not in constants
    ]
    if missing:
        raise KernelFileError(
            "the kernel file gives no value to %s, which the constructor of %s takes: add it to"
            " [constexprs]" % (", ".join(missing), kind.__name__)
        )
    return list(parameters)


def constructor(kind: Type) -> Objects:
    """Return the parameters of a class's constructor, by name.

    They include those that it passes on unchanged to a base class (``*arguments, **options``).
    """
    parameters: Objects = {}
    for base in kind.__mro__:
        construct = vars(base).get("__init__")
        if construct is None or base is object:
            continue
        own = inspect.signature(inspect.unwrap(construct)).parameters
        inner = {
            name: parameter
            for name, parameter in _parameters(construct).items()
            if name not in parameters
        }
        keywords = {
            name: parameter
            for name, parameter in parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY
        }
        others = {name: parameter for name, parameter in parameters.items() if name not in keywords}
        parameters = {**others, **inner, **keywords}
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in own.values()):
            break
    parameters.pop("self", None)
    return parameters


def _parameters(function: Function) -> Objects:
    parameters = inspect.signature(inspect.unwrap(function)).parameters
    return {
        name: parameter
        for name, parameter in parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }


def constant(value: object, names: dict[str, object]) -> Any:
    """Return a constexpr from its JSON form.

    ``{"dtype": "fp16"}`` is a type of CuTe DSL, and a list is a tuple. ``{"function": "relu"}`` is
    a function in ``names``, the names of the kernel's module. Raises KernelFileError.
    """
    if isinstance(value, list):
        return tuple(constant(part, names) for part in value)
    if isinstance(value, dict):
        form = next(iter(value))
        name: str = value[form]
        if form == "function":
            if name not in names:
                raise KernelFileError(
                    "the source has no function %r, which a constexpr names" % name
                )
            return names[name]
        if form != "dtype":
            raise KernelFileError(
                "a constexpr of CuTe DSL is a number, a string, a dtype, a function, None, or a"
                " tuple of these, not a %s" % form
            )
        return element(_DTYPES.get(name, name))
    return value


def element(name: str) -> Type:
    """Return the type of CuTe DSL with a name in kernel files.

    Raises KernelFileError if the name is unknown, and AttributeError if this release has no such
    type.
    """
    import cutlass

    if name not in _ELEMENTS:
        raise KernelFileError(
            "%r is not an element type: choose one of %s" % (name, ", ".join(_ELEMENTS))
        )
    return getattr(cutlass, _ELEMENTS[name][0])


def options(settings: Document) -> dict[str, str]:
    """Return the keyword ``options`` of ``cute.compile``, a text with all compile options.

    The result is empty without options.
    """
    flags = []
    for name, value in settings.items():
        if value is not False:
            flags.append("--" + name if value is True else "--%s %s" % (name, value))
    return {"options": " ".join(flags)} if flags else {}


# --- run-time arguments ---------------------------------------------------------------------------


def sizes_of(signature: Document) -> dict[str, int]:
    """Return name of a size → an assumed size, which is a multiple of all its divisors."""
    sizes: dict[str, int] = {}
    for _, kind in _leaves(signature.items()):
        tensor = _TENSOR.fullmatch(kind)
        if tensor is not None:
            for name, divisor in _SIZE_NAME.findall(
                "%s,%s" % (tensor["shape"], tensor["strides"] or "")
            ):
                sizes[name] = math.lcm(sizes.get(name, _ANY), _ANY * int(divisor or 1))
    return sizes


def unknown(signature: Document, sizes: bool = True) -> list[str]:
    """Return the names of values that are known only at run time: numbers, and sizes of tensors.

    If ``sizes`` is false, these are only numbers.
    """
    numbers = {
        name: 0
        for name, kind in _leaves(signature.items())
        if kind != _STREAM and not any(form.fullmatch(kind) for form in (_TENSOR, _POINTER, _MADE))
    }
    return list({**(sizes_of(signature) if sizes else {}), **numbers})


def _leaves(signature: Type) -> Iterator[tuple[str, str]]:
    """Yield arguments and their types. An element of a tuple has a name such as ``args[1]``."""
    for name, kind in signature:
        if isinstance(kind, list):
            yield from _leaves(("%s[%d]" % (name, index), part) for index, part in enumerate(kind))
        else:
            yield name, kind


class Arguments:
    """Makes the run-time arguments of one kernel."""

    def __init__(self, values: Objects, names: Objects, constants: Objects, memory: Memory) -> None:
        """Prepare to make arguments.

        ``values`` has sizes, and the values of arguments that are numbers. ``names`` has the names
        of the kernel's module.
        """
        self._values, self._names, self._constants, self._memory = values, names, constants, memory

    def argument(self, name: str, kind: Type) -> Value:
        """Return an argument of this type. Raises KernelFileError."""
        if isinstance(kind, list):
            return tuple(
                self.argument("%s[%d]" % (name, index), part) for index, part in enumerate(kind)
            )
        if kind == _STREAM:
            return _stream()
        call = _MADE.fullmatch(kind)
        if call is not None:
            return self._argument_from_function(name, call["function"])
        pointer = _POINTER.fullmatch(kind)
        if pointer is not None:
            alignment = int(pointer["align"] or _USUAL_ALIGNMENT)
            address = self._memory.place(name, bytes=_bytes(pointer["element"]), align=alignment)
            return _pointer(pointer["element"], alignment, address)
        tensor = _TENSOR.fullmatch(kind)
        if tensor is None:
            return element(kind)(self._values.get(name, 1))
        try:
            return _tensor(name, _layout(tensor, self._values), self._memory)
        except ValueError as error:
            raise KernelFileError("signature.%s: %s: %s" % (name, kind, error)) from error

    def _argument_from_function(self, name: str, function: str) -> Any:
        """Return what a function in the kernel's source makes.

        The function gets a function that makes an argument of a type, and constexprs. Raises
        KernelFileError.
        """
        if not callable(self._names.get(function)):
            raise KernelFileError(
                "signature.%s: the source has no function %r: define it beside the kernel, or give"
                " a type" % (name, function)
            )
        make = self._names[function]
        others = list(_parameters(make))[1:]
        if not _parameters(make):
            raise KernelFileError(
                "signature.%s: %s() has no parameters: the first one must be the function that"
                " makes an argument of a type" % (name, function)
            )
        missing = [
            parameter
            for parameter in others
            if parameter not in self._constants and _is_required(make, parameter)
        ]
        if missing:
            raise KernelFileError(
                "signature.%s: %s() takes %s, to which [constexprs] gives no value"
                % (name, function, ", ".join(missing))
            )
        try:
            return make(
                partial(self.argument, name),
                **{
                    parameter: self._constants[parameter]
                    for parameter in others
                    if parameter in self._constants
                },
            )
        except KernelFileError:
            raise
        except Exception as error:
            line = _last_line(error)
            raise KernelFileError(
                "signature.%s: %s() failed%s: %s: %s"
                % (name, function, line, type(error).__name__, error)
            ) from error


def _is_required(function: Function, name: str) -> bool:
    parameter = _parameters(function)[name]
    return bool(parameter.default is parameter.empty)


def _last_line(error: BaseException) -> str:
    """Return the line that raised an exception, as a part of a message."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return " at line %d of %s" % (line, frame.f_code.co_filename.rpartition("/")[2])


class _TensorLayout(NamedTuple):
    """The layout that a tensor's type describes, with sizes instead of names."""

    element: str
    shape: list[int]
    strides: list[int]
    order: tuple[int, ...]
    """Modes from the outermost to the innermost; empty if all strides are numbers."""
    dynamic: dict[int, int]
    """Mode whose size is known only at run time → its divisor.

    For a tensor with strides, only modes with a divisor above 1 are here.
    """
    alignment: int
    exact: str = ""
    """The layout as the IR spells it, if the calls that mark a tensor dynamic cannot express it.
    """


def _layout(tensor: re.Match[str], named: dict[str, int]) -> _TensorLayout:
    sizes = [_size(text, named) for text in tensor["shape"].split(",")]
    shape = [size for size, _ in sizes]
    dynamic = {mode: divisor for mode, (_, divisor) in enumerate(sizes) if divisor}
    alignment = int(tensor["align"] or _USUAL_ALIGNMENT)
    if tensor["strides"] is None:
        leading = int(tensor["leading"]) if tensor["leading"] else len(shape) - 1
        if leading >= len(shape):
            raise ValueError("there is no mode %d, and leading counts from 0" % leading)
        order = _order(leading, len(shape))
        return _TensorLayout(
            tensor["element"], shape, _compact(shape, order), order, dynamic, alignment
        )
    strides = [_size(text, named) for text in tensor["strides"].split(",")]
    if len(strides) != len(shape):
        raise ValueError("there are %d sizes and %d strides" % (len(shape), len(strides)))
    if dynamic or any(divisor for _, divisor in strides):
        innermost = next(
            (mode for mode, (size, divisor) in enumerate(strides) if size == 1 and not divisor),
            None,
        )
        order = _order(len(shape) - 1 if innermost is None else innermost, len(shape))
        divisible = {mode: divisor for mode, divisor in dynamic.items() if divisor > 1}
        exact = "(%s):(%s)" % (
            ",".join(_in_ir(*size, "") for size in sizes),
            ",".join(_in_ir(*stride, _WIDE) for stride in strides),
        )
        return _TensorLayout(
            tensor["element"], shape, _compact(shape, order), order, divisible, alignment, exact
        )
    return _TensorLayout(tensor["element"], shape, [size for size, _ in strides], (), {}, alignment)


def _order(innermost: int, modes: int) -> tuple[int, ...]:
    """Return the modes in order, with the innermost one last."""
    return (*(mode for mode in range(modes) if mode != innermost), innermost)


def _size(text: str, named: dict[str, int]) -> tuple[int, int]:
    """Return a size and its divisor: ``64``, ``m``, ``k%8``.

    The divisor is 0 if the size is a number.
    """
    text = text.strip()
    if text.isdigit():
        return int(text), 0
    name, _, divisor = text.partition("%")
    return named.get(name, _ANY * int(divisor or 1)), int(divisor or 1)


def _in_ir(size: int, divisor: int, width: str) -> str:
    """Return a size or a stride as the IR spells it."""
    if not divisor:
        return str(size)
    attributes = " ".join(filter(None, [width, "div=%d" % divisor if divisor > 1 else ""]))
    return "?{%s}" % attributes if attributes else "?"


def _compact(shape: list[int], order: tuple[int, ...]) -> list[int]:
    strides, below = [0] * len(shape), 1
    for mode in reversed(order):
        strides[mode] = below
        below *= shape[mode]
    return strides


def _bytes(name: str) -> int:
    """Return the bytes of an element, or 0 for an unknown type."""
    return _ELEMENTS[name][2] // 8 if name in _ELEMENTS else 0


def _tensor(name: str, layout: _TensorLayout, memory: Memory) -> object:
    from cutlass.cute.runtime import from_dlpack

    _, code, bits = _ELEMENTS.get(layout.element, ("", 0, 0))
    kind = element(layout.element)
    facts = {
        "bytes": _bytes(layout.element),
        "align": layout.alignment,
        "shape": layout.shape,
        "strides": layout.strides,
    }
    nowhere = TensorNowhere(memory.place(name, **facts), code, bits, layout.shape, layout.strides)
    tensor = from_dlpack(nowhere, assumed_align=layout.alignment)
    tensor.element_type = kind
    if layout.exact:
        dynamic = from_dlpack(nowhere).mark_layout_dynamic(leading_dim=layout.order[-1])
        return _set_exact_type(tensor, layout, dynamic)
    for mode, divisor in layout.dynamic.items():
        tensor.mark_compact_shape_dynamic(
            mode=mode, stride_order=layout.order, divisibility=divisor
        )
    return tensor


def _set_exact_type(tensor: Tensor, layout: _TensorLayout, dynamic: Value) -> Any:
    """Return a tensor whose type contains exactly the known facts about its layout.

    ``dynamic`` is a tensor whose whole layout is known only at run time.
    """
    types_of = tensor.__get_mlir_types__

    def exact_types() -> list[object]:
        from cutlass._mlir import ir

        is_wide = _WIDE in str(dynamic.__get_mlir_types__()[0])  # strides, from 4.3 on
        exact = (
            layout.exact
            if is_wide
            else layout.exact.replace(_WIDE + " ", "").replace("{%s}" % _WIDE, "")
        )
        return [ir.Type.parse(_QUOTED.sub('"%s"' % exact, str(types_of()[0])))]

    tensor.__get_mlir_types__ = exact_types
    return tensor


def _pointer(name: str, alignment: int, address: int) -> object:
    from cutlass import cute
    from cutlass.cute.runtime import make_ptr

    return make_ptr(element(name), address, cute.AddressSpace.gmem, assumed_align=alignment)


def _stream() -> object:
    from cuda.bindings import driver

    return driver.CUstream(0)
