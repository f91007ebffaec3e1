"""The page that people open: ``reports/index.html``, one file that needs nothing else.

In: a :class:`compat.report.summary.record.Report`, which may have come from a ``matrix.json``. Out: the page as text.

- :mod:`compat.report.render.html.page`: the template, the scripts and the styles → one file under a strict Content-Security-Policy
- :mod:`compat.report.render.html.packing`: the report → the data of the page, in columns; equal texts once
- :mod:`compat.report.render.html.cells`: what each cell has to tell, as columns
- :mod:`compat.report.render.html.packing`: the commands that the page shows for a cell
- ``page.html.j2``, ``script/*.js``, ``style/*.css``: the page itself. Nothing is built: the files are put into the page as they are
"""
