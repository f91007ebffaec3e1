"""The record of an env, ``.compat/envs/<name>.json``: what was asked for, what was used to build it, and what came of it.

The record is the authority: an env without one that says it succeeded, for the very requirements that are asked for now, counts as
unusable, whatever its folder looks like. The installer's output lies beside it, as ``<name>.log``.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from compat.files import replace_file
from compat.model import Env

ENVS = Path(".compat", "envs")
"""Where the records are kept, below the root of the project."""

_WORDS = 40
"""Lines of an installer's output that are kept in the record; the whole output stays in the log beside it."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


def requirements(env: Env) -> tuple[str, ...]:
    """What is installed into an env, as pip reads it: toolchain, PyTorch, then the rest."""
    toolchain = env.wheel or (f"{env.distribution}=={env.triton}" if env.triton else env.distribution)
    return (toolchain, *((f"torch=={env.torch}",) if env.torch else ()), *env.install)


def install_arguments(env: Env, backend: str) -> tuple[str, ...]:
    """The arguments of ``pip install`` (or ``uv pip install``, where ``backend`` is ``uv``) that fill an env."""
    arguments = requirements(env)
    if env.index:
        arguments += ("--extra-index-url", env.index)
        # uv takes a package only from the first index that has its name; pip, and whoever names a further index, mean all of them.
        arguments += ("--index-strategy", "unsafe-best-match") if backend == "uv" else ()
    return arguments


def fingerprint(env: Env) -> str:
    """One hash over all that decides what is installed; a local wheel counts with its size and time, as it may be built again."""
    wheel = Path(env.wheel) if env.wheel and "://" not in env.wheel else None
    built = [wheel.stat().st_size, wheel.stat().st_mtime_ns] if wheel and wheel.is_file() else []
    asked = [requirements(env), str(env.python), env.index, built]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


# --- the file --------------------------------------------------------------------------------------------------------------------


def record_path(env: Env, root: Path) -> Path:
    """Where the record of an env is."""
    return root / ENVS / f"{env.name}.json"


def read_record(env: Env, root: Path) -> dict[str, Any] | None:
    """The record of an env: ``fingerprint``, ``ok`` and ``error`` at least, of a built one also ``location`` and ``packages``.

    ``None`` where there is none, or a damaged one.
    """
    try:
        record = json.loads(record_path(env, root).read_text(encoding="utf-8"))
        usable = record["schema"] == 1 and {"fingerprint", "ok", "error"} <= set(record)
        return record if usable and (not record["ok"] or {"location", "packages"} <= set(record)) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_record(env: Env, root: Path, *, error: str | None, **facts: Any) -> None:
    """Replace the record of an env, all at once. Without an error it says that the env can be used."""
    asked = {"schema": 1, "name": env.name, "requirements": requirements(env), "fingerprint": fingerprint(env)}
    replace_file(record_path(env, root), json.dumps({**asked, "ok": error is None, "error": error, **facts}, indent=1))


def forget(env: Env, root: Path) -> None:
    """Have an env count as never built."""
    record_path(env, root).unlink(missing_ok=True)


def log_path(env: Env, root: Path) -> Path:
    """Where the installer's output goes."""
    return root / ENVS / f"{env.name}.log"


def installers_words(env: Env, root: Path) -> str:
    """The last lines of the installer's output, without colours and empty lines."""
    output = _ANSI.sub("", log_path(env, root).read_text(encoding="utf-8", errors="replace"))
    lines = [line.rstrip() for line in output.splitlines()]
    return "\n".join([line for line in lines if line][-_WORDS:])
