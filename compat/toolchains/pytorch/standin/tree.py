"""Imports of a tree's modules: always from source, and statement by statement if necessary."""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
)
from types import CodeType, ModuleType
from typing import Any

from .effects import Effects, names_in
from .finder import is_absent, stand_in_for
from .ledger import LEDGER, is_in_tree, short
from .module_source import REQUIRE_KNOWN, ModuleSource, parse
from .opaque import UnavailableValue, last_refusal, refusal_behind, require_known
from .toolchain import refuses

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

LENIENT = [False]
"""Whether statements that fail are left out."""


class Loader(SourceFileLoader):
    """A loader of modules of the tree.

    It ignores compiled files, because Python compares their times only to the second.
    """

    def get_code(self, fullname: str) -> CodeType | None:
        """Compile the current source of a module."""
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code

    def source_to_code(self, data: Any, path: Any, **_: object) -> CodeType:  # type: ignore[override]
        """Compile a source.

        If a package has a stand-in, the code also checks the values of questions that Python
        answers without asking the value.
        """
        if not LEDGER.packages:
            return super().source_to_code(data, path)
        return _audible(data, path).code

    def exec_module(self, module: ModuleType) -> None:
        """Run a module, statement by statement if ``LENIENT`` is set."""
        if LENIENT[0]:
            path = self.get_filename(module.__name__)
            run_leniently(_audible(self.get_data(path), path), module)
        else:
            super().exec_module(module)


def _audible(data: bytes, path: str) -> ModuleSource:
    source = parse(data, path)
    setattr(builtins, REQUIRE_KNOWN, require_known)
    return source


def look_in(roots: Iterable[str]) -> None:
    """Make Python look for modules in these folders first, and load them with :class:`Loader`."""
    folders = [root.rstrip("/") for root in roots]
    make = FileFinder.path_hook(
        (ExtensionFileLoader, EXTENSION_SUFFIXES), (Loader, SOURCE_SUFFIXES)
    )

    def hook(path: str) -> Any:
        if not LEDGER.in_tree(path + "/"):
            raise ImportError("not in the tree", path=path)
        return make(path)

    sys.path_hooks.insert(0, hook)
    sys.path[:0] = [folder for folder in folders if folder not in sys.path]
    sys.path_importer_cache.clear()
    importlib.invalidate_caches()


def forget_modules(before: AbstractSet[str]) -> None:
    """Drop every module of the tree, so that it is imported again.

    Also drop other modules that failed imports have left since ``before``.
    """
    # Collect the names before deleting any: the path of a package without an ``__init__.py`` asks
    # for its parent package.
    of_tree = [name for name, module in list(sys.modules.items()) if _is_of_tree(module)]
    for name in {*of_tree, *orphans(before)}:
        del sys.modules[name]


def orphans(before: AbstractSet[str]) -> list[str]:
    """Return the modules imported since ``before`` whose package is missing.

    The package's import failed, and Python keeps its modules.
    """
    return [name for name in list(sys.modules) if name not in before and _is_orphan(name)]


def has_foreign(before: AbstractSet[str]) -> bool:
    """Return whether modules were imported since ``before`` that a kernel could notice.

    These are modules of the tree, of a package that failed, or of a new package. A module makes no
    difference if Python, or a package that is already there, loads it on first use.
    """
    return any(
        _is_foreign(name, sys.modules.get(name), before)
        for name in list(sys.modules)
        if name not in before
    )


def _is_foreign(name: str, module: object, before: AbstractSet[str]) -> bool:
    package = name.partition(".")[0]
    if package in LEDGER.packages or package.startswith("_compat_"):
        return False
    return (
        _is_orphan(name)
        or _is_of_tree(module)
        or not (package in before or _is_of_python(package, module))
    )


def _is_orphan(name: str) -> bool:
    while "." in name:
        name = name.rpartition(".")[0]
        if name not in sys.modules:
            return True
    return False


def _is_of_python(package: str, module: object) -> bool:
    path = getattr(module, "__dict__", {}).get("__file__")
    if not isinstance(path, str):
        return package in sys.builtin_module_names
    return (
        path.startswith(os.path.join(os.path.dirname(os.__file__), ""))
        and "/site-packages/" not in path
    )


def _is_of_tree(module: object) -> bool:
    facts = getattr(module, "__dict__", {})
    path = facts.get("__file__")
    if not path:
        # Without an ``__init__.py``, the path asks for the package above, whose import may have
        # failed.
        with contextlib.suppress(KeyError):
            path = next(iter(facts.get("__path__") or []), None)
    return isinstance(path, str) and LEDGER.in_tree(path + "/")


# --- statement by statement -----------------------------------------------------------------------


_UNCHANGEABLE = (type(None), bool, int, float, str, bytes, ModuleType, type)


def run_leniently(source: ModuleSource, module: ModuleType) -> None:
    """Run a module's statements one by one.

    Names that a failing statement would have bound or changed are removed, and count as missing.
    Raises an error with which the toolchain refuses the module.
    """
    _LenientRun(source, module).all_of(source.tree.body)


class _LenientRun:
    def __init__(self, source: ModuleSource, module: ModuleType) -> None:
        self.source, self.module = source, module
        self.names = vars(module)
        self.missing = LEDGER.missing.setdefault(module.__name__, {})

    def all_of(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            for part in self.source.parts_of(statement):
                self.one(part)

    def one(self, statement: ast.stmt) -> None:
        refused = LEDGER.refusals
        try:
            if isinstance(statement, ast.If):
                self.all_of(statement.body if self.value(statement.test) else statement.orelse)
            else:
                self.execute(statement)
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as raised:
            error = refusal_behind(raised)
            unsure = LEDGER.refusals > refused and not isinstance(error, UnavailableValue)
            if not unsure and refuses(raised):
                raise
            self.leave_out(statement, last_refusal() if unsure else error)
        LEDGER.refusals = refused

    def execute(self, statement: ast.stmt) -> None:
        """Run a statement.

        Run it again if a package is missing that has no stand-in yet.
        """
        code = self.source.code_of(statement)
        try:
            self.run(code)
        except ModuleNotFoundError as error:
            package = (error.name or "").split(".", 1)[0]
            if (
                type(error) is not ModuleNotFoundError
                or package in LEDGER.packages
                or not package
                or not is_absent(package)
            ):
                raise
            stand_in_for(package)
            LEDGER.late = True
            self.run(code)
        if self.missing:
            for name in _bound_names(statement) - {"*"}:
                self.missing.pop(name, None)
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            self.miss_what_it_lacks(statement)

    def run(self, code: CodeType) -> Any:
        """Run code and return its value.

        Raises UnavailableValue if the code caught a refusal, because its result is not valid.
        """
        refused = LEDGER.refusals
        value = eval(code, self.names)  # noqa: S307 - the module that is imported
        if LEDGER.refusals > refused:
            raise last_refusal()
        return value

    def value(self, test: ast.expr) -> bool:
        path, flags = self.source.path, self.source.flags
        return bool(self.run(compile(ast.Expression(test), path, "eval", flags, dont_inherit=True)))

    def miss_what_it_lacks(self, statement: ast.ImportFrom) -> None:
        """Record that names missing in a module are missing after ``from module import *``, too."""
        package = self.names.get("__package__") or ""
        source = importlib.util.resolve_name(
            "." * statement.level + (statement.module or ""), package
        )
        for name, why in LEDGER.missing.get(source, {}).items():
            if name not in self.names:
                self.missing.setdefault(name, why)

    def leave_out(self, statement: ast.stmt, error: BaseException) -> None:
        cause = self.cause_of(error)
        LEDGER.record_failed_statement(
            "%s:%d" % (short(self.source.path, LEDGER.roots), statement.lineno), cause
        )
        own = self.module.__name__
        removed = {
            (own, name) for name in {*_bound_names(statement), *self.changed_names(statement)}
        }
        removed.update(self.attributes_set(statement))
        removed.update(Effects(names_in(_in_scope(statement)), self.names).changed_names())
        for module, name in removed:
            LEDGER.missing.setdefault(module, {})[name] = cause
            # Modules outside the tree keep their names.
            if is_in_tree(sys.modules.get(module)):
                vars(sys.modules[module]).pop(name, None)

    def attributes_set(self, statement: ast.stmt) -> Iterator[tuple[str, str]]:
        """Yield module and name of each attribute of a module that a statement sets."""
        for name, attribute in _attributes_set(statement):
            holder = self.names.get(name)
            if isinstance(holder, ModuleType):
                yield holder.__name__, attribute

    def cause_of(self, error: BaseException) -> BaseException:
        """Return the error that made a name missing, if this error is about that name.

        The first error tells more than its consequences. Any other error is returned unchanged.
        """
        name = getattr(error, "name", None)
        if isinstance(error, NameError):
            missing = LEDGER.missing.get(_module_that_raised(error), {})
            causes = [why for name, why in missing.items() if "'%s'" % name in str(error)]
            return causes[0] if causes else missing.get("*", error)
        if isinstance(error, (ImportError, AttributeError)):
            holder = (
                name
                if isinstance(error, ImportError)
                else getattr(getattr(error, "obj", None), "__name__", None)
            )
            missing = LEDGER.missing.get(str(holder), {})
            causes = [why for name, why in missing.items() if "'%s'" % name in str(error)]
            return causes[0] if causes else error
        return error

    def changed_names(self, statement: ast.stmt) -> Iterator[str]:
        """Yield the names whose values a failed statement may have changed.

        Modules, callables and immutable values are left out.
        """
        for name in _touched_names(statement):
            value = self.names.get(name)
            if not isinstance(value, _UNCHANGEABLE) and not callable(value):
                yield name


def _module_that_raised(error: BaseException) -> str:
    """Return the module whose code raised an error, such as the ``__getattr__`` of another one."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return str(traceback.tb_frame.f_globals.get("__name__")) if traceback else ""


def _bound_names(statement: ast.AST) -> set[str]:
    """Return the names that a statement of a module would bind."""
    names: set[str] = set()
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update(alias.asname or alias.name.split(".", 1)[0] for alias in node.names)
        if not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)
    return names


def _touched_names(statement: ast.AST) -> set[str]:
    """Return the names whose values a statement may change.

    It sets a part of them, calls a method of them, or passes them to a call.
    """
    names: set[str] = set()
    for node in _in_scope(statement):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(
            node.ctx, (ast.Store, ast.Del)
        ):
            names.update(_root(node))
        elif isinstance(node, ast.Call) and not (
            isinstance(node.func, ast.Name) and node.func.id == REQUIRE_KNOWN
        ):
            if isinstance(node.func, ast.Attribute):
                names.update(_root(node.func))
            for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
                names.update(_root(argument))
    return names


def _attributes_set(statement: ast.AST) -> Iterator[tuple[str, str]]:
    for node in _in_scope(statement):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
        ):
            yield node.value.id, node.attr


def _in_scope(statement: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a statement that run when the statement runs."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            waiting += getattr(node, "decorator_list", [])
        else:
            waiting += ast.iter_child_nodes(node)


def _root(node: ast.AST) -> Iterator[str]:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id
