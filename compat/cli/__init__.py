"""The command ``compat``: each command's options and exit codes.

It is the only place that prints or exits.

In: options and arguments. Out: a feature's result, printed, and an exit code. A command turns
options into arguments of a feature, calls it, and shows what it returns. The feature does all other
work.

Exit codes: 0 all as expected, 1 something was not, 2 and up an error of use (each class in
:mod:`compat.errors` has its own), 128 and the number of a signal that ended it: 130 for Ctrl-C.
"""

from __future__ import annotations

INTERRUPTED = 130
"""The exit code of a command that was interrupted."""
BROKEN_PIPE = 141
"""The exit code of a command whose output was closed early: 128 and the number of SIGPIPE."""
