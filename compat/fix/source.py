"""A kernel's file as it can be edited, compiled elsewhere, and written back in the same encoding and with the same line ends."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from attrs import Factory, evolve, frozen

from compat.config.kernel_sources import requirement_of
from compat.errors import ConfigError
from compat.fix.searching import library_of
from compat.model import Specialization
from compat.source.closure import closure_files, read_source, roots_of
from compat.source.parsing import tree_of


@frozen(kw_only=True)
class TextFile:
    """A Python file as text."""

    path: Path
    content: bytes
    """As it was read; a file that has become another one since is not written."""
    text: str
    """With ``\\n`` at the end of every line, and without a byte order mark."""
    encoding: str
    newline: str

    @property
    def is_whole(self) -> bool:
        """Whether the text says all that is in the file: one with line ends of several kinds would not stay as it is."""
        return self.encoded(self.text) == self.content

    def encoded(self, text: str) -> bytes:
        """A text as this file would have it. Raises ConfigError where that is not possible."""
        try:
            return text.replace("\n", self.newline).encode(self.encoding)
        except UnicodeError as error:
            raise ConfigError(f"the edit cannot be written in {self.encoding}", where=str(self.path)) from error


def _decoded(content: bytes) -> dict[str, str]:
    """Text, encoding and line end of a Python file. Raises SyntaxError, UnicodeError or LookupError."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    newline = "\r\n" if b"\r\n" in content else "\n"
    return {"text": content.decode(encoding).replace(newline, "\n"), "encoding": encoding, "newline": newline}


@frozen(kw_only=True, slots=False)
class SourceFile(TextFile):
    """A source file, and what it imports from beside it."""

    beside: Mapping[str, bytes] = Factory(dict)
    """The files of its tree that it imports, by their paths from :attr:`top`."""
    top: Path = Path()
    """The outermost of the roots that the file lies in."""
    roots: tuple[Path, ...] = (Path(),)
    """The folders that absolute imports are looked for in."""

    @classmethod
    def read(cls, path: Path, roots: Sequence[Path] = ()) -> SourceFile:
        """The file and what it imports from its tree, which has these roots; by default that of the package that it lies in.

        Raises ConfigError where it cannot be read as Python, or is no file of the user's own.
        """
        roots = tuple(roots) or roots_of(path)
        around = [root for root in roots if path.is_relative_to(root)]
        if requirement := library_of(path, roots):
            raise ConfigError(
                f"the kernel is in a library from the package index, {requirement}, which is not edited",
                where=str(path),
                hint="Its file belongs to that package. Copy the kernel into a file of your own and name that as its `source`, "
                "or let `compat capture` write such a file from a program that launches it.",
            )
        try:
            content = path.read_bytes()
            top = min(around, key=lambda root: len(root.parts), default=path.parent)
            others = (
                closure_file
                for closure_file in closure_files(path, tree_of(content, path.name), roots)
                if closure_file.is_relative_to(top)
            )
            beside = {other.relative_to(top).as_posix(): other.read_bytes() for other in others if other != path}
            return cls(path=path, content=content, **_decoded(content), beside=beside, top=top, roots=roots)
        except (OSError, SyntaxError, UnicodeError, LookupError) as error:
            raise ConfigError(f"cannot be read: {error}", where=str(path)) from error

    @classmethod
    def alone(cls, text: str) -> SourceFile:
        """A module that is in no file."""
        return cls(path=Path("kernel.py"), content=text.encode(), text=text, encoding="utf-8", newline="\n")

    @property
    def name(self) -> str:
        """Its path from :attr:`top`."""
        return self.path.relative_to(self.top).as_posix()

    @cached_property
    def editable(self) -> dict[str, TextFile]:
        """The files beside it that an edit may change, by their names: those that can be read, and are of no library."""
        files = {}
        libraries = [root for root in self.roots if requirement_of(root)]
        for name, content in self.beside.items():
            path = self.top / name
            if not any(path.is_relative_to(root) for root in libraries):
                with suppress(SyntaxError, UnicodeError, LookupError):
                    files[name] = TextFile(path=path, content=content, **_decoded(content))
        return files

    @property
    def inner_roots(self) -> tuple[str, ...]:
        """The roots inside of :attr:`top`, from there."""
        return tuple(root.relative_to(self.top).as_posix() for root in self.roots if root.is_relative_to(self.top))

    def specialize(self, spec: Specialization, text: str, folder: Path, beside: Mapping[str, str] | None = None) -> Specialization:
        """The specialization of this file with another text, written into a folder with what it imports.

        The folder takes the place of every root that the file lies in: nothing can import the original from there. Files of
        :attr:`editable` may have other texts, too.
        """
        own = self.path.relative_to(self.top)
        edited = {name: self.editable[name].encoded(edited_text) for name, edited_text in (beside or {}).items()}
        for name, content in {**self.beside, **edited, own.as_posix(): self.encoded(text)}.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        source, roots = folder / own, [self._copied(root, folder) for root in self.roots]
        closure = read_source(source, roots).closure
        return evolve(spec, source=str(source), roots=tuple(map(str, roots)), closure=closure, expectations=())

    def _copied(self, root: Path, folder: Path) -> Path:
        return folder / root.relative_to(self.top) if self.path.is_relative_to(root) else root
