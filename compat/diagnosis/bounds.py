"""How much is read of what others say of an attempt, and in which form.

Compilers print hundreds of megabytes, exceptions quote whole programs, and a kernel file can make the worker say anything. What is
looked through for signs has a greatest length and a greatest width, so that reading takes a time that grows with neither; of what
is longer the beginning and the end count, where the first error and the last words are. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import evolve

from compat.model import Done, Evidence, Made, Noticed, Raised, StoodIn
from compat.text import lazy_pattern, printable

TEXT = 64 * 1024
"""Characters of a message, or of what one attempt printed."""
WIDTH = 4096
"""Characters of one line: an MLIR operation with its types fits, and no pattern that stays on a line gets far."""
LINKS = 32
"""Exceptions of one chain."""
_NAME = 200
"""Characters of the name of an exception, a stage or a metric."""
_WORDS = 2000
"""Characters of a warning, and of a metric that is a text."""
_FRAMES = 8 * 1024
"""Characters of a traceback."""
_PATHS = 1000
"""Files that were imported."""
_MANY = 100
"""Warnings, stages, metrics."""
_LARGEST = 1 << 63
_DIGEST = 16
_HEXADECIMAL = lazy_pattern(r"[0-9a-f]{64}")
_NOTE = 64
"""Characters that the note on what was left out may take."""


def bounded(text: str, limit: int) -> str:
    """At most ``limit`` characters of ``text``: whole lines from its beginning and its end, and how much is left out between."""
    if len(text) <= limit:
        return text
    half = max(1, (limit - _NOTE) // 2)
    head, tail = text[:half], text[-half:]
    head = head[: head.rfind("\n") + 1] or f"{head}\n"
    first = tail.find("\n") + 1
    tail = tail[first:] if first < len(tail) else tail
    return f"{head}[… {len(text) - half - half:,} characters left out …]\n{tail}"


def narrowed(text: str, width: int) -> str:
    """``text`` with every line that has more than ``width`` characters cut in its middle."""
    if len(text) <= width:
        return text
    lines = text.split("\n")
    if max(map(len, lines)) <= width:
        return text
    half = (width - _NOTE) // 2
    return "\n".join(
        line if len(line) <= width else f"{line[:half]}[… {len(line) - 2 * half:,} characters left out …]{line[-half:]}"
        for line in lines
    )


def readable(text: str, limit: int = TEXT) -> str:
    """``text`` within both bounds."""
    return narrowed(bounded(text, limit), WIDTH)


def within_bounds(evidence: Evidence) -> Evidence:
    """Evidence as it may be kept and looked through; the same object where it was so already."""
    read: dict[str, Any] = {
        "raised": chain(evidence.raised),
        "imported": paths(list(evidence.imported)),
        "asked": evidence.asked[:_MANY],
        "done": evidence.done[:_MANY],
        "printed": bounded(evidence.printed, TEXT),
        "stderr": readable(evidence.stderr),
        "warnings": tuple(_noticed(warning) for warning in evidence.warnings[:_MANY]),
        "metrics": metrics(evidence.metrics),
        "stages": stages(evidence.stages),
    }
    changed = {name: value for name, value in read.items() if value != getattr(evidence, name)}
    return evolve(evidence, **changed) if changed else evidence


def chain(links: Sequence[Raised]) -> tuple[Raised, ...]:
    """A chain of exceptions; of a longer one than :data:`LINKS` the outermost and the innermost."""
    kept = links if len(links) <= LINKS else (*links[: LINKS // 2], *links[-LINKS // 2 :])
    return tuple(_link(each) for each in kept)


def _link(raised: Raised) -> Raised:
    return evolve(
        raised, type=raised.type[-_NAME:], message=readable(raised.message), traceback=readable(raised.traceback, _FRAMES)
    )


def metrics(data: object) -> dict[str, Any]:
    """Those of the metrics that are numbers, texts or truth values, or one table of them each."""
    return {name: _of_table(value) if isinstance(value, Mapping) else value for name, value in _items(data) if _is_metric(value)}


def stages(data: object) -> dict[str, float]:
    """Stage → seconds, where that is a number."""
    return {name: float(value) for name, value in _items(data) if _is_number(value)}


def done(data: object) -> tuple[Done, ...] | None:
    """The actions that an answer says were done; ``None`` where it does not say so in the form of an answer."""
    if not isinstance(data, list) or len(data) > _MANY:
        return None
    found = [_done(each) for each in data]
    return None if None in found else tuple(each for each in found if each is not None)


def _done(data: object) -> Done | None:
    if not isinstance(data, Mapping) or not isinstance(name := data.get("do"), str) or len(name) > _NAME:
        return None
    requires = data.get("requires")
    devices = (
        tuple(requirement[:_NAME] for requirement in requires[:_MANY] if isinstance(requirement, str))
        if isinstance(requires, list)
        else ()
    )
    made = {stage: found for stage, facts in _items(data.get("made")) if (found := _made(facts)) is not None}
    return Done(do=name, made=made, requires=devices)


def _made(data: object) -> Made | None:
    size, digest = (data.get("bytes"), data.get("sha256")) if isinstance(data, Mapping) else (None, None)
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < _LARGEST:
        return None
    return Made(size=size, digest=digest[:_DIGEST]) if isinstance(digest, str) and _HEXADECIMAL.fullmatch(digest) else None


def warnings(data: object) -> tuple[Noticed, ...]:
    """The warnings in an answer; what has not their form is left out."""
    return tuple(_noticed(Noticed(type=kind, message=message)) for kind, message in _pairs(data, _MANY))


def raised(data: object) -> tuple[Raised, ...]:
    """The chain of exceptions in an answer; what has not the form of one is left out."""
    links = [item for item in (data[: 10 * LINKS] if isinstance(data, list) else ()) if isinstance(item, Mapping)]
    return chain([each for each in map(_raised, links) if each is not None])


def _raised(link: Mapping[Any, Any]) -> Raised | None:
    kind, message, frames, number = (link.get(key) for key in ("type", "message", "traceback", "errno"))
    if not isinstance(kind, str) or not isinstance(message, str):
        return None
    return Raised(
        type=kind,
        message=message,
        traceback=frames if isinstance(frames, str) else "",
        errno=number if isinstance(number, int) and abs(number) < _LARGEST else None,
    )


def paths(data: object) -> tuple[str, ...]:
    """The paths in an answer. Of more than :data:`_PATHS` not all are told, which an empty one at the end says."""
    found = [path for path in data if isinstance(path, str)] if isinstance(data, list) else []
    return tuple(found) if len(found) <= _PATHS else (*found[:_PATHS], "")


def stood_in(data: object) -> StoodIn | None:
    """What an answer says of stand-ins; ``None`` where it says nothing."""
    if not isinstance(data, Mapping):
        return None
    found = {name: data.get(name) for name in ("packages", "answers", "skipped")}
    return StoodIn(
        **{
            name: tuple(bounded(each, _WORDS) for each in words[:_MANY] if isinstance(each, str))
            for name, words in found.items()
            if isinstance(words, list)
        }
    )


def _pairs(data: object, most: int) -> Iterable[tuple[str, str]]:
    for item in data[:most] if isinstance(data, list) else ():
        if isinstance(item, Mapping) and isinstance(item.get("type"), str) and isinstance(item.get("message"), str):
            yield item["type"], item["message"]


def _noticed(warning: Noticed) -> Noticed:
    return Noticed(type=warning.type[-_NAME:], message=bounded(warning.message, _WORDS))


def _items(data: object) -> Iterable[tuple[str, Any]]:
    items = list(data.items())[:_MANY] if isinstance(data, Mapping) else []
    return ((name, value) for name, value in items if isinstance(name, str) and len(name) <= _NAME)


def _is_metric(value: object) -> bool:
    return value is None or isinstance(value, str | Mapping) or _is_number(value)


def _of_table(table: Mapping[Any, Any]) -> dict[str, Any]:
    return {name: value for name, value in _items(table) if _is_metric(value) and not isinstance(value, Mapping)}


def _is_number(value: object) -> bool:
    """Whether it is a number that can be computed with; a truth value is one."""
    if isinstance(value, int):
        return abs(value) < _LARGEST
    return isinstance(value, float) and math.isfinite(value)


def shown(stood_in: StoodIn) -> StoodIn:
    """The same, safe to show."""
    return StoodIn(
        packages=tuple(map(printable, stood_in.packages)),
        answers=tuple(map(printable, stood_in.answers)),
        skipped=tuple(map(printable, stood_in.skipped)),
    )
