"""``python -m compat.cli`` is the command ``compat``."""

import sys

if not sys.flags.safe_path:
    # This is the current folder. Kernels lie there, and its `copy.py` would hide Python's.
    del sys.path[0]

from compat.cli.start import start

start()
