"""What one attempt *said*, taken out of stack traces, reprs and compiler logs.

The same complaint comes in many wrappings. Triton puts ``ValueError('…')`` as text into a ``CompilationError``, or chains the
cause, or (later releases) does both, by the kind of statement. A failing assertion is on file descriptor 2 alone, with a signal to
3.2 and with ``PassManager::run failed`` since. Here each attempt becomes one :class:`Symptoms`; only that is matched against the
taxonomy.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from attrs import frozen

from compat.model import Evidence, Raised

_LOG = "subprocess.CalledProcessError"
"""Says only that a program failed; what it printed is in the exception around it."""
_CARET = re.compile(r"^[ \t]*\^[ \t]*$", re.MULTILINE)
_REPR = re.compile(r"(?P<type>[A-Za-z_][\w.]*)\((?P<argument>.*)\)", re.DOTALL)
_ASSERTION = re.compile(
    r"(?P<file>[^\s:]+):(?P<line>\d+): (?P<function>[^\n]*?): Assertion `(?P<expression>.*?)' failed", re.DOTALL
)
_LITERAL = re.compile(r'&& *\(?"(?P<words>[^"]+)"\)?')
_TYPES = re.compile(r"\b(To|From|T) = (?:const )?([\w:]+)")
_FATAL = (
    re.compile(r"LLVM ERROR: (?P<words>[^\n]+)"),
    re.compile(r"cantFail wrapped call\n(?P<words>[^\n]+)"),
    re.compile(r"^(?P<words>[^\n]*)\nUNREACHABLE executed", re.MULTILINE),
    re.compile(r"(?P<words>UNREACHABLE executed at [^\n]+)"),
)
_DIAGNOSTIC = re.compile(r"^(?P<where>(?!ptxas|Fatal Python)[^\n]*?)\berror: (?P<words>[^\n]+)", re.MULTILINE)
_PIPELINE = "Failures have been detected while processing an MLIR pass pipeline"
_PTXAS = re.compile(r"^ptxas[^\n]*?\b(?:error|fatal) *: *(?:\(C\d+\) *)?(?P<words>[^\n]+)", re.MULTILINE)
_PTXAS_EPILOGUE = "Ptx assembly aborted due to errors"
_CONTENTLESS = re.compile(r"false|0")


@frozen(kw_only=True)
class Symptoms:
    """One attempt's own words. Texts are empty where there is nothing to say."""

    stage: str
    error: str = ""
    """Type of the exception that explains the failure, without its module."""
    message: str = ""
    """What that exception says."""
    source: str = ""
    """The kernel's line that the front end points at, with the caret below it."""
    assertion: str = ""
    """What a failed assertion or an ``LLVM ERROR`` says: its sentence if it has one, else its expression."""
    assertion_line: str = ""
    """The line it was printed on, without folders."""
    diagnostic: str = ""
    """The first MLIR diagnostic."""
    diagnostic_line: str = ""
    """The same with where it points."""
    ptxas: str = ""
    """The first complaint of the assembler."""
    output: str = ""
    """All that was printed."""


def of(evidence: Evidence) -> Symptoms:
    """Read the words out of one attempt's evidence."""
    told = "\n".join(link.message for link in evidence.raised)
    everything = f"{evidence.stderr}\n{told}"
    error, message = _explanation(evidence.raised)
    assertion, assertion_line = _assertion(evidence.stderr)
    diagnostic, diagnostic_line = _diagnostic(evidence.stderr)
    return Symptoms(
        stage=evidence.stage,
        error=error,
        message=message,
        source=_source_line(evidence.raised),
        assertion=assertion,
        assertion_line=assertion_line,
        diagnostic=diagnostic,
        diagnostic_line=diagnostic_line,
        ptxas=next((f["words"] for f in _PTXAS.finditer(everything) if _PTXAS_EPILOGUE not in f["words"]), ""),
        output=evidence.stderr,
    )


def _explanation(raised: tuple[Raised, ...]) -> tuple[str, str]:
    """Type and message of the innermost exception that says something, unwrapped."""
    told = [_unwrapped(link) for link in raised if link.type != _LOG]
    return next(((kind, message) for kind, message in reversed(told) if message), told[-1] if told else ("", ""))


def _unwrapped(link: Raised) -> tuple[str, str]:
    """An exception's own words: of a ``CompilationError`` what stands below the caret, of a repr what is in it."""
    kind = link.type.rpartition(".")[2]
    caret = list(_CARET.finditer(link.message))
    words = link.message[caret[-1].end() :].strip() if caret else link.message.strip()
    shown = _REPR.fullmatch(words) if caret or kind == "CompilationError" else None
    if shown is None:
        return kind, words
    try:
        argument = ast.literal_eval(shown["argument"]) if shown["argument"] else ""
    except (ValueError, SyntaxError):
        return kind, words
    return shown["type"].rpartition(".")[2], str(argument)


def _source_line(raised: tuple[Raised, ...]) -> str:
    """The line of the kernel and the caret below it, from the outermost exception (inner ones are in Triton's own library)."""
    for link in raised:
        if caret := _CARET.search(link.message):
            line = link.message[: caret.start()].rstrip("\n").rpartition("\n")[2]
            return f"{line}\n{caret[0]}"
    return ""


def _assertion(output: str) -> tuple[str, str]:
    """What an assertion or a fatal error says, and its line."""
    if found := _ASSERTION.search(output):
        place = f"{_base(found['file'])}:{found['line']}: {_name_of(found['function'])}"
        return _point_of(found), f"{place}: Assertion `{_one_line(found['expression'])}' failed"
    for pattern in _FATAL:
        if found := pattern.search(output):
            return found["words"], _one_line(found[0])
    return "", ""


def _point_of(found: re.Match[str]) -> str:
    """The sentence in an assertion, which outlives its expression; else the expression; with the function where that says nothing.

    Assertions of LLVM's casts and containers say the same everywhere; the types they were instantiated with tell them apart.
    """
    expression = _one_line(found["expression"])
    literal = _LITERAL.search(expression)
    if _CONTENTLESS.fullmatch(expression):
        return f"{_name_of(found['function'])}: {expression}"
    types = sorted({f"{name}={kind.rpartition(':')[2]}" for name, kind in _TYPES.findall(found["function"])})
    return " ".join([literal["words"] if literal else expression, *types])


def _name_of(signature: str) -> str:
    """``reshapeOuts`` of ``mlir::LinearLayout mlir::LinearLayout::reshapeOuts(llvm::ArrayRef<…>) const``."""
    head = signature.replace("(anonymous namespace)", "").partition("(")[0]
    return re.split(r"::| |\*|&", head)[-1] or head.strip()


def _diagnostic(output: str) -> tuple[str, str]:
    """The first MLIR diagnostic with something to say, and its line."""
    for found in _DIAGNOSTIC.finditer(output):
        if _PIPELINE not in found["words"]:
            return found["words"].strip(), _one_line(f"{_short_location(found['where'])}error: {found['words']}")
    return "", ""


def _short_location(where: str) -> str:
    found = re.search(r'(?P<path>[^\s"(]+?)"?:(?P<line>\d+):\d+', where)
    return f"{_base(found['path'])}:{found['line']}: " if found else ""


def failing_pass(output: str) -> Iterator[str]:
    """The lines in which MLIR names the pass that failed."""
    for found in re.finditer(r"Pipeline failed while executing \[[^\]]*\]", output):
        yield found[0]


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _one_line(text: str) -> str:
    return " ".join(text.split())
