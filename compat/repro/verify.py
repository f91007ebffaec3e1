"""Running repro scripts, each in a fresh process of an env, and reading from what they print which failure that was.

The output is what a reader of the issue will see.
"""

from __future__ import annotations

import builtins
import re
import signal
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from attrs import evolve, frozen

from compat.diagnosis import classify, dumps
from compat.diagnosis.knowledge import Knowledge
from compat.model import SOURCE_STAGE, BuiltEnv, Done, Evidence, Failure, Raised, Target
from compat.patterns import lazy_pattern
from compat.processes import supervisor
from compat.processes.supervisor import ProcessResult
from compat.scratch import Folder
from compat.workers.spawn import passed_on

SHOWS, SHOWS_NOT = 0, 1
"""Exit codes of a repro script."""
_LARGEST_OUTPUT = 32 * 1024 * 1024
"""Bytes of what a script printed that are read."""

_VERDICT = lazy_pattern(r"^(?:not )?reproduced: .*?(?:exit code (?P<code>-?\d+))?$", re.MULTILINE)
_TRACEBACK = lazy_pattern(r"^Traceback \(most recent call last\):\n", re.MULTILINE)
_LINK = lazy_pattern(
    r"\n\n(?:The above exception was the direct cause of the following exception"
    r"|During handling of the above exception, another exception occurred):\n\n"
)
_UNDERLINE = lazy_pattern(r"\s+[~^][~^ ]*$")
"""Python's marks below the lines of a traceback."""
_RAISED = lazy_pattern(r"(?P<type>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?\Z", re.DOTALL)
_BUILTIN = "|".join(name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException))
_BARE = lazy_pattern(rf"^(?:(?:[A-Za-z_]\w*\.)+[A-Z]\w*|{_BUILTIN})(?=: |$)", re.MULTILINE)
"""How an exception begins that is printed without a traceback: with its type, which Python qualifies unless it is its own."""


@frozen(kw_only=True)
class ScriptCheck:
    """A script, and what it is expected to say in an env."""

    env: BuiltEnv
    text: str
    exit_code: int | None
    """``None`` where it is not to end before the deadline."""
    compiles: bool
    """Whether the compile is to come to its end."""
    fingerprint: str | None
    """Of the failure; ``None`` where the kernel compiles, and where there is no telling it from the output alone."""
    stage: str


@frozen(kw_only=True)
class ScriptResult:
    """What it said."""

    script: ScriptCheck
    run: ProcessResult
    failure: Failure | None
    """The failure that its output shows."""
    compiled: bool
    """Whether it says that the compile came to its end."""

    @property
    def as_expected(self) -> bool:
        """Whether exit code, end and, where one is expected, fingerprint are right: a script that does not work shows nothing."""
        fingerprint = self.failure.fingerprint if self.failure else None
        ends = (self.run.exit_code, self.compiled) == (self.script.exit_code, self.script.compiles)
        return ends and self.script.fingerprint in (None, fingerprint)


def run_all(
    scripts: Sequence[ScriptCheck], target: Target, knowledge: Knowledge, folder: Path, *, deadline: float, slots: int
) -> tuple[ScriptResult, ...]:
    """Run scripts, ``slots`` at a time, in the order given; ``folder`` is where they are written. Raises OSError."""
    names = {text: folder / f"script-{number}" for number, text in enumerate(dict.fromkeys(script.text for script in scripts))}

    def run(script: ScriptCheck) -> ScriptResult:
        assert script.env.python is not None, "what cannot be run has no result to be verified"
        ran = run_script(script.env.python, names[script.text] / "repro.py", deadline)
        return ScriptResult(
            script=script,
            run=ran,
            failure=failure_of(ran, target, script.stage, knowledge),
            compiled=evidence_of(ran, script.stage).built,
        )

    for text, place in names.items():
        place.mkdir()
        (place / "repro.py").write_text(text, encoding="utf-8")
    with ThreadPoolExecutor(slots, thread_name_prefix="script") as executor:
        return tuple(executor.map(run, scripts))


def run_script(python: str, script: Path, deadline: float) -> ProcessResult:
    """Run a script in an env, in a fresh process and a folder of its own, as somebody would who knows nothing of us.

    After ``deadline`` seconds it is killed, with what it started in its process group.
    """
    with Folder("compat-script-") as folder:
        home = str(folder)
        env = passed_on() | {"HOME": home, "TMPDIR": home, "PYTHONDONTWRITEBYTECODE": "1"}
        command, heading = [python, str(script)], dumps.HEADING_BEGINS
        return supervisor.run(command, timeout=deadline, env=env, cwd=home, limit=_LARGEST_OUTPUT, heading=heading)


def failure_of(ran: ProcessResult, target: Target, stage: str, knowledge: Knowledge) -> Failure | None:
    """The failure that a script's output shows, if any; ``stage`` is where it is known to be, which no output says."""
    evidence = evidence_of(ran, stage)
    if evidence.built or not (evidence.raised or evidence.signal or evidence.exit_code):
        return None
    return classify.classify([evidence], target=target, knowledge=knowledge).failure


def evidence_of(ran: ProcessResult, stage: str) -> Evidence:
    """The output as the evidence of an attempt: the chain of exceptions, how the compiling child ended, and all else it printed."""
    verdicts = list(_VERDICT.finditer(ran.output))
    output = ran.output[: verdicts[-1].start()] if verdicts else ran.output
    code = int(verdicts[-1]["code"]) if verdicts and verdicts[-1]["code"] else None
    output_text = dumps.read(output).words
    begin, raised = _chain(output_text)
    if stage != SOURCE_STAGE:  # there they tell whether the toolchain refuses the file; elsewhere Triton takes frames away
        raised = tuple(evolve(exception, traceback="") for exception in raised)
    return Evidence(
        answered=bool(raised) or code == 0,
        done=(Done(do="compile"),) if code == 0 else (),
        stage=stage,
        exit_code=code if code is not None and code >= 0 else None,
        signal=_SIGNALS.get(-code) if code is not None and code < 0 else None,
        raised=raised,
        stderr=output_text[:begin],
    )


_SIGNALS: Mapping[int, str] = {sig.value: sig.name for sig in signal.Signals}


def _chain(output: str) -> tuple[int, tuple[Raised, ...]]:
    """Where the last chain of exceptions begins that Python printed, and its exceptions, outermost first, as it prints them last.

    An exception has no traceback of its own where all its frames were taken away, as Triton does with frames of its front end.
    """
    chain: list[Raised] = []
    begin = end = len(output)
    links = list(_LINK.finditer(output))
    for link in [*reversed(links), None]:
        start = link.end() if link else 0
        at = _first_character(output[start:end], linked=bool(links), follows=link is not None)
        if at is None or (raised := _raised(output[start + at : end])) is None:
            break
        chain.append(raised)
        begin = start + at
        if link is None or at:  # what is before it belongs to something else
            break
        end = link.start()
    return begin, tuple(chain)


def _first_character(text: str, *, linked: bool, follows: bool) -> int | None:
    """Where the last exception begins in a text without links; one that ``follows`` a link may begin right there."""
    tracebacks = list(_TRACEBACK.finditer(text))
    if tracebacks:
        return tracebacks[-1].start()
    if follows:
        return 0
    bare = _BARE.search(text) if linked else None
    return bare.start() if bare else None


def _raised(block: str) -> Raised | None:
    """The exception that a block ends with, behind its frames."""
    lines = _TRACEBACK.sub("", block, count=1).splitlines()
    frames = next((number for number, line in enumerate(lines) if line and not line.startswith(" ")), len(lines))
    match = _RAISED.match("\n".join(lines[frames:]).rstrip())
    traceback = "".join(f"{line}\n" for line in lines[:frames] if not _UNDERLINE.match(line))
    return Raised(type=match["type"], message=match["message"] or "", traceback=traceback) if match else None
