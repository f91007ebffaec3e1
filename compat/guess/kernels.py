"""One kernel as a kernel file has it, with every guess marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import Factory, define, frozen

from compat.config.toml_writer import Noted
from compat.guess.facts import Facts
from compat.guess.jitted import JitFunction, Module, Parameter
from compat.guess.launches import Launch, launches_of
from compat.guess.literals import Config
from compat.guess.pure import Unknown
from compat.guess.types import Guess, Types
from compat.guess.uses import facts_of
from compat.guess.values import Values, broken_asserts, heuristic, is_value, mended, nominal, written
from compat.patterns import lazy_pattern

MOST_CASES = 64
"""Configs of a tuner that become cases."""
_OPTIONS = {"num_warps": "w", "num_stages": "s", "num_ctas": "c", "maxnreg": "r"}
_UNNAMEABLE = lazy_pattern(r"[^A-Za-z0-9_.+-]+")
_ROW_STRIDE = lazy_pattern(r"(?i).*stride.*")
_GROUP = lazy_pattern(r"(?i)^(?P<group>.*stride.*)(?P<last>[a-z]|\d)$")
_TUNER_SKIPS = {
    "status": "rejected",
    "class": "shared-memory",
    "strict": False,
    "reason": "A tuner skips configs that need more shared memory than the GPU has.",
}


@frozen(kw_only=True)
class GuessedKernel:
    """What a kernel file says of one kernel."""

    name: str
    function: str
    line: int
    tables: Mapping[str, Any]
    """Everything but its name and its source, for :func:`compat.config.toml_writer.toml_text`."""
    look_at: tuple[str, ...] = ()
    """What deserves a look, in a few words each."""
    cases: int = 1
    guesses: int = 0


@define
class _Case:
    name: str
    constexprs: dict[str, Any] = Factory(dict)
    options: dict[str, Any] = Factory(dict)


def guess_kernel(function: JitFunction, module: Module, name: str | None = None) -> GuessedKernel:
    """Everything that a kernel file has to say of a kernel, guessed from its source."""
    return _Guessing(function, module).kernel(name or function.name)


class _Guessing:
    """The guesses of one kernel while they are made."""

    def __init__(self, function: JitFunction, module: Module) -> None:
        self.function, self.module, self.scope = function, module, module.scope
        self.facts: Facts = facts_of(function, module)
        self.launches: Sequence[Launch] = launches_of(function, module)
        self.look_at: list[str] = []
        self.cases = self._configs()
        tuned = {name for case in self.cases for name in case.constexprs}
        parameters = [each for each in function.parameters if each.name not in tuned]
        chosen = [each for each in parameters if each.is_constexpr or each.name in function.heuristics]
        self.types = self._types([each for each in parameters if each not in chosen])
        values = Values(function=function, facts=self.facts, launches=self.launches, scope=self.scope)
        self.values = {each.name: values.of(each) for each in chosen}
        self._satisfy()
        self._compute(chosen)
        self._leave_out()
        for parameter, guess in {**self.types, **self.values}.items():
            if guess.look_at:
                self.look_at.append(f"{parameter}: {guess.look_at}")

    def kernel(self, name: str) -> GuessedKernel:
        """What was guessed."""
        guesses = [each for each in (*self.types.values(), *self.values.values()) if not each.exact]
        return GuessedKernel(
            name=name,
            function=self.function.name,
            line=self.function.node.lineno,
            tables=self._tables(),
            look_at=tuple(self.look_at),
            cases=max(1, len(self.cases)),
            guesses=len(guesses),
        )

    # --- cases ---

    def _configs(self) -> list[_Case]:
        """The configs of a tuner as cases; none where there is no tuner, or its configs do not follow from literals."""
        if self.function.configs is None:
            return []
        known, found = self.scope.try_value(self.function.configs)
        if not known or not isinstance(found, list | tuple) or not all(isinstance(each, Config) for each in found):
            self.look_at.append(f"its configs cannot be read from the source (line {self.function.configs.lineno})")
            return []
        names = {each.name for each in self.function.parameters}
        usable = [each for each in found if set(each.kwargs) <= names and all(map(is_value, each.kwargs.values()))]
        if len(usable) < len(found):
            self.look_at.append(
                f"{len(found) - len(usable)} of its {len(found)} configs name what is no parameter, and are left out"
            )
        cases = _distinct([_case(each) for each in usable])
        if len(cases) > MOST_CASES:
            self.look_at.append(f"only the first {MOST_CASES} of its {len(cases)} configs are cases")
        return cases[:MOST_CASES]

    def _leave_out(self) -> None:
        """Leave out the configs that the kernel's own assertions refuse."""
        base = self._values()
        refused = [each for each in self.cases if broken_asserts(self.facts.asserts, {**base, **each.constexprs}, self.scope)]
        if refused and len(refused) < len(self.cases):
            self.cases = [each for each in self.cases if each not in refused]
            self.look_at.append(f"{len(refused)} configs that its static_assert refuses are left out")

    def _values(self) -> dict[str, Any]:
        return {name: guess.value for name, guess in self.values.items()}

    def _satisfy(self) -> None:
        """Choose guessed values so that static assertions hold, in as many cases as possible."""
        free = [name for name, guess in self.values.items() if not guess.exact]
        for case in self.cases or [_Case("")]:
            values, changed = mended({**self._values(), **case.constexprs}, free, self.facts.asserts, self.scope)
            for name in changed:
                self.values[name] = Guess(values[name], "so that its static_assert holds")

    # --- arguments ---

    def _types(self, parameters: Sequence[Parameter]) -> dict[str, Guess]:
        types = Types(self.facts, self.launches, self.scope)
        return {each.name: types.of(each) for each in parameters}

    def _compute(self, chosen: Sequence[Parameter]) -> None:
        """Have heuristics compute what they can: for each case where they look at what differs by case."""
        given = {name: nominal(guess.value, name) for name, guess in self.types.items()}
        for name, node in self.function.heuristics.items():
            found = []
            for case in self.cases or [_Case("")]:
                try:
                    found.append(heuristic(node, {**given, **self._values(), **case.constexprs, **case.options}, self.scope))
                except Unknown:
                    break
            self._computed(name, found, node.lineno)

    def _computed(self, name: str, found: Sequence[Any], line: int) -> None:
        if len(found) < max(1, len(self.cases)):
            self.look_at.append(f"{name}: its heuristic (line {line}) cannot be computed here")
        elif name in self.values and all(repr(each) == repr(found[0]) for each in found):
            self.values[name] = Guess(found[0], "by its heuristic")
        elif name in self.values:
            self.values.pop(name)
            for case, value in zip(self.cases, found, strict=True):
                case.constexprs[name] = value

    # --- the document ---

    def _tables(self) -> dict[str, Any]:
        options = next((each.options for each in self.launches if each.options), {}) if not self.cases else {}
        tables: dict[str, Any] = {
            "signature": {name: _noted(guess) for name, guess in self.types.items()},
            "constexprs": {name: _noted(guess) for name, guess in self.values.items()},
            "hints": self._hints(),
            "options": {name: Noted(value, "as it is launched") for name, value in options.items()},
        }
        tables = {name: table for name, table in tables.items() if table}
        if self.cases:
            tables["case"] = [_written(case) for case in self.cases]
            tables["expect"] = [dict(_TUNER_SKIPS)]
        return tables

    def _hints(self) -> dict[str, Any]:
        """What a launch with contiguous tensors finds out: nothing is said where that is what is assumed anyway."""
        strides = [name for name, guess in self.types.items() if _ROW_STRIDE.match(name) and guess.value in ("i32", "i64")]
        inner = _innermost(strides)
        outer = [name for name in strides if name not in inner]
        if not strides:
            return {}
        pointers = [name for name, guess in self.types.items() if guess.value.startswith("*")]
        hints = {"divisible_by_16": Noted([*pointers, *outer], "guessed: aligned tensors with rows in multiples of 16")}
        return hints | ({"equal_to_1": Noted(inner, "guessed: contiguous tensors")} if inner else {})


def _innermost(strides: Sequence[str]) -> list[str]:
    """The last stride of each tensor that has several: ``stride_ak`` of ``stride_am, stride_ak``."""
    groups: dict[str, list[str]] = {}
    for name in strides:
        if match := _GROUP.match(name):
            groups.setdefault(match["group"], []).append(name)
    return [names[-1] for names in groups.values() if len(names) > 1]


def _noted(guess: Guess) -> Any:
    value = guess.value if isinstance(guess.value, Mapping) else written(guess.value)
    return Noted(value, guess.why if guess.exact else f"guessed: {guess.why}")


def _case(config: Config) -> _Case:
    parts = [f"{name}{_short(value)}" for name, value in config.kwargs.items()]
    parts += [f"{letter}{config.options[name]}" for name, letter in _OPTIONS.items() if name in config.options]
    options = {name: config.options[name] for name in _OPTIONS if isinstance(config.options.get(name), int)}
    if options.get("num_ctas") == 1:
        options.pop("num_ctas")
    return _Case("_".join(parts) or "default", dict(config.kwargs), options)


def _short(value: Any) -> str:
    text = (
        str(int(value))
        if isinstance(value, bool)
        else "-".join(map(str, value.values()))
        if isinstance(value, dict)
        else str(value)
    )
    return _UNNAMEABLE.sub("", text)


def _distinct(cases: Sequence[_Case]) -> list[_Case]:
    found: dict[str, _Case] = {}
    for case in cases:
        while case.name in found and repr(found[case.name]) != repr(case):
            case.name += "+"
        found[case.name] = case
    return list(found.values())


def _written(case: _Case) -> dict[str, Any]:
    tables = {"constexprs": {name: written(value) for name, value in case.constexprs.items()}, "options": dict(case.options)}
    return {"name": case.name, **{name: table for name, table in tables.items() if table}}
