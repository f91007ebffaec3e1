"""A kernel's file that can be edited and compiled elsewhere, and the files that an edit changes.

The module makes diffs and writes the changed files. A file keeps its encoding and its line ends. It
is written atomically, and only if it still has the content that was read.
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
    """The bytes that were read. The file is not written if it has changed since."""
    text: str
    """The text with ``\\n`` line ends, and without a byte order mark."""
    encoding: str
    newline: str

    @property
    def is_whole(self) -> bool:
        """Whether encoding :attr:`text` gives the same bytes.

        A file with line ends of several kinds would change.
        """
        return self.encode_text(self.text) == self.content

    def encode_text(self, text: str) -> bytes:
        """Return a text with this file's encoding and line ends. Raises ConfigError.

        The error means that the encoding lacks a character of the text.
        """
        try:
            return text.replace("\n", self.newline).encode(self.encoding)
        except UnicodeError as error:
            raise ConfigError(
                f"the edit cannot be written in {self.encoding}", where=str(self.path)
            ) from error


def _text_fields(content: bytes) -> dict[str, str]:
    """Return text, encoding and line end of a Python file, as fields of :class:`TextFile`.

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
    """A kernel's source file, and the files of its source tree that it imports."""

    beside: Mapping[str, bytes] = Factory(dict)
    """The files of its source tree that it imports, by their paths from :attr:`top`."""
    top: Path = Path()
    """The outermost of the roots that contain the file."""
    roots: tuple[Path, ...] = (Path(),)
    """The folders that absolute imports search."""

    @classmethod
    def read(cls, path: Path, roots: Sequence[Path] = ()) -> SourceFile:
        """Read a source file, and the files that it imports below ``roots``.

        By default the root is the folder around the file's package. Raises ConfigError if the file
        cannot be read as Python, or belongs to a library of the package index.
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
                path=path,
                content=content,
                **_text_fields(content),
                beside=beside,
                top=top,
                roots=roots,
            )
        except (OSError, SyntaxError, UnicodeError, LookupError) as error:
            raise ConfigError(f"cannot be read: {error}", where=str(path)) from error

    @classmethod
    def alone(cls, text: str) -> SourceFile:
        """Return a source file that exists only as text, and imports no other file."""
        return cls(
            path=Path("kernel.py"), content=text.encode(), text=text, encoding="utf-8", newline="\n"
        )

    @property
    def name(self) -> str:
        """The file's path from :attr:`top`."""
        return self.path.relative_to(self.top).as_posix()

    @cached_property
    def editable(self) -> dict[str, TextFile]:
        """The files of :attr:`beside` that an edit may change, by name.

        They can be decoded, and belong to no library.
        """
        files = {}
        libraries = [root for root in self.roots if requirement_of(root)]
        for name, content in self.beside.items():
            path = self.top / name
            if not any(path.is_relative_to(root) for root in libraries):
                with suppress(SyntaxError, UnicodeError, LookupError):
                    files[name] = TextFile(path=path, content=content, **_text_fields(content))
        return files

    @property
    def inner_roots(self) -> tuple[str, ...]:
        """The roots inside of :attr:`top`, relative to it."""
        return tuple(
            root.relative_to(self.top).as_posix()
            for root in self.roots
            if root.is_relative_to(self.top)
        )

    def specialize(
        self, spec: Specialization, text: str, folder: Path, beside: Mapping[str, str] | None = None
    ) -> Specialization:
        """Write a copy with another text into a folder, and return its specialization.

        The copy includes the files in :attr:`beside`.

        The folder replaces every root that contains the file, so the copy cannot import the
        original. ``beside`` has other texts for files of :attr:`editable`.
        """
        own = self.path.relative_to(self.top)
        edited = {
            name: self.editable[name].encode_text(edited_text)
            for name, edited_text in (beside or {}).items()
        }
        for name, content in {
            **self.beside,
            **edited,
            own.as_posix(): self.encode_text(text),
        }.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        source, roots = folder / own, [self._root_in_copy(root, folder) for root in self.roots]
        closure = read_source(source, roots).closure
        return evolve(
            spec, source=str(source), roots=tuple(map(str, roots)), closure=closure, expectations=()
        )

    def _root_in_copy(self, root: Path, folder: Path) -> Path:
        return folder / root.relative_to(self.top) if self.path.is_relative_to(root) else root


# --- changes of an edit: the source, files that it imports, values of the kernel file -------------


@frozen(kw_only=True)
class ChangedFile:
    """A file before and after an edit."""

    path: Path
    """The path of the file."""
    before: bytes
    after: bytes
    old: str
    """Its text before, with its line ends."""
    new: str
    """Its text after, with its line ends."""
    is_whole: bool = True
    """Whether the text is the whole content of the file."""

    @classmethod
    def of(cls, file: TextFile, text: str) -> ChangedFile:
        """Return the change of a file to another text."""
        after = file.encode_text(text)
        return cls(
            path=file.path,
            before=file.content,
            after=after,
            old=file.text.replace("\n", file.newline),
            new=text.replace("\n", file.newline),
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
    """Yield the lines of a unified diff's hunks.

    ``difflib.unified_diff`` treats frequent lines as junk, and then shows too many changes.
    """
    old, new = _lines(before), _lines(after)
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(context):
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
        for kind, start, end, start_new, end_new in group:
            if kind == "equal":
                yield from (f" {line}" for line in old[start:end])
                continue
            yield from (f"-{line}" for line in old[start:end])
            yield from (f"+{line}" for line in new[start_new:end_new])


def _lines(text: str) -> list[str]:
    """Return the lines of a text.

    A last line without a line end has the mark that ``patch`` needs.
    """
    *lines, last = text.split("\n")
    return [*lines, f"{last}\n\\ No newline at end of file"] if last else lines


def _range(start: int, end: int) -> str:
    """Return a range of lines in the form of a hunk's header: first line and count."""
    return f"{start + 1 if end > start else start},{end - start}"


def changed_files(
    candidate: EditedKernel, source: SourceFile, spec: Specialization, root: Path
) -> tuple[ChangedFile, ...]:
    """Return the files that a candidate changes: source, imported files, and kernel file.

    The path of the kernel file is relative to ``root``. Raises ConfigError if it cannot be read.
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
        path=path.resolve(), before=before.encode(), after=after.encode(), old=before, new=after
    )


def with_values(path: Path, spec: Specialization, values: JsonMapping) -> tuple[str, str]:
    """Return the text of a kernel file before and after a change of constexprs for one case.

    ``spec`` names the case. A value is changed in the table that has it: the case, else the
    variant, else the kernel. Otherwise it is added to the case, or to the kernel without a case.
    Raises ConfigError if the file cannot be read, or has the type of the argument for several
    kernels.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        before = path.read_bytes().decode()
        document = tomlkit.parse(before)
    except (OSError, UnicodeError, TOMLKitError) as error:
        raise ConfigError(f"cannot be read: {error}", where=str(path)) from error
    kernels = document.get("kernel")
    kernel = _find_table(kernels, spec.kernel) if isinstance(kernels, list) else document
    case, variant = (
        _find_table(kernel.get("case"), spec.case),
        _find_table(kernel.get("variant"), spec.variant),
    )
    for name, value in values.items():
        shared = [document.get("signature", ()), document.get("launch", ())]
        shared += document.get("hints", {}).values()
        if kernel is not document and any(name in table for table in shared):
            raise ConfigError(
                f"the edit changes the type of {name}, which is the same for several kernels",
                where=str(path),
                hint=f"Move {name} into the [[kernel]] tables first.",
            )
        tables = [table.get("constexprs") for table in (case, variant, kernel) if table is not None]
        holding = next((table for table in tables if table is not None and name in table), None)
        if holding is None:
            holding = (case if case is not None else kernel).setdefault(
                "constexprs", tomlkit.inline_table()
            )
        holding[name] = value
        _drop(name, kernel, variant, case)
    return before, tomlkit.dumps(document)


def _find_table(tables: Any, name: str) -> Any:
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

    Each file is replaced atomically and keeps its permissions. If one file has changed since the
    edit was found, no file is written.

    Raises:
        ConfigError: A file has changed, or the edit would also change its line ends.
        StoreError: A file cannot be written. The files written before are restored, if possible.
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
    with ConfigError.for_os_errors("can no longer be read", where=changed.path):
        now = changed.path.read_bytes()
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
    """Restore the content of changed files. Errors are ignored.

    The last file may still have its old content.
    """
    for change in written:
        with suppress(OSError):
            if change.path.read_bytes() != change.before:
                _replace(change.path, change.before)


def _replace(path: Path, content: bytes) -> None:
    replace_file(Path(os.path.realpath(path)), content, keep_mode=True)
