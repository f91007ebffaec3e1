"""A module's text: the statements that a kernel needs, undefined names, and its written form."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Container, Iterable, Iterator

from compat import toolchains
from compat.model import DEFAULT_TOOLCHAIN
from compat.source import parsing
from compat.source.parsing import bound_names, defined_names, named_parameters, tree_of, uses, walk
from compat.toolchains.base import Simplification

BUILTINS = frozenset(dir(builtins))


def functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """The functions a module defines, by name."""
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def methods(kind: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    """The methods that a class defines, by its name and theirs."""
    return {
        f"{kind.name}.{node.name}": node for node in kind.body if isinstance(node, ast.FunctionDef)
    }


def defines(tree: ast.Module, names: Iterable[str]) -> bool:
    """Whether a module defines functions or classes of all these names."""
    return set(names) <= {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def loaded_names(node: ast.AST) -> set[str]:
    """Names that are read somewhere in ``node``; ``x += 1`` reads ``x``, too."""
    names = set()
    for child in walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
            names.add(child.id)
        elif isinstance(child, ast.AugAssign) and isinstance(child.target, ast.Name):
            names.add(child.target.id)
    return names


def assigned_names(node: ast.AST) -> set[str]:
    """Names that are assigned somewhere in ``node``."""
    return {
        child.id
        for child in walk(node)
        if isinstance(child, ast.Name) and not isinstance(child.ctx, ast.Load)
    }


def parameters(function: ast.FunctionDef) -> list[str]:
    """Names of a function's parameters, in order."""
    return [parameter.arg for parameter in named_parameters(function.args)]


def needed_part(tree: ast.Module, *functions: str) -> ast.Module:
    """Return only the module-level statements that ``functions`` need, in order.

    A function may need a statement directly or through others.
    """
    roots = (
        statement for statement in tree.body if not defined_names(statement).isdisjoint(functions)
    )
    return ast.Module(body=parsing.needed_statements(tree.body, roots), type_ignores=[])


def undress(
    tree: ast.Module, language: Simplification, annotated: Container[str] = ()
) -> ast.Module:
    """Remove docstrings and annotations, except annotations that the compiler reads.

    Functions in ``annotated`` keep all annotations. Changes ``tree``.
    """
    for function in functions(tree).values():
        first = function.body[0]
        if (
            isinstance(first, ast.Expr)
            and isinstance(first.value, ast.Constant)
            and isinstance(first.value.value, str)
        ):
            function.body = function.body[1:] or [ast.Pass()]
        function.returns = None
        for argument in named_parameters(function.args):
            if argument.annotation is None or function.name in annotated:
                continue
            if language.annotations is None or not language.annotations.search(
                ast.unparse(argument.annotation)
            ):
                argument.annotation = None
    return tree


def fit_decorators(tree: ast.Module, language: Simplification) -> ast.Module:
    """Remove parameters that a function does not have from its decorators. Changes ``tree``."""
    for function in functions(tree).values():
        names = parameters(function)
        for decorator, keyword, listed in _parameter_lists(function, language):
            listed.elts = [
                element
                for element in listed.elts
                if not isinstance(element, ast.Constant) or element.value in names
            ]
            if not listed.elts:
                decorator.keywords.remove(keyword)
        function.decorator_list = [
            _bare(decorator, language) for decorator in function.decorator_list
        ]
    return tree


def name_parameters(tree: ast.Module, language: Simplification) -> ast.Module:
    """Replace the numbers of parameters in decorators by names, because positions change.

    Changes ``tree``.
    """
    for function in functions(tree).values():
        names = parameters(function)
        for _, _, listed in _parameter_lists(function, language):
            for number, place in enumerate(listed.elts):
                if (
                    isinstance(place, ast.Constant)
                    and type(place.value) is int
                    and place.value < len(names)
                ):
                    listed.elts[number] = ast.Constant(names[place.value])
    return tree


def _parameter_lists(
    function: ast.FunctionDef, language: Simplification
) -> Iterator[tuple[ast.Call, ast.keyword, ast.List | ast.Tuple]]:
    """Yield the arguments of decorators that list parameters.

    Each is the decorator, its keyword, and the list.
    """
    for decorator in function.decorator_list:
        for keyword in [*decorator.keywords] if isinstance(decorator, ast.Call) else ():
            if keyword.arg in language.parameter_lists and isinstance(
                keyword.value, ast.List | ast.Tuple
            ):
                yield decorator, keyword, keyword.value  # type: ignore[misc]


def _bare(decorator: ast.expr, language: Simplification) -> ast.expr:
    """A decorator without an empty list of arguments, if it means the same."""
    match decorator:
        case ast.Call(func=function, args=[], keywords=[]) if (
            ast.unparse(function) in language.plain_decorators
        ):
            return function
    return decorator


def prune(tree: ast.Module) -> ast.Module:
    """Remove the statements that read a name which no statement before them defines.

    Changes ``tree``. Statements that depend on a removed one are removed, too. So removing one
    statement is a useful step, and no candidate fails because of an undefined name.
    """
    names = BUILTINS.union(*(defined_names(statement) for statement in tree.body))
    for function in functions(tree).values():
        function.body = _prune_body(function.body, names.union(parameters(function)))
    return tree


def _prune_body(body: Iterable[ast.stmt], names: Iterable[str]) -> list[ast.stmt]:
    names, statements = set(names), list[ast.stmt]()
    for statement in body:
        if any(not _reads_only(part, names) for part in _header(statement)):
            continue
        if isinstance(statement, ast.For):
            names |= assigned_names(statement.target)
        if isinstance(statement, ast.For | ast.While | ast.If | ast.With):
            statement.body = _prune_body(statement.body, names)
        if isinstance(statement, ast.For | ast.While | ast.If):
            otherwise = _prune_body(statement.orelse, names)
            statement.orelse = (
                [] if all(isinstance(inner, ast.Pass) for inner in otherwise) else otherwise
            )
        names |= bound_names([statement])
        statements.append(statement)
    return statements or [ast.Pass()]


def _reads_only(part: ast.AST, names: set[str]) -> bool:
    """Whether a part of a statement reads no other names, except those that it binds itself.

    An assignment reads its value before it binds a name.
    """
    others = loaded_names(part) - names
    if others:
        others &= {use.name for use in uses(part)}
    is_assignment = isinstance(part, ast.Assign | ast.AugAssign | ast.AnnAssign)
    return not others or (not is_assignment and others <= bound_names([part]))


def _header(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes that a statement evaluates before any statement inside it."""
    if isinstance(statement, ast.For):
        yield statement.iter
    elif isinstance(statement, ast.If | ast.While):
        yield statement.test
    elif isinstance(statement, ast.With):
        yield from (item.context_expr for item in statement.items)
    else:
        yield statement


def module_text(tree: ast.Module) -> str:
    """The text of a module: imports, and two empty lines before each function."""
    lines: list[str] = []
    for statement in tree.body:
        if lines and isinstance(statement, ast.FunctionDef | ast.ClassDef):
            lines += ["", ""]
        lines += ast.unparse(statement).strip().splitlines()
    return "\n".join(lines) + "\n"


def extract_functions(
    text: str, *functions: str, annotated: Container[str] = (), toolchain: str = DEFAULT_TOOLCHAIN
) -> str:
    """Return a module with the parts of ``text`` that ``functions`` need, after :func:`undress`.

    Raises SyntaxError, also if the text is nested too deeply.
    """
    language = toolchains.look_up(toolchain).language.simplification
    try:
        return module_text(
            name_parameters(
                undress(needed_part(tree_of(text), *functions), language, annotated), language
            )
        )
    except RecursionError as error:
        raise SyntaxError("nested too deeply") from error
