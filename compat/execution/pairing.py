"""Run the programs of :attr:`Toolchain.pairing` in an env; where one of them ends the process, another process runs the rest."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import field, frozen

from compat import interruption
from compat.errors import MachineError, is_refusal
from compat.execution.output import read_ends
from compat.execution.variables import passed_on
from compat.files import content_of
from compat.json_text import read_json
from compat.scratch import Folder
from compat.toolchains import Toolchain

IMPORT_DEADLINE = 180.0
"""Seconds that importing may take; of a PyTorch that was just installed it takes the longest."""
DEADLINE = 90.0
"""Seconds that one program may take."""
_TICK = 0.05
_LARGEST = 16 * 1024 * 1024
"""Bytes of answers that are read."""
_LAST_WORDS = 2000
"""Bytes of what it printed that are kept of a process that ended without an answer."""
_IMPORT = "import"
_WHILE_IMPORTING = 1
"""Lines that a process tells until it has imported all."""

JsonObject = dict[str, Any]


@frozen(kw_only=True)
class Tried:
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
    tried: Tried, toolchain: Toolchain, deadline: float = DEADLINE, import_deadline: float = IMPORT_DEADLINE
) -> Answers:
    """Run all programs; as many processes follow each other as end before they have answered for the rest.

    Raises MachineError where no process can be started, and Stopped where all is to end.
    """
    assert toolchain.pairing is not None
    facts: JsonObject = {}
    found: dict[str, JsonObject] = {}
    while left := [name for name in toolchain.pairing.programs if name not in found]:
        lines, ended = _one_process(tried, toolchain, left, deadline, import_deadline)
        begun = _IMPORT
        for line in lines:
            begun = str(line.get("begin", begun))
            if line.get("program") in left:
                found[line["program"]] = line
            elif "release" in line:
                facts = line
            elif line.get("stage") == _IMPORT:
                return Answers(facts=facts, programs={**found, **dict.fromkeys(left, line)})
        if begun in left and begun not in found:
            found[begun] = ended
        elif any(name not in found for name in left):  # it ended before any, or where no program is to blame
            found |= {name: ended for name in left if name not in found}
    return Answers(facts=facts, programs=found)


def _one_process(
    tried: Tried, toolchain: Toolchain, programs: Sequence[str], deadline: float, import_deadline: float
) -> tuple[list[JsonObject], JsonObject]:
    """The lines that a process told, and how it ended, as the answer for a program that it was at then."""
    assert toolchain.pairing is not None
    with Folder("compat-pairs-") as folder, (folder / "output").open("w+b") as output:
        answers, launches = folder / "answers", folder / "launches"
        settings = {
            "answers": str(answers),
            "launches": str(launches),
            "library": str(tried.library / toolchain.pairing.library),
            "before": str(tried.before) if tried.before else None,
            "programs": list(programs),
        }
        reads = toolchain.variables
        withheld = {*reads.settings, *reads.files, *reads.folders}
        own = {name: value for name, value in passed_on(toolchain).items() if name not in withheld}
        own |= {"TMPDIR": str(folder), "CC": tried.compiler}
        try:
            process = subprocess.Popen(
                [tried.python, "-I", str(toolchain.pairing.program), json.dumps(settings)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**own, **toolchain.pairing.variables(str(tried.library), str(launches), str(folder / "caches"))},
                cwd=folder,
                start_new_session=True,
            )
        except OSError as error:
            if is_refusal(error):
                raise MachineError.of(error) from error
            raise
        ended = _watched(process, answers, deadline, import_deadline)
        words = read_ends(output.fileno(), 0, None, _LAST_WORDS).strip()
        return list(_lines(answers)), {"ended": ended, "words": words[-_LAST_WORDS:]}


def _watched(process: subprocess.Popen[bytes], answers: Path, deadline: float, import_deadline: float) -> str:
    """How a process ended, which has so many seconds until each next line of its answers. Nothing is left of its group."""
    told = 0
    give_up = time.monotonic() + import_deadline
    try:
        while time.monotonic() < give_up:
            interruption.check()
            with suppress(subprocess.TimeoutExpired):
                return _ended(process.wait(_TICK))
            if (now := _count(answers)) > told:
                told = now
                give_up = time.monotonic() + (deadline if told > _WHILE_IMPORTING else import_deadline)
        return "deadline"
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _ended(code: int) -> str:
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
