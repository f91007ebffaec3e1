"""Record what the launches of a library passed, or show how well its kernels are guessed.

    compat capture --python PYTHON --output FOLDER --configs first --check nothing \\
        -- -m bench.operators liger-kernel
    python -m tests.guess.corpus record liger-kernel==0.8.5 FOLDER
    python -m tests.guess.corpus show [LIBRARY]…

``PYTHON`` is an interpreter with PyTorch and the library. A new version of a library needs a new
record and a new golden file (``COMPAT_REGOLD=1``).
"""

from __future__ import annotations

import sys
from pathlib import Path

from compat.envs.libraries import unpack_library
from tests.guess.corpus import FOLDER, NAMES, Launched, Quality


def record(requirement: str, folder: str) -> None:
    """Record the launches from the kernel files of a capture."""
    name = requirement.partition("==")[0]
    launched = Launched.captured_in(Path(folder), requirement)
    Path(FOLDER, f"{name}.json").write_text(launched.text(), encoding="utf-8")
    print(f"{requirement}: {len(launched.kernels)} kernels")


def show(*names: str) -> None:
    """Print the counts of each library, and the parameters that are wrong or not guessed."""
    for name in names or NAMES:
        launched = Launched.read(name)
        print(Quality.of(launched, unpack_library(launched.requirement)).text())


if __name__ == "__main__":
    action, *arguments = sys.argv[1:]
    if action == "record":
        record(*arguments)
    else:
        show(*arguments)
