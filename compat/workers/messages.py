"""What arrives from a worker, taken apart: lines that have an end, objects, and the parts of an answer.

Kernels and compilers can write where the worker writes, and change what it says. Nothing here raises for what they make of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import define, field, frozen

from compat.diagnosis import bounds
from compat.json_text import read_json
from compat.model import Done, Noticed, Raised, StoodIn

LINE_LIMIT = 4 * 1024 * 1024
"""Bytes of one message: the worker cuts what it quotes to far less."""
_OFFSETS = 1 << 62
_NAME, _FEW = 100, 10


@define
class Lines:
    """The whole lines of what comes through a pipe, piece by piece."""

    _pieces: list[bytes] = field(factory=list)
    _length: int = 0
    overlong: int = 0
    """Lines that were longer than :data:`LINE_LIMIT`, and are left out."""
    _dropping: bool = False

    def add(self, data: bytes) -> list[bytes]:
        """The lines that end in ``data``."""
        first, *more = data.split(b"\n")
        whole: list[bytes] = []
        for piece in more:
            self._hold(first)
            if not self._dropping:
                whole.append(b"".join(self._pieces))
            self._pieces, self._length, self._dropping = [], 0, False
            first = piece
        self._hold(first)
        return whole

    @property
    def unfinished(self) -> bool:
        """Whether a line has begun that has no end."""
        return self._length > 0 or self._dropping

    def _hold(self, piece: bytes) -> None:
        if self._dropping:
            return
        self._length += len(piece)
        if self._length > LINE_LIMIT:
            self.overlong += 1
            self._pieces, self._length, self._dropping = [], 0, True
        elif piece:
            self._pieces.append(piece)


@frozen(kw_only=True)
class Answer:
    """What a ``done`` event says."""

    done: tuple[Done, ...]
    end: int
    """Offset in the output file at which the cell's own output ends."""
    raised: tuple[Raised, ...]
    stages: dict[str, float]
    metrics: dict[str, Any]
    warnings: tuple[Noticed, ...]
    imported: tuple[str, ...] = ()
    stood_in: StoodIn | None = None
    at: str | None = None
    """``path:number`` of the kernel's line that it is about."""


def json_object(line: bytes) -> dict[str, Any]:
    """The JSON object on a line; an empty one where there is none."""
    try:
        message = read_json(line, lenient=True)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def answer_of(message: Mapping[str, Any]) -> Answer | None:
    """The answer in a ``done`` event, ``None`` where it has not the form of one. What is odd in its details is left out."""
    done, end = bounds.done(message.get("actions")), offset(message.get("output"))
    if done is None or end is None:
        return None
    if not isinstance(message.get("stages"), dict) or not isinstance(message.get("warnings"), list):
        return None
    return Answer(
        done=done,
        end=end,
        raised=bounds.raised(message.get("raised")),
        stages=bounds.stages(message["stages"]),
        metrics=bounds.metrics(message.get("metrics")),
        warnings=bounds.warnings(message["warnings"]),
        imported=bounds.paths(message.get("imported")),
        stood_in=bounds.stood_in(message.get("stood_in")),
        at=_place(message.get("at")),
    )


def _place(said: object) -> str | None:
    """``{"path", "line"}`` as ``path:number``; ``None`` where it is no such thing."""
    path, number = (said.get("path"), said.get("line")) if isinstance(said, Mapping) else (None, None)
    known = isinstance(path, str) and len(path) <= bounds.WIDTH and offset(number) is not None
    return f"{path}:{number}" if known else None


def names(said: object) -> list[str]:
    """A few names, printable as they are."""
    return [each[:_NAME] for each in said[:_FEW] if isinstance(each, str)] if isinstance(said, list) else []


def offset(said: object) -> int | None:
    """A place in a file; ``None`` where it is none."""
    return said if isinstance(said, int) and not isinstance(said, bool) and 0 <= said < _OFFSETS else None


def ending_of(message: dict[str, Any]) -> dict[str, Any]:
    """How a child ended: an exit code or the name of a signal; empty where a message says neither."""
    code, signal = message.get("exit_code"), message.get("signal")
    if isinstance(signal, str):
        return {"signal": signal}
    return {"exit_code": code} if isinstance(code, int) and abs(code) < 1 << 31 else {}


def pid_of(message: dict[str, Any]) -> int | None:
    """The child's process number; never one that stands for a group or for everybody."""
    pid = message.get("pid")
    return pid if isinstance(pid, int) and not isinstance(pid, bool) and 1 < pid < 1 << 31 else None
