"""A library's own choice among the variants of its kernels, made from what a matrix found.

In: a :class:`~compat.report.summary.record.Report`, perhaps read back from a file, and a
:class:`Request`. Out: the text of one Python file that needs nothing, with the facts and the code
that decides by them; or, of a file that was written before, what a new matrix says otherwise.

- :mod:`compat.guard.facts`: on which releases, and for which targets, each variant works
- :mod:`compat.guard.configs`: the best configs of ``compat tune``
- :mod:`compat.guard.writing`: facts as the text of a guard, and facts of the text of a guard
- :mod:`compat.guard.checking`: a guard beside a new matrix, and both as lines and JSON
"""

from compat.guard.checking import Checked, check_guard
from compat.guard.configs import read_configs
from compat.guard.facts import Request
from compat.guard.writing import Guard, guard_text, make_guard, read_guard

__all__ = [
    "Checked",
    "Guard",
    "Request",
    "check_guard",
    "guard_text",
    "make_guard",
    "read_configs",
    "read_guard",
]
