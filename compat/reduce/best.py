"""The smallest candidate of a search, always complete on disk, however the program ends."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

from compat.errors import StoreError
from compat.files import replace_file
from compat.reduce.candidate import Candidate


class BestSoFar:
    """The smallest candidate so far, on disk: ``<name>.py`` and the kernel file ``<name>.toml``.

    The kernel file is the only one that is replaced, in one step, and names a source that is complete by then: whenever the program
    ends, and however, the file is there and means a candidate that was accepted.
    """

    def __init__(self, path: Path, text_of: Callable[[Candidate, Path], str]) -> None:
        """``path`` is the Python file's; ``text_of(candidate, source)`` is the text of the kernel file."""
        self.path, self.kernel_file = path, path.with_suffix(".toml")
        self.source = path
        """Where the text of what is kept is now."""
        self._text_of = text_of
        self._partial = itertools.cycle([path.with_name(f"{path.stem}.partial-{number}.py") for number in (1, 2)])

    def keep(self, candidate: Candidate) -> None:
        """Replace what was kept. Raises StoreError where the disk will not have it."""
        self._write(candidate, next(self._partial))

    def finish(self, candidate: Candidate) -> None:
        """Keep the last one, under its final name."""
        self._write(candidate, self.path)
        for _ in range(2):
            next(self._partial).unlink(missing_ok=True)

    def _write(self, candidate: Candidate, source: Path) -> None:
        try:
            replace_file(source, candidate.text)
            replace_file(self.kernel_file, self._text_of(candidate, source))
            self.source = source
        except OSError as error:
            raise StoreError(f"the candidate could not be kept: {error}", where=str(self.path.parent)) from error
