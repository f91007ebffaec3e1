"""The compile call of a script, as source text in the form that a release takes.

The forms are those of the adapter (``adapter/call.py``), which recognises them by what is there; a script for one release need
not ask.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compat.bundle.bundle import Bundle
from compat.model import Target, constexprs
from compat.model.signatures import ArgumentType
from compat.source.parsing import tree_of
from compat.text import lazy_pattern
from compat.toolchains.base import ScriptForm
from compat.toolchains.triton.failures.knowledge import KNOWLEDGE
from compat.toolchains.triton.language.launched import Form, Index, Launched, form_of, parameters
from compat.toolchains.triton.language.script_launch import launch_call, launch_classes, launch_imports

__all__ = ["SCRIPT", "Form", "compile_function", "form_of", "imports", "parameters"]

_IMPORTS = frozenset({"import triton", "from triton.backends.compiler import GPUTarget", "from triton.compiler import ASTSource"})
_WIDTH = 110
_ASKS = lazy_pattern(r"\b(?:target_info|driver|get_current_target|is_cuda|is_hip\w*|cuda_capability\w*|atomic_(?:min|max))\b")
"""What a kernel says that asks the GPU's driver."""


def compile_function(
    bundle: Bundle, target: Target, form: Form, prediction: str = "", variables: Mapping[str, str] | None = None
) -> str:
    """The function ``compile_kernel`` of a script; with ``prediction``, a failure class, where a launch would fail so.

    ``variables`` are the environment variables that the script sets for the toolchain.
    """
    gpu = _gpu(target)
    if bundle.spec.compile.launch:
        call = (f"    {line}".rstrip() for line in launch_call(bundle, target, parameters(bundle), prediction))
        classes = launch_classes(bundle.spec.compile, gpu)
        return "\n".join([*classes, "def compile_kernel():", *call, *_predicted(target, prediction)])
    return _compile_source(bundle, target, form, prediction, variables or {}, gpu)


def before_decorators(target: Target) -> tuple[frozenset[str], str]:
    """A driver for ``@triton.autotune``, which asks for one in 3.2 and 3.3 before it looks at its arguments."""
    return frozenset({"import triton", "from triton.backends.compiler import GPUTarget"}), _DECORATED.format(gpu=_gpu(target))


def _gpu(target: Target) -> str:
    return f"GPUTarget({target.backend!r}, {target.arch!r}, {target.warp_size})".replace("'", '"')


def _compile_source(bundle: Bundle, target: Target, form: Form, prediction: str, variables: Mapping[str, str], gpu: str) -> str:
    call = Launched.of(bundle, target, form, variables)
    asks = _ASKS.search(bundle.text) is not None
    options = _dictionary("options=", {name: repr(value) for name, value in bundle.spec.compile.options.items()}, 8)
    lines = [
        *(_DRIVER.format(gpu=gpu).splitlines() if asks else ()),
        "def compile_kernel():",
        *(["    triton.runtime.driver.set_active(Driver())"] if asks else ()),
        *(f"    {line}".rstrip() for line in _source(bundle.spec.function, call, form)),
        f"    target = {gpu}",
        f"    compiled = triton.compile(source, target=target, {options})".replace(
            "compiled = ", "" if not prediction else "compiled = "
        ),
        *_predicted(target, prediction),
    ]
    return "\n".join([*(_portable(call) if form is Form.ANY else ()), *lines])


def _predicted(target: Target, prediction: str) -> list[str]:
    """Where a launch is what would fail: fail for what it would fail for."""
    if not prediction:
        return []
    predicted = KNOWLEDGE.by_name[prediction].prediction
    assert predicted is not None
    if predicted.metric == "mixed_descriptors":
        said = f'sys.exit(f"{{mixed}} {predicted.script_text}")'
        return [f"    {line}".rstrip() for line in (_DISASSEMBLED.format(looking=_looking(), said=said)).splitlines()]
    return [
        f"    if compiled.metadata.shared > {target.shared_memory}:",
        f"        shared, limit = compiled.metadata.shared, {target.shared_memory}",
        f'        sys.exit(f"needs {{shared}} {predicted.script_text}, {target.name} has {{limit}}")',
    ]


def _looking() -> str:
    """The code that looks for mixed-up descriptors in a disassembly, as the adapter has it."""
    text = (Path(__file__).parents[1] / "inside" / "adapter" / "descriptors.py").read_text(encoding="utf-8")
    wanted = {"_LINE", "_REGISTER", "_CARRY", "_CONSTANT", "_WIDE", "mixed_in", "_written"}
    nodes = [statement for statement in tree_of(text).body if _defines(statement) in wanted]
    return "\n\n".join(ast.unparse(node) for node in nodes)


def _defines(node: ast.stmt) -> str:
    if isinstance(node, ast.FunctionDef):
        return node.name
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    return target.id if isinstance(target, ast.Name) else ""


_DISASSEMBLED = """
import re

{looking}

program = os.path.join(os.path.dirname(triton.__file__), "backends", "nvidia", "bin", "nvdisasm")
with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
    file.write(compiled.asm["cubin"])
    file.flush()
    told = subprocess.run([program, "-c", file.name], stdout=subprocess.PIPE, check=True, universal_newlines=True)
mixed = mixed_in(told.stdout)
if mixed:
    {said}
"""
"""Look at the machine code with the disassembler that Triton brings."""


def imports(bundle: Bundle) -> frozenset[str]:
    """What the call needs to import, for itself and for dtypes among the constexprs."""
    if bundle.spec.compile.launch:
        return launch_imports(bundle.spec.compile)
    return constexprs.modules(bundle.spec.compile.constexprs.values()) | _IMPORTS


def _source(function: str, call: Launched, form: Form) -> list[str]:
    quoted: dict[str | Index, str] = {name: _type(kind) for name, kind in call.types.items()}
    if form is Form.ANY:
        return [
            "source = describe(",
            f"    {function},",
            f"    {_dictionary('signature=', quoted, 8)},",
            f"    {_dictionary('constants=', call.constants, 8)},",
            f"    divisible_by_16={call.divisible!r},",
            f"    equal_to_1={call.ones!r},",
            *([f"    pointer_range_32={call.small!r},"] if call.small else ()),
            *([f"    {_dictionary('typed=', {name: repr(kind) for name, kind in call.typed.items()}, 8)},"] if call.typed else ()),
            ")",
        ]
    if form.has_attributes:
        names = {name: quoted.get(name, '"constexpr"') for name in call.order if name in quoted or name in call.constants}
        return [
            "source = ASTSource(",
            f"    fn={function},",
            f"    {_dictionary('signature=', names, 8)},",
            f"    {_dictionary('constexprs=', call.constants, 8)},",
            f"    attrs={_attributes(call)},",
            ")",
        ]
    if call.has_tuples:
        return ["from triton.runtime.jit import mangle_type", "", "source = mangle_type(())  # as the launcher does with a tuple"]
    where = "triton.backends.compiler" if form is Form.HINTS else "triton.compiler.compiler"
    return [
        f"from {where} import AttrsDescriptor",
        "",
        "source = ASTSource(",
        f"    fn={function},",
        f"    {_dictionary('signature=', quoted, 8)},",
        f"    {_dictionary('constants=', call.constants, 8)},",
        f"    attrs={_descriptor(call, form)},",
        ")",
    ]


def _descriptor(call: Launched, form: Form) -> str:
    if form is Form.DESCRIPTOR:
        return f"AttrsDescriptor(divisible_by_16={call.divisible!r}, equal_to_1={call.ones!r})"
    if call.small:
        properties = {"tt.divisibility": call.divisible, "tt.equal_to": call.ones, "tt.pointer_range": call.small}
        listed = ", ".join(f'"{name}": {list(indices)!r}' for name, indices in properties.items())
        return f'AttrsDescriptor.from_dict({{"arg_properties": {{{listed}}}, "cls": "HIPAttrsDescriptor"}})'
    hints = {**dict.fromkeys(call.divisible, 16), **dict.fromkeys(call.ones, 1)}
    return f"AttrsDescriptor.from_hints({dict(sorted(hints.items()))!r})"


def _attributes(call: Launched) -> str:
    said = (("divisibility", call.divisible), ("pointer_range", call.small))
    attributes = {index: [name for name, indices in said if index in indices] for _, indices in said for index in indices}
    hints = {_path(index): f"[{', '.join(_HINTS[name] for name in names)}]" for index, names in attributes.items()}
    if len(hints) < 4 or len(set(hints.values())) > 1 or call.has_tuples:
        return "{" + ", ".join(f"{index}: {hint}" for index, hint in hints.items()) + "}"
    return f"{{(index,): {next(iter(hints.values()))} for index in {tuple(index for (index,) in hints)!r}}}"


def _path(index: Index) -> tuple[int, ...]:
    return index if isinstance(index, tuple) else (index,)


_HINTS = {"divisibility": '["tt.divisibility", 16]', "pointer_range": '["tt.pointer_range", 32]'}


_DRIVER = '''\
class Driver:
    """Answers the kernel as the driver of a machine with that GPU would."""

    def get_current_target(self):
        return {gpu}


'''


_DECORATED = '''\
if __name__ == "__main__":

    class Driver:
        """Stands where decorators look for the driver of a GPU; nothing is launched."""

        def get_current_target(self):
            return {gpu}

        def get_benchmarker(self):
            return None

    triton.runtime.driver.set_active(Driver())'''


def _portable(call: Launched) -> list[str]:
    """A function that puts a specialization into the form that the release takes under which it runs."""
    more = (", pointer_range_32" if call.small else "") + (", typed" if call.typed else "")
    return [
        f"def describe(fn, signature, constants, divisible_by_16, equal_to_1{more}):",
        '    """The specialization in the form that this release of Triton takes."""',
        '    if "constexprs" in inspect.signature(ASTSource.__init__).parameters:  # 3.3 and later',
        *(_UNFOLDED.splitlines() if call.typed else ()),
        "        names = [name for name in fn.arg_names if name in signature or name in constants]",
        '        types = {name: signature.get(name, "constexpr") for name in names}',
        *(_PATHS.format("divisible_by_16").splitlines() if call.has_tuples else ()),
        *(_PATHS.format("pointer_range_32").splitlines() if call.has_tuples and call.small else ()),
        *(_WITH_RANGES if call.small else _ATTRIBUTES).replace("PATH", "index" if call.has_tuples else "(index,)").splitlines(),
        *(_NO_TUPLES.splitlines() if call.has_tuples else ()),
        "    try:  # 3.2",
        "        from triton.backends.compiler import AttrsDescriptor",
        "",
        *(_PROPERTIES if call.small else _FROM_HINTS).splitlines(),
        "    except ImportError:  # 3.0 and 3.1",
        "        from triton.compiler.compiler import AttrsDescriptor",
        "",
        "        attrs = AttrsDescriptor(divisible_by_16=divisible_by_16, equal_to_1=equal_to_1)",
        "    return ASTSource(fn=fn, signature=signature, constants=constants, attrs=attrs)",
        "",
        "",
    ]


_UNFOLDED = """\
        for name, kind in typed.items():
            if fn.params[fn.arg_names.index(name)].annotation_type:  # not folded from 3.4 on
                del constants[name]
                signature[name] = kind
"""
_ATTRIBUTES = """\
        return ASTSource(fn, types, constants, {PATH: [["tt.divisibility", 16]] for index in divisible_by_16})
"""
_PATHS = """\
        {0} = [index if isinstance(index, tuple) else (index,) for index in {0}]
"""
"""An element of a tuple is named by its path, a parameter by its number."""
_NO_TUPLES = """\
    triton.runtime.jit.mangle_type(())  # up to 3.2: as the launcher does with a tuple
"""
_WITH_RANGES = """\
        attrs = {PATH: [["tt.divisibility", 16]] for index in divisible_by_16}
        on = triton.knobs.amd.use_buffer_ops if hasattr(triton, "knobs") else os.environ.get("AMDGCN_USE_BUFFER_OPS") == "1"
        for index in pointer_range_32 if on else ():
            attrs.setdefault(PATH, []).append(["tt.pointer_range", 32])
        return ASTSource(fn, types, constants, attrs)
"""
_FROM_HINTS = """\
        attrs = AttrsDescriptor.from_hints({**dict.fromkeys(divisible_by_16, 16), **dict.fromkeys(equal_to_1, 1)})
"""
_PROPERTIES = """\
        properties = {"tt.divisibility": divisible_by_16, "tt.equal_to": equal_to_1, "tt.pointer_range": pointer_range_32}
        attrs = AttrsDescriptor.from_dict({"arg_properties": properties, "cls": "HIPAttrsDescriptor"})
"""


# --- source text -------------------------------------------------------------------------------------------------------------


def _type(kind: ArgumentType) -> str:
    """A type as source text."""
    if isinstance(kind, str):
        return f'"{kind}"'
    return "(" + "".join(f"{_type(each)}, " for each in kind).removesuffix(" " if len(kind) == 1 else ", ") + ")"


def _dictionary(head: str, entries: Mapping[Any, str], indent: int) -> str:
    """``head{"name": value, …}``, over several lines where one is too long; those after the first are indented."""
    items = [f'"{key}": {value}' if isinstance(key, str) else f"{key}: {value}" for key, value in entries.items()]
    flat = f"{head}{{{', '.join(items)}}}"
    if len(flat) + indent <= _WIDTH:
        return flat
    lines, margin = [""], " " * (indent + 4)
    for item in items:
        if lines[-1] and len(margin + lines[-1] + item) + 2 > _WIDTH:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + item + ","
    return "\n".join([f"{head}{{", *(margin + line for line in lines), " " * indent + "}"])


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
"""What releases of Triton import without declaring it is ``setuptools``, up to 3.2."""
