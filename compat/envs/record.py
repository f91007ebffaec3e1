"""The record of an env, ``env.json``: what was asked for, what was used to build it, and what came of it.

The record is the authority: an env without one that says it succeeded, for the very requirements that are asked for now, counts as
unusable, whatever its folder looks like. The installer's output lies beside it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from attrs import asdict

from compat.envs.cache import EnvCache, EnvFolder
from compat.envs.installed import NotInstalled, inspect
from compat.envs.locks import is_being_built
from compat.envs.requirements import fingerprint, requirements
from compat.files import content_of, replace_file
from compat.model import BuiltEnv, Env
from compat.model.json_text import read_json
from compat.text import lazy_pattern, printable

INTERRUPTED = "the installation was interrupted"
"""What a record says from the start of an installation to its end."""

_AGAIN = "a command without --no-build builds it"
_LINES = 40
"""Lines of an installer's output that are kept in the record; the whole output stays in the log beside it."""

_TAIL = 256 * 1024
"""Bytes of an installer's output that are looked at."""
_WIDTH = 1000
"""Letters of one of its lines."""
_LARGEST = 64 * 1024 * 1024
"""Bytes of a record; one of an env with PyTorch has ten thousand."""
_TEXTS = ("error", "location", "backend", "interpreter", "python", "name", "specifier")
_LISTS = ("requirements", "distributions")

_ANSI = lazy_pattern(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


def distributions(env: Env) -> list[str]:
    """The distributions without which an env is not what was asked for, the toolchain first."""
    return [env.distribution, *((env.framework,) if env.paired else ())]


def read_record(folder: EnvFolder) -> dict[str, Any] | None:
    """The record of an env: ``fingerprint``, ``ok`` and ``error`` at least, of a built one also ``location`` and ``packages``.

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
    if not all(isinstance(value, list) and all(isinstance(text, str) for text in value) for value in map(record.get, _LISTS)):
        return False
    if not record["ok"]:
        return bool(record["error"])
    packages = record.get("packages")
    return bool(record.get("location")) and isinstance(packages, list) and all(isinstance(package, dict) for package in packages)


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


def installer_errors(folder: EnvFolder) -> str:
    """The last lines of the installer's output, without colours and empty lines."""
    with folder.log.open("rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL))
        output = _ANSI.sub("", log.read(_TAIL).decode("utf-8", "replace"))
    lines = [line.rstrip()[:_WIDTH] for line in printable(output).split("\n")]
    return "\n".join([line for line in lines if line][-_LINES:])


def read_env(env: Env, cache: EnvCache) -> BuiltEnv:
    """What there is of an env in the cache, and why it cannot be used if it cannot. Starts no process."""
    folder = cache.folder_of(env)
    record = read_record(folder)
    if record is None or record["fingerprint"] != fingerprint(env):
        return BuiltEnv(env=env, error=f"not built yet: {_AGAIN}")
    if not record["ok"]:
        under_way = record["error"] == INTERRUPTED and is_being_built(folder)
        return BuiltEnv(env=env, error="another command is building it now" if under_way else record["error"])
    try:
        found = inspect(folder.path / record["location"], distributions(env))
    except NotInstalled as error:
        return BuiltEnv(env=env, error=printable(f"built, and since damaged: {error}; {_AGAIN} anew"))
    if [asdict(package) for package in found.packages] != record["packages"]:
        return BuiltEnv(env=env, error=f"its packages are not those that were installed: {_AGAIN} anew")
    return BuiltEnv(env=env, python=found.python, python_version=found.python_version, packages=found.packages, digest=found.digest)


def missing_envs(envs: Sequence[Env], cache: EnvCache) -> tuple[Env, ...]:
    """Those that cannot be used as they are on disk: never built, not built from what is asked for now, damaged, or failed."""
    return tuple(env for env in envs if read_env(env, cache).error is not None)
