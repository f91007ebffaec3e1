"""What launches in each release find out about a kernel's arguments, as far as its text tells.

The adapter asks the release's own launch code (``adapter/call.py``); a script says what came of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from attrs import frozen
from packaging.version import Version

from compat import constexprs
from compat.bundle.bundle import Bundle
from compat.bundle.parsing import tree_of
from compat.model import Target

_NUMBER = re.compile(r"[iu](?!1$)\d+")
_TYPED = re.compile(r"\b(?:int|float|bool|(?:tl\.)?(?:u?int\d+|b?float\d+\w*)|[iu]\d+|b?fp?\d+\w*)\b")
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


@frozen(kw_only=True)
class Launched:
    """A specialization in the order of the function's parameters, as Triton counts them."""

    order: tuple[str, ...]
    types: Mapping[str, str]
    """Run-time arguments that are not constants."""
    constants: Mapping[str, str]
    """Constexprs, and arguments that are folded into a 1, as source text."""
    divisible: tuple[int, ...]
    ones: tuple[int, ...]
    small: tuple[int, ...]
    """Pointers with a range of 32 bits; for every release those for which one may say so."""
    typed: Mapping[str, str]
    """For every release: arguments that some of them do not fold, with their types."""

    @classmethod
    def of(cls, bundle: Bundle, target: Target, form: Form, variables: Mapping[str, str]) -> Launched:
        """What is found out by the launches of releases that take this form, with these environment variables set."""
        spec, kernel = bundle.spec, _kernel(bundle)
        annotations = {each.arg: ast.unparse(each.annotation) for each in _arguments(kernel) if each.annotation}
        order, unspecialized = parameters(bundle), _named_by(kernel, "do_not_specialize", parameters(bundle))
        unaligned = unspecialized | _named_by(kernel, "do_not_specialize_on_alignment", order)
        known = {name: kind for name, kind in spec.compile.signature.items() if name in order}
        equal = [name for name in spec.compile.equal_to_1 if _NUMBER.fullmatch(known.get(name, "")) and name not in unspecialized]
        typed = {name: known[name] for name in equal if _TYPED.search(annotations.get(name, ""))}
        ones = [name for name in equal if not (form in (Form.TYPED, Form.RANGED) and name in typed)]
        constants = {name: constexprs.source(value) for name, value in spec.compile.constexprs.items()} | dict.fromkeys(ones, "1")
        types = {name: kind for name, kind in known.items() if name not in constants}
        divisible = [name for name in spec.compile.divisible_by_16 if name in types and name not in {*equal, *unaligned}]
        small = spec.compile.pointer_range_32 if target.backend == "hip" and _looks_at_ranges(form, variables) else ()
        spared = unaligned if form is Form.HINTS else unspecialized
        return cls(
            order=order,
            types={name: types[name] for name in order if name in types},
            constants={name: constants[name] for name in order if name in constants},
            divisible=_numbers(
                order, (name for name in divisible if types[name].startswith("*") or _NUMBER.fullmatch(types[name]))
            ),
            ones=_numbers(order, ones),
            small=_numbers(order, (name for name in small if name in types and name not in spared)),
            typed=typed if form is Form.ANY else {},
        )


def parameters(bundle: Bundle) -> tuple[str, ...]:
    """The names of the kernel's parameters, in order."""
    return tuple(each.arg for each in _arguments(_kernel(bundle)))


def _looks_at_ranges(form: Form, variables: Mapping[str, str]) -> bool:
    """Whether AMD's launchers look at the size of tensors: where there are buffer operations, but 3.2 always."""
    if form in (Form.HINTS, Form.ANY):
        return True
    on = variables.get(_BUFFER_OPERATIONS, "1" if form is Form.RANGED else "0")
    return form is not Form.DESCRIPTOR and on.lower() in _TRUE


def _kernel(bundle: Bundle) -> ast.FunctionDef:
    functions = (each for each in ast.walk(tree_of(bundle.text)) if isinstance(each, ast.FunctionDef))
    return [each for each in functions if each.name == bundle.spec.function][-1]


def _arguments(kernel: ast.FunctionDef) -> Iterator[ast.arg]:
    yield from (*kernel.args.posonlyargs, *kernel.args.args, *kernel.args.kwonlyargs)


def _named_by(kernel: ast.FunctionDef, option: str, order: tuple[str, ...]) -> frozenset[str]:
    """The parameters that an option of ``@triton.jit`` names, where it does so in so many words."""
    options = (each for decorator in kernel.decorator_list if isinstance(decorator, ast.Call) for each in decorator.keywords)
    found: set[str] = set()
    for each in options:
        if each.arg == option:
            try:
                names = ast.literal_eval(each.value)
            except ValueError:
                continue
            found |= {order[name] if isinstance(name, int) else name for name in names or ()}
    return frozenset(found)


def _numbers(order: tuple[str, ...], names: Iterable[str]) -> tuple[int, ...]:
    return tuple(order.index(name) for name in names)
