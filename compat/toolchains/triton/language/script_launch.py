"""The call of a script whose kernel is described by a launch, as source text: the release's own launcher is asked, as in a program.

The call is the same for every release. Nothing is launched: one class stands for tensors, another for the GPU's driver.
"""

from __future__ import annotations

from typing import Any

from compat.bundle.bundle import Bundle
from compat.model import CompileSpec, Target, arguments, constexprs

_RUN = ("grid", "warmup")
"""Parameters of ``run`` itself: arguments of these names are passed by position."""
_WIDTH = 100


def launch_classes(spec: CompileSpec, gpu: str) -> list[str]:
    """The classes that the call needs, in lines."""
    return [*_DRIVER.format(gpu=gpu).splitlines(), *(_TENSOR.splitlines() if _has_tensors(spec) else ())]


def launch_call(bundle: Bundle, target: Target, order: tuple[str, ...], prediction: str) -> list[str]:
    """The lines that compile the kernel; ``order`` has its parameters. With ``prediction`` what came out is looked at."""
    spec = bundle.spec.compile
    given = {name: source(value) for name, value in spec.launch.items()}
    given |= {name: constexprs.source(value) for name, value in spec.constexprs.items()}
    given = {name: given[name] for name in order if name in given}
    last = max((index for index, name in enumerate(given) if name in _RUN), default=-1)
    words = [value if index <= last else f"{name}={value}" for index, (name, value) in enumerate(given.items())]
    words += ["grid=(1,)", "warmup=True", *(f"{name}={value!r}" for name, value in spec.options.items())]
    return [
        *(_DESCRIPTOR.splitlines() if any(map(arguments.is_descriptor, arguments.leaves(_passed(spec)))) else ()),
        *(_TORCH.splitlines() if target.backend == "hip" and _has_tensors(spec) else ()),
        "triton.runtime.driver.set_active(Driver())",
        f"{'compiled = ' if prediction else ''}{bundle.spec.function}.run(",
        *(f"    {line}" for line in _wrapped(words)),
        ")",
    ]


def launch_imports(spec: CompileSpec) -> frozenset[str]:
    """What the call needs to import, one statement each."""
    values = (*spec.constexprs.values(), *arguments.constants(spec.launch.values()))
    language = any(arguments.is_descriptor(leaf) or arguments.is_constant(leaf) for leaf in arguments.leaves(_passed(spec)))
    return frozenset(
        {
            "import triton",
            "from triton.backends.compiler import GPUTarget",
            *({"import triton.language as tl"} if language else ()),
            *constexprs.modules(values),
        }
    )


def source(value: Any) -> str:
    """What a launch passes as Python source, with the classes of the script."""
    if isinstance(value, tuple | list):
        inner = ", ".join(map(source, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if arguments.is_tensor(value):
        facts = arguments.facts_of(value)
        unusual = [*([] if facts[arguments.ALIGNED] else ["address=8"]), *(["size=2**31"] if facts[arguments.LARGE] else [])]
        return f"Tensor({', '.join([repr(arguments.dtype_of(value)).replace(chr(39), chr(34)), *unusual])})"
    if arguments.is_descriptor(value):
        return _descriptor(*arguments.descriptor(value))
    if arguments.is_constant(value):
        constant = value[arguments.CONSTANT]
        written = constexprs.source(constant)
        return written if constant is None or constexprs.functions([constant]) else f"tl.constexpr({written})"
    return constexprs.source(value)


def _has_tensors(spec: CompileSpec) -> bool:
    return any(arguments.is_tensor(leaf) or arguments.is_descriptor(leaf) for leaf in arguments.leaves(_passed(spec)))


def _passed(spec: CompileSpec) -> tuple[Any, ...]:
    return tuple(spec.launch.values())


def _descriptor(element: str, block: tuple[int, ...]) -> str:
    """One of a tensor with rows of 16 blocks."""
    shape, strides = [16 * size for size in block], [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    dtype = constexprs.source({"dtype": constexprs.DTYPES[element]})
    return f"TensorDescriptor(Tensor({dtype}), {shape}, {strides}, {list(block)})"


def _wrapped(words: list[str]) -> list[str]:
    """As few lines as hold the words, each with a comma behind it."""
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) > _WIDTH:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{word},"
    return lines


_DRIVER = '''\
class Driver:
    """Answers as the driver of a machine with that GPU would; it launches nothing."""

    def get_current_target(self):
        return {gpu}

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0


'''
_TENSOR = '''\
class Tensor:
    """What a launch looks at of a tensor: element type, address, size in bytes."""

    def __init__(self, dtype, address=16, size=16):
        self.dtype, self.address, self.size = dtype, address, size

    def data_ptr(self):
        return self.address

    def ptr_range(self):
        return self.size


'''
_DESCRIPTOR = """\
from triton.tools.tensor_descriptor import TensorDescriptor

"""
_TORCH = """\
try:  # AMD's launchers from 3.3 to 3.7 import it
    import torch  # noqa: F401
except ImportError:
    sys.modules["torch"] = type("torch", (), {"Tensor": type("Tensor", (), {})})
"""
