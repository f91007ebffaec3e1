"""Comparisons say that all is well, so that a test goes on after the first kernel: what was compared is not what a kernel computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .recording import Recording

OF_NUMPY = {
    **dict.fromkeys(("assert_allclose", "assert_array_equal", "assert_almost_equal", "assert_array_almost_equal", "assert_equal")),
    "assert_array_less": None,
}
"""Function → what it returns."""
OF_TORCH = {"allclose": True, "equal": True}
OF_TORCH_TESTING = {"assert_close": None, "assert_allclose": None}


def agree(recording: Recording, owner: Any, functions: dict[str, Any]) -> None:
    """Have functions of a module, or methods of a class, return what they do where everything is equal."""
    for name, answer in functions.items():
        if hasattr(owner, name):
            recording.replace(owner, name, _answering(name, answer))


def _answering(name: str, answer: Any) -> Any:
    def compare(*_: Any, **__: Any) -> Any:
        return answer

    compare.__name__ = name
    return compare
