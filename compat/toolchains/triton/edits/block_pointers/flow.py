"""Webs: definitions of a block pointer's variable that meet at a use, and share new variables.

A variable that is used for two block pointers, one after the other, has two webs. This is a flow
analysis over structured code. The definitions that reach a statement follow from the statements
before it, and at the head of a loop also from the end of the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

import libcst as cst
from attrs import Factory, define, field

from compat.toolchains.language import CannotEdit
from compat.toolchains.triton.edits.block_pointers.normal_form import MadePointer, Reader, is_placed
from compat.toolchains.triton.edits.code import dotted_name, literal, walk

_T = TypeVar("_T")
_State = dict[str, set["Definition"]]
"""Variable → the definitions that it may hold."""


@define(eq=False, kw_only=True)
class Definition:
    """An assignment of a block pointer to a variable."""

    variable: str
    made: MadePointer | None = None
    source: str | None = None
    """The variable that it is copied or advanced from."""
    offsets: tuple[cst.BaseExpression, ...] = ()
    """The offsets of the advance."""
    placed: bool = False
    """Whether the offsets are the new position, with ``None`` for an axis that keeps its position.
    """
    in_loop: bool = False
    web: Web = field(init=False)
    source_web: Web | None = None

    def moves(self, axis: int) -> bool:
        """Whether its offset along an axis differs from that of its source."""
        by = self.offsets[axis : axis + 1]
        return bool(by) and (dotted_name(by[0]) != "None" if self.placed else literal(by[0]) != 0)

    @property
    def is_moved(self) -> bool:
        """Whether its offset along any axis differs from that of its source."""
        return any(map(self.moves, range(len(self.offsets))))


@define(eq=False, kw_only=True)
class Web:
    """Definitions of a variable that meet at a use."""

    variable: str
    definitions: list[Definition]
    name: str = ""
    """The base of the names of new variables."""

    @property
    def made_pointer(self) -> MadePointer:
        """Return the arguments that first made the block pointer.

        They show what all its definitions agree on. Raises CannotEdit if nothing made it.
        """
        for definition in self.history():
            if definition.made is not None:
                return definition.made
        raise CannotEdit(f"the origin of {self.variable} is unknown")

    def history(self) -> Iterator[Definition]:
        """Yield its definitions, and those of the webs that it is copied or advanced from."""
        seen, waiting = set[Web](), [self]
        while waiting:
            web = waiting.pop()
            if web not in seen:
                seen.add(web)
                yield from web.definitions
                waiting += [
                    definition.source_web
                    for definition in web.definitions
                    if definition.source_web is not None
                ]


@define(eq=False)
class Flow:
    """The webs of one function, in the normal form."""

    reader: Reader
    function: cst.FunctionDef
    definitions: dict[cst.CSTNode, Definition] = Factory(dict)
    """Statement → the definition that it is."""
    uses: dict[cst.CSTNode, set[Definition]] = Factory(dict)
    """Loads and stores (calls), ``p.dtype`` (attributes), and passed or returned values (names) →
    the definitions that reach them.
    """
    webs: list[Web] = Factory(list)
    _sources: dict[Definition, set[Definition]] = Factory(dict)
    _loops: int = 0

    def __attrs_post_init__(self) -> None:
        self._block(self.function.body, {})
        self._join()

    def web_of(self, use: cst.CSTNode) -> Web:
        """Return the web of a use."""
        return next(iter(self.uses[use])).web

    @property
    def escaping_pointers(self) -> list[cst.Name]:
        """The block pointers that are passed to another function or returned."""
        return [use for use in self.uses if isinstance(use, cst.Name)]

    # --- through the statements ---

    def _block(self, suite: cst.BaseSuite, state: _State) -> _State:
        for statement in suite.body:
            state = self._statement(statement, state)
        return state

    def _statement(self, node: cst.CSTNode, state: _State) -> _State:
        if isinstance(node, cst.SimpleStatementLine | cst.BaseSmallStatement):
            return self._simple(node, state)
        if isinstance(node, cst.If):
            self._uses(node.test, state)
            return _merge_states(
                self._block(node.body, state),
                self._statement(node.orelse, state) if node.orelse else state,
            )
        if isinstance(node, cst.For | cst.While):
            return self._loop(node, state)
        if isinstance(node, cst.Else | cst.With):
            return self._block(node.body, state)
        self._refuse_in(node)
        return state

    def _loop(self, node: cst.For | cst.While, state: _State) -> _State:
        self._uses(node.iter if isinstance(node, cst.For) else node.test, state)
        self._loops += 1
        while (after := _merge_states(state, self._block(node.body, state))) != state:
            state = after
        self._loops -= 1
        return state

    def _simple(self, node: cst.CSTNode, state: _State) -> _State:
        definition = self._definition(node, state)
        if definition is not None:
            return {**state, definition.variable: {definition}}
        others = _plainly_assigned(node)
        self._uses(node, state, but=others)
        names = {name.value for name in others}
        return {name: reaching for name, reaching in state.items() if name not in names}

    def _definition(self, node: cst.CSTNode, state: _State) -> Definition | None:
        small = (
            node.body[0]
            if isinstance(node, cst.SimpleStatementLine) and len(node.body) == 1
            else None
        )
        target = small.targets[0].target if isinstance(small, cst.Assign) else None
        if (
            not isinstance(small, cst.Assign)
            or not isinstance(target, cst.Name)
            or not self.reader.gives_pointer(small.value)
        ):
            return None
        if isinstance(small.value, cst.Name) and not state.get(small.value.value):
            return None  # the name holds something else here
        if node not in self.definitions:
            self.definitions[node] = self._read(target.value, small.value)
        definition = self.definitions[node]
        if definition.source is not None:
            if not state.get(definition.source):
                raise CannotEdit(f"the origin of {definition.source} is unknown")
            self._sources.setdefault(definition, set()).update(state[definition.source])
        return definition

    def _read(self, variable: str, value: cst.BaseExpression) -> Definition:
        in_loop = self._loops > 0
        if isinstance(value, cst.Name):
            return Definition(variable=variable, source=value.value, in_loop=in_loop)
        assert isinstance(value, cst.Call)
        self._refuse_in(*[arg.value for arg in value.args if not self.reader.is_pointer(arg.value)])
        if self.reader.makes(value):
            return Definition(variable=variable, made=MadePointer.of(value), in_loop=in_loop)
        source, offsets = self.reader.base_and_offsets(value)
        return Definition(
            variable=variable,
            source=source,
            offsets=offsets,
            placed=is_placed(value),
            in_loop=in_loop,
        )

    def _uses(self, node: cst.CSTNode, state: _State, but: Iterable[cst.Name] = ()) -> None:
        """Record the uses in an expression or statement.

        Raises CannotEdit for any other use of a block pointer.
        """
        nodes = list(walk(node))
        skipped = {id(name) for name in but}
        skipped |= {id(inner.keyword) for inner in nodes if isinstance(inner, cst.Arg)}
        skipped |= {id(inner.attr) for inner in nodes if isinstance(inner, cst.Attribute)}
        for inner in nodes:
            for use, pointer in self.reader.pointer_uses(inner):
                if self._holds(pointer, state):
                    self.uses.setdefault(use, set()).update(state[pointer.value])  # type: ignore[attr-defined]
                    skipped.add(id(pointer))
                elif use is pointer:
                    raise CannotEdit(
                        "one call passes a function a block pointer, and another call passes"
                        " something else"
                    )
        for inner in nodes:
            if id(inner) not in skipped and self._holds(inner, state):
                name = inner.value  # type: ignore[attr-defined]
                raise CannotEdit(
                    f"the block pointer {name} is used for more than loads, stores and advances"
                )

    def _holds(self, node: cst.CSTNode, state: _State) -> bool:
        """Whether a node is a variable that may hold a block pointer here."""
        return isinstance(node, cst.Name) and bool(state.get(node.value))

    def _refuse_in(self, *nodes: cst.CSTNode) -> None:
        if any(self.reader.is_pointer(inner) for node in nodes for inner in walk(node)):
            raise CannotEdit("a block pointer is used in an unknown kind of statement")

    # --- joining ---

    def _join(self) -> None:
        definitions = list(self.definitions.values())
        meeting = [{definition} for definition in definitions] + list(self.uses.values())
        for definition, reaching in self._sources.items():
            meeting.append(
                reaching | {definition} if definition.source == definition.variable else reaching
            )
        for group in sorted(
            merge_overlapping(meeting), key=lambda group: min(map(definitions.index, group))
        ):
            ordered = sorted(group, key=definitions.index)
            self.webs.append(Web(variable=ordered[0].variable, definitions=ordered))
            for definition in ordered:
                definition.web = self.webs[-1]
        for definition, reaching in self._sources.items():
            definition.source_web = next(iter(reaching)).web
        self._name_webs()

    def _name_webs(self) -> None:
        """Name the webs.

        A variable never holds two of its webs at the same time. Webs of a variable with the same
        block share a name. The names of other webs have a number.
        """
        names: dict[str, list[tuple[str, ...]]] = {}
        for web in self.webs:
            earlier, block = (
                names.setdefault(web.variable, []),
                tuple(map(self.reader.code.code_for, web.made_pointer.block)),
            )
            if block not in earlier:
                earlier.append(block)
            number = earlier.index(block)
            web.name = f"{web.variable}_{number + 1}" if number else web.variable


def merge_overlapping(groups: Iterable[set[_T]]) -> list[set[_T]]:
    """Return the groups, with those that have common elements merged."""
    apart: list[set[_T]] = []
    for group in groups:
        meeting = [other for other in apart if other & group]
        apart = [other for other in apart if not other & group] + [group.union(*meeting)]
    return apart


def _plainly_assigned(node: cst.CSTNode) -> list[cst.Name]:
    """Return the names that a statement assigns, for a statement that assigns no block pointer."""
    smalls = node.body if isinstance(node, cst.SimpleStatementLine) else [node]
    targets = [
        target.target
        for small in smalls
        if isinstance(small, cst.Assign)
        for target in small.targets
    ]
    return [name for target in targets for name in walk(target) if isinstance(name, cst.Name)]


def _merge_states(one: _State, other: _State) -> _State:
    return {name: one.get(name, set()) | other.get(name, set()) for name in {**one, **other}}
