"""The arguments of a compile, in the form that each release of Triton takes.

Attributes are facts about arguments: divisible by 16, equal to 1, pointer range.

========  ===============  =======================  ===========================================
release   constexprs       in the signature         attributes
========  ===============  =======================  ===========================================
3.0, 3.1  ``constants=``   no                       ``AttrsDescriptor``, by kind
3.2       ``constants=``   no                       ``AttrsDescriptor`` of the backend, by property
3.3 on    ``constexprs=``  yes, as ``"constexpr"``  ``{(index,): [["tt.divisibility", 16]]}``
========  ===============  =======================  ===========================================

Kernels of Gluon have an ``ASTSource`` of their own, with the arguments of 3.3 and later.

In 3.0 and 3.1, the attributes are ``AttrsDescriptor(divisible_by_16, equal_to_1)``. From 3.3 on,
arguments that are 1 are constexprs.

An argument may be a tuple from 3.3 on: a tuple of types in the signature, ``"constexpr"`` for
elements that are known, and values and attributes under a path, ``(index, element)``. Jobs have
arrays for tuples, and name elements ``args[1]``. Launchers up to 3.2 refuse tuples. Of a named
tuple, a kernel knows the names of the fields, but not the class.

A job's hints are facts about arguments: this pointer is divisible by 16, that number is 1. Each
release uses them in its own way, so the adapter calls the release's launch code with stand-ins for
the arguments. That code knows which attributes its backend needs (``tt.pointer_range`` on AMD, if
buffer operations are on), what ``do_not_specialize`` leaves out, and that an annotated argument is
not folded into a constant from 3.4 on.

If a job has a launch, the release's own ``JITFunction.run`` compiles it, and launches nothing
(:func:`compile_launch`). It decides about each argument: its type, whether it is divisible by 16,
whether a 1 is folded into the code, and what ``None``, a tuple or a tensor descriptor become.
Stand-ins replace tensors, and have the attributes of a tensor that a launch reads.
"""

from __future__ import annotations

import collections
import dataclasses
import importlib
import inspect
import re
from typing import TYPE_CHECKING, Any, Iterable, Tuple

from .driver import target

if TYPE_CHECKING:
    from ....inside.foreign import Document, Function, Objects, Value

_SMALL = 2**31 - 1
"""Maximum bytes of a tensor for which offsets fit into 32 bits."""
_NOTHING = 1.5
"""The stand-in for an argument that launches do not specialize on: a float, a boolean, a descriptor
or a constexpr.
"""
_UNTYPED = "fp32"
"""The type of a stand-in for a parameter that is not a run-time argument."""
_NUMBER = re.compile(r"[iu](?!1$)\d+")
_GATHERING = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_Path = Tuple[int, ...]
"""The number of a parameter, followed by indices into tuples."""


def constants(function: Function, job: Document) -> Objects:
    """Return the constexprs of a job as Python values."""
    while hasattr(function, "fn"):  # decorators that tune or choose, then the one that compiles
        function = function.fn
    names = getattr(function, "__globals__", {})
    return {name: constant(name, value, names) for name, value in job["constexprs"].items()}


def constant(name: str, value: object, names: dict[str, object]) -> object:
    """Return a constexpr from its JSON form.

    ``{"dtype": "int32"}`` is a Triton dtype, ``{"torch_dtype": "float16"}`` one of PyTorch,
    ``{"function": "add"}`` a function or class among the global ``names`` of the kernel's module,
    ``{"layout": "gl.BlockedLayout(…)"}`` a layout of Gluon, ``{"fields": {…}}`` a named tuple; a
    list is a tuple. Raises ImportError or AttributeError if this env does not have the value, and
    the error of an invalid layout.
    """
    if isinstance(value, list):
        return tuple(constant(name, element, names) for element in value)
    if not isinstance(value, dict):
        return value
    if "fields" in value:
        return _make_named_tuple(
            value, [constant(name, element, names) for element in value["fields"].values()]
        )
    if "dtype" in value:
        import triton.language as tl

        return tl.dtype(value["dtype"])
    if "torch_dtype" in value:
        return _torch_dtype(name, value["torch_dtype"])
    if "function" in value:
        if value["function"] not in names:
            raise AttributeError(
                "the constexpr %s names the function %r, which its file does not define here"
                % (name, value)
            )
        return names[value["function"]]
    if "layout" in value:
        return _layout(value["layout"])
    return None


def _make_named_tuple(value: Document, elements: Iterable[Any]) -> Any:
    """Return a named tuple of elements, with the fields of its JSON form."""
    return collections.namedtuple("Fields", value["fields"])(*elements)


def _elements(form: Any) -> Any:
    """Return the JSON forms of the elements of a tuple, or ``None`` for anything else."""
    if isinstance(form, (list, tuple)):
        return form
    return list(form["fields"].values()) if isinstance(form, dict) and "fields" in form else None


def _tuple(form: Value, elements: Iterable[object]) -> Any:
    """Return a tuple of elements, or a named tuple if its JSON form names fields."""
    return _make_named_tuple(form, elements) if isinstance(form, dict) else tuple(elements)


def _layout(text: str) -> object:
    """Return the layout that an expression means in this release.

    ``gl`` in it is Gluon's language. The driver has checked that the expression calls only names of
    ``gl``, with literals.
    """
    language = importlib.import_module("triton.experimental.gluon.language")
    return eval(text, {"__builtins__": {}, "gl": language})  # noqa: S307 - see above


def _torch_dtype(name: str, dtype: str) -> object:
    try:
        torch = importlib.import_module("torch")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "%s (the constexpr %s is torch.%s)" % (error, name, dtype), name=error.name
        ) from error
    return getattr(torch, dtype)


def with_defaults(
    function: Function, job: Document, values: dict[str, object]
) -> tuple[Document, dict[str, object]]:
    """Return a job and its constexprs with the parameters that it leaves out, by their defaults.

    A launch passes the defaults, too, so the job's ``defaults`` have those of run-time arguments.
    Raises TypeError if the function has other parameters here than the driver has read, because its
    file defines it differently for each release.
    """
    while not hasattr(function, "params") and hasattr(function, "fn"):
        function = function.fn
    if not hasattr(function, "params"):  # not a jit function, which the compile reports
        return dict(job, defaults={}), values
    values = dict(values)
    defaults: dict[str, object] = {}
    passed = {name.partition("[")[0] for name in (*job["signature"], *values)}
    if others := sorted(passed.difference(function.arg_names)):
        raise TypeError("%s has no parameter %s in this env" % (function.__name__, others[0]))
    for parameter in function.params:
        if parameter.is_constexpr and parameter.name in job["options"]:  # a launch passes it once
            values[parameter.name] = job["options"][parameter.name]
            continue
        if parameter.name in passed:
            continue
        if function.signature.parameters[parameter.name].kind in _GATHERING:
            raise TypeError(
                "%s takes any number of arguments as %s, which a kernel file cannot describe; give"
                " it one parameter for each argument, or one for a tuple"
                % (function.__name__, parameter.name)
            )
        if not parameter.has_default:
            raise TypeError(
                "%s has a parameter %s in this env, which has no type or value"
                % (function.__name__, parameter.name)
            )
        kept = values if parameter.is_constexpr else defaults
        kept[parameter.name] = parameter.default
    return dict(job, defaults=defaults), values


def type_of_number(value: object) -> str | None:
    """Return the type with which a launch passes a number; ``None`` for other values."""
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        return "i32" if -(2**31) <= value < 2**31 else "i64" if value < 2**63 else "u64"
    return "fp32" if isinstance(value, float) else None


def ast_source(function: object, job: Document, values: dict[str, object]) -> object:
    """Return the ``ASTSource`` of a job, in the form that this release takes.

    ``values`` are its constexprs.
    """
    source = _source_class(function)
    call = _Launch(function, job, values)
    top_level = {name: value for name, value in values.items() if "[" not in name}
    if "constexprs" in inspect.signature(source.__init__).parameters:
        specialization = call.specialization()
        signature = {
            **job["signature"],
            **specialization.types,
            **dict.fromkeys(top_level, "constexpr"),
        }
        folded: dict[Any, Any] = {**top_level, **specialization.constants}
        return source(
            fn=function,
            signature=call.in_order(signature),
            constexprs=folded,
            attrs=specialization.attributes,
        )
    call.without_tuples()
    for name, value in values.items():
        if callable(value):  # launchers of these releases raise the same error
            raise TypeError("Callable constexpr at index %s is not supported" % name)
    attributes, ones = call.descriptor()
    types = {**job["signature"], **call.types_of_defaults()}
    nothing = [name for name, default in job["defaults"].items() if default is None]
    folded = {**values, **dict.fromkeys(nothing), **dict.fromkeys(ones, 1)}
    signature = {name: kind for name, kind in types.items() if name not in folded}
    return source(
        fn=function, signature=call.in_order(signature), constants=folded, attrs=attributes
    )


def _source_class(function: Function) -> Any:
    """Return the class of the sources from which this release compiles a function."""
    if hasattr(function, "is_gluon") and function.is_gluon():
        return importlib.import_module("triton.experimental.gluon._runtime").GluonASTSource
    return importlib.import_module("triton.compiler.compiler").ASTSource


class _LauncherFacts:
    """The facts that a launcher finds about run-time arguments."""

    def __init__(self) -> None:
        self.types: Objects = {}
        """Name → type, or ``"constexpr"`` for an argument that becomes a constant."""
        self.constants: dict[_Path, object] = {}
        self.attributes: dict[_Path, object] = {}


class _Launch:
    """A launch of a kernel whose arguments have only the facts that a launch reads."""

    def __init__(self, function: Function, job: Document, values: Objects) -> None:
        from triton.compiler.compiler import make_backend

        self.function = function
        self.signature = job["signature"]
        self.defaults = job["defaults"]
        self.backend = make_backend(target(job["target"]))
        self.arguments = {
            parameter.name: _stand_in(
                parameter.name, job["signature"].get(parameter.name, _UNTYPED), job, values
            )
            for parameter in function.params
        }
        self.arguments.update(self.defaults)

    def specialization(self) -> _LauncherFacts:
        """Return the facts that the release's launcher finds, for releases from 3.3 on."""
        from triton.runtime.jit import create_function_from_signature

        compare_without_torch(self.backend)
        bind = create_function_from_signature(
            self.function.signature, self.function.params, self.backend
        )
        _, specialized, _ = bind(**self.arguments)
        result = _LauncherFacts()
        for index, (parameter, (kind, key)) in enumerate(zip(self.function.params, specialized)):
            name = parameter.name
            if name in self.signature or name in self.defaults:
                declared, argument = self.signature.get(name, kind), self.arguments[name]
                declared = self._type((index,), declared, argument, kind, key, result)
                result.types[name] = kind if name in self.defaults else declared
        return result

    def _type(
        self,
        path: _Path,
        declared: Value,
        argument: Value,
        kind: Value,
        key: Any,
        result: _LauncherFacts,
    ) -> Any:
        """Return the type of an argument or element.

        Adds its constants and attributes to ``result``.
        """
        inner = _elements(declared)
        if inner is not None:
            elements = enumerate(zip(inner, argument, kind, key))
            return _tuple(
                declared,
                [self._type((*path, index), *element, result) for index, element in elements],
            )
        if kind == "constexpr":
            result.constants[path] = argument
            return kind
        attributes = self.backend.parse_attr(key) if isinstance(key, str) else None
        if attributes:
            result.attributes[path] = attributes
        return declared

    def without_tuples(self) -> None:
        """Raise the error of the release's launcher if an argument is a tuple.

        This is for releases up to 3.2.
        """
        from triton.runtime.jit import mangle_type

        for name, kind in self.signature.items():
            if not isinstance(kind, str):
                mangle_type(self.arguments.get(name, ()))
                raise TypeError("tuples are not supported as arguments (%s)" % name)

    def types_of_defaults(self) -> dict[str, str]:
        """Return the types that launchers of releases up to 3.2 give to defaults."""
        from triton.runtime.jit import mangle_type

        return {
            parameter.name: parameter.annotation_type or mangle_type(self.defaults[parameter.name])
            for parameter in self.function.params
            if parameter.name in self.defaults
        }

    def descriptor(self) -> tuple[object, list[str]]:
        """Return the attributes as a descriptor, and the arguments that are folded into constants.

        Releases up to 3.2 take this form.
        """
        values = list(self.arguments.values())
        if hasattr(self.backend, "get_attrs_descriptor"):
            attributes = self.backend.get_attrs_descriptor(self.function.params, values)
            equal = attributes.get_constants()
        else:
            attributes = self.function._get_config(*values)
            equal = attributes.equal_to_1
        order, passed = self.function.arg_names, {*self.signature, *self.defaults}
        return attributes, [order[index] for index in equal if order[index] in passed]

    def in_order(self, signature: dict[str, str]) -> dict[str, str]:
        """Return the signature in the order of the function's parameters.

        Triton numbers arguments by position. Unknown names stay at the end, so that Triton reports
        them.
        """
        ordered = {name: signature[name] for name in self.function.arg_names if name in signature}
        ordered.update({name: kind for name, kind in signature.items() if name not in ordered})
        return ordered


def _stand_in(name: str, kind: Value, job: Document, values: dict[str, object]) -> object:
    """Return a value that has exactly the job's facts about this argument or element.

    A launch finds out these facts, and nothing else.
    """
    inner = _elements(kind)
    if inner is not None:
        return _tuple(
            kind,
            [
                _stand_in("%s[%d]" % (name, index), element, job, values)
                for index, element in enumerate(inner)
            ],
        )
    if kind == "constexpr":
        return constexpr(values[name])
    divisible = name in job["divisible_by_16"]
    if kind.startswith("*"):
        # The type is in the job's signature.
        return StandInTensor("fp32", divisible, name not in job["pointer_range_32"])
    if _NUMBER.fullmatch(kind):
        return 1 if name in job["equal_to_1"] else 16 if divisible else 3
    return _NOTHING


def constexpr(value: object) -> Any:
    """Return a known value in the form for an element of a tuple.

    Launchers take plain numbers in tuples for run-time arguments.
    """
    import triton.language as tl

    return value if value is None or callable(value) else tl.constexpr(value)


def compare_without_torch(backend: object) -> None:
    """Make AMD's backend ask stand-ins for their size instead of importing PyTorch.

    Backends up to 3.7 import it.
    """
    kind = type(backend)
    if hasattr(kind, "is_within_2gb"):
        kind.is_within_2gb = staticmethod(lambda argument: argument.ptr_range() <= _SMALL)


# --- jobs with a launch ---------------------------------------------------------------------------

_DESCRIPTOR = re.compile(r"tensordesc<(\w+)\[([\d, ]+)\](?:, ?(.+))?>")


def compile_launch(function: Function, job: Document, constexprs: dict[str, object]) -> object:
    """Return the kernel that the release compiles for a job's launch.

    Triton's driver must already report the job's target. Raises what a launch raises.
    """
    from triton.compiler.compiler import make_backend

    compare_without_torch(make_backend(target(job["target"])))
    names = getattr(function, "__globals__", {})
    arguments = {name: argument(value, names) for name, value in job["launch"].items()}
    arguments.update(constexprs)
    options = options_of(job)
    for name in options:  # a launch passes an option once, even if a parameter has its name
        arguments.pop(name, None)
    _forget(function)
    positional, named = _split_arguments(function, arguments)
    return function.run(*positional, grid=(1, 1, 1), warmup=True, **named, **options)


def options_of(job: Document) -> Objects:
    """Return the options of a job. JSON's arrays become tuples."""
    return {name: _hashable(value) for name, value in job["options"].items()}


def options_of_signature(function: Function, job: Document) -> Objects:
    """Return the options of a job without a launch, with ``debug`` of ``@triton.jit``.

    Launches pass it on, except in 3.2, where functions do not keep it.
    """
    options = options_of(job)
    if getattr(function, "debug", None):
        options.setdefault("debug", True)
    return options


def _hashable(value: object) -> object:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def argument(value: Value, names: Objects) -> Value:
    """Return the stand-in for an argument from its JSON form.

    ``names`` are those of the kernel's module.
    """
    inner = _elements(value)
    if inner is not None:
        return _tuple(value, [argument(element, names) for element in inner])
    if isinstance(value, dict) and "constexpr" in value:
        return constexpr(constant("launch", value["constexpr"], names))
    if isinstance(value, dict):
        return StandInTensor(value["tensor"], value.get("aligned", True), value.get("large", False))
    if isinstance(value, str):
        return StandInTensor(value[1:]) if value.startswith("*") else _descriptor(value)
    return value


class StandInTensor:
    """A stand-in for a tensor, with the attributes that a launch reads."""

    def __init__(self, dtype: str, aligned: bool = True, large: bool = False) -> None:
        self.dtype = _DTYPES.setdefault(dtype, Dtype(dtype))
        self._address = 4096 if aligned else 4100
        self._bytes = _SMALL + 1 if large else 4096

    def data_ptr(self) -> int:
        return self._address

    def ptr_range(self) -> int:
        return self._bytes


class Dtype(str):
    """An element type, which launches identify by its name in PyTorch or Triton."""

    itemsize: int
    is_floating_point: bool

    def __new__(cls, name: str) -> Dtype:
        dtype = super().__new__(cls, name)
        bits = re.search(r"^\D+(\d+)", name)
        dtype.itemsize = max(1, int(bits.group(1)) // 8) if bits else 1
        dtype.is_floating_point = name.startswith(("fp", "bf"))
        return dtype


_DTYPES: dict[str, Dtype] = {}
"""Name → type. Each exists once, as in PyTorch: launchers from 3.6 on compare types by address."""


def _descriptor(kind: str) -> object:
    """Return a host's descriptor of an aligned tensor with 16 blocks along each axis.

    A descriptor of Gluon has a layout. Raises ImportError if the release has no such descriptors.
    """
    match = _DESCRIPTOR.fullmatch(kind)
    assert match is not None
    block = [int(size) for size in match.group(2).split(",")]
    shape = [16 * size for size in block]
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    tensor = StandInTensor(match.group(1))
    if match.group(3):
        layout = _layout("gl." + match.group(3))
        gluon = importlib.import_module("triton.experimental.gluon.nvidia.hopper")
        return gluon.TensorDescriptor(tensor, shape, strides, block, layout)
    from triton.tools.tensor_descriptor import TensorDescriptor

    return TensorDescriptor(tensor, shape, strides, block)


def descriptor_of(tensor: Value, kind: str, options: Objects) -> object:
    """Return a host's descriptor of a tensor.

    ``kind`` is its type in a kernel file, and ``options`` are further arguments of this release's
    ``TensorDescriptor``. Raises ValueError if the release has no such descriptor.
    """
    match = _DESCRIPTOR.fullmatch(kind)
    if match is None:
        raise ValueError("a host cannot make the type %s" % kind)
    missing = sorted(set(options) - set(descriptor_options()))
    if missing:
        raise ValueError("tensor descriptors of this release have no %s" % ", ".join(missing))
    from triton.tools.tensor_descriptor import TensorDescriptor

    block = [int(size) for size in match.group(2).split(",")]
    try:
        return TensorDescriptor(tensor, list(tensor.shape), list(tensor.stride()), block, **options)
    except AssertionError as error:
        raise ValueError("the release refuses the descriptor: %s" % error) from None


def descriptor_options() -> list[str]:
    """Return the fields of this release's host descriptors after tensor, sizes, strides and block.

    3.4 has none, 3.5 has ``padding``, and 3.7 also has ``round_f32_to_tf32``. A launch passes them
    in this order. The list is empty if the release has no such descriptors.
    """
    try:
        from triton.tools.tensor_descriptor import TensorDescriptor
    except ImportError:
        return []
    return [field.name for field in dataclasses.fields(TensorDescriptor)][4:]


def _split_arguments(
    function: Function, arguments: dict[str, object]
) -> tuple[list[object], dict[str, object]]:
    """Return arguments by position up to the first gap, and the others by name.

    They are passed by position because ``run`` has parameters of its own.
    """
    remaining = dict(arguments)
    positional: list[object] = []
    for parameter in inspect.signature(function.fn).parameters.values():
        if parameter.name not in remaining or parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            break
        positional.append(remaining.pop(parameter.name))
    return positional, remaining


def _forget(function: Function) -> None:
    """Forget the function's earlier compiles, so that an equal launch compiles again.

    Also remove hooks that run before its launches.
    """
    for name in ("cache", "device_caches"):
        getattr(function, name, {}).clear()
    function.pre_run_hooks = []
