"""The compile call of a repro script, with arguments as a program would write them.

Releases from 4.3 on make tensors that are only types (``make_fake_compact_tensor``). A script for
an earlier release, or for every release, has a tensor class of its own. It reports a device and an
address through DLPack. Up to 4.4 the code after a compile needs a GPU driver. A script ignores that
failure and no other. ``script.py.j2`` has the text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from attrs import frozen
from packaging.version import Version

from compat.bundle.bundle import Bundle
from compat.errors import ConfigError
from compat.files import templates
from compat.model import Target
from compat.model.cell import ArgumentType
from compat.model.constexprs import plain, tuple_source
from compat.source.parsing import defaults_of, defined_names, parameters, tree_of
from compat.toolchains.base import ScriptForm
from compat.toolchains.cute.failures import KNOWLEDGE
from compat.toolchains.cute.inside.adapter import arguments, built, no_gpu

_IMPORTS = frozenset(
    {"import cutlass", "import cutlass.cute as cute", "from cutlass.cute import runtime"}
)
_USUAL_ALIGNMENT = "16"
_READING = frozenset(
    {"_FUNCTIONS", "_CONSTANT", "_STORED", "_CONFIG", "_LAUNCHED", "dynamic_shared", "_sizes"}
)
"""The names of the adapter that read dynamic shared memory in a module."""


class CallForm(StrEnum):
    """The forms of the compile call on a machine without a GPU."""

    NOWHERE = "4.0 to 4.2"
    """Tensors are passed through DLPack."""
    FAKE = "4.3 and 4.4"
    """Tensors are types."""
    DRIVERLESS = "4.5 and later"
    """No code needs a GPU driver."""
    ANY = "every release"
    """The form of the oldest releases, which every release takes, for ``--portable``."""


_FROM = {"4.5.dev0": CallForm.DRIVERLESS, "4.3.dev0": CallForm.FAKE}


def form_of(release: str | None) -> CallForm:
    """Return the form that a release takes, or without a release, that for every release."""
    if release is None:
        return CallForm.ANY
    version = Version(Version(release).public)
    return next(
        (form for first, form in _FROM.items() if version >= Version(first)), CallForm.NOWHERE
    )


def imports(_bundle: Bundle) -> frozenset[str]:
    """Return the imports that the call needs."""
    return _IMPORTS


def before_decorators(_target: Target) -> tuple[frozenset[str], str]:
    """Return only imports, because CuTe DSL's decorators need no preparation."""
    return _IMPORTS, ""


def architecture(target: Target) -> str:
    """Return CuTe DSL's name of a target, with a suffix if only it has certain features."""
    return no_gpu.architecture(int(target.arch))


def variables_of(target: Target) -> Mapping[str, str]:
    """Return the environment variables that set the target, and show Python's stack from 4.5 on."""
    return {"CUTE_DSL_ARCH": architecture(target), "CUTE_DSL_SHOW_STACKTRACE": "1"}


def compile_function(
    bundle: Bundle,
    target: Target,
    form: CallForm,
    prediction: str = "",
    _variables: Mapping[str, str] | None = None,
) -> str:
    """Return the function ``compile_kernel`` of a script.

    ``prediction`` is the failure class with which a launch would fail.
    """
    spec = bundle.spec.compile
    constants = {name: constant(value) for name, value in spec.constexprs.items()}
    writing = _Writing(bundle, constants, fakes=form in (CallForm.FAKE, CallForm.DRIVERLESS))
    kernel, call = _kernel_and_call(bundle, constants)
    written = {
        **{name: writing.argument(kind) for name, kind in spec.signature.items()},
        **call.constants,
    }
    passed = [written.get(name, default) for name, default in call.parameters.items()]
    predicted = KNOWLEDGE.by_name[prediction].prediction if prediction else None
    template = templates("compat.toolchains.cute.language", "").get_template("script.py.j2")
    text = template.render(
        kernel=kernel,
        arguments=[
            *(argument for argument in passed if argument is not None),
            *_options(spec.options),
        ],
        sizes=writing.sizes,
        tensors=writing.tensors,
        streams=writing.streams,
        forgives=form is not CallForm.DRIVERLESS,
        target=target,
        predicted=predicted,
        predicted_text=predicted.script_text if predicted else "",
        reading=_reading() if predicted else "",
    )
    return text.strip("\n")


def _reading() -> str:
    """Return the adapter's code that reads dynamic shared memory in a module."""
    text = Path(str(built.__file__)).read_text(encoding="utf-8")
    statements = [
        statement for statement in tree_of(text).body if defined_names(statement) & _READING
    ]
    lines = [
        f"{'' if isinstance(statement, ast.Assign) else chr(10)}{ast.unparse(statement)}"
        for statement in statements
    ]
    return "\n".join([*lines, ""])


def _options(options: Mapping[str, object]) -> Iterator[str]:
    if keywords := arguments.options(dict(options)):
        yield f'options="{keywords["options"]}"'


# --- the call -------------------------------------------------------------------------------------


@frozen(kw_only=True)
class _Call:
    """The parameters of the called function or object."""

    parameters: Mapping[str, str | None]
    """Parameter → the source of its default."""
    constants: Mapping[str, str]
    """Constexprs that it takes → their source."""


def _kernel_and_call(bundle: Bundle, constants: Mapping[str, str]) -> tuple[str, _Call]:
    """Return the function or object to compile, as source, and its parameters."""
    name = bundle.spec.function
    definition = _definitions(bundle)[name]
    if isinstance(definition, ast.FunctionDef):
        return name, _Call(parameters=_defaults(definition), constants=constants)
    keywords = [
        parameter for parameter in _constructor(bundle, definition) if parameter in constants
    ]
    call = _method(bundle, definition, "__call__")
    defaults = _without_self(_defaults(call)) if call else {}
    others = {
        parameter: value
        for parameter, value in constants.items()
        if parameter not in keywords or parameter in defaults
    }
    return (
        f"{name}({', '.join(f'{parameter}={constants[parameter]}' for parameter in keywords)})",
        _Call(parameters=defaults, constants=others),
    )


def _definitions(bundle: Bundle) -> Mapping[str, ast.FunctionDef | ast.ClassDef]:
    """The top-level functions and classes of the kernel's own source, by name."""
    return {
        node.name: node
        for node in tree_of(bundle.text).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def _method(bundle: Bundle, kind: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """Return a method of a class, or else the one that it inherits."""
    own = [node for node in kind.body if isinstance(node, ast.FunctionDef) and node.name == name]
    if own:
        return own[-1]
    return next(
        (method for base in _bases(bundle, kind) if (method := _method(bundle, base, name))), None
    )


def _bases(bundle: Bundle, kind: ast.ClassDef) -> list[ast.ClassDef]:
    """Return the base classes of a class that the kernel's own source defines."""
    definitions = _definitions(bundle)
    bases = [definitions.get(base.id) for base in kind.bases if isinstance(base, ast.Name)]
    return [base for base in bases if isinstance(base, ast.ClassDef)]


def _constructor(bundle: Bundle, kind: ast.ClassDef) -> list[str]:
    """Return the parameters of a constructor, or the fields of a dataclass."""
    if init := _method(bundle, kind, "__init__"):
        return list(_without_self(_defaults(init)))
    return list(_fields(bundle, kind))


def _fields(bundle: Bundle, kind: ast.ClassDef) -> Iterator[str]:
    """Yield the fields of a dataclass, inherited ones first."""
    for base in _bases(bundle, kind):
        yield from _fields(bundle, base)
    if any("dataclass" in ast.unparse(decorator) for decorator in kind.decorator_list):
        for node in kind.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                yield node.target.id


def _without_self(defaults: Mapping[str, str | None]) -> Mapping[str, str | None]:
    return dict(list(defaults.items())[1:])


def _defaults(function: ast.FunctionDef) -> Mapping[str, str | None]:
    """The parameters of a function → their defaults."""
    defaults: dict[str, str | None] = dict.fromkeys(
        parameter.arg for parameter in parameters(function.args)
    )
    return defaults | {
        name: ast.unparse(value) for name, value in defaults_of(function.args).items()
    }


# --- values as source -----------------------------------------------------------------------------


def constant(value: object) -> str:
    """A constexpr as source."""
    if isinstance(value, Mapping):
        ((form, name),) = value.items()
        return (
            element(arguments._DTYPES.get(str(name), str(name))) if form == "dtype" else str(name)
        )
    if isinstance(value, tuple | list):
        return tuple_source(map(constant, value))
    return f'float("{value}")' if isinstance(value, float) and value - value != 0 else repr(value)


def element(name: str) -> str:
    """Return the element type with a name in kernel files, as source."""
    return f"cutlass.{arguments._ELEMENTS[name][0]}"


class _Writing:
    """Writes the run-time arguments of one kernel."""

    def __init__(self, bundle: Bundle, constants: Mapping[str, str], *, fakes: bool) -> None:
        self.fakes = fakes
        self._bundle, self._constants = bundle, constants
        self._named = arguments.sizes_of(
            {name: plain(kind) for name, kind in bundle.spec.compile.signature.items()}
        )
        self.sizes: dict[str, str] = {}
        """Name of a size → the expression that makes it."""
        self.tensors = self.streams = False
        """Whether any tensor is passed through DLPack, and whether any argument is a stream."""

    def argument(self, kind: ArgumentType) -> str:
        """Return an argument of this type as source. Raises ConfigError."""
        if not isinstance(kind, str):
            return tuple_source(map(self.argument, kind))
        if kind == "stream":
            self.streams = True
            return "driver.CUstream(0)"
        if call := arguments._MADE.fullmatch(kind):
            return self._factory_call(call["function"])
        if pointer := arguments._POINTER.fullmatch(kind):
            align = pointer["align"] or _USUAL_ALIGNMENT
            return (
                f"runtime.make_ptr({element(pointer['element'])}, 1 << 40, cute.AddressSpace.gmem,"
                f" assumed_align={align})"
            )
        tensor = arguments._TENSOR.fullmatch(kind)
        if tensor is None:
            return f"{element(kind)}(1)"
        return self._fake(tensor) if self.fakes else self._nowhere(tensor)

    def _factory_call(self, function: str) -> str:
        """Return the code of an argument that a function beside the kernel makes.

        The arguments by type that the function asks for are written before its call.

        Raises ConfigError if the script has no such function.
        """
        definition = _definitions(self._bundle).get(function)
        if not isinstance(definition, ast.FunctionDef):
            raise ConfigError(
                f"a script can only make an argument with a function, and {function} is not one",
                hint="Define a function beside the kernel, with def.",
            )
        first, *others = _defaults(definition)
        calls = (
            node
            for node in ast.walk(definition)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == first
        )
        kinds = dict.fromkeys(_text(call.args[0], self._constants) for call in calls)
        table = ", ".join(f"{kind!r}: {self.argument(kind)}" for kind in kinds)
        keywords = "".join(
            f", {parameter}={self._constants[parameter]}"
            for parameter in others
            if parameter in self._constants
        )
        return f"{function}({{{table}}}.__getitem__{keywords})"

    def _fake(self, tensor: re.Match[str]) -> str:
        """Return the code of a tensor that is only a type."""
        shape, align = tensor["shape"].split(","), tensor["align"] or _USUAL_ALIGNMENT
        sizes = tuple_source(map(self._size, shape))
        if tensor["strides"]:
            strides = tuple_source(map(self._size, tensor["strides"].split(",")))
            place = "memspace=cute.AddressSpace.gmem"
            return (
                f"runtime.make_fake_tensor({element(tensor['element'])}, {sizes}, {strides},"
                f" {place}, assumed_align={align})"
            )
        order = tuple_source(map(str, _ranks(len(shape), _leading(tensor))))
        return (
            f"runtime.make_fake_compact_tensor({element(tensor['element'])}, {sizes},"
            f" stride_order={order}, assumed_align={align})"
        )

    def _size(self, text: str) -> str:
        """Return the code of a size: a number, or a variable of the script."""
        name, _, divisor = text.strip().partition("%")
        if name.isdigit():
            return name
        expression = f"cute.sym_int(divisibility={divisor})" if divisor else "cute.sym_int()"
        if divisor or name not in self.sizes:
            self.sizes[name] = expression
        return f"size_{name}"

    def _nowhere(self, tensor: re.Match[str]) -> str:
        """Return the code of a tensor that is passed through DLPack, as in the adapter."""
        self.tensors = True
        layout = arguments._layout(tensor, self._named)
        _, code, bits = arguments._ELEMENTS[layout.element]
        facts = [
            element(layout.element),
            f"{code}, {bits}",
            tuple_source(map(str, layout.shape)),
            tuple_source(map(str, layout.strides)),
        ]
        facts += [f"align={layout.alignment}"] * (str(layout.alignment) != _USUAL_ALIGNMENT)
        facts += [f"leading={layout.order[-1]}"] if layout.exact else []
        facts += [f"order={layout.order}, dynamic={layout.dynamic}"] * bool(layout.dynamic)
        return f"tensor({', '.join(facts)})"


def _text(node: ast.expr, constants: Mapping[str, str]) -> str:
    """Return the text of a string literal, or of an f-string of constexprs. Raises ConfigError."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (
            part.value if isinstance(part, ast.FormattedValue) else part for part in node.values
        )
        return "".join(
            constants.get(part.id, "") if isinstance(part, ast.Name) else _text(part, constants)
            for part in parts
        )
    raise ConfigError(
        f"a script cannot say which type `{ast.unparse(node)}` is",
        hint="Write the type out where it is asked for.",
    )


def _leading(tensor: re.Match[str]) -> int:
    return int(tensor["leading"]) if tensor["leading"] else len(tensor["shape"].split(",")) - 1


def _ranks(count: int, leading: int) -> list[int]:
    """Return mode → its rank among the strides, the smallest first.

    The leading mode comes first, and then the others from last to first.
    """
    ordered = [leading, *(mode for mode in reversed(range(count)) if mode != leading)]
    return [ordered.index(mode) for mode in range(count)]


SCRIPT = ScriptForm(
    form_of=form_of,
    any_release=CallForm.ANY,
    compile_function=compile_function,
    imports=imports,
    before_decorators=before_decorators,
    variables_of=variables_of,
    target_text=lambda target: f"CUTE_DSL_ARCH={architecture(target)}",
    tracker="https://github.com/NVIDIA/cutlass/issues",
    always="CUTE_DSL_DISABLE_FILE_CACHING",
    cache="CUTE_DSL_CACHE_DIR",
    first_release="4.0",
)
