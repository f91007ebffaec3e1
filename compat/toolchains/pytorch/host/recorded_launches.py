"""Launches that were recorded during the compile, repeated with the tensors of a problem.

The bytes of each parameter are known for certain sizes of the arguments. Only the addresses in them
are replaced by those of this process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List

from .cuda import CudaDriver, CudaLaunch
from .kernel import USUAL_SHARED, Kernel, RefusedArguments, argument_of, bytes_of, check_assumptions
from .prepared_problem import Prepared

if TYPE_CHECKING:
    from ...inside.foreign import Document, Objects, Value

Recorded = Dict[str, Any]
"""The launches for one set of sizes, as in the index."""


class RecordedKernels(Kernel):
    """The kernels of one cell's binary, and their recorded launches."""

    def __init__(self, driver: CudaDriver, facts: Document, data: bytes) -> None:
        """Load the kernels of recorded launches. ``facts`` is ``launch`` of the cell.

        Raises CudaError, and RefusedArguments if a kernel's parameters differ from those in the
        index.
        """
        super().__init__(driver, data)
        self._facts = facts
        self._functions: Objects = {}
        launches = [launch for record in facts["recorded"] for launch in record["launches"]]
        for launch in launches:
            if launch["entry"] not in self._functions:
                self._functions[launch["entry"]] = driver.function(self._module, launch["entry"])
            sizes = [len(bytes.fromhex(parameter["data"])) for parameter in launch["parameters"]]
            self._check_sizes(self._functions[launch["entry"]], sizes)
        self._allow(launches)

    def _allow(self, launches: List[Recorded]) -> None:
        for entry, function in self._functions.items():
            of_entry = [launch for launch in launches if launch["entry"] == entry]
            shared = max(launch["shared"] for launch in of_entry)
            if shared > USUAL_SHARED:
                self._driver.allow_shared(function, shared)
            if any(launch["non_portable"] for launch in of_entry):
                self._driver.allow_large_clusters(function)

    def launch_of(self, problem: Prepared) -> Callable[[], None]:
        """Return a function that makes all launches on a problem, in order.

        Raises RefusedArguments.
        """
        check_assumptions(self._facts, problem.arguments)
        recorded = fitting(self._facts["recorded"], problem.arguments)
        launches = [self._launch(launch, problem) for launch in recorded["launches"]]

        def launch_all() -> None:
            for launch in launches:
                launch()

        return launches[0] if len(launches) == 1 else launch_all

    def _launch(self, launch: Recorded, problem: Prepared) -> CudaLaunch:
        x, y, z = launch["grid"]
        values = [
            bytes_of(patch_addresses(parameter, problem.arguments))
            for parameter in launch["parameters"]
        ]
        facts = dict(launch, grid_scale=[1, 1, 1])
        return CudaLaunch(
            self._driver, self._functions[launch["entry"]], facts, (x, y, z), values, problem
        )


def patch_addresses(parameter: Document, arguments: Dict[str, object]) -> bytes:
    """Return the bytes of a parameter, with the addresses of these arguments.

    Raises RefusedArguments.
    """
    data = bytearray.fromhex(parameter["data"])
    for offset, name, addend in parameter["patches"]:
        tensor = argument_of(name, arguments)
        if not hasattr(tensor, "data_ptr"):
            raise RefusedArguments("%s is %r, but must be a tensor" % (name, tensor))
        data[offset : offset + 8] = (tensor.data_ptr() + addend).to_bytes(8, "little")
    return bytes(data)


def fitting(recorded: List[Recorded], arguments: Dict[str, object]) -> Recorded:
    """Return the recorded launches for arguments of these sizes.

    Raises RefusedArguments if there are none.
    """
    for record in recorded:
        if all(
            _fits(facts, argument_of(name, arguments))
            for name, facts in record["arguments"].items()
        ):
            return record
    names = sorted({name for record in recorded for name in record["arguments"]})
    sizes = ", ".join(
        "%s %s" % (name, _describe_value(argument_of(name, arguments))) for name in names
    )
    raise RefusedArguments(
        "no launch was recorded for %s: name these sizes in the problem's `sizes` in the kernel"
        " file" % sizes
    )


def _fits(facts: Document, value: Value) -> bool:
    """Whether an argument has the facts for which launches were recorded."""
    if "value" in facts:
        return isinstance(value, (int, float)) and value == facts["value"]
    if not hasattr(value, "data_ptr") or value.element_size() != facts["bytes"]:
        return False
    if "shape" not in facts:
        return True
    return list(value.shape) == facts["shape"] and all(
        stride == expected_stride
        for size, stride, expected_stride in zip(value.shape, value.stride(), facts["strides"])
        if size != 1
    )


def _describe_value(value: Value) -> str:
    if not hasattr(value, "data_ptr"):
        return "= %r" % (value,)
    return "of %s, strides %s, elements of %d bytes" % (
        list(value.shape),
        list(value.stride()),
        value.element_size(),
    )
