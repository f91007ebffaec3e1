"""Functions and values of Triton, as they are in a running process."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

from ....inside.recorder.functions import Forms
from ....inside.recorder.journal import UnwritableArgument
from .arguments import is_gluon, is_jit, type_of, unwrapped
from .layouts import layout_of

if TYPE_CHECKING:
    from ....inside.foreign import Document, Function, Value


class TritonForms(Forms):
    """Those of Triton."""

    packages = frozenset({"triton"})
    compiled = frozenset({"jit", "gluon"})
    public = ("triton.language", "triton.experimental.gluon.language")
    generated = ("torch._inductor.runtime",)

    def plain(self, function: Function) -> Function:
        """Return the Python function inside of a jit or constexpr function, or of a tuner."""
        while not isinstance(function, (types.FunctionType, type)) and hasattr(function, "fn"):
            function = function.fn
        return function

    def kind(self, function: Function) -> str:
        """What is compiled, what is run while something is compiled, or a class."""
        function = _jit(function) if is_jit(_jit(function)) else function
        if is_jit(function):
            return "gluon" if is_gluon(function) else "jit"
        return (
            "constexpr_function"
            if type(function).__name__ == "ConstexprFunction"
            else super().kind(function)
        )

    def settings(self, function: Function) -> Document:
        """What ``@triton.jit`` was told that says how a function is compiled."""
        function = _jit(function)
        names = ("do_not_specialize", "do_not_specialize_on_alignment", "noinline")
        settings = {name: getattr(function, name, None) for name in names}
        return {
            name: list(value) if isinstance(value, (list, tuple, set)) else value
            for name, value in settings.items()
            if value
        }

    def unwrapped(self, value: object) -> object:
        """What is in a ``tl.constexpr``."""
        return unwrapped(value)

    def expression(self, value: Value) -> str | None:
        """The expression of a layout of Gluon."""
        return layout_of(value)

    def dtype(self, value: Value) -> str | None:
        """The name of a dtype of Triton."""
        if type(value).__name__ == "dtype" and type(value).__module__.startswith("triton.language"):
            try:
                return type_of(value)
            except UnwritableArgument:
                return None
        return None


def _jit(function: object) -> object:
    """The jit function below decorators that tune or choose."""
    while not is_jit(function) and hasattr(function, "fn"):
        function = function.fn
    return function
