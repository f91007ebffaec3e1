"""PTX, which releases from 4.3 on write to a file where their pipeline says so."""

from __future__ import annotations

import os

from .pipeline import COMPILES

_ASKED = " dump-ptx-path='%s' "


def keeping(pipeline: str, path: str) -> str:
    """The pipeline that also writes PTX to a file, in releases that can (4.3 on)."""
    if "enable-cuda-dialect" not in pipeline or "dump-ptx-path" in pipeline:
        return pipeline
    return pipeline.replace(COMPILES, COMPILES + _ASKED % path, 1)


def taken(path: str) -> str:
    """The PTX that was written there, which is removed; empty where this release writes none."""
    folder, name = os.path.split(path)
    texts = []
    for written in sorted(each for each in os.listdir(folder) if each.startswith(name)):
        with open(os.path.join(folder, written), encoding="utf-8", errors="replace") as file:
            texts.append(file.read())
        os.remove(os.path.join(folder, written))
    return "\n".join(texts).rstrip("\0\n")
