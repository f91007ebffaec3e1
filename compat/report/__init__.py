"""Reports: answers as text. Nothing here prints, and only :mod:`compat.report.folder` writes files.

In: the records that features return. Out: text for terminals, for code forges, for browsers and for
programs.

- :mod:`compat.report.summary`: the record, and the counts, grids and sentences derived from it
- :mod:`compat.report.views`: one answer each: a bisection, a comparison, a capture, an explanation
  …
- :mod:`compat.report.render`: the formats of a matrix: terminal, Markdown, page, JUnit, annotations
  …
- :mod:`compat.report.document` and :mod:`compat.report.loading`: write and read ``matrix.json``
- :mod:`compat.report.folder`: reports on disk
"""
