"""What files of a distribution package indexes and folders of wheels have (as pip's ``--find-links`` takes them).

Answers of an index (:mod:`compat.envs.index`) are kept on disk for an hour; an older one serves while the index is down, and says
so.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import Version

from compat.envs.wheels import File, Listing, file_of
from compat.errors import IndexUnavailable
from compat.files import replace_file
from compat.json_text import read_json
from compat.model import Env

_log = logging.getLogger(__name__)

NO_INDEX = ("UV_OFFLINE", "UV_NO_INDEX", "PIP_NO_INDEX")
"""Variables that have installers ask no index."""
MAX_AGE = 3600.0
"""Seconds for which an answer of the index is believed without asking again."""


def index_urls(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The index that installers are told to use, and the folders of wheels besides it (``PIP_FIND_LINKS``, ``UV_FIND_LINKS``)."""
    names = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
    index = next((environ[name] for name in names if environ.get(name)), "https://pypi.org/simple")
    links = [environ.get(name, "").replace(",", " ").split() for name in ("UV_FIND_LINKS", "PIP_FIND_LINKS")]
    folders = (link for texts in links for link in texts if "://" not in link and Path(link).is_dir())
    return tuple(dict.fromkeys((index, *folders)))


def list_files(
    distribution: str, sources: Sequence[str], *, cache: Path, needs: Version | None = None, now: float | None = None
) -> Listing:
    """Everything that the sources (URLs of indexes, folders of wheels) have of a distribution.

    A kept answer in which ``needs`` is missing is not believed, since the release may be younger than the answer.
    Raises IndexUnavailable where a source does not answer and nothing of it is kept.
    """
    now = time.time() if now is None else now
    distribution = canonicalize_name(distribution)
    files: dict[str, File] = {}
    notes: list[str] = []
    for source in sources:
        if "://" not in source:
            found = _folder(Path(source), distribution)
        else:
            found, note = _kept_or_asked(distribution, source, cache, needs, now)
            notes += [note] if note else []
        for file in found:
            files.setdefault(file.filename, file)
    return Listing(distribution=distribution, files=tuple(files.values()), notes=tuple(notes))


def ask_index(distribution: str, *, cache: Path, environ: Mapping[str, str] = os.environ) -> Listing | None:
    """Ask the index that installers use what it has, and keep the answer. Raises IndexUnavailable where it does not answer.

    Nothing is asked where installers are told to ask none, or find the distribution in a folder of wheels: ``None``.
    """
    distribution = canonicalize_name(distribution)
    index, *folders = index_urls(environ)
    remote = "://" in index and not index.startswith("file:") and not any(environ.get(name) for name in NO_INDEX)
    if remote and not any(_folder(Path(folder), distribution) for folder in folders):
        return Listing(distribution=distribution, files=_ask(distribution, index, cache, time.time()))
    return None


def comes_from_index(env: Env) -> bool:
    """Whether an env's toolchain is installed from the index that installers use, and from no other place."""
    return env.wheel is None and env.index is None


def kept_files(distribution: str, sources: Sequence[str], *, cache: Path) -> Listing:
    """What kept answers of these sources say, however old they are; asks nobody. Folders of wheels are looked into."""
    distribution = canonicalize_name(distribution)
    files: dict[str, File] = {}
    for source in sources:
        found = _folder(Path(source), distribution) if "://" not in source else _read_kept(cache, distribution, source, 0.0)[0]
        for file in found or ():
            files.setdefault(file.filename, file)
    return Listing(distribution=distribution, files=tuple(files.values()))


# --- asking --------------------------------------------------------------------------------------------------------------------


def _kept_or_asked(
    distribution: str, source: str, cache: Path, needs: Version | None, now: float
) -> tuple[tuple[File, ...], str | None]:
    kept, age = _read_kept(cache, distribution, source, now)
    if kept is not None and age < MAX_AGE and (needs is None or Listing(distribution=distribution, files=kept).pythons_for(needs)):
        return kept, None
    try:
        files = _ask(distribution, source, cache, now)
    except IndexUnavailable as error:
        if kept is None:
            raise
        _log.info("%s", error)
        return kept, f"{error}; using what it said {_ago(age)}"
    return files, None


def _ask(distribution: str, source: str, cache: Path, now: float) -> tuple[File, ...]:
    from compat.envs.index import ask

    files = ask(source, distribution)
    _keep(cache, distribution, source, files, now)
    return files


def _folder(folder: Path, distribution: str) -> tuple[File, ...]:
    files = (File(filename=path.name, uploaded=path.stat().st_mtime) for path in sorted(folder.glob("*.whl")))
    return tuple(file for file in files if canonicalize_name(file.filename.partition("-")[0]) == distribution)


# --- keeping ------------------------------------------------------------------------------------------------------------------


def _kept_at(cache: Path, distribution: str) -> Path:
    return cache / f"{distribution}.json"


def _read_kept(cache: Path, distribution: str, source: str, now: float) -> tuple[tuple[File, ...] | None, float]:
    """What is kept of that source and its age in seconds; ``None`` where nothing usable is."""
    try:
        answer = _answers(cache, distribution)[source]
        listed = (file_of(name, pythons, yanked, *uploaded[:1]) for name, pythons, yanked, *uploaded in answer["files"])
        return tuple(file for file in listed if file is not None), max(0.0, now - float(answer["asked"]))
    except (KeyError, TypeError, ValueError, OverflowError):
        return None, 0.0


def _answers(cache: Path, distribution: str) -> dict[str, Any]:
    try:
        answers = read_json(_kept_at(cache, distribution).read_bytes())
    except (OSError, ValueError):
        return {}
    return answers if isinstance(answers, dict) else {}


def _keep(cache: Path, distribution: str, source: str, files: tuple[File, ...], now: float) -> None:
    answers = _answers(cache, distribution)
    answers[source] = {"asked": now, "files": [[f.filename, f.requires_python, f.yanked, f.uploaded] for f in files]}
    with suppress(OSError):  # kept to save a second; without it, the index is asked again
        replace_file(_kept_at(cache, distribution), json.dumps(answers))


def _ago(seconds: float) -> str:
    hours = seconds / 3600
    return f"{hours / 24:.0f} days ago" if hours >= 48 else f"{hours:.0f} hours ago" if hours >= 1 else "within the last hour"
