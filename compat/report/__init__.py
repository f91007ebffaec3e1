"""Reports: what was found, as text. Nothing here prints or writes a file.

In: the records that features return. Out: text for terminals, for code forges and for programs.

- :mod:`compat.report.summary`: the :class:`Report` record that those of a matrix are drawn from
- :mod:`compat.report.terminal`: for a terminal, or a pipe
- :mod:`compat.report.html`: ``reports/index.html``, the page that people open
- :mod:`compat.report.markdown`: ``reports/matrix.md``, for a code forge
- :mod:`compat.report.enclosed`: the texts that belong to a report
- :mod:`compat.report.document`: ``reports/matrix.json``, for programs, and :mod:`compat.report.loading`: the record again from it
- :mod:`compat.report.junit`, :mod:`compat.report.annotations`, :mod:`compat.report.code_quality`: for CI systems
- :mod:`compat.report.diff`: what changed from one report to another
- :mod:`compat.report.formats`: which of them are written to files
- :mod:`compat.report.bisect`: what a bisect found, or a check
- :mod:`compat.report.reduction`, :mod:`compat.report.explanation`: what a reduction came to, and what is known of one cell
"""

from compat.report.summary import Report

__all__ = ["Report"]
