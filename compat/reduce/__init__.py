"""Making a failing kernel small: candidates over the syntax tree and the specialization, and the search through them.

Pure. What a candidate is worth, a judge says, and the judge is given; see :mod:`compat.axes.reducing`.
"""

from compat.reduce.candidate import Candidate
from compat.reduce.module import extracted
from compat.reduce.search import Judge, Step, reduce

__all__ = ["Candidate", "Judge", "Step", "extracted", "reduce"]
