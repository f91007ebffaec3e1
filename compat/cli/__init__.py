"""The command ``compat``: each command's options and exit codes.

The only place that prints or exits.

In: options and arguments. Out: what a feature found, printed, and an exit code. A command turns
options into what a feature takes, calls it, and shows what it returns; whatever it needs to find
out, the feature finds out.

Exit codes: 0 all as expected, 1 something was not, 2 and up an error of use (each class in
:mod:`compat.errors` has its own), 128 and the number of a signal that ended it: 130 for Ctrl-C.
"""

from __future__ import annotations

INTERRUPTED = 130
"""The exit code of a command that was interrupted."""
BROKEN_PIPE = 141
"""The exit code of a command whose output was closed early: 128 and the number of SIGPIPE."""
