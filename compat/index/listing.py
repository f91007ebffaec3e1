"""Asking package indexes what files a distribution has.

Understood are the "simple" API, as JSON (PEP 691) or HTML (PEP 503), whichever the index speaks, and a folder of wheels as pip's
``--find-links`` takes it. Answers are kept on disk for an hour; an older one serves while the index is down, and says so.
"""

from __future__ import annotations

import base64
import json
import os
import ssl
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from html.parser import HTMLParser
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import Request, urlopen

from packaging.utils import canonicalize_name
from packaging.version import Version

from compat.errors import IndexUnavailable
from compat.index.releases import File, Listing

MAX_AGE = 3600.0
"""Seconds for which an answer of the index is believed without asking again."""

_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_TIMEOUT = 20.0


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


# --- asking --------------------------------------------------------------------------------------------------------------------


def _kept_or_asked(
    distribution: str, source: str, cache: Path, needs: Version | None, now: float
) -> tuple[tuple[File, ...], str | None]:
    kept, age = _read_kept(cache, distribution, source, now)
    if kept is not None and age < MAX_AGE and (needs is None or Listing(distribution=distribution, files=kept).pythons_for(needs)):
        return kept, None
    try:
        files = _ask(source, distribution)
    except IndexUnavailable as error:
        if kept is None:
            raise
        return kept, f"{error}; using what it said {_ago(age)}"
    _keep(cache, distribution, source, files, now)
    return files, None


def _ask(source: str, distribution: str) -> tuple[File, ...]:
    url, headers = _without_password(f"{source.rstrip('/')}/{distribution}/")
    try:
        if url.startswith("file://"):
            return _files(Path(unquote(urlsplit(url).path), "index.html").read_bytes(), "text/html")
        certificates = os.environ.get("SSL_CERT_FILE") or os.environ.get("PIP_CERT") or None
        context = ssl.create_default_context(cafile=certificates) if url.startswith("https://") else None
        with urlopen(Request(url, headers={"Accept": _ACCEPT, **headers}), timeout=_TIMEOUT, context=context) as answer:
            return _files(answer.read(), answer.headers.get_content_type())
    except FileNotFoundError:
        return ()
    except HTTPError as error:
        if error.code == 404:
            return ()
        raise IndexUnavailable(f"{url} answered {error.code} {error.reason}") from error
    except (URLError, HTTPException, OSError, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise IndexUnavailable(f"{url} cannot be read: {reason}", hint="Is this machine online?") from error


def _without_password(url: str) -> tuple[str, dict[str, str]]:
    """The URL without ``user:password@``, which urllib does not understand, and the header that says the same."""
    parts = urlsplit(url)
    if not parts.username:
        return url, {}
    secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return bare, {"Authorization": "Basic " + base64.b64encode(secret.encode()).decode()}


def _files(body: bytes, content_type: str) -> tuple[File, ...]:
    if content_type.endswith("json"):
        try:
            return tuple(
                File(
                    filename=file["filename"],
                    requires_python=file.get("requires-python"),
                    yanked=bool(file.get("yanked")),
                    uploaded=_seconds(file.get("upload-time")),
                )
                for file in json.loads(body)["files"]
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("its answer is not what PEP 691 says") from error
    parser = _Links()
    parser.feed(body.decode("utf-8", "replace"))
    return tuple(parser.files)


def _seconds(time_: str | None) -> float | None:
    """When a file was uploaded, as PEP 700 writes it, in seconds since 1970."""
    try:
        return datetime.fromisoformat(time_).timestamp() if time_ else None
    except ValueError:
        return None


class _Links(HTMLParser):
    """The links of a PEP 503 page."""

    def __init__(self) -> None:
        super().__init__()
        self.files: list[File] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        filename = unquote(urlsplit(said.get("href") or "").path).rpartition("/")[2]
        if tag == "a" and filename:
            pythons = said.get("data-requires-python")
            self.files.append(File(filename=filename, requires_python=pythons, yanked="data-yanked" in said))


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
        files = tuple(
            File(filename=name, requires_python=pythons, yanked=yanked, uploaded=next(iter(uploaded), None))
            for name, pythons, yanked, *uploaded in answer["files"]
        )
        return files, max(0.0, now - float(answer["asked"]))
    except (KeyError, TypeError, ValueError):
        return None, 0.0


def _answers(cache: Path, distribution: str) -> dict[str, Any]:
    try:
        answers = json.loads(_kept_at(cache, distribution).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return answers if isinstance(answers, dict) else {}


def _keep(cache: Path, distribution: str, source: str, files: tuple[File, ...], now: float) -> None:
    answers = _answers(cache, distribution)
    answers[source] = {"asked": now, "files": [[f.filename, f.requires_python, f.yanked, f.uploaded] for f in files]}
    path = _kept_at(cache, distribution)
    partial = path.with_suffix(f".{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(answers), encoding="utf-8")
        partial.replace(path)
    except OSError:
        pass  # Kept to save a second; without it, the index is asked again.


def _ago(seconds: float) -> str:
    hours = seconds / 3600
    return f"{hours / 24:.0f} days ago" if hours >= 48 else f"{hours:.0f} hours ago" if hours >= 1 else "within the last hour"
