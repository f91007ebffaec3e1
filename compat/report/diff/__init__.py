"""Two reports side by side: what is broken, fixed, or otherwise changed from the old one to the new one.

In: two :class:`compat.report.Report`, perhaps read back from files. Out: a :class:`Comparison`, and it as text, Markdown and JSON.

- :mod:`compat.report.diff.comparing`: what changed, cell by cell
- :mod:`compat.report.diff.metrics`: which numbers of a build jumped
- :mod:`compat.report.diff.text`, :mod:`compat.report.diff.markdown`, :mod:`compat.report.diff.document`: how it is told
"""

from compat.report.diff.comparing import Comparison, Kind, Side, compare

__all__ = ["Comparison", "Kind", "Side", "compare"]
