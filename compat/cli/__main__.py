"""``python -m compat.cli`` is the command ``compat``."""

import sys

if not sys.flags.safe_path:
    # The current folder, whose `copy.py` would be taken for Python's: kernels lie there.
    del sys.path[0]

from compat.cli.start import start

start()
