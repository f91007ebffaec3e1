"""Files that are there whole, or not at all."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path


def replace_file(path: Path, content: str | bytes) -> None:
    """Put a file in its place all at once, making its folder where there is none.

    Raises OSError; what was there before is untouched then, and nothing half-written is left.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)
        partial.replace(path)
    except OSError:
        with suppress(OSError):
            partial.unlink()
        raise
