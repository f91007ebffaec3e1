"""What launches in each release find out about a kernel's arguments, as far as its text tells.

The adapter asks the release's own launch code (``adapter/call.py``); a script says what came of it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum

from attrs import frozen
from packaging.version import Version

from compat.bundle.bundle import Bundle
from compat.model import Target, constexprs, signatures
from compat.model.signatures import CONSTEXPR, ArgumentType
from compat.source.parsing import tree_of
from compat.text import lazy_pattern

_NUMBER = lazy_pattern(r"[iu](?!1$)\d+")
_TYPED = lazy_pattern(r"\b(?:int|float|bool|(?:tl\.)?(?:u?int\d+|b?float\d+\w*)|[iu]\d+|b?fp?\d+\w*)\b")
"""An annotation that is a type, so that launches from 3.4 on do not look for one."""
_BUFFER_OPERATIONS = "AMDGCN_USE_BUFFER_OPS"
_TRUE = frozenset({"1", "true", "on", "y", "yes"})


class Form(StrEnum):
    """The ways in which releases want a specialization described."""

    DESCRIPTOR = "3.0 and 3.1"
    HINTS = "3.2"
    ATTRIBUTES = "3.3"
    TYPED = "3.4 and 3.5"
    """An argument that is annotated with a type is not folded into a constant."""
    RANGED = "3.6 and later"
    """Buffer operations are on, for which AMD's launcher looks at the size of tensors."""
    ANY = "every release"
    """Finds out which of the others it is; for ``--portable``, and for toolchains without a release number."""

    @property
    def has_attributes(self) -> bool:
        """Whether attributes are a dictionary, and constexprs have a place in the signature."""
        return self in (Form.ATTRIBUTES, Form.TYPED, Form.RANGED)


_FROM = {"3.6.dev0": Form.RANGED, "3.4.dev0": Form.TYPED, "3.3.dev0": Form.ATTRIBUTES, "3.2.dev0": Form.HINTS}


def form_of(release: str | None) -> Form:
    """The form that a release takes."""
    if release is None:
        return Form.ANY
    version = Version(Version(release).public)
    return next((form for first, form in _FROM.items() if version >= Version(first)), Form.DESCRIPTOR)


Index = int | tuple[int, ...]
"""The number of a parameter, or of a tuple's element the path to it."""


@frozen(kw_only=True)
class Launched:
    """A specialization in the order of the function's parameters, as Triton counts them."""

    order: tuple[str, ...]
    types: Mapping[str, ArgumentType]
    """Run-time arguments that are not constants."""
    constants: Mapping[str | Index, str]
    """Constexprs, and arguments that are folded into a 1, as source text; elements of tuples by their paths."""
    divisible: tuple[Index, ...]
    ones: tuple[Index, ...]
    small: tuple[Index, ...]
    """Pointers with a range of 32 bits; for every release those for which one may say so."""
    typed: Mapping[str, str]
    """For every release: arguments that some of them do not fold, with their types."""

    @classmethod
    def of(cls, bundle: Bundle, target: Target, form: Form, variables: Mapping[str, str]) -> Launched:
        """What is found out by the launches of releases that take this form, with these environment variables set."""
        spec, kernel = bundle.spec, _kernel(bundle)
        annotations = {argument.arg: ast.unparse(argument.annotation) for argument in _arguments(kernel) if argument.annotation}
        order, unspecialized = parameters(bundle), _named_by(kernel, "do_not_specialize", parameters(bundle))
        unaligned = unspecialized | _named_by(kernel, "do_not_specialize_on_alignment", order)
        declared = {name: kind for name, kind in spec.compile.signature.items() if name in order}
        known = signatures.leaves(declared)
        equal = [path for path in spec.compile.equal_to_1 if _NUMBER.fullmatch(known.get(path, "")) and path not in unspecialized]
        typed = {path: known[path] for path in equal if _TYPED.search(annotations.get(path, ""))}
        ones = [path for path in equal if not (form in (Form.TYPED, Form.RANGED) and path in typed)]
        constants = {path: constexprs.source(value) for path, value in spec.compile.constexprs.items()} | dict.fromkeys(ones, "1")
        types = {path: kind for path, kind in known.items() if path not in constants}
        divisible = [path for path in spec.compile.divisible_by_16 if path in types and path not in {*equal, *unaligned}]
        small = spec.compile.pointer_range_32 if target.backend == "hip" and _looks_at_ranges(form, variables) else ()
        spared = unaligned if form is Form.HINTS else unspecialized
        return cls(
            order=order,
            types={name: _folded(name, declared[name], constants) for name in order if name in declared and name not in constants},
            constants={key: constants[path] for path, key in _in_order(order, constants)},
            divisible=_numbers(
                order, (name for name in divisible if types[name].startswith("*") or _NUMBER.fullmatch(types[name]))
            ),
            ones=_numbers(order, ones),
            small=_numbers(order, (name for name in small if name in types and name not in spared)),
            typed=typed if form is Form.ANY else {},
        )

    @property
    def has_tuples(self) -> bool:
        """Whether an argument is a tuple, which releases up to 3.2 do not take."""
        return any(isinstance(kind, tuple) for kind in self.types.values())


def parameters(bundle: Bundle) -> tuple[str, ...]:
    """The names of the kernel's parameters, in order."""
    return tuple(argument.arg for argument in _arguments(_kernel(bundle)))


def _looks_at_ranges(form: Form, variables: Mapping[str, str]) -> bool:
    """Whether AMD's launchers look at the size of tensors: where there are buffer operations, but 3.2 always."""
    if form in (Form.HINTS, Form.ANY):
        return True
    on = variables.get(_BUFFER_OPERATIONS, "1" if form is Form.RANGED else "0")
    return form is not Form.DESCRIPTOR and on.lower() in _TRUE


def _kernel(bundle: Bundle) -> ast.FunctionDef:
    functions = (node for node in ast.walk(tree_of(bundle.text)) if isinstance(node, ast.FunctionDef))
    return [function for function in functions if function.name == bundle.spec.function][-1]


def _arguments(kernel: ast.FunctionDef) -> Iterator[ast.arg]:
    yield from (*kernel.args.posonlyargs, *kernel.args.args, *kernel.args.kwonlyargs)


def _named_by(kernel: ast.FunctionDef, option: str, order: tuple[str, ...]) -> frozenset[str]:
    """The parameters that an option of ``@triton.jit`` names, where it does so in so many words."""
    options = (keyword for decorator in kernel.decorator_list if isinstance(decorator, ast.Call) for keyword in decorator.keywords)
    found: set[str] = set()
    for each in options:
        if each.arg == option:
            try:
                names = ast.literal_eval(each.value)
            except ValueError:
                continue
            found |= {order[name] if isinstance(name, int) else name for name in names or ()}
    return frozenset(found)


def _folded(path: str, kind: ArgumentType, constants: Collection[str]) -> ArgumentType:
    """A type in which elements that are constants are called so."""
    if isinstance(kind, str):
        return CONSTEXPR if path in constants else kind
    return tuple(_folded(f"{path}[{index}]", each, constants) for index, each in enumerate(kind))


def _in_order(order: tuple[str, ...], paths: Collection[str]) -> Iterator[tuple[str, str | Index]]:
    """Paths in the order of the parameters, and how they are named: parameters by their names."""
    for name in order:
        for path in paths:
            if signatures.parameter_of(path) == name:
                yield path, name if path == name else _index(order, path)


def _index(order: tuple[str, ...], path: str) -> Index:
    name, indices = signatures.split(path)
    return (order.index(name), *indices) if indices else order.index(name)


def _numbers(order: tuple[str, ...], paths: Iterable[str]) -> tuple[Index, ...]:
    return tuple(_index(order, path) for path in paths)
