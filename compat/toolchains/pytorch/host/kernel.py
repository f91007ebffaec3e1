"""One cell's binary, loaded, and a problem's arguments as the bytes that it takes.

This module knows nothing about a compiler. The index says how arguments are packed, and what the
compile assumed about them.
"""

from __future__ import annotations

import ctypes
import re
import struct
from types import ModuleType
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Sequence, Tuple

from .cuda import CudaDriver, CudaError, CudaLaunch
from .prepared_problem import Prepared

if TYPE_CHECKING:
    from ...inside.foreign import Document, Objects, Tensor, Value

_ELEMENT = re.compile(r"(.+)\[(\d+)\]$")
USUAL_SHARED = 48 * 1024
"""Bytes of shared memory that a block may have without a request to the driver."""
_TF32 = 11
"""The driver's number of the element type of a tensor map that rounds fp32 to TF32."""
_REALS = {"f16": "<e", "f32": "<f", "f64": "<d"}
"""Packing of floating point numbers → their format for :mod:`struct`. ``bf16`` is the upper half of
an ``f32``.
"""


class RefusedArguments(Exception):
    """The arguments are not those that the kernel was compiled for. The message is a sentence."""


class Kernel:
    """One cell's binary, loaded."""

    def __init__(self, driver: CudaDriver, data: bytes) -> None:
        """Load the binary. Raises CudaError."""
        self._driver, self._module = driver, driver.load(data)

    def launch_of(self, problem: Prepared) -> Callable[[], None]:
        """Return a function that launches it on a problem without waiting.

        Raises RefusedArguments.
        """
        raise NotImplementedError

    def too_large(self) -> str:
        """Return why its block is too large for the GPU, or an empty text if no limit shows it."""
        return ""

    def close(self) -> None:
        """Unload the binary."""
        self._driver.unload(self._module)

    def _check_sizes(self, function: Value, expected: List[int]) -> None:
        """Raise RefusedArguments if a function takes parameters of other sizes than expected.

        The driver would read past the end of a list that is too short, in this process.
        """
        sizes = self._driver.parameter_sizes(function)
        if sizes is not None and sizes != expected:
            raise RefusedArguments(
                "the binary takes parameters of %s bytes, but a launch would pass %s"
                % (sizes, expected)
            )


class LoadedKernel(Kernel):
    """The kernel of one cell's binary, whose arguments are packed here."""

    def __init__(
        self, driver: CudaDriver, torch: ModuleType, device: str, facts: Document, data: bytes
    ) -> None:
        """Load a kernel. ``facts`` is ``launch`` of its cell.

        Raises CudaError, and RefusedArguments if its parameters differ from those in the index.
        """
        super().__init__(driver, data)
        self._torch, self._device, self.facts = torch, device, facts
        self._function = driver.function(self._module, self.facts["entry"])
        sizes = [parameter["size"] for parameter in self.facts["parameters"]]
        self._check_sizes(self._function, sizes)
        if self.facts["shared"] > USUAL_SHARED:
            driver.allow_shared(self._function, self.facts["shared"])
        if self.facts["non_portable"]:
            driver.allow_large_clusters(self._function)

    def too_large(self) -> str:
        """See :meth:`Kernel.too_large`. Raises CudaError."""
        x, y, z = self.facts["block"]
        most = self._driver.threads_of(self._function)
        if x * y * z <= most:
            return ""
        return "its block has %d threads, and its registers allow %d" % (x * y * z, most)

    def launch_of(self, problem: Prepared) -> CudaLaunch:
        """Return the launch on a problem. Raises RefusedArguments."""
        arguments = {**self.facts["defaults"], **problem.arguments}
        check_assumptions(self.facts, arguments)
        grid = self._grid(problem)
        if self.facts["cooperative"]:
            self._check_cooperative(grid)
        held, scratch = self._scratch(grid)
        made = dict(problem.made, arguments=arguments)
        values = values_of(self.facts["parameters"], made, scratch, self._driver)
        return CudaLaunch(self._driver, self._function, self.facts, grid, values, (held, problem))

    def _grid(self, problem: Prepared) -> Tuple[int, int, int]:
        """Return the grid, as three sizes.

        Raises RefusedArguments if tuning changes constexprs, and the grid is not a function of
        them.
        """
        varied = self.facts.get("varied")
        if varied and not callable(problem.made["grid"]):
            raise RefusedArguments(
                "tuning changes %s, so the grid of the problem must be a function of the constexprs"
                % ", ".join(varied)
            )
        x, y, z = (*problem.grid(self.facts.get("settings", {})), 1, 1)[:3]
        return x, y, z

    def _check_cooperative(self, grid: Tuple[int, int, int]) -> None:
        """Raise RefusedArguments if the GPU cannot run all blocks of a cooperative grid at once."""
        x, y, z = self.facts["block"]
        most = self._driver.most_blocks(self._function, x * y * z, self.facts["shared"])
        blocks = grid[0] * grid[1] * grid[2] * self.facts["num_ctas"]
        if blocks > most:
            raise RefusedArguments(
                "its cooperative grid has %d blocks, and this GPU runs %d of them at a time"
                % (blocks, most)
            )

    def _scratch(self, grid: Sequence[int]) -> Tensor:
        """Allocate the kernel's scratch memory.

        Return the tensors that hold it, and its addresses.
        """
        held, addresses = [], {}
        blocks = grid[0] * grid[1] * grid[2] * self.facts["num_ctas"]
        for parameter in self.facts["parameters"]:
            size = parameter.get("bytes", 0) * blocks
            if size:
                memory = self._torch.zeros(
                    size + parameter["align"], dtype=self._torch.uint8, device=self._device
                )
                address = memory.data_ptr()
                addresses[parameter["scratch"]] = address + -address % parameter["align"]
                held.append(memory)
        return held, addresses


def values_of(
    parameters: Iterable[Document], problem: Document, scratch: Dict[str, int], driver: CudaDriver
) -> List[Any]:
    """Return a ctypes object for each parameter.

    ``scratch`` has the addresses of memory that the host provides. Raises RefusedArguments.
    """
    return [_value(parameter, problem, scratch, driver) for parameter in parameters]


def _value(
    parameter: Document, problem: Document, scratch: Dict[str, int], driver: CudaDriver
) -> Value:
    if "scratch" in parameter:
        return ctypes.c_uint64(scratch.get(parameter["scratch"], 0))
    argument = argument_of(parameter["name"], problem["arguments"])
    options = problem["descriptors"].get(parameter["name"], {})
    if parameter["packing"] == "tensor_map":
        return bytes_of(_tensor_map(parameter, argument, options, driver))
    return bytes_of(_pack_parameter(parameter, argument, options))


def _tensor_map(parameter: Document, tensor: Value, options: Document, driver: CudaDriver) -> bytes:
    """Return a tensor map of a whole tensor. Raises RefusedArguments."""
    name, facts = parameter["name"], parameter["map"]
    if missing := sorted(set(options) - set(parameter["options"])):
        raise RefusedArguments(
            "descriptors of its release have no %s, which %s has" % (missing[0], name)
        )
    shape, strides = list(_part(parameter, tensor, "shape")), list(tensor.stride())
    _check_elements(name, tensor, facts)
    if len(shape) != len(facts["block"]) or strides[-1] != 1:
        raise RefusedArguments(
            "%s has %d axes and the innermost stride %d, and the kernel takes %d axes and stride 1"
            % (name, len(shape), strides[-1], len(facts["block"]))
        )
    if not driver.has("cuTensorMapEncodeTiled"):
        raise RefusedArguments("%s is a tensor descriptor, which the driver does not know" % name)
    element = _TF32 if options.get("round_f32_to_tf32") else facts["element"]
    pads_with_nan = options.get("padding") == "nan"
    try:
        return driver.tensor_map(tensor.data_ptr(), shape, strides, facts, element, pads_with_nan)
    except CudaError as error:
        raise RefusedArguments(
            "the driver makes no tensor map for %s, with shape %s and strides %s: %s"
            % (name, shape, strides, error)
        ) from error


def _check_elements(name: str, tensor: Value, facts: Document) -> None:
    """Raise RefusedArguments if a tensor has elements of another size than the facts say."""
    size = tensor.element_size()
    if facts.get("element_bytes", size) != size:
        raise RefusedArguments(
            "%s has elements of %d bytes, and the kernel was compiled for %d"
            % (name, size, facts["element_bytes"])
        )


def _part(parameter: Document, tensor: Value, part: str) -> Any:
    """Return the sizes or strides of a descriptor's tensor, in elements.

    Raises RefusedArguments.
    """
    if not hasattr(tensor, "stride"):
        raise RefusedArguments("%s is %r, but must be a tensor" % (parameter["name"], tensor))
    return tensor.shape if part == "shape" else tensor.stride()


def bytes_of(data: bytes) -> object:
    """Return bytes as a ctypes object."""
    return (ctypes.c_ubyte * len(data)).from_buffer_copy(data)


def argument_of(name: str, arguments: Dict[str, object]) -> Value:
    """Return an argument, or an element of one (``args[1]``). Raises RefusedArguments."""
    element = _ELEMENT.match(name)
    if element and name not in arguments:
        return argument_of(element.group(1), arguments)[int(element.group(2))]
    if name not in arguments:
        raise RefusedArguments("the problem has no argument %s" % name)
    return arguments[name]


def _pack_parameter(parameter: Document, value: Value, options: Document) -> bytes:
    """Return the bytes of one parameter. Whole numbers get the size that the kernel has for them.

    ``options`` has the options of a tensor descriptor. Raises RefusedArguments.
    """
    packing: str = parameter["packing"]
    size: int = parameter["size"]
    if packing == "option":
        value = options.get(parameter["option"]) in (True, "nan")
    elif packing in ("shape", "stride"):
        value = _part(parameter, value, packing)[parameter["axis"]]
    elif hasattr(value, "element_size"):
        _check_elements(parameter["name"], value, parameter)
    try:
        if packing == "address":
            return _address(value).to_bytes(size, "little")
        if packing == "bf16":
            return struct.pack("<f", float(value))[2:]
        if packing in _REALS:
            return struct.pack(_REALS[packing], float(value))
        return (int(value) & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
    except (TypeError, ValueError, OverflowError, struct.error) as error:
        facts = (parameter["name"], value, parameter["type"], error)
        raise RefusedArguments("%s is %r, which cannot be passed as %s (%s)" % facts) from error


def _address(value: Value) -> int:
    if value is None:
        return 0
    return int(value.data_ptr()) if hasattr(value, "data_ptr") else int(value)


def check_assumptions(facts: Document, arguments: Objects) -> None:
    """Raise RefusedArguments if an argument differs from the assumptions of the compile."""
    for name, factor in facts["multiples"].items():
        value = _number(argument_of(name, arguments))
        if value is not None and value % factor:
            raise RefusedArguments(
                "%s is not a multiple of %d, but the kernel was compiled for one" % (name, factor)
            )
    for name, number in facts["constants"].items():
        if _number(argument_of(name, arguments)) != number:
            raise RefusedArguments(
                "%s is not %s, but the kernel was compiled for %s" % (name, number, number)
            )


def _number(value: object) -> Any:
    if value is None or isinstance(value, (int, float)):
        return value
    return value.data_ptr() if hasattr(value, "data_ptr") else None
