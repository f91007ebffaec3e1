"""The files that kernels are imported from: read here, sent by digest, written on another machine.

A tree has the closures of its sources: the files themselves, and the files of their folders that
their import statements name. A kernel may import or read files in other ways. Therefore a whole
tree has all files below its roots, unless they are too many.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tarfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from attrs import define, evolve, field, frozen

from compat.archives import ArchiveLimits, BadArchive, Files, read_tar, write_files
from compat.source.closure import LIBRARY, Stamp, closure_files, library_files, roots_of, stamp_of
from compat.source.parsing import tree_of

_MOST_FILES = 4000
_MOST_BYTES = 64 << 20
"""The size limit of a whole tree."""
_LIMITS = ArchiveLimits(members=100_000, size=1 << 30)
"""The limits of any tree. Libraries are larger than whole trees, which may not be needed at all."""
_INSTALLED = "site-packages"
_KEPT = 64
"""Trees that are cached. The batches of one source come one after another."""
_LEFT_OUT = frozenset({"__pycache__", _INSTALLED, "node_modules"})


@frozen(kw_only=True)
class SourceOrigin:
    """A source file and the roots of its tree, as paths."""

    source: str
    """Empty for all files of the roots, if these are libraries."""
    roots: tuple[str, ...] = ()
    """By default, the root of its package."""

    @property
    def folders(self) -> tuple[str, ...]:
        """The roots, and the folder of the source if it is in none of them."""
        roots = self.roots or tuple(map(str, roots_of(Path(self.source))))
        inside = not self.source or any(Path(self.source).is_relative_to(root) for root in roots)
        return roots if inside else (*roots, str(Path(self.source).parent))


@frozen(kw_only=True)
class Tree:
    """Files of folders, as they were when they were read."""

    folders: tuple[str, ...]
    """Absolute paths, none inside of another."""
    digest: str
    """SHA-256 over the files' names below their folders, and their contents."""
    content: bytes = field(repr=False, eq=False)
    """A compressed archive of the files."""
    files: frozenset[str] = field(default=frozenset(), repr=False, eq=False)
    """The paths of the files here."""

    def places(self, there: Path) -> tuple[tuple[str, str], ...]:
        """Each folder, with its path after the tree is written into ``there``."""
        return tuple(
            (folder, str(there / _name(number, folder)))
            for number, folder in enumerate(self.folders)
        )

    def write(self, there: Path) -> None:
        """Write the files into a new folder, all at once.

        Raises OSError, and BadArchive if the content does not match the digest.
        """
        files = read_tar(self.content, _LIMITS)
        if _digest(self.folders, files) != self.digest:
            raise BadArchive("its files are not those of its digest")
        making = there.with_name(f".{there.name}.{os.getpid()}-{os.urandom(4).hex()}")
        for _, place in self.places(making):
            Path(place).mkdir(parents=True)
        write_files(files, making)
        try:
            making.rename(there)
        except OSError:
            shutil.rmtree(making, ignore_errors=True)
            if not there.is_dir():  # else another process was faster
                raise


def _name(number: int, folder: str) -> str:
    """Return the name of a folder in a tree.

    The name still shows whether the folder has installed packages.
    """
    return f"{number}/{_INSTALLED}" if _INSTALLED in Path(folder).parts else str(number)


@define
class Trees:
    """The trees of sources, each read again only if one of its files differs by size or time.

    Several threads may use it.
    """

    _trees: dict[tuple[tuple[SourceOrigin, ...], bool], tuple[Tree, dict[Path, Stamp | None]]] = (
        field(factory=dict)
    )
    _taking: threading.Lock = field(factory=threading.Lock)

    def of(self, origins: Iterable[SourceOrigin], *, whole: bool = False) -> Tree | None:
        """Return the tree of sources.

        Returns ``None`` for a whole tree that would be too large, or that has no more files than
        the tree of closures. Raises OSError if a file cannot be read, and SyntaxError if a source
        is not valid Python.
        """
        with self._taking:
            return self._of(tuple(dict.fromkeys(map(_library_origin, origins))), whole)

    def _of(self, origins: tuple[SourceOrigin, ...], whole: bool) -> Tree | None:
        key = origins, whole
        entry = self._trees.pop(key, None)
        if entry is None or any(stamp_of(path) != stamp for path, stamp in entry[1].items()):
            files = _files(origins)
            if whole:
                wider = _all_files(_outermost(origins))
                if wider is None or wider <= files:
                    return None
                files |= wider
            stamps = {path: stamp_of(path) for path in files}
            entry = _tree(_outermost(origins), sorted(files)), stamps
        self._trees[key] = entry
        while len(self._trees) > _KEPT:
            self._trees.pop(next(iter(self._trees)), None)
        return entry[0]


def _library_origin(origin: SourceOrigin) -> SourceOrigin:
    """The same origin for all sources of a library, because a library is one whole tree."""
    return origin if library_files(map(Path, origin.roots)) is None else evolve(origin, source="")


def _files(origins: Sequence[SourceOrigin]) -> frozenset[Path]:
    """The files in the closures of sources, and the files that mark libraries."""
    files = frozenset[Path]()
    for origin in origins:
        path, roots = Path(origin.source), tuple(map(Path, origin.roots))
        if not origin.source:
            files |= library_files(roots) or frozenset()
            continue
        files |= closure_files(path, tree_of(path.read_bytes(), path.name), roots)
        files |= {root / LIBRARY for root in roots if (root / LIBRARY).is_file()}
    return files


def _all_files(folders: Sequence[str]) -> frozenset[Path] | None:
    """Return all files below folders, except hidden, generated and installed files.

    Returns ``None`` if there are too many.
    """
    files, size = set[Path](), 0
    for path in _walk_files(folders):
        files.add(path)
        size += path.stat().st_size
        if len(files) > _MOST_FILES or size > _MOST_BYTES:
            return None
    return frozenset(files)


def _walk_files(folders: Sequence[str]) -> Iterator[Path]:
    for folder in folders:
        for here, inside, names in os.walk(folder):
            inside[:] = sorted(
                name for name in inside if name not in _LEFT_OUT and not name.startswith(".")
            )
            for name in sorted(names):
                path = Path(here, name)
                if not name.startswith(".") and path.is_file() and os.access(path, os.R_OK):
                    yield path


def _outermost(origins: Iterable[SourceOrigin]) -> tuple[str, ...]:
    """The folders of sources, without those that are inside of another one."""
    folders = sorted({os.path.normpath(folder) for origin in origins for folder in origin.folders})
    return tuple(
        folder
        for folder in folders
        if not any(other != folder and Path(folder).is_relative_to(other) for other in folders)
    )


def _tree(folders: tuple[str, ...], files: Iterable[Path]) -> Tree:
    contents: dict[PurePosixPath, bytes] = {}
    written: set[str] = set()
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz", compresslevel=1) as tar:
        for path in files:
            number = next(
                (number for number, folder in enumerate(folders) if path.is_relative_to(folder)),
                None,
            )
            if number is None:  # below no root, so nothing imports it by a name
                continue
            name = (
                f"{_name(number, folders[number])}/{path.relative_to(folders[number]).as_posix()}"
            )
            content = path.read_bytes()
            contents[PurePosixPath(name)] = content
            written.add(str(path))
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return Tree(
        folders=folders,
        digest=_digest(folders, contents),
        content=archive.getvalue(),
        files=frozenset(written),
    )


def _digest(folders: Sequence[str], files: Files) -> str:
    digest = hashlib.sha256()
    for path, content in files.items():
        digest.update(f"{path}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    digest.update(
        "\0".join(_name(number, folder) for number, folder in enumerate(folders)).encode()
    )
    return digest.hexdigest()
