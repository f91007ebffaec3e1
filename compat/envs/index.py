"""Asking a package index what files a distribution has.

Understood is the "simple" API, as JSON (PEP 691) or HTML (PEP 503), whichever the index speaks.
"""

from __future__ import annotations

import base64
import logging
import os
import ssl
from datetime import datetime
from html.parser import HTMLParser
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import Request, urlopen

from compat.envs.wheels import File, file_of
from compat.errors import IndexUnavailable
from compat.json_text import read_json

_log = logging.getLogger(__name__)

_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_TIMEOUT = 20.0
_LARGEST = 128 * 1024 * 1024
"""Bytes that an answer may have; the largest there are have a tenth of it."""


def ask(source: str, distribution: str) -> tuple[File, ...]:
    """The files that an index lists. Raises IndexUnavailable where it does not answer, or not as an index does."""
    url, headers = _without_password(f"{source.rstrip('/')}/{distribution}/")
    _log.info("asking %s", url)
    try:
        if url.startswith("file://"):
            return _files(_of_file(Path(unquote(urlsplit(url).path), "index.html")), "text/html")
        certificates = os.environ.get("SSL_CERT_FILE") or os.environ.get("PIP_CERT") or None
        context = ssl.create_default_context(cafile=certificates) if url.startswith("https://") else None
        with urlopen(Request(url, headers={"Accept": _ACCEPT, **headers}), timeout=_TIMEOUT, context=context) as answer:
            return _files(_within_limit(answer.read(_LARGEST + 1)), answer.headers.get_content_type())
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
        answer = read_json(body, lenient=True)
        files = answer.get("files") if isinstance(answer, dict) else None
        if not isinstance(files, list) or not all(isinstance(file, dict) and "filename" in file for file in files):
            raise ValueError("its answer is not what PEP 691 says")
        found = (
            file_of(file.get("filename"), file.get("requires-python"), file.get("yanked"), _seconds(file.get("upload-time")))
            for file in files
        )
        return tuple(file for file in found if file is not None)
    parser = _Links()
    try:
        parser.feed(body.decode("utf-8", "replace"))
    except (AssertionError, RecursionError) as error:  # how Python's parser gives up, in some versions
        raise ValueError("its answer is not what PEP 503 says") from error
    return tuple(parser.files)


def _within_limit(body: bytes) -> bytes:
    if len(body) > _LARGEST:
        raise ValueError(f"its answer is longer than {_LARGEST:,} bytes")
    return body


def _of_file(path: Path) -> bytes:
    if not os.path.isfile(path):
        raise FileNotFoundError(path)
    return _within_limit(path.read_bytes())


def _seconds(said: object) -> float | None:
    """When a file was uploaded, as PEP 700 writes it, in seconds since 1970."""
    try:
        return datetime.fromisoformat(said).timestamp() if isinstance(said, str) else None
    except (ValueError, OverflowError, OSError):
        return None


class _Links(HTMLParser):
    """The links of a PEP 503 page."""

    def __init__(self) -> None:
        super().__init__()
        self.files: list[File] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        try:
            filename = unquote(urlsplit(said.get("href") or "").path).rpartition("/")[2]
        except ValueError:  # a link that is none
            return
        file = file_of(filename, said.get("data-requires-python"), "data-yanked" in said)
        if tag == "a" and file is not None:
            self.files.append(file)
