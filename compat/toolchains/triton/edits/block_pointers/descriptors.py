"""Block pointers → tensor descriptors (Triton 3.4 and newer), where that is possible.

A descriptor is made where the block pointer was, of its base, shape, strides and block; what is loaded and stored is named by
offsets. It asks for more than a block pointer: the innermost stride is 1, and it always looks whether it is within the tensor.
What cannot be known from the text (alignment, an allocator on the host) is said as a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from compat.toolchains.language import CannotEdit, Faulty, Proposal
from compat.toolchains.triton.edits.block_pointers.access import Access, AccessForm, assignment, stored
from compat.toolchains.triton.edits.block_pointers.components import KEPT, Bindings, Part, Value
from compat.toolchains.triton.edits.block_pointers.editing import AccessKind, edited
from compat.toolchains.triton.edits.block_pointers.exchange import GIVEN, PartFacts, of_descriptors
from compat.toolchains.triton.edits.block_pointers.handing import Handing
from compat.toolchains.triton.edits.block_pointers.normal import MadePointer
from compat.toolchains.triton.edits.block_pointers.plain import PLAIN
from compat.toolchains.triton.edits.block_pointers.webs import Definition, Flow, Web
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


class Descriptors(AccessForm):
    """Tensor descriptors in one function."""

    def notes(self) -> Iterator[str]:
        """What is taken for granted besides what all descriptors need."""
        if any(set(access.checked) != set(range(access.web.made.rank)) for access in self.accesses):
            yield _UNCHECKED
        if any(access.hints for access in self.accesses):
            yield _HINTS
        made = [definition.made for definition in self.flow.definitions if definition.made and not self._is_given(definition)]
        innermost = {self.code.code_for(pointer.strides[self._innermost(pointer.strides)]) for pointer in made}
        if innermost & self.ones:
            yield _STRIDE.format(names=", ".join(sorted(innermost & self.ones)))

    # --- where it is possible ---

    def check(self) -> None:
        if any(access.padding == "nan" for access in self.accesses):
            raise CannotEdit("tensor descriptors: padding with NaN is not known of every release that has them")
        for web in self.flow.webs:
            orders = {self._innermost(definition.made.strides) for definition in web.definitions if definition.made}
            ranks = {definition.made.rank for definition in web.definitions if definition.made}
            if len(orders) > 1 or len(ranks) > 1:
                raise CannotEdit(f"tensor descriptors: {web.variable} has its innermost axis in different places")

    def _innermost(self, strides: Sequence[cst.BaseExpression]) -> int:
        """The axis whose stride is 1: the last one, or the first of two. Raises CannotEdit."""
        last = len(strides) - 1
        candidates = [axis for axis, stride in enumerate(strides) if literal(stride) == 1]
        candidates += [axis for axis, stride in enumerate(strides) if isinstance(stride, cst.Name) and stride.value in self.ones]
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
            lines.append(f"{self.name(web, 'made')} = {self._made(definition)}")
        elif self.is_kept(web, "made") and source is not None:
            lines.append(f"{self.name(web, 'made')} = {self.value(source, 'made')}")
        lines += [f"{self.name(web, ('at', axis))} = {value}" for axis, value in self._offsets(definition)]
        return [_shorter(line) for line in lines if len(set(line.split(" = "))) > 1]

    def accessing(self, access: Access, call: cst.Call) -> str:
        web = access.web
        at = [self.value(web, ("at", axis)) for axis in range(web.made.rank)]
        transposed = self._is_transposed(web)
        offsets = f"[{', '.join(reversed(at) if transposed else at)}]"
        made = self.value(web, "made")
        if access.is_load:
            loaded = f"{made}.load({offsets})"
            return f"{self.language}.trans({loaded})" if transposed else loaded
        value = self.text(stored(call))
        return f"{made}.store({offsets}, {f'{self.language}.trans({value})' if transposed else value})"

    def element_holder(self, web: Web) -> str:
        base = web.made.base
        if self.text(base) == GIVEN:
            raise CannotEdit("tensor descriptors: the dtype of a block pointer is asked for where it was handed to")
        while isinstance(base, cst.BinaryOperation):  # whatever is added to a pointer, its dtype stays
            base = base.left
        return parenthesized(self.text(base))

    def handing(self, web: Web) -> dict[Part, str]:
        return {part: self.value(web, part) for part in _handed(web.made.rank)}

    # --- parts ---

    def _is_given(self, definition: Definition) -> bool:
        """Whether it is a parameter."""
        return definition.made is not None and self.text(definition.made.base) == GIVEN

    def parts_made(self, made: MadePointer, definition: Definition) -> Mapping[Part, Value]:
        same = [other for other in self.flow.definitions if other.variable == definition.variable]
        alone = len(same) == 1 and not definition.in_loop
        offsets: dict[Part, Value] = {
            ("at", axis): self.text(expression) if self.bindings.stable(expression) else KEPT
            for axis, expression in enumerate(made.offsets)
        }
        return {"made": self.name(definition.web, "made") if alone else KEPT, **offsets}

    def _made(self, definition: Definition) -> str:
        made = definition.made
        assert made is not None
        innermost = self._innermost(made.strides)
        strides = ["1" if axis == innermost else self.text(expression) for axis, expression in enumerate(made.strides)]
        lists = [list(map(self.text, made.shape)), strides, list(map(self.text, made.block))]
        lists = [expression[::-1] for expression in lists] if self._is_transposed(definition.web) else lists
        arguments = ", ".join(f"[{', '.join(expression)}]" for expression in lists)
        return f"{self.language}.make_tensor_descriptor({self.text(made.base)}, {arguments})"

    def _offsets(self, definition: Definition) -> Iterator[tuple[int, str]]:
        web, made = definition.web, definition.made
        for axis in range(web.made.rank):
            if self.is_kept(web, ("at", axis)):
                yield axis, self.moved(definition, axis) if made is None else self.text(made.offsets[axis])

    def name(self, web: Web, part: Part) -> str:
        return web.name if part == "made" else super().name(web, part)


def _shorter(line: str) -> str:
    name, _, value = line.partition(" = ")
    return assignment(name, value)
