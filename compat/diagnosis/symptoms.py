"""The symptoms of one attempt: its messages, without stack traces, reprs and compiler logs.

The same message comes in many forms. Triton puts ``ValueError('…')`` as text into a
``CompilationError``, or chains the cause. Later releases do both, depending on the kind of
statement. A failed assertion is on file descriptor 2 alone. Releases up to 3.2 then end with a
signal, and later ones report ``PassManager::run failed``. This module turns each attempt into one
:class:`Symptoms`, and the failure classes match only that. A toolchain's :class:`MessagePatterns`
has its own forms. This module has the forms of all programs in C++ and Python.

:func:`fingerprint` makes a short hash of the message of a failure. The hash is equal for the same
defect, and different for different defects. It leaves out the parts that differ between two
occurrences of one defect: paths, lines, addresses, temporary files, quotation marks, and sizes,
because the same error at another block size is the same failure. It keeps the message itself: the
compiler's words, names and dtypes, and small numbers that select something (``index 1``,
``axis 0``, ``operand 2``).
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Sequence

from attrs import Factory, evolve, frozen

from compat.diagnosis.pipeline import OutputReader
from compat.model import DEFAULT_TOOLCHAIN, Evidence, RaisedException
from compat.model.evidence import within_bounds
from compat.source.parsing import expression_of
from compat.text import lazy_pattern, readable

_LOG = "subprocess.CalledProcessError"
"""An exception that says only that a program failed. The exception around it has the output."""
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
    # After the first ``file:line`` of a line, the pattern never goes back. So it reads a line once.
    r"^(?>[^\n]*?(?<![^\s:])(?P<file>[^\s:]++):(?P<line>\d++): )(?P<function>[^\n]*?): Assertion"
    r" [`'](?P<expression>.{0,2000}?)' failed",
    re.DOTALL | re.MULTILINE,
)
_LITERAL = lazy_pattern(r'&& *\(?"(?P<words>[^"]+)"\)?')
_TYPES = lazy_pattern(r"\b(To|From|T|_Tp) = (?:const )?([\w:]+)")
_DIAGNOSTIC = lazy_pattern(
    r"^(?P<where>(?!Fatal Python)[^\n]*?)\berror: (?P<words>[^\n]+)", re.MULTILINE
)
_FIRST, _LAST = 3000, 1000
"""Characters of a message that are read, from its beginning and from its end."""
_CALL = lazy_pattern(r"(?:\w+\.)*(?P<name>\w+)\(")
_INSTALLED = lazy_pattern(r"/site-packages/|/lib/python3")
_EXIT_CODE = lazy_pattern(r"None|-?\d+")
COLOURS = lazy_pattern(r"\x1b\[[0-9;]*m")
"""Escape sequences for colours."""
_CONTENTLESS = lazy_pattern(r"false|0")


Rules = Sequence[tuple[re.Pattern[str], str]]
"""Patterns for the texts to replace, in lower case, each with its replacement."""


@frozen(kw_only=True)
class MessagePatterns:
    """The forms of a toolchain's messages."""

    package: str = ""
    """The Python package with the toolchain's own code."""
    machine: str = ""
    """Pattern for the paths of that package's files that inspect the machine. An error there says
    nothing about a kernel.
    """
    wrappers: tuple[str, ...] = ()
    """Types of exceptions that show the kernel's source. The cause is below the source, or is the
    next exception of the chain.
    """
    assembler: re.Pattern[str] | None = None
    """Pattern for an error of the assembler, with a group ``words``. The first match counts."""
    assembler_name: str = ""
    """The beginning of the assembler's lines, and its name for readers."""
    forget: Rules = ()
    """The parts that differ between two appearances of one defect, each with its replacement."""
    fatal: tuple[re.Pattern[str], ...] = ()
    """Patterns for fatal errors without an assertion, each with a group ``words``. The first
    pattern that matches counts.
    """
    empty_diagnostic: re.Pattern[str] | None = None
    """Pattern for diagnostics without information."""
    reader: OutputReader = Factory(OutputReader)
    """The reader of the compiler's output."""


@frozen(kw_only=True)
class Symptoms:
    """The messages of one attempt. A text is empty if the attempt has no such message."""

    stage: str
    error: str = ""
    """Type of the exception that explains the failure, without its module."""
    message: str = ""
    """The message of that exception."""
    wordless_cause: str = ""
    """Type of the innermost exception if it has no message, and :attr:`error` is one around it."""
    last_output: str = ""
    """The last line of the output, if the program asked to exit without a reason."""
    source: str = ""
    """The kernel's line that the front end points at, with the caret below it."""
    called_function: str = ""
    """The function that is called at the caret."""
    assertion: str = ""
    """The text of a failed assertion or a fatal error. For an assertion it is the sentence, or the
    expression without one.
    """
    assertion_line: str = ""
    """The line of that text, without folders."""
    diagnostic: str = ""
    """The compiler's first diagnostic with information."""
    diagnostic_line: str = ""
    """That diagnostic with its place."""
    assembler: str = ""
    """The first error of the assembler."""
    target: str = ""
    """``known`` if the toolchain has an assembler that knows the target."""
    output: str = ""
    """The printed text, without IR."""
    place: str = ""
    """File and function of the toolchain that raised the exception: ``semantic.py: dot``."""
    raiser: str = ""
    """``kernel`` if Python code of the kernel's own files raised the exception, which then says
    nothing about the toolchain.
    """
    statement: str = ""
    """The first line of the statement that raised it there, as written: ``assert acc.type ==
    ret_ty``.
    """
    pass_: str = ""
    """The pass that ran, under the name that all releases share. Empty outside of passes, and if
    nothing names the pass.
    """


def of(evidence: Evidence, wording: MessagePatterns) -> Symptoms:
    """Return the symptoms in one attempt's evidence.

    Of a long text, only its beginning and its end are read.
    """
    evidence = _without_colours(within_bounds(evidence))
    messages = "\n".join(link.message for link in evidence.raised)
    everything = f"{evidence.stderr}\n{messages}"
    error, message = _explanation(evidence.raised, wording)
    assertion, assertion_line = _assertion(evidence.stderr, wording)
    diagnostic, diagnostic_line = _diagnostic(evidence.stderr, wording)
    place, statement = _place_of_raise(evidence.raised, wording)
    source = _source_line(evidence)
    return Symptoms(
        stage=evidence.stage,
        error=error,
        message=_shorten_text(message),
        wordless_cause=_wordless_cause(evidence.raised) if message else "",
        last_output=_last_output(evidence),
        source=_shorten_text(source) or evidence.diagnosis.line or "",
        called_function=_function_at_caret(source),
        assertion=_shorten_text(assertion),
        assertion_line=_shorten_text(assertion_line),
        diagnostic=_shorten_text(diagnostic),
        diagnostic_line=_shorten_text(diagnostic_line),
        assembler=_complaint(everything, wording),
        target="known" if evidence.target_known else "",
        output=evidence.stderr,
        place=place,
        raiser="kernel" if _is_of_kernel(evidence.raised) else "",
        statement=statement,
        pass_=_pass(evidence, wording),
    )


def _shorten_text(text: str) -> str:
    """Return the part of a text that failure classes search.

    The time of a pattern may grow faster than the length of its text.
    """
    return text if len(text) <= _FIRST + _LAST else f"{text[:_FIRST]}\n[…]\n{text[-_LAST:]}"


def _without_colours(evidence: Evidence) -> Evidence:
    """Return the evidence without the escape sequences for colours in its texts."""
    if "\x1b[" not in evidence.stderr and not any(
        "\x1b[" in link.message for link in evidence.raised
    ):
        return evidence
    raised = tuple(evolve(link, message=COLOURS.sub("", link.message)) for link in evidence.raised)
    return evolve(evidence, stderr=COLOURS.sub("", evidence.stderr), raised=raised)


def _explanation(raised: tuple[RaisedException, ...], wording: MessagePatterns) -> tuple[str, str]:
    """Return type and message of the exception that explains the failure, unwrapped."""
    chain = [link for link in raised if link.type != _LOG] or list(raised)
    unwrapped = [(link, *_unwrap_exception(link, wording)) for link in chain]
    wrappers = [
        number for number, (link, _, _) in enumerate(unwrapped) if _is_wrapper(link, wording)
    ]
    # An exception inside a wrapper explains the failure. Without a wrapper it is the outermost one:
    # the code that raised it was handling the others, so it knew about them.
    after = unwrapped[wrappers[-1] + 1 :] if wrappers else unwrapped
    before = unwrapped[: wrappers[-1] + 1][::-1] if wrappers else []
    explanation = next(((kind, message) for _, kind, message in [*after, *before] if message), None)
    return explanation or (unwrapped[-1][1:] if unwrapped else ("", ""))


def _wordless_cause(raised: tuple[RaisedException, ...]) -> str:
    """Return the type of the innermost of several exceptions, if it has no message."""
    innermost = raised[-1]
    silent = len(raised) > 1 and not innermost.message.strip()
    return innermost.type.rpartition(".")[2] if silent else ""


def _last_output(evidence: Evidence) -> str:
    """Return the last line of the output, if the exception is an exit with a mere code."""
    exits = evidence.raised[:1]
    if not exits or exits[0].type != "SystemExit" or not _EXIT_CODE.fullmatch(exits[0].message):
        return ""
    return next((line for line in reversed(evidence.stderr.splitlines()) if line.strip()), "")


def _unwrap_exception(link: RaisedException, wording: MessagePatterns) -> tuple[str, str]:
    """Return the type and the message of an exception, without wrappers.

    The message of a ``CompilationError`` is below the caret. A message may be the repr of another
    exception, which then gives type and message.
    """
    kind = link.type.rpartition(".")[2]
    caret = list(_CARET.finditer(link.message))
    if caret:
        message = link.message[caret[-1].end() :].strip()
    elif _quotes_source(link, wording):
        # The message has the source of the whole function, and the cause below it.
        message = link.message.rstrip().rpartition("\n")[2].strip()
        message = message if _REPR.fullmatch(message) else ""
    else:
        message = link.message.strip()
        if (kind, message) == ("SystemExit", "None"):  # that is `exit()`
            message = ""
    shown = _REPR.fullmatch(message) if caret or _is_wrapper(link, wording) else None
    if shown is None:
        return kind, _strip_key_quotes(kind, message)
    kind = shown["type"].rpartition(".")[2]
    try:
        argument = (
            ast.literal_eval(expression_of(shown["argument"].strip())) if shown["argument"] else ""
        )
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return kind, shown["argument"]
    return kind, str(argument)


def _is_wrapper(link: RaisedException, wording: MessagePatterns) -> bool:
    return link.type.rpartition(".")[2] in wording.wrappers


def _quotes_source(link: RaisedException, wording: MessagePatterns) -> bool:
    """Whether an exception shows a whole function and points at no line.

    Triton does so for syntax nodes without a line number.
    """
    return _is_wrapper(link, wording) and link.message.lstrip().startswith(
        ("def ", "async def ", "@")
    )


def _strip_key_quotes(kind: str, message: str) -> str:
    """Return the message of a ``KeyError`` without the quotes around its key.

    Some releases show the repr of the error, whose key has no second pair of quotes.
    """
    return (
        message[1:-1]
        if kind == "KeyError" and len(message) > 1 and message[0] == message[-1] in "'\""
        else message
    )


def _source_line(evidence: Evidence) -> str:
    """Return the kernel's line and the caret below it.

    If several exceptions show a line, it is the line in flight, or the outermost line without it.
    The outermost line is the kernel's call of a function of its own. Inner lines may be in the
    toolchain's library.
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


def _function_at_caret(source: str) -> str:
    """Return the function that is called at the caret: ``sum`` for ``tl.sum(``."""
    line, _, caret = source.partition("\n")
    match = _CALL.match(line, len(caret) - 1) if caret else None
    return match["name"] if match else ""


def _assertion(output: str, wording: MessagePatterns) -> tuple[str, str]:
    """Return the text of an assertion or a fatal error, and its line."""
    if match := _ASSERTION.search(output):
        place = f"{_base(match['file'])}:{match['line']}: {_name_of(match['function'])}"
        return _point_of(match), f"{place}: Assertion `{_one_line(match['expression'])}' failed"
    for pattern in wording.fatal:
        if match := pattern.search(output):
            return match["words"], _one_line(match[0]).replace('", line', ", line")
    return "", ""


def _point_of(match: re.Match[str]) -> str:
    """Return the sentence in an assertion, or its expression without a sentence.

    The sentence comes first because the expression changes more often. An expression without
    information, such as ``false``, comes with its function. Assertions of LLVM's casts and
    containers have the same text everywhere, so the types in their signature distinguish them.
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


def _complaint(text: str, wording: MessagePatterns) -> str:
    """Return the first error of the assembler; empty without one."""
    match = wording.assembler.search(text) if wording.assembler else None
    return match["words"] if match else ""


def _diagnostic(output: str, wording: MessagePatterns) -> tuple[str, str]:
    """Return the first diagnostic with information, and its line.

    Diagnostics of the assembler do not count.
    """
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


def _place_of_raise(
    raised: tuple[RaisedException, ...], wording: MessagePatterns
) -> tuple[str, str]:
    """Return place and statement of the innermost frame in the toolchain's own files.

    The place is the file and the function. Without such a frame, the innermost of all frames
    counts.
    """
    frames = frames_of(raised)
    own = [
        frame for frame in frames if wording.package and f"/{wording.package}/" in frame["path"]
    ] or frames
    if not own:
        return "", ""
    return f"{_base(own[-1]['path'])}: {own[-1]['function']}", own[-1]["statement"] or ""


def _is_of_kernel(raised: tuple[RaisedException, ...]) -> bool:
    """Whether the innermost frame is in a file of the kernel.

    Such a file belongs neither to an installed package nor to Python.
    """
    frames = frames_of(raised)
    return (
        bool(frames)
        and frames[-1]["path"].endswith(".py")
        and not _INSTALLED.search(frames[-1]["path"])
    )


def frames_of(raised: tuple[RaisedException, ...]) -> list[re.Match[str]]:
    """The frames of the innermost exception that has any."""
    traces = [list(_FRAME.finditer(link.traceback)) for link in raised]
    return next((frames for frames in reversed(traces) if frames), [])


def _pass(evidence: Evidence, wording: MessagePatterns) -> str:
    """Return the pass that ran, from the diagnosis, else from the compiler's report of a failure.

    Returns an empty text if neither names a pass.
    """
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
"""Length of the hexadecimal part. Its 48 bits suffice for the distinct failures of a project."""

_WHICH = lazy_pattern(
    r"\b((?:index|axis|operand|argument|element|result|dimension|dim|exit code) #?)(\d+)\b"
)

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
        # Later releases print <['128'], fp32>. Earlier releases print <[128], fp32>.
        (r"""['"](\d+)['"]""", r"\1"),
        (r"\b(?:\d+x)+(?=[a-z!])", "#x"),  # tensor<128x64xf32>
        (r"(?<![\w.])-?\d+(?:\.\d+)*(?:e[+-]?\d+)?\b", "#"),
        (r"#(?:, ?#)+", "#"),  # a shape of any rank
        (r"""["'`’‘]""", "'"),
        (r"\s+", " "),
        (r" (?=,)", ""),
    )
)


def normalise(message: str, own: Rules = ()) -> str:
    """Return the message in a form that releases, machines and block sizes do not change.

    ``own`` are the toolchain's rules. They apply before the common rules.
    """
    # The "#" goes away, because a word after "#" looks like a layout.
    text = _WHICH.sub(
        lambda match: match[1].rstrip("#") + _spell_number(match[2]), readable(message).lower()
    )
    for pattern, replacement in (*own, *_FORGET):
        text = pattern.sub(replacement, text)
    return text.strip(" .:;,!\n")


def fingerprint(
    failure_class: str, message: str, own: Rules = (), *, toolchain: str = DEFAULT_TOOLCHAIN
) -> str:
    """Return ``class:hash`` for a failure class and the message of a failure.

    The hash covers the name of the toolchain, so that classes of the same name in two toolchains
    stay distinct. The name of the default toolchain is left out.
    """
    scope = "" if toolchain == DEFAULT_TOOLCHAIN else f"{toolchain}/"
    digest = hashlib.sha256(
        f"{scope}{failure_class}\n{normalise(message, own)}".encode("utf-8", "backslashreplace")
    ).hexdigest()
    return f"{failure_class}:{digest[:DIGITS]}"


def _spell_number(number: str) -> str:
    """Return a number in letters, so that the rule for sizes does not replace it."""
    return "n" + "".join(chr(ord("a") + int(digit)) for digit in number)
