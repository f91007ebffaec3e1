"""The objects of a process that uses the GPU: the driver, PyTorch, and a known-good kernel."""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import os
from types import ModuleType
from typing import TYPE_CHECKING, Any, Dict, Iterator, Optional, Tuple

from .cuda import CudaDriver, CudaError, CudaLaunch
from .forked_process import Channel
from .kernel import Kernel, LoadedKernel, RefusedArguments
from .prepared_problem import Numerics
from .recorded_launches import RecordedKernels

if TYPE_CHECKING:
    from ...inside.foreign import Document

SEED = 0


class LaunchOptions(argparse.Namespace):
    """How cells are launched: options of the command line."""

    device: str
    library: str
    repeats: int
    """Launches of each problem."""
    deadline: float
    """Seconds that one cell may take."""
    no_latency: bool
    minutes: float
    """Minutes that all cells may take."""
    problems: bool
    """Whether problems are counted, and nothing is launched."""


class LaunchSetup:
    """The folder to launch, how to launch it, and PyTorch: the same in every forked process."""

    def __init__(self, folder: str, options: LaunchOptions, numerics: Numerics) -> None:
        self.folder, self.options, self.numerics = folder, options, numerics


class GpuSession:
    """The objects with which a forked process uses the GPU."""

    def __init__(self, setup: LaunchSetup) -> None:
        """Raises CudaError, and any exception of PyTorch."""
        options, numerics = setup.options, setup.numerics
        self._folder, self._device, self._numerics = setup.folder, options.device, numerics
        if options.device == "cpu":
            numerics.torch.set_num_threads(1)
        self.driver = CudaDriver(options.library)
        if options.device != "cpu":
            numerics.torch.zeros(1, device=options.device)
        self.driver.synchronize()
        self.canary = Canary(self.driver, numerics.torch, options.device)

    def device(self) -> Document:
        """Return the facts about the GPU as a result line has them."""
        return _device(self.driver, self._numerics.torch)

    def fault(self) -> str:
        """Return the driver's name of the context's error, or an empty text if there is none."""
        try:
            self.driver.synchronize()
        except CudaError as error:
            return error.name
        return ""

    def problems(self, problem: Document) -> Iterator[Tuple[Document, bool]]:
        """Yield the problems that a problem of the index makes, and whether each is large.

        Small ones come first. A large one has a size of real use. Either kind may be missing.
        Raises ProblemError, also if both are missing.
        """
        problems = self._numerics.problems
        make = problems.load(os.path.join(self._folder, problem["source"]), problem["function"])
        count = 0
        for large in (False, True):
            try:
                for instance in problems.checked_problems(
                    make, problem["parameters"], problem["dtype"], SEED, self._device, large
                ):
                    count += 1
                    yield instance, large
            except problems.NoProblem:
                if large and not count:
                    raise

    def kernel(self, cell: Document) -> Kernel:
        """Load the binary of a cell.

        Raises CudaError, RefusedArguments if it is not the one that was built, and OSError if it is
        not in the folder.
        """
        with open(os.path.join(self._folder, "objects", cell["object"]), "rb") as file:
            facts, data = cell["launch"], file.read()
        if hashlib.sha256(data).hexdigest() != cell["object"]:
            raise RefusedArguments("objects/%s has changed since it was built" % cell["object"])
        if "recorded" in facts:
            return RecordedKernels(self.driver, facts, data)
        return LoadedKernel(self.driver, self._numerics.torch, self._device, facts, data)


class GpuWork:
    """The work of a forked process with the GPU."""

    def __init__(self, setup: LaunchSetup, channel: Channel) -> None:
        self._setup, self._options, self._numerics = setup, setup.options, setup.numerics
        self._channel = channel

    def _open_session(self) -> None:
        """Begin to use the GPU. Raises CudaError, and any exception of PyTorch."""
        self._session = GpuSession(self._setup)


# --- the known-good kernel ------------------------------------------------------------------------

_COUNT = 256
_TEXT = """
.version %s
.target %s
.address_size 64
.visible .entry compat_canary(.param .u64 x_ptr, .param .u64 y_ptr)
{
    .reg .f32 %%f<2>;
    .reg .b32 %%r<2>;
    .reg .b64 %%rd<7>;
    ld.param.u64 %%rd1, [x_ptr];
    ld.param.u64 %%rd2, [y_ptr];
    mov.u32 %%r1, %%tid.x;
    mul.wide.u32 %%rd3, %%r1, 4;
    cvta.to.global.u64 %%rd1, %%rd1;
    cvta.to.global.u64 %%rd2, %%rd2;
    add.s64 %%rd4, %%rd1, %%rd3;
    add.s64 %%rd5, %%rd2, %%rd3;
    ld.global.f32 %%f1, [%%rd4];
    add.f32 %%f1, %%f1, 0f3F800000;
    st.global.f32 [%%rd5], %%f1;
    ret;
}
"""
_VERSIONS = (
    ((9, 0), "7.8", "sm_90"),
    ((8, 0), "7.0", "sm_80"),
    ((7, 5), "6.3", "sm_75"),
    ((0, 0), "6.0", "sm_60"),
)
_FACTS = {
    "block": [_COUNT, 1, 1],
    "grid_scale": [1, 1, 1],
    "shared": 0,
    "cluster": None,
    "cooperative": False,
    "pdl": False,
}


class Canary:
    """A known-good kernel: y = x + 1 for 256 numbers.

    If it fails, the GPU, its driver or this process is at fault.
    """

    def __init__(self, driver: CudaDriver, torch: ModuleType, device: str) -> None:
        """Load the kernel. Raises CudaError."""
        self._driver, self._torch = driver, torch
        version, target = _form(driver.capability)
        self._function = driver.function(
            driver.load((_TEXT % (version, target)).encode() + b"\0"), "compat_canary"
        )
        self._x = torch.arange(_COUNT, dtype=torch.float32, device=device)
        self._y = torch.empty_like(self._x)
        values = [ctypes.c_uint64(tensor.data_ptr()) for tensor in (self._x, self._y)]
        self._launch = CudaLaunch(driver, self._function, _FACTS, (1, 1, 1), values)

    def is_well(self) -> bool:
        """Whether it computes right numbers. Raises CudaError."""
        self._y.fill_(-1.0)
        self._launch()
        self._driver.synchronize()
        return bool(self._y.tolist() == [float(number + 1) for number in range(_COUNT)])


def _form(capability: Tuple[int, int]) -> Tuple[str, str]:
    """Return a version of PTX and a target that this GPU's driver certainly takes."""
    return next((version, target) for least, version, target in _VERSIONS if capability >= least)


# --- the device -----------------------------------------------------------------------------------

_SM, _MEMORY = 1, 2


def _device(driver: CudaDriver, torch: ModuleType) -> Dict[str, object]:
    """Return the facts about the GPU as a result line has them."""
    management = _Management(driver.bus)
    return {
        "name": driver.name,
        "cc": "%d.%d" % driver.capability,
        "driver": management.driver(),
        "cuda": driver.version,
        "clocks": management.clocks(),
        "torch": str(torch.__version__),
        "torch_cuda": torch.version.cuda,
    }


class _Management:
    """The management library (NVML), if there is one."""

    def __init__(self, bus: bytes) -> None:
        """``bus`` identifies the GPU, because its number can differ between the two libraries."""
        self._library: Any = None
        self._device = ctypes.c_void_p()
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
            is_there = (
                library.nvmlInit_v2() == 0
                and library.nvmlDeviceGetHandleByPciBusId_v2(bus, ctypes.byref(self._device)) == 0
            )
        except (OSError, AttributeError):
            return
        self._library = library if is_there else None

    def driver(self) -> Optional[str]:
        """Return the version of the driver, or ``None`` if it is unknown."""
        if self._library is None:
            return None
        buffer = ctypes.create_string_buffer(96)
        answer = self._library.nvmlSystemGetDriverVersion(buffer, ctypes.c_uint(len(buffer)))
        return buffer.value.decode() if answer == 0 else None

    def clocks(self) -> Optional[Dict[str, Optional[int]]]:
        """Return the current and the highest clocks in MHz, or ``None`` without the library."""
        if self._library is None:
            return None
        return {
            "sm": self._clock("nvmlDeviceGetClockInfo", _SM),
            "memory": self._clock("nvmlDeviceGetClockInfo", _MEMORY),
            "most_sm": self._clock("nvmlDeviceGetMaxClockInfo", _SM),
            "most_memory": self._clock("nvmlDeviceGetMaxClockInfo", _MEMORY),
        }

    def _clock(self, call: str, kind: int) -> Optional[int]:
        value = ctypes.c_uint()
        return (
            value.value
            if getattr(self._library, call)(self._device, kind, ctypes.byref(value)) == 0
            else None
        )
