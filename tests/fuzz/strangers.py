"""Files that people get from others: reports, stores, archives, folders to launch.

A file may be malicious. Each place checks everything that is made from such a file. The canary
(:mod:`tests.fuzz.canary`) detects everything else.
"""

from __future__ import annotations

import ast
import base64
import errno
import gzip
import hashlib
import io
import json
import re
import sqlite3
import tarfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Mapping
from contextlib import closing, suppress
from functools import cache
from html.parser import HTMLParser
from itertools import chain
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from markdown_it import MarkdownIt

from compat.archives import ArchiveLimits, BadArchive, read_tar, read_zip, write_files
from compat.config.locks import read_locks
from compat.envs.libraries import unpack_python
from compat.envs.listing import File
from compat.errors import CompatError
from compat.guard import Request, check_guard, guard_text, make_guard
from compat.launch.archive import pack_piece, read_folder
from compat.model import CompletedAction, Evidence
from compat.report.document import matrix_document
from compat.report.folder import merge_reports, merge_stores, read_report, write_reports
from compat.report.loading import load_report
from compat.report.render import FORMATS
from compat.report.render.page import matrix_html
from compat.report.summary.comparing import ReportSide, compare
from compat.report.summary.record import Report
from compat.report.views.diff import diff_document, diff_lines, diff_markdown
from compat.report.views.matrix_markdown import matrix_markdown
from compat.source.tree import Tree
from compat.store.database import attempts_of
from compat.store.store import Store
from compat.text import printable, write_json
from tests.fuzz.inputs import damaged_bytes, json_of, json_texts, toml_of, toml_texts
from tests.fuzz.places import CELL, ENV, PLACES, Place, as_json, shown
from tests.report.factory import troubled_matrix

HOSTILE = st.sampled_from(
    [
        "../secret",
        "../../secret",
        "a/../../secret",
        "/compat-fuzz/secret",
        "~/.bashrc",
        "..",
        ".",
        "secret\0",
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '" onmouseover="alert(1)',
        "javascript:alert(1)",
        "[x](javascript:alert(1))",
        "<!--",
        "]]>",
        "{{ 7 * 7 }}",
        "{% include 'x' %}",
        '"""\nimport os; os.system("true")\n"""',
        "'''\nraise SystemExit\n'''",
        "\\",
        "\nimport os\n",
        "#\r import os",
        "$(touch x)",
        "`touch x`; touch y",
        "--output=/compat-fuzz/x",
        "%n%s{0.__class__}",
    ]
)
"""Text that has a special meaning where it ends up."""


@st.composite
def poisoned(draw: st.DrawFn, document: Any) -> Any:
    """A document with hostile text in some of its strings and names.

    Strings and names that are equal get the same hostile text.
    """
    texts = sorted(set(_texts(document)))
    poison = draw(st.dictionaries(st.sampled_from(texts), HOSTILE, min_size=1, max_size=4))
    kinds = draw(st.booleans())
    return _replaced(document, poison, around=kinds)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = [*value, *value.values()] if isinstance(value, dict) else value
    return (
        [text for item in items for text in _texts(item)] if isinstance(value, list | dict) else []
    )


def _replaced(value: Any, poison: Mapping[str, str], *, around: bool) -> Any:
    if isinstance(value, str):
        other = poison.get(value)
        return value if other is None else f"{value}{other}" if around else other
    if isinstance(value, list):
        return [_replaced(item, poison, around=around) for item in value]
    if isinstance(value, dict):
        return {
            _replaced(name, poison, around=around): _replaced(item, poison, around=around)
            for name, item in value.items()
        }
    return value


# --- reports --------------------------------------------------------------------------------------

_ATTACHMENT = {"name": "abc.mlir", "gzip": base64.b64encode(gzip.compress(b"module {}")).decode()}


@cache
def _matrix() -> Any:
    document = json.loads(write_json(matrix_document(troubled_matrix())))
    return {**document, "attachments": [_ATTACHMENT]}


def _report(text: str, folder: Path) -> None:
    """Make everything that commands make from a report."""
    path = folder / "matrix.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    report = read_report(str(path))
    written = write_reports(report, folder / "reports")
    for path in written:
        shown(path.read_text(encoding="utf-8"))
    for form in FORMATS:
        for piece in form.render(report, "sub/folder"):
            piece.encode()
    _check_page((folder / "reports" / "index.html").read_text(encoding="utf-8"))
    _check_markdown(matrix_markdown(report))
    _check_guard(report)
    with suppress(CompatError):
        merge_reports([path, path])
    usual = folder / "usual.json"
    usual.write_text(write_json(_matrix()), encoding="utf-8")
    with suppress(CompatError):
        merge_reports([usual, written[-1]])
    changed = compare(
        ReportSide(name="old", report=_usual()), ReportSide(name="new", report=report)
    )
    as_json(write_json(diff_document(changed)))
    _check_markdown(diff_markdown(changed))
    shown("\n".join(diff_lines(changed)))


@cache
def _usual() -> Report:
    return load_report(write_json(_matrix()))


class _Elements(HTMLParser):
    """The elements, attributes and links of a page, as a browser reads it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.kinds = Counter[str]()
        self.attributes = set[str]()
        self.links = set[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.kinds[tag] += 1
        for name, value in attrs:
            self.attributes.add(f"{tag} {name}")
            if name in ("href", "src", "action"):
                self.links.add(value or "")


_OF_PAGE = ("script", "style", "meta", "link", "base", "form", "iframe", "object", "img", "use")


def _check_page(text: str) -> None:
    """Fail where text from others became an element, an attribute or a link of the page."""
    elements, usual = _Elements(text), _usual_page()
    assert set(elements.kinds) <= set(usual.kinds) | {"code"}, set(elements.kinds) - set(
        usual.kinds
    )
    for kind in _OF_PAGE:
        assert elements.kinds[kind] <= usual.kinds[kind], f"more of {kind}"
    assert elements.attributes <= usual.attributes, elements.attributes - usual.attributes
    assert elements.links <= usual.links, elements.links - usual.links


@cache
def _usual_page() -> _Elements:
    return _Elements("".join(matrix_html(_usual())))


_CODE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[^\n]*\n.*?^(?P=fence)|(?P<ticks>`+).*?(?P=ticks)",
    re.MULTILINE | re.DOTALL,
)


def _check_markdown(text: str) -> None:
    """Fail where text from others is an element or a link that runs something.

    The check reads the text as GitHub does.
    """
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    for token in chain(tokens, *(token.children or () for token in tokens)):
        if token.type in ("html_block", "html_inline"):
            names = set(re.findall(r"</?([A-Za-z][\w-]*)", token.content))
            assert names <= _HTML, names - _HTML
            assert not re.search(r"\son\w+\s*=|javascript:", token.content, re.IGNORECASE), (
                token.content
            )
        for name in ("href", "src"):
            assert not str(token.attrs.get(name, "")).lower().startswith(("javascript:", "data:"))


_HTML = {
    "details",
    "summary",
    "br",
    "sub",
    "code",
    "pre",
    "a",
    "b",
    "i",
    "p",
    "div",
    "strong",
    "em",
}


def _check_guard(report: Report) -> None:
    """Fail where a guard has other code than every guard has."""
    try:
        text = guard_text(make_guard(report, Request()))
    except CompatError:
        return
    assert _without_facts(text) == _usual_guard()
    check_guard(text, report, where="guard")


@cache
def _usual_guard() -> str:
    return _without_facts(guard_text(make_guard(_usual(), Request())))


def _without_facts(text: str) -> str:
    """The code of a guard, without its first string and the value of FACTS, which is a literal."""
    tree = ast.parse(text)
    for node in tree.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id="FACTS"), value=ast.expr() as value):
                ast.literal_eval(value)
                node.value = None
    assert ast.get_docstring(tree) is not None
    return ast.dump(ast.Module(body=tree.body[1:], type_ignores=[]))


# --- stores ---------------------------------------------------------------------------------------

_ATTEMPT = {
    "answered": True,
    "stage": "ttgir",
    "raised": [{"type": "RuntimeError", "message": "PassManager::run failed"}],
    "printed": "k.py:1:2: error: 'tt.dot' op x\n",
    "artifacts": {"ttir": "a.ttir", "printed": "b.printed.xz"},
    "diagnosis": {"reproducer": "c.mlir", "ir": "d.mlir"},
}


def _store(example: tuple[str, str, str], folder: Path) -> None:
    """Merge the store of somebody else, and look up all artifacts that it names."""
    attempts, key, name = example
    other, mine = folder / "other", folder / "mine"
    with Store(other) as store:
        store.write("k", CELL, (Evidence(answered=True, done=(CompletedAction(do="compile"),)),))
    with closing(sqlite3.connect(other / "results.sqlite")) as connection, connection:
        values = (attempts.encode("utf-8", "surrogatepass").decode("utf-8", "replace"), key)
        connection.execute("UPDATE evidence SET attempts = ?, key = ?", values)
    if Path(name).name == name and name != ".." and "\0" not in name:  # a possible file name
        (other / "artifacts" / name).write_text("text")
    merge_stores([other], mine)
    with Store(mine) as store:
        for row in store.rows(["k", key]):
            for artifact in store.artifact_names_of(row, attempts_of(row)):
                store.artifact(artifact)
        for artifact in (name, key):
            assert store.artifact(artifact) is None


# --- archives -------------------------------------------------------------------------------------

_LIMITS = ArchiveLimits(members=12, size=3000)
_NAMES = st.one_of(
    st.sampled_from(
        ["a", "a/b", "a/b/c", "x-1/x/__init__.py", "x-1/x/y.py", "d/", "0/k.py", "./a"]
    ),
    HOSTILE,
    st.text(max_size=12),
)
_KINDS = st.sampled_from([*b"0000000123456789LKSxgVDMNXA"]).map(lambda kind: bytes([kind]))
_MEMBERS = st.lists(
    st.tuples(
        _NAMES,
        st.one_of(st.binary(max_size=20), st.sampled_from([bytes(2000), b"x" * 4000])),
        _KINDS,
        st.one_of(_NAMES, st.just("")),
    ),
    max_size=6,
)


def _tar(members: list[tuple[str, bytes, bytes, str]], style: int) -> bytes:
    written = io.BytesIO()
    mode = ("w", "w:gz")[style & 1]
    form = (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT)[style >> 1 & 1]
    with tarfile.open(fileobj=written, mode=mode, format=form) as archive:  # type: ignore[call-overload]
        for name, content, kind, target in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.size = kind, target, len(content)
            with suppress(ValueError):
                archive.addfile(info, io.BytesIO(content))
    return written.getvalue()


def _zip(members: list[tuple[str, bytes, bytes, str]], style: int) -> bytes:
    written = io.BytesIO()
    method = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)[style & 1]
    with warnings.catch_warnings(), zipfile.ZipFile(written, "w", method) as zipped:
        warnings.simplefilter("ignore")  # ZipFile warns of duplicate names
        for name, content, kind, _ in members:
            info = zipfile.ZipInfo(name or "x")
            info.external_attr = (0o120777 if kind == b"2" else 0o100644) << 16
            with suppress(ValueError, UnicodeError):
                zipped.writestr(info, content)
    return written.getvalue()


@st.composite
def archives(draw: st.DrawFn) -> tuple[str, bytes]:
    """An archive with all kinds of members, perhaps damaged."""
    make = draw(st.sampled_from([_tar, _tar, _zip]))
    data = make(draw(_MEMBERS), draw(st.integers(0, 3)))
    if draw(st.booleans()):
        data = draw(damaged_bytes(data))
    return ("zip" if make is _zip else "tar"), data


def _archive(archive: tuple[str, bytes], folder: Path) -> None:
    kind, data = archive
    out = folder / "out"
    out.mkdir()
    try:
        files = (read_zip if kind == "zip" else read_tar)(data, _LIMITS)
        assert len(files) <= _LIMITS.members
        assert sum(map(len, files.values())) <= _LIMITS.size
        try:
            write_files(files, out)
            for path, content in files.items():
                assert (out / path).read_bytes() == content
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
    except BadArchive as error:
        assert not any(out.iterdir())
        shown(printable(str(error)))
    for place in folder.rglob("*"):
        assert place.is_dir() or place.is_file()
        assert not place.is_symlink()
    _as_sources(kind, data, folder)
    tree = Tree(folders=("/k",), digest="0" * 64, content=data)
    with suppress(BadArchive):
        tree.write(folder / "tree")
        raise AssertionError("a tree without its digest was written")


def _as_sources(kind: str, data: bytes, folder: Path) -> None:
    """Unpack the archive as the source distribution of a library."""
    name = f"x-1.{'zip' if kind == 'zip' else 'tar.gz'}"
    (folder / name).write_bytes(data)
    target = folder / "library"
    target.mkdir()
    with suppress(OSError):  # a name that is too long
        unpack_python(File(filename=name, url=(folder / name).as_uri()), "x", target)
    assert all(path.is_dir() or path.suffix == ".py" for path in target.rglob("*"))


# --- folders to launch ----------------------------------------------------------------------------

_OBJECT = hashlib.sha256(b"binary").hexdigest()
_INDEX = {
    "schema": 1,
    "target": {"name": "sm_90", "backend": "cuda", "arch": 90},
    "needs": "torch",
    "problems": {
        "p": {"source": "problems/p/p.py", "function": "p", "dtype": "fp32", "parameters": {}}
    },
    "cells": [
        {
            "cell": "k/v/c/sm_90/triton-3.1.0",
            "identity": "i",
            "series": "k/v/c/sm_90",
            "object": _OBJECT,
            "problem": "p",
            "launch": {"shared": 0},
        }
    ],
    "left_out": [],
}


def _launch_folder(text: str, folder: Path) -> None:
    """Pack a built folder for the workers of a cluster, and nothing outside of it."""
    for name, content in {
        "index.json": text.encode("utf-8", "surrogatepass"),
        "launch.py": b"",
        f"objects/{_OBJECT}": b"binary",
        "problems/p/p.py": b"def p(): ...\n",
    }.items():
        place = folder / "built" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    built = read_folder(folder / "built")
    try:
        packed = pack_piece(built, built.cells())
    except (OSError, KeyError, TypeError, ValueError, AttributeError):
        return  # before anything is sent
    files = read_tar(packed, ArchiveLimits(members=100, size=100_000))
    assert {str(path) for path in files} <= {
        *("index.json", "launch.py", f"objects/{_OBJECT}", "problems/p/p.py")
    }


# --- locks ----------------------------------------------------------------------------------------

_LOCK = {
    "schema": 1,
    "env": [
        {
            "name": ENV.name,
            "requirements": ["triton==3.1.0"],
            "python": "3.11",
            "package": [
                {"requirement": "triton==3.1.0", "sha256": ["0" * 64, "1" * 64]},
                {"requirement": "./wheels/x-1-py3-none-any.whl", "sha256": ["2" * 64]},
            ],
        }
    ],
}


def _lock(text: str, folder: Path) -> None:
    path = folder / "matrix.lock"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    env = read_locks(path).apply_lock(ENV)
    for line in env.lock:
        shown(line)
        requirement, *hashes = line.split(" --hash=sha256:")
        assert hashes
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in hashes)
        assert not requirement.startswith("-")
        assert "\n" not in line
        assert "==" in requirement or "://" in requirement


STRANGERS: Mapping[str, Place] = {
    "strangers: reports": Place(
        inputs=st.deferred(
            lambda: st.one_of(poisoned(_matrix()).map(json_of), json_texts(_matrix()))
        ),
        act=_report,
        share=2,
    ),
    "strangers: stores": Place(
        inputs=st.tuples(
            st.one_of(
                st.lists(poisoned(_ATTEMPT), min_size=1, max_size=2).map(json_of),
                json_texts({"attempts": [_ATTEMPT]}),
            ),
            st.one_of(HOSTILE, st.just("k")),
            HOSTILE,
        ),
        act=_store,
        share=2,
    ),
    "strangers: archives": Place(inputs=archives(), act=_archive),
    "strangers: folders": Place(
        inputs=st.one_of(poisoned(_INDEX).map(json_of), json_texts(_INDEX)), act=_launch_folder
    ),
    "locks": Place(
        inputs=st.one_of(poisoned(_LOCK).map(toml_of), toml_texts(_LOCK)), act=_lock, share=5
    ),
}

ALL_PLACES: Mapping[str, Place] = {**PLACES, **STRANGERS}
"""The places of :mod:`tests.fuzz.places`, and those of this module."""
