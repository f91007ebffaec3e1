"""Where Chromium is.

``python -m tests.browser.chromium`` prints it, and exits with 1 where there is none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

VARIABLE = "COMPAT_CHROMIUM"
"""The environment variable that names the program to take, whatever else is there."""
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The headless shell has no windows, and opens a page in a third of the processors' time."""


def find_chromium(*further: str) -> str | None:
    """The path of a Chromium that starts: the one that the environment names, else of those on
    PATH, else of ``further`` paths.
    """
    named = os.environ.get(VARIABLE)
    paths = (shutil.which(name) for name in ([named] if named else [*NAMES, *further]))
    return next((path for path in paths if path and _starts(path)), None)


def _starts(path: str) -> bool:
    """Whether it is a browser that sees what is in /tmp, which a snap does not.

    Ubuntu's package only says to install one.
    """
    answer = subprocess.run([path, "--version"], check=False, capture_output=True, text=True)
    return answer.returncode == 0 and not answer.stdout.rstrip().endswith("snap")


if __name__ == "__main__":
    chromium = find_chromium()
    print(chromium or "no Chromium found")
    sys.exit(chromium is None)
