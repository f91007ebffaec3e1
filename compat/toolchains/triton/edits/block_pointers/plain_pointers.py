"""Block pointers → plain pointers: a base, a block of offsets, and masks for ``boundary_check``.

A block pointer that is never advanced becomes a block of pointers at the place where it was made. A
block pointer that is advanced becomes offsets, to which ``tl.advance`` adds. Loads and stores
compute pointers from them. As in block pointers, positions have 64 bits. A checked load returns
zero outside the tensor, or NaN if the kernel requests it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from compat.toolchains.language import CannotEdit, FailingKernel, Proposal
from compat.toolchains.triton.edits.block_pointers.access import (
    Access,
    AccessForm,
    Value,
    addend,
    assignment,
    stored_value,
)
from compat.toolchains.triton.edits.block_pointers.editing import edit_program
from compat.toolchains.triton.edits.block_pointers.flow import (
    Definition,
    Flow,
    Web,
    merge_overlapping,
)
from compat.toolchains.triton.edits.block_pointers.normal_form import BASE, MadePointer, Part
from compat.toolchains.triton.edits.block_pointers.pointer_passing import all_parts
from compat.toolchains.triton.edits.code import parenthesize
from compat.toolchains.triton.edits.program import KernelProgram


def plain_pointers(faulty: FailingKernel) -> Iterator[Proposal]:
    """Propose the kernel with plain pointers."""
    result = edit_program(KernelProgram.of(faulty), PlainPointers, {})
    yield Proposal.of(faulty, result.texts, result.notes)


class PlainPointers(AccessForm):
    """Plain pointers in one function."""

    passed_parts = staticmethod(all_parts)

    def check(self) -> None:
        self._moving = _moving(self.flow)
        for web in self._moving:
            if len({self._block(definition) for definition in web.definitions}) > 1:
                raise CannotEdit(
                    f"{web.variable} holds block pointers of different blocks at one use"
                )
        self._checks: dict[Web, set[tuple[int, ...]]] = {web: set() for web in self.flow.webs}
        """Web → the axes that accesses to it, or to its copies, check together."""
        for access in self.accesses:
            for definition in access.web.history():
                self._checks[definition.web] |= {access.checked} if access.checked else set()

    def _block(self, definition: Definition) -> tuple[str, ...]:
        pointer = definition.made or (definition.source_web or definition.web).made_pointer
        return tuple(map(self.text, pointer.block))

    # --- the form ---

    def defining(self, definition: Definition) -> list[str]:
        web, source = definition.web, definition.source_web
        if web in self._moving:
            return [
                assignment(self.name(web, part), value)
                for part, value in self._part_assignments(definition)
            ]
        if source is None:
            return self._grid(definition)
        copies = [(web.variable, source.variable)]
        copies += [
            (self._mask(web, axes), self._mask(source, axes)) for axes in sorted(self._checks[web])
        ]
        return [f"{new} = {old}" for new, old in copies if new != old]

    def before(self, access: Access) -> list[str]:
        web = access.web
        if web not in self._moving:
            return []
        offsets = [self.value(web, ("at", axis)) for axis in range(web.made_pointer.rank)]
        return self._indices(web, offsets, [self.text(size) for size in web.made_pointer.block])

    def accessing(self, access: Access, call: cst.Call) -> str:
        web, checked, arguments = access.web, access.checked, [self._pointers(access.web)]
        arguments += [] if access.is_load else [self.text(stored_value(call))]
        if checked:
            mask_of = self._moving_mask if web in self._moving else self._mask
            arguments.append(f"mask={mask_of(web, checked)}")
            other = 'float("nan")' if access.padding == "nan" else "0.0"
            arguments += [f"other={other}"] if access.is_load else []
        arguments += [f"{name}={self.text(value)}" for name, value in access.hints.items()]
        return f"{self.text(call.func)}({', '.join(arguments)})"

    def element_holder(self, web: Web) -> str:
        return parenthesize(self.value(web, BASE)) if web in self._moving else web.variable

    # --- block pointers that are never advanced ---

    def _grid(self, definition: Definition) -> list[str]:
        """Return indices, pointers and masks for the place where the block pointer was made."""
        web, pointer = definition.web, definition.made
        assert pointer is not None
        lines = self._indices(
            web,
            [self.text(offset) for offset in pointer.offsets],
            [self.text(size) for size in pointer.block],
        )
        strides = [self.text(stride) for stride in pointer.strides]
        lines.append(f"{web.variable} = {self._sum(web, self.text(pointer.base), strides)}")
        shape, natural = (
            [self.text(extent) for extent in pointer.shape],
            [self.bindings.natural(offset) for offset in pointer.offsets],
        )
        return lines + [
            f"{self._mask(web, axes)} = {self._inside(web, axes, shape, natural)}"
            for axes in sorted(self._checks[web])
        ]

    def _mask(self, web: Web, axes: tuple[int, ...]) -> str:
        """Return the name of the mask for these axes."""
        alike = [other for other in self.flow.webs if other.name == web.name]
        several = len(set.union(*(self._checks[other] for other in alike))) > 1
        return self.fresh(
            web, axes, f"{web.name}_mask{'_' + ''.join(map(str, axes)) if several else ''}"
        )

    # --- block pointers that are advanced ---

    def parts_made(self, pointer: MadePointer, definition: Definition) -> Mapping[Part, Value]:
        blocks: dict[Part, Value] = {
            ("block", axis): self.text(size) for axis, size in enumerate(pointer.block)
        }
        return blocks | {
            part: self.text(node) if self.bindings.stable(node) else None
            for part, node in pointer.parts.items()
        }

    def _part_assignments(self, definition: Definition) -> Iterator[tuple[Part, str]]:
        """Yield the parts that a definition assigns to variables of its web, with their values."""
        web = definition.web
        for part in web.made_pointer.parts:
            if self.is_kept(web, part) and self._is_needed(web, part):
                pointer = definition.made
                value = (
                    self.part_after(definition, part)
                    if pointer is None
                    else self.text(pointer.parts[part])
                )
                if pointer is not None or value != self.name(web, part):
                    yield part, value

    def _is_needed(self, web: Web, part: Part) -> bool:
        """Return whether anything needs a part.

        The shape is needed only if there is a check, or if the block pointer is passed on.
        """
        return (
            part[0] != "shape"
            or bool(self.flow.escaping_pointers)
            or any(part[1] in axes for axes in self._checks[web])
        )

    def _moving_mask(self, web: Web, axes: tuple[int, ...]) -> str:
        shape = [
            self.value(web, ("shape", axis)) if axis in axes else ""
            for axis in range(web.made_pointer.rank)
        ]
        return self._inside(
            web, axes, shape, [self._natural(web, axis) for axis in range(web.made_pointer.rank)]
        )

    def _natural(self, web: Web, axis: int) -> bool:
        """Whether an offset and all that is added to it are certainly never negative."""
        for definition in web.history():
            offsets = definition.made.offsets if definition.made else definition.offsets
            if (definition.made or definition.moves(axis)) and not self.bindings.natural(
                offsets[axis]
            ):
                return False
        return True

    # --- texts ---

    def _pointers(self, web: Web) -> str:
        if web not in self._moving:
            return web.variable
        return self._sum(
            web,
            self.value(web, BASE),
            [self.value(web, ("stride", axis)) for axis in range(web.made_pointer.rank)],
        )

    def _sum(self, web: Web, base: str, strides: Sequence[str]) -> str:
        terms = [
            self._index(web, axis) + ("" if stride == "1" else f" * {parenthesize(stride)}")
            for axis, stride in enumerate(strides)
        ]
        return " + ".join([addend(base), *terms])

    def _indices(self, web: Web, offsets: Sequence[str], block: Sequence[str]) -> list[str]:
        rank, lines = len(block), []
        for axis, (offset, size) in enumerate(zip(offsets, block, strict=True)):
            within = f"{self.language}.arange(0, {size})"
            positions = within if offset == "0" else f"({addend(offset)} + {within})"
            others = (
                ""
                if rank == 1
                else f"[{', '.join(':' if other == axis else 'None' for other in range(rank))}]"
            )
            lines.append(
                f"{self._index(web, axis)} = {positions}.to({self.language}.int64){others}"
            )
        return lines

    def _inside(
        self, web: Web, axes: tuple[int, ...], shape: Sequence[str], natural: Sequence[bool]
    ) -> str:
        tests = []
        for axis in axes:
            index = self._index(web, axis)
            tests += [] if natural[axis] else [f"{index} >= 0"]
            tests.append(f"{index} < {addend(shape[axis])}")
        return " & ".join(f"({test})" for test in tests) if len(tests) > 1 else tests[0]

    def _index(self, web: Web, axis: int) -> str:
        return self.fresh(web, ("index", axis), f"{web.name}_{axis}")


def _moving(flow: Flow) -> set[Web]:
    """Return the webs that are advanced or passed on, and those that copies connect with them."""
    moved = {
        definition.web for definition in flow.definitions.values() if definition.is_moved
    } | set(map(flow.web_of, flow.escaping_pointers))
    related = (
        {definition.web, definition.source_web or definition.web}
        for definition in flow.definitions.values()
    )
    return {web for group in merge_overlapping(related) if group & moved for web in group}
