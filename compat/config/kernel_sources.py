"""The source of a kernel: ``source``, or ``module`` with ``path`` or ``package``; its functions.

A function that a kernel file names must exist, and have the parameters with types and values in the
kernel file. A source in a package is imported as a part of it, from the folder above. A library
from the package index is unpacked in a cache first (:mod:`compat.envs.libraries`).
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from compat.config.toml import Table, did_you_mean, display_path
from compat.envs import libraries
from compat.errors import EnvError
from compat.model import CompileSpec
from compat.model.cell import CONSTEXPR, leaf_types, parameter_of, split_path
from compat.source.closure import (
    LIBRARY,
    NotReachable,
    Parameters,
    ParsedSource,
    parameters_reached,
    roots_of,
)
from compat.text import lazy_pattern

KEYS = ("source", "module", "path", "package", "install")
"""The keys of a kernel file or a variant about its source."""
_MODULE = lazy_pattern(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_FORMS = (
    'Set function to the name of a function in the file, or to "Holder.kernel" or "make(64)"'
    " (default: the kernel's name). A call takes only literals."
)
_PINNED_HINT = (
    'Name the version, for example "liger-kernel==0.6.4": versions have different kernels.'
)


@frozen(kw_only=True)
class Place:
    """A source file, and the folders to search for its absolute imports."""

    source: Path
    roots: tuple[Path, ...]
    key: str
    """The key of the kernel file that names the source, for errors."""
    package: str = ""
    """The requirement of the library that has its module; empty without one."""

    @property
    def declared_roots(self) -> tuple[str, ...]:
        """The roots; empty if they are those that the path of the source implies."""
        return () if self.roots == roots_of(self.source) else tuple(map(str, self.roots))


@contextmanager
def source_errors(source: Path, table: Table, key: str, hint: str | None = None) -> Iterator[None]:
    """Raise ConfigError at a key for the errors of reading a source.

    ``hint`` is for a file that is not Python source.
    """
    try:
        yield
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        table.fail(f"{display_path(source)}{line}: {error.msg}", key, hint=hint)
    except (OSError, ValueError) as error:
        table.fail(f"{display_path(source)} cannot be read: {error}", key)


def place_of(
    tables: Sequence[Table], folder: Path, library: Callable[[str], Path] = libraries.unpack_library
) -> Place:
    """The source of the first table that names one: a variant's, else the kernel's.

    ``folder`` is that of the kernel file, and ``library`` unpacks a requirement. Raises
    ConfigError.
    """
    table = next((table for table in tables if "source" in table or "module" in table), tables[-1])
    if "source" in table and "module" in table:
        table.fail(
            "expected source or module, found both",
            "module",
            hint="Remove the one that does not locate the kernel.",
        )
    if "module" in table:
        return _of_module(table, tables, folder, library)
    for key in ("path", "package"):
        if key in table:
            table.fail(f"{key!r} needs a module", key, hint='Add module = "mylib.ops.act".')
    source = source_beside(table, folder)
    roots = (*roots_of(source), *_install_folders(tables, folder, library))
    return Place(source=source, roots=tuple(dict.fromkeys(roots)), key="source")


def source_beside(table: Table, folder: Path) -> Path:
    """The file that ``source`` of a table names. Raises ConfigError if there is none."""
    source = os.path.realpath(folder / table.string("source"))
    if not os.path.isfile(source):  # it also accepts names that no file system allows
        table.fail(f"there is no file {table.string('source')!r} next to this one", "source")
    return Path(source)


def _of_module(
    table: Table, tables: Sequence[Table], folder: Path, library: Callable[[str], Path]
) -> Place:
    module = table.string("module")
    if not _MODULE.fullmatch(module):
        table.fail(
            f"{module!r} is not the name of a module", "module", hint='For example "mylib.ops.act".'
        )
    naming = next(
        (candidate for candidate in tables if "path" in candidate or "package" in candidate), table
    )
    roots = tuple(
        dict.fromkeys(
            (*_roots(naming, folder, library), *_install_folders(tables, folder, library))
        )
    )
    package = naming.string("package", "")
    for root in roots:
        place = root.joinpath(*module.split("."))
        for file in (place / "__init__.py", place.with_name(f"{place.name}.py")):
            if os.path.isfile(file):
                return Place(source=file, roots=roots, key="module", package=package)
    searched = ", ".join(map(str, roots))
    return table.fail(
        f"there is no module {module!r}",
        "module",
        hint=f'Searched in {searched}. Add other folders, for example path = ["src"].',
    )


def _roots(table: Table, folder: Path, library: Callable[[str], Path]) -> tuple[Path, ...]:
    roots: list[Path] = []
    for index, name in enumerate(table.strings("path", () if "package" in table else (".",))):
        root = Path(os.path.realpath(folder / name))
        if not root.is_dir():
            table.fail(f"there is no folder {name!r} next to this file", f"path[{index}]")
        roots.append(root)
    if "package" in table:
        roots.append(_library(table, "package", table.string("package"), library))
    return tuple(roots)


def _install_folders(
    tables: Sequence[Table], folder: Path, library: Callable[[str], Path]
) -> Iterator[Path]:
    """The folders of ``install``: local ones, and unpacked libraries without their dependencies."""
    table = next((table for table in tables if "install" in table), tables[-1])
    for index, requirement in enumerate(table.strings("install", ())):
        local = re.fullmatch(r"(?:-e\s+|--editable[=\s])?\s*((?:\.|/|~).*)|-e\s+(.+)", requirement)
        if local:
            yield _import_root(
                table, f"install[{index}]", folder / os.path.expanduser(local[1] or local[2])
            )
        else:
            yield _library(table, f"install[{index}]", requirement, library)


def _import_root(table: Table, key: str, project: Path) -> Path:
    """The folder of a project's packages: ``src`` if it exists, else the folder of the project."""
    root = Path(os.path.realpath(project))
    if not root.is_dir():
        table.fail(f"there is no folder {str(project)!r}", key)
    return root / "src" if (root / "src").is_dir() else root


def _library(table: Table, key: str, requirement: str, library: Callable[[str], Path]) -> Path:
    if not libraries.is_pinned(requirement):
        table.fail(f"{requirement!r} is not a name and a version", key, hint=_PINNED_HINT)
    try:
        return library(requirement)
    except EnvError as error:
        table.fail(str(error), key, hint=error.hint)


def library_of(source: Path, roots: Iterable[Path]) -> str | None:
    """The requirement of the library of the package index that contains a source.

    No command edits such a library. It is ``None`` for other sources.
    """
    return next(
        (
            requirement
            for root in roots
            if source.is_relative_to(root) and (requirement := requirement_of(root))
        ),
        None,
    )


def requirement_of(root: Path) -> str | None:
    """The requirement that a library was unpacked for in a folder; ``None`` for other folders."""
    try:
        record = json.loads((root / LIBRARY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return (
        str(record["requirement"]) if isinstance(record, dict) and "requirement" in record else None
    )


# --- functions ------------------------------------------------------------------------------------


def check_function(
    variant: Table, case: Table, name: str, spec: CompileSpec, path: Path, source: ParsedSource
) -> None:
    """Check the types and values of a variant's case for the function ``name`` of a source.

    Raises ConfigError.
    """
    parameters = _parameters(variant, name, path, source)
    named = f"{variant.string('function')} (case {case.string('name')})"
    _check_arguments(variant, named, parameters, spec, source.tree)
    _check_functions(variant, named, spec, path, source)


def _parameters(variant: Table, name: str, path: Path, source: ParsedSource) -> Parameters | None:
    """The parameters of a variant's function.

    They are ``None`` if only an import of the file can determine them.
    """
    try:
        return parameters_reached(source, name)
    except NotReachable as error:
        near = did_you_mean(name, source.functions) if name.isidentifier() else None
        return variant.fail(f"{path.name} {error}", "function", hint=near or _FORMS)


def _check_arguments(
    variant: Table, named: str, parameters: Parameters | None, spec: CompileSpec, tree: ast.Module
) -> None:
    """Check that each required parameter has either a type or a value, and that no other name does.

    Parameters with defaults may have one, too.
    """
    passed, values = spec.launch or spec.signature, spec.constexprs
    if both := [name for name in passed if name in values]:
        variant.fail(
            f"{named}: {both[0]!r} is in the {'launch' if spec.launch else 'signature'} and among"
            " the constexprs"
        )
    _check_elements(variant, named, leaf_types(spec.signature), values)
    if parameters is None:
        return
    for name in (*passed, *map(parameter_of, values)):
        if name in parameters.gathering:
            variant.fail(
                f"{named} takes any number of arguments as {name!r}, which a kernel file cannot"
                " describe",
                hint="Give the function one parameter for each argument, or one for a tuple.",
            )
        if name not in parameters.names:
            hint = (
                did_you_mean(name, parameters.names)
                or f"If this variant does not have the parameter, add {name} = {{drop = true}}."
            )
            variant.fail(
                f"{named} has no parameter {name!r}, but the tables give it a type or a value",
                hint=hint,
            )
    if typed := [name for name in spec.signature if name in parameters.constexprs]:
        hint = f"Give its value in [constexprs]: {typed[0]} = 64."
        variant.fail(
            f"{named}: {typed[0]!r} is a constexpr of the function, and the signature gives it a"
            " type",
            hint=hint,
        )
    if missing := [
        name
        for name in parameters.names
        if name in parameters.required and name not in {**passed, **values}
    ]:
        hint = _lines_to_add(
            missing, parameters, tree, named.partition(" ")[0], launched=bool(spec.launch)
        )
        variant.fail(f"{named}: no type or value for {', '.join(missing)}", hint=hint)


def _lines_to_add(
    missing: Sequence[str],
    parameters: Parameters,
    tree: ast.Module,
    function: str,
    *,
    launched: bool,
) -> str:
    """The lines of TOML that give parameters an example of a value or a type."""
    nodes = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == function.rpartition(".")[2]
    ]
    flags, pointers = (
        {name for node in nodes for name in names(node)} for names in (_conditions, _pointers)
    )
    pointer, number = '"*fp32"', "4096" if launched else '"i32"'
    values = [
        f"{name} = {'true' if name in flags else 64}"
        for name in missing
        if name in parameters.constexprs
    ]
    types = [
        f"{name} = {pointer if name in pointers else number}"
        for name in missing
        if name not in parameters.constexprs
    ]
    tables = {"constexprs": values, "launch" if launched else "signature": types}
    added = " and ".join(
        f"{', '.join(lines)} to [{table}]" for table, lines in tables.items() if lines
    )
    return f"Add {added}. Replace these examples with what a launch passes."


def _conditions(function: ast.FunctionDef) -> Iterator[str]:
    """The names that are operands of conditions."""
    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.IfExp):
            yield from (
                operand.id for operand in _operands(node.test) if isinstance(operand, ast.Name)
            )


def _operands(test: ast.expr) -> Iterator[ast.expr]:
    """The operands of ``and``, ``or`` and ``not`` in a condition."""
    inner = (
        test.values
        if isinstance(test, ast.BoolOp)
        else [test.operand]
        if isinstance(test, ast.UnaryOp)
        else []
    )
    if not inner:
        yield test
    for operand in inner:
        yield from _operands(operand)


def _pointers(function: ast.FunctionDef) -> Iterator[str]:
    """The parameters with ``ptr`` in their names, and the names that begin addresses."""
    yield from (
        pointer.arg
        for pointer in ast.walk(function.args)
        if isinstance(pointer, ast.arg) and "ptr" in pointer.arg.lower()
    )
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Call)
            and node.args
            and ast.unparse(node.func).rpartition(".")[2] in ("load", "store")
        ):
            address = node.args[0]
            while isinstance(address, ast.BinOp):
                address = address.left
            yield from (pointer.id for pointer in (address,) if isinstance(pointer, ast.Name))


def _check_elements(
    variant: Table, named: str, types: Mapping[str, str], values: Mapping[str, object]
) -> None:
    """Check that the elements of tuples that are constexprs have values, and that no others do."""
    elements = [path for path, kind in types.items() if kind == CONSTEXPR]
    for path in elements:
        if path not in values:
            hint = f'Add it to [constexprs]: "{path}" = 64.'
            variant.fail(
                f"{named}: the element {path!r} is a constexpr and has no value", hint=hint
            )
    for path in values:
        if split_path(path)[1] and path not in elements:
            why = (
                f"its type is {types[path]!r}"
                if path in types
                else "the signature has no such element"
            )
            variant.fail(
                f"{named}: {path!r} has a value, but {why}",
                hint=f'Give such an element the type "{CONSTEXPR}".',
            )


def _check_functions(
    variant: Table, named: str, spec: CompileSpec, path: Path, source: ParsedSource
) -> None:
    """Check that functions among the constexprs, or that make arguments, are in the same source.

    A constexpr may also be a class there, such as an aggregate of Gluon.
    """
    classes = {node.name for node in source.tree.body if isinstance(node, ast.ClassDef)}
    for name in spec.functions:
        if name not in source.functions and name not in classes:
            hint = (
                did_you_mean(name, source.functions)
                or "It must be defined in the kernel's own source file."
            )
            table = (
                "the signature"
                if f"{name}()" in leaf_types(spec.signature).values()
                else "a constexpr"
            )
            variant.fail(
                f"{named}: {table} names the function {name!r}, which {path.name} does not define",
                hint=hint,
            )
