"""The files that an edit changes, before and after it, and the diff of each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path

from attrs import frozen

from compat.errors import ConfigError
from compat.fix.searching import Candidate
from compat.fix.source import SourceFile
from compat.fix.values import with_values
from compat.model import Specialization


@frozen(kw_only=True)
class Changed:
    """A file before and after an edit."""

    path: Path
    before: bytes
    after: bytes
    old: str
    new: str
    """Both as text with ``\\n`` at the end of every line."""
    is_whole: bool = True
    """Whether the text says all that is in the file."""

    @property
    def diff(self) -> str:
        """What changes, as a unified diff with paths that ``patch -p1`` takes in the current folder."""
        name = os.path.relpath(self.path) if self.path.is_relative_to(Path.cwd()) else str(self.path).lstrip("/")
        return "\n".join([f"--- a/{name}", f"+++ b/{name}", *hunks(self.old, self.new)])


def hunks(before: str, after: str, context: int = 3) -> Iterator[str]:
    """The hunks of a unified diff. ``difflib.unified_diff`` takes frequent lines for junk and shows more as changed than is."""
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


def changed_files(candidate: Candidate, source: SourceFile, spec: Specialization, root: Path) -> tuple[Changed, ...]:
    """The files that a candidate changes: the source, files that it imports, or the kernel file, which is named from ``root``.

    Raises ConfigError where the kernel file cannot be read.
    """
    found = []
    for file, text in ((source, candidate.text), *((source.editable[name], text) for name, text in candidate.beside.items())):
        if text != file.text:
            found.append(
                Changed(
                    path=file.path,
                    before=file.content,
                    after=file.encoded(text),
                    old=file.text,
                    new=text,
                    is_whole=file.is_whole,
                )
            )
    if candidate.constexprs:
        found.append(_kernel_file(spec, root, candidate.constexprs))
    return tuple(found)


def _kernel_file(spec: Specialization, root: Path, values: Mapping[str, object]) -> Changed:
    path = next((each for each in (root / spec.origin, Path(spec.origin)) if each.is_file()), None)
    if path is None:
        said = ", ".join(f"{name} = {value}" for name, value in values.items())
        raise ConfigError(f"the edit is one of the kernel file ({said}), which is not there", where=spec.origin or "kernel file")
    before, after = with_values(path, spec, values)
    return Changed(
        path=path.resolve(),
        before=before.encode(),
        after=after.encode(),
        old=before.replace("\r\n", "\n"),
        new=after.replace("\r\n", "\n"),
    )
