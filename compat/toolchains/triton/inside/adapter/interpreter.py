"""Triton's interpreter, which runs kernels with NumPy instead of compiling them.

It is active if ``TRITON_INTERPRET`` was set to 1 before Triton was imported: kernels, and the
functions of Triton's own library, are then ``InterpretedFunction`` objects. The features that a
kernel uses are recorded, with the types of elements. So a defect of the interpreter does not count
against a kernel that it does not concern.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import types
from typing import TYPE_CHECKING, Any, Callable

from . import call

if TYPE_CHECKING:
    from ....inside.foreign import Document, Function, Objects, Value

_CHOOSE = ("maxnumf", "minnumf")


class Interpreting:
    """The interpreter of the release that was imported."""

    def __init__(self) -> None:
        """Prepare Triton's interpreter.

        Raises ImportError without PyTorch or NumPy, and RuntimeError if Triton was imported for
        compiling.
        """
        import triton
        from triton.runtime import interpreter

        if isinstance(triton.jit(_nothing), triton.JITFunction):
            raise RuntimeError(  # noqa: TRY004 - the process is at fault
                "Triton was imported without TRITON_INTERPRET=1"
            )
        importlib.import_module("torch").set_num_threads(1)
        self._kind: type = interpreter.InterpretedFunction
        self._handle: Any = interpreter.TensorHandle
        self._dtype: Any = triton.language.dtype
        self._features: set[tuple[str, str, str]] = set()
        spare_repeated_work(interpreter)
        builder = interpreter.InterpreterBuilder
        for name, member in list(vars(builder).items()):
            if name.startswith("create_") and isinstance(member, types.FunctionType):
                setattr(builder, name, self._noting(name[len("create_") :], member))

    def prepare(
        self, function: object, job: Document, problem: Document
    ) -> Callable[[tuple[int, ...]], None]:
        """Return a function that launches a kernel on a problem with the job's constexprs.

        Its argument is the grid. Raises ValueError if the arguments are not those of the kernel.
        """
        kernel = self._interpreted_function(function)
        constexprs = {
            name: value for name, value in call.constants(function, job).items() if "[" not in name
        }
        arguments = _with_descriptors(problem, {**job["signature"], **(job["launch"] or {})})
        both = sorted(set(constexprs) & set(arguments))
        if both:
            raise ValueError("%s is a constexpr of the case, not an argument" % ", ".join(both))
        try:
            bound = inspect.signature(kernel.fn).bind(**arguments, **constexprs)
        except TypeError as error:
            raise ValueError("the arguments are not those of the kernel: %s" % error) from None
        self._features.clear()

        def launch(grid: tuple[int, ...]) -> None:
            kernel[grid](*bound.args, **bound.kwargs)

        return launch

    def uses(self, function: object) -> list[str]:
        """Return the features that were used since a launch was prepared, and names in the code.

        Names that the kernel and its helpers use have the form ``.name``.
        """
        names: set[str] = set()
        self._add_names(self._interpreted_function(function), names, set())
        features = {
            "%s%s%s" % (name, sign, kind.rstrip(">").rpartition("<")[2].rpartition(" ")[2])
            for name, sign, kind in self._features
        }
        return [*sorted(features), *sorted(".%s" % name for name in names)]

    def _interpreted_function(self, function: object) -> Any:
        """Return the interpreted function behind decorators that tune or choose.

        Raises TypeError if there is none.
        """
        while not isinstance(function, self._kind):
            if hasattr(function, "is_gluon") and function.is_gluon():
                raise TypeError("kernels of Gluon are not supported in interpreter mode")
            if not hasattr(function, "fn"):
                raise TypeError("%r is not a kernel that can be interpreted" % (function,))
            function = function.fn
        return function

    def _add_names(self, kernel: Function, names: set[str], seen: set[int]) -> None:
        """Add the names in the code of a kernel, and of the functions that it uses.

        These are kernels among the globals of its module.
        """
        if id(kernel) in seen:
            return
        seen.add(id(kernel))
        names.update(kernel.fn.__code__.co_names)
        for name in kernel.fn.__code__.co_names:
            other = kernel.fn.__globals__.get(name)
            if isinstance(other, self._kind):
                self._add_names(other, names, seen)

    def _noting(self, name: str, member: Callable[..., object]) -> Callable[..., Any]:
        """Return a method of the builder that records its use.

        It records its name with the element types of its arguments (``dot:bf16``) or of its result
        (``fp_trunc>bf16``). For the larger or smaller of two values, it also records whether one
        was NaN (``maxnumf:nan``).
        """
        features, handle, dtype = self._features, self._handle, self._dtype
        looks = name in _CHOOSE

        @functools.wraps(member)
        def note_and_call(builder: Any, *arguments: Value, **named: Value) -> Any:
            for argument in arguments:
                if isinstance(argument, handle):
                    features.add((name, ":", argument.dtype.name))
                    if looks and (argument.data != argument.data).any():
                        features.add((name, ":", "nan"))
                elif isinstance(argument, dtype):
                    features.add((name, ">", argument.name))
            return member(builder, *arguments, **named)

        return note_and_call


def spare_repeated_work(interpreter: Any) -> None:
    """Let Triton's interpreter do once what it does again and again, with the same results.

    That took more than half of the time of our kernels.
    """
    if not hasattr(interpreter, "_LangPatchScope"):
        # Up to 3.5, each call of a helper gives Triton's language the interpreter's functions.
        interpreter._patch_lang = functools.lru_cache(maxsize=None)(interpreter._patch_lang)
    # Each question for a type makes a table of all types. Pointers cannot be keys.
    make, types = interpreter._get_np_dtype, {}

    def numpy_type(of: Any) -> Any:
        name = str(of.scalar)
        if name not in types:
            types[name] = make(of.scalar)
        return types[name]

    interpreter._get_np_dtype = numpy_type
    options = interpreter.interpreter_builder.options
    if getattr(options, "sanitize_overflow", False) and not options.debug:
        # The sums of 64 bits are for an assertion that Triton then leaves out.
        object.__setattr__(options, "sanitize_overflow", False)


def _with_descriptors(problem: Document, types: Objects) -> Objects:
    """Return a problem's arguments, with a descriptor for each tensor that the kernel takes as one.

    Raises ValueError if the release has no such descriptor.
    """
    return {
        name: call.descriptor_of(value, types[name], problem["descriptors"].get(name, {}))
        if str(types.get(name)).startswith("tensordesc")
        else value
        for name, value in problem["arguments"].items()
    }


def _nothing() -> None:
    pass
