"""A kernel's function in this process: its source, and the present meaning of outer names in it.

Outer names are global names and closure variables. A meaning has one of these forms:

============================  =====================================================================
``{"value": 64}``             a number, a string, a boolean or ``None``
``{"float": "inf"}``          a number that is not finite
``{"constexpr": …}``          such a value in a wrapper that marks a constant
``{"items": […]}``            a tuple or a list (``"list": true``)
``{"pairs": [[…, …]]}``       a dictionary
``{"dtype": "fp16"}``         an element type of the toolchain
``{"expression": "gl.A(1)"}`` another value of the toolchain, as an expression that makes it
``{"function": id}``          a function or class, which has a record of its own
``{"installed": [m, n]}``     the name ``n`` of an installed module ``m``
``{"module": m}``             an installed module
``{"members": {…}}``          another module: the meanings of its attributes that are used
``{"written": "f(x)", …}``    a value that its module binds to ``name``: the expression there, or
                              one that makes an equal class of named tuples
``{"unfrozen": …}``           a description of something else
============================  =====================================================================

An installed module belongs to the toolchain or the standard library. ``written`` comes with the
meanings of the ``names`` in the expression.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import contextlib
import functools
import inspect
import linecache
import os
import symtable
import sys
import textwrap
import threading
import types
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .journal import Journal, module_label

if TYPE_CHECKING:
    from ..foreign import Document, Function, Value

_DEPTH = 4
"""The depth to which tuples and dictionaries are read."""
_ITEMS = 256
_STANDARD = frozenset(getattr(sys, "stdlib_module_names", ())) | frozenset(
    {
        "builtins",
        "collections",
        "dataclasses",
        "enum",
        "functools",
        "itertools",
        "math",
        "operator",
        "typing",
    }
)
_OTHERS = frozenset({"torch", "numpy"})
"""Packages that contribute no code to a kernel."""
_FUTURE_ANNOTATIONS = __future__.annotations.compiler_flag


class Forms:
    """The forms of a toolchain's functions and values. The methods of this base know none."""

    packages: frozenset[str] = frozenset()
    """The toolchain's packages, with the same names in every environment that has it."""
    public: tuple[str, ...] = ()
    """Modules to import a name from, because its defining module differs between releases."""
    as_written = False
    """Whether names are imported as in their module, and values without a simple form are made by
    the expression there.
    """
    compiled: frozenset[str] = frozenset({"jit"})
    """The kinds of functions that have :meth:`settings`."""
    kept: frozenset[str] = frozenset()
    """The decorators that stay as written, by the last part of their names."""

    generated: tuple[str, ...] = ()
    """Modules of a framework that kernels take functions from, because it generates kernels."""
    of_methods: frozenset[str] | None = None
    """The decorators of kept methods, by the last part of their names.

    Methods with other decorators are left out. With ``None`` all methods are kept.
    """

    def plain(self, function: Function) -> Function:
        """Return the Python function or class that decorators have wrapped."""
        return function

    def kind(self, function: Function) -> str:
        """Return ``jit``, ``python``, ``class``, or another kind whose source is written down."""
        return "class" if isinstance(function, type) else "python"

    def settings(self, function: Function) -> Document:
        """Return the settings of a jit function's decorator that matter to a compile."""
        return {}

    def lines(self, plain: Function) -> tuple[list[str], int]:
        """Return the source of a function or class, and the number of its first line.

        Raises OSError or TypeError.
        """
        return inspect.getsourcelines(plain)

    def unwrap_constant(self, value: object) -> object:
        """Return the value in a wrapper that marks a constant, or else the value itself."""
        return value

    def dtype(self, value: Value) -> str | None:
        """Return the name of an element type of the toolchain, or ``None`` for other values."""
        return None

    def expression(self, value: Value) -> str | None:
        """Return the expression for a value of the toolchain, or ``None`` for other values."""
        return None


class Functions:
    """Launched kernels and the functions that they use, each written down once."""

    def __init__(self, journal: Journal, forms: Forms) -> None:
        self._journal, self._forms = journal, forms
        self._installed_packages = _STANDARD | forms.packages
        self._named: dict[int, tuple[object, str]] = {}
        """Identity → the object, which this reference keeps alive, and its id."""
        self._lock = threading.RLock()

    def id_of(self, function: object) -> str:
        """Return the id of a function or class, which the first call writes down."""
        with self._lock:
            if id(function) in self._named:
                return self._named[id(function)][1]
            name = "%s-%d" % (self._journal.here(), len(self._named))
            self._named[id(function)] = (function, name)
            self._journal.write(r="function", id=name, **self._record(function))
            return name

    def known_functions(self) -> list[Any]:
        """The functions and classes that have been written down."""
        return [function for function, _ in self._named.values()]

    def _record(self, function: object) -> dict[str, object]:
        plain = self._forms.plain(function)
        record: Document = {
            "kind": self._forms.kind(function),
            "name": plain.__name__,
            "qualname": plain.__qualname__,
            "module": plain.__module__,
        }
        try:
            lines, first = self._forms.lines(plain)
            source = self._without_others(textwrap.dedent("".join(lines)))
            node = ast.parse(source).body[0]
        except (OSError, TypeError, SyntaxError, IndexError) as error:
            return dict(record, error="its source cannot be read: %s" % str(error)[:200], names={})
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            return dict(record, error="it is not defined by a def", names={})
        path = inspect.getsourcefile(plain)
        later = (
            _set_later(path, plain.__name__)
            if isinstance(plain, type) and path and plain.__qualname__ == plain.__name__
            else []
        )
        record.update(
            source="\n".join([source, *later]),
            line=first,
            file=os.path.abspath(path) if path else None,
        )
        node = ast.parse(record["source"]) if later else node
        record["module"] = module_label(record["module"] or "", path or "")
        record["future"] = _has_future_annotations(plain)
        if record["kind"] in self._forms.compiled:
            record["jit"] = self._forms.settings(function)
        record["defaults"] = self._defaults(plain, node)
        return dict(record, names=self._names(plain, node, record["future"]))

    def _without_others(self, source: str) -> str:
        """Return the source of a definition, of a class without the methods to leave out."""
        node, method_decorators = ast.parse(source).body[0], self._forms.of_methods
        if method_decorators is None or not isinstance(node, ast.ClassDef):
            return source
        lines = source.split("\n")
        for method in reversed(node.body):
            if isinstance(method, ast.FunctionDef) and any(
                _last_name(decorator) not in method_decorators
                for decorator in method.decorator_list
            ):
                lines[method.decorator_list[0].lineno - 1 : method.end_lineno] = []
        return "\n".join(lines)

    def _defaults(self, plain: Function, node: object) -> Document:
        """Return the meanings of defaults with names that only the scopes around it have.

        These names are not global, not built in, and not closure variables of the function.
        """
        if not isinstance(node, ast.FunctionDef):
            return {}
        meanings, scope = {}, _NameScope(plain)
        for parameter, default in default_nodes(node):
            names = [inner.id for inner in ast.walk(default) if isinstance(inner, ast.Name)]
            if not all(scope.value(name)[0] or hasattr(builtins, name) for name in names):
                meanings[parameter] = self._meaning(
                    inspect.signature(plain).parameters[parameter].default, (), parameter, 0
                )
        return meanings

    def _names(self, plain: Function, node: ast.AST, future: bool) -> Document:
        scope = _NameScope(plain)
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = [
                decorator
                for decorator in node.decorator_list
                if _last_name(decorator) in self._forms.kept
            ]
        meanings: Document = {}
        looked_up = _outer_names(ast.unparse(node)) if hasattr(ast, "unparse") else None
        for name, attributes in _uses(node, future):
            is_known, value = scope.value(name)
            if is_known and (looked_up is None or name in looked_up):
                meaning = self._meaning(value, attributes, name, 0)
                if _is_hard_to_say(meaning):
                    meaning = self._meaning_as_written(scope.module, name, 0) or meaning
                elif "installed" in meaning and self._forms.as_written:
                    meaning = self._import_meaning(scope.module, name) or meaning
                meanings[name] = _merge_meanings(meanings.get(name), meaning)
        return meanings

    def _import_meaning(self, module: ModuleType | None, name: str) -> dict[str, object] | None:
        """Return an installed name as its module imports it, or ``None`` if it does not."""
        if module is None:
            return None
        node, there = _module_bindings(getattr(module, "__file__", None) or "").get(
            name, (None, "")
        )
        place = _absolute(module, node) if isinstance(node, ast.ImportFrom) else ""
        return (
            {"installed": [place, there]}
            if place.partition(".")[0] in self._installed_packages
            else None
        )

    def _meaning_as_written(
        self, module: ModuleType | None, name: str, depth: int
    ) -> Document | None:
        """Return the meaning of a module's name from the one statement there that binds it.

        Returns ``None`` if no single statement binds it.
        """
        path = getattr(module, "__file__", None) if self._forms.as_written else None
        if module is None or not path or depth > _DEPTH:
            return None
        value, source = _module_bindings(path).get(name, (None, ""))
        if isinstance(value, ast.ImportFrom):
            there = sys.modules.get(_absolute(module, value))
            return self._meaning_as_written(there, source, depth + 1) if there is not None else None
        if value is None:
            return None
        meanings: Document = {}
        for inner, attributes in _uses(value, future=False):
            if inner in vars(module):
                meaning = self._meaning(vars(module)[inner], attributes, inner, depth + 1)
                if _is_hard_to_say(meaning):
                    meaning = self._meaning_as_written(module, inner, depth + 1) or meaning
                meanings[inner] = _merge_meanings(meanings.get(inner), meaning)
        return {"written": source, "names": meanings, "name": name, "of": module.__name__}

    def _meaning(
        self, value: object, attributes: tuple[str, ...], name: str, depth: int
    ) -> dict[str, object]:
        if isinstance(value, types.ModuleType):
            return self._module(value, attributes, depth)
        if not attributes and (named_tuple := _named_tuple(value)) is not None:
            return named_tuple
        inner = self._forms.unwrap_constant(value)
        if inner is not value:
            return {"constexpr": self._meaning(inner, (), name, depth)}
        return (
            self._constant(value)
            or self._collection(value, name, depth)
            or self._definition(value, name)
        )

    def _module(
        self, module: ModuleType, attributes: tuple[str, ...], depth: int
    ) -> dict[str, object]:
        top = module.__name__.partition(".")[0]
        if top in self._installed_packages:
            return {"module": module.__name__, "attributes": [".".join(attributes)]}
        if top in _OTHERS and not module.__name__.startswith(self._forms.generated):
            return {"unfrozen": "of %s" % module.__name__}
        if not attributes or depth > _DEPTH:
            return {"unfrozen": "the module %s itself" % module.__name__}
        missing = object()
        value = getattr(module, attributes[0], missing)
        if value is missing:
            return {"unfrozen": "%s.%s, which there is not" % (module.__name__, attributes[0])}
        meaning = self._meaning(value, attributes[1:], attributes[0], depth + 1)
        if _is_hard_to_say(meaning):
            meaning = self._meaning_as_written(module, attributes[0], depth + 1) or meaning
        return {"members": {attributes[0]: meaning}, "of": module.__name__}

    def _collection(self, value: object, name: str, depth: int) -> dict[str, object] | None:
        if depth > _DEPTH or not isinstance(value, (tuple, list, dict)) or len(value) > _ITEMS:
            return None
        if type(value) is dict:
            return {
                "pairs": [
                    [self._meaning(item, (), name, depth + 1) for item in pair]
                    for pair in value.items()
                ]
            }
        if type(value) in (tuple, list):
            return {
                "items": [self._meaning(item, (), name, depth + 1) for item in value],
                "list": type(value) is list,
            }
        return None

    def _definition(self, value: object, name: str) -> dict[str, object]:
        installed = self._find_installed(value, name)
        if installed:
            return {"installed": list(installed)}
        plain = self._forms.plain(value)
        top = (getattr(plain, "__module__", None) or "").partition(".")[0]
        if (
            isinstance(plain, (types.FunctionType, type))
            and (top not in _OTHERS or self._forms.kind(value) == "jit")
            and top not in self._installed_packages
        ):
            return {"function": self.id_of(value)}
        return {
            "unfrozen": (
                type_name(value)
                if not callable(plain)
                else "%s.%s" % (top, getattr(plain, "__qualname__", type_name(value)))
            )
        }

    def _constant(self, value: object) -> dict[str, object] | None:
        if value is None or type(value) in (bool, int, str):
            return {"value": value}
        if type(value) is float:
            return {"value": value} if value - value == 0 else {"float": repr(value)}
        dtype = self._forms.dtype(value)
        if dtype:
            return {"dtype": dtype}
        expression = self._forms.expression(value)
        return {"expression": expression} if expression else None

    def _find_installed(self, value: object, name: str) -> tuple[str, str] | None:
        """Return the module and name of a value of the toolchain or the standard library.

        Returns ``None`` for other values.
        """
        plain = self._forms.plain(value)
        module = getattr(plain, "__module__", None) or getattr(value, "__module__", None) or ""
        own = getattr(plain, "__name__", name)
        public = [(place, attribute) for place in self._forms.public for attribute in (own, name)]
        for place, there in (*public, (module, own), (module, name), ("builtins", name)):
            module_there = (
                sys.modules.get(place)
                if place.partition(".")[0] in self._installed_packages
                else None
            )
            if module_there is not None and getattr(module_there, there, None) is value:
                return place, there
        return None


def default_nodes(node: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters with a default, each with the expression of its default."""
    positional = [*node.args.posonlyargs, *node.args.args]
    for argument, default in zip(
        positional[len(positional) - len(node.args.defaults) :], node.args.defaults
    ):
        yield argument.arg, default
    for argument, keyword_default in zip(node.args.kwonlyargs, node.args.kw_defaults):
        if keyword_default is not None:
            yield argument.arg, keyword_default


def _last_name(decorator: ast.expr) -> str:
    """Return the last part of a decorator's name, without its arguments."""
    called_there = decorator.func if isinstance(decorator, ast.Call) else decorator
    return str(getattr(called_there, "attr", None) or getattr(called_there, "id", ""))


def _has_future_annotations(plain: object) -> bool:
    code = plain.__code__ if isinstance(plain, types.FunctionType) else None
    return code is not None and bool(code.co_flags & _FUTURE_ANNOTATIONS)


class _NameScope:
    """The values of names in a function: closure variables, then globals."""

    def __init__(self, plain: object) -> None:
        self._closure: dict[str, object] = {}
        if isinstance(plain, types.FunctionType):
            self._globals = plain.__globals__
            for name, cell in zip(plain.__code__.co_freevars, plain.__closure__ or ()):
                with contextlib.suppress(ValueError):  # not bound yet
                    self._closure[name] = cell.cell_contents
        else:
            self._globals = vars(sys.modules.get(plain.__module__, types.ModuleType("")))

    @property
    def module(self) -> ModuleType | None:
        """The module that the function is defined in."""
        return sys.modules.get(str(self._globals.get("__name__")))

    def value(self, name: str) -> tuple[bool, Value]:
        """Return whether a name has a value here, and the value."""
        for names in (self._closure, self._globals):
            if name in names:
                return True, names[name]
        return False, None


def _outer_names(source: str) -> set[str]:
    """Return the names in a definition that are looked up outside of it.

    A local variable may have the name of a global one.
    """
    names: set[str] = set()
    tables = [symtable.symtable(source, "definition", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        is_outermost = table.get_type() == "module"
        names |= {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (is_outermost or symbol.is_global())
        }
    return names


def _named_tuple(value: Any) -> Document | None:
    """Return the expression for a class of named tuples, or ``None`` for other values.

    Kernels only use its fields. ``collections.namedtuple`` leaves no source, and a class in the
    source may have annotations that do not belong to a kernel.
    """
    if not (isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")):
        return None
    defaults = [*getattr(value, "_field_defaults", {}).values()]
    if not all(default is None or type(default) in (bool, int, str) for default in defaults):
        return None
    optional = ", defaults=%r" % defaults if defaults else ""
    return {
        "written": "namedtuple(%r, %r%s)" % (value.__name__, list(value._fields), optional),
        "names": {"namedtuple": {"installed": ["collections", "namedtuple"]}},
        "name": value.__name__,
        "of": value.__module__,
    }


def _is_hard_to_say(meaning: Document) -> bool:
    """Whether a meaning contains anything that is not a constant."""
    if "unfrozen" in meaning:
        return True
    inner = [
        *meaning.get("items", ()),
        *(element for pair in meaning.get("pairs", ()) for element in pair),
    ]
    return any(
        not element.keys() & {"value", "float", "items", "pairs", "dtype", "constexpr"}
        or _is_hard_to_say(element)
        for element in inner
    )


@functools.lru_cache(maxsize=256)
def _module_bindings(path: str) -> dict[str, tuple[ast.AST | None, str]]:
    """Return the names of a module that one statement binds, to an expression or by an import.

    An expression comes with its text, and an import with the name in the other module.
    """
    source = "".join(linecache.getlines(path))
    bindings: dict[str, tuple[ast.AST | None, str]] = {}
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return bindings
    for node in body:
        if isinstance(node, ast.ImportFrom):
            bindings.update(
                (alias.asname or alias.name, (node, alias.name)) for alias in node.names
            )
        if not isinstance(node, (ast.Assign, ast.AnnAssign)):
            continue
        value = node.value
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name):
                is_new = target.id not in bindings
                bindings[target.id] = (
                    (value, ast.get_source_segment(source, value) or "")
                    if value and is_new
                    else (None, "")
                )
    return bindings


@functools.lru_cache(maxsize=256)
def _set_later(path: str, name: str) -> list[str]:
    """Return the statements of a module that set an attribute of one of its classes."""
    source = "".join(linecache.getlines(path))
    return [
        ast.get_source_segment(source, node) or ""
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == name
    ]


def _absolute(module: ModuleType, node: ast.ImportFrom) -> str:
    """Return the absolute name of the module that a statement imports from."""
    if not node.level:
        return node.module or ""
    package = module.__name__ if hasattr(module, "__path__") else module.__name__.rpartition(".")[0]
    parts = package.split(".")
    return ".".join(
        [*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])]
    )


def type_name(value: object) -> str:
    """The class of a value, with its module."""
    kind = type(value)
    return (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else "%s.%s" % (kind.__module__, kind.__qualname__)
    )


def _uses(node: ast.AST, future: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names in a definition with the attributes that are read from them.

    It may yield names that are not global, which does no harm.
    """
    if future and isinstance(node, ast.FunctionDef):
        node.returns = None
        for inner in ast.walk(node.args):
            if isinstance(inner, ast.arg):
                inner.annotation = None
    inside = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute):
            attributes: list[str] = []
            base: object = inner
            while isinstance(base, ast.Attribute):
                inside.add(id(base.value))
                attributes.append(base.attr)
                base = base.value
            if isinstance(base, ast.Name):
                yield base.id, tuple(reversed(attributes))
        elif isinstance(inner, ast.Name) and id(inner) not in inside:
            yield inner.id, ()


def _merge_meanings(one: Document | None, other: Document) -> dict[str, object]:
    """Merge two meanings of one name.

    They differ if the name is a module and the code reads several of its attributes.
    """
    if one is None:
        return other
    for key in ("members", "attributes"):
        if key in one and key in other:
            both = dict(one)
            if key == "attributes":
                both[key] = sorted(set(one[key]) | set(other[key]))
            else:
                both[key] = dict(one[key])
                for name, meaning in other[key].items():
                    both[key][name] = _merge_meanings(one[key].get(name), meaning)
            return both
    return one if "unfrozen" not in one else other
