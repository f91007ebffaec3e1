"""The functions of the driver's library that launching needs, through ctypes.

``python cuda.py`` prints the GPUs that a process sees on this machine, as JSON on its standard
output: ``{"devices": [{"name", "arch", "identity", "visible"}], "why": why there are none}``. It
runs as a process of its own, because a driver can crash, hang, or stay in the process that calls
it.
"""

from __future__ import annotations

import ctypes
import json
import os
from ctypes import (
    POINTER,
    byref,
    c_char_p,
    c_float,
    c_int,
    c_size_t,
    c_ubyte,
    c_uint,
    c_uint64,
    c_void_p,
)
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple

if TYPE_CHECKING:
    from ...inside.foreign import Document, Value

LIBRARY = "libcuda.so.1"

_MOST_THREADS_OF_KERNEL = 0
_COMPUTE_MAJOR, _COMPUTE_MINOR, _L2_BYTES, _OPT_IN_SHARED, _MOST_THREADS = 75, 76, 38, 97, 1
_DYNAMIC_SHARED, _NON_PORTABLE_CLUSTER = 8, 14
_COOPERATIVE, _CLUSTER, _CLUSTER_POLICY, _PROGRAMMATIC_SERIALIZATION = 2, 4, 5, 6
_MULTIPROCESSORS = 16
_SPREAD = 1
_MAP_BYTES, _MAP_ALIGNMENT = 128, 64
_NOT_INTERLEAVED, _PROMOTED_TO_128_BYTES, _NAN_BEYOND = 0, 2, 1
_NOT_FROM_RUNNING = {701, 720}
"""CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES and CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: a launch that was
refused.
"""


class CudaError(Exception):
    """A call that the driver answered with an error."""

    def __init__(self, call: str, code: int, name: str) -> None:
        super().__init__("%s (%s)" % (name, call))
        self.call, self.code, self.name = call, code, name

    @property
    def is_fault(self) -> bool:
        """Whether a kernel that ran is the cause, and the context is gone."""
        return self.call == "cuCtxSynchronize" or (
            700 <= self.code < 800 and self.code not in _NOT_FROM_RUNNING
        )


class _Value(ctypes.Union):
    _fields_ = [("pad", c_ubyte * 64), ("cluster", c_uint * 3), ("number", c_int)]


class _Attribute(ctypes.Structure):
    _fields_ = [("id", c_int), ("pad", c_ubyte * 4), ("value", _Value)]


class _Config(ctypes.Structure):
    _fields_ = [
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("shared", c_uint),
        ("stream", c_void_p),
        ("attributes", POINTER(_Attribute)),
        ("count", c_uint),
    ]


_PROTOTYPES = {
    "cuInit": (c_uint,),
    "cuDriverGetVersion": (POINTER(c_int),),
    "cuDeviceGetCount": (POINTER(c_int),),
    "cuDeviceGet": (POINTER(c_int), c_int),
    "cuDeviceGetName": (c_char_p, c_int, c_int),
    "cuDeviceGetPCIBusId": (c_char_p, c_int, c_int),
    "cuDeviceGetUuid": (c_char_p, c_int),
    "cuDeviceGetUuid_v2": (c_char_p, c_int),
    "cuDeviceGetAttribute": (POINTER(c_int), c_int, c_int),
    "cuDevicePrimaryCtxRetain": (POINTER(c_void_p), c_int),
    "cuCtxSetCurrent": (c_void_p,),
    "cuCtxSynchronize": (),
    "cuModuleLoadData": (POINTER(c_void_p), c_char_p),
    "cuModuleUnload": (c_void_p,),
    "cuModuleGetFunction": (POINTER(c_void_p), c_void_p, c_char_p),
    "cuFuncGetAttribute": (POINTER(c_int), c_int, c_void_p),
    "cuFuncSetAttribute": (c_void_p, c_int, c_int),
    "cuFuncGetParamInfo": (c_void_p, c_size_t, POINTER(c_size_t), POINTER(c_size_t)),
    "cuLaunchKernel": (c_void_p, *(c_uint,) * 7, c_void_p, POINTER(c_void_p), POINTER(c_void_p)),
    "cuLaunchKernelEx": (POINTER(_Config), c_void_p, POINTER(c_void_p), POINTER(c_void_p)),
    "cuOccupancyMaxActiveBlocksPerMultiprocessor": (POINTER(c_int), c_void_p, c_int, c_size_t),
    "cuMemsetD8Async": (c_uint64, c_ubyte, c_size_t, c_void_p),
    "cuEventCreate": (POINTER(c_void_p), c_uint),
    "cuEventRecord": (c_void_p, c_void_p),
    "cuEventElapsedTime": (POINTER(c_float), c_void_p, c_void_p),
    "cuEventDestroy_v2": (c_void_p,),
    "cuTensorMapEncodeTiled": (
        c_void_p,
        c_int,
        c_uint,
        c_uint64,
        POINTER(c_uint64),
        POINTER(c_uint64),
        POINTER(c_uint),
        POINTER(c_uint),
        *(c_int,) * 4,
    ),
    "cuGetErrorName": (c_int, POINTER(c_char_p)),
}
_NOT_EVERYWHERE = {
    "cuDeviceGetPCIBusId",
    "cuDeviceGetUuid",
    "cuDeviceGetUuid_v2",
    "cuFuncGetParamInfo",
    "cuLaunchKernelEx",
    "cuTensorMapEncodeTiled",
}


class CudaLibrary:
    """The driver without a context: facts about all GPUs that this process sees."""

    def __init__(self, library: str = LIBRARY) -> None:
        """Raises OSError if the library or a function is missing, and CudaError without a GPU."""
        self._library = ctypes.CDLL(library)
        for name, arguments in _PROTOTYPES.items():
            function = getattr(self._library, name, None)
            if function is None:
                if name in _NOT_EVERYWHERE:
                    continue
                raise OSError("%s has no %s" % (library, name))
            function.argtypes, function.restype = list(arguments), c_int
        self.call("cuInit", 0)

    def call(self, name: str, *arguments: Value) -> None:
        """Call a function of the driver. Raises CudaError."""
        code = getattr(self._library, name)(*arguments)
        if code:
            raise CudaError(name, code, self.name_of(code))

    def number(self, name: str, *arguments: Value) -> int:
        """Call a function that writes a whole number, and return the number. Raises CudaError."""
        value = c_int()
        self.call(name, byref(value), *arguments)
        return value.value

    def pointer(self, name: str, *arguments: Value) -> c_void_p:
        """Call a function that writes a pointer, and return the pointer. Raises CudaError."""
        value = c_void_p()
        self.call(name, byref(value), *arguments)
        return value

    def name_of(self, code: int) -> str:
        """Return the driver's name of an error, such as ``CUDA_ERROR_ILLEGAL_ADDRESS``."""
        text = c_char_p()
        self._library.cuGetErrorName(code, byref(text))
        return text.value.decode() if text.value else "error %d" % code

    def has(self, name: str) -> bool:
        """Whether this driver has a function."""
        return getattr(self._library, name, None) is not None

    def devices(self) -> List[int]:
        """Return the handles of all GPUs, in their order. Raises CudaError."""
        return [self.handle(number) for number in range(self.number("cuDeviceGetCount"))]

    def handle(self, number: int) -> int:
        """Return the handle of one GPU. Raises CudaError."""
        return self.number("cuDeviceGet", number)

    def attribute(self, attribute: int, device: int) -> int:
        """Return the value of an attribute of a GPU. Raises CudaError."""
        return self.number("cuDeviceGetAttribute", attribute, device)

    def name_of_device(self, device: int) -> str:
        """Return the name of a GPU. Raises CudaError."""
        buffer = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", buffer, len(buffer), device)
        return buffer.value.decode(errors="replace")

    def capability_of(self, device: int) -> Tuple[int, int]:
        """The compute capability of a GPU."""
        return self.attribute(_COMPUTE_MAJOR, device), self.attribute(_COMPUTE_MINOR, device)

    def identity_of(self, device: int) -> str:
        """Return an identity of a GPU that is the same in every process of this machine.

        Its number can differ between processes. The result is empty if the driver reports none.
        """
        identity = ctypes.create_string_buffer(16)
        for name in ("cuDeviceGetUuid_v2", "cuDeviceGetUuid"):
            if self.has(name) and getattr(self._library, name)(identity, device) == 0:
                return identity.raw.hex()
        return ""


class CudaDriver(CudaLibrary):
    """The driver, with the primary context of device 0 as the current one, as in PyTorch."""

    def __init__(self, library: str = LIBRARY) -> None:
        """Raises OSError if the library or a function is missing, and CudaError without a GPU."""
        super().__init__(library)
        self.device = self.handle(0)
        self.call("cuCtxSetCurrent", self.pointer("cuDevicePrimaryCtxRetain", self.device))

    def synchronize(self) -> None:
        """Wait for all launches. Raises CudaError."""
        self.call("cuCtxSynchronize")

    # --- the device ---

    @property
    def name(self) -> str:
        """The name of the GPU."""
        return self.name_of_device(self.device)

    @property
    def bus(self) -> bytes:
        """The GPU's PCI bus identifier for the management library; empty if it is unknown."""
        buffer = ctypes.create_string_buffer(64)
        if self.has("cuDeviceGetPCIBusId"):
            self.call("cuDeviceGetPCIBusId", buffer, len(buffer), self.device)
        return buffer.value

    @property
    def version(self) -> str:
        """The CUDA version of the driver."""
        version = self.number("cuDriverGetVersion")
        return "%d.%d" % (version // 1000, version % 1000 // 10)

    @property
    def capability(self) -> Tuple[int, int]:
        """The compute capability."""
        return self.capability_of(self.device)

    @property
    def l2_bytes(self) -> int:
        """Bytes of its second-level cache."""
        return self.attribute(_L2_BYTES, self.device)

    @property
    def opt_in_shared(self) -> int:
        """Bytes of shared memory that one block may have."""
        return self.attribute(_OPT_IN_SHARED, self.device)

    @property
    def most_threads(self) -> int:
        """Threads that one block may have."""
        return self.attribute(_MOST_THREADS, self.device)

    # --- kernels ---

    def load(self, data: bytes) -> c_void_p:
        """Load a module. Raises CudaError."""
        return self.pointer("cuModuleLoadData", data)

    def unload(self, module: c_void_p) -> None:
        """Unload a module. Raises CudaError."""
        self.call("cuModuleUnload", module)

    def function(self, module: c_void_p, entry: str) -> c_void_p:
        """Return a kernel of a module. Raises CudaError."""
        return self.pointer("cuModuleGetFunction", module, entry.encode())

    def parameter_sizes(self, function: c_void_p) -> Optional[List[int]]:
        """Return the bytes of each parameter of a kernel.

        Returns ``None`` if the driver does not report them (before CUDA 12.4).
        """
        if not self.has("cuFuncGetParamInfo"):
            return None
        sizes: List[int] = []
        offset, size = c_size_t(), c_size_t()
        while (
            self._library.cuFuncGetParamInfo(function, len(sizes), byref(offset), byref(size)) == 0
        ):
            sizes.append(size.value)
        return sizes

    def threads_of(self, function: c_void_p) -> int:
        """Return the most threads of a kernel's block for which this GPU has enough registers."""
        return self.number("cuFuncGetAttribute", _MOST_THREADS_OF_KERNEL, function)

    def most_blocks(self, function: c_void_p, threads: int, shared: int) -> int:
        """Return the number of a kernel's blocks that this GPU runs at once. Raises CudaError."""
        count = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
        blocks = self.number(count, function, threads, shared)
        return blocks * self.attribute(_MULTIPROCESSORS, self.device)

    def allow_shared(self, function: c_void_p, size: int) -> None:
        """Allow more dynamic shared memory than every GPU allows by default. Raises CudaError."""
        self.call("cuFuncSetAttribute", function, _DYNAMIC_SHARED, size)

    def allow_large_clusters(self, function: c_void_p) -> None:
        """Allow clusters of more than 8 blocks. Raises CudaError."""
        self.call("cuFuncSetAttribute", function, _NON_PORTABLE_CLUSTER, 1)

    def tensor_map(
        self,
        address: int,
        shape: Sequence[int],
        strides: Sequence[int],
        facts: Document,
        element: int,
        pads_with_nan: bool,
    ) -> bytes:
        """Return the tensor map of a tensor: 128 bytes by which a kernel finds its tiles.

        ``shape`` and ``strides`` are in elements, the outermost first, and the innermost stride is
        1. ``facts`` is the ``map`` of a parameter. ``element`` is the driver's number of the
        element type. Raises CudaError, for example for a stride that is not a multiple of 16 bytes.
        """
        rank, inner = len(shape), [facts["element_bytes"] * stride for stride in strides[-2::-1]]
        sizes = [*shape[::-1]]
        if facts["fp4_padded"]:  # the map counts half bytes
            sizes[0] *= 2
        memory = ctypes.create_string_buffer(_MAP_BYTES + _MAP_ALIGNMENT)
        start = -ctypes.addressof(memory) % _MAP_ALIGNMENT
        self.call(
            "cuTensorMapEncodeTiled",
            ctypes.addressof(memory) + start,
            element,
            rank,
            address,
            (c_uint64 * rank)(*sizes),
            (c_uint64 * rank)(*inner, 0),
            (c_uint * rank)(*facts["block"][::-1]),
            (c_uint * rank)(*[1] * rank),
            _NOT_INTERLEAVED,
            facts["swizzle"],
            _PROMOTED_TO_128_BYTES,
            _NAN_BEYOND if pads_with_nan else 0,
        )
        return memory.raw[start : start + _MAP_BYTES]

    def event(self) -> c_void_p:
        """Return a new event that records its time. Raises CudaError."""
        return self.pointer("cuEventCreate", 0)

    def microseconds(self, start: c_void_p, end: c_void_p) -> float:
        """Return the microseconds between two events that have happened. Raises CudaError."""
        milliseconds = c_float()
        self.call("cuEventElapsedTime", byref(milliseconds), start, end)
        return milliseconds.value * 1000.0


class CudaLaunch:
    """One kernel with its arguments, for any number of launches on the default stream."""

    def __init__(
        self,
        driver: CudaDriver,
        function: c_void_p,
        facts: Document,
        grid: Tuple[int, int, int],
        values: List[Any],
        held: object = None,
    ) -> None:
        """Prepare a launch.

        ``values`` are ctypes objects, one for each parameter. ``held`` must live as long as the
        launch.
        """
        self._driver, self._function, self._values, self._held = driver, function, values, held
        self._array = (c_void_p * max(1, len(values)))(
            *(ctypes.addressof(value) for value in values)
        )
        scaled = [size * scale for size, scale in zip(grid, facts["grid_scale"])]
        self._attributes = _attributes(facts)
        attributes = (_Attribute * max(1, len(self._attributes)))(*self._attributes)
        self._kept = attributes
        self._config = _Config(
            grid=(c_uint * 3)(*scaled),
            block=(c_uint * 3)(*facts["block"]),
            shared=facts["shared"],
            stream=None,
            attributes=attributes,
            count=len(self._attributes),
        )
        self._plain = (*scaled, *facts["block"], facts["shared"], None)
        self._is_empty = 0 in scaled

    def __call__(self) -> None:
        """Launch the kernel without waiting. Raises CudaError."""
        if self._is_empty:
            return
        if self._attributes:
            self._driver.call(
                "cuLaunchKernelEx", byref(self._config), self._function, self._array, None
            )
        else:
            self._driver.call("cuLaunchKernel", self._function, *self._plain, self._array, None)


def _attributes(facts: Document) -> List[_Attribute]:
    attributes: List[_Attribute] = []
    if facts["pdl"]:
        attributes.append(_Attribute(id=_PROGRAMMATIC_SERIALIZATION, value=_Value(number=1)))
    if facts["cooperative"]:
        attributes.append(_Attribute(id=_COOPERATIVE, value=_Value(number=1)))
    if facts["cluster"]:
        attributes.append(
            _Attribute(id=_CLUSTER, value=_Value(cluster=(c_uint * 3)(*facts["cluster"])))
        )
        attributes.append(
            _Attribute(
                id=_CLUSTER_POLICY, value=_Value(number=facts.get("cluster_policy", _SPREAD))
            )
        )
    return attributes


# --- the visible GPUs -----------------------------------------------------------------------------


def list_gpus(library: str = LIBRARY) -> Document:
    """Return the GPUs that this process sees, or why it sees none."""
    try:
        driver = CudaLibrary(library)
        devices = driver.devices()
    except OSError:
        return {"devices": [], "why": "it has no driver for a GPU (%s)" % library}
    except CudaError as error:
        return {"devices": [], "why": "its driver says %s" % error.name}
    gpus = []
    for number, device in enumerate(devices):
        major, minor = driver.capability_of(device)
        identity = driver.identity_of(device) or "number-%d" % number
        visible = _visible(number) if len(devices) > 1 else None
        gpus.append(
            {
                "name": driver.name_of_device(device),
                "arch": 10 * major + minor,
                "identity": identity,
                "visible": visible,
            }
        )
    return {"devices": gpus, "why": ""}


def _visible(number: int) -> str:
    """Return the value of ``CUDA_VISIBLE_DEVICES`` that makes this GPU the only visible one."""
    entries = [part.strip() for part in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")]
    return entries[number] if number < len(entries) and entries[number] else str(number)


if __name__ == "__main__":
    os.write(1, json.dumps(list_gpus()).encode())
