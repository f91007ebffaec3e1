"""Import CuTe DSL, observe it, and compile with it on a machine without a GPU.

Every release passes the traced module to ``Compiler.compile(module, pipeline, …)``. This method
runs the whole pipeline in this process: MLIR's passes, libNVVM and ptxas. Tracing comes before it.
The adapter calls it twice, for MLIR's passes and for the binary (:mod:`.pipeline`). From 4.3 on,
libNVVM writes a file of PTX, which shows when ptxas begins. The steps after the binary need a GPU
driver in most releases. So the adapter leaves the compile with an exception that no code of CuTe
DSL catches.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING

from . import arguments, built, no_gpu, passes, pipeline, recording

if TYPE_CHECKING:
    from .....worker.beacon import Beacon
    from ....inside.foreign import Document, Function, Objects, Value
    from ..foreign import Compiler, MlirModule, PassManager, Type

_DISTRIBUTION = "nvidia-cutlass-dsl"
_ONE_THREAD = "OPENBLAS_NUM_THREADS"
"""The setting for NumPy's threads; releases up to 4.7 import NumPy.

A process with threads cannot be forked safely.
"""
_CACHE = "CUTE_DSL_CACHE_DIR"
_MARKS = (
    (
        "cubin",
        re.compile(
            r"^ptxas\b|ptxas (?:fatal|application|log)|NVPTX compiler invocation"
            r" failed|PTXAS_ERROR",
            re.MULTILINE,
        ),
    ),
    ("ptx", re.compile(r"NVVM_ERROR|libNVVM|nvvmCompile|Error: unsupported operation")),
)
"""Stage → the pattern of its failure messages. libNVVM and ptxas run in one call."""
_PLACE = re.compile(r"""(?:"|--> |File: )(/[^"\n:]+)"?:(\d+)""")
"""A file and a line, in the forms of the releases' messages."""
_TIMED = "COMPAT_TIME_PASSES"
"""The adapter's own environment variable that turns on the timing of MLIR's passes.

It is ``timing`` in ``facts/variables.toml``.
"""
_WITHOUT = "COMPAT_WITHOUT_PASS"
"""The adapter's own environment variable with the number of the pass to leave out.

It is ``leaves_out`` of ``PARTS``. With 0 no pass is left out.
"""
_LOWERED = ".mlir"
"""The suffix of a file with the result of MLIR's passes.

Only the binary remains to be made from it.
"""
_BOUND = re.compile(r"(?<=constant_range<i32, 0, )\d{10}(?=>)")
"""A bound that releases up to 4.5 parse as a number of 40 bits.

Hexadecimal digits prevent that.
"""


class _CompiledCode(BaseException):
    """The exception that leaves a compile once there is a binary, with the compiled module.

    It skips the code that would launch the kernel.
    """

    def __init__(self, module: MlirModule, compiler: Compiler) -> None:
        super().__init__("compiled")
        self.module, self.compiler = module, compiler


class _Generic:
    """A module whose text is in MLIR's generic form.

    Some releases print a form of their own, which no release can read.
    """

    def __init__(self, module: MlirModule) -> None:
        self._module = module

    def __str__(self) -> str:
        return str(self._module.operation.get_asm(print_generic_op_form=True))


class Cute:
    """CuTe DSL as a toolchain: import, observe, compile."""

    name = "cutlass"

    def __init__(self) -> None:
        os.environ.setdefault(_ONE_THREAD, "1")
        from cutlass import cute
        from cutlass.base_dsl import compiler
        from cutlass.base_dsl.runtime import cuda as driver
        from cutlass.cutlass_dsl import CuTeDSL
        from cutlass.utils import HardwareInfo

        self.version = version(_DISTRIBUTION)
        self.interpreting = None
        self._cute, self._hardware, self._driver = cute, HardwareInfo, driver
        self._ask_driver = getattr(driver, "get_device_attribute", None)  # from 4.3 on
        self._dsl = CuTeDSL._get_dsl()
        # The release hashes the whole package for the key of a cache that is never read here.
        self._dsl.get_version = hashlib.sha256
        self._library = os.path.dirname(os.path.dirname(os.path.abspath(cute.__file__))) + os.sep
        self._on_stage: Callable[..., None] = _ignore
        self._on_made: Callable[..., None] = _ignore
        self._beacon: Beacon
        self._passes = False
        self._times: dict[str, float] = {}
        self._ir_path = ""
        self._ptx = ""
        self._watch(compiler.Compiler)
        own = os.path.dirname(os.path.abspath(compiler.__file__))
        # The folder has a torch.py, which kernels' `import torch` would find.
        sys.path[:] = [folder for folder in sys.path if folder != own]

    def begin_interpreting(self) -> None:
        """CuTe DSL has no interpreter."""
        raise NotImplementedError("CuTe DSL has no interpreter")

    def files(self) -> list[str]:
        """Return no files, because all files that CuTe DSL loads are in ``sys.modules``."""
        return []

    def use_cache_dir(self, directory: str, diagnose: bool) -> None:
        """Have CuTe DSL write to a private folder, and read no results from its file cache."""
        os.environ[_CACHE] = os.path.join(directory, "cache")
        self._ptx = os.path.join(directory, "kernel.ptx")
        self._quieten()

    def reload_env(self) -> None:
        """Read the environment variables again."""
        for name, value in list(vars(inspect.getmodule(type(self._dsl.envar))).items()):
            if name.startswith("get_") and callable(getattr(value, "cache_clear", None)):
                value.cache_clear()
        self._dsl.envar = type(self._dsl.envar)(self._dsl.name)
        self._quieten()

    def _quieten(self) -> None:
        self._dsl.envar.disable_file_caching = True

    def observe(self, beacon: Beacon, passes: bool) -> None:
        """Keep the beacon for stages and passes.

        It does not show the traced line, because the traceback of an exception has this line. With
        ``passes``, the IR before each of MLIR's passes is printed (:mod:`.passes`).
        """
        self._beacon, self._passes = beacon, passes

    def remap_paths(self, places: list[list[str]]) -> None:
        """Do nothing, because the adapter compiles without line numbers, so code has no paths."""

    def set_target(self, target: Document) -> None:
        """Compile for this target from now on."""
        name = no_gpu.architecture(target["arch"])
        os.environ[no_gpu.ARCHITECTURE] = self._dsl.envar.arch = name
        for name, answer in no_gpu.hardware_answers(target).items():
            setattr(self._hardware, name, answer)
        if self._ask_driver is not None:
            self._driver.get_device_attribute = no_gpu.attribute_answer(target, self._ask_driver)

    def knows_target(self, target: Document) -> bool | None:
        """Return ``None``, because CuTe DSL has no separate assembler to inspect."""
        return None

    def compile(
        self,
        job: Document,
        function: Function,
        on_stage: Callable[..., None],
        on_made: Callable[..., None],
    ) -> tuple[Document, Document]:
        """Compile one job, and return its metrics and the result of each stage.

        Raises any exception of CuTe DSL, and :class:`.arguments.KernelFileError` if the kernel file
        does not fit the function.
        """
        self._on_stage, self._on_made = on_stage, on_made
        pipeline.take_ptx(self._ptx)  # removes the PTX of a failed compile
        self._times = {}
        self._ir_path = job.get("ir") or ""
        if not self._ir_path:
            on_stage("trace")  # the constructor of a class is a part of the kernel
        function, positional, named = (
            (_blank(), [], {}) if self._ir_path else arguments.bind_arguments(function, job)
        )
        options = arguments.options(job["options"])
        # Up to 4.2 an aborted compile skips this, and the count of kernels would go on.
        self._dsl.post_compilation_cleanup()
        try:
            self._cute.compile(function, *positional, **named, **options)
        except _CompiledCode as compiled:
            result = self._result(str(compiled.module))
            if job["problem"] is not None and not self._ir_path:
                on_made("metadata", self._launches(job, function, compiled, result[1]["cubin"]))
            return result
        except Exception as error:
            misfit = arguments.MISFIT.search(str(error))
            if misfit and not _reaches_kernel_code(error, job["roots"]):
                raise arguments.KernelFileError(misfit[0]) from None
            raise
        finally:
            self._on_stage = self._on_made = _ignore
        raise arguments.KernelFileError("the function launches no kernel")

    def kernel_line(
        self, error: BaseException, job: Document, function: Function
    ) -> tuple[str, int] | None:
        """Return the line of the kernel's own sources that a failure is about.

        This is the line that a message names, or else the last line in a traceback, or else the
        first line of the function.
        """
        roots = tuple(os.path.join(root, "") for root in job["roots"])
        links = list(_chain(error))
        places = [
            (path, int(line))
            for link in reversed(links)
            for path, line in _PLACE.findall(str(link))
        ]
        frames = [line for link in links for line in _lines(link)][::-1]
        own = (
            place
            for place in [*places, *frames]
            if place[0].startswith(roots) and "site-packages" not in place[0]
        )
        return next(own, None) or _first_line(function)

    # --- observing a compile ---

    def _watch(self, kind: Type) -> None:
        """Wrap ``Compiler.compile``: report its stages, and leave it once there is a binary."""
        run = kind.compile

        def run_in_sight(
            compiler: Compiler, module: MlirModule, text: str, *rest: object, **options: Value
        ) -> object:
            if pipeline.COMPILES not in text:
                return run(compiler, module, text, *rest, **options)

            def go(text: str) -> None:
                run(compiler, module, text, *rest, **options)

            if self._ir_path:
                module = _parse_file(self._ir_path, module)
            self._traced = str(module)
            self._compile(go, module, text, compiler)
            raise _CompiledCode(module, compiler)

        kind.compile = run_in_sight

    def _compile(
        self, go: Callable[[str], None], module: MlirModule, text: str, compiler: Compiler
    ) -> None:
        """Run the pieces of a pipeline with ``go``, and report stages and their results."""
        text_with_ptx = pipeline.keeping_ptx(text, self._ptx)
        manager = compiler.passmanager.PassManager
        with module.context:
            pieces = pipeline.pieces_of(text_with_ptx, manager)
        if pieces is not None and self._ir_path.endswith(_LOWERED):
            self._make_binary(go, pieces.rest, tells=text_with_ptx != text)
            return
        self._on_made("trace", self._traced)
        self._on_stage("mlir")
        if _WITHOUT in os.environ:
            self._lower_without(int(os.environ[_WITHOUT]), text_with_ptx, manager, module)
            self._make_binary(go, text_with_ptx, tells=text_with_ptx != text)
            return
        if pieces is None:
            go(text_with_ptx)
            return
        if (
            self._lower_in_sight(go, module, pieces, compiler)
            if self._passes
            else self._lower(go, module, pieces)
        ):
            self._on_made("mlir", _Generic(module))
            self._make_binary(go, pieces.rest, tells=text_with_ptx != text)
        # Printing takes time, too, so passes are timed in a run without it.
        if not self._times and (self._passes or _TIMED in os.environ):
            self._on_stage(None)  # this run belongs to no stage
            self._times = passes.run_singly(
                text, manager, passes.copy_of(module, self._traced), show=False
            ).seconds

    def _lower_in_sight(
        self,
        go: Callable[[str], None],
        module: MlirModule,
        pieces: pipeline.Pieces,
        compiler: Compiler,
    ) -> bool:
        """Run MLIR's passes, and print the IR before each.

        The beacon shows that passes run, and the output shows which one is in flight.
        """
        manager, failed = compiler.passmanager.PassManager, None
        self._beacon.in_passes(True)
        if passes.prints(manager):
            with passes.ir_printing(compiler, module):
                needs_binary = self._lower(go, module, pieces)
        else:
            self._times, failed = passes.run_singly(
                pieces.first, manager, passes.copy_of(module, self._traced), show=True
            )
            self._beacon.in_passes(failed is not None)
            try:
                needs_binary = self._lower(go, module, pieces)
            except BaseException:
                if failed is not None:
                    passes.tell_failed(failed)
                raise
        self._beacon.in_passes(False)
        return needs_binary

    def _lower_without(
        self, number: int, text: str, manager: PassManager, module: MlirModule
    ) -> None:
        """Run MLIR's passes one by one, without one of them.

        The whole pipeline runs afterwards. It does the work of passes that cannot be run by
        themselves, and finds little else to do. If no pass is left out, the IR before each is
        printed.
        """
        failed = passes.run_singly(text, manager, module, show=number == 0, without=number).failed
        if failed is not None:
            raise RuntimeError("%s fails" % failed)

    def _lower(
        self, go: Callable[[str], None], module: MlirModule, pieces: pipeline.Pieces
    ) -> bool:
        """Run MLIR's passes, and return whether the binary must still be made."""
        try:
            go(pieces.first)
        except Exception as error:
            if not pieces.fails or not pipeline.has_stopped(_full_message(error)):
                raise
            pipeline.ready(module)
            return True
        return not pieces.fails

    def _make_binary(self, go: Callable[[str], None], text: str, tells: bool) -> None:
        """Run libNVVM and ptxas, in one call.

        In releases that write a PTX file, the file shows when ptxas began.
        """
        self._on_stage("ptx" if tells else "binary")
        if tells:
            self._beacon.begins("cubin", self._ptx)
        began = time.time(), time.process_time()
        try:
            go(text)
        except Exception as error:
            stage = _stage_of(error)
            if stage is not None:
                self._on_stage(stage)
            raise
        self._tell_ptxas(*began)

    def _tell_ptxas(self, began: float, cpu: float) -> None:
        """Report when ptxas began.

        Only the clock shows that, so CPU seconds are divided in proportion to time.
        """
        begun = self._beacon.unreported_stage()
        now, used = time.time(), time.process_time()
        if begun is not None and now > began:
            stage, since = begun
            share = min(1.0, max(0.0, (since - began) / (now - began)))
            self._on_stage(stage, cpu + share * (used - cpu))

    def _result(self, module: str) -> tuple[Document, Document]:
        """Return the metrics, and the result of each stage.

        Raises KernelFileError if there is no binary of a kernel.
        """
        cubin = built.cubin_in(module)
        if cubin is None or not built.facts_of(cubin):
            raise arguments.KernelFileError("the function launches no kernel")
        artifacts: Objects = {
            "trace": self._traced,
            "ptx": pipeline.take_ptx(self._ptx),
            "cubin": cubin,
        }
        artifacts = {stage: result for stage, result in artifacts.items() if result}
        for stage in ("ptx", "cubin"):
            if stage in artifacts:
                self._on_made(stage, artifacts[stage])
        metrics = built.metrics(artifacts, module)
        return {**metrics, "passes": self._times} if self._times else metrics, artifacts

    def _launches(
        self, job: Document, function: Function, compiled: _CompiledCode, cubin: bytes
    ) -> str:
        """Return the launches of the function for the sizes that the job's problem names, as JSON.

        If they cannot be recorded, the JSON says why.
        """
        try:
            kernels = list(getattr(self._dsl, "kernel_symbols", []))
            host = recording.HostFunction(
                compiled.compiler, compiled.module, cubin, kernels, job["target"]
            )
            return recording.record_launches(host, function, job)
        except (recording.UnrecordableLaunch, arguments.KernelFileError) as error:
            return json.dumps({"why": str(error)})


def _blank() -> object:
    """Return the function that a file of IR replaces in a compile."""
    from . import blank

    return blank.launch


def _parse_file(path: str, module: MlirModule) -> object:
    """Return the module in a file, parsed in the context of another module."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = _BOUND.sub(lambda bound: hex(int(bound[0])), file.read())
    return type(module).parse(text, module.context)


def _stage_of(error: BaseException) -> str | None:
    """Return the stage of a pipeline's failure, or ``None`` if the messages do not show it."""
    text = _full_message(error)
    return next((stage for stage, pattern in _MARKS if pattern.search(text)), None)


def _full_message(error: BaseException) -> str:
    """Return the messages of an exception and of its causes."""
    return "\n".join(map(str, _chain(error)))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its causes, outermost first."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _lines(error: BaseException) -> list[tuple[str, int]]:
    frames = traceback.walk_tb(error.__traceback__)
    return [(frame.f_code.co_filename, line) for frame, line in frames]


def _reaches_kernel_code(error: BaseException, roots: list[str]) -> bool:
    """Whether the traceback of an exception contains the kernel's own code."""
    own = tuple(os.path.join(root, "") for root in roots)
    paths = (path for link in _chain(error) for path, _ in _lines(link))
    return any(
        path.startswith(own) and path != __file__ and "site-packages" not in path for path in paths
    )


def _first_line(function: Function) -> tuple[str, int] | None:
    """Return the first line of a function, or of the ``__call__`` of an object."""
    if function is None:
        return None
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None) or getattr(
        inspect.unwrap(type(function).__call__), "__code__", None
    )
    return (code.co_filename, code.co_firstlineno) if code is not None else None


def _ignore(*_: object) -> None:
    pass
