"""Triton's failure classes, as data, in the order of precedence.

What is certain (a deadline) comes before what is guessed, what names a cause (an assertion) before what only names a consequence (a
failed pass). Adding a class takes one entry here, one fixture in ``tests/diagnosis/fixtures`` and one heading in
``docs/failure-classes.md``.
"""

from compat.diagnosis import common
from compat.toolchains.triton.failures import compiler, environment, kernel, operands

CLASSES = (*environment.CLASSES, *compiler.CLASSES, *kernel.CLASSES, *operands.CLASSES, common.UNCLASSIFIED)
