"""Compiles and launches, by kind. The recorder writes down the first of each kind.

Launches of one kind agree in everything that a compile can depend on.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ....inside.recorder.journal import UnwritableArgument, module_label
from ..adapter.pipeline import COMPILES
from . import objects
from .arguments import Symbols, argument
from .device import UncompiledFunction

if TYPE_CHECKING:
    from ....inside.foreign import Document, Function, Objects, Value
    from ..foreign import Type
    from .recording import CuteRecording

_OF_THE_CALL = frozenset(
    {"compile_only", "no_cache", "pipeline", "gpu_module_attrs", "no_jit_engine", "_name_prefix"}
)
"""The parameters of ``BaseDSL._func`` that are not arguments of the function."""
_OF_THE_HOST = frozenset(
    {
        "enable-tvm-ffi",
        "keep-ptx",
        "keep-cubin",
        "keep-sass",
        "dump-dir",
        "gpu-arch",
        "generate-line-info",
        "host-target",
        "rdc",
    }
)
"""Options that do not change the code for a target."""
_CALL = "__call__"


class _CompileOnly(BaseException):
    """The exception that leaves a compile once there is code, so that nothing is launched."""


def watch(recording: CuteRecording) -> None:
    """Record what CuTe DSL compiles and launches from now on."""
    from cutlass.base_dsl import compiler, dsl

    log = _CompileLog(recording)
    recording.replace(dsl.BaseDSL, "_func", log.watching(dsl.BaseDSL._func))
    recording.replace(compiler.Compiler, "compile", log.compiling(compiler.Compiler.compile))
    if hasattr(compiler, "CompileCallable"):
        callable_ = compiler.CompileCallable
        recording.replace(callable_, "_compile", log.asking(callable_._compile))
    elif hasattr(compiler, "CompileOptions"):
        kind = compiler.CompileOptions
        recording.replace(kind, "__init__", log.wrap_options_constructor(kind.__init__))
    if hasattr(dsl.BaseDSL, "_preprocess_and_execute"):
        recording.replace(
            dsl.BaseDSL,
            "_preprocess_and_execute",
            staticmethod(log.naming(dsl.BaseDSL._preprocess_and_execute)),
        )


class _CompileLog:
    """The kinds of launches seen in this process."""

    def __init__(self, recording: CuteRecording) -> None:
        self._recording = recording

    def watching(self, run: Callable[..., object]) -> Callable[..., object]:
        """Wrap ``BaseDSL._func`` so that its calls are recorded.

        A function that is called while another one is traced is a part of that one.
        """
        now, fake = self._recording.now, self._recording.settings["fake"]

        @functools.wraps(run)
        def recording_run(
            dsl: Value, function: object, /, *arguments: object, **options: object
        ) -> object:
            plain = self._plain(function)
            if (
                getattr(now, "tracing", False)
                or (plain.__module__ or "").partition(".")[0] == "cutlass"
            ):
                return run(dsl, function, *arguments, **options)
            key = self._note(plain, arguments, options)
            needs_original = self._recording.originals.wants(key, _identity(plain, arguments))
            if fake and not needs_original:
                return UncompiledFunction(plain) if options.get("compile_only") else None
            with self._tracing(key if needs_original else None):
                try:
                    return run(dsl, function, *arguments, **options)
                except _CompileOnly:
                    dsl.post_compilation_cleanup()
                except Exception as error:
                    self._recording.record_failure(key, error)
                    if key is not None and needs_original:
                        self._recording.originals.record_failure(key, error, _arch())
                    if not fake:
                        raise
                    dsl.post_compilation_cleanup()
            return UncompiledFunction(plain) if options.get("compile_only") else None

        return recording_run

    def compiling(self, run: Callable[..., object]) -> Callable[..., object]:
        """Wrap ``Compiler.compile`` so that wanted code is kept.

        Without a GPU, nothing happens after the compile.
        """
        now, originals, fake = (
            self._recording.now,
            self._recording.originals,
            self._recording.settings["fake"],
        )

        @functools.wraps(run)
        def run_and_keep(
            compiler: object, module: object, pipeline: str, *rest: object, **options: object
        ) -> object:
            key = getattr(now, "key", None)
            if key is None or COMPILES not in pipeline:
                return run(compiler, module, pipeline, *rest, **options)
            result = run(compiler, module, originals.pipeline(pipeline), *rest, **options)
            originals.record_code(key, module, _arch())
            if fake:
                raise _CompileOnly
            return result

        return run_and_keep

    def asking(self, compile_: Callable[..., object]) -> Callable[..., object]:
        """Wrap ``cute.compile``, from 4.3 on, so that its options are noted.

        The options are in a text, or were set before the call.
        """
        now = self._recording.now

        @functools.wraps(compile_)
        def recording_compile(self: Any, *arguments: Value, **options: Value) -> object:
            option_text = options.get("options")
            now.options = (
                option_text
                if isinstance(option_text, str) and option_text
                else _options_text(self._compile_options)
            )
            try:
                return compile_(self, *arguments, **options)
            finally:
                now.options = ""

        return recording_compile

    def wrap_options_constructor(self, construct: Callable[..., None]) -> Callable[..., None]:
        """Wrap the constructor of compile options, in 4.1 and 4.2, so that they are noted."""
        now = self._recording.now

        @functools.wraps(construct)
        def recording_construct(self: object, options: str = "") -> None:
            construct(self, options)
            now.options = options

        return recording_construct

    def naming(self, preprocess: Callable[..., object]) -> Callable[..., object]:
        """Wrap the preprocessing of functions, up to 4.2, so that the original one is noted."""
        now = self._recording.now

        @functools.wraps(preprocess)
        def recording_preprocess(function: object) -> object:
            new_function = preprocess(function)
            if not getattr(now, "tracing", False):
                now.written = (new_function, function)
            return new_function

        return recording_preprocess

    @contextmanager
    def _tracing(self, key: str | None) -> Iterator[None]:
        now = self._recording.now
        now.tracing, now.key = True, key
        try:
            yield
        finally:
            now.tracing, now.key = False, None

    def _plain(self, function: object) -> Any:
        new_function, written = getattr(self._recording.now, "written", (None, None))
        return written if new_function is function and new_function is not None else function

    def _note(self, function: Function, arguments: tuple[Any, ...], options: Objects) -> str | None:
        """Write a launch down if it is the first of its kind, and return the key of the kind.

        Returns ``None`` if the launch cannot be written down.
        """
        accounted = self._recording.inspect(
            functools.partial(self._account, function, arguments, options),
            functools.partial(self._record_refusal, function, arguments),
        )
        if accounted is None:
            return None
        kind, launch = accounted
        self._recording.count_launch(kind, lambda: dict(launch, grid=None))
        return str(kind)

    def _account(
        self, function: Function, arguments: tuple[object, ...], options: dict[str, object]
    ) -> tuple[str, Document]:
        """Return the key of a launch's kind, and the record of the launch.

        Raises UnwritableArgument.
        """
        functions, symbols = self._recording.functions, Symbols()
        parameters = _bound_parameters(function, arguments, options)
        kernel = _kernel(function, parameters)
        launch: Document = {"args": {}, "constexprs": {}}
        if kernel is not function:
            self._constructor(parameters.pop("self")[0], launch)
        for name, (value, annotation) in parameters.items():
            try:
                table, form = argument(name, value, annotation, symbols, functions)
            except UnwritableArgument as error:
                raise UnwritableArgument("its argument %s %s" % (name, error)) from None
            if launch["constexprs"].get(name, form) != form or (
                table == "args" and name in launch["constexprs"]
            ):
                raise UnwritableArgument(
                    "its constructor and its call both take an argument %s, and it differs" % name
                )
            launch[table][name] = form
        launch["options"] = _options(
            getattr(self._recording.now, "options", "") if options.get("compile_only") else ""
        )
        launch["function"] = functions.id_of(kernel)
        kind = json.dumps(
            [launch[name] for name in ("function", "args", "constexprs", "options")],
            sort_keys=True,
            default=repr,
        )
        return hashlib.sha1(kind.encode("utf-8", "backslashreplace")).hexdigest(), launch  # noqa: S324 - a name

    def _constructor(self, value: object, launch: Document) -> None:
        made_of = objects.constructor_arguments(value)
        if made_of is None:
            raise UnwritableArgument("is an object whose constructor arguments are unknown")
        for name, argument_value in made_of.items():
            try:
                table, form = argument(
                    name, argument_value, "Constexpr", Symbols(), self._recording.functions
                )
            except UnwritableArgument as error:
                raise UnwritableArgument(
                    "the argument %s of its constructor %s" % (name, error)
                ) from None
            launch[table][name] = form

    def _record_refusal(self, function: Function, arguments: tuple[Any, ...], why: str) -> None:
        code = getattr(function, "__code__", None)
        module = module_label(function.__module__ or "", code.co_filename if code else "")
        name = (
            type(arguments[0]).__name__
            if function.__name__ == _CALL and arguments
            else function.__name__
        )
        self._recording.record_omission(module, name, why)


def _identity(function: Function, arguments: tuple[Any, ...]) -> object:
    """Return the function or class that identifies a kernel in this process."""
    return type(arguments[0]) if function.__name__ == _CALL and arguments else function


def _kernel(function: Function, parameters: Objects) -> object:
    """Return the function or class that a kernel file names. Raises UnwritableArgument."""
    if "." not in function.__qualname__.rpartition("<locals>.")[2]:
        return function
    if function.__name__ != _CALL or "self" not in parameters:
        raise UnwritableArgument(
            "is a method, and __call__ is the only captured method of an object"
        )
    return type(parameters["self"][0])


def _bound_parameters(
    function: Function, arguments: tuple[object, ...], options: dict[str, object]
) -> dict[str, tuple[object, object]]:
    """Return parameter → its argument, and its annotation. Raises UnwritableArgument."""
    try:
        signature = inspect.signature(function)
        bound = signature.bind(
            *arguments,
            **{name: option for name, option in options.items() if name not in _OF_THE_CALL},
        )
    except TypeError as error:
        raise UnwritableArgument("is given arguments that it does not take: %s" % error) from None
    parameters: dict[str, tuple[Any, Any]] = {}
    for name, value in bound.arguments.items():
        parameter = signature.parameters[name]
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise UnwritableArgument("takes any number of arguments")
        parameters[name] = value, _annotation(function, parameter.annotation)
    return parameters


def _annotation(function: Function, annotation: Type) -> object:
    """Return the value of an annotation, or the string itself if it cannot be evaluated."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, function.__globals__)  # noqa: S307 - code of the same program
    except Exception:
        return annotation


def _options_text(options: Any) -> str:
    """Return the options of ``cute.compile[…]`` that differ from the defaults, as text."""
    usual = type(options)().options
    flags = []
    for kind, option in options.options.items():
        name = (
            getattr(kind, "_cli_flag", None)
            or getattr(kind, "option_name", None)
            or getattr(kind, "_option_name", None)
        )
        if name and option.value != usual[kind].value:
            flags.append(
                "--%s" % name
                if option.value is True
                else "--%s %s" % (name, shlex.quote(str(option.value)))
            )
    return " ".join(flags)


def _options(text: str) -> Objects:
    """Return the options in a text by name, without those of the host.

    Raises UnwritableArgument.
    """
    options: Objects = {}
    name = None
    for word in shlex.split(text or ""):
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            options[name] = _option(value) if equals else True
        elif name is None or options[name] is not True:
            raise UnwritableArgument("is compiled with the options %r" % text)
        else:
            options[name] = _option(word)
    return {name: value for name, value in options.items() if name not in _OF_THE_HOST}


def _option(word: str) -> int | str:
    return int(word) if word.isdigit() else word


def _arch() -> str:
    from cutlass.cutlass_dsl import CuTeDSL

    return str(CuTeDSL._get_dsl().envar.arch)
