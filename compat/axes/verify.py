"""Running repro scripts, each in a fresh process of an env, and reading from what they print which failure that was.

Nothing of ours is in the way there: what comes out is what a reader of the issue will see.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from attrs import frozen

from compat.engine.script import ScriptRun, run_script
from compat.evidence import classify, diagnose
from compat.model import BuiltEnv, Evidence, Failure, Raised, Target

SHOWS, SHOWS_NOT = 0, 1
"""Exit codes of a repro script."""

_VERDICT = re.compile(r"^(?:not )?reproduced: .*?(?:exit code (?P<code>-?\d+))?$", re.MULTILINE)
_TRACEBACK = "Traceback (most recent call last):\n"
_LINKED = re.compile(
    r"\n\n(?:The above exception was the direct cause of|During handling of the above exception, another).*\Z", re.DOTALL
)
_RAISED = re.compile(r"(?P<type>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?\Z", re.DOTALL)


@frozen(kw_only=True)
class Script:
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
class Seen:
    """What it said."""

    script: Script
    run: ScriptRun
    failure: Failure | None
    """The failure that its output shows."""
    compiled: bool
    """Whether it says that the compile came to its end."""

    @property
    def as_expected(self) -> bool:
        """Whether exit code, end and, where one is expected, fingerprint are right: a script that does not work shows nothing."""
        found = self.failure.fingerprint if self.failure else None
        ends = (self.run.exit_code, self.compiled) == (self.script.exit_code, self.script.compiles)
        return ends and self.script.fingerprint in (None, found)


def run_all(scripts: Sequence[Script], target: Target, folder: Path, *, deadline: float, slots: int) -> tuple[Seen, ...]:
    """Run scripts, ``slots`` at a time, in the order given; ``folder`` is where they are written. Raises OSError."""
    names = {text: folder / f"script-{number}" for number, text in enumerate(dict.fromkeys(each.text for each in scripts))}

    def run(script: Script) -> Seen:
        assert script.env.python is not None, "what cannot be run has no result to be verified"
        ran = run_script(script.env.python, names[script.text] / "repro.py", deadline)
        return Seen(
            script=script,
            run=ran,
            failure=failure_of(ran, target, script.stage),
            compiled=evidence_of(ran, script.stage).built,
        )

    for text, place in names.items():
        place.mkdir()
        (place / "repro.py").write_text(text, encoding="utf-8")
    with ThreadPoolExecutor(slots, thread_name_prefix="script") as executor:
        return tuple(executor.map(run, scripts))


def failure_of(ran: ScriptRun, target: Target, stage: str) -> Failure | None:
    """The failure that a script's output shows, if any; ``stage`` is where it is known to be, which no output says."""
    evidence = evidence_of(ran, stage)
    if evidence.built or not (evidence.raised or evidence.signal or evidence.exit_code):
        return None
    return classify.classify([evidence], target=target).failure


def evidence_of(ran: ScriptRun, stage: str) -> Evidence:
    """The output as the evidence of an attempt: the chain of exceptions, how the compiling child ended, and all else it printed."""
    verdicts = list(_VERDICT.finditer(ran.output))
    output = ran.output[: verdicts[-1].start()] if verdicts else ran.output
    code = int(verdicts[-1]["code"]) if verdicts and verdicts[-1]["code"] else None
    words, _ = diagnose.without_ir(output)
    raised = tuple(_chain(words))
    return Evidence(
        answered=bool(raised) or code == 0,
        built=code == 0,
        stage=stage,
        exit_code=code if code is not None and code >= 0 else None,
        signal=_SIGNALS.get(-code) if code is not None and code < 0 else None,
        raised=raised,
        stderr=words.partition(_TRACEBACK)[0] if raised else words,
    )


_SIGNALS: Mapping[int, str] = {each.value: each.name for each in signal.Signals}


def _chain(output: str) -> Iterator[Raised]:
    """The exceptions of the last chain that Python printed, outermost first, as it prints them last."""
    for block in reversed(output.split(_TRACEBACK)[1:]):
        lines = _LINKED.sub("", block).splitlines()
        frames = next((number for number, line in enumerate(lines) if line and not line.startswith(" ")), len(lines))
        if found := _RAISED.match("\n".join(lines[frames:]).rstrip()):
            yield Raised(type=found["type"], message=found["message"] or "")
