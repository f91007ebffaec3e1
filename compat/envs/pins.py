"""Which release of a toolchain a version of PyTorch asks for: from its metadata, without downloading its wheels.

That is what the installer resolves. Wheels never change, so what is known is kept beside the envs.
"""

from __future__ import annotations

import logging
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from packaging.version import Version

from compat.envs.cache import EnvCache
from compat.envs.installers import UNSET, find_uv
from compat.errors import IndexUnavailable
from compat.files import content_of, replace_file
from compat.json_text import read_json, write_json

_log = logging.getLogger(__name__)
_DEADLINE = 120.0
"""Seconds that resolving may take; it takes half of one."""
_LARGEST = 1 << 20
_WORDS = 200
"""Letters of what the installer says that are told."""


class PinUnknown(IndexUnavailable):
    """It could not be found out: ``str`` of it is why."""


def pinned(
    torch: Version, distribution: str, python: str, cache: EnvCache, environ: Mapping[str, str] = os.environ
) -> Version | None:
    """The release that an installer takes with a PyTorch for a Python (``3.11``); ``None`` where it takes none.

    Raises PinUnknown.
    """
    path = cache.folder / "pairs" / "pins.json"
    kept, key = _kept(path), f"{torch} {distribution} {python}"
    if key not in kept:
        kept = {**kept, key: _resolved(torch, distribution, python, environ)}
        try:
            replace_file(path, write_json(kept))
        except OSError as error:
            _log.info("%s cannot be written: %s", path, error)
    return Version(kept[key]) if kept[key] else None


def _kept(path: Path) -> dict[str, str]:
    try:
        found = read_json(content_of(path, _LARGEST) or b"{}")
    except ValueError:
        return {}
    return {str(name): str(said) for name, said in found.items()} if isinstance(found, dict) else {}


def _resolved(torch: Version, distribution: str, python: str, environ: Mapping[str, str]) -> str:
    """The release, or an empty text."""
    uv = find_uv(environ)
    if uv is None:
        raise PinUnknown(f"what torch {torch} asks for is not known: uv, which reads that, is not installed")
    command = [uv, "pip", "compile", "-", "--python-version", python, "--no-header", "--no-annotate", "--quiet"]
    environment = {name: value for name, value in environ.items() if name not in UNSET}
    try:
        done = subprocess.run(
            command, input=f"torch=={torch}\n", env=environment, capture_output=True, text=True, timeout=_DEADLINE
        )
    except subprocess.TimeoutExpired:
        raise PinUnknown(f"what torch {torch} asks for is not known: the package index did not answer in {_DEADLINE:g} s") from None
    if done.returncode != 0:
        raise PinUnknown(f"what torch {torch} asks for is not known: {_short(' '.join(done.stderr.split()))}")
    match = re.search(rf"^{re.escape(distribution)}==(\S+)", done.stdout, re.MULTILINE)
    return match[1] if match else ""


def _short(words: str) -> str:
    return words if len(words) <= _WORDS else f"{words[:_WORDS]} …"
