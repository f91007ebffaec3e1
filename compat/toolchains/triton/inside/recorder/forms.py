"""Functions and values of Triton, as they are in a running process."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

from ....inside.recorder.functions import Forms
from ....inside.recorder.journal import UnwritableArgument
from .arguments import is_gluon, is_jit, type_of, unwrap_constexpr
from .layouts import layout_of

if TYPE_CHECKING:
    from ....inside.foreign import Document, Function, Value


class TritonForms(Forms):
    """The forms of Triton's functions and values."""

    packages = frozenset({"triton"})
    compiled = frozenset({"jit", "gluon"})
    public = ("triton.language", "triton.experimental.gluon.language")
    generated = ("torch._inductor.runtime",)

    def plain(self, function: Function) -> Function:
        """Return the Python function inside a jit function, a constexpr function or a tuner."""
        while not isinstance(function, (types.FunctionType, type)) and hasattr(function, "fn"):
            function = function.fn
        return function

    def kind(self, function: Function) -> str:
        """Return the kind of a class, or of a function that is compiled or runs in a compile."""
        function = _jit(function) if is_jit(_jit(function)) else function
        if is_jit(function):
            return "gluon" if is_gluon(function) else "jit"
        return (
            "constexpr_function"
            if type(function).__name__ == "ConstexprFunction"
            else super().kind(function)
        )

    def settings(self, function: Function) -> Document:
        """Return the arguments of ``@triton.jit`` that decide how a function is compiled."""
        function = _jit(function)
        names = ("do_not_specialize", "do_not_specialize_on_alignment", "noinline", "debug")
        settings = {name: getattr(function, name, None) for name in names}
        return {
            name: list(value) if isinstance(value, (list, tuple, set)) else value
            for name, value in settings.items()
            if value
        }

    def unwrap_constant(self, value: object) -> object:
        """Return the value in a ``tl.constexpr``, or any other value itself."""
        return unwrap_constexpr(value)

    def expression(self, value: Value) -> str | None:
        """Return the expression of a layout of Gluon, or ``None``."""
        return layout_of(value)

    def dtype(self, value: Value) -> str | None:
        """Return the name of a dtype of Triton, or ``None``."""
        if type(value).__name__ == "dtype" and type(value).__module__.startswith("triton.language"):
            try:
                return type_of(value)
            except UnwritableArgument:
                return None
        return None


def _jit(function: object) -> object:
    """Return the jit function below decorators that tune or choose."""
    while not is_jit(function) and hasattr(function, "fn"):
        function = function.fn
    return function
