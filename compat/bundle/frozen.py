"""Functions of a running process, with the meanings of their names → one self-contained module.

The recorder writes the functions down (``toolchains/inside/recorder/functions.py`` has the forms of
meanings). This module writes them to source files, at least one for each module that the functions
come from. These files become a bundle like any other (:mod:`compat.bundle.bundle`).
"""

from __future__ import annotations

import ast
import builtins
import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from attrs import define, field, frozen

from compat.bundle.bundle import ConstantForm, bundle
from compat.errors import ConfigError
from compat.model import DEFAULT_TOOLCHAIN, CompileSpec, Specialization, constexprs
from compat.source.names import callable_name
from compat.source.parsing import defaults_of, tree_of, uses
from compat.text import JsonMapping

_Meaning = JsonMapping
_OPTIONAL = "frozen_optional"


def _dtype(name: str) -> str:
    return constexprs.source({"dtype": constexprs.DTYPES.get(name, name)})


@frozen(kw_only=True)
class FrozenForm:
    """How recorded functions of a language are written as source."""

    imports: tuple[str, ...]
    """The statements that every module begins with."""
    decorators: Mapping[str, str]
    """The kind of a function → the decorator that makes it one."""
    constant: ConstantForm | None = None
    """How constants that names refer to are written."""
    dtype: Callable[[str], str] = _dtype
    """The name of an element type → the expression for it."""
    kept_decorators: frozenset[str] = frozenset()
    """The decorators that stay as written, by the last part of their names. The bundle leaves out
    all others.
    """

    def decorators_in(self, node: ast.FunctionDef) -> list[ast.expr]:
        """The decorators of a function that stay."""
        return [
            decorator
            for decorator in node.decorator_list
            if callable_name(decorator) in self.kept_decorators
        ]


@frozen(kw_only=True)
class FrozenDefinition:
    """A function or class of a running process, as the recorder wrote it down."""

    id: str
    kind: str
    """``jit``, ``python``, ``class``, or another of :attr:`FrozenForm.decorators`."""
    name: str
    qualname: str
    module: str
    source: str = ""
    future: bool = False
    """Whether its annotations are not evaluated."""
    jit: JsonMapping = field(factory=dict)
    """The arguments of its decorator that affect a compile."""
    names: Mapping[str, _Meaning] = field(factory=dict)
    defaults: Mapping[str, _Meaning] = field(factory=dict)
    """Parameter → its default, for defaults with names that only the scopes around the function
    had.
    """
    error: str = ""
    """The reason why there is no source, if there is none."""
    file: str = ""
    """The file that defined it, on the machine of the capture."""
    line: int = 0


class NotFrozen(Exception):
    """A kernel cannot become a module of its own. The message says why."""


def module_of_frozen(
    kernel: str,
    constexpr_functions: Mapping[str, str],
    functions: Mapping[str, FrozenDefinition],
    folder: Path,
    form: FrozenForm,
    *,
    optional: Callable[[FrozenDefinition, str], bool] = lambda function, name: False,
    toolchain: str = DEFAULT_TOOLCHAIN,
) -> str:
    """Return the text of a module that holds a function and everything that it uses.

    Args:
        kernel: The id of the function.
        constexpr_functions: Name → id of the functions that it takes as constexprs. They keep
            their names.
        functions: Id → recorded function.
        folder: The folder for the source files. It may hold files of earlier calls.
        form: How functions are written.
        optional: Whether a function uses an installed name only where the name exists. Then the
            module can also be imported where it does not exist.
        toolchain: The name of the toolchain.

    Raises:
        NotFrozen: The function cannot become a module of its own.
    """
    layout = _Layout(functions=functions, form=form, optional=optional)
    first = layout.place(kernel, beside=constexpr_functions)
    problems = [problem for file in layout.files for problem in file.problems()]
    if problems:
        raise NotFrozen(problems[0])
    for file in layout.files:
        (folder / f"{file.module}.py").write_text(file.text(), encoding="utf-8")
    (folder / f"{_OPTIONAL}.py").write_text("\n".join(layout.tolerant.values()), encoding="utf-8")
    spec = Specialization(
        kernel="frozen",
        variant="frozen",
        case="frozen",
        toolchain=toolchain,
        source=str(folder / f"{first.module}.py"),
        function=functions[kernel].name,
        compile=CompileSpec(constexprs={name: {"function": name} for name in constexpr_functions}),
    )
    try:
        return bundle(spec, constant=form.constant).text
    except ConfigError as error:
        # The error names a temporary file.
        raise NotFrozen(str(error).removeprefix(f"{error.where}: ")) from error


def reachable_ids(kernel: str, functions: Mapping[str, FrozenDefinition]) -> tuple[str, ...]:
    """The ids of a function and of all functions that it uses, directly or indirectly."""
    ids: dict[str, None] = {}
    waiting = [kernel]
    while waiting:
        here = waiting.pop()
        if here not in ids and here in functions:
            ids[here] = None
            waiting += [
                used
                for meaning in functions[here].names.values()
                for used in _functions_in(meaning)
            ]
    return tuple(ids)


def _functions_in(meaning: object) -> Iterator[str]:
    if isinstance(meaning, Mapping):
        if isinstance(meaning.get("function"), str):
            yield meaning["function"]
        for inner in meaning.values():
            yield from _functions_in(inner)
    elif isinstance(meaning, list):
        for inner in meaning:
            yield from _functions_in(inner)


# --- files ----------------------------------------------------------------------------------------


@define(kw_only=True, eq=False)
class _File:
    """A source file of recorded functions."""

    module: str
    layout: _Layout
    names: dict[str, _Meaning] = field(factory=dict)
    functions: dict[str, FrozenDefinition] = field(factory=dict)
    """Name → function."""

    def accepts(self, function: FrozenDefinition) -> bool:
        """Whether the file can hold a function: its names have no other meaning in the file."""
        if self.functions.get(function.name, function) is not function:
            return False
        return all(
            self._agrees(name, meaning) for name, meaning in function.names.items()
        ) and self._agrees(function.name, {"function": function.id})

    def _agrees(self, name: str, meaning: _Meaning) -> bool:
        if name in self.functions and meaning.get("function") != self.functions[name].id:
            return False
        return name not in self.names or _same(self.names[name], meaning)

    def add(self, function: FrozenDefinition) -> None:
        """Add a function and the meanings of its names."""
        self.functions[function.name] = function
        for name, meaning in function.names.items():
            self.names[name] = _union(self.names[name], meaning) if name in self.names else meaning

    def problems(self) -> Iterator[str]:
        """Yield why functions of the file cannot be written as source, for each use of a name."""
        for function in self.functions.values():
            if function.error:
                yield f"{function.name}: {function.error}"
                continue
            node = _definition(function, self.layout.form)
            for use in uses(node):
                why = _unfrozen(function.names.get(use.name, {}))
                if why:
                    yield (
                        f"{function.name} uses {'.'.join((use.name, *use.attributes))}, which is"
                        f" {why}"
                    )

    def text(self) -> str:
        """The text of the file."""
        future = (
            ["from __future__ import annotations"]
            if any(function.future for function in self.functions.values())
            else []
        )
        bindings = (self._binding(name, meaning) for name, meaning in self.names.items())
        statements = [*self.layout.form.imports, *chain.from_iterable(bindings)]
        functions = sorted(self.functions.values(), key=lambda function: function.line)
        definitions = (
            f"\n\n{_definition_text(function, self.layout.form)}" for function in functions
        )
        return "\n".join([*future, *dict.fromkeys(statements), *definitions]) + "\n"

    def _binding(self, name: str, meaning: _Meaning) -> Iterator[str]:
        if "function" in meaning:
            yield from self._import_lines(name, meaning["function"])
        elif "installed" in meaning:
            module, there = meaning["installed"]
            if self._is_optional(name, meaning) and self.layout.tolerate(module, there):
                yield f"from {_OPTIONAL} import {_as(there, name)}"
            elif module != "builtins" or there != name:
                yield f"from {module} import {_as(there, name)}"
        elif "module" in meaning:
            yield f"import {_as(meaning['module'], name)}"
        elif "members" in meaning:
            yield f"import {_as(self.layout.members(meaning).module, name)}"
        elif (
            "written" in meaning
            and self.names.get(name) is meaning
            and self.layout.expression_file(meaning) is self
        ):
            yield f"{name} = {meaning['written']}"
        elif "written" in meaning:
            module = self.layout.expression_file(meaning).module
            yield f"from {module} import {_as(meaning['name'], name)}"
        elif not _unfrozen(meaning):
            yield f"{name} = {_expression(meaning, self.layout.form)}"

    def _is_optional(self, name: str, meaning: _Meaning) -> bool:
        using = (
            function for function in self.functions.values() if function.names.get(name) == meaning
        )
        return any(self.layout.optional(function, name) for function in using)

    def _import_lines(self, name: str, function_id: str) -> Iterator[str]:
        function = self.layout.functions[function_id]
        file = self.layout.place(function_id)
        if file is not self:
            yield f"from {file.module} import {_as(function.name, name)}"
        elif function.name != name:
            yield f"{name} = {function.name}"


@define(kw_only=True, eq=False)
class _Layout:
    """The files of all functions."""

    functions: Mapping[str, FrozenDefinition]
    form: FrozenForm
    optional: Callable[[FrozenDefinition, str], bool]
    files: list[_File] = field(factory=list)
    tolerant: dict[str, str] = field(factory=dict)
    """Name → the statement that imports it if it exists."""
    _places: dict[str, _File] = field(factory=dict)
    _members: dict[str, _File] = field(factory=dict)

    def tolerate(self, module: str, name: str) -> bool:
        """Import a name only where it exists, and return whether that is possible.

        It is not possible if the name is a builtin of Python, or another module's name is imported
        under it.
        """
        if hasattr(builtins, name):
            return False
        statement = (
            f"try:\n    from {module} import {name}\n"
            "except ImportError:  # not in every release\n    pass\n"
        )
        return self.tolerant.setdefault(name, statement) == statement

    def place(self, function_id: str, beside: Mapping[str, str] | None = None) -> _File:
        """Return the file of a function, after adding the function if it has no file.

        All that the function uses gets a file too. The functions ``beside`` it, name → id, go into
        the same file. Raises NotFrozen if a function was not recorded or cannot be in that file.
        """
        if function_id in self._places:
            return self._places[function_id]
        if function_id not in self.functions:
            raise NotFrozen(
                "its process ended before the recorder had written everything that it uses"
            )
        function = self.functions[function_id]
        file = self._free(function)
        self._add_to_file(file, function_id)
        for name, other in (beside or {}).items():
            given_function = self.functions.get(other)
            if (
                given_function is None
                or given_function.name != name
                or not file.accepts(given_function)
            ):
                raise NotFrozen(
                    f"the function {name}, which is passed to it, cannot be in the same file"
                )
            self._add_to_file(file, other)
        return file

    def _add_to_file(self, file: _File, function_id: str) -> None:
        file.add(self.functions[function_id])
        self._places[function_id] = file
        for used in reachable_ids(function_id, self.functions):
            self.place(used)
        for meaning in self.functions[function_id].names.values():
            self._lay_out(meaning)

    def _free(self, function: FrozenDefinition) -> _File:
        named = [
            file
            for file in self.files
            if any(member.module == function.module for member in file.functions.values())
        ]
        for file in named:
            if file.accepts(function):
                return file
        return self._new()

    def members(self, meaning: _Meaning) -> _File:
        """The file that holds the attributes that functions use of a module."""
        key = json.dumps(meaning, sort_keys=True)
        if key not in self._members:
            file = self._members[key] = self._new()
            file.names.update(meaning["members"])
            for member in meaning["members"].values():
                self._lay_out(member)
        return self._members[key]

    def expression_file(self, meaning: _Meaning) -> _File:
        """The file that holds the value of an expression, with all names that it uses."""
        key = json.dumps([meaning["of"], meaning["name"], meaning["written"]])
        if key not in self._members:
            file = self._members[key] = self._new()
            for inner in meaning["names"].values():
                self._lay_out(inner)
            file.names.update({**meaning["names"], meaning["name"]: meaning})
        return self._members[key]

    def _lay_out(self, meaning: _Meaning) -> None:
        if "members" in meaning:
            self.members(meaning)
        elif "written" in meaning:
            self.expression_file(meaning)

    def _new(self) -> _File:
        file = _File(module=f"frozen_{len(self.files)}", layout=self)
        self.files.append(file)
        return file


def _as(there: str, here: str) -> str:
    return there if there == here else f"{there} as {here}"


def _same(one: _Meaning, other: _Meaning) -> bool:
    keys = ("members", "attributes")
    if any(key in one and key in other for key in keys):
        return one.get("of") == other.get("of") and one.get("module") == other.get("module")
    return one == other


def _union(one: _Meaning, other: _Meaning) -> _Meaning:
    if "members" in one and "members" in other:
        both = {**one["members"]}
        for name, meaning in other["members"].items():
            both[name] = _union(both[name], meaning) if name in both else meaning
        return {**one, "members": both}
    return one


# --- text -----------------------------------------------------------------------------------------


def _expression(meaning: _Meaning, form: FrozenForm) -> str:
    """A constant as Python source."""
    if "value" in meaning:
        return repr(meaning["value"])
    if "float" in meaning:
        return f'float("{meaning["float"]}")'
    if "constexpr" in meaning:
        made_with = form.constant.made_with if form.constant else ""
        return f"{made_with}({_expression(meaning['constexpr'], form)})"
    if "expression" in meaning:
        return str(meaning["expression"])
    if "dtype" in meaning:
        return form.dtype(meaning["dtype"])
    if "items" in meaning:
        inner = ", ".join(_expression(item, form) for item in meaning["items"])
        return (
            f"[{inner}]"
            if meaning.get("list")
            else f"({inner}{',' if len(meaning['items']) == 1 else ''})"
        )
    pairs = (
        f"{_expression(key, form)}: {_expression(value, form)}" for key, value in meaning["pairs"]
    )
    return "{" + ", ".join(pairs) + "}"


def _unfrozen(meaning: object) -> str | None:
    """A description of a meaning that cannot be written as source; ``None`` if it can be."""
    if not isinstance(meaning, Mapping):
        return (
            next((reason for inner in meaning if (reason := _unfrozen(inner))), None)
            if isinstance(meaning, list)
            else None
        )
    if "unfrozen" in meaning:
        return str(meaning["unfrozen"])
    if "pairs" in meaning or "items" in meaning:
        inside = [*meaning.get("pairs", ()), *meaning.get("items", ())]
        return _unfrozen(inside) or next(
            ("a table of functions" for item in inside if "function" in str(item)), None
        )
    return _unfrozen(
        [
            meaning.get("constexpr"),
            *meaning.get("members", {}).values(),
            *meaning.get("names", {}).values(),
        ]
    )


def _definition(function: FrozenDefinition, form: FrozenForm) -> ast.stmt:
    """The definition without the decorators and annotations that are left out.

    Such annotations mean nothing to a compiler.
    """
    node = tree_of(function.source).body[0]
    if isinstance(node, ast.FunctionDef):
        node.decorator_list = form.decorators_in(node)
        for annotation in _foreign_annotations(function, node):
            annotation.annotation = None
        if node.returns is not None and (function.future or _is_foreign(function, node.returns)):
            node.returns = None
    return node


def _foreign_annotations(function: FrozenDefinition, node: ast.FunctionDef) -> list[ast.arg]:
    arguments = [inner for inner in ast.walk(node.args) if isinstance(inner, ast.arg)]
    return [
        argument
        for argument in arguments
        if argument.annotation is not None and _is_foreign(function, argument.annotation)
    ]


def _is_foreign(function: FrozenDefinition, annotation: ast.expr) -> bool:
    return any(_unfrozen(function.names.get(use.name, {})) for use in uses(annotation))


def _definition_text(function: FrozenDefinition, form: FrozenForm) -> str:
    """A definition as it was written, with the decorator that says how it was compiled."""
    node = tree_of(function.source).body[0]
    if isinstance(node, ast.ClassDef):
        return function.source.rstrip("\n")
    assert isinstance(node, ast.FunctionDef)
    lines = [line.encode() for line in function.source.split("\n")[: node.end_lineno]]
    for start, end, new in sorted(_edits(function, node, form), reverse=True):
        around = lines[start[0] - 1][: start[1]], lines[end[0] - 1][end[1] :]
        lines[start[0] - 1 : end[0]] = [new.encode().join(around)]
    text = b"\n".join(lines[node.lineno - 1 :]).decode()
    decorator = form.decorators.get(function.kind, "")
    if decorator and function.jit:
        decorator += (
            f"({', '.join(f'{name}={value!r}' for name, value in sorted(function.jit.items()))})"
        )
    decorator_lines = (
        f"@{ast.get_source_segment(function.source, own_decorator)}"
        for own_decorator in form.decorators_in(node)
    )
    return "\n".join([*decorator_lines, *filter(None, [decorator]), text])


_Position = tuple[int, int]


def _edits(
    function: FrozenDefinition, node: ast.FunctionDef, form: FrozenForm
) -> Iterator[tuple[_Position, _Position, str]]:
    """The edits of a function's source: start, end, and the text to put there."""
    for argument in _foreign_annotations(function, node):
        assert argument.annotation is not None
        yield (
            (argument.lineno, argument.col_offset + len(argument.arg.encode())),
            _end(argument.annotation),
            "",
        )
    if node.returns is not None and not function.future and _is_foreign(function, node.returns):
        yield (node.returns.lineno, node.returns.col_offset), _end(node.returns), "None"
    for parameter, default in defaults_of(node.args).items():
        if parameter in function.defaults:
            meaning = function.defaults[parameter]
            is_constant = (
                not _unfrozen(meaning)
                and not {"function", "installed", "module", "members"} & meaning.keys()
            )
            yield (
                (default.lineno, default.col_offset),
                _end(default),
                _expression(meaning, form) if is_constant else "None",
            )


def _end(node: ast.expr) -> _Position:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
