"""The environments in the cache, as rows of a table, as JSON, and in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from compat.envs.inventory import KeptEnv, Pruned, size_of
from compat.model import BuiltEnv
from compat.text import in_bytes

_DAY = 86400.0


def env_document(env: KeptEnv) -> dict[str, Any]:
    """One env, as ``compat envs list --json`` prints it."""
    return {
        "name": env.folder.path.name,
        "folder": str(env.folder.path),
        "requirements": env.requirements,
        "specifier": env.specifier or None,
        "python": env.python,
        "backend": env.backend,
        "state": env.state,
        "error": env.error,
        "size": size_of(env.folder.path),
        "last_used": datetime.fromtimestamp(env.used, UTC).isoformat(timespec="seconds"),
    }


def env_row(env: KeptEnv, now: float) -> dict[str, str]:
    """One env in a table; ``now`` in seconds since 1970."""
    return {
        "name": env.folder.path.name,
        "requirements": " ".join(env.requirements),
        "python": env.python or "-",
        "state": env.state,
        "size": in_bytes(size_of(env.folder.path)),
        "last used": _ago(now - env.used),
    }


def built_line(built: BuiltEnv) -> str:
    """What came of building an env."""
    return f"{built.env.name}: {built.error or f'Python {built.python_version}, {built.python}'}"


def built_document(built: BuiltEnv) -> dict[str, Any]:
    """The same as JSON values."""
    return {"name": built.env.name, "python": built.python, "version": built.python_version, "error": built.error}


def pruned_lines(pruned: Iterable[Pruned], folder: Path, now: float, *, dry_run: bool) -> Iterator[str]:
    """What came of removing envs from the cache in that folder, a line each as it comes, and all of it together."""
    freed: list[int] = []
    for env in pruned:
        freed += [] if env.kept else [env.size]
        yield _pruned_line(env, now, dry_run=dry_run)
    done = "would remove" if dry_run else "removed"
    yield f"{done} {len(freed)} of the environments in {folder}, {in_bytes(sum(freed))}"


def pruned_document(pruned: Pruned, *, dry_run: bool) -> dict[str, Any]:
    """What came of removing an env, as JSON values; ``removed`` is what would be with ``dry_run``."""
    return {
        "name": pruned.env.folder.path.name,
        "folder": str(pruned.env.folder.path),
        "size": pruned.size,
        "removed": pruned.kept is None,
        "dry_run": dry_run,
        "kept": pruned.kept,
    }


def _pruned_line(pruned: Pruned, now: float, *, dry_run: bool) -> str:
    name = pruned.env.folder.path.name
    if pruned.kept:
        return f"left {name}: {pruned.kept}"
    done = "would remove" if dry_run else "removed"
    return f"{done} {name}: {in_bytes(pruned.size)}, last used {_ago(now - pruned.env.used)}"


def _ago(seconds: float) -> str:
    return "today" if seconds < _DAY else "1 day ago" if seconds < 2 * _DAY else f"{seconds / _DAY:.0f} days ago"
