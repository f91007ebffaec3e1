"""``python -m compat.cli`` is the command ``compat``."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the current folder, whose `copy.py` would be taken for Python's: kernels lie there

from compat.cli.start import start

start()
