"""The record of an env, ``env.json``: what was asked for, what was used to build it, and what came of it.

The record is the authority: an env without one that says it succeeded, for the very requirements that are asked for now, counts as
unusable, whatever its folder looks like. The installer's output lies beside it.
"""

from __future__ import annotations

import json
import os
from typing import Any

from compat.envs.cache import EnvFolder
from compat.envs.requirements import fingerprint, requirements
from compat.files import content_of, replace_file
from compat.json_text import read_json
from compat.model import Env
from compat.patterns import lazy_pattern
from compat.printable import printable

INTERRUPTED = "the installation was interrupted"
"""What a record says from the start of an installation to its end."""

_WORDS = 40
"""Lines of an installer's output that are kept in the record; the whole output stays in the log beside it."""

_TAIL = 256 * 1024
"""Bytes of an installer's output that are looked at."""
_WIDTH = 1000
"""Letters of one of its lines."""
_LARGEST = 64 * 1024 * 1024
"""Bytes of a record; one of an env with PyTorch has ten thousand."""
_TEXTS = ("error", "location", "backend", "interpreter", "python", "name", "specifier", "built_for")
_LISTS = ("requirements", "distributions")

_ANSI = lazy_pattern(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


def distributions(env: Env) -> list[str]:
    """The distributions without which an env is not what was asked for, the toolchain first."""
    return [env.distribution, *(("torch",) if env.torch else ())]


def read_record(folder: EnvFolder) -> dict[str, Any] | None:
    """The record of an env: ``fingerprint``, ``ok`` and ``error`` at least, of a built one also ``location`` and ``packages``.

    ``built_for`` is the mark of the command that had it built (:data:`compat.envs.env.MARK`), where that gave one.

    ``None`` where there is none, or a damaged one.
    """
    try:
        record = read_json(content_of(folder.record, _LARGEST) or b"")
    except ValueError:
        return None
    if not isinstance(record, dict) or record.get("schema") != 1 or not _has_form(record):
        return None
    return {**record, "error": printable(record["error"]) if record["error"] else record["error"]}


def _has_form(record: dict[str, Any]) -> bool:
    """Whether each part that others rely on is there and of its type."""
    if not (isinstance(record.get("ok"), bool) and isinstance(record.get("fingerprint"), str) and "error" in record):
        return False
    if not all(isinstance(record.get(name), str | None) and "\0" not in (record.get(name) or "") for name in _TEXTS):
        return False
    if not all(isinstance(each, list) and all(isinstance(text, str) for text in each) for each in map(record.get, _LISTS)):
        return False
    if not record["ok"]:
        return bool(record["error"])
    packages = record.get("packages")
    return bool(record.get("location")) and isinstance(packages, list) and all(isinstance(each, dict) for each in packages)


def write_record(folder: EnvFolder, env: Env, *, error: str | None, **facts: Any) -> None:
    """Replace the record of an env, all at once. Without an error it says that the env can be used. Raises OSError."""
    asked = {
        "schema": 1,
        "name": env.name,
        "requirements": requirements(env),
        "distributions": distributions(env),
        "specifier": str(env.python),
        "fingerprint": fingerprint(env),
    }
    replace_file(folder.record, json.dumps({**asked, "ok": error is None, "error": error, **facts}, indent=1))


def installers_words(folder: EnvFolder) -> str:
    """The last lines of the installer's output, without colours and empty lines."""
    with folder.log.open("rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL))
        output = _ANSI.sub("", log.read(_TAIL).decode("utf-8", "replace"))
    lines = [line.rstrip()[:_WIDTH] for line in printable(output).split("\n")]
    return "\n".join([line for line in lines if line][-_WORDS:])
