"""From cells to results: stored ones are read, and an executor compiles the rest.

The executor confirms failures, and everything is stored.

In: cells and the envs to compile them in (:mod:`compat.engine.run`). Out: one result per cell, the
same in any order, any batch and any executor.
"""
