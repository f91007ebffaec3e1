"""The compile call of a repro script: the facts that a launch finds about arguments, as source.

The forms are those of the adapter (``adapter/call.py``). The adapter asks the release's own launch
code, and a script states the result. A script for one release contains the form of that release
only. If a launch describes the kernel, the call is the same for every release. It calls the
release's own launcher, as a program would, and launches nothing. The template is ``script.py.j2``.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen
from packaging.version import Version

from compat.bundle.bundle import Bundle
from compat.files import templates
from compat.model import CompileSpec, Target, arguments, constexprs
from compat.model.cell import (
    CONSTEXPR,
    ArgumentType,
    elements_of,
    leaf_types,
    parameter_of,
    split_path,
)
from compat.model.constexprs import FIELDS
from compat.source.constants import Scope
from compat.source.imports import import_origins
from compat.source.parsing import (
    bindings,
    defaults_of,
    defined_names,
    needed_statements,
    parameters,
    scope_statements,
    tree_of,
)
from compat.text import lazy_pattern
from compat.toolchains.base import ScriptForm
from compat.toolchains.triton.failures import KNOWLEDGE
from compat.toolchains.triton.inside.adapter.call import type_of_number

_IMPORTS = frozenset({"import triton", "from triton.backends.compiler import GPUTarget"})
_ASKS = lazy_pattern(
    r"\b(?:target_info|driver|get_current_target|is_cuda|is_hip\w*|cuda_capability\w*|atomic_(?:min|max))\b"
)
"""The words in a kernel that query the GPU's driver."""
_NUMBER = lazy_pattern(r"[iu](?!1$)\d+")
_TYPED = lazy_pattern(
    r"\b(?:int|float|bool|(?:tl\.)?(?:u?int\d+|b?float\d+\w*)|[iu]\d+|b?fp?\d+\w*)\b"
)
"""An annotation that is a type, so that launches from 3.4 on do not determine one."""
_BUFFER_OPERATIONS = "AMDGCN_USE_BUFFER_OPS"
_TRUE = frozenset({"1", "true", "on", "y", "yes"})


class Form(StrEnum):
    """The forms in which releases take a specialization."""

    DESCRIPTOR = "3.0 and 3.1"
    HINTS = "3.2"
    ATTRIBUTES = "3.3"
    TYPED = "3.4 and 3.5"
    """An argument that is annotated with a type is not folded into a constant."""
    RANGED = "3.6 and later"
    """Buffer operations are on, so AMD's launcher reads the size of tensors."""
    ANY = "every release"
    """The script finds out its form when it runs; for ``--portable``, and for toolchains without a
    release number.
    """

    @property
    def has_attributes(self) -> bool:
        """Whether attributes are a dictionary, and the signature contains constexprs."""
        return self in (Form.ATTRIBUTES, Form.TYPED, Form.RANGED)


_FROM = {
    "3.6.dev0": Form.RANGED,
    "3.4.dev0": Form.TYPED,
    "3.3.dev0": Form.ATTRIBUTES,
    "3.2.dev0": Form.HINTS,
}


def form_of(release: str | None) -> Form:
    """Return the form that a release takes, or ``Form.ANY`` without a release."""
    if release is None:
        return Form.ANY
    version = Version(Version(release).public)
    return next(
        (form for first, form in _FROM.items() if version >= Version(first)), Form.DESCRIPTOR
    )


def imports(bundle: Bundle) -> frozenset[str]:
    """Return the imports that the call needs, one statement each.

    They are for the call itself, and for dtypes among the constexprs.
    """
    spec = bundle.spec.compile
    values = (*spec.constexprs.values(), *spec.signature.values(), *spec.launch.values())
    if not spec.launch:
        return _IMPORTS | {_SOURCES[_source_class(bundle)]} | constexprs.modules(values)
    language = any(
        arguments.is_descriptor(leaf) or arguments.is_constant(leaf) for leaf in _leaves(spec)
    )
    constants = arguments.constants(spec.launch.values())
    return (
        _IMPORTS
        | ({"import triton.language as tl"} if language else set())
        | constexprs.modules((*values, *constants, *_layouts(spec)))
    )


_SOURCES = {
    "ASTSource": "from triton.compiler import ASTSource",
    "GluonASTSource": "from triton.experimental.gluon._runtime import GluonASTSource",
}
"""Class of sources → the statement that imports it."""


def _source_class(bundle: Bundle) -> str:
    """Return the name of the source class that a kernel is compiled from."""
    tree, gluon = tree_of(bundle.text), set[str]()
    for node in tree.body:
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        if any(module.startswith(_GLUON) for module in modules):
            gluon |= defined_names(node)
    decorators = {
        ast.unparse(decorator).partition("(")[0] for decorator in _kernel(bundle).decorator_list
    }
    is_gluon = any(
        decorator.partition(".")[0] in gluon or decorator.startswith(_GLUON)
        for decorator in decorators
    )
    return "GluonASTSource" if is_gluon else "ASTSource"


_GLUON = "triton.experimental.gluon"


def compile_function(
    bundle: Bundle,
    target: Target,
    form: Form,
    prediction: str = "",
    variables: Mapping[str, str] | None = None,
) -> str:
    """Return the function ``compile_kernel`` of a script.

    ``prediction`` is the failure class with which a launch would fail. ``variables`` are the
    environment variables that the script sets for the toolchain.
    """
    facts = (
        _launch_facts(bundle, target)
        if bundle.spec.compile.launch
        else _source_facts(bundle, target, form, variables or {})
    )
    predicted = KNOWLEDGE.by_name[prediction].prediction if prediction else None
    template = templates("compat.toolchains.triton.language", "").get_template("script.py.j2")
    text = template.render(
        **facts,
        function=bundle.spec.function,
        target=target,
        gpu=_gpu(target),
        result="compiled = " if predicted else "",
        predicted=prediction,
        predicted_text=predicted.script_text if predicted else "",
        disassembly_code=_disassembly_code(),
        dictionary=_dictionary,
    )
    return text.rstrip("\n")


def _gpu(target: Target) -> str:
    return f"GPUTarget({target.backend!r}, {target.arch!r}, {target.warp_size})".replace("'", '"')


@cache
def _disassembly_code() -> str:
    """Return the adapter's code that looks for mixed-up descriptors in a disassembly."""
    text = (Path(__file__).parents[1] / "inside" / "adapter" / "descriptors.py").read_text(
        encoding="utf-8"
    )
    statements = tree_of(text).body
    roots = [one for one in statements if "count_mixed_sums" in defined_names(one)]
    return "\n\n".join(
        ast.unparse(statement)
        for statement in needed_statements(statements, roots)
        if not isinstance(statement, ast.Import | ast.ImportFrom)
    )


def before_decorators(target: Target) -> tuple[frozenset[str], str]:
    """Return imports, and code that sets a driver for ``@triton.autotune``.

    In 3.2 and 3.3 the decorator asks for a driver before it reads its arguments.
    """
    return _IMPORTS, _DECORATED.format(gpu=_gpu(target))


_DECORATED = '''\
if __name__ == "__main__":

    class Driver:
        """Stands where decorators look for the driver of a GPU; nothing is launched."""

        def get_current_target(self):
            return {gpu}

        def get_benchmarker(self):
            return None

    triton.runtime.driver.set_active(Driver())'''


# --- a kernel that a signature with hints describes -----------------------------------------------


def _source_facts(
    bundle: Bundle, target: Target, form: Form, variables: Mapping[str, str]
) -> dict[str, object]:
    """Return the values of the template for the ``ASTSource`` to compile."""
    facts = SpecializedArguments.of(bundle, target, form, variables)
    options = {name: repr(value) for name, value in bundle.spec.compile.options.items()}
    if any(keyword.arg == "debug" for keyword in _decorator_options(_kernel(bundle))):
        options.setdefault("debug", 'getattr(source.fn, "debug", None)')  # as launches pass it on
    types = {name: _type(kind) for name, kind in facts.types.items()}
    if form.has_attributes:
        types = {
            name: types.get(name, '"constexpr"')
            for name in facts.order
            if name in types or name in facts.constants
        }
    return {
        "form": (
            {Form.ANY: "any release", Form.HINTS: "hints"}.get(
                form, "attributes" if form.has_attributes else "descriptor"
            )
        ),
        "types": types,
        "constants": facts.constants,
        "divisible": facts.divisible,
        "ones": facts.ones,
        "small": facts.small,
        "typed": {name: repr(kind) for name, kind in facts.typed.items()},
        "has_tuples": facts.has_tuples,
        "attributes": _attributes(facts, form),
        "options": options,
        "source_class": _source_class(bundle),
        # Triton 3.4 asks the driver for the target of a Gluon kernel.
        "asks_driver": (
            _ASKS.search(bundle.text) is not None or _source_class(bundle) != "ASTSource"
        ),
    }


Index = int | tuple[int, ...]
"""The number of a parameter, or the path to an element of a tuple."""


@frozen(kw_only=True)
class SpecializedArguments:
    """A specialization in the order of the function's parameters, as Triton counts them."""

    order: tuple[str, ...]
    types: Mapping[str, ArgumentType]
    """Run-time arguments that are not constants."""
    constants: Mapping[str | Index, str]
    """Constexprs, and arguments that are folded into a 1, as source text; elements of tuples by
    their paths.
    """
    divisible: tuple[Index, ...]
    ones: tuple[Index, ...]
    small: tuple[Index, ...]
    """Pointers with a range of 32 bits, for every release that can declare them."""
    typed: Mapping[str, str]
    """For ``Form.ANY``: arguments equal to 1 that some releases do not fold, with their types."""

    @classmethod
    def of(
        cls, bundle: Bundle, target: Target, form: Form, variables: Mapping[str, str]
    ) -> SpecializedArguments:
        """Return the facts that launches find in releases that take this form.

        ``variables`` are the environment variables that are set.
        """
        spec, kernel = bundle.spec, _kernel(bundle)
        annotations = {
            argument.arg: ast.unparse(argument.annotation)
            for argument in parameters(kernel.args)
            if argument.annotation
        }
        order = _order(bundle)
        unspecialized = option_parameters(kernel, "do_not_specialize", order)
        unaligned = unspecialized | option_parameters(
            kernel, "do_not_specialize_on_alignment", order
        )
        specified = {*spec.compile.signature, *map(parameter_of, spec.compile.constexprs)}
        omitted = {
            name: default
            for name, default in defaults_of(kernel.args).items()
            if name not in specified
        }
        body = tree_of(bundle.text).body
        scope = Scope(module=bindings(body), imports=import_origins(scope_statements(body), {}))
        values: dict[str, Any] = {
            name: scope.try_value(default)[1]
            for name, default in omitted.items()
            if "constexpr" not in annotations.get(name, "")
        }
        numbers = {name: kind for name, value in values.items() if (kind := type_of_number(value))}
        declared = {
            name: kind
            for name, kind in (*spec.compile.signature.items(), *numbers.items())
            if name in order
        }
        leaf_kinds = leaf_types(declared)
        equal = [
            path
            for path in (*spec.compile.equal_to_1, *(name for name in numbers if values[name] == 1))
            if _NUMBER.fullmatch(leaf_kinds.get(path, "")) and path not in unspecialized
        ]
        typed = {
            path: leaf_kinds[path] for path in equal if _TYPED.search(annotations.get(path, ""))
        }
        ones = [path for path in equal if not (form in (Form.TYPED, Form.RANGED) and path in typed)]
        constants = {
            path: constexprs.source(value) for path, value in spec.compile.constexprs.items()
        } | dict.fromkeys(ones, "1")
        constants |= {
            name: ast.unparse(default) for name, default in omitted.items() if name not in numbers
        }
        constants |= {  # a launch passes an option once, even if a parameter has its name
            name: repr(value)
            for name, value in spec.compile.options.items()
            if "constexpr" in annotations.get(name, "")
        }
        types = {path: kind for path, kind in leaf_kinds.items() if path not in constants}
        multiples = [name for name in numbers if values[name] % 16 == 0]
        divisible = [
            path
            for path in (*spec.compile.divisible_by_16, *multiples)
            if path in types and path not in {*equal, *unaligned}
        ]
        small = (
            spec.compile.pointer_range_32
            if target.backend == "hip" and _looks_at_ranges(form, variables)
            else ()
        )
        spared = unaligned if form is Form.HINTS else unspecialized
        return cls(
            order=order,
            types={
                name: _mark_constants(name, declared[name], constants)
                for name in order
                if name in declared and name not in constants
            },
            constants={key: constants[path] for path, key in _in_order(order, constants)},
            divisible=_numbers(
                order,
                (
                    name
                    for name in divisible
                    if types[name].startswith("*") or _NUMBER.fullmatch(types[name])
                ),
            ),
            ones=_numbers(order, ones),
            small=_numbers(order, (name for name in small if name in types and name not in spared)),
            typed=typed if form is Form.ANY else {},
        )

    @property
    def has_tuples(self) -> bool:
        """Whether an argument is a tuple, which releases up to 3.2 do not take."""
        return not all(isinstance(kind, str) for kind in self.types.values())


def _order(bundle: Bundle) -> tuple[str, ...]:
    """Return the names of the kernel's parameters in order."""
    return tuple(parameter.arg for parameter in parameters(_kernel(bundle).args))


def _looks_at_ranges(form: Form, variables: Mapping[str, str]) -> bool:
    """Return whether AMD's launchers read the size of tensors.

    They do if buffer operations are on, and always in 3.2.
    """
    if form in (Form.HINTS, Form.ANY):
        return True
    on = variables.get(_BUFFER_OPERATIONS, "1" if form is Form.RANGED else "0")
    return form is not Form.DESCRIPTOR and on.lower() in _TRUE


def _kernel(bundle: Bundle) -> ast.FunctionDef:
    functions = (
        node for node in ast.walk(tree_of(bundle.text)) if isinstance(node, ast.FunctionDef)
    )
    return [function for function in functions if function.name == bundle.spec.function][-1]


def _decorator_options(kernel: ast.FunctionDef) -> Iterator[ast.keyword]:
    """Yield the options of the kernel's decorators, such as those of ``@triton.jit``."""
    for decorator in kernel.decorator_list:
        if isinstance(decorator, ast.Call):
            yield from decorator.keywords


def option_parameters(
    kernel: ast.FunctionDef, option: str, order: tuple[str, ...]
) -> frozenset[str]:
    """Return the parameters that an option of ``@triton.jit`` names, if its value is a literal."""
    named: set[str] = set()
    for keyword in _decorator_options(kernel):
        if keyword.arg == option:
            # Triton ignores numbers that no parameter has.
            numbered = dict(enumerate(order))
            with suppress(ValueError, TypeError):
                named |= {
                    numbered.get(name, "") if isinstance(name, int) else name
                    for name in ast.literal_eval(keyword.value) or ()
                }
    return frozenset(named)


def _mark_constants(path: str, kind: ArgumentType, constants: Collection[str]) -> ArgumentType:
    """Return a type whose constant elements are replaced by ``CONSTEXPR``."""
    if isinstance(kind, str):
        return CONSTEXPR if path in constants else kind
    folded = tuple(
        _mark_constants(f"{path}[{index}]", element, constants)
        for index, element in enumerate(elements_of(kind))
    )
    if isinstance(kind, tuple):
        return folded
    return {FIELDS: dict(zip(kind[FIELDS], folded, strict=True))}


def _in_order(order: tuple[str, ...], paths: Collection[str]) -> Iterator[tuple[str, str | Index]]:
    """Yield paths in the order of the parameters, each with its key: a name or an index."""
    for name in order:
        for path in paths:
            if parameter_of(path) == name:
                yield path, name if path == name else _index(order, path)


def _index(order: tuple[str, ...], path: str) -> Index:
    name, indices = split_path(path)
    return (order.index(name), *indices) if indices else order.index(name)


def _numbers(order: tuple[str, ...], paths: Iterable[str]) -> tuple[Index, ...]:
    return tuple(_index(order, path) for path in paths)


def _descriptor(facts: SpecializedArguments, form: Form) -> str:
    if form is Form.DESCRIPTOR:
        return f"AttrsDescriptor(divisible_by_16={facts.divisible!r}, equal_to_1={facts.ones!r})"
    if facts.small:
        properties = {
            "tt.divisibility": facts.divisible,
            "tt.equal_to": facts.ones,
            "tt.pointer_range": facts.small,
        }
        listed = ", ".join(f'"{name}": {list(indices)!r}' for name, indices in properties.items())
        return (
            f'AttrsDescriptor.from_dict({{"arg_properties": {{{listed}}}, "cls":'
            ' "HIPAttrsDescriptor"})'
        )
    hints = {**dict.fromkeys(facts.divisible, 16), **dict.fromkeys(facts.ones, 1)}
    return f"AttrsDescriptor.from_hints({dict(sorted(hints.items()))!r})"


def _attributes(facts: SpecializedArguments, form: Form) -> str:
    """Return attributes as source text; empty for tuples, which releases up to 3.2 do not take."""
    if not form.has_attributes:
        return "" if facts.has_tuples else _descriptor(facts, form)
    named = (
        ('["tt.divisibility", 16]', facts.divisible),
        ('["tt.pointer_range", 32]', facts.small),
    )
    indices = dict.fromkeys(index for _, indices in named for index in indices)
    hints = {
        (
            index if isinstance(index, tuple) else (index,)
        ): f"[{', '.join(text for text, indices in named if index in indices)}]"
        for index in indices
    }
    if len(hints) < 4 or len(set(hints.values())) > 1 or facts.has_tuples:
        return "{" + ", ".join(f"{index}: {hint}" for index, hint in hints.items()) + "}"
    return (
        f"{{(index,): {next(iter(hints.values()))} for index in"
        f" {tuple(index for (index,) in hints)!r}}}"
    )


# --- a kernel that a launch describes -------------------------------------------------------------

_RUN = ("grid", "warmup")
"""Parameters of ``run`` itself: arguments of these names are passed by position."""


_DESCRIPTORS = ("triton.tools.tensor_descriptor", "triton.experimental.gluon.nvidia.hopper")
"""The modules of the descriptor classes: Triton's, then Gluon's."""


def _launch_facts(bundle: Bundle, target: Target) -> dict[str, object]:
    """Return the values of the template for a launch."""
    spec = bundle.spec.compile
    texts = {name: source(value) for name, value in spec.launch.items()}
    texts |= {name: constexprs.source(value) for name, value in spec.constexprs.items()}
    # A launch passes an option once, even if a parameter has its name.
    texts = {
        name: texts[name] for name in _order(bundle) if name in texts and name not in spec.options
    }
    last = max((index for index, name in enumerate(texts) if name in _RUN), default=-1)
    passed = [
        text if index <= last else f"{name}={text}"
        for index, (name, text) in enumerate(texts.items())
    ]
    passed += [
        "grid=(1,)",
        "warmup=True",
        *(f"{name}={value!r}" for name, value in spec.options.items()),
    ]
    has_tensors = any(
        arguments.is_tensor(leaf) or arguments.is_descriptor(leaf) for leaf in _leaves(spec)
    )
    return {
        "form": "launch",
        "arguments": _wrap_items(passed, 100),
        "has_tensors": has_tensors,
        "descriptors": sorted(
            {
                _DESCRIPTORS[arguments.descriptor(leaf)[2] is not None]
                for leaf in _leaves(spec)
                if isinstance(leaf, str) and arguments.is_descriptor(leaf)
            }
        ),
        "imports_torch": target.backend == "hip" and has_tensors,
    }


def _layouts(spec: CompileSpec) -> Iterator[dict[str, str]]:
    """The layouts of descriptors that a launch passes."""
    for leaf in _leaves(spec):
        if isinstance(leaf, str) and arguments.is_descriptor(leaf):
            layout = arguments.descriptor(leaf)[2]
            if layout:
                yield {"layout": layout}


def _leaves(spec: CompileSpec) -> list[object]:
    return list(arguments.leaves(tuple(spec.launch.values())))


def source(value: Any) -> str:
    """Return an argument of a launch as Python source, with the classes of the script."""
    if isinstance(value, tuple | list):
        return constexprs.tuple_source(map(source, value))
    if arguments.is_named(value):
        return constexprs.named_tuple_source(
            {name: source(element) for name, element in value[FIELDS].items()}
        )
    if arguments.is_tensor(value):
        facts = arguments.facts_of(value)
        unusual = [
            *([] if facts[arguments.ALIGNED] else ["address=8"]),
            *(["size=2**31"] if facts[arguments.LARGE] else []),
        ]
        dtype = repr(arguments.dtype_of(value)).replace("'", '"')
        return f"Tensor({', '.join([dtype, *unusual])})"
    if arguments.is_descriptor(value):
        return _tensor_descriptor(*arguments.descriptor(value))
    if arguments.is_constant(value):
        constant = value[arguments.CONSTANT]
        written = constexprs.source(constant)
        return (
            written
            if constant is None or constexprs.functions([constant])
            else f"tl.constexpr({written})"
        )
    return constexprs.source(value)


def _tensor_descriptor(element: str, block: tuple[int, ...], layout: str | None) -> str:
    """Return the source of a descriptor for a tensor with 16 blocks along each axis."""
    shape, strides = [16 * size for size in block], [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    dtype = constexprs.source({"dtype": constexprs.DTYPES[element]})
    of_gluon = f", {constexprs.GLUON}.{layout}" if layout else ""
    return f"TensorDescriptor(Tensor({dtype}), {shape}, {strides}, {list(block)}{of_gluon})"


# --- source text ----------------------------------------------------------------------------------

_WIDTH = 110


def _type(kind: ArgumentType) -> str:
    """A type as source text."""
    if isinstance(kind, str):
        return f'"{kind}"'
    if isinstance(kind, Mapping):
        return constexprs.named_tuple_source(
            {name: _type(element) for name, element in kind[FIELDS].items()}
        )
    return constexprs.tuple_source(map(_type, kind))


def _dictionary(head: str, entries: Mapping[object, str]) -> str:
    """Return ``head{"name": value, …}``, on several lines if one with 8 spaces is too long."""
    items = [
        f'"{key}": {value}' if isinstance(key, str) else f"{key}: {value}"
        for key, value in entries.items()
    ]
    flat = f"{head}{{{', '.join(items)}}}"
    if len(flat) + 8 <= _WIDTH:
        return flat
    return "\n".join(
        [
            f"{head}{{",
            *(f"{' ' * 12}{line}" for line in _wrap_items(items, _WIDTH - 14)),
            f"{' ' * 8}}}",
        ]
    )


def _wrap_items(items: list[str], width: int) -> list[str]:
    """Return as few lines as the items need, with a comma after each item."""
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) > width:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{item},"
    return lines


SCRIPT = ScriptForm(
    form_of=form_of,
    any_release=Form.ANY,
    compile_function=compile_function,
    imports=imports,
    before_decorators=before_decorators,
    always="TRITON_ALWAYS_COMPILE",
    cache="TRITON_CACHE_DIR",
    first_release="3.0",
    undeclared=("setuptools",),
)
"""Releases of Triton up to 3.2 import ``setuptools`` without declaring it."""
