"""A kernel's file as it can be edited, compiled elsewhere, and written back in the same encoding and with the same line ends."""

from __future__ import annotations

import io
import os
import tokenize
from collections.abc import Iterable, Mapping
from pathlib import Path

from attrs import Factory, evolve, frozen

from compat.bundle.closure import closure_files, read_source
from compat.bundle.parsing import tree_of
from compat.errors import ConfigError
from compat.model import Specialization


@frozen(kw_only=True)
class SourceFile:
    """A source file, and what it imports from beside it."""

    path: Path
    content: bytes
    """As it was read; a file that has become another one since is not written."""
    text: str
    """With ``\\n`` at the end of every line, and without a byte order mark."""
    encoding: str
    newline: str
    beside: Mapping[str, bytes] = Factory(dict)
    """The files that it imports, by their paths from :attr:`root`."""
    root: Path = Path()
    """The folder that holds all of them, and is no package itself."""

    @classmethod
    def read(cls, path: Path) -> SourceFile:
        """The file and what it imports from beside it. Raises ConfigError where it cannot be read as Python."""
        try:
            content = path.read_bytes()
            others = closure_files(path, tree_of(content, path.name)) - {path}
            root = _root_of(path, others)
            beside = {each.relative_to(root).as_posix(): each.read_bytes() for each in others}
            encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
            newline = "\r\n" if b"\r\n" in content else "\n"
            text = content.decode(encoding).replace(newline, "\n")
        except (OSError, SyntaxError, UnicodeError, LookupError) as error:
            raise ConfigError(f"cannot be read: {error}", where=str(path)) from error
        return cls(path=path, content=content, text=text, encoding=encoding, newline=newline, beside=beside, root=root)

    @classmethod
    def alone(cls, text: str) -> SourceFile:
        """A module that is in no file."""
        return cls(path=Path("kernel.py"), content=text.encode(), text=text, encoding="utf-8", newline="\n")

    def encoded(self, text: str) -> bytes:
        """A text as this file would have it. Raises ConfigError where that is not possible."""
        try:
            return text.replace("\n", self.newline).encode(self.encoding)
        except UnicodeError as error:
            raise ConfigError(f"the edit cannot be written in {self.encoding}", where=str(self.path)) from error

    def specialize(self, spec: Specialization, text: str, folder: Path) -> Specialization:
        """The specialization of this file with another text, written into a folder with what it imports."""
        own = self.path.relative_to(self.root)
        for name, content in {**self.beside, own.as_posix(): self.encoded(text)}.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        source = folder / own
        return evolve(spec, source=str(source), closure=read_source(source).closure, expectations=())


def _root_of(path: Path, others: Iterable[Path]) -> Path:
    """The innermost folder with all these files in it that is no package."""
    root = Path(os.path.commonpath([path.parent, *(each.parent for each in others)]))
    while (root / "__init__.py").is_file() and root != root.parent:
        root = root.parent
    return root
