"""Guards: files with which a library chooses among the variants of its kernels at run time.

In: a :class:`~compat.report.summary.record.Report`, perhaps read from a file, and a
:class:`Request`. Out: the text of one Python file without dependencies, with the facts and the code
that decides by them; or the differences between an existing guard and a new report.

- :mod:`compat.guard.facts`: the releases and targets on which each variant works
- :mod:`compat.guard.configs`: the best configs of ``compat tune``
- :mod:`compat.guard.writing`: from facts to the text of a guard, and back
- :mod:`compat.guard.checking`: the check of a guard against a new report, with its lines and JSON
"""

from compat.guard.checking import GuardCheck, check_guard
from compat.guard.configs import read_configs
from compat.guard.facts import Request
from compat.guard.writing import Guard, guard_text, make_guard, read_guard

__all__ = [
    "Guard",
    "GuardCheck",
    "Request",
    "check_guard",
    "guard_text",
    "make_guard",
    "read_configs",
    "read_guard",
]
