"""Facts of PyTorch that are known without it, from the target and from the toolchain's release."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..device import gpu
from .dtypes import FloatingLimits, dtype, dtypes, iinfo
from .ledger import LEDGER
from .opaque import AssumedInt, AssumedStr, Opaque, PartialObject, unavailable

if TYPE_CHECKING:
    from ...inside.foreign import Objects, Value

_NEWEST = "2.15.0"
"""The PyTorch release that is assumed if none is known for the toolchain's release."""
_CUDA = (((2, 4), "12.1"), ((2, 5), "12.4"), ((2, 7), "12.6"), ((2, 8), "12.8"), ((2, 11), "13.0"))
_HIP = (((2, 4), "6.1"), ((2, 5), "6.2"), ((2, 7), "6.3"), ((2, 8), "6.4"), ((2, 10), "7.1"))
"""The first release of PyTorch → the CUDA or ROCm version of its wheels. Other builds of the same
release exist.
"""
ABSENT = {"torch": ("aipu", "corex", "gcu", "hpu", "mlu", "musa", "npu", "ptpu", "txda")}
"""Names that PyTorch itself lacks and that its extensions add."""


def version() -> str:
    """Return the release of PyTorch that belongs to the toolchain's release in this env."""
    target = LEDGER.target
    return target.get("framework") or AssumedStr(target.get("assumed_framework", _NEWEST))


def _minor() -> tuple[int, int]:
    major, minor = version().split(".")[:2]
    return int(major), int(minor)


# --- classes --------------------------------------------------------------------------------------


class Tensor(PartialObject):
    """The class of tensors. It has no instances here."""


class Size(PartialObject, tuple):  # type: ignore[type-arg]
    """The shape of a tensor."""


class device(PartialObject):
    """A device, described by its name."""

    def __init__(self, type: object, index: int | None = None) -> None:
        kind, _, number = str(type).partition(":")
        self.type, self.index = kind, int(number) if number else index

    def __repr__(self) -> str:
        return "device(type=%r%s)" % (
            self.type,
            "" if self.index is None else ", index=%d" % self.index,
        )

    def __str__(self) -> str:
        return self.type if self.index is None else "%s:%d" % (self.type, self.index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


class Module(PartialObject):
    """``torch.nn.Module``, to derive from."""

    def __init__(self, *_: object, **__: object) -> None:
        raise unavailable("torch.nn.Module(…)")


class Function(PartialObject):
    """``torch.autograd.Function``, to derive from."""

    @classmethod
    def apply(cls, *_: object, **__: object) -> Opaque:
        """Return an unknown value, because the result is unknown."""
        return Opaque("torch.autograd.Function.apply(…)")


# --- decorators -----------------------------------------------------------------------------------


class no_grad:
    """A decorator or context manager that changes what PyTorch records.

    Nothing is recorded here, so a decorated function stays unchanged.
    """

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def __new__(cls, *arguments: object, **_: object) -> Any:
        """Accept both ``@torch.no_grad`` and ``@torch.no_grad()``."""
        if arguments and callable(arguments[0]):
            return arguments[0]
        return super().__new__(cls)

    def __call__(self, function: object) -> object:
        return function

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


def _decorator(*arguments: object, **_: object) -> object:
    """Return a Python function unchanged, as a decorator with or without arguments.

    The function is not called here.
    """
    if arguments and callable(arguments[0]) and not isinstance(arguments[0], Opaque):
        return _drop_decorator(arguments[0])
    return _drop_decorator


def _drop_decorator(function: object) -> object:
    if hasattr(function, "fn"):  # what the decorator does with a kernel is unknown
        return Opaque("torch.<decorator>(…)")
    return function


class _CustomOp(PartialObject):
    """The result of ``@torch.library.custom_op``.

    It can be called, and others can be registered with it.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        functools.update_wrapper(self, function)

    def __call__(self, *_: object, **__: object) -> Opaque:
        return Opaque("torch.library.custom_op(…)(…)")

    def register_fake(self, function: object = None, **_: object) -> object:
        """Return the function unchanged, or a decorator that does so."""
        return _drop_decorator if function is None else function

    def register_kernel(self, *_: object, **__: object) -> object:
        """Return a decorator that leaves the function unchanged."""
        return _drop_decorator

    register_vmap = register_torch_dispatch = register_autocast = register_kernel

    def register_autograd(self, *_: object, **__: object) -> None:
        """Do nothing, because nothing is differentiated here."""


def _custom_op(_name: object, function: Callable[..., object] | None = None, **_: object) -> object:
    return _CustomOp if function is None else _CustomOp(function)


def _registering(*arguments: object, **__: object) -> object:
    """Stand in for ``torch.library.register_fake("my::op", function)`` and similar functions.

    They are also decorators.
    """
    functions = [
        argument
        for argument in arguments[1:]
        if callable(argument) and not isinstance(argument, (str, Opaque))
    ]
    return functions[-1] if functions else _drop_decorator


class Library(PartialObject):
    """``torch.library.Library``."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def define(self, *_: object, **__: object) -> None:
        """Do nothing, because no operator is called here."""

    impl = fallback = define


# --- questions ------------------------------------------------------------------------------------

_NAME = "torch.cuda.get_device_name()"


def _is_hip() -> bool:
    return bool(LEDGER.target.get("backend") == "hip")


def _capability() -> tuple[int, int]:
    return gpu.capability(LEDGER.target)


def _model() -> str:
    if "gpu" not in LEDGER.target:
        raise unavailable(_NAME)
    return AssumedStr(LEDGER.target["gpu"])


def _answer_function(question: str, value: Callable[[], Value]) -> Callable[..., Any]:
    """Return a PyTorch function that gives this value for any arguments and records the answer."""

    def answer(*_: object, **__: object) -> Any:
        result = value()
        LEDGER.record_answer(
            "%s()" % question, result, isinstance(result, (AssumedInt, AssumedStr))
        )
        return result

    return answer


class StandInProperties:
    """The result of ``torch.cuda.get_device_properties()``.

    It has facts that follow from the target, and assumptions about it.
    """

    def __getattr__(self, name: str) -> Any:
        question = "torch.cuda.get_device_properties().%s" % name
        if name.startswith("__"):
            raise AttributeError(name)
        certain, assumed = (
            gpu.certain_properties(LEDGER.target),
            gpu.assumed_properties(LEDGER.target),
        )
        if name in certain:
            value = certain[name]
        elif name in assumed:
            value = (
                AssumedStr(assumed[name])
                if isinstance(assumed[name], str)
                else AssumedInt(assumed[name])
            )
        else:
            raise unavailable(_NAME if name in ("name", "multi_processor_count") else question)
        LEDGER.record_answer(question, value, name in assumed)
        return value


def _cuda_version() -> AssumedStr | None:
    return None if _is_hip() else _toolkit_release(_CUDA)


def _hip_version() -> AssumedStr | None:
    return _toolkit_release(_HIP) if _is_hip() else None


def _toolkit_release(releases: Any) -> AssumedStr:
    return AssumedStr([release for since, release in releases if since <= _minor()][-1])


_DEFAULT: dict[str, object] = {}
"""The default dtype, and whether algorithms are deterministic, once a module has set them."""
VALUES: dict[str, dict[str, Callable[[], object]]] = {
    "torch": {"__version__": version},
    "torch.version": {
        "__version__": version,
        "cuda": _cuda_version,
        "hip": _hip_version,
        "git_version": lambda: AssumedStr("Unknown"),
    },
}
"""Module → attribute → function that returns its value here.

The evidence names each use by a module of the tree.
"""


def _default_dtype() -> object:
    return _DEFAULT.get("dtype", dtypes(_minor())["float32"])


class finfo(FloatingLimits):
    """``torch.finfo``: the limits of a dtype, or of the default dtype."""

    def __init__(self, type: object = None) -> None:
        super().__init__(_default_dtype() if type is None else type)


@functools.lru_cache(maxsize=None)
def modules() -> dict[str, Objects]:
    """Return module → its known names that do not depend on the target.

    All other names are unknown.
    """
    library: dict[str, object] = dict.fromkeys(
        ("register_fake", "impl", "impl_abstract", "register_kernel", "register_autograd"),
        _registering,
    )
    library.update(
        dict.fromkeys(
            ("register_vmap", "register_autocast", "register_torch_dispatch", "opcheck"),
            _registering,
        )
    )
    library.update(custom_op=_custom_op, triton_op=_custom_op, Library=Library, define=_registering)
    amp = {"custom_fwd": _decorator, "custom_bwd": _decorator, "autocast": no_grad}
    no = dict.fromkeys(("is_available",), lambda *_: False)
    return {
        "torch": {
            **dtypes(_minor()),
            **dict.fromkeys(
                ("no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "autocast"),
                no_grad,
            ),
            "Tensor": Tensor,
            "dtype": dtype,
            "device": device,
            "Size": Size,
            "compile": _decorator,
            "is_tensor": lambda value: isinstance(value, Tensor),
            "finfo": finfo,
            "iinfo": iinfo,
            "get_default_dtype": _default_dtype,
            "set_default_dtype": lambda kind: _DEFAULT.update(dtype=kind),
            "are_deterministic_algorithms_enabled": _answer_function(
                "torch.are_deterministic_algorithms_enabled",
                lambda: bool(_DEFAULT.get("deterministic", False)),
            ),
            "use_deterministic_algorithms": lambda mode, **_: _DEFAULT.update(deterministic=mode),
        },
        "torch.nn": {"Module": Module},
        "torch.nn.modules": {},
        "torch.nn.functional": {},
        "torch.autograd": {"Function": Function, "no_grad": no_grad},
        "torch.autograd.function": {"once_differentiable": _drop_decorator, "Function": Function},
        "torch.jit": dict.fromkeys(
            ("script", "ignore", "unused", "export", "script_if_tracing"), _decorator
        ),
        "torch.compiler": {
            "disable": _decorator,
            "allow_in_graph": _decorator,
            "is_compiling": lambda: False,
        },
        "torch._dynamo": {"disable": _decorator, "allow_in_graph": _decorator},
        "torch.library": library,
        "torch.amp": amp,
        "torch.version": {"xpu": None},
        "torch.cuda": {
            "is_available": _answer_function("torch.cuda.is_available", lambda: True),
            "is_initialized": _answer_function("torch.cuda.is_initialized", lambda: False),
            "current_device": _answer_function("torch.cuda.current_device", lambda: 0),
            "device_count": _answer_function("torch.cuda.device_count", lambda: AssumedInt(1)),
            "get_device_capability": _answer_function(
                "torch.cuda.get_device_capability", _capability
            ),
            "get_device_name": _answer_function("torch.cuda.get_device_name", _model),
            "get_device_properties": lambda *_, **__: StandInProperties(),
            "is_bf16_supported": _answer_function(
                "torch.cuda.is_bf16_supported", lambda: gpu.has_bf16(LEDGER.target)
            ),
            "device": no_grad,
        },
        "torch.cuda.amp": amp,
        "torch.xpu": no,
        "torch.mps": no,
        "torch.backends": {},
        "torch.backends.mps": no,
        "torch.backends.cuda": {},
        "torch.backends.cudnn": {},
        "torch.distributed": {"is_xccl_available": lambda: False},
        "torch.utils": {},
        "torch.utils._triton": {
            "has_triton": _answer_function("torch.utils._triton.has_triton", lambda: True),
            "has_triton_package": _answer_function(
                "torch.utils._triton.has_triton_package", lambda: True
            ),
        },
        "torch.ops": {},
    }
