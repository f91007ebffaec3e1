"""The path of Chromium.

``python -m tests.browser.chromium`` prints it, and exits with 1 if there is none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

VARIABLE = "COMPAT_CHROMIUM"
"""The environment variable that names the program. It overrides every other Chromium."""
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The headless shell has no windows, and takes half of the CPU time."""


def find_chromium(*further: str) -> str | None:
    """The path of a Chromium that starts.

    It is the one that the environment names, otherwise one on PATH, otherwise one of the
    ``further`` paths.
    """
    named = os.environ.get(VARIABLE)
    paths = (shutil.which(name) for name in ([named] if named else [*NAMES, *further]))
    return next((path for path in paths if path and _starts(path)), None)


def _starts(path: str) -> bool:
    """Whether it is a browser that can read /tmp, which a snap cannot.

    Ubuntu's package only prints that one has to be installed.
    """
    answer = subprocess.run([path, "--version"], check=False, capture_output=True, text=True)
    return answer.returncode == 0 and not answer.stdout.rstrip().endswith("snap")


if __name__ == "__main__":
    chromium = find_chromium()
    print(chromium or "no Chromium found")
    sys.exit(chromium is None)
