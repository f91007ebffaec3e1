"""Reports: records in, text out. Nothing here prints or writes a file.

- :mod:`compat.report.summary`: the :class:`Report` record that all of them are drawn from
- :mod:`compat.report.terminal`: for a terminal, or a pipe
- :mod:`compat.report.markdown`: ``reports/matrix.md``, for a code forge
- :mod:`compat.report.document`: ``reports/matrix.json``, for programs
"""

from compat.report.summary import Report

__all__ = ["Report"]
