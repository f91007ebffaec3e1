"""What leaves this machine says nothing about it: no folders, no user, no host."""

from __future__ import annotations

import getpass
import re
import socket
from pathlib import Path

from compat.patterns import lazy_pattern

_IN_PATH = r"[^\s\"'`()\[\],;:]"
_PACKAGES = lazy_pattern(rf"(?<!{_IN_PATH})(?P<before>(?:(?!/){_IN_PATH})*+)/{_IN_PATH}*/(?:site|dist)-packages/")
_PATH = lazy_pattern(r"(?<![\w.:/~*-])/(?:[\w.+@=~-]+/)+(?P<base>[\w.+@=~-]+)?")
_ADDRESS = lazy_pattern(r"\b0x[0-9a-f]{6,}\b")
_THREAD = lazy_pattern(r"^((?:Current thread|Thread)) 0x[0-9a-f]+", re.MULTILINE)
_TEMPORARY = lazy_pattern(r"\btmp[a-z0-9_]{8}\b")


def without_places(text: str) -> str:
    """``text`` with every path shortened to what means something elsewhere.

    Files of a Python package keep their path in it, ``triton/compiler/compiler.py``; all others only their name.
    """
    text = _PATH.sub(lambda match: match["base"] or "…", _PACKAGES.sub(r"\g<before>", text))
    return _ADDRESS.sub("0x…", _TEMPORARY.sub("tmp", _THREAD.sub(r"\1", text)))


def identifying_words(text: str, own: str) -> list[str]:
    """The facts about this machine that a text gives away; what stands in ``own``, the kernel's source, was its author's to say."""
    facts = {str(Path.cwd()), str(Path.home()), socket.gethostname(), _user()} - {"", "/", "root"}
    return sorted(fact for fact in facts if _says(text, fact) and not _says(own, fact))


def _says(text: str, fact: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(fact)}(?!\w)", text) is not None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
