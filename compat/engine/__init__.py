"""From cells to results: stored results are read.

An executor compiles the rest and confirms what fails; all are stored.

In: cells and the envs to compile them in (:mod:`compat.engine.run`). Out: one result per cell, the
same in any order, any batch and any executor.
"""
