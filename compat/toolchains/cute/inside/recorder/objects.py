"""The constructor arguments of objects whose classes are defined after the recording begins.

An object is a kernel if its class has a ``__call__`` with the decorator ``@cute.jit``. Its
attributes change during the compile, so the recorder notes its arguments when it is made.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
from typing import TYPE_CHECKING

from ..adapter.arguments import constructor
from .forms import is_decorated

if TYPE_CHECKING:
    from ....inside.foreign import Value
    from .recording import CuteRecording

_NOTED = "__compat_made_of__"


def watch(recording: CuteRecording) -> None:
    """Note the constructor arguments of objects that may be kernels."""
    build = builtins.__build_class__

    @functools.wraps(build)
    def build_and_watch(*arguments: Value, **options: Value) -> object:
        new_class = build(*arguments, **options)
        if isinstance(new_class, type) and _is_a_kernel(new_class):
            _watch_constructor(new_class)
        return new_class

    recording.replace(builtins, "__build_class__", build_and_watch)


def _is_a_kernel(kind: type) -> bool:
    call = next((vars(base)["__call__"] for base in kind.__mro__ if "__call__" in vars(base)), None)
    return inspect.isfunction(call) and is_decorated(inspect.unwrap(call))


def _watch_constructor(kind: type) -> None:
    construct = inspect.getattr_static(kind, "__init__")
    if not inspect.isfunction(construct):
        return

    @functools.wraps(construct)
    def construct_and_note(self: object, *arguments: object, **options: object) -> None:
        if type(self) is kind and isinstance(attributes := getattr(self, "__dict__", None), dict):
            attributes.setdefault(_NOTED, (arguments, dict(options)))
        construct(self, *arguments, **options)

    with contextlib.suppress(AttributeError, TypeError):  # a class that cannot be changed
        kind.__init__ = construct_and_note  # type: ignore[misc]


def constructor_arguments(value: object) -> dict[str, object] | None:
    """Return the constructor arguments of an object by parameter, or ``None`` if unknown."""
    kind = type(value)
    noted = getattr(value, "__dict__", {}).get(_NOTED)
    if noted is None:
        return {} if kind.__init__ is object.__init__ else None
    arguments, options = noted
    names = [
        name
        for name, parameter in constructor(kind).items()
        if parameter.kind is not parameter.KEYWORD_ONLY
    ]
    return {**dict(zip(names, arguments)), **options} if len(arguments) <= len(names) else None
