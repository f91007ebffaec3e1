"""The adapter of Triton: import Triton, observe it, and compile with it."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import mmap
import os
import re
import subprocess
import types
from collections.abc import Callable
from contextlib import suppress
from itertools import takewhile
from types import ModuleType
from typing import TYPE_CHECKING, Any

from . import call, driver, metrics
from .interpreter import Interpreting

if TYPE_CHECKING:
    from ....inside.foreign import Document, Function, Objects, Value
    from ..foreign import CodeGenerator

_DIAGNOSTICS = {
    "MLIR_ENABLE_DUMP": "1",  # the IR before every pass: the last heading names the pass in flight
    "MLIR_ENABLE_DIAGNOSTICS": "operations",  # the operation that a diagnostic is about
}
_REPRODUCER = "reproducer.mlir"
_MLIR_FUNCTION = r"^\s*tt\.func\s+(?:public\s+)?(@\w+)(\([^\n]*)"
"""A function in MLIR's text: its name, and its arguments with the rest of the line."""


class Triton:
    """Triton as a toolchain: import, observe, compile."""

    name = "triton"

    def __init__(self) -> None:
        import triton
        from triton.compiler import compiler

        self.version = triton.__version__
        self.interpreting: Interpreting | None = None
        self._triton = triton
        self._ptxas_log: list[str] = []
        self._on_stage: Callable[..., None] = _ignore
        self._on_made: Callable[..., None] = _ignore
        self._beacon: Any = None
        self._has_compiled = False
        self._library = os.path.dirname(os.path.abspath(triton.__file__)) + os.sep
        self._places: list[list[str]] = []
        _skip_hashing_the_package(compiler)
        _write_cached_files_in_place()
        _read_signatures_in_time(compiler)
        _learn_assemblers()
        _prepare_llvm()
        # Triton's filter would remove the front end's frames, which show what raised an exception.
        compiler.filter_traceback = _ignore
        self._driver = driver.install()
        self._tell_stages()
        self._tell_source_lines()
        self._keep_ptxas_log()

    def begin_interpreting(self) -> None:
        """Prepare the interpreter.

        Raises ImportError without PyTorch, and RuntimeError if Triton was imported for compiling.
        """
        self.interpreting = Interpreting()

    def files(self) -> list[str]:
        """Return the files of the backends.

        Some releases load them as modules that are not in ``sys.modules``.
        """
        functions = [backend.compiler.add_stages.__wrapped__ for backend in _backends().values()]
        return [function.__code__.co_filename for function in functions]

    def use_cache_dir(self, directory: str, diagnose: bool) -> None:
        """Keep caches in a private folder.

        With ``diagnose``, print the IR before every pass and leave reproducers in the folder.
        """
        os.environ["TRITON_CACHE_DIR"] = os.path.join(directory, "cache")
        os.environ["TRITON_ALWAYS_COMPILE"] = "1"
        if diagnose:
            os.environ.update(
                _DIAGNOSTICS, TRITON_REPRODUCER_PATH=os.path.join(directory, _REPRODUCER)
            )

    def reload_env(self) -> None:
        """Forget the path of the assembler, because its environment variables have changed."""
        for backend in _backends().values():
            for value in list(backend.compiler.add_stages.__wrapped__.__globals__.values()):
                if callable(getattr(value, "cache_clear", None)):
                    value.cache_clear()

    def remap_paths(self, places: list[list[str]]) -> None:
        """Write paths in these folders into compiled code with their names on the driver.

        ``places`` has pairs: a folder here, and its name on the driver.
        """
        self._places = places

    def set_target(self, target: Document) -> None:
        """Report this target as the GPU from now on.

        A kernel can ask for the GPU during its compile, and a source during its import.
        """
        self._driver.set_target(target)

    def observe(self, beacon: object, passes: bool) -> None:
        """Write the source line that is being lowered to ``beacon``.

        With ``passes``, also write whether a pass manager runs.
        """
        self._beacon = beacon
        if passes:
            _tell_pass_managers(beacon)

    def compile(
        self,
        job: Document,
        function: object,
        on_stage: Callable[..., None],
        on_made: Callable[..., None],
    ) -> tuple[Document, Document]:
        """Compile one job, and return its metrics and the output of each stage.

        Each stage calls ``on_stage(name)`` when it begins, and ``on_made(name, result)`` when it
        ends. Raises what Triton raises.
        """
        self._ptxas_log.clear()
        self._on_stage, self._on_made = on_stage, on_made
        try:
            compiled = self._compile_job(job, function)
        finally:
            self._on_stage = self._on_made = _ignore
        on_made("metadata", metrics.launch_metadata(compiled))
        return (
            metrics.of(compiled, job["target"], "\n".join(self._ptxas_log), _disassembler()),
            compiled.asm,
        )

    def _compile_job(self, job: Document, function: object) -> Any:
        """Return the kernel that Triton compiles from a file of IR, a launch, or a signature."""
        if not self._has_compiled and "nvidia" in (backends := _backends()):
            settle_pointer_width(backends["nvidia"])
        self._has_compiled = True
        source, options = job.get("ir"), call.options_of(job)
        if not source:
            # A mistake in the kernel file is not the kernel's, so the stage is still source.
            values = call.constants(function, job)
            if isinstance(function, types.FunctionType) and not hasattr(function, "fn"):
                raise TypeError(
                    "%s is not a jit function: %s" % (function.__name__, _why_not_jit(function))
                )
            if not job["launch"]:
                job, values = call.with_defaults(function, job, values)
            self._on_stage("ast")
            if job["launch"]:
                return call.compile_launch(_jit_function(function), job, values)
            function = _jit_function(function)
            source = call.ast_source(function, job, values)
            options = call.options_of_signature(function, job)
        return self._triton.compile(source, target=driver.target(job["target"]), options=options)

    def kernel_line(
        self, error: BaseException, job: Document, function: Function
    ) -> tuple[str, int] | None:
        """Return the line of the kernel's file that a failure before the first pass is about.

        It is the line that was being lowered, or else the line at which Triton looked up the names
        that the function uses, or else the function's first line.
        """
        if function is None:
            return None
        in_flight: tuple[str, int] | None = self._beacon.line if self._beacon else None
        return in_flight or _line_looked_at(error, self._library) or _first_line(function)

    def knows_target(self, facts: Document) -> bool | None:
        """Return whether an assembler in Triton's package knows a target.

        Returns ``None`` if the package contains none.
        """
        nvidia = _backends().get("nvidia")
        if nvidia is None or facts["backend"] != "cuda":
            return None
        folder = _programs(nvidia)
        assemblers = (
            [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("ptxas")]
            if os.path.isdir(folder)
            else []
        )
        return (
            any(_contains(path, b"sm_%d" % facts["arch"]) for path in assemblers)
            if assemblers
            else None
        )

    # --- observing ---

    def _tell_stages(self) -> None:
        """Report when a stage begins and ends, by wrapping the functions of a backend's stages."""
        for backend in _backends().values():
            backend.compiler.add_stages = self._announcing(backend.compiler.add_stages)

    def _announcing(self, add_stages: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(add_stages)
        def add_announced_stages(
            backend: object, stages: Objects, *rest: object, **options: object
        ) -> None:
            add_stages(backend, stages, *rest, **options)
            for name, make in list(stages.items()):
                stages[name] = self._wrap_stage(name, make)

        return add_announced_stages

    def _wrap_stage(self, name: str, make: Callable[..., object]) -> Callable[..., object]:
        def make_announced(source: object, metadata: object) -> object:
            self._on_stage(name)
            artifact = make(source, metadata)
            self._on_made(name, artifact)
            return artifact

        return make_announced

    def _tell_source_lines(self) -> None:
        """Keep the line being lowered on the beacon, for front-end failures that end the process.

        The line of an expression is on the beacon again after its parts have been lowered. A call
        over several lines fails in its first line, where Triton puts its caret. Lines of Triton's
        own library are skipped, because a kernel's author can only change the caller.
        """
        from triton.compiler.code_generator import CodeGenerator

        begin, visit = CodeGenerator.__init__, CodeGenerator.visit
        library = self._library

        def begin_in_place(generator: CodeGenerator, *rest: object, **options: Value) -> None:
            if "file_name" in options:
                generator._compat_path = str(options["file_name"])
                options["file_name"] = self._driver_path(options["file_name"])
            begin(generator, *rest, **options)

        def visit_in_sight(generator: CodeGenerator, node: object) -> object:
            line = getattr(node, "lineno", None)
            path = generator.__dict__.get("_compat_path") or str(generator.file_name)
            if line is None or self._beacon is None or path.startswith(library):
                return visit(generator, node)
            around = self._beacon.line
            self._beacon.at(path, generator.begin_line + line)
            lowered = visit(generator, node)
            if around is not None:  # not in a finally: the line of a failure stays on the beacon
                self._beacon.at(*around)
            else:  # all of the kernel is lowered: a later failure has no line
                self._beacon.clear()
            return lowered

        CodeGenerator.__init__, CodeGenerator.visit = begin_in_place, visit_in_sight

    def _driver_path(self, path: object) -> object:
        """Return the name on the driver of a file whose name compilers record."""
        for here, there in self._places:
            if isinstance(path, str) and path.startswith(here + os.sep):
                return there + path[len(here) :]
        return path

    def _keep_ptxas_log(self) -> None:
        """Read ptxas's output about registers and spills before Triton discards it.

        Triton runs ``ptxas -v``.
        """
        nvidia = _backends().get("nvidia")
        if nvidia is None:
            return

        def run(command: Any, *rest: Value, **options: Value) -> object:
            result = subprocess.run(command, *rest, **options)  # noqa: PLW1510 - the compiler says it
            log = _log_of(command, options)
            if log is not None and os.path.exists(log):
                with open(log, encoding="utf-8", errors="replace") as file:
                    self._ptxas_log.append(file.read())
            return result

        shim = types.ModuleType("subprocess")
        shim.__dict__.update(subprocess.__dict__, run=run)
        # Some releases load their backends as modules that are not in sys.modules. Only their
        # functions give access to them.
        nvidia.compiler.make_cubin.__globals__["subprocess"] = shim


def _why_not_jit(function: types.FunctionType) -> str:
    """Return the reason why a function without a kernel is none.

    A package may replace Triton where it finds no GPU or no installed package, with decorators that
    do nothing.
    """
    code = function.__code__  # its first line is that of its first decorator
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    head = takewhile(lambda line: not line.startswith(("def ", "class ")), map(str.strip, lines))
    decorators = [line for line in head if line.startswith("@")]
    # Another one, such as `@staticmethod`, may stand above.
    of_triton = [line for line in decorators if re.search(r"\bjit\b", line)] or decorators
    return (
        "its decorator %s returned a plain function" % of_triton[0]
        if of_triton
        else "@triton.jit is missing"
    )


def _contains(path: str, data: bytes) -> bool:
    """Whether a file contains these bytes.

    Names of targets are in the last third of an assembler, so the search begins at the end.
    """
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.rfind(data) >= 0


def _line_looked_at(error: BaseException, library: str) -> tuple[str, int] | None:
    """Return the line at which Triton looked up the names that a function uses.

    Triton does that for its cache key, before it generates code.
    """
    first: tuple[str, int] | None = None
    location: tuple[str, int] | None = None
    traceback = error.__traceback__
    while traceback is not None:
        names = traceback.tb_frame.f_locals
        if traceback.tb_frame.f_code.co_name == "cache_key":
            first = _first_line(names.get("self"))  # reads a file, so not for each node
        elif first is not None and isinstance(names.get("node"), ast.AST):
            line = getattr(names["node"], "lineno", None)
            if line is not None and not first[0].startswith(library):
                location = first[0], first[1] + line - 1
        traceback = traceback.tb_next
    return location


def _first_line(function: object) -> tuple[str, int] | None:
    """Return file and line of a kernel's ``def``, below its decorators.

    Triton counts lines from there.
    """
    # An attribute of an object of a kernel's file could run code, so only dictionaries are read.
    while not isinstance(function, types.FunctionType):
        function = getattr(function, "__dict__", {}).get("fn")
        if function is None:
            return None
    code = function.__code__
    try:
        lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError):
        return code.co_filename, code.co_firstlineno
    return code.co_filename, first + next(
        (n for n, line in enumerate(lines) if line.lstrip().startswith("def ")), 0
    )


def _tell_pass_managers(beacon: Any) -> None:
    """Keep on the beacon whether a pass manager runs.

    The last dumped pass is relevant only then.
    """
    from triton._C.libtriton import ir

    run = ir.pass_manager.run

    def run_in_sight(manager: Any, *arguments: Value) -> object:
        beacon.in_passes(True)
        result = run(manager, *arguments)
        # This is not in a finally, so that the beacon still shows a pass manager that failed.
        beacon.in_passes(False)
        return result

    ir.pass_manager.run = run_in_sight


def _backends() -> Objects:
    from triton.backends import backends

    return dict(backends)


def _programs(nvidia: ModuleType) -> str:
    """Return the folder of the programs for NVIDIA in Triton's package."""
    return os.path.join(
        os.path.dirname(nvidia.compiler.add_stages.__wrapped__.__code__.co_filename), "bin"
    )


def _disassembler() -> str | None:
    """Return the path of Triton's program that disassembles a cubin.

    Returns ``None`` if there is none.
    """
    nvidia = _backends().get("nvidia")
    path = os.environ.get("TRITON_NVDISASM_PATH") or (
        os.path.join(_programs(nvidia), "nvdisasm") if nvidia else ""
    )
    return path if os.path.exists(path) else None


def _jit_function(function: object) -> object:
    """Return the function behind decorators that tune or choose, such as ``@triton.autotune``."""
    while not hasattr(function, "parse") and hasattr(function, "fn"):
        function = function.fn
    return function


def _skip_hashing_the_package(compiler: types.ModuleType) -> None:
    """Replace ``triton_key()``, which hashes the whole package (0.75 to 1.1 s), with a constant.

    The key only guards Triton's own cache, which is private to a batch and never read here. So it
    also needs no version of ptxas, for which each process would have to run ptxas.
    """
    for module in (compiler, _module("triton.runtime.cache"), _module("triton.runtime.jit")):
        if module is not None and hasattr(module, "triton_key"):
            module.triton_key = lambda: "private"  # type: ignore[attr-defined]
    for backend in _backends().values():
        backend.compiler.hash = lambda _: "private"


def _write_cached_files_in_place() -> None:
    """Have Triton write the files of its cache in place, as no other process reads the cache.

    From 3.2.0 on, Triton makes a folder for each file, moves the file out of it, and removes it.
    """
    from triton.runtime.cache import FileCacheManager

    def put(cache: Any, data: object, filename: str, *_: object, **__: object) -> str:
        path: str = cache._make_path(filename)
        with open(path, "wb" if isinstance(data, bytes) else "w") as file:
            file.write(data if isinstance(data, bytes) else str(data))
        return path

    FileCacheManager.put = put


def _learn_assemblers() -> None:
    """Have Triton learn the versions of the assemblers in its package.

    From 3.5.0 on, Triton remembers a version by the path of the assembler, and runs the assembler
    on first use. Otherwise each child would run it.
    """
    knobs: Any = _module("triton.knobs")
    for tool in vars(type(getattr(knobs, "nvidia", None))).values():
        path = getattr(tool, "default_path", "")
        if os.path.basename(path).startswith("ptxas"):
            with suppress(OSError):
                knobs.NvidiaTool.from_path(path)


def _prepare_llvm() -> None:
    """Have LLVM register its targets, which takes 2 ms of a child. Later calls do nothing."""
    from triton._C.libtriton import llvm

    if hasattr(llvm, "init_targets"):
        llvm.init_targets()


def _read_signatures_in_time(compiler: types.ModuleType) -> None:
    """Find the function of an IR file by its line alone.

    Up to 3.2.0, Triton uses a regular expression that takes exponential time if newer releases have
    added locations or attributes to arguments. Triton needs the match only for the function's name,
    and for the types of arguments of a launch.
    """
    patterns = getattr(compiler, "prototype_pattern", {})
    patterns.update({kind: _MLIR_FUNCTION for kind in ("ttir", "ttgir") if kind in patterns})


def _module(name: str) -> types.ModuleType | None:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        return None


_REDIRECTED = re.compile(r"2>\s*(\S+)\s*$")


def _log_of(command: object, options: dict[str, object]) -> str | None:
    """Return the file that ``ptxas -v`` writes to.

    It is a shell redirection in 3.0 and 3.1, and an open file later.
    """
    if isinstance(command, str):
        redirected = _REDIRECTED.search(command)
        return redirected.group(1) if redirected else None
    return getattr(options.get("stderr"), "name", None)


def _ignore(*_: object) -> None:
    pass


# --- the width of pointers into shared memory -----------------------------------------------------

_FLAG = "nvptx-short-ptr"
_MODULE = 'target triple = "nvptx64-nvidia-cuda"\n'


def settle_pointer_width(nvidia: ModuleType) -> None:
    """Make a process compile its first kernel like all later ones, by compiling an empty module.

    3.2.0 to 3.3.1 tell LLVM to use 32 bits for pointers into shared memory when a kernel becomes
    PTX. This setting stays for the process. But Triton reads the data layout before it. So the
    first kernel that a process compiles has 64 bits, with other instructions, registers and times,
    and all others have 32. 3.0 and 3.1 do not use the setting. From 3.4.0 on it is the same for all
    kernels.
    """
    if not _sets_it_late(nvidia.compiler):
        return
    from triton._C.libtriton import llvm

    llvm.init_targets()
    llvm.translate_to_asm(_MODULE, "nvptx64-nvidia-cuda", "sm_80", "", [_FLAG], True, False)


def _sets_it_late(compiler: object) -> bool:
    """Whether PTX is made with the option, and the data layout is read without it."""
    lowers, prints = (
        getattr(getattr(compiler, name, None), "__code__", None)
        for name in ("make_llir", "make_ptx")
    )
    return (
        lowers is not None
        and prints is not None
        and "attach_datalayout" in lowers.co_names
        and _FLAG not in lowers.co_consts
        and _FLAG in prints.co_consts
    )
