"""Archives from elsewhere: a reader returns all files of an archive, or refuses it."""

from __future__ import annotations

import gzip
import io
import stat
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from compat.archives import ArchiveLimits, BadArchive, read_tar, read_zip, write_files

LIMITS = ArchiveLimits(members=10, size=1000)
Member = tuple[tarfile.TarInfo, bytes]


def member(name: str, content: bytes = b"", **facts: object) -> Member:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for fact, value in facts.items():
        setattr(info, fact, value)
    return info, content


def tar_of(*members: Member, mode: str = "w:gz") -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode=mode) as archive:  # type: ignore[call-overload]
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return written.getvalue()


def zip_of(*members: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return written.getvalue()


LONG = "d/" * 60 + "x" * 90
"""A name that needs a header of its own."""
FILES = {PurePosixPath("a"): b"1", PurePosixPath("d/b"): b"23", PurePosixPath(LONG): b""}


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_files_of_a_tar_are_read_and_written(mode: str, tmp_path: Path) -> None:
    archive = tar_of(
        member("d", type=tarfile.DIRTYPE),
        *(member(str(path), content) for path, content in FILES.items()),
        mode=mode,
    )
    files = read_tar(archive, LIMITS)
    assert files == FILES
    write_files(files, tmp_path)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in written} == {
        str(path): content for path, content in FILES.items()
    }


def test_files_of_a_zip_are_read() -> None:
    archive = zip_of(("d/", b""), *((str(path), content) for path, content in FILES.items()))
    assert read_zip(archive, LIMITS) == FILES


def linked(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "above": (lambda: tar_of(member("../x", b"1")), "not below"),
    "above, later": (lambda: tar_of(member("a/../../x", b"1")), "not below"),
    "absolute": (lambda: tar_of(member("/tmp/x", b"1")), "not below"),
    "a folder above": (lambda: tar_of(member("..", type=tarfile.DIRTYPE)), "not below"),
    "no name": (lambda: tar_of(member(".", b"1")), "no name"),
    "a link": (lambda: tar_of(member("x", type=tarfile.SYMTYPE, linkname="a")), "neither"),
    "a hard link": (lambda: tar_of(member("x", type=tarfile.LNKTYPE, linkname="a")), "neither"),
    "a device": (lambda: tar_of(member("x", type=tarfile.CHRTYPE)), "neither"),
    "a pipe": (lambda: tar_of(member("x", type=tarfile.FIFOTYPE)), "neither"),
    "twice": (lambda: tar_of(member("x", b"1"), member("x", b"2")), "twice"),
    "a file as a folder": (lambda: tar_of(member("x", b"1"), member("x/y", b"2")), "both"),
    "many": (lambda: tar_of(*(member(f"x{number}") for number in range(11))), "more than 10"),
    "large": (lambda: tar_of(member("x", b"1" * 600), member("y", b"1" * 600)), "more than 1,000"),
    "a bomb": (lambda: tar_of(member("x", bytes(10_000_000))), "unpacks to more than"),
    "a bomb in a header": (
        lambda: tar_of(member("x", pax_headers={"comment": "x" * 10_000_000})),
        "unpacks to more than",
    ),
    "no archive": (lambda: b"no archive", "damaged"),
    "nothing": (lambda: b"", "damaged"),
    "half": (lambda: tar_of(member("x", b"1" * 900))[:-50], "damaged"),
    "half a file": (lambda: tar_of(member("x", b"1" * 900), mode="w")[:900], "damaged|cut short"),
    "another checksum": (
        lambda: tar_of(member("x", b"1"))[:-8] + struct.pack("<II", 1, 10_240),
        "damaged",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_invalid_tar_is_refused_within_little_memory(name: str) -> None:
    make, why = REFUSED[name]
    archive = make()
    tracemalloc.start()
    with pytest.raises(BadArchive, match=why):
        read_tar(archive, LIMITS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: zip_of(("../x", b"1")), "not below"),
        (lambda: zip_of(("/x", b"1")), "not below"),
        (lambda: zip_of((linked("x"), b"/etc/passwd")), "neither"),
        (lambda: zip_of(("x", b"1"), ("x/y", b"2")), "both"),
        (lambda: zip_of(("x", bytes(10_000_000))), "more than"),
        (lambda: zip_of(*((f"x{number}", b"") for number in range(11))), "more than 10"),
        (lambda: zip_of(("x", b"1"))[:40], "damaged"),
        (lambda: b"", "damaged"),
    ],
    ids=["above", "absolute", "link", "both", "large", "many", "cut", "empty"],
)
def test_an_invalid_zip_is_refused(make: Callable[[], bytes], why: str) -> None:
    archive = make()
    with pytest.raises(BadArchive, match=why):
        read_zip(archive, LIMITS)


def test_a_sparse_file_is_refused() -> None:
    info, _ = member("x", type=tarfile.GNUTYPE_SPARSE)
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[386:410] = b"00000000000\x0000000000000"
    header[483:495] = b"77777777777\x00"  # 8 GiB of nothing
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    with pytest.raises(BadArchive, match="neither"):
        read_tar(gzip.compress(bytes(header) + bytes(1024)), LIMITS)


def test_only_wanted_members_are_checked_and_returned() -> None:
    archive = tar_of(
        member("x.py", b"1"), member("../y", b"2"), member("z", type=tarfile.SYMTYPE, linkname="/")
    )
    assert read_tar(archive, LIMITS, lambda name: name.endswith(".py")) == {
        PurePosixPath("x.py"): b"1"
    }


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("mine")
    with pytest.raises(FileExistsError):
        write_files({PurePosixPath("x"): b"other"}, tmp_path)
    assert (tmp_path / "x").read_text() == "mine"
