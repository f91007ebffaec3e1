"""One kernel in the form of a kernel file, with every guess marked.

Guesses come from a call in its source, or else from annotations, body and names.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping

from attrs import evolve, frozen

from compat.model.fields import CommentedValue
from compat.source.constants import PythonValue, SourceFunction
from compat.source.parsing import bound_names, defaults_of, dotted_name, named_parameters
from compat.text import lazy_pattern
from compat.toolchains.cute.language.guessing.assumptions import (
    PLAIN,
    annotation_text,
    assumed_kind,
    assumed_number,
    is_element_kind,
    whole_kind,
)
from compat.toolchains.cute.language.guessing.body import ArgumentUses, UsesReader, literals_of
from compat.toolchains.cute.language.guessing.evaluation import HostCall, has_unknown
from compat.toolchains.cute.language.guessing.library import strides_of
from compat.toolchains.cute.language.guessing.modules import CuteModule, Launcher
from compat.toolchains.cute.language.guessing.numbers import fitting_numbers
from compat.toolchains.cute.language.guessing.values import (
    UNKNOWN,
    ElementKind,
    NamedSize,
    Number,
    PointerValue,
    StreamValue,
    TensorValue,
    Unknown,
)
from compat.toolchains.cute.language.types import ELEMENTS
from compat.toolchains.language import GuessedKernel

_NUMBERS = {"int": "i32", "float": "fp32", "bool": "bool"}
"""Python's own annotations whose values are known only at run time."""
_USUAL_ALIGNMENT = 16
_TARGETS = {"warpgroup": "sm_90a", "tcgen05": "sm_100a"}
"""The module with operations that only one architecture has → the target that has them."""
_LETTERS = ("m", "n", "k", "l", "p", "q", "r", "s", "t", "u", "v", "w")
_ELEMENT = lazy_pattern(rf"\b({'|'.join(ELEMENTS)})\b")


@frozen
class _Guess:
    """The guess for one parameter."""

    value: PythonValue
    why: str
    is_constexpr: bool = False
    is_exact: bool = False
    is_whole_number: bool = False
    """Whether it is a number that only a name suggests."""
    look_at: str = ""


def guess_kernel(launcher: Launcher, module: CuteModule) -> GuessedKernel:
    """Return everything that a kernel file needs about a kernel, guessed from its source."""
    return _LauncherGuesses(launcher, module).kernel()


class _LauncherGuesses:
    """The guesses of one kernel while they are made."""

    def __init__(self, launcher: Launcher, module: CuteModule) -> None:
        self.launcher, self.module = launcher, module
        self.defaults = defaults_of(launcher.call.args)
        self.uses = UsesReader(
            others={node.name: node for node in module.jitted if node is not launcher.call},
            lines=module.path.read_text(encoding="utf-8", errors="replace").splitlines(),
        )
        self.names: dict[PythonValue, str] = {}
        """Sizes without a name of their own → the names that they get here."""
        self.call = self._best_call()
        self.passed = self._call_arguments()
        self.named = {
            size.name
            for value in self.passed.values()
            for size in _sizes_in(value)
            if isinstance(size, NamedSize)
        }
        self.constants: dict[str, object] = {}
        """The values that decide which branches are compiled, by name or as ``self.x``."""

    def kernel(self) -> GuessedKernel:
        """Return the guessed kernel."""
        constructor_guesses = _fit_numbers(
            {
                parameter.arg: guess
                for parameter in self._constructor()
                if (guess := self._constructor_guess(parameter))
            },
            self.launcher.kind or self.launcher.call,
        )
        self.constants = self._constants(constructor_guesses, self._call_guesses())
        call_guesses = self._call_guesses()
        both = [
            name
            for name in constructor_guesses
            if name in call_guesses and not call_guesses[name].is_constexpr
        ]
        constexprs = {
            name: guess
            for name, guess in {**call_guesses, **constructor_guesses}.items()
            if guess.is_constexpr and name not in both
        }
        tables = {
            "targets": self._targets(),
            "signature": {
                name: _commented_value(guess)
                for name, guess in call_guesses.items()
                if not guess.is_constexpr
            },
            "constexprs": {name: _commented_value(guess) for name, guess in constexprs.items()},
        }
        every = [*constructor_guesses.values(), *call_guesses.values()]
        look_at = [
            f"{name}: {guess.look_at}"
            for name, guess in {**constructor_guesses, **call_guesses}.items()
            if guess.look_at
        ]
        look_at += [
            f"{name}: the constructor and the call take it, and it can have only one value"
            for name in both
        ]
        return GuessedKernel(
            name=self.launcher.name,
            function=self.launcher.name,
            line=(self.launcher.kind or self.launcher.call).lineno,
            tables={name: table for name, table in tables.items() if table},
            roots=self.module.roots,
            look_at=tuple(look_at),
            guesses=sum(not guess.is_exact for guess in every),
        )

    def _call_guesses(self) -> dict[str, _Guess]:
        """Return the guess for each parameter of the call without a default that is used."""
        guesses = {
            parameter.arg: guess
            for parameter in self.launcher.parameters
            if (guess := self._call_guess(parameter))
        }
        return _fit_numbers(guesses, self.launcher.call)

    def _constants(
        self, constructor_guesses: Mapping[str, _Guess], call_guesses: Mapping[str, _Guess]
    ) -> dict[str, object]:
        """Return the guessed values of constexprs, and of the attributes that keep them."""
        constants = self._literals(call_guesses, self.defaults)
        if self.launcher.kind and self.launcher.constructor:
            defaults = defaults_of(self.launcher.constructor.args)
            values = self._literals(constructor_guesses, defaults)
            constants |= {
                f"self.{attribute}": values[name]
                for attribute, name in _kept(self.launcher.kind, self.launcher.constructor).items()
                if name in values
            }
        return constants

    def _literals(
        self, guesses: Mapping[str, _Guess], defaults: Mapping[str, ast.expr]
    ) -> dict[str, object]:
        """Return the numbers, texts and ``None`` among guessed constexprs and used defaults."""
        values = {name: self.module.scope.value(node) for name, node in defaults.items()}
        values |= {
            name: (None if guess.value == {"none": True} else guess.value)
            if guess.is_constexpr
            else UNKNOWN
            for name, guess in guesses.items()
        }
        return {
            name: value
            for name, value in values.items()
            if value is None or isinstance(value, bool | int | float | str)
        }

    def _targets(self) -> CommentedValue | None:
        """The target whose own operations the source uses.

        ``None`` if it uses operations of no target or of several.
        """
        modules = {
            node.attr if isinstance(node, ast.Attribute) else node.name.rpartition(".")[2]
            for node in ast.walk(self.module.tree)
            if isinstance(node, ast.Attribute | ast.alias)
        } & _TARGETS.keys()
        if len(modules) != 1:
            return None
        (module,) = modules
        return CommentedValue([_TARGETS[module]], f"the source uses {module}")

    # --- the call ---

    def _best_call(self) -> HostCall | None:
        """Return the call in host code with the most known values, or ``None`` without a call."""
        calls = [call for call in self.module.calls if call.kernel == self.launcher.name]
        return max(calls, key=_completeness, default=None)

    def _call_arguments(self) -> dict[str, object]:
        """Return parameter → the argument of the call."""
        if self.call is None:
            return {}
        names = [parameter.arg for parameter in self.launcher.parameters]
        return dict(zip(names, self.call.positional, strict=False)) | dict(self.call.keywords)

    def _why(self) -> str:
        assert self.call is not None
        assumed = ", of sizes that are assumed" if self.call.assumed else ""
        return f"as in line {self.call.line}{assumed}"

    def _is_exact(self) -> bool:
        return self.call is not None and not self.call.assumed

    # --- the constructor ---

    def _constructor(self) -> list[ast.arg]:
        constructor = self.launcher.constructor
        return named_parameters(constructor.args)[1:] if constructor else []

    def _constructor_guess(self, parameter: ast.arg) -> _Guess | None:
        """Return the guess for a parameter of a constructor, or ``None`` if its default is used."""
        assert self.launcher.constructor is not None
        value = (self.call.constructor_arguments if self.call else {}).get(parameter.arg, UNKNOWN)
        if _is_constant(value):
            return _Guess(_plain(value), self._why(), is_constexpr=True, is_exact=self._is_exact())
        if parameter.arg in defaults_of(self.launcher.constructor.args):
            return None
        return self._constexpr(parameter, self.launcher.kind or self.launcher.call)

    def _constexpr(self, parameter: ast.arg, around: ast.ClassDef | ast.FunctionDef) -> _Guess:
        """Return the guess for a constexpr."""
        return evolve(self._constexpr_value(parameter, around), is_constexpr=True)

    def _constexpr_value(
        self, parameter: ast.arg, around: ast.ClassDef | ast.FunctionDef
    ) -> _Guess:
        name, annotation = parameter.arg, annotation_text(parameter.annotation)
        literals = literals_of(name, around)
        if is_element_kind(name, annotation):
            return _Guess({"dtype": assumed_kind(name)}, "guessed by its name")
        if "bool" in annotation or name.startswith(("is_", "use_", "has_", "enable_")):
            return _Guess(False, "guessed")
        if annotation.lower().startswith(("tuple", "list")) or name.endswith(
            ("_mn", "_mnk", "_shape", "_tiler")
        ):
            return _Guess(_sizes_of_tuple(name, annotation), "guessed by its name")
        if literals and not isinstance(literals[0], int | float):
            return _Guess(literals[0], f"guessed: it is compared with {literals[0]!r}")
        if "str" in annotation:
            return _Guess("", "guessed", look_at="an unknown text")
        if "Optional" in annotation or "None" in annotation:
            return _Guess(None, "guessed")
        if "float" in annotation.lower() or name.endswith(("scale", "eps")):
            return _Guess(1.0, "guessed")
        if "Callable" in annotation or name.endswith(("_op", "_fn")):
            return _Guess(None, "guessed", look_at='a function, which { function = "name" } names')
        return _Guess(assumed_number(name), "guessed by its name", is_whole_number=True)

    # --- the arguments of the call ---

    def _call_guess(self, parameter: ast.arg) -> _Guess | None:
        """Return the guess for a parameter of the call, or ``None`` if its default is used."""
        name, annotation = parameter.arg, annotation_text(parameter.annotation)
        value = self.passed.get(name, UNKNOWN)
        is_constexpr = "Constexpr" in annotation
        if (
            guess := self._of_value(name, annotation, value, is_constexpr=is_constexpr)
        ) is not None:
            return (
                guess
                if not (guess.is_constexpr and guess.value is None and name in self.defaults)
                else None
            )
        if name in self.defaults:
            return None
        uses = self.uses.uses_of(name, self.launcher.call, self.constants)
        if is_constexpr or "Type[" in annotation or "type[" in annotation:
            return self._constexpr(parameter, self.launcher.call)
        return self._by_annotation(parameter, annotation, uses)

    def _by_annotation(self, parameter: ast.arg, annotation: str, uses: ArgumentUses) -> _Guess:
        """Return the guess for a parameter without a known argument and without a default."""
        name = parameter.arg
        if "CUstream" in annotation or name == "stream":
            return _Guess("stream", "", is_exact=True)
        if "Optional" in annotation or "None" in annotation:
            return _Guess(None, "guessed: it is optional", is_constexpr=True)
        if "Pointer" in annotation:
            return _Guess(f"ptr<{PLAIN}>", "guessed: what it points to")
        is_tuple = annotation.lower().startswith(("list[", "tuple["))
        if is_tuple and (kinds := self._kinds(name, parameter.annotation, uses)) is not None:
            return _Guess(kinds, "guessed by its annotation")
        if "Tensor" in annotation or (not annotation and uses.is_tensor):
            return self._tensor(name, uses)
        if element := _ELEMENT.search(annotation):
            return _Guess(ELEMENTS[element[1]], "", is_exact=True)
        if annotation in _NUMBERS:
            return _Guess(_NUMBERS[annotation], "", is_exact=True)
        if (kinds := self._kinds(name, parameter.annotation, uses)) is not None:
            return _Guess(kinds, "guessed by its annotation")
        if annotation:
            return _Guess(
                "i32",
                f"no type fits: write a function make_{name}(make) beside the kernel, and write"
                f" make_{name}() here",
                look_at=f"no type stands for {annotation}: write a function beside the kernel that"
                " makes it",
            )
        return _Guess("i32", "guessed: a number")

    def _kinds(self, name: str, annotation: ast.expr | None, uses: ArgumentUses) -> object:
        """Return the types of a tuple, by its annotation or the number of its parts.

        Returns ``None`` for anything else.
        """
        match annotation:
            case ast.Subscript(value=base, slice=inner) if dotted_name(base).lower().rpartition(
                "."
            )[2] in ("tuple", "list"):
                parts = inner.elts if isinstance(inner, ast.Tuple) else [inner, inner]
                kinds = [
                    self._kinds(name, part, ArgumentUses())
                    for part in parts
                    if not isinstance(part, ast.Constant)
                ]
                return kinds if kinds and all(kind is not None for kind in kinds) else None
        text = annotation_text(annotation)
        if "Tensor" in text:
            return self._tensor(name, ArgumentUses()).value
        if "Pointer" in text:
            return f"ptr<{PLAIN}>"
        if element := _ELEMENT.search(text):
            return ELEMENTS[element[1]]
        return _NUMBERS.get(text, ["i32"] * uses.parts if uses.parts else None)

    def _of_value(
        self, name: str, annotation: str, value: object, *, is_constexpr: bool
    ) -> _Guess | None:
        """Return the guess from the argument of a call in the source, or ``None`` if unknown."""
        if isinstance(value, Unknown):
            return None
        why, is_exact = self._why(), self._is_exact()
        if (
            value is None
            or isinstance(value, ElementKind | str)
            or (is_constexpr and _is_constant(value))
        ):
            return _Guess(_plain(value), why, is_constexpr=True, is_exact=is_exact)
        if (
            isinstance(value, SourceFunction)
            and (word := getattr(value.node, "name", "")) in self.module.scope.module
        ):
            return _Guess({"function": word}, why, is_constexpr=True, is_exact=is_exact)
        if (kind := self._kind(name, annotation, value)) is None:
            return None
        return _Guess(kind, why, is_exact=is_exact and not has_unknown(value))

    def _kind(self, name: str, annotation: str, value: object) -> PythonValue:
        """Return the type of a value in kernel files, or ``None`` if it has none."""
        if isinstance(value, TensorValue):
            return self._type_of(name, value) if value.shape else None
        if isinstance(value, PointerValue):
            alignment = value.alignment or _bytes(value.element)
            return f"ptr<{value.element or PLAIN}>{_alignment_suffix(alignment)}"
        if isinstance(value, StreamValue):
            return "stream"
        if isinstance(value, Number):
            return value.element
        if isinstance(value, bool | int | float):
            element = _ELEMENT.search(annotation)
            return ELEMENTS[element[1]] if element else _NUMBERS.get(type(value).__name__, "i32")
        if isinstance(value, tuple | list) and value:
            kinds = [self._kind(name, "", part) for part in value]
            return kinds if all(kind is not None for kind in kinds) else None
        return None

    # --- tensors ---

    def _type_of(self, name: str, tensor: TensorValue) -> str:
        """Return the type of a tensor that the source makes."""
        modes = range(len(tensor.shape))
        fixed = [int(size) if isinstance(size, int) else 0 for size in tensor.shape]
        dynamic = {
            mode: tensor.dynamic.get(mode, 1)
            for mode in modes
            if mode in tensor.dynamic or not fixed[mode]
        }
        sizes = [self._size(name, mode, tensor, dynamic) for mode in modes]
        element = tensor.element or PLAIN
        alignment = _alignment_suffix(tensor.alignment or _bytes(element))
        text = f"{element}[{', '.join(sizes)}]"
        usual = [*(mode for mode in modes if mode != tensor.leading), tensor.leading]
        if tensor.strided and len(sizes) > 1:
            # The other strides are multiples of the leading size.
            number = max(tensor.stride_divisor, tensor.dynamic.get(tensor.leading, 1))
            divisor = f"%{number}" if number > 1 else ""
            strides_said = (
                "1" if mode == tensor.leading else f"s{mode}{divisor}" for mode in modes
            )
            return f"{text}:[{', '.join(strides_said)}]{alignment}"
        if tensor.order == list(modes):
            return f"{text}{alignment}"
        if tensor.order == usual:
            return f"{text} leading={tensor.leading}{alignment}"
        if dynamic:
            names = ("1" if mode == tensor.leading else f"s{mode}" for mode in modes)
            return f"{text}:[{', '.join(names)}]{alignment}"
        return f"{text}:[{', '.join(map(str, strides_of(tensor)))}]{alignment}"

    def _size(self, name: str, mode: int, tensor: TensorValue, dynamic: Mapping[int, int]) -> str:
        size = tensor.shape[mode]
        if mode not in dynamic:
            return str(int(size))
        if isinstance(size, NamedSize):
            word = size.name
        else:
            key = (
                int(size)
                if isinstance(size, int)
                else (name, mode)
                if isinstance(size, Unknown)
                else id(size)
            )
            free = (
                letter
                for letter in _LETTERS
                if letter not in self.named and letter not in self.names.values()
            )
            word = self.names.setdefault(key, next(free, f"n{len(self.names)}"))
        return f"{word}%{dynamic[mode]}" if dynamic[mode] > 1 else word

    def _tensor(self, name: str, uses: ArgumentUses) -> _Guess:
        """Return the guess for a tensor that no code in the source makes."""
        modes = uses.modes or (1 if uses.is_indexed else self._usual_modes())
        element = (
            "fp32"
            if "lse" in name.lower() or name.lower().endswith(("stats", "rstd", "mean"))
            else PLAIN
        )
        element = whole_kind(name) or element
        sizes = [
            word if word.isidentifier() or word.isdigit() else f"n{mode}"
            for mode, word in enumerate(uses.sizes)
        ]
        if len(sizes) != modes or len(set(sizes)) != modes:
            sizes = list(_LETTERS[:modes])
        divisor = max(1, _USUAL_ALIGNMENT // _bytes(element))
        last = sizes[-1] if sizes[-1].isdigit() or divisor == 1 else f"{sizes[-1]}%{divisor}"
        why = (
            "guessed: its elements"
            if uses.modes
            else "guessed: its elements, and how many modes it has"
        )
        return _Guess(f"{element}[{', '.join([*sizes[:-1], last])}]", why)

    def _usual_modes(self) -> int:
        """Return the largest known number of modes of this kernel's tensors, or 2 if unknown."""
        uses = (
            self.uses.uses_of(parameter.arg, self.launcher.call, self.constants)
            for parameter in self.launcher.parameters
        )
        return max((use.modes for use in uses if use.exact), default=2)


def _kept(kind: ast.ClassDef, constructor: ast.FunctionDef) -> dict[str, str]:
    """Return attribute → the parameter of the constructor that it always is."""
    nodes = {id(node): node for part in (kind, constructor) for node in ast.walk(part)}.values()
    stores = Counter(
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    )
    changed = bound_names(constructor.body)
    return {
        target.attr: value.id
        for statement in constructor.body
        for target, value in _stored(statement)
        if isinstance(target, ast.Attribute)
        and isinstance(value, ast.Name)
        and stores[target.attr] == 1
        and value.id not in changed
    }


def _stored(statement: ast.stmt) -> list[tuple[ast.expr, ast.expr | None]]:
    """Return the targets of an assignment, each with its value."""
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            return [*zip(targets, values, strict=False)]
        case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=value):
            return [(target, value)]
    return []


def _fit_numbers(
    guesses: Mapping[str, _Guess], around: ast.ClassDef | ast.FunctionDef
) -> dict[str, _Guess]:
    """Return the guesses with whole numbers that fit together."""
    names = [name for name, guess in guesses.items() if guess.is_whole_number]
    constants = {
        name: guess.value
        for name, guess in guesses.items()
        if guess.is_constexpr and not guess.is_whole_number
    }
    numbers = fitting_numbers(names, constants, around) if names else {}
    return {
        name: guess
        if numbers.get(name, guess.value) == guess.value
        else evolve(guess, value=numbers[name], why="guessed: it fits what the source asks of it")
        for name, guess in guesses.items()
    }


def _sizes_in(value: object) -> list[object]:
    if isinstance(value, TensorValue):
        return value.shape
    return (
        [size for part in value for size in _sizes_in(part)]
        if isinstance(value, tuple | list)
        else []
    )


def _completeness(call: HostCall) -> int:
    return sum((not isinstance(value, Unknown)) + (not has_unknown(value)) for value in call.values)


def _is_constant(value: object) -> bool:
    """Whether a value can stand in a kernel file."""
    if isinstance(value, tuple | list):
        return all(map(_is_constant, value))
    return value is None or isinstance(value, bool | int | float | str | ElementKind)


def _plain(value: object) -> PythonValue:
    """Return a value in the form of kernel files, before it is written."""
    if isinstance(value, ElementKind):
        return {"dtype": value.name}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if value is None:
        return {"none": True}
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _commented_value(guess: _Guess) -> PythonValue:
    value = {"none": True} if guess.value is None else guess.value
    return CommentedValue(value, guess.why) if guess.why else value


def _sizes_of_tuple(name: str, annotation: str) -> list[int]:
    letters = next((len(end) for end in ("mnk", "mn") if name.endswith(end)), 0)
    count = letters or (annotation.count("int") if "..." not in annotation else 0) or 2
    if "cluster" in name:
        return [1] * count
    if "warp" in name or "atom" in name:
        return [2, 2, 1][:count]
    return [128, 128, 64, 1][:count]


def _bytes(element: str | None) -> int:
    return max(1, ElementKind(element or PLAIN).width // 8)


def _alignment_suffix(alignment: int) -> str:
    return "" if alignment == _USUAL_ALIGNMENT else f" align={alignment}"
