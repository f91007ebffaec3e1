"""Errors with which the toolchain itself refuses a module of the tree.

Such a module fails in real use, too. Its own code handles the error, and no statement of it is left
out.
"""

from __future__ import annotations

import os
import re
import sys
from types import ModuleType

from .ledger import LEDGER

_CALL = re.compile(r"(?P<name>[A-Za-z_]\w*(?:\.\w+)*)\(\) ")
"""The beginning of Python's message about a call with wrong arguments."""
_OF_MODULE = re.compile(r"(?:partially initialized )?module '(?P<name>[\w.]+)' has no attribute ")


def refuses(error: BaseException) -> bool:
    """Return whether the toolchain refused something.

    It raised an error, lacks a requested name, or does not accept a call.
    """
    while error.__cause__ is not None:
        error = error.__cause__
    return _is_absent(error) or _is_wrong_call(error) or _is_raised_inside(error)


def _is_absent(error: BaseException) -> bool:
    if isinstance(error, ImportError):
        return _is_own(error.name)
    match = _OF_MODULE.match(str(error)) if isinstance(error, AttributeError) else None
    return match is not None and _is_own(match["name"])


def _is_own(module: object) -> bool:
    """Whether a module is the toolchain or a part of it, and the toolchain is imported."""
    own = LEDGER.toolchain
    return own in sys.modules and isinstance(module, str) and (module + ".").startswith(own + ".")


def _is_wrong_call(error: BaseException) -> bool:
    """Whether a function of the toolchain was called with arguments that it does not accept.

    Python's message gives the function's name only. If a module of the tree has an object of its
    own with that name, the message is ambiguous, and the result is ``False``.
    """
    match = _CALL.match(str(error)) if type(error) is TypeError else None
    if match is None:
        return False
    own, others = False, False
    for name, module in list(sys.modules.items()):
        if _holds(module, match["name"]):
            own = own or _is_own(name)
            others = others or _defines(module, match["name"])
    return own and not others


def _holds(module: object, path: str) -> bool:
    value = vars(module) if isinstance(module, ModuleType) else {}
    first, *rest = path.split(".")
    return first in value and (not rest or rest[0] in getattr(value[first], "__dict__", {}))


def _defines(module: ModuleType, path: str) -> bool:
    """Whether a module is of the tree, and its object of this name is not the toolchain's."""
    file = vars(module).get("__file__")
    if not isinstance(file, str) or not LEDGER.in_tree(file):
        return False
    origin = getattr(vars(module)[path.split(".", maxsplit=1)[0]], "__module__", None)
    return not _is_own(origin)


def _is_raised_inside(error: BaseException) -> bool:
    """Whether the innermost frame is in the toolchain's own files."""
    file = getattr(sys.modules.get(LEDGER.toolchain), "__file__", None)
    traceback, path = error.__traceback__, ""
    while traceback is not None:
        path = traceback.tb_frame.f_code.co_filename
        traceback = traceback.tb_next
    return isinstance(file, str) and path.startswith(os.path.join(os.path.dirname(file), ""))
