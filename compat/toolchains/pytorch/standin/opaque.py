"""Objects that replace values that are unknown in this env."""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import math
import sys
import threading
import traceback
import typing
from abc import ABCMeta
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from .ledger import LEDGER
from .module_source import SOURCES

if TYPE_CHECKING:
    from ...inside.foreign import Value


class UnavailableValue(BaseException):
    """Code needs the value of something that this env lacks.

    It is not an ``Exception``, so that code does not catch it and take the failure for an answer.
    """


UnavailableValue.__module__ = "compat"


def unavailable(what: str) -> UnavailableValue:
    """Return the error for something whose value is needed.

    The ledger also records the refusal, in case code catches the error.
    """
    LEDGER.refused = what
    return _refusal(
        "the value of `%s` is needed, and this env lacks `%s`" % (what, what.split(".", 1)[0])
    )


def _refusal(message: str) -> UnavailableValue:
    LEDGER.refusals += 1
    LEDGER.refusal = message
    if threading.current_thread() is not threading.main_thread():
        LEDGER.elsewhere = True
    return UnavailableValue(message)


def last_refusal() -> UnavailableValue:
    """Return the last refusal as a new error, for code that caught it and continued.

    The result of such code is not valid.
    """
    return UnavailableValue(LEDGER.refusal or "the effects of a failed statement are unknown")


class PartialClass(ABCMeta):
    """The metaclass of classes that are only partly known here, and of their subclasses.

    It derives from the metaclass of ABCs, so that a class can derive from both.
    """

    def __getattr__(cls, name: str) -> Any:
        return unknown_of_known(cls, name)


class PartialObject(metaclass=PartialClass):
    """An object of which only a part is known here."""

    def __getattr__(self, name: str) -> Any:
        return unknown_of_known(type(self), name)


class Base(PartialObject):
    """A class that replaces an unknown base class."""

    def __init_subclass__(cls, **_: object) -> None:
        """Accept any keywords that the real class would accept."""


class Opaque:
    """An unknown value of a package that has a stand-in.

    Everything derived from it is unknown, too. A use of its value raises UnavailableValue.
    """

    def __init__(self, path: str) -> None:
        object.__getattribute__(self, "__dict__")["_compat_path"] = path

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The class of the value, which ``isinstance`` also asks for.

        Raises UnavailableValue for code of the tree and of ``inspect``.
        """
        frame = sys._getframe(1)
        if _asks(frame) or frame.f_code.co_filename == _INSPECT:  # such as `inspect.isfunction`
            raise unavailable(path_of(self))
        return Opaque

    def __getattr__(self, name: str) -> Any:
        return unknown_attribute(path_of(self), name)

    def __call__(self, *_: object, **__: object) -> Opaque:
        return Opaque("%s(…)" % path_of(self))

    def __getitem__(self, _: object) -> Opaque:
        return Opaque("%s[…]" % path_of(self))

    def __setitem__(self, key: object, value: object) -> None:
        pass

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        first = next(base for base in bases if isinstance(base, Opaque))
        return (type(path_of(self), (Base,), {}),) if self is first else ()

    def __enter__(self) -> Opaque:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        frame = sys._getframe(1)
        if not _is_typing(frame) or _compares(frame):
            raise unavailable(path_of(self))
        return self is other  # such as `Any`, which typing looks for

    def __hash__(self) -> int:
        if _compares(sys._getframe(1)):  # is it in a set, or a key?
            raise unavailable(path_of(self))
        return id(self)

    def __repr__(self) -> str:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and _is_typing(frame):  # the text of a type that contains it
            frame = frame.f_back
        if frame is not None and _asks(frame):
            raise unavailable(path_of(self))
        return "<stand-in for %s>" % path_of(self)


def path_of(value: Opaque) -> str:
    """Return the expression that an unknown value comes from, such as ``torch.ops.mine(…)``."""
    path: str = object.__getattribute__(value, "__dict__")["_compat_path"]
    return path


def is_opaque(value: object) -> bool:
    """Return whether a value is an :class:`Opaque`, without asking for an attribute of it."""
    return issubclass(type(value), Opaque)


def require_known(value: Value) -> Any:
    """Return a value if it is known, before Python answers a question without asking the value.

    Such questions are ``is``, ``type``, ``callable`` and ``id``. Raises UnavailableValue if the
    value is unknown.
    """
    if is_opaque(value):
        raise unavailable(path_of(value))
    return value


def refusal_behind(error: BaseException) -> BaseException:
    """Return the refusal behind a TypeError of code that accepts no unknown value, such as ``re``.

    Any other error is returned unchanged.
    """
    if isinstance(error, TypeError) and Opaque.__name__ in str(error):
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        # The names of a module may be unrelated to the error.
        of_functions = (f.f_locals for f in reversed(frames) if f.f_locals is not f.f_globals)
        for value in (value for names in of_functions for value in names.values()):
            if is_opaque(value):
                return unavailable(path_of(value)).with_traceback(error.__traceback__)
    return error


_COPIED = (
    "__module__",
    "__name__",
    "__qualname__",
    "__doc__",
    "__annotations__",
    "__type_params__",
    "__wrapped__",
)
"""Attributes that ``staticmethod`` and others copy from a function that has them."""


def unknown_attribute(path: str, name: str) -> Opaque:
    """Return an unknown attribute, or refuse a question whether it exists.

    The ``__getattr__`` of an object that lacks the attribute calls this. Raises AttributeError for
    a special method.
    """
    frame = sys._getframe(2)
    what = "%s.%s" % (path, name)
    if name.startswith("__") and name.endswith("__") and name != "__version__":
        if _asks(frame) and (
            _operation(frame) in _TAKING or (_is_call(frame) and name not in _COPIED)
        ):
            raise unavailable(what)
        raise AttributeError(name)
    if _asks(frame) and (_is_call(frame) or is_guarded(frame)):
        raise unavailable(what)
    return Opaque(what)


def unknown_of_known(owner: type, name: str) -> object:
    """Return an unknown attribute of something that is partly known.

    It is unknown to the tree. For all other code it does not exist: AttributeError is raised.
    """
    frame = sys._getframe(2)
    if not _asks(frame) or (name.startswith("__") and name.endswith("__")):
        raise AttributeError(name)
    what = "%s.%s" % (name_of_base(owner), name)
    if _is_call(frame) or is_guarded(frame):
        raise unavailable(what)
    return Opaque(what)


def name_of_base(owner: type) -> str:
    """Return the real name of a partly known class, or of its base, such as ``torch.Tensor``."""
    names = [
        base.__name__ if "." in base.__name__ else "torch.%s" % base.__name__
        for base in owner.__mro__
        if _is_ours(base)
    ]
    return str(names[0] if names else owner.__name__)


def _is_ours(kind: type) -> bool:
    return "." in kind.__name__ or kind.__module__ == "%s.pytorch" % __package__


_TAKING = ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM", "IMPORT_STAR", "CALL_INTRINSIC_1")


def _asks(frame: FrameType) -> bool:
    """Return whether a frame runs code of the tree."""
    return LEDGER.in_tree(frame.f_code.co_filename)


def _is_typing(frame: FrameType) -> bool:
    return frame.f_code.co_filename == _TYPING


def _compares(frame: FrameType | None) -> bool:
    """Whether the tree compares or looks up a value, or a type of ``typing`` that contains it."""
    while frame and _is_typing(frame) and frame.f_code.co_name in ("__eq__", "__hash__"):
        frame = frame.f_back
    return frame is not None and _asks(frame)


_INSPECT, _TYPING = inspect.__file__, typing.__file__


def _operation(frame: FrameType) -> str:
    return str(dis.opname[frame.f_code.co_code[frame.f_lasti]])


def _is_call(frame: FrameType) -> bool:
    """Return whether a frame called a function that looks for an attribute, such as ``hasattr``.

    Otherwise, the frame reads the attribute itself.
    """
    return "CALL" in _operation(frame) and _operation(frame) != "CALL_INTRINSIC_1"


def _refusing(name: str) -> Callable[..., object]:
    def refuse(self: Opaque, *_: object) -> object:
        raise unavailable(path_of(self))

    refuse.__name__ = name
    return refuse


def _unknown_too(name: str) -> Callable[..., object]:
    def operate(self: Opaque, *_: object) -> Opaque:
        return Opaque("%s.%s(…)" % (path_of(self), name))

    operate.__name__ = name
    return operate


_VALUES = (
    "bool",
    "int",
    "float",
    "complex",
    "index",
    "len",
    "iter",
    "next",
    "contains",
    "reversed",
    "str",
    "format",
    "bytes",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "instancecheck",
    "subclasscheck",
    "round",
    "trunc",
    "floor",
    "ceil",
    "fspath",
)
_OPERATORS = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
    "neg",
    "pos",
    "abs",
    "invert",
)
for _name in _VALUES:
    setattr(Opaque, "__%s__" % _name, _refusing("__%s__" % _name))
for _name in _OPERATORS:
    setattr(Opaque, "__%s__" % _name, _unknown_too("__%s__" % _name))
    if _name not in ("neg", "pos", "abs", "invert"):
        setattr(Opaque, "__r%s__" % _name, _unknown_too("__r%s__" % _name))


class AssumedInt(int):
    """An integer that differs between GPUs of one architecture.

    Numbers computed from it are assumed, too.
    """


class AssumedFloat(float):
    """A number computed from a number that differs between GPUs of one architecture."""


class AssumedStr(str):
    """An assumed string, such as the name of a GPU, which differs within an architecture."""


def _assumed_operator(name: str, plain: object) -> Callable[..., object]:
    function = getattr(plain, name)

    def operate(self: object, *others: object) -> object:
        result = function(self, *others)
        return (
            AssumedInt(result)
            if type(result) is int
            else AssumedFloat(result)
            if type(result) is float
            else result
        )

    operate.__name__ = name
    return operate


def _unsure(self: object) -> object:
    raise _refusal(
        "a number is %r on the GPU that is assumed, and something else on others of its"
        " architecture" % (self,)
    )


for _kind, _plain in ((AssumedInt, int), (AssumedFloat, float)):
    for _name in _OPERATORS:
        for _method in ("__%s__" % _name, "__r%s__" % _name):
            if hasattr(_plain, _method):
                setattr(_kind, _method, _assumed_operator(_method, _plain))
    for _method in ("__int__", "__float__"):
        setattr(_kind, _method, _unsure)
for _function, _method in (
    (round, "__round__"),
    (math.floor, "__floor__"),
    (math.ceil, "__ceil__"),
    (math.trunc, "__trunc__"),
):
    setattr(
        AssumedFloat, _method, lambda self, _as=_function: AssumedInt(_as(float.__add__(self, 0.0)))
    )


# --- lines that handle an absence: the tree takes a failure there for an answer -------------------

_ABSENCE = ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException")
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""The fields of a statement that contain other statements.

An expression has none of them, so a search skips most of a syntax tree.
"""
_TRIES = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))


def is_guarded(frame: FrameType) -> bool:
    """Return whether a frame's line is in a statement that handles a missing attribute or module.

    Such a statement is a ``try`` or a ``with suppress``.
    """
    return frame.f_lineno in _guarded_lines(frame.f_code.co_filename)


@functools.lru_cache(maxsize=None)
def _guarded_lines(path: str) -> frozenset[int]:
    try:
        with open(path, "rb") as file:
            data = file.read()
        source = SOURCES.get(path)
        tree = source.tree if source and source.data == data else ast.parse(data, path)
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    return frozenset(line for body in _guarded_bodies(tree) for line in _lines(body))


def _guarded_bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if _is_try(node) or _is_suppression(node):
            yield node.body  # type: ignore[attr-defined]
        waiting += (inner for field in _BLOCKS for inner in getattr(node, field, ()))


def _is_try(node: ast.AST) -> bool:
    return isinstance(node, _TRIES) and any(
        _handles_absence(handler.type) for handler in node.handlers
    )


def _is_suppression(node: ast.AST) -> bool:
    return isinstance(node, ast.With) and any(
        "suppress" in ast.dump(item.context_expr) for item in node.items
    )


def _handles_absence(kind: ast.expr | None) -> bool:
    """Return whether a handler may catch errors of absence.

    An expression that is neither a name nor a tuple of names counts as one that may.
    """
    if isinstance(kind, ast.Tuple):
        return any(_handles_absence(element) for element in kind.elts)
    return not isinstance(kind, ast.Name) or kind.id in _ABSENCE


def _lines(body: list[ast.stmt]) -> Iterator[int]:
    for statement in body:
        yield from range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
