"""The words by which a script knows its failure: looked for in what a compile prints, literally.

They have to stand in the output of every release that fails the same way, and in that of no release that fails otherwise: a
script that finds them where something else went wrong would claim a failure that is not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from compat.diagnosis import bounds
from compat.diagnosis.bounds import bounded
from compat.diagnosis.failure_class import Knowledge
from compat.model import Evidence
from compat.patterns import lazy_pattern

_SHORTEST = 8
"""Letters that an expected text has at least."""
_LONGEST = 80
"""Letters that are enough."""
_SEARCHED = 20_000
"""Characters of an output that are looked through at either end."""
_CONSIDERED = 2_000
"""Characters of a failure's words that a promise is looked for in."""
_TOKENS = 400
"""Words, spaces and signs of them."""
_QUOTES = lazy_pattern(r"[\"'`\\\n]")
_TOKEN = lazy_pattern(r"\w+|\s+|.", re.DOTALL)
_SIGNALS = {
    "SIGABRT": "Fatal Python error: Aborted",
    "SIGSEGV": "Fatal Python error: Segmentation fault",
    "SIGFPE": "Fatal Python error: Floating point exception",
    "SIGILL": "Fatal Python error: Illegal instruction",
    "SIGBUS": "Fatal Python error: Bus error",
}
"""What Python's fault handler, which the script turns on, says of a signal."""


def words_of(evidence: Evidence, knowledge: Knowledge) -> str:
    """What tells the failure, in the compiler's words on one line; the signal or the type of exception where it has none."""
    symptoms = knowledge.symptoms(evidence)
    recognised = knowledge.recognise(symptoms)
    message = str(getattr(symptoms, recognised[1].words)) if recognised else symptoms.message
    fallback = _SIGNALS.get(evidence.signal or "", symptoms.error)
    return " ".join((message or symptoms.message or fallback).split())


def sayings(evidence: Evidence, knowledge: Knowledge) -> tuple[str, ...]:
    """What a failure may be known by, best first: :func:`words_of`, and the type of its exception."""
    return tuple(dict.fromkeys(filter(None, (words_of(evidence, knowledge), knowledge.symptoms(evidence).error))))


def printed(evidence: Evidence) -> str:
    """What a script prints of such an attempt, as far as it is looked through."""
    exceptions = bounded("\n".join(f"{link.type}: {link.message}" for link in bounds.chain(evidence.raised)), 4 * _SEARCHED)
    signal = _SIGNALS.get(evidence.signal or "", "")
    return "\n".join([evidence.stderr[:_SEARCHED], evidence.stderr[_SEARCHED:][-_SEARCHED:], exceptions, signal])


def promise(said: Sequence[str], alike: Sequence[str], others: Sequence[str] = ()) -> str:
    """A piece of what is ``said`` that stands literally in each of the outputs ``alike`` and in none of ``others``.

    A piece without quotes that is short enough to be read is taken where there is one; it is made longer, with quotes and all,
    until it is in none of the others. Empty where nothing tells them apart.
    """
    for message in said:
        for piece in _candidates(message[:_CONSIDERED], alike):
            if not any(piece in other for other in others):
                return piece
    return ""


def _candidates(message: str, outputs: Sequence[str]) -> Iterator[str]:
    """Pieces of some words that are in all outputs, those to be preferred first."""
    pieces = list(_common(message, outputs))
    plain = (part.strip() for piece in pieces for part in _QUOTES.split(piece))
    for group in (plain, pieces):
        for piece in sorted((piece for piece in group if len(piece) >= _SHORTEST), key=len, reverse=True):
            yield _enough(piece)
            yield piece


def _enough(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST].rpartition(" ")[0] or text[:_LONGEST]


def _common(message: str, outputs: Sequence[str]) -> Iterator[str]:
    """The longest pieces of some words that stand in all outputs, in whole words: half a name would be found in another name.

    Two ends move along the words; what is between them is looked for once for each step, among words that are marked off.
    """
    tokens = _TOKEN.findall(message)[:_TOKENS]
    marked = [_marked(_TOKEN.findall(output)) for output in outputs]
    reached = 0
    for first in range(len(tokens)):
        last = max(reached, first)
        while last < len(tokens) and all(_marked(tokens[first : last + 1]) in output for output in marked):
            last += 1
        if last > max(reached, first) and (piece := "".join(tokens[first:last]).strip()):
            yield piece
        reached = last


def _marked(tokens: Sequence[str]) -> str:
    return "\0".join(("", *tokens, ""))
