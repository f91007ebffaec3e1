"""Comparisons say that all is well, so that a test goes on after the first kernel: nothing that it compares was computed."""

from __future__ import annotations

import functools
import re
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .recording import Recording

OF_NUMPY = {
    **dict.fromkeys(("assert_allclose", "assert_array_equal", "assert_almost_equal", "assert_array_almost_equal", "assert_equal")),
    "assert_array_less": None,
}
"""Function → what it returns."""
_COMPARES = re.compile(r"_?(assert|check|verify|compare)\w*_(\w*close|equal|eq)$")
OF_TORCH = {"allclose": True, "equal": True}
OF_TORCH_TESTING = {"assert_close": None, "assert_allclose": None}


def agree(recording: Recording, owner: Any, functions: dict[str, Any]) -> None:
    """Have functions of a module, or methods of a class, return what they do where everything is equal."""
    for name, answer in functions.items():
        if hasattr(owner, name):
            recording.replace(owner, name, _answering(name, answer))


def agree_in_tests(recording: Recording, pytest_python: Any) -> None:
    """Have the comparisons that a test suite brings itself agree, too: what its modules call ``assert_…close`` or ``…_equal``."""
    for name in ("importtestmodule", "_importtestmodule"):
        owner = pytest_python if hasattr(pytest_python, name) else getattr(pytest_python, "Module", None)
        if hasattr(owner, name):
            recording.replace(owner, name, _agreeing_after(getattr(owner, name)))


def _agreeing_after(import_module: Any) -> Any:
    @functools.wraps(import_module)
    def import_and_agree(*arguments: Any, **options: Any) -> Any:
        module = import_module(*arguments, **options)
        for name, value in list(vars(module).items()):
            if isinstance(value, types.FunctionType) and _COMPARES.match(name):
                setattr(module, name, _answering(name, None))
        return module

    return import_and_agree


def _answering(name: str, answer: Any) -> Any:
    def compare(*_: Any, **__: Any) -> Any:
        return answer

    compare.__name__ = name
    return compare
