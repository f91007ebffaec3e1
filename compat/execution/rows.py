"""Evidence as the store's rows hold it, and beside it what was read in it.

A row's evidence is raw facts. What was read in them (:mod:`compat.diagnosis.diagnose`) stands in columns of its own, with which
reader that was, only so that it need not be read again: another reader reads anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import cattrs
from attrs import Factory, evolve, frozen
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from compat import toolchains
from compat.diagnosis import diagnose
from compat.diagnosis.bounds import readable, within_bounds
from compat.execution.database import Row
from compat.json_text import read_json
from compat.model import SOURCE_STAGE, Diagnosis, Done, Evidence, Made

_CONVERTER = cattrs.Converter(omit_if_default=True, detailed_validation=False)
_OMIT = override(omit=True)
_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError, cattrs.BaseValidationError)
"""How a text is told of that has not the form of a row."""


def _as_is(*kinds: type) -> Callable[[Any, Any], Any]:
    """Takes a value of one of these types and no other: ``bool("false")`` is true."""

    def take(value: Any, _: Any) -> Any:
        if type(value) not in kinds:
            raise TypeError(f"{kinds[0].__name__} expected")
        return value

    return take


for _kinds in ((bool,), (int,), (float, int), (str,)):
    _CONVERTER.register_structure_hook(_kinds[0], _as_is(*_kinds))


def _done(values: Any, _: Any) -> tuple[Done, ...]:
    """By hand, and with pairs for what was made: every ok cell has it, and it takes a third of the time."""
    return tuple(
        Done(
            do=_text(do), made={_text(stage): _made(*facts) for stage, facts in made.items()}, requires=tuple(map(_text, requires))
        )
        for do, made, requires in values
    )


def _made(size: Any, digest: Any) -> Made:
    if type(size) is not int:
        raise TypeError("int expected")
    return Made(size=size, digest=_text(digest))


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError("str expected")
    return value


def _done_as_pairs(values: tuple[Done, ...]) -> list[Any]:
    return [(each.do, {stage: (made.size, made.digest) for stage, made in each.made.items()}, each.requires) for each in values]


_CONVERTER.register_unstructure_hook_func(lambda kind: kind == tuple[Done, ...], _done_as_pairs)
_CONVERTER.register_structure_hook_func(lambda kind: kind == tuple[Done, ...], _done)
_CONVERTER.register_unstructure_hook(
    Evidence,
    make_dict_unstructure_fn(Evidence, _CONVERTER, _cattrs_omit_if_default=True, stderr=_OMIT, diagnosis=_OMIT),
)
_CONVERTER.register_structure_hook(Evidence, make_dict_structure_fn(Evidence, _CONVERTER, stderr=_OMIT, diagnosis=_OMIT))


@frozen(kw_only=True)
class Reading:
    """What was read in the evidence of one attempt; empty of one that came out ok."""

    stderr: str = ""
    diagnosis: Diagnosis = Factory(Diagnosis)


def row_of(key: str, attempts: Sequence[Evidence]) -> Row:
    """The row for attempts that have been read by this reader."""
    text = json.dumps(_CONVERTER.unstructure(attempts, tuple[Evidence, ...]))
    if all(evidence.complete for evidence in attempts):
        return Row(key=key, attempts=text)
    readings = [Reading(stderr=evidence.stderr, diagnosis=evidence.diagnosis) for evidence in attempts]
    return Row(key=key, attempts=text, reader=diagnose.version(), readings=json.dumps(_CONVERTER.unstructure(readings)))


def attempts_of(row: Row) -> tuple[Evidence, ...]:
    """The raw evidence in a row; none in one that this version of the tool cannot read, or that no version has written."""
    try:
        read = _CONVERTER.structure(_renamed(read_json(row.attempts)), tuple[Evidence, ...])
    except _UNREADABLE:
        return ()
    return tuple(within_bounds(each) for each in read) if all(each.stage in toolchains.stages() for each in read) else ()


def _renamed(attempts: Any) -> Any:
    """Rows of earlier versions with the stage by its name: it was called ``import``."""
    for each in attempts if isinstance(attempts, list) else ():
        if isinstance(each, dict) and each.get("stage") == "import":
            each["stage"] = SOURCE_STAGE
        stages = each.get("stages") if isinstance(each, dict) else None
        if isinstance(stages, dict) and "import" in stages:
            each["stages"] = {SOURCE_STAGE if stage == "import" else stage: seconds for stage, seconds in stages.items()}
    return attempts


def as_read(row: Row, attempts: Sequence[Evidence]) -> tuple[Evidence, ...] | None:
    """The attempts of a row with what was read in them, by whichever reader; ``None`` where nobody has."""
    try:
        readings = _CONVERTER.structure(read_json(row.readings), list[Reading])
    except _UNREADABLE:
        return None
    if len(readings) != len(attempts):
        return None
    return tuple(
        evolve(evidence, stderr=readable(reading.stderr), diagnosis=reading.diagnosis)
        for evidence, reading in zip(attempts, readings, strict=True)
    )
