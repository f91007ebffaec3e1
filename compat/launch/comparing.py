"""Launch the same kernel as several releases built it on the GPU of this machine, and hold them to each other, kernel by kernel.

In: what was built (:mod:`.building`). Out: how each behaved (:class:`BuildComparison`). One process stays for all of them, and has
imported PyTorch and made the inputs; see ``compat/toolchains/pytorch/host/comparing.py``.
"""

from __future__ import annotations

import itertools
import json
import shlex
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from attrs import frozen

from compat.errors import SelectionError
from compat.files import TemporaryFolder
from compat.launch.archive import facts_of, object_of, write_archive
from compat.launch.building import Built, Launchable
from compat.launch.hosting import Gpu
from compat.model.json_text import read_json
from compat.processes.supervisor import Session, SessionEnded
from compat.text import printable

COMPARED = "compared"
"""The status of an answer that says how each behaved."""
_STARTING = 900.0
"""Seconds until the first answer: PyTorch is imported, and the inputs are made."""
_SPARE = 900.0
"""Seconds beside a question's own deadline: the process that launches may have to be made anew."""


@frozen(kw_only=True)
class Behaviour:
    """How the kernel behaved as one release built it, over all problems."""

    good: bool
    """Whether the others are held to it."""
    launches: int
    differing: int
    """Those that gave other bits than the first of their problem."""
    finite: bool
    """Whether what it wrote are numbers."""
    wrote: bool
    """Whether it wrote anything into its outputs."""
    outside: str
    """Where it wrote what is not its own, in words."""
    reads_outside: bool = False
    """Whether what it computes depends on what lies around its inputs; known where it is good."""
    off: float
    """How far off the first good one it is at worst, by the largest number that comes out there; 0 within the tolerance."""


@frozen(kw_only=True)
class BuildComparison:
    """What came of launching several builds of one kernel."""

    status: str
    """:data:`COMPARED`, or why it was not: ``faulted``, ``launch_refused``, ``timed_out``, ``lost``."""
    reason: str = ""
    behaviours: tuple[Behaviour, ...] = ()
    """In the order in which they were asked for."""


class Comparer:
    """The process that compares, from the first question until it is closed."""

    def __init__(self, original: Launchable, gpu: Gpu, stop: threading.Event | None = None) -> None:
        """``original`` says on which problem. Raises SelectionError where nothing can be launched, and Stopped."""
        self._python, self._numbers = gpu.python, itertools.count(1)
        with ExitStack() as resources:
            self._folder = resources.enter_context(TemporaryFolder("compat-comparing-")) / "built"
            program = write_archive(Built(target=gpu.target, launchable=(original,), left_out=()), self._folder)
            command = [gpu.python, str(program), *gpu.options, "--compare", original.digest]
            try:
                self._session = resources.enter_context(Session(command, stop))
                answer = _object(self._session.read_line(_STARTING))
                if answer.get("status") != "ready":
                    raise SessionEnded(str(answer.get("reason")))
            except SessionEnded as error:
                raise self._unable(str(error), shlex.join(command)) from error
            self._resources = resources.pop_all()

    def ask(
        self, good: Sequence[Launchable], bad: Sequence[Launchable], rounds: int, deadline: float, stop: threading.Event | None
    ) -> BuildComparison:
        """How they behave in so many launches of each problem, those that are good first, within ``deadline`` seconds.

        Raises SelectionError where the process has ended, and Stopped once ``stop`` is set.
        """
        self._session.stop = stop
        paths = set[Path]()
        for build in (*good, *bad):
            paths.add(path := self._folder / "objects" / object_of(build))
            path.write_bytes(build.binary)
        cells = [*({**facts_of(build), "good": True} for build in good), *({**facts_of(build), "good": False} for build in bad)]
        number = next(self._numbers)
        question = {"number": number, "cells": cells, "rounds": rounds, "deadline": deadline}
        try:
            answer = _object(self._session.ask(json.dumps(question), deadline + _SPARE))
            while answer.get("number") != number:  # to a question that nobody waited for
                answer = _object(self._session.read_line(deadline + _SPARE))
            return _comparison(answer)
        except SessionEnded as error:
            raise self._unable(str(error), self._python) from error
        finally:
            for path in paths:
                path.unlink(missing_ok=True)

    def _unable(self, reason: str, where: str) -> SelectionError:
        return SelectionError(f"nothing can be launched: {printable(reason)}", where=where)

    def close(self) -> None:
        """End it."""
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _object(line: str) -> Mapping[str, Any]:
    try:
        message = read_json(line)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise SessionEnded(f"it answered {line[:80]!r}")
    return message


def _comparison(answer: Mapping[str, Any]) -> BuildComparison:
    try:
        behaviours = tuple(Behaviour(**{**cell, "outside": printable(str(cell["outside"]))}) for cell in answer["cells"])
        return BuildComparison(status=str(answer["status"]), reason=printable(str(answer["reason"])), behaviours=behaviours)
    except (KeyError, TypeError) as error:
        raise SessionEnded("it answered in another form") from error
