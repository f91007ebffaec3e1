"""Golden files of this folder: what an answer looked like when somebody last looked at it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compares a text with the golden file of that name; ``COMPAT_REGOLD=1`` writes it anew instead."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("COMPAT_REGOLD") == "1":
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{name} has changed; if that is meant, run again with COMPAT_REGOLD=1"

    return compare
