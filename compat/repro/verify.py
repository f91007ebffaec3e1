"""Running repro scripts, the failure that their output shows, and the words that identify it.

Each script runs in a fresh process of an env. The output is the one that a reader of the issue will
see, without paths of this machine.
"""

from __future__ import annotations

import builtins
import getpass
import re
import signal
import socket
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from attrs import evolve, frozen

from compat.diagnosis import classify
from compat.diagnosis.failure_class import Knowledge
from compat.diagnosis.pipeline import OutputReader
from compat.diagnosis.symptoms import frames_of
from compat.files import TemporaryFolder
from compat.model import (
    SOURCE_STAGE,
    BuiltEnv,
    CompletedAction,
    Diagnosis,
    Evidence,
    Failure,
    RaisedException,
    Target,
)
from compat.model.evidence import bounded_chain
from compat.processes import supervisor
from compat.processes.supervisor import ProcessResult
from compat.text import lazy_pattern, limit_length
from compat.workers.spawn import visible_variables

SHOWS, SHOWS_NOT = 0, 1
"""Exit codes of a repro script."""
_SCRIPT = "repro.py"
_LARGEST_OUTPUT = 32 * 1024 * 1024
"""Bytes of a script's output that are read."""

_VERDICT = lazy_pattern(r"^(?:not )?reproduced: .*?(?:exit code (?P<code>-?\d+))?$", re.MULTILINE)
_TRACEBACK = lazy_pattern(r"^Traceback \(most recent call last\):\n", re.MULTILINE)
_LINK = lazy_pattern(
    r"\n\n(?:The above exception was the direct cause of the following exception"
    r"|During handling of the above exception, another exception occurred):\n\n"
)
_UNDERLINE = lazy_pattern(r"\s+[~^][~^ ]*$")
"""Python's marks below the lines of a traceback."""
_RAISED = lazy_pattern(r"(?P<type>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?\Z", re.DOTALL)
_SUGGESTION = lazy_pattern(
    r"\. Did you mean: '[^'\n]*'\?(?: Or did you forget to import '[^'\n]*'\?)?\Z"
)
"""Python prints it behind the message of an exception."""
_BUILTIN = "|".join(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)
_BARE = lazy_pattern(rf"^(?:(?:[A-Za-z_]\w*\.)+[A-Z]\w*|{_BUILTIN})(?=: |$)", re.MULTILINE)
"""The beginning of an exception that is printed without a traceback: its type, with its module
unless it is a builtin.
"""


@frozen(kw_only=True)
class ScriptCheck:
    """A script, and its expected result in an env."""

    env: BuiltEnv
    text: str
    exit_code: int | None
    """``None`` if the script should not end before the deadline."""
    compiles: bool
    """Whether the compile should succeed."""
    fingerprint: str | None
    """The fingerprint of the failure. It is the class if a signal ended the compiler in a pass,
    because no output names the pass. ``None`` if the kernel compiles, or if the output alone does
    not show the failure.
    """
    stage: str


@frozen(kw_only=True)
class ScriptResult:
    """The result of running a script."""

    script: ScriptCheck
    run: ProcessResult
    failure: Failure | None
    """The failure that its output shows."""
    compiled: bool
    """Whether its output says that the compile finished."""

    @property
    def as_expected(self) -> bool:
        """Whether the exit code, the end of the compile and the failure are as expected.

        A script that does not work shows nothing.
        """
        ends = (self.run.exit_code, self.compiled) == (self.script.exit_code, self.script.compiles)
        return ends and self.has_expected_failure

    @property
    def has_expected_failure(self) -> bool:
        """Whether the failure is as expected, or no fingerprint or class is expected."""
        failure = self.failure
        shown = (failure.fingerprint, failure.failure_class) if failure else ()
        return self.script.fingerprint in (None, *shown)


def run_all(
    scripts: Sequence[ScriptCheck],
    target: Target,
    knowledge: Knowledge,
    folder: Path,
    *,
    deadline: float,
    slots: int,
) -> tuple[ScriptResult, ...]:
    """Run scripts, ``slots`` at a time, in the order given; they are written to ``folder``.

    Raises OSError.
    """
    names = {
        text: folder / f"script-{number}"
        for number, text in enumerate(dict.fromkeys(script.text for script in scripts))
    }

    reader = knowledge.wording.reader

    def run(script: ScriptCheck) -> ScriptResult:
        assert script.env.python is not None, "a script that cannot run has no result to verify"
        ran = run_script(script.env.python, names[script.text] / _SCRIPT, deadline, reader.heading)
        return ScriptResult(
            script=script,
            run=ran,
            failure=failure_of(ran, target, script.stage, knowledge),
            compiled=evidence_of(ran, script.stage, reader).has_binary,
        )

    for text, place in names.items():
        place.mkdir(exist_ok=True)  # of a run with another expected text
        (place / _SCRIPT).write_text(text, encoding="utf-8")
    with ThreadPoolExecutor(slots, thread_name_prefix="script") as executor:
        return tuple(executor.map(run, scripts))


def run_script(python: str, script: Path, deadline: float, heading: str = "") -> ProcessResult:
    """Run a script in an env, in a fresh process and a folder of its own.

    It runs as on the machine of a reader who does not have triton-compat. After ``deadline``
    seconds, it is killed together with its process group. ``heading`` is as in
    :func:`compat.files.read_ends`.
    """
    with TemporaryFolder("compat-script-") as folder:
        home = str(folder)
        env = visible_variables() | {"HOME": home, "TMPDIR": home, "PYTHONDONTWRITEBYTECODE": "1"}
        return supervisor.run(
            [python, str(script)],
            timeout=deadline,
            env=env,
            cwd=home,
            limit=_LARGEST_OUTPUT,
            heading=heading,
        )


def failure_of(
    ran: ProcessResult, target: Target, stage: str, knowledge: Knowledge
) -> Failure | None:
    """The failure that a script's output shows, if any.

    ``stage`` is the known stage of the failure, which the output does not show.
    """
    evidence = evidence_of(ran, stage, knowledge.wording.reader)
    if evidence.has_binary or not (evidence.raised or evidence.signal or evidence.exit_code):
        return None
    return classify.classify([evidence], target=target, knowledge=knowledge).failure


def evidence_of(ran: ProcessResult, stage: str, reader: OutputReader) -> Evidence:
    """The output as evidence of an attempt: exceptions, end of the child process, other text."""
    verdicts = list(_VERDICT.finditer(ran.output))
    output = ran.output[: verdicts[-1].start()] if verdicts else ran.output
    code = int(verdicts[-1]["code"]) if verdicts and verdicts[-1]["code"] else None
    output_text = reader.read(output).text
    begin, raised = _chain(output_text)
    # Only frames of an import tell whether the toolchain refuses the file. If the toolchain hides
    # frames in other stages, they count only if the exception has no message.
    if reader.hides_frames and stage != SOURCE_STAGE:
        raised = tuple(
            evolve(exception, traceback="") if exception.message else exception
            for exception in raised
        )
    return Evidence(
        answered=bool(raised) or code == 0,
        done=(CompletedAction(do="compile"),) if code == 0 else (),
        stage=stage,
        exit_code=code if code is not None and code >= 0 else None,
        signal=_SIGNALS.get(-code) if code is not None and code < 0 else None,
        raised=raised,
        stderr=output_text[:begin],
        diagnosis=Diagnosis(line=None if reader.hides_frames else _line_of_script(raised)),
    )


def _line_of_script(raised: tuple[RaisedException, ...]) -> str | None:
    """The innermost line of the script in the frames of a failure."""
    lines = [
        frame["statement"] for frame in frames_of(raised) if Path(frame["path"]).name == _SCRIPT
    ]
    return lines[-1] if lines else None


_SIGNALS: Mapping[int, str] = {sig.value: sig.name for sig in signal.Signals}


def _chain(output: str) -> tuple[int, tuple[RaisedException, ...]]:
    """The start of the last chain of exceptions that Python printed, and its exceptions.

    The outermost exception is first here; Python prints it last. An exception has no traceback of
    its own if all its frames were removed, as Triton does with frames of its front end.
    """
    chain: list[RaisedException] = []
    begin = end = len(output)
    links = list(_LINK.finditer(output))
    for link in [*reversed(links), None]:
        start = link.end() if link else 0
        at = _first_character(output[start:end], linked=bool(links), follows=link is not None)
        if at is None or (raised := _exception_of(output[start + at : end])) is None:
            break
        chain.append(raised)
        begin = start + at
        if link is None or at:  # the text before it is not part of the chain
            break
        end = link.start()
    return begin, tuple(chain)


def _first_character(text: str, *, linked: bool, follows: bool) -> int | None:
    """The start of the last exception in a text without links.

    If the text ``follows`` a link, an exception may begin at its first character.
    """
    tracebacks = list(_TRACEBACK.finditer(text))
    if tracebacks:
        return tracebacks[-1].start()
    if follows:
        return 0
    bare = _BARE.search(text) if linked else None
    return bare.start() if bare else None


def _exception_of(block: str) -> RaisedException | None:
    """The exception at the end of a block, after its frames; ``None`` if there is none."""
    lines = _TRACEBACK.sub("", block, count=1).splitlines()
    frames = next(
        (number for number, line in enumerate(lines) if line and not line.startswith(" ")),
        len(lines),
    )
    match = _RAISED.match("\n".join(lines[frames:]).rstrip())
    traceback = "".join(f"{line}\n" for line in lines[:frames] if not _UNDERLINE.match(line))
    if match is None:
        return None
    message = _SUGGESTION.sub("", match["message"] or "")
    return RaisedException(type=match["type"], message=message, traceback=traceback)


# --- the text by which a script identifies its failure --------------------------------------------

# The output of every release with the same failure must contain the text, and the output of a
# release with another failure must not. Otherwise a script that fails for another reason would
# report a failure that is not there.

_SHORTEST = 8
"""The smallest number of characters in an expected text."""
_LONGEST = 80
"""The number of characters that is enough."""
_SEARCHED = 20_000
"""Characters at either end of an output that are searched."""
_CONSIDERED = 2_000
"""Characters of a failure's message that are candidates for the expected text."""
_TOKENS = 400
"""Tokens of a message that are candidates: words, spaces and signs."""
_QUOTES = lazy_pattern(r"[\"'`\\\n]")
_TOKEN = lazy_pattern(r"\w+|\s+|.", re.DOTALL)
_FAULTS = {
    "SIGABRT": "Fatal Python error: Aborted",
    "SIGSEGV": "Fatal Python error: Segmentation fault",
    "SIGFPE": "Fatal Python error: Floating point exception",
    "SIGILL": "Fatal Python error: Illegal instruction",
    "SIGBUS": "Fatal Python error: Bus error",
}
"""Signal → the message of Python's fault handler, which the script turns on."""


_SOURCE_FRAME = lazy_pattern(r"\n\s*--> ")
"""The place in a source, which some compilers show after a message."""


def words_of(evidence: Evidence, knowledge: Knowledge) -> str:
    """The message that identifies a failure, on one line: the compiler's.

    Without a message, it is the signal or the type of the exception.
    """
    symptoms = knowledge.symptoms(evidence)
    recognised = knowledge.recognise(symptoms)
    message = str(getattr(symptoms, recognised[1].words)) if recognised else symptoms.message
    message = _SOURCE_FRAME.split(message, maxsplit=1)[0]
    fault = _FAULTS.get(evidence.signal or "", "")
    if fault and message.isidentifier():  # the message is only a place
        return f"{fault}, in {message}"
    return " ".join((message or symptoms.message or fault or symptoms.error).split())


def sayings(evidence: Evidence, knowledge: Knowledge) -> tuple[str, ...]:
    """The texts that identify a failure, best first.

    They are :func:`words_of`, the type of its exception, and the signal.
    """
    texts = (
        words_of(evidence, knowledge),
        knowledge.symptoms(evidence).error,
        _FAULTS.get(evidence.signal or ""),
    )
    return tuple(dict.fromkeys(filter(None, texts)))


def searched_output(evidence: Evidence) -> str:
    """The output of a script for such an attempt, without the parts that are not searched."""
    exceptions = limit_length(
        "\n".join(f"{link.type}: {link.message}" for link in bounded_chain(evidence.raised)),
        4 * _SEARCHED,
    )
    signal = _FAULTS.get(evidence.signal or "", "")
    return "\n".join(
        [evidence.stderr[:_SEARCHED], evidence.stderr[_SEARCHED:][-_SEARCHED:], exceptions, signal]
    )


def promise(texts: Sequence[str], alike: Sequence[str], others: Sequence[str] = ()) -> str:
    """A piece of ``texts`` that is in all outputs ``alike`` and in none of the ``others``.

    A short piece without quotes is readable, and is preferred. Longer pieces, with quotes, follow
    until one is in none of the others. The result is empty if nothing distinguishes the outputs.
    """
    for message in texts:
        for piece in _candidates(message[:_CONSIDERED], alike):
            if not any(piece in other for other in others):
                return piece
    return ""


def _candidates(message: str, outputs: Sequence[str]) -> Iterator[str]:
    """Pieces of a message that are in all outputs, the preferred ones first."""
    pieces = list(_common(message, outputs))
    plain = (part.strip() for piece in pieces for part in _QUOTES.split(piece))
    for group in (plain, pieces):
        for piece in sorted(
            (piece for piece in group if len(piece) >= _SHORTEST), key=len, reverse=True
        ):
            yield _enough(piece)
            yield piece


def _enough(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST].rpartition(" ")[0] or text[:_LONGEST]


def _common(message: str, outputs: Sequence[str]) -> Iterator[str]:
    """The longest pieces of a message that are in all outputs, in whole words.

    A part of a name could be found in another name. Two ends move along the tokens of the message.
    Each step looks up the piece between them once, in outputs with a separator between tokens.
    """
    tokens = _TOKEN.findall(message)[:_TOKENS]
    marked = [_join_tokens(_TOKEN.findall(output)) for output in outputs]
    reached = 0
    for first in range(len(tokens)):
        last = max(reached, first)
        while last < len(tokens) and all(
            _join_tokens(tokens[first : last + 1]) in output for output in marked
        ):
            last += 1
        if last > max(reached, first) and (piece := "".join(tokens[first:last]).strip()):
            yield piece
        reached = last


def _join_tokens(tokens: Sequence[str]) -> str:
    return "\0".join(("", *tokens, ""))


# --- written files contain no facts about this machine: no folders, no user, no host --------------

_IN_NAME = r"[^\s\"'`()\[\],;:/]"
_IN_PATH = r"[^\s\"'`()\[\],;:]"
# Before 3.11.5, Python misreads a possessive quantifier after a group with a lookahead.
_PACKAGES = lazy_pattern(
    rf"(?<!{_IN_PATH})(?P<before>{_IN_NAME}*+)/{_IN_PATH}*/(?:site|dist)-packages/"
)
_PATH = lazy_pattern(r"(?<![\w.:/~*-])/(?:[\w.+@=~-]+/)+(?P<base>[\w.+@=~-]+)?")
_ADDRESS = lazy_pattern(r"\b0x[0-9a-f]{6,}\b")
_THREAD = lazy_pattern(r"^((?:Current thread|Thread)) 0x[0-9a-f]+", re.MULTILINE)
_TEMPORARY = lazy_pattern(r"\btmp[a-z0-9_]{8}\b")


def without_places(text: str) -> str:
    """``text`` with every path shortened to the part that has a meaning on other machines.

    A file of an installed Python package keeps its path in the package,
    ``triton/compiler/compiler.py``. All other files keep only their name.
    """
    text = _PATH.sub(lambda match: match["base"] or "…", _PACKAGES.sub(r"\g<before>", text))
    return _ADDRESS.sub("0x…", _TEMPORARY.sub("tmp", _THREAD.sub(r"\1", text)))


def identifying_words(text: str, own: str) -> list[str]:
    """The facts about this machine that a text reveals.

    Facts that are in ``own``, the kernel's source, do not count: publishing them is up to its
    author.
    """
    facts = {str(Path.cwd()), str(Path.home()), socket.gethostname(), _user()} - {"", "/", "root"}
    return sorted(fact for fact in facts if _says(text, fact) and not _says(own, fact))


def _says(text: str, fact: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(fact)}(?!\w)", text) is not None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
