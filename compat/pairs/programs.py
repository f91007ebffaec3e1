"""Run the programs of :attr:`Device.pairing` in an env.

If one of them ends the process, another process runs the rest.
"""

from __future__ import annotations

import json
import math
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from attrs import field, frozen

from compat.files import TemporaryFolder, content_of
from compat.processes.supervisor import run
from compat.text import JsonObject, read_json
from compat.toolchains.base import Pairing, Toolchain
from compat.workers.spawn import visible_variables

IMPORT_DEADLINE = 180.0
"""Seconds that the imports may take. A PyTorch that was just installed takes the longest."""
DEADLINE = 90.0
"""Seconds that one program may take."""
_LARGEST = 16 * 1024 * 1024
"""Maximum bytes of answers that are read."""
_LAST_WORDS = 2000
"""Maximum bytes of the output of a process that ended without an answer."""
_IMPORT = "import"
_WHILE_IMPORTING = 1
"""The number of lines that a process writes until its imports are done."""


@frozen(kw_only=True)
class PairRun:
    """The place where programs run, and their settings."""

    python: str
    """The interpreter of an env that has a PyTorch."""
    library: Path
    """The folder of the library that replaces a driver."""
    compiler: str
    """A C compiler: the toolchain builds its launchers with it."""
    before: Path | None = None
    """A folder with packages that come before those of the env."""


@frozen(kw_only=True)
class Answers:
    """The answers of programs, as they were reported."""

    facts: JsonObject = field(factory=dict)
    """The imported PyTorch and release; empty if nothing was imported."""
    programs: Mapping[str, JsonObject] = field(factory=dict)
    """Program → answer."""


def pairing_of(toolchain: Toolchain) -> Pairing:
    """How a toolchain tries pairs. The toolchain must support them."""
    assert toolchain.device.pairing is not None
    return toolchain.device.pairing


def run_programs(pair_run: PairRun, toolchain: Toolchain, deadline: float = DEADLINE) -> Answers:
    """Run all programs. If a process ends early, another one runs the remaining programs.

    Raises MachineError if no process can be started, and Stopped if all running work must end.
    """
    facts: JsonObject = {}
    answers: dict[str, JsonObject] = {}
    while remaining := [name for name in pairing_of(toolchain).programs if name not in answers]:
        lines, ended = _one_process(pair_run, toolchain, remaining, deadline)
        begun = _IMPORT
        for line in lines:
            begun = str(line.get("begin", begun))
            if line.get("program") in remaining:
                answers[line["program"]] = line
            elif "release" in line:
                facts = line
            elif line.get("stage") == _IMPORT:
                return Answers(facts=facts, programs={**answers, **dict.fromkeys(remaining, line)})
        if begun in remaining and begun not in answers:
            answers[begun] = ended
        # The process ended before any program began, or at a point that no program caused.
        elif any(name not in answers for name in remaining):
            answers |= {name: ended for name in remaining if name not in answers}
    return Answers(facts=facts, programs=answers)


def _one_process(
    pair_run: PairRun, toolchain: Toolchain, programs: Sequence[str], deadline: float
) -> tuple[list[JsonObject], JsonObject]:
    """Run a process, and return its lines, and its end as the answer of the running program."""
    pairing = pairing_of(toolchain)
    with TemporaryFolder("compat-pairs-") as folder:
        answers, launches = folder / "answers", folder / "launches"
        settings = {
            "answers": str(answers),
            "launches": str(launches),
            "library": str(pair_run.library / pairing.library),
            "before": str(pair_run.before) if pair_run.before else None,
            "programs": list(programs),
            "gpu": toolchain.device.facts(pairing.target),
        }
        reads = toolchain.variables
        withheld = {*reads.settings, *reads.files, *reads.folders}
        own = {
            name: value
            for name, value in visible_variables(toolchain).items()
            if name not in withheld
        }
        own |= {"TMPDIR": str(folder), "CC": pair_run.compiler}
        ended = run(
            [pair_run.python, "-I", str(pairing.program), json.dumps(settings)],
            timeout=math.inf,
            waiting=_Patience(answers, deadline).is_left,
            env={
                **own,
                **pairing.variables(str(pair_run.library), str(launches), str(folder / "caches")),
            },
            cwd=folder,
            limit=_LAST_WORDS,
        )
        return list(_lines(answers)), {
            "ended": _ending(ended.exit_code),
            "words": ended.output.strip()[-_LAST_WORDS:],
        }


class _Patience:
    """The time that a process has until the next line of its answers."""

    def __init__(self, answers: Path, deadline: float) -> None:
        self._answers, self._deadline = answers, deadline
        self._lines = 0
        self._give_up = time.monotonic() + IMPORT_DEADLINE

    def is_left(self) -> bool:
        """Whether the process has time left."""
        if (lines := _count(self._answers)) > self._lines:
            self._lines = lines
            self._give_up = time.monotonic() + (
                self._deadline if lines > _WHILE_IMPORTING else IMPORT_DEADLINE
            )
        return time.monotonic() < self._give_up


def _ending(code: int | None) -> str:
    if code is None:
        return "deadline"
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return signal.Signals(-code).name
    return f"signal {-code}"


def _count(path: Path) -> int:
    """The number of lines of a file."""
    return (content_of(path, _LARGEST) or b"").count(b"\n")


def _lines(path: Path) -> Iterator[JsonObject]:
    """The lines that are JSON objects; the last line may be truncated."""
    for line in (content_of(path, _LARGEST) or b"").splitlines():
        with suppress(ValueError):
            if isinstance(read := read_json(line), dict):
                yield read
