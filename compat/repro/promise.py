"""The words by which a script knows its failure: looked for in what a compile prints, literally.

They have to stand in the output of every release that fails in the same way, so they are what all of those have in common.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import reduce

from compat.evidence import symptoms
from compat.model import Evidence, Status
from compat.evidence.taxonomy import recognise

_SHORTEST = 8
"""Letters that fewer of prove nothing."""
_LONGEST = 80
"""Letters that are enough."""
_SEARCHED = 20_000
"""Characters of an output that are looked through at either end."""
_SIGNALS = {
    "SIGABRT": "Fatal Python error: Aborted",
    "SIGSEGV": "Fatal Python error: Segmentation fault",
    "SIGFPE": "Fatal Python error: Floating point exception",
    "SIGILL": "Fatal Python error: Illegal instruction",
    "SIGBUS": "Fatal Python error: Bus error",
}
"""What Python's fault handler, which the script turns on, says of a signal."""
SHARED_MEMORY = "bytes of shared memory"


def words_of(evidence: Evidence) -> str:
    """What tells the failure, in the compiler's words on one line; the signal or the type of exception where it has none."""
    said = symptoms.of(evidence)
    found = recognise(said)
    words = str(getattr(said, found[1].words)) if found else said.message
    fallback = _SIGNALS.get(evidence.signal or "", said.error)
    return " ".join((words or said.message or fallback).split())


def promise(evidence: Evidence) -> str:
    """The longest piece of :func:`words_of` that stands literally in what a script prints."""
    words = words_of(evidence)
    if words in _SIGNALS.values():
        return words
    printed = _printed(evidence)
    pieces = [piece.strip() for piece in re.split(r"[\"'`\\\n]", words)]
    whole = [piece for piece in pieces if len(piece) >= _SHORTEST and piece in printed]
    return _enough(max(whole, key=len) if whole else _common(words, printed) or symptoms.of(evidence).error)


def in_common(promised: str, others: Sequence[Evidence]) -> str:
    """What of a promise the outputs of other releases have too; empty where that is too little."""
    return reduce(
        lambda left, evidence: left if left in _printed(evidence) else _common(left, _printed(evidence)), others, promised
    )


def is_promise(text: str, status: Status) -> bool:
    """Whether there is enough of it to tell a failure by."""
    return len(text) >= _SHORTEST or status is Status.TIMED_OUT


def _enough(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST].rpartition(" ")[0] or text[:_LONGEST]


def _printed(evidence: Evidence) -> str:
    told = "\n".join(f"{link.type}: {link.message}" for link in evidence.raised)
    signal = _SIGNALS.get(evidence.signal or "", "")
    return "\n".join([evidence.stderr[:_SEARCHED], evidence.stderr[_SEARCHED:][-_SEARCHED:], told, signal])


def _common(words: str, printed: str) -> str:
    matcher = SequenceMatcher(None, words, printed, autojunk=False)
    match = matcher.find_longest_match(0, len(words), 0, len(printed))
    text = words[match.a : match.a + match.size]
    # Whole words only: half a number or half a name would be found in what says something else.
    if any(re.match(r"\w", rest) for rest in (words[match.a + match.size :], printed[match.b + match.size :])):
        text = re.sub(r"\w+$", "", text)
    if any(re.search(r"\w$", before) for before in (words[: match.a], printed[: match.b])):
        text = re.sub(r"^\w+", "", text)
    text = text.strip()
    return text if len(text) >= _SHORTEST else ""
