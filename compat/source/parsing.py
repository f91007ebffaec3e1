"""Python files of others, read and parsed as Python does it, with one kind of error for all that can be wrong with them."""

from __future__ import annotations

import ast
import io
import re
import threading
import tokenize
import warnings
from pathlib import Path
from typing import cast

from compat.patterns import lazy_pattern

# Python 3.11 counts how deep it is in a tree in one place for all threads: when a garbage collection lets another thread parse in
# the middle of it, one of the two ends in "SystemError: AST constructor recursion depth mismatch". Filters of warnings are shared,
# too.
_ONE_AT_A_TIME = threading.Lock()

_FORM_FEEDS = lazy_pattern(r"^\f+", re.MULTILINE)


def text_of(path: Path) -> str:
    """The text of a file in the encoding that it declares, with ``\\n`` at the end of every line.

    Without the byte order mark and the form feeds at the beginning of lines, which mean nothing to Python. Raises OSError, and
    SyntaxError where the file is not in that encoding.
    """
    source = path.read_bytes()
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        text = source.decode(encoding)
        text.encode()
    except (UnicodeError, LookupError) as error:
        raise SyntaxError(f"cannot be decoded: {error}") from error
    return _FORM_FEEDS.sub("", text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))


def tree_of(source: str | bytes, name: str = "<source>") -> ast.Module:
    """The syntax tree of a source, in any thread. Raises SyntaxError, and nothing else, whatever the source is."""
    return cast(ast.Module, _parsed(source, name, "exec"))


def compiles_silently(source: bytes) -> bool:
    """Whether Python compiles a source and warns of nothing in it, in any thread."""
    try:
        with _ONE_AT_A_TIME, warnings.catch_warnings():
            warnings.simplefilter("error")
            compile(source, "<source>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, Warning):
        return False
    return True


def expression_of(source: str | bytes) -> ast.expr:
    """The syntax tree of one expression, as `tree_of` makes that of a module."""
    return cast(ast.Expression, _parsed(source, "<expression>", "eval")).body


def _parsed(source: str | bytes, name: str, mode: str) -> ast.AST:
    try:
        with _ONE_AT_A_TIME, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SyntaxWarnings do not matter here
            tree: ast.AST = compile(source, name, mode, ast.PyCF_ONLY_AST, dont_inherit=True)
            return tree
    except SyntaxError:
        raise
    except ValueError as error:  # null bytes, in some versions of Python
        raise SyntaxError(str(error)) from error
    except (RecursionError, MemoryError) as error:
        raise SyntaxError("nested too deeply") from error
