"""A failing cell as a script that anyone can run, and the text of an issue for it.

In: a selection, and the id of a cell or a glob. Out: for each cell :class:`WrittenRepro`, with the
files and what they tell, or :class:`Unverified`, with why nothing was written. :func:`repro` is all
of it, :func:`write_repro` does it for one cell:

- :mod:`compat.repro.records`: the request, the facts of an issue, and the result
- :mod:`compat.repro.script`: the script
- :mod:`compat.repro.verify`: running scripts, the words by which they know the failure, and
  removing names of this machine
- :mod:`compat.repro.issue`: the text of the issue
- :mod:`compat.repro.writing`: all of it in order for one cell, verified before anything is written
- :mod:`compat.repro.reproducing`: which cells are meant, with which table
"""

from compat.repro.records import ReproRequest, Unverified, WrittenRepro
from compat.repro.reproducing import repro
from compat.repro.writing import write_repro

__all__ = ["ReproRequest", "Unverified", "WrittenRepro", "repro", "write_repro"]
