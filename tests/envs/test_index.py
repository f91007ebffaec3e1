"""Queries of a package index over HTTP: both formats of its answer, the cache, and outages."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from attrs import define, field
from packaging.version import Version

from compat.envs.cache import VARIABLE
from compat.envs.index import ask, download
from compat.envs.listing import (
    INDEX,
    MAX_AGE,
    File,
    Listing,
    ask_index,
    file_of,
    index_urls,
    list_files,
)
from compat.errors import IndexUnavailable
from tests.commands import run
from tests.envs.conftest import KERNEL, REPOSITORY, make_wheel

FILES = (
    File(filename="x-1.0+a-py3-none-any.whl", requires_python=">=3.9"),
    File(filename="x-2.0-py3-none-any.whl", yanked=True),
)
AS_JSON = json.dumps(
    {
        "files": [
            {"filename": "x-1.0+a-py3-none-any.whl", "requires-python": ">=3.9"},
            {"filename": "x-2.0-py3-none-any.whl", "yanked": "broken"},
        ]
    }
)
AS_HTML = """<!DOCTYPE html><html><body><h1>Links for x</h1>
<a href="../../p/x-1.0%2Ba-py3-none-any.whl#sha256=00" data-requires-python="&gt;=3.9">x-1.0+a-py3-none-any.whl</a><br/>
<a data-yanked="" href="https://files.example.org/x-2.0-py3-none-any.whl">x-2.0</a></body></html>"""


@define
class Index:
    """A package index that sends a given answer, and records the requests."""

    url: str = ""
    status: int = 200
    first_statuses: list[int] = field(factory=list)
    """The statuses of the first answers, before ``status`` counts."""
    body: str = AS_JSON
    kind: str = "application/vnd.pypi.simple.v1+json"
    encoding: str = ""
    redirects: dict[str, str] = field(factory=dict)
    """Path → the address that an answer redirects to."""
    asked: list[tuple[str, str | None]] = field(factory=list)


@pytest.fixture
def index() -> Iterator[Index]:
    package_index = Index()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            package_index.asked.append((self.path, self.headers["Authorization"]))
            assert "application/vnd.pypi.simple.v1+json" in self.headers["Accept"]
            if self.path in package_index.redirects:
                self.send_response(302)
                self.send_header("Location", package_index.redirects[self.path])
                self.end_headers()
                return
            first = package_index.first_statuses
            self.send_response(first.pop(0) if first else package_index.status)
            self.send_header("Content-Type", package_index.kind)
            self.send_header("Content-Encoding", package_index.encoding)
            self.end_headers()
            body = package_index.body.encode()
            self.wfile.write(gzip.compress(body) if package_index.encoding else body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in its base
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    package_index.url = f"http://127.0.0.1:{server.server_address[1]}/simple"
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield package_index
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("body", "kind"), [(AS_JSON, "application/vnd.pypi.simple.v1+json"), (AS_HTML, "text/html")]
)
def test_both_formats_list_the_same_files(
    index: Index, tmp_path: Path, body: str, kind: str
) -> None:
    index.body, index.kind = body, kind
    assert list_files("X", [index.url], cache=tmp_path).files == FILES
    assert index.asked == [("/simple/x/", None)]


@pytest.mark.parametrize("kind", ["application/vnd.pypi.simple.v1+json", "text/html"])
@pytest.mark.parametrize("right", [True, False])
def test_downloaded_file_is_checked_against_its_hash(index: Index, kind: str, right: bool) -> None:
    digest = hashlib.sha256(b"what is in it" if right else b"something else").hexdigest()
    listed = {
        "filename": "x-1.0.tar.gz",
        "url": "../../p/x-1.0.tar.gz",
        "hashes": {"sha256": digest},
    }
    index.kind = kind
    index.body = (
        json.dumps({"files": [listed]})
        if "json" in kind
        else f'<a href="../../p/x-1.0.tar.gz#sha256={digest}">x-1.0.tar.gz</a>'
    )
    (file,) = ask(index.url.replace("//", "//me:word@"), "x")
    index.body = "what is in it"
    if right:
        assert download(file) == b"what is in it"
    else:
        with pytest.raises(
            IndexUnavailable, match=r"x-1\.0\.tar\.gz differs from the package index's listing"
        ):
            download(file)
    assert index.asked == [
        ("/simple/x/", "Basic bWU6d29yZA=="),
        ("/p/x-1.0.tar.gz", "Basic bWU6d29yZA=="),
    ]


def test_answer_is_cached_for_an_hour(index: Index, tmp_path: Path) -> None:
    for now in (1000.0, 1000.0 + MAX_AGE - 1):
        assert list_files("x", [index.url], cache=tmp_path, now=now).files == FILES
    assert len(index.asked) == 1
    list_files("x", [index.url], cache=tmp_path, now=1000.0 + MAX_AGE + 1)
    assert len(index.asked) == 2


def test_index_is_asked_again_for_a_release_that_the_cache_lacks(
    index: Index, tmp_path: Path
) -> None:
    list_files("x", [index.url], cache=tmp_path, needs=Version("1.0"))
    list_files("x", [index.url], cache=tmp_path, needs=Version("1.0"))
    assert len(index.asked) == 1
    index.body = json.dumps({"files": [{"filename": "x-3.0-py3-none-any.whl"}]})
    listing = list_files("x", [index.url], cache=tmp_path, needs=Version("3.0"))
    assert listing.pythons_for(Version("3.0"))
    assert len(index.asked) == 2


@pytest.mark.parametrize(
    ("status", "body"),
    [(500, ""), (200, "not JSON"), (200, "{}"), (200, "[]"), (200, '{"files": [{}]}')],
)
def test_old_answer_is_used_with_a_note_while_the_index_is_down(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, body: str
) -> None:
    monkeypatch.setattr("compat.envs.index._WAITS", (0.0, 0.0))
    list_files("x", [index.url], cache=tmp_path, now=0.0)
    index.status, index.body = status, body
    listing = list_files("x", [index.url], cache=tmp_path, now=3 * 86400.0)
    assert listing.files == FILES
    assert len(listing.notes) == 1
    assert index.url in listing.notes[0]
    assert listing.notes[0].endswith("using its answer from 3 days ago")


@pytest.mark.parametrize(
    ("statuses", "requests"), [([503, 502], 3), ([429], 2), ([500, 503, 504], 3), ([403], 1)]
)
def test_a_busy_index_is_asked_three_times(
    index: Index, monkeypatch: pytest.MonkeyPatch, statuses: list[int], requests: int
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("compat.envs.index.time.sleep", waits.append)
    index.first_statuses = [*statuses]
    if statuses[-1] in (504, 403):
        with pytest.raises(IndexUnavailable, match=f"/simple/x/ answered {statuses[-1]} "):
            ask(index.url, "x")
    else:
        assert ask(index.url, "x") == FILES
    assert len(index.asked) == requests
    assert waits == [0.5, 2.0][: requests - 1]


def test_index_is_unavailable_without_an_old_answer(tmp_path: Path) -> None:
    with pytest.raises(
        IndexUnavailable,
        match=r"^http://127\.0\.0\.1:9/simple/x/ cannot be read: Connection refused",
    ):
        list_files("x", ["http://127.0.0.1:9/simple"], cache=tmp_path)


def test_a_distribution_that_the_index_does_not_have_has_no_files(
    index: Index, tmp_path: Path
) -> None:
    index.status = 404
    assert list_files("x", [index.url], cache=tmp_path).files == ()


@pytest.mark.parametrize(
    "cache_text",
    [
        "",
        "[]",
        "{",
        '{"URL": 3}',
        '{"URL": {"asked": "?", "files": []}}',
        '{"URL": {"asked": 0, "files": [1]}}',
    ],
)
def test_damaged_cache_is_ignored(index: Index, tmp_path: Path, cache_text: str) -> None:
    (tmp_path / "x.json").write_text(cache_text.replace("URL", index.url), encoding="utf-8")
    assert list_files("x", [index.url], cache=tmp_path).files == FILES


def test_a_password_goes_into_a_header_and_not_into_the_url(index: Index, tmp_path: Path) -> None:
    list_files("x", [index.url.replace("//", "//me:p%40ss@")], cache=tmp_path)
    assert index.asked == [("/simple/x/", "Basic bWU6cEBzcw==")]
    assert "ss@" not in (tmp_path / "x.json").read_text(encoding="utf-8")
    assert list_files("x", [index.url.replace("//", "//me:p%40ss@")], cache=tmp_path).files
    assert len(index.asked) == 1


def test_a_page_may_be_compressed_and_an_archive_stays_compressed(index: Index) -> None:
    index.body, index.encoding = (
        '{"files": [{"filename": "x-1.0.tar.gz", "url": "x.tar.gz"}]}',
        "gzip",
    )
    (file,) = ask(index.url, "x")
    index.kind = "application/x-tar"
    assert gzip.decompress(download(file)) == index.body.encode()


def test_a_token_without_a_user_is_a_password(index: Index, tmp_path: Path) -> None:
    list_files("x", [index.url.replace("//", "//:word@")], cache=tmp_path)
    assert index.asked == [("/simple/x/", "Basic OndvcmQ=")]
    with pytest.raises(IndexUnavailable) as raised:
        list_files("x", ["http://:word@127.0.0.1:9/simple"], cache=tmp_path)
    assert "word" not in str(raised.value)


def test_a_password_may_be_in_the_netrc_of_the_user(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "netrc"
    monkeypatch.setenv("NETRC", str(path))
    for text in ("machine 127.0.0.1 login me password word", "machine", "machine other login me"):
        path.write_text(text + "\n")
        ask(index.url, "x")
    header = "Basic bWU6d29yZA=="
    assert index.asked == [("/simple/x/", header), ("/simple/x/", None), ("/simple/x/", None)]


@pytest.mark.parametrize(("host", "authorized"), [("127.0.0.1", True), ("localhost", False)])
def test_links_are_relative_to_the_page_after_redirects(
    index: Index, host: str, authorized: bool
) -> None:
    """Only the host of the index gets the password."""
    index.body, index.kind = '<a href="../files/x-1.0.tar.gz">x</a>', "text/html"
    moved = index.url.replace("127.0.0.1", host).replace("simple", "mirror/all/x/")
    index.redirects = {"/simple/x/": moved}
    (file,) = ask(index.url.replace("//", "//me:word@"), "x")
    download(file)
    header = "Basic bWU6d29yZA=="
    after = header if authorized else None
    assert index.asked == [
        ("/simple/x/", header),
        ("/mirror/all/x/", after),
        ("/mirror/all/files/x-1.0.tar.gz", after),
    ]


def test_an_invalid_address_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IndexUnavailable, match=r"http://\[x/simple/x/ cannot be read: ") as raised:
        list_files("x", ["http://me:word@[x/simple"], cache=tmp_path)
    assert "word" not in str(raised.value)


def test_missing_certificates_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/ca.pem")
    with pytest.raises(IndexUnavailable, match=r"/nowhere/ca\.pem"):
        ask("https://127.0.0.1:9/simple", "x")


def test_folders_of_wheels_and_indexes_on_disk_are_sources(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    for name in ("x-1.0-py3-none-any.whl", "x_y-1.0-py3-none-any.whl", "x-1.0.tar.gz"):
        (tmp_path / "wheels" / name).touch()
    (tmp_path / "simple/x").mkdir(parents=True)
    (tmp_path / "simple/x/index.html").write_text(AS_HTML, encoding="utf-8")
    (tmp_path / "wheels/x-2.0-py3-none-any.whl").symlink_to(tmp_path / "removed.whl")
    sources = [str(tmp_path / "wheels"), (tmp_path / "simple").as_uri()]
    assert list_files("x", sources, cache=tmp_path / "c").files == (
        File(filename="x-1.0-py3-none-any.whl"),
        *FILES,
    )
    assert list_files("x.y", sources, cache=tmp_path / "c").files == (
        File(filename="x_y-1.0-py3-none-any.whl"),
    )


def test_index_is_the_one_in_the_variables_of_the_installers(tmp_path: Path) -> None:
    assert index_urls({}) == ("https://pypi.org/simple",)
    assert index_urls({"PIP_INDEX_URL": "https://a"}) == ("https://a",)
    assert index_urls({"UV_DEFAULT_INDEX": "a-b=https://a/?x=1"}) == ("https://a/?x=1",)
    assert index_urls({"PIP_INDEX_URL": "https://a", "UV_INDEX_URL": "https://b"}) == ("https://b",)
    assert index_urls({"UV_DEFAULT_INDEX": "https://c", "UV_INDEX_URL": "https://b"}) == (
        "https://c",
    )
    links = {
        "PIP_INDEX_URL": "https://a",
        "PIP_FIND_LINKS": f"{tmp_path} https://d {tmp_path}/gone",
    }
    assert index_urls(links) == ("https://a", str(tmp_path))


PUBLISHED = """{"files": [
    {"filename": "triton-3.6.0-cp311-cp311-manylinux_2_27_x86_64.whl"},
    {"filename": "triton-3.7.0-cp311-cp311-manylinux_2_27_x86_64.whl"},
    {"filename": "triton-3.8.0rc1-cp311-cp311-manylinux_2_27_x86_64.whl"},
    {"filename": "triton-3.10.0-cp39-cp39-manylinux_2_27_x86_64.whl", "yanked": true}
]}"""


@pytest.mark.parametrize(
    "options", [("--envs", "3.6.1"), ("--envs", "newest,3.6.1"), ("--envs", "3.6.1", "--no-build")]
)
def test_a_release_that_does_not_exist_is_refused_before_anything_is_built(
    index: Index, tmp_path: Path, options: tuple[str, ...]
) -> None:
    index.body = PUBLISHED
    (tmp_path / "k.toml").write_text(KERNEL, encoding="utf-8")
    (tmp_path / "k.py").write_text(
        "import triton\n\n@triton.jit\ndef k(x): ...\n", encoding="utf-8"
    )
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports/matrix.json").write_text("kept", encoding="utf-8")
    # An earlier command has asked the index.
    ask_index("triton", cache=tmp_path / INDEX, environ={"UV_DEFAULT_INDEX": index.url})
    done = run(
        *("matrix", "k.toml", *options),
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "UV_DEFAULT_INDEX": index.url,
            VARIABLE: str(tmp_path / "envs"),
        },
    )
    assert (
        done.stderr
        == "error: unknown release 3.6.1 of triton: the package index does not have it\n"
        "  hint: The nearest releases on the package index: 3.6.0, 3.7.0.\n"
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert (tmp_path / "reports/matrix.json").read_text(encoding="utf-8") == "kept"
    assert not list(tmp_path.glob("envs/*"))


def test_a_release_may_be_in_a_further_index(index: Index, tmp_path: Path) -> None:
    index.body = PUBLISHED
    further = tmp_path / "further/triton"
    wheel = make_wheel(further, "triton", "3.6.1")
    (further / "index.html").write_text(f'<a href="{wheel.name}">x</a>', encoding="utf-8")
    done = run(
        *("envs", "build", "3.6.1"),
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "UV_DEFAULT_INDEX": index.url,
            "UV_INDEX": further.parent.as_uri(),
            VARIABLE: str(tmp_path / "envs"),
        },
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("release", "around"),
    [("3.10.0", None), ("3.8.0rc1", None), ("3.5", ["3.6.0"]), ("3.9", ["3.7.0", "3.10.0"])],
)
def test_nearest_releases_are_listed_only_for_a_release_without_files(
    release: str, around: list[str] | None
) -> None:
    files = tuple(
        file
        for entry in json.loads(PUBLISHED)["files"]
        if (file := file_of(entry["filename"], None, False))
    )
    neighbours = Listing(files=files).around(Version(release))
    assert (neighbours and list(map(str, neighbours))) == around
