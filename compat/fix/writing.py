"""An edit as a diff, and in the user's file: whole or not at all, and only where the file is what was read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path

from attrs import frozen

from compat.errors import ConfigError, StoreError
from compat.files import replace_file
from compat.fix.fixing import Fix
from compat.fix.values import with_values


@frozen(kw_only=True)
class Changed:
    """A file before and after an edit."""

    path: Path
    before: bytes
    after: bytes
    old: str
    new: str
    """Both as text with ``\\n`` at the end of every line."""

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


def changed_files(fix: Fix, root: Path) -> tuple[Changed, ...]:
    """The files that the edit changes; ``root`` is the folder of ``matrix.toml``. Raises ConfigError where one cannot be read."""
    if fix.found is None:
        return ()
    source, candidate = fix.source, fix.found.candidate
    found = []
    if candidate.text != source.text:
        after = source.encoded(candidate.text)
        found.append(Changed(path=source.path, before=source.content, after=after, old=source.text, new=candidate.text))
    if candidate.constexprs:
        found.append(_kernel_file(fix, root, candidate.constexprs))
    return tuple(found)


def _kernel_file(fix: Fix, root: Path, values: Mapping[str, object]) -> Changed:
    path = next((each for each in (root / fix.cell.spec.origin, Path(fix.cell.spec.origin)) if each.is_file()), None)
    if path is None:
        said = ", ".join(f"{name} = {value}" for name, value in values.items())
        raise ConfigError(
            f"the edit is one of the kernel file ({said}), which is not there", where=fix.cell.spec.origin or "kernel file"
        )
    before, after = with_values(path, fix.cell.spec, values)
    return Changed(
        path=path.resolve(),
        before=before.encode(),
        after=after.encode(),
        old=before.replace("\r\n", "\n"),
        new=after.replace("\r\n", "\n"),
    )


def write_fix(fix: Fix, root: Path) -> tuple[Path, ...]:
    """Write the edit into the files that it changes, and return their paths.

    Each file is replaced at once, with its permissions, and none is where one of them is not what it was when the edit was found.
    Raises ConfigError where a file has changed, or would not stay as it is apart from the edit, and StoreError where it cannot be
    written.
    """
    changed = changed_files(fix, root)
    for each in changed:
        _check(fix, each)
    written: list[Changed] = []
    try:
        for each in changed:
            _replace(each.path, each.after)
            written.append(each)
    except OSError as error:
        for each in written:
            _replace(each.path, each.before)
        raise StoreError(f"the edit could not be written: {error}", where=str(each.path), hint="Nothing was changed.") from error
    return tuple(each.path for each in changed)


def _check(fix: Fix, changed: Changed) -> None:
    try:
        now = changed.path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot be read any more: {error}", where=str(changed.path)) from error
    if now != changed.before:
        raise ConfigError("has changed since the edit was found", where=str(changed.path), hint="Run the command again.")
    if changed.path == fix.source.path and fix.source.encoded(fix.source.text) != fix.source.content:
        raise ConfigError(
            "has line ends of several kinds, which would not stay as they are",
            where=str(changed.path),
            hint="Make the edit by hand, or give all lines the same end first.",
        )


def _replace(path: Path, content: bytes) -> None:
    replace_file(Path(os.path.realpath(path)), content, keep_mode=True)
