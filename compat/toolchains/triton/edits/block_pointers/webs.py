"""Which definitions of a block pointer's variable meet at a use: together they are one *web*, and get the same new variables.

A variable that is used for two block pointers, one after the other, has two webs. That is a flow analysis over structured code:
what reaches a statement is known from what stands before it, and at the head of a loop from what its end leaves, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import libcst as cst
from attrs import Factory, define, field

from compat.toolchains.language import CannotEdit
from compat.toolchains.triton.edits.block_pointers.normal import MadePointer, Reader
from compat.toolchains.triton.edits.code import walk

ACCESS = ("load", "store")
_State = dict[str, frozenset[int]]
"""Variable → the definitions of it that may be in it."""


@define(eq=False, kw_only=True)
class Definition:
    """An assignment of a block pointer to a variable."""

    statement: cst.SimpleStatementLine
    variable: str
    made: MadePointer | None = None
    source: str | None = None
    """The variable that it is copied or advanced from."""
    offsets: tuple[cst.BaseExpression, ...] = ()
    """By which it is advanced."""
    placed: bool = False
    """The offsets are where it is then; ``None`` for an axis along which it stays where it was."""
    in_loop: bool = False
    web: Web = field(init=False)
    source_web: Web | None = None


@define(eq=False, kw_only=True)
class Web:
    """Definitions of a variable that meet."""

    variable: str
    name: str
    """What new variables are named after."""
    definitions: list[Definition]
    uses: list[cst.Call] = Factory(list)
    """Loads and stores."""

    @property
    def made(self) -> MadePointer:
        """How it was made first: what all definitions agree on can be read here. Raises CannotEdit where nothing made it."""
        for definition in self.history():
            if definition.made is not None:
                return definition.made
        raise CannotEdit(f"it is not known where {self.variable} comes from")

    def history(self) -> Iterator[Definition]:
        """Its definitions, and those of the webs that it is copied or advanced from."""
        seen, waiting = set[int](), [self]
        while waiting:
            web = waiting.pop()
            if id(web) not in seen:
                seen.add(id(web))
                yield from web.definitions
                waiting += [definition.source_web for definition in web.definitions if definition.source_web is not None]


@define(eq=False)
class Flow:
    """The webs of one function, in the normal form."""

    reader: Reader
    function: cst.FunctionDef
    definitions: list[Definition] = field(factory=list)
    use_of: dict[cst.Call, frozenset[int]] = field(factory=dict)
    """Load or store → the definitions that reach it."""
    attributes: dict[cst.Attribute, frozenset[int]] = field(factory=dict)
    """``p.dtype`` → the definitions that reach it."""
    handed: dict[cst.Name, frozenset[int]] = field(factory=dict)
    """What is handed to another function, or returned → the definitions that reach it."""
    _sources: dict[int, frozenset[int]] = field(factory=dict)
    _numbers: dict[cst.CSTNode, int] = field(factory=dict)
    webs: list[Web] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self._block(self.function.body, {}, in_loop=False)
        self._join()

    def definition_at(self, statement: cst.CSTNode) -> Definition | None:
        """The definition that a statement is."""
        number = self._numbers.get(statement)
        return None if number is None else self.definitions[number]

    def web_of(self, use: cst.CSTNode) -> Web:
        """The web of a load, a store, a question for the dtype, or what is handed over."""
        reaching = self.use_of.get(use) or self.attributes.get(use) or self.handed[use]  # type: ignore[call-overload,index]
        return self.definitions[min(reaching)].web

    # --- through the statements ---

    def _block(self, suite: cst.BaseSuite, state: _State, *, in_loop: bool) -> _State:
        for statement in suite.body:
            state = self._statement(statement, state, in_loop=in_loop)
        return state

    def _statement(self, node: cst.CSTNode, state: _State, *, in_loop: bool) -> _State:
        if isinstance(node, cst.SimpleStatementLine | cst.BaseSmallStatement):
            return self._simple(node, state, in_loop=in_loop)
        if isinstance(node, cst.If):
            self._uses(node.test, state)
            state_after = self._block(node.body, state, in_loop=in_loop)
            return _merged(state_after, self._statement(node.orelse, state, in_loop=in_loop) if node.orelse else state)
        if isinstance(node, cst.Else):
            return self._block(node.body, state, in_loop=in_loop)
        if isinstance(node, cst.For | cst.While):
            return self._loop(node, state)
        if isinstance(node, cst.With):
            return self._block(node.body, state, in_loop=in_loop)
        self._refuse_in(node)
        return state

    def _loop(self, node: cst.For | cst.While, state: _State) -> _State:
        self._uses(node.iter if isinstance(node, cst.For) else node.test, state)
        while True:
            after = _merged(state, self._block(node.body, state, in_loop=True))
            if after == state:
                return after
            state = after

    def _simple(self, node: cst.CSTNode, state: _State, *, in_loop: bool) -> _State:
        defined = self._definition(node, state, in_loop=in_loop)
        if defined is None:
            others = _plainly_assigned(node)
            self._uses(node, state, but=others)
            return {name: reaching for name, reaching in state.items() if name not in {other.value for other in others}}
        return {**state, self.definitions[defined].variable: frozenset({defined})}

    def _definition(self, node: cst.CSTNode, state: _State, *, in_loop: bool) -> int | None:
        small = node.body[0] if isinstance(node, cst.SimpleStatementLine) and len(node.body) == 1 else None
        if not isinstance(small, cst.Assign) or not self.reader.gives_pointer(small.value):
            return None
        if isinstance(small.value, cst.Name) and not state.get(small.value.value):
            return None  # something else has that name here
        target = small.targets[0].target
        assert isinstance(target, cst.Name), "the normal form"
        if node not in self._numbers:
            self._numbers[node] = len(self.definitions)
            assert isinstance(node, cst.SimpleStatementLine)
            self.definitions.append(self._read(node, target.value, small.value, in_loop=in_loop))
        number = self._numbers[node]
        source = self.definitions[number].source
        if source is not None:
            self._sources[number] = self._reaching(source, state) | self._sources.get(number, frozenset())
        return number

    def _read(self, node: cst.SimpleStatementLine, variable: str, value: cst.BaseExpression, *, in_loop: bool) -> Definition:
        if isinstance(value, cst.Name):
            return Definition(statement=node, variable=variable, source=value.value, in_loop=in_loop)
        assert isinstance(value, cst.Call)
        self._refuse_in(*[arg.value for arg in value.args if not self.reader.is_pointer(arg.value)])
        if self.reader.makes(value):
            return Definition(statement=node, variable=variable, made=MadePointer.of(value), in_loop=in_loop)
        moved = self.reader.moved(value)
        return Definition(
            statement=node,
            variable=variable,
            source=moved.pointer,
            offsets=moved.offsets,
            placed=moved.placed,
            in_loop=in_loop,
        )

    def _uses(self, node: cst.CSTNode, state: _State, but: Sequence[cst.Name] = ()) -> None:
        """Note the loads, stores and questions in an expression or statement, and refuse all else."""
        skipped = set(map(id, but))
        for inner in walk(node):
            if isinstance(inner, cst.Call) and (name := self._accessed(inner)) is not None and self._holds(name, state):
                self.use_of[inner] = self._reaching(name.value, state) | self.use_of.get(inner, frozenset())
                skipped.add(id(name))
            elif isinstance(inner, cst.Attribute) and self.reader.is_pointer(inner.value) and inner.attr.value == "dtype":
                assert isinstance(inner.value, cst.Name)
                if not self._holds(inner.value, state):
                    continue
                self.attributes[inner] = self._reaching(inner.value.value, state) | self.attributes.get(inner, frozenset())
                skipped.add(id(inner.value))
            for value in self.reader.hands(inner):
                if not isinstance(value, cst.Name) or not self.reader.is_pointer(value) or not self._holds(value, state):
                    raise CannotEdit("a function is given a block pointer by one call, and something else by another")
                self.handed[value] = self._reaching(value.value, state) | self.handed.get(value, frozenset())
                skipped.add(id(value))
        names = {id(inner.keyword) for inner in walk(node) if isinstance(inner, cst.Arg)}
        names |= {id(inner.attr) for inner in walk(node) if isinstance(inner, cst.Attribute)}
        for inner in walk(node):
            if (
                isinstance(inner, cst.Name)
                and self.reader.is_pointer(inner)
                and id(inner) not in skipped | names
                and self._holds(inner, state)
            ):
                raise CannotEdit(f"the block pointer {inner.value} is used for something else than loads, stores and advances")

    def _holds(self, name: cst.Name, state: _State) -> bool:
        return bool(state.get(name.value))

    def _accessed(self, call: cst.Call) -> cst.Name | None:
        """The variable of the block pointer that a call loads from or stores to."""
        if self.reader.code.language.called(call) not in ACCESS or not call.args:
            return None
        named = [arg for arg in call.args if arg.keyword and arg.keyword.value == "pointer"]
        first = (named or [arg for arg in call.args if not arg.keyword] or call.args)[0].value
        return first if isinstance(first, cst.Name) and self.reader.is_pointer(first) else None

    def _reaching(self, variable: str, state: _State) -> frozenset[int]:
        definitions = state.get(variable, frozenset())
        if not definitions:
            raise CannotEdit(f"it is not known where {variable} comes from")
        return definitions

    def _refuse_in(self, *nodes: cst.CSTNode) -> None:
        for node in nodes:
            if any(self.reader.is_pointer(inner) for inner in walk(node)):
                raise CannotEdit("a block pointer is used in a kind of statement that is not known")

    # --- together ---

    def _join(self) -> None:
        leader = list(range(len(self.definitions)))

        def find(number: int) -> int:
            while leader[number] != number:
                number = leader[number]
            return number

        def unite(numbers: Iterable[int]) -> None:
            roots = sorted(map(find, numbers))
            for root in roots[1:]:
                leader[root] = roots[0]

        for reaching in (*self.use_of.values(), *self.attributes.values(), *self.handed.values()):
            unite(reaching)
        for number, reaching in self._sources.items():
            definition = self.definitions[number]
            unite([*reaching, number] if definition.source == definition.variable else reaching)
        webs: dict[int, Web] = {}
        for number, definition in enumerate(self.definitions):
            web = webs.setdefault(find(number), Web(variable=definition.variable, name="", definitions=[]))
            web.definitions.append(definition)
            definition.web = web
        for number, reaching in self._sources.items():
            self.definitions[number].source_web = self.definitions[min(reaching)].web
        for use, reaching in self.use_of.items():
            self.definitions[min(reaching)].web.uses.append(use)
        self.webs += webs.values()
        self._name_webs()

    def _name_webs(self) -> None:
        """Webs of one variable are never in it at once: those with the same block share their names, others have a number."""
        names: dict[str, list[tuple[str, ...]]] = {}
        for web in self.webs:
            earlier, block = names.setdefault(web.variable, []), tuple(map(self.reader.code.code_for, web.made.block))
            if block not in earlier:
                earlier.append(block)
            number = earlier.index(block)
            web.name = f"{web.variable}_{number + 1}" if number else web.variable


def _plainly_assigned(node: cst.CSTNode) -> list[cst.Name]:
    """The names that a statement gives values which are no block pointers."""
    smalls = node.body if isinstance(node, cst.SimpleStatementLine) else [node]
    targets = [target.target for small in smalls if isinstance(small, cst.Assign) for target in small.targets]
    return [name for target in targets for name in walk(target) if isinstance(name, cst.Name)]


def _merged(one: _State, other: _State) -> _State:
    return {name: one.get(name, frozenset()) | other.get(name, frozenset()) for name in {**one, **other}}
