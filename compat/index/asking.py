"""Asking a package index what files a distribution has.

Understood is the "simple" API, as JSON (PEP 691) or HTML (PEP 503), whichever the index speaks.
"""

from __future__ import annotations

import base64
import json
import os
import ssl
from datetime import datetime
from html.parser import HTMLParser
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import Request, urlopen

from compat.errors import IndexUnavailable
from compat.index.releases import File

_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_TIMEOUT = 20.0


def ask(source: str, distribution: str) -> tuple[File, ...]:
    """The files that an index lists. Raises IndexUnavailable where it does not answer, or not as an index does."""
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
