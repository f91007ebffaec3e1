"""Prints what a release's own ``warmup`` compiles for some launches.

It runs inside an env, without any code of this project. ``python launches.py KERNELS.py JOBS.json
SCRIPTS.py…`` prints a line per job and per repro script: the SHA-256 of each artifact. A job is one
of the worker's jobs. This program makes tensors in another way than the worker.
"""

import hashlib
import importlib.util
import json
import runpy
import sys
import types
from pathlib import Path
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

STAGES = ("ttir", "ptx", "cubin", "amdgcn", "hsaco")


class Driver:
    """Replaces the driver of a GPU. It launches nothing."""

    def __init__(self, target: dict[str, Any]) -> None:
        self.target = GPUTarget(target["backend"], target["arch"], target["warp_size"])

    def get_current_target(self) -> Any:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: Any = None) -> int:
        return 0

    def get_benchmarker(self) -> None:
        return None


class DType:
    """An element type, known by its name."""

    def __init__(self, name: str) -> None:
        self.name, self.itemsize = name, 4

    def __str__(self) -> str:
        return self.name


DTYPES: dict[str, DType] = {}


class Tensor:
    """An address, with the type and the size of the data there."""

    def __init__(self, name: str, address: int, size: int = 64) -> None:
        self.dtype, self.address, self.size = DTYPES.setdefault(name, DType(name)), address, size

    def data_ptr(self) -> int:
        return self.address

    def ptr_range(self) -> int:
        return self.size


def passed(value: Any) -> Any:
    """The argument to pass for a value of a job."""
    if isinstance(value, list):
        return tuple(map(passed, value))
    if isinstance(value, dict) and "fields" in value:
        return named(value["fields"])
    if isinstance(value, dict) and "constexpr" in value:
        constant = value["constexpr"]
        return (
            getattr(sys.modules["launched"], constant["function"])
            if isinstance(constant, dict)
            else tl.constexpr(constant)
        )
    if isinstance(value, dict):
        return Tensor(
            value["tensor"],
            16 if value.get("aligned", True) else 40,
            1 << 40 if value.get("large") else 64,
        )
    if isinstance(value, str) and value.startswith("tensordesc"):
        from triton.tools.tensor_descriptor import TensorDescriptor

        return TensorDescriptor(Tensor("fp16", 0), [512, 512], [512, 1], [64, 32])
    return Tensor(value[1:], 0) if isinstance(value, str) else value


def passed_option(value: Any) -> Any:
    """An option, with a tuple for each array of a job."""
    return tuple(map(passed_option, value)) if isinstance(value, list) else value


def named(fields: dict[str, Any]) -> Any:
    """A named tuple of the class with these fields in the kernels' module."""
    classes = vars(sys.modules["launched"]).values()
    kind: Any = next(
        candidate for candidate in classes if getattr(candidate, "_fields", None) == tuple(fields)
    )
    return kind(*map(passed, fields.values()))


def imported(path: str) -> Any:
    """The module at a path. 3.0 and 3.1 import PyTorch for ``@triton.autotune``.

    Launchers from 3.6 on look for tensors of PyTorch.
    """
    torch: Any = types.ModuleType("torch")
    torch.Tensor = type("Tensor", (), {})
    sys.modules.setdefault("torch", torch)
    specification = importlib.util.spec_from_file_location("launched", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["launched"] = module
    specification.loader.exec_module(module)
    return module


def print_digests(compiled: Any) -> None:
    artifacts = [compiled.asm[stage] for stage in STAGES if stage in compiled.asm]
    artifacts = [data.encode() if isinstance(data, str) else data for data in artifacts]
    print(",".join(hashlib.sha256(data).hexdigest()[:16] for data in artifacts))


def refused(error: BaseException) -> None:
    """Print why a release does not compile a launch."""
    while error.__cause__ is not None:
        error = error.__cause__
    print(type(error).__name__, str(error).strip().split("\n")[-1].replace(" ", "_"), sep=":")


def run_script(path: str) -> None:
    """Print the digests of the kernels that a repro script runs."""
    run = triton.runtime.jit.JITFunction.run

    def run_told(function: Any, *arguments: Any, **named: Any) -> Any:
        compiled = run(function, *arguments, **named)
        print_digests(compiled)
        return compiled

    triton.runtime.jit.JITFunction.run = run_told
    runpy.run_path(path)["compile_kernel"]()
    triton.runtime.jit.JITFunction.run = run


def skip_hashing_the_package() -> None:
    """Give Triton's cache, whose folder is new, a constant for the hash of the whole package."""
    for name in ("compiler.compiler", "runtime.cache", "runtime.jit"):
        module: Any = sys.modules[f"triton.{name}"]
        if hasattr(module, "triton_key"):
            module.triton_key = lambda: "any"


def main(kernels: str, listed: str, *scripts: str) -> None:
    jobs = json.loads(Path(listed).read_text())
    triton.runtime.driver.set_active(Driver(jobs[0]["target"]))
    skip_hashing_the_package()
    module = imported(kernels)
    for job in jobs:
        function = getattr(module, job["function"])
        while hasattr(function, "configs") or hasattr(function, "values"):
            function = function.fn
        values = {
            **{name: passed(value) for name, value in job["launch"].items()},
            **{
                name: value if isinstance(value, str) else passed(value)
                for name, value in job["constexprs"].items()
            },
        }
        options = {name: passed_option(value) for name, value in job["options"].items()}
        arguments = [values[name] for name in function.arg_names]
        try:
            print_digests(function.warmup(*arguments, grid=(1,), **options))
        except Exception as error:
            refused(error)
    for script in scripts:
        run_script(script)


main(*sys.argv[1:])
