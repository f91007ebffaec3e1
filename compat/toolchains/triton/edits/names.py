"""Edits of names in Triton's language that differ, or are somewhere else, in other releases.

No single rule maps names before 3.0 to current names. ``tl.math`` once had the functions of
libdevice, and ``tl.libdevice`` is in ``triton.language.extra`` now. So every place where a name may
be is proposed. Keywords that are hints, or have the default value, are left out if a release does
not know them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import libcst as cst

from compat.text import lazy_pattern
from compat.toolchains.language import FailingKernel, Proposal
from compat.toolchains.triton.edits.code import LANGUAGE, Code, walk

_MISSING = lazy_pattern(
    r"(?:has no attribute|cannot import name|Function not found:?|extern function) '?(\w+)'?"
)
_UNKNOWN_KEYWORD = lazy_pattern(r"unexpected keyword argument '(\w+)'")
_RENAMED = {
    "max": "maximum",
    "min": "minimum",
    "_experimental_make_tensor_descriptor": "make_tensor_descriptor",
    "math.mulhi": "umulhi",
    "math.fast_expf": "exp",
    "math.fast_dividef": "fdiv",
}
"""Names in ``triton.language`` (or the last part of one) → their current equivalent."""
_LIBRARIES = (
    "libdevice",
    "math",
    "extra.cuda.libdevice",
    "extra.hip.libdevice",
    "extra.libdevice",
    "extra.intel.libdevice",
)
"""Where functions of a device library were, or are for one kind of target."""
_HINTS = {
    "range": (
        "loop_unroll_factor",
        "disallow_acc_multi_buffer",
        "flatten",
        "warp_specialize",
        "disable_licm",
    )
}
"""Keywords that change the generated code, and not the results."""
_DEFAULTS = {("make_tensor_descriptor", "padding_option"): '"zero"'}
"""Keywords with their default value."""
_IMPORT = f"from {LANGUAGE}.extra import libdevice"
_PARENT = lazy_pattern(
    r"\btriton\.language(?:\.extra\.(?:cuda|hip|intel)|\.math)?(?= import libdevice\b)"
)
_LIBRARY = lazy_pattern(r"\btriton\.language(?:\.extra\.(?:cuda|hip|intel))?\.libdevice\b")
"""The import of a device library, and the library itself, for one kind of target or from before
3.0.
"""


def names_elsewhere(faulty: FailingKernel) -> Iterator[Proposal]:
    """Propose places where a name may be now, and calls without keywords that are not needed."""
    code, excerpt = Code.of(faulty.text, faulty.function), faulty.failure.excerpt
    missing = {name for line in excerpt.splitlines() for name in _MISSING.findall(line)}
    yield from _elsewhere(code, missing)
    if imported := _imports(code):
        yield Proposal(text=code.replace_nodes(imported))
    unknown = set(_UNKNOWN_KEYWORD.findall(excerpt))
    for keywords in (unknown, None):
        calls = code.collect(partial(_call, code, keywords))
        if calls:
            yield Proposal(text=code.replace_nodes(calls))


def _elsewhere(code: Code, missing: set[str]) -> Iterator[Proposal]:
    """Propose every use of a missing name in other places.

    These are the language itself, its mathematics, and the device library.
    """
    used = code.collect(partial(_missing_member, code, missing))
    if not used:
        return
    language = code.language.name
    renamed = {
        node: _RENAMED.get(name) or _RENAMED.get(name.rpartition(".")[2])
        for node, name in used.items()
    }
    if all(renamed.values()):
        yield _with(code, {node: f"{language}.{new}" for node, new in renamed.items()})
    last = {node: name.rpartition(".")[2] for node, name in used.items()}
    for place in ("", "math."):
        if all(name != f"{place}{last[node]}" for node, name in used.items()):
            yield _with(code, {node: f"{language}.{place}{last[node]}" for node in used})
    alias, text = _library(code)
    there = _with(code, {node: f"{alias}.{last[node]}" for node in used})
    yield Proposal(text=_importing(there.text, text) if text else there.text)


def _missing_member(
    code: Code, missing: set[str], _function: cst.FunctionDef, node: cst.CSTNode
) -> str | None:
    """Return the full name in the language of a node whose name is missing there, or ``None``."""
    if not isinstance(node, cst.Attribute | cst.Name):
        return None
    member = code.language.member(node)
    if member is None or (isinstance(node, cst.Name) and node.value not in code.language.members):
        return None
    parts = member.split(".")
    of_library = (
        len(parts) > 1
        and ".".join(parts[:-1]) in _LIBRARIES
        and bool({*parts[:-1], parts[-1]} & missing)
    )
    return member if of_library or (len(parts) <= 2 and parts[-1] in missing) else None


def _with(code: Code, changed: Mapping[cst.CSTNode, str]) -> Proposal:
    return Proposal(
        text=code.replace_nodes(
            {node: cst.parse_expression(text) for node, text in changed.items()}
        )
    )


def _library(code: Code) -> tuple[str, str]:
    """Return the module's name for all targets' device library, and the import that it needs."""
    for name, what in {**code.language.members, **code.language.modules}.items():
        if what == f"{LANGUAGE}.extra.libdevice":
            return name, ""
    name = (
        "libdevice"
        if "libdevice" not in code.names or "libdevice" in code.language.members
        else code.fresh("libdevice")
    )
    return name, _IMPORT if name == "libdevice" else f"{_IMPORT} as {name}"


def _importing(text: str, statement: str) -> str:
    """Return the module with one more import, after its last import at the top level."""
    module = cst.parse_module(text)
    last = max((number for number, node in enumerate(module.body) if _is_import(node)), default=-1)
    body = [*module.body[: last + 1], cst.parse_statement(statement), *module.body[last + 1 :]]
    return module.with_changes(body=body).code


def _is_import(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and any(
        isinstance(statement, cst.Import | cst.ImportFrom) for statement in node.body
    )


def _imports(code: Code) -> dict[cst.CSTNode, cst.CSTNode]:
    """Return old import → import of the device library of all targets.

    Old imports are for one kind of target, or from the place before 3.0.
    """
    imports: dict[cst.CSTNode, cst.CSTNode] = {}
    for node in walk(code.module):
        if not isinstance(node, cst.ImportFrom | cst.Import):
            continue
        old = code.code_for(node)
        new = _LIBRARY.sub(f"{LANGUAGE}.extra.libdevice", _PARENT.sub(f"{LANGUAGE}.extra", old))
        if new != old:
            statement = cst.parse_statement(new)
            assert isinstance(statement, cst.SimpleStatementLine)
            imports[node] = statement.body[0]
    return imports


# --- keywords -------------------------------------------------------------------------------------


def _call(
    code: Code, unknown: set[str] | None, _function: cst.FunctionDef, node: cst.CSTNode
) -> cst.Call | None:
    """Return a call without arguments that this release does not know and nothing needs.

    If ``unknown`` is ``None``, every argument that nothing needs is left out.
    """
    called = code.language.called_name(node)
    if called is None or not isinstance(node, cst.Call):
        return None
    arguments = [new for arg in node.args for new in _argument(code, called, arg, unknown)]
    new_arguments = _without_transposing(code, node, arguments) if called == "dot" else arguments
    if len(new_arguments) == len(node.args) and all(
        new is old for new, old in zip(new_arguments, node.args, strict=True)
    ):
        return None
    return node.with_changes(
        args=[*new_arguments[:-1], new_arguments[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)]
        if new_arguments
        else []
    )


def _argument(
    code: Code, called: str, argument: cst.Arg, unknown: set[str] | None
) -> list[cst.Arg]:
    name = argument.keyword.value if argument.keyword else ""
    if unknown is not None and name not in unknown:
        return [argument]
    if name in _HINTS.get(called, ()) or _DEFAULTS.get((called, name)) == code.code_for(
        argument.value
    ).replace("'", '"'):
        return []
    return [argument]


_TRANSPOSING = ("trans_a", "trans_b")
"""The keywords of ``dot`` that transpose its first and its second operand."""


def _without_transposing(code: Code, call: cst.Call, arguments: list[cst.Arg]) -> list[cst.Arg]:
    """Return the arguments of ``dot`` without keywords that transpose an operand.

    The operand is transposed instead. A keyword stays if its value is not written out, or if its
    operand is not passed by position.
    """
    flags = {
        arg.keyword.value: code.code_for(arg.value) for arg in call.args if arg.keyword is not None
    }
    new = list(arguments)
    for position, keyword in enumerate(_TRANSPOSING):
        operands = call.args[: position + 1]
        if flags.get(keyword) == "True" and not any(arg.keyword or arg.star for arg in operands):
            operand = code.code_for(call.args[position].value)
            new[position] = new[position].with_changes(
                value=cst.parse_expression(f"{code.language.name}.trans({operand})")
            )
        elif flags.get(keyword) != "False":
            flags.pop(keyword, None)
    removed = [keyword for keyword in _TRANSPOSING if keyword in flags]
    return [arg for arg in new if arg.keyword is None or arg.keyword.value not in removed]
