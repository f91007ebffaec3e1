"""The content of a kernel file for one kernel, with every guess marked."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from attrs import Factory, define, evolve, field

from compat.model import ONLY_CASE, constexprs
from compat.model.fields import CommentedValue
from compat.source.constants import PythonValue, PythonValues, SourceFunction, UnknownValue
from compat.text import amount, join_words, lazy_pattern
from compat.toolchains.language import GuessedKernel
from compat.toolchains.triton.language.guessing.arguments import (
    UNKNOWN_FLOAT,
    Guess,
    Types,
    Values,
    broken_asserts,
    heuristic,
    is_value,
    mend_guesses,
)
from compat.toolchains.triton.language.guessing.body import KernelBody
from compat.toolchains.triton.language.guessing.evaluation import (
    SIZE,
    AssumedQuotient,
    AssumedSize,
    OpaqueArgument,
    PassedDescriptor,
    TunerConfig,
    size_by_name,
)
from compat.toolchains.triton.language.guessing.facts import RANDOM, KernelFacts, ValueOrigin
from compat.toolchains.triton.language.guessing.launches import SourceLaunch, launches_of
from compat.toolchains.triton.language.guessing.modules import (
    JitFunction,
    JitModule,
    JitParameter,
    names_in,
    scopes_at,
)
from compat.toolchains.triton.language.script import option_parameters

MOST_CASES = 64
"""The most cases of a kernel, from the configs of a tuner and with odd sizes."""
_SMALLER = (256, 64)
"""The assumed sizes for kernels whose blocks are as long as the sizes and would be too large
otherwise.
"""
_LARGE_BLOCK = 1 << 14
"""The number of elements of a block that launches seldom exceed."""
_MANY_PASSES = 64
"""The number of passes of an unrolled loop that launches seldom exceed."""
_ODD_CASE = (
    "guessed: sizes that are not multiples of 16; pipelining and shared memory depend on them"
)
_WHOLE = frozenset(f"{letter}{bits}" for letter in "iu" for bits in (8, 16, 32, 64))
_OPTIONS = {"num_warps": "w", "num_stages": "s", "num_ctas": "c", "maxnreg": "r"}
_UNNAMEABLE = lazy_pattern(r"[^A-Za-z0-9_.+-]+")
_SIDE = lazy_pattern(r"(?i)(block|blk|tile)(_?size)?_?[a-z]*\d?|b[a-z]{1,2}")
"""Names of the lengths of blocks. The name of a case joins their values: ``128x256x64``."""
_STRIDE = lazy_pattern(r"(?i).*stride.*|s(tr)?_[^_]+_.+")
_NO_SIZE = lazy_pattern(r"(?i).*(seed|offset|start|begin|end|idx|index|step|pos)s?$")
"""Names of whole numbers that are not sizes and whose values stay unknown."""
_GROUPS = (
    lazy_pattern(r"(?i)(?P<group>.*stride.*_)([a-z]|\d)"),
    lazy_pattern(r"(?i)(?P<group>s(tr|tride)?_[^_]+)_.+"),
    lazy_pattern(r"(?i)(?P<group>.*stride.*)([a-z]|\d)"),
)
"""Names of the strides of one tensor: ``stride_q_batch``, ``str_q_B``; ``stride_am``."""
_BLOCK = lazy_pattern(r"\[.*?\]")
_WIDTH = lazy_pattern(r"[iu](8|16|32|64)$")
_TUNER_SKIPS = {
    "status": "rejected",
    "class": "shared-memory",
    "strict": False,
    "reason": "A tuner skips configs that need more shared memory than the GPU has.",
}


@define
class _Case:
    name: str
    constexprs: PythonValues = Factory(dict)
    options: PythonValues = Factory(dict)
    hints: PythonValues = Factory(dict)
    """The hints, if they differ from those of the kernel."""
    signature: PythonValues = Factory(dict)
    """The types that differ from those of the kernel."""
    hook: SourceFunction | None = field(default=None, repr=False)
    """The function that a tuner calls before the launch."""


def guess_kernel(
    function: JitFunction, module: JitModule, launching: Sequence[JitModule]
) -> GuessedKernel:
    """Guess everything that a kernel file states about a kernel from the kernel's source.

    ``launching`` are the modules that may launch it.
    """
    body = KernelBody(function, module)
    guessing = _Guessing(body, launching)
    for usual in _SMALLER:
        if guessing.excess <= 1:
            break
        smaller = _Guessing(body, launching, usual)
        guessing = smaller if smaller.excess < guessing.excess else guessing
    return guessing.kernel()


class _Guessing:
    """The guesses for one kernel while they are made.

    They assume one launch, with tensors whose sizes are mostly ``usual``.
    """

    def __init__(self, body: KernelBody, launching: Sequence[JitModule], usual: int = SIZE) -> None:
        self.body, self.launching, self.usual = body, launching, usual
        self.function, self.module = body.function, body.module
        self.scope, *self.other_scopes = scopes_at(self.function.node.lineno, self.module)
        self.facts = body.facts
        self.look_at: list[str] = []
        self.cases = self._configs()
        tuned = {name for case in self.cases for name in case.constexprs}
        parameters = [
            parameter for parameter in self.function.parameters if parameter.name not in tuned
        ]
        chosen = [
            parameter
            for parameter in parameters
            if parameter.is_constexpr or parameter.name in self.function.heuristics
        ]
        self.launches = self._launches(chosen)
        self.options = self._options()
        run_time = [parameter for parameter in parameters if parameter not in chosen]
        self.types = self._types(run_time, self.facts)
        self.numbers = self._numbers()
        values = self._values_of(self.launches)
        self.values = {parameter.name: values.of(parameter) for parameter in chosen}
        self._bind()
        self._satisfy()
        self._compute()
        self._refine_types(run_time)
        self._leave_out()
        self._shape_descriptors()
        for parameter, guess in {**self.types, **self.values}.items():
            if guess.look_at:
                self.look_at.append(f"{parameter}: {guess.look_at}")

    def kernel(self) -> GuessedKernel:
        """Return the guessed kernel."""
        guesses = [
            guess for guess in (*self.types.values(), *self.values.values()) if not guess.exact
        ]
        odd = self._odd_cases()
        room = MOST_CASES - max(1, len(self.cases))
        if len(odd) > room:
            self.look_at.append(
                f"only {room} of its {len(odd)} cases are tried with odd sizes, too"
            )
            odd = odd[:room]
        return GuessedKernel(
            name=self.function.kernel_name,
            function=self.function.name,
            line=self.function.node.lineno,
            tables=self._tables(odd),
            look_at=tuple(self.look_at),
            cases=max(1, len(self.cases)) + len(odd),
            guesses=len(guesses),
        )

    @property
    def excess(self) -> float:
        """Return the factor by which blocks or unrolled loops exceed the usual.

        It compares the elements of blocks, and the passes of loops, and is the larger of both
        factors.
        """
        numbers = {
            name: guess.value for name, guess in self.values.items() if type(guess.value) is int
        }
        sides = sorted(number for name, number in numbers.items() if name in self.facts.spans)
        passes = max(
            (number for name, number in numbers.items() if name in self.facts.unrolled_parameters),
            default=0,
        )
        elements = math.prod(sides[-2:] if self.facts.blocks > 1 else sides[-1:])
        return max(elements / _LARGE_BLOCK, passes / _MANY_PASSES)

    # --- the launch ---

    def _values_of(self, launches: Sequence[SourceLaunch]) -> Values:
        return Values(
            function=self.function,
            facts=self.facts,
            launches=launches,
            scope=self.scope,
            other_scopes=self.other_scopes,
        )

    def _launches(self, chosen: Sequence[JitParameter]) -> Sequence[SourceLaunch]:
        """Return the launches in the project, with sizes of tensors that fit the kernel's blocks.

        Constexprs that are sizes decide these sizes.
        """
        launches = self._launches_with({})
        sizes: dict[str, int] = {}
        for parameter in self.function.parameters:
            size = next(
                (
                    launch.values[parameter.name]
                    for launch in launches
                    if parameter.name in launch.values
                ),
                None,
            )
            if not isinstance(size, AssumedSize):
                continue
            if parameter not in chosen:
                sizes.setdefault(
                    size.key,
                    int(size) if size.is_named else size_by_name(parameter.name, self.usual),
                )
            elif (
                type((guess := self._values_of(()).of(parameter)).value) is int
                and guess.value > 0
                and not guess.look_at
            ):
                sizes[size.key] = guess.value
        return self._launches_with(sizes) if sizes else launches

    def _launches_with(self, sizes: Mapping[str, int]) -> Sequence[SourceLaunch]:
        return launches_of(
            self.function, self.module, self.launching, self.facts.pointers, sizes, self.usual
        )

    def _options(self) -> PythonValues:
        """Return the options of the launch whose values the constexprs have.

        A tuner also passes the stages that a config leaves out. For AMD GPUs the compiler's default
        is another number.
        """
        if any("num_stages" not in case.options for case in self.cases):
            stages = TunerConfig({}, {}).all_options["num_stages"]
            return {"num_stages": CommentedValue(stages, "as a tuner passes it from 3.3.0 on")}
        if self.cases or not self.launches:
            return {}
        launch = self.launches[0]
        if unknown := launch.unknown_options:
            kept = "its value" if len(unknown) == 1 else "their values"
            self.look_at.append(
                f"{join_words(unknown)}: {kept} in the launch ({launch.place}) cannot be read;"
                " defaults are taken"
            )
        options = launch.options
        return {name: CommentedValue(value, "as it is launched") for name, value in options.items()}

    def _numbers(self) -> dict[str, int]:
        """Return the known or assumed numbers that the launch passes for whole numbers."""
        integers = [
            parameter
            for parameter in self.function.parameters
            if parameter.name in self.types and self.types[parameter.name].value in _WHOLE
        ]
        strides = [parameter.name for parameter in integers if _STRIDE.match(parameter.name)]
        numbers = {
            parameter.name: self._number(parameter, _innermost(strides)) for parameter in integers
        }
        return {name: number for name, number in numbers.items() if number is not None}

    def _number(self, parameter: JitParameter, innermost: Collection[str]) -> int | None:
        name = parameter.name
        for value in self._passed(parameter):
            if isinstance(value, AssumedQuotient):
                return None  # no hint is likely
            if isinstance(value, int) and not isinstance(value, bool):
                return int(value)
        if _STRIDE.match(name):
            return 1 if name in innermost else self.usual
        kind = self.facts.kinds.get(ValueOrigin(name))
        if kind is None or kind.why == RANDOM or _NO_SIZE.fullmatch(name):
            return None
        return size_by_name(name, self.usual)

    def _passed(self, parameter: JitParameter) -> list[object]:
        """Return what launches pass for a parameter as far as it is known, then its default."""
        name = parameter.name
        passed = [launch.values[name] for launch in self.launches if name in launch.values]
        return [*passed, self.scope.try_value(parameter.default)[1]]

    # --- cases ---

    def _configs(self) -> list[_Case]:
        """Return the configs of a tuner as cases.

        The result is empty without a tuner, or if its configs do not follow from literals.
        """
        if self.function.configs is None:
            return []
        imported = self.module.imported_values(names_in(self.function.configs))
        is_known, configs = self.scope.inside(imported).try_value(self.function.configs)
        if (
            not is_known
            or not isinstance(configs, list | tuple)
            or not all(isinstance(config, TunerConfig) for config in configs)
        ):
            self.look_at.append(
                f"its configs cannot be read from the source (line {self.function.configs.lineno})"
            )
            return []
        names = {parameter.name for parameter in self.function.parameters}
        usable = [
            config
            for config in configs
            if set(config.kwargs) <= names and all(map(is_value, config.kwargs.values()))
        ]
        if len(usable) < len(configs):
            self.look_at.append(
                f"left out: {len(configs) - len(usable)} of its {len(configs)} configs, with an"
                " unknown parameter or value"
            )
        named = _distinguishing_names(usable)
        usable = [evolve(config, kwargs=_passed(config, names)) for config in usable]
        cases = _distinct([_case(config, named) for config in usable])
        if len(cases) > MOST_CASES:
            self.look_at.append(
                f"only the first {MOST_CASES} of its {len(cases)} configs are cases"
            )
        return cases[:MOST_CASES]

    def _leave_out(self) -> None:
        """Leave out the configs that the kernel's own assertions refuse."""
        base = self._values()
        asserts = self.body.compiled_facts(base).asserts
        refused = [
            case
            for case in self.cases
            if broken_asserts(asserts, {**base, **case.constexprs}, self.scope)
        ]
        if refused and len(refused) < len(self.cases):
            self.cases = [case for case in self.cases if case not in refused]
            self.look_at.append(
                f"left out: {amount(len(refused), 'config')}, which its static_assert refuses"
            )

    def _shape_descriptors(self) -> None:
        """Choose the block shapes of descriptors that no launch shows, for each case."""
        guesses = dict(self.types)
        for number, case in enumerate(self.cases or [_Case(ONLY_CASE)]):
            by_hook = self._blocks_by_hook(case)
            for name, guess in guesses.items():
                blocked = by_hook.get(name) or self._block_by_offsets(name, guess, case)
                if not blocked:
                    continue
                block, why, doubt = blocked
                kind = _BLOCK.sub(str([*block]), guess.value, count=1)
                if not number:
                    self.types[name] = Guess(kind, why, doubt)
                elif kind != self.types[name].value:
                    case.signature[name] = kind

    def _blocks_by_hook(self, case: _Case) -> dict[str, tuple[Sequence[int], str, str]]:
        """Return descriptor → its block, the reason and a doubt, from the hook of a config."""
        if case.hook is None:
            return {}
        descriptors = {
            name: PassedDescriptor()
            for name, guess in self.types.items()
            if guess.value.startswith("tensordesc")
        }
        passed = self._arguments() | self._values() | case.constexprs | case.options | descriptors
        with suppress(UnknownValue):
            self.scope.apply(case.hook, [passed], {})
        return {
            name: (
                descriptor.block,
                "its block is what the hook of the config sets",
                _without_shape(self.types[name].look_at),
            )
            for name, descriptor in descriptors.items()
            if len(descriptor.block) == self.facts.descriptors.get(name)
        }

    def _block_by_offsets(
        self, name: str, guess: Guess, case: _Case
    ) -> tuple[Sequence[int], str, str] | None:
        """Return the block of a descriptor, the reason and a doubt: the sides of its offsets.

        An offset such as ``pid * BLOCK`` is that of blocks with this side.
        """
        names = self.facts.descriptor_sides.get(name, ())
        values = self._values() | case.constexprs
        if "block shape" not in guess.look_at or not any(names):
            return None
        sides = [values.get(side) if side else None for side in names]
        block = [side if type(side) is int and side > 0 else 64 for side in sides]
        why = f"its offsets are multiples of {', '.join(dict.fromkeys(filter(None, names)))}"
        return block, why, guess.look_at if block != sides else _without_shape(guess.look_at)

    def _values(self) -> PythonValues:
        return {name: guess.value for name, guess in self.values.items()}

    def _bind(self) -> None:
        """Choose guessed flags so that the variables that the kernel uses have values."""
        values = self._values() | next((case.constexprs for case in self.cases), {})
        unbound = self.body.compiled_facts(values).unbound
        flags = [name for name, guess in self.values.items() if isinstance(guess.value, bool)]
        for name in flags:
            if not unbound or self.values[name].exact:
                continue
            changed = values | {name: not values[name]}
            still = self.body.compiled_facts(changed).unbound
            if len(still) < len(unbound):
                why = f"so that {', '.join(sorted(unbound - still))} has a value"
                self.values[name] = Guess(changed[name], why)
                values, unbound = changed, still

    def _satisfy(self) -> None:
        """Choose guessed values so that the kernel compiles, in as many cases as possible."""
        free = [name for name, guess in self.values.items() if not guess.exact]
        cases = [case.constexprs for case in self.cases] or [{}]
        anywhere = [*self.facts.asserts, *self.facts.lengths]
        if not any(broken_asserts(anywhere, self._values() | case, self.scope) for case in cases):
            return
        compiled = self.body.compiled_facts(self._values())
        asserts = compiled.asserts
        for conditions, why in (
            (asserts, "so that its static_assert holds"),
            ([*asserts, *compiled.lengths], "so that the length of a block is a power of two"),
        ):
            for case in cases:
                values, changed = mend_guesses(self._values() | case, free, conditions, self.scope)
                for name in changed:
                    self.values[name] = Guess(values[name], why)

    # --- arguments ---

    def _types(self, parameters: Sequence[JitParameter], facts: KernelFacts) -> dict[str, Guess]:
        types = Types(
            [parameter.name for parameter in parameters], facts, self.launches, self.scope
        )
        return {parameter.name: types.of(parameter) for parameter in parameters}

    def _refine_types(self, parameters: Sequence[JitParameter]) -> None:
        """Take the types of run-time arguments from the code that is compiled, if it shows them."""
        compiled = self.body.compiled_facts(self._values())
        for name, guess in self._types(parameters, compiled).items():
            is_evident = compiled.has_evidence_of(name) and guess.why != UNKNOWN_FLOAT
            # Other branches may show more about the width of whole numbers.
            if is_evident and _without_width(guess) != _without_width(self.types[name]):
                self.types[name] = guess
        self.numbers = self._numbers()

    def _compute(self) -> None:
        """Compute values of heuristics as far as possible.

        They are computed for each case if they depend on values that differ by case.
        """
        self.look_at += [
            f"its heuristics cannot be read from the source (line {line})"
            for line in self.function.unread_heuristics
        ]
        arguments = self._arguments()
        for name, node in self.function.heuristics.items():
            scope = self.scope.inside(self.module.imported_values(names_in(node)))
            computed = []
            for case in self.cases or [_Case("")]:
                try:
                    computed.append(
                        heuristic(
                            node,
                            {**arguments, **self._values(), **case.constexprs, **case.options},
                            scope,
                        )
                    )
                except UnknownValue:
                    break
            self._note_heuristic(name, computed, node.lineno)

    def _arguments(self) -> PythonValues:
        """Return the run-time arguments that functions of a tuner get."""
        return {
            parameter.name: self._argument(parameter, self.types[parameter.name].value)
            for parameter in self.function.parameters
            if parameter.name in self.types
        }

    def _argument(self, parameter: JitParameter, kind: str) -> object:
        """Return the value that a function of a tuner gets for a run-time argument."""
        if kind.startswith(("*", "tensordesc")):
            return OpaqueArgument(parameter.name)
        if kind in _WHOLE:
            return self.numbers.get(parameter.name, self.usual)
        passed = (value for value in self._passed(parameter) if isinstance(value, int | float))
        return next(passed, 1.0)

    def _note_heuristic(self, name: str, values: Sequence[object], line: int) -> None:
        if len(values) < max(1, len(self.cases)):
            self.look_at.append(f"{name}: its heuristic (line {line}) cannot be computed here")
        elif name in self.values and all(repr(value) == repr(values[0]) for value in values):
            self.values[name] = Guess(values[0], "by its heuristic")
        elif name in self.values:
            self.values.pop(name)
            for case, value in zip(self.cases, values, strict=True):
                case.constexprs[name] = value
        elif name in _OPTIONS and not self.cases:
            self.options[name] = CommentedValue(values[0], "guessed: by its heuristic")
        elif name in _OPTIONS:
            for case, value in zip(self.cases, values, strict=True):
                case.options[name] = value

    # --- the document ---

    def _tables(self, odd: Sequence[_Case]) -> dict[str, object]:
        tables: dict[str, object] = {
            "signature": {name: self._type(name, guess) for name, guess in self.types.items()},
            "constexprs": {name: _annotate_guess(guess) for name, guess in self.values.items()},
            "hints": self._hints(),
            "options": self.options,
        }
        tables = {name: table for name, table in tables.items() if table}
        if self.cases or odd:
            tables["case"] = [
                _case_table(case) for case in (*(self.cases or [_Case(ONLY_CASE)]), *odd)
            ]
        if self.cases:
            tables["expect"] = [dict(_TUNER_SKIPS)]
            tuned = dict.fromkeys(name for case in self.cases for name in case.constexprs)
            tables |= {"tune": {"constexprs": {name: [] for name in tuned}}} if tuned else {}
        return tables

    def _type(self, name: str, guess: Guess) -> PythonValue:
        noted = _annotate_guess(guess)
        return (
            CommentedValue(noted.value, f"{noted.note}; taken as {self.numbers[name]}")
            if name in self.numbers
            else noted
        )

    def _hints(self) -> PythonValues:
        """Return the hints that the launch implies; none if they are those assumed by default."""
        multiples = [name for name, number in self.numbers.items() if number % 16 == 0]
        ones = [name for name, number in self.numbers.items() if number == 1]
        if not multiples and not ones:
            return {}
        pointers = [name for name, guess in self.types.items() if guess.value.startswith("*")]
        hints = {
            "divisible_by_16": CommentedValue(
                [*pointers, *multiples],
                "guessed: aligned tensors, and the numbers assumed above",
            )
        }
        return hints | (
            {"equal_to_1": CommentedValue(ones, "guessed: numbers that are taken as 1 above")}
            if ones
            else {}
        )

    def _odd_cases(self) -> list[_Case]:
        """Return each case once more with sizes that are not multiples of 16.

        They are for kernels with a ``tl.dot`` in a loop, because compilers load ahead there.
        """
        if not self.facts.pipelined:
            return []
        odd = _Guessing(self.body, self.launching, self.usual - 1)
        pointers = [name for name, guess in self.types.items() if guess.value.startswith("*")]
        own, hints = (
            {"divisible_by_16": pointers, "equal_to_1": []}
            | {name: list(noted.value) for name, noted in guessing._hints().items()}
            for guessing in (self, odd)
        )
        order = tuple(parameter.name for parameter in self.function.parameters)
        unspecialized = option_parameters(self.function.node, "do_not_specialize", order)
        if all({*own[kind]} ^ {*hints[kind]} <= unspecialized for kind in own):
            return []
        values = {
            name: guess.value
            for name, guess in odd.values.items()
            if repr(guess.value) != repr(self.values[name].value)
        }
        others = {case.name: case for case in odd.cases or [_Case(ONLY_CASE)]}
        return [
            evolve(
                case,
                name=f"{case.name}_odd",
                constexprs=values | others[case.name].constexprs,
                hints=hints,
            )
            for case in self.cases or [_Case(ONLY_CASE)]
            if case.name in others
        ]


def _without_shape(doubt: str) -> str:
    """Return the doubt about a descriptor whose block shape is known."""
    return "its layout" if "layout" in doubt else ""


def _without_width(guess: Guess) -> str:
    return _WIDTH.sub("", str(guess.value))


def _innermost(strides: Sequence[str]) -> list[str]:
    """Return the last stride of each tensor that has several.

    This is ``stride_ak`` for ``stride_am, stride_ak``.
    """
    groups: dict[str, list[str]] = {}
    for name in strides:
        if match := next(filter(None, (pattern.fullmatch(name) for pattern in _GROUPS)), None):
            groups.setdefault(match["group"], []).append(name)
    return [names[-1] for names in groups.values() if len(names) > 1]


def _annotate_guess(guess: Guess) -> PythonValue:
    value = guess.value if isinstance(guess.value, Mapping) else constexprs.plain(guess.value)
    return CommentedValue(value, guess.why if guess.exact else f"guessed: {guess.why}")


def _passed(config: TunerConfig, parameters: Collection[str]) -> PythonValues:
    """Return the values that a config passes for parameters; some have the names of options."""
    options = config.all_options.items()
    own = {name: value for name, value in options if name in parameters and value is not None}
    return {**config.kwargs, **own}


def _distinguishing_names(configs: Sequence[TunerConfig]) -> frozenset[str]:
    """Return the names of values that differ between configs, and of the sides of their blocks.

    The name of a case contains these values.
    """
    names = dict.fromkeys(name for config in configs for name in config.kwargs)
    return frozenset(
        name
        for name in names
        if len({repr(config.kwargs.get(name)) for config in configs}) > 1 or _SIDE.fullmatch(name)
    )


def _case(config: TunerConfig, named: Collection[str]) -> _Case:
    sides = [
        name
        for name, value in config.kwargs.items()
        if _SIDE.fullmatch(name) and type(value) is int
    ]
    parts = ["x".join(str(config.kwargs[name]) for name in sides)] if len(sides) > 1 else []
    others = [name for name in config.kwargs if name in named and not (parts and name in sides)]
    parts += [f"{name}{_short(config.kwargs[name])}" for name in others]
    parts += [
        f"{letter}{config.options[name]}"
        for name, letter in _OPTIONS.items()
        if name in config.options
    ]
    options = {
        name: config.options[name] for name in _OPTIONS if isinstance(config.options.get(name), int)
    }
    if options.get("num_ctas") == 1:
        options.pop("num_ctas")
    return _Case("_".join(parts) or ONLY_CASE, dict(config.kwargs), options, hook=config.hook)


def _short(value: object) -> str:
    text = (
        str(int(value))
        if isinstance(value, bool)
        else "-".join(map(str, value.values()))
        if isinstance(value, dict)
        else str(value)
    )
    return _UNNAMEABLE.sub("", text)


def _distinct(cases: Sequence[_Case]) -> list[_Case]:
    by_name: dict[str, _Case] = {}
    for case in cases:
        while case.name in by_name and repr(by_name[case.name]) != repr(case):
            case.name += "+"
        by_name[case.name] = case
    return list(by_name.values())


def _case_table(case: _Case) -> PythonValues:
    tables = {
        "signature": case.signature,
        "constexprs": {name: constexprs.plain(value) for name, value in case.constexprs.items()},
        "options": dict(case.options),
        "hints": case.hints,
    }
    name = CommentedValue(case.name, _ODD_CASE) if case.hints else case.name
    return {"name": name, **{name: table for name, table in tables.items() if table}}
