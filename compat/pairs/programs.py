"""Run the programs of :attr:`Device.pairing` in an env; where one of them ends the process, another process runs the rest."""

from __future__ import annotations

import json
import math
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import field, frozen

from compat.files import TemporaryFolder, content_of
from compat.model.json_text import read_json
from compat.processes.supervisor import run
from compat.toolchains import Toolchain
from compat.workers.spawn import passed_on

IMPORT_DEADLINE = 180.0
"""Seconds that importing may take; of a PyTorch that was just installed it takes the longest."""
DEADLINE = 90.0
"""Seconds that one program may take."""
_LARGEST = 16 * 1024 * 1024
"""Bytes of answers that are read."""
_LAST_WORDS = 2000
"""Bytes of what it printed that are kept of a process that ended without an answer."""
_IMPORT = "import"
_WHILE_IMPORTING = 1
"""Lines that a process tells until it has imported all."""

JsonObject = dict[str, Any]


@frozen(kw_only=True)
class PairRun:
    """Where programs are run, and with what."""

    python: str
    """The interpreter of an env that has a PyTorch."""
    library: Path
    """The folder of the library that stands in for a driver."""
    compiler: str
    """A C compiler: the toolchain builds its launchers with it."""
    before: Path | None = None
    """A folder whose packages go before those of the env."""


@frozen(kw_only=True)
class Answers:
    """What came of it, as it was told."""

    facts: JsonObject = field(factory=dict)
    """Which PyTorch and release it was that was imported; empty where nothing was."""
    programs: Mapping[str, JsonObject] = field(factory=dict)
    """Program → answer."""


def run_programs(
    tried: PairRun, toolchain: Toolchain, deadline: float = DEADLINE, import_deadline: float = IMPORT_DEADLINE
) -> Answers:
    """Run all programs; as many processes follow each other as end before they have answered for the rest.

    Raises MachineError where no process can be started, and Stopped where all is to end.
    """
    assert toolchain.device.pairing is not None
    facts: JsonObject = {}
    answers: dict[str, JsonObject] = {}
    while remaining := [name for name in toolchain.device.pairing.programs if name not in answers]:
        lines, ended = _one_process(tried, toolchain, remaining, deadline, import_deadline)
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
        elif any(name not in answers for name in remaining):  # it ended before any, or where no program is to blame
            answers |= {name: ended for name in remaining if name not in answers}
    return Answers(facts=facts, programs=answers)


def _one_process(
    tried: PairRun, toolchain: Toolchain, programs: Sequence[str], deadline: float, import_deadline: float
) -> tuple[list[JsonObject], JsonObject]:
    """The lines that a process told, and how it ended, as the answer for a program that it was at then."""
    assert toolchain.device.pairing is not None
    with TemporaryFolder("compat-pairs-") as folder:
        answers, launches = folder / "answers", folder / "launches"
        settings = {
            "answers": str(answers),
            "launches": str(launches),
            "library": str(tried.library / toolchain.device.pairing.library),
            "before": str(tried.before) if tried.before else None,
            "programs": list(programs),
            "gpu": toolchain.device.facts(toolchain.device.pairing.target),
        }
        reads = toolchain.variables
        withheld = {*reads.settings, *reads.files, *reads.folders}
        own = {name: value for name, value in passed_on(toolchain).items() if name not in withheld}
        own |= {"TMPDIR": str(folder), "CC": tried.compiler}
        ended = run(
            [tried.python, "-I", str(toolchain.device.pairing.program), json.dumps(settings)],
            timeout=math.inf,
            waiting=_Patience(answers, deadline, import_deadline).is_left,
            env={**own, **toolchain.device.pairing.variables(str(tried.library), str(launches), str(folder / "caches"))},
            cwd=folder,
            limit=_LAST_WORDS,
        )
        return list(_lines(answers)), {"ended": _ending(ended.exit_code), "words": ended.output.strip()[-_LAST_WORDS:]}


class _Patience:
    """The seconds that a process has until each next line of its answers."""

    def __init__(self, answers: Path, deadline: float, import_deadline: float) -> None:
        self._answers, self._deadline, self._import_deadline = answers, deadline, import_deadline
        self._lines = 0
        self._give_up = time.monotonic() + import_deadline

    def is_left(self) -> bool:
        """Whether there is any left."""
        if (lines := _count(self._answers)) > self._lines:
            self._lines = lines
            self._give_up = time.monotonic() + (self._deadline if lines > _WHILE_IMPORTING else self._import_deadline)
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
    """How many lines there are."""
    return (content_of(path, _LARGEST) or b"").count(b"\n")


def _lines(path: Path) -> Iterator[JsonObject]:
    """The lines that are objects of JSON; the last one may have been cut off."""
    for line in (content_of(path, _LARGEST) or b"").splitlines():
        with suppress(ValueError):
            if isinstance(read := read_json(line), dict):
                yield read
