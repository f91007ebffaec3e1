"""Prints what the release's own launcher compiles for a launch without a GPU.

It runs inside an env. ``python launcher.py SOURCE`` prints a line of JSON for each of
:data:`LAUNCHES`: the hash of the PTX, or the exception.
"""

import hashlib
import importlib.util
import json
import sys
from collections import namedtuple
from typing import Any, NamedTuple

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget


class Driver:
    def get_current_target(self) -> Any:
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: Any) -> int:
        return 0


class Tensor:
    def __init__(self, dtype: str, address: int = 16) -> None:
        self.dtype, self._address = dtype, address

    def data_ptr(self) -> int:
        return self._address


class Fields(NamedTuple):
    size: int
    step: int


NamedArgs = namedtuple("Fields", ["source", "more", "bias", "block"])  # type: ignore[name-match]
SOURCES = (Tensor("float16"), Tensor("float32", 8))
RESULT = Tensor("float32")
LAUNCHES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("of_tuples", (SOURCES, (64, 1), RESULT), {"BLOCK": 64}),
    ("of_tuples", (SOURCES, (37, 2), RESULT), {"BLOCK": 64}),
    (
        "of_nested",
        ((Tensor("float32"), tl.constexpr(64), 1, (37, tl.constexpr(2.0)), None), RESULT),
        {},
    ),
    (
        "of_named",
        (NamedArgs(Tensor("float32"), Fields(48, 1), None, tl.constexpr(64)), RESULT),
        {},
    ),
]

for imported in (triton.compiler.compiler, triton.runtime.cache, triton.runtime.jit):
    if hasattr(imported, "triton_key"):  # it hashes the whole package
        imported.triton_key = lambda: "any"
triton.runtime.driver.set_active(Driver())
spec = importlib.util.spec_from_file_location("kernels", sys.argv[1])
assert spec
assert spec.loader
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for name, arguments, options in LAUNCHES:
    try:
        compiled = getattr(module, name).run(*arguments, grid=(1,), warmup=True, **options)
        print(json.dumps(hashlib.sha256(compiled.asm["ptx"].encode()).hexdigest()))
    except Exception as error:
        print(json.dumps([type(error).__name__, str(error)]))
