"""All that is known of Triton's changing Python API, in one file.

Nothing here looks at a version number: each form is recognised by what is there, so that forks and nightlies work by the same
rules.

========  ====================  ============================  =========================================================
release   constexprs            in the signature              attributes (divisible by 16, equal to 1)
========  ====================  ============================  =========================================================
3.0, 3.1  ``constants=``        no                            ``AttrsDescriptor(divisible_by_16=, equal_to_1=)``
3.2       ``constants=``        no                            ``AttrsDescriptor.from_hints({index: 16 or 1})``
3.3 on    ``constexprs=``       yes, as ``"constexpr"``       ``{(index,): [["tt.divisibility", 16]]}``; ones are constexprs
========  ====================  ============================  =========================================================
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import subprocess
import types
from typing import Any, Callable

from .beacon import Beacon


class Triton:
    """Triton as a toolchain: import, observe, compile."""

    name = "triton"

    def __init__(self) -> None:
        import triton
        import triton.compiler.compiler as compiler

        self.version = triton.__version__
        self._triton = triton
        self._ptxas_log: list[str] = []
        self._on_stage: Callable[..., None] = _ignore
        self._on_made: Callable[..., None] = _ignore
        self._beacon: Beacon | None = None
        _skip_hashing_the_package(compiler)
        _stand_in_for_the_driver()
        self._tell_stages()
        self._tell_source_lines()
        self._keep_ptxas_log()

    def files(self) -> list[str]:
        """The files of the backends: some releases load them as modules that are not in ``sys.modules``."""
        functions = [each.compiler.add_stages.__wrapped__ for each in _backends().values()]
        return [function.__code__.co_filename for function in functions]

    def look_again(self) -> None:
        """Forget where the assembler was found, since the environment variables that say so have changed."""
        for each in _backends().values():
            for value in list(each.compiler.add_stages.__wrapped__.__globals__.values()):
                if callable(getattr(value, "cache_clear", None)):
                    value.cache_clear()

    def observe(self, beacon: Beacon, passes: bool) -> None:
        """Write the source line in flight to ``beacon``; with ``passes`` also whether a pass manager runs."""
        self._beacon = beacon
        if passes:
            _tell_pass_managers(beacon)

    def compile(
        self, job: dict[str, Any], function: Any, on_stage: Callable[..., None], on_made: Callable[..., None]
    ) -> dict[str, Any]:
        """Compile one job and return its metrics.

        ``on_stage(name)`` is called as each stage is entered, ``on_made(name, result)`` as it is left. Raises whatever Triton
        raises.
        """
        triton = self._triton
        source = job["ir"] or ast_source(function, job)
        self._ptxas_log.clear()
        self._on_stage, self._on_made = on_stage, on_made
        if not job["ir"]:
            on_stage("ast")
        try:
            compiled = triton.compile(source, target=target(job["target"]), options=dict(job["options"]))
        finally:
            self._on_stage = self._on_made = _ignore
        return _metrics(compiled, "\n".join(self._ptxas_log))

    # --- watching it work ---

    def _tell_stages(self) -> None:
        """Announce every stage as it is entered, by wrapping the functions that a backend offers for them."""
        for backend in _backends().values():
            backend.compiler.add_stages = self._announcing(backend.compiler.add_stages)

    def _announcing(self, add_stages: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(add_stages)
        def add_announced_stages(backend: Any, stages: dict[str, Any], *rest: Any, **options: Any) -> None:
            add_stages(backend, stages, *rest, **options)
            for name, make in list(stages.items()):
                stages[name] = self._announced(name, make)

        return add_announced_stages

    def _announced(self, name: str, make: Callable[..., Any]) -> Callable[..., Any]:
        def make_announced(source: Any, metadata: Any) -> Any:
            self._on_stage(name)
            made = make(source, metadata)
            self._on_made(name, made)
            return made

        return make_announced

    def _tell_source_lines(self) -> None:
        """Keep the line being lowered on the beacon, for front-end failures that take the process with them.

        Lines of Triton's own library are passed over: who called it is what a kernel's author can change.
        """
        from triton.compiler.code_generator import CodeGenerator

        visit = CodeGenerator.visit
        library = os.path.dirname(os.path.abspath(self._triton.__file__)) + os.sep

        def visit_in_sight(generator: Any, node: Any) -> Any:
            line = getattr(node, "lineno", None)
            path = str(generator.file_name)
            if line is not None and self._beacon is not None and not path.startswith(library):
                self._beacon.at(path, generator.begin_line + line)
            return visit(generator, node)

        CodeGenerator.visit = visit_in_sight

    def _keep_ptxas_log(self) -> None:
        """Triton runs ``ptxas -v`` and throws away what it says of registers and spills; read it before it goes."""
        nvidia = _backends().get("nvidia")
        if nvidia is None:
            return

        def run(command: Any, *rest: Any, **options: Any) -> Any:
            result = subprocess.run(command, *rest, **options)
            log = _log_of(command, options)
            if log is not None and os.path.exists(log):
                with open(log, encoding="utf-8", errors="replace") as file:
                    self._ptxas_log.append(file.read())
            return result

        shim = types.ModuleType("subprocess")
        shim.__dict__.update(subprocess.__dict__, run=run)
        # Some releases load their backends as modules that are not in sys.modules: only their functions lead there.
        nvidia.compiler.make_cubin.__globals__["subprocess"] = shim


def _tell_pass_managers(beacon: Beacon) -> None:
    """Keep on the beacon whether a pass manager runs: only then does the last dumped pass mean anything."""
    from triton._C.libtriton import ir

    run = ir.pass_manager.run

    def run_in_sight(manager: Any, *arguments: Any) -> Any:
        beacon.in_passes(True)
        result = run(manager, *arguments)
        beacon.in_passes(False)  # not in a finally: a pass manager that failed is where it went wrong
        return result

    ir.pass_manager.run = run_in_sight


# --- the call, in the form this release takes --------------------------------------------------------------------------------


def ast_source(function: Any, job: dict[str, Any]) -> Any:
    """The ``ASTSource`` of a job, whichever way this release wants it described."""
    from triton.compiler.compiler import ASTSource

    function = _jit_function(function)
    constants = {name: _constant(value) for name, value in job["constexprs"].items()}
    ones = [name for name in job["equal_to_1"] if name in job["signature"]]
    for name in ones:
        constants[name] = job["signature"][name] == "i1" or 1
    order = function.arg_names
    signature = {name: kind for name, kind in job["signature"].items() if name not in constants}
    divisible = [order.index(name) for name in job["divisible_by_16"] if name in signature and name in order]
    if "constexprs" in inspect.signature(ASTSource.__init__).parameters:
        signature.update(dict.fromkeys(constants, "constexpr"))
        attributes = {(index,): [["tt.divisibility", 16]] for index in divisible}
        return ASTSource(fn=function, signature=_in_order(signature, order), constexprs=constants, attrs=attributes)
    attributes = _attributes(divisible, [order.index(name) for name in ones if name in order])
    return ASTSource(fn=function, signature=_in_order(signature, order), constants=constants, attrs=attributes)


def _attributes(divisible: list[int], equal: list[int]) -> Any:
    try:
        from triton.backends.compiler import AttrsDescriptor
    except ImportError:
        from triton.compiler.compiler import AttrsDescriptor

        return AttrsDescriptor(divisible_by_16=tuple(divisible), equal_to_1=tuple(equal))
    return AttrsDescriptor.from_hints({**dict.fromkeys(divisible, 16), **dict.fromkeys(equal, 1)})


def target(facts: dict[str, Any]) -> Any:
    """The ``GPUTarget`` of a job."""
    from triton.backends.compiler import GPUTarget

    return GPUTarget(facts["backend"], facts["arch"], facts["warp_size"])


def _backends() -> dict[str, Any]:
    from triton.backends import backends

    return dict(backends)


def _jit_function(function: Any) -> Any:
    """Look through decorators that tune or choose, such as ``@triton.autotune``, to the function they wrap."""
    while not hasattr(function, "parse") and hasattr(function, "fn"):
        function = function.fn
    return function


def _constant(value: Any) -> Any:
    """A constexpr from its JSON form: ``{"dtype": "fp16"}`` is a Triton dtype, ``{"none": true}`` is ``None``."""
    if isinstance(value, dict):
        if "dtype" in value:
            import triton.language as tl

            return tl.dtype(value["dtype"])
        return None
    return value


def _in_order(signature: dict[str, str], order: list[str]) -> dict[str, str]:
    """The signature in the order of the function's parameters: Triton numbers arguments by position.

    Names that the function does not take stay, at the end, for Triton to complain of.
    """
    known = {name: signature[name] for name in order if name in signature}
    known.update({name: kind for name, kind in signature.items() if name not in known})
    return known


def _skip_hashing_the_package(compiler: types.ModuleType) -> None:
    """Put a constant in the place of ``triton_key()``, which hashes the whole package (0.75 to 1.1 s).

    The key only guards Triton's own cache, which is private to a batch and never read here.
    """
    for module in (compiler, _module("triton.runtime.cache"), _module("triton.runtime.jit")):
        if module is not None and hasattr(module, "triton_key"):
            module.triton_key = lambda: "private"  # type: ignore[attr-defined]


def _module(name: str) -> types.ModuleType | None:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class _NoGpu:
    """Stands where Triton expects the driver of a GPU, for files that ask for it at import (``@triton.autotune`` before 3.4)."""

    def get_current_target(self) -> Any:
        return target({"backend": "cuda", "arch": 80, "warp_size": 32})

    def get_benchmarker(self) -> Any:
        return _no_launch

    def get_active_torch_device(self) -> Any:
        raise RuntimeError("no GPU here: kernels are compiled, not launched")

    get_current_device = get_current_stream = get_device_properties = get_device_interface = get_active_torch_device


def _no_launch(*_arguments: Any, **_options: Any) -> Any:
    raise RuntimeError("no GPU here: kernels are compiled, not launched")


def _stand_in_for_the_driver() -> None:
    from triton.runtime import driver

    driver.set_active(_NoGpu())


def _log_of(command: Any, options: dict[str, Any]) -> str | None:
    """The file that ``ptxas -v`` writes to: a shell redirection in 3.0 and 3.1, an open file later."""
    if isinstance(command, str):
        redirected = re.search(r"2>\s*(\S+)\s*$", command)
        return redirected.group(1) if redirected else None
    return getattr(options.get("stderr"), "name", None)


_BINARIES = ("cubin", "hsaco")
_PTXAS = {
    "registers": r"Used (\d+) registers",
    "stack_bytes": r"(\d+) bytes stack frame",
    "spill_store_bytes": r"(\d+) bytes spill stores",
    "spill_load_bytes": r"(\d+) bytes spill loads",
}
_AMDGCN = {
    "registers": r"\.vgpr_count:\s*(\d+)",
    "scalar_registers": r"\.sgpr_count:\s*(\d+)",
    "spilled_registers": r"\.vgpr_spill_count:\s*(\d+)",
}


def _metrics(compiled: Any, ptxas_log: str) -> dict[str, Any]:
    """Artifact sizes in bytes, shared memory, and what the assembler says of registers and spills.

    Raises ``RuntimeError`` where no binary came out: a compile without one is none.
    """
    artifacts = {stage: len(text) for stage, text in compiled.asm.items() if isinstance(text, (str, bytes))}
    if not any(artifacts.get(stage) for stage in _BINARIES):
        raise RuntimeError("the compiler returned no binary, only " + ", ".join(sorted(artifacts)))
    metrics: dict[str, Any] = {"artifacts": artifacts, "shared": compiled.metadata.shared, "num_warps": compiled.metadata.num_warps}
    amdgcn = compiled.asm.get("amdgcn")
    texts, patterns = ([amdgcn], _AMDGCN) if amdgcn else (ptxas_log.splitlines(), _PTXAS)
    for metric, pattern in patterns.items():
        found = [int(number) for text in texts for number in re.findall(pattern, text)]
        if found:
            metrics[metric] = max(found)
    return metrics


def _ignore(*_: Any) -> None:
    pass
