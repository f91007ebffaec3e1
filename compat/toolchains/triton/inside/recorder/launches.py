"""Records of launches, distinguished by everything that a compile can depend on.

The first launch of each kind is recorded.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ....inside.recorder.journal import UnwritableArgument, module_label, of_launch
from .arguments import argument, constexpr, is_constant, launch_facts, unwrap_constexpr
from .device import driver
from .graphs import GraphKernels, calling

if TYPE_CHECKING:
    from ....inside.foreign import Document, Function, Objects
    from ..foreign import Autotuner
    from .recording import TritonRecording

_LAUNCHING = frozenset({"grid", "warmup"})
"""The keywords of a launch besides arguments and options, even if a parameter has the name."""
_OPTIONS = frozenset({"num_warps", "num_ctas", "num_stages", "maxnreg"})
"""Options that a launch passes on to the compiler even if a parameter has the name."""


_LIBRARIES = frozenset({"triton", "torch"})
"""Packages whose jit functions are not kernels of the program."""


_INDUCTOR = "torch._inductor.runtime.triton_heuristics"


def watch(recording: TritonRecording, triton: ModuleType) -> None:
    """Record what Triton launches from now on."""
    from triton.runtime import autotuner, jit

    log = _Log(recording)
    recording.replace(jit.JITFunction, "run", log.watching(jit.JITFunction.run))
    recording.replace(
        jit.JITFunction, "__init__", _recording_init(recording, jit.JITFunction.__init__)
    )
    recording.replace(autotuner.Autotuner, "run", log.tuning(autotuner.Autotuner.run, "chosen"))
    recording.replace(
        autotuner.Autotuner, "_bench", log.tuning(autotuner.Autotuner._bench, "candidate")
    )
    recording_compile = log.compiling(triton.compiler.compile)
    for owner in (triton.compiler, triton):
        recording.replace(owner, "compile", recording_compile)
    if recording.settings["fake"]:
        recording.finally_do(log.forget)
    recording.imports.after(_INDUCTOR, log.watch_inductor)


def _recording_init(recording: TritonRecording, init: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(init)
    def recording_init(self: object, fn: Function, *rest: object, **options: object) -> None:
        init(self, fn, *rest, **options)
        code, module = getattr(fn, "__code__", None), getattr(fn, "__module__", None) or ""
        if code is not None and module.partition(".")[0] not in _LIBRARIES:
            module = module_label(module, code.co_filename)
            recording.journal.write(
                r="defined", module=module, name=fn.__name__, line=code.co_firstlineno
            )

    return recording_init


class _Log:
    """The kinds of launches seen in this process."""

    def __init__(self, recording: TritonRecording) -> None:
        self._recording = recording
        self._tuners: dict[int, Any] = {}
        self._graphs = GraphKernels(recording, _options, _grid, self._record_omission)

    def forget(self) -> None:
        """Make Triton forget kernels without a compile, and configurations that were not timed."""
        for function in self._recording.functions.known_functions():
            for name in ("cache", "device_caches"):
                getattr(function, name, {}).clear()
        for tuner in self._tuners.values():
            tuner.cache.clear()

    def watch_inductor(self, module: Any) -> None:
        """Mark the launches with which Inductor times configurations."""
        tuner = module.CachingAutotuner
        self._recording.replace(tuner, "bench", self._graphs.timing(tuner.bench))

    def watching(self, run: Callable[..., object]) -> Callable[..., object]:
        """Return a ``JITFunction.run`` that records launches."""
        now = self._recording.now

        @functools.wraps(run)
        def recording_run(function: object, /, *arguments: object, **options: object) -> object:
            before = getattr(now, "launching", False), getattr(now, "key", None)
            now.launching, now.key = True, self._note(function, arguments, options)
            try:
                return run(function, *arguments, **options)
            except Exception as error:
                self._recording.record_failure(now.key, error)
                raise
            finally:
                now.launching, now.key = before

        return recording_run

    def tuning(self, method: Callable[..., object], role: str) -> Callable[..., object]:
        """Return a method of the autotuner that marks launches inside it with their role."""

        @functools.wraps(method)
        def tune(tuner: Autotuner, /, *arguments: object, **options: object) -> object:
            if role == "candidate" and self._recording.settings["fake"]:
                self._tuners[id(tuner)] = tuner
                _time_nothing(tuner)
            several = len(tuner.configs) > 1
            with self._role(role if several else None, _tuned_names(tuner) if several else None):
                return method(tuner, *arguments, **options)

        return tune

    def compiling(self, compile_it: Callable[..., object]) -> Callable[..., object]:
        """Return a ``triton.compile`` that records compiles.

        Launches call it, too, because all releases look it up for each launch.
        """
        originals, now = self._recording.originals, self._recording.now

        @functools.wraps(compile_it)
        def recording_compile(
            src: object, target: object = None, options: object = None, **more: object
        ) -> object:
            if getattr(now, "launching", False):
                originals.record_inputs(now.key, src, target, options)
                return compile_it(src, target=target, options=options, **more)
            tuner = calling()
            compile_now = compile_it
            if tuner is None and self._recording.compile_directly is not None:
                compile_now = self._recording.compile_directly
            if not hasattr(getattr(src, "fn", None), "fn"):
                self._record_omission(
                    None, "a file of IR is compiled by triton.compile, and not launched"
                )
                return compile_now(src, target=target, options=options, **more)
            key = self._graphs.note(src, options, tuner)
            if self._is_for_target(target):
                originals.record_inputs(key, src, target, options)
            try:
                compiled_kernel = compile_now(src, target=target, options=options, **more)
            except Exception as error:
                self._recording.record_failure(key, error)
                raise
            return self._graphs.watch_launches(compiled_kernel, key, src)

        return recording_compile

    def _is_for_target(self, target: Any) -> bool:
        """Whether code is compiled for the target of the recording.

        Without a fake GPU, any explicit target counts.
        """
        settings = self._recording.settings
        return target is not None and (
            not settings["fake"] or target.arch == settings["target"]["arch"]
        )

    @contextmanager
    def _role(self, role: str | None, names: list[str] | None) -> Iterator[None]:
        """Mark launches as those of an autotuner, with the constexprs that it changes."""
        now = self._recording.now
        before = getattr(now, "tuned", None), getattr(now, "tunes", None)
        now.tuned, now.tunes = role, names
        try:
            yield
        finally:
            now.tuned, now.tunes = before

    def _note(self, function: Function, arguments: tuple[Any, ...], options: Objects) -> str | None:
        """Record a launch if it is the first of its kind, and return the key of its kind.

        Returns ``None`` if the launch cannot be recorded.
        """
        recording, now = self._recording, self._recording.now
        accounted = recording.inspect(
            functools.partial(self._account, function, arguments, options),
            functools.partial(self._record_omission, function),
        )
        if accounted is None:
            return None
        kind, launch, bound = accounted

        def first_launch() -> Document:
            if recording.settings.get("problems"):
                launch["inputs"] = launch_facts(options.get("grid"), bound, launch["args"])
            return dict(launch)

        role, tuned_names = getattr(now, "tuned", None), getattr(now, "tunes", None)
        recording.count_launch(kind, first_launch, role, tunes=tuned_names)
        return str(kind)

    def _account(
        self, function: Function, arguments: tuple[object, ...], passed: dict[str, object]
    ) -> tuple[str, Document, Document]:
        """Return the key of a launch's kind, the launch for a record, and all its parameters.

        The parameters are by name. Raises UnwritableArgument.
        """
        functions, with_values = self._recording.functions, self._recording.settings["with_values"]
        if type(function).__name__ not in ("JITFunction", "GluonJITFunction"):
            raise UnwritableArgument("is a %s, which is not captured" % type(function).__name__)
        names = [param.name for param in function.params]
        if len(arguments) > len(names):
            raise UnwritableArgument(
                "is given %d arguments and takes %d" % (len(arguments), len(names))
            )
        values = dict(zip(names, arguments))
        values.update(
            (name, value)
            for name, value in passed.items()
            if name in names and name not in _LAUNCHING
        )
        launch: Document = {"args": {}, "constexprs": {}}
        kinds: list[Any] = []
        for parameter in function.params:
            name = parameter.name
            if name not in values and not parameter.has_default:
                raise UnwritableArgument("is not given the argument %s" % name)
            value = values[name] = values.get(name, parameter.default)
            try:
                if parameter.is_constexpr or is_constant(value):
                    launch["constexprs"][name] = form = constexpr(value, functions)
                    kinds.append(form)
                else:
                    launch["args"][name], kind = argument(value, with_values, functions)
                    kinds.append(kind)
            except UnwritableArgument as error:
                raise UnwritableArgument("its argument %s %s" % (name, error)) from None
        launch["options"] = _options(
            {name: value for name, value in passed.items() if name not in names or name in _OPTIONS}
        )
        launch["function"] = functions.id_of(function)
        launch["grid"] = _grid(passed.get("grid"))
        kind = json.dumps(
            [launch["function"], kinds, sorted(launch["options"].items())], separators=(",", ":")
        )
        return hashlib.sha1(kind.encode("utf-8", "backslashreplace")).hexdigest(), launch, values  # noqa: S324 - a name

    def _record_omission(self, function: object, why: str) -> None:
        plain, place = getattr(function, "fn", None), of_launch(self._recording.package) or {}
        code = getattr(plain, "__code__", None)
        module = (
            module_label(getattr(plain, "__module__", None) or "", code.co_filename)
            if code
            else place.get("module", "")
        )
        name = getattr(plain, "__name__", None) or place.get("function", "?")
        self._recording.record_omission(module, name, why)


def _tuned_names(tuner: Autotuner) -> list[str]:
    """Return the constexprs that the configurations of an autotuner set."""
    return sorted({name for config in tuner.configs for name in getattr(config, "kwargs", ())})


def _options(keywords: dict[str, object]) -> Objects:
    options = {}
    for name, passed in keywords.items():
        if name in _LAUNCHING or passed is None:
            continue
        try:
            options[name] = _option(passed)
        except UnwritableArgument as error:
            raise UnwritableArgument("is given the option %s, which %s" % (name, error)) from None
    return options


def _option(passed: object) -> object:
    """Return an option in the form of a kernel file, which has arrays for tuples.

    Raises UnwritableArgument.
    """
    value = unwrap_constexpr(passed)
    if isinstance(value, (tuple, list)):
        return [_option(item) for item in value]
    if not isinstance(value, (bool, int, float, str)):
        raise UnwritableArgument("is or has a %r" % type(value).__name__)
    return value


def _grid(grid: object) -> list[int] | None:
    """Return the grid if a launch states it.

    A function of the configuration has one grid for each configuration.
    """
    try:
        return [int(size) for size in grid] if isinstance(grid, (tuple, list)) else None
    except (TypeError, ValueError):
        return None


def _time_nothing(tuner: Autotuner) -> None:
    """Make an autotuner call each configuration once, and measure the same time for all."""
    tuner.use_cuda_graph = False
    tuner.do_bench = driver.benchmark
