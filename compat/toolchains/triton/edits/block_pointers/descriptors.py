"""Block pointers → tensor descriptors (Triton 3.4 and newer), where that is possible.

A descriptor is made where the block pointer was, of its base, shape, strides and block; what is loaded and stored is named by
offsets. It asks for more than a block pointer: the innermost stride is 1, and it always looks whether it is within the tensor.
What cannot be known from the text (alignment, an allocator on the host) is said as a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from compat.toolchains.edits import CannotEdit, Faulty, Proposal
from compat.toolchains.triton.edits.block_pointers.access import Access
from compat.toolchains.triton.edits.block_pointers.components import KEPT, Bindings, KeptPart, Part, PointerParts, Value, moves
from compat.toolchains.triton.edits.block_pointers.editing import AccessKind, edited
from compat.toolchains.triton.edits.block_pointers.exchange import GIVEN, PartFacts, of_descriptors
from compat.toolchains.triton.edits.block_pointers.handing import Handing
from compat.toolchains.triton.edits.block_pointers.plain import PLAIN
from compat.toolchains.triton.edits.block_pointers.webs import Definition, Flow, Web
from compat.toolchains.triton.edits.block_pointers.writing import added, assignment, stored
from compat.toolchains.triton.edits.code import Code, literal, parenthesized
from compat.toolchains.triton.edits.program import KernelProgram

_HOST = (
    "tensor descriptors need Triton 3.4 or newer, and where they are made on the device the host has to call triton.set_allocator "
    "before the launch",
    "every base is taken to be aligned to 16 bytes, and every stride but the innermost to be a multiple of 16 bytes; Triton's "
    "interpreter wants offsets along the innermost axis to be so, too",
)
_UNCHECKED = "what lies outside of a tensor's shape is read as zero and not written, also where there was no boundary_check for it"
_HINTS = "cache modifiers, eviction policies and volatile are gone, since descriptors do not take them"
_STRIDE = "{names}: taken to be 1, as the kernel file says, and no longer used as innermost stride"


def tensor_descriptors(faulty: Faulty) -> Iterator[Proposal]:
    """The kernel with tensor descriptors."""
    program = KernelProgram.of(faulty)
    ones = {program.kernel: faulty.compile.ones}
    notes, facts = dict.fromkeys(_HOST), PartFacts(ones=ones)
    if Handing.of(program).hands:
        facts = of_descriptors(edited(program, PLAIN, facts).facts)

    def make(code: Code, flow: Flow, bindings: Bindings, accesses: Sequence[Access], ones: frozenset[str]) -> Descriptors:
        form = Descriptors(code, flow, bindings, accesses, ones)
        notes.update(dict.fromkeys(form.notes()))
        return form

    result = edited(program, AccessKind(make=make, handed=_handed), facts)
    yield Proposal.of(faulty, result.texts, (*notes, *result.notes))


def _handed(rank: int) -> Sequence[Part]:
    return ("made", *(("at", axis) for axis in range(rank)))


class Descriptors:
    """Tensor descriptors in one function."""

    def __init__(
        self, code: Code, flow: Flow, bindings: Bindings, accesses: Sequence[Access], ones: frozenset[str] = frozenset()
    ) -> None:
        self._code, self._flow, self._bindings, self._accesses, self._ones = code, flow, bindings, accesses, ones
        self._language = code.language.name
        self._names: dict[tuple[str, Part], str] = {}
        self._check()
        self._parts = PointerParts(flow, bindings, self._as_made)

    def notes(self) -> Iterator[str]:
        """What is taken for granted besides what all descriptors need."""
        if any(set(access.checked) != set(range(access.web.made.rank)) for access in self._accesses):
            yield _UNCHECKED
        if any(access.hints for access in self._accesses):
            yield _HINTS
        made = [definition.made for definition in self._flow.definitions if definition.made and not self._is_given(definition)]
        innermost = {self._code.code_for(pointer.strides[self._innermost(pointer.strides)]) for pointer in made}
        if innermost & self._ones:
            yield _STRIDE.format(names=", ".join(sorted(innermost & self._ones)))

    # --- where it is possible ---

    def _check(self) -> None:
        if any(access.padding == "nan" for access in self._accesses):
            raise CannotEdit("tensor descriptors: padding with NaN is not known of every release that has them")
        for web in self._flow.webs:
            orders = {self._innermost(definition.made.strides) for definition in web.definitions if definition.made}
            ranks = {definition.made.rank for definition in web.definitions if definition.made}
            if len(orders) > 1 or len(ranks) > 1:
                raise CannotEdit(f"tensor descriptors: {web.variable} has its innermost axis in different places")

    def _innermost(self, strides: Sequence[cst.BaseExpression]) -> int:
        """The axis whose stride is 1: the last one, or the first of two. Raises CannotEdit."""
        last = len(strides) - 1
        candidates = [axis for axis, stride in enumerate(strides) if literal(stride) == 1]
        candidates += [axis for axis, stride in enumerate(strides) if isinstance(stride, cst.Name) and stride.value in self._ones]
        innermost = last if last in candidates else candidates[0] if candidates else None
        if innermost is None or (innermost != last and len(strides) != 2):
            raise CannotEdit("tensor descriptors: no innermost stride is known to be 1")
        return innermost

    def _is_transposed(self, web: Web) -> bool:
        return self._innermost(web.made.strides) != web.made.rank - 1

    # --- the form ---

    def defining(self, definition: Definition) -> list[str]:
        web, source, lines = definition.web, definition.source_web, []
        if definition.made is not None and not self._is_given(definition):
            lines.append(f"{self._name(web, 'made')} = {self._made(definition)}")
        elif isinstance(self._parts.value(web, "made"), KeptPart) and source is not None:
            lines.append(f"{self._name(web, 'made')} = {self._value(source, 'made')}")
        lines += [f"{self._name(web, ('at', axis))} = {value}" for axis, value in self._offsets(definition)]
        return [_shorter(line) for line in lines if len(set(line.split(" = "))) > 1]

    def before(self, access: Access) -> list[str]:
        return []

    def accessing(self, access: Access, call: cst.Call) -> str:
        web = access.web
        at = [self._value(web, ("at", axis)) for axis in range(web.made.rank)]
        transposed = self._is_transposed(web)
        offsets = f"[{', '.join(reversed(at) if transposed else at)}]"
        made = self._value(web, "made")
        if access.is_load:
            loaded = f"{made}.load({offsets})"
            return f"{self._language}.trans({loaded})" if transposed else loaded
        value = self._text(stored(call))
        return f"{made}.store({offsets}, {f'{self._language}.trans({value})' if transposed else value})"

    def element_holder(self, web: Web) -> str:
        base = web.made.base
        if self._text(base) == GIVEN:
            raise CannotEdit("tensor descriptors: the dtype of a block pointer is asked for where it was handed to")
        while isinstance(base, cst.BinaryOperation):  # whatever is added to a pointer, its dtype stays
            base = base.left
        return parenthesized(self._text(base))

    def handing(self, web: Web) -> dict[Part, str]:
        return {part: self._value(web, part) for part in _handed(web.made.rank)}

    def is_natural(self, web: Web, part: Part) -> bool:
        return False

    # --- parts ---

    def _is_given(self, definition: Definition) -> bool:
        """Whether it is a parameter."""
        return definition.made is not None and self._text(definition.made.base) == GIVEN

    def _as_made(self, definition: Definition) -> Mapping[Part, Value]:
        made = definition.made
        assert made is not None
        same = [other for other in self._flow.definitions if other.variable == definition.variable]
        alone = len(same) == 1 and not definition.in_loop
        offsets: dict[Part, Value] = {
            ("at", axis): self._text(expression) if self._bindings.stable(expression) else KEPT
            for axis, expression in enumerate(made.offsets)
        }
        return {"made": self._name(definition.web, "made") if alone else KEPT, **offsets}

    def _made(self, definition: Definition) -> str:
        made = definition.made
        assert made is not None
        innermost = self._innermost(made.strides)
        strides = ["1" if axis == innermost else self._text(expression) for axis, expression in enumerate(made.strides)]
        lists = [list(map(self._text, made.shape)), strides, list(map(self._text, made.block))]
        lists = [expression[::-1] for expression in lists] if self._is_transposed(definition.web) else lists
        arguments = ", ".join(f"[{', '.join(expression)}]" for expression in lists)
        return f"{self._language}.make_tensor_descriptor({self._text(made.base)}, {arguments})"

    def _offsets(self, definition: Definition) -> Iterator[tuple[int, str]]:
        web, source, made = definition.web, definition.source_web, definition.made
        for axis in range(web.made.rank):
            if not isinstance(self._parts.value(web, ("at", axis)), KeptPart):
                continue
            if made is not None:
                yield axis, self._text(made.offsets[axis])
            elif source is not None:
                by = definition.offsets[axis] if definition.offsets else None
                by_text = "" if by is None or not moves(definition, by) else self._text(by)
                placed = by_text if definition.placed else ""
                yield axis, placed or added(self._value(source, ("at", axis)), by_text)

    def _value(self, web: Web, part: Part) -> str:
        value = self._parts.value(web, part)
        return self._name(web, part) if isinstance(value, KeptPart) else value

    def _name(self, web: Web, part: Part) -> str:
        if part == "made":
            return web.name
        key = (web.name, part)
        if key not in self._names:
            self._names[key] = self._code.fresh(f"{web.name}_{'_'.join(map(str, part)) if isinstance(part, tuple) else part}")
        return self._names[key]

    def _text(self, node: cst.CSTNode) -> str:
        return self._code.code_for(node)


def _shorter(line: str) -> str:
    name, _, value = line.partition(" = ")
    return assignment(name, value)
