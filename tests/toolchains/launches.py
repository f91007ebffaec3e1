"""Runs inside an env, without anything of ours: what a release's own ``warmup`` compiles for some launches.

``python launches.py KERNELS.py JOBS.json`` prints a line per job: the SHA-256 of the PTX. A job has a function, what is passed, and a
target; it is a job of the worker's, and tensors are made of it here in another way.
"""

import hashlib
import importlib.util
import json
import sys
import types

import triton
from triton.backends.compiler import GPUTarget


class Driver:
    def __init__(self, target):
        self.target = GPUTarget(target["backend"], target["arch"], target["warp_size"])

    def get_current_target(self):
        return self.target

    def get_current_device(self):
        return 0

    def get_current_stream(self, device=None):
        return 0

    def get_benchmarker(self):
        return None


class DType:
    def __init__(self, name):
        self.name, self.itemsize = name, 4

    def __str__(self):
        return self.name


DTYPES = {}


class Tensor:
    def __init__(self, name, address):
        self.dtype, self.address = DTYPES.setdefault(name, DType(name)), address

    def data_ptr(self):
        return self.address


def passed(value):
    if isinstance(value, list):
        return tuple(map(passed, value))
    if isinstance(value, dict):
        return Tensor(value["tensor"], 16 if value.get("aligned", True) else 40)
    if isinstance(value, str) and value.startswith("tensordesc"):
        from triton.tools.tensor_descriptor import TensorDescriptor

        return TensorDescriptor(Tensor("fp16", 0), [512, 512], [512, 1], [64, 32])
    return Tensor(value[1:], 0) if isinstance(value, str) else value


def main(kernels, jobs):
    specification = importlib.util.spec_from_file_location("launched", kernels)
    module = importlib.util.module_from_spec(specification)
    jobs = json.load(open(jobs))
    triton.runtime.driver.set_active(Driver(jobs[0]["target"]))
    torch = sys.modules.setdefault("torch", types.ModuleType("torch"))  # 3.0 and 3.1 import it for `@triton.autotune`
    torch.Tensor = type("Tensor", (), {})  # what launchers from 3.6 on compare with
    specification.loader.exec_module(module)
    for job in jobs:
        function = getattr(module, job["function"])
        while not hasattr(function, "warmup") or hasattr(function, "configs") or hasattr(function, "values"):
            function = function.fn
        given = {name: passed(value) for name, value in {**job["launch"], **job["constexprs"]}.items()}
        compiled = function.warmup(*[given[name] for name in function.arg_names], grid=(1,), **job["options"])
        print(hashlib.sha256(compiled.asm["ptx"].encode()).hexdigest())


main(*sys.argv[1:])
