"""What one attempt *said*, taken out of stack traces, reprs and compiler logs.

The same complaint comes in many wrappings. Triton puts ``ValueError('…')`` as text into a
``CompilationError``, or chains the cause, or (later releases) does both, by the kind of statement.
A failing assertion is on file descriptor 2 alone, with a signal to 3.2 and with ``PassManager::run
failed`` since. Here each attempt becomes one :class:`Symptoms`; only that is matched against the
failure classes. How a toolchain words things is its :class:`Wording`; what is the same in whatever
is made with C++ and Python is here.

:func:`fingerprint` makes a short hash of the words that tell a failure, equal for the same defect,
different for different ones. What goes is what differs between two appearances of one defect:
paths, lines, addresses, temporary files, the wording of quotes, and sizes, because the same error
at another block size is the same failure. What stays is what was *said*: the compiler's words,
names and dtypes, and small numbers that say *which* (``index 1``, ``axis 0``, ``operand 2``).
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Sequence

from attrs import Factory, evolve, frozen

from compat.diagnosis.pipeline import OutputReader
from compat.model import DEFAULT_TOOLCHAIN, Evidence, Raised
from compat.model.evidence import within_bounds
from compat.source.parsing import expression_of
from compat.text import lazy_pattern, readable

_LOG = "subprocess.CalledProcessError"
"""It says only that a program failed. The program's output is in the exception around it."""
_FRAME = lazy_pattern(
    r'^  File "(?P<path>[^"\n]+)", line (?P<line>\d+), in (?P<function>[^\n]+)\n(?:   '
    r" (?P<statement>[^\n]+))?",
    re.MULTILINE,
)
FRAMES_LEFT_OUT = "frames left out"
"""The line that replaces frames in a long traceback."""
_CARET = lazy_pattern(r"^[ \t]*\^[ \t]*$", re.MULTILINE)
_REPR = lazy_pattern(r"(?P<type>[A-Za-z_][\w.]*)\((?P<argument>.*)\)", re.DOTALL)
_ASSERTION = lazy_pattern(
    # After the first place of a line, only the words after it decide: a line is read once.
    r"^(?>[^\n]*?(?<![^\s:])(?P<file>[^\s:]++):(?P<line>\d++): )(?P<function>[^\n]*?): Assertion"
    r" `(?P<expression>.{0,2000}?)' failed",
    re.DOTALL | re.MULTILINE,
)
_LITERAL = lazy_pattern(r'&& *\(?"(?P<words>[^"]+)"\)?')
_TYPES = lazy_pattern(r"\b(To|From|T) = (?:const )?([\w:]+)")
_DIAGNOSTIC = lazy_pattern(
    r"^(?P<where>(?!Fatal Python)[^\n]*?)\berror: (?P<words>[^\n]+)", re.MULTILINE
)
_FIRST, _LAST = 3000, 1000
"""Letters of an exception's or a diagnostic's message that are read, from either end."""
_CALL = lazy_pattern(r"(?:\w+\.)*(?P<name>\w+)\(")
_INSTALLED = lazy_pattern(r"/site-packages/|/lib/python3")
_COLOURS = lazy_pattern(r"\x1b\[[0-9;]*m")
_CONTENTLESS = lazy_pattern(r"false|0")


Rules = Sequence[tuple[re.Pattern[str], str]]
"""The texts to replace, in small letters, each with its replacement."""


@frozen(kw_only=True)
class Wording:
    """How a toolchain says things."""

    package: str = ""
    """The Python package that its own code is in."""
    machine: str = ""
    """A pattern over the paths of that package's files that inspect the machine. An error there
    says nothing about a kernel.
    """
    wrappers: tuple[str, ...] = ()
    """Types of exceptions that show the kernel's source, with the cause below it or behind it."""
    assembler: re.Pattern[str] | None = None
    """A complaint of the assembler, with a group ``words``; of several the first tells."""
    assembler_name: str = ""
    """The beginning of the assembler's lines, and its name for readers."""
    forget: Rules = ()
    """The parts that differ between two appearances of one defect, each with its replacement."""
    fatal: tuple[re.Pattern[str], ...] = ()
    """How the compiler gives up without an assertion, each with a group ``words``; the first
    pattern that is found tells.
    """
    empty_diagnostic: re.Pattern[str] | None = None
    """The diagnostics that say nothing."""
    reader: OutputReader = Factory(OutputReader)
    """The reader of the compiler's output."""


@frozen(kw_only=True)
class Symptoms:
    """One attempt's own words. Texts are empty if there are none."""

    stage: str
    error: str = ""
    """Type of the exception that explains the failure, without its module."""
    message: str = ""
    """The message of that exception."""
    source: str = ""
    """The kernel's line that the front end points at, with the caret below it."""
    called: str = ""
    """The function that is called at the caret."""
    assertion: str = ""
    """The words of a failed assertion or a fatal error: its sentence if it has one, else its
    expression.
    """
    assertion_line: str = ""
    """The line it was printed on, without folders."""
    diagnostic: str = ""
    """The first of the compiler's diagnostics."""
    diagnostic_line: str = ""
    """The same with its place."""
    assembler: str = ""
    """The first complaint of the assembler."""
    target: str = ""
    """``known`` if the toolchain has an assembler that knows the target."""
    output: str = ""
    """All that was printed."""
    place: str = ""
    """Where in the toolchain the exception was raised, by file and function: ``semantic.py:
    dot``.
    """
    raiser: str = ""
    """``kernel`` if Python code of the kernel's own files raised the exception, which then says
    nothing about the toolchain.
    """
    statement: str = ""
    """The first line of the statement that raised it there, as written: ``assert acc.type ==
    ret_ty``.
    """
    pass_: str = ""
    """The pass that was at work, in a name that releases do not change; empty outside of passes and
    where nobody noticed.
    """


def of(evidence: Evidence, wording: Wording) -> Symptoms:
    """Read the words out of one attempt's evidence, of much its beginning and its end."""
    evidence = _without_colours(within_bounds(evidence))
    messages = "\n".join(link.message for link in evidence.raised)
    everything = f"{evidence.stderr}\n{messages}"
    error, message = _explanation(evidence.raised, wording)
    assertion, assertion_line = _assertion(evidence.stderr, wording)
    diagnostic, diagnostic_line = _diagnostic(evidence.stderr, wording)
    place, statement = _raised_at(evidence.raised, wording)
    source = _source_line(evidence)
    return Symptoms(
        stage=evidence.stage,
        error=error,
        message=_bounded(message),
        source=_bounded(source) or evidence.diagnosis.line or "",
        called=_called(source),
        assertion=_bounded(assertion),
        assertion_line=_bounded(assertion_line),
        diagnostic=_bounded(diagnostic),
        diagnostic_line=_bounded(diagnostic_line),
        assembler=_complaint(everything, wording),
        target="known" if evidence.target_known else "",
        output=evidence.stderr,
        place=place,
        raiser="kernel" if _is_of_kernel(evidence.raised) else "",
        statement=statement,
        pass_=_pass(evidence, wording),
    )


def _bounded(text: str) -> str:
    """The part of a text that classes look at.

    Patterns may take a time that grows faster than their text.
    """
    return text if len(text) <= _FIRST + _LAST else f"{text[:_FIRST]}\n[…]\n{text[-_LAST:]}"


def _without_colours(evidence: Evidence) -> Evidence:
    """The same evidence as a terminal would show it that knows no colours."""
    if "\x1b[" not in evidence.stderr and not any(
        "\x1b[" in link.message for link in evidence.raised
    ):
        return evidence
    raised = tuple(evolve(link, message=_COLOURS.sub("", link.message)) for link in evidence.raised)
    return evolve(evidence, stderr=_COLOURS.sub("", evidence.stderr), raised=raised)


def _explanation(raised: tuple[Raised, ...], wording: Wording) -> tuple[str, str]:
    """Type and message of the exception that says why, unwrapped."""
    chain = [link for link in raised if link.type != _LOG] or list(raised)
    unwrapped = [(link, *_unwrapped(link, wording)) for link in chain]
    wrappers = [
        number for number, (link, _, _) in enumerate(unwrapped) if _is_wrapper(link, wording)
    ]
    # What a wrapper hides explains it. Of others the first: it was raised while, and knowing that,
    # the second was handled.
    after = unwrapped[wrappers[-1] + 1 :] if wrappers else unwrapped
    before = unwrapped[: wrappers[-1] + 1][::-1] if wrappers else []
    explanation = next(((kind, message) for _, kind, message in [*after, *before] if message), None)
    return explanation or (unwrapped[-1][1:] if unwrapped else ("", ""))


def _unwrapped(link: Raised, wording: Wording) -> tuple[str, str]:
    """An exception's own words.

    Those of a ``CompilationError`` stand below the caret, and those of a repr are in it.
    """
    kind = link.type.rpartition(".")[2]
    caret = list(_CARET.finditer(link.message))
    if caret:
        message = link.message[caret[-1].end() :].strip()
    elif _quotes_source(link, wording):
        # The message shows the whole function, and the cause below it.
        message = link.message.rstrip().rpartition("\n")[2].strip()
        message = message if _REPR.fullmatch(message) else ""
    else:
        message = link.message.strip()
    shown = _REPR.fullmatch(message) if caret or _is_wrapper(link, wording) else None
    if shown is None:
        return kind, _unquoted(kind, message)
    kind = shown["type"].rpartition(".")[2]
    try:
        argument = (
            ast.literal_eval(expression_of(shown["argument"].strip())) if shown["argument"] else ""
        )
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return kind, shown["argument"]
    return kind, str(argument)


def _is_wrapper(link: Raised, wording: Wording) -> bool:
    return link.type.rpartition(".")[2] in wording.wrappers


def _quotes_source(link: Raised, wording: Wording) -> bool:
    """Whether an exception shows a whole function without a line in it.

    Triton does so for nodes that have no line.
    """
    return _is_wrapper(link, wording) and link.message.lstrip().startswith(
        ("def ", "async def ", "@")
    )


def _unquoted(kind: str, message: str) -> str:
    """The words of a ``KeyError`` without the quotes around its key.

    Some releases show its repr, which does not add quotes twice.
    """
    return (
        message[1:-1]
        if kind == "KeyError" and len(message) > 1 and message[0] == message[-1] in "'\""
        else message
    )


def _source_line(evidence: Evidence) -> str:
    """The line of the kernel and the caret below it.

    If exceptions of several functions have one, it is that of the line in flight. The outermost is
    the kernel's call of a function of its own. Inner ones may be in the toolchain's library.
    """
    in_flight = (evidence.diagnosis.line or "").strip()
    shown = [
        (link.message[: caret.start()].rstrip("\n").rpartition("\n")[2], caret[0])
        for link in evidence.raised
        if (caret := _CARET.search(link.message))
    ]
    own = next(
        (
            line_and_caret
            for line_and_caret in reversed(shown)
            if line_and_caret[0].strip() == in_flight
        ),
        None,
    )
    return "\n".join(own or shown[0]) if shown else ""


def _called(source: str) -> str:
    """``sum`` of a line that has ``tl.sum(`` above the caret."""
    line, _, caret = source.partition("\n")
    match = _CALL.match(line, len(caret) - 1) if caret else None
    return match["name"] if match else ""


def _assertion(output: str, wording: Wording) -> tuple[str, str]:
    """The words of an assertion or a fatal error, and its line."""
    if match := _ASSERTION.search(output):
        place = f"{_base(match['file'])}:{match['line']}: {_name_of(match['function'])}"
        return _point_of(match), f"{place}: Assertion `{_one_line(match['expression'])}' failed"
    for pattern in wording.fatal:
        if match := pattern.search(output):
            return match["words"], _one_line(match[0]).replace('", line', ", line")
    return "", ""


def _point_of(match: re.Match[str]) -> str:
    """The sentence in an assertion, else the expression, with the function if that says nothing.

    The sentence outlives its expression. Assertions of LLVM's casts and containers say the same
    everywhere, so the types that they were instantiated with tell them apart.
    """
    expression = _one_line(match["expression"])
    literal = _LITERAL.search(expression)
    if _CONTENTLESS.fullmatch(expression):
        return f"{_name_of(match['function'])}: {expression}"
    types = sorted(
        {f"{name}={kind.rpartition(':')[2]}" for name, kind in _TYPES.findall(match["function"])}
    )
    return " ".join([literal["words"] if literal else expression, *types])


def _name_of(signature: str) -> str:
    """The name of a function in a signature.

    It is ``reshapeOuts`` for ``mlir::LinearLayout
    mlir::LinearLayout::reshapeOuts(llvm::ArrayRef<…>) const``.
    """
    head = signature.replace("(anonymous namespace)", "").partition("(")[0]
    return re.split(r"::| |\*|&", head)[-1] or head.strip()


def _complaint(text: str, wording: Wording) -> str:
    """The assembler's words."""
    match = wording.assembler.search(text) if wording.assembler else None
    return match["words"] if match else ""


def _diagnostic(output: str, wording: Wording) -> tuple[str, str]:
    """The first diagnostic with something to say, and its line."""
    for match in _DIAGNOSTIC.finditer(output):
        of_assembler = wording.assembler_name != "" and match[0].startswith(wording.assembler_name)
        is_empty = wording.empty_diagnostic is not None and wording.empty_diagnostic.search(
            match["words"]
        )
        if not is_empty and not of_assembler:
            return match["words"].strip(), _one_line(
                f"{_short_location(match['where'])}error: {match['words']}"
            )
    return "", ""


def _short_location(where: str) -> str:
    match = re.search(r'(?<![^\s"(])(?P<path>[^\s"(]+?)"?:(?P<line>\d+):\d+', where)
    return f"{_base(match['path'])}:{match['line']}: " if match else ""


def _raised_at(raised: tuple[Raised, ...], wording: Wording) -> tuple[str, str]:
    """File and function, and the statement, of the innermost frame in the toolchain's own files.

    Without such a frame, it is the innermost of all.
    """
    frames = frames_of(raised)
    own = [
        frame for frame in frames if wording.package and f"/{wording.package}/" in frame["path"]
    ] or frames
    if not own:
        return "", ""
    return f"{_base(own[-1]['path'])}: {own[-1]['function']}", own[-1]["statement"] or ""


def _is_of_kernel(raised: tuple[Raised, ...]) -> bool:
    """Whether the innermost frame is in a file of the kernel.

    Such a file is neither an installed package's nor Python's own.
    """
    frames = frames_of(raised)
    return (
        bool(frames)
        and frames[-1]["path"].endswith(".py")
        and not _INSTALLED.search(frames[-1]["path"])
    )


def frames_of(raised: tuple[Raised, ...]) -> list[re.Match[str]]:
    """The frames of the innermost exception that has any."""
    traces = [list(_FRAME.finditer(link.traceback)) for link in raised]
    return next((frames for frames in reversed(traces) if frames), [])


def _pass(evidence: Evidence, wording: Wording) -> str:
    """The pass at work: as the diagnosis has it, else as the compiler names it when one fails."""
    name = evidence.diagnosis.pass_
    if name is None:
        name = next((name for _, name in wording.reader.failed_passes(evidence.stderr) if name), "")
    return wording.reader.pass_key(name)


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _one_line(text: str) -> str:
    return " ".join(text.split())


# --- fingerprints ---------------------------------------------------------------------------------

DIGITS = 12
"""Length of the hexadecimal part: 48 bits, enough for the number of distinct failures in a
project.
"""

_WHICH = lazy_pattern(r"\b((?:index|axis|operand|argument|element|result|dimension|dim) #?)(\d+)\b")

_FORGET: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (lazy_pattern(pattern), replacement)
    for pattern, replacement in (
        (r"\x1b\[[0-9;]*m", ""),  # colours
        (r"""["'`]?(?<![\w/])~?(?:/[\w.+@=~-]+)+/?["'`]?""", "<path>"),
        (r"<path>(?::\d+)*", "<path>"),
        (r"(?<![\w.-])([.-]*+)[\w.-]+\.(?:py|cpp|cc|h|hpp|td|mlir|ll)(?::\d+)+", r"\1<path>"),
        (r"\b(?:at )?\d+:\d+(?::|\b)", ""),  # at 3:36:
        (r"(?<=\w)\[\]", ""),  # fp32[]
        (r"\bline \d+\b", "line"),
        (r"\b0x[0-9a-f]+\b", "<address>"),
        # Later releases print <['128'], fp32>, and earlier ones <[128], fp32>.
        (r"""['"](\d+)['"]""", r"\1"),
        (r"\b(?:\d+x)+(?=[a-z!])", "#x"),  # tensor<128x64xf32>
        (r"(?<![\w.])-?\d+(?:\.\d+)*(?:e[+-]?\d+)?\b", "#"),
        (r"#(?:, ?#)+", "#"),  # a shape is a shape, whatever its rank's sizes
        (r"""["'`’‘]""", "'"),
        (r"\s+", " "),
        (r" (?=,)", ""),
    )
)


def normalise(message: str, own: Rules = ()) -> str:
    """The words in a form that is the same in another release, machine and block size.

    ``own`` are the toolchain's rules, which come before those that hold for all.
    """
    # Without its "#", which would make a layout of what is spelled.
    text = _WHICH.sub(
        lambda match: match[1].rstrip("#") + _spelled(match[2]), readable(message).lower()
    )
    for pattern, replacement in (*own, *_FORGET):
        text = pattern.sub(replacement, text)
    return text.strip(" .:;,!\n")


def fingerprint(
    failure_class: str, message: str, own: Rules = (), *, toolchain: str = DEFAULT_TOOLCHAIN
) -> str:
    """``class:hash`` of a failure class and the words that a failure was told in.

    The hash names the toolchain, so that classes of one name in two toolchains stay apart; that of
    the default one is left out.
    """
    scope = "" if toolchain == DEFAULT_TOOLCHAIN else f"{toolchain}/"
    digest = hashlib.sha256(
        f"{scope}{failure_class}\n{normalise(message, own)}".encode("utf-8", "backslashreplace")
    ).hexdigest()
    return f"{failure_class}:{digest[:DIGITS]}"


def _spelled(number: str) -> str:
    """A number in letters, so that the rule for sizes lets it pass."""
    return "n" + "".join(chr(ord("a") + int(digit)) for digit in number)
