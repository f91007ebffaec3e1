"""A failing cell as a script that anyone can run, and the text of an issue for it.

In: a selection, and the id of a cell or a glob. Out: for each cell a :class:`WrittenRepro` with the
files and their facts, or an :class:`UnverifiedCell` with the reasons why no repro was written.
:func:`repro` does this for all cells, :func:`write_repro` for one cell:

- :mod:`compat.repro.records`: the request, the facts of an issue, and the result
- :mod:`compat.repro.script`: the script
- :mod:`compat.repro.verify`: running scripts, the text by which they identify the failure, and
  removing names of this machine
- :mod:`compat.repro.issue`: the text of the issue
- :mod:`compat.repro.writing`: all steps for one cell, which verify a repro before they write it
- :mod:`compat.repro.reproducing`: the chosen cells, and the table of each
"""

from compat.repro.records import ReproRequest, UnverifiedCell, WrittenRepro
from compat.repro.reproducing import repro
from compat.repro.writing import write_repro

__all__ = ["ReproRequest", "UnverifiedCell", "WrittenRepro", "repro", "write_repro"]
