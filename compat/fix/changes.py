"""A kernel's file as it can be edited and compiled elsewhere, and the files that an edit changes.

The module makes diffs and writes files back. A file keeps its encoding and its line ends. It is
written whole or not at all, and only if it still has the content that was read.
"""

from __future__ import annotations

import io
import os
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import Factory, evolve, frozen

from compat.config.kernel_sources import library_of, requirement_of
from compat.errors import ConfigError, StoreError
from compat.files import replace_file
from compat.fix.searching import EditedKernel
from compat.model import Specialization
from compat.source.closure import closure_files, read_source, roots_of
from compat.source.parsing import tree_of
from compat.text import JsonMapping


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
        """Whether the text represents the whole file.

        A file with line ends of several kinds would not stay as it is.
        """
        return self.encoded(self.text) == self.content

    def encoded(self, text: str) -> bytes:
        """A text as this file would have it. Raises ConfigError where that is not possible."""
        try:
            return text.replace("\n", self.newline).encode(self.encoding)
        except UnicodeError as error:
            raise ConfigError(
                f"the edit cannot be written in {self.encoding}", where=str(self.path)
            ) from error


def _decoded(content: bytes) -> dict[str, str]:
    """Text, encoding and line end of a Python file.

    Raises SyntaxError, UnicodeError or LookupError.
    """
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    newline = "\r\n" if b"\r\n" in content else "\n"
    return {
        "text": content.decode(encoding).replace(newline, "\n"),
        "encoding": encoding,
        "newline": newline,
    }


@frozen(kw_only=True, slots=False)
class SourceFile(TextFile):
    """A source file, and what it imports from beside it."""

    beside: Mapping[str, bytes] = Factory(dict)
    """The files of its tree that it imports, by their paths from :attr:`top`."""
    top: Path = Path()
    """The outermost of the roots that the file lies in."""
    roots: tuple[Path, ...] = (Path(),)
    """The folders that absolute imports search."""

    @classmethod
    def read(cls, path: Path, roots: Sequence[Path] = ()) -> SourceFile:
        """The file and what it imports from its tree, which has these roots.

        By default the root is that of the package that it lies in. Raises ConfigError if it cannot
        be read as Python, or is not a file of the user's own.
        """
        roots = tuple(roots) or roots_of(path)
        around = [root for root in roots if path.is_relative_to(root)]
        if requirement := library_of(path, roots):
            raise ConfigError(
                f"the kernel is in {requirement}, a library from the package index, and `compat"
                " fix` does not edit libraries",
                where=str(path),
                hint=(
                    "Copy the kernel into a file of your own and name that as its `source`, "
                    "or let `compat capture` write such a file from a program that launches it."
                ),
            )
        try:
            content = path.read_bytes()
            top = min(around, key=lambda root: len(root.parts), default=path.parent)
            others = (
                closure_file
                for closure_file in closure_files(path, tree_of(content, path.name), roots)
                if closure_file.is_relative_to(top)
            )
            beside = {
                other.relative_to(top).as_posix(): other.read_bytes()
                for other in others
                if other != path
            }
            return cls(
                path=path, content=content, **_decoded(content), beside=beside, top=top, roots=roots
            )
        except (OSError, SyntaxError, UnicodeError, LookupError) as error:
            raise ConfigError(f"cannot be read: {error}", where=str(path)) from error

    @classmethod
    def alone(cls, text: str) -> SourceFile:
        """A module that is in no file."""
        return cls(
            path=Path("kernel.py"), content=text.encode(), text=text, encoding="utf-8", newline="\n"
        )

    @property
    def name(self) -> str:
        """Its path from :attr:`top`."""
        return self.path.relative_to(self.top).as_posix()

    @cached_property
    def editable(self) -> dict[str, TextFile]:
        """The files beside it that an edit may change, by their names.

        They can be read, and belong to no library.
        """
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
        return tuple(
            root.relative_to(self.top).as_posix()
            for root in self.roots
            if root.is_relative_to(self.top)
        )

    def specialize(
        self, spec: Specialization, text: str, folder: Path, beside: Mapping[str, str] | None = None
    ) -> Specialization:
        """The specialization of this file with another text, in a folder with what it imports.

        The folder replaces every root that the file lies in, so nothing can import the original
        from there. Files of :attr:`editable` may have other texts, too.
        """
        own = self.path.relative_to(self.top)
        edited = {
            name: self.editable[name].encoded(edited_text)
            for name, edited_text in (beside or {}).items()
        }
        for name, content in {**self.beside, **edited, own.as_posix(): self.encoded(text)}.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        source, roots = folder / own, [self._copied(root, folder) for root in self.roots]
        closure = read_source(source, roots).closure
        return evolve(
            spec, source=str(source), roots=tuple(map(str, roots)), closure=closure, expectations=()
        )

    def _copied(self, root: Path, folder: Path) -> Path:
        return folder / root.relative_to(self.top) if self.path.is_relative_to(root) else root


# --- what an edit changes: the source, files that it imports, values of the kernel file -----------


@frozen(kw_only=True)
class ChangedFile:
    """A file before and after an edit."""

    path: Path
    """The path of the file."""
    before: bytes
    """Its bytes before."""
    after: bytes
    """Its bytes after."""
    old: str
    r"""Its text before, with ``\n`` line ends."""
    new: str
    r"""Its text after, with ``\n`` line ends."""
    is_whole: bool = True
    """Whether the text is the whole content of the file."""

    @classmethod
    def of(cls, file: TextFile, text: str) -> ChangedFile:
        """Return the change of a file to another text."""
        after = file.encoded(text)
        return cls(
            path=file.path,
            before=file.content,
            after=after,
            old=file.text,
            new=text,
            is_whole=file.is_whole,
        )

    @property
    def diff(self) -> str:
        """The change as a unified diff. ``patch -p1`` applies it in the current folder."""
        name = (
            os.path.relpath(self.path)
            if self.path.is_relative_to(Path.cwd())
            else str(self.path).lstrip("/")
        )
        return "\n".join([f"--- a/{name}", f"+++ b/{name}", *hunks(self.old, self.new)])


def hunks(before: str, after: str, context: int = 3) -> Iterator[str]:
    """The hunks of a unified diff.

    ``difflib.unified_diff`` takes frequent lines for junk and shows more changes than there are.
    """
    old, new = before.splitlines(), after.splitlines()
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(context):
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
        for kind, start, end, start_new, end_new in group:
            if kind == "equal":
                yield from (f" {line}" for line in old[start:end])
                continue
            yield from (f"-{line}" for line in old[start:end])
            yield from (f"+{line}" for line in new[start_new:end_new])


def _range(start: int, end: int) -> str:
    """Lines as the head of a hunk has them: the first, and how many."""
    return f"{start + 1 if end > start else start},{end - start}"


def changed_files(
    candidate: EditedKernel, source: SourceFile, spec: Specialization, root: Path
) -> tuple[ChangedFile, ...]:
    """The files that a candidate changes: the source, files that it imports, or the kernel file.

    The kernel file is named from ``root``. Raises ConfigError if it cannot be read.
    """
    texts = [
        (source, candidate.text),
        *((source.editable[name], text) for name, text in candidate.beside.items()),
    ]
    changes = [ChangedFile.of(file, text) for file, text in texts if text != file.text]
    if candidate.constexprs:
        changes.append(_kernel_file(spec, root, candidate.constexprs))
    return tuple(changes)


def _kernel_file(spec: Specialization, root: Path, values: Mapping[str, object]) -> ChangedFile:
    path = next(
        (candidate for candidate in (root / spec.origin, Path(spec.origin)) if candidate.is_file()),
        None,
    )
    if path is None:
        assignments = ", ".join(f"{name} = {value}" for name, value in values.items())
        raise ConfigError(
            f"the edit changes the kernel file ({assignments}), which does not exist",
            where=spec.origin or "kernel file",
        )
    before, after = with_values(path, spec, values)
    return ChangedFile(
        path=path.resolve(),
        before=before.encode(),
        after=after.encode(),
        old=before.replace("\r\n", "\n"),
        new=after.replace("\r\n", "\n"),
    )


def with_values(path: Path, spec: Specialization, values: JsonMapping) -> tuple[str, str]:
    """The text of a kernel file, and the same with these constexprs for the case of ``spec``.

    A value is changed where the case, the variant or the file gives it, and added to the case if
    none of them does. Raises ConfigError if the file cannot be read.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        before = path.read_bytes().decode()
        document = tomlkit.parse(before)
    except (OSError, UnicodeError, TOMLKitError) as error:
        raise ConfigError(f"cannot be read: {error}", where=str(path)) from error
    case, variant = (
        _named(document.get("case"), spec.case),
        _named(document.get("variant"), spec.variant),
    )
    for name, value in values.items():
        tables = [
            table.get("constexprs") for table in (case, variant, document) if table is not None
        ]
        holding = next((table for table in tables if table is not None and name in table), None)
        if holding is None:
            holding = (case if case is not None else document).setdefault(
                "constexprs", tomlkit.inline_table()
            )
        holding[name] = value
        _drop(name, document, variant, case)
    return before, tomlkit.dumps(document)


def _named(tables: Any, name: str) -> Any:
    return next((table for table in tables or () if table.get("name") == name), None)


def _drop(name: str, *tables: Any) -> None:
    """Remove a new constexpr from the run-time arguments."""
    for table in tables:
        if table is not None:
            hints = table.get("hints")
            for arguments in (table.get("signature"), table.get("launch")):
                if arguments is not None and name in arguments:
                    del arguments[name]
            for hinted in hints.values() if isinstance(hints, dict) else ():
                if name in hinted:
                    hinted.remove(name)


def write_changes(changes: Sequence[ChangedFile]) -> tuple[Path, ...]:
    """Write an edit into the files that it changes, and return their paths.

    Each file is replaced at once, with its permissions, and none is where one of them is not what
    it was when the edit was found. Raises ConfigError where a file has changed, or would not stay
    as it is apart from the edit, and StoreError where it cannot be written.
    """
    for change in changes:
        _check(change)
    written: list[ChangedFile] = []
    try:
        for change in changes:
            written.append(change)
            _replace(change.path, change.after)
    except BaseException as error:
        _restore(written)
        if not isinstance(error, OSError):
            raise
        raise StoreError(
            f"cannot write the edit: {error}", where=str(change.path), hint="Nothing was changed."
        ) from error
    return tuple(change.path for change in changes)


def _check(changed: ChangedFile) -> None:
    try:
        now = changed.path.read_bytes()
    except OSError as error:
        raise ConfigError(f"can no longer be read: {error}", where=str(changed.path)) from error
    if now != changed.before:
        raise ConfigError(
            "has changed since the edit was found",
            where=str(changed.path),
            hint="Run the command again.",
        )
    if not changed.is_whole:
        raise ConfigError(
            "has line ends of several kinds, which the edit would change",
            where=str(changed.path),
            hint="Make the edit by hand, or give all lines the same end first.",
        )


def _restore(written: Sequence[ChangedFile]) -> None:
    """Each file as it was, as far as that can be; the last of them may never have been written."""
    for change in written:
        with suppress(OSError):
            if change.path.read_bytes() != change.before:
                _replace(change.path, change.before)


def _replace(path: Path, content: bytes) -> None:
    replace_file(Path(os.path.realpath(path)), content, keep_mode=True)
