"""Guesses about the kernels of five libraries, compared with what programs passed to them.

``compat capture`` recorded the launches. A JSON file for each library has what programs passed for
each parameter of each kernel (:class:`Launched`), as short texts:

=================================== ============================================================
``*bf16 /16``, ``*bf16``            a tensor, aligned or not
``i32 /16``, ``i32 =1``, ``i32``    a whole number: a multiple of 16, one, or neither
``fp32``, ``i1``, ``none``          a floating-point number, a boolean, ``None``
``constexpr 64``                    a constexpr, as JSON
=================================== ============================================================

The sources come from the package index. These files have only names of kernels and parameters from
them. ``python -m tests.guess.corpus`` writes the files.

The comparison has three questions about a parameter: its type, its value where it is a constexpr,
and its hint. A guess is

=============== ================================================================================
right           if a launch passed it
compatible      if a launch passed another width (``*fp32`` for ``*bf16``), another value of the
                same kind (64 for 128), or a number or tensor with a hint where the guess has none
wrong           in any other case
not guessed     if no kernel file has the kernel or the parameter
=============== ================================================================================

A parameter that was always ``None`` is not compared, and neither is the hint of a wrong type.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from compat.capturing.assembling import INDEX
from compat.config.kernel_files import load_kernels
from compat.config.toml import without_notes
from compat.guess import guess_sources
from compat.guess.finding import sources
from compat.model import arguments, constexprs
from compat.toolchains.language import GuessedKernel

FOLDER = Path(__file__).parent
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.json")))
"""The libraries, as the package index calls them."""
_CONSTEXPR, _NONE = "constexpr ", "none"
_MULTIPLE, _ONE = " /16", " =1"
_LIMIT = 1 << 31

RIGHT, COMPATIBLE, WRONG, MISSING = "right", "compatible", "wrong", "not guessed"
VERDICTS = (RIGHT, COMPATIBLE, WRONG, MISSING)
TYPE, VALUE, HINT = "types", "constexprs", "hints"
QUESTIONS = (TYPE, VALUE, HINT)

Passed = Mapping[str, tuple[str, ...]]
"""A parameter → everything that launches passed for it, as texts."""


@frozen(kw_only=True)
class Launched:
    """What programs passed to the kernels of one version of a library."""

    requirement: str
    captured: str
    """The releases and the target of the capture."""
    kernels: Mapping[str, Passed]
    """``module:function`` → its parameters."""

    @classmethod
    def read(cls, name: str) -> Launched:
        """Read the record of a library."""
        document = json.loads(Path(FOLDER, f"{name}.json").read_text(encoding="utf-8"))
        kernels = {
            kernel: {parameter: tuple(texts) for parameter, texts in passed.items()}
            for kernel, passed in document["kernels"].items()
        }
        return cls(requirement=document["library"], captured=document["captured"], kernels=kernels)

    @classmethod
    def captured_in(cls, folder: Path, requirement: str) -> Launched:
        """Read the launches from the kernel files of a capture."""
        index = json.loads(Path(folder, INDEX).read_text(encoding="utf-8"))
        kernels: dict[str, dict[str, dict[str, None]]] = {}
        for kernel in index["kernels"]:
            passed = kernels.setdefault(f"{kernel['module']}:{kernel['function']}", {})
            for spec in load_kernels([kernel["file"]], folder):
                argument_texts = {
                    name: _argument(value) for name, value in spec.compile.launch.items()
                }
                argument_texts |= {
                    name: _value(value) for name, value in spec.compile.constexprs.items()
                }
                for name, text in argument_texts.items():
                    passed.setdefault(name, {})[text] = None
        return cls(
            requirement=requirement,
            captured=f"Triton {index['release']}, PyTorch {index['torch']}, {index['target']}",
            kernels={
                name: {parameter: tuple(sorted(texts)) for parameter, texts in passed.items()}
                for name, passed in sorted(kernels.items())
            },
        )

    def text(self) -> str:
        """The record as JSON, with a line for each kernel."""
        head = {"library": self.requirement, "captured": self.captured}
        lines = [f"    {json.dumps(name)}: {json.dumps(p)}" for name, p in self.kernels.items()]
        keys = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
        return "\n".join(["{", *keys, '  "kernels": {', ",\n".join(lines), "  }", "}", ""])


def _argument(value: Any) -> str:
    """What a launch passes for a run-time parameter, as text."""
    if value is None:
        return _NONE
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        return _whole("i32" if -_LIMIT <= value < _LIMIT else "i64", value)
    if isinstance(value, float):
        return "fp32"
    if arguments.is_constant(value):
        return _value(value[arguments.CONSTANT])
    if isinstance(value, tuple):
        return "tuple"
    if arguments.is_descriptor(value):
        return "tensordesc"
    aligned = arguments.facts_of(value)[arguments.ALIGNED]
    return f"*{arguments.dtype_of(value)}{_MULTIPLE if aligned else ''}"


def _whole(kind: str, value: int) -> str:
    return kind + (_ONE if value == 1 else _MULTIPLE if value % 16 == 0 else "")


def _value(value: Any) -> str:
    return _CONSTEXPR + json.dumps(constexprs.plain(value), sort_keys=True)


# --- guesses --------------------------------------------------------------------------------------


def guessed(folder: Path, kernels: Sequence[str]) -> dict[str, dict[str, str]]:
    """Guess the first case of each kernel in the modules of these kernels, of an unpacked library.

    Other modules count as far as they call functions of these modules.
    """
    modules = {name.partition(":")[0] for name in kernels}
    files = {_file(folder, module): module for module in sorted(modules)}
    others = [path for path in sources(str(folder), folder) if path not in files]
    return {
        f"{files[source.path]}:{kernel.function}": _first_case(kernel)
        for source in guess_sources(list(files), others=others)
        for kernel in source.kernels
    }


def _file(folder: Path, module: str) -> Path:
    path = folder.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _first_case(kernel: GuessedKernel) -> dict[str, str]:
    """The arguments in the first case of a kernel file, as texts like those of launches."""
    tables = without_notes(dict(kernel.tables))
    (case, *_) = tables.get("case", [{}])
    types: Mapping[str, Any] = tables.get("signature", {})
    aligned = [name for name, kind in types.items() if str(kind).startswith("*")]
    hints = {"divisible_by_16": aligned} | tables.get("hints", {}) | case.get("hints", {})
    values = tables.get("constexprs", {}) | case.get("constexprs", {})
    return {
        **{name: _CONSTEXPR + json.dumps(value, sort_keys=True) for name, value in values.items()},
        **{name: _typed(name, str(kind), hints) for name, kind in types.items()},
    }


def _typed(name: str, kind: str, hints: Mapping[str, Sequence[str]]) -> str:
    if kind.startswith("tensordesc"):
        return "tensordesc"
    ends = {_ONE: "equal_to_1", _MULTIPLE: "divisible_by_16"}
    end = next((end for end, hint in ends.items() if name in hints.get(hint, ())), "")
    return kind.replace("*k", "*") + end


# --- comparisons ----------------------------------------------------------------------------------


@frozen(kw_only=True)
class Comparison:
    """The answer to one question about one parameter."""

    kernel: str
    parameter: str
    question: str
    verdict: str
    guess: str
    passed: tuple[str, ...]

    def __str__(self) -> str:
        passed = " | ".join(self.passed)
        return f"{self.kernel} {self.parameter}: {self.guess or 'nothing'}; launched {passed}"


@frozen(kw_only=True)
class Quality:
    """How well the kernels of a library were guessed."""

    launched: Launched
    guesses: Mapping[str, Mapping[str, str]]
    comparisons: tuple[Comparison, ...] = field(init=False)

    def __attrs_post_init__(self) -> None:
        compared = (
            comparison
            for kernel, passed in self.launched.kernels.items()
            for parameter, texts in passed.items()
            for comparison in _compared(kernel, parameter, self.guesses.get(kernel, {}), texts)
        )
        object.__setattr__(self, "comparisons", tuple(compared))

    @classmethod
    def of(cls, launched: Launched, folder: Path) -> Quality:
        """Guess the kernels of an unpacked library, and compare them with the launches."""
        return cls(launched=launched, guesses=guessed(folder, list(launched.kernels)))

    def text(self) -> str:
        """The counts as a table, and the parameters that are wrong or not guessed."""
        head = f"{self.launched.requirement}, {len(self.launched.kernels)} kernels"
        rows = [("", *VERDICTS), *self.rows()]
        table = ["".join(f"{cell:<12}" for cell in row).rstrip() for row in rows]
        return "\n".join([head, *table, *self.listed(WRONG, MISSING), ""])

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The counts for each question."""
        counts = Counter(
            (comparison.question, comparison.verdict) for comparison in self.comparisons
        )
        for question in QUESTIONS:
            numbers = [str(counts[question, verdict]) for verdict in VERDICTS]
            yield (question, *numbers)

    def listed(self, *verdicts: str) -> list[str]:
        """The parameters with these verdicts."""
        return [
            f"{comparison.question} {comparison.verdict}: {comparison}"
            for comparison in self.comparisons
            if comparison.verdict in verdicts
        ]


def _compared(
    kernel: str, parameter: str, guesses: Mapping[str, str], passed: tuple[str, ...]
) -> Iterator[Comparison]:
    """The comparisons for a parameter."""
    guess = guesses.get(parameter, "")
    is_value = all(text.startswith(_CONSTEXPR) for text in passed)
    texts = passed if is_value else tuple(text for text in passed if text != _NONE)
    if not texts:
        return

    def comparison(question: str, verdict: str) -> Comparison:
        return Comparison(
            kernel=kernel,
            parameter=parameter,
            question=question,
            verdict=verdict,
            guess=guess,
            passed=passed,
        )

    verdict = _verdict(guess, texts)
    yield comparison(VALUE if is_value else TYPE, verdict)
    alike = [text for text in texts if _class(text) == _class(guess)] if guess else []
    if _has_hints(guess) and alike:
        yield comparison(HINT, _hint_verdict(guess, alike))


def _verdict(guess: str, passed: Sequence[str]) -> str:
    if not guess:
        return MISSING
    types = {_type(text) for text in passed}
    if _type(guess) in types:
        return RIGHT
    return COMPATIBLE if _class(guess) in set(map(_class, passed)) else WRONG


def _hint_verdict(guess: str, passed: Sequence[str]) -> str:
    """Whether a launch has the hint of a guess.

    A guess without a hint says less than the launches, and is compatible.
    """
    hints = {text.partition(" ")[2] for text in passed}
    hint = guess.partition(" ")[2]
    return RIGHT if hint in hints else WRONG if hint else COMPATIBLE


def _has_hints(text: str) -> bool:
    return text.startswith(("*", "i32", "i64", "u32", "u64"))


def _type(text: str) -> str:
    return text if text.startswith(_CONSTEXPR) else text.partition(" ")[0]


def _class(text: str) -> str:
    """The class of a text, without width and value: ``*float``, ``whole``, ``constexpr int``."""
    if text.startswith(_CONSTEXPR):
        value = json.loads(text.removeprefix(_CONSTEXPR))
        return _CONSTEXPR + ("int" if isinstance(value, int) else _form(value))
    kind = _type(text)
    pointer, element = ("*", kind[1:]) if kind.startswith("*") else ("", kind)
    return pointer + (
        "float" if element.startswith(("fp", "bf")) else "whole" if element[0] in "iu" else element
    )


def _form(value: Any) -> str:
    return next(iter(value)) if isinstance(value, dict) else type(value).__name__
