"""``python -m compat.cli`` is the command ``compat``."""

import sys

if not sys.flags.safe_path:
    # The first entry is the current folder. A kernel there named `copy.py` would hide Python's.
    del sys.path[0]

from compat.cli.start import start

start()
