"""A stream whose errors can be told from those of temporary files."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager

from compat.errors import MachineError

_OUTPUT = "<stdout>"
"""Python's name of standard output."""


class NamedStream(io.TextIOWrapper):
    """A stream whose errors have its name, like those of a file."""

    def write(self, text: str) -> int:
        with self._name_errors():
            return super().write(text)

    def flush(self) -> None:
        with self._name_errors():
            super().flush()

    @contextmanager
    def _name_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            error.filename = self.name
            raise


def output_refusal(error: OSError) -> MachineError | None:
    """Return the error for a refusal of standard output; ``None`` if it is about something else."""
    if error.filename != _OUTPUT:
        return None
    return MachineError(
        f"cannot write: {error.strerror}",
        where="standard output",
        hint="Free space there, or redirect the output. Finished work is saved.",
    )
