"""Block pointers → plain pointers: a base and a block of offsets, with masks for what ``boundary_check`` looked at.

A block pointer that is never advanced becomes a block of pointers where it was made. One that is advanced becomes offsets, which
``tl.advance`` adds to; pointers are computed from them where they are loaded from or stored to. As in block pointers, positions are
counted in 64 bits, and what a checked load finds outside of the tensor is zero, or NaN where that was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from compat.toolchains.language import Faulty, Proposal
from compat.toolchains.triton.edits.block_pointers.access import Access, AccessForm, addend, assignment, axis_index, stored
from compat.toolchains.triton.edits.block_pointers.components import (
    KEPT,
    Part,
    Value,
    check_blocks,
    is_moved,
    moves,
)
from compat.toolchains.triton.edits.block_pointers.editing import AccessKind, edited
from compat.toolchains.triton.edits.block_pointers.exchange import PartFacts, all_parts
from compat.toolchains.triton.edits.block_pointers.normal import MadePointer
from compat.toolchains.triton.edits.block_pointers.webs import Definition, Flow, Web
from compat.toolchains.triton.edits.code import parenthesized
from compat.toolchains.triton.edits.program import KernelProgram


def plain_pointers(faulty: Faulty) -> Iterator[Proposal]:
    """The kernel with plain pointers."""
    result = edited(KernelProgram.of(faulty), PLAIN, PartFacts())
    yield Proposal.of(faulty, result.texts, result.notes)


class PlainPointers(AccessForm):
    """Plain pointers in one function."""

    def check(self) -> None:
        self._moving = _moving(self.flow)
        check_blocks(self.flow, self.code, self._moving)
        self._checks = _checks(self.flow, self.accesses)

    # --- the form ---

    def defining(self, definition: Definition) -> list[str]:
        web = definition.web
        if id(web) in self._moving:
            return [assignment(self.name(web, part), value) for part, value in self._kept(definition)]
        if definition.made is not None:
            return self._grid(definition)
        assert definition.source_web is not None
        copies = [(web.variable, definition.source_web.variable)]
        copies += [(self._mask(web, axes), self._mask(definition.source_web, axes)) for axes in self._checks[id(web)]]
        return [f"{new} = {old}" for new, old in copies if new != old]

    def before(self, access: Access) -> list[str]:
        web = access.web
        if id(web) not in self._moving:
            return []
        offsets = [self.value(web, ("at", axis)) for axis in range(web.made.rank)]
        return self._indices(web, offsets, [self.text(size) for size in web.made.block])

    def accessing(self, access: Access, call: cst.Call) -> str:
        web, arguments = access.web, [self._pointers(access.web)]
        moving = id(web) in self._moving
        arguments += [] if access.is_load else [self.text(stored(call))]
        if access.checked:
            arguments.append(f"mask={self._masked(web, access.checked) if moving else self._mask(web, access.checked)}")
            other = 'float("nan")' if access.padding == "nan" else "0.0"
            arguments += [f"other={other}"] if access.is_load else []
        arguments += [f"{name}={self.text(value)}" for name, value in access.hints.items()]
        return f"{self.text(call.func)}({', '.join(arguments)})"

    def element_holder(self, web: Web) -> str:
        return parenthesized(self.value(web, "base")) if id(web) in self._moving else web.variable

    def handing(self, web: Web) -> dict[Part, str]:
        parts = {part: self.value(web, part) for part in all_parts(web.made.rank) if part[0] != "block"}
        return {**parts, **{("block", axis): self.text(size) for axis, size in enumerate(web.made.block)}}

    def is_natural(self, web: Web, part: Part) -> bool:
        return isinstance(part, tuple) and part[0] == "at" and self._natural(web, part[1])

    # --- block pointers that are never advanced ---

    def _grid(self, definition: Definition) -> list[str]:
        """Indices, pointers and masks where the block pointer was made."""
        web, made = definition.web, definition.made
        assert made is not None
        block = [self.text(size) for size in made.block]
        lines = self._indices(web, [self.text(offset) for offset in made.offsets], block)
        lines.append(f"{web.variable} = {self._sum(web, self.text(made.base), [self.text(stride) for stride in made.strides])}")
        for axes in self._checks[id(web)]:
            shape = [self.text(extent) for extent in made.shape]
            natural = [self.bindings.natural(offset) for offset in made.offsets]
            lines.append(f"{self._mask(web, axes)} = {self._inside(web, axes, shape, natural)}")
        return lines

    def _mask(self, web: Web, axes: tuple[int, ...]) -> str:
        """The name of the mask for these axes."""
        alike = [alike_web for alike_web in self.flow.webs if alike_web.name == web.name]
        several = len({axes for alike_web in alike for axes in self._checks[id(alike_web)]}) > 1
        return self.fresh(web, f"mask{axes}", f"{web.name}_mask{'_' + ''.join(map(str, axes)) if several else ''}")

    # --- those that are ---

    def parts_made(self, made: MadePointer, definition: Definition) -> Mapping[Part, Value]:
        return {part: self.text(node) if self.bindings.stable(node) else KEPT for part, node in _made_parts(made).items()}

    def _kept(self, definition: Definition) -> Iterator[tuple[Part, str]]:
        """What a definition gives to the variables of its web."""
        web, source = definition.web, definition.source_web
        made = _made_parts(definition.made) if definition.made is not None else {}
        for part in _made_parts(web.made):
            if not self.is_kept(web, part) or not self._is_needed(web, part):
                continue
            if made:
                yield part, self.text(made[part])
            elif source is not None:
                value = self.moved(definition, part[1]) if isinstance(part, tuple) and part[0] == "at" else self.value(source, part)
                if value != self.name(web, part):
                    yield part, value

    def _is_needed(self, web: Web, part: Part) -> bool:
        """Whether anything asks for it: the shape only where there is a check, or it is handed on."""
        if not (isinstance(part, tuple) and part[0] == "shape") or self.flow.handed:
            return True
        return any(part[1] in axes for axes in self._checks[id(web)])

    def _masked(self, web: Web, axes: tuple[int, ...]) -> str:
        shape = [self.value(web, ("shape", axis)) if axis in axes else "" for axis in range(web.made.rank)]
        return self._inside(web, axes, shape, [self._natural(web, axis) for axis in range(web.made.rank)])

    def _natural(self, web: Web, axis: int) -> bool:
        """Whether an offset is certainly never negative, whatever was added to it."""
        for definition in web.history():
            offsets = definition.made.offsets if definition.made else definition.offsets
            stays = definition.placed and not moves(definition, offsets[axis])
            if offsets and not stays and not self.bindings.natural(offsets[axis]):
                return False
        return True

    # --- texts ---

    def _pointers(self, web: Web) -> str:
        if id(web) not in self._moving:
            return web.variable
        return self._sum(web, self.value(web, "base"), [self.value(web, ("stride", axis)) for axis in range(web.made.rank)])

    def _sum(self, web: Web, base: str, strides: Sequence[str]) -> str:
        terms = [
            self._index(web, axis) + ("" if stride == "1" else f" * {parenthesized(stride)}") for axis, stride in enumerate(strides)
        ]
        return " + ".join([addend(base), *terms])

    def _indices(self, web: Web, offsets: Sequence[str], block: Sequence[str]) -> list[str]:
        return [
            f"{self._index(web, axis)} = {self._range(offset, size)}.to({self.language}.int64){axis_index(axis, len(block))}"
            for axis, (offset, size) in enumerate(zip(offsets, block, strict=True))
        ]

    def _range(self, offset: str, size: str) -> str:
        within = f"{self.language}.arange(0, {size})"
        return within if offset == "0" else f"({addend(offset)} + {within})"

    def _inside(self, web: Web, axes: tuple[int, ...], shape: Sequence[str], natural: Sequence[bool]) -> str:
        tests = []
        for axis in axes:
            index = self._index(web, axis)
            tests += [] if natural[axis] else [f"{index} >= 0"]
            tests.append(f"{index} < {addend(shape[axis])}")
        return " & ".join(f"({test})" for test in tests) if len(tests) > 1 else tests[0]

    def _index(self, web: Web, axis: int) -> str:
        return self.fresh(web, ("index", axis), f"{web.name}_{axis}")


PLAIN = AccessKind(make=PlainPointers, handed=all_parts)


def _moving(flow: Flow) -> set[int]:
    """Webs that are advanced or handed on, or that one of these comes from or leads to."""
    moving = {id(definition.web) for definition in flow.definitions if is_moved(definition)} | {
        id(flow.web_of(name)) for name in flow.handed
    }
    while True:
        webs = set(moving)
        for definition in flow.definitions:
            if definition.source_web is not None and {id(definition.web), id(definition.source_web)} & webs:
                webs |= {id(definition.web), id(definition.source_web)}
        if webs == moving:
            return moving
        moving = webs


def _checks(flow: Flow, accesses: Sequence[Access]) -> dict[int, list[tuple[int, ...]]]:
    """Web → which axes are checked together, there and in what is copied from it."""
    checks: dict[int, set[tuple[int, ...]]] = {id(web): set() for web in flow.webs}
    for access in accesses:
        if access.checked:
            checks[id(access.web)].add(access.checked)
    changed = True
    while changed:
        changed = False
        for definition in flow.definitions:
            if definition.source_web is not None:
                more = checks[id(definition.web)] - checks[id(definition.source_web)]
                checks[id(definition.source_web)] |= more
                changed |= bool(more)
    return {web: sorted(axes) for web, axes in checks.items()}


def _made_parts(made: MadePointer) -> dict[Part, cst.BaseExpression]:
    parts: dict[Part, cst.BaseExpression] = {"base": made.base}
    for name, expressions in (("shape", made.shape), ("stride", made.strides), ("at", made.offsets)):
        parts |= {(name, axis): expression for axis, expression in enumerate(expressions)}
    return parts
