"""``install`` of an env or a companion: requirements as pip reads them, folders and wheels by their paths."""

from __future__ import annotations

import os
from pathlib import Path

from compat.config.toml_reader import Table
from compat.patterns import lazy_pattern

_EDITABLE = lazy_pattern(r"(?:-e|--editable)[=\s]\s*(?P<path>.+)")
_PATH = lazy_pattern(r"(?:\.{1,2}$|\.{0,2}/|~).*")
_ARCHIVES = (".whl", ".tar.gz", ".zip")


def installs(table: Table, base: Path) -> tuple[str, ...]:
    """What a table installs: ``einops<1``, ``-e /home/me/project``, ``/home/me/wheels/x.whl``. Raises ConfigError.

    Paths are relative to ``base``. A folder is installed as with ``-e``, so that edits count.
    """
    return tuple(_one(table, f"install[{index}]", text.strip(), base) for index, text in enumerate(table.strings("install")))


def is_path(installed: str) -> bool:
    """Whether something that :func:`installs` gives is a folder or a wheel, and not a requirement."""
    return installed.startswith(("-e ", "/"))


def _one(table: Table, key: str, text: str, base: Path) -> str:
    editable = _EDITABLE.fullmatch(text)
    if not editable and not _PATH.fullmatch(text):
        table.requirement(key, text)
        return text
    path_text = editable["path"] if editable else text
    path = Path(os.path.realpath(base / os.path.expanduser(path_text)))
    if path.is_dir():
        if not any((path / name).is_file() for name in ("pyproject.toml", "setup.py")):
            table.fail(f"{path_text!r} is no project: it has no pyproject.toml", key)
        return f"-e {path}"
    if not path.is_file() or editable or not path.name.endswith(_ARCHIVES):
        table.fail(f"there is no project {path_text!r}", key, hint=f"Looked for the folder {path}.")
    return str(path)
