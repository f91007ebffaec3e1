"""A client of package indexes: the files of a distribution, and their content.

It supports both forms of the "simple" API: JSON (PEP 691) and HTML (PEP 503).
"""

from __future__ import annotations

import base64
import hashlib
import logging
import os
import ssl
import time
import zlib
from contextlib import suppress
from datetime import datetime
from gzip import GzipFile
from html.parser import HTMLParser
from http.client import HTTPException, HTTPMessage, HTTPResponse
from netrc import NetrcParseError, netrc
from pathlib import Path
from typing import IO, cast
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, OpenerDirector, Request, build_opener

from compat.envs.listing import File, file_of, without_password
from compat.errors import IndexUnavailable
from compat.text import read_json

_log = logging.getLogger(__name__)

_ACCEPT = (
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2,"
    " text/html;q=0.1"
)
_PAGES = ("html", "json")
"""The ends of the types of pages."""
_TIMEOUT = 20.0
_BUSY = (429, 500, 502, 503, 504)
"""Statuses of an index, or of a proxy before it, that another attempt often does not get."""
_WAITS = (0.5, 2.0)
"""Seconds before the second attempt and before the third."""
_LARGEST = 128 * 1024 * 1024
"""The size limit of an answer in bytes, ten times the largest known one."""


def ask(source: str, distribution: str) -> tuple[File, ...]:
    """Return the files of a distribution that an index lists; none if the index lacks it.

    Raises IndexUnavailable if the index does not answer, or its answer is not in a known form.
    """
    page = f"{source.rstrip('/')}/{distribution}/"
    body, content_type, place = _read(page)
    if body is None:
        return ()
    try:
        return read_page(body, content_type, place)
    except ValueError as error:
        raise _unreadable(page, error) from error


def download(file: File) -> bytes:
    """Return the content of a file that an index lists.

    Raises IndexUnavailable if it cannot be downloaded, or differs from the hash in the index.
    """
    body, *_ = _read(file.url.partition("#")[0])
    algorithm, _, digest = urlsplit(file.url).fragment.partition("=")
    if body is None or (algorithm == "sha256" and hashlib.sha256(body).hexdigest() != digest):
        raise IndexUnavailable(f"{file.filename} differs from the package index's listing")
    return body


def _read(link: str) -> tuple[bytes | None, str, str]:
    """Return the content at an address, its type, and the address after redirects.

    The content is ``None`` if nothing is there. Raises IndexUnavailable.
    """
    url = without_password(link)
    _log.info("asking %s", url)
    try:
        if url.startswith("file://"):
            path = Path(unquote(urlsplit(url).path))
            return _of_file(path / "index.html" if url.endswith("/") else path), "text/html", link
        certificates = os.environ.get("SSL_CERT_FILE") or os.environ.get("PIP_CERT") or None
        if certificates and not os.path.isfile(certificates):
            raise ValueError(f"there is no file of certificates {certificates}")
        context = (
            ssl.create_default_context(cafile=certificates) if url.startswith("https://") else None
        )
        headers = {"Accept": _ACCEPT, **(_password_header(link) or _netrc_header(url))}
        request = Request(url, headers=headers)  # noqa: S310 - the user's index
        opener = build_opener(HTTPSHandler(context=context), _Redirects)
        with _open(opener, request) as answer:
            kind = answer.headers.get_content_type()
            # Some servers compress pages unasked. A compressed file may be an archive.
            packed = answer.headers.get("Content-Encoding") == "gzip"
            file = GzipFile(fileobj=answer) if packed and kind.endswith(_PAGES) else answer
            body = _within_limit(file.read(_LARGEST + 1))
            return body, kind, _with_password(answer.url, link)
    except HTTPError as error:
        if error.code == 404:
            return None, "", link
        raise IndexUnavailable(f"{url} answered {error.code} {error.reason}") from error
    except (URLError, HTTPException, OSError, ValueError, EOFError, zlib.error) as error:
        raise _unreadable(link, error) from error


def _open(opener: OpenerDirector, request: Request) -> HTTPResponse:
    """Return the answer to a request, which is sent again if the server is busy."""
    for wait in _WAITS:
        try:
            return cast(HTTPResponse, opener.open(request, timeout=_TIMEOUT))
        except HTTPError as error:
            if error.code not in _BUSY:
                raise
            error.close()
            _log.info("%s answered %s, so it is asked again", request.full_url, error.code)
            time.sleep(wait)
    return cast(HTTPResponse, opener.open(request, timeout=_TIMEOUT))


class _Redirects(HTTPRedirectHandler):
    """Follows redirects, and sends the password of an index to no other host."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None and request.host != req.host:
            request.remove_header("Authorization")
        return request


def _unreadable(link: str, error: Exception) -> IndexUnavailable:
    cause = error.reason if isinstance(error, URLError) else error
    reason = (cause.strerror if isinstance(cause, OSError) else None) or cause
    return IndexUnavailable(
        f"{without_password(link)} cannot be read: {reason}",
        hint="Check that this machine is online.",
    )


def _password_header(url: str) -> dict[str, str]:
    """Return the header for ``user:password@`` in a URL, which urllib does not support."""
    parts = urlsplit(url)
    if "@" not in parts.netloc:
        return {}
    return _authorization(unquote(parts.username or ""), unquote(parts.password or ""))


def _netrc_header(url: str) -> dict[str, str]:
    """Return the header for a host that the user's ``.netrc`` knows, as installers read it."""
    with suppress(OSError, ValueError, NetrcParseError):
        known_hosts = netrc(os.environ.get("NETRC") or os.path.expanduser("~/.netrc"))
        if entry := known_hosts.authenticators(urlsplit(url).hostname or ""):
            return _authorization(entry[0], entry[2] or "")
    return {}


def _authorization(user: str, password: str) -> dict[str, str]:
    secret = f"{user}:{password}".encode()
    return {"Authorization": "Basic " + base64.b64encode(secret).decode()}


def _with_password(url: str, link: str) -> str:
    """Return the URL with the ``user:password@`` of a link to the same host, if it has one."""
    parts, netloc = urlsplit(url), urlsplit(link).netloc
    same = parts.netloc == netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=netloc)) if same else url


def read_page(body: bytes, content_type: str, page: str) -> tuple[File, ...]:
    """Return the files that a page of a package index lists, in its JSON or HTML form.

    Raises ValueError if the page has neither form.
    """
    if content_type.endswith("json"):
        answer = read_json(body, lenient=True)
        files = answer.get("files") if isinstance(answer, dict) else None
        if not isinstance(files, list) or not all(
            isinstance(file, dict) and "filename" in file for file in files
        ):
            raise ValueError("its answer does not follow PEP 691")
        listed = (
            file_of(
                file.get("filename"),
                file.get("requires-python"),
                file.get("yanked"),
                _seconds(file.get("upload-time")),
                _link(page, file.get("url"), file.get("hashes")),
            )
            for file in files
        )
        return tuple(file for file in listed if file is not None)
    parser = _Links(page)
    try:
        parser.feed(body.decode("utf-8", "replace"))
    # The HTML parser of some Python versions raises one of these for invalid pages.
    except (AssertionError, RecursionError) as error:
        raise ValueError("its answer does not follow PEP 503") from error
    return tuple(parser.files)


def _link(page: str, url: object, hashes: object = None) -> str:
    """Return the URL of a file on a page, with its hash; empty if the page gives no URL."""
    if not isinstance(url, str):
        return ""
    digest = hashes.get("sha256") if isinstance(hashes, dict) else None
    return urljoin(page, url if digest is None else f"{url.partition('#')[0]}#sha256={digest}")


def _within_limit(body: bytes) -> bytes:
    if len(body) > _LARGEST:
        raise ValueError(f"its answer is longer than {_LARGEST:,} bytes")
    return body


def _of_file(path: Path) -> bytes | None:
    return _within_limit(path.read_bytes()) if os.path.isfile(path) else None


def _seconds(timestamp: object) -> float | None:
    """Return a file's upload time, in the form of PEP 700, in seconds since 1970."""
    try:
        return datetime.fromisoformat(timestamp).timestamp() if isinstance(timestamp, str) else None
    except (ValueError, OverflowError, OSError):
        return None


class _Links(HTMLParser):
    """The links of a PEP 503 page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self._page = page
        self.files: list[File] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        try:
            filename = unquote(urlsplit(attributes.get("href") or "").path).rpartition("/")[2]
            url = _link(self._page, attributes.get("href"))
        except ValueError:  # not a valid URL
            return
        file = file_of(
            filename, attributes.get("data-requires-python"), "data-yanked" in attributes, url=url
        )
        if tag == "a" and file is not None:
            self.files.append(file)
