"""Block pointers → tensor descriptors (Triton 3.4 and newer), where that is possible.

A descriptor is made where the block pointer was made, from its base, shape, strides and block.
Offsets name the elements of a load or store. A descriptor requires more than a block pointer: the
innermost stride must be 1, and every access checks the bounds of the tensor. Notes state the
requirements that the text does not show (alignment, an allocator on the host).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from compat.toolchains.language import CannotEdit, FailingKernel, Proposal
from compat.toolchains.triton.edits.block_pointers.access import (
    Access,
    AccessForm,
    Value,
    assignment,
    stored_value,
)
from compat.toolchains.triton.edits.block_pointers.editing import edit_program
from compat.toolchains.triton.edits.block_pointers.flow import Definition, Web
from compat.toolchains.triton.edits.block_pointers.normal_form import MadePointer, Part
from compat.toolchains.triton.edits.block_pointers.plain_pointers import PlainPointers
from compat.toolchains.triton.edits.block_pointers.pointer_passing import (
    MADE,
    NOT_SEPARATE,
    WHOLE,
    CommonArguments,
    PointerFlow,
)
from compat.toolchains.triton.edits.code import literal, parenthesize
from compat.toolchains.triton.edits.program import KernelProgram

_HOST = (
    (
        "tensor descriptors need Triton 3.4 or newer; if the kernel makes them, the host must call"
        " triton.set_allocator before the launch"
    ),
    (
        "the edit assumes that every base is aligned to 16 bytes, and that every stride but the"
        " innermost is a multiple of 16 bytes. Triton's interpreter also needs such offsets along"
        " the innermost axis"
    ),
)
_UNCHECKED = (
    "elements outside a tensor's shape are read as zero and not written, even if they had no"
    " boundary_check before"
)
_HINTS = (
    "cache modifiers, eviction policies and volatile are removed, because descriptors do not take"
    " them"
)
_STRIDE = (
    "{names}: assumed to be 1, as the kernel file says, and no longer used as the innermost stride"
)


def tensor_descriptors(faulty: FailingKernel) -> Iterator[Proposal]:
    """Propose the kernel with tensor descriptors."""
    program = KernelProgram.of(faulty)
    facts = {
        program.kernel: CommonArguments(
            ones=frozenset((name, WHOLE) for name in faulty.compile.ones)
        )
    }
    if PointerFlow.of(program).changed_functions:  # passing all parts shows which strides are 1
        facts = dict(edit_program(program, PlainPointers, facts).facts)
    result = edit_program(program, Descriptors, facts)
    yield Proposal.of(faulty, result.texts, (*_HOST, *result.notes))


class Descriptors(AccessForm):
    """Tensor descriptors in one function."""

    @staticmethod
    def passed_parts(rank: int) -> Sequence[Part]:
        return (MADE, *(("at", axis) for axis in range(rank)))

    def notes(self) -> Iterator[str]:
        if any(len(access.checked) < access.web.made_pointer.rank for access in self.accesses):
            yield _UNCHECKED
        if any(access.hints for access in self.accesses):
            yield _HINTS
        pointers = [
            definition.made
            for definition in self.definitions
            if definition.made and not self._is_given(definition.made)
        ]
        innermost = {
            self.text(pointer.strides[self._innermost(pointer.strides)]) for pointer in pointers
        }
        if innermost & self.ones:
            yield _STRIDE.format(names=", ".join(sorted(innermost & self.ones)))

    # --- conditions ---

    def check(self) -> None:
        if any(access.padding == "nan" for access in self.accesses):
            raise CannotEdit(
                "tensor descriptors: not every release that has them is known to pad with NaN"
            )
        for web in self.flow.webs:
            pointers = [definition.made for definition in web.definitions if definition.made]
            if len({(self._innermost(pointer.strides), pointer.rank) for pointer in pointers}) > 1:
                raise CannotEdit(
                    f"tensor descriptors: {web.variable} has its innermost axis in different places"
                )

    def _innermost(self, strides: Sequence[cst.BaseExpression]) -> int:
        """Return the axis whose stride is 1: the last one, or the first of two.

        Raises CannotEdit if no such stride is known to be 1.
        """
        last = len(strides) - 1
        candidates = [axis for axis, stride in enumerate(strides) if literal(stride) == 1]
        candidates += [
            axis
            for axis, stride in enumerate(strides)
            if isinstance(stride, cst.Name) and stride.value in self.ones
        ]
        innermost = last if last in candidates else candidates[0] if candidates else None
        if innermost is None or (innermost != last and len(strides) != 2):
            raise CannotEdit("tensor descriptors: no innermost stride is known to be 1")
        return innermost

    def _is_transposed(self, web: Web) -> bool:
        return self._innermost(web.made_pointer.strides) != web.made_pointer.rank - 1

    # --- the form ---

    def defining(self, definition: Definition) -> list[str]:
        web, pointer, lines = definition.web, definition.made, list[tuple[str, str]]()
        if pointer is not None and not self._is_given(pointer):
            lines.append((self.name(web, MADE), self._descriptor(web, pointer)))
        elif pointer is None and self.is_kept(web, MADE):
            lines.append((self.name(web, MADE), self.part_after(definition, MADE)))
        for part in self.passed_parts(web.made_pointer.rank)[1:]:
            if self.is_kept(web, part):
                lines.append(
                    (
                        self.name(web, part),
                        (
                            self.part_after(definition, part)
                            if pointer is None
                            else self.text(pointer.parts[part])
                        ),
                    )
                )
        return [assignment(name, value) for name, value in lines if name != value]

    def accessing(self, access: Access, call: cst.Call) -> str:
        web = access.web
        at = [self.value(web, ("at", axis)) for axis in range(web.made_pointer.rank)]
        transposed = self._is_transposed(web)
        offsets = f"[{', '.join(reversed(at) if transposed else at)}]"
        desc = self.value(web, MADE)
        if access.is_load:
            loaded = f"{desc}.load({offsets})"
            return f"{self.language}.trans({loaded})" if transposed else loaded
        value = self.text(stored_value(call))
        return (
            f"{desc}.store({offsets}, {f'{self.language}.trans({value})' if transposed else value})"
        )

    def element_holder(self, web: Web) -> str:
        base = web.made_pointer.base
        if self._is_given(web.made_pointer):
            raise CannotEdit(
                "tensor descriptors: a function that gets a block pointer uses its dtype"
            )
        # An addition does not change the dtype of a pointer.
        while isinstance(base, cst.BinaryOperation):
            base = base.left
        return parenthesize(self.text(base))

    # --- parts ---

    def _is_given(self, pointer: MadePointer) -> bool:
        """Whether a block pointer is a parameter."""
        return self.text(pointer.base) == NOT_SEPARATE

    def parts_made(self, pointer: MadePointer, definition: Definition) -> Mapping[Part, Value]:
        alone = (
            not definition.in_loop
            and sum(other.variable == definition.variable for other in self.definitions) == 1
        )
        offsets: dict[Part, Value] = {
            part: self.text(node) if self.bindings.stable(node) else None
            for part, node in pointer.parts.items()
            if part[0] == "at"
        }
        return {MADE: self.name(definition.web, MADE) if alone else None, **offsets}

    def _descriptor(self, web: Web, pointer: MadePointer) -> str:
        innermost = self._innermost(pointer.strides)
        strides = [
            "1" if axis == innermost else self.text(expression)
            for axis, expression in enumerate(pointer.strides)
        ]
        lists = [list(map(self.text, pointer.shape)), strides, list(map(self.text, pointer.block))]
        lists = [expression[::-1] for expression in lists] if self._is_transposed(web) else lists
        arguments = ", ".join(f"[{', '.join(expression)}]" for expression in lists)
        return f"{self.language}.make_tensor_descriptor({self.text(pointer.base)}, {arguments})"

    def name(self, web: Web, part: Part) -> str:
        return web.name if part == MADE else super().name(web, part)
