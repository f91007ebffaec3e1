"""The launches of a compiled function, recorded by running it without a GPU.

The tensors have addresses, but no memory.

CuTe DSL compiles a ``@cute.jit`` function for the host, too. This host code computes grids, shared
memory and tensor maps, and packs tensors into the parameters of kernels. Each release does so in
another way. All of this code is in the compiled module. It calls a few functions of the CUDA driver
(up to 4.2), or of CuTe DSL's own library (from 4.3 on). Functions of this module replace them, and
record the launches.

The bytes of the parameters show the addresses of tensors, because no other value looks like one.
Tensor maps contain addresses, too. The function encodes them itself. The function runs a second
time with all addresses moved. All bytes that differ then must be addresses. Otherwise the launch
cannot be recorded.
"""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Callable, Iterator
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint, c_void_p, cast
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from . import arguments, built

if TYPE_CHECKING:
    from ....inside.foreign import Document, Function, Objects, Value
    from ..foreign import Compiler, MlirModule, Type

SIZES = ("sizes", "large_sizes")
"""The parameters of a problem with the sizes of the recorded launches."""
_BASES = (0x2B67_0000_0000_0000 >> 16, 0x3D19_0000_0000_0000 >> 16)
"""The first addresses of tensors in the two runs, below 2^47 like all addresses."""
_ENTRY = re.compile(
    r"llvm\.func @(?P<name>_mlir_ciface_[\w$.]+)\((?P<parameters>[^\n]*?)\)(?P<status> -> i32)?"
    r" attributes"
)
_PARAMETER = re.compile(r"%arg\d+:")
_DECLARED = re.compile(r"^  llvm\.func @(?P<name>_?cu(?:da)?[A-Z]\w*)\([^\n{]*$", re.MULTILINE)
_LOAD = "cuda_load"
"""The function of a module that loads its kernels, from 4.3 on."""
_HANDLE = 0x1000
_OK, _UNKNOWN = 0, 1

_COOPERATIVE, _CLUSTER, _CLUSTER_POLICY, _PROGRAMMATIC = 2, 4, 5, 6
"""Attributes of a launch, as the driver numbers them."""
_LARGEST_PORTABLE = 8
"""The most blocks of a cluster that every GPU with clusters can run."""
_OPT_IN_SHARED, _SHARED = 97, 81
"""Attributes of a GPU: shared memory of a block, and of a multiprocessor."""
_COMPUTE_MAJOR, _COMPUTE_MINOR = 75, 76


class UnrecordableLaunch(Exception):
    """A launch cannot be recorded. The message says why, as the end of a sentence."""


class _LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", c_int), ("padding", c_int), ("value", c_uint * 16)]


def _config(size: Any) -> Any:
    """Return the structure of a launch's configuration, whose shared memory has this type."""

    class LaunchConfig(ctypes.Structure):
        _fields_ = [
            ("grid", c_uint * 3),
            ("block", c_uint * 3),
            ("shared", size),
            ("stream", c_void_p),
            ("attributes", POINTER(_LaunchAttribute)),
            ("count", c_uint),
        ]

    return LaunchConfig


_DriverConfig, _RuntimeConfig = _config(c_uint), _config(c_size_t)


class Launch(NamedTuple):
    """A kernel that was launched."""

    entry: str
    grid: list[int]
    block: list[int]
    shared: int
    attributes: dict[int, list[int]]
    parameters: list[bytes]


_VARYING = Launch._fields.index("attributes")
"""The number of the first field of a launch that can contain bytes that no code wrote."""


class HostFunction:
    """The host code of a compiled function, which can be called on this machine."""

    def __init__(
        self,
        compiler: Compiler,
        module: MlirModule,
        cubin: bytes,
        kernels: list[str],
        target: Document,
    ) -> None:
        """Prepare to call the compiled function.

        ``kernels`` has the names of the kernels that the function gets as arguments, in order, in
        releases where it does not look them up by name. Raises UnrecordableLaunch.
        """
        text = str(module)
        entry = _ENTRY.search(text)
        if entry is None:
            raise UnrecordableLaunch("the compiled module has no function that could be called")
        self._name, self._has_status = entry["name"], entry["status"] is not None
        self._parameters = len(_PARAMETER.findall(entry["parameters"]))
        self._driver = _Driver(
            {name: built.parameter_sizes(cubin, name) for name in built.entries_of(cubin)}, target
        )
        _zero_stack(module)
        self._engine = compiler.execution_engine.ExecutionEngine(
            module, opt_level=2, shared_libs=[]
        )
        for name in _DECLARED.findall(text):
            self._engine.raw_register_runtime(name, cast(self._driver.function(name), c_void_p))
        self._kernels = [c_void_p(self._driver.handle(name)) for name in kernels]
        if "llvm.func @%s(" % _LOAD in text:
            self._load()

    def _load(self) -> None:
        libraries = (c_void_p * 64)(*[_HANDLE] * 64)
        pointer, status = c_void_p(ctypes.addressof(libraries)), c_int(_UNKNOWN)
        self._call(_LOAD, [ctypes.addressof(pointer), ctypes.addressof(status)])
        if status.value != _OK:
            raise UnrecordableLaunch(
                self._driver.why or "the compiled module does not find its kernels"
            )

    def launches(self, values: list[Any]) -> list[Launch]:
        """Return the launches of the function with these arguments. Raises UnrecordableLaunch."""
        held = [pointer for value in values for pointer in _pointers(value)]
        status = c_int(_OK)
        addresses = [pointer if isinstance(pointer, int) else pointer.value for pointer in held]
        addresses += [ctypes.addressof(kernel) for kernel in self._kernels]
        if len(addresses) != self._parameters:
            raise UnrecordableLaunch(
                "the compiled function takes %d arguments, not %d"
                % (self._parameters, len(addresses))
            )
        if self._has_status:
            addresses.append(ctypes.addressof(status))
        self._driver.launches = []
        self._call(self._name, addresses)
        if self._driver.why or status.value != _OK:
            raise UnrecordableLaunch(
                self._driver.why or "the compiled function ends with error %d" % status.value
            )
        return self._driver.launches

    def _call(self, name: str, addresses: list[int]) -> None:
        function = self._engine.raw_lookup(name)
        if not function:
            raise UnrecordableLaunch("the compiled module has no function %s" % name)
        ctypes.CFUNCTYPE(None, c_void_p)(function)((c_void_p * max(1, len(addresses)))(*addresses))


def _pointers(value: Value) -> list[Any]:
    """Return the pointers that a compiled function takes for an argument.

    Raises UnrecordableLaunch.
    """
    if isinstance(value, tuple):
        return [pointer for part in value for pointer in _pointers(part)]
    if hasattr(value, "__c_pointers__"):
        return list(value.__c_pointers__())
    if hasattr(value, "getPtr"):  # a stream
        return [value.getPtr()]
    raise UnrecordableLaunch(
        "it is unknown how an argument of the type %s is passed" % type(value).__name__
    )


def _zero_stack(module: MlirModule) -> None:
    """Make a module fill its stack memory with zeros.

    The module also passes on padding, which no code writes.
    """
    from cutlass._mlir import ir

    pairs = [
        pair
        for operation in module.body.operations
        if operation.operation.name == "llvm.func"
        for region in operation.operation.regions
        for block in region.blocks
        for pair in pairwise(block.operations)
        if pair[0].operation.name == "llvm.alloca"
    ]
    with module.context, ir.Location.unknown():
        for alloca, following in pairs:
            with ir.InsertionPoint(following):
                _zero(ir, alloca.operation)


def _zero(ir: Any, alloca: Any) -> None:
    pointer, byte, word = (ir.Type.parse(name) for name in ("!llvm.ptr", "i8", "i64"))

    def make_value(name: str, kind: Type, *operands: Any, **attributes: Any) -> Any:
        return ir.Operation.create(
            name, results=[kind], operands=list(operands), attributes=attributes
        ).result

    kind, one = alloca.attributes["elem_type"], ir.Attribute.parse("array<i32: 1>")
    behind = make_value(
        "llvm.getelementptr",
        pointer,
        make_value("llvm.mlir.zero", pointer),
        elem_type=kind,
        rawConstantIndices=one,
    )
    count = alloca.operands[0]
    count = count if str(count.type) == "i64" else make_value("llvm.sext", word, count)
    size = make_value("llvm.mul", word, make_value("llvm.ptrtoint", word, behind), count)
    zero = make_value("llvm.mlir.constant", byte, value=ir.IntegerAttr.get(byte, 0))
    # LLVM believes that storing a structure fills its padding, and would drop plain zeros.
    memset_attributes = {"isVolatile": ir.BoolAttr.get(True)}
    ir.Operation.create(
        "llvm.intr.memset", operands=[alloca.results[0], zero, size], attributes=memset_attributes
    )


# --- replacements of the driver -------------------------------------------------------------------


class _Driver:
    """The functions of the driver and of CuTe DSL's runtime library that launches need."""

    def __init__(self, sizes: dict[str, list[int]], target: Document) -> None:
        """``sizes`` has the bytes of each kernel's parameters, by kernel."""
        self._sizes, self._target = sizes, target
        self._names: list[str] = []
        self._held: list[Any] = []
        self.launches: list[Launch] = []
        self.why = ""
        """The reason why the first failed call failed; empty if none failed."""

    def handle(self, name: str) -> int:
        """Return a new handle for a kernel."""
        self._names.append(name)
        return _HANDLE + len(self._names) - 1

    def function(self, name: str) -> Function:
        """Return the function that replaces the one of this name.

        Raises UnrecordableLaunch if there is none.
        """
        if name not in _FUNCTIONS:
            raise UnrecordableLaunch("the compiled function calls %s" % name)
        kinds, answer = _FUNCTIONS[name]

        def answer_call(*args: Any) -> int:
            try:
                return answer(self, *args)
            except Exception as error:  # it cannot pass through compiled code
                self.why = self.why or str(error)
                return _UNKNOWN

        function = ctypes.CFUNCTYPE(c_int, *kinds)(answer_call)
        self._held.append(function)
        return function

    def launch_by_driver(self, kernel: int, *rest: Value) -> int:
        grid, block, (shared, _, parameters, _) = rest[:3], rest[3:6], rest[6:]
        return self._launch(kernel, grid, block, shared, {}, parameters)

    def launch_config_by_driver(self, config: int, kernel: int, parameters: int, _: int) -> int:
        return self._launch_config(cast(config, POINTER(_DriverConfig))[0], kernel, parameters)

    def launch(self, kernel: int, *rest: Value) -> int:
        grid, block, (parameters, shared, _) = rest[:3], rest[3:6], rest[6:]
        return self._launch(kernel, grid, block, shared, {}, parameters)

    def launch_config(self, config: int, kernel: int, parameters: int) -> int:
        return self._launch_config(cast(config, POINTER(_RuntimeConfig))[0], kernel, parameters)

    def _launch_config(self, config: Value, kernel: int, parameters: int) -> int:
        attributes = {
            config.attributes[at].id: list(config.attributes[at].value)
            for at in range(config.count)
        }
        return self._launch(
            kernel, config.grid, config.block, config.shared, attributes, parameters
        )

    def _launch(
        self,
        kernel: int,
        grid: Value,
        block: Value,
        shared: int,
        attributes: dict[int, list[int]],
        address: int,
    ) -> int:
        entry = self._names[kernel - _HANDLE]
        if entry not in self._sizes:
            raise UnrecordableLaunch("the kernel %s is in none of the kept binaries" % entry)
        pointers = cast(address, POINTER(c_void_p))
        parameters = [
            ctypes.string_at(pointers[at], size) for at, size in enumerate(self._sizes[entry])
        ]
        self.launches.append(
            Launch(entry, list(grid), list(block), int(shared), attributes, parameters)
        )
        return _OK

    def get_kernel(self, kernel: int, library: int, name: int) -> int:
        cast(kernel, POINTER(c_void_p))[0] = self.handle(
            (cast(name, c_char_p).value or b"").decode()
        )
        return _OK

    def device_attribute(self, value: int, attribute: int, device: int) -> int:
        shared, arch = self._target["shared_memory"], self._target["arch"]
        attributes = {
            _OPT_IN_SHARED: shared,
            _SHARED: shared + 1024,
            _COMPUTE_MAJOR: arch // 10,
            _COMPUTE_MINOR: arch % 10,
        }
        if attribute not in attributes:
            raise UnrecordableLaunch(
                "the compiled function asks for attribute %d of the GPU" % attribute
            )
        return _store(value, attributes[attribute])

    def kernel_attribute(self, value: int, attribute: int, kernel: int, device: int) -> int:
        return _store(value, 0)

    def device(self, value: int) -> int:
        return _store(value, 0)

    def nothing(self, *_: object) -> int:
        return _OK

    def occupancy(self, *_: object) -> int:
        raise UnrecordableLaunch(
            "the compiled function asks how many blocks fit on a multiprocessor"
        )


def _store(address: int, value: int) -> int:
    cast(address, POINTER(c_int))[0] = value
    return _OK


_FUNCTIONS: dict[str, tuple[tuple[Any, ...], Callable[..., int]]] = {
    "cuLaunchKernel": (
        (c_void_p, *[c_int64] * 6, c_int, c_void_p, c_void_p, c_void_p),
        _Driver.launch_by_driver,
    ),
    "cuLaunchKernelEx": ((c_void_p, c_void_p, c_void_p, c_void_p), _Driver.launch_config_by_driver),
    "cuFuncSetAttribute": ((c_void_p, c_int, c_int), _Driver.nothing),
    "_cudaLaunchKernel": ((c_void_p, *[c_int] * 6, c_void_p, c_int64, c_void_p), _Driver.launch),
    "_cudaLaunchKernelEx": ((c_void_p, c_void_p, c_void_p), _Driver.launch_config),
    "_cudaLibraryLoadData": (
        (c_void_p, c_void_p, c_void_p, c_void_p, c_int, c_void_p, c_void_p, c_int),
        _Driver.nothing,
    ),
    "_cudaLibraryGetKernel": ((c_void_p, c_void_p, c_void_p), _Driver.get_kernel),
    "_cudaGetDevice": ((c_void_p,), _Driver.device),
    "_cudaDeviceGetAttribute": ((c_void_p, c_int, c_int), _Driver.device_attribute),
    "_cuKernelGetAttribute": ((c_void_p, c_int, c_void_p, c_int), _Driver.kernel_attribute),
    "_cudaFuncSetAttribute": ((c_void_p, c_int, c_int), _Driver.nothing),
    "_cudaKernelSetAttributeForDevice": ((c_void_p, c_int, c_int, c_int), _Driver.nothing),
    "_cudaOccupancyMaxActiveBlocksPerMultiprocessor": (
        (c_void_p, c_void_p, c_int, c_int64),
        _Driver.occupancy,
    ),
}
"""Functions that compiled functions declare → their parameters, and their replacements.

All return a status.
"""


# --- the record -----------------------------------------------------------------------------------


def record_launches(host: HostFunction, function: Function, job: Document) -> str:
    """Return the launches of the function for all sizes that the job's problem names, as JSON.

    Raises UnrecordableLaunch, and KernelFileError if sizes do not fit types.
    """
    parameters = job["problem"]["parameters"]
    sizes = [values for name in SIZES for values in parameters.get(name, [])]
    if not sizes:
        raise UnrecordableLaunch(
            "its problem has no parameter `sizes`, which says for which sizes launches are recorded"
        )
    return json.dumps(
        {"recorded": [_launch_record(host, function, job, values) for values in sizes]}
    )


def _launch_record(
    host: HostFunction, function: Function, job: Document, values: Objects
) -> dict[str, object]:
    missing = [name for name in arguments.unknown(job["signature"]) if name not in values]
    if missing:
        raise UnrecordableLaunch(
            "the sizes of its problem do not say what %s is" % ", ".join(missing)
        )
    runs = []
    for base in _BASES:
        memory = arguments.Memory(base)
        launch_arguments = arguments.run_time(function, job, values, memory)
        runs.append((host.launches(list(launch_arguments.values())), memory.tensors))
    (first, tensors), (second, moved) = runs
    if [launch[:_VARYING] for launch in first] != [launch[:_VARYING] for launch in second]:
        raise UnrecordableLaunch("its launches depend on the addresses of tensors")
    argument_facts: Objects = {
        name: {key: facts[key] for key in facts if key != "address"}
        for name, facts in tensors.items()
    }
    argument_facts.update(
        {name: {"value": values[name]} for name in arguments.unknown(job["signature"], sizes=False)}
    )
    launches = [_launch_document(one, other, tensors, moved) for one, other in zip(first, second)]
    return {"arguments": argument_facts, "launches": launches}


def _launch_document(first: Launch, second: Launch, tensors: Objects, moved: Objects) -> Document:
    """Return the record of a launch, from which a GPU host repeats it."""
    attributes = _attributes(first.attributes)
    x, y, z = attributes["cluster"] or (1, 1, 1)
    return {
        "entry": first.entry,
        "grid": first.grid,
        "block": first.block,
        "shared": first.shared,
        **attributes,
        "non_portable": x * y * z > _LARGEST_PORTABLE,
        "parameters": [
            _parameter(one, other, tensors, moved)
            for one, other in zip(first.parameters, second.parameters)
        ],
    }


def _attributes(attributes: dict[int, list[int]]) -> Document:
    unknown = sorted(set(attributes) - {_COOPERATIVE, _CLUSTER, _CLUSTER_POLICY, _PROGRAMMATIC})
    if unknown:
        raise UnrecordableLaunch(
            "it is launched with attribute %d, which cannot be recorded" % unknown[0]
        )
    cluster = attributes[_CLUSTER][:3] if _CLUSTER in attributes else None
    return {
        "cluster": cluster if cluster not in (None, [1, 1, 1]) else None,
        "cluster_policy": attributes[_CLUSTER_POLICY][0] if _CLUSTER_POLICY in attributes else 0,
        "cooperative": bool(attributes[_COOPERATIVE][0]) if _COOPERATIVE in attributes else False,
        "pdl": bool(attributes[_PROGRAMMATIC][0]) if _PROGRAMMATIC in attributes else False,
    }


def _parameter(first: bytes, second: bytes, tensors: Objects, moved: Objects) -> Document:
    """Return the bytes of a parameter, and the places of addresses in them.

    Raises UnrecordableLaunch if the parameter contains an address in an unknown form.
    """
    patches = list(_addresses(first, second, tensors, moved))
    data, others = bytearray(first), bytearray(second)
    for at, _, _ in patches:
        data[at : at + 8] = others[at : at + 8] = bytes(8)
    if data != others:
        raise UnrecordableLaunch("a parameter has an address in an unknown form")
    return {"data": data.hex(), "patches": [list(patch) for patch in patches]}


def _addresses(
    first: bytes, second: bytes, tensors: Objects, moved: Objects
) -> Iterator[tuple[int, str, int]]:
    """Yield the places of tensors' addresses in bytes: offset, tensor, and bytes after its start.

    A size can look like an address in one run, but it does not move with the tensor.
    """
    at = 0
    while at + 8 <= len(first):
        number, other = (int.from_bytes(data[at : at + 8], "little") for data in (first, second))
        behind = {name: number - facts["address"] for name, facts in tensors.items()}
        name = next(
            (
                tensor
                for tensor, addend in behind.items()
                if 0 <= addend == other - moved[tensor]["address"] < arguments.APART
            ),
            None,
        )
        if name is not None:
            yield at, name, behind[name]
        at += 8 if name is not None else 4
