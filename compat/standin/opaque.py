"""What stands for a value that is not known here."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from typing import Any

from .ledger import LEDGER


class Lacking(BaseException):
    """The value of something is needed that this env lacks. No ``Exception``: it must not be taken for an answer."""


Lacking.__module__ = "compat"


def lacking(what: str) -> Lacking:
    """The error for something whose value is needed; it is written down, too, in case that it is caught."""
    LEDGER.refusals += 1
    LEDGER.refused = what
    package = what.split(".", 1)[0]
    return Lacking("the value of `%s` is needed, and this env lacks `%s`" % (what, package))


class Base:
    """In the place of an unknown base class."""

    def __init_subclass__(cls, **_: Any) -> None:
        """Take whatever keywords the real one would."""


class Opaque:
    """Something of a package that is stood in for. What is made of it is as unknown; where its value is needed it is refused."""

    def __init__(self, path: str) -> None:
        self.__dict__["_compat_path"] = path

    def __getattr__(self, name: str) -> Any:
        return unknown_attribute(path_of(self), name)

    def __call__(self, *_: Any, **__: Any) -> Opaque:
        return Opaque("%s(…)" % path_of(self))

    def __getitem__(self, _: Any) -> Opaque:
        return Opaque("%s[…]" % path_of(self))

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        first = next(base for base in bases if isinstance(base, Opaque))
        return (type(path_of(self), (Base,), {}),) if self is first else ()

    def __enter__(self) -> Opaque:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return "<stand-in for %s>" % path_of(self)


def path_of(value: Opaque) -> str:
    """``torch.ops.mine(…)``: where it comes from."""
    path: str = object.__getattribute__(value, "__dict__")["_compat_path"]
    return path


def is_opaque(value: Any) -> bool:
    """Whether it is one; asks no attribute of it."""
    return issubclass(type(value), Opaque)


def unknown_attribute(path: str, name: str) -> Opaque:
    """An attribute of which nothing is known, not even whether it exists: whoever asks just that is refused."""
    if name.startswith("__") and name.endswith("__") and name != "__version__":
        raise AttributeError(name)
    if _is_question(sys._getframe(2)):
        raise lacking("%s.%s" % (path, name))
    return Opaque("%s.%s" % (path, name))


def _is_question(frame: Any) -> bool:
    """Whether a frame of the tree called something that looks for an attribute (``hasattr``), in the place of taking it."""
    code = frame.f_code
    return LEDGER.in_tree(code.co_filename) and "CALL" in dis.opname[code.co_code[frame.f_lasti]]


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(self: Opaque, *_: Any) -> Any:
        raise lacking(path_of(self))

    refuse.__name__ = name
    return refuse


def _unknown_too(name: str) -> Callable[..., Any]:
    def operate(self: Opaque, *_: Any) -> Opaque:
        return Opaque("%s.%s(…)" % (path_of(self), name))

    operate.__name__ = name
    return operate


_VALUES = (
    *("bool", "int", "float", "complex", "index", "len", "iter", "next", "contains", "reversed", "str", "format", "bytes"),
    *("eq", "ne", "lt", "le", "gt", "ge", "instancecheck", "subclasscheck", "round", "trunc", "floor", "ceil", "fspath"),
)
_OPERATORS = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift"),
    *("neg", "pos", "abs", "invert"),
)
for _name in _VALUES:
    setattr(Opaque, "__%s__" % _name, _refusing("__%s__" % _name))
for _name in _OPERATORS:
    setattr(Opaque, "__%s__" % _name, _unknown_too("__%s__" % _name))
    if _name not in ("neg", "pos", "abs", "invert"):
        setattr(Opaque, "__r%s__" % _name, _unknown_too("__r%s__" % _name))


class AssumedInt(int):
    """A number that GPUs of one architecture differ in; what is computed from it is one, too."""


class AssumedStr(str):
    """A text that GPUs of one architecture differ in."""


def _assumed(name: str) -> Callable[..., Any]:
    plain = getattr(int, name)

    def operate(self: AssumedInt, *others: Any) -> Any:
        result = plain(self, *others)
        return AssumedInt(result) if type(result) is int else result

    operate.__name__ = name
    return operate


for _name in ("add", "sub", "mul", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"):
    setattr(AssumedInt, "__%s__" % _name, _assumed("__%s__" % _name))
    setattr(AssumedInt, "__r%s__" % _name, _assumed("__r%s__" % _name))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(AssumedInt, "__%s__" % _name, _assumed("__%s__" % _name))
